/*
 * repeat: a value of DO UPDATE SET that is a cell of the only row once more, so that both are one
 * value.
 */
#ifndef RW_REPEAT_H
#define RW_REPEAT_H

#include "rewrite/insert/parser.h"

/* Whether the next token gives the row's cell of a column of the key. */
bool rw_repeats_cell(rw_parser *parser, size_t column);
/* Replaces a token that repeats a hash_key column's cell by EXCLUDED.column, if it is a time that
 * TimeZone decides: the cell is spelled out (spell.h), but the token would be read anew. */
void rw_send_repeated(rw_parser *parser, size_t column, rw_token token);

#endif
