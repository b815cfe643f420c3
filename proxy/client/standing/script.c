#include "proxy/client/standing/script.h"

#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/special/evaluated.h"
#include "rewrite/statement/words/reach.h"

unsigned px_script_changes(const px_session *session, pgw_slice text, const rw_script *script)
{
    const unsigned changing = RW_EFFECT_DDL | RW_EFFECT_TRANSACTION;
    unsigned effects = script->effects & ~(unsigned)RW_EFFECT_DDL;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        pgw_slice written = rw_statement_text(statement, text);
        if (statement->effects & (changing | RW_EFFECT_SETTINGS) &&
            rw_reaches_tables(written, px_catalog_names(session->worker),
                              session->who.identity->env.conforming))
            effects |= statement->effects & changing ? RW_EFFECT_DDL : RW_EFFECT_CALLS;
    }
    return effects;
}

void px_script_note(px_session *session, const rw_script *script, bool alone)
{
    unsigned effects = 0;
    for (size_t i = 0; i < script->count; i++)
        effects |= rw_insert_effects(&script->statements[i], session->who.identity->env.conforming);
    if (effects & RW_EFFECT_OUTPUT)
        px_settings_output(session, true);
    if (effects & RW_EFFECT_TRACKED && !(alone && script->statements[0].setting_simple))
        effects |= RW_EFFECT_NAMES; /* the setting's value has to be asked for */
    px_pending_note_zone(&session->pending, px_moves_zone(effects));
    px_state_note(session, effects);
}

/* The effects of an INSERT when it is run. Values of types that the database defines are read by
 * code of these types. */
static unsigned effects_of_plan(const px_session *session, const rw_statement *statement,
                                px_declared declared)
{
    enum { FIRST_OWN = 16384 };
    unsigned effects = rw_insert_effects(statement, session->who.identity->env.conforming);
    for (size_t i = 0; i < declared.count; i++)
        effects |= declared.types[i] >= FIRST_OWN ? RW_EFFECT_READS : 0;
    return effects;
}

px_plan *px_script_plan(px_session *session, pgw_arena arena, const rw_statement *statement,
                        px_catalog *catalog, px_declared declared, pgw_error *error)
{
    unsigned effects = effects_of_plan(session, statement, declared);
    px_plan *plan =
        px_plan_new(arena, statement->insert, catalog, session->who.identity, declared, error);
    if (plan != NULL)
        plan->effects = effects;
    return plan;
}

void px_script_note_plan(px_session *session, const px_plan *plan)
{
    bool quiet = px_catalog_is_quiet(session->worker, session->who.identity);
    px_state_note(session, plan->effects);
    px_changes_note(session, plan->effects & ~(quiet ? RW_EFFECT_CALLS : 0U));
}
