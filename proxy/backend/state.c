#include "proxy/backend/state.h"

#include "protocol/backend.h"
#include "rewrite/read/settings.h"

#include <stdlib.h>
#include <string.h>

const char *const px_tracked[PX_TRACKED] = {"client_encoding",
                                            "datestyle",
                                            "intervalstyle",
                                            "timezone",
                                            "standard_conforming_strings",
                                            "synchronous_commit",
                                            "statement_timeout",
                                            "lock_timeout",
                                            "search_path"};

enum { FIXED_CELLS = 2 + PX_TRACKED + 1, PG_CLASS = 1259 };

/* ---- the question ---- */

/* The code point of the UTF-8 character at `text`, and how long it is; a byte that begins none is
 * itself. */
static uint32_t code_point(const char *text, size_t *len)
{
    unsigned char first = (unsigned char)text[0];
    size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80) {
            *len = 1;
            return first;
        }
        code = code << 6 | ((unsigned char)text[i] & 0x3Fu);
    }
    *len = more + 1;
    return code;
}

/* Inside of E'…': the same whatever client_encoding is. `quotes` are doubled as well. */
static void add_escaped(pgw_buf *sql, const char *text, bool quotes)
{
    for (size_t len; *text != '\0'; text += len) {
        uint32_t code = code_point(text, &len);
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

/* true: the name means this table, false: another relation, null: none. The functions are asked
 * rather than the catalogs, for a plan of these takes longer than all the rest. */
static void add_table(pgw_buf *sql, const rw_table *table)
{
    pgw_buf_addf(sql, ", (pg_catalog.pg_identify_object(%d::pg_catalog.oid,", PG_CLASS);
    pgw_buf_add_str(sql, " pg_catalog.to_regclass(E'\"");
    add_escaped(sql, table->name, true);
    pgw_buf_add_str(sql,
                    "\"')::pg_catalog.oid, 0)).schema operator(pg_catalog.=)"
                    " pg_catalog.quote_ident(E'"); /* as the setting has it, as is the schema */
    add_escaped(sql, table->schema, false);
    pgw_buf_add_str(sql, "')");
}

#define SETTING(name) "pg_catalog.current_setting('" name "')"

#define OUTPUT                                                                                     \
    ", pg_catalog.concat_ws(' ', " SETTING("bytea_output") ", " SETTING(                           \
        "extra_float_digits") ", " SETTING("xmlbinary") ")"

#define CHANGED                                                                                    \
    ", (select coalesce(pg_catalog.string_agg(pg_catalog.concat(s.name, ','), ''), '')"            \
    " from pg_catalog.pg_settings s where s.source operator(pg_catalog.=) 'session'"               \
    " and coalesce(s.setting, '') operator(pg_catalog.<>) coalesce(s.reset_val, ''))"

void px_state_question(const rw_catalog *catalog, bool everything, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "select session_user, " SETTING("role"));
    for (size_t i = 0; i < PX_TRACKED; i++)
        pgw_buf_addf(sql, ", pg_catalog.current_setting('%s')", px_tracked[i]);
    pgw_buf_add_str(sql, OUTPUT);
    for (size_t i = 0; i < catalog->count; i++)
        add_table(sql, catalog->tables[i]);
    if (everything)
        pgw_buf_add_str(sql, CHANGED);
}

/* ---- the answer ---- */

static char *copy_cell(pgw_slice cell, bool null)
{
    return pgw_strndup(null || cell.ptr == NULL ? "" : cell.ptr, null ? 0 : cell.len);
}

static void fill(const pgw_slice *cells, const bool *nulls, size_t tables, bool everything,
                 px_answer *out)
{
    *out = (px_answer){.count = tables};
    out->user = copy_cell(cells[0], nulls[0]);
    out->role = copy_cell(cells[1], nulls[1]);
    for (size_t i = 0; i < PX_TRACKED; i++)
        out->values[i] = copy_cell(cells[2 + i], nulls[2 + i]);
    out->output = copy_cell(cells[2 + PX_TRACKED], nulls[2 + PX_TRACKED]);
    out->names = pgw_calloc(tables + 1, sizeof *out->names);
    for (size_t i = 0; i < tables; i++) {
        bool ours = !nulls[FIXED_CELLS + i] && pgw_slice_eq_str(cells[FIXED_CELLS + i], "t");
        out->names[i] = ours ? RW_MEANS_OURS : RW_MEANS_OTHERS;
    }
    if (everything)
        out->changed = copy_cell(cells[FIXED_CELLS + tables], nulls[FIXED_CELLS + tables]);
}

bool px_answer_read(pgw_slice body, size_t tables, bool everything, px_answer *out)
{
    size_t count = FIXED_CELLS + tables + everything;
    pgw_slice *cells = pgw_calloc(count, sizeof *cells);
    bool *nulls = pgw_calloc(count, sizeof *nulls);
    bool read = pgw_data_row_decode(body, cells, nulls, (int)count) == (int)count;
    if (read)
        fill(cells, nulls, tables, everything, out);
    free(cells);
    free(nulls);
    return read;
}

void px_answer_free(px_answer *answer)
{
    free(answer->user);
    free(answer->role);
    for (size_t i = 0; i < PX_TRACKED; i++)
        free(answer->values[i]);
    free(answer->output);
    free(answer->changed);
    free(answer->names);
    *answer = (px_answer){0};
}

static char *copy_text(const char *text)
{
    return text != NULL ? pgw_strndup(text, strlen(text)) : NULL;
}

void px_answer_copy(const px_answer *answer, px_answer *copy)
{
    *copy = (px_answer){.count = answer->count};
    copy->user = copy_text(answer->user);
    copy->role = copy_text(answer->role);
    for (size_t i = 0; i < PX_TRACKED; i++)
        copy->values[i] = copy_text(answer->values[i]);
    copy->output = copy_text(answer->output);
    copy->changed = copy_text(answer->changed);
    copy->names = pgw_calloc(answer->count + 1, sizeof *copy->names);
    if (answer->count > 0)
        memcpy(copy->names, answer->names, answer->count * sizeof *copy->names);
}

/* ---- what the session itself changed ---- */

/* The next name of the list; false at its end. */
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
        for (size_t i = 0; i < PX_TRACKED; i++)
            tracked = tracked || pgw_slice_ieq_str(name, px_tracked[i]);
        if (!tracked && rw_setting_kind_of(name) == RW_SETTING_OTHER)
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
