#include "rewrite/insert/answers.h"

#include "protocol/utf8.h"
#include "rewrite/lex/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question ---- */

static const struct {
    uint32_t oid;
    const char *name; /* without a modifier, which would cut the value */
} types[] = {
    {PGW_INT2, "int2"},       {PGW_INT4, "int4"},           {PGW_INT8, "int8"},
    {PGW_TEXT, "text"},       {PGW_VARCHAR, "varchar"},     {PGW_BPCHAR, "bpchar"},
    {PGW_BYTEA, "bytea"},     {PGW_UUID, "uuid"},           {PGW_BOOL, "bool"},
    {PGW_DATE, "date"},       {PGW_TIMESTAMP, "timestamp"}, {PGW_TIMESTAMPTZ, "timestamptz"},
    {PGW_NUMERIC, "numeric"}, {PGW_FLOAT8, "float8"}};

static const char *name_of(uint32_t oid)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].oid == oid)
            return types[i].name;
    return "text";
}

static bool is_time(uint32_t type)
{
    return type == PGW_DATE || type == PGW_TIMESTAMP || type == PGW_TIMESTAMPTZ;
}

/* How a value of the column is told, whatever DateStyle and extra_float_digits are: dates and times
 * in ISO form, real numbers as a record's bytes. */
static const char *before_value(const rw_column *column)
{
    if (is_time(column->type))
        return "pg_catalog.to_json(";
    return column->type == PGW_FLOAT8 ? "pg_catalog.encode(pg_catalog.record_send(row(" : "(";
}

static const char *behind_value(const rw_column *column)
{
    if (is_time(column->type))
        return ") operator(pg_catalog.#>>) '{}'";
    return column->type == PGW_FLOAT8 ? ")), 'hex')" : ")::pg_catalog.text";
}

/* Nothing is evaluated for who may not INSERT. */
static void add_condition(const rw_insert *insert, pgw_buf *sql)
{
    pgw_buf_addf(
        sql, " where pg_catalog.has_any_column_privilege(%" PRIu32 "::pg_catalog.oid, 'insert')",
        insert->table->oid);
}

/* Wanted defaults that are evaluated one after another. */
typedef struct defaults {
    const rw_insert *insert;
    const size_t *order; /* their numbers */
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

/* The type, or the value, of the default of column number `c`. */
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
            pgw_buf_addf(sql, "%s(%s)::pg_catalog.%s%s", before_value(of), of->default_text,
                         name_of(of->type), behind_value(of));
    }
    pgw_buf_add_str(sql, " end");
}

static void add_run(const defaults *run, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "select n::pg_catalog.text, ");
    add_defaults(run, true, sql);
    pgw_buf_add_str(sql, ", ");
    add_defaults(run, false, sql);
    pgw_buf_add_str(sql, " from rows from (pg_catalog.unnest('");
    for (size_t i = 0; i < run->count; i++)
        pgw_buf_addf(sql, "%c%zu", i == 0 ? '{' : ',', run->order[i]);
    pgw_buf_add_str(sql, "}'::pg_catalog.int4[]), pg_catalog.unnest('");
    for (size_t i = 0; i < run->count; i++)
        pgw_buf_addf(sql, "%c%zu", i == 0 ? '{' : ',', column_of(run, i));
    pgw_buf_add_str(sql, "}'::pg_catalog.int4[])) q(n, c)");
    add_condition(run->insert, sql);
}

/* In VALUES it may be what it may be in the INSERT, and no name means anything there. OFFSET 0: it
 * is evaluated once. */
static rw_place add_expression(const rw_insert *insert, size_t i, pgw_buf *sql)
{
    const rw_wanted *wanted = &insert->wanted[i];
    const rw_column *column = &insert->table->columns[wanted->column];
    pgw_buf_addf(sql,
                 "select '%zu', pg_catalog.pg_typeof(v)::pg_catalog.oid::pg_catalog.text, %sv%s "
                 "from (select v from (values (",
                 i, before_value(column), behind_value(column));
    if (wanted->overridden) /* which is never NULL: the other's type is looked at, no more */
        pgw_buf_addf(sql, "coalesce((%s)::pg_catalog.%s, ", column->default_text,
                     name_of(column->type));
    size_t begun = sql->len;
    pgw_buf_add(sql, insert->text.ptr + wanted->from, wanted->to - wanted->from);
    if (wanted->overridden) /* a comment may be its end */
        pgw_buf_addf(sql, "\n)::pg_catalog.%s", name_of(column->type));
    pgw_buf_add_str(sql, "\n)) e(v)");
    add_condition(insert, sql);
    pgw_buf_add_str(sql, " offset 0) q");
    return (rw_place){begun, wanted->from, wanted->to - wanted->from};
}

/* A lone row is evaluated in the order of the table's columns, rows of several as they are written,
 * and what is not written behind them. */
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

void rw_question_of(const rw_insert *insert, pgw_arena *arena, rw_question *out)
{
    pgw_buf sql = {0};
    const rw_wanted *wanted = insert->wanted;
    const size_t *order = order_of(insert, arena);
    *out = (rw_question){.utf8 = insert->utf8, .client = pgw_arena_copy(arena, insert->text)};
    out->places = pgw_arena_alloc(arena, insert->wanted_count * sizeof *out->places);
    out->types = pgw_arena_alloc(arena, insert->wanted_count * sizeof *out->types);
    for (size_t i = 0; i < insert->wanted_count; i++)
        out->types[i] = insert->table->columns[wanted[i].column].type;
    for (size_t i = 0; i < insert->wanted_count;) {
        defaults run = {.insert = insert, .order = order + i};
        pgw_buf_add_str(&sql, i > 0 ? " union all " : "");
        for (; i < insert->wanted_count && !wanted[order[i]].expression; i++)
            run.count++;
        if (run.count > 0)
            add_run(&run, &sql);
        else
            out->places[out->count++] = add_expression(insert, order[i++], &sql);
    }
    out->sql = pgw_arena_copy(arena, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
}

/* The byte at which a character stands, counting from 1. */
static size_t byte_of(pgw_slice text, size_t position, bool utf8)
{
    size_t at = 0;
    for (; at < text.len; at++)
        if ((!utf8 || !pgw_utf8_continues(text.ptr[at])) && --position == 0)
            break;
    return at;
}

size_t rw_question_position(const rw_question *question, size_t position)
{
    size_t at = position > 0 ? byte_of(question->sql, position, question->utf8) : 0;
    for (size_t i = 0; i < question->count && position > 0; i++) {
        const rw_place *place = &question->places[i];
        if (at >= place->at && at - place->at < place->len)
            return pgw_characters(question->client, place->from + (at - place->at),
                                  question->utf8) +
                   1;
    }
    return 0;
}

/* ---- the answer ---- */

/* A record of one real number as hexadecimal digits: the number of its columns, the type, the
 * length (of NULL there is no more), the bits. */
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

rw_answer rw_answer_read(const rw_question *question, size_t i, uint32_t type, pgw_slice told,
                         pgw_arena *arena)
{
    bool null = told.ptr == NULL;
    bool real = question->types[i] == PGW_FLOAT8 && !null;
    return (rw_answer){.type = type,
                       .null = null || (real && told.len == HEAD_DIGITS),
                       .text = real ? read_real(told, arena) : pgw_arena_copy(arena, told)};
}

/* ---- the statement ---- */

static bool is_integer(uint32_t type)
{
    return type == PGW_INT2 || type == PGW_INT4 || type == PGW_INT8;
}

static bool is_text(uint32_t type)
{
    return type == PGW_TEXT || type == PGW_VARCHAR || type == PGW_BPCHAR;
}

static bool fits(const rw_answer *answer, const rw_column *column)
{
    return answer->type == column->type ||
           (is_integer(answer->type) &&
            (is_integer(column->type) || column->type == PGW_NUMERIC)) ||
           is_text(column->type); /* whose assignment takes any value's text */
}

/* A statement that is being filled. */
typedef struct filling {
    const rw_insert *insert;
    const rw_answer *answers; /* NULL: parameters */
    size_t first;             /* … from this one on */
    pgw_arena *arena;
    pgw_buf text;
    size_t at;   /* all of the client's text before it is there */
    size_t next; /* wanted cell */
    rw_filled *out;
} filling;

static void edit(filling *f, size_t at, size_t removed, size_t begun)
{
    f->out->edits[f->out->count++] = (rw_edit){at, removed, f->text.len - begun};
    f->at = at + removed;
}

static size_t copy_up_to(filling *f, size_t at)
{
    pgw_buf_add(&f->text, f->insert->text.ptr + f->at, at - f->at);
    f->at = at;
    return f->text.len;
}

/* A constant is quoted: what it is, its column says, as it would of the value. */
static void add_value(filling *f, size_t i)
{
    const rw_answer *answer = f->answers != NULL ? &f->answers[i] : NULL;
    if (answer == NULL)
        pgw_buf_addf(&f->text, "$%zu", f->first + i);
    else if (answer->null)
        pgw_buf_add_str(&f->text, "NULL");
    else
        rw_add_constant(&f->text, answer->text);
}

static void fill_list(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t begun = copy_up_to(f, insert->list_end);
    for (size_t i = 0; i < insert->appended_count; i++) {
        pgw_buf_add_str(&f->text, ", ");
        rw_add_identifier(&f->text, insert->table->columns[insert->appended[i]].name);
    }
    edit(f, insert->list_end, 0, begun);
}

static void fill_overriding(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t begun = copy_up_to(f, insert->overriding);
    pgw_buf_add_str(&f->text, " OVERRIDING SYSTEM VALUE");
    edit(f, insert->overriding, insert->overriding_end - insert->overriding, begun);
}

/* Which wanted cell of row `row` stands for an appended column; wanted_count if none: its default.
 */
static size_t appended_value(const filling *f, size_t row, size_t column)
{
    const rw_insert *insert = f->insert;
    size_t i = f->next;
    while (i < insert->wanted_count && insert->wanted[i].row == row &&
           (insert->wanted[i].column != column || insert->wanted[i].to > 0))
        i++;
    bool found = i < insert->wanted_count && insert->wanted[i].row == row;
    return found ? i : insert->wanted_count;
}

static void add_appended(filling *f, size_t row, const char *comma)
{
    const rw_insert *insert = f->insert;
    for (size_t k = 0; k < insert->appended_count; k++) {
        size_t i = appended_value(f, row, insert->appended[k]);
        pgw_buf_add_str(&f->text, k > 0 ? ", " : comma);
        if (i < insert->wanted_count)
            add_value(f, i);
        else
            pgw_buf_add_str(&f->text, "DEFAULT");
    }
}

/* The written cells of a row, in the order of the text. */
static void fill_written(filling *f, size_t row)
{
    const rw_insert *insert = f->insert;
    for (;;) {
        size_t next = insert->wanted_count;
        for (size_t i = f->next; i < insert->wanted_count && insert->wanted[i].row == row; i++)
            if (insert->wanted[i].to > 0 && insert->wanted[i].from >= f->at &&
                (next == insert->wanted_count ||
                 insert->wanted[i].from < insert->wanted[next].from))
                next = i;
        if (next == insert->wanted_count)
            return;
        const rw_wanted *wanted = &insert->wanted[next];
        size_t begun = copy_up_to(f, wanted->from);
        add_value(f, next);
        edit(f, wanted->from, wanted->to - wanted->from, begun);
    }
}

static void fill_row(filling *f, size_t row)
{
    const rw_insert *insert = f->insert;
    fill_written(f, row);
    if (insert->appended_count > 0) {
        size_t begun = copy_up_to(f, insert->rows[row].close);
        add_appended(f, row, ", ");
        edit(f, insert->rows[row].close, 0, begun);
    }
    while (f->next < insert->wanted_count && insert->wanted[f->next].row == row)
        f->next++;
}

static void fill_default_values(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t begun = copy_up_to(f, insert->default_values);
    pgw_buf_add_byte(&f->text, '(');
    for (size_t i = 0; i < insert->appended_count; i++) {
        pgw_buf_add_str(&f->text, i > 0 ? ", " : "");
        rw_add_identifier(&f->text, insert->table->columns[insert->appended[i]].name);
    }
    pgw_buf_addf(&f->text, ") %sVALUES (",
                 insert->overriding > 0 ? "OVERRIDING SYSTEM VALUE " : "");
    add_appended(f, 0, "");
    pgw_buf_add_byte(&f->text, ')');
    edit(f, insert->default_values, insert->default_values_end - insert->default_values, begun);
}

static void fill(filling *f)
{
    const rw_insert *insert = f->insert;
    size_t most = insert->wanted_count + insert->row_count + 2;
    *f->out = (rw_filled){.client = insert->text,
                          .edits = pgw_arena_alloc(f->arena, most * sizeof(rw_edit))};
    if (insert->default_values > 0) {
        fill_default_values(f);
    } else {
        if (insert->list_end > 0 && insert->appended_count > 0)
            fill_list(f);
        if (insert->overriding > 0)
            fill_overriding(f);
        for (size_t row = 0; row < insert->row_count; row++)
            fill_row(f, row);
    }
    copy_up_to(f, insert->text.len);
    f->out->text = pgw_arena_copy(f->arena, pgw_slice_buf(&f->text));
    pgw_buf_free(&f->text);
}

void rw_fill_parameters(const rw_insert *insert, size_t first, pgw_arena *arena, rw_filled *out)
{
    fill(&(filling){.insert = insert, .first = first, .arena = arena, .out = out});
}

bool rw_answer_check(const rw_insert *insert, size_t i, const rw_answer *answer, pgw_error *error)
{
    const rw_column *column = &insert->table->columns[insert->wanted[i].column];
    if (fits(answer, column))
        return true;
    pgw_fail(
        error, "0A000",
        "cannot compute the hash of table \"%s\": the expression for column \"%s\" is not of its "
        "type",
        insert->table->name, column->name);
    pgw_error_hint(error, "Cast it to the type of the column, as in (…)::%s.", column->type_name);
    return false;
}

bool rw_fill(const rw_insert *insert, const rw_answer *answers, pgw_arena *arena, rw_filled *out,
             pgw_error *error)
{
    for (size_t i = 0; i < insert->wanted_count; i++)
        if (!rw_answer_check(insert, i, &answers[i], error))
            return false;
    fill(&(filling){.insert = insert, .answers = answers, .arena = arena, .out = out});
    return true;
}

rw_filled *rw_filled_keep(const rw_filled *filled, pgw_arena *arena)
{
    rw_filled *kept = pgw_arena_alloc(arena, sizeof *kept);
    kept->text = pgw_arena_copy(arena, filled->text);
    kept->client = pgw_arena_copy(arena, filled->client);
    kept->count = filled->count;
    kept->edits = pgw_arena_alloc(arena, filled->count * sizeof *kept->edits);
    memcpy(kept->edits, filled->edits, filled->count * sizeof *kept->edits);
    return kept;
}

size_t rw_filled_offset(const rw_filled *filled, size_t at)
{
    size_t ours = 0, clients = 0; /* how far both have come */
    for (size_t i = 0; i < filled->count; i++) {
        const rw_edit *one = &filled->edits[i];
        size_t kept = one->at - clients;
        if (at < ours + kept)
            break;
        if (at < ours + kept + one->added)
            return one->at;
        ours += kept + one->added;
        clients = one->at + one->removed;
    }
    return clients + (at - ours);
}

size_t rw_filled_position(const rw_filled *filled, size_t position, bool utf8)
{
    if (position == 0)
        return 0;
    size_t at = byte_of(filled->text, position, utf8);
    return pgw_characters(filled->client, rw_filled_offset(filled, at), utf8) + 1;
}
