/*
 * writer: how attempts are written to a link and their outcome is read from it. An attempt is what
 * is on a link at one time: write groups in one transaction (shared), or each in its own.
 */
#ifndef PX_WRITER_H
#define PX_WRITER_H

#include "proxy/backend/base/link.h"
#include "proxy/backend/base/write_group.h"

typedef enum px_verdict {
    PX_VERDICT_COMMITTED,
    PX_VERDICT_FAILED, /* FAILED: write group->error says why */
    PX_VERDICT_REPEAT, /* nothing was written: the write group is to be sent again alone */
    PX_VERDICT_LATER, /* nothing was written: the write group is to be sent again after pause_ms, in
                         which it holds no link; write group->error says why */
    PX_VERDICT_REROUTE /* nothing was written, for a lock: the write group is to wait for that on
                          its session's own link */
} px_verdict;

typedef enum px_progress {
    PX_PROGRESS_MORE,
    PX_PROGRESS_DONE,  /* every write group was answered, and the link is free */
    PX_PROGRESS_BROKEN /* the backend broke the protocol: the link is to be closed */
} px_progress;

typedef struct px_attempt {
    px_write_group **write_groups;
    size_t count;
    bool shared;      /* all write groups in one transaction; false: each write group in its own */
    bool joined;      /* ROWS of a shared transaction are not merged into one statement */
    pgw_buf *scratch; /* an empty buffer to write in */
    void (*answered)(struct px_attempt *attempt, px_write_group *write_group, px_verdict verdict);

    /* Set by the writer; zero at the start. */
    size_t
        at; /* the write groups before this one have their outcome, whatever happens to the link */
    bool refused_size; /* the attempt was too large: all write groups together, or one alone */
    bool doubted; /* the merged rows failed for a reason that says nothing of whose fault it was */
    uint32_t pause_ms; /* ms that a write group with the verdict LATER pauses */
    uint64_t notices;  /* number of NoticeResponses that no write group was given */
    char fatal[6];     /* SQLSTATE of the error by which the backend has ended the link */
} px_attempt;

/* The writer of one link, from when the link is ready to when it is closed. */
typedef struct px_writer {
    const struct px_writer_kind *kind;
} px_writer;

/* The functions that a kind of backend brings. */
typedef struct px_writer_kind {
    px_writer *(*make)(px_link *link);
    void (*free)(px_writer *writer);
    /* Sends the whole attempt, which stays until it is done or given up; its write groups'
     * `completed` and tags are reset. */
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

/* ---- for kinds of writers: answers to the statements of write groups ---- */

/* The write group at this place, before `to`, unless all of its statements are answered; else NULL.
 */
px_write_group *px_attempt_answering(const px_attempt *attempt, size_t at, size_t to);
/* What the backend sent for the next statement of the write group that px_attempt_answering() gave;
 * a `write group` of NULL makes BROKEN. In order: the body of a CommandComplete, or
 * PortalSuspended; a DataRow or RowDescription as a whole message; BindComplete. */
px_progress px_write_group_hears_complete(px_write_group *write_group, bool suspended,
                                          pgw_slice body);
px_progress px_write_group_hears_returned(px_write_group *write_group, pgw_slice message);
px_progress px_write_group_hears_bound(px_write_group *write_group);
/* All rows of the write group are stored, by one statement with the rows of other write groups. */
void px_write_group_hears_stored(px_write_group *write_group);

#endif
