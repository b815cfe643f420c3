#include "ydb/plain/copied.h"

#include "protocol/value_in.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/copy/copy_from.h"
#include "ydb/plain/bound_text.h"
#include "ydb/plain/constant.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCRATCH = 64 * 1024, /* bytes of values that are read before their memory is given back */
    SHOWN = 100,         /* bytes of a row or value that errors show, as in PostgreSQL */
    TIMES = 4,           /* one row's data may be this many times longer than a text */
    SIGNATURE = 11,      /* bytes of the signature that binary data begins with */
    WITH_FLAGS = 15      /* bytes of the signature and of the flags behind it */
};

/* What is kept of a column. */
typedef struct field {
    char *name;
    uint32_t type; /* PGW_UNSPECIFIED: the type is not known here */
    int32_t typmod;
    bool not_null, hash;
} field;

struct rw_copied {
    rw_copied_limits limits;
    rw_copy copy; /* What COPY says; `copy.table` is NULL. */
    const char *table;
    field *fields;
    size_t count;
    pgw_copy *rows;
    pgw_buf out;   /* The client's data, from the end of the last row on. */
    size_t row_at; /* Where the row at hand begins in `out`. */
    pgw_buf head;  /* INSERT INTO … VALUES */
    pgw_buf *texts;
    size_t text_count, text_room;
    size_t bytes; /* bytes of all texts together */
    pgw_buf row;  /* The row at hand as it is written. */
    uint64_t stored;
    pgw_buf signature; /* The signature and flags of binary data, as far as they have come. */
    pgw_error error;
    pgw_buf details; /* More fields of the error. */
    pgw_arena arena, scratch;
};

/* --- what is wrong --- */

static bool has_failed(const rw_copied *it)
{
    return it->error.sqlstate[0] != '\0';
}

/* Adds a text as limit_printout_length() cuts it: between characters. */
static void add_shown(rw_copied *it, pgw_slice text)
{
    size_t len = text.len;
    if (len > SHOWN)
        for (len = SHOWN; len > 0 && ((unsigned char)text.ptr[len] & 0xC0) == 0x80;)
            len--;
    pgw_buf_addf(&it->details, ": \"%.*s%s\"", (int)len, text.ptr, len < text.len ? "..." : "");
}

/* The bytes of the row at hand, whose field is about to be added. */
static pgw_slice raw_row(const rw_copied *it)
{
    size_t at = it->row_at, end = it->out.len > at ? it->out.len - 1 : at;
    const char *bytes = it->out.ptr;
    if (it->stored == 0 && pgw_copy_header_end(it->rows) > at)
        at = pgw_copy_header_end(it->rows);
    while (at < end && at - it->row_at < 2 && (bytes[at] == '\r' || bytes[at] == '\n'))
        at++;
    return (pgw_slice){bytes + at, end - at};
}

static void begin_context(rw_copied *it)
{
    pgw_buf_addf(&it->details, "WCOPY %s, line %llu", it->table,
                 (unsigned long long)pgw_copy_at_line(it->rows));
}

static bool end_context(rw_copied *it)
{
    pgw_buf_add_byte(&it->details, '\0');
    return false;
}

/* Adds the line and the row at hand to the error. */
static bool blame_row(rw_copied *it)
{
    begin_context(it);
    if (!rw_copied_is_binary(it))
        add_shown(it, raw_row(it));
    return end_context(it);
}

/* Adds the line alone to the error, where the row's bytes are not at hand. */
static bool blame_line(rw_copied *it)
{
    begin_context(it);
    return end_context(it);
}

static bool blame_field(rw_copied *it, const field *column, const pgw_copy_field *value)
{
    begin_context(it);
    pgw_buf_addf(&it->details, ", column %s", column->name);
    if (value->null)
        pgw_buf_add_str(&it->details, ": null input");
    else if (!rw_copied_is_binary(it))
        add_shown(it, value->bytes);
    return end_context(it);
}

static bool fail_null(rw_copied *it, const field *column)
{
    pgw_fail(&it->error, "23502",
             "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
             column->name, it->table);
    pgw_buf_addf(&it->details, "t%s%cc%s%c", it->table, '\0', column->name, '\0');
    return blame_row(it);
}

/* --- a row --- */

/* Adds the hash, a number that came as text or in binary. */
static bool add_hash(rw_copied *it, const field *column, const pgw_copy_field *value)
{
    static const char least[] = "-9223372036854775808";
    pgw_buf text = {0};
    bool fine = true;
    if (rw_copied_is_binary(it))
        fine = rw_add_bound_text(column->type, value->bytes, it->limits.env, &text, &it->error);
    else
        pgw_buf_add_slice(&text, value->bytes);
    size_t sign = text.len > 0 && text.ptr[0] == '-';
    for (size_t i = sign; fine && i < text.len; i++)
        fine = text.ptr[i] >= '0' && text.ptr[i] <= '9';
    if (!fine || text.len == sign)
        fine = pgw_fail(&it->error, "22P02", "the hash is no number");
    bool quoted = pgw_slice_eq_str(pgw_slice_buf(&text), least);
    pgw_buf_add_str(&it->row, quoted ? "'" : "");
    pgw_buf_add_slice(&it->row, pgw_slice_buf(&text));
    pgw_buf_add_str(&it->row, quoted ? "'" : "");
    pgw_buf_free(&text);
    return fine || blame_field(it, column, value);
}

/* False: PostgreSQL would refuse the value. What cannot be told here is left to the server. */
static bool check_value(rw_copied *it, const field *column, const pgw_copy_field *value)
{
    pgw_value read;
    const pgw_reading reading = {it->limits.env, &it->scratch, &it->error};
    pgw_verdict verdict =
        rw_copied_is_binary(it)
            ? pgw_value_from_binary(column->type, value->bytes, &reading, &read)
            : pgw_value_from_text(column->type, column->typmod, value->bytes, &reading, &read);
    if (verdict == PGW_KNOWN && rw_copied_is_binary(it))
        verdict = pgw_value_fit(column->typmod, false, &it->scratch, &read, &it->error);
    if (verdict != PGW_INVALID)
        pgw_error_clear(&it->error);
    return verdict != PGW_INVALID || blame_field(it, column, value);
}

static bool fail_long(rw_copied *it)
{
    pgw_fail(&it->error, "54000", "the row is longer than YDB takes, which is %zu bytes of text",
             it->limits.most);
    return blame_line(it);
}

static bool add_value(rw_copied *it, const field *column, const pgw_copy_field *value)
{
    if (value->unknown)
        return fail_long(it);
    if (value->null && column->not_null)
        return fail_null(it, column);
    if (value->null) {
        rw_add_null(column->type, &it->row);
        return true;
    }
    if (column->hash)
        return add_hash(it, column, value);
    const rw_param param = {
        .type = column->type, .binary = rw_copied_is_binary(it), .bytes = value->bytes};
    return check_value(it, column, value) &&
           (rw_add_bound(&param, it->limits.env, &it->row, &it->error) ||
            blame_field(it, column, value));
}

static pgw_buf *last_text(rw_copied *it)
{
    return it->text_count > 0 ? &it->texts[it->text_count - 1] : NULL;
}

static pgw_buf *begin_text(rw_copied *it)
{
    if (it->text_count == it->text_room) {
        it->text_room = it->text_room > 0 ? 2 * it->text_room : 4;
        it->texts = pgw_realloc(it->texts, it->text_room * sizeof *it->texts);
    }
    assert(it->texts != NULL);
    pgw_buf *text = &it->texts[it->text_count++];
    *text = (pgw_buf){0};
    pgw_buf_add_slice(text, pgw_slice_buf(&it->head));
    return text;
}

static bool fail_many(rw_copied *it)
{
    pgw_fail(&it->error, "0A000", "a COPY of more than %zu MiB cannot be one transaction on YDB",
             it->limits.all >> 20);
    pgw_error_hint(&it->error, "COMMIT first: outside of a transaction block, and without \"copy: "
                               "atomic\", rows are stored in batches that each commit by "
                               "themselves.");
    return blame_line(it);
}

/* Adds the written row to the last text, or to another one if that would become too long. */
static bool add_row(rw_copied *it)
{
    if (it->head.len + it->row.len > it->limits.most)
        return fail_long(it);
    pgw_buf *text = last_text(it);
    bool more = text != NULL && text->len + 2 + it->row.len <= it->limits.most;
    if (!more)
        text = begin_text(it);
    pgw_buf_add_str(text, more ? ",\n" : "");
    pgw_buf_add_slice(text, pgw_slice_buf(&it->row));
    it->bytes += it->row.len + 2 + (more ? 0 : it->head.len);
    it->stored++;
    return it->bytes <= it->limits.all || fail_many(it);
}

static bool fail_count(rw_copied *it, size_t count)
{
    if (rw_copied_is_binary(it))
        pgw_fail(&it->error, "22P04", "row field count is %zu, expected %zu", count, it->count);
    else if (count > it->count)
        pgw_fail(&it->error, "22P04", "extra data after last expected column");
    else
        pgw_fail(&it->error, "22P04", "missing data for column \"%s\"", it->fields[count].name);
    return blame_row(it);
}

static bool fail_cut(rw_copied *it)
{
    const pgw_copy_fault *wrong = pgw_copy_wrong(it->rows);
    pgw_fail(&it->error, "22P04", "%s", wrong->message);
    pgw_error_hint(&it->error, "%s", wrong->hint);
    return blame_line(it);
}

static bool take_row(rw_copied *it, const pgw_copy_field *values)
{
    size_t count;
    if (pgw_copy_wrong(it->rows) != NULL)
        return fail_cut(it);
    bool odd = pgw_copy_is_odd(it->rows, &count);
    if (odd && (count > it->count || rw_copied_is_binary(it)))
        return fail_count(it, count);
    pgw_buf_clear(&it->row);
    for (size_t i = 0; i < (odd ? count : it->count); i++) {
        pgw_buf_add_str(&it->row, i > 0 ? ", " : "(");
        if (!add_value(it, &it->fields[i], &values[i]))
            return false;
    }
    pgw_buf_add_byte(&it->row, ')');
    return odd ? fail_count(it, count) : add_row(it);
}

/* A pgw_copy_fill that adds nothing to the data. */
static bool fill(void *context, const pgw_copy_field *values, pgw_buf *out)
{
    rw_copied *it = context;
    if (!has_failed(it) && !pgw_copy_has_ended(it->rows))
        take_row(it, values);
    if (it->scratch.bytes > SCRATCH)
        pgw_arena_free(&it->scratch);
    it->row_at = out->len;
    return true;
}

/* --- the statement --- */

bool rw_is_copy(pgw_slice text)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    return rw_token_is(text, rw_lexer_next(&lexer), "copy");
}

static bool refuse(pgw_error *error, const char *what, const char *hint)
{
    pgw_fail(error, "0A000", "COPY on YDB: %s", what);
    pgw_error_hint(error, "%s", hint);
    return false;
}

static bool says(const PgQuery__CopyStmt *copy, const char *name, const char *value)
{
    for (size_t i = 0; i < copy->n_options; i++) {
        const PgQuery__DefElem *option = copy->options[i]->def_elem;
        bool text = option->arg != NULL && option->arg->node_case == PG_QUERY__NODE__NODE_STRING;
        if (strcmp(option->defname, name) == 0 &&
            (value == NULL || (text && strcasecmp(option->arg->string->sval, value) == 0)))
            return true;
    }
    return false;
}

static bool check_statement(const PgQuery__CopyStmt *copy, const rw_copy *read, pgw_error *error)
{
    if (says(copy, "force_quote", NULL))
        return pgw_fail(error, "0A000", "COPY force quote %s",
                        read->data.format == PGW_COPY_CSV ? "only available using COPY TO"
                                                          : "available only in CSV mode");
    if (copy->is_program || copy->filename[0] != '\0')
        return refuse(error, "YDB reads no files", "Send the rows by COPY … FROM STDIN.");
    if (copy->where_clause != NULL)
        return refuse(error, "WHERE is not known", "Send only the rows that are to be stored.");
    if (read->data.header == PGW_COPY_HEADER_MATCH)
        return refuse(error, "HEADER MATCH is not known", "Write HEADER.");
    if (read->data.marker.ptr != NULL)
        return refuse(error, "the option DEFAULT is not known",
                      "Leave the column out of the list, or write its value.");
    if (says(copy, "on_error", NULL) && !says(copy, "on_error", "stop"))
        return refuse(error, "ON_ERROR is not known", "Correct the data.");
    return true;
}

static void write_head(rw_copied *it, const PgQuery__RangeVar *relation)
{
    pgw_buf_add_str(&it->head, "INSERT INTO ");
    if (relation->schemaname[0] != '\0') {
        rw_add_identifier(&it->head, relation->schemaname);
        pgw_buf_add_byte(&it->head, '.');
    }
    rw_add_identifier(&it->head, relation->relname);
    for (size_t i = 0; i < it->count; i++) {
        pgw_buf_add_str(&it->head, i > 0 ? ", " : " (");
        rw_add_identifier(&it->head, it->fields[i].name);
    }
    pgw_buf_add_str(&it->head, ") VALUES\n");
}

/* Keeps the columns of the COPY, in its order. */
static void keep_fields(rw_copied *it, const rw_table *table, const size_t *columns)
{
    it->count = it->copy.data.columns;
    it->fields = pgw_arena_alloc(&it->arena, (it->count + 1) * sizeof *it->fields);
    for (size_t i = 0; i < it->count; i++) {
        const rw_column *column = &table->columns[columns[i]];
        bool hash = columns[i] == table->hash_column;
        it->fields[i] = (field){.name = pgw_arena_printf(&it->arena, "%s", column->name),
                                .type = column->type,
                                .typmod = column->typmod,
                                .not_null = hash || column->not_null,
                                .hash = hash};
    }
    it->table = pgw_arena_printf(&it->arena, "%s", table->name);
    it->copy.table = NULL;
}

rw_copied *rw_copied_new(const PgQuery__CopyStmt *copy, const rw_table *table,
                         const rw_copied_limits *limits, pgw_error *error)
{
    rw_copied *it = pgw_calloc(1, sizeof *it);
    const pgw_reading reading = {limits->env, &it->arena, error};
    size_t *columns;
    it->limits = *limits;
    if (!rw_copy_from_read_whole(copy, table, &reading, &it->copy, &columns) ||
        !check_statement(copy, &it->copy, error)) {
        rw_copied_free(it);
        return NULL;
    }
    keep_fields(it, table, columns);
    write_head(it, copy->relation);
    it->rows = pgw_copy_new(&it->copy.data, fill, it);
    return it;
}

static void free_texts(rw_copied *it)
{
    for (size_t i = 0; i < it->text_count; i++)
        pgw_buf_free(&it->texts[i]);
    free(it->texts);
    it->texts = NULL;
    it->text_count = 0;
}

void rw_copied_free(rw_copied *copied)
{
    if (copied == NULL)
        return;
    free_texts(copied);
    pgw_copy_free(copied->rows);
    pgw_buf_free(&copied->out);
    pgw_buf_free(&copied->head);
    pgw_buf_free(&copied->row);
    pgw_buf_free(&copied->signature);
    pgw_buf_free(&copied->details);
    pgw_arena_free(&copied->scratch);
    pgw_arena_free(&copied->arena);
    free(copied);
}

bool rw_copied_is_binary(const rw_copied *copied)
{
    return copied->copy.data.format == PGW_COPY_BINARY;
}

size_t rw_copied_columns(const rw_copied *copied)
{
    return copied->count;
}

/* --- its data --- */

/* Checks the signature that binary data begins with, and that none of its critical flags is set. */
static bool check_signature(rw_copied *it, pgw_slice bytes)
{
    static const char expected[] = "PGCOPY\n\377\r\n";
    size_t lacks = WITH_FLAGS - it->signature.len;
    pgw_buf_add(&it->signature, bytes.ptr, bytes.len < lacks ? bytes.len : lacks);
    size_t len = it->signature.len < SIGNATURE ? it->signature.len : SIGNATURE;
    const char *flags = it->signature.ptr + SIGNATURE;
    if (memcmp(it->signature.ptr, expected, len) != 0)
        return pgw_fail(&it->error, "22P04", "COPY file signature not recognized");
    if (it->signature.len < WITH_FLAGS || (flags[0] == 0 && flags[1] == 0))
        return true;
    bool oids = flags[0] == 0 && flags[1] == 1;
    return pgw_fail(&it->error, "22P04",
                    oids ? "invalid COPY file header (WITH OIDS)"
                         : "unrecognized critical flags in COPY file header");
}

/* Drops the data of the rows that were read. */
static void trim(rw_copied *it)
{
    if (it->row_at == 0)
        return;
    it->out.len -= it->row_at;
    memmove(it->out.ptr, it->out.ptr + it->row_at, it->out.len);
    it->row_at = 0;
}

/* Ends a piece of data. False: the COPY has failed, and its texts are freed. */
static bool judge(rw_copied *it)
{
    if (!has_failed(it) && pgw_copy_wrong(it->rows) != NULL)
        fail_cut(it);
    if (!has_failed(it) && it->out.len > TIMES * it->limits.most)
        fail_long(it);
    trim(it);
    if (has_failed(it))
        free_texts(it);
    return !has_failed(it);
}

bool rw_copied_put(rw_copied *copied, pgw_slice bytes)
{
    if (has_failed(copied) || bytes.len == 0)
        return !has_failed(copied);
    if (rw_copied_is_binary(copied) && copied->signature.len < WITH_FLAGS &&
        !check_signature(copied, bytes))
        return false;
    if (!pgw_copy_has_ended(copied->rows))
        pgw_copy_feed(copied->rows, bytes, &copied->out);
    return judge(copied);
}

/* Fails for a field of csv that is open at the end of the data: PostgreSQL shows all that it
 * has. */
static bool fail_open(rw_copied *it)
{
    pgw_buf_add_byte(&it->out, it->copy.data.delimiter);
    fail_cut(it);
    pgw_buf_clear(&it->details);
    return blame_row(it);
}

bool rw_copied_end(rw_copied *copied)
{
    if (!has_failed(copied) && rw_copied_is_binary(copied) && copied->signature.len < SIGNATURE)
        pgw_fail(&copied->error, "22P04", "COPY file signature not recognized");
    bool fine = !has_failed(copied) && pgw_copy_wrong(copied->rows) == NULL;
    if (fine)
        pgw_copy_finish(copied->rows, &copied->out);
    if (fine && !has_failed(copied) && pgw_copy_wrong(copied->rows) != NULL &&
        copied->copy.data.format == PGW_COPY_CSV)
        fail_open(copied);
    return judge(copied);
}

const pgw_error *rw_copied_error(const rw_copied *copied, pgw_slice *fields)
{
    *fields = pgw_slice_buf(&copied->details);
    return &copied->error;
}

rw_program *rw_copied_program(rw_copied *copied)
{
    if (copied->text_count == 0)
        return NULL;
    rw_program *program =
        rw_program_of_texts(copied->texts, copied->text_count, "COPY", copied->stored);
    copied->texts = NULL;
    copied->text_count = 0;
    return program;
}
