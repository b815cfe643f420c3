/*
 * statements: what a session has prepared, by name: ours with their plan, others by name alone, so
 * that names clash as they would in PostgreSQL.
 */
#ifndef PX_STATEMENTS_H
#define PX_STATEMENTS_H

#include "proxy/plan.h"

typedef struct px_statement {
    char *name;    /* "" = the unnamed one */
    px_plan *plan; /* NULL: none of ours. Counted */
    bool on_link;  /* prepared on the session's own link */
    pgw_buf parse; /* none of ours: its Parse message, to prepare it again on another link; empty if
                      it was not kept */
} px_statement;

typedef struct px_statements {
    px_statement *list;
    size_t count, cap;
    size_t ours; /* those with a plan */
} px_statements;

px_statement *px_statements_find(px_statements *statements, pgw_slice name);
/* Adds it, in place of one of the same name. Takes one more reference of `plan`. */
px_statement *px_statements_put(px_statements *statements, pgw_slice name, px_plan *plan,
                                bool on_link);
void px_statements_remove(px_statements *statements, pgw_slice name);
/* Takes a name's statement out of the map, for the caller to give back or to free; name NULL if
 * there is none. */
px_statement px_statements_take(px_statements *statements, pgw_slice name);
/* What was taken for `name` is there again, in place of whatever is. */
void px_statements_restore(px_statements *statements, pgw_slice name, px_statement *taken);
void px_statement_free(px_statement *taken);
void px_statements_clear(px_statements *statements);

#endif
