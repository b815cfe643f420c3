/*
 * render: the client's text with what is put in, whole or in the parts of which merged statements
 * are made; and the way back from a position in it to the client's text.
 */
#ifndef RW_RENDER_H
#define RW_RENDER_H

#include "rewrite/insert/insert.h"

/* The text in the place of a hash that cannot be computed. It is read as a number, so no server
 * stores the row, and the error, which comes after others that the server finds, holds this
 * text. */
#define RW_REFUSAL "keyspread refuses this"

/* Whether rows without a hash may be sent to fail like that, so that the server first finds
 * whatever else is wrong: not where the client wrote the hash itself. */
PGW_MUST_CHECK bool rw_insert_may_fail(const rw_insert *insert);

/* How the hash is written into the text: as decimal constants, or as further parameters
 * $param_count+1 … +row_count (in row order), for Parse. */
typedef enum rw_hash_form { RW_HASH_CONSTANT, RW_HASH_PARAMETER } rw_hash_form;

/* Writes the whole statement with column list, hash cells, conflict target and RETURNING's stars
 * expanded. `hashes` has row_count entries (NULL with RW_HASH_PARAMETER). Equals insert->text byte
 * for byte when nothing has to be put in (hash_listed and right). */
void rw_render_statement(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                         pgw_buf *out);
/* How many bytes are put in outside of rows: column lists, assignments, an expanded RETURNING. */
size_t rw_render_added(const rw_insert *insert);
/* Write the parts of merged statements: the head up to and with VALUES, one row with its hash in
 * brackets, and the tail behind the rows (without ';'). A guarded row looks at the columns
 * (guard.h), as the first row of a whole statement does. */
void rw_render_head(const rw_insert *insert, pgw_buf *out);
void rw_render_row(const rw_insert *insert, size_t row, uint64_t hash, bool guarded, pgw_buf *out);
void rw_render_tail(const rw_insert *insert, pgw_buf *out);
/* Writes the hash as a row has it: a constant of type int8 or numeric. */
void rw_render_hash(const rw_table *table, uint64_t hash, pgw_buf *out);
enum { RW_HASH_ROOM = PGW_DECIMAL_ROOM + 2 }; /* bytes of a hash as a constant, with quotes */
/* Writes a hash as a constant, in RW_HASH_ROOM bytes; returns the end of what was written. */
char *rw_put_hash(const rw_table *table, uint64_t hash, char *to);
/* Maps a position (characters, from 1) in the rendered statement back to the client's text: errors
 * point where the client wrote. A position inside something put in maps to where it was put in; 0
 * if PostgreSQL would have told none. */
size_t rw_render_position(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                          size_t position);
/* Maps a position to a byte offset in the client's text; `*put_in`: it is in something put in. */
size_t rw_render_offset(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                        size_t position, bool *put_in);
/* The byte at a position that is in an expression which rw_keep_expressions() put in (typed.h), in
 * the text that this comes from; else NULL. */
const char *rw_render_written(const rw_insert *insert, rw_hash_form form, const uint64_t *hashes,
                              size_t position);

#endif
