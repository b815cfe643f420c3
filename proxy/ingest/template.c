#include "proxy/ingest/template.h"

#include "proxy/backend/base/backend.h"
#include "proxy/base/shared.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/quick_rows.h"
#include "rewrite/insert/render.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    SETS = 256, /* sets of templates; a shape belongs to one of them */
    WAYS = 4,
    SEEN = 1024,
    MOST_TAIL = 2048,             /* bytes behind the last row */
    MOST_BYTES = 16 * 1024 * 1024 /* bytes of all templates of a worker */
};

struct px_templates {
    px_template *slots[SETS][WAYS];
    uint64_t seen[SEEN]; /* hashes of shapes that had no template when they came */
    uint64_t epoch;      /* the epoch of the newest snapshot */
    size_t bytes;
    unsigned hand; /* the next slot to look at for a template to forget */
};

const px_catalog *px_template_catalog(const px_template *it)
{
    return it->specimen->catalog;
}

const rw_insert *px_template_insert(const px_template *it)
{
    return it->specimen->script.statements[0].insert;
}

bool px_template_asks(const px_template *it)
{
    return it->wanted != NULL;
}

const rw_question *px_template_question(const px_template *it)
{
    return &it->question;
}

/* ---- which there are ---- */

/* The memory of a template, in bytes. */
static size_t weight_of(const px_template *it)
{
    size_t weight = it->specimen->arena.bytes;
    for (size_t i = 0; i < it->write_group.prepared_count; i++)
        weight += it->write_group.prepared[i].text.len + it->write_group.prepared[i].columns.len;
    return weight;
}

static void forget(struct px_templates *all, px_template **slot)
{
    px_template *it = *slot;
    *slot = NULL;
    if (it == NULL)
        return;
    all->bytes -= weight_of(it);
    px_identity_drop(it->identity);
    for (size_t i = 0; i < it->write_group.prepared_count; i++)
        px_write_group_drop_prepared(&it->write_group.prepared[i]);
    px_text_drop(it->specimen);
}

/* Forgets templates of snapshots that do not come again, which they would keep; `now` NULL: all. */
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

/* Finds a template; `tail` NULL: with any tail. */
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

/* Reads the first row and takes the shape. What stands behind many rows is not known yet. */
static bool take_shape(px_likeness *of)
{
    if (!rw_plain_next(&of->rows))
        return false;
    of->shape_len = rw_plain_shape(&of->rows, of->shape, sizeof of->shape);
    of->hash = XXH3_64bits(of->shape, of->shape_len);
    if (!of->rows.more)
        of->hash = with_tail(of->hash, rw_plain_tail(&of->rows));
    return of->shape_len > 0;
}

bool px_template_find(px_worker *worker, const px_identity *identity, pgw_slice text,
                      px_likeness *out)
{
    const struct px_templates *all = worker->templates;
    if (all == NULL || !rw_plain_begin(text, &out->rows) || !take_shape(out))
        return false;
    pgw_slice tail = rw_plain_tail(&out->rows);
    px_template *it = find(all, worker, identity, out, out->rows.more ? NULL : &tail);
    if (it == NULL)
        return false;
    it->used = true;
    out->like = it;
    return true;
}

const px_template *px_template_with_tail(px_worker *worker, const px_template *it,
                                         const px_likeness *of, pgw_slice tail)
{
    if (pgw_slice_eq(it->tail, tail))
        return it;
    const px_template *other = find(worker->templates, worker, it->identity, of, &tail);
    if (other == NULL || px_template_catalog(other) != px_template_catalog(it))
        return NULL;
    return other;
}

/* ---- learning ---- */

/* A place in the set of this hash: free, or of a template that was not used for long. */
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
           insert->row_count > 0 && insert->table->oid != 0 && insert->new_key == 0 &&
           insert->wanted_count == 0 && insert->appended_count == 0 &&
           insert->default_values == 0 && insert->spelled_count == 0 && insert->param_count == 0 &&
           insert->zone == NULL && insert->table->primary_key_count <= PX_TEMPLATE_KEY;
}

/* Where the statement begins in the text. */
static size_t offset_of(const px_text *text)
{
    return (size_t)(text->script.statements[0].insert->text.ptr - text->text.ptr);
}

size_t px_template_offset(const px_template *it)
{
    return offset_of(it->specimen);
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

/* Finds the range of a column whose values are numbers. False: they are not. */
static bool find_range(const rw_column *column, px_key_cell *out)
{
    static const struct {
        uint32_t type;
        int64_t least, most;
    } types[] = {{PGW_TIMESTAMPTZ, INT64_MIN, INT64_MAX},
                 {PGW_INT8, INT64_MIN, INT64_MAX},
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

/* Learns how a column of the key is read; those of the hash_key are to be constants. */
static bool learn_key_cell(const px_text *text, const rw_plain_rows *rows, size_t k,
                           px_key_cell *out)
{
    const rw_insert *insert = text->script.statements[0].insert;
    const rw_table *table = insert->table;
    const rw_cell *cell = &insert->rows[0].key[k];
    const rw_column *column = &table->columns[table->primary_key[k]];
    out->column = table->primary_key[k];
    out->kind = PX_NO_NUMBER;
    if (cell->kind == RW_CELL_ABSENT || cell->kind == RW_CELL_DEFAULT) {
        out->quick = PX_READ_NOTHING;
        return !is_hashed(table, out->column);
    }
    if (column->own_casts != RW_NO_OWN_CASTS)
        return false;
    out->ends_in_blank = column->type == PGW_VARCHAR;
    if (find_range(column, out)) {
        out->kind = column->type == PGW_TIMESTAMPTZ ? RW_PLAIN_STRING : RW_PLAIN_INTEGER;
        out->quick = column->type == PGW_TIMESTAMPTZ ? PX_READ_TIMESTAMPTZ : PX_READ_INTEGER;
    }
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

/* Learns the types of the columns that are lifted: all cells but DEFAULTs. */
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

/* Learns what stands before and behind the row of the specimen, which is guarded. */
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

/* Learns what write groups have in common, in copies, for the specimen outlives the write group. */
static void learn_write_group(px_template *it, const px_write_group *write_group,
                              const px_text *text)
{
    pgw_arena *arena = &it->specimen->arena;
    const rw_insert *insert = text->script.statements[0].insert;
    it->write_group = (px_write_group){.kind = write_group->kind,
                                       .head = pgw_arena_copy(arena, write_group->head),
                                       .tail = pgw_arena_copy(arena, write_group->tail),
                                       .conditions = pgw_arena_copy(arena, write_group->conditions),
                                       .guarded = write_group->guarded,
                                       .merge_hash = write_group->merge_hash,
                                       .prepared_count = write_group->prepared_count,
                                       .lifted = {.returns = write_group->lifted.returns}};
    const rw_statement *statement = &text->script.statements[0];
    it->outside = text->text.len - (statement->end - statement->start);
    it->added = rw_render_added(insert);
    if (write_group->prepared_count == 0)
        return;
    px_write_group_prepared *prepared = pgw_arena_alloc(arena, sizeof *prepared);
    *prepared = px_write_group_keep_prepared(write_group->prepared);
    it->write_group.prepared = prepared;
}

/* The text with its first row alone, parsed; counted. */
static px_text *specimen_of(px_worker *worker, const px_text *text, const rw_plain_rows *rows,
                            const px_write_group *write_group)
{
    const rw_insert *insert = text->script.statements[0].insert;
    const rw_meaning ours = RW_MEANS_OURS;
    const rw_catalog view = {.tables = &insert->table, .count = 1, .unqualified = &ours};
    const pgw_env *env = &write_group->identity->env;
    pgw_buf one = {0};
    pgw_buf_add(&one, text->text.ptr, rows->close + 1);
    size_t tail = insert->tail + offset_of(text);
    pgw_buf_add(&one, text->text.ptr + tail, text->text.len - tail);
    px_text *specimen = px_text_parse(worker, pgw_slice_buf(&one), text->catalog, &view, env);
    px_text_hash(worker, specimen, *env);
    pgw_buf_free(&one);
    return specimen;
}

/* Whether the specimen is the same INSERT as the text, but for rows. */
static bool is_specimen(const px_text *specimen, const px_text *text)
{
    const rw_script *script = &specimen->script;
    if (script->count != 1 || script->inserts != 1 || specimen->refused || !is_simple(specimen))
        return false;
    const rw_insert *one = script->statements[0].insert;
    const rw_insert *other = text->script.statements[0].insert;
    return one->row_count == 1 && one->blocker == RW_BATCHABLE && one->table == other->table &&
           one->values_merge == other->values_merge && one->list_made == other->list_made &&
           one->shows == other->shows && one->reads_names == other->reads_names;
}

/* Makes a template. NULL: texts like this one must be parsed to be write groups. */
static px_template *template_of(px_worker *worker, const px_text *text, const px_likeness *of,
                                const px_write_group *write_group, const px_plan *plan)
{
    px_text *specimen = specimen_of(worker, text, &of->rows, write_group);
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
    learn_write_group(it, write_group, text);
    learn_text(it);
    it->identity = px_identity_take(write_group->identity);
    return it;
}

/* Whether the statement checks the same for the key's constants in this text as for any others. */
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

/* Forgets templates that were not used of late, until there is room for `bytes` more. */
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
    make_memory(all, weight_of(it));
    px_template **slot = make_room(all, it->hash);
    forget(all, slot);
    all->bytes += weight_of(it);
    *slot = it;
}

/* Whether all rows are plain, and like the first one, which is read. */
static bool are_plain(rw_plain_rows *rows)
{
    rw_plain_pattern first;
    rw_plain_pattern_of(rows, &first);
    while (rows->more)
        if (!rw_quick_next(rows, &first))
            return false;
    return true;
}

/* Whether texts like this one have a template. One of another snapshot is forgotten. */
static bool is_learned(px_worker *worker, const px_text *text, const px_identity *identity,
                       const px_likeness *of, pgw_slice tail)
{
    struct px_templates *all = worker->templates;
    px_template *it = find(all, worker, identity, of, &tail);
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

/* Whether nothing but defaults is wanted, in a lone row, and no more than this depends on what
 * stands in it. */
static bool wants_simply(const px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    bool simple = insert->verb == RW_VERB_INSERT && !insert->query && !insert->hash_listed &&
                  insert->row_count == 1 && insert->new_key == 0 && insert->default_values == 0 &&
                  insert->param_count == 0;
    for (size_t i = 0; i < insert->wanted_count; i++)
        simple = simple && !insert->wanted[i].expression && !insert->wanted[i].constant;
    return simple && insert->wanted_count > 0;
}

/* The wanted cells of the text. NULL: the parser finds one where it was not found without it. */
static const px_wanted_cell *wanted_cells(px_text *text, const rw_plain_rows *rows)
{
    const rw_insert *insert = text->script.statements[0].insert;
    px_wanted_cell *all = pgw_arena_alloc(&text->arena, insert->wanted_count * sizeof *all);
    for (size_t i = 0; i < insert->wanted_count; i++) {
        px_wanted_cell *one = &all[i];
        one->written = insert->wanted[i].to > 0;
        while (one->written && one->cell < rows->cell_count &&
               rows->cells[one->cell].start != insert->wanted[i].from)
            one->cell++;
        if (one->cell == rows->cell_count)
            return NULL;
    }
    return all;
}

/* A copy of a text of one row, parsed; counted. */
static px_text *copy_of(px_worker *worker, const px_text *text, const pgw_env *env)
{
    const rw_meaning ours = RW_MEANS_OURS;
    const rw_catalog view = {
        .tables = &text->script.statements[0].insert->table, .count = 1, .unqualified = &ours};
    return px_text_parse(worker, text->text, text->catalog, &view, env);
}

/* Makes a template that asks. NULL: texts like this one must be parsed to be filled. */
static px_template *template_asked(px_worker *worker, const px_text *text, const px_likeness *of,
                                   px_identity *identity)
{
    px_text *specimen = copy_of(worker, text, &identity->env);
    const px_wanted_cell *wanted = NULL;
    if (specimen->script.count == 1 && specimen->script.inserts == 1 && wants_simply(specimen))
        wanted = wanted_cells(specimen, &of->rows);
    if (wanted == NULL) {
        px_text_drop(specimen);
        return NULL;
    }
    pgw_arena *arena = &specimen->arena;
    px_template *it = pgw_arena_alloc(arena, sizeof *it);
    *it = (px_template){.specimen = specimen,
                        .identity = px_identity_take(identity),
                        .config = worker->config,
                        .hash = of->hash,
                        .shape = pgw_arena_copy(arena, (pgw_slice){of->shape, of->shape_len}),
                        .tail = pgw_arena_copy(arena, rw_plain_tail(&of->rows)),
                        .wanted = wanted};
    rw_question_of(specimen->script.statements[0].insert, worker->server->backend->by_file, arena,
                   &it->question);
    return it;
}

/* Learns from a text whose key was asked for, if the filled text has a template. */
static void learn_asked(px_worker *worker, const px_text *text, px_identity *identity)
{
    px_likeness of;
    if (text->script.count != 1 || !wants_simply(text) || offset_of(text) > 0 ||
        !rw_plain_begin(text->text, &of.rows) || !take_shape(&of) || !agrees(text, &of.rows))
        return;
    pgw_slice tail = rw_plain_tail(&of.rows);
    if (tail.len > MOST_TAIL || is_learned(worker, text, identity, &of, tail))
        return;
    px_template *it = template_asked(worker, text, &of, identity);
    if (it != NULL)
        keep_template(worker->templates, it);
}

/* Learns from a text with all its values. True: texts like it have a template now. */
static bool learn_rows(px_worker *worker, const px_text *text, const px_write_group *write_group,
                       const px_plan *plan)
{
    px_likeness of;
    if (text->script.count != 1 || text->refused || text->in_parts || !is_simple(text) ||
        !may_stand_for_all(text) || write_group->table_count != 1 ||
        !rw_plain_begin(text->text, &of.rows) || !take_shape(&of) || !agrees(text, &of.rows))
        return false;
    const rw_insert *insert = text->script.statements[0].insert;
    if (worker->templates == NULL)
        worker->templates = pgw_calloc(1, sizeof *worker->templates);
    pgw_slice tail = {text->text.ptr + offset_of(text) + insert->tail,
                      text->text.len - offset_of(text) - insert->tail};
    uint64_t hash = of.rows.more ? with_tail(of.hash, tail) : of.hash;
    if (tail.len > MOST_TAIL)
        return false;
    if (is_learned(worker, text, write_group->identity, &of, tail))
        return true;
    if (!came_before(worker->templates, hash) || !travels_well(text, plan))
        return false;
    rw_plain_rows rows = of.rows;
    px_template *it = are_plain(&rows) ? template_of(worker, text, &of, write_group, plan) : NULL;
    if (it != NULL)
        keep_template(worker->templates, it);
    return it != NULL;
}

void px_template_learn(px_worker *worker, const px_text *text, const px_write_group *write_group,
                       const px_plan *plan)
{
    if (learn_rows(worker, text, write_group, plan) && text->asked != NULL)
        learn_asked(worker, text->asked, write_group->identity);
}
