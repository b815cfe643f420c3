#include "protocol/reader.h"

#include <endian.h>
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

/* Reads the bytes of a number, as they come; zeros if there are not so many. */
static inline void read_number(pgw_reader *reader, void *wire, size_t len)
{
    bool there = !reader->failed && (size_t)(reader->end - reader->at) >= len;
    reader->failed = !there;
    if (!there)
        return;
    memcpy(wire, reader->at, len);
    reader->at += len;
}

uint8_t pgw_read_u8(pgw_reader *reader)
{
    uint8_t wire = 0;
    read_number(reader, &wire, sizeof wire);
    return wire;
}

uint16_t pgw_read_u16(pgw_reader *reader)
{
    uint16_t wire = 0;
    read_number(reader, &wire, sizeof wire);
    return be16toh(wire);
}

uint32_t pgw_read_u32(pgw_reader *reader)
{
    uint32_t wire = 0;
    read_number(reader, &wire, sizeof wire);
    return be32toh(wire);
}

uint64_t pgw_read_u64(pgw_reader *reader)
{
    uint64_t wire = 0;
    read_number(reader, &wire, sizeof wire);
    return be64toh(wire);
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
