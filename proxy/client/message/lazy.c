#include "proxy/client/message/lazy.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "protocol/value_out.h"
#include "proxy/batch/register.h"
#include "proxy/client/answer/ended.h"
#include "proxy/client/answer/outcome.h"
#include "proxy/client/answer/synthesized.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/standing/script.h"
#include "proxy/ingest/blockers.h"
#include "proxy/ingest/submit.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/returned.h"

#include <stdlib.h>
#include <string.h>

/* The name of the statement that each kept one is prepared as on the session's own link, in its
 * turn. */
#define KEPT PGW_LITERAL("keyspread kept")

/* ---- what is returned ---- */

/* Whether the values of all columns that it returns are known. */
static bool knows_rows(const rw_insert *insert, const rw_key *keys)
{
    for (size_t row = 0; row < insert->row_count; row++)
        for (size_t i = 0; i < insert->returned_count; i++) {
            size_t place = rw_place_in_key(insert->table, insert->returned[i].column);
            if (!keys[row].known[place] || keys[row].values[place].null)
                return false;
        }
    return true;
}

/* The rows that it returns, in the result formats of a Bind (pgw_bind). */
static void write_rows(const rw_insert *insert, const rw_key *keys, pgw_slice results, pgw_buf *out)
{
    size_t count = insert->returned_count;
    pgw_buf *cells = pgw_calloc(count + 1, sizeof *cells);
    pgw_slice *values = pgw_calloc(count + 1, sizeof *values);
    for (size_t row = 0; row < insert->row_count && count > 0; row++) {
        for (size_t i = 0; i < count; i++) {
            size_t place = rw_place_in_key(insert->table, insert->returned[i].column);
            pgw_buf_clear(&cells[i]);
            (pgw_result_format(results, i) == 0 ? pgw_value_out : pgw_value_send)(
                &keys[row].values[place], &cells[i]);
            values[i] = pgw_slice_buf(&cells[i]);
        }
        pgw_certainly(pgw_write_data_row(values, count, out));
    }
    for (size_t i = 0; i < count; i++)
        pgw_buf_free(&cells[i]);
    free(cells);
    free(values);
}

static int16_t width_of(uint32_t type)
{
    switch (type) {
    case PGW_INT2:
        return 2;
    case PGW_INT4:
        return 4;
    case PGW_INT8:
        return 8;
    case PGW_UUID:
        return 16;
    default:
        return -1;
    }
}

/* The RowDescription that a Query is answered with; nothing where it returns nothing. */
static void write_columns(const rw_insert *insert, pgw_buf *out)
{
    if (insert->returned_count == 0)
        return;
    size_t begun = pgw_begin(out, 'T');
    pgw_buf_add_i16(out, (int16_t)insert->returned_count);
    for (size_t i = 0; i < insert->returned_count; i++) {
        const rw_column *column = &insert->table->columns[insert->returned[i].column];
        pgw_buf_add_slice(out, insert->returned[i].name);
        pgw_buf_add_byte(out, '\0');
        pgw_buf_add_i32(out, (int32_t)insert->table->oid);
        pgw_buf_add_i16(out, column->attnum);
        pgw_buf_add_i32(out, (int32_t)column->type);
        pgw_buf_add_i16(out, width_of(column->type));
        pgw_buf_add_i32(out, column->typmod);
        pgw_buf_add_i16(out, 0);
    }
    pgw_end_small(out, begun);
}

/* ---- which ---- */

bool px_lazy_is_wanted(const px_session *session)
{
    return (session->worker->config->has_lazy ||
            session->known.now.says[RW_OWN_TRANSACTIONS] == RW_SAYS_LAZY) &&
           !session->who.is_private;
}

bool px_lazy_begins(const px_session *session, bool ordinary)
{
    return ordinary && px_lazy_is_wanted(session) && px_link_is_primary(session->own.link) &&
           !px_link_has_modes(session->own.link);
}

bool px_lazy_may(const px_session *session)
{
    const px_begun *begun = session->own.begun;
    return begun != NULL && begun->lazy && !begun->commits &&
           (begun->state == PX_BEGUN_HERE || begun->state == PX_BEGUN_THERE) &&
           session->own.status == 'T' && session->pending.replies.count == 0 &&
           !session->own.unsynced && session->hand.parts == NULL;
}

/* Whether the transaction may be kept; notes why it is made ordinary if it may not. */
static bool is_fit(const px_session *session, bool fit, px_counter otherwise)
{
    session->own.begun->reason = fit ? PX_ORDINARY_STATEMENT : otherwise;
    return fit;
}

bool px_lazy_takes(const px_session *session, const rw_insert *insert, const px_catalog *catalog)
{
    rw_own_word says = session->known.now.says[RW_OWN_TRANSACTIONS];
    cfg_transactions table = px_catalog_config(catalog, insert->table)->transactions;
    bool lazy = table == CFG_TRANSACTIONS_LAZY
                    ? says != RW_SAYS_EAGER
                    : table == CFG_TRANSACTIONS_UNSAID && says == RW_SAYS_LAZY;
    if (insert->reads_clock) /* COMMIT would be another time */
        return is_fit(session, false, PX_ORDINARY_STATEMENT);
    if (insert->returning > 0)
        return is_fit(session, lazy, PX_ORDINARY_TABLE) &&
               is_fit(session, rw_insert_returns_key(insert, &session->who.identity->env),
                      PX_ORDINARY_RETURNING);
    return is_fit(session, lazy, PX_ORDINARY_TABLE) &&
           is_fit(session, insert->values_merge, PX_ORDINARY_CONFLICT);
}

/* Whether so many bytes and statements more may be kept. */
static bool has_room(const px_session *session, size_t bytes, size_t statements)
{
    const px_kept *kept = session->own.begun->kept;
    bool has = px_kept_bytes(kept) + bytes <= session->worker->config->limits.lazy_bytes &&
               px_kept_count(kept) + statements <= PX_KEPT_MOST &&
               px_register_may_keep(session->worker);
    return is_fit(session, has, PX_ORDINARY_SIZE);
}

/* Whether rows of so many bytes and statements may be kept. PostgreSQL is sent the rows behind a
 * savepoint at once, because their errors must come while the client can still return to it. YDB
 * knows no savepoints: there only rows that are kept can be rolled back to one. */
static bool may_keep_rows(const px_session *session, size_t bytes, size_t statements)
{
    bool tells = session->worker->config->backend.dialect == CFG_DIALECT_YDB ||
                 !px_kept_has_savepoints(session->own.begun->kept);
    return is_fit(session, tells, PX_ORDINARY_SAVEPOINT) && has_room(session, bytes, statements);
}

static const rw_table *table_of(const px_kept_statement *statement)
{
    return statement->text != NULL ? statement->text->script.statements[statement->at].insert->table
                                   : statement->plan->insert->table;
}

/* Whether a statement is like one that is kept, by its table or plan: behind PX_WRITE_GROUP_MOST
 * statements all must be, for a write group has so many tables and prepared statements at most. */
static bool is_like_one(const px_kept *kept, const rw_table *table, const px_plan *plan)
{
    bool like = px_kept_count(kept) < PX_WRITE_GROUP_MOST;
    for (size_t i = 0; !like && i < PX_WRITE_GROUP_MOST; i++)
        like = plan != NULL ? strcmp(kept->all[i].plan->name, plan->name) == 0
                            : table_of(&kept->all[i]) == table;
    return like;
}

/* ---- texts ---- */

/* Whether a Query may be kept, as far as what was kept before says. */
static bool takes_query(const px_session *session)
{
    const px_kept *kept = session->own.begun->kept;
    return session->group.count == 0 &&
           is_fit(session, px_kept_count(kept) == 0 || kept->all[0].text != NULL,
                  PX_ORDINARY_PROTOCOL);
}

static bool takes_text(const px_session *session, const px_text *text)
{
    const px_kept *kept = session->own.begun->kept;
    size_t count = text->script.count;
    if (!px_lazy_may(session) || !takes_query(session) ||
        !may_keep_rows(session, text->arena.bytes, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        if (!px_lazy_takes(session, insert, text->catalog) ||
            !is_fit(session, text->superseded[i] == 0, PX_ORDINARY_CONFLICT) ||
            !is_fit(session, knows_rows(insert, text->keys[i]), PX_ORDINARY_RETURNING) ||
            !is_fit(session, is_like_one(kept, insert->table, NULL), PX_ORDINARY_SIZE))
            return false;
    }
    return px_kept_count(kept) > 0 || count <= PX_WRITE_GROUP_MOST || is_like_one(kept, NULL, NULL);
}

/* Answers a Query that is kept with `out`, which is freed. */
static void answer_query(px_session *session, pgw_buf *out)
{
    px_names_forget_unnamed(session);
    pgw_write_ready(session->own.status, out);
    px_session_put(session, out);
    pgw_buf_free(out);
}

bool px_lazy_keeps_text(px_session *session, px_text *text)
{
    pgw_buf out = {0}, rows = {0};
    if (!takes_text(session, text))
        return false;
    px_kept **kept = &session->own.begun->kept;
    for (size_t i = 0; i < text->script.count; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        pgw_buf_clear(&rows);
        write_rows(insert, text->keys[i], (pgw_slice){NULL, 0}, &rows);
        const px_promised promised = {insert->row_count, pgw_slice_buf(&rows)};
        px_kept_add_text(kept, text, i, promised, i == 0 ? text->arena.bytes : 0);
        write_columns(insert, &out);
        pgw_buf_add_slice(&out, promised.shown);
        pgw_write_insert_tag(promised.rows, &out);
    }
    pgw_buf_free(&rows);
    answer_query(session, &out);
    return true;
}

bool px_lazy_keeps_alike(px_session *session, px_likeness *of)
{
    px_kept **kept = &session->own.begun->kept;
    const rw_insert *insert = px_template_insert(of->like);
    const pgw_env env = px_settings_env(session);
    px_promised promised = {0};
    pgw_buf out = {0};
    if (insert->returning > 0 || !takes_query(session) ||
        !px_lazy_takes(session, insert, px_template_catalog(of->like)) ||
        !is_like_one(*kept, insert->table, NULL) || !may_keep_rows(session, of->rows.text.len, 1))
        return false;
    px_text *text = px_alike_text(session->worker, of, &env, &promised.rows);
    bool keeps = text != NULL && has_room(session, text->arena.bytes, 1);
    if (keeps) {
        px_kept_add_text(kept, text, 0, promised, text->arena.bytes);
        pgw_write_insert_tag(promised.rows, &out);
        answer_query(session, &out);
    }
    px_text_drop(text);
    return keeps;
}

/* ---- groups ---- */

/* The Bind that a held Execute runs, which may be kept: its keys are known, and what it returns is
 * written. */
static bool takes_bind(px_session *session, const px_held *bind, pgw_arena *arena, pgw_buf *rows)
{
    const px_kept *kept = session->own.begun->kept;
    px_plan *plan = bind->plan;
    px_bound bound;
    if (bind->decoded->as.bind.portal.len > 0 ||
        !px_lazy_takes(session, plan->insert, plan->catalog) || !is_like_one(kept, NULL, plan) ||
        !px_bind_keys(session->worker, plan, &bind->decoded->as.bind, &session->who.identity->env,
                      arena, &bound))
        return false;
    px_plan *other = px_plan_for_bind(plan, bound.keys);
    px_plan_drop(other);
    if (other != NULL || !knows_rows(plan->insert, bound.keys))
        return false;
    write_rows(plan->insert, bound.keys, bind->decoded->as.bind.results, rows);
    return true;
}

/* Whether an Execute has all rows of its statement. */
static bool runs_all(const px_held *execute, const px_plan *plan)
{
    uint32_t most = execute->decoded->as.execute.max_rows;
    return plan->insert->returning == 0 || most == 0 || most > plan->insert->row_count;
}

/* Whether all of the group's Executes may be kept; `rows` gets what each returns. */
static bool takes_group(px_session *session, size_t *executed, pgw_buf *rows)
{
    const px_group *group = &session->group;
    const px_kept *kept = session->own.begun->kept;
    pgw_arena arena = {0};
    bool takes = is_fit(session, px_kept_count(kept) == 0 || kept->all[0].plan != NULL,
                        PX_ORDINARY_PROTOCOL) &&
                 px_group_runs_all(group);
    *executed = 0;
    for (size_t i = 0; i < group->count && takes; i++) {
        if (group->held[i].type != 'E')
            continue;
        const px_held *bind = &group->held[px_group_executed(group, i)];
        takes = runs_all(&group->held[i], bind->plan) &&
                takes_bind(session, bind, &arena, &rows[*executed]);
        ++*executed;
    }
    pgw_arena_free(&arena);
    return takes && may_keep_rows(session, group->bytes, *executed);
}

/* Keeps all that is executed, and answers the group. */
static void keep_group(px_session *session, const pgw_buf *rows, size_t executed)
{
    const px_group *group = &session->group;
    px_promised *promised = pgw_alloc((executed + 1) * sizeof *promised);
    pgw_buf out = {0};
    for (size_t i = 0, at = 0; i < group->count; i++) {
        if (group->held[i].type != 'E')
            continue;
        const px_held *bind = &group->held[px_group_executed(group, i)];
        promised[at] = (px_promised){bind->plan->insert->row_count, pgw_slice_buf(&rows[at])};
        px_kept_add_bind(&session->own.begun->kept, bind->plan, bind->decoded, promised[at],
                         sizeof *bind->decoded + bind->decoded->message.len);
        at++;
    }
    const px_outcome outcome = {.promised = promised};
    px_synthesized_write(session, group->count, &outcome, &out);
    px_synthesized_end(session, &out);
    free(promised);
}

bool px_lazy_keeps_group(px_session *session)
{
    px_group *group = &session->group;
    size_t executed;
    if (!px_lazy_may(session))
        return false;
    pgw_buf *rows = pgw_calloc(group->count + 1, sizeof *rows);
    bool takes = takes_group(session, &executed, rows);
    if (takes)
        keep_group(session, rows, executed);
    for (size_t i = 0; i < executed; i++)
        pgw_buf_free(&rows[i]);
    free(rows);
    return takes;
}

/* ---- savepoints ---- */

bool px_lazy_keeps_savepoint(px_session *session, const rw_transaction *decoded, pgw_slice text)
{
    px_kept **kept = &session->own.begun->kept;
    if (!px_lazy_may(session) || !has_room(session, text.len, 0))
        return false;
    if (decoded->word == RW_TRANSACTION_SAVEPOINT)
        px_kept_set_savepoint(kept, decoded->savepoint, text);
    else if (*kept == NULL)
        return false;
    else if (decoded->word == RW_TRANSACTION_RELEASE)
        return is_fit(session, px_kept_release(*kept, decoded->savepoint), PX_ORDINARY_SAVEPOINT);
    else
        return px_kept_roll_back_to(*kept, decoded->savepoint);
    return true;
}

/* ---- questions of its client ---- */

/* The name of the statement that a whole message parses or describes; empty: it does neither, or
 * that has none. The end of the transaction may destroy the unnamed one (px_ended()). */
static pgw_slice asked_name(char type, pgw_slice message)
{
    size_t at = PGW_HEADER + (type == 'D');
    if ((type != 'P' && type != 'D') || message.len <= at ||
        (type == 'D' && message.ptr[PGW_HEADER] != 'S'))
        return (pgw_slice){NULL, 0};
    return (pgw_slice){message.ptr + at, strnlen(message.ptr + at, message.len - at)};
}

bool px_lazy_asks(const px_session *session)
{
    const px_begun *begun = session->own.begun;
    if (begun == NULL || !begun->lazy || begun->commits || begun->state == PX_BEGUN_FAILED ||
        session->own.status != 'T' || !session->own.ready || session->group.count > 0 ||
        px_kept_has_savepoints(begun->kept)) /* these would be lost with an error */
        return false;
    pgw_slice rest = px_stream_input(session->peer.stream), name = {NULL, 0};
    pgw_frame frame = session->hand.frame;
    for (size_t i = 0; frame.size <= rest.len && frame.type != 'S'; i++) {
        pgw_slice asked = asked_name(frame.type, (pgw_slice){rest.ptr, frame.size});
        bool taken = frame.type == 'P' && px_statements_find(&session->names.statements, asked);
        if (asked.len == 0 || taken || i > 1 ||
            (i == 1 && (frame.type != 'D' || !pgw_slice_eq(asked, name))))
            return false;
        name = asked;
        rest = (pgw_slice){rest.ptr + frame.size, rest.len - frame.size};
        if (pgw_frame_next(rest, &frame) != PGW_FRAME_OK)
            return false;
    }
    return frame.size == PGW_HEADER && frame.size <= rest.len;
}

/* ---- COMMIT ---- */

/* The text whose statements are the only ones that were kept, counted; NULL: there are more. */
static px_text *only_text(const px_session *session, const px_kept *kept)
{
    px_text *first = kept->all[0].text;
    if (first->script.count != kept->count || kept->all[kept->count - 1].text != first)
        return NULL;
    return px_text_as_read(session->worker, first, &session->who.identity->env);
}

/* A kept statement as its client wrote it; of a text that was kept unread, all of it. */
static pgw_slice written(const px_kept_statement *kept)
{
    const px_text *text = kept->text;
    return text->like != NULL ? text->text
                              : rw_statement_text(&text->script.statements[kept->at], text->text);
}

static void join(const px_kept *kept, pgw_buf *whole)
{
    for (size_t i = 0; i < kept->count; i++) {
        pgw_buf_add_str(whole, i > 0 ? "\n;\n" : "");
        pgw_buf_add_slice(whole, written(&kept->all[i]));
    }
}

/* Whether statements that were read once more are what they were. */
static bool is_same(const px_session *session, const px_kept *kept, const px_text *text)
{
    bool same =
        text->script.count == kept->count && text->script.inserts == kept->count && !text->refused;
    for (size_t i = 0; i < kept->count && same; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        same = insert->blocker == RW_BATCHABLE && insert->row_count == kept->all[i].promised.rows &&
               insert->wanted_count == 0 && text->superseded[i] == 0 &&
               px_lazy_takes(session, insert, text->catalog);
    }
    return same;
}

/* Makes all that was kept one text, hashed; counted. NULL: it is to be sent. */
static px_text *text_of(px_session *session, const px_kept *kept)
{
    px_catalog *catalog = px_changes_known(session);
    px_text *text = only_text(session, kept);
    if (text != NULL || catalog == NULL)
        return text;
    rw_catalog view;
    pgw_buf whole = {0};
    const pgw_env env = px_settings_env(session);
    join(kept, &whole);
    px_state_view(session, catalog, &view);
    text = px_text_parse(session->worker, pgw_slice_buf(&whole), catalog, &view, &env);
    px_text_hash(session->worker, text, env);
    pgw_buf_free(&whole);
    if (is_same(session, kept, text))
        return text;
    px_text_drop(text);
    return NULL;
}

/* Submits a lone text that was kept unread, by the template that it was kept by. */
static bool submit_alike(px_session *session, const px_standing *standing)
{
    px_likeness of;
    const px_kept *kept = session->own.begun->kept;
    const px_text *text = kept->all[0].text;
    const pgw_env env = px_settings_env(session);
    return kept->count == 1 && text->like != NULL &&
           px_template_find(session->worker, session->who.identity, text->text, &of) &&
           px_template_catalog(of.like) == text->catalog && !px_template_asks(of.like) &&
           px_submit_alike(&session->write_groups, standing, &of, NULL, &env);
}

static bool submit_text(px_session *session, const px_standing *standing)
{
    if (submit_alike(session, standing))
        return true;
    px_text *text = text_of(session, session->own.begun->kept);
    if (text == NULL)
        return false;
    px_submit_script(&session->write_groups, standing, text);
    px_text_drop(text);
    return true;
}

static bool submit_binds(px_session *session, const px_standing *standing)
{
    const px_kept *kept = session->own.begun->kept;
    px_unfit unfit = {.error = PGW_ERROR_NONE};
    px_execution *list = pgw_alloc(kept->count * sizeof *list);
    for (size_t i = 0; i < kept->count; i++)
        list[i] = (px_execution){kept->all[i].plan, &kept->all[i].bind->as.bind, 0};
    const px_executions all = {list, kept->count};
    px_submission what = px_submit_bound(&session->write_groups, standing, &all, &unfit);
    free(list);
    return what == PX_SUBMITTED;
}

bool px_lazy_commits(px_session *session)
{
    px_begun *begun = session->own.begun;
    const px_standing standing = px_session_standing(session);
    bool text = begun->kept->all[0].text != NULL;
    bool first = !begun->commits; /* the second time the COMMIT is to be sent */
    begun->commits = true;
    bool submitted = first && !session->who.is_private &&
                     (text ? submit_text : submit_binds)(session, &standing);
    begun->reason = PX_ORDINARY_COMMIT;
    return submitted;
}

/* ---- to the own link ---- */

/* Writes a statement that the server refuses, in the place of one that cannot be written any more.
 */
static void write_refused(pgw_buf *out)
{
    const pgw_bind nothing = {0};
    pgw_certainly(
        pgw_write_parse(KEPT, PGW_LITERAL("select \"refused by keyspread\""), NULL, 0, out));
    pgw_certainly(pgw_write_bind(&nothing, PGW_LITERAL(""), KEPT, NULL, 0, out));
}

static void write_text(px_session *session, const px_kept_statement *statement, pgw_buf *out)
{
    const pgw_env *env = &session->who.identity->env;
    px_text *text = px_text_as_read(session->worker, statement->text, env);
    const rw_statement *of = &text->script.statements[statement->at];
    const pgw_bind nothing = {0};
    pgw_buf sql = {0};
    if (statement->at == 0) {
        px_standing standing = px_session_standing(session);
        px_blocker_count_text(&session->write_groups, &standing, text);
        px_script_note(session, &text->script, false);
        px_text_spell(text, env);
    }
    rw_render_statement(of->insert, RW_HASH_CONSTANT, text->hashes[statement->at], &sql);
    px_text_drop(text);
    pgw_certainly(pgw_write_parse(KEPT, pgw_slice_buf(&sql), NULL, 0, out));
    pgw_certainly(pgw_write_bind(&nothing, PGW_LITERAL(""), KEPT, NULL, 0, out));
    pgw_buf_free(&sql);
}

static void write_bind(px_session *session, const px_kept_statement *statement, pgw_buf *out)
{
    px_plan *plan = statement->plan;
    const pgw_bind *bind = &statement->bind->as.bind;
    const px_bind_names names = {PGW_LITERAL(""), KEPT};
    const pgw_env now = px_settings_env(session);
    pgw_arena arena = {0};
    pgw_buf written = {0};
    px_bound bound;
    bool known =
        px_bind_keys(session->worker, plan, bind, &session->who.identity->env, &arena, &bound);
    pgw_bind spelled =
        px_bind_spell(plan->types, px_bind_feeding(plan, &arena), bind, &now, &arena);
    if (known && px_bind_write(plan, &spelled, names, &bound, &written, &bound.error)) {
        px_standing standing = px_session_standing(session);
        px_blocker_count_bind(&session->write_groups, &standing, plan, &bound);
        px_script_note_plan(session, plan);
        pgw_certainly(
            pgw_write_parse(KEPT, plan->rewritten, plan->declared, plan->declared_count, out));
        pgw_buf_add_slice(out, pgw_slice_buf(&written));
    } else {
        write_refused(out);
    }
    pgw_buf_free(&written);
    pgw_arena_free(&arena);
}

static void push(px_session *session, px_reply_kind kind, size_t number)
{
    px_reply *reply = px_replies_push(&session->pending.replies, kind);
    reply->swallow = true;
    reply->kept = number;
}

/* Writes what runs the statement that was just parsed and bound. */
static void run(px_session *session, size_t number, pgw_buf *out)
{
    static const px_reply_kind kinds[] = {PX_REPLY_PARSE, PX_REPLY_BIND, PX_REPLY_EXECUTE,
                                          PX_REPLY_CLOSE};
    pgw_write_execute(PGW_LITERAL(""), 0, out);
    pgw_write_close('S', KEPT, out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        push(session, kinds[i], number);
}

/* Writes a statement that is none of the kept ones. */
static void write_other(px_session *session, pgw_slice text, pgw_buf *out)
{
    const pgw_bind nothing = {0};
    pgw_certainly(pgw_write_parse(KEPT, text, NULL, 0, out));
    pgw_certainly(pgw_write_bind(&nothing, PGW_LITERAL(""), KEPT, NULL, 0, out));
    run(session, PX_KEPT_NONE, out);
}

/* Takes what the COMMIT has waited here from the timeouts of this transaction. */
static void write_waited(px_session *session, pgw_buf *out)
{
    pgw_buf sql = {0};
    if (px_outcome_write_waited(session, &sql))
        write_other(session, pgw_slice_buf(&sql), out);
    pgw_buf_free(&sql);
}

/* Writes the savepoints behind so many statements, from number `*at` on. */
static void write_savepoints(px_session *session, size_t before, size_t *at, pgw_buf *out)
{
    const px_kept *kept = session->own.begun->kept;
    for (; *at < kept->savepoint_count && kept->savepoints[*at].before == before; ++*at)
        write_other(session, kept->savepoints[*at].text, out);
}

void px_lazy_send(px_session *session)
{
    size_t savepoint = 0;
    px_begun *begun = session->own.begun;
    pgw_buf out = {0};
    px_session_send_begun(session);
    begun->state = PX_BEGUN_SENT;
    begun->lazy = false;
    px_submitter_end_reroute(&session->write_groups);
    begun->kept->sent = true;
    pgw_write_close('S', KEPT, &out); /* a kept statement that failed has left the name there */
    push(session, PX_REPLY_CLOSE, PX_KEPT_NONE);
    if (begun->commits)
        write_waited(session, &out);
    px_submitter_go_on(&session->write_groups); /* the COMMIT has waited, and waits no more */
    for (size_t i = 0; i < begun->kept->count; i++) {
        const px_kept_statement *statement = &begun->kept->all[i];
        write_savepoints(session, i, &savepoint, &out);
        (statement->text != NULL ? write_text : write_bind)(session, statement, &out);
        run(session, i + 1, &out);
    }
    write_savepoints(session, begun->kept->count, &savepoint, &out);
    pgw_write_sync(&out);
    push(session, PX_REPLY_SYNC, 0);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    if (begun->kept->count > 0)
        px_count(session->worker->metrics, begun->reason, 1);
}

/* ---- what has failed there ---- */

/* Answers whatever is at hand with the error. */
static void tell(px_session *session, pgw_frame frame, pgw_buf *error)
{
    if (strchr("QFS", frame.type) != NULL)
        pgw_write_ready(session->own.status, error);
    else
        px_pending_skip(&session->pending, true);
    px_session_put(session, error);
    px_riding_is_ordinary(session);
    if (frame.type == 'Q')
        px_names_forget_unnamed(session);
    px_relay_drop(session, frame);
}

bool px_lazy_tells(px_session *session, pgw_frame frame)
{
    px_begun *begun = session->own.begun;
    pgw_buf error = {0};
    if (begun->failure.len == 0)
        return false;
    size_t at = pgw_begin(&error, 'E');
    pgw_buf_add_slice(&error, pgw_slice_buf(&begun->failure));
    pgw_certainly(pgw_end(&error, at));
    px_count_error(session->worker->metrics, pgw_error_field(pgw_slice_buf(&begun->failure), 'C'));
    pgw_buf_clear(&begun->failure);
    px_submitter_end_reroute(&session->write_groups);
    px_session_drop_group(session);
    if (begun->commits)
        px_ended_commit(session, &error);
    else
        tell(session, frame, &error);
    pgw_buf_free(&error);
    return true;
}
