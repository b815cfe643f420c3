#include "proxy/backend/schema/rule.h"

#include "protocol/bytes.h"
#include "proxy/backend/base/dsn.h"
#include "rewrite/lex/quote.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A question about rows, asked on a thread of libuv's pool. */
typedef struct inquiry {
    uv_work_t work;
    const cfg_config *fresh;
    const cfg_table **changed;
    size_t count;
    const cfg_table *refused;
    const char *reason;
    px_rule_judged *judged;
    void *owner;
} inquiry;

/* ---- what changed ---- */

static bool same_rule(const cfg_table *a, const cfg_table *b)
{
    bool same = a->hash_function == b->hash_function && a->hash_type == b->hash_type &&
                a->hash_buckets == b->hash_buckets && strcmp(a->hash_column, b->hash_column) == 0 &&
                a->hash_key_count == b->hash_key_count;
    for (size_t i = 0; same && i < a->hash_key_count; i++)
        same = strcmp(a->hash_key[i], b->hash_key[i]) == 0;
    return same;
}

static const char *schema_of(const cfg_table *table)
{
    return table->schema != NULL ? table->schema : "public";
}

static bool same_name(const cfg_table *a, const cfg_table *b)
{
    return a->pattern == b->pattern && a->schemas == b->schemas && strcmp(a->name, b->name) == 0 &&
           strcmp(schema_of(a), schema_of(b)) == 0;
}

/* The entry that holds for the tables of entry `table` in another configuration; NULL: none. */
static const cfg_table *counterpart(const cfg_config *config, const cfg_table *table)
{
    for (size_t i = 0; i < config->table_count + config->pattern_count; i++)
        if (same_name(&config->tables[i], table))
            return &config->tables[i];
    return cfg_find_pattern(config, schema_of(table), table->name);
}

static void find_changed(inquiry *it, const cfg_config *old)
{
    size_t now = it->fresh->table_count + it->fresh->pattern_count;
    size_t before = old->table_count + old->pattern_count;
    it->changed = pgw_calloc(now + before + 1, sizeof *it->changed);
    for (size_t i = 0; i < now; i++) {
        const cfg_table *table = &it->fresh->tables[i], *was = counterpart(old, table);
        if (was != NULL && !same_rule(was, table))
            it->changed[it->count++] = table;
    }
    for (size_t i = 0; i < before; i++) { /* old entries that a pattern covers now */
        const cfg_table *was = &old->tables[i], *table = counterpart(it->fresh, was);
        if (table != NULL && !same_name(table, was) && !same_rule(was, table))
            it->changed[it->count++] = table;
    }
}

/* ---- asking ---- */

/* Why the table's rule may not change; NULL: it has no rows, or does not exist. Row security is
 * off: it raises an error where it would hide rows. */
static const char *judge_table(PGconn *link, const cfg_table *table)
{
    pgw_buf sql = {0};
    if (table->pattern)
        return "it is a pattern, whose tables may have rows";
    pgw_buf_add_str(&sql, "select from ");
    rw_add_identifier(&sql, table->schema != NULL ? table->schema : "public");
    pgw_buf_add_byte(&sql, '.');
    rw_add_identifier(&sql, table->name);
    pgw_buf_add_str(&sql, " limit 1");
    pgw_buf_add_byte(&sql, '\0');
    PGresult *result = PQexec(link, sql.ptr);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *reason = NULL;
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        reason = PQntuples(result) > 0 ? "the table has rows" : NULL;
    else if (sqlstate == NULL || strcmp(sqlstate, "42P01") != 0)
        reason = "the backend does not say whether the table has rows";
    PQclear(result);
    pgw_buf_free(&sql);
    return reason;
}

static PGconn *open_link(const cfg_config *config)
{
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", (config->backend.connect_ms + 999) / 1000);
    /* A backend that falls silent is given up, for no other reload can run meanwhile. */
    const char *const keywords[] = {"connect_timeout",
                                    "tcp_user_timeout",
                                    "keepalives_idle",
                                    "keepalives_count",
                                    "dbname",
                                    "fallback_application_name",
                                    NULL};
    const char *const values[] = {seconds,     "10000", "5", "2", config->backend.dsn,
                                  "keyspread", NULL};
    PGconn *link = PQconnectdbParams(keywords, values, 1);
    PQclear(PQexec(link, "set statement_timeout = '10s'; set row_security = off"));
    return link;
}

static void on_work(uv_work_t *work)
{
    inquiry *it = work->data;
    it->refused = it->changed[0];
    it->reason = "backend.dsn names no database to look for rows in";
    /* If clients name the database, there may be many with such a table. */
    if (!px_dsn_names(it->fresh->backend.dsn, "dbname"))
        return;
    PGconn *link = open_link(it->fresh);
    for (size_t i = 0; i < it->count; i++) {
        it->refused = it->changed[i];
        it->reason = judge_table(link, it->changed[i]);
        if (it->reason != NULL)
            break;
        it->refused = NULL;
    }
    PQfinish(link);
}

static void end(inquiry *it)
{
    it->judged(it->owner, it->refused, it->reason);
    free(it->changed);
    free(it);
}

static void on_worked(uv_work_t *work, int status)
{
    (void)status; /* uv_cancel() is never called */
    end(work->data);
}

void px_rule_judge(uv_loop_t *loop, const cfg_config *old, const cfg_config *fresh,
                   px_rule_judged *judged, void *owner)
{
    inquiry *it = pgw_calloc(1, sizeof *it);
    it->fresh = fresh;
    it->judged = judged;
    it->owner = owner;
    it->work.data = it;
    find_changed(it, old);
    if (it->count == 0)
        end(it);
    else
        uv_queue_work(loop, &it->work, on_work, on_worked);
}
