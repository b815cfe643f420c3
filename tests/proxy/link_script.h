/*
 * link_script: a kind of link that says what its test lets it say. Include it behind `script`,
 * which begins with its `link` and has in `in`, from `start` on, what was said and is not read yet;
 * what is declared and not defined here is the test's.
 */
#ifndef TEST_LINK_SCRIPT_H
#define TEST_LINK_SCRIPT_H

#include "proxy/backend/base/backend.h"

static void script_open(px_link *link);
static void script_close(px_link *link);
static void script_finish(px_link *link);
static void script_send(px_link *link, const void *ptr, size_t len);
static void script_cancel(px_link *link);
static bool script_cancelling(const px_link *link);
static void script_expect(px_link *link, size_t len);
static const char *script_parameter(const px_link *link, const char *name);

static script *script_of(const px_link *link)
{
    return (script *)link;
}

static void script_pass(px_link *link, px_stream *from, size_t len)
{
    script_send(link, px_stream_input(from).ptr, len);
    px_stream_consume(from, len);
}

static size_t script_pending(const px_link *link)
{
    (void)link;
    return 0;
}

static pgw_slice script_input(const px_link *link)
{
    const script *s = script_of(link);
    if (s->in.ptr == NULL)
        return (pgw_slice){NULL, 0};
    return (pgw_slice){s->in.ptr + s->start, s->in.len - s->start};
}

static void script_consume(px_link *link, size_t len)
{
    script_of(link)->start += len;
}

static void script_pass_on(px_link *link, px_stream *to, size_t len)
{
    px_stream_put(to, script_input(link).ptr, len);
    script_consume(link, len);
}

static void script_pause(px_link *link)
{
    (void)link;
}

static const px_link_kind script_kind = {.size = sizeof(script),
                                         .open = script_open,
                                         .close = script_close,
                                         .finish = script_finish,
                                         .send = script_send,
                                         .pass = script_pass,
                                         .pending = script_pending,
                                         .cancel = script_cancel,
                                         .cancelling = script_cancelling,
                                         .input = script_input,
                                         .consume = script_consume,
                                         .expect = script_expect,
                                         .pass_on = script_pass_on,
                                         .pause = script_pause,
                                         .resume = script_pause,
                                         .parameter = script_parameter};

#endif
