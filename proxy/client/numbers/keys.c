#include "proxy/base/shared.h"
#include "proxy/client/numbers/keys.h"

#include "protocol/backend.h"
#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/session.h"
#include "proxy/client/numbers/sequence_take.h"
#include "proxy/client/numbers/sequence_call.h"
#include "proxy/client/numbers/sequence_session.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/ingest/plan_cache.h"
#include "rewrite/insert/typed.h"

#include <stdlib.h>
#include <string.h>

struct px_keys {
    pgw_arena arena;
    rw_question question;
    size_t before; /* characters of the client's text before the statement */
    bool defaults; /* the question wants defaults, as the catalog tells them */
    rw_answer *answers;
    bool *came; /* the answers that came: columns are not asked for in the order of the hash_key */
    uint32_t *sequences; /* sequence whose next number the value is; 0: it is another value */
    bool *named; /* the value is the sequence's number only if nextval('name') means it, which is
                    asked, too */
    bool asks_name;
    size_t count, known;
    px_sequence_cache *reserve; /* reserve whose next block the question draws, too; or NULL */
    bool ahead;                 /* a block was drawn with the question, or before it */
    bool answered, failed;
    bool several; /* the question is for several statements */
    bool behind;  /* the question is for one statement that stands behind others of its text */
    pgw_error error;
    const char *schema; /* schema of the table of its (first) statement */
    uint32_t table;     /* oid of the table */
    px_plan *plan;      /* plan whose parameters the question has. Counted; NULL: it has none */
};

void px_keys_forget(px_session *session)
{
    struct px_keys *keys = session->hand.keys;
    if (keys == NULL)
        return;
    session->hand.keys = NULL;
    if (keys->reserve != NULL)
        px_sequence_cache_end(session->worker, keys->reserve, false);
    if (keys->asks_name)
        px_state_note(session, RW_EFFECT_DRAWS);
    if (keys->plan != NULL)
        px_plan_drop(keys->plan);
    pgw_arena_free(&keys->arena);
    free(keys);
}

static struct px_keys *new_keys(px_session *session, size_t count)
{
    px_keys_forget(session);
    struct px_keys *keys = session->hand.keys = pgw_calloc(1, sizeof *keys);
    keys->count = count;
    keys->answers = pgw_arena_alloc(&keys->arena, count * sizeof *keys->answers);
    keys->came = pgw_arena_alloc(&keys->arena, count * sizeof *keys->came);
    keys->sequences = pgw_arena_alloc(&keys->arena, count * sizeof *keys->sequences);
    keys->named = pgw_arena_alloc(&keys->arena, count * sizeof *keys->named);
    return keys;
}

static size_t wanted_by(const px_keys_of *of)
{
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++)
        count += of->inserts[i]->wanted_count;
    return count;
}

/* What the question leaves in the session, as the INSERT itself would have. `sequences`, unless
 * it is NULL, tells the numbers that are drawn as a default would. */
static unsigned effects_of(const rw_insert *insert, const uint32_t *sequences)
{
    unsigned effects = 0;
    for (size_t i = 0; i < insert->wanted_count; i++) {
        const rw_column *column = &insert->table->columns[insert->wanted[i].column];
        if (sequences != NULL && sequences[i] != 0)
            effects |= RW_EFFECT_WRITES;
        else if (insert->wanted[i].draws)
            effects |= RW_EFFECT_WRITES | RW_EFFECT_DRAWS;
        else if (insert->wanted[i].runs_code || (!insert->wanted[i].expression && column->computed))
            effects |= RW_EFFECT_CALLS | RW_EFFECT_STATE | RW_EFFECT_DRAWS;
        else if (column->sequence)
            effects |= RW_EFFECT_WRITES;
    }
    return effects;
}

bool px_keys_look_around(const rw_insert *insert)
{
    return (effects_of(insert, NULL) & RW_EFFECT_CALLS) != 0;
}

enum { MOST_QUESTION = 16 * 1024 * 1024 }; /* bytes of the question with its values */

/* Types of the parameters; one that no expression has gets text, unless its type is declared. */
static const uint32_t *types_of(const px_keys_of *of, const bool *has, pgw_arena *arena)
{
    size_t used = of->inserts[0]->param_count, count = of->bind->value_count;
    uint32_t *types = pgw_arena_alloc(arena, (count + 1) * sizeof *types);
    for (size_t i = 0; i < count; i++) {
        uint32_t type = i < used ? of->plan->types[i] : PGW_UNSPECIFIED;
        types[i] = type == PGW_UNSPECIFIED && (i >= used || !has[i]) ? PGW_TEXT : type;
    }
    return types;
}

/* Reads the client's values that expressions have, NULL in the place of the others. False: there
 * are none. */
static bool read_values(const px_keys_of *of, pgw_arena *arena, px_unseen_values *out)
{
    const rw_insert *insert = of->inserts[0];
    const bool *has = rw_asked_parameters(insert, of->plan->identity->env.conforming, arena);
    pgw_reader reader = pgw_reader_of(of->bind->values);
    pgw_buf values = {0};
    bool any = false;
    for (size_t i = 0; i < of->bind->value_count; i++) {
        pgw_bind_value value = pgw_bind_next(&reader);
        bool told = i < insert->param_count && has[i] && !value.null;
        any = any || (i < insert->param_count && has[i]);
        pgw_buf_add_i32(&values, told ? (int32_t)value.bytes.len : -1);
        if (told)
            pgw_buf_add_slice(&values, value.bytes);
    }
    *out = (px_unseen_values){types_of(of, has, arena), *of->bind};
    out->bind.values = pgw_arena_copy(arena, pgw_slice_buf(&values));
    pgw_buf_free(&values);
    return any;
}

/* Notes the defaults of a statement, whose first cell is number `first`. */
static void note_defaults(struct px_keys *keys, size_t first, const rw_insert *insert)
{
    for (size_t i = 0; i < insert->wanted_count; i++) {
        const rw_wanted *wanted = &insert->wanted[i];
        keys->defaults = keys->defaults || !wanted->expression;
        keys->sequences[first + i] =
            wanted->expression ? 0 : insert->table->columns[wanted->column].draws_from;
    }
}

/* The first cell of a lone statement that is nextval('name') and not known to be the same as its
 * column's default; `wanted_count` if there is none. */
static size_t note_names(px_session *session, struct px_keys *keys, const rw_insert *insert)
{
    size_t first = insert->wanted_count;
    for (size_t i = 0; i < insert->wanted_count; i++) {
        pgw_slice name = rw_sequence_name(insert, i);
        uint32_t sequence = insert->table->columns[insert->wanted[i].column].draws_from;
        bool known = px_sequence_call_is_own(session, insert, i);
        if (name.len == 0)
            continue;
        if (!known && first == insert->wanted_count)
            first = i;
        keys->named[i] = !known && pgw_slice_eq(name, rw_sequence_name(insert, first)) &&
                         insert->wanted[i].column == insert->wanted[first].column;
        keys->sequences[i] = known || keys->named[i] ? sequence : 0;
    }
    return first;
}

/* Asks first what the name means: then it is known what was drawn, should an error come next. */
static void ask_name(px_session *session, struct px_keys *keys, const rw_insert *insert, size_t i)
{
    pgw_buf sql = {0};
    px_sequence_call_ask(session, insert, i, &sql);
    pgw_buf_add_str(&sql, " union all ");
    rw_question_put_before(&keys->question, pgw_slice_buf(&sql), &keys->arena);
    pgw_buf_free(&sql);
    keys->asks_name = true;
}

/* A question that was made before, which wants defaults alone, and is not to be kept for longer
 * than this one. */
static rw_question question_like(const rw_question *of, size_t count, pgw_arena *arena)
{
    rw_question like = *of;
    pgw_slice types = {(const char *)of->types, count * sizeof *of->types};
    like.sql = pgw_arena_copy(arena, of->sql);
    like.types = (uint32_t *)pgw_arena_copy(arena, types).ptr;
    return like;
}

/* The question for a lone statement, and a block for others with it. */
static void ask_alone(px_session *session, struct px_keys *keys, const px_keys_of *of)
{
    const rw_insert *insert = of->inserts[0];
    size_t named = note_names(session, keys, insert);
    px_state_note(session, effects_of(insert, keys->sequences));
    if (of->question != NULL)
        keys->question = question_like(of->question, insert->wanted_count, &keys->arena);
    else
        rw_question_of(insert, session->worker->server->backend->by_file, &keys->arena,
                       &keys->question);
    if (named < insert->wanted_count)
        ask_name(session, keys, insert, named);
    keys->reserve = px_sequence_take_begin(session, insert, &keys->arena, &keys->question);
    keys->ahead = keys->reserve != NULL && keys->reserve->size > 0;
}

static struct px_keys *new_question(px_session *session, const px_keys_of *of)
{
    struct px_keys *keys = new_keys(session, wanted_by(of));
    size_t first = 0;
    keys->several = of->count > 1;
    keys->schema = pgw_arena_copy(&keys->arena, pgw_slice_str(of->inserts[0]->table->schema)).ptr;
    keys->table = of->inserts[0]->table->oid;
    for (size_t i = 0; i < of->count; first += of->inserts[i++]->wanted_count) {
        note_defaults(keys, first, of->inserts[i]);
        if (keys->several)
            px_state_note(session, effects_of(of->inserts[i], NULL));
    }
    if (keys->several)
        rw_question_of_several(of->inserts, of->count, session->worker->server->backend->by_file,
                               &keys->arena, &keys->question);
    else
        ask_alone(session, keys, of);
    return keys;
}

/* Asks the link. DONE: the error, for that is impossible. */
static px_step ask(px_session *session, const px_keys_of *of, pgw_error *error)
{
    px_unseen_values values;
    struct px_keys *keys = new_question(session, of);
    keys->before = of->before;
    keys->behind = of->behind;
    bool bound = of->bind != NULL && read_values(of, &keys->arena, &values);
    if (bound) {
        keys->plan = of->plan;
        px_plan_take(of->plan);
    }
    if (keys->question.sql.len + (bound ? values.bind.values.len : 0) > MOST_QUESTION) {
        px_keys_forget(session);
        pgw_fail(error, "54000", "the expressions for the key of table \"%s\" are too long",
                 of->inserts[0]->table->name);
        pgw_error_hint(error, "Send fewer rows a statement, or constants.");
        return PX_STEP_DONE;
    }
    pgw_buf out = {0};
    px_ask_nothing(session);
    px_ask_with(session, keys->question.sql, bound ? &values : NULL, PX_ASKS_KEYS, &out);
    px_ask_send(session, PX_ASKS_KEYS, &out);
    return PX_WAIT_STATE;
}

static const rw_answer *nulls(px_session *session, size_t count)
{
    struct px_keys *keys = new_keys(session, count);
    for (; keys->known < keys->count; keys->known++)
        keys->answers[keys->known] = (rw_answer){.null = true};
    return keys->answers;
}

static const rw_answer *made_ahead(px_session *session, const rw_insert *insert)
{
    struct px_keys *keys = new_keys(session, insert->wanted_count);
    px_sequence_take_take(session, insert, &keys->arena, keys->answers);
    keys->known = keys->count;
    keys->answered = keys->ahead = true;
    return keys->answers;
}

/* Whether the statement wants nothing but the time of its transaction. */
static bool wants_now(const rw_insert *insert)
{
    static const char *const decoded[] = {"now()", "CURRENT_TIMESTAMP", "transaction_timestamp()"};
    for (size_t i = 0; i < insert->wanted_count; i++) {
        const rw_column *column = &insert->table->columns[insert->wanted[i].column];
        const char *text = column->default_text;
        size_t k = 0;
        if (insert->wanted[i].expression || column->type != PGW_TIMESTAMPTZ || column->typmod >= 0)
            return false;
        while (text != NULL && k < sizeof decoded / sizeof *decoded &&
               strcmp(text, decoded[k]) != 0)
            k++;
        if (text == NULL || k == sizeof decoded / sizeof *decoded)
            return false;
    }
    return insert->wanted_count > 0;
}

void px_keys_share_now(px_session *session, const rw_insert *insert)
{
    px_group *group = &session->group;
    const struct px_keys *keys = session->hand.keys;
    if (group->count > 0 && group->now == NULL && keys != NULL && wants_now(insert) &&
        keys->known == insert->wanted_count && !keys->answers[0].null)
        px_group_share_now(group, keys->answers[0].text);
}

static const rw_answer *given_before(px_session *session, const rw_insert *insert)
{
    struct px_keys *keys = new_keys(session, insert->wanted_count);
    for (; keys->known < keys->count; keys->known++)
        keys->answers[keys->known] = (rw_answer){.text = pgw_slice_str(session->group.now)};
    keys->answered = true;
    return keys->answers;
}

const rw_answer *px_keys_ask(px_session *session, const px_keys_of *of, px_step *step,
                             pgw_error *error)
{
    const rw_insert *only = of->count == 1 ? of->inserts[0] : NULL;
    const struct px_keys *keys = session->hand.keys;
    bool answered = keys != NULL && keys->answered && keys->count == wanted_by(of);
    *step = PX_STEP_DONE;
    if (answered && keys->known == keys->count)
        return keys->answers;
    if (answered) { /* No rows come where the user may not write the table, or where it has gone. */
        pgw_fail(error, "42501", "permission denied for table %s", of->inserts[0]->table->name);
        return NULL;
    }
    bool owed = session->pending.replies.count > 0 && !session->own.unsynced;
    if (!owed && px_session_aborted(session))
        return nulls(session, wanted_by(of));
    if (only != NULL && px_sequence_take_has(session, only))
        return made_ahead(session, only);
    if (of->bind != NULL && session->group.now != NULL && wants_now(only))
        return given_before(session, only);
    if (only != NULL && px_sequence_take_comes(session, only))
        *step = PX_WAIT_TURN;
    else
        *step = owed ? PX_WAIT_IDLE : px_session_need_link(session);
    if (*step == PX_STEP_DONE)
        *step = ask(session, of, error);
    return NULL;
}

static size_t number_of(pgw_slice digits)
{
    size_t number = 0;
    for (size_t i = 0; i < digits.len; i++)
        number = number * 10 + (size_t)(digits.ptr[i] - '0');
    return number;
}

static int64_t signed_of(pgw_slice number)
{
    bool negative = number.len > 0 && number.ptr[0] == '-';
    pgw_slice digits = {number.ptr + negative, number.len - negative};
    return (int64_t)(negative ? 0 - number_of(digits) : number_of(digits));
}

/* Notes whether nextval('name') gave the sequence's next number, or one of which nothing is known.
 */
static void note_name(px_session *session, struct px_keys *keys, bool own)
{
    keys->asks_name = false;
    if (own)
        px_sequence_call_own(session);
    else
        px_state_note(session, RW_EFFECT_DRAWS);
    for (size_t i = 0; i < keys->count; i++)
        keys->sequences[i] = keys->named[i] && !own ? 0 : keys->sequences[i];
}

/* A row has three texts: the number of a cell, the oid of its type, its value. */
void px_keys_row(px_session *session, pgw_slice body)
{
    struct px_keys *keys = session->hand.keys;
    pgw_slice cells[3];
    bool none[3];
    if (keys == NULL || pgw_data_row_decode(body, cells, none, 3) != 3 || none[0] || none[1])
        return;
    if (pgw_slice_eq_str(cells[0], RW_SEQUENCE_NAMED)) {
        note_name(session, keys, pgw_slice_eq_str(cells[1], "t"));
        return;
    }
    size_t i = number_of(cells[0]);
    if (i >= keys->count && keys->reserve != NULL)
        px_sequence_cache_row(session, keys->reserve, body);
    if (i >= keys->count)
        return;
    pgw_slice told = none[2] ? (pgw_slice){NULL, 0} : cells[2];
    keys->answers[i] = rw_answer_read(&keys->question, i, cells[1], told, &keys->arena);
    keys->known++;
    keys->came[i] = true;
    if (keys->sequences[i] != 0 && !none[2])
        px_sequence_session_here(session, keys->sequences[i], signed_of(cells[2]));
}

void px_keys_answered(px_session *session)
{
    struct px_keys *keys = session->hand.keys;
    if (keys == NULL)
        return;
    keys->answered = true;
    px_count(session->worker->metrics, PX_KEYS_ASKED, keys->known);
    if (keys->reserve != NULL)
        px_sequence_cache_end(session->worker, keys->reserve, true);
    if (!keys->ahead) /* The numbers drawn now may come after blocks that others drew, which are not
                         for this session any more. */
        px_own_draw_apart(&session->own, px_sequence_cache_blocks());
    keys->reserve = NULL;
}

/* Takes values that are missing, numbers of a sequence that has ended, from what nobody got. */
static bool take_rest(px_session *session, struct px_keys *keys, pgw_slice body)
{
    size_t first = 0, more = keys->count - keys->known;
    while (first < keys->count && keys->came[first])
        first++;
    for (size_t i = first; i < keys->count; i++)
        if (keys->came[i] || keys->sequences[i] == 0 || keys->asks_name ||
            keys->sequences[i] != keys->sequences[first])
            return false;
    if (!pgw_slice_eq_str(pgw_error_field(body, 'C'), "2200H") ||
        !px_sequence_take_rest(session, keys->sequences[first], more, &keys->arena,
                               keys->answers + first))
        return false;
    keys->known = keys->count;
    return true;
}

/* Whether only a part fails, in front of which all is to be done and nothing was done yet. */
static bool fails_in_part(const px_session *session, const struct px_keys *keys)
{
    return (keys->several || keys->behind) && session->own.status == 'I';
}

void px_keys_failed(px_session *session, pgw_slice body)
{
    struct px_keys *keys = session->hand.keys;
    px_ask_nothing(session);
    if (session->own.unsynced)
        px_session_end_wait(session, PX_WAIT_STATE); /* the error ends its group */
    if (keys == NULL)
        return;
    bool known =
        keys->known == keys->count ? keys->reserve != NULL : take_rest(session, keys, body);
    if (known) { /* The sequence has ended, with enough numbers for this statement. */
        px_keys_answered(session);
        return;
    }
    keys->failed = true;
    if (keys->plan != NULL && px_classify(body) == PX_ERROR_STALE) {
        px_plan_doubt_types(keys->plan);
        px_changes_stale(session);
    }
    pgw_error_read(body, &keys->error);
    rw_question_failed(&keys->question, &keys->error);
    /* Where a statement fails in part, the position is moved with its text. */
    if (keys->error.position > 0 && !fails_in_part(session, keys))
        keys->error.position += keys->before;
    if (pgw_error_is(&keys->error, "25006")) /* the server names the INSERT, not the question */
        pgw_fail(&keys->error, "25006", "cannot execute INSERT in a read-only transaction");
}

const pgw_error *px_keys_failure(const px_session *session)
{
    const struct px_keys *keys = session->hand.keys;
    return keys != NULL && keys->failed ? &keys->error : NULL;
}

const rw_answer *px_keys_in_part(px_session *session, size_t *failed)
{
    struct px_keys *keys = session->hand.keys;
    if (keys == NULL || !keys->failed || !fails_in_part(session, keys))
        return NULL;
    *failed = keys->count;
    for (size_t i = keys->count; i-- > 0;)
        if (!keys->came[i]) {
            keys->answers[i] = (rw_answer){.null = true};
            *failed = i;
        }
    return keys->answers;
}

/* Whether the error says that there is nothing of a name or oid that the catalog has. */
static bool is_of_the_catalog(const pgw_error *error)
{
    return strncmp(error->sqlstate, "42", 2) == 0 || pgw_error_is(error, "XX000");
}

bool px_keys_may_be_old(const px_session *session)
{
    const struct px_keys *keys = session->hand.keys;
    if (keys == NULL)
        return false;
    return keys->failed
               ? keys->defaults && is_of_the_catalog(&keys->error) && px_session_idle(session)
               : keys->answered && keys->known < keys->count;
}

const char *px_keys_schema(const px_session *session)
{
    const struct px_keys *keys = session->hand.keys;
    return keys != NULL && keys->answered ? keys->schema : NULL;
}

bool px_keys_are_of(const px_session *session, const px_catalog *catalog)
{
    const struct px_keys *keys = session->hand.keys;
    for (size_t i = 0; keys != NULL && i < catalog->count; i++)
        if (catalog->tables[i]->oid == keys->table)
            return true;
    return false;
}

bool px_keys_bind(const px_plan *plan, const pgw_bind *bind, const rw_answer *answers, pgw_buf *out,
                  pgw_error *error)
{
    const rw_insert *insert = plan->asked;
    pgw_slice *texts = pgw_calloc(insert->wanted_count, sizeof *texts);
    bool fits = true;
    for (size_t i = 0; i < insert->wanted_count && fits; i++) {
        fits = rw_answer_check(insert, i, &answers[i], error);
        texts[i] = answers[i].null ? (pgw_slice){NULL, 0} : answers[i].text;
    }
    if (fits && !pgw_write_bind_text(bind, texts, insert->wanted_count, out))
        fits = pgw_fail(error, "54000", "a Bind of %zu parameters and %zu keys is too large",
                        bind->value_count, insert->wanted_count);
    free(texts);
    return fits;
}
