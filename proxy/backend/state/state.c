#include "proxy/backend/state/state.h"

#include "protocol/backend.h"
#include "protocol/utf8.h"
#include "rewrite/statement/words/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A SELECT has no more than 1,664 columns. */
enum { FIXED_CELLS = 2 + RW_TRACKED + 2, OWN_CELLS = 1000, PG_CLASS = 1259, TEXT_TYPE = 25 };

/* ---- the question ---- */

/* Appends text for the inside of E'…', in ASCII whatever client_encoding is. `quotes`: '"' is
 * doubled as well. */
static void add_escaped(pgw_buf *sql, const char *text, bool quotes)
{
    pgw_slice rest = pgw_slice_str(text);
    for (size_t len; rest.len > 0; rest.ptr += len, rest.len -= len) {
        uint32_t code = pgw_utf8_code_point(rest, &len);
        if (code >= 0x80)
            pgw_buf_addf(sql, "\\U%08X", code);
        else if (code == '\'' || code == '\\')
            pgw_buf_addf(sql, "\\%c", (char)code);
        else if (code == '"' && quotes)
            pgw_buf_add_str(sql, "\"\"");
        else
            pgw_buf_add_byte(sql, (char)code);
    }
}

static void add_meaning(pgw_buf *sql, const rw_table *table)
{
    pgw_buf_addf(sql, "(pg_catalog.pg_identify_object(%d::pg_catalog.oid,", PG_CLASS);
    pgw_buf_add_str(sql, " pg_catalog.to_regclass(E'\"");
    add_escaped(sql, table->name, true);
    pgw_buf_add_str(sql, "\"')::pg_catalog.oid, 0)).schema operator(pg_catalog.=)"
                         " pg_catalog.quote_ident(E'"); /* pg_identify_object() quotes schemas */
    add_escaped(sql, table->schema, false);
    pgw_buf_add_str(sql, "'), ");
}

/* Asks one table's cell. 't': the name means this table, 'f': another relation, empty: none; 'h'
 * behind that: a table made by this name would be this one. Functions are called, for planning a
 * query of the catalogs takes longer than all the rest. */
static void add_table(pgw_buf *sql, const rw_table *table)
{
    pgw_buf_add_str(sql, "pg_catalog.concat(");
    if (!table->pattern)
        add_meaning(sql, table);
    pgw_buf_addf(sql, "case when pg_catalog.%s E'",
                 table->schemas ? "starts_with(pg_catalog.current_schema()::pg_catalog.text,"
                                : "current_schema() operator(pg_catalog.=)");
    add_escaped(sql, table->schema, false);
    pgw_buf_addf(sql, "'%s then 'h' end)", table->schemas ? ")" : "");
}

/* One cell for each of the first OWN_CELLS tables, and one for all others. */
static void add_tables(pgw_buf *sql, const rw_catalog *names)
{
    for (size_t i = 0; i < names->count; i++) {
        pgw_buf_add_str(sql, i == OWN_CELLS ? ", pg_catalog.array_to_string(array[" : ", ");
        add_table(sql, names->tables[i]);
    }
    pgw_buf_add_str(sql, names->count > OWN_CELLS ? "], ',')" : "");
}

#define SETTING(name) "pg_catalog.current_setting('" name "')"

#define OUTPUT                                                                                     \
    ", pg_catalog.concat_ws(' ', " SETTING("bytea_output") ", " SETTING(                           \
        "extra_float_digits") ", " SETTING("xmlbinary") ")"

static bool has_schemas(const rw_catalog *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->tables[i]->schemas)
            return true;
    return false;
}

/* Settings of keyspread's own in one cell, a ',' between two; NULL or nothing where one is not set.
 * Behind them, if a pattern has several schemas, the one where tables are made. */
static void add_own(pgw_buf *sql, const rw_catalog *names)
{
    pgw_buf_add_str(sql, ", pg_catalog.concat(");
    for (size_t i = 0; i < RW_OWN_SETTINGS; i++)
        pgw_buf_addf(sql, "%spg_catalog.current_setting('%s', true)", i > 0 ? ", ',', " : "",
                     rw_own[i]);
    pgw_buf_add_str(sql, has_schemas(names) ? ", ',', pg_catalog.current_schema())" : ")");
}

#define CHANGED                                                                                    \
    ", (select coalesce(pg_catalog.string_agg(pg_catalog.concat(s.name, ','), ''), '')"            \
    " from pg_catalog.pg_settings s where s.source operator(pg_catalog.=) 'session'"               \
    " and coalesce(s.setting, '') operator(pg_catalog.<>) coalesce(s.reset_val, ''))"

/* Asks, in one cell, a letter for each oid: 't' if the table's unqualified name means that table,
 * else 'f'. */
static void add_visible(pgw_buf *sql, const px_asked *asked)
{
    if (asked->oid_count == 0)
        return;
    pgw_buf_add_str(sql, ", pg_catalog.array_to_string(array(select case when"
                         " pg_catalog.pg_table_is_visible(o) then 't' else 'f' end"
                         " from pg_catalog.unnest('");
    for (size_t i = 0; i < asked->oid_count; i++)
        pgw_buf_addf(sql, i == 0 ? "{%" PRIu32 : ",%" PRIu32, asked->oids[i]);
    pgw_buf_add_str(sql, "}'::pg_catalog.oid[]) o), '')");
}

/* Functions find names in caches. These learn what others have made and dropped when a transaction
 * begins, and when an object is locked: here pg_catalog, which is never dropped. This is a WHERE
 * condition, for that is evaluated before the columns. */
#define RENEWED                                                                                    \
    " where pg_catalog.pg_get_object_address('schema', '{pg_catalog}', '{}') is not null"

void px_state_question(const px_asked *asked, bool everything, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "select session_user, " SETTING("role"));
    for (size_t i = 0; i < RW_TRACKED; i++)
        pgw_buf_addf(sql, ", pg_catalog.current_setting('%s')", rw_tracked[i]);
    pgw_buf_add_str(sql, OUTPUT);
    add_own(sql, asked->names);
    add_tables(sql, asked->names);
    add_visible(sql, asked);
    if (everything)
        pgw_buf_add_str(sql, CHANGED);
    if (asked->inside)
        pgw_buf_add_str(sql, RENEWED);
}

/* ---- the answer of a backend that has no catalog ---- */

#define BEGINNING "select session_user, " SETTING("role") ", "

bool px_state_is_question(pgw_slice text)
{
    size_t len = sizeof BEGINNING - 1;
    return text.len > len && memcmp(text.ptr, BEGINNING, len) == 0;
}

static size_t count_of(pgw_slice text, const char *part)
{
    size_t count = 0, len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++)
        count += memcmp(text.ptr + i, part, len) == 0;
    return count;
}

static bool asks_everything(pgw_slice text)
{
    return count_of(text, "pg_catalog.pg_settings") > 0;
}

static size_t cells_of(size_t named)
{
    return named > OWN_CELLS ? OWN_CELLS + 1 : named;
}

size_t px_state_cells(pgw_slice text)
{
    return FIXED_CELLS + cells_of(count_of(text, "pg_catalog.to_regclass(")) +
           asks_everything(text);
}

static void add_column(pgw_buf *columns)
{
    static const char behind_name[18] = {
        [9] = TEXT_TYPE, [10] = -1, [11] = -1, [12] = -1, [13] = -1, [14] = -1, [15] = -1};
    pgw_buf_add(columns, "", 1);
    pgw_buf_add(columns, behind_name, sizeof behind_name);
}

void px_state_answer(pgw_slice text, const px_state_source *source, pgw_buf *columns,
                     pgw_slice *cells)
{
    size_t count = px_state_cells(text), tables = FIXED_CELLS;
    cells[0] = pgw_slice_str(source->setting(source->data, "session_authorization"));
    cells[1] = PGW_LITERAL("none");
    for (size_t i = 0; i < RW_TRACKED; i++)
        cells[2 + i] = pgw_slice_str(source->setting(source->data, rw_tracked[i]));
    cells[2 + RW_TRACKED] = PGW_LITERAL("hex 1 base64");
    cells[3 + RW_TRACKED] = source->own;
    for (size_t i = tables; i < count; i++)
        cells[i] = PGW_LITERAL("th"); /* the last cell is for all tables beyond OWN_CELLS */
    if (asks_everything(text))
        cells[count - 1] = source->changed;
    pgw_buf_add_i16(columns, (int16_t)count);
    for (size_t i = 0; i < count; i++)
        add_column(columns);
}

/* ---- the answer ---- */

static char *copy_cell(pgw_slice cell, bool null)
{
    return pgw_strndup(null || cell.ptr == NULL ? "" : cell.ptr, null ? 0 : cell.len);
}

static rw_meaning meaning_of(bool ours)
{
    return ours ? RW_MEANS_OURS : RW_MEANS_OTHERS;
}

/* Takes the next answer of a cell with several; the last one is also the answer for all that
 * follow. */
static pgw_slice next_answer(pgw_slice *rest)
{
    const char *comma = rest->len > 0 ? memchr(rest->ptr, ',', rest->len) : NULL;
    pgw_slice answer = *rest;
    if (comma != NULL) {
        answer.len = (size_t)(comma - rest->ptr);
        rest->ptr += answer.len + 1;
        rest->len -= answer.len + 1;
    }
    return answer;
}

static void fill_tables(const pgw_slice *cells, const bool *nulls, size_t named, size_t oids,
                        px_answer *out)
{
    out->count = named + oids;
    out->names = pgw_calloc(out->count + 1, sizeof *out->names);
    out->made = pgw_calloc(out->count + 1, sizeof *out->made);
    pgw_slice rest =
        named > OWN_CELLS && !nulls[OWN_CELLS] ? cells[OWN_CELLS] : (pgw_slice){NULL, 0};
    for (size_t i = 0; i < named; i++) {
        bool own = i < OWN_CELLS;
        pgw_slice cell = !own ? next_answer(&rest) : nulls[i] ? (pgw_slice){NULL, 0} : cells[i];
        out->names[i] = meaning_of(cell.len > 0 && cell.ptr[0] == 't');
        out->made[i] = meaning_of(cell.len > 0 && cell.ptr[cell.len - 1] == 'h');
    }
    const pgw_slice *letters = &cells[cells_of(named)];
    for (size_t i = 0; i < oids; i++)
        out->names[named + i] = meaning_of(i < letters->len && letters->ptr[i] == 't');
}

/* The index of the first cell behind the tables' cells. */
static size_t end_of_tables(size_t named, size_t oids)
{
    return FIXED_CELLS + cells_of(named) + (oids > 0);
}

static void fill(const pgw_slice *cells, const bool *nulls, px_answer *out)
{
    *out = (px_answer){0};
    out->user = copy_cell(cells[0], nulls[0]);
    out->role = copy_cell(cells[1], nulls[1]);
    for (size_t i = 0; i < RW_TRACKED; i++)
        out->values[i] = copy_cell(cells[2 + i], nulls[2 + i]);
    out->output = copy_cell(cells[2 + RW_TRACKED], nulls[2 + RW_TRACKED]);
    pgw_slice own = nulls[3 + RW_TRACKED] ? (pgw_slice){NULL, 0} : cells[3 + RW_TRACKED];
    bool more = count_of(own, ",") >= RW_OWN_SETTINGS;
    for (rw_own_setting i = 0; i < RW_OWN_SETTINGS; i++)
        out->says[i] = rw_own_word_of(i, next_answer(&own));
    out->here = copy_cell(own, !more);
}

bool px_answer_read(pgw_slice body, size_t named, size_t oids, bool everything, px_answer *out)
{
    size_t end = end_of_tables(named, oids), count = end + everything;
    pgw_slice *cells = pgw_calloc(count, sizeof *cells);
    bool *nulls = pgw_calloc(count, sizeof *nulls);
    bool read = pgw_data_row_decode(body, cells, nulls, (int)count) == (int)count;
    if (read) {
        fill(cells, nulls, out);
        fill_tables(cells + FIXED_CELLS, nulls + FIXED_CELLS, named, oids, out);
    }
    if (read && everything)
        out->changed = copy_cell(cells[end], nulls[end]);
    free(cells);
    free(nulls);
    return read;
}

void px_answer_free(px_answer *answer)
{
    free(answer->user);
    free(answer->role);
    for (size_t i = 0; i < RW_TRACKED; i++)
        free(answer->values[i]);
    free(answer->output);
    free(answer->changed);
    free(answer->here);
    free(answer->names);
    free(answer->made);
    free(answer->oids);
    *answer = (px_answer){0};
}

static char *copy_text(const char *text)
{
    return text != NULL ? pgw_strndup(text, strlen(text)) : NULL;
}

void px_answer_copy(const px_answer *answer, px_answer *copy)
{
    *copy = (px_answer){.count = answer->count, .oid_count = answer->oid_count};
    memcpy(copy->says, answer->says, sizeof copy->says);
    copy->user = copy_text(answer->user);
    copy->role = copy_text(answer->role);
    for (size_t i = 0; i < RW_TRACKED; i++)
        copy->values[i] = copy_text(answer->values[i]);
    copy->output = copy_text(answer->output);
    copy->changed = copy_text(answer->changed);
    copy->here = copy_text(answer->here);
    copy->names = pgw_calloc(answer->count + 1, sizeof *copy->names);
    copy->made = pgw_calloc(answer->count + 1, sizeof *copy->made);
    if (answer->count > 0) {
        memcpy(copy->names, answer->names, answer->count * sizeof *copy->names);
        memcpy(copy->made, answer->made, answer->count * sizeof *copy->made);
    }
    copy->oids = pgw_calloc(answer->oid_count + 1, sizeof *copy->oids);
    if (answer->oid_count > 0)
        memcpy(copy->oids, answer->oids, answer->oid_count * sizeof *copy->oids);
}

/* ---- what the session itself changed ---- */

/* Takes the next name of the list; false at the end. */
static bool next_name(const char **at, pgw_slice *name)
{
    if (*at == NULL || **at == '\0')
        return false;
    size_t len = strcspn(*at, ",");
    *name = (pgw_slice){*at, len};
    *at += len + ((*at)[len] == ',');
    return true;
}

pgw_slice px_answer_odd(const px_answer *answer)
{
    const char *at = answer->changed;
    for (pgw_slice name; next_name(&at, &name);) {
        bool tracked = false;
        for (size_t i = 0; i < RW_TRACKED; i++)
            tracked = tracked || pgw_slice_ieq_str(name, rw_tracked[i]);
        if (!tracked && rw_setting_parts(rw_setting_kind_of(name)))
            return name;
    }
    return (pgw_slice){NULL, 0};
}

bool px_answer_has_changed(const px_answer *answer, const char *wanted)
{
    const char *at = answer->changed;
    for (pgw_slice name; next_name(&at, &name);)
        if (pgw_slice_ieq_str(name, wanted))
            return true;
    return false;
}
