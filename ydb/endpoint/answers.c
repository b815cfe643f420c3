#include "ydb/endpoint/answers.h"

#include "config/config.h"
#include "protocol/backend.h"
#include "proxy/backend/state/state.h"
#include "ydb/endpoint/runs.h"
#include "ydb/endpoint/wording.h"
#include "ydb/endpoint/text_most.h"

const char *px_ydb_setting(const px_ydb_session *session, const char *name)
{
    pgw_slice value;
    bool known = session->variables != NULL &&
                 rw_variables_get(session->variables, pgw_slice_str(name), &value);
    return known ? value.ptr : NULL;
}

static const char *setting_of(void *data, const char *name)
{
    const char *value = px_ydb_setting(data, name);
    return value != NULL ? value : "";
}

void px_ydb_settle(px_ydb_session *session, bool keep)
{
    (keep ? rw_variables_commit : rw_variables_rollback)(session->variables);
}

bool px_ydb_is_about_settings(pgw_command command)
{
    return command == PGW_COMMAND_SESSION || command == PGW_COMMAND_DISCARD;
}

void px_ydb_settings_analyze(px_ydb_session *session, const pgw_statement *statement,
                             const rw_inferred *inferred, const pgw_reading *reading)
{
    rw_said said;
    if (rw_session_describe(session->variables, statement->piece.text, reading, &said))
        pgw_server_analyzed(session->server, inferred->types, inferred->count, said.columns);
    else
        pgw_server_failed(session->server, reading->error);
}

static void say(px_ydb_session *session, pgw_portal *portal, const rw_said *said)
{
    const px_ydb_made made = {said->columns, said->cells, said->rows, said->width, said->tag};
    if (said->warning.sqlstate[0] != '\0')
        pgw_notice_write(&said->warning, "WARNING", pgw_server_output(session->server));
    px_ydb_runs_made(session, portal, &made);
}

void px_ydb_settings_run(px_ydb_session *session, pgw_portal *portal)
{
    rw_said said;
    pgw_error error;
    pgw_slice text;
    pgw_reading reading = px_ydb_reading(session, &error);
    bool in_block = pgw_server_status(session->server) != 'I';
    size_t most = px_ydb_text_most(px_ydb_config(session));
    if (!px_ydb_word(portal, most, &reading, &text) ||
        !rw_session_run(session->variables, text, in_block, &reading, &said)) {
        pgw_server_failed(session->server, &error);
        return;
    }
    say(session, portal, &said);
}

static void add_changed(const px_ydb_session *session, const char *name, pgw_buf *out)
{
    if (rw_variables_differs(session->variables, pgw_slice_str(name)))
        pgw_buf_addf(out, "%s,", name);
}

/* The text in the session's arena; it is freed here. */
static pgw_slice kept(px_ydb_session *session, pgw_buf *text)
{
    pgw_slice slice = text->len > 0 ? pgw_arena_keep(&session->arena, text) : PGW_LITERAL("");
    pgw_buf_free(text);
    return slice;
}

/* The names of settings that the session has changed and that matter to its rows, in a batch, too;
 * no other setting that YDB's sessions may change does. */
static pgw_slice changed(px_ydb_session *session)
{
    pgw_buf names = {0};
    for (size_t i = 0; i < RW_TRACKED; i++)
        add_changed(session, rw_tracked[i], &names);
    add_changed(session, "default_transaction_read_only", &names);
    return kept(session, &names);
}

/* Values of keyspread's own settings. */
static pgw_slice own(px_ydb_session *session)
{
    pgw_buf values = {0};
    for (size_t i = 0; i < RW_OWN_SETTINGS; i++)
        pgw_buf_addf(&values, "%s%s", i > 0 ? "," : "", setting_of(session, rw_own[i]));
    return kept(session, &values);
}

/* Answers px_state_question() from the session's settings. */
static pgw_slice *answer_state(px_ydb_session *session, pgw_slice question)
{
    pgw_slice *cells = px_ydb_cells(session, px_state_cells(question));
    pgw_buf_clear(&session->columns);
    const px_state_source source = {setting_of, session, own(session), changed(session)};
    px_state_answer(question, &source, &session->columns, cells);
    return cells;
}

void px_ydb_state_run(px_ydb_session *session, pgw_portal *portal)
{
    const pgw_slice question = portal->statement->piece.text;
    const pgw_slice *cells = answer_state(session, question);
    const px_ydb_made made = {.columns = pgw_slice_buf(&session->columns),
                              .cells = cells,
                              .rows = 1,
                              .width = px_state_cells(question),
                              .tag = "SELECT 1"};
    px_ydb_runs_made(session, portal, &made);
}

void px_ydb_state_analyze(px_ydb_session *session, pgw_slice question)
{
    answer_state(session, question);
    pgw_server_analyzed(session->server, NULL, 0, pgw_slice_buf(&session->columns));
}
