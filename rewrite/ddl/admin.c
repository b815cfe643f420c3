#include "rewrite/ddl/admin.h"

#include "rewrite/lex/lexer_text.h"

typedef struct reader {
    rw_lexer lexer;
    rw_token token; /* the next token, not yet taken */
    pgw_arena *arena;
    rw_admin *out;
} reader;

static void advance(reader *in)
{
    in->token = rw_lexer_next(&in->lexer);
}

static bool take_word(reader *in, const char *word)
{
    if (!rw_token_is(in->lexer.text, in->token, word))
        return false;
    advance(in);
    return true;
}

static bool at_end(const reader *in)
{
    return in->token.kind == RW_TOKEN_END || in->token.kind == RW_TOKEN_BAD ||
           (in->token.kind == RW_TOKEN_CHAR && in->lexer.text.ptr[in->token.start] == ';');
}

static void add_database(reader *in, pgw_slice name)
{
    if (name.len > 0 && in->out->database_count < RW_ADMIN_DATABASES)
        in->out->databases[in->out->database_count++] = name;
}

static void take_database(reader *in)
{
    if (in->token.kind == RW_TOKEN_WORD || in->token.kind == RW_TOKEN_QUOTED)
        add_database(in, rw_token_name(in->lexer.text, in->token, in->arena));
    if (!at_end(in))
        advance(in);
}

/* CREATE DATABASE name … TEMPLATE [=] other: all links must leave the other database. */
static void read_create(reader *in)
{
    if (!take_word(in, "database"))
        return;
    if (!at_end(in))
        advance(in); /* the new database's name */
    while (!at_end(in)) {
        if (!take_word(in, "template")) {
            advance(in);
            continue;
        }
        if (!at_end(in) && rw_token_text(in->lexer.text, in->token).ptr[0] == '=')
            advance(in);
        if (in->token.kind == RW_TOKEN_STRING) {
            pgw_slice name;
            if (rw_token_string(in->lexer.text, in->token, in->lexer.conforming, in->arena, &name))
                add_database(in, name);
        } else if (!rw_token_is(in->lexer.text, in->token, "default")) {
            take_database(in);
        }
    }
    if (in->out->database_count == 0)
        add_database(in, PGW_LITERAL("template1"));
}

static void read_alter(reader *in)
{
    bool database = take_word(in, "database");
    in->out->settings |=
        database || take_word(in, "role") || take_word(in, "user") || take_word(in, "system");
    if (database)
        take_database(in);
}

static void read_drop(reader *in)
{
    if (!take_word(in, "database"))
        return;
    if (take_word(in, "if"))
        take_word(in, "exists");
    take_database(in);
}

static void read_statement(reader *in)
{
    if (take_word(in, "alter"))
        read_alter(in);
    else if (take_word(in, "create"))
        read_create(in);
    else if (take_word(in, "drop"))
        read_drop(in);
}

bool rw_admin_may_say(pgw_slice beginning)
{
    if (beginning.len < 2)
        return true;
    char first = (char)(beginning.ptr[0] | 0x20), second = (char)(beginning.ptr[1] | 0x20);
    switch (first) {
    case 'a':
        return second == 'l';
    case 'b':
        return second == 'e';
    case 'c':
    case 'd':
        return second == 'r';
    case 's':
        return second == 't';
    default: /* A blank or a comment may stand before the word. */
        return first < 'a' || first > 'z';
    }
}

void rw_admin_read(pgw_slice text, bool conforming, pgw_arena *arena, rw_admin *out)
{
    static const char *const first[] = {"alter", "create", "drop", "begin", "start"};
    reader in = {.arena = arena, .out = out};
    bool any = false;
    *out = (rw_admin){0};
    rw_lexer_init(&in.lexer, text, conforming);
    advance(&in);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        any = any || rw_token_is(text, in.token, first[i]);
    while (any && in.token.kind != RW_TOKEN_END && in.token.kind != RW_TOKEN_BAD) {
        read_statement(&in);
        while (!at_end(&in))
            advance(&in);
        if (in.token.kind == RW_TOKEN_CHAR)
            advance(&in);
    }
}
