/* Who may share batches with whom, and what reported settings mean for values. */
#include "proxy/backend/base/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct parts {
    const char *user, *database, *options, *application, *replication, *password, *zone;
    uint64_t settings;
} parts;

static char *text(const char *constant)
{
    return (char *)constant; /* it is copied */
}

static px_identity *make(const parts *from)
{
    const px_identity identity = {.user = text(from->user),
                                  .database = text(from->database),
                                  .options = text(from->options),
                                  .application = text(from->application),
                                  .replication = text(from->replication),
                                  .password = text(from->password),
                                  .zone = text(from->zone),
                                  .settings = from->settings,
                                  .env = {.utf8 = true, .zone_seconds = 7}};
    return px_identity_of(&identity);
}

static void all_is_copied(void **state)
{
    (void)state;
    const parts from = {"u", "d", "-c a=b -c statement_timeout=5", "app", "true", "pw", "UTC", 3};
    px_identity *identity = make(&from);
    assert_string_equal(identity->user, "u");
    assert_string_equal(identity->database, "d");
    assert_string_equal(identity->options, from.options);
    assert_string_equal(identity->shared, "-c a=b");
    assert_string_equal(identity->application, "app");
    assert_string_equal(identity->replication, "true");
    assert_string_equal(identity->password, "pw");
    assert_string_equal(identity->zone, "UTC");
    assert_int_equal(identity->settings, 3);
    assert_int_equal(identity->statement_timeout, 5);
    assert_true(identity->env.utf8);
    assert_int_equal(identity->env.zone_seconds, 7);
    assert_string_equal(identity->key, "u1:ud1:dr4:truep2:pwo6:-c a=bs3");
    px_identity_drop(identity);
}

/* Each with the first one. */
static void keys_tell_identities_apart(void **state)
{
    (void)state;
    static const struct {
        parts parts;
        bool same;
    } cases[] = {
        {{"ab", "c", "", NULL, NULL, NULL, NULL, 0}, true},
        {{"ab", "c", "-c lock_timeout=1", NULL, NULL, NULL, NULL, 0}, true},
        {{"ab", "c", "", "psql", NULL, NULL, NULL, 0}, true},
        {{"ab", "c", "", NULL, NULL, NULL, "UTC", 0}, true},
        {{"a", "bc", "", NULL, NULL, NULL, NULL, 0}, false},
        {{"ab", "d", "", NULL, NULL, NULL, NULL, 0}, false},
        {{"aB", "c", "", NULL, NULL, NULL, NULL, 0}, false},
        {{"ab", "c", "-c a=b", NULL, NULL, NULL, NULL, 0}, false},
        {{"ab", "c", "", NULL, "true", NULL, NULL, 0}, false},
        {{"ab", "c", "", NULL, NULL, "", NULL, 0}, false},
        {{"ab", "c", "", NULL, NULL, "pw", NULL, 0}, false},
        {{"ab", "c", "", NULL, NULL, NULL, NULL, 1}, false},
        {{"ab", "c", "", NULL, NULL, NULL, NULL, UINT64_C(1) << 63}, false},
    };
    px_identity *first = make(&cases[0].parts);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_identity *other = make(&cases[i].parts);
        if ((strcmp(first->key, other->key) == 0) != cases[i].same)
            fail_msg("case %zu: %s and %s", i, first->key, other->key);
        px_identity_drop(other);
    }
    px_identity_drop(first);
}

static void the_last_reference_frees(void **state)
{
    (void)state;
    const parts from = {"u", "d", "", NULL, NULL, NULL, NULL, 0};
    px_identity *identity = make(&from);
    assert_ptr_equal(px_identity_take(identity), identity);
    px_identity_drop(identity);
    assert_string_equal(identity->user, "u");
    px_identity_drop(identity); /* a leak or a second free would be seen */
    px_identity_drop(NULL);
}

static void zones_of_fixed_offset_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *zone;
        bool known;
        int32_t seconds;
    } cases[] = {
        {"UTC", true, 0},
        {"GMT", true, 0},
        {"Etc/UTC", true, 0},
        {"Etc/GMT", true, 0},
        {"Zulu", true, 0},
        {"Universal", true, 0},
        {"UCT", true, 0},
        {"<+03>-03", true, 10800},
        {"<-07>+07", true, -25200},
        {"<+00>-00", true, 0},
        {"<+14>-14", true, 50400},
        {"<+03>+03", false, 0},
        {"<-07>-07", false, 0},
        {"<+03>-04", false, 0},
        {"<+3>-3", false, 0},
        {"<+03>-03x", false, 0},
        {"<+0530>-05:30", false, 0},
        {"< 03>-03", false, 0},
        {"< 03>+03", false, 0},
        {"Europe/Berlin", false, 0},
        {"utc", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_env env = px_identity_env("UTF8", cases[i].zone, "on");
        if (env.zone_known != cases[i].known ||
            (env.zone_known && env.zone_seconds != cases[i].seconds))
            fail_msg("%s: %d %d", cases[i].zone, env.zone_known, env.zone_seconds);
    }
    assert_false(px_identity_env("UTF8", NULL, "on").zone_known);
}

static void encodings_are_read_as_postgres_reads_them(void **state)
{
    (void)state;
    static const struct {
        const char *encoding;
        bool utf8;
    } cases[] = {{"UTF8", true},
                 {"utf8", true},
                 {"UTF-8", true},
                 {"Unicode", true},
                 {"u t_f.8", true},
                 {"LATIN1", false},
                 {"UTF88", false},
                 {"UTF", false},
                 {"", false},
                 {"UTF16", false},
                 {"UNICODE0", false},
                 {"SQL_ASCII", false},
                 {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false},
                 {"-----------------UTF8", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (px_identity_env(cases[i].encoding, NULL, NULL).utf8 != cases[i].utf8)
            fail_msg("%s", cases[i].encoding);
    assert_false(px_identity_env(NULL, NULL, NULL).utf8);
}

static void strings_conform_unless_told_otherwise(void **state)
{
    (void)state;
    assert_true(px_identity_env(NULL, NULL, NULL).conforming);
    assert_true(px_identity_env(NULL, NULL, "on").conforming);
    assert_false(px_identity_env(NULL, NULL, "off").conforming);
}

/* Constants that one has read are right for the other: only what decides how dates, times and
 * intervals are read counts, and what was set last. */
static void who_reads_alike(void **state)
{
    (void)state;
    static const struct {
        const char *options, *zone;
        const char *other_options, *other_zone;
        bool alike;
    } cases[] = {
        {"", NULL, "", NULL, true},
        {"", "UTC", "", "UTC", true},
        {"", "UTC", "", "Asia/Tokyo", false},
        {"", "UTC", "", NULL, false},
        {"", NULL, "", "", true},
        {"-c search_path=a", NULL, "-c search_path=b", NULL, true},
        {"-c datestyle=ISO,\\ DMY", NULL, "-c datestyle=ISO,\\ DMY", NULL, true},
        {"-c datestyle=ISO,\\ DMY", NULL, "-c datestyle=ISO,\\ MDY", NULL, false},
        {"-c datestyle=DMY", NULL, "-c datestyle=DMYX", NULL, false},
        {"-c datestyle=DMY", NULL, "", NULL, false},
        {"-c datestyle=DMY -c a=b", NULL, "-c a=c -c datestyle=DMY", NULL, true},
        {"-c datestyle=MDY -c datestyle=DMY", NULL, "-c datestyle=DMY", NULL, true},
        {"-c datestyle=DMY -c datestyle=MDY", NULL, "-c datestyle=DMY", NULL, false},
        {"-c xdatestyle=DMY", NULL, "", NULL, true},
        {"-c datestyle=DMY\\", NULL, "-c datestyle=DMY\\", NULL, true},
        {"-c intervalstyle=iso_8601", NULL, "-c intervalstyle=postgres", NULL, false},
        {"-c intervalstyle=iso_8601", NULL, "-c intervalstyle=iso_8601", NULL, true},
        {"-c intervalstyle=DMY", NULL, "-c datestyle=DMY", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const parts one = {"u", "d", cases[i].options, NULL, NULL, NULL, cases[i].zone, 0};
        const parts two = {"v",  "e", cases[i].other_options, "app",
                           NULL, "p", cases[i].other_zone,    1};
        px_identity *a = make(&one), *b = make(&two);
        if (px_identity_reads_alike(a, b) != cases[i].alike ||
            px_identity_reads_alike(b, a) != cases[i].alike)
            fail_msg("case %zu", i);
        px_identity_drop(a);
        px_identity_drop(b);
    }
}

/* What the server told them is not what they asked for, and counts as well. */
static void who_shares(void **state)
{
    (void)state;
    static const px_identity cases[] = {
        {.zone = "UTC", .dates = "ISO, MDY", .intervals = "postgres"},
        {.zone = "UTC", .dates = "ISO, MDY", .intervals = "postgres", .application = "psql"},
        {.zone = "Asia/Tokyo", .dates = "ISO, MDY", .intervals = "postgres"},
        {.zone = "UTC", .dates = "ISO, DMY", .intervals = "postgres"},
        {.zone = "UTC", .dates = "ISO, MDY", .intervals = "iso_8601"},
        {.zone = "UTC", .intervals = "postgres"},
    };
    px_identity *made[sizeof cases / sizeof *cases];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_identity from = cases[i];
        from.user = from.database = from.options = text("");
        made[i] = px_identity_of(&from);
        px_identity like = px_identity_like(made[i]);
        px_identity *again = px_identity_of(&like);
        assert_ptr_equal(again, made[i]);
        px_identity_drop(again);
        assert_int_equal(px_identity_shares(made[0], made[i]), i < 2);
        assert_int_equal(px_identity_reads_alike(made[i], made[0]), i < 2);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        px_identity_drop(made[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_shares),
        cmocka_unit_test(all_is_copied),
        cmocka_unit_test(keys_tell_identities_apart),
        cmocka_unit_test(the_last_reference_frees),
        cmocka_unit_test(zones_of_fixed_offset_are_known),
        cmocka_unit_test(encodings_are_read_as_postgres_reads_them),
        cmocka_unit_test(who_reads_alike),
        cmocka_unit_test(strings_conform_unless_told_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
