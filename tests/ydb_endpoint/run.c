#include "tests/ydb_endpoint/run.h"

#include "tests/ydb_endpoint/cost.h"
#include "tests/ydb_endpoint/ranges.h"
#include "tests/ydb_endpoint/reads.h"
#include "tests/ydb_endpoint/strike.h"
#include "tests/ydb_endpoint/transaction.h"
#include "tests/ydb_endpoint/typmods.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "protocol/types.h"

#include <string.h>

/* --- what is answered without the store --- */

void ye_shown_row(const char *name, pgw_buf *out)
{
    pgw_buf_add_i16(out, 1);
    pgw_buf_add(out, name, strlen(name) + 1);
    pgw_buf_add_i32(out, 0);
    pgw_buf_add_i16(out, 0);
    pgw_buf_add_i32(out, PGW_TEXT);
    pgw_buf_add_i16(out, -1);
    pgw_buf_add_i32(out, -1);
    pgw_buf_add_i16(out, 0);
}

static void write_shown(const ye_compiled *compiled, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'T');
    ye_shown_row(compiled->shown, out);
    pgw_end_small(out, begun);
}

static void answer_here(const ye_compiled *compiled, bool described, pgw_buf *out)
{
    if (compiled->shown != NULL) {
        if (!described)
            write_shown(compiled, out);
        size_t begun = pgw_begin(out, 'D');
        pgw_buf_add_i16(out, 1);
        pgw_buf_add_i32(out, (int32_t)strlen(compiled->value));
        pgw_buf_add_str(out, compiled->value);
        pgw_end_small(out, begun);
    }
    pgw_write_tag(compiled->tag, out);
}

/* --- the statement --- */

typedef struct ye_task {
    const ye_request *request;
    ye_word word;
    ye_compiled compiled;
} ye_task;

static const PgQuery__RangeVar *target_of(const PgQuery__Node *statement)
{
    switch (statement->node_case) {
    case PG_QUERY__NODE__NODE_INSERT_STMT:
        return statement->insert_stmt->relation;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
        return statement->update_stmt->relation;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
        return statement->delete_stmt->relation;
    default:
        return NULL;
    }
}

/* "INSERT from PG syntax into native-typed columns (e.g. Uint64 hash column): uncertain" (2). */
static bool check_native(ye_endpoint *endpoint, const PgQuery__RangeVar *target,
                         ye_failure *failure)
{
    if (!endpoint->options.refuse_native || target == NULL)
        return true;
    const size_t table = ye_map_find(&endpoint->map, target->relname);
    return table == YE_TABLES || !endpoint->map.tables[table].is_unsigned ||
           ye_fail(failure, YE_GENERIC_ERROR, 0, "Failed to convert type of column %s to Uint64",
                   endpoint->map.tables[table].column);
}

/* Schema changes that were recognised as such are not here (1.5). */
static bool check_scheme(const ye_session *session, const PgQuery__Node *statement,
                         ye_failure *failure)
{
    const bool data =
        statement->node_case == PG_QUERY__NODE__NODE_SELECT_STMT || target_of(statement) != NULL;
    return data || session->status == 'I' ||
           ye_fail(failure, YE_PRECONDITION_FAILED, 0,
                   "Scheme operations cannot be executed inside transaction");
}

static bool check_data(ye_session *session, const PgQuery__Node *statement, ye_failure *failure)
{
    return check_scheme(session, statement, failure) &&
           check_native(session->endpoint, target_of(statement), failure);
}

static bool run_scheme(ye_session *session, const ye_task *task, ye_failure *failure)
{
    ye_request request = *task->request;
    pgw_buf text = {0};
    if (session->endpoint->options.drop_typmods && request.bind == NULL &&
        ye_typmods_drop(task->compiled.parsed, &text))
        request.text = (pgw_slice){text.ptr, text.len - 1};
    bool done = ye_execute(session, &request, failure);
    pgw_buf_free(&text);
    return done;
}

/* A statement that touches partitions, or the COMMIT of such: it has its price. Where that is known
 * before, its time passes while the store is at work (execute.c), and costs no thread switch of its
 * own. */
static bool act_at_price(ye_session *session, const ye_task *task, ye_failure *failure)
{
    const PgQuery__Node *statement = task->compiled.statement;
    if ((statement != NULL && !check_data(session, statement, failure)) ||
        !ye_cost_begin(session, statement, task->request->bind, failure))
        return false;
    if (statement != NULL && task->request->bind == NULL)
        ye_reads_count(session, statement);
    const bool known = statement != NULL && ye_rows_of(statement) > 0;
    if (known)
        ye_cost_charge(session, statement);
    bool done = statement == NULL ? ye_transaction_word(session, task->word, failure)
                                  : ye_execute(session, task->request, failure);
    if (!known)
        ye_cost_charge(session, statement);
    if (session->status == 'T' && statement != NULL && target_of(statement) != NULL)
        ye_cost_written(session);
    ye_sleep_until(session->until);
    return done;
}

static bool act(ye_session *session, const void *context, ye_failure *failure)
{
    const ye_task *task = context;
    if (task->word == YE_COMMIT && session->status == 'T')
        return act_at_price(session, task, failure);
    if (task->word != YE_NO_WORD)
        return ye_transaction_word(session, task->word, failure);
    if (ye_is_scheme(task->request->text))
        return run_scheme(session, task, failure);
    return act_at_price(session, task, failure);
}

static bool run(ye_session *session, ye_task *task, ye_failure *failure)
{
    const ye_request *request = task->request;
    ye_deed deed = {.text = request->text,
                    .commits = task->word == YE_COMMIT && session->status == 'T',
                    .act = act,
                    .context = task};
    if (task->word != YE_NO_WORD)
        return ye_strike(session, &deed, failure);
    ye_cost_compile(session, request->text);
    if (!ye_compile(request->text, &session->endpoint->options, &session->settings, &session->known,
                    &task->compiled, failure))
        return false;
    if (request->unusable != NULL)
        return ye_fail(failure, YE_BAD_REQUEST, 0, "%s", request->unusable);
    deed.commits = session->status == 'I' && task->compiled.statement != NULL &&
                   target_of(task->compiled.statement) != NULL;
    if (task->compiled.tag == NULL)
        return ye_strike(session, &deed, failure);
    answer_here(&task->compiled, request->bind != NULL, &session->out);
    return true;
}

static void tell(ye_session *session, const ye_failure *failure)
{
    atomic_fetch_add(&session->endpoint->counters.failures, 1);
    if (failure->status == YE_CANCELLED && atomic_load(&session->cancelled)) {
        ye_transaction_cancelled(session);
        ye_cancelled_write(&session->out);
        return;
    }
    if (session->status == 'T')
        ye_transaction_end(session, 'E');
    ye_failure_write(failure, &session->out);
    if (ye_failure_drops(failure))
        ye_session_drop(session);
}

void ye_run(ye_session *session, const ye_request *request)
{
    ye_failure failure = {0};
    ye_task task = {.request = request, .word = ye_word_of(request->text)};
    atomic_store(&session->cancelled, false);
    session->begun = ye_now();
    if (task.word == YE_NO_WORD && session->status == 'E')
        ye_error_write(&session->out, YE_ABORTED_TRANSACTION);
    else if (!run(session, &task, &failure))
        tell(session, &failure);
    ye_compiled_free(&task.compiled);
    session->shown = session->status;
}
