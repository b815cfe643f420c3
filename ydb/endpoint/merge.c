#include "ydb/endpoint/merge.h"

#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "rewrite/lex/lexer.h"
#include "ydb/plain/infer.h"
#include "ydb/plain/inline.h"

/* A prepared INSERT: the bytes of its rows, and the types of their parameters. */
typedef struct pattern {
    pgw_slice head, rows, tail;
    rw_inferred parameters;
} pattern;

typedef struct merger {
    px_write_group *const *write_groups;
    size_t count;
    const pgw_env *env;
    size_t most; /* bytes that `out` may grow to */
    pgw_arena arena;
    pgw_error error;
    pgw_buf *out;
    bool first;
} merger;

static bool is_char(pgw_slice text, rw_token token, char c)
{
    return token.kind == RW_TOKEN_CHAR && text.ptr[token.start] == c;
}

/* The position behind the ')' that closes the '(' taken last. */
static size_t skip_row(rw_lexer *lexer)
{
    for (size_t depth = 1; depth > 0;) {
        rw_token token = rw_lexer_next(lexer);
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD)
            return lexer->text.len;
        depth += is_char(lexer->text, token, '(');
        depth -= is_char(lexer->text, token, ')');
    }
    return lexer->at;
}

/* Finds the rows behind the first VALUES, such as (…), (…), and what stands before and after. */
static bool find_rows(pgw_slice text, bool conforming, pattern *out)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    rw_token token = rw_lexer_next(&lexer);
    while (token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD &&
           !rw_token_is(text, token, "values"))
        token = rw_lexer_next(&lexer);
    rw_token open = rw_lexer_next(&lexer);
    if (!is_char(text, open, '('))
        return false;
    size_t end = skip_row(&lexer);
    for (;;) {
        rw_lexer ahead = lexer;
        bool more = is_char(text, rw_lexer_next(&ahead), ',');
        if (!more || !is_char(text, rw_lexer_next(&ahead), '('))
            break;
        lexer = ahead;
        end = skip_row(&lexer);
    }
    out->head = (pgw_slice){text.ptr, open.start};
    out->rows = (pgw_slice){text.ptr + open.start, end - open.start};
    out->tail = (pgw_slice){text.ptr + end, text.len - end};
    return true;
}

/* Whether the text behind the rows means the same for merged rows, and each row counts: it is empty
 * or ON CONFLICT … DO UPDATE without parameters, WHERE and RETURNING. */
static bool is_for_all(pgw_slice text, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    bool updates = false, nothing = true;
    for (;;) {
        rw_token token = rw_lexer_next(&lexer);
        if (token.kind == RW_TOKEN_END)
            return updates || nothing;
        if (token.kind == RW_TOKEN_PARAM || token.kind == RW_TOKEN_BAD ||
            rw_token_is(text, token, "where") || rw_token_is(text, token, "returning"))
            return false;
        nothing = false;
        updates = updates || rw_token_is(text, token, "update");
    }
}

static bool read_pattern(merger *m, const px_write_group_prepared *prepared,
                         const rw_catalog *catalog, pattern *out)
{
    const pgw_reading reading = {m->env, &m->arena, &m->error};
    rw_declared declared = {prepared->types, prepared->type_count};
    return find_rows(prepared->text, m->env->conforming, out) &&
           rw_infer(prepared->text, catalog, declared, &reading, &out->parameters);
}

static void add_separator(merger *m)
{
    if (!m->first)
        pgw_buf_add_str(m->out, ",\n");
    m->first = false;
}

static rw_params params_of(merger *m, const pattern *p, const pgw_bind *bind)
{
    rw_param *list = pgw_arena_alloc(&m->arena, bind->value_count * sizeof *list + 1);
    pgw_reader reader = pgw_reader_of(bind->values);
    for (size_t i = 0; i < bind->value_count; i++) {
        pgw_bind_value value = pgw_bind_next(&reader);
        list[i] = (rw_param){.type = i < p->parameters.count ? p->parameters.types[i] : 0,
                             .binary = pgw_bind_is_binary(bind, i),
                             .null = value.null,
                             .bytes = value.bytes};
    }
    return (rw_params){list, bind->value_count};
}

/* Adds the row of an execution; `messages` are its Bind and Execute. */
static bool add_bound(merger *m, const pattern *p, pgw_slice messages)
{
    pgw_frame frame;
    pgw_bind bind;
    const pgw_slice *texts;
    const pgw_reading reading = {m->env, &m->arena, &m->error};
    if (pgw_frame_next(messages, &frame) != PGW_FRAME_OK || frame.type != 'B' ||
        !pgw_bind_decode(pgw_frame_body(messages, frame), &bind))
        return false;
    rw_params params = params_of(m, p, &bind);
    if (!rw_bound_texts(params, m->most, &reading, &texts))
        return false;
    const rw_inlining how = {
        .texts = texts, .count = params.count, .conforming = m->env->conforming, .most = m->most};
    add_separator(m);
    return rw_inline(p->rows, &how, m->out, &m->error) && m->out->len <= m->most;
}

static bool merge_params(merger *m, const rw_catalog *catalog)
{
    const px_write_group_prepared *prepared = m->write_groups[0]->prepared;
    pattern p;
    if (m->write_groups[0]->prepared_count != 1 || prepared->columns.len > 0 ||
        !read_pattern(m, prepared, catalog, &p) || !is_for_all(p.tail, m->env->conforming))
        return false;
    pgw_buf_add_slice(m->out, p.head);
    for (size_t i = 0; i < m->count; i++) {
        const px_write_group *write_group = m->write_groups[i];
        for (size_t s = 0; s < write_group->statement_count; s++)
            if (!add_bound(m, &p, write_group->statements[s].messages))
                return false;
    }
    pgw_buf_add_slice(m->out, p.tail);
    return true;
}

static bool merge_rows(merger *m)
{
    const px_write_group *key = m->write_groups[0];
    pgw_buf_add_slice(m->out, key->head);
    for (size_t i = 0; i < m->count; i++) {
        const px_write_group *write_group = m->write_groups[i];
        for (size_t s = 0; s < write_group->statement_count; s++) {
            add_separator(m);
            px_write_group_write_statement(write_group, s, m->out);
        }
    }
    pgw_buf_add_slice(m->out, key->tail);
    return true;
}

bool px_ydb_merge(px_write_group *const *write_groups, size_t count, const rw_catalog *catalog,
                  size_t most, pgw_buf *text)
{
    size_t begun = text->len;
    const px_write_group *key = write_groups[0];
    merger m = {.write_groups = write_groups,
                .count = count,
                .env = &key->identity->env,
                .most = begun + most,
                .out = text,
                .first = true};
    bool fine = key->kind == PX_WRITE_GROUP_ROWS     ? merge_rows(&m)
                : key->kind == PX_WRITE_GROUP_PARAMS ? merge_params(&m, catalog)
                                                     : false;
    fine = fine && text->len <= m.most;
    pgw_arena_free(&m.arena);
    if (!fine)
        text->len = begun;
    return fine;
}
