/*
 * prepared: the statements and portals of one session: made, found by name, ended, and all of them
 * bounded in memory. A portal keeps its statement, which may have been closed meanwhile.
 */
#ifndef PGW_PREPARED_H
#define PGW_PREPARED_H

#include "protocol/frontend.h"
#include "ydb/server/command.h"
#include "ydb/server/names.h"

/* What a Parse made. Freed with the last that uses it: its name, and portals. */
typedef struct pgw_statement {
    pgw_named named;  /* "": the unnamed one */
    pgw_slice source; /* the client's text */
    pgw_piece piece;  /* the statement in it, and what that is */
    uint32_t *types;  /* of its parameters; those that Parse did not declare are 0 until analysis */
    size_t type_count;
    pgw_slice columns; /* the body of its RowDescription, formats 0; empty: it returns no rows */
    bool declares;     /* it is a DECLARE: source and types are its, `piece` and columns those of
                          the cursor's query */
    bool ordered;      /* PREPARE made it, or DECLARE */
    size_t before;     /* characters of the client's text before `source` */
    size_t users;
    size_t bytes; /* that it takes */
} pgw_statement;

enum { PGW_TAG_MAX = 64 }; /* COMPLETION_TAG_BUFSIZE */

/* What a Bind made, or a statement of a Query. */
typedef struct pgw_portal {
    pgw_named named;
    pgw_statement *statement;
    pgw_bind bind;        /* parameters and formats, in memory of the portal's */
    void *link;           /* whatever whoever runs it wants to remember */
    pgw_statement *order; /* the EXECUTE or FETCH that was bound, if `statement` is the one it names
                             (FETCH: the cursor's); else NULL */
    const pgw_slice
        *arguments; /* of EXECUTE, while its RUN is under way: as many as there are types */
    bool returns_rows;
    bool empty;                       /* its Bind was refused: there is one, but nothing in it */
    bool cursor;                      /* DECLARE made it */
    bool binary;                      /* … and rows that a Query fetches are in binary */
    const struct pgw_portal *owed_to; /* a FETCH that has rows of this cursor left; NULL: none */
    bool begun;                       /* a FETCH, by an Execute that has left … */
    uint32_t left;                    /* … so many rows; UINT32_MAX: all there are */
    bool live;                        /* it was given to be run, and that has not come to its end */
    bool ending;                      /* … and nobody wants it any more */
    bool ended;                       /* it was run to its end, with this tag */
    bool failed;                      /* the transaction it belongs to has failed */
    bool entered;                     /* can be found by its name */
    bool borrowed;                    /* its memory is somebody else's */
    struct pgw_portal *next_ending;
    char tag[PGW_TAG_MAX];
    size_t bytes;
} pgw_portal;

typedef struct pgw_prepared {
    pgw_names statements, portals;
    pgw_portal *ending; /* runs that nobody wants any more, and whose end is to be told */
    size_t bytes, limit;
} pgw_prepared;

/* A statement of this Parse, with its text, that is entered nowhere yet. NULL with 53200 if there
 * is no room for it. pgw_statement_release() if it is not going to be entered. */
PGW_MUST_CHECK pgw_statement *pgw_statement_make(pgw_prepared *prepared, const pgw_parse *parse,
                                                 pgw_error *error);
/* Takes types and columns down; 53200 if there is no room. `count` is at least type_count,
 * and the types may be the statement's own. */
PGW_MUST_CHECK bool pgw_statement_describe(pgw_prepared *prepared, pgw_statement *statement,
                                           const uint32_t *types, size_t count, pgw_slice columns,
                                           pgw_error *error);
void pgw_statement_release(pgw_prepared *prepared, pgw_statement *statement);

/* Under its name, which is not in use. The name holds the use that pgw_statement_make() gave. */
void pgw_prepared_enter(pgw_prepared *prepared, pgw_statement *statement);
pgw_statement *pgw_prepared_statement(const pgw_prepared *prepared, pgw_slice name); /* or NULL */
void pgw_prepared_close(pgw_prepared *prepared, pgw_slice name);   /* nothing, if there is none */
void pgw_prepared_close_all(pgw_prepared *prepared, bool unnamed); /* … the unnamed one, too */

/* A portal of this Bind, entered under its name, which is not in use. NULL with 53200. */
PGW_MUST_CHECK pgw_portal *pgw_portal_make(pgw_prepared *prepared, pgw_statement *statement,
                                           const pgw_bind *bind, pgw_error *error);
pgw_portal *pgw_prepared_portal(const pgw_prepared *prepared, pgw_slice name); /* or NULL */
/* What the portal was bound to is an order about this statement. */
void pgw_portal_point(pgw_prepared *prepared, pgw_portal *portal, pgw_statement *statement);
/* What is in the text that was bound or queried. */
pgw_command pgw_statement_command(const pgw_statement *statement);
pgw_command pgw_portal_command(const pgw_portal *portal);
/* Its name is free again; if it is live, it moves to `ending`, else it is freed. */
void pgw_portal_drop(pgw_prepared *prepared, pgw_portal *portal);
void pgw_portals_drop(pgw_prepared *prepared,
                      const pgw_portal *but);  /* all, but for one, or NULL */
void pgw_portals_fail(pgw_prepared *prepared); /* they stay, but are not run any more */
/* Its run is to end, if it is live. */
void pgw_portal_end(pgw_prepared *prepared, pgw_portal *portal);
/* The first of `ending` has ended. */
void pgw_portal_has_ended(pgw_prepared *prepared);

void pgw_prepared_free(pgw_prepared *prepared);

#endif
