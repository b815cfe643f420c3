#include "proxy/ingest/units.h"

#include "proxy/backend/places/maps.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/script.h"

#include <string.h>
#include <xxhash.h>

static uint64_t deadline_of(px_owner *owner, const px_standing *standing, const cfg_table *table)
{
    if (owner->since == 0)
        owner->since = px_worker_now(owner->worker);
    uint64_t ms = standing->identity->statement_timeout;
    uint64_t wait = ms > 0 && ms < table->batch.max_wait_ms ? ms : table->batch.max_wait_ms;
    return owner->since + wait;
}

/* Whether a unit's table is `table`: by its oid, where the backend says it, else by its name. */
static bool is_of(const px_unit_table *known, const rw_table *table)
{
    const char *label = known->name;
    if (known->oid != 0 && known->oid == table->oid)
        return true;
    size_t schema = strlen(table->schema);
    return strncmp(label, table->schema, schema) == 0 && label[schema] == '.' &&
           strcmp(label + schema + 1, table->name) == 0;
}

static char *label_of(const rw_table *table, pgw_arena *arena)
{
    size_t schema = strlen(table->schema), name = strlen(table->name);
    char *label = pgw_arena_alloc(arena, schema + name + 2);
    memcpy(label, table->schema, schema);
    label[schema] = '.';
    memcpy(label + schema + 1, table->name, name);
    return label;
}

/* The table's place among the unit's. */
static uint16_t place_of(px_unit *unit, const rw_table *table, const px_catalog *catalog)
{
    for (size_t i = unit->table_count; i-- > 0;)
        if (is_of(&unit->tables[i], table))
            return (uint16_t)i;
    unit->tables[unit->table_count] =
        (px_unit_table){.config = px_catalog_config(catalog, table),
                        .name = label_of(table, &unit->arena),
                        .oid = table->oid,
                        .filled_by = table->filled_by,
                        .partitions = px_map_count(unit->home, table)};
    return (uint16_t)unit->table_count++;
}

/* A unit with room for so many statements and rows. */
static px_unit *new_unit(px_owner *owner, const px_standing *standing, size_t statements,
                         size_t rows)
{
    px_unit *unit = px_unit_new(owner->worker);
    size_t most = statements < PX_UNIT_MOST ? statements : PX_UNIT_MOST;
    unit->statements = pgw_arena_alloc(&unit->arena, statements * sizeof *unit->statements);
    unit->keys = pgw_arena_alloc(&unit->arena, rows * sizeof *unit->keys);
    unit->tables = pgw_arena_alloc(&unit->arena, most * sizeof *unit->tables);
    unit->prepared = pgw_arena_alloc(&unit->arena, most * sizeof *unit->prepared);
    unit->told = standing->in_transaction;
    unit->repeated = owner->repeated;
    unit->own_link = standing->own_link;
    unit->send_alone = owner->suspected || px_worker_now(owner->worker) < owner->failed_until;
    owner->suspected = false;
    unit->session = owner;
    unit->ticket = ++owner->worker->tickets;
    return unit;
}

/* Begins a unit: the settings of its first statement's table hold for it. */
static void begin(px_unit *unit, px_owner *owner, const px_standing *standing,
                  const rw_table *table, const px_catalog *catalog)
{
    place_of(unit, table, catalog);
    unit->epoch = catalog->epoch;
    unit->deadline = deadline_of(owner, standing, unit->tables[0].config);
}

/* Counts a row in: its key, and whether the unit still touches one partition. `place`: of its
 * table. */
static void add_key(px_unit *unit, const rw_table *table, uint16_t place, const rw_key *key)
{
    if (unit->row_count == 0)
        unit->partition = key->partition;
    else if (unit->partition != key->partition || place > 0)
        unit->several_partitions = true;
    px_unit_key *kept = &unit->keys[unit->row_count++];
    *kept = px_unit_key_of(table, key);
    kept->table = place;
}

/* Moves the bytes into the unit's arena, where they count. */
static pgw_slice keep(px_unit *unit, pgw_buf *buf)
{
    unit->bytes += buf->len;
    return pgw_arena_keep(&unit->arena, buf);
}

/* ---- text ---- */

/* A part of a text INSERT, rendered and kept. */
static pgw_slice render(px_unit *unit, const rw_insert *insert,
                        void (*part)(const rw_insert *, pgw_buf *))
{
    pgw_buf buf = {0};
    part(insert, &buf);
    return keep(unit, &buf);
}

/* Whether rows of all statements may stand in one VALUES list: heads and tails are the same, and so
 * is what the first one's guard asks. */
static bool merges(px_unit *unit, const rw_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (!insert->values_merge || (script->count > 1 && rw_guard_heeds_default(insert)))
            return false;
        pgw_slice head = render(unit, insert, rw_render_head);
        pgw_slice tail = render(unit, insert, rw_render_tail);
        if (i == 0) {
            unit->head = head;
            unit->tail = tail;
        } else if (!pgw_slice_eq(head, unit->head) || !pgw_slice_eq(tail, unit->tail)) {
            return false;
        }
    }
    return true;
}

/* What the unit's text is rendered from: the chosen rows of a text. */
typedef struct origin {
    px_text *text;
    px_chosen chosen;
} origin;

/* How many rows of the statement are chosen; chosen_row() says which. */
static size_t count_chosen(px_chosen chosen, const rw_insert *insert)
{
    return chosen.rows != NULL ? chosen.count : insert->row_count;
}

static size_t chosen_row(px_chosen chosen, size_t at)
{
    return chosen.rows != NULL ? chosen.rows[at] : at;
}

static void write_rows(const origin *of, size_t i, bool guarded, pgw_buf *out)
{
    const rw_insert *insert = of->text->script.statements[i].insert;
    size_t begun = out->len;
    for (size_t at = 0; at < count_chosen(of->chosen, insert); at++) {
        size_t r = chosen_row(of->chosen, at);
        if (insert->rows[r].superseded)
            continue;
        pgw_buf_add_str(out, out->len > begun ? ",\n" : "");
        rw_render_row(insert, r, of->text->hashes[i][r], guarded && at == 0, out);
    }
}

static void write_batch(const void *of, size_t i, pgw_buf *out)
{
    write_rows(of, i, false, out);
}

/* Writes the whole text, or the chosen rows as a statement. */
static void write_alone(const void *of, pgw_buf *out)
{
    const origin *from = of;
    const rw_insert *insert = from->text->script.statements[0].insert;
    if (from->chosen.rows == NULL) {
        px_text_render(from->text, NULL, out);
        return;
    }
    rw_render_head(insert, out);
    write_rows(from, 0, true, out);
    rw_render_tail(insert, out);
}

static void drop_origin(void *of)
{
    px_text_drop(((origin *)of)->text);
}

static void set_source(px_unit *unit, px_text *text, px_chosen chosen)
{
    origin *of = pgw_arena_alloc(&unit->arena, sizeof *of);
    *of = (origin){text, chosen};
    px_text_take(text);
    if (chosen.rows != NULL) {
        pgw_slice rows = {(const char *)chosen.rows, chosen.count * sizeof *chosen.rows};
        of->chosen.rows = (const size_t *)pgw_arena_copy(&unit->arena, rows).ptr;
    }
    unit->source = (px_unit_source){of, write_batch, write_alone, drop_origin};
}

/* What the text's next statement takes in a batch, but for its rows. */
static size_t bytes_around(const px_unit *unit, const rw_statement *statement)
{
    const rw_insert *insert = statement->insert;
    size_t rows = 0;
    for (size_t r = 0; r < insert->row_count; r++)
        rows += insert->rows[r].close + 1 - insert->rows[r].open;
    return unit->kind == PX_UNIT_ROWS
               ? 0
               : statement->end - statement->start - rows + rw_render_added(insert);
}

/* The next statement of the script, as far as it was chosen. */
static void add_statement(px_unit *unit, const px_text *text, px_chosen chosen)
{
    size_t i = unit->statement_count++;
    const rw_insert *insert = text->script.statements[i].insert;
    struct px_unit_statement *statement = &unit->statements[i];
    uint16_t place = place_of(unit, insert->table, text->catalog);
    unit->upserts |= insert->has_conflict;
    statement->bytes = bytes_around(unit, &text->script.statements[i]);
    for (size_t at = 0; at < count_chosen(chosen, insert); at++) {
        const rw_row *row = &insert->rows[chosen_row(chosen, at)];
        if (row->superseded)
            continue;
        add_key(unit, insert->table, place, &text->keys[i][chosen_row(chosen, at)]);
        statement->rows++;
        statement->bytes += row->close + 1 - row->open + PX_UNIT_HASH_ROOM;
    }
    unit->bytes += statement->bytes;
}

static void set_merge_hash(px_unit *unit)
{
    uint64_t parts[] = {unit->kind,
                        unit->epoch,
                        XXH3_64bits(unit->head.ptr, unit->head.len),
                        XXH3_64bits(unit->tail.ptr, unit->tail.len),
                        XXH3_64bits(unit->conditions.ptr, unit->conditions.len),
                        XXH3_64bits(unit->identity->key, strlen(unit->identity->key))};
    unit->merge_hash = XXH3_64bits(parts, sizeof parts);
    for (size_t i = 0; i < unit->table_count; i++)
        unit->merge_hash = XXH3_64bits_withSeed(unit->tables[i].name, strlen(unit->tables[i].name),
                                                unit->merge_hash);
}

/* Sets the unit's kind, and what it must have in common with others to be merged. */
static void set_merge_key(px_unit *unit, const px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    unit->kind = merges(unit, &text->script) ? PX_UNIT_ROWS : PX_UNIT_TEXT;
    if (unit->kind == PX_UNIT_TEXT) {
        unit->head = unit->tail = (pgw_slice){NULL, 0};
        return;
    }
    unit->guarded = rw_guard_reads(insert);
    unit->conditions = render(unit, insert, rw_guard_conditions);
}

static size_t count_rows(const rw_script *script, px_chosen chosen)
{
    size_t rows = 0;
    for (size_t i = 0; i < script->count; i++)
        rows += count_chosen(chosen, script->statements[i].insert);
    return rows;
}

px_unit *px_unit_of_text(px_owner *owner, const px_standing *standing, px_text *text,
                         px_chosen chosen)
{
    const rw_script *script = &text->script;
    px_unit *unit = new_unit(owner, standing, script->count, count_rows(script, chosen));
    begin(unit, owner, standing, script->statements[0].insert->table, text->catalog);
    unit->identity = px_identity_take(standing->identity);
    set_merge_key(unit, text);
    for (size_t i = 0; i < script->count; i++)
        add_statement(unit, text, chosen);
    set_source(unit, text, chosen);
    unit->bytes += chosen.rows != NULL ? unit->statements[0].bytes : text->text.len;
    set_merge_hash(unit);
    return unit;
}

px_unit *px_unit_of_rows(px_owner *owner, const px_standing *standing, const rw_table *table,
                         const px_catalog *catalog)
{
    px_unit *unit = new_unit(owner, standing, 1, 0);
    begin(unit, owner, standing, table, catalog);
    unit->identity = px_identity_take(standing->identity);
    unit->statement_count = 1;
    return unit;
}

void px_unit_set_keys(px_unit *unit, px_unit_key *keys, size_t count)
{
    unit->keys = keys;
    unit->row_count = count;
    unit->statements[0].rows = (uint32_t)count;
    unit->partition = keys[0].partition;
    for (size_t i = 1; i < count; i++)
        unit->several_partitions |= keys[i].partition != unit->partition;
}

/* ---- parameters ---- */

static void let_go(void *plan)
{
    px_plan_drop(plan);
}

size_t px_unit_prepare(px_unit *unit, px_plan *plan)
{
    for (size_t i = unit->prepared_count; i-- > 0;)
        if (unit->prepared[i].of == plan || pgw_slice_eq_str(unit->prepared[i].name, plan->name))
            return i;
    px_unit_prepared *prepared = &unit->prepared[unit->prepared_count];
    px_plan_take(plan);
    unit->let_go = let_go;
    prepared->of = plan;
    /* A copy of the name, for the plan may get another. */
    prepared->name = pgw_arena_copy(&unit->arena, pgw_slice_str(plan->name));
    prepared->text = plan->batched_text;
    prepared->types = px_plan_types(plan, &prepared->type_count, &unit->arena);
    prepared->columns = pgw_arena_copy(&unit->arena, plan->columns);
    prepared->stores_all = !plan->insert->has_conflict || plan->insert->values_merge;
    return unit->prepared_count++;
}

px_unit *px_unit_of_plan(px_owner *owner, const px_standing *standing, const px_plan *plan,
                         size_t executions, size_t rows)
{
    px_unit *unit = new_unit(owner, standing, executions, rows);
    begin(unit, owner, standing, plan->insert->table, plan->catalog);
    unit->identity = px_identity_take(plan->identity);
    unit->kind = PX_UNIT_PARAMS;
    return unit;
}

/* The plan's place among the unit's prepared statements, which count in its merge hash. */
static size_t prepare(px_unit *unit, px_plan *plan)
{
    size_t before = unit->prepared_count, at = px_unit_prepare(unit, plan);
    if (at == before)
        unit->merge_hash = 31 * unit->merge_hash + plan->merge_hash;
    return at;
}

bool px_unit_add_bound(px_unit *unit, px_execution execution, const px_bound *bound,
                       pgw_error *error)
{
    px_plan *plan = execution.plan;
    const rw_insert *insert = plan->insert;
    pgw_buf message = {0};
    px_bind_names names = {PGW_LITERAL(""), pgw_slice_str(plan->name)};
    if (!px_bind_write(plan, execution.bind, names, bound, &message, error))
        return false;
    pgw_write_execute(PGW_LITERAL(""), execution.max_rows, &message);
    struct px_unit_statement *statement = &unit->statements[unit->statement_count++];
    uint16_t place = place_of(unit, insert->table, plan->catalog);
    unit->upserts |= insert->has_conflict;
    statement->prepared = prepare(unit, plan);
    statement->bytes = message.len;
    statement->messages = keep(unit, &message);
    for (size_t r = 0; r < insert->row_count; r++) {
        if (insert->rows[r].superseded)
            continue;
        add_key(unit, insert->table, place, &bound->keys[r]);
        statement->rows++;
    }
    return true;
}
