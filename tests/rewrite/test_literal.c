/* What a column will hold for an expression: by the vectors that PostgreSQL itself answered. */
#include "rewrite/hash/literal.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const pgw_env utc = {.utf8 = true, .zone_known = true, .conforming = true};

static unsigned wrong;

static rw_cell_kind read_kind(pgw_slice name)
{
    static const struct {
        const char *name;
        rw_cell_kind kind;
    } kinds[] = {{"absent", RW_CELL_ABSENT},
                 {"default", RW_CELL_DEFAULT},
                 {"null", RW_CELL_NULL},
                 {"string", RW_CELL_STRING},
                 {"integer", RW_CELL_INTEGER},
                 {"decimal", RW_CELL_DECIMAL},
                 {"bool", RW_CELL_BOOL},
                 {"param", RW_CELL_PARAM},
                 {"expression", RW_CELL_EXPRESSION}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pgw_slice_eq_str(name, kinds[i].name))
            return kinds[i].kind;
    fail_msg("no such kind: %.*s", (int)name.len, name.ptr);
    return RW_CELL_EXPRESSION;
}

/* "type:typmod type:typmod …" */
static void read_casts(pgw_slice text, rw_cell *cell)
{
    char copy[128] = "", *rest = NULL;
    assert_true(text.len < sizeof copy);
    memcpy(copy, text.ptr, text.len);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        rw_cast *cast = &cell->casts[cell->cast_count++];
        assert_int_equal(sscanf(word, "%u:%d", &cast->type, &cast->typmod), 2);
    }
}

static void check_literal(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_value value;
    pgw_buf got = {0};
    char name[] = "x";
    rw_column column = {.name = name,
                        .type = pgw_type_by_name(line->fields[0]),
                        .typmod = (int32_t)vector_number(line->fields[1])};
    rw_cast casts[RW_MAX_CASTS] = {0};
    rw_cell cell = {.kind = read_kind(line->fields[2]),
                    .casts = casts,
                    .text = line->fields[3],
                    .parameter = 1,
                    .minus_after = (int8_t)vector_number(line->fields[4])};
    read_casts(line->fields[5], &cell);
    pgw_reading reading = {&utc, &arena, &error};
    pgw_verdict verdict = rw_cell_value(&cell, &column, RW_NO_PARAMS, &reading, &value);
    vector_add_outcome(verdict, &value, &error, &got);
    wrong += !vector_same(line, line->fields[6], &got);
    if (verdict == PGW_KNOWN)
        assert_int_equal(value.type, column.type);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void literals_are_stored_as_postgres_does(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/literals.txt", check_literal) > 120);
    assert_int_equal(wrong, 0);
}

static char column_name[] = "id";
static const rw_column bigint = {.name = column_name, .type = PGW_INT8, .typmod = -1};
static const rw_cell first_param = {.kind = RW_CELL_PARAM, .parameter = 1, .minus_after = -1};

static pgw_verdict bind(const rw_column *column, rw_param param, pgw_value *out, pgw_error *error)
{
    static pgw_arena arena;
    pgw_verdict verdict = rw_cell_value(&first_param, column, (rw_params){&param, 1},
                                        &(pgw_reading){&utc, &arena, error}, out);
    pgw_arena_free(&arena);
    return verdict;
}

static void one_value_whatever_its_form(void **state)
{
    const rw_param forms[] = {
        {.type = PGW_INT8, .bytes = PGW_LITERAL("5")},
        {.type = PGW_INT8, .bytes = PGW_LITERAL(" 005 ")},
        {.type = PGW_INT2, .binary = true, .bytes = PGW_LITERAL("\0\5")},
        {.type = PGW_INT4, .binary = true, .bytes = PGW_LITERAL("\0\0\0\5")},
        {.type = PGW_INT8, .binary = true, .bytes = PGW_LITERAL("\0\0\0\0\0\0\0\5")},
        {.type = PGW_NUMERIC, .bytes = PGW_LITERAL("4.5")},
        {.type = PGW_NUMERIC, .binary = true, .bytes = PGW_LITERAL("\0\1\0\0\0\0\0\0\0\5")},
    };
    (void)state;
    pgw_value value;
    pgw_error error;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assert_int_equal(bind(&bigint, forms[i], &value, &error), PGW_KNOWN);
        assert_int_equal(value.type, PGW_INT8);
        assert_int_equal(value.as.integer, 5);
    }
}

static void parameters_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    pgw_value value;
    pgw_error error;
    rw_param text = {.type = PGW_TEXT, .bytes = PGW_LITERAL("5")};
    assert_int_equal(bind(&bigint, text, &value, &error), PGW_INVALID);
    assert_string_equal(error.sqlstate, "42804");
    assert_string_equal(error.message,
                        "column \"id\" is of type bigint but expression is of type text");
    rw_param longer = {.type = PGW_INT4, .binary = true, .bytes = PGW_LITERAL("\0\0\0\0\5")};
    assert_int_equal(bind(&bigint, longer, &value, &error), PGW_INVALID);
    assert_string_equal(error.sqlstate, "22P03");
    assert_string_equal(error.message, "incorrect binary data format in bind parameter 1");
}

static void parameters_that_are_not_known_are_unknowable(void **state)
{
    (void)state;
    pgw_value value;
    pgw_error error;
    rw_param undeclared = {.bytes = PGW_LITERAL("5")};
    rw_param unknown = {.type = PGW_UNKNOWN, .bytes = PGW_LITERAL("5")};
    rw_param money = {.type = 790, .bytes = PGW_LITERAL("5")};
    assert_int_equal(bind(&bigint, undeclared, &value, &error), PGW_UNKNOWABLE);
    assert_int_equal(bind(&bigint, unknown, &value, &error), PGW_UNKNOWABLE);
    assert_int_equal(bind(&bigint, money, &value, &error), PGW_UNKNOWABLE);
    rw_cell second = {.kind = RW_CELL_PARAM, .parameter = 2, .minus_after = -1}, zeroth = second;
    zeroth.parameter = 0;
    rw_param five = {.type = PGW_INT8, .bytes = PGW_LITERAL("5")};
    pgw_arena arena = {0};
    pgw_reading reading = {&utc, &arena, &error};
    assert_int_equal(rw_cell_value(&second, &bigint, (rw_params){&five, 1}, &reading, &value),
                     PGW_UNKNOWABLE);
    assert_int_equal(rw_cell_value(&zeroth, &bigint, (rw_params){&five, 1}, &reading, &value),
                     PGW_UNKNOWABLE);
    assert_int_equal(rw_cell_value(&first_param, &bigint, RW_NO_PARAMS, &reading, &value),
                     PGW_UNKNOWABLE);
    pgw_arena_free(&arena);
}

/* What a cast that somebody made makes of a value is known to the database alone. */
static void casts_of_the_database_are_unknowable(void **state)
{
    (void)state;
    char name[] = "k";
    rw_cast to_text = {.type = PGW_TEXT, .typmod = -1}, to_int8 = {.type = PGW_INT8, .typmod = -1};
    rw_cell number = {.kind = RW_CELL_INTEGER, .text = PGW_LITERAL("5"), .minus_after = -1};
    rw_cell string = {.kind = RW_CELL_STRING, .text = PGW_LITERAL("5"), .minus_after = -1};
    rw_cell typed = string, cast = string;
    typed.casts = &to_text, typed.cast_count = 1;
    cast.casts = (rw_cast[]){to_int8, to_text}, cast.cast_count = 2;
    const struct {
        const rw_cell *cell;
        rw_own_casts own;
        bool unknowable;
    } cases[] = {{&number, RW_NO_OWN_CASTS, false},     {&number, RW_OWN_CASTS_ELSEWHERE, false},
                 {&number, RW_OWN_CASTS_INTO, true},    {&string, RW_OWN_CASTS_INTO, false},
                 {&typed, RW_OWN_CASTS_INTO, false},    {&cast, RW_NO_OWN_CASTS, false},
                 {&cast, RW_OWN_CASTS_ELSEWHERE, true}, {&cast, RW_OWN_CASTS_INTO, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_error error;
        pgw_reading reading = {&utc, &arena, &error};
        rw_column column = {
            .name = name, .type = PGW_TEXT, .typmod = -1, .own_casts = cases[i].own};
        assert_int_equal(rw_cell_is_unknowable(cases[i].cell, &column, &reading),
                         cases[i].unknowable);
        pgw_arena_free(&arena);
    }
}

/* … so may the names of types: whatever a cell is cast to is asked for. */
static void casts_to_names_that_others_have(void **state)
{
    (void)state;
    char name[] = "k";
    rw_cast to_text = {.type = PGW_TEXT, .typmod = -1}, to_uuid = {.type = PGW_UUID, .typmod = -1};
    const rw_cell bare = {.kind = RW_CELL_STRING, .text = PGW_LITERAL("x"), .minus_after = -1};
    rw_cell typed = bare, bad = bare, param = {.kind = RW_CELL_PARAM, .parameter = 1};
    typed.casts = param.casts = &to_text;
    typed.cast_count = param.cast_count = 1;
    param.minus_after = -1;
    bad.casts = &to_uuid; /* is no error of PostgreSQL's own type */
    bad.cast_count = 1;
    const rw_cell *const cells[] = {&bare, &typed, &bad, &param};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        pgw_arena arena = {0};
        pgw_error error;
        pgw_value value;
        pgw_reading reading = {&utc, &arena, &error};
        rw_param bound = {.type = PGW_TEXT, .bytes = PGW_LITERAL("x")};
        rw_column column = {.name = name, .type = PGW_TEXT, .typmod = -1, .own_names = true};
        pgw_verdict wanted = i == 0 ? PGW_KNOWN : PGW_UNKNOWABLE;
        assert_int_equal(rw_cell_is_unknowable(cells[i], &column, &reading), i > 0);
        assert_int_equal(rw_cell_value(cells[i], &column, (rw_params){&bound, 1}, &reading, &value),
                         wanted);
        pgw_arena_free(&arena);
    }
}

/* The server is asked for them. */
static void strings_of_float_that_are_no_decimal_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool unknowable;
    } cases[] = {{"1.5", false},      {"-0", false},   {"1e5", false},  {"nan", false},
                 {"Infinity", false}, {"0x1p3", true}, {"nan(5)", true}};
    char name[] = "k";
    rw_column column = {.name = name, .type = PGW_FLOAT8, .typmod = -1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_error error;
        pgw_reading reading = {&utc, &arena, &error};
        rw_cell cell = {
            .kind = RW_CELL_STRING, .text = pgw_slice_str(cases[i].text), .minus_after = -1};
        assert_int_equal(rw_cell_is_unknowable(&cell, &column, &reading), cases[i].unknowable);
        pgw_arena_free(&arena);
    }
}

/* Of a day and a month the server knows the order, and of a word the meaning. */
static void times_that_are_not_told_here_are_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool unknowable;
    } cases[] = {
        {"2026-01-31", false},      {"2026-01-31 10:00", false},  {"2026-01-31 10:00Z", false},
        {"01-2-2026", true},        {"01-2-2026 10:00:00", true}, {"1-02-2026 10:00", true},
        {"2026-01-31 today", true}, {"2026-01-31 10", true},      {"", true},
    };
    static const uint32_t types[] = {PGW_DATE, PGW_TIMESTAMP, PGW_TIMESTAMPTZ};
    char name[] = "k";
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 3; i++) {
        pgw_arena arena = {0};
        pgw_error error;
        pgw_value value;
        pgw_reading reading = {&utc, &arena, &error};
        rw_column column = {.name = name, .type = types[i % 3], .typmod = -1};
        rw_cell cell = {
            .kind = RW_CELL_STRING, .text = pgw_slice_str(cases[i / 3].text), .minus_after = -1};
        bool unknowable = rw_cell_is_unknowable(&cell, &column, &reading);
        if (unknowable != cases[i / 3].unknowable)
            fail_msg("%s", cases[i / 3].text);
        pgw_verdict verdict = rw_cell_value(&cell, &column, (rw_params){0}, &reading, &value);
        assert_int_equal(unknowable, verdict == PGW_UNKNOWABLE);
        pgw_arena_free(&arena);
    }
}

static void null_parameter_is_a_known_null(void **state)
{
    (void)state;
    pgw_value value;
    pgw_error error;
    rw_param null = {.type = PGW_INT4, .null = true};
    assert_int_equal(bind(&bigint, null, &value, &error), PGW_KNOWN);
    assert_true(value.null);
    assert_int_equal(value.type, PGW_INT8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_stored_as_postgres_does),
        cmocka_unit_test(one_value_whatever_its_form),
        cmocka_unit_test(parameters_that_do_not_fit_are_refused),
        cmocka_unit_test(parameters_that_are_not_known_are_unknowable),
        cmocka_unit_test(casts_of_the_database_are_unknowable),
        cmocka_unit_test(casts_to_names_that_others_have),
        cmocka_unit_test(strings_of_float_that_are_no_decimal_number),
        cmocka_unit_test(times_that_are_not_told_here_are_asked_for),
        cmocka_unit_test(null_parameter_is_a_known_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
