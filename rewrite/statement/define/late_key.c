/*
 * The server alone knows what the table is like, and whether it has rows, which would have no hash.
 * So a DO behind the statement looks at it, in the same transaction, and makes the key anew with
 * the hash in it; or leaves it as it is, an ordinary table.
 */
#include "rewrite/statement/define/late_key.h"

#include "protocol/types.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/define/define_pattern.h"

#include <string.h>

/* --- what the server is asked --- */

/* The types that may be hashed; of all columns of the key, or of one that alone is. */
static void add_types(const rw_table *table, bool hashed, pgw_buf *out)
{
    static const uint32_t types[] = {
        PGW_BOOL,   PGW_BYTEA,   PGW_INT8, PGW_INT2,      PGW_INT4,        PGW_TEXT,    PGW_FLOAT8,
        PGW_BPCHAR, PGW_VARCHAR, PGW_DATE, PGW_TIMESTAMP, PGW_TIMESTAMPTZ, PGW_NUMERIC, PGW_UUID};
    const char *joint = "a.atttypid in (";
    pgw_error error;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (hashed && !rw_hash_supports(table->hash_function, &types[i], 1, &error))
            continue;
        pgw_buf_addf(out, "%s%u", joint, (unsigned)types[i]);
        joint = ", ";
    }
    pgw_buf_add_byte(out, ')');
}

/* Adds a condition: no column that the hash is made of is generated, so that its value can be
 * written. */
static void add_written(const rw_table *table, pgw_buf *out)
{
    const char *joint = "(a.attgenerated = '' or a.attname not in (";
    for (size_t i = 0; i < table->hash_key_count; i++) {
        pgw_buf_add_str(out, joint);
        rw_add_name_constant(out, pgw_slice_str(table->columns[table->hash_key[i]].name));
        joint = ", ";
    }
    pgw_buf_add_str(out, ")) and ");
}

/* No column of the key, `a`, is of a type or collation by which equal keys may have two hashes. */
static void add_can_be_hashed(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, "not exists (select from pg_catalog.pg_attribute a left join"
                         " pg_catalog.pg_collation l on l.oid = a.attcollation"
                         " where a.attrelid = t and a.attnum = any (c.conkey) and not (");
    add_written(table, out);
    add_types(table, false, out);
    pgw_buf_add_str(out, " and (l.oid is null or l.collnamespace = 11 and l.collname in"
                         " ('default', 'C', 'POSIX', 'ucs_basic'))))");
    if (table->hash_key_count > 1)
        return;
    pgw_buf_add_str(out, " and exists (select from pg_catalog.pg_attribute a"
                         " where a.attrelid = t and a.attname = ");
    rw_add_name_constant(out, pgw_slice_str(table->columns[table->hash_key[0]].name));
    pgw_buf_add_str(out, " and ");
    add_types(table, true, out);
    pgw_buf_add_byte(out, ')');
}

/* Adds a query that sets `k` to the name and `d` to the definition of the key, if the ordinary
 * table can be spread. */
static void add_search(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, "select c.conname, pg_catalog.pg_get_constraintdef(c.oid) into k, d"
                         " from pg_catalog.pg_class r join pg_catalog.pg_namespace n"
                         " on n.oid = r.relnamespace join pg_catalog.pg_constraint c"
                         " on c.conrelid = r.oid and c.contype = 'p' join pg_catalog.pg_class x"
                         " on x.oid = c.conindid and x.reloptions is null and x.reltablespace = 0"
                         " where r.oid = t"
                         " and r.relkind = 'r' and r.relpersistence <> 't' and r.reloftype = 0"
                         " and not r.relispartition and not r.relhassubclass and n.nspname = ");
    rw_add_name_constant(out, pgw_slice_str(table->schema));
    pgw_buf_add_str(out, " and not exists (select from pg_catalog.pg_inherits i"
                         " where i.inhrelid = t) and not exists (select from"
                         " pg_catalog.pg_constraint f where f.confrelid = t) and not exists"
                         " (select from pg_catalog.pg_attribute a where a.attrelid = t"
                         " and a.attname = h and not a.attisdropped) and ");
    add_can_be_hashed(table, out);
    pgw_buf_add_str(out, "; ");
}

/* The key of the definition `d`, with the hash in its list. */
#define KEY_WITH_HASH_FIRST "pg_catalog.replace(d, 'KEY (', pg_catalog.format('KEY (%I, ', h))"
#define LISTED "pg_catalog.substring(d, '^[^(]*[(](?:\"[^\"]*\"|[^\")])*')"
#define KEY_WITH_HASH_LAST                                                                         \
    "pg_catalog.format('%s, %I%s', " LISTED                                                        \
    ", h, pg_catalog.substr(d, 1 + pg_catalog.length(" LISTED ")))"

/* Whatever is against it, rows that row security hides among them, leaves the table as it is. Where
 * the server can compute the hashes of rows that are there, the column comes without values, and a
 * change of its type sets them, which fires no trigger. */
static void add_change(const rw_table *table, pgw_buf *out)
{
    pgw_buf column = {0};
    const char *key = table->hash_first ? KEY_WITH_HASH_FIRST : KEY_WITH_HASH_LAST;
    rw_hash_column_define(table, &column);
    pgw_buf_add_str(
        out, "if k is not null then begin execute pg_catalog.format("
             "'select exists (select from only %s)', t) into filled;"
             " if x is not null then execute pg_catalog.format('alter table %s add column %I ");
    pgw_buf_add_str(out, rw_hash_column_type(table));
    pgw_buf_add_str(
        out,
        "', t, h); execute pg_catalog.format('alter table %s drop constraint %I, alter column %I"
        " type ");
    pgw_buf_add_str(out, rw_hash_column_type(table));
    pgw_buf_add_str(out, " using %s, alter column %I set not null, add check (%I = %s),"
                         " add constraint %I %s', t, k, h, x, h, h, x, k, ");
    pgw_buf_add_str(out, key);
    pgw_buf_add_str(
        out,
        "); elsif not filled then execute pg_catalog.format('alter table %s drop constraint %I,"
        " add column %s, add constraint %I %s', t, k, ");
    rw_add_name_constant(out, pgw_slice_buf(&column));
    pgw_buf_add_str(out, ", k, ");
    pgw_buf_add_str(out, key);
    pgw_buf_add_str(out, "); end if; why := case when filled and x is null then 'it has rows, "
                         "which have no hash' end;"
                         " exception when others then why := sqlerrm; end; end if; ");
    pgw_buf_free(&column);
}

/* The client is told of a permanent table of this schema that stays as it is. */
static void add_warning(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(
        out, "if why is not null and exists (select from pg_catalog.pg_class r join"
             " pg_catalog.pg_namespace n on n.oid = r.relnamespace where r.oid = t"
             " and r.relkind in ('r', 'p') and r.relpersistence <> 't' and not r.relispartition"
             " and n.nspname = ");
    rw_add_name_constant(out, pgw_slice_str(table->schema));
    pgw_buf_add_str(out,
                    " and not exists (select from pg_catalog.pg_attribute a where a.attrelid = t"
                    " and a.attname = h and not a.attisdropped)) then raise warning"
                    " 'table \"%\" stays an ordinary table, which keyspread does not spread: %', ");
    rw_add_name_constant(out, pgw_slice_str(table->name));
    pgw_buf_add_str(
        out, ", why using hint = pg_catalog.format('Run keyspread migrate CONFIG %s --run, and then"
             " --cutover. Or make it with its primary key in CREATE TABLE, before its rows.', t);"
             " end if; end; ");
}

/* `x` is what computes the hash of a stored row in the server, or null. */
static void add_expression(const rw_table *table, pgw_buf *out)
{
    pgw_arena arena = {0};
    const char *expression = rw_hash_expression(table, false, &arena);
    pgw_buf_add_str(out, "x text := ");
    if (expression != NULL)
        rw_add_name_constant(out, pgw_slice_str(expression));
    else
        pgw_buf_add_str(out, "null");
    pgw_buf_add_str(out, "; ");
    pgw_arena_free(&arena);
}

static void add_block(const PgQuery__RangeVar *name, const rw_table *table, pgw_buf *out)
{
    pgw_buf written = {0};
    if (name->schemaname[0] != '\0') {
        rw_add_identifier(&written, name->schemaname);
        pgw_buf_add_byte(&written, '.');
    }
    rw_add_identifier(&written, name->relname);
    pgw_buf_add_str(out, "declare t pg_catalog.regclass := pg_catalog.to_regclass(");
    rw_add_name_constant(out, pgw_slice_buf(&written));
    pgw_buf_add_str(out, "); h text := ");
    rw_add_name_constant(out, pgw_slice_str(rw_define_hash(table)));
    pgw_buf_add_str(
        out, "; k text; d text; filled boolean; why text := 'its form, or its key, is none that"
             " can get a hash'; ");
    add_expression(table, out);
    pgw_buf_add_str(out, "begin ");
    if (rw_table_is_partitioned(table)) {
        pgw_buf_add_str(out, "why := 'ALTER TABLE cannot cut it into partitions'; ");
    } else {
        add_search(table, out);
        add_change(table, out);
    }
    add_warning(table, out);
    pgw_buf_free(&written);
}

/* --- the statement --- */

/* Takes the only primary key that the statement adds, by columns that it writes. False: none. */
static bool take_key(const PgQuery__AlterTableStmt *alter, rw_written_key *out)
{
    *out = (rw_written_key){0};
    for (size_t i = 0; i < alter->n_cmds; i++) {
        const PgQuery__Node *def = alter->cmds[i]->alter_table_cmd->def;
        if (def != NULL)
            rw_take_key(out, def, NULL);
        if (def != NULL && def->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
            rw_take_key_of(out, def->column_def);
    }
    return out->key != NULL && out->keys == 1 && rw_key_count(out) > 0;
}

void rw_late_key_define(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    rw_written_key key;
    const PgQuery__AlterTableStmt *alter =
        statement->node_case == PG_QUERY__NODE__NODE_ALTER_TABLE_STMT ? statement->alter_table_stmt
                                                                      : NULL;
    if (alter == NULL || alter->objtype != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE ||
        it->out->behind.len > 0 || rw_define_table(catalog, alter->relation) != NULL ||
        rw_define_table(catalog->planned, alter->relation) != NULL || !take_key(alter, &key))
        return;
    const rw_table *table = rw_define_by_late_key(it, catalog, alter->relation, &key);
    if (table == NULL)
        return;
    pgw_buf block = {0};
    add_block(alter->relation, table, &block);
    it->out->behind = rw_define_do(it, pgw_slice_buf(&block));
    if (!rw_table_is_partitioned(table))
        it->out->made = table; /* Later statements of the text find the table by `made`. */
    pgw_buf_free(&block);
}
