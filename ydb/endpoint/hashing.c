#include "ydb/endpoint/hashing.h"

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

static pgw_slice render(const rw_insert *insert, const uint64_t *hashes, pgw_arena *arena)
{
    pgw_buf whole = {0};
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &whole);
    const pgw_slice text = pgw_arena_keep(arena, &whole);
    pgw_buf_free(&whole);
    return text;
}

static uint64_t *hashes_for(const rw_insert *insert, pgw_arena *arena)
{
    return pgw_arena_alloc(arena, (insert->row_count + 1) * sizeof(uint64_t));
}

bool px_ydb_hash(pgw_slice text, const rw_catalog *catalog, const pgw_reading *reading,
                 pgw_slice *out)
{
    rw_insert *insert;
    *out = text;
    if (!rw_insert_parse(text, catalog, reading->env, reading->arena, &insert, reading->error))
        return false;
    if (insert == NULL)
        return true;
    uint64_t *hashes = hashes_for(insert, reading->arena);
    if (!hash_rows(insert, reading, hashes))
        return false;
    *out = render(insert, hashes, reading->arena);
    return true;
}

pgw_slice px_ydb_hash_any(pgw_slice text, const rw_catalog *catalog, const pgw_reading *reading)
{
    rw_insert *insert;
    pgw_error unused;
    if (!rw_insert_parse(text, catalog, reading->env, reading->arena, &insert, &unused) ||
        insert == NULL || insert->wanted_count > 0 || insert->query)
        return text;
    return render(insert, hashes_for(insert, reading->arena), reading->arena);
}
