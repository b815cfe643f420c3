/* Monitoring is asked for a table's partitions: what is asked, and what is made of what it says. */
#include "ydb/places/viewer.h"

#include "ydb/places/described.h"
#include "tests/ydb/places/monitoring.h"

#include <curl/curl.h>

static const cfg_table table = {
    .name = (char *)"a t", .hash_column = (char *)"h", .hash_type = CFG_HASH_INT8};
static _Atomic bool stopping;
static px_viewer *viewer;
static px_viewed seen;

static int setup(void **state)
{
    (void)state;
    px_viewer_global();
    stopping = false;
    monitoring_start();
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* nobody's business */
    viewer = px_viewer_new(monitoring.url, "local", &stopping);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_viewer_free(viewer);
    monitoring_stop();
    return 0;
}

#define BOUNDARIES "{\"Table\":{\"SplitBoundary\":[{\"KeyPrefix\":{\"Tuple\":[\"-5\"]}}]}}"

static void expect_reason(bool answered, const char *reason)
{
    assert_int_equal(seen.answered, answered);
    assert_string_equal(seen.reason, reason);
}

static void partitions_are_read(void **state)
{
    (void)state;
    set_answer(0, (answer){"/viewer/json/describe", 200, BOUNDARIES, NULL});
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(true, "");
    assert_int_equal(seen.partitions.kind, RW_PARTITION_AT);
    assert_int_equal(seen.partitions.count, 2);
    assert_int_equal((int64_t)seen.partitions.at[0], -5);
    free(seen.partitions.at);
    assert_true(begins(request(1), "GET /viewer/json/describe?path=%2Flocal%2Fa%20t"
                                   "&database=%2Flocal&boundaries=true&partition_stats=false"
                                   "&partition_config=false&enums=true&subs=0 HTTP/1.1\r\n"));
    assert_non_null(strstr(request(1), "User-Agent: keyspread\r\n"));
    assert_int_equal(requests(), 1);
}

/* A number below zero is none of an unsigned hash. */
static void the_hash_is_of_its_type(void **state)
{
    (void)state;
    cfg_table other = table;
    other.hash_type = CFG_HASH_UINT64;
    set_answer(0, (answer){"/viewer", 200, BOUNDARIES, NULL});
    px_viewer_ask(viewer, &other, &seen);
    expect_reason(true, "its boundaries are in a form that is not known");
}

/* What was found under the other name is asked for by it from then on. */
static void it_may_have_another_name(void **state)
{
    (void)state;
    set_answer(0, (answer){"/viewer/describe", 200, BOUNDARIES, NULL});
    for (size_t asked = 2; asked <= 3; asked++) {
        px_viewer_ask(viewer, &table, &seen);
        expect_reason(true, "");
        free(seen.partitions.at);
        assert_int_equal(requests(), asked);
        assert_true(begins(request(asked), "GET /viewer/describe?path="));
    }
    set_answer(0, (answer){"/viewer/json/describe", 200, BOUNDARIES, NULL});
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(true, "");
    free(seen.partitions.at);
    assert_int_equal(requests(), 5);
}

static void what_is_no_answer(void **state)
{
    (void)state;
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(true, "it answers with the HTTP status 404");
    assert_int_equal(requests(), 2);
    set_answer(0, (answer){"/viewer", 500, BOUNDARIES, NULL});
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(true, "it answers with the HTTP status 500");
    assert_int_equal(requests(), 3);
    set_answer(0, (answer){"/viewer", 200, "<html>", NULL});
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(true, "it is no JSON");
    set_answer(0, (answer){"/viewer", 302, NULL, "Location: /elsewhere\r\n"});
    set_answer(1, (answer){"/elsewhere", 200, BOUNDARIES, NULL});
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(true, "it answers with the HTTP status 302");
}

static void too_much_is_not_read(void **state)
{
    (void)state;
    char *body = malloc(RW_DESCRIBED_MOST + 2);
    memset(body, ' ', RW_DESCRIBED_MOST + 1);
    body[RW_DESCRIBED_MOST + 1] = '\0';
    set_answer(0, (answer){"/viewer", 200, body, NULL});
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(false, "it is too long");
    body[RW_DESCRIBED_MOST] = '\0';
    px_viewer_ask(viewer, &table, &seen);
    expect_reason(true, "it is no JSON");
    free(body);
}

static void asked_as(const char *url, const char *database)
{
    px_viewer_free(viewer);
    viewer = px_viewer_new(url, database, &stopping);
    px_viewer_ask(viewer, &table, &seen);
}

static void addresses_are_written_in_several_ways(void **state)
{
    (void)state;
    char url[80];
    set_answer(0, (answer){"/viewer", 500, NULL, NULL});
    snprintf(url, sizeof url, "%s/", monitoring.url);
    asked_as(url, "/Root/db");
    assert_true(begins(request(1), "GET /viewer/json/describe?path=%2FRoot%2Fdb%2Fa%20t"
                                   "&database=%2FRoot%2Fdb&"));
    snprintf(url, sizeof url, "%s/node/1", monitoring.url);
    asked_as(url, "");
    assert_true(begins(request(2), "GET /node/1/viewer/json/describe?path=%2F%2Fa%20t"));
}

static void nobody_is_there(void **state)
{
    (void)state;
    asked_as("file:///etc", "local");
    expect_reason(false, curl_easy_strerror(CURLE_UNSUPPORTED_PROTOCOL));
    asked_as("", "local");
    expect_reason(false, curl_easy_strerror(CURLE_URL_MALFORMAT));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    char url[64];
    int fd = socket(AF_INET, SOCK_STREAM, 0); /* has a port, and does not listen */
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    asked_as(url, "local");
    expect_reason(false, curl_easy_strerror(CURLE_COULDNT_CONNECT));
    close(fd);
    px_viewer_free(NULL);
}

static void *stop_asking(void *argument)
{
    (void)argument;
    request(1);
    stopping = true;
    return NULL;
}

static void an_answer_is_not_waited_for_at_the_end(void **state)
{
    (void)state;
    pthread_t thread;
    set_answer(0, (answer){"/viewer", NEVER, NULL, NULL});
    assert_int_equal(pthread_create(&thread, NULL, stop_asking, NULL), 0);
    px_viewer_ask(viewer, &table, &seen);
    pthread_join(thread, NULL);
    expect_reason(false, curl_easy_strerror(CURLE_ABORTED_BY_CALLBACK));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(partitions_are_read),      TEST(the_hash_is_of_its_type),
        TEST(it_may_have_another_name), TEST(what_is_no_answer),
        TEST(too_much_is_not_read),     TEST(addresses_are_written_in_several_ways),
        TEST(nobody_is_there),          TEST(an_answer_is_not_waited_for_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
