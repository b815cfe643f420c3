/*
 * key_change_put: a change of a key is put into its statement, beside its stars and lookups.
 */
#ifndef RW_KEY_CHANGE_PUT_H
#define RW_KEY_CHANGE_PUT_H

#include "rewrite/statement/words/statement.h"

/* Puts a change of a key into its statement. One for certain Binds only is noted, and put in by
 * rw_key_change_of(). False: stars stand in text that is moved; the error is filled (0A000).
 * Lookups there are left out. */
PGW_MUST_CHECK bool rw_key_change_put(const rw_key_change *change, rw_statement *statement,
                                      pgw_arena *arena, pgw_error *error);

/* Makes the statement that changes the key, for Binds that do. False: there is none. */
PGW_MUST_CHECK bool rw_key_change_of(const rw_statement *statement, pgw_arena *arena,
                                     rw_statement *out);

#endif
