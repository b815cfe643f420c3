#include "ydb/endpoint/analysis.h"

#include "config/config.h"
#include "proxy/backend/state/state.h"
#include "ydb/endpoint/answers.h"
#include "ydb/endpoint/hashing.h"
#include "ydb/endpoint/table_answers.h"
#include "ydb/endpoint/type_answers.h"
#include "ydb/endpoint/wording.h"
#include "ydb/endpoint/text_most.h"
#include "ydb/plain/copied.h"
#include "ydb/plain/returning.h"
static void analyzed(px_ydb_session *session)
{
    pgw_server_analyzed(session->server, session->types, session->type_count,
                        pgw_slice_buf(&session->columns));
}

/* Whether one of the statement's parameters has no declared type. */
static bool is_open(const pgw_statement *statement, const rw_inferred *inferred)
{
    for (uint32_t i = 1; i <= inferred->count; i++)
        if (!rw_is_declared((rw_declared){statement->types, statement->type_count}, i))
            return true;
    return false;
}

void px_ydb_learn(px_ydb_session *session, const rw_relation *relation)
{
    pgw_buf text = {0};
    px_ydb_learned_ask(relation, &text);
    session->learning = relation;
    pgw_buf_clear(&session->columns);
    px_runner_describe(session->runner, pgw_slice_buf(&text));
    pgw_buf_free(&text);
}

/* Asks YDB for the columns of a table that the statement's parameters need. False: none is needed.
 */
static bool learns(px_ydb_session *session, const pgw_statement *statement,
                   const rw_inferred *inferred)
{
    const rw_relation *lacks = px_ydb_learned_lacks(&session->learned, inferred->missing);
    if (lacks == NULL || !is_open(statement, inferred))
        return false;
    px_ydb_learn(session, lacks);
    return true;
}

bool px_ydb_learns_target(px_ydb_session *session, const pgw_portal *portal)
{
    pgw_error error;
    const pgw_reading reading = px_ydb_reading(session, &error);
    const rw_catalog catalog = px_ydb_catalog(session);
    if (portal->statement->piece.command != PGW_COMMAND_WRITE)
        return false;
    px_ydb_learned_now(&session->learned, px_worker_now(session->link->worker));
    const rw_relation *target =
        rw_returning_target(portal->statement->piece.text, &catalog, &reading);
    if (target == NULL || px_ydb_learned_lacks(&session->learned, target) == NULL)
        return false;
    px_ydb_learn(session, target);
    return true;
}

/* Describes a read by itself, and RETURNING by a query that has its columns. Other writes are not
 * described before they are run, which would cost a round trip. */
static void describe(px_ydb_session *session, const pgw_statement *statement, pgw_slice text)
{
    pgw_error error;
    const pgw_reading reading = px_ydb_reading(session, &error);
    pgw_slice query = text;
    if (statement->piece.command != PGW_COMMAND_READ && !rw_returning_query(text, &reading, &query))
        pgw_server_failed(session->server, &error);
    else if (query.len > 0)
        px_runner_describe(session->runner, query);
    else
        analyzed(session);
}

void px_ydb_analyze(px_ydb_session *session, const pgw_statement *statement)
{
    pgw_error error;
    pgw_reading reading = px_ydb_reading(session, &error);
    rw_catalog catalog = px_ydb_catalog(session);
    size_t most = px_ydb_text_most(px_ydb_config(session));
    rw_inferred inferred = {0};
    pgw_slice text;
    if (px_state_is_question(statement->piece.text)) {
        px_ydb_state_analyze(session, statement->piece.text);
        return;
    }
    if (rw_is_copy(statement->piece.text)) {
        pgw_server_analyzed(session->server, NULL, 0, PGW_LITERAL(""));
        return;
    }
    if (px_ydb_types_analyze(session, statement) || px_ydb_tables_analyze(session, statement))
        return;
    catalog.others = px_ydb_learned_now(&session->learned, px_worker_now(session->link->worker));
    pgw_buf_clear(&session->columns);
    if (!px_ydb_word_nulls(statement, &catalog, most, &reading, &inferred, &text)) {
        pgw_server_failed(session->server, &error);
        return;
    }
    if (px_ydb_is_about_settings(statement->piece.command)) {
        px_ydb_settings_analyze(session, statement, &inferred, &reading);
        return;
    }
    if (learns(session, statement, &inferred))
        return;
    session->types = inferred.types;
    session->type_count = inferred.count;
    if (statement->ordered && statement->piece.command == PGW_COMMAND_WRITE)
        text = px_ydb_hash_any(text, &catalog, &reading);
    describe(session, statement, text);
}

void px_ydb_learned_told(px_ydb_session *session)
{
    uint64_t now = px_worker_now(session->link->worker);
    px_ydb_learned_add(&session->learned, session->learning, pgw_slice_buf(&session->columns),
                       now + (uint64_t)px_ydb_config(session)->backend.catalog_s * 1000);
    session->learning = NULL;
}

void px_ydb_described(px_ydb_session *session)
{
    if (session->learning == NULL) {
        analyzed(session);
        return;
    }
    px_ydb_learned_told(session);
    px_ydb_analyze(session, pgw_server_next(session->server).statement);
}
