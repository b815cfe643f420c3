#include "rewrite/statement/define/reference_tree.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/define/referable.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

/* --- the foreign keys of a statement --- */

typedef bool (*visitor)(void *context, const PgQuery__Constraint *key);

typedef struct visit {
    visitor see;
    void *context;
} visit;

static bool see_constraint(const visit *to, const PgQuery__Node *node)
{
    return node->node_case != PG_QUERY__NODE__NODE_CONSTRAINT ||
           node->constraint->contype != PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN ||
           node->constraint->pktable == NULL || to->see(to->context, node->constraint);
}

static bool see_element(const visit *to, const PgQuery__Node *node)
{
    if (node == NULL || node->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF)
        return node == NULL || see_constraint(to, node);
    const PgQuery__ColumnDef *column = node->column_def;
    bool fine = true;
    for (size_t i = 0; fine && i < column->n_constraints; i++)
        fine = see_constraint(to, column->constraints[i]);
    return fine;
}

static bool see_created(const visit *to, const PgQuery__CreateStmt *create)
{
    bool fine = true;
    for (size_t i = 0; fine && i < create->n_table_elts; i++)
        fine = see_element(to, create->table_elts[i]);
    return fine;
}

static bool see_altered(const visit *to, const PgQuery__AlterTableStmt *alter)
{
    bool fine = true;
    for (size_t i = 0; fine && i < alter->n_cmds; i++)
        fine = see_element(to, alter->cmds[i]->alter_table_cmd->def);
    return fine;
}

/* --- what one refers to --- */

/* Whether its list of columns, if there is one, is the key of the table. */
static bool is_of_key(const rw_table *table, const PgQuery__Constraint *key)
{
    bool same = key->n_pk_attrs == 0 || key->n_pk_attrs == table->primary_key_count;
    for (size_t i = 0; same && i < key->n_pk_attrs; i++) {
        size_t column = rw_table_column(table, pgw_slice_str(rw_node_name(key->pk_attrs[i])));
        same = false;
        for (size_t k = 0; k < table->primary_key_count; k++)
            same |= table->primary_key[k] == column;
    }
    return same;
}

/* The context: the table that is made. */
static bool is_of_other(void *context, const PgQuery__Constraint *key)
{
    const rw_table *made = context;
    const char *schema = key->pktable->schemaname;
    return strcmp(key->pktable->relname, made->name) != 0 ||
           (schema[0] != '\0' && strcmp(schema, made->schema) != 0) || !is_of_key(made, key);
}

bool rw_refers_to_itself(const rw_table *made, const PgQuery__CreateStmt *create)
{
    return !see_created(&(visit){is_of_other, (void *)made}, create);
}

/* --- what is put in --- */

/* The column that stands there in the primary key, less the hash, as it is in the backend, or as
 * the statement writes it that makes the table; NULL: that is not known. */
static const char *key_column(const rw_definer *it, const rw_table *table, bool itself, size_t i)
{
    if (itself && rw_key_count(&it->key) == table->primary_key_count)
        return rw_key_column(&it->key, i);
    return rw_referable_column(table, i);
}

/* REFERENCES t means the primary key, which the hash is in: the columns are written out. */
static bool put_columns(rw_definer *it, const rw_table *table, bool itself,
                        const PgQuery__Constraint *key)
{
    const PgQuery__RangeVar *name = key->pktable;
    pgw_buf text = {0};
    if (itself && it->key.key == NULL)
        return true; /* PostgreSQL refuses it */
    for (size_t i = 0; i < table->primary_key_count; i++) {
        const char *column = key_column(it, table, itself, i);
        if (column == NULL) {
            pgw_buf_free(&text);
            pgw_fail(it->error, "0A000",
                     "cannot tell the order of the primary key of table \"%s\", which is made in "
                     "the same text",
                     table->name);
            return rw_define_refuse(it, name->location, "Write REFERENCES with a list of columns.");
        }
        pgw_buf_add_str(&text, i > 0 ? ", " : " (");
        rw_add_identifier(&text, column);
    }
    pgw_buf_add_byte(&text, ')');
    rw_define_change_name(it, name, &text);
    return true;
}

typedef struct referrer {
    rw_definer *it;
    const rw_catalog *catalog;
    pgw_buf blocks;
} referrer;

static bool refer(void *context, const PgQuery__Constraint *key)
{
    referrer *from = context;
    rw_definer *it = from->it;
    bool itself = it->made && !is_of_other((void *)it->table, key);
    const rw_table *table = itself ? it->table : rw_define_altered(from->catalog, key->pktable);
    if (table == NULL || !is_of_key(table, key) ||
        (!itself && !rw_define_is_sure(from->catalog, table, key->pktable)))
        return true;
    if (key->n_pk_attrs == 0 && !put_columns(it, table, itself, key))
        return false;
    if (!itself)
        rw_referable_block(table, &from->blocks);
    return true;
}

bool rw_references_define(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    referrer from = {.it = it, .catalog = catalog};
    const visit to = {refer, &from};
    bool fine = true;
    if (statement->node_case == PG_QUERY__NODE__NODE_CREATE_STMT)
        fine = see_created(&to, statement->create_stmt);
    else if (statement->node_case == PG_QUERY__NODE__NODE_ALTER_TABLE_STMT)
        fine = see_altered(&to, statement->alter_table_stmt);
    if (fine && from.blocks.len > 0)
        it->out->before = rw_define_do(it, pgw_slice_buf(&from.blocks));
    pgw_buf_free(&from.blocks);
    return fine;
}
