#include "proxy/backend/schema/look.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/backend/schema/audit.h"
#include "proxy/backend/schema/schema_query.h"
#include "proxy/backend/schema/unseen.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 64, SAMPLE_ROWS = 100 };

/* Limits for reading a sample: of a table that is locked, or very large, rows are not judged. */
#define SAMPLE_LIMITS "set local statement_timeout = 5000; set local lock_timeout = 200; "

void px_sight_clear(px_sight *sight)
{
    px_catalog_drop(sight->catalog);
    *sight = (px_sight){0};
}

void px_look_end(px_look *look)
{
    px_schema_rows_free(look->rows);
    px_sight_clear(&look->sight);
    *look = (px_look){0};
}

static bool write_question(const px_look *look, pgw_slice sql, pgw_buf *out)
{
    if (look->plans != NULL)
        return pgw_write_query(sql, out);
    if (!px_unseen_write(PGW_LITERAL("keyspread look"), sql, NULL, out))
        return false;
    if (look->grouped)
        pgw_write_flush(out);
    else
        pgw_write_sync(out);
    return true;
}

static px_look_step ask(px_look *look, pgw_buf *sql, pgw_buf *out)
{
    bool written = write_question(look, pgw_slice_buf(sql), out);
    pgw_buf_free(sql);
    if (!written) /* the question is too long for a message, with gigabytes of names */
        pgw_fail(&look->error, "54000", "there are too many configured tables");
    return written ? PX_LOOK_MORE : PX_LOOK_FAILED;
}

/* Asks by a prepared statement, which is prepared first, or again if the configuration is another
 * one. */
static px_look_step ask_prepared(px_look *look, const cfg_config **prepared, const char *name,
                                 pgw_buf *select, pgw_buf *out)
{
    pgw_buf sql = {0};
    if (*prepared != NULL && *prepared != look->config)
        pgw_buf_addf(&sql, "deallocate %s; ", name);
    if (*prepared != look->config) {
        pgw_buf_addf(&sql, "prepare %s as ", name);
        pgw_buf_add_slice(&sql, pgw_slice_buf(select));
        pgw_buf_add_str(&sql, "; ");
    }
    pgw_buf_addf(&sql, "execute %s", name);
    pgw_buf_free(select);
    *prepared = look->config;
    return ask(look, &sql, out);
}

static px_look_step load(px_look *look, pgw_buf *out)
{
    look->state = PX_LOOK_LOADING;
    look->rows = px_schema_rows_new();
    pgw_buf sql = {0};
    px_schema_query(look->config, &sql);
    return look->plans != NULL ? ask_prepared(look, &look->plans->load, "keyspread_load", &sql, out)
                               : ask(look, &sql, out);
}

void px_look_begin(px_look *look, pgw_buf *out)
{
    look->error = PGW_ERROR_NONE;
    if (look->changed) {
        load(look, out);
        return;
    }
    px_count(look->metrics, PX_CATALOG_CHECKS, 1);
    pgw_buf sql = {0};
    px_schema_fingerprint_query(look->config, &sql);
    if (look->plans != NULL)
        ask_prepared(look, &look->plans->check, "keyspread_check", &sql, out);
    else
        ask(look, &sql, out);
}

/* ---- rows ---- */

/* The table whose rows come next, as its index in the catalog. */
static size_t sampled_at(const px_look *look)
{
    return look->sampled[look->samples_read % PX_LOOK_SAMPLES];
}

static void take_sample_row(px_look *look, const pgw_slice *cells, const bool *nulls, size_t count)
{
    const rw_table *table = look->sight.catalog->tables[sampled_at(look)];
    look->sample_rows++;
    look->sample_wrong += count == table->hash_key_count + 1 &&
                          px_audit_row(table, cells, nulls, NULL) != PX_AUDIT_RIGHT;
}

static void take_unspread(px_look *look, const pgw_slice *cells, size_t count)
{
    pgw_buf label = {0};
    if (count != 2)
        return;
    pgw_buf_add_slice(&label, cells[0]);
    pgw_buf_add_byte(&label, '.');
    pgw_buf_add_slice(&label, cells[1]);
    pgw_buf_add_byte(&label, '\0');
    px_findings_unspread(look->findings, label.ptr);
    pgw_buf_free(&label);
}

static void take_row(px_look *look, pgw_slice body)
{
    pgw_slice cells[MAX_CELLS];
    bool nulls[MAX_CELLS];
    int count = pgw_data_row_decode(body, cells, nulls, MAX_CELLS);
    if (count <= 0 || count > MAX_CELLS)
        return;
    if (look->state == PX_LOOK_UNSPREAD) {
        take_unspread(look, cells, (size_t)count);
    } else if (look->state == PX_LOOK_LOADING) {
        px_schema_rows_add(look->rows, cells, nulls, (size_t)count);
    } else if (look->state == PX_LOOK_SAMPLING) {
        take_sample_row(look, cells, nulls, (size_t)count);
    } else if (count == 3) {
        snprintf(look->sight.fingerprint.text, sizeof look->sight.fingerprint.text, "%.*s",
                 (int)cells[0].len, cells[0].len > 0 ? cells[0].ptr : "");
        snprintf(look->sight.places.text, sizeof look->sight.places.text, "%.*s", (int)cells[2].len,
                 cells[2].len > 0 ? cells[2].ptr : "");
        look->sight.unlimited = cells[1].len > 0 && cells[1].ptr[0] == 't';
    }
}

static void take_error(px_look *look, pgw_slice body)
{
    px_error_kind kind = px_classify(body);
    if (look->state != PX_LOOK_SAMPLING)
        pgw_error_read(body, &look->error);
    else if (kind == PX_ERROR_LOCK || kind == PX_ERROR_CANCEL)
        look->busy = true;
    else /* the role of the link may not read the rows */
        look->unreadable = true;
}

/* ---- where no sample is read ---- */

static const rw_table *find_table(const px_catalog *catalog, uint32_t oid)
{
    for (size_t i = 0; catalog != NULL && i < catalog->count; i++)
        if (catalog->tables[i]->oid == oid)
            return catalog->tables[i];
    return NULL;
}

/* Takes over what the last look found of the same table's rows. If that is nothing, lookups are
 * off: rows may have wrong hashes. */
static void inherit(const px_catalog *last, rw_table *table)
{
    const rw_table *was = find_table(last, table->oid);
    if (table->unusable != NULL)
        return;
    if (was != NULL && rw_table_keeps_hashes(was, table))
        table->sample = was->sample;
    assert(was != NULL || table->sample != RW_SAMPLE_WRONG); /* no sample of this table was read */
    if (table->sample == RW_SAMPLE_WRONG)
        table->unusable = pgw_strndup(was->unusable, strlen(was->unusable));
    table->looked_up = table->looked_up && table->sample == RW_SAMPLE_RIGHT;
}

static void inherit_all(const px_look *look)
{
    const px_catalog *catalog = look->sight.catalog;
    for (size_t i = 0; i < catalog->count; i++)
        inherit(look->last->catalog, catalog->tables[i]);
}

/* ---- from one question to the next ---- */

/* Whether the tables are the same, and the relations that sessions may find under their names. */
static bool is_same(const px_look *look, const px_catalog *catalog)
{
    const px_sight *last = look->last;
    return !look->changed && strcmp(last->places.text, look->sight.places.text) == 0 &&
           px_catalog_same(last->catalog, catalog);
}

/* The name of a table in findings and in the log. */
static const char *label_of(const px_catalog *catalog, size_t i, pgw_buf *name)
{
    const rw_table *table = catalog->tables[i];
    if (!table->by_pattern)
        return cfg_table_label(catalog->configs[i]);
    pgw_buf_addf(name, "%s.%s", table->schema, table->name);
    pgw_buf_add_byte(name, '\0');
    return name->ptr;
}

static bool is_sampled(const px_look *look)
{
    pgw_buf name = {0};
    const px_catalog *catalog = look->sight.catalog;
    const char *label = label_of(catalog, look->at, &name);
    bool sampled = px_findings_meet(look->findings, label, catalog->tables[look->at], look->now);
    pgw_buf_free(&name);
    return sampled;
}

static px_look_step ask_sample(px_look *look, pgw_buf *out)
{
    pgw_buf sql = {0};
    look->sampled[look->samples_asked++ % PX_LOOK_SAMPLES] = look->at;
    pgw_buf_add_str(&sql, SAMPLE_LIMITS);
    px_audit_query(look->sight.catalog->tables[look->at], SAMPLE_ROWS, &sql);
    return ask(look, &sql, out);
}

/* Asks for rows of the next tables that need it, many at once, for somebody may wait; SAME and
 * OTHER: there is none left. */
static px_look_step sample_on(px_look *look, pgw_buf *out)
{
    px_catalog *catalog = look->sight.catalog;
    look->sample_rows = look->sample_wrong = 0;
    look->busy = look->unreadable = false;
    px_look_step step = PX_LOOK_MORE;
    for (; look->findings != NULL && step == PX_LOOK_MORE && look->at < catalog->count &&
           look->samples_asked - look->samples_read < PX_LOOK_SAMPLES;
         look->at++)
        if (is_sampled(look)) {
            look->state = PX_LOOK_SAMPLING;
            step = ask_sample(look, out);
        }
    if (look->samples_asked > look->samples_read)
        return step;
    if (look->findings != NULL)
        px_findings_looked(look->findings, look->now);
    if (!is_same(look, catalog))
        return PX_LOOK_OTHER;
    px_catalog_drop(catalog); /* the old snapshot stays, so that plans and batches go on */
    look->sight.catalog = px_catalog_take(look->last->catalog);
    return PX_LOOK_SAME;
}

static bool is_unchanged(const px_look *look)
{
    const px_sight *last = look->last;
    return last->catalog != NULL && last->catalog->config == look->config &&
           strcmp(last->fingerprint.text, look->sight.fingerprint.text) == 0 &&
           (look->findings == NULL || !px_findings_old(look->findings, look->now));
}

static px_look_step after_check(px_look *look, pgw_buf *out)
{
    if (look->sight.fingerprint.text[0] == '\0') {
        pgw_fail(&look->error, "08P01", "the backend did not say what its tables are like");
        return PX_LOOK_FAILED;
    }
    if (is_unchanged(look)) {
        look->sight.catalog = px_catalog_take(look->last->catalog);
        return PX_LOOK_SAME;
    }
    return load(look, out);
}

static px_look_step after_load(px_look *look, pgw_buf *out)
{
    look->sight.catalog = px_catalog_build(look->config, look->rows, look->last->catalog);
    px_count(look->metrics, PX_CATALOG_LOADS_OK, 1);
    if (look->findings == NULL)
        inherit_all(look);
    if (look->findings == NULL || look->config->pattern_count == 0)
        return sample_on(look, out);
    look->state = PX_LOOK_UNSPREAD;
    pgw_buf sql = {0};
    px_schema_unspread_query(look->config, &sql);
    return ask(look, &sql, out);
}

static px_look_step after_sample(px_look *look, pgw_buf *out)
{
    px_catalog *catalog = look->sight.catalog;
    pgw_buf name = {0};
    size_t at = sampled_at(look);
    const char *label = label_of(catalog, at, &name);
    rw_table *table = catalog->tables[at];
    if (look->busy || look->unreadable)
        px_findings_keep(look->findings, label, table, look->unreadable);
    else
        px_findings_judge(look->findings, label, table, look->sample_rows, look->sample_wrong,
                          look->metrics);
    pgw_buf_free(&name);
    look->samples_read++;
    return sample_on(look, out);
}

static px_look_step on_ready_for_query(px_look *look, pgw_buf *out)
{
    if (look->error.sqlstate[0] != '\0')
        return PX_LOOK_FAILED;
    switch (look->state) {
    case PX_LOOK_CHECKING:
        return after_check(look, out);
    case PX_LOOK_LOADING:
        return after_load(look, out);
    case PX_LOOK_UNSPREAD:
        return sample_on(look, out);
    default:
        return after_sample(look, out);
    }
}

px_look_step px_look_take(px_look *look, char type, pgw_slice body, pgw_buf *out)
{
    if (type == 'D')
        take_row(look, body);
    else if (type == 'E')
        take_error(look, body);
    return type == 'Z' ? on_ready_for_query(look, out) : PX_LOOK_MORE;
}
