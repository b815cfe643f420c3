#include "ydb/plain/program.h"

#include "ydb/plain/blame.h"
#include "ydb/plain/clauses.h"
#include "ydb/plain/doubt.h"
#include "ydb/plain/given.h"
#include "ydb/plain/returning.h"
#include "ydb/plain/shown.h"
#include "ydb/plain/unalias.h"
#include "ydb/plain/upsert.h"
#include "ydb/plain/weave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a step is for. */
typedef enum deed {
    DEED_COUNT, /* count the rows that will be written. If there are none, the write is done all the
                   same: it may be wrong in other ways */
    DEED_SHOW,  /* give the client the rows of RETURNING, as many as will be written */
    DEED_WRITE,
    DEED_OTHER /* send another statement as it is; the client gets the server's tag */
} deed;

typedef struct act {
    deed deed;
    rw_weave weave; /* the text to send; empty: the client's own */
} act;

enum { ACTS_MOST = 2 };

struct rw_program {
    pgw_slice text;
    rw_program_options options;
    rw_clauses clauses;
    act acts[ACTS_MOST + 1]; /* the last one stays empty */
    size_t act_count, at;    /* `at`: the next act or text */
    uint64_t count;          /* rows that the tag counts: YDB's own tag has no count */
    bool alone;              /* the acts need no transaction around them */
    rw_upsert *upsert;       /* runs in the place of acts; NULL: the statement has no ON CONFLICT */
    pgw_buf *texts;          /* run in the place of acts; NULL: not made by rw_program_of_texts() */
    size_t text_count;
    const char *word; /* what the tag of a program of texts begins with */
    char server_tag[RW_TAG_MOST];
    pgw_arena arena;
};

/* --- refusals --- */

static const char count_hint[] = "YDB tells no counts, so the rows are counted first. With "
                                 "\"backend.update_counts: unknown\" the statement is sent as it "
                                 "is, and its tag says 0.";

/* Whether the rows that are counted, or shown, are certainly those that are written. */
static bool check_stays(const rw_subject *subject, rw_part part)
{
    rw_part doubt = rw_find_doubt(subject->text, part, RW_DOUBT_VOLATILE | RW_DOUBT_CHOICE,
                                  subject->reading->env->conforming);
    if (rw_part_is_empty(doubt))
        return true;
    pgw_slice word = rw_part_text(subject->text, doubt);
    const char *what = pgw_arena_printf(
        subject->reading->arena,
        "which rows are written could change between counting and writing: \"%.*s\"",
        (int)(word.len < 64 ? word.len : 64), word.ptr);
    return rw_refuse(subject, doubt.from, what, count_hint);
}

/* --- texts --- */

static rw_weave *add_act(rw_program *program, deed what)
{
    act *added = &program->acts[program->act_count++];
    *added = (act){.deed = what, .weave = {.client = program->text}};
    return &added->weave;
}

/* Adds a count of the rows that an UPDATE or DELETE is about, or that a query gives an INSERT. */
static void add_count(rw_program *program)
{
    const rw_clauses *clauses = &program->clauses;
    rw_weave *out = add_act(program, DEED_COUNT);
    rw_weave_client(out, clauses->with);
    rw_weave_own(out, "SELECT count(*) FROM ");
    if (clauses->verb == RW_DML_INSERT) {
        rw_weave_own(out, "(");
        rw_weave_client(out, clauses->source);
        rw_weave_own(out, ") AS \"keyspread\"");
        return;
    }
    rw_weave_client(out, clauses->target);
    rw_weave_own(out, rw_part_is_empty(clauses->alias) ? "" : " ");
    rw_weave_client(out, clauses->alias);
    rw_weave_own(out, rw_part_is_empty(clauses->where) ? "" : " WHERE ");
    rw_weave_client(out, clauses->where);
}

/* Weaves an INSERT without RETURNING. WITH stands before the query that gives the rows. */
static void weave_insert(const rw_clauses *clauses, rw_weave *out)
{
    const bool aliased = !rw_part_is_empty(clauses->alias);
    const size_t behind = aliased ? clauses->alias.to : clauses->target.to;
    if (!aliased && clauses->verb_at == 0 && clauses->body_end == clauses->end)
        return;
    rw_weave_client(out, (rw_part){clauses->verb_at, clauses->target.to});
    rw_weave_apart(out, (rw_part){behind, clauses->source.from});
    rw_weave_apart(out, clauses->with);
    rw_weave_apart(out, (rw_part){clauses->source.from, clauses->body_end});
}

/* Weaves an INSERT without RETURNING and the word DEFAULT. */
static bool weave_given(const rw_subject *subject, rw_weave *out)
{
    rw_values values;
    rw_given given;
    if (!rw_values_read(subject, &values) || !rw_given_read(subject, &values, &given))
        return false;
    rw_weave_given_head(subject->clauses, &given, out);
    for (size_t row = 0; row < values.row_count; row++) {
        rw_weave_own(out, row > 0 ? ", " : "");
        rw_weave_given_row(&given, row, out);
    }
    return true;
}

/* Weaves an UPDATE or DELETE without RETURNING and aliases. */
static bool weave_change(const rw_subject *subject, rw_weave *out)
{
    const rw_clauses *clauses = subject->clauses;
    const bool aliased = !rw_part_is_empty(clauses->alias);
    const bool defaults = rw_text_mentions(rw_part_text(subject->text, clauses->set), "default");
    rw_part rest = {aliased ? clauses->alias.to : clauses->target.to, clauses->body_end};
    if (!aliased && !defaults && clauses->body_end == clauses->end)
        return true;
    rw_weave_client(out, clauses->with);
    rw_weave_client(out, (rw_part){clauses->verb_at, clauses->target.to});
    if (!rw_part_is_empty(rest) && out->client.ptr[rest.from] != ' ')
        rw_weave_blank(out);
    if (defaults && !rw_weave_set_defaults(subject, &rest, out))
        return false;
    rw_unalias(clauses, rest, subject->reading->env->conforming, out);
    return true;
}

/* --- plans --- */

static bool check_form(const rw_subject *subject)
{
    const rw_clauses *clauses = subject->clauses;
    const bool deletes = clauses->verb == RW_DML_DELETE;
    if (!rw_check_with(*subject))
        return false;
    if (clauses->verb == RW_DML_MERGE)
        return rw_refuse(subject, clauses->verb_at, "MERGE is not supported", "YDB has none.");
    if (deletes && !rw_part_is_empty(clauses->with))
        return rw_refuse(subject, clauses->with.from, "WITH before DELETE is not supported",
                         "YDB takes none: write its query in the place of its name.");
    if (deletes && !rw_part_is_empty(clauses->from))
        return rw_refuse(subject, clauses->from.from, "DELETE … USING is not supported",
                         "YDB takes none: write WHERE … IN (SELECT …).");
    if (!rw_part_is_empty(clauses->current))
        return rw_refuse(subject, clauses->current.from, "WHERE CURRENT OF is not supported",
                         "YDB has no cursors.");
    return true;
}

/* Plans an UPDATE or DELETE. */
static bool plan_change(rw_program *program, const rw_subject *subject)
{
    const rw_clauses *clauses = subject->clauses;
    const bool shows = !rw_part_is_empty(clauses->returning);
    const bool asked = shows || program->options.exact;
    const rw_part named = {clauses->alias.to, clauses->end};
    if (!rw_part_is_empty(clauses->alias) &&
        !rw_unalias_check(clauses, named, subject->text, subject->table, subject->reading))
        return false;
    if (asked && !rw_part_is_empty(clauses->from))
        return rw_refuse(subject, clauses->from.from, "UPDATE … FROM cannot be counted",
                         count_hint);
    if (asked && (!check_stays(subject, clauses->with) || !check_stays(subject, clauses->where)))
        return false;
    if (shows && !rw_shown_change(subject, add_act(program, DEED_SHOW)))
        return false;
    if (!shows && asked)
        add_count(program);
    program->alone = !asked;
    return weave_change(subject, add_act(program, DEED_WRITE));
}

/* Leaves out a WITH before VALUES that hold no query. In front of VALUES it would change them:
 * their constants would have types of their own. */
static void leave_with(rw_program *program)
{
    rw_clauses *clauses = &program->clauses;
    if (clauses->source_kind != RW_SOURCE_QUERY &&
        !rw_text_mentions(rw_part_text(program->text, clauses->source), "select"))
        clauses->with = (rw_part){0, 0};
}

/* Whether VALUES give the same as a query of their own, where a column has one type in all rows,
 * and a constant without a type is text. In an INSERT each constant has its column's type. */
static bool are_typed(const rw_subject *subject, rw_cursor *cursor)
{
    const rw_clauses *clauses = subject->clauses;
    while (rw_cursor_take(cursor, '('))
        continue;
    return !rw_cursor_at_word(cursor, "values") ||
           (clauses->row_count == 1 &&
            rw_part_is_empty(rw_find_doubt(subject->text, clauses->source, RW_DOUBT_UNTYPED,
                                           subject->reading->env->conforming)));
}

/* Whether the WITH before INSERT can stand in front of the query that gives the rows: no other WITH
 * is there. */
static bool check_with(const rw_subject *subject)
{
    const rw_clauses *clauses = subject->clauses;
    rw_cursor cursor;
    if (rw_part_is_empty(clauses->with))
        return true;
    rw_cursor_begin(&cursor, subject->text, clauses->source, subject->reading->env->conforming);
    bool fits = clauses->source_kind != RW_SOURCE_DEFAULTS && !rw_cursor_at_word(&cursor, "with") &&
                are_typed(subject, &cursor) && rw_part_is_empty(clauses->conflict) &&
                rw_part_is_empty(clauses->returning);
    return fits ||
           rw_refuse(subject, clauses->with.from, "this WITH before INSERT is not supported",
                     "YDB takes none: write it in front of the query that gives the rows.");
}

/* Whether a row may hold a call, which has brackets of its own, beside those of the row. */
static bool may_call(pgw_slice row)
{
    const char *end = row.ptr + row.len, *first = memchr(row.ptr, '(', row.len);
    return first != NULL && memchr(first + 1, '(', (size_t)(end - first) - 1) != NULL;
}

/* Whether VALUES of a single row give one row: a function that gives sets makes several. */
static bool check_sets(const rw_subject *subject)
{
    const rw_clauses *clauses = subject->clauses;
    if (clauses->row_count != 1 || !may_call(rw_part_text(subject->text, clauses->source)))
        return true;
    rw_part doubt = rw_find_doubt(subject->text, clauses->source, RW_DOUBT_SETS,
                                  subject->reading->env->conforming);
    return rw_part_is_empty(doubt) ||
           rw_refuse(subject, doubt.from, "a function in VALUES may give any number of rows",
                     "Write INSERT … SELECT.");
}

static bool plan_query(rw_program *program, const rw_subject *subject)
{
    const rw_clauses *clauses = subject->clauses;
    if (!rw_part_is_empty(clauses->returning))
        return rw_refuse(subject, clauses->returning.from,
                         "RETURNING of INSERT … SELECT is not supported",
                         "Insert the rows with VALUES.");
    program->alone = !program->options.exact;
    if (program->options.exact) {
        if (!check_stays(subject, clauses->with) || !check_stays(subject, clauses->source))
            return false;
        add_count(program);
    }
    weave_insert(clauses, add_act(program, DEED_WRITE));
    return true;
}

/* Whether what is shown is what is written, in two transactions as well: it tells no time, and asks
 * for no rows, which others may write in between. */
static bool is_alone(const rw_subject *subject, rw_part part)
{
    const bool conforming = subject->reading->env->conforming;
    return !rw_has_query(subject->text, part, conforming) &&
           rw_part_is_empty(rw_find_doubt(subject->text, part, RW_DOUBT_MOMENT, conforming));
}

/* Plans VALUES, whose rows are known. RETURNING shows rows that are made of the text: it needs no
 * transaction if is_alone(). */
static bool plan_values(rw_program *program, const rw_subject *subject)
{
    const rw_clauses *clauses = subject->clauses;
    program->count = clauses->row_count;
    if (!check_sets(subject))
        return false;
    program->alone = true;
    if (!rw_part_is_empty(clauses->returning)) {
        const rw_part all = {clauses->source.from, clauses->end};
        if (!rw_shown_insert(subject, add_act(program, DEED_SHOW)))
            return false;
        program->alone = is_alone(subject, all);
    }
    rw_weave *out = add_act(program, DEED_WRITE);
    if (clauses->defaults)
        return weave_given(subject, out);
    weave_insert(clauses, out);
    return true;
}

static bool plan_insert(rw_program *program, const rw_subject *subject)
{
    leave_with(program);
    if (!check_with(subject))
        return false;
    if (!rw_part_is_empty(subject->clauses->conflict))
        return check_sets(subject) && (program->upsert = rw_upsert_new(subject)) != NULL;
    return subject->clauses->source_kind == RW_SOURCE_QUERY ? plan_query(program, subject)
                                                            : plan_values(program, subject);
}

static bool plan(rw_program *program, const rw_catalog *catalog, pgw_error *error)
{
    rw_clauses *clauses = &program->clauses;
    const pgw_reading reading = {program->options.env, &program->arena, error};
    rw_subject subject = {program->text, clauses, NULL, NULL, &program->options, &reading};
    if (!rw_clauses_read(program->text, &reading, clauses) || !check_form(&subject))
        return false;
    if (clauses->name.len > 0)
        subject.table = rw_catalog_find(catalog, clauses->schema, clauses->name);
    if (subject.table == NULL && !rw_part_is_empty(clauses->returning))
        subject.learned = rw_returning_learned(clauses, catalog);
    if (subject.learned != NULL && rw_returning_spell(&subject, &program->text))
        return plan(program, catalog, error);
    switch (clauses->verb) {
    case RW_DML_UPDATE:
    case RW_DML_DELETE:
        return plan_change(program, &subject);
    case RW_DML_INSERT:
        return plan_insert(program, &subject);
    default:
        add_act(program, DEED_OTHER);
        program->alone = true;
        return true;
    }
}

rw_program *rw_program_new(pgw_slice text, const rw_catalog *catalog,
                           const rw_program_options *options, pgw_error *error)
{
    rw_program *program = pgw_calloc(1, sizeof *program);
    program->text = text;
    program->options = *options;
    if (plan(program, catalog, error))
        return program;
    rw_program_free(program);
    return NULL;
}

rw_program *rw_program_of_texts(pgw_buf *texts, size_t count, const char *tag, uint64_t rows)
{
    rw_program *program = pgw_calloc(1, sizeof *program);
    program->texts = texts;
    program->text_count = count;
    program->word = tag;
    program->count = rows;
    return program;
}

void rw_program_free(rw_program *program)
{
    if (program == NULL)
        return;
    for (size_t i = 0; i < program->text_count; i++)
        pgw_buf_free(&program->texts[i]);
    free(program->texts);
    for (size_t i = 0; i < program->act_count; i++)
        rw_weave_free(&program->acts[i].weave);
    rw_upsert_free(program->upsert);
    pgw_arena_free(&program->arena);
    free(program);
}

size_t rw_program_bytes(const rw_program *program)
{
    size_t bytes = sizeof *program + program->arena.bytes;
    for (size_t i = 0; i < program->act_count; i++)
        bytes += program->acts[i].weave.text.cap;
    for (size_t i = 0; i < program->text_count; i++)
        bytes += program->texts[i].cap;
    return program->upsert != NULL ? bytes + rw_upsert_bytes(program->upsert) : bytes;
}

/* --- running --- */

static bool writes_rows(const rw_program *program)
{
    return program->texts != NULL || program->clauses.verb != RW_DML_NONE;
}

bool rw_program_is_single(const rw_program *program)
{
    if (program->texts != NULL)
        return program->text_count == 1;
    return program->upsert != NULL ? rw_upsert_is_single(program->upsert) : program->alone;
}

bool rw_program_writes(const rw_program *program)
{
    return writes_rows(program);
}

bool rw_program_is_repeatable(const rw_program *program)
{
    return program->upsert != NULL && rw_upsert_is_repeatable(program->upsert);
}

bool rw_program_next(rw_program *program, rw_step *step)
{
    if (program->upsert != NULL)
        return rw_upsert_next(program->upsert, step);
    if (program->at < program->text_count) {
        const pgw_slice text = pgw_slice_buf(&program->texts[program->at]);
        *step = (rw_step){.text = text, .rows = RW_ROWS_NONE, .writes = true};
        return true;
    }
    if (program->at >= program->act_count)
        return false;
    const act *next = &program->acts[program->at];
    const pgw_slice woven = pgw_slice_buf(&next->weave.text);
    *step = (rw_step){
        .text = woven.len > 0 ? woven : program->text,
        .rows = next->deed == DEED_COUNT   ? RW_ROWS_OURS
                : next->deed == DEED_WRITE ? RW_ROWS_NONE
                                           : RW_ROWS_CLIENT,
        .writes = next->deed == DEED_WRITE ||
                  (next->deed == DEED_OTHER && (writes_rows(program) || program->options.changes))};
    return true;
}

/* Reads the number at the end of a tag, or that is all of a cell. False: there is none. */
static bool read_number(pgw_slice text, uint64_t *value)
{
    size_t digits = 0;
    *value = 0;
    while (digits < text.len && text.ptr[text.len - 1 - digits] >= '0' &&
           text.ptr[text.len - 1 - digits] <= '9')
        digits++;
    for (size_t i = text.len - digits; i < text.len; i++)
        *value = *value * 10 + (uint64_t)(text.ptr[i] - '0');
    return digits > 0 && digits < 20;
}

bool rw_program_row(rw_program *program, const pgw_slice *cells, size_t count, pgw_error *error)
{
    if (program->upsert != NULL)
        return rw_upsert_row(program->upsert, cells, count, error);
    if (count == 1 && read_number(cells[0], &program->count))
        return true;
    return pgw_fail(error, "XX000", "the endpoint counts with what is no number");
}

void rw_program_stepped(rw_program *program, pgw_slice tag)
{
    if (program->upsert != NULL) {
        rw_upsert_stepped(program->upsert);
        return;
    }
    if (program->texts != NULL) {
        program->at++;
        return;
    }
    const deed done = program->acts[program->at++].deed;
    if (done == DEED_SHOW && !read_number(tag, &program->count))
        program->count = 0;
    if (done != DEED_OTHER)
        return;
    size_t length = tag.len < RW_TAG_MOST - 1 ? tag.len : RW_TAG_MOST - 1;
    memcpy(program->server_tag, tag.ptr, length);
    program->server_tag[length] = '\0';
}

bool rw_program_failed(rw_program *program, const char *sqlstate)
{
    return program->upsert != NULL && rw_upsert_failed(program->upsert, sqlstate);
}

bool rw_program_was_overtaken(rw_program *program, const char *sqlstate)
{
    return program->upsert != NULL && rw_upsert_was_overtaken(program->upsert, sqlstate);
}

/* Changes 42846 to 42804 if the failed cast is none of the client's: PostgreSQL assigns there. */
void rw_program_blame(const rw_program *program, pgw_error *error)
{
    const bool shows = program->upsert == NULL && program->texts == NULL &&
                       program->acts[program->at].deed == DEED_SHOW;
    if ((program->upsert != NULL || shows) && pgw_error_is(error, "42846") &&
        !rw_cast_may_be_clients(program->text, pgw_slice_str(error->message),
                                program->options.env->conforming))
        memcpy(error->sqlstate, "42804", sizeof "42804");
}

void rw_program_rewind(rw_program *program)
{
    program->at = 0;
    if (program->texts == NULL)
        program->count = program->clauses.row_count;
    if (program->upsert != NULL)
        rw_upsert_rewind(program->upsert);
}

static const char *word_of(rw_dml verb)
{
    return verb == RW_DML_UPDATE ? "UPDATE" : verb == RW_DML_DELETE ? "DELETE" : "INSERT 0";
}

void rw_program_tag(const rw_program *program, char tag[RW_TAG_MOST])
{
    const uint64_t count =
        program->upsert != NULL ? rw_upsert_count(program->upsert) : program->count;
    if (program->texts != NULL)
        snprintf(tag, RW_TAG_MOST, "%s %llu", program->word, (unsigned long long)count);
    else if (program->upsert == NULL && program->acts[0].deed == DEED_OTHER)
        snprintf(tag, RW_TAG_MOST, "%s", program->server_tag);
    else
        snprintf(tag, RW_TAG_MOST, "%s %llu", word_of(program->clauses.verb),
                 (unsigned long long)count);
}
