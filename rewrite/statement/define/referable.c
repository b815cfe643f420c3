#include "rewrite/statement/define/referable.h"

#include "protocol/value_text.h"
#include "rewrite/lex/quote.h"

#include <stdio.h>
#include <string.h>

/* How many columns of the key stand before that place, the hash not counted. */
static size_t columns_before(const rw_table *table, int16_t place)
{
    size_t before = 0;
    for (size_t i = 0; i < table->primary_key_count; i++)
        before += table->columns[table->primary_key[i]].key_place < place;
    return before;
}

const char *rw_referable_column(const rw_table *table, size_t i)
{
    for (size_t k = 0; k < table->primary_key_count; k++) {
        const rw_column *column = &table->columns[table->primary_key[k]];
        if (table->primary_key_count == 1 ||
            (column->key_place > 0 && columns_before(table, column->key_place) == i))
            return column->name;
    }
    return NULL;
}

static void add_key(const rw_table *table, const char *const *key, pgw_buf *out)
{
    for (size_t i = 0; i < table->primary_key_count; i++) {
        const char *name = key != NULL ? key[i] : rw_referable_column(table, i);
        pgw_buf_add_str(out, i > 0 ? ", " : "(");
        rw_add_identifier(out, name != NULL ? name : table->columns[table->primary_key[i]].name);
    }
    pgw_buf_add_byte(out, ')');
}

void rw_referable_constraint(const rw_table *table, const char *const *key, pgw_buf *out)
{
    char name[PGW_NAME_MAX + 1];
    pgw_slice cut =
        pgw_utf8_cut(pgw_slice_str(table->name), PGW_NAME_MAX - strlen(RW_REFERABLE_PREFIX));
    snprintf(name, sizeof name, "%s%.*s", RW_REFERABLE_PREFIX, (int)cut.len, cut.ptr);
    pgw_buf_add_str(out, "CONSTRAINT ");
    rw_add_identifier(out, name);
    pgw_buf_add_str(out, " UNIQUE ");
    add_key(table, key, out);
}

static void add_name(const rw_table *table, pgw_buf *out)
{
    rw_add_identifier(out, table->schema);
    pgw_buf_add_byte(out, '.');
    rw_add_identifier(out, table->name);
}

void rw_referable_oid(const rw_table *table, pgw_buf *out)
{
    pgw_buf name = {0};
    add_name(table, &name);
    pgw_buf_add_str(out, "pg_catalog.to_regclass(");
    rw_add_name_constant(out, pgw_slice_buf(&name));
    pgw_buf_add_byte(out, ')');
    pgw_buf_free(&name);
}

void rw_referable_declare(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, "declare t pg_catalog.oid := ");
    rw_referable_oid(table, out);
    pgw_buf_add_str(out, "; ");
}

/* Whether a foreign key would find what it needs, or the table is not there. */
static void add_is_fine(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, "t is null or exists (select from pg_catalog.pg_index x where x.indrelid ="
                         " t and x.indisunique and x.indimmediate and x.indpred is null"
                         " and x.indexprs is null and x.indnkeyatts = ");
    pgw_buf_addf(out, "%zu", table->primary_key_count);
    pgw_buf_add_str(out, " and not exists (select from pg_catalog.unnest(x.indkey)"
                         " with ordinality k(number, place) join pg_catalog.pg_attribute a"
                         " on a.attrelid = t and a.attnum = k.number"
                         " where k.place <= x.indnkeyatts and a.attname not in (");
    for (size_t i = 0; i < table->primary_key_count; i++) {
        pgw_buf_add_str(out, i > 0 ? ", " : "");
        rw_add_name_constant(out, pgw_slice_str(table->columns[table->primary_key[i]].name));
    }
    pgw_buf_add_str(out, ")))");
}

static void add_refusal(const rw_table *table, pgw_buf *out)
{
    pgw_buf message = {0};
    pgw_buf_addf(&message,
                 "cannot refer to table \"%s\", which is in partitions, by a foreign key through "
                 "keyspread",
                 table->name);
    pgw_buf_add_str(out, "raise exception using errcode = '0A000', message = ");
    rw_add_name_constant(out, pgw_slice_buf(&message));
    pgw_buf_add_str(out,
                    ", hint = 'A partitioned table holds no UNIQUE without its hash column. With"
                    " partitions: { buckets: N } in keyspread''s configuration CREATE TABLE makes"
                    " an ordinary table, which does.'; ");
    pgw_buf_free(&message);
}

void rw_referable_block(const rw_table *table, pgw_buf *out)
{
    rw_referable_declare(table, out);
    pgw_buf_add_str(out, "begin if not (");
    add_is_fine(table, out);
    pgw_buf_add_str(out, ") then if exists (select from pg_catalog.pg_class c where c.oid = t"
                         " and c.relkind = 'p') then ");
    add_refusal(table, out);
    pgw_buf_add_str(out, "end if; begin alter table ");
    add_name(table, out);
    pgw_buf_add_str(out, " add ");
    rw_referable_constraint(table, NULL, out);
    pgw_buf_add_str(
        out, "; exception when insufficient_privilege or wrong_object_type or duplicate_table"
             " or duplicate_object then null; end; end if; end; ");
}
