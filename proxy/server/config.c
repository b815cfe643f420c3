#include "proxy/server/config.h"

#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "config/load.h"
#include "proxy/backend/base/dsn.h"
#include "proxy/backend/schema/schema.h"
#include "proxy/base/log.h"

/* How much of libpq's message may be printed: it ends with a newline, and quotes the string, which
 * is left out if a password may stand in it. */
static int printable(const char *message, const char *dsn)
{
    bool secret = strstr(dsn, "passw") != NULL || strstr(dsn, "://") != NULL;
    return (int)strcspn(message, secret ? "\"\n" : "\n");
}

static bool discovers(const cfg_config *config)
{
    for (size_t i = 0; i < config->table_count; i++)
        if (config->tables[i].partitions.discover)
            return true;
    return false;
}

/* Partitions are discovered only if backend.dsn names the database: a table's path begins with it,
 * and what clients name is not known here. */
static bool check_discovery(const cfg_config *config, FILE *errors)
{
    if (!discovers(config) || px_dsn_names(config->backend.dsn, "dbname"))
        return true;
    fprintf(
        errors,
        "%s:%u: backend.dsn names no database, and partitions.discover needs one: add dbname=…\n",
        config->path, config->backend.dsn_line);
    return false;
}

static const char *option_of(const PQconninfoOption *options, const char *keyword)
{
    while (options->keyword != NULL && strcmp(options->keyword, keyword) != 0)
        options++;
    return options->val != NULL ? options->val : "";
}

/* Whether all hosts of a list are this machine; an empty host is the Unix socket. */
static bool are_here(const char *hosts)
{
    static const char *const here[] = {"localhost", "127.", "::1", "/", "@"};
    for (const char *host = hosts; host != NULL; host = strchr(host, ',')) {
        host += *host == ',';
        bool found = *host == '\0' || *host == ',';
        for (size_t i = 0; i < sizeof here / sizeof *here; i++)
            found = found || strncmp(host, here[i], strlen(here[i])) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* Refuses a backend.dsn by which passwords would travel in clear: YDB asks for them so, and libpq
 * sends them. */
static bool check_cleartext(const cfg_config *config, const PQconninfoOption *options, FILE *errors)
{
    const char *address = option_of(options, "hostaddr"), *mode = option_of(options, "sslmode");
    const char *hosts = address[0] != '\0' ? address : option_of(options, "host");
    bool encrypted = strcmp(mode, "require") == 0 || strncmp(mode, "verify-", 7) == 0;
    if (config->backend.dialect != CFG_DIALECT_YDB || config->backend.allow_cleartext ||
        encrypted || are_here(hosts))
        return true;
    fprintf(errors,
            "%s:%u: YDB wants passwords in clear, and backend.dsn lets them travel unencrypted to "
            "another machine: add sslmode=require to it, or backend.allow_cleartext: true\n",
            config->path, config->backend.dsn_line);
    return false;
}

static bool check_dsn(const cfg_config *config, FILE *errors)
{
    const char *dsn = config->backend.dsn;
    bool password = px_dsn_names(dsn, "password");
    if (config->auth.mode == CFG_AUTH_FORWARD && (password || px_dsn_names(dsn, "user"))) {
        fprintf(errors,
                "%s:%u: backend.dsn holds a user or a password, and with auth.mode forward each "
                "client's own are used: remove them, or take auth.mode scram\n",
                config->path, config->backend.dsn_line);
        return false;
    }
    if (config->auth.mode == CFG_AUTH_TRUST && password)
        fprintf(errors,
                "%s:%u: warning: backend.dsn holds a password, and with auth.mode trust everybody "
                "who reaches keyspread works with its rights; use a passfile or a role with few "
                "rights, and a Unix socket that only they may open\n",
                config->path, config->backend.dsn_line);
    return true;
}

static bool check_logins(const cfg_config *config, FILE *errors)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(config->backend.dsn, &message);
    if (options == NULL) {
        int shown = message ? printable(message, config->backend.dsn) : 0;
        fprintf(errors,
                "%s:%u: backend.dsn is not a connection string: %.*s%s; write it as "
                "postgresql://user@host:port/database or host=… port=… dbname=…\n",
                config->path, config->backend.dsn_line, shown, message ? message : "",
                message && message[shown] == '"' ? "…" : "");
        PQfreemem(message);
        return false;
    }
    bool good = check_cleartext(config, options, errors);
    good = check_discovery(config, errors) && good;
    PQconninfoFree(options);
    return check_dsn(config, errors) && good;
}

static bool check_columns(const cfg_config *config, FILE *errors)
{
    bool good = true;
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *written = &config->tables[i];
        pgw_error error = PGW_ERROR_NONE;
        if (config->backend.dialect == CFG_DIALECT_YDB && written->column_count == 0) {
            fprintf(errors,
                    "%s:%u: table %s: YDB cannot be asked for its columns: list them under columns "
                    "(name, type, not_null), the hash column among them\n",
                    config->path, written->line, cfg_table_label(written));
            good = false;
        }
        rw_table *table =
            written->column_count > 0 ? px_schema_build(written, NULL, 0, &error) : NULL;
        if (table != NULL && table->unusable != NULL) {
            fprintf(errors, "%s:%u: table %s: %s\n", config->path, written->line,
                    cfg_table_label(written), table->unusable);
            good = false;
        } else if (table != NULL && rw_table_shifts(table)) {
            fprintf(
                errors,
                "%s:%u: warning: table %s: hash column %s is not the last column: an INSERT past "
                "keyspread that lists no columns would shift its values instead of failing\n",
                config->path, written->line, cfg_table_label(written),
                table->columns[table->hash_column].name);
        }
        rw_table_free(table);
    }
    return good;
}

cfg_config *px_config_load(const char *path, FILE *errors)
{
    cfg_config *config = cfg_load(path, errors);
    if (config == NULL)
        return NULL;
    bool good = check_logins(config, errors);
    if (check_columns(config, errors) && good)
        return config;
    cfg_free(config);
    return NULL;
}

void px_config_log_unconfirmed(const cfg_config *config)
{
    if (config->backend.dialect != CFG_DIALECT_YDB)
        return;
    char *rows = cfg_capabilities_unconfirmed(&config->backend.capabilities);
    if (*rows != '\0')
        px_log(CFG_LOG_WARN, "capabilities_unconfirmed", "rows=%s", rows);
    free(rows);
}
