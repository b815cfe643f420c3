#include "rewrite/statement/script/key_change_put.h"

#include <string.h>

/* Whether byte `at` of the statement is in what is cut out, to be put in elsewhere. */
static bool is_cut(const rw_key_change *change, size_t at)
{
    for (size_t i = 0; i < change->count; i++)
        if (at > change->list[i].at && at < change->list[i].at + change->list[i].cut)
            return true;
    return false;
}

static bool refuse_stars(const rw_key_change *change, pgw_error *error)
{
    pgw_fail(error, "0A000", "cannot update the key of table \"%s\" through keyspread",
             change->table->name);
    pgw_error_hint(error, "A query that shows rows must be the value of the first column of the "
                          "key that is set, which must not be in a list.");
    return false;
}

static void leave_out_lookups(const rw_key_change *change, rw_statement *statement,
                              pgw_arena *arena)
{
    size_t count = statement->lookup_count;
    rw_lookup *stay = pgw_arena_alloc(arena, count * sizeof *stay);
    statement->lookup_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_cut(change, statement->lookups[i].at))
            stay[statement->lookup_count++] = statement->lookups[i];
    statement->lookups = stay;
}

bool rw_key_change_put(const rw_key_change *change, rw_statement *statement, pgw_arena *arena,
                       pgw_error *error)
{
    size_t stars = statement->star_count;
    rw_key_change *kept = pgw_arena_alloc(arena, sizeof *kept);
    *kept = *change;
    if (change->otherwise) {
        statement->otherwise = kept;
        return true;
    }
    rw_change *all = pgw_arena_alloc(arena, (change->count + stars) * sizeof *all);
    memcpy(all, change->list, change->count * sizeof *all);
    for (size_t i = 0; i < stars; i++) {
        if (is_cut(change, statement->stars[i].at))
            return refuse_stars(change, error);
        all[change->count + i] = statement->stars[i];
    }
    leave_out_lookups(change, statement, arena);
    statement->stars = all;
    statement->star_count = change->count + stars;
    statement->change = kept;
    return true;
}

bool rw_key_change_of(const rw_statement *statement, pgw_arena *arena, rw_statement *out)
{
    pgw_error error;
    if (statement->otherwise == NULL)
        return false;
    rw_key_change change = *statement->otherwise;
    change.otherwise = false;
    *out = *statement;
    out->otherwise = NULL;
    return rw_key_change_put(&change, out, arena, &error);
}
