#define _GNU_SOURCE
#include "proxy/client/prepared/kept_key.h"

#include "proxy/client/core/session.h"
#include "proxy/client/prepared/sql_execute.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/passthrough_writes.h"
#include "rewrite/insert/spell.h"
#include "rewrite/lex/executed.h"
#include "rewrite/statement/script/key_change_put.h"

#include <string.h>

static void refuse(pgw_error *error)
{
    pgw_fail(error, "0A000", "cannot update the key of a table through keyspread");
    pgw_error_detail(error, "The table's hash column is computed from it.");
    pgw_error_hint(error, "Set it to the value that WHERE asks for, in parameters of one type, or "
                          "delete the row and insert it with its new key.");
}

static uint32_t declared_type(px_declared declared, unsigned parameter)
{
    return parameter <= declared.count ? declared.types[parameter - 1] : PGW_UNSPECIFIED;
}

/* Whether equal values of both parameters are the same value to the column. */
static bool are_comparable(const rw_equal_parameters *same, px_declared declared)
{
    uint32_t set = declared_type(declared, same->set);
    return set == declared_type(declared, same->where) &&
           (set == PGW_UNSPECIFIED || set == same->type);
}

const rw_statement *px_kept_key_read(const rw_script *script, px_declared declared,
                                     pgw_arena *arena)
{
    const rw_statement *statement = script->statements;
    if (script->count != 1)
        return NULL;
    rw_statement *changes = pgw_arena_alloc(arena, sizeof *changes);
    for (size_t i = 0; i < statement->same_count; i++)
        if (!are_comparable(&statement->same[i], declared) &&
            rw_key_change_of(statement, arena, changes)) {
            changes->same_count = 0;
            return changes;
        }
    return statement;
}

bool px_kept_key_note(px_passthrough *passthrough, const rw_statement *statement,
                      px_declared declared, pgw_error *error)
{
    for (size_t i = 0; i < statement->same_count; i++) {
        if (!are_comparable(&statement->same[i], declared)) {
            refuse(error);
            return false;
        }
        passthrough->same[i] = statement->same[i];
    }
    passthrough->same_count = (unsigned)statement->same_count;
    return true;
}

typedef struct given { /* what a Bind gives to a parameter */
    bool binary;
    pgw_bind_value value;
} given;

/* What the Bind gives to the parameter; NULL if it has no such parameter, which the server will
 * say. */
static given find(const pgw_bind *bind, unsigned parameter)
{
    pgw_reader reader = pgw_reader_of(bind->values);
    given found = {.value.null = true};
    for (size_t i = 0; i < parameter && i < bind->value_count; i++)
        found = (given){pgw_bind_is_binary(bind, i), pgw_bind_next(&reader)};
    return parameter <= bind->value_count ? found : (given){.value.null = true};
}

bool px_kept_key_holds(const px_passthrough *passthrough, const pgw_bind *bind, pgw_error *error)
{
    for (unsigned i = 0; i < passthrough->same_count; i++) {
        given set = find(bind, passthrough->same[i].set),
              where = find(bind, passthrough->same[i].where);
        if (where.value.null)
            continue; /* WHERE asks for no row */
        if (!set.value.null && set.binary == where.binary &&
            pgw_slice_eq(set.value.bytes, where.value.bytes))
            continue;
        refuse(error);
        return false;
    }
    return true;
}

bool px_kept_key_heeds_zone(const px_passthrough *passthrough, const pgw_bind *bind)
{
    for (unsigned i = 0; i < passthrough->same_count; i++) {
        rw_equal_parameters same = passthrough->same[i];
        given set = find(bind, same.set);
        if (same.set != same.where && !set.value.null && !set.binary &&
            rw_text_heeds_zone(same.type, set.value.bytes))
            return true;
    }
    return false;
}

/* Whether the statement has parameters that its client does not know: a hash given there would be
 * stored. */
static bool wants_hashes(const px_statement *statement)
{
    const px_plan *plan = statement != NULL ? statement->plan : NULL;
    return plan != NULL && (plan->form == RW_HASH_PARAMETER || plan->asked != NULL);
}

static bool sets_key(const px_statement *statement)
{
    return statement != NULL && statement->plan == NULL &&
           (statement->passthrough.same_count > 0 || statement->passthrough.changes_key);
}

static void refuse_insert(pgw_error *error)
{
    pgw_fail(error, "0A000",
             "cannot EXECUTE an INSERT into a table with a hash column that Parse has prepared");
    pgw_error_detail(error, "The hash is computed from what Bind gives.");
}

bool px_kept_key_is_executed(const px_session *session, pgw_slice text, pgw_error *error)
{
    bool any =
        session->known.keyed || px_passthrough_writes_may(session) || px_state_may_move(session);
    if (!any || !rw_text_mentions(text, "execute"))
        return false;
    pgw_arena arena = {0};
    pgw_slice name;
    bool found = false;
    rw_executed executed = rw_executed_in(text, session->who.identity->env.conforming);
    bool stale = false;
    while (!found && !stale && rw_executed_next(&executed, &arena, &name)) {
        const px_statement *statement = px_statements_find(&session->names.statements, name);
        const px_passthrough unknown = {.stale = session->names.unknown_prepare};
        stale = statement == NULL
                    ? px_passthrough_writes_is_stale(session, &unknown, error)
                    : px_passthrough_writes_is_stale(session, &statement->passthrough, error) ||
                          px_sql_execute_has_moved(session, statement, error);
        found = !stale && (wants_hashes(statement) || sets_key(statement));
        if (found)
            (wants_hashes(statement) ? refuse_insert : refuse)(error);
    }
    if (found)
        pgw_error_hint(error, "Execute it by the protocol's Bind message, as drivers do.");
    pgw_arena_free(&arena);
    return found || stale;
}
