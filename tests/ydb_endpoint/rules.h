/*
 * rules: the SQL that the endpoint takes, as a table: of each node of PostgreSQL's tree, which
 * fields may be there, and what may stand in them. What is not in the table is refused. Each row
 * cites where ydb-endpoint.md, or what that was read from, says so.
 */
#ifndef YE_RULES_H
#define YE_RULES_H

#include <stddef.h>
#include <stdint.h>

/* What a node can stand for: the places of the tree where it may be. */
enum {
    YE_STATEMENT = 1 << 0,
    YE_QUERY = 1 << 1, /* a SELECT inside of something */
    YE_EXPRESSION = 1 << 2,
    YE_COLUMN = 1 << 3, /* … that is a plain reference */
    YE_LIST = 1 << 4,
    YE_NAME = 1 << 5,
    YE_STAR = 1 << 6,
    YE_TARGET = 1 << 7,
    YE_SOURCE = 1 << 8, /* in FROM */
    YE_SORT = 1 << 9,
    YE_GROUPING = 1 << 10,
    YE_WINDOW = 1 << 11,
    YE_CTE = 1 << 12,
    YE_WITH = 1 << 13,
    YE_LOCKING = 1 << 14,
    YE_WHEN = 1 << 15,
    YE_TYPE = 1 << 16,
    YE_ALIAS = 1 << 17,
    YE_CONSTANT = 1 << 18,
    YE_ELEMENT = 1 << 19, /* of CREATE TABLE */
    YE_CONSTRAINT = 1 << 20,
    YE_INDEXED = 1 << 21,
    YE_OPTION = 1 << 22,
    YE_CHANGE = 1 << 23, /* of ALTER TABLE */
    YE_NOTHING = 1 << 24 /* the empty node that PostgreSQL puts into DISTINCT without ON */
};

typedef struct ye_node_rule {
    const char *node;
    uint32_t stands_for;
    const char *cites;
} ye_node_rule;

typedef struct ye_field_rule {
    const char *node, *field;
    uint32_t children;   /* what may stand in it, if it holds nodes */
    uint64_t values;     /* bits of the values it may have, if it is an enumeration; ~0: any */
    const char *refusal; /* NULL: "alternative is not implemented yet"; %d is the value, or node */
    const char *cites;
} ye_field_rule;

extern const ye_node_rule ye_node_rules[];
extern const size_t ye_node_rule_count;
extern const ye_field_rule ye_field_rules[];
extern const size_t ye_field_rule_count;

#endif
