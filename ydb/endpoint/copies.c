#include "ydb/endpoint/copies.h"

#include "rewrite/statement/script/syntax.h"
#include "ydb/endpoint/analysis.h"
#include "ydb/endpoint/runs.h"
#include "ydb/endpoint/text_most.h"
#include "ydb/plain/copied.h"
#include "ydb/plain/copied_out.h"

enum { ALL = 16 << 20 }; /* most bytes of the INSERTs of one COPY, which are one transaction */

void px_ydb_copies_tidy(px_ydb_session *session)
{
    bool wanted = pgw_server_is_copying(session->server) ||
                  pgw_server_next(session->server).ask == PGW_ASK_STORE;
    if (session->copied == NULL || wanted)
        return;
    rw_copied_free(session->copied);
    session->copied = NULL;
}

/* --- the statement --- */

/* Finds the table of a COPY. False: YDB is being asked for it, or there is none, which was told. */
static bool find_table(px_ydb_session *session, const PgQuery__RangeVar *named,
                       const rw_table **table)
{
    const rw_catalog ours = px_ydb_catalog(session);
    uint64_t now = px_worker_now(session->link->worker);
    pgw_slice schema = pgw_slice_str(named->schemaname), name = pgw_slice_str(named->relname);
    *table = rw_catalog_find(&ours, schema, name);
    if (*table == NULL)
        *table = rw_catalog_find(px_ydb_learned_now(&session->learned, now), schema, name);
    if (*table == NULL) {
        rw_relation *relation = pgw_arena_alloc(&session->arena, sizeof *relation);
        relation->schema = pgw_arena_copy(&session->arena, schema).ptr;
        relation->name = pgw_arena_copy(&session->arena, name).ptr;
        px_ydb_learn(session, relation);
        return false;
    }
    if ((*table)->column_count > 0)
        return true;
    pgw_error error;
    pgw_fail(&error, "42P01", "relation \"%s\" does not exist", named->relname);
    pgw_server_failed(session->server, &error);
    return false;
}

static void begin(px_ydb_session *session, const PgQuery__CopyStmt *copy)
{
    pgw_error error;
    const rw_table *table;
    const rw_copied_limits limits = {
        .env = &px_plain_env, .most = px_ydb_text_most(px_ydb_config(session)), .all = ALL};
    if (!find_table(session, copy->relation, &table))
        return;
    session->copied = rw_copied_new(copy, table, &limits, &error);
    if (session->copied == NULL)
        pgw_server_failed(session->server, &error);
    else if (!pgw_server_copy_in(session->server, rw_copied_is_binary(session->copied),
                                 rw_copied_columns(session->copied)))
        px_ydb_copies_tidy(session);
}

bool px_ydb_copies_run(px_ydb_session *session, const pgw_portal *portal)
{
    pgw_error error;
    rw_syntax syntax;
    pgw_slice text = portal->statement->piece.text;
    if (!rw_is_copy(text))
        return false;
    if (!rw_syntax_parse(text, &px_plain_env, &session->arena, &syntax, &error)) {
        pgw_server_failed(session->server, &error);
        return true;
    }
    const PgQuery__Node *node = syntax.statement;
    bool from = node->node_case == PG_QUERY__NODE__NODE_COPY_STMT && node->copy_stmt->is_from;
    if (from)
        begin(session, node->copy_stmt);
    rw_syntax_free(&syntax);
    return from;
}

/* --- its data --- */

static void fail(px_ydb_session *session)
{
    pgw_slice fields;
    const pgw_error *error = rw_copied_error(session->copied, &fields);
    pgw_server_failed_with(session->server, error, fields);
    px_ydb_copies_tidy(session);
}

void px_ydb_copies_put(px_ydb_session *session, pgw_slice bytes)
{
    if (rw_copied_put(session->copied, bytes))
        pgw_server_done(session->server);
    else
        fail(session);
}

void px_ydb_copies_store(px_ydb_session *session, pgw_portal *portal)
{
    if (!rw_copied_end(session->copied)) {
        fail(session);
        return;
    }
    rw_program *program = rw_copied_program(session->copied);
    rw_copied_free(session->copied);
    session->copied = NULL;
    if (program == NULL) {
        pgw_server_completed(session->server, "COPY 0");
        return;
    }
    px_ydb_run *run = px_ydb_run_new(session, portal);
    run->program = program;
    session->running = run;
    px_runner_program(session->runner, program, px_ydb_timeout(session));
}

bool px_ydb_copies_cancel(px_ydb_session *session)
{
    pgw_error error;
    if (!pgw_server_is_copying(session->server) ||
        pgw_server_next(session->server).ask != PGW_ASK_MESSAGE)
        return false;
    pgw_fail(&error, "57014", "canceling statement due to user request");
    pgw_server_failed(session->server, &error);
    px_ydb_copies_tidy(session);
    return true;
}

/* --- to the client --- */

bool px_ydb_copies_out(px_ydb_run *run, const pgw_reading *reading, pgw_slice *text)
{
    if (!rw_is_copy(*text))
        return true;
    if (run->portal->statement->piece.command != PGW_COMMAND_READ)
        return pgw_fail(reading->error, "0A000",
                        "COPY on YDB: a query that writes cannot be copied");
    run->out = rw_copied_out_new(*text, reading);
    if (run->out != NULL)
        *text = rw_copied_out_query(run->out);
    return run->out != NULL;
}
