#include "proxy/command/carry.h"

#include "protocol/bytes.h"

/* $1, $2: the table; $3: its hash column; $4: whether it is to be partitioned by that; $5: the
 * columns that the hash is made of. Names of indexes are left out: the old table may have them. */
#define COLUMNS_OF(array)                                                                          \
    "(select array_agg(k.attname::text) from pg_attribute k where k.attrelid = t.oid and "         \
    "k.attnum = any (" array "))"
/* Rows that are equal in the columns that the hash is made of have one hash, and meet. */
#define MEETS(array) "not $4 or coalesce(" COLUMNS_OF(array) " @> $5, false)"
#define GRANTEE "case grantee when 0 then 'PUBLIC' else quote_ident(pg_get_userbyid(grantee)) end"

static const char what[] =
    "with t as (select c.*, format('%I.%I', $1, c.relname) as name from pg_class c where "
    "c.relname = $2 and c.relnamespace = (select oid from pg_namespace where nspname = $1)),"
    "a as (select k.*, t.name from t join pg_attribute k on k.attrelid = t.oid"
    " where k.attnum > 0 and not k.attisdropped and k.attname <> $3),"
    "line as ("
    "select 1 part, attnum::int place, case when attgenerated = '' then"
    "  format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s;', name, attname, e)"
    "  else format('-- %I is GENERATED ALWAYS AS (%s) STORED: write that into its line', attname, "
    "e)"
    "  end line from a join pg_attrdef d on d.adrelid = attrelid and d.adnum = attnum,"
    "  pg_get_expr(d.adbin, d.adrelid) e "
    "union all select 2, attnum, case attidentity when '' then"
    "  format('ALTER SEQUENCE %s OWNED BY %s.%I;', s.seqrelid::regclass, name, attname) else"
    "  format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (START WITH %s"
    " INCREMENT BY %s);', name, attname, case attidentity when 'a' then 'ALWAYS' else"
    "  'BY DEFAULT' end, coalesce(pg_sequence_last_value(s.seqrelid) + s.seqincrement, s.seqstart),"
    "  s.seqincrement) end"
    "  from a join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = attrelid and"
    "  d.refobjsubid = attnum and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')"
    "  join pg_sequence s on s.seqrelid = d.objid "
    "union all select 3, o.oid::int, case "
    "  when contype in ('c', 'f') then format('ALTER TABLE %s ADD CONSTRAINT %I %s;', name, "
    "conname, e)"
    "  when contype = 'u' and (" MEETS(
        "o.conkey") ") then format('ALTER TABLE %s ADD %s;', name,"
                    "  case when $4 then regexp_replace(e, '[(]', format('(%I, ', $3)) else e end)"
                    "  when contype = 'x' and not $4 then format('ALTER TABLE %s ADD %s;', name, e)"
                    "  else format('-- not carried: constraint %I %s: a partitioned table can hold "
                    "it only if it has"
                    " the columns of the hash', conname, e) end"
                    "  from t join pg_constraint o on o.conrelid = t.oid, "
                    "pg_get_constraintdef(o.oid) e"
                    "  where contype in ('c', 'f', 'u', 'x') and o.conparentid = 0 and not exists"
                    "  (select from pg_attribute k where k.attrelid = t.oid and k.attname = $3"
                    "   and k.attnum = any (o.conkey)) "
                    "union all select 4, o.oid::int, format('-- not carried: %s refers to it by %I "
                    "%s: its key alone is"
                    " not unique any more', o.conrelid::regclass, conname, "
                    "pg_get_constraintdef(o.oid))"
                    "  from t join pg_constraint o on o.confrelid = t.oid where o.conparentid = 0 "
                    "union all select 5, i.indexrelid::int, case when not indisunique or not $4 "
                    "then short || ';'"
                    "  when " MEETS(
                        "i.indkey::int2[]") " then regexp_replace(short, 'USING (\\w+) [(]',"
                                            "  format('USING \\1 (%I, ', $3)) || ';'"
                                            "  else format('-- not carried: %s: a partitioned "
                                            "table can hold it only if it has the columns of"
                                            " the hash', short) end"
                                            "  from t join pg_index i on i.indrelid = t.oid join "
                                            "pg_class x on x.oid = i.indexrelid,"
                                            "  replace(replace(pg_get_indexdef(x.oid), "
                                            "format('INDEX %I ON', x.relname), 'INDEX ON'),"
                                            "  'INDEX ON ONLY ', 'INDEX ON ') short"
                                            "  where not i.indisprimary and not exists"
                                            "  (select from pg_constraint o where o.conindid = "
                                            "x.oid and o.conrelid = t.oid) "
                                            "union all select 6, g.oid::int, format('-- not "
                                            "carried: %s: rows of a table with triggers may not"
                                            " be batched', pg_get_triggerdef(g.oid)) from t join "
                                            "pg_trigger g on g.tgrelid = t.oid"
                                            "  where not g.tgisinternal "
                                            "union all select 7, p.oid::int, format('-- not "
                                            "carried: policy %I', p.polname)"
                                            "  from t join pg_policy p on p.polrelid = t.oid "
                                            "union all select 7, r.oid::int, '-- not carried: ' || "
                                            "pg_get_ruledef(r.oid)"
                                            "  from t join pg_rewrite r on r.ev_class = t.oid "
                                            "union all select 8, 0, format('COMMENT ON TABLE %s IS "
                                            "%L;', name, e)"
                                            "  from t, obj_description(t.oid, 'pg_class') e where "
                                            "e is not null "
                                            "union all select 8, attnum, format('COMMENT ON COLUMN "
                                            "%s.%I IS %L;', name, attname, e)"
                                            "  from a, col_description(attrelid, attnum) e where e "
                                            "is not null "
                                            "union all select 9, grantee::int, format('GRANT %s ON "
                                            "%s TO %s%s;', string_agg(privilege_type,"
                                            "  ', '), name, " GRANTEE
                                            ", case when is_grantable then ' WITH GRANT OPTION' "
                                            "else '' end)"
                                            "  from t, aclexplode(relacl) where grantee <> "
                                            "relowner group by name, grantee, is_grantable "
                                            "union all select 9, grantee::int, format('GRANT %s "
                                            "(%I) ON %s TO %s%s;', privilege_type, attname,"
                                            "  name, " GRANTEE ", case when is_grantable then ' "
                                                               "WITH GRANT OPTION' else '' end)"
                                            "  from a, aclexplode(attacl) "
                                            "union all select 0, 0, format('ALTER TABLE %s OWNER "
                                            "TO %I;', name, pg_get_userbyid(relowner))"
                                            "  from t)"
                                            "select case when line like '--%' then translate(line, "
                                            "E'\\n\\r', '  ') else line end"
                                            " from line order by part, place, line";

/* The columns that the hash is made of, as an array. */
static void add_hash_key(const rw_table *table, pgw_buf *array)
{
    pgw_buf_add_str(array, "{");
    for (size_t i = 0; i < table->hash_key_count; i++) {
        pgw_buf_add_str(array, i > 0 ? ",\"" : "\"");
        for (const char *at = table->columns[table->hash_key[i]].name; *at != '\0'; at++) {
            if (*at == '"' || *at == '\\')
                pgw_buf_add_byte(array, '\\');
            pgw_buf_add_byte(array, *at);
        }
        pgw_buf_add_str(array, "\"");
    }
    pgw_buf_add(array, "}", 2);
}

bool px_carry_print(const rw_table *table, bool partitioned, PGconn *link, FILE *out, FILE *errors)
{
    static const Oid types[] = {19, 19, 19, 16, 1009}; /* name, name, name, bool, text[] */
    pgw_buf key = {0};
    add_hash_key(table, &key);
    const char *const values[] = {table->schema, table->name,
                                  table->columns[table->hash_column].name, partitioned ? "t" : "f",
                                  key.ptr};
    PQclear(PQexec(link, "set search_path = pg_catalog")); /* so that all names have their schema */
    PGresult *result = PQexecParams(link, what, 5, types, values, NULL, NULL, 0);
    pgw_buf_free(&key);
    bool good = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (!good)
        fprintf(errors, "keyspread: what belongs to %s.%s cannot be read: %s", table->schema,
                table->name, PQerrorMessage(link));
    for (int row = 0; good && row < PQntuples(result); row++)
        fprintf(out, "%s\n", PQgetvalue(result, row, 0));
    PQclear(result);
    return good;
}
