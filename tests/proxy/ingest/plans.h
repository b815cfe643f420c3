/*
 * plans: plans of INSERTs into the tables of tests/rewrite/tables.h, and Binds to them.
 */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H

#include "proxy/ingest/bind.h"
#include "rewrite/insert/parse.h"
#include "tests/rewrite/tables.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static struct {
    px_catalog catalog; /* whose references show what was not given back */
    px_identity *identity;
    const rw_table *pointers[TEST_TABLE_COUNT];
    cfg_table configs[TEST_TABLE_COUNT];
    const cfg_table *config_pointers[TEST_TABLE_COUNT];
} plans;

static inline int plans_setup(void **state)
{
    (void)state;
    test_catalog(plans.pointers);
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++)
        plans.config_pointers[i] = &plans.configs[i];
    plans.catalog = (px_catalog){.references = 1,
                                 .epoch = 1,
                                 .tables = (rw_table **)plans.pointers,
                                 .configs = plans.config_pointers,
                                 .count = TEST_TABLE_COUNT};
    const px_identity from = {
        .user = (char *)"u", .database = (char *)"d", .options = (char *)"", .env = test_env};
    plans.identity = px_identity_of(&from);
    return 0;
}

/* -1 if something was not given back. */
static inline int plans_teardown(void **state)
{
    (void)state;
    bool clean = plans.catalog.references == 1 && plans.identity->references == 1;
    px_identity_drop(plans.identity);
    return clean ? 0 : -1;
}

/* NULL and the error if there is none. The text is copied. */
static inline px_plan *plan_of(const char *text, const uint32_t *declared, size_t count,
                               pgw_error *error)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    pgw_arena arena = {0};
    rw_insert *insert = NULL;
    pgw_slice copy = pgw_arena_copy(&arena, pgw_slice_str(text));
    *error = PGW_ERROR_NONE;
    if (!rw_insert_parse(copy, &catalog, &test_env, &arena, &insert, error) || insert == NULL) {
        pgw_arena_free(&arena);
        return NULL;
    }
    return px_plan_new(arena, insert, &plans.catalog, plans.identity, (px_declared){declared, count},
                       error);
}

static inline bool bind_keys(px_worker *worker, const px_plan *plan, const pgw_bind *bind,
                             const pgw_env *env, pgw_arena *arena, px_bound *bound,
                             pgw_error *error)
{
    bool good = px_bind_keys(worker, plan, bind, env, arena, bound);
    if (!good)
        *error = bound->error;
    return good;
}

/* A Bind of texts (NULL: NULL); `values` is its memory. */
static inline pgw_bind bind_of(const char *const *texts, size_t count, pgw_buf *values)
{
    pgw_buf_clear(values);
    for (size_t i = 0; i < count; i++) {
        size_t len = texts[i] != NULL ? strlen(texts[i]) : 0;
        uint32_t length = texts[i] != NULL ? htonl((uint32_t)len) : UINT32_MAX;
        pgw_buf_add(values, &length, sizeof length);
        pgw_buf_add(values, texts[i], len);
    }
    return (pgw_bind){
        .statement = PGW_LITERAL("s"), .values = pgw_slice_buf(values), .value_count = count};
}

#endif
