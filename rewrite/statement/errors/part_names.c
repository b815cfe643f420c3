#include "rewrite/statement/errors/part_names.h"

#include <stdio.h>
#include <string.h>

/* The names of a partition, and what an application is told. */
typedef struct names {
    const rw_table *table;
    pgw_slice part, part_index;
    pgw_slice index; /* index of the table that stands for the partition's; empty: the error is
                        about no index */
} names;

/* Takes the text up to the separator, which is passed. */
static pgw_slice take(pgw_slice *rest, char separator)
{
    const char *end = memchr(rest->ptr, separator, rest->len);
    pgw_slice taken = {rest->ptr, end != NULL ? (size_t)(end - rest->ptr) : rest->len};
    size_t passed = taken.len + (end != NULL);
    *rest = (pgw_slice){rest->ptr + passed, rest->len - passed};
    return taken;
}

/* What an error says that it is about. */
typedef struct about {
    pgw_slice schema, relation, constraint;
} about;

/* A partition may have several indexes: the error's own, if it is about one. */
static bool find_in(const rw_table *table, const about *error, names *found)
{
    bool any = false;
    pgw_slice rest = pgw_slice_str(table->part_names != NULL ? table->part_names : "");
    while (rest.len > 0) {
        pgw_slice line = take(&rest, RW_PART_LINE);
        pgw_slice part = take(&line, RW_PART_NAME), own = take(&line, RW_PART_NAME);
        pgw_slice index = take(&line, RW_PART_NAME);
        bool same = pgw_slice_eq(own, error->constraint);
        pgw_slice schema = line.len > 0 ? line : pgw_slice_str(table->schema);
        bool here = error->schema.len == 0 || pgw_slice_eq(schema, error->schema);
        if (!here || !pgw_slice_eq(part, error->relation) || (any && !same))
            continue;
        any = true;
        *found = (names){table, part, own, same ? index : (pgw_slice){NULL, 0}};
    }
    return any;
}

/* Names in messages are quoted, but not escaped. */
static void add_message(pgw_slice text, const names *it, pgw_buf *out)
{
    const struct {
        pgw_slice from, to;
    } changes[] = {{it->part, pgw_slice_str(it->table->name)}, {it->part_index, it->index}};
    size_t at = 0;
    while (at < text.len) {
        size_t passed = 1;
        for (size_t i = 0; text.ptr[at] == '"' && i < 2 && passed == 1; i++) {
            pgw_slice from = changes[i].from;
            if (changes[i].to.len > 0 && text.len - at >= from.len + 2 &&
                memcmp(text.ptr + at + 1, from.ptr, from.len) == 0 &&
                text.ptr[at + 1 + from.len] == '"') {
                pgw_buf_addf(out, "\"%.*s\"", (int)changes[i].to.len, changes[i].to.ptr);
                passed = from.len + 2;
            }
        }
        if (passed == 1)
            pgw_buf_add_byte(out, text.ptr[at]);
        at += passed;
    }
}

static void add_field(char code, pgw_slice text, const names *it, pgw_buf *out)
{
    pgw_buf_add_byte(out, code);
    if (code == 'M')
        add_message(text, it, out);
    else if (code == 't')
        pgw_buf_add_str(out, it->table->name);
    else if (code == 's')
        pgw_buf_add_str(out, it->table->schema);
    else if (code == 'n' && it->index.len > 0)
        pgw_buf_add_slice(out, it->index);
    else
        pgw_buf_add_slice(out, text);
    pgw_buf_add_byte(out, '\0');
}

const rw_table *rw_part_table(const rw_table *const *tables, size_t count, pgw_slice body)
{
    names it;
    const about error = {.schema = pgw_error_field(body, 's'),
                         .relation = pgw_error_field(body, 't')};
    for (size_t i = 0; i < count && error.relation.len > 0; i++)
        if ((pgw_slice_eq_str(error.relation, tables[i]->name) &&
             pgw_slice_eq_str(error.schema, tables[i]->schema)) ||
            find_in(tables[i], &error, &it))
            return tables[i];
    return NULL;
}

/* RAISE in a function says what its author means. */
static bool is_raised(pgw_slice body)
{
    return pgw_slice_eq_str(pgw_error_field(body, 'R'), "exec_stmt_raise");
}

bool rw_part_names(const rw_table *const *tables, size_t count, pgw_slice body, pgw_buf *out)
{
    const about error = {pgw_error_field(body, 's'), pgw_error_field(body, 't'),
                         pgw_error_field(body, 'n')};
    names it;
    size_t table = 0;
    while (table < count && !(error.relation.len > 0 && find_in(tables[table], &error, &it)))
        table++;
    if (table == count || is_raised(body))
        return false;
    for (size_t at = 0; at < body.len && body.ptr[at] != '\0';) {
        pgw_slice text = {body.ptr + at + 1, strnlen(body.ptr + at + 1, body.len - at - 1)};
        add_field(body.ptr[at], text, &it, out);
        at += text.len + 2;
    }
    pgw_buf_add_byte(out, '\0');
    return true;
}
