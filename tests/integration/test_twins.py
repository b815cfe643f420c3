"""Tables of one name in two schemas, beside each other in a FROM: the hash column of the configured one is not
seen, whoever names what. Direct and through keyspread."""
import unittest

import wire
from direct_case import DirectCase
from harness import Table

TABLES = ("ta", ["a bigint", "k bigint not null", "v bigint"], ["k"]), ("tb", ["k bigint not null", "a bigint not null"], ["k", "a"])
OTHERS = """create schema o; create table o.ta (k bigint, v bigint, w bigint); create table o.tb (a bigint, k bigint);
    create table pl (k bigint, v bigint); create table ph (h bigint); create table o.th (h bigint, k bigint);
    insert into o.ta values (1, 1, 1), (2, 3, 4); insert into o.tb values (3, 2), (1, 1); insert into pl values (1, 1), (2, 3), (3, 4);
    insert into ph values (7); insert into o.th values (8, 2)"""
ROWS = "insert into ta values (1, 2, 3), (2, 3, 4)", "insert into tb values (1, 2), (2, 3)"

TEXTS = (
    "select * from ta, o.ta", "select * from o.ta, ta natural join pl", "select * from ta, o.ta natural join pl",
    "select * from ta natural join o.ta", "select * from public.ta join o.ta using (k)", "select * from ta join pl using (k), o.ta",
    "select * from public.ta natural join pl, o.ta where public.ta.k = 2", "select * from ta, o.ta where public.ta.k = 2 and o.ta.k = 1",
    "select to_jsonb(public.ta.*) from public.ta, o.ta", "select public.ta.* from public.ta, o.ta natural join pl",
    "select to_jsonb(public.ta.*), to_jsonb(o.ta.*), * from ta, o.ta", "select o.ta.*, public.ta.k from public.ta, o.ta natural join pl",
    "select count(public.ta.*) from ta, o.ta", "select public.ta.k, public.ta.a + o.ta.w from ta, o.ta natural join pl order by public.ta.v, 2",
    "select *, public.ta.v from ta, o.ta join tb using (k)", "select * from ta, o.ta, tb natural join o.tb", "select * from tb natural join o.tb, ta",
    "select to_jsonb(public.ta.*), tb.* from ta, o.ta, tb", "select *, to_jsonb(public.ta.*) from ta, o.ta, public.tb, o.tb",
    "select *, to_jsonb(public.tb.*) from ta, o.ta, public.tb, o.tb natural join pl", "select *, to_jsonb(ta) from public.ta, public.tb",
    "select (select to_jsonb(public.ta.*)) from ta, o.ta", "select (select max(public.ta.k) from o.ta) from public.ta natural join pl",
    "select * from public.ta natural join pl where exists (select from o.ta where public.ta.k = o.ta.k)",
    "select *, ta.v from public.ta natural join pl where exists (select from o.ta where public.ta.k = o.ta.k)",
    "select *, (select public.ta.k + ta.k from o.ta where ta.k = 1) from public.ta natural join pl where ta.v = 3",
    "select *, to_jsonb(ta.*), (select public.ta.v from o.ta limit 1) from public.ta natural join pl",
    "select *, (select public.ta.v from pl ta limit 1) from public.ta natural join pl for update of ta",
    "select *, (select public.ta.v from pl ta limit 1) from public.ta natural join pl where public.ta.k = 2",
    "select * from (select * from ta natural join pl) ta, o.ta", "select * from ta t natural join pl, o.ta, public.ta",
    "select row_to_json(public.ta.*)::text from ta, o.ta where public.ta.k in (2, 3) order by 1",
    "select public.ta.k, max(public.ta.v) from ta, o.ta natural join pl group by public.ta.k",
    "with x as (select * from ta, o.ta natural join pl) select count(*) from x", "create view made as select to_jsonb(public.ta.*) j from ta, o.ta",
    "update o.ta set v = 5 from public.ta where public.ta.k = o.ta.k returning to_jsonb(public.ta.*), o.ta.*",
    "update ta set v = 5 from o.ta where public.ta.k = o.ta.k returning to_jsonb(public.ta.*), to_jsonb(o.ta.*)",
    "delete from ta using o.ta where public.ta.k = 2 returning *", "delete from o.ta using ta where public.ta.k = 2 returning *, to_jsonb(public.ta.*)",
    "select * from o.ta natural join pl, ta limit 0", "select public.ta.nope from ta, o.ta natural join pl",
    "select * from o.ta natural join ta order by public.ta.a", "table o.ta",
    # a name that means both
    "select ta.k from public.ta, o.ta", "select ta from public.ta, o.ta", "select * from public.ta, o.ta natural join pl where ta.k = 1",
    "select to_jsonb(ta) from public.ta, o.ta", "select *, ta.* from public.ta, o.ta natural join pl", "select ta.* from ta, o.ta",
    "select (select ta.k) from public.ta, o.ta natural join pl", "select (ta).k from ta, o.ta", "select k from ta, o.ta natural join pl",
    "select * from public.ta, public.ta", "select * from ta natural join pl, ta", "select public.ta from public.ta, o.ta",
    "select * from ta, o.ta natural join pl for update of ta",
    # who names the column
    "select h from ta, o.ta", "select public.ta.h from ta, o.ta", "select o.ta.h from ta, o.ta", "select o.tb.h, public.tb.k from tb, o.tb",
    "select h from ta, o.ta, ph", "select *, h from ta, o.ta natural join pl, ph", "select o.th.h, public.ta.k from ta, o.th, o.ta",
    "delete from ta using o.ta where public.ta.h = 1",
    "update o.ta set v = public.ta.h from ta", "select tb.h from tb, o.tb",
    # search_path finds the other
    "set local search_path = o, public; select * from ta, public.ta", "select o.th.h from o.th where h = 8",
)
AMBIGUOUS = "select * from ta, public.ta", "select * from ta, public.ta natural join pl", "select to_jsonb(public.ta.*) from ta, public.ta", \
    "select public.ta.* from ta, public.ta", "select public.ta.k, * from ta natural join pl, public.ta", "select * from ta, public.tb", \
    "select public.tb.*, ta.* from ta, public.tb natural join pl"


# Written by the bare name, which search_path gives to the other one, or to ours.
WRITTEN = (
    "insert into ta values (7, 8, 9) returning *", "insert into ta values (7, 8, 9) returning ta.*, to_jsonb(ta)",
    "insert into ta (k, v) values (7, 8), (8, 9) returning *", "insert into ta select * from o.ta returning *",
    "update ta set v = 5 where k = 2 returning *", "update ta set v = 5 returning *, ta::text", "delete from ta returning *", "delete from ta where k = 1 returning ta.*",
    "update ta set v = p.v from pl p where p.k = ta.k returning *", "update ta set v = x.v from public.tb t, o.ta x where x.k = ta.k and t.k = x.k returning *",
    "update ta set v = x.v from public.ta x where x.k = ta.k returning *", "update ta t set v = x.v from o.ta x where x.k = t.k returning t.*, x.*",
    "delete from ta using public.ta x where x.k = ta.k returning *", "delete from ta using o.ta x where x.k = ta.k returning to_jsonb(x), ta.*",
    "with w as (delete from ta returning *) select to_jsonb(w), * from w, public.tb",
    "with w as (update ta set v = 1 where k = 2 returning ta.*) insert into pl select k, v from w returning *",
    "merge into ta using pl on pl.k = ta.k when matched then update set v = 0", "table ta", "copy ta to stdout", "copy (select * from ta) to stdout",
    "select h from ta", "insert into ta values (7, 8, 9) returning h", "update ta set v = 1 where h = 2", "delete from ta where ta.h > 0 returning k",
)


class Twins(DirectCase):
    tables = tuple(Table(name, columns, key, hash_first=False, hash_column="h", hide="strict") for name, columns, key in TABLES)
    setup_sql = OTHERS
    rows_sql = ROWS
    user = "postgres"
    partitioned = True

    def test_texts(self):
        for text in TEXTS:
            with self.subTest(text):
                self.undone([wire.query(text)])

    def test_written(self):
        for path in ("o, public", "public, o"):
            for text in WRITTEN:
                with self.subTest(text, path=path):
                    self.undone([wire.query(f"set local search_path = {path}; {text}")])
                    self.undone([wire.parse("", f"set local search_path = {path}"), wire.bind("", ""), wire.execute(), wire.parse("", text), wire.bind("", ""),
                                 wire.describe("P", ""), wire.execute(), wire.sync()])

    def test_prepared(self):
        for text in TEXTS:
            if ";" not in text and not text.startswith("create"):
                with self.subTest(text):
                    self.undone([wire.parse("", text), wire.describe("S", ""), wire.bind("", "", []), wire.execute(), wire.sync()])

    def test_found_first(self):
        for text in AMBIGUOUS:
            with self.subTest(text):
                self.undone([wire.query("set local search_path = o, public")], [wire.query(text)])


class Seen(Twins):
    """… where only who does not name it does not see it."""
    tables = tuple(Table(name, columns, key, hash_first=False, hash_column="h_of") for name, columns, key in TABLES)


if __name__ == "__main__":
    unittest.main()
