#include "proxy/client/core/prepared_names.h"

#include <stdlib.h>

void px_prepared_names_begin(px_prepared_names *names, _Atomic size_t *account)
{
    names->statements.account = account;
}

static void free_orders(px_orders *orders)
{
    if (orders == NULL)
        return;
    pgw_buf_free(&orders->executed);
    pgw_buf_free(&orders->prepared_text);
    px_reads_free(orders->parsed);
    px_reads_free(orders->unnamed);
    free(orders);
}

void px_prepared_names_free(px_prepared_names *names)
{
    px_statements_free(&names->statements);
    px_statements_free(&names->portals);
    px_lookups_drop(names->lookups);
    free(names->prepares);
    free_orders(names->orders);
    free(names->deallocates);
}

px_orders *px_prepared_names_orders(px_prepared_names *names)
{
    if (names->orders == NULL)
        names->orders = pgw_calloc(1, sizeof *names->orders);
    return names->orders;
}

void px_prepared_names_parse_prepare(px_prepared_names *names, pgw_slice name)
{
    if (names->prepares != NULL && !pgw_slice_eq_str(name, names->prepares))
        px_prepared_names_lose_track(names);
    free(names->prepares);
    names->prepares = pgw_strndup(name.ptr, name.len);
}

void px_prepared_names_end_prepare(px_prepared_names *names)
{
    free(names->prepares);
    names->prepares = NULL;
}

void px_prepared_names_parse_deallocate(px_prepared_names *names, pgw_slice name)
{
    free(names->deallocates);
    names->deallocates = pgw_strndup(name.ptr, name.len);
}

void px_prepared_names_end_deallocate(px_prepared_names *names)
{
    free(names->deallocates);
    names->deallocates = NULL;
}

void px_prepared_names_clear(px_prepared_names *names)
{
    px_statements_clear(&names->statements);
    names->unknown_prepare = false;
}

void px_prepared_names_look_up(px_prepared_names *names, px_lookups *lookups)
{
    px_lookups_drop(names->lookups);
    names->lookups = lookups;
}

void px_prepared_names_describe(px_prepared_names *names, px_plan *plan)
{
    names->describing = plan;
}
