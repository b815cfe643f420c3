#include "protocol/reader.h"

#include <string.h>

pgw_reader pgw_reader_of(pgw_slice body)
{
    const char *at = body.ptr != NULL ? body.ptr : "";
    return (pgw_reader){.at = at, .end = at + body.len};
}

pgw_slice pgw_read_bytes(pgw_reader *reader, size_t len)
{
    if (reader->failed || (size_t)(reader->end - reader->at) < len) {
        reader->failed = true;
        return (pgw_slice){NULL, 0};
    }
    pgw_slice slice = {reader->at, len};
    reader->at += len;
    return slice;
}

static uint64_t read_big_endian(pgw_reader *reader, size_t len)
{
    pgw_slice bytes = pgw_read_bytes(reader, len);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | (uint8_t)bytes.ptr[i];
    return value;
}

uint8_t pgw_read_u8(pgw_reader *reader)
{
    return (uint8_t)read_big_endian(reader, 1);
}

uint16_t pgw_read_u16(pgw_reader *reader)
{
    return (uint16_t)read_big_endian(reader, 2);
}

uint32_t pgw_read_u32(pgw_reader *reader)
{
    return (uint32_t)read_big_endian(reader, 4);
}

uint64_t pgw_read_u64(pgw_reader *reader)
{
    return read_big_endian(reader, 8);
}

pgw_slice pgw_read_string(pgw_reader *reader)
{
    size_t left = (size_t)(reader->end - reader->at);
    const char *nul = reader->failed ? NULL : memchr(reader->at, '\0', left);
    if (nul == NULL) {
        reader->failed = true;
        return (pgw_slice){NULL, 0};
    }
    pgw_slice slice = {reader->at, (size_t)(nul - reader->at)};
    reader->at = nul + 1;
    return slice;
}

bool pgw_reader_done(const pgw_reader *reader)
{
    return !reader->failed && reader->at == reader->end;
}
