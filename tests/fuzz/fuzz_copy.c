/* Any bytes as the data of a COPY: the same comes out wherever it is cut, and of text and csv it is
 * what came in with a field more here and there. */
#include "protocol/copy/rows.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool fill(void *context, const pgw_copy_field *fields, pgw_buf *out)
{
    (void)context;
    for (size_t i = 0; !fields[0].null && i < 2; i++)
        if (!fields[i].null && !fields[i].unknown)
            pgw_buf_add_decimal(out, (int64_t)fields[i].bytes.len);
    return !fields[0].null;
}

static void copy(const pgw_copy_options *options, pgw_slice bytes, size_t piece, pgw_buf *out)
{
    pgw_copy *it = pgw_copy_new(options, fill, NULL);
    for (size_t at = 0; at < bytes.len; at += piece) {
        size_t len = bytes.len - at < piece ? bytes.len - at : piece;
        char *part = memcpy(malloc(len), bytes.ptr + at, len); /* Nothing behind it can be read. */
        pgw_copy_feed(it, (pgw_slice){part, len}, out);
        free(part);
    }
    pgw_copy_finish(it, out);
    pgw_copy_free(it);
}

/* Whether what came in is there, in its order, but for a backslash that may end it. */
static bool keeps(pgw_slice in, const pgw_buf *out)
{
    size_t found = 0;
    in.len -= in.len > 0 && in.ptr[in.len - 1] == '\\';
    for (size_t i = 0; i < out->len && found < in.len; i++)
        found += out->ptr[i] == in.ptr[found];
    return found == in.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t wanted[] = {1, 0, 2};
    static const unsigned char force[] = {0, PGW_COPY_FORCE_NULL | PGW_COPY_FORCE_NOT_NULL};
    if (size < 2)
        return 0;
    pgw_copy_options options = {.format = data[0] % 3,
                                .header = data[0] / 3 % 3,
                                .delimiter = data[0] & 0x40 ? '\t' : ',',
                                .quote = '"',
                                .escape = data[0] & 0x80 ? '\\' : '"',
                                .null = data[0] & 0x20 ? PGW_LITERAL("") : PGW_LITERAL("\\N"),
                                .csv_dot_ends = true,
                                .columns = 3,
                                .wanted = wanted,
                                .force = force,
                                .wanted_count = 2,
                                .added = PGW_LITERAL("hash")};
    pgw_slice bytes = {(const char *)data + 2, size - 2};
    pgw_buf whole = {0}, cut = {0};
    copy(&options, bytes, bytes.len + 1, &whole);
    copy(&options, bytes, 1 + data[1] % 16, &cut);
    require(whole.len == cut.len && (whole.len == 0 || memcmp(whole.ptr, cut.ptr, whole.len) == 0));
    if (options.format != PGW_COPY_BINARY)
        require(keeps(bytes, &whole));
    pgw_buf_free(&whole);
    pgw_buf_free(&cut);
    return 0;
}
