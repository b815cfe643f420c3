/* The machines that clients come from, by the address alone. */
#include "proxy/base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sockaddr_storage from(const char *text, uint16_t port)
{
    struct sockaddr_storage out = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)&out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
    }
    return out;
}

static px_address *enter(px_addresses *all, const char *text, uint16_t port, unsigned *count)
{
    struct sockaddr_storage address = from(text, port);
    return px_address_enter(all, &address, count);
}

static void addresses_are_told_as_they_are_known(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"192.0.2.7", "192.0.2.7"},        {"255.255.255.255", "255.255.255.255"},
        {"2001:db8::7", "2001:db8::7"},    {"::1", "::1"},
        {"::ffff:192.0.2.7", "192.0.2.7"}, {"2001:0db8:0:0:0:0:0:1", "2001:db8::1"}};
    px_addresses *all = px_addresses_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned count = 99;
        px_address *address = enter(all, cases[i][0], 1, &count);
        assert_int_equal(count, 1);
        assert_string_equal(px_address_text(address), cases[i][1]);
        px_address_leave(address);
    }
    px_addresses_free(all);
}

static void connections_of_one_machine_are_counted_together(void **state)
{
    (void)state;
    px_addresses *all = px_addresses_new();
    unsigned count;
    px_address *one = enter(all, "192.0.2.7", 1000, &count);
    px_address *other = enter(all, "192.0.2.8", 1000, &count);
    assert_int_equal(count, 1);
    assert_ptr_not_equal(one, other);
    assert_ptr_equal(enter(all, "192.0.2.7", 2000, &count), one);
    assert_int_equal(count, 2);
    assert_ptr_equal(enter(all, "::ffff:192.0.2.7", 3000, &count), one);
    assert_int_equal(count, 3);
    px_address_leave(one);
    assert_ptr_equal(enter(all, "192.0.2.7", 1000, &count), one);
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++)
        px_address_leave(one);
    one = enter(all, "192.0.2.7", 1000, &count);
    assert_int_equal(count, 1); /* it was forgotten */
    px_address_leave(one);
    px_address_leave(other);
    px_addresses_free(all);
}

/* More than there are buckets: some share one, and leave it in any order. */
static void there_may_be_many(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    px_addresses *all = px_addresses_new();
    px_address **entered = calloc(MANY, sizeof *entered);
    unsigned count;
    char text[32];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "10.1.%u.%u", i / 256, i % 256);
        entered[i] = enter(all, text, 1, &count);
        assert_int_equal(count, 1);
    }
    for (unsigned i = 0; i < MANY; i += 2)
        px_address_leave(entered[i]);
    for (unsigned i = 1; i < MANY; i += 2) {
        snprintf(text, sizeof text, "10.1.%u.%u", i / 256, i % 256);
        assert_string_equal(px_address_text(entered[i]), text);
        assert_ptr_equal(enter(all, text, 1, &count), entered[i]);
        assert_int_equal(count, 2);
        px_address_leave(entered[i]);
        px_address_leave(entered[i]);
    }
    px_addresses_free(all);
    free(entered);
}

static void guests_are_counted_apart(void **state)
{
    (void)state;
    px_addresses *all = px_addresses_new();
    unsigned count;
    px_address *one = enter(all, "::1", 1, &count), *other = enter(all, "::2", 1, &count);
    assert_int_equal(px_address_add_guests(one, 1), 1);
    assert_int_equal(px_address_add_guests(one, 1), 2);
    assert_int_equal(px_address_add_guests(other, 1), 1);
    assert_int_equal(px_address_add_guests(one, -1), 1);
    assert_int_equal(px_address_add_guests(one, 0), 1);
    px_address_leave(one);
    px_address_leave(other);
    px_addresses_free(all);
}

static void a_unix_socket_has_no_address(void **state)
{
    (void)state;
    px_addresses *all = px_addresses_new();
    struct sockaddr_storage local = {.ss_family = AF_UNIX};
    unsigned count = 99;
    assert_null(px_address_enter(all, &local, &count));
    assert_int_equal(count, 0);
    assert_string_equal(px_address_text(NULL), "unix");
    assert_int_equal(px_address_add_guests(NULL, 1), 0);
    px_address_leave(NULL);
    px_addresses_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_told_as_they_are_known),
        cmocka_unit_test(connections_of_one_machine_are_counted_together),
        cmocka_unit_test(there_may_be_many),
        cmocka_unit_test(guests_are_counted_apart),
        cmocka_unit_test(a_unix_socket_has_no_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
