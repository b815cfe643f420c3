#define _GNU_SOURCE
#include "proxy/client/drawn.h"

#include "protocol/frontend.h"
#include "proxy/client/session.h"

#include <string.h>

static void take_out(rw_drawn *drawn, uint32_t sequence)
{
    size_t count = 0;
    for (size_t i = 0; i < drawn->count; i++)
        if (drawn->of[i].sequence != sequence)
            drawn->of[count++] = drawn->of[i];
    drawn->count = count;
}

void px_drawn_note(px_session *session, uint32_t sequence, int64_t number)
{
    rw_drawn *drawn = session->known.drawn;
    if (drawn == NULL)
        drawn = session->known.drawn = pgw_calloc(1, sizeof *drawn);
    take_out(drawn, sequence);
    if (drawn->count == RW_DRAWN_MOST)
        take_out(drawn, drawn->of[0].sequence);
    drawn->of[drawn->count].sequence = sequence;
    drawn->of[drawn->count++].number = number;
    drawn->last = true;
}

void px_drawn_drop(px_session *session, uint32_t sequence)
{
    rw_drawn *drawn = session->known.drawn;
    px_statements *statements = &session->names.statements;
    if (drawn == NULL)
        return;
    drawn->last = false;
    if (sequence != 0)
        take_out(drawn, sequence);
    else
        drawn->count = 0;
    if (!session->known.told)
        return;
    session->known.told = false;
    for (px_statement *one = statements->first, *next; one != NULL; one = next) {
        next = one->next;
        if (!one->told)
            continue;
        one->told = false;
        px_statements_move(statements, one, false);
    }
}

/* Bytes may be anything. */
static bool mentions(pgw_slice text)
{
    for (size_t i = 0; i + 7 <= text.len; i++) {
        pgw_slice part = {text.ptr + i, 7};
        char c = (char)(text.ptr[i] | 0x20);
        if ((c == 'c' && pgw_slice_ieq_str(part, "currval")) ||
            (c == 'l' && pgw_slice_ieq_str(part, "lastval")) ||
            (c == 'n' && pgw_slice_ieq_str(part, "nextval")) ||
            (c == 's' && pgw_slice_ieq_str(part, "setval(")))
            return true;
    }
    return false;
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

bool px_drawn_tell(px_session *session, char type, pgw_slice *message)
{
    pgw_slice text, body = {message->ptr + PGW_HEADER, message->len - PGW_HEADER};
    const rw_drawn *drawn = session->known.drawn;
    bool conforming = session->who.identity->env.conforming, moves = false;
    if (session->hand.told.len == 0) {
        if (drawn == NULL || drawn->count == 0 || !mentions(body) || !read_text(type, body, &text))
            return false;
        pgw_buf told = {0};
        if (rw_drawn_tell(text, drawn, conforming, &told, &moves))
            write_instead(*message, text, pgw_slice_buf(&told), &session->hand.told);
        pgw_buf_free(&told);
        if (moves)
            px_drawn_drop(session, 0);
        if (type == 'P') /* it may be run again later */
            session->known.touched |= RW_EFFECT_DRAWS;
    }
    if (session->hand.told.len == 0)
        return false;
    *message = pgw_slice_buf(&session->hand.told);
    return true;
}

void px_drawn_keep(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (statement != NULL && statement->parse.len > 0)
        statement->told = session->known.told = true;
}
