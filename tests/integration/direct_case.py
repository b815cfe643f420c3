"""direct_case: the same messages direct and through keyspread, a session each; what is replied, all
fields of errors included, and what is stored must be the same. Direct, the tables have no hash.
"""
import contextlib
import re
import unittest

import harness
import wire


def shown(reply):
    """Less what differs between two databases: the oids of tables, lines of the source, which backend it is."""
    if reply.kind in "EN":
        fields = " ".join(f"{k}={v!r}" for k, v in reply.fields().items() if k not in "FLR")
        return f"{reply.kind} " + re.sub(r"pg_temp_\d+", "pg_temp", fields)
    if reply.kind == "T":
        return f"T {[(column[0], *column[2:]) for column in reply.columns()]}"
    return f"{reply.kind} {reply.body!r}"


def rows_first(replies, rows="D"):
    """Replies that are shown: those that are rows in any order, then the others."""
    return sorted(reply for reply in replies if reply[0] in rows) + [reply for reply in replies if reply[0] not in rows]


def is_warning(reply):
    """keyspread's own, of a table that it cannot spread."""
    return reply.kind == "N" and reply.fields()["M"].startswith("this table is not spread")


class DirectCase(unittest.TestCase):
    maxDiff = None
    user = harness.USER
    tables = ()
    before_sql = ""  # what they need
    setup_sql = ""  # what needs the tables, or what they do not need
    rows_sql = ()  # texts that a client says on either side
    options = {}
    partitioned = False
    version = None  # of the server: see harness.Postgres
    session_uses = 10  # of one session by those who ask, each of whom finds it as new

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres(cls.version)
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
        for route in cls.routes() if cls.rows_sql else ():
            with cls.log_in(*route) as session:
                for text in cls.rows_sql:
                    session.rows(text)

    def tearDown(self):
        if self.keyspread:
            self.keyspread.check_alive()

    @classmethod
    def route(cls):
        if cls.keyspread:
            return "hashed", cls.keyspread.port
        return "direct", cls.postgres.port

    @classmethod
    def routes(cls):
        """Direct, and through keyspread."""
        return ("direct", cls.postgres.port), cls.route()

    @classmethod
    def log_in(cls, database, port, **params):
        """A session, which closes itself behind a `with`."""
        session = wire.Wire(("127.0.0.1", port))
        try:
            session.login(cls.user, database, **params)
        except (OSError, wire.Closed):
            session.drop()
            raise
        return session

    def connect(self, database, port, **params):
        """A session until the test ends."""
        session = self.log_in(database, port, **params)
        self.addCleanup(session.close)
        return session

    def connect_both(self, **params):
        return [self.connect(*route, **params) for route in self.routes()]

    @classmethod
    def kept_session(cls, *route, **params):
        """A session that some of those who asked before have used, and its uses so far."""
        if "kept" not in cls.__dict__:
            cls.kept = {}
            cls.addClassCleanup(lambda: [session.close() for session, _ in cls.kept.values()])
        return cls.kept.pop((route, *params.items()), None) or (cls.log_in(*route, **params), 0)

    def play(self, messages, ready, database, port, params):
        """In a session that is as new: to log in takes longer than most statements."""
        session, uses = self.kept_session(database, port, **params)
        try:
            replies = session.ask(*messages, ready=ready)
            open_block = replies[-1].kind == "Z" and replies[-1].body != b"I"
            if uses + 1 < self.session_uses and not session.buffer and replies[-1].kind == "Z":
                ends = [wire.query("rollback")] * open_block + [wire.query("discard all")]
                if wire.error_of(session.ask(*ends, ready=len(ends))) is None and not session.buffer:
                    self.kept[(database, port), *params.items()] = session, uses + 1
                    session = None
            return replies
        finally:
            if session:
                session.close()

    def stored(self, admin, table):
        columns = ", ".join(column.split()[0] for column in table.columns)
        return admin.rows(f"select {columns} from {table.name} order by {', '.join(table.key)}")

    def contents(self, database, verify=False):
        """What the tables hold, which are empty afterwards."""
        admin = self.admins[database]
        contents = [self.stored(admin, table) for table in self.tables]
        if verify and database == "hashed":
            self.verify(table for table, rows in zip(self.tables, contents) if rows)
        if any(contents):
            harness.empty(admin, [table.name for table, rows in zip(self.tables, contents) if rows])
        return contents

    def verify(self, tables):
        """Of all rows behind keyspread."""
        for table in tables:
            harness.verify_hashes(self, self.reader(), table)

    @classmethod
    def reader(cls):
        """psycopg2 behind keyspread, until the class ends."""
        if "reading" not in cls.__dict__:
            cls.reading = harness.connect_admin(cls.postgres, "hashed")
            cls.reading.autocommit = True
            cls.addClassCleanup(cls.reading.close)
        return cls.reading

    def both(self, messages, ready=1, verify=False, **params):
        """The replies through keyspread, which are PostgreSQL's. `verify`: hashes, too."""
        answers, contents = [], []
        for database, port in self.routes():
            replies = self.play(messages, ready, database, port, params)
            answers.append([shown(reply) for reply in replies if not is_warning(reply)])
            contents.append(self.contents(database, verify))
        for direct, through in zip(*answers):
            self.assertEqual(direct[:500], through[:500])
        self.assertEqual(*answers)
        self.assertTrue(contents[0] == contents[1], "what the tables hold")
        return replies

    def query(self, text, **more):
        return self.both([wire.query(text)], **more)

    def undone(self, *groups):
        """In a block that nobody commits: the same replies to groups of messages, rows in any order."""
        answers = []
        for route in self.routes():
            with self.log_in(*route) as session:
                session.query("begin")
                answers.append(rows_first([shown(reply) for messages in groups for reply in session.ask(*messages)]))
        self.assertEqual(*answers)


class SessionCase(DirectCase):
    """All that is asked goes to the same two `sessions`, one direct and one through keyspread."""
    sessions = ()

    @contextlib.contextmanager
    def connected(self):
        """They are new ones within this block."""
        before = self.sessions
        with contextlib.ExitStack() as stack:
            self.sessions = [stack.enter_context(self.log_in(*route)) for route in self.routes()]
            try:
                yield
            finally:
                self.sessions = before

    def shown(self, reply):
        return shown(reply)

    def both(self, *messages, ready=1):
        """Their replies, which are the same."""
        answers = [[self.shown(reply) for reply in session.ask(*messages, ready=ready) if not is_warning(reply)]
                   for session in self.sessions]
        self.assertEqual(*answers, messages)
        return answers[0]

    def query(self, text):
        return self.both(wire.query(text))

    def prepared(self, text, *values):
        return self.both(wire.parse("", text), wire.describe("S", ""), wire.bind("", "", values), wire.execute(), wire.sync())
