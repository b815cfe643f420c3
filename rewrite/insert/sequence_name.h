/*
 * sequence_name: nextval('items_id_seq') in a cell of the key, which is as good as DEFAULT if the
 * name means the sequence of the column's default. The session's own link can be asked about that.
 */
#ifndef RW_SEQUENCE_NAME_H
#define RW_SEQUENCE_NAME_H

#include "rewrite/insert/insert.h"

/* The first text of the answer, in the place of a wanted cell's number. */
#define RW_SEQUENCE_NAMED "named"

/* The name in wanted cell `i`, a slice of its text, if the column's default draws from a sequence
 * and asking what the name means is no error; else empty. */
pgw_slice rw_sequence_name(const rw_insert *insert, size_t i);
/* Appends a SELECT of one row of three texts: RW_SEQUENCE_NAMED; 't' or 'f', whether
 * nextval('name') draws from this sequence and nothing else; NULL. */
void rw_sequence_question(pgw_slice name, uint32_t sequence, pgw_buf *sql);

#endif
