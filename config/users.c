#include "config/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/document.h"
#include "config/scalar.h"

enum {
    MAX_FILE = 64 << 20,
    MAX_SECRET = 996,  /* bytes; PgBouncer and old libpq take no longer passwords */
    MAX_MISTAKES = 100 /* more mistakes mean another kind of file */
};

static const char verifier_start[] = "SCRAM-SHA-256$";

/* -- the bytes -- */

static bool check_file(cfg_document *notes, int file, size_t *size)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        cfg_note_line(notes, 0, "cannot be read: %s", strerror(errno));
    else if (!S_ISREG(about.st_mode))
        cfg_note_line(notes, 0, "is not a regular file: it takes lines of \"name\" \"secret\"");
    else if (about.st_mode & 07)
        cfg_note_line(notes, 0,
                      "has permissions %04o: secrets that everybody may read or write are none; "
                      "chmod o-rwx %s",
                      (unsigned)about.st_mode & 07777, notes->path);
    else if (about.st_size > MAX_FILE)
        cfg_note_line(notes, 0, "is larger than 64 MiB: not a file of users");
    *size = notes->mistakes == 0 ? (size_t)about.st_size : 0;
    return notes->mistakes == 0;
}

/* The `size` bytes, and room for a zero; no stream, whose buffer would keep a copy of the secrets.
 */
static char *read_bytes(cfg_document *notes, int file, size_t *size)
{
    char *bytes = cfg_alloc(*size + 1);
    size_t len = 0;
    ssize_t got = 0;
    while (len < *size && (got = read(file, bytes + len, *size - len)) > 0)
        len += (size_t)got;
    if (got < 0)
        cfg_note_line(notes, 0, "cannot be read: %s", strerror(errno));
    *size = len;
    return bytes;
}

/* Opening the file never waits: a pipe may have no other end. */
static char *read_file(cfg_document *notes, size_t *size)
{
    int file = open(notes->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        cfg_note_line(notes, 0, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    char *bytes = check_file(notes, file, size) ? read_bytes(notes, file, size) : NULL;
    close(file);
    return bytes;
}

/* -- a line -- */

/* The field at `*at`, unquoted where it stands; NULL if there is none. `*at` is behind it then. */
static char *take_field(char **at)
{
    char *from = *at + strspn(*at, " \t\r"), *field = from + 1, *to = field;
    if (*from != '"')
        return NULL;
    for (from++; *from != '\0'; *to++ = *from++) {
        if (*from != '"')
            continue;
        if (from[1] != '"') {
            *to = '\0';
            *at = from + 1;
            return field;
        }
        from++;
    }
    return NULL;
}

/* What follows the secret has no meaning, but must not be the rest of a secret cut by a quote. */
static bool rest_is_right(char *at)
{
    for (;;) {
        at += strspn(at, " \t\r");
        if (*at == '\0' || *at == ';')
            return true;
        if (take_field(&at) == NULL)
            return false;
    }
}

static bool is_md5(const char *secret)
{
    return strncmp(secret, "md5", 3) == 0 && strlen(secret) == 35 &&
           strspn(secret + 3, "0123456789abcdef") == 32;
}

/* Base64 up to `stop`; `bytes` is what it must hold, 0 for any but none. Returns what is behind
 * `stop`, or NULL. */
static const char *skip_base64(const char *text, char stop, size_t bytes)
{
    size_t digits =
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    size_t padding = strspn(text + digits, "="), len = digits + padding;
    if (len == 0 || len % 4 != 0 || padding > 2 || text[len] != stop ||
        (bytes > 0 && len / 4 * 3 - padding != bytes))
        return NULL;
    return stop == '\0' ? text + len : text + len + 1;
}

/* Checks the shape of a verifier only: iterations, salt, stored key, server key. */
static bool is_verifier(const char *secret)
{
    const char *at = secret + strlen(verifier_start);
    size_t digits = strspn(at, "0123456789");
    if (strtoul(at, NULL, 10) == 0 || strtoul(at, NULL, 10) > INT32_MAX || at[digits] != ':')
        return false;
    at = skip_base64(at + digits + 1, '$', 0);
    at = at ? skip_base64(at, ':', 32) : NULL;
    return at != NULL && skip_base64(at, '\0', 32) != NULL;
}

static const char *wrong_name(const char *name)
{
    if (*name == '\0')
        return "the name is empty: PostgreSQL has no such user";
    if (strlen(name) > CFG_MAX_NAME)
        return "the name is longer than 63 bytes: PostgreSQL has no such user";
    return NULL;
}

static const char *wrong_secret(const char *secret, bool verifier)
{
    if (*secret == '\0')
        return "the password is empty: PostgreSQL lets nobody in with that; write one, or remove "
               "the line";
    if (is_md5(secret))
        return "the secret is an MD5 hash, which SCRAM cannot use: make a SCRAM verifier or write "
               "the password";
    if (strlen(secret) > MAX_SECRET)
        return "the secret is longer than 996 bytes: write a shorter one";
    if (verifier && !is_verifier(secret))
        return "the secret is no SCRAM verifier: it takes "
               "SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>, as PostgreSQL's "
               "pg_authid.rolpassword has it";
    return NULL;
}

static void add_user(cfg_users *users, size_t *room, cfg_user user)
{
    if (users->count == *room) {
        *room = *room ? *room * 2 : 64;
        users->list = cfg_grow(users->list, *room * sizeof *users->list);
    }
    users->list[users->count++] = user;
}

static void take_line(cfg_document *notes, unsigned number, char *line, cfg_users *users,
                      size_t *room)
{
    line += strspn(line, " \t\r");
    if (*line == '\0' || *line == ';')
        return;
    char *name = take_field(&line), *secret = name ? take_field(&line) : NULL;
    if (secret == NULL || !rest_is_right(line)) {
        cfg_note_line(notes, number,
                      "is not \"name\" \"secret\": each stands in double quotes, a quote inside is "
                      "written twice, and a comment begins with ;");
        return;
    }
    bool verifier = strncmp(secret, verifier_start, strlen(verifier_start)) == 0;
    const char *wrong = wrong_name(name);
    if (wrong == NULL)
        wrong = wrong_secret(secret, verifier);
    if (wrong != NULL)
        cfg_note_line(notes, number, "%s", wrong);
    else
        add_user(users, room, (cfg_user){cfg_copy(name), cfg_copy(secret), verifier, number});
}

/* -- the whole -- */

static void take_lines(cfg_document *notes, char *bytes, size_t size, cfg_users *users)
{
    size_t room = 0;
    unsigned number = 1;
    for (char *line = bytes, *stop = bytes + size; line < stop; number++) {
        char *end = memchr(line, '\n', (size_t)(stop - line));
        end = end ? end : stop;
        *end = '\0';
        if (strlen(line) < (size_t)(end - line))
            cfg_note_line(notes, number, "holds a zero byte: it takes text");
        else
            take_line(notes, number, line, users, &room);
        if (notes->mistakes >= MAX_MISTAKES) {
            cfg_note_line(notes, number, "too many mistakes: the rest was not read");
            return;
        }
        line = end + 1;
    }
}

static int by_name(const void *a, const void *b)
{
    const cfg_user *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    return order ? order : (one->line > other->line) - (one->line < other->line);
}

static void sort(cfg_document *notes, cfg_users *users)
{
    if (users->count > 0)
        qsort(users->list, users->count, sizeof *users->list, by_name);
    for (size_t i = 1; i < users->count && notes->mistakes < MAX_MISTAKES; i++)
        if (strcmp(users->list[i - 1].name, users->list[i].name) == 0)
            cfg_note_line(notes, users->list[i].line,
                          "user \"%s\" stands twice (before in line %u): keep one",
                          users->list[i].name, users->list[i - 1].line);
}

cfg_users *cfg_users_load(const char *path, FILE *errors)
{
    cfg_document notes = {.path = path};
    cfg_users *users = cfg_alloc(sizeof *users);
    users->path = cfg_copy(path);
    size_t size = 0;
    char *bytes = read_file(&notes, &size);
    if (bytes != NULL && notes.mistakes == 0) {
        take_lines(&notes, bytes, size, users);
        sort(&notes, users);
    }
    if (bytes != NULL)
        explicit_bzero(bytes, size);
    free(bytes);
    cfg_document_print(&notes, errors);
    if (notes.mistakes > 0) {
        cfg_users_free(users);
        users = NULL;
    }
    cfg_document_free(&notes);
    return users;
}

typedef struct slice {
    const char *text;
    size_t len;
} slice;

static int compare(const void *key, const void *element)
{
    const slice *name = key;
    const cfg_user *user = element;
    int order = strncmp(name->text, user->name, name->len);
    return order ? order : -(user->name[name->len] != '\0');
}

const cfg_user *cfg_users_find(const cfg_users *users, const char *name, size_t len)
{
    slice key = {name, len};
    if (users->count == 0 || memchr(name, '\0', len) != NULL)
        return NULL;
    return bsearch(&key, users->list, users->count, sizeof *users->list, compare);
}

void cfg_users_free(cfg_users *users)
{
    if (users == NULL)
        return;
    for (size_t i = 0; i < users->count; i++) {
        free(users->list[i].name);
        explicit_bzero(users->list[i].secret, strlen(users->list[i].secret));
        free(users->list[i].secret);
    }
    free(users->list);
    free(users->path);
    free(users);
}
