#include "protocol/digits.h"

bool pgw_many_digits(pgw_slice digits, uint64_t *out)
{
    uint64_t eight;
    size_t len = (digits.len - 1) % 8 + 1;
    bool plain = pgw_eight_digits(digits.ptr, len, out);
    for (; plain && len < digits.len; len += 8) {
        plain = pgw_eight_digits(digits.ptr + len, 8, &eight);
        *out = *out * 100000000 + eight;
    }
    return plain;
}
