"""A Query that makes a function of an INSERT, calls it and drops it, as Sequelize's findOrCreate does:
direct and through keyspread clients see the same, and each hash is right. Functions that live on, and
bodies that are not understood, store no row."""
import re
import unittest

import wire
from direct_case import DirectCase, shown
from harness import Table


def table(name, key, *more, **options):
    return Table(name, [key, *more], [key.split()[0]], hash_first=False, **options)


ITEMS = table("items", "id bigserial", "label text not null", "n numeric(6,2) default 7", "tags text[]")
ALWAYS = table("always", "id int generated always as identity", "label text")
UUIDS = table("documents", "id uuid default gen_random_uuid()", "label text")
EVENTS = Table("events", ["userid bigint", "ts timestamptz default '2026-01-01 00:00+00'", "label varchar(5)"],
               ["userid", "ts"], hash_key=["userid", "ts"], hash_first=False)
CITIES = table("cities", "id bigserial", "label text", hash_function="cityhash64")
PAIRS = table("pairs", "id bigserial", "a int", "b int", constraints=["unique (a, b)"])
TABLES = (ITEMS, ALWAYS, UUIDS, EVENTS, CITIES, PAIRS)

BODY = ("BEGIN {insert} RETURNING * INTO response; EXCEPTION WHEN unique_violation THEN "
        "GET STACKED DIAGNOSTICS caught = PG_EXCEPTION_DETAIL; END")
FUNCTION = ("CREATE OR REPLACE FUNCTION pg_temp.testfunc(OUT response \"{table}\", OUT caught text) "
            "RETURNS RECORD AS $func_1$ {body} $func_1$ LANGUAGE plpgsql")
CALL = 'SELECT (testfunc.response)."id", (testfunc.response).label, testfunc.caught FROM pg_temp.testfunc()'
DROP = "DROP FUNCTION IF EXISTS pg_temp.testfunc()"


def query(insert, table="items", body=BODY, function=FUNCTION, call=CALL, drop=DROP):
    made = function.format(table=table, body=body.format(insert=insert))
    return f"{made}; {call}; {drop};"


TAKEN = "INSERT INTO items (id, label) VALUES (5, 'first')"
INSERTS = r"""
INSERT INTO "items" ("id","label","n") VALUES (DEFAULT,'it''s','1.005')
INSERT INTO "items" ("id","label") VALUES (5,'again')
INSERT INTO "items" ("id","label","n") VALUES ('7',E'a\\b',-3)
INSERT INTO items (label, id) VALUES ('x'::text, 2.5)
INSERT INTO items (label) VALUES ('x')
INSERT INTO public.items (label, tags) VALUES ('x', ARRAY['a','b']::VARCHAR(255)[])
INSERT INTO items (label, n, tags) VALUES (upper('x'), DEFAULT, '{a}')
INSERT INTO items (label, id) VALUES ('x', '9'::character varying (5)::bigint)
INSERT INTO items (label, id) VALUES ('x', '9'::double precision)
INSERT INTO items (id, label) VALUES (5, 'x') ON CONFLICT DO NOTHING
INSERT INTO items (id, label) VALUES (5, 'x') ON CONFLICT (id) DO UPDATE SET label = excluded.label || '!'
INSERT INTO items (id, label) VALUES (DEFAULT, 'x', 3)
INSERT INTO items (id, label, n) VALUES (DEFAULT, 'x')
INSERT INTO items (id, label) VALUES (1, 'x' y)
INSERT INTO items (id, label) VALUES (1, caught)
""".strip().split("\n")
ERRORS = r"""
INSERT INTO items (label, id) VALUES ('x', 'y')
INSERT INTO items (label, id) VALUES (NULL, 9)
INSERT INTO items (id) VALUES (9)
INSERT INTO items (id, nosuch) VALUES (DEFAULT, 'x')
INSERT INTO always (id, label) VALUES (1, 'x')
""".strip().split("\n")
OTHERS = r"""
INSERT INTO always (label) VALUES ('x')
INSERT INTO always (id, label) VALUES (DEFAULT, 'x')
INSERT INTO events (userid, label) VALUES (5, 'abc')
INSERT INTO events (userid, ts, label) VALUES (5, CURRENT_DATE, 'abc  ')
INSERT INTO events (ts, userid) VALUES ('2026-07-01 12:00', 7)
""".strip().split("\n")


def written(text):
    """Less where an error stands in a statement that has become longer."""
    return [field for field in re.findall(r"(?:^[A-Z] |\b[A-Za-z]='(?:[^'\\]|\\.)*')", text)
            if field[:2] not in ("W=", "p=", "q=")] if text[0] in "EN" else text


class FunctionOnce(DirectCase):
    tables = TABLES
    setup_sql = "create aggregate own_sum(int) (sfunc = int4pl, stype = int4, initcond = 0)"

    def play(self, messages, ready, database, port, params):
        with self.log_in(database, port, **params) as session:
            session.ask(wire.query("alter sequence items_id_seq restart; alter sequence always_id_seq restart; "
                                   + TAKEN))
            return session.ask(*messages, ready=ready)

    def check(self, text, **more):
        with self.subTest(text=text):
            self.query(text, verify=True, **more)

    def test_it_stores_what_postgresql_would(self):
        for insert in INSERTS:
            self.check(query(insert))
        for insert in OTHERS:
            name = insert.split()[2]
            self.check(query(insert, name, call=CALL.replace('"id"', "label")))
        self.check(query(INSERTS[0], body="BEGIN {insert}; END;"))

    def test_a_random_key_is_hashed_as_it_is_stored(self):
        text = query("INSERT INTO documents (id, label) VALUES (gen_random_uuid(), 'x')", "documents")
        database, port = self.route()
        for _ in range(3):
            self.play([wire.query(text)], 1, database, port, {})
        stored = self.contents(database, verify=True)
        self.assertEqual([len(rows) for rows in stored], [1, 0, 3, 0, 0, 0])

    def test_details_are_told_as_they_are(self):
        """Of the key without its hash; of another constraint with all of its values."""
        text = query("INSERT INTO pairs (id, a, b) VALUES ({id}, 3, -4)", "pairs", call=CALL.replace("label", "a"))
        for keys in ((1, 1), (1, 2)):
            for before in ("select 1", "set standard_conforming_strings = off"):
                with self.subTest(keys=keys, before=before):
                    self.both([wire.query(before), *(wire.query(text.replace("{id}", str(key))) for key in keys)],
                              ready=3, verify=True)

    def test_in_transactions(self):
        insert = "INSERT INTO items (label) VALUES ('x')"
        for first, then in (("begin", "commit"), ("begin", "rollback"),
                            ("set standard_conforming_strings = off", "select 1"),
                            ("begin; savepoint a", "rollback to a; commit")):
            with self.subTest(first=first, then=then):
                self.both([wire.query(first), wire.query(query(insert)), wire.query(then)], ready=3, verify=True)

    def test_errors_are_those_of_the_server(self):
        for insert in ERRORS:
            with self.subTest(insert=insert):
                answers = []
                for database, port in self.routes():
                    replies = self.play([wire.query(query(insert, insert.split()[2]))], 1, database, port, {})
                    answers.append([written(shown(reply)) for reply in replies])
                    self.contents(database)
                self.assertEqual(*answers)

    def refused(self, text, *codes, before=None):
        with self.subTest(text=text):
            database, port = self.route()
            messages = [wire.query(one) for one in ([before, text] if before else [text])]
            replies = self.play(messages, len(messages), database, port, {})
            self.assertIn(next(reply.fields()["C"] for reply in replies if reply.kind == "E"), codes)
            self.assertEqual(sum(len(rows) for rows in self.contents(database)), 1)

    def test_what_is_not_understood_stores_nothing(self):
        insert = INSERTS[0]
        none = ("23502", "23514")
        self.refused(query(insert, drop="select 1"), *none)
        self.refused(query(insert, drop="DROP FUNCTION IF EXISTS pg_temp.other()"), *none)
        self.refused(query(insert, function=FUNCTION.replace("LANGUAGE plpgsql", "LANGUAGE plpgsql SECURITY DEFINER")),
                     *none)
        self.refused(query(insert, call=CALL + ", pg_temp.testfunc() b"), *none)
        self.refused(query(insert, call=CALL + " WHERE true"), *none)
        self.refused(query(insert, call="SELECT set_config('search_path', 'public', false) FROM pg_temp.testfunc()"),
                     *none)
        self.refused(query(insert, body="BEGIN NULL; {insert}; END"), *none)
        self.refused(query(insert, body="BEGIN {insert}; RETURN; END"), *none)
        for cell in ("count(*)", "abs(max(7))", "string_agg('a', 'b')", "generate_series(8, 9)", "least(3, own_sum(2))"):
            self.refused(query(f"INSERT INTO items (id, label) VALUES ({cell}, 'x')", body="BEGIN {insert}; END"),
                         "0A000", "42804")
            self.refused(query(f"INSERT INTO items (id, label) VALUES (6, {cell})"), "0A000")
        self.refused(query("INSERT INTO items (id, label) VALUES (6, 'x'), (7, 'y')"), *none)
        self.refused(query("INSERT INTO items (label) SELECT 'y'"), *none)
        self.refused(query("INSERT INTO items (label) VALUES ('x') ON CONFLICT (label) DO NOTHING"), "42P10")
        self.refused(query("INSERT INTO cities (label) VALUES ('x')", "cities"), *none)


if __name__ == "__main__":
    unittest.main()
