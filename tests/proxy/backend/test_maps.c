/* Discovered partitions on their way to the workers, and which of them holds a hash. */
#include "proxy/backend/places/maps.h"

#include "rewrite/hash/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORKERS = 2 };

static px_worker workers[WORKERS]; /* no more of them than what px_worker_send needs */
static px_server server = {.workers = workers, .worker_count = WORKERS};

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = (px_worker){0};
        workers[i].inbox_tail = &workers[i].inbox;
        pthread_mutex_init(&workers[i].inbox_lock, NULL);
        uv_loop_init(&workers[i].loop);
        uv_async_init(&workers[i].loop, &workers[i].wake, NULL);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < WORKERS; i++) {
        px_maps_free(&workers[i]);
        assert_null(workers[i].maps);
        uv_close((uv_handle_t *)&workers[i].wake, NULL);
        uv_run(&workers[i].loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&workers[i].loop), 0);
        pthread_mutex_destroy(&workers[i].inbox_lock);
    }
    return 0;
}

/* The worker reads what it was sent. */
static void read_inbox(px_worker *worker)
{
    px_message *next = worker->inbox;
    worker->inbox = NULL;
    worker->inbox_tail = &worker->inbox;
    for (px_message *message = next; message != NULL; message = next) {
        next = message->next;
        message->run(worker, message);
    }
}

static void read_all(void)
{
    for (size_t i = 0; i < WORKERS; i++)
        read_inbox(&workers[i]);
}

/* Cut at these hashes, up to 0. */
static px_map *map_of(const char *schema, const char *name, rw_hash_type type, const uint64_t *at)
{
    rw_partitions partitions = {.kind = RW_PARTITION_AT, .count = 1};
    partitions.at = pgw_calloc(8, sizeof *at);
    for (; at != NULL && *at != 0; at++)
        partitions.at[partitions.count++ - 1] = *at;
    return px_map_new(schema, name, type, partitions);
}

static void send_map(px_map *map)
{
    px_map_send(&server, map);
    read_all();
    px_map_drop(map);
}

static rw_table table(const char *schema, const char *name)
{
    return (rw_table){
        .schema = (char *)schema,
        .name = (char *)name,
        .hash_type = RW_HASH_UINT64,
        .partitions = {.kind = RW_PARTITION_BUCKETS, .count = 16, .discovered = true}};
}

#define AT(...)                                                                                    \
    (const uint64_t[])                                                                             \
    {                                                                                              \
        __VA_ARGS__, 0                                                                             \
    }

static void every_worker_has_it(void **state)
{
    (void)state;
    rw_table t = table("public", "t");
    px_map *map = map_of("public", "t", RW_HASH_UINT64, AT(10, 20));
    assert_int_equal(map->references, 1);
    px_map_send(&server, map);
    assert_int_equal(map->references, 1 + WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        assert_int_equal(px_map_count(&workers[i], &t), 16); /* it has not read it yet */
        read_inbox(&workers[i]);
        assert_int_equal(px_map_count(&workers[i], &t), 3);
        assert_int_equal(px_map_partition(&workers[i], &t, 9), 0);
        assert_int_equal(px_map_partition(&workers[i], &t, 10), 1);
        assert_int_equal(px_map_partition(&workers[i], &t, 20), 2);
    }
    assert_int_equal(map->references, 1 + WORKERS);
    px_map_drop(map);
    assert_int_equal(map->references, WORKERS);
    assert_string_equal(map->schema, "public");
    assert_string_equal(map->name, "t");
}

/* Until one is there, rows are where the file says. */
static void without_one_the_file_decides(void **state)
{
    (void)state;
    rw_table t = table("public", "t");
    uint64_t hash = (uint64_t)3 << 60;
    assert_int_equal(px_map_count(&workers[0], &t), 16);
    assert_int_equal(px_map_partition(&workers[0], &t, hash), 3);
    send_map(map_of("public", "t", RW_HASH_UINT64, AT(10, 20)));
    assert_int_equal(px_map_partition(&workers[0], &t, hash), 2);
    t.partitions.discovered = false;
    assert_int_equal(px_map_count(&workers[0], &t), 16);
    assert_int_equal(px_map_partition(&workers[0], &t, hash), 3);
}

static void a_newer_one_takes_its_place(void **state)
{
    (void)state;
    rw_table t = table("public", "t");
    px_map *first = map_of("public", "t", RW_HASH_UINT64, AT(10, 20));
    px_map_send(&server, first);
    read_all();
    send_map(map_of("public", "t", RW_HASH_UINT64, AT(30)));
    assert_int_equal(px_map_count(&workers[1], &t), 2);
    assert_int_equal(px_map_partition(&workers[1], &t, 20), 0);
    assert_int_equal(first->references, 1);
    px_map_drop(first);
    send_map(map_of("public", "t", RW_HASH_UINT64, NULL)); /* one partition */
    assert_int_equal(px_map_count(&workers[1], &t), 1);
    px_map *none = px_map_new("public", "t", RW_HASH_UINT64, (rw_partitions){.count = 0});
    send_map(none); /* it is not known any more */
    assert_int_equal(px_map_count(&workers[1], &t), 16);
}

static void each_table_has_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *name;
        uint32_t count;
    } cases[] = {{"public", "t", 2}, {"app", "t", 3}, {"public", "u", 4}, {"app", "u", 16}};
    send_map(map_of("public", "t", RW_HASH_UINT64, AT(10)));
    send_map(map_of("app", "t", RW_HASH_UINT64, AT(10, 20)));
    send_map(map_of("public", "u", RW_HASH_UINT64, AT(10, 20, 30)));
    send_map(map_of("public", "v", RW_HASH_UINT64, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_table t = table(cases[i].schema, cases[i].name);
        assert_int_equal(px_map_count(&workers[0], &t), cases[i].count);
    }
}

/* That of a configuration before: its numbers were read as others. */
static void one_of_another_type_is_not_heeded(void **state)
{
    (void)state;
    rw_table t = table("public", "t");
    send_map(map_of("public", "t", RW_HASH_INT8, AT(10)));
    assert_int_equal(px_map_count(&workers[0], &t), 16);
    t.hash_type = RW_HASH_INT8;
    assert_int_equal(px_map_count(&workers[0], &t), 2);
    assert_int_equal(px_map_partition(&workers[0], &t, (uint64_t)-1), 0);
    assert_int_equal(px_map_partition(&workers[0], &t, 11), 1);
}

static void none_at_all(void **state)
{
    (void)state;
    px_map_drop(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_worker_has_it),
        TEST(without_one_the_file_decides),
        TEST(a_newer_one_takes_its_place),
        TEST(each_table_has_its_own),
        TEST(one_of_another_type_is_not_heeded),
        TEST(none_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
