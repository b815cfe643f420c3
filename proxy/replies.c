#include "proxy/replies.h"

#include <stdlib.h>
#include <string.h>

void px_text_take(px_text *text)
{
    text->references++;
}

void px_text_drop(px_text *text)
{
    if (text == NULL || --text->references > 0)
        return;
    px_catalog_drop(text->catalog);
    pgw_arena arena = text->arena; /* the text itself lives in it */
    pgw_arena_free(&arena);
}

void px_text_leave_out(px_text *text, const bool *rows)
{
    rw_insert *insert = text->script.statements[0].insert;
    text->in_parts = true;
    for (size_t r = 0; r < insert->row_count; r++) {
        insert->rows[r].superseded = rows[r];
        text->superseded[0] += rows[r];
    }
}

px_reply *px_replies_push(px_replies *replies, px_reply_kind kind)
{
    if (replies->count == replies->cap) {
        size_t cap = replies->cap ? replies->cap * 2 : 8;
        px_reply *ring = pgw_alloc(cap * sizeof *ring);
        for (size_t i = 0; i < replies->count; i++)
            ring[i] = replies->ring[(replies->head + i) & (replies->cap - 1)];
        free(replies->ring);
        *replies = (px_replies){
            .ring = ring, .count = replies->count, .cap = cap, .renaming = replies->renaming};
    }
    px_reply *reply = &replies->ring[(replies->head + replies->count++) & (replies->cap - 1)];
    *reply = (px_reply){.kind = kind};
    return reply;
}

px_reply *px_replies_head(px_replies *replies)
{
    return replies->count > 0 ? &replies->ring[replies->head] : NULL;
}

static void release(px_replies *replies, px_reply *reply)
{
    replies->renaming -= reply->name != NULL;
    replies->renaming -= reply->recorded != NULL;
    px_plan_drop(reply->plan);
    px_text_drop(reply->text);
    free(reply->refusal);
    free(reply->name);
    px_statement_free(&reply->before);
    free(reply->recorded);
}

void px_reply_renames(px_replies *replies, px_reply *reply, px_statements *statements,
                      pgw_slice name)
{
    replies->renaming++;
    reply->name = pgw_strndup(name.ptr, name.len);
    reply->before = px_statements_take(statements, name);
}

void px_reply_records(px_replies *replies, px_reply *reply, const char *name)
{
    replies->renaming++;
    reply->recorded = pgw_strndup(name, strlen(name));
}

void px_replies_pop(px_replies *replies)
{
    release(replies, &replies->ring[replies->head]);
    replies->head = (replies->head + 1) & (replies->cap - 1);
    replies->count--;
}

void px_replies_unpush(px_replies *replies)
{
    replies->count--;
    release(replies, &replies->ring[(replies->head + replies->count) & (replies->cap - 1)]);
}

void px_replies_clear(px_replies *replies)
{
    while (replies->count > 0)
        px_replies_pop(replies);
    free(replies->ring);
    *replies = (px_replies){0};
}
