/*
 * Partitions are made by a DO behind the statement, which looks whether it is the table that they
 * belong to: with IF NOT EXISTS another one may be there.
 */
#include "rewrite/statement/define/parts_tree.h"

#include "rewrite/hash/hash_column.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/define/referable.h"
#include "rewrite/statement/define/reference_tree.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

/* PostgreSQL takes a lock for each, and has room for 6,400 by default. */
enum { MOST = 1000 };

/* --- what is refused --- */

static bool refuse(rw_definer *it, const char *what, int32_t location)
{
    pgw_fail(it->error, "0A000", "table \"%s\" cannot have %s: it is cut into partitions",
             it->table->name, what);
    return rw_define_refuse(it, location,
                            "With partitions: { buckets: N } in keyspread's configuration CREATE "
                            "TABLE makes an ordinary table, which takes it.");
}

/* What PostgreSQL can check in each partition: columns with the hash among them. */
static bool holds_hash(const rw_definer *it, const PgQuery__Constraint *constraint)
{
    bool holds = false;
    for (size_t i = 0; i < constraint->n_keys; i++)
        holds |= strcmp(rw_node_name(constraint->keys[i]), rw_define_hash(it->table)) == 0;
    return holds;
}

bool rw_parts_check_constraint(rw_definer *it, const PgQuery__Node *node)
{
    if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF) {
        bool fine = true;
        for (size_t i = 0; fine && i < node->column_def->n_constraints; i++)
            fine = rw_parts_check_constraint(it, node->column_def->constraints[i]);
        return fine;
    }
    if (node->node_case != PG_QUERY__NODE__NODE_CONSTRAINT)
        return true;
    const PgQuery__Constraint *constraint = node->constraint;
    if (constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_EXCLUSION)
        return refuse(it, "an EXCLUDE", constraint->location);
    bool unique = constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE &&
                  constraint->indexname[0] == '\0';
    return !unique || holds_hash(it, constraint) ||
           refuse(it, "a UNIQUE without its hash column", constraint->location);
}

bool rw_parts_check(rw_definer *it, const PgQuery__CreateStmt *create)
{
    int32_t location = create->relation->location;
    if (it->table->partitions.count > MOST)
        return refuse(it, "more than 1000 partitions when it is made by a client", location);
    if (create->n_inh_relations > 0)
        return refuse(it, "a parent", location);
    if (create->partspec != NULL)
        return refuse(it, "other partitions", location);
    if (create->access_method[0] != '\0')
        return refuse(it, "an access method", location);
    if (rw_refers_to_itself(it->table, create))
        return refuse(it, "a foreign key to itself", location);
    bool fine = true;
    for (size_t i = 0; fine && i < create->n_table_elts; i++)
        fine = rw_parts_check_constraint(it, create->table_elts[i]);
    return fine;
}

/* --- ONLY --- */

void rw_parts_whole(rw_definer *it, const rw_table *table, const PgQuery__RangeVar *name)
{
    bool cut = table->oid == 0 ? rw_table_is_partitioned(table) : table->in_parts;
    if (cut && !name->inh && !table->listed)
        rw_define_whole(it, name);
}

static void name_whole(rw_definer *it, const PgQuery__RangeVar *name, const rw_catalog *catalog)
{
    const rw_table *table = rw_define_altered(catalog, name);
    if (table != NULL)
        rw_parts_whole(it, table, name);
}

static void names_whole(rw_definer *it, PgQuery__Node *const *names, size_t count,
                        const rw_catalog *catalog)
{
    for (size_t i = 0; i < count; i++)
        if (names[i]->node_case == PG_QUERY__NODE__NODE_RANGE_VAR)
            name_whole(it, names[i]->range_var, catalog);
}

void rw_parts_name_whole(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    if (statement->node_case == PG_QUERY__NODE__NODE_INDEX_STMT)
        name_whole(it, statement->index_stmt->relation, catalog);
    else if (statement->node_case == PG_QUERY__NODE__NODE_TRUNCATE_STMT)
        names_whole(it, statement->truncate_stmt->relations, statement->truncate_stmt->n_relations,
                    catalog);
    else if (statement->node_case == PG_QUERY__NODE__NODE_LOCK_STMT)
        names_whole(it, statement->lock_stmt->relations, statement->lock_stmt->n_relations,
                    catalog);
}

/* --- partitions --- */

/* What each partition takes from the statement that makes the table. */
typedef struct created {
    bool unlogged;
    pgw_slice options; /* WITH (…), as it is written; empty: none */
} created;

/* `name`, but with what s holds behind it, inside of its quotes. */
static void add_with_suffix(pgw_slice name, const pgw_buf *behind, pgw_buf *block)
{
    pgw_buf end = {0};
    pgw_buf_add_byte(&end, '"');
    pgw_buf_add_slice(&end, pgw_slice_buf(behind));
    pgw_buf_add_str(block, "pg_catalog.concat(");
    rw_add_name_constant(block, (pgw_slice){name.ptr, name.len - 1});
    pgw_buf_add_str(block, ", s, ");
    rw_add_name_constant(block, pgw_slice_buf(&end));
    pgw_buf_add_byte(block, ')');
    pgw_buf_free(&end);
}

/* Partitions keep their names when their table is renamed: those of a new one may be taken. */
static void find_suffix(const rw_table *table, pgw_buf *block)
{
    pgw_buf name = {0}, nothing = {0};
    rw_hash_column_partition_name(table, 0, &name);
    pgw_buf_add_str(block, "while pg_catalog.to_regclass(");
    add_with_suffix(pgw_slice_buf(&name), &nothing, block);
    pgw_buf_add_str(block, ") is not null loop s := pg_catalog.concat(s, '_'); end loop; ");
    pgw_buf_free(&name);
}

/* PostgreSQL takes WITH (…) of each partition, and not of the table. */
static pgw_slice take_options(rw_definer *it, const PgQuery__CreateStmt *create, size_t at)
{
    rw_lexer lexer;
    size_t end = at;
    if (create->n_options == 0)
        return (pgw_slice){"", 0};
    rw_lexer_init(&lexer, it->text, it->env->conforming);
    lexer.at = at;
    size_t start = rw_lexer_next(&lexer).start;
    rw_define_skip(it, &lexer, &end);
    rw_define_cut(it, start, lexer.at);
    return (pgw_slice){it->text.ptr + start, lexer.at - start};
}

static void add_partition(const rw_table *table, uint32_t number, const created *as, pgw_buf *block)
{
    pgw_buf text = {0}, behind = {0};
    pgw_buf_add_str(&text, as->unlogged ? "CREATE UNLOGGED TABLE " : "CREATE TABLE ");
    rw_hash_column_partition_name(table, number, &text);
    rw_hash_column_partition_of(table, number, &behind);
    pgw_buf_add_str(&behind, as->options.len > 0 ? " " : "");
    pgw_buf_add_slice(&behind, as->options);
    pgw_buf_add_str(block, "execute ");
    add_with_suffix(pgw_slice_buf(&text), &behind, block);
    pgw_buf_add_str(block, "; ");
    pgw_buf_free(&text);
    pgw_buf_free(&behind);
}

void rw_parts_define(rw_definer *it, const PgQuery__CreateStmt *create, size_t at)
{
    created as = {.unlogged = strcmp(create->relation->relpersistence, "u") == 0};
    pgw_buf by = {0}, block = {0};
    rw_hash_column_partition_by(it->table, &by);
    rw_define_change(it, at, &by);
    as.options = take_options(it, create, at);
    rw_referable_declare(it->table, &block);
    pgw_buf_add_str(
        &block, "s text := ''; begin if exists (select from pg_catalog.pg_class c where c.oid = t"
                " and c.relkind = 'p') and not exists (select from"
                " pg_catalog.pg_inherits i where i.inhparent = t) then ");
    find_suffix(it->table, &block);
    for (uint32_t i = 0; i < it->table->partitions.count; i++)
        add_partition(it->table, i, &as, &block);
    pgw_buf_add_str(&block, "end if; end; ");
    it->out->behind = rw_define_do(it, pgw_slice_buf(&block));
    pgw_buf_free(&block);
}
