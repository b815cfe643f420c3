/*
 * pieces: the SQL that makes the statements of a migration out of PostgreSQL's catalog, piece by
 * piece, in the order in which the statements run. The new tables stand in a schema of their own
 * under the old ones' names until the cutover, so that everything that belongs to them has the old
 * names, too.
 */
#ifndef PX_MIGRATE_PIECES_H
#define PX_MIGRATE_PIECES_H

/* A kind of statement, each row of `sql` gives one: the table's place, an order, the statement. It
 * reads pg_temp.t (the tables) and pg_temp.fk (their foreign keys). */
typedef struct px_piece {
    const char *phase; /* make, index, cutover, check, back, check_back, finish or abandon */
    const char *reason;
    const char *sql; /* NULL: plan.c makes the statements by keyspread's own code. */
} px_piece;

/* The names of the triggers that log the old table's changes. */
#define PX_LOG_TRIGGERS "'keyspread_log', 'keyspread_log_truncate'"

/* Of a migration whose changes come by logical decoding: a publication of its tables, and the name
 * of a slot, which no other database of the server has. */
#define PX_PUBLICATION "'keyspread_migrate'"
#define PX_SLOT                                                                                    \
    "(select 'keyspread_migrate_' || oid from pg_database where datname = current_database())"

/* The old table's other triggers. */
#define PX_TRIGGERS                                                                                \
    "pg_temp.t join pg_trigger g on g.tgrelid = t.relid and not g.tgisinternal and g.tgname not "  \
    "in (" PX_LOG_TRIGGERS ")"

/* The state of a trigger or rule, as ALTER TABLE says it. */
#define PX_STATE(letter)                                                                           \
    "case " letter " when 'D' then 'DISABLE' when 'R' then 'ENABLE REPLICA' when 'A' then"         \
    " 'ENABLE ALWAYS' else 'ENABLE' end"
#define PX_TRIGGER_STATE PX_STATE("g.tgenabled")

#endif
