/* Values in and out: by the vectors that PostgreSQL itself answered. */
#include "protocol/value_integer.h"
#include "protocol/value_canonical.h"
#include "protocol/value_cast.h"
#include "protocol/value_in.h"
#include "protocol/value_out.h"
#include "protocol/value_text.h"
#include "tests/protocol/value_vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const pgw_env utc = {.utf8 = true, .zone_known = true, .conforming = true};

static unsigned wrong;

static void check_text_by(const vector_line *line, const pgw_env *env)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf got = {0};
    pgw_verdict verdict =
        pgw_value_from_text(pgw_type_by_name(line->fields[0]), -1, line->fields[2],
                            &(pgw_reading){env, &arena, &error}, &value);
    /* As PostgreSQL: without typmod, then the typmod as an assignment. */
    if (verdict == PGW_KNOWN)
        verdict = pgw_value_cast(
            &value, (pgw_cast){value.type, (int32_t)vector_number(line->fields[1]), false},
            &(pgw_reading){env, &arena, &error}, &value);
    vector_add_outcome(verdict, &value, &error, &got);
    wrong += !vector_same(line, line->fields[3], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void check_text(const vector_line *line)
{
    check_text_by(line, &utc);
}

static void check_newer(const vector_line *line)
{
    check_text_by(line, &(pgw_env){.utf8 = true, .zone_known = true, .server = 16});
}

static void text_is_read_as_postgres_does(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/values_text.txt", check_text) > 250);
    assert_int_equal(wrong, 0);
}

static void newer_servers_read_more_numbers(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/values_newer.txt", check_newer) > 50);
    assert_int_equal(wrong, 0);
}

/* The typmod given to the input function itself makes no difference. */
static void check_typmod(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf got = {0};
    pgw_verdict verdict = pgw_value_from_text(
        pgw_type_by_name(line->fields[0]), (int32_t)vector_number(line->fields[1]), line->fields[2],
        &(pgw_reading){&utc, &arena, &error}, &value);
    vector_add_outcome(verdict, &value, &error, &got);
    wrong += !vector_same(line, line->fields[3], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void typmod_may_be_given_at_once(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/values_text.txt", check_typmod) > 250);
    assert_int_equal(wrong, 0);
}

/* What is known is printed as PostgreSQL prints it; only real numbers with other digits at times,
 * which read the same. */
static void check_printed(const vector_line *line)
{
    uint32_t type = pgw_type_by_name(line->fields[0]);
    if (type == PGW_BOOL || type == PGW_FLOAT4 || type == PGW_FLOAT8 || line->fields[4].len == 0)
        return;
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf got = {0};
    if (pgw_value_from_text(type, (int32_t)vector_number(line->fields[1]), line->fields[2],
                            &(pgw_reading){&utc, &arena, &error}, &value) == PGW_KNOWN) {
        pgw_value_out(&value, &got);
        wrong += !vector_same(line, line->fields[4], &got);
    }
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void values_are_printed_as_postgres_does(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/values_text.txt", check_printed) > 250);
    assert_int_equal(wrong, 0);
}

/* What was received goes as it came, but for what can be written in several ways. */
static void check_sent(const vector_line *line, const pgw_value *value)
{
    pgw_buf sent = {0}, hex = {0};
    pgw_value_send(value, &sent);
    for (size_t i = 0; i < sent.len; i++)
        pgw_buf_addf(&hex, "%02x", (unsigned char)sent.ptr[i]);
    if (value->type != PGW_NUMERIC && value->type != PGW_BOOL && value->type != PGW_BPCHAR)
        wrong += !vector_same(line, line->fields[1], &hex);
    pgw_buf_free(&sent);
    pgw_buf_free(&hex);
}

static void check_binary(const vector_line *line)
{
    char bytes[256];
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf got = {0};
    size_t length = line->fields[1].len / 2;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(vector_hex(line->fields[1].ptr[2 * i]) << 4 |
                          vector_hex(line->fields[1].ptr[2 * i + 1]));
    pgw_slice exact = pgw_arena_copy(&arena, (pgw_slice){bytes, length});
    pgw_verdict verdict = pgw_value_from_binary(pgw_type_by_name(line->fields[0]), exact,
                                                &(pgw_reading){&utc, &arena, &error}, &value);
    vector_add_outcome(verdict, &value, &error, &got);
    wrong += !vector_same(line, line->fields[2], &got);
    if (verdict == PGW_KNOWN)
        check_sent(line, &value);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void binary_is_read_as_postgres_does(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/values_binary.txt", check_binary) > 60);
    assert_int_equal(wrong, 0);
}

static void check_cast_as(const vector_line *line, bool explicit_cast, pgw_slice wanted)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf got = {0};
    uint32_t from = pgw_slice_eq_str(line->fields[0], "unknown")
                        ? PGW_UNKNOWN
                        : pgw_type_by_name(line->fields[0]);
    pgw_reading reading = {&utc, &arena, &error};
    assert_int_equal(pgw_value_from_text(from, -1, line->fields[1], &reading, &value), PGW_KNOWN);
    pgw_cast cast = {pgw_type_by_name(line->fields[2]), (int32_t)vector_number(line->fields[3]),
                     explicit_cast};
    pgw_verdict verdict = pgw_value_cast(&value, cast, &reading, &value);
    assert_true(verdict != PGW_KNOWN || value.type == pgw_type_by_name(line->fields[2]));
    vector_add_outcome(verdict, &value, &error, &got);
    wrong += !vector_same(line, wanted, &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void check_cast(const vector_line *line)
{
    check_cast_as(line, false, line->fields[4]);
    check_cast_as(line, true, line->fields[5]);
}

static void every_type_is_cast_into_every_other_as_postgres_does(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/values_casts.txt", check_cast) > 700);
    assert_int_equal(wrong, 0);
}

static pgw_verdict read(uint32_t type, const char *text, const pgw_env *env, pgw_arena *arena,
                        pgw_value *value)
{
    pgw_error error;
    return pgw_value_from_text(type, -1, pgw_slice_str(text), &(pgw_reading){env, arena, &error},
                               value);
}

static void zone_decides_where_no_offset_is_written(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_value value;
    pgw_env unknown = {.utf8 = true}, india = {.zone_known = true, .zone_seconds = 19800};
    assert_int_equal(read(PGW_TIMESTAMPTZ, "2000-01-01 05:30", &india, &arena, &value), PGW_KNOWN);
    assert_int_equal(value.as.integer, 0);
    assert_int_equal(read(PGW_TIMESTAMPTZ, "2000-01-01 00:00", &unknown, &arena, &value),
                     PGW_UNKNOWABLE);
    assert_int_equal(read(PGW_TIMESTAMPTZ, "2000-01-01 00:00+00", &unknown, &arena, &value),
                     PGW_KNOWN);
    assert_int_equal(read(PGW_TIMESTAMP, "2000-01-01 00:00", &unknown, &arena, &value), PGW_KNOWN);
    pgw_arena_free(&arena);
}

static void casts_between_zones_need_a_known_zone(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value day = {.type = PGW_DATE, .as.integer = 1}, out;
    pgw_env unknown = {.utf8 = true}, west = {.zone_known = true, .zone_seconds = -3600};
    assert_int_equal(pgw_value_cast(&day, (pgw_cast){PGW_TIMESTAMPTZ, -1, false},
                                    &(pgw_reading){&unknown, &arena, &error}, &out),
                     PGW_UNKNOWABLE);
    assert_int_equal(pgw_value_cast(&day, (pgw_cast){PGW_TIMESTAMPTZ, -1, false},
                                    &(pgw_reading){&west, &arena, &error}, &out),
                     PGW_KNOWN);
    assert_int_equal(out.as.integer, INT64_C(90000000000));
    assert_int_equal(pgw_value_cast(&out, (pgw_cast){PGW_DATE, -1, false},
                                    &(pgw_reading){&west, &arena, &error}, &out),
                     PGW_KNOWN);
    assert_int_equal(out.as.integer, 1);
    pgw_arena_free(&arena);
}

/* A timestamp is the clock's reading, a timestamptz the moment. */
static void casts_between_timestamps_heed_the_zone(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value moment = {.type = PGW_TIMESTAMPTZ, .as.integer = 0}, out, back;
    pgw_env india = {.zone_known = true, .zone_seconds = 19800};
    pgw_reading reading = {&india, &arena, &error};
    assert_int_equal(pgw_value_cast(&moment, (pgw_cast){PGW_TIMESTAMP, -1, false}, &reading, &out),
                     PGW_KNOWN);
    assert_int_equal(out.as.integer, INT64_C(19800000000));
    assert_int_equal(pgw_value_cast(&out, (pgw_cast){PGW_TIMESTAMPTZ, -1, false}, &reading, &back),
                     PGW_KNOWN);
    assert_int_equal(back.as.integer, 0);
    pgw_arena_free(&arena);
}

static void nothing_is_cast_from_what_is_no_known_type(void **state)
{
    (void)state;
    enum { OTHER = 4711 };
    static const struct {
        uint32_t from, to;
        bool null, said;
        pgw_verdict verdict;
    } cases[] = {{PGW_INT8, PGW_INT4, true, false, PGW_KNOWN},
                 {PGW_UNKNOWN, PGW_UUID, true, false, PGW_KNOWN},
                 {PGW_INT8, PGW_UUID, true, true, PGW_INVALID},
                 {PGW_INT8, OTHER, false, true, PGW_UNKNOWABLE},
                 {OTHER, PGW_INT8, false, true, PGW_UNKNOWABLE},
                 {OTHER, PGW_INT8, true, true, PGW_UNKNOWABLE},
                 {PGW_INT8, PGW_UNKNOWN, false, true, PGW_UNKNOWABLE}};
    pgw_arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error = {.sqlstate = "XXXXX"};
        pgw_value in = {.type = cases[i].from, .null = cases[i].null}, out;
        assert_int_equal(pgw_value_cast(&in, (pgw_cast){cases[i].to, -1, cases[i].said},
                                        &(pgw_reading){&utc, &arena, &error}, &out),
                         cases[i].verdict);
        assert_int_equal(out.type, cases[i].to);
        assert_int_equal(out.null, cases[i].null);
        assert_string_equal(error.sqlstate, cases[i].verdict == PGW_INVALID ? "42846" : "");
    }
    pgw_arena_free(&arena);
}

/* A type that is not known here is not read, in text or in binary; a name is cut, or, in binary,
 * is what PostgreSQL refuses. */
static void names_are_cut_and_other_types_not_read(void **state)
{
    (void)state;
    enum { OTHER = 4711 };
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_reading reading = {&utc, &arena, &error};
    char name[65];
    memset(name, 'n', sizeof name);
    assert_int_equal(pgw_value_from_text(OTHER, -1, PGW_LITERAL("1"), &reading, &value),
                     PGW_UNKNOWABLE);
    assert_int_equal(pgw_value_from_binary(OTHER, PGW_LITERAL("1"), &reading, &value),
                     PGW_UNKNOWABLE);
    assert_int_equal(value.type, OTHER);
    assert_int_equal(
        pgw_value_from_text(PGW_NAME, -1, (pgw_slice){name, sizeof name}, &reading, &value),
        PGW_KNOWN);
    assert_int_equal(value.as.bytes.len, PGW_NAME_MAX);
    assert_int_equal(
        pgw_value_from_binary(PGW_NAME, (pgw_slice){name, PGW_NAME_MAX}, &reading, &value),
        PGW_KNOWN);
    assert_int_equal(value.as.bytes.len, PGW_NAME_MAX);
    assert_int_equal(
        pgw_value_from_binary(PGW_NAME, (pgw_slice){name, PGW_NAME_MAX + 1}, &reading, &value),
        PGW_UNKNOWABLE);
    assert_int_equal(
        pgw_value_from_text(PGW_TEXT, -1, (pgw_slice){name, sizeof name}, &reading, &value),
        PGW_KNOWN);
    assert_int_equal(value.as.bytes.len, sizeof name);
    pgw_arena_free(&arena);
}

static void text_beyond_ascii_needs_utf8(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_value value;
    pgw_env other = {.utf8 = false};
    assert_int_equal(read(PGW_TEXT, "\xc3\xa9", &other, &arena, &value), PGW_UNKNOWABLE);
    assert_int_equal(read(PGW_TEXT, "\xff", &other, &arena, &value), PGW_UNKNOWABLE);
    assert_int_equal(read(PGW_TEXT, "abc", &other, &arena, &value), PGW_KNOWN);
    assert_int_equal(read(PGW_TEXT, "\xff", &utc, &arena, &value), PGW_INVALID);
    pgw_arena_free(&arena);
}

static void typmods_that_postgres_takes_are_known(void **state)
{
    static const struct {
        uint32_t type;
        int32_t typmod;
        const char *text;
    } cases[] = {{PGW_VARCHAR, 5, "x"},
                 {PGW_VARCHAR, 10485764, "x"},
                 {PGW_BPCHAR, 5, "x"},
                 {PGW_BPCHAR, 10485764, "x"},
                 {PGW_NUMERIC, (1 << 16) + 4, "1"},
                 {PGW_NUMERIC, (1000 << 16) + 4, "1"},
                 {PGW_NUMERIC, ((1000 << 16) | 1000) + 4, "0"},
                 {PGW_NUMERIC, ((1 << 16) | (2048 - 1000)) + 4, "0"},
                 {PGW_TIMESTAMP, 0, "2020-01-01"},
                 {PGW_TIMESTAMP, 6, "2020-01-01"},
                 {PGW_TIMESTAMPTZ, 6, "2020-01-01"},
                 {PGW_INT8, -1, "1"}};
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pgw_value_from_text(cases[i].type, cases[i].typmod, pgw_slice_str(cases[i].text),
                                &(pgw_reading){&utc, &arena, &error}, &value) != PGW_KNOWN)
            fail_msg("case %zu", i);
    pgw_arena_free(&arena);
}

static void typmods_that_postgres_refuses_are_unknowable(void **state)
{
    static const struct {
        uint32_t type;
        int32_t typmod;
    } cases[] = {{PGW_VARCHAR, 4},
                 {PGW_VARCHAR, 10485765},
                 {PGW_VARCHAR, 0},
                 {PGW_NUMERIC, 4},
                 {PGW_NUMERIC, 3},
                 {PGW_NUMERIC, 1},
                 {PGW_NUMERIC, 8},
                 {PGW_NUMERIC, (1 << 15) + 4},
                 {PGW_BPCHAR, 3},
                 {PGW_NUMERIC, (1001 << 16) + 4},
                 {PGW_NUMERIC, ((1000 << 16) | 1001) + 4},
                 {PGW_NUMERIC, ((1000 << 16) | (2048 - 1001)) + 4},
                 {PGW_BPCHAR, 4},
                 {PGW_TIMESTAMPTZ, 7},
                 {PGW_TIMESTAMP, 7},
                 {PGW_TIMESTAMP, -2},
                 {PGW_INT8, 5},
                 {PGW_VARCHAR, INT32_MIN},
                 {PGW_NUMERIC, INT32_MIN}};
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pgw_value_from_text(cases[i].type, cases[i].typmod,
                                             pgw_slice_str("2020-01-01"),
                                             &(pgw_reading){&utc, &arena, &error}, &value),
                         PGW_UNKNOWABLE);
    pgw_arena_free(&arena);
}

/* So many digits in front of the point, or behind it, and no more. */
static void numbers_are_kept_up_to_a_size(void **state)
{
    (void)state;
    enum { MOST = 2000 };
    static const struct {
        const char *form;
        int digits;
        pgw_verdict verdict;
    } cases[] = {{"1e%d", MOST - 1, PGW_KNOWN},     {"1e%d", MOST, PGW_UNKNOWABLE},
                 {"1e-%d", MOST, PGW_KNOWN},        {"1e-%d", MOST + 1, PGW_UNKNOWABLE},
                 {"12.5e%d", MOST - 2, PGW_KNOWN},  {"12.5e%d", MOST - 1, PGW_UNKNOWABLE},
                 {"12.5e-%d", MOST - 1, PGW_KNOWN}, {"12.5e-%d", MOST, PGW_UNKNOWABLE}};
    pgw_arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        pgw_value value;
        snprintf(text, sizeof text, cases[i].form, cases[i].digits);
        if (read(PGW_NUMERIC, text, &utc, &arena, &value) != cases[i].verdict)
            fail_msg("%s", text);
    }
    /* In binary: 1 with so many groups of four digits behind its own, and so many digits to show.
     */
    static const struct {
        int weight, scale;
        pgw_verdict verdict;
    } binaries[] = {{499, 0, PGW_KNOWN},
                    {500, 0, PGW_UNKNOWABLE},
                    {0, MOST - 4, PGW_KNOWN},
                    {0, MOST - 1, PGW_KNOWN},
                    {0, MOST, PGW_UNKNOWABLE},
                    {-1, MOST, PGW_KNOWN},
                    {-1, MOST + 1, PGW_UNKNOWABLE},
                    {498, 4, PGW_KNOWN},
                    {498, 7, PGW_KNOWN},
                    {498, 8, PGW_UNKNOWABLE}};
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        int weight = binaries[i].weight, scale = binaries[i].scale;
        const char bytes[] = {
            0, 1, (char)(weight >> 8), (char)weight, 0, 0, (char)(scale >> 8), (char)scale, 0, 1};
        pgw_error error;
        pgw_value value;
        pgw_reading reading = {&utc, &arena, &error};
        if (pgw_value_from_binary(PGW_NUMERIC, (pgw_slice){bytes, sizeof bytes}, &reading,
                                  &value) != binaries[i].verdict)
            fail_msg("weight %d, scale %d", weight, scale);
    }
    pgw_arena_free(&arena);
}

static void types_are_found_by_any_name(void **state)
{
    static const struct {
        const char *name;
        uint32_t type;
    } cases[] = {{"int8", PGW_INT8},
                 {"bigint", PGW_INT8},
                 {"int", PGW_INT4},
                 {"decimal", PGW_NUMERIC},
                 {"double precision", PGW_FLOAT8},
                 {"float", PGW_FLOAT8},
                 {"real", PGW_FLOAT4},
                 {"character varying", PGW_VARCHAR},
                 {"char", PGW_BPCHAR},
                 {"timestamp with time zone", PGW_TIMESTAMPTZ},
                 {"timestamp without time zone", PGW_TIMESTAMP},
                 {"pg_catalog.int4", PGW_INT4},
                 {"pg_catalog.bpchar", PGW_BPCHAR},
                 {"pg_catalog.integer", PGW_UNSPECIFIED},
                 {"pg_catalog.char", PGW_UNSPECIFIED},
                 {"pg_catalog.", PGW_UNSPECIFIED},
                 {"public.int4", PGW_UNSPECIFIED},
                 {"int16", PGW_UNSPECIFIED},
                 {"", PGW_UNSPECIFIED}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pgw_type_by_name(pgw_slice_str(cases[i].name)), cases[i].type);
    assert_true(pgw_type_has_one_text(PGW_NAME));
    assert_true(pgw_type_has_one_text(PGW_INT8));
    assert_false(pgw_type_has_one_text(PGW_FLOAT8));
    assert_false(pgw_type_has_one_text(PGW_BYTEA));
    assert_false(pgw_type_has_one_text(PGW_UNSPECIFIED));
    assert_true(pgw_type_is_key(PGW_NUMERIC));
    assert_false(pgw_type_is_key(PGW_FLOAT4));
    assert_false(pgw_type_is_key(PGW_NAME));
    assert_false(pgw_type_is_key(PGW_UNSPECIFIED));
}

static void assert_canonical(pgw_value value, const char *hex)
{
    pgw_buf bytes = {0}, shown = {0};
    pgw_buf_add_slice(&bytes, pgw_value_canonical(&value, (char[PGW_CANONICAL_ROOM]){0}));
    vector_add_hex(pgw_slice_buf(&bytes), &shown);
    assert_int_equal(shown.len, strlen(hex));
    if (shown.len > 0)
        assert_memory_equal(shown.ptr, hex, shown.len);
    pgw_buf_free(&bytes);
    pgw_buf_free(&shown);
}

static pgw_value integer(uint32_t type, int64_t number)
{
    return (pgw_value){.type = type, .as.integer = number};
}

static pgw_value bytes(uint32_t type, const char *text)
{
    return (pgw_value){.type = type, .as.bytes = pgw_slice_str(text)};
}

static pgw_value real(double number)
{
    return (pgw_value){.type = PGW_FLOAT8, .as.real = number};
}

static void canonical_bytes_are_as_published(void **state)
{
    (void)state;
    assert_canonical(integer(PGW_INT2, -2), "feffffffffffffff");
    assert_canonical(integer(PGW_INT4, 258), "0201000000000000");
    assert_canonical(integer(PGW_INT8, INT64_MIN), "0000000000000080");
    assert_canonical(integer(PGW_BOOL, 1), "01");
    assert_canonical(integer(PGW_DATE, -10957), "00000000");
    assert_canonical(integer(PGW_DATE, INT32_MAX), "ffffff7f");
    assert_canonical(integer(PGW_TIMESTAMP, INT64_C(-946684800000000)), "0000000000000000");
    assert_canonical(integer(PGW_TIMESTAMPTZ, INT64_MIN), "0000000000000080");
    assert_canonical(integer(PGW_TIMESTAMP, INT64_C(9223371331199999999)), "ff7feaee5c5c0380");
    assert_canonical(bytes(PGW_TEXT, "ab "), "616220");
    assert_canonical(bytes(PGW_BPCHAR, "ab "), "6162");
    assert_canonical(bytes(PGW_NUMERIC, "-1.50"), "2d312e35");
    assert_canonical(bytes(PGW_NUMERIC, "100"), "313030");
    assert_canonical(bytes(PGW_NUMERIC, "0.00"), "30");
    assert_canonical(bytes(PGW_NUMERIC, "NaN"), "4e614e");
    assert_canonical(real(-0.0), "0000000000000000");
    assert_canonical(real(1), "000000000000f03f");
    assert_canonical(real(-(double)NAN), "000000000000f87f");
    assert_canonical((pgw_value){.type = PGW_INT8, .null = true}, "");
}

static void each_month_has_its_last_day(void **state)
{
    (void)state;
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    pgw_env utc_env = {.utf8 = true, .zone_known = true};
    for (int month = 1; month <= 12; month++) {
        pgw_arena arena = {0};
        pgw_value last, first;
        char text[40];
        snprintf(text, sizeof text, "2021-%02d-%02d", month, days[month - 1]);
        assert_int_equal(read(PGW_DATE, text, &utc_env, &arena, &last), PGW_KNOWN);
        snprintf(text, sizeof text, "%d-%02d-01", month < 12 ? 2021 : 2022, month % 12 + 1);
        assert_int_equal(read(PGW_DATE, text, &utc_env, &arena, &first), PGW_KNOWN);
        assert_int_equal(last.as.integer + 1, first.as.integer);
        snprintf(text, sizeof text, "2021-%02d-%02d", month, days[month - 1] + 1);
        assert_int_equal(read(PGW_DATE, text, &utc_env, &arena, &last), PGW_INVALID);
        pgw_arena_free(&arena);
    }
}

/* A number of each length, and with each of its bytes replaced. */
static void test_plain_integers(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        size_t most;
    } types[] = {{PGW_INT2, 4}, {PGW_INT4, 9}, {PGW_INT8, 18}};
    static const char digits[] = "9018273645546372819",
                      others[] = {'\0', ' ', '-', '/', ':', 'a', '\x80', '\xb0', '\xff'};
    for (size_t t = 0; t < 3; t++)
        for (size_t begin = 0; begin < 2; begin++)
            for (size_t len = 0; len < sizeof digits - begin; len++) {
                char text[sizeof digits] = "";
                pgw_value out;
                memcpy(text, digits + begin, len);
                bool plain = len > 0 && len <= types[t].most;
                assert_int_equal(pgw_integer_plain(types[t].type, (pgw_slice){text, len}, &out),
                                 plain);
                assert_true(!plain || (out.type == types[t].type &&
                                       out.as.integer == strtoll(text, NULL, 10)));
                for (size_t i = 0; i < len * sizeof others; i++) {
                    char kept = text[i / sizeof others];
                    text[i / sizeof others] = others[i % sizeof others];
                    assert_false(pgw_integer_plain(types[t].type, (pgw_slice){text, len}, &out));
                    text[i / sizeof others] = kept;
                }
            }
    assert_false(pgw_integer_plain(PGW_TEXT, PGW_LITERAL("1"), &(pgw_value){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_integers),
        cmocka_unit_test(text_is_read_as_postgres_does),
        cmocka_unit_test(newer_servers_read_more_numbers),
        cmocka_unit_test(typmod_may_be_given_at_once),
        cmocka_unit_test(values_are_printed_as_postgres_does),
        cmocka_unit_test(binary_is_read_as_postgres_does),
        cmocka_unit_test(every_type_is_cast_into_every_other_as_postgres_does),
        cmocka_unit_test(zone_decides_where_no_offset_is_written),
        cmocka_unit_test(casts_between_zones_need_a_known_zone),
        cmocka_unit_test(casts_between_timestamps_heed_the_zone),
        cmocka_unit_test(nothing_is_cast_from_what_is_no_known_type),
        cmocka_unit_test(names_are_cut_and_other_types_not_read),
        cmocka_unit_test(text_beyond_ascii_needs_utf8),
        cmocka_unit_test(typmods_that_postgres_takes_are_known),
        cmocka_unit_test(typmods_that_postgres_refuses_are_unknowable),
        cmocka_unit_test(numbers_are_kept_up_to_a_size),
        cmocka_unit_test(types_are_found_by_any_name),
        cmocka_unit_test(canonical_bytes_are_as_published),
        cmocka_unit_test(each_month_has_its_last_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
