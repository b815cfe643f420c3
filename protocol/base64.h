/*
 * base64: RFC 4648's base64, as SCRAM has it: with padding and without line breaks. Reading is
 * strict: no blanks, no other alphabet, padding exactly where it belongs.
 */
#ifndef PGW_BASE64_H
#define PGW_BASE64_H

#include "protocol/bytes.h"

void pgw_base64_encode(const uint8_t *bytes, size_t len, pgw_buf *out);
/* At most `cap` bytes; false if it is more or no base64. The unused bits of the last digit may be
 * anything, as in PostgreSQL. */
PGW_MUST_CHECK bool pgw_base64_decode(pgw_slice text, uint8_t *bytes, size_t cap, size_t *len);

#endif
