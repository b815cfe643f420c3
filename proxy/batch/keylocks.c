#include "proxy/batch/keylocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

typedef struct px_key_claim {
    struct lock *lock; /* NULL: the row needs no claim in this place */
    px_write_group *write_group;
    struct px_key_claim *next, *previous; /* neighbours in the lock's list, in order of arrival */
    bool alone, granted;
} claim;

/* A lock of a hash, or of one key under a hash. It exists while a write group holds it or waits for
 * it. */
typedef struct lock {
    struct lock *chain;
    struct px_key_table *table;
    uint64_t hash, fingerprint, place;
    bool is_key;
    size_t claims_alone;
    claim *first, *last;
} lock;

typedef struct px_key_table {
    struct px_key_table *next;
    char *name;
    pthread_mutex_t mutex;
    lock **slots; /* an array whose length, slot_count, is a power of two */
    size_t slot_count, lock_count;
    lock *spare; /* locks without claims, for any place */
    size_t spare_count;
    bool hashes;       /* rows of known keys hold their hashes, too: other rows may claim these */
    size_t calm;       /* locks that were made since a row last claimed its hash alone */
    uint64_t seeds[2]; /* random, so that clients cannot choose keys that share a slot */
} key_table;

/* The tables of the process: as many as were ever configured, so they are only added, under the
 * mutex, and read without it. */
static struct {
    pthread_mutex_t mutex;
    _Atomic(key_table *) first;
} tables = {.mutex = PTHREAD_MUTEX_INITIALIZER};

enum { FIRST_SLOTS = 1024, MAX_SPARE = 16384 };

static key_table *new_table(const char *name)
{
    key_table *table = pgw_calloc(1, sizeof *table);
    table->name = pgw_strndup(name, strlen(name));
    pthread_mutex_init(&table->mutex, NULL);
    table->slot_count = FIRST_SLOTS;
    table->slots = pgw_calloc(table->slot_count, sizeof *table->slots);
    if (getrandom(table->seeds, sizeof table->seeds, GRND_NONBLOCK) < 0)
        table->seeds[0] = ~(table->seeds[1] = (uintptr_t)table);
    return table;
}

/* NULL: there is none of this name. */
static key_table *find_table(const char *name)
{
    key_table *table = atomic_load(&tables.first);
    while (table != NULL && strcmp(table->name, name) != 0)
        table = table->next;
    return table;
}

static key_table *take_table(const char *name)
{
    key_table *table = find_table(name);
    if (table != NULL)
        return table;
    pthread_mutex_lock(&tables.mutex);
    table = find_table(name);
    if (table == NULL) {
        table = new_table(name);
        table->next = tables.first;
        tables.first = table;
    }
    pthread_mutex_unlock(&tables.mutex);
    return table;
}

/* ---- locks, under their table's mutex ---- */

/* The place of a lock: its lower bits say in which slot the lock stands. Every bit of the product
 * depends on both seeds. */
static uint64_t place_of(const key_table *table, uint64_t hash, uint64_t fingerprint, bool is_key)
{
    unsigned __int128 product =
        (unsigned __int128)(hash ^ table->seeds[0]) * ((fingerprint ^ table->seeds[1]) + is_key);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static lock **slot_of(const key_table *table, uint64_t place)
{
    return &table->slots[place & (table->slot_count - 1)];
}

/* Puts the lock into its slot. */
static void put_lock(key_table *table, lock *l, lock **slot)
{
    l->chain = *slot;
    *slot = l;
    table->lock_count++;
}

/* Returns all locks, in one chain. */
static lock *take_locks(key_table *table)
{
    lock *all = NULL;
    for (size_t i = 0; i < table->slot_count; i++)
        for (lock *l = table->slots[i], *next; l != NULL; l = next) {
            next = l->chain;
            l->chain = all;
            all = l;
        }
    memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    table->lock_count = 0;
    return all;
}

static __attribute__((noinline)) void grow(key_table *table)
{
    lock *next, *all = take_locks(table);
    free(table->slots);
    table->slot_count *= 2;
    table->slots = pgw_calloc(table->slot_count, sizeof *table->slots);
    for (lock *l = all; l != NULL; l = next) {
        next = l->chain;
        put_lock(table, l, slot_of(table, l->place));
    }
}

/* A lock without claims, for any place. */
static lock *new_lock(key_table *table)
{
    lock *l = table->spare;
    if (l == NULL) {
        l = pgw_calloc(1, sizeof *l);
        l->table = table;
        return l;
    }
    table->spare = l->chain;
    table->spare_count--;
    return l;
}

static lock *find_lock(key_table *table, uint64_t hash, uint64_t fingerprint, bool is_key)
{
    uint64_t place = place_of(table, hash, fingerprint, is_key);
    lock **slot = slot_of(table, place);
    for (lock *l = *slot; l != NULL; l = l->chain)
        if (l->hash == hash && l->fingerprint == fingerprint && l->is_key == is_key)
            return l;
    if (table->lock_count >= table->slot_count) {
        grow(table);
        slot = slot_of(table, place);
    }
    lock *l = new_lock(table);
    l->hash = hash;
    l->fingerprint = fingerprint;
    l->place = place;
    l->is_key = is_key;
    put_lock(table, l, slot);
    table->calm++;
    return l;
}

/* Once the table has been calm for more locks than it has slots, hashes are not held any more:
 * holding them again, which looks at all slots, is cheap beside that. */
static void drop_lock(lock *l)
{
    key_table *table = l->table;
    lock **at = slot_of(table, l->place);
    while (*at != l)
        at = &(*at)->chain;
    *at = l->chain;
    table->lock_count--;
    if (table->lock_count == 0 && table->calm > table->slot_count)
        table->hashes = false;
    if (table->spare_count == MAX_SPARE) {
        free(l);
        return;
    }
    l->chain = table->spare;
    table->spare = l;
    table->spare_count++;
}

/* ---- claims, under the mutexes of all tables of the write group ---- */

/* The write group's rows are claimed in one go, so an earlier claim of its own is the last one
 * there. */
static void add_claim(claim *c, px_write_group *write_group, lock *l, bool alone)
{
    if (l->last != NULL && l->last->write_group == write_group)
        return;
    *c = (claim){.lock = l, .write_group = write_group, .previous = l->last, .alone = alone};
    c->granted = l->first == NULL || (!alone && l->claims_alone == 0);
    if (l->last != NULL)
        l->last->next = c;
    else
        l->first = c;
    l->last = c;
    l->claims_alone += alone;
    if (!c->granted)
        write_group->claims_missing++;
}

/* Grants what may be granted from `c` on, now that what stood before it is gone. Other claims of
 * the same write group may be granted by another thread at this moment, in another table. */
static void grant_from(claim *c, px_write_group **ready)
{
    while (c != NULL && !c->granted) {
        const claim *before = c->previous;
        if (before != NULL && (c->alone || before->alone || !before->granted))
            return;
        c->granted = true;
        if (atomic_fetch_sub(&c->write_group->claims_missing, 1) == 1) {
            c->write_group->message.next = (px_message *)*ready;
            *ready = c->write_group;
        }
        c = c->next;
    }
}

static void remove_claim(claim *c, px_write_group **ready)
{
    lock *l = c->lock;
    if (c->previous != NULL)
        c->previous->next = c->next;
    else
        l->first = c->next;
    if (c->next != NULL)
        c->next->previous = c->previous;
    else
        l->last = c->previous;
    l->claims_alone -= c->alone;
    if (l->first == NULL)
        drop_lock(l);
    else
        grant_from(c->next, ready);
}

static px_write_group *remove_claims(px_write_group *write_group)
{
    px_write_group *ready = NULL;
    claim *end = write_group->claims + write_group->claim_count;
    for (claim *c = write_group->claims; c < end; c++)
        if (c->lock != NULL)
            remove_claim(c, &ready);
    write_group->claim_count = 0;
    write_group->claims_missing = 0;
    return ready;
}

/* A row has two places for claims: the first of its key, or of its hash if the key is not known;
 * the second of the hash of a known key. */
enum { PLACES = 2 };

/* Units that hold keys, or wait for them, hold their hashes as well from now on. No write group
 * holds a hash alone yet. */
static void hold_hashes(key_table *table)
{
    table->calm = 0;
    if (table->hashes)
        return;
    table->hashes = true;
    lock *next, *all = table->lock_count > 0 ? take_locks(table) : NULL;
    for (lock *l = all; l != NULL; l = next) {
        next = l->chain;
        put_lock(table, l, slot_of(table, l->place));
        for (claim *c = l->first; c != NULL; c = c->next)
            add_claim(c + 1, c->write_group, find_lock(table, l->hash, 0, false), false);
    }
}

/* Most claims of large write groups are made here, without a call each. */
static __attribute__((flatten)) void claim_key(claim *c, px_write_group *write_group,
                                               key_table *table, const px_write_group_key *key)
{
    add_claim(c, write_group, find_lock(table, key->hash, key->fingerprint, true), true);
}

/* Rows whose key is not known go first: a write group that holds a hash alone needs no more for its
 * rows. */
static void claim_rows(px_write_group *write_group)
{
    const px_write_group_key *keys = write_group->keys, *end = keys + write_group->row_count;
    claim *places = write_group->claims;
    for (const px_write_group_key *key = keys; key < end; key++, places += PLACES) {
        if (key->constant)
            continue;
        key_table *table = write_group->tables[key->table].keys;
        places[0].lock = places[1].lock = NULL;
        hold_hashes(table);
        add_claim(places, write_group, find_lock(table, key->hash, 0, false), true);
    }
    places = write_group->claims;
    for (const px_write_group_key *key = keys; key < end; key++, places += PLACES) {
        if (!key->constant)
            continue;
        key_table *table = write_group->tables[key->table].keys;
        places[0].lock = places[1].lock = NULL;
        if (table->hashes)
            add_claim(places + 1, write_group, find_lock(table, key->hash, 0, false), false);
        claim_key(places, write_group, table, key);
    }
}

/* ---- the mutexes of a write group's tables ---- */

static void find_tables(px_write_group *write_group)
{
    write_group->locked =
        pgw_arena_alloc(&write_group->arena, write_group->table_count * sizeof(key_table *));
    for (size_t i = 0; i < write_group->table_count; i++) {
        key_table *table = take_table(write_group->tables[i].name);
        size_t at = i;
        for (; at > 0 && write_group->locked[at - 1] > table; at--)
            write_group->locked[at] = write_group->locked[at - 1];
        write_group->locked[at] = write_group->tables[i].keys = table;
    }
}

/* Every thread takes the mutexes of tables in the same order. */
static void lock_tables(const px_write_group *write_group)
{
    for (size_t i = 0; i < write_group->table_count; i++)
        pthread_mutex_lock(&write_group->locked[i]->mutex);
}

static void unlock_tables(const px_write_group *write_group)
{
    for (size_t i = write_group->table_count; i-- > 0;)
        pthread_mutex_unlock(&write_group->locked[i]->mutex);
}

/* Room in the write group's arena for claims, which is not zeroed if they are many. */
static claim *room_for(px_write_group *write_group, size_t claims)
{
    enum { FEW = 64 };
    pgw_buf room = {0};
    if (claims <= FEW)
        return pgw_arena_alloc(&write_group->arena, claims * sizeof *write_group->claims);
    pgw_buf_reserve(&room, claims * sizeof *write_group->claims);
    room.len = claims * sizeof *write_group->claims;
    return (claim *)pgw_arena_keep(&write_group->arena, &room).ptr;
}

/* ---- the interface ---- */

bool px_keylocks_claim(px_write_group *write_group)
{
    if (write_group->row_count == 0)
        return true;
    find_tables(write_group);
    write_group->claims = room_for(write_group, PLACES * write_group->row_count);
    write_group->claims_missing = 0;
    write_group->claim_count = PLACES * write_group->row_count;
    lock_tables(write_group);
    claim_rows(write_group);
    bool granted = write_group->claims_missing == 0;
    unlock_tables(write_group);
    return granted;
}

/* Turns a list of granted write groups round: write groups were put in front, so that the last
 * comes first. */
static px_write_group *reversed(px_write_group *list)
{
    px_write_group *result = NULL;
    while (list != NULL) {
        px_write_group *next = px_keylocks_next(list);
        list->message.next = (px_message *)result;
        result = list;
        list = next;
    }
    return result;
}

px_write_group *px_keylocks_release(px_write_group *write_group)
{
    if (write_group->claim_count == 0)
        return NULL;
    lock_tables(write_group);
    px_write_group *ready = reversed(remove_claims(write_group));
    unlock_tables(write_group);
    return ready;
}

bool px_keylocks_cancel(px_write_group *write_group, px_write_group **granted)
{
    lock_tables(write_group);
    bool waiting = write_group->claims_missing > 0;
    *granted = waiting ? reversed(remove_claims(write_group)) : NULL;
    unlock_tables(write_group);
    return waiting;
}

static void free_table(key_table *table)
{
    assert(table->lock_count == 0);
    for (lock *l = table->spare, *next; l != NULL; l = next) {
        next = l->chain;
        free(l);
    }
    pthread_mutex_destroy(&table->mutex);
    free(table->slots);
    free(table->name);
    free(table);
}

void px_keylocks_free(void)
{
    pthread_mutex_lock(&tables.mutex);
    for (key_table *table = tables.first, *next; table != NULL; table = next) {
        next = table->next;
        free_table(table);
    }
    tables.first = NULL;
    pthread_mutex_unlock(&tables.mutex);
}
