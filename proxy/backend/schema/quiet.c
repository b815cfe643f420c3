#include "proxy/backend/schema/quiet.h"

#include "rewrite/insert/merged_call.h"

/* Objects with oids below 16384 are PostgreSQL's own, made by initdb. */
#define IS_FOREIGN(alias) alias ".oid >= 16384"

/* A pattern of words by which a function's body makes, runs or takes what a session has. SET is one
 * where it begins a statement, not in an UPDATE. Between dollars no setting decides what a
 * backslash means. */
#define WORDS                                                                                      \
    "$words$set_config|search_path|\\mtemp|pg_temp|\\mlisten|advisory|\\mlock\\M|\\mexecute\\M"    \
    "|\\mcreate\\M|\\malter\\M|\\mdrop\\M|\\mreset\\M|\\mdiscard\\M|\\mprepare\\M|\\mdeclare\\M.*" \
    "\\mhold\\M"                                                                                   \
    "|\\mpg_settings\\M|_to_xml|ts_stat|ts_rewrite"                                                \
    "|(^|;|\\*/|--[^\\n]*\\n|>>|\\m(begin|then|else|loop|atomic))\\s*set\\M$words$"

/* Functions of PostgreSQL's own that a stored expression may call without a body that says so. */
#define CALLED                                                                                     \
    "'set_config', 'query_to_xml', 'query_to_xmlschema', 'query_to_xml_and_xmlschema', 'ts_stat'," \
    " 'ts_rewrite'"

/* Extensions whose functions in C are known not to change a session. */
#define EXTENSIONS                                                                                 \
    "'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dict_int', 'dict_xsyn',"               \
    " 'earthdistance', 'fuzzystrmatch', 'hstore', 'intarray', 'isn', 'ltree', 'pageinspect',"      \
    " 'pg_buffercache', 'pg_freespacemap', 'pg_prewarm', 'pg_stat_statements', 'pg_trgm',"         \
    " 'pg_visibility', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'seg', 'sslinfo', "                \
    "'tsm_system_rows',"                                                                           \
    " 'tsm_system_time', 'unaccent', 'uuid-ossp'"

#define OF_KNOWN_EXTENSION                                                                         \
    "exists (select from pg_catalog.pg_depend d"                                                   \
    " join pg_catalog.pg_extension e on e.oid = d.refobjid"                                        \
    " where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid"             \
    " and d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass and d.deptype = 'e'"       \
    " and e.extname in (" EXTENSIONS "))"

/* The functions that are the database's own, or of an extension not in EXTENSIONS; `body`: a SQL
 * function's tree, which a server before 14 does not know; `computes`: it is in C, of an extension,
 * and works on its values alone. */
#define FUNCTIONS                                                                                  \
    " own_functions as materialized (select p.oid, p.proname, p.proargtypes, p.prosrc,"            \
    " pg_catalog.to_jsonb(p) ->> 'prosqlbody' as body, s.nspname, l.lanname,"                      \
    " l.lanname = 'c' and exists (select from pg_catalog.pg_depend x"                              \
    " where x.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass"                                 \
    " and x.objid = p.oid and x.deptype = 'e') as computes"                                        \
    " from pg_catalog.pg_proc p join pg_catalog.pg_namespace s on s.oid = p.pronamespace"          \
    " join pg_catalog.pg_language l on l.oid = p.prolang where " IS_FOREIGN(                       \
        "p") " and not " OF_KNOWN_EXTENSION ")"

void px_own_functions(pgw_buf *sql)
{
    pgw_buf_add_str(sql, FUNCTIONS);
}

#define OWN_FUNCTIONS "own_functions p where true"

#define LOUD_FUNCTION                                                                              \
    "exists (select from " OWN_FUNCTIONS " and (p.nspname !~ '^pg_temp_'"                          \
    " or exists (select from pg_catalog.pg_trigger g where g.tgfoid = p.oid))"                     \
    " and (p.lanname not in ('sql', 'plpgsql') or p.prosrc ~* " WORDS                              \
    " or coalesce(p.body, '') ~ calls.pattern))"

/* Whether a function of the database's own can run though no text names it: an object other than a
 * trigger or a default depends on it, or `row.name` may mean it. It may call loud functions by
 * name. */
#define UNNAMED_FUNCTION                                                                           \
    "exists (select from " OWN_FUNCTIONS " and (p.lanname not in ('sql', 'plpgsql')"               \
    " or exists (select from pg_catalog.pg_depend d"                                               \
    " where d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refobjid = p.oid"       \
    " and d.classid not in ('pg_catalog.pg_trigger'::pg_catalog.regclass,"                         \
    " 'pg_catalog.pg_event_trigger'::pg_catalog.regclass,"                                         \
    " 'pg_catalog.pg_attrdef'::pg_catalog.regclass))"                                              \
    " or exists (select from pg_catalog.pg_type t"                                                 \
    " where t.oid = p.proargtypes[0] and t.typtype in ('c', 'd', 'p'))))"

/* Whether one of PostgreSQL's names, words of the grammar, operators or casts may mean a function
 * of the database's own, or the name of one of its types a domain. */
#define OVERLOADING                                                                                \
    "(exists (select from pg_catalog.pg_type y where y.typtype = 'd' and " IS_FOREIGN(             \
        "y") " and y.typname in (select b.typname from pg_catalog.pg_type b where b.typnamespace " \
             "= 11))"                                                                              \
             " or exists (select from " OWN_FUNCTIONS " and (p.proname in (select b.proname"       \
             " from pg_catalog.pg_proc b where b.pronamespace = 11"                                \
             " union all select k.word::pg_catalog.name from pg_catalog.pg_get_keywords() k)"      \
             " or exists (select from pg_catalog.pg_operator o where o.oprcode = p.oid)"           \
             " or exists (select from pg_catalog.pg_cast k where k.castfunc = p.oid))))"

/* Whether an expression that the database stores calls one of CALLED. It is stored as a tree, which
 * has the oids of functions. */
#define LOUD_TREE                                                                                  \
    "exists (select from (select oid, ev_action::pg_catalog.text as tree from "                    \
    "pg_catalog.pg_rewrite"                                                                        \
    " union all select oid, adbin::pg_catalog.text from pg_catalog.pg_attrdef"                     \
    " union all select oid, conbin::pg_catalog.text from pg_catalog.pg_constraint"                 \
    " union all select oid, polqual::pg_catalog.text from pg_catalog.pg_policy"                    \
    " union all select oid, polwithcheck::pg_catalog.text from pg_catalog.pg_policy"               \
    " union all select oid, tgqual::pg_catalog.text from pg_catalog.pg_trigger) as t"              \
    " where " IS_FOREIGN("t") " and t.tree ~ calls.pattern)"

#define FEW                                                                                        \
    "(select pg_catalog.count(*) from pg_catalog.pg_rewrite r where " IS_FOREIGN("r") ") < 500"

#define CALLS                                                                                      \
    "(select ':funcid (' || pg_catalog.string_agg(pg_catalog.concat(b.oid), '|') || ') ' as "      \
    "pattern"                                                                                      \
    " from pg_catalog.pg_proc b where b.pronamespace = 11 and b.proname in (" CALLED ")) as calls"

void px_quiet_expression(pgw_buf *sql)
{
    pgw_buf_add_str(sql, "(select case when c.says in ('f', 'r') and " OVERLOADING " then 'f'"
                         " when c.says = 'f' then 'b' else c.says end from (select"
                         " case when " LOUD_TREE " or not " FEW " then 'f'"
                         " when not " LOUD_FUNCTION " then 't'"
                         " when not " UNNAMED_FUNCTION " then 'r' else 'f' end as says"
                         " from " CALLS " offset 0) as c)");
}

/* Whether the tree of an expression calls a function that is the database's own, or changes the
 * session. */
#define CALLS_OWN(tree)                                                                            \
    "exists (select from pg_catalog.regexp_matches(" tree ", 'funcid ([0-9]+)', 'g') m"            \
    " where pg_catalog.oidin(pg_catalog.textout((m.m)[1])) in (select p.oid from " OWN_FUNCTIONS   \
    " union all select p.oid from pg_catalog.pg_proc p"                                            \
    " where p.pronamespace = 11 and p.proname in (" CALLED ")))"

/* The trees of expressions that an INSERT into relation d evaluates. If the relation has columns of
 * the database's own types, or casts to a domain, the checks of all domains count. */
#define CHECKED                                                                                    \
    "select k.conbin::pg_catalog.text from pg_catalog.pg_constraint k where k.conrelid = d.oid"    \
    " union all select i.indexprs::pg_catalog.text from pg_catalog.pg_index i where i.indrelid = " \
    "d.oid"                                                                                        \
    " union all select i.indpred::pg_catalog.text from pg_catalog.pg_index i where i.indrelid = "  \
    "d.oid"                                                                                        \
    " union all select p.partexprs::pg_catalog.text from pg_catalog.pg_partitioned_table p"        \
    " where p.partrelid = d.oid or p.partrelid in"                                                 \
    " (select pg_catalog.pg_partition_ancestors(d.root))"                                          \
    " union all select f.adbin::pg_catalog.text from pg_catalog.pg_attrdef f"                      \
    " join pg_catalog.pg_attribute o on o.attrelid = f.adrelid and o.attnum = f.adnum"             \
    " where f.adrelid = d.oid and o.attgenerated <> ''"                                            \
    " union all select k.conbin::pg_catalog.text from pg_catalog.pg_constraint k where "           \
    "k.contypid >= 16384"                                                                          \
    " and (exists (select from pg_catalog.pg_attribute o where o.attrelid = d.oid"                 \
    " and o.attnum > 0 and o.atttypid >= 16384) or exists (select from pg_catalog.pg_constraint o" \
    " where o.conrelid = d.oid and o.conbin::pg_catalog.text like '%COERCETODOMAIN%')"             \
    " or exists (select from pg_catalog.pg_index o where o.indrelid = d.oid"                       \
    " and pg_catalog.concat(o.indexprs, o.indpred) like '%COERCETODOMAIN%'))"

/* OWN_FUNCTIONS that can do more than compute. */
#define CODE OWN_FUNCTIONS " and not p.computes"

/* Whether code of the database's own runs by operators, casts, index support functions or domain
 * checks, without being named. A cast from a type of the database's own counts only if a column may
 * hold values of that type. */
#define IN_EXPRESSIONS                                                                             \
    "exists (select from " CODE " and (exists (select from pg_catalog.pg_depend d"                 \
    " where d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refobjid = p.oid"       \
    " and d.classid in ('pg_catalog.pg_operator'::pg_catalog.regclass,"                            \
    " 'pg_catalog.pg_amproc'::pg_catalog.regclass))"                                               \
    " or exists (select from pg_catalog.pg_cast k where k.castfunc = p.oid"                        \
    " and (k.castsource < 16384 or exists (select from met m"                                      \
    " where m.holds or m.type = k.castsource)))))"                                                 \
    " or exists (select from pg_catalog.pg_constraint k where k.contypid >= 16384"                 \
    " and " CALLS_OWN(                                                                             \
        "k.conbin::pg_catalog.text") ")"                                                           \
                                     " or exists (select from pg_catalog.pg_operator o join "      \
                                     "pg_catalog.pg_proc b"                                        \
                                     " on b.oid = o.oprcode where " IS_FOREIGN(                    \
                                         "o") " and b.pronamespace = 11"                           \
                                              " and b.proname in (" CALLED "))"

void px_expressions_run_condition(pgw_buf *sql)
{
    pgw_buf_add_str(sql, "(" IN_EXPRESSIONS ")");
}

void px_casts_run_condition(pgw_buf *sql)
{
    pgw_buf_add_str(sql, "exists (select from " CODE " and exists (select from pg_catalog.pg_cast k"
                         " where k.castfunc = p.oid))");
}

static void add_names(const char *(*name)(size_t i), pgw_buf *sql)
{
    for (size_t i = 0; name(i) != NULL; i++)
        pgw_buf_addf(sql, "%s'%s'", i > 0 ? ", " : "", name(i));
}

void px_own_calls_condition(pgw_buf *sql)
{
    pgw_buf_add_str(sql, "(exists (select from " OWN_FUNCTIONS " and p.proname in (");
    add_names(rw_merged_function, sql);
    pgw_buf_add_str(sql,
                    ")) or exists (select from pg_catalog.pg_operator o cross join " OWN_FUNCTIONS
                    " and o.oprcode = p.oid and o.oprname in (");
    add_names(rw_merged_operator, sql);
    pgw_buf_add_str(sql, ")))");
}

/* Whether the database has a function of its own with a name that a batched INSERT may call, for
 * other arguments. */
#define CALLED_ALIKE                                                                               \
    "exists (select from " CODE " and p.proname in ('now', 'transaction_timestamp',"               \
    " 'statement_timestamp', 'clock_timestamp', 'gen_random_uuid', 'to_timestamp', 'nextval',"     \
    " 'jsonb_set', 'jsonb_build_object'))"

/* Whether an index or a partition key of the table, or an index that its foreign keys refer to,
 * compares or hashes by code of the database's own. */
#define COMPARES                                                                                   \
    "exists (select from " CODE " and p.oid in (select a.amproc from pg_catalog.pg_amproc a"       \
    " join pg_catalog.pg_opclass o on o.opcfamily = a.amprocfamily"                                \
    " join (select pg_catalog.unnest(i.indclass) from pg_catalog.pg_index i join tree d"           \
    " on i.indrelid = d.oid where d.root = c.oid union all"                                        \
    " select pg_catalog.unnest(i.indclass) from pg_catalog.pg_constraint k"                        \
    " join tree d on k.conrelid = d.oid join pg_catalog.pg_index i on i.indexrelid = k.conindid"   \
    " where d.root = c.oid and k.contype = 'f' union all"                                          \
    " select pg_catalog.unnest(t.partclass) from pg_catalog.pg_partitioned_table t"                \
    " where t.partrelid in (select d.oid from tree d where d.root = c.oid union all"               \
    " select pg_catalog.pg_partition_ancestors(c.oid)))"                                           \
    " u(class) on u.class = o.oid where " IS_FOREIGN("a") "))"

/* Whether an operator of a foreign key or an EXCLUDE constraint of the table is code of the
 * database's own. */
#define CONSTRAINS                                                                                 \
    "exists (select from " CODE " and p.oid in (select o.oprcode from pg_catalog.pg_operator o"    \
    " where " IS_FOREIGN(                                                                          \
        "o") " and o.oid in (select pg_catalog.unnest("                                            \
             "pg_catalog.array_cat(k.conpfeqop, k.conexclop)) from pg_catalog.pg_constraint k"     \
             " join tree d on k.conrelid = d.oid where d.root = c.oid)))"

/* Whether an INSERT meets code of the database's own though no expression shows it: a column has a
 * type of the database's own, a cast of its own brings a value to the column's type, or a type's
 * name means two types. */
#define MEETS_EXPRESSIONS                                                                          \
    "(exists (select from pg_catalog.pg_attribute o where o.attrelid = c.oid and o.attnum > 0"     \
    " and o.atttypid >= 16384) or exists (select from own_casts)"                                  \
    " or exists (select from own_names) or exists (select from pg_catalog.pg_type o"               \
    " where o.typname in ('json', 'jsonb', 'inet') and " IS_FOREIGN("o") "))"

void px_runs_own_condition(pgw_buf *sql)
{
    pgw_buf_add_str(
        sql, "(exists (select from tree d cross join lateral (" CHECKED ") e(tree)"
             " where d.root = c.oid and " CALLS_OWN(
                 "e.tree") ") or " CALLED_ALIKE " or " COMPARES " or " CONSTRAINS
                           " or ((select k.expressions from code k) and " MEETS_EXPRESSIONS "))");
}

/* Whether a tree calls current_setting(), whose oids are 2077 and 3294 in every PostgreSQL, or a
 * function of the database's own. */
#define READS "::pg_catalog.text ~ ':funcid (2077|3294|[1-9][0-9]{4,}) '"

void px_reads_settings_condition(pgw_buf *sql)
{
    pgw_buf_add_str(
        sql,
        "(exists (select from pg_catalog.pg_attrdef f where f.adrelid = c.oid and f.adbin" READS
        ") or exists (select from pg_catalog.pg_constraint k where k.conrelid = c.oid"
        " and k.conbin" READS ") or exists (select from pg_catalog.pg_attribute o"
        " join pg_catalog.pg_type t on t.oid = o.atttypid"
        " where o.attrelid = c.oid and o.attnum > 0 and (t.typdefaultbin" READS
        " or t.typtype = 'd' and exists (select from pg_catalog.pg_constraint k"
        " where k.contypid = t.oid and k.conbin" READS "))))");
}
