/*
 * quote: names and strings as SQL writes them, so that PostgreSQL reads back what they are.
 */
#ifndef RW_QUOTE_H
#define RW_QUOTE_H

#include "protocol/bytes.h"

/* Adds a name, always in quotes: no list of keywords is needed, and capital letters stay. */
void rw_add_quoted(pgw_buf *out, const char *name);
/* Adds a UTF-8 name in quotes, with letters beyond ASCII as numbers, U&"…": for a text in any
 * encoding. */
void rw_add_identifier(pgw_buf *out, const char *name);
/* Adds a string constant that is right whatever standard_conforming_strings is. */
void rw_add_constant(pgw_buf *out, pgw_slice text);
/* Adds a UTF-8 name as a string constant for a text in any encoding. */
void rw_add_name_constant(pgw_buf *out, pgw_slice text);

#endif
