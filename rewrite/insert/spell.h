/*
 * spell: constants of a key that TimeZone or standard_conforming_strings decide, written out with
 * their zone, or as E'…': the server's settings may change, or it may read a prepared statement
 * anew, and it still stores what was hashed.
 */
#ifndef RW_SPELL_H
#define RW_SPELL_H

#include "rewrite/insert/key.h"

/* Writes a time as it is rendered in the place of a cell, or of a value that a client binds. */
void rw_spell_time(const pgw_value *value, pgw_buf *out);
/* Whether TimeZone decides how a text of a type is read. */
bool rw_text_heeds_zone(uint32_t type, pgw_slice text);
/* Whether a constant's value is not known without TimeZone. */
bool rw_cell_heeds_zone(const rw_cell *cell, const rw_column *column, pgw_arena *arena);
/* Whether the exact moment in the column matters: the hash is made of it, or UPSERT and REPLACE
 * find equal keys by it. */
bool rw_spells_column(const rw_insert *insert, size_t column);
/* Spells out, for rendering, the cells of a statement that was read by `env`, where `keys` (one for
 * each row) know their values. */
void rw_spell_keys(rw_insert *insert, const rw_key *keys, const pgw_env *env, pgw_arena *arena);
/* Spells out the constants of a prepared statement, as they are read by `env`: their cells have
 * that value from now on. */
void rw_spell_constants(rw_insert *insert, const pgw_env *env, pgw_arena *arena);
/* Whether TimeZone decides what a key's cell makes of a bound parameter: there is a cast between
 * timestamptz and another type, explicit or by assignment. `types`: those of the parameters. */
bool rw_casts_heed_zone(const rw_insert *insert, const uint32_t *types);

#endif
