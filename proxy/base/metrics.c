#include "proxy/base/metrics.h"

#include <stdlib.h>
#include <string.h>

/* SQLSTATEs as numbers, each at the first free place from where its hash points; 0 = free. A place
 * that is taken stays so, and all threads count at the same places. */
struct px_codes {
    _Atomic uint32_t places[PX_CODES];
};

/* ---- life ---- */

static void *alloc_apart(size_t size)
{
    size = (size + PX_CACHE_LINE - 1) / PX_CACHE_LINE * PX_CACHE_LINE;
    void *memory = aligned_alloc(PX_CACHE_LINE, size);
    if (memory == NULL)
        abort();
    return memset(memory, 0, size);
}

px_metrics *px_metrics_new(const px_metrics *with)
{
    px_metrics *metrics = alloc_apart(sizeof *metrics);
    metrics->owns_codes = with == NULL;
    metrics->codes = with != NULL ? with->codes : alloc_apart(sizeof *metrics->codes);
    return metrics;
}

void px_metrics_free(px_metrics *metrics)
{
    if (metrics == NULL)
        return;
    for (px_table_metrics *table = metrics->tables, *next; table != NULL; table = next) {
        next = table->next;
        free(table->name);
        free(table);
    }
    if (metrics->owns_codes)
        free(metrics->codes);
    free(metrics);
}

/* ---- histograms ---- */

#define MS UINT64_C(1000000)
#define WAITS                                                                                      \
    {                                                                                              \
        MS / 2, MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS,       \
            1000 * MS, 2000 * MS, 5000 * MS, 10000 * MS, 30000 * MS                                \
    }

static const uint64_t bounds[PX_HISTOGRAMS][PX_BUCKETS + 1] = {
    [PX_LINK_WAIT_SESSION] = WAITS,
    [PX_LINK_WAIT_BATCH] = WAITS,
    [PX_WRITE_GROUP_DURATION] = WAITS,
    [PX_BATCH_ROWS] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384},
    [PX_REQUEST_PARTITIONS] = {1, 2, 4, 8, 16, 32, 64, 128, 256},
};

const uint64_t *px_histogram_bounds(px_histogram histogram)
{
    return bounds[histogram];
}

void px_observe(px_metrics *metrics, px_histogram histogram, uint64_t value)
{
    const uint64_t *bound = bounds[histogram];
    size_t i = 0;
    while (bound[i] > 0 && value > bound[i])
        i++;
    px_number_add(&metrics->buckets[histogram][i], 1);
    px_number_add(&metrics->sums[histogram], value);
}

/* ---- SQLSTATEs ---- */

/* Five digits or capitals, in base 36, plus one; 0 for anything else. */
static uint32_t pack(pgw_slice sqlstate)
{
    uint32_t packed = 0;
    if (sqlstate.len != 5)
        return 0;
    for (size_t i = 0; i < 5; i++) {
        char c = sqlstate.ptr[i];
        if (c >= '0' && c <= '9')
            packed = packed * 36 + (uint32_t)(c - '0');
        else if (c >= 'A' && c <= 'Z')
            packed = packed * 36 + (uint32_t)(c - 'A') + 10;
        else
            return 0;
    }
    return packed + 1;
}

/* The place of a SQLSTATE; PX_CODES if all places are taken by others. */
static size_t place_of(struct px_codes *codes, uint32_t packed)
{
    for (size_t i = 0; packed != 0 && i < PX_CODES; i++) {
        size_t place = (packed + i) % PX_CODES;
        uint32_t found = 0;
        if (atomic_compare_exchange_strong(&codes->places[place], &found, packed) ||
            found == packed)
            return place;
    }
    return PX_CODES;
}

void px_metrics_code(const px_metrics *metrics, size_t place, char code[6])
{
    uint32_t packed = atomic_load(&metrics->codes->places[place]);
    memset(code, 0, 6);
    if (packed == 0)
        return;
    packed--;
    for (size_t i = 5; i-- > 0; packed /= 36)
        code[i] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[packed % 36];
}

void px_count_error(px_metrics *metrics, pgw_slice sqlstate)
{
    px_number_add(&metrics->errors[place_of(metrics->codes, pack(sqlstate))], 1);
}

void px_count_login(px_metrics *metrics, const char *sqlstate)
{
    px_counter result = sqlstate == NULL                  ? PX_LOGINS_OK
                        : strncmp(sqlstate, "28", 2) == 0 ? PX_LOGINS_AUTHENTICATION
                        : strncmp(sqlstate, "53", 2) == 0 ? PX_LOGINS_LIMIT
                        : strncmp(sqlstate, "08", 2) == 0 ? PX_LOGINS_CONNECTION
                                                          : PX_LOGINS_OTHER;
    px_count(metrics, result, 1);
}

/* ---- tables ---- */

/* The table's numbers, made if they are not there. */
static px_table_metrics *find_table(px_metrics *metrics, const char *name)
{
    px_table_metrics *first = atomic_load_explicit(&metrics->tables, memory_order_relaxed);
    for (px_table_metrics *table = first; table != NULL; table = table->next)
        if (strcmp(table->name, name) == 0)
            return table;
    px_table_metrics *table = pgw_calloc(1, sizeof *table);
    table->name = pgw_strndup(name, strlen(name));
    table->next = first;
    atomic_store_explicit(&metrics->tables, table, memory_order_release);
    return table;
}

/* Partitions of a table that was cut anew are shown up to the largest number there ever was. */
static void note_partitions(px_table_metrics *table, uint64_t partitions)
{
    if (partitions <= PX_PARTITIONS && partitions > px_number_get(&table->partitions))
        atomic_store_explicit(&table->partitions, partitions, memory_order_relaxed);
}

static px_table_metrics *table_of(px_metrics *metrics, const char *name, uint32_t partitions)
{
    px_table_metrics *table = find_table(metrics, name);
    note_partitions(table, partitions);
    return table;
}

static size_t slot_of(uint32_t partitions, uint32_t number)
{
    return partitions <= PX_PARTITIONS && number < partitions ? number : PX_PARTITIONS;
}

void px_count_request_to(px_metrics *metrics, const char *name, uint32_t partitions,
                         uint32_t number, size_t rows)
{
    px_table_metrics *table = table_of(metrics, name, partitions);
    size_t slot = slot_of(partitions, number);
    px_number_add(&table->rows[slot], rows);
    px_number_add(&table->requests[slot], 1);
    px_observe(metrics, PX_REQUEST_PARTITIONS, 1);
}

/* Whether a table is counted as `schema`.`name`. */
static bool is_called(const px_table_metrics *table, const char *schema, size_t len,
                      const char *name)
{
    return strncmp(table->name, schema, len) == 0 && table->name[len] == '.' &&
           strcmp(table->name + len + 1, name) == 0;
}

static px_table_metrics *find_named(px_metrics *metrics, const char *schema, const char *name)
{
    size_t len = strlen(schema);
    px_table_metrics *table = atomic_load_explicit(&metrics->tables, memory_order_relaxed);
    while (table != NULL && !is_called(table, schema, len, name))
        table = table->next;
    if (table != NULL)
        return table;
    pgw_buf whole = {0};
    pgw_buf_addf(&whole, "%s.%s", schema, name);
    pgw_buf_add_byte(&whole, '\0');
    table = find_table(metrics, whole.ptr);
    pgw_buf_free(&whole);
    return table;
}

void px_count_read(px_metrics *metrics, const char *schema, const char *name, px_read_kind kind)
{
    px_table_metrics *table =
        schema != NULL ? find_named(metrics, schema, name) : find_table(metrics, name);
    px_number_add(&table->reads[kind], 1);
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Counts sorted rows, in which those of a partition stand together. */
static void count_sorted(px_table_metrics *table, uint32_t partitions, const uint32_t *sorted,
                         size_t rows, size_t *touched)
{
    for (size_t i = 0, end; i < rows; i = end, ++*touched) {
        for (end = i; end < rows && sorted[end] == sorted[i];)
            end++;
        size_t slot = slot_of(partitions, sorted[i]);
        px_number_add(&table->rows[slot], end - i);
        if (slot < PX_PARTITIONS || i == 0)
            px_number_add(&table->requests[slot], 1);
    }
}

enum { FEW_PARTITIONS = 64 };

/* Counts without sorting where there are few partitions. False: there are more. */
static bool count_few(px_table_metrics *table, uint32_t partitions, const uint32_t *numbers,
                      size_t rows, size_t *touched)
{
    size_t counts[FEW_PARTITIONS] = {0};
    if (partitions > FEW_PARTITIONS)
        return false;
    for (size_t i = 0; i < rows; i++) {
        if (numbers[i] >= FEW_PARTITIONS)
            return false;
        counts[numbers[i]]++;
    }
    for (uint32_t number = 0; number < FEW_PARTITIONS; number++) {
        if (counts[number] == 0)
            continue;
        size_t slot = slot_of(partitions, number);
        px_number_add(&table->rows[slot], counts[number]);
        if (slot < PX_PARTITIONS || *touched == 0)
            px_number_add(&table->requests[slot], 1);
        ++*touched;
    }
    return true;
}

void px_count_request(px_metrics *metrics, const char *name, uint32_t partitions,
                      const uint32_t *numbers, size_t rows)
{
    size_t touched = 0;
    px_table_metrics *table = table_of(metrics, name, partitions);
    if (count_few(table, partitions, numbers, rows, &touched)) {
        px_observe(metrics, PX_REQUEST_PARTITIONS, touched);
        return;
    }
    uint32_t *sorted = pgw_alloc(rows * sizeof *sorted);
    memcpy(sorted, numbers, rows * sizeof *sorted);
    qsort(sorted, rows, sizeof *sorted, compare_numbers);
    count_sorted(table, partitions, sorted, rows, &touched);
    free(sorted);
    px_observe(metrics, PX_REQUEST_PARTITIONS, touched);
}

/* ---- limits ---- */

void px_limits_begin(px_metrics *metrics)
{
    for (px_table_metrics *table = metrics->tables; table != NULL; table = table->next)
        table->least_rows = table->least_bytes = 0;
}

static uint64_t lesser(uint64_t least, uint64_t limit)
{
    return least == 0 || limit < least ? limit : least;
}

void px_limits_note(px_metrics *metrics, const char *name, uint64_t rows, uint64_t bytes)
{
    px_table_metrics *table = find_table(metrics, name);
    table->least_rows = lesser(table->least_rows, rows);
    table->least_bytes = lesser(table->least_bytes, bytes);
}

void px_limits_end(px_metrics *metrics)
{
    for (px_table_metrics *table = metrics->tables; table != NULL; table = table->next) {
        atomic_store_explicit(&table->limit_rows, table->least_rows, memory_order_relaxed);
        atomic_store_explicit(&table->limit_bytes, table->least_bytes, memory_order_relaxed);
    }
}

/* ---- adding up ---- */

static void add_numbers(px_number *sum, const px_number *one, size_t count)
{
    for (size_t i = 0; i < count; i++)
        px_number_add(&sum[i], px_number_get(&one[i]));
}

static void take_limits(px_table_metrics *sum, uint64_t rows, uint64_t bytes)
{
    if (rows > 0)
        atomic_store(&sum->limit_rows, lesser(px_number_get(&sum->limit_rows), rows));
    if (bytes > 0)
        atomic_store(&sum->limit_bytes, lesser(px_number_get(&sum->limit_bytes), bytes));
}

void px_metrics_expect(px_metrics *sum, const char *name, uint64_t partitions, uint64_t limit_rows,
                       uint64_t limit_bytes)
{
    px_table_metrics *table = find_table(sum, name);
    note_partitions(table, partitions);
    take_limits(table, limit_rows, limit_bytes);
}

static void add_table(px_table_metrics *sum, const px_table_metrics *one)
{
    note_partitions(sum, px_number_get(&one->partitions));
    add_numbers(sum->rows, one->rows, PX_PARTITIONS + 1);
    add_numbers(sum->requests, one->requests, PX_PARTITIONS + 1);
    add_numbers(sum->reads, one->reads, PX_READS);
    take_limits(sum, px_number_get(&one->limit_rows), px_number_get(&one->limit_bytes));
}

void px_metrics_add(px_metrics *sum, const px_metrics *one)
{
    add_numbers(sum->counters, one->counters, PX_COUNTERS);
    add_numbers(sum->buckets[0], one->buckets[0], sizeof sum->buckets / sizeof sum->buckets[0][0]);
    add_numbers(sum->sums, one->sums, PX_HISTOGRAMS);
    add_numbers(sum->errors, one->errors, PX_CODES + 1);
    uint64_t loaded = px_number_get(&one->catalog_loaded);
    if (loaded > px_number_get(&sum->catalog_loaded))
        atomic_store(&sum->catalog_loaded, loaded);
    const px_table_metrics *table = atomic_load_explicit(&one->tables, memory_order_acquire);
    for (; table != NULL; table = table->next)
        add_table(find_table(sum, table->name), table);
}
