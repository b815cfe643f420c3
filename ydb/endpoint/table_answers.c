#include "ydb/endpoint/table_answers.h"

#include "ydb/endpoint/runs.h"
#include "ydb/plain/table_answer.h"

static const rw_table_question *question_of(px_ydb_session *session, const rw_catalog *catalog,
                                            const pgw_statement *statement,
                                            rw_known_value values[RW_KNOWN_VALUES])
{
    if (statement->piece.command != PGW_COMMAND_READ)
        return NULL;
    return rw_table_question_read(statement->piece.text, catalog, &session->arena, values);
}

bool px_ydb_tables_analyze(px_ydb_session *session, const pgw_statement *statement)
{
    rw_known_value values[RW_KNOWN_VALUES];
    const rw_catalog catalog = px_ydb_catalog(session);
    const rw_table_question *question = question_of(session, &catalog, statement, values);
    if (question == NULL)
        return false;
    pgw_buf_clear(&session->columns);
    rw_table_columns(question, &session->columns);
    pgw_server_analyzed(session->server, statement->types, statement->type_count,
                        pgw_slice_buf(&session->columns));
    return true;
}

bool px_ydb_tables_run(px_ydb_session *session, pgw_portal *portal)
{
    rw_said said;
    rw_known_value values[RW_KNOWN_VALUES];
    const rw_catalog catalog = px_ydb_catalog(session);
    const rw_table_question *question = question_of(session, &catalog, portal->statement, values);
    if (question == NULL)
        return false;
    pgw_buf_clear(&session->columns);
    rw_table_columns(question, &session->columns);
    rw_table_answer(question, values, &catalog, &session->arena, &said);
    const px_ydb_made made = {pgw_slice_buf(&session->columns), said.cells, said.rows, said.width,
                              said.tag};
    px_ydb_runs_made(session, portal, &made);
    return true;
}
