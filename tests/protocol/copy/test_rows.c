/* The data of COPY … FROM STDIN with a field more a row, however it is cut. Rows have three
 * columns, of which the first and the third are read; the added field shows them. */
#include "protocol/copy/rows.h"
#include "tests/protocol/wire_vectors.h"

static const uint16_t wanted[] = {1, 0, 2};
static const unsigned char force[] = {0, 0},
                           forced[] = {PGW_COPY_FORCE_NOT_NULL, PGW_COPY_FORCE_NULL};

#define TEXT                                                                                       \
    .format = PGW_COPY_TEXT, .delimiter = ',', .null = PGW_LITERAL("\\N"), .quote = '"',           \
    .escape = '"'
#define CSV_OF(q, e)                                                                               \
    .format = PGW_COPY_CSV, .delimiter = ',', .null = PGW_LITERAL(""), .quote = q, .escape = e,    \
    .csv_dot_ends = true
#define CSV CSV_OF('"', '"')
#define COLUMNS_OF(f)                                                                              \
    .columns = 3, .wanted = wanted, .force = f, .wanted_count = 2, .added = PGW_LITERAL("hash")
#define COLUMNS COLUMNS_OF(force)

static const struct {
    pgw_copy_options options;
    const char *in, *out;
} FILES[] = {
    {{TEXT, COLUMNS}, "a,b,c\nd,e,f\n", "a,b,c,<a|c>\nd,e,f,<d|f>\n"},
    {{TEXT, COLUMNS}, "a,b,c", "a,b,c,<a|c>"},
    {{TEXT, COLUMNS}, "a,b\na,b,c,d\n\n", "a,b\na,b,c,d,<a|c>\n\n"},
    {{TEXT, COLUMNS}, "a\\,b,,c\\\nd\n", "a\\,b,,c\\\nd,<a,b|c\nd>\n"},
    {{TEXT, COLUMNS}, "\\N,b,\\\\N\n", "\\N,b,\\\\N,\\N\n"},
    {{TEXT, COLUMNS}, "\\x41\\101\\t,b,\\N\n", "\\x41\\101\\t,b,\\N,<AA\t|->\n"},
    {{TEXT, COLUMNS}, "a,b,c\r\nd,e,f\r\n", "a,b,c,<a|c>\r\nd,e,f,<d|f>\r\n"},
    {{TEXT, COLUMNS}, "a,b,c\rd,e,f\r", "a,b,c,<a|c>\rd,e,f,<d|f>\r"},
    {{TEXT, COLUMNS}, "a,b,c\n\\.\nd,e,f\n", "a,b,c,<a|c>\n\\.\nd,e,f\n"},
    {{TEXT, COLUMNS}, "a,b,c\\.\nd", "a,b,c,<a|c>\\.\nd"},
    {{TEXT, COLUMNS}, ",b,\\.\nd", ",b,,<|>\\.\nd"},
    /* The server leaves a backslash away that ends the data; before a delimiter it would escape
       that. */
    {{TEXT, COLUMNS}, "a,b,c\\", "a,b,c,<a|c>"},
    {{TEXT, COLUMNS}, "a,b,\\N\\", "a,b,\\N,<a|->"},
    {{TEXT, COLUMNS}, "a,b,c\nd,e\\", "a,b,c,<a|c>\nd,e\\"},
    {{TEXT, .columns = 1, .wanted = wanted, .force = force, .wanted_count = 1}, "\\", ",<|>"},
    {{TEXT, .columns = 2, .wanted = wanted, .force = force, .wanted_count = 1},
     "a,b\\",
     "a,b,<a|>"},
    {{TEXT, .columns = 1, .wanted = wanted, .force = force, .wanted_count = 1},
     "a\\.\n",
     "a,<a|>\\.\n"},
    {{TEXT, .columns = 2, .wanted = wanted, .force = force, .wanted_count = 1},
     "a,b\\.\n",
     "a,b,<a|>\\.\n"},
    {{TEXT, .columns = 0, .wanted = wanted, .force = force, .wanted_count = 1},
     "\n\nx\n",
     ",<|>\n,<|>\nx,<|>\n"},
    {{TEXT, COLUMNS, .header = PGW_COPY_HEADER}, "x,y,z\na,b,c\n", "x,y,z\na,b,c,<a|c>\n"},
    {{TEXT, COLUMNS, .header = PGW_COPY_HEADER_MATCH},
     "x,y,z\na,b,c\n",
     "x,y,z,hash\na,b,c,<a|c>\n"},
    {{TEXT, COLUMNS, .marker = PGW_LITERAL("\\D")}, "\\D,b,c\n", "\\D,b,c,<?|c>\n"},
    {{.format = PGW_COPY_TEXT, .delimiter = ',', .null = PGW_LITERAL("nil"), COLUMNS},
     "a,b,c\nnil,b,c\nd,e,nil\n",
     "a,b,c,<a|c>\nnil,b,c,nil\nd,e,nil,<d|->\n"},
    {{CSV, COLUMNS}, "\"a\n\"\"b\",\"\",c\n", "\"a\n\"\"b\",\"\",c,<a\n\"b|c>\n"},
    {{CSV, COLUMNS}, "\"\",,\n,b,c\n", "\"\",,,<|->\n,b,c,\n"},
    {{CSV, COLUMNS}, "a,\"b,c\n", "a,\"b,c\n"},
    {{CSV, COLUMNS}, "a,b,\\.\n\\.,b,c", "a,b,\\.,<a|\\.>\n\\.,b,c,<\\.|c>"},
    {{CSV, COLUMNS, .header = PGW_COPY_HEADER}, "\"x\ny\",,\na,b,c\n", "\"x\ny\",,\na,b,c,<a|c>\n"},
    {{CSV_OF('"', '\\'), COLUMNS}, "\"a\\\"\\\\\\x\",,c\n", "\"a\\\"\\\\\\x\",,c,<a\"\\\\x|c>\n"},
    {{CSV, .columns = 1, .wanted = wanted, .force = force, .wanted_count = 1},
     "a\n\\.\nb\n",
     "a,<a|>\n\\.\nb,<b|>\n"},
    /* Fields that are read have no byte of ASCII in characters beyond it. */
    {{TEXT, COLUMNS, .characters = PGW_COPY_PAIRS},
     "a\x83\\,b,c\n\x83,,b,c\n",
     "a\x83\\,b,c,<a\x83\xff|c>\n\x83,,b,c,<\x83\xff|c>\n"},
    {{TEXT, COLUMNS, .characters = PGW_COPY_SJIS},
     "\xb1,\x83\\,\xb1\\,\n\xa0,,\xe0,,\xdf\n",
     "\xb1,\x83\\,\xb1\\,,<\xb1|\xb1,>\n\xa0,,\xe0,,\xdf,<\xa0\xff|\xdf>\n"},
    {{TEXT, COLUMNS, .characters = PGW_COPY_SJIS}, "\xa1,b,\xdf\n", "\xa1,b,\xdf,<\xa1|\xdf>\n"},
    {{TEXT, COLUMNS, .characters = PGW_COPY_PAIRS},
     "\x80,,b,\x7f\n",
     "\x80,,b,\x7f,<\x80\xff|\x7f>\n"},
    {{TEXT, COLUMNS, .characters = PGW_COPY_BEYOND_ASCII},
     "\x83,\xe9,c\n",
     "\x83,\xe9,c,<\x83|c>\n"},
    {{CSV_OF('"', '\\'), COLUMNS, .characters = PGW_COPY_PAIRS},
     "\"\x83\\\",b,c\n",
     "\"\x83\\\",b,c,<\x83\xff|c>\n"},
    {{TEXT, COLUMNS, .characters = PGW_COPY_PAIRS}, "a,b,c\x83", "a,b,c\x83"},
    {{CSV, COLUMNS_OF(forced)}, ",b,\"\"\n", ",b,\"\",<|->\n"},
};

/* `-` is NULL, `?` is not known; NULL if the first one is NULL. */
static bool fill(void *context, const pgw_copy_field *fields, pgw_buf *out)
{
    (void)context;
    if (fields[0].null)
        return false;
    for (size_t i = 0; i < 2; i++) {
        pgw_buf_add_byte(out, i == 0 ? '<' : '|');
        if (fields[i].null || fields[i].unknown)
            pgw_buf_add_byte(out, fields[i].null ? '-' : '?');
        else
            pgw_buf_add_slice(out, fields[i].bytes);
    }
    pgw_buf_add_byte(out, '>');
    return true;
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        pgw_slice in = pgw_slice_str(FILES[i].in);
        for (size_t cut = 0; cut <= in.len; cut++) {
            pgw_copy *copy = pgw_copy_new(&FILES[i].options, fill, NULL);
            pgw_buf out = {0};
            pgw_copy_feed(copy, (pgw_slice){in.ptr, cut}, &out);
            pgw_copy_feed(copy, (pgw_slice){in.ptr + cut, in.len - cut}, &out);
            pgw_copy_finish(copy, &out);
            pgw_buf_add_byte(&out, '\0');
            assert_string_equal(out.ptr, FILES[i].out);
            pgw_buf_free(&out);
            pgw_copy_free(copy);
        }
    }
}

/* One byte after the other. */
static void feed(pgw_copy *copy, const void *bytes, size_t len, pgw_buf *out)
{
    for (size_t i = 0; i < len; i++)
        pgw_copy_feed(copy, (pgw_slice){(const char *)bytes + i, 1}, out);
}

#define SIGNATURE "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\2??"

/* The same with its length; if `context` is there, behind a field of one byte. */
static bool fill_binary(void *context, const pgw_copy_field *fields, pgw_buf *out)
{
    pgw_buf field = {0};
    bool filled = fill(NULL, fields, &field);
    if (context != NULL)
        pgw_buf_add(out, "\0\0\0\1n", 5);
    if (filled || context != NULL) {
        pgw_buf_add_i32(out, filled ? (int32_t)field.len : -1);
        pgw_buf_add(out, field.ptr, field.len);
    }
    pgw_buf_free(&field);
    return filled || context != NULL;
}

static void check_added(size_t added, pgw_slice tuple, pgw_slice expected)
{
    const pgw_copy_options options = {.format = PGW_COPY_BINARY, COLUMNS, .added_count = added};
    pgw_copy *copy = pgw_copy_new(&options, fill_binary, added > 1 ? &added : NULL);
    pgw_buf out = {0};
    feed(copy, SIGNATURE, sizeof SIGNATURE - 1, &out);
    assert_int_equal(out.len, sizeof SIGNATURE - 1);
    pgw_buf_clear(&out);
    feed(copy, tuple.ptr, tuple.len, &out);
    pgw_copy_finish(copy, &out);
    assert_int_equal(out.len, expected.len);
    assert_memory_equal(out.ptr, expected.ptr, expected.len);
    pgw_buf_free(&out);
    pgw_copy_free(copy);
}

static void check_binary(pgw_slice tuple, pgw_slice expected)
{
    check_added(0, tuple, expected);
}

static void test_binary(void **state)
{
    (void)state;
#define A "\0\0\0\1a"
#define NONE "\377\377\377\377"
    check_binary(PGW_LITERAL("\0\3" A NONE A "\377\377"),
                 PGW_LITERAL("\0\4" A NONE A "\0\0\0\5<a|a>\377\377"));
    check_binary(PGW_LITERAL("\0\3" NONE A A), PGW_LITERAL("\0\4" NONE A A NONE));
    check_binary(PGW_LITERAL("\0\2" A A "\377\377"), PGW_LITERAL("\0\2" A A "\377\377"));
    check_binary(PGW_LITERAL("\0\4" A A A A "\377\377"), PGW_LITERAL("\0\5" A A A A "\377\377"));
    check_binary(PGW_LITERAL("\0\0\0\3" A A), PGW_LITERAL("\0\0\0\4" A A));
    check_binary(PGW_LITERAL("\0"), PGW_LITERAL("\0"));
    check_added(2, PGW_LITERAL("\0\3" A NONE A "\377\377"),
                PGW_LITERAL("\0\5" A NONE A "\0\0\0\1n\0\0\0\5<a|a>\377\377"));
    check_added(2, PGW_LITERAL("\0\3" NONE A A), PGW_LITERAL("\0\5" NONE A A "\0\0\0\1n" NONE));
    check_added(2, PGW_LITERAL("\0\2" A A), PGW_LITERAL("\0\2" A A));
    check_added(2, PGW_LITERAL("\0\4" A A A A), PGW_LITERAL("\0\6" A A A A));
    /* No count is more than 32767. */
    check_added(1, PGW_LITERAL("\177\376" A), PGW_LITERAL("\177\377" A));
    check_added(1, PGW_LITERAL("\177\377" A), PGW_LITERAL("\177\377" A));
    check_added(2, PGW_LITERAL("\177\375" A), PGW_LITERAL("\177\377" A));
    check_added(2, PGW_LITERAL("\177\376" A), PGW_LITERAL("\177\376" A));
}

/* What is longer than can be kept is not known, and passes all the same. */
static void test_long_key(void **state)
{
    (void)state;
    static const pgw_copy_options options = {TEXT, COLUMNS};
    pgw_copy *copy = pgw_copy_new(&options, fill, NULL);
    pgw_buf out = {0};
    char *long_one = pgw_alloc(PGW_COPY_KEY_MOST + 1);
    memset(long_one, 'x', PGW_COPY_KEY_MOST + 1);
    pgw_copy_feed(copy, (pgw_slice){long_one, PGW_COPY_KEY_MOST + 1}, &out);
    pgw_copy_feed(copy, PGW_LITERAL(",b,c\na,b,c\n"), &out);
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr + PGW_COPY_KEY_MOST + 1, ",b,c,<?|?>\na,b,c,<a|c>\n");
    assert_int_equal(pgw_copy_rows(copy), 2);
    pgw_buf_free(&out);
    free(long_one);
    pgw_copy_free(copy);
}

/* A key that is too long stands behind other rows, all in one piece. */
static void test_long_key_in_one_piece(void **state)
{
    (void)state;
    enum { LONG = PGW_COPY_KEY_MOST + 1 };
    static const pgw_copy_options options = {TEXT, COLUMNS};
    static const char before[] = "a,b,c,<a|c>\n";
    pgw_copy *copy = pgw_copy_new(&options, fill, NULL);
    pgw_buf in = {0}, out = {0};
    pgw_buf_add_str(&in, "a,b,c\n");
    memset(pgw_buf_reserve(&in, LONG), 'x', LONG);
    in.len += LONG;
    pgw_buf_add_str(&in, ",b,c\na,b,c\n");
    pgw_copy_feed(copy, pgw_slice_buf(&in), &out);
    pgw_buf_add_byte(&out, '\0');
    assert_memory_equal(out.ptr, before, sizeof before - 1);
    assert_string_equal(out.ptr + sizeof before - 1 + LONG, ",b,c,<?|?>\na,b,c,<a|c>\n");
    pgw_buf_free(&in);
    pgw_buf_free(&out);
    pgw_copy_free(copy);
}

/* A field that is not read may be of any length. */
static void test_long_field(void **state)
{
    (void)state;
    static const pgw_copy_options kinds[] = {
        {TEXT, COLUMNS}, {CSV, COLUMNS}, {.format = PGW_COPY_BINARY, COLUMNS}};
    static const pgw_slice begins[] = {PGW_LITERAL("a,"), PGW_LITERAL("a,"),
                                       PGW_LITERAL(SIGNATURE "\0\3" A "\0\x20\0\0")},
                           ends[] = {PGW_LITERAL(",c\n"), PGW_LITERAL(",c\n"), PGW_LITERAL(A)};
    enum { LONG = 2 * PGW_COPY_KEY_MOST };
    char *field = pgw_alloc(LONG);
    memset(field, 'x', LONG);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pgw_copy *copy = pgw_copy_new(&kinds[i], fill, NULL);
        pgw_buf out = {0};
        pgw_copy_feed(copy, begins[i], &out);
        pgw_copy_feed(copy, (pgw_slice){field, LONG}, &out);
        pgw_buf_clear(&out);
        pgw_copy_feed(copy, ends[i], &out);
        pgw_buf_add_byte(&out, '\0');
        const char *added = i < 2 ? ",c,<a|c>\n" : "<a|a>";
        assert_string_equal(out.ptr + (i < 2 ? 0 : sizeof A - 1), added);
        pgw_buf_free(&out);
        pgw_copy_free(copy);
    }
    free(field);
}

/* As PostgreSQL numbers lines: those in quotes count as well. */
static void test_lines(void **state)
{
    (void)state;
    static const pgw_copy_options options = {CSV, COLUMNS};
    pgw_copy *copy = pgw_copy_new(&options, fill, NULL);
    pgw_buf out = {0};
    size_t len;
    pgw_copy_feed(copy, PGW_LITERAL("a,b,c\n\"d\n\",e,f\ng,h,i,j\nk"), &out);
    assert_true(pgw_copy_line(copy, 1, &len));
    assert_int_equal(len, 5);
    assert_true(pgw_copy_line(copy, 2, &len)); /* The row goes on behind a quoted newline. */
    assert_int_equal(len, PGW_COPY_LINE_MOST);
    assert_true(pgw_copy_line(copy, 3, &len));
    assert_int_equal(len, 8);
    assert_true(pgw_copy_line(copy, 4, &len));
    assert_int_equal(len, 7);
    assert_true(pgw_copy_line(copy, 5, &len)); /* It has not ended. */
    assert_int_equal(len, PGW_COPY_LINE_MOST);
    for (size_t i = 0; i < 65536; i++)
        pgw_copy_feed(copy, PGW_LITERAL("\n"), &out);
    assert_false(pgw_copy_line(copy, 4, &len));
    pgw_buf_free(&out);
    pgw_copy_free(copy);
}

/* A file of rows that are mostly plain; a number of `seed` tells what is odd. */
static void make_file(unsigned *seed, const pgw_copy_options *options, pgw_buf *out)
{
    static const char *const odd[] = {"\\",  "\"",  "\"\"", "\r",       "\n",  ",",
                                      "\\.", "\\N", "\xff", "\"a\nb\"", "\r\n"};
    const char *end = rand_r(seed) % 4 == 0 ? "\r\n" : "\n";
    int oddness = rand_r(seed) % 4 == 0 ? 8 : 40;
    for (int rows = rand_r(seed) % 24; rows > 0; rows--) {
        for (size_t i = 0; i < options->columns; i++) {
            pgw_buf_add_str(out, i > 0 ? "," : "");
            for (int bytes = rand_r(seed) % 20; bytes > 0; bytes--)
                pgw_buf_add_byte(out, (char)('a' + bytes));
            if (rand_r(seed) % oddness == 0)
                pgw_buf_add_str(out, odd[(size_t)rand_r(seed) % (sizeof odd / sizeof *odd)]);
        }
        pgw_buf_add_str(out, rand_r(seed) % 50 == 0 ? "" : end);
    }
}

/* Gives the memory behind the file back, so that a sanitizer sees when it is read. */
static void fit(pgw_buf *file)
{
    char *fitting = pgw_alloc(file->len > 0 ? file->len : 1);
    if (file->len > 0)
        memcpy(fitting, file->ptr, file->len);
    free(file->ptr);
    file->ptr = fitting;
    file->cap = file->len;
}

static pgw_copy *read_file(const pgw_copy_options *options, pgw_slice in, size_t cut, bool bytewise,
                           pgw_buf *out)
{
    pgw_copy *copy = pgw_copy_new(options, fill, NULL);
    pgw_buf_clear(out);
    if (bytewise) {
        feed(copy, in.ptr, in.len, out);
    } else {
        pgw_copy_feed(copy, (pgw_slice){in.ptr, cut}, out);
        pgw_copy_feed(copy, (pgw_slice){in.ptr + cut, in.len - cut}, out);
    }
    pgw_copy_finish(copy, out);
    return copy;
}

/* Rows that lie in one piece are read many bytes at once, those that come byte by byte never are:
 * the same comes of both, wherever a file is cut. */
static void test_plain_rows(void **state)
{
    (void)state;
    static const pgw_copy_options kinds[] = {
        {TEXT, COLUMNS},
        {CSV, COLUMNS},
        {CSV_OF('"', '\\'), COLUMNS_OF(forced)},
        {CSV, COLUMNS, .marker = PGW_LITERAL("dcb"), .header = PGW_COPY_HEADER},
        {TEXT, COLUMNS, .header = PGW_COPY_HEADER_MATCH},
        {CSV, .columns = 1, .wanted = wanted, .force = force, .wanted_count = 1,
         .added = PGW_LITERAL("hash")},
    };
    unsigned seed = 1;
    for (size_t i = 0; i < 60 * sizeof kinds / sizeof *kinds; i++) {
        const pgw_copy_options *options = &kinds[i % (sizeof kinds / sizeof *kinds)];
        pgw_buf in = {0}, slow = {0}, fast = {0};
        make_file(&seed, options, &in);
        fit(&in);
        pgw_copy *slowly = read_file(options, pgw_slice_buf(&in), 0, true, &slow);
        for (size_t cut = 0; cut <= in.len; cut++) {
            pgw_copy *copy = read_file(options, pgw_slice_buf(&in), cut, false, &fast);
            assert_int_equal(fast.len, slow.len);
            assert_true(slow.len == 0 || memcmp(fast.ptr, slow.ptr, slow.len) == 0);
            assert_int_equal(pgw_copy_rows(copy), pgw_copy_rows(slowly));
            for (uint64_t line = 1; line < 50; line++) {
                size_t bytes = 0, expected = 0;
                assert_true(pgw_copy_line(copy, line, &bytes) &&
                            pgw_copy_line(slowly, line, &expected));
                assert_int_equal(bytes, expected);
            }
            pgw_copy_free(copy);
        }
        pgw_copy_free(slowly);
        pgw_buf_free(&in);
        pgw_buf_free(&slow);
        pgw_buf_free(&fast);
    }
}

static void test_confusing(void **state)
{
    (void)state;
    assert_false(pgw_copy_confuses(&(pgw_copy_options){TEXT, COLUMNS}));
    assert_false(pgw_copy_confuses(&(pgw_copy_options){CSV, COLUMNS}));
    assert_true(pgw_copy_confuses(&(pgw_copy_options){CSV_OF('7', '"'), COLUMNS}));
    assert_true(pgw_copy_confuses(&(pgw_copy_options){CSV_OF('"', '-'), COLUMNS}));
    assert_true(pgw_copy_confuses(&(pgw_copy_options){TEXT, COLUMNS, .marker = PGW_LITERAL("-1")}));
    assert_true(pgw_copy_confuses(
        &(pgw_copy_options){.format = PGW_COPY_TEXT, .delimiter = ',', .null = PGW_LITERAL("0")}));
    assert_true(pgw_copy_confuses(&(pgw_copy_options){
        .format = PGW_COPY_CSV, .delimiter = '5', .quote = '"', .escape = '"'}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),     cmocka_unit_test(test_binary),
        cmocka_unit_test(test_long_key),  cmocka_unit_test(test_long_field),
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_plain_rows),
        cmocka_unit_test(test_confusing), cmocka_unit_test(test_long_key_in_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
