#include "proxy/ingest/load.h"

#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/link.h"
#include "proxy/base/shared.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINKS = 4,           /* batches that are on their way at a time */
    SHARE = 1,           /* batches that are, while clients' own rows are written, too */
    BATCH = 1 << 20,     /* bytes of a batch that is written, at most */
    GATHERED = 16 << 20, /* bytes: with more, the longest batch is written before it is whole */
    PARTITIONS = 1024,   /* partitions share batches if there are more than this */
    REPLY_MOST = 1 << 20 /* bytes of a message of the server's */
};

/* A piece of a batch: its last line in the client's data, and how many lines it is. */
typedef struct piece {
    uint64_t line, lines;
} piece;

typedef struct batch {
    struct batch *next;
    pgw_buf data; /* A CopyData message that has begun, as px_block_begin() has it. */
    size_t begun;
    size_t partition;
    size_t bytes; /* bytes that the batch takes, as counted in the load's `bytes` */
    piece *pieces;
    size_t count, cap;
    bool last; /* The batch has no tail. */
} batch;

/* A link of the load, and the batch that is on its way there. */
typedef struct carrier {
    px_load *load;
    px_link *link; /* NULL: the carrier has no link */
    bool ready;
    bool staging;  /* The load's `create` is on its way there. */
    batch *batch;  /* NULL: the link is idle */
    uint64_t rows; /* rows that the batch's tag counts */
    bool failed;   /* The batch's error was read. */
} carrier;

struct px_load {
    px_worker *worker;
    px_identity *identity; /* counted */
    const px_load_ops *ops;
    void *submitter;
    pgw_buf statement, head, tail;
    pgw_buf create; /* what each link runs first; empty: nothing, and batches come in any order */
    size_t head_lines;
    size_t partitions;
    batch **open;        /* each partition's batch that is gathered; or NULL */
    batch *first, **end; /* batches that wait for a link */
    carrier carriers[LINKS];
    size_t bytes; /* bytes that all batches take */
    size_t whole; /* a batch with so many bytes of data is written */
    bool finishing, stopped;
    bool enough;   /* A link could not be opened: no more are. */
    pgw_buf error; /* the body of the first error */
    batch *blamed; /* the batch whose error or notice is at hand, or by whose error the load failed,
                      which is then owned */
    uint64_t committed, missing;
};

/* --- batches --- */

static void free_batch(px_load *load, batch *it)
{
    if (it == NULL)
        return;
    load->bytes -= it->bytes;
    pgw_buf_free(&it->data);
    free(it->pieces);
    free(it);
}

static void count_bytes(px_load *load, batch *it)
{
    size_t bytes = sizeof *it + it->data.cap + it->cap * sizeof *it->pieces;
    load->bytes += bytes - it->bytes;
    it->bytes = bytes;
}

static void add_piece(batch *it, uint64_t line, uint64_t lines)
{
    if (it->count == it->cap) {
        it->cap = it->cap > 0 ? 2 * it->cap : 64;
        it->pieces = pgw_realloc(it->pieces, it->cap * sizeof *it->pieces);
    }
    it->pieces[it->count++] = (piece){line, lines};
}

static batch *new_batch(const px_load *load, size_t partition)
{
    batch *it = pgw_calloc(1, sizeof *it);
    it->partition = partition;
    px_block_begin(&it->data);
    it->begun = pgw_begin(&it->data, 'd');
    pgw_buf_add_slice(&it->data, pgw_slice_buf(&load->head));
    if (load->head_lines > 0)
        add_piece(it, load->head_lines, load->head_lines);
    return it;
}

/* The first line of the client's data that is in the batch. */
static uint64_t first_line(const px_load *load, const batch *it)
{
    size_t at = load->head_lines > 0;
    return at < it->count ? it->pieces[at].line - it->pieces[at].lines + 1 : 0;
}

static void miss_line(px_load *load, uint64_t line)
{
    if (line > 0 && (load->missing == 0 || line < load->missing))
        load->missing = line;
}

/* Notes that it is not certain that any row of the batch is committed. */
static void miss(px_load *load, const batch *it)
{
    miss_line(load, first_line(load, it));
}

static void enqueue(px_load *load, batch *it)
{
    *load->end = it;
    load->end = &it->next;
}

static void close_batch(px_load *load, size_t partition)
{
    enqueue(load, load->open[partition]);
    load->open[partition] = NULL;
}

static void append(px_load *load, batch *it, pgw_slice bytes, size_t begin, uint64_t line,
                   uint64_t lines)
{
    bool fresh = it->count == 0;
    size_t left_away = fresh ? begin : 0;
    pgw_buf_add(&it->data, bytes.ptr + left_away, bytes.len - left_away);
    add_piece(it, line, lines);
    count_bytes(load, it);
}

/* Queues the longest batch that is gathered. False: there is none. */
static bool close_longest(px_load *load)
{
    size_t longest = load->partitions, len = 0;
    for (size_t i = 0; i < load->partitions; i++)
        if (load->open[i] != NULL && load->open[i]->data.len > len) {
            len = load->open[i]->data.len;
            longest = i;
        }
    if (longest == load->partitions)
        return false;
    close_batch(load, longest);
    return true;
}

/* --- the end --- */

static void drop_queued(px_load *load)
{
    while (close_longest(load))
        ;
    for (batch *it = load->first; it != NULL;) {
        batch *next = it->next;
        miss(load, it);
        free_batch(load, it);
        it = next;
    }
    load->first = NULL;
    load->end = &load->first;
}

static void stop(px_load *load)
{
    load->stopped = true;
    drop_queued(load);
}

/* `it`, which is taken, may be NULL: no batch is to blame. */
static void fail(px_load *load, pgw_slice body, batch *it)
{
    if (it != NULL)
        miss(load, it);
    if (load->error.len == 0) {
        pgw_buf_add_slice(&load->error, body);
        load->blamed = it;
    } else {
        free_batch(load, it);
    }
    stop(load);
}

static void fail_here(px_load *load, const pgw_error *error, batch *it)
{
    enum { HEAD = 5 };
    pgw_buf message = {0};
    pgw_error_write(error, "ERROR", &message);
    fail(load, (pgw_slice){message.ptr + HEAD, message.len - HEAD}, it);
    pgw_buf_free(&message);
}

/* --- links --- */

static void pump(px_load *load);

static void send_query(const carrier *c, const pgw_buf *text)
{
    pgw_buf out = {0};
    pgw_certainly(pgw_write_query(pgw_slice_buf(text), &out));
    px_link_send_buf(c->link, &out);
    pgw_buf_free(&out);
}

static void write_batch(carrier *c, batch *it)
{
    px_load *load = c->load;
    pgw_buf out = {0};
    c->batch = it;
    c->rows = 0;
    c->failed = false;
    send_query(c, &load->statement);
    if (!it->last)
        pgw_buf_add_slice(&it->data, pgw_slice_buf(&load->tail));
    pgw_certainly(pgw_end(&it->data, it->begun));
    px_link_give(c->link, &it->data);
    size_t begun = pgw_begin(&out, 'c');
    pgw_certainly(pgw_end(&out, begun));
    px_link_send_buf(c->link, &out);
    pgw_buf_free(&out);
}

/* The server is ready for the next query: what it was sent is committed, or not. */
static bool on_answered(carrier *c, pgw_slice body)
{
    px_load *load = c->load;
    batch *it = c->batch;
    if (c->staging) {
        c->staging = false;
        c->ready = true;
        return true;
    }
    if (it == NULL || body.len != 1 || body.ptr[0] != 'I')
        return false;
    c->batch = NULL;
    if (c->failed)
        return true; /* fail() has taken the batch. */
    load->committed += c->rows;
    free_batch(load, it);
    return true;
}

/* Takes a message. False: the server does not keep to the protocol. */
static bool on_one(carrier *c, char type, pgw_slice body)
{
    px_load *load = c->load;
    switch (type) {
    case 'C':
        c->rows = pgw_tag_rows(body);
        return true;
    case 'N': {
        batch *blamed = load->blamed;
        load->blamed = c->batch != NULL ? c->batch : blamed;
        load->ops->notice(load->submitter, body);
        load->blamed = blamed;
        return true;
    }
    case 'E':
        if (!c->failed && c->batch != NULL) {
            c->failed = true;
            fail(load, body, c->batch);
        } else if (c->staging) {
            fail(load, body, NULL);
        }
        return true;
    case 'Z':
        return on_answered(c, body);
    default:
        return true;
    }
}

static void lose(carrier *c, const char *reason)
{
    px_load *load = c->load;
    batch *it = c->failed ? NULL : c->batch;
    bool busy = c->batch != NULL;
    px_link_close(c->link);
    *c = (carrier){.load = load};
    if (busy) {
        pgw_error error;
        pgw_fail(&error, "08006", "a connection to the backend was lost while rows were stored: %s",
                 reason);
        fail_here(load, &error, it);
    }
    pump(load);
}

static bool take_messages(carrier *c)
{
    for (;;) {
        pgw_frame frame;
        pgw_slice message;
        pgw_frame_result result = px_link_message(c->link, REPLY_MOST, &frame, &message);
        if (result != PGW_FRAME_OK)
            return result == PGW_FRAME_MORE;
        bool right = on_one(c, frame.type, pgw_frame_body(message, frame));
        px_link_consume(c->link, frame.size);
        if (!right)
            return false;
    }
}

static void on_ready(px_link *link)
{
    carrier *c = px_link_owner(link);
    c->staging = c->load->create.len > 0;
    c->ready = !c->staging;
    if (c->staging)
        send_query(c, &c->load->create);
    else
        pump(c->load);
}

static void on_failed(px_link *link, const pgw_error *error)
{
    carrier *c = px_link_owner(link);
    px_load *load = c->load;
    bool alone = true;
    *c = (carrier){.load = load};
    for (size_t i = 0; i < LINKS; i++)
        alone = alone && load->carriers[i].link == NULL;
    load->enough = true;
    if (alone)
        fail_here(load, error, NULL);
    pump(load);
}

static void on_message(px_link *link)
{
    carrier *c = px_link_owner(link);
    if (take_messages(c))
        pump(c->load);
    else
        lose(c, "the backend did not keep to the protocol");
}

static void on_drained(px_link *link)
{
    (void)link;
}

/* Messages that came before the link's end count: they may be the outcome. */
static void on_lost(px_link *link, const char *reason)
{
    carrier *c = px_link_owner(link);
    take_messages(c);
    lose(c, reason);
}

static const px_link_ops link_ops = {.on_ready = on_ready,
                                     .on_failed = on_failed,
                                     .on_message = on_message,
                                     .on_drained = on_drained,
                                     .on_lost = on_lost};

/* Opens one more link: the first in any case, others while less than half of backend.max_links are
 * in use. */
static void open_link(px_load *load)
{
    carrier *none = NULL;
    size_t there = 0;
    for (size_t i = 0; i < LINKS; i++) {
        if (load->carriers[i].link == NULL)
            none = &load->carriers[i];
        else if (!load->carriers[i].ready)
            return; /* One is being opened. */
        else
            there++;
    }
    if (none == NULL)
        return;
    if (there == 0)
        none->link =
            px_link_open(load->worker, PX_LINK_SESSION, load->identity, NULL, &link_ops, none);
    else if (!load->enough)
        none->link = px_link_open_of(load->worker, load->worker->config->backend.max_links / 2,
                                     load->identity, &link_ops, none);
}

/* Whether one more batch may be on its way: rows that clients wait for come before those of a
 * load, which would take the server's time from them with all its links. */
static bool may_write(const px_load *load)
{
    const px_worker *worker = load->worker;
    size_t most = px_quota_is_busy(&worker->server->quota, px_worker_now(worker)) ? SHARE : LINKS;
    size_t under_way = 0;
    for (size_t i = 0; i < LINKS; i++)
        under_way += load->carriers[i].batch != NULL;
    return under_way < most;
}

static carrier *idle(px_load *load)
{
    for (size_t i = 0; i < LINKS; i++)
        if (load->carriers[i].ready && load->carriers[i].batch == NULL)
            return &load->carriers[i];
    return NULL;
}

static bool is_under_way(const px_load *load, size_t partition)
{
    for (size_t i = 0; i < LINKS; i++)
        if (load->carriers[i].batch != NULL && load->carriers[i].batch->partition == partition)
            return true;
    return false;
}

/* Takes the first batch that waits and may be written; NULL: there is none. */
static batch *next_batch(px_load *load)
{
    for (batch **at = &load->first; *at != NULL; at = &(*at)->next) {
        batch *it = *at;
        if (load->create.len > 0 && is_under_way(load, it->partition))
            continue;
        *at = it->next;
        if (*at == NULL)
            load->end = at;
        it->next = NULL;
        return it;
    }
    return NULL;
}

/* Writes batches that wait, as far as there are links. */
static void pump(px_load *load)
{
    bool pressed = load->finishing || load->bytes >= GATHERED;
    while (!load->stopped && (load->first != NULL || (pressed && close_longest(load)))) {
        if (!may_write(load))
            break;
        carrier *c = idle(load);
        if (c == NULL) {
            open_link(load);
            break;
        }
        batch *it = next_batch(load);
        if (it != NULL)
            write_batch(c, it);
        else if (!pressed || !close_longest(load))
            break;
    }
    load->ops->moved(load->submitter);
}

/* --- what it is given --- */

/* Before YDB a batch becomes one text of INSERT, which is mostly shorter than twice its rows. */
static size_t bytes_of_batch(const cfg_config *config)
{
    uint64_t most = config->backend.capabilities.max_message / 2;
    return config->backend.dialect == CFG_DIALECT_YDB && most < BATCH ? (size_t)most : BATCH;
}

px_load *px_load_new(px_worker *worker, px_identity *identity, pgw_slice statement,
                     size_t partitions, const px_load_ops *ops, void *submitter)
{
    px_load *load = pgw_calloc(1, sizeof *load);
    load->worker = worker;
    load->identity = px_identity_take(identity);
    load->ops = ops;
    load->submitter = submitter;
    load->partitions = partitions == 0 ? 1 : partitions < PARTITIONS ? partitions : PARTITIONS;
    load->open = pgw_calloc(load->partitions, sizeof *load->open);
    load->end = &load->first;
    load->whole = bytes_of_batch(worker->config);
    pgw_buf_add_slice(&load->statement, statement);
    for (size_t i = 0; i < LINKS; i++)
        load->carriers[i].load = load;
    return load;
}

void px_load_stage(px_load *load, pgw_slice create, pgw_slice statement)
{
    pgw_buf_add_slice(&load->create, create);
    pgw_buf_clear(&load->statement);
    pgw_buf_add_slice(&load->statement, statement);
}

void px_load_free(px_load *load)
{
    if (load == NULL)
        return;
    stop(load);
    for (size_t i = 0; i < LINKS; i++) {
        carrier *c = &load->carriers[i];
        if (c->batch != NULL && !c->failed)
            free_batch(load, c->batch);
        if (c->link != NULL)
            px_link_close(c->link);
    }
    free_batch(load, load->blamed);
    pgw_buf_free(&load->statement);
    pgw_buf_free(&load->create);
    pgw_buf_free(&load->head);
    pgw_buf_free(&load->tail);
    pgw_buf_free(&load->error);
    px_identity_drop(load->identity);
    free(load->open);
    free(load);
}

void px_load_frame(px_load *load, pgw_slice head, size_t head_lines, pgw_slice tail)
{
    pgw_buf_clear(&load->head);
    pgw_buf_clear(&load->tail);
    pgw_buf_add_slice(&load->head, head);
    pgw_buf_add_slice(&load->tail, tail);
    load->head_lines = head_lines;
}

void px_load_add(px_load *load, size_t partition, pgw_slice bytes, size_t begin, uint64_t line,
                 uint64_t lines)
{
    size_t at = partition % load->partitions;
    if (load->stopped) {
        miss_line(load, line - lines + 1);
        return;
    }
    if (load->open[at] == NULL)
        load->open[at] = new_batch(load, at);
    append(load, load->open[at], bytes, begin, line, lines);
    if (load->open[at]->data.len < load->whole && load->bytes < GATHERED)
        return;
    if (load->open[at]->data.len >= load->whole)
        close_batch(load, at);
    pump(load);
}

void px_load_add_last(px_load *load, pgw_slice bytes, size_t begin, uint64_t line, uint64_t lines)
{
    if (load->stopped)
        return;
    batch *it = new_batch(load, 0);
    it->last = true;
    append(load, it, bytes, begin, line, lines);
    enqueue(load, it);
}

void px_load_finish(px_load *load)
{
    bool first = !load->finishing;
    load->finishing = true;
    if (first)
        pump(load);
}

void px_load_refuse(px_load *load, pgw_slice body, uint64_t line)
{
    if (load->stopped)
        return;
    miss_line(load, line);
    fail(load, body, NULL);
    load->ops->moved(load->submitter);
}

/* --- what it tells --- */

bool px_load_is_full(const px_load *load)
{
    return load->bytes >= PX_LOAD_MOST;
}

bool px_load_is_settled(const px_load *load)
{
    if (!load->stopped && (!load->finishing || load->first != NULL))
        return false;
    for (size_t i = 0; i < LINKS; i++)
        if (load->carriers[i].batch != NULL)
            return false;
    return true;
}

pgw_slice px_load_error(const px_load *load)
{
    return pgw_slice_buf(&load->error);
}

uint64_t px_load_committed(const px_load *load)
{
    return load->committed;
}

uint64_t px_load_missing(const px_load *load)
{
    return load->missing;
}

uint64_t px_load_line(const px_load *load, uint64_t line)
{
    const batch *it = load->blamed;
    uint64_t passed = 0;
    if (it == NULL)
        return line;
    for (size_t i = 0; i < it->count; passed += it->pieces[i++].lines)
        if (line <= passed + it->pieces[i].lines || i + 1 == it->count)
            return it->pieces[i].line - it->pieces[i].lines + (line - passed);
    return line;
}
