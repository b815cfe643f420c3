/*
 * split: a statement whose rows may commit partition by partition (atomicity: partition): a unit
 * for each partition, one answer. Rows that wait for a lock go on alone, on the session's own link.
 */
#include "proxy/ingest/submit.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/errors.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct px_split px_split;

/* The rows of one partition. */
typedef struct px_part {
    px_unit *unit;      /* NULL: it has come back */
    size_t first, rows; /* of the order */
    bool waits;         /* for a lock, and wrote nothing */
} px_part;

/* A row, and where it goes. */
typedef struct placed {
    uint32_t partition;
    size_t row;
} placed;

enum { MOST_PARTS = 256 }; /* each has a unit's memory; what goes to more commits as one */

struct px_split {
    px_part *parts;
    size_t count, back, waiting;
    placed *order;   /* the rows, part by part */
    size_t *part_of; /* each row's */
    size_t rows;
    size_t committed, unknown; /* rows */
    pgw_error error;           /* the first; but that it is unknown weighs more */
    px_error_kind kind;        /* its */
    bool at_bind;              /* … which came before BindComplete */
};

/* ---- out ---- */

static bool one_partition(const rw_key *keys, size_t rows)
{
    for (size_t r = 1; r < rows; r++)
        if (keys[r].partition != keys[0].partition)
            return false;
    return true;
}

static bool table_splits(const px_catalog *catalog, const rw_insert *insert)
{
    return px_catalog_config(catalog, insert->table)->atomicity == CFG_ATOMICITY_PARTITION;
}

static int by_partition(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void free_split(px_split *split)
{
    free(split->parts);
    free(split->order);
    free(split->part_of);
    free(split);
}

static bool begins_part(const px_split *split, size_t at)
{
    return at == 0 || split->order[at].partition != split->order[at - 1].partition;
}

/* NULL if there would be too many parts. */
static px_split *new_split(const rw_key *keys, size_t rows)
{
    px_split *split = pgw_calloc(1, sizeof *split);
    split->rows = rows;
    split->order = pgw_calloc(rows, sizeof *split->order);
    split->part_of = pgw_calloc(rows, sizeof *split->part_of);
    for (size_t r = 0; r < rows; r++)
        split->order[r] = (placed){keys[r].partition, r};
    qsort(split->order, rows, sizeof *split->order, by_partition);
    for (size_t at = 0; at < rows; at++) {
        split->count += begins_part(split, at);
        split->part_of[split->order[at].row] = split->count - 1;
    }
    if (split->count > MOST_PARTS) {
        free_split(split);
        return NULL;
    }
    split->parts = pgw_calloc(split->count, sizeof *split->parts);
    for (size_t at = 0; at < rows; at++) {
        px_part *part = &split->parts[split->part_of[split->order[at].row]];
        part->first = begins_part(split, at) ? at : part->first;
        part->rows++;
    }
    return split;
}

static px_unit *part_unit(px_part *part, px_unit *unit, size_t statements)
{
    unit->keys = pgw_arena_alloc(&unit->arena, part->rows * sizeof *unit->keys);
    unit->statements = pgw_arena_alloc(&unit->arena, statements * sizeof *unit->statements);
    part->unit = unit;
    return unit;
}

static void submit_all(px_session *session, px_split *split)
{
    session->split = split;
    session->wait = PX_WAIT_UNIT;
    for (size_t i = 0; i < split->count; i++)
        px_batcher_submit(split->parts[i].unit);
}

/* The rows of a part, from one text. */
static void fill_from_text(px_split *split, size_t part, const px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    const placed *order = split->order + split->parts[part].first;
    px_unit *unit = split->parts[part].unit;
    pgw_buf rows = {0}, alone = {0};
    unit->kind = PX_UNIT_ROWS;
    px_submit_conditions(unit, insert);
    unit->head = px_submit_render(unit, insert, rw_render_head);
    unit->tail = px_submit_render(unit, insert, rw_render_tail);
    unit->merge_hash = px_submit_merge_hash(unit);
    unit->statement_count = 1;
    pgw_buf_add_slice(&alone, unit->head);
    for (size_t i = 0; i < split->parts[part].rows; i++) {
        size_t r = order[i].row;
        if (i > 0) {
            pgw_buf_add_str(&rows, ",\n");
            pgw_buf_add_str(&alone, ",\n");
        }
        rw_render_row(insert, r, text->hashes[0][r], false, &rows);
        rw_render_row(insert, r, text->hashes[0][r], i == 0, &alone);
        px_submit_key(unit, insert->table, &text->keys[0][r]);
        unit->statements[0].rows++;
    }
    pgw_buf_add_slice(&alone, unit->tail);
    unit->statements[0].batch = px_submit_keep(unit, &rows);
    unit->alone = px_submit_keep(unit, &alone);
}

bool px_split_script(px_session *session, px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    if (text->script.count != 1 || one_partition(text->keys[0], insert->row_count) ||
        !insert->values_merge || text->superseded[0] > 0 || !table_splits(text->catalog, insert))
        return false;
    px_split *split = new_split(text->keys[0], insert->row_count);
    if (split == NULL)
        return false;
    for (size_t i = 0; i < split->count; i++) {
        part_unit(&split->parts[i],
                  px_submit_unit(session, insert->table, text->catalog, session->identity), 1);
        fill_from_text(split, i, text);
    }
    px_text_take(text);
    session->unit_text = text;
    submit_all(session, split);
    return true;
}

/* The parameters of one row, as if they were a Bind of their own. */
static pgw_bind bind_of_row(const pgw_bind *bind, size_t row, size_t width, pgw_reader *values)
{
    pgw_bind out = *bind;
    out.values.ptr = values->at;
    for (size_t i = 0; i < width; i++)
        pgw_bind_next(values);
    out.values.len = (size_t)(values->at - out.values.ptr);
    out.value_count = width;
    out.results.len = 0;
    if (bind->format_count > 1) {
        out.formats = (pgw_slice){bind->formats.ptr + 2 * row * width, 2 * width};
        out.format_count = width;
    }
    return out;
}

/* Each row is a statement of its own in its part: a Bind and an Execute of the single row's. */
static void fill_from_bind(px_split *split, const px_plan *single, const pgw_bind *bind,
                           const rw_key *keys)
{
    size_t width = single->insert->param_count;
    pgw_reader values = pgw_reader_of(bind->values);
    for (size_t r = 0; r < split->rows; r++) {
        px_unit *unit = split->parts[split->part_of[r]].unit;
        pgw_bind row = bind_of_row(bind, r, width, &values);
        int64_t hash = (int64_t)keys[r].hash;
        pgw_buf message = {0};
        pgw_certainly(
            pgw_write_bind(&row, PGW_LITERAL(""), unit->statement_name, &hash, 1, &message));
        pgw_write_execute(PGW_LITERAL(""), 0, &message);
        struct px_unit_statement *statement = &unit->statements[unit->statement_count++];
        statement->batch = px_submit_keep(unit, &message);
        statement->rows = 1;
        px_submit_key(unit, single->insert->table, &keys[r]);
    }
}

static bool binds_once(const px_group *group)
{
    size_t binds = 0;
    for (size_t i = 0; i < group->count; i++)
        binds += group->held[i].type == 'B';
    return binds == 1;
}

bool px_split_group(px_session *session, const pgw_bind *bind, const rw_key *keys)
{
    px_plan *plan = session->unit_plan;
    const rw_insert *insert = plan->insert;
    bool merges = insert->values_merge && (!insert->has_conflict || insert->verb != RW_VERB_INSERT);
    if (one_partition(keys, insert->row_count) || !merges || !table_splits(plan->catalog, insert) ||
        !binds_once(&session->group))
        return false;
    /* With a key twice the rest could not be told from what the last row superseded. */
    px_plan *single = px_plan_of_row(plan), *less = px_plan_for_bind(plan, keys);
    px_plan_drop(less);
    px_split *split = single != NULL && less == NULL ? new_split(keys, insert->row_count) : NULL;
    if (split == NULL)
        return false;
    for (size_t i = 0; i < split->count; i++) {
        px_unit *unit = px_submit_unit(session, insert->table, plan->catalog, plan->identity);
        px_submit_statement(part_unit(&split->parts[i], unit, split->parts[i].rows), single);
    }
    fill_from_bind(split, single, bind, keys);
    submit_all(session, split);
    return true;
}

/* ---- back ---- */

void px_split_detail(pgw_error *error, size_t committed, size_t rows)
{
    pgw_error_detail(error, "%zu of %zu rows are committed.", committed, rows);
}

static void end(px_session *session)
{
    px_split *split = session->split;
    session->split = NULL;
    free_split(split);
}

static void note_error(px_session *session, const px_unit *unit)
{
    px_split *split = session->split;
    bool unknown = unit->failure == PX_FAILED_UNKNOWN, weighs_more = unknown && split->unknown == 0;
    px_submit_note_failure(session, unit);
    split->unknown += unknown ? unit->row_count : 0;
    if (split->error.sqlstate[0] != '\0' && !weighs_more)
        return;
    if (!px_error_changed(unit->table_name, pgw_slice_buf(&unit->error), &split->error))
        pgw_error_read(pgw_slice_buf(&unit->error), &split->error);
    split->kind = px_classify(pgw_slice_buf(&unit->error));
    split->error.position = 0; /* in a text that the client did not write */
    split->at_bind =
        unit->completed < unit->statement_count && !unit->statements[unit->completed].bound;
}

static void take_back(px_session *session, px_unit *unit)
{
    px_split *split = session->split;
    px_part *part = split->parts;
    while (part->unit != unit)
        part++;
    part->unit = NULL;
    part->waits = unit->outcome == PX_UNIT_REROUTED;
    split->waiting += part->waits;
    split->back++;
    for (size_t i = 0; i < unit->statement_count && unit->outcome == PX_UNIT_COMMITTED; i++)
        split->committed += unit->statements[i].tag;
    if (unit->outcome == PX_UNIT_FAILED)
        note_error(session, unit);
}

static void answer_script(px_session *session)
{
    px_split *split = session->split;
    pgw_buf out = {0};
    char tag[40];
    snprintf(tag, sizeof tag, "INSERT 0 %zu", split->committed);
    if (split->error.sqlstate[0] == '\0')
        pgw_write_tag(tag, &out);
    else
        pgw_error_write(&split->error, "ERROR", &out);
    px_submit_end_query(session, &out);
}

static void answer_group(px_session *session)
{
    px_split *split = session->split;
    px_group *group = &session->group;
    bool failed = split->error.sqlstate[0] != '\0';
    char last = split->at_bind ? 'B' : 'E';
    size_t before = 0;
    while (before < group->count && !(failed && group->held[before].type == last))
        before++;
    pgw_buf out = {0};
    uint64_t stored = split->committed; /* a split group has one Execute */
    px_group_answer(session, before, &stored, &out);
    if (failed)
        pgw_error_write(&split->error, "ERROR", &out);
    px_group_end(session, &out);
}

static void answer(px_session *session)
{
    px_split *split = session->split;
    if (split->error.sqlstate[0] != '\0') {
        px_split_detail(&split->error, split->committed, split->rows);
        if (split->unknown > 0)
            pgw_error_detail(&split->error, "%zu of %zu rows are committed, of %zu it is unknown.",
                             split->committed, split->rows, split->unknown);
        px_count_error(session->worker->metrics, pgw_slice_str(split->error.sqlstate));
    }
    if (session->unit_text != NULL)
        answer_script(session);
    else
        answer_group(session);
    px_submit_drop_statement(session);
    px_submit_finish(session);
}

/* The statement less its committed rows is to run on the own link. */
static void reroute(px_session *session)
{
    px_split *split = session->split;
    bool *left_out = pgw_calloc(split->rows, sizeof *left_out);
    size_t count = 0;
    for (size_t r = 0; r < split->rows; r++) {
        left_out[r] = !split->parts[split->part_of[r]].waits;
        count += left_out[r];
    }
    session->rerouted = true;
    if (count == 0) {
        px_submit_drop_statement(session); /* as if nothing had been tried */
    } else if (session->unit_text != NULL) {
        px_text_leave_out(session->unit_text, left_out);
    } else {
        px_plan *less = px_plan_without(session->unit_plan, left_out);
        px_plan_drop(session->unit_plan);
        session->unit_plan = less;
    }
    free(left_out);
}

void px_split_done(px_session *session, px_unit *unit)
{
    px_split *split = session->split;
    take_back(session, unit);
    px_unit_free(unit);
    if (split->back < split->count)
        return;
    if (split->waiting > 0 && split->error.sqlstate[0] == '\0')
        reroute(session);
    else if (split->committed == 0 && split->unknown == 0 && px_submit_repeat(session, split->kind))
        px_submit_drop_statement(session);
    else
        answer(session);
    end(session);
    px_session_wake(session, PX_WAIT_UNIT);
}

void px_split_withdraw(px_session *session)
{
    px_split *split = session->split;
    for (size_t i = 0; i < split->count; i++) {
        px_unit *unit = split->parts[i].unit;
        if (unit != NULL)
            px_batcher_withdraw(session->worker, unit, unit->ticket);
    }
}

void px_split_leave(px_session *session)
{
    px_split *split = session->split;
    for (size_t i = 0; i < split->count; i++)
        if (split->parts[i].unit != NULL)
            split->parts[i].unit->session = NULL;
    px_split_withdraw(session);
    end(session);
}

/* ---- the rest, on the own link ---- */

bool px_split_has_rest(const px_session *session)
{
    return session->rerouted && (session->unit_text != NULL || session->unit_plan != NULL);
}

void px_split_give_up(px_session *session, pgw_error *error)
{
    const px_text *text = session->unit_text;
    const px_plan *plan = session->unit_plan;
    if (text != NULL)
        px_split_detail(error, text->superseded[0], text->script.statements[0].insert->row_count);
    else
        px_split_detail(error, plan->left_out, plan->insert->row_count);
    px_submit_drop_statement(session);
}
