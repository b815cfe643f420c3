/*
 * sequence_cache: numbers of a sequence that were drawn ahead, a block at a time, for the sessions
 * of one kind (role, database, startup parameters) on this worker, whose rights are the same.
 */
#ifndef PX_SEQUENCE_CACHE_H
#define PX_SEQUENCE_CACHE_H

#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

struct px_session;

typedef struct px_sequence_cache {
    struct px_sequence_cache *next;
    px_identity *identity; /* counted */
    uint32_t sequence;     /* oid of the sequence */
    uint64_t resets;       /* px_catalog_resets() when the numbers were asked for */
    uint64_t file;   /* file of the sequence when the numbers were drawn; one that began anew has
                        another */
    int64_t *values; /* numbers, in the order in which they were drawn; owned */
    size_t first, count, cap;
    size_t older;  /* how many of the `count` numbers are of blocks before the last */
    int64_t *rest; /* numbers that nobody got in time: for the end of the sequence; owned */
    size_t rest_count;
    int64_t latest;    /* the number that came last */
    bool falls;        /* `latest` was less than the number before it */
    size_t size;       /* numbers of the block that was asked for at `asked_at`; 0: none was */
    uint64_t asked_at; /* when a number was last asked for, in a block or alone; px_worker_now(), as
                          all times here */
    uint64_t last;  /* number of the block that was asked for last (px_sequence_cache_blocks()) */
    uint64_t since; /* number of the oldest block of which a number may be here */
    unsigned held;  /* sessions that mean to ask for a block */
    bool gathers;   /* a session that wants a number waits for the block that another draws */
    bool asking;    /* a block is under way */
    bool spoiled;   /* the block that is under way is not to be used */
    bool came;      /* some of the block that is under way has come */
    bool looks;     /* the block's question looks whether stored code asks what was drawn */
    uint64_t not_before; /* no block is asked for before this time */
    uint64_t used_at;
    uint64_t sure_at; /* when a block was asked for that came although its question looked at stored
                         code */
} px_sequence_cache;

/* The reserve of the sequence for sessions that came as `identity`; it lives on while a block is
 * under way. Numbers that nobody used for half a second are not in it any more, nor those drawn
 * before a sequence of the database was made to go on from elsewhere. */
px_sequence_cache *px_sequence_cache_of(px_worker *worker, px_identity *identity,
                                        uint32_t sequence);
/* The reserve as px_sequence_cache_of() has found it just before: what another worker has made of
 * it meanwhile is seen the next time. */
px_sequence_cache *px_sequence_cache_found(px_worker *worker, px_identity *identity,
                                           uint32_t sequence);
/* Takes the next number; there must be one. */
int64_t px_sequence_cache_take(px_sequence_cache *reserve);
/* Keeps the first `count` numbers: nobody gets the others any more, unless the sequence ends. */
void px_sequence_cache_keep(px_sequence_cache *reserve, size_t count);
/* Takes `count` numbers that nobody got, now that the sequence has ended. False: there are not so
 * many. */
bool px_sequence_cache_take_rest(px_worker *worker, px_sequence_cache *reserve, size_t count,
                                 int64_t *numbers);

/* How many numbers are to be drawn ahead, should any be drawn now: the sooner the last block was
 * used up, the more, at most `most`; and no fewer than are `wanted` at once. 0: none. */
size_t px_sequence_cache_size(const px_worker *worker, const px_sequence_cache *reserve,
                              size_t most, size_t wanted);
/* Whether a block came just before, so that no stored code asks what was drawn. */
bool px_sequence_cache_is_sure(const px_worker *worker, const px_sequence_cache *reserve);
/* How many numbers sessions wait for besides those that are here for them; forgets all others that
 * are here. */
size_t px_sequence_cache_awaited(px_worker *worker, px_sequence_cache *reserve);
/* Notes that a block of `count` numbers is asked for; 0: no block, but numbers are drawn.
 * `gathers`: whoever wants some meanwhile waits. */
void px_sequence_cache_begin(px_worker *worker, px_sequence_cache *reserve, size_t count,
                             bool gathers);
/* How many blocks the process has asked for, which are numbered so. */
uint64_t px_sequence_cache_blocks(void);
/* A DataRow that answers rw_block_question(), from the session's own link. */
void px_sequence_cache_row(struct px_session *session, px_sequence_cache *reserve, pgw_slice body);
/* All of the block has come that will: sessions that wait for it are looked at again. Not
 * `answered`: the link or the session is lost. */
void px_sequence_cache_end(px_worker *worker, px_sequence_cache *reserve, bool answered);

void px_reserves_free(px_worker *worker);

#endif
