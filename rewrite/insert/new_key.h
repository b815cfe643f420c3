/*
 * new_key: a key that DO UPDATE changes: the server computes the hash of the new key.
 */
#ifndef RW_NEW_KEY_H
#define RW_NEW_KEY_H

#include "rewrite/insert/parser.h"

/* Takes `= value` behind the name, at `position`, of a column that the hash is made of. False if
 * the hash cannot be put in, and the caller must refuse the value. */
PGW_MUST_CHECK bool rw_take_new_key(rw_parser *parser, size_t column, size_t position);
/* Drops the casts of new keys that are parameters with a declared type, which the server casts as
 * in any assignment. `types`: those of the first `count` parameters. */
void rw_new_key_declared(rw_insert *insert, const uint32_t *types, size_t count);

#endif
