/* Shapes, and what is known of them: PostgreSQL's grammar is the oracle for both. */
#include "rewrite/hash/hash.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/statement.h"

#include "rewrite/lex/splitter.h"
#include "rewrite/statement/script/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "lines.h"
#include "mutants.h"
#include "tables.h"
#include "vectors.h"

static const rw_table *pointers[TEST_TABLE_COUNT];

static rw_lexer lexer_of(pgw_slice text, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    return lexer;
}

static bool shape_of(const char *text, rw_shape *shape)
{
    rw_catalog catalog = test_catalog(pointers);
    return rw_shape_of(lexer_of(exact(text), true), &catalog, shape);
}

static bool equal(const rw_shape *a, const rw_shape *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static vectors open_vectors(const char *path)
{
    vectors it = {.file = fopen(path, "r")};
    assert_non_null(it.file);
    return it;
}

static void texts_have_shapes(void **state)
{
    (void)state;
    vectors it = open_vectors(VECTORS "/shapes.txt");
    int wrong = 0;
    while (vectors_next(&it, 3)) {
        rw_shape a, b;
        vectors_unescape(it.field[1]);
        bool first = shape_of(it.field[1], &a), second = shape_of(it.field[2], &b);
        const char *found = !first && !second                  ? "none"
                            : first && second && equal(&a, &b) ? "same"
                                                               : "differ";
        if (strcmp(found, it.field[0]) != 0) {
            print_error("line %d: %s, not %s\n", it.line, found, it.field[0]);
            wrong++;
        }
    }
    fclose(it.file);
    assert_int_equal(wrong, 0);
}

/* What a text means besides its tokens. */
static void rules_are_part_of_the_shape(void **state)
{
    (void)state;
    rw_table later = test_tables[0];
    later.epoch++;
    const rw_table *now[] = {&test_tables[0]}, *then[] = {&later};
    const rw_catalog catalogs[] = {{.tables = now, .count = 1},
                                   {.tables = now, .count = 1, .unqualified = test_others},
                                   {.tables = then, .count = 1}};
    pgw_slice text = PGW_LITERAL("UPDATE events SET event = 'x'");
    rw_shape shapes[4];
    for (size_t i = 0; i < 3; i++)
        assert_true(rw_shape_of(lexer_of(text, true), &catalogs[i], &shapes[i]));
    assert_true(rw_shape_of(lexer_of(text, false), &catalogs[0], &shapes[3]));
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(equal(&shapes[i], &shapes[k]));
}

static void without_tables_there_are_shapes(void **state)
{
    (void)state;
    rw_shape one, other;
    const rw_catalog none = {.tables = NULL};
    assert_true(rw_shape_of(lexer_of(PGW_LITERAL("SELECT 1 FROM t"), true), &none, &one));
    assert_true(rw_shape_of(lexer_of(PGW_LITERAL("SELECT 2 FROM t"), true), &none, &other));
    assert_true(equal(&one, &other));
}

static void shapes_are_bounded(void **state)
{
    (void)state;
    char text[2 * RW_SHAPE_MAX] = "UPDATE events SET event = ''";
    rw_shape shape, least;
    assert_true(shape_of(text, &least));
    size_t at = strlen(text) - 1;
    memset(text + at, 'x', sizeof text - at - 2);
    text[sizeof text - 2] = '\'';
    assert_true(shape_of(text, &shape)); /* however long its constants are */
    assert_true(equal(&shape, &least));
    size_t fitting = 0;
    text[at] = '\'';
    for (size_t i = at + 1; i < sizeof text; i++) {
        text[i] = i == at + 1 ? ' ' : '+';
        text[i + 1] = '\0';
        if (i % 63 == 0)
            text[i] = ' ';
        if (!shape_of(text, &shape))
            break;
        assert_true(shape.len <= RW_SHAPE_MAX);
        fitting = shape.len;
    }
    assert_true(fitting > RW_SHAPE_MAX - 3);
}

/* --- all texts of the vectors, each with its mutants --- */

typedef struct corpus {
    char **texts;
    size_t count;
} corpus;

static void add_text(corpus *all, pgw_slice text)
{
    all->texts = pgw_realloc(all->texts, (all->count + 1) * sizeof *all->texts);
    all->texts[all->count++] = pgw_strndup(text.ptr, text.len);
}

static void add_with_mutants(corpus *all, const char *text)
{
    add_text(all, pgw_slice_str(text));
    pgw_buf mutant = {0};
    for (unsigned turn = 0; turn < MUTANTS; turn++) {
        pgw_buf_clear(&mutant);
        add_mutant(pgw_slice_str(text), true, turn, &mutant);
        add_text(all, pgw_slice_buf(&mutant));
    }
    pgw_buf_free(&mutant);
}

static void add_vectors(corpus *all, const char *path, int fields, int from)
{
    vectors it = open_vectors(path);
    while (vectors_next(&it, fields))
        for (int i = from; i < fields; i++) {
            vectors_unescape(it.field[i]);
            add_with_mutants(all, it.field[i]);
        }
    fclose(it.file);
}

/* Lines whose text ends at the last `end`, if it is there. */
static void add_lines(corpus *all, const char *path, const char *end)
{
    test_lines lines = {.file = fopen(path, "r")};
    assert_non_null(lines.file);
    while (test_next_line(&lines)) {
        char *last = NULL;
        for (char *at = lines.fields[0]; end != NULL && (at = strstr(at, end)) != NULL; at++)
            last = at;
        if (last != NULL)
            *last = '\0';
        add_with_mutants(all, lines.fields[0]);
    }
}

static void add_file(corpus *all, const char *path)
{
    char text[65536];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    add_with_mutants(all, text);
}

static corpus all_texts(void)
{
    corpus all = {0};
    add_vectors(&all, VECTORS "/statements.txt", 3, 2);
    add_vectors(&all, VECTORS "/statements_settings.txt", 4, 3);
    add_vectors(&all, VECTORS "/refused.txt", 4, 3);
    add_vectors(&all, VECTORS "/shapes.txt", 3, 1);
    add_lines(&all, VECTORS "/lexer", NULL);
    add_lines(&all, VECTORS "/inserts", NULL);
    add_lines(&all, VECTORS "/merge", NULL);
    add_lines(&all, VECTORS "/insert-spellings", " | ");
    add_file(&all, VECTORS "/explain.sql");
    add_file(&all, VECTORS "/stars.sql");
    add_file(&all, VECTORS "/system_catalog.sql");
    add_file(&all, VECTORS "/insert-spellings.sql");
    return all;
}

static void free_texts(corpus *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->texts[i]);
    free(all->texts);
}

/* A shape, the first text that had it, and what libpg_query says of that. */
typedef struct oracle {
    rw_shape shape;
    char *text;
    rw_tree_answer answer;
    rw_tree_found found;
    char message[512];
    struct oracle *next; /* in its chain */
} oracle;

static void ask(pgw_slice text, oracle *out)
{
    rw_catalog catalog = test_catalog(pointers);
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    out->answer = rw_tree_check(text, &catalog, &test_env, &arena, &out->found, &error);
    /* 42601 may quote a constant; it is not kept in any case */
    if (out->answer == RW_TREE_REFUSED)
        snprintf(out->message, sizeof out->message, "%s", error.message);
    if (out->found.stars != NULL)
        out->found.stars = rw_token_edits_copy(out->found.stars);
    pgw_arena_free(&arena);
}

enum { CHAINS = 4096 };

typedef struct oracles {
    oracle *chains[CHAINS]; /* by the hash of the shape */
    size_t count, alike;
} oracles;

static bool same_stars(const rw_token_edits *a, const rw_token_edits *b)
{
    return a == NULL || b == NULL ? a == b : a->size == b->size && memcmp(a, b, a->size) == 0;
}

/* Compares one statement with every one before it that has its shape. */
static void compare(oracles *before, pgw_slice text)
{
    rw_catalog catalog = test_catalog(pointers);
    oracle *it = pgw_calloc(1, sizeof *it);
    if (!rw_shape_of(lexer_of(text, true), &catalog, &it->shape)) {
        free(it);
        return;
    }
    it->text = pgw_strndup(text.ptr, text.len);
    ask(text, it);
    pgw_slice bytes = {(const char *)it->shape.bytes, it->shape.len};
    oracle **chain = &before->chains[rw_xxh3(bytes) % CHAINS];
    for (const oracle *other = *chain; other != NULL; other = other->next) {
        if (!equal(&other->shape, &it->shape) || it->found.by_value) /* it is not kept */
            continue;
        before->alike++;
        if (other->answer != it->answer || other->found.inserts != it->found.inserts ||
            strcmp(other->message, it->message) != 0 ||
            !same_stars(other->found.stars, it->found.stars))
            fail_msg("one shape, but %d %d %s\n%s\n  and %d %d %s\n%s", other->answer,
                     other->found.inserts, other->message, other->text, it->answer,
                     it->found.inserts, it->message, it->text);
    }
    it->next = *chain;
    *chain = it;
    before->count++;
}

static void check_tokens(rw_lexer known, rw_lexer fresh)
{
    rw_token expected, token;
    do {
        expected = rw_lexer_next(&fresh);
        token = rw_lexer_next(&known);
        assert_int_equal(token.kind, expected.kind);
        assert_int_equal(token.start, expected.start);
        assert_int_equal(token.end, expected.end);
        assert_int_equal(known.at, fresh.at);
    } while (token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD);
}

/* Read again, a statement's tokens are what they are if it stands alone. */
static void check_noted(pgw_slice text)
{
    rw_noted noted = {.count = 0};
    rw_lexer lexer = lexer_of(text, true), known;
    rw_piece piece;
    for (lexer.notes = &noted; rw_split_next(&lexer, &piece); noted.count = 0) {
        pgw_slice part = {text.ptr + piece.start, piece.end - piece.start};
        rw_noted_cut(&noted, piece.start, piece.end);
        assert_true(noted.count == piece.tokens || noted.count >= RW_TOKENS_NOTED / 2 ||
                    piece.marks & RW_MARK_OPAQUE);
        rw_lexer_init_noted(&known, part, true, &noted);
        check_tokens(known, lexer_of(part, true));
    }
}

static void tokens_are_read_once(void **state)
{
    (void)state;
    corpus all = all_texts();
    pgw_buf many = {0};
    for (size_t i = 0; i < all.count; i++)
        check_noted(exact(all.texts[i]));
    free_texts(&all);
    for (int i = 0; i < RW_TOKENS_NOTED; i++) {
        pgw_buf_add_str(&many, i % 100 == 99 ? "x ; ; " : "'it''s' + ");
        check_noted(pgw_slice_buf(&many));
    }
    pgw_buf_free(&many);
}

static void texts_of_one_shape_have_one_answer(void **state)
{
    (void)state;
    corpus all = all_texts();
    oracles found = {0};
    for (size_t i = 0; i < all.count; i++) {
        pgw_slice text = exact(all.texts[i]);
        rw_lexer lexer;
        rw_piece piece;
        rw_lexer_init(&lexer, text, true);
        while (rw_split_next(&lexer, &piece))
            if (rw_tree_can_read(text, &piece))
                compare(&found, (pgw_slice){text.ptr + piece.start, piece.end - piece.start});
    }
    assert_true(found.count > 3000);
    assert_true(found.alike > 3 * found.count);
    for (size_t i = 0; i < CHAINS; i++)
        for (oracle *it = found.chains[i], *next; it != NULL; it = next) {
            next = it->next;
            free((void *)(uintptr_t)it->found.stars);
            free(it->text);
            free(it);
        }
    free_texts(&all);
}

/* --- scripts, with and without a memory --- */

static void describe_error(const pgw_error *error, pgw_buf *out)
{
    pgw_buf_addf(out, " %s %s %s %s %zu", error->sqlstate, error->message, error->detail,
                 error->hint, error->position);
}

static void describe(const char *text, const rw_catalog *catalog, const pgw_env *env,
                     rw_shape_cache *known, pgw_buf *out)
{
    pgw_arena arena = {0};
    rw_script script;
    rw_script_parse(exact(text), catalog, env, known, &arena, &script);
    pgw_buf_clear(out);
    for (size_t i = 0; i < script.count; i++) {
        const rw_statement *it = &script.statements[i];
        pgw_buf_addf(out, "%d %zu-%zu %x %d ", it->kind, it->start, it->end, it->effects,
                     it->setting_simple);
        pgw_buf_add_slice(out, it->name);
        pgw_buf_addf(out, " %.*s ", (int)it->setting.len, it->setting.ptr);
        pgw_buf_add_slice(out, it->setting_value);
        if (it->error != NULL)
            describe_error(it->error, out);
        if (it->insert != NULL)
            pgw_buf_addf(out, " %zu %d %zu", it->insert->row_count, it->insert->blocker,
                         it->insert->tail);
        pgw_buf_add_byte(out, '\n');
    }
    pgw_arena_free(&arena);
}

/* One memory for all rules that texts are read by, which take turns; it has met other texts of the
 * shape before. */
static void check_memory(const corpus *all, rw_shape_cache *known)
{
    rw_catalog usual = test_catalog(pointers), moved = usual;
    moved.unqualified = test_others;
    pgw_env backslashes = test_env;
    backslashes.conforming = false;
    const rw_catalog *const catalogs[] = {&usual, &moved, &usual};
    const pgw_env *const envs[] = {&test_env, &test_env, &backslashes};
    pgw_buf fresh = {0}, remembered = {0};
    for (size_t i = 0; i < all->count; i++) {
        describe(all->texts[i], catalogs[i % 3], envs[i % 3], NULL, &fresh);
        describe(all->texts[i], catalogs[i % 3], envs[i % 3], known, &remembered);
        if (!pgw_slice_eq(pgw_slice_buf(&fresh), pgw_slice_buf(&remembered)))
            fail_msg("%s\n  is\n%.*s  but remembered\n%.*s", all->texts[i], (int)fresh.len,
                     fresh.ptr, (int)remembered.len, remembered.ptr);
    }
    pgw_buf_free(&fresh);
    pgw_buf_free(&remembered);
}

static void a_memory_changes_nothing(void **state)
{
    (void)state;
    corpus all = all_texts();
    rw_shape_cache known = {0};
    check_memory(&all, &known);
    size_t shapes = known.count;
    assert_true(shapes > 50);
    check_memory(&all, &known); /* the first is met again with what the last has left */
    assert_int_equal(known.count, shapes);
    rw_shape_cache_clear(&known);
    free_texts(&all);
}

static rw_statement_kind kind_of(const char *text, const rw_table *table, rw_shape_cache *known)
{
    rw_catalog catalog = {.tables = &table, .count = 1};
    pgw_arena arena = {0};
    rw_script script;
    rw_script_parse(exact(text), &catalog, &test_env, known, &arena, &script);
    rw_statement_kind kind = script.statements[0].kind;
    pgw_arena_free(&arena);
    return kind;
}

/* That libpg_query is not asked again can be seen when the table changes behind its back. */
static void what_is_known_is_not_asked_again(void **state)
{
    (void)state;
    static size_t event[] = {2};
    rw_table changed = test_tables[0];
    changed.hash_key = event;
    changed.heeds_updates = true;
    rw_shape_cache known = {0};
    assert_int_equal(kind_of("UPDATE events SET event = 'a'", &test_tables[0], &known),
                     RW_STATEMENT_FORWARD);
    assert_int_equal(kind_of("UPDATE events SET event = 'b'", &changed, NULL),
                     RW_STATEMENT_REFUSED);
    assert_int_equal(kind_of("UPDATE events SET event = 'b'", &changed, &known),
                     RW_STATEMENT_FORWARD);
    changed.epoch++;
    assert_int_equal(kind_of("UPDATE events SET event = 'b'", &changed, &known),
                     RW_STATEMENT_REFUSED);
    rw_shape_cache_clear(&known);
}

static void only_the_harmless_is_remembered(void **state)
{
    (void)state;
    static const char *const texts[] = {"UPDATE events SET userid = 1",
                                        "UPDATE events SET userid =",
                                        ("MERGE INTO events USING x ON true WHEN NOT MATCHED THEN "
                                         "INSERT VALUES (1)"), /* one text */
                                        "INSERT INTO events (userid, ts) VALUES (1, now())",
                                        "INSERT INTO x SELECT 1 FROM events ON CONFLICT DO UPDATE",
                                        "EXPLAIN ANALYZE UPDATE events SET event = 'a'"};
    rw_shape_cache known = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        kind_of(texts[i], &test_tables[0], &known);
    assert_int_equal(known.count, 0);
    rw_shape_cache_clear(&known);
}

/* --- the bound --- */

static void make_shape(unsigned number, rw_shape *out)
{
    char text[64];
    snprintf(text, sizeof text, "UPDATE t%u SET a = 1", number);
    assert_true(shape_of(text, out));
}

static void what_was_not_met_for_longest_is_forgotten(void **state)
{
    (void)state;
    rw_shape_cache known = {0};
    rw_shape shape;
    rw_shape_said said;
    for (unsigned i = 0; i < RW_SHAPE_CACHE_MAX; i++) {
        make_shape(i, &shape);
        assert_false(rw_shape_cache_find(&known, &shape, &said));
        rw_shape_cache_add(&known, &shape, (rw_shape_said){.inserts = i % 2});
    }
    make_shape(0, &shape);
    assert_true(rw_shape_cache_find(&known, &shape, &said));
    assert_false(said.inserts);
    make_shape(RW_SHAPE_CACHE_MAX, &shape);
    rw_shape_cache_add(&known, &shape, (rw_shape_said){.inserts = true});
    assert_int_equal(known.count, RW_SHAPE_CACHE_MAX);
    for (unsigned i = 0; i <= RW_SHAPE_CACHE_MAX; i++) {
        make_shape(i, &shape);
        assert_int_equal(rw_shape_cache_find(&known, &shape, &said), i != 1);
        assert_true(i == 1 || said.inserts == (i % 2 || i == RW_SHAPE_CACHE_MAX));
    }
    rw_shape_cache_clear(&known);
    assert_int_equal(known.count, 0);
}

static void what_is_known_has_so_many_bytes_at_most(void **state)
{
    (void)state;
    enum { LARGE = RW_SHAPE_CACHE_BYTES / 4 };
    rw_shape_cache known = {0};
    rw_shape shape;
    rw_shape_said said;
    rw_token_edits *stars = calloc(1, LARGE);
    stars->size = LARGE;
    for (unsigned i = 0; i < 6; i++) {
        make_shape(i, &shape);
        rw_shape_cache_add(&known, &shape, (rw_shape_said){.stars = stars});
        assert_true(known.bytes <= RW_SHAPE_CACHE_BYTES);
        assert_true(rw_shape_cache_find(&known, &shape, &said));
    }
    assert_int_equal(known.count, 3);
    rw_shape_cache_clear(&known);
    assert_int_equal(known.bytes, 0);
    rw_shape_cache_add(&known, &shape, (rw_shape_said){.inserts = true});
    assert_true(rw_shape_cache_find(&known, &shape, &said)); /* as it was at first */
    rw_shape_cache_clear(&known);
    free(stars);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_shapes),
        cmocka_unit_test(rules_are_part_of_the_shape),
        cmocka_unit_test(without_tables_there_are_shapes),
        cmocka_unit_test(shapes_are_bounded),
        cmocka_unit_test(tokens_are_read_once),
        cmocka_unit_test(texts_of_one_shape_have_one_answer),
        cmocka_unit_test(a_memory_changes_nothing),
        cmocka_unit_test(what_is_known_is_not_asked_again),
        cmocka_unit_test(only_the_harmless_is_remembered),
        cmocka_unit_test(what_was_not_met_for_longest_is_forgotten),
        cmocka_unit_test(what_is_known_has_so_many_bytes_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
