#include "proxy/ingest/alike.h"

#include "protocol/near.h"
#include "protocol/value_time.h"
#include "proxy/backend/places/maps.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/write_groups.h"
#include "rewrite/hash/hash.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/lift.h"
#include "rewrite/insert/quick_rows.h"
#include "rewrite/insert/render.h"

#include <string.h>

enum { MOST_ROWS = 100000 /* Texts with more rows are parsed, which bounds their memory. */ };

typedef struct row {
    uint32_t open, close;
    uint64_t hash;
} row;

/* What the write group's text is rendered from. */
typedef struct origin {
    px_text *text;
    const px_template *like;
    const rw_table *table;
    const row *rows;
    size_t count;
} origin;

static const rw_table *table_of(const px_template *it)
{
    return px_template_insert(it)->table;
}

/* The client's bytes from `from` to the row's end, with its hash. `before`: two bytes, or NULL. */
static inline void write_row(const origin *of, const row *it, const char *before, const char *from,
                             pgw_buf *out)
{
    pgw_slice text = of->text->text;
    size_t len = (size_t)(text.ptr + it->close - from);
    char *to = pgw_buf_reserve(out, len + PGW_NEAR + 2 + 2 + RW_HASH_ROOM + 1);
    if (before != NULL)
        to = (char *)memcpy(to, before, 2) + 2;
    to = pgw_put_near(to, from, len, text.ptr + text.len);
    to = (char *)memcpy(to, ", ", 2) + 2;
    to = rw_put_hash(of->table, it->hash, to);
    *to++ = ')';
    out->len = (size_t)(to - out->ptr);
}

/* The client's bytes from `from` to the row's end, with its hash, which is guarded. */
static void write_guarded(const origin *of, const row *it, const char *from, pgw_buf *out)
{
    pgw_buf_add(out, from, (size_t)(of->text->text.ptr + it->close - from));
    pgw_buf_add_str(out, ", ");
    pgw_buf_add_slice(out, of->like->guard_before);
    rw_render_hash(of->table, it->hash, out);
    pgw_buf_add_slice(out, of->like->guard_behind);
    pgw_buf_add_byte(out, ')');
}

static void write_rows(const void *from, size_t statement, pgw_buf *out)
{
    const origin *of = from;
    (void)statement;
    for (size_t r = 0; r < of->count; r++)
        write_row(of, &of->rows[r], r > 0 ? ",\n" : NULL, of->text->text.ptr + of->rows[r].open,
                  out);
}

static void write_alone(const void *from, pgw_buf *out)
{
    const origin *of = from;
    const char *text = of->text->text.ptr;
    size_t at = px_template_insert(of->like)->values + px_template_offset(of->like);
    pgw_buf_add_slice(out, of->like->before);
    write_guarded(of, &of->rows[0], text + at, out);
    for (size_t r = 1; r < of->count; r++)
        write_row(of, &of->rows[r], NULL, text + of->rows[r - 1].close + 1, out);
    pgw_buf_add_slice(out, of->like->behind);
}

static void drop_origin(void *of)
{
    px_text_drop(((origin *)of)->text);
}

/* A text while its rows are read. */
typedef struct filling {
    px_worker *worker;
    const rw_table *table;
    const px_template *like;
    px_text *text;
    rw_plain_rows *rows;
    pgw_reading reading;
    rw_key key;                 /* The key of the row at hand. */
    size_t small;               /* Rows of fewer bytes, and keys in them, are within all limits. */
    size_t count;               /* The number of rows that were read. */
    size_t bytes;               /* The bytes of these rows. */
    row first;                  /* Where a lone row stands in the text. */
    px_write_group_key claimed; /* What is claimed for a lone row. */
    pgw_buf found, keys;        /* Places and keys of many rows, one behind the other. */
    row *places;                /* The places of the rows, `first` or in `found`. */
    px_write_group_key *claims; /* The keys of the rows, `claimed` or in `keys`. */
    size_t room;                /* How many rows there is room for. */
} filling;

/* Memory for the key of the row at hand, and for an error that nobody hears of. */
typedef struct key_memory {
    pgw_value values[PX_TEMPLATE_KEY];
    bool known[PX_TEMPLATE_KEY];
    pgw_error error;
} key_memory;

/* Reads a cell of the key by all its bytes. False: its value is not certain, or the statement would
 * check something else. */
static bool read_whole(const filling *in, const px_key_cell *of, pgw_value *out)
{
    rw_cell whole;
    rw_plain_read(in->rows->text, &in->rows->cells[of->cell], in->reading.arena, &whole);
    if (of->ends_in_blank && whole.text.len > 0 && whole.text.ptr[whole.text.len - 1] == ' ')
        return false;
    const rw_column *column = &in->table->columns[of->column];
    return whole.kind != RW_CELL_NULL && whole.kind != RW_CELL_DEFAULT &&
           rw_cell_value(&whole, column, RW_NO_PARAMS, &in->reading, out) == PGW_KNOWN &&
           !out->null;
}

/* Reads a cell of the key that was not known with the row; `number` becomes false if its value is
 * no number. False: the text is to be parsed. */
static __attribute__((noinline)) bool read_cell(const filling *in, const px_key_cell *of,
                                                pgw_value *out, bool *number)
{
    const rw_plain_cell *cell = &in->rows->cells[of->cell];
    pgw_slice inner = {in->rows->text.ptr + cell->start + 1, cell->end - cell->start - 2};
    if (of->quick == PX_READ_TIMESTAMPTZ && cell->kind == RW_PLAIN_STRING &&
        pgw_time_usual(inner, &out->as.integer))
        return true;
    *number = false;
    return of->quick == PX_READ_NOTHING || read_whole(in, of, out);
}

/* Whether the cell's number, which was read with the row, is the value of the key's column. */
static inline bool is_number(const rw_plain_cell *cell, const px_key_cell *of)
{
    return cell->known && cell->kind == of->kind && cell->number >= of->least &&
           cell->number <= of->most;
}

static uint64_t hash_of(const filling *in)
{
    const rw_table *table = in->table;
    const pgw_value *values = in->key.values;
    pgw_value several[PX_TEMPLATE_KEY];
    if (table->hash_key_count == 1)
        return rw_hash_whole(table, &values[in->like->hashed[0]]);
    for (size_t h = 0; h < table->hash_key_count; h++)
        several[h] = values[in->like->hashed[h]];
    return rw_hash_whole(table, several);
}

/* Reads the key of the row at hand, whose values have the types of their columns. */
static inline bool read_key(filling *in, px_write_group_key *claim)
{
    const rw_table *table = in->table;
    const rw_plain_rows *rows = in->rows;
    rw_key *key = &in->key;
    const px_key_cell *of = in->like->key, *end = of + table->primary_key_count;
    uint64_t mixed = 0;
    bool numbers = true;
    for (pgw_value *value = key->values; of < end; value++, of++) {
        if (is_number(&rows->cells[of->cell], of))
            value->as.integer = rows->cells[of->cell].number;
        else if (!read_cell(in, of, value, &numbers))
            return false;
        mixed = px_bind_mix(mixed, (uint64_t)value->as.integer);
    }
    key->whole = hash_of(in);
    key->hash = rw_hash_stored(table, key->whole);
    key->partition = px_map_partition(in->worker, table, key->hash);
    *claim =
        numbers ? px_write_group_key_mixed(table, key, mixed) : px_write_group_key_of(table, key);
    size_t bytes = rows->close - rows->open;
    return bytes < in->small || px_bind_within(in->worker, table, bytes, key);
}

/* Makes room for more rows: for as many as there are in a text whose rows are as long as the first,
 * if these are not too many. */
static __attribute__((noinline)) void make_room(filling *in)
{
    enum { MOST_AT_ONCE = 16384 };
    size_t one = in->rows->close - in->rows->open, more = in->rows->text.len / one + 1;
    more = more < MOST_AT_ONCE ? more : MOST_AT_ONCE;
    in->found.len = in->count * sizeof *in->places;
    in->keys.len = in->count * sizeof *in->claims;
    pgw_buf_reserve(&in->found, more * sizeof *in->places);
    pgw_buf_reserve(&in->keys, more * sizeof *in->claims);
    in->places = (row *)(void *)in->found.ptr;
    in->claims = (px_write_group_key *)(void *)in->keys.ptr;
    in->room = in->count + more;
}

/* Reads the row at hand. False: the text is to be parsed. */
static inline bool read_row(filling *in)
{
    const rw_plain_rows *rows = in->rows;
    if (in->count == in->room)
        make_room(in);
    if (!read_key(in, &in->claims[in->count]))
        return false;
    in->places[in->count++] = (row){(uint32_t)rows->open, (uint32_t)rows->close, in->key.hash};
    in->bytes += rows->close + 1 - rows->open;
    return true;
}

/* Makes a buffer of many rows, or `one`, the write group's. */
static void *keep_all(px_write_group *write_group, pgw_buf *many, const void *one, size_t size)
{
    pgw_slice kept = many->len > 0 ? pgw_arena_keep(&write_group->arena, many)
                                   : pgw_arena_copy(&write_group->arena, (pgw_slice){one, size});
    return (void *)kept.ptr;
}

/* Learns how the rows of a text of many are read, of which the first was read. */
static __attribute__((noinline)) void learn_rows(filling *in, rw_plain_pattern *out)
{
    const px_key_cell *key = in->like->key;
    rw_plain_pattern_of(in->rows, out);
    for (size_t k = 0; k < in->table->primary_key_count; k++)
        if (key[k].quick == PX_READ_TIMESTAMPTZ)
            rw_plain_expect_time(out, key[k].cell);
    in->room = 0;
}

static bool read_rows(filling *in)
{
    rw_plain_rows *rows = in->rows;
    rw_plain_pattern first;
    in->places = &in->first;
    in->claims = &in->claimed;
    in->room = 1;
    if (!rows->more)
        return read_row(in);
    learn_rows(in, &first);
    for (;;) {
        if (in->count == MOST_ROWS || !read_row(in))
            return false;
        if (!rows->more)
            break;
        if (!rw_quick_next(rows, &first))
            return false;
    }
    if (in->places != &in->first) {
        in->found.len = in->count * sizeof *in->places;
        in->keys.len = in->count * sizeof *in->claims;
    }
    return true;
}

/* The values of a lone row, with the hash behind them, in the text's arena; NULL: not all of them
 * can be lifted. */
static const pgw_slice *lift(const filling *in)
{
    const px_template *like = in->like;
    const rw_plain_rows *rows = in->rows;
    pgw_arena *arena = &in->text->arena;
    pgw_slice *values = pgw_arena_alloc(arena, (like->lifts + 1) * sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < rows->cell_count; i++) {
        const rw_plain_cell *cell = &rows->cells[i];
        if (cell->kind == RW_PLAIN_DEFAULT)
            continue;
        rw_cell whole;
        rw_plain_read(rows->text, cell, arena, &whole);
        pgw_slice written = {rows->text.ptr + cell->start, cell->end - cell->start};
        if (!rw_lift_takes(like->types[count], &whole, written))
            return NULL;
        values[count++] = rw_lift_value(&whole, arena);
    }
    pgw_buf hash = {0};
    pgw_buf_add_decimal(&hash, (int64_t)in->key.hash);
    values[count] = pgw_arena_copy(arena, pgw_slice_buf(&hash));
    pgw_buf_free(&hash);
    return values;
}

/* Adds rows, which take as much in a batch as if they had been parsed. */
static void add_rows(px_write_group *write_group, filling *in)
{
    struct px_write_group_statement *statement = write_group->statements;
    statement->bytes = in->count * PX_WRITE_GROUP_HASH_ROOM;
    if (write_group->kind != PX_WRITE_GROUP_ROWS)
        statement->bytes += in->text->text.len - in->like->outside + in->like->added;
    else
        statement->bytes += in->bytes;
    px_write_group_set_keys(
        write_group, keep_all(write_group, &in->keys, &in->claimed, sizeof in->claimed), in->count);
    write_group->bytes += write_group->head.len + write_group->tail.len +
                          write_group->conditions.len + statement->bytes + in->text->text.len;
}

static void set_source(px_write_group *write_group, filling *in)
{
    origin *of = pgw_arena_alloc(&write_group->arena, sizeof *of);
    const row *rows = keep_all(write_group, &in->found, &in->first, sizeof in->first);
    add_rows(write_group, in);
    *of = (origin){in->text, in->like, in->table, rows, in->count};
    px_text_take(in->text);
    write_group->source = (px_write_group_source){of, write_rows, write_alone, drop_origin};
}

static px_write_group *make_write_group(px_submitter *submitter, const px_standing *standing,
                                        filling *in)
{
    const px_template *like = in->like;
    const pgw_slice *values = like->lifts > 0 ? lift(in) : NULL;
    if (like->lifts > 0 && values == NULL)
        return NULL;
    px_write_group *write_group =
        px_write_group_of_rows(submitter, standing, table_of(like), in->text->catalog);
    write_group->kind = like->write_group.kind;
    write_group->head = like->write_group.head;
    write_group->tail = like->write_group.tail;
    write_group->conditions = like->write_group.conditions;
    write_group->guarded = like->write_group.guarded;
    write_group->merge_hash = like->write_group.merge_hash;
    for (; write_group->prepared_count < like->write_group.prepared_count;
         write_group->prepared_count++)
        write_group->prepared[write_group->prepared_count] =
            px_write_group_keep_prepared(&like->write_group.prepared[write_group->prepared_count]);
    write_group->lifted = (px_write_group_lifted){values, values != NULL ? like->lifts + 1 : 0,
                                                  .returns = like->write_group.lifted.returns};
    set_source(write_group, in);
    return write_group;
}

/* Whether the write group's rows are of several partitions and may commit partition by partition.
 */
static bool splits(const px_write_group *write_group)
{
    return write_group->several_partitions &&
           write_group->tables[0].config->atomicity == CFG_ATOMICITY_PARTITION;
}

/* What stands behind many rows is known when these are read: the template may be another. */
static bool take_tail(filling *in, const px_likeness *of)
{
    const px_template *it =
        px_template_with_tail(in->worker, in->like, of, rw_plain_tail(in->rows));
    if (it == NULL || it == in->like)
        return it != NULL;
    px_text *copy = px_text_like(it->specimen, in->text->text);
    px_text_drop(in->text);
    in->like = it;
    in->table = table_of(it);
    in->text = copy;
    in->rows->text = copy->text;
    in->reading.arena = &copy->arena;
    return true;
}

/* The specimen's statement, which is all of its text, where this text has its cells. */
static void move_to(const px_likeness *of, const px_text *text, pgw_arena *arena, rw_insert *insert)
{
    const px_wanted_cell *cells = of->like->wanted;
    rw_row *moved = pgw_arena_alloc(arena, sizeof *moved);
    rw_wanted *wanted = pgw_arena_alloc(arena, insert->wanted_count * sizeof *wanted);
    for (size_t i = 0; i < insert->wanted_count; i++) {
        wanted[i] = insert->wanted[i];
        if (!cells[i].written)
            continue;
        wanted[i].from = of->rows.cells[cells[i].cell].start;
        wanted[i].to = of->rows.cells[cells[i].cell].end;
    }
    *moved = insert->rows[0];
    moved->open = of->rows.open;
    moved->close = of->rows.close;
    insert->text = text->text;
    insert->rows = moved;
    insert->wanted = wanted;
}

bool px_alike_fill(const px_likeness *of, const rw_answer *answers, px_alike_asked *out)
{
    const px_template *like = of->like;
    px_text *text = px_text_like(like->specimen, of->rows.text);
    pgw_arena *arena = &text->arena;
    rw_filled *filled = pgw_arena_alloc(arena, sizeof *filled);
    rw_insert insert = *px_template_insert(like);
    pgw_error error;
    move_to(of, text, arena, &insert);
    if (!rw_fill(&insert, answers, arena, filled, &error)) {
        px_text_drop(text);
        return false;
    }
    *out = (px_alike_asked){text, filled};
    return true;
}

/* The filled text holds on to what its client sent. */
static void set_asked(px_text *text, const px_alike_asked *asked)
{
    text->filled = pgw_arena_alloc(&text->arena, sizeof *text->filled);
    text->filled[0] = asked->filled;
    text->asked = asked->text;
    px_text_take(asked->text);
}

/* Reads a text in `memory`; the caller is to end_filling(). False: it is to be parsed. */
static bool fill(filling *in, px_worker *worker, px_likeness *of, const pgw_env *env,
                 key_memory *memory)
{
    *in = (filling){.worker = worker,
                    .table = table_of(of->like),
                    .like = of->like,
                    .text = px_text_like(of->like->specimen, of->rows.text),
                    .rows = &of->rows,
                    .small = px_bind_small(worker, table_of(of->like)),
                    .key = {.values = memory->values, .known = memory->known, .all_known = true}};
    in->reading = (pgw_reading){env, &in->text->arena, &memory->error};
    for (size_t k = 0; k < in->table->primary_key_count; k++) {
        const px_key_cell *cell = &of->like->key[k];
        memory->known[k] = cell->quick != PX_READ_NOTHING;
        memory->values[k] = (pgw_value){.type = in->table->columns[cell->column].type};
        in->key.all_known = in->key.all_known && memory->known[k];
    }
    of->rows.text = in->text->text;
    return read_rows(in) && take_tail(in, of);
}

/* Frees what was read. The text, which is the caller's; NULL: it was no good, and is dropped. */
static px_text *end_filling(filling *in, bool good)
{
    pgw_buf_free(&in->found);
    pgw_buf_free(&in->keys);
    if (good)
        return in->text;
    px_text_drop(in->text);
    return NULL;
}

px_text *px_alike_text(px_worker *worker, px_likeness *of, const pgw_env *env, size_t *rows)
{
    filling in;
    key_memory memory;
    bool good = fill(&in, worker, of, env, &memory);
    *rows = in.count;
    return end_filling(&in, good);
}

px_write_group *px_alike_write_group(px_submitter *submitter, const px_standing *standing,
                                     px_likeness *of, const pgw_env *env,
                                     const px_alike_asked *asked, px_text **text)
{
    filling in;
    key_memory memory;
    px_write_group *write_group = NULL;
    if (fill(&in, submitter->worker, of, env, &memory))
        write_group = make_write_group(submitter, standing, &in);
    if (write_group != NULL && !standing->in_transaction && splits(write_group)) {
        px_write_group_free(write_group);
        write_group = NULL;
    }
    if (write_group != NULL && asked != NULL)
        set_asked(in.text, asked);
    *text = end_filling(&in, write_group != NULL);
    return write_group;
}
