#include "rewrite/read/walk.h"

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

const char *rw_node_name(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : "";
}
