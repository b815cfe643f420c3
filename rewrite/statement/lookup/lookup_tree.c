/*
 * What is put beside a WHERE is true of each row that the WHERE lets through: a column that equals
 * something is a column of a row that is there, whatever joins are around it. So all that has to be
 * sure is which table's column a name is, and where the WHERE begins.
 */
#include "rewrite/statement/lookup/lookup_tree.h"

#include "rewrite/lex/lexer.h"
#include "rewrite/statement/lookup/equation.h"
#include "rewrite/statement/lookup/lookup_from.h"
#include "rewrite/statement/lookup/lookup_value.h"
#include "rewrite/statement/tree/walk.h"
#include "rewrite/statement/tree/where.h"

#include <string.h>

enum { MOST_CONDITIONS = 32, MOST_ALTERNATIVES = 4, NONE = RW_NO_TOKEN };

typedef const PgQuery__Node *node;

/* A statement while it is looked through. */
typedef struct finder {
    rw_tokens tokens;
    const rw_catalog *catalog;
    const rw_token_edits *stars;
    bool copies;             /* COPY takes no parameters */
    bool keeps;              /* the statement is SQL's PREPARE */
    uint32_t queries, query; /* how many queries were met; the number of the current one */
    rw_from_ctes ctes;
    pgw_buf places, cells, names;
} finder;

/* Adds a value. False: it is more than a constant or a parameter with at most a cast. */
static bool add_cell(finder *find, const rw_equation *from, node value)
{
    rw_lookup_value it;
    if (!rw_lookup_value_read(from, value, &it) || (find->copies && it.parameter))
        return false;
    /* A parameter without a type is text there, and must not get another one by what is put in. */
    if (find->keeps && from->elements && it.parameter && it.cast == PGW_UNSPECIFIED)
        return false;
    int token = rw_where_token(&find->tokens, it.location);
    rw_lookup_cell cell = {.token = (uint32_t)token, .cast = it.cast};
    if (token == NONE || find->cells.len / sizeof cell == RW_LOOKUP_CELLS_MAX)
        return false;
    pgw_buf_add(&find->cells, &cell, sizeof cell);
    return true;
}

/* --- lookups --- */

/* What a WHERE or ON asks for. */
typedef struct asked {
    const rw_from *in; /* the FROM whose names the conditions use */
    rw_equation list[MOST_CONDITIONS];
    size_t count;
    const PgQuery__BoolExpr *alternatives[MOST_ALTERNATIVES]; /* ORs that must be true as well */
    size_t alternative_count;
    int where; /* index of the token WHERE or ON */
    int until; /* index of the last token of the condition, if all of it is one OR; else 0 */
} asked;

/* Where a column of the hash key has its values. */
typedef struct source {
    const rw_equation *from;
    size_t place; /* index of the column among the columns of `from` */
    size_t next;  /* index of the value of `from` that the next key takes */
} source;

static bool find_source(const asked *by, const rw_from_item *of, size_t i, source *out)
{
    const char *name = rw_from_key(by->in, of, i);
    for (size_t k = 0; k < by->count; k++) {
        const rw_equation *it = &by->list[k];
        for (size_t place = 0; place < it->width && !rw_equation_is_join(it); place++)
            if (rw_from_is_column(by->in, of, it->columns[place], name) ||
                rw_from_equals_key(by->in, of, i, it->columns[place])) {
                *out = (source){it, place, 0};
                return true;
            }
    }
    return false;
}

static bool add_key(finder *find, const source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const rw_equation *from = sources[i].from;
        node value = from->values[sources[i].next];
        if (from->rows) {
            if (!rw_is_row(value) || value->row_expr->n_args != from->width)
                return false;
            value = value->row_expr->args[sources[i].place];
        }
        if (!add_cell(find, from, value))
            return false;
    }
    return true;
}

/* Columns that one condition gives go on together. False behind the last combination. */
static bool next_key(source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const rw_equation *from = sources[i].from;
        size_t next = sources[i].next + 1 < from->count ? sources[i].next + 1 : 0;
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first = first && sources[k].from != from;
        if (!first)
            continue;
        for (size_t k = i; k < count; k++)
            if (sources[k].from == from)
                sources[k].next = next;
        if (next > 0)
            return true;
    }
    return false;
}

/* Adds all keys; 0: one of them cannot be read, or there are too many. */
static uint32_t add_keys(finder *find, source *sources, size_t count)
{
    uint32_t keys = 0;
    size_t before = find->cells.len;
    do {
        if (!add_key(find, sources, count)) {
            find->cells.len = before;
            return 0;
        }
        keys++;
    } while (next_key(sources, count));
    return keys;
}

/* Whether the subquery in the table's place already got a WHERE. */
static bool has_where(const finder *find, const rw_lookup_place *place)
{
    const rw_lookup_place *before = (const rw_lookup_place *)(const void *)find->places.ptr;
    bool has = false;
    for (size_t i = 0; i < find->places.len / sizeof *before && !has; i++)
        has = before[i].wrapped && before[i].where == place->where;
    return has && place->wrapped;
}

/* Adds the keys that its conditions ask for. 0: there is a column that they do not give a value. */
static uint32_t add_asked(finder *find, const asked *by, const rw_from_item *of, uint32_t *array)
{
    const rw_table *table = find->catalog->tables[of->table];
    source sources[RW_LOOKUP_COLUMNS_MAX];
    uint32_t arrays = 0;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        if (!find_source(by, of, i, &sources[i]))
            return 0;
        arrays += sources[i].from->array;
        *array = sources[i].from->array ? (uint32_t)i + 1 : *array;
    }
    uint32_t keys = add_keys(find, sources, table->hash_key_count);
    return arrays > 1 || (arrays > 0 && keys > 1) ? 0 : keys;
}

/* Adds the keys of all arms, each of which asks for some. 0: one does not. */
static uint32_t add_arms(finder *find, const asked *by, const rw_from_item *of,
                         const PgQuery__BoolExpr *all)
{
    uint32_t keys = 0, array = 0;
    for (size_t i = 0; i < all->n_args; i++) {
        asked arm = {.in = by->in};
        rw_equations_collect(all->args[i], arm.list, &arm.count, MOST_CONDITIONS);
        for (size_t k = 0; k < by->count && arm.count < MOST_CONDITIONS; k++)
            arm.list[arm.count++] = by->list[k];
        uint32_t more = add_asked(find, &arm, of, &array);
        if (more == 0 || array > 0)
            return 0;
        keys += more;
    }
    return keys;
}

/* What is kept asks for columns of the key by their own names, which an alias may have changed. */
static bool is_renamed_and_kept(const finder *find, const rw_from_item *of)
{
    return find->keeps && of->alias != NULL && of->alias->n_colnames > 0;
}

/* Adds the lookup of a table. False: the conditions do not give its hash key. */
static bool look_up(finder *find, const asked *by, const rw_from_item *of)
{
    size_t before = find->cells.len;
    rw_lookup_place place = {.table = (uint32_t)of->table,
                             .where = (uint32_t)by->where,
                             .until = (uint32_t)by->until,
                             .cells = (uint32_t)(before / sizeof(rw_lookup_cell)),
                             .called = (uint32_t)find->names.len,
                             .query = find->query,
                             .bare = of->bare};
    int name = rw_where_token(&find->tokens, of->location);
    place.name = (uint32_t)name;
    place.wrapped = name != NONE && rw_token_edits_wrap(find->stars, (uint32_t)name, &place.where);
    if (has_where(find, &place) || (!place.wrapped && is_renamed_and_kept(find, of)))
        return false;
    place.keys = add_asked(find, by, of, &place.array);
    for (size_t i = 0; i < by->alternative_count && place.keys == 0; i++) {
        find->cells.len = before;
        place.array = 0;
        place.keys = add_arms(find, by, of, by->alternatives[i]);
    }
    if (place.keys == 0) {
        find->cells.len = before;
        return false;
    }
    pgw_buf_add(&find->places, &place, sizeof place);
    pgw_buf_add(&find->names, of->called, strlen(of->called) + 1);
    return true;
}

/* Whether a condition, or USING, makes column `i` of the hash key of one that of the other. */
static bool are_joined(const asked *by, const rw_from_item *of, const rw_from_item *other, size_t i)
{
    const rw_from *in = by->in;
    const char *name = rw_from_key(in, of, i), *other_name = rw_from_key(in, other, i);
    for (size_t k = 0; k < by->count; k++) {
        const rw_equation *it = &by->list[k];
        if (!rw_equation_is_join(it) || it->rows)
            continue;
        node left = it->columns[0], right = it->values[0];
        if ((rw_from_is_column(in, of, left, name) &&
             rw_from_is_column(in, other, right, other_name)) ||
            (rw_from_is_column(in, of, right, name) &&
             rw_from_is_column(in, other, left, other_name)))
            return true;
    }
    return rw_from_merges_keys(in, of, other, i);
}

static bool is_wrapped(const finder *find, const rw_from_item *of)
{
    uint32_t end;
    int name = rw_where_token(&find->tokens, of->location);
    return name != NONE && rw_token_edits_wrap(find->stars, (uint32_t)name, &end);
}

/* Rows of two tables whose hash keys are equal have equal hashes. */
static void join(finder *find, const asked *by, const rw_from_item *of, const rw_from_item *other)
{
    const rw_table *table = find->catalog->tables[of->table];
    const rw_table *joined = find->catalog->tables[other->table];
    if (!rw_table_shares_rule(table, joined) || is_wrapped(find, of) || is_wrapped(find, other) ||
        is_renamed_and_kept(find, of) || is_renamed_and_kept(find, other))
        return;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (!are_joined(by, of, other, i))
            return;
    rw_lookup_place place = {.table = (uint32_t)of->table,
                             .where = (uint32_t)by->where,
                             .until = (uint32_t)by->until,
                             .called = (uint32_t)find->names.len,
                             .query = find->query,
                             .name = (uint32_t)rw_where_token(&find->tokens, of->location),
                             .bare = of->bare,
                             .other = (uint32_t)other->table,
                             .other_bare = other->bare};
    pgw_buf_add(&find->names, of->called, strlen(of->called) + 1);
    place.other_called = (uint32_t)find->names.len;
    pgw_buf_add(&find->names, other->called, strlen(other->called) + 1);
    pgw_buf_add(&find->places, &place, sizeof place);
}

static bool has_room(const finder *find)
{
    return find->places.len / sizeof(rw_lookup_place) < RW_LOOKUPS_MAX;
}

/* Reads the conditions of a WHERE or ON. An ON that is one OR is left out: its end is not looked
 * for. */
static void read_conditions(const finder *find, node conditions, const char *word, asked *by)
{
    rw_equations_collect(conditions, by->list, &by->count, MOST_CONDITIONS);
    rw_alternatives_collect(conditions, by->alternatives, &by->alternative_count,
                            MOST_ALTERNATIVES);
    bool is_or = by->alternative_count > 0 && conditions->bool_expr == by->alternatives[0];
    bool any = is_or ? word[0] == 'w' : by->count + by->alternative_count > 0;
    by->where = any ? rw_where_begin(&find->tokens, conditions, word) : NONE;
    if (is_or && by->where != NONE)
        by->until = rw_where_end(&find->tokens, by->where);
}

/* Two tables are joined by their hashes unless the keys of both are given. */
static void look_through(finder *find, const rw_from *in, node conditions, const char *word)
{
    asked by = {.in = in};
    bool given[RW_FROM_ITEMS] = {false};
    if (conditions == NULL || in->overflows)
        return;
    read_conditions(find, conditions, word, &by);
    for (size_t i = 0; i < in->count && by.where != NONE; i++) {
        const rw_from_item *of = &in->items[i];
        if (!rw_from_is_ours(in, of))
            continue;
        given[i] = has_room(find) && look_up(find, &by, of);
        for (size_t k = 0; k < i; k++)
            if (rw_from_is_ours(in, &in->items[k]) && !(given[i] && given[k]) && has_room(find))
                join(find, &by, of, &in->items[k]);
    }
}

static void look(finder *find, const PgQuery__RangeVar *relation, PgQuery__Node **from,
                 size_t count, node where)
{
    rw_from in = {.catalog = find->catalog};
    if (relation != NULL)
        rw_from_add_relation(&in, &find->ctes, relation);
    for (size_t i = 0; i < count; i++)
        rw_from_add(&in, &find->ctes, from[i]);
    look_through(find, &in, where, "where");
}

/* Whether what is called so in it may be something else around it. */
static bool has_names(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__join_expr__descriptor)
        return ((const PgQuery__JoinExpr *)message)->alias != NULL;
    return type == &pg_query__select_stmt__descriptor ||
           type == &pg_query__update_stmt__descriptor || type == &pg_query__delete_stmt__descriptor;
}

/* What an inner join asks for is true of all its rows, whatever joins are around it or in it. */
static void look_at_join(finder *find, const PgQuery__JoinExpr *join)
{
    rw_from in = {.catalog = find->catalog};
    if (join->jointype != PG_QUERY__JOIN_TYPE__JOIN_INNER || join->quals == NULL)
        return;
    rw_from_add(&in, &find->ctes, join->larg);
    rw_from_add(&in, &find->ctes, join->rarg);
    look_through(find, &in, join->quals, "on");
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const uint32_t around = find->query;
    if (has_names(message))
        find->query = ++find->queries;
    if (type == &pg_query__create_table_as_stmt__descriptor)
        return true; /* CREATE TABLE AS under EXPLAIN is left alone: a materialized view keeps its
                        query. */
    if (type == &pg_query__select_stmt__descriptor) {
        const PgQuery__SelectStmt *it = (const PgQuery__SelectStmt *)message;
        look(find, NULL, it->from_clause, it->n_from_clause, it->where_clause);
    } else if (type == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        look(find, it->relation, it->from_clause, it->n_from_clause, it->where_clause);
    } else if (type == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        look(find, it->relation, it->using_clause, it->n_using_clause, it->where_clause);
    } else if (type == &pg_query__join_expr__descriptor) {
        look_at_join(find, (const PgQuery__JoinExpr *)message);
    }
    bool all = rw_walk(message, visit, find);
    find->query = around;
    return all;
}

/* Whether hashes may be put in: other statements, such as CREATE VIEW, keep their query and show
 * it. */
static bool may_look_up(const PgQuery__Node *statement)
{
#define KIND(name) (statement->node_case == PG_QUERY__NODE__NODE_##name##_STMT)
    return KIND(SELECT) || KIND(INSERT) || KIND(UPDATE) || KIND(DELETE) || KIND(MERGE) ||
           KIND(EXPLAIN) || KIND(DECLARE_CURSOR) || KIND(COPY) || KIND(PREPARE);
#undef KIND
}

const rw_lookup_map *rw_lookup_find(const PgQuery__Node *statement, pgw_slice text,
                                    const rw_catalog *catalog, const rw_token_edits *stars,
                                    pgw_arena *arena)
{
    finder find = {.tokens = {.text = text},
                   .catalog = catalog,
                   .stars = stars,
                   .copies = statement->node_case == PG_QUERY__NODE__NODE_COPY_STMT,
                   .keeps = statement->node_case == PG_QUERY__NODE__NODE_PREPARE_STMT};
    const rw_lookup_map *map = NULL;
    if (!may_look_up(statement))
        return NULL;
    find.tokens.list = rw_tokens_of(text, true, arena, &find.tokens.count);
    if (rw_from_note_ctes(&find.ctes, statement) &&
        visit(&find, (const ProtobufCMessage *)statement) && find.places.len > 0)
        map = rw_lookup_map_make(&find.places, &find.cells, &find.names, arena);
    pgw_buf_free(&find.places);
    pgw_buf_free(&find.cells);
    pgw_buf_free(&find.names);
    return map;
}
