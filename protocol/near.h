/*
 * near: short runs of bytes, copied without a call.
 */
#ifndef PGW_NEAR_H
#define PGW_NEAR_H

#include "protocol/bytes.h"

enum { PGW_NEAR = 64 /* Runs of up to so many bytes are copied without a call. */ };

/* Copies bytes to where there is room for them and for PGW_NEAR, and returns their end. PGW_NEAR
 * bytes are copied in one go where more can be read, up to `end`. */
static inline char *pgw_put_near(char *to, const char *from, size_t len, const char *end)
{
    if (len <= PGW_NEAR && end - from >= PGW_NEAR)
        memcpy(to, from, PGW_NEAR);
    else
        memcpy(to, from, len);
    return to + len;
}

#endif
