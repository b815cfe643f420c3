/*
 * frontend: the bodies of the client's messages, read and written.
 * Decoded slices point into the body; nothing is allocated but by the writers.
 */
#ifndef PGW_FRONTEND_H
#define PGW_FRONTEND_H

#include "protocol/reader.h"

/* Names of statements and portals that have so many of their first bytes in common are one name, as
 * in PostgreSQL (dynahash with keys of NAMEDATALEN bytes). What is decoded is whole. */
enum { PGW_NAME_SIGNIFICANT = 63 };
static inline pgw_slice pgw_name_significant(pgw_slice name)
{
    name.len = name.len < PGW_NAME_SIGNIFICANT ? name.len : PGW_NAME_SIGNIFICANT;
    return name;
}

typedef struct pgw_parse {
    pgw_slice name, query; /* a NUL stands behind each */
    pgw_slice types;       /* parameter type oids, 4 bytes each, big-endian */
    size_t type_count;
} pgw_parse;

typedef struct pgw_bind {
    pgw_slice portal, statement;
    pgw_slice formats; /* parameter format codes, 2 bytes each */
    size_t format_count;
    pgw_slice values; /* each an int32 length (-1 = NULL) and as many bytes */
    size_t value_count;
    pgw_slice results; /* result format codes behind their count: 2 + 2·n bytes; empty: none */
} pgw_bind;

typedef struct pgw_target { /* the statement or portal that a Describe or Close names */
    char kind;              /* 'S' statement or 'P' portal */
    pgw_slice name;
} pgw_target;

typedef struct pgw_execute {
    pgw_slice portal;
    uint32_t max_rows; /* all rows: 0, or above INT32_MAX (negative on the wire) */
} pgw_execute;

/* False if the body is malformed: the client is to get 08P01. */
PGW_MUST_CHECK bool pgw_parse_decode(pgw_slice body, pgw_parse *out);
PGW_MUST_CHECK bool pgw_bind_decode(pgw_slice body, pgw_bind *out);
PGW_MUST_CHECK bool pgw_target_decode(pgw_slice body, pgw_target *out);
PGW_MUST_CHECK bool pgw_execute_decode(pgw_slice body, pgw_execute *out);
PGW_MUST_CHECK bool pgw_query_decode(pgw_slice body, pgw_slice *text);

/* Declared type of parameter `i` (from 0); 0 where none was declared. */
uint32_t pgw_parse_type(const pgw_parse *parse, size_t i);
/* Whether parameter `i` is binary, by the rules for 0, 1 and n format codes. False for unknown
 * codes, too, which PostgreSQL refuses (22023) when the Bind gets there. */
bool pgw_bind_is_binary(const pgw_bind *bind, size_t i);

/* The parameters of a Bind one after another. Start: {bind->values, 0}. */
typedef struct pgw_bind_value {
    bool null;
    pgw_slice bytes;
} pgw_bind_value;
/* Reads the next from `reader` (over bind->values); the caller stops after value_count. */
pgw_bind_value pgw_bind_next(pgw_reader *reader);

/* Most parameters a message can have: their count is an unsigned 16 bits on the wire. */
enum { PGW_MAX_PARAMETERS = 65535 };

/* Whole messages. `name`, `text` need no NUL behind them. A writer that may fail has written
 * nothing then: false, if there are more than PGW_MAX_PARAMETERS types or parameters, or if it were
 * a message longer than PostgreSQL takes (PGW_MAX_LARGE_BODY). */
PGW_MUST_CHECK bool pgw_write_query(pgw_slice text, pgw_buf *out);
PGW_MUST_CHECK bool pgw_write_parse(pgw_slice name, pgw_slice text, const uint32_t *types,
                                    size_t type_count, pgw_buf *out);
void pgw_write_describe(char kind, pgw_slice name, pgw_buf *out);
void pgw_write_close(char kind, pgw_slice name, pgw_buf *out);
void pgw_write_execute(pgw_slice portal, uint32_t max_rows, pgw_buf *out);
void pgw_write_sync(pgw_buf *out);
void pgw_write_flush(pgw_buf *out);
void pgw_write_copy_fail(const char *reason, pgw_buf *out);
/* The client's Bind to another portal and statement, with `more` int8 parameters behind its own, in
 * whatever format its codes leave open. */
PGW_MUST_CHECK bool pgw_write_bind(const pgw_bind *bind, pgw_slice portal, pgw_slice statement,
                                   const int64_t *more, size_t more_count, pgw_buf *out);

/* The client's Bind with `more` parameters in text behind its own; {NULL, 0} is a NULL. */
PGW_MUST_CHECK bool pgw_write_bind_text(const pgw_bind *bind, const pgw_slice *more,
                                        size_t more_count, pgw_buf *out);

/* Begins a message of `type`; pgw_end() sets its length. Any bytes may be added between. False, and
 * the message is gone, if it is longer than PGW_MAX_LARGE_BODY. */
size_t pgw_begin(pgw_buf *out, char type);
PGW_MUST_CHECK bool pgw_end(pgw_buf *out, size_t begun);
/* The end of a message that cannot be too long, or a writer's success that was made sure of before:
 * anything else ends the process. */
void pgw_end_small(pgw_buf *out, size_t begun);
void pgw_certainly(bool written);

#endif
