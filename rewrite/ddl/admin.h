/*
 * admin: statements about databases and roles, which concern links of other sessions: whose
 * database must be left for it to be dropped, renamed or copied, and whose settings change.
 */
#ifndef RW_ADMIN_H
#define RW_ADMIN_H

#include "rewrite/lex/lexer.h"

enum { RW_ADMIN_DATABASES = 2 };

typedef struct rw_admin {
    bool settings; /* ALTER ROLE, USER, DATABASE, SYSTEM: the settings of new sessions change */
    pgw_slice databases[RW_ADMIN_DATABASES]; /* databases that all links must leave; arena-owned */
    size_t database_count;
} rw_admin;

/* Whether a text that begins with these bytes may be about databases or roles. False is certain. */
PGW_MUST_CHECK bool rw_admin_may_say(pgw_slice beginning);
/* Reads the first words of each statement of a text that begins with one of ALTER, CREATE, DROP,
 * BEGIN and START; other texts give an empty result. */
void rw_admin_read(pgw_slice text, bool conforming, pgw_arena *arena, rw_admin *out);

#endif
