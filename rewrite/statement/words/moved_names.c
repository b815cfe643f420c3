#include "rewrite/statement/words/moved_names.h"

#include "rewrite/lex/lexer.h"
#include "rewrite/statement/words/prefilter.h"

#include <assert.h>
#include <string.h>

/* Whether the table is what its name means under a search_path that begins with `schema`: now it
 * is, so nothing temporary is in front. */
static bool stays(const rw_table *table, rw_meaning now, pgw_slice schema)
{
    return now == RW_MEANS_OURS && schema.len > 0 && pgw_slice_eq_str(schema, table->schema);
}

/* `name` (empty: any) may mean something else from here on, but for what `schema` holds. */
static void move_name(rw_names *names, pgw_slice name, pgw_slice schema)
{
    const rw_catalog *view = &names->view;
    if (names->meanings == NULL) {
        names->meanings = pgw_arena_alloc(names->arena, view->count * sizeof *names->meanings);
        for (size_t i = 0; i < view->count; i++)
            names->meanings[i] = view->unqualified != NULL         ? view->unqualified[i]
                                 : view->tables[i]->schema_written ? RW_MEANS_OTHERS
                                                                   : RW_MEANS_OURS;
        names->view.unqualified = names->meanings;
    }
    for (size_t i = 0; i < view->count; i++)
        if ((name.len == 0 || pgw_slice_eq_str(name, view->tables[i]->name)) &&
            !stays(view->tables[i], names->meanings[i], schema))
            names->meanings[i] = RW_MEANS_UNKNOWN;
}

/* Whether the statement is DDL that names neither a configured table nor a schema, and so moves no
 * name. */
static bool is_elsewhere(const rw_names *names, const rw_statement *statement, pgw_slice text)
{
    rw_lexer lexer;
    if (!(statement->effects & RW_EFFECT_DDL) || rw_prefilter_mentions(text, &names->view))
        return false;
    rw_lexer_init(&lexer, text, true);
    for (rw_token token = rw_lexer_next(&lexer); token.kind != RW_TOKEN_END;
         token = rw_lexer_next(&lexer))
        if (token.kind == RW_TOKEN_BAD || rw_token_is(text, token, "schema"))
            return false;
    return true;
}

/* Whether tables are made elsewhere from here on: not by what only makes, alters or drops them. */
static bool moves_place(const rw_names *names, const rw_statement *statement, pgw_slice text)
{
    const unsigned settings = RW_EFFECT_SETTINGS | RW_EFFECT_DISCARD_ALL;
    unsigned effects = statement->effects;
    bool quiet = names->view.count > 0 && names->view.tables[0]->quiet & RW_EFFECT_RUNS;
    if (effects & settings || (effects & RW_EFFECT_CALLS && !quiet) ||
        (effects & RW_EFFECT_TRANSACTION && names->view.moved))
        return true;
    return effects & RW_EFFECT_NAMES && statement->makes.len == 0 &&
           (!(effects & RW_EFFECT_DDL) || rw_text_mentions(text, "schema"));
}

/* What is planned, for this text alone. */
static rw_catalog *own_planned(rw_names *names)
{
    assert(names->view.planned != NULL); /* Without `planned` no table is defined. */
    if (names->view.planned != &names->planned)
        names->planned = *names->view.planned;
    names->view.planned = &names->planned;
    return &names->planned;
}

static void move_place(rw_names *names)
{
    size_t count = names->view.planned->count;
    rw_meaning *unknown = pgw_arena_alloc(names->arena, count * sizeof *unknown);
    for (size_t i = 0; i < count; i++)
        unknown[i] = RW_MEANS_UNKNOWN;
    own_planned(names)->unqualified = unknown;
}

/* Whether a table that the pattern `i` makes may be made where `made` was. */
static bool makes(const rw_catalog *planned, size_t i, const rw_table *made)
{
    pgw_slice place = rw_catalog_place(planned, i);
    return planned->tables[i]->pattern &&
           rw_pattern_covers(planned->tables[i], pgw_slice_str(made->schema),
                             pgw_slice_str(made->name)) &&
           (place.len == 0 || pgw_slice_eq_str(place, made->schema));
}

/* What is made by a pattern is planned from here on as if the configuration named it. */
static void plan_made(rw_names *names, const rw_table *made)
{
    rw_catalog *planned = own_planned(names);
    size_t count = planned->count;
    const rw_table **tables = pgw_arena_alloc(names->arena, (count + 1) * sizeof *tables);
    rw_meaning *meanings = pgw_arena_alloc(names->arena, (count + 1) * sizeof *meanings);
    meanings[count] = RW_MEANS_OTHERS;
    for (size_t i = 0; i < count; i++) {
        tables[i] = planned->tables[i];
        meanings[i] = planned->unqualified != NULL ? planned->unqualified[i]
                      : tables[i]->schema_written  ? RW_MEANS_OTHERS
                                                   : RW_MEANS_OURS;
        if (makes(planned, i, made))
            meanings[count] = meanings[i];
    }
    tables[count] = made;
    planned->tables = tables;
    planned->unqualified = meanings;
    planned->count++;
}

void rw_names_follow(rw_names *names, const rw_statement *statement, pgw_slice text)
{
    const rw_catalog *view = &names->view;
    if (view->planned != NULL && moves_place(names, statement, text))
        move_place(names);
    if (view->apart && statement->defines)
        return;
    if (statement->defines)
        own_planned(names)->moved = true;
    if (statement->made != NULL)
        plan_made(names, statement->made);
    bool quiet = view->count == 0 || view->tables[0]->quiet & RW_EFFECT_RUNS;
    unsigned effects = statement->effects;
    if (effects & RW_EFFECT_DISCARD_ALL || (effects & RW_EFFECT_CALLS && !quiet) ||
        (effects & RW_EFFECT_TRANSACTION && view->moved))
        move_name(names, (pgw_slice){NULL, 0}, (pgw_slice){NULL, 0});
    else if (effects & RW_EFFECT_NAMES && !is_elsewhere(names, statement, text))
        move_name(names, statement->makes, statement->path);
}
