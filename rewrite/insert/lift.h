/*
 * lift: a lone row's constants taken out of its statement, to travel as parameters in text. Only
 * where the row that is stored then is certainly the one that the statement stores.
 */
#ifndef RW_LIFT_H
#define RW_LIFT_H

#include "rewrite/insert/parser.h"

/* The first row is about to be parsed, whose targets are known; and there is another one. */
void rw_lift_begin(rw_parser *parser);
void rw_lift_give_up(rw_parser *parser);
/* A cell of it, which has been parsed just now with its value. */
void rw_lift_cell(rw_parser *parser, const rw_target *target, const rw_cell *cell);
/* Whether a cell could be lifted whose column, which has no type of the database's own, has this
 * type. `written`: its bytes. */
PGW_MUST_CHECK bool rw_lift_takes(uint32_t type, const rw_cell *cell, pgw_slice written);
/* The value as which it would travel; {NULL, 0} is NULL. In the arena, where it has a minus. */
pgw_slice rw_lift_value(const rw_cell *cell, pgw_arena *arena);
/* The statement with parameters from $1 on in the place of what was lifted, which is there. */
void rw_lift_text(const rw_insert *insert, pgw_buf *out);

#endif
