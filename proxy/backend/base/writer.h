/*
 * writer: how attempts are written to a link and their outcome is read from it. An attempt is what
 * is on a link at one time: units in one transaction (shared), or each in its own.
 */
#ifndef PX_WRITER_H
#define PX_WRITER_H

#include "proxy/backend/base/link.h"
#include "proxy/backend/base/unit.h"

typedef enum px_verdict {
    PX_VERDICT_COMMITTED,
    PX_VERDICT_FAILED, /* unit->error says why */
    PX_VERDICT_REPEAT, /* wrote nothing, is to be sent again alone */
    PX_VERDICT_LATER,  /* wrote nothing, and may do another time: is to be sent again behind a pause
                          (pause_ms), that needs no link; unit->error says why */
    PX_VERDICT_REROUTE /* wrote nothing, waits for a lock: its session's own link is the place */
} px_verdict;

typedef enum px_progress {
    PX_PROGRESS_MORE,
    PX_PROGRESS_DONE,  /* every unit was answered: the link is free */
    PX_PROGRESS_BROKEN /* the backend did not keep to the protocol: the link is of no use */
} px_progress;

typedef struct px_attempt {
    px_unit **units;
    size_t count;
    bool shared;      /* one transaction; false: each unit has its own */
    bool joined;      /* rows that share it keep statements of their own */
    pgw_buf *scratch; /* empty: to write in */
    void (*answered)(struct px_attempt *attempt, px_unit *unit, px_verdict verdict);

    /* Out; zero at the start. */
    size_t at;         /* units before this one have their outcome, whatever happens to the link */
    bool refused_size; /* it was too large: all together, or a unit alone */
    bool doubted;      /* rows failed merged, for no reason that is known */
    uint32_t pause_ms; /* of the unit that is answered by LATER */
    uint64_t notices;  /* that came for no single unit */
    char fatal[6];     /* SQLSTATE of the error by which the backend has ended the link */
} px_attempt;

/* A link's, from when it is ready to when it is closed. */
typedef struct px_writer {
    const struct px_writer_kind *kind;
} px_writer;

/* What a kind of backend brings. */
typedef struct px_writer_kind {
    px_writer *(*make)(px_link *link);
    void (*free)(px_writer *writer);
    /* Sends the whole attempt, which stays until it is done or given up; its units' `completed` and
     * tags are reset. */
    void (*begin)(px_writer *writer, px_attempt *attempt);
    /* Takes one message of the backend, while there is an attempt. */
    px_progress (*on_message)(px_writer *writer, char type, pgw_slice message);
} px_writer_kind;

static inline void px_writer_begin(px_writer *writer, px_attempt *attempt)
{
    writer->kind->begin(writer, attempt);
}

static inline px_progress px_writer_on_message(px_writer *writer, char type, pgw_slice message)
{
    return writer->kind->on_message(writer, type, message);
}

static inline void px_writer_free(px_writer *writer) /* NULL is fine */
{
    if (writer != NULL)
        writer->kind->free(writer);
}

/* ---- for kinds of writers: what is answered to the statements of units ---- */

/* The unit at this place, before `to`, unless all of its statements are answered; else NULL. */
px_unit *px_attempt_answering(const px_attempt *attempt, size_t at, size_t to);
/* Something came for the next statement of the unit, which px_attempt_answering() told: NULL is
 * BROKEN. The body of a CommandComplete, or it is suspended; a row, or the description of rows, as
 * a whole message; BindComplete. */
px_progress px_unit_hears_complete(px_unit *unit, bool suspended, pgw_slice body);
px_progress px_unit_hears_returned(px_unit *unit, pgw_slice message);
px_progress px_unit_hears_bound(px_unit *unit);
/* All its rows are stored, with those of others in one statement. */
void px_unit_hears_stored(px_unit *unit);

#endif
