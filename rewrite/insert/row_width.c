#include "rewrite/insert/row_width.h"

static rw_lexer lexer_of(const rw_insert *insert, size_t from, size_t to, const pgw_env *env)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, (pgw_slice){insert->text.ptr + from, to - from}, env->conforming);
    return lexer;
}

/* Whether a row is the first one with its parameters' numbers higher by `row` * `width`. */
static bool repeats_first(const rw_insert *insert, size_t row, size_t width, const pgw_env *env)
{
    rw_lexer one = lexer_of(insert, insert->rows[0].open, insert->rows[0].close, env);
    rw_lexer other = lexer_of(insert, insert->rows[row].open, insert->rows[row].close, env);
    for (;;) {
        rw_token a = rw_lexer_next(&one), b = rw_lexer_next(&other);
        pgw_slice x = rw_token_text(one.text, a), y = rw_token_text(other.text, b);
        if (a.kind != b.kind || a.kind == RW_TOKEN_BAD)
            return false;
        if (a.kind == RW_TOKEN_END)
            return true;
        if (a.kind != RW_TOKEN_PARAM ? !pgw_slice_eq(x, y)
                                     : rw_parameter_number(one.text, a) > width ||
                                           rw_parameter_number(other.text, b) !=
                                               rw_parameter_number(one.text, a) + row * width)
            return false;
    }
}

static bool has_params(rw_lexer lexer)
{
    rw_token token;
    do
        token = rw_lexer_next(&lexer);
    while (token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD &&
           token.kind != RW_TOKEN_PARAM);
    return token.kind == RW_TOKEN_PARAM;
}

size_t rw_insert_row_width(const rw_insert *insert, const pgw_env *env)
{
    if (insert->row_count == 0 || insert->param_count % insert->row_count != 0 ||
        has_params(lexer_of(insert, 0, insert->values, env)) ||
        has_params(lexer_of(insert, insert->tail, insert->text.len, env)))
        return 0;
    size_t width = insert->param_count / insert->row_count;
    for (size_t r = 0; r < insert->row_count; r++)
        if (!repeats_first(insert, r, width, env))
            return 0;
    return width;
}
