#include "proxy/command/migrate/pieces_tables.h"

#include <stddef.h>

/* What an expression makes of the table's columns of some kind, k, as a list. */
#define EACH_COLUMN(expression, condition)                                                         \
    "(select coalesce(string_agg(" expression ", ', ' order by k.attnum), '') from pg_attribute k" \
    " where k.attrelid = a.relid and k.attnum > 0 and not k.attisdropped" condition "), "

/* What an expression makes of the columns of the table's primary key, k, as a list in its order. */
#define EACH_OF_KEY(expression)                                                                    \
    "(select string_agg(" expression ", ', ' order by u.place) from pg_index i,"                   \
    " unnest(i.indkey::int2[]) with ordinality u(attnum, place) join pg_attribute k on k.attnum"   \
    " = u.attnum where k.attrelid = a.relid and i.indrelid = a.relid and i.indisprimary and"       \
    " u.place <= i.indnkeyatts), "

#define NOT_GENERATED " and k.attgenerated = ''"

/* What an UPDATE may set. */
#define SETTABLE NOT_GENERATED " and k.attidentity <> 'a'"

const char *const px_pieces_tables[] = {
    "create temp table way (slot text) on commit drop;create temp table asked (place int, relid "
    "oid, hash name, hash_key text[], written_key"
    " text[], parted bool, hash_first bool, checked bool, leaf text[], fill text) on commit "
    "drop;create"
    " temp table plan (id int generated always as identity, phase text, reason text, statement"
    " text) on commit drop;create temp table obstacle (place int, name text, what text, advice"
    " text, acceptable bool) on commit drop;",

    "create temp table t (keys, key_texts, old_keys, new_keys, columns, stored, new_stored,"
    " changed, place, relid, hash, hash_key, written_key, parted, hash_first, checked, leaf, fill, "
    "s,"
    " n, ns, os, old, fresh, kept, made, key_name, relkind, relam, relowner, reloptions,"
    " reltoastrelid, reltablespace, relacl, relreplident, relpersistence, relrowsecurity, "
    "relforcerowsecurity) on commit drop as"
    " select ",
    EACH_OF_KEY("quote_ident(k.attname)"), EACH_OF_KEY("quote_ident(k.attname) || '::text'"),
    EACH_OF_KEY("'OLD.' || quote_ident(k.attname)"),
    EACH_OF_KEY("'NEW.' || quote_ident(k.attname)"), EACH_COLUMN("quote_ident(k.attname)", ""),
    EACH_COLUMN("quote_ident(k.attname)", NOT_GENERATED),
    EACH_COLUMN("'NEW.' || quote_ident(k.attname)", NOT_GENERATED),
    EACH_COLUMN("format('%I = NEW.%1$I', k.attname)", SETTABLE),
    "a.*, s.nspname::text, c.relname::text, 'keyspread_new_' || s.nspname, 'keyspread_old_' ||"
    " s.nspname, format('%I.%I', s.nspname, c.relname), format('%I.%I', 'keyspread_new_' ||"
    " s.nspname, c.relname), format('%I.%I', 'keyspread_old_' || s.nspname, c.relname), case"
    " when a.parted then a.leaf else array[c.relname::text] end, (select conname from"
    " pg_constraint where conrelid = a.relid and contype = 'p'), c.relkind, c.relam, c.relowner,"
    " c.reloptions, c.reltoastrelid, c.reltablespace, c.relacl, c.relreplident,"
    " c.relpersistence, c.relrowsecurity, c.relforcerowsecurity from pg_temp.asked a join pg_class "
    "c on c.oid = a.relid"
    " join pg_namespace s on s.oid = c.relnamespace;",

    /* A foreign key is lost if it refers to a table that is to be in partitions, where the key
     * alone is not unique; and if another table, in partitions, has it, which PostgreSQL does not
     * take NOT VALID. */
    "create temp table fk on commit drop as select o.oid, o.conname, o.convalidated, o.conrelid, "
    "o.confrelid, "
    "coalesce(f.place, r.place)"
    " place, f.place from_place, coalesce(f.parted, false) from_parted, coalesce(f.leaf, '{}')"
    " leaf, f.s, coalesce(r.parted, false) or (f.place is null and c.relkind = 'p') lost,"
    " format('%I.%I', n.nspname, c.relname) referrer,"
    " regexp_replace(pg_get_constraintdef(o.oid), ' NOT VALID$', '') def, r.place to_place,"
    " (select i.indisprimary from pg_index i where i.indexrelid = o.conindid) of_key from"
    " pg_constraint o join pg_class c on c.oid = o.conrelid join pg_namespace n on n.oid ="
    " c.relnamespace left join pg_temp.t f on f.relid = o.conrelid left join pg_temp.t r on"
    " r.relid = o.confrelid where o.contype = 'f' and o.conparentid = 0 and (f.place is not null"
    " or r.place is not null);",
    /* Materialized views that read a migrated table, or another one of them. One that is made later
     * has a higher oid, so that they are made in the order of these. */
    "create temp table mv on commit drop as with recursive m(oid) as (select v.oid from pg_temp.t "
    "join pg_depend d"
    " on d.refclassid = 'pg_class'::regclass and d.refobjid = t.relid and d.classid ="
    " 'pg_rewrite'::regclass join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid ="
    " r.ev_class and v.relkind = 'm' union select v.oid from m join pg_depend d on d.refclassid ="
    " 'pg_class'::regclass and d.refobjid = m.oid and d.classid = 'pg_rewrite'::regclass join"
    " pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class and v.relkind = 'm')"
    " select m.oid, s.nspname::text s, v.relname::text n, 'keyspread_new_' || s.nspname ns,"
    " 'keyspread_old_' || s.nspname os, format('%I.%I', s.nspname, v.relname) as old,"
    " format('%I.%I', 'keyspread_new_' || s.nspname, v.relname) fresh, format('%I.%I',"
    " 'keyspread_old_' || s.nspname, v.relname) kept, v.relowner, v.relacl, v.reloptions,"
    " v.reltablespace, v.relispopulated, exists (select from pg_index i where i.indrelid = v.oid"
    " and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null) keyed from m"
    " join pg_class v on v.oid = m.oid join pg_namespace s on s.oid = v.relnamespace;",

    /* What views and functions are made anew of; and the schemas of all that is made. */
    "create temp view base as select relid from pg_temp.t union select oid from pg_temp.mv;"
    "create temp view spaces as select distinct s, ns, os from pg_temp.t union select s, ns, os "
    "from"
    " pg_temp.mv;",
    NULL};
