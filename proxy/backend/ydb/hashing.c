#include "proxy/backend/ydb/hashing.h"

#include "rewrite/insert/key.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"

static bool refuse(const rw_insert *insert, const char *what, pgw_error *error)
{
    pgw_fail(error, "0A000", "cannot write table \"%s\" by EXECUTE: %s", insert->table->name, what);
    pgw_error_hint(error, "Send the INSERT itself, or prepare it with the protocol's Parse message "
                          "as drivers do.");
    return false;
}

static bool hash_rows(const rw_insert *insert, const pgw_reading *reading, uint64_t *hashes)
{
    rw_key key;
    if (insert->wanted_count > 0)
        return refuse(insert, "the database makes a part of the key", reading->error);
    if (insert->query)
        return refuse(insert, "its rows come from a query", reading->error);
    for (size_t i = 0; i < insert->row_count; i++) {
        if (rw_insert_key(insert, i, RW_NO_PARAMS, reading, &key) != PGW_KNOWN)
            return false;
        hashes[i] = key.hash;
    }
    return true;
}

bool px_ydb_hash(pgw_slice text, const rw_catalog *catalog, const pgw_reading *reading,
                 pgw_slice *out)
{
    rw_insert *insert;
    pgw_buf whole = {0};
    *out = text;
    if (!rw_insert_parse(text, catalog, reading->env, reading->arena, &insert, reading->error))
        return false;
    if (insert == NULL)
        return true;
    uint64_t *hashes = pgw_arena_alloc(reading->arena, (insert->row_count + 1) * sizeof *hashes);
    if (!hash_rows(insert, reading, hashes))
        return false;
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &whole);
    *out = pgw_arena_keep(reading->arena, &whole);
    pgw_buf_free(&whole);
    return true;
}
