/*
 * said: an answer as a vector has it: the columns, each its name, its type and its length; the
 * rows.
 */
#ifndef TEST_SAID_H
#define TEST_SAID_H

#include "protocol/reader.h"
#include "ydb/plain/session.h"

/* The body of a RowDescription. */
static inline void said_columns(pgw_slice body, pgw_buf *out)
{
    pgw_reader reader = pgw_reader_of(body);
    uint16_t count = pgw_read_u16(&reader);
    for (uint16_t i = 0; i < count; i++) {
        pgw_slice name = pgw_read_string(&reader);
        assert_int_equal(pgw_read_u32(&reader), 0);
        assert_int_equal(pgw_read_u16(&reader), 0);
        uint32_t type = pgw_read_u32(&reader);
        pgw_buf_addf(out, "%s%.*s %u %d", i > 0 ? ", " : "", (int)name.len, name.ptr, type,
                     (int16_t)pgw_read_u16(&reader));
        assert_int_equal(pgw_read_u32(&reader), UINT32_MAX);
        assert_int_equal(pgw_read_u16(&reader), 0);
    }
    assert_true(pgw_reader_done(&reader));
}

static inline void said_rows(const rw_said *said, pgw_buf *out)
{
    for (size_t i = 0; i < said->rows * said->width; i++) {
        pgw_buf_add_str(out, i == 0 ? "" : i % said->width == 0 ? "; " : ", ");
        pgw_buf_add_slice(out, said->cells[i].ptr != NULL ? said->cells[i] : PGW_LITERAL("NULL"));
    }
}

#endif
