/*
 * unit_list: units one behind the other: in a line, that moves on from its beginning, or in a
 * chain, that any of them may leave. All zero is an empty one.
 */
#ifndef PX_UNIT_LIST_H
#define PX_UNIT_LIST_H

#include "proxy/backend/base/unit.h"

/* Units in a line are linked through message.next. */
typedef struct px_unit_line {
    px_unit *first, *last;
} px_unit_line;

/* Units in a chain are linked through next and previous. */
typedef struct px_unit_chain {
    px_unit *first, *last;
} px_unit_chain;

static inline void px_unit_line_add(px_unit_line *line, px_unit *unit)
{
    unit->message.next = NULL;
    if (line->first == NULL)
        line->first = unit;
    else
        line->last->message.next = &unit->message;
    line->last = unit;
}

static inline px_unit *px_unit_line_pop(px_unit_line *line)
{
    px_unit *unit = line->first;
    if (unit != NULL)
        line->first = (px_unit *)unit->message.next;
    return unit;
}

static inline void px_unit_chain_add(px_unit_chain *chain, px_unit *unit)
{
    unit->next = NULL;
    unit->previous = chain->last;
    if (chain->last != NULL)
        chain->last->next = unit;
    else
        chain->first = unit;
    chain->last = unit;
}

static inline void px_unit_chain_add_first(px_unit_chain *chain, px_unit *unit)
{
    unit->previous = NULL;
    unit->next = chain->first;
    if (chain->first != NULL)
        chain->first->previous = unit;
    else
        chain->last = unit;
    chain->first = unit;
}

static inline void px_unit_chain_remove(px_unit_chain *chain, px_unit *unit)
{
    if (unit->previous != NULL)
        unit->previous->next = unit->next;
    else
        chain->first = unit->next;
    if (unit->next != NULL)
        unit->next->previous = unit->previous;
    else
        chain->last = unit->previous;
}

#endif
