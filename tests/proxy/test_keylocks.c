/* The order of writes by key, alone and over many threads. */
#include "protocol/error.h"
#include "proxy/batch/keylocks.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The table whose name has this one letter. */
static uint16_t table_of(px_write_group *write_group, char name)
{
    if (write_group->tables == NULL)
        write_group->tables = pgw_arena_alloc(&write_group->arena, 3 * sizeof *write_group->tables);
    for (size_t i = 0; i < write_group->table_count; i++)
        if (write_group->tables[i].name[0] == name)
            return (uint16_t)i;
    write_group->tables[write_group->table_count].name =
        pgw_arena_printf(&write_group->arena, "%c", name);
    return (uint16_t)write_group->table_count++;
}

/* Keys as text, one a blank: "1:7" is hash 1 with fingerprint 7, "1:*" is hash 1, key not known;
 * "u1:7" is of table "u", not of "t". */
static px_write_group *write_group_of(const char *keys)
{
    px_write_group *write_group = px_write_group_new(NULL);
    write_group->keys =
        pgw_arena_alloc(&write_group->arena, strlen(keys) * sizeof *write_group->keys + 1);
    unsigned hash, fingerprint;
    while (*keys != '\0') {
        int used;
        uint16_t table = table_of(write_group, *keys >= 'a' ? *keys++ : 't');
        assert_int_equal(sscanf(keys, "%u:%n", &hash, &used), 1);
        keys += used;
        bool constant = sscanf(keys, "%u%n", &fingerprint, &used) == 1;
        write_group->keys[write_group->row_count++] =
            (px_write_group_key){.hash = hash,
                                 .fingerprint = constant ? fingerprint : 99,
                                 .constant = constant,
                                 .table = table};
        keys += constant ? used : 1;
        keys += *keys == ' ';
    }
    return write_group;
}

static void release(px_write_group *write_group)
{
    assert_null(px_keylocks_release(write_group));
    px_write_group_free(write_group);
}

/* Whether a write group of `second` has to wait for one of `first`, and comes when that goes. */
static void check_pair(const char *first, const char *second, bool waits)
{
    px_write_group *a = write_group_of(first), *b = write_group_of(second);
    assert_true(px_keylocks_claim(a));
    assert_int_equal(px_keylocks_claim(b), !waits);
    px_write_group *granted = px_keylocks_release(a);
    assert_ptr_equal(granted, waits ? b : NULL);
    if (granted != NULL)
        assert_null(px_keylocks_next(granted));
    release(b);
    px_write_group_free(a);
    px_keylocks_free();
}

static void test_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        bool waits;
    } cases[] = {
        {"1:1", "1:2", false},
        {"1:1", "2:1", false},
        {"1:1", "1:1", true},
        {"1:1 1:2 1:3", "1:4 1:3", true},
        {"1:*", "1:2", true},
        {"1:2", "1:*", true},
        {"1:*", "1:*", true},
        {"1:*", "2:*", false},
        {"1:* 2:1", "2:2 3:*", false},
        {"1:* 2:1", "2:1 3:*", true},
        {"1:1 1:1 1:1", "1:1", true},
        {"1:1 1:* 1:2", "1:3", true},
        {"1:1 2:2", "2:2 1:1", true},
        {"1:1", "u1:1", false},
        {"1:1 u2:2", "u1:1 2:2", false},
        {"1:1 u2:2", "u2:2 1:1", true},
        {"1:1 u2:2", "3:3 u2:2", true},
        {"1:1 u2:2 v3:3", "v3:3", true},
        {"v3:* u1:1", "u2:2 v3:3", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_pair(cases[i].first, cases[i].second, cases[i].waits);
}

/* Who asks first is served first, even where a later one could go before. */
static void test_order(void **state)
{
    (void)state;
    px_write_group *a = write_group_of("1:1"), *b = write_group_of("1:*"),
                   *c = write_group_of("1:2"), *d = write_group_of("1:3");
    assert_true(px_keylocks_claim(a));
    assert_false(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_false(px_keylocks_claim(d));
    assert_ptr_equal(px_keylocks_release(a), b);
    px_write_group *granted = px_keylocks_release(b);
    assert_ptr_equal(granted, c);
    assert_ptr_equal(px_keylocks_next(granted), d);
    release(c);
    release(d);
    px_write_group_free(a);
    px_write_group_free(b);
}

/* Keys come and go, none of which may equal any other. */
static void pass_many_keys(void)
{
    for (unsigned i = 0; i < 10000; i++) {
        px_write_group *write_group = write_group_of("4:4");
        assert_true(px_keylocks_claim(write_group));
        release(write_group);
    }
}

/* Who asks for a whole hash waits for all who came before it, also for those who still wait for
 * their keys; afterwards, and once all are gone, keys are asked for as before. */
static void test_hash_after_keys(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        pass_many_keys();
        px_write_group *a = write_group_of("1:1 1:2 2:1"), *b = write_group_of("1:2"),
                       *c = write_group_of("1:* 3:3"), *d = write_group_of("1:4"),
                       *e = write_group_of("2:*");
        assert_true(px_keylocks_claim(a));
        assert_false(px_keylocks_claim(b));
        assert_false(px_keylocks_claim(c));
        assert_false(px_keylocks_claim(d));
        assert_false(px_keylocks_claim(e));
        px_write_group *granted = px_keylocks_release(a);
        assert_true(granted == b || granted == e);
        assert_true(px_keylocks_next(granted) == b || px_keylocks_next(granted) == e);
        assert_null(px_keylocks_next(px_keylocks_next(granted)));
        assert_ptr_equal(px_keylocks_release(b), c);
        assert_ptr_equal(px_keylocks_release(c), d);
        release(d);
        release(e);
        px_write_group_free(a);
        px_write_group_free(b);
        px_write_group_free(c);
    }
}

/* One of many keys keeps the whole hash from others until the last of them is gone. */
static void test_hash_after_many(void **state)
{
    (void)state;
    enum { WRITE_GROUPS = 3000 };
    px_write_group *write_groups[WRITE_GROUPS];
    for (unsigned i = 0; i < WRITE_GROUPS; i++) {
        char key[32];
        snprintf(key, sizeof key, "%u:%u", i % 7, i);
        write_groups[i] = write_group_of(key);
        assert_true(px_keylocks_claim(write_groups[i]));
    }
    px_write_group *whole = write_group_of("5:*"), *free_hash = write_group_of("8:*");
    assert_false(px_keylocks_claim(whole));
    assert_true(px_keylocks_claim(free_hash));
    for (unsigned i = 0; i < WRITE_GROUPS; i++) {
        px_write_group *granted = px_keylocks_release(write_groups[i]);
        assert_ptr_equal(granted, i % 7 == 5 && i + 7 >= WRITE_GROUPS ? whole : NULL);
        px_write_group_free(write_groups[i]);
    }
    release(whole);
    release(free_hash);
}

/* A write group that waits for two comes when both are gone. */
static void test_two_before(void **state)
{
    (void)state;
    px_write_group *a = write_group_of("1:1"), *b = write_group_of("2:2"),
                   *c = write_group_of("2:2 1:1");
    assert_true(px_keylocks_claim(a));
    assert_true(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_null(px_keylocks_release(a));
    assert_ptr_equal(px_keylocks_release(b), c);
    release(c);
    px_write_group_free(a);
    px_write_group_free(b);
}

/* … whatever table they are of; nor does one that waits in one table hold another back for ever. */
static void test_two_before_in_two_tables(void **state)
{
    (void)state;
    px_write_group *a = write_group_of("1:1"), *b = write_group_of("u2:2"),
                   *c = write_group_of("u2:2 1:1"), *d = write_group_of("1:1 u2:2");
    px_write_group *granted;
    assert_true(px_keylocks_claim(a));
    assert_true(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_false(px_keylocks_claim(d));
    assert_null(px_keylocks_release(a));
    assert_ptr_equal(px_keylocks_release(b), c);
    assert_false(px_keylocks_cancel(c, &granted));
    assert_ptr_equal(px_keylocks_release(c), d);
    release(d);
    px_write_group_free(a);
    px_write_group_free(b);
    px_write_group_free(c);
}

/* A waiting write group that is taken back lets those behind it go on. */
static void test_cancel(void **state)
{
    (void)state;
    px_write_group *a = write_group_of("1:1"), *b = write_group_of("1:* 5:5"),
                   *c = write_group_of("1:2"), *d = write_group_of("5:5");
    px_write_group *granted;
    assert_true(px_keylocks_claim(a));
    assert_false(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_false(px_keylocks_claim(d));
    assert_true(px_keylocks_cancel(b, &granted));
    assert_ptr_equal(granted, c); /* a holds the hash shared, so c joins it */
    assert_ptr_equal(px_keylocks_next(granted), d);
    assert_false(px_keylocks_cancel(c, &granted));
    assert_null(granted);
    px_write_group_free(b);
    release(a);
    release(c);
    release(d);
}

static void test_tables_are_apart(void **state)
{
    (void)state;
    px_write_group *a = write_group_of("1:1"), *b = write_group_of("u1:1");
    assert_true(px_keylocks_claim(a));
    assert_true(px_keylocks_claim(b));
    release(a);
    release(b);
}

static void test_many(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    px_write_group *write_group = px_write_group_new(NULL);
    table_of(write_group, 't');
    write_group->row_count = ROWS;
    write_group->keys = pgw_arena_alloc(&write_group->arena, ROWS * sizeof *write_group->keys);
    for (uint64_t i = 0; i < ROWS; i++)
        write_group->keys[i] =
            (px_write_group_key){.hash = i % 10, .fingerprint = i, .constant = true};
    assert_true(px_keylocks_claim(write_group));
    for (uint64_t i = 0; i < ROWS; i++) {
        char key[32];
        px_write_group *granted;
        snprintf(key, sizeof key, "%u:%u", (unsigned)(i % 10), (unsigned)i);
        px_write_group *other = write_group_of(key);
        assert_false(px_keylocks_claim(other));
        assert_true(px_keylocks_cancel(other, &granted));
        assert_null(granted);
        px_write_group_free(other);
    }
    release(write_group);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 3000, HASHES = 3, KEYS = 5 };

/* Who is inside: what the locks are to keep apart. Not atomic: a race is a finding of TSan. */
static struct {
    int keys[2][HASHES][KEYS]; /* by table */
} inside;

typedef struct waiter {
    pthread_mutex_t mutex;
    pthread_cond_t granted_cond;
    bool granted;
} waiter;

static void wake(px_write_group *granted)
{
    for (px_write_group *next; granted != NULL; granted = next) {
        next = px_keylocks_next(granted);
        waiter *w = granted->session;
        pthread_mutex_lock(&w->mutex);
        w->granted = true;
        pthread_cond_signal(&w->granted_cond);
        pthread_mutex_unlock(&w->mutex);
    }
}

static void wait_for(waiter *w)
{
    pthread_mutex_lock(&w->mutex);
    while (!w->granted)
        pthread_cond_wait(&w->granted_cond, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

static void add_inside(const px_write_group *write_group, int more)
{
    for (size_t i = 0; i < write_group->row_count; i++) {
        const px_write_group_key *key = &write_group->keys[i];
        int(*keys)[KEYS] = inside.keys[write_group->tables[key->table].name[0] == 'u'];
        size_t from = key->constant ? key->fingerprint : 0;
        size_t to = key->constant ? key->fingerprint + 1 : KEYS;
        for (size_t k = from; k < to; k++) {
            keys[key->hash][k] += more;
            if (keys[key->hash][k] != (more > 0))
                abort();
        }
    }
}

static void *run_rounds(void *seed)
{
    unsigned random = (unsigned)(uintptr_t)seed;
    waiter w = {.mutex = PTHREAD_MUTEX_INITIALIZER, .granted_cond = PTHREAD_COND_INITIALIZER};
    for (int i = 0; i < ROUNDS; i++) {
        char keys[32];
        int r = rand_r(&random);
        unsigned a = (unsigned)r % HASHES, b = (a + 1) % HASHES;
        char first = r / 13 % 2 == 0 ? 't' : 'u', second = r / 29 % 2 == 0 ? 't' : 'u';
        if (r % 7 == 0)
            snprintf(keys, sizeof keys, "%c%u:* %c%u:%d", first, a, second, b, r / 11 % KEYS);
        else
            snprintf(keys, sizeof keys, "%c%u:%d %c%u:%d", first, a, r / 11 % KEYS, second, b,
                     r / 67 % KEYS);
        px_write_group *write_group = write_group_of(keys);
        write_group->session = &w;
        w.granted = false;
        if (!px_keylocks_claim(write_group)) {
            px_write_group *granted;
            bool cancelled = r % 3 == 0 && px_keylocks_cancel(write_group, &granted);
            if (cancelled) {
                wake(granted);
                px_write_group_free(write_group);
                continue;
            }
            wait_for(&w);
        }
        add_inside(write_group, 1);
        add_inside(write_group, -1);
        wake(px_keylocks_release(write_group));
        px_write_group_free(write_group);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_rounds, (void *)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* What is still held ends the process. */
static int teardown(void **state)
{
    (void)state;
    px_keylocks_free();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_two_before),
        cmocka_unit_test(test_two_before_in_two_tables),
        cmocka_unit_test(test_hash_after_keys),
        cmocka_unit_test(test_hash_after_many),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_tables_are_apart),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
