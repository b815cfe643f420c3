"""sequences: { block: n }: numbers of a sequence are drawn ahead, for keys that the database makes. What
a client sees is what PostgreSQL shows with CACHE, and a client alone sees no difference at all."""
import unittest

import harness
import metrics
import wire
from direct_case import DirectCase
from harness import Table

BLOCK = {"block": 100}


def table(name, key, **options):
    return Table(name, [key, "v text"], [key.split()[0]], hash_first=False,
                 sequences=BLOCK, **options)


SERIAL = table("items", "id bigserial")
ALWAYS = table("always", "id int generated always as identity")
FEW = table("few", "id int default nextval('five')")
ROUND = table("rounds", "id int default nextval('cycle')")
DOWN = table("down", "id smallint default nextval('minus')")
TIMES_TEN = table("tens", "id bigint default nextval('items_id_seq') * 10")
UUIDS = table("uuids", "id uuid default gen_random_uuid()", hash_function="pg_hash")
TABLES = (SERIAL, ALWAYS, FEW, ROUND, DOWN)
BEFORE = """
    create sequence five maxvalue 5;
    create sequence cycle maxvalue 4 cycle;
    create sequence minus increment -3 minvalue -40000 start -32700;
"""


def inserts(name, count, returning=" returning id"):
    return [wire.query(f"insert into {name} (v) values ('{n}'){returning}") for n in range(count)]


class OwnCasts(DirectCase):
    """A number's text is what its type says, whatever a cast makes of it."""
    tables = (SERIAL, ALWAYS)
    before_sql = BEFORE + "; ".join(
        f"""create function marked({one}) returns text language sql immutable as $$select '#' || {out}($1)::text$$;
            create cast ({one} as text) with function marked({one}) as implicit"""
        for one, out in (("bigint", "int8out"), ("integer", "int4out"), ("oid", "oidout")))
    options = {"workers": 1}

    def test_numbers_follow_each_other(self):
        for table in self.tables:
            self.both([wire.query("select 1"), *inserts(table.name, 5)], ready=6, verify=True)


class Alone(DirectCase):
    """What one client sees is what it sees of PostgreSQL."""
    tables = TABLES
    before_sql = BEFORE
    options = {"workers": 1, "admin": {}}

    def setUp(self):
        """Through keyspread, which would have numbers of before for a while."""
        for database, port in self.routes():
            with self.log_in(database, port) as session:
                session.rows("alter sequence five restart; alter sequence cycle restart;"
                             " alter sequence minus restart; truncate "
                             + ", ".join(t.name for t in TABLES) + " restart identity")

    def play_one_by_one(self, messages, database, port):
        """Each is answered before the next is sent."""
        with self.log_in(database, port) as session:
            replies = [one for message in messages for one in session.ask(message)]
        return ([str(wire.error_of([one])) if one.kind in "ENT" else f"{one.kind} {one.body!r}"
                 for one in replies], self.contents(database, verify=True))

    def both(self, messages):
        """Numbers that nobody uses for half a second are lost: where everything takes long, it is
        tried again."""
        for _ in range(10):
            self.setUp()
            direct = self.play_one_by_one(messages, "direct", self.postgres.port)
            through = self.play_one_by_one(messages, *self.route())
            if direct == through:
                return
        self.assertEqual(direct, through)

    def test_many(self):
        for name in "items", "always":
            with self.subTest(name):
                self.both(inserts(name, 40))
                self.both(inserts(name, 250, ""))

    def test_prepared(self):
        messages = []
        for n in range(60):
            messages.append(wire.parse("", "insert into items (v) values ($1), ($2) returning id, v")
                            + wire.bind("", "", [str(n), "x"]) + wire.execute() + wire.sync())
        self.both(messages)

    def test_the_last_of_them(self):
        self.both(inserts("few", 8))
        self.both(inserts("few", 8, ""))

    def test_round_and_round(self):
        self.both([message for n in range(5) for message in
                   inserts("rounds", 4) + [wire.query("delete from rounds")]])

    def test_down_and_out(self):
        """-32700, -32703 … are smallint for a while."""
        self.both(inserts("down", 30))

    def test_set_by_the_session(self):
        for text in ("select setval('items_id_seq', 5000)", "alter sequence items_id_seq restart with 700",
                     "truncate items restart identity", "do $$ begin perform setval('items_id_seq', 77); end $$",
                     "alter sequence items_id_seq increment by 5 restart with 50"):
            with self.subTest(text):
                self.both([*inserts("items", 12), wire.query(text), *inserts("items", 12),
                           wire.query("alter sequence items_id_seq increment by 1")])


class Ends:
    """Of a sequence that ends all numbers are given out, however they are drawn."""

    def test_a_sequence_that_ends(self):
        with self.postgres.admin(self.database) as admin:
            admin.rows("truncate items; alter sequence items_id_seq restart maxvalue 50")
            # through keyspread, which would not try again to draw for others soon
            self.addCleanup(lambda: self.wire().rows("alter sequence items_id_seq no maxvalue"))

        def client(number):
            session = self.wire()
            key = ("default", "nextval('items_id_seq')")[number % 2]
            return [wire.error_of(session.ask(wire.query(f"insert into items (id, v) values ({key}, 'x')")))
                    for _ in range(5)]
        errors, more = [], sum(harness.in_threads(20, client), [])
        while None in more:  # what was drawn for one who was late is for who comes later
            errors += more
            more = client(len(errors))
        self.assertEqual(set(errors), {None, "2200H"})
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select count(*), min(id), max(id) from items"),
                             [["50", "1", "50"]])

    def admin_rows(self, text):
        with self.postgres.admin(self.database) as admin:
            admin.rows(text)


@harness.proxied
class Shared(Ends, harness.StackCase):
    """What several clients see, who share blocks."""
    shares = True
    tables = (SERIAL, UUIDS, TIMES_TEN)
    options = {"workers": 1, "admin": {}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.postgres.admin(cls.database) as admin:
            admin.rows("create table child (parent bigint, other bigint); create sequence other;"
                       "create table noted (n serial, v text);"
                       "do $$ begin create role writer; create role reader;"
                       " exception when duplicate_object then end $$;"
                       "grant insert, select on items to writer;"
                       "grant usage on items_id_seq to writer, reader; grant select on items to reader")

    def setUp(self):
        super().setUp()
        self.wire().rows("alter sequence items_id_seq restart; truncate child; alter sequence other restart")

    def ids(self, session, count):
        return [int(session.rows("insert into items (v) values ('x') returning id")[0][0])
                for _ in range(count)]

    def test_nobody_waits_for_the_next_block(self):
        """A client alone asks for no key: blocks come while its rows are under way."""
        session = self.wire()
        self.ids(session, 20)
        mark = self.postgres.mark()
        self.ids(session, 300)
        asked = self.postgres.statements(mark, self.database, "has_any_column_privilege")
        self.assertLess(len(asked), 200)
        self.assertLess(len([one for one in asked if "case when c" in one.text]), 120)

    def test_they_are_counted(self):
        before = metrics.Scrape(self.keyspread)
        session = self.wire()
        self.ids(session, 200)
        session.rows("insert into uuids (v) values ('x'), ('y')")
        counted = metrics.Scrape(self.keyspread).since(before)
        made = counted.by("keys_made_total", "by")
        self.assertEqual(made["question"] + made.get("block", 0), 200)
        self.assertEqual(made["random"], 2)
        self.assertEqual("block" in made, self.shares)
        self.assertGreater(counted.get("sequence_blocks_total"), 0)  # code that asks is looked for, too

    def test_each_number_once(self):
        def client(number):
            session = self.wire()
            ids = []
            for turn in range(30):
                session.rows(f"insert into items (v) values ('{number}, {turn}')")
                ids += self.ids(session, 1)
                replies = session.ask(wire.parse("", "insert into items (v) values ($1), ($2) returning id"),
                                      wire.bind("", "", ["a", "b"]), wire.execute(), wire.sync())
                ids += [int(one.row()[0]) for one in replies if one.kind == "D"]
            self.assertEqual(ids, sorted(ids))  # of one session they grow
            return ids
        mark = self.postgres.mark()
        ids = [one for ids in harness.in_threads(32, client) for one in ids]
        self.assertEqual(len(set(ids)), 32 * 90)
        self.check_stored(SERIAL, count=32 * 120)
        self.assertLess(len(self.postgres.statements(mark, self.database, "nextval")), 1500)

    def test_rows_and_transactions(self):
        """A client's own numbers grow, however it draws them."""
        session, ids = self.wire(), []
        for n in range(1, 25):
            values = ", ".join(f"('{n}')" for _ in range(n % 7 + 1))
            for text in (f"insert into items (v) values {values} returning id", "begin",
                         "insert into items (v) values ('in') returning id",
                         "rollback" if n % 3 == 0 else "commit",
                         "insert into items (v) values ('a') returning id"):
                ids += [int(row[0]) for row in session.rows(text)]
        self.assertEqual(ids, sorted(set(ids)))
        self.check_stored(SERIAL)

    def test_in_another_role(self):
        session = self.wire()
        ids = self.ids(session, 12)
        for text in "set role writer", "reset role", "set role reader", "reset role":
            session.rows(text)
            if "reader" in text:
                replies = session.ask(wire.query("insert into items (v) values ('x')"))
                self.assertEqual(wire.error_of(replies), "42501")
            else:
                ids += self.ids(session, 3)
        self.assertEqual(ids, sorted(set(ids)))

    def test_rights_that_are_taken(self):
        """… through keyspread: nothing is left of what was drawn by them."""
        owner = self.wire()
        owner.rows("alter role writer login")
        session = self.wire("writer")
        for taken in ("usage on sequence items_id_seq from writer", "insert on items from writer"):
            self.ids(session, 12)
            owner.rows(f"revoke {taken}")
            for _ in range(2):
                replies = session.ask(wire.query("insert into items (v) values ('x')"))
                self.assertEqual(wire.error_of(replies), "42501")
            owner.rows(f"grant {taken.replace(' from ', ' to ')}")
        self.ids(session, 2)

    def prepared(self, session, name, text, *values):
        replies = session.ask(wire.parse(name, text), wire.bind("", name, values), wire.execute(), wire.sync())
        return [one.row()[0].decode() for one in replies if one.kind == "D"]

    def again(self, session, name):
        replies = session.ask(wire.bind("", name), wire.execute(), wire.sync())
        return [one.row()[0].decode() for one in replies if one.kind == "D"]

    def test_what_was_drawn(self):
        """lastval() and currval() tell what this session got."""
        texts = ("select lastval()", "SELECT CURRVAL('items_id_seq');", 'select pg_catalog."lastval" ( )',
                 "select 1 where false; select currval(pg_get_serial_sequence('items', 'id'))",
                 "select currval(/* of ) it */ 'public.items_id_seq'::regclass) as x",
                 "insert into child values (currval('items_id_seq'), lastval()) returning parent",
                 "insert into child values (lastval()); select parent from child where other is null")
        for number, text in enumerate(texts):
            session = self.wire()
            for turn in range(3):
                self.ids(session, 7)
                session.rows(f"insert into items (v) values ('{number}, {turn}')")
                own = session.rows(f"select id from items where v = '{number}, {turn}'")[0][0]
                with self.subTest(text):
                    self.assertEqual(session.rows(text)[-1][0], own)
                session.rows("truncate child")
            replies = session.ask(wire.query("select lastval()"))
            self.assertEqual([c[0] for one in replies if one.kind == "T" for c in one.columns()], ["lastval"])

    def test_what_was_drawn_prepared(self):
        for text, values in (("select lastval()", ()), ("select currval($1)", ("items_id_seq",)),
                             ("select currval('items_id_seq')", ())):
            for name in "", "s":
                session = self.wire()
                drawn = str(self.ids(session, 9)[-1])
                with self.subTest(text, name=name):
                    self.assertEqual(self.prepared(session, name, text, *values), [drawn])
                    drawn = str(self.ids(session, 1)[-1])
                    if name and not values:
                        self.assertEqual(self.again(session, name), [drawn])
                    self.assertEqual(self.prepared(session, "", text, *values), [drawn])

    def test_what_its_own_link_drew(self):
        """… is told, if it was drawn later than what others drew."""
        draws = ((None, "insert into noted (v) values ('x') returning n"),
                 (None, "with n as (insert into noted (v) values ('x') returning n) select n from n"),
                 (None, "select nextval('other')"), (1, "select nextval('items_id_seq')"),
                 (1, "insert into items (id, v) values (nextval('items_id_seq'), 'x') returning id"),
                 (10, "insert into tens (v) values ('x') returning id"),
                 (0, "insert into items (id, v) values (-length('a'), 'x') on conflict do nothing"),
                 (0, "insert into child values (1, 2)"))
        for factor, text in draws:
            for prepared in False, True:
                session = self.wire()
                last = own = self.ids(session, 30)[-1]
                told = self.prepared(session, "", text) if prepared else [
                    row[0] for row in session.rows(text)]
                if factor != 0:
                    last = int(told[0]) // (factor or 1)
                with self.subTest(text, prepared=prepared):
                    self.assertEqual(session.rows("select lastval(), currval('items_id_seq')"),
                                     [[str(last), str(last if factor else own)]])
        self.check_stored(SERIAL)
        self.check_stored(TIMES_TEN)

    def test_what_another_sequence_gave(self):
        session = self.wire()
        drawn = self.ids(session, 9)[-1]
        self.assertEqual(wire.error_of(session.ask(wire.query("select currval('other')"))), "55000")
        self.assertEqual(session.rows("select nextval('other')"), [["1"]])
        self.assertEqual(session.rows("select lastval()"), [["1"]])
        self.assertGreater(self.ids(session, 1)[0], drawn)
        self.assertNotEqual(session.rows("select lastval()"), [["1"]])

    def test_by_nextval(self):
        session = self.wire()
        ids = self.ids(session, 12)
        for text in "insert into items (id) values (nextval('items_id_seq')) returning id", "select nextval('items_id_seq')":
            ids += [int(session.rows(text)[0][0]), *self.ids(session, 12)]
        self.assertEqual(ids, sorted(set(ids)))

    def test_they_are_batched(self):
        def client(number):
            session = self.wire()
            for turn in range(20):
                session.rows(f"insert into items (v) values ('{number}, {turn}')")
                session.rows("insert into uuids (v) values ('x')")
        with self.postgres.admin(self.database) as admin:
            before = int(admin.rows("select count(*) from items")[0][0])
            harness.in_threads(16, client)
            self.assertEqual(admin.rows("select count(*) from items")[0], [str(before + 320)])
            self.assertEqual(admin.rows(
                "select count(*), count(*) filter (where id_hash = hash_record_extended(row(id), 0)), count(distinct id)"
                " from uuids"), [["320"] * 3])

    def test_begun_anew_by_others(self):
        """… through keyspread: from the answer on, everybody draws anew. Some may be lost, of a block
        that is under way."""
        one, other = self.wire(), self.wire()
        one.rows("insert into items (v) values " + ", ".join(["('x')"] * 500))
        self.ids(one, 20)
        self.assertGreater(self.ids(other, 1)[0], 520)
        other.rows("truncate items restart identity")
        self.assertLess(self.ids(one, 3)[2], 400)
        other.rows("alter sequence items_id_seq restart with 1000")
        ids = self.ids(one, 2)
        self.assertEqual([1000 <= id < 1400 for id in ids], [True] * 2, ids)


@harness.proxied
class Named(harness.StackCase):
    """nextval('name') in the key's cell is the same as DEFAULT where the name means the sequence of
    the column's default, and nothing but what its session's own link makes of it elsewhere."""
    tables = (SERIAL, ALWAYS)
    options = {"workers": 1, "admin": {}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.postgres.admin(cls.database) as admin:
            admin.rows("create schema nearer; grant all on schema nearer to public")

    def setUp(self):
        super().setUp()
        self.wire().rows("alter sequence items_id_seq restart")
        self.session = self.wire()
        self.addCleanup(self.wire().rows, "drop sequence if exists nearer.items_id_seq")

    def ids(self, session, count, call="nextval('items_id_seq')"):
        text = f"insert into items (id, v) values ({call}, 'x') returning id"
        return [int(session.rows(text)[0][0]) for _ in range(count)]

    def of_blocks(self, before):
        made = metrics.Scrape(self.keyspread).since(before).by("keys_made_total", "by")
        return made.get("block", 0), sum(made.values())

    def until_of_blocks(self, session, **options):
        """A block is drawn for who writes quickly; numbers that nobody uses for half a second are lost."""
        def drawn():
            before = metrics.Scrape(self.keyspread)
            self.ids(session, 12, **options)
            return self.of_blocks(before)[0] > 6
        harness.eventually("numbers are drawn ahead", drawn)

    def test_however_it_is_written(self):
        for call in ("nextval('items_id_seq')", "pg_catalog.nextval('public.items_id_seq'::regclass)",
                     """NextVal( '"items_id_seq"' /* its 'own' */ )""", "nextval('Public.ITEMS_id_seq')"):
            with self.subTest(call):
                self.until_of_blocks(self.wire(), call=call)

    def test_prepared_and_several_rows(self):
        session, numbers = self.session, []
        text = ("insert into items (id, v) values (nextval('items_id_seq'), $1), (nextval('items_id_seq'), $2),"
                " (default, $1) returning id")

        def drawn():
            before = metrics.Scrape(self.keyspread)
            for _ in range(12):
                replies = session.ask(wire.parse("", text), wire.bind("", "", ["a", "b"]), wire.execute(), wire.sync())
                numbers.extend(int(one.row()[0]) for one in replies if one.kind == "D")
            return self.of_blocks(before)[0] > 18
        harness.eventually("numbers are drawn ahead", drawn)
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(session.rows("select lastval(), currval('items_id_seq')"), [[str(numbers[-1])] * 2])

    def test_asked_for_in_the_same_text(self):
        """What currval() tells of a number that its own text draws, its own connection must have drawn."""
        call = "nextval('items_id_seq')"
        for text in (f"insert into items (id, v) values ({call}, currval('items_id_seq')) returning id, v",
                     f"insert into items (id, v) values ({call}, 'x') returning id, lastval()",
                     "insert into items (v) values (lastval()) returning id, v",
                     f"insert into items (id) values ({call}) returning id; select lastval()",
                     "insert into items (v) values ('x') returning id; select currval('items_id_seq')"):
            with self.subTest(text):
                session = self.wire()
                self.until_of_blocks(session)
                self.assertEqual(len({number for row in session.rows(text) for number in row}), 1)
                prepared = self.wire()
                if ";" not in text:
                    prepared.ask(wire.parse("p", text), wire.sync())
                    self.until_of_blocks(self.wire())
                    for _ in range(3):
                        replies = prepared.ask(wire.bind("", "p"), wire.execute(), wire.sync())
                        self.assertEqual([len(set(one.row())) for one in replies if one.kind == "D"], [1])

    def test_each_number_once(self):
        def client(number):
            session, ids = self.wire(), []
            for _ in range(20):
                ids += self.ids(session, 1 + number % 2)
                ids += [int(session.rows("insert into items (v) values ('x') returning id")[0][0])]
            self.assertEqual(ids, sorted(ids))
            return ids
        before = metrics.Scrape(self.keyspread)
        ids = [one for ids in harness.in_threads(16, client) for one in ids]
        self.assertEqual(len(set(ids)), 16 * 50)
        self.check_stored(SERIAL)
        self.assertEqual(metrics.Scrape(self.keyspread).since(before).get("batched_rows_total"), 16 * 50)

    def test_another_one_comes_first(self):
        """By whomever it is made, and wherever the name is looked for."""
        session = self.wire()
        session.rows("set search_path = nearer, public")
        self.until_of_blocks(session)
        self.wire().rows("create sequence nearer.items_id_seq start 1000000")
        self.assertEqual(self.ids(session, 30), list(range(1000000, 1000030)))
        self.assertLess(self.ids(self.session, 1)[0], 1000000)
        self.assertEqual(session.rows("select lastval()"), [["1000029"]])
        session.rows("begin; alter sequence nearer.items_id_seq restart 2000000; commit")
        self.assertEqual(self.ids(session, 1), [2000000])
        session.rows("set search_path = public")
        self.assertLess(self.ids(session, 1)[0], 1000000)
        session.rows("set search_path = nearer, public")
        self.assertEqual(self.ids(session, 1), [2000001])
        self.wire().rows("drop sequence nearer.items_id_seq")
        self.assertLess(self.ids(session, 1)[0], 1000000)

    def test_what_a_session_may_find(self):
        """By rights that others give, and by what they have prepared."""
        owner = self.wire()
        for text in ("create role finder login", "grant all on items, always to finder",
                     "grant all on all sequences in schema public to finder", "revoke all on schema nearer from public",
                     "grant all on schema public to finder",
                     "create function makes() returns void language plpgsql as $$ begin"
                     " execute 'create sequence nearer.items_id_seq start 1000000'; end $$"):
            owner.rows(text)
        self.addCleanup(self.wire().rows, "drop function makes()")
        hidden = "create sequence nearer.items_id_seq start 1000000; grant all on sequence nearer.items_id_seq to finder"
        for name, before, then, back in (
                ("granted", (hidden,), "grant usage on schema nearer to finder", "revoke usage on schema nearer from finder"),
                ("a superuser", (hidden,), "alter role finder superuser", "alter role finder nosuperuser"),
                ("prepared", ("alter role finder superuser", "prepare makes as select makes()"), "execute makes",
                 "alter role finder nosuperuser")):
            with self.subTest(name):
                session = self.wire("finder")
                for text in ("drop sequence if exists nearer.items_id_seq", "truncate items", *before):
                    owner.rows(text)
                session.rows("set search_path = nearer, public")
                self.until_of_blocks(session)
                owner.rows(then)
                self.assertEqual(self.ids(session, 1), [1000000])
                owner.rows(back)
                if name != "prepared":
                    self.assertLess(self.ids(session, 1)[0], 1000000)
                session.close()

    def test_a_temporary_one(self):
        session = self.session
        self.until_of_blocks(session)
        session.rows("create temporary sequence items_id_seq start 5000000")
        self.assertEqual(self.ids(session, 30), list(range(5000000, 5000030)))
        self.assertLess(self.ids(session, 1, "nextval('public.items_id_seq')")[0], 5000000)
        session.rows("drop sequence pg_temp.items_id_seq")
        self.assertLess(self.ids(session, 1)[0], 5000000)

    def test_in_a_transaction_that_is_rolled_back(self):
        session = self.session
        self.until_of_blocks(session)
        session.rows("begin; set local search_path = nearer, public; create sequence nearer.items_id_seq start 3000000")
        self.assertEqual(self.ids(session, 1), [3000000])
        session.rows("rollback")
        self.assertLess(self.ids(session, 1)[0], 3000000)

    def test_its_name_goes(self):
        session, owner = self.session, self.wire()
        self.until_of_blocks(session)
        owner.rows("alter sequence items_id_seq rename to other_seq")
        try:
            replies = session.ask(wire.query("insert into items (id) values (nextval('items_id_seq'))"))
            self.assertEqual(wire.error_of(replies), "42P01")
            self.assertTrue(self.ids(session, 1, "nextval('other_seq')"))
        finally:
            owner.rows("alter sequence other_seq rename to items_id_seq")
        self.assertTrue(self.ids(session, 1))

    def test_a_function_of_that_name(self):
        session, owner = self.session, self.wire()
        self.until_of_blocks(session)
        owner.rows("create function public.nextval(text) returns bigint language sql as 'select 77000000'")
        self.addCleanup(owner.rows, "drop function public.nextval(text)")
        self.assertEqual(self.ids(session, 1), [77000000])
        session.rows("delete from items where id = 77000000")

    def test_always(self):
        """It is no DEFAULT there."""
        with self.postgres.admin(self.database) as admin:
            sequence = admin.rows("select pg_get_serial_sequence('always', 'id')")[0][0]
        for _ in range(3):
            replies = self.session.ask(wire.query(f"insert into always (id) values (nextval('{sequence}'))"))
            self.assertEqual(wire.error_of(replies), "428C9")
        text = f"insert into always (id) overriding system value values (nextval('{sequence}')) returning id"
        ids = [int(self.session.rows(text)[0][0]) for _ in range(20)]
        self.assertEqual(ids, sorted(set(ids)))


class Asked(Shared):
    """Code that the database stores asks what was drawn."""
    shares = False

    test_nobody_waits_for_the_next_block = test_each_number_once = None
    test_they_are_batched = test_begun_anew_by_others = test_rows_and_transactions = test_by_nextval = None
    test_in_another_role = test_what_was_drawn = test_what_was_drawn_prepared = None
    test_what_another_sequence_gave = None

    def setUp(self):
        super().setUp()
        self.admin_rows("create function last_one() returns bigint language sql as 'select lastval()'")
        self.addCleanup(self.admin_rows, "drop function last_one()")

    def test_code_that_asks(self):
        """Where what the database stores asks what was drawn, each session draws for itself."""
        session = self.wire()
        for _ in range(30):
            drawn = self.ids(session, 1)[0]
        self.assertEqual(session.rows("select last_one()"), [[str(drawn)]])


@harness.proxied
class Together(Ends, harness.StackCase):
    """Nothing is drawn ahead, as by default: who draws does so for all that wait, in PostgreSQL's order."""
    tables = (Table("items", ["id bigserial", "v text"], ["id"], hash_first=False,
                    batch={"target_ms": 60_000}),)  # no row is a slow one, which goes by its own link
    options = {"workers": 1, "admin": {}}

    def test_each_draws_behind_all_that_are_answered(self):
        """And is told what it got itself."""
        latest = [0]
        before = metrics.Scrape(self.keyspread)

        def client(number):
            session = self.wire()
            for turn in range(40):
                answered = latest[0]
                key = ("default", "nextval('items_id_seq')")[turn // 2 % 2]
                if turn % 2:
                    id = int(session.rows(f"insert into items (id, v) values ({key}, 'x') returning id")[0][0])
                else:
                    replies = session.ask(wire.parse("", f"insert into items (id, v) values ({key}, $1) returning id"),
                                          wire.bind("", "", ["y"]), wire.execute(), wire.sync())
                    id = int(next(one.row()[0] for one in replies if one.kind == "D"))
                self.assertGreater(id, answered)
                latest[0] = max(latest[0], id)
                if number % 4 == 0 and turn % 5 == 4:  # who asks draws for itself from then on
                    told = [int(value) for value in session.rows(
                        "select lastval(), currval('items_id_seq'),"
                        " currval(pg_get_serial_sequence('items', 'id'))")[0]]
                    self.assertEqual(told, [id] * 3)
        harness.in_threads(32, client)
        self.check_stored(count=32 * 40, table=self.tables[0])
        counted = metrics.Scrape(self.keyspread).since(before)
        self.assertEqual(sum(counted.by("keys_made_total", "by").values()), 32 * 40)

    def test_who_waits_is_drawn_for_by_the_next(self):
        """While one waits for the sequence, others come."""
        sessions = [self.wire() for _ in range(16)]
        for one in sessions:
            one.rows("insert into items (v) values ('known') returning id")
        before = metrics.Scrape(self.keyspread)
        with self.postgres.admin(self.database) as holder:
            holder.rows("begin; alter sequence items_id_seq cache 1")  # nextval() waits for its end
            for one in sessions:
                one.send(wire.query("insert into items (v) values ('x') returning id"))
            self.wire().rows("select 1")  # all have been read
            holder.rows("rollback")
        ids = [int(next(m.row()[0] for m in one.read_until("Z") if m.kind == "D")) for one in sessions]
        self.assertEqual(len(set(ids)), len(sessions))
        made = metrics.Scrape(self.keyspread).since(before).by("keys_made_total", "by")
        self.assertEqual(sum(made.values()), len(sessions))
        self.assertGreater(made.get("block", 0), len(sessions) // 2)

    def test_nextval_of_the_client_s_is_batched(self):
        """It has no part in the transaction of its row."""
        session, sequence = self.wire(), "items_id_seq"
        for call in (f"nextval('{sequence}')", f"pg_catalog.nextval('public.{sequence}'::regclass)",
                     f"""NextVal( '"{sequence}"' /* its own */ )"""):
            before = metrics.Scrape(self.keyspread)
            text = f"insert into items (id, v) values ({call}, 'x') returning id"
            ids = [session.rows(text)[0][0] for _ in range(3)]
            for _ in range(3):
                replies = session.ask(wire.parse("", text),
                                      wire.bind("", ""), wire.execute(), wire.sync())
                ids.append(next(one.row()[0].decode() for one in replies if one.kind == "D"))
            self.assertEqual(ids, sorted(set(ids), key=int))
            self.assertEqual(session.rows("select lastval()"), [[ids[-1]]])
            self.assertEqual(metrics.Scrape(self.keyspread).since(before).get("batched_rows_total"), 6, call)

    def test_those_that_come_together_are_asked_for_together(self):
        """Binds of one statement, up to their Sync."""
        session, other = self.wire(), self.wire()
        session.ask(wire.parse("one", "insert into items (v) values ($1) returning id"),
                    wire.parse("two", "insert into items (id, v) values (nextval('items_id_seq'), $1), (default, $1)"
                                      " returning id"), wire.sync())
        ids, rows = [], {"one": 1, "two": 2}

        def group(*names, wrong=None):
            """Their numbers; number `wrong` of them is not taken."""
            mark = self.postgres.mark()
            replies = session.ask(*(wire.bind("", name, ["x" if n != wrong else "\0"]) + wire.execute()
                                    for n, name in enumerate(names)), wire.sync())
            self.assertEqual(wire.error_of(replies), None if wrong is None else "22021")
            got = [int(one.row()[0]) for one in replies if one.kind == "D"]
            if wrong is None:
                self.assertEqual(len(got), sum(rows[name] for name in names))
                ids.extend(got)
            return len(self.postgres.statements(mark, self.database, "has_any_column_privilege"))
        for _ in range(2):
            for name in "one", "two":
                self.assertLess(group(*[name] * 100), 20)
                ids.append(int(other.rows("insert into items (v) values ('x') returning id")[0][0]))
        group(*["one", "two", "two"] * 10)
        group(*["one"] * 10, wrong=5)
        ids.append(int(session.rows("insert into items (v) values ('x') returning id")[0][0]))
        self.assertEqual(session.rows("select lastval()"), [[str(ids[-1])]])
        self.assertEqual(ids, sorted(set(ids)))
        self.check_stored(table=self.tables[0])

    def test_alone_nothing_is_shared(self):
        """So that everything tells what was drawn."""
        session = self.wire()
        for turn in range(5):
            id = session.rows("insert into items (v) values ('x') returning id")[0][0]
            self.assertEqual(session.rows("select * from lastval()"), [[id]])

    def test_the_one_who_draws_fails_or_leaves(self):
        """Those that wait for it draw for themselves."""
        def client(number):
            for turn in range(10):
                session = self.wire()
                if number % 4 == 0:
                    session.send(wire.query("insert into items (v) values ('left')"))
                    session.close()
                elif number % 4 == 1:
                    session.rows("set statement_timeout = 1")
                    session.ask(wire.query("insert into items (v) values ('late') returning id"))
                else:
                    session.rows("insert into items (v) values ('x') returning id")
                session.close()
        harness.in_threads(16, client)
        with self.postgres.admin(self.database) as admin:
            self.assertEqual(admin.rows("select count(*) from items where v = 'x'"), [["80"]])
        self.check_stored(table=self.tables[0])


if __name__ == "__main__":
    unittest.main()
