#include "proxy/dialect.h"

#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "proxy/classify.h"
#include "proxy/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A statement that lost against another transaction is worth this many more attempts alone. */
enum { MAX_SERIALIZATION_ATTEMPTS = 3 };

/* ---- writing ---- */

static void reset_unit(px_unit *unit)
{
    unit->completed = 0;
    pgw_buf_clear(&unit->error);
    pgw_buf_clear(&unit->notices);
    for (size_t i = 0; i < unit->statement_count; i++) {
        unit->statements[i].bound = false;
        unit->statements[i].tag = 0;
    }
}

static void write_statements(const px_unit *unit, const char *separator, pgw_buf *out)
{
    for (size_t i = 0; i < unit->statement_count; i++) {
        if (i > 0)
            pgw_buf_add_str(out, separator);
        pgw_buf_add_slice(out, unit->statements[i].batch);
    }
}

/* One Query for all: rows joined in one VALUES list, or statements joined by semicolons. */
static void write_merged(const px_attempt *attempt, pgw_buf *out)
{
    const px_unit *key = attempt->units[0];
    const char *separator =
        key->kind == PX_UNIT_ROWS ? ",\n" : "\n;\n"; /* a comment may end a statement */
    size_t begun = pgw_begin(out, 'Q');
    pgw_buf_add_slice(out, key->head);
    for (size_t i = 0; i < attempt->count; i++) {
        if (i > 0)
            pgw_buf_add_str(out, separator);
        write_statements(attempt->units[i], separator, out);
    }
    pgw_buf_add_slice(out, key->tail);
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

/* Close of a name that is not there succeeds, so it need not be known whether it is. */
static void write_prepare(px_attempt *attempt, pgw_buf *out)
{
    const px_unit *key = attempt->units[0];
    char *oldest = px_prepared_evict(attempt->prepared);
    if (oldest != NULL)
        pgw_write_close('S', pgw_slice_str(oldest), out);
    free(oldest);
    px_prepared_remove(attempt->prepared, key->statement_name);
    pgw_write_close('S', key->statement_name, out);
    pgw_certainly(pgw_write_parse(key->statement_name, key->statement_text, key->types,
                                  key->type_count, out));
    attempt->parsing = true;
}

/* The Parse stands in the transaction of the units if there is one only; else it has its own Sync,
 * for it must not depend on the first unit, nor that unit's error be everybody's. */
static void write_pipeline(px_attempt *attempt, pgw_buf *out)
{
    const px_unit *key = attempt->units[0];
    bool one = attempt->shared || attempt->count == 1;
    if (!px_prepared_has(attempt->prepared, key->statement_name, key->statement_text, key->types,
                         key->type_count)) {
        write_prepare(attempt, out);
        attempt->preparing = !one;
        if (!one)
            pgw_write_sync(out);
    }
    for (size_t i = 0; i < attempt->count; i++) {
        write_statements(attempt->units[i], "", out);
        if (!one)
            pgw_write_sync(out);
    }
    if (one)
        pgw_write_sync(out);
}

static void write_attempt(px_attempt *attempt, pgw_buf *out)
{
    for (size_t i = 0; i < attempt->count; i++)
        reset_unit(attempt->units[i]);
    if (attempt->units[0]->kind == PX_UNIT_PARAMS) {
        write_pipeline(attempt, out);
        return;
    }
    if (attempt->shared) {
        write_merged(attempt, out);
        return;
    }
    for (size_t i = 0; i < attempt->count; i++)
        pgw_buf_add_slice(out, attempt->units[i]->alone);
}

/* ---- what an error means ---- */

static px_verdict fail_unit(px_unit *unit, const pgw_buf *error)
{
    pgw_buf_clear(&unit->error);
    pgw_buf_add(&unit->error, error->ptr, error->len);
    return PX_VERDICT_FAILED;
}

static bool is_stale(px_error_kind kind)
{
    return kind == PX_ERROR_STALE || kind == PX_ERROR_STALE_PLAN;
}

/* Whether a unit whose statement was found stale is to have it prepared again: once. */
static bool renews(px_attempt *attempt, px_unit *unit)
{
    if (unit->kind != PX_UNIT_PARAMS || unit->renewed)
        return false;
    if (attempt->parsing || attempt->prepare_error.len > 0)
        return false; /* it is the Parse itself that failed, a moment ago */
    px_prepared_remove(attempt->prepared, unit->statement_name);
    unit->renewed = true;
    return true;
}

/* The Parse before it failed. */
static bool lacks_statement(const pgw_buf *error)
{
    return pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(error), 'C'), "26000");
}

static px_verdict judge_alone(px_attempt *attempt, px_unit *unit)
{
    const pgw_buf *error = &attempt->error;
    if (error->len == 0)
        return PX_VERDICT_COMMITTED;
    if (attempt->prepare_error.len > 0 && lacks_statement(error))
        error = &attempt->prepare_error;
    px_error_kind kind = px_classify(pgw_slice_buf(error));
    if (kind == PX_ERROR_LOCK)
        return PX_VERDICT_REROUTE;
    if (kind == PX_ERROR_REPEAT && unit->attempts < MAX_SERIALIZATION_ATTEMPTS) {
        unit->attempts++;
        return PX_VERDICT_REPEAT;
    }
    if (is_stale(kind) && renews(attempt, unit))
        return PX_VERDICT_REPEAT;
    attempt->refused_size = attempt->refused_size || kind == PX_ERROR_SIZE;
    return fail_unit(unit, error);
}

/* ---- reading ---- */

static void count_merged_rows(px_attempt *attempt)
{
    uint64_t expected = 0;
    for (size_t i = 0; i < attempt->count; i++) {
        px_unit *unit = attempt->units[i];
        for (size_t s = 0; s < unit->statement_count; s++)
            expected += unit->statements[s].tag = unit->statements[s].rows;
        unit->completed = unit->statement_count;
    }
    if (attempt->rows != expected)
        px_log(CFG_LOG_ERROR, "batch_count", "table=%s rows=%" PRIu64 " counted=%" PRIu64,
               attempt->units[0]->table_name, expected, attempt->rows);
}

static void end_shared(px_attempt *attempt)
{
    bool failed = attempt->error.len > 0;
    px_error_kind kind = failed ? px_classify(pgw_slice_buf(&attempt->error)) : PX_ERROR_OWN;
    bool stale = !attempt->parsing && is_stale(kind);
    attempt->refused_size = kind == PX_ERROR_SIZE;
    if (!failed && attempt->units[0]->kind == PX_UNIT_ROWS)
        count_merged_rows(attempt);
    if (stale && attempt->units[0]->kind == PX_UNIT_PARAMS)
        px_prepared_remove(attempt->prepared, attempt->units[0]->statement_name);
    for (size_t i = 0; i < attempt->count; i++) {
        px_unit *unit = attempt->units[i];
        unit->renewed |= stale;
        attempt->answered(attempt, unit, failed ? PX_VERDICT_REPEAT : PX_VERDICT_COMMITTED);
    }
}

/* A ReadyForQuery without the tags before it would be the answer to something else. */
static bool has_all_tags(const px_attempt *attempt)
{
    if (attempt->error.len > 0)
        return true;
    if (!attempt->shared)
        return attempt->units[attempt->at]->completed ==
               attempt->units[attempt->at]->statement_count;
    return attempt->units[0]->kind == PX_UNIT_ROWS ? attempt->tags == 1
                                                   : attempt->at == attempt->count;
}

static px_progress on_ready(px_attempt *attempt, pgw_slice body)
{
    if (body.len != 1 || body.ptr[0] != 'I' || attempt->fatal[0] != '\0')
        return PX_PROGRESS_BROKEN; /* a unit opens no transaction, and behind FATAL comes nothing */
    if (attempt->preparing) {
        attempt->preparing = false;
        pgw_buf_add_slice(&attempt->prepare_error, pgw_slice_buf(&attempt->error));
        pgw_buf_clear(&attempt->error);
        attempt->parsing = false;
        return PX_PROGRESS_MORE;
    }
    if (!has_all_tags(attempt))
        return PX_PROGRESS_BROKEN;
    if (attempt->shared) {
        end_shared(attempt);
        return PX_PROGRESS_DONE;
    }
    px_unit *unit = attempt->units[attempt->at];
    px_verdict verdict = judge_alone(attempt, unit);
    attempt->at++;
    pgw_buf_clear(&attempt->error);
    attempt->parsing = false;
    attempt->answered(attempt, unit, verdict);
    return attempt->at == attempt->count ? PX_PROGRESS_DONE : PX_PROGRESS_MORE;
}

static px_progress on_complete(px_attempt *attempt, pgw_slice body)
{
    uint64_t rows = pgw_tag_rows(body);
    bool merged = attempt->shared && attempt->units[0]->kind == PX_UNIT_ROWS;
    if (merged) {
        attempt->rows += rows;
        attempt->tags++;
        return PX_PROGRESS_MORE;
    }
    if (attempt->preparing || attempt->at == attempt->count)
        return PX_PROGRESS_BROKEN;
    px_unit *unit = attempt->units[attempt->at];
    if (unit->completed == unit->statement_count)
        return PX_PROGRESS_BROKEN;
    unit->statements[unit->completed++].tag = rows;
    if (attempt->shared && unit->completed == unit->statement_count)
        attempt->at++;
    return PX_PROGRESS_MORE;
}

static px_progress on_bound(px_attempt *attempt)
{
    if (attempt->at == attempt->count)
        return PX_PROGRESS_BROKEN;
    px_unit *unit = attempt->units[attempt->at];
    if (unit->completed == unit->statement_count)
        return PX_PROGRESS_BROKEN;
    unit->statements[unit->completed].bound = true;
    return PX_PROGRESS_MORE;
}

static void on_parsed(px_attempt *attempt)
{
    const px_unit *key = attempt->units[0];
    if (!attempt->parsing)
        return;
    attempt->parsing = false;
    px_prepared_add(attempt->prepared, key->statement_name, key->statement_text, key->types,
                    key->type_count);
}

static void on_error(px_attempt *attempt, pgw_slice body)
{
    if (px_error_is_fatal(body)) {
        pgw_slice code = pgw_error_field(body, 'C');
        memset(attempt->fatal, 0, sizeof attempt->fatal);
        for (size_t i = 0; i < code.len && i < 5; i++)
            attempt->fatal[i] = code.ptr[i];
    }
    if (attempt->error.len == 0)
        pgw_buf_add_slice(&attempt->error, body);
}

static void on_notice(px_attempt *attempt, pgw_slice message)
{
    if (attempt->shared || attempt->preparing || attempt->at == attempt->count)
        attempt->notices++;
    else
        pgw_buf_add_slice(&attempt->units[attempt->at]->notices, message);
}

static px_progress take_reply(px_attempt *attempt, char type, pgw_slice message)
{
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    switch (type) {
    case 'C':
        return on_complete(attempt, body);
    case '2':
        return on_bound(attempt);
    case 'Z':
        return on_ready(attempt, body);
    case '1':
        on_parsed(attempt);
        return PX_PROGRESS_MORE;
    case 'E':
        on_error(attempt, body);
        return PX_PROGRESS_MORE;
    case 'N':
        on_notice(attempt, message);
        return PX_PROGRESS_MORE;
    case '3': /* CloseComplete */
    case 'A': /* NotificationResponse */
    case 'S': /* ParameterStatus */
    case 'T': /* of a RETURNING that nobody asked for */
    case 'D':
    case 'n':
    case 'I': /* EmptyQueryResponse */
        return PX_PROGRESS_MORE;
    default:
        return PX_PROGRESS_BROKEN;
    }
}

const px_dialect px_dialect_postgres = {
    .name = "postgres",
    .write = write_attempt,
    .reply = take_reply,
};
