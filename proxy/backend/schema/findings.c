#include "proxy/backend/schema/findings.h"

#include "proxy/base/log.h"

#include <stdlib.h>
#include <string.h>

enum { ANEW_MS = 10 * 1000 }; /* ms until a wrong or unread sample is read again */

struct px_finding {
    px_finding *next;
    char *label;
    char *told; /* why the table could not be worked with, as last logged; NULL: it could */
    /* The table and the hash rule that the sample is of; oid 0: none was read. */
    uint32_t oid;
    char *rule;
    char *verdict; /* why the table is refused for its wrong hashes; NULL: it is not */
    bool wrong;    /* some of the sampled rows have a wrong hash */
    uint64_t sampled_at;
    bool met;      /* the table was met since px_findings_looked() */
    bool unspread; /* the table has a pattern's name and no hash column, as was logged */
};

/* Where the table's finding is, or would be added. Tables are met in the same order each time, so
 * the one behind the last is tried first. */
static px_finding **place_of(px_findings *findings, const char *label)
{
    px_finding **at = findings->last != NULL ? &findings->last->next : &findings->first;
    if (*at != NULL && strcmp((*at)->label, label) == 0)
        return at;
    for (at = &findings->first; *at != NULL && strcmp((*at)->label, label) != 0;)
        at = &(*at)->next;
    return at;
}

static px_finding *find_finding(px_findings *findings, const char *label)
{
    px_finding **at = place_of(findings, label);
    if (*at == NULL) {
        *at = pgw_calloc(1, sizeof **at);
        (*at)->label = pgw_strndup(label, strlen(label));
    }
    findings->last = *at;
    return *at;
}

static void free_finding(px_finding *f)
{
    free(f->label);
    free(f->told);
    free(f->rule);
    free(f->verdict);
    free(f);
}

void px_findings_free(px_findings *findings)
{
    while (findings->first != NULL) {
        px_finding *f = findings->first;
        findings->first = f->next;
        free_finding(f);
    }
    findings->last = NULL;
}

/* All that decides a row's hash but the row's values, as one text. */
static char *rule_of(const rw_table *table)
{
    pgw_buf rule = {0};
    const rw_column *hash = &table->columns[table->hash_column];
    pgw_buf_addf(&rule, "%d %d %u %s %d", table->hash_function, table->hash_type, table->buckets,
                 hash->name, hash->attnum);
    for (size_t i = 0; i < table->hash_key_count; i++) {
        const rw_column *column = &table->columns[table->hash_key[i]];
        pgw_buf_addf(&rule, ", %s %d %u %d", column->name, column->attnum, column->type,
                     column->typmod);
    }
    pgw_buf_add_byte(&rule, '\0');
    return rule.ptr;
}

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static char *copy(const char *text)
{
    return text != NULL ? pgw_strndup(text, strlen(text)) : NULL;
}

static void tell(px_finding *f, const rw_table *table)
{
    if (same(f->told, table->unusable))
        return;
    free(f->told);
    f->told = copy(table->unusable);
    if (f->told != NULL)
        px_log(CFG_LOG_ERROR, "table_unusable", "table=%s reason=%s", f->label, f->told);
    else
        px_log(CFG_LOG_INFO, "table_usable", "table=%s", f->label);
}

static bool is_old(const px_finding *f, uint64_t now)
{
    bool settled = f->oid != 0 && f->verdict == NULL;
    return f->rule != NULL && !settled && now >= f->sampled_at + ANEW_MS;
}

bool px_findings_old(const px_findings *findings, uint64_t now)
{
    for (const px_finding *f = findings->first; f != NULL; f = f->next)
        if (is_old(f, now))
            return true;
    return false;
}

/* Forgets tables that are gone, for any number of tables may come and go. */
static void forget_gone(px_findings *findings)
{
    for (px_finding **at = &findings->first; *at != NULL;) {
        px_finding *f = *at;
        if (f->met) {
            f->met = false;
            at = &f->next;
            continue;
        }
        *at = f->next;
        free_finding(f);
    }
    findings->last = NULL;
}

void px_findings_looked(px_findings *findings, uint64_t now)
{
    forget_gone(findings);
    for (px_finding *f = findings->first; f != NULL; f = f->next)
        if (is_old(f, now))
            f->sampled_at = now; /* no sample is read of an unusable table */
}

static rw_sample sample_of(const px_finding *f)
{
    if (f->oid == 0)
        return RW_SAMPLE_NONE;
    return f->verdict != NULL ? RW_SAMPLE_WRONG : f->wrong ? RW_SAMPLE_SOME_WRONG : RW_SAMPLE_RIGHT;
}

/* Gives the table what was found of its rows. Rows with a wrong hash would not be found by it, so
 * lookups are off. */
static void take_over(px_finding *f, rw_table *table)
{
    table->unusable = copy(f->verdict);
    table->sample = sample_of(f);
    table->looked_up = table->looked_up && table->sample == RW_SAMPLE_RIGHT;
    tell(f, table);
}

/* Forgets what the last sample said, until another one is judged. */
static void forget_verdict(px_finding *f)
{
    f->oid = 0;
    free(f->verdict);
    f->verdict = NULL;
    f->wrong = false;
}

void px_findings_unspread(px_findings *findings, const char *label)
{
    px_finding *f = find_finding(findings, label);
    if (!f->unspread)
        px_log(CFG_LOG_WARN, "table_not_spread", "table=%s reason=%s", label,
               "it has the name of a pattern, and no hash column in its primary key");
    f->met = f->unspread = true;
}

bool px_findings_meet(px_findings *findings, const char *label, rw_table *table, uint64_t now)
{
    px_finding *f = find_finding(findings, label);
    f->met = true;
    f->unspread = false;
    if (table->unusable != NULL) {
        tell(f, table);
        return false;
    }
    char *rule = rule_of(table);
    bool known = f->oid == table->oid && same(f->rule, rule);
    free(known ? rule : f->rule);
    if (!known) {
        f->rule = rule;
        forget_verdict(f);
    }
    if (!known && rw_table_shifts(table))
        px_log(CFG_LOG_WARN, "hash_column_not_last", "table=%s column=%s", label,
               table->columns[table->hash_column].name);
    if (!known || is_old(f, now)) {
        f->sampled_at = now;
        return true;
    }
    take_over(f, table);
    return false;
}

void px_findings_keep(px_findings *findings, const char *label, rw_table *table, bool settled)
{
    px_finding *f = find_finding(findings, label);
    if (settled)
        f->oid = table->oid;
    take_over(f, table);
}

/* Whether so many hashes are wrong that the table has another hash rule. A few may come of rows
 * written past keyspread. A pattern's table may have had another key before. */
static bool is_wrong_as_a_whole(const rw_table *table, unsigned rows, unsigned wrong)
{
    unsigned many =
        table->buckets == 0 ? rows / 2 : rows / 4; /* some buckets are right by chance */
    return (table->by_pattern && wrong == rows && wrong > 0) || (rows >= 3 && wrong == rows) ||
           (rows >= 20 && wrong > many);
}

void px_findings_judge(px_findings *findings, const char *label, rw_table *table, unsigned rows,
                       unsigned wrong, px_metrics *metrics)
{
    px_finding *f = find_finding(findings, label);
    f->oid = table->oid;
    free(f->verdict);
    f->verdict = NULL;
    if (wrong > 0)
        px_count(metrics, PX_WRONG_HASHES, wrong);
    if (is_wrong_as_a_whole(table, rows, wrong)) {
        pgw_buf why = {0};
        pgw_buf_addf(&why, "it has rows whose hash is wrong: %u of the first %u", wrong, rows);
        f->verdict = pgw_strndup(why.ptr, why.len);
        pgw_buf_free(&why);
    } else if (wrong > 0) {
        px_log(CFG_LOG_WARN, "wrong_hashes", "table=%s rows=%u wrong=%u", label, rows, wrong);
    }
    f->wrong = wrong > 0;
    take_over(f, table);
}
