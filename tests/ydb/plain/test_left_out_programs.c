/* Statements for YDB with a word left out, or twice: what they are, the types of their columns'
 * parameters, the steps that they take, and what they say of the session. */
#include "ydb/plain/clean.h"
#include "ydb/plain/infer.h"
#include "ydb/plain/order.h"
#include "ydb/plain/returning.h"

#include "tests/rewrite/left_out.h"
#include "programs.h"

static pgw_slice answers;
static bool whole_errors;
static pgw_buf lines;

static void add_whole_error(const pgw_error *error, pgw_buf *out)
{
    add_error(error, out);
    if (whole_errors)
        pgw_buf_addf(out, "|%s|%s", error->detail, error->hint);
}

static void add_order(const pgw_piece *piece, pgw_buf *out)
{
    const pgw_order *order = piece->order;
    pgw_buf_addf(out, "order %d", piece->command);
    if (order == NULL)
        return;
    pgw_buf_addf(out, " \"%.*s\" %u %d %d", (int)order->name.len, order->name.ptr, order->rows,
                 order->all, order->binary);
    for (size_t i = 0; i < order->count; i++)
        if (piece->command == PGW_COMMAND_PREPARE)
            pgw_buf_addf(out, " %u", order->types[i]);
        else
            pgw_buf_addf(out, " <%.*s>", (int)order->arguments[i].len, order->arguments[i].ptr);
    pgw_buf_addf(out, " <%.*s> %d", (int)order->text.len,
                 order->text.ptr != NULL ? order->text.ptr : "", order->command);
    if (order->refusal != NULL)
        add_whole_error(order->refusal, out);
}

static void add_program(pgw_slice text, pgw_buf *out)
{
    pgw_error error;
    rw_program *program = rw_program_new(text, &catalog, &options, &error);
    if (program == NULL) {
        add_whole_error(&error, out);
        return;
    }
    describe(program, answers, out);
    pgw_buf_addf(out, " %d", rw_program_writes(program));
    rw_program_free(program);
}

static void add_types(pgw_slice text, const pgw_reading *reading, pgw_buf *out)
{
    rw_inferred found;
    if (!rw_infer(text, &catalog, (rw_declared){NULL, 0}, reading, &found)) {
        add_whole_error(reading->error, out);
        return;
    }
    for (size_t i = 0; i < found.count; i++)
        pgw_buf_addf(out, " %u", found.types[i]);
}

static void add_statement(pgw_slice whole, const rw_clean *it, const pgw_reading *reading,
                          pgw_buf *out)
{
    pgw_piece piece;
    pgw_slice query;
    *reading->error = PGW_ERROR_NONE;
    pgw_buf_addf(out, "%d <%.*s>", it->kind, (int)it->text.len, it->text.ptr);
    if (it->kind == RW_CLEAN_WRONG) {
        add_whole_error(it->error, out);
        return;
    }
    add_types(it->text, reading, out);
    add_program(it->text, out);
    if (!rw_returning_query(it->text, reading, &query))
        add_whole_error(reading->error, out);
    else if (query.ptr != NULL)
        pgw_buf_add_slice(out, query);
    if (rw_order_read(whole, it, reading, &piece))
        add_order(&piece, out);
    else
        add_whole_error(reading->error, out);
}

static void describe_text(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_clean statement;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    while (rw_clean_next(&lexer, &env, &arena, &statement))
        add_statement(text, &statement, &(pgw_reading){&env, &arena, &error}, out);
    pgw_arena_free(&arena);
}

/* With other options and answers each time. */
static void describe_any(pgw_slice text, pgw_buf *out)
{
    static const char *const given[] = {
        "",
        "0 0 1,1 1 1;0;1;2",
        "!23505;0 0 0,1 1 1;1",
        "0 1 0,1 0 1,2 2 1;1;0",
        "!22003 out of range",
        "1;0;1",
        "!42601",
        "0 0 1,1 1 1;x",
    };
    static const char *const ways[] = {
        "",      "insert_first repeats",  "update_from drops_typmods",       "exact most=60",
        "exact", "insert_first most=200", "repeats exact update_from most=9"};
    static size_t texts;
    pgw_slice before = answers;
    answers = pgw_slice_str(given[texts % (sizeof given / sizeof *given)]);
    set_options(pgw_slice_str(ways[texts++ % (sizeof ways / sizeof *ways)]));
    whole_errors = true;
    describe_text(text, out);
    whole_errors = false;
    answers = before;
}

static void add_line(const vector_line *line)
{
    if (is_set_up(line))
        return;
    const rw_program_options said = options;
    bool repeats = tables[0].repeats_upserts;
    const char *name = strrchr(line->file, '/') + 1;
    answers = line->count > 2 ? line->fields[1] : (pgw_slice){"", 0};
    pgw_buf_addf(&lines, "%s %u", name, line->number);
    left_out_variants(line->fields[0], 1, describe_text, &lines);
    pgw_buf_addf(&lines, "\nany %s %u", name, line->number);
    left_out_some(line->fields[0], 0, 2, describe_any, &lines);
    pgw_buf_add_byte(&lines, '\n');
    options = said;
    for (size_t i = 0; i < catalog.count; i++)
        tables[i].repeats_upserts = repeats;
}

static char *all(void)
{
    lines = (pgw_buf){0};
    vector_each(VECTORS "/plain/programs.txt", add_line);
    vector_each(VECTORS "/plain/orders.txt", add_line);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/left_out.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
