#include "proxy/commands.h"

#include <string.h>

#include <libpq-fe.h>

#include "proxy/schema.h"

static bool has_option(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val != NULL && options->val[0] != '\0';
    return false;
}

/* libpq's messages end with a newline. */
static int printable(const char *message)
{
    return (int)strcspn(message, "\n");
}

static bool check_dsn(const cfg_config *config, FILE *errors)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(config->backend.dsn, &message);
    if (options == NULL) {
        fprintf(errors,
                "%s:%u: backend.dsn is not a connection string: %.*s; write it as "
                "postgresql://user@host:port/database or host=… port=… dbname=…\n",
                config->path, config->backend.dsn_line, message ? printable(message) : 0,
                message ? message : "");
        PQfreemem(message);
        return false;
    }
    if (has_option(options, "password"))
        fprintf(errors,
                "%s:%u: warning: backend.dsn holds a password, and with auth.mode trust everybody "
                "who reaches keyspread works with its rights; use a passfile or a role with few "
                "rights, and a Unix socket that only they may open\n",
                config->path, config->backend.dsn_line);
    PQconninfoFree(options);
    return true;
}

static bool check_columns(const cfg_config *config, FILE *errors)
{
    bool good = true;
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *written = &config->tables[i];
        pgw_error error = PGW_ERROR_NONE;
        rw_table *table =
            written->column_count > 0 ? px_schema_build(written, NULL, 0, &error) : NULL;
        if (table != NULL && table->unusable != NULL) {
            fprintf(errors, "%s:%u: table %s: %s\n", config->path, written->line,
                    cfg_table_label(written), table->unusable);
            good = false;
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
    bool good = check_dsn(config, errors);
    if (check_columns(config, errors) && good)
        return config;
    cfg_free(config);
    return NULL;
}

const cfg_table *px_config_table(const cfg_config *config, const char *name, FILE *errors)
{
    const cfg_table *table = cfg_find_table(config, name);
    if (table != NULL)
        return table;
    fprintf(errors, "keyspread: %s has no table \"%s\"", config->path, name);
    for (size_t i = 0; i < config->table_count; i++)
        fprintf(errors, "%s%s", i == 0 ? ": its tables are " : ", ",
                cfg_table_label(&config->tables[i]));
    fputc('\n', errors);
    return NULL;
}
