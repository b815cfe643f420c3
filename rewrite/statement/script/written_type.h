/*
 * written_type: the type that a text names as in CREATE TABLE: time(3), interval day, text[].
 */
#ifndef RW_WRITTEN_TYPE_H
#define RW_WRITTEN_TYPE_H

#include <stdbool.h>
#include <stdint.h>

/* The oid, whatever its lengths are; PGW_UNSPECIFIED: it is none of PostgreSQL's own, or no type.
 */
uint32_t rw_written_type(const char *text);
/* Whether a text is one expression of PostgreSQL's grammar, that needs no table. */
bool rw_is_expression(const char *text);

#endif
