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

/* The body of a SQL function may be stored as a tree, which a server before 14 does not know. */
#define LOUD_FUNCTION                                                                              \
    "exists (select from pg_catalog.pg_proc p"                                                     \
    " join pg_catalog.pg_namespace s on s.oid = p.pronamespace"                                    \
    " join pg_catalog.pg_language l on l.oid = p.prolang where " IS_FOREIGN(                       \
        "p") " and (s.nspname !~ '^pg_temp_'"                                                      \
             " or exists (select from pg_catalog.pg_trigger g where g.tgfoid = p.oid))"            \
             " and (l.lanname not in ('sql', 'plpgsql') or p.prosrc ~* " WORDS                     \
             " or coalesce(pg_catalog.to_jsonb(p) ->> 'prosqlbody', '') ~ calls.pattern)"          \
             " and not exists (select from pg_catalog.pg_depend d"                                 \
             " join pg_catalog.pg_extension e on e.oid = d.refobjid"                               \
             " where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid"    \
             " and d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass and d.deptype = " \
             "'e'"                                                                                 \
             " and e.extname in (" EXTENSIONS ")))"

/* Expressions are stored as trees of the functions that they call, which begin with oids. */
#define LOUD(relation, alias, tree)                                                                \
    "exists (select from pg_catalog." relation " " alias                                           \
    " where " IS_FOREIGN(alias) " and " alias "." tree "::text ~ calls.pattern)"

#define FEW                                                                                        \
    "(select pg_catalog.count(*) from pg_catalog.pg_rewrite r where " IS_FOREIGN("r") ") < 500"

void px_quiet_condition(pgw_buf *sql)
{
    pgw_buf_add_str(sql,
                    "(select " FEW " and not (" LOUD_FUNCTION
                    " or " LOUD("pg_rewrite", "r", "ev_action") " or " LOUD("pg_attrdef", "f", "adbin") " or " LOUD(
                        "pg_constraint", "k",
                        "conbin") " or " LOUD("pg_policy", "y",
                                              "polqual") " or " LOUD("pg_policy", "y",
                                                                     "polwithcheck") " or " LOUD("p"
                                                                                                 "g"
                                                                                                 "_"
                                                                                                 "t"
                                                                                                 "r"
                                                                                                 "i"
                                                                                                 "g"
                                                                                                 "g"
                                                                                                 "e"
                                                                                                 "r",
                                                                                                 "g",
                                                                                                 "t"
                                                                                                 "g"
                                                                                                 "q"
                                                                                                 "u"
                                                                                                 "a"
                                                                                                 "l") ") from (select ':funcid (' || pg_catalog.string_agg(b.oid::text, '|') || ') '"
                                                                                                      " as pattern from pg_catalog.pg_proc b where b.pronamespace = 11"
                                                                                                      " and b.proname in (" CALLED
                                                                                                      ")) as calls)");
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
