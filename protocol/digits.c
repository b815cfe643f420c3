#include "protocol/digits.h"

int64_t pgw_many_digits(pgw_slice digits)
{
    size_t len = (digits.len - 1) % 8 + 1;
    int64_t number = pgw_eight_digits(digits.ptr, len);
    for (; number >= 0 && len < digits.len; len += 8) {
        int64_t eight = pgw_eight_digits(digits.ptr + len, 8);
        number = eight < 0 ? -1 : number * 100000000 + eight;
    }
    return number;
}
