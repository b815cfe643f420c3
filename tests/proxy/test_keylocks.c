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
static uint16_t table_of(px_unit *unit, char name)
{
    if (unit->tables == NULL)
        unit->tables = pgw_arena_alloc(&unit->arena, 3 * sizeof *unit->tables);
    for (size_t i = 0; i < unit->table_count; i++)
        if (unit->tables[i].name[0] == name)
            return (uint16_t)i;
    unit->tables[unit->table_count].name = pgw_arena_printf(&unit->arena, "%c", name);
    return (uint16_t)unit->table_count++;
}

/* Keys as text, one a blank: "1:7" is hash 1 with fingerprint 7, "1:*" is hash 1, key not known;
 * "u1:7" is of table "u", not of "t". */
static px_unit *unit_of(const char *keys)
{
    px_unit *unit = px_unit_new(NULL);
    unit->keys = pgw_arena_alloc(&unit->arena, strlen(keys) * sizeof *unit->keys + 1);
    unsigned hash, fingerprint;
    while (*keys != '\0') {
        int used;
        uint16_t table = table_of(unit, *keys >= 'a' ? *keys++ : 't');
        assert_int_equal(sscanf(keys, "%u:%n", &hash, &used), 1);
        keys += used;
        bool constant = sscanf(keys, "%u%n", &fingerprint, &used) == 1;
        unit->keys[unit->row_count++] = (px_unit_key){.hash = hash,
                                                      .fingerprint = constant ? fingerprint : 99,
                                                      .constant = constant,
                                                      .table = table};
        keys += constant ? used : 1;
        keys += *keys == ' ';
    }
    return unit;
}

static void release(px_unit *unit)
{
    assert_null(px_keylocks_release(unit));
    px_unit_free(unit);
}

/* Whether a unit of `second` has to wait for one of `first`, and comes when that goes. */
static void check_pair(const char *first, const char *second, bool waits)
{
    px_unit *a = unit_of(first), *b = unit_of(second);
    assert_true(px_keylocks_claim(a));
    assert_int_equal(px_keylocks_claim(b), !waits);
    px_unit *granted = px_keylocks_release(a);
    assert_ptr_equal(granted, waits ? b : NULL);
    if (granted != NULL)
        assert_null(px_keylocks_next(granted));
    release(b);
    px_unit_free(a);
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
    px_unit *a = unit_of("1:1"), *b = unit_of("1:*"), *c = unit_of("1:2"), *d = unit_of("1:3");
    assert_true(px_keylocks_claim(a));
    assert_false(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_false(px_keylocks_claim(d));
    assert_ptr_equal(px_keylocks_release(a), b);
    px_unit *granted = px_keylocks_release(b);
    assert_ptr_equal(granted, c);
    assert_ptr_equal(px_keylocks_next(granted), d);
    release(c);
    release(d);
    px_unit_free(a);
    px_unit_free(b);
}

/* Keys come and go, none of which may equal any other. */
static void pass_many_keys(void)
{
    for (unsigned i = 0; i < 10000; i++) {
        px_unit *unit = unit_of("4:4");
        assert_true(px_keylocks_claim(unit));
        release(unit);
    }
}

/* Who asks for a whole hash waits for all who came before it, also for those who still wait for
 * their keys; afterwards, and once all are gone, keys are asked for as before. */
static void test_hash_after_keys(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        pass_many_keys();
        px_unit *a = unit_of("1:1 1:2 2:1"), *b = unit_of("1:2"), *c = unit_of("1:* 3:3"),
                *d = unit_of("1:4"), *e = unit_of("2:*");
        assert_true(px_keylocks_claim(a));
        assert_false(px_keylocks_claim(b));
        assert_false(px_keylocks_claim(c));
        assert_false(px_keylocks_claim(d));
        assert_false(px_keylocks_claim(e));
        px_unit *granted = px_keylocks_release(a);
        assert_true(granted == b || granted == e);
        assert_true(px_keylocks_next(granted) == b || px_keylocks_next(granted) == e);
        assert_null(px_keylocks_next(px_keylocks_next(granted)));
        assert_ptr_equal(px_keylocks_release(b), c);
        assert_ptr_equal(px_keylocks_release(c), d);
        release(d);
        release(e);
        px_unit_free(a);
        px_unit_free(b);
        px_unit_free(c);
    }
}

/* One of many keys keeps the whole hash from others until the last of them is gone. */
static void test_hash_after_many(void **state)
{
    (void)state;
    enum { UNITS = 3000 };
    px_unit *units[UNITS];
    for (unsigned i = 0; i < UNITS; i++) {
        char key[32];
        snprintf(key, sizeof key, "%u:%u", i % 7, i);
        units[i] = unit_of(key);
        assert_true(px_keylocks_claim(units[i]));
    }
    px_unit *whole = unit_of("5:*"), *free_hash = unit_of("8:*");
    assert_false(px_keylocks_claim(whole));
    assert_true(px_keylocks_claim(free_hash));
    for (unsigned i = 0; i < UNITS; i++) {
        px_unit *granted = px_keylocks_release(units[i]);
        assert_ptr_equal(granted, i % 7 == 5 && i + 7 >= UNITS ? whole : NULL);
        px_unit_free(units[i]);
    }
    release(whole);
    release(free_hash);
}

/* A unit that waits for two comes when both are gone. */
static void test_two_before(void **state)
{
    (void)state;
    px_unit *a = unit_of("1:1"), *b = unit_of("2:2"), *c = unit_of("2:2 1:1");
    assert_true(px_keylocks_claim(a));
    assert_true(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_null(px_keylocks_release(a));
    assert_ptr_equal(px_keylocks_release(b), c);
    release(c);
    px_unit_free(a);
    px_unit_free(b);
}

/* … whatever table they are of; nor does one that waits in one table hold another back for ever. */
static void test_two_before_in_two_tables(void **state)
{
    (void)state;
    px_unit *a = unit_of("1:1"), *b = unit_of("u2:2"), *c = unit_of("u2:2 1:1"),
            *d = unit_of("1:1 u2:2");
    px_unit *granted;
    assert_true(px_keylocks_claim(a));
    assert_true(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_false(px_keylocks_claim(d));
    assert_null(px_keylocks_release(a));
    assert_ptr_equal(px_keylocks_release(b), c);
    assert_false(px_keylocks_cancel(c, &granted));
    assert_ptr_equal(px_keylocks_release(c), d);
    release(d);
    px_unit_free(a);
    px_unit_free(b);
    px_unit_free(c);
}

/* A waiting unit that is taken back lets those behind it go on. */
static void test_cancel(void **state)
{
    (void)state;
    px_unit *a = unit_of("1:1"), *b = unit_of("1:* 5:5"), *c = unit_of("1:2"), *d = unit_of("5:5");
    px_unit *granted;
    assert_true(px_keylocks_claim(a));
    assert_false(px_keylocks_claim(b));
    assert_false(px_keylocks_claim(c));
    assert_false(px_keylocks_claim(d));
    assert_true(px_keylocks_cancel(b, &granted));
    assert_ptr_equal(granted, c); /* a holds the hash shared, so c joins it */
    assert_ptr_equal(px_keylocks_next(granted), d);
    assert_false(px_keylocks_cancel(c, &granted));
    assert_null(granted);
    px_unit_free(b);
    release(a);
    release(c);
    release(d);
}

static void test_tables_are_apart(void **state)
{
    (void)state;
    px_unit *a = unit_of("1:1"), *b = unit_of("u1:1");
    assert_true(px_keylocks_claim(a));
    assert_true(px_keylocks_claim(b));
    release(a);
    release(b);
}

static void test_many(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    px_unit *unit = px_unit_new(NULL);
    table_of(unit, 't');
    unit->row_count = ROWS;
    unit->keys = pgw_arena_alloc(&unit->arena, ROWS * sizeof *unit->keys);
    for (uint64_t i = 0; i < ROWS; i++)
        unit->keys[i] = (px_unit_key){.hash = i % 10, .fingerprint = i, .constant = true};
    assert_true(px_keylocks_claim(unit));
    for (uint64_t i = 0; i < ROWS; i++) {
        char key[32];
        px_unit *granted;
        snprintf(key, sizeof key, "%u:%u", (unsigned)(i % 10), (unsigned)i);
        px_unit *other = unit_of(key);
        assert_false(px_keylocks_claim(other));
        assert_true(px_keylocks_cancel(other, &granted));
        assert_null(granted);
        px_unit_free(other);
    }
    release(unit);
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

static void wake(px_unit *granted)
{
    for (px_unit *next; granted != NULL; granted = next) {
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

static void add_inside(const px_unit *unit, int more)
{
    for (size_t i = 0; i < unit->row_count; i++) {
        const px_unit_key *key = &unit->keys[i];
        int(*keys)[KEYS] = inside.keys[unit->tables[key->table].name[0] == 'u'];
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
        px_unit *unit = unit_of(keys);
        unit->session = &w;
        w.granted = false;
        if (!px_keylocks_claim(unit)) {
            px_unit *granted;
            bool cancelled = r % 3 == 0 && px_keylocks_cancel(unit, &granted);
            if (cancelled) {
                wake(granted);
                px_unit_free(unit);
                continue;
            }
            wait_for(&w);
        }
        add_inside(unit, 1);
        add_inside(unit, -1);
        wake(px_keylocks_release(unit));
        px_unit_free(unit);
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
