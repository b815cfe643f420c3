/*
 * batches: rows of partition 0 that leave by one warm link, and what it is sent for them.
 */
#ifndef TEST_BATCHES_H
#define TEST_BATCHES_H

#include "fake_backend.h"

UNUSED static void submit(px_write_group *write_group)
{
    px_batcher_submit(write_group);
    fake_turn();
}

/* A link is there and idle, so that the next write group leaves at once. */
UNUSED static fake_link *warm_link(void)
{
    told first;
    submit(rows_write_group(&first, 0, 1000000));
    fake_link *link = fake_open(0);
    fake_read(link, NULL);
    fake_answer(link, "C1 Z");
    expect_committed(&first, 1);
    return link;
}

/* t[0]'s row leaves at once; so many behind it, of the keys 1, 2 …, wait for each other. */
UNUSED static void submit_rows(told *t, size_t behind)
{
    submit(rows_write_group(&t[0], 0, 100));
    for (size_t i = 1; i <= behind; i++)
        submit(rows_write_group(&t[i], 0, i));
}

UNUSED static void withdraw(told *t)
{
    px_batcher_withdraw(t->write_group->home, t->write_group, t->write_group->ticket);
    fake_turn();
}

UNUSED static void expect_text(fake_link *link, const char *types, const char *text)
{
    pgw_buf sent = {0};
    assert_string_equal(fake_read(link, &sent), types);
    pgw_buf_add_byte(&sent, '\0');
    assert_string_equal(sent.ptr, text);
    pgw_buf_free(&sent);
}

UNUSED static void expect_rerouted(const told *t)
{
    assert_true(t->back);
    assert_int_equal(t->outcome, PX_WRITE_GROUP_REROUTED);
}

#endif
