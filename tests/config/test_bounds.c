/* What a value may be: each number and size of the file at its bounds and a step beyond, and the
 * forms of words that are more than a word. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/load.h"
#include "config/scalar.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static char path[] = "/tmp/keyspread-bounds-XXXXXX";

/* Loads a configuration of this text; `*printed` is to be freed. NULL: it is refused. */
static cfg_config *load(const char *text, size_t len, char **printed)
{
    size_t size = 0;
    FILE *file = fopen(path, "w"), *errors = open_memstream(printed, &size);
    assert_int_equal(fwrite(text, 1, len, file), len);
    fclose(file);
    cfg_config *config = cfg_load(path, errors);
    fclose(errors);
    return config;
}

/* The parts of a file in which a key can stand; `%s` is the key with its value. */
static const char *const places[] = {
    "%s\nbackend: {dsn: \"host=127.0.0.1\"}\ntables: []\n",
    "backend:\n  dsn: \"host=127.0.0.1\"\n  max_links: 10000\n  %s\ntables: []\n",
    "backend:\n  dsn: \"host=127.0.0.1\"\n  dialect: ydb\n  %s\ntables: []\n",
    "backend:\n  dsn: \"host=127.0.0.1\"\n  batch_links: 1\n  %s\ntables: []\n",
    "backend: {dsn: \"host=127.0.0.1\"}\nlimits:\n  %s\ntables: []\n",
    "backend: {dsn: \"host=127.0.0.1\"}\nlimits:\n  row_bytes: 1073741823\n  %s\ntables: []\n",
    "backend: {dsn: \"host=127.0.0.1\"}\nlimits:\n  key_bytes: 16\n  %s\ntables: []\n",
    "backend: {dsn: \"host=127.0.0.1\"}\nlimits:\n  clients: 1000000\n  %s\ntables: []\n",
    "backend: {dsn: \"host=127.0.0.1\"}\ntables:\n  - name: t\n    primary_key: [a]\n"
    "    hash_function: xxh3\n    batch:\n      %s\n",
    "backend: {dsn: \"host=127.0.0.1\"}\ntables:\n  - name: t\n    primary_key: [a]\n"
    "    hash_function: xxh3\n    partitions:\n      %s\n",
    "backend: {dsn: \"host=127.0.0.1\"}\ntables:\n  - name: t\n    primary_key: [a]\n"
    "    hash_function: xxh3\n    sequences:\n      %s\n",
    "backend: {dsn: \"host=127.0.0.1\", dialect: ydb}\ntables:\n  - name: t\n"
    "    primary_key: [a]\n    hash_function: xxh3\n    columns: [{name: a, type: bigint}]\n"
    "    ydb:\n      %s\n",
    "backend: {dsn: \"host=127.0.0.1\"}\ntables:\n  - name: t\n    primary_key: [a]\n"
    "    hash_function: xxh3\n    %s\n",
};
enum {
    TOP,
    MANY_LINKS,
    YDB,
    FEW_BATCHES,
    LIMITS,
    LARGE_ROWS,
    SMALL_KEYS,
    MANY,
    BATCH,
    PARTITIONS,
    SEQUENCES,
    TABLE_YDB,
    TABLE_KEY
};

/* Of a table the place is that in the first one. */
typedef struct number {
    const char *key;
    int place;
    uint64_t otherwise, min, max;
    size_t offset, size;
} number;

#define OF(member) offsetof(cfg_config, member), sizeof((cfg_config *)NULL)->member
#define OF_TABLE(member) offsetof(cfg_table, member), sizeof((cfg_table *)NULL)->member

static const number numbers[] = {
    {"workers", TOP, 0, 0, 256, OF(workers)},
    {"max_links", FEW_BATCHES, 90, 1, 10000, OF(backend.max_links)},
    {"batch_links", MANY_LINKS, 8, 1, 1000, OF(backend.batch_links)},
    {"link_wait_ms", MANY_LINKS, 10000, 0, 3600000, OF(backend.link_wait_ms)},
    {"link_age_s", MANY_LINKS, 600, 1, 86400, OF(backend.link_age_s)},
    {"connect_ms", MANY_LINKS, 10000, 1, 3600000, OF(backend.connect_ms)},
    {"catalog_s", MANY_LINKS, 10, 1, 3600, OF(backend.catalog_s)},
    {"keepalive_s", YDB, 300, 1, 590, OF(backend.keepalive_s)},
    {"retry_ms", YDB, 30000, 0, 3600000, OF(backend.retry_ms)},
    {"monitoring_s", YDB, 30, 1, 3600, OF(backend.monitoring_s)},
    {"row_bytes", SMALL_KEYS, 8 * MIB, KIB, GIB - 1, OF(limits.row_bytes)},
    {"key_bytes", LARGE_ROWS, 2 * KIB, 16, GIB - 1, OF(limits.key_bytes)},
    {"queue_bytes", LIMITS, 256 * MIB, MIB, 1024 * GIB, OF(limits.queue_bytes)},
    {"lazy_bytes", LIMITS, 4 * MIB, KIB, GIB - 1, OF(limits.lazy_bytes)},
    {"incomplete_bytes", LIMITS, 128 * MIB, MIB, 1024 * GIB, OF(limits.incomplete_bytes)},
    {"unread_bytes", LIMITS, 128 * MIB, MIB, 1024 * GIB, OF(limits.unread_bytes)},
    {"prepared_bytes", LIMITS, GIB, MIB, 1024 * GIB, OF(limits.prepared_bytes)},
    {"clients", LIMITS, 10000, 1, 1000000, OF(limits.clients)},
    {"unauthenticated", MANY, 2500, 1, 1000000, OF(limits.unauthenticated)},
    {"unauthenticated_per_address", MANY, 625, 1, 1000000, OF(limits.unauthenticated_per_address)},
    {"clients_per_address", MANY, 0, 0, 1000000, OF(limits.clients_per_address)},
    {"startup_ms", LIMITS, 10000, 100, 3600000, OF(limits.startup_ms)},
    {"rows", BATCH, 500, 1, 100000, OF_TABLE(batch.rows)},
    {"bytes", BATCH, MIB, KIB, 256 * MIB, OF_TABLE(batch.bytes)},
    {"wait_ms", BATCH, 0, 0, 10000, OF_TABLE(batch.wait_ms)},
    {"target_ms", BATCH, 50, 1, 60000, OF_TABLE(batch.target_ms)},
    {"lock_wait_ms", BATCH, 200, 1, 600000, OF_TABLE(batch.lock_wait_ms)},
    {"max_wait_ms", BATCH, 30000, 1, 3600000, OF_TABLE(batch.max_wait_ms)},
    {"hash_buckets", TABLE_KEY, 0, 2, 1024, OF_TABLE(hash_buckets)},
    {"uniform", PARTITIONS, 1, 1, 1000000, OF_TABLE(partitions.uniform)},
    {"buckets", PARTITIONS, 0, 1, 1000000, OF_TABLE(partitions.buckets)},
    {"block", SEQUENCES, 1, 1, 10000, OF_TABLE(block)},
    {"partition_size_mb", TABLE_YDB, 0, 1, 1000000, OF_TABLE(ydb.partition_size_mb)},
    {"min_partitions", TABLE_YDB, 0, 1, 1000000, OF_TABLE(ydb.min_partitions)},
    {"max_partitions", TABLE_YDB, 0, 1, 1000000, OF_TABLE(ydb.max_partitions)},
};

static uint64_t value_of(const number *it, const cfg_config *config)
{
    const char *in = it->place >= BATCH ? (const char *)config->tables : (const char *)config;
    uint64_t large;
    uint32_t small;
    if (it->size == sizeof large)
        return memcpy(&large, in + it->offset, sizeof large), large;
    return memcpy(&small, in + it->offset, sizeof small), small;
}

/* `right`: it is taken; else it is said that it is beyond its range. */
static void check_number(const number *it, uint64_t value, bool right)
{
    char key[128], text[1024], *printed;
    snprintf(key, sizeof key, "%s: %" PRIu64, it->key, value);
    snprintf(text, sizeof text, places[it->place], key);
    cfg_config *config = load(text, strlen(text), &printed);
    if ((config != NULL) != right)
        fail_msg("%s: %s", key, printed);
    if (config != NULL && value_of(it, config) != value)
        fail_msg("%s is %" PRIu64, key, value_of(it, config));
    if (config == NULL && strstr(printed, "must be from") == NULL)
        fail_msg("%s: %s", key, printed);
    cfg_free(config);
    free(printed);
}

static void numbers_have_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const number *it = &numbers[i];
        check_number(it, it->min, true);
        check_number(it, it->max, true);
        check_number(it, it->max + 1, false);
        if (it->min > 0)
            check_number(it, it->min - 1, false);
    }
}

static void numbers_have_defaults(void **state)
{
    (void)state;
    static const char bare[] = "backend: {dsn: \"host=127.0.0.1\"}\n"
                               "tables: [{name: t, primary_key: [a], hash_function: xxh3}]\n";
    char *printed;
    cfg_config *config = load(bare, sizeof bare - 1, &printed);
    assert_non_null(config);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (value_of(&numbers[i], config) != numbers[i].otherwise)
            fail_msg("%s is %" PRIu64, numbers[i].key, value_of(&numbers[i], config));
    assert_false(config->backend.allow_cleartext);
    assert_false(config->backend.insert_first);
    assert_true(config->backend.exact_counts);
    assert_true(config->tables->ydb.by_size);
    assert_true(config->tables->ydb.by_load);
    assert_int_equal(config->tables->ydb.ttl_unit, CFG_TTL_NONE);
    cfg_free(config);
    free(printed);
}

static void words_are_taken(void **state)
{
    (void)state;
    static const char text[] =
        "backend: {dsn: \"host=127.0.0.1\", dialect: ydb, allow_cleartext: true,\n"
        "  upsert_first: insert, update_counts: unknown, links: on_demand}\n"
        "limits: {enforce: true}\n"
        "tables:\n"
        "  - name: t\n"
        "    primary_key: [a, b]\n"
        "    hash_function: xxh3\n"
        "    columns: [{name: a, type: bigint}, {name: b, type: bigint, not_null: true}]\n"
        "    ydb:\n"
        "      by_size: false\n"
        "      by_load: false\n"
        "      min_partitions: 7\n"
        "      max_partitions: 7\n"
        "      ttl: {column: b, after: P1D, unit: milliseconds}\n"
        "      indexes: [{name: i, columns: [a, b]}, {name: j, columns: [b], sync: true}]\n";
    char *printed;
    cfg_config *config = load(text, sizeof text - 1, &printed);
    if (config == NULL)
        fail_msg("%s", printed);
    const cfg_table *table = config->tables;
    assert_true(config->backend.allow_cleartext);
    assert_true(config->backend.insert_first);
    assert_false(config->backend.exact_counts);
    assert_int_equal(config->backend.links, CFG_LINKS_ON_DEMAND);
    assert_true(config->limits.enforce);
    assert_false(table->ydb.by_size);
    assert_false(table->ydb.by_load);
    assert_string_equal(table->ydb.ttl_column, "b");
    assert_string_equal(table->ydb.ttl_after, "P1D");
    assert_int_equal(table->ydb.ttl_unit, CFG_TTL_MILLISECONDS);
    assert_int_equal(table->ydb.index_count, 2);
    assert_string_equal(table->ydb.indexes[0].name, "i");
    assert_int_equal(table->ydb.indexes[0].column_count, 2);
    assert_string_equal(table->ydb.indexes[0].columns[1], "b");
    assert_false(table->ydb.indexes[0].sync);
    assert_true(table->ydb.indexes[1].sync);
    cfg_free(config);
    free(printed);
}

/* `bytes`: what it is; UINT64_MAX: it is refused. */
static void sizes_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"9", 9},
        {"1KiB", KIB},
        {"3MiB", 3 * MIB},
        {"2GiB", 2 * GIB},
        {"17179869183GiB", UINT64_C(17179869183) << 30},
        {"17179869184GiB", UINT64_MAX},
        {"18446744073709551614", UINT64_MAX - 1},
        {"18446744073709551616", UINT64_MAX},
        {"184467440737095516150", UINT64_MAX},
        {"", UINT64_MAX},
        {"KiB", UINT64_MAX},
        {"1kiB", UINT64_MAX},
        {"1 KiB", UINT64_MAX},
        {"-1", UINT64_MAX},
        {"/", UINT64_MAX},
        {":", UINT64_MAX},
        {"1KiB ", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 0;
        bool right = cfg_parse_size(cases[i].text, &bytes) == NULL;
        if (right != (cases[i].bytes != UINT64_MAX) || (right && bytes != cases[i].bytes))
            fail_msg("%s: %" PRIu64, cases[i].text, bytes);
    }
}

static void hashes_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_signed, is_unsigned;
        uint64_t bits;
    } cases[] = {
        {"0", true, true, 0},
        {"-0", true, false, 0},
        {"-1", true, false, UINT64_MAX},
        {"9223372036854775807", true, true, INT64_MAX},
        {"9223372036854775808", false, true, UINT64_C(1) << 63},
        {"-9223372036854775808", true, false, UINT64_C(1) << 63},
        {"-9223372036854775809", false, false, 0},
        {"18446744073709551615", false, true, UINT64_MAX},
        {"18446744073709551616", false, false, 0},
        {"", false, false, 0},
        {"-", false, false, 0},
        {"1x", false, false, 0},
        {"--1", false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bits;
        assert_int_equal(cfg_parse_hash(cases[i].text, CFG_HASH_INT8, &bits) == NULL,
                         cases[i].is_signed);
        if (cases[i].is_signed)
            assert_true(bits == cases[i].bits);
        assert_int_equal(cfg_parse_hash(cases[i].text, CFG_HASH_UINT64, &bits) == NULL,
                         cases[i].is_unsigned);
        if (cases[i].is_unsigned)
            assert_true(bits == cases[i].bits);
    }
}

static void addresses_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host; /* NULL: refused */
        unsigned port;
        bool local;
    } cases[] = {
        {"a:1", "a", 1, false},
        {"127.0.0.1:65535", "127.0.0.1", 65535, true},
        {"127.255.255.255:5", "127.255.255.255", 5, true},
        {"126.0.0.1:5", "126.0.0.1", 5, false},
        {"128.0.0.1:5", "128.0.0.1", 5, false},
        {"localhost:5", "localhost", 5, true},
        {"[::1]:5", "::1", 5, true},
        {"[::2]:5", "::2", 5, false},
        {"[x]:5", "x", 5, false},
        {"[]:5", NULL, 0, false},
        {"[:5", NULL, 0, false},
        {"[::1:5", NULL, 0, false},
        {"::1:5", NULL, 0, false},
        {"a:0", NULL, 0, false},
        {"a:65536", NULL, 0, false},
        {"a:18446744073709551617", NULL, 0, false},
        {"a:", NULL, 0, false},
        {"a:5x", NULL, 0, false},
        {"a", NULL, 0, false},
        {":5", NULL, 0, false},
        {"", NULL, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cfg_listen listen;
        bool right = cfg_parse_listen(cases[i].text, &listen) == NULL;
        if (right != (cases[i].host != NULL))
            fail_msg("%s", cases[i].text);
        if (!right)
            continue;
        assert_string_equal(listen.host, cases[i].host);
        assert_int_equal(listen.port, cases[i].port);
        assert_int_equal(cfg_is_local(&listen), cases[i].local);
        free(listen.host);
    }
}

/* 107 bytes fit. */
static void sockets_have_short_paths(void **state)
{
    (void)state;
    char text[128] = "/";
    cfg_listen listen;
    memset(text + 1, 'x', 106);
    assert_null(cfg_parse_listen(text, &listen));
    assert_string_equal(listen.path, text);
    assert_null(listen.host);
    assert_true(cfg_is_local(&listen));
    free(listen.path);
    text[107] = 'x';
    assert_non_null(strstr(cfg_parse_listen(text, &listen), "107 bytes"));
    assert_non_null(strstr(cfg_parse_listen("/", &listen), "the socket itself"));
    assert_non_null(strstr(cfg_parse_listen("/a/", &listen), "the socket itself"));
}

static void modes_are_octal(void **state)
{
    (void)state;
    uint32_t mode;
    assert_null(cfg_parse_mode("0777", &mode));
    assert_int_equal(mode, 0777);
    assert_null(cfg_parse_mode("0000", &mode));
    assert_int_equal(mode, 0);
    static const char *const wrong[] = {"777", "1777", "00777", "0778", "0x77", "", "0 77"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_non_null(cfg_parse_mode(wrong[i], &mode));
}

static void intervals_are_those_of_iso_8601(void **state)
{
    (void)state;
    static const char *const right[] = {"P1D",  "P999999W", "P1W2D", "PT1H", "PT1H2M3S",
                                        "PT3S", "P1DT1S",   "P9D",   "P0D"};
    static const char *const wrong[] = {"",       "P",         "PT",   "P1",   "1D",    "PD",
                                        "P1DT",   "P1000000D", "P1H",  "PT1D", "P1D2W", "PT1S2M",
                                        "PT1M1M", "P1D ",      "P-1D", "p1D",  "P1d",   "PT1HT1M",
                                        "PT1HT",  "P1.5D",     "Q1D",  "P1DT1"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (cfg_parse_interval(right[i]) != NULL)
            fail_msg("%s", right[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (cfg_parse_interval(wrong[i]) == NULL)
            fail_msg("%s", wrong[i]);
}

/* What is printed of a file of this text, which is refused. */
static void refuse(const char *text, size_t len, const char *wanted)
{
    char *printed;
    cfg_config *config = load(text, len, &printed);
    assert_null(config);
    if (strstr(printed, wanted) == NULL)
        fail_msg("%.100s: %s", text, printed);
    free(printed);
}

static void mistakes_of_the_text_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"{[a]: 1}\n", "a key of the file is a list: keys are words"},
        {"backend: {dsn: a}\ntables: []\nworkers: 4294967295\n",
         "workers is 4294967295: it must be from 0 to 256"},
        {"workers: 4294967296\n", "it must be at most 4294967295"},
        {"workers: 12345678901\n", "it must be at most 4294967295"},
        {"workers: 99999999999999999999\n", "it must be at most 4294967295"},
        {"workers: 01\n", "without zeros in front"},
        {"workers: \"1\"\n", "write the number without quotes"},
        {"workers: 1x\n", "it takes a whole number"},
        {"workers: x\n", "it takes a whole number"},
        {"unix_socket_mode: \"\"\n", "unix_socket_mode is empty: give a value or remove the key"},
        {"unix_socket_mode: \"a\\0b\"\n", "unix_socket_mode holds a zero byte: remove it"},
        {"wrkers: 1\n", "did you mean \"workers\"?"},
        {"orkers: 1\n", "did you mean \"workers\"?"},
        {"workerss: 1\n", "did you mean \"workers\"?"},
        {"wrokers: 1\n", "did you mean \"workers\"?"},
        {"wkers: 1\n", "did you mean \"workers\"?"},
        {"kers: 1\n", "the keys here are"},
        {"quite_different: 1\n", "the keys here are"},
        {"workers: [1\n", "is not YAML: "},
        {"\tworkers: 1\n", "is not YAML: "},
        {"\x01", "is not YAML: control characters are not allowed"},
        {"backend: {dsn: \"host=a\"}\n---\nb: [\n", "is not YAML: "},
        {"", "is empty: at least"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].text, strlen(cases[i].text), cases[i].wanted);
    char key[80] = "";
    memset(key, 'x', 63);
    strcpy(key + 63, ": 1\n");
    refuse(key, strlen(key), "the keys here are");
    memset(key, 'x', 64);
    strcpy(key + 64, ": 1\n");
    refuse(key, strlen(key), "the keys here are");
}

/* 16 MiB are read, and not a byte more; what is read in parts is read whole. */
static void files_have_a_size(void **state)
{
    (void)state;
    static const char head[] = "backend: {dsn: \"host=127.0.0.1\"}\ntables: []\n#";
    static const size_t sizes[] = {4095, 4096, 4097, 8192, 16 << 20};
    char *text = malloc((16 << 20) + 1), *printed;
    memset(text, 'x', (16 << 20) + 1);
    memcpy(text, head, sizeof head - 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cfg_config *config = load(text, sizes[i], &printed);
        assert_non_null(config);
        assert_int_equal(config->text_len, sizes[i]);
        assert_memory_equal(config->text, text, sizes[i]);
        cfg_free(config);
        free(printed);
    }
    refuse(text, (16 << 20) + 1, "is larger than 16 MiB");
    free(text);
}

/* Whether a file of this text is taken, and what is said of it. */
static void say(const char *text, bool right, const char *wanted)
{
    char *printed;
    cfg_config *config = load(text, strlen(text), &printed);
    if ((config != NULL) != right ||
        (*wanted == '\0' ? *printed != '\0' : strstr(printed, wanted) == NULL))
        fail_msg("%s: %s", text, printed);
    cfg_free(config);
    free(printed);
}

#define FILE_OF(backend, tables)                                                                   \
    "backend: {dsn: \"host=127.0.0.1\"" backend "}\ntables: [" tables "]\n"
#define TABLE_OF(name, more) "{name: " name ", primary_key: [a], hash_function: xxh3" more "}"

static void each_capability_is_for_ydb(void **state)
{
    (void)state;
    static const char *const names[] = {"update_from: yes",        "returning: no",
                                        "returning_unlisted: yes", "for_update: yes",
                                        "start_transaction: yes",  "savepoints: no",
                                        "ddl_in_transaction: yes", "describe: no",
                                        "minimum_int8: yes",       "typmods: yes",
                                        "varchar_keys: yes",       "uuid_keys: yes",
                                        "hash_functions: yes",     "native_writes: yes",
                                        "column_tables: yes",      "pgint8_boundaries: yes",
                                        "max_message: 10KiB"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[512];
        snprintf(text, sizeof text, FILE_OF(", capabilities: {%s}", TABLE_OF("t", "")), names[i]);
        say(text, true, "backend.capabilities has no effect");
        snprintf(text, sizeof text,
                 FILE_OF(", dialect: ydb, capabilities: {%s}",
                         TABLE_OF("t", ", columns: [{name: a, type: bigint}]")),
                 names[i]);
        char *printed;
        cfg_config *config = load(text, strlen(text), &printed);
        assert_null(strstr(printed, "no effect"));
        cfg_free(config);
        free(printed);
    }
    say(FILE_OF("", TABLE_OF("t", "")), true, "");
}

static void capital_letters_are_warned_of(void **state)
{
    (void)state;
    static const char *const capital[] = {"A", "Z", "aM", "zZ"}, *const small[] = {"az", "\"a@[\"",
                                                                                   "_1"};
    char text[512];
    for (size_t i = 0; i < sizeof capital / sizeof *capital; i++) {
        snprintf(text, sizeof text, FILE_OF("", TABLE_OF("%s", "")), capital[i]);
        say(text, true, "has capital letters");
    }
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        snprintf(text, sizeof text, FILE_OF("", TABLE_OF("'%s'", "")), small[i]);
        say(text, true, "");
    }
}

static void monitoring_is_a_host(void **state)
{
    (void)state;
    static const char *const right[] = {"http://a", "https://a", "https://a:8765", "http://a/",
                                        "http://[::1]:5"},
                             *const wrong[] = {"http://",    "https://",   "a:8765",
                                               "ftp://a",    "http://a/b", "http://a?b",
                                               "http://a#b", "http://b@a", "http://a b",
                                               "http:/a",    "http:///"};
    char text[512];
    static const char form[] = FILE_OF(", dialect: ydb, monitoring: \"%s\"",
                                       TABLE_OF("t", ", columns: [{name: a, type: bigint}]"));
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        char *printed;
        snprintf(text, sizeof text, form, right[i]);
        cfg_config *config = load(text, strlen(text), &printed);
        assert_non_null(config);
        assert_string_equal(config->backend.monitoring, right[i]);
        assert_null(strstr(printed, "it takes http"));
        cfg_free(config);
        free(printed);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, form, wrong[i]);
        say(text, false, "it takes http://host:port or");
    }
    say(FILE_OF(", monitoring: \"http://a\"", TABLE_OF("t", "")), true,
        "is asked, and the dialect");
}

static void numbers_go_together(void **state)
{
    (void)state;
    say(FILE_OF(", max_links: 8, batch_links: 9", TABLE_OF("t", "")), false,
        "must be at least batch_links");
    say(FILE_OF(", max_links: 8", TABLE_OF("t", "")), true, "leave none to sessions");
    say(FILE_OF(", max_links: 9", TABLE_OF("t", "")), true, "");
    say(FILE_OF("", TABLE_OF("t", "")) "limits: {row_bytes: 1KiB, key_bytes: 1KiB}\n", true, "");
    say(FILE_OF("", TABLE_OF("t", "")) "limits: {row_bytes: 1KiB, key_bytes: 1025}\n", false,
        "3: limits.key_bytes is greater than limits.row_bytes");
    say(FILE_OF("", TABLE_OF("t", "")) "limits: {row_bytes: 1KiB}\n", false,
        "3: limits.key_bytes is greater than limits.row_bytes");
}

/* 31 columns, besides the hash; each once. */
static void keys_are_bounded(void **state)
{
    (void)state;
    for (int count = 31; count <= 32; count++) {
        char list[512] = "c0", text[1024];
        for (int i = 1; i < count; i++)
            snprintf(list + strlen(list), sizeof list - strlen(list), ", c%d", i);
        snprintf(text, sizeof text,
                 FILE_OF("", "{name: t, primary_key: [%s], hash_function: xxh3}"), list);
        say(text, count == 31, count == 31 ? "" : "at most 31 are possible");
    }
    say(FILE_OF("", "{name: t, primary_key: [a, b, a], hash_function: xxh3}"), false,
        "names column a twice");
    say(FILE_OF("", "{name: t, primary_key: [a, b], hash_key: [b, b], hash_function: xxh3}"), false,
        "hash_key names column b twice");
    say(FILE_OF("", "{name: t, primary_key: [a, b], hash_key: [b, c], hash_function: xxh3}"), false,
        "names c, which is not in its primary_key");
    say(FILE_OF("", "{name: t, primary_key: [a, b], hash_key: [b, a], hash_function: xxh3}"), true,
        "");
    say(FILE_OF("", TABLE_OF("t", "") ", " TABLE_OF("public.t", "")), false, "configured twice");
    say(FILE_OF("", TABLE_OF("t", "") ", " TABLE_OF("s.t", "") ", " TABLE_OF("t2", "")), true, "");
}

/* A word of a list, and what it stands for. */
typedef struct word {
    int place;
    const char *text; /* key: word */
    int value;
    size_t offset, size;
} word;

static const char ydb_table[] =
    "backend: {dsn: \"host=127.0.0.1\", dialect: ydb}\ntables:\n  - {name: t, primary_key: [a],"
    " hash_function: xxh3, columns: [{name: a, type: bigint}, {name: b, type: bigint}],"
    " ydb: {ttl: {column: b, after: P1D, %s}}}\n";
static const char bare_table[] = "backend: {dsn: \"host=127.0.0.1\"}\ntables:\n"
                                 "  - {name: t, primary_key: [a], %s}\n";

enum { AUTH = 100, TTL, TABLE, HASHED };

static const word words[] = {
    {TOP, "log: {level: error}", CFG_LOG_ERROR, OF(log_level)},
    {TOP, "log: {level: warn}", CFG_LOG_WARN, OF(log_level)},
    {TOP, "log: {level: info}", CFG_LOG_INFO, OF(log_level)},
    {TOP, "log: {level: debug}", CFG_LOG_DEBUG, OF(log_level)},
    {TOP, "client_tls: {mode: disable}", CFG_TLS_DISABLE, OF(client_tls.mode)},
    {TOP, "auth: {mode: trust}", CFG_AUTH_TRUST, OF(auth.mode)},
    {MANY_LINKS, "links: auto", CFG_LINKS_AUTO, OF(backend.links)},
    {MANY_LINKS, "links: on_login", CFG_LINKS_ON_LOGIN, OF(backend.links)},
    {MANY_LINKS, "links: on_demand", CFG_LINKS_ON_DEMAND, OF(backend.links)},
    {MANY_LINKS, "dialect: postgres", CFG_DIALECT_POSTGRES, OF(backend.dialect)},
    {MANY_LINKS, "dialect: ydb", CFG_DIALECT_YDB, OF(backend.dialect)},
    {YDB, "upsert_first: insert", true, OF(backend.insert_first)},
    {YDB, "upsert_first: select", false, OF(backend.insert_first)},
    {YDB, "update_counts: exact", true, OF(backend.exact_counts)},
    {YDB, "update_counts: unknown", false, OF(backend.exact_counts)},
    {YDB, "allow_cleartext: true", true, OF(backend.allow_cleartext)},
    {YDB, "allow_cleartext: false", false, OF(backend.allow_cleartext)},
    {LIMITS, "enforce: true", true, OF(limits.enforce)},
    {LIMITS, "enforce: false", false, OF(limits.enforce)},
    {HASHED, "hash_function: xxh3", CFG_XXH3, OF_TABLE(hash_function)},
    {HASHED, "hash_function: numeric_hash", CFG_NUMERIC_HASH, OF_TABLE(hash_function)},
    {HASHED, "hash_function: cityhash64", CFG_CITYHASH64, OF_TABLE(hash_function)},
    {HASHED, "hash_function: pg_hash", CFG_PG_HASH, OF_TABLE(hash_function)},
    {TABLE, "hash_type: int8", CFG_HASH_INT8, OF_TABLE(hash_type)},
    {TABLE, "hash_type: uint64", CFG_HASH_UINT64, OF_TABLE(hash_type)},
    {TABLE, "key_order: hash_last", CFG_HASH_LAST, OF_TABLE(key_order)},
    {TABLE, "key_order: hash_first", CFG_HASH_FIRST, OF_TABLE(key_order)},
    {TABLE, "uncomputable: error", CFG_UNCOMPUTABLE_ERROR, OF_TABLE(uncomputable)},
    {TABLE, "uncomputable: forward", CFG_UNCOMPUTABLE_FORWARD, OF_TABLE(uncomputable)},
    {TABLE, "null_key: error", CFG_NULL_KEY_ERROR, OF_TABLE(null_key)},
    {TABLE, "null_key: allow", CFG_NULL_KEY_ALLOW, OF_TABLE(null_key)},
    {TABLE, "hide: yes", CFG_HIDE_YES, OF_TABLE(hide)},
    {TABLE, "hide: true", CFG_HIDE_YES, OF_TABLE(hide)},
    {TABLE, "hide: on", CFG_HIDE_YES, OF_TABLE(hide)},
    {TABLE, "hide: no", CFG_HIDE_NO, OF_TABLE(hide)},
    {TABLE, "hide: false", CFG_HIDE_NO, OF_TABLE(hide)},
    {TABLE, "hide: off", CFG_HIDE_NO, OF_TABLE(hide)},
    {TABLE, "hide: strict", CFG_HIDE_STRICT, OF_TABLE(hide)},
    {TABLE, "lookups: false", false, OF_TABLE(lookups)},
    {TABLE, "lookups: true", true, OF_TABLE(lookups)},
    {TABLE, "hide_in_catalog: false", false, OF_TABLE(hide_in_catalog)},
    {TABLE, "hide_in_catalog: true", true, OF_TABLE(hide_in_catalog)},
    {TABLE, "copy: atomic", CFG_COPY_ATOMIC, OF_TABLE(copy)},
    {TABLE, "copy: partition", CFG_COPY_PARTITION, OF_TABLE(copy)},
    {TABLE, "copy_on_conflict: error", CFG_COPY_CONFLICT_ERROR, OF_TABLE(copy_on_conflict)},
    {TABLE, "copy_on_conflict: nothing", CFG_COPY_CONFLICT_NOTHING, OF_TABLE(copy_on_conflict)},
    {TABLE, "copy_on_conflict: update", CFG_COPY_CONFLICT_UPDATE, OF_TABLE(copy_on_conflict)},
    {TABLE, "atomicity: statement", CFG_ATOMICITY_STATEMENT, OF_TABLE(atomicity)},
    {TABLE, "atomicity: partition", CFG_ATOMICITY_PARTITION, OF_TABLE(atomicity)},
    {TABLE, "transactions: eager", CFG_TRANSACTIONS_EAGER, OF_TABLE(transactions)},
    {TABLE, "transactions: lazy", CFG_TRANSACTIONS_LAZY, OF_TABLE(transactions)},
    {TABLE, "sequences: session", CFG_SEQUENCES_SESSION, OF_TABLE(sequences)},
    {TABLE, "sequences: ignore", CFG_SEQUENCES_IGNORE, OF_TABLE(sequences)},
    {TTL, "unit: seconds", CFG_TTL_SECONDS, OF_TABLE(ydb.ttl_unit)},
    {TTL, "unit: milliseconds", CFG_TTL_MILLISECONDS, OF_TABLE(ydb.ttl_unit)},
    {TTL, "unit: microseconds", CFG_TTL_MICROSECONDS, OF_TABLE(ydb.ttl_unit)},
    {TTL, "unit: nanoseconds", CFG_TTL_NANOSECONDS, OF_TABLE(ydb.ttl_unit)},
};

static void words_stand_for_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const word *it = &words[i];
        char text[1024], key[128], *printed;
        snprintf(key, sizeof key, "%s%s", it->place == TABLE ? "hash_function: xxh3, " : "",
                 it->text);
        snprintf(text, sizeof text,
                 it->place == TTL   ? ydb_table
                 : it->place > AUTH ? bare_table
                                    : places[it->place],
                 key);
        cfg_config *config = load(text, strlen(text), &printed);
        if (config == NULL)
            fail_msg("%s: %s", it->text, printed);
        const char *in = it->place > AUTH ? (const char *)config->tables : (const char *)config;
        int value = 0;
        memcpy(&value, in + it->offset, it->size);
        if (value != it->value)
            fail_msg("%s is %d", it->text, value);
        cfg_free(config);
        free(printed);
    }
}

static void texts_are_compared(void **state)
{
    (void)state;
    static const char *const texts[] = {"backend: {dsn: \"host=127.0.0.1\"}\ntables: []\n",
                                        "backend: {dsn: \"host=127.0.0.2\"}\ntables: []\n",
                                        "backend: {dsn: \"host=127.0.0.1\"}\ntables: []\n\n"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    cfg_config *configs[TEXTS];
    for (size_t i = 0; i < TEXTS; i++) {
        char *printed;
        configs[i] = load(texts[i], strlen(texts[i]), &printed);
        assert_non_null(configs[i]);
        free(printed);
    }
    for (size_t i = 0; i < TEXTS; i++)
        for (size_t k = 0; k < TEXTS; k++)
            assert_int_equal(cfg_same_text(configs[i], configs[k]), i == k);
    for (size_t i = 0; i < TEXTS; i++)
        cfg_free(configs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(numbers_have_defaults),
        cmocka_unit_test(words_are_taken),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(hashes_are_read),
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(sockets_have_short_paths),
        cmocka_unit_test(modes_are_octal),
        cmocka_unit_test(intervals_are_those_of_iso_8601),
        cmocka_unit_test(mistakes_of_the_text_are_told),
        cmocka_unit_test(files_have_a_size),
        cmocka_unit_test(texts_are_compared),
        cmocka_unit_test(words_stand_for_values),
        cmocka_unit_test(each_capability_is_for_ydb),
        cmocka_unit_test(capital_letters_are_warned_of),
        cmocka_unit_test(monitoring_is_a_host),
        cmocka_unit_test(numbers_go_together),
        cmocka_unit_test(keys_are_bounded),
    };
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
