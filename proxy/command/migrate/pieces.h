/*
 * pieces: the SQL that makes the statements of a migration out of PostgreSQL's catalog, piece by
 * piece, in the order in which the statements run. The new tables stand in a schema of their own
 * under the old ones' names until the cutover, so that everything that belongs to them has the old
 * names, too.
 */
#ifndef PX_MIGRATE_PIECES_H
#define PX_MIGRATE_PIECES_H

#include <stdbool.h>

/* A kind of statement, each row of `sql` gives one: the table's place, an order, the statement. It
 * reads the views pg_temp.t (the tables) and pg_temp.fk (their foreign keys). */
typedef struct px_piece {
    const char *phase; /* make, index, cutover, check, back, check_back, finish or abandon */
    const char *reason;
    const char *sql; /* NULL: plan.c makes the statements by keyspread's own code. */
} px_piece;

/* Something that the new table cannot have. Each row gives the table's place, the name by which it
 * is accepted, and what it is. */
typedef struct px_obstacle {
    const char *advice; /* What to do about it. */
    bool acceptable;    /* --accept=NAME lets it be lost. */
    const char *sql;
} px_obstacle;

/* Parts of the SQL that makes the temporary tables asked (filled by plan.c), plan and obstacle, and
 * the views t and fk. The last is NULL. */
extern const char *const px_pieces_tables[];

/* The lists end with an element without a reason, or without an advice. */
extern const px_piece px_pieces_make[], px_pieces_switch[];
extern const px_obstacle px_obstacles[];

#endif
