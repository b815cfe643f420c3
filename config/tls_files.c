#include "config/tls_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/document.h"

/* A file that a key of client_tls names. */
typedef struct named {
    const cfg_config *config;
    const char *key, *path;
    unsigned line;
    FILE *errors;
} named;

static bool wrong(const named *file, const char *what, const char *right)
{
    fprintf(file->errors, "%s:%u: client_tls.%s: %s %s: %s\n", file->config->path, file->line,
            file->key, file->path, what, right);
    return false;
}

static bool is_readable(const named *file, struct stat *about)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, about) != 0) {
        char *what = cfg_printf("cannot be read (%s)", strerror(errno));
        wrong(file, what, "it takes a PEM file");
        free(what);
        if (fd >= 0)
            close(fd);
        return false;
    }
    close(fd);
    return S_ISREG(about->st_mode) || wrong(file, "is not a regular file", "it takes a PEM file");
}

/* Whether the key is as private as PostgreSQL asks of its own: the group may read a key of root,
 * which gives it to services. */
static bool is_private(const named *file, const struct stat *about)
{
    mode_t forbidden = about->st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
    if ((about->st_mode & forbidden) == 0)
        return true;
    char *what = cfg_printf("has permissions %04o, so that others could use the key",
                            (unsigned)about->st_mode & 07777);
    wrong(file, what, "chmod 0600, or 0640 if root owns it");
    free(what);
    return false;
}

bool cfg_check_files(const cfg_config *config, FILE *errors)
{
    if (config->client_tls.mode == CFG_TLS_DISABLE)
        return true;
    const named cert = {config, "cert", config->client_tls.cert, config->client_tls.cert_line,
                        errors};
    const named key = {config, "key", config->client_tls.key, config->client_tls.key_line, errors};
    const named ca = {config, "ca", config->client_tls.ca, config->client_tls.ca_line, errors};
    struct stat about;
    bool good = is_readable(&cert, &about);
    good = is_readable(&key, &about) && is_private(&key, &about) && good;
    return (ca.path == NULL || is_readable(&ca, &about)) && good;
}
