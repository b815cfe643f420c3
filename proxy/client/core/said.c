#include "proxy/client/core/said.h"

#include "protocol/frame.h"

static void cut_name(pgw_slice *name)
{
    *name = pgw_name_significant(*name);
}

px_said px_said_of(char type, pgw_slice message)
{
    px_said said = {.type = type, .message = message};
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    if (type == 'P') {
        said.whole = pgw_parse_decode(body, &said.as.parse);
        cut_name(&said.as.parse.name);
    } else if (type == 'B') {
        said.whole = pgw_bind_decode(body, &said.as.bind);
        cut_name(&said.as.bind.portal);
        cut_name(&said.as.bind.statement);
    } else if (type == 'E') {
        said.whole = pgw_execute_decode(body, &said.as.execute);
        cut_name(&said.as.execute.portal);
    } else if (type == 'D' || type == 'C') {
        said.whole = pgw_target_decode(body, &said.as.target);
        cut_name(&said.as.target.name);
    }
    return said;
}

/* Makes what points into a message point into its copy. */
static void move(pgw_slice *part, const px_said *from, const px_said *to)
{
    if (part->ptr != NULL)
        part->ptr = to->message.ptr + (part->ptr - from->message.ptr);
}

const px_said *px_said_keep(const px_said *said, pgw_arena *arena)
{
    px_said *kept = pgw_arena_alloc(arena, sizeof *kept);
    *kept = *said;
    kept->message = said->given != NULL ? pgw_arena_keep(arena, said->given)
                                        : pgw_arena_copy(arena, said->message);
    kept->given = NULL;
    switch (said->type) {
    case 'P':
        move(&kept->as.parse.name, said, kept);
        move(&kept->as.parse.query, said, kept);
        move(&kept->as.parse.types, said, kept);
        break;
    case 'B':
        move(&kept->as.bind.portal, said, kept);
        move(&kept->as.bind.statement, said, kept);
        move(&kept->as.bind.formats, said, kept);
        move(&kept->as.bind.values, said, kept);
        move(&kept->as.bind.results, said, kept);
        break;
    case 'E':
        move(&kept->as.execute.portal, said, kept);
        break;
    default:
        move(&kept->as.target.name, said, kept);
    }
    return kept;
}

pgw_slice px_said_statement(const px_said *said)
{
    if (said->type == 'B') /* a Bind with wrong counts names its statement all the same */
        return said->as.bind.statement;
    if (!said->whole)
        return (pgw_slice){NULL, 0};
    if (said->type == 'P')
        return said->as.parse.name;
    bool named = (said->type == 'D' || said->type == 'C') && said->as.target.kind == 'S';
    return named ? said->as.target.name : (pgw_slice){NULL, 0};
}
