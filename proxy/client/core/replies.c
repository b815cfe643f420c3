#include "proxy/client/core/replies.h"

#include <stdlib.h>
#include <string.h>

static inline px_reply *push(px_replies *replies, px_reply_kind kind)
{
    if (replies->count == replies->cap) {
        size_t cap = replies->cap ? replies->cap * 2 : 8;
        px_reply *ring = pgw_alloc(cap * sizeof *ring);
        for (size_t i = 0; i < replies->count; i++)
            ring[i] = *px_replies_at(replies, i);
        free(replies->ring);
        replies->ring = ring;
        replies->cap = cap;
        replies->head = 0;
    }
    px_reply *reply = px_replies_at(replies, replies->count++);
    *reply = (px_reply){.kind = kind};
    return reply;
}

void px_replies_begin(px_replies *replies)
{
    static const px_reply_kind kinds[] = {PX_REPLY_PARSE, PX_REPLY_BIND, PX_REPLY_EXECUTE,
                                          PX_REPLY_CLOSE, PX_REPLY_CLOSE};
    size_t count = replies->begins;
    replies->begins = 0;
    for (size_t i = 0; i < count; i++) {
        px_reply *reply = push(replies, kinds[i]);
        reply->swallow = reply->begins = true;
    }
}

px_reply *px_replies_push(px_replies *replies, px_reply_kind kind)
{
    if (replies->begins > 0)
        px_replies_begin(replies);
    return push(replies, kind);
}

static px_moving *move(px_replies *replies, pgw_slice name)
{
    px_moving *moving = (px_moving *)px_table_find(&replies->moving, name);
    if (moving == NULL) {
        moving = pgw_calloc(1, sizeof *moving + name.len + 1);
        if (name.len > 0)
            memcpy(moving->name, name.ptr, name.len);
        px_table_add(&replies->moving, &moving->entry, (pgw_slice){moving->name, name.len});
    }
    moving->entries++;
    return moving;
}

static void settle(px_replies *replies, px_moving *moving)
{
    if (moving == NULL || --moving->entries > 0)
        return;
    px_table_remove(&replies->moving, moving->entry.name);
    free(moving);
}

/* A text that may change what names mean, if it is not skipped or refused. */
static bool renames(const px_text *text)
{
    return text != NULL && (text->script.effects & (RW_EFFECT_DEALLOCATE | RW_EFFECT_DISCARD_ALL |
                                                    RW_EFFECT_PREPARE)) != 0;
}

/* The memory of a text that was looked into, about. */
static size_t weight(const px_text *text)
{
    return text != NULL ? 4096 + 4 * text->text.len : 0;
}

static void release(px_replies *replies, px_reply *reply)
{
    replies->texts_renaming -= renames(reply->text);
    replies->text_bytes -= weight(reply->text);
    settle(replies, reply->name);
    settle(replies, reply->recorded);
    px_plan_drop(reply->plan);
    px_text_drop(reply->text);
    px_lookups_drop(reply->lookups);
    free(reply->refusal);
    px_statement_free(reply->before);
}

void px_reply_renames(px_replies *replies, px_reply *reply, px_statements *statements,
                      pgw_slice name)
{
    reply->name = move(replies, name);
    reply->before = px_statements_take(statements, name);
}

bool px_replies_move(const px_replies *replies, pgw_slice name)
{
    return replies->texts_renaming > 0 || px_table_find(&replies->moving, name) != NULL;
}

bool px_replies_move_before(const px_replies *replies, pgw_slice name)
{
    if (!px_replies_move(replies, name))
        return false;
    const px_entry *moving = px_table_find(&replies->moving, name);
    for (size_t i = replies->count; i-- > 0;) {
        const px_reply *reply = px_replies_at(replies, i);
        if (reply->kind == PX_REPLY_SYNC || reply->kind == PX_REPLY_QUERY)
            return true;
        if ((reply->name != NULL && &reply->name->entry == moving) ||
            (reply->recorded != NULL && &reply->recorded->entry == moving))
            return false;
    }
    return false;
}

void px_reply_is_about(px_replies *replies, px_reply *reply, px_text *text)
{
    px_text_take(text);
    reply->text = text;
    replies->texts_renaming += renames(text);
    replies->text_bytes += weight(text);
}

void px_reply_records(px_replies *replies, px_reply *reply, const char *name)
{
    reply->recorded = move(replies, pgw_slice_str(name));
}

void px_replies_pop(px_replies *replies)
{
    release(replies, px_replies_at(replies, 0));
    replies->head = (replies->head + 1) & (replies->cap - 1);
    replies->count--;
}

bool px_replies_are_silent(const px_replies *replies)
{
    for (size_t i = 0; i < replies->count; i++)
        if (!px_replies_at(replies, i)->silent)
            return false;
    return true;
}

bool px_replies_run(const px_replies *replies)
{
    for (size_t i = 0; i < replies->count; i++) {
        px_reply_kind kind = px_replies_at(replies, i)->kind;
        if (kind == PX_REPLY_QUERY || kind == PX_REPLY_EXECUTE)
            return true;
    }
    return false;
}

void px_replies_end_copy(px_replies *replies)
{
    if (replies->count > 0) /* without a COPY it says nothing */
        px_replies_at(replies, replies->count - 1)->copies_ended++;
}

/* Removes the entries behind the head, up to number `last`. */
static void eat(px_replies *replies, size_t last)
{
    for (size_t i = 1; i <= last; i++)
        release(replies, px_replies_at(replies, i));
    *px_replies_at(replies, last) = *px_replies_at(replies, 0);
    replies->head = (replies->head + last) & (replies->cap - 1);
    replies->count -= last;
}

bool px_replies_begin_copy(px_replies *replies, bool *tail)
{
    size_t end = 0;
    while (end < replies->count && px_replies_at(replies, end)->copies_ended == 0)
        end++;
    bool ended = end < replies->count;
    if (ended)
        px_replies_at(replies, end)->copies_ended--;
    else
        end = replies->count - 1;
    *tail = end == replies->count - 1 && end > 0;
    if (px_replies_at(replies, 0)->kind == PX_REPLY_EXECUTE)
        eat(replies, end);
    return ended;
}

void px_replies_clear(px_replies *replies)
{
    while (replies->count > 0)
        px_replies_pop(replies);
    free(replies->ring);
    px_table_free(&replies->moving);
    *replies = (px_replies){0};
}
