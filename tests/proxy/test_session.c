/* A session by tables: what its client sends and its link says, and what both of them get. The
 * client is a socket pair, the link a script: there is no server. */
#define _GNU_SOURCE
#include "one_worker.h"

#include "protocol/backend.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "proxy/base/log.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/door/credentials.h"
#include "proxy/client/door/session_io.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { TURNS = 1000, PID = 4711 };

/* What was sent lies in `out`, what is to be said in `in`. */
typedef struct script {
    px_link link;
    pgw_buf in, out;
    size_t start;
    bool cancelled;
} script;

static struct {
    px_server server;
    px_worker worker;
    cfg_config config;
    px_credentials credentials;
    script *link; /* the latest; NULL: none is open */
    unsigned opened;
    int client;
    pgw_buf heard;
    bool over; /* the session has closed the connection */
} here;

/* ---- a kind of backend ---- */

#include "link_script.h"

static void script_open(px_link *link)
{
    here.link = script_of(link);
    here.opened++;
    link->pid = PID;
}

static void script_close(px_link *link)
{
    pgw_buf_free(&script_of(link)->in);
    pgw_buf_free(&script_of(link)->out);
    if (here.link == script_of(link))
        here.link = NULL;
    px_link_end(link);
}

static void script_finish(px_link *link)
{
    pgw_buf_add_byte(&script_of(link)->out, '.'); /* the end of what we send */
}

static void script_send(px_link *link, const void *ptr, size_t len)
{
    pgw_buf_add(&script_of(link)->out, ptr, len);
}

static void script_cancel(px_link *link)
{
    script_of(link)->cancelled = true;
}

static bool script_cancelling(const px_link *link)
{
    (void)link;
    return false;
}

static void script_expect(px_link *link, size_t len)
{
    (void)link;
    (void)len;
}

static const char *script_parameter(const px_link *link, const char *name)
{
    (void)link;
    static const char *const values[][2] = {{"client_encoding", "UTF8"},
                                            {"server_encoding", "UTF8"},
                                            {"standard_conforming_strings", "on"},
                                            {"TimeZone", "UTC"},
                                            {"DateStyle", "ISO, MDY"},
                                            {"IntervalStyle", "postgres"},
                                            {"session_authorization", "u"}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i][0], name) == 0)
            return values[i][1];
    return NULL;
}

static const px_backend backend = {.name = "script", .link = &script_kind};

/* ---- who says what ---- */

static void add_error(const char *severity, const char *sqlstate, pgw_buf *out)
{
    pgw_error error;
    pgw_fail(&error, sqlstate, "by the script");
    pgw_error_write(&error, severity, out);
}

static void add_body(char type, pgw_slice body, pgw_buf *out)
{
    size_t begun = pgw_begin(out, type);
    pgw_buf_add_slice(out, body);
    pgw_end_small(out, begun);
}

/* The answer to the question what the session has on its link (state.h). */
static void add_state(pgw_buf *out)
{
    static const char *const cells[] = {"u",  "none", "UTF8", "ISO, MDY",  "postgres", "UTC",  "on",
                                        "on", "0",    "0",    "\"$user\"", "hex",      "eager"};
    pgw_buf row = {0};
    pgw_buf_add_i16(&row, sizeof cells / sizeof *cells);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        pgw_buf_add_i32(&row, (int32_t)strlen(cells[i]));
        pgw_buf_add_str(&row, cells[i]);
    }
    add_body('D', pgw_slice_buf(&row), out);
    pgw_buf_free(&row);
}

/* The link's messages, a word each: D@ is what add_state() adds, Z with a status, E and F with a
 * SQLSTATE, C with a tag, the others by their type alone. */
static void say(const char *words)
{
    char word[64];
    pgw_buf *in = &here.link->in;
    for (int used; sscanf(words, "%63s%n", word, &used) == 1; words += used) {
        for (char *c = word; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
        switch (word[0]) {
        case 'Z':
            pgw_write_ready(word[1], in);
            break;
        case 'E':
        case 'F':
            add_error(word[0] == 'E' ? "ERROR" : "FATAL", word + 1, in);
            break;
        case 'C':
            pgw_write_tag(word + 1, in);
            break;
        case 'S':
            pgw_write_parameter_status(PGW_LITERAL("application_name"), pgw_slice_str(word + 1),
                                       in);
            break;
        case 'D':
            if (word[1] == '@')
                add_state(in);
            else
                add_body('D', PGW_LITERAL("\0\0"), in);
            break;
        case 'T':
            add_body('T', PGW_LITERAL("\0\0"), in);
            break;
        case 'G':
            add_body('G', PGW_LITERAL("\0\0\0"), in);
            break;
        default:
            add_body(word[0], (pgw_slice){NULL, 0}, in);
        }
    }
}

/* The client's messages: Q and P with a text, the others by their type alone; '|' between them. */
static void add_request(const char *word, size_t len, pgw_buf *out)
{
    pgw_slice text = {word + 1, len - 1};
    pgw_bind bind = {0};
    switch (word[0]) {
    case 'Q':
        pgw_certainly(pgw_write_query(text, out));
        break;
    case 'P':
        pgw_certainly(pgw_write_parse(PGW_LITERAL(""), text, NULL, 0, out));
        break;
    case 'B':
        pgw_certainly(pgw_write_bind(&bind, PGW_LITERAL(""), PGW_LITERAL(""), NULL, 0, out));
        break;
    case 'D':
        pgw_write_describe('P', PGW_LITERAL(""), out);
        break;
    case 'E':
        pgw_write_execute(PGW_LITERAL(""), 0, out);
        break;
    default:
        add_body(word[0], text, out);
    }
}

static void turn(void)
{
    for (int i = 0; i < 4; i++)
        uv_run(&here.worker.loop, UV_RUN_NOWAIT);
}

static void listen_to(void)
{
    turn();
    for (ssize_t n = 1; n > 0;) {
        char *to = pgw_buf_reserve(&here.heard, 4096);
        n = recv(here.client, to, 4096, MSG_DONTWAIT);
        here.heard.len += n > 0 ? (size_t)n : 0;
        here.over = here.over || n == 0;
    }
}

static void request(const char *words)
{
    pgw_buf out = {0};
    while (*words != '\0') {
        size_t len = strcspn(words, "|");
        add_request(words, len, &out);
        words += len + (words[len] == '|');
    }
    assert_int_equal(send(here.client, out.ptr, out.len, 0), out.len);
    pgw_buf_free(&out);
    listen_to();
}

/* The types of all messages in `bytes`, which is emptied; behind E the SQLSTATE, behind Z the
 * status. */
static const char *types(pgw_buf *bytes)
{
    static char list[256];
    char *at = list;
    pgw_slice rest = pgw_slice_buf(bytes);
    pgw_frame frame;
    *at = '\0';
    for (; rest.len > 0 && *rest.ptr == '.'; rest.ptr++, rest.len--)
        at = stpcpy(at, ".");
    while (pgw_frame_next(rest, &frame) == PGW_FRAME_OK && frame.size <= rest.len) {
        pgw_slice body = pgw_frame_body(rest, frame), code = {NULL, 0};
        if (frame.type == 'Z')
            code = body;
        else if (frame.type == 'E' && body.len > 9) /* an Execute has an 'E' as well */
            code = pgw_error_field(body, 'C');
        at += sprintf(at, "%c%.*s", frame.type, (int)code.len, code.ptr);
        rest.ptr += frame.size;
        rest.len -= frame.size;
        for (; rest.len > 0 && *rest.ptr == '.'; rest.ptr++, rest.len--)
            at = stpcpy(at, ".");
    }
    assert_int_equal(rest.len, 0);
    pgw_buf_clear(bytes);
    return list;
}

/* ---- coming and going ---- */

static int set_up(void **state)
{
    (void)state;
    memset(&here, 0, sizeof here);
    signal(SIGPIPE, SIG_IGN);
    px_log_level(CFG_LOG_ERROR);
    here.config.backend.max_links = 4;
    here.config.backend.link_wait_ms = 1000;
    here.config.backend.connect_ms = 1000;
    here.config.backend.dsn = "";
    here.config.limits.clients = 10;
    here.config.limits.startup_ms = 3600000;
    here.config.limits.incomplete_bytes = 1024 * 1024;
    here.config.limits.queue_bytes = 1024 * 1024;
    here.credentials.references = 1;
    one_worker_begin(&here.server, &here.worker, &here.config, &backend, &here.credentials);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    one_worker_end(&here.server, &here.worker);
    return here.credentials.references != 1;
}

/* A client comes, its link is opened, it is greeted. */
static void come(void)
{
    static const char packet[] = "\0\0\0\x15\0\3\0\0user\0u\0\0\0\0\0\0";
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    here.client = fds[0];
    here.over = false;
    atomic_fetch_add(&here.server.unauthenticated, 1);
    atomic_fetch_add(&here.worker.load, 1);
    px_session_io_begin(&here.worker, fds[1], NULL, NULL);
    char startup[16];
    memcpy(startup, packet, sizeof startup);
    startup[3] = 16;
    assert_int_equal(send(here.client, startup, 16, 0), 16);
    listen_to();
    assert_non_null(here.link);
    px_link_be_ready(&here.link->link);
    listen_to();
}

static void leave(void)
{
    close(here.client);
    for (int i = 0; i < TURNS && px_sessions_at(&here.worker, 0) != NULL; i++) {
        turn();
        if (here.link != NULL && here.link->out.len > 0 &&
            memchr(here.link->out.ptr, '.', here.link->out.len) != NULL)
            here.link->link.ops->on_lost(&here.link->link, "the script ends");
    }
    assert_null(px_sessions_at(&here.worker, 0));
    turn();
    pgw_buf_free(&here.heard);
}

/* ---- tables ---- */

typedef struct step {
    const char *request; /* of the client; NULL: nothing */
    const char *to_link; /* the types that the link gets for it */
    const char *says;    /* the link, then; "lost": it is gone */
    const char *heard;   /* the types that the client gets */
} step;

static void run(const step *steps)
{
    come();
    assert_string_equal(types(&here.heard), "RSSSSSSSSKZI");
    for (const step *s = steps; s->heard != NULL; s++) {
        if (s->request != NULL)
            request(s->request);
        if (s->to_link != NULL)
            assert_string_equal(types(&here.link->out), s->to_link);
        if (s->says != NULL && strcmp(s->says, "lost") == 0) {
            here.link->link.ops->on_lost(&here.link->link, "the script says so");
        } else if (s->says != NULL) {
            say(s->says);
            here.link->link.ops->on_message(&here.link->link);
        }
        listen_to();
        assert_string_equal(types(&here.heard), s->heard);
    }
}

#define TABLE(name, ...)                                                                           \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        static const step steps[] = {__VA_ARGS__, {NULL, NULL, NULL, NULL}};                       \
        run(steps);                                                                                \
        leave();                                                                                   \
    }

TABLE(test_a_query_is_relayed, {"Qselect 1", "Q", "T D CSELECT_1 ZI", "TDCZI"},
      {"Qselect 1|Qselect 2", "QQ", "T D CSELECT_1 ZI T", "TDCZIT"},
      {NULL, NULL, "D CSELECT_1 ZI", "DCZI"})

TABLE(test_a_group_is_relayed, {"Pselect 1|B|D|E|S", "PBDES", "1 2 T D CSELECT_1 ZI", "12TDCZI"},
      {"Pselect 1|H", "PH", "1", "1"}, {"B|E|S", "BES", "2 D CSELECT_1 ZI", "2DCZI"})

TABLE(test_an_error_skips_to_sync, {"Pselect 1|B", "PB", "E42601", "E42601"}, {"E|D", "", NULL, ""},
      {"S", "S", "ZI", "ZI"}, {"Qselect 1", "Q", "CSELECT_0 ZI", "CZI"})

/* Before the first statement that may change something there the link is asked, unseen. */
#define ASKED "3 1 2 D@ CSELECT_1 3 3 ZI"

TABLE(test_a_transaction, {"Qbegin", "", NULL, "CZT"},
      {"Qselect 1", "PBECCQ", "1 2 CBEGIN 3 3 E22012 ZE", "E22012ZE"},
      {"Qrollback", "Q", "CROLLBACK ZI", "CZI"})

TABLE(test_a_transaction_by_groups, {"PBEGIN|B|D|E|S", "", NULL, "12nCZT"},
      {"Pselect 1|B|E|S", "PBEPBES", "1 2 CBEGIN 1 2 CSELECT_1 ZT", "12CZT"},
      {"PCOMMIT|B|E|S", "PBES", "1 2 CCOMMIT ZI", "12CZI"})

TABLE(test_a_transaction_of_nothing, {"Qbegin", "", NULL, "CZT"}, {"Qcommit", "", NULL, "CZI"},
      {"Qstart transaction", "", NULL, "CZT"}, {"Qabort", "", NULL, "CZI"},
      {"Qselect 1", "Q", "CSELECT_1 ZI", "CZI"})

TABLE(test_a_begin_with_company, {"Qbegin|Qselect 1", "CPBECCS", ASKED, ""},
      {NULL, "QQ", "CBEGIN ZT CSELECT_1 ZT", "CZTCZT"})

TABLE(test_what_comes_behind_waits, {"Qbegin", "", NULL, "CZT"},
      {"Qselect 1|Qselect 2", "PBECCQ", "1 2 CBEGIN 3 3 CSELECT_1 ZT", "CZT"},
      {NULL, "Q", "CSELECT_1 ZT", "CZT"})

/* What leads a transaction into failure without its client's knowledge, and what the link says. */
#define FAILING "CPBECCCPBECCS"
#define FAILED "3 1 2 CBEGIN 3 3 3 1 2 E3B001 ZE"

TABLE(test_a_begin_is_refused, {"Qbegin", "", NULL, "CZT"},
      {"Qselect 1|Qselect 2", "PBECCQ", "E57014", "E57014"},
      {NULL, "S" FAILING, "ZI " FAILED, "ZE"}, {NULL, "Q", "E25P02 ZE", "E25P02ZE"},
      {"Qrollback", "Q", "CROLLBACK ZI", "CZI"})

TABLE(test_a_begin_is_refused_before_a_group, {"Qbegin", "", NULL, "CZT"},
      {"Pselect 1|B|E|S", "PBECCPBES", "E57014 ZI", "E57014"}, {NULL, FAILING, FAILED, "ZE"})

TABLE(test_a_begin_is_refused_before_the_end_of_a_group, {"Qbegin", "", NULL, "CZT"},
      {"Pselect 1|H", "PBECCPH", "E57014", "E57014"}, {"B|E", "", NULL, ""},
      {"S", "S" FAILING, "ZI " FAILED, "ZE"})

TABLE(test_a_begin_is_refused_twice, {"Qbegin", "", NULL, "CZT"},
      {"Qselect 1", "PBECCQ", "E57014", "E57014"},
      {NULL, "S" FAILING, "ZI 3 1 2 E57014 ZI", "E08006"})

TABLE(test_copy_in, {"Qcopy t from stdin", "CPBECCS", ASKED, ""}, {NULL, "Q", "G", "G"},
      {"d1|d2|c", "ddc", "CCOPY_2 ZI", "CZI"})

TABLE(test_what_comes_unasked, {NULL, NULL, "N Sme", "NS"},
      {"Qselect 1", "Q", "Sme T D N CSELECT_1 ZI", "STDNCZI"})

TABLE(test_a_sync_is_relayed, {"S", "S", "ZI", "ZI"}, {"S|S", "SS", "ZI ZI", "ZIZI"})

TABLE(test_the_own_link_is_lost, {NULL, NULL, "lost", "E57P01"})

TABLE(test_the_own_link_is_lost_in_a_statement, {"Qselect 1", "Q", "lost", "E08006"})

TABLE(test_a_fatal_error, {"Qselect 1", "Q", "F57P01", "E57P01"}, {NULL, NULL, "lost", ""})

TABLE(test_an_impossible_message, {"Qselect 1", "Q", "!", "E08006"})

TABLE(test_an_impossible_request, {"!", NULL, NULL, "E08P01"})

TABLE(test_a_goodbye, {"X", NULL, NULL, ""})

TABLE(test_a_goodbye_waits_for_answers, {"Qselect 1|X", "QX.", "CSELECT_0 ZI", "CZI"},
      {NULL, NULL, "lost", ""})

/* The client is the first to be told, and the session ends. */
static void test_the_end_is_seen(void **state)
{
    (void)state;
    come();
    types(&here.heard);
    here.link->link.ops->on_lost(&here.link->link, "the script says so");
    listen_to();
    listen_to();
    assert_true(here.over);
    assert_null(here.link);
    leave();
}

static void test_a_session_is_ready_once_it_is_greeted(void **state)
{
    (void)state;
    come();
    const px_session *session = px_sessions_at(&here.worker, 0);
    assert_int_equal(session->state, PX_READY);
    assert_int_equal(session->wait, PX_WAIT_NOTHING);
    assert_true(px_session_is_sound(session));
    assert_true(px_session_idle(session));
    assert_int_equal(session->peer.pid, PID);
    assert_int_equal(here.opened, 1);
    leave();
    assert_int_equal(atomic_load(&here.server.clients), 0);
    assert_int_equal(atomic_load(&here.server.unauthenticated), 0);
}

/* Protocols before 3 know errors of another form. */
static void test_a_client_of_protocol_2(void **state)
{
    (void)state;
    static const char packet[] = "\0\0\0\x10\0\2\0\0user\0u\0\0";
    static const char said[] = "EFATAL:  unsupported frontend protocol 2.0";
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    here.client = fds[0];
    atomic_fetch_add(&here.server.unauthenticated, 1);
    atomic_fetch_add(&here.worker.load, 1);
    px_session_io_begin(&here.worker, fds[1], NULL, NULL);
    assert_int_equal(send(here.client, packet, 16, 0), 16);
    listen_to();
    assert_true(here.heard.len > sizeof said);
    assert_memory_equal(here.heard.ptr, said, sizeof said - 1);
    assert_memory_equal(here.heard.ptr + here.heard.len - 2, "\n\0", 2);
    listen_to();
    assert_true(here.over);
    assert_int_equal(here.opened, 0);
    leave();
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_session_is_ready_once_it_is_greeted),
        TEST(test_a_query_is_relayed),
        TEST(test_a_group_is_relayed),
        TEST(test_an_error_skips_to_sync),
        TEST(test_a_transaction),
        TEST(test_a_transaction_by_groups),
        TEST(test_a_transaction_of_nothing),
        TEST(test_a_begin_with_company),
        TEST(test_what_comes_behind_waits),
        TEST(test_a_begin_is_refused),
        TEST(test_a_begin_is_refused_before_a_group),
        TEST(test_a_begin_is_refused_before_the_end_of_a_group),
        TEST(test_a_begin_is_refused_twice),
        TEST(test_copy_in),
        TEST(test_what_comes_unasked),
        TEST(test_a_sync_is_relayed),
        TEST(test_the_own_link_is_lost),
        TEST(test_the_own_link_is_lost_in_a_statement),
        TEST(test_a_fatal_error),
        TEST(test_an_impossible_message),
        TEST(test_an_impossible_request),
        TEST(test_a_goodbye),
        TEST(test_a_goodbye_waits_for_answers),
        TEST(test_the_end_is_seen),
        TEST(test_a_client_of_protocol_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
