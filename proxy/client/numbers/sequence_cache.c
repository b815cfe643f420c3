#include "proxy/client/numbers/sequence_cache.h"

#include "protocol/backend.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/numbers/sequence_session.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORGOTTEN_MS = 5 * 60 * 1000,
    IN_VAIN_MS = 10 * 1000,
    SHORT_MS = 500,
    MOST_AWAITED = 1000,
    MOST_REST = 1000
};

static void free_reserve(px_sequence_cache *reserve)
{
    px_identity_drop(reserve->identity);
    free(reserve->values);
    free(reserve->rest);
    free(reserve);
}

static void forget_unused(px_worker *worker)
{
    for (px_sequence_cache **at = &worker->reserves; *at != NULL;) {
        px_sequence_cache *reserve = *at;
        if (reserve->asking || reserve->held > 0 ||
            px_worker_now(worker) < reserve->used_at + FORGOTTEN_MS) {
            at = &reserve->next;
            continue;
        }
        *at = reserve->next;
        free_reserve(reserve);
    }
}

static px_sequence_cache *find_or_add(px_worker *worker, px_identity *identity, uint32_t sequence)
{
    for (px_sequence_cache *one = worker->reserves; one != NULL; one = one->next)
        if (one->identity == identity && one->sequence == sequence)
            return one;
    forget_unused(worker);
    px_sequence_cache *reserve = pgw_calloc(1, sizeof *reserve);
    reserve->identity = px_identity_take(identity);
    reserve->sequence = sequence;
    reserve->next = worker->reserves;
    worker->reserves = reserve;
    return reserve;
}

/* Forgets all numbers; rows in flight keep theirs. */
static void empty(px_sequence_cache *reserve)
{
    reserve->count = reserve->rest_count = 0;
    reserve->spoiled = reserve->asking;
}

px_sequence_cache *px_sequence_cache_of(px_worker *worker, px_identity *identity, uint32_t sequence)
{
    px_sequence_cache *reserve = find_or_add(worker, identity, sequence);
    uint64_t resets = px_catalog_resets(worker, identity), now = px_worker_now(worker);
    if (reserve->resets != resets) {
        empty(reserve);
        reserve->sure_at = reserve->not_before = 0;
    } else if (now > reserve->used_at + SHORT_MS)
        px_sequence_cache_keep(reserve, 0);
    reserve->resets = resets;
    reserve->used_at = now;
    return reserve;
}

px_sequence_cache *px_sequence_cache_found(px_worker *worker, px_identity *identity,
                                           uint32_t sequence)
{
    return find_or_add(worker, identity, sequence);
}

int64_t px_sequence_cache_take(px_sequence_cache *reserve)
{
    reserve->count--;
    if (reserve->older > 0 && --reserve->older == 0)
        reserve->since = reserve->last;
    return reserve->values[reserve->first++];
}

void px_sequence_cache_keep(px_sequence_cache *reserve, size_t count)
{
    while (reserve->count > count && reserve->rest_count < MOST_REST) {
        if ((reserve->rest_count & (reserve->rest_count - 1)) == 0)
            reserve->rest =
                pgw_realloc(reserve->rest, (2 * reserve->rest_count + 1) * sizeof *reserve->rest);
        reserve->rest[reserve->rest_count++] = reserve->values[reserve->first + --reserve->count];
    }
    if (reserve->count > count)
        reserve->count = count;
}

bool px_sequence_cache_take_rest(px_worker *worker, px_sequence_cache *reserve, size_t count,
                                 int64_t *numbers)
{
    if (reserve->gathers)
        (void)px_sequence_cache_awaited(worker, reserve);
    else
        px_sequence_cache_keep(reserve, 0);
    if (reserve->rest_count < count)
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = reserve->rest[--reserve->rest_count];
    return true;
}

size_t px_sequence_cache_size(const px_worker *worker, const px_sequence_cache *reserve,
                              size_t most, size_t wanted)
{
    uint64_t now = px_worker_now(worker);
    if (reserve->asking || now < reserve->not_before)
        return 0;
    bool soon = reserve->asked_at != 0 && now <= reserve->asked_at + SHORT_MS;
    size_t more = soon ? 2 * reserve->size + 1 : 0, size = more < most ? more : most;
    return size > wanted ? size : wanted;
}

bool px_sequence_cache_is_sure(const px_worker *worker, const px_sequence_cache *reserve)
{
    return reserve->sure_at > 0 && px_worker_now(worker) < reserve->sure_at + SHORT_MS;
}

size_t px_sequence_cache_awaited(px_worker *worker, px_sequence_cache *reserve)
{
    size_t owed = 0, more = 0;
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        const px_session *session = px_sessions_at(worker, i);
        if (session == NULL || session->hand.awaits.reserve != reserve)
            continue;
        if (reserve->since > session->hand.awaits.since)
            owed += session->hand.awaits.count;
        else
            more += session->hand.awaits.count;
    }
    px_sequence_cache_keep(reserve, owed);
    if (px_worker_now(worker) < reserve->not_before)
        return 0;
    return more < MOST_AWAITED ? more : MOST_AWAITED;
}

static _Atomic uint64_t blocks;

uint64_t px_sequence_cache_blocks(void)
{
    return atomic_load(&blocks);
}

/* A block is asked for when half of the last is used up: never are more than two partly here. */
void px_sequence_cache_begin(px_worker *worker, px_sequence_cache *reserve, size_t count,
                             bool gathers)
{
    reserve->asked_at = px_worker_now(worker);
    reserve->size = count;
    reserve->asking = count > 0 || gathers;
    reserve->gathers = gathers;
    reserve->spoiled = reserve->came = false;
    reserve->looks = !px_sequence_cache_is_sure(worker, reserve);
    if (count == 0)
        return;
    px_count(worker->metrics, PX_SEQUENCE_BLOCKS, 1);
    uint64_t number = atomic_fetch_add(&blocks, 1) + 1;
    if (reserve->count == 0)
        reserve->since = number;
    else if (reserve->older == 0)
        reserve->since = reserve->last;
    reserve->older = reserve->count;
    reserve->last = number;
}

static void add(px_sequence_cache *reserve, int64_t value)
{
    if (reserve->first + reserve->count == reserve->cap && reserve->first > 0) {
        memmove(reserve->values, reserve->values + reserve->first,
                reserve->count * sizeof *reserve->values);
        reserve->first = 0;
    }
    if (reserve->count == reserve->cap) {
        reserve->cap = reserve->cap > 0 ? 2 * reserve->cap : 128;
        reserve->values = pgw_realloc(reserve->values, reserve->cap * sizeof *reserve->values);
    }
    reserve->values[reserve->first + reserve->count++] = value;
}

static long long number_of(pgw_slice text)
{
    char digits[24] = "";
    memcpy(digits, text.ptr, text.len < sizeof digits ? text.len : sizeof digits - 1);
    return strtoll(digits, NULL, 10);
}

/* Where numbers turn round, somebody has set the sequence back: it gives again what nobody got. */
static void note_turn(px_sequence_cache *reserve, int64_t number)
{
    bool falls = number < reserve->latest;
    if (falls != reserve->falls)
        reserve->rest_count = 0;
    reserve->falls = falls;
    reserve->latest = number;
}

void px_sequence_cache_row(px_session *session, px_sequence_cache *reserve, pgw_slice body)
{
    pgw_slice cells[3];
    bool none[3];
    if (pgw_data_row_decode(body, cells, none, 3) != 3 || none[1] || none[2])
        return;
    reserve->came = true;
    if (reserve->file != (uint64_t)number_of(cells[1]))
        reserve->count = reserve->older = reserve->rest_count = 0;
    reserve->file = (uint64_t)number_of(cells[1]);
    int64_t number = number_of(cells[2]);
    note_turn(reserve, number);
    px_sequence_session_for_others(session, reserve->sequence, number);
    if (!reserve->spoiled)
        add(reserve, number);
}

static void wake_waiting(px_worker *worker)
{
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        px_session *session = px_sessions_at(worker, i);
        if (session != NULL && session->wait == PX_WAIT_TURN)
            px_session_wake(session, PX_WAIT_TURN);
    }
}

void px_sequence_cache_end(px_worker *worker, px_sequence_cache *reserve, bool answered)
{
    reserve->asking = false;
    if (reserve->came && reserve->looks)
        reserve->sure_at = reserve->asked_at;
    if (answered && !reserve->came && reserve->size > 0)
        reserve->not_before = px_worker_now(worker) + IN_VAIN_MS;
    wake_waiting(worker);
}

void px_reserves_free(px_worker *worker)
{
    while (worker->reserves != NULL) {
        px_sequence_cache *reserve = worker->reserves;
        worker->reserves = reserve->next;
        free_reserve(reserve);
    }
}
