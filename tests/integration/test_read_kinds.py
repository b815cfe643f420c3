"""How statements read a spread table is counted, said by EXPLAIN (PROXY), and told in the log of those that read it whole."""
import unittest

import harness
import metrics
import wire
from harness import Table

ITEMS = Table("items", ["id bigint not null", "note text", "kind text"], ["id"], key_order="hash_last", partitions=4)
KEY, SEEK, SCAN = "key", "seek", "scan"
TEXTS = (
    (KEY, "select * from items where id = 5", "one row (one partition)"),
    (KEY, "update items set note = 'x' where id in (5, 6, 7)", "3 seeks, one a row (at most 3 partitions)"),
    (KEY, "delete from items where id = any('{1000,1001,1002,1003,1004}')", "5 seeks, one a row (at most 4 partitions)"),
    (SEEK, "select * from items order by id desc limit 10", "4 seeks, one a partition"),
    (SEEK, "select max(id) from items", "4 seeks, one a partition"),
    (SEEK, "delete from items where id > 1000", "4 seeks, one a partition"),
    (SEEK, "select * from items where note = 'x'", "4 seeks, one a partition"),
    (SEEK, "select * from items order by note limit 1", "4 seeks, one a partition"),
    (SEEK, "select * from items limit 1", "4 seeks, one a partition"),
    (SCAN, "select count(*) from items", "the whole table"),
    (SCAN, "select * from items where kind = 'x' and note like 'a%'", "the whole table"),
    (SCAN, "select * from items where kind = 'y' order by kind limit 1", "the whole table"),
)


@harness.proxied
class ReadKinds(harness.StackCase):
    tables = (ITEMS,)
    options = {"admin": {}}

    def setUp(self):
        super().setUp()
        with self.wire() as session:
            session.query("drop index if exists by_note, by_kind")
            session.query("create index by_note on items (note)")
            session.query("insert into items (id, note) select n, 'x' from generate_series(1, 100) n")

    def reads(self):
        counted = metrics.Scrape(self.keyspread).by("reads_total", "kind", table="public.items")
        return {kind: int(counted.get(kind, 0)) for kind in (KEY, SEEK, SCAN)}

    def check(self, kind, run):
        before = self.reads()
        run()
        after = self.reads()
        self.assertEqual({of: after[of] - before[of] for of in after}, {of: int(of == kind) for of in after})

    def test_texts(self):
        with self.wire() as session:
            for kind, text, says in TEXTS:
                with self.subTest(text):
                    self.check(kind, lambda text=text: session.query(text))
                    self.assertIn([f"reads: public.items: {says}"], session.rows("explain (proxy) " + text))

    def test_binds(self):
        """Of a name or of none, of what asks for the hash or not; each Bind is a read, a Parse is none."""
        with self.wire() as session:
            for kind, text, _ in TEXTS:
                for name in ("", "s"):
                    with self.subTest(text, name=name):
                        self.check(None, lambda text=text, name=name: session.ask(wire.parse(name, text), wire.sync()))
                        for _ in range(2):
                            self.check(kind, lambda name=name: session.ask(wire.bind("", name), wire.execute(), wire.sync()))
                        session.ask(wire.close("S", name), wire.sync())

    def test_parameters(self):
        with self.wire() as session:
            for kind, text in ((KEY, "select * from items where id = $1"), (SEEK, "select * from items where id > $1"),
                               (SCAN, "select * from items where kind = $1")):
                with self.subTest(text):
                    self.check(kind, lambda text=text: session.ask(
                        wire.parse("", text), wire.bind("", "", ["5"]), wire.execute(), wire.sync()))

    def test_other_statements_are_no_reads(self):
        with self.wire() as session:
            for text in ("explain select * from items", "insert into items (id) values (2000)", "select 1", "table pg_class",
                         "prepare p as select * from items", "delete from items where id = 2000 and false; rollback"):
                with self.subTest(text):
                    self.check(KEY if "delete" in text else None, lambda text=text: session.query(text))

    def test_index_that_is_made(self):
        with self.wire() as session:
            text = "select * from items where kind = 'x'"
            self.check(SCAN, lambda: session.query(text))
            self.assertIn(["help: public.items: an index that begins with kind, or a condition on id"],
                          session.rows("explain (proxy) " + text))
            session.query("create index by_kind on items (kind)")
            self.check(SEEK, lambda: session.query(text))


@harness.proxied
class Told(harness.StackCase):
    tables = (ITEMS,)

    def test_log(self):
        """What reads the whole table most is told, without its constants, at the end as each hour; what reads it by keys is not."""
        with self.wire() as session:
            for text, times in (("select * from items where kind = 'secret' and note in ('a', 'b')", 1),
                                ("select * from items where kind = 'other' and note in ('c')", 2),
                                ("select count(*)  from items -- 'comment'", 2), ("select * from items where id = 5", 5)):
                for _ in range(times):
                    session.query(text)
            for i in range(20):
                session.query(f"select count(*) as name_{i} from items")
        keyspread = self.keyspread
        keyspread.stop()
        lines = [line for line in keyspread.lines.text().splitlines() if "event=table_scanned" in line]
        self.assertEqual(len(lines), 10)
        self.assertIn('table=public.items times=3 shape="select * from items where kind = ? and note in (?)"', lines[0])
        self.assertIn('table=public.items times=2 shape="select count(*) from items"', lines[1])
        self.assertNotIn("secret", "".join(lines))


if __name__ == "__main__":
    unittest.main()
