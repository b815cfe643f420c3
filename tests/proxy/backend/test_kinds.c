/* What the first session of a kind was answered: for all that come within a minute. */
#include "proxy/backend/state/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "proxy/loop/worker.h"

static px_worker worker;
static cfg_config config;

static int setup(void **state)
{
    (void)state;
    worker = (px_worker){.config = &config};
    worker.loop.time = 1000;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_kinds_free(&worker);
    return worker.kinds == NULL ? 0 : -1;
}

static px_identity kind_of(const char *key)
{
    return (px_identity){.key = (char *)key};
}

static void keep(const char *key, const char *role, uint64_t epoch)
{
    const px_identity base = kind_of(key);
    const px_answer answer = {.user = (char *)"u", .role = (char *)role, .output = (char *)""};
    px_kind_keep(&worker, &base, &answer, epoch);
}

static const px_kind *find(const char *key)
{
    const px_identity base = kind_of(key);
    return px_kind_find(&worker, &base);
}

static void each_has_its_own_answer(void **state)
{
    (void)state;
    assert_null(find("a"));
    keep("a", "one", 1);
    keep("b", "two", 2);
    keep("c", "three", 3);
    keep("b", "four", 4);
    assert_string_equal(find("a")->answer.role, "one");
    assert_string_equal(find("b")->answer.role, "four");
    assert_int_equal(find("b")->epoch, 4);
    assert_string_equal(find("c")->answer.role, "three");
    assert_ptr_equal(find("c")->config, &config);
    assert_null(find("d"));
    size_t count = 0;
    for (const px_kind *kind = worker.kinds; kind != NULL; kind = kind->next)
        count++;
    assert_int_equal(count, 3);
}

static void it_is_believed_for_a_minute(void **state)
{
    (void)state;
    keep("a", "one", 1);
    worker.loop.time += 59999;
    assert_non_null(find("a"));
    keep("b", "two", 1);
    worker.loop.time++;
    assert_null(find("a"));
    assert_non_null(find("b"));
    keep("a", "one", 1);
    assert_non_null(find("a"));
}

/* The oldest go. */
static void no_more_than_so_many_are_kept(void **state)
{
    (void)state;
    char key[16];
    for (size_t i = 0; i < 1030; i++) {
        snprintf(key, sizeof key, "%zu", i);
        keep(key, "r", 0);
    }
    size_t count = 0;
    for (const px_kind *kind = worker.kinds; kind != NULL; kind = kind->next)
        count++;
    assert_int_equal(count, 1024);
    assert_null(find("5"));
    assert_non_null(find("6"));
    assert_non_null(find("1029"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_has_its_own_answer),
        TEST(it_is_believed_for_a_minute),
        TEST(no_more_than_so_many_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
