#include "ydb/plain/weave.h"

void rw_weave_clear(rw_weave *weave)
{
    pgw_buf_clear(&weave->text);
}

void rw_weave_free(rw_weave *weave)
{
    pgw_buf_free(&weave->text);
}

void rw_weave_own(rw_weave *weave, const char *text)
{
    pgw_buf_add_str(&weave->text, text);
}

void rw_weave_client(rw_weave *weave, rw_part part)
{
    pgw_buf_add_slice(&weave->text, rw_part_text(weave->client, part));
}

void rw_weave_blank(rw_weave *weave)
{
    const pgw_buf *text = &weave->text;
    if (text->len > 0 && text->ptr[text->len - 1] != ' ')
        rw_weave_own(weave, " ");
}

void rw_weave_apart(rw_weave *weave, rw_part part)
{
    if (!rw_part_is_empty(part) && weave->client.ptr[part.from] != ' ')
        rw_weave_blank(weave);
    rw_weave_client(weave, part);
}
