#include "proxy/client/core/kept.h"

#include "protocol/error.h"
#include "proxy/batch/register.h"

#include <stdlib.h>
#include <string.h>

static px_kept_statement *add(px_kept **kept, size_t bytes)
{
    if (*kept == NULL)
        *kept = pgw_calloc(1, sizeof **kept);
    px_kept *all = *kept;
    if (all->count == all->cap) {
        all->cap = all->cap == 0 ? 4 : 2 * all->cap;
        all->all = pgw_realloc(all->all, all->cap * sizeof *all->all);
    }
    all->bytes += bytes;
    px_register_keep(bytes);
    px_kept_statement *statement = &all->all[all->count++];
    *statement = (px_kept_statement){.text = NULL};
    return statement;
}

void px_kept_add_text(px_kept **kept, px_text *text, size_t at, size_t bytes)
{
    px_kept_statement *statement = add(kept, bytes);
    px_text_take(text);
    statement->text = text;
    statement->at = at;
    statement->told = text->script.statements[at].insert->row_count;
}

void px_kept_add_bind(px_kept **kept, px_plan *plan, const px_said *bind, uint64_t told,
                      size_t bytes)
{
    px_kept_statement *statement = add(kept, bytes);
    px_plan_take(plan);
    statement->plan = plan;
    statement->bind = px_said_keep(bind, &(*kept)->arena);
    statement->told = told;
}

size_t px_kept_bytes(const px_kept *kept)
{
    return kept != NULL ? kept->bytes : 0;
}

void px_kept_free(px_kept *kept)
{
    if (kept == NULL)
        return;
    for (size_t i = 0; i < kept->count; i++) {
        px_text_drop(kept->all[i].text);
        px_plan_drop(kept->all[i].plan);
    }
    px_register_let_go(kept->bytes);
    pgw_arena_free(&kept->arena);
    free(kept->all);
    free(kept);
}

void px_kept_fail_count(pgw_error *error)
{
    pgw_fail(error, "40001",
             "a row that was kept until COMMIT would not be stored as its client was told");
    pgw_error_detail(error, "A trigger or a rule was made for the table meanwhile.");
    pgw_error_hint(error, "Send the transaction again.");
}

void px_kept_place(size_t number, pgw_slice body, pgw_buf *out)
{
    pgw_buf context = {0};
    pgw_slice given = pgw_error_field(body, 'W');
    pgw_buf_add_slice(&context, given);
    pgw_buf_addf(&context, "%skept statement %zu of the transaction", given.len > 0 ? "\n" : "",
                 number);
    for (size_t at = 0; at < body.len && body.ptr[at] != '\0';) {
        size_t len = strnlen(body.ptr + at, body.len - at) + 1;
        if (strchr("PW", body.ptr[at]) == NULL)
            pgw_buf_add(out, body.ptr + at, len);
        at += len;
    }
    pgw_buf_add_byte(out, 'W');
    pgw_buf_add_slice(out, pgw_slice_buf(&context));
    pgw_buf_add(out, "", 1);
    pgw_buf_add_byte(out, '\0');
    pgw_buf_free(&context);
}
