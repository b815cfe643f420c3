#include "rewrite/insert/returned.h"

#include "rewrite/insert/parser.h"

/* The splices of RETURNING: columns that stars and the table's name stand for. */
static const rw_splice *first_splice(const rw_insert *insert)
{
    const rw_splice *splice = insert->splices, *end = splice + insert->splice_count;
    while (splice < end && splice->at < insert->returning)
        splice++;
    return splice;
}

/* What is returned, with the columns written out, for names to be looked for in it. */
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
