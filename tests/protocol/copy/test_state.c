/* What the reader of a COPY's data knows besides its rows, however the data is cut: what is wrong
 * with how it is cut, where it is, how many fields a row has, and where the header and the data
 * end. */
#include "protocol/copy/rows.h"
#include "tests/protocol/wire_vectors.h"

static const uint16_t wanted[] = {1, 2, 3};
static const unsigned char force[] = {0, 0, 0};

#define COLUMNS                                                                                    \
    .delimiter = ',', .columns = 3, .wanted = wanted, .force = force, .wanted_count = 3,           \
    .added = PGW_LITERAL("hash")
#define TEXT .format = PGW_COPY_TEXT, .null = PGW_LITERAL("\\N"), COLUMNS
#define CSV                                                                                        \
    .format = PGW_COPY_CSV, .null = PGW_LITERAL(""), .quote = '"', .escape = '"',                  \
    .csv_dot_ends = true, COLUMNS
#define BINARY .format = PGW_COPY_BINARY, COLUMNS

static const pgw_copy_options text = {TEXT}, csv = {CSV}, binary = {BINARY};

/* What a row is seen to be while its field is added. */
typedef struct sight {
    pgw_copy *copy;
    char text[400];
} sight;

/* Adds the row to what is seen: its line, how many fields it has if these are not as many as they
 * should be, and the fields. */
static bool fill(void *context, const pgw_copy_field *fields, pgw_buf *out)
{
    (void)out;
    sight *it = context;
    size_t count, len = strlen(it->text);
    bool odd = pgw_copy_is_odd(it->copy, &count);
    len += (size_t)snprintf(it->text + len, sizeof it->text - len,
                            "%u:", (unsigned)pgw_copy_at_line(it->copy));
    if (odd)
        len += (size_t)snprintf(it->text + len, sizeof it->text - len, "%u", (unsigned)count);
    for (size_t i = 0; i < 3 && !(odd && i >= count); i++)
        len += (size_t)snprintf(it->text + len, sizeof it->text - len, "|%.*s",
                                (int)fields[i].bytes.len, fields[i].bytes.ptr);
    snprintf(it->text + len, sizeof it->text - len, ";");
    return false;
}

typedef struct reading {
    pgw_copy *copy;
    pgw_buf out;
    sight seen;
} reading;

/* Reads data that is cut at `cut`, without its end. */
static void begin(reading *it, const pgw_copy_options *options, pgw_slice in, size_t cut)
{
    *it = (reading){.copy = pgw_copy_new(options, fill, &it->seen)};
    it->seen.copy = it->copy;
    pgw_copy_feed(it->copy, (pgw_slice){in.ptr, cut}, &it->out);
    pgw_copy_feed(it->copy, (pgw_slice){in.ptr + cut, in.len - cut}, &it->out);
}

static void end(reading *it)
{
    pgw_copy_free(it->copy);
    pgw_buf_free(&it->out);
}

static void check_fault(const pgw_copy_options *options, pgw_slice in, const char *message,
                        const char *hint)
{
    for (size_t cut = 0; cut <= in.len; cut++) {
        reading it;
        begin(&it, options, in, cut);
        pgw_copy_finish(it.copy, &it.out);
        const pgw_copy_fault *wrong = pgw_copy_wrong(it.copy);
        assert_int_equal(wrong == NULL, message == NULL);
        if (wrong != NULL) {
            assert_string_equal(wrong->message, message);
            assert_string_equal(wrong->hint, hint);
        }
        end(&it);
    }
}

static void test_ends_of_lines(void **state)
{
    (void)state;
    static const char *const right[] = {
        "",          "a",          "a\nb\n",   "a\rb\r",     "a\r\nb\r\n", "a\r", "a\r\n",
        "a\r\n\r\n", "a,b,c\nd\n", "a\r\rb\r", "a,b,c\r\nb", "\n\n",       "\r\r"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        check_fault(&text, pgw_slice_str(right[i]), NULL, NULL);
        check_fault(&csv, pgw_slice_str(right[i]), NULL, NULL);
    }
    static const struct {
        const char *in;
        bool cr;
    } wrong[] = {{"a\nb\r", true},    {"a\nb\r\n", true},  {"a,b,c\nb,c,d\r\n", true},
                 {"a\r\nb\rc", true}, {"a\r\nb\n", false}, {"a\rb\n", false},
                 {"a\r\n\n", false},  {"a\rb\r\n", false}, {"a\nb\rc\rd\n", true},
                 {"a\rb\nc\n", false}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pgw_slice in = pgw_slice_str(wrong[i].in);
        check_fault(&text, in,
                    wrong[i].cr ? "literal carriage return found in data"
                                : "literal newline found in data",
                    wrong[i].cr ? "Use \"\\r\" to represent carriage return."
                                : "Use \"\\n\" to represent newline.");
        check_fault(&csv, in,
                    wrong[i].cr ? "unquoted carriage return found in data"
                                : "unquoted newline found in data",
                    wrong[i].cr ? "Use quoted CSV field to represent carriage return."
                                : "Use quoted CSV field to represent newline.");
    }
    check_fault(&csv, PGW_LITERAL("a\n\"b\r\""), NULL, NULL);
    check_fault(&csv, PGW_LITERAL("a\r\n\"b\nc\"\r\n"), NULL, NULL);
    check_fault(&text, PGW_LITERAL("a\nb\\\rc\n"), NULL, NULL);
    check_fault(&text, PGW_LITERAL("a\n\\.\r\nb\r"), NULL,
                NULL); /* Nothing is read behind the end. */
}

static void test_quotes(void **state)
{
    (void)state;
    static const char message[] = "unterminated CSV quoted field";
    check_fault(&csv, PGW_LITERAL("a,\"b\n"), message, "");
    check_fault(&csv, PGW_LITERAL("a,\"b\"\"\n"), message, "");
    check_fault(&csv, PGW_LITERAL("a,\"b\"\n"), NULL, NULL);
    check_fault(&text, PGW_LITERAL("a,\"b\n"), NULL, NULL);
    check_fault(&csv, PGW_LITERAL("a\nb\r\""),
                "unquoted carriage return found in data", /* The first one is told. */
                "Use quoted CSV field to represent carriage return.");
    static const pgw_copy_options backslash = {
        .format = PGW_COPY_CSV, .quote = '"', .escape = '\\', COLUMNS};
    check_fault(&backslash, PGW_LITERAL("a,\"b\\\""), message, "");
    check_fault(&backslash, PGW_LITERAL("a,\"b\\\\\""), NULL, NULL);
    check_fault(&backslash, PGW_LITERAL("a,\"b\\c\""), NULL, NULL);
    check_fault(&backslash, PGW_LITERAL("a,\"b\\,\""), NULL, NULL);
    check_fault(&backslash, PGW_LITERAL("a,\"b\\\n\""), NULL, NULL);
    check_fault(&backslash, PGW_LITERAL("a,b\\\"c\""), NULL, NULL);
    check_fault(&backslash, PGW_LITERAL("a,\"b\"\\\"c"), message, "");
}

#define SIGNATURE "PGCOPY\n\377\r\n\0\0\0\0\0"
#define HEAD SIGNATURE "\0\0\0\0"
#define A "\0\0\0\1a"
#define NONE "\377\377\377\377"
#define EMPTY "\0\0\0\0"
#define TUPLE "\0\3" A NONE EMPTY

static void check_seen(const pgw_copy_options *options, pgw_slice in, const char *expected,
                       uint64_t rows)
{
    for (size_t cut = 0; cut <= in.len; cut++) {
        reading it;
        begin(&it, options, in, cut);
        pgw_copy_finish(it.copy, &it.out);
        assert_string_equal(it.seen.text, expected);
        assert_int_equal(pgw_copy_rows(it.copy), rows);
        size_t count;
        assert_false(pgw_copy_is_odd(it.copy, &count));
        end(&it);
    }
}

static void test_binary(void **state)
{
    (void)state;
    static const char cut[] = "unexpected EOF in COPY data",
                      length[] = "invalid COPY file header (wrong length)";
    pgw_slice whole = PGW_LITERAL(SIGNATURE "\0\0\0\2xx" TUPLE TUPLE "\377\377");
    size_t head = sizeof HEAD + 1, tuple = sizeof TUPLE - 1;
    for (size_t len = 0; len <= whole.len; len++) {
        bool fine =
            len == head || len == head + tuple || len == head + 2 * tuple || len == whole.len;
        check_fault(&binary, (pgw_slice){whole.ptr, len}, fine ? NULL : cut, "");
    }
    check_fault(&binary, PGW_LITERAL(HEAD "\377\377more"), NULL, NULL);
    check_fault(&binary, PGW_LITERAL(SIGNATURE "\377\377\377\377"), length, "");
    check_fault(&binary, PGW_LITERAL(SIGNATURE "\200\0\0\0" TUPLE), length, "");
    check_seen(&binary, PGW_LITERAL(SIGNATURE "\200\0\0\0" TUPLE), "", 0);
    check_fault(&binary, PGW_LITERAL(HEAD "\377\376" A), "invalid number of fields", "");
    check_fault(&binary, PGW_LITERAL(HEAD TUPLE "\200\0"), "invalid number of fields", "");
    check_fault(&binary, PGW_LITERAL(HEAD "\0\3" A "\377\377\377\376"), "invalid field size", "");
    check_seen(&binary, PGW_LITERAL(HEAD TUPLE "\0\3" A NONE "\377\377\377\376" TUPLE), "1:|a||;",
               1);
    check_fault(&binary, PGW_LITERAL(HEAD "\0\3" A NONE "\200\0\0\0" TUPLE), "invalid field size",
                "");
}

/* No server judges rows of fewer or more fields, so that these are seen as well. */
static void test_odd_rows(void **state)
{
    (void)state;
    static const pgw_copy_options every_text = {TEXT, .every_row = true},
                                  every_csv = {CSV, .every_row = true},
                                  every_binary = {BINARY, .every_row = true},
                                  headed = {CSV, .every_row = true, .header = PGW_COPY_HEADER};
    check_seen(&text, PGW_LITERAL("a,b,c\nd\ne,f,g,h\n"), "1:|a|b|c;3:4|e|f|g;", 2);
    check_seen(&every_text, PGW_LITERAL("a,b,c\nd,e\nf,g,h,i\n\nj"),
               "1:|a|b|c;2:2|d|e;3:4|f|g|h;4:1|;5:1|j;", 5);
    /* As in PostgreSQL, a newline in quotes counts once it is known to end lines. */
    check_seen(&every_csv, PGW_LITERAL("\"a\nx\",b,c\nd\n\"e\n\",f\n"),
               "1:|a\nx|b|c;2:1|d;4:2|e\n|f;", 3);
    check_seen(&every_csv, PGW_LITERAL("a\nb,c,d,e,f,g,h\n"), "1:1|a;2:7|b|c|d;", 2);
    check_seen(&every_csv, PGW_LITERAL("\"a\rx\",b,c\rd\r"), "2:|a\rx|b|c;3:1|d;", 2);
    check_seen(&every_csv, PGW_LITERAL("a\r\n\"b\rx\ny\"\r\n"), "1:1|a;3:1|b\rx\ny;", 2);
    check_seen(&every_csv, PGW_LITERAL("a,b,c\n\\.\n"), "1:|a|b|c;", 1);
    check_seen(&headed, PGW_LITERAL("a\nd,e,f\n"), "2:|d|e|f;", 1);
    check_seen(&every_binary, PGW_LITERAL(HEAD TUPLE TUPLE), "1:|a||;2:|a||;", 2);
}

/* Of a tuple of other than its columns no field is read, nor is anything behind it. */
static bool note_odd(void *context, const pgw_copy_field *fields, pgw_buf *out)
{
    (void)fields;
    (void)out;
    sight *it = context;
    size_t count;
    if (!pgw_copy_is_odd(it->copy, &count))
        count = 99;
    snprintf(it->text + strlen(it->text), sizeof it->text - strlen(it->text), "%u;",
             (unsigned)count);
    return false;
}

static void test_odd_tuples(void **state)
{
    (void)state;
    static const pgw_copy_options every = {BINARY, .every_row = true};
    static const struct {
        pgw_slice in;
        const char *expected;
    } files[] = {{PGW_LITERAL(HEAD TUPLE "\0\2" A A TUPLE), "99;2;"},
                 {PGW_LITERAL(HEAD "\0\4" A A A A), "4;"},
                 {PGW_LITERAL(HEAD "\0\0" TUPLE), "0;"},
                 {PGW_LITERAL(HEAD "\0\0"), "0;"},
                 {PGW_LITERAL(HEAD "\377\377" TUPLE), ""},
                 {PGW_LITERAL(HEAD "\177\377"), "32767;"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t cut = 0; cut <= files[i].in.len; cut++) {
            pgw_buf out = {0};
            sight seen = {0};
            seen.copy = pgw_copy_new(&every, note_odd, &seen);
            pgw_copy_feed(seen.copy, (pgw_slice){files[i].in.ptr, cut}, &out);
            pgw_copy_feed(seen.copy, (pgw_slice){files[i].in.ptr + cut, files[i].in.len - cut},
                          &out);
            pgw_copy_finish(seen.copy, &out);
            size_t count;
            assert_string_equal(seen.text, files[i].expected);
            assert_false(pgw_copy_is_odd(seen.copy, &count)); /* No row is being added. */
            assert_null(pgw_copy_wrong(seen.copy));
            pgw_copy_free(seen.copy);
            pgw_buf_free(&out);
        }
}

static void test_header(void **state)
{
    (void)state;
    static const pgw_copy_options skipped = {CSV, .header = PGW_COPY_HEADER},
                                  matched = {TEXT, .header = PGW_COPY_HEADER_MATCH};
    static const struct {
        const pgw_copy_options *options;
        const char *in;
        size_t end;
    } files[] = {{&skipped, "x,y,z\na,b,c\n", 5},
                 {&matched, "x,y,z\na,b,c\n", 10},
                 {&skipped, "x,y", 0},
                 {&text, "x,y,z\n", 0},
                 {&skipped, "\"x\n\"\n", 4},
                 {&matched, "x,y\na,b,c\n", 3}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pgw_slice in = pgw_slice_str(files[i].in);
        for (size_t cut = 0; cut <= in.len; cut++) {
            reading it;
            begin(&it, files[i].options, in, cut);
            assert_int_equal(pgw_copy_header_end(it.copy), files[i].end);
            end(&it);
        }
    }
}

static void test_end_of_data(void **state)
{
    (void)state;
    static const pgw_copy_options newer = {
        .format = PGW_COPY_CSV, .quote = '"', .escape = '"', COLUMNS};
    static const struct {
        const pgw_copy_options *options;
        const char *in;
        bool ended;
    } files[] = {{&text, "a\n", false},    {&text, "a\n\\", false},     {&text, "a\n\\.", true},
                 {&text, "a\\.", true},    {&text, "\\\\.", false},     {&csv, "a\n\\.", false},
                 {&csv, "a\n\\.\n", true}, {&csv, "\\.,a\n", false},    {&csv, "\\.a\n", false},
                 {&csv, "a,\\.\n", false}, {&csv, "/.\n", false},       {&csv, "\\\\\n", false},
                 {&newer, "\\.\n", false}, {&csv, "\\.\na,b,c\n", true}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pgw_slice in = pgw_slice_str(files[i].in);
        for (size_t cut = 0; cut <= in.len; cut++) {
            reading it;
            begin(&it, files[i].options, in, cut);
            assert_int_equal(pgw_copy_has_ended(it.copy), files[i].ended);
            end(&it);
        }
    }
}

/* How long line `line` was. */
static size_t length(const pgw_copy *copy, uint64_t line)
{
    size_t bytes;
    assert_true(pgw_copy_line(copy, line, &bytes));
    return bytes;
}

static void test_lengths(void **state)
{
    (void)state;
    static const pgw_copy_options latin = {TEXT, .characters = PGW_COPY_BEYOND_ASCII},
                                  pairs = {TEXT, .characters = PGW_COPY_PAIRS};
    pgw_slice in = PGW_LITERAL("\xe9\xe9x\x7f\x80,b\nc\\\xe9\n\xe9\\.");
    for (size_t cut = 0; cut <= in.len; cut++) {
        reading it;
        begin(&it, &text, in, cut);
        assert_int_equal(length(it.copy, 1), 7);
        assert_int_equal(length(it.copy, 2), 3);
        assert_int_equal(length(it.copy, 3), 1);
        assert_int_equal(pgw_copy_at_line(it.copy), 4);
        end(&it);
        begin(&it, &latin, in, cut);
        assert_int_equal(length(it.copy, 1), 4);
        assert_int_equal(length(it.copy, 2), 2);
        assert_int_equal(length(it.copy, 3), 0);
        end(&it);
        begin(&it, &pairs, PGW_LITERAL("\xe9\\x\n\xe9\xe9\\\nx\n"), cut % 10);
        assert_int_equal(length(it.copy, 1), 1);
        assert_int_equal(length(it.copy, 2), 3);
        end(&it);
    }
    char *row = pgw_alloc(300);
    memset(row, 'x', 300);
    for (size_t len = 253; len < 258; len++) {
        row[len] = '\n';
        for (size_t cut = 0; cut <= len; cut += 17) {
            reading it;
            begin(&it, &text, (pgw_slice){row, len + 1}, cut);
            assert_int_equal(length(it.copy, 1),
                             len < PGW_COPY_LINE_MOST ? len : PGW_COPY_LINE_MOST);
            assert_int_equal(length(it.copy, 2), PGW_COPY_LINE_MOST); /* It has not ended. */
            end(&it);
        }
        row[len] = 'x';
    }
    free(row);
}

/* The lengths of the last lines are known, and of none before these. */
static void test_known_lines(void **state)
{
    (void)state;
    reading it;
    begin(&it, &text, PGW_LITERAL("abc\n"), 0);
    for (size_t i = 1; i < 65536; i++) {
        size_t bytes = length(it.copy, 1);
        assert_int_equal(bytes, 3);
        pgw_copy_feed(it.copy, PGW_LITERAL("\n"), &it.out);
    }
    size_t bytes;
    assert_int_equal(pgw_copy_at_line(it.copy), 65537);
    assert_false(pgw_copy_line(it.copy, 1, &bytes));
    assert_int_equal(length(it.copy, 2), 0);
    end(&it);
    pgw_copy_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_of_lines), cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_binary),        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_odd_tuples),    cmocka_unit_test(test_header),
        cmocka_unit_test(test_end_of_data),   cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_known_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
