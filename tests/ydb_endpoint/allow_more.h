/*
 * allow_more: rules that a table of fields cannot say: which schemas there are, what RETURNING may
 * hold, that a table has a key, and of which types.
 */
#ifndef YE_ALLOW_MORE_H
#define YE_ALLOW_MORE_H

#include "tests/ydb_endpoint/options.h"
#include "tests/ydb_endpoint/status.h"

#include <protobuf-c/protobuf-c.h>

/* False: `failure` says why. The node's fields have passed the table. */
typedef bool (*ye_check)(const ProtobufCMessage *node, const ye_options *options,
                         ye_failure *failure);

/* The check for this kind of node; NULL: there is none. */
ye_check ye_check_of(const char *node);

#endif
