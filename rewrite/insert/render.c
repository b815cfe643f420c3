#include "rewrite/insert/render.h"

#include "protocol/utf8.h"
#include "rewrite/hash/hash.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/parser.h"

#include <string.h>

/* Where rendered bytes go: to a buffer, or only counted until a position is reached. */
typedef struct writer {
    const rw_insert *insert;
    pgw_buf *out;  /* NULL: characters are counted */
    size_t wanted; /* characters yet to come before the position, counting from 1 */
    size_t found;  /* byte offset of the position in the client's text */
    bool put_in;   /* the position is inside of something that was put in */
    bool done;
    const char *byte;    /* the byte of the position, in whatever text it is */
    const char *written; /* the byte in an expression that the client wrote and a splice holds;
                            NULL: it is in no such splice */
    bool guard;          /* the next hash is to be guarded */
    pgw_buf scratch;
} writer;

static bool starts_character(const rw_insert *insert, char c)
{
    return !insert->utf8 || !pgw_utf8_continues(c);
}

/* Counts `text`, which is the client's from `at` on, or, if `inserted`, stands at `at`. */
static void count(writer *w, pgw_slice text, size_t at, bool inserted)
{
    for (size_t i = 0; i < text.len && !w->done; i++) {
        if (!starts_character(w->insert, text.ptr[i]))
            continue;
        if (--w->wanted == 0) {
            w->done = true;
            w->found = inserted ? at : at + i;
            w->put_in = inserted;
            w->byte = text.ptr + i;
        }
    }
}

static void put(writer *w, pgw_slice text, size_t at, bool inserted)
{
    if (w->out != NULL)
        pgw_buf_add_slice(w->out, text);
    else
        count(w, text, at, inserted);
}

static void put_written(writer *w, size_t from, size_t to)
{
    put(w, (pgw_slice){w->insert->text.ptr + from, to - from}, from, false);
}

/* The first spelled cell that begins at `at` or later. */
static size_t next_spelled(const rw_insert *insert, size_t at)
{
    size_t low = 0, high = insert->spelled_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (insert->spelled[middle].from < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put_client(writer *w, size_t from, size_t to)
{
    const rw_insert *insert = w->insert;
    size_t i = insert->spelled_count > 0 ? next_spelled(insert, from) : 0;
    for (; i < insert->spelled_count && insert->spelled[i].from < to; i++) {
        put_written(w, from, insert->spelled[i].from);
        put(w, insert->spelled[i].text, insert->spelled[i].from, true);
        from = insert->spelled[i].to;
    }
    put_written(w, from, to);
}

static void put_splice(writer *w, const rw_splice *splice)
{
    bool before = w->done;
    put(w, splice->text, splice->from, true);
    if (splice->written && w->done && !before)
        w->written = w->byte;
}

/* Writes the client's bytes from `from` to `to` with the splices among them; a splice at `to`
 * itself belongs to what comes next, unless `last`. */
static void put_spliced(writer *w, size_t from, size_t to, bool last)
{
    const rw_insert *insert = w->insert;
    for (size_t i = 0; i < insert->splice_count; i++) {
        const rw_splice *splice = &insert->splices[i];
        if (splice->at < from || splice->at > to || (splice->at == to && !last))
            continue;
        put_client(w, from, splice->at);
        put_splice(w, splice);
        from = splice->at + splice->remove;
    }
    if (from < to)
        put_client(w, from, to);
}

/* Writes a constant of type int8. -9223372036854775808 is quoted: where the minus is an operator,
 * it is applied to a number that is too large. */
char *rw_put_hash(const rw_table *table, uint64_t hash, char *to)
{
    if (table->hash_type != RW_HASH_INT8)
        return pgw_put_unsigned(to, hash);
    if (hash != (uint64_t)INT64_MIN)
        return pgw_put_decimal(to, (int64_t)hash);
    *to = '\'';
    to = pgw_put_decimal(to + 1, INT64_MIN);
    *to = '\'';
    return to + 1;
}

void rw_render_hash(const rw_table *table, uint64_t hash, pgw_buf *out)
{
    char *to = pgw_buf_reserve(out, RW_HASH_ROOM);
    out->len = (size_t)(rw_put_hash(table, hash, to) - out->ptr);
}

static void add_hash(const writer *w, rw_hash_form form, uint64_t hash, size_t row, pgw_buf *text)
{
    size_t parameter = w->insert->param_count + row + 1;
    if (w->insert->rows[row].unhashed) /* no search_path or cast changes what this text does */
        pgw_buf_add_str(text, rw_table_has_own_casts(w->insert->table)
                                  ? "pg_catalog.int8in(pg_catalog.textout('" RW_REFUSAL "'))"
                                  : "'" RW_REFUSAL "'::varchar::bigint");
    else if (form == RW_HASH_PARAMETER && w->insert->table->hash_type == RW_HASH_UINT64)
        pgw_buf_addf(text, "($%zu::numeric + 18446744073709551616) %% 18446744073709551616",
                     parameter); /* the parameter is an int8: the upper half came as negative */
    else if (form == RW_HASH_PARAMETER)
        pgw_buf_addf(text, "$%zu", parameter);
    else
        rw_render_hash(w->insert->table, hash, text);
}

/* The buffer for text that keyspread adds; end_ours() counts that text as standing at `at`, if
 * positions are counted. */
static pgw_buf *begin_ours(writer *w)
{
    pgw_buf_clear(&w->scratch);
    return w->out != NULL ? w->out : &w->scratch;
}

static void end_ours(writer *w, size_t at)
{
    if (w->out == NULL)
        count(w, pgw_slice_buf(&w->scratch), at, true);
}

/* Writes one half of the guard. */
static void put_guard(writer *w, void (*half)(const rw_insert *, pgw_buf *), size_t at)
{
    if (!w->guard)
        return;
    half(w->insert, begin_ours(w));
    end_ours(w, at);
}

/* Writes the hash at `at`, or what the client itself wrote there, which was found right. */
static void put_hash(writer *w, rw_hash_form form, uint64_t hash, size_t index, size_t at)
{
    const rw_row *row = &w->insert->rows[index];
    bool written = w->insert->hash_listed && row->hash_cell->kind != RW_CELL_DEFAULT;
    put_guard(w, rw_guard_hash_before, at);
    if (written) {
        put_client(w, at, row->hash_end);
    } else {
        add_hash(w, form, hash, index, begin_ours(w));
        end_ours(w, at);
    }
    put_guard(w, rw_guard_hash_behind, written ? row->hash_end : at);
    w->guard = false;
}

/* Writes one row from '(' to ')'. */
static void put_row(writer *w, rw_hash_form form, uint64_t hash, size_t index)
{
    const rw_row *row = &w->insert->rows[index];
    if (!w->insert->hash_listed) {
        put_spliced(w, row->open, row->close, true);
        put(w, PGW_LITERAL(", "), row->close, true);
        put_hash(w, form, hash, index, row->close);
        put_client(w, row->close, row->close + 1);
        return;
    }
    put_spliced(w, row->open, row->hash_cell->position, false);
    put_hash(w, form, hash, index, row->hash_cell->position);
    put_spliced(w, row->hash_end, row->close + 1, false);
}

static void put_statement(writer *w, rw_hash_form form, const uint64_t *hashes)
{
    const rw_insert *insert = w->insert;
    if (insert->row_count == 0) { /* a statement that is forwarded, or has a query, has no rows */
        put_spliced(w, 0, insert->text.len, true);
        return;
    }
    put_spliced(w, 0, insert->values, true);
    w->guard = rw_guard_wanted(insert);
    size_t at = insert->values, next = 0; /* number of the row behind `at` */
    for (size_t i = 0; i < insert->row_count; i++) {
        const rw_row *row = &insert->rows[i];
        if (row->superseded)
            continue;
        put_client(w, at, insert->rows[next].open); /* the comma and the blanks around it */
        put_row(w, form, hashes != NULL ? hashes[i] : 0, i);
        at = row->close + 1;
        next = i + 1;
    }
    put_spliced(w, insert->tail, insert->text.len, true);
}

bool rw_insert_may_fail(const rw_insert *insert)
{
    return !insert->hash_listed && insert->row_count > 0;
}

void rw_render_statement(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                         pgw_buf *out)
{
    writer w = {.insert = insert, .out = out};
    put_statement(&w, form, hashes);
}

size_t rw_render_added(const rw_insert *insert)
{
    size_t added = 0;
    for (size_t i = 0; i < insert->splice_count; i++)
        added += insert->splices[i].text.len;
    return added;
}

void rw_render_head(const rw_insert *insert, pgw_buf *out)
{
    writer w = {.insert = insert, .out = out};
    put_spliced(&w, 0, insert->values, true);
}

void rw_render_row(const rw_insert *insert, size_t row, uint64_t hash, bool guarded, pgw_buf *out)
{
    writer w = {.insert = insert, .out = out, .guard = guarded && rw_guard_wanted(insert)};
    put_row(&w, RW_HASH_CONSTANT, hash, row);
}

void rw_render_tail(const rw_insert *insert, pgw_buf *out)
{
    writer w = {.insert = insert, .out = out};
    put_spliced(&w, insert->tail, insert->end, true);
}

size_t rw_render_offset(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                        size_t position, bool *put_in)
{
    writer w = {.insert = insert, .wanted = position, .found = insert->text.len};
    put_statement(&w, form, hashes);
    pgw_buf_free(&w.scratch);
    *put_in = w.put_in;
    return w.found;
}

const char *rw_render_written(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                              size_t position)
{
    writer w = {.insert = insert, .wanted = position};
    put_statement(&w, form, hashes);
    pgw_buf_free(&w.scratch);
    return w.written;
}

size_t rw_render_position(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                          size_t position)
{
    if (position == 0)
        return 0;
    bool put_in;
    size_t offset = rw_render_offset(insert, form, hashes, position, &put_in);
    if (offset == RW_NOWHERE)
        return 0;
    size_t mapped = 1;
    for (size_t i = 0; i < offset; i++)
        mapped += starts_character(insert, insert->text.ptr[i]);
    return mapped;
}
