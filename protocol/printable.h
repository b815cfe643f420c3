/*
 * printable: text from outside as part of one line of a log or a terminal: what could end the line,
 * move the cursor, turn the direction of reading or be no character at all is escaped.
 */
#ifndef PGW_PRINTABLE_H
#define PGW_PRINTABLE_H

#include "protocol/bytes.h"

#include <stdbool.h>

enum { PGW_LOGFMT_MAX = 512 }; /* bytes of a value; the rest of a longer one is cut */

/* Appends `text` with such characters as \n, \t or \xHH; a message of several `lines` keeps its own
 * line feeds. */
void pgw_add_printable(pgw_slice text, bool lines, pgw_buf *out);
/* Appends a value of logfmt: as it is, or in quotes, with quotes and backslashes escaped, if it is
 * empty or holds blanks, quotes, backslashes, `=` or what is escaped anyway. `...` stands for what
 * was cut. */
void pgw_add_logfmt(pgw_slice value, pgw_buf *out);

#endif
