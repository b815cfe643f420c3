#include "proxy/client/numbers/sequence_take.h"

#include "proxy/client/core/coming.h"
#include "proxy/client/core/session.h"
#include "proxy/client/numbers/sequence_call.h"
#include "proxy/client/numbers/sequence_session.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "rewrite/insert/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { COMES_MS = 1000, MOST_COMING = 1000 };

static const rw_column *column_of(const rw_insert *insert, size_t i)
{
    return &insert->table->columns[insert->wanted[i].column];
}

static bool is_uuid(const rw_insert *insert, size_t i)
{
    const rw_column *column = column_of(insert, i);
    return !insert->wanted[i].expression && column->type == PGW_UUID &&
           column->default_text != NULL && strcmp(column->default_text, "gen_random_uuid()") == 0;
}

/* Whether wanted cell `i` is a sequence's next number. */
static bool is_number(px_session *session, const rw_insert *insert, size_t i)
{
    if (insert->wanted[i].expression)
        return px_sequence_call_is_own(session, insert, i);
    return column_of(insert, i)->draws_from != 0;
}

/* Counts the numbers that the statement wants, all of `*column`. False: it wants something else,
 * too. */
static bool count_numbers(px_session *session, const rw_insert *insert, size_t *column,
                          size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < insert->wanted_count; i++) {
        const rw_wanted *wanted = &insert->wanted[i];
        if (is_uuid(insert, i))
            continue;
        if (!is_number(session, insert, i) || (*count > 0 && wanted->column != *column))
            return false;
        *column = wanted->column;
        ++*count;
    }
    return true;
}

/* Whether the session may share numbers. One whose rights are not what it came with draws for
 * itself, and so does one that asks what was drawn, or makes sequences go on from elsewhere. */
static bool may_draw_for_others(const px_session *session)
{
    return !session->who.is_private && (session->known.touched & RW_EFFECT_DRAWS) == 0;
}

/* The Query at hand, or the statement that the Bind at hand is of, asks what was drawn, perhaps for
 * itself: its own link has to know. */
static bool asks_what_is_drawn(const px_session *session, const rw_insert *insert)
{
    const pgw_frame *frame = &session->hand.frame;
    pgw_slice message = px_stream_input(session->peer.stream);
    if (frame->size == 0 || frame->type != 'Q')
        return px_sequence_session_is_asked(insert->text);
    message.len = message.len < frame->size ? message.len : frame->size;
    return px_sequence_session_is_asked(message);
}

/* Whether the session may take numbers of the reserve: what is drawn elsewhere can be told apart
 * from what its own link draws once that has drawn a number of this sequence; where there is no
 * link, nothing is drawn there. */
static bool may_take(const px_session *session, const px_sequence_cache *reserve)
{
    return may_draw_for_others(session) &&
           (!session->own.ready || px_sequence_session_is_here(session, reserve->sequence));
}

/* Whether numbers are drawn only when a session waits for one; it draws for all that wait. */
static bool gathers(const rw_insert *insert)
{
    return insert->table->block == 1;
}

/* The reserve of the numbers that the statement wants; NULL: it wants none, or other things, too,
 * or has to draw for itself. */
static px_sequence_cache *reserve_of(px_session *session, const rw_insert *insert, size_t *column,
                                     size_t *count)
{
    if (!count_numbers(session, insert, column, count) || *count == 0 ||
        insert->table->block == 0 || asks_what_is_drawn(session, insert))
        return NULL;
    return px_sequence_cache_of(session->worker, session->who.base,
                                insert->table->columns[*column].draws_from);
}

bool px_sequence_take_has(px_session *session, const rw_insert *insert)
{
    size_t column = 0, count;
    if (count_numbers(session, insert, &column, &count) && count == 0)
        return true;
    const px_sequence_cache *reserve = reserve_of(session, insert, &column, &count);
    if (reserve == NULL || reserve->count < count || !may_take(session, reserve))
        return false;
    if (gathers(insert))
        return session->hand.awaits.reserve == reserve && session->hand.awaits.count >= count &&
               reserve->since > session->hand.awaits.since;
    return reserve->since > session->own.drew_apart;
}

static pgw_slice random_uuid(pgw_arena *arena)
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != sizeof b)
        abort();
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4 */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80); /* variant 1 */
    char text[40], *at = text;
    for (size_t i = 0; i < sizeof b; i++)
        at += snprintf(at, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
    return pgw_arena_copy(arena, (pgw_slice){text, (size_t)(at - text)});
}

static pgw_slice next_number(px_session *session, px_sequence_cache *reserve, pgw_arena *arena)
{
    int64_t number = px_sequence_cache_take(reserve);
    px_sequence_session_ahead(session, reserve->sequence, number);
    pgw_buf digits = {0};
    pgw_buf_add_decimal(&digits, number);
    pgw_slice text = pgw_arena_copy(arena, pgw_slice_buf(&digits));
    pgw_buf_free(&digits);
    return text;
}

void px_sequence_take_take(px_session *session, const rw_insert *insert, pgw_arena *arena,
                           rw_answer *answers)
{
    size_t column = 0, count = 0;
    px_sequence_cache *reserve = NULL;
    for (size_t i = 0; i < insert->wanted_count; i++) {
        if (is_uuid(insert, i)) {
            answers[i] = (rw_answer){.text = random_uuid(arena)};
            continue;
        }
        /* This is a number that px_sequence_take_has() has found: whether it is one is not asked
         * anew, for by now others may have changed what its name means. */
        column = insert->wanted[i].column;
        if (count++ == 0)
            reserve = px_sequence_cache_found(session->worker, session->who.base,
                                              insert->table->columns[column].draws_from);
        answers[i] = (rw_answer){.text = next_number(session, reserve, arena)};
    }
    if (reserve != NULL && session->hand.awaits.reserve == reserve)
        session->hand.awaits.count -=
            count < session->hand.awaits.count ? count : session->hand.awaits.count;
    px_count(session->worker->metrics, PX_KEYS_BLOCK, count);
    px_count(session->worker->metrics, PX_KEYS_RANDOM, insert->wanted_count - count);
    if (reserve != NULL && reserve->count <= reserve->size / 2 && !gathers(insert))
        px_sequence_refill_want(session, reserve, insert->table, column);
}

/* Whether the session is outside of a transaction: the session that asks could wait for a
 * transaction's locks, and an error would end it. */
static bool is_free(const px_session *session)
{
    return session->own.status == 'I' && !session->own.unsynced &&
           session->pending.replies.count == 0;
}

bool px_sequence_take_rest(px_session *session, uint32_t sequence, size_t count, pgw_arena *arena,
                           rw_answer *answers)
{
    if (!may_draw_for_others(session) || session->own.status != 'I' || session->own.unsynced)
        return false;
    px_sequence_cache *reserve = px_sequence_cache_of(session->worker, session->who.base, sequence);
    int64_t *numbers = pgw_arena_alloc(arena, count * sizeof *numbers);
    if (!px_sequence_cache_take_rest(session->worker, reserve, count, numbers))
        return false;
    for (size_t i = 0; i < count; i++) {
        px_sequence_session_ahead(session, sequence, numbers[i]);
        answers[i] =
            (rw_answer){.text = pgw_slice_str(pgw_arena_printf(arena, "%" PRId64, numbers[i]))};
    }
    return true;
}

static void note_wait(px_session *session, const px_sequence_cache *reserve, size_t count)
{
    session->hand.awaits.reserve = count > 0 ? reserve : NULL;
    session->hand.awaits.count = count;
    session->hand.awaits.since = px_sequence_cache_blocks();
}

/* How many numbers the Binds behind the one at hand will want, as far as they have come. */
static size_t count_coming(const px_session *session, size_t count)
{
    return px_coming_binds(session, MOST_COMING / count) * count;
}

void px_sequence_take_done(px_session *session, char type)
{
    if (session->hand.awaits.count == 0 || strchr("BDEPC", type) == NULL)
        session->hand.awaits.reserve = NULL;
}

bool px_sequence_take_comes(px_session *session, const rw_insert *insert)
{
    size_t column = 0, count;
    const px_sequence_cache *reserve = reserve_of(session, insert, &column, &count);
    bool comes = reserve != NULL && reserve->asking && may_take(session, reserve) &&
                 is_free(session) && px_worker_now(session->worker) < reserve->asked_at + COMES_MS;
    if (!comes)
        session->hand.awaits.reserve = NULL;
    else if (session->hand.awaits.reserve != reserve || session->hand.awaits.count < count)
        note_wait(session, reserve, count + count_coming(session, count));
    return comes;
}

/* In a transaction no block is drawn, but behind its end, so that the next one may be kept. */
static void draw_behind(px_session *session, px_sequence_cache *reserve, const rw_table *table,
                        size_t column)
{
    px_sequence_refill_want(session, reserve, table, column);
    if (session->own.refill == NULL)
        px_sequence_cache_begin(session->worker, reserve, 0,
                                false); /* notes that a number was wanted */
}

/* Adds a block to the question. What was drawn ahead before is not for this session any more: its
 * numbers grow. */
px_sequence_cache *px_sequence_take_begin(px_session *session, const rw_insert *insert,
                                          pgw_arena *arena, rw_question *question)
{
    size_t column = 0, count;
    px_sequence_cache *reserve = reserve_of(session, insert, &column, &count);
    if (reserve == NULL)
        return NULL;
    if (!may_draw_for_others(session) || reserve->asking)
        return NULL;
    bool together = gathers(insert);
    if (!is_free(session)) {
        if (!together &&
            (insert->table->lazy || session->known.now.says[RW_OWN_TRANSACTIONS] == RW_SAYS_LAZY))
            draw_behind(session, reserve, insert->table, column);
        return NULL;
    }
    size_t coming = count_coming(session, count);
    if (together)
        note_wait(session, reserve, coming);
    size_t more =
        together ? px_sequence_cache_awaited(session->worker, reserve)
                 : px_sequence_cache_size(session->worker, reserve, insert->table->block, coming);
    if (more > 0 && !together)
        px_sequence_cache_keep(reserve, 0);
    px_sequence_cache_begin(session->worker, reserve, more, together);
    if (more == 0)
        return together ? reserve : NULL;
    pgw_buf sql = {0};
    pgw_buf_add_slice(&sql, question->sql);
    pgw_buf_add_str(&sql, " union all ");
    rw_block_question(insert->table, column,
                      (rw_block){insert->wanted_count, more,
                                 together && px_sequence_cache_is_sure(session->worker, reserve)},
                      &sql);
    question->sql = pgw_arena_copy(arena, pgw_slice_buf(&sql));
    pgw_buf_free(&sql);
    return reserve;
}
