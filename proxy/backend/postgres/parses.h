/*
 * parses: prepares on a link the statements that write groups execute and the link lacks, and reads
 * what the backend answers to that.
 */
#ifndef PX_PARSES_H
#define PX_PARSES_H

#include "proxy/backend/postgres/prepared.h"

/* A Parse that was sent. */
typedef struct px_parse {
    const px_write_group_prepared *what;
    bool returns_same; /* the statement returns what clients were told */
} px_parse;

/* The prepared statements of one link. All zero: nothing is prepared. */
typedef struct px_parses {
    px_prepared prepared;
    px_parse list[PX_WRITE_GROUP_MOST]; /* Parses since the last px_parses_end(); their write groups
                                    live until the next one */
    size_t count, parsed;               /* `parsed`: Parses whose ParseComplete has come */
} px_parses;

/* Writes a Parse for each of the write group's statements that the link lacks, and a Describe if
 * clients were told what the statement returns. False: the link lacks none. `now`: milliseconds. */
PGW_MUST_CHECK bool px_parses_write(px_parses *parses, const px_write_group *write_group,
                                    uint64_t now, pgw_buf *out);
/* Whether a Describe was written. */
bool px_parses_describe(const px_parses *parses);
/* Whether ParseComplete is still to come for a Parse. */
bool px_parses_wait(const px_parses *parses);
/* Takes a ParseComplete. */
void px_parses_complete(px_parses *parses);
/* Takes the RowDescription behind a ParseComplete. */
void px_parses_described(px_parses *parses, pgw_slice body);
/* Writes a Close for each statement that returns something else than clients were told. True: there
 * were any. They stand before those that could not be prepared. */
PGW_MUST_CHECK bool px_parses_close_others(px_parses *parses, pgw_buf *out);
/* Takes ReadyForQuery: statements without a ParseComplete are not prepared. */
void px_parses_end(px_parses *parses);
/* Forgets all statements of the write group, for one was stale and others may be: all will be
 * prepared again. */
void px_parses_forget(px_parses *parses, const px_write_group *write_group);

/* The statement has stored nothing. If it was prepared under a rule DO INSTEAD NOTHING, PostgreSQL
 * never plans it anew, so it is forgotten. If ON CONFLICT may have left the row out, it is kept for
 * a moment, lest each row that exists already cost a Parse. */
void px_parses_doubt(px_parses *parses, const px_write_group_prepared *what);

#endif
