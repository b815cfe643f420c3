#include "proxy/client/standing/names.h"

#include "protocol/frontend.h"
#include "proxy/client/core/session.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/passthrough_writes.h"
#include "rewrite/hash/table.h"
#include "rewrite/lex/executed.h"
#include "rewrite/statement/script/script.h"

#include <stdlib.h>
#include <string.h>

/* Writes a Parse with the types that the statement had when it was prepared here. */
static void write_parse(pgw_slice name, const px_plan *plan, pgw_buf *out)
{
    pgw_arena arena = {0};
    size_t count;
    const uint32_t *types = px_plan_types(plan, &count, &arena);
    pgw_certainly(pgw_write_parse(name, plan->rewritten, types, count, out));
    pgw_arena_free(&arena);
}

/* Prepares on the link a statement that was prepared here, or on a link that was lost. Closes it
 * first: a Close that the server skipped behind an error has left it there, and a Close of an
 * unknown name succeeds. */
static px_reply *prepare(px_session *session, px_statement *statement)
{
    pgw_buf out = {0};
    const px_plan *plan = statement->plan;
    pgw_write_close('S', pgw_slice_str(statement->name), &out);
    px_reply *closed = px_replies_push(&session->pending.replies, PX_REPLY_CLOSE);
    closed->swallow = closed->silent = true;
    if (plan == NULL)
        pgw_buf_add_slice(&out, pgw_slice_buf(&statement->parse));
    else
        write_parse(pgw_slice_str(statement->name), plan, &out);
    px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_PARSE);
    reply->swallow = true;
    reply->plan = statement->plan;
    if (reply->plan != NULL)
        px_plan_take(reply->plan);
    px_reply_records(&session->pending.replies, reply, statement->name);
    px_statements_move(&session->names.statements, statement, true);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    return reply;
}

static px_statement *find_away(px_session *session, pgw_slice name)
{
    if (px_statements_away(&session->names.statements) == NULL)
        return NULL;
    px_statement *statement = px_statements_find(&session->names.statements, name);
    bool away =
        statement != NULL &&
        (!px_statements_on_link(&session->names.statements, statement) || statement->raw_parse) &&
        (statement->plan != NULL || statement->parse.len > 0);
    return away ? statement : NULL;
}

void px_names_prepare(px_session *session, pgw_slice name)
{
    px_statement *statement = find_away(session, name);
    if (statement == NULL)
        return;
    prepare(session, statement);
    px_own_open_group(&session->own);
}

void px_names_claim(px_session *session, pgw_slice name)
{
    if (!px_names_is_raw_parse(session, name))
        px_names_prepare(session, name);
}

bool px_names_is_raw_parse(const px_session *session, pgw_slice name)
{
    const px_statements *statements = &session->names.statements;
    const px_statement *statement =
        px_statements_away(statements) != NULL ? px_statements_find(statements, name) : NULL;
    return statement != NULL && px_statements_is_raw_parse(statements, statement);
}

static void push_unseen(px_session *session, px_reply_kind kind)
{
    px_reply *reply = px_replies_push(&session->pending.replies, kind);
    reply->swallow = true;
    /* Within a group the answer may be the error that ends it. */
    reply->silent = !session->own.unsynced;
}

/* Parses a statement by another name first: if the server refuses it, all behind this is skipped,
 * and the statement that it has stays. */
static void try_parse(px_session *session, const px_statement *statement)
{
    const pgw_slice name = PGW_LITERAL("keyspread plain");
    pgw_arena arena = {0};
    pgw_buf out = {0};
    pgw_parse parse;
    if (pgw_parse_decode(
            (pgw_slice){statement->parse.ptr + PGW_HEADER, statement->parse.len - PGW_HEADER},
            &parse)) {
        uint32_t *types = pgw_arena_alloc(&arena, parse.type_count * sizeof *types);
        for (size_t i = 0; i < parse.type_count; i++)
            types[i] = pgw_parse_type(&parse, i);
        pgw_write_close('S', name, &out);
        pgw_certainly(pgw_write_parse(name, parse.query, types, parse.type_count, &out));
        pgw_write_close('S', name, &out);
        push_unseen(session, PX_REPLY_CLOSE);
        push_unseen(session, PX_REPLY_PARSE);
        push_unseen(session, PX_REPLY_CLOSE);
        px_session_send(session, &out);
    }
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* Prepares with a Sync of its own, and without showing an error, a statement that SQL names. In a
 * group that goes on its error is that of all that stands behind it. */
static void prepare_apart(px_session *session, pgw_slice name)
{
    px_statement *statement = find_away(session, name);
    bool failed = session->own.status == 'E' && session->own.unsynced;
    if (statement == NULL || failed || px_session_aborted(session))
        return; /* a failed transaction neither prepares nor runs anything */
    if (statement->sql_execute)
        try_parse(session, statement);
    prepare(session, statement)->silent = !session->own.unsynced;
    if (session->own.unsynced)
        return;
    pgw_buf out = {0};
    pgw_write_sync(&out);
    px_replies_push(&session->pending.replies, PX_REPLY_SYNC)->swallow = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

/* Prepares a statement whose name must clash or be dropped there; a draft takes the name as well.
 */
static void prepare_taken(px_session *session, pgw_slice name)
{
    if (!px_names_is_raw_parse(session, name))
        prepare_apart(session, name);
}

void px_names_of_script(px_session *session, const rw_script *script)
{
    if ((script->effects & (RW_EFFECT_PREPARE | RW_EFFECT_DEALLOCATE)) == 0)
        return;
    for (size_t i = 0; i < script->count; i++)
        if (script->statements[i].effects & (RW_EFFECT_PREPARE | RW_EFFECT_DEALLOCATE))
            prepare_taken(session, script->statements[i].name);
}

bool px_names_may_execute(const px_session *session, pgw_slice text)
{
    return (px_statements_away(&session->names.statements) != NULL || session->known.lookup_bind ||
            px_passthrough_writes_may(session) || px_state_may_move(session)) &&
           rw_text_mentions(text, "execute");
}

void px_names_forget_lookups(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (statement == NULL || statement->lookups == NULL || statement->passthrough.changes_key)
        return;
    px_lookups *lookups = statement->lookups;
    pgw_buf plain = {0};
    statement->passthrough.outlived = statement->passthrough.outlived || lookups->otherwise != NULL;
    /* The plain text takes parameters of the same types, though keys may have others by now. */
    lookups->retyped = lookups->retyped || !lookups->sql_execute;
    px_lookups_parse(lookups, name, lookups->plain, &plain);
    statement->sql_execute = lookups->sql_execute;
    px_statements_forget_lookups(&session->names.statements, statement, pgw_slice_buf(&plain));
    px_statements_move(&session->names.statements, statement, false);
    pgw_buf_free(&plain);
}

static bool is_sql_execute(const px_session *session, pgw_slice name)
{
    const px_statement *statement = px_statements_find(&session->names.statements, name);
    return statement != NULL && statement->lookups != NULL && statement->lookups->sql_execute;
}

void px_names_of_execute(px_session *session, pgw_slice text)
{
    pgw_arena arena = {0};
    pgw_slice name;
    rw_executed executed = rw_executed_in(text, session->who.identity->env.conforming);
    while (rw_executed_next(&executed, &arena, &name)) {
        /* EXECUTE gives only the parameters that the client knows of. */
        if (!is_sql_execute(session, name))
            px_names_forget_lookups(session, name);
        prepare_apart(session, name);
    }
    pgw_arena_free(&arena);
}

void px_names_close_unsynced(px_session *session, pgw_slice name)
{
    pgw_buf out = {0};
    pgw_write_close('S', name, &out);
    px_replies_push(&session->pending.replies, PX_REPLY_CLOSE)->swallow = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
    px_own_open_group(&session->own);
}

void px_names_close(px_session *session, pgw_slice name)
{
    pgw_buf out = {0};
    static const px_reply_kind kinds[] = {PX_REPLY_CLOSE, PX_REPLY_SYNC};
    pgw_write_close('S', name, &out);
    pgw_write_sync(&out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        px_reply *reply = px_replies_push(&session->pending.replies, kinds[i]);
        reply->swallow = reply->silent = true;
    }
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

/* Whether nothing is owed and no group is open, as between two statements of a transaction. */
static bool is_between(const px_session *session)
{
    return px_replies_are_silent(&session->pending.replies) && !session->own.unsynced &&
           session->hand.streaming == 0;
}

void px_names_drop_unnamed(px_session *session)
{
    const pgw_slice unnamed = PGW_LITERAL("");
    const px_statement *ours = px_statements_find(&session->names.statements, unnamed);
    bool on_link = session->names.unnamed_on_link ||
                   (ours != NULL && px_statements_on_link(&session->names.statements, ours));
    if (on_link && session->own.ready && is_between(session))
        px_names_close(session, unnamed);
    else if (on_link && session->own.ready)
        px_names_close_unsynced(session, unnamed);
    px_prepared_names_set_unnamed(&session->names, false);
    px_statements_remove(&session->names.statements, unnamed);
}

void px_names_end(px_session *session, pgw_slice parse)
{
    px_statements *statements = &session->names.statements;
    const px_client_message decoded = px_client_message_of('P', parse);
    px_statement *statement = px_statements_put(statements, decoded.as.parse.name, NULL, false);
    px_statements_keep(statements, statement, parse);
    statement->passthrough =
        (px_passthrough){.effects = RW_EFFECT_TRANSACTION, .generation = session->known.generation};
}

void px_names_forget_unnamed(px_session *session)
{
    px_statements *statements = &session->names.statements;
    const px_statement *ours = px_statements_find(statements, PGW_LITERAL(""));
    if (ours != NULL && px_statements_on_link(statements, ours))
        px_prepared_names_set_unnamed(&session->names, true);
    px_statements_remove(statements, PGW_LITERAL(""));
}

px_reply *px_names_parse(px_session *session, pgw_slice name, px_plan *plan, bool swallow)
{
    pgw_buf out = {0};
    pgw_certainly(
        pgw_write_parse(name, plan->rewritten, plan->declared, plan->declared_count, &out));
    px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_PARSE);
    reply->swallow = swallow;
    reply->plan = plan;
    px_plan_take(plan);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    px_own_open_group(&session->own);
    return reply;
}

void px_names_lookup_bind(px_session *session, px_reply *reply, pgw_slice name, pgw_slice message)
{
    px_statements *statements = &session->names.statements;
    if (name.len > 0 && px_statements_find(statements, name) != NULL)
        return; /* the server refuses a name that is taken */
    px_reply_renames(&session->pending.replies, reply, statements, name);
    px_statement *statement = px_statements_put(statements, name, NULL, true);
    if (message.len <= PX_KEPT_PARSE)
        px_statements_keep(statements, statement, message);
    statement->passthrough = session->known.parsed;
    px_statements_look_up(statements, statement, session->names.lookups);
    if (name.len == 0)
        px_prepared_names_set_unnamed(&session->names, true);
}

void px_names_note_lookup_bind(px_session *session)
{
    session->known.lookup_bind = true;
}

void px_names_sql_execute(px_session *session, const px_text *text, size_t i)
{
    const rw_statement *prepare = &text->script.statements[i];
    px_statements *statements = &session->names.statements;
    px_statement *statement = px_statements_put(statements, prepare->name, NULL, true);
    pgw_slice written = rw_statement_text(prepare, text->text);
    px_passthrough_writes_note(session, &statement->passthrough, prepare->effects, written,
                               text->catalog);
    px_state_note_prepare(session, &statement->passthrough, written, text->catalog);
    if (statement->passthrough.stores && px_statements_have_room(statements, written.len))
        px_statements_keep_prepare(statements, statement, written);
    if (prepare->prepares == NULL || text->conditions[i].lookup_count == 0 || !text->remembered)
        return;
    px_lookups *lookups =
        px_lookups_kept(prepare, &text->conditions[i], text->catalog, text->script.utf8);
    px_statements_look_up(statements, statement, lookups);
    px_lookups_drop(lookups);
    px_names_note_lookup_bind(session);
}

void px_names_read(px_session *session, px_reads *reads)
{
    if (reads == NULL && session->names.orders == NULL)
        return;
    px_orders *orders = px_prepared_names_orders(&session->names);
    px_reads_free(orders->parsed);
    orders->parsed = reads;
}

/* Takes what the Parse at hand reads out of the session's orders; the caller owns it. */
static px_reads *take_reads(px_session *session)
{
    px_orders *orders = session->names.orders;
    px_reads *reads = orders != NULL ? orders->parsed : NULL;
    if (reads != NULL)
        orders->parsed = NULL;
    return reads;
}

const px_reads *px_names_reads(const px_session *session, const px_statement *statement,
                               pgw_slice name)
{
    if (statement != NULL)
        return statement->reads;
    const px_orders *orders = session->names.orders;
    return name.len == 0 && orders != NULL ? orders->unnamed : NULL;
}

/* Gives the unnamed statement what the Parse at hand reads. */
static void read_unnamed(px_session *session)
{
    if (session->names.orders == NULL)
        return;
    px_reads_free(session->names.orders->unnamed);
    session->names.orders->unnamed = take_reads(session);
}

void px_names_prepared(px_session *session)
{
    px_prepared_names *names = &session->names;
    const px_passthrough *was = &px_prepared_names_orders(&session->names)->prepared;
    pgw_slice text = pgw_slice_buf(&px_prepared_names_orders(&session->names)->prepared_text);
    px_statement *statement =
        px_statements_put(&names->statements, pgw_slice_str(names->prepares), NULL, true);
    statement->passthrough = (px_passthrough){.stores = was->stores,
                                              .epoch = was->epoch,
                                              .config = was->config,
                                              .moving = was->moving,
                                              .generation = was->generation};
    if (was->stores && text.len > 0 && px_statements_have_room(&names->statements, text.len))
        px_statements_keep_prepare(&names->statements, statement, text);
    px_prepared_names_end_prepare(names);
}

/* Keeps the Parse of an unnamed statement that executes others: it is looked at again when it is
 * bound. */
static void keep_executed(px_session *session, pgw_slice message)
{
    px_passthrough *parsed = &session->known.parsed;
    const pgw_slice text = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    parsed->executes = !parsed->inert && rw_text_mentions(text, "execute");
    if (session->names.orders != NULL)
        pgw_buf_clear(&session->names.orders->executed);
    if (parsed->executes && message.len <= PX_KEPT_PARSE)
        pgw_buf_add_slice(&px_prepared_names_orders(&session->names)->executed, message);
}

pgw_slice px_names_executed(const px_session *session, pgw_slice name)
{
    const px_statement *statement = px_statements_find(&session->names.statements, name);
    const pgw_buf none = {0};
    const px_orders *orders = session->names.orders;
    const pgw_buf *unnamed = orders != NULL ? &orders->executed : &none;
    return px_statements_kept_text(statement != NULL ? &statement->parse : unnamed);
}

void px_names_passthrough(px_session *session, px_reply *reply, pgw_slice name, pgw_slice message)
{
    keep_executed(session, message);
    bool known = px_statements_find(&session->names.statements, name) != NULL;
    if (name.len == 0) {
        if (known)
            px_reply_renames(&session->pending.replies, reply, &session->names.statements, name);
        px_prepared_names_set_unnamed(&session->names, true);
        session->known.unnamed = session->known.parsed;
        read_unnamed(session);
    } else if (!known) {
        px_reply_renames(&session->pending.replies, reply, &session->names.statements, name);
        px_statement *statement = px_statements_put(&session->names.statements, name, NULL, true);
        if (message.len <= PX_KEPT_PARSE &&
            !px_statements_are_many(&session->names.statements,
                                    session->worker->config->limits.prepared_bytes))
            px_statements_keep(&session->names.statements, statement, message);
        statement->passthrough = session->known.parsed;
        px_reads *reads = take_reads(session);
        if (reads != NULL)
            px_statements_read(&session->names.statements, statement, reads);
    }
}
