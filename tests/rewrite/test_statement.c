/* Scripts: cut, judged, and their effects, against tables of texts. */
#include "rewrite/statement/words/prefilter.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/special/wanting.h"
#include "rewrite/statement/words/statement.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "tables.h"
#include "vectors.h"

static const char *const effect_names[] = {
    "settings", "names",       "tracked", "discard_all", "deallocate", "prepare", "ddl",
    "state",    "transaction", "copy",    "output",      "calls",      "runs",    "resumes",
    "writes",   "draws",       "resets",  "reads",       "rights"};

/* Of nearly every statement; they have a table of their own. */
enum {
    COMMON = RW_EFFECT_CALLS | RW_EFFECT_RUNS | RW_EFFECT_RESUMES | RW_EFFECT_WRITES |
             RW_EFFECT_DRAWS | RW_EFFECT_RESETS | RW_EFFECT_READS
};

static unsigned read_effects(const char *text)
{
    unsigned effects = 0;
    for (unsigned i = 0; i < sizeof effect_names / sizeof *effect_names; i++) {
        const char *at = strstr(text, effect_names[i]);
        if (at != NULL)
            effects |= 1u << i;
    }
    return effects;
}

/* A table is gone through to its end, so that all that is wrong is seen at once. */
static int complaints;

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprint_error(format, args);
    va_end(args);
    print_error("\n");
    complaints++;
}

static void check_complaints(void)
{
    int count = complaints;
    complaints = 0;
    assert_int_equal(count, 0);
}

static vectors open_vectors(const char *path)
{
    vectors it = {.file = fopen(path, "r")};
    assert_non_null(it.file);
    return it;
}

static rw_script parse(const char *text, const pgw_env *env, pgw_arena *arena)
{
    static const rw_table *pointers[TEST_TABLE_COUNT];
    static rw_catalog catalog;
    catalog = test_catalog(pointers);
    rw_script script;
    rw_script_parse(exact(text), &catalog, env, NULL, arena, &script);
    return script;
}

static char letter(const rw_statement *statement)
{
    return statement->change != NULL ? 'c' : "fir"[statement->kind];
}

/* What every script holds to, whatever it says. */
static void check_script(const rw_script *script, const char *text)
{
    unsigned effects = 0;
    size_t inserts = 0, at = 0;
    bool refused = false;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        assert_true(statement->start >= at && statement->start < statement->end);
        at = statement->end;
        assert_true(at <= strlen(text));
        effects |= statement->effects;
        inserts += statement->kind == RW_STATEMENT_INSERT;
        refused |= statement->kind == RW_STATEMENT_REFUSED;
        assert_true((statement->kind == RW_STATEMENT_INSERT) == (statement->insert != NULL));
        assert_true((statement->kind == RW_STATEMENT_REFUSED) == (statement->error != NULL));
    }
    assert_int_equal(script->effects, effects);
    assert_int_equal(script->inserts, inserts);
    assert_int_equal(script->refused, refused);
}

static bool is_passed(pgw_slice text, const rw_catalog *catalog, unsigned *effects)
{
    rw_prefilter filter;
    rw_prefilter_init(&filter, catalog);
    bool passes = rw_prefilter_passes(text, &filter, effects);
    rw_prefilter_free(&filter);
    return passes;
}

/* What passes at a glance has neither effects nor a statement of ours. */
static void check_glance(const rw_script *script, const char *text)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    unsigned effects;
    if (!is_passed(exact(text), &catalog, &effects))
        return;
    assert_int_equal(script->count, 1);
    assert_int_equal(script->statements[0].kind, RW_STATEMENT_FORWARD);
    if (script->effects & ~effects)
        complain("effects %x, at a glance %x: %s", script->effects, effects, text);
}

static void statements_are_judged(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/statements.txt");
    int cases = 0;
    for (; vectors_next(&it, 3); cases++) {
        pgw_arena arena = {0};
        const char *text = it.field[2];
        rw_script script = parse(text, &test_env, &arena);
        char kinds[16] = "";
        for (size_t i = 0; i < script.count && i < 15; i++)
            kinds[i] = letter(&script.statements[i]);
        if (strcmp(kinds, it.field[0]) != 0)
            complain("line %d: kinds \"%s\", not \"%s\": %s (%s)", it.line, kinds, it.field[0],
                     text,
                     script.refused && script.count > 0 && script.statements[0].error != NULL
                         ? script.statements[0].error->message
                         : "");
        if ((script.effects & ~(unsigned)COMMON) != read_effects(it.field[1]))
            complain("line %d: effects %x, not %x: %s", it.line, script.effects & ~(unsigned)COMMON,
                     read_effects(it.field[1]), text);
        check_script(&script, text);
        check_glance(&script, text);
        pgw_arena_free(&arena);
    }
    fclose(it.file);
    check_complaints();
    assert_true(cases >= 200);
}

/* What leaves doubt of what a session has, as the lexer sees it and at a glance. */
static void doubt_is_noted(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/statements_doubt.txt");
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    const unsigned seen = COMMON | RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_STATE;
    while (vectors_next(&it, 3)) {
        pgw_arena arena = {0};
        unsigned glance = 0;
        rw_script script = parse(it.field[2], &test_env, &arena);
        bool passes = is_passed(exact(it.field[2]), &catalog, &glance);
        unsigned expected = read_effects(it.field[0]);
        if ((script.effects & seen) != expected)
            complain("line %d: effects %x, not %x: %s", it.line, script.effects & seen, expected,
                     it.field[2]);
        if (passes ? glance != read_effects(it.field[1]) : strcmp(it.field[1], "no") != 0)
            complain("line %d: at a glance %x: %s", it.line, glance, it.field[2]);
        pgw_arena_free(&arena);
    }
    fclose(it.file);
    check_complaints();
}

static bool has_effect(const char *text, unsigned effect)
{
    pgw_arena arena = {0};
    bool found = (parse(text, &test_env, &arena).effects & effect) != 0;
    pgw_arena_free(&arena);
    return found;
}

/* EXPLAIN makes nothing unless it has the word ANALYZE, CREATE calls nothing unless it has AS: the
 * whole word. */
static void words_count_as_a_whole(void **state)
{
    (void)state;
    static const struct {
        const char *form, *word;
        unsigned effect;
    } cases[] = {
        {"EXPLAIN SELECT 1 INTO TEMP x FROM y, %s", "analyze", RW_EFFECT_NAMES},
        {"EXPLAIN SELECT 1 INTO TEMP x FROM y, %s", "ANALYSE", RW_EFFECT_NAMES},
        {"CREATE TABLE t (b int DEFAULT hide()) %s", "as", RW_EFFECT_CALLS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char word[32], text[128];
        snprintf(text, sizeof text, cases[i].form, cases[i].word);
        assert_true(has_effect(text, cases[i].effect));
        for (const char *c = "aA_mMzZ"; *c != '\0'; c++) {
            snprintf(word, sizeof word, "%c%s", *c, cases[i].word);
            snprintf(text, sizeof text, cases[i].form, word);
            assert_false(has_effect(text, cases[i].effect));
            snprintf(word, sizeof word, "%s%c", cases[i].word, *c);
            snprintf(text, sizeof text, cases[i].form, word);
            assert_false(has_effect(text, cases[i].effect));
        }
    }
}

static void glances_are_told(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/glances.txt");
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    while (vectors_next(&it, 2)) {
        unsigned effects;
        char told[128] = "no";
        if (is_passed(exact(it.field[1]), &catalog, &effects)) {
            told[0] = '\0';
            for (unsigned i = 0; i < sizeof effect_names / sizeof *effect_names; i++)
                if (effects & 1u << i)
                    snprintf(told + strlen(told), sizeof told - strlen(told), "%s%s",
                             told[0] != '\0' ? "," : "", effect_names[i]);
            if (told[0] == '\0')
                strcpy(told, "-");
        }
        if (strcmp(told, it.field[0]) != 0)
            complain("line %d: %s|%s", it.line, told, it.field[1]);
    }
    fclose(it.file);
    check_complaints();
}

/* What becomes of a write behind a statement of the same text that may move its table's name. */
static void names_move_within_a_text(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/statements_names.txt");
    while (vectors_next(&it, 2)) {
        pgw_arena arena = {0};
        char kinds[16] = "";
        rw_script script = parse(it.field[1], &test_env, &arena);
        for (size_t i = 0; i < script.count && i < 15; i++)
            kinds[i] = letter(&script.statements[i]);
        if (strcmp(kinds, it.field[0]) != 0)
            complain("line %d: kinds \"%s\", not \"%s\": %s", it.line, kinds, it.field[0],
                     it.field[1]);
        pgw_arena_free(&arena);
    }
    fclose(it.file);
    check_complaints();
}

static void refusals_say_why_and_where(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/refused.txt");
    int cases = 0;
    for (; vectors_next(&it, 4); cases++) {
        pgw_arena arena = {0};
        const char *text = it.field[3];
        rw_script script = parse(text, &test_env, &arena);
        check_script(&script, text);
        const pgw_error *error =
            script.count > 0 ? script.statements[script.count - 1].error : NULL;
        char said[2048];
        if (error == NULL)
            complain("line %d passes: %s", it.line, text);
        else if (snprintf(said, sizeof said, "%s%s%s HINT %s", error->message,
                          error->detail[0] != '\0' ? " DETAIL " : "", error->detail,
                          error->hint) < 0 ||
                 strcmp(error->sqlstate, it.field[0]) != 0 || strcmp(said, it.field[1]) != 0)
            complain("line %d: %s|%s", it.line, error->sqlstate, said);
        size_t position = strtoul(it.field[2], NULL, 10);
        if (error != NULL && position > 0 && error->position != position)
            complain("line %d: at %zu, not %zu: %s", it.line, error->position, position, text);
        pgw_arena_free(&arena);
    }
    fclose(it.file);
    check_complaints();
    assert_true(cases >= 50);
}

static void settings_and_names_are_read(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/statements_settings.txt");
    while (vectors_next(&it, 4)) {
        pgw_arena arena = {0};
        rw_script script = parse(it.field[3], &test_env, &arena);
        assert_int_equal(script.count, 1);
        const rw_statement *statement = &script.statements[0];
        bool named = statement->effects & (RW_EFFECT_PREPARE | RW_EFFECT_DEALLOCATE);
        pgw_slice name = named ? statement->name : statement->setting;
        pgw_slice value = statement->setting_value;
        bool same_value = strcmp(it.field[2], "<null>") == 0
                              ? value.ptr == NULL
                              : value.ptr != NULL && pgw_slice_eq_str(value, it.field[2]);
        bool simple = strcmp(it.field[1], "yes") == 0;
        if (!pgw_slice_eq_str(name, it.field[0]) || statement->setting_simple != simple ||
            !same_value)
            complain("line %d: \"%.*s\" %s \"%.*s\": %s", it.line, (int)name.len, name.ptr,
                     statement->setting_simple ? "simple" : "not simple", (int)value.len, value.ptr,
                     it.field[3]);
        pgw_arena_free(&arena);
    }
    fclose(it.file);
    check_complaints();
}

/* Where '…\'…' is one string, libpg_query would see another text, were they not hidden from it. */
static void backslashes_without_conforming_strings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kinds;
    } cases[] = {
        {"SELECT 'a\\'; UPDATE events SET userid = 1; --'", "f"},
        {"UPDATE other SET x = '\\'' WHERE y = 'events'", "f"},
        {"UPDATE events SET event = 'it\\'s' WHERE userid = 5", "f"},
        {"UPDATE events SET userid = 5, event = 'it\\'s'", "c"},
        {"UPDATE ONLY (events) SET (event, userid) = ('it\\'s', 1)", "c"},
        {"UPDATE events SET event = 'it\\', userid = 5, event = 's'", "r"},
        {"WITH x AS (SELECT 'a\\'b') INSERT INTO other SELECT * FROM events", "f"},
        {"WITH x AS (INSERT INTO events VALUES ('a\\'b')) SELECT 1", "r"},
        {"COPY events FROM STDIN DELIMITER '\\'", "r"},
        {"COPY events FROM STDIN NULL '\\\\N'", "r"},
        {"COPY public.events (ts) TO STDOUT NULL '\\\\N'", "f"},
        {"COPY (SELECT '\\'' FROM events) TO STDOUT", "f"},
        {"PREPARE p AS MERGE INTO events USING x ON a = '\\'' WHEN MATCHED THEN DELETE", "f"},
        {"EXPLAIN INSERT INTO events VALUES ('a\\'b', N'\\'', E'\\'')", "f"},
        /* the backend takes none of these */
        {"UPDATE events SET event = U&'a'", "f"},
        {"INSERT INTO events VALUES (1, now(), U&'a')", "f"},
    };
    pgw_env env = test_env;
    env.conforming = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_script script = parse(cases[i].text, &env, &arena);
        if (script.count != 1 || letter(&script.statements[0]) != cases[i].kinds[0])
            complain("%zu statements: %s", script.count, cases[i].text);
        pgw_arena_free(&arena);
    }
    check_complaints();
}

/* `head`, then `filler` again and again, then `tail`. */
static char *long_text(const char *head, const char *filler, size_t times, const char *tail)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, head);
    for (size_t i = 0; i < times; i++)
        pgw_buf_add_str(&text, filler);
    pgw_buf_add(&text, tail, strlen(tail) + 1);
    return text.ptr;
}

static void long_texts_are_judged_by_words(void **state)
{
    (void)state;
    static const struct {
        const char *head, *filler;
        size_t times;
        const char *tail, *sqlstate; /* "" = passes */
    } cases[] = {
        {"SELECT * FROM events WHERE userid IN (1", ",1", 6000, ")", ""},
        {"DELETE FROM events WHERE userid IN (1", ",1", 6000, ")", ""},
        {"UPDATE events SET event = 'x' WHERE userid IN (1", ",1", 6000, ")", ""},
        {"UPDATE events SET event = 'x' WHERE userid = 1", " ", 70000, "", ""},
        {"UPDATE events SET userid = 1 WHERE userid IN (1", ",1", 6000, ")", "54000"},
        {"UPDATE events SET event = (SELECT 1", "+1", 40000, "), userhash = 1", "54000"},
        {"UPDATE other SET x = 1", "+1", 40000, " FROM events", ""},
        {"WITH x AS (INSERT INTO events VALUES (1", ",1", 40000, ")) SELECT 1", "54000"},
        {"WITH x AS (INSERT INTO other VALUES (1", ",1", 40000, ")) SELECT * FROM events", ""},
        {"WITH x AS (SELECT 1", "+1", 40000, ") MERGE INTO ONLY public.events USING x", "54000"},
        {"WITH x AS (SELECT 1", "+1", 40000, ") SELECT * FROM events FOR UPDATE", ""},
        {"INSERT INTO other SELECT 1", "+1", 40000, " FROM events ON CONFLICT DO UPDATE SET x = 1",
         ""},
        {"PREPARE p AS INSERT INTO events VALUES (1", "+1", 40000, ")", "54000"},
        {"EXPLAIN ANALYZE UPSERT INTO events VALUES (1", "+1", 40000, ")", "54000"},
        {"COPY (SELECT 1", "+1", 40000, " FROM events) TO STDOUT", ""},
        {"COPY (INSERT INTO events SELECT 1", "+1", 40000, ") TO STDOUT", "54000"},
        {"COPY binary events (userid", ",ts", 40000, ") FROM STDIN", "54000"},
        {"COPY binary (userid", ",events", 40000, ") FROM STDIN", ""},
        {"COPY events (userid", ",ts", 40000, ") TO STDOUT", ""},
        {"WITH x AS (SELECT U&\"x\" FROM y WHERE 1", "+1", 40000, ") INSERT INTO other", "54000"},
        {"WITH x AS (SELECT events", "+1", 40000, ") INSERT INTO other 'unterminated", "54000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        char *text = long_text(cases[i].head, cases[i].filler, cases[i].times, cases[i].tail);
        rw_script script = parse(text, &test_env, &arena);
        assert_int_equal(script.count, 1);
        const pgw_error *error = script.statements[0].error;
        if (strcmp(error == NULL ? "" : error->sqlstate, cases[i].sqlstate) != 0)
            complain("%s … %s: %s", cases[i].head, cases[i].tail,
                     error == NULL ? "passes" : error->message);
        free(text);
        pgw_arena_free(&arena);
    }
    check_complaints();
}

/* The names of many columns, for each of many short INSERTs. */
static void what_is_put_in_is_bounded(void **state)
{
    (void)state;
    enum { COLUMNS = 1600, NAME = 60 };
    static rw_column columns[COLUMNS];
    static char names[COLUMNS][NAME + 1];
    for (size_t i = 0; i < COLUMNS; i++) {
        snprintf(names[i], sizeof names[i], "c%0*zu", NAME - 1, i);
        columns[i] = (rw_column){.name = names[i], .type = PGW_INT8, .typmod = -1};
    }
    size_t key[] = {0, 1};
    const rw_table table = TEST_TABLE("public", "wide", columns, COLUMNS - 1, key, key, 1);
    const rw_table *tables[] = {&table};
    const rw_catalog catalog = {.tables = tables, .count = 1};
    char *text = long_text("SELECT 1", ";INSERT INTO wide SELECT * FROM x", 400, ";SELECT 2");
    pgw_arena arena = {0};
    rw_script script;
    rw_script_parse(pgw_slice_str(text), &catalog, &test_env, NULL, &arena, &script);
    assert_true(script.refused);
    assert_in_range(script.count, 300, 400); /* of some 100 KiB each */
    const rw_statement *last = &script.statements[script.count - 1];
    assert_string_equal(last->error->sqlstate, "54000");
    assert_int_equal(last->end, strlen(text));
    assert_int_equal(last[-1].kind, RW_STATEMENT_INSERT);
    pgw_arena_free(&arena);
    free(text);
}

/* The deepest text that libpg_query is given, on the stack that callers have to bring. */
static void *parse_deepest(void *unused)
{
    (void)unused;
    char *sum = long_text("UPDATE events SET event = 1", "+1", 4990, "");
    char *nested = long_text("UPDATE events SET event = ", "(", 4900, "");
    char *closed = long_text(nested, "", 0, "1");
    char *parens = long_text(closed, ")", 4900, "");
    char *texts[] = {sum, parens};
    for (size_t i = 0; i < 2; i++) {
        pgw_arena arena = {0};
        rw_script script = parse(texts[i], &test_env, &arena);
        assert_int_equal(script.count, 1);
        pgw_arena_free(&arena);
    }
    free(sum);
    free(nested);
    free(closed);
    free(parens);
    return NULL;
}

static void the_deepest_text_fits_the_stack(void **state)
{
    (void)state;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)64 << 20), 0);
    assert_int_equal(pthread_create(&thread, &attributes, parse_deepest, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void other_names_in_a_session_with_its_own_search_path(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        rw_statement_kind kind;
    } cases[] = {
        {"UPDATE events SET userid = 1", RW_STATEMENT_FORWARD},
        {"UPDATE public.events SET userhash = 1", RW_STATEMENT_REFUSED},
        {"COPY events FROM STDIN", RW_STATEMENT_FORWARD},
        {"COPY public.events FROM '/file'", RW_STATEMENT_REFUSED},
        {"COPY public.events FROM STDIN", RW_STATEMENT_FORWARD},
        {"INSERT INTO events (userid, ts) SELECT 1, now()", RW_STATEMENT_FORWARD},
        {"INSERT INTO public.events (userid, ts) SELECT 1, now()", RW_STATEMENT_INSERT},
    };
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    catalog.unqualified = test_others;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_script script;
        rw_script_parse(exact(cases[i].text), &catalog, &test_env, NULL, &arena, &script);
        if (script.statements[0].kind != cases[i].kind)
            complain("%s", cases[i].text);
        pgw_arena_free(&arena);
    }
    check_complaints();
}

static void a_glance_lets_pass(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool passes;
    } cases[] = {
        {"SELECT 1", true},
        {"  select a, b from t where c = $1 ;  ", true},
        {"INSERT INTO other (a, b) VALUES ($1, $2)", true},
        {"update other set a = 1", true},
        {"DELETE FROM other WHERE a = 1", true},
        {"with x as (select 1) select * from x", true},
        {"with x as (insert into other values (1)) select * from x", true},
        {"VALUES (1)", true},
        {"SHOW server_version", true},
        {"TABLE other", true},
        {"FETCH 1 FROM c", true},
        {"SELECT temperature, template FROM weather", true},
        {"SELECT 'a' || \"b\" FROM \"T\"", true},
        {"SELECT * FROM events", false},
        {"SELECT 'Events'", false},
        {"INSERT INTO EVENTS VALUES (1)", false},
        {"SELECT 1; SELECT 2", false},
        {"SELECT ';' FROM t", false},
        {"SELECT set_config('a', 'b', false)", false},
        {"SELECT \"set_config\"('a', 'b', false)", false},
        {"SELECT pg_advisory_lock(1)", false},
        {"SELECT pg_try_advisory_lock(1)", false},
        {"SELECT 1 INTO t", false},
        {"SELECT 1 INTO TEMP t", false},
        {"SELECT * FROM pg_temp.t", false},
        {"UPDATE pg_settings SET setting = 1", false},
        {"SELECT U&\"set\\005fconfig\"('a', 'b', false)", false},
        {"SET x = 1", false},
        {"BEGIN", false},
        {"COPY t FROM STDIN", false},
        {"/* x */ SELECT 1", false},
        {"SELECT * FROM \"Odd\".\"Mixed \"\"Case\"\"\"", false},
        {"SELECT mixed FROM x", false},
        {"SELECT 1events", false},
        {"SELECT eventsource, my_events FROM x", true},
        {"SELECT * FROM a23456789_123456789_123456789_123456789_123456789_123456789_123", true},
        {"SELECT * FROM a23456789_123456789_123456789_123456789_123456789_123456789_1234", true},
        {"(SELECT 1)", false},
        {"SELECTED", false},
        {"", false},
        {";", false},
        {" ", false},
    };
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    unsigned effects;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (is_passed(exact(cases[i].text), &catalog, &effects) != cases[i].passes)
            complain("%s", cases[i].text);
    check_complaints();
}

/* A name that does not begin as words do is not looked for word by word. */
static void a_glance_at_odd_names(void **state)
{
    (void)state;
    unsigned effects;
    rw_table odd = test_tables[0];
    odd.name = (char *)"-odd";
    const rw_table *pointers[] = {&odd};
    rw_catalog catalog = {.tables = pointers, .count = 1}, empty = {.tables = pointers, .count = 0};
    assert_false(is_passed(PGW_LITERAL("INSERT INTO \"-odd\" VALUES (1)"), &catalog, &effects));
    odd.name = (char *)"2024_events";
    assert_false(
        is_passed(PGW_LITERAL("INSERT INTO \"2024_events\" VALUES (1)"), &catalog, &effects));
    assert_true(
        is_passed(PGW_LITERAL("INSERT INTO \"2024_others\" VALUES (1)"), &catalog, &effects));
    assert_true(is_passed(PGW_LITERAL("INSERT INTO events VALUES (1)"), &empty, &effects));
}

/* Cut at every byte, a text still is read without harm. */
static void beginnings_of_texts_are_harmless(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/refused.txt");
    while (vectors_next(&it, 4)) {
        size_t len = strlen(it.field[3]);
        for (size_t cut = 0; cut < len; cut++) {
            pgw_arena arena = {0};
            char *text = pgw_strndup(it.field[3], cut);
            rw_script script = parse(text, &test_env, &arena);
            check_script(&script, text);
            free(text);
            pgw_arena_free(&arena);
        }
    }
    fclose(it.file);
}

/* What a key is to be is asked before the Query is run, which earlier statements of it might
 * change.
 */
static void what_is_asked_for_stands_alone_in_its_query(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t position; /* 0: it may be asked */
    } cases[] = {
        {"INSERT INTO events (userid, ts) VALUES (1 + 1, now())", 0},
        {"SELECT 'ä'; INSERT INTO events (userid, ts) VALUES (1 + 1, now())", 53},
        {"INSERT INTO events (userid, ts) VALUES (1 + 1, now()); SELECT 1", 41},
        {"INSERT INTO events (userid, ts) VALUES (1, now()); SELECT 1", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_script script = parse(cases[i].text, &test_env, &arena);
        size_t inserts = script.inserts;
        rw_wanting_check(pgw_slice_str(cases[i].text), &script, &arena);
        bool refused = cases[i].position > 0;
        assert_int_equal(script.refused, refused);
        assert_int_equal(script.inserts, inserts - refused);
        for (size_t k = 0; k < script.count; k++)
            if (script.statements[k].kind == RW_STATEMENT_REFUSED) {
                assert_null(script.statements[k].insert);
                assert_string_equal(script.statements[k].error->sqlstate, "0A000");
                assert_int_equal(script.statements[k].error->position, cases[i].position);
                assert_non_null(strstr(script.statements[k].error->message, "\"userid\""));
            }
        pgw_arena_free(&arena);
    }
}

/* The end of a statement is not that of the text. */
static void a_statement_that_breaks_off_is_wrong_at_its_semicolon(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    rw_script script = parse("SELECT 'ä'; INSERT INTO events ; SELECT 1", &test_env, &arena);
    assert_int_equal(script.count, 3);
    assert_string_equal(script.statements[1].error->message, "syntax error at or near \";\"");
    assert_int_equal(script.statements[1].error->position, 32);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_judged),
        cmocka_unit_test(doubt_is_noted),
        cmocka_unit_test(words_count_as_a_whole),
        cmocka_unit_test(glances_are_told),
        cmocka_unit_test(names_move_within_a_text),
        cmocka_unit_test(refusals_say_why_and_where),
        cmocka_unit_test(settings_and_names_are_read),
        cmocka_unit_test(backslashes_without_conforming_strings),
        cmocka_unit_test(long_texts_are_judged_by_words),
        cmocka_unit_test(what_is_put_in_is_bounded),
        cmocka_unit_test(the_deepest_text_fits_the_stack),
        cmocka_unit_test(other_names_in_a_session_with_its_own_search_path),
        cmocka_unit_test(a_glance_lets_pass),
        cmocka_unit_test(a_glance_at_odd_names),
        cmocka_unit_test(beginnings_of_texts_are_harmless),
        cmocka_unit_test(what_is_asked_for_stands_alone_in_its_query),
        cmocka_unit_test(a_statement_that_breaks_off_is_wrong_at_its_semicolon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
