#include "tests/ydb_endpoint/allow.h"

#include "tests/ydb_endpoint/allow_more.h"
#include "tests/ydb_endpoint/rules.h"

#include <pthread.h>
#include <string.h>

enum { ENTRIES = 1024, FIELDS = 40, DEPTH = 1000 };

/* The rules of a kind of node, found by its descriptor. */
typedef struct entry {
    const ProtobufCMessageDescriptor *type;
    uint32_t stands_for;
    const ye_field_rule *fields[FIELDS];
    ye_check more;
} entry;

typedef struct walker {
    const ye_options *options;
    ye_failure *failure;
    unsigned depth;
} walker;

static entry entries[ENTRIES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static entry *slot_of(const ProtobufCMessageDescriptor *type)
{
    size_t at = (uintptr_t)type / 64 % ENTRIES;
    while (entries[at].type != NULL && entries[at].type != type)
        at = (at + 1) % ENTRIES;
    return &entries[at];
}

static void fill_fields(entry *slot)
{
    for (size_t i = 0; i < ye_field_rule_count; i++) {
        if (strcmp(ye_field_rules[i].node, slot->type->short_name) != 0)
            continue;
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(slot->type, ye_field_rules[i].field);
        if (field != NULL)
            slot->fields[field - slot->type->fields] = &ye_field_rules[i];
    }
}

/* Every kind of node there is; those without a rule stand for nothing. */
static void fill_entries(void)
{
    const ProtobufCMessageDescriptor *node = &pg_query__node__descriptor;
    for (unsigned i = 0; i < node->n_fields; i++) {
        const ProtobufCMessageDescriptor *type = node->fields[i].descriptor;
        entry *slot = slot_of(type);
        slot->type = type;
        for (size_t j = 0; j < ye_node_rule_count; j++)
            if (strcmp(ye_node_rules[j].node, type->short_name) == 0)
                slot->stands_for = ye_node_rules[j].stands_for;
        if (slot->stands_for != 0 && type->n_fields <= FIELDS)
            fill_fields(slot);
        slot->more = ye_check_of(type->short_name);
    }
}

static bool refuse(walker *walk, const ye_field_rule *rule, const char *node, int number)
{
    if (rule == NULL || rule->refusal == NULL)
        return ye_fail(walk->failure, YE_GENERIC_ERROR, 0,
                       "%s: alternative is not implemented yet : %d", node, number);
    const char *directive = strstr(rule->refusal, "%d");
    if (directive == NULL)
        return ye_fail(walk->failure, YE_GENERIC_ERROR, 0, "%s", rule->refusal);
    return ye_fail(walk->failure, YE_GENERIC_ERROR, 0, "%.*s%d", (int)(directive - rule->refusal),
                   rule->refusal, number);
}

static bool check(walker *walk, const ProtobufCMessage *message);

/* The message inside of a Node; NULL for the empty one. `number` is its kind's. */
static const ProtobufCMessage *inside(const ProtobufCMessage *child, int *number)
{
    *number = 0;
    if (child->descriptor != &pg_query__node__descriptor)
        return child;
    const PgQuery__Node *node = (const PgQuery__Node *)child;
    *number = (int)node->node_case;
    return node->node_case == PG_QUERY__NODE__NODE__NOT_SET
               ? NULL
               : (const ProtobufCMessage *)node->string;
}

static bool check_child(walker *walk, const char *parent, const ye_field_rule *rule,
                        const ProtobufCMessage *child)
{
    int number;
    const ProtobufCMessage *message = inside(child, &number);
    const uint32_t allowed = rule == NULL ? 0 : rule->children;
    const uint32_t is = message == NULL ? YE_NOTHING : slot_of(message->descriptor)->stands_for;
    if ((allowed & is) == 0)
        return refuse(walk, rule, parent, number);
    return message == NULL || check(walk, message);
}

static bool check_children(walker *walk, const ProtobufCMessage *message, unsigned i,
                           const ye_field_rule *rule)
{
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    const char *base = (const char *)message;
    size_t count = 1;
    ProtobufCMessage *const *children = (ProtobufCMessage *const *)(base + field->offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        memcpy(&count, base + field->quantifier_offset, sizeof count);
        memcpy(&children, base + field->offset, sizeof children);
    }
    for (size_t j = 0; j < count; j++)
        if (children[j] != NULL &&
            !check_child(walk, message->descriptor->short_name, rule, children[j]))
            return false;
    return true;
}

/* A field that is not a message, as a number: 0 is what a field has that is not set. */
static int64_t value_of(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const char *at = (const char *)message + field->offset, *text;
    int32_t number;
    protobuf_c_boolean flag;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        memcpy(&text, at, sizeof text);
        return text != NULL && *text != '\0';
    case PROTOBUF_C_TYPE_BOOL:
        memcpy(&flag, at, sizeof flag);
        return flag;
    default:
        memcpy(&number, at, sizeof number);
        return number;
    }
}

static bool check_value(walker *walk, const ProtobufCMessage *message, unsigned i,
                        const ye_field_rule *rule)
{
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    int64_t value = value_of(message, field);
    if (value == 0 || strcmp(field->name, "location") == 0)
        return true;
    if (rule != NULL &&
        (rule->values == ~(uint64_t)0 || (value > 0 && value < 64 && rule->values >> value & 1)))
        return true;
    return refuse(walk, rule, message->descriptor->short_name, (int)value - 1);
}

/* Of a oneof only the field that is set is there. */
static bool is_absent(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    uint32_t which;
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0)
        return false;
    memcpy(&which, (const char *)message + field->quantifier_offset, sizeof which);
    return which != field->id;
}

static bool check_fields(walker *walk, const entry *slot, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ye_field_rule *rule = i < FIELDS ? slot->fields[i] : NULL;
        if (is_absent(message, &type->fields[i]))
            continue;
        bool passes = type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE
                          ? check_children(walk, message, i, rule)
                          : check_value(walk, message, i, rule);
        if (!passes)
            return false;
    }
    return true;
}

static bool check(walker *walk, const ProtobufCMessage *message)
{
    const entry *slot = slot_of(message->descriptor);
    if (++walk->depth > DEPTH)
        return ye_fail(walk->failure, YE_GENERIC_ERROR, 0, "Too deep recursion");
    bool passes = check_fields(walk, slot, message) &&
                  (slot->more == NULL || slot->more(message, walk->options, walk->failure));
    walk->depth--;
    return passes;
}

bool ye_allow(const PgQuery__Node *statement, const ye_options *options, ye_failure *failure)
{
    static const ye_field_rule statements = {"RawStmt", "stmt", YE_STATEMENT, 0, NULL, "2"};
    walker walk = {.options = options, .failure = failure};
    pthread_once(&once, fill_entries);
    return check_child(&walk, "RawStmt", &statements, &statement->base);
}
