#include "ydb/plain/upsert.h"

#include "ydb/plain/upsert_text.h"

#include <stdlib.h>
#include <string.h>

typedef enum phase {
    PHASE_TRY,    /* try a plain INSERT, which may succeed */
    PHASE_MEET,   /* ask which rows are there already */
    PHASE_HOLD,   /* ask for which of the rows that are there WHERE holds */
    PHASE_CHECK,  /* evaluate values that are not inserted: PostgreSQL does, too */
    PHASE_SHOW,   /* give the client the rows of RETURNING */
    PHASE_INSERT, /* insert the rows that are not there */
    PHASE_UPDATE,
    PHASE_END
} phase;

struct rw_upsert {
    rw_conflict conflict;
    unsigned char *fates; /* an rw_fate for each row */
    size_t *firsts;       /* each row's first row with the same key */
    bool repeats;         /* several rows have the key of one that is there */
    phase phase;
    size_t at;         /* HOLD, UPDATE: the next row; CHECK: the next cell */
    bool tried;        /* the plain INSERT has failed */
    bool repeatable;   /* the table has repeat: upserts, and the statement can be repeated */
    size_t missing;    /* rows to insert when the INSERT last failed; 0: it never did */
    unsigned stubborn; /* failures since then, with no fewer rows to insert */
    rw_weave weave;
};

/* --- begin and end --- */

/* Whether a plain INSERT is tried. A repeatable statement asks first: of a plain INSERT that is
 * late yet, behind its second time, nothing is left to fail once another client has deleted the row
 * again. */
static bool tries(const rw_upsert *upsert)
{
    return upsert->conflict.options->insert_first && !upsert->conflict.shows && !upsert->tried &&
           !upsert->repeatable;
}

void rw_upsert_rewind(rw_upsert *upsert)
{
    memset(upsert->fates, RW_FATE_OPEN, upsert->conflict.values.row_count);
    upsert->phase = tries(upsert) ? PHASE_TRY : PHASE_MEET;
    upsert->at = 0;
    upsert->repeats = false;
}

/* The question for all keys is the only text that can be much longer than the statement. */
static bool check_size(rw_upsert *upsert, const rw_subject *subject)
{
    rw_weave_clear(&upsert->weave);
    rw_weave_met(&upsert->conflict, &upsert->weave);
    if (upsert->weave.text.len <= subject->options->most)
        return true;
    pgw_fail(subject->reading->error, "54000",
             "the question which of its rows are there already would take %zu bytes",
             upsert->weave.text.len);
    pgw_error_hint(subject->reading->error, "Insert fewer rows at once.");
    return false;
}

rw_upsert *rw_upsert_new(const rw_subject *subject)
{
    rw_upsert *upsert = pgw_calloc(1, sizeof *upsert);
    upsert->weave.client = subject->text;
    if (rw_conflict_read(subject, &upsert->conflict) && check_size(upsert, subject)) {
        upsert->fates = pgw_calloc(upsert->conflict.values.row_count, 1);
        upsert->firsts = pgw_calloc(upsert->conflict.values.row_count, sizeof *upsert->firsts);
        upsert->repeatable =
            subject->table != NULL && subject->table->repeats_upserts && upsert->conflict.same;
        rw_upsert_rewind(upsert);
        return upsert;
    }
    rw_upsert_free(upsert);
    return NULL;
}

void rw_upsert_free(rw_upsert *upsert)
{
    if (upsert == NULL)
        return;
    rw_weave_free(&upsert->weave);
    free(upsert->fates);
    free(upsert->firsts);
    free(upsert);
}

/* --- steps --- */

static size_t count_fates(const rw_upsert *upsert, rw_fate fate)
{
    size_t count = 0;
    for (size_t i = 0; i < upsert->conflict.values.row_count; i++)
        count += upsert->fates[i] == fate;
    return count;
}

static void skip_to(rw_upsert *upsert, rw_fate fate)
{
    while (upsert->at < upsert->conflict.values.row_count && upsert->fates[upsert->at] != fate)
        upsert->at++;
}

/* Whether the phase has a text to run. */
static bool has_step(rw_upsert *upsert)
{
    const rw_conflict *conflict = &upsert->conflict;
    switch (upsert->phase) {
    case PHASE_HOLD:
        skip_to(upsert, RW_FATE_MET);
        return upsert->at < conflict->values.row_count;
    case PHASE_CHECK:
        return rw_skip_to_unsure(conflict, upsert->fates, &upsert->at);
    case PHASE_SHOW:
        return conflict->shows;
    case PHASE_INSERT:
        return count_fates(upsert, RW_FATE_INSERTED) > 0;
    case PHASE_UPDATE:
        skip_to(upsert, RW_FATE_UPDATED);
        return conflict->items.count > 0 && upsert->at < conflict->values.row_count;
    default:
        return true;
    }
}

/* Ends a phase. Rows that WHERE did not hold for are left as they are. */
static void end_phase(rw_upsert *upsert)
{
    if (upsert->phase == PHASE_HOLD)
        for (size_t i = 0; i < upsert->conflict.values.row_count; i++)
            if (upsert->fates[i] == RW_FATE_MET)
                upsert->fates[i] = RW_FATE_LEFT;
    upsert->phase++;
    upsert->at = 0;
}

static void weave_step(rw_upsert *upsert)
{
    const rw_conflict *conflict = &upsert->conflict;
    rw_weave *out = &upsert->weave;
    rw_weave_clear(out);
    switch (upsert->phase) {
    case PHASE_TRY:
        rw_weave_insert(conflict, NULL, out);
        break;
    case PHASE_MEET:
        rw_weave_met(conflict, out);
        break;
    case PHASE_HOLD:
        rw_weave_holding(conflict, upsert->fates, &upsert->at, out);
        break;
    case PHASE_CHECK:
        rw_weave_check(conflict, upsert->fates, &upsert->at, out);
        break;
    case PHASE_SHOW:
        rw_weave_shown(conflict, upsert->fates, out);
        break;
    case PHASE_INSERT:
        rw_weave_insert(conflict, upsert->fates, out);
        break;
    default:
        rw_weave_update(conflict, upsert->fates, &upsert->at, out);
    }
}

static rw_step_rows rows_of(phase now)
{
    if (now == PHASE_MEET || now == PHASE_HOLD || now == PHASE_CHECK)
        return RW_ROWS_OURS;
    return now == PHASE_SHOW ? RW_ROWS_CLIENT : RW_ROWS_NONE;
}

bool rw_upsert_next(rw_upsert *upsert, rw_step *step)
{
    while (upsert->phase != PHASE_END && !has_step(upsert))
        end_phase(upsert);
    if (upsert->phase == PHASE_END)
        return false;
    weave_step(upsert);
    const rw_step_rows rows = rows_of(upsert->phase);
    *step = (rw_step){pgw_slice_buf(&upsert->weave.text), rows, rows == RW_ROWS_NONE};
    return true;
}

/* Inserts the rows that the answer does not tell of. A lone row is not told of if it is not there;
 * of several, each should be. If such a row is there after all, the INSERT fails. */
static void insert_untold(rw_upsert *upsert)
{
    for (size_t row = 0; row < upsert->conflict.values.row_count; row++)
        if (upsert->fates[row] == RW_FATE_OPEN)
            upsert->fates[row] = RW_FATE_INSERTED;
}

/* Ends the phase after its step; HOLD, CHECK and UPDATE go on while there are rows. */
void rw_upsert_stepped(rw_upsert *upsert)
{
    if (upsert->phase == PHASE_TRY) {
        memset(upsert->fates, RW_FATE_INSERTED, upsert->conflict.values.row_count);
        upsert->phase = PHASE_END;
    } else if (upsert->phase == PHASE_MEET) {
        insert_untold(upsert);
        end_phase(upsert);
    } else if (upsert->phase == PHASE_SHOW || upsert->phase == PHASE_INSERT) {
        end_phase(upsert);
    }
}

/* Whether another client's row has come since the question, and is seen the next time. If none is,
 * it may have gone again; but not each time: then the INSERT has met another constraint. */
bool rw_upsert_was_overtaken(rw_upsert *upsert, const char *sqlstate)
{
    enum { STUBBORN_MOST = 3 };
    if (upsert->phase != PHASE_INSERT || strcmp(sqlstate, "23505") != 0)
        return false;
    const size_t missing = count_fates(upsert, RW_FATE_INSERTED);
    upsert->stubborn = upsert->missing == 0 || missing < upsert->missing ? 0 : upsert->stubborn + 1;
    upsert->missing = missing;
    return upsert->stubborn < STUBBORN_MOST;
}

bool rw_upsert_failed(rw_upsert *upsert, const char *sqlstate)
{
    if (upsert->phase != PHASE_TRY || strcmp(sqlstate, "23505") != 0)
        return false;
    upsert->tried = true;
    rw_upsert_rewind(upsert);
    return true;
}

size_t rw_upsert_bytes(const rw_upsert *upsert)
{
    size_t row = sizeof *upsert->fates + sizeof *upsert->firsts;
    return sizeof *upsert + row * upsert->conflict.values.row_count + upsert->weave.text.cap;
}

bool rw_upsert_is_single(const rw_upsert *upsert)
{
    return upsert->phase == PHASE_TRY || tries(upsert);
}

bool rw_upsert_is_repeatable(const rw_upsert *upsert)
{
    return upsert->repeatable;
}

size_t rw_upsert_count(const rw_upsert *upsert)
{
    return count_fates(upsert, RW_FATE_INSERTED) + count_fates(upsert, RW_FATE_UPDATED);
}

/* --- rows --- */

static bool read_cell(const pgw_slice *cells, size_t count, size_t which, size_t most, size_t *out)
{
    size_t value = 0;
    if (which >= count || cells[which].len == 0 || cells[which].len > 12)
        return false;
    for (size_t i = 0; i < cells[which].len; i++) {
        if (cells[which].ptr[i] < '0' || cells[which].ptr[i] > '9')
            return false;
        value = value * 10 + (size_t)(cells[which].ptr[i] - '0');
    }
    *out = value;
    return value < most;
}

static bool refuse_again(pgw_error *error)
{
    pgw_fail(error, "21000", "ON CONFLICT DO UPDATE command cannot affect row a second time");
    pgw_error_hint(error, "Ensure that no rows proposed for insertion within the same command have "
                          "duplicate constrained values.");
    return false;
}

/* Takes a row with the key of an earlier one. A row that is there may be met by several, if WHERE
 * holds for the last of them at most. */
static bool meet_again(rw_upsert *upsert, size_t row, bool is_there, pgw_error *error)
{
    const rw_conflict *conflict = &upsert->conflict;
    if (!conflict->updates) {
        upsert->fates[row] = RW_FATE_LEFT;
        return true;
    }
    if (!is_there || rw_part_is_empty(conflict->where))
        return refuse_again(error);
    upsert->fates[row] = RW_FATE_MET;
    upsert->repeats = true;
    return true;
}

/* Whether a later row has the same key. */
static bool is_repeated(const rw_upsert *upsert, size_t row)
{
    for (size_t i = row + 1; upsert->repeats && i < upsert->conflict.values.row_count; i++)
        if (upsert->firsts[i] == upsert->firsts[row])
            return true;
    return false;
}

static rw_fate fate_of_met(const rw_upsert *upsert)
{
    if (!upsert->conflict.updates)
        return RW_FATE_LEFT;
    return rw_part_is_empty(upsert->conflict.where) ? RW_FATE_UPDATED : RW_FATE_MET;
}

static bool take_met(rw_upsert *upsert, const pgw_slice *cells, size_t count, pgw_error *error)
{
    const size_t rows = upsert->conflict.values.row_count;
    size_t row, first, is_there;
    if (rows == 1) {
        if (!read_cell(cells, count, 0, 2, &is_there))
            return pgw_fail(error, "XX000", "the endpoint does not say whether a row is there");
        upsert->fates[0] =
            upsert->conflict.updates && is_there == 1 ? RW_FATE_UPDATED : RW_FATE_LEFT;
        return true;
    }
    if (!read_cell(cells, count, 0, rows, &row) || !read_cell(cells, count, 1, rows, &first) ||
        !read_cell(cells, count, 2, 2, &is_there))
        return pgw_fail(error, "XX000", "the endpoint does not say which rows are there");
    upsert->firsts[row] = first;
    if (first != row)
        return meet_again(upsert, row, is_there == 1, error);
    upsert->fates[row] = is_there == 1 ? fate_of_met(upsert) : RW_FATE_INSERTED;
    return true;
}

bool rw_upsert_row(rw_upsert *upsert, const pgw_slice *cells, size_t count, pgw_error *error)
{
    size_t row;
    if (upsert->phase == PHASE_MEET)
        return take_met(upsert, cells, count, error);
    if (upsert->phase == PHASE_CHECK)
        return true;
    if (!read_cell(cells, count, 0, upsert->conflict.values.row_count, &row))
        return pgw_fail(error, "XX000", "the endpoint does not say which rows are to be updated");
    upsert->fates[row] = RW_FATE_UPDATED;
    return !is_repeated(upsert, row) || refuse_again(error);
}
