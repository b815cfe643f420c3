/* Statements for YDB with a word left out, or twice, about tables of the configuration and about
 * such of which the columns are learned: each step is one that YDB takes, the tag is that of the
 * statement, every parameter has a type, and an error says what is wrong, and where. */
#include "ydb/plain/clean.h"
#include "ydb/plain/infer.h"
#include "ydb/plain/order.h"
#include "ydb/plain/returning.h"

#include "tests/rewrite/statement_holds.h"
#include "learned_tables.h"

static pgw_slice answers;
static const rw_catalog *known = &catalog;

/* --- steps --- */

typedef struct step_facts {
    size_t writes; /* INSERT, UPDATE and DELETE */
    bool foreign;  /* it has what YDB does not take: ON CONFLICT, RETURNING, MERGE */
} step_facts;

static bool note_step(void *context, const ProtobufCMessage *node)
{
    step_facts *it = context;
    if (node->descriptor == &pg_query__insert_stmt__descriptor) {
        const PgQuery__InsertStmt *insert = (const PgQuery__InsertStmt *)node;
        it->writes++;
        it->foreign |= insert->on_conflict_clause != NULL || insert->n_returning_list > 0;
    } else if (node->descriptor == &pg_query__update_stmt__descriptor) {
        it->writes++;
        it->foreign |= ((const PgQuery__UpdateStmt *)node)->n_returning_list > 0;
    } else if (node->descriptor == &pg_query__delete_stmt__descriptor) {
        it->writes++;
        it->foreign |= ((const PgQuery__DeleteStmt *)node)->n_returning_list > 0;
    } else if (node->descriptor == &pg_query__merge_stmt__descriptor)
        it->foreign = true;
    return rw_walk(node, note_step, it);
}

/* Of the steps of one program, so far. */
static size_t writing, telling;
static bool taken; /* PostgreSQL's grammar takes the statement */

static void holds_of_step(const rw_step *step)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    step_facts facts = {.writes = 0};
    bool right = rw_syntax_parse(step->text, &env, &arena, &syntax, &error);
    word_deleted_holds(right || !taken, "a step is SQL where the statement is");
    if (right) {
        note_step(&facts, &syntax.statement->base);
        word_deleted_holds(!facts.foreign, "no step has ON CONFLICT, RETURNING or MERGE");
        word_deleted_holds(facts.writes == (step->writes ? 1 : 0),
                           "a step that writes is one INSERT, UPDATE or DELETE, and known as that");
        rw_syntax_free(&syntax);
    }
    writing += step->writes;
    telling += step->rows == RW_ROWS_CLIENT;
    pgw_arena_free(&arena);
}

/* The tag of a statement that writes is its own, whatever the steps are. */
static void holds_of_tag(pgw_slice text, const char *tag)
{
    static const struct {
        PgQuery__Node__NodeCase is;
        const char *begin;
    } tags[] = {{PG_QUERY__NODE__NODE_INSERT_STMT, "INSERT 0 "},
                {PG_QUERY__NODE__NODE_UPDATE_STMT, "UPDATE "},
                {PG_QUERY__NODE__NODE_DELETE_STMT, "DELETE "}};
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    if (rw_text_mentions(text, "upsert") || rw_text_mentions(text, "replace"))
        return; /* YDB's own commands, which are read as INSERT */
    if (rw_syntax_parse(text, &env, &arena, &syntax, &error)) {
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
            word_deleted_holds(syntax.statement->node_case != tags[i].is ||
                                   strncmp(tag, tags[i].begin, strlen(tags[i].begin)) == 0,
                               "a statement's tag is that of its command");
        rw_syntax_free(&syntax);
    }
    pgw_arena_free(&arena);
}

/* Behind a `*` in whose place learned columns were put, a position is not the client's. */
static void add_refusal(const pgw_error *error, pgw_slice text, pgw_buf *out)
{
    pgw_error judged = *error;
    judged.position = known == &learned ? 0 : error->position;
    holds_of_refusal(&judged, text, true);
    add_error(error, out);
    pgw_buf_addf(out, "|%s|%s", error->detail, error->hint);
}

static void judge_program(pgw_slice text, pgw_buf *out)
{
    pgw_error error;
    rw_program *program = rw_program_new(text, known, &options, &error);
    if (program == NULL) {
        add_refusal(&error, text, out);
        return;
    }
    char tag[RW_TAG_MOST];
    bool single = rw_program_is_single(program) && !options.insert_first;
    /* The table of `update only set set i = 1` is called set, which is not understood. */
    taken = parses(text, &env) && !pgw_slice_eq_str(text, "update only set set i = 1");
    writing = telling = 0;
    judge_step = holds_of_step;
    describe(program, answers, out);
    judge_step = NULL;
    rw_program_tag(program, tag);
    holds_of_tag(text, tag);
    word_deleted_holds(writing == 0 || rw_program_writes(program),
                       "a program of which a step writes is known to write");
    word_deleted_holds(telling <= 1 || answers.len > 0, "the client is given the rows of one step");
    word_deleted_holds(!single || writing <= 1, "without a transaction one step writes at most");
    word_deleted_holds(!rw_program_is_repeatable(program) || tables[0].repeats_upserts ||
                           !rw_program_writes(program),
                       "what writes is done once more only where the table says so");
    rw_program_free(program);
}

/* --- what else is known of a statement --- */

static void judge_types(pgw_slice text, const pgw_reading *reading, pgw_buf *out)
{
    rw_inferred found;
    if (!rw_infer(text, known, (rw_declared){NULL, 0}, reading, &found)) {
        add_refusal(reading->error, text, out);
        return;
    }
    word_deleted_holds(found.count == 0 || found.count == rw_highest_parameter(text, true),
                       "every parameter has a type");
    for (size_t i = 0; i < found.count; i++) {
        word_deleted_holds(found.types[i] != PGW_UNSPECIFIED, "a parameter's type is known");
        pgw_buf_addf(out, " %u", found.types[i]);
    }
}

static void judge_returning(pgw_slice text, const pgw_reading *reading, pgw_buf *out)
{
    pgw_slice query;
    if (!rw_returning_query(text, reading, &query))
        add_refusal(reading->error, text, out);
    else if (query.ptr != NULL) {
        word_deleted_holds(parses(query, &env) || !parses(text, &env),
                           "the query that describes RETURNING is SQL");
        pgw_buf_add_slice(out, query);
    }
    const rw_relation *target = rw_returning_target(text, known, reading);
    if (target != NULL)
        pgw_buf_addf(out, " %s %s", target->schema, target->name);
}

static void add_order(const pgw_piece *piece, pgw_slice whole, pgw_buf *out)
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
    if (order->refusal != NULL) {
        holds_of_error(order->refusal, whole, true);
        add_error(order->refusal, out);
    }
}

/* An order's errors have no hints. */
static void judge_order(pgw_slice whole, const rw_clean *it, const pgw_reading *reading,
                        pgw_buf *out)
{
    pgw_piece piece;
    if (!rw_order_read(whole, it, reading, &piece)) {
        holds_of_error(reading->error, whole, true);
        add_error(reading->error, out);
        return;
    }
    word_deleted_holds(!pgw_command_has_order(piece.command) || piece.order != NULL,
                       "a command of prepared statements or cursors has an order");
    add_order(&piece, whole, out);
}

static void judge_statement(pgw_slice whole, const rw_clean *it, const pgw_reading *reading,
                            pgw_buf *out)
{
    *reading->error = PGW_ERROR_NONE;
    pgw_buf_addf(out, "%d <%.*s>", it->kind, (int)it->text.len, it->text.ptr);
    if (it->kind == RW_CLEAN_WRONG) {
        add_refusal(it->error, whole, out);
        return;
    }
    judge_types(it->text, reading, out);
    if (it->kind != RW_CLEAN_SESSION)
        judge_program(it->text, out);
    judge_returning(it->text, reading, out);
    if (known == &catalog)
        judge_order(whole, it, reading, out);
}

static void judge(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_clean statement;
    rw_lexer lexer;
    size_t from = 0;
    rw_lexer_init(&lexer, text, true);
    while (rw_clean_next(&lexer, &env, &arena, &statement)) {
        word_deleted_holds(statement.start >= from && statement.start < text.len,
                           "statements follow each other in the text");
        from = statement.start + 1;
        judge_statement(text, &statement, &(pgw_reading){&env, &arena, &error}, out);
    }
    pgw_arena_free(&arena);
}

/* With other options and answers each time. */
static void judge_any(pgw_slice text, pgw_buf *out)
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
    judge(text, out);
    answers = before;
}

/* --- the texts --- */

static void set_answers(const vector_line *line)
{
    answers = line->count > 2 ? line->fields[1] : (pgw_slice){"", 0};
}

static void vary_line(const vector_line *line)
{
    if (is_set_up(line))
        return;
    const rw_program_options said = options;
    bool repeats = tables[0].repeats_upserts;
    set_answers(line);
    word_deleted_some(line->fields[0], 0, 1, judge);
    word_deleted_some(line->fields[0], 0, 2, judge_any);
    options = said;
    for (size_t i = 0; i < catalog.count; i++)
        tables[i].repeats_upserts = repeats;
}

static void vary_learned_line(const vector_line *line)
{
    if (sets_up(line))
        return;
    set_answers(line);
    word_deleted_some(line->fields[0], line->number % 2, 2, judge);
}

static void every_text_holds(void **state)
{
    static const char *const files[] = {VECTORS "/plain/learned.txt",
                                        VECTORS "/plain/programs.txt"};
    (void)state;
    vector_each(VECTORS "/plain/programs.txt", vary_line);
    vector_each(VECTORS "/plain/orders.txt", vary_line);
    known = &learned;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        forget();
        vector_each(files[i], vary_learned_line);
    }
    assert_in_range(word_deleted_count, 10000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
