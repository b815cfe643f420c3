#include "proxy/backend/ydb/writer.h"

#include "protocol/backend.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "proxy/backend/catalog.h"
#include "proxy/backend/classify.h"
#include "proxy/backend/ydb/merge.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
    px_writer base;
    px_link *link;

    /* Of the attempt: */
    px_attempt *attempt;
    size_t at;     /* the unit that is being answered */
    bool merged;   /* all rows are in one statement, … */
    uint64_t rows; /* … so many, and so many are stored: */
    uint64_t stored;
    pgw_buf error; /* body of this transaction's ErrorResponse */
} writer;

/* ---- writing ---- */

static void reset_unit(px_unit *unit)
{
    unit->completed = 0;
    pgw_buf_clear(&unit->error);
    pgw_buf_clear(&unit->notices);
    pgw_buf_clear(&unit->returned);
    for (size_t i = 0; i < unit->statement_count; i++) {
        struct px_unit_statement *statement = &unit->statements[i];
        statement->bound = statement->suspended = false;
        statement->tag = statement->returned = statement->noticed = 0;
    }
}

static rw_catalog catalog_of(const writer *w)
{
    const px_catalog *known = px_catalog_now(w->link->worker, w->link->identity);
    if (known == NULL)
        return (rw_catalog){0};
    return (rw_catalog){.tables = (const rw_table *const *)known->tables, .count = known->count};
}

/* What is prepared is so anew each time: that is done in this process. */
static void write_prepared(const px_unit *unit, pgw_buf *out)
{
    for (size_t i = 0; i < unit->prepared_count; i++) {
        const px_unit_prepared *prepared = &unit->prepared[i];
        pgw_write_close('S', prepared->name, out);
        pgw_certainly(pgw_write_parse(prepared->name, prepared->text, prepared->types,
                                      prepared->type_count, out));
    }
}

static void write_executions(const px_unit *unit, pgw_buf *out)
{
    for (size_t i = 0; i < unit->statement_count; i++)
        pgw_buf_add_slice(out, unit->statements[i].batch);
}

static void write_texts(px_unit *const *units, size_t count, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'Q');
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_str(out, i > 0 ? "\n;\n" : "");
        pgw_buf_add_slice(out, units[i]->alone);
    }
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

/* Units that are one transaction. */
static void write_units(px_unit *const *units, size_t count, pgw_buf *out)
{
    if (units[0]->kind != PX_UNIT_PARAMS) {
        write_texts(units, count, out);
        return;
    }
    write_prepared(units[0], out);
    for (size_t i = 0; i < count; i++)
        write_executions(units[i], out);
    pgw_write_sync(out);
}

static bool write_merged(writer *w, pgw_buf *out)
{
    rw_catalog catalog = catalog_of(w);
    size_t begun = pgw_begin(out, 'Q');
    bool joined = w->attempt->joined || (!w->attempt->shared && w->attempt->count > 1);
    if (joined || !px_ydb_merge(w->attempt, &catalog,
                                w->link->worker->config->backend.capabilities.max_message, out)) {
        out->len = begun;
        return false;
    }
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
    return true;
}

static uint64_t count_rows(const px_attempt *attempt)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < attempt->count; i++)
        rows += attempt->units[i]->row_count;
    return rows;
}

static void begin(px_writer *base, px_attempt *attempt)
{
    writer *w = (writer *)base;
    w->attempt = attempt;
    w->at = 0;
    w->stored = 0;
    w->rows = count_rows(attempt);
    pgw_buf_clear(&w->error);
    for (size_t i = 0; i < attempt->count; i++)
        reset_unit(attempt->units[i]);
    w->merged = attempt->shared && write_merged(w, attempt->scratch);
    if (!w->merged && attempt->shared)
        write_units(attempt->units, attempt->count, attempt->scratch);
    for (size_t i = 0; !attempt->shared && i < attempt->count; i++)
        write_units(&attempt->units[i], 1, attempt->scratch);
    px_link_send_buf(w->link, attempt->scratch);
}

/* ---- reading ---- */

static px_unit *answering(const writer *w)
{
    px_unit *unit = w->at < w->attempt->count ? w->attempt->units[w->at] : NULL;
    return unit != NULL && unit->completed < unit->statement_count ? unit : NULL;
}

static px_verdict judge_alone(writer *w, px_unit *unit)
{
    if (w->error.len == 0)
        return PX_VERDICT_COMMITTED;
    w->attempt->refused_size |= px_classify(pgw_slice_buf(&w->error)) == PX_ERROR_SIZE;
    pgw_buf_clear(&unit->error);
    pgw_buf_add_slice(&unit->error, pgw_slice_buf(&w->error));
    return PX_VERDICT_FAILED;
}

static void tag_merged(px_unit *unit)
{
    for (size_t s = 0; s < unit->statement_count; s++)
        unit->statements[s].tag = unit->statements[s].rows;
    unit->completed = unit->statement_count;
}

/* Nobody knows whether it is committed: as if the link had been lost. */
static bool is_unknown(const writer *w)
{
    return w->error.len > 0 &&
           pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&w->error), 'C'), "08007");
}

static void end_shared(writer *w)
{
    px_attempt *attempt = w->attempt;
    bool failed = w->error.len > 0, unknown = is_unknown(w);
    px_error_kind kind = failed ? px_classify(pgw_slice_buf(&w->error)) : PX_ERROR_OWN;
    attempt->refused_size = kind == PX_ERROR_SIZE;
    for (size_t i = 0; i < attempt->count; i++) {
        px_unit *unit = attempt->units[i];
        if (!failed && w->merged)
            tag_merged(unit);
        if (failed) {
            unit->completed = 0;
            pgw_buf_clear(&unit->returned);
        }
        if (unknown)
            (void)judge_alone(w, unit);
        attempt->answered(attempt, unit,
                          unknown  ? PX_VERDICT_FAILED
                          : failed ? PX_VERDICT_REPEAT
                                   : PX_VERDICT_COMMITTED);
    }
}

static px_progress on_ready_for_query(writer *w, pgw_slice body)
{
    px_attempt *attempt = w->attempt;
    if (body.len != 1 || body.ptr[0] != 'I')
        return PX_PROGRESS_BROKEN;
    bool answered = w->merged ? w->stored == w->rows : answering(w) == NULL;
    if (w->error.len == 0 && !answered)
        return PX_PROGRESS_BROKEN;
    if (attempt->shared) {
        end_shared(w);
        return PX_PROGRESS_DONE;
    }
    px_unit *unit = attempt->units[w->at];
    px_verdict verdict = judge_alone(w, unit);
    attempt->at = ++w->at;
    pgw_buf_clear(&w->error);
    attempt->answered(attempt, unit, verdict);
    return w->at == attempt->count ? PX_PROGRESS_DONE : PX_PROGRESS_MORE;
}

static px_progress on_complete(writer *w, bool suspended, pgw_slice body)
{
    px_unit *unit = answering(w);
    if (w->merged) {
        w->stored += pgw_tag_rows(body);
        return PX_PROGRESS_MORE;
    }
    if (unit == NULL)
        return PX_PROGRESS_BROKEN;
    struct px_unit_statement *statement = &unit->statements[unit->completed++];
    statement->tag = pgw_tag_rows(body);
    statement->suspended = suspended;
    statement->returned = unit->returned.len;
    statement->noticed = unit->notices.len;
    if (w->attempt->shared && unit->completed == unit->statement_count)
        w->at++;
    return PX_PROGRESS_MORE;
}

static px_progress on_returned(writer *w, pgw_slice message)
{
    px_unit *unit = answering(w);
    if (unit == NULL)
        return PX_PROGRESS_BROKEN;
    pgw_buf_add_slice(&unit->returned, message);
    return PX_PROGRESS_MORE;
}

static px_progress on_bound(writer *w)
{
    px_unit *unit = answering(w);
    if (unit == NULL)
        return PX_PROGRESS_BROKEN;
    unit->statements[unit->completed].bound = true;
    return PX_PROGRESS_MORE;
}

static px_progress on_message(px_writer *base, char type, pgw_slice message)
{
    writer *w = (writer *)base;
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    switch (type) {
    case 'C':
    case 's':
        return on_complete(w, type == 's', body);
    case 'T':
    case 'D':
        return on_returned(w, message);
    case '2':
        return on_bound(w);
    case 'Z':
        return on_ready_for_query(w, body);
    case 'E':
        if (w->error.len == 0)
            pgw_buf_add_slice(&w->error, body);
        return PX_PROGRESS_MORE;
    default: /* what answers Parse and Close, and what is told unasked */
        return PX_PROGRESS_MORE;
    }
}

static px_writer *make(px_link *link)
{
    writer *w = pgw_calloc(1, sizeof *w);
    w->base.kind = &px_ydb_writer;
    w->link = link;
    return &w->base;
}

static void free_writer(px_writer *base)
{
    writer *w = (writer *)base;
    pgw_buf_free(&w->error);
    free(w);
}

const px_writer_kind px_ydb_writer = {
    .make = make, .free = free_writer, .begin = begin, .on_message = on_message};
