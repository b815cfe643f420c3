/* Connections that the backend has no more of: whose are in the way, and who is asked to give way.
 */
#include "proxy/backend/base/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "proxy/base/shared.h"

enum { WORKERS = 3 };

static px_server server;
static px_worker workers[WORKERS];
static cfg_config config;
static px_plea plea;
static px_identity asker = {.user = (char *)"u", .database = (char *)"d"};
static unsigned asked[WORKERS], answers;
static bool hope;
static px_yield yields[WORKERS];

static bool yield(px_worker *worker, px_plea *of)
{
    asked[worker->index]++;
    return px_plea_note(of, yields[worker->index]);
}

static const px_tenant silent = {0}, giving = {.yield = yield};
static const px_tenant *const tenants[] = {&silent, &giving, NULL};

static void on_answer(px_plea *of, bool hopes)
{
    assert_ptr_equal(of, &plea);
    answers++;
    hope = hopes;
}

static int setup(void **state)
{
    (void)state;
    server = (px_server){.workers = workers, .worker_count = WORKERS};
    config.backend.dsn = (char *)"host=h";
    memset(asked, 0, sizeof asked);
    answers = 0;
    for (unsigned i = 0; i < WORKERS; i++) {
        yields[i] = PX_YIELD_NEVER;
        px_worker_init(&workers[i], &server, i, tenants);
        workers[i].config = &config;
    }
    plea = (px_plea){.home = &workers[1], .identity = &asker, .answered = on_answer};
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
    for (unsigned i = 0; i < WORKERS; i++) {
        uv_walk(&workers[i].loop, close_handle, NULL);
        uv_run(&workers[i].loop, UV_RUN_DEFAULT);
        px_metrics_free(workers[i].metrics);
        px_worker_free(&workers[i]);
    }
    return atomic_load(&server.errands) == 0 ? 0 : -1;
}

/* All workers in turn, on this thread, until nobody has anything to do. */
static void plead(void)
{
    px_slots_plead(&plea);
    for (unsigned i = 0; i < 4 * WORKERS; i++)
        uv_run(&workers[i % WORKERS].loop, UV_RUN_NOWAIT);
    assert_int_equal(answers, 1);
}

static void all_are_asked_until_one_gives_way(void **state)
{
    (void)state;
    yields[2] = PX_YIELD_NOW;
    plead();
    assert_true(hope);
    assert_int_equal(asked[0], 0);
    assert_int_equal(asked[1], 1);
    assert_int_equal(asked[2], 1);
}

static void nobody_gives_way(void **state)
{
    (void)state;
    plead();
    assert_false(hope);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(asked[i], 1);
}

/* One that is free soon is hope enough, but another may be free now. */
static void one_is_free_later(void **state)
{
    (void)state;
    yields[1] = PX_YIELD_LATER;
    plead();
    assert_true(hope);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(asked[i], 1);
}

/* A link that was closed just now may be there still. */
static void one_is_vanishing(void **state)
{
    (void)state;
    atomic_store(&server.link_left,
                 px_worker_now(&workers[1]) + 3600 * 1000); /* whenever this is */
    plead();
    assert_true(hope);
}

static void one_that_was_closed_long_ago_is_gone(void **state)
{
    (void)state;
    atomic_store(&server.link_left, 1);
    plead();
    assert_false(hope);
}

static void whose_links_are_in_the_way(void **state)
{
    (void)state;
    static const px_identity same = {.user = (char *)"u", .database = (char *)"d"},
                             role = {.user = (char *)"u", .database = (char *)"e"},
                             database = {.user = (char *)"v", .database = (char *)"d"},
                             other = {.user = (char *)"v", .database = (char *)"e"};
    static const struct {
        px_slot slot;
        const char *dsn;
        bool of_role, of_database, of_other;
    } cases[] = {
        {PX_SLOT_OF_ANY, "host=h", true, true, true},
        {PX_SLOT_OF_SESSION, "host=h", true, true, true},
        {PX_SLOT_OF_ROLE, "host=h", true, false, false},
        {PX_SLOT_OF_DATABASE, "host=h", false, true, false},
        {PX_SLOT_OF_ROLE, "host=h user=app", true, true, true},
        {PX_SLOT_OF_ROLE, "host=h dbname=d", true, false, false},
        {PX_SLOT_OF_DATABASE, "host=h dbname=d", true, true, true},
        {PX_SLOT_OF_DATABASE, "host=h user=app", false, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        config.backend.dsn = (char *)cases[i].dsn;
        plea.slot = cases[i].slot;
        answers = 0;
        plead();
        if (!px_plea_concerns(&plea, &same) || px_plea_concerns(&plea, &role) != cases[i].of_role ||
            px_plea_concerns(&plea, &database) != cases[i].of_database ||
            px_plea_concerns(&plea, &other) != cases[i].of_other)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_are_asked_until_one_gives_way),
        TEST(nobody_gives_way),
        TEST(one_is_free_later),
        TEST(one_is_vanishing),
        TEST(one_that_was_closed_long_ago_is_gone),
        TEST(whose_links_are_in_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
