/*
 * pieces_make: the statements of --run: the log of changes, the new tables, their indexes.
 */
#ifndef PX_MIGRATE_PIECES_MAKE_H
#define PX_MIGRATE_PIECES_MAKE_H

#include "proxy/command/migrate/pieces.h"

/* The list ends with an element without a reason. */
extern const px_piece px_pieces_make[];

#endif
