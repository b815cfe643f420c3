#include "proxy/batch/queue.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 64,
    LIMIT_FRACTION = 16 /* slow service brings the limit down to this part of the configured one */
};

/* ---- the table ---- */

static size_t slot_of(const px_queue_table *table, const px_write_group *write_group)
{
    uint64_t place = write_group->several_partitions ? UINT64_MAX : write_group->partition;
    uint64_t mixed = (write_group->merge_hash ^ place) * UINT64_C(0x9e3779b97f4a7c15);
    return (mixed >> 32) & (table->slot_count - 1);
}

static bool same_tables(const px_write_group *a, const px_write_group *b)
{
    bool same = a->table_count == b->table_count;
    for (size_t i = 0; same && i < a->table_count; i++)
        same = strcmp(a->tables[i].name, b->tables[i].name) == 0;
    return same;
}

static bool same_statements(const px_write_group *a, const px_write_group *b)
{
    bool same = a->prepared_count == b->prepared_count;
    for (size_t i = 0; same && i < a->prepared_count; i++)
        same = px_write_group_same_prepared(&a->prepared[i], &b->prepared[i]);
    return same;
}

/* The hash alone is no proof: clients choose what goes into it. */
static bool same_key(const px_write_group *a, const px_write_group *b)
{
    return a->merge_hash == b->merge_hash && a->kind == b->kind && a->epoch == b->epoch &&
           a->several_partitions == b->several_partitions &&
           (a->several_partitions || a->partition == b->partition) && same_tables(a, b) &&
           px_identity_shares(a->identity, b->identity) && pgw_slice_eq(a->head, b->head) &&
           pgw_slice_eq(a->tail, b->tail) && pgw_slice_eq(a->conditions, b->conditions) &&
           (a->kind != PX_WRITE_GROUP_PARAMS || same_statements(a, b));
}

static void copy_tables(px_write_group *key, const px_write_group *write_group, pgw_arena *arena)
{
    key->tables = pgw_arena_alloc(arena, write_group->table_count * sizeof *key->tables);
    key->table_count = write_group->table_count;
    for (size_t i = 0; i < write_group->table_count; i++)
        key->tables[i].name = pgw_arena_printf(arena, "%s", write_group->tables[i].name);
}

static void copy_key(px_queue *queue, const px_write_group *write_group)
{
    px_write_group *key = &queue->key;
    pgw_arena *arena = &queue->arena;
    key->kind = write_group->kind;
    key->identity = px_identity_take(write_group->identity);
    copy_tables(key, write_group, arena);
    key->epoch = write_group->epoch;
    key->several_partitions = write_group->several_partitions;
    key->partition = write_group->partition;
    key->head = pgw_arena_copy(arena, write_group->head);
    key->tail = pgw_arena_copy(arena, write_group->tail);
    key->conditions = pgw_arena_copy(arena, write_group->conditions);
    key->merge_hash = write_group->merge_hash;
    if (write_group->kind != PX_WRITE_GROUP_PARAMS)
        return;
    key->prepared = pgw_arena_alloc(arena, write_group->prepared_count * sizeof *key->prepared);
    key->prepared_count = write_group->prepared_count;
    for (size_t i = 0; i < write_group->prepared_count; i++)
        key->prepared[i] = px_write_group_keep_prepared(&write_group->prepared[i]);
}

static void grow(px_queue_table *table)
{
    px_queue **old = table->slots;
    size_t old_count = table->slot_count;
    table->slot_count = old_count == 0 ? FIRST_SLOTS : 2 * old_count;
    table->slots = pgw_calloc(table->slot_count, sizeof *table->slots);
    for (size_t i = 0; i < old_count; i++)
        for (px_queue *queue = old[i], *next; queue != NULL; queue = next) {
            next = queue->chain;
            size_t slot = slot_of(table, &queue->key);
            queue->chain = table->slots[slot];
            table->slots[slot] = queue;
        }
    free(old);
}

/* The bytes of the texts in the key, which a client may make long. */
static size_t text_bytes(const px_write_group *key)
{
    size_t bytes = key->head.len + key->tail.len + key->conditions.len;
    for (size_t i = 0; i < key->prepared_count; i++)
        bytes += key->prepared[i].text.len + key->prepared[i].columns.len;
    return bytes;
}

px_queue *px_queue_find(px_queue_table *table, const px_write_group *write_group)
{
    if (table->count >= table->slot_count)
        grow(table);
    size_t slot = slot_of(table, write_group);
    for (px_queue *queue = table->slots[slot]; queue != NULL; queue = queue->chain)
        if (same_key(&queue->key, write_group))
            return queue;
    px_queue *queue = pgw_calloc(1, sizeof *queue);
    copy_key(queue, write_group);
    queue->table = write_group->tables[0].config;
    queue->limit_rows = queue->table->batch.rows;
    queue->limit_bytes = queue->table->batch.bytes;
    queue->quick_ms = UINT64_MAX;
    queue->chain = table->slots[slot];
    table->slots[slot] = queue;
    table->count++;
    table->bytes += text_bytes(&queue->key);
    return queue;
}

static void free_queue(px_queue *queue)
{
    px_identity_drop(queue->key.identity);
    px_batch_free(queue->spare);
    for (size_t i = 0; i < queue->key.prepared_count; i++)
        px_write_group_drop_prepared(&queue->key.prepared[i]);
    pgw_arena_free(&queue->arena);
    free(queue);
}

void px_queue_sweep(px_queue_table *table, uint64_t since, void (*on_free)(px_queue *queue))
{
    for (size_t i = 0; i < table->slot_count; i++)
        for (px_queue **at = &table->slots[i]; *at != NULL;) {
            px_queue *queue = *at;
            if (queue->state != PX_QUEUE_EMPTY || queue->idle_since >= since) {
                at = &queue->chain;
                continue;
            }
            *at = queue->chain;
            table->count--;
            table->bytes -= text_bytes(&queue->key);
            if (on_free != NULL)
                on_free(queue);
            free_queue(queue);
        }
}

void px_queue_table_free(px_queue_table *table)
{
    for (size_t i = 0; i < table->slot_count; i++)
        for (px_queue *queue = table->slots[i], *next; queue != NULL; queue = next) {
            next = queue->chain;
            free_queue(queue);
        }
    free(table->slots);
    *table = (px_queue_table){0};
}

/* ---- one queue ---- */

void px_queue_configure(px_queue *queue, const cfg_table *table)
{
    if (queue->table == table)
        return;
    queue->table = table;
    if (queue->limit_rows > table->batch.rows)
        queue->limit_rows = table->batch.rows;
    if (queue->limit_bytes > table->batch.bytes)
        queue->limit_bytes = table->batch.bytes;
}

static void count_in(px_queue *queue, px_write_group *write_group)
{
    write_group->batch_bytes = 0;
    for (size_t i = 0; i < write_group->statement_count; i++)
        write_group->batch_bytes += write_group->statements[i].bytes;
    queue->write_groups++;
    queue->rows += write_group->row_count;
    queue->bytes += write_group->batch_bytes;
    write_group->queue = queue;
    write_group->state = PX_WRITE_GROUP_QUEUED;
}

void px_queue_push(px_queue *queue, px_write_group *write_group)
{
    px_write_group_chain_add(&queue->waiting, write_group);
    count_in(queue, write_group);
}

void px_queue_push_front(px_queue *queue, px_write_group *write_group)
{
    px_write_group_chain_add_first(&queue->waiting, write_group);
    count_in(queue, write_group);
}

void px_queue_remove(px_queue *queue, px_write_group *write_group)
{
    px_write_group_chain_remove(&queue->waiting, write_group);
    queue->write_groups--;
    queue->rows -= write_group->row_count;
    queue->bytes -= write_group->batch_bytes;
}

bool px_queue_is_full(const px_queue *queue)
{
    return queue->rows >= queue->limit_rows || queue->bytes >= queue->limit_bytes;
}

/* Whether a write group is to have a batch of its own while others wait. */
static bool travels_alone(const px_queue *queue, const px_write_group *write_group)
{
    return write_group->send_alone || write_group->row_count > queue->limit_rows / 2 ||
           write_group->batch_bytes > queue->limit_bytes / 2;
}

static bool key_before(const px_write_group_key *a, const px_write_group_key *b)
{
    return a->hash != b->hash ? a->hash < b->hash : a->fingerprint < b->fingerprint;
}

static px_write_group_key least_key(const px_write_group *write_group)
{
    px_write_group_key least =
        write_group->row_count > 0 ? write_group->keys[0] : (px_write_group_key){0};
    for (size_t i = 1; i < write_group->row_count; i++)
        if (key_before(&write_group->keys[i], &least))
            least = write_group->keys[i];
    return least;
}

static int compare_write_groups(const void *a, const void *b)
{
    const px_write_group *const *left = a, *const *right = b;
    if (key_before(&(*left)->least, &(*right)->least))
        return -1;
    return key_before(&(*right)->least, &(*left)->least);
}

/* Puts write groups into the order of their keys. */
static void sort_by_keys(px_batch *batch)
{
    for (size_t i = 0; i < batch->attempt.count; i++)
        batch->write_groups[i]->least = least_key(batch->write_groups[i]);
    qsort(batch->write_groups, batch->attempt.count, sizeof *batch->write_groups,
          compare_write_groups);
}

static void take_first(px_queue *queue, px_batch *batch)
{
    px_write_group *write_group = queue->waiting.first;
    px_queue_remove(queue, write_group);
    write_group->state = PX_WRITE_GROUP_FLYING;
    batch->rows += write_group->row_count;
    px_batch_add(batch, write_group);
}

/* How many write groups may be in a batch with this one, of at most `most`. */
static size_t least_company(size_t most, const px_write_group *write_group)
{
    return write_group->company > 0 && write_group->company < most ? write_group->company : most;
}

px_batch *px_queue_form(px_queue *queue, uint64_t now)
{
    px_batch *batch = queue->spare != NULL ? queue->spare : px_batch_new();
    queue->spare = NULL;
    batch->queue = queue;
    batch->started = batch->since = now;
    queue->flights[queue->flying++] = batch;
    bool alone = travels_alone(queue, queue->waiting.first);
    size_t bytes = queue->waiting.first->batch_bytes;
    size_t most = least_company(SIZE_MAX, queue->waiting.first);
    take_first(queue, batch);
    while (!alone && queue->waiting.first != NULL) {
        const px_write_group *write_group = queue->waiting.first;
        bytes += write_group->batch_bytes;
        most = least_company(most, write_group);
        if (travels_alone(queue, write_group) || bytes > queue->limit_bytes ||
            batch->attempt.count >= most ||
            batch->rows + write_group->row_count > queue->limit_rows)
            break;
        take_first(queue, batch);
    }
    if (batch->attempt.count > 1)
        sort_by_keys(batch);
    return batch;
}

void px_queue_land(px_batch *batch)
{
    px_queue *queue = batch->queue;
    size_t i = 0;
    while (queue->flights[i] != batch)
        i++;
    queue->flights[i] = queue->flights[--queue->flying];
    queue->flights[queue->flying] = NULL;
    px_batch_free(queue->spare);
    px_batch_clear(batch);
    queue->spare = batch;
}

/* ---- time ---- */

enum { QUICK_MS = 10 * 1000, UNUSUAL = 4, WORTH = 16 /* write groups */ };

bool px_queue_may_leave(const px_queue *queue, uint64_t now)
{
    if (queue->flying > 1)
        return false;
    return queue->flying == 0 || now - queue->flights[0]->started > queue->table->batch.target_ms;
}

bool px_queue_lane_may_leave(const px_queue *queue, uint64_t now)
{
    bool slow = true;
    for (size_t i = 0; i < queue->flying; i++)
        slow = slow && now - queue->flights[i]->started > queue->table->batch.target_ms;
    return queue->key.several_partitions && queue->flying < PX_QUEUE_FLIGHTS &&
           (slow || queue->write_groups >= WORTH);
}

bool px_queue_is_slow(const px_queue *queue, uint64_t ms)
{
    return ms > queue->table->batch.target_ms && ms / UNUSUAL > queue->quick_ms;
}

void px_queue_note_time(px_queue *queue, uint64_t now, uint64_t ms)
{
    if (ms > queue->quick_ms && now < queue->quick_until)
        return;
    queue->quick_ms = ms;
    queue->quick_until = now + QUICK_MS;
}

/* ---- the limit in force ---- */

static uint64_t halved(uint64_t limit, uint64_t least)
{
    uint64_t half = limit / 2 < 1 ? 1 : limit / 2;
    if (half >= least)
        return half;
    return limit < least ? limit : least;
}

static uint64_t grown(uint64_t limit, uint64_t most)
{
    limit += limit / 10 + 1;
    return limit > most ? most : limit;
}

void px_queue_learn(px_queue *queue, uint64_t ms)
{
    const cfg_batch *batch = &queue->table->batch;
    if (ms > batch->target_ms) {
        queue->limit_rows = halved(queue->limit_rows, batch->rows / LIMIT_FRACTION);
        queue->limit_bytes = halved(queue->limit_bytes, batch->bytes / LIMIT_FRACTION);
        return;
    }
    queue->limit_rows = grown(queue->limit_rows, batch->rows);
    queue->limit_bytes = grown(queue->limit_bytes, batch->bytes);
}

void px_queue_refused(px_queue *queue)
{
    queue->limit_rows = halved(queue->limit_rows, 1);
    queue->limit_bytes = halved(queue->limit_bytes, 1);
}

/* ---- the heap ---- */

static uint64_t waiting_since(const px_queue *queue)
{
    return queue->waiting.first != NULL ? queue->waiting.first->arrived : UINT64_MAX;
}

static void put(px_ready *ready, size_t i, px_queue *queue)
{
    ready->heap[i] = queue;
    queue->heap_index = i;
}

static void sift_up(px_ready *ready, size_t i)
{
    px_queue *queue = ready->heap[i];
    while (i > 0 && waiting_since(queue) < waiting_since(ready->heap[(i - 1) / 2])) {
        put(ready, i, ready->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(ready, i, queue);
}

static void sift_down(px_ready *ready, size_t i)
{
    px_queue *queue = ready->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= ready->count)
            break;
        if (child + 1 < ready->count &&
            waiting_since(ready->heap[child + 1]) < waiting_since(ready->heap[child]))
            child++;
        if (waiting_since(queue) <= waiting_since(ready->heap[child]))
            break;
        put(ready, i, ready->heap[child]);
        i = child;
    }
    put(ready, i, queue);
}

void px_ready_add(px_ready *ready, px_queue *queue)
{
    if (ready->count == ready->cap) {
        ready->cap = ready->cap == 0 ? 16 : 2 * ready->cap;
        ready->heap = pgw_realloc(ready->heap, ready->cap * sizeof *ready->heap);
    }
    put(ready, ready->count++, queue);
    sift_up(ready, queue->heap_index);
}

void px_ready_moved(px_ready *ready, px_queue *queue)
{
    sift_up(ready, queue->heap_index);
    sift_down(ready, queue->heap_index);
}

void px_ready_remove(px_ready *ready, px_queue *queue)
{
    size_t i = queue->heap_index;
    px_queue *last = ready->heap[--ready->count];
    if (last == queue)
        return;
    put(ready, i, last);
    px_ready_moved(ready, last);
}
