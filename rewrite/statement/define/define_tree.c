/*
 * A column is added behind the list of the client's own, for there a writer that does not know of
 * it gets an error and no shift. The key gets it in front or at its end; a key that is written with
 * its column moves behind the list, with its name and its options.
 */
#include "rewrite/statement/define/define_tree.h"

#include "rewrite/hash/hash_column.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/define/alter_tree.h"
#include "rewrite/statement/define/define_pattern.h"
#include "rewrite/statement/define/heirs_tree.h"
#include "rewrite/statement/define/late_key.h"
#include "rewrite/statement/define/like_tree.h"
#include "rewrite/statement/define/parts_tree.h"
#include "rewrite/statement/define/referable.h"
#include "rewrite/statement/define/reference_tree.h"

#include <string.h>

enum { LIKE_INDEXES = 1 << 6 }; /* CREATE_TABLE_LIKE_INDEXES */

/* --- CREATE TABLE --- */

static bool defines(const PgQuery__CreateStmt *create, const char *name)
{
    for (size_t i = 0; i < create->n_table_elts; i++) {
        const PgQuery__Node *node = create->table_elts[i];
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF &&
            strcmp(node->column_def->colname, name) == 0)
            return true;
    }
    return false;
}

static const PgQuery__TableLikeClause *like_of(const PgQuery__CreateStmt *create)
{
    for (size_t i = 0; i < create->n_table_elts; i++)
        if (create->table_elts[i]->node_case == PG_QUERY__NODE__NODE_TABLE_LIKE_CLAUSE)
            return create->table_elts[i]->table_like_clause;
    return NULL;
}

/* Whether all of its columns can be seen in the statement. */
static bool is_plain(const PgQuery__CreateStmt *create)
{
    return create->n_inh_relations == 0 && create->of_typename == NULL && like_of(create) == NULL;
}

static rw_written_key key_of(const PgQuery__CreateStmt *create)
{
    rw_written_key found = {0};
    for (size_t i = 0; i < create->n_table_elts; i++) {
        const PgQuery__Node *node = create->table_elts[i];
        rw_take_key(&found, node, NULL);
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
            rw_take_key_of(&found, node->column_def);
    }
    return found;
}

/* A key of columns that are not there or twice, or that is written twice, is PostgreSQL's to
 * refuse. */
static bool is_refused(const PgQuery__CreateStmt *create, const rw_written_key *written)
{
    if (written->keys > 1)
        return true;
    for (size_t i = 0; written->key != NULL && i < rw_key_count(written); i++)
        if (rw_key_uses(written, rw_key_column(written, i)) > 1 ||
            (is_plain(create) && !defines(create, rw_key_column(written, i))))
            return true;
    return false;
}

static bool check_columns(rw_definer *it, const PgQuery__CreateStmt *create)
{
    const rw_table *table = it->table;
    for (size_t i = 0; i < table->primary_key_count; i++) {
        const char *name = table->columns[table->primary_key[i]].name;
        if (!is_plain(create) || defines(create, name))
            continue;
        pgw_fail(it->error, "42P16",
                 "table \"%s\" must have a column \"%s\", which is in the primary_key of "
                 "keyspread's configuration",
                 table->name, name);
        return rw_define_refuse(it, create->relation->location,
                                "Correct primary_key in the configuration, or the statement.");
    }
    return true;
}

/* Refuses forms that cannot be made with a hash column. */
static bool check_form(rw_definer *it, const PgQuery__CreateStmt *create)
{
    const char *name = it->table->name;
    const PgQuery__TableLikeClause *like = like_of(create);
    int32_t location = create->relation->location;
    if (create->of_typename != NULL) {
        pgw_fail(it->error, "0A000", "cannot make table \"%s\" of a type through keyspread", name);
        return rw_define_refuse(it, location, "List its columns.");
    }
    if (like != NULL && like->options & LIKE_INDEXES) {
        pgw_fail(it->error, "0A000",
                 "cannot make table \"%s\" with the indexes of another through keyspread", name);
        return rw_define_refuse(it, like->relation->location,
                                "Leave INCLUDING INDEXES away, and write PRIMARY KEY.");
    }
    return true;
}

/* The byte behind the last token of the list of columns, or behind its parenthesis; `behind` is the
 * byte behind the list. */
static size_t end_of_columns(const rw_definer *it, const PgQuery__CreateStmt *create,
                             size_t *behind)
{
    rw_lexer lexer;
    size_t end = it->text.len;
    rw_lexer_init(&lexer, it->text, it->env->conforming);
    lexer.at = (size_t)create->relation->location;
    rw_define_skip(it, &lexer, &end);
    *behind = lexer.at;
    return end;
}

/* Whether the statement stays as it is: its client knows of the hash, or PostgreSQL refuses it. */
static bool is_left(const rw_definer *it, const PgQuery__Node *statement)
{
    if (statement->node_case != PG_QUERY__NODE__NODE_CREATE_STMT)
        return rw_text_mentions(it->text, rw_define_hash(it->table));
    const PgQuery__CreateStmt *create = statement->create_stmt;
    rw_written_key written = key_of(create);
    return create->partbound != NULL || defines(create, rw_define_hash(it->table)) ||
           is_refused(create, &written);
}

/* UNIQUE of the key that the table is made with. */
static void add_referable(const rw_definer *it, pgw_buf *text)
{
    size_t count = it->table->primary_key_count;
    bool written = it->key.key != NULL && rw_key_count(&it->key) == count;
    const char **key = pgw_arena_alloc(it->arena, (count + 1) * sizeof *key);
    for (size_t i = 0; i < count && written; i++)
        key[i] = rw_key_column(&it->key, i);
    rw_referable_constraint(it->table, written ? key : NULL, text);
}

/* The hash column and its CHECK, behind the list; a parent may bring both. */
static void add_hash_column(const rw_definer *it, const PgQuery__CreateStmt *create, bool inherited,
                            pgw_buf *text)
{
    const char *joint = create->n_table_elts > 0 ? ", " : "";
    pgw_buf check = {0};
    if (!inherited) {
        pgw_buf_add_str(text, joint);
        rw_hash_column_define(it->table, text);
        joint = ", ";
    }
    pgw_buf_add_slice(text, pgw_slice_buf(&it->behind));
    if (!inherited && rw_hash_column_check(it->table, &check))
        pgw_buf_add_str(text, ", ");
    pgw_buf_add_slice(text, pgw_slice_buf(&check));
    pgw_buf_free(&check);
    if (rw_refers_to_itself(it->table, create)) {
        pgw_buf_add_str(text, joint);
        add_referable(it, text);
    }
}

static bool define_created(rw_definer *it, const PgQuery__CreateStmt *create,
                           const rw_catalog *catalog)
{
    rw_written_key written = key_of(create);
    if (!check_form(it, create) || !check_columns(it, create) ||
        (rw_table_is_partitioned(it->table) && !rw_parts_check(it, create)) ||
        !rw_define_key(it, &written))
        return false;
    pgw_buf text = {0};
    it->key = written;
    add_hash_column(it, create, rw_heirs_inherits_hash(it, create, catalog), &text);
    size_t behind, end = end_of_columns(it, create, &behind);
    rw_define_change(it, end, &text);
    if (rw_table_is_partitioned(it->table))
        rw_parts_define(it, create, behind);
    it->made = true;
    return true;
}

/* --- in and out --- */

/* Whether it is not known in which schema a table without one is made. */
static bool is_unknown(const rw_catalog *planned, const PgQuery__RangeVar *relation)
{
    bool unknown = false;
    for (size_t i = 0; planned->unqualified != NULL && i < planned->count; i++)
        unknown |= planned->unqualified[i] == RW_MEANS_UNKNOWN;
    return unknown && relation->schemaname[0] == '\0';
}

/* What is made by the statement; NULL: nothing that concerns keyspread. */
static const PgQuery__RangeVar *made_by(const PgQuery__Node *statement)
{
    if (statement->node_case == PG_QUERY__NODE__NODE_CREATE_STMT)
        return statement->create_stmt->relation;
    if (statement->node_case == PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT &&
        statement->create_table_as_stmt->objtype == PG_QUERY__OBJECT_TYPE__OBJECT_TABLE)
        return statement->create_table_as_stmt->into->rel;
    const PgQuery__SelectStmt *first =
        statement->node_case == PG_QUERY__NODE__NODE_SELECT_STMT ? statement->select_stmt : NULL;
    while (first != NULL && first->larg != NULL)
        first = first->larg;
    return first != NULL && first->into_clause != NULL ? first->into_clause->rel : NULL;
}

/* A table that the configuration names, or one that has only a pattern there: whatever table of
 * that name there is now, it may be gone when the statement is reached, and be made with another
 * key. */
static const rw_table *made_table(rw_definer *it, const PgQuery__Node *statement,
                                  const PgQuery__RangeVar *made, const rw_catalog *catalog)
{
    const rw_table *table = rw_define_table(catalog->planned, made);
    if (table != NULL && !table->by_pattern)
        return table;
    if (statement->node_case != PG_QUERY__NODE__NODE_CREATE_STMT)
        return NULL;
    rw_written_key written = key_of(statement->create_stmt);
    it->copied = rw_copies_pattern(catalog, statement->create_stmt, &written);
    return it->copied ? NULL : rw_define_by_pattern(it, catalog, statement->create_stmt, &written);
}

static bool make(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    const rw_catalog *planned = catalog->planned;
    const PgQuery__RangeVar *made = made_by(statement);
    it->table = made != NULL ? made_table(it, statement, made, catalog) : NULL;
    if (it->table == NULL || is_left(it, statement))
        return true;
    if (is_unknown(planned, made)) {
        pgw_fail(it->error, "0A000",
                 "cannot tell in which schema the table is made: that may change before this "
                 "statement is reached");
        return rw_define_refuse(it, made->location,
                                "Send the statement as a text of its own, or write the schema "
                                "before the table's name.");
    }
    it->out->made = it->table->by_pattern ? it->table : NULL;
    if (statement->node_case == PG_QUERY__NODE__NODE_CREATE_STMT)
        return define_created(it, statement->create_stmt, catalog);
    pgw_fail(it->error, "0A000", "cannot make table \"%s\" of a query through keyspread",
             it->table->name);
    return rw_define_refuse(it, made->location,
                            "Make it by its columns, and then INSERT … SELECT.");
}

/* --- ALTER TABLE --- */

static bool alter(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    if (statement->node_case == PG_QUERY__NODE__NODE_RENAME_STMT) {
        const PgQuery__RenameStmt *rename = statement->rename_stmt;
        bool column = rename->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN &&
                      rename->relation_type == PG_QUERY__OBJECT_TYPE__OBJECT_TABLE;
        it->table = column ? rw_define_altered(catalog, rename->relation) : NULL;
        return it->table == NULL || rw_rename_column(it, rename);
    }
    const PgQuery__AlterTableStmt *alters = statement->alter_table_stmt;
    it->table = alters->objtype == PG_QUERY__OBJECT_TYPE__OBJECT_TABLE
                    ? rw_define_altered(catalog, alters->relation)
                    : NULL;
    return it->table == NULL || rw_alter_table(it, alters);
}

/* There was a table of that name. */
static bool was_there(const rw_definer *it, const PgQuery__Node *statement,
                      const rw_catalog *catalog)
{
    if (!pgw_error_is(it->error, "42P16") ||
        statement->node_case != PG_QUERY__NODE__NODE_CREATE_STMT)
        return false;
    const rw_table *table = rw_define_table(catalog, statement->create_stmt->relation);
    return table != NULL && table->oid != 0;
}

/* What was refused is PostgreSQL's to refuse: that there is such a table it says itself, as an
 * error or, with IF NOT EXISTS, as a notice, before it looks at what a CHECK says. If it has gone
 * by then, this one must fail, and the refusal is told. */
static void leave_to_server(rw_definer *it, const PgQuery__CreateStmt *create)
{
    size_t behind;
    pgw_buf check = {0};
    pgw_buf_addf(&check, "%sCHECK ('" RW_REFUSAL "')", create->n_table_elts > 0 ? ", " : "");
    rw_define_change(it, end_of_columns(it, create, &behind), &check);
    it->out->refusal = pgw_arena_alloc(it->arena, sizeof *it->out->refusal);
    *it->out->refusal = *it->error;
}

static bool define(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog)
{
    if (statement->node_case == PG_QUERY__NODE__NODE_RENAME_STMT ||
        statement->node_case == PG_QUERY__NODE__NODE_ALTER_TABLE_STMT)
        return alter(it, statement, catalog);
    rw_parts_name_whole(it, statement, catalog);
    if (make(it, statement, catalog))
        return true;
    if (!was_there(it, statement, catalog))
        return false;
    leave_to_server(it, statement->create_stmt);
    return true;
}

bool rw_define_find(const PgQuery__Node *statement, pgw_slice text, pgw_slice next,
                    const rw_catalog *catalog, const pgw_reading *reading, rw_definition *out)
{
    rw_definer it = {.text = text,
                     .next = next,
                     .env = reading->env,
                     .arena = reading->arena,
                     .out = out,
                     .error = reading->error,
                     .joint = ", "};
    *out = (rw_definition){0};
    bool fine = define(&it, statement, catalog) && rw_heirs_check(&it, statement, catalog) &&
                rw_references_define(&it, statement, catalog) &&
                rw_likes_define(&it, statement, catalog);
    if (fine)
        rw_late_key_define(&it, statement, catalog);
    pgw_buf_free(&it.behind);
    return fine;
}
