/*
 * bytes: slices (bytes that others own), buffers (bytes that grow) and arenas (memory that is freed
 * at once). Running out of memory ends the process: callers bound what a client can cause.
 */
#ifndef PGW_BYTES_H
#define PGW_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* `len` bytes at `ptr`, which others own; no NUL at the end. {NULL, 0} is empty. */
typedef struct pgw_slice {
    const char *ptr;
    size_t len;
} pgw_slice;

/* Marks a function whose result says whether it failed, and must be looked at. */
#define PGW_MUST_CHECK __attribute__((warn_unused_result))

#define PGW_LITERAL(s) ((pgw_slice){(s), sizeof(s) - 1})

/* A growing byte string. All zero is an empty one; the owner calls pgw_buf_free(). */
typedef struct pgw_buf {
    char *ptr;
    size_t len, cap;
} pgw_buf;

/* Memory that is freed all at once. All zero is an empty one. */
typedef struct pgw_arena {
    struct pgw_arena_block *head;
    struct pgw_arena_kept *kept;
    size_t bytes; /* bytes of memory that the arena takes */
} pgw_arena;

/* malloc, calloc and realloc that end the process instead of returning NULL. */
void *pgw_alloc(size_t size);
void *pgw_calloc(size_t count, size_t size);
void *pgw_realloc(void *ptr, size_t size);
/* A NUL-terminated copy, freed by the caller. */
char *pgw_strndup(const char *ptr, size_t len);

pgw_slice pgw_slice_str(const char *nul_terminated); /* NULL gives an empty slice */
pgw_slice pgw_slice_buf(const pgw_buf *buf);
bool pgw_slice_eq(pgw_slice a, pgw_slice b);
bool pgw_slice_eq_str(pgw_slice a, const char *b);
/* ASCII letters compare without case, as in PostgreSQL's keywords. */
bool pgw_slice_ieq(pgw_slice a, pgw_slice b);
bool pgw_slice_ieq_str(pgw_slice a, const char *b);

/* Makes room for more than `more` bytes, where there is not. */
__attribute__((cold, noinline)) void pgw_buf_grow(pgw_buf *buf, size_t more);

/* Makes room for `more` bytes and returns the end, where they are to be written; the caller adds to
 * `len` what it wrote. */
static inline char *pgw_buf_reserve(pgw_buf *buf, size_t more)
{
    if (buf->cap - buf->len <= more)
        pgw_buf_grow(buf, more);
    return buf->ptr + buf->len;
}

/* `ptr` is not in the buffer itself, which may move. */
void pgw_buf_add(pgw_buf *buf, const void *ptr, size_t len);
void pgw_buf_add_slice(pgw_buf *buf, pgw_slice slice);
void pgw_buf_add_str(pgw_buf *buf, const char *nul_terminated); /* appends without the NUL */

static inline void pgw_buf_add_byte(pgw_buf *buf, char byte)
{
    *pgw_buf_reserve(buf, 1) = byte;
    buf->len++;
}

/* Appended big-endian, as on the wire. */
static inline void pgw_buf_add_i16(pgw_buf *buf, int16_t value)
{
    uint16_t wire = htobe16((uint16_t)value);
    memcpy(pgw_buf_reserve(buf, sizeof wire), &wire, sizeof wire);
    buf->len += sizeof wire;
}

static inline void pgw_buf_add_i32(pgw_buf *buf, int32_t value)
{
    uint32_t wire = htobe32((uint32_t)value);
    memcpy(pgw_buf_reserve(buf, sizeof wire), &wire, sizeof wire);
    buf->len += sizeof wire;
}

void pgw_buf_add_i64(pgw_buf *buf, int64_t value);
/* Appends the digits of `value` as printf("%lld") does, in less time. */
void pgw_buf_add_decimal(pgw_buf *buf, int64_t value);
void pgw_buf_add_unsigned(pgw_buf *buf, uint64_t value);
enum { PGW_DECIMAL_ROOM = 25 }; /* bytes that any number of 64 bits has room in, with a minus */
/* Writes the digits of `value` in PGW_DECIMAL_ROOM bytes, of which those behind the digits have no
 * meaning; returns the end of the digits. */
char *pgw_put_decimal(char *to, int64_t value);
char *pgw_put_unsigned(char *to, uint64_t value);
void pgw_buf_addf(pgw_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pgw_buf_clear(pgw_buf *buf); /* empties the buffer and keeps its memory */
void pgw_buf_free(pgw_buf *buf);

/* Zeroed memory, aligned for anything, that lives until pgw_arena_free(). */
void *pgw_arena_alloc(pgw_arena *arena, size_t size);
/* A copy of `slice` in the arena, with a NUL behind it. */
pgw_slice pgw_arena_copy(pgw_arena *arena, pgw_slice slice);
/* The bytes of `buf`, not copied: they belong to the arena, and the buffer is empty again. */
pgw_slice pgw_arena_keep(pgw_arena *arena, pgw_buf *buf);
char *pgw_arena_printf(pgw_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pgw_arena_free(pgw_arena *arena);

#endif
