#include "proxy/ingest/numbers.h"

#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 32 * 1024,   /* numbers of a block at most, unless more are wanted at once */
    CAP = 1000,          /* numbers that there is memory for at first */
    REPLY_MOST = 1 << 16 /* bytes of a message of the server's */
};

/* The sequence may be locked by the very transaction that the COPY belongs to. */
#define LOCK_TIMEOUT "-c lock_timeout=10000"

struct px_numbers {
    px_worker *worker;
    px_identity *identity; /* counted */
    uint32_t sequence;     /* the oid of the sequence */
    void (*moved)(void *submitter);
    void *submitter;
    px_link *link; /* NULL: no link is open */
    bool ready, asking;
    size_t wanted;   /* how many numbers the rows at hand want at once */
    size_t block;    /* the least length of the next block: twice that of the last one */
    int64_t *values; /* drawn numbers; those from `first` to `count` are not taken */
    size_t first, count, cap;
    int64_t last; /* the number that was taken last; valid if `taken` */
    bool taken;
    pgw_buf error;
};

px_numbers *px_numbers_new(px_worker *worker, px_identity *identity, uint32_t sequence,
                           void (*moved)(void *submitter), void *submitter)
{
    px_numbers *it = pgw_calloc(1, sizeof *it);
    it->worker = worker;
    it->identity = px_identity_take(identity);
    it->sequence = sequence;
    it->moved = moved;
    it->submitter = submitter;
    return it;
}

void px_numbers_free(px_numbers *numbers)
{
    if (numbers == NULL)
        return;
    if (numbers->link != NULL)
        px_link_close(numbers->link);
    px_identity_drop(numbers->identity);
    free(numbers->values);
    pgw_buf_free(&numbers->error);
    free(numbers);
}

static size_t left(const px_numbers *it)
{
    return it->count - it->first;
}

/* ---- the link ---- */

static void fail(px_numbers *it, pgw_slice body)
{
    if (it->error.len == 0)
        pgw_buf_add_slice(&it->error, body);
}

static void fail_here(px_numbers *it, const pgw_error *error)
{
    enum { HEAD = 5 };
    pgw_buf message = {0};
    pgw_error_write(error, "ERROR", &message);
    fail(it, (pgw_slice){message.ptr + HEAD, message.len - HEAD});
    pgw_buf_free(&message);
}

/* Asks for the next block, if one is wanted and nothing is under way. */
static void ask(px_numbers *it)
{
    if (!it->ready || it->asking || left(it) >= it->wanted || it->error.len > 0)
        return;
    size_t missing = it->wanted - left(it), count = missing > it->block ? missing : it->block;
    char text[200];
    snprintf(text, sizeof text,
             "select pg_catalog.nextval('%" PRIu32 "'::pg_catalog.regclass)"
             " from pg_catalog.generate_series(1, %zu)",
             it->sequence, count);
    it->block = 2 * count < BLOCK ? 2 * count : BLOCK;
    it->asking = true;
    pgw_buf out = {0};
    pgw_certainly(pgw_write_query(pgw_slice_str(text), &out));
    px_link_send_buf(it->link, &out);
    pgw_buf_free(&out);
}

static void add_number(px_numbers *it, int64_t number)
{
    if (it->count == it->cap && it->first > 0) {
        memmove(it->values, it->values + it->first, left(it) * sizeof *it->values);
        it->count -= it->first;
        it->first = 0;
    }
    if (it->count == it->cap) {
        it->cap = it->cap > 0 ? 2 * it->cap : CAP;
        it->values = pgw_realloc(it->values, it->cap * sizeof *it->values);
    }
    it->values[it->count++] = number;
}

/* Takes a number. False: the server does not keep to the protocol. */
static bool on_row(px_numbers *it, pgw_slice body)
{
    enum { DIGITS = 20 };
    pgw_slice cell;
    bool null;
    char text[DIGITS + 1] = "", *end;
    if (pgw_data_row_decode(body, &cell, &null, 1) != 1 || null || cell.len > DIGITS)
        return false;
    memcpy(text, cell.ptr, cell.len);
    add_number(it, strtoll(text, &end, 10));
    return end != text && *end == '\0';
}

static bool on_one(px_numbers *it, char type, pgw_slice body)
{
    if (type == 'D')
        return on_row(it, body);
    if (type == 'E')
        fail(it, body);
    if (type == 'Z')
        it->asking = false;
    return true;
}

static bool take_messages(px_numbers *it)
{
    for (;;) {
        pgw_frame frame;
        pgw_slice message;
        pgw_frame_result result = px_link_message(it->link, REPLY_MOST, &frame, &message);
        if (result != PGW_FRAME_OK)
            return result == PGW_FRAME_MORE;
        bool right = on_one(it, frame.type, pgw_frame_body(message, frame));
        px_link_consume(it->link, frame.size);
        if (!right)
            return false;
    }
}

static void lose(px_numbers *it, const char *reason)
{
    pgw_error error;
    px_link_close(it->link);
    it->link = NULL;
    it->ready = it->asking = false;
    pgw_fail(&error, "08006", "a connection to the backend was lost while keys were drawn: %s",
             reason);
    fail_here(it, &error);
    it->moved(it->submitter);
}

static void on_ready(px_link *link)
{
    px_numbers *it = px_link_owner(link);
    it->ready = true;
    ask(it);
}

static void on_failed(px_link *link, const pgw_error *error)
{
    px_numbers *it = px_link_owner(link);
    it->link = NULL;
    fail_here(it, error);
    it->moved(it->submitter);
}

static void on_message(px_link *link)
{
    px_numbers *it = px_link_owner(link);
    bool before = it->asking;
    if (!take_messages(it)) {
        lose(it, "the backend did not keep to the protocol");
        return;
    }
    if (!before || it->asking)
        return;
    ask(it);
    if (!it->asking)
        it->moved(it->submitter);
}

static void on_drained(px_link *link)
{
    (void)link;
}

static void on_lost(px_link *link, const char *reason)
{
    lose(px_link_owner(link), reason);
}

static const px_link_ops link_ops = {.on_ready = on_ready,
                                     .on_failed = on_failed,
                                     .on_message = on_message,
                                     .on_drained = on_drained,
                                     .on_lost = on_lost};

/* ---- what it gives ---- */

bool px_numbers_have(px_numbers *numbers, size_t count)
{
    if (left(numbers) >= count)
        return true;
    numbers->wanted = count;
    if (numbers->link == NULL && numbers->error.len == 0)
        numbers->link = px_link_open(numbers->worker, PX_LINK_SESSION, numbers->identity,
                                     LOCK_TIMEOUT, &link_ops, numbers);
    ask(numbers);
    return false;
}

int64_t px_numbers_take(px_numbers *numbers)
{
    numbers->taken = true;
    return numbers->last = numbers->values[numbers->first++];
}

bool px_numbers_last(const px_numbers *numbers, int64_t *number)
{
    *number = numbers->last;
    return numbers->taken;
}

pgw_slice px_numbers_error(const px_numbers *numbers)
{
    return pgw_slice_buf(&numbers->error);
}
