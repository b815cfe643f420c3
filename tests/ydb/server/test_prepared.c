/* Statements and portals: what they take is counted to the byte and given back, and what is still
 * in use stays. */
#include "ydb/server/prepared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const pgw_slice columns = {"\0\1c\0", 4};
static const pgw_bind bind = {.portal = {"p", 1},
                              .formats = {"\0\1", 2},
                              .format_count = 1,
                              .values = {"\0\0\0\1x", 5},
                              .value_count = 1,
                              .results = {"\0\1\0\1", 4}};

static pgw_parse parse_of(const char *name)
{
    return (pgw_parse){pgw_slice_str(name), PGW_LITERAL("select $1, $2"),
                       PGW_LITERAL("\0\0\0\27\0\0\0\31"), 2};
}

static pgw_statement *make(pgw_prepared *prepared, const char *name)
{
    pgw_error error;
    pgw_parse parse = parse_of(name);
    pgw_statement *made = pgw_statement_make(prepared, &parse, &error);
    if (made == NULL)
        assert_string_equal(error.sqlstate, "53200");
    return made;
}

static pgw_portal *open_portal(pgw_prepared *prepared, pgw_statement *statement)
{
    pgw_error error;
    pgw_portal *made = pgw_portal_make(prepared, statement, &bind, &error);
    if (made == NULL)
        assert_string_equal(error.sqlstate, "53200");
    return made;
}

static bool describe(pgw_prepared *prepared, pgw_statement *statement)
{
    static const uint32_t types[] = {23, 25, 20};
    pgw_error error;
    return pgw_statement_describe(prepared, statement, types, 3, columns, &error);
}

static void copies_are_whole(void **state)
{
    (void)state;
    pgw_prepared prepared = {.limit = SIZE_MAX};
    pgw_statement *statement = make(&prepared, "s");
    assert_string_equal(statement->named.name.ptr, "s");
    assert_string_equal(statement->source.ptr, "select $1, $2");
    assert_true(pgw_slice_eq(statement->piece.text, statement->source));
    assert_int_equal(statement->type_count, 2);
    assert_true(statement->types[0] == 23 && statement->types[1] == 25);
    pgw_portal *portal = open_portal(&prepared, statement);
    assert_false(portal->returns_rows);
    assert_string_equal(portal->named.name.ptr, "p");
    assert_ptr_equal(portal->bind.portal.ptr, portal->named.name.ptr);
    assert_ptr_equal(portal->bind.statement.ptr, statement->named.name.ptr);
    assert_true(pgw_slice_eq(portal->bind.formats, bind.formats));
    assert_true(pgw_slice_eq(portal->bind.values, bind.values));
    assert_true(pgw_slice_eq(portal->bind.results, bind.results));
    assert_true(portal->bind.formats.ptr != bind.formats.ptr);
    assert_int_equal(portal->bind.value_count, 1);
    pgw_portal_drop(&prepared, portal);
    assert_true(describe(&prepared, statement));
    assert_int_equal(statement->type_count, 3);
    assert_int_equal(statement->types[2], 20);
    assert_true(pgw_slice_eq(statement->columns, columns));
    portal = open_portal(&prepared, statement);
    assert_true(portal->returns_rows);
    pgw_portal_drop(&prepared, portal);
    statement->declares = true;
    portal = open_portal(&prepared, statement);
    assert_false(portal->returns_rows);
    pgw_portal_drop(&prepared, portal);
    pgw_statement_release(&prepared, statement);
    assert_int_equal(prepared.bytes, 0);
    pgw_prepared_free(&prepared);
}

static void commands_are_of_what_was_bound(void **state)
{
    (void)state;
    pgw_statement read = {.piece.command = PGW_COMMAND_READ},
                  write = {.piece.command = PGW_COMMAND_WRITE},
                  declare = {.piece.command = PGW_COMMAND_WRITE, .declares = true};
    assert_int_equal(pgw_statement_command(&write), PGW_COMMAND_WRITE);
    assert_int_equal(pgw_statement_command(&declare), PGW_COMMAND_DECLARE);
    static const struct {
        bool empty, cursor, ordered;
        pgw_command command;
    } cases[] = {
        {false, false, false, PGW_COMMAND_WRITE},
        {false, false, true, PGW_COMMAND_READ},
        {false, true, false, PGW_COMMAND_READ},
        {true, true, true, PGW_COMMAND_EMPTY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pgw_portal portal = {.statement = &write,
                                   .order = cases[i].ordered ? &read : NULL,
                                   .empty = cases[i].empty,
                                   .cursor = cases[i].cursor};
        assert_int_equal(pgw_portal_command(&portal), cases[i].command);
    }
}

/* Each takes what it takes, and is made where there is just so much left, and not a byte less. */
static void memory_is_bounded(void **state)
{
    (void)state;
    pgw_prepared all = {.limit = SIZE_MAX};
    pgw_statement *statement = make(&all, "s");
    const size_t made = all.bytes;
    assert_int_equal(made, sizeof *statement + 1 + 13 + 2 + 2 * sizeof(uint32_t));
    assert_true(describe(&all, statement));
    const size_t described = all.bytes;
    assert_int_equal(described, made + sizeof(uint32_t) + columns.len + 1);
    pgw_portal *portal = open_portal(&all, statement);
    const size_t opened = all.bytes;
    assert_int_equal(opened, described + sizeof *portal + 1 + 2 + 5 + 4 + 4);
    pgw_portal_drop(&all, portal);
    assert_int_equal(all.bytes, described);
    pgw_statement_release(&all, statement);
    assert_int_equal(all.bytes, 0);
    pgw_prepared_free(&all);
    for (size_t less = 0; less < 2; less++) {
        pgw_prepared few = {.limit = made - less};
        statement = make(&few, "s");
        assert_int_equal(statement == NULL, less);
        statement = less == 0 ? statement : (few.limit = made, make(&few, "s"));
        few.limit = described - less;
        assert_int_equal(describe(&few, statement), less == 0);
        few.limit = described;
        assert_true(less == 0 || describe(&few, statement));
        few.limit = opened - less;
        assert_int_equal(open_portal(&few, statement) == NULL, less);
        few.limit = 0; /* … which is none for what is more than all */
        assert_null(make(&few, "t"));
        pgw_prepared_enter(&few, statement);
        pgw_prepared_free(&few);
        assert_int_equal(few.bytes, 0);
    }
}

/* A statement that is closed is there while its portals are, and a portal while it is run. */
static void what_is_in_use_stays(void **state)
{
    (void)state;
    pgw_prepared prepared = {.limit = SIZE_MAX};
    pgw_statement *statement = make(&prepared, "s"), *other = make(&prepared, "t");
    pgw_prepared_enter(&prepared, statement);
    pgw_prepared_enter(&prepared, other);
    assert_ptr_equal(pgw_prepared_statement(&prepared, PGW_LITERAL("s")), statement);
    pgw_portal *portal = open_portal(&prepared, statement);
    assert_int_equal(statement->users, 2);
    pgw_portal_point(&prepared, portal, other); /* EXECUTE t */
    assert_true(portal->order == statement && portal->statement == other);
    pgw_portal_point(&prepared, portal, statement);
    assert_true(portal->order == statement && portal->statement == statement);
    assert_int_equal(other->users, 1);
    assert_int_equal(statement->users, 3);
    pgw_prepared_close(&prepared, PGW_LITERAL("s"));
    pgw_prepared_close(&prepared, PGW_LITERAL("s"));
    assert_null(pgw_prepared_statement(&prepared, PGW_LITERAL("s")));
    assert_int_equal(statement->users, 2);
    portal->live = true;
    pgw_portals_fail(&prepared);
    assert_true(portal->failed && portal->ending && prepared.ending == portal);
    pgw_portal_end(&prepared, portal); /* once is enough */
    assert_null(portal->next_ending);
    pgw_portals_drop(&prepared, portal);
    assert_ptr_equal(pgw_prepared_portal(&prepared, PGW_LITERAL("p")), portal);
    pgw_portals_drop(&prepared, NULL);
    assert_null(pgw_prepared_portal(&prepared, PGW_LITERAL("p")));
    assert_true(prepared.bytes > other->bytes);
    pgw_portal_has_ended(&prepared);
    assert_null(prepared.ending);
    assert_int_equal(prepared.bytes, other->bytes);
    pgw_prepared_close_all(&prepared, false);
    assert_int_equal(prepared.bytes, 0);
    pgw_prepared_enter(&prepared, make(&prepared, ""));
    pgw_prepared_close_all(&prepared, false);
    assert_non_null(pgw_prepared_statement(&prepared, PGW_LITERAL("")));
    pgw_prepared_close_all(&prepared, true);
    assert_int_equal(prepared.bytes, 0);
    pgw_prepared_free(&prepared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_whole),
        cmocka_unit_test(commands_are_of_what_was_bound),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(what_is_in_use_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
