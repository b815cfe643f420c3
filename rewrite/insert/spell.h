/*
 * spell: constants of a key that TimeZone or standard_conforming_strings decide, written out with
 * their zone, or as E'…'. The server may be in another by now than the session was told of, and
 * reads those of a prepared statement anew whenever it likes: what is hashed is then still what it
 * stores.
 */
#ifndef RW_SPELL_H
#define RW_SPELL_H

#include "rewrite/insert/key.h"

/* What is rendered in the place of a cell, or of what a client binds, of this type and value. */
void rw_spell_time(const pgw_value *value, pgw_buf *out);
/* Whether TimeZone decides how a text of a type is read. */
bool rw_text_heeds_zone(uint32_t type, pgw_slice text);
/* Whether a constant's value is not known without TimeZone. */
bool rw_cell_heeds_zone(const rw_cell *cell, const rw_column *column, pgw_arena *arena);
/* Whether it matters which moment a row has in the column: the hash is made of it, or UPSERT and
 * REPLACE find equal keys by it. */
bool rw_spells_column(const rw_insert *insert, size_t column);
/* The statement, read by `env`, is rendered with such cells spelled, those whose values `keys` (one
 * a row) knows. */
void rw_spell_keys(rw_insert *insert, const rw_key *keys, const pgw_env *env, pgw_arena *arena);
/* … those of a prepared statement, as they are read by `env`: their cells are constants of that
 * value from now on. */
void rw_spell_constants(rw_insert *insert, const pgw_env *env, pgw_arena *arena);
/* Whether TimeZone decides what a key's cell makes of a parameter once it is bound: there is a cast
 * between timestamptz and another type, explicit or by assignment. `types`: of the parameters. */
bool rw_casts_heed_zone(const rw_insert *insert, const uint32_t *types);

#endif
