#include "proxy/command/migrate/obstacles.h"

#include <stddef.h>

#include "proxy/command/migrate/pieces.h"

#define KEYS_MEET(numbers)                                                                         \
    "coalesce((select array_agg(k.attname::text) @> t.hash_key from pg_attribute k where "         \
    "k.attrelid ="                                                                                 \
    " t.relid and k.attnum = any (" numbers ")), false)"

const px_obstacle px_obstacles[] = {
    {"Only ordinary tables are migrated: make a new table by `keyspread ddl`, and copy the rows.",
     false,
     "select place, old, 'it is no ordinary table, or belongs to an extension' from pg_temp.t"
     " where relkind <> 'r' or relam <> (select oid from pg_am where amname = 'heap') or exists"
     " (select from pg_depend where classid = 'pg_class'::regclass and objid = relid and deptype"
     " = 'e')"},

    {"Set wal_level = logical and restart PostgreSQL, or leave --changes=decoding out.", false,
     "select 0, 'changes', format('wal_level is %s', s) from pg_temp.way,"
     " current_setting('wal_level') s where slot is not null and s <> 'logical'"},

    {"Raise max_replication_slots and restart PostgreSQL, drop a slot, or leave --changes=decoding "
     "out.",
     false,
     "select 0, 'changes', format('max_replication_slots is %s, and all are taken', s) from"
     " pg_temp.way w, current_setting('max_replication_slots') s where slot is not null and (select"
     " count(*) from pg_replication_slots r where r.slot_name <> w.slot) >= s::int"},

    {"ALTER ROLE … REPLICATION, or leave --changes=decoding out.", false,
     "select 0, 'changes', format('%s has no REPLICATION', current_user) from pg_temp.way where"
     " slot is not null and not (select rolsuper or rolreplication from pg_roles where rolname ="
     " current_user)"},

    {"ALTER TABLE … REPLICA IDENTITY DEFAULT (or FULL), or leave --changes=decoding out.", false,
     "select place, old, 'its replica identity lacks columns of the key, by which changes are"
     " decoded' from pg_temp.t, pg_temp.way where slot is not null and relreplident not in ('d',"
     " 'f') and not exists (select from pg_index r join pg_index p on p.indrelid = r.indrelid and"
     " p.indisprimary where relreplident = 'i' and r.indrelid = relid and r.indisreplident and"
     " r.indkey::int2[] @> p.indkey::int2[])"},

    {"ALTER TABLE … SET LOGGED, or leave --changes=decoding out.", false,
     "select place, old, 'it is UNLOGGED, and its changes cannot be decoded' from pg_temp.t,"
     " pg_temp.way where slot is not null and relpersistence = 'u'"},

    {"Take the inheritance away first (ALTER TABLE … NO INHERIT).", false,
     "select t.place, h.inhrelid::regclass::text, format('%s inherits from %s',"
     " h.inhrelid::regclass, h.inhparent::regclass) from pg_temp.t join pg_inherits h on t.relid"
     " in (h.inhparent, h.inhrelid)"},

    {"Let a role migrate that owns all of them: it needs CREATE on the database and on the schema, "
     "too.",
     false,
     "select place, old, format('%s may not change it, or make tables and schemas',"
     " current_user) from pg_temp.t where not pg_has_role(relowner, 'USAGE') or not"
     " has_schema_privilege(s, 'CREATE') or not has_database_privilege(current_database(),"
     " 'CREATE') union all select f.place, c.oid::regclass::text, format('%s may not change what"
     " refers to a migrated table, or is referred to', current_user) from pg_temp.fk f join"
     " pg_class c on c.oid in (f.conrelid, f.confrelid) where not pg_has_role(c.relowner,"
     " 'USAGE') union all select t.place, v.oid::regclass::text, format('%s may not replace the"
     " view', current_user) from pg_temp.t join pg_depend d on d.refclassid ="
     " 'pg_class'::regclass and d.refobjid = t.relid and d.classid = 'pg_rewrite'::regclass join"
     " pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class and v.relkind = 'v'"
     " where not pg_has_role(v.relowner, 'USAGE') or not has_schema_privilege(v.relnamespace,"
     " 'CREATE') union all select t.place, c.oid::regclass::text, format('%s may not change its"
     " policy that names %s', current_user, t.old) from pg_temp.t join pg_depend d on d.refclassid "
     "="
     " 'pg_class'::regclass and d.refobjid = t.relid and d.classid = 'pg_policy'::regclass join"
     " pg_policy p on p.oid = d.objid join pg_class c on c.oid = p.polrelid where not"
     " pg_has_role(c.relowner, 'USAGE') union all select 0, v.old, format('%s may not replace the "
     "materialized view',"
     " current_user) from pg_temp.mv v where not pg_has_role(v.relowner, 'USAGE') or not"
     " has_schema_privilege(v.s, 'CREATE')"},

    {"Give it a primary key that is neither DEFERRABLE nor has INCLUDE.", false,
     "select t.place, t.old, 'its primary key is missing, DEFERRABLE, or has INCLUDE' from"
     " pg_temp.t where not exists (select from pg_index i where i.indrelid = t.relid and"
     " i.indisprimary and i.indimmediate and i.indnatts = i.indnkeyatts)"},

    {"Write primary_key as the table has it.", false,
     "select t.place, t.old, format('its primary key is (%s), and the configuration says (%s)',"
     " t.keys, array_to_string(t.written_key, ', ')) from pg_temp.t where (select array_agg(x"
     " order by x) from unnest(t.written_key) x) <> (select array_agg(k.attname::text order by"
     " k.attname::text) from pg_index i join pg_attribute k on k.attrelid = i.indrelid and"
     " k.attnum = any (i.indkey::int2[]) where i.indrelid = t.relid and i.indisprimary)"},

    {"Rename the other table first.", false,
     "select t.place, format('%I.%I', t.s, l), format('a partition of %s is to be called so',"
     " t.old) from pg_temp.t, unnest(t.leaf) l where to_regclass(format('%I.%I', t.s, l)) is not"
     " null"},

    {"Migrate it from a schema with a shorter name.", false,
     "select place, s::text, 'the schema has a name of more than 48 bytes, to which"
     " keyspread_new_ cannot be added' from (select place, s from pg_temp.t union select 0, s from"
     " pg_temp.mv) q where octet_length(s::text) > 48"},

    {"Let a superuser migrate, or a role with BYPASSRLS.", false,
     "select place, old, format('FORCE ROW LEVEL SECURITY may hide rows from %s', current_user) "
     "from"
     " pg_temp.t where relforcerowsecurity and not (select rolsuper or rolbypassrls from pg_roles"
     " where rolname = current_user)"},

    {"Drop the rule: what it writes would have no hash.", false,
     "select distinct t.place, r.rulename::text, format('a rule of %s that writes or reads %s', "
     "t.old,"
     " o.old) from pg_temp.t join pg_rewrite r on r.ev_class = t.relid join pg_depend d on "
     "d.classid ="
     " 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass join"
     " pg_temp.t o on o.relid = d.refobjid and o.relid <> t.relid"},

    {"Take the table out of the subscription first.", false,
     "select t.place, t.old, 'a subscription writes it' from pg_temp.t join pg_subscription_rel"
     " r on r.srrelid = t.relid"},

    {"A table has its row type; it cannot become another table's. Drop what uses it first.", false,
     "select distinct t.place, pg_describe_object(d.classid, d.objid, d.objsubid), format('uses"
     " rows of %s as a type', t.old) from pg_temp.t join pg_type y on y.typrelid = t.relid join"
     " pg_depend d on d.refclassid = 'pg_type'::regclass and d.refobjid in (y.oid, y.typarray)"
     " and not (d.classid = 'pg_type'::regclass and d.objid = y.typarray)"},

    {"Drop it first, and make it again for the new table.", false,
     "select t.place, pg_describe_object(d.classid, d.objid, d.objsubid), format('depends on"
     " %s', t.old) from pg_temp.t join pg_depend d on d.refclassid = 'pg_class'::regclass and"
     " d.refobjid = t.relid where not case d.classid when 'pg_class'::regclass then exists"
     " (select from pg_class x where x.oid = d.objid and (x.relkind in ('i', 't', 'S') or exists"
     " (select from pg_inherits where inhrelid = x.oid))) when 'pg_attrdef'::regclass then"
     " exists (select from pg_attrdef a where a.oid = d.objid and a.adrelid = t.relid) when"
     " 'pg_constraint'::regclass then exists (select from pg_constraint o where o.oid = d.objid"
     " and (o.conrelid = t.relid or o.contype = 'f')) when 'pg_trigger'::regclass then exists"
     " (select from pg_trigger g where g.oid = d.objid and (g.tgrelid = t.relid or"
     " g.tgisinternal)) when 'pg_rewrite'::regclass then exists (select from pg_rewrite r join"
     " pg_class v on v.oid = r.ev_class where r.oid = d.objid and (r.ev_class = t.relid or"
     " v.relkind in ('v', 'm'))) when 'pg_policy'::regclass then true when"
     " 'pg_type'::regclass then true when"
     " 'pg_publication_rel'::regclass then true when 'pg_statistic_ext'::regclass then true when"
     " 'pg_proc'::regclass then true else false end"},

    {"Name all columns in GROUP BY.", false,
     "select distinct t.place, r.ev_class::regclass::text, format('groups by the key of %s, and"
     " takes other columns as given by it', t.old) from pg_temp.t join pg_constraint o on"
     " o.conrelid = t.relid and o.contype = 'p' join pg_depend d on d.refclassid ="
     " 'pg_constraint'::regclass and d.refobjid = o.oid and d.classid = 'pg_rewrite'::regclass"
     " join pg_rewrite r on r.oid = d.objid"},

    {"Use hash_function: pg_hash, whose CHECK refuses such rows, or take ON UPDATE away.", false,
     "select f.place, f.conname::text, format('writes columns of %s that the hash is made of',"
     " t.old) from pg_temp.fk f join pg_constraint o on o.oid = f.oid join pg_temp.t on t.place"
     " = f.from_place where o.confupdtype in ('c', 'n', 'd') and not t.checked and exists"
     " (select from pg_attribute k where k.attrelid = t.relid and k.attnum = any (o.conkey) and"
     " k.attname::text = any (t.hash_key))"},

    {"Validate it first (ALTER TABLE … VALIDATE CONSTRAINT).", false,
     "select place, conname::text, 'a foreign key of a table that is to be in partitions is NOT"
     " VALID' from pg_temp.fk where from_parted and not convalidated"},

    {"Drop the trigger, or take partitions: { buckets: N }.", false,
     "select t.place, g.tgname::text, format('a trigger of %s with transition tables, for each"
     " row', t.old) from pg_temp.t join pg_trigger g on g.tgrelid = t.relid where t.parted and"
     " g.tgtype & 1 = 1 and (g.tgnewtable is not null or g.tgoldtable is not null)"},

    {"Publish the table without a list of columns and without WHERE.", false,
     "select t.place, p.pubname::text, format('publishes columns or rows of %s', t.old) from"
     " pg_temp.t join pg_publication_rel l on l.prrelid = t.relid join pg_publication p on p.oid"
     " = l.prpubid where to_jsonb(l) ->> 'prattrs' is not null or to_jsonb(l) ->> 'prqual' is"
     " not null"},

    {"partitions: { buckets: N } keeps it.", true,
     "select t.place, o.conname::text, format('%s: a table in partitions has it only with the"
     " columns of the hash', pg_get_constraintdef(o.oid)) from pg_temp.t join pg_constraint o on"
     " o.conrelid = t.relid"
     " where t.parted and (o.contype = 'x' or (o.contype = 'u' and not " KEYS_MEET(
         "o.conkey") "))"},

    {"partitions: { buckets: N } keeps it.", true,
     "select t.place, x.relname::text, format('%s: a table in partitions has it only with the"
     " columns of the hash', pg_get_indexdef(x.oid)) from pg_temp.t join pg_index i on"
     " i.indrelid = t.relid join pg_class x on x.oid = i.indexrelid where t.parted and"
     " i.indisunique and not i.indisprimary and "
     "(not " KEYS_MEET(
         "i.indkey::int2[]") " or i.indexprs is not null) and not exists (select from "
                             "pg_constraint o where o.conindid = x.oid and o.contype in ('u',"
                             " 'x'))"},

    {"partitions: { buckets: N } keeps it. A partitioned table that refers to it is to be changed "
     "by hand.",
     true,
     "select f.place, f.conname::text, format('%s of %s: the key alone is not unique in a table"
     " in partitions, or %2$s is one', f.def, f.referrer) from pg_temp.fk f where f.lost"},

    {"Add the hash column to the subscribers' tables first; then accept it.", true,
     "select t.place, p.pubname::text, format('publishes %s: its subscribers get the hash"
     " column', t.old) from pg_temp.t, pg_publication p, pg_get_publication_tables(p.pubname) l"
     " where l.relid = t.relid and p.pubname <> " PX_PUBLICATION},

    {"Publish tables or schemas by name; or make these tables at the subscribers, too, and accept "
     "it.",
     true,
     "select 0, pubname::text, 'publishes all tables, also those that the migration makes in its"
     " schemas' from pg_publication where puballtables"},

    {"The new table is logged.", true,
     "select place, n || '.unlogged', format('%s is UNLOGGED', old) from pg_temp.t where"
     " relpersistence = 'u'"},

    {"Drop the index, or accept that it is left out.", true,
     "select t.place, x.relname::text, format('an index of %s that is not valid', t.old) from"
     " pg_temp.t join pg_index i on i.indrelid = t.relid join pg_class x on x.oid = i.indexrelid"
     " where not i.indisvalid"},

    {"The partitions have their keys as replica identity.", true,
     "select t.place, n || '.replica_identity', format('%s has an index as its replica"
     " identity', t.old) from pg_temp.t where parted and relreplident = 'i'"},

    {"Make it again afterwards.", true,
     "select t.place, n || '.labels', format('security labels of %s', t.old) from pg_temp.t"
     " where exists (select from pg_seclabel where classoid = 'pg_class'::regclass and objoid ="
     " relid)"},

    {"Grant them again afterwards.", true,
     "select t.place, x.relname::text, format('rights on the sequence of an identity column of"
     " %s', t.old) from pg_temp.t join pg_depend d on d.refclassid = 'pg_class'::regclass and"
     " d.refobjid = t.relid and d.classid = 'pg_class'::regclass and d.deptype = 'i' join"
     " pg_class x on x.oid = d.objid and x.relkind = 'S' and x.relacl is not null"},

    {NULL, false, NULL}};
