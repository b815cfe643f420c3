#include "proxy/backend/postgres/writer.h"

#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/backend/postgres/check.h"
#include "proxy/backend/postgres/parses.h"
#include "proxy/backend/postgres/texts.h"
#include "proxy/loop/block.h"

#include <stdlib.h>
#include <string.h>

/* MAX_SERIALIZATION_ATTEMPTS: how often a write group alone is tried again after it lost against
 * another transaction. */
enum {
    MAX_SERIALIZATION_ATTEMPTS = 3,
    MERGED_WRITE_GROUPS = 16,
    LARGE = 16 * 1024,         /* bytes of a write group whose messages are not copied */
    MOST_NOTICES = 1024 * 1024 /* bytes of NoticeResponses kept for a write group */
};

typedef struct writer {
    px_writer base;
    px_link *link;
    px_parses parses;

    /* The state of the attempt: */
    px_attempt *attempt;
    size_t at;      /* the write group that is being answered */
    bool merged;    /* all rows are in one statement */
    bool piped;     /* each write group is Binds and Executes of prepared statements */
    bool preparing; /* the answer to Parses under their own Sync is still to come */
    bool withheld;  /* nothing but Parses and Describes was sent: the answer decides what follows */
    bool checks;    /* a check (check.h) stands behind the rows */
    bool prepares;  /* the check's Parse was sent with the attempt */
    bool has_check; /* the check is prepared on the link */
    unsigned tags;  /* CommandCompletes that came for the merged statement */
    pgw_buf error;  /* body of the first ErrorResponse since the last ReadyForQuery */
    pgw_buf prepare_error; /* body of the error that Parses under their own Sync have met */
} writer;

/* ---- writing ---- */

static bool is_one_transaction(const px_attempt *attempt)
{
    return attempt->shared || attempt->count == 1;
}

/* Writes the lifted row: its only copy between the client's text and the bytes sent. */
static void write_lifted(const px_write_group *write_group, pgw_buf *out)
{
    const px_write_group_lifted *lifted = &write_group->lifted;
    const pgw_bind bind = {.statement = write_group->prepared->name};
    pgw_certainly(pgw_write_bind_text(&bind, lifted->values, lifted->count, out));
    if (lifted->returns)
        pgw_write_describe('P', PGW_LITERAL(""), out);
    pgw_write_execute(PGW_LITERAL(""), 0, out);
}

static void write_check(writer *w, px_write_group *const *write_groups, size_t count, pgw_buf *out)
{
    if (!px_check_wanted(write_groups, count))
        return;
    px_check_write_piped(write_groups, count, !w->has_check && !w->prepares, out);
    w->prepares = !w->has_check;
}

static void write_executions(writer *w, pgw_buf *out)
{
    const px_attempt *attempt = w->attempt;
    bool one = is_one_transaction(attempt);
    for (size_t i = 0; i < attempt->count; i++) {
        const px_write_group *write_group = attempt->write_groups[i];
        if (write_group->kind == PX_WRITE_GROUP_PARAMS)
            px_write_statements(write_group, "", out);
        else
            write_lifted(write_group, out);
        if (!one) {
            write_check(w, &attempt->write_groups[i], 1, out);
            pgw_write_sync(out);
        }
    }
    if (one) {
        write_check(w, attempt->write_groups, attempt->count, out);
        pgw_write_sync(out);
    }
}

/* One Parse for one transaction stands in that transaction. Else Parses have their own Sync: they
 * must not fail with the first write group, nor must the error of one Parse come before what is
 * executed before it. If clients were told what a statement returns, nothing runs before the answer
 * to Describe agrees. */
static void write_pipeline(writer *w, pgw_buf *out)
{
    const px_attempt *attempt = w->attempt;
    if (px_parses_write(&w->parses, attempt->write_groups[0], px_worker_now(w->link->worker),
                        out)) {
        w->withheld = px_parses_describe(&w->parses);
        w->preparing = w->withheld || !is_one_transaction(attempt) ||
                       attempt->write_groups[0]->prepared_count > 1;
        if (w->preparing)
            pgw_write_sync(out);
    }
    if (!w->withheld)
        write_executions(w, out);
}

/* Whether one merged statement with its check costs the backend less than one statement for each
 * write group: it does from 16 write groups on (0.37 ms for either), or if each would check the
 * columns. */
static bool pays(const px_attempt *attempt)
{
    return attempt->count >= MERGED_WRITE_GROUPS || attempt->write_groups[0]->guarded;
}

/* Whether the rows of all write groups have been lifted out of texts into the same prepared
 * statement. */
static bool are_lifted(const px_attempt *attempt)
{
    px_write_group *const *write_groups = attempt->write_groups;
    for (size_t i = 0; i < attempt->count; i++)
        if (write_groups[i]->lifted.values == NULL ||
            !pgw_slice_eq(write_groups[i]->prepared->name, write_groups[0]->prepared->name))
            return false;
    return true;
}

/* Whether the write groups are sent as Binds and Executes. Several texts, each in its own
 * transaction, go as text. */
static bool is_piped(const px_attempt *attempt)
{
    px_write_group_kind kind = attempt->write_groups[0]->kind;
    if (kind == PX_WRITE_GROUP_PARAMS)
        return true;
    bool many =
        kind == PX_WRITE_GROUP_ROWS && !attempt->joined && attempt->count >= MERGED_WRITE_GROUPS;
    return (attempt->shared ? !many : attempt->count == 1) && are_lifted(attempt);
}

static void write_attempt(writer *w, pgw_buf *out)
{
    const px_attempt *attempt = w->attempt;
    px_write_group_kind kind = attempt->write_groups[0]->kind;
    w->piped = is_piped(attempt);
    w->merged = !w->piped && attempt->shared && kind == PX_WRITE_GROUP_ROWS && !attempt->joined &&
                pays(attempt);
    if (w->piped)
        write_pipeline(w, out);
    else if (w->merged)
        px_write_merged(attempt, out);
    else if (attempt->shared)
        px_write_texts(attempt->write_groups, attempt->count, out);
    else
        for (size_t i = 0; i < attempt->count; i++)
            px_write_texts(&attempt->write_groups[i], 1, out);
}

/* Writes into memory that the link takes: nothing is copied. */
static void send_large(writer *w)
{
    pgw_buf out = {0};
    px_block_begin(&out);
    pgw_buf_reserve(&out, w->attempt->write_groups[0]->batch_bytes + LARGE / 4);
    write_attempt(w, &out);
    px_link_give(w->link, &out);
}

static void begin(px_writer *base, px_attempt *attempt)
{
    writer *w = (writer *)base;
    w->attempt = attempt;
    w->at = 0;
    w->preparing = w->withheld = w->prepares = false;
    w->checks = px_check_wanted(attempt->write_groups, attempt->count);
    w->tags = 0;
    pgw_buf_clear(&w->error);
    pgw_buf_clear(&w->prepare_error);
    for (size_t i = 0; i < attempt->count; i++)
        px_write_group_reset(attempt->write_groups[i]);
    if (attempt->write_groups[0]->batch_bytes >= LARGE) {
        send_large(w);
        return;
    }
    write_attempt(w, attempt->scratch);
    px_link_send_buf(w->link, attempt->scratch);
}

/* ---- what an error means ---- */

static px_verdict fail_write_group(px_write_group *write_group, const pgw_buf *error)
{
    pgw_buf_clear(&write_group->error);
    pgw_buf_add(&write_group->error, error->ptr, error->len);
    return PX_VERDICT_FAILED;
}

static bool is_stale(px_error_kind kind)
{
    return kind == PX_ERROR_STALE || kind == PX_ERROR_STALE_PLAN;
}

/* Whether a write group with a stale statement is to have all its statements prepared again; true
 * once a write group. */
static bool renews(writer *w, px_write_group *write_group)
{
    if (write_group->kind != PX_WRITE_GROUP_PARAMS || write_group->renewed)
        return false;
    if (px_parses_wait(&w->parses) || w->prepare_error.len > 0)
        return false; /* a Parse of this attempt failed: preparing again would fail, too */
    px_parses_forget(&w->parses, write_group);
    write_group->renewed = true;
    return true;
}

/* Whether a Bind failed because the Parse before it had failed. */
static bool lacks_statement(const pgw_buf *error)
{
    return px_classify(pgw_slice_buf(error)) == PX_ERROR_STALE_PLAN;
}

/* The write group whose statement is being answered; NULL: all statements of the transaction are.
 */
static px_write_group *answering(const writer *w)
{
    return px_attempt_answering(w->attempt, w->at, w->attempt->count);
}

/* Has the write group sent again as text, if its lifted row failed: only the text gets the error
 * that the client is to see. */
static bool returns_to_text(writer *w, px_write_group *write_group, px_error_kind kind)
{
    if (!w->piped || write_group->lifted.values == NULL ||
        (kind != PX_ERROR_OWN && !is_stale(kind)))
        return false;
    if (is_stale(kind))
        px_parses_forget(&w->parses, write_group);
    write_group->lifted.values = NULL;
    return true;
}

/* The write group waited for a lock as long as batch links wait for one (lock_wait_ms). */
static void note_lock(px_write_group *write_group)
{
    write_group->locked_ms += write_group->tables[0].config->batch.lock_wait_ms;
}

static px_verdict judge_alone(writer *w, px_write_group *write_group)
{
    const pgw_buf *error = &w->error;
    if (error->len == 0)
        return PX_VERDICT_COMMITTED;
    if (w->prepare_error.len > 0 && lacks_statement(error))
        error = &w->prepare_error;
    px_error_kind kind = px_classify(pgw_slice_buf(error));
    if (kind == PX_ERROR_LOCK) {
        note_lock(write_group);
        return PX_VERDICT_REROUTE;
    }
    if (kind == PX_ERROR_REPEAT && write_group->attempts < MAX_SERIALIZATION_ATTEMPTS) {
        write_group->attempts++;
        return PX_VERDICT_REPEAT;
    }
    if (returns_to_text(w, write_group, kind) || (is_stale(kind) && renews(w, write_group)))
        return PX_VERDICT_REPEAT;
    w->attempt->refused_size = w->attempt->refused_size || kind == PX_ERROR_SIZE;
    return fail_write_group(write_group, error);
}

/* ---- reading ---- */

static void end_shared(writer *w)
{
    px_attempt *attempt = w->attempt;
    bool failed = w->error.len > 0;
    px_error_kind kind = failed ? px_classify(pgw_slice_buf(&w->error)) : PX_ERROR_OWN;
    bool stale = !px_parses_wait(&w->parses) && is_stale(kind);
    attempt->refused_size = kind == PX_ERROR_SIZE;
    attempt->doubted = failed && w->merged && kind == PX_ERROR_OWN;
    if (stale && w->piped)
        px_parses_forget(&w->parses, attempt->write_groups[0]);
    px_parses_end(&w->parses);
    for (size_t i = 0; i < attempt->count; i++) {
        px_write_group *write_group = attempt->write_groups[i];
        write_group->renewed |= stale;
        if (kind == PX_ERROR_LOCK)
            note_lock(write_group);
        if (!failed && w->merged)
            px_write_group_hears_stored(
                write_group); /* the merged statement has checked its rows */
        if (failed) {
            write_group->lifted.values = NULL;
            write_group->completed =
                0; /* nothing of the write group is stored, should it be given up now */
            pgw_buf_clear(&write_group->returned);
        }
        attempt->answered(attempt, write_group, failed ? PX_VERDICT_REPEAT : PX_VERDICT_COMMITTED);
    }
}

/* False: ReadyForQuery came without the tags that must stand before it, so the backend broke the
 * protocol. */
static bool has_all_tags(const writer *w)
{
    if (w->error.len > 0)
        return true;
    return w->merged ? w->tags == 1 : answering(w) == NULL;
}

/* Sends what waited for the answer to Describe. Statements that return something else by now are
 * closed: executions of these fail, and store nothing. */
static void send_withheld(writer *w)
{
    pgw_buf out = {0};
    if (px_parses_close_others(&w->parses, &out)) {
        pgw_buf_clear(&w->prepare_error);
        px_error_cached_plan(&w->prepare_error);
    }
    write_executions(w, &out);
    px_link_send_buf(w->link, &out);
    pgw_buf_free(&out);
}

static void on_prepared(writer *w)
{
    w->preparing = false;
    pgw_buf_add_slice(&w->prepare_error, pgw_slice_buf(&w->error));
    pgw_buf_clear(&w->error);
    if (w->withheld)
        send_withheld(w);
    px_parses_end(&w->parses);
}

static px_progress on_ready_for_query(writer *w, pgw_slice body)
{
    px_attempt *attempt = w->attempt;
    if (body.len != 1 || body.ptr[0] != 'I' || attempt->fatal[0] != '\0')
        return PX_PROGRESS_BROKEN; /* a write group leaves no transaction open, and nothing comes
                                      behind FATAL */
    if (w->preparing) {
        on_prepared(w);
        return PX_PROGRESS_MORE;
    }
    if (!has_all_tags(w))
        return PX_PROGRESS_BROKEN;
    if (attempt->shared) {
        end_shared(w);
        return PX_PROGRESS_DONE;
    }
    px_write_group *write_group = attempt->write_groups[w->at];
    px_verdict verdict = judge_alone(w, write_group);
    attempt->at = ++w->at;
    pgw_buf_clear(&w->error);
    px_parses_end(&w->parses);
    attempt->answered(attempt, write_group, verdict);
    return w->at == attempt->count ? PX_PROGRESS_DONE : PX_PROGRESS_MORE;
}

/* Doubts the prepared statement that has stored nothing. */
static void doubt_prepared(writer *w, const px_write_group *write_group)
{
    const struct px_write_group_statement *last =
        &write_group->statements[write_group->completed - 1];
    if (w->piped && last->tag == 0 && !last->suspended)
        px_parses_doubt(&w->parses, &write_group->prepared[last->prepared]);
}

static px_progress on_complete(writer *w, bool suspended, pgw_slice body)
{
    px_write_group *write_group = answering(w);
    if (w->merged) {
        w->tags++;
        return PX_PROGRESS_MORE;
    }
    if (w->preparing || write_group == NULL)
        return PX_PROGRESS_BROKEN;
    px_progress progress = px_write_group_hears_complete(write_group, suspended, body);
    doubt_prepared(w, write_group);
    if (w->attempt->shared && write_group->completed == write_group->statement_count)
        w->at++;
    return progress;
}

/* Takes a DataRow or RowDescription of the statement that is being answered. */
static px_progress on_returned(writer *w, char type, pgw_slice message)
{
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    if (w->merged) /* a merged statement returns only what checks it */
        return PX_PROGRESS_MORE;
    if (w->preparing && type == 'T') {
        px_parses_described(&w->parses, body);
        return PX_PROGRESS_MORE;
    }
    return px_write_group_hears_returned(w->preparing ? NULL : answering(w), message);
}

static void on_error(writer *w, pgw_slice body)
{
    if (px_error_is_fatal(body)) {
        pgw_slice code = pgw_error_field(body, 'C');
        char *fatal = w->attempt->fatal;
        memset(fatal, 0, sizeof w->attempt->fatal);
        for (size_t i = 0; i < code.len && i < 5; i++)
            fatal[i] = code.ptr[i];
    }
    if (w->error.len == 0)
        pgw_buf_add_slice(&w->error, body);
}

static void on_notice(writer *w, pgw_slice message)
{
    px_attempt *attempt = w->attempt;
    bool nobodys = attempt->shared || w->preparing || w->at == attempt->count;
    pgw_buf *notices = nobodys ? NULL : &attempt->write_groups[w->at]->notices;
    if (nobodys || notices->len + message.len > MOST_NOTICES)
        attempt->notices++;
    else
        pgw_buf_add_slice(notices, message);
}

/* Whether the message answers the check, which stands behind rows that are all answered. */
static bool is_of_check(const writer *w, char type)
{
    return w->checks && !w->merged && !w->preparing && answering(w) == NULL &&
           strchr("12CDT", type) != NULL;
}

static px_progress on_message(px_writer *base, char type, pgw_slice message)
{
    writer *w = (writer *)base;
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    if (is_of_check(w, type)) {
        w->has_check = w->has_check || (type == '1' && w->prepares);
        return PX_PROGRESS_MORE;
    }
    switch (type) {
    case 'C':
    case 's':
        return on_complete(w, type == 's', body);
    case 'T':
    case 'D':
        return on_returned(w, type, message);
    case '2':
        return px_write_group_hears_bound(answering(w));
    case 'Z':
        return on_ready_for_query(w, body);
    case '1':
        px_parses_complete(&w->parses);
        return PX_PROGRESS_MORE;
    case 'E':
        on_error(w, body);
        return PX_PROGRESS_MORE;
    case 'N':
        on_notice(w, message);
        return PX_PROGRESS_MORE;
    case '3': /* CloseComplete */
    case 'A': /* NotificationResponse */
    case 'S': /* ParameterStatus */
    case 't': /* ParameterDescription */
    case 'n':
    case 'I': /* EmptyQueryResponse */
        return PX_PROGRESS_MORE;
    default:
        return PX_PROGRESS_BROKEN;
    }
}

static px_writer *make(px_link *link)
{
    writer *w = pgw_calloc(1, sizeof *w);
    w->base.kind = &px_postgres_writer;
    w->link = link;
    return &w->base;
}

static void free_writer(px_writer *base)
{
    writer *w = (writer *)base;
    px_prepared_free(&w->parses.prepared);
    pgw_buf_free(&w->error);
    pgw_buf_free(&w->prepare_error);
    free(w);
}

const px_writer_kind px_postgres_writer = {
    .make = make, .free = free_writer, .begin = begin, .on_message = on_message};
