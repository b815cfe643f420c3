#include "ydb/plain/inline.h"

#include "rewrite/lex/lexer.h"
#include "ydb/plain/constant.h"

typedef struct inliner {
    pgw_slice text;
    const rw_inlining *how;
    size_t unnamed; /* how many of `how->unnamed` were passed */
    rw_token previous;
    size_t opened;   /* parentheses that stand at once before the next token */
    size_t named_at; /* where a column ends that gets the name ?column?; 0: none */
    size_t copied;   /* bytes of the text that were copied or replaced */
    pgw_buf *out;
} inliner;

static bool too_long(size_t most, pgw_error *error)
{
    pgw_fail(error, "54000",
             "the statement with its parameters is longer than YDB takes, which is "
             "%zu bytes",
             most + RW_AROUND_TEXT);
    pgw_error_hint(error, "Send less at once: fewer rows, or shorter values.");
    return false;
}

static bool is_char(const inliner *it, rw_token token, char c)
{
    return token.kind == RW_TOKEN_CHAR && it->text.ptr[token.start] == c;
}

/* Whether it is `u&$1`, which would become U&'…'. */
static bool is_glued(const inliner *it, rw_token parameter)
{
    return it->previous.kind == RW_TOKEN_OPERATOR && it->previous.end == parameter.start &&
           it->text.ptr[parameter.start - 1] == '&';
}

/* Whether the grammar takes a parameter here, and no cast: before a subscript or a field, and in
 * FETCH FIRST $1 ROWS and XMLTABLE ($1 PASSING $2 …). */
static bool needs_parentheses(const inliner *it, rw_token parameter)
{
    rw_lexer ahead = {.text = it->text, .at = parameter.end, .conforming = it->how->conforming};
    rw_token next = rw_lexer_next(&ahead);
    return is_glued(it, parameter) || is_char(it, next, '[') || is_char(it, next, '.') ||
           rw_token_is(it->text, it->previous, "first") ||
           rw_token_is(it->text, it->previous, "next") ||
           rw_token_is(it->text, it->previous, "passing") || rw_token_is(it->text, next, "passing");
}

static void copy_to(inliner *it, size_t end)
{
    pgw_buf_add(it->out, it->text.ptr + it->copied, end - it->copied);
    it->copied = end;
}

static void put(inliner *it, rw_token parameter, pgw_slice operand)
{
    bool parentheses = needs_parentheses(it, parameter);
    copy_to(it, parameter.start);
    it->copied = parameter.end;
    pgw_buf_add_str(it->out, parentheses ? "(" : "");
    pgw_buf_add_slice(it->out, operand);
    pgw_buf_add_str(it->out, parentheses ? ")" : "");
}

/* Skips a subscript; returns where the text goes on behind the ']' that belongs to its '['. */
static size_t skip_subscript(const inliner *it, rw_lexer *ahead)
{
    size_t depth = 1;
    while (depth > 0) {
        rw_token token = rw_lexer_next(ahead);
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD)
            break;
        depth += is_char(it, token, '[');
        depth -= is_char(it, token, ']');
    }
    return ahead->at;
}

/* Skips COLLATE's name; returns where the text goes on behind it. */
static size_t skip_collation(const inliner *it, rw_lexer *ahead)
{
    for (;;) {
        rw_lexer_next(ahead);
        rw_lexer further = *ahead;
        if (!is_char(it, rw_lexer_next(&further), '.'))
            return ahead->at;
        *ahead = further;
    }
}

/* Where the column ends that is this parameter alone, but for parentheses, subscripts and
 * COLLATE. */
static size_t column_end(const inliner *it, rw_token parameter)
{
    rw_lexer ahead = {.text = it->text, .at = parameter.end, .conforming = it->how->conforming};
    size_t end = parameter.end, opened = it->opened;
    for (;;) {
        rw_token next = rw_lexer_next(&ahead);
        if (is_char(it, next, ')') && opened > 0) {
            opened--;
            end = next.end;
        } else if (is_char(it, next, '[')) {
            end = skip_subscript(it, &ahead);
        } else if (rw_token_is(it->text, next, "collate")) {
            end = skip_collation(it, &ahead);
        } else {
            return end;
        }
    }
}

static void name(inliner *it)
{
    copy_to(it, it->named_at);
    pgw_buf_add_str(it->out, " AS \"?column?\"");
    it->named_at = 0;
}

static bool is_unnamed(inliner *it, rw_token parameter)
{
    const rw_inlining *how = it->how;
    while (it->unnamed < how->unnamed_count && how->unnamed[it->unnamed] < parameter.start)
        it->unnamed++;
    return it->unnamed < how->unnamed_count && how->unnamed[it->unnamed] == parameter.start;
}

static bool take_parameter(inliner *it, rw_token token, pgw_error *error)
{
    const rw_inlining *how = it->how;
    uint32_t number = rw_parameter_number(it->text, token);
    if (number == 0 || number > how->count)
        return pgw_fail(error, "42P02", "there is no parameter $%u", number);
    pgw_slice operand = how->texts[number - 1];
    if (operand.len > how->most)
        return too_long(how->most, error);
    put(it, token, operand);
    if (is_unnamed(it, token))
        it->named_at = column_end(it, token);
    return true;
}

static bool is_dot_next(const inliner *it, rw_lexer *ahead)
{
    return is_char(it, rw_lexer_next(ahead), '.');
}

/* Whether the token is the schema of `public.t.c` or `public.t.*`, which is left out: YDB's columns
 * take no more than two names. */
static bool begins_schema(const inliner *it, rw_token token)
{
    static const char name[] = "public";
    rw_lexer ahead = {.text = it->text, .at = token.end, .conforming = it->how->conforming};
    pgw_slice quoted = {it->text.ptr + token.start, token.end - token.start};
    bool is_it = rw_token_is(it->text, token, name) ||
                 (token.kind == RW_TOKEN_QUOTED && pgw_slice_eq_str(quoted, "\"public\""));
    if (!is_it || is_char(it, it->previous, '.') || !is_dot_next(it, &ahead))
        return false;
    rw_token table = rw_lexer_next(&ahead);
    return (table.kind == RW_TOKEN_WORD || table.kind == RW_TOKEN_QUOTED) &&
           is_dot_next(it, &ahead);
}

static void leave_schema(inliner *it, rw_token schema)
{
    rw_lexer ahead = {.text = it->text, .at = schema.end, .conforming = it->how->conforming};
    copy_to(it, schema.start);
    it->copied = rw_lexer_next(&ahead).end;
}

static bool take(inliner *it, rw_token token, pgw_error *error)
{
    if (begins_schema(it, token))
        leave_schema(it, token);
    if (token.kind == RW_TOKEN_PARAM && !take_parameter(it, token, error))
        return false;
    if (it->named_at == token.end)
        name(it);
    it->previous = token;
    it->opened = is_char(it, token, '(') ? it->opened + 1 : 0;
    return it->out->len <= it->how->most || too_long(it->how->most, error);
}

static bool inline_all(inliner *it, pgw_error *error)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, it->text, it->how->conforming);
    for (;;) {
        rw_token token = rw_lexer_next(&lexer);
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD)
            break;
        if (!take(it, token, error))
            return false;
    }
    copy_to(it, it->text.len);
    return it->out->len <= it->how->most || too_long(it->how->most, error);
}

bool rw_inline(pgw_slice text, const rw_inlining *how, pgw_buf *out, pgw_error *error)
{
    pgw_buf result = {0};
    inliner it = {.text = text, .how = how, .out = &result};
    it.previous.kind = RW_TOKEN_END;
    bool fine = inline_all(&it, error);
    if (fine)
        pgw_buf_add_slice(out, pgw_slice_buf(&result));
    pgw_buf_free(&result);
    return fine;
}

/* Cuts a buffer into `count` texts, which end at `ends`. */
static const pgw_slice *cut(pgw_slice all, const size_t *ends, size_t count, pgw_arena *arena)
{
    pgw_slice *texts = pgw_arena_alloc(arena, count * sizeof *texts + 1);
    for (size_t i = 0, start = 0; i < count; start = ends[i++])
        texts[i] = (pgw_slice){all.ptr + start, ends[i] - start};
    return texts;
}

bool rw_bound_texts(rw_params params, size_t most, const pgw_reading *reading,
                    const pgw_slice **out)
{
    size_t *ends = pgw_arena_alloc(reading->arena, params.count * sizeof *ends + 1);
    pgw_buf all = {0};
    bool fine = true;
    for (size_t i = 0; fine && i < params.count; i++) {
        fine = params.list[i].bytes.len <= most
                   ? rw_add_bound(&params.list[i], reading->env, &all, reading->error)
                   : too_long(most, reading->error);
        fine = fine && (all.len <= most || too_long(most, reading->error));
        ends[i] = all.len;
    }
    if (fine)
        *out = cut(pgw_arena_keep(reading->arena, &all), ends, params.count, reading->arena);
    pgw_buf_free(&all);
    return fine;
}

const pgw_slice *rw_null_texts(const uint32_t *types, size_t count, pgw_arena *arena)
{
    size_t *ends = pgw_arena_alloc(arena, count * sizeof *ends + 1);
    pgw_buf all = {0};
    for (size_t i = 0; i < count; i++) {
        rw_add_null(types[i], &all);
        ends[i] = all.len;
    }
    return cut(pgw_arena_keep(arena, &all), ends, count, arena);
}

const pgw_slice *rw_argument_texts(const pgw_slice *arguments, const uint32_t *types, size_t count,
                                   pgw_arena *arena)
{
    size_t *ends = pgw_arena_alloc(arena, count * sizeof *ends + 1);
    pgw_buf all = {0};
    for (size_t i = 0; i < count; i++) {
        rw_add_operand(arguments[i], types[i], &all);
        ends[i] = all.len;
    }
    return cut(pgw_arena_keep(arena, &all), ends, count, arena);
}
