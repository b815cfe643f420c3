/* Any bytes: tokens are in order, do not overlap, and end; their values stay inside. */
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/lexer_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(pgw_slice text, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    size_t last = 0;
    for (;;) {
        rw_token token = rw_lexer_next(&lexer);
        require(token.start >= last && token.end >= token.start && token.end <= text.len);
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD) {
            require(rw_lexer_next(&lexer).kind == token.kind);
            return;
        }
        require(token.end > token.start);
        pgw_arena arena = {0};
        pgw_slice value;
        if (token.kind == RW_TOKEN_STRING &&
            rw_token_string(text, token, conforming, &arena, &value))
            require(value.len <= token.end - token.start);
        if (token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED)
            require(rw_token_name(text, token, &arena).len <= token.end - token.start);
        pgw_arena_free(&arena);
        last = token.end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pgw_slice text = {(const char *)data, size};
    check_text(text, true);
    check_text(text, false);
    return 0;
}
