/* A COPY's data with the hash of each row. Where rows lie in one piece, keys of one integer are
 * read and hashed while these are cut; byte by byte, rows are read as any other. Both give the
 * same. */
#include "proxy/ingest/copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/tables.h"

static const unsigned char force[] = {0, 0};

#define COLUMNS .delimiter = ',', .columns = 3, .force = force, .added = PGW_LITERAL("userhash")

static const pgw_copy_options KINDS[] = {
    {.format = PGW_COPY_TEXT, .null = PGW_LITERAL("\\N"), .marker = PGW_LITERAL("\\D"), COLUMNS},
    {.format = PGW_COPY_CSV, .null = PGW_LITERAL(""), .quote = '"', .escape = '"', COLUMNS},
    {.format = PGW_COPY_CSV, .null = PGW_LITERAL("nil"), .quote = '"', .escape = '"', COLUMNS},
};

/* Which columns of the data are read, and which of these make the hash. */
static const struct {
    uint16_t wanted[3], key[2];
    size_t wanted_count, key_count;
} SHAPES[] = {
    {{0, 1, 0}, {1}, 1, 1},
    {{0, 1, 2}, {1, 2}, 2, 2},
    {{0, 1, 0}, {0}, 1, 1}, /* The key is left out, and another column is read. */
};

/* What stands in a key is mostly digits, from none to more than any type has. */
static void make_key(unsigned *seed, pgw_buf *out)
{
    static const char *const others[] = {"", "\\N", "\\D", "nil", " ", "\"1\"", "\\x31", "1e2"};
    int kind = rand_r(seed) % 20;
    if (kind == 0)
        pgw_buf_add_str(out, others[(size_t)rand_r(seed) % (sizeof others / sizeof *others)]);
    if (kind == 1)
        pgw_buf_add_byte(out, '-');
    size_t digits = (size_t)rand_r(seed) % 21, begin = out->len;
    for (size_t i = 0; i < digits; i++)
        pgw_buf_add_byte(out, (char)('0' + rand_r(seed) % 10));
    if (kind == 2 && digits > 0)
        out->ptr[begin + (size_t)rand_r(seed) % digits] = (char)('-' + rand_r(seed) % 20);
}

static void make_rows(unsigned *seed, pgw_buf *out)
{
    for (int rows = 40; rows > 0; rows--) {
        for (int bytes = rand_r(seed) % 90; bytes > 0; bytes--)
            pgw_buf_add_byte(out, 'x');
        pgw_buf_add_byte(out, ',');
        make_key(seed, out);
        pgw_buf_add_str(out, rand_r(seed) % 20 > 0 ? ",7\n" : "\n");
    }
}

/* Appends what px_copy_data() makes of `bytes`, without the head of its message. */
static void feed(px_copy *copy, pgw_slice bytes, pgw_buf *out)
{
    enum { HEAD = 5 };
    pgw_buf message = {0};
    px_copy_data(copy, bytes, &message);
    if (message.len > 0)
        pgw_buf_add(out, message.ptr + HEAD, message.len - HEAD);
    pgw_buf_free(&message);
}

/* Feeds the data in pieces of `piece` bytes; returns how many rows got a hash. */
static uint64_t hash_rows(const rw_copy *what, pgw_slice in, size_t piece, pgw_buf *out)
{
    px_catalog catalog = {.references = 1};
    px_copy *copy = px_copy_new(what, &catalog, test_env, RW_ENCODING_UTF8, "UTF8");
    for (size_t at = 0; at < in.len; at += piece)
        feed(copy, (pgw_slice){in.ptr + at, in.len - at < piece ? in.len - at : piece}, out);
    uint64_t rows = px_copy_rows_since(copy);
    px_copy_free(copy);
    assert_int_equal(catalog.references, 1);
    return rows;
}

static void check(const rw_copy *copy, unsigned *seed)
{
    pgw_buf in = {0}, slow = {0}, fast = {0};
    make_rows(seed, &in);
    uint64_t rows = hash_rows(copy, pgw_slice_buf(&in), 1, &slow);
    assert_true(rows > 0);
    assert_int_equal(hash_rows(copy, pgw_slice_buf(&in), in.len, &fast), rows);
    assert_int_equal(fast.len, slow.len);
    assert_memory_equal(fast.ptr, slow.ptr, slow.len);
    pgw_buf_free(&in);
    pgw_buf_free(&slow);
    pgw_buf_free(&fast);
}

/* Tables of all types, functions and kinds of hashes; `round` tells which one. */
static void check_table(size_t round, unsigned *seed)
{
    static const uint32_t types[] = {PGW_INT2, PGW_INT4, PGW_INT8, PGW_TEXT};
    static const rw_hash_function functions[] = {RW_XXH3, RW_CITYHASH64, RW_PG_HASH,
                                                 RW_NUMERIC_HASH};
    rw_column columns[4];
    memcpy(columns, test_event_columns, sizeof columns);
    columns[0].type = types[round % 4];
    columns[1].type = PGW_INT8;
    rw_table table = test_tables[0];
    table.columns = columns;
    table.hash_type = round / 4 % 3 == 0 ? RW_HASH_UINT64 : RW_HASH_INT8;
    table.buckets = round / 4 % 3 == 1 ? 7 : 0;
    table.allow_null_key = round / 12 % 2 == 0;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        bool one = SHAPES[i].key_count == 1;
        size_t first[] = {0}, both[] = {0, 1};
        table.hash_key = one ? first : both;
        table.hash_key_count = SHAPES[i].key_count;
        table.hash_function = functions[round / 24 % (one && columns[0].type != PGW_TEXT ? 4 : 3)];
        rw_copy copy = {.table = &table, .data = KINDS[round % 3], .key = SHAPES[i].key};
        copy.data.wanted = SHAPES[i].wanted;
        copy.data.wanted_count = SHAPES[i].wanted_count;
        check(&copy, seed);
    }
}

static void test_keys_of_one_integer(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (size_t round = 0; round < 24 * 4; round++)
        check_table(round, &seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys_of_one_integer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
