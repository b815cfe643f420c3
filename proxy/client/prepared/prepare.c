#include "proxy/client/prepared/prepare.h"

#include "proxy/client/answer/refuse.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/prepared/kept_key.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/standing/script.h"
#include "proxy/client/standing/passthrough_writes.h"
#include "proxy/ingest/blockers.h"
#include "proxy/ingest/plan_cache.h"
#include "rewrite/insert/typed.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/special/explain_query.h"

#include <stdlib.h>

px_step px_prepare_link(px_session *session)
{
    px_step step = px_forward_group(session);
    return step == PX_STEP_DONE ? px_session_need_link(session) : step;
}

/* Sends what is held first; where held messages get other plans, those before the refused one. */
static px_step forward_before(px_session *session)
{
    if (session->hand.replans > 0)
        return px_forward_held(session, session->hand.replans - 1);
    return px_forward_group(session);
}

px_step px_prepare_refuse(px_session *session, const pgw_slice *parsed, const pgw_error *error)
{
    px_step step = forward_before(session);
    if (step == PX_STEP_DONE)
        step = px_session_need_link_unless_idle(session);
    if (step != PX_STEP_DONE)
        return step;
    if (parsed != NULL && parsed->len == 0)
        px_names_drop_unnamed(session);
    px_refuse(session, error, true);
    return PX_STEP_DONE;
}

static px_step refuse_unread(px_session *session, const pgw_parse *parse, const pgw_error *error)
{
    px_step step = forward_before(session);
    if (step == PX_STEP_DONE)
        step = px_session_need_link(session);
    if (step != PX_STEP_DONE)
        return step;
    if (parse->name.len == 0)
        px_names_drop_unnamed(session);
    px_refuse_unread(session, parse->query, error, true);
    return PX_STEP_DONE;
}

/* Refuses a text for what `catalog` says of it; if that may be old, another look comes first. */
static px_step refuse_text(px_session *session, const pgw_parse *parse, const px_catalog *catalog,
                           const pgw_error *error)
{
    if (px_refuse_hears(session, parse->query, 1))
        return refuse_unread(session, parse, error);
    px_step step = px_schema_probe_recheck(session, catalog);
    if (step != PX_STEP_DONE)
        return step;
    step = px_prepare_refuse(session, &parse->name, error);
    if (step == PX_STEP_DONE)
        px_session_set_rechecked(session, false);
    return step;
}

/* A PREPARE that is carried out later. */
static void note_prepare(px_session *session, pgw_slice text, const rw_statement *statement)
{
    px_prepared_names *names = &session->names;
    px_orders *orders = px_prepared_names_orders(names);
    px_prepared_names_parse_prepare(names, statement->name);
    orders->prepared = session->known.parsed;
    pgw_buf_clear(&orders->prepared_text);
    if (px_statements_have_room(&names->statements, text.len))
        pgw_buf_add_slice(&orders->prepared_text, text);
}

/* Notes what a statement without a plan does to the session when it is prepared here and run later.
 */
static void note_prepared_effects(px_session *session, pgw_slice text, const rw_script *script)
{
    px_script_note(session, script, false);
    if (script->effects & RW_EFFECT_TRANSACTION)
        px_pending_prepare_commit(&session->pending);
    px_names_of_script(session, script);
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        if (statement->effects & RW_EFFECT_PREPARE)
            note_prepare(session, text, statement);
        if (statement->effects & (RW_EFFECT_DEALLOCATE | RW_EFFECT_DISCARD_ALL))
            px_prepared_names_parse_deallocate(&session->names, statement->name);
    }
}

bool px_prepare_is_unsynced(const px_session *session)
{
    return session->own.unsynced && session->ddl.unsynced && px_changes_own(session) == NULL;
}

px_step px_prepare_refuse_unsynced(px_session *session, const pgw_slice *parsed)
{
    pgw_error error;
    pgw_fail(&error, "0A000", "the table may be changed earlier in the same pipeline");
    pgw_error_hint(&error, "Send Sync before the statement.");
    return px_prepare_refuse(session, parsed, &error);
}

/* Notes a change of a key: parameters that the new key is made of must have the types that they
 * have in the client's text. */
static bool note_change(px_passthrough *passthrough, const rw_key_change *change,
                        px_declared declared, pgw_error *error)
{
    const rw_declared types = {declared.types, declared.count};
    for (size_t i = 0; i < change->value_count; i++) {
        uint32_t parameter = change->values[i].shared;
        if (parameter == 0 || rw_is_declared(types, parameter))
            continue;
        pgw_fail(error, "0A000",
                 "cannot update the key of table \"%s\" to $%u, which has no type and is used "
                 "elsewhere, too",
                 change->table->name, (unsigned)parameter);
        pgw_error_hint(error, "Cast it, or declare its type.");
        return false;
    }
    passthrough->changes_key = passthrough->moving = true;
    return true;
}

/* Whether there is room to keep a text that would be wrong without what keyspread puts in. */
static bool has_room(const px_session *session, pgw_slice text, pgw_error *error)
{
    if (px_statements_have_room(&session->names.statements, text.len))
        return true;
    pgw_fail(error, "53200", "too many statements that make tables or change a key are prepared");
    pgw_error_hint(error, "Close statements that are not needed any more.");
    return false;
}

/* Notes that the statement sets columns of a key. False: it must not; the error. */
static bool note_key(px_session *session, pgw_slice text, const rw_statement *statement,
                     px_declared declared, pgw_error *error)
{
    px_passthrough *passthrough = &session->known.parsed;
    session->known.keyed = true;
    if (statement->change != NULL && !has_room(session, text, error))
        return false;
    return (statement->same_count == 0 ||
            px_kept_key_note(passthrough, statement, declared, error)) &&
           (statement->change == NULL ||
            note_change(passthrough, statement->change, declared, error));
}

/* What a text is read with. */
typedef struct px_source {
    px_catalog *catalog;
    const rw_catalog *view;
} px_source;

/* A statement whose key is to be asked for is prepared with parameters in its place, behind the
 * client's. The arena is given away. */
static px_plan *plan_of_insert(px_session *session, pgw_arena arena, const rw_statement *statement,
                               px_source from, px_declared declared, pgw_error *error)
{
    rw_insert *insert = statement->insert;
    rw_forgo_constants(insert);
    if (insert->wanted_count == 0)
        return px_script_plan(session, arena, statement, from.catalog, declared, error);
    size_t own = insert->param_count > declared.count ? insert->param_count : declared.count;
    rw_filled *filled = pgw_arena_alloc(&arena, sizeof *filled);
    rw_fill_parameters(insert, own + 1, &arena, filled);
    uint32_t *types = pgw_arena_alloc(&arena, (own + insert->wanted_count) * sizeof *types);
    for (size_t i = 0; i < own + insert->wanted_count; i++)
        types[i] = i < declared.count ? declared.types[i]
                   : i < own          ? PGW_UNSPECIFIED
                                      : insert->table->columns[insert->wanted[i - own].column].type;
    rw_script script;
    rw_script_parse(filled->text, from.view, &session->who.identity->env, NULL, &arena, &script);
    if (script.count != 1 || script.statements[0].insert == NULL) {
        pgw_fail(error, "54000",
                 "%zu parameters and %zu values for the key of table \"%s\" are too many", own,
                 insert->wanted_count, insert->table->name);
        pgw_error_hint(error, "Send fewer rows a statement.");
        pgw_arena_free(&arena); /* this frees `insert`, too */
        return NULL;
    }
    rw_keep_expressions(insert, filled, &arena, script.statements[0].insert);
    px_plan *plan = px_script_plan(session, arena, &script.statements[0], from.catalog,
                                   (px_declared){types, own + insert->wanted_count}, error);
    if (plan != NULL)
        px_plan_asks(plan, insert, filled, declared.count);
    return plan;
}

/* Notes what a statement without a plan does, and what its names may come to mean. */
static void note_names(px_session *session, const rw_script *script, const rw_statement *only,
                       pgw_slice text, const px_catalog *catalog)
{
    px_passthrough *parsed = &session->known.parsed;
    parsed->effects = px_script_changes(session, text, script);
    px_passthrough_writes_note(session, parsed, script->effects, text, catalog);
    bool defines = only != NULL && only->defines;
    bool would_make =
        !defines && (parsed->effects & RW_EFFECT_DDL) && px_state_would_make(session, text);
    parsed->defines = defines || would_make;
    parsed->generation = px_state_generation(session, parsed);
    parsed->moving |= would_make || px_state_would_write(session, text, catalog);
    px_state_note_moving(session, parsed->moving);
}

static void keep_lookups(px_session *session, pgw_slice text, const rw_statement *only,
                         px_catalog *catalog, px_declared types)
{
    pgw_error error;
    pgw_arena arena = {0};
    const pgw_env env = px_settings_env(session);
    if (px_statements_have_room(&session->names.statements, text.len))
        px_prepared_names_look_up(
            &session->names,
            px_lookups_new(text, only, catalog, &(pgw_reading){&env, &arena, &error}, types));
    pgw_arena_free(&arena);
}

/* Keeps how the statement reads, for its Binds are counted by that. Lookups know it by themselves.
 */
static void keep_reads(px_session *session, const rw_statement *only, px_catalog *catalog)
{
    if (only->reads == NULL || session->names.lookups != NULL)
        return;
    px_names_read(session, px_reads_new(catalog, only->reads));
    px_names_note_lookup_bind(session);
}

/* The first error of a text that is refused. */
static const pgw_error *first_refusal(const rw_script *script)
{
    size_t i = 0;
    while (script->statements[i].kind != RW_STATEMENT_REFUSED)
        i++;
    return script->statements[i].error;
}

/* Sees to it that what is known of the session is no guess, as far as this text needs it. */
static px_step verify(px_session *session, const rw_script *script, bool writes,
                      const px_catalog *catalog)
{
    if (script->refused || script->inserts > 0 || writes)
        return px_sync_state(session, catalog);
    return script->escapes && catalog->count > 0 ? px_sync_state_escapes(session, catalog)
                                                 : PX_STEP_DONE;
}

/* Has a text pass that is prepared here, unless `again`, and notes what it does. */
static px_step pass_noted(px_session *session, pgw_slice text, const rw_script *script,
                          const rw_statement *only, const px_catalog *catalog, bool again)
{
    px_step step = script->unseen || (only != NULL && only->copy != NULL)
                       ? px_schema_probe_recheck(session, catalog)
                       : PX_STEP_DONE;
    if (step != PX_STEP_DONE)
        return step;
    if (script->effects == 0)
        return PX_STEP_PASS;
    note_names(session, script, only, text, catalog);
    step = again ? PX_STEP_PASS : px_prepare_link(session);
    if (step != PX_STEP_DONE)
        return step;
    note_prepared_effects(session, text, script);
    return PX_STEP_PASS;
}

/* A text seen for the first time: its plan, or what else is to become of it. The arena is given
 * away. */
static px_step make_plan(px_session *session, const pgw_parse *parse, const uint32_t *declared,
                         px_catalog *catalog, const rw_catalog *view, px_plan **plan)
{
    bool again = *plan != NULL;
    *plan = NULL;
    pgw_arena arena = {0};
    rw_script script;
    pgw_error error = PGW_ERROR_NONE;
    const px_declared types = {declared, parse->type_count};
    pgw_slice text = pgw_arena_copy(&arena, parse->query);
    const pgw_env *now = &session->who.identity->env;
    rw_script_parse(text, view, now, &session->worker->plans->shapes, &arena, &script);
    rw_explain_query(text, view, now, &arena, &script);
    const rw_statement *only = px_kept_key_read(&script, types, &arena);
    px_own_set_ordinary(&session->own, only != NULL ? only->warning : 0);
    bool changes_key = only != NULL && only->change != NULL;
    bool sets_key = changes_key || (only != NULL && only->same_count > 0);
    bool lookup_bind = only != NULL && rw_statement_is_changed(only) && !again &&
                       (only->defines || !px_changes_unseen(session));
    px_step step = verify(session, &script, sets_key || lookup_bind, catalog);
    if (step != PX_STEP_DONE) {
        pgw_arena_free(&arena);
        return step;
    }
    if (script.refused) {
        step = refuse_text(session, parse, catalog, first_refusal(&script));
    } else if ((sets_key && !note_key(session, text, only, types, &error)) ||
               (lookup_bind && only->defines && !has_room(session, text, &error))) {
        step = refuse_text(session, parse, catalog, &error);
    } else if (changes_key && !lookup_bind) {
        step = px_prepare_refuse_unsynced(session, &parse->name);
    } else if (script.inserts > 0 && only != NULL && px_prepare_is_unsynced(session)) {
        step = px_prepare_refuse_unsynced(session, &parse->name);
    } else if (only != NULL && only->kind == RW_STATEMENT_INSERT) {
        *plan = plan_of_insert(session, arena, only, (px_source){catalog, view}, types, &error);
        if (*plan == NULL)
            return refuse_text(session, parse, catalog, &error);
        px_session_set_rechecked(session, false);
        return PX_STEP_DONE;
    } else {
        step = pass_noted(session, text, &script, only, catalog, again);
    }
    if (lookup_bind && step == PX_STEP_PASS)
        keep_lookups(session, text, only, catalog, types);
    if (only != NULL && step == PX_STEP_PASS && !again)
        keep_reads(session, only, catalog);
    if (step == PX_STEP_PASS)
        px_session_set_rechecked(session, false);
    pgw_arena_free(&arena);
    return step;
}

/* Whether the session has the plan in common with its worker's others. In one that may have
 * temporary types a cast means what it means nowhere else, and so may the types of parameters that
 * its plans were described with. */
static bool is_for_all(const px_session *session, const px_plan *plan)
{
    px_standing standing = px_session_standing(session);
    return !px_blocker_has_names(&standing, plan->insert);
}

/* The worker's plan of this id, not counted; NULL: there is none, or it may be another in this
 * session. */
static px_plan *shared_plan(const px_session *session, px_plan_id id)
{
    px_plan *plan = px_plan_find(session->worker->plans, id);
    return plan != NULL && is_for_all(session, plan) ? plan : NULL;
}

uint32_t *px_prepare_types(const pgw_parse *parse)
{
    uint32_t *types = pgw_alloc(parse->type_count * sizeof *types);
    for (size_t i = 0; i < parse->type_count; i++) {
        uint32_t type = pgw_parse_type(parse, i);
        types[i] = type != PGW_UNKNOWN ? type : PGW_UNSPECIFIED;
    }
    return types;
}

/* Whether a plan is too much to keep: a named statement stays until it is closed. A plan that
 * others hold takes nothing more. */
static bool is_too_much(const px_session *session, pgw_slice name, const px_plan *plan)
{
    return name.len > 0 && plan->holders == 0 &&
           px_statements_are_many(&session->names.statements,
                                  session->worker->config->limits.prepared_bytes);
}

static px_step refuse_too_much(px_session *session, const pgw_parse *parse)
{
    pgw_error error;
    pgw_fail(&error, "53200", "clients have prepared more than limits.prepared_bytes");
    pgw_error_hint(&error, "Close statements that are not needed any more.");
    return px_prepare_refuse(session, &parse->name, &error);
}

px_step px_prepare(px_session *session, const pgw_parse *parse, px_plan **plan)
{
    rw_catalog view;
    px_plan *old = *plan;
    *plan = NULL;
    px_catalog *catalog;
    px_step step = px_schema_probe_catalog(session, parse->query, &catalog);
    if (step != PX_STEP_DONE)
        return step;
    px_state_view(session, catalog, &view);
    uint32_t *declared = px_prepare_types(parse);
    px_plan_id id =
        px_plan_id_of(parse->query, declared, parse->type_count, session->who.identity, catalog);
    bool usual = view.unqualified == NULL; /* only then is a plan of others right */
    *plan = usual ? shared_plan(session, id) : NULL;
    step = *plan != NULL ? px_sync_state(session, catalog) : PX_STEP_DONE;
    if (step != PX_STEP_DONE) {
        *plan = NULL;
    } else if (*plan != NULL && px_prepare_is_unsynced(session)) {
        *plan = NULL;
        step = px_prepare_refuse_unsynced(session, &parse->name);
    } else if (*plan != NULL) {
        px_plan_take(*plan);
    } else {
        *plan = old;
        step = make_plan(session, parse, declared, catalog, &view, plan);
        if (*plan != NULL && usual && is_for_all(session, *plan))
            px_plan_remember(session->worker->plans, id, *plan);
    }
    free(declared);
    if (old == NULL && *plan != NULL && is_too_much(session, parse->name, *plan)) {
        px_plan_drop(*plan);
        *plan = NULL;
        step = refuse_too_much(session, parse);
    }
    return step;
}
