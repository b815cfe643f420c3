"""direct_case: the same messages direct and through keyspread, a session each; what is replied, all
fields of errors included, and what is stored must be the same. Direct, the tables have no hash.
"""
import contextlib
import unittest

import harness
import wire


def shown(reply):
    """Less what differs between two databases: the oids of tables, lines of the source."""
    if reply.kind in "EN":
        return f"{reply.kind} " + " ".join(f"{k}={v!r}" for k, v in reply.fields().items()
                                           if k not in "FLR")
    if reply.kind == "T":
        return f"T {[(column[0], *column[2:]) for column in reply.columns()]}"
    return f"{reply.kind} {reply.body!r}"


class DirectCase(unittest.TestCase):
    maxDiff = None
    tables = ()
    before_sql = ""  # what they need
    setup_sql = ""  # what needs the tables, or what they do not need
    options = {}
    partitioned = False

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        for database in ("direct", "hashed"):
            cls.postgres.create_database(database)
            with cls.postgres.admin(database) as admin:
                if cls.before_sql:
                    admin.rows(cls.before_sql)
                for table in cls.tables:
                    admin.rows(table.ddl(database == "hashed", cls.partitioned))
                if cls.setup_sql:
                    admin.rows(cls.setup_sql)
        cls.admins = {database: cls.postgres.admin(database) for database in ("direct", "hashed")}
        for admin in cls.admins.values():
            cls.addClassCleanup(admin.close)
        cls.keyspread = None
        if not harness.DIRECT:
            cls.keyspread = harness.Keyspread(
                harness.backend_config(cls.postgres, cls.tables, **cls.options))
            cls.addClassCleanup(cls.keyspread.stop)

    def tearDown(self):
        if self.keyspread:
            self.keyspread.check_alive()

    def route(self):
        if self.keyspread:
            return "hashed", self.keyspread.port
        return "direct", self.postgres.port

    def play(self, messages, ready, database, port, params):
        with wire.Wire(("127.0.0.1", port)) as session:
            session.login(harness.USER, database, **params)
            return session.ask(*messages, ready=ready)

    def stored(self, admin, table):
        columns = ", ".join(column.split()[0] for column in table.columns)
        return admin.rows(f"select {columns} from {table.name} order by {', '.join(table.key)}")

    def contents(self, database, verify=False):
        """What the tables hold, which are empty afterwards."""
        admin = self.admins[database]
        contents = [self.stored(admin, table) for table in self.tables]
        if verify and database == "hashed":
            with contextlib.closing(harness.connect_admin(self.postgres, database)) as connection:
                for table in self.tables:
                    harness.verify_hashes(self, connection, table)
        if any(contents):
            admin.rows(f"truncate {', '.join(table.name for table in self.tables)}")
        return contents

    def both(self, messages, ready=1, verify=False, **params):
        """The replies through keyspread, which are PostgreSQL's. `verify`: hashes, too."""
        answers, contents = [], []
        for database, port in (("direct", self.postgres.port), self.route()):
            replies = self.play(messages, ready, database, port, params)
            answers.append([shown(reply) for reply in replies])
            contents.append(self.contents(database, verify))
        for direct, through in zip(*answers):
            self.assertEqual(direct[:500], through[:500])
        self.assertEqual(*answers)
        self.assertTrue(contents[0] == contents[1], "what the tables hold")
        return replies

    def query(self, text, **more):
        return self.both([wire.query(text)], **more)
