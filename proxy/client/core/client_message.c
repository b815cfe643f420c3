#include "proxy/client/core/client_message.h"

#include "protocol/frame.h"

static void cut_name(pgw_slice *name)
{
    *name = pgw_name_significant(*name);
}

px_client_message px_client_message_of(char type, pgw_slice message)
{
    px_client_message decoded = {.type = type, .message = message};
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    if (type == 'P') {
        decoded.whole = pgw_parse_decode(body, &decoded.as.parse);
        cut_name(&decoded.as.parse.name);
    } else if (type == 'B') {
        decoded.whole = pgw_bind_decode(body, &decoded.as.bind);
        cut_name(&decoded.as.bind.portal);
        cut_name(&decoded.as.bind.statement);
    } else if (type == 'E') {
        decoded.whole = pgw_execute_decode(body, &decoded.as.execute);
        cut_name(&decoded.as.execute.portal);
    } else if (type == 'D' || type == 'C') {
        decoded.whole = pgw_target_decode(body, &decoded.as.target);
        cut_name(&decoded.as.target.name);
    }
    return decoded;
}

/* Makes what points into a message point into its copy. */
static void move(pgw_slice *part, const px_client_message *from, const px_client_message *to)
{
    if (part->ptr != NULL)
        part->ptr = to->message.ptr + (part->ptr - from->message.ptr);
}

const px_client_message *px_client_message_keep(const px_client_message *decoded, pgw_arena *arena)
{
    px_client_message *kept = pgw_arena_alloc(arena, sizeof *kept);
    *kept = *decoded;
    kept->message = decoded->given != NULL ? pgw_arena_keep(arena, decoded->given)
                                           : pgw_arena_copy(arena, decoded->message);
    kept->given = NULL;
    switch (decoded->type) {
    case 'P':
        move(&kept->as.parse.name, decoded, kept);
        move(&kept->as.parse.query, decoded, kept);
        move(&kept->as.parse.types, decoded, kept);
        break;
    case 'B':
        move(&kept->as.bind.portal, decoded, kept);
        move(&kept->as.bind.statement, decoded, kept);
        move(&kept->as.bind.formats, decoded, kept);
        move(&kept->as.bind.values, decoded, kept);
        move(&kept->as.bind.results, decoded, kept);
        break;
    case 'E':
        move(&kept->as.execute.portal, decoded, kept);
        break;
    default:
        move(&kept->as.target.name, decoded, kept);
    }
    return kept;
}

pgw_slice px_client_message_statement(const px_client_message *decoded)
{
    if (decoded->type == 'B') /* a Bind with wrong counts names its statement all the same */
        return decoded->as.bind.statement;
    if (!decoded->whole)
        return (pgw_slice){NULL, 0};
    if (decoded->type == 'P')
        return decoded->as.parse.name;
    bool named = (decoded->type == 'D' || decoded->type == 'C') && decoded->as.target.kind == 'S';
    return named ? decoded->as.target.name : (pgw_slice){NULL, 0};
}
