#include "proxy/base/metrics_text.h"

#include <inttypes.h>
#include <stdio.h>

/* Metrics of one family stand together; its first has the help text. */
typedef struct entry {
    const char *family, *label, *help;
} entry;

static const entry counters[PX_COUNTERS] = {
    [PX_LOGINS_OK] = {"keyspread_logins_total", "result=\"ok\"",
                      "Logins of clients, and those that were refused."},
    [PX_LOGINS_AUTHENTICATION] = {"keyspread_logins_total", "result=\"authentication\"", NULL},
    [PX_LOGINS_LIMIT] = {"keyspread_logins_total", "result=\"limit\"", NULL},
    [PX_LOGINS_CONNECTION] = {"keyspread_logins_total", "result=\"connection\"", NULL},
    [PX_LOGINS_OTHER] = {"keyspread_logins_total", "result=\"other\"", NULL},
    [PX_CANCEL_REQUESTS] = {"keyspread_cancel_requests_total", NULL,
                            "Cancel requests that came, with a right key or a wrong one."},
    [PX_ACCEPT_STOPS] = {"keyspread_accept_stops_total", NULL,
                         "Times no client could be accepted for want of file descriptors or "
                         "memory."},
    [PX_RECEIVED_CLIENT] = {"keyspread_received_bytes_total", "peer=\"client\"",
                            "Bytes that came, without those of TLS."},
    [PX_RECEIVED_BACKEND] = {"keyspread_received_bytes_total", "peer=\"backend\"", NULL},
    [PX_SENT_CLIENT] = {"keyspread_sent_bytes_total", "peer=\"client\"",
                        "Bytes that left, without those of TLS."},
    [PX_SENT_BACKEND] = {"keyspread_sent_bytes_total", "peer=\"backend\"", NULL},
    [PX_LINK_FAILURES] = {"keyspread_link_failures_total", NULL,
                          "Connections to the backend that could not be opened."},
    [PX_WRITE_GROUPS_COMMITTED] =
        {"keyspread_units_total", "outcome=\"committed\"",
         "Units (a statement, or the statements of a Sync group) that were "
         "batched, by their outcome."},
    [PX_WRITE_GROUPS_REROUTED] = {"keyspread_units_total", "outcome=\"rerouted\"", NULL},
    [PX_WRITE_GROUPS_FAILED] = {"keyspread_units_total", "outcome=\"failed\"", NULL},
    [PX_WRITE_GROUPS_UNKNOWN] = {"keyspread_units_total", "outcome=\"unknown\"", NULL},
    [PX_WRITE_GROUPS_EXPIRED] = {"keyspread_units_total", "outcome=\"expired\"", NULL},
    [PX_WRITE_GROUPS_WITHDRAWN] = {"keyspread_units_total", "outcome=\"withdrawn\"", NULL},
    [PX_WRITE_GROUPS_REPEATED] = {"keyspread_units_repeated_total", NULL,
                                  "Units sent again, alone, after a failed batch."},
    [PX_BATCHED_STATEMENTS] = {"keyspread_batched_statements_total", NULL,
                               "Statements of committed units."},
    [PX_BATCHED_ROWS] = {"keyspread_batched_rows_total", NULL, "Rows of committed units."},
    [PX_BATCHES_FAILED] = {"keyspread_batches_failed_total", NULL,
                           "Batches whose first attempt did not commit."},
    [PX_BATCH_RETRIES] = {"keyspread_batch_retries_total", NULL,
                          "Further attempts of batches, in which each unit is alone."},
    [PX_BATCH_CHECKS_FAILED] = {"keyspread_batch_checks_failed_total", NULL,
                                "Batches whose rows failed when merged, and not alone."},
    [PX_NOTICES_DROPPED] = {"keyspread_notices_dropped_total", NULL,
                            "Notices of merged statements, which are told to nobody."},
    [PX_UNBATCHED_TRANSACTION] = {"keyspread_inserts_not_batched_total", "reason=\"transaction\"",
                                  "INSERTs into configured tables that went to the session's own "
                                  "link, by the reason."},
    [PX_UNBATCHED_RETURNING] = {"keyspread_inserts_not_batched_total", "reason=\"returning\"",
                                NULL},
    [PX_UNBATCHED_SETTINGS] = {"keyspread_inserts_not_batched_total", "reason=\"settings\"", NULL},
    [PX_UNBATCHED_ENCODING] = {"keyspread_inserts_not_batched_total", "reason=\"encoding\"", NULL},
    [PX_UNBATCHED_SEQUENCE] = {"keyspread_inserts_not_batched_total", "reason=\"sequence\"", NULL},
    [PX_UNBATCHED_TRIGGER] = {"keyspread_inserts_not_batched_total", "reason=\"trigger\"", NULL},
    [PX_UNBATCHED_EXPRESSION] = {"keyspread_inserts_not_batched_total", "reason=\"expression\"",
                                 NULL},
    [PX_UNBATCHED_FORM] = {"keyspread_inserts_not_batched_total", "reason=\"form\"", NULL},
    [PX_UNBATCHED_UNCOMPUTABLE] = {"keyspread_inserts_not_batched_total", "reason=\"uncomputable\"",
                                   NULL},
    [PX_UNBATCHED_GROUP] = {"keyspread_inserts_not_batched_total", "reason=\"group\"", NULL},
    [PX_UNBATCHED_LOCK] = {"keyspread_inserts_not_batched_total", "reason=\"lock\"", NULL},
    [PX_UNBATCHED_SLOW] = {"keyspread_inserts_not_batched_total", "reason=\"slow\"", NULL},
    [PX_PRIVATE_ROLE] = {"keyspread_private_sessions_total", "reason=\"role\"",
                         "Times that a session was found to be what batches cannot follow."},
    [PX_PRIVATE_SETTING] = {"keyspread_private_sessions_total", "reason=\"setting\"", NULL},
    [PX_OVERSIZED_ROW] = {"keyspread_oversized_rows_total", "limit=\"row_bytes\"",
                          "Rows above limits.row_bytes or limits.key_bytes, refused or not."},
    [PX_OVERSIZED_KEY] = {"keyspread_oversized_rows_total", "limit=\"key_bytes\"", NULL},
    [PX_TRANSACTIONS_RODE_ALONG] = {"keyspread_transactions_total", "kind=\"rode_along\"",
                                    "BEGINs of clients, by how the backend came to know of them."},
    [PX_TRANSACTIONS_SENT] = {"keyspread_transactions_total", "kind=\"sent\"", NULL},
    [PX_TRANSACTIONS_EMPTY] = {"keyspread_transactions_total", "kind=\"empty\"", NULL},
    [PX_TRANSACTIONS_LAZY] = {"keyspread_transactions_total", "kind=\"lazy\"", NULL},
    [PX_ORDINARY_STATEMENT] = {"keyspread_transactions_total",
                               "kind=\"made_ordinary\",reason=\"statement\"", NULL},
    [PX_ORDINARY_SAVEPOINT] = {"keyspread_transactions_total",
                               "kind=\"made_ordinary\",reason=\"savepoint\"", NULL},
    [PX_ORDINARY_RETURNING] = {"keyspread_transactions_total",
                               "kind=\"made_ordinary\",reason=\"returning\"", NULL},
    [PX_ORDINARY_CONFLICT] = {"keyspread_transactions_total",
                              "kind=\"made_ordinary\",reason=\"conflict\"", NULL},
    [PX_ORDINARY_TABLE] = {"keyspread_transactions_total",
                           "kind=\"made_ordinary\",reason=\"table\"", NULL},
    [PX_ORDINARY_PROTOCOL] = {"keyspread_transactions_total",
                              "kind=\"made_ordinary\",reason=\"protocol\"", NULL},
    [PX_ORDINARY_SIZE] = {"keyspread_transactions_total", "kind=\"made_ordinary\",reason=\"size\"",
                          NULL},
    [PX_ORDINARY_COMMIT] = {"keyspread_transactions_total",
                            "kind=\"made_ordinary\",reason=\"commit\"", NULL},
    [PX_COPIES_BEGUN] = {"keyspread_copies_begun_total", NULL,
                         "COPY FROM STDIN into configured tables whose data was asked for."},
    [PX_COPIES_ENDED] = {"keyspread_copies_ended_total", NULL,
                         "COPY FROM STDIN into configured tables that have ended, well or not."},
    [PX_COPIED_ROWS] = {"keyspread_copied_rows_total", NULL,
                        "Rows of COPY FROM STDIN that were given their hash, stored or not."},
    [PX_COPIED_BYTES] = {"keyspread_copied_bytes_total", NULL,
                         "Bytes of the data of COPY FROM STDIN into configured tables."},
    [PX_KEYS_ASKED] = {"keyspread_keys_made_total", "by=\"question\"",
                       "Values of hash_key that clients left to the database."},
    [PX_KEYS_BLOCK] = {"keyspread_keys_made_total", "by=\"block\"", NULL},
    [PX_KEYS_RANDOM] = {"keyspread_keys_made_total", "by=\"random\"", NULL},
    [PX_SEQUENCE_BLOCKS] = {"keyspread_sequence_blocks_total", NULL,
                            "Blocks of numbers that were drawn ahead from sequences."},
    [PX_CATALOG_CHECKS] = {"keyspread_catalog_checks_total", NULL,
                           "Questions to the backend whether the configured tables have changed."},
    [PX_CATALOG_LOADS_OK] = {"keyspread_catalog_loads_total", "result=\"ok\"",
                             "Readings of the configured tables' columns from the backend."},
    [PX_CATALOG_LOADS_FAILED] = {"keyspread_catalog_loads_total", "result=\"failed\"", NULL},
    [PX_WRONG_HASHES] = {"keyspread_wrong_hashes_total", NULL,
                         "Rows with a wrong hash in samples of configured tables."},
};

static const entry gauges[PX_GAUGES] = {
    [PX_CLIENTS_LOGGED_IN] = {"keyspread_clients", "state=\"logged_in\"",
                              "Connections of clients."},
    [PX_CLIENTS_LOGGING_IN] = {"keyspread_clients", "state=\"logging_in\"", NULL},
    [PX_CLIENTS_LIMIT] = {"keyspread_clients_limit", NULL, "What limits.clients says."},
    [PX_LINKS_SESSION] = {"keyspread_links", "kind=\"session\"",
                          "Connections to the backend, open or being opened."},
    [PX_LINKS_BATCH] = {"keyspread_links", "kind=\"batch\"", NULL},
    [PX_LINKS_LIMIT] = {"keyspread_links_limit", NULL, "What backend.max_links says."},
    [PX_BACKEND_UP] = {"keyspread_backend_up", NULL,
                       "Whether the backend was reached when a link was opened last."},
    [PX_QUEUE_BYTES] = {"keyspread_queue_bytes", NULL,
                        "Memory of rows between arrival and answer."},
    [PX_QUEUE_LIMIT] = {"keyspread_queue_limit_bytes", NULL, "What limits.queue_bytes says."},
    [PX_CATALOG_LOADED] = {"keyspread_catalog_loaded_timestamp_seconds", NULL,
                           "When the configured tables' columns were last read, in Unix time; 0 "
                           "if never."},
    [PX_BUILD_INFO] = {"keyspread_build_info", NULL, "The version that runs; always 1."},
    [PX_START_TIME] = {"process_start_time_seconds", NULL,
                       "When the process started, in Unix time."},
};

static const struct {
    entry entry;
    double write_group; /* divisor of the values */
} histograms[PX_HISTOGRAMS] = {
    [PX_LINK_WAIT_SESSION] = {{"keyspread_link_wait_seconds", "kind=\"session\"",
                               "How long sessions and batches waited for a link."},
                              1e9},
    [PX_LINK_WAIT_BATCH] = {{"keyspread_link_wait_seconds", "kind=\"batch\"", NULL}, 1e9},
    [PX_WRITE_GROUP_DURATION] = {{"keyspread_unit_duration_seconds", NULL,
                                  "From the arrival of a batched unit to its answer."},
                                 1e9},
    [PX_BATCH_ROWS] = {{"keyspread_batch_rows", NULL, "Rows in a batch."}, 1},
    [PX_REQUEST_PARTITIONS] = {{"keyspread_request_partitions", NULL,
                                "Partitions that a request with rows touched."},
                               1},
};

/* ---- writing ---- */

static void write_head(pgw_buf *out, const char *family, const char *type, const char *help)
{
    pgw_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", family, help, family, type);
}

static void write_entry(pgw_buf *out, const entry *e, const char *type)
{
    if (e->help != NULL)
        write_head(out, e->family, type, e->help);
    pgw_buf_add_str(out, e->family);
    if (e->label != NULL)
        pgw_buf_addf(out, "{%s}", e->label);
}

static void write_label(pgw_buf *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            pgw_buf_add_byte(out, '\\');
        if (*value == '\n')
            pgw_buf_add_str(out, "\\n");
        else
            pgw_buf_add_byte(out, *value);
    }
}

static void write_counters(const px_metrics *sum, pgw_buf *out)
{
    for (size_t i = 0; i < PX_COUNTERS; i++) {
        write_entry(out, &counters[i], "counter");
        pgw_buf_addf(out, " %" PRIu64 "\n", px_number_get(&sum->counters[i]));
    }
}

static void write_gauges(const double values[PX_GAUGES], const char *version, pgw_buf *out)
{
    for (size_t i = 0; i < PX_GAUGES; i++) {
        write_entry(out, &gauges[i], "gauge");
        if (i == PX_BUILD_INFO)
            pgw_buf_addf(out, "{version=\"%s\"}", version);
        pgw_buf_addf(out, " %.15g\n", values[i]);
    }
}

static void write_bucket(const entry *e, const char *bound, uint64_t count, pgw_buf *out)
{
    pgw_buf_addf(out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", e->family, e->label ? e->label : "",
                 e->label ? "," : "", bound, count);
}

static void write_histogram(const px_metrics *sum, px_histogram histogram, pgw_buf *out)
{
    const entry *e = &histograms[histogram].entry;
    double write_group = histograms[histogram].write_group;
    const uint64_t *bounds = px_histogram_bounds(histogram);
    uint64_t so_far = 0;
    size_t i = 0;
    char bound[32], labels[64] = "";
    if (e->help != NULL)
        write_head(out, e->family, "histogram", e->help);
    for (; bounds[i] > 0; i++) {
        so_far += px_number_get(&sum->buckets[histogram][i]);
        snprintf(bound, sizeof bound, "%.15g", (double)bounds[i] / write_group);
        write_bucket(e, bound, so_far, out);
    }
    so_far += px_number_get(&sum->buckets[histogram][i]);
    write_bucket(e, "+Inf", so_far, out);
    if (e->label != NULL)
        snprintf(labels, sizeof labels, "{%s}", e->label);
    double total = (double)px_number_get(&sum->sums[histogram]) / write_group;
    pgw_buf_addf(out, "%s_sum%s %.15g\n%s_count%s %" PRIu64 "\n", e->family, labels, total,
                 e->family, labels, so_far);
}

static void write_errors(const px_metrics *sum, pgw_buf *out)
{
    const char *family = "keyspread_client_errors_total";
    write_head(out, family, "counter", "Errors told to clients, by SQLSTATE.");
    for (size_t i = 0; i < PX_CODES; i++) {
        char code[6];
        px_metrics_code(sum, i, code);
        if (code[0] != '\0')
            pgw_buf_addf(out, "%s{code=\"%s\"} %" PRIu64 "\n", family, code,
                         px_number_get(&sum->errors[i]));
    }
    pgw_buf_addf(out, "%s{code=\"other\"} %" PRIu64 "\n", family,
                 px_number_get(&sum->errors[PX_CODES]));
}

/* ---- tables ---- */

static void write_partition(const char *family, const px_table_metrics *table, size_t slot,
                            const px_number *numbers, pgw_buf *out)
{
    pgw_buf_addf(out, "%s{table=\"", family);
    write_label(out, table->name);
    if (slot < PX_PARTITIONS)
        pgw_buf_addf(out, "\",partition=\"%zu\"} %" PRIu64 "\n", slot,
                     px_number_get(&numbers[slot]));
    else
        pgw_buf_addf(out, "\",partition=\"all\"} %" PRIu64 "\n", px_number_get(&numbers[slot]));
}

static void write_partitions(const char *family, const px_table_metrics *table,
                             const px_number *numbers, pgw_buf *out)
{
    uint64_t partitions = px_number_get(&table->partitions);
    for (size_t i = 0; i < partitions; i++)
        write_partition(family, table, i, numbers, out);
    if (partitions == 0 || px_number_get(&numbers[PX_PARTITIONS]) > 0)
        write_partition(family, table, PX_PARTITIONS, numbers, out);
}

static void write_limit(const char *family, const px_table_metrics *table, uint64_t limit,
                        pgw_buf *out)
{
    if (limit == 0) /* the table is not in the file any more */
        return;
    pgw_buf_addf(out, "%s{table=\"", family);
    write_label(out, table->name);
    pgw_buf_addf(out, "\"} %" PRIu64 "\n", limit);
}

static void write_reads(const px_table_metrics *tables, pgw_buf *out)
{
    static const char *const kinds[] = {
        [PX_READ_KEY] = "key", [PX_READ_SEEK] = "seek", [PX_READ_SCAN] = "scan"};
    const char *family = "keyspread_reads_total";
    write_head(out, family, "counter",
               "Reads of a table by its key, by seeks of an index, or whole.");
    for (const px_table_metrics *table = tables; table != NULL; table = table->next)
        for (size_t i = 0; i < PX_READS; i++) {
            pgw_buf_addf(out, "%s{table=\"", family);
            write_label(out, table->name);
            pgw_buf_addf(out, "\",kind=\"%s\"} %" PRIu64 "\n", kinds[i],
                         px_number_get(&table->reads[i]));
        }
}

static void write_tables(const px_table_metrics *tables, pgw_buf *out)
{
    const px_table_metrics *table;
    const char *rows = "keyspread_rows_total", *requests = "keyspread_requests_total";
    const char *most_rows = "keyspread_batch_limit_rows",
               *most_bytes = "keyspread_batch_limit_bytes";
    write_head(out, rows, "counter", "Rows sent to a partition.");
    for (table = tables; table != NULL; table = table->next)
        write_partitions(rows, table, table->rows, out);
    write_head(out, requests, "counter", "Requests with rows that touched a partition.");
    for (table = tables; table != NULL; table = table->next)
        write_partitions(requests, table, table->requests, out);
    write_reads(tables, out);
    write_head(out, most_rows, "gauge", "The most rows that the next batch may have.");
    for (table = tables; table != NULL; table = table->next)
        write_limit(most_rows, table, px_number_get(&table->limit_rows), out);
    write_head(out, most_bytes, "gauge", "The most bytes that the next batch may have.");
    for (table = tables; table != NULL; table = table->next)
        write_limit(most_bytes, table, px_number_get(&table->limit_bytes), out);
}

void px_metrics_write(const px_metrics *sum, const double values[PX_GAUGES], const char *version,
                      pgw_buf *out)
{
    write_gauges(values, version, out);
    write_counters(sum, out);
    write_errors(sum, out);
    for (size_t i = 0; i < PX_HISTOGRAMS; i++)
        write_histogram(sum, i, out);
    write_tables(sum->tables, out);
}
