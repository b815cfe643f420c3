#include "rewrite/statement/tree/walk.h"

#include <string.h>

static bool walk_field(const ProtobufCMessage *node, const ProtobufCFieldDescriptor *field,
                       rw_visit visit, void *context)
{
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return true;
    const char *base = (const char *)node;
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        const ProtobufCMessage *child;
        memcpy(&child, base + field->offset, sizeof child);
        return child == NULL || visit(context, child);
    }
    size_t count;
    ProtobufCMessage *const *children;
    memcpy(&count, base + field->quantifier_offset, sizeof count);
    memcpy(&children, base + field->offset, sizeof children);
    for (size_t i = 0; i < count; i++)
        if (children[i] != NULL && !visit(context, children[i]))
            return false;
    return true;
}

bool rw_walk(const ProtobufCMessage *node, rw_visit visit, void *context)
{
    const ProtobufCMessageDescriptor *type = node->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            int which;
            memcpy(&which, (const char *)node + field->quantifier_offset, sizeof which);
            field =
                which > 0 ? protobuf_c_message_descriptor_get_field(type, (unsigned)which) : NULL;
            return field == NULL || walk_field(node, field, visit, context);
        }
        if (!walk_field(node, field, visit, context))
            return false;
    }
    return true;
}

static bool note_location(void *context, const ProtobufCMessage *message)
{
    int32_t *found = context;
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "location");
    int32_t location = 0;
    if (field != NULL && field->type == PROTOBUF_C_TYPE_INT32)
        memcpy(&location, (const char *)message + field->offset, sizeof location);
    if (location > 0 && location < *found)
        *found = location;
    return rw_walk(message, note_location, found);
}

int32_t rw_leftmost(const ProtobufCMessage *node)
{
    int32_t found = INT32_MAX;
    (void)note_location(&found, node);
    return found;
}

const char *rw_node_name(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : "";
}
