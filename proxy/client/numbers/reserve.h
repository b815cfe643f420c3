/*
 * reserve: numbers of a sequence that were drawn ahead, a block at a time, for the sessions of one
 * kind (role, database, startup parameters) on this worker, whose rights are the same.
 */
#ifndef PX_RESERVE_H
#define PX_RESERVE_H

#include "proxy/backend/base/identity.h"
#include "proxy/loop/worker.h"

struct px_session;

typedef struct px_reserve {
    struct px_reserve *next;
    px_identity *identity; /* counted */
    uint32_t sequence;     /* its oid */
    uint64_t resets;       /* px_catalog_resets() when they were asked for */
    uint64_t file;         /* the sequence's when they were drawn: another one when it began anew */
    int64_t *values;       /* in the order in which they were drawn */
    size_t first, count, cap;
    size_t older;  /* of them, those that are of blocks before the last */
    int64_t *rest; /* those that nobody got in time: for the end of the sequence */
    size_t rest_count;
    int64_t latest;      /* the number that came last */
    bool falls;          /* … and was less than the one before */
    size_t size;         /* of the last block; 0: nobody has drawn just before */
    uint64_t asked_at;   /* when it was asked for; px_worker_now(), as all the others */
    uint64_t last;       /* the block that was asked for last (px_reserve_blocks()) … */
    uint64_t since;      /* … and the oldest of which a number may be here */
    unsigned held;       /* by sessions that mean to ask for one */
    bool gathers;        /* who wants one waits for another's block */
    bool asking;         /* it is under way … */
    bool spoiled;        /* … and is not to be used */
    bool came;           /* … and some of it has come */
    bool looks;          /* its question looks at stored code, if need be */
    uint64_t not_before; /* none is asked for until then */
    uint64_t used_at;
    uint64_t sure_at; /* a block came whose question looked at stored code, and was asked then */
} px_reserve;

/* That of the sequence for sessions that came as `identity`; it lives on while a block is under
 * way. What nobody used for half a second is not in it any more, nor what was drawn before a
 * sequence of the database was made to go on from elsewhere. */
px_reserve *px_reserve_of(px_worker *worker, px_identity *identity, uint32_t sequence);
/* The same, as it was found just before: what another worker has made of it meanwhile is seen the
 * next time. */
px_reserve *px_reserve_found(px_worker *worker, px_identity *identity, uint32_t sequence);
/* The next number; there is one. */
int64_t px_reserve_take(px_reserve *reserve);
/* Nobody gets those behind the first `count` any more, unless the sequence ends. */
void px_reserve_keep(px_reserve *reserve, size_t count);
/* The sequence has ended: so many numbers that nobody got. False: there are not so many. */
bool px_reserve_take_rest(px_worker *worker, px_reserve *reserve, size_t count, int64_t *numbers);

/* How many numbers are to be drawn ahead, should any be drawn now: the sooner the last block was
 * used up, the more, at most `most`; and no fewer than are `wanted` at once. 0: none. */
size_t px_reserve_size(const px_worker *worker, const px_reserve *reserve, size_t most,
                       size_t wanted);
/* Whether a block came just before, so that no stored code asks what was drawn. */
bool px_reserve_is_sure(const px_worker *worker, const px_reserve *reserve);
/* How many numbers sessions wait for, besides those that are here for them; all others that are
 * here are nobody's any more. */
size_t px_reserve_awaited(px_worker *worker, px_reserve *reserve);
/* A block of so many is asked for. 0: none, but numbers are drawn. `gathers`: whoever wants some
 * meanwhile waits. */
void px_reserve_begin(px_worker *worker, px_reserve *reserve, size_t count, bool gathers);
/* How many blocks the process has asked for: they are numbered so. */
uint64_t px_reserve_blocks(void);
/* A DataRow that answers rw_block_question(), from the session's own link. */
void px_reserve_row(struct px_session *session, px_reserve *reserve, pgw_slice body);
/* All of the block has come that will: sessions that wait for it are looked at again. Not
 * `answered`: the link is lost, or the session. */
void px_reserve_end(px_worker *worker, px_reserve *reserve, bool answered);

void px_reserves_free(px_worker *worker);

#endif
