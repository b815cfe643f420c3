/* Statements with parameters, a word left out, or twice: each parameter gets a type, or there is an
 * error that says why not. */
#include "ydb/plain/infer.h"
#include "rewrite/statement/script/types.h"

#include "tests/rewrite/error_holds.h"
#include "typed_tables.h"

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

static void judge(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_reading reading = {&env, &arena, &error};
    rw_inferred found;
    if (rw_infer(text, &catalog, (rw_declared){NULL, 0}, &reading, &found)) {
        word_deleted_holds(found.count == rw_highest_parameter(text, env.conforming),
                           "every parameter has a type");
        for (size_t i = 0; i < found.count; i++)
            pgw_buf_addf(out, " %u", found.types[i]);
    } else {
        holds_of_error(&error, text, env.utf8);
        pgw_buf_addf(out, "!%s %zu %s", error.sqlstate, error.position, error.message);
    }
    pgw_arena_free(&arena);
}

static void vary_line(const vector_line *line)
{
    if (pgw_slice_eq_str(line->fields[0], "table")) {
        add_table(line);
        return;
    }
    word_deleted_some(line->fields[0], 0, 1, judge);
}

static void every_text_holds(void **state)
{
    (void)state;
    vector_each(VECTORS "/plain/types.txt", vary_line);
    assert_in_range(word_deleted_count, 5000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
