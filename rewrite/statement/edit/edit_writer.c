#include "rewrite/statement/edit/edit_writer.h"

#include "rewrite/lex/lexer_text.h"
#include "rewrite/lex/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- tokens --- */

void rw_edit_writer_init(rw_edit_writer *texts, pgw_slice text, bool conforming, pgw_arena *arena)
{
    *texts = (rw_edit_writer){.text = text, .arena = arena};
    texts->tokens = rw_tokens_of(text, conforming, arena, &texts->count);
}

static bool is_name(rw_token token)
{
    return token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED;
}

bool rw_edit_writer_names(const rw_edit_writer *texts, const char *name)
{
    size_t count = rw_text_mentions(texts->text, name) ? texts->count : 0;
    for (size_t i = 0; i < count; i++)
        if (is_name(texts->tokens[i]) &&
            pgw_slice_eq_str(rw_token_name(texts->text, texts->tokens[i], texts->arena), name))
            return true;
    return false;
}

static bool is_at(const rw_edit_writer *texts, size_t at, const char *lower)
{
    return at < texts->count && rw_token_is(texts->text, texts->tokens[at], lower);
}

static bool is_sign(const rw_edit_writer *texts, size_t at, char sign)
{
    return at < texts->count && texts->tokens[at].end == texts->tokens[at].start + 1 &&
           texts->text.ptr[texts->tokens[at].start] == sign;
}

/* The index of the token that begins at `location`. */
static size_t token_at(rw_edit_writer *texts, int32_t location)
{
    size_t at = rw_token_at(texts->tokens, texts->count, location);
    texts->failed |= at == texts->count;
    return at;
}

/* The index of the token behind `name.name.*` that begins at `at`. */
static size_t skip_names(const rw_edit_writer *texts, size_t at)
{
    at++;
    while (is_sign(texts, at, '.'))
        at += 2;
    return at;
}

/* The index of the token behind the parentheses that open at `at`; `at` if none do. */
static size_t skip_parentheses(rw_edit_writer *texts, size_t at)
{
    size_t depth = 0;
    if (!is_sign(texts, at, '('))
        return at;
    do {
        depth += is_sign(texts, at, '(');
        depth -= is_sign(texts, at, ')');
        at++;
    } while (depth > 0 && at < texts->count);
    texts->failed |= depth > 0;
    return at;
}

/* --- what is put in --- */

typedef const rw_query_scope_item *item_of;

/* The schema that is, or must be, written before the item's name; "": none. */
static const char *schema_of(const rw_query_scope_item *item)
{
    if (item->relation == NULL || item->relation->alias != NULL)
        return "";
    return item->twin && item->table != NULL ? item->table->schema : item->relation->schemaname;
}

/* `"schema"."name".`; inside of a subquery in its place, by its alias. */
static void add_qualifier(const rw_query_scope_item *item, pgw_buf *out)
{
    if (schema_of(item)[0] != '\0') {
        rw_add_identifier(out, schema_of(item));
        pgw_buf_add_byte(out, '.');
    }
    rw_add_identifier(out, item->called);
    pgw_buf_add_byte(out, '.');
}

static void add_columns(const rw_query_scope_item *item, pgw_buf *out)
{
    const rw_table *table = item->table;
    const char *between = "";
    for (size_t i = 0; i < table->column_count; i++) {
        bool gone = table->oid != 0 && table->columns[i].attnum == 0;
        /* A column may be in the configuration, but not in the database. */
        if (i == table->hash_column || gone)
            continue;
        pgw_buf_add_str(out, between);
        add_qualifier(item, out);
        rw_add_identifier(out, table->columns[i].name);
        between = ", ";
    }
}

/* What a subquery in its place is called. */
static void add_called(const rw_query_scope_item *item, pgw_buf *out)
{
    char own[32];
    snprintf(own, sizeof own, "keyspread_%d", (int)item->relation->location);
    rw_add_identifier(out, rw_query_scope_is_renamed(item) ? own : item->called);
}

static void add_item(const rw_query_scope_item *item, pgw_buf *out)
{
    if (item->table != NULL && !rw_query_scope_is_wrapped(item)) {
        add_columns(item, out);
        return;
    }
    if (item->table != NULL) {
        add_called(item, out);
        pgw_buf_add_byte(out, '.');
    } else {
        add_qualifier(item, out);
    }
    pgw_buf_add_byte(out, '*');
}

/* `text` is freed. */
static void put(rw_edit_writer *texts, size_t from, size_t to, pgw_buf *text)
{
    rw_token_edit it = {.from = (uint32_t)from,
                        .to = (uint32_t)to,
                        .text = (uint32_t)texts->bytes.len,
                        .len = (uint32_t)text->len};
    pgw_buf_add(&texts->list, &it, sizeof it);
    pgw_buf_add_slice(&texts->bytes, pgw_slice_buf(text));
    pgw_buf_free(text);
}

/* Widens the tokens from a name to all of `(name).*`. */
static void take_parentheses(rw_edit_writer *texts, size_t *from, size_t *to)
{
    while (*from > 0 && is_sign(texts, *from - 1, '(') && is_sign(texts, *to, ')')) {
        --*from;
        ++*to;
    }
    texts->failed |= !is_sign(texts, *to, '.') || !is_sign(texts, *to + 1, '*');
    *to += 2;
}

void rw_edit_put_reference(rw_edit_writer *texts, const PgQuery__ColumnRef *at, pgw_buf *text)
{
    size_t from = token_at(texts, at->location);
    size_t to = from + 2 * at->n_fields - 1;
    bool star = at->fields[at->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
    texts->failed |= star && !is_sign(texts, to - 1, '*');
    pgw_buf_add_byte(text, ' ');
    put(texts, from, to, text);
}

/* The word TABLE, before [ONLY] [(] name. */
static void put_select(rw_edit_writer *texts, const PgQuery__RangeVar *table, pgw_buf *text)
{
    size_t at = token_at(texts, table->location);
    while (at > 0 && !is_at(texts, at, "table") && at + 3 > token_at(texts, table->location))
        at--;
    texts->failed |= !is_at(texts, at, "table");
    pgw_buf_add_str(text, " FROM ");
    put(texts, at, at + 1, text);
}

void rw_edit_put_all(rw_edit_writer *texts, const PgQuery__ColumnRef *at,
                     const PgQuery__RangeVar *table, const rw_query_scope *scope)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, table != NULL ? " SELECT " : " ");
    for (item_of it = scope->items; it != NULL; it = it->next) {
        add_item(it, &text);
        pgw_buf_add_str(&text, it->next != NULL ? ", " : "");
    }
    if (table != NULL)
        put_select(texts, table, &text);
    else
        rw_edit_put_reference(texts, at, &text);
}

void rw_edit_put_columns(rw_edit_writer *texts, const PgQuery__ColumnRef *at, item_of item)
{
    pgw_buf text = {0};
    size_t from = token_at(texts, at->location), to = from + 1;
    pgw_buf_add_byte(&text, ' ');
    add_columns(item, &text);
    if (at->n_fields > 1) {
        rw_edit_put_reference(texts, at, &text);
        return;
    }
    take_parentheses(texts, &from, &to);
    pgw_buf_add_byte(&text, ' ');
    put(texts, from, to, &text);
}

/* Puts `(SELECT "e" FROM (SELECT "e"."a", …) AS "e")`, as insert/returning does. Of a row that is
 * not there the hash is NULL, too: then the query has no row, which makes a NULL of it. */
void rw_edit_put_row(rw_edit_writer *texts, const PgQuery__ColumnRef *at, item_of item)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, " (SELECT ");
    rw_add_identifier(&text, item->called);
    pgw_buf_add_str(&text, " FROM (SELECT ");
    add_columns(item, &text);
    if (item->absent && !item->made) {
        pgw_buf_add_str(&text, " WHERE ");
        add_qualifier(item, &text);
        rw_add_identifier(&text, item->table->columns[item->table->hash_column].name);
        pgw_buf_add_str(&text, " IS NOT NULL");
    }
    pgw_buf_add_str(&text, ") AS ");
    rw_add_identifier(&text, item->called);
    pgw_buf_add_byte(&text, ')');
    rw_edit_put_reference(texts, at, &text);
}

void rw_edit_put_qualifier(rw_edit_writer *texts, const PgQuery__ColumnRef *at, item_of item)
{
    pgw_buf text = {0};
    size_t before = token_at(texts, at->location);
    add_qualifier(item, &text);
    put(texts, before, before, &text);
}

/* --- a table in a FROM --- */

/* The index of the token behind `name [*]` or `[ONLY] (name)`; `*from` becomes its first token. */
static size_t skip_relation(const rw_edit_writer *texts, size_t *from)
{
    size_t at = skip_names(texts, *from);
    bool closes = *from > 1 && is_sign(texts, *from - 1, '(') && is_at(texts, *from - 2, "only");
    if (closes)
        *from -= 2;
    else if (*from > 0 && is_at(texts, *from - 1, "only"))
        *from -= 1;
    return closes || is_sign(texts, at, '*') ? at + 1 : at;
}

static size_t skip_alias(rw_edit_writer *texts, const PgQuery__RangeVar *relation, size_t at)
{
    if (relation->alias == NULL)
        return at;
    at += is_at(texts, at, "as");
    texts->failed |= at >= texts->count || !is_name(texts->tokens[at]);
    return at + 1;
}

/* TABLESAMPLE name (…) [REPEATABLE (…)] */
static size_t skip_sample(rw_edit_writer *texts, size_t at)
{
    texts->failed |= !is_at(texts, at, "tablesample");
    at = skip_parentheses(texts, skip_names(texts, at + 1));
    return is_at(texts, at, "repeatable") ? skip_parentheses(texts, at + 1) : at;
}

void rw_edit_put_query(rw_edit_writer *texts, item_of item)
{
    size_t name = token_at(texts, item->relation->location), from = name;
    size_t to = skip_alias(texts, item->relation, skip_relation(texts, &from));
    if (item->sampled)
        to = skip_sample(texts, to);
    pgw_buf before = {0}, behind = {0};
    pgw_buf_add_str(&before, " (SELECT ");
    add_columns(item, &before);
    pgw_buf_add_str(&before, " FROM ");
    put(texts, from, from, &before);
    pgw_buf_add_str(&behind, ") AS ");
    add_called(item, &behind);
    pgw_buf_add_byte(&behind, ' ');
    put(texts, to, to, &behind);
    ((rw_token_edit *)(void *)(texts->list.ptr + texts->list.len))[-1].wraps = (uint32_t)name + 1;
}

void rw_edit_put_whole(rw_edit_writer *texts, item_of item)
{
    size_t name = token_at(texts, item->relation->location), from = name;
    size_t to = skip_relation(texts, &from);
    if (from == name)
        return;
    const rw_token *first = &texts->tokens[name],
                   *last = &texts->tokens[skip_names(texts, name) - 1];
    pgw_buf text = {0};
    pgw_buf_add(&text, texts->text.ptr + first->start, last->end - first->start);
    pgw_buf_add_byte(&text, ' ');
    put(texts, from, to, &text);
}

void rw_edit_put_hash(rw_edit_writer *texts, int32_t location, size_t tokens, item_of item)
{
    pgw_buf text = {0};
    size_t at = token_at(texts, location) + tokens;
    pgw_buf_add_str(&text, ", ");
    add_qualifier(item, &text);
    rw_add_identifier(&text, item->table->columns[item->table->hash_column].name);
    put(texts, at, at, &text);
}

/* --- what is PostgreSQL's own --- */

void rw_edit_put_relation(rw_edit_writer *texts, int32_t location, pgw_buf *text)
{
    size_t from = token_at(texts, location), to = skip_relation(texts, &from);
    put(texts, from, to, text);
}

void rw_edit_put_sampled(rw_edit_writer *texts, const PgQuery__RangeVar *relation, pgw_buf *text,
                         pgw_buf *behind)
{
    size_t from = token_at(texts, relation->location), alias = skip_relation(texts, &from);
    size_t to = skip_alias(texts, relation, alias);
    if (relation->alias != NULL)
        to = skip_parentheses(texts, to);
    for (; alias < to && !texts->failed; alias++) {
        const rw_token *it = &texts->tokens[alias];
        pgw_buf_add(behind, texts->text.ptr + it->start, it->end - it->start);
        pgw_buf_add_byte(behind, ' ');
    }
    pgw_buf_add_byte(text, ' ');
    put(texts, from, to, text);
    to = skip_sample(texts, to);
    put(texts, to, to, behind);
}

void rw_edit_put_table(rw_edit_writer *texts, const PgQuery__RangeVar *table)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, " SELECT *");
    put_select(texts, table, &text);
}

void rw_edit_put_cast(rw_edit_writer *texts, int32_t location, pgw_buf *text)
{
    size_t behind = token_at(texts, location) + 1;
    put(texts, behind, behind, text);
}

void rw_edit_put_called(rw_edit_writer *texts, int32_t location, size_t names, item_of item)
{
    pgw_buf text = {0};
    size_t from = token_at(texts, location);
    for (size_t i = 1; i < names; i++)
        texts->failed |= !is_sign(texts, from + 2 * i - 1, '.');
    pgw_buf_add_byte(&text, ' ');
    add_called(item, &text);
    put(texts, from, from + 2 * names - 1, &text);
}

void rw_edit_cut_names(rw_edit_writer *texts, int32_t location, size_t count)
{
    pgw_buf text = {0};
    size_t from = token_at(texts, location);
    for (size_t i = 0; i < count; i++)
        texts->failed |= !is_sign(texts, from + 2 * i + 1, '.');
    pgw_buf_add_byte(&text, ' ');
    put(texts, from, from + 2 * count, &text);
}

void rw_edit_put_around(rw_edit_writer *texts, int32_t location, pgw_buf *before, pgw_buf *behind)
{
    size_t from = token_at(texts, location);
    size_t to = skip_parentheses(texts, skip_names(texts, from));
    put(texts, from, from, before);
    put(texts, to, to, behind);
}

void rw_edit_put_after(rw_edit_writer *texts, int32_t location, size_t more, pgw_buf *text)
{
    size_t at = skip_parentheses(texts, skip_names(texts, token_at(texts, location))) + more;
    put(texts, at, at, text);
}

/* The index of the token behind an argument that begins at `at`. */
static size_t skip_argument(const rw_edit_writer *texts, size_t at)
{
    for (size_t depth = 0; at < texts->count; at++) {
        if (depth == 0 && (is_sign(texts, at, ',') || is_sign(texts, at, ')')))
            break;
        depth += is_sign(texts, at, '(') || is_sign(texts, at, '[');
        depth -= is_sign(texts, at, ')') || is_sign(texts, at, ']');
    }
    return at;
}

static bool is_constant(rw_token token)
{
    return token.kind == RW_TOKEN_STRING || token.kind == RW_TOKEN_BITS ||
           token.kind == RW_TOKEN_INTEGER || token.kind == RW_TOKEN_DECIMAL;
}

pgw_slice rw_edit_argument(rw_edit_writer *texts, int32_t location, size_t number)
{
    size_t from = skip_names(texts, token_at(texts, location)) + 1;
    while (number-- > 0)
        from = skip_argument(texts, from) + 1;
    size_t to = skip_argument(texts, from);
    texts->failed |= to <= from || to >= texts->count;
    if (texts->failed)
        return (pgw_slice){"", 0};
    for (size_t at = from; at < to; at++)
        texts->by_value = texts->by_value || is_constant(texts->tokens[at]);
    size_t start = texts->tokens[from].start;
    return (pgw_slice){texts->text.ptr + start, texts->tokens[to - 1].end - start};
}

void rw_edit_put_before(rw_edit_writer *texts, pgw_slice argument, pgw_buf *text)
{
    size_t at = token_at(texts, (int32_t)(argument.ptr - texts->text.ptr));
    put(texts, at, at, text);
}

void rw_edit_put_behind(rw_edit_writer *texts, pgw_slice argument, pgw_buf *text)
{
    const char *end = argument.ptr + argument.len;
    size_t at = token_at(texts, (int32_t)(argument.ptr - texts->text.ptr));
    while (at < texts->count && texts->text.ptr + texts->tokens[at].start < end)
        at++;
    put(texts, at, at, text);
}

/* --- COPY --- */

/* Adds the columns that COPY names, or else those that it takes. */
static void add_copied(const PgQuery__CopyStmt *copy, const rw_table *table, pgw_buf *out)
{
    const char *between = "";
    for (size_t i = 0; i < (copy->n_attlist > 0 ? copy->n_attlist : table->column_count); i++) {
        if (copy->n_attlist == 0 && (i == table->hash_column || table->columns[i].generated))
            continue;
        pgw_buf_add_str(out, between);
        rw_add_identifier(out, copy->n_attlist > 0 ? rw_name_of_node(copy->attlist[i])
                                                   : table->columns[i].name);
        between = ", ";
    }
}

/* Adds one part of a name, and a point; nothing if the part is not written. */
static void add_part(pgw_buf *out, const char *name)
{
    if (name[0] == '\0')
        return;
    rw_add_identifier(out, name);
    pgw_buf_add_byte(out, '.');
}

void rw_edit_put_copy(rw_edit_writer *texts, const PgQuery__CopyStmt *copy, const rw_table *table)
{
    const PgQuery__RangeVar *relation = copy->relation;
    size_t from = token_at(texts, relation->location);
    size_t to = skip_names(texts, from);
    to = skip_parentheses(texts, to + is_sign(texts, to, '*'));
    pgw_buf text = {0};
    pgw_buf_add_str(&text, " (SELECT ");
    add_copied(copy, table, &text);
    pgw_buf_add_str(&text, " FROM ");
    add_part(&text, relation->catalogname);
    add_part(&text, relation->schemaname);
    rw_add_identifier(&text, relation->relname);
    pgw_buf_add_str(&text, ") ");
    put(texts, from, to, &text);
}

/* --- the map --- */

static int compare(const void *left, const void *right)
{
    const rw_token_edit *a = left, *b = right;
    return a->from != b->from ? (a->from > b->from) - (a->from < b->from)
                              : (a->to > b->to) - (a->to < b->to);
}

const rw_token_edits *rw_edit_writer_map(rw_edit_writer *texts, pgw_arena *arena)
{
    rw_token_edits *map = NULL;
    if (texts->list.len > 0 && !texts->failed) {
        qsort(texts->list.ptr, texts->list.len / sizeof(rw_token_edit), sizeof(rw_token_edit),
              compare);
        size_t size = sizeof *map + texts->list.len + texts->bytes.len;
        map = pgw_arena_alloc(arena, size);
        *map = (rw_token_edits){.size = size,
                                .count = (uint32_t)(texts->list.len / sizeof(rw_token_edit))};
        memcpy(map->list, texts->list.ptr, texts->list.len);
        memcpy((char *)(map->list + map->count), texts->bytes.ptr, texts->bytes.len);
    }
    pgw_buf_free(&texts->list);
    pgw_buf_free(&texts->bytes);
    return map;
}
