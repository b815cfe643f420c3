/*
 * readable: a text as libpg_query is to be given it.
 */
#ifndef RW_READABLE_H
#define RW_READABLE_H

#include "protocol/value.h"

/* A copy with a NUL, of the same length, which libpg_query reads as the backend does the text:
 * numbers of a newer server are written as older ones take them. YDB's words that PostgreSQL does
 * not know read INSERT; `ours`: there are some. */
char *rw_readable_copy(pgw_slice text, const pgw_env *env, pgw_arena *arena, bool *ours);

#endif
