/*
 * prepared: the statements and portals of one session, which are bounded in memory together. A
 * portal keeps its statement, even if that is closed meanwhile.
 */
#ifndef PGW_PREPARED_H
#define PGW_PREPARED_H

#include "protocol/frontend.h"
#include "ydb/server/command.h"
#include "ydb/server/names.h"

/* What Parse, PREPARE or DECLARE made. Its name and its portals use it; the last frees it. */
typedef struct pgw_statement {
    pgw_named named;  /* "": the unnamed one */
    pgw_slice source; /* the client's text, or the inner statement of PREPARE or DECLARE */
    pgw_piece piece;  /* the statement in `source`, and its command */
    uint32_t *types;  /* types of the parameters; one that is not declared is 0 until analysis */
    size_t type_count;
    pgw_slice columns; /* body of the RowDescription, formats 0; empty: it returns no rows */
    bool declares;     /* Parse of a DECLARE: `piece` and `columns` are the cursor's query */
    bool ordered;      /* PREPARE or DECLARE made it, not Parse */
    size_t before;     /* characters of the client's text before `source` */
    size_t users;      /* number of users: its name, and portals */
    size_t bytes;      /* memory that it takes */
} pgw_statement;

enum { PGW_TAG_MAX = 64 }; /* COMPLETION_TAG_BUFSIZE */

/* A statement that is run: by Bind and Execute, in a Query, or as a cursor. */
typedef struct pgw_portal {
    pgw_named named;
    pgw_statement *statement;
    pgw_bind bind;        /* parameters and formats, in the portal's memory */
    void *link;           /* belongs to the machine's caller, which runs the portal */
    pgw_statement *order; /* the EXECUTE or FETCH that was bound, once `statement` is the one that
                             it names (FETCH: the cursor's); else NULL */
    const pgw_slice *arguments; /* EXECUTE: arguments while RUN is under way, as many as types */
    bool returns_rows;
    bool empty;                       /* the portal of a Bind that was refused: nothing to run */
    bool cursor;                      /* DECLARE made it */
    bool binary;                      /* cursor: rows that a Query fetches are in binary */
    const struct pgw_portal *owed_to; /* cursor: the FETCH that has rows of it left; NULL: none */
    bool begun;                       /* FETCH, MOVE: an Execute has begun to give its rows */
    uint32_t left;                    /* FETCH, MOVE: rows still to be given; UINT32_MAX: all */
    bool live;                        /* RUN was asked for it, and the run has not ended */
    bool ending;                      /* a live portal whose rows are not wanted any more */
    bool ended;                       /* it was run to its end: `tag` is its tag */
    bool failed;                      /* the transaction it belongs to has failed */
    bool entered;                     /* it can be found by its name */
    bool borrowed; /* a Query's, in the machine's memory: never freed by itself */
    struct pgw_portal *next_ending;
    char tag[PGW_TAG_MAX];
    size_t bytes;
} pgw_portal;

typedef struct pgw_prepared {
    pgw_names statements, portals;
    pgw_portal *ending; /* live portals to be ended by PGW_ASK_END, one after the other */
    size_t bytes, limit;
} pgw_prepared;

/* A statement of this Parse, with a copy of its text, that is not entered yet. NULL: no room for it
 * (53200). One that will not be entered is freed by pgw_statement_release(). */
PGW_MUST_CHECK pgw_statement *pgw_statement_make(pgw_prepared *prepared, const pgw_parse *parse,
                                                 pgw_error *error);
/* Copies types and columns into the statement; false: no room (53200). `count` is at least
 * type_count, and the types may be the statement's own. */
PGW_MUST_CHECK bool pgw_statement_describe(pgw_prepared *prepared, pgw_statement *statement,
                                           const uint32_t *types, size_t count, pgw_slice columns,
                                           pgw_error *error);
void pgw_statement_release(pgw_prepared *prepared, pgw_statement *statement);

/* Enters a statement under its name, which must not be in use; the name then counts as its user. */
void pgw_prepared_enter(pgw_prepared *prepared, pgw_statement *statement);
/* The statement of this name; NULL: there is none. */
pgw_statement *pgw_prepared_statement(const pgw_prepared *prepared, pgw_slice name);
/* Closes the statement of this name, if there is one. */
void pgw_prepared_close(pgw_prepared *prepared, pgw_slice name);
/* Closes all statements; the unnamed one only if `unnamed`. */
void pgw_prepared_close_all(pgw_prepared *prepared, bool unnamed);

/* A portal of this Bind, entered under its name, which must not be in use. NULL: no room (53200).
 */
PGW_MUST_CHECK pgw_portal *pgw_portal_make(pgw_prepared *prepared, pgw_statement *statement,
                                           const pgw_bind *bind, pgw_error *error);
/* The portal of this name; NULL: there is none. */
pgw_portal *pgw_prepared_portal(const pgw_prepared *prepared, pgw_slice name);
/* Makes the portal run this statement; the EXECUTE or FETCH that was bound becomes its `order`. */
void pgw_portal_point(pgw_prepared *prepared, pgw_portal *portal, pgw_statement *statement);
/* The command of the text that was parsed, bound or queried: EXECUTE, not what it runs. */
pgw_command pgw_statement_command(const pgw_statement *statement);
pgw_command pgw_portal_command(const pgw_portal *portal);
/* Frees the portal's name; a live portal moves to `ending`, any other is freed. */
void pgw_portal_drop(pgw_prepared *prepared, pgw_portal *portal);
/* Drops all portals except `but`, which may be NULL. */
void pgw_portals_drop(pgw_prepared *prepared, const pgw_portal *but);
/* Ends the runs of all portals, which stay, but cannot be run any more. */
void pgw_portals_fail(pgw_prepared *prepared);
/* Ends the portal's run, if it is live: it moves to `ending`. */
void pgw_portal_end(pgw_prepared *prepared, pgw_portal *portal);
/* The run of the first portal of `ending` has ended. */
void pgw_portal_has_ended(pgw_prepared *prepared);

void pgw_prepared_free(pgw_prepared *prepared);

#endif
