#include "protocol/decimal.h"

/* Writes up to sixteen digits: eight at a time, from the last, as long as there are more; then two.
 * PGW_DIGITS_ROOM bytes are written in any case. */
char *pgw_put_few(char *to, uint64_t value)
{
    enum { EIGHT = 100000000 };
    char digits[2 * PGW_DIGITS_ROOM] = {0}; /* The digits end in the first half. */
    char *end = digits + PGW_DIGITS_ROOM, *at = end;
    for (; value >= EIGHT; value /= EIGHT)
        pgw_put_eight(at -= 8, (uint32_t)(value % EIGHT));
    uint32_t rest = (uint32_t)value;
    for (; rest >= 10; rest /= 100)
        pgw_put_pair(at -= 2, rest % 100);
    if (rest > 0 || at == end)
        *--at = (char)('0' + rest);
    memcpy(to, at, PGW_DIGITS_ROOM);
    return to + (end - at);
}
