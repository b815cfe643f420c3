#include "proxy/command/migrate/plan.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/value_text.h"
#include "proxy/command/migrate/obstacles.h"
#include "proxy/command/migrate/pieces_make.h"
#include "proxy/command/migrate/pieces_switch.h"
#include "proxy/command/migrate/pieces_tables.h"
#include "proxy/command/base/trigger.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/lex/quote.h"
#include "rewrite/statement/define/referable.h"

/* --- the tables, as the pieces see them --- */

static void add_text(pgw_buf *out, const char *text)
{
    rw_add_constant(out, pgw_slice_str(text));
}

static void add_leaves(const rw_table *table, pgw_buf *out)
{
    char name[PGW_NAME_MAX + 1];
    for (uint32_t i = 0; rw_table_is_partitioned(table) && i < table->partitions.count; i++) {
        rw_hash_column_partition_plain(table, i, name);
        pgw_buf_add_str(out, i > 0 ? ", " : "");
        add_text(out, name);
    }
}

static void add_columns(const rw_table *table, const size_t *columns, size_t count, pgw_buf *out)
{
    pgw_buf_add_str(out, ", array[");
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_str(out, i > 0 ? ", " : "");
        add_text(out, table->columns[columns[i]].name);
    }
    pgw_buf_add_byte(out, ']');
}

static void add_asked(const rw_table *table, size_t place, pgw_buf *out)
{
    pgw_buf name = {0};
    pgw_arena arena = {0};
    rw_referable_oid(table, &name);
    pgw_buf_addf(out, "insert into pg_temp.asked values (%zu, ", place);
    pgw_buf_add_slice(out, pgw_slice_buf(&name));
    pgw_buf_add_str(out, ", ");
    add_text(out, table->columns[table->hash_column].name);
    add_columns(table, table->hash_key, table->hash_key_count, out);
    add_columns(table, table->primary_key, table->primary_key_count, out);
    pgw_buf_addf(out, ", %s, %s, %s, array[", rw_table_is_partitioned(table) ? "true" : "false",
                 table->hash_first ? "true" : "false",
                 table->hash_function == RW_PG_HASH ? "true" : "false");
    add_leaves(table, out);
    pgw_buf_add_str(out, "]::text[], ");
    const char *why, *fill = px_trigger_hash(table, &arena, &why);
    if (fill != NULL)
        add_text(out, fill);
    pgw_buf_add_str(out, fill != NULL ? ");" : "null);");
    pgw_arena_free(&arena);
    pgw_buf_free(&name);
}

static bool ask_tables(const px_migration *it)
{
    pgw_buf sql = {0};
    const char *const *part = px_pieces_tables;
    pgw_buf_add_str(&sql, *part);
    pgw_buf_addf(&sql, "insert into pg_temp.way select %s;", it->decoding ? PX_SLOT : "null");
    for (size_t i = 0; i < it->count; i++)
        add_asked(it->tables[i], i + 1, &sql);
    while (*++part != NULL)
        pgw_buf_add_str(&sql, *part);
    pgw_buf_add_byte(&sql, '\0');
    bool good = px_migration_do(it, it->writer, sql.ptr);
    pgw_buf_free(&sql);
    return good;
}

/* --- statements that need keyspread's own code --- */

/* What t has of one table. */
enum { OLD, FRESH, SPACE, KEY_NAME, KEYS, REFERRED };

static void add_new_table(const rw_table *table, const PGresult *known, int row, pgw_buf *out)
{
    rw_table fresh = *table;
    fresh.schema = PQgetvalue(known, row, SPACE);
    pgw_buf_addf(out,
                 "CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS, ",
                 PQgetvalue(known, row, FRESH), PQgetvalue(known, row, OLD));
    rw_hash_column_define(table, out);
    pgw_buf_addf(out, ", CONSTRAINT %s PRIMARY KEY (", PQgetvalue(known, row, KEY_NAME));
    rw_hash_column_key(table, pgw_slice_str(PQgetvalue(known, row, KEYS)), out);
    pgw_buf_add_byte(out, ')');
    pgw_buf check = {0};
    if (rw_hash_column_check(table, &check) && table->hash_function == RW_PG_HASH) {
        pgw_buf_add_str(out, ", ");
        pgw_buf_add_slice(out, pgw_slice_buf(&check));
    }
    pgw_buf_free(&check);
    pgw_buf_add_byte(out, ')');
    if (!rw_table_is_partitioned(table))
        return;
    rw_hash_column_partition_by(table, out);
    for (uint32_t i = 0; i < table->partitions.count; i++) {
        pgw_buf_add_str(out, "; ");
        rw_hash_column_partition(&fresh, i, out);
    }
}

static void add_unique_key(const rw_table *table, const PGresult *known, int row, pgw_buf *out)
{
    if (PQgetvalue(known, row, REFERRED)[0] != 't')
        return;
    pgw_buf_addf(out, "ALTER TABLE %s ADD ", PQgetvalue(known, row, FRESH));
    rw_referable_constraint(table, NULL, out);
}

static void add_own_statement(const px_migration *it, const px_piece *piece, const PGresult *known,
                              int row, pgw_buf *out)
{
    pgw_buf statement = {0};
    bool makes = strcmp(piece->phase, "make") == 0;
    (makes ? add_new_table : add_unique_key)(it->tables[row], known, row, &statement);
    if (statement.len > 0) {
        pgw_buf_add_str(out, "insert into pg_temp.plan (phase, reason, statement) values (");
        add_text(out, piece->phase);
        pgw_buf_add_str(out, ", ");
        add_text(out, piece->reason);
        pgw_buf_add_str(out, ", ");
        rw_add_constant(out, pgw_slice_buf(&statement));
        pgw_buf_add_str(out, ");");
    }
    pgw_buf_free(&statement);
}

static bool make_own(const px_migration *it, const px_piece *piece)
{
    PGresult *known = px_migration_ask(
        it, it->writer,
        "select t.\"old\", t.fresh, t.ns, quote_ident(t.key_name), t.keys, exists (select from "
        "pg_temp.fk f"
        " where f.to_place = t.place and f.of_key and not f.lost) from pg_temp.t order by place");
    bool good = known != NULL && PQntuples(known) == (int)it->count;
    pgw_buf sql = {0};
    for (int row = 0; good && row < PQntuples(known); row++)
        add_own_statement(it, piece, known, row, &sql);
    pgw_buf_add_byte(&sql, '\0');
    good = good && (sql.len == 1 || px_migration_do(it, it->writer, sql.ptr));
    pgw_buf_free(&sql);
    PQclear(known);
    return good;
}

/* --- the plan --- */

static bool make_piece(const px_migration *it, const px_piece *piece)
{
    if (piece->sql == NULL)
        return make_own(it, piece);
    pgw_buf sql = {0};
    pgw_buf_add_str(&sql, "insert into pg_temp.plan (phase, reason, statement) select ");
    add_text(&sql, piece->phase);
    pgw_buf_add_str(&sql, ", ");
    add_text(&sql, piece->reason);
    pgw_buf_add_str(&sql, ", statement from (");
    pgw_buf_add_str(&sql, piece->sql);
    pgw_buf_add_str(&sql, ") q(place, sub, statement) order by place, sub, statement");
    pgw_buf_add_byte(&sql, '\0');
    bool good = px_migration_do(it, it->writer, sql.ptr);
    pgw_buf_free(&sql);
    return good;
}

static bool make_pieces(const px_migration *it, const px_piece *pieces)
{
    bool good = true;
    for (; good && pieces->reason != NULL; pieces++)
        good = make_piece(it, pieces);
    return good;
}

/* --- what the new tables cannot have --- */

static bool find_obstacles(const px_migration *it)
{
    bool good = true;
    for (const px_obstacle *one = px_obstacles; good && one->advice != NULL; one++) {
        pgw_buf sql = {0};
        pgw_buf_add_str(&sql, "insert into pg_temp.obstacle select q.place, q.name, q.what, ");
        add_text(&sql, one->advice);
        pgw_buf_addf(&sql, ", %s from (", one->acceptable ? "true" : "false");
        pgw_buf_add_str(&sql, one->sql);
        pgw_buf_add_str(&sql, ") q(place, name, what)");
        pgw_buf_add_byte(&sql, '\0');
        good = px_migration_do(it, it->writer, sql.ptr);
        pgw_buf_free(&sql);
    }
    return good;
}

static bool is_accepted(const px_migration *it, const char *name)
{
    for (size_t i = 0; i < it->accepted_count; i++)
        if (strcmp(it->accepted[i], name) == 0)
            return true;
    return false;
}

static bool tell_obstacle(const px_migration *it, const PGresult *rows, int row)
{
    const char *name = PQgetvalue(rows, row, 0);
    bool acceptable = PQgetvalue(rows, row, 3)[0] == 't',
         accepted = acceptable && is_accepted(it, name);
    fprintf(it->command->errors, "keyspread: migrate: %s: %s: %s. %s\n",
            accepted ? "accepted" : "cannot be carried", name, PQgetvalue(rows, row, 1),
            PQgetvalue(rows, row, 2));
    if (acceptable && !accepted)
        fprintf(it->command->errors, "    Without it: --accept='%s'\n", name);
    return accepted;
}

static bool tell_obstacles(const px_migration *it)
{
    PGresult *rows = px_migration_ask(it, it->writer,
                                      "select name, what, advice, acceptable from pg_temp.obstacle "
                                      "group by 1, 2, 3, 4 order by 4, 1");
    bool good = rows != NULL;
    for (int row = 0; rows != NULL && row < PQntuples(rows); row++)
        good &= tell_obstacle(it, rows, row);
    PQclear(rows);
    return good;
}

static bool make_plan(const px_migration *it)
{
    return ask_tables(it) && find_obstacles(it) && make_pieces(it, px_pieces_make) &&
           make_pieces(it, px_pieces_switch);
}

bool px_plan_make(const px_migration *it)
{
    return make_plan(it) && tell_obstacles(it);
}

/* --- to print it --- */

static const struct {
    const char *phase, *head;
} heads[] = {
    {"make", "-- keyspread migrate --run makes what is needed, each statement by itself:\n"},
    {"index",
     "-- … copies all rows in ranges of the key, with their hashes, and takes over what has "
     "changed\n"
     "-- meanwhile. Then it makes what would have made the copy slower, or have refused it:\n"},
    {"cutover", "-- keyspread migrate --cutover compares all rows, locks the tables against "
                "writers, takes over the last\n"
                "-- changes, and then, in the same transaction, with lock_timeout = 300 ms, and "
                "again if that passes:\n"},
    {"check", "-- … and afterwards, while all go on:\n"},
    {"back", "-- keyspread migrate --back compares all rows, and then, in one transaction in the "
             "same way:\n"},
    {"check_back", "-- … and afterwards:\n"},
    {"finish", "-- keyspread migrate --finish, instead of --back, in one transaction:\n"},
    {"abandon", "-- keyspread migrate --back, before the cutover, in one transaction:\n"},
};

static bool print_phase(const px_migration *it, const char *phase, const char *head)
{
    PGresult *rows = px_migration_askf(
        it, it->writer, "select reason, statement from pg_temp.plan where phase = '%s' order by id",
        phase);
    const char *reason = "";
    for (int row = 0; rows != NULL && row < PQntuples(rows); row++) {
        if (row == 0)
            fprintf(it->command->out, "\n%s", head);
        if (strcmp(reason, PQgetvalue(rows, row, 0)) != 0)
            fprintf(it->command->out, "\n-- %s\n", PQgetvalue(rows, row, 0));
        reason = PQgetvalue(rows, row, 0);
        fprintf(it->command->out, "%s;\n", PQgetvalue(rows, row, 1));
    }
    bool good = rows != NULL;
    PQclear(rows);
    return good;
}

bool px_plan_print(const px_migration *it)
{
    bool good = true;
    for (size_t i = 0; good && i < sizeof heads / sizeof *heads; i++)
        good = print_phase(it, heads[i].phase, heads[i].head);
    return good;
}

/* --- the kept plan --- */

static const char make_state[] =
    "create schema if not exists keyspread;"
    "create table keyspread.migration (phase text primary key, began timestamptz default now(), "
    "slot"
    " text, decoded pg_lsn);"
    "create table keyspread.migration_table (place int primary key, name text, fresh text,"
    " kept text, keys text, key_texts text, stored text, columns text, nspname name, relname name,"
    " hash name, copied text, rows bigint not null default 0, whole bool not null default false);"
    "create table keyspread.migration_step (id int primary key, phase text, reason text,"
    " statement text, done bool not null default false);"
    "comment on table keyspread.migration is 'How far keyspread migrate is; --finish takes it"
    " away.';"
    "create table keyspread.migration_accepted as select distinct name from pg_temp.obstacle;"
    "insert into keyspread.migration (phase, slot) select 'begun', slot from pg_temp.way;"
    "insert into keyspread.migration_table select place, old, fresh, kept, keys, key_texts, stored,"
    " columns, s, n, hash from pg_temp.t;"
    "insert into keyspread.migration_step select id, phase, reason, statement from pg_temp.plan";

bool px_plan_keep(const px_migration *it)
{
    return px_migration_do(it, it->writer, make_state);
}

/* Each version of a row of the catalog has its transaction and its place. */
#define VERSIONS(from) " union all select concat(x.tableoid, x.xmin, x.ctid) from " from

/* The rows of the catalog that a plan is made of. */
static const char *const ask_version[] = {
    "with t as (select to_regclass(name)::oid oid from keyspread.migration_table), d as (select"
    " d.* from pg_depend d, t where d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid), v"
    " as (select concat(d.classid, ' ', d.objid, ' ', d.objsubid, ' ', d.refobjid, ' ',"
    " d.refobjsubid) v from d",
    VERSIONS("pg_class x, t where x.oid = t.oid"),
    VERSIONS("pg_attribute x, t where x.attrelid = t.oid"),
    VERSIONS("pg_attrdef x, t where x.adrelid = t.oid"),
    VERSIONS("pg_constraint x, t where t.oid in (x.conrelid, x.confrelid)"),
    VERSIONS("pg_trigger x, t where x.tgrelid = t.oid"),
    VERSIONS("pg_index x, t where x.indrelid = t.oid"),
    VERSIONS("pg_inherits x, t where t.oid in (x.inhrelid, x.inhparent)"),
    VERSIONS("pg_policy x, t where x.polrelid = t.oid"),
    VERSIONS("pg_policy x, d where x.oid = d.objid and d.classid = 'pg_policy'::regclass"),
    VERSIONS("pg_publication_rel x, t where x.prrelid = t.oid"),
    VERSIONS("pg_statistic_ext x, t where x.stxrelid = t.oid"),
    VERSIONS("pg_description x, t where x.objoid = t.oid"),
    VERSIONS("pg_rewrite x, d where x.oid = d.objid and d.classid = 'pg_rewrite'::regclass"),
    VERSIONS("pg_proc x, d where x.oid = d.objid and d.classid = 'pg_proc'::regclass"),
    ") select md5(string_agg(v, ',' order by v)) from v"};

char *px_plan_version(const px_migration *it)
{
    pgw_buf sql = {0};
    for (size_t i = 0; i < sizeof ask_version / sizeof *ask_version; i++)
        pgw_buf_add_str(&sql, ask_version[i]);
    pgw_buf_add_byte(&sql, '\0');
    PGresult *row = px_migration_ask(it, it->writer, sql.ptr);
    pgw_buf_free(&sql);
    char *version =
        row == NULL ? NULL : pgw_strndup(PQgetvalue(row, 0, 0), (size_t)PQgetlength(row, 0, 0));
    PQclear(row);
    return version;
}

static const char ask_changes[] =
    "(select 'now', phase, statement from pg_temp.plan except all select 'now', phase, statement"
    " from keyspread.migration_step) union all (select 'then', phase, statement from"
    " keyspread.migration_step except all select 'then', phase, statement from pg_temp.plan) limit "
    "5";

/* Says what differs between the kept plan and the one that is made now. */
static bool compare_plans(const px_migration *it)
{
    PGresult *rows = px_migration_ask(it, it->writer, ask_changes);
    bool good = rows != NULL && PQntuples(rows) == 0;
    if (rows != NULL && !good)
        fputs("keyspread: migrate: the tables have been changed since the migration began: take it "
              "back (--back), and begin again. What differs:\n",
              it->command->errors);
    for (int row = 0; rows != NULL && row < PQntuples(rows); row++)
        fprintf(it->command->errors, "    %s: %s\n", PQgetvalue(rows, row, 0),
                PQgetvalue(rows, row, 2));
    PQclear(rows);
    return good;
}

static const char forget_accepted[] = "delete from pg_temp.obstacle where acceptable and name in"
                                      " (select name from keyspread.migration_accepted)";

bool px_plan_still_fits(const px_migration *it, char **version)
{
    *version = NULL;
    bool good = px_migration_do(it, it->writer, "begin isolation level repeatable read") &&
                (*version = px_plan_version(it)) != NULL && make_plan(it) &&
                px_migration_do(it, it->writer, forget_accepted) && tell_obstacles(it) &&
                compare_plans(it);
    return px_migration_do(it, it->writer, "rollback") && good;
}

const char px_plan_forget[] =
    "drop table keyspread.migration, keyspread.migration_table, keyspread.migration_step,"
    " keyspread.migration_accepted; do $$ begin drop schema keyspread; exception when"
    " dependent_objects_still_exist then null; end $$";

static bool run_step(const px_migration *it, const char *id, const char *statement)
{
    pgw_buf sql = {0};
    pgw_buf_add_str(&sql, statement);
    pgw_buf_addf(&sql, "; update keyspread.migration_step set done = true where id = %s", id);
    bool good = px_migration_patiently(it, sql.ptr);
    pgw_buf_free(&sql);
    return good;
}

bool px_plan_run(const px_migration *it, const char *phase)
{
    PGresult *rows = px_migration_askf(it, it->writer,
                                       "select id, reason, statement from keyspread.migration_step"
                                       " where phase = '%s' and not done"
                                       " order by id",
                                       phase);
    bool good = rows != NULL;
    const char *told = "";
    for (int row = 0; good && row < PQntuples(rows); row++) {
        if (strcmp(told, PQgetvalue(rows, row, 1)) != 0)
            fprintf(it->command->out, "%s\n", PQgetvalue(rows, row, 1));
        fflush(it->command->out);
        told = PQgetvalue(rows, row, 1);
        good = run_step(it, PQgetvalue(rows, row, 0), PQgetvalue(rows, row, 2));
    }
    PQclear(rows);
    return good;
}

char *px_plan_statements(const px_migration *it, const char *phase)
{
    PGresult *rows = px_migration_askf(
        it, it->writer,
        "select statement from keyspread.migration_step where phase = '%s' order by id", phase);
    if (rows == NULL)
        return NULL;
    pgw_buf sql = {0};
    for (int row = 0; row < PQntuples(rows); row++)
        pgw_buf_addf(&sql, "%s;\n", PQgetvalue(rows, row, 0));
    PQclear(rows);
    pgw_buf_add_byte(&sql, '\0');
    return sql.ptr;
}
