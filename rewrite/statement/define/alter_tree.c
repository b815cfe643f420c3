#include "rewrite/statement/define/alter_tree.h"

#include "rewrite/statement/define/parts_tree.h"
#include "rewrite/statement/tree/parse_tree.h"

#include <string.h>

/* What would take the hash column away, or fill it otherwise, is refused. */
static bool keep_hash(rw_definer *it, const PgQuery__RangeVar *relation, const char *column)
{
    if (strcmp(column, rw_define_hash(it->table)) != 0)
        return true;
    pgw_fail(it->error, "0A000", "cannot change column \"%s\" of table \"%s\" through keyspread",
             column, it->table->name);
    pgw_error_detail(it->error, "keyspread stores the hash of each row there.");
    return rw_define_refuse(it, relation->location,
                            "Take the table out of keyspread's configuration first.");
}

/* Without a column that the hashes are made of, no row would be found or stored again. */
static bool keep_hashed(rw_definer *it, const PgQuery__RangeVar *relation, const char *column)
{
    const rw_table *table = it->table;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        if (strcmp(table->columns[table->hash_key[i]].name, column) != 0)
            continue;
        pgw_fail(it->error, "0A000", "cannot drop column \"%s\" of table \"%s\" through keyspread",
                 column, table->name);
        pgw_error_detail(it->error, "The hash of each row is made of it.");
        return rw_define_refuse(it, relation->location,
                                "Take the table out of keyspread's configuration first, or take "
                                "the column out of its hash_key and store the hashes anew.");
    }
    return keep_hash(it, relation, column);
}

/* --- keys that are added --- */

static bool add_key(rw_definer *it, const rw_written_key *written,
                    const PgQuery__RangeVar *relation)
{
    const PgQuery__Constraint *key = written->key;
    if (key->indexname != NULL && key->indexname[0] != '\0') {
        pgw_fail(it->error, "0A000",
                 "cannot make index \"%s\" the primary key of table \"%s\" through keyspread",
                 key->indexname, it->table->name);
        return rw_define_refuse(it, relation->location, "Write ADD PRIMARY KEY with its columns.");
    }
    if (rw_key_uses(written, rw_define_hash(it->table)) > 0)
        return true;
    for (size_t i = 0; i < rw_key_count(written) && !rw_key_is_right(it->table, written); i++) {
        const char *name = rw_key_column(written, i);
        if (rw_key_uses(written, name) > 1 ||
            rw_table_column(it->table, pgw_slice_str(name)) == it->table->column_count)
            return true; /* PostgreSQL refuses it */
    }
    return rw_define_key(it, written);
}

static bool take_key(rw_written_key *out, const PgQuery__AlterTableCmd *command)
{
    *out = (rw_written_key){0};
    if (command->def != NULL)
        rw_take_key(out, command->def, NULL);
    if (command->def != NULL && command->def->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
        rw_take_key_of(out, command->def->column_def);
    return out->key != NULL;
}

/* --- the key that is there --- */

static bool is_of_key(const rw_table *table, const char *column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (strcmp(table->columns[table->primary_key[i]].name, column) == 0)
            return true;
    return false;
}

/* Whether it adds a key that begins as the one that was. */
static bool adds_key(const rw_definer *it, const PgQuery__AlterTableStmt *alter)
{
    rw_written_key written;
    const rw_table *table = it->table;
    for (size_t i = 0; i < alter->n_cmds; i++)
        if (take_key(&written, alter->cmds[i]->alter_table_cmd) && rw_key_count(&written) > 0)
            return strcmp(rw_key_column(&written, 0), table->columns[table->hash_key[0]].name) == 0;
    return false;
}

static bool is_same_name(const PgQuery__RangeVar *a, const PgQuery__RangeVar *b)
{
    return strcmp(a->relname, b->relname) == 0 && strcmp(a->schemaname, b->schemaname) == 0;
}

/* Whether the statement behind this one adds a key that begins as the one that was, to the same
 * table. */
static bool next_adds_key(const rw_definer *it, const PgQuery__AlterTableStmt *alter)
{
    PgQuery__ParseResult *next =
        it->next.len > 0 ? rw_parse_tree(it->next, it->env, it->arena) : NULL;
    if (next == NULL)
        return false;
    const PgQuery__Node *statement = next->n_stmts == 1 ? next->stmts[0]->stmt : NULL;
    bool adds = statement != NULL &&
                statement->node_case == PG_QUERY__NODE__NODE_ALTER_TABLE_STMT &&
                is_same_name(statement->alter_table_stmt->relation, alter->relation) &&
                adds_key(it, statement->alter_table_stmt);
    pg_query__parse_result__free_unpacked(next, NULL);
    return adds;
}

/* Nothing else would say what the hashes are made of. */
static bool keep_key(rw_definer *it, const PgQuery__AlterTableStmt *alter)
{
    const rw_table *table = it->table;
    bool kept = !table->own_key;
    for (size_t i = 0; !kept && i < alter->n_cmds; i++) {
        const PgQuery__AlterTableCmd *command = alter->cmds[i]->alter_table_cmd;
        bool column = command->subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn &&
                      is_of_key(table, command->name);
        bool key = command->subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_DropConstraint &&
                   table->key_name != NULL && strcmp(command->name, table->key_name) == 0;
        if (!column && (!key || adds_key(it, alter) || next_adds_key(it, alter)))
            continue;
        pgw_fail(it->error, "0A000",
                 "cannot take the primary key of table \"%s\" away through keyspread", table->name);
        pgw_error_detail(it->error, "keyspread hashes its first column, and knows of no other.");
        return rw_define_refuse(it, alter->relation->location,
                                "Give the table an entry of its own in keyspread's configuration "
                                "first, or add a key that begins with the same column in the same "
                                "ALTER TABLE, or in the next statement of the same Query.");
    }
    return true;
}

/* --- the statement --- */

static bool check_command(rw_definer *it, const PgQuery__AlterTableCmd *command,
                          const PgQuery__RangeVar *relation)
{
    rw_written_key written;
    if (it->table->in_parts && command->def != NULL && !rw_parts_check_constraint(it, command->def))
        return false;
    switch (command->subtype) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddConstraint:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddColumn:
        return !take_key(&written, command) || add_key(it, &written, relation);
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn:
        return keep_hashed(it, relation, command->name);
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ColumnDefault:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropNotNull:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddIdentity:
        return keep_hash(it, relation, command->name);
    default:
        return true;
    }
}

bool rw_alter_table(rw_definer *it, const PgQuery__AlterTableStmt *alter)
{
    it->joint = ", ADD ";
    rw_parts_whole(it, it->table, alter->relation);
    if (!keep_key(it, alter))
        return false;
    for (size_t i = 0; i < alter->n_cmds; i++)
        if (!check_command(it, alter->cmds[i]->alter_table_cmd, alter->relation))
            return false;
    if (it->behind.len > 0)
        rw_define_change(it, it->text.len, &it->behind);
    return true;
}

bool rw_rename_column(rw_definer *it, const PgQuery__RenameStmt *rename)
{
    return keep_hash(it, rename->relation, rename->subname);
}
