/*
 * pieces_switch: the statements of --cutover, --back and --finish, which exchange the tables.
 */
#ifndef PX_MIGRATE_PIECES_SWITCH_H
#define PX_MIGRATE_PIECES_SWITCH_H

#include "proxy/command/migrate/pieces.h"

/* The list ends with an element without a reason. */
extern const px_piece px_pieces_switch[];

#endif
