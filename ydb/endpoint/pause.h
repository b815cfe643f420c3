/*
 * pause: how long a statement that YDB has not done waits for its next try.
 */
#ifndef PX_YDB_PAUSE_H
#define PX_YDB_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* The pause in ms after so many earlier tries; `slowly`: YDB is overloaded. Twice as long each
 * time, less up to a half, which differs by `whose`: transactions that collided shall not do so
 * again. */
uint64_t px_ydb_pause_ms(unsigned tries, bool slowly, const void *whose);

#endif
