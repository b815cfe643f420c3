/*
 * lone_insert: the time that one client waits for one INSERT of one row, sent alone.
 *
 *   lone_insert CONNINFO FIRST COUNT COLUMNS EXPRESSION
 *
 * inserts COUNT rows, numbered from FIRST on, as `insert into events (COLUMNS) values
 * (EXPRESSION)`: a $ in EXPRESSION stands for the row's number, a # for a hash of it, as an
 * application that does keyspread's work itself would compute it. Prints the median and the 99th
 * percentile of the round trips in microseconds. A tenth of COUNT goes before, to warm up, and is
 * not counted.
 */
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The finalizer of SplitMix64: any good mix will do. */
static int64_t mix(int64_t number)
{
    uint64_t z = (uint64_t)number + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)(z ^ (z >> 31));
}

/* Writes the statement for row `number` into `text`. */
static void render(char *text, size_t size, const char *columns, const char *expression,
                   int64_t number)
{
    size_t used = (size_t)snprintf(text, size, "insert into events (%s) values (", columns);
    for (const char *c = expression; *c && used < size; c++) {
        if (*c == '$' || *c == '#')
            used += (size_t)snprintf(text + used, size - used, "%lld",
                                     (long long)(*c == '$' ? number : mix(number)));
        else
            text[used++] = *c;
    }
    if (used >= size - 1) {
        fprintf(stderr, "lone_insert: the statement is too long\n");
        exit(2);
    }
    memcpy(text + used, ")", 2);
}

/* One INSERT, from the call to its answer. */
static double insert(PGconn *link, const char *text)
{
    double start = now_us();
    PGresult *result = PQexec(link, text);
    double took = now_us() - start;
    if (PQresultStatus(result) != PGRES_COMMAND_OK || strcmp(PQcmdTuples(result), "1") != 0) {
        fprintf(stderr, "lone_insert: %s\n%s", text, PQerrorMessage(link));
        exit(1);
    }
    PQclear(result);
    return took;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: lone_insert CONNINFO FIRST COUNT COLUMNS EXPRESSION\n");
        return 2;
    }
    int64_t first = strtoll(argv[2], NULL, 10);
    long count = strtol(argv[3], NULL, 10), warm = count / 10;
    if (count < 1)
        return 2;
    PGconn *link = PQconnectdb(argv[1]);
    if (PQstatus(link) != CONNECTION_OK) {
        fprintf(stderr, "lone_insert: %s", PQerrorMessage(link));
        return 1;
    }
    double *times = calloc((size_t)count, sizeof(*times));
    if (!times)
        return 1;
    for (long i = -warm; i < count; i++) {
        char text[1024];
        render(text, sizeof(text), argv[4], argv[5], first + warm + i);
        double took = insert(link, text);
        if (i >= 0)
            times[i] = took;
    }
    qsort(times, (size_t)count, sizeof(*times), by_size);
    printf("%.1f %.1f\n", times[count / 2], times[(size_t)((double)(count - 1) * 0.99)]);
    free(times);
    PQfinish(link);
    return 0;
}
