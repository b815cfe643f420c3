#include "rewrite/insert/parse.h"

#include "rewrite/insert/lift.h"
#include "rewrite/insert/query.h"
#include "rewrite/insert/rows.h"
#include "rewrite/insert/tail.h"
#include "rewrite/insert/wanted.h"
#include "rewrite/lex/quote.h"

#include <string.h>

static const pgw_slice nothing = {NULL, 0};

/* --- the head: up to VALUES --- */

static bool is_modifying_word(const rw_parser *parser)
{
    return rw_at_word(parser, "insert") || rw_at_word(parser, "update") ||
           rw_at_word(parser, "delete") || rw_at_word(parser, "merge");
}

/* Parses WITH … up to INSERT INTO. RW_PASS if another statement follows. */
static rw_outcome parse_with(rw_parser *parser)
{
    size_t depth = 0, start = parser->token.start;
    bool modifies = false;
    for (;; rw_skip_token(parser)) {
        if (parser->token.kind == RW_TOKEN_END || parser->token.kind == RW_TOKEN_BAD)
            return RW_PASS;
        if (rw_at(parser, '('))
            depth++;
        else if (rw_at(parser, ')') && depth > 0)
            depth--;
        else if (depth > 0)
            modifies = modifies || is_modifying_word(parser);
        else if (rw_at_word(parser, "insert") || rw_at_word(parser, "upsert") ||
                 rw_at_word(parser, "replace")) {
            rw_mark mark = rw_mark_here(parser);
            rw_advance(parser);
            bool into = rw_at_word(parser, "into");
            rw_go_back(parser, mark);
            if (into)
                break;
        }
    }
    pgw_slice with = {parser->text.ptr + start, parser->token.start - start};
    if (modifies && rw_catalog_mentioned(parser->catalog, with)) {
        pgw_fail(parser->error, "0A000",
                 "WITH queries that write are not supported together with a hashed table");
        pgw_error_hint(parser->error, "Send the statements of the WITH clause on their own.");
        rw_set_position(parser, start);
        return RW_REFUSED;
    }
    rw_note_blocker(parser, RW_BLOCKER_FORM);
    return RW_PARSED;
}

static bool parse_verb(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    size_t start = parser->token.start;
    if (rw_take_word(parser, "insert"))
        insert->verb = RW_VERB_INSERT;
    else if (rw_take_word(parser, "upsert"))
        insert->verb = RW_VERB_UPSERT;
    else if (rw_take_word(parser, "replace"))
        insert->verb = RW_VERB_REPLACE;
    else
        return false;
    if (insert->verb != RW_VERB_INSERT)
        rw_add_splice(parser, start, parser->last_end - start, PGW_LITERAL("INSERT"));
    return rw_take_word(parser, "into");
}

/* Parses [[database.]schema.]table and its alias. RW_PASS if the table is not configured. */
static rw_outcome parse_table(rw_parser *parser)
{
    pgw_slice schema = nothing, name = nothing;
    for (int part = 0; part < 3; part++) {
        if (!rw_at_name(parser))
            return RW_PASS;
        schema = name;
        name = rw_take_name(parser);
        if (!rw_take(parser, '.'))
            break;
    }
    parser->table = rw_catalog_find(parser->catalog, schema, name);
    if (parser->table == NULL || parser->impossible)
        return RW_PASS;
    parser->insert->table = parser->table;
    if (parser->table->unusable != NULL) {
        pgw_fail(parser->error, "55000", "table \"%s\" cannot be written: %s", parser->table->name,
                 parser->table->unusable);
        pgw_error_hint(parser->error,
                       "Correct the table or the configuration; \"keyspread verify\" "
                       "counts rows with a wrong hash.");
        return RW_REFUSED;
    }
    parser->known_as = parser->table->name;
    if (rw_take_word(parser, "as")) {
        if (!rw_at_name(parser))
            return rw_syntax_error(parser);
        parser->known_as = pgw_arena_copy(parser->arena, rw_take_name(parser)).ptr;
    }
    return RW_PARSED;
}

/* Skips `[…]` behind a column, which may hold a query if it has more than numbers. */
static bool skip_subscript(rw_parser *parser)
{
    size_t from = parser->token.start;
    if (!rw_skip_brackets(parser))
        return false;
    for (size_t i = from; i < parser->last_end; i++)
        if (strchr("0123456789:[] ", parser->text.ptr[i]) == NULL) {
            rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
            break;
        }
    return true;
}

/* Parses the column list behind its '('. */
static rw_outcome parse_columns(rw_parser *parser)
{
    parser->columns_listed = true;
    do {
        if (!rw_at_name(parser))
            return rw_syntax_error(parser);
        size_t position = parser->token.start;
        size_t column = rw_table_column(parser->table, rw_take_name(parser));
        if (rw_denies(parser, column))
            return rw_deny_column(parser, position);
        rw_target *target = rw_add_target(parser, column, position);
        parser->unknown_column |= column == parser->table->column_count;
        parser->insert->hash_listed |= target->slot == RW_HASH_SLOT;
        while (rw_at(parser, '[') || rw_at(parser, '.')) {
            target->indirect = true;
            if (rw_take(parser, '.') ? !rw_at_name(parser) : !skip_subscript(parser))
                return rw_syntax_error(parser);
            if (parser->text.ptr[parser->last_end - 1] == '.')
                rw_advance(parser);
        }
    } while (rw_take(parser, ','));
    if (!rw_at(parser, ')'))
        return rw_syntax_error(parser);
    if (!parser->insert->hash_listed) {
        pgw_buf list = {0};
        pgw_buf_add_str(&list, ", ");
        rw_add_identifier(&list, parser->table->columns[parser->table->hash_column].name);
        rw_add_splice(parser, parser->token.start, 0,
                      pgw_arena_copy(parser->arena, pgw_slice_buf(&list)));
        pgw_buf_free(&list);
    }
    parser->insert->list_end = parser->token.start;
    rw_advance(parser);
    return RW_PARSED;
}

/* Whether the '(' that is next opens a column list, not a query. */
static bool opens_columns(rw_parser *parser)
{
    rw_mark mark = rw_mark_here(parser);
    rw_advance(parser);
    bool columns = rw_at_name(parser) && !rw_at_word(parser, "select") &&
                   !rw_at_word(parser, "with") && !rw_at_word(parser, "table");
    if (columns && rw_at_word(parser, "values")) {
        rw_advance(parser);
        columns = !rw_at(parser, '(');
    }
    rw_go_back(parser, mark);
    return columns;
}

static rw_outcome parse_overriding(rw_parser *parser)
{
    if (!rw_take_word(parser, "overriding"))
        return RW_PARSED;
    parser->overriding_user = rw_at_word(parser, "user");
    parser->overriding_system = rw_at_word(parser, "system");
    if (!parser->overriding_user && !parser->overriding_system)
        return rw_syntax_error(parser);
    rw_advance(parser);
    if (!rw_take_word(parser, "value"))
        return rw_syntax_error(parser);
    parser->overriding_end = parser->last_end;
    return RW_PARSED;
}

/* Whether the list of a SELECT ends here. Neither DISTINCT ON nor IS DISTINCT FROM ends it. */
static bool ends_selected(const rw_parser *parser, bool distinct)
{
    static const char *const words[] = {"where", "group",  "having",    "window", "union",
                                        "order", "except", "intersect", "limit",  "offset",
                                        "fetch", "for",    "returning", "into"};
    if (rw_at_end(parser) || parser->token.kind == RW_TOKEN_BAD || rw_at(parser, ')'))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_at_word(parser, words[i]))
            return true;
    return (rw_at_word(parser, "from") || rw_at_word(parser, "on")) && !distinct;
}

/* How many columns the SELECT that is next gives; 0 if a * may stand for any number. A wrong count
 * is an error in the server, and never puts a value into another column. */
static size_t count_selected(rw_parser *parser)
{
    rw_mark mark = rw_mark_here(parser);
    size_t count = 1;
    bool distinct = false, star = false;
    for (rw_skip_token(parser); !ends_selected(parser, distinct) && !star;) {
        pgw_slice token = rw_token_text(parser->text, parser->token);
        distinct = rw_at_word(parser, "distinct");
        star = pgw_slice_eq_str(token, "*");
        count += rw_at(parser, ',');
        if (!rw_at(parser, '(') && !rw_at(parser, '['))
            rw_skip_token(parser);
        else if (!rw_skip_brackets(parser))
            break;
    }
    rw_go_back(parser, mark);
    return star ? 0 : count;
}

/* Parses up to and with VALUES; `depth` is how many parentheses stand around it. */
static rw_outcome parse_source(rw_parser *parser, size_t *depth)
{
    parser->name_end = parser->last_end;
    if (rw_at(parser, '(') && opens_columns(parser)) {
        rw_advance(parser);
        rw_outcome outcome = parse_columns(parser);
        if (outcome != RW_PARSED)
            return outcome;
    }
    if (!parser->columns_listed) /* the list is filled in when the number of values is known */
        rw_add_splice(parser, parser->name_end, 0, nothing);
    parser->source = parser->last_end;
    rw_outcome outcome = parse_overriding(parser);
    if (outcome != RW_PARSED)
        return outcome;
    parser->default_values = rw_at_word(parser, "default");
    if (parser->default_values && (parser->columns_listed || parser->overriding_end > 0))
        return rw_syntax_error(parser);
    if (parser->default_values)
        return rw_want_defaults(parser);
    parser->query = rw_mark_here(parser);
    while (rw_take(parser, '('))
        ++*depth;
    if (rw_at_word(parser, "select"))
        parser->query_columns = count_selected(parser);
    if (rw_at_word(parser, "select") || rw_at_word(parser, "table") || rw_at_word(parser, "with"))
        return rw_from_a_query(parser);
    if (!rw_take_word(parser, "values"))
        return rw_syntax_error(parser);
    parser->insert->values = parser->last_end;
    return RW_PARSED;
}

/* --- the whole --- */

static void note_omitted(rw_parser *parser)
{
    const rw_table *table = parser->table;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].sequence && !table->columns[i].computed)
            continue;
        bool listed = false;
        for (size_t k = 0; k < parser->target_count && !listed; k++)
            listed = parser->targets[k].column == i;
        if (!listed && table->columns[i].computed)
            rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
        if (!table->columns[i].sequence)
            continue;
        if (!listed || rw_overridden(parser, i))
            rw_note_blocker(parser, RW_BLOCKER_SEQUENCE);
        if (rw_overridden(parser, i) && rw_slot_of(table, i) >= 0)
            parser->insert->key_constant = false;
    }
}

static void finish(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    if (!parser->table->mergeable)
        rw_note_blocker(parser, RW_BLOCKER_TRIGGER);
    if (parser->unknown_column)
        rw_note_blocker(parser, RW_BLOCKER_FORM);
    note_omitted(parser);
    unsigned blockers = parser->blockers;
    if (parser->table->ignore_sequences)
        blockers &= ~(1u << RW_BLOCKER_SEQUENCE);
    while (blockers != 0 && (blockers & 1u << insert->blocker) == 0)
        insert->blocker++;
    for (uint32_t i = 0; i < insert->param_count; i++)
        if (parser->params[i] == (uint32_t)RW_PARAM_UNCLEAR)
            parser->params[i] = PGW_UNSPECIFIED;
    insert->inferred = parser->params;
    if (insert->param_count > 0) /* the client's parameters have the numbers of lifted cells */
        rw_lift_give_up(parser);
    insert->end = parser->last_end;
}

/* Parses up to the table that is written. */
static rw_outcome parse_head(rw_parser *parser)
{
    rw_outcome outcome = RW_PARSED;
    if (rw_at_word(parser, "with"))
        outcome = parse_with(parser);
    if (outcome == RW_PARSED && !parse_verb(parser))
        outcome = RW_PASS;
    return outcome == RW_PARSED ? parse_table(parser) : outcome;
}

static rw_outcome parse_statement(rw_parser *parser)
{
    size_t depth = 0;
    rw_outcome outcome = parse_head(parser);
    if (outcome == RW_PARSED)
        outcome = parse_source(parser, &depth);
    if (outcome == RW_PARSED && !parser->default_values && !parser->insert->query)
        outcome = rw_parse_rows(parser, depth);
    if (outcome == RW_PARSED)
        outcome = rw_parse_tail(parser);
    return outcome == RW_PARSED ? rw_check_last(parser) : outcome;
}

/* Lists the columns that the client knows, lest a value comes to stand in the hash column: as many
 * as there are values, if their number is known. */
static void keep_hash_out(rw_parser *parser, size_t name_end)
{
    const rw_table *table = parser->table;
    size_t most = parser->target_count > 0 ? parser->target_count : parser->query_columns;
    size_t count = 0;
    pgw_buf list = {0};
    parser->insert->list_made = true;
    for (size_t i = 0; i < table->column_count && (most == 0 || count < most); i++) {
        if (i == table->hash_column)
            continue;
        pgw_buf_add_str(&list, count++ == 0 ? " (" : ", ");
        rw_add_identifier(&list, table->columns[i].name);
    }
    pgw_buf_add_byte(&list, ')');
    if (count > 0)
        rw_add_splice(parser, name_end, 0, pgw_arena_copy(parser->arena, pgw_slice_buf(&list)));
    pgw_buf_free(&list);
}

/* Leaves the statement without a hash: the table takes the row without it, or rejects it. */
static void leave_untouched(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    while (parser->token.kind != RW_TOKEN_END && parser->token.kind != RW_TOKEN_BAD)
        rw_skip_token(parser);
    insert->rows = NULL;
    insert->row_count = insert->splice_count = 0;
    if (!parser->columns_listed && !parser->default_values)
        keep_hash_out(parser, parser->name_end);
    insert->values_merge = insert->key_constant = false;
    finish(parser);
    insert->blocker = RW_BLOCKER_UNCOMPUTABLE;
}

static rw_outcome refuse_large(pgw_error *error)
{
    pgw_fail(error, "54000",
             "a text for a configured table has too many statements, rows or values");
    pgw_error_hint(error, "Send it in parts.");
    return RW_REFUSED;
}

static void keep_rows(rw_parser *parser)
{
    size_t size = parser->insert->row_count * sizeof *parser->many;
    pgw_buf rows = {.ptr = (char *)parser->many, .len = size, .cap = size};
    if (parser->many != NULL)
        parser->insert->rows = (void *)pgw_arena_keep(parser->arena, &rows).ptr;
}

/* Brings the parser to the first token. */
static void begin(rw_parser *parser, pgw_slice text, const pgw_env *env, pgw_arena *arena)
{
    parser->text = text;
    parser->env = env;
    parser->arena = arena;
    parser->insert = pgw_arena_alloc(arena, sizeof *parser->insert);
    parser->insert->text = text;
    parser->insert->utf8 = env->utf8;
    rw_lexer_init(&parser->lexer, text, env->conforming);
    rw_advance(parser);
}

const rw_table *rw_insert_target(pgw_slice text, const rw_catalog *catalog, const pgw_env *env)
{
    pgw_error error;
    pgw_arena scratch = {0}; /* a text may have many statements */
    rw_parser parser = {.catalog = catalog, .error = &error};
    begin(&parser, text, env, &scratch);
    (void)parse_head(&parser);
    pgw_arena_free(&scratch);
    return parser.table;
}

bool rw_insert_parse(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     pgw_arena *arena, rw_insert **out, pgw_error *error)
{
    rw_parser parser = {.catalog = catalog, .error = error};
    begin(&parser, text, env, arena);
    *out = NULL;
    rw_outcome outcome = parse_statement(&parser);
    keep_rows(&parser);
    if (parser.too_large)
        outcome = refuse_large(error);
    if (outcome == RW_PASS || (outcome == RW_PARSED && parser.impossible))
        return true;
    if (outcome == RW_REFUSED)
        return false;
    if (outcome == RW_UNTOUCHED)
        leave_untouched(&parser);
    else
        finish(&parser);
    *out = parser.insert;
    return true;
}
