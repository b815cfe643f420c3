#include "proxy/client/script.h"

#include "proxy/backend/catalog.h"
#include "proxy/client/doubt.h"
#include "proxy/client/session.h"
#include "rewrite/read/reach.h"
#include "rewrite/read/script.h"

unsigned px_script_changes(const px_session *session, pgw_slice text, const rw_script *script)
{
    const unsigned changing = RW_EFFECT_DDL | RW_EFFECT_SETTINGS | RW_EFFECT_TRANSACTION;
    unsigned effects = script->effects & ~(unsigned)RW_EFFECT_DDL;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        pgw_slice written = {text.ptr + statement->start, statement->end - statement->start};
        if (statement->effects & changing &&
            rw_reaches_tables(written, px_catalog_names(session->worker),
                              session->who.identity->env.conforming))
            effects |= RW_EFFECT_DDL;
    }
    return effects;
}

/* What the INSERTs of ours run on the own link: nothing of their own, unless the table has code. */
static unsigned effects_of(const rw_statement *statement)
{
    unsigned effects = statement->effects;
    if (statement->insert == NULL)
        return effects;
    const rw_table *table = statement->insert->table;
    bool defaults = false, sequences = false;
    for (size_t i = 0; i < table->column_count; i++) {
        sequences = sequences || table->columns[i].sequence;
        defaults = defaults || (table->columns[i].has_default && !table->columns[i].sequence &&
                                !table->columns[i].generated);
    }
    if (table->mergeable && !defaults)
        effects &= ~(unsigned)RW_EFFECT_RUNS;
    if (table->mergeable && !sequences)
        effects &= ~(unsigned)RW_EFFECT_WRITES;
    return effects;
}

void px_script_note(px_session *session, const rw_script *script, bool alone)
{
    unsigned effects = 0;
    for (size_t i = 0; i < script->count; i++)
        effects |= effects_of(&script->statements[i]);
    if (effects & RW_EFFECT_OUTPUT)
        session->who.output_changed = true;
    if (effects & RW_EFFECT_TRACKED && !(alone && script->statements[0].setting_simple))
        effects |= RW_EFFECT_NAMES; /* its value is to be asked for */
    session->pending.zone_moving = session->pending.zone_moving || px_moves_zone(effects);
    px_state_note(session, effects);
}
