#include "proxy/client/script.h"

#include "proxy/backend/catalog.h"
#include "proxy/client/doubt.h"
#include "proxy/client/session.h"
#include "rewrite/read/reach.h"
#include "rewrite/read/script.h"

unsigned px_script_changes(const px_session *session, pgw_slice text, const rw_script *script)
{
    const unsigned changing = RW_EFFECT_DDL | RW_EFFECT_TRANSACTION;
    unsigned effects = script->effects & ~(unsigned)RW_EFFECT_DDL;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        pgw_slice written = {text.ptr + statement->start, statement->end - statement->start};
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
        effects |= px_statement_effects(&script->statements[i]);
    if (effects & RW_EFFECT_OUTPUT)
        session->who.output_changed = true;
    if (effects & RW_EFFECT_TRACKED && !(alone && script->statements[0].setting_simple))
        effects |= RW_EFFECT_NAMES; /* its value is to be asked for */
    session->pending.zone_moving = session->pending.zone_moving || px_moves_zone(effects);
    px_state_note(session, effects);
}
