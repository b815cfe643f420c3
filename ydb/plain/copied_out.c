#include "ydb/plain/copied_out.h"

#include "protocol/copy/fields.h"
#include "protocol/reader.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/script/syntax.h"
#include "ydb/plain/result.h"

#include <string.h>

typedef enum format { TEXT, CSV, BINARY } format;

struct rw_copied_out {
    const pgw_env *env;
    pgw_slice query;
    format format;
    char delimiter, quote, escape;
    pgw_slice null;
    bool header, all_quoted;
    const char **quoted; /* names of columns in FORCE_QUOTE */
    size_t quoted_count;
    uint32_t *types;
    bool *forced; /* whether each column is quoted whatever it holds */
    size_t count; /* columns of a row */
    uint64_t rows;
};

/* --- the statement --- */

static bool refuse(const pgw_reading *reading, const char *what, const char *hint)
{
    pgw_fail(reading->error, "0A000", "COPY on YDB: %s", what);
    pgw_error_hint(reading->error, "%s", hint);
    return false;
}

static const char *string_of(const PgQuery__Node *arg)
{
    return arg != NULL && arg->node_case == PG_QUERY__NODE__NODE_STRING ? arg->string->sval : NULL;
}

static bool is_on(const PgQuery__Node *arg)
{
    const char *text = string_of(arg);
    if (text != NULL)
        return strcasecmp(text, "false") != 0 && strcasecmp(text, "off") != 0;
    if (arg != NULL && arg->node_case == PG_QUERY__NODE__NODE_INTEGER)
        return arg->integer->ival != 0;
    return arg == NULL || arg->node_case != PG_QUERY__NODE__NODE_BOOLEAN || arg->boolean->boolval;
}

static bool read_format(rw_copied_out *it, const char *name, const pgw_reading *reading)
{
    static const char *const names[] = {[TEXT] = "text", [CSV] = "csv", [BINARY] = "binary"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name != NULL && strcmp(name, names[i]) == 0) {
            it->format = (format)i;
            return true;
        }
    return pgw_fail(reading->error, "22023", "COPY format \"%s\" not recognized",
                    name != NULL ? name : "");
}

static bool read_char(const char *name, const char *text, char *out, const pgw_reading *reading)
{
    if (text == NULL || strlen(text) != 1)
        return pgw_fail(reading->error, "0A000", "COPY %s must be a single one-byte character",
                        name);
    *out = text[0];
    return true;
}

static void read_quoted(rw_copied_out *it, const PgQuery__Node *arg, pgw_arena *arena)
{
    it->all_quoted = arg != NULL && arg->node_case == PG_QUERY__NODE__NODE_A_STAR;
    if (arg == NULL || arg->node_case != PG_QUERY__NODE__NODE_LIST)
        return;
    it->quoted = pgw_arena_alloc(arena, (arg->list->n_items + 1) * sizeof *it->quoted);
    for (size_t i = 0; i < arg->list->n_items; i++) {
        const char *name = string_of(arg->list->items[i]);
        if (name != NULL)
            it->quoted[it->quoted_count++] = pgw_arena_printf(arena, "%s", name);
    }
}

static bool read_encoding(const char *name, const pgw_reading *reading)
{
    bool utf8 = name != NULL && (strcasecmp(name, "utf8") == 0 || strcasecmp(name, "utf-8") == 0);
    return utf8 || refuse(reading, "data in another encoding than UTF8", "Write ENCODING 'UTF8'.");
}

static bool read_option(rw_copied_out *it, const PgQuery__DefElem *option,
                        const pgw_reading *reading)
{
    const char *name = option->defname, *text = string_of(option->arg);
    if (strcmp(name, "format") == 0)
        return read_format(it, text, reading);
    if (strcmp(name, "delimiter") == 0)
        return read_char(name, text, &it->delimiter, reading);
    if (strcmp(name, "quote") == 0)
        return read_char(name, text, &it->quote, reading);
    if (strcmp(name, "escape") == 0)
        return read_char(name, text, &it->escape, reading);
    if (strcmp(name, "encoding") == 0)
        return read_encoding(text, reading);
    if (strcmp(name, "null") == 0)
        it->null = pgw_arena_copy(reading->arena, pgw_slice_str(text));
    else if (strcmp(name, "header") == 0)
        it->header = is_on(option->arg);
    else if (strcmp(name, "force_quote") == 0)
        read_quoted(it, option->arg, reading->arena);
    else
        return pgw_fail(reading->error, "42601", "option \"%s\" not recognized", name);
    return true;
}

static bool read_options(rw_copied_out *it, const PgQuery__CopyStmt *copy,
                         const pgw_reading *reading)
{
    for (size_t i = 0; i < copy->n_options; i++)
        if (copy->options[i]->node_case == PG_QUERY__NODE__NODE_DEF_ELEM &&
            !read_option(it, copy->options[i]->def_elem, reading))
            return false;
    bool csv = it->format == CSV;
    if (it->delimiter == '\0')
        it->delimiter = csv ? ',' : '\t';
    if (it->null.ptr == NULL)
        it->null = csv ? PGW_LITERAL("") : PGW_LITERAL("\\N");
    if (it->quote == '\0')
        it->quote = '"';
    if (it->escape == '\0')
        it->escape = it->quote;
    return it->format == BINARY || pgw_copy_delimits(csv, it->delimiter, it->quote, reading->error);
}

/* The query in the brackets behind COPY. */
static pgw_slice query_in(pgw_slice text, bool conforming)
{
    rw_lexer lexer;
    size_t from = 0, depth = 0;
    rw_lexer_init(&lexer, text, conforming);
    for (;;) {
        rw_token token = rw_lexer_next(&lexer);
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD)
            return (pgw_slice){NULL, 0};
        char c = token.kind == RW_TOKEN_CHAR ? text.ptr[token.start] : '\0';
        if (c == '(' && depth++ == 0)
            from = token.end;
        if (c == ')' && --depth == 0)
            return (pgw_slice){text.ptr + from, token.start - from};
    }
}

static pgw_slice query_of_table(const PgQuery__CopyStmt *copy, pgw_arena *arena)
{
    pgw_buf out = {0};
    pgw_buf_add_str(&out, copy->n_attlist > 0 ? "SELECT " : "SELECT *");
    for (size_t i = 0; i < copy->n_attlist; i++) {
        const char *name = string_of(copy->attlist[i]);
        pgw_buf_add_str(&out, i > 0 ? ", " : "");
        rw_add_identifier(&out, name != NULL ? name : "");
    }
    pgw_buf_add_str(&out, " FROM ");
    if (copy->relation->schemaname[0] != '\0') {
        rw_add_identifier(&out, copy->relation->schemaname);
        pgw_buf_add_byte(&out, '.');
    }
    rw_add_identifier(&out, copy->relation->relname);
    return pgw_arena_keep(arena, &out);
}

static bool read_statement(rw_copied_out *it, const PgQuery__CopyStmt *copy, pgw_slice text,
                           const pgw_reading *reading)
{
    if (copy->is_program || copy->filename[0] != '\0')
        return refuse(reading, "YDB writes no files", "Take the rows by COPY … TO STDOUT.");
    if (copy->query != NULL && copy->query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return refuse(reading, "a query that writes cannot be copied", "Send it by itself.");
    it->query = copy->query != NULL ? query_in(text, reading->env->conforming)
                                    : query_of_table(copy, reading->arena);
    return read_options(it, copy, reading);
}

rw_copied_out *rw_copied_out_new(pgw_slice text, const pgw_reading *reading)
{
    rw_syntax syntax;
    rw_copied_out *it = pgw_arena_alloc(reading->arena, sizeof *it);
    it->env = reading->env;
    if (!rw_syntax_parse(text, reading->env, reading->arena, &syntax, reading->error))
        return NULL;
    bool copies = syntax.statement->node_case == PG_QUERY__NODE__NODE_COPY_STMT;
    bool fine = copies ? read_statement(it, syntax.statement->copy_stmt, text, reading)
                       : refuse(reading, "the statement is none", "Send COPY by itself.");
    rw_syntax_free(&syntax);
    return fine ? it : NULL;
}

pgw_slice rw_copied_out_query(const rw_copied_out *out)
{
    return out->query;
}

bool rw_copied_out_is_binary(const rw_copied_out *out)
{
    return out->format == BINARY;
}

/* --- rows --- */

/* Adds a value as CopyAttributeOutText() does. */
static void add_text(const rw_copied_out *it, pgw_slice value, pgw_buf *bytes)
{
    static const char from[] = "\b\f\n\r\t\v", to[] = "bfnrtv";
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        const char *control = c != '\0' ? strchr(from, c) : NULL;
        if (control != NULL || c == '\\' || c == it->delimiter)
            pgw_buf_add_byte(bytes, '\\');
        pgw_buf_add_byte(bytes, control != NULL ? to[control - from] : c);
    }
}

/* Whether a value is quoted, as in CopyAttributeOutCSV(). */
static bool wants_quotes(const rw_copied_out *it, pgw_slice value)
{
    if (pgw_slice_eq(value, it->null) || (it->count == 1 && pgw_slice_eq_str(value, "\\.")))
        return true;
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] == it->delimiter || value.ptr[i] == it->quote || value.ptr[i] == '\n' ||
            value.ptr[i] == '\r')
            return true;
    return false;
}

static void add_csv(const rw_copied_out *it, pgw_slice value, bool forced, pgw_buf *bytes)
{
    if (!forced && !wants_quotes(it, value)) {
        pgw_buf_add_slice(bytes, value);
        return;
    }
    pgw_buf_add_byte(bytes, it->quote);
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == it->quote || value.ptr[i] == it->escape)
            pgw_buf_add_byte(bytes, it->escape);
        pgw_buf_add_byte(bytes, value.ptr[i]);
    }
    pgw_buf_add_byte(bytes, it->quote);
}

static void add_cell(const rw_copied_out *it, size_t column, pgw_slice value, bool forced,
                     pgw_buf *bytes)
{
    if (column > 0)
        pgw_buf_add_byte(bytes, it->delimiter);
    if (value.ptr == NULL)
        pgw_buf_add_slice(bytes, it->null);
    else if (it->format == CSV)
        add_csv(it, value, forced, bytes);
    else
        add_text(it, value, bytes);
}

static bool is_quoted(const rw_copied_out *it, pgw_slice name)
{
    for (size_t i = 0; i < it->quoted_count; i++)
        if (pgw_slice_eq_str(name, it->quoted[i]))
            return true;
    return it->all_quoted;
}

size_t rw_copied_out_begin(rw_copied_out *out, pgw_slice columns, pgw_arena *arena, pgw_buf *bytes)
{
    enum { NUMBERS = 6, BEHIND_TYPE = 8 }; /* a column's bytes before its type, and behind it */
    static const char signature[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
    pgw_reader reader = pgw_reader_of(columns);
    out->rows = 0;
    out->count = columns.len > 0 ? pgw_read_u16(&reader) : 0;
    out->types = pgw_arena_alloc(arena, (out->count + 1) * sizeof *out->types);
    out->forced = pgw_arena_alloc(arena, out->count + 1);
    bool header = out->header && out->format != BINARY;
    for (size_t i = 0; i < out->count; i++) {
        pgw_slice name = pgw_read_string(&reader);
        pgw_read_bytes(&reader, NUMBERS);
        out->types[i] = pgw_read_u32(&reader);
        pgw_read_bytes(&reader, BEHIND_TYPE);
        out->forced[i] = is_quoted(out, name);
        if (header)
            add_cell(out, i, name, false, bytes);
    }
    if (header)
        pgw_buf_add_byte(bytes, '\n');
    if (out->format == BINARY)
        pgw_buf_add(bytes, signature, sizeof signature);
    return out->count;
}

static bool add_tuple(const rw_copied_out *it, const pgw_slice *cells, size_t count, pgw_buf *bytes,
                      pgw_error *error)
{
    pgw_buf value = {0};
    bool fine = true;
    pgw_buf_add_i16(bytes, (int16_t)count);
    for (size_t i = 0; fine && i < count; i++) {
        pgw_buf_clear(&value);
        if (cells[i].ptr == NULL) {
            pgw_buf_add_i32(bytes, -1);
            continue;
        }
        fine = rw_result_send(i < it->count ? it->types[i] : 0, cells[i], it->env, &value, error);
        pgw_buf_add_i32(bytes, (int32_t)value.len);
        pgw_buf_add_slice(bytes, pgw_slice_buf(&value));
    }
    pgw_buf_free(&value);
    return fine;
}

bool rw_copied_out_row(rw_copied_out *out, const pgw_slice *cells, size_t count, pgw_buf *bytes,
                       pgw_error *error)
{
    out->rows++;
    if (out->format == BINARY)
        return add_tuple(out, cells, count, bytes, error);
    for (size_t i = 0; i < count; i++)
        add_cell(out, i, cells[i], i < out->count && out->forced[i], bytes);
    pgw_buf_add_byte(bytes, '\n');
    return true;
}

uint64_t rw_copied_out_end(const rw_copied_out *out, pgw_buf *bytes)
{
    if (out->format == BINARY)
        pgw_buf_add_i16(bytes, -1);
    return out->rows;
}
