#include "proxy/command/explain.h"

#include "proxy/server/config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/backend/schema/audit.h"
#include "proxy/backend/schema/schema.h"
#include "proxy/command/instances.h"
#include "rewrite/statement/special/explain.h"

/* The parser recurses, and this much it may need (rules: text of 64 KiB and 10,000 tokens). */
enum { STACK = 64 << 20, MAX_TEXT = 64 << 20 };

typedef struct explanation {
    pgw_slice text;
    px_tables *tables;  /* tables that exist, or that the text makes */
    rw_catalog planned; /* all tables and patterns of the file */
    pgw_buf out;
} explanation;

static void *explain(void *argument)
{
    explanation *work = argument;
    px_instances_make(work->tables, &work->planned, work->text);
    rw_catalog catalog = {.tables = (const rw_table *const *)work->tables->tables,
                          .count = work->tables->count,
                          .planned = &work->planned,
                          .apart = true};
    rw_explain(work->text, &catalog, &px_plain_env, &work->out);
    return NULL;
}

static bool run_deep(explanation *work, FILE *errors)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    int failed = pthread_attr_setstacksize(&attributes, STACK);
    if (failed == 0)
        failed = pthread_create(&thread, &attributes, explain, work);
    if (failed == 0)
        failed = pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    if (failed != 0)
        fprintf(errors, "keyspread: no thread with 64 MiB of stack can be had: %s\n",
                strerror(failed));
    return failed == 0;
}

static bool read_all(FILE *in, const char *name, pgw_buf *text, FILE *errors)
{
    enum { PIECE = 65536 };
    size_t got;
    do {
        got = fread(pgw_buf_reserve(text, PIECE), 1, PIECE, in);
        text->len += got;
    } while (got > 0 && text->len <= MAX_TEXT);
    const char *zero = text->len > 0 ? memchr(text->ptr, '\0', text->len) : NULL;
    if (ferror(in))
        fprintf(errors, "keyspread: %s cannot be read: %s\n", name, strerror(errno));
    else if (text->len > MAX_TEXT)
        fprintf(errors, "keyspread: %s is larger than 64 MiB: cut it into pieces\n", name);
    else if (zero != NULL)
        fprintf(errors, "keyspread: %s has a zero byte at offset %zu: SQL has none\n", name,
                (size_t)(zero - text->ptr));
    else
        return true;
    return false;
}

static bool read_text(const px_command *command, pgw_buf *text)
{
    if (command->argc < 2)
        return read_all(command->in, "standard input", text, command->errors);
    FILE *in = fopen(command->argv[1], "rb");
    if (in == NULL) {
        fprintf(command->errors, "keyspread: %s cannot be read: %s\n", command->argv[1],
                strerror(errno));
        return false;
    }
    bool good = read_all(in, command->argv[1], text, command->errors);
    fclose(in);
    return good;
}

/* Says once what is wrong with a table; its statements are explained all the same. */
static void warn_of_tables(const px_tables *tables, FILE *errors)
{
    for (size_t i = 0; i < tables->count; i++)
        if (tables->tables[i]->unusable != NULL)
            fprintf(errors, "keyspread: writes to table %s.%s would be refused: %s\n",
                    tables->tables[i]->schema, tables->tables[i]->name,
                    tables->tables[i]->unusable);
}

/* Fills `planned` with all that the file names, each by its names and rules alone. */
static void plan(const cfg_config *config, rw_catalog *planned)
{
    size_t count = config->table_count + config->pattern_count;
    const rw_table **tables = pgw_calloc(count, sizeof *tables);
    for (size_t i = 0; i < count; i++)
        tables[i] = px_schema_plan(&config->tables[i]);
    *planned = (rw_catalog){.tables = tables, .count = count};
}

static void forget(rw_catalog *planned)
{
    for (size_t i = 0; i < planned->count; i++)
        rw_table_free((rw_table *)planned->tables[i]);
    free((void *)planned->tables);
}

/* Whether the text may be about tables that only patterns name. */
static bool mentions_patterns(pgw_slice text, const rw_catalog *planned)
{
    for (size_t i = 0; i < planned->count; i++)
        if (planned->tables[i]->pattern && rw_text_mentions(text, planned->tables[i]->name))
            return true;
    return false;
}

static bool explain_text(const px_command *command, px_tables *tables)
{
    pgw_buf text = {0};
    explanation work = {.tables = tables};
    bool good = read_text(command, &text);
    work.text = pgw_slice_buf(&text);
    plan(tables->config, &work.planned);
    if (good && mentions_patterns(work.text, &work.planned))
        px_instances_ask(tables, command->errors);
    if (good)
        warn_of_tables(tables, command->errors);
    good = good && run_deep(&work, command->errors);
    if (work.out.len > 0)
        fwrite(work.out.ptr, 1, work.out.len, command->out);
    forget(&work.planned);
    pgw_buf_free(&work.out);
    pgw_buf_free(&text);
    return good;
}

int px_command_explain(const px_command *command)
{
    cfg_config *config = px_config_load(command->argv[0], command->errors);
    px_tables tables = {0};
    bool good = config != NULL && px_tables_load(&tables, config, command->errors) &&
                explain_text(command, &tables);
    px_tables_free(&tables);
    cfg_free(config);
    return good ? PX_DONE : PX_WRONG;
}
