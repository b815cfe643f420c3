/*
 * lift: a lone row's constants taken out of its statement, to travel as parameters in text. Only
 * where the row that is stored then is certainly the one that the statement stores.
 */
#ifndef RW_LIFT_H
#define RW_LIFT_H

#include "rewrite/insert/parser.h"

/* Begins the list of lifted cells, when the first row is next and its targets are known; gives the
 * list up, when another row comes or a cell cannot be lifted. */
void rw_lift_begin(rw_parser *parser);
void rw_lift_give_up(rw_parser *parser);
/* Lifts a cell of the first row, which has been parsed just now with its value, or gives up. */
void rw_lift_cell(rw_parser *parser, const rw_target *target, const rw_cell *cell);
/* Whether a cell of this type, which is none of the database's own, could be lifted. `written`: the
 * cell's bytes. */
PGW_MUST_CHECK bool rw_lift_takes(uint32_t type, const rw_cell *cell, pgw_slice written);
/* The value as which a cell travels; {NULL, 0} is NULL. A negative number's is in the arena. */
pgw_slice rw_lift_value(const rw_cell *cell, pgw_arena *arena);
/* Appends the statement with parameters from $1 on in the place of its lifted cells, of which there
 * must be a list. */
void rw_lift_text(const rw_insert *insert, pgw_buf *out);

#endif
