#include "rewrite/statement/lookup/lookup_value.h"

#include "protocol/types.h"
#include "rewrite/statement/tree/walk.h"

#include <stdio.h>
#include <string.h>

typedef const PgQuery__Node *node;

uint32_t rw_lookup_type_named(const PgQuery__TypeName *type)
{
    char name[64];
    size_t count = type->n_names;
    if (type->setof || type->pct_type || count == 0 || count > 2 ||
        (count == 2 && strcmp(rw_node_name(type->names[0]), "pg_catalog") != 0))
        return PGW_UNSPECIFIED;
    int len = snprintf(name, sizeof name, "pg_catalog.%s", rw_node_name(type->names[count - 1]));
    bool fits = len > 0 && (size_t)len < sizeof name;
    return fits ? pgw_type_by_name((pgw_slice){name, (size_t)len}) : PGW_UNSPECIFIED;
}

/* One that has no modifiers; of an array, of its elements. */
static uint32_t type_of(const PgQuery__TypeName *type, bool array)
{
    bool plain = type->n_typmods == 0 && (type->n_array_bounds > 0) == array;
    return plain ? rw_lookup_type_named(type) : PGW_UNSPECIFIED;
}

/* Takes off the cast of a value; false: it is to a type not known here. */
static bool read_cast(bool array, node *value, uint32_t *cast)
{
    if ((*value)->node_case != PG_QUERY__NODE__NODE_TYPE_CAST || (*value)->type_cast->arg == NULL ||
        (*value)->type_cast->type_name == NULL)
        return true;
    *cast = type_of((*value)->type_cast->type_name, array);
    *value = (*value)->type_cast->arg;
    return *cast != PGW_UNSPECIFIED;
}

/* Reads the cast of a whole list. An element with another cast of its own is not understood. */
static bool read_cast_of_all(const PgQuery__TypeName *type, uint32_t *cast)
{
    uint32_t own = *cast;
    if (type == NULL)
        return true;
    *cast = type_of(type, true);
    return *cast != PGW_UNSPECIFIED && (own == PGW_UNSPECIFIED || own == *cast);
}

static int32_t constant_at(node value)
{
    if (value->node_case == PG_QUERY__NODE__NODE_PARAM_REF)
        return value->param_ref->location;
    if (value->node_case != PG_QUERY__NODE__NODE_A_CONST || value->a_const->isnull ||
        value->a_const->val_case == PG_QUERY__A__CONST__VAL_BSVAL)
        return -1;
    return value->a_const->location;
}

bool rw_lookup_value_read(const rw_equation *from, node value, rw_lookup_value *out)
{
    *out = (rw_lookup_value){.cast = PGW_UNSPECIFIED};
    if (!read_cast(from->array, &value, &out->cast) || !read_cast_of_all(from->cast, &out->cast))
        return false;
    out->parameter = value->node_case == PG_QUERY__NODE__NODE_PARAM_REF;
    out->location = constant_at(value);
    return out->location >= 0;
}
