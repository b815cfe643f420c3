/*
 * quote: names and strings as SQL writes them, so that PostgreSQL reads back what they are.
 */
#ifndef RW_QUOTE_H
#define RW_QUOTE_H

#include "protocol/bytes.h"

/* Always in quotes: no list of keywords to keep, and capital letters stay. */
void rw_add_quoted(pgw_buf *out, const char *name);
/* The same, but letters beyond ASCII (of UTF-8) as numbers, U&"…": for texts that may be in any
 * encoding. */
void rw_add_identifier(pgw_buf *out, const char *name);
/* A string constant, right whatever standard_conforming_strings says. */
void rw_add_constant(pgw_buf *out, pgw_slice text);
/* The same of names, which are UTF-8, for texts that may be in any encoding. */
void rw_add_name_constant(pgw_buf *out, pgw_slice text);

#endif
