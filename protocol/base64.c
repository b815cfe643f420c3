#include "protocol/base64.h"

#include <openssl/evp.h>

void pgw_base64_encode(const uint8_t *bytes, size_t len, pgw_buf *out)
{
    size_t chars = (len + 2) / 3 * 4;
    char *end = pgw_buf_reserve(out, chars + 1); /* OpenSSL puts a NUL behind */
    EVP_EncodeBlock((unsigned char *)end, bytes, (int)len);
    out->len += chars;
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* OpenSSL's own skips blanks and does not say how much of its output is padding. */
bool pgw_base64_decode(pgw_slice text, uint8_t *bytes, size_t cap, size_t *len)
{
    *len = 0;
    if (text.len % 4 != 0)
        return false;
    for (int padding = 0; padding < 2 && text.len > 0 && text.ptr[text.len - 1] == '='; padding++)
        text.len--;
    uint32_t bits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = digit(text.ptr[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 == 0)
            continue; /* six bits are no byte yet */
        if (*len == cap)
            return false;
        bytes[(*len)++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return true;
}
