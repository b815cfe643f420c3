#include "rewrite/insert/question.h"

#include "protocol/utf8.h"
#include "rewrite/insert/default_text.h"
#include "rewrite/insert/told_value.h"
#include "rewrite/lex/calls.h"
#include "rewrite/lex/lexer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t oid;
    const char *name; /* a type's name without a modifier, which would cut the value */
} types[] = {
    {PGW_INT2, "int2"},       {PGW_INT4, "int4"},           {PGW_INT8, "int8"},
    {PGW_TEXT, "text"},       {PGW_VARCHAR, "varchar"},     {PGW_BPCHAR, "bpchar"},
    {PGW_BYTEA, "bytea"},     {PGW_UUID, "uuid"},           {PGW_BOOL, "bool"},
    {PGW_DATE, "date"},       {PGW_TIMESTAMP, "timestamp"}, {PGW_TIMESTAMPTZ, "timestamptz"},
    {PGW_NUMERIC, "numeric"}, {PGW_FLOAT8, "float8"}};

/* The types of PostgreSQL's own that can be assigned to a column of `type`, that type among them:
 * pg_cast of versions 15 to 18. No other types can be but those that are made of it (domains). */
static const struct {
    uint32_t type;
    const char *from;
} assignable[] = {
    {PGW_INT2, "20,21,23,700,701,1700"},
    {PGW_INT4, "20,21,23,24,26,700,701,1700,2202,2203,2204,2205,2206,3734,3769,4089,4096,4191"},
    {PGW_INT8, "20,21,23,24,26,700,701,1700,2202,2203,2204,2205,2206,3734,3769,4089,4096,4191"},
    {PGW_BYTEA, "17,3361,3402,5017"},
    {PGW_DATE, "1082,1114,1184"},
    {PGW_TIMESTAMP, "1082,1114,1184"},
    {PGW_TIMESTAMPTZ, "1082,1114,1184"},
    {PGW_NUMERIC, "20,21,23,700,701,790,1700"},
    {PGW_FLOAT8, "20,21,23,700,701,1700"},
    {PGW_UUID, "2950"},
    {PGW_BOOL, "16"}};

/* The types that can be assigned to a column of `type`; NULL: it takes the text of any type. */
static const char *assignable_to(uint32_t type)
{
    for (size_t i = 0; i < sizeof assignable / sizeof *assignable; i++)
        if (assignable[i].type == type)
            return assignable[i].from;
    return NULL;
}

const char *rw_asked_type(uint32_t oid)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].oid == oid)
            return types[i].name;
    return "text";
}

static bool is_text(uint32_t type)
{
    return type == PGW_TEXT || type == PGW_VARCHAR || type == PGW_BPCHAR;
}

/* The text of a column's default; a row of DEFAULT VALUES may have a column without one. */
static const char *default_of(const rw_column *column)
{
    return column->default_text != NULL ? column->default_text : "null";
}

/* Adds a condition by which nothing is evaluated for a user who may not INSERT. */
static void add_condition(const rw_insert *insert, pgw_buf *sql)
{
    pgw_buf_addf(
        sql, " where pg_catalog.has_any_column_privilege(%" PRIu32 "::pg_catalog.oid, 'insert')",
        insert->table->oid);
}

static void add_default(const rw_column *column, pgw_buf *sql)
{
    pgw_buf_addf(sql, "%s(", rw_told_before(column));
    rw_add_default(default_of(column), sql);
    pgw_buf_addf(sql, ")::pg_catalog.%s%s", rw_asked_type(column->type), rw_told_behind(column));
}

/* Wanted defaults that are evaluated one after another. */
typedef struct defaults {
    const rw_insert *insert;
    const size_t *order; /* numbers of the wanted cells, in their order */
    size_t first;        /* wanted cells of other statements, whose numbers come first */
    size_t count;
} defaults;

static size_t column_of(const defaults *run, size_t i)
{
    return run->insert->wanted[run->order[i]].column;
}

static bool has_column(const defaults *run, size_t column)
{
    for (size_t i = 0; i < run->count; i++)
        if (column_of(run, i) == column)
            return true;
    return false;
}

/* Adds the type, or the value, of the default of column number `c`. */
static void add_defaults(const defaults *run, bool as_types, pgw_buf *sql)
{
    const rw_table *table = run->insert->table;
    pgw_buf_add_str(sql, "case");
    for (size_t i = 0; i < table->hash_key_count; i++) {
        const rw_column *of = &table->columns[table->hash_key[i]];
        if (!has_column(run, table->hash_key[i]))
            continue;
        pgw_buf_addf(sql, " when c operator(pg_catalog.=) %zu then ", table->hash_key[i]);
        if (as_types)
            pgw_buf_addf(sql, "'%" PRIu32 "'", of->type);
        else
            add_default(of, sql);
    }
    pgw_buf_add_str(sql, " end");
}

static void add_run(const defaults *run, pgw_buf *sql)
{
    const rw_table *table = run->insert->table;
    bool own = table->columns[table->hash_key[0]].own_casts != RW_NO_OWN_CASTS;
    pgw_buf_add_str(sql, own ? "select pg_catalog.textin(pg_catalog.int4out(n)), "
                             : "select n::pg_catalog.text, ");
    add_defaults(run, true, sql);
    pgw_buf_add_str(sql, ", ");
    add_defaults(run, false, sql);
    pgw_buf_add_str(sql, " from rows from (pg_catalog.unnest('");
    for (size_t i = 0; i < run->count; i++)
        pgw_buf_addf(sql, "%c%zu", i == 0 ? '{' : ',', run->first + run->order[i]);
    pgw_buf_add_str(sql, "}'::pg_catalog.int4[]), pg_catalog.unnest('");
    for (size_t i = 0; i < run->count; i++)
        pgw_buf_addf(sql, "%c%zu", i == 0 ? '{' : ',', column_of(run, i));
    pgw_buf_add_str(sql, "}'::pg_catalog.int4[])) q(n, c)");
    add_condition(run->insert, sql);
}

/* The oids of v's type and, if that is a domain, of the types that it is made of. */
#define TYPES                                                                                      \
    "(with recursive b(o) as (select pg_catalog.pg_typeof(v)::pg_catalog.oid union all select "    \
    "typbasetype from b join pg_catalog.pg_type y on y.oid operator(pg_catalog.=) o where "        \
    "typtype operator(pg_catalog.=) 'd') select o from b)"

static bool is_built_in_word(pgw_slice text, rw_token word, rw_token next)
{
    static const char *const words[] = {"at",
                                        "current_date",
                                        "current_timestamp",
                                        "false",
                                        "interval",
                                        "localtimestamp",
                                        "null",
                                        "time",
                                        "true",
                                        "zone",
                                        NULL};
    pgw_slice name = rw_token_text(text, word);
    if (next.kind == RW_TOKEN_CHAR && text.ptr[next.start] == '(')
        return rw_call_of(name) != RW_CALL_UNKNOWN;
    for (const char *const *known = words; *known != NULL; known++)
        if (rw_word_is(text, word, *known))
            return true;
    return pgw_type_by_name(name) != PGW_UNSPECIFIED;
}

/* Whether the cell names nothing but what PostgreSQL brings along, so that its type is PostgreSQL's
 * own, too. */
static bool is_built_in(const rw_insert *insert, const rw_wanted *wanted)
{
    pgw_slice cell = {insert->text.ptr + wanted->from, wanted->to - wanted->from};
    const rw_column *column = &insert->table->columns[wanted->column];
    if (column->own_names || column->own_rows || rw_lexer_heeds_conforming(cell))
        return false;
    rw_lexer lexer;
    rw_lexer_init(&lexer, cell, true);
    rw_token token = rw_lexer_next(&lexer);
    for (rw_token next; token.kind != RW_TOKEN_END; token = next) {
        next = rw_lexer_next(&lexer);
        bool named = token.kind == RW_TOKEN_WORD && is_built_in_word(cell, token, next);
        bool plain = token.kind == RW_TOKEN_STRING || token.kind == RW_TOKEN_INTEGER ||
                     token.kind == RW_TOKEN_DECIMAL || token.kind == RW_TOKEN_OPERATOR ||
                     token.kind == RW_TOKEN_CAST ||
                     (token.kind == RW_TOKEN_CHAR && strchr("(),", cell.ptr[token.start]) != NULL);
        if (!named && !plain)
            return false;
    }
    return true;
}

/* Adds the condition that v can be assigned to the column. Every type can become text, unless
 * somebody has made a cast of it that must be written. */
static void add_fits(const rw_column *column, bool built_in, pgw_buf *sql)
{
    const char *from = assignable_to(column->type);
    if (built_in && from != NULL && column->own_casts == RW_NO_OWN_CASTS)
        pgw_buf_addf(sql,
                     "pg_catalog.pg_typeof(v)::pg_catalog.oid operator(pg_catalog.=) any "
                     "('{%s}'::pg_catalog.oid[]) fits",
                     from);
    else if (is_text(column->type))
        pgw_buf_addf(sql,
                     "not exists (select from " TYPES " d(o) join pg_catalog.pg_cast on castsource "
                     "operator(pg_catalog.=) o and casttarget operator(pg_catalog.=) %" PRIu32
                     " and castcontext operator(pg_catalog.=) 'e') fits",
                     column->type);
    else
        pgw_buf_addf(sql,
                     "exists (select where "
                     "pg_catalog.pg_typeof(v)::pg_catalog.oid operator(pg_catalog.=) %" PRIu32
                     " union all select from " TYPES " d(o) where o operator(pg_catalog.=) %" PRIu32
                     " or exists (select from pg_catalog.pg_cast where castsource "
                     "operator(pg_catalog.=) o and casttarget operator(pg_catalog.=) %" PRIu32
                     " and castcontext operator(pg_catalog.<>) 'e')) fits",
                     column->type, column->type, column->type);
}

/* Adds a SELECT of what an assignment to the column would make of v, or of v's type if it cannot be
 * assigned. The longer question about types costs PostgreSQL half a millisecond a value: it is left
 * out where v is of a type of PostgreSQL's own (`built_in`). */
static void add_answer(size_t i, const rw_column *column, bool built_in, pgw_buf *sql)
{
    if (is_text(column->type) && column->own_casts == RW_NO_OWN_CASTS) {
        pgw_buf_addf(sql, "select '%zu', '%" PRIu32 "', (v)::pg_catalog.text from (select v", i,
                     column->type);
    } else {
        pgw_buf_addf(sql,
                     "select '%zu', case when fits then '%" PRIu32 "' else t end, case when fits "
                     "then %s(v)::pg_catalog.%s%s end from (select v, "
                     "pg_catalog.pg_typeof(v)::pg_catalog.text t, ",
                     i, column->type, rw_told_before(column), rw_asked_type(column->type),
                     rw_told_behind(column));
        add_fits(column, built_in, sql);
    }
    pgw_buf_add_str(sql, " from (values (");
}

/* The column and its type as PostgreSQL's errors name them, without a length or precision. */
static pgw_slice column_of_error(const rw_column *column, pgw_arena *arena)
{
    const char *open = strchr(column->type_name, '('), *close = strchr(column->type_name, ')');
    int len = open != NULL ? (int)(open - column->type_name) : (int)strlen(column->type_name);
    return pgw_slice_str(pgw_arena_printf(arena, "column \"%s\" is of type %.*s%s", column->name,
                                          len, column->type_name, close != NULL ? close + 1 : ""));
}

/* Asks for a cell of a table that is known by the file alone, in a database that tells no types
 * (YDB). COALESCE refuses what an assignment would; the cast makes of other values what an
 * assignment would. */
static rw_place add_cast(const rw_insert *insert, size_t i, pgw_buf *sql)
{
    const rw_wanted *wanted = &insert->wanted[i];
    const rw_column *column = &insert->table->columns[wanted->column];
    const char *type = rw_asked_type(column->type);
    const bool any = is_text(column->type); /* a text column takes the text of any value */
    pgw_buf_addf(sql, "select '%zu'::text, '%" PRIu32 "'::text, cast(%s", i, column->type,
                 any ? "(" : "cast(coalesce(");
    size_t begun = sql->len;
    pgw_buf_add(sql, insert->text.ptr + wanted->from, wanted->to - wanted->from);
    if (any)
        pgw_buf_add_str(sql, "\n) as text)");
    else
        pgw_buf_addf(sql, "\n, cast(null as %s)) as %s) as text)", type, type);
    return (rw_place){.at = begun, .len = wanted->to - wanted->from};
}

/* Adds the default of a wanted cell, which is number `n` of the question, for a database that tells
 * no types. */
static void add_plain_default(const rw_insert *insert, size_t i, size_t n, pgw_buf *sql)
{
    const rw_column *column = &insert->table->columns[insert->wanted[i].column];
    pgw_buf_addf(sql, "select '%zu'::text, '%" PRIu32 "'::text, cast(cast((%s) as %s) as text)", n,
                 column->type, default_of(column), rw_asked_type(column->type));
}

/* Asks for an expression in a VALUES list, where it may be what it may be in the INSERT, and names
 * mean no columns. OFFSET 0 has it evaluated once. */
static rw_place add_expression(const rw_insert *insert, size_t i, bool plain, pgw_arena *arena,
                               pgw_buf *sql)
{
    const rw_wanted *wanted = &insert->wanted[i];
    const rw_column *column = &insert->table->columns[wanted->column];
    if (plain) {
        rw_place place = add_cast(insert, i, sql);
        place.column = column_of_error(column, arena);
        return place;
    }
    add_answer(i, column, wanted->overridden || wanted->untyped || is_built_in(insert, wanted),
               sql);
    if (wanted->overridden) { /* the default is never NULL: the value only lends its type */
        pgw_buf_add_str(sql, "coalesce((");
        rw_add_default(column->default_text, sql);
        pgw_buf_addf(sql, ")::pg_catalog.%s, ", rw_asked_type(column->type));
    } else if (wanted->untyped) {
        pgw_buf_add_byte(sql, '(');
    }
    size_t begun = sql->len;
    pgw_buf_add(sql, insert->text.ptr + wanted->from, wanted->to - wanted->from);
    if (wanted->overridden || wanted->untyped) /* the cell may end in a comment */
        pgw_buf_addf(sql, "\n)::pg_catalog.%s", rw_asked_type(column->type));
    pgw_buf_add_str(sql, "\n)) e(v)");
    add_condition(insert, sql);
    pgw_buf_add_str(sql, " offset 0) q");
    return (rw_place){
        .at = begun, .len = wanted->to - wanted->from, .column = column_of_error(column, arena)};
}

/* Whether wanted cell i is evaluated before j: a lone row's cells in the order of the table's
 * columns, those of several rows as they are written, cells that are not written last. */
static bool comes_before(const rw_insert *insert, size_t i, size_t j)
{
    const rw_wanted *a = &insert->wanted[i], *b = &insert->wanted[j];
    bool a_written = a->to > 0, b_written = b->to > 0;
    if (a->row != b->row)
        return a->row < b->row;
    if (insert->row_count > 1 && a_written != b_written)
        return a_written;
    return insert->row_count > 1 && a_written ? a->from < b->from : a->column < b->column;
}

/* The numbers of the wanted cells, in the order in which the INSERT would evaluate them. */
static const size_t *order_of(const rw_insert *insert, pgw_arena *arena)
{
    size_t *order = pgw_arena_alloc(arena, insert->wanted_count * sizeof *order);
    for (size_t i = 0; i < insert->wanted_count; i++) {
        size_t at = i;
        for (; at > 0 && comes_before(insert, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* A byte of the statement's text, and the characters in front of it. */
typedef struct place_in_text {
    size_t at, before;
} place_in_text;

/* Moves `here` to byte `at`, which is not far, and returns the characters in front of it. */
static size_t move_mark(const rw_insert *insert, place_in_text *here, size_t at)
{
    bool forth = at >= here->at;
    size_t len = forth ? at - here->at : here->at - at;
    pgw_slice part = {insert->text.ptr + (forth ? here->at : at), len};
    size_t characters = pgw_characters(part, len, insert->utf8);
    here->before = forth ? here->before + characters : here->before - characters;
    here->at = at;
    return here->before;
}

void rw_question_of(const rw_insert *insert, bool plain, pgw_arena *arena, rw_question *out)
{
    pgw_buf sql = {0};
    const rw_wanted *wanted = insert->wanted;
    const size_t *order = order_of(insert, arena);
    place_in_text here = {0};
    *out = (rw_question){.utf8 = insert->utf8, .plain = plain};
    out->places = pgw_arena_alloc(arena, insert->wanted_count * sizeof *out->places);
    out->types = pgw_arena_alloc(arena, insert->wanted_count * sizeof *out->types);
    for (size_t i = 0; i < insert->wanted_count; i++)
        out->types[i] = insert->table->columns[wanted[i].column].type;
    for (size_t i = 0; i < insert->wanted_count;) {
        defaults run = {.insert = insert, .order = order + i};
        pgw_buf_add_str(&sql, i > 0 ? " union all " : "");
        if (plain && !wanted[order[i]].expression) {
            add_plain_default(insert, order[i], order[i], &sql);
            i++;
            continue;
        }
        for (; i < insert->wanted_count && !wanted[order[i]].expression; i++)
            run.count++;
        if (run.count > 0) {
            add_run(&run, &sql);
            continue;
        }
        rw_place *place = &out->places[out->count++];
        *place = add_expression(insert, order[i], plain, arena, &sql);
        place->before = move_mark(insert, &here, wanted[order[i++]].from);
    }
    out->sql = pgw_arena_copy(arena, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
}

/* Adds a statement's defaults, numbered behind `first` of other statements. */
static void add_all_defaults(const rw_insert *insert, size_t first, bool plain, pgw_arena *arena,
                             pgw_buf *sql)
{
    const size_t *order = order_of(insert, arena);
    if (!plain)
        add_run(&(defaults){insert, order, first, insert->wanted_count}, sql);
    for (size_t i = 0; i < insert->wanted_count && plain; i++) {
        pgw_buf_add_str(sql, i > 0 ? " union all " : "");
        add_plain_default(insert, order[i], first + order[i], sql);
    }
}

void rw_question_of_several(const rw_insert *const *inserts, size_t count, bool plain,
                            pgw_arena *arena, rw_question *out)
{
    pgw_buf sql = {0};
    size_t wanted = 0, first = 0;
    for (size_t i = 0; i < count; i++)
        wanted += inserts[i]->wanted_count;
    *out = (rw_question){.utf8 = inserts[0]->utf8,
                         .plain = plain,
                         .types = pgw_arena_alloc(arena, wanted * sizeof *out->types)};
    for (size_t i = 0; i < count; first += inserts[i++]->wanted_count) {
        const rw_insert *insert = inserts[i];
        for (size_t k = 0; k < insert->wanted_count; k++)
            out->types[first + k] = insert->table->columns[insert->wanted[k].column].type;
        pgw_buf_add_str(&sql, i > 0 ? " union all " : "");
        add_all_defaults(insert, first, plain, arena, &sql);
    }
    out->sql = pgw_arena_copy(arena, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
}

void rw_question_put_before(rw_question *question, pgw_slice select, pgw_arena *arena)
{
    pgw_buf sql = {0};
    pgw_buf_add_slice(&sql, select);
    pgw_buf_add_slice(&sql, question->sql);
    question->sql = pgw_arena_keep(arena, &sql);
    for (size_t i = 0; i < question->count; i++)
        question->places[i].at += select.len;
}

/* ---- the answer ---- */

/* A record of one real number as hexadecimal digits: the number of its columns, the type, the
 * length (a NULL ends here), the bits. */
enum { HEAD_DIGITS = 24, REAL_DIGITS = 16 };

static pgw_slice read_real(pgw_slice record, pgw_arena *arena)
{
    char digits[REAL_DIGITS + 1] = "";
    if (record.len == HEAD_DIGITS + REAL_DIGITS)
        memcpy(digits, record.ptr + HEAD_DIGITS, REAL_DIGITS);
    uint64_t bits = strtoull(digits, NULL, 16);
    double real;
    memcpy(&real, &bits, sizeof real);
    return pgw_slice_str(isnan(real) ? "NaN" : pgw_arena_printf(arena, "%.17g", real));
}

static bool is_number(pgw_slice text)
{
    return text.len > 0 && text.ptr[0] >= '0' && text.ptr[0] <= '9';
}

rw_answer rw_answer_read(const rw_question *question, size_t i, pgw_slice type, pgw_slice told,
                         pgw_arena *arena)
{
    bool null = told.ptr == NULL;
    bool real = question->types[i] == PGW_FLOAT8 && !null && !question->plain;
    if (!is_number(type))
        return (rw_answer){.other_type = pgw_arena_copy(arena, type)};
    return (rw_answer){.null = null || (real && told.len == HEAD_DIGITS),
                       .text = real ? read_real(told, arena) : pgw_arena_copy(arena, told)};
}

static void fail_type(pgw_slice column, pgw_slice type, size_t position, pgw_error *error)
{
    pgw_fail(error, "42804", "%.*s but expression is of type %.*s", (int)column.len, column.ptr,
             (int)type.len, type.ptr);
    pgw_error_hint(error, "You will need to rewrite or cast the expression.");
    error->position = position;
}

/* The offset in a cell at which the server's errors point: in `type 'text'`, that of the text. */
static size_t pointed_at(pgw_slice cell)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, cell, true);
    rw_token token = rw_lexer_next(&lexer);
    bool named = token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED;
    while (named && (token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED ||
                     token.kind == RW_TOKEN_CHAR || token.kind == RW_TOKEN_INTEGER))
        token = rw_lexer_next(&lexer);
    return named && token.kind == RW_TOKEN_STRING && token.end == cell.len ? token.start : 0;
}

bool rw_answer_check(const rw_insert *insert, size_t i, const rw_answer *answer, pgw_error *error)
{
    const rw_wanted *wanted = &insert->wanted[i];
    pgw_arena arena = {0};
    if (answer->other_type.len == 0)
        return true;
    pgw_slice cell = {insert->text.ptr + wanted->from, wanted->to - wanted->from};
    size_t at = wanted->from + pointed_at(cell);
    fail_type(column_of_error(&insert->table->columns[wanted->column], &arena), answer->other_type,
              pgw_characters(insert->text, at, insert->utf8) + 1, error);
    pgw_arena_free(&arena);
    return false;
}

/* ---- errors ---- */

/* Makes an error about keyspread's own cast to the column's type, or its COALESCE, one about the
 * column. `head` and `behind` are the words around the expression's type. */
static void fail_cast(const rw_question *question, size_t at, const char *head, const char *behind,
                      pgw_error *error)
{
    const char *type = error->message + strlen(head), *end = strstr(error->message, behind);
    size_t i = 0;
    while (i < question->count && question->places[i].at < at)
        i++;
    if (i == question->count || strncmp(error->message, head, strlen(head)) != 0 || end < type)
        return;
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(end - type), type);
    const rw_place *place = &question->places[i];
    pgw_slice cell = {question->sql.ptr + place->at, place->len};
    size_t inside = pgw_characters(cell, pointed_at(cell), question->utf8);
    fail_type(place->column, pgw_slice_str(name), place->before + inside + 1, error);
}

void rw_question_failed(const rw_question *question, pgw_error *error)
{
    size_t at = pgw_byte_of(question->sql, error->position, question->utf8);
    bool pointed = error->position > 0;
    error->position = 0;
    for (size_t i = 0; i < question->count && pointed; i++) {
        const rw_place *place = &question->places[i];
        if (at >= place->at && at - place->at < place->len) {
            pgw_slice written = {question->sql.ptr + place->at, place->len};
            error->position =
                place->before + pgw_characters(written, at - place->at, question->utf8) + 1;
            return;
        }
    }
    if ((pointed || question->plain) && pgw_error_is(error, "42846"))
        fail_cast(question, pointed ? at : 0, "cannot cast type ", " to ", error);
    if (question->plain && question->count == 1 && pgw_error_is(error, "42804"))
        fail_cast(question, 0, "COALESCE types ", " and ", error);
}
