/*
 * write_group_list: write groups one behind the other: in a line, that moves on from its beginning,
 * or in a chain, that any of them may leave. All zero is an empty one.
 */
#ifndef PX_WRITE_GROUP_LIST_H
#define PX_WRITE_GROUP_LIST_H

#include "proxy/backend/base/write_group.h"

/* Units in a line are linked through message.next. */
typedef struct px_write_group_line {
    px_write_group *first, *last;
} px_write_group_line;

/* Units in a chain are linked through next and previous. */
typedef struct px_write_group_chain {
    px_write_group *first, *last;
} px_write_group_chain;

static inline void px_write_group_line_add(px_write_group_line *line, px_write_group *write_group)
{
    write_group->message.next = NULL;
    if (line->first == NULL)
        line->first = write_group;
    else
        line->last->message.next = &write_group->message;
    line->last = write_group;
}

static inline px_write_group *px_write_group_line_pop(px_write_group_line *line)
{
    px_write_group *write_group = line->first;
    if (write_group != NULL)
        line->first = (px_write_group *)write_group->message.next;
    return write_group;
}

static inline void px_write_group_chain_add(px_write_group_chain *chain,
                                            px_write_group *write_group)
{
    write_group->next = NULL;
    write_group->previous = chain->last;
    if (chain->last != NULL)
        chain->last->next = write_group;
    else
        chain->first = write_group;
    chain->last = write_group;
}

static inline void px_write_group_chain_add_first(px_write_group_chain *chain,
                                                  px_write_group *write_group)
{
    write_group->previous = NULL;
    write_group->next = chain->first;
    if (chain->first != NULL)
        chain->first->previous = write_group;
    else
        chain->last = write_group;
    chain->first = write_group;
}

static inline void px_write_group_chain_remove(px_write_group_chain *chain,
                                               px_write_group *write_group)
{
    if (write_group->previous != NULL)
        write_group->previous->next = write_group->next;
    else
        chain->first = write_group->next;
    if (write_group->next != NULL)
        write_group->next->previous = write_group->previous;
    else
        chain->last = write_group->previous;
}

#endif
