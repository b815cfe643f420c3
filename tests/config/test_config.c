/* The files of vectors/config: each says in `# expect: LINE: TEXT` comments what is wrong with it
 * (or warned of), LINE 0 for the file as a whole; and what the right ones hold. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/load.h"

#define FILES VECTORS "/config/"
#define SAMPLE VECTORS "/../../config/keyspread.yaml"

/* Loads the file and returns what was printed, to be freed. */
static char *load(const char *path, cfg_config **config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *errors = open_memstream(&text, &size);
    *config = cfg_load(path, errors);
    fclose(errors);
    return text;
}

static cfg_config *load_good(const char *path)
{
    cfg_config *config;
    char *text = load(path, &config);
    if (config == NULL)
        fail_msg("%s", text);
    free(text);
    return config;
}

/* Takes the first printed line that begins with `expected` out of `printed`. */
static bool strike(char *printed, const char *path, const char *expected)
{
    char start[2048];
    if (strncmp(expected, "0: ", 3) == 0)
        snprintf(start, sizeof start, "%s: %s", path, expected + 3);
    else
        snprintf(start, sizeof start, "%s:%s", path, expected);
    for (char *line = printed; *line != '\0';) {
        char *next = line + strcspn(line, "\n") + 1;
        if (strncmp(line, start, strlen(start)) == 0) {
            memmove(line, next, strlen(next) + 1);
            return true;
        }
        line = next;
    }
    return false;
}

static void check_file(const char *name)
{
    char path[512], line[1024];
    snprintf(path, sizeof path, FILES "%s", name);
    cfg_config *config;
    char *printed = load(path, &config);
    if ((config != NULL) != (strncmp(name, "good", 4) == 0))
        fail_msg("%s: should%s load, but: %s", name, config ? " not" : "", printed);
    cfg_free(config);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *mark = "# expect: ";
        if (strncmp(line, mark, strlen(mark)) == 0 && !strike(printed, path, line + strlen(mark)))
            fail_msg("%s: not said: %s; left: %s", name, line + strlen(mark), printed);
    }
    fclose(file);
    if (*printed != '\0')
        fail_msg("%s: not expected: %s", name, printed);
    free(printed);
}

static void test_files(void **state)
{
    (void)state;
    size_t count = 0;
    DIR *folder = opendir(FILES);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".yaml") != 0)
            continue;
        check_file(entry->d_name);
        count++;
    }
    closedir(folder);
    assert_true(count > 20);
}

static void test_unreadable(void **state)
{
    (void)state;
    cfg_config *config;
    char *text = load(FILES "no such file", &config);
    assert_null(config);
    assert_string_equal(text, FILES "no such file: cannot be read: No such file or directory\n");
    free(text);
    text = load(FILES, &config);
    assert_null(config);
    assert_non_null(strstr(text, "cannot be read: Is a directory"));
    free(text);
}

/* Messages stand in the order of the file, whatever found them. */
static void test_order(void **state)
{
    (void)state;
    cfg_config *config;
    char *text = load(FILES "wrong_not_available.yaml", &config);
    unsigned long last = 0;
    for (char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        unsigned long at = strtoul(line + strlen(FILES "wrong_not_available.yaml:"), NULL, 10);
        assert_true(at >= last);
        last = at;
    }
    assert_int_equal(last, 10);
    free(text);
}

/* The annotated sample says that it shows the defaults: a file without them must be the same. */
static void test_sample_is_defaults(void **state)
{
    (void)state;
    cfg_config *sample = load_good(SAMPLE), *bare = load_good(FILES "good_minimal.yaml");
    assert_int_equal(sample->listen_count, 1);
    assert_int_equal(bare->listen_count, 1);
    assert_string_equal(sample->listen[0].host, bare->listen[0].host);
    assert_int_equal(sample->listen[0].port, bare->listen[0].port);
    assert_int_equal(sample->workers, bare->workers);
    assert_int_equal(sample->unix_socket_mode, bare->unix_socket_mode);
    assert_int_equal(sample->client_tls.mode, bare->client_tls.mode);
    assert_int_equal(sample->client_tls.verify, bare->client_tls.verify);
    assert_null(sample->client_tls.cert);
    assert_int_equal(sample->auth.mode, bare->auth.mode);
    assert_null(sample->auth.users_file);
    assert_null(sample->admin.listen);
    assert_int_equal(sample->auth.allow_remote_trust, bare->auth.allow_remote_trust);
    assert_string_equal(sample->backend.dsn, bare->backend.dsn);
    assert_int_equal(sample->backend.links, bare->backend.links);
    assert_int_equal(sample->backend.max_links, bare->backend.max_links);
    assert_int_equal(sample->backend.batch_links, bare->backend.batch_links);
    assert_int_equal(sample->backend.link_wait_ms, bare->backend.link_wait_ms);
    assert_int_equal(sample->backend.link_age_s, bare->backend.link_age_s);
    assert_int_equal(sample->backend.connect_ms, bare->backend.connect_ms);
    assert_int_equal(sample->backend.catalog_s, bare->backend.catalog_s);
    assert_int_equal(sample->log_level, bare->log_level);
    assert_memory_equal(&sample->limits, &bare->limits, sizeof bare->limits);
    const cfg_table *a = &sample->tables[0], *b = &bare->tables[0];
    assert_string_equal(a->hash_key[0], b->hash_key[0]);
    assert_int_equal(a->hash_key_count, b->hash_key_count);
    assert_string_equal(a->hash_column, b->hash_column);
    assert_int_equal(a->hash_type, b->hash_type);
    assert_int_equal(a->hash_buckets, b->hash_buckets);
    assert_int_equal(a->key_order, b->key_order);
    assert_int_equal(a->uncomputable, b->uncomputable);
    assert_int_equal(a->null_key, b->null_key);
    assert_int_equal(a->copy, b->copy);
    assert_int_equal(a->copy_on_conflict, b->copy_on_conflict);
    assert_int_equal(a->atomicity, b->atomicity);
    assert_int_equal(a->repeat_upserts, b->repeat_upserts);
    assert_int_equal(a->sequences, b->sequences);
    assert_int_equal(a->block, b->block);
    assert_int_equal(a->lookups, b->lookups);
    assert_int_equal(a->hide, b->hide);
    assert_int_equal(a->hide_in_catalog, b->hide_in_catalog);
    assert_memory_equal(&a->batch, &b->batch, sizeof a->batch);
    cfg_free(sample);
    cfg_free(bare);
}

static void test_defaults(void **state)
{
    (void)state;
    cfg_config *config = load_good(FILES "good_minimal.yaml");
    assert_string_equal(config->listen[0].host, "127.0.0.1");
    assert_int_equal(config->listen[0].port, 6432);
    assert_int_equal(config->unix_socket_mode, 0700);
    assert_int_equal(config->client_tls.mode, CFG_TLS_DISABLE);
    assert_null(config->client_tls.cert);
    assert_int_equal(config->client_tls.verify, CFG_TLS_VERIFY_OPTIONAL);
    assert_int_equal(config->auth.mode, CFG_AUTH_TRUST);
    assert_false(config->auth.allow_remote_trust);
    assert_null(config->admin.listen);
    assert_int_equal(config->backend.max_links, 90);
    assert_int_equal(config->backend.batch_links, 8);
    assert_int_equal(config->backend.link_wait_ms, 10000);
    assert_int_equal(config->backend.connect_ms, 10000);
    assert_int_equal(config->backend.catalog_s, 10);
    assert_int_equal(config->backend.dsn_line, 1);
    assert_int_equal(config->tables[0].copy, CFG_COPY_ATOMIC);
    assert_int_equal(config->tables[0].copy_on_conflict, CFG_COPY_CONFLICT_ERROR);
    assert_true(config->tables[0].lookups);
    assert_true(config->tables[0].hide);
    assert_true(config->tables[0].hide_in_catalog);
    assert_int_equal(config->log_level, CFG_LOG_INFO);
    assert_int_equal(config->limits.row_bytes, 8 << 20);
    assert_int_equal(config->limits.key_bytes, 2 << 10);
    assert_int_equal(config->limits.queue_bytes, 256 << 20);
    assert_int_equal(config->limits.incomplete_bytes, 128 << 20);
    assert_int_equal(config->limits.unread_bytes, 128 << 20);
    assert_int_equal(config->limits.prepared_bytes, 1 << 30);
    assert_false(config->limits.enforce);
    assert_int_equal(config->limits.clients, 10000);
    assert_int_equal(config->limits.unauthenticated, 2500);
    assert_int_equal(config->limits.unauthenticated_per_address, 625);
    assert_int_equal(config->limits.clients_per_address, 0);
    assert_int_equal(config->limits.startup_ms, 10000);
    const cfg_table *table = &config->tables[0];
    assert_null(table->schema);
    assert_string_equal(table->hash_column, "userid_hash");
    assert_int_equal(table->hash_function, CFG_XXH3);
    assert_int_equal(table->hash_type, CFG_HASH_INT8);
    assert_int_equal(table->key_order, CFG_HASH_LAST);
    assert_int_equal(table->column_count, 0);
    assert_int_equal(table->partitions.uniform, 1);
    assert_int_equal(table->batch.rows, 500);
    assert_int_equal(table->batch.bytes, 1 << 20);
    assert_int_equal(table->batch.wait_ms, 0);
    assert_int_equal(table->batch.target_ms, 50);
    assert_int_equal(table->batch.lock_wait_ms, 200);
    assert_int_equal(table->batch.max_wait_ms, 30000);
    assert_int_equal(table->line, 3);
    cfg_free(config);
}

static void check_full_table(const cfg_table *table)
{
    assert_string_equal(table->schema, "app");
    assert_string_equal(table->name, "events");
    assert_int_equal(table->primary_key_count, 3);
    assert_string_equal(table->primary_key[2], "k");
    assert_int_equal(table->hash_key_count, 2);
    assert_string_equal(table->hash_key[0], "day");
    assert_string_equal(table->hash_key[1], "id");
    assert_string_equal(table->hash_column, "h");
    assert_int_equal(table->hash_function, CFG_CITYHASH64);
    assert_int_equal(table->hash_type, CFG_HASH_UINT64);
    assert_int_equal(table->key_order, CFG_HASH_FIRST);
    assert_int_equal(table->column_count, 3);
    assert_string_equal(table->columns[2].name, "k");
    assert_string_equal(table->columns[2].type, "numeric(6,2)");
    assert_true(table->columns[0].not_null);
    assert_false(table->columns[1].not_null);
    assert_int_equal(table->partitions.uniform, 0);
    assert_int_equal(table->partitions.at_count, 3);
    assert_true(table->partitions.at[1] == UINT64_C(1) << 63);
    assert_true(table->partitions.at[2] == UINT64_MAX);
    assert_int_equal(table->uncomputable, CFG_UNCOMPUTABLE_FORWARD);
    assert_int_equal(table->null_key, CFG_NULL_KEY_ALLOW);
    assert_int_equal(table->atomicity, CFG_ATOMICITY_PARTITION);
    assert_int_equal(table->sequences, CFG_SEQUENCES_IGNORE);
    assert_int_equal(table->block, 1);
    assert_int_equal(table->batch.rows, 100000);
    assert_int_equal(table->batch.bytes, 2 << 20);
    assert_int_equal(table->batch.max_wait_ms, 4);
}

static void test_full(void **state)
{
    (void)state;
    cfg_config *config = load_good(FILES "good_full.yaml");
    assert_int_equal(config->listen_count, 4);
    assert_int_equal(config->listen[0].port, 1);
    assert_string_equal(config->listen[1].host, "::1");
    assert_int_equal(config->listen[1].port, 65535);
    assert_null(config->listen[2].host);
    assert_string_equal(config->listen[2].path, "/tmp/.s.PGSQL.6432");
    assert_int_equal(config->workers, 256);
    assert_true(config->auth.allow_remote_trust);
    assert_int_equal(config->unix_socket_mode, 0660);
    assert_string_equal(config->admin.listen->path, "/run/keyspread/admin");
    assert_true(config->admin.allow_remote);
    assert_int_equal(config->limits.clients_per_address, 1000000);
    assert_int_equal(config->log_level, CFG_LOG_DEBUG);
    check_full_table(&config->tables[0]);
    assert_true(config->tables[1].partitions.at[0] == UINT64_C(1) << 63);
    assert_true(config->tables[1].partitions.at[1] == UINT64_MAX);
    assert_int_equal(config->tables[2].partitions.buckets, 64);
    assert_int_equal(config->tables[2].partitions.uniform, 0);
    assert_string_equal(config->tables[3].schema, "odd \".name");
    assert_string_equal(config->tables[3].name, "t");
    assert_int_equal(config->limits.row_bytes, 1023 << 10);
    assert_int_equal(config->limits.key_bytes, 16);
    assert_true(config->limits.enforce);
    assert_true(config->limits.queue_bytes == UINT64_C(1) << 40);
    cfg_free(config);
}

/* What the file does not say is not confirmed; what it says holds. */
static void test_capabilities(void **state)
{
    (void)state;
    cfg_config *config = load_good(FILES "good_minimal.yaml");
    const cfg_capabilities *capabilities = &config->backend.capabilities;
    assert_int_equal(config->backend.dialect, CFG_DIALECT_POSTGRES);
    char *text = cfg_capabilities_unconfirmed(capabilities);
    assert_non_null(strstr(text, "update_from=no returning=yes "));
    assert_non_null(strstr(text, " pgint8_boundaries=no max_message=1572864"));
    free(text);
    cfg_free(config);

    config = load_good(FILES "good_capabilities.yaml");
    capabilities = &config->backend.capabilities;
    for (size_t i = 0; i < CFG_CAPABILITIES; i++) {
        assert_true(capabilities->written[i]);
        assert_true(capabilities->can[i] != cfg_capability_rows[i].otherwise);
        assert_true(*cfg_capability_rows[i].where != '\0' && *cfg_capability_rows[i].what != '\0');
    }
    assert_int_equal(capabilities->max_message, 10240);
    text = cfg_capabilities_unconfirmed(capabilities);
    assert_string_equal(text, "");
    free(text);
    cfg_free(config);
}

static void test_patterns(void **state)
{
    (void)state;
    cfg_config *config = load_good(FILES "good_patterns.yaml");
    assert_int_equal(config->table_count, 2);
    assert_int_equal(config->pattern_count, 9);
    assert_string_equal(config->tables[0].name, "events_own");
    assert_string_equal(config->tables[1].name, "odd*");
    const cfg_table *all = &config->tables[2];
    assert_ptr_equal(cfg_find_pattern(config, "public", "events_1"), &all[0]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "events_"), &all[0]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "events_long_1"), &all[1]);
    assert_ptr_equal(cfg_find_pattern(config, "app", "events_long_1"), &all[2]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "odd table"), &all[3]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "events"), &all[4]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "a_log2"), &all[4]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "star_"), &all[4]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "a_log"), &all[6]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "tmp_1"), &all[6]);
    assert_ptr_equal(cfg_find_pattern(config, "public", "star*"), &all[6]);
    assert_ptr_equal(cfg_find_pattern(config, "boss", "a_log"), &all[5]);
    assert_ptr_equal(cfg_find_pattern(config, "other", "events_1"), &all[6]);
    assert_ptr_equal(cfg_find_pattern(config, "shop", "logs"), &all[6]);
    assert_ptr_equal(cfg_find_pattern(config, "other", "log"), &all[6]);
    assert_ptr_equal(cfg_find_pattern(config, "tenant", "log"), &all[6]);
    assert_ptr_equal(cfg_find_pattern(config, "tenant_1", "version"), &all[7]);
    assert_ptr_equal(cfg_find_pattern(config, "tenant_1", "log_1"), &all[8]);
    static const char *const none[][2] = {
        {"other", "version"}, {"other", "old_1"},       {"shop", "log"},
        {"raw", "x"},         {"tmp_1", "x"},           {"pg_temp", "x"},
        {"pg_toast", "x"},    {"pg_catalog", "x"},      {"information_schema", "x"},
        {"keyspread", "x"},   {"keyspread_new_a", "x"}, {"keyspread_old_a", "x"},
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(cfg_find_pattern(config, none[i][0], none[i][1]));
    assert_ptr_equal(cfg_find_pattern(config, "keyspreads", "x"), &all[6]);
    assert_null(cfg_find_table(config, "events_1"));
    assert_int_equal(all[0].primary_key_count + all[0].hash_key_count, 0);
    assert_string_equal(all[0].hash_column, "keyspread_hash");
    assert_string_equal(all[1].hash_column, "userid_hash");
    assert_string_equal(all[2].hash_column, "h");
    assert_string_equal(all[2].hash_key[0], "id");
    cfg_free(config);
}

/* They stand behind the others, wherever the file has them, and are found by themselves. */
static void test_columnar(void **state)
{
    (void)state;
    cfg_config *config = load_good(FILES "good_columnar.yaml");
    assert_int_equal(config->table_count, 2);
    assert_int_equal(config->columnar_count, 2);
    const char *const names[] = {"events", "users", "wide", "hits"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(config->tables[i].name, names[i]);
        assert_int_equal(config->tables[i].partition_key_count > 0, i >= 2);
    }
    const cfg_table *wide = &config->tables[2], *hits = &config->tables[3];
    assert_ptr_equal(cfg_find_columnar(config, "wide"), wide);
    assert_ptr_equal(cfg_find_columnar(config, "app.hits"), hits);
    assert_ptr_equal(cfg_find_columnar(config, "hits"), hits);
    assert_null(cfg_find_columnar(config, "events"));
    assert_null(cfg_find_columnar(config, "users"));
    assert_null(cfg_find_columnar(config, "Wide"));
    assert_null(cfg_find_columnar(config, ""));
    assert_null(cfg_find_table(config, "wide"));
    assert_int_equal(wide->partition_key_count, 1);
    assert_string_equal(wide->partition_key[0], "at");
    assert_int_equal(hits->partition_key_count, 2);
    assert_string_equal(hits->partition_key[0], "b");
    assert_string_equal(hits->partition_key[1], "a");
    assert_int_equal(wide->ydb.min_partitions, 64);
    cfg_free(config);
}

static void test_find_table(void **state)
{
    (void)state;
    cfg_config *config = load_good(FILES "good_full.yaml");
    assert_ptr_equal(cfg_find_table(config, "app.events"), &config->tables[0]);
    assert_ptr_equal(cfg_find_table(config, "events"), &config->tables[0]);
    assert_ptr_equal(cfg_find_table(config, "public.signed"), &config->tables[1]);
    assert_ptr_equal(cfg_find_table(config, "virtual"), &config->tables[2]);
    assert_ptr_equal(cfg_find_table(config, "other.virtual"), &config->tables[4]);
    assert_ptr_equal(cfg_find_table(config, "plain"), &config->tables[5]);
    assert_string_equal(cfg_table_label(&config->tables[5]), "public.plain");
    assert_null(cfg_find_table(config, "public.events"));
    assert_null(cfg_find_table(config, "nobody"));
    assert_null(cfg_find_table(config, ""));
    cfg_free(config);
    cfg_free(NULL);
}

/* Tables without a label, columnar ones, and patterns: of those that a name begins with the
 * longest, in its own schema. */
static void test_find_others(void **state)
{
    (void)state;
    cfg_table tables[] = {
        {.name = "bare"},
        {.schema = "s", .name = "own", .label = "s.own"},
        {.name = "ev_", .pattern = true},
        {.name = "ev_long_", .pattern = true},
        {.schema = "s", .name = "ev_lo", .pattern = true},
        {.name = "ev_l", .pattern = true},
        {.schema = "s", .name = "columnar", .label = "s.columnar"},
        {.name = "flat"},
    };
    const cfg_config config = {
        .tables = tables, .table_count = 2, .pattern_count = 4, .columnar_count = 2};
    static const struct {
        const char *schema, *name;
        int found; /* -1: none */
    } patterns[] = {
        {"public", "ev_1", 2}, {"public", "ev_", 2},       {"public", "ev", -1},
        {"public", "ev_l", 5}, {"public", "ev_long_1", 3}, {"public", "ev_long", 5},
        {"s", "ev_long_1", 4}, {"s", "ev_1", -1},          {"public", "xev_1", -1},
        {"", "ev_1", -1},      {"public", "", -1},
    };
    assert_string_equal(cfg_table_label(&tables[0]), "bare");
    assert_string_equal(cfg_table_label(&tables[1]), "s.own");
    assert_ptr_equal(cfg_find_table(&config, "public.bare"), &tables[0]);
    assert_ptr_equal(cfg_find_table(&config, "own"), &tables[1]);
    assert_null(cfg_find_table(&config, "public.own"));
    assert_null(cfg_find_table(&config, "flat"));
    assert_null(cfg_find_table(&config, "ev_"));
    assert_ptr_equal(cfg_find_columnar(&config, "s.columnar"), &tables[6]);
    assert_ptr_equal(cfg_find_columnar(&config, "columnar"), &tables[6]);
    assert_ptr_equal(cfg_find_columnar(&config, "flat"), &tables[7]);
    assert_null(cfg_find_columnar(&config, "bare"));
    assert_null(cfg_find_columnar(&config, "ev_"));
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const cfg_table *found = cfg_find_pattern(&config, patterns[i].schema, patterns[i].name);
        assert_ptr_equal(found, patterns[i].found < 0 ? NULL : &tables[patterns[i].found]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_sample_is_defaults),
        cmocka_unit_test(test_defaults),     cmocka_unit_test(test_full),
        cmocka_unit_test(test_patterns),     cmocka_unit_test(test_columnar),
        cmocka_unit_test(test_find_table),   cmocka_unit_test(test_find_others),
        cmocka_unit_test(test_capabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
