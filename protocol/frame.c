#include "protocol/frame.h"

#include <limits.h>

bool pgw_frame_is_frontend(char type)
{
    static const bool known[UCHAR_MAX + 1] = {
        ['Q'] = true, ['P'] = true, ['B'] = true, ['E'] = true, ['D'] = true,
        ['C'] = true, ['H'] = true, ['S'] = true, ['X'] = true, ['F'] = true,
        ['d'] = true, ['c'] = true, ['f'] = true};
    return known[(unsigned char)type];
}

size_t pgw_frame_limit(char type)
{
    if (type == 'p')
        return PGW_MAX_AUTH_BODY;
    bool large = type == 'Q' || type == 'P' || type == 'B' || type == 'F' || type == 'd';
    return large ? PGW_MAX_LARGE_BODY : PGW_MAX_SMALL_BODY;
}

bool pgw_frame_is_backend(char type)
{
    static const bool known[UCHAR_MAX + 1] = {
        ['R'] = true, ['K'] = true, ['S'] = true, ['Z'] = true, ['1'] = true, ['2'] = true,
        ['3'] = true, ['C'] = true, ['D'] = true, ['E'] = true, ['G'] = true, ['H'] = true,
        ['I'] = true, ['W'] = true, ['A'] = true, ['N'] = true, ['V'] = true, ['T'] = true,
        ['t'] = true, ['n'] = true, ['s'] = true, ['d'] = true, ['c'] = true, ['v'] = true};
    return known[(unsigned char)type];
}

pgw_slice pgw_frame_body(pgw_slice bytes, pgw_frame frame)
{
    return (pgw_slice){bytes.ptr + PGW_HEADER, frame.size - PGW_HEADER};
}
