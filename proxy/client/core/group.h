/*
 * group: the extended protocol's messages that a session holds until Sync or Flush, for replies are
 * owed no earlier; then they are known to be a write group, or go on to the own link.
 */
#ifndef PX_GROUP_H
#define PX_GROUP_H

#include "proxy/base/table.h"
#include "proxy/client/core/client_message.h"
#include "proxy/client/core/statements.h"
#include "proxy/ingest/plan.h"

/* One message that is held. */
typedef struct px_held {
    char type;
    const px_client_message *decoded; /* well-formed, in the group's memory */
    px_plan *plan; /* Parse: its own plan; others: that of their statement. Counted; NULL: none */
    bool answered; /* the client has its reply already */
    bool on_link;  /* Parse: the backend has it, for it was asked to describe it */
    /* Number of the held message that last gave its name a meaning: of a statement a Parse or
     * Close, of a portal a Bind, Execute or Close. PX_GROUP_NONE: none did. */
    size_t about;
} px_held;

/* Names, each with the latest held message about it. */
typedef struct px_group_names {
    px_table named;
    size_t unnamed; /* the number, plus one, of the message about the empty name; 0: none is held */
} px_group_names;

typedef struct px_group {
    pgw_arena memory; /* memory of the held messages and of their names */
    size_t bytes;     /* bytes of the held messages together */
    px_held *held;
    size_t count, cap;
    size_t owed;    /* bytes of the descriptions that the group will be answered with */
    uint32_t types; /* types of the held messages, one bit for each letter */
    bool describes; /* new statements are described as they go to the own link */
    px_group_names statements, portals;
    size_t failing;     /* number of the held Parse that the backend refused to describe */
    pgw_error *failure; /* why it refused to describe `failing`; owned; NULL: it did not */
    /* What now() gave for the first key that wants it, and gives for all others (keys.h); in
     * `memory`; NULL: none has asked yet. */
    const char *now;
} px_group;

enum {
    PX_GROUP_BYTES = 256 * 1024,
    PX_GROUP_MESSAGES = 8192, /* a larger group goes to the own link */
    PX_GROUP_KEPT = 64        /* places for messages that stay allocated for the next group */
};
#define PX_GROUP_NONE SIZE_MAX

static inline bool px_group_is_full(const px_group *group)
{
    return group->count >= PX_GROUP_MESSAGES || group->bytes >= PX_GROUP_BYTES ||
           group->owed >= PX_GROUP_BYTES;
}

/* Holds a copy; takes one more reference of `plan` (may be NULL). */
void px_group_hold(px_group *group, const px_client_message *decoded, px_plan *plan);
/* Held message `i` has this plan from now on, whose reference is given away; the backend has not
 * been asked to describe it if it is another. */
void px_group_replan(px_group *group, size_t i, px_plan *plan);
/* `on_link`: the backend was asked to describe held Parse `i`. */
void px_group_set_on_link(px_group *group, size_t i, bool on_link);
/* The link was lost, or what it has of the group is worth nothing. */
void px_group_lose_link(px_group *group);
/* `describes`: new statements are described as they go to the own link. */
void px_group_describe(px_group *group, bool describes);
/* The backend refused to describe held Parse `failing`; `body`: its ErrorResponse's. */
void px_group_fail(px_group *group, size_t failing, pgw_slice body);
/* `now` is what now() gives for all keys of the group; it is copied. */
void px_group_share_now(px_group *group, pgw_slice now);
void px_group_clear(px_group *group);
void px_group_free(px_group *group); /* the group must be empty */
/* Whether a held message gave, used or closed a statement of this name. */
bool px_group_mentions(const px_group *group, pgw_slice name);
/* The plan that a statement's name means now: prepared in the group, or before it, when it came to
 * mean `statement` (NULL: nothing). NULL: it means none. */
px_plan *px_group_plan(const px_group *group, const px_statement *statement, pgw_slice name);
/* The held Bind that made a portal; PX_GROUP_NONE if none did or it was executed or closed since.
 */
size_t px_group_portal(const px_group *group, pgw_slice name);
/* Whether a held Bind made a portal, executed or not, that was not closed since. */
bool px_group_has_portal(const px_group *group, pgw_slice name);
/* The held Bind whose portal held Execute `execute` runs. */
size_t px_group_executed(const px_group *group, size_t execute);
/* Whether a message of one of these types is held. */
bool px_group_has(const px_group *group, const char *types);
/* Whether all that is bound is executed: a Bind that nobody executes may fail all the same. */
bool px_group_runs_all(const px_group *group);
/* How many different statements are executed; more than PX_WRITE_GROUP_MOST are not counted. */
size_t px_group_count_statements(const px_group *group);
/* Whether the client has a reply to some of the group already. */
bool px_group_is_answered(const px_group *group);

#endif
