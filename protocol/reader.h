/*
 * reader: a cursor over a message's body with a sticky error, so that decoding reads straight
 * through and asks once at the end whether everything was there.
 */
#ifndef PGW_READER_H
#define PGW_READER_H

#include "protocol/bytes.h"

typedef struct pgw_reader {
    const char *at, *end;
    bool failed; /* bytes were missing; everything read since is zero or empty */
} pgw_reader;

pgw_reader pgw_reader_of(pgw_slice body);
uint8_t pgw_read_u8(pgw_reader *reader);
uint16_t pgw_read_u16(pgw_reader *reader); /* big-endian, as on the wire */
uint32_t pgw_read_u32(pgw_reader *reader);
uint64_t pgw_read_u64(pgw_reader *reader);
pgw_slice pgw_read_bytes(pgw_reader *reader, size_t len);
/* Reads up to the next NUL, which is consumed and not part of the slice (but stands behind it). */
pgw_slice pgw_read_string(pgw_reader *reader);
/* Whether all that was read was there and nothing is left. */
PGW_MUST_CHECK bool pgw_reader_done(const pgw_reader *reader);

#endif
