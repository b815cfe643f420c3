#include "rewrite/insert/returned.h"

#include "rewrite/insert/parser.h"

/* The first splice of RETURNING: columns that stars and the table's name stand for. */
static const rw_splice *first_splice(const rw_insert *insert)
{
    const rw_splice *splice = insert->splices, *end = splice + insert->splice_count;
    while (splice < end && splice->at < insert->returning)
        splice++;
    return splice;
}

/* Adds what is returned, with the columns written out, to be searched for names. */
static void add_returned(const rw_insert *insert, pgw_buf *out)
{
    pgw_buf_add(out, insert->text.ptr + insert->returning, insert->end - insert->returning);
    for (const rw_splice *splice = first_splice(insert);
         splice < insert->splices + insert->splice_count; splice++) {
        pgw_buf_add_byte(out, ' ');
        pgw_buf_add_slice(out, splice->text);
    }
}

static bool same_types(const rw_table *before, const rw_table *now, pgw_slice returned)
{
    for (size_t i = 0; i < before->column_count; i++) {
        const rw_column *was = &before->columns[i];
        size_t place = rw_table_column(now, pgw_slice_str(was->name));
        const rw_column *is = place < now->column_count ? &now->columns[place] : was;
        if ((was->type != is->type || was->typmod != is->typmod) &&
            rw_text_mentions(returned, was->name))
            return false;
    }
    return true;
}

bool rw_insert_returns_same(const rw_insert *before, const rw_insert *now)
{
    if (before->returning == 0)
        return true;
    pgw_buf was = {0}, is = {0};
    add_returned(before, &was);
    add_returned(now, &is);
    bool same = pgw_slice_eq(pgw_slice_buf(&was), pgw_slice_buf(&is)) &&
                same_types(before->table, now->table, pgw_slice_buf(&is));
    pgw_buf_free(&was);
    pgw_buf_free(&is);
    return same;
}

/* Whether values of the column's type are written in one way, whatever the session has set. */
static bool has_one_output(const rw_column *column, const pgw_env *env)
{
    switch (column->type) {
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
    case PGW_UUID:
        return true;
    case PGW_TEXT:
    case PGW_VARCHAR:
        return env->utf8;
    default:
        return false;
    }
}

size_t rw_place_in_key(const rw_table *table, size_t column)
{
    size_t place = 0;
    while (place < table->primary_key_count && table->primary_key[place] != column)
        place++;
    return place;
}

/* Whether the key tells a column's stored value. OVERRIDING may replace the value for an identity,
 * which only the hash_key shows. */
static bool is_known(const rw_table *table, size_t at, const pgw_env *env)
{
    const rw_column *column = &table->columns[at];
    return rw_place_in_key(table, at) < table->primary_key_count && has_one_output(column, env) &&
           (!column->identity || rw_table_is_hash_input(table, pgw_slice_str(column->name)));
}

bool rw_insert_returns_key(const rw_insert *insert, const pgw_env *env)
{
    bool returns = insert->returned_count > 0 && !insert->has_conflict && !insert->query;
    for (size_t i = 0; i < insert->returned_count && returns; i++)
        returns = is_known(insert->table, insert->returned[i].column, env);
    return returns;
}
