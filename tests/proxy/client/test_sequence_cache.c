/* Numbers of a sequence that were drawn ahead: each goes to one session, once, and those that came
 * before somebody asked do not go to who asked later than they were drawn for others. */
#include "proxy/client/numbers/sequence_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/backend/base/databases.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/base/shared.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/numbers/sequence_session.h"

enum { SEQUENCE = 77, FILE_ID = 16500 };

static struct {
    px_server server;
    px_worker worker;
    cfg_config config;
    px_identity *identity;
    px_session *sessions[3];
    px_sequence_cache *reserve;
} here;

static const px_tenant *const tenants[] = {&px_catalogs_tenant, NULL};

static void pass(uint64_t ms)
{
    here.worker.loop.time += ms;
}

static int setup(void **state)
{
    (void)state;
    const px_identity from = {
        .user = (char *)"u", .database = (char *)"d", .options = (char *)"", .env = {.utf8 = true}};
    memset(&here, 0, sizeof here);
    here.identity = px_identity_of(&from);
    here.server = (px_server){.workers = &here.worker,
                              .worker_count = 1,
                              .config = &here.config,
                              .databases = px_databases_new(),
                              .metrics = px_metrics_new(NULL)};
    px_worker_init(&here.worker, &here.server, 0, tenants);
    here.config.backend.dsn = (char *)"host=h";
    here.worker.config = &here.config;
    here.worker.catalogs = px_catalogs_new(&here.worker);
    here.worker.loop.time = 1000000;
    for (size_t i = 0; i < 3; i++) {
        here.sessions[i] = calloc(1, sizeof *here.sessions[i]);
        assert_non_null(here.sessions[i]);
        here.sessions[i]->worker = &here.worker;
        px_sessions_enter(here.sessions[i]);
    }
    here.reserve = px_sequence_cache_of(&here.worker, here.identity, SEQUENCE);
    return 0;
}

static void close_handle(uv_handle_t *handle, void *nothing)
{
    (void)nothing;
    uv_close(handle, NULL);
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        px_sessions_leave(here.sessions[i]);
        free(here.sessions[i]->known.drawn);
        free(here.sessions[i]);
    }
    px_sessions_free(&here.worker);
    px_reserves_free(&here.worker);
    assert_int_equal(here.identity->references, 1);
    px_identity_drop(here.identity);
    px_catalogs_tenant.end(&here.worker);
    uv_walk(&here.worker.loop, close_handle, NULL);
    uv_run(&here.worker.loop, UV_RUN_DEFAULT);
    px_metrics_free(here.worker.metrics);
    px_worker_free(&here.worker);
    px_databases_free(here.server.databases);
    px_metrics_free(here.server.metrics);
    return 0;
}

/* The database's sequence, of the file of that number, gave this one to the first session's link.
 */
static void row_of(unsigned file, long long number)
{
    char cells[3][24];
    pgw_buf body = {0};
    snprintf(cells[0], sizeof cells[0], "0");
    snprintf(cells[1], sizeof cells[1], "%u", file);
    snprintf(cells[2], sizeof cells[2], "%lld", number);
    pgw_buf_add_i16(&body, 3);
    for (size_t i = 0; i < 3; i++) {
        pgw_buf_add_i32(&body, (int32_t)strlen(cells[i]));
        pgw_buf_add_str(&body, cells[i]);
    }
    px_sequence_cache_row(here.sessions[0], here.reserve, pgw_slice_buf(&body));
    pgw_buf_free(&body);
}

static void rows(long long from, long long to)
{
    for (long long number = from; number <= to; number++)
        row_of(FILE_ID, number);
}

/* A block of the numbers from … to, asked for and answered. */
static void block(long long from, long long to)
{
    px_sequence_cache_begin(&here.worker, here.reserve, (size_t)(to - from + 1), false);
    rows(from, to);
    px_sequence_cache_end(&here.worker, here.reserve, true);
}

static void takes(long long from, long long to)
{
    for (long long number = from; number <= to; number++)
        assert_int_equal(px_sequence_cache_take(here.reserve), number);
}

static void await(size_t session, size_t count)
{
    here.sessions[session]->hand.awaits.reserve = here.reserve;
    here.sessions[session]->hand.awaits.count = count;
    here.sessions[session]->hand.awaits.since = px_sequence_cache_blocks();
}

static void there_is_one_of_each(void **state)
{
    (void)state;
    const px_identity from = {
        .user = (char *)"v", .database = (char *)"d", .options = (char *)"", .env = {.utf8 = true}};
    px_identity *other = px_identity_of(&from);
    assert_ptr_equal(px_sequence_cache_of(&here.worker, here.identity, SEQUENCE), here.reserve);
    assert_ptr_equal(px_sequence_cache_found(&here.worker, here.identity, SEQUENCE), here.reserve);
    assert_ptr_not_equal(px_sequence_cache_of(&here.worker, here.identity, SEQUENCE + 1),
                         here.reserve);
    assert_ptr_not_equal(px_sequence_cache_of(&here.worker, other, SEQUENCE), here.reserve);
    assert_int_equal(other->references, 2);
    px_identity_drop(other);
}

static void they_are_given_in_their_order(void **state)
{
    (void)state;
    block(1, 300); /* more than room was made for at first */
    assert_int_equal(here.reserve->count, 300);
    takes(1, 150);
    block(301, 500);
    takes(151, 420);
    block(501, 900);
    takes(421, 900);
    assert_int_equal(here.reserve->count, 0);
}

static void negative_numbers_are_numbers(void **state)
{
    (void)state;
    row_of(FILE_ID, INT64_MIN);
    row_of(FILE_ID, INT64_MAX);
    assert_true(px_sequence_cache_take(here.reserve) == INT64_MIN);
    assert_true(px_sequence_cache_take(here.reserve) == INT64_MAX);
}

/* What came of a sequence that was made anew since is no number of it any more. */
static void another_file_begins_anew(void **state)
{
    (void)state;
    block(1, 5);
    px_sequence_cache_keep(here.reserve, 4);
    row_of(FILE_ID + 1, 1);
    assert_int_equal(here.reserve->count, 1);
    assert_int_equal(here.reserve->rest_count, 0);
    assert_int_equal(px_sequence_cache_take(here.reserve), 1);
}

static void rows_of_another_form_are_none(void **state)
{
    (void)state;
    px_sequence_cache_row(here.sessions[0], here.reserve,
                          PGW_LITERAL("\0\2\0\0\0\1"
                                      "1\0\0\0\1"
                                      "1"));
    px_sequence_cache_row(here.sessions[0], here.reserve,
                          PGW_LITERAL("\0\3\0\0\0\1"
                                      "1\0\0\0\1"
                                      "1\377\377\377\377"));
    px_sequence_cache_row(here.sessions[0], here.reserve,
                          PGW_LITERAL("\0\3\0\0\0\1"
                                      "1\377\377\377\377\0\0\0\1"
                                      "1"));
    assert_int_equal(here.reserve->count, 0);
    assert_false(here.reserve->came);
}

/* Somebody may be told of other numbers by now. */
static void unused_ones_are_nobody_s_after_a_while(void **state)
{
    (void)state;
    block(1, 5);
    takes(1, 1);
    pass(500);
    assert_ptr_equal(px_sequence_cache_of(&here.worker, here.identity, SEQUENCE), here.reserve);
    assert_int_equal(here.reserve->count, 4);
    pass(501);
    px_sequence_cache_found(&here.worker, here.identity, SEQUENCE);
    assert_int_equal(here.reserve->count, 4);
    px_sequence_cache_of(&here.worker, here.identity, SEQUENCE);
    assert_int_equal(here.reserve->count, 0);
    assert_int_equal(here.reserve->rest_count, 4);
}

/* A reserve that nobody used for long goes when another is asked for, unless it is in use. */
static void what_is_not_used_is_forgotten(void **state)
{
    (void)state;
    here.reserve->held = 1;
    pass(5 * 60 * 1000);
    px_sequence_cache *other = px_sequence_cache_of(&here.worker, here.identity, 1);
    assert_ptr_equal(other->next, here.reserve);
    here.reserve->held = 0;
    px_sequence_cache_begin(&here.worker, here.reserve, 1, false);
    assert_ptr_equal(px_sequence_cache_of(&here.worker, here.identity, 2)->next, other);
    assert_ptr_equal(other->next, here.reserve);
    px_sequence_cache_end(&here.worker, here.reserve, false);
    px_sequence_cache_of(&here.worker, here.identity, 3);
    assert_null(other->next);
    pass(5 * 60 * 1000 - 1);
    px_sequence_cache_of(&here.worker, here.identity, 4);
    assert_int_equal(here.identity->references, 1 + 4);
}

/* ALTER SEQUENCE, setval() and their like: what was drawn before may come again. */
static void a_reset_empties_it(void **state)
{
    (void)state;
    px_catalog_last(&here.worker, here.identity);
    block(1, 5);
    px_sequence_cache_keep(here.reserve, 4);
    px_sequence_cache_begin(&here.worker, here.reserve, 2, false);
    rows(6, 6);
    here.reserve->not_before = 1;
    px_catalog_reset(&here.worker, "d");
    px_sequence_cache_of(&here.worker, here.identity, SEQUENCE);
    assert_int_equal(here.reserve->count, 0);
    assert_int_equal(here.reserve->rest_count, 0);
    assert_int_equal(here.reserve->not_before, 0);
    rows(7, 7); /* drawn before, for all that is known */
    assert_int_equal(here.reserve->count, 0);
    px_sequence_cache_end(&here.worker, here.reserve, true);
    assert_false(px_sequence_cache_is_sure(&here.worker, here.reserve) &&
                 here.reserve->spoiled == false);
    block(1, 2);
    takes(1, 2);
    px_catalog_reset(&here.worker, "d");
    px_sequence_cache_of(&here.worker, here.identity, SEQUENCE);
    assert_false(here.reserve->spoiled);
}

/* Twice as many each time, as long as they are used up at once. */
static void blocks_grow_while_they_are_used(void **state)
{
    (void)state;
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 0);
    px_sequence_cache_begin(&here.worker, here.reserve, 0, false);
    assert_false(here.reserve->asking);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 1);
    pass(500);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 1);
    block(1, 10);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 21);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 21, 0), 21);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 20, 0), 20);
    px_sequence_cache_begin(&here.worker, here.reserve, 10, false);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 0);
    px_sequence_cache_end(&here.worker, here.reserve, false);
    pass(501);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 0);
}

/* Where none came, none is asked for: until it may be otherwise. */
static void a_block_in_vain_is_not_asked_for_again_soon(void **state)
{
    (void)state;
    px_sequence_cache_begin(&here.worker, here.reserve, 10, true);
    px_sequence_cache_end(&here.worker, here.reserve, false); /* The session has lost its link. */
    assert_int_equal(here.reserve->not_before, 0);
    px_sequence_cache_begin(&here.worker, here.reserve, 0, true);
    assert_true(here.reserve->asking);
    px_sequence_cache_end(&here.worker, here.reserve, true); /* none was asked for */
    assert_int_equal(here.reserve->not_before, 0);
    px_sequence_cache_begin(&here.worker, here.reserve, 10, true);
    px_sequence_cache_end(&here.worker, here.reserve, true);
    await(1, 3);
    pass(9999);
    here.reserve->asked_at = px_worker_now(&here.worker);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 0);
    assert_int_equal(px_sequence_cache_awaited(&here.worker, here.reserve), 0);
    pass(1);
    assert_int_equal(px_sequence_cache_size(&here.worker, here.reserve, 100, 0), 21);
    assert_int_equal(px_sequence_cache_awaited(&here.worker, here.reserve), 3);
}

/* Stored code is looked at by the question of a block, unless one did so just before. */
static void stored_code_is_looked_at_now_and_then(void **state)
{
    (void)state;
    assert_false(px_sequence_cache_is_sure(&here.worker, here.reserve));
    px_sequence_cache_begin(&here.worker, here.reserve, 2, false);
    assert_true(here.reserve->looks);
    pass(100);
    rows(1, 2);
    px_sequence_cache_end(&here.worker, here.reserve, true);
    pass(399);
    assert_true(px_sequence_cache_is_sure(&here.worker, here.reserve));
    px_sequence_cache_begin(&here.worker, here.reserve, 2, false);
    assert_false(here.reserve->looks);
    rows(3, 4);
    px_sequence_cache_end(&here.worker, here.reserve, true);
    pass(1);
    assert_false(px_sequence_cache_is_sure(
        &here.worker, here.reserve)); /* Nothing says that it has looked, too. */
    px_sequence_cache_begin(&here.worker, here.reserve, 2, false);
    px_sequence_cache_end(&here.worker, here.reserve, true); /* nothing came */
    assert_false(px_sequence_cache_is_sure(&here.worker, here.reserve));
}

/* What is here is for those who waited before it was asked for; the others need a block of their
 * own. */
static void who_waits_is_counted(void **state)
{
    (void)state;
    await(0, 2);
    await(1, 3);
    assert_int_equal(px_sequence_cache_awaited(&here.worker, here.reserve), 5);
    block(1, 10);
    await(2, 4); /* behind it */
    assert_int_equal(px_sequence_cache_awaited(&here.worker, here.reserve), 4);
    assert_int_equal(here.reserve->count, 5); /* all others are nobody's */
    here.sessions[0]->hand.awaits.reserve = NULL;
    assert_int_equal(px_sequence_cache_awaited(&here.worker, here.reserve), 4);
    assert_int_equal(here.reserve->count, 3);
    await(1, 999);
    assert_int_equal(px_sequence_cache_awaited(&here.worker, here.reserve), 1000);
    assert_int_equal(here.reserve->count, 0);
}

/* While some of the block before are here, so is who waited for that. */
static void the_oldest_block_says_for_whom(void **state)
{
    (void)state;
    await(0, 2);
    block(1, 4);
    uint64_t first = px_sequence_cache_blocks();
    assert_int_equal(here.reserve->since, first);
    takes(1, 2);
    await(1, 2);
    block(5, 8);
    assert_int_equal(px_sequence_cache_blocks(), first + 1);
    assert_int_equal(here.reserve->since, first);
    takes(3, 3);
    assert_int_equal(here.reserve->since, first);
    takes(4, 4);
    assert_int_equal(here.reserve->since, first + 1);
    takes(5, 8);
    block(9, 9);
    assert_int_equal(here.reserve->since, first + 2);
}

/* One that was made anew has numbers of the last block alone. */
static void a_new_file_s_numbers_are_of_the_last_block(void **state)
{
    (void)state;
    block(1, 4);
    takes(1, 1);
    px_sequence_cache_begin(&here.worker, here.reserve, 4, false);
    uint64_t last = px_sequence_cache_blocks();
    row_of(FILE_ID + 1, 1);
    px_sequence_cache_end(&here.worker, here.reserve, true);
    px_sequence_cache_begin(&here.worker, here.reserve, 4, false);
    assert_int_equal(here.reserve->since, last);
}

/* At the end of the sequence those go to who asks then that nobody got in time. */
static void the_rest_is_for_the_end(void **state)
{
    (void)state;
    int64_t numbers[4];
    block(1, 6);
    takes(1, 1);
    assert_false(px_sequence_cache_take_rest(&here.worker, here.reserve, 6, numbers));
    assert_true(px_sequence_cache_take_rest(&here.worker, here.reserve, 3, numbers));
    assert_int_equal(numbers[0], 2);
    assert_int_equal(numbers[1], 3);
    assert_int_equal(numbers[2], 4);
    assert_true(px_sequence_cache_take_rest(&here.worker, here.reserve, 2, numbers));
    assert_int_equal(numbers[0], 5);
    assert_int_equal(numbers[1], 6);
    assert_false(px_sequence_cache_take_rest(&here.worker, here.reserve, 1, numbers));
    await(0, 1);
    px_sequence_cache_begin(&here.worker, here.reserve, 3, true);
    rows(7, 9);
    px_sequence_cache_end(&here.worker, here.reserve, true);
    assert_true(px_sequence_cache_take_rest(&here.worker, here.reserve, 2, numbers));
    assert_int_equal(numbers[0], 8);
    assert_int_equal(numbers[1], 9);
    takes(7, 7); /* which is the waiting session's */
}

static void no_endless_rest_is_kept(void **state)
{
    (void)state;
    int64_t numbers[1000];
    block(1, 1200);
    px_sequence_cache_keep(here.reserve, 100);
    assert_int_equal(here.reserve->count, 100);
    assert_int_equal(here.reserve->rest_count, 1000);
    px_sequence_cache_keep(here.reserve, 50);
    assert_int_equal(here.reserve->count, 50);
    assert_true(px_sequence_cache_take_rest(&here.worker, here.reserve, 1000, numbers));
    assert_int_equal(numbers[999], 1200);
    for (size_t i = 1; i < 1000; i++)
        assert_int_equal(numbers[i], numbers[0] + (int64_t)i);
}

/* One that was set back, or turned round, will give again what nobody got. */
static void a_sequence_that_turns_round_gives_the_rest_again(void **state)
{
    (void)state;
    block(10, 14);
    px_sequence_cache_keep(here.reserve, 0);
    block(15, 15);
    assert_int_equal(here.reserve->rest_count, 5);
    block(3, 3);
    assert_int_equal(here.reserve->rest_count, 0);
    px_sequence_cache_keep(here.reserve, 0);
    assert_int_equal(here.reserve->rest_count, 2);
    block(2, 2); /* one that falls */
    assert_int_equal(here.reserve->rest_count, 2);
}

static void the_link_knows_what_it_drew(void **state)
{
    (void)state;
    px_sequence_session_ahead(here.sessions[0], SEQUENCE, 1);
    block(2, 4);
    assert_true(px_sequence_session_is_here(here.sessions[0], SEQUENCE));
    assert_int_equal(here.sessions[0]->known.drawn->link, 4);
}

static void blocks_are_counted(void **state)
{
    (void)state;
    uint64_t before = px_sequence_cache_blocks();
    px_sequence_cache_begin(&here.worker, here.reserve, 0, true);
    assert_int_equal(px_sequence_cache_blocks(), before);
    px_sequence_cache_begin(&here.worker, here.reserve, 7, true);
    assert_int_equal(px_sequence_cache_blocks(), before + 1);
    assert_int_equal(px_number_get(&here.worker.metrics->counters[PX_SEQUENCE_BLOCKS]), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(there_is_one_of_each),
        TEST(they_are_given_in_their_order),
        TEST(negative_numbers_are_numbers),
        TEST(another_file_begins_anew),
        TEST(rows_of_another_form_are_none),
        TEST(unused_ones_are_nobody_s_after_a_while),
        TEST(what_is_not_used_is_forgotten),
        TEST(a_reset_empties_it),
        TEST(blocks_grow_while_they_are_used),
        TEST(a_block_in_vain_is_not_asked_for_again_soon),
        TEST(stored_code_is_looked_at_now_and_then),
        TEST(who_waits_is_counted),
        TEST(the_oldest_block_says_for_whom),
        TEST(a_new_file_s_numbers_are_of_the_last_block),
        TEST(the_rest_is_for_the_end),
        TEST(no_endless_rest_is_kept),
        TEST(a_sequence_that_turns_round_gives_the_rest_again),
        TEST(the_link_knows_what_it_drew),
        TEST(blocks_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
