#define _GNU_SOURCE
#include "proxy/ingest/copy.h"

#include "protocol/copy/plain.h"
#include "protocol/digits.h"
#include "protocol/error.h"
#include "protocol/frontend.h"
#include "protocol/value_in.h"
#include "protocol/value_integer.h"
#include "proxy/backend/places/maps.h"
#include "proxy/ingest/apart.h"
#include "proxy/ingest/numbers.h"
#include "rewrite/hash/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCRATCH = 64 * 1024, /* bytes of values that are read before their memory is given back */
    SHOWN = 100          /* bytes of a row that PostgreSQL shows (MAX_COPY_DATA_DISPLAY) */
};

struct px_copy {
    const rw_copy *copy;
    px_catalog *catalog; /* counted */
    pgw_env env;
    rw_encoding shown_in; /* The client sees rows in this encoding. */
    pgw_copy *rows;
    uint64_t told;       /* rows that were counted by px_copy_rows_since() */
    pgw_arena arena;     /* `copy` lives in it. */
    pgw_arena scratch;   /* Values are read in it. */
    size_t digits;       /* Up to so many digits are a key of one integer, in text or csv; 0: such
                            a key is none. */
    pgw_value *values;   /* One value for each column of the hash_key. */
    px_apart *apart;     /* stores the rows in batches; NULL: they are stored by one COPY */
    px_numbers *numbers; /* the numbers of the hash_key column that is drawn; NULL: none is */
    pgw_buf waiting;     /* Data that waits for numbers. */
};

/* --- the hash of a row --- */

/* Reads a field. False: it cannot be told what is stored for it. */
static bool read_value(px_copy *it, const rw_column *column, const pgw_copy_field *field,
                       pgw_value *out)
{
    pgw_error ignored;
    pgw_reading reading = {&it->env, &it->scratch, &ignored};
    if (field->unknown)
        return false;
    if (it->copy->data.format != PGW_COPY_BINARY)
        return pgw_value_from_text(column->type, column->typmod, field->bytes, &reading, out) ==
               PGW_KNOWN;
    return pgw_value_from_binary(column->type, field->bytes, &reading, out) == PGW_KNOWN &&
           pgw_value_fit(column->typmod, false, &it->scratch, out, &ignored) == PGW_KNOWN;
}

/* A field of as many bytes as the column's type has. */
static void add_binary(uint32_t type, int64_t number, pgw_buf *out)
{
    pgw_buf_add_i32(out, type == PGW_INT2 ? 2 : type == PGW_INT4 ? 4 : 8);
    if (type == PGW_INT2)
        pgw_buf_add_i16(out, (int16_t)number);
    else if (type == PGW_INT4)
        pgw_buf_add_i32(out, (int32_t)number);
    else
        pgw_buf_add_i64(out, number);
}

static size_t digits_of_integer(const rw_copy *copy)
{
    uint32_t type = copy->table->columns[copy->table->hash_key[0]].type;
    bool alone = copy->table->hash_key_count == 1 && copy->key[0] > 0 &&
                 copy->data.format != PGW_COPY_BINARY;
    return alone ? pgw_integer_digits(type) : 0;
}

/* The hash of a key of any kind; false if it cannot be told. */
static bool hash_key(px_copy *it, const pgw_copy_field *fields, int64_t drawn, uint64_t *hash)
{
    const rw_table *table = it->copy->table;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        const rw_column *column = &table->columns[table->hash_key[i]];
        const pgw_copy_field *field = it->copy->key[i] > 0 ? &fields[it->copy->key[i] - 1] : NULL;
        bool null = field == NULL || (field->null && !field->unknown);
        it->values[i] = (pgw_value){.type = column->type, .null = true};
        if (column == it->copy->drawn)
            it->values[i] = (pgw_value){.type = column->type, .as.integer = drawn};
        else if (null ? !rw_table_hashes_null(table, table->hash_key[i])
                      : !read_value(it, column, field, &it->values[i]))
            return false;
    }
    *hash = rw_hash_key(table, it->values);
    if (it->scratch.bytes > SCRATCH)
        pgw_arena_free(&it->scratch);
    return true;
}

/* The next number of the sequence, as the row's field before the hash. */
static int64_t add_number(px_copy *it, pgw_buf *out)
{
    const pgw_copy_options *data = &it->copy->data;
    int64_t number = px_numbers_take(it->numbers);
    if (data->format == PGW_COPY_BINARY) {
        add_binary(it->copy->drawn->type, number, out);
    } else {
        pgw_buf_add_decimal(out, number);
        pgw_buf_add_byte(out, data->delimiter);
    }
    return number;
}

static void add_null(const px_copy *it, pgw_buf *out)
{
    if (it->copy->data.format == PGW_COPY_BINARY)
        pgw_buf_add_i32(out, -1);
    else
        pgw_buf_add_slice(out, it->copy->data.null);
}

/* A pgw_copy_fill of any row. A row whose hash cannot be told gets NULL: the server says what is
 * wrong with its key, or that the hash is missing. Such a row may be in any batch. */
static __attribute__((noinline)) bool fill_any(void *context, const pgw_copy_field *fields,
                                               pgw_buf *out)
{
    px_copy *it = context;
    uint64_t hash = 0;
    int64_t drawn = it->numbers != NULL ? add_number(it, out) : 0;
    bool told = hash_key(it, fields, drawn, &hash);
    if (!told)
        add_null(it, out);
    else if (it->copy->data.format == PGW_COPY_BINARY)
        add_binary(it->copy->table->columns[it->copy->table->hash_column].type, (int64_t)hash, out);
    else
        rw_hash_print(it->copy->table, hash, out);
    if (it->apart != NULL)
        px_apart_row(it->apart, told ? hash : 0, out->len);
    return true;
}

/* A pgw_copy_fill: the shortest way to the hash of most rows, whose key is one integer that is
 * written plainly. There has to be room for the hash. */
static inline bool fill_integer(void *context, const pgw_copy_field *fields, pgw_buf *out)
{
    px_copy *it = context;
    /* The lengths of empty texts are larger than all others here. */
    bool plain = fields->bytes.len - 1 < it->digits && !fields->null && !fields->unknown;
    int64_t number = plain ? pgw_digits(fields->bytes) : -1;
    if (number < 0)
        return fill_any(context, fields, out);
    const rw_table *table = it->copy->table;
    uint64_t hash = rw_hash_integer(table, number);
    out->len = (size_t)(rw_hash_put(table, hash, out->ptr + out->len) - out->ptr);
    if (it->apart != NULL)
        px_apart_row(it->apart, hash, out->len);
    return true;
}

/* A pgw_copy_pass. */
static void pass_rows(pgw_copy_chunk *in)
{
    pgw_copy_pass_plain(in, fill_integer);
}

/* --- its data --- */

px_copy *px_copy_new(const rw_copy *copy, px_catalog *catalog, pgw_env env, rw_encoding encoding,
                     const char *server)
{
    px_copy *it = pgw_calloc(1, sizeof *it);
    rw_copy *kept = rw_copy_keep(copy, &it->arena);
    rw_copy_encode(kept, encoding, server);
    it->copy = kept;
    it->shown_in = encoding;
    it->catalog = px_catalog_take(catalog);
    it->env = env;
    if (kept->encoded && kept->data.format != PGW_COPY_BINARY)
        it->env.utf8 = kept->encoding == RW_ENCODING_UTF8 && strcmp(server, "UTF8") == 0;
    it->digits = digits_of_integer(it->copy);
    it->values = pgw_arena_alloc(&it->arena, copy->table->hash_key_count * sizeof *it->values);
    it->rows = pgw_copy_new(&it->copy->data, fill_any, it);
    pgw_copy_pass_by(it->rows, pass_rows);
    return it;
}

void px_copy_free(px_copy *copy)
{
    if (copy == NULL)
        return;
    px_apart_free(copy->apart);
    px_numbers_free(copy->numbers);
    pgw_buf_free(&copy->waiting);
    pgw_copy_free(copy->rows);
    px_catalog_drop(copy->catalog);
    pgw_arena_free(&copy->scratch);
    pgw_arena_free(&copy->arena);
    free(copy);
}

uint64_t px_copy_rows_since(px_copy *copy)
{
    uint64_t before = copy->told;
    copy->told = pgw_copy_rows(copy->rows);
    return copy->told - before;
}

void px_copy_response(const px_copy *copy, pgw_slice body, pgw_buf *out)
{
    enum { HEAD = 3, FORMAT = 2 }; /* the format of all, and how many columns; of each column */
    size_t begun = pgw_begin(out, 'G'), added = rw_copy_added(copy->copy);
    bool whole = body.len >= HEAD + FORMAT * added;
    if (whole) {
        uint16_t count = (uint16_t)((unsigned char)body.ptr[1] << 8 | (unsigned char)body.ptr[2]);
        pgw_buf_add_byte(out, body.ptr[0]);
        pgw_buf_add_i16(out, (int16_t)(count - added));
        pgw_buf_add(out, body.ptr + HEAD, body.len - HEAD - FORMAT * added);
    } else {
        pgw_buf_add_slice(out, body);
    }
    pgw_certainly(pgw_end(out, begun));
}

px_load *px_copy_load(px_copy *copy, px_worker *worker, px_identity *identity, pgw_slice statement,
                      const px_load_ops *ops, void *submitter)
{
    px_load *load = px_load_new(worker, identity, statement,
                                px_map_count(worker, copy->copy->table), ops, submitter);
    copy->apart = px_apart_new(worker, load, copy->copy, copy->rows);
    return load;
}

px_load *px_copy_loads(const px_copy *copy)
{
    return copy->apart != NULL ? px_apart_load(copy->apart) : NULL;
}

void px_copy_draw(px_copy *copy, px_worker *worker, px_identity *identity, void (*moved)(void *),
                  void *submitter)
{
    copy->numbers =
        px_numbers_new(worker, identity, copy->copy->drawn->draws_from, moved, submitter);
}

bool px_copy_drawn(const px_copy *copy, uint32_t *sequence, int64_t *number)
{
    if (copy->numbers == NULL)
        return false;
    *sequence = copy->copy->drawn->draws_from;
    return px_numbers_last(copy->numbers, number);
}

bool px_copy_lacks_numbers(const px_copy *copy)
{
    return copy->numbers != NULL && px_numbers_error(copy->numbers).len > 0;
}

bool px_copy_is_full(const px_copy *copy)
{
    if (copy->waiting.len > 0 && !px_copy_lacks_numbers(copy))
        return true;
    return copy->apart != NULL && px_load_is_full(px_apart_load(copy->apart));
}

void px_copy_refuse(px_copy *copy, const char *sqlstate, const char *message)
{
    px_apart_refuse(copy->apart, sqlstate, message);
}

static void feed(px_copy *copy, pgw_slice bytes, pgw_buf *out)
{
    if (copy->apart != NULL) {
        px_apart_data(copy->apart, bytes);
        return;
    }
    size_t before = out->len, begun = pgw_begin(out, 'd'), head = out->len;
    pgw_copy_feed(copy->rows, bytes, out);
    if (out->len == head)
        out->len = before;
    else
        pgw_certainly(pgw_end(out, begun));
}

/* How many rows may end in these bytes of the data, or behind them. */
static size_t rows_in(const px_copy *it, pgw_slice bytes)
{
    const pgw_copy_options *data = &it->copy->data;
    size_t ends = 0;
    if (data->format == PGW_COPY_BINARY) /* a row has a count, and a length for each field */
        return 2 + bytes.len / (2 + 4 * data->columns);
    for (size_t i = 0; i < bytes.len; i++)
        ends += bytes.ptr[i] == '\n' ||
                (bytes.ptr[i] == '\r' && (i + 1 == bytes.len || bytes.ptr[i + 1] != '\n'));
    return ends + 2;
}

/* Takes data as soon as there are numbers for all its rows. Data is dropped once no numbers
 * come. */
static void feed_numbered(px_copy *it, pgw_slice bytes, pgw_buf *out)
{
    pgw_buf_add_slice(&it->waiting, bytes);
    bytes = pgw_slice_buf(&it->waiting);
    if (px_copy_lacks_numbers(it)) {
        if (it->apart != NULL)
            px_load_refuse(px_apart_load(it->apart), px_numbers_error(it->numbers),
                           pgw_copy_at_line(it->rows));
    } else if (bytes.len == 0 || !px_numbers_have(it->numbers, rows_in(it, bytes))) {
        return;
    } else {
        feed(it, bytes, out);
    }
    pgw_buf_clear(&it->waiting);
}

void px_copy_data(px_copy *copy, pgw_slice bytes, pgw_buf *out)
{
    if (copy->numbers != NULL)
        feed_numbered(copy, bytes, out);
    else
        feed(copy, bytes, out);
}

void px_copy_end(px_copy *copy, pgw_buf *out)
{
    if (copy->apart != NULL) {
        px_apart_end(copy->apart);
        return;
    }
    size_t before = out->len, begun = pgw_begin(out, 'd'), head = out->len;
    pgw_copy_finish(copy->rows, out);
    if (out->len == head)
        out->len = before;
    else
        pgw_certainly(pgw_end(out, begun));
}

/* --- what is said of it --- */

/* Whether the error says that the hash is NULL. */
static bool lacks_hash(const px_copy *it, pgw_slice body)
{
    char key[80];
    const rw_table *table = it->copy->table;
    const char *hash = table->columns[table->hash_column].name;
    pgw_slice code = pgw_error_field(body, 'C'), detail = pgw_error_field(body, 'D');
    if (pgw_slice_eq_str(code, "23502"))
        return pgw_slice_eq_str(pgw_error_field(body, 'c'), hash);
    int len = snprintf(key, sizeof key, "(%s) = (null)", hash);
    return pgw_slice_eq_str(code, "23514") && detail.len > 0 &&
           memmem(detail.ptr, detail.len, key, (size_t)len);
}

/* The last place of `COPY name, line` in a context; NULL: there is none. */
static const char *last_line(const px_copy *it, pgw_slice context, size_t *len)
{
    char begin[100];
    const char *found = NULL;
    *len = (size_t)snprintf(begin, sizeof begin, "COPY %s, line ", it->copy->table->name);
    for (const char *at = context.ptr; at != NULL;) {
        size_t left = context.len - (size_t)(at - context.ptr);
        at = left > 0 ? memmem(at, left, begin, *len) : NULL;
        if (at != NULL)
            found = at++;
    }
    return found;
}

/* The line of the client's data that an error of a batch is about, or that the data has come to. */
static uint64_t line_of_load(const px_copy *it, uint64_t line)
{
    const px_load *load = px_apart_load(it->apart);
    return px_load_error(load).len > 0 ? px_load_line(load, line) : pgw_copy_at_line(it->rows);
}

/* How many bytes of a row that is shown to the client there are up to the next one of ASCII after
 * so many of these, which are the client's own; without such a one it is shown as it is. */
static size_t bytes_up_to(const px_copy *it, pgw_slice row, size_t ascii)
{
    static const char more[] = "...";
    const size_t dots = sizeof more - 1;
    size_t end = row.len, at = 0;
    if (end >= dots && memcmp(row.ptr + end - dots, more, dots) == 0)
        end -= dots; /* They may say that the row is longer. */
    for (; at < end; at += rw_character_length(it->shown_in, (pgw_slice){row.ptr + at, end - at}))
        if ((unsigned char)row.ptr[at] < 0x80 && ascii-- == 0)
            return at;
    return row.len;
}

/* Adds the context with the client's own row in it; a row that is too old to be known is not
 * shown. */
static void add_context(const px_copy *it, pgw_slice context, pgw_buf *out)
{
    size_t begin, len;
    const char *line = last_line(it, context, &begin), *end = context.ptr + context.len;
    char *behind = NULL;
    unsigned long long number = line != NULL ? strtoull(line + begin, &behind, 10) : 0;
    if (it->apart != NULL && line != NULL) {
        pgw_buf_add(out, context.ptr, (size_t)(line + begin - context.ptr));
        number = line_of_load(it, number);
        pgw_buf_addf(out, "%llu", number);
        context = (pgw_slice){behind, (size_t)(end - behind)};
    }
    bool shows = line != NULL && end - behind >= 4 && memcmp(behind, ": \"", 3) == 0;
    bool known = shows && pgw_copy_line(it->rows, number, &len);
    size_t shown = shows ? (size_t)(end - behind) - 4 : 0;
    if (known && it->copy->data.characters != PGW_COPY_UTF8)
        len = bytes_up_to(it, (pgw_slice){behind + 3, shown}, len);
    if (!shows || (known && (len > SHOWN || len > shown))) {
        pgw_buf_add_slice(out, context);
        return;
    }
    pgw_buf_add(out, context.ptr, (size_t)(behind - context.ptr));
    if (!known)
        return;
    pgw_buf_add(out, behind, 3 + len);
    pgw_buf_add_byte(out, '"');
}

/* Adds how many fields a binary row, or a line of names, has and should have, without
 * keyspread's. */
static bool add_counts(const px_copy *it, pgw_slice message, pgw_buf *out)
{
    int has, wants, added = (int)rw_copy_added(it->copy);
    char text[120];
    snprintf(text, sizeof text, "%.*s", (int)message.len, message.ptr);
    bool names = sscanf(text, "wrong number of fields in header line: got %d, expected %d", &has,
                        &wants) == 2;
    if (!names && sscanf(text, "row field count is %d, expected %d", &has, &wants) != 2)
        return false;
    pgw_buf_addf(out, "%s %d, expected %d",
                 names ? "wrong number of fields in header line: got" : "row field count is",
                 has > wants ? has - added : has, wants - added);
    return true;
}

static void add_field(const px_copy *it, pgw_slice field, pgw_buf *out)
{
    pgw_slice text = {field.ptr + 1, field.len - 1};
    pgw_buf_add_byte(out, field.ptr[0]);
    if (field.ptr[0] == 'W')
        add_context(it, text, out);
    else if (field.ptr[0] != 'M' || !add_counts(it, text, out))
        pgw_buf_add_slice(out, text);
    pgw_buf_add_byte(out, '\0');
}

/* Adds what is said in place of the server's error for a row without a hash. */
static void add_unhashed(const px_copy *it, pgw_buf *out)
{
    const rw_table *table = it->copy->table;
    const char *hint = it->env.utf8 ? "Write it as PostgreSQL prints it: dates in ISO form, times "
                                      "with their offset from UTC."
                                    : "Send keys with letters beyond ASCII in UTF8: SET "
                                      "client_encoding TO 'UTF8', or write ENCODING 'UTF8'.";
    pgw_buf_addf(out,
                 "SERROR%cVERROR%cC0A000%cMcannot compute the hash of table \"%s\": the value of "
                 "column \"%s\" cannot be told from the data alone%cH%s%c",
                 '\0', '\0', '\0', table->name, table->columns[table->hash_key[0]].name, '\0', hint,
                 '\0');
}

/* Adds what has become of a failed COPY in batches, behind the hint that there is. */
static void add_outcome(const px_copy *it, pgw_slice hint, pgw_buf *out)
{
    const px_load *load = px_apart_load(it->apart);
    uint64_t missing = px_load_missing(load), line = pgw_copy_at_line(it->rows);
    pgw_buf_add_byte(out, 'H');
    pgw_buf_add_slice(out, hint);
    pgw_buf_addf(out, "%s%llu rows are committed; rows from line %llu on may be missing.%c",
                 hint.len > 0 ? " " : "", (unsigned long long)px_load_committed(load),
                 (unsigned long long)(missing > 0 ? missing : line), '\0');
}

void px_copy_error(const px_copy *copy, pgw_slice body, bool fails, pgw_buf *out)
{
    if (fails && px_copy_lacks_numbers(copy))
        body = px_numbers_error(copy->numbers);
    bool unhashed = lacks_hash(copy, body), tells = fails && copy->apart != NULL;
    if (unhashed)
        add_unhashed(copy, out);
    for (size_t at = 0; at < body.len && body.ptr[at] != '\0';) {
        pgw_slice field = {body.ptr + at, strnlen(body.ptr + at, body.len - at)};
        if (field.ptr[0] == 'H' && tells)
            ;
        else if (!unhashed || field.ptr[0] == 'W')
            add_field(copy, field, out);
        at += field.len + 1;
    }
    if (tells)
        add_outcome(copy, unhashed ? PGW_LITERAL("") : pgw_error_field(body, 'H'), out);
    pgw_buf_add_byte(out, '\0');
}
