/* Values with a byte left out, or twice, in text and in binary, and what the casts of the vectors
 * make of them: what is read is written so that it is read again as the same value. */
#include "protocol/array.h"
#include "protocol/value_canonical.h"
#include "protocol/value_cast.h"
#include "protocol/value_in.h"
#include "protocol/value_out.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "word_deleted.h"

static const pgw_env utc = {.utf8 = true, .zone_known = true, .conforming = true};
/* Of the line at hand. */
static uint32_t type;
static int32_t typmod;
static pgw_cast cast;

static void holds_of_error(const pgw_error *error)
{
    size_t len = strlen(error->message);
    word_deleted_holds(strlen(error->sqlstate) == 5 && strncmp(error->sqlstate, "00", 2) != 0,
                       "a value that is refused has the SQLSTATE of an error");
    word_deleted_holds(len > 0 && error->message[len - 1] != '.',
                       "a value that is refused has a message, without a full stop");
}

static void holds_of_same(const pgw_value *value, pgw_verdict verdict, const pgw_value *again)
{
    char room[2][PGW_CANONICAL_ROOM];
    pgw_buf told[2] = {{0}};
    word_deleted_holds(verdict == PGW_KNOWN && again->type == value->type,
                       "what is written of a value can be read");
    if (verdict != PGW_KNOWN)
        return;
    vector_add_value(value, &told[0]);
    vector_add_value(again, &told[1]);
    word_deleted_holds(pgw_slice_eq(pgw_slice_buf(&told[0]), pgw_slice_buf(&told[1])),
                       "what is written of a value is read as the same value");
    if (pgw_type_is_key(value->type))
        word_deleted_holds(
            pgw_slice_eq(pgw_value_canonical(value, room[0]), pgw_value_canonical(again, room[1])),
            "the same value is hashed alike");
    pgw_buf_free(&told[0]);
    pgw_buf_free(&told[1]);
}

/* PostgreSQL rounds the last half second that a timestamp can be up to a moment that it does not
 * read itself. */
static bool is_behind_the_end(const pgw_value *value)
{
    bool timestamp = value->type == PGW_TIMESTAMP || value->type == PGW_TIMESTAMPTZ;
    return timestamp && value->as.integer == INT64_C(9223371331200000000);
}

/* Of what is written, in text and in binary. */
static void holds_of_written(const pgw_value *value, const pgw_reading *reading, pgw_buf *out)
{
    pgw_value again;
    pgw_buf text = {0}, binary = {0};
    pgw_value_out(value, &text);
    pgw_value_send(value, &binary);
    holds_of_same(
        value, pgw_value_from_text(value->type, -1, pgw_slice_buf(&text), reading, &again), &again);
    holds_of_same(
        value, pgw_value_from_binary(value->type, pgw_slice_buf(&binary), reading, &again), &again);
    pgw_buf_add_slice(out, pgw_slice_buf(&text));
    pgw_buf_add_slice(out, pgw_slice_buf(&binary));
    pgw_buf_free(&text);
    pgw_buf_free(&binary);
}

static void judge_read(pgw_verdict verdict, const pgw_value *value, const pgw_reading *reading,
                       pgw_buf *out)
{
    vector_add_outcome(verdict, value, reading->error, out);
    word_deleted_holds(verdict == PGW_KNOWN || verdict == PGW_UNKNOWABLE || verdict == PGW_INVALID,
                       "a value is known, unknowable or invalid");
    if (verdict == PGW_INVALID)
        holds_of_error(reading->error);
    if (verdict == PGW_KNOWN && !value->null && !is_behind_the_end(value))
        holds_of_written(value, reading, out);
}

static void judge_text(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_value value;
    pgw_reading reading = {&utc, &arena, &error};
    pgw_verdict verdict = pgw_value_from_text(type, typmod, text, &reading, &value);
    judge_read(verdict, &value, &reading, out);
    pgw_arena_free(&arena);
}

static void judge_binary(pgw_slice bytes, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_value value;
    pgw_reading reading = {&utc, &arena, &error};
    pgw_verdict verdict = pgw_value_from_binary(type, bytes, &reading, &value);
    judge_read(verdict, &value, &reading, out);
    pgw_arena_free(&arena);
}

static void judge_cast(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_value value;
    pgw_reading reading = {&utc, &arena, &error};
    if (pgw_value_from_text(type, -1, text, &reading, &value) == PGW_KNOWN) {
        pgw_verdict verdict = pgw_value_cast(&value, cast, &reading, &value);
        judge_read(verdict, &value, &reading, out);
    }
    pgw_arena_free(&arena);
}

static void begin(const vector_line *line)
{
    bool unknown = pgw_slice_eq_str(line->fields[0], "unknown");
    type = unknown ? PGW_UNKNOWN : pgw_type_by_name(line->fields[0]);
}

static void vary_text(const vector_line *line)
{
    begin(line);
    typmod = (int32_t)vector_number(line->fields[1]);
    word_deleted_bytes(line->fields[2], judge_text);
}

static void vary_binary(const vector_line *line)
{
    char bytes[256];
    pgw_slice hex = line->fields[1];
    begin(line);
    for (size_t i = 0; i < hex.len / 2; i++)
        bytes[i] = (char)(vector_hex(hex.ptr[2 * i]) << 4 | vector_hex(hex.ptr[2 * i + 1]));
    word_deleted_bytes((pgw_slice){bytes, hex.len / 2}, judge_binary);
}

static void vary_cast(const vector_line *line)
{
    begin(line);
    cast = (pgw_cast){pgw_type_by_name(line->fields[2]), (int32_t)vector_number(line->fields[3]),
                      line->number % 2 == 0};
    word_deleted_bytes(line->fields[1], judge_cast);
}

static void every_text_holds(void **state)
{
    (void)state;
    vector_each(VECTORS "/values_text.txt", vary_text);
    vector_each(VECTORS "/values_binary.txt", vary_binary);
    vector_each(VECTORS "/values_casts.txt", vary_cast);
    assert_in_range(word_deleted_count, 10000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
