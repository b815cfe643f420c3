#include "rewrite/statement/tree/any_row.h"

#include "rewrite/statement/tree/walk.h"

#include <string.h>

bool rw_takes_any_row(const PgQuery__FuncCall *call)
{
    static const char *const names[] = {"count",
                                        "row_to_json",
                                        "to_json",
                                        "to_jsonb",
                                        "json_agg",
                                        "jsonb_agg",
                                        "array_agg",
                                        "json_build_object",
                                        "json_build_array",
                                        "jsonb_build_object",
                                        "jsonb_build_array",
                                        "json_object_agg",
                                        "jsonb_object_agg",
                                        "num_nulls",
                                        "num_nonnulls",
                                        "concat",
                                        "concat_ws",
                                        "format",
                                        "pg_typeof",
                                        "first_value",
                                        "last_value",
                                        "lag",
                                        "lead",
                                        "nth_value"};
    if (call->n_funcname == 0 || call->n_funcname > 2 ||
        (call->n_funcname == 2 && strcmp(rw_node_name(call->funcname[0]), "pg_catalog") != 0))
        return false;
    const char *name = rw_node_name(call->funcname[call->n_funcname - 1]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
