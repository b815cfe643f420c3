#include "rewrite/lex/executed.h"

#include "rewrite/lex/lexer_text.h"

rw_executed rw_executed_in(pgw_slice text, bool conforming)
{
    rw_executed it;
    rw_lexer_init(&it.lexer, text, conforming);
    it.token = rw_lexer_next(&it.lexer);
    return it;
}

bool rw_executed_next(rw_executed *it, pgw_arena *arena, pgw_slice *name)
{
    const pgw_slice text = it->lexer.text;
    while (it->token.kind != RW_TOKEN_END && it->token.kind != RW_TOKEN_BAD) {
        bool execute = rw_token_is(text, it->token, "execute");
        it->token = rw_lexer_next(&it->lexer);
        if (!execute || (it->token.kind != RW_TOKEN_WORD && it->token.kind != RW_TOKEN_QUOTED))
            continue;
        *name = rw_take_identifier(&it->lexer, it->token, arena);
        return true;
    }
    return false;
}
