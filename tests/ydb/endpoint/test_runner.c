/* What a runner does about what YDB answers: scenes of a script and its transcript. */
#include "tests/ydb/endpoint/scripted.h"

typedef struct scene {
    const char *sql, *script, *transcript;
} scene;

static const char *sql;

static rw_program *make(void)
{
    static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
    static rw_column columns[] = {{.name = "k", .type = 20, .type_name = "int8", .typmod = -1},
                                  {.name = "h", .type = 20, .type_name = "int8", .typmod = -1},
                                  {.name = "v", .type = 20, .type_name = "int8", .typmod = -1}};
    static size_t key[] = {0};
    static const rw_table table = {.schema = "public",
                                   .name = "t",
                                   .columns = columns,
                                   .column_count = 3,
                                   .primary_key = key,
                                   .primary_key_count = 1,
                                   .hash_key = key,
                                   .hash_key_count = 1,
                                   .hash_column = 1,
                                   .repeats_upserts = true};
    static const rw_table *const tables[] = {&table};
    static const rw_catalog catalog = {.tables = tables, .count = 1};
    const rw_program_options options = {.env = &env,
                                        .exact = true,
                                        .insert_first = true,
                                        .changes = strncmp(sql, "drop", 4) == 0,
                                        .most = 1000};
    pgw_error error;
    rw_program *program = rw_program_new(pgw_slice_str(sql), &catalog, &options, &error);
    assert_non_null(program);
    return program;
}

/* One scene, with a runner of its own. */
static bool is_as_written(const scene *played)
{
    setup(NULL);
    sql = played->sql;
    here.make = make;
    here.program = make();
    open_it(executor());
    pgw_buf_clear(&here.log);
    play(played->script);
    pgw_buf_add_byte(&here.log, '\0');
    bool same = strcmp(here.log.ptr, played->transcript) == 0;
    if (!same)
        print_error("%s: %s\n  is:     %s\n  should: %s\n", played->sql, played->script,
                    here.log.ptr, played->transcript);
    teardown(NULL);
    return same;
}

static void check(const scene *scenes, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !is_as_written(&scenes[i]);
    assert_int_equal(wrong, 0);
}

#define CHECK(scenes) check(scenes, sizeof(scenes) / sizeof *(scenes))

/* ---- scenes ---- */

#define WRITE "insert into u values (1)" /* one text, */
#define READ "select 1"
#define CHANGE "delete from t" /* … and two, in a transaction of their own: */
#define COUNT "SELECT count(*) FROM t"
#define SHOWN "insert into t (k) values (5) returning k"
#define SHOW "SELECT k FROM (VALUES (CAST(5 AS int8))) t(\"k\")"
#define PUT "insert into t (k) values (5)"
#define UPSERT "insert into t (k) values (1) on conflict (k) do nothing"
#define FIRST "insert into t (k) VALUES (1)"
#define MEET "SELECT 1 FROM t WHERE \"k\" = CAST(1 AS int8)"
#define STEPS "anew; BEGIN; " COUNT "; " CHANGE

static void what_succeeds_is_done_once(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "run ok", "anew; " WRITE "; done INSERT 0 1"},
        {READ, "run row=1 ok", "anew; select 1; columns c; row 1; done select 1"},
        {CHANGE, "run ok row=5 ok ok ok", STEPS "; COMMIT; done DELETE 5"},
        {WRITE, "describe row=1 ok", "describe x; columns c; done"},
        {CHANGE, "begin ok run row=5 ok ok commit ok",
         "BEGIN; done; anew; " COUNT "; " CHANGE "; done DELETE 5; COMMIT; done"},
        {WRITE, "begin ok rollback ok", "BEGIN; done; ROLLBACK; done"},
        {WRITE, "rollback turn", "done"}, /* of nothing */
    };
    CHECK(scenes);
}

static void what_was_not_done_is_tried_again(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "run aborted pause ok", "anew; " WRITE "; pause; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "run overloaded pause overloaded pause ok",
         "anew; " WRITE "; long pause; anew; " WRITE "; long pause; anew; " WRITE
         "; done INSERT 0 1"},
        {WRITE, "run session pause open ok",
         "anew; " WRITE "; close; pause; open; anew; " WRITE "; done INSERT 0 1"},
        {CHANGE, "run ok row=5 aborted ok pause ok row=4 ok ok ok",
         "anew; BEGIN; " COUNT "; ROLLBACK; pause; " STEPS "; COMMIT; done DELETE 4"},
        {CHANGE, "run ok row=5 ok ok aborted ok pause ok row=4 ok ok ok",
         STEPS "; COMMIT; ROLLBACK; pause; " STEPS "; COMMIT; done DELETE 4"},
        {CHANGE, "run session pause open ok row=5 ok ok ok",
         "anew; BEGIN; close; pause; open; " STEPS "; COMMIT; done DELETE 5"},
        {CHANGE, "run unknown pause ok row=5 ok ok ok",
         "anew; BEGIN; pause; " STEPS "; COMMIT; done DELETE 5"},
        {WRITE, "describe unavailable pause ok", "describe x; pause; describe x; done"},
        {WRITE, "begin unavailable pause ok", "BEGIN; pause; BEGIN; done"},
        {WRITE, "gone run open ok", "close; open; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "run session pause closed pause closed pause open ok",
         "anew; " WRITE "; close; pause; open; close; long pause; open; close; long pause; open; "
         "anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "gone describe closed pause open ok",
         "close; open; close; long pause; open; describe x; done"},
        {SHOWN, "run lost pause open row=5 ok ok",
         "anew; " SHOW "; close; pause; open; anew; " SHOW "; columns c; row 5; " PUT
         "; done INSERT 0 0"},
    };
    CHECK(scenes);
}

/* What carries rows of many clients is wanted by others meanwhile. */
static void a_link_for_batches_repeats_nothing(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "batches run aborted run ok",
         "anew; " WRITE "; failed 40001; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "batches run overloaded", "anew; " WRITE "; failed 53000"},
        {WRITE, "batches run session run open ok",
         "anew; " WRITE "; close; failed 08006; open; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "batches gone run closed", "close; open; close; failed 57P03"},
        {CHANGE, "batches run ok row=5 unknown ok",
         "anew; BEGIN; " COUNT "; ROLLBACK; failed 40001"},
        {CHANGE, "batches run ok row=5 lost", "anew; BEGIN; " COUNT "; close; failed 08006"},
        {WRITE, "batches run lost", "anew; " WRITE "; close; failed 08007"},
        {UPSERT, "batches run refused ok row=1 ok ok",
         "anew; " FIRST "; anew; BEGIN; SELECT 1 FROM t WHERE \"k\" = CAST(1 AS int8); COMMIT; "
         "done INSERT 0 0"},
    };
    CHECK(scenes);
}

/* Another client's row has come between the question and the INSERT. */
static void what_was_overtaken_asks_again(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {UPSERT, "run refused ok ok refused ok pause ok row=1 ok ok",
         "anew; " FIRST "; anew; BEGIN; " MEET "; " FIRST "; ROLLBACK; pause; anew; BEGIN; " MEET
         "; COMMIT; done INSERT 0 0"},
        {UPSERT, "batches run refused ok ok refused ok pause ok row=1 ok ok",
         "anew; " FIRST "; anew; BEGIN; " MEET "; " FIRST "; ROLLBACK; pause; anew; BEGIN; " MEET
         "; COMMIT; done INSERT 0 0"},
        /* it is another constraint */
        {UPSERT,
         "run refused ok ok refused ok pause ok ok refused ok pause ok ok refused ok pause ok ok "
         "refused ok",
         "anew; " FIRST "; anew; BEGIN; " MEET "; " FIRST "; ROLLBACK; pause; anew; BEGIN; " MEET
         "; " FIRST "; ROLLBACK; pause; anew; BEGIN; " MEET "; " FIRST
         "; ROLLBACK; pause; anew; BEGIN; " MEET "; " FIRST "; ROLLBACK; failed 23505"},
        {UPSERT, "run refused ok ok late refused ok",
         "anew; " FIRST "; anew; BEGIN; " MEET "; " FIRST "; ROLLBACK; failed 23505"},
        {UPSERT, "run refused ok ok cancel refused heard ok",
         "anew; " FIRST "; anew; BEGIN; " MEET "; " FIRST "; cancel; ROLLBACK; cancelled; "
         "failed 57014; user request"},
    };
    CHECK(scenes);
}

static void nor_is_what_would_fail_again(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "run refused", "anew; " WRITE "; failed 23505"},
        {CHANGE, "run ok refused ok", "anew; BEGIN; " COUNT "; ROLLBACK; failed 23505"},
        {CHANGE, "run refused", "anew; BEGIN; failed 23505"},
        {CHANGE, "run ok row=x ok ok", "anew; BEGIN; " COUNT "; ROLLBACK; failed XX000"},
        {WRITE, "run late aborted", "anew; " WRITE "; failed 40001"},
        {WRITE, "run aborted pause late overloaded",
         "anew; " WRITE "; pause; anew; " WRITE "; failed 53000"},
        {WRITE, "run late session", "anew; " WRITE "; close; failed 08006"},
        {READ, "run row=1 aborted", "anew; select 1; columns c; row 1; failed 40001"},
        {READ, "run internal pause internal pause internal pause internal",
         "anew; select 1; pause; anew; select 1; pause; anew; select 1; pause; anew; select 1; "
         "failed XX000"},
        {READ, "run ended", "anew; select 1; failed 57014; ended"},
        {WRITE, "gone describe denied", "close; open; close; failed 28P01"},
        {WRITE, "gone describe late closed", "close; open; close; failed 57P03"},
    };
    CHECK(scenes);
}

static void another_way_is_gone(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {UPSERT, "run ok", "anew; " FIRST "; done INSERT 0 1"},
        {UPSERT, "run refused ok row=1 ok ok",
         "anew; " FIRST "; anew; BEGIN; SELECT 1 FROM t WHERE \"k\" = CAST(1 AS int8); COMMIT; "
         "done INSERT 0 0"},
        {UPSERT, "run aborted pause ok",
         "anew; " FIRST "; pause; anew; " FIRST "; done INSERT 0 1"},
        {UPSERT, "begin ok run refused", "BEGIN; done; anew; " FIRST "; failed 23505"},
    };
    CHECK(scenes);
}

/* Only what commits may have been done; rows of a transaction without its COMMIT never are. */
static void only_commits_are_unknown(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "run unknown", "anew; " WRITE "; failed 08007"},
        {WRITE, "run lost", "anew; " WRITE "; close; failed 08007"},
        {WRITE, "run ended", "anew; " WRITE "; failed 08007"},
        {"drop table t", "run lost", "anew; drop table t; close; failed 08007"},
        {CHANGE, "run ok row=5 ok ok unknown ok", STEPS "; COMMIT; ROLLBACK; failed 08007"},
        {CHANGE, "run ok row=5 ok ok lost", STEPS "; COMMIT; close; failed 08007"},
        {CHANGE, "run ok row=5 ok lost pause open ok row=5 ok ok ok",
         STEPS "; close; pause; open; " STEPS "; COMMIT; done DELETE 5"},
        {CHANGE, "run ok row=5 ok unknown ok pause ok row=5 ok ok ok",
         STEPS "; ROLLBACK; pause; " STEPS "; COMMIT; done DELETE 5"},
        {CHANGE, "run ok late row=5 ok unknown ok", STEPS "; ROLLBACK; failed 40001"},
        {CHANGE, "run ok row=5 ok ok lost run open ok row=5 ok lost pause",
         STEPS "; COMMIT; close; failed 08007; open; " STEPS "; close; pause; open"},
        {READ, "run lost pause open ok",
         "anew; select 1; close; pause; open; anew; select 1; done select 1"},
        {READ, "run lost pause open lost pause open lost pause open lost pause open ok",
         "anew; select 1; close; pause; open; anew; select 1; close; pause; open; anew; select 1; "
         "close; pause; open; anew; select 1; close; pause; open; anew; select 1; done select 1"},
        {WRITE, "begin ok run ok commit lost",
         "BEGIN; done; anew; " WRITE "; done INSERT 0 1; COMMIT; close; failed 08007"},
    };
    CHECK(scenes);
}

static void a_transaction_of_the_clients_is_never_repeated(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "begin ok run aborted rollback ok",
         "BEGIN; done; anew; " WRITE "; failed 40001; ROLLBACK; done"},
        {WRITE, "begin ok run unknown", "BEGIN; done; anew; " WRITE "; failed 40001"},
        {WRITE, "begin ok run session", "BEGIN; done; anew; " WRITE "; failed 08006"},
        {WRITE, "begin ok run lost run turn rollback turn run open ok",
         "BEGIN; done; anew; " WRITE "; close; failed 08006; failed 08006; done; open; anew; " WRITE
         "; done INSERT 0 1"},
        {WRITE, "begin ok gone commit turn begin open ok",
         "BEGIN; done; close; failed 08006; open; BEGIN; done"},
        {WRITE, "begin ok commit aborted ok", "BEGIN; done; COMMIT; ROLLBACK; failed 40001"},
        {CHANGE, "begin ok run row=5 aborted", "BEGIN; done; anew; " COUNT "; failed 40001"},
    };
    CHECK(scenes);
}

/* What nobody asked to be one transaction is one all the same: it is all done again. */
static void a_groups_transaction_is_repeated(void **state)
{
    (void)state;
#define ONE "anew; " WRITE "; done INSERT 0 1; "
#define TWICE "group ok run ok "
#define BEGUN "BEGIN; done; " ONE
    static const scene scenes[] = {
        {WRITE, TWICE "run aborted ok pause ok ok ok commit ok",
         BEGUN "anew; " WRITE "; ROLLBACK; pause; BEGIN; " WRITE "; anew; " WRITE
               "; done INSERT 0 1; COMMIT; done"},
        {WRITE, TWICE "run ok commit aborted ok pause ok ok ok ok",
         BEGUN ONE "COMMIT; ROLLBACK; pause; BEGIN; " WRITE "; " WRITE "; COMMIT; done"},
        {WRITE,
         TWICE "commit aborted ok pause ok aborted ok pause ok ok overloaded ok pause ok ok ok",
         BEGUN "COMMIT; ROLLBACK; pause; BEGIN; " WRITE "; ROLLBACK; pause; BEGIN; " WRITE
               "; COMMIT; ROLLBACK; long pause; BEGIN; " WRITE "; COMMIT; done"},
        {WRITE, TWICE "commit aborted ok pause lost pause open ok ok ok",
         BEGUN "COMMIT; ROLLBACK; pause; BEGIN; close; pause; open; BEGIN; " WRITE
               "; COMMIT; done"},
        {WRITE, TWICE "commit aborted ok pause ok internal ok pause ok ok lost",
         BEGUN "COMMIT; ROLLBACK; pause; BEGIN; " WRITE "; ROLLBACK; pause; BEGIN; " WRITE
               "; COMMIT; close; failed 08007"},
        {WRITE, TWICE "run session ok pause open ok ok ok",
         BEGUN "anew; " WRITE "; ROLLBACK; close; pause; open; BEGIN; " WRITE "; anew; " WRITE
               "; done INSERT 0 1"},
        {WRITE, TWICE "run lost pause open ok ok ok",
         BEGUN "anew; " WRITE "; close; pause; open; BEGIN; " WRITE "; anew; " WRITE
               "; done INSERT 0 1"},
        {WRITE, TWICE "gone run open ok ok ok",
         BEGUN "close; open; BEGIN; " WRITE "; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, TWICE "quiet commit lost open ok ok ok",
         BEGUN "SELECT 1; close; open; BEGIN; " WRITE "; COMMIT; done"},
        {WRITE, TWICE "describe aborted ok pause ok ok ok",
         BEGUN "describe x; ROLLBACK; pause; BEGIN; " WRITE "; describe x; done"},
        {WRITE, "group aborted pause ok run ok",
         "BEGIN; pause; BEGIN; done; anew; " WRITE "; done INSERT 0 1"},
        {CHANGE, "group ok run row=5 ok ok run row=6 aborted ok pause ok row=5 ok ok row=2 ok ok",
         "BEGIN; done; anew; " COUNT "; " CHANGE "; done DELETE 5; anew; " COUNT
         "; ROLLBACK; pause; BEGIN; " COUNT "; " CHANGE "; anew; " COUNT "; " CHANGE
         "; done DELETE 2"},
        {READ, "group ok run row=1 ok run aborted ok pause ok row=1 ok row=2 ok",
         "BEGIN; done; anew; select 1; columns c; row 1; done select 1; anew; select 1; ROLLBACK; "
         "pause; BEGIN; select 1; anew; select 1; columns c; row 2; done select 1"},
    };
    CHECK(scenes);
}

/* What its client was told must be true still; and what was begun behind it belongs to it. */
static void but_not_with_another_outcome(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {READ, "group ok run row=1 ok run aborted ok pause ok row=2 ok rollback ok run ok",
         "BEGIN; done; anew; select 1; columns c; row 1; done select 1; anew; select 1; ROLLBACK; "
         "pause; BEGIN; select 1; failed 40001; ROLLBACK; done; anew; select 1; done select 1"},
        {READ, "group ok run row=1 ok commit aborted ok pause ok row=1 row=1 ok ok",
         "BEGIN; done; anew; select 1; columns c; row 1; done select 1; COMMIT; ROLLBACK; pause; "
         "BEGIN; select 1; ROLLBACK; failed 40001"},
        {CHANGE, "group ok run row=5 ok ok commit aborted ok pause ok row=6 ok ok ok run ok",
         "BEGIN; done; anew; " COUNT "; " CHANGE
         "; done DELETE 5; COMMIT; ROLLBACK; pause; BEGIN; " COUNT "; " CHANGE
         "; ROLLBACK; failed 40001; anew; BEGIN; " COUNT},
        {WRITE, TWICE "run aborted ok pause ok refused rollback ok",
         BEGUN "anew; " WRITE "; ROLLBACK; pause; BEGIN; " WRITE "; failed 40001; ROLLBACK; done"},
        {WRITE, TWICE "gone run open ok refused",
         BEGUN "close; open; BEGIN; " WRITE "; failed 40001"},
        {WRITE, TWICE "run refused rollback ok",
         BEGUN "anew; " WRITE "; failed 23505; ROLLBACK; done"},
        {WRITE, TWICE "run aborted ok cancel turn rollback turn run ok",
         BEGUN "anew; " WRITE "; ROLLBACK; failed 57014; user request; done; anew; " WRITE
               "; done INSERT 0 1"},
        {READ, "group ok run row=1 aborted rollback ok",
         "BEGIN; done; anew; select 1; columns c; row 1; failed 40001; ROLLBACK; done"},
        {WRITE, TWICE "run late aborted rollback ok",
         BEGUN "anew; " WRITE "; failed 40001; ROLLBACK; done"},
        {WRITE, TWICE "own run aborted rollback ok",
         BEGUN "anew; " WRITE "; failed 40001; ROLLBACK; done"},
        {WRITE, "careless " TWICE "run aborted rollback ok",
         BEGUN "anew; " WRITE "; failed 40001; ROLLBACK; done"},
        {WRITE, "careless " TWICE "gone commit turn", BEGUN "close; failed 08006"},
        {WRITE, TWICE "own gone commit turn", BEGUN "close; failed 08006"},
        {WRITE, TWICE "commit unknown ok", BEGUN "COMMIT; ROLLBACK; failed 08007"},
        {WRITE, TWICE "gone rollback turn", BEGUN "close; done"},
        {WRITE, TWICE "rollback aborted ok", BEGUN "ROLLBACK; ROLLBACK; failed 40001"},
        {WRITE, "batches " TWICE "run aborted rollback ok",
         BEGUN "anew; " WRITE "; failed 40001; ROLLBACK; done"},
        {WRITE, TWICE "commit ok run aborted pause ok",
         BEGUN "COMMIT; done; anew; " WRITE "; pause; anew; " WRITE "; done INSERT 0 1"},
    };
    CHECK(scenes);
}

/* Where its table says so, and a first time that is late could not be the last. */
static void an_upsert_may_be_done_twice(void **state)
{
    (void)state;
#define SAME "insert into t (k, v) values (1, 2) on conflict (k) do update set v = excluded.v"
#define TRIED "anew; insert into t (k, v) VALUES (1, 2); " /* of what is not the same */
#define AGAIN                                                                                      \
    "anew; BEGIN; SELECT 1 FROM t WHERE \"k\" = CAST(1 AS int8); UPDATE t SET v = 2 WHERE \"k\" "  \
    "= "                                                                                           \
    "CAST(1 AS int8); "
#define SUM "insert into t (k, v) values (1, 2) on conflict (k) do update set v = t.v + 2"
#define SUMMED                                                                                     \
    "anew; BEGIN; SELECT 1 FROM t WHERE \"k\" = CAST(1 AS int8); UPDATE t SET v = t.v + 2 WHERE "  \
    "\"k\" = CAST(1 AS int8); "
#define MET "run ok row=1 ok ok "
    static const scene scenes[] = {
        {SAME, MET "unknown ok pause ok row=1 ok ok ok",
         AGAIN "COMMIT; ROLLBACK; pause; " AGAIN "COMMIT; done INSERT 0 1"},
        {SAME, MET "lost pause open ok row=1 ok ok ok run",
         AGAIN "COMMIT; close; pause; open; " AGAIN "COMMIT; done INSERT 0 1; "
               "anew; BEGIN"},
        {SAME, "batches " MET "lost pause open ok row=1 aborted ok pause ok row=1 ok ok ok",
         AGAIN "COMMIT; close; pause; open; anew; BEGIN; SELECT 1 FROM t WHERE \"k\" = "
               "CAST(1 AS int8); ROLLBACK; pause; " AGAIN "COMMIT; done INSERT 0 1"},
        {SAME, MET "lost pause closed pause open ok row=1 ok ok ok",
         AGAIN "COMMIT; close; pause; open; close; long pause; open; " AGAIN
               "COMMIT; done INSERT 0 1"},
        {SAME, MET "late lost", AGAIN "COMMIT; close; failed 08007"},
        {SAME, MET "lost pause open ok late overloaded ok",
         AGAIN "COMMIT; close; pause; open; anew; BEGIN; SELECT 1 FROM t WHERE \"k\" = "
               "CAST(1 AS int8); ROLLBACK; failed 08007"},
        {SAME, MET "lost pause open ok refused ok",
         AGAIN "COMMIT; close; pause; open; anew; BEGIN; SELECT 1 FROM t WHERE \"k\" = "
               "CAST(1 AS int8); ROLLBACK; failed 08007"},
        {SAME, MET "lost pause denied", AGAIN "COMMIT; close; pause; open; close; failed 08007"},
        {SAME, MET "lost cancel turn run", AGAIN "COMMIT; close; failed 08007; open"},
        {SAME, MET "ended ok pause ok row=1 ok ok ok",
         AGAIN "COMMIT; ROLLBACK; pause; " AGAIN "COMMIT; done INSERT 0 1"},
        {SAME, MET "cancel ended ok heard",
         AGAIN "COMMIT; cancel; ROLLBACK; failed 08007; cancelled"},
        {SAME, "run ok ok ok ok", /* the key is new */
         "anew; BEGIN; " MEET "; insert into t (k, v) VALUES (1, 2); COMMIT; done INSERT 0 1"},
        {SUM, "run unknown", TRIED "failed 08007"},
        {SAME, "batches " MET "aborted ok", AGAIN "COMMIT; ROLLBACK; failed 40001"},
        {SAME, "begin ok run row=1 ok ok commit unknown ok",
         "BEGIN; done; anew; " MEET "; UPDATE t SET v = 2 WHERE \"k\" = CAST(1 AS int8); "
         "done INSERT 0 1; COMMIT; ROLLBACK; failed 08007"},
        {SUM, "run refused ok row=1 ok ok lost", TRIED SUMMED "COMMIT; close; failed 08007"},
    };
    CHECK(scenes);
}

static void what_cannot_be_undone_goes_with_its_connection(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {CHANGE, "run ok aborted refused pause open ok row=5 ok ok ok",
         "anew; BEGIN; " COUNT "; ROLLBACK; close; pause; open; " STEPS "; COMMIT; done DELETE 5"},
        {CHANGE, "run ok refused lost", "anew; BEGIN; " COUNT "; ROLLBACK; close; failed 23505"},
        {CHANGE, "run ok row=5 ok ok unknown lost",
         STEPS "; COMMIT; ROLLBACK; close; failed 08007"},
    };
    CHECK(scenes);
}

static void cancels_end_what_is_at_hand(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {READ, "cancel", ""},
        {READ, "run cancel ended heard",
         "anew; select 1; cancel; failed 57014; user request; cancelled"},
        {READ, "run cancel heard cancel ended heard",
         "anew; select 1; cancel; cancelled; cancel; failed 57014; user request; cancelled"},
        {READ, "deaf run cancel ended", "anew; select 1; cancel; failed 57014; user request"},
        {READ, "run cancel aborted heard",
         "anew; select 1; cancel; failed 57014; user request; cancelled"},
        {WRITE, "run cancel ended heard", "anew; " WRITE "; cancel; failed 08007; cancelled"},
        {WRITE, "run cancel ok heard", "anew; " WRITE "; cancel; done INSERT 0 1; cancelled"},
        {WRITE, "run aborted cancel cancel turn run ok",
         "anew; " WRITE "; failed 57014; user request; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "gone run cancel turn run open ok",
         "close; open; close; failed 57014; user request; open; anew; " WRITE "; done INSERT 0 1"},
        {READ, "limited limit ended heard",
         "anew; select 1; cancel; failed 57014; statement timeout; cancelled"},
        {READ, "limited ok", "anew; select 1; done select 1"},
        {READ, "limited unlimited nolimit ok run unlimited ok",
         "anew; select 1; done select 1; anew; select 1; done select 1"},
        {READ, "limited unlimited longer limit ended heard",
         "anew; select 1; cancel; failed 57014; statement timeout; cancelled"},
        {READ, "run longer limit ended heard",
         "anew; select 1; cancel; failed 57014; statement timeout; cancelled"},
        {READ, "run cancel cancel ended heard",
         "anew; select 1; cancel; failed 57014; user request; cancelled"},
        {WRITE, "limited aborted limit turn", "anew; " WRITE "; failed 57014; statement timeout"},
    };
    CHECK(scenes);
}

/* A cancel finds nothing to end if it is heard between two texts; none follows all the same, no
 * COMMIT above all. What is through by then is told as it is. */
static void what_was_cancelled_goes_no_further(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {CHANGE, "run cancel ok ok heard",
         "anew; BEGIN; cancel; ROLLBACK; failed 57014; user request; cancelled"},
        {CHANGE, "run ok cancel row=5 ok ok heard",
         "anew; BEGIN; " COUNT "; cancel; ROLLBACK; failed 57014; user request; cancelled"},
        {CHANGE, "run ok row=5 ok cancel ok ok heard",
         STEPS "; cancel; ROLLBACK; failed 57014; user request; cancelled"},
        {CHANGE, "deaf run ok row=5 ok cancel ok ok run",
         STEPS "; cancel; ROLLBACK; failed 57014; user request; anew; BEGIN"},
        {CHANGE, "run ok row=5 ok cancel heard ok ok",
         STEPS "; cancel; cancelled; ROLLBACK; failed 57014; user request"},
        {CHANGE, "limited ok row=5 ok limit ok ok heard",
         STEPS "; cancel; ROLLBACK; failed 57014; statement timeout; cancelled"},
        {CHANGE, "run ok row=5 ok cancel ok ended gone heard",
         STEPS "; cancel; ROLLBACK; close; failed 57014; user request; cancelled"},
        {CHANGE, "run ok row=5 ok ok cancel ok heard",
         STEPS "; COMMIT; cancel; done DELETE 5; cancelled"},
        {CHANGE, "run ok row=5 ok ok cancel ended ok heard",
         STEPS "; COMMIT; cancel; ROLLBACK; failed 08007; cancelled"},
        {CHANGE, "run ok row=5 ok cancel aborted ok heard",
         STEPS "; cancel; ROLLBACK; failed 57014; user request; cancelled"},
        {SHOWN, "run row=5 cancel ok heard turn",
         "anew; " SHOW "; columns c; row 5; cancel; cancelled; failed 57014; user request"},
        {SHOWN, "run row=5 ok cancel ok heard",
         "anew; " SHOW "; columns c; row 5; " PUT "; cancel; done INSERT 0 0; cancelled"},
        {UPSERT, "run cancel refused heard turn",
         "anew; " FIRST "; cancel; anew; cancelled; failed 57014; user request"},
        {CHANGE, "begin ok run cancel row=5 ok heard turn rollback ok",
         "BEGIN; done; anew; " COUNT "; cancel; cancelled; failed 57014; user request; ROLLBACK; "
         "done"},
        {CHANGE, "begin ok run row=5 ok cancel ok heard commit ok",
         "BEGIN; done; anew; " COUNT "; " CHANGE "; cancel; done DELETE 5; cancelled; COMMIT; "
         "done"},
        {WRITE, "group ok run ok commit aborted ok pause cancel ok ok heard",
         "BEGIN; done; anew; " WRITE "; done INSERT 0 1; COMMIT; ROLLBACK; pause; BEGIN; cancel; "
         "ROLLBACK; failed 57014; user request; cancelled"},
        {WRITE, "group ok run ok commit aborted ok pause ok cancel ok ok heard",
         "BEGIN; done; anew; " WRITE "; done INSERT 0 1; COMMIT; ROLLBACK; pause; BEGIN; " WRITE
         "; cancel; ROLLBACK; failed 57014; user request; cancelled"},
    };
    CHECK(scenes);
}

/* What is made here of a statement may be longer than it is: YDB would close the connection. */
static void what_is_longer_than_ydb_takes_is_not_sent(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "most=56 run ok", "anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "most=55 run turn run turn", "anew; failed 54000; anew; failed 54000"},
        {WRITE, "most=55 run cancel turn", "anew; failed 54000"},
        {WRITE, "most=55 gone run open turn", "close; open; anew; failed 54000"},
        {CHANGE, "most=45 run ok ok", "anew; BEGIN; ROLLBACK; failed 54000"},
        {SHOWN, "most=66 run turn", "anew; failed 54000"},
        {UPSERT, "most=71 run refused ok ok",
         "anew; " FIRST "; anew; BEGIN; ROLLBACK; failed 54000"},
        {CHANGE, "begin ok most=45 run turn rollback ok",
         "BEGIN; done; anew; failed 54000; ROLLBACK; done"},
        {CHANGE, "batches most=45 run ok ok", "anew; BEGIN; ROLLBACK; failed 54000"},
        {READ, "most=32 describe turn most=33 describe ok", "failed 54000; describe x; done"},
        {WRITE, "most=55 run quiet turn", "anew; failed 54000"},
    };
    CHECK(scenes);
}

/* Nobody tells of the cancel of an executor that is gone. */
static void a_cancel_ends_with_its_executor(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {READ, "run cancel lost heard",
         "anew; select 1; cancel; close; failed 57014; user request; cancelled"},
        {READ, "run cancel ended gone heard",
         "anew; select 1; cancel; failed 57014; user request; close; cancelled"},
        {READ, "run cancel session heard",
         "anew; select 1; cancel; close; failed 57014; user request; cancelled"},
        {CHANGE, "run ok cancel aborted refused",
         "anew; BEGIN; " COUNT "; cancel; ROLLBACK; close; failed 57014; user request; cancelled"},
        {WRITE, "run late cancel aborted heard",
         "anew; " WRITE "; cancel; failed 40001; cancelled"},
        {WRITE, "begin ok run cancel aborted heard",
         "BEGIN; done; anew; " WRITE "; cancel; failed 40001; cancelled"},
        {WRITE, "run cancel lost heard", "anew; " WRITE "; cancel; close; failed 08007; cancelled"},
    };
    CHECK(scenes);
}

static void connections_are_kept(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "quiet ok run ok", "SELECT 1; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "quiet run ok ok", "SELECT 1; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "quiet lost run open ok",
         "SELECT 1; close; open; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "quiet run lost open ok",
         "SELECT 1; close; open; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "run quiet ok", "anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "begin ok quiet ok commit ok", "BEGIN; done; SELECT 1; COMMIT; done"},
        {WRITE, "begin ok run aborted quiet rollback ok",
         "BEGIN; done; anew; " WRITE "; failed 40001; ROLLBACK; done"},
        {WRITE, "begin ok quiet lost run turn", "BEGIN; done; SELECT 1; close; failed 08006"},
    };
    CHECK(scenes);
}

/* What came while it was kept does not find another transaction there. */
static void what_waits_behind_keeping_is_no_other(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {WRITE, "begin ok quiet run lost turn", "BEGIN; done; SELECT 1; close; failed 08006"},
        {WRITE, "begin ok quiet commit lost turn", "BEGIN; done; SELECT 1; close; failed 08006"},
        {WRITE, "begin ok quiet rollback lost turn", "BEGIN; done; SELECT 1; close; done"},
        {WRITE, "begin ok quiet describe lost turn", "BEGIN; done; SELECT 1; close; failed 08006"},
        {WRITE, "begin ok quiet aborted commit turn", "BEGIN; done; SELECT 1; close; failed 40001"},
        {WRITE, "begin ok quiet run aborted turn", "BEGIN; done; SELECT 1; close; failed 40001"},
        {WRITE, "begin ok quiet unavailable run turn rollback turn begin open ok gone run turn",
         "BEGIN; done; SELECT 1; close; failed 57P03; done; open; BEGIN; done; close; failed "
         "08006"},
        {WRITE, "begin ok quiet aborted run turn run turn",
         "BEGIN; done; SELECT 1; close; failed 40001; failed 40001"},
        {WRITE, "begin ok quiet unknown run turn", "BEGIN; done; SELECT 1; close; failed 08006"},
        {WRITE, "quiet aborted begin ok gone commit turn",
         "SELECT 1; BEGIN; done; close; failed 08006"},
        {WRITE, TWICE "quiet aborted commit open ok ok ok",
         BEGUN "SELECT 1; close; open; BEGIN; " WRITE "; COMMIT; done"},
        {WRITE, "begin ok quiet aborted rollback ok", "BEGIN; done; SELECT 1; ROLLBACK; done"},
        {WRITE, "begin ok quiet commit cancel ok turn heard run open ok",
         "BEGIN; done; SELECT 1; cancel; close; cancelled; failed 57014; user request; open; "
         "anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "begin ok gone describe turn run turn",
         "BEGIN; done; close; failed 08006; failed 08006"},
        {WRITE, "quiet rollback ok turn run ok",
         "SELECT 1; done; anew; " WRITE "; done INSERT 0 1"},
        {WRITE, "quiet run cancel ok turn heard run ok",
         "SELECT 1; cancel; failed 57014; user request; cancelled; anew; " WRITE
         "; done INSERT 0 1"},
    };
    CHECK(scenes);
}

static void pauses_grow_and_differ(void **state)
{
    (void)state;
    static const uint64_t most[2][12] = {
        {5, 10, 20, 40, 80, 160, 320, 500, 500, 500, 500, 500},
        {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000}};
    px_runner runner = {.link = &here.link};
    for (unsigned i = 0; i < 24; i++) {
        runner.fate = i < 12 ? PX_YDB_AGAIN : PX_YDB_SLOWLY;
        runner.tries = i % 12;
        uint64_t pause = px_runner_pause_ms(&runner), longest = most[i / 12][i % 12];
        assert_in_range(pause, longest - longest / 2, longest);
    }
    runner.tries = 4000000000; /* is no number of bits */
    assert_in_range(px_runner_pause_ms(&runner), 2500, 5000);
}

static void maps_are_doubted_where_partitions_are_not_to_be_had(void **state)
{
    (void)state;
    static const struct {
        const char *sqlstate, *label;
    } cases[] = {{"53000", "public.t"}, {"57P03", "public.t"}, {"40001", ""}, {"08006", ""}};
    px_worker worker = {.config = &here.config, .server = &here.server};
    px_link link = {.worker = &worker};
    px_runner runner = {.link = &link};
    here.table = (cfg_table){.name = "t", .partitions.discover = true};
    here.config.tables = &here.table;
    here.config.table_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        here.doubted[0] = '\0';
        pgw_fail(&runner.failure, cases[i].sqlstate, "not there");
        px_runner_doubt_maps(&runner);
        assert_string_equal(here.doubted, cases[i].label);
    }
    here.table.partitions.discover = false;
    here.doubted[0] = '\0';
    pgw_fail(&runner.failure, "53000", "not there");
    px_runner_doubt_maps(&runner);
    assert_string_equal(here.doubted, "");
}

static void a_first_executor_may_be_refused(void **state)
{
    (void)state;
    refuse(executor(), "57P03");
    pgw_buf_add_byte(&here.log, '\0');
    assert_string_equal(here.log.ptr, "open; close; refused 57P03");
}

/* Rows that are waiting for it have time yet. */
static void one_for_batches_is_asked_for_again(void **state)
{
    (void)state;
    here.link.role = PX_LINK_BATCH;
    play("closed pause closed pause open");
    pgw_buf_add_byte(&here.log, '\0');
    assert_string_equal(here.log.ptr, "open; close; long pause; open; close; long pause; open; "
                                      "opened");
}

static void but_not_for_ever(void **state)
{
    (void)state;
    here.link.role = PX_LINK_BATCH;
    play("closed pause late closed");
    pgw_buf_add_byte(&here.log, '\0');
    assert_string_equal(here.log.ptr, "open; close; long pause; open; close; refused 57P03");
}

static void nor_where_it_is_not_let_in(void **state)
{
    (void)state;
    here.link.role = PX_LINK_BATCH;
    play("denied");
    pgw_buf_add_byte(&here.log, '\0');
    assert_string_equal(here.log.ptr, "open; close; refused 28P01");
}

/* Closed, whatever it is at, and whatever was sent to itself. */
static void a_runner_closes_at_any_time(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {CHANGE, "run ok", "anew; BEGIN; " COUNT},
        {WRITE, "limited aborted", "anew; " WRITE},
        {WRITE, "rollback", ""},
        {WRITE, "gone run", "close; open"},
        {WRITE, "run cancel", "anew; " WRITE "; cancel"},
    };
    CHECK(scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_succeeds_is_done_once),
        cmocka_unit_test(what_was_not_done_is_tried_again),
        cmocka_unit_test(a_link_for_batches_repeats_nothing),
        cmocka_unit_test(what_was_overtaken_asks_again),
        cmocka_unit_test(nor_is_what_would_fail_again),
        cmocka_unit_test(another_way_is_gone),
        cmocka_unit_test(only_commits_are_unknown),
        cmocka_unit_test(a_transaction_of_the_clients_is_never_repeated),
        cmocka_unit_test(a_groups_transaction_is_repeated),
        cmocka_unit_test(but_not_with_another_outcome),
        cmocka_unit_test(an_upsert_may_be_done_twice),
        cmocka_unit_test(what_cannot_be_undone_goes_with_its_connection),
        cmocka_unit_test(cancels_end_what_is_at_hand),
        cmocka_unit_test(what_was_cancelled_goes_no_further),
        cmocka_unit_test(what_is_longer_than_ydb_takes_is_not_sent),
        cmocka_unit_test(a_cancel_ends_with_its_executor),
        cmocka_unit_test(connections_are_kept),
        cmocka_unit_test(what_waits_behind_keeping_is_no_other),
        cmocka_unit_test(pauses_grow_and_differ),
        cmocka_unit_test(maps_are_doubted_where_partitions_are_not_to_be_had),
        cmocka_unit_test_setup_teardown(a_first_executor_may_be_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(one_for_batches_is_asked_for_again, setup, teardown),
        cmocka_unit_test_setup_teardown(but_not_for_ever, setup, teardown),
        cmocka_unit_test_setup_teardown(nor_where_it_is_not_let_in, setup, teardown),
        cmocka_unit_test(a_runner_closes_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
