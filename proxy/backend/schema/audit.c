#include "proxy/backend/schema/audit.h"

#include "protocol/value_in.h"
#include "rewrite/hash/hash.h"
#include "rewrite/lex/quote.h"

const pgw_env px_plain_env = {
    .utf8 = true, .zone_known = true, .zone_seconds = 0, .conforming = true};

void px_audit_query(const rw_table *table, unsigned limit, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "select ");
    rw_add_identifier(sql, table->columns[table->hash_column].name);
    for (size_t i = 0; i < table->hash_key_count; i++) {
        pgw_buf_add_str(sql, ", ");
        rw_add_identifier(sql, table->columns[table->hash_key[i]].name);
    }
    pgw_buf_add_str(sql, " from ");
    rw_add_identifier(sql, table->schema);
    pgw_buf_add_byte(sql, '.');
    rw_add_identifier(sql, table->name);
    if (limit > 0)
        pgw_buf_addf(sql, " limit %u", limit);
}

px_audit px_audit_row(const rw_table *table, const pgw_slice *cells, const bool *nulls,
                      pgw_buf *right)
{
    pgw_arena arena = {0};
    pgw_value *values = pgw_arena_alloc(&arena, table->hash_key_count * sizeof *values);
    bool readable = true;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        const rw_column *column = &table->columns[table->hash_key[i]];
        pgw_error error;
        pgw_reading reading = {&px_plain_env, &arena, &error};
        values[i] = (pgw_value){.type = column->type, .null = true};
        readable = readable &&
                   (nulls[i + 1] || pgw_value_from_text(column->type, column->typmod, cells[i + 1],
                                                        &reading, &values[i]) == PGW_KNOWN);
    }
    pgw_buf hash = {0};
    if (readable)
        rw_hash_print(table, rw_hash_key(table, values), &hash);
    px_audit verdict = nulls[0]                                       ? PX_AUDIT_MISSING
                       : !readable                                    ? PX_AUDIT_UNREADABLE
                       : pgw_slice_eq(cells[0], pgw_slice_buf(&hash)) ? PX_AUDIT_RIGHT
                                                                      : PX_AUDIT_WRONG;
    if (right != NULL)
        pgw_buf_add_slice(right, pgw_slice_buf(&hash));
    pgw_buf_free(&hash);
    pgw_arena_free(&arena);
    return verdict;
}
