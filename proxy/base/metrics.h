/*
 * metrics: what is counted, and the text that tells it. Each thread counts in an object of its own,
 * so that counting is an addition in memory that no other thread writes; a scrape adds them up.
 */
#ifndef PX_METRICS_H
#define PX_METRICS_H

#include "protocol/bytes.h"

#include <stdatomic.h>

/* ---- what there is: metrics_text.c has a name and a help text for each ---- */

typedef enum px_counter {
    PX_LOGINS_OK,
    PX_LOGINS_AUTHENTICATION,
    PX_LOGINS_LIMIT,
    PX_LOGINS_CONNECTION,
    PX_LOGINS_OTHER,
    PX_CANCEL_REQUESTS,
    PX_ACCEPT_STOPS,
    PX_RECEIVED_CLIENT,
    PX_RECEIVED_BACKEND,
    PX_SENT_CLIENT,
    PX_SENT_BACKEND,
    PX_LINK_FAILURES,
    PX_WRITE_GROUPS_COMMITTED, /* the outcome of a write group: this and the next five */
    PX_WRITE_GROUPS_REROUTED,
    PX_WRITE_GROUPS_FAILED,
    PX_WRITE_GROUPS_UNKNOWN,
    PX_WRITE_GROUPS_EXPIRED,
    PX_WRITE_GROUPS_WITHDRAWN,
    PX_WRITE_GROUPS_REPEATED,
    PX_BATCHED_STATEMENTS,
    PX_BATCHED_ROWS,
    PX_BATCHES_FAILED,
    PX_BATCH_RETRIES,
    PX_BATCH_CHECKS_FAILED,
    PX_NOTICES_DROPPED,
    PX_UNBATCHED_TRANSACTION,
    PX_UNBATCHED_RETURNING,
    PX_UNBATCHED_SETTINGS,
    PX_UNBATCHED_ENCODING,
    PX_UNBATCHED_SEQUENCE,
    PX_UNBATCHED_TRIGGER,
    PX_UNBATCHED_EXPRESSION,
    PX_UNBATCHED_FORM,
    PX_UNBATCHED_UNCOMPUTABLE,
    PX_UNBATCHED_GROUP,
    PX_UNBATCHED_LOCK,
    PX_UNBATCHED_SLOW,
    PX_PRIVATE_ROLE,
    PX_PRIVATE_SETTING,
    PX_OVERSIZED_ROW,
    PX_OVERSIZED_KEY,
    PX_TRANSACTIONS_RODE_ALONG,
    PX_TRANSACTIONS_SENT,
    PX_TRANSACTIONS_EMPTY,
    PX_TRANSACTIONS_LAZY,
    PX_ORDINARY_STATEMENT, /* why a lazy transaction was made ordinary: this and the next seven */
    PX_ORDINARY_SAVEPOINT,
    PX_ORDINARY_RETURNING,
    PX_ORDINARY_CONFLICT,
    PX_ORDINARY_TABLE,
    PX_ORDINARY_PROTOCOL,
    PX_ORDINARY_SIZE,
    PX_ORDINARY_COMMIT,
    PX_COPIES_BEGUN,
    PX_COPIES_ENDED,
    PX_COPIED_ROWS,
    PX_COPIED_BYTES,
    PX_KEYS_ASKED,
    PX_KEYS_BLOCK,
    PX_KEYS_RANDOM,
    PX_SEQUENCE_BLOCKS,
    PX_CATALOG_CHECKS,
    PX_CATALOG_LOADS_OK,
    PX_CATALOG_LOADS_FAILED,
    PX_WRONG_HASHES,
    PX_COUNTERS,
    PX_NO_BLOCKER = PX_COUNTERS /* Nothing keeps a statement out of a batch. */
} px_counter;

/* Numbers that are read when the metrics are asked for. */
typedef enum px_gauge {
    PX_CLIENTS_LOGGED_IN,
    PX_CLIENTS_LOGGING_IN,
    PX_CLIENTS_LIMIT,
    PX_LINKS_SESSION,
    PX_LINKS_BATCH,
    PX_LINKS_LIMIT,
    PX_BACKEND_UP,
    PX_QUEUE_BYTES,
    PX_QUEUE_LIMIT,
    PX_CATALOG_LOADED,
    PX_BUILD_INFO,
    PX_START_TIME,
    PX_GAUGES
} px_gauge;

typedef enum px_histogram {
    PX_LINK_WAIT_SESSION, /* nanoseconds, like the next two */
    PX_LINK_WAIT_BATCH,
    PX_WRITE_GROUP_DURATION,
    PX_BATCH_ROWS,
    PX_REQUEST_PARTITIONS,
    PX_HISTOGRAMS
} px_histogram;

/* How a table is read. */
typedef enum px_read_kind {
    PX_READ_KEY,  /* one partition is read, by the table's key */
    PX_READ_SEEK, /* each partition is read from a place that an index finds */
    PX_READ_SCAN, /* the whole table is read */
    PX_READS
} px_read_kind;

enum {
    PX_BUCKETS = 15,     /* most bounds of a histogram; one bucket more is for larger values */
    PX_CODES = 128,      /* SQLSTATEs that are told apart */
    PX_PARTITIONS = 256, /* most partitions that are counted one by one */
    PX_CACHE_LINE = 64
};

/* ---- where it is counted ---- */

typedef _Atomic uint64_t px_number;

typedef struct px_table_metrics {
    struct px_table_metrics *next; /* never changed once other threads can see the table */
    char *name;
    px_number partitions; /* partitions of the table that are shown one by one */
    /* The last entry is for all partitions that are not counted one by one. */
    px_number rows[PX_PARTITIONS + 1], requests[PX_PARTITIONS + 1];
    px_number reads[PX_READS];
    px_number limit_rows, limit_bytes; /* limits of batches in force; 0 = no queue has one */
    uint64_t least_rows, least_bytes;  /* least limits since px_limits_begin(); 0 = none yet */
} px_table_metrics;

/* What one thread counts: only it writes, any thread reads. */
typedef struct px_metrics {
    px_number counters[PX_COUNTERS];
    px_number buckets[PX_HISTOGRAMS][PX_BUCKETS + 1], sums[PX_HISTOGRAMS];
    px_number errors[PX_CODES + 1]; /* errors by place in `codes`; the last: other SQLSTATEs */
    px_number catalog_loaded;       /* Unix seconds; 0 = never */
    px_table_metrics *_Atomic tables;
    struct px_codes *codes; /* the SQLSTATEs that the process has told */
    bool owns_codes;
} px_metrics;

/* Makes one with its own list of SQLSTATEs, or with that of `with`, which must live longer. */
px_metrics *px_metrics_new(const px_metrics *with);
void px_metrics_free(px_metrics *metrics); /* NULL is fine */
/* Adds all of `one`, which another thread may be counting in. */
void px_metrics_add(px_metrics *sum, const px_metrics *one);

/* Each number has one writer, so that no atomic read-modify-write is needed. */
static inline void px_number_add(px_number *number, uint64_t more)
{
    uint64_t before = atomic_load_explicit(number, memory_order_relaxed);
    atomic_store_explicit(number, before + more, memory_order_relaxed);
}

static inline uint64_t px_number_get(const px_number *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static inline void px_count(px_metrics *metrics, px_counter counter, uint64_t more)
{
    px_number_add(&metrics->counters[counter], more);
}

void px_observe(px_metrics *metrics, px_histogram histogram, uint64_t value);
/* Counts an error that a client was told. */
void px_count_error(px_metrics *metrics, pgw_slice sqlstate);
/* The SQLSTATE that is counted at a place of `errors`; "" if none is. */
void px_metrics_code(const px_metrics *metrics, size_t place, char code[6]);
/* Counts the end of a login: `sqlstate` is NULL if it went well. */
void px_count_login(px_metrics *metrics, const char *sqlstate);

/* Shows a table before anything is counted for it, with its configured limits. */
void px_metrics_expect(px_metrics *sum, const char *table, uint64_t partitions, uint64_t limit_rows,
                       uint64_t limit_bytes);
/* Counts a request with `rows` rows; `numbers` are their partitions, of `partitions` that the table
 * has. */
void px_count_request(px_metrics *metrics, const char *table, uint32_t partitions,
                      const uint32_t *numbers, size_t rows);
/* Counts a request whose `rows` rows are all of partition `number`. */
void px_count_request_to(px_metrics *metrics, const char *table, uint32_t partitions,
                         uint32_t number, size_t rows);

/* Counts a statement that reads a table. `schema` NULL: `name` is the whole name that is counted.
 */
void px_count_read(px_metrics *metrics, const char *schema, const char *name, px_read_kind kind);

/* Collects the limits of batches in force: begin, note those of each queue, end. */
void px_limits_begin(px_metrics *metrics);
void px_limits_note(px_metrics *metrics, const char *table, uint64_t rows, uint64_t bytes);
void px_limits_end(px_metrics *metrics);

/* The bounds of a histogram's buckets, ascending, and a 0. */
const uint64_t *px_histogram_bounds(px_histogram histogram);

#endif
