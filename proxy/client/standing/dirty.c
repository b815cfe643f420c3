#include "proxy/client/standing/dirty.h"

#include "proxy/client/standing/changes.h"
#include "proxy/client/core/session.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/ingest/text.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/words/prefilter.h"
#include "rewrite/statement/script/script.h"

#include <stdlib.h>
#include <string.h>

/* Effects that make the state dirty where the database stores code that may change sessions. */
static const unsigned stored = RW_EFFECT_RUNS | RW_EFFECT_READS;
static const unsigned dirtying = RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_CALLS |
                                 RW_EFFECT_DISCARD_ALL | RW_EFFECT_RUNS | RW_EFFECT_READS;
const unsigned px_state_boundless =
    RW_EFFECT_SETTINGS | RW_EFFECT_CALLS | RW_EFFECT_RUNS | RW_EFFECT_READS;

unsigned px_state_loud(const px_catalog *catalog)
{
    /* All tables have the same `quiet`. */
    unsigned quiet = catalog->count > 0 ? catalog->tables[0]->quiet : 0;
    return stored & ~quiet;
}

static unsigned reduced(unsigned effects, unsigned loud)
{
    return effects & (~stored | loud);
}

unsigned px_state_reduced(unsigned effects, const px_catalog *catalog)
{
    return reduced(effects, px_state_loud(catalog));
}

bool px_state_is_fresh(const px_state *state, unsigned loud)
{
    const unsigned changes = dirtying | RW_EFFECT_TRACKED | RW_EFFECT_OUTPUT;
    return (reduced(state->touched, loud) & changes) == 0;
}

bool px_state_sets_nothing(const px_session *session)
{
    for (size_t i = RW_REPORTED; i < RW_TRACKED; i++)
        if (session->who.settings[i] != NULL)
            return false;
    return true;
}

/* ---- what makes the state dirty ---- */

void px_state_note(px_session *session, unsigned effects)
{
    px_state *state = &session->known;
    if (effects & RW_EFFECT_RESUMES)
        effects |= state->touched & dirtying;
    state->dirty |= effects & dirtying;
    state->here |= effects & dirtying;
    state->touched |= effects;
    if (effects & RW_EFFECT_TRANSACTION)
        state->dirty |= state->here;
    if (effects & (RW_EFFECT_STATE))
        px_own_keep_state(&session->own);
}

px_passthrough *px_state_passthrough(px_session *session, px_statement *statement, pgw_slice name)
{
    if (statement != NULL)
        return statement->plan == NULL ? &statement->passthrough : NULL;
    return name.len == 0 ? &session->known.unnamed : NULL;
}

/* Notes the effects of a prepared statement that runs: a setting's value has to be asked for then.
 */
static void note_run(px_session *session, unsigned effects)
{
    if (effects & RW_EFFECT_TRACKED)
        effects |= RW_EFFECT_NAMES;
    px_pending_note_zone(&session->pending, px_moves_zone(effects));
    px_state_note(session, effects);
}

void px_state_note_bind(px_session *session, pgw_slice message)
{
    pgw_slice rest = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    pgw_slice portal = {rest.ptr, strnlen(rest.ptr, rest.len)};
    size_t at = portal.len + (portal.len < rest.len);
    pgw_slice name = {rest.ptr + at, strnlen(rest.ptr + at, rest.len - at)};
    unsigned effects = PX_UNREAD;
    if (at + name.len < rest.len) {
        px_statement *statement =
            px_statements_find(&session->names.statements, pgw_name_significant(name));
        const px_passthrough *passthrough = px_state_passthrough(session, statement, name);
        effects = passthrough != NULL ? passthrough->effects : 0;
    }
    px_state_note_bound(session, effects, portal);
}

void px_state_note_bound(px_session *session, unsigned effects, pgw_slice portal)
{
    session->known.bound |= effects;
    if ((effects & RW_EFFECT_PREPARE) && session->names.prepares == NULL)
        px_prepared_names_lose_track(&session->names);
    if (effects & RW_EFFECT_DDL)
        px_changes_bind(session, portal.len > 0);
    note_run(session, effects);
}

void px_state_note_execute(px_session *session)
{
    note_run(session, session->known.bound);
    px_changes_execute(session, session->known.bound);
}

bool px_state_would_write(const px_session *session, pgw_slice text, const px_catalog *catalog)
{
    pgw_arena arena = {0};
    rw_script script = {0};
    rw_meaning *ours = pgw_arena_alloc(&arena, (catalog->count + 1) * sizeof *ours);
    for (size_t i = 0; i < catalog->count; i++)
        ours[i] = RW_MEANS_OURS;
    rw_catalog view = {.tables = (const rw_table *const *)catalog->tables,
                       .count = catalog->count,
                       .words = px_catalog_words(session->worker, catalog),
                       .unqualified = ours};
    if (rw_prefilter_mentions(text, &view))
        rw_script_parse(text, &view, &session->who.identity->env, &session->worker->plans->shapes,
                        &arena, &script);
    const rw_statement *last = script.count > 0 ? &script.statements[script.count - 1] : NULL;
    bool sets_key =
        last != NULL && (last->same_count > 0 || last->change != NULL || last->copy != NULL);
    pgw_arena_free(&arena);
    return script.refused || script.inserts > 0 || sets_key;
}

bool px_state_would_make(const px_session *session, pgw_slice text)
{
    pgw_arena arena = {0};
    rw_script script = {0};
    rw_catalog planned = *px_catalog_names(session->worker);
    rw_meaning *ours = pgw_arena_alloc(&arena, (planned.count + 1) * sizeof *ours);
    for (size_t i = 0; i < planned.count; i++)
        ours[i] = RW_MEANS_OURS;
    planned.unqualified = ours;
    rw_catalog view = {.planned = &planned};
    if (rw_prefilter_mentions(text, &planned))
        rw_script_parse(text, &view, &session->who.identity->env, NULL, &arena, &script);
    bool makes = script.count == 1 && (script.refused || script.statements[0].defines);
    pgw_arena_free(&arena);
    return makes;
}

px_passthrough *px_state_parse(px_session *session, unsigned effects)
{
    session->known.parsed =
        (px_passthrough){.effects = effects, .generation = session->known.generation};
    return &session->known.parsed;
}

void px_state_note_moving(px_session *session, bool moving)
{
    session->known.moving = session->known.moving || moving;
}

void px_state_note_draws(px_session *session, unsigned effects)
{
    session->known.touched |= effects & RW_EFFECT_DRAWS;
}

void px_state_note_prepare(px_session *session, px_passthrough *passthrough, pgw_slice text,
                           const px_catalog *catalog)
{
    pgw_arena arena = {0};
    passthrough->moving = px_state_would_write(session, pgw_arena_copy(&arena, text), catalog);
    passthrough->generation = session->known.generation;
    px_state_note_moving(session, passthrough->moving);
    pgw_arena_free(&arena);
}

bool px_state_may_move(const px_session *session)
{
    return session->known.moving || session->names.statements.ours > 0;
}

unsigned px_state_generation(const px_session *session, const px_passthrough *passthrough)
{
    return session->known.generation + (passthrough->defines ? session->known.made : 0);
}

void px_state_moved_by_key(pgw_error *error)
{
    pgw_fail(error, "0A000",
             "what makes the key of the row has changed what its table's name means");
    pgw_error_hint(error, "Write the table's schema before its name.");
}

void px_state_tell_moved(pgw_error *error)
{
    pgw_fail(error, "0A000", "a statement was prepared when its table's name meant another table");
    pgw_error_hint(error, "Prepare it again: search_path, or what is found by it, has changed.");
    pgw_error_stale(error);
}

bool px_state_has_moved(const px_session *session, const px_passthrough *passthrough,
                        pgw_error *error)
{
    if (!passthrough->moving ||
        passthrough->generation == px_state_generation(session, passthrough))
        return false;
    px_state_tell_moved(error);
    return true;
}

void px_state_ended(px_session *session)
{
    px_state *state = &session->known;
    if (session->own.status != 'I' || session->own.unsynced || session->pending.replies.count > 1)
        return;
    state->dirty |= state->here;
    state->here = state->bound = 0;
    if (session->ddl.portal)
        px_changes_end_portals(session);
}

void px_state_verified(px_session *session)
{
    px_state *state = &session->known;
    state->dirty = 0;
    if (session->own.status == 'I' && !session->own.unsynced)
        state->here = 0;
}

void px_state_know(px_state *state, bool known)
{
    state->known = known;
}

void px_state_judge(px_state *state, bool odd)
{
    state->odd = odd;
}

static void forget(px_state *state)
{
    state->dirty = state->here = state->touched = state->bound = 0;
    state->known = state->odd = false;
}

void px_state_forget(px_session *session)
{
    px_state *state = &session->known;
    forget(state);
    px_answer_free(&state->base);
    /* Settings of the session make the link's start unlike that of its kind. */
    if (!px_state_sets_nothing(session))
        state->touched |= RW_EFFECT_TRACKED;
}

void px_state_discard(px_session *session)
{
    px_state *state = &session->known;
    bool alone = session->pending.replies.count <= 1;
    unsigned later = alone ? 0 : state->dirty;
    forget(state);
    state->dirty = later;
}

void px_state_free(px_state *state)
{
    px_answer_free(&state->now);
    px_answer_free(&state->base);
    free(state->viewed);
    free(state->guess);
    free(state->plans);
    free(state->asked);
    free(state->drawn);
    free(state->called);
    pgw_buf_free(&state->failure);
}

static bool is_replaceable(const px_session *session, unsigned loud)
{
    const px_state *state = &session->known;
    const unsigned kept = RW_EFFECT_SETTINGS | RW_EFFECT_CALLS | RW_EFFECT_WRITES |
                          RW_EFFECT_RESUMES | RW_EFFECT_OUTPUT | RW_EFFECT_STATE;
    unsigned open = state->dirty & dirtying & ~stored;
    /* Constants of statements were read by earlier settings, which only this link has. */
    bool read = session->names.statements.reading > 0;
    return (state->touched & (kept | loud | (read ? RW_EFFECT_TRACKED : 0))) == 0 && open == 0;
}

bool px_state_is_replaceable(const px_session *session)
{
    const px_catalog *catalog = px_catalog_now(session->worker, session->who.identity);
    return is_replaceable(session, catalog != NULL ? px_state_loud(catalog) : stored);
}

bool px_state_is_unproven(const px_session *session)
{
    return px_catalog_now(session->worker, session->who.identity) == NULL &&
           !is_replaceable(session, stored) && is_replaceable(session, 0);
}
