#include "proxy/backend/postgres/parses.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"

#include <stdlib.h>

/* Lists what the link lacks. What it has is marked as used, so that the new statements do not evict
 * it. */
static void find_missing(px_parses *parses, const px_write_group *write_group, uint64_t now)
{
    for (size_t i = 0; i < write_group->prepared_count; i++)
        if (!px_prepared_use(&parses->prepared, &write_group->prepared[i], now))
            parses->list[parses->count++] = (px_parse){.what = &write_group->prepared[i]};
}

/* Closes the name first: Close succeeds also where the name does not exist. */
static void make_room(px_parses *parses, const px_write_group_prepared *what, uint64_t now,
                      pgw_buf *out)
{
    char *oldest = px_prepared_evict(&parses->prepared);
    if (oldest != NULL)
        pgw_write_close('S', pgw_slice_str(oldest), out);
    free(oldest);
    pgw_write_close('S', what->name, out);
    px_prepared_add(&parses->prepared, what, now);
}

static void write_parse(const px_write_group_prepared *what, pgw_buf *out)
{
    pgw_certainly(pgw_write_parse(what->name, what->text, what->types, what->type_count, out));
    if (what->columns.len > 0)
        pgw_write_describe('S', what->name, out);
}

/* The Closes come first, lest they be skipped behind a Parse that fails. */
bool px_parses_write(px_parses *parses, const px_write_group *write_group, uint64_t now,
                     pgw_buf *out)
{
    parses->count = parses->parsed = 0;
    find_missing(parses, write_group, now);
    for (size_t i = 0; i < parses->count; i++)
        make_room(parses, parses->list[i].what, now, out);
    for (size_t i = 0; i < parses->count; i++)
        write_parse(parses->list[i].what, out);
    return parses->count > 0;
}

bool px_parses_describe(const px_parses *parses)
{
    for (size_t i = 0; i < parses->count; i++)
        if (parses->list[i].what->columns.len > 0)
            return true;
    return false;
}

bool px_parses_wait(const px_parses *parses)
{
    return parses->parsed < parses->count;
}

void px_parses_complete(px_parses *parses)
{
    parses->parsed += px_parses_wait(parses);
}

void px_parses_described(px_parses *parses, pgw_slice body)
{
    if (parses->parsed == 0)
        return;
    px_parse *last = &parses->list[parses->parsed - 1];
    last->returns_same = pgw_row_descriptions_agree(body, last->what->columns);
}

bool px_parses_close_others(px_parses *parses, pgw_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < parses->parsed; i++) {
        const px_parse *parse = &parses->list[i];
        if (parse->what->columns.len == 0 || parse->returns_same)
            continue;
        px_prepared_remove(&parses->prepared, parse->what->name);
        pgw_write_close('S', parse->what->name, out);
        any = true;
    }
    return any;
}

void px_parses_end(px_parses *parses)
{
    for (size_t i = parses->parsed; i < parses->count; i++)
        px_prepared_remove(&parses->prepared, parses->list[i].what->name);
    parses->count = parses->parsed = 0;
}

void px_parses_forget(px_parses *parses, const px_write_group *write_group)
{
    for (size_t i = 0; i < write_group->prepared_count; i++)
        px_prepared_remove(&parses->prepared, write_group->prepared[i].name);
}

void px_parses_doubt(px_parses *parses, const px_write_group_prepared *what)
{
    if (what->stores_all)
        px_prepared_remove(&parses->prepared, what->name);
    else
        px_prepared_doubt(&parses->prepared, what->name);
}
