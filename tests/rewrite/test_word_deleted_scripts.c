/* Texts of several statements with a word left out, or twice: what each is beside the others, and
 * what is asked for before all of them. */
#include "rewrite/insert/question.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/special/wanting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "any_tables.h"
#include "statement_holds.h"

enum { ROUNDS = 4, EVERY = 11 /* words' step */, LINES = 400, MOST_INSERTS = 8 };

static any_tables tables;

/* --- what is made of a text --- */

static void add_change(const rw_key_change *it, pgw_buf *out)
{
    pgw_buf_addf(out, " %s %s", it->table != NULL ? it->table->name : "",
                 it->hint != NULL ? it->hint : "");
    for (size_t i = 0; i < it->count; i++)
        pgw_buf_addf(out, "; %zu-%zu: %.*s", it->list[i].at, it->list[i].cut,
                     (int)it->list[i].text.len, it->list[i].text.ptr);
    for (size_t i = 0; i < it->value_count; i++)
        pgw_buf_addf(out, "; %s %zu $%u", it->values[i].column->name, it->values[i].at,
                     it->values[i].shared);
}

static void add_prepare(const rw_sql_prepare *it, pgw_buf *out)
{
    pgw_buf_addf(out, " kept %zu %u", it->kept.len, it->parameters);
    for (size_t i = 0; i < it->declared.count; i++)
        pgw_buf_addf(out, " %u", it->declared.types[i]);
}

static void add_statement(const rw_statement *it, pgw_buf *out)
{
    pgw_buf_addf(out, "\n%d %zu-%zu %x %.*s %.*s %d%d %s %s", it->kind, it->start, it->end,
                 it->effects, (int)it->makes.len, it->makes.ptr != NULL ? it->makes.ptr : "",
                 (int)it->path.len, it->path.ptr != NULL ? it->path.ptr : "", it->apart,
                 it->defines, it->made != NULL ? it->made->name : "",
                 it->unspread != NULL ? it->unspread : "");
    if (it->change != NULL)
        add_change(it->change, out);
    if (it->otherwise != NULL)
        add_change(it->otherwise, out);
    if (it->prepares != NULL)
        add_prepare(it->prepares, out);
    if (it->error != NULL)
        pgw_buf_addf(out, " !%s %zu %s|%s|%s", it->error->sqlstate, it->error->position,
                     it->error->message, it->error->detail, it->error->hint);
}

static void add_script(const rw_script *script, pgw_buf *out)
{
    pgw_buf_addf(out, "\n%zu %x %d%d%d%d %zu", script->count, script->effects, script->refused,
                 script->changes, script->escapes, script->utf8, script->inserts);
    for (size_t i = 0; i < script->count; i++)
        add_statement(&script->statements[i], out);
}

static void add_question(const rw_script *script, pgw_arena *arena, pgw_buf *out)
{
    const rw_insert *inserts[MOST_INSERTS];
    rw_question question;
    size_t count = 0;
    for (size_t i = 0; i < script->count && count < MOST_INSERTS; i++)
        if (script->statements[i].insert != NULL && script->statements[i].insert->wanted_count > 0)
            inserts[count++] = script->statements[i].insert;
    if (count == 0 || script->refused)
        return;
    rw_question_of_several(inserts, count, false, arena, &question);
    pgw_buf_add_slice(out, question.sql);
    for (size_t i = 0; i < question.count; i++)
        pgw_buf_addf(out, " %u %zu+%zu %zu", question.types[i], question.places[i].at,
                     question.places[i].len, question.places[i].before);
}

static void judge(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    rw_script script;
    rw_script_parse(text, &tables.catalog, &tables.env, NULL, &arena, &script);
    holds_of_script(&script, text, &tables.catalog, &tables.env);
    add_script(&script, out);
    rw_wanting_check(text, &script, &arena);
    add_script(&script, out);
    add_question(&script, &arena, out);
    pgw_arena_free(&arena);
}

/* --- the texts --- */

static size_t cut_lines(char *text, char **lines, size_t count)
{
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && count < LINES;
         line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    return count;
}

/* Each line with another one before it, and sometimes one behind. */
static void judge_texts(unsigned round, char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *before = i % 3 == 0 ? "BEGIN" : lines[(i * 7 + round * 31) % count];
        pgw_buf text = {0};
        pgw_buf_addf(&text, "%s; %s", before, lines[i]);
        if (i % 4 == 0)
            pgw_buf_addf(&text, "; %s", lines[(i * 5 + round * 13) % count]);
        word_deleted_some(pgw_slice_buf(&text), (i + round) % EVERY, EVERY, judge);
        pgw_buf_free(&text);
    }
}

static void every_text_holds(void **state)
{
    (void)state;
    char *lines[LINES], *texts[] = {word_deleted_read(VECTORS "/left_out.sql"),
                                    word_deleted_read(VECTORS "/left_out_more.sql")};
    size_t count = cut_lines(texts[1], lines, cut_lines(texts[0], lines, 0));
    for (unsigned round = 0; round < ROUNDS; round++) {
        any_tables_make(&tables, 200 + round);
        judge_texts(round, lines, count);
    }
    free(texts[0]);
    free(texts[1]);
    assert_in_range(word_deleted_count, 1000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
