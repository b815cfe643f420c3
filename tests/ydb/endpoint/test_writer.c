/* What a link to YDB is sent for an attempt, and what becomes of its write groups when it answers.
 */
#include "protocol/backend.h"
#include "protocol/frame.h"
#include "proxy/backend/catalog/catalog.h"
#include "ydb/endpoint/writer.h"
#include "tests/ydb/endpoint/units.h"

enum { MOST_WRITE_GROUPS = 64 };

static struct {
    px_worker worker;
    cfg_config config;
    px_link link;
    px_writer *writer;
    px_write_group *write_groups[MOST_WRITE_GROUPS];
    px_attempt attempt;
    pgw_buf scratch;
    pgw_buf sent;    /* message types, and the texts of Query */
    pgw_buf answers; /* a letter and the number of each write group that was answered */
    px_progress progress;
} here;

/* ---- doubles of the link and of the catalog ---- */

void px_link_send_buf(px_link *link, const pgw_buf *buf)
{
    pgw_slice out = pgw_slice_buf(buf);
    pgw_frame frame;
    assert_ptr_equal(link, &here.link);
    for (; pgw_frame_next(out, &frame) == PGW_FRAME_OK && frame.size <= out.len;
         out = (pgw_slice){out.ptr + frame.size, out.len - frame.size}) {
        pgw_buf_add_byte(&here.sent, frame.type);
        if (frame.type != 'Q')
            continue;
        assert_int_equal(out.ptr[frame.size - 1], '\0');
        pgw_buf_addf(&here.sent, "[%.*s]", (int)(frame.size - PGW_HEADER - 1),
                     out.ptr + PGW_HEADER);
    }
    assert_int_equal(out.len, 0);
}

px_catalog *px_catalog_last(px_worker *worker, const px_identity *identity)
{
    (void)worker;
    (void)identity;
    return NULL;
}

/* ---- attempts ---- */

static void on_answered(px_attempt *attempt, px_write_group *write_group, px_verdict verdict)
{
    static const char letters[] = {[PX_VERDICT_COMMITTED] = 'C',
                                   [PX_VERDICT_FAILED] = 'F',
                                   [PX_VERDICT_REPEAT] = 'R',
                                   [PX_VERDICT_REROUTE] = '?'};
    size_t i = 0;
    while (attempt->write_groups[i] != write_group)
        i++;
    pgw_buf_addf(&here.answers, "%c%zu ", letters[verdict], i);
    pgw_slice code = pgw_error_field(pgw_slice_buf(&write_group->error), 'C');
    assert_true((verdict == PX_VERDICT_COMMITTED) == (code.len == 0));
}

static int setup(void **state)
{
    (void)state;
    memset(&here, 0, sizeof here);
    here.config.backend.capabilities.max_message = 100000;
    here.worker.config = &here.config;
    here.link.worker = &here.worker;
    here.link.identity = &write_group_identity;
    here.writer = px_ydb_writer.make(&here.link);
    here.attempt = (px_attempt){.write_groups = here.write_groups,
                                .scratch = &here.scratch,
                                .answered = on_answered,
                                .shared = true};
    return 0;
}

static void free_write_groups(void)
{
    while (here.attempt.count > 0)
        px_write_group_free(here.write_groups[--here.attempt.count]);
}

static int teardown(void **state)
{
    (void)state;
    free_write_groups();
    px_writer_free(here.writer);
    pgw_buf_free(&here.scratch);
    pgw_buf_free(&here.sent);
    pgw_buf_free(&here.answers);
    assert_int_equal(write_group_identity.references, 1);
    return 0;
}

static void add(px_write_group *write_group)
{
    here.write_groups[here.attempt.count++] = write_group;
}

static void add_rows(size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(row_write_group((int)i));
}

static void begin(void)
{
    here.attempt.at = 0;
    pgw_buf_clear(&here.scratch);
    pgw_buf_clear(&here.sent);
    px_writer_begin(here.writer, &here.attempt);
}

/* What was written into `buf` since last time. */
static void expect_of(pgw_buf *buf, const char *expected)
{
    pgw_buf_add_byte(buf, '\0');
    assert_string_equal(buf->ptr, expected);
    pgw_buf_clear(buf);
}

#define expect_sent(expected) expect_of(&here.sent, expected)
#define expect_answers(expected) expect_of(&here.answers, expected)

static void say(pgw_buf *messages)
{
    pgw_slice in = pgw_slice_buf(messages);
    pgw_frame frame;
    while (pgw_frame_next(in, &frame) == PGW_FRAME_OK && here.progress != PX_PROGRESS_BROKEN) {
        here.progress =
            px_writer_on_message(here.writer, frame.type, (pgw_slice){in.ptr, frame.size});
        in = (pgw_slice){in.ptr + frame.size, in.len - frame.size};
    }
    pgw_buf_free(messages);
}

/* "C3" is a tag INSERT 0 3, "E23505" an error, 1 2 and Z as on the wire. */
static void hear(const char *replies)
{
    pgw_buf in = {0};
    char word[16], tag[40];
    pgw_error error;
    here.progress = PX_PROGRESS_MORE;
    for (int used; sscanf(replies, "%15s%n", word, &used) == 1; replies += used)
        switch (word[0]) {
        case 'C':
            snprintf(tag, sizeof tag, "INSERT 0 %s", word + 1);
            pgw_write_tag(tag, &in);
            break;
        case 'E':
            pgw_fail(&error, word + 1, "message");
            pgw_error_write(&error, "ERROR", &in);
            break;
        case '1':
            pgw_write_parse_complete(&in);
            break;
        case '2':
            pgw_write_bind_complete(&in);
            break;
        default:
            assert_int_equal(word[0], 'Z');
            pgw_write_ready(word[1] != '\0' ? word[1] : 'I', &in);
        }
    say(&in);
}

static void expect_progress(px_progress progress)
{
    assert_int_equal(here.progress, progress);
}

/* ---- what is sent ---- */

static void one_write_group_goes_as_its_client_sent_it(void **state)
{
    (void)state;
    add_rows(1);
    begin();
    expect_sent("Q[INSERT INTO t VALUES (0)]");
    hear("C1");
    expect_progress(PX_PROGRESS_MORE);
    expect_answers("");
    hear("Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("C0 ");
    assert_int_equal(here.write_groups[0]->statements[0].tag, 1);
}

static void several_are_one_statement(void **state)
{
    (void)state;
    add_rows(3);
    source_of(here.write_groups[1])->rows[0] = PGW_LITERAL("(7),(8)");
    here.write_groups[1]->statements[0].rows = 2;
    here.write_groups[1]->row_count = 2;
    begin();
    expect_sent("Q[insert into t values (0),\n(7),(8),\n(2)]");
    hear("C4 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("C0 C1 C2 ");
    assert_int_equal(here.write_groups[0]->statements[0].tag, 1);
    assert_int_equal(here.write_groups[1]->statements[0].tag, 2);
    assert_int_equal(here.write_groups[1]->completed, 1);
}

static void those_that_join_keep_statements_of_their_own(void **state)
{
    (void)state;
    here.attempt.joined = true;
    add_rows(2);
    begin();
    expect_sent("Q[INSERT INTO t VALUES (0)\n;\nINSERT INTO t VALUES (1)]");
    hear("C1 C1 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("C0 C1 ");
}

static void what_is_too_long_for_one_goes_as_several(void **state)
{
    (void)state;
    here.config.backend.capabilities.max_message = 52;
    add_rows(2);
    begin();
    expect_sent("Q[INSERT INTO t VALUES (0)\n;\nINSERT INTO t VALUES (1)]");
}

static void parameters_are_merged_too_or_bound(void **state)
{
    (void)state;
    static const uint32_t types[] = {20, 25};
    static const char text[] = "insert into t (k, v) values ($1, $2)";
    add(bound_write_group(text, types, 2, "5 a"));
    add(bound_write_group(text, types, 2, "6 -"));
    begin();
    expect_sent("Q[insert into t (k, v) values ('5'::int8, 'a'::text),\n"
                "('6'::int8, NULL::text)]");
    hear("C2 Z");
    expect_answers("C0 C1 ");
    here.attempt.joined = true;
    begin();
    expect_sent("CPBEBES");
    hear("1 2 C1 2 E23505");
    assert_true(here.write_groups[1]->statements[0].bound);
    hear("Z");
    expect_answers("R0 R1 ");
}

/* ---- what fails ---- */

static void one_that_fails_alone_keeps_its_error(void **state)
{
    (void)state;
    add(write_group_of(PX_WRITE_GROUP_TEXT, 2));
    source_of(here.write_groups[0])->alone = PGW_LITERAL("a; b");
    begin();
    expect_sent("Q[a; b]");
    hear("C1 E23505 E42601 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("F0 ");
    assert_int_equal(here.write_groups[0]->completed, 1);
    assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&here.write_groups[0]->error), 'C'),
                                 "23505"));
}

static void what_fails_together_is_repeated(void **state)
{
    (void)state;
    add_rows(3);
    begin();
    hear("E23505 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("R0 R1 R2 ");
    assert_int_equal(here.attempt.at, 0);
    assert_int_equal(here.write_groups[0]->completed, 0);
    assert_false(here.attempt.refused_size);
}

/* Nobody knows what is stored: not one of them is sent again. */
static void the_unknown_is_told_to_all(void **state)
{
    (void)state;
    add_rows(3);
    begin();
    hear("E08007 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("F0 F1 F2 ");
}

static void of_a_write_group_that_is_unknown_nothing_is_completed(void **state)
{
    (void)state;
    add(write_group_of(PX_WRITE_GROUP_TEXT, 2));
    source_of(here.write_groups[0])->alone = PGW_LITERAL("a; b");
    begin();
    hear("C1 E08007 Z");
    expect_answers("F0 ");
    assert_int_equal(here.write_groups[0]->completed, 0);
}

static void what_is_too_large_is_told(void **state)
{
    (void)state;
    add_rows(2);
    begin();
    hear("E54000 Z");
    expect_answers("R0 R1 ");
    assert_true(here.attempt.refused_size);
}

#define ROW(n) "INSERT INTO t VALUES (" #n ")"

/* Each has its own transaction: halves, the first one first, until what fails is alone. */
static void halves_find_the_row_that_fails(void **state)
{
    (void)state;
    here.attempt.shared = false;
    add_rows(5);
    begin();
    expect_sent("Q[insert into t values (0),\n(1)]");
    hear("C2 Z");
    expect_progress(PX_PROGRESS_MORE);
    expect_answers("C0 C1 ");
    assert_int_equal(here.attempt.at, 2);
    expect_sent("Q[insert into t values (2),\n(3),\n(4)]");
    hear("E23505 Z");
    expect_answers("");
    expect_sent("Q[" ROW(2) "]");
    hear("C1 Z");
    expect_answers("C2 ");
    expect_sent("Q[insert into t values (3),\n(4)]");
    hear("E23505 Z");
    expect_sent("Q[" ROW(3) "]");
    hear("E23505 Z");
    expect_answers("F3 ");
    expect_sent("Q[" ROW(4) "]");
    expect_progress(PX_PROGRESS_MORE);
    hear("C1 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("C4 ");
    assert_int_equal(here.attempt.at, 5);
}

static void halves_are_counted_each(void **state)
{
    (void)state;
    here.attempt.shared = false;
    add_rows(4);
    begin();
    hear("C2 Z");
    hear("C2 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("C0 C1 C2 C3 ");
}

/* Of a portion alone: the others are sent. */
static void the_unknown_of_a_half_is_that_halfs(void **state)
{
    (void)state;
    here.attempt.shared = false;
    add_rows(4);
    begin();
    hear("E08007 Z");
    expect_answers("F0 F1 ");
    assert_int_equal(here.attempt.at, 2);
    expect_progress(PX_PROGRESS_MORE);
    hear("C2 Z");
    expect_answers("C2 C3 ");
    expect_progress(PX_PROGRESS_DONE);
}

/* All rows fail: behind 32 statements each goes alone, so that no more than 32 + 64 are sent. */
static void many_failures_are_sent_singly(void **state)
{
    (void)state;
    here.attempt.shared = false;
    add_rows(MOST_WRITE_GROUPS);
    begin();
    size_t statements = 1, merged_behind = 0;
    for (here.progress = PX_PROGRESS_MORE; here.progress == PX_PROGRESS_MORE; statements++) {
        pgw_buf_add_byte(&here.sent, '\0');
        bool alone = strstr(here.sent.ptr, "INSERT") != NULL;
        merged_behind += statements > 32 && !alone;
        pgw_buf_clear(&here.sent);
        hear("E23505 Z");
    }
    assert_int_equal(here.attempt.at, MOST_WRITE_GROUPS);
    size_t failed = 0;
    for (size_t i = 0; i < here.answers.len; i++)
        failed += here.answers.ptr[i] == 'F';
    assert_int_equal(failed, MOST_WRITE_GROUPS);
    assert_true(statements <= 32 + MOST_WRITE_GROUPS + 8);
    assert_true(merged_behind <= 8); /* halves that wait when it begins to send singly */
}

/* An error of before is none of the next portion's. */
static void write_groups_are_sent_anew(void **state)
{
    (void)state;
    add_rows(2);
    begin();
    hear("E23505 Z");
    expect_answers("R0 R1 ");
    here.attempt.shared = false;
    begin();
    hear("C1 Z");
    hear("C1 Z");
    expect_progress(PX_PROGRESS_DONE);
    expect_answers("C0 C1 ");
}

/* ---- what is no answer ---- */

static void what_does_not_fit_breaks_the_link(void **state)
{
    (void)state;
    static const struct {
        size_t write_groups;
        const char *replies;
    } table[] = {
        {1, "Z"},         /* nothing is told of it */
        {1, "C1 C1"},     /* of one too many */
        {1, "C1 ZT"},     /* a transaction is open */
        {1, "E23505 ZE"}, /* … */
        {1, "C1 2"},      /* a Bind of nobody's */
        {2, "C1 Z"},      /* not all of the rows are stored */
        {2, "C3 Z"},      /* more than there are */
        {2, "Z"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        add_rows(table[i].write_groups);
        begin();
        hear(table[i].replies);
        expect_progress(PX_PROGRESS_BROKEN);
        expect_answers("");
        free_write_groups();
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_write_group_goes_as_its_client_sent_it),
        TEST(several_are_one_statement),
        TEST(those_that_join_keep_statements_of_their_own),
        TEST(what_is_too_long_for_one_goes_as_several),
        TEST(parameters_are_merged_too_or_bound),
        TEST(one_that_fails_alone_keeps_its_error),
        TEST(what_fails_together_is_repeated),
        TEST(the_unknown_is_told_to_all),
        TEST(of_a_write_group_that_is_unknown_nothing_is_completed),
        TEST(what_is_too_large_is_told),
        TEST(halves_find_the_row_that_fails),
        TEST(halves_are_counted_each),
        TEST(the_unknown_of_a_half_is_that_halfs),
        TEST(many_failures_are_sent_singly),
        TEST(write_groups_are_sent_anew),
        TEST(what_does_not_fit_breaks_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
