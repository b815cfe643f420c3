#include "rewrite/insert/guard.h"

#include "rewrite/hash/hash_sql.h"
#include "rewrite/insert/parser.h"
#include "rewrite/lex/quote.h"

#include <inttypes.h>

/* Operators are written with their schema, for search_path may hold others of the same name. The
 * divisor is no constant, or the planner would divide by it whatever comes. */
#define EQUALS " operator(pg_catalog.=) "
#define DIVIDE "1 operator(pg_catalog./) case when "
/* No row of pg_attribute has changed since the snapshot by which it is read, which in REPEATABLE
 * READ may be older than the lock. A failed change leaves xmax set, so currtid2() tells whether
 * there is a newer row. */
#define LATEST                                                                                     \
    " and (xmax" EQUALS "0 or pg_catalog.currtid2('pg_catalog.pg_attribute', ctid)" EQUALS "ctid)"

/* Bits of pg_trigger.tgtype. */
enum { ON_INSERT = 1 << 2, ON_UPDATE = 1 << 4 };

/* Adds a condition: the table itself has no trigger on these events but keyspread's own and
 * deferred ones. Triggers of partitions are fired for each row, which the count of rows shows. */
static void add_triggers(const rw_table *table, int events, pgw_buf *out)
{
    pgw_buf_add_str(out, "not exists (select from pg_catalog.pg_trigger where tgrelid" EQUALS);
    pgw_buf_add_unsigned(out, table->oid);
    if (table->filled_by != 0) { /* keyspread's own trigger leaves rows with their hash alone */
        pgw_buf_add_str(out, " and tgfoid operator(pg_catalog.<>) ");
        pgw_buf_add_unsigned(out, table->filled_by);
    }
    pgw_buf_add_str(out, " and not tgisinternal and not tginitdeferred"
                         " and tgenabled operator(pg_catalog.<>) 'D'"
                         " and tgtype operator(pg_catalog.&) ");
    pgw_buf_add_decimal(out, events);
    pgw_buf_add_str(out, " operator(pg_catalog.<>) 0)");
}

/* A name as an element of an array's text. */
static void add_element(const char *name, pgw_buf *out)
{
    pgw_buf_add_byte(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_byte(out, '"');
}

/* Adds a condition: the live columns have their known names, in their order. (An aggregate would
 * cost twice as much.) */
static void add_columns(const rw_table *table, pgw_buf *out)
{
    pgw_buf known = {0};
    for (size_t i = 0; i < table->column_count; i++) {
        pgw_buf_add_byte(&known, i == 0 ? '{' : ',');
        add_element(table->columns[i].name, &known);
    }
    pgw_buf_add_byte(&known, '}');
    pgw_buf_add_byte(&known, '\0');
    pgw_buf_add_str(out, "array(select attname from pg_catalog.pg_attribute where attrelid" EQUALS);
    pgw_buf_add_unsigned(out, table->oid);
    pgw_buf_add_str(
        out, " and attnum operator(pg_catalog.>) 0 and not attisdropped order by attnum)" EQUALS);
    rw_add_name_constant(out, pgw_slice_str(known.ptr));
    pgw_buf_add_str(out, "::pg_catalog.name[]");
    pgw_buf_free(&known);
}

/* Adds a condition on the column's type when the statement is analysed, which is done anew after
 * each change of the table, under the statement's lock; no snapshot is asked. */
static void add_type(const rw_table *table, size_t column, pgw_buf *out)
{
    pgw_buf_add_str(out, "pg_catalog.pg_typeof((null::");
    rw_add_identifier(out, table->schema);
    pgw_buf_add_byte(out, '.');
    rw_add_identifier(out, table->name);
    pgw_buf_add_str(out, ").");
    rw_add_identifier(out, table->columns[column].name);
    pgw_buf_add_str(out, ")" EQUALS);
    pgw_buf_add_unsigned(out, table->columns[column].type);
    pgw_buf_add_str(out, "::pg_catalog.oid");
}

static void add_typmod(const rw_table *table, size_t column, pgw_buf *out)
{
    pgw_buf_add_str(out, "(select atttypmod from pg_catalog.pg_attribute where attrelid" EQUALS);
    pgw_buf_add_unsigned(out, table->oid);
    pgw_buf_add_str(out, " and attnum" EQUALS);
    pgw_buf_add_decimal(out, table->columns[column].attnum);
    pgw_buf_add_str(out, LATEST ")" EQUALS);
    pgw_buf_add_decimal(out, table->columns[column].typmod);
}

/* Adds a condition: the column has no default, so that a row without it has NULL there. */
static void add_no_default(const rw_table *table, size_t column, pgw_buf *out)
{
    pgw_buf_add_str(out, "exists (select from pg_catalog.pg_attribute where attrelid" EQUALS);
    pgw_buf_add_unsigned(out, table->oid);
    pgw_buf_add_str(out, " and attnum" EQUALS);
    pgw_buf_add_decimal(out, table->columns[column].attnum);
    pgw_buf_add_str(out, " and not atthasdef and attidentity" EQUALS "''" LATEST ")");
}

static void add_name(const rw_table *table, size_t column, pgw_buf *out)
{
    pgw_buf_addf(out,
                 "(select attname from pg_catalog.pg_attribute where attrelid" EQUALS "%" PRIu32
                 " and attnum" EQUALS "%d" LATEST ")" EQUALS,
                 table->oid, table->columns[column].attnum);
    rw_add_name_constant(out, pgw_slice_str(table->columns[column].name));
}

/* Adds a condition: the table's name means this table. `schema` NULL: as search_path finds it. */
static void add_is_table(const rw_table *table, const char *schema, pgw_buf *out)
{
    pgw_buf name = {0};
    if (schema != NULL) {
        rw_add_identifier(&name, schema);
        pgw_buf_add_byte(&name, '.');
    }
    rw_add_identifier(&name, table->name);
    rw_add_name_constant(out, pgw_slice_buf(&name));
    pgw_buf_addf(out, "::pg_catalog.regclass" EQUALS "%" PRIu32 "::pg_catalog.oid", table->oid);
    pgw_buf_free(&name);
}

void rw_guard_is_table(const rw_table *table, pgw_buf *out)
{
    add_is_table(table, table->schema, out);
}

void rw_guard_is_found(const rw_table *table, pgw_buf *out)
{
    add_is_table(table, NULL, out);
}

void rw_guard_same_types(const rw_table *table, const char *called, pgw_buf *out)
{
    for (size_t h = 0; h < table->hash_key_count; h++) {
        const rw_column *column = &table->columns[table->hash_key[h]];
        pgw_buf_add_str(out, h > 0 ? " and " : "");
        pgw_buf_add_str(out, "pg_catalog.pg_typeof(case when false then ");
        rw_add_identifier(out, called);
        pgw_buf_add_byte(out, '.');
        rw_add_identifier(out, column->name);
        pgw_buf_addf(out, " end)" EQUALS "%" PRIu32 "::pg_catalog.oid", column->type);
    }
}

/* Adds conditions: the name means the table whose key the hash is made of, and its columns have
 * their names. */
static void add_own_key(const rw_table *table, pgw_buf *out)
{
    rw_guard_is_table(table, out);
    for (size_t h = 0; h < table->hash_key_count; h++) {
        pgw_buf_add_str(out, " and ");
        add_name(table, table->hash_key[h], out);
    }
}

/* Whether a varchar may end in blanks, which are all that its typmod removes. */
static bool may_end_in_blank(const rw_cell *cell)
{
    size_t len = cell->text.len;
    return cell->kind == RW_CELL_PARAM || cell->cast_count > 0 ||
           (cell->kind == RW_CELL_STRING && len > 0 && cell->text.ptr[len - 1] == ' ');
}

/* Whether what is hashed may depend on the column's typmod. A char's blanks are not hashed. */
static bool may_heed_typmod(uint32_t type)
{
    return type == PGW_VARCHAR || type == PGW_NUMERIC || type == PGW_TIMESTAMP ||
           type == PGW_TIMESTAMPTZ;
}

/* Whether the column's typmod may change what is hashed of these rows or, with `any`, of others. */
static bool heeds_typmod(const rw_insert *insert, size_t column, bool any)
{
    uint32_t type = insert->table->columns[column].type;
    int slot = rw_slot_of(insert->table, column);
    if (type != PGW_VARCHAR)
        return may_heed_typmod(type);
    for (size_t r = 0; r < insert->row_count && !any; r++)
        any = may_end_in_blank(&insert->rows[r].key[slot]);
    return any;
}

/* Whether a row leaves the column out and was hashed with NULL, for lack of a default. */
static bool heeds_default(const rw_insert *insert, size_t column)
{
    bool leaves = insert->leaves_null;
    int slot = rw_slot_of(insert->table, column);
    if (!rw_table_defaults_to_null(insert->table, column))
        return false;
    for (size_t r = 0; r < insert->row_count && !leaves; r++) {
        rw_cell_kind kind = insert->rows[r].key[slot].kind;
        leaves = kind == RW_CELL_ABSENT || kind == RW_CELL_DEFAULT;
    }
    return leaves;
}

bool rw_guard_heeds_default(const rw_insert *insert)
{
    bool heeds = false;
    for (size_t h = 0; h < insert->table->hash_key_count && !heeds; h++)
        heeds = heeds_default(insert, insert->table->hash_key[h]);
    return heeds && rw_guard_wanted(insert);
}

static bool heeds_type(const rw_insert *insert, size_t column)
{
    const rw_table *table = insert->table;
    for (size_t h = 0; h < table->hash_key_count; h++)
        if (table->hash_key[h] == column)
            return true;
    return insert->heeds_types && column != table->hash_column &&
           (insert->infers_all || (insert->infers != NULL && insert->infers[column]));
}

static bool heeds_list(const rw_insert *insert)
{
    return insert->list_made || insert->verb == RW_VERB_REPLACE;
}

static void add_and(bool *first, pgw_buf *out)
{
    if (!*first)
        pgw_buf_add_str(out, " and ");
    *first = false;
}

/* Adds a condition: TimeZone, by which the running statement casts what was bound, is `zone`. */
static void add_zone(const char *zone, pgw_buf *out)
{
    pgw_buf_add_str(out, "pg_catalog.current_setting('TimeZone')" EQUALS);
    rw_add_constant(out, pgw_slice_str(zone));
}

/* Adds all conditions; there is at least one, on the types of what is hashed. `any`: they hold for
 * whatever rows. */
static void add_all(const rw_insert *insert, bool any, pgw_buf *out)
{
    const rw_table *table = insert->table;
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!heeds_type(insert, i))
            continue;
        add_and(&first, out);
        add_type(table, i, out);
    }
    for (size_t h = 0; h < table->hash_key_count; h++) {
        if (!heeds_typmod(insert, table->hash_key[h], any || insert->query))
            continue;
        add_and(&first, out);
        add_typmod(table, table->hash_key[h], out);
    }
    for (size_t h = 0; h < table->hash_key_count; h++) {
        if (!heeds_default(insert, table->hash_key[h]))
            continue;
        add_and(&first, out);
        add_no_default(table, table->hash_key[h], out);
    }
    if (table->own_key) {
        add_and(&first, out);
        add_own_key(table, out);
    }
    if (insert->zone != NULL) {
        add_and(&first, out);
        add_zone(insert->zone, out);
    }
    if (!heeds_list(insert))
        return;
    add_and(&first, out);
    add_columns(table, out);
}

void rw_guard_conditions(const rw_insert *insert, pgw_buf *out)
{
    if (!rw_guard_wanted(insert))
        return;
    pgw_buf_add_str(out, " and ");
    add_triggers(insert->table, ON_INSERT | (insert->has_conflict ? ON_UPDATE : 0), out);
    pgw_buf_add_str(out, " and ");
    add_all(insert, true, out);
}

bool rw_guard_wanted(const rw_insert *insert)
{
    return insert->table->oid != 0;
}

bool rw_guard_reads(const rw_insert *insert)
{
    bool reads = heeds_list(insert) || insert->table->own_key;
    for (size_t h = 0; h < insert->table->hash_key_count && !reads; h++)
        reads = heeds_typmod(insert, insert->table->hash_key[h], insert->query);
    return (reads && rw_guard_wanted(insert)) || rw_guard_heeds_default(insert);
}

void rw_guard_hash_before(const rw_insert *insert, pgw_buf *out)
{
    pgw_buf_add_str(out, "case when ");
    add_all(insert, false, out);
    pgw_buf_add_str(out, " then ");
}

static void add_otherwise(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, " else ");
    rw_sql_fail(table, RW_CHANGED, table->hash_type, out);
    pgw_buf_add_str(out, " end");
}

void rw_guard_hash_behind(const rw_insert *insert, pgw_buf *out)
{
    add_otherwise(insert->table, out);
}

void rw_guard_new_key(const rw_table *table, const char *hash, pgw_buf *out)
{
    if (table->oid == 0) {
        pgw_buf_add_str(out, hash);
        return;
    }
    pgw_buf_add_str(out, "case when ");
    add_triggers(table, ON_INSERT | ON_UPDATE, out);
    if (table->own_key) {
        pgw_buf_add_str(out, " and ");
        add_own_key(table, out);
    }
    for (size_t h = 0; h < table->hash_key_count; h++) {
        pgw_buf_add_str(out, " and ");
        add_type(table, table->hash_key[h], out);
        if (!may_heed_typmod(table->columns[table->hash_key[h]].type))
            continue;
        pgw_buf_add_str(out, " and ");
        add_typmod(table, table->hash_key[h], out);
    }
    pgw_buf_addf(out, " then %s", hash);
    add_otherwise(table, out);
}

void rw_guard_before(pgw_buf *out)
{
    pgw_buf_add_str(out, "with keyspread_rows as (");
}

void rw_guard_behind(uint64_t rows, pgw_slice conditions, pgw_buf *out)
{
    pgw_buf_add_str(out, "\nreturning 1) select " DIVIDE
                         "(select pg_catalog.count(*) from keyspread_rows)" EQUALS);
    pgw_buf_add_unsigned(out, rows);
    pgw_buf_add_slice(out, conditions);
    pgw_buf_add_str(out, " then 1 else 0 end");
}
