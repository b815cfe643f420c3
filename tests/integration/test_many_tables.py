"""A configuration of more tables than a SELECT has columns: what is replied is what PostgreSQL replies of plain tables, of the
first, of the last, of those between, and of others by their names."""
import unittest

import harness
from direct_case import SessionCase
from test_catalog_hidden import same_less_oids
from made_case import Planned

COUNT = 2500
NAMES = ("t0", "t999", "t1000", "t1001", "t2499")

ASKED = (
    "insert into {0} values (1, 'a'), (2, 'b')", "insert into {0} (id) values (1)", "select * from {0} where id = 1", "table {0}",
    "update {0} set id = 3 where id = 2 returning *", "select row_to_json({0}) from {0} order by id",
    "select attname, attnum from pg_attribute where attrelid = '{0}'::regclass order by attnum",
    "select pg_get_indexdef(indexrelid), indkey from pg_index where indrelid = '{0}'::regclass",
    "set search_path = other, public", "insert into {0} (id) values (7)", "select * from {0}", "create table public.plain (like {0})",
    "select * from public.{0} order by id", "drop table public.plain", "create temp table {0} (x int)", "table {0}", "drop table {0}",
    "reset search_path", "select * from {0} order by id", "delete from {0} where id = 3 returning {0}.*",
)


@harness.proxied
class ManyTables(SessionCase):
    tables = tuple(Planned(f"t{number}", ["id"]) for number in range(COUNT))
    before_sql = "create schema other; grant usage on schema other to public; " + "; ".join(
        f"create table other.{name} (id int, more int); grant all on other.{name} to public" for name in NAMES)

    def shown(self, reply):
        return same_less_oids(reply)

    def test_each(self):
        with self.connected():
            for name in NAMES:
                for text in (f"create table {name} (id int primary key, v text)", *ASKED):
                    with self.subTest(text.format(name)):
                        self.query(text.format(name))
            hashed = self.admins["hashed"].rows("select count(*) from pg_attribute where attname = 'id_hash' and attnum > 0"
                                                " and attrelid in (select oid from pg_class where relkind = 'r')")
            self.assertEqual(hashed, [[str(len(NAMES))]])


if __name__ == "__main__":
    unittest.main()
