#define _GNU_SOURCE
#include "proxy/backend/base/classify.h"

#include "rewrite/insert/guard.h"

#include <string.h>

/* What an ERROR's SQLSTATE means; one that is not listed is PX_ERROR_OWN. */
static const struct {
    const char *sqlstate;
    px_error_kind kind;
} kinds[] = {
    {"26000", PX_ERROR_STALE_PLAN}, /* invalid_sql_statement_name */
    {"40001", PX_ERROR_REPEAT},     /* serialization_failure */
    {"40P01", PX_ERROR_REPEAT},     /* deadlock_detected */
    {"42601", PX_ERROR_STALE},      /* syntax_error: more values than columns */
    {"42703", PX_ERROR_STALE},      /* undefined_column */
    {"42804", PX_ERROR_STALE},      /* datatype_mismatch */
    {"428C9", PX_ERROR_STALE},      /* generated_always */
    {"42P01", PX_ERROR_STALE},      /* undefined_table */
    {"54000", PX_ERROR_SIZE},       /* program_limit_exceeded */
    {"55P03", PX_ERROR_LOCK},       /* lock_not_available */
    {"57014", PX_ERROR_CANCEL},     /* query_canceled */
};

/* The severity that is not translated (field V); servers before 9.6 have the translated one only.
 */
static pgw_slice severity_of(pgw_slice body)
{
    pgw_slice severity = pgw_error_field(body, 'V');
    return severity.len > 0 ? severity : pgw_error_field(body, 'S');
}

bool px_error_is_fatal(pgw_slice body)
{
    pgw_slice severity = severity_of(body);
    return pgw_slice_eq_str(severity, "FATAL") || pgw_slice_eq_str(severity, "PANIC");
}

/* The fields of the error, each with its NUL; the literal's own NUL ends the body. */
#define CACHED_PLAN                                                                                \
    "SERROR\0VERROR\0C0A000\0Mcached plan must not change result type\0RRevalidateCachedQuery\0"

/* The message about a cached plan is translated, and its SQLSTATE is many others', so that only the
 * routine's name tells (plancache.c). */
static bool is_cached_plan(pgw_slice body, pgw_slice sqlstate)
{
    return pgw_slice_eq_str(sqlstate, "0A000") &&
           pgw_slice_eq_str(pgw_error_field(body, 'R'), "RevalidateCachedQuery");
}

/* Whether the error says that a type was dropped since the statement was described: an internal
 * error, whose message is never translated. */
static bool is_type_gone(pgw_slice body, pgw_slice sqlstate)
{
    static const char begin[] = "cache lookup failed for type ";
    pgw_slice message = pgw_error_field(body, 'M');
    return pgw_slice_eq_str(sqlstate, "XX000") && message.len >= sizeof begin - 1 &&
           memcmp(message.ptr, begin, sizeof begin - 1) == 0;
}

void px_error_cached_plan(pgw_buf *body)
{
    pgw_buf_add(body, CACHED_PLAN, sizeof CACHED_PLAN);
}

bool px_error_is_changed(pgw_slice body)
{
    pgw_slice message = pgw_error_field(body, 'M');
    return pgw_slice_eq_str(pgw_error_field(body, 'C'), "22P02") && message.len > 0 &&
           memmem(message.ptr, message.len, RW_CHANGED, strlen(RW_CHANGED)) != NULL;
}

px_error_kind px_classify(pgw_slice body)
{
    pgw_slice sqlstate = pgw_error_field(body, 'C');
    if (px_error_is_fatal(body))
        return PX_ERROR_EVERYBODYS;
    if (is_cached_plan(body, sqlstate))
        return PX_ERROR_STALE_PLAN;
    if (px_error_is_changed(body) || is_type_gone(body, sqlstate))
        return PX_ERROR_STALE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pgw_slice_eq_str(sqlstate, kinds[i].sqlstate))
            return kinds[i].kind;
    return PX_ERROR_OWN;
}

bool px_error_is_moved(pgw_slice body)
{
    pgw_slice sqlstate = pgw_error_field(body, 'C');
    return pgw_slice_eq_str(sqlstate, "53000") || pgw_slice_eq_str(sqlstate, "57P03");
}

static bool class_is(const pgw_error *error, const char *class)
{
    return strncmp(error->sqlstate, class, 2) == 0;
}

bool px_error_is_full(const pgw_error *error)
{
    return pgw_error_is(error, "53300");
}

bool px_error_is_personal(const pgw_error *error)
{
    return class_is(error, "28") || px_error_is_full(error);
}

bool px_error_is_servers(const pgw_error *error)
{
    static const char *const codes[] = {"08", "3D", "57P", "58", "XX"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strncmp(error->sqlstate, codes[i], strlen(codes[i])) == 0)
            return true;
    return false;
}

bool px_error_is_absence(const pgw_error *error)
{
    return class_is(error, "08") || class_is(error, "57");
}
