/* INSERTs with a word left out, or twice: how they are read, rendered, merged, lifted and hashed,
 * and where errors in them are told to stand; before tables of the file and of a server. */
#include "rewrite/insert/row_width.h"
#include "rewrite/insert/spell.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "any_tables.h"
#include "insert_holds.h"
#include "lines.h"

enum { MOST_COLUMNS = 4, MOST_ROWS = 8, STEP = 83 /* bytes between positions */, ROUNDS = 16 };

static const rw_table *pointers[TEST_TABLE_COUNT], *asked_pointers[TEST_TABLE_COUNT];
static rw_table asked[TEST_TABLE_COUNT];
static rw_column columns[TEST_TABLE_COUNT][MOST_COLUMNS];
static rw_catalog catalogs[2];
static any_tables any[ROUNDS];
static const pgw_env *env = &test_env;

/* The same tables, as a server knows them, with defaults that can be asked for. */
static void set_up(void)
{
    catalogs[0] = catalogs[1] = test_catalog(pointers);
    catalogs[1].tables = asked_pointers;
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        asked[i] = test_tables[i];
        asked[i].oid = 4711;
        asked[i].columns = columns[i];
        for (size_t c = 0; c < asked[i].column_count; c++) {
            columns[i][c] = test_tables[i].columns[c];
            columns[i][c].attnum = (int16_t)(c + 1);
            columns[i][c].type_name = (char *)"bigint";
            columns[i][c].default_text = columns[i][c].has_default ? (char *)"d()" : NULL;
            columns[i][c].own_casts = i % 3 == 0 ? RW_OWN_CASTS_ELSEWHERE : RW_NO_OWN_CASTS;
            columns[i][c].own_names = i % 4 == 1;
        }
        asked[i].key_name = (char *)"its_pkey";
        asked_pointers[i] = &asked[i];
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        any_tables_make(&any[round], round);
}

static void add_error(const pgw_error *error, pgw_buf *out)
{
    pgw_buf_addf(out, "!%s %zu %s|%s|%s\n", error->sqlstate, error->position, error->message,
                 error->detail, error->hint);
}

static void add_flags(const rw_insert *it, pgw_buf *out)
{
    const bool flags[] = {it->hash_listed,   it->list_made,         it->shows,
                          it->query,         it->heeds_settings,    it->reads_constants,
                          it->reads_names,   it->has_conflict,      it->values_merge,
                          it->key_constant,  it->infers_all,        it->heeds_types,
                          it->utf8,          it->infers != NULL,    rw_guard_wanted(it),
                          it->lifts != NULL, rw_insert_may_fail(it)};
    for (size_t i = 0; i < sizeof flags; i++)
        pgw_buf_add_byte(out, flags[i] ? 'y' : 'n');
    const size_t numbers[] = {it->verb,
                              it->row_count,
                              it->blocker,
                              it->wanted_count,
                              it->lift_count,
                              it->spelled_count,
                              it->appended_count,
                              it->list_end,
                              it->overriding,
                              it->overriding_end,
                              it->default_values,
                              it->default_values_end,
                              it->returning,
                              it->tail,
                              it->values,
                              it->end,
                              rw_render_added(it),
                              rw_insert_row_width(it, env)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pgw_buf_addf(out, " %zu", numbers[i]);
    for (size_t i = 0; i < it->param_count; i++)
        pgw_buf_addf(out, " $%u", it->inferred[i]);
}

static void add_keys(rw_insert *insert, pgw_arena *arena, const uint64_t *hashes, pgw_buf *out)
{
    pgw_error error = PGW_ERROR_NONE;
    pgw_reading reading = {env, arena, &error};
    rw_key *keys = pgw_arena_alloc(arena, (insert->row_count + 1) * sizeof *keys);
    for (size_t row = 0; row < insert->row_count; row++) {
        pgw_verdict verdict = rw_insert_key(insert, row, RW_NO_PARAMS, &reading, &keys[row]);
        pgw_buf_addf(out, "key %d ", verdict);
        if (verdict == PGW_KNOWN)
            pgw_buf_addf(out, "%llx %u %d", (unsigned long long)keys[row].hash, keys[row].partition,
                         keys[row].all_known);
        else
            add_error(&error, out);
        if (verdict != PGW_KNOWN)
            return;
    }
    pgw_buf_addf(out, " %zu ", rw_insert_supersede(insert, keys, arena));
    rw_spell_keys(insert, keys, env, arena);
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, out);
}

static void add_positions(const rw_insert *insert, const uint64_t *hashes, size_t len, pgw_buf *out)
{
    for (size_t at = 1; at <= len + 1; at += STEP)
        pgw_buf_addf(out, " %zu", rw_render_position(insert, RW_HASH_CONSTANT, hashes, at));
}

static void add_parts(const rw_insert *insert, pgw_buf *out)
{
    rw_render_head(insert, out);
    for (size_t row = 0; row < insert->row_count; row++)
        rw_render_row(insert, row, 7 + row, row == 0, out);
    rw_render_tail(insert, out);
    rw_guard_conditions(insert, out);
    if (insert->lifts != NULL)
        rw_lift_text(insert, out);
}

static void add_question(const rw_insert *insert, pgw_arena *arena, pgw_buf *out)
{
    rw_question question;
    rw_filled filled;
    rw_question_of(insert, false, arena, &question);
    pgw_buf_add_slice(out, question.sql);
    rw_fill_parameters(insert, insert->param_count + 1, arena, &filled);
    pgw_buf_add_slice(out, filled.text);
}

static void add_insert(rw_insert *insert, pgw_arena *arena, pgw_buf *out)
{
    uint64_t hashes[MOST_ROWS] = {7, UINT64_MAX, 9, 10, 11, 12, 13, 14};
    add_flags(insert, out);
    if (insert->wanted_count > 0) {
        add_question(insert, arena, out);
        return;
    }
    if (insert->row_count > MOST_ROWS)
        return;
    size_t begun = out->len;
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, out);
    add_positions(insert, hashes, out->len - begun, out);
    rw_render_statement(insert, RW_HASH_PARAMETER, NULL, out);
    if (!insert->query)
        add_parts(insert, out);
    add_keys(insert, arena, hashes, out);
}

static void judge_before(const rw_catalog *catalog, pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_insert *insert = NULL;
    if (!rw_insert_parse(text, catalog, env, &arena, &insert, &error)) {
        holds_of_refusal(&error, text, env->utf8);
        add_error(&error, out);
    } else if (insert == NULL) {
        holds_of_passed(text, catalog, env);
        pgw_buf_add_str(out, "pass\n");
    } else {
        holds_of_insert(insert, catalog, env, &arena);
        add_insert(insert, &arena, out);
    }
    pgw_arena_free(&arena);
}

/* Before tables of the file, or of a server. */
static void judge(pgw_slice text, pgw_buf *out)
{
    env = &test_env;
    judge_before(&catalogs[word_deleted_count % 3 == 0], text, out);
}

/* Before tables of which anything may be true: the next ones each time. */
static void judge_any(pgw_slice text, pgw_buf *out)
{
    const any_tables *tables = &any[word_deleted_count % ROUNDS];
    env = &tables->env;
    judge_before(&tables->catalog, text, out);
}

static void judge_lines(size_t first, size_t every, word_deleted_judge *each)
{
    test_lines lines = {.file = fopen(VECTORS "/inserts", "r")};
    assert_non_null(lines.file);
    while (test_next_line(&lines))
        if (strchr(lines.fields[0], ';') == NULL) /* a statement alone is read */
            word_deleted_some(pgw_slice_str(lines.fields[0]), first, every, each);
}

static void every_text_holds(void **state)
{
    (void)state;
    set_up();
    judge_lines(0, 3, judge);
    judge_lines(1, 4, judge_any);
    assert_in_range(word_deleted_count, 5000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
