/*
 * do_update: DO UPDATE SET of ON CONFLICT: which columns it sets, and to what. A column that the
 * hash is made of may be set to what it is, or to what the server can compute the hash with.
 */
#ifndef RW_DO_UPDATE_H
#define RW_DO_UPDATE_H

#include "rewrite/insert/parser.h"

/* Takes SET … WHERE …, behind DO UPDATE. */
PGW_MUST_CHECK rw_outcome rw_parse_do_update(rw_parser *parser);

/* Notes that rows which exist are updated, so that the table may fire triggers, and that values in
 * SET may read names. */
void rw_note_update(rw_parser *parser);

#endif
