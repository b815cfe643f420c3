#include "rewrite/plain/program.h"

#include "protocol/utf8.h"
#include "rewrite/plain/clauses.h"
#include "rewrite/plain/doubt.h"
#include "rewrite/plain/unalias.h"
#include "rewrite/plain/weave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a step is for. */
typedef enum act {
    ACT_ASIS,  /* the client's text */
    ACT_COUNT, /* the rows that ACT_WRITE will write; if there are none, it is left out */
    ACT_WRITE
} act;

enum { ACTS_MOST = 3 };

struct rw_program {
    pgw_slice text;
    rw_program_options options;
    rw_clauses clauses;
    act acts[ACTS_MOST];
    size_t act_count, at; /* the next one */
    uint64_t counted;
    bool knows_count;
    char server_tag[RW_TAG_MOST];
    rw_weave weave; /* the step's text, if it is not the client's */
    pgw_arena arena;
};

/* --- refusals --- */

static bool refuse(const rw_program *program, rw_part at, const char *what, const char *hint,
                   pgw_error *error)
{
    pgw_fail(error, "0A000", "%s", what);
    pgw_error_hint(error, "%s", hint);
    error->position = pgw_characters(program->text, at.from, program->options.env->utf8) + 1;
    return false;
}

static const char count_hint[] = "YDB tells no counts, so the rows are counted first. With "
                                 "\"backend.update_counts: unknown\" the statement is sent as it "
                                 "is, and its tag says 0.";

/* What is counted must be what is written. */
static bool check_counted(const rw_program *program, rw_part part, pgw_error *error)
{
    rw_part doubt = rw_find_doubt(program->text, part, RW_DOUBT_VOLATILE | RW_DOUBT_CHOICE,
                                  program->options.env->conforming);
    if (rw_part_is_empty(doubt))
        return true;
    pgw_slice word = rw_part_text(program->text, doubt);
    char what[160];
    snprintf(what, sizeof what,
             "which rows are written could change between counting and writing: \"%.*s\"",
             (int)(word.len < 64 ? word.len : 64), word.ptr);
    return refuse(program, doubt, what, count_hint, error);
}

/* --- plans --- */

static void add_act(rw_program *program, act what)
{
    program->acts[program->act_count++] = what;
}

/* From the verb on, without the alias: all but INSERT … ON CONFLICT names things in it. */
static rw_part named_part(const rw_clauses *clauses)
{
    return (rw_part){clauses->alias.to, clauses->end};
}

static bool check_form(rw_program *program, pgw_error *error)
{
    const rw_clauses *clauses = &program->clauses;
    if (clauses->with_writes)
        return refuse(program, clauses->with, "WITH queries that write are not supported",
                      "YDB takes none: send them on their own.", error);
    if (clauses->verb == RW_DML_MERGE)
        return refuse(program, (rw_part){clauses->verb_at, clauses->verb_at},
                      "MERGE is not supported", "YDB has none.", error);
    if (clauses->verb == RW_DML_DELETE && !rw_part_is_empty(clauses->with))
        return refuse(program, clauses->with, "WITH before DELETE is not supported",
                      "YDB takes none: write its query in the place of its name.", error);
    if (clauses->verb == RW_DML_DELETE && !rw_part_is_empty(clauses->from))
        return refuse(program, clauses->from, "DELETE … USING is not supported",
                      "YDB takes none: write WHERE … IN (SELECT …).", error);
    if (!rw_part_is_empty(clauses->current))
        return refuse(program, clauses->current, "WHERE CURRENT OF is not supported",
                      "YDB has no cursors.", error);
    return true;
}

/* UPDATE and DELETE. */
static bool plan_change(rw_program *program, const rw_table *table, pgw_error *error)
{
    const rw_clauses *clauses = &program->clauses;
    const pgw_reading reading = {program->options.env, &program->arena, error};
    if (!rw_part_is_empty(clauses->alias) &&
        !rw_unalias_check(clauses, named_part(clauses), program->text, table, &reading))
        return false;
    if (program->options.exact) {
        if (!rw_part_is_empty(clauses->from))
            return refuse(program, clauses->from, "UPDATE … FROM cannot be counted", count_hint,
                          error);
        if (!check_counted(program, clauses->with, error) ||
            !check_counted(program, clauses->where, error))
            return false;
        add_act(program, ACT_COUNT);
    }
    program->knows_count = true;
    add_act(program, rw_part_is_empty(clauses->alias) ? ACT_ASIS : ACT_WRITE);
    return true;
}

/* A query before INSERT, and one in its source: they would have to become one. */
static bool check_with(rw_program *program, pgw_error *error)
{
    const rw_clauses *clauses = &program->clauses;
    rw_cursor cursor;
    rw_cursor_begin(&cursor, program->text, clauses->source, program->options.env->conforming);
    if (rw_part_is_empty(clauses->with) ||
        (clauses->source_kind != RW_SOURCE_DEFAULTS && !rw_cursor_at_word(&cursor, "with")))
        return true;
    return refuse(program, clauses->with, "this WITH before INSERT is not supported",
                  "YDB takes none: write it in front of the query that gives the rows.", error);
}

static bool plan_insert(rw_program *program, pgw_error *error)
{
    const rw_clauses *clauses = &program->clauses;
    bool query = clauses->source_kind == RW_SOURCE_QUERY;
    bool changed = !rw_part_is_empty(clauses->alias) || !rw_part_is_empty(clauses->with);
    if (!check_with(program, error))
        return false;
    if (clauses->row_count == 1 && program->options.exact) { /* more than one may give no sets */
        rw_part doubt = rw_find_doubt(program->text, clauses->source, RW_DOUBT_SETS,
                                      program->options.env->conforming);
        if (!rw_part_is_empty(doubt))
            return refuse(program, doubt, "a function in VALUES may give any number of rows",
                          count_hint, error);
    }
    program->counted = clauses->row_count;
    if (query && program->options.exact) {
        if (!check_counted(program, clauses->with, error) ||
            !check_counted(program, clauses->source, error))
            return false;
        add_act(program, ACT_COUNT);
    }
    program->knows_count = true;
    add_act(program, changed ? ACT_WRITE : ACT_ASIS);
    return true;
}

static bool plan(rw_program *program, const rw_catalog *catalog, pgw_error *error)
{
    const rw_clauses *clauses = &program->clauses;
    const pgw_reading reading = {program->options.env, &program->arena, error};
    if (!rw_clauses_read(program->text, &reading, &program->clauses) || !check_form(program, error))
        return false;
    switch (clauses->verb) {
    case RW_DML_UPDATE:
    case RW_DML_DELETE:
        return plan_change(program, rw_catalog_find(catalog, clauses->schema, clauses->name),
                           error);
    case RW_DML_INSERT:
        if (!rw_part_is_empty(clauses->conflict))
            return refuse(program, clauses->conflict, "ON CONFLICT is not supported",
                          "YDB has none.", error);
        return plan_insert(program, error);
    default:
        add_act(program, ACT_ASIS);
        return true;
    }
}

rw_program *rw_program_new(pgw_slice text, const rw_catalog *catalog,
                           const rw_program_options *options, pgw_error *error)
{
    rw_program *program = pgw_calloc(1, sizeof *program);
    program->text = program->weave.client = text;
    program->options = *options;
    if (plan(program, catalog, error))
        return program;
    rw_program_free(program);
    return NULL;
}

void rw_program_free(rw_program *program)
{
    if (program == NULL)
        return;
    rw_weave_free(&program->weave);
    pgw_arena_free(&program->arena);
    free(program);
}

/* --- texts --- */

/* The table, as a SELECT names it. */
static void weave_table(rw_program *program)
{
    const rw_clauses *clauses = &program->clauses;
    rw_weave_client(&program->weave, clauses->target);
    rw_weave_own(&program->weave, rw_part_is_empty(clauses->alias) ? "" : " ");
    rw_weave_client(&program->weave, clauses->alias);
}

/* SELECT … FROM the rows that an UPDATE or DELETE is about. */
static void weave_selection(rw_program *program, const char *what)
{
    const rw_clauses *clauses = &program->clauses;
    rw_weave_client(&program->weave, clauses->with);
    rw_weave_own(&program->weave, what);
    rw_weave_own(&program->weave, " FROM ");
    weave_table(program);
    rw_weave_own(&program->weave, rw_part_is_empty(clauses->where) ? "" : " WHERE ");
    rw_weave_client(&program->weave, clauses->where);
}

static void weave_count(rw_program *program)
{
    const rw_clauses *clauses = &program->clauses;
    if (clauses->verb != RW_DML_INSERT) {
        weave_selection(program, "SELECT count(*)");
        return;
    }
    rw_weave_client(&program->weave, clauses->with);
    rw_weave_own(&program->weave, "SELECT count(*) FROM (");
    rw_weave_client(&program->weave, clauses->source);
    rw_weave_own(&program->weave, ") AS \"keyspread\"");
}

/* WITH stands before the query that gives an INSERT's rows, aliases nowhere. */
static void weave_write(rw_program *program)
{
    const rw_clauses *clauses = &program->clauses;
    const bool conforming = program->options.env->conforming;
    rw_part head = {clauses->verb_at, clauses->target.to};
    rw_part rest = {rw_part_is_empty(clauses->alias) ? clauses->target.to : clauses->alias.to,
                    clauses->end};
    if (clauses->verb == RW_DML_INSERT) {
        rw_weave_client(&program->weave, head);
        rw_weave_client(&program->weave, (rw_part){rest.from, clauses->source.from});
        rw_weave_client(&program->weave, clauses->with);
        rw_weave_client(&program->weave, (rw_part){clauses->source.from, rest.to});
        return;
    }
    rw_weave_client(&program->weave, clauses->with);
    rw_weave_client(&program->weave, head);
    rw_unalias(clauses, rest, conforming, &program->weave);
}

/* --- running --- */

static bool writes(const rw_program *program, act what)
{
    return program->clauses.verb != RW_DML_NONE && what != ACT_COUNT;
}

bool rw_program_is_single(const rw_program *program)
{
    return program->act_count == 1;
}

bool rw_program_writes(const rw_program *program)
{
    return writes(program, ACT_WRITE);
}

static bool skips(const rw_program *program)
{
    return program->at > 0 && program->acts[0] == ACT_COUNT && program->counted == 0;
}

bool rw_program_next(rw_program *program, rw_step *step)
{
    if (program->at == program->act_count || skips(program))
        return false;
    const act what = program->acts[program->at];
    rw_weave_clear(&program->weave);
    if (what == ACT_COUNT)
        weave_count(program);
    else if (what == ACT_WRITE)
        weave_write(program);
    else
        rw_weave_client(&program->weave, (rw_part){0, 0});
    bool client = what != ACT_COUNT &&
                  (!program->knows_count || !rw_part_is_empty(program->clauses.returning));
    *step =
        (rw_step){.text = what == ACT_ASIS ? program->text : pgw_slice_buf(&program->weave.text),
                  .rows = what == ACT_COUNT ? RW_ROWS_OURS
                          : client          ? RW_ROWS_CLIENT
                                            : RW_ROWS_NONE,
                  .writes = writes(program, what)};
    return true;
}

bool rw_program_row(rw_program *program, const pgw_slice *cells, size_t count, pgw_error *error)
{
    uint64_t value = 0;
    bool number = count == 1 && cells[0].len > 0 && cells[0].len < 20;
    for (size_t i = 0; number && i < cells[0].len; i++) {
        number = cells[0].ptr[i] >= '0' && cells[0].ptr[i] <= '9';
        value = value * 10 + (uint64_t)(cells[0].ptr[i] - '0');
    }
    if (!number)
        return pgw_fail(error, "XX000", "the endpoint counts with what is no number");
    program->counted = value;
    return true;
}

void rw_program_stepped(rw_program *program, pgw_slice tag)
{
    if (!program->knows_count) {
        size_t length = tag.len < RW_TAG_MOST - 1 ? tag.len : RW_TAG_MOST - 1;
        memcpy(program->server_tag, tag.ptr, length);
        program->server_tag[length] = '\0';
    }
    program->at++;
}

bool rw_program_failed(rw_program *program, const char *sqlstate)
{
    (void)program;
    (void)sqlstate;
    return false;
}

void rw_program_rewind(rw_program *program)
{
    program->at = 0;
    program->counted = program->clauses.row_count;
}

void rw_program_tag(const rw_program *program, char tag[RW_TAG_MOST])
{
    const char *word = program->clauses.verb == RW_DML_UPDATE   ? "UPDATE"
                       : program->clauses.verb == RW_DML_DELETE ? "DELETE"
                                                                : "INSERT 0";
    if (program->knows_count)
        snprintf(tag, RW_TAG_MOST, "%s %llu", word, (unsigned long long)program->counted);
    else
        snprintf(tag, RW_TAG_MOST, "%s", program->server_tag);
}

size_t rw_program_position(const rw_program *program, size_t position)
{
    if (program->weave.text.len == 0)
        return position;
    return rw_weave_position(&program->weave, position, program->options.env->utf8);
}
