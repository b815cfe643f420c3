/* Texts that are like one of before: their write groups are those that they would be, were they
 * parsed. */
#include "proxy/backend/base/backend.h"
#include "proxy/base/shared.h"
#include "proxy/ingest/alike.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/ingest/submit.h"
#include "proxy/ingest/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/proxy/ingest/plans.h"
#include "tests/proxy/ingest/random_texts.h"
#include "tests/rewrite/vectors.h"

enum { TABLES = TEST_TABLE_COUNT + 4 };

static rw_column varchar_columns[] = {
    COLUMN("id", PGW_VARCHAR, 12, .not_null = true, .key_place = 1),
    COLUMN("at", PGW_TIMESTAMP, 4, .not_null = true, .key_place = 2),
    COLUMN("small", PGW_INT2, -1, .not_null = false),
    HASH("h"),
};
static rw_column many_columns[] = {
    COLUMN("u", PGW_UUID, -1, .not_null = true),
    COLUMN("d", PGW_DATE, -1, .not_null = true),
    COLUMN("f", PGW_FLOAT8, -1, .not_null = false),
    COLUMN("b", PGW_BOOL, -1, .not_null = false),
    HASH("h"),
};
static rw_column numbered_columns[] = {
    COLUMN("pk", PGW_INT8, -1, .not_null = true, .has_default = true, .sequence = true,
           .draws_from = 7, .default_text = (char *)"nextval('n')"),
    COLUMN("event", PGW_VARCHAR, 14, .not_null = false),
    COLUMN("kind", PGW_INT4, -1, .not_null = true, .has_default = true,
           .default_text = (char *)"(random() * 5)::int4"),
    HASH("h"),
};
static size_t numbered_key[] = {2, 0};
static rw_column amount_columns[] = {
    COLUMN("n", PGW_NUMERIC, -1, .not_null = true),
    COLUMN("event", PGW_TEXT, -1, .not_null = true),
    HASH("h"),
};
static const rw_table more_tables[] = {
    TEST_TABLE("public", "numbered", numbered_columns, 3, numbered_key, numbered_key, 2,
               .mergeable = true),
    TEST_TABLE("public", "strings", varchar_columns, 3, test_first_two, test_first_two, 1,
               .mergeable = true),
    TEST_TABLE("public", "several", many_columns, 4, test_first_two, test_swapped, 2,
               .mergeable = true, .strict = true),
    TEST_TABLE("public", "amounts", amount_columns, 2, test_first_two, test_first_two, 1,
               .mergeable = true, .key_unfolds = true),
};

static struct {
    rw_table tables[TABLES];
    const rw_table *pointers[TABLES];
    cfg_table configs[TABLES];
    const cfg_table *config_pointers[TABLES];
    px_catalog catalog;
    px_identity *identity;
    px_plan_cache cache;
    cfg_config config;
    px_backend backend;
    px_server server;
    px_worker worker;
    px_submitter submitter;
    px_standing standing;
    px_write_group *write_groups[64]; /* Those that were submitted. */
    size_t count;
    size_t filled; /* Texts whose key was asked for, that became write groups by a template. */
    size_t like,
        parsed; /* Texts that became write groups by a template, and that had to be parsed. */
} t;

void px_batcher_submit(px_write_group *write_group)
{
    t.write_groups[t.count++] = write_group;
}

void px_batcher_withdraw(px_worker *home, px_write_group *write_group, uint64_t ticket)
{
    (void)home;
    (void)write_group;
    (void)ticket;
}

static bool on_answered(px_submitter *submitter, const px_outcome *outcome)
{
    (void)submitter;
    (void)outcome;
    return true;
}

static void on_rerouted(px_submitter *submitter)
{
    (void)submitter;
}

/* The backend has told what these are. */
static void make_tables(void)
{
    for (size_t i = 0; i < TABLES; i++) {
        t.tables[i] = i < TEST_TABLE_COUNT ? test_tables[i] : more_tables[i - TEST_TABLE_COUNT];
        t.tables[i].oid = (uint32_t)(16384 + i);
        t.tables[i].epoch = 1;
        t.pointers[i] = &t.tables[i];
        t.config_pointers[i] = &t.configs[i];
        t.configs[i].batch.max_wait_ms = 300;
    }
    t.catalog = (px_catalog){.references = 1,
                             .epoch = 1,
                             .tables = (rw_table **)t.pointers,
                             .configs = t.config_pointers,
                             .count = TABLES};
}

static int setup(void **state)
{
    static const px_submitter_ops ops = {on_answered, on_rerouted};
    (void)state;
    memset(&t, 0, sizeof t);
    make_tables();
    const px_identity from = {
        .user = (char *)"u", .database = (char *)"d", .options = (char *)"", .env = test_env};
    t.identity = px_identity_of(&from);
    t.server.backend = &t.backend;
    t.config.limits.row_bytes = t.config.limits.key_bytes = 1 << 20;
    t.worker = (px_worker){.server = &t.server, .config = &t.config, .plans = &t.cache};
    t.submitter = (px_submitter){.ops = &ops, .worker = &t.worker};
    t.standing = (px_standing){.identity = t.identity};
    return 0;
}

/* -1 if something was not given back. */
static int teardown(void **state)
{
    (void)state;
    px_templates_free(&t.worker);
    px_plan_cache_clear(&t.cache);
    bool clean = t.catalog.references == 1 && t.identity->references == 1;
    px_identity_drop(t.identity);
    return clean ? 0 : -1;
}

static rw_catalog view(void)
{
    return (rw_catalog){.tables = t.pointers, .count = TABLES};
}

static void come_back_one(px_write_group *write_group, px_write_group_outcome outcome)
{
    write_group->outcome = outcome;
    write_group->completed = outcome == PX_WRITE_GROUP_COMMITTED;
    if (outcome == PX_WRITE_GROUP_FAILED) {
        pgw_error error;
        pgw_fail(&error, "23505", "it is there");
        px_write_group_fail(write_group, &error);
    }
    write_group->done(write_group);
}

/* All write groups are back, with this outcome. */
static void come_back(px_write_group_outcome outcome)
{
    for (size_t i = 0; i < t.count; i++)
        come_back_one(t.write_groups[i], outcome);
    t.count = 0;
}

/* What the backend tells of each wanted cell. */
static const rw_answer answers[] = {{.text = {"4711", 4}}, {.text = {"12", 2}}, {.text = {"3", 1}}};
enum { ANSWERS = sizeof answers / sizeof *answers };

/* The text, or, if its key is asked for, what it is with the answers. NULL: it cannot be filled. */
static px_text *parse(const char *sql)
{
    rw_catalog names = view();
    px_text *text = px_text_parse(&t.worker, pgw_slice_str(sql), &t.catalog, &names, &test_env);
    size_t wanted = 0;
    for (size_t i = 0; i < text->script.count && px_text_wants(text, NULL) > 0; i++)
        if (text->script.statements[i].insert != NULL)
            wanted += text->script.statements[i].insert->wanted_count;
    if (wanted == 0)
        return text;
    pgw_error error;
    px_text *filled =
        wanted > ANSWERS ? NULL : px_text_fill(&t.worker, text, answers, &names, &test_env, &error);
    px_text_drop(text);
    return filled;
}

/* As a session would have it. False: it would not be a write group. */
static bool submit_parsed(const char *sql)
{
    px_text *text = parse(sql);
    if (text == NULL)
        return false;
    const rw_script *script = &text->script;
    bool batchable =
        script->inserts > 0 && script->inserts == script->count && px_text_wants(text, NULL) == 0;
    for (size_t i = 0; i < script->count && batchable; i++)
        batchable = script->statements[i].insert->blocker == RW_BATCHABLE;
    if (batchable) {
        px_text_hash(&t.worker, text, test_env);
        batchable = !text->refused;
    }
    if (batchable)
        px_submit_script(&t.submitter, &t.standing, text);
    px_text_drop(text);
    return batchable;
}

static bool submit_filled(const px_likeness *like)
{
    px_likeness of;
    px_alike_asked asked;
    assert_true(px_template_insert(like->like)->wanted_count <= ANSWERS);
    if (!px_alike_fill(like, answers, &asked))
        return false;
    bool is_write_group = px_template_find(&t.worker, t.identity, asked.filled->text, &of) &&
                          px_submit_alike(&t.submitter, &t.standing, &of, &asked, &test_env);
    px_text_drop(asked.text);
    t.filled += is_write_group;
    return is_write_group;
}

static bool submit_alike(const char *sql)
{
    px_likeness of;
    if (!px_template_find(&t.worker, t.identity, pgw_slice_str(sql), &of))
        return false;
    return px_template_asks(of.like)
               ? submit_filled(&of)
               : px_submit_alike(&t.submitter, &t.standing, &of, NULL, &test_env);
}

static void describe_prepared(const px_write_group *write_group, pgw_buf *out)
{
    for (size_t i = 0; i < write_group->prepared_count; i++) {
        const px_write_group_prepared *it = &write_group->prepared[i];
        pgw_buf_addf(out, "\nprepared %.*s %d: %.*s types", (int)it->name.len, it->name.ptr,
                     it->stores_all, (int)it->text.len, it->text.ptr);
        for (size_t k = 0; k < it->type_count; k++)
            pgw_buf_addf(out, " %u", it->types[k]);
    }
    for (size_t i = 0; i < write_group->lifted.count; i++) {
        const pgw_slice *value = &write_group->lifted.values[i];
        pgw_buf_addf(out, "\nvalue %s%.*s", value->ptr == NULL ? "NULL" : "", (int)value->len,
                     value->ptr != NULL ? value->ptr : "");
    }
    pgw_buf_addf(out, "\nreturns %d\n", write_group->lifted.returns);
}

/* All that decides how the write group travels, and what is sent. */
static void describe(const px_write_group *write_group, pgw_buf *out)
{
    pgw_buf_addf(out,
                 "kind %d partition %u several %d guarded %d bytes %zu merge %llx rows %u of %zu\n",
                 write_group->kind, write_group->several_partitions ? 0 : write_group->partition,
                 write_group->several_partitions, write_group->guarded, write_group->bytes,
                 (unsigned long long)write_group->merge_hash, write_group->statements[0].rows,
                 write_group->statements[0].bytes);
    const pgw_slice parts[] = {write_group->head, write_group->tail, write_group->conditions,
                               pgw_slice_str(write_group->tables[0].name)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        pgw_buf_addf(out, "<%.*s>\n", (int)parts[i].len, parts[i].len > 0 ? parts[i].ptr : "");
    for (size_t i = 0; i < write_group->row_count; i++)
        pgw_buf_addf(out, "key %llx %llx %d %u %u\n", (unsigned long long)write_group->keys[i].hash,
                     (unsigned long long)write_group->keys[i].fingerprint,
                     write_group->keys[i].constant, write_group->keys[i].table,
                     write_group->keys[i].partition);
    if (write_group->kind == PX_WRITE_GROUP_ROWS)
        px_write_group_write_statement(write_group, 0, out);
    pgw_buf_add_str(out, "\n");
    px_write_group_write_alone(write_group, out);
    describe_prepared(write_group, out);
}

/* False: it is no write group, or several. */
static bool describe_parsed(const char *sql, pgw_buf *out)
{
    pgw_buf_clear(out);
    bool is_write_group = submit_parsed(sql) && t.count == 1;
    if (is_write_group)
        describe(t.write_groups[0], out);
    come_back(PX_WRITE_GROUP_COMMITTED);
    pgw_buf_add_byte(out, '\0');
    return is_write_group;
}

static bool describe_alike(const char *sql, pgw_buf *out)
{
    bool is_write_group = submit_alike(sql);
    if (is_write_group)
        describe(t.write_groups[0], out);
    come_back(PX_WRITE_GROUP_COMMITTED);
    pgw_buf_add_byte(out, '\0');
    return is_write_group;
}

static void complain(const char *sql, const pgw_buf *parsed, const pgw_buf *alike)
{
    size_t i = 0;
    while (i < parsed->len && i < alike->len && parsed->ptr[i] == alike->ptr[i])
        i++;
    size_t from = i > 100 ? i - 100 : 0;
    print_error("%s\n--- parsed: %.300s\n--- alike: %.300s\n", sql, parsed->ptr + from,
                alike->ptr + from);
}

/* The text is a write group by a template as it is when it is parsed, or is none by a template.
 * What was prepared may be forgotten, and comes back with the next text. */
static void check(const char *sql)
{
    pgw_buf parsed = {0}, alike = {0};
    bool found = describe_alike(sql, &alike), is_write_group = describe_parsed(sql, &parsed);
    bool same = pgw_slice_eq(pgw_slice_buf(&parsed), pgw_slice_buf(&alike));
    if (found && is_write_group && !same) {
        describe_parsed(sql, &parsed);
        same = pgw_slice_eq(pgw_slice_buf(&parsed), pgw_slice_buf(&alike));
    }
    if (found && (!is_write_group || !same))
        complain(sql, &parsed, &alike);
    t.like += found;
    t.parsed += !found && is_write_group;
    pgw_buf_free(&parsed);
    pgw_buf_free(&alike);
    assert_true(!found || (is_write_group && same));
}

/* ---- by chance ---- */

/* The number of texts may be the program's argument. */
static size_t texts_by_chance = 30000;

static void random_texts_are_alike(void **state)
{
    (void)state;
    pgw_buf text = {0};
    chance = 1;
    for (size_t i = 0; i < texts_by_chance; i++) {
        add_text(&text, i % 4 == 0 ? 30 : 3);
        for (size_t k = 0; k < TABLES; k++)
            t.configs[k].atomicity = i / 100 % 5 == 0 ? CFG_ATOMICITY_PARTITION : 0;
        check(text.ptr);
    }
    pgw_buf_free(&text);
    print_message("%zu by a template, %zu of them filled, %zu parsed\n", t.like, t.filled,
                  t.parsed);
    assert_true(t.like > texts_by_chance / 10);
    assert_true(t.filled > texts_by_chance / 200);
}

static void random_rows_are_alike(void **state)
{
    (void)state;
    pgw_buf text = {0};
    chance = 2;
    for (size_t i = 0; i < texts_by_chance / 10; i++) {
        add_long_text(&text);
        check(text.ptr);
    }
    pgw_buf_free(&text);
    print_message("%zu by a template, %zu parsed\n", t.like, t.parsed);
    assert_true(t.like > texts_by_chance / 50);
}

/* The statements that the parser is tested with, one a line, before a tab. */
static void texts_of_other_tests_are_alike(void **state)
{
    char line[VECTOR_LINE];
    FILE *file = fopen(VECTORS "/inserts", "r");
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\t\n")] = '\0';
        for (size_t again = 0; again < 3 && line[0] != '#'; again++)
            check(line);
    }
    fclose(file);
    print_message("%zu by a template, %zu parsed\n", t.like, t.parsed);
    assert_true(t.like > 10);
}

/* ---- what is kept ---- */

static const char one[] = "insert into events (userid, ts) values (1, '2026-01-01 00:00:00+00')";
static const char two[] = "insert into events (userid, ts) values (2, '2026-01-01 00:00:00+00')";

static void learn(const char *sql)
{
    for (size_t i = 0; i < 2; i++) {
        assert_false(submit_alike(sql));
        assert_true(submit_parsed(sql));
        come_back(PX_WRITE_GROUP_COMMITTED);
    }
}

static void the_second_of_its_like_is_learned_from(void **state)
{
    (void)state;
    learn(one);
    assert_true(submit_alike(two));
    assert_ptr_equal(t.submitter.text->like->script.statements[0].insert->table, t.pointers[0]);
    come_back(PX_WRITE_GROUP_COMMITTED);
    assert_false(submit_alike("insert into events (userid, ts) values (2, now())"));
    assert_false(submit_alike("insert into events (userid, ts) values (2, '2026-01-01') ;"));
    assert_false(submit_alike("insert into events (userid, ts)  values (2, '2026-01-01')"));
}

/* What is told of its error is told of its own text. */
static void a_text_that_fails_is_read(void **state)
{
    (void)state;
    learn(one);
    assert_true(submit_alike(two));
    px_text *text = t.submitter.text;
    px_text_take(text);
    come_back(PX_WRITE_GROUP_FAILED);
    assert_null(text->like);
    const rw_insert *insert = text->script.statements[0].insert;
    assert_true(pgw_slice_eq_str(insert->rows[0].key[0].text, "2"));
    assert_true(text->hashes[0][0] != 0);
    px_text_drop(text);
    assert_true(submit_alike(two));
    come_back(PX_WRITE_GROUP_REROUTED);
}

/* What is told of its error is told of what its client has sent. */
static void a_filled_text_that_fails_is_read(void **state)
{
    (void)state;
    static const char filled[] =
        "insert into numbered (kind, event, \"pk\") values (7, 'b', '4711')";
    learn("insert into numbered (kind, event) values (1, 'a')");
    assert_true(submit_alike("insert into numbered (kind, event) values (7, 'b')"));
    px_text *text = t.submitter.text;
    px_text_take(text);
    come_back(PX_WRITE_GROUP_FAILED);
    assert_null(text->like);
    assert_string_equal(text->text.ptr, filled);
    assert_string_equal(text->asked->text.ptr,
                        "insert into numbered (kind, event) values (7, 'b')");
    assert_int_equal(rw_filled_position(text->filled[0], strlen(filled), true),
                     strlen("insert into numbered (kind, event) values (7, 'b')"));
    assert_int_equal(px_text_before(text, 0), 0);
    px_text_drop(text);
}

/* Another identity, another configuration, another snapshot. */
static void what_it_was_learned_by_must_be_the_same(void **state)
{
    (void)state;
    px_likeness of;
    learn(one);
    px_identity other = {0};
    assert_false(px_template_find(&t.worker, &other, pgw_slice_str(two), &of));
    assert_true(px_template_find(&t.worker, t.identity, pgw_slice_str(two), &of));
    assert_ptr_equal(px_template_catalog(of.like), &t.catalog);
    cfg_config config = t.config;
    t.worker.config = &config;
    assert_false(px_template_find(&t.worker, t.identity, pgw_slice_str(two), &of));
    t.worker.config = &t.config;
}

/* Such rows are warned of, or refused. */
static void rows_beyond_limits_are_parsed(void **state)
{
    (void)state;
    learn(one);
    t.config.limits.row_bytes = strlen("(2, '2026-01-01 00:00:00+00'");
    assert_true(submit_alike(two));
    come_back(PX_WRITE_GROUP_COMMITTED);
    t.config.limits.row_bytes--;
    assert_false(submit_alike(two));
    t.config.limits.row_bytes++;
    t.config.limits.key_bytes = 15;
    assert_false(submit_alike(two));
}

/* A number may have more bytes than it is written with. */
static void numbers_beyond_limits_are_parsed(void **state)
{
    (void)state;
    learn("insert into amounts values ('1', 'a')");
    t.config.limits.key_bytes = 100;
    assert_true(submit_alike("insert into amounts values ('1e90', 'a')"));
    come_back(PX_WRITE_GROUP_COMMITTED);
    assert_false(submit_alike("insert into amounts values ('1e110', 'a')"));
}

/* Lines may be broken behind any comma. */
static void rows_are_alike_whatever_is_between(void **state)
{
    (void)state;
    pgw_buf text = {0};
    learn("insert into events (userid, ts) values (1, '2026-01-01 00:00:00+00'), "
          "(2, '2026-01-01 00:00:00+00')");
    static const char *const betweens[][3] = {
        {",", ",", ",\n"}, {", ", ", ", ", \n\t"}, {", ", ",\n", ", "}, {",", ", ", ",  "}};
    for (size_t i = 0; i < sizeof betweens / sizeof *betweens; i++) {
        pgw_buf_clear(&text);
        pgw_buf_add_str(&text, "insert into events (userid, ts) values ");
        for (size_t row = 0; row < 7; row++)
            pgw_buf_addf(&text, "%s(%zu, '2026-01-01 00:00:00+00')",
                         row > 0 ? betweens[i][row % 3] : "", row);
        pgw_buf_add_byte(&text, '\0');
        t.like = 0;
        check(text.ptr);
        assert_int_equal(t.like, 1);
    }
    pgw_buf_free(&text);
}

/* What waits unread takes no more memory when it is rendered. */
static void a_text_that_is_read_for_once_stays_small(void **state)
{
    (void)state;
    px_likeness of;
    size_t rows;
    learn(one);
    assert_true(px_template_find(&t.worker, t.identity, pgw_slice_str(two), &of));
    px_text *text = px_alike_text(&t.worker, &of, &test_env, &rows);
    size_t bytes = text->arena.bytes;
    px_text *read = px_text_as_read(&t.worker, text, &test_env);
    assert_ptr_not_equal(read, text);
    assert_non_null(text->like);
    assert_int_equal(text->arena.bytes, bytes);
    assert_null(read->like);
    assert_true(pgw_slice_eq_str(read->script.statements[0].insert->rows[0].key[0].text, "2"));
    px_text *again = px_text_as_read(&t.worker, read, &test_env);
    assert_ptr_equal(again, read);
    px_text_drop(again);
    px_text_drop(read);
    px_text_drop(text);
}

/* Texts that never come again push out none that do, and take no memory. */
static void texts_that_do_not_come_again_are_not_kept(void **state)
{
    (void)state;
    learn(one);
    unsigned held = t.catalog.references;
    pgw_buf text = {0};
    for (size_t i = 0; i < 3000; i++) {
        pgw_buf_clear(&text);
        pgw_buf_addf(&text, "%s /* %zu */", one, i);
        pgw_buf_add_byte(&text, '\0');
        check(text.ptr);
    }
    assert_int_equal(t.like, 0);
    assert_int_equal(t.catalog.references, held);
    for (size_t i = 0; i < 3000; i++) {
        pgw_buf_clear(&text);
        pgw_buf_addf(&text, "%s /* %zu */", one, i);
        pgw_buf_add_byte(&text, '\0');
        check(text.ptr);
        check(text.ptr);
        assert_true(submit_alike(two));
        come_back(PX_WRITE_GROUP_COMMITTED);
    }
    pgw_buf_free(&text);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(random_texts_are_alike),
        TEST(random_rows_are_alike),
        TEST(texts_of_other_tests_are_alike),
        TEST(the_second_of_its_like_is_learned_from),
        TEST(a_text_that_fails_is_read),
        TEST(a_filled_text_that_fails_is_read),
        TEST(what_it_was_learned_by_must_be_the_same),
        TEST(rows_beyond_limits_are_parsed),
        TEST(numbers_beyond_limits_are_parsed),
        TEST(rows_are_alike_whatever_is_between),
        TEST(a_text_that_is_read_for_once_stays_small),
        TEST(texts_that_do_not_come_again_are_not_kept),
    };
    if (argc > 1)
        texts_by_chance = (size_t)atol(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
