#include "protocol/bytes.h"

#include "protocol/decimal.h"

#include <endian.h>
#include <sanitizer/asan_interface.h> /* nothing where it is not built with it */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *ptr)
{
    if (ptr == NULL) {
        fputs("keyspread: out of memory\n", stderr);
        abort();
    }
    return ptr;
}

void *pgw_alloc(size_t size)
{
    return or_die(malloc(size ? size : 1));
}

/* Small memory is zeroed here: the allocator has it in lists by size, which its calloc() does not
 * use. */
void *pgw_calloc(size_t count, size_t size)
{
    enum { LISTED = 1024 };
    if (size > 0 && count > 0 && count <= LISTED / size)
        return memset(pgw_alloc(count * size), 0, count * size);
    return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *pgw_realloc(void *ptr, size_t size)
{
    return or_die(realloc(ptr, size ? size : 1));
}

char *pgw_strndup(const char *ptr, size_t len)
{
    char *copy = pgw_alloc(len + 1);
    if (len > 0)
        memcpy(copy, ptr, len);
    copy[len] = '\0';
    return copy;
}

pgw_slice pgw_slice_str(const char *nul_terminated)
{
    return (pgw_slice){nul_terminated, nul_terminated ? strlen(nul_terminated) : 0};
}

pgw_slice pgw_slice_buf(const pgw_buf *buf)
{
    return (pgw_slice){buf->ptr, buf->len};
}

bool pgw_slice_eq(pgw_slice a, pgw_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool pgw_slice_eq_str(pgw_slice a, const char *b)
{
    return pgw_slice_eq(a, pgw_slice_str(b));
}

bool pgw_slice_ieq(pgw_slice a, pgw_slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        unsigned char one = (unsigned char)a.ptr[i], differ = one ^ (unsigned char)b.ptr[i];
        unsigned letter = (one | 0x20u) - 'a'; /* Below 26 for one, in any case. */
        if (differ != 0 && (differ != 0x20 || letter > 'z' - 'a'))
            return false;
    }
    return true;
}

bool pgw_slice_ieq_str(pgw_slice a, const char *b)
{
    return pgw_slice_ieq(a, pgw_slice_str(b));
}

enum { FIRST_ROOM = 256 /* Mostly enough for a message, and out of the allocator's lists. */ };

void pgw_buf_grow(pgw_buf *buf, size_t more)
{
    if (more > SIZE_MAX / 2 - buf->len)
        or_die(NULL);
    size_t cap = buf->cap ? buf->cap : FIRST_ROOM;
    while (cap - buf->len <= more)
        cap *= 2;
    buf->ptr = pgw_realloc(buf->ptr, cap);
    buf->cap = cap;
}

void pgw_buf_add(pgw_buf *buf, const void *ptr, size_t len)
{
    if (len == 0)
        return;
    memcpy(pgw_buf_reserve(buf, len), ptr, len);
    buf->len += len;
}

void pgw_buf_add_slice(pgw_buf *buf, pgw_slice slice)
{
    pgw_buf_add(buf, slice.ptr, slice.len);
}

void pgw_buf_add_str(pgw_buf *buf, const char *nul_terminated)
{
    pgw_buf_add(buf, nul_terminated, strlen(nul_terminated));
}

void pgw_buf_add_i64(pgw_buf *buf, int64_t value)
{
    uint64_t wire = htobe64((uint64_t)value);
    memcpy(pgw_buf_reserve(buf, sizeof wire), &wire, sizeof wire);
    buf->len += sizeof wire;
}

char *pgw_put_decimal(char *to, int64_t value)
{
    bool minus = value < 0;
    *to = '-';
    return pgw_put_digits(to + minus, minus ? -(uint64_t)value : (uint64_t)value);
}

char *pgw_put_unsigned(char *to, uint64_t value)
{
    return pgw_put_digits(to, value);
}

void pgw_buf_add_decimal(pgw_buf *buf, int64_t value)
{
    buf->len = (size_t)(pgw_put_decimal(pgw_buf_reserve(buf, PGW_DECIMAL_ROOM), value) - buf->ptr);
}

void pgw_buf_add_unsigned(pgw_buf *buf, uint64_t value)
{
    buf->len = (size_t)(pgw_put_unsigned(pgw_buf_reserve(buf, PGW_DECIMAL_ROOM), value) - buf->ptr);
}

void pgw_buf_addf(pgw_buf *buf, const char *format, ...)
{
    enum { MOSTLY = 64 }; /* a result shorter than this is formatted once only */
    size_t room = MOSTLY;
    for (;;) {
        char *end = pgw_buf_reserve(buf, room);
        room = buf->cap - buf->len;
        va_list args;
        va_start(args, format);
        size_t len = (size_t)vsnprintf(end, room, format, args);
        va_end(args);
        if (len < room) {
            buf->len += len;
            return;
        }
        room = len + 1;
    }
}

void pgw_buf_clear(pgw_buf *buf)
{
    buf->len = 0;
}

void pgw_buf_free(pgw_buf *buf)
{
    free(buf->ptr);
    *buf = (pgw_buf){0};
}

struct pgw_arena_block {
    struct pgw_arena_block *next;
    size_t used, cap;
    bool zeroed; /* Bytes that are not used are zero. */
    _Alignas(16) char bytes[];
};

/* Most arenas hold little, for no longer than a message takes: what the allocator hands out of a
 * list of its own costs a tenth. */
enum { FIRST_BLOCK = 1024 - sizeof(struct pgw_arena_block), FEW = 3 * 1024, ARENA_BLOCK = 4096 };

/* Adds a block. A usual one is zeroed at once, which costs less than zeroing each piece of it. */
static __attribute__((noinline)) struct pgw_arena_block *add_block(pgw_arena *arena, size_t cap)
{
    bool zeroed = cap <= ARENA_BLOCK;
    struct pgw_arena_block *block =
        zeroed ? pgw_calloc(1, sizeof *block + cap) : pgw_alloc(sizeof *block + cap);
    *block = (struct pgw_arena_block){.next = arena->head, .cap = cap, .zeroed = zeroed};
    arena->head = block;
    arena->bytes += sizeof *block + cap;
    ASAN_POISON_MEMORY_REGION(block->bytes, cap);
    return block;
}

/* At least one byte behind the memory stays poisoned for AddressSanitizer. */
static size_t taken_for(size_t size)
{
    return (size + 16) & ~(size_t)15;
}

static void *take(struct pgw_arena_block *block, size_t size)
{
    void *ptr = block->bytes + block->used;
    block->used += taken_for(size);
    ASAN_UNPOISON_MEMORY_REGION(ptr, size);
    return ptr;
}

/* Allocates where a block is to be added, or where memory is to be zeroed. */
static __attribute__((noinline)) void *alloc_slowly(pgw_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        or_die(NULL);
    size_t taken = taken_for(size);
    struct pgw_arena_block *block = arena->head;
    if (block == NULL || block->cap - block->used < taken) {
        size_t usual = arena->bytes < FEW ? FIRST_BLOCK : ARENA_BLOCK;
        block = add_block(arena, taken > usual ? taken : usual);
    }
    void *ptr = take(block, size);
    return block->zeroed ? ptr : memset(ptr, 0, size);
}

void *pgw_arena_alloc(pgw_arena *arena, size_t size)
{
    struct pgw_arena_block *block = arena->head;
    if (block == NULL || !block->zeroed || size >= block->cap ||
        block->cap - block->used < taken_for(size))
        return alloc_slowly(arena, size);
    return take(block, size);
}

pgw_slice pgw_arena_copy(pgw_arena *arena, pgw_slice slice)
{
    char *copy = pgw_arena_alloc(arena, slice.len + 1);
    if (slice.len > 0)
        memcpy(copy, slice.ptr, slice.len);
    return (pgw_slice){copy, slice.len};
}

/* Memory that the arena owns and did not allocate. */
struct pgw_arena_kept {
    struct pgw_arena_kept *next;
    void *ptr;
};

pgw_slice pgw_arena_keep(pgw_arena *arena, pgw_buf *buf)
{
    enum { SLACK = 256 };
    if (buf->len == 0) {
        pgw_buf_free(buf);
        return (pgw_slice){NULL, 0};
    }
    /* Less room at the end than SLACK is not worth giving back. */
    if (buf->cap - buf->len > SLACK)
        buf->ptr = pgw_realloc(buf->ptr, buf->len);
    pgw_slice bytes = pgw_slice_buf(buf);
    struct pgw_arena_kept *kept = pgw_arena_alloc(arena, sizeof *kept);
    *kept = (struct pgw_arena_kept){arena->kept, buf->ptr};
    arena->kept = kept;
    arena->bytes += bytes.len;
    *buf = (pgw_buf){0};
    return bytes;
}

char *pgw_arena_printf(pgw_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = pgw_arena_alloc(arena, (size_t)len + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

void pgw_arena_free(pgw_arena *arena)
{
    for (struct pgw_arena_kept *kept = arena->kept; kept != NULL; kept = kept->next)
        free(kept->ptr);
    arena->kept = NULL;
    arena->bytes = 0;
    while (arena->head != NULL) {
        struct pgw_arena_block *next = arena->head->next;
        free(arena->head);
        arena->head = next;
    }
}
