#include "tests/ydb_endpoint/variables.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_any(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

/* "silently accepted" (2 SET). */
static const char *const forgotten[] = {"extra_float_digits",
                                        "application_name",
                                        "statement_timeout",
                                        "lock_timeout",
                                        "idle_in_transaction_session_timeout",
                                        "client_encoding",
                                        "standard_conforming_strings",
                                        "check_function_bodies",
                                        "xmloption",
                                        "client_min_messages",
                                        "row_security",
                                        "escape_string_warning",
                                        "bytea_output",
                                        "datestyle",
                                        "timezone",
                                        "tablepathprefix",
                                        "dqengine",
                                        "blockengine",
                                        "useblocks",
                                        NULL};

/* "search_path (single value of public, pg_catalog, information_schema, '')" (2 SET). */
static bool set_search_path(const PgQuery__VariableSetStmt *set, ye_settings *settings,
                            ye_failure *failure)
{
    static const char *const known[] = {"public", "pg_catalog", "information_schema", "", NULL};
    if (set->n_args != 1)
        return ye_fail(failure, YE_GENERIC_ERROR, 0,
                       "VariableSetStmt, expected 1 unique scheme, but got: %zu", set->n_args);
    const PgQuery__Node *value = set->args[0];
    if (value->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        value->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return ye_fail(failure, YE_GENERIC_ERROR, 0,
                       "VariableSetStmt, expected string literal for %s option", set->name);
    const char *path = value->a_const->sval->sval;
    if (!is_any(path, known))
        return ye_fail(failure, YE_GENERIC_ERROR, 0,
                       "VariableSetStmt, search path supports only 'information_schema', "
                       "'public', 'pg_catalog', '' but got: '%s'",
                       path);
    snprintf(settings->search_path, sizeof settings->search_path, "%s", path);
    return true;
}

bool ye_variable_set(const PgQuery__VariableSetStmt *set, ye_settings *settings,
                     ye_failure *failure)
{
    if (is_any(set->name, forgotten) || strncasecmp(set->name, "dq.", 3) == 0 ||
        strncasecmp(set->name, "ydb.", 4) == 0)
        return true;
    if (strcasecmp(set->name, "search_path") == 0)
        return set_search_path(set, settings, failure);
    return ye_fail(failure, YE_GENERIC_ERROR, 0, "VariableSetStmt, not supported name: %s",
                   set->name);
}

bool ye_variable_show(const char *name, const ye_options *options, const ye_settings *settings,
                      ye_compiled *compiled, ye_failure *failure)
{
    const struct {
        const char *name, *value;
    } shown[] = {
        {"server_version", options->server_version}, {"server_version_num", "140005"},
        {"standard_conforming_strings", "on"},       {"search_path", settings->search_path},
        {"default_transaction_read_only", "off"},    {"transaction_isolation", "serializable"},
    };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strcasecmp(name, shown[i].name) == 0) {
            snprintf(compiled->value, sizeof compiled->value, "%s", shown[i].value);
            return true;
        }
    return ye_fail(failure, YE_GENERIC_ERROR, 0, "unrecognized configuration parameter \"%s\"",
                   name);
}
