/* Rows that statements of a batch return: each write group gets its own, and nobody gets others
 * than its client was told of. */
#include "batches.h"

typedef struct owner {
    told told; /* first: the write group's `session` */
    char returned[200];
    size_t parts[2]; /* where the rows of each of its statements end */
    bool suspended;
} owner;

static void on_done(px_write_group *write_group)
{
    owner *o = write_group->session;
    for (size_t i = 0; i < write_group->statement_count && i < 2; i++)
        o->parts[i] = write_group->statements[i].returned;
    o->suspended = write_group->statements[0].suspended;
    for (size_t i = 0; i < write_group->returned.len; i++) /* the NULs of lengths */
        o->returned[i] = write_group->returned.ptr[i] == '\0' ? '.' : write_group->returned.ptr[i];
    o->returned[write_group->returned.len] = '\0';
    fake_done(write_group);
}

static px_write_group *returning(px_write_group *write_group)
{
    write_group->done = on_done;
    return write_group;
}

/* A column of this name and type, as a RowDescription has it. */
static pgw_slice columns(const char *name, char type, pgw_buf *out)
{
    pgw_buf_clear(out);
    pgw_buf_add_i16(out, 1);
    pgw_buf_add(out, name, strlen(name) + 1);
    pgw_buf_add(out, "\0\0\0\7\0\1\0\0\0", 9);
    pgw_buf_add_byte(out, type);
    pgw_buf_add(out, "\0\4\xff\xff\xff\xff\0\0", 8);
    return pgw_slice_buf(out);
}

static px_write_group *described_write_group(owner *o, uint64_t key, pgw_slice described)
{
    px_write_group *write_group = returning(params_write_group(&o->told, 0, key, 1));
    write_group->prepared->columns = pgw_arena_copy(&write_group->arena, described);
    return write_group;
}

static void say(fake_link *link, char type, pgw_slice body)
{
    size_t begun = pgw_begin(&link->in, type);
    pgw_buf_add_slice(&link->in, body);
    pgw_end_small(&link->in, begun);
}

static void say_row(fake_link *link, const char *text)
{
    say(link, 'D', pgw_slice_str(text));
}

static void answer_row(fake_link *link, const char *text)
{
    fake_say(link, "2");
    say_row(link, text);
    fake_say(link, "C1");
}

static void expect_row(const owner *o, const char *row)
{
    char expected[64];
    snprintf(expected, sizeof expected, "D...%c%s", (char)(4 + strlen(row)), row);
    expect_committed(&o->told, 1);
    assert_string_equal(o->returned, expected);
}

/* Nothing is run before it is known what it returns; once a link. */
static void test_rows_of_a_batch(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    pgw_buf body = {0};
    pgw_slice described = columns("id", 20, &body);
    owner o[4] = {0};
    submit(described_write_group(&o[0], 1, described));
    assert_string_equal(fake_read(link, NULL), "CPDS");
    submit(described_write_group(&o[1], 3, described));
    submit(described_write_group(&o[2], 2, described));
    fake_say(link, "3 1");
    say(link, 't', PGW_LITERAL("\0\0"));
    say(link, 'T', described);
    fake_answer(link, "Z");
    assert_string_equal(fake_read(link, NULL), "BES");
    answer_row(link, "one");
    fake_answer(link, "Z");
    expect_row(&o[0], "one");
    assert_string_equal(fake_read(link, NULL), "BEBES");
    answer_row(link, "two");
    answer_row(link, "");
    fake_answer(link, "Z");
    expect_row(&o[2], "two");
    expect_row(&o[1], "");
    submit(described_write_group(&o[3], 4, described));
    assert_string_equal(fake_read(link, NULL), "BES");
    fake_say(link, "2");
    say_row(link, "a");
    say(link, 's', PGW_LITERAL(""));
    fake_answer(link, "Z");
    assert_true(o[3].suspended);
    expect_committed(&o[3].told, 0); /* it has no tag */
    pgw_buf_free(&body);
}

/* What is to be run is so long as the statement is there, which it is not any more. */
static void test_other_columns_than_told(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    pgw_buf before = {0}, now = {0};
    owner o[2] = {0};
    submit(described_write_group(&o[0], 1, columns("id", 20, &before)));
    for (size_t attempt = 0; attempt < 2; attempt++) {
        assert_string_equal(fake_read(link, NULL), "CPDS");
        fake_say(link, "3 1");
        say(link, 'T', columns("id", 23, &now));
        fake_answer(link, "Z");
        assert_string_equal(fake_read(link, NULL), "CBES");
        fake_answer(link, "3 E26000 Z");
        expect_failed(&o[attempt].told, "0A000");
        submit(described_write_group(&o[1], 1, columns("id", 20, &before)));
    }
    assert_string_equal(fake_read(link, NULL), "CPDS");
    fake_say(link, "3 1");
    say(link, 'T', columns("id", 20, &now));
    fake_answer(link, "Z");
    answer_row(link, "x");
    fake_answer(link, "Z");
    pgw_buf_free(&before);
    pgw_buf_free(&now);
}

/* Rows of an attempt that failed are nobody's. */
static void test_rows_of_a_failed_batch(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    owner o[3] = {0};
    submit(returning(params_write_group(&o[0].told, 0, 100, 1)));
    submit(returning(params_write_group(&o[1].told, 0, 1, 1)));
    submit(returning(params_write_group(&o[2].told, 0, 2, 2)));
    fake_say(link, "3 1");
    answer_row(link, "first");
    fake_answer(link, "Z");
    fake_read(link, NULL);
    answer_row(link, "not stored");
    fake_answer(link, "2 E23505 Z");
    assert_string_equal(fake_read(link, NULL), "BESBEBES");
    answer_row(link, "stored");
    fake_say(link, "Z");
    answer_row(link, "one");
    answer_row(link, "two");
    fake_answer(link, "Z");
    expect_row(&o[1], "stored");
    assert_string_equal(o[2].returned, "D...\aoneD...\atwo");
    assert_int_equal(o[2].parts[0], 8);
    assert_int_equal(o[2].parts[1], 16);
}

/* What the server says without having been asked is no row of anybody. */
static void test_rows_of_nobody(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    owner o = {0};
    submit(returning(params_write_group(&o.told, 0, 1, 1)));
    fake_say(link, "3 1 2 C1");
    say_row(link, "late");
    fake_answer(link, "Z");
    expect_failed(&o.told, "08007");
    assert_true(link->closed);
}

static void test_texts_with_their_descriptions(void **state)
{
    (void)state;
    fake_link *link = warm_link();
    owner o[3] = {0};
    submit(returning(text_write_group(&o[0].told, 0, 100, 1)));
    submit(returning(text_write_group(&o[1].told, 0, 1, 2)));
    submit(returning(text_write_group(&o[2].told, 0, 5, 1)));
    fake_answer(link, "C1 Z");
    for (const char *row = "abc"; *row != '\0'; row++) {
        char text[] = {*row, '\0'};
        say(link, 'T', pgw_slice_str(text));
        say_row(link, text);
        fake_say(link, "C1");
    }
    fake_answer(link, "Z");
    assert_string_equal(o[1].returned, "T...\005aD...\005aT...\005bD...\005b");
    assert_int_equal(o[1].parts[0], 12);
    assert_string_equal(o[2].returned, "T...\005cD...\005c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows_of_a_batch, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(test_other_columns_than_told, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(test_rows_of_a_failed_batch, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(test_rows_of_nobody, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(test_texts_with_their_descriptions, fake_setup,
                                        fake_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
