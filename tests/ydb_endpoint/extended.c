#include "tests/ydb_endpoint/extended.h"

#include "tests/ydb_endpoint/bind.h"
#include "tests/ydb_endpoint/cost.h"
#include "tests/ydb_endpoint/names.h"
#include "tests/ydb_endpoint/run.h"
#include "tests/ydb_endpoint/transaction.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "protocol/types.h"

#include <ctype.h>

static pgw_slice text_of(const ye_named *named)
{
    return (pgw_slice){named->text.ptr, named->text.len - 1};
}

static bool is_blank(pgw_slice text)
{
    while (text.len > 0 && isspace((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text.len == 0;
}

/* --- Parse --- */

/* "a state where the server answers locally: ParseComplete is sent but the stored statement is not
 * replaced" (1.4.2). In a failed transaction the Parse alone is what ends it. */
static bool is_answered_here(ye_session *session, ye_word word)
{
    if (word == YE_BEGIN)
        return session->status == 'T';
    if (session->status == 'T')
        return false;
    session->status = 'I';
    return true;
}

/* "ParameterDescription … usually unknown" (1.4.6). */
static void take_types(ye_named *statement, pgw_slice body, bool inferred)
{
    pgw_slice types;
    if (!pgw_parameter_description_decode(body, &statement->parameters, &types) ||
        statement->parameters == 0)
        return;
    pgw_buf_add_i16(&statement->types, (int16_t)statement->parameters);
    for (size_t i = 0; i < statement->parameters; i++)
        pgw_buf_add_i32(&statement->types, inferred ? (int32_t)pgw_type_at(types, i) : PGW_UNKNOWN);
}

/* "10,500 params fail; 420 ok" (2 VALUES handling). */
static bool check_parameters(const ye_session *session, const ye_named *statement,
                             ye_failure *failure)
{
    const long most = session->endpoint->options.max_parameters;
    return most == 0 || statement->parameters <= (size_t)most ||
           ye_fail(failure, YE_BAD_REQUEST, 0, "Too many parameters: %zu, the limit is %ld",
                   statement->parameters, most);
}

/* The store is asked aside, so that what it refuses leaves the transaction alone. */
static bool describe(ye_session *session, ye_named *statement, ye_failure *failure)
{
    ye_store *store = &session->aside;
    pgw_error error = PGW_ERROR_NONE;
    pgw_slice body, none = {"", 0};
    char type = 0;
    pgw_certainly(pgw_write_parse(none, text_of(statement), NULL, 0, &store->out));
    pgw_write_describe('S', none, &store->out);
    pgw_write_sync(&store->out);
    bool alive = ye_store_send(store);
    while (alive && type != 'Z') {
        alive = ye_store_next(store, &type, &body);
        if (alive && type == 'E')
            pgw_error_read(body, &error);
        if (alive && type == 't')
            take_types(statement, body, session->endpoint->options.inferred_parameters);
        if (alive && type == 'T')
            pgw_buf_add_slice(&statement->row, body);
    }
    if (!alive)
        pgw_fail(&error, "08006", "the store's link is lost");
    if (error.sqlstate[0] != '\0')
        ye_failure_of(&error, &session->endpoint->options, failure);
    return error.sqlstate[0] == '\0' && check_parameters(session, statement, failure);
}

static bool explain(ye_session *session, ye_named *statement, ye_failure *failure)
{
    ye_compiled compiled;
    session->begun = ye_now();
    ye_cost_compile(session, text_of(statement));
    bool taken = ye_compile(text_of(statement), &session->endpoint->options, &session->settings,
                            NULL, &compiled, failure);
    if (taken && compiled.shown != NULL)
        ye_shown_row(compiled.shown, &statement->row);
    if (taken && compiled.tag == NULL)
        taken = ye_open_aside(session, failure) && describe(session, statement, failure);
    ye_compiled_free(&compiled);
    return taken;
}

static void parse(ye_session *session, const pgw_parse *message)
{
    ye_failure failure = {0};
    const ye_word word = ye_word_of(message->query);
    if (session->status == 'E' && (word == YE_NO_WORD || word == YE_BEGIN)) {
        ye_error_write(&session->out, YE_ABORTED_TRANSACTION);
        return;
    }
    if (word == YE_NO_WORD || !is_answered_here(session, word)) {
        ye_named *statement = ye_named_new(message->name, message->query);
        if (word == YE_NO_WORD && !explain(session, statement, &failure)) {
            ye_named_free(statement);
            ye_failure_write(&failure, &session->out);
            if (ye_failure_drops(&failure))
                ye_session_drop(session);
            return;
        }
        ye_named_put(&session->statements, statement);
    }
    pgw_write_parse_complete(&session->out);
}

/* --- the others --- */

static bool bind(ye_session *session, pgw_slice body)
{
    ye_bind message;
    if (!ye_bind_read(body, &message))
        return false;
    const ye_named *statement = ye_named_find(session->statements, message.statement);
    if (statement == NULL) {
        ye_error_write(&session->out, "Parsed statement \"%.*s\" not found",
                       (int)message.statement.len, message.statement.ptr);
        return true;
    }
    ye_named *portal = ye_named_new(message.portal, text_of(statement));
    pgw_buf_add_slice(&portal->row, pgw_slice_buf(&statement->row));
    ye_bind_write(&message, statement->parameters, session->endpoint->options.inferred_parameters,
                  portal);
    ye_named_put(&session->portals, portal);
    pgw_write_bind_complete(&session->out);
    return true;
}

static void write_row(const ye_named *named, pgw_buf *out)
{
    if (named->row.len > 0)
        ye_write_columns(pgw_slice_buf(&named->row), out);
    else
        pgw_write_no_data(out);
}

static void describe_statement(ye_session *session, pgw_slice name)
{
    const ye_named *statement = ye_named_find(session->statements, name);
    if (statement == NULL) {
        ye_error_write(&session->out, "Parsed statement \"%.*s\" not found", (int)name.len,
                       name.ptr);
        return;
    }
    if (statement->types.len > 0) {
        size_t begun = pgw_begin(&session->out, 't');
        pgw_buf_add_slice(&session->out, pgw_slice_buf(&statement->types));
        pgw_certainly(pgw_end(&session->out, begun));
    }
    write_row(statement, &session->out);
}

static const ye_named *find_portal(ye_session *session, pgw_slice name)
{
    const ye_named *portal = ye_named_find(session->portals, name);
    if (portal == NULL)
        ye_error_write(&session->out, "Portal \"%.*s\" not found", (int)name.len, name.ptr);
    return portal;
}

static bool describe_target(ye_session *session, pgw_slice body)
{
    pgw_target target;
    if (!pgw_target_decode(body, &target))
        return false;
    if (target.kind == 'S') {
        describe_statement(session, target.name);
        return true;
    }
    const ye_named *portal = find_portal(session, target.name);
    if (portal != NULL)
        write_row(portal, &session->out);
    return true;
}

/* "MaxRows ignored, never PortalSuspended" (1.3). */
static bool execute(ye_session *session, pgw_slice body)
{
    pgw_execute message;
    if (!pgw_execute_decode(body, &message))
        return false;
    const ye_named *portal = find_portal(session, message.portal);
    if (portal == NULL)
        return true;
    if (is_blank(text_of(portal)))
        pgw_end_small(&session->out, pgw_begin(&session->out, 'I'));
    else
        ye_run(session, &(ye_request){.text = text_of(portal),
                                      .bind = &portal->bind,
                                      .unusable = portal->unusable[0] ? portal->unusable : NULL});
    return true;
}

static bool close_target(ye_session *session, pgw_slice body)
{
    pgw_target target;
    if (!pgw_target_decode(body, &target))
        return false;
    ye_named_remove(target.kind == 'S' ? &session->statements : &session->portals, target.name);
    pgw_write_close_complete(&session->out);
    return true;
}

bool ye_extended(ye_session *session, char type, pgw_slice body)
{
    pgw_parse message;
    switch (type) {
    case 'P':
        if (!pgw_parse_decode(body, &message))
            return false;
        parse(session, &message);
        return true;
    case 'B':
        return bind(session, body);
    case 'D':
        return describe_target(session, body);
    case 'E':
        return execute(session, body);
    default:
        return close_target(session, body);
    }
}

void ye_extended_free(ye_session *session)
{
    while (session->statements != NULL)
        ye_named_remove(&session->statements, pgw_slice_str(session->statements->name));
    while (session->portals != NULL)
        ye_named_remove(&session->portals, pgw_slice_str(session->portals->name));
}
