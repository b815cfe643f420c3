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

#endif
