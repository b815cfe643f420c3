/*
 * default_text: a column's default, as the backend tells it, written so that it is the same
 * whatever search_path finds before what PostgreSQL itself brings.
 */
#ifndef RW_DEFAULT_TEXT_H
#define RW_DEFAULT_TEXT_H

#include "rewrite/hash/table.h"

/* Appends it with the schema in front of functions, operators and types that are PostgreSQL's own.
 * `text` is of pg_get_expr() where nothing stands before these. */
void rw_add_default(const char *text, pgw_buf *out);

#endif
