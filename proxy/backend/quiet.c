#include "proxy/backend/quiet.h"

/* Objects below are PostgreSQL's own, made by initdb. */
#define IS_FOREIGN(alias) alias ".oid >= 16384"

/* In a body: words that make, run or take what a session has. A SET that begins a statement is
 * one, that of an UPDATE is not. No setting decides what a backslash means between dollars. */
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

/* Written in C, and known to keep their hands off. */
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

/* Rows p of functions that are somebody's own, or of an extension that is not known. */
#define OWN_FUNCTIONS                                                                              \
    "pg_catalog.pg_proc p join pg_catalog.pg_namespace s on s.oid = p.pronamespace"                \
    " join pg_catalog.pg_language l on l.oid = p.prolang where " IS_FOREIGN(                       \
        "p") " and not " OF_KNOWN_EXTENSION

/* The body of a SQL function may be stored as a tree, which a server before 14 does not know. */
#define LOUD_FUNCTION                                                                              \
    "exists (select from " OWN_FUNCTIONS " and (s.nspname !~ '^pg_temp_'"                          \
    " or exists (select from pg_catalog.pg_trigger g where g.tgfoid = p.oid))"                     \
    " and (l.lanname not in ('sql', 'plpgsql') or p.prosrc ~* " WORDS                              \
    " or coalesce(pg_catalog.to_jsonb(p) ->> 'prosqlbody', '') ~ calls.pattern))"

/* One that can run though no text names it: something else than triggers and defaults hangs on it,
 * or `row.name` may mean it. What it calls by name may be loud. */
#define UNNAMED_FUNCTION                                                                           \
    "exists (select from " OWN_FUNCTIONS " and (l.lanname not in ('sql', 'plpgsql')"               \
    " or exists (select from pg_catalog.pg_depend d"                                               \
    " where d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refobjid = p.oid"       \
    " and d.classid not in ('pg_catalog.pg_trigger'::pg_catalog.regclass,"                         \
    " 'pg_catalog.pg_event_trigger'::pg_catalog.regclass,"                                         \
    " 'pg_catalog.pg_attrdef'::pg_catalog.regclass))"                                              \
    " or exists (select from pg_catalog.pg_type t"                                                 \
    " where t.oid = p.proargtypes[0] and t.typtype in ('c', 'd', 'p'))))"

/* Expressions are stored as trees of the functions that they call, which begin with oids. */
#define LOUD_TREE                                                                                  \
    "exists (select from (select oid, ev_action::text as tree from pg_catalog.pg_rewrite"          \
    " union all select oid, adbin::text from pg_catalog.pg_attrdef"                                \
    " union all select oid, conbin::text from pg_catalog.pg_constraint"                            \
    " union all select oid, polqual::text from pg_catalog.pg_policy"                               \
    " union all select oid, polwithcheck::text from pg_catalog.pg_policy"                          \
    " union all select oid, tgqual::text from pg_catalog.pg_trigger) as t"                         \
    " where " IS_FOREIGN("t") " and t.tree ~ calls.pattern)"

#define FEW                                                                                        \
    "(select pg_catalog.count(*) from pg_catalog.pg_rewrite r where " IS_FOREIGN("r") ") < 500"

#define CALLS                                                                                      \
    "(select ':funcid (' || pg_catalog.string_agg(b.oid::text, '|') || ') ' as pattern"            \
    " from pg_catalog.pg_proc b where b.pronamespace = 11 and b.proname in (" CALLED ")) as calls"

void px_quiet_expression(pgw_buf *sql)
{
    pgw_buf_add_str(sql, "(select case when " LOUD_TREE " or not " FEW " then 'f'"
                         " when not " LOUD_FUNCTION " then 't'"
                         " when not " UNNAMED_FUNCTION " then 'r' else 'f' end from " CALLS ")");
}

/* The tree of an expression calls a function that is somebody's own, or changes the session. */
#define CALLS_OWN(tree)                                                                            \
    "exists (select from pg_catalog.regexp_matches(" tree ", 'funcid ([0-9]+)', 'g') m"            \
    " where (m.m)[1]::pg_catalog.int8 in (select p.oid::pg_catalog.int8 from " OWN_FUNCTIONS       \
    " union all select p.oid::pg_catalog.int8 from pg_catalog.pg_proc p"                           \
    " where p.pronamespace = 11 and p.proname in (" CALLED ")))"

/* What is kept in columns of own types, and cast to one, is checked as its domains say: any. */
#define CHECKED                                                                                    \
    "select k.conbin::text from pg_catalog.pg_constraint k where k.conrelid = d.oid"               \
    " union all select i.indexprs::text from pg_catalog.pg_index i where i.indrelid = d.oid"       \
    " union all select i.indpred::text from pg_catalog.pg_index i where i.indrelid = d.oid"        \
    " union all select k.conbin::text from pg_catalog.pg_constraint k where k.contypid >= 16384"   \
    " and (exists (select from pg_catalog.pg_attribute o where o.attrelid = d.oid"                 \
    " and o.attnum > 0 and o.atttypid >= 16384) or exists (select from pg_catalog.pg_constraint o" \
    " where o.conrelid = d.oid and o.conbin::text like '%COERCETODOMAIN%')"                        \
    " or exists (select from pg_catalog.pg_index o where o.indrelid = d.oid"                       \
    " and pg_catalog.concat(o.indexprs, o.indpred) like '%COERCETODOMAIN%'))"

void px_runs_own_condition(pgw_buf *sql)
{
    pgw_buf_add_str(sql, "exists (select from tree d cross join lateral (" CHECKED ") e(tree)"
                         " where d.root = c.oid and " CALLS_OWN("e.tree") ")");
}

/* current_setting() has the same oids in every PostgreSQL. */
#define READS "::text ~ ':funcid (2077|3294|[1-9][0-9]{4,}) '"

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
