#include "rewrite/insert/typed.h"

#include "rewrite/insert/parser.h"
#include "rewrite/lex/quote.h"

static pgw_slice behind_expression(const rw_insert *asked, const rw_wanted *wanted,
                                   pgw_arena *arena)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, "\n)"); /* the expression may end in a comment */
    if (wanted->overridden)
        pgw_buf_addf(&text, "::pg_catalog.%s",
                     rw_asked_type(asked->table->columns[wanted->column].type));
    pgw_buf_add_str(&text, " is null then ");
    return pgw_arena_keep(arena, &text);
}

/* Puts an expression before byte `at`. The server drops what stands behind OR before it evaluates
 * anything. The parts go from the last to the first, because each comes before what is there
 * already. */
static void put_before(rw_insert *insert, size_t at, const rw_insert *asked,
                       const rw_wanted *wanted, pgw_arena *arena)
{
    pgw_slice expression = {asked->text.ptr + wanted->from, wanted->to - wanted->from};
    const rw_splice parts[] = {
        {.at = at, .text = behind_expression(asked, wanted, arena)},
        {.at = at, .text = expression, .written = true},
        {.at = at, .text = PGW_LITERAL("case when true or (")},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        rw_insert_splice(insert, parts[i], arena);
}

static size_t behind_parameter(pgw_slice text, size_t at)
{
    do
        at++;
    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9');
    return at;
}

void rw_keep_expressions(const rw_insert *asked, const rw_filled *filled, pgw_arena *arena,
                         rw_insert *insert)
{
    insert->reads_names |= asked->reads_names;
    for (size_t i = 0; i < asked->wanted_count; i++) {
        size_t at = filled->cells[i];
        if (!asked->wanted[i].parameters)
            continue;
        put_before(insert, at, asked, &asked->wanted[i], arena);
        rw_splice end = {.at = behind_parameter(insert->text, at), .text = PGW_LITERAL(" end")};
        rw_insert_splice(insert, end, arena);
    }
}

const bool *rw_asked_parameters(const rw_insert *asked, bool conforming, pgw_arena *arena)
{
    bool *has = pgw_arena_alloc(arena, asked->param_count + 1);
    for (size_t i = 0; i < asked->wanted_count; i++) {
        rw_lexer lexer;
        rw_lexer_init(&lexer, asked->text, conforming);
        lexer.at = asked->wanted[i].from;
        if (!asked->wanted[i].parameters)
            continue;
        for (rw_token token = rw_lexer_next(&lexer); token.start < asked->wanted[i].to;
             token = rw_lexer_next(&lexer)) {
            uint32_t number = rw_parameter_number(asked->text, token);
            if (number > 0 && number <= asked->param_count)
                has[number - 1] = true;
        }
    }
    return has;
}
