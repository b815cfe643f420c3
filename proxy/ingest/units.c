#include "proxy/ingest/units.h"

#include "rewrite/insert/guard.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/render.h"
#include "rewrite/read/script.h"

#include <string.h>
#include <xxhash.h>

static uint64_t deadline_of(const px_owner *owner, const px_standing *standing,
                            const cfg_table *table)
{
    uint64_t ms = standing->identity->statement_timeout;
    uint64_t wait = ms > 0 && ms < table->batch.max_wait_ms ? ms : table->batch.max_wait_ms;
    return px_worker_now(owner->worker) + wait;
}

/* Without statements and keys. */
static px_unit *new_unit(px_owner *owner, const px_standing *standing, const rw_table *table,
                         px_catalog *catalog)
{
    px_unit *unit = px_unit_new(owner->worker);
    unit->table = px_catalog_config(catalog, table);
    unit->table_name = pgw_arena_printf(&unit->arena, "%s.%s", table->schema, table->name);
    unit->partitions = table->partitions.count;
    unit->epoch = catalog->epoch;
    unit->deadline = deadline_of(owner, standing, unit->table);
    unit->repeated = owner->repeated;
    unit->own_link = standing->own_link;
    unit->send_alone = owner->suspected || px_worker_now(owner->worker) < owner->failed_until;
    owner->suspected = false;
    unit->session = owner;
    unit->ticket = ++owner->worker->tickets;
    return unit;
}

static void make_room(px_unit *unit, size_t statements, size_t rows)
{
    unit->statements = pgw_arena_alloc(&unit->arena, statements * sizeof *unit->statements);
    unit->keys = pgw_arena_alloc(&unit->arena, rows * sizeof *unit->keys);
}

/* Counts a row in: its key, and whether the unit still touches one partition. */
static void add_key(px_unit *unit, const rw_table *table, const rw_key *key)
{
    if (unit->row_count == 0)
        unit->partition = key->partition;
    else if (unit->partition != key->partition)
        unit->several_partitions = true;
    unit->keys[unit->row_count++] = px_unit_key_of(table, key);
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

/* Rows of all its statements may stand in one VALUES list: then heads and tails are the same. */
static bool merges(px_unit *unit, const rw_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (!insert->values_merge)
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

px_unit *px_unit_of_text(px_owner *owner, const px_standing *standing, const px_text *text,
                         size_t rows)
{
    const rw_insert *insert = text->script.statements[0].insert;
    px_unit *unit = new_unit(owner, standing, insert->table, text->catalog);
    unit->identity = px_identity_take(standing->identity);
    unit->kind = merges(unit, &text->script) ? PX_UNIT_ROWS : PX_UNIT_TEXT;
    if (unit->kind == PX_UNIT_TEXT) {
        unit->head = unit->tail = (pgw_slice){NULL, 0};
    } else {
        unit->guarded = rw_guard_reads(insert);
        unit->conditions = render(unit, insert, rw_guard_conditions);
    }
    make_room(unit, text->script.count, rows);
    return unit;
}

void px_unit_add_rows(px_unit *unit, const px_text *text, px_chosen chosen)
{
    size_t i = unit->statement_count++;
    const rw_insert *insert = text->script.statements[i].insert;
    struct px_unit_statement *statement = &unit->statements[i];
    size_t count = chosen.rows != NULL ? chosen.count : insert->row_count;
    pgw_buf rows = {0};
    for (size_t at = 0; at < count; at++) {
        size_t r = chosen.rows != NULL ? chosen.rows[at] : at;
        if (insert->rows[r].superseded)
            continue;
        add_key(unit, insert->table, &text->keys[i][r]);
        statement->rows++;
        if (unit->kind == PX_UNIT_TEXT)
            continue;
        if (rows.len > 0)
            pgw_buf_add_str(&rows, ",\n");
        rw_render_row(insert, r, text->hashes[i][r], false, &rows);
    }
    statement->batch = keep(unit, &rows);
}

static void finish(px_unit *unit, pgw_buf *alone)
{
    unit->alone = keep(unit, alone);
    uint64_t parts[] = {unit->kind,
                        unit->epoch,
                        XXH3_64bits(unit->head.ptr, unit->head.len),
                        XXH3_64bits(unit->tail.ptr, unit->tail.len),
                        XXH3_64bits(unit->conditions.ptr, unit->conditions.len),
                        XXH3_64bits(unit->identity->key, strlen(unit->identity->key)),
                        XXH3_64bits(unit->table_name, strlen(unit->table_name))};
    unit->merge_hash = XXH3_64bits(parts, sizeof parts);
}

void px_unit_finish_script(px_unit *unit, const px_text *text)
{
    pgw_buf alone = {0};
    px_text_render(text, NULL, &alone);
    finish(unit, &alone);
}

void px_unit_finish_part(px_unit *unit, const px_text *text, px_chosen chosen)
{
    const rw_insert *insert = text->script.statements[0].insert;
    pgw_buf alone = {0};
    pgw_buf_add_slice(&alone, unit->head);
    for (size_t at = 0; at < chosen.count; at++) {
        if (at > 0)
            pgw_buf_add_str(&alone, ",\n");
        rw_render_row(insert, chosen.rows[at], text->hashes[0][chosen.rows[at]], at == 0, &alone);
    }
    pgw_buf_add_slice(&alone, unit->tail);
    finish(unit, &alone);
}

/* ---- parameters ---- */

void px_unit_prepare(px_unit *unit, const px_plan *plan)
{
    unit->statement_name = pgw_arena_copy(&unit->arena, pgw_slice_str(plan->name));
    unit->statement_text = pgw_arena_copy(&unit->arena, plan->batched_text);
    unit->types = px_plan_types(plan, &unit->type_count, &unit->arena);
    unit->columns = pgw_arena_copy(&unit->arena, plan->columns);
}

void px_unit_lifted(px_unit *unit, pgw_buf *execution)
{
    unit->lifted = keep(unit, execution);
}

void px_unit_execute(px_unit *unit, const px_plan *plan)
{
    px_unit_prepare(unit, plan);
    unit->kind = PX_UNIT_PARAMS;
    unit->merge_hash = plan->merge_hash;
}

px_unit *px_unit_of_plan(px_owner *owner, const px_standing *standing, const px_plan *plan,
                         size_t executions)
{
    px_unit *unit = new_unit(owner, standing, plan->insert->table, plan->catalog);
    unit->identity = px_identity_take(plan->identity);
    make_room(unit, executions, executions * plan->insert->row_count);
    px_unit_execute(unit, plan);
    return unit;
}

bool px_unit_add_bound(px_unit *unit, const px_plan *plan, px_execution execution,
                       const px_bound *bound, pgw_error *error)
{
    const rw_insert *insert = plan->insert;
    pgw_buf message = {0};
    px_bind_names names = {PGW_LITERAL(""), unit->statement_name};
    if (!px_bind_write(plan, execution.bind, names, bound, &message, error))
        return false;
    pgw_write_execute(PGW_LITERAL(""), execution.max_rows, &message);
    struct px_unit_statement *statement = &unit->statements[unit->statement_count++];
    statement->batch = keep(unit, &message);
    for (size_t r = 0; r < insert->row_count; r++) {
        if (insert->rows[r].superseded)
            continue;
        add_key(unit, insert->table, &bound->keys[r]);
        statement->rows++;
    }
    return true;
}
