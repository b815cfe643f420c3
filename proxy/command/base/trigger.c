#include "proxy/command/base/trigger.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <string.h>
#include <xxhash.h>

#include "rewrite/hash/hash_column.h"
#include "rewrite/hash/hash_sql.h"
#include "rewrite/lex/quote.h"

/* "keyspread_hash_" and so much of the table's name are what a name may have. */
enum { NAME_MOST = 48, KEY_MOST = 64 };

static const char *why_not(const rw_table *table)
{
    if (rw_table_is_partitioned(table))
        return "it has partitions, and a row is routed to one before its triggers run;"
               " partitions: { buckets: N } makes a table without";
    if (table->hash_key_count > KEY_MOST || !rw_hash_has_sql(table))
        return "its hash has no expression in SQL";
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (table->columns[table->hash_key[i]].generated)
            return "a column of its hash is generated, which is done after its triggers run";
    return NULL;
}

static char *expression_of(const rw_table *table, pgw_arena *arena)
{
    const char *values[KEY_MOST];
    for (size_t i = 0; i < table->hash_key_count; i++) {
        pgw_buf value = {0};
        pgw_buf_add_str(&value, "new.");
        rw_add_quoted(&value, table->columns[table->hash_key[i]].name);
        pgw_buf_add_byte(&value, '\0');
        values[i] = pgw_arena_keep(arena, &value).ptr;
    }
    return rw_hash_sql(table, values, arena);
}

const char *px_trigger_hash(const rw_table *table, pgw_arena *arena, const char **why)
{
    *why = why_not(table);
    return *why == NULL ? expression_of(table, arena) : NULL;
}

/* Adds all of the function's body behind its first line, which has the checksum of this. */
static void add_body(const rw_table *table, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_buf column = {0};
    rw_add_quoted(&column, table->columns[table->hash_column].name);
    pgw_buf_add_byte(&column, '\0');
    pgw_buf_addf(out, "\nBEGIN\n    IF new.%s IS NULL THEN\n        new.%s := ", column.ptr,
                 column.ptr);
    pgw_buf_add_str(out, expression_of(table, &arena));
    pgw_buf_add_str(out, ";\n    END IF;\n    RETURN new;\nEND ");
    pgw_buf_free(&column);
    pgw_arena_free(&arena);
}

/* Adds the checksum that keyspread knows its own function by (schema_query.c): who changes the body
 * has another trigger, which stops batches as any does. */
static void add_checksum(const pgw_buf *body, pgw_buf *out)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int len = 0;
    if (EVP_Digest(body->ptr, body->len, sum, &len, EVP_sha256(), NULL) != 1)
        abort(); /* no memory is left */
    for (unsigned int i = 0; i < len; i++)
        pgw_buf_addf(out, "%02x", sum[i]);
}

static void add_function_name(const rw_table *table, pgw_buf *out)
{
    char name[NAME_MOST + 16];
    if (strlen(table->name) <= NAME_MOST)
        snprintf(name, sizeof name, "keyspread_hash_%s", table->name);
    else
        snprintf(name, sizeof name, "keyspread_hash_%016" PRIx64,
                 XXH3_64bits(table->name, strlen(table->name)));
    rw_add_quoted(out, table->schema);
    pgw_buf_add_byte(out, '.');
    rw_add_quoted(out, name);
}

static void add_all(const rw_table *table, const pgw_buf *body, pgw_buf *out)
{
    pgw_buf function = {0}, column = {0}, name = {0};
    add_function_name(table, &function);
    rw_add_quoted(&column, table->columns[table->hash_column].name);
    rw_add_quoted(&name, table->schema);
    pgw_buf_add_byte(&name, '.');
    rw_add_quoted(&name, table->name);
    pgw_buf_add_str(out, "CREATE OR REPLACE FUNCTION ");
    pgw_buf_add_slice(out, pgw_slice_buf(&function));
    pgw_buf_add_str(out, "() RETURNS trigger LANGUAGE plpgsql AS $keyspread$-- keyspread ");
    add_checksum(body, out);
    pgw_buf_add_slice(out, pgw_slice_buf(body));
    pgw_buf_add_str(out,
                    "$keyspread$;\nCREATE OR REPLACE TRIGGER keyspread_hash BEFORE INSERT ON ");
    pgw_buf_add_slice(out, pgw_slice_buf(&name));
    pgw_buf_add_str(out, "\n    FOR EACH ROW WHEN (new.");
    pgw_buf_add_slice(out, pgw_slice_buf(&column));
    pgw_buf_add_str(out, " IS NULL) EXECUTE FUNCTION ");
    pgw_buf_add_slice(out, pgw_slice_buf(&function));
    pgw_buf_add_str(out, "();\n");
    pgw_buf_free(&function);
    pgw_buf_free(&column);
    pgw_buf_free(&name);
}

bool px_trigger_print(const rw_table *table, FILE *out, FILE *errors)
{
    const char *why = why_not(table);
    pgw_buf body = {0}, text = {0};
    if (why == NULL)
        add_body(table, &body);
    pgw_buf_add_byte(&body, '\0');
    if (why == NULL && strstr(body.ptr, "$keyspread$") != NULL)
        why = "a name of it has $keyspread$ in it";
    body.len--;
    if (why != NULL)
        fprintf(errors, "keyspread: %s.%s has no such trigger: %s\n", table->schema, table->name,
                why);
    else
        add_all(table, &body, &text);
    fwrite(text.ptr, 1, text.len, text.len > 0 ? out : errors);
    pgw_buf_free(&body);
    pgw_buf_free(&text);
    return why == NULL;
}
