#include "ydb/endpoint/writer.h"

#include "protocol/backend.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/backend/catalog/catalog.h"
#include "ydb/endpoint/merge.h"
#include "ydb/endpoint/pause.h"
#include "ydb/endpoint/text_most.h"

#include <stdlib.h>
#include <string.h>

/* How many statements a batch that failed is divided into before its write groups are sent singly.
 */
enum { MOST_STATEMENTS = 32, MOST_DEPTH = 32, STUMBLES = 3, TWICE = 2 };

/* Units that are sent together, by their places in the attempt. */
typedef struct portion {
    size_t from, to;
    bool singly; /* write groups are sent one by one, for they failed together too often */
} portion;

typedef struct writer {
    px_writer base;
    px_link *link;

    /* The fields below are about the attempt. */
    px_attempt *attempt;
    portion now;                 /* the portion on the link, which is one transaction */
    portion waiting[MOST_DEPTH]; /* portions to be sent; the last is the next */
    size_t waiting_count;
    unsigned statements; /* number of portions that were sent */
    size_t at;           /* place of the write group that is being answered */
    bool merged;         /* all rows of the portion are in one INSERT */
    uint64_t rows;       /* number of rows in the portion */
    uint64_t stored;     /* rows that the tags of a merged INSERT have counted */
    pgw_buf error;       /* body of the portion's first ErrorResponse */
} writer;

/* ---- writing ---- */

static rw_catalog catalog_of(const writer *w)
{
    const px_catalog *known = px_catalog_last(w->link->worker, w->link->identity);
    if (known == NULL)
        return (rw_catalog){0};
    return (rw_catalog){.tables = (const rw_table *const *)known->tables, .count = known->count};
}

/* Prepares a write group's statements anew each time, for that is done in this process. */
static void write_prepared(const px_write_group *write_group, pgw_buf *out)
{
    for (size_t i = 0; i < write_group->prepared_count; i++) {
        const px_write_group_prepared *prepared = &write_group->prepared[i];
        pgw_write_close('S', prepared->name, out);
        pgw_certainly(pgw_write_parse(prepared->name, prepared->text, prepared->types,
                                      prepared->type_count, out));
    }
}

static void write_executions(const px_write_group *write_group, pgw_buf *out)
{
    for (size_t i = 0; i < write_group->statement_count; i++)
        px_write_group_write_statement(write_group, i, out);
}

static void write_texts(px_write_group *const *write_groups, size_t count, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'Q');
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_str(out, i > 0 ? "\n;\n" : "");
        px_write_group_write_alone(write_groups[i], out);
    }
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

/* Writes write groups that are one transaction, each as its client sent it. */
static void write_write_groups(px_write_group *const *write_groups, size_t count, pgw_buf *out)
{
    if (write_groups[0]->kind != PX_WRITE_GROUP_PARAMS) {
        write_texts(write_groups, count, out);
        return;
    }
    write_prepared(write_groups[0], out);
    for (size_t i = 0; i < count; i++)
        write_executions(write_groups[i], out);
    pgw_write_sync(out);
}

static bool write_merged(writer *w, px_write_group *const *write_groups, size_t count, pgw_buf *out)
{
    size_t most = px_ydb_text_most(w->link->worker->config);
    rw_catalog catalog = catalog_of(w);
    size_t before = out->len, begun = pgw_begin(out, 'Q');
    if (!px_ydb_merge(write_groups, count, &catalog, most, out)) {
        out->len = before;
        return false;
    }
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
    return true;
}

static uint64_t count_rows(px_write_group *const *write_groups, size_t count)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += write_groups[i]->row_count;
    return rows;
}

static void write_portion(writer *w, portion now, pgw_buf *out)
{
    px_write_group *const *write_groups = &w->attempt->write_groups[now.from];
    size_t count = now.to - now.from;
    w->now = now;
    w->at = now.from;
    w->stored = 0;
    w->rows = count_rows(write_groups, count);
    w->statements++;
    pgw_buf_clear(&w->error);
    for (size_t i = 0; i < count; i++)
        px_write_group_reset(write_groups[i]);
    w->merged = count > 1 && !w->attempt->joined && write_merged(w, write_groups, count, out);
    if (!w->merged)
        write_write_groups(write_groups, count, out);
    px_link_send_buf(w->link, out);
}

static void push(writer *w, portion waiting)
{
    w->waiting[w->waiting_count++] = waiting;
}

/* Divides a portion into halves, the first one first; after MOST_STATEMENTS into single write
 * groups. */
static void divide(writer *w, portion whole)
{
    size_t middle = (whole.from + whole.to) / 2;
    whole.singly = w->statements >= MOST_STATEMENTS;
    if (whole.singly) {
        push(w, whole);
        return;
    }
    push(w, (portion){middle, whole.to, false});
    push(w, (portion){whole.from, middle, false});
}

static portion pop(writer *w)
{
    portion *top = &w->waiting[w->waiting_count - 1], next = *top;
    if (next.singly)
        next.to = ++top->from;
    w->waiting_count -= next.to == top->to;
    return next;
}

static void begin(px_writer *base, px_attempt *attempt)
{
    writer *w = (writer *)base;
    w->attempt = attempt;
    w->waiting_count = w->statements = 0;
    portion all = {0, attempt->count, false};
    if (attempt->shared || attempt->count == 1)
        push(w, all);
    else
        divide(w, all);
    write_portion(w, pop(w), attempt->scratch);
}

/* ---- reading ---- */

static px_write_group *answering(const writer *w)
{
    return px_attempt_answering(w->attempt, w->at, w->now.to);
}

static bool is_error(const writer *w, const char *sqlstate)
{
    return pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&w->error), 'C'), sqlstate);
}

/* The write group fails: nothing of it is stored, or that is not known (08007). */
static void fail_write_group(const writer *w, px_write_group *write_group)
{
    write_group->completed =
        is_error(w, "08007") || w->now.to - w->now.from > 1 ? 0 : write_group->completed;
    pgw_buf_clear(&write_group->returned);
    pgw_buf_clear(&write_group->error);
    pgw_buf_add_slice(&write_group->error, pgw_slice_buf(&w->error));
}

static void answer(writer *w, px_verdict verdict)
{
    px_attempt *attempt = w->attempt;
    for (size_t i = w->now.from; i < w->now.to; i++) {
        px_write_group *write_group = attempt->write_groups[i];
        if (verdict != PX_VERDICT_COMMITTED)
            fail_write_group(w, write_group);
        else if (w->merged)
            px_write_group_hears_stored(write_group);
        attempt->at = attempt->shared ? attempt->at : i + 1;
        attempt->answered(attempt, write_group, verdict);
    }
}

/* Whether the portion was not done for a reason that is not in its rows. XX000 may be in them: a
 * lone write group is tried again after it STUMBLES times at most. */
static bool is_later(const writer *w)
{
    static const char *const codes[] = {"40001", "57P03", "53000", "08006", "53300"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (is_error(w, codes[i]))
            return true;
    const px_write_group *first = w->attempt->write_groups[w->now.from];
    bool alone = w->now.to - w->now.from == 1;
    return alone && is_error(w, "XX000") && first->stumbles < STUMBLES;
}

/* Sends all write groups again after a pause that grows; those ABORTED for the second time in
 * halves. */
static void postpone(writer *w)
{
    px_write_group *const *write_groups = w->attempt->write_groups;
    size_t count = w->now.to - w->now.from, half = count > 1 ? count / 2 : 1;
    unsigned tries = 0;
    for (size_t i = w->now.from; i < w->now.to; i++) {
        px_write_group *write_group = write_groups[i];
        tries = write_group->attempts > tries ? write_group->attempts : tries;
        write_group->stumbles += is_error(w, "XX000");
        if (++write_group->attempts >= TWICE && is_error(w, "40001"))
            write_group->company = half;
    }
    w->attempt->pause_ms = (uint32_t)px_ydb_pause_ms(tries, is_error(w, "53000"), w);
    answer(w, PX_VERDICT_LATER);
}

/* Tells the write groups of a failed portion; true: it is to be divided and tried in parts instead.
 */
static bool settle_failed(writer *w)
{
    px_attempt *attempt = w->attempt;
    bool alone = w->now.to - w->now.from == 1;
    attempt->refused_size |= px_classify(pgw_slice_buf(&w->error)) == PX_ERROR_SIZE;
    if (is_later(w) && (alone || attempt->shared)) {
        postpone(w);
        return false;
    }
    if (alone || is_error(w, "08007")) {
        answer(w, PX_VERDICT_FAILED);
        return false;
    }
    if (!attempt->shared)
        return true;
    answer(w, PX_VERDICT_REPEAT);
    return false;
}

static px_progress on_ready_for_query(writer *w, pgw_slice body)
{
    bool answered = w->merged ? w->stored == w->rows : answering(w) == NULL;
    bool failed = w->error.len > 0;
    if (body.len != 1 || body.ptr[0] != 'I' || (!failed && !answered))
        return PX_PROGRESS_BROKEN;
    if (!failed)
        answer(w, PX_VERDICT_COMMITTED);
    else if (settle_failed(w))
        divide(w, w->now);
    if (w->waiting_count == 0)
        return PX_PROGRESS_DONE;
    pgw_buf out = {0};
    write_portion(w, pop(w), &out);
    pgw_buf_free(&out);
    return PX_PROGRESS_MORE;
}

static px_progress on_complete(writer *w, bool suspended, pgw_slice body)
{
    px_write_group *write_group = answering(w);
    if (w->merged) {
        w->stored += pgw_tag_rows(body);
        return PX_PROGRESS_MORE;
    }
    px_progress progress = px_write_group_hears_complete(write_group, suspended, body);
    w->at += progress == PX_PROGRESS_MORE && write_group->completed == write_group->statement_count;
    return progress;
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
        return px_write_group_hears_returned(answering(w), message);
    case '2':
        return px_write_group_hears_bound(answering(w));
    case 'Z':
        return on_ready_for_query(w, body);
    case 'E':
        if (w->error.len == 0)
            pgw_buf_add_slice(&w->error, body);
        return PX_PROGRESS_MORE;
    default: /* answers to Parse and Close, notices and ParameterStatus */
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
