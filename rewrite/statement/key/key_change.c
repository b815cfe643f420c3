#include "rewrite/statement/key/key_change.h"

#include "rewrite/hash/hash_sql.h"
#include "rewrite/insert/default_text.h"
#include "rewrite/insert/guard.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/edit/set_list.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* The query that makes the values once a row. The client's names are looked up outside of it. */
#define ROWS "\"keyspread\""
#define VALUE "\"keyspread %zu\"" /* number of the hash_key column, from 0 */

typedef struct changer {
    const rw_table *table;
    const char *called; /* what the statement calls the table */
    pgw_slice text;
    bool conforming;
    pgw_arena *arena;
    rw_set_list set;
    const rw_set_value **values; /* new hash_key values; NULL: the column keeps its own */
    pgw_buf list;                /* array of rw_change */
} changer;

/* ---- what is set ---- */

/* The place of the value's column in hash_key; hash_key_count: it is not in it. */
static size_t slot_of(const rw_table *table, const rw_set_value *value)
{
    size_t column = rw_table_column(table, pgw_slice_str(value->target->name)), slot = 0;
    while (slot < table->hash_key_count && table->hash_key[slot] != column)
        slot++;
    return slot;
}

static const rw_column *column_of(const changer *it, size_t slot)
{
    return &it->table->columns[it->table->hash_key[slot]];
}

static bool is_kind(const rw_set_value *value, PgQuery__Node__NodeCase kind)
{
    return value->value->node_case == kind;
}

/* Whether the value has no type of its own, and gets that of its column. */
static bool is_untyped(const rw_set_value *value)
{
    if (!is_kind(value, PG_QUERY__NODE__NODE_A_CONST))
        return false;
    const PgQuery__AConst *constant = value->value->a_const;
    return constant->isnull || constant->val_case == PG_QUERY__A__CONST__VAL_SVAL;
}

static uint32_t parameter_of(const rw_set_value *value)
{
    return is_kind(value, PG_QUERY__NODE__NODE_PARAM_REF)
               ? (uint32_t)value->value->param_ref->number
               : 0;
}

static bool is_default(const rw_set_value *value)
{
    return is_kind(value, PG_QUERY__NODE__NODE_SET_TO_DEFAULT);
}

/* A default's text is written for standard_conforming_strings. */
static bool can_default(const changer *it, size_t slot)
{
    const rw_column *column = column_of(it, slot);
    if (column->default_text == NULL)
        return rw_table_defaults_to_null(it->table, it->table->hash_key[slot]);
    return !column->always && (it->conforming || strchr(column->default_text, '\\') == NULL);
}

static bool find_values(changer *it, const char **hint)
{
    for (size_t i = 0; i < it->set.value_count; i++) {
        const rw_set_value *value = &it->set.values[i];
        size_t slot = slot_of(it->table, value);
        *hint = "keyspread computes the hash column; leave it out.";
        if (pgw_slice_eq_str(pgw_slice_str(value->target->name),
                             it->table->columns[it->table->hash_column].name))
            return false;
        if (slot == it->table->hash_key_count)
            continue;
        *hint = "Write the columns of the key one by one, each with an expression of its own.";
        if (value->value == NULL || it->values[slot] != NULL || value->target->n_indirection > 0)
            return false;
        *hint = "Write the value instead of DEFAULT.";
        if (is_default(value) && !can_default(it, slot))
            return false;
        it->values[slot] = value;
    }
    return true;
}

/* ---- what is put in ---- */

static void add(changer *it, rw_change change)
{
    pgw_buf_add(&it->list, (const char *)&change, sizeof change);
}

static pgw_slice kept(const changer *it, pgw_buf *buf)
{
    return pgw_arena_keep(it->arena, buf);
}

static void put(changer *it, size_t at, const char *text)
{
    add(it, (rw_change){.at = at, .text = pgw_slice_str(text)});
}

/* Puts a part of the client's own text in at `at`. */
static void move(changer *it, size_t at, size_t start, size_t end)
{
    add(it, (rw_change){.at = at,
                        .text = {it->text.ptr + start, end - start},
                        .from = start + 1,
                        .moved = true});
}

/* Puts half of a cast to the column's type, without length or precision, around a value that has no
 * type of its own. */
static void put_cast(changer *it, size_t at, size_t slot, bool behind)
{
    const rw_set_value *value = it->values[slot];
    uint32_t parameter = parameter_of(value);
    if (parameter == 0 && !is_untyped(value))
        return;
    pgw_buf text = {0};
    pgw_buf_addf(&text, behind ? " as %s)" : "cast(", rw_hash_sql_type(column_of(it, slot)->type));
    add(it, (rw_change){.at = at, .text = kept(it, &text), .undeclared = parameter});
}

static void put_default(changer *it, size_t at, size_t slot)
{
    const rw_column *column = column_of(it, slot);
    pgw_buf text = {0};
    if (column->default_text != NULL) {
        pgw_buf_add_byte(&text, '(');
        rw_add_default(column->default_text, &text);
        pgw_buf_add_byte(&text, ')');
    } else {
        pgw_buf_addf(&text, "cast(null as %s)", rw_hash_sql_type(column->type));
    }
    add(it, (rw_change){.at = at, .text = kept(it, &text), .from = it->values[slot]->start + 1});
}

/* The columns that get values, of which errors are told where these stand. */
static void put_columns(changer *it, const rw_set_item *host, size_t cut)
{
    const rw_table *table = it->table;
    pgw_buf names = {0};
    pgw_buf_add_byte(&names, '(');
    for (size_t slot = 0; slot < table->hash_key_count; slot++) {
        if (it->values[slot] == NULL)
            continue;
        rw_add_identifier(&names, column_of(it, slot)->name);
        pgw_buf_add_str(&names, ", ");
    }
    rw_add_identifier(&names, table->columns[table->hash_column].name);
    pgw_buf_add_str(&names, ") = (SELECT");
    add(it, (rw_change){.at = host->start, .cut = cut, .text = kept(it, &names)});
    for (size_t slot = 0; slot < table->hash_key_count; slot++) {
        if (it->values[slot] == NULL)
            continue;
        pgw_buf value = {0};
        pgw_buf_addf(&value, " " ROWS "." VALUE ",", slot);
        add(it, (rw_change){.at = host->start + cut,
                            .text = kept(it, &value),
                            .from = it->values[slot]->start + 1});
    }
}

static void put_hash(changer *it, size_t at)
{
    const rw_table *table = it->table;
    const char **values = pgw_arena_alloc(it->arena, table->hash_key_count * sizeof *values);
    for (size_t slot = 0; slot < table->hash_key_count; slot++)
        values[slot] = pgw_arena_printf(it->arena, ROWS "." VALUE, slot);
    pgw_buf text = {0};
    pgw_buf_add_byte(&text, ' ');
    rw_guard_new_key(table, rw_hash_sql(table, values, it->arena), &text);
    pgw_buf_add_str(&text, " FROM (VALUES (");
    add(it, (rw_change){.at = at, .text = kept(it, &text)});
}

static void put_own(changer *it, size_t at, size_t column)
{
    pgw_buf text = {0};
    rw_add_identifier(&text, it->called);
    pgw_buf_add_byte(&text, '.');
    rw_add_identifier(&text, it->table->columns[column].name);
    add(it, (rw_change){.at = at, .text = kept(it, &text)});
}

/* One more column of VALUES; `here` (SIZE_MAX: none) is the one whose value stands there already.
 */
static void put_value(changer *it, size_t at, size_t slot, size_t here)
{
    const rw_set_value *value = it->values[slot];
    if (value == NULL) {
        put_own(it, at, it->table->hash_key[slot]);
    } else if (is_default(value)) {
        put_default(it, at, slot);
    } else {
        if (slot != here) {
            put_cast(it, at, slot, false);
            move(it, at, value->start, value->end);
        }
        put_cast(it, at, slot, true);
    }
}

/* Puts the end of the subquery. Its OFFSET refers to the row's own hash, so that each value is
 * computed once for each row. */
static void put_end(changer *it, size_t at, size_t here)
{
    const rw_table *table = it->table;
    bool first = here == SIZE_MAX;
    if (!first)
        put_value(it, at, here, here);
    for (size_t slot = 0; slot < table->hash_key_count; slot++) {
        if (slot == here)
            continue;
        if (!first)
            put(it, at, ", ");
        put_value(it, at, slot, here);
        first = false;
    }
    put(it, at, ") OFFSET 0 operator(pg_catalog.*) pg_catalog.num_nulls(");
    put_own(it, at, table->hash_column);
    pgw_buf names = {0};
    pgw_buf_add_str(&names, ")) " ROWS "(");
    for (size_t i = 0; i < table->hash_key_count; i++) {
        size_t slot = here == SIZE_MAX ? i : i == 0 ? here : i <= here ? i - 1 : i;
        pgw_buf_addf(&names, i == 0 ? VALUE : ", " VALUE, slot);
    }
    pgw_buf_add_str(&names, "))");
    add(it, (rw_change){.at = at, .text = kept(it, &names)});
}

/* ---- the items ---- */

static bool holds_key(const changer *it, const rw_set_item *item)
{
    for (size_t i = 0; i < item->count; i++)
        if (slot_of(it->table, &it->set.values[item->first + i]) < it->table->hash_key_count)
            return true;
    return false;
}

/* Columns that are none of the key's, of a list that is taken apart. */
static void put_others(changer *it, const rw_set_item *item, size_t at)
{
    for (size_t i = 0; i < item->count; i++) {
        const rw_set_value *value = &it->set.values[item->first + i];
        if (slot_of(it->table, value) < it->table->hash_key_count)
            continue;
        put(it, at, ", ");
        move(it, at, value->name, value->name_end);
        put(it, at, " = ");
        move(it, at, value->start, value->end);
    }
}

/* The first item that sets a column of the key gets all of them. */
static void put_host(changer *it, const rw_set_item *host)
{
    const rw_set_value *only = &it->set.values[host->first];
    bool stays = !host->listed && !is_default(only);
    size_t cut = (stays ? only->start : host->end) - host->start;
    size_t here = stays ? slot_of(it->table, only) : SIZE_MAX;
    put_columns(it, host, cut);
    put_hash(it, host->start + cut);
    if (stays)
        put_cast(it, only->start, here, false);
    put_end(it, host->end, here);
}

static void put_all(changer *it)
{
    const rw_set_item *host = NULL;
    for (size_t i = 0; i < it->set.item_count; i++)
        if (host == NULL && holds_key(it, &it->set.items[i]))
            put_host(it, host = &it->set.items[i]);
    assert(host != NULL); /* A statement whose items leave the key alone does not come here. */
    for (const rw_set_item *item = host; item < it->set.items + it->set.item_count; item++)
        if (holds_key(it, item))
            put_others(it, item, host->end);
    for (const rw_set_item *item = host + 1; item < it->set.items + it->set.item_count; item++)
        if (holds_key(it, item))
            add(it, (rw_change){.at = item->comma,
                                .cut = item->end - item->comma,
                                .text = PGW_LITERAL("")});
}

/* A parameter without a type has that of its first use, which would be another. */
static uint32_t shared_of(const changer *it, const rw_set_value *value)
{
    uint32_t parameter = parameter_of(value);
    return parameter > 0 && rw_parameter_uses(it->text, it->conforming, parameter) > 1 ? parameter
                                                                                       : 0;
}

static void tell_values(const changer *it, rw_key_change *out)
{
    rw_new_value *values = pgw_arena_alloc(it->arena, it->table->hash_key_count * sizeof *values);
    for (size_t slot = 0; slot < it->table->hash_key_count; slot++)
        if (it->values[slot] != NULL)
            values[out->value_count++] = (rw_new_value){.column = column_of(it, slot),
                                                        .at = it->values[slot]->start,
                                                        .shared = shared_of(it, it->values[slot])};
    out->values = values;
}

bool rw_key_change_find(const PgQuery__UpdateStmt *update, const rw_table *table, pgw_slice text,
                        bool conforming, pgw_arena *arena, rw_key_change *out)
{
    const PgQuery__Alias *alias = update->relation->alias;
    changer it = {.table = table,
                  .called = alias != NULL ? alias->aliasname : update->relation->relname,
                  .text = text,
                  .conforming = conforming,
                  .arena = arena,
                  .values = pgw_arena_alloc(arena, table->hash_key_count * sizeof *it.values)};
    *out = (rw_key_change){.hint = "Delete the row and insert it with its new key."};
    if (!rw_key_may_change(table) || !rw_set_list_read(update, text, conforming, arena, &it.set) ||
        !find_values(&it, &out->hint))
        return false;
    put_all(&it);
    out->table = table;
    out->count = it.list.len / sizeof(rw_change);
    out->list = (const void *)kept(&it, &it.list).ptr;
    tell_values(&it, out);
    return true;
}
