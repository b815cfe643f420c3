#include "proxy/client/core/kept.h"

#include "protocol/error.h"
#include "protocol/frame.h"
#include "proxy/batch/register.h"

#include <stdlib.h>
#include <string.h>

/* Makes `*kept` if it is NULL, and counts `bytes` more for it. */
static px_kept *grow(px_kept **kept, size_t bytes)
{
    if (*kept == NULL)
        *kept = pgw_calloc(1, sizeof **kept);
    (*kept)->bytes += bytes;
    px_register_keep(bytes);
    return *kept;
}

static px_kept_statement *add(px_kept **kept, px_promised promised, size_t bytes)
{
    px_kept *all = grow(kept, bytes + promised.shown.len);
    promised.shown = pgw_arena_copy(&all->arena, promised.shown);
    if (all->count == all->cap) {
        all->cap = all->cap == 0 ? 4 : 2 * all->cap;
        all->all = pgw_realloc(all->all, all->cap * sizeof *all->all);
    }
    px_kept_statement *statement = &all->all[all->count++];
    *statement = (px_kept_statement){.promised = promised};
    return statement;
}

void px_kept_add_text(px_kept **kept, px_text *text, size_t at, px_promised promised, size_t bytes)
{
    px_kept_statement *statement = add(kept, promised, bytes);
    px_text_take(text);
    statement->text = text;
    statement->at = at;
}

void px_kept_add_bind(px_kept **kept, px_plan *plan, const px_client_message *bind,
                      px_promised promised, size_t bytes)
{
    px_kept_statement *statement = add(kept, promised, bytes);
    px_plan_take(plan);
    statement->plan = plan;
    statement->bind = px_client_message_keep(bind, &(*kept)->arena);
}

bool px_kept_is_shown(px_kept_statement *statement, pgw_slice row)
{
    pgw_slice rest = statement->promised.shown;
    pgw_frame frame;
    if (statement->seen == rest.len)
        return false;
    rest = (pgw_slice){rest.ptr + statement->seen, rest.len - statement->seen};
    if (pgw_frame_next(rest, &frame) != PGW_FRAME_OK)
        return false;
    statement->seen += frame.size;
    return pgw_slice_eq(pgw_frame_body(rest, frame), row);
}

void px_kept_set_savepoint(px_kept **kept, const char *name, pgw_slice text)
{
    px_kept *all = grow(kept, sizeof *all->savepoints + strlen(name) + text.len);
    if (all->savepoint_count == all->savepoint_cap) {
        all->savepoint_cap = all->savepoint_cap == 0 ? 4 : 2 * all->savepoint_cap;
        all->savepoints =
            pgw_realloc(all->savepoints, all->savepoint_cap * sizeof *all->savepoints);
    }
    all->savepoints[all->savepoint_count++] = (px_kept_savepoint){
        pgw_arena_printf(&all->arena, "%s", name), pgw_arena_copy(&all->arena, text), all->count};
}

/* Number of the savepoint of this name; savepoint_count: there is none. */
static size_t find_savepoint(const px_kept *kept, const char *name)
{
    for (size_t i = kept->savepoint_count; i > 0; i--)
        if (strcmp(kept->savepoints[i - 1].name, name) == 0)
            return i - 1;
    return kept->savepoint_count;
}

static void drop_statements(px_kept *kept, size_t from)
{
    for (size_t i = from; i < kept->count; i++) {
        px_text_drop(kept->all[i].text);
        px_plan_drop(kept->all[i].plan);
    }
    kept->count = from;
}

bool px_kept_roll_back_to(px_kept *kept, const char *name)
{
    size_t at = find_savepoint(kept, name);
    if (at == kept->savepoint_count)
        return false;
    drop_statements(kept, kept->savepoints[at].before);
    kept->savepoint_count = at + 1;
    return true;
}

bool px_kept_release(px_kept *kept, const char *name)
{
    size_t at = find_savepoint(kept, name);
    if (at == kept->savepoint_count || kept->savepoints[at].before < kept->count)
        return false;
    kept->savepoint_count = at;
    return true;
}

size_t px_kept_bytes(const px_kept *kept)
{
    return kept != NULL ? kept->bytes : 0;
}

void px_kept_free(px_kept *kept)
{
    if (kept == NULL)
        return;
    drop_statements(kept, 0);
    px_register_let_go(kept->bytes);
    pgw_arena_free(&kept->arena);
    free(kept->all);
    free(kept->savepoints);
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
