/*
 * kept_key: a statement that sets a column of a table's key to a parameter, and asks in its WHERE
 * for the value of another: it may go as it is as long as both are the same.
 */
#ifndef PX_KEPT_KEY_H
#define PX_KEPT_KEY_H

#include "protocol/frontend.h"
#include "proxy/client/core/statements.h"
#include "rewrite/statement/script/script.h"

struct px_session;

/* The only statement, NULL if there are several; in the arena, as one that changes the key whatever
 * its parameters are, if it can, where they are declared as types whose values may be equal and yet
 * not the same. */
const rw_statement *px_kept_key_read(const rw_script *script, px_declared declared,
                                     pgw_arena *arena);
/* Keeps what a Bind of the statement is to be compared with. False: the parameters are declared as
 * types whose values may be equal and yet not the same; the error is filled (0A000). */
PGW_MUST_CHECK bool px_kept_key_note(px_passthrough *passthrough, const rw_statement *statement,
                                     px_declared declared, pgw_error *error);
/* Whether the text has SQL's EXECUTE run such a statement, whose values are not compared then, or
 * an INSERT with a plan, whose values would get no hash: it is to be refused, with the error
 * (0A000). `text` ends with NUL. */
PGW_MUST_CHECK bool px_kept_key_is_executed(const struct px_session *session, pgw_slice text,
                                            pgw_error *error);
/* Whether the Bind leaves the key as it is. False: the error is filled (0A000), for where the key
 * cannot change. */
PGW_MUST_CHECK bool px_kept_key_holds(const px_passthrough *passthrough, const pgw_bind *bind,
                                      pgw_error *error);
/* Whether TimeZone decides what a column of the key is set to: then a parameter of WHERE must not
 * be sent with the zone that its session was told of. */
bool px_kept_key_heeds_zone(const px_passthrough *passthrough, const pgw_bind *bind);

#endif
