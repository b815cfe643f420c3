/*
 * What is put beside a WHERE is true of each row that the WHERE lets through: a column that equals
 * something is a column of a row that is there, whatever joins are around it. So all that has to be
 * sure is which table's column a name is, and where the WHERE begins.
 */
#include "rewrite/read/lookup_tree.h"

#include "rewrite/lex/lexer.h"
#include "rewrite/read/equation.h"
#include "rewrite/read/lookup_value.h"
#include "rewrite/read/walk.h"

#include <string.h>

enum { MOST_ITEMS = 16, MOST_CONDITIONS = 32, MOST_CTES = 32, NONE = -1 };

typedef const PgQuery__Node *node;

/* A statement while it is looked through. */
typedef struct finder {
    pgw_slice text;
    const rw_catalog *catalog;
    const rw_star_map *stars;
    bool copies; /* COPY takes no parameters */
    rw_token *tokens;
    size_t token_count;
    const char *ctes[MOST_CTES]; /* their names hide tables' */
    size_t cte_count;
    pgw_buf places, cells, names;
} finder;

/* What stands in a FROM. */
typedef struct item {
    const char *called;
    const char *schema; /* which may stand before that; "": none may */
    int table;          /* of the catalog; NONE: not ours, or of other columns */
    int32_t location;
    const PgQuery__Alias *alias; /* which may call its first columns otherwise; NULL: none */
} item;

typedef struct scope {
    item items[MOST_ITEMS];
    size_t count;
    bool merges; /* by USING or NATURAL: a name may be of a column of neither */
    bool overflows;
} scope;

/* --- names --- */

static bool note_ctes(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    if (message->descriptor == &pg_query__common_table_expr__descriptor) {
        if (find->cte_count == MOST_CTES)
            return false;
        find->ctes[find->cte_count++] = ((const PgQuery__CommonTableExpr *)message)->ctename;
    }
    return rw_walk(message, note_ctes, find);
}

static bool is_cte(const finder *find, const PgQuery__RangeVar *relation)
{
    for (size_t i = 0; i < find->cte_count && relation->schemaname[0] == '\0'; i++)
        if (strcmp(find->ctes[i], relation->relname) == 0)
            return true;
    return false;
}

/* Whether its name certainly means what it says. */
static bool is_sure(const finder *find, int table, const PgQuery__RangeVar *relation)
{
    return relation->schemaname[0] != '\0' || find->catalog->unqualified == NULL ||
           find->catalog->unqualified[table] == RW_MEANS_OURS;
}

static size_t renamed(const PgQuery__Alias *alias)
{
    return alias != NULL ? alias->n_colnames : 0;
}

/* The alias calls another column as the hash column is called. */
static bool takes_name(const PgQuery__Alias *alias, const rw_table *table)
{
    const char *hash = table->columns[table->hash_column].name;
    bool takes = false;
    for (size_t i = 0; i < renamed(alias) && !takes; i++)
        takes = strcmp(rw_node_name(alias->colnames[i]), hash) == 0;
    return takes;
}

static int table_of(const finder *find, const PgQuery__RangeVar *relation)
{
    const rw_table *table = rw_catalog_find(find->catalog, pgw_slice_str(relation->schemaname),
                                            pgw_slice_str(relation->relname));
    if (table == NULL || is_cte(find, relation) || table->hash_column < renamed(relation->alias) ||
        takes_name(relation->alias, table) || !rw_table_is_looked_up(table) ||
        table->hash_key_count > RW_LOOKUP_COLUMNS_MAX)
        return NONE;
    int i = 0;
    while (find->catalog->tables[i] != table)
        i++;
    return is_sure(find, i, relation) ? i : NONE;
}

static void add_item(scope *in, item it)
{
    in->overflows |= in->count == MOST_ITEMS;
    if (!in->overflows)
        in->items[in->count++] = it;
}

static void add_relation(const finder *find, scope *in, const PgQuery__RangeVar *relation)
{
    const char *called = relation->alias != NULL ? relation->alias->aliasname : relation->relname;
    int table = table_of(find, relation);
    bool plain = relation->alias == NULL && table != NONE;
    const char *schema = plain ? find->catalog->tables[table]->schema : "";
    add_item(in, (item){called, schema, table, relation->location, relation->alias});
}

static void add_from(const finder *find, scope *in, node from)
{
    const PgQuery__JoinExpr *join =
        from->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR ? from->join_expr : NULL;
    if (from->node_case == PG_QUERY__NODE__NODE_RANGE_VAR) {
        add_relation(find, in, from->range_var);
    } else if (join != NULL && join->alias == NULL && join->join_using_alias == NULL) {
        in->merges |= join->is_natural || join->n_using_clause > 0;
        add_from(find, in, join->larg);
        add_from(find, in, join->rarg);
    } else {
        add_item(in, (item){"", "", NONE, NONE, NULL});
    }
}

/* What the statement calls a column of its hash key. */
static const char *key_name(const item *of, const rw_table *table, size_t i)
{
    size_t column = table->hash_key[i];
    return column < renamed(of->alias) ? rw_node_name(of->alias->colnames[column])
                                       : table->columns[column].name;
}

/* Whether the names before a column's, of its table or its schema too, are those of an item. */
static bool is_of(const item *of, const PgQuery__ColumnRef *reference)
{
    size_t count = reference->n_fields;
    return strcmp(rw_node_name(reference->fields[count - 2]), of->called) == 0 &&
           (count == 2 || (of->schema[0] != '\0' &&
                           strcmp(rw_node_name(reference->fields[count - 3]), of->schema) == 0));
}

/* Whether `column` is the column `name` of an item. A name without a table that is another's as
 * well is ambiguous to PostgreSQL. */
static bool is_column(const scope *in, const item *of, node column, const char *name)
{
    if (column->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return false;
    const PgQuery__ColumnRef *reference = column->column_ref;
    size_t count = reference->n_fields;
    if (count == 0 || count > 4 || strcmp(rw_node_name(reference->fields[count - 1]), name) != 0)
        return false;
    return count > 1 ? is_of(of, reference) : !in->merges;
}

/* --- tokens --- */

/* The token that begins there; NONE. */
static int token_at(const finder *find, int32_t location)
{
    size_t at = rw_token_at(find->tokens, find->token_count, location);
    return at < find->token_count ? (int)at : NONE;
}

/* The word WHERE, or ON, in front of a condition, with nothing but parentheses between; NONE. */
static int where_of(const finder *find, node it, const char *word)
{
    int at = token_at(find, rw_leftmost((const ProtobufCMessage *)it));
    do
        at--;
    while (at >= 0 && find->tokens[at].kind == RW_TOKEN_CHAR &&
           find->text.ptr[find->tokens[at].start] == '(');
    return at >= 0 && rw_token_is(find->text, find->tokens[at], word) ? at : NONE;
}

/* False: it is more than a constant or a parameter, and at most a cast. */
static bool add_cell(finder *find, const rw_equation *from, node value)
{
    rw_lookup_value it;
    if (!rw_lookup_value_read(from, value, &it) || (find->copies && it.parameter))
        return false;
    int token = token_at(find, it.location);
    rw_lookup_cell cell = {.token = (uint32_t)token, .cast = it.cast};
    if (token == NONE || find->cells.len / sizeof cell == RW_LOOKUP_CELLS_MAX)
        return false;
    pgw_buf_add(&find->cells, &cell, sizeof cell);
    return true;
}

/* --- lookups --- */

/* What a WHERE or ON asks for. */
typedef struct asked {
    const scope *in; /* the names there */
    rw_equation list[MOST_CONDITIONS];
    size_t count;
    int where; /* the token of the word */
} asked;

/* Where a column of the hash key has its values. */
typedef struct source {
    const rw_equation *from;
    size_t place; /* in its rows */
    size_t next;  /* which of them the key takes */
} source;

static bool find_source(const asked *by, const item *of, const char *name, source *out)
{
    for (size_t i = 0; i < by->count; i++) {
        const rw_equation *it = &by->list[i];
        for (size_t place = 0; place < it->width && !rw_equation_is_join(it); place++)
            if (is_column(by->in, of, it->columns[place], name)) {
                *out = (source){it, place, 0};
                return true;
            }
    }
    return false;
}

static bool is_row(node it)
{
    return it->node_case == PG_QUERY__NODE__NODE_ROW_EXPR;
}

static bool add_key(finder *find, const source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const rw_equation *from = sources[i].from;
        node value = from->values[sources[i].next];
        if (from->rows) {
            if (!is_row(value) || value->row_expr->n_args != from->width)
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

/* What is wrapped has one WHERE of its own. */
static bool has_where(const finder *find, const rw_lookup_place *place)
{
    const rw_lookup_place *before = (const rw_lookup_place *)(const void *)find->places.ptr;
    bool has = false;
    for (size_t i = 0; i < find->places.len / sizeof *before && !has; i++)
        has = before[i].wrapped && before[i].where == place->where;
    return has && place->wrapped;
}

static void look_up(finder *find, const asked *by, const item *of)
{
    const rw_table *table = find->catalog->tables[of->table];
    source sources[RW_LOOKUP_COLUMNS_MAX];
    uint32_t array = 0, arrays = 0;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        if (!find_source(by, of, key_name(of, table, i), &sources[i]))
            return;
        arrays += sources[i].from->array;
        array = sources[i].from->array ? (uint32_t)i + 1 : array;
    }
    rw_lookup_place place = {.table = (uint32_t)of->table,
                             .where = (uint32_t)by->where,
                             .cells = (uint32_t)(find->cells.len / sizeof(rw_lookup_cell)),
                             .array = array,
                             .called = (uint32_t)find->names.len};
    int name = token_at(find, of->location);
    place.wrapped = name != NONE && rw_stars_wrap(find->stars, (uint32_t)name, &place.where);
    if (has_where(find, &place))
        return;
    place.keys = add_keys(find, sources, table->hash_key_count);
    if (place.keys == 0 || arrays > 1 || (arrays > 0 && place.keys > 1)) {
        find->cells.len = place.cells * sizeof(rw_lookup_cell);
        return;
    }
    pgw_buf_add(&find->places, &place, sizeof place);
    pgw_buf_add(&find->names, of->called, strlen(of->called) + 1);
}

/* Two tables of one name, of different schemas, may stand side by side, but not be named. */
static bool is_ambiguous(const scope *in, const item *of)
{
    size_t same = 0;
    for (size_t i = 0; i < in->count; i++)
        same += strcmp(in->items[i].called, of->called) == 0;
    return same > 1;
}

static bool is_candidate(const scope *in, const item *of)
{
    return of->table != NONE && !is_ambiguous(in, of);
}

/* Whether some condition is that the column `name` of an item is `other_name` of the other. */
static bool are_joined(const asked *by, const item *of, const char *name, const item *other,
                       const char *other_name)
{
    for (size_t i = 0; i < by->count; i++) {
        const rw_equation *it = &by->list[i];
        if (!rw_equation_is_join(it) || it->rows)
            continue;
        node left = it->columns[0], right = it->values[0];
        if ((is_column(by->in, of, left, name) && is_column(by->in, other, right, other_name)) ||
            (is_column(by->in, of, right, name) && is_column(by->in, other, left, other_name)))
            return true;
    }
    return false;
}

static bool is_wrapped(const finder *find, const item *of)
{
    uint32_t end;
    int name = token_at(find, of->location);
    return name != NONE && rw_stars_wrap(find->stars, (uint32_t)name, &end);
}

/* Rows of two tables whose hash keys are equal have equal hashes. */
static void join(finder *find, const asked *by, const item *of, const item *other)
{
    const rw_table *table = find->catalog->tables[of->table];
    const rw_table *joined = find->catalog->tables[other->table];
    if (!rw_table_shares_rule(table, joined) || is_wrapped(find, of) || is_wrapped(find, other))
        return;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (!are_joined(by, of, key_name(of, table, i), other, key_name(other, joined, i)))
            return;
    rw_lookup_place place = {.table = (uint32_t)of->table,
                             .where = (uint32_t)by->where,
                             .called = (uint32_t)find->names.len,
                             .other = (uint32_t)other->table};
    pgw_buf_add(&find->names, of->called, strlen(of->called) + 1);
    place.other_called = (uint32_t)find->names.len;
    pgw_buf_add(&find->names, other->called, strlen(other->called) + 1);
    pgw_buf_add(&find->places, &place, sizeof place);
}

static bool has_room(const finder *find)
{
    return find->places.len / sizeof(rw_lookup_place) < RW_LOOKUPS_MAX;
}

static void look_through(finder *find, const scope *in, node conditions, const char *word)
{
    asked by = {.in = in};
    if (conditions == NULL || in->overflows)
        return;
    rw_equations_collect(conditions, by.list, &by.count, MOST_CONDITIONS);
    by.where = by.count > 0 ? where_of(find, conditions, word) : NONE;
    for (size_t i = 0; i < in->count && by.where != NONE; i++) {
        const item *of = &in->items[i];
        if (is_candidate(in, of) && has_room(find))
            look_up(find, &by, of);
        for (size_t k = 0; k < i && is_candidate(in, of); k++)
            if (is_candidate(in, &in->items[k]) && has_room(find))
                join(find, &by, of, &in->items[k]);
    }
}

static void look(finder *find, const PgQuery__RangeVar *relation, PgQuery__Node **from,
                 size_t count, node where)
{
    scope in = {0};
    if (relation != NULL)
        add_relation(find, &in, relation);
    for (size_t i = 0; i < count; i++)
        add_from(find, &in, from[i]);
    look_through(find, &in, where, "where");
}

/* What an inner join asks for is true of all its rows, whatever joins are around it or in it. */
static void look_at_join(finder *find, const PgQuery__JoinExpr *join)
{
    scope in = {0};
    if (join->jointype != PG_QUERY__JOIN_TYPE__JOIN_INNER || join->quals == NULL)
        return;
    add_from(find, &in, join->larg);
    add_from(find, &in, join->rarg);
    look_through(find, &in, join->quals, "on");
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__create_table_as_stmt__descriptor)
        return true; /* in EXPLAIN: a materialized view keeps its query */
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
    return rw_walk(message, visit, find);
}

static const rw_lookup_map *make_map(const finder *find, pgw_arena *arena)
{
    size_t size = sizeof(rw_lookup_map) + find->places.len + find->cells.len + find->names.len;
    rw_lookup_map *map = pgw_arena_alloc(arena, size);
    char *at = (char *)(map + 1);
    *map = (rw_lookup_map){.size = size,
                           .place_count = (uint32_t)(find->places.len / sizeof(rw_lookup_place)),
                           .cell_count = (uint32_t)(find->cells.len / sizeof(rw_lookup_cell)),
                           .places = (void *)at,
                           .cells = (void *)(at + find->places.len),
                           .names = at + find->places.len + find->cells.len};
    memcpy(at, find->places.ptr, find->places.len);
    if (find->cells.len > 0) /* none where tables are only joined */
        memcpy(at + find->places.len, find->cells.ptr, find->cells.len);
    memcpy(at + find->places.len + find->cells.len, find->names.ptr, find->names.len);
    return map;
}

/* What else holds a query keeps it, for another day, and shows it: views, policies, PREPARE. */
static bool runs_now(const PgQuery__Node *statement)
{
#define KIND(name) (statement->node_case == PG_QUERY__NODE__NODE_##name##_STMT)
    return KIND(SELECT) || KIND(INSERT) || KIND(UPDATE) || KIND(DELETE) || KIND(MERGE) ||
           KIND(EXPLAIN) || KIND(DECLARE_CURSOR) || KIND(COPY);
#undef KIND
}

const rw_lookup_map *rw_lookup_find(const PgQuery__Node *statement, pgw_slice text,
                                    const rw_catalog *catalog, const rw_star_map *stars,
                                    pgw_arena *arena)
{
    finder find = {.text = text,
                   .catalog = catalog,
                   .stars = stars,
                   .copies = statement->node_case == PG_QUERY__NODE__NODE_COPY_STMT};
    const rw_lookup_map *map = NULL;
    if (!runs_now(statement))
        return NULL;
    find.tokens = rw_tokens_of(find.text, true, arena, &find.token_count);
    if (note_ctes(&find, (const ProtobufCMessage *)statement) &&
        visit(&find, (const ProtobufCMessage *)statement) && find.places.len > 0)
        map = make_map(&find, arena);
    pgw_buf_free(&find.places);
    pgw_buf_free(&find.cells);
    pgw_buf_free(&find.names);
    return map;
}
