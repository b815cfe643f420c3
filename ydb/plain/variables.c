#include "ydb/plain/variables.h"

#include "ydb/plain/variable_list.h"
#include "ydb/plain/variable_name.h"
#include "ydb/plain/variable_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value that was chosen or not; `value` NULL: the default. */
typedef struct choice {
    bool made;
    char *value;
} choice;

/* One setting. The last that is made counts: of the start, the session, this transaction, and what
 * is local to it. */
typedef struct entry {
    const rw_variable *known; /* NULL: a custom setting */
    char *name;               /* the name of a custom setting */
    choice start, kept, set, local;
    choice last;        /* a transaction mode at the end of the last transaction */
    char *told;         /* the value that ParameterStatus told last; NULL: none yet */
    struct entry *next; /* the next custom setting */
} entry;

struct rw_variables {
    entry known[RW_VARIABLES];
    entry *own;
    size_t bytes, limit;
    bool queried; /* a statement of this transaction has seen the tables */
    bool told;    /* ParameterStatus has told all values as they are now */
};

rw_variables *rw_variables_new(size_t limit)
{
    rw_variables *variables = pgw_calloc(1, sizeof *variables);
    variables->limit = limit;
    for (size_t i = 0; i < RW_VARIABLES; i++)
        variables->known[i].known = &rw_variable_list[i];
    return variables;
}

/* ---- values ---- */

static void forget(rw_variables *variables, choice *at)
{
    if (at->value != NULL)
        variables->bytes -= strlen(at->value) + 1;
    variables->told = variables->told && !at->made;
    free(at->value);
    at->made = false;
    at->value = NULL;
}

static void choose(rw_variables *variables, choice *at, pgw_slice value)
{
    forget(variables, at);
    variables->told = false;
    at->made = true;
    if (value.ptr == NULL)
        return;
    at->value = pgw_strndup(value.ptr, value.len);
    variables->bytes += strlen(at->value) + 1;
}

static void free_entry(rw_variables *variables, entry *it)
{
    forget(variables, &it->start);
    forget(variables, &it->kept);
    forget(variables, &it->set);
    forget(variables, &it->local);
    forget(variables, &it->last);
    free(it->told);
    free(it->name);
}

void rw_variables_free(rw_variables *variables)
{
    if (variables == NULL)
        return;
    for (size_t i = 0; i < RW_VARIABLES; i++)
        free_entry(variables, &variables->known[i]);
    for (entry *it = variables->own, *next; it != NULL; it = next) {
        next = it->next;
        free_entry(variables, it);
        free(it);
    }
    free(variables);
}

static entry *find(const rw_variables *variables, pgw_slice name)
{
    const rw_variable *known = rw_variable_named(name);
    if (known != NULL)
        return (entry *)&variables->known[known - rw_variable_list];
    entry *it = variables->own;
    while (it != NULL && !pgw_slice_ieq_str(name, it->name))
        it = it->next;
    return it;
}

/* Whether it is a mode of the transaction, such as transaction_read_only. */
static bool is_mode(const entry *it)
{
    return it->known != NULL && strncmp(it->known->name, "transaction_", 12) == 0;
}

/* What default_transaction_… was when the transaction began. */
static const char *mode_by_default(const rw_variables *variables, const entry *it)
{
    char name[64];
    int len = snprintf(name, sizeof name, "default_%s", it->known->name);
    const entry *from = find(variables, (pgw_slice){name, (size_t)len});
    return from->kept.value != NULL    ? from->kept.value
           : from->start.value != NULL ? from->start.value
                                       : from->known->value;
}

static const char *by_default(const rw_variables *variables, const entry *it)
{
    if (it->start.value != NULL)
        return it->start.value;
    if (it->known == NULL)
        return "";
    return is_mode(it) ? mode_by_default(variables, it) : it->known->value;
}

static const char *current(const rw_variables *variables, const entry *it)
{
    const choice *made = it->local.made ? &it->local : it->set.made ? &it->set : &it->kept;
    return made->value != NULL ? made->value : by_default(variables, it);
}

bool rw_variables_get(const rw_variables *variables, pgw_slice name, pgw_slice *value)
{
    const entry *it = find(variables, name);
    if (it != NULL)
        *value = pgw_slice_str(current(variables, it));
    return it != NULL;
}

bool rw_variables_differs(const rw_variables *variables, pgw_slice name)
{
    const entry *it = find(variables, name);
    return it != NULL && strcmp(current(variables, it), by_default(variables, it)) != 0;
}

/* ---- changes ---- */

static bool admit(const rw_variables *variables, size_t bytes, pgw_error *error)
{
    if (bytes <= variables->limit && variables->bytes <= variables->limit - bytes)
        return true;
    pgw_fail(error, "53200", "out of memory");
    pgw_error_detail(error, "The settings of one session may take %zu bytes together.",
                     variables->limit);
    return false;
}

/* The setting of this name, which a client may make up if it has a dot. NULL: the name is refused,
 * or the settings would take too much memory. */
static entry *entry_of(rw_variables *variables, pgw_slice name, pgw_error *error)
{
    entry *it = find(variables, name);
    size_t bytes = sizeof *it + name.len + 1;
    if (it != NULL)
        return it;
    if (!rw_variable_may_be(name, error) || !admit(variables, bytes, error))
        return NULL;
    it = pgw_calloc(1, sizeof *it);
    it->name = pgw_strndup(name.ptr, name.len);
    it->next = variables->own;
    variables->own = it;
    variables->bytes += bytes;
    return it;
}

static bool is_fixed(const entry *it)
{
    return it->known != NULL && it->known->kind == RW_VARIABLE_FIXED;
}

/* Whether a setting stays as it is: a role that cannot be changed can be gone back to. */
static bool is_unchanged(const entry *it, pgw_slice value)
{
    const char *name = it->known->name;
    bool role = strcmp(name, "role") == 0;
    return (role || strcmp(name, "session_authorization") == 0) &&
           (value.ptr == NULL || (role && pgw_slice_eq_str(value, "none")));
}

static bool read(const rw_variables *variables, const entry *it, pgw_slice value, pgw_buf *shown,
                 pgw_error *error)
{
    if (value.ptr == NULL)
        return true;
    if (it->known == NULL)
        pgw_buf_add_slice(shown, value);
    else if (!rw_variable_read(it->known, value, shown, error))
        return false;
    return admit(variables, shown->len + 1, error);
}

static pgw_slice slice_of(const pgw_buf *shown, pgw_slice value)
{
    if (value.ptr == NULL)
        return (pgw_slice){NULL, 0};
    return shown->len > 0 ? pgw_slice_buf(shown) : PGW_LITERAL("");
}

/* Whether a transaction may take this mode: once it has seen the tables, it stays what it is. */
static bool check_mode(const rw_variables *variables, const entry *it, pgw_slice value,
                       pgw_error *error)
{
    pgw_slice now = pgw_slice_str(current(variables, it));
    if (!variables->queried)
        return true;
    if (strcmp(it->known->name, "transaction_deferrable") == 0)
        return pgw_fail(error, "25001",
                        "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
    if (pgw_slice_eq(value, now))
        return true;
    if (strcmp(it->known->name, "transaction_isolation") == 0)
        return pgw_fail(error, "25001",
                        "SET TRANSACTION ISOLATION LEVEL must be called before any query");
    return pgw_slice_eq_str(now, "off") ||
           pgw_fail(error, "25001", "transaction read-write mode must be set before any query");
}

bool rw_variables_set(rw_variables *variables, pgw_slice name, pgw_slice value, bool local,
                      pgw_error *error)
{
    entry *it = entry_of(variables, name, error);
    pgw_buf shown = {0};
    if (it == NULL)
        return false;
    if (is_fixed(it))
        return is_unchanged(it, value) || rw_variable_read(it->known, value, &shown, error);
    bool fine = read(variables, it, value, &shown, error) &&
                (!is_mode(it) || check_mode(variables, it, slice_of(&shown, value), error));
    if (fine && (local || is_mode(it))) {
        choose(variables, &it->local, slice_of(&shown, value));
    } else if (fine) {
        choose(variables, &it->set, slice_of(&shown, value));
        forget(variables, &it->local);
    }
    pgw_buf_free(&shown);
    return fine;
}

bool rw_variables_start(rw_variables *variables, pgw_slice name, pgw_slice value, pgw_error *error)
{
    entry *it = entry_of(variables, name, error);
    pgw_buf shown = {0};
    if (it == NULL)
        return false;
    if (is_fixed(it))
        return is_unchanged(it, value) || rw_variable_read(it->known, value, &shown, error);
    bool fine = read(variables, it, value, &shown, error);
    if (fine)
        choose(variables, &it->start, slice_of(&shown, value));
    pgw_buf_free(&shown);
    bool zone = it->known != NULL && it->known->kind == RW_VARIABLE_ZONE;
    return fine || zone;
}

void rw_variables_define(rw_variables *variables, const char *name, pgw_slice value)
{
    entry *it = find(variables, pgw_slice_str(name));
    if (it != NULL)
        choose(variables, &it->start, value);
}

void rw_variables_reset_all(rw_variables *variables)
{
    static const pgw_slice none = {NULL, 0};
    for (size_t i = 0; i < RW_VARIABLES; i++) {
        entry *it = &variables->known[i];
        if (is_mode(it))
            continue;
        choose(variables, &it->set, none);
        forget(variables, &it->local);
    }
    for (entry *it = variables->own; it != NULL; it = it->next) {
        choose(variables, &it->set, none);
        forget(variables, &it->local);
    }
}

/* ---- ends of transactions ---- */

static void settle(rw_variables *variables, entry *it, bool keep)
{
    forget(variables, &it->local);
    if (!keep) {
        forget(variables, &it->set);
    } else if (it->set.made) {
        forget(variables, &it->kept);
        it->kept = it->set;
        it->set = (choice){false, NULL};
    }
}

static void remember_modes(rw_variables *variables)
{
    for (size_t i = 0; i < RW_VARIABLES; i++) {
        entry *it = &variables->known[i];
        if (is_mode(it))
            choose(variables, &it->last, pgw_slice_str(current(variables, it)));
    }
}

static void settle_all(rw_variables *variables, bool keep)
{
    remember_modes(variables);
    variables->queried = false;
    for (size_t i = 0; i < RW_VARIABLES; i++)
        settle(variables, &variables->known[i], keep);
    for (entry *it = variables->own; it != NULL; it = it->next)
        settle(variables, it, keep);
}

void rw_variables_chain(rw_variables *variables)
{
    for (size_t i = 0; i < RW_VARIABLES; i++) {
        entry *it = &variables->known[i];
        if (is_mode(it) && it->last.made)
            choose(variables, &it->local, pgw_slice_str(it->last.value));
    }
}

void rw_variables_queried(rw_variables *variables)
{
    variables->queried = true;
}

void rw_variables_commit(rw_variables *variables)
{
    settle_all(variables, true);
}

void rw_variables_rollback(rw_variables *variables)
{
    settle_all(variables, false);
}

/* ---- what others want to know ---- */

bool rw_variables_report(rw_variables *variables, pgw_slice *name, pgw_slice *value)
{
    for (size_t i = 0; i < RW_VARIABLES && !variables->told; i++) {
        entry *it = &variables->known[i];
        const char *now = it->known->reported ? current(variables, it) : NULL;
        if (now == NULL || (it->told != NULL && strcmp(it->told, now) == 0))
            continue;
        free(it->told);
        it->told = pgw_strndup(now, strlen(now));
        *name = pgw_slice_str(it->known->name);
        *value = pgw_slice_str(it->told);
        return true;
    }
    variables->told = true;
    return false;
}

static pgw_slice value_of(const rw_variables *variables, const char *name)
{
    return pgw_slice_str(current(variables, find(variables, pgw_slice_str(name))));
}

int64_t rw_variables_statement_timeout(const rw_variables *variables)
{
    return rw_variable_milliseconds(value_of(variables, "statement_timeout"));
}

bool rw_variables_read_only(const rw_variables *variables)
{
    return pgw_slice_eq_str(value_of(variables, "transaction_read_only"), "on");
}
