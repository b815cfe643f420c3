/*
 * parses: what a link lacks of the statements that units execute is prepared on it, and what the
 * backend says of that.
 */
#ifndef PX_PARSES_H
#define PX_PARSES_H

#include "proxy/backend/postgres/prepared.h"

/* A Parse that was sent. */
typedef struct px_parse {
    const px_unit_prepared *what;
    bool returns_same; /* as its clients were told */
} px_parse;

/* A link's. All zero: nothing is prepared. */
typedef struct px_parses {
    px_prepared prepared;
    px_parse list[PX_UNIT_MOST]; /* since the last end, of units that are there until the next */
    size_t count, parsed;        /* for so many ParseComplete has come */
} px_parses;

/* Writes a Parse for what the link lacks of the unit's statements, and a Describe behind each of
 * which clients were told what it returns. False: it lacks nothing. `now`: milliseconds. */
PGW_MUST_CHECK bool px_parses_write(px_parses *parses, const px_unit *unit, uint64_t now,
                                    pgw_buf *out);
/* A Describe was among them. */
bool px_parses_describe(const px_parses *parses);
/* Not all of them are answered. */
bool px_parses_wait(const px_parses *parses);
/* ParseComplete. */
void px_parses_complete(px_parses *parses);
/* A RowDescription, behind one. */
void px_parses_described(px_parses *parses, pgw_slice body);
/* Closes those that return something else by now than clients were told. True: there were any, and
 * they come before what could not be prepared. */
PGW_MUST_CHECK bool px_parses_close_others(px_parses *parses, pgw_buf *out);
/* ReadyForQuery: what was to be prepared and is not is not there. */
void px_parses_end(px_parses *parses);
/* Where one of the unit's statements is stale, the others may be: all are prepared anew. */
void px_parses_forget(px_parses *parses, const px_unit *unit);

/* One of its statements has stored nothing. What was prepared while a rule said DO INSTEAD NOTHING
 * does nothing for ever, for PostgreSQL then notes nothing by which it would look at it again: it
 * is not kept. One whose ON CONFLICT may have left the row out is kept for a moment, lest rows that
 * are there already cost a Parse each. */
void px_parses_doubt(px_parses *parses, const px_unit_prepared *what);

#endif
