#include "tests/ydb_endpoint/partitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t ye_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- tables --- */

/* The ordinal of an int8 or int2 that is 0. */
static const uint64_t zero = UINT64_C(1) << 63;

/* The first value of the i-th of `count` partitions. */
static uint64_t begin_of(const ye_table *table, size_t i, size_t count)
{
    if (table->buckets == 0 || i == 0)
        return (uint64_t)(((unsigned __int128)i << 64) / count);
    return zero + (i * table->buckets + count - 1) / count;
}

static void make_uniform(ye_map *map, ye_table *table, size_t count)
{
    table->count = count;
    for (size_t i = 0; i < count; i++)
        table->partitions[i] =
            (ye_partition){.id = ++map->last_id, .begin = begin_of(table, i, count)};
}

static bool take_key(ye_table *table, char *value)
{
    char *name;
    size_t i = 0;
    while ((name = strsep(&value, ":")) != NULL && i < sizeof table->key / sizeof *table->key)
        snprintf(table->key[i++], sizeof *table->key, "%s", name);
    return name == NULL;
}

static bool take_option(ye_table *table, size_t *uniform, char *option)
{
    char *value = strchr(option, '=');
    if (strcmp(option, "unsigned") == 0)
        return table->is_unsigned = true;
    if (value == NULL)
        return false;
    *value++ = '\0';
    if (strcmp(option, "column") == 0)
        snprintf(table->column, sizeof table->column, "%s", value);
    else if (strcmp(option, "position") == 0)
        table->position = (unsigned)atoi(value) - 1;
    else if (strcmp(option, "buckets") == 0)
        table->buckets = (uint64_t)atol(value);
    else if (strcmp(option, "uniform") == 0)
        *uniform = (size_t)atol(value);
    else if (strcmp(option, "key") == 0)
        return take_key(table, value);
    else
        return false;
    return true;
}

bool ye_map_add(ye_map *map, const char *description)
{
    char text[256], *rest = text, *option;
    size_t uniform = 1;
    ye_table *table = &map->tables[map->count];
    snprintf(text, sizeof text, "%s", description);
    snprintf(table->name, sizeof table->name, "%s", strsep(&rest, ","));
    while ((option = strsep(&rest, ",")) != NULL)
        if (!take_option(table, &uniform, option))
            return false;
    if (uniform < 1 || uniform > YE_PARTITIONS || map->count == YE_TABLES)
        return false;
    make_uniform(map, table, uniform);
    map->count++;
    return true;
}

static size_t find(const ye_map *map, const char *name)
{
    size_t i = 0;
    while (i < map->count && strcmp(map->tables[i].name, name) != 0)
        i++;
    return i;
}

size_t ye_map_find(ye_map *map, const char *name)
{
    pthread_mutex_lock(&map->lock);
    size_t found = find(map, name);
    if (found == map->count && found < YE_TABLES) {
        snprintf(map->tables[found].name, sizeof map->tables[found].name, "%s", name);
        make_uniform(map, &map->tables[found], 1);
        map->count++;
    }
    pthread_mutex_unlock(&map->lock);
    return found;
}

bool ye_map_copy(ye_map *map, const char *name, ye_table *table)
{
    const size_t found = ye_map_find(map, name);
    if (found == YE_TABLES)
        return false;
    pthread_mutex_lock(&map->lock);
    *table = map->tables[found];
    pthread_mutex_unlock(&map->lock);
    return true;
}

/* --- requests --- */

static size_t partition_of(const ye_table *table, uint64_t ordinal)
{
    size_t low = 0, high = table->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (table->partitions[middle].begin <= ordinal)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Marks what is touched and returns how many they are; `last_mark` is their mark. */
static size_t mark(ye_map *map, const ye_range *ranges, size_t count)
{
    size_t marked = 0;
    map->last_mark++;
    for (size_t i = 0; i < count; i++) {
        ye_table *table = &map->tables[ranges[i].table];
        const size_t last = partition_of(table, ranges[i].high);
        for (size_t j = partition_of(table, ranges[i].low); j <= last; j++) {
            marked += table->partitions[j].mark != map->last_mark;
            table->partitions[j].mark = map->last_mark;
        }
    }
    return marked;
}

static bool is_away(const ye_map *map, int64_t now)
{
    for (size_t i = 0; i < map->count; i++)
        for (size_t j = 0; j < map->tables[i].count; j++) {
            const ye_partition *partition = &map->tables[i].partitions[j];
            if (partition->mark == map->last_mark && partition->away_until > now)
                return true;
        }
    return false;
}

bool ye_map_admit(ye_map *map, const ye_range *ranges, size_t count, ye_failure *failure)
{
    pthread_mutex_lock(&map->lock);
    bool away = mark(map, ranges, count) > 0 && is_away(map, ye_now());
    pthread_mutex_unlock(&map->lock);
    if (away)
        ye_failure_ordered(map->away, failure);
    return !away;
}

/* Busy until `end`, those that are marked. */
static void keep_busy(ye_map *map, int64_t end, uint64_t rows)
{
    for (size_t i = 0; i < map->count; i++)
        for (size_t j = 0; j < map->tables[i].count; j++) {
            ye_partition *partition = &map->tables[i].partitions[j];
            if (partition->mark != map->last_mark)
                continue;
            partition->busy_until = end;
            partition->requests++;
            partition->rows += rows;
        }
}

static int64_t free_from(const ye_map *map, int64_t now)
{
    for (size_t i = 0; i < map->count; i++)
        for (size_t j = 0; j < map->tables[i].count; j++) {
            const ye_partition *partition = &map->tables[i].partitions[j];
            if (partition->mark == map->last_mark && partition->busy_until > now)
                now = partition->busy_until;
        }
    return now;
}

int64_t ye_map_request(ye_map *map, const ye_range *ranges, size_t count, uint64_t rows,
                       const ye_price *price, size_t *touched)
{
    int64_t cost = (price->request_us + price->row_us * (int64_t)rows) * 1000;
    pthread_mutex_lock(&map->lock);
    *touched = mark(map, ranges, count);
    if (*touched > 1)
        cost *= price->factor;
    const int64_t end = free_from(map, price->begun) + cost;
    keep_busy(map, end, rows);
    pthread_mutex_unlock(&map->lock);
    return end;
}

/* --- splits and merges --- */

static uint64_t end_of(const ye_table *table, size_t i)
{
    return i + 1 < table->count ? table->partitions[i + 1].begin - 1
           : table->buckets > 0 ? zero + table->buckets - 1
                                : UINT64_MAX;
}

static bool split(ye_map *map, ye_table *table, size_t i, int64_t away_until)
{
    ye_partition *partition = &table->partitions[i];
    if (i >= table->count || table->count == YE_PARTITIONS || end_of(table, i) == partition->begin)
        return false;
    const uint64_t middle = partition->begin + (end_of(table, i) - partition->begin) / 2 + 1;
    memmove(partition + 1, partition, (table->count++ - i) * sizeof *partition);
    for (size_t j = 0; j < 2; j++)
        partition[j] = (ye_partition){.id = ++map->last_id,
                                      .begin = j == 0 ? partition->begin : middle,
                                      .busy_until = partition->busy_until,
                                      .away_until = away_until};
    return true;
}

static bool merge(ye_map *map, ye_table *table, size_t i, int64_t away_until)
{
    ye_partition *partition = &table->partitions[i];
    if (i + 1 >= table->count)
        return false;
    *partition = (ye_partition){.id = ++map->last_id,
                                .begin = partition->begin,
                                .busy_until = partition->busy_until,
                                .away_until = away_until};
    memmove(partition + 1, partition + 2, (--table->count - i - 1) * sizeof *partition);
    return true;
}

bool ye_map_split(ye_map *map, const char *table, size_t partition, long ms)
{
    pthread_mutex_lock(&map->lock);
    const size_t found = find(map, table);
    bool done = found < map->count &&
                split(map, &map->tables[found], partition, ye_now() + (int64_t)ms * 1000000);
    pthread_mutex_unlock(&map->lock);
    return done;
}

bool ye_map_merge(ye_map *map, const char *table, size_t partition, long ms)
{
    pthread_mutex_lock(&map->lock);
    const size_t found = find(map, table);
    bool done = found < map->count &&
                merge(map, &map->tables[found], partition, ye_now() + (int64_t)ms * 1000000);
    pthread_mutex_unlock(&map->lock);
    return done;
}

void ye_map_write(ye_map *map, pgw_buf *out)
{
    pgw_buf_add_byte(out, '{');
    pthread_mutex_lock(&map->lock);
    for (size_t i = 0; i < map->count; i++) {
        const ye_table *table = &map->tables[i];
        pgw_buf_addf(out, "%s\"%s\": [", i == 0 ? "" : ", ", table->name);
        for (size_t j = 0; j < table->count; j++)
            pgw_buf_addf(out, "%s{\"requests\": %lu, \"rows\": %lu}", j == 0 ? "" : ", ",
                         table->partitions[j].requests, table->partitions[j].rows);
        pgw_buf_add_byte(out, ']');
    }
    pthread_mutex_unlock(&map->lock);
    pgw_buf_add_str(out, "}\n");
}
