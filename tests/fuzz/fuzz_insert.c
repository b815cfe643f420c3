/* Any statement: parsed, its keys taken, rendered, parsed again; positions stay inside. */
#include "protocol/frontend.h"
#include "rewrite/insert/answers.h"
#include "rewrite/insert/insert.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/lift.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"
#include "tests/rewrite/tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ROWS = 64 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* The keys of the rows; false if one of them is refused. */
static bool take_keys(const rw_insert *insert, pgw_arena *arena, rw_key *keys, uint64_t *hashes)
{
    static const rw_param bound[] = {{PGW_INT8, true, false, {"\0\0\0\0\0\0\0\5", 8}},
                                     {PGW_TEXT, false, false, {"a", 1}}};
    for (size_t i = 0; i < insert->row_count; i++) {
        pgw_error error = PGW_ERROR_NONE;
        pgw_reading reading = {&test_env, arena, &error};
        if (rw_insert_key(insert, i, (rw_params){bound, 2}, &reading, &keys[i]) != PGW_KNOWN) {
            require(error.sqlstate[0] != '\0');
            return false;
        }
        hashes[i] = keys[i].hash;
    }
    return true;
}

/* What was put in must be taken as it is: the statement lists the hash, and it is right. */
static void check_again(const rw_insert *insert, const rw_catalog *catalog, const pgw_buf *rendered,
                        pgw_arena *arena)
{
    rw_insert *again;
    pgw_error error;
    rw_key keys[MOST_ROWS];
    uint64_t hashes[MOST_ROWS];
    if (insert->verb != RW_VERB_INSERT)
        return;
    require(rw_insert_parse(pgw_slice_buf(rendered), catalog, &test_env, arena, &again, &error));
    require(again != NULL && again->row_count == insert->row_count && again->hash_listed);
    require(take_keys(again, arena, keys, hashes));
    pgw_buf twice = {0};
    rw_render_statement(again, RW_HASH_CONSTANT, hashes, &twice);
    require(pgw_slice_eq(pgw_slice_buf(rendered), pgw_slice_buf(&twice)));
    pgw_buf_free(&twice);
}

/* With parameters for what is asked for it is as much an INSERT, that asks for nothing. */
static void check_filled(const rw_insert *insert, const rw_catalog *catalog, pgw_arena *arena)
{
    rw_filled filled;
    rw_question question;
    rw_insert *again;
    pgw_error error;
    rw_question_of(insert, false, arena, &question);
    rw_fill_parameters(insert, insert->param_count + 1, arena, &filled);
    if (insert->param_count + insert->wanted_count > PGW_MAX_PARAMETERS)
        return;
    require(rw_insert_parse(filled.text, catalog, &test_env, arena, &again, &error));
    require(again != NULL && again->wanted_count == 0);
    for (size_t at = 0; at <= filled.text.len; at += 1 + at / 16)
        require(rw_filled_offset(&filled, at) <= insert->text.len);
}

/* With parameters for its constants it is the same INSERT, or one that is not to be prepared. */
static void check_lifted(const rw_insert *insert, const rw_catalog *catalog, pgw_arena *arena)
{
    rw_insert *again;
    pgw_error error;
    pgw_buf text = {0};
    if (insert->lifts == NULL)
        return;
    rw_lift_text(insert, &text);
    if (rw_insert_parse(pgw_slice_buf(&text), catalog, &test_env, arena, &again, &error)) {
        require(again != NULL && again->row_count == 1 && again->wanted_count == 0);
        require(again->param_count == insert->lift_count && again->blocker == insert->blocker);
    }
    pgw_buf_free(&text);
}

static void check_insert(rw_insert *insert, const rw_catalog *catalog, pgw_arena *arena)
{
    rw_key keys[MOST_ROWS];
    uint64_t hashes[MOST_ROWS];
    pgw_buf out = {0};
    if (insert->wanted_count > 0) {
        check_filled(insert, catalog, arena);
        return;
    }
    if (insert->row_count == 0) { /* forwarded: at most a column list is put in */
        rw_render_statement(insert, RW_HASH_CONSTANT, NULL, &out);
        require(out.len >= insert->text.len);
    } else if (insert->row_count <= MOST_ROWS && take_keys(insert, arena, keys, hashes)) {
        rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &out);
        require(out.len >= insert->text.len || insert->blocker == RW_BLOCKER_RETURNING ||
                insert->verb == RW_VERB_REPLACE || insert->hash_listed);
        check_again(insert, catalog, &out, arena);
        check_lifted(insert, catalog, arena);
        size_t last = 0;
        for (size_t position = 1; position <= out.len + 2 && out.len < 2000; position += 7) {
            size_t back = rw_render_position(insert, RW_HASH_CONSTANT, hashes, position);
            require(back >= last && back <= insert->text.len + 1);
            last = back;
        }
        rw_insert_supersede(insert, keys, arena);
        pgw_buf_clear(&out);
        rw_render_statement(insert, RW_HASH_PARAMETER, NULL, &out);
    }
    pgw_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_insert *insert = NULL;
    pgw_slice text = {(const char *)data, size};
    if (!rw_insert_parse(text, &catalog, &test_env, &arena, &insert, &error))
        require(error.sqlstate[0] != '\0');
    else if (insert != NULL)
        check_insert(insert, &catalog, &arena);
    pgw_arena_free(&arena);
    return 0;
}
