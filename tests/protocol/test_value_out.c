/* Values as rows and parameters have them: by vectors that PostgreSQL answered. */
#include "protocol/value_in.h"
#include "protocol/value_out.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const pgw_env utc = {.utf8 = true, .zone_known = true, .conforming = true};

static unsigned wrong;

/* Written as a row has it, in text and in binary. */
static void check_written(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf sent = {0}, hex = {0}, printed = {0};
    uint32_t type = pgw_type_by_name(line->fields[0]);
    if (pgw_value_from_text(type, -1, line->fields[1], &(pgw_reading){&utc, &arena, &error},
                            &value) != PGW_KNOWN)
        fail_msg("%s:%u is not known", line->file, line->number);
    pgw_value_send(&value, &sent);
    vector_add_hex(pgw_slice_buf(&sent), &hex);
    wrong += !vector_same(line, line->fields[2], &hex);
    pgw_value_out(&value, &printed);
    if (line->fields[3].len > 0)
        wrong += !vector_same(line, line->fields[3], &printed);
    pgw_buf_free(&sent);
    pgw_buf_free(&hex);
    pgw_buf_free(&printed);
    pgw_arena_free(&arena);
}

static void values_are_written_as_postgres_does(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/values_sent.txt", check_written) > 110);
    assert_int_equal(wrong, 0);
}

/* So many digits as it takes to be read back as the same number. */
static void real_numbers_are_printed_to_come_back(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        double real;
        const char *text;
    } cases[] = {{PGW_FLOAT4, (double)1e-45F, "1.4013e-45"},
                 {PGW_FLOAT4, (double)16777216.0F, "16777216"},
                 {PGW_FLOAT4, (double)0.1F, "0.1"},
                 {PGW_FLOAT8, (double)0.1F, "0.10000000149011612"},
                 {PGW_FLOAT4, 8388609.5, "8.38861e+06"},
                 {PGW_FLOAT4, (double)1.00000012F, "1.0000001"},
                 {PGW_FLOAT8, 5e-324, "4.94065645841247e-324"},
                 {PGW_FLOAT8, 0.1 + 0.2, "0.30000000000000004"},
                 {PGW_FLOAT8, 1.0 / 3, "0.3333333333333333"},
                 {PGW_FLOAT8, -0.0, "-0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf out = {0};
        pgw_value_out(&(pgw_value){.type = cases[i].type, .as.real = cases[i].real}, &out);
        if (!pgw_slice_eq_str(pgw_slice_buf(&out), cases[i].text))
            fail_msg("%s: %.*s", cases[i].text, (int)out.len, out.ptr);
        pgw_buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_postgres_does),
        cmocka_unit_test(real_numbers_are_printed_to_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
