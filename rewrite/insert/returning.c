#include "rewrite/insert/returning.h"

#include "rewrite/insert/tail_expression.h"
#include "rewrite/lex/quote.h"

#include <string.h>

enum { MAX_DEPTH = 64 }; /* nested brackets; inside of deeper ones no name is replaced */
enum { LISTED_MOST = 16 /* columns */, NAME_MOST = 63 /* bytes */ };
enum { VERSIONS_SINCE = 18 }; /* PostgreSQL's version that calls rows old and new */

/* What a bracket of an item opens. */
typedef enum bracket {
    ROW,       /* ROW( or a lone (, in which e.* is its columns */
    ARGUMENTS, /* arguments of a function, among which e.* is a row */
    ELEMENTS   /* [ of an array or subscript */
} bracket;

typedef struct item {
    rw_parser *parser;
    const char *row;           /* the name of a row that was taken last */
    rw_token previous, before; /* the token taken last, and the one before it; END: none */
    bracket brackets[MAX_DEPTH];
    size_t depth;
    bool query; /* the item has a query, in which the name may mean something else */
} item;

/* --- what is put in --- */

static pgw_slice keep(rw_parser *parser, pgw_buf *buf)
{
    pgw_slice text = pgw_arena_copy(parser->arena, pgw_slice_buf(buf));
    pgw_buf_free(buf);
    return text;
}

/* Adds the visible columns with `prefix` (`e.`) before each. */
static void add_columns(const rw_table *table, pgw_slice prefix, pgw_buf *out)
{
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        if (i == table->hash_column)
            continue;
        if (!first)
            pgw_buf_add_str(out, ", ");
        first = false;
        pgw_buf_add_slice(out, prefix);
        rw_add_identifier(out, table->columns[i].name);
    }
}

static pgw_slice columns(rw_parser *parser, pgw_slice prefix)
{
    pgw_buf list = {0};
    add_columns(parser->table, prefix, &list);
    return keep(parser, &list);
}

/* The name of a row as a qualifier: `"e".` */
static pgw_slice qualifier(const item *it)
{
    pgw_buf name = {0};
    rw_add_identifier(&name, it->row);
    pgw_buf_add_byte(&name, '.');
    return keep(it->parser, &name);
}

/* A row of the visible columns, by their names: (SELECT "e" FROM (SELECT "e"."a", …) AS "e"). The
 * result is named as if `e` itself stood there. Without an old row its hash is NULL, too: then the
 * query has no row, which makes a NULL of it. */
static pgw_slice whole_row(const item *it)
{
    pgw_buf row = {0};
    const rw_table *table = it->parser->table;
    pgw_buf_add_str(&row, "(SELECT ");
    rw_add_identifier(&row, it->row);
    pgw_buf_add_str(&row, " FROM (SELECT ");
    add_columns(table, qualifier(it), &row);
    if (it->row != it->parser->known_as) {
        pgw_buf_add_str(&row, " WHERE ");
        pgw_buf_add_slice(&row, qualifier(it));
        rw_add_identifier(&row, table->columns[table->hash_column].name);
        pgw_buf_add_str(&row, " IS NOT NULL");
    }
    pgw_buf_add_str(&row, ") AS ");
    rw_add_identifier(&row, it->row);
    pgw_buf_add_byte(&row, ')');
    return keep(it->parser, &row);
}

static void replace(rw_parser *parser, size_t from, pgw_slice text)
{
    rw_add_splice(parser, from, parser->last_end - from, text);
}

/* --- stars --- */

static bool take_star(rw_parser *parser)
{
    bool star = parser->token.kind == RW_TOKEN_OPERATOR &&
                pgw_slice_eq_str(rw_token_text(parser->text, parser->token), "*");
    if (star)
        rw_advance(parser);
    return star;
}

/* Whether a column comes back as text that output settings decide. */
static bool is_shown(const rw_column *column)
{
    return !pgw_type_has_one_text(column->type);
}

static bool any_is_shown(const rw_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (is_shown(&table->columns[i]))
            return true;
    return false;
}

/* Parses [[schema.]table.]* as a whole item, also in brackets; false if the item is something else,
 * and nothing is taken. */
static bool parse_star(rw_parser *parser)
{
    rw_mark mark = rw_mark_here(parser);
    size_t start = parser->token.start, open = 0;
    while (rw_take(parser, '('))
        open++;
    size_t name = parser->token.start;
    bool qualifies = true;
    while (qualifies && rw_at_name(parser)) {
        rw_take_name(parser);
        qualifies = rw_take(parser, '.');
    }
    size_t star = parser->token.start;
    if (qualifies && take_star(parser) && (open == 0 || star > name)) {
        while (open > 0 && rw_take(parser, ')'))
            open--;
        if (open == 0 && (rw_at(parser, ',') || rw_at_end(parser))) {
            pgw_slice prefix = {parser->text.ptr + name, star - name};
            replace(parser, start, columns(parser, prefix));
            parser->insert->shows |= any_is_shown(parser->table);
            return true;
        }
    }
    rw_go_back(parser, mark);
    return false;
}

/* --- the table's name in an expression --- */

/* Whether an operand stands behind the word. */
static bool precedes_operand(pgw_slice text, rw_token word)
{
    static const char *const words[] = {
        "and",     "or",        "not",        "case", "when",  "then",   "else",
        "in",      "like",      "ilike",      "to",   "all",   "any",    "row",
        "between", "symmetric", "asymmetric", "some", "array", "escape", "variadic"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_token_is(text, word, words[i]))
            return true;
    return false;
}

/* Whether a name here is an operand; else it is a label, a type, a part of another name. */
static bool at_operand(const item *it)
{
    pgw_slice text = it->parser->text;
    switch (it->previous.kind) {
    case RW_TOKEN_END:
    case RW_TOKEN_OPERATOR:
        return true;
    case RW_TOKEN_CHAR:
        return strchr("([,:", text.ptr[it->previous.start]) != NULL;
    case RW_TOKEN_WORD:
        return precedes_operand(text, it->previous) || (rw_token_is(text, it->previous, "from") &&
                                                        rw_token_is(text, it->before, "distinct"));
    default:
        return false;
    }
}

/* Takes the name of the table, or of the row before or after the write. A column of the name comes
 * first. */
static bool take_row_name(item *it)
{
    rw_parser *parser = it->parser;
    const char *const names[] = {parser->known_as, "old", "new"};
    size_t count = parser->env->server >= VERSIONS_SINCE ? 3 : 1;
    if (!rw_at_name(parser))
        return false;
    pgw_slice name = rw_take_name(parser);
    for (size_t i = 0; i < count; i++)
        if (pgw_slice_eq_str(name, names[i])) {
            it->row = names[i];
            return rw_table_column(parser->table, name) == parser->table->column_count;
        }
    return false;
}

/* Whether the name before is no row, but a call, a typed literal, an argument's name. */
static bool at_continuation(const rw_parser *parser)
{
    pgw_slice token = rw_token_text(parser->text, parser->token);
    return rw_at(parser, '(') || parser->token.kind == RW_TOKEN_STRING ||
           pgw_slice_eq_str(token, "=>") || pgw_slice_eq_str(token, ":=");
}

/* Whether the token is the first and only element of brackets that make no ROW of it. */
static bool is_bracketed(const item *it)
{
    pgw_slice text = it->parser->text;
    return it->previous.kind == RW_TOKEN_CHAR && text.ptr[it->previous.start] == '(' &&
           !rw_token_is(text, it->before, "row") && rw_at(it->parser, ')');
}

/* Parses the table's name, or name.*, as a row; false: something else, and nothing is taken. */
static bool parse_row(item *it)
{
    rw_parser *parser = it->parser;
    rw_mark mark = rw_mark_here(parser);
    size_t start = parser->token.start;
    bool listed = it->depth > 0 && it->brackets[it->depth - 1] == ROW;
    if (at_operand(it) && take_row_name(it)) {
        bool qualifies = rw_take(parser, '.');
        bool star = qualifies && take_star(parser);
        if (star || (!qualifies && !at_continuation(parser))) {
            listed = listed && star && !is_bracketed(it);
            replace(parser, start, listed ? columns(parser, qualifier(it)) : whole_row(it));
            return true;
        }
    }
    rw_go_back(parser, mark);
    return false;
}

/* Takes (name) or (name.*). */
static bool take_bracketed_name(item *it)
{
    rw_parser *parser = it->parser;
    return rw_take(parser, '(') && take_row_name(it) &&
           (!rw_take(parser, '.') || take_star(parser)) && rw_take(parser, ')');
}

/* Parses (name).*, which is the columns, or (name).column, which is left as it is. */
static bool parse_selection(item *it)
{
    rw_parser *parser = it->parser;
    rw_mark mark = rw_mark_here(parser);
    size_t start = parser->token.start;
    if (at_operand(it) && take_bracketed_name(it) && rw_take(parser, '.')) {
        if (take_star(parser))
            replace(parser, start, columns(parser, qualifier(it)));
        else
            rw_skip_tail_token(parser);
        return true;
    }
    rw_go_back(parser, mark);
    return false;
}

/* --- one item --- */

static void open_bracket(item *it)
{
    bool call =
        it->previous.kind == RW_TOKEN_QUOTED ||
        (it->previous.kind == RW_TOKEN_WORD && !precedes_operand(it->parser->text, it->previous));
    if (it->depth < MAX_DEPTH)
        it->brackets[it->depth] = rw_at(it->parser, '[') ? ELEMENTS : call ? ARGUMENTS : ROW;
    it->depth++;
}

static bool may_replace(const item *it)
{
    return !it->query && it->depth < MAX_DEPTH;
}

/* Takes one token, or several that are replaced; false: a bracket closes that was not opened. */
static bool take_part(item *it)
{
    rw_parser *parser = it->parser;
    rw_token token = parser->token;
    it->query = it->query || rw_at_word(parser, "select");
    if (may_replace(it) && (parse_row(it) || parse_selection(it))) {
        it->before = it->previous;
        it->previous = (rw_token){RW_TOKEN_QUOTED, token.start, parser->last_end};
        return true;
    }
    if (rw_at(parser, '(') || rw_at(parser, '['))
        open_bracket(it);
    else if ((rw_at(parser, ')') || rw_at(parser, ']')) && it->depth-- == 0)
        return false;
    rw_skip_tail_token(parser);
    it->before = it->previous;
    it->previous = token;
    return true;
}

static bool at_end_of_item(const item *it)
{
    const rw_parser *parser = it->parser;
    return rw_at_end(parser) || parser->token.kind == RW_TOKEN_BAD ||
           (it->depth == 0 && rw_at(parser, ','));
}

static bool parse_item(rw_parser *parser)
{
    item it = {
        .parser = parser, .previous = {.kind = RW_TOKEN_END}, .before = {.kind = RW_TOKEN_END}};
    while (!at_end_of_item(&it))
        if (!take_part(&it))
            return false;
    return it.depth == 0 && parser->token.kind != RW_TOKEN_BAD;
}

static bool at_end_of_plain(const rw_parser *parser)
{
    return rw_at(parser, ',') || rw_at_end(parser);
}

/* Notes one more column in the list; false: the columns cannot be listed. */
static bool list_column(rw_parser *parser, size_t column, pgw_slice name)
{
    rw_insert *insert = parser->insert;
    if (insert->returned == NULL)
        insert->returned = pgw_arena_alloc(parser->arena, LISTED_MOST * sizeof *insert->returned);
    if (insert->returned_count == LISTED_MOST || name.len == 0 || name.len > NAME_MOST)
        return false;
    insert->returned[insert->returned_count++] = (rw_returned){column, name};
    return true;
}

/* Parses [table.]column [[AS] label] as a whole item; false if the item is something else, and
 * nothing is taken. `*lists` becomes false if the column does not fit into the list. */
static bool parse_column(rw_parser *parser, bool *lists)
{
    rw_mark mark = rw_mark_here(parser);
    const rw_table *table = parser->table;
    size_t column = table->column_count;
    if (rw_at_name(parser)) {
        pgw_slice name = rw_take_name(parser);
        if (pgw_slice_eq_str(name, parser->known_as) && rw_take(parser, '.') && rw_at_name(parser))
            name = rw_take_name(parser);
        column = rw_table_column(table, name);
    }
    bool known = column < table->column_count;
    pgw_slice label = known ? pgw_slice_str(table->columns[column].name) : (pgw_slice){NULL, 0};
    bool labelled = rw_take_word(parser, "as") || !at_end_of_plain(parser);
    if (known && labelled && rw_at_name(parser))
        label = rw_take_name(parser);
    if (known && at_end_of_plain(parser)) {
        *lists = *lists && list_column(parser, column, label);
        parser->insert->shows |= is_shown(&table->columns[column]);
        return true;
    }
    rw_go_back(parser, mark);
    return false;
}

/* Parses the list of RETURNING. Rows that return columns may be batched with others', for each
 * client gets its own; an expression may call what looks at the session. */
rw_outcome rw_parse_returning(rw_parser *parser)
{
    bool lists = true, star = false;
    parser->insert->values_merge = false;
    do {
        if (at_end_of_plain(parser))
            return rw_syntax_error(parser);
        star = parse_star(parser);
        if (star || parse_column(parser, &lists)) {
            lists = lists && !star;
            continue;
        }
        lists = false;
        parser->insert->shows = true;
        rw_note_blocker(parser, RW_BLOCKER_RETURNING);
        if (!parse_item(parser))
            return rw_syntax_error(parser);
    } while (rw_take(parser, ','));
    if (!lists)
        parser->insert->returned_count = 0;
    return RW_PARSED;
}
