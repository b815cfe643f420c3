/*
 * new_key: a key that DO UPDATE changes: the server computes the hash of the new one with it.
 */
#ifndef RW_NEW_KEY_H
#define RW_NEW_KEY_H

#include "rewrite/insert/parser.h"

/* Takes `= value` behind the name, at `position`, of a column that the hash is made of. False if
 * its hash cannot be put in: it is for the caller to refuse it. */
PGW_MUST_CHECK bool rw_take_new_key(rw_parser *parser, size_t column, size_t position);
/* A new key that is a parameter whose type was declared is of that type: the server casts it as in
 * any assignment. `types`: of the parameters, as far as they were. */
void rw_new_key_declared(rw_insert *insert, const uint32_t *types, size_t count);

#endif
