#include "ydb/endpoint/type_answers.h"

#include "config/config.h"
#include "ydb/endpoint/runs.h"
#include "ydb/endpoint/wording.h"
#include "ydb/endpoint/text_most.h"
#include "rewrite/lex/lexer.h"
#include "ydb/plain/type_answer.h"

#include <string.h>

static const rw_type_question *question_of(px_ydb_session *session, const pgw_statement *statement,
                                           rw_known_value values[RW_KNOWN_VALUES])
{
    if (statement->piece.command != PGW_COMMAND_READ)
        return NULL;
    return rw_type_question_read(statement->piece.text, &session->arena, values);
}

/* The types of a question's parameters: as declared, else as the question says. */
static size_t parameters(px_ydb_session *session, const pgw_statement *statement,
                         const rw_type_question *question,
                         const rw_known_value values[RW_KNOWN_VALUES], uint32_t **types)
{
    size_t declared = statement->type_count;
    size_t used = rw_highest_parameter(statement->piece.text, px_plain_env.conforming);
    size_t count = used > declared ? used : declared;
    *types = pgw_arena_alloc(&session->arena, (count + 1) * sizeof **types);
    if (declared > 0)
        memcpy(*types, statement->types, declared * sizeof **types);
    rw_type_parameters(question, values, *types, count);
    return count;
}

bool px_ydb_types_analyze(px_ydb_session *session, const pgw_statement *statement)
{
    uint32_t *types;
    rw_known_value values[RW_KNOWN_VALUES];
    const rw_type_question *question = question_of(session, statement, values);
    if (question == NULL)
        return false;
    size_t count = parameters(session, statement, question, values, &types);
    pgw_buf_clear(&session->columns);
    rw_type_columns(question, &session->columns);
    pgw_server_analyzed(session->server, types, count, pgw_slice_buf(&session->columns));
    return true;
}

static bool answer(px_ydb_session *session, const pgw_portal *portal, const pgw_reading *reading,
                   rw_said *said)
{
    pgw_slice text;
    rw_known_value values[RW_KNOWN_VALUES];
    size_t most = px_ydb_text_most(px_ydb_config(session));
    if (!px_ydb_word(portal, most, reading, &text))
        return false;
    const rw_type_question *question = rw_type_question_read(text, &session->arena, values);
    if (question == NULL)
        return pgw_fail(reading->error, "0A000", "types are asked for with constants only");
    pgw_buf_clear(&session->columns);
    rw_type_columns(question, &session->columns);
    return rw_type_answer(question, values, reading, said);
}

bool px_ydb_types_run(px_ydb_session *session, pgw_portal *portal)
{
    rw_said said;
    pgw_error error;
    rw_known_value values[RW_KNOWN_VALUES];
    const pgw_reading reading = px_ydb_reading(session, &error);
    if (question_of(session, portal->statement, values) == NULL)
        return false;
    if (answer(session, portal, &reading, &said)) {
        const px_ydb_made made = {pgw_slice_buf(&session->columns), said.cells, said.rows,
                                  said.width, said.tag};
        px_ydb_runs_made(session, portal, &made);
    } else {
        pgw_server_failed(session->server, &error);
    }
    return true;
}
