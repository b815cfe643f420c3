/*
 * LIKE knows no exception, so the column is dropped from the table that has just been made, with
 * what is made of it; and the key is added anew without it. UNIQUE that is there for foreign keys
 * alone (referable.h) is not to be copied, either.
 */
#include "rewrite/statement/define/like_tree.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/define/referable.h"

#include <string.h>

static bool refuse(rw_definer *it, const PgQuery__TableLikeClause *like, const char *how)
{
    pgw_fail(it->error, "0A000", "cannot make a table LIKE table \"%s\" %s through keyspread",
             like->relation->relname, how);
    return rw_define_refuse(it, like->relation->location, "List its columns.");
}

/* What the table that is made is called behind the statement: it stands where names are made. */
static void add_made(const PgQuery__RangeVar *made, pgw_buf *out)
{
    bool temporary = strcmp(made->relpersistence, "t") == 0;
    const char *schema = temporary ? "pg_temp" : made->schemaname;
    pgw_buf_add_str(out, "pg_catalog.to_regclass(pg_catalog.format('%I.%I', ");
    if (schema[0] != '\0')
        rw_add_constant(out, pgw_slice_str(schema));
    else
        pgw_buf_add_str(out, "pg_catalog.current_schema()");
    pgw_buf_add_str(out, ", ");
    rw_add_constant(out, pgw_slice_str(made->relname));
    pgw_buf_add_str(out, "))");
}

/* The UNIQUE of the same columns as that of the table that it is like. */
static void add_unique(const rw_table *table, pgw_buf *out)
{
    pgw_buf_add_str(out, "u := (select pg_catalog.min(c.conname::text) from"
                         " pg_catalog.pg_constraint c join pg_catalog.pg_constraint o"
                         " on pg_catalog.pg_get_constraintdef(o.oid) ="
                         " pg_catalog.pg_get_constraintdef(c.oid)"
                         " and pg_catalog.starts_with(o.conname::text, '" RW_REFERABLE_PREFIX
                         "') where c.conrelid = t and c.contype = 'u' and o.conrelid = ");
    rw_referable_oid(table, out);
    pgw_buf_add_str(out, "); if u is not null then execute pg_catalog.format('alter table %s drop"
                         " constraint %I', t, u); end if; ");
}

static void add_block(const PgQuery__RangeVar *made, const rw_table *table, pgw_buf *out)
{
    const char *hash = table->columns[table->hash_column].name;
    pgw_buf quoted = {0};
    rw_add_name_constant(&quoted, pgw_slice_str(hash));
    pgw_slice name = pgw_slice_buf(&quoted);
    pgw_buf_add_str(out, "declare t pg_catalog.regclass := ");
    add_made(made, out);
    pgw_buf_addf(out, "; h text := %.*s; k text; d text; u text; begin ", (int)name.len, name.ptr);
    pgw_buf_add_str(out,
                    "select c.conname, pg_catalog.replace(pg_catalog.replace("
                    "pg_catalog.pg_get_constraintdef(c.oid), pg_catalog.format('KEY (%I, ', h),"
                    " 'KEY ('), pg_catalog.format(', %I)', h), ')') into k, d"
                    " from pg_catalog.pg_constraint c join pg_catalog.pg_attribute a"
                    " on a.attrelid = t and a.attname = h and a.attnum = any (c.conkey)"
                    " where c.conrelid = t and c.contype = 'p'; ");
    add_unique(table, out);
    /* The table in LIKE has no hash if its key came in this Query and turned out to take none. */
    pgw_buf_add_str(out,
                    "if exists (select from pg_catalog.pg_attribute a where a.attrelid = t"
                    " and a.attname = h) then "
                    "execute pg_catalog.format('alter table %s drop column %I', t, h); end if; "
                    "if k is not null then execute pg_catalog.format('alter table %s add"
                    " constraint %I %s', t, k, d); end if; end; ");
    pgw_buf_free(&quoted);
}

bool rw_likes_define(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    if (statement->node_case != PG_QUERY__NODE__NODE_CREATE_STMT)
        return true;
    const PgQuery__CreateStmt *create = statement->create_stmt;
    bool fine = true;
    pgw_buf blocks = {0};
    if (it->copied)
        return true;
    for (size_t i = 0; fine && i < create->n_table_elts; i++) {
        if (create->table_elts[i]->node_case != PG_QUERY__NODE__NODE_TABLE_LIKE_CLAUSE)
            continue;
        const PgQuery__TableLikeClause *like = create->table_elts[i]->table_like_clause;
        const rw_table *table = rw_define_altered(catalog, like->relation);
        if (table == NULL || table->shows_hash ||
            !rw_define_is_sure(catalog, table, like->relation))
            continue;
        if (it->made || create->if_not_exists)
            fine = refuse(it, like, it->made ? "with another hash" : "with IF NOT EXISTS");
        else
            add_block(create->relation, table, &blocks);
    }
    if (fine && blocks.len > 0)
        it->out->behind = rw_define_do(it, pgw_slice_buf(&blocks));
    pgw_buf_free(&blocks);
    return fine;
}
