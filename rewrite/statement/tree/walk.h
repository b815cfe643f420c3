/*
 * walk: what stands below a node of libpg_query's tree, whatever kind of node it is, and its name.
 */
#ifndef RW_WALK_H
#define RW_WALK_H

#include <pg_query/pg_query.pb-c.h>

#include <stdbool.h>

/* Called with each child that is there, in the order of the node's fields; false ends the walk. */
typedef bool (*rw_visit)(void *context, const ProtobufCMessage *child);

/* False if `visit` was for one of the children of `node`. */
bool rw_walk(const ProtobufCMessage *node, rw_visit visit, void *context);

/* Where the node and all below it begin: the least location in it; INT32_MAX if it has none. */
int32_t rw_leftmost(const ProtobufCMessage *node);

/* The name that a node is; "" if it is none. */
const char *rw_node_name(const PgQuery__Node *node);

#endif
