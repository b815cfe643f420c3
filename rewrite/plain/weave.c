#include "rewrite/plain/weave.h"

#include "protocol/utf8.h"

#include <stdlib.h>

void rw_weave_clear(rw_weave *weave)
{
    pgw_buf_clear(&weave->text);
    weave->count = 0;
}

void rw_weave_cut(rw_weave *weave, size_t length)
{
    weave->text.len = length;
    while (weave->count > 0 && weave->strands[weave->count - 1].at >= length)
        weave->count--;
}

void rw_weave_free(rw_weave *weave)
{
    pgw_buf_free(&weave->text);
    free(weave->strands);
    weave->strands = NULL;
    weave->count = weave->cap = 0;
}

void rw_weave_own(rw_weave *weave, const char *text)
{
    pgw_buf_add_str(&weave->text, text);
}

void rw_weave_client(rw_weave *weave, rw_part part)
{
    if (weave->count == weave->cap) {
        weave->cap = 2 * weave->cap + 8;
        weave->strands = pgw_realloc(weave->strands, weave->cap * sizeof *weave->strands);
    }
    weave->strands[weave->count++] = (rw_strand){weave->text.len, part.from, part.to - part.from};
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

/* The byte at which this character begins. */
static size_t byte_of(pgw_slice text, size_t position, bool utf8)
{
    size_t at = 0;
    for (; position > 1 && at < text.len; position--)
        for (at++; utf8 && at < text.len && (text.ptr[at] & 0xc0) == 0x80;)
            at++;
    return at;
}

size_t rw_weave_position(const rw_weave *weave, size_t position, bool utf8)
{
    const size_t at = byte_of(pgw_slice_buf(&weave->text), position, utf8);
    if (position == 0)
        return 0;
    for (size_t i = 0; i < weave->count; i++) {
        const rw_strand *strand = &weave->strands[i];
        if (at >= strand->at && at - strand->at < strand->length)
            return pgw_characters(weave->client, strand->from + (at - strand->at), utf8) + 1;
    }
    return 0;
}
