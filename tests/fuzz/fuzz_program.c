/* The texts of any statement's program are of PostgreSQL's grammar, if the statement is, and of
 * what YDB takes: no ON CONFLICT, no alias of what is written, no USING. And the program ends, the
 * same way each time, with a tag, whatever the endpoint answers. (UPSERT and REPLACE, which are not
 * of that grammar, travel as they came.) */
#include "ydb/plain/clean.h"
#include "ydb/plain/program.h"
#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/tree/readable.h"
#include "tests/rewrite/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1024, MOST_STEPS = 2000 }; /* libpg_query needs stack in proportion */

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool is_taken(const PgQuery__Node *statement)
{
    switch ((int)statement->node_case) {
    case PG_QUERY__NODE__NODE_INSERT_STMT:
        return statement->insert_stmt->on_conflict_clause == NULL &&
               statement->insert_stmt->relation->alias == NULL &&
               statement->insert_stmt->with_clause == NULL &&
               statement->insert_stmt->n_returning_list == 0;
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
        return statement->update_stmt->relation->alias == NULL &&
               statement->update_stmt->n_returning_list == 0;
    case PG_QUERY__NODE__NODE_DELETE_STMT:
        return statement->delete_stmt->relation->alias == NULL &&
               statement->delete_stmt->n_using_clause == 0 &&
               statement->delete_stmt->with_clause == NULL &&
               statement->delete_stmt->n_returning_list == 0;
    default:
        return true;
    }
}

static void check_step(const rw_step *step, bool grammatical)
{
    pgw_arena arena = {0};
    pgw_error error;
    rw_syntax syntax;
    require(step->text.len > 0);
    if (grammatical && step->text.len <= 8 * MOST_BYTES) {
        require(rw_syntax_parse(step->text, &env, &arena, &syntax, &error));
        require(is_taken(syntax.statement));
        rw_syntax_free(&syntax);
    }
    pgw_arena_free(&arena);
}

/* A row for us: three small numbers. False: it is one that the endpoint cannot give. */
static bool give_row(rw_program *program, unsigned *dice)
{
    char digits[3][4];
    pgw_slice cells[3];
    pgw_error error = PGW_ERROR_NONE;
    for (size_t i = 0; i < 3; i++) {
        snprintf(digits[i], sizeof digits[i], "%u", *dice % 4);
        cells[i] = pgw_slice_str(digits[i]);
        *dice = *dice * 1103515245 + 12345;
    }
    bool taken = rw_program_row(program, cells, 1 + *dice / 65536 % 3, &error);
    require(taken || error.sqlstate[0] != '\0');
    return taken;
}

/* Runs it with answers that hang on `dice`; appends its texts and its tag. */
static void run(rw_program *program, unsigned dice, bool grammatical, pgw_buf *out)
{
    rw_step step;
    char tag[RW_TAG_MOST];
    for (size_t steps = 0; rw_program_next(program, &step); steps++) {
        require(steps < MOST_STEPS);
        check_step(&step, grammatical);
        pgw_buf_add_slice(out, step.text);
        for (unsigned rows = dice % 4; step.rows == RW_ROWS_OURS && rows > 0; rows--)
            if (!give_row(program, &dice))
                return;
        rw_program_stepped(program, PGW_LITERAL("SELECT 3"));
    }
    rw_program_tag(program, tag);
    pgw_buf_add_str(out, tag);
}

static bool is_grammatical(pgw_slice text, pgw_arena *arena)
{
    bool ours; /* UPSERT or REPLACE */
    pgw_error error;
    rw_syntax syntax;
    rw_readable_copy(text, &env, arena, &ours);
    if (ours || !rw_syntax_parse(text, &env, arena, &syntax, &error))
        return false;
    rw_syntax_free(&syntax);
    return true;
}

static void check_program(pgw_slice text, const rw_catalog *catalog, unsigned dice)
{
    const rw_program_options options = {.env = &env,
                                        .exact = (dice & 1) != 0,
                                        .insert_first = (dice & 2) != 0,
                                        .update_from = (dice & 4) != 0,
                                        .drops_typmods = (dice & 8) != 0,
                                        .most = 2000};
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_buf first = {0}, again = {0};
    rw_program *program = rw_program_new(text, catalog, &options, &error);
    bool grammatical = program != NULL && is_grammatical(text, &arena);
    if (program == NULL) {
        require(error.sqlstate[0] != '\0');
    } else {
        run(program, dice, grammatical, &first);
        rw_program_rewind(program);
        run(program, dice, grammatical, &again);
        require(pgw_slice_eq(pgw_slice_buf(&first), pgw_slice_buf(&again)));
    }
    rw_program_free(program);
    pgw_buf_free(&first);
    pgw_buf_free(&again);
    pgw_arena_free(&arena);
}

/* Each of its statements, at the very end of its memory. */
static void check_statements(pgw_slice text, const rw_catalog *catalog, unsigned dice)
{
    pgw_arena arena = {0};
    rw_lexer lexer;
    rw_clean statement;
    rw_lexer_init(&lexer, text, true);
    while (rw_clean_next(&lexer, &env, &arena, &statement)) {
        char *copy = malloc(statement.text.len);
        memcpy(copy, statement.text.ptr, statement.text.len);
        check_program((pgw_slice){copy, statement.text.len}, catalog, dice);
        free(copy);
    }
    pgw_arena_free(&arena);
}

/* The first byte says what the endpoint does. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    const rw_catalog catalog = test_catalog(pointers);
    if (size < 2 || size > MOST_BYTES)
        return 0;
    check_statements((pgw_slice){(const char *)data + 1, size - 1}, &catalog, data[0]);
    return 0;
}
