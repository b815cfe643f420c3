#include "proxy/client/core/group.h"

#include "proxy/backend/base/write_group.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bit_of(char type)
{
    return UINT32_C(1) << (type - 'A');
}

void px_group_replan(px_group *group, size_t i, px_plan *plan)
{
    px_held *held = &group->held[i];
    held->on_link = held->on_link && held->plan == plan;
    px_plan_drop(held->plan);
    held->plan = plan;
}

void px_group_set_on_link(px_group *group, size_t i, bool on_link)
{
    group->held[i].on_link = on_link;
}

void px_group_lose_link(px_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        group->held[i].on_link = false;
}

void px_group_describe(px_group *group, bool describes)
{
    group->describes = describes;
}

void px_group_fail(px_group *group, size_t failing, pgw_slice body)
{
    group->failing = failing;
    group->failure = pgw_alloc(sizeof *group->failure);
    pgw_error_read(body, group->failure);
}

void px_group_share_now(px_group *group, pgw_slice now)
{
    group->now = pgw_arena_copy(&group->memory, now).ptr;
}

void px_group_clear(px_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        px_plan_drop(group->held[i].plan);
    group->count = 0;
    group->types = 0;
    group->owed = 0;
    group->describes = false;
    if (group->cap > PX_GROUP_KEPT) {
        free(group->held);
        group->held = NULL;
        group->cap = 0;
    }
    px_table_clear(&group->statements.named);
    px_table_clear(&group->portals.named);
    group->statements.unnamed = group->portals.unnamed = 0;
    pgw_arena_free(&group->memory);
    group->now = NULL;
    group->bytes = 0;
    free(group->failure);
    group->failure = NULL;
}

void px_group_free(px_group *group)
{
    free(group->held);
    px_table_free(&group->statements.named);
    px_table_free(&group->portals.named);
}

/* ---- names ---- */

typedef struct meaning {
    px_entry entry;
    size_t latest; /* the held message that said what the name means */
} meaning;

static size_t latest(const px_group_names *names, pgw_slice name)
{
    if (name.len == 0)
        return names->unnamed > 0 ? names->unnamed - 1 : PX_GROUP_NONE;
    const meaning *known = (const meaning *)px_table_find(&names->named, name);
    return known != NULL ? known->latest : PX_GROUP_NONE;
}

/* Notes that message `i` gives the name its meaning; returns the message that did so before. */
static size_t note(px_group *group, px_group_names *names, pgw_slice name, size_t i)
{
    size_t before = latest(names, name);
    if (name.len == 0) {
        names->unnamed = i + 1;
        return before;
    }
    meaning *known = (meaning *)px_table_find(&names->named, name);
    if (known == NULL) {
        known = pgw_arena_alloc(&group->memory, sizeof *known);
        px_table_add(&names->named, &known->entry, name);
    }
    known->latest = i;
    return before;
}

/* Notes what held message `i` is about, and what it makes of its names. */
static void note_names(px_group *group, size_t i)
{
    px_held *held = &group->held[i];
    const px_client_message *decoded = held->decoded;
    px_group_names *names;
    switch (decoded->type) {
    case 'P':
        note(group, &group->statements, decoded->as.parse.name, i);
        break;
    case 'B':
        held->about = latest(&group->statements, decoded->as.bind.statement);
        note(group, &group->portals, decoded->as.bind.portal, i);
        break;
    case 'E':
        held->about = note(group, &group->portals, decoded->as.execute.portal, i);
        break;
    default: /* Describe, Close */
        names = decoded->as.target.kind == 'S' ? &group->statements : &group->portals;
        held->about = latest(names, decoded->as.target.name);
        if (decoded->type == 'C')
            note(group, names, decoded->as.target.name, i);
    }
}

void px_group_hold(px_group *group, const px_client_message *decoded, px_plan *plan)
{
    if (group->count == group->cap) {
        group->cap = group->cap ? group->cap * 2 : 8;
        group->held = pgw_realloc(group->held, group->cap * sizeof *group->held);
    }
    if (plan != NULL)
        px_plan_take(plan);
    group->held[group->count++] =
        (px_held){.type = decoded->type,
                  .decoded = px_client_message_keep(decoded, &group->memory),
                  .plan = plan,
                  .about = PX_GROUP_NONE};
    group->bytes += decoded->message.len;
    group->types |= bit_of(decoded->type);
    if (decoded->type == 'D' && plan != NULL)
        group->owed += px_plan_client_parameters(plan) * sizeof *plan->types + plan->columns.len;
    note_names(group, group->count - 1);
}

bool px_group_mentions(const px_group *group, pgw_slice name)
{
    return latest(&group->statements, name) != PX_GROUP_NONE;
}

px_plan *px_group_plan(const px_group *group, const px_statement *statement, pgw_slice name)
{
    size_t i = latest(&group->statements, name);
    if (i != PX_GROUP_NONE)
        return group->held[i].type == 'P' ? group->held[i].plan : NULL;
    return statement != NULL ? statement->plan : NULL;
}

/* The held Bind `i`. After an Execute there is none: a second Execute is the server's to refuse
 * (55000). */
static size_t bind_at(const px_group *group, size_t i)
{
    return i != PX_GROUP_NONE && group->held[i].type == 'B' ? i : PX_GROUP_NONE;
}

size_t px_group_portal(const px_group *group, pgw_slice name)
{
    return bind_at(group, latest(&group->portals, name));
}

bool px_group_has_portal(const px_group *group, pgw_slice name)
{
    size_t i = latest(&group->portals, name);
    return i != PX_GROUP_NONE && group->held[i].type != 'C';
}

size_t px_group_executed(const px_group *group, size_t execute)
{
    return bind_at(group, group->held[execute].about);
}

bool px_group_has(const px_group *group, const char *types)
{
    uint32_t asked = 0;
    for (; *types != '\0'; types++)
        asked |= bit_of(*types);
    return (group->types & asked) != 0;
}

bool px_group_is_answered(const px_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->held[i].answered)
            return true;
    return false;
}

bool px_group_runs_all(const px_group *group)
{
    size_t bound = 0, executed = 0;
    for (size_t i = 0; i < group->count; i++) {
        bound += group->held[i].type == 'B';
        executed += group->held[i].type == 'E';
    }
    return executed == 0 || executed == bound;
}

size_t px_group_count_statements(const px_group *group)
{
    const px_plan *seen[PX_WRITE_GROUP_MOST];
    size_t count = 0;
    for (size_t i = 0; i < group->count && count <= PX_WRITE_GROUP_MOST; i++) {
        const px_plan *plan = group->held[i].plan;
        size_t at = count;
        if (group->held[i].type != 'E')
            continue;
        while (at > 0 && strcmp(seen[at - 1]->name, plan->name) != 0)
            at--;
        if (at == 0 && count < PX_WRITE_GROUP_MOST)
            seen[count] = plan;
        count += at == 0;
    }
    return count;
}
