/* The commands that need no backend, run as a shell would: arguments in, streams and exit code out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "proxy/command/commands.h"

#define FILES VECTORS "/config/"
#define TABLES VECTORS "/ddl/tables.yaml"
#define SAMPLE VECTORS "/../../config/keyspread.yaml"

typedef struct outcome {
    int code;
    char *out, *errors;
} outcome;

/* `line` is cut at blanks; @ stands for the annotated sample. */
static outcome run(const char *line, const char *input)
{
    char text[1024], *words[32];
    int count = 0;
    size_t out_size, errors_size;
    outcome result = {0};
    snprintf(text, sizeof text, "%s", line);
    for (char *at = text; count < 32 && (words[count] = strsep(&at, " ")) != NULL; count++)
        if (strcmp(words[count], "@") == 0)
            words[count] = SAMPLE;
    FILE *in = fmemopen((void *)input, strlen(input), "r"); /* not of length 0 */
    FILE *out = open_memstream(&result.out, &out_size);
    FILE *errors = open_memstream(&result.errors, &errors_size);
    result.code = px_commands_run(count, words, in, out, errors);
    fclose(in);
    fclose(out);
    fclose(errors);
    return result;
}

static void forget(outcome *got)
{
    free(got->out);
    free(got->errors);
}

/* What must be in the output, or in the errors where the code is not 0. */
static const struct {
    const char *line;
    int code;
    const char *said;
} cases[] = {
    {"keyspread", 2, "usage:"},
    {"keyspread help", 0, "usage:"},
    {"keyspread --help", 0, "usage:"},
    {"keyspread help", 0, "\n  keyspread help [COMMAND]\n        print this, or the usage of one"},
    {"keyspread help", 0, "\n  keyspread version\n        print the version\n"},
    {"keyspread -h", 0, "usage:"},
    {"keyspread help run", 0, "usage: keyspread run CONFIG\n"},
    {"keyspread help version", 0, "usage: keyspread version\n"},
    {"keyspread help nonsense", 2, "unknown command \"nonsense\""},
    {"keyspread help run check", 2, "too many arguments for help"},
    {"keyspread version", 0, "keyspread "},
    {"keyspread --version", 0, "keyspread "},
    {"keyspread nonsense", 2, "unknown command \"nonsense\""},
    {"keyspread version 1", 2, "too many arguments for version\nusage: keyspread version\n"},
    {"keyspread check", 2, "usage: keyspread check CONFIG"},
    {"keyspread check --help", 0, "usage: keyspread check CONFIG"},
    {"keyspread run", 2, "too few arguments for run\nusage: keyspread run CONFIG"},
    {"keyspread hash @ events", 2, "usage: keyspread hash CONFIG TABLE COL=VALUE..."},
    {"keyspread verify @", 2, "usage: keyspread verify CONFIG TABLE"},
    {"keyspread run @ more", 2, "too many arguments for run\n"},
    {"keyspread check @ more", 2, "too many arguments for check\n"},
    {"keyspread explain", 2, "too few arguments for explain\n"},
    {"keyspread explain @ a b", 2, "too many arguments for explain\n"},
    {"keyspread verify @ events more", 2, "too many arguments for verify\n"},
    {"keyspread ddl", 2, "too few arguments for ddl\n"},
    {"keyspread ddl --yql @ events more", 2, "too many arguments for ddl\n"},
    {"keyspread check @", 0, "no mistakes; 1 table\n"},
    {"keyspread check " VECTORS "/ddl/tables.yaml", 0, "no mistakes; 13 tables\n"},
    {"keyspread check nofile.yaml", 1, "nofile.yaml: cannot be read"},
    {"keyspread run nofile.yaml", 1, "nofile.yaml: cannot be read"},
    {"keyspread check " FILES "wrong_list.yaml", 1, "wrong_list.yaml:1: the file is a list"},
    {"keyspread hash @ events userid=42", 0, "partition: "},
    {"keyspread hash @ public.events userid=42 ts=2026-01-01", 0, "userid_hash: "},
    {"keyspread hash @ events ts=5", 1, "userid=VALUE is missing: the hash needs all of userid"},
    {"keyspread hash @ events userid", 1, "give COL=VALUE for the columns of hash_key: userid"},
    {"keyspread hash @ events event=x userid=1", 1, "\"event=x\": give COL=VALUE"},
    {"keyspread hash @ events userid=1 userid=1", 1, "userid is given twice"},
    {"keyspread hash @ events userid=x", 1, "invalid input syntax for type bigint: \"x\" (22P02)"},
    {"keyspread hash @ events userid=9223372036854775808", 1, "(22003)"},
    {"keyspread hash " TABLES " app.events id day", 0, "h: 11160318154034397263\n"},
    {"keyspread hash " TABLES " app.events id=x day", 0, "h: "},
    {"keyspread hash " TABLES " app.events id=x", 1, "day=VALUE is missing"},
    {"keyspread hash " TABLES " app.events id=x day nothing", 1, "\"nothing\": give COL=VALUE"},
    {"keyspread hash " TABLES " signed k", 1, "\"k\": give COL=VALUE"},
    {"keyspread hash " TABLES " virtual k=1 l=x", 0, "postgres: hash_record_extended(ROW("},
    {"keyspread hash " TABLES " unsigned l=1", 0, "yql: Digest::NumericHash("},
    {"keyspread hash @ nobody userid=1", 1, "has no table \"nobody\": its tables are events"},
    {"keyspread ddl @ nobody", 1, "has no table \"nobody\""},
    {"keyspread ddl --yql", 2, "usage: keyspread ddl"},
    {"keyspread ddl @ events more", 2, "usage: keyspread ddl"},
    {"keyspread ddl --sql @", 2, "ddl does not take \"--sql\" here\nusage: keyspread ddl"},
    {"keyspread ddl -x @", 2, "ddl does not take \"-x\" here\nusage: keyspread ddl"},
    {"keyspread ddl --trigger " TABLES " virtual", 0, "WHEN (new.\"k_hash\" IS NULL)"},
    {"keyspread ddl --trigger " TABLES " signed", 1, "it has partitions"},
    {"keyspread ddl --trigger " TABLES, 2, "keyspread ddl --trigger CONFIG TABLE"},
    {"keyspread ddl --event-trigger @", 2, "ddl does not take \"--event-trigger\" here"},
    {"keyspread ddl --event-trigger", 0, "CREATE EVENT TRIGGER keyspread_ddl ON ddl_command_end"},
    {"keyspread ddl @", 0, "PRIMARY KEY (\"userid\", \"ts\", \"userid_hash\")"},
    {"keyspread ddl --yql @ events", 0, "PRIMARY KEY (`userid_hash`, `userid`, `ts`)"},
    {"keyspread explain @ nofile.sql", 1, "keyspread: nofile.sql cannot be read: No such file"},
    {"keyspread explain @ /", 1, "keyspread: / cannot be read: Is a directory\n"},
    {"keyspread hash " TABLES " app.events id=x day=now", 1,
     "keyspread: day: \"now\" cannot be read as date without asking the backend: write it in the "
     "plain form"},
    {"keyspread hash " FILES "wrong_list.yaml t a=1", 1, "wrong_list.yaml:1: the file is a list"},
    {"keyspread explain @", 0, "batchable: yes"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome got = run(cases[i].line, "insert into events (userid, ts) values (1, '2026-01-01 "
                                         "00:00:00+00')");
        const char *said = cases[i].code == 0 ? got.out : got.errors;
        if (got.code != cases[i].code || strstr(said, cases[i].said) == NULL)
            fail_msg("%s: code %d, out: %s, errors: %s", cases[i].line, got.code, got.out,
                     got.errors);
        if (got.code != 0)
            assert_string_equal(got.out, "");
        else
            assert_true(*got.errors == '\0' || strstr(got.errors, ": warning: ") != NULL);
        forget(&got);
    }
}

/* The number that explain writes into an INSERT is the one that hash prints. */
static void test_hash_is_explained(void **state)
{
    (void)state;
    outcome hash = run("keyspread hash @ events userid=42", " ");
    outcome explained =
        run("keyspread explain @", "insert into events (userid, ts) values ('042', now())");
    assert_int_equal(hash.code, 0);
    assert_int_equal(explained.code, 0);
    char line[64];
    assert_int_equal(strncmp(hash.out, "userid_hash: ", 13), 0);
    snprintf(line, sizeof line, "\nhash: %.*s", (int)strcspn(hash.out + 13, "\n") + 1,
             hash.out + 13);
    assert_non_null(strstr(explained.out, line));
    const char *partition = strstr(hash.out, "partition: ");
    snprintf(line, sizeof line, "\n%.*s", (int)strcspn(partition, "\n") + 1, partition);
    assert_non_null(strstr(explained.out, line));
    forget(&hash);
    forget(&explained);
}

static void test_spellings(void **state)
{
    (void)state;
    static const char *const spellings[] = {"userid=007", "userid=+7"};
    outcome plain = run("keyspread hash @ events userid=7", " ");
    for (size_t i = 0; i < 2; i++) {
        char line[128];
        snprintf(line, sizeof line, "keyspread hash @ events %s", spellings[i]);
        outcome other = run(line, " ");
        assert_string_equal(other.out, plain.out);
        forget(&other);
    }
    forget(&plain);
}

/* Every statement of the PostgreSQL DDL stands outside comments, every line of YQL within. */
static void test_ddl(void **state)
{
    (void)state;
    outcome got = run("keyspread ddl @ events", " ");
    assert_int_equal(got.code, 0);
    assert_non_null(strstr(got.out, "\nCREATE TABLE \"public\".\"events\" (\n"
                                    "    \"userid\" bigint NOT NULL,\n"
                                    "    \"ts\" timestamp with time zone NOT NULL,\n"
                                    "    \"event\" text,\n"
                                    "    \"userid_hash\" bigint NOT NULL,\n"
                                    "    PRIMARY KEY (\"userid\", \"ts\", \"userid_hash\")\n"
                                    ") PARTITION BY RANGE (\"userid_hash\");\n"));
    assert_non_null(strstr(got.out, "\"events_p0\" PARTITION OF \"public\".\"events\" FOR VALUES "
                                    "FROM (MINVALUE) TO (-8070450532247928832);\n"));
    assert_non_null(strstr(got.out, "\"events_p15\" PARTITION OF \"public\".\"events\" FOR VALUES "
                                    "FROM (8070450532247928832) TO (MAXVALUE);\n"));
    assert_null(strstr(got.out, "\"events_p16\""));
    assert_non_null(strstr(got.out, "\n-- CREATE TABLE `events` (\n"));
    assert_null(strstr(got.out, "\nCREATE TABLE `"));
    forget(&got);
    got = run("keyspread ddl --yql @ events", " ");
    assert_null(strstr(got.out, "PARTITION OF"));
    assert_non_null(strstr(got.out, "\nCREATE TABLE `events` (\n    `userid` pgint8 NOT NULL,"));
    forget(&got);
}

/* A line's end in a name ends no comment: what stands behind it would be run. */
static void test_ddl_of_names_with_lines(void **state)
{
    (void)state;
    char path[] = "/tmp/keyspread-test-XXXXXX", line[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "backend: { dsn: \"host=h\" }\ntables:\n  - { name: t, hash_column: \"a\\ndrop "
                "table b\\r;\", "
                "primary_key: [k], hash_function: xxh3, columns: [{ name: k, type: bigint }] }\n");
    close(fd);
    snprintf(line, sizeof line, "keyspread ddl --yql %s", path);
    outcome got = run(line, " ");
    assert_int_equal(got.code, 0);
    static const char head[] = "-- public.t: a drop table b ; holds xxh3 of (k)\n-- recompute ";
    assert_int_equal(strncmp(got.out, head, sizeof head - 1), 0);
    assert_non_null(strstr(got.out, "\n    `a\\ndrop table b\\r;` pgint8 NOT NULL,\n"));
    forget(&got);
    unlink(path);
}

static void test_explain_nothing(void **state)
{
    (void)state;
    outcome got = run("keyspread explain @", " ; ");
    assert_int_equal(got.code, 0);
    assert_string_equal(got.out, "");
    forget(&got);
}

static void test_explain_file(void **state)
{
    (void)state;
    static const char text[] = "insert into events (userid, ts) values (1, now())";
    char path[] = "/tmp/keyspread-test-XXXXXX", line[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    snprintf(line, sizeof line, "keyspread explain @ %s", path);
    outcome read = run(line, "select 1"), typed = run("keyspread explain @", text);
    assert_int_equal(read.code, 0);
    assert_string_equal(read.out, typed.out);
    forget(&read);
    forget(&typed);
    assert_int_equal(write(fd, "\0;", 2), 2);
    read = run(line, "select 1");
    assert_int_equal(read.code, 1);
    snprintf(line, sizeof line, "keyspread: %s has a zero byte at offset %zu: SQL has none\n", path,
             sizeof text - 1);
    assert_string_equal(read.errors, line);
    forget(&read);
    close(fd);
    unlink(path);
}

/* A file whose form is right and that only PostgreSQL's side of things can judge. Where nothing
 * is to be said there must be nothing about the backend. */
static void check_text(const char *text, int code, const char *said)
{
    char path[] = "/tmp/keyspread-test-XXXXXX", line[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    snprintf(line, sizeof line, "keyspread check %s", path);
    outcome got = run(line, " ");
    if (got.code != code || strstr(got.errors, said) == NULL)
        fail_msg("code %d, errors: %s", got.code, got.errors);
    if (*said == '\0')
        assert_null(strstr(got.errors, "backend."));
    forget(&got);
    unlink(path);
}

#define TABLE(columns)                                                                             \
    "backend: { dsn: \"host=h\" }\ntables:\n"                                                      \
    "  - { name: t, primary_key: [k], hash_function: numeric_hash, columns: [" columns "] }\n"

static void test_check(void **state)
{
    (void)state;
    check_text("backend:\n  dsn: \"host\"\ntables: []\n", 1,
               ":2: backend.dsn is not a connection string: missing \"=\" after \"host\"");
    check_text("backend:\n  dsn: \"hots=x\"\ntables: []\n", 1,
               ":2: backend.dsn is not a connection string: invalid connection option \"hots\"");
    check_text("backend:\n  dsn: \"password=my secret=x\"\ntables: []\n", 1,
               ":2: backend.dsn is not a connection string: invalid connection option …; write it");
    check_text("backend:\n  dsn: \"postgresql://a:secret@h/d\"\ntables: []\n", 0,
               ":2: warning: backend.dsn holds a password");
    check_text(TABLE("{ name: k, type: bigint }"), 0, "");
    check_text(TABLE("{ name: k, type: text }"), 1, ":3: table t: numeric_hash takes exactly one");
    check_text(TABLE("{ name: k, type: jsonb }"), 1, ":3: table t: key column k is of type jsonb");
    check_text(TABLE("{ name: k, type: varchar(0) }"), 1,
               ":3: table t: type \"varchar(0)\" of column k is not understood");
    check_text(TABLE("{ name: k, type: bigint }, { name: k_hash, type: int }"), 1,
               ":3: table t: hash column k_hash is integer: for hash_type int8 it must be bigint");
}

#define VERIFIER                                                                                   \
    "SCRAM-SHA-256$4096:QQ==$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=:"                        \
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

/* With auth.mode scram: a file of users of this text, and this connection string. */
static void check_scram(const char *users, const char *dsn, int code, const char *said)
{
    char path[] = "/tmp/keyspread-test-XXXXXX", text[512];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, users, strlen(users)), strlen(users));
    close(fd);
    snprintf(text, sizeof text,
             "auth:\n  mode: scram\n  users_file: %s\nbackend:\n  dsn: \"%s\"\ntables: []\n", path,
             dsn);
    check_text(text, code, said);
    unlink(path);
}

static void test_check_certificate(void **state)
{
    (void)state;
    char path[] = "/tmp/keyspread-test-XXXXXX", text[512];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "no PEM\n", 7), 7);
    close(fd);
    snprintf(text, sizeof text, "client_tls: { cert: %s, key: %s }\nbackend: { dsn: \"host=h\" }\n",
             path, path);
    check_text(text, 1, " cannot be used: it takes certificates in PEM");
    unlink(path);
}

static void test_check_users(void **state)
{
    (void)state;
    static const char plain[] = "\"bob\" \"secret\"\n";
    static const char mixed[] =
        "\"a\" \"" VERIFIER "\"\n\"bob\" \"secret\"\n\"al\" \"" VERIFIER "\"\n";
    check_scram(plain, "host=h", 0, "");
    check_scram(mixed, "host=h", 1,
                ":1: user \"a\" has a verifier alone (2 of 3 users have), and backend.dsn names no "
                "user: keyspread could not log in to the backend as that user");
    check_scram(mixed, "host=h user=app", 0, "");
    check_scram(mixed, "host=h password=x", 0, "");
    check_scram(mixed, "host=h passfile=/etc/passfile", 0, "");
    check_scram("\"bob\"\n", "host=h", 1, ":1: is not \"name\" \"secret\"");
    check_scram("\"bob\"\n", "host=h", 1,
                ":3: auth.users_file cannot be used: correct its mistakes");
    check_text("auth: { mode: scram, users_file: no such file }\nbackend: { dsn: \"host=h\" }\n", 1,
               "/tmp/no such file: cannot be read: No such file or directory");
}

/* What the connection string must not hold depends on whose password it is. */
static void test_check_dsn_and_mode(void **state)
{
    (void)state;
#define FORWARD(dsn)                                                                               \
    "listen: [/run/sock]\nauth: { mode: forward }\nbackend: { dsn: \"" dsn "\" }\ntables: []\n"
    check_text(FORWARD("host=h"), 0, "");
    check_text(FORWARD("host=h user=app"), 1,
               ":3: backend.dsn holds a user or a password, and with auth.mode forward");
    check_text(FORWARD("host=h password=x"), 1, ":3: backend.dsn holds a user or a password");
}

/* What YDB needs that the file alone does not show to be missing. */
static void test_check_ydb(void **state)
{
    (void)state;
#define YDB(dsn, more, table)                                                                      \
    "backend: { dialect: ydb, dsn: \"" dsn "\"" more " }\ntables:\n"                               \
    "  - { name: t, primary_key: [k], hash_function: xxh3" table " }\n"
#define COLUMNS ", columns: [{ name: k, type: bigint }, { name: k_hash, type: bigint }]"
#define CLEAR                                                                                      \
    ":1: YDB wants passwords in clear, and backend.dsn lets them travel "                          \
    "unencrypted"
#define SHIFTS                                                                                     \
    ", columns: [{ name: k_hash, type: bigint, not_null: true }, { name: k, "                      \
    "type: bigint }]"
    check_text(YDB("host=localhost", "", COLUMNS), 0, "");
    check_text(YDB("host=localhost", "", ""), 1,
               ":3: table t: YDB cannot be asked for its columns: list them "
               "under columns (name, "
               "type, not_null), the hash column among them");
    check_text(YDB("host=localhost", "", SHIFTS), 0,
               ":3: warning: table t: hash column k_hash is not the last column");
    check_text(YDB("host=h", "", COLUMNS), 1, CLEAR);
    check_text(YDB("host=localhost,h", "", COLUMNS), 1, CLEAR);
    check_text(YDB("host=h,localhost", "", COLUMNS), 1, CLEAR);
    check_text(YDB("host=localhost hostaddr=192.0.2.7", "", COLUMNS), 1, CLEAR);
    check_text(YDB("host=h sslmode=prefer", "", COLUMNS), 1, CLEAR);
    check_text(YDB("host=h hostaddr=127.0.0.1", "", COLUMNS), 0, "");
    check_text(YDB("host=,/run,@x,::1,127.0.0.1", "", COLUMNS), 0, "");
    check_text(YDB("host=h sslmode=require", "", COLUMNS), 0, "");
    check_text(YDB("host=h sslmode=verify-full", "", COLUMNS), 0, "");
    check_text(YDB("host=h", ", allow_cleartext: true", COLUMNS), 0, "");
#define DISCOVER COLUMNS ", partitions: { discover: true }"
#define MONITORED ", monitoring: \"http://h:8765\""
    check_text(YDB("host=localhost", MONITORED, DISCOVER), 1,
               ":1: backend.dsn names no database, and partitions.discover needs "
               "one: add dbname=");
    check_text(YDB("host=localhost dbname=d", MONITORED, DISCOVER), 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_hash_is_explained),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_ddl),
        cmocka_unit_test(test_ddl_of_names_with_lines),
        cmocka_unit_test(test_explain_nothing),
        cmocka_unit_test(test_explain_file),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_certificate),
        cmocka_unit_test(test_check_users),
        cmocka_unit_test(test_check_dsn_and_mode),
        cmocka_unit_test(test_check_ydb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
