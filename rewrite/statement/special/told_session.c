#include "rewrite/statement/special/told_session.h"

#include "rewrite/lex/words.h"
#include "rewrite/statement/words/setting_kind.h"

#include <string.h>

static bool begins_with(pgw_slice text, const char *const *words)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    rw_token first = rw_lexer_next(&lexer);
    for (; *words != NULL; words++)
        if (rw_token_is(text, first, *words))
            return true;
    return false;
}

static void note_transaction(pgw_slice text, rw_told_session *told)
{
    static const char *const opening[] = {"begin", "start", NULL};
    static const char *const closing[] = {"abort", "commit", "end", "prepare", "rollback", NULL};
    static const char *const to[] = {"to", NULL};
    if (begins_with(text, opening))
        told->open = true;
    else if (begins_with(text, closing) && !rw_holds_any(text, to)) /* ROLLBACK TO SAVEPOINT */
        told->open = false;
}

static void note_setting(const rw_statement *statement, rw_told_session *told)
{
    size_t at = 0;
    while (at < RW_TOLD_SETTINGS && !pgw_slice_eq(told->set[at], statement->setting))
        at++;
    if (statement->setting_simple && statement->setting_value.ptr == NULL) { /* RESET */
        if (at < RW_TOLD_SETTINGS)
            told->set[at].len = 0;
        return;
    }
    for (size_t i = 0; at == RW_TOLD_SETTINGS && i < RW_TOLD_SETTINGS; i++)
        if (told->set[i].len == 0)
            at = i;
    if (at < RW_TOLD_SETTINGS)
        told->set[at] = statement->setting;
}

void rw_told_note(const rw_statement *statement, pgw_slice text, rw_told_session *told)
{
    static const char *const reset[] = {"reset", NULL}, *const all[] = {"all", NULL};
    if (statement->effects & RW_EFFECT_TRANSACTION)
        note_transaction(text, told);
    if (statement->setting.len > 0 && rw_setting_parts(rw_setting_kind_of(statement->setting)))
        note_setting(statement, told);
    else if (statement->effects & RW_EFFECT_DISCARD_ALL ||
             (begins_with(text, reset) && rw_holds_any(text, all)))
        memset(told->set, 0, sizeof told->set);
}

void rw_told_hinders(const void *data, const rw_insert *insert, pgw_buf *why)
{
    (void)insert;
    const rw_told_session *told = data;
    if (told->open)
        pgw_buf_add_str(why, "it is inside of a transaction");
    for (size_t i = 0; !told->open && i < RW_TOLD_SETTINGS; i++) {
        if (told->set[i].len == 0)
            continue;
        pgw_buf_add_str(why, "the session has set ");
        pgw_buf_add_slice(why, told->set[i]);
        return;
    }
}
