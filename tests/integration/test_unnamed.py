"""The hash column's name, where its client did not mean that column: PostgreSQL does not advise to take it, and
what the client calls so hides it no less."""
import unittest

import harness
import wire
from direct_case import DirectCase
from harness import Table

HINTS = (
    "select ev_has from ev", "select ev.ev_has from ev", "select ev_hush from ev", "select e.ev_has from ev e",
    "select ev_has from ev e, ev f", "select * from ev order by ev_has", "select * from ev where ev_hahs = 1",
    "update ev set event = ev_has", "delete from ev returning ev_has", "create view made as select ev_has from ev",
    "insert into ev (userid, ts) values (1, 2) on conflict (ev_has) do nothing",
    "insert into ev (userid, ts) values (1, 2) on conflict (userid, ts) do update set event = excluded.ev_has",
    "insert into ev select 1, 2, ev_has from ev", "select 1 from ev join pl on pl.ev_has = 1",
    "prepare p as select ev_has from ev where userid = $1", "select 'é', ev_has from ev where userid = 5",
    # others keep theirs
    "select userd from ev", "select userid, evnt from ev", "select evnt from ev e, ev f", "select ev_has from near",
    "select ev_has from near n, near m",
)

ALIASES = (
    "select 1 as ev_hash from ev order by ev_hash", "select userid as ev_hash from ev", "select userid as ev_hash, * from ev",
    "select event as ev_hash, count(*) from ev group by ev_hash order by 1", "select t.* from ev t(a, ev_hash)",
    "select * from ev t(a, ev_hash)", "select ev_hash from ev t(a, ev_hash)", "select t.ev_hash, c from ev t(a, ev_hash, c)",
    "select * from ev t(a, ev_hash, c) where a = 5 and ev_hash = 2", "with x(ev_hash) as (select userid from ev) select * from x",
    "with ev_hash as (select * from ev) select * from ev_hash", "select *, s.ev_hash from (select userid as ev_hash from ev) s, ev",
    "select * from ev as ev_hash", "select ev_hash.* from ev as ev_hash", "select *, (select 5 as ev_hash) from ev",
    "update ev set event = event returning userid as ev_hash, *", "select count(*) as ev_hash from ev having count(*) > 0",
    "delete from ev where userid = 99 returning userid ev_hash, *", "table ev",
    "select row_number() over ev_hash, * from ev window ev_hash as (order by userid, ts)",
    "select * from ev, lateral (select ev.userid ev_hash) l", "prepare ev_hash as select * from ev",
    "create view made as select userid as ev_hash, e.* from ev e natural join pl",
    "select userid ev_hash, e.* from ev e natural join pl where userid = 5", "insert into ev values (7, 7) returning *, ts ev_hash",
)


class Unnamed(DirectCase):
    tables = (Table("ev", ["userid bigint not null", "ts int not null", "event text"], ["userid", "ts"], hash_first=False,
                    hash_column="ev_hash"),)
    setup_sql = "create table pl (userid bigint, v text); create table near (ev_has2 int)"
    rows_sql = ("insert into ev (userid, ts, event) values (5, 1, 'a'), (5, 2, 'b'), (6, 1, 'a')",)
    user = "postgres"
    partitioned = True

    def test_hints(self):
        for text in HINTS:
            with self.subTest(text):
                self.undone([wire.query(text)])
                self.undone([wire.parse("", text), wire.sync()])

    @harness.proxied
    def test_of_two_columns_the_other_is_left(self):
        with self.log_in(*self.route()) as session:
            hint = session.query("select ev_has from ev, (select 1 as ev_hast) o")[0].fields()["H"]
            self.assertEqual(hint, 'Perhaps you meant to reference the column "o.ev_hast".')

    def test_names_of_the_clients_own(self):
        for text in ALIASES:
            with self.subTest(text):
                self.undone([wire.query(text)])
                self.undone([wire.parse("", text), wire.bind("", "", []), wire.describe("P", ""), wire.execute(), wire.sync()])

    @harness.proxied
    def test_who_means_it_is_shown_it(self):
        with self.log_in(*self.route()) as session:
            for text in ("select ev_hash from ev", "select e.ev_hash as ev_hash from ev e", "select *, ev_hash % 16 as part from ev",
                         "select * from ev where ev_hash > 0 or true", "update ev set event = event returning *, ev_hash",
                         "select count(*) as n, ev_hash from ev group by ev_hash"):
                with self.subTest(text):
                    columns = [column[0] for reply in session.query(text) if reply.kind == "T" for column in reply.columns()]
                    self.assertIn("ev_hash", columns)


if __name__ == "__main__":
    unittest.main()
