/* What new sessions are greeted with, how long it is believed, and what ends that. */
#include "proxy/backend/base/greeting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

enum { BELIEVED_MS = 60000, KINDS = 1024 };

/* Places of px_greeting_name(). */
enum { VERSION = 0, APPLICATION = 3, ZONE = 8, READ_ONLY = 11, STANDBY = 12 };

static struct {
    px_server server;
    px_worker worker;
    px_identity *identity;
} t;

static px_identity *identity_of(const char *user, const char *database, const char *options,
                                const char *application)
{
    const px_identity from = {.user = (char *)user,
                              .database = (char *)database,
                              .options = (char *)options,
                              .application = (char *)application};
    return px_identity_of(&from);
}

static int setup(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    t.server.greetings = px_greetings_new();
    t.worker.server = &t.server;
    t.worker.loop.time = 1000;
    t.identity = identity_of("u", "d", "", NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_greetings_free(t.server.greetings);
    px_identity_drop(t.identity);
    return 0;
}

static const px_reported plain = {.values = {[VERSION] = "15.1",
                                             [APPLICATION] = "psql",
                                             [ZONE] = "UTC",
                                             [READ_ONLY] = "off",
                                             [STANDBY] = "off"},
                                  .settings = 7};

static void keep(const px_identity *identity)
{
    px_greeting_drop(px_greeting_keep(&t.worker, identity, plain));
}

static bool is_kept(const px_identity *identity)
{
    px_greeting *found = px_greeting_find(&t.worker, identity);
    bool kept = found != NULL;
    px_greeting_drop(found);
    return kept;
}

static void what_a_link_reported_is_kept_for_its_kind(void **state)
{
    (void)state;
    assert_false(is_kept(t.identity));
    px_greeting *kept = px_greeting_keep(&t.worker, t.identity, plain);
    px_greeting *found = px_greeting_find(&t.worker, t.identity);
    assert_ptr_equal(found, kept);
    assert_string_equal(px_greeting_value(found, "server_version"), "15.1");
    assert_string_equal(px_greeting_value(found, "TimeZone"), "UTC");
    assert_string_equal(px_greeting_value(found, "application_name"), "psql");
    assert_null(px_greeting_value(found, "is_superuser"));
    assert_null(px_greeting_value(found, "timezone"));
    assert_int_equal(px_greeting_settings(found), 7);
    px_greeting_drop(found);
    px_greeting_drop(kept);
    px_identity *other = identity_of("u", "e", "", NULL);
    assert_false(is_kept(other));
    px_identity_drop(other);
    assert_null(px_greeting_value(NULL, "TimeZone"));
    assert_int_equal(px_greeting_settings(NULL), 0);
    px_greeting_drop(NULL);
}

static void it_is_believed_for_a_minute(void **state)
{
    (void)state;
    keep(t.identity);
    t.worker.loop.time = 500; /* another worker's clock */
    assert_true(is_kept(t.identity));
    t.worker.loop.time = 1000 + BELIEVED_MS - 1;
    assert_true(is_kept(t.identity));
    t.worker.loop.time = 1000 + BELIEVED_MS;
    assert_false(is_kept(t.identity));
    keep(t.identity); /* in place of it */
    assert_true(is_kept(t.identity));
}

static void it_ends_when_beginnings_change(void **state)
{
    (void)state;
    keep(t.identity);
    px_greeting_renew(&t.worker);
    assert_false(is_kept(t.identity));
    keep(t.identity);
    assert_true(is_kept(t.identity));
}

/* … of its server: all are forgotten. */
static void another_server_ends_all(void **state)
{
    (void)state;
    static const struct {
        const char *version, *standby;
        bool kept;
    } steps[] = {{"15.1", "off", true}, /* the first that was heard of */
                 {"15.1", "off", true}, {"15.2", "off", false}, {"15.2", "off", true},
                 {"15.2", "on", false}, {"15.2", NULL, false},  {NULL, "off", false},
                 {NULL, "off", true}};
    px_identity *other = identity_of("x", "y", "", NULL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        keep(t.identity);
        px_reported reported = {
            .values = {[VERSION] = steps[i].version, [STANDBY] = steps[i].standby}};
        px_greeting_compare(&t.worker, other, reported);
        if (is_kept(t.identity) != steps[i].kept)
            fail_msg("step %zu", i);
    }
    px_identity_drop(other);
}

/* … of its user in its database: those of the same are forgotten. */
static void another_default_ends_those_of_its_kin(void **state)
{
    (void)state;
    static const struct {
        const char *user, *database, *read_only;
        bool kept;
    } cases[] = {{"u", "d", "off", true},
                 {"u", "d", NULL, true},
                 {"u", "d", "on", false},
                 {"v", "d", "on", true},
                 {"u", "e", "on", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        keep(t.identity);
        px_identity *other = identity_of(cases[i].user, cases[i].database, "-c a=b", NULL);
        px_reported reported = plain;
        reported.values[READ_ONLY] = cases[i].read_only;
        px_greeting_compare(&t.worker, other, reported);
        if (is_kept(t.identity) != cases[i].kept)
            fail_msg("case %zu", i);
        px_identity_drop(other);
    }
}

static void no_more_kinds_are_kept_than_fit(void **state)
{
    (void)state;
    char user[16];
    for (unsigned i = 0; i <= KINDS; i++) {
        snprintf(user, sizeof user, "u%u", i);
        px_identity *one = identity_of(user, "d", "", NULL);
        keep(one);
        assert_true(is_kept(one));
        px_identity_drop(one);
        if (i != KINDS - 1)
            continue;
        one = identity_of("u0", "d", "", NULL);
        assert_true(is_kept(one));
        keep(one); /* one more of a kind that is there */
        px_identity_drop(one);
        one = identity_of("u1", "d", "", NULL);
        assert_true(is_kept(one));
        px_identity_drop(one);
    }
    px_identity *gone = identity_of("u1", "d", "", NULL);
    assert_false(is_kept(gone));
    px_identity_drop(gone);
}

/* Names and values of the ParameterStatus messages, with '=' and ';'. */
static void expect_written(const px_greeting *greeting, const px_identity *identity,
                           const char *expected)
{
    pgw_buf out = {0};
    char text[256] = "";
    px_greeting_write(greeting, identity, &out);
    assert_memory_equal(out.ptr, "R\0\0\0\x8\0\0\0", 9);
    for (const char *at = out.ptr + 9; at < out.ptr + out.len;) {
        assert_int_equal(at[0], 'S');
        const char *name = at + 5, *value = name + strlen(name) + 1;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s=%s;", name, value);
        at = value + strlen(value) + 1;
    }
    assert_string_equal(text, expected);
    pgw_buf_free(&out);
}

static void a_session_has_its_own_application_name(void **state)
{
    (void)state;
    px_identity *named = identity_of("u", "d", "", "mine");
    px_greeting *greeting = px_greeting_keep(&t.worker, t.identity, plain);
    expect_written(greeting, t.identity,
                   "server_version=15.1;application_name=psql;TimeZone=UTC;"
                   "default_transaction_read_only=off;in_hot_standby=off;");
    expect_written(greeting, named,
                   "server_version=15.1;application_name=mine;TimeZone=UTC;"
                   "default_transaction_read_only=off;in_hot_standby=off;");
    px_greeting_drop(greeting);
    greeting = px_greeting_keep(&t.worker, named, plain); /* its name is not told to others */
    expect_written(greeting, t.identity,
                   "server_version=15.1;application_name=;TimeZone=UTC;"
                   "default_transaction_read_only=off;in_hot_standby=off;");
    px_greeting_drop(greeting);
    px_identity_drop(named);
}

/* … as its server has it. */
static void an_application_name_is_visible_ascii(void **state)
{
    (void)state;
#define NAME "12345678901234567890123456789012345678901234567890123456789012"
    static const struct {
        const char *application, *version, *told;
    } cases[] = {
        {"", "15.1", ""},
        {"a b~", "15.1", "a b~"},
        {"\x01\xc3\xa4\x7f.", "15.1 (Debian)", "????."},
        {"\xc3\xa4\n", "16.0", "\\xc3\\xa4\\x0a"},
        {"\xc3\xa4", NULL, "??"},
        {NAME "34", "15.1", NAME "3"},
        {NAME "3", "17.2", NAME "3"},
        {NAME "\xc3\xa4", "15.1", NAME}, /* cut between characters */
        {NAME "\x01", "16.1", NAME "\\x01"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf out = {0};
        px_greeting_clean(pgw_slice_str(cases[i].application), cases[i].version, &out);
        pgw_buf_add_byte(&out, '\0');
        assert_string_equal(out.ptr, cases[i].told);
        pgw_buf_free(&out);
    }
    px_identity *named = identity_of("u", "d", "", "\xc3\xa4");
    px_greeting *greeting = px_greeting_keep(&t.worker, t.identity, plain);
    expect_written(greeting, named,
                   "server_version=15.1;application_name=?\?;TimeZone=UTC;"
                   "default_transaction_read_only=off;in_hot_standby=off;");
    px_greeting_drop(greeting);
    px_identity_drop(named);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_a_link_reported_is_kept_for_its_kind),
        TEST(it_is_believed_for_a_minute),
        TEST(it_ends_when_beginnings_change),
        TEST(another_server_ends_all),
        TEST(another_default_ends_those_of_its_kin),
        TEST(no_more_kinds_are_kept_than_fit),
        TEST(a_session_has_its_own_application_name),
        TEST(an_application_name_is_visible_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
