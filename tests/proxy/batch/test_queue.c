/* Which write groups wait together, which of them leave, and which queue is next: numbers in, order
 * out.
 */
#include "proxy/batch/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const cfg_table config = {.batch = {.rows = 160, .bytes = 1600, .target_ms = 50}};

static struct {
    px_queue_table queues;
    px_identity *identity;
} t;

static px_identity *identity_of(const char *user)
{
    const px_identity from = {.user = (char *)user, .database = (char *)"d", .options = (char *)""};
    return px_identity_of(&from);
}

static int setup(void **state)
{
    (void)state;
    t.identity = identity_of("u");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_queue_table_free(&t.queues);
    px_identity_drop(t.identity);
    return 0;
}

/* Rows of one statement, and nothing else that is not zero. */
typedef struct rows {
    px_write_group write_group;
    struct px_write_group_statement statement;
    px_write_group_table tables[2];
    px_write_group_prepared prepared[2];
    px_write_group_key keys[4];
} rows;

static px_write_group *write_group_of(rows *it, size_t row_count, size_t bytes)
{
    *it = (rows){0};
    it->tables[0] = (px_write_group_table){.config = &config, .name = (char *)"public.events"};
    it->statement.bytes = bytes;
    it->write_group = (px_write_group){.identity = t.identity,
                                       .tables = it->tables,
                                       .table_count = 1,
                                       .prepared = it->prepared,
                                       .prepared_count = 1,
                                       .merge_hash = 7,
                                       .partition = 3,
                                       .head = PGW_LITERAL("INSERT"),
                                       .statement_count = 1,
                                       .statements = &it->statement,
                                       .keys = it->keys,
                                       .row_count = row_count};
    return &it->write_group;
}

static px_queue *queue_of(const px_write_group *write_group)
{
    return px_queue_find(&t.queues, write_group);
}

/* --- who waits together --- */

static void what_makes_a_queue(void **state)
{
    (void)state;
    static const uint32_t types[] = {20, 25}, others[] = {20, 23};
    rows it;
    px_identity *same = identity_of("u"), *other = identity_of("v");
    px_queue *first = queue_of(write_group_of(&it, 1, 1));
    assert_ptr_equal(queue_of(write_group_of(&it, 2, 9)), first);
    it.write_group.identity = same;
    assert_ptr_equal(queue_of(&it.write_group), first);
    px_queue *found[24];
    size_t count = 0;
    found[count++] = first;
#define DIFFERS(change)                                                                            \
    do {                                                                                           \
        write_group_of(&it, 1, 1);                                                                 \
        change;                                                                                    \
        found[count] = queue_of(&it.write_group);                                                  \
        for (size_t i = 0; i < count; i++)                                                         \
            if (found[i] == found[count])                                                          \
                fail_msg(#change " is as %zu", i);                                                 \
        assert_ptr_equal(queue_of(&it.write_group), found[count]);                                 \
        count++;                                                                                   \
    } while (0)
    DIFFERS(it.write_group.merge_hash = 8);
    DIFFERS(it.write_group.kind = PX_WRITE_GROUP_TEXT);
    DIFFERS(it.write_group.epoch = 1);
    DIFFERS(it.write_group.partition = 4);
    DIFFERS(it.write_group.several_partitions = true);
    DIFFERS(it.tables[0].name = (char *)"public.other");
    DIFFERS((it.write_group.table_count = 2, it.tables[1] = it.tables[0]));
    DIFFERS((it.write_group.table_count = 2, it.tables[1].name = (char *)"public.other"));
    DIFFERS(it.write_group.identity = other);
    DIFFERS(it.write_group.head = PGW_LITERAL("INSERt"));
    DIFFERS(it.write_group.tail = PGW_LITERAL("x"));
    DIFFERS(it.write_group.conditions = PGW_LITERAL("x"));
#define PARAMS_DIFFER(change) DIFFERS((it.write_group.kind = PX_WRITE_GROUP_PARAMS, change))
    PARAMS_DIFFER(it.prepared[0].name = PGW_LITERAL("x"));
    PARAMS_DIFFER(it.prepared[0].text = PGW_LITERAL("x"));
    PARAMS_DIFFER(it.prepared[0].columns = PGW_LITERAL("x"));
    PARAMS_DIFFER((it.prepared[0].types = types, it.prepared[0].type_count = 1));
    PARAMS_DIFFER((it.prepared[0].types = types, it.prepared[0].type_count = 2));
    PARAMS_DIFFER((it.prepared[0].types = others, it.prepared[0].type_count = 2));
    PARAMS_DIFFER(it.write_group.prepared_count = 2);
    PARAMS_DIFFER((it.write_group.prepared_count = 2, it.prepared[1].name = PGW_LITERAL("x")));
#undef PARAMS_DIFFER
#undef DIFFERS
    write_group_of(&it, 1, 1)->prepared->name =
        PGW_LITERAL("x"); /* how rows of a text may travel, too */
    assert_ptr_equal(queue_of(&it.write_group), first);
    assert_int_equal(t.queues.count, count);
    write_group_of(&it, 1, 1)->several_partitions =
        true; /* they have a lane, whatever their first is */
    it.write_group.partition = 99;
    queue_of(&it.write_group);
    assert_int_equal(t.queues.count, count);
    px_identity_drop(same);
    px_identity_drop(other);
}

/* What it was made of may go. */
static void a_queue_keeps_its_own_key(void **state)
{
    (void)state;
    rows it;
    char name[] = "public.events", head[] = "head", tail[] = "tail", conditions[] = "cond",
         statement[] = "name", text[] = "text";
    uint32_t types[] = {20, 25};
    write_group_of(&it, 1, 1)->kind = PX_WRITE_GROUP_PARAMS;
    it.tables[0].name = name;
    it.write_group.head = (pgw_slice){head, 4};
    it.write_group.tail = (pgw_slice){tail, 4};
    it.write_group.conditions = (pgw_slice){conditions, 4};
    it.prepared[0].name = (pgw_slice){statement, 4};
    it.prepared[0].text = (pgw_slice){text, 4};
    it.prepared[0].types = types;
    it.prepared[0].type_count = 2;
    it.write_group.epoch = 5;
    px_queue *queue = queue_of(&it.write_group);
    name[0] = head[0] = tail[0] = conditions[0] = statement[0] = text[0] = '?';
    types[1] = 0;
    assert_string_equal(queue->key.tables->name, "public.events");
    assert_true(pgw_slice_eq_str(queue->key.head, "head"));
    assert_true(pgw_slice_eq_str(queue->key.tail, "tail"));
    assert_true(pgw_slice_eq_str(queue->key.conditions, "cond"));
    assert_true(pgw_slice_eq_str(queue->key.prepared->name, "name"));
    assert_true(pgw_slice_eq_str(queue->key.prepared->text, "text"));
    assert_int_equal(queue->key.prepared->types[1], 25);
    assert_int_equal(queue->key.prepared->type_count, 2);
    assert_int_equal(queue->key.epoch, 5);
    assert_int_equal(queue->key.merge_hash, 7);
    assert_int_equal(queue->key.partition, 3);
    assert_ptr_equal(queue->table, &config);
    assert_int_equal(queue->limit_rows, 160);
    assert_int_equal(queue->limit_bytes, 1600);
    assert_true(queue->quick_ms == UINT64_MAX);
    assert_null(queue->pool);
}

static size_t freed;

static void count_freed(px_queue *queue)
{
    assert_int_equal(queue->key.merge_hash % 4, 0);
    freed++;
}

static void queues_go_when_they_were_empty_for_long(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    rows it;
    px_queue *found[MANY];
    for (size_t i = 0; i < MANY; i++) {
        write_group_of(&it, 1, 1)->merge_hash = i;
        found[i] = queue_of(&it.write_group);
        found[i]->idle_since = i % 2 == 0 ? 99 : 100;
        found[i]->state = i % 4 == 2 ? PX_QUEUE_HOLDING : PX_QUEUE_EMPTY;
    }
    for (size_t i = 0; i < MANY; i++) {
        write_group_of(&it, 1, 1)->merge_hash = i;
        assert_ptr_equal(queue_of(&it.write_group), found[i]);
    }
    freed = 0;
    px_queue_sweep(&t.queues, 100, count_freed);
    assert_int_equal(freed, MANY / 4);
    assert_int_equal(t.queues.count, MANY - MANY / 4);
    assert_int_equal(t.queues.bytes, t.queues.count * strlen("INSERT"));
    for (size_t i = 0; i < MANY; i++) {
        write_group_of(&it, 1, 1)->merge_hash = i;
        if (i % 4 != 0)
            assert_ptr_equal(queue_of(&it.write_group), found[i]);
    }
    px_queue_sweep(&t.queues, 101, NULL);
    assert_int_equal(t.queues.count, MANY / 4);
}

/* --- in and out --- */

/* The write groups' numbers in their order, and the totals. */
static void expect_queue(const px_queue *queue, const rows *all, const char *order,
                         size_t row_count, size_t bytes)
{
    char found[16] = "", back[16] = "";
    size_t len = 0;
    for (const px_write_group *write_group = queue->waiting.first; write_group != NULL;
         write_group = write_group->next)
        found[len++] = (char)('0' + ((const rows *)write_group - all));
    assert_string_equal(found, order);
    for (const px_write_group *write_group = queue->waiting.last; write_group != NULL;
         write_group = write_group->previous)
        back[--len] = (char)('0' + ((const rows *)write_group - all));
    assert_string_equal(back, order);
    assert_int_equal(queue->write_groups, strlen(order));
    assert_int_equal(queue->rows, row_count);
    assert_int_equal(queue->bytes, bytes);
}

static void first_come_first_served(void **state)
{
    (void)state;
    rows all[4];
    for (size_t i = 0; i < 4; i++)
        write_group_of(&all[i], i + 1, 10 * (i + 1));
    px_queue *queue = queue_of(&all[0].write_group);
    expect_queue(queue, all, "", 0, 0);
    px_queue_push(queue, &all[0].write_group);
    assert_ptr_equal(all[0].write_group.queue, queue);
    assert_int_equal(all[0].write_group.state, PX_WRITE_GROUP_QUEUED);
    px_queue_push(queue, &all[1].write_group);
    px_queue_push_front(queue, &all[2].write_group);
    expect_queue(queue, all, "201", 6, 60);
    px_queue_push(queue, &all[3].write_group);
    px_queue_remove(queue, &all[0].write_group);
    expect_queue(queue, all, "213", 9, 90);
    px_queue_remove(queue, &all[2].write_group);
    expect_queue(queue, all, "13", 6, 60);
    px_queue_remove(queue, &all[3].write_group);
    expect_queue(queue, all, "1", 2, 20);
    px_queue_remove(queue, &all[1].write_group);
    expect_queue(queue, all, "", 0, 0);
    px_queue_push_front(queue, &all[3].write_group);
    px_queue_push(queue, &all[2].write_group);
    expect_queue(queue, all, "32", 7, 70);
}

static void bytes_are_those_of_a_batch(void **state)
{
    (void)state;
    struct px_write_group_statement two[2] = {{.bytes = 5}, {.bytes = 6}};
    rows it;
    write_group_of(&it, 1, 1);
    it.write_group.statements = two;
    it.write_group.statement_count = 2;
    px_queue *queue = queue_of(&it.write_group);
    px_queue_push(queue, &it.write_group);
    assert_int_equal(queue->bytes, 11);
    px_queue_remove(queue, &it.write_group);
    assert_int_equal(queue->bytes, 0);
}

/* --- what leaves --- */

static void a_batch_is_no_larger_than_the_limit(void **state)
{
    (void)state;
    /* The write groups' rows and bytes; the limits are 160 and 1600: how many leave at a time. */
    static const struct {
        size_t row_counts[4], bytes[4];
        bool alone[4];
        const char *batches;
    } cases[] = {
        {{1, 1, 1, 1}, {1, 1, 1, 1}, {0}, "4"},
        {{80, 80, 1, 1}, {1, 1, 1, 1}, {0}, "22"},
        {{80, 79, 1, 1}, {1, 1, 1, 1}, {0}, "31"},
        {{81, 1, 1, 1}, {1, 1, 1, 1}, {0}, "13"}, /* more than half travels alone */
        {{1, 81, 1, 1}, {1, 1, 1, 1}, {0}, "112"},
        {{1, 1, 1, 1}, {800, 800, 1, 1}, {0}, "22"},
        {{1, 1, 1, 1}, {800, 799, 1, 1}, {0}, "31"},
        {{1, 1, 1, 1}, {801, 1, 1, 1}, {0}, "13"},
        {{1, 1, 1, 1}, {1, 1, 1, 1}, {true, false, false, false}, "13"},
        {{1, 1, 1, 1}, {1, 1, 1, 1}, {false, false, true, false}, "211"},
        {{500, 1, 1, 1}, {9000, 1, 1, 1}, {0}, "13"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rows all[4];
        px_write_group_key keys[500] = {{0}};
        char batches[8] = "";
        for (size_t k = 0; k < 4; k++) {
            write_group_of(&all[k], cases[i].row_counts[k], cases[i].bytes[k]);
            all[k].write_group.keys = keys;
            all[k].write_group.send_alone = cases[i].alone[k];
            px_queue_push(queue_of(&all[0].write_group), &all[k].write_group);
        }
        px_queue *queue = queue_of(&all[0].write_group);
        for (size_t n = 0; queue->waiting.first != NULL; n++) {
            size_t rows_before = queue->rows;
            px_batch *batch = px_queue_form(queue, 1000 + n);
            batches[n] = (char)('0' + batch->attempt.count);
            assert_int_equal(batch->rows, rows_before - queue->rows);
            assert_int_equal(batch->started, 1000 + n);
            assert_int_equal(batch->since, 1000 + n);
            assert_true(batch->first);
            assert_int_equal(queue->flying, 1);
            for (size_t u = 0; u < batch->attempt.count; u++)
                assert_int_equal(batch->attempt.write_groups[u]->state, PX_WRITE_GROUP_FLYING);
            px_queue_land(batch);
            assert_int_equal(queue->flying, 0);
            assert_null(queue->flights[0]);
        }
        if (strcmp(batches, cases[i].batches) != 0)
            fail_msg("case %zu: %s, not %s", i, batches, cases[i].batches);
    }
}

static void write_groups_leave_in_the_order_of_their_least_keys(void **state)
{
    (void)state;
    /* The hash and fingerprint of two rows each. */
    static const uint64_t keys[4][4] = {
        {9, 1, 5, 2}, {5, 1, 7, 0}, {UINT64_MAX, 0, UINT64_MAX, 1}, {3, 9, 3, 8}};
    rows all[4];
    for (size_t i = 0; i < 4; i++) {
        write_group_of(&all[i], 2, 1);
        for (size_t k = 0; k < 2; k++)
            all[i].keys[k] =
                (px_write_group_key){.hash = keys[i][2 * k], .fingerprint = keys[i][2 * k + 1]};
        px_queue_push(queue_of(&all[i].write_group), &all[i].write_group);
    }
    px_batch *batch = px_queue_form(queue_of(&all[0].write_group), 0);
    assert_int_equal(batch->attempt.count, 4);
    char order[8] = "";
    for (size_t i = 0; i < 4; i++)
        order[i] = (char)('0' + ((rows *)batch->attempt.write_groups[i] - all));
    assert_string_equal(order, "3102");
    assert_int_equal(all[3].write_group.least.fingerprint, 8);
    assert_int_equal(all[0].write_group.least.hash, 5);
    px_queue_land(batch);
}

static void batches_land_in_any_order(void **state)
{
    (void)state;
    for (size_t first = 0; first < 2; first++) {
        rows all[2];
        px_batch *batches[2];
        px_queue *queue = queue_of(write_group_of(&all[0], 1, 1));
        for (size_t i = 0; i < 2; i++) {
            px_queue_push(queue, write_group_of(&all[i], 1, 1));
            batches[i] = px_queue_form(queue, i);
        }
        px_queue_land(batches[first]);
        assert_int_equal(queue->flying, 1);
        assert_ptr_equal(queue->flights[0], batches[1 - first]);
        assert_null(queue->flights[1]);
        px_queue_land(batches[1 - first]);
        assert_int_equal(queue->flying, 0);
        assert_null(queue->flights[0]);
    }
}

/* --- time and limits --- */

static void one_more_may_leave_when_the_first_is_slow(void **state)
{
    (void)state;
    rows it;
    px_batch one = {.started = 1000}, two = {.started = 2000};
    px_queue *queue = queue_of(write_group_of(&it, 1, 1));
    assert_true(px_queue_may_leave(queue, 1000));
    queue->flights[queue->flying++] = &one;
    assert_false(px_queue_may_leave(queue, 1000));
    assert_false(px_queue_may_leave(queue, 1050));
    assert_true(px_queue_may_leave(queue, 1051));
    queue->flights[queue->flying++] = &two;
    assert_false(px_queue_may_leave(queue, 2050));
    assert_false(px_queue_may_leave(queue, 9000)); /* two are the most */
    queue->flights[0] = &two;
    queue->flying = 1;
    assert_false(px_queue_may_leave(queue, 2050));
}

static void slow_is_what_is_unusual(void **state)
{
    (void)state;
    rows it;
    px_queue *queue = queue_of(write_group_of(&it, 1, 1));
    assert_false(px_queue_is_slow(queue, 1000000)); /* nothing to compare it with */
    px_queue_note_time(queue, 1000, 30);
    assert_false(px_queue_is_slow(queue, 50));
    assert_false(px_queue_is_slow(queue, 123));
    assert_true(px_queue_is_slow(queue, 124));
    px_queue_note_time(queue, 2000, 10); /* quicker: at once */
    assert_true(px_queue_is_slow(queue, 51));
    assert_false(px_queue_is_slow(queue, 50));
    px_queue_note_time(queue, 11999, 200); /* slower: when the quick one is long ago */
    assert_int_equal(queue->quick_ms, 10);
    px_queue_note_time(queue, 12000, 200);
    assert_int_equal(queue->quick_ms, 200);
    assert_false(px_queue_is_slow(queue, 803));
    assert_true(px_queue_is_slow(queue, 804));
}

static void limits_learn(void **state)
{
    (void)state;
    static const struct {
        uint64_t rows, bytes, ms; /* ms 0: a refused size */
        uint64_t rows_then, bytes_then;
    } cases[] = {
        {160, 1600, 50, 160, 1600},
        {160, 1600, 51, 80, 800},
        {80, 800, 1, 89, 881},
        {158, 1599, 1, 160, 1600},
        {10, 100, 51, 10, 100},
        {19, 199, 51, 10, 100},
        {20, 200, 51, 10, 100},
        {21, 203, 51, 10, 101},
        {4, 40, 51, 4, 40},
        {1, 1, 1, 2, 2},
        {160, 1600, 0, 80, 800},
        {2, 2, 0, 1, 1},
        {1, 1, 0, 1, 1},
        {3, 5, 0, 1, 2},
        {150, 1500, 50, 160, 1600},
    };
    rows it;
    px_queue *queue = queue_of(write_group_of(&it, 1, 1));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        queue->limit_rows = cases[i].rows;
        queue->limit_bytes = cases[i].bytes;
        if (cases[i].ms == 0)
            px_queue_refused(queue);
        else
            px_queue_learn(queue, cases[i].ms);
        if (queue->limit_rows != cases[i].rows_then || queue->limit_bytes != cases[i].bytes_then)
            fail_msg("case %zu: %llu rows, %llu bytes", i, (unsigned long long)queue->limit_rows,
                     (unsigned long long)queue->limit_bytes);
    }
}

static void full_by_rows_or_bytes(void **state)
{
    (void)state;
    static const struct {
        size_t rows, bytes;
        bool full;
    } cases[] = {{0, 0, false},   {159, 1599, false}, {160, 0, true},
                 {0, 1600, true}, {161, 0, true},     {0, 1601, true}};
    rows it;
    px_queue *queue = queue_of(write_group_of(&it, 1, 1));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        queue->rows = cases[i].rows;
        queue->bytes = cases[i].bytes;
        assert_int_equal(px_queue_is_full(queue), cases[i].full);
    }
}

static void a_reload_lowers_limits_at_once(void **state)
{
    (void)state;
    rows it;
    static const cfg_table less = {.batch = {.rows = 100, .bytes = 2000}};
    static const cfg_table more = {.batch = {.rows = 300, .bytes = 900}};
    px_queue *queue = queue_of(write_group_of(&it, 1, 1));
    queue->limit_rows = 170;
    px_queue_configure(queue, &config); /* the same: nothing is looked at */
    assert_int_equal(queue->limit_rows, 170);
    px_queue_configure(queue, &less);
    assert_ptr_equal(queue->table, &less);
    assert_int_equal(queue->limit_rows, 100);
    assert_int_equal(queue->limit_bytes, 1600);
    px_queue_configure(queue, &more);
    assert_int_equal(queue->limit_rows, 100);
    assert_int_equal(queue->limit_bytes, 900);
}

/* --- which is next --- */

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* Queues come, go and move in any order: the first is always the one that waits for longest. */
static void the_oldest_is_first(void **state)
{
    (void)state;
    enum { QUEUES = 40, STEPS = 4000 };
    px_ready ready = {0};
    px_queue *queues = calloc(QUEUES, sizeof *queues);
    px_write_group *write_groups = calloc(QUEUES, sizeof *write_groups);
    bool there[QUEUES] = {false};
    unsigned seed = 1;
    for (size_t step = 0; step < STEPS; step++) {
        size_t i = next_random(&seed) % QUEUES;
        bool move = there[i] && next_random(&seed) % 2 == 0;
        if (there[i] && !move)
            px_ready_remove(&ready, &queues[i]);
        write_groups[i].arrived = next_random(&seed) % 1000;
        queues[i].waiting.first = next_random(&seed) % 8 == 0 ? NULL : &write_groups[i];
        if (move)
            px_ready_moved(&ready, &queues[i]);
        else if (!there[i])
            px_ready_add(&ready, &queues[i]);
        there[i] = move || !there[i];
        uint64_t oldest = UINT64_MAX;
        size_t count = 0;
        for (size_t k = 0; k < QUEUES; k++) {
            count += there[k];
            if (there[k] && queues[k].waiting.first != NULL && write_groups[k].arrived < oldest)
                oldest = write_groups[k].arrived;
        }
        assert_int_equal(ready.count, count);
        const px_queue *first = px_ready_first(&ready);
        assert_true((first == NULL) == (count == 0));
        if (first != NULL)
            assert_true((first->waiting.first != NULL ? first->waiting.first->arrived
                                                      : UINT64_MAX) == oldest);
    }
    free(ready.heap);
    free(queues);
    free(write_groups);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_makes_a_queue),
        TEST(a_queue_keeps_its_own_key),
        TEST(queues_go_when_they_were_empty_for_long),
        TEST(first_come_first_served),
        TEST(bytes_are_those_of_a_batch),
        TEST(a_batch_is_no_larger_than_the_limit),
        TEST(write_groups_leave_in_the_order_of_their_least_keys),
        TEST(batches_land_in_any_order),
        TEST(one_more_may_leave_when_the_first_is_slow),
        TEST(slow_is_what_is_unusual),
        TEST(limits_learn),
        TEST(full_by_rows_or_bytes),
        TEST(a_reload_lowers_limits_at_once),
        TEST(the_oldest_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
