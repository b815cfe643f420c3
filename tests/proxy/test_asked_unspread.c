/* What `check` says of tables that the backend has without their hash: of entries and of patterns,
 * where it can be asked at all. */
#define _GNU_SOURCE
#include "tests/proxy/asking.h"

#define WARNING(line, table, column)                                                               \
    line ": warning: table " table                                                                 \
         " is not spread: the backend has it without the hash column " column                      \
         " in its primary key\n"
/* Of an entry, by what is bound to the question; of all patterns. */
#define ENTRY(values, rows)                                                                        \
    {                                                                                              \
        values, rows, NULL                                                                         \
    }
#define PATTERNS(rows)                                                                             \
    {                                                                                              \
        " and c.oid not in (select m.oid", rows, NULL                                              \
    }
/* Of all tables, the first columns of their keys. */
#define ORDERS(rows)                                                                               \
    {                                                                                              \
        "a.attnum = i.indkey[0]", rows, NULL                                                       \
    }
/* How many tables there are. */
#define COUNT(rows)                                                                                \
    {                                                                                              \
        "select pg_catalog.count(*)", rows, NULL                                                   \
    }
#define BEGINS(line, table, column)                                                                \
    line                                                                                           \
        ": warning: the primary key of table " table " begins with the hash column " column        \
        ": reads in the order of the key or by a range of it (ORDER BY, max(), BETWEEN) read the " \
        "whole table; docs/migrate.md says how the hash comes last\n"
#define T_IS(rows) ENTRY("publicta_hash", rows)
#define U_IS(rows) ENTRY("appuhash_of_u", rows)

static const asking cases[] = {
    {"check @",
     {SETTINGS, T_IS(""), U_IS(""), PATTERNS(""), ORDERS(""), COUNT("61")},
     0,
     "%: no mistakes; 4 entries, 61 tables\n",
     "",
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS("x"), U_IS(""), PATTERNS(""), ORDERS(""), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" WARNING("3", "public.t", "a_hash"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS(""), U_IS("x"), PATTERNS(""), ORDERS(""), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" WARNING("4", "app.u", "hash_of_u"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS("x"), U_IS("x"), PATTERNS(""), ORDERS(""), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "*" WARNING("4", "app.u", "hash_of_u"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS(""), U_IS(""), PATTERNS("public|log_7"), ORDERS(""), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" WARNING("5", "public.log_7", "h"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS(""), U_IS(""), PATTERNS("other|log_7\nlog_8|public\napp|day_1"), ORDERS(""),
      COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" WARNING("6", "app.day_1", "a_hash"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS(""), U_IS(""), PATTERNS("app|day_1\napp|day_2"), ORDERS(""), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "*" WARNING("6", "app.day_2", "a_hash"),
     NULL,
     NULL},
    /* keys that begin with the hash, but where the file asks for that */
    {"check @",
     {SETTINGS, T_IS(""), U_IS(""), PATTERNS(""), ORDERS("public|t|a\napp|u|hash_of_u\napp|v|h"),
      COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" BEGINS("4", "app.u", "hash_of_u"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS(""), U_IS(""), PATTERNS(""), ORDERS("public|t|h\npublic|log_7|h"), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" BEGINS("5", "public.log_7", "h"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS, T_IS(""), U_IS(""), PATTERNS(""), ORDERS("app|day_1|a_hash"), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" BEGINS("6", "app.day_1", "a_hash"),
     NULL,
     NULL},
    /* who cannot be asked says nothing against it */
    {"check @",
     {SETTINGS,
      T_IS(""),
      U_IS(""),
      PATTERNS(""),
      {"a.attnum = i.indkey[0]", "public|t|a_hash", "42501"},
      COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "",
     NULL,
     NULL},
    {"check @",
     {SETTINGS, {"publicta_hash", "x", "42501"}, U_IS(""), PATTERNS(NULL), ORDERS(""), COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "",
     NULL,
     NULL},
    {"check @",
     {SETTINGS,
      T_IS(""),
      U_IS(""),
      {" and c.oid not in (select m.oid", "public|log_7", "42501"},
      ORDERS(""),
      COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "",
     NULL,
     NULL},
    {"check @",
     {{"set client_encoding", NULL, "22023"}},
     0,
     "%: no mistakes; 4 entries\n",
     "",
     NULL,
     NULL},
    {"check @", {SETTINGS}, 0, "%: no mistakes; 4 entries\n", "", "host=/nowhere", NULL},
    /* the question, as it is sent */
    {"check @",
     {SETTINGS,
      ENTRY("select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = "
            "c.relnamespace left join pg_catalog.pg_index i on i.indrelid = c.oid and "
            "i.indisprimary left join pg_catalog.pg_attribute h on h.attrelid = c.oid and "
            "h.attname = $3 and h.attnum > 0 and not h.attisdropped where n.nspname = $1 and "
            "c.relname = $2 and c.relkind in ('r', 'p') and (h.attnum is null or h.attnum "
            "<> all (i.indkey))",
            ""),
      {" where ((n.nspname = 'public' and ", "public|log_9", NULL},
      ORDERS(""),
      COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" WARNING("5", "public.log_9", "h"),
     NULL,
     NULL},
    {"check @",
     {SETTINGS,
      ENTRY("(h.attnum is null", ""),
      {" or (n.nspname = 'app' and ", "app|day_9", NULL},
      ORDERS(""),
      COUNT("0")},
     0,
     "%: no mistakes; 4 entries, 0 tables\n",
     "%:" WARNING("6", "app.day_9", "a_hash"),
     NULL,
     NULL},
};

static void every_case_is_as_told(void **state)
{
    (void)state;
    ask_each(cases, sizeof cases / sizeof *cases,
             "  - { name: t, primary_key: [a], hash_function: xxh3 }\n"
             "  - { name: app.u, primary_key: [a], hash_column: hash_of_u, hash_function: xxh3 }\n"
             "  - { name: \"log_*\", primary_key: auto, hash_column: h, hash_function: xxh3 }\n"
             "  - { name: \"app.day_*\", primary_key: [a], hash_function: xxh3 }\n");
}

static void without_patterns_none_are_asked_for(void **state)
{
    (void)state;
    static const asking entries[] = {
        {"check @",
         {SETTINGS, T_IS("x"), ORDERS("public|t|b")},
         0,
         "%: no mistakes; 1 table\n",
         "%:" WARNING("3", "public.t", "a_hash"),
         NULL,
         NULL},
    };
    static const asking patterns[] = {
        {"check @",
         {SETTINGS, PATTERNS("public|log_7"), ORDERS(""), COUNT("1")},
         0,
         "%: no mistakes; 1 entry, 1 table\n",
         "%:" WARNING("3", "public.log_7", "a_hash"),
         NULL,
         NULL},
    };
    ask_each(entries, 1, "  - { name: t, primary_key: [a], hash_function: xxh3 }\n");
    ask_each(patterns, 1, "  - { name: \"log_*\", primary_key: [a], hash_function: xxh3 }\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_case_is_as_told, start, stop),
        cmocka_unit_test_setup_teardown(without_patterns_none_are_asked_for, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
