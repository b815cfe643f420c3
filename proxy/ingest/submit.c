#include "proxy/ingest/submit.h"

#include "proxy/client/forward.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/errors.h"
#include "proxy/ingest/bind.h"
#include "rewrite/insert/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ALONE_MS = 10000 }; /* a session with a failed unit sends alone for so long, or a slow one */

static void on_done(px_unit *unit);

/* ---- making units ---- */

static uint64_t deadline_of(const px_session *session, const cfg_table *table)
{
    uint64_t ms = session->identity->statement_timeout;
    uint64_t wait = ms > 0 && ms < table->batch.max_wait_ms ? ms : table->batch.max_wait_ms;
    return px_worker_now(session->worker) + wait;
}

px_unit *px_submit_unit(px_session *session, const rw_table *table, px_catalog *catalog,
                        px_identity *identity)
{
    px_unit *unit = px_unit_new(session->worker);
    unit->identity = px_identity_take(identity);
    unit->table = px_catalog_config(catalog, table);
    unit->table_name = pgw_arena_printf(&unit->arena, "%s.%s", table->schema, table->name);
    unit->partitions = table->partitions.count;
    unit->epoch = catalog->epoch;
    unit->deadline = deadline_of(session, unit->table);
    unit->repeated = session->repeated;
    unit->own_link = session->link_ready;
    unit->send_alone = session->suspected || px_worker_now(session->worker) < session->failed_until;
    session->suspected = false;
    unit->session = session;
    unit->ticket = ++session->worker->tickets;
    unit->done = on_done;
    return unit;
}

static void submit(px_session *session, px_unit *unit)
{
    session->unit = unit;
    session->wait = PX_WAIT_UNIT;
    px_batcher_submit(unit);
}

/* Counts a row in: its key, and whether the unit still touches one partition. */
void px_submit_key(px_unit *unit, const rw_table *table, const rw_key *key)
{
    if (unit->row_count == 0)
        unit->partition = key->partition;
    else if (unit->partition != key->partition)
        unit->several_partitions = true;
    unit->keys[unit->row_count++] = px_unit_key_of(table, key);
}

pgw_slice px_submit_keep(px_unit *unit, pgw_buf *buf)
{
    pgw_slice slice = pgw_arena_copy(&unit->arena, pgw_slice_buf(buf));
    unit->bytes += slice.len;
    pgw_buf_free(buf);
    return slice;
}

uint64_t px_submit_merge_hash(const px_unit *unit)
{
    uint64_t parts[] = {unit->kind,
                        unit->epoch,
                        XXH3_64bits(unit->head.ptr, unit->head.len),
                        XXH3_64bits(unit->tail.ptr, unit->tail.len),
                        XXH3_64bits(unit->identity->key, strlen(unit->identity->key)),
                        XXH3_64bits(unit->table_name, strlen(unit->table_name))};
    return XXH3_64bits(parts, sizeof parts);
}

/* ---- text ---- */

pgw_slice px_submit_render(px_unit *unit, const rw_insert *insert,
                           void (*render)(const rw_insert *, pgw_buf *))
{
    pgw_buf buf = {0};
    render(insert, &buf);
    return px_submit_keep(unit, &buf);
}

/* Rows of all its statements may stand in one VALUES list: then heads and tails are the same. */
static bool merges(px_unit *unit, const rw_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (!insert->values_merge)
            return false;
        pgw_slice head = px_submit_render(unit, insert, rw_render_head);
        pgw_slice tail = px_submit_render(unit, insert, rw_render_tail);
        if (i == 0) {
            unit->head = head;
            unit->tail = tail;
        } else if (!pgw_slice_eq(head, unit->head) || !pgw_slice_eq(tail, unit->tail)) {
            return false;
        }
    }
    return true;
}

static void add_rows(px_unit *unit, const px_text *text, size_t i)
{
    const rw_insert *insert = text->script.statements[i].insert;
    struct px_unit_statement *statement = &unit->statements[i];
    pgw_buf rows = {0};
    for (size_t r = 0; r < insert->row_count; r++) {
        if (insert->rows[r].superseded)
            continue;
        px_submit_key(unit, insert->table, &text->keys[i][r]);
        statement->rows++;
        if (unit->kind == PX_UNIT_TEXT)
            continue;
        if (rows.len > 0)
            pgw_buf_add_str(&rows, ",\n");
        rw_render_row(insert, r, text->hashes[i][r], false, &rows);
    }
    statement->batch = px_submit_keep(unit, &rows);
}

void px_submit_conditions(px_unit *unit, const rw_insert *insert)
{
    unit->guarded = rw_guard_wanted(insert);
    unit->conditions = px_submit_render(unit, insert, rw_guard_conditions);
}

void px_submit_script(px_session *session, px_text *text)
{
    if (px_split_script(session, text))
        return;
    const rw_script *script = &text->script;
    const rw_table *table = script->statements[0].insert->table;
    px_unit *unit = px_submit_unit(session, table, text->catalog, session->identity);
    unit->kind = merges(unit, script) ? PX_UNIT_ROWS : PX_UNIT_TEXT;
    if (unit->kind == PX_UNIT_TEXT)
        unit->head = unit->tail = (pgw_slice){NULL, 0};
    size_t rows = 0;
    for (size_t i = 0; i < script->count; i++)
        rows += script->statements[i].insert->row_count;
    unit->keys = pgw_arena_alloc(&unit->arena, rows * sizeof *unit->keys);
    unit->statement_count = script->count;
    unit->statements = pgw_arena_alloc(&unit->arena, script->count * sizeof *unit->statements);
    for (size_t i = 0; i < script->count; i++)
        add_rows(unit, text, i);
    if (unit->kind == PX_UNIT_ROWS)
        px_submit_conditions(unit, script->statements[0].insert);
    pgw_buf rendered = {0};
    px_text_render(text, NULL, &rendered);
    unit->alone = px_submit_keep(unit, &rendered);
    unit->merge_hash = px_submit_merge_hash(unit);
    px_text_take(text);
    session->unit_text = text;
    submit(session, unit);
}

/* ---- parameters ---- */

/* The unit is one of this statement. */
void px_submit_statement(px_unit *unit, const px_plan *plan)
{
    unit->kind = PX_UNIT_PARAMS;
    unit->statement_name = pgw_arena_copy(&unit->arena, pgw_slice_str(plan->name));
    unit->statement_text = pgw_arena_copy(&unit->arena, plan->rewritten);
    uint32_t *types = pgw_arena_alloc(&unit->arena, (plan->declared_count + 1) * sizeof *types);
    memcpy(types, plan->declared, plan->declared_count * sizeof *types);
    unit->types = types;
    unit->type_count = plan->declared_count;
    unit->merge_hash = plan->merge_hash;
}

/* A statement that makes a key twice is prepared without the rows that do not count; false: others
 * of the unit are not so. */
static bool supersede(px_session *session, px_unit *unit, const px_bound *bound, bool alone)
{
    px_plan *less = px_plan_for_bind(session->unit_plan, bound->keys);
    if (less == NULL)
        return true;
    px_plan_drop(session->unit_plan);
    session->unit_plan = less;
    px_submit_statement(unit, less);
    return alone;
}

static void add_bound(px_session *session, px_unit *unit, const px_bound *bound, pgw_buf *message)
{
    const rw_insert *insert = session->unit_plan->insert;
    struct px_unit_statement *statement = &unit->statements[unit->statement_count++];
    statement->batch = px_submit_keep(unit, message);
    for (size_t r = 0; r < insert->row_count; r++) {
        if (insert->rows[r].superseded)
            continue;
        px_submit_key(unit, insert->table, &bound->keys[r]);
        statement->rows++;
    }
}

/* LATER if it was added, else as px_submit_group(). `alone`: it is the only one. */
static px_step add_execution(px_session *session, px_unit *unit, size_t execute, bool alone,
                             pgw_error *error, size_t *at)
{
    const px_group *group = &session->group;
    pgw_execute target;
    pgw_bind bind;
    px_bound bound;
    pgw_buf out = {0};
    *at = execute;
    if (!pgw_execute_decode(px_held_body(group, execute), &target)) {
        pgw_fail(error, "08P01", "malformed Execute message");
        return PX_STEP_DONE;
    }
    size_t b = px_group_executed(group, execute);
    if (b == PX_GROUP_NONE || !pgw_bind_decode(px_held_body(group, b), &bind)) {
        pgw_fail(error, "34000", "portal \"%.*s\" does not exist", (int)target.portal.len,
                 target.portal.ptr);
        return PX_STEP_DONE;
    }
    bool good = px_bind_keys(session->worker, session->unit_plan, &bind, &session->identity->env,
                             &unit->arena, &bound, error);
    if (good && alone && px_split_group(session, &bind, bound.keys))
        return PX_STEP_LATER;
    if (good ? !supersede(session, unit, &bound, alone)
             : !alone || rw_insert_may_fail(session->unit_plan->insert))
        return PX_STEP_PASS; /* others may fail before it does, or it may fail earlier itself */
    if (!good || !px_bind_write(session->unit_plan, &bind, PGW_LITERAL(""), unit->statement_name,
                                &bound, &out, error)) {
        bool at_bind =
            memcmp(error->sqlstate, "22", 2) == 0 || memcmp(error->sqlstate, "08", 2) == 0;
        *at = at_bind ? b : execute;
        pgw_buf_free(&out);
        return PX_STEP_DONE;
    }
    pgw_write_execute(PGW_LITERAL(""), 0, &out);
    add_bound(session, unit, &bound, &out);
    return PX_STEP_LATER;
}

static px_plan *executed_plan(const px_group *group, size_t *executions)
{
    px_plan *plan = NULL;
    for (size_t i = 0; i < group->count; i++)
        if (group->held[i].type == 'E') {
            plan = group->held[i].plan;
            (*executions)++;
        }
    return plan;
}

void px_submit_drop_statement(px_session *session)
{
    px_plan_drop(session->unit_plan);
    session->unit_plan = NULL;
    px_text_drop(session->unit_text);
    session->unit_text = NULL;
}

px_step px_submit_group(px_session *session, pgw_error *error, size_t *at)
{
    size_t executions = 0;
    px_plan *plan = executed_plan(&session->group, &executions);
    px_unit *unit = px_submit_unit(session, plan->insert->table, plan->catalog, plan->identity);
    session->unit_plan = plan;
    px_plan_take(plan);
    px_submit_statement(unit, plan);
    unit->statements = pgw_arena_alloc(&unit->arena, executions * sizeof *unit->statements);
    unit->keys =
        pgw_arena_alloc(&unit->arena, executions * plan->insert->row_count * sizeof *unit->keys);
    px_step step = PX_STEP_LATER;
    for (size_t i = 0; i < session->group.count && step == PX_STEP_LATER; i++)
        if (session->group.held[i].type == 'E')
            step = add_execution(session, unit, i, executions == 1, error, at);
    if (step == PX_STEP_LATER && session->split == NULL) {
        submit(session, unit);
        return step;
    }
    px_unit_free(unit); /* it is several, or none */
    if (session->split == NULL)
        px_submit_drop_statement(session);
    return step;
}

/* ---- the outcome ---- */

/* The held Execute of the statement that failed; group->count if none did. */
static size_t failed_execute(const px_session *session, const px_unit *unit)
{
    const px_group *group = &session->group;
    size_t executed = 0, i = 0;
    while (i < group->count && (group->held[i].type != 'E' || executed++ < unit->completed))
        i++;
    return i;
}

static pgw_slice failed_portal(const px_session *session, const px_unit *unit)
{
    size_t i = failed_execute(session, unit);
    pgw_execute execute;
    if (i == session->group.count ||
        !pgw_execute_decode(px_held_body(&session->group, i), &execute))
        return PGW_LITERAL("");
    return execute.portal;
}

/* The held message at which a failed unit stopped: the Execute of the statement that failed, or its
 * Bind. */
static size_t failed_at(const px_session *session, const px_unit *unit)
{
    const px_group *group = &session->group;
    size_t i = failed_execute(session, unit);
    bool bound = unit->completed < unit->statement_count && unit->statements[unit->completed].bound;
    size_t bind = bound || i == group->count ? PX_GROUP_NONE : px_group_executed(group, i);
    return bind != PX_GROUP_NONE ? bind : i;
}

static void add_error(px_session *session, const px_unit *unit, pgw_buf *out)
{
    pgw_buf body = {0};
    if (session->unit_text != NULL)
        px_error_of_text(session->unit_text, unit->completed, pgw_slice_buf(&unit->error), &body);
    else
        px_error_of_portal(session->unit_plan, failed_portal(session, unit),
                           pgw_slice_buf(&unit->error), &body);
    px_error_explain(session->worker->config, &body);
    px_count_error(session->worker->metrics, pgw_error_field(pgw_slice_buf(&body), 'C'));
    pgw_buf_add_byte(out, 'E');
    pgw_buf_add_i32(out, (int32_t)(body.len + 4));
    pgw_buf_add_slice(out, pgw_slice_buf(&body));
    pgw_buf_free(&body);
}

void px_submit_end_query(px_session *session, pgw_buf *out)
{
    pgw_write_ready('I', out);
    px_stream_put_buf(session->stream, out);
    pgw_buf_free(out);
    px_forward_drop_unnamed(session); /* a simple Query destroys it */
}

static void answer_text(px_session *session, const px_unit *unit)
{
    pgw_buf out = {0};
    bool failed = unit->outcome == PX_UNIT_FAILED;
    size_t done = failed ? unit->completed : unit->statement_count;
    pgw_buf_add_slice(&out, pgw_slice_buf(&unit->notices));
    for (size_t i = 0; i < done; i++) {
        char tag[40];
        snprintf(tag, sizeof tag, "INSERT 0 %llu",
                 (unsigned long long)(unit->statements[i].tag + session->unit_text->superseded[i]));
        pgw_write_tag(tag, &out);
    }
    if (failed)
        add_error(session, unit, &out);
    px_submit_end_query(session, &out);
}

static void answer_group(px_session *session, const px_unit *unit)
{
    pgw_buf out = {0};
    bool failed = unit->outcome == PX_UNIT_FAILED;
    uint64_t *tags = pgw_alloc(unit->statement_count * sizeof *tags);
    for (size_t i = 0; i < unit->statement_count; i++)
        tags[i] = unit->statements[i].tag + session->unit_plan->left_out;
    pgw_buf_add_slice(&out, pgw_slice_buf(&unit->notices));
    px_group_answer(session, failed ? failed_at(session, unit) : session->group.count, tags, &out);
    free(tags);
    if (failed)
        add_error(session, unit, &out);
    px_group_end(session, &out);
}

void px_submit_note_failure(px_session *session, const px_unit *unit)
{
    if (unit->failure == PX_FAILED_BY_ERROR)
        session->failed_until = px_worker_now(session->worker) + ALONE_MS;
}

/* A unit that takes long travels without company from then on; if the next one does, too, its
 * session's own link is the place, where it holds up nobody. Later it is tried alone again. */
static void note_time(px_session *session, const px_unit *unit)
{
    uint64_t now = px_worker_now(session->worker);
    session->suspected = unit->suspected;
    if (!unit->slow) {
        session->slow_before = session->slow_before && !unit->send_alone;
        return;
    }
    if (session->slow_before)
        session->slow_until = now += ALONE_MS;
    session->slow_before = true;
    session->failed_until = now + ALONE_MS;
}

/* The message that made the unit is answered: on to the next. */
void px_submit_finish(px_session *session)
{
    pgw_frame frame;
    if (pgw_frame_next(px_stream_input(session->stream), &frame) == PGW_FRAME_OK)
        px_stream_consume(session->stream, frame.size);
    session->repeated = false;
}

bool px_submit_repeat(px_session *session, px_error_kind kind)
{
    bool told = session->unit_text == NULL && px_group_is_answered(&session->group);
    if (kind != PX_ERROR_STALE || told || session->repeated)
        return false;
    px_catalog_stale(session->worker, session->identity->database);
    session->repeated = true;
    return true;
}

/* The message is looked at again: on the own link (rerouted), or with the schema as it is now. */
static bool look_again(px_session *session, const px_unit *unit)
{
    if (unit->outcome == PX_UNIT_REROUTED)
        session->rerouted = true;
    return unit->outcome == PX_UNIT_REROUTED ||
           (unit->outcome == PX_UNIT_FAILED &&
            px_submit_repeat(session, px_classify(pgw_slice_buf(&unit->error))));
}

bool px_submitted(const px_session *session)
{
    return session->unit != NULL || session->split != NULL;
}

void px_submit_withdraw(px_session *session)
{
    if (session->unit != NULL)
        px_batcher_withdraw(session->worker, session->unit, session->unit->ticket);
    if (session->split != NULL)
        px_split_withdraw(session);
}

void px_submit_leave(px_session *session)
{
    if (session->unit != NULL) {
        session->unit->session = NULL;
        px_batcher_withdraw(session->worker, session->unit, session->unit->ticket);
    }
    if (session->split != NULL)
        px_split_leave(session);
    session->unit = NULL;
    px_submit_drop_statement(session);
}

static void on_done(px_unit *unit)
{
    px_session *session = unit->session;
    if (session == NULL) { /* its client has left */
        px_unit_free(unit);
        return;
    }
    if (session->split != NULL) {
        px_split_done(session, unit);
        return;
    }
    session->unit = NULL;
    note_time(session, unit);
    if (!look_again(session, unit)) {
        if (unit->outcome == PX_UNIT_FAILED)
            px_submit_note_failure(session, unit);
        if (session->unit_text != NULL)
            answer_text(session, unit);
        else
            answer_group(session, unit);
        px_submit_finish(session);
    }
    px_submit_drop_statement(session);
    px_unit_free(unit);
    px_session_wake(session, PX_WAIT_UNIT);
}
