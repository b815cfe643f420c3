/*
 * quote: names and strings as SQL writes them, so that PostgreSQL reads back what they are.
 */
#ifndef RW_QUOTE_H
#define RW_QUOTE_H

#include "protocol/bytes.h"

/* Always in quotes: no list of keywords to keep, and capital letters stay. */
void rw_add_identifier(pgw_buf *out, const char *name);
/* A string constant, right whatever standard_conforming_strings says. */
void rw_add_constant(pgw_buf *out, pgw_slice text);

#endif
