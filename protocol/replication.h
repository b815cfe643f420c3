/*
 * replication: connections that say `replication` in the startup packet: which of them are
 * PostgreSQL's walsenders, and which of their texts are replication commands instead of SQL.
 */
#ifndef PGW_REPLICATION_H
#define PGW_REPLICATION_H

#include "protocol/startup.h"

/* What the parameter `replication` means, as parse_bool() has it: NULL for an ordinary session (not
 * sent, or any spelling of false), "true" for a walsender without SQL, "database" for one that
 * takes SQL, too. Any other value, which the server refuses, is as it was sent: a text in the
 * packet. */
const char *pgw_replication_of(const pgw_startup *startup);
/* Whether the connection takes SQL; `replication` is of pgw_replication_of(). */
bool pgw_replication_takes_sql(const char *replication);
/* Whether a Query of a walsender begins with a word of the replication protocol: then it is all a
 * command of that, and no SQL. A comment in front of it makes it SQL. */
PGW_MUST_CHECK bool pgw_replication_is_command(pgw_slice text);

#endif
