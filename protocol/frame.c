#include "protocol/frame.h"

#include <limits.h>

pgw_frame_result pgw_frame_next(pgw_slice bytes, pgw_frame *frame)
{
    if (bytes.len < PGW_HEADER)
        return PGW_FRAME_MORE;
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    uint32_t length = (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 8 | at[4];
    *frame = (pgw_frame){.type = bytes.ptr[0], .size = (size_t)length + 1};
    return length < 4 || length - 4 > PGW_MAX_BODY ? PGW_FRAME_BAD : PGW_FRAME_OK;
}

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
