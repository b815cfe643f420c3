/*
 * pause: how long what YDB has not done waits for its next try.
 */
#ifndef PX_YDB_PAUSE_H
#define PX_YDB_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* In ms, behind so many tries of before; `slowly`: there is too much to do. Twice as long each
 * time, less up to a half of it: what collided shall not do so again, so `whose` differs. */
uint64_t px_ydb_pause_ms(unsigned tries, bool slowly, const void *whose);

#endif
