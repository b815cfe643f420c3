"""The commands: their exit codes, what they print, and that they agree with what is stored."""
import json
import os
import re
import subprocess
import tempfile
import unittest

import harness
from harness import EVENTS

DONE, WRONG, USAGE = 0, 1, 2
COLUMNS = [{"name": "userid", "type": "bigint", "not_null": True},
           {"name": "ts", "type": "timestamptz", "not_null": True},
           {"name": "event", "type": "text"}]
TS = "2026-01-02 03:04:05+00"


class CommandCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="keyspread-commands-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name="keyspread.yaml"):
        """A file with this text (or, as JSON, this configuration); its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text, indent=2))
        return path

    def run_command(self, *arguments, code=DONE, stdin=""):
        result = subprocess.run([harness.program(), *arguments], input=stdin, check=False,
                                capture_output=True, text=True, timeout=harness.PATIENCE,
                                cwd=self.folder)
        self.assertEqual(result.returncode, code,
                         f"keyspread {' '.join(arguments)}\n{result.stdout}\n{result.stderr}")
        return result

    def config(self, port=1, **table):
        """A configuration of `events` with its columns in the file."""
        return {"listen": ["127.0.0.1:6432"],
                "backend": {"dsn": f"host=127.0.0.1 port={port} user={harness.USER} dbname=app "
                                   "sslmode=disable", "dialect": "postgres"},
                "tables": [{**EVENTS.config(), "columns": COLUMNS, **table}]}

    @staticmethod
    def blocks(text):
        """`key: value` lines, a dict for each statement."""
        blocks = [{}]
        for line in text.split("\n"):
            match = re.match(r"(?:not )?(\w+): ?(.*)", line)
            if match:
                if match[1] in blocks[-1]:
                    blocks.append({})
                blocks[-1][match[1]] = match[2]
        return blocks


class Plain(CommandCase):
    def test_usage(self):
        for arguments in ((), ("nothing",), ("run",), ("check",), ("hash", "x"), ("verify", "x"),
                          ("check", "a", "b"), ("version", "x"), ("ddl",)):
            with self.subTest(arguments=arguments):
                result = self.run_command(*arguments, code=USAGE)
                self.assertEqual(result.stdout, "")
                self.assertIn("keyspread", result.stderr)

    def test_help_and_version(self):
        for word in ("help", "--help", "-h"):
            text = self.run_command(word).stdout
            for command in ("run", "check", "explain", "hash", "ddl", "verify", "migrate", "version", "help"):
                self.assertIn(f"keyspread {command}", text)
        self.assertRegex(self.run_command("version").stdout, r"^keyspread \d+\.\d+\.\d+\n$")

    def test_check(self):
        self.run_command("check", self.file(self.config()))

    def test_check_of_a_hash_column_that_is_not_the_last(self):
        hashed = {"name": "userhash", "type": "bigint", "not_null": True}
        for columns, warned in (([hashed, *COLUMNS], True), ([*COLUMNS, hashed], False)):
            with self.subTest(warned=warned):
                path = self.file(self.config(columns=columns))
                errors = self.run_command("check", path).stderr
                self.assertEqual("hash column userhash is not the last" in errors, warned, errors)

    def test_check_of_the_sample(self):
        sample = os.path.join(harness.HERE, "..", "..", "config", "keyspread.yaml")
        self.run_command("check", sample)

    def test_check_names_file_line_and_mistake(self):
        good = ('listen: ["127.0.0.1:6432"]\n'
                'backend: { dsn: "host=127.0.0.1" }\n'
                "tables:\n"
                "  - name: events\n"
                "    primary_key: [userid, ts]\n"
                "    hash_function: xxh3\n")
        self.run_command("check", self.file(good))
        for line, old, new, word in (
                (1, "listen", "lissten", "lissten"),
                (1, "6432", "70000", "70000"),
                (2, "dsn", "dns", "dns"),
                (2, "host=", "hust=", "hust"),
                (4, "name: events", "name: [events]", "name"),
                (6, "xxh3", "md5", "md5"),
                (6, "xxh3", "xxh3\n    hash_key: [nobody]", "nobody"),
                (7, "xxh3", "xxh3\n    wait: 5", "wait"),
                (7, "xxh3", "xxh3\n    batch: { rows: many }", "rows")):
            with self.subTest(new=new):
                path = self.file(good.replace(old, new, 1), "bad.yaml")
                errors = self.run_command("check", path, code=WRONG).stderr
                self.assertIn(word, errors)
                match = re.search(r"bad\.yaml:(\d+):", errors)
                self.assertIsNotNone(match, errors)
                self.assertLessEqual(abs(int(match[1]) - line), 3 if line > 3 else 0, errors)

    def test_missing_and_broken_files(self):
        for path in (os.path.join(self.folder, "nothing.yaml"), self.folder,
                     self.file("tables: {", "broken.yaml"), self.file("", "empty.yaml")):
            for command in ("check", "run", "ddl"):
                with self.subTest(path=path, command=command):
                    errors = self.run_command(command, path, code=WRONG).stderr
                    self.assertIn(os.path.basename(path), errors)

    def test_run_on_a_port_in_use(self):
        import socket
        with socket.create_server(("127.0.0.1", 0)) as taken:
            config = {**self.config(), "listen": [f"127.0.0.1:{taken.getsockname()[1]}"]}
            errors = self.run_command("run", self.file(config), code=WRONG).stderr
            self.assertIn("in use", errors)

    def test_hash(self):
        path = self.file(self.config())
        for value in (0, 1, 5, -1, 2**63 - 1, -2**63):
            block = self.blocks(self.run_command("hash", path, "events",
                                                 f"userid={value}").stdout)[0]
            expected = harness.xxh3_signed(value)
            self.assertEqual(block["userhash"], str(expected))
            self.assertEqual(block["partition"], str(EVENTS.partition_of(expected)))
        same = {self.run_command("hash", path, "events", f"userid={spelling}").stdout
                for spelling in ("5", "005", " 5 ", "+5")}
        self.assertEqual(len(same), 1)

    def test_hash_of_what_is_wrong(self):
        path = self.file(self.config())
        for arguments, word in ((("nobody", "userid=1"), "nobody"), (("events", "ts=1"), "userid"),
                                (("events", "userid=one"), "one"), (("events", "userid"), "userid"),
                                (("events", "userid=1", "userid=2"), "userid")):
            with self.subTest(arguments=arguments):
                result = self.run_command("hash", path, *arguments, code=WRONG)
                self.assertIn(word, result.stderr)
                self.assertEqual(result.stdout, "")

    def test_explain(self):
        path = self.file(self.config())
        expected = harness.xxh3_signed(5)
        sql = f"insert into events (userid, ts) values (5, '{TS}');\nselect 1;\n"
        for arguments, stdin in (((path,), sql), ((path, self.file(sql, "x.sql")), "")):
            insert, select = self.blocks(self.run_command("explain", *arguments,
                                                          stdin=stdin).stdout)
            self.assertEqual(insert["original"],
                             f"insert into events (userid, ts) values (5, '{TS}')")
            self.assertIn(str(expected), insert["rewritten"])
            self.assertIn("userhash", insert["rewritten"])
            self.assertIn("events", insert["table"])
            self.assertIn(str(expected), insert["hash"])
            self.assertEqual(insert["partition"], str(EVENTS.partition_of(expected)))
            self.assertEqual(insert["batchable"], "yes")
            self.assertEqual(select["original"], "select 1")
            self.assertTrue(select.get("batchable", "no").startswith("no"))

    def test_explain_of_ranges(self):
        """PostgreSQL looks for ranges without being told the buckets, wherever the hash stands; a store that is sorted by the key does not."""
        config = self.config()
        config["tables"] = [{"name": "t", "primary_key": ["id"], "hash_function": "xxh3", "hash_buckets": 8, "key_order": "hash_first",
                             "partitions": {"buckets": 8}, "columns": [{"name": name, "type": kind} for name, kind in (("id", "bigint"), ("v", "text"), ("id_hash", "smallint"))]}]
        sql = "select v from t where id between 1 and 5"
        told = self.blocks(self.run_command("explain", self.file(config), stdin=sql).stdout)[0]
        self.assertEqual((told.get("rewritten", sql), told["reads"]), (sql, "public.t: the whole table"))

    def test_explain_says_why_not(self):
        path = self.file(self.config())
        for sql, word in (
                (f"insert into events (userid, ts) values (5, '{TS}') returning userid + 1",
                 "returning"),
                ("upsert into events (userid, ts) values (random()::int, now())", ""),
                ("update events set userhash = 5", "")):
            with self.subTest(sql=sql):
                result = subprocess.run([harness.program(), "explain", path], input=sql,
                                        capture_output=True, text=True, check=False)
                self.assertIn(result.returncode, (DONE, WRONG), result.stderr)
                text = result.stdout + result.stderr
                self.assertRegex(text.lower(), f"no, because .*{word}|0a000|refused")

    def test_explain_of_tables_that_the_text_makes(self):
        """By their CREATE TABLE, of a pattern or of an entry, each statement as a text of its own."""
        config = self.config(harness.free_port())
        config["tables"] += [{"name": "log_*", "primary_key": "auto", "hash_function": "xxh3", "partitions": {"buckets": 16}}]
        sql = ("create table log_1 (id serial primary key, n varchar(3)); insert into log_1 values (5, 'a'); insert into log_1 (n) values ('a');"
               "select * from log_1 where id = 5; create table log_2 (n int); insert into log_2 values (1);"
               "create table log_3 (a text, t timestamp(3) with time zone, primary key (t, a)); insert into log_3 values ('a', '2026-01-01 00:00:00Z');"
               f"create table events (userid bigint, ts timestamptz, event text, primary key (userid, ts)); insert into events values (5, '{TS}')")
        told = [self.blocks(block)[0] for block in self.run_command("explain", self.file(config), stdin=sql).stdout.split("---\n")]
        five = str(harness.xxh3_signed(5))
        self.assertIn('PRIMARY KEY ("id", "keyspread_hash")'.lower(), told[0]["rewritten"].lower())
        self.assertEqual((told[1]["table"], told[1]["hash"], told[1]["batchable"]), ("public.log_1", five, "yes"))
        self.assertEqual((told[2]["table"], told[2]["hash"]), ("public.log_1", "per answer"))
        self.assertIn(f'"keyspread_hash" = {five} AND', told[3]["rewritten"])
        self.assertEqual(told[4]["spread"], "its name is of a pattern, but its CREATE TABLE has no primary key")
        self.assertIn("log_2 has the name of a pattern", told[5]["spread"])
        self.assertEqual((told[7]["table"], told[7]["batchable"]), ("public.log_3", "yes"))
        self.assertEqual((told[9]["table"], told[9]["hash"]), ("public.events", five))

    def test_ddl_runs_nothing(self):
        text = self.run_command("ddl", self.file(self.config())).stdout
        self.assertIn("CREATE TABLE", text)
        self.assertEqual(text.count("PARTITION OF"), 16)
        self.assertIn("Digest::XXH3", text)


class WithPostgres(CommandCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)

    def setUp(self):
        super().setUp()
        with self.postgres.admin("postgres") as admin:
            admin.rows("drop database if exists app")
        self.postgres.create_database("app")

    def asks(self, **table):
        """The configuration without columns: the backend is asked."""
        config = self.config(self.postgres.port, **table)
        del config["tables"][0]["columns"]
        return self.file(config, "asks.yaml")

    def test_the_ddl_makes_the_table(self):
        for extra in ({}, {"hash_function": "numeric_hash"}, {"hash_function": "pg_hash"},
                      {"hash_function": "cityhash64"}, {"partitions": {"at": [-5, 0, 70]}},
                      {"hash_type": "uint64"}):
            with self.subTest(extra=extra):
                self.setUp()
                path = self.file(self.config(self.postgres.port, **extra), "with.yaml")
                text = self.run_command("ddl", "--postgres", path, "events").stdout
                with self.postgres.admin("app") as admin:
                    admin.rows(text)
                    self.assertEqual(admin.rows(
                        "select attname from pg_attribute where attrelid = 'events'::regclass"
                        " order by attnum desc limit 1"), [["userhash"]])
                    self.assertEqual(admin.rows(
                        "select attnotnull, atthasdef from pg_attribute where attname = 'userhash' "
                        "and attrelid = 'events'::regclass"), [["t", "f"]])
                if extra != {"hash_type": "uint64"}:
                    verify = self.run_command("verify", self.asks(**extra), "events").stdout
                    self.assertEqual(self.blocks(verify)[0]["rows"], "0")

    def test_hash_asks_the_backend(self):
        with self.postgres.admin("app") as admin:
            admin.rows(EVENTS.ddl())
        out = self.run_command("hash", self.asks(), "events", "userid=5").stdout
        self.assertEqual(self.blocks(out)[0]["userhash"], str(harness.xxh3_signed(5)))

    def test_the_backend_is_not_there(self):
        config = self.config(harness.free_port())
        del config["tables"][0]["columns"]
        for command in (("hash", "events", "userid=5"), ("verify", "events"), ("ddl",)):
            result = self.run_command(command[0], self.file(config), *command[1:], code=WRONG)
            self.assertIn("refused", result.stderr)

    def test_the_table_is_not_there(self):
        result = self.run_command("verify", self.asks(), "events", code=WRONG)
        self.assertIn("events", result.stderr)

    def test_verify(self):
        path = self.asks()
        with self.postgres.admin("app") as admin:
            admin.rows(EVENTS.ddl())
            for userid in range(50):
                admin.rows(f"insert into events values ({harness.xxh3_signed(userid)}, {userid}, "
                           f"'{TS}', 'x')")
        block = self.blocks(self.run_command("verify", path, "events").stdout)[0]
        self.assertEqual((block["rows"], block["wrong"], block["missing"]), ("50", "0", "0"))
        with self.postgres.admin("app") as admin:
            admin.rows("update events set userhash = userhash + 1 where userid < 3")
        result = self.run_command("verify", path, "events", code=WRONG)
        block = self.blocks(result.stdout)[0]
        self.assertEqual((block["rows"], block["wrong"], block["missing"]), ("50", "3", "0"))
        self.assertIn("userid=1", result.stderr)

    def test_verify_counts_missing_hashes(self):
        with self.postgres.admin("app") as admin:
            admin.rows("create table events (userhash bigint, userid bigint not null, "
                       "ts timestamptz not null, event text, primary key (userid, ts));"
                       f"insert into events values (null, 1, '{TS}', 'x')")
        result = self.run_command("verify", self.asks(), "events", code=WRONG)
        if "missing: " in result.stdout:
            self.assertEqual(self.blocks(result.stdout)[0]["missing"], "1")
        else:
            self.assertIn("userhash", result.stderr)

    def patterns(self, **entry):
        """A configuration of patterns, and of `events` with its columns in the file."""
        config = self.config(self.postgres.port)
        config["tables"] += [{"name": "log_*", "primary_key": "auto", "hash_function": "xxh3", "partitions": {"buckets": 16}, **entry},
                             {"name": "shop.log_*", "primary_key": ["id"], "hash_function": "xxh3", "hash_column": "h"}]
        return self.file(config, "patterns.yaml")

    def make_tables_of_patterns(self):
        with self.postgres.admin("app") as admin:
            admin.rows(f"""create schema shop; create table log_a (id int, n text default 'x', keyspread_hash bigint not null,
                primary key (id, keyspread_hash)); create table log_b (a text, b int, keyspread_hash bigint not null,
                primary key (keyspread_hash, b, a)); create table log_old (id int primary key, n text default 'x');
                create table log_none (id int); create table shop.log_a (h bigint not null, id int, primary key (id, h));
                insert into log_a values (5, 'a', {harness.xxh3_signed(5)}); insert into log_b values ('a', 6, {harness.xxh3_signed(6)});
                insert into shop.log_a values ({harness.xxh3_signed(7)}, 7); insert into log_old values (1)""")

    def test_check_warns_of_tables_that_are_not_spread(self):
        path = self.patterns()
        self.make_tables_of_patterns()
        events = "create table {}events (userid bigint, ts timestamptz, {}primary key ({}userid, ts))"
        for made, told in (("", False), (events.format("", "", ""), True), (events.format("", "userhash bigint, ", ""), True),
                           (events.format("", "userhash bigint, ", "userhash, "), False)):
            with self.subTest(made), self.postgres.admin("app") as admin:
                admin.rows(f"drop table if exists events; {made}; {'' if told else events.format('shop.', '', '')}; select 1")
                errors = self.run_command("check", path).stderr
                first = re.findall("warning: the primary key of table ([a-z._]+) begins with the hash column", errors)
                self.assertEqual(re.findall("warning: table ([a-z._]+) is not spread", errors),
                                 ["public.events"] * told + ["public.log_old", "public.log_none"])
                self.assertEqual(first, ["public.log_b"] + ["public.events"] * (made != "" and not told))
                self.assertRegex(errors, r"patterns\.yaml:[0-9]+: warning: table public\.log_old is not")
                admin.rows("drop table if exists shop.events")
        self.assertEqual(self.run_command("check", self.file(self.config(1))).stderr, "")

    def test_tables_of_a_pattern(self):
        """Each as if it had an entry of its own."""
        path = self.patterns()
        self.make_tables_of_patterns()
        for name, column, key, value in (("log_a", "keyspread_hash", "id=5", 5), ("public.log_b", "keyspread_hash", "b=6", 6),
                                         ("shop.log_a", "h", "id=7", 7)):
            with self.subTest(name):
                out = self.run_command("hash", path, name, key).stdout
                self.assertEqual(self.blocks(out)[0][column], str(harness.xxh3_signed(value)))
                self.assertEqual(self.blocks(self.run_command("verify", path, name).stdout)[0], {"rows": "1", "wrong": "0", "missing": "0"})
        with self.postgres.admin("app") as admin:
            admin.rows("update log_b set keyspread_hash = 0")
        self.assertIn("wrong: 1", self.run_command("verify", path, "log_b", code=WRONG).stdout)

    def test_all_tables_of_a_pattern(self):
        path = self.patterns()
        self.make_tables_of_patterns()
        told = self.run_command("verify", path, "log_*")
        self.assertEqual(told.stdout, "table: public.log_a\nrows: 1\nwrong: 0\nmissing: 0\ntable: public.log_b\nrows: 1\nwrong: 0\nmissing: 0\n")
        self.assertIn("public.log_old is not spread", told.stderr)
        self.assertIn("public.log_none has no primary key", told.stderr)
        with self.postgres.admin("app") as admin:
            admin.rows("update log_a set keyspread_hash = 0")
        told = self.run_command("verify", path, "public.log_*", code=WRONG).stdout
        self.assertIn("table: public.log_a\nrows: 1\nwrong: 1\n", told)
        self.assertIn("table: public.log_b\nrows: 1\nwrong: 0\n", told)
        self.assertIn("is a pattern", self.run_command("hash", path, "log_*", "id=1", code=WRONG).stderr)

    def test_the_ddl_of_a_table_that_a_pattern_names(self):
        """One that is not spread yet is printed as it would be, with all that it has."""
        path = self.patterns()
        self.make_tables_of_patterns()
        text = self.run_command("ddl", "--postgres", path, "log_old").stdout
        with self.postgres.admin("app") as admin:
            admin.rows("drop table log_old; " + text)
            self.assertEqual(admin.rows("select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'log_old'::regclass"),
                             [["PRIMARY KEY (id, keyspread_hash)"]])
            self.assertEqual(admin.rows("select pg_get_expr(adbin, 0) from pg_attrdef where adrelid = 'log_old'::regclass"), [["'x'::text"]])
        text = self.run_command("ddl", "--postgres", path, "log_*").stdout
        self.assertEqual(re.findall("CREATE TABLE (.*) \\(", text), ['"public"."log_a"', '"public"."log_b"', '"public"."log_old"'])
        told = self.run_command("ddl", path)
        self.assertEqual(re.findall("CREATE TABLE (.*) \\(", told.stdout)[0], '"public"."events"')
        self.assertIn("log_* is a pattern", told.stderr)

    def test_explain_of_a_table_that_a_pattern_names(self):
        """By the backend's key; what is not spread there is told, as is a backend that cannot be asked."""
        path = self.patterns()
        self.make_tables_of_patterns()
        sql = "insert into log_b values ('x', 5); select * from log_old; insert into log_a (id) values (5); select 1"
        told = self.run_command("explain", path, stdin=sql)
        self.assertEqual(told.stderr, "")
        made, old, default, _ = told.stdout.split("---\n")[:4]
        self.assertEqual(self.blocks(made)[0]["hash"], str(harness.xxh3_signed(5)))
        self.assertIn("table: public.log_b\n", made)
        self.assertIn("batchable: yes\n", made)
        self.assertIn("not spread: log_old has the name of a pattern, public.log_*, but no such table with the column keyspread_hash", old)
        self.assertIn("table: public.log_a\n", default)
        config = self.config(harness.free_port())
        config["tables"] += [{"name": "log_*", "primary_key": "auto", "hash_function": "xxh3"}]
        path = self.file(config)
        self.assertEqual(self.run_command("explain", path, stdin="select 1").stderr, "")
        told = self.run_command("explain", path, stdin="insert into log_b values ('x', 5)")
        self.assertIn("those alone are known that the text makes", told.stderr)
        self.assertIn("not spread: log_b has the name of a pattern", told.stdout)

    def test_what_no_pattern_has(self):
        path = self.patterns(hash_key=["b"])
        self.make_tables_of_patterns()
        for name, why in (("log_none", "no primary key"), ("log_never", "the backend of backend.dsn has no table"),
                          ("logs", "its tables are events, log_*, shop.log_*"), ("other.log_a", "has no table"), ("log_old", "no column b"),
                          ("log_a", "no column b"), ("verify", "no table")):
            with self.subTest(name):
                told = self.run_command("verify", path, name, code=WRONG)
                self.assertIn(why, told.stderr)
                self.assertEqual(told.stdout, "")
        path = self.patterns()
        self.assertIn("hash column keyspread_hash does not exist", self.run_command("verify", path, "log_old", code=WRONG).stderr)

    @harness.proxied
    def test_what_ddl_hash_run_and_verify_say_agrees(self):
        for function in ("xxh3", "numeric_hash", "cityhash64", "pg_hash"):
            with self.subTest(function=function):
                self.setUp()
                with_columns = self.file(
                    self.config(self.postgres.port, hash_function=function), "with.yaml")
                with self.postgres.admin("app") as admin:
                    admin.rows(self.run_command("ddl", "--postgres", with_columns).stdout)
                table = harness.Table("events", EVENTS.columns, EVENTS.key,
                                      hash_column="userhash", hash_function=function)
                keyspread = harness.Keyspread(harness.backend_config(self.postgres, (table,)))
                try:
                    session = harness.wire.Wire(keyspread.address())
                    session.login(harness.USER, "app")
                    for userid in range(-20, 20):
                        session.rows(f"insert into events values ({userid}, '{TS}', 'x')")
                    session.close()
                finally:
                    keyspread.stop()
                out = self.run_command("verify", self.asks(hash_function=function),
                                       "events").stdout
                self.assertEqual(self.blocks(out)[0]["rows"], "40")
                with self.postgres.admin("app") as admin:
                    for userid, stored in admin.rows(
                            "select userid, userhash from events where userid in (-20, 0, 7)"):
                        out = self.run_command("hash", with_columns, "events",
                                               f"userid={userid}").stdout
                        self.assertEqual(self.blocks(out)[0]["userhash"], stored)


if __name__ == "__main__":
    unittest.main()
