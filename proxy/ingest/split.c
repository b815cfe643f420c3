#include "proxy/ingest/split.h"

#include "rewrite/insert/key.h"

#include <stdlib.h>

typedef struct px_split px_split;

/* The rows of one partition. */
typedef struct px_part {
    px_write_group *write_group; /* NULL: the write group has come back */
    size_t first, rows;          /* the part's rows are `rows` entries of `order` from `first` on */
    bool waits;                  /* the write group waited for a lock, and wrote nothing */
} px_part;

/* A row, and where it goes. */
typedef struct placed {
    uint32_t partition;
    size_t row;
} placed;

enum {
    MOST_PARTS = 256
}; /* each has a write group's memory; a statement with more commits as one */

struct px_split {
    px_part *parts;
    size_t count, back, waiting;
    size_t *order;   /* the rows, part by part */
    size_t *part_of; /* the part that each row is in */
    size_t rows;
    size_t committed, unknown; /* numbers of rows */
    pgw_buf error;             /* the first error; but an unknown outcome weighs more */
    bool at_bind;              /* the error came before BindComplete */
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
    pgw_buf_free(&split->error);
    free(split);
}

/* Sorts the rows by partition, and counts the partitions. */
static void place(px_split *split, const rw_key *keys)
{
    placed *all = pgw_calloc(split->rows, sizeof *all);
    for (size_t r = 0; r < split->rows; r++)
        all[r] = (placed){keys[r].partition, r};
    qsort(all, split->rows, sizeof *all, by_partition);
    for (size_t at = 0; at < split->rows; at++) {
        split->count += at == 0 || all[at].partition != all[at - 1].partition;
        split->order[at] = all[at].row;
        split->part_of[all[at].row] = split->count - 1;
    }
    free(all);
}

/* A split of the rows; NULL if it would have too many parts. */
static px_split *new_split(const rw_key *keys, size_t rows)
{
    px_split *split = pgw_calloc(1, sizeof *split);
    split->rows = rows;
    split->order = pgw_calloc(rows, sizeof *split->order);
    split->part_of = pgw_calloc(rows, sizeof *split->part_of);
    place(split, keys);
    if (split->count > MOST_PARTS) {
        free_split(split);
        return NULL;
    }
    split->parts = pgw_calloc(split->count, sizeof *split->parts);
    for (size_t at = rows; at-- > 0;) {
        px_part *part = &split->parts[split->part_of[split->order[at]]];
        part->first = at;
        part->rows++;
    }
    return split;
}

static void on_done(px_write_group *write_group);

static void submit_all(px_submitter *submitter, px_split *split)
{
    submitter->split = split;
    for (size_t i = 0; i < split->count; i++) {
        split->parts[i].write_group->done = on_done;
        px_batcher_submit(split->parts[i].write_group);
    }
}

bool px_split_script(px_submitter *submitter, const px_standing *standing, px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    if (standing->in_transaction || text->script.count != 1 ||
        one_partition(text->keys[0], insert->row_count) || !insert->values_merge ||
        text->superseded[0] > 0 || !table_splits(text->catalog, insert))
        return false;
    px_split *split = new_split(text->keys[0], insert->row_count);
    if (split == NULL)
        return false;
    for (size_t i = 0; i < split->count; i++) {
        px_part *part = &split->parts[i];
        px_chosen chosen = {split->order + part->first, part->rows};
        part->write_group = px_write_group_of_text(submitter, standing, text, chosen);
    }
    px_text_take(text);
    submitter->text = text;
    submit_all(submitter, split);
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
static void fill_from_bind(px_split *split, px_plan *single, const pgw_bind *bind,
                           const rw_key *keys)
{
    pgw_reader values = pgw_reader_of(bind->values);
    for (size_t r = 0; r < split->rows; r++) {
        pgw_bind row = bind_of_row(bind, r, single->insert->param_count, &values);
        int64_t hash = (int64_t)keys[r].hash;
        px_bound bound = {.keys = (rw_key *)&keys[r], .hashes = &hash, .known = 1};
        pgw_error error;
        px_write_group *write_group = split->parts[split->part_of[r]].write_group;
        pgw_certainly(px_write_group_add_bound(write_group, (px_execution){single, &row, 0}, &bound,
                                               &error)); /* the Bind is part of one that came */
    }
}

bool px_split_bound(px_submitter *submitter, const px_standing *standing,
                    const px_execution *execution, const rw_key *keys)
{
    px_plan *plan = execution->plan;
    const rw_insert *insert = plan->insert;
    bool merges = insert->values_merge && (!insert->has_conflict || insert->verb != RW_VERB_INSERT);
    if (standing->in_transaction || one_partition(keys, insert->row_count) || !merges ||
        !table_splits(plan->catalog, insert))
        return false;
    /* With a key twice, rows that are left could not be told from those that a later one
     * superseded. */
    px_plan *single = px_plan_of_row(plan), *less = px_plan_for_bind(plan, keys);
    px_plan_drop(less);
    px_split *split = single != NULL && less == NULL ? new_split(keys, insert->row_count) : NULL;
    if (split == NULL)
        return false;
    for (size_t i = 0; i < split->count; i++) {
        size_t rows = split->parts[i].rows;
        split->parts[i].write_group =
            px_write_group_of_plan(submitter, standing, single, rows, rows);
    }
    fill_from_bind(split, single, execution->bind, keys);
    px_submitter_add_plan(submitter, plan);
    submit_all(submitter, split);
    return true;
}

/* ---- back ---- */

static void end(px_submitter *submitter)
{
    px_split *split = submitter->split;
    submitter->split = NULL;
    free_split(split);
}

static void note_error(px_submitter *submitter, px_write_group *write_group)
{
    px_split *split = submitter->split;
    bool unknown = write_group->failure == PX_FAILED_UNKNOWN,
         weighs_more = unknown && split->unknown == 0;
    px_submitter_note_failure(submitter, write_group);
    split->unknown += unknown ? write_group->row_count : 0;
    if (split->error.len > 0 && !weighs_more)
        return;
    pgw_buf_clear(&split->error);
    pgw_buf_add_slice(&split->error, pgw_slice_buf(&write_group->error));
    split->at_bind = write_group->completed < write_group->statement_count &&
                     !write_group->statements[write_group->completed].bound;
}

static void take_back(px_submitter *submitter, px_write_group *write_group)
{
    px_split *split = submitter->split;
    px_part *part = split->parts;
    while (part->write_group != write_group)
        part++;
    part->write_group = NULL;
    part->waits = write_group->outcome == PX_WRITE_GROUP_REROUTED;
    split->waiting += part->waits;
    split->back++;
    px_submitter_note_locks(submitter, write_group);
    for (size_t i = 0;
         i < write_group->statement_count && write_group->outcome == PX_WRITE_GROUP_COMMITTED; i++)
        split->committed += write_group->statements[i].tag;
    if (write_group->outcome == PX_WRITE_GROUP_FAILED)
        note_error(submitter, write_group);
}

static void answer(px_submitter *submitter)
{
    const px_split *split = submitter->split;
    const struct px_write_group_statement all = {.tag = split->committed, .bound = !split->at_bind};
    px_outcome outcome = {.statements = &all,
                          .statement_count = 1,
                          .completed = split->error.len == 0,
                          .stored = split->committed > 0 || split->unknown > 0,
                          .rows = split->rows,
                          .committed = split->committed,
                          .unknown = split->unknown};
    if (split->error.len > 0) {
        outcome.error = pgw_slice_buf(&split->error);
        outcome.kind = px_classify(outcome.error);
    }
    submitter->ops->answered(submitter, &outcome);
    px_submitter_drop_statement(submitter);
}

/* The statement less its committed rows is to run on the own link. */
static void reroute(px_submitter *submitter)
{
    const px_split *split = submitter->split;
    bool *left_out = pgw_calloc(split->rows, sizeof *left_out);
    size_t count = 0;
    for (size_t r = 0; r < split->rows; r++) {
        left_out[r] = !split->parts[split->part_of[r]].waits;
        count += left_out[r];
    }
    submitter->rerouted = true;
    if (count == 0) {
        px_submitter_drop_statement(
            submitter); /* the own link gets it as if nothing had been tried */
    } else if (submitter->text != NULL) {
        px_text_leave_out(submitter->text, left_out);
    } else {
        px_plan *whole = submitter->plans[0];
        submitter->plans[0] = px_plan_without(whole, left_out);
        px_plan_drop(whole);
    }
    free(left_out);
    submitter->ops->rerouted(submitter);
}

static void on_done(px_write_group *write_group)
{
    px_submitter *submitter = write_group->session;
    if (submitter != NULL) { /* NULL: the client has left */
        px_split *split = submitter->split;
        take_back(submitter, write_group);
        if (split->back == split->count) {
            if (split->waiting > 0 && split->error.len == 0)
                reroute(submitter);
            else
                answer(submitter);
            end(submitter);
        }
    }
    px_write_group_free(write_group);
}

void px_split_withdraw(px_submitter *submitter)
{
    px_split *split = submitter->split;
    for (size_t i = 0; i < split->count; i++) {
        px_write_group *write_group = split->parts[i].write_group;
        if (write_group != NULL)
            px_batcher_withdraw(submitter->worker, write_group, write_group->ticket);
    }
}

void px_split_leave(px_submitter *submitter)
{
    px_split *split = submitter->split;
    for (size_t i = 0; i < split->count; i++)
        if (split->parts[i].write_group != NULL)
            split->parts[i].write_group->session = NULL;
    px_split_withdraw(submitter);
    end(submitter);
}
