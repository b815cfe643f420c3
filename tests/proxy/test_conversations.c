/* Whole conversations: clients, keyspread between them, and the links that it opens, by transcripts
 * in tests/vectors/conversations. The backend's part was said by PostgreSQL: tests/proxy/record
 * makes it anew. There is no server. What many transcripts say stands once, in the file `phrases`
 * there (proxy/phrases.h). With --again FILE it prints what keyspread says now to what links are
 * written to say, which may be what no server would be made to say easily; with --whole FILE the
 * transcript without phrases. */
#define _GNU_SOURCE
#include "tests/proxy/conversation.h"
#include "tests/proxy/phrases.h"

#include <errno.h>
#include <glob.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>

enum { MOST = 8192, MOST_SECONDS = 600, QUIET_MS = 150, READY_MS = 10 };

#define FOLDER VECTORS "/conversations"

/* ---- what a line does ---- */

static size_t link_named(char name)
{
    size_t number = (size_t)(name - '1');
    assert_true(number < here.link_count);
    return number;
}

/* A word to who records: what its server says is not heard any more, or not from `later` to `now`,
 * nor is the link ready meanwhile. */
static bool is_to_recorder(const char *what)
{
    return strcmp(what, "silent") == 0 || strcmp(what, "later") == 0 || strcmp(what, "now") == 0;
}

/* "1! ready" and what else becomes of a link. */
static void happen(size_t number, const char *what)
{
    if (!is_to_recorder(what))
        (here.sockets ? endpoint_happen : script_happen)(number, what);
}

/* Of the client that came as the `slot`-th. */
static void cancel(size_t slot)
{
    const px_session *session = px_sessions_at(&here.worker, slot);
    assert_non_null(session);
    pgw_buf key = {0};
    px_cancel_key(session, &key);
    px_sessions_cancel(&here.server, session->peer.pid, pgw_slice_buf(&key));
    pgw_buf_free(&key);
}

/* Nothing is heard by it. */
static bool is_output(const char *line)
{
    bool of_link = line[0] >= '1' && line[0] <= '9';
    return line[0] != '\0' && line[0] != '=' &&
           (line[1] == '<' || (of_link && strchr("+-.x", line[1]) != NULL));
}

static bool is_said(const char *line)
{
    return line[0] != '\0' && line[1] == '>';
}

/* More than the socket takes at once is read meanwhile. */
static void send_all(int fd, pgw_slice bytes)
{
    int waited = 0;
    for (ssize_t n; bytes.len > 0; bytes.ptr += n, bytes.len -= (size_t)n)
        if ((n = send(fd, bytes.ptr, bytes.len, 0)) < 0) {
            assert_true(errno == EAGAIN && waited++ < PATIENCE);
            n = 0;
            turn();
        } else {
            waited = 0;
        }
}

/* What the lines `from` to `to` say, all by one. */
static void say(char *const *from, char *const *to)
{
    char name = (*from)[0];
    pgw_buf bytes = {0};
    for (; from < to; from++)
        read_message(*from + 3, &bytes);
    if (name > '9') {
        send_all(here.clients[name - 'a'].fd, pgw_slice_buf(&bytes));
    } else {
        (here.sockets ? endpoint_say : script_say)(link_named(name), pgw_slice_buf(&bytes));
    }
    pgw_buf_free(&bytes);
}

static void act(const char *line)
{
    client *c = line[0] > '9' ? &here.clients[line[0] - 'a'] : NULL;
    unsigned ms;
    if (sscanf(line, "! %u ms", &ms) == 1)
        pass_time(ms);
    else if (strcmp(line, "! drain") == 0)
        px_worker_drain(&here.worker);
    else if (c == NULL && line[1] == '!')
        happen(link_named(line[0]), line + 3);
    else if (c != NULL && strcmp(line + 1, "! cancel") == 0)
        cancel((size_t)(c - here.clients));
    else if (c != NULL && line[1] == '+')
        come(c, line[0], line + 3);
    else if (c != NULL && line[1] == '-')
        shutdown(c->fd, SHUT_WR);
    else
        fail_msg("what is: %s", line);
}

/* The lines that are one step's, from `i` on: what one party says at once, or one line. */
static size_t do_step(char **lines, size_t i)
{
    size_t first = i++;
    if (!is_said(lines[first])) {
        act(lines[first]);
        return i;
    }
    while (is_said(lines[i]) && lines[i][0] == lines[first][0])
        i++;
    say(lines + first, lines + i);
    return i;
}

/* ---- a transcript ---- */

typedef struct transcript {
    char *text, *lines[MOST];
    size_t count;
    unsigned numbers[MOST]; /* The line of the file in which each line of the transcript stands. */
} transcript;

static void read_transcript(const char *path, transcript *t)
{
    pgw_buf whole = {0};
    char *file = read_text(path), *at = file;
    *t = (transcript){0};
    for (unsigned number = 1; *at != '\0'; number++) {
        size_t before = whole.len;
        char *line = cut_line(&at);
        if (line[0] == '@')
            say_phrase(line, &whole);
        else
            pgw_buf_addf(&whole, "%s\n", line);
        for (; before < whole.len; before++)
            if (whole.ptr[before] == '\n') {
                assert_true(t->count < MOST - 1);
                t->numbers[t->count++] = number;
            }
    }
    free(file);
    pgw_buf_add_byte(&whole, '\0');
    at = t->text = whole.ptr;
    for (size_t i = 0; i < t->count; i++)
        t->lines[i] = cut_line(&at);
    assert_int_equal(*at, '\0');
    t->lines[t->count] = (char *)"";
}

static bool is_nothing(const char *line)
{
    return line[0] == '\0' || line[0] == '#' || line[0] == '=';
}

/* ---- playing ---- */

/* The last lines of a transcript are what is counted. */
static void expect_counts(const transcript *t)
{
    pgw_buf expected = {0}, counts = {0};
    for (size_t i = 0; i < t->count; i++)
        if (t->lines[i][0] == '=')
            pgw_buf_addf(&expected, "%s\n", t->lines[i]);
    print_counts(&counts);
    pgw_buf_add_byte(&expected, '\0');
    pgw_buf_add_byte(&counts, '\0');
    assert_string_equal(counts.ptr, expected.ptr);
    pgw_buf_free(&expected);
    pgw_buf_free(&counts);
}

/* The lines expected from `i` on; returns the index behind them. */
static size_t expect(const transcript *t, size_t i, const pgw_buf *said)
{
    pgw_buf expected = {0};
    for (; i < t->count && is_output(t->lines[i]); i++)
        pgw_buf_addf(&expected, "%s\n", t->lines[i]);
    pgw_buf_add_byte(&expected, '\0');
    if (strcmp(expected.ptr, said->ptr) != 0)
        print_error("at line %u; tests/proxy/record makes transcripts anew\n",
                    i > 0 ? t->numbers[i - 1] : 1);
    assert_string_equal(said->ptr, expected.ptr);
    pgw_buf_free(&expected);
    return i;
}

/* By the configuration that its first line names: "# x.yaml: what it is about". */
static void begin_as(const transcript *t)
{
    char name[32], path[512];
    if (sscanf(t->lines[0], "# %31[a-z_.]:", name) != 1 || strstr(name, ".yaml") == NULL)
        strcpy(name, "keyspread.yaml");
    snprintf(path, sizeof path, FOLDER "/%s", name);
    begin(path);
}

static void play(void **state)
{
    transcript t;
    read_transcript(*state, &t);
    alarm(MOST_SECONDS);
    begin_as(&t);
    for (size_t i = 0; i < t.count;) {
        if (is_nothing(t.lines[i])) {
            i++;
            continue;
        }
        pgw_buf said = {0};
        i = do_step(t.lines, i);
        take_step(&said);
        pgw_buf_add_byte(&said, '\0');
        i = expect(&t, i, &said);
        pgw_buf_free(&said);
    }
    expect_counts(&t);
    free(t.text);
}

/* Also of what has failed: what is left of it in the process would be met by all that follow. */
static int leave(void **state)
{
    (void)state;
    alarm(MOST_SECONDS); /* better dead than waiting for ever */
    end();
    alarm(0);
    return 0;
}

/* ---- recording ---- */

static FILE *out; /* the transcript, before it is made short */
static PGconn *conns[LINKS];
static bool waits[LINKS]; /* for its server's ReadyForQuery */
static bool silent[LINKS];
static bool held[LINKS]; /* from `later` to `now` */
static bool welcomed[LINKS];

static bool is_there(size_t number)
{
    return here.sockets ? endpoint.links[number] > 0 : here.scripts[number] != NULL;
}

/* As `startup` says, the pairs of a startup packet, but for where to. */
static void connect_server(size_t number, const char *startup)
{
    const char *names[16] = {"dbname"}, *values[16] = {getenv("KEYSPREAD_RECORD")};
    for (size_t i = 1; *startup != '\0' && i < 15; startup += strlen(startup) + 1) {
        names[i] = startup;
        startup += strlen(startup) + 1;
        if (strcmp(names[i], "database") != 0)
            values[i++] = startup;
        else
            names[i] = NULL;
    }
    conns[number] = PQconnectdbParams(names, values, 1);
    assert_int_equal(PQstatus(conns[number]), CONNECTION_OK);
}

static void send_server(size_t number, const void *ptr, size_t len)
{
    struct pollfd room = {.fd = PQsocket(conns[number]), .events = POLLOUT};
    for (size_t sent = 0; sent < len && poll(&room, 1, -1) > 0;) {
        ssize_t n = send(room.fd, (const char *)ptr + sent, len - sent, MSG_NOSIGNAL);
        if (n <= 0)
            break; /* one that has gone is heard of when it is listened to */
        sent += (size_t)n;
    }
    waits[number] = true;
}

static void print_step(void)
{
    pgw_buf said = {0};
    take_step(&said);
    fprintf(out, "%.*s\n", (int)said.len, said.ptr != NULL ? said.ptr : "");
    pgw_buf_free(&said);
}

static bool has_more(size_t number)
{
    if (silent[number])
        return false;
    struct pollfd wait = {.fd = PQsocket(conns[number]), .events = POLLIN};
    return poll(&wait, 1, waits[number] ? QUIET_MS : READY_MS) > 0;
}

/* What one link's server has said meanwhile becomes a step; false if there was nothing. */
static bool hear_server(size_t number)
{
    party heard = {.name = (char)('1' + number)};
    bool lost = false;
    while (!lost && has_more(number)) {
        char *to = pgw_buf_reserve(&heard.raw, 4096);
        ssize_t n = recv(PQsocket(conns[number]), to, 4096, MSG_DONTWAIT);
        heard.raw.len += n > 0 ? (size_t)n : 0;
        lost = silent[number] = n <= 0;
        waits[number] = n < 6 || heard.raw.ptr[heard.raw.len - 6] != 'Z';
    }
    waits[number] = false;
    bool any = lost || heard.raw.len > 0;
    pgw_buf bytes = {0};
    pgw_buf_add_slice(&bytes, pgw_slice_buf(&heard.raw));
    take_messages(&heard, '>', true);
    assert_int_equal(heard.raw.len, 0);
    fprintf(out, "%.*s", (int)heard.lines.len, heard.lines.ptr != NULL ? heard.lines.ptr : "");
    if (heard.lines.len > 0) {
        (here.sockets ? endpoint_say : script_say)(number, pgw_slice_buf(&bytes));
        print_step();
    }
    pgw_buf_free(&bytes);
    if (lost && is_there(number)) {
        fprintf(out, "%c! lost\n", heard.name);
        happen(number, "lost");
        print_step();
    }
    pgw_buf_free(&heard.raw);
    pgw_buf_free(&heard.lines);
    return any;
}

/* It has not been welcomed yet. */
static bool is_opening(size_t number)
{
    return here.sockets ? endpoint.links[number] > 0 && !welcomed[number]
                        : here.scripts[number]->link.opening;
}

/* Links open and servers talk until there is nothing more. `next` is what the transcript does then,
 * perhaps to a link that opens. */
static void settle_all(const char *next)
{
    for (bool busy = true; busy;) {
        busy = false;
        for (size_t i = 0; i < here.link_count && !busy; i++) {
            if (!is_there(i) || held[i] || (is_opening(i) && next[0] == here.links[i].name))
                continue;
            if (is_opening(i)) {
                fprintf(out, "%zu! ready\n", i + 1);
                welcomed[i] = true;
                happen(i, "ready");
                print_step();
                busy = true;
            } else {
                busy = hear_server(i);
            }
        }
    }
}

/* Whether the line stays as it is. */
static bool is_ours(const char *line)
{
    return line[0] == '!' || (line[0] >= 'a' && line[1] != '<') ||
           (line[0] != '\0' && line[1] == '!' && strstr(line, "ready") == NULL);
}

/* Its server has gone, as it had when the transcript was made before. */
static bool has_happened(const char *line)
{
    size_t number = (size_t)(line[0] - '1');
    return number < here.link_count && strcmp(line + 1, "! lost") == 0 && !is_there(number);
}

static const char *next_of_ours(const transcript *t, size_t i)
{
    while (i < t->count && !is_ours(t->lines[i]))
        i++;
    return t->lines[i];
}

static void heed(const char *line)
{
    size_t number = (size_t)(line[0] - '1');
    if (line[1] != '!' || number >= LINKS || !is_to_recorder(line + 3))
        return;
    silent[number] = silent[number] || strcmp(line + 3, "silent") == 0;
    held[number] = strcmp(line + 3, "later") == 0;
}

/* Prints the transcript with the same clients and another server's part. */
static void record(const char *path)
{
    transcript t;
    read_transcript(path, &t);
    begin_as(&t);
    here.on_open = connect_server;
    here.on_send = send_server;
    for (size_t i = 0; i < t.count;) {
        const char *line = t.lines[i];
        if (line[0] == '#')
            fprintf(out, "%s\n", line);
        if (!is_ours(line) || has_happened(line)) {
            i++;
            continue;
        }
        heed(line);
        size_t before = i;
        i = do_step(t.lines, i);
        for (size_t k = before; k < i; k++)
            fprintf(out, "%s\n", t.lines[k]);
        print_step();
        settle_all(next_of_ours(&t, i));
    }
    pgw_buf counts = {0};
    print_counts(&counts);
    fprintf(out, "%.*s", (int)counts.len, counts.ptr != NULL ? counts.ptr : "");
    pgw_buf_free(&counts);
    end();
    for (size_t i = 0; i < LINKS; i++)
        PQfinish(conns[i]);
    free(t.text);
}

/* Prints the transcript with what keyspread says now; links say what they did. */
static void rewrite(const char *path)
{
    transcript t;
    read_transcript(path, &t);
    begin_as(&t);
    for (size_t i = 0; i < t.count;) {
        size_t before = i;
        if (is_nothing(t.lines[i]) || is_output(t.lines[i])) {
            if (t.lines[i++][0] == '#')
                fprintf(out, "%s\n", t.lines[before]);
            continue;
        }
        i = do_step(t.lines, i);
        for (size_t k = before; k < i; k++)
            fprintf(out, "%s\n", t.lines[k]);
        print_step();
    }
    pgw_buf counts = {0};
    print_counts(&counts);
    fprintf(out, "%.*s", (int)counts.len, counts.ptr != NULL ? counts.ptr : "");
    pgw_buf_free(&counts);
    end();
    free(t.text);
}

/* Prints it as it is, but for its phrases. */
static void write_out(const char *path)
{
    transcript t;
    read_transcript(path, &t);
    for (size_t i = 0; i < t.count; i++)
        fprintf(out, "%s\n", t.lines[i]);
    free(t.text);
}

/* What `print` makes of the transcript goes to the standard output with phrases, if it is to be
 * short. */
static void print_transcript(void (*print)(const char *path), const char *path, bool is_short)
{
    char *text = NULL;
    size_t size = 0;
    out = is_short ? open_memstream(&text, &size) : stdout;
    assert_non_null(out);
    print(path);
    if (!is_short)
        return;
    fclose(out);
    print_short(text);
    free(text);
}

int main(int argc, char **argv)
{
    read_phrases(FOLDER "/phrases");
    if (argc > 1) {
        bool again = strcmp(argv[1], "--again") == 0, whole = strcmp(argv[1], "--whole") == 0;
        print_transcript(again ? rewrite : whole ? write_out : record, argv[argc - 1], !whole);
        free_phrases();
        return 0;
    }
    glob_t found;
    assert_int_equal(glob(FOLDER "/*.txt", 0, NULL, &found), 0);
    struct CMUnitTest *tests = pgw_calloc(found.gl_pathc, sizeof *tests);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        tests[i] = (struct CMUnitTest){name, play, NULL, leave, found.gl_pathv[i]};
    }
    int failed = _cmocka_run_group_tests("conversations", tests, found.gl_pathc, NULL, NULL);
    globfree(&found);
    free(tests);
    free_phrases();
    return failed;
}
