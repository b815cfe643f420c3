/*
 * carry: what goes along when a table that exists is made anew with its hash: collations, defaults,
 * constraints, indexes, options, comments, owner and grants, as SQL; of what cannot, a comment says
 * so.
 */
#ifndef PX_COMMAND_CARRY_H
#define PX_COMMAND_CARRY_H

#include <stdbool.h>
#include <stdio.h>

#include <libpq-fe.h>

#include "rewrite/hash/table.h"

/* Prints to `out` what the backend has for the table beside its columns and its key; nothing if it
 * has no such table. `partitioned`: the table to make is, by its hash. False with a message. */
bool px_carry_print(const rw_table *table, bool partitioned, PGconn *link, FILE *out, FILE *errors);

#endif
