/*
 * A store like YDB begins a read where the conditions on the first columns of its key say, and the
 * first is the bucket. It keeps the order of the key if ORDER BY names its columns from the bucket
 * on, and takes ORDER BY and LIMIT in no arm of a UNION: these are subqueries there.
 */
#include "rewrite/statement/lookup/ranges_tree.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/lookup/bound.h"
#include "rewrite/statement/lookup/first_rows.h"
#include "rewrite/statement/lookup/row_values.h"
#include "rewrite/statement/tree/walk.h"
#include "rewrite/statement/tree/where.h"

#include <stdlib.h>
#include <string.h>

typedef const PgQuery__Node *node;

/* A statement while it is looked through. */
typedef struct finder {
    rw_tokens tokens;
    const rw_catalog *catalog;
    const rw_token_edits *stars;
    const rw_lookup_map *lookups;
    rw_from_ctes ctes;
    node written_out; /* The last WHERE whose comparisons of rows were written out. */
    pgw_buf edits, pieces, bytes;
    bool by_value;
} finder;

/* --- what is put in --- */

static uint32_t piece_count(const finder *find)
{
    return (uint32_t)(find->pieces.len / sizeof(rw_range_piece));
}

static void add_piece(finder *find, rw_range_piece_kind kind, uint32_t from, uint32_t to)
{
    rw_range_piece piece = {kind, from, to};
    pgw_buf_add(&find->pieces, &piece, sizeof piece);
}

/* The bytes behind `mark` are a piece. */
static void add_text(finder *find, size_t mark)
{
    add_piece(find, RW_RANGE_TEXT, (uint32_t)mark, (uint32_t)find->bytes.len);
}

static void add_words(finder *find, const char *text)
{
    size_t mark = find->bytes.len;
    pgw_buf_add_str(&find->bytes, text);
    add_text(find, mark);
}

static const rw_table *table_of(const finder *find, const rw_from_item *of)
{
    return find->catalog->tables[of->table];
}

static const char *hash_of(const rw_table *table)
{
    return table->columns[table->hash_column].name;
}

static bool has_room(const finder *find)
{
    return find->edits.len / sizeof(rw_range_edit) + 2 <= RW_RANGES_MAX;
}

/* --- rows that are compared --- */

/* Writes out the comparison of the columns from `i` on. */
static void add_columns_of_row(finder *find, const rw_row_value *row, size_t i)
{
    bool last = i + 1 == row->width;
    const char *than = row->less ? " < " : " > ";
    const char *or_equal = row->less ? " <= " : " >= ";
    add_words(find, last ? "" : "(");
    add_piece(find, RW_RANGE_TOKENS, row->columns[i].from, row->columns[i].to);
    add_words(find, last && row->equal ? or_equal : than);
    add_piece(find, RW_RANGE_TOKENS, row->values[i].from, row->values[i].to);
    if (last)
        return;
    add_words(find, " OR (");
    add_piece(find, RW_RANGE_TOKENS, row->columns[i].from, row->columns[i].to);
    add_words(find, " = ");
    add_piece(find, RW_RANGE_TOKENS, row->values[i].from, row->values[i].to);
    add_words(find, " AND ");
    add_columns_of_row(find, row, i + 1);
    add_words(find, "))");
}

/* What a WHERE says, with its comparisons of rows written out. */
static void add_conditions(finder *find, node where, rw_token_span span)
{
    rw_row_value rows[RW_ROW_VALUES_MAX];
    size_t count = rw_row_values_find(where, &find->tokens, rows);
    for (size_t i = 0; i < count; i++) {
        if (span.from < rows[i].at.from)
            add_piece(find, RW_RANGE_TOKENS, span.from, rows[i].at.from);
        add_words(find, " ");
        add_columns_of_row(find, &rows[i], 0);
        add_words(find, " ");
        span.from = rows[i].at.to;
    }
    if (span.from < span.to)
        add_piece(find, RW_RANGE_TOKENS, span.from, span.to);
}

/* --- a condition that names all buckets --- */

static rw_range_edit new_edit(finder *find, const rw_from_item *of, uint32_t from, uint32_t to)
{
    return (rw_range_edit){.at = {from, to},
                           .table = (uint32_t)of->table,
                           .name = (uint32_t)rw_where_token(&find->tokens, of->location),
                           .piece = piece_count(find)};
}

static void add_edit(finder *find, rw_range_edit edit)
{
    edit.pieces = piece_count(find) - edit.piece;
    pgw_buf_add(&find->edits, &edit, sizeof edit);
}

static bool is_or(node where)
{
    return where->node_case == PG_QUERY__NODE__NODE_BOOL_EXPR &&
           where->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR;
}

static void add_buckets(finder *find, const rw_from_item *of, bool parenthesis)
{
    const rw_table *table = table_of(find, of);
    pgw_buf *out = &find->bytes;
    size_t mark = out->len;
    pgw_buf_add_byte(out, ' ');
    rw_add_identifier(out, of->called);
    pgw_buf_add_byte(out, '.');
    rw_add_identifier(out, hash_of(table));
    pgw_buf_add_str(out, " IN (");
    for (uint32_t i = 0; i < table->buckets; i++) {
        pgw_buf_add_str(out, i > 0 ? ", " : "");
        rw_add_bucket(table, i, out);
    }
    pgw_buf_add_str(out, parenthesis ? ") AND (" : ") AND");
    add_text(find, mark);
}

/* Writes out the row comparisons of a WHERE once, even where several tables are looked for by it.
 */
static void write_rows_out(finder *find, const rw_from_item *of, node where)
{
    rw_row_value rows[RW_ROW_VALUES_MAX];
    size_t count = where == NULL || where == find->written_out
                       ? 0
                       : rw_row_values_find(where, &find->tokens, rows);
    find->written_out = where;
    for (size_t i = 0; i < count && has_room(find); i++) {
        rw_range_edit edit = new_edit(find, of, rows[i].at.from, rows[i].at.to);
        add_columns_of_row(find, &rows[i], 0);
        add_edit(find, edit);
    }
}

static void add_seeks(finder *find, const rw_from_item *of, node where)
{
    int word = rw_where_begin(&find->tokens, where, "where");
    if (word == RW_NO_TOKEN || !has_room(find))
        return;
    uint32_t begin = (uint32_t)word + 1;
    rw_range_edit edit = new_edit(find, of, begin, begin);
    add_buckets(find, of, is_or(where));
    add_edit(find, edit);
    write_rows_out(find, of, where);
    if (!is_or(where))
        return;
    uint32_t end = (uint32_t)rw_where_end(&find->tokens, word) + 1;
    edit = new_edit(find, of, end, end);
    add_words(find, ")");
    add_edit(find, edit);
}

/* --- the first rows of each bucket --- */

/* Which of the table's columns a query names, or shows by a star. */
typedef struct named {
    const rw_table *table;
    bool *columns;
    bool shows_hash;
} named;

/* Notes a name. A star shows the hash column if the statement names it anywhere. */
static void note_name(const named *it, node field)
{
    bool star = field->node_case == PG_QUERY__NODE__NODE_A_STAR;
    for (size_t i = 0; i < it->table->column_count; i++)
        it->columns[i] |= (star && (i != it->table->hash_column || it->shows_hash)) ||
                          strcmp(rw_node_name(field), it->table->columns[i].name) == 0;
}

static bool visit_reference(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor != &pg_query__column_ref__descriptor)
        return rw_walk(message, visit_reference, context);
    const PgQuery__ColumnRef *reference = (const PgQuery__ColumnRef *)message;
    note_name(context, reference->fields[reference->n_fields - 1]);
    return true;
}

static void add_columns(finder *find, const PgQuery__SelectStmt *select, const rw_from_item *of)
{
    const rw_table *table = table_of(find, of);
    bool shows = table->shows_hash || rw_text_mentions(find->tokens.text, hash_of(table));
    named it = {table, pgw_calloc(table->column_count, sizeof *it.columns), shows};
    const char *between = "";
    rw_walk((const ProtobufCMessage *)select, visit_reference, &it);
    for (size_t i = 0; i < table->column_count; i++) {
        if (!it.columns[i])
            continue;
        pgw_buf_add_str(&find->bytes, between);
        rw_add_identifier(&find->bytes, table->columns[i].name);
        between = ", ";
    }
    free(it.columns);
}

/* ORDER BY the bucket, which is one, and the key: the store sees that it is its own order. */
static void add_order(const rw_table *table, size_t depth, bool down, pgw_buf *out)
{
    pgw_buf_add_str(out, " ORDER BY ");
    rw_add_identifier(out, hash_of(table));
    for (size_t i = 0; i < depth; i++) {
        pgw_buf_add_str(out, down ? " DESC, " : ", ");
        rw_add_identifier(out, table->columns[table->primary_key[i]].name);
    }
    pgw_buf_add_str(out, down ? " DESC LIMIT " : " LIMIT ");
}

/* The index of the token behind `name.name` that begins at `at`. */
static uint32_t skip_names(const finder *find, uint32_t at)
{
    const rw_tokens *in = &find->tokens;
    at++;
    while (at + 1 < in->count && in->list[at].kind == RW_TOKEN_CHAR &&
           in->text.ptr[in->list[at].start] == '.')
        at += 2;
    return at;
}

/* Whether the table's name is written with its old sign of inheritance: events *. */
static bool has_sign(const finder *find, uint32_t behind_name)
{
    const rw_tokens *in = &find->tokens;
    return behind_name < in->count && in->text.ptr[in->list[behind_name].start] == '*';
}

/* A SELECT that asks for first rows. */
typedef struct asking {
    const PgQuery__SelectStmt *select;
    const rw_from_item *of;
    rw_token_span name, where; /* tokens of the table's name; tokens behind the word WHERE, none if
                                  there is no WHERE */
    rw_first_rows rows;
} asking;

/* A SELECT of the first rows of a bucket. */
static void add_arm(finder *find, const asking *by, bool down)
{
    const rw_from_item *of = by->of;
    const rw_table *table = table_of(find, of);
    pgw_buf *out = &find->bytes;
    size_t mark = out->len;
    pgw_buf_add_str(out, "SELECT * FROM (SELECT ");
    add_columns(find, by->select, of);
    pgw_buf_add_str(out, " FROM ");
    add_text(find, mark);
    add_piece(find, RW_RANGE_TOKENS, by->name.from, by->name.to);
    mark = out->len;
    pgw_buf_add_str(out, " AS ");
    rw_add_identifier(out, of->called);
    pgw_buf_add_str(out, " WHERE ");
    rw_add_identifier(out, hash_of(table));
    pgw_buf_add_str(out, " = ");
    add_text(find, mark);
    add_piece(find, RW_RANGE_BUCKET, 0, 0);
    if (by->where.from < by->where.to) {
        add_words(find, " AND (");
        add_conditions(find, by->select->where_clause, by->where);
        add_words(find, ")");
    }
    mark = out->len;
    add_order(table, by->rows.depth, down, out);
    add_text(find, mark);
    if (by->rows.limit.from < by->rows.limit.to)
        add_piece(find, RW_RANGE_LIMIT, 0, 0);
    else
        add_words(find, "1");
    add_words(find, ") AS b");
}

/* The length of a branch in bytes, in this text of the statement. */
static size_t length_of(const finder *find, uint32_t first)
{
    enum { NUMBER = 24 };
    const rw_range_piece *pieces = (const rw_range_piece *)(const void *)find->pieces.ptr;
    const rw_token *tokens = find->tokens.list;
    size_t length = 0;
    for (uint32_t i = first; i < piece_count(find); i++) {
        const rw_range_piece *it = &pieces[i];
        if (it->kind == RW_RANGE_TOKENS)
            length += tokens[it->to - 1].end - tokens[it->from].start;
        else
            length += it->kind == RW_RANGE_TEXT ? it->to - it->from : NUMBER;
    }
    return length;
}

static bool find_where(const finder *find, node where, rw_token_span *out)
{
    *out = (rw_token_span){0, 0};
    int word = where != NULL ? rw_where_begin(&find->tokens, where, "where") : 0;
    if (where == NULL || word == RW_NO_TOKEN)
        return where == NULL;
    *out = (rw_token_span){(uint32_t)word + 1, (uint32_t)rw_where_end(&find->tokens, word) + 1};
    return true;
}

static void add_called(finder *find, const rw_from_item *of, rw_range_edit *edit)
{
    edit->behind = (uint32_t)find->bytes.len;
    if (of->alias == NULL) {
        pgw_buf_add_str(&find->bytes, " AS ");
        rw_add_identifier(&find->bytes, of->called);
    }
    edit->behind_len = (uint32_t)find->bytes.len - edit->behind;
}

/* Adds an edit for first rows. False: the SELECT asks for something else, or the edit would be too
 * long. */
static bool add_first_rows(finder *find, const PgQuery__SelectStmt *select, const rw_from *in)
{
    asking by = {.select = select, .of = &in->items[0]};
    const size_t pieces = find->pieces.len, bytes = find->bytes.len;
    if (in->count != 1 || !has_room(find) ||
        !rw_first_rows_find(select, in, &find->tokens, &by.rows) ||
        !find_where(find, select->where_clause, &by.where))
        return false;
    uint32_t from = (uint32_t)rw_where_token(&find->tokens, by.of->location);
    by.name = (rw_token_span){from, skip_names(find, from)};
    if (has_sign(find, by.name.to))
        return false;
    rw_range_edit edit = new_edit(find, by.of, by.name.from, by.name.to);
    edit.branches = table_of(find, by.of)->buckets;
    edit.limit = by.rows.limit;
    edit.offset = by.rows.offset;
    if (by.rows.up)
        add_arm(find, &by, false);
    if (by.rows.up && by.rows.down)
        add_words(find, " UNION ALL ");
    if (by.rows.down)
        add_arm(find, &by, true);
    if (length_of(find, edit.piece) * edit.branches > RW_RANGES_BYTES) {
        find->pieces.len = pieces;
        find->bytes.len = bytes;
        return false;
    }
    add_called(find, by.of, &edit);
    add_edit(find, edit);
    write_rows_out(find, by.of, select->where_clause);
    return true;
}

/* --- conditions --- */

/* Whether the condition is LIKE with a pattern that begins with no wildcard; of a parameter that is
 * assumed. */
static bool is_like(finder *find, const rw_sought *it, node condition)
{
    if (condition->node_case != PG_QUERY__NODE__NODE_A_EXPR)
        return false;
    const PgQuery__AExpr *like = condition->a_expr;
    if (like->kind != PG_QUERY__A__EXPR__KIND__AEXPR_LIKE || like->n_name != 1 ||
        strcmp(rw_node_name(like->name[0]), "~~") != 0 || !rw_is_sought(it, like->lexpr))
        return false;
    node pattern = like->rexpr;
    if (pattern->node_case == PG_QUERY__NODE__NODE_PARAM_REF)
        return true;
    if (pattern->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        pattern->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return false;
    find->by_value = true;
    return strchr("%_\\", pattern->a_const->sval->sval[0]) == NULL;
}

static bool has_like(finder *find, const rw_sought *it, node where)
{
    bool has = is_like(find, it, where);
    if (where->node_case == PG_QUERY__NODE__NODE_BOOL_EXPR &&
        where->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR)
        for (size_t i = 0; i < where->bool_expr->n_args && !has; i++)
            has = has_like(find, it, where->bool_expr->args[i]);
    return has;
}

/* Whether conditions say where in the key's order the rows are. */
static bool is_range(finder *find, const rw_from *in, const rw_from_item *of, node where)
{
    rw_sought first = {in, of, table_of(find, of)->primary_key[0], false};
    return where != NULL &&
           (rw_bound_of(&first, where) == RW_BOUND || has_like(find, &first, where));
}

/* --- the tables --- */

/* Whether the table is looked for by its hash, or a subquery stands in its place. */
static bool is_taken(const finder *find, const rw_from_item *of)
{
    uint32_t end;
    int name = rw_where_token(&find->tokens, of->location);
    bool taken = name == RW_NO_TOKEN || rw_token_edits_wrap(find->stars, (uint32_t)name, &end);
    for (uint32_t i = 0; find->lookups != NULL && i < find->lookups->place_count && !taken; i++) {
        const rw_lookup_place *place = &find->lookups->places[i];
        taken = place->keys > 0 && place->name == (uint32_t)name;
    }
    return taken;
}

static void look(finder *find, const PgQuery__RangeVar *relation, PgQuery__Node **from,
                 size_t count, node where, const PgQuery__SelectStmt *select)
{
    rw_from in = {.catalog = find->catalog};
    if (relation != NULL)
        rw_from_add_relation(&in, &find->ctes, relation);
    for (size_t i = 0; i < count; i++)
        rw_from_add(&in, &find->ctes, from[i]);
    for (size_t i = 0; i < in.count && !in.overflows; i++) {
        const rw_from_item *of = &in.items[i];
        if (!rw_from_is_ours(&in, of) || !rw_table_has_ranges(table_of(find, of)) ||
            is_taken(find, of) || (select != NULL && add_first_rows(find, select, &in)))
            continue;
        if (is_range(find, &in, of, where))
            add_seeks(find, of, where);
    }
}

static bool visit(void *context, const ProtobufCMessage *message)
{
    finder *find = context;
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &pg_query__select_stmt__descriptor) {
        const PgQuery__SelectStmt *it = (const PgQuery__SelectStmt *)message;
        look(find, NULL, it->from_clause, it->n_from_clause, it->where_clause, it);
    } else if (type == &pg_query__update_stmt__descriptor) {
        const PgQuery__UpdateStmt *it = (const PgQuery__UpdateStmt *)message;
        look(find, it->relation, it->from_clause, it->n_from_clause, it->where_clause, NULL);
    } else if (type == &pg_query__delete_stmt__descriptor) {
        const PgQuery__DeleteStmt *it = (const PgQuery__DeleteStmt *)message;
        look(find, it->relation, it->using_clause, it->n_using_clause, it->where_clause, NULL);
    }
    return rw_walk(message, visit, find);
}

/* Whether ranges may be put in: other statements, such as CREATE VIEW, keep their query. */
static bool may_read(node statement)
{
#define KIND(name) (statement->node_case == PG_QUERY__NODE__NODE_##name##_STMT)
    return KIND(SELECT) || KIND(INSERT) || KIND(UPDATE) || KIND(DELETE) || KIND(EXPLAIN) ||
           KIND(DECLARE_CURSOR) || KIND(PREPARE);
#undef KIND
}

static bool has_ranges(const rw_catalog *catalog)
{
    bool any = false;
    for (size_t i = 0; i < catalog->count && !any; i++)
        any = rw_table_has_ranges(catalog->tables[i]);
    return any;
}

rw_ranges_found rw_ranges_find(const PgQuery__Node *statement, pgw_slice text,
                               const rw_catalog *catalog, const rw_token_edits *stars,
                               const rw_lookup_map *lookups, pgw_arena *arena)
{
    finder find = {
        .tokens = {.text = text}, .catalog = catalog, .stars = stars, .lookups = lookups};
    rw_ranges_found found = {0};
    if (!may_read(statement) || !has_ranges(catalog))
        return found;
    find.tokens.list = rw_tokens_of(text, true, arena, &find.tokens.count);
    if (rw_from_note_ctes(&find.ctes, statement) &&
        visit(&find, (const ProtobufCMessage *)statement) && find.edits.len > 0)
        found.map = rw_range_map_make(&find.edits, &find.pieces, &find.bytes, arena);
    found.by_value = find.by_value;
    pgw_buf_free(&find.edits);
    pgw_buf_free(&find.pieces);
    pgw_buf_free(&find.bytes);
    return found;
}
