/* Tables that YDB was asked for: how they are asked for, found, and forgotten. */
#include "ydb/endpoint/learned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static px_ydb_learned learned;

static int teardown(void **state)
{
    (void)state;
    px_ydb_learned_forget(&learned);
    assert_null(learned.tables);
    return 0;
}

/* The body of a RowDescription: of each column its type. */
static void add_columns(pgw_buf *out, const char *const *names, const uint32_t *types,
                        uint16_t count)
{
    pgw_buf_add_i16(out, (int16_t)count);
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add(out, names[i], strlen(names[i]) + 1);
        pgw_buf_add(out, "tttt##", 6);
        pgw_buf_add_i32(out, (int32_t)types[i]);
        pgw_buf_add(out, "ssmmmmff", 8);
    }
}

static rw_relation named(const char *schema, const char *name)
{
    return (rw_relation){.schema = schema, .name = name};
}

static void add(const rw_relation *relation, uint64_t until)
{
    static const char *const names[] = {"k", "V"};
    static const uint32_t types[] = {20, 25};
    pgw_buf columns = {0};
    add_columns(&columns, names, types, 2);
    px_ydb_learned_add(&learned, relation, pgw_slice_buf(&columns), until);
    pgw_buf_free(&columns);
}

static const rw_table *find(const char *schema, const char *name)
{
    return rw_catalog_find(px_ydb_learned_now(&learned, 0), pgw_slice_str(schema),
                           pgw_slice_str(name));
}

static void columns_have_their_names_and_types(void **state)
{
    (void)state;
    const rw_relation t = named("", "t");
    add(&t, 10);
    const rw_table *table = find("", "t");
    assert_non_null(table);
    assert_int_equal(table->column_count, 2);
    assert_int_equal(table->hash_column, 2); /* none is */
    assert_string_equal(table->columns[0].name, "k");
    assert_int_equal(table->columns[0].type, 20);
    assert_string_equal(table->columns[1].name, "V");
    assert_int_equal(table->columns[1].type, 25);
    assert_ptr_equal(find("public", "t"), table);
    assert_null(find("other", "t"));
}

/* Of a description that is cut off, what there is; nothing is read behind its end. */
static void a_description_may_end_anywhere(void **state)
{
    (void)state;
    static const char *const names[] = {"k", "V"};
    static const uint32_t types[] = {20, 25};
    pgw_buf columns = {0};
    const rw_relation t = named("", "t");
    add_columns(&columns, names, types, 2);
    for (size_t len = 0; len < columns.len; len++) {
        char *part = malloc(len + 1);
        memcpy(part, columns.ptr, len);
        part = realloc(part, len > 0 ? len : 1);
        px_ydb_learned_add(&learned, &t, (pgw_slice){part, len}, 10);
        free(part);
        const rw_table *table = find("", "t");
        assert_int_equal(table->column_count, len < 2 ? 0 : 2);
        px_ydb_learned_forget(&learned);
    }
    pgw_buf_free(&columns);
}

static void a_table_that_is_not_there_is_not_asked_for_again(void **state)
{
    (void)state;
    const rw_relation t = named("", "t");
    assert_ptr_equal(px_ydb_learned_lacks(&learned, &t), &t);
    px_ydb_learned_add(&learned, &t, (pgw_slice){NULL, 0}, 10);
    assert_null(px_ydb_learned_lacks(&learned, &t));
    assert_int_equal(find("", "t")->column_count, 0);
}

static void the_first_that_is_lacking_is_asked_for(void **state)
{
    (void)state;
    rw_relation c = named("s", "a"), b = named("", "b"), a = named("", "a");
    a.next = &b;
    b.next = &c;
    assert_null(px_ydb_learned_lacks(&learned, NULL));
    assert_ptr_equal(px_ydb_learned_lacks(&learned, &a), &a);
    add(&a, 10);
    assert_ptr_equal(px_ydb_learned_lacks(&learned, &a), &b);
    add(&b, 10);
    assert_ptr_equal(px_ydb_learned_lacks(&learned, &a), &c); /* another one's schema */
    add(&c, 10);
    assert_null(px_ydb_learned_lacks(&learned, &a));
    px_ydb_learned_forget(&learned);
    add(&c, 10);
    assert_ptr_equal(px_ydb_learned_lacks(&learned, &a), &a);
}

static void what_is_asked_is_quoted(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *name, *text;
    } table[] = {
        {"", "t", "SELECT * FROM \"t\""},
        {"public", "t", "SELECT * FROM \"public\".\"t\""},
        {"S \"x", "a\"; drop table b; --", "SELECT * FROM \"S \"\"x\".\"a\"\"; drop table b; --\""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pgw_buf text = {0};
        const rw_relation relation = named(table[i].schema, table[i].name);
        px_ydb_learned_ask(&relation, &text);
        assert_true(pgw_slice_eq_str(pgw_slice_buf(&text), table[i].text));
        pgw_buf_free(&text);
    }
}

static void each_is_believed_for_its_time(void **state)
{
    (void)state;
    const rw_relation a = named("", "a"), b = named("", "b"), c = named("", "c");
    add(&a, 10);
    add(&b, 30);
    add(&c, 20);
    assert_int_equal(px_ydb_learned_now(&learned, 9)->count, 3);
    assert_int_equal(px_ydb_learned_now(&learned, 10)->count, 2);
    assert_int_equal(px_ydb_learned_now(&learned, 20)->count, 1);
    assert_non_null(find("", "b"));
    assert_int_equal(px_ydb_learned_now(&learned, 30)->count, 0);
    add(&a, 50);
    px_ydb_learned_forget(&learned);
    assert_int_equal(px_ydb_learned_now(&learned, 0)->count, 0);
}

/* However many tables statements name: the oldest go. */
static void they_are_bounded(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i);
        const rw_relation relation = named("", name);
        add(&relation, 10);
    }
    assert_int_equal(learned.count, 256);
    assert_null(find("", "t43"));
    assert_non_null(find("", "t44"));
    assert_non_null(find("", "t299"));
}

/* A statement that names more than are kept is not asked about for ever. */
static void asking_ends(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static char names[MANY][16];
    static rw_relation list[MANY];
    const rw_relation *lacks;
    size_t asked = 0;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "t%zu", i);
        list[i] = named("", names[i]);
        list[i].next = i + 1 < MANY ? &list[i + 1] : NULL;
    }
    for (; (lacks = px_ydb_learned_lacks(&learned, list)) != NULL; asked++) {
        assert_true(asked < MANY);
        add(lacks, 10);
    }
    assert_int_equal(asked, 256);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(columns_have_their_names_and_types),
        TEST(a_description_may_end_anywhere),
        TEST(a_table_that_is_not_there_is_not_asked_for_again),
        TEST(the_first_that_is_lacking_is_asked_for),
        TEST(what_is_asked_is_quoted),
        TEST(each_is_believed_for_its_time),
        TEST(they_are_bounded),
        TEST(asking_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
