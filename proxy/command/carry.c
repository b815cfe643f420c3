#include "proxy/command/carry.h"

#include "protocol/bytes.h"

/* $1, $2: the table; $3: its hash column; $4: whether it is to be partitioned by that; $5: the
 * columns that the hash is made of; $6: whether the hash comes first in a key. Names of indexes are
 * left out: the old table may have them. */
static const char begins[] =
    "with t as (select c.*, format('%I.%I', $1, c.relname) as name from pg_class c where "
    "c.relname = $2 and c.relnamespace = (select oid from pg_namespace where nspname = $1)),"
    "a as (select k.*, t.name, format('ALTER TABLE %s ALTER COLUMN %I', t.name, k.attname) as alter"
    " from t join pg_attribute k on k.attrelid = t.oid"
    " where k.attnum > 0 and not k.attisdropped and k.attname <> $3),"
    "line as (";
static const char ends[] =
    ") select case when line like '--%' then translate(line, E'\\n\\r', '  ')"
    " else line end from line order by part, place, line";

/* The list of columns in a definition, as a match from its beginning; it holds no expression. */
#define LIST "[(](?:\"[^\"]*\"|[^\")])*"

/* The queries in the order in which they are printed; each gives place and line. Rows that are
 * equal in the columns that the hash is made of have one hash, and meet: so what is unique there is
 * unique in a partitioned table as well. */
static const char *const parts[] = {
    "select 0 as place, format('ALTER TABLE %s OWNER TO %I;', name, pg_get_userbyid(relowner)) as"
    " line from t",

    "select attnum::int, format('%s TYPE %s COLLATE %I.%I;', alter, format_type(atttypid,"
    " atttypmod), nspname, collname) from a join pg_type y on y.oid = atttypid join pg_collation l"
    " on l.oid = attcollation join pg_namespace n on n.oid = collnamespace where attcollation <>"
    " typcollation",

    "select attnum::int, case when attgenerated = '' then format('%s SET DEFAULT %s;', alter, e)"
    " else format('-- %I is GENERATED ALWAYS AS (%s) STORED: write that into its line', attname,"
    " e) end from a join pg_attrdef d on d.adrelid = attrelid and d.adnum = attnum,"
    " pg_get_expr(d.adbin, d.adrelid) e",

    "select attnum::int, case attidentity when '' then format('ALTER SEQUENCE %s OWNED BY %s.%I;',"
    " s.seqrelid::regclass, name, attname) else format('%s ADD GENERATED %s AS IDENTITY (START"
    " WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s);', alter, case attidentity when"
    " 'a' then 'ALWAYS' else 'BY DEFAULT' end, coalesce(pg_sequence_last_value(s.seqrelid) +"
    " s.seqincrement, s.seqstart), s.seqincrement, s.seqmin, s.seqmax, s.seqcache, case when"
    " s.seqcycle then ' CYCLE' else '' end) end from a join pg_depend d on d.refclassid ="
    " 'pg_class'::regclass and d.refobjid = attrelid and d.refobjsubid = attnum and d.classid ="
    " 'pg_class'::regclass and d.deptype in ('a', 'i') join pg_sequence s on s.seqrelid = d.objid",

    /* PostgreSQL keeps an option of its own, pg_attver, beside those that somebody has set; pg_dump
     * leaves it out by its name, too. */
    "select attnum::int, format('%s SET %s;', alter, what) from a join pg_type y on y.oid ="
    " atttypid, unnest(array['STATISTICS ' || nullif(attstattarget, -1), case when attstorage <>"
    " typstorage then 'STORAGE ' || case attstorage when 'p' then 'PLAIN' when 'e' then 'EXTERNAL'"
    " when 'm' then 'MAIN' else 'EXTENDED' end end, 'COMPRESSION ' || case to_jsonb(a) ->>"
    " 'attcompression' when 'p' then 'pglz' when 'l' then 'lz4' end, '(' || (select"
    " string_agg(o, ', ') from unnest(attoptions) o where split_part(o, '=', 1) <> 'pg_attver') ||"
    " ')']) what where what is not null",

    "select 0, case when $4 then format('-- not carried: %s: set it of each partition', option)"
    " else format('ALTER TABLE %s SET (%s=%L);', name, split_part(option, '=', 1), substr(option,"
    " strpos(option, '=') + 1)) end from t, unnest(reloptions) option",

    "select o.oid::int, case when contype in ('c', 'f') then format('ALTER TABLE %s ADD CONSTRAINT"
    " %I %s;', name, conname, e) when contype = 'u' and meets then format('ALTER TABLE %s ADD %s;"
    " -- called %s', name, case when not $4 then e when $6 then regexp_replace(e, '[(]',"
    " format('(%I, ', $3)) else regexp_replace(e, '^([^(]*" LIST ")', format('\\1, %I', $3))"
    " end, called) when contype = 'x' and not $4 then format('ALTER TABLE %s ADD %s; -- called"
    " %s', name, e, called) else format('-- not carried: constraint %I %s: ', conname, e) || 'a"
    " partitioned table can hold it only if it has the columns of the hash' end from t join"
    " pg_constraint o on o.conrelid = t.oid, pg_get_constraintdef(o.oid) e,"
    " translate(quote_ident(conname), E'\\n\\r', '  ') called, lateral (select not $4 or"
    " coalesce(array_agg(k.attname::text) @> $5, false) from pg_attribute k where k.attrelid ="
    " t.oid and k.attnum = any (o.conkey)) m(meets) where contype in ('c', 'f', 'u', 'x') and"
    " o.conparentid = 0 and not exists (select from pg_attribute k where k.attrelid = t.oid and"
    " k.attname = $3 and k.attnum = any (o.conkey))",

    "select o.oid::int, format('-- not carried: %s refers to it by %I %s: %s',"
    " o.conrelid::regclass, conname, pg_get_constraintdef(o.oid), case when $4 then 'its key alone"
    " is not unique any more' else 'make it anew through keyspread when the table is in its place'"
    " end) from t join pg_constraint o on o.confrelid = t.oid where o.conparentid = 0",

    "select i.indexrelid::int, case when not indisunique or not $4 then format('%s; -- called %s',"
    " short, called) when meets then format('%s; -- called %s', case when $6 or indexprs is not"
    " null then regexp_replace(short, 'USING (\\w+) [(]', format('USING \\1 (%I, ', $3)) else"
    " regexp_replace(short, '(USING \\w+ " LIST
    ")', format('\\1, %I', $3)) end, called) else format('-- not carried: %s: ',"
    " short) || 'a partitioned table can hold it only if it has the columns of the hash' end from"
    " t join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid,"
    " translate(quote_ident(x.relname), E'\\n\\r', '  ') called,"
    " replace(replace(pg_get_indexdef(x.oid), format('INDEX %I ON', x.relname), 'INDEX ON'),"
    " 'INDEX ON ONLY ', 'INDEX ON ') short, lateral (select coalesce(array_agg(k.attname::text) @>"
    " $5, false) from pg_attribute k where k.attrelid = t.oid and k.attnum = any"
    " (i.indkey::int2[])) m(meets) where not i.indisprimary and not exists (select from"
    " pg_constraint o where o.conindid = x.oid and o.conrelid = t.oid)",

    "select oid::int, format('-- not carried: %s: its name is taken',"
    " pg_get_statisticsobjdef(oid)) from pg_statistic_ext where stxrelid = (select oid from t)",

    "select 0, case relreplident when 'i' then '-- not carried: REPLICA IDENTITY: choose its"
    " index' else format('ALTER TABLE %s REPLICA IDENTITY %s;', name, case relreplident when 'f'"
    " then 'FULL' else 'NOTHING' end) end from t where relreplident <> 'd'",

    "select g.oid::int, format('-- not carried: %s: rows of a table with triggers may not be"
    " batched', pg_get_triggerdef(g.oid)) from t join pg_trigger g on g.tgrelid = t.oid where not"
    " g.tgisinternal",

    "select 0, '-- not carried: row level security: rows of a table that has it are not batched'"
    " from t where relrowsecurity union all select p.oid::int, format('-- not carried: policy %I:"
    " it is of row level security', p.polname) from t join pg_policy p on p.polrelid = t.oid",

    "select r.oid::int, format('-- not carried: %s: rows of a table with rules may not be"
    " batched', rtrim(pg_get_ruledef(r.oid), ';')) from t join pg_rewrite r on r.ev_class = t.oid",

    "select distinct r.ev_class::int, format('-- not carried: %s reads it: it goes on reading the"
    " table of before until it is made anew', r.ev_class::regclass) from t join pg_depend d on"
    " d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid and d.classid ="
    " 'pg_rewrite'::regclass join pg_rewrite r on r.oid = d.objid where r.ev_class <> t.oid",

    "select h.inhrelid::int, format('-- not carried: %s inherits from it: it goes on inheriting"
    " from the table of before', h.inhrelid::regclass) from t join pg_inherits h on h.inhparent ="
    " t.oid where t.relkind = 'r' union all select h.inhparent::int, format('-- not carried: it"
    " inherits from %s: only tables of one hash do', h.inhparent::regclass) from t join"
    " pg_inherits h on h.inhrelid = t.oid",

    "select p.oid::int, format('-- not carried: publication %I: add the table that is made',"
    " pubname) from t join pg_publication_rel l on l.prrelid = t.oid join pg_publication p on"
    " p.oid = l.prpubid",

    "select 0, format('COMMENT ON TABLE %s IS %L;', name, e) from t, obj_description(t.oid,"
    " 'pg_class') e where e is not null union all select attnum, format('COMMENT ON COLUMN %s.%I"
    " IS %L;', name, attname, e) from a, col_description(attrelid, attnum) e where e is not null",

    "select o.oid::int, case when contype in ('c', 'f') then what || ';' else format('-- not"
    " carried: %s: its name is another one', what) end from t join pg_constraint o on o.conrelid ="
    " t.oid, obj_description(o.oid, 'pg_constraint') e, format('COMMENT ON CONSTRAINT %I ON %s IS"
    " %L', conname, name, e) what where e is not null",

    "select x.oid::int, format('-- not carried: COMMENT ON INDEX %s IS %L: its name is another"
    " one', x.oid::regclass, e) from t join pg_index i on i.indrelid = t.oid join pg_class x on"
    " x.oid = i.indexrelid, obj_description(x.oid, 'pg_class') e where e is not null",

    "select grantee::int, format('GRANT %s ON %s TO %s%s;', string_agg(privilege_type, ', '),"
    " name, receiver, option) from (select t.name, acl.* from t, aclexplode(relacl) acl where"
    " acl.grantee <> relowner) g, lateral (select case g.grantee when 0 then 'PUBLIC' else"
    " quote_ident(pg_get_userbyid(g.grantee)) end, case when g.is_grantable then ' WITH GRANT"
    " OPTION' else '' end) r(receiver, option) group by name, grantee, receiver, option",

    "select grantee::int, format('GRANT %s (%I) ON %s TO %s%s;', privilege_type, attname, name,"
    " receiver, option) from a, aclexplode(attacl) g, lateral (select case g.grantee when 0 then"
    " 'PUBLIC' else quote_ident(pg_get_userbyid(g.grantee)) end, case when g.is_grantable then '"
    " WITH GRANT OPTION' else '' end) r(receiver, option)",
};

/* Adds all of `parts` as one query. */
static void add_query(pgw_buf *text)
{
    pgw_buf_add_str(text, begins);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        pgw_buf_addf(text, "%sselect %zu as part, * from (%s) p%zu(place, line)",
                     i > 0 ? " union all " : "", i, parts[i], i);
    pgw_buf_add(text, ends, sizeof ends);
}

/* Writes the columns that the hash is made of as an array. */
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
    static const Oid types[] = {19, 19,   19,
                                16, 1009, 16}; /* name, name, name, bool, text[], bool */
    pgw_buf key = {0}, query = {0};
    add_hash_key(table, &key);
    add_query(&query);
    const char *const values[] = {
        table->schema,           table->name, table->columns[table->hash_column].name,
        partitioned ? "t" : "f", key.ptr,     table->hash_first ? "t" : "f"};
    /* Names are then printed with their schemas. */
    PQclear(PQexec(link, "set search_path = pg_catalog"));
    PGresult *result = PQexecParams(link, query.ptr, 6, types, values, NULL, NULL, 0);
    pgw_buf_free(&key);
    pgw_buf_free(&query);
    bool good = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (!good)
        fprintf(errors, "keyspread: what belongs to %s.%s cannot be read: %s", table->schema,
                table->name, PQerrorMessage(link));
    for (int row = 0; good && row < PQntuples(result); row++)
        fprintf(out, "%s\n", PQgetvalue(result, row, 0));
    PQclear(result);
    return good;
}
