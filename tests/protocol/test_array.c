/* Arrays as PostgreSQL writes and reads them, of one dimension. */
#include "protocol/array.h"
#include "tests/protocol/wire_vectors.h"

enum { MOST = 4, KNOWN = 56 };

/* The elements with bars between, or NULL where they are not known. */
static const struct {
    const char *text, *elements;
} TEXTS[] = {
    {"{}", ""},
    {" { } ", ""},
    {"{1}", "1"},
    {"{1,2,3,4}", "1|2|3|4"},
    {"{1,2,3,4,5}", NULL}, /* more than MOST */
    {"{ 1 ,\t2\n}", "1|2"},
    {"{a b , c}", "a b|c"},
    {"{\"\"}", ""},
    {"{\"\",a}", "|a"},
    {"{\"a\\\"b\\\\c\",\"{,}\"}", "a\"b\\c|{,}"},
    {"{\"null\",nul,nulls}", "null|nul|nulls"},
    {"{null}", NULL},
    {"{1,NULL}", NULL},
    {"{,}", NULL},
    {"{1,}", NULL},
    {"{,1}", NULL},
    {"{1", NULL},
    {"{", NULL},
    {"{1}2", NULL},
    {"{\"a}", NULL},
    {"{\"a\\", NULL},
    {"{\"a\"b}", NULL},
    {"{a\"b\"}", NULL},
    {"{a\\,b}", NULL},
    {"{{1}}", NULL},
    {"{1,{2}}", NULL},
    {"[0:0]={1}", NULL},
    {"1", NULL},
    {"", NULL},
};

static void check(pgw_verdict verdict, const pgw_array *found, const char *elements)
{
    pgw_buf joined = {0};
    assert_int_equal(verdict, elements != NULL ? PGW_KNOWN : PGW_UNKNOWABLE);
    for (size_t i = 0; elements != NULL && i < found->count; i++) {
        pgw_buf_add_str(&joined, i > 0 ? "|" : "");
        pgw_buf_add_slice(&joined, found->list[i]);
    }
    if (elements != NULL)
        assert_true(pgw_slice_eq_str(pgw_slice_buf(&joined), elements));
    pgw_buf_free(&joined);
}

static void test_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        pgw_arena arena = {0};
        pgw_array found;
        pgw_slice text = exact(pgw_slice_str(TEXTS[i].text));
        check(pgw_array_from_text(text, MOST, &arena, &found), &found, TEXTS[i].elements);
        exact_free(text);
        pgw_arena_free(&arena);
    }
}

/* What stands in front of an array's elements. */
typedef struct head {
    int32_t dimensions, nulls, type, count;
} head;

static void check_binary(head it, pgw_slice behind, const char *elements)
{
    pgw_arena arena = {0};
    pgw_buf out = {0};
    pgw_array found;
    pgw_buf_add_i32(&out, it.dimensions);
    pgw_buf_add_i32(&out, it.nulls);
    pgw_buf_add_i32(&out, it.type);
    if (it.dimensions > 0) {
        pgw_buf_add_i32(&out, it.count);
        pgw_buf_add_i32(&out, 1);
    }
    pgw_buf_add_slice(&out, behind);
    pgw_slice bytes = exact(pgw_slice_buf(&out));
    check(pgw_array_from_binary(PGW_TEXT, bytes, MOST, &arena, &found), &found, elements);
    for (size_t cut = 0; elements != NULL && cut < bytes.len; cut++) {
        pgw_slice part = exact((pgw_slice){bytes.ptr, cut});
        check(pgw_array_from_binary(PGW_TEXT, part, MOST, &arena, &found), &found, NULL);
        exact_free(part);
    }
    exact_free(bytes);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* So many empty ones. */
static void check_many(int32_t count, bool known)
{
    char elements[MOST + 2] = {0}, bytes[4 * (MOST + 1)] = {0};
    memset(elements, '|', (size_t)count - 1);
    check_binary((head){1, 0, PGW_TEXT, count}, (pgw_slice){bytes, 4 * (size_t)count},
                 known ? elements : NULL);
}

static void test_binary(void **state)
{
    (void)state;
    const pgw_slice two = PGW_LITERAL("\0\0\0\2ab\0\0\0\0"), none = {NULL, 0};
    const pgw_slice null = PGW_LITERAL("\0\0\0\1a\377\377\377\377");
    check_binary((head){1, 0, PGW_TEXT, 2}, two, "ab|");
    check_binary((head){1, 1, PGW_TEXT, 2}, two, "ab|");
    check_binary((head){0, 0, PGW_TEXT, 0}, none, "");
    check_many(MOST, true);
    check_many(MOST + 1, false);
    check_binary((head){1, 0, PGW_TEXT, 0}, none, "");
    check_binary((head){1, 1, PGW_TEXT, 2}, null, NULL);
    check_binary((head){1, 2, PGW_TEXT, 2}, two, NULL);
    check_binary((head){1, 0, PGW_VARCHAR, 2}, two, NULL);
    check_binary((head){1, 0, PGW_TEXT, 1}, two, NULL); /* more than it says */
    check_binary((head){1, 0, PGW_TEXT, 3}, two, NULL);
    check_binary((head){0, 0, PGW_TEXT, 0}, two, NULL);
    check_binary((head){2, 0, PGW_TEXT, 2}, two, NULL);
    check_binary((head){1, 0, PGW_TEXT, -1}, two, NULL);
    check_binary((head){1, 0, PGW_TEXT, MOST + 1},
                 PGW_LITERAL("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NULL);
}

static void test_types(void **state)
{
    (void)state;
    assert_int_equal(pgw_array_of(PGW_INT8), 1016);
    assert_int_equal(pgw_array_element(1009), PGW_TEXT);
    assert_int_equal(pgw_array_of(1016), PGW_UNSPECIFIED);
    assert_int_equal(pgw_array_element(PGW_INT8), PGW_UNSPECIFIED);
}

/* As pg_type has them: name | oid | oid of its array; not all of them are known here. */
static void test_oids(void **state)
{
    (void)state;
    unsigned type, array, known = 0;
    FILE *file = fopen(VECTORS "/plain/oids.txt", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "#%*[^\n]\n"), 0);
    while (fscanf(file, "%*[^|]|%u|%u\n", &type, &array) == 2) {
        if (pgw_array_of(type) == PGW_UNSPECIFIED)
            continue;
        assert_int_equal(pgw_array_of(type), array);
        assert_int_equal(pgw_array_element(array), type);
        known++;
    }
    assert_true(feof(file));
    assert_int_equal(known, KNOWN);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_oids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
