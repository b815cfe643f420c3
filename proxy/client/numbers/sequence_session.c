#define _GNU_SOURCE
#include "proxy/client/numbers/sequence_session.h"

#include "protocol/frontend.h"
#include "proxy/client/core/session.h"
#include "proxy/client/standing/dirty.h"

#include <string.h>

static size_t find(const rw_drawn *drawn, uint32_t sequence)
{
    size_t i = 0;
    while (drawn != NULL && i < drawn->count && drawn->of[i].sequence != sequence)
        i++;
    return i;
}

/* Makes the sequence the last of those drawn; where there is no room, the first one goes. */
static void put_last(px_session *session, uint32_t sequence)
{
    rw_drawn *drawn = session->known.drawn;
    if (drawn == NULL)
        drawn = session->known.drawn = pgw_calloc(1, sizeof *drawn);
    size_t i = find(drawn, sequence);
    bool is_new = i == drawn->count;
    if (is_new && drawn->count == RW_DRAWN_MOST)
        i = 0;
    else if (is_new)
        drawn->count++;
    if (is_new)
        drawn->of[i].linked = false;
    drawn->of[i].sequence = sequence;
    while (i + 1 < drawn->count) {
        typeof(drawn->of[0]) moved = drawn->of[i];
        drawn->of[i] = drawn->of[i + 1];
        drawn->of[++i] = moved;
    }
}

void px_sequence_session_ahead(px_session *session, uint32_t sequence, int64_t number)
{
    put_last(session, sequence);
    session->known.drawn->of[session->known.drawn->count - 1].number = number;
}

void px_sequence_session_for_others(px_session *session, uint32_t sequence, int64_t number)
{
    rw_drawn *drawn = session->known.drawn;
    size_t i = find(drawn, sequence);
    if (drawn == NULL || i == drawn->count)
        return;
    drawn->of[i].link = drawn->link = number;
    drawn->of[i].linked = drawn->linked = true;
}

/* Prepares statements anew that were told what was drawn: they are right only as long as the link
 * has drawn nothing that keyspread has it draw. */
static void prepare_anew(px_session *session)
{
    px_statements *statements = &session->names.statements;
    session->known.has_drawn = false;
    for (px_statement *one = statements->first, *next; one != NULL; one = next) {
        next = one->next;
        if (!one->has_drawn)
            continue;
        one->has_drawn = false;
        px_statements_move(statements, one, false);
    }
}

void px_sequence_session_here(px_session *session, uint32_t sequence, int64_t number)
{
    px_sequence_session_ahead(session, sequence, number);
    px_sequence_session_for_others(session, sequence, number);
    if (session->known.has_drawn)
        prepare_anew(session);
}

bool px_sequence_session_is_here(const px_session *session, uint32_t sequence)
{
    const rw_drawn *drawn = session->known.drawn;
    size_t i = find(drawn, sequence);
    return drawn != NULL && i < drawn->count && drawn->of[i].linked;
}

void px_sequence_session_lose_link(px_session *session)
{
    rw_drawn *drawn = session->known.drawn;
    for (size_t i = 0; drawn != NULL && i < drawn->count; i++)
        drawn->of[i].linked = false;
    if (drawn != NULL)
        drawn->linked = false;
}

void px_sequence_session_forget(px_session *session)
{
    if (session->known.drawn != NULL)
        *session->known.drawn = (rw_drawn){0};
    if (session->known.has_drawn)
        prepare_anew(session);
}

/* Whether currval or lastval stands in the text, with this `v` in it. */
static bool mentions_value(pgw_slice text, char v)
{
    enum { BEFORE = 4, NAME = 7 };
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end && (at = memchr(at, v, (size_t)(end - at))) != NULL) {
        pgw_slice name = {at - BEFORE, NAME};
        if (at - text.ptr >= BEFORE && end - at >= NAME - BEFORE && (at[1] | 32) == 'a' &&
            (pgw_slice_ieq_str(name, "currval") || pgw_slice_ieq_str(name, "lastval")))
            return true;
        at++;
    }
    return false;
}

bool px_sequence_session_is_asked(pgw_slice text)
{
    return mentions_value(text, 'v') || mentions_value(text, 'V');
}

static bool read_text(char type, pgw_slice body, pgw_slice *text)
{
    pgw_parse parse;
    if (type == 'Q')
        return pgw_query_decode(body, text);
    if (!pgw_parse_decode(body, &parse))
        return false;
    *text = parse.query;
    return true;
}

/* The message with another text in the place of `text`. */
static void write_instead(pgw_slice message, pgw_slice text, pgw_slice told, pgw_buf *out)
{
    size_t begun = pgw_begin(out, message.ptr[0]);
    pgw_buf_add(out, message.ptr + PGW_HEADER, (size_t)(text.ptr - message.ptr) - PGW_HEADER);
    pgw_buf_add_slice(out, told);
    pgw_buf_add(out, text.ptr + text.len,
                message.len - (size_t)(text.ptr + text.len - message.ptr));
    pgw_certainly(pgw_end(out, begun));
}

bool px_sequence_session_rewrite(px_session *session, char type, pgw_slice *message)
{
    pgw_slice text, body = {message->ptr + PGW_HEADER, message->len - PGW_HEADER};
    const rw_drawn *drawn = session->known.drawn;
    bool conforming = session->who.identity->env.conforming;
    if (session->hand.rewritten.len == 0) {
        if (drawn == NULL || drawn->count == 0 || !px_sequence_session_is_asked(body) ||
            !read_text(type, body, &text))
            return false;
        pgw_buf told = {0};
        if (rw_drawn_tell(text, drawn, conforming, &told))
            write_instead(*message, text, pgw_slice_buf(&told), &session->hand.rewritten);
        pgw_buf_free(&told);
        if (type == 'P') /* the statement may be run again later */
            px_state_note_draws(session, RW_EFFECT_DRAWS);
    }
    if (session->hand.rewritten.len == 0)
        return false;
    *message = pgw_slice_buf(&session->hand.rewritten);
    return true;
}

void px_sequence_session_keep(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (statement != NULL && statement->parse.len > 0)
        statement->has_drawn = session->known.has_drawn = true;
}
