#include "ydb/plain/cells.h"

#include "protocol/utf8.h"
#include "rewrite/hash/literal.h"
#include "rewrite/insert/expression.h"
#include "ydb/plain/doubt.h"

#include <string.h>

typedef struct checker {
    const rw_subject *subject;
    const rw_values *values;
    pgw_arena scratch; /* memory for one cell */
} checker;

/* Reads a cell as the INSERT parser does. False: the cell is more than a constant. */
static bool read_constant(checker *check, rw_part part, rw_cell *cell)
{
    pgw_error ignored;
    rw_insert insert = {0};
    const pgw_env *env = check->subject->reading->env;
    rw_parser parser = {.text = check->subject->text,
                        .env = env,
                        .arena = &check->scratch,
                        .error = &ignored,
                        .insert = &insert};
    cell->casts = pgw_arena_alloc(&check->scratch, RW_MAX_CASTS * sizeof *cell->casts);
    rw_lexer_init(&parser.lexer, parser.text, env->conforming);
    parser.lexer.at = part.from;
    rw_advance(&parser);
    return rw_parse_cell(&parser, true, cell) == RW_PARSED && parser.last_end == part.to &&
           !parser.impossible && cell->kind != RW_CELL_EXPRESSION;
}

static bool refuse_null(const checker *check, const rw_column *column)
{
    return pgw_fail(check->subject->reading->error, "23502",
                    "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
                    column->name, check->subject->table->name);
}

/* False: the column does not take the cell, and the error is filled. */
static bool check_cell(checker *check, const rw_column *column, rw_part part, bool *unsure)
{
    rw_cell cell = {0};
    pgw_value value;
    rw_column kept = *column;
    const pgw_reading *reading = check->subject->reading;
    const pgw_reading scratch = {reading->env, &check->scratch, reading->error};
    if (check->subject->options->drops_typmods)
        kept.typmod = -1;
    pgw_verdict verdict = read_constant(check, part, &cell)
                              ? rw_cell_value(&cell, &kept, RW_NO_PARAMS, &scratch, &value)
                              : PGW_UNKNOWABLE;
    *unsure = verdict == PGW_UNKNOWABLE;
    if (verdict == PGW_KNOWN)
        return !value.null || !column->not_null || refuse_null(check, column);
    if (verdict == PGW_INVALID)
        reading->error->position =
            pgw_characters(check->subject->text, part.from, reading->env->utf8) + 1;
    return verdict != PGW_INVALID;
}

/* Whether the cell has the same value each time, so that it can be evaluated beforehand. */
static bool is_fixed(const checker *check, rw_part part)
{
    enum { DOUBTS = RW_DOUBT_VOLATILE | RW_DOUBT_CHOICE | RW_DOUBT_SETS };
    return rw_part_is_empty(rw_find_doubt(check->subject->text, part, DOUBTS,
                                          check->subject->reading->env->conforming));
}

static bool check_field(checker *check, size_t row, size_t field, bool *unsure)
{
    const rw_column *column = &check->subject->table->columns[field];
    const rw_part part = rw_values_cell(check->values, row, &check->values->fields[field]);
    if (rw_is_default(check->subject->text, part) || column->type == PGW_UNSPECIFIED)
        return true;
    bool fine = check_cell(check, column, part, unsure);
    *unsure = *unsure && is_fixed(check, part);
    pgw_arena_free(&check->scratch);
    return fine;
}

bool *rw_cells_unsure(const rw_subject *subject, const rw_values *values)
{
    checker check = {.subject = subject, .values = values};
    const size_t count = values->row_count * values->width;
    const size_t known = subject->table != NULL ? subject->table->column_count : 0;
    bool *unsure = pgw_arena_alloc(subject->reading->arena, count + 1);
    memset(unsure, false, count);
    for (size_t row = 0; row < values->row_count; row++)
        for (size_t i = 0; i < known; i++) {
            const size_t cell = values->fields[i].cell;
            if (cell != RW_NO_CELL &&
                !check_field(&check, row, i, &unsure[row * values->width + cell]))
                return NULL;
        }
    return unsure;
}
