/* What both tests of SCRAM hold their bytes against. */
#ifndef TESTS_SCRAM_CHECKS_H
#define TESTS_SCRAM_CHECKS_H

#include "tests/protocol/scram_client.h"
#include "tests/protocol/wire_vectors.h" /* cmocka */

/* RFC 7677's example. */
static const uint8_t RFC_SALT[] = {0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e,
                                   0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81};

static void check_base64(const uint8_t *bytes, const char *expected)
{
    pgw_buf text = {0};
    client_base64(bytes, 32, &text);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&text), expected));
    pgw_buf_free(&text);
}

#endif
