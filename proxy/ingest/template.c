#include "proxy/ingest/template.h"

#include "protocol/value_time.h"
#include "proxy/backend/places/maps.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/units.h"
#include "rewrite/hash/hash.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/lift.h"
#include "rewrite/insert/render.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    SETS = 256, /* A shape has its place in one of them. */
    WAYS = 4,
    SEEN = 1024,
    MOST_TAIL = 2048,               /* Bytes behind the last row. */
    MOST_ROWS = 100000,             /* Texts with more are parsed, which bounds what they take. */
    MOST_KEY = 8,                   /* Columns of a primary key. */
    MOST_BYTES = 16 * 1024 * 1024   /* Of all templates of a worker. */
};

/* How a cell of the key is read in the least time. */
typedef enum quick {
    READ_ANY,
    READ_INTEGER,
    READ_TIMESTAMPTZ,
    READ_NOTHING /* The row has a default there, which is not known. */
} quick;

typedef struct key_cell {
    size_t cell;   /* Its place among those of a row. */
    size_t column; /* Of the table. */
    quick quick;
    int64_t least, most; /* Of an integer. */
    bool ends_in_blank;  /* Whether a blank at its end would change what the statement checks. */
} key_cell;

/* It lives in the arena of its specimen. */
struct px_template {
    px_text *specimen; /* One row of a text like those that it is for. Counted. */
    px_identity *identity;
    const cfg_config *config;
    uint64_t hash; /* As that of likenesses. */
    pgw_slice shape, tail;
    bool used; /* It was found since one of its set, or of all, was last sought to be forgotten. */
    key_cell key[MOST_KEY];
    size_t hashed[MOST_KEY]; /* Which of the key's values are those of hash_key. */
    size_t lifts;            /* Cells that travel as parameters; 0: none does. */
    uint32_t *types;         /* The types of the columns that are lifted. */
    px_unit unit;            /* What all units have in common. */
    size_t outside, added;   /* Bytes around the statement, and those that are put into it. */
    /* What stands around the rows when the text is sent alone, and around its first hash. */
    pgw_slice before, behind, guard_before, guard_behind;
};

struct px_templates {
    px_template *slots[SETS][WAYS];
    uint64_t seen[SEEN]; /* Hashes of shapes that had no template when they came. */
    uint64_t epoch;      /* Of the newest snapshot. */
    size_t bytes;
    unsigned hand; /* The next to be forgotten, where all are used. */
};

const px_catalog *px_template_catalog(const px_template *it)
{
    return it->specimen->catalog;
}

const rw_insert *px_template_insert(const px_template *it)
{
    return it->specimen->script.statements[0].insert;
}

/* ---- rows that are like each other ---- */

/* How many cells a row has, and which of them are DEFAULT. */
typedef struct pattern {
    size_t cells;
    uint64_t defaults[RW_PLAIN_CELLS / 64];
} pattern;

static pattern pattern_of(const rw_plain_rows *rows)
{
    pattern it = {.cells = rows->cell_count};
    for (size_t i = 0; i < it.cells; i++)
        it.defaults[i / 64] |= (uint64_t)(rows->cells[i].kind == RW_PLAIN_DEFAULT) << i % 64;
    return it;
}

static bool has_pattern(const rw_plain_rows *rows, const pattern *first)
{
    bool has = rows->cell_count == first->cells;
    for (size_t i = 0; i < rows->cell_count && has; i++)
        has = (rows->cells[i].kind == RW_PLAIN_DEFAULT) == (first->defaults[i / 64] >> i % 64 & 1);
    return has;
}

/* ---- which there are ---- */

static void forget(struct px_templates *all, px_template **slot)
{
    px_template *it = *slot;
    *slot = NULL;
    if (it == NULL)
        return;
    all->bytes -= it->specimen->arena.bytes;
    px_identity_drop(it->identity);
    px_text_drop(it->specimen);
}

/* Those of snapshots that are not to come again, which they would keep; `now` NULL: all of them. */
static void forget_outlived(struct px_templates *all, const px_catalog *now)
{
    for (size_t i = 0; i < SETS; i++)
        for (size_t k = 0; k < WAYS; k++) {
            const px_template *it = all->slots[i][k];
            if (it == NULL)
                continue;
            const px_catalog *catalog = px_template_catalog(it);
            if (now == NULL || (catalog != now && !atomic_load(&catalog->current)))
                forget(all, &all->slots[i][k]);
        }
}

void px_templates_free(px_worker *worker)
{
    if (worker->templates == NULL)
        return;
    forget_outlived(worker->templates, NULL);
    free(worker->templates);
    worker->templates = NULL;
}

/* Behind the last row. */
static pgw_slice tail_of(const rw_plain_rows *rows)
{
    pgw_slice text = rows->text;
    return (pgw_slice){text.ptr + rows->close + 1, text.len - rows->close - 1};
}

/* `tail`: NULL: whichever. */
static px_template *find(const struct px_templates *all, const px_worker *worker,
                         const px_identity *identity, const px_likeness *of, const pgw_slice *tail)
{
    for (size_t k = 0; k < WAYS; k++) {
        px_template *it = all->slots[of->hash % SETS][k];
        if (it != NULL && it->hash == of->hash && it->identity == identity &&
            it->config == worker->config &&
            pgw_slice_eq(it->shape, (pgw_slice){of->shape, of->shape_len}) &&
            (tail == NULL || pgw_slice_eq(it->tail, *tail)))
            return it;
    }
    return NULL;
}

static uint64_t with_tail(uint64_t hash, pgw_slice tail)
{
    return XXH3_64bits_withSeed(tail.ptr, tail.len, hash);
}

/* At the first row, which is read. What stands behind many rows is not known yet. */
static bool take_shape(px_likeness *of)
{
    if (!rw_plain_next(&of->rows))
        return false;
    of->shape_len = rw_plain_shape(&of->rows, of->shape, sizeof of->shape);
    of->hash = XXH3_64bits(of->shape, of->shape_len);
    if (!of->rows.more)
        of->hash = with_tail(of->hash, tail_of(&of->rows));
    return of->shape_len > 0;
}

bool px_template_find(px_worker *worker, const px_identity *identity, pgw_slice text,
                      px_likeness *out)
{
    const struct px_templates *all = worker->templates;
    if (all == NULL || !rw_plain_begin(text, &out->rows) || !take_shape(out))
        return false;
    pgw_slice tail = tail_of(&out->rows);
    px_template *it = find(all, worker, identity, out, out->rows.more ? NULL : &tail);
    if (it == NULL)
        return false;
    it->used = true;
    out->like = it;
    return true;
}

/* ---- learning ---- */

/* A place among those of its set: free, or of one that was not used for longer than others. */
static px_template **make_room(struct px_templates *all, uint64_t hash)
{
    px_template **set = all->slots[hash % SETS];
    for (size_t k = 0; k < WAYS; k++)
        if (set[k] == NULL)
            return &set[k];
    for (size_t k = 0; k < WAYS; k++) {
        if (!set[k]->used)
            return &set[k];
        set[k]->used = false;
    }
    return &set[all->hand++ % WAYS];
}

static bool came_before(struct px_templates *all, uint64_t hash)
{
    uint64_t *seen = &all->seen[hash % SEEN];
    bool before = *seen == hash;
    *seen = hash;
    return before;
}

/* Whether nothing of the statement depends on more than its rows' constants and what stands around
 * them. */
static bool is_simple(const px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    return insert->verb == RW_VERB_INSERT && !insert->query && !insert->hash_listed &&
           insert->row_count > 0 && insert->table->oid != 0 && insert->new_key == 0 && insert->wanted_count == 0 &&
           insert->appended_count == 0 && insert->default_values == 0 &&
           insert->spelled_count == 0 && insert->param_count == 0 && insert->zone == NULL &&
           insert->table->primary_key_count <= MOST_KEY;
}

/* Where the statement begins in the text. */
static size_t offset_of(const px_text *text)
{
    return (size_t)(text->script.statements[0].insert->text.ptr - text->text.ptr);
}

/* Whether the parser has found the first row where it was found without it. */
static bool agrees(const px_text *text, const rw_plain_rows *rows)
{
    const rw_insert *insert = text->script.statements[0].insert;
    size_t offset = offset_of(text);
    return insert->values + offset == rows->values && insert->rows[0].open + offset == rows->open &&
           insert->rows[0].close + offset == rows->close && (insert->row_count > 1) == rows->more &&
           (insert->row_count > 1 || insert->tail + offset == rows->close + 1);
}

static bool is_integer(const rw_column *column, key_cell *out)
{
    static const struct {
        uint32_t type;
        int64_t least, most;
    } types[] = {{PGW_INT8, INT64_MIN, INT64_MAX},
                 {PGW_INT4, INT32_MIN, INT32_MAX},
                 {PGW_INT2, INT16_MIN, INT16_MAX}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == column->type) {
            out->least = types[i].least;
            out->most = types[i].most;
            return true;
        }
    return false;
}

static bool is_hashed(const rw_table *table, size_t column)
{
    bool hashed = false;
    for (size_t h = 0; h < table->hash_key_count; h++)
        hashed = hashed || table->hash_key[h] == column;
    return hashed;
}

/* One of the key's columns; those that are hashed are to be constants. */
static bool learn_key_cell(const px_text *text, const rw_plain_rows *rows, size_t k, key_cell *out)
{
    const rw_insert *insert = text->script.statements[0].insert;
    const rw_table *table = insert->table;
    const rw_cell *cell = &insert->rows[0].key[k];
    const rw_column *column = &table->columns[table->primary_key[k]];
    out->column = table->primary_key[k];
    if (cell->kind == RW_CELL_ABSENT || cell->kind == RW_CELL_DEFAULT) {
        out->quick = READ_NOTHING;
        return !is_hashed(table, out->column);
    }
    if (column->own_casts != RW_NO_OWN_CASTS)
        return false;
    out->ends_in_blank = column->type == PGW_VARCHAR;
    if (is_integer(column, out))
        out->quick = READ_INTEGER;
    else if (column->type == PGW_TIMESTAMPTZ)
        out->quick = READ_TIMESTAMPTZ;
    for (out->cell = 0; out->cell < rows->cell_count; out->cell++)
        if (rows->cells[out->cell].start == cell->position + offset_of(text))
            return true;
    return false;
}

static bool learn_key(px_template *it, const rw_plain_rows *rows)
{
    const rw_table *table = px_template_insert(it)->table;
    for (size_t k = 0; k < table->primary_key_count; k++)
        if (!learn_key_cell(it->specimen, rows, k, &it->key[k]))
            return false;
    for (size_t h = 0; h < table->hash_key_count; h++)
        while (table->primary_key[it->hashed[h]] != table->hash_key[h])
            it->hashed[h]++;
    return true;
}

/* The columns' types of what is lifted: all cells but DEFAULTs. */
static bool learn_lifts(px_template *it, const rw_plain_rows *rows, const px_plan *plan)
{
    const rw_insert *insert = px_template_insert(it);
    for (size_t i = 0; i < rows->cell_count; i++)
        it->lifts += rows->cells[i].kind != RW_PLAIN_DEFAULT;
    if (plan->form != RW_HASH_PARAMETER || plan->outdated || it->lifts != insert->lift_count ||
        it->lifts != plan->insert->param_count)
        return false;
    pgw_slice types = {(const char *)plan->types, it->lifts * sizeof *plan->types};
    it->types = (uint32_t *)pgw_arena_copy(&it->specimen->arena, types).ptr;
    return true;
}

static pgw_slice keep(px_template *it, pgw_buf *buf)
{
    pgw_slice kept = pgw_arena_copy(&it->specimen->arena, pgw_slice_buf(buf));
    pgw_buf_clear(buf);
    return kept;
}

/* The whole of the specimen is what stands before its row, which is guarded, and behind it. */
static void learn_text(px_template *it)
{
    const px_text *text = it->specimen;
    const rw_insert *insert = px_template_insert(it);
    size_t offset = offset_of(text);
    pgw_buf buf = {0};
    if (rw_guard_wanted(insert)) {
        rw_guard_hash_before(insert, &buf);
        it->guard_before = keep(it, &buf);
        rw_guard_hash_behind(insert, &buf);
        it->guard_behind = keep(it, &buf);
    }
    pgw_buf_add(&buf, text->text.ptr, offset);
    rw_render_head(insert, &buf);
    it->before = keep(it, &buf);
    size_t row = 0;
    rw_render_row(insert, 0, text->hashes[0][0], true, &buf);
    row = buf.len + insert->rows[0].open - insert->values;
    pgw_buf_clear(&buf);
    px_text_render(text, NULL, &buf);
    size_t from = it->before.len + row;
    it->behind = pgw_arena_copy(&it->specimen->arena, (pgw_slice){buf.ptr + from, buf.len - from});
    pgw_buf_free(&buf);
}

/* Copies, for the specimen outlives the unit. */
static void learn_unit(px_template *it, const px_unit *unit, const px_text *text)
{
    pgw_arena *arena = &it->specimen->arena;
    const rw_insert *insert = text->script.statements[0].insert;
    it->unit = (px_unit){.kind = unit->kind,
                         .head = pgw_arena_copy(arena, unit->head),
                         .tail = pgw_arena_copy(arena, unit->tail),
                         .conditions = pgw_arena_copy(arena, unit->conditions),
                         .guarded = unit->guarded,
                         .merge_hash = unit->merge_hash,
                         .prepared_count = unit->prepared_count,
                         .lifted = {.returns = unit->lifted.returns}};
    const rw_statement *statement = &text->script.statements[0];
    it->outside = text->text.len - (statement->end - statement->start);
    it->added = rw_render_added(insert);
    if (unit->prepared_count == 0)
        return;
    const px_unit_prepared *from = unit->prepared;
    pgw_slice types = {(const char *)from->types, from->type_count * sizeof *from->types};
    px_unit_prepared *prepared = pgw_arena_alloc(arena, sizeof *prepared);
    *prepared = *from;
    prepared->name = pgw_arena_copy(arena, from->name);
    prepared->text = pgw_arena_copy(arena, from->text);
    prepared->types = (const uint32_t *)pgw_arena_copy(arena, types).ptr;
    prepared->columns = pgw_arena_copy(arena, from->columns);
    it->unit.prepared = prepared;
}

/* One row of the text, and what stands around it, parsed; counted. */
static px_text *specimen_of(px_worker *worker, const px_text *text, const rw_plain_rows *rows,
                            const px_unit *unit)
{
    const rw_insert *insert = text->script.statements[0].insert;
    const rw_meaning ours = RW_MEANS_OURS;
    const rw_catalog view = {.tables = &insert->table, .count = 1, .unqualified = &ours};
    const pgw_env *env = &unit->identity->env;
    pgw_buf one = {0};
    pgw_buf_add(&one, text->text.ptr, rows->close + 1);
    size_t tail = insert->tail + offset_of(text);
    pgw_buf_add(&one, text->text.ptr + tail, text->text.len - tail);
    px_text *specimen = px_text_parse(worker, pgw_slice_buf(&one), text->catalog, &view, env);
    px_text_hash(worker, specimen, *env);
    pgw_buf_free(&one);
    return specimen;
}

/* Whether the specimen is what the text was. */
static bool is_specimen(const px_text *specimen, const px_text *text)
{
    const rw_script *script = &specimen->script;
    if (script->count != 1 || script->inserts != 1 || specimen->refused || !is_simple(specimen))
        return false;
    const rw_insert *one = script->statements[0].insert;
    const rw_insert *other = text->script.statements[0].insert;
    return one->row_count == 1 && one->obstacle == RW_BATCHABLE && one->table == other->table &&
           one->values_merge == other->values_merge && one->list_made == other->list_made &&
           one->shows == other->shows && one->reads_names == other->reads_names;
}

/* NULL: texts like it are no units without being parsed. */
static px_template *template_of(px_worker *worker, const px_text *text, const px_likeness *of,
                                const px_unit *unit, const px_plan *plan)
{
    px_text *specimen = specimen_of(worker, text, &of->rows, unit);
    if (!is_specimen(specimen, text)) {
        px_text_drop(specimen);
        return NULL;
    }
    pgw_arena *arena = &specimen->arena;
    px_template *it = pgw_arena_alloc(arena, sizeof *it);
    size_t tail = text->script.statements[0].insert->tail + offset_of(text);
    pgw_slice behind = {text->text.ptr + tail, text->text.len - tail};
    *it = (px_template){.specimen = specimen, .config = worker->config, .hash = of->hash};
    it->shape = pgw_arena_copy(arena, (pgw_slice){of->shape, of->shape_len});
    it->tail = pgw_arena_copy(arena, behind);
    if (!learn_key(it, &of->rows) || (plan != NULL && !learn_lifts(it, &of->rows, plan))) {
        px_text_drop(specimen);
        return NULL;
    }
    learn_unit(it, unit, text);
    learn_text(it);
    it->identity = px_identity_take(unit->identity);
    return it;
}

/* Whether the key's constants let the statement check what those of other rows do. */
static bool may_stand_for_all(const px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    for (size_t r = 0; r < insert->row_count; r++)
        for (size_t k = 0; k < insert->table->primary_key_count; k++) {
            pgw_slice cell = insert->rows[r].key[k].text;
            if (cell.len > 0 && cell.ptr[cell.len - 1] == ' ')
                return false;
        }
    return true;
}

/* Those that were not used since this was last done, until the others have room. */
static void make_memory(struct px_templates *all, size_t bytes)
{
    enum { SLOTS = SETS * WAYS };
    for (size_t i = 0; i < 2 * SLOTS && all->bytes + bytes > MOST_BYTES; i++) {
        unsigned slot = all->hand++ % SLOTS;
        px_template **at = &all->slots[slot / WAYS][slot % WAYS];
        if (*at != NULL && (*at)->used)
            (*at)->used = false;
        else
            forget(all, at);
    }
}

static void keep_template(struct px_templates *all, px_template *it)
{
    const px_catalog *catalog = px_template_catalog(it);
    if (catalog->epoch > all->epoch) {
        forget_outlived(all, catalog);
        all->epoch = catalog->epoch;
    }
    make_memory(all, it->specimen->arena.bytes);
    px_template **slot = make_room(all, it->hash);
    forget(all, slot);
    all->bytes += it->specimen->arena.bytes;
    *slot = it;
}

/* Whether all rows are plain, and like the first one, which is read. */
static bool are_plain(rw_plain_rows *rows)
{
    const pattern first = pattern_of(rows);
    while (rows->more)
        if (!rw_plain_next(rows) || !has_pattern(rows, &first))
            return false;
    return true;
}

/* Whether texts like it have a template. One of another snapshot is forgotten. */
static bool is_learned(px_worker *worker, const px_text *text, const px_unit *unit,
                       const px_likeness *of, pgw_slice tail)
{
    struct px_templates *all = worker->templates;
    px_template *it = find(all, worker, unit->identity, of, &tail);
    if (it == NULL || px_template_catalog(it) == text->catalog)
        return it != NULL;
    for (size_t k = 0; k < WAYS; k++)
        if (all->slots[of->hash % SETS][k] == it)
            forget(all, &all->slots[of->hash % SETS][k]);
    return false;
}

/* Whether a lone row is lifted, as it has to be. */
static bool travels_well(const px_text *text, const px_plan *plan)
{
    return text->script.statements[0].insert->row_count > 1 || plan != NULL;
}

void px_template_learn(px_worker *worker, const px_text *text, const px_unit *unit,
                       const px_plan *plan)
{
    px_likeness of;
    if (text->script.count != 1 || text->filled != NULL || text->refused || text->in_parts ||
        !is_simple(text) || !may_stand_for_all(text) || unit->table_count != 1 ||
        !rw_plain_begin(text->text, &of.rows) || !take_shape(&of) || !agrees(text, &of.rows))
        return;
    const rw_insert *insert = text->script.statements[0].insert;
    if (worker->templates == NULL)
        worker->templates = pgw_calloc(1, sizeof *worker->templates);
    pgw_slice tail = {text->text.ptr + offset_of(text) + insert->tail,
                      text->text.len - offset_of(text) - insert->tail};
    uint64_t hash = of.rows.more ? with_tail(of.hash, tail) : of.hash;
    if (tail.len > MOST_TAIL || is_learned(worker, text, unit, &of, tail) ||
        !came_before(worker->templates, hash) || !travels_well(text, plan))
        return;
    rw_plain_rows rows = of.rows;
    px_template *it =
        are_plain(&rows) ? template_of(worker, text, &of, unit, plan) : NULL;
    if (it != NULL)
        keep_template(worker->templates, it);
}

/* ---- a unit of a text ---- */

typedef struct row {
    uint32_t open, close;
    uint64_t hash;
} row;

/* What the unit's text is rendered from. */
typedef struct origin {
    px_text *text;
    const px_template *like;
    const row *rows;
    size_t count;
} origin;

static const rw_table *table_of(const px_template *it)
{
    return px_template_insert(it)->table;
}

static void write_row(const origin *of, const row *it, bool guarded, pgw_buf *out)
{
    size_t len = it->close - it->open;
    char *end = pgw_buf_reserve(out, len + PX_UNIT_HASH_ROOM); /* mostly for all of the row */
    memcpy(end, of->text->text.ptr + it->open, len);
    memcpy(end + len, ", ", 2);
    out->len += len + 2;
    if (guarded)
        pgw_buf_add_slice(out, of->like->guard_before);
    rw_render_hash(table_of(of->like), it->hash, out);
    if (guarded)
        pgw_buf_add_slice(out, of->like->guard_behind);
    pgw_buf_add_byte(out, ')');
}

static void write_rows(const void *from, size_t statement, pgw_buf *out)
{
    const origin *of = from;
    (void)statement;
    for (size_t r = 0; r < of->count; r++) {
        if (r > 0)
            pgw_buf_add_str(out, ",\n");
        write_row(of, &of->rows[r], false, out);
    }
}

static void write_alone(const void *from, pgw_buf *out)
{
    const origin *of = from;
    const char *text = of->text->text.ptr;
    size_t at = px_template_insert(of->like)->values + offset_of(of->like->specimen);
    pgw_buf_add_slice(out, of->like->before);
    for (size_t r = 0; r < of->count; r++) {
        pgw_buf_add(out, text + at, of->rows[r].open - at);
        write_row(of, &of->rows[r], r == 0, out);
        at = of->rows[r].close + 1;
    }
    pgw_buf_add_slice(out, of->like->behind);
}

static void drop_origin(void *of)
{
    px_text_drop(((origin *)of)->text);
}

/* A text while its rows are read. */
typedef struct filling {
    px_worker *worker;
    const px_template *like;
    px_text *text;
    rw_plain_rows *rows;
    pgw_reading reading;
    rw_key key; /* Of a row. */
    size_t count; /* Of the rows that were read. */
    row first;    /* Where a lone row stands in the text. */
    px_unit_key claimed; /* What is claimed for a lone row. */
    pgw_buf found, keys; /* The same of many, one behind the other. */
} filling;

static bool read_quickly(const filling *in, const key_cell *of, const rw_plain_cell *cell,
                         pgw_value *out)
{
    pgw_slice text = in->rows->text;
    int64_t integer = 0;
    bool read = false;
    if (of->quick == READ_INTEGER && cell->kind == RW_PLAIN_INTEGER)
        read = rw_plain_integer(text, cell, &integer) && integer >= of->least &&
               integer <= of->most;
    else if (of->quick == READ_TIMESTAMPTZ && cell->kind == RW_PLAIN_STRING)
        read = pgw_time_usual(
            (pgw_slice){text.ptr + cell->start + 1, cell->end - cell->start - 2}, &integer);
    *out = (pgw_value){.type = table_of(in->like)->columns[of->column].type,
                       .as.integer = integer};
    return read;
}

/* False: its value is not known for certain, or the statement would check something else. */
static bool read_cell(const filling *in, const key_cell *of, pgw_value *out)
{
    const rw_plain_cell *cell = &in->rows->cells[of->cell];
    if (read_quickly(in, of, cell, out))
        return true;
    rw_cell whole;
    rw_plain_read(in->rows->text, cell, in->reading.arena, &whole);
    if (of->ends_in_blank && whole.text.len > 0 && whole.text.ptr[whole.text.len - 1] == ' ')
        return false;
    const rw_column *column = &table_of(in->like)->columns[of->column];
    return whole.kind != RW_CELL_NULL && whole.kind != RW_CELL_DEFAULT &&
           rw_cell_value(&whole, column, RW_NO_PARAMS, &in->reading, out) == PGW_KNOWN &&
           !out->null;
}

static bool read_key(filling *in)
{
    const rw_table *table = table_of(in->like);
    rw_key *key = &in->key;
    pgw_value hashed[MOST_KEY];
    for (size_t k = 0; k < table->primary_key_count; k++)
        if (key->known[k] && !read_cell(in, &in->like->key[k], &key->values[k]))
            return false;
    for (size_t h = 0; h < table->hash_key_count; h++)
        hashed[h] = key->values[in->like->hashed[h]];
    key->whole = rw_hash_whole(table, hashed);
    key->hash = rw_hash_stored(table, key->whole);
    key->partition = px_map_partition(in->worker, table, key->hash);
    return px_bind_within(in->worker, table, in->rows->close - in->rows->open, key);
}

static void add_row(filling *in)
{
    row *found = &in->first;
    px_unit_key *claimed = &in->claimed;
    if (in->count++ > 0 || in->rows->more) {
        found = (row *)pgw_buf_reserve(&in->found, sizeof *found);
        claimed = (px_unit_key *)pgw_buf_reserve(&in->keys, sizeof *claimed);
        in->found.len += sizeof *found;
        in->keys.len += sizeof *claimed;
    }
    *found = (row){(uint32_t)in->rows->open, (uint32_t)in->rows->close, in->key.hash};
    *claimed = px_unit_key_of(table_of(in->like), &in->key);
}

/* A buffer of the rows, or `one`, becomes the unit's. */
static void *keep_all(px_unit *unit, pgw_buf *many, const void *one, size_t size)
{
    pgw_slice kept = many->len > 0 ? pgw_arena_keep(&unit->arena, many)
                                   : pgw_arena_copy(&unit->arena, (pgw_slice){one, size});
    return (void *)kept.ptr;
}

static bool read_rows(filling *in)
{
    rw_plain_rows *rows = in->rows;
    const pattern first = pattern_of(rows);
    for (;;) {
        if (in->count == MOST_ROWS || !read_key(in))
            return false;
        add_row(in);
        if (!rows->more)
            return true;
        if (!rw_plain_next(rows) || !has_pattern(rows, &first))
            return false;
    }
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

/* Its rows take as much in a batch as if they had been parsed. */
static void add_rows(px_unit *unit, filling *in, const row *rows)
{
    struct px_unit_statement *statement = unit->statements;
    statement->bytes = in->count * PX_UNIT_HASH_ROOM;
    if (unit->kind != PX_UNIT_ROWS)
        statement->bytes += in->text->text.len - in->like->outside + in->like->added;
    for (size_t r = 0; r < in->count && unit->kind == PX_UNIT_ROWS; r++)
        statement->bytes += rows[r].close + 1 - rows[r].open;
    px_unit_set_keys(unit, keep_all(unit, &in->keys, &in->claimed, sizeof in->claimed), in->count);
    unit->bytes += unit->head.len + unit->tail.len + unit->conditions.len + statement->bytes +
                   in->text->text.len;
}

static void set_source(px_unit *unit, filling *in)
{
    origin *of = pgw_arena_alloc(&unit->arena, sizeof *of);
    const row *rows = keep_all(unit, &in->found, &in->first, sizeof in->first);
    add_rows(unit, in, rows);
    *of = (origin){in->text, in->like, rows, in->count};
    px_text_take(in->text);
    unit->source = (px_unit_source){of, write_rows, write_alone, drop_origin};
}

static px_unit *make_unit(px_owner *owner, const px_standing *standing, filling *in)
{
    const px_template *like = in->like;
    const pgw_slice *values = like->lifts > 0 ? lift(in) : NULL;
    if (like->lifts > 0 && values == NULL)
        return NULL;
    px_unit *unit = px_unit_of_rows(owner, standing, table_of(like), in->text->catalog);
    unit->kind = like->unit.kind;
    unit->head = like->unit.head;
    unit->tail = like->unit.tail;
    unit->conditions = like->unit.conditions;
    unit->guarded = like->unit.guarded;
    unit->merge_hash = like->unit.merge_hash;
    unit->prepared = like->unit.prepared;
    unit->prepared_count = like->unit.prepared_count;
    unit->lifted = (px_unit_lifted){values, values != NULL ? like->lifts + 1 : 0,
                                    .returns = like->unit.lifted.returns};
    set_source(unit, in);
    return unit;
}

/* Rows of several partitions may have to commit one by one. */
static bool splits(const px_unit *unit)
{
    return unit->several_partitions &&
           unit->tables[0].config->atomicity == CFG_ATOMICITY_PARTITION;
}

/* What stands behind many rows is known when these are read: the template may be another. */
static bool take_tail(filling *in, const px_identity *identity, const px_likeness *of)
{
    pgw_slice tail = tail_of(in->rows);
    if (pgw_slice_eq(in->like->tail, tail))
        return true;
    const px_template *it = find(in->worker->templates, in->worker, identity, of, &tail);
    if (it == NULL || px_template_catalog(it) != px_template_catalog(in->like))
        return false;
    px_text *copy = px_text_like(it->specimen, in->text->text);
    px_text_drop(in->text);
    in->like = it;
    in->text = copy;
    in->rows->text = copy->text;
    in->reading.arena = &copy->arena;
    return true;
}

px_unit *px_template_unit(px_owner *owner, const px_standing *standing, px_likeness *of,
                          const pgw_env *env, px_text **text)
{
    pgw_value values[MOST_KEY];
    bool known[MOST_KEY];
    pgw_error error;
    filling in = {.worker = owner->worker,
                  .like = of->like,
                  .text = px_text_like(of->like->specimen, of->rows.text),
                  .rows = &of->rows,
                  .key = {.values = values, .known = known, .all_known = true}};
    in.reading = (pgw_reading){env, &in.text->arena, &error};
    for (size_t k = 0; k < MOST_KEY; k++) {
        known[k] = of->like->key[k].quick != READ_NOTHING;
        in.key.all_known = in.key.all_known && known[k];
    }
    of->rows.text = in.text->text;
    px_unit *unit = NULL;
    if (read_rows(&in) && take_tail(&in, standing->identity, of))
        unit = make_unit(owner, standing, &in);
    if (unit != NULL && splits(unit)) {
        px_unit_free(unit);
        unit = NULL;
    }
    pgw_buf_free(&in.found);
    pgw_buf_free(&in.keys);
    if (unit == NULL)
        px_text_drop(in.text);
    *text = unit != NULL ? in.text : NULL;
    return unit;
}
