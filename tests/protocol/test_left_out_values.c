/* Values with a byte left out, or twice: what is read, in text and in binary, as every type, what
 * the casts of the vectors make of it, and how it is written again. */
#include "protocol/array.h"
#include "protocol/value_canonical.h"
#include "protocol/value_cast.h"
#include "protocol/value_in.h"
#include "protocol/value_out.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "left_out.h"

static const pgw_env utc = {.utf8 = true, .zone_known = true, .conforming = true};
static pgw_buf lines;

/* Of the line at hand. */
static uint32_t type;
static int32_t typmod;
static pgw_cast cast;

static void add_read(pgw_verdict verdict, const pgw_value *value, const pgw_error *error,
                     pgw_buf *out)
{
    vector_add_outcome(verdict, value, error, out);
    if (verdict != PGW_KNOWN || value->null)
        return;
    pgw_value_out(value, out);
    pgw_value_send(value, out);
    if (pgw_type_is_key(value->type))
        pgw_buf_add_slice(out, pgw_value_canonical(value, (char[PGW_CANONICAL_ROOM]){0}));
}

static void describe_text(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_reading reading = {&utc, &arena, &error};
    pgw_verdict verdict = pgw_value_from_text(type, typmod, text, &reading, &value);
    add_read(verdict, &value, &error, out);
    pgw_arena_free(&arena);
}

static void describe_binary(pgw_slice bytes, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_reading reading = {&utc, &arena, &error};
    pgw_verdict verdict = pgw_value_from_binary(type, bytes, &reading, &value);
    add_read(verdict, &value, &error, out);
    pgw_arena_free(&arena);
}

static void describe_cast(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_reading reading = {&utc, &arena, &error};
    if (pgw_value_from_text(type, -1, text, &reading, &value) == PGW_KNOWN) {
        pgw_verdict verdict = pgw_value_cast(&value, cast, &reading, &value);
        add_read(verdict, &value, &error, out);
    }
    pgw_arena_free(&arena);
}

static void begin(const vector_line *line, const char *name)
{
    bool unknown = pgw_slice_eq_str(line->fields[0], "unknown");
    type = unknown ? PGW_UNKNOWN : pgw_type_by_name(line->fields[0]);
    pgw_buf_addf(&lines, "%s %u", name, line->number);
}

static void add_text(const vector_line *line)
{
    begin(line, "text");
    typmod = (int32_t)vector_number(line->fields[1]);
    left_out_bytes(line->fields[2], describe_text, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static void add_binary(const vector_line *line)
{
    char bytes[256];
    pgw_slice hex = line->fields[1];
    begin(line, "binary");
    for (size_t i = 0; i < hex.len / 2; i++)
        bytes[i] = (char)(vector_hex(hex.ptr[2 * i]) << 4 | vector_hex(hex.ptr[2 * i + 1]));
    left_out_bytes((pgw_slice){bytes, hex.len / 2}, describe_binary, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static void add_cast(const vector_line *line)
{
    begin(line, "cast");
    cast = (pgw_cast){pgw_type_by_name(line->fields[2]), (int32_t)vector_number(line->fields[3]),
                      line->number % 2 == 0};
    left_out_bytes(line->fields[1], describe_cast, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static char *all(void)
{
    lines = (pgw_buf){0};
    vector_each(VECTORS "/values_text.txt", add_text);
    vector_each(VECTORS "/values_binary.txt", add_binary);
    vector_each(VECTORS "/values_casts.txt", add_cast);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_values.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
