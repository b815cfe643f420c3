"""login_case: a PostgreSQL that asks for passwords, and keyspreads before it that ask, too."""
import os

import certificates
import harness
import wire

SSL_REQUEST = b"\0\0\0\x08\x04\xd2\x16\x2f"
USER, PASSWORD = "alice", 'a "secret" \\ of 100%'
# SASLprep makes the same of both spellings.
PREPARED_USER, PREPARED = "zoé", "Tür IX"
UNPREPARED = "Tu\N{COMBINING DIAERESIS}r\N{NO-BREAK SPACE}\N{ROMAN NUMERAL NINE}\N{SOFT HYPHEN}"
ROLES = {USER: PASSWORD, PREPARED_USER: PREPARED, "bob": "another secret"}
CLEARTEXT = "cleartext"  # a database whose clients are asked for the password itself
HBA = f"""local all postgres trust
host all postgres 127.0.0.1/32 trust
host all trusted 127.0.0.1/32 trust
local {CLEARTEXT} all password
hostssl {CLEARTEXT} all 127.0.0.1/32 password
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
"""
EVENTS = harness.Table("events", ["userid bigint not null", "ts timestamptz not null", "event text",
                                  "who text default current_user"],
                       ["userid", "ts"], hash_column="userhash")


def insert(userid):
    return f"insert into events (userid, ts, event) values ({userid}, '2026-01-01', 'x')"


def quoted(text):
    """As a string constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def users(secrets):
    """The text of a file of users."""
    return "".join(" ".join('"' + field.replace('"', '""') + '"' for field in entry) + "\n"
                   for entry in secrets.items())


class LoginCase(certificates.AuthorityCase):
    """The server asks for SCRAM, and has TLS and the ROLES."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        pair = cls.authority.server(owner="postgres")
        cls.postgres = harness.Postgres(ssl="on", ssl_cert_file=pair.cert, ssl_key_file=pair.key)
        cls.addClassCleanup(cls.postgres.remove)
        cls.make_roles()
        with open(os.path.join(cls.postgres.data, "pg_hba.conf"), "w", encoding="ascii") as file:
            file.write(HBA)
        cls.sql("select pg_reload_conf()")
        with cls.postgres.admin("app") as admin:  # a login of its own: the rules are in force
            admin.rows("select 1")

    @classmethod
    def make_roles(cls):
        harness.create_tables(cls.postgres, "app", (EVENTS,))
        cls.postgres.create_database(CLEARTEXT)
        for role, password in ROLES.items():
            cls.sql(f'create role "{role}" login password {quoted(password)};'
                    f'grant select, insert on events to "{role}"')

    def setUp(self):
        self.sql("truncate events")

    @classmethod
    def sql(cls, text):
        """Said past keyspread, as the superuser."""
        with cls.postgres.admin("app") as admin:
            return admin.rows(text)

    @classmethod
    def start(cls, cleanup, auth, dsn="", tls=True, tables=(EVENTS,), **more):
        """A keyspread, on a Unix socket, too."""
        config = harness.backend_config(cls.postgres, tables, auth=auth, **more)
        config["backend"]["dsn"] += " " + dsn
        if tls:
            config["client_tls"] = {"cert": cls.pair.cert, "key": cls.pair.key}
        keyspread = harness.Keyspread(config, unix=True)
        cleanup(keyspread.stop)
        return keyspread

    @classmethod
    def start_scram(cls, cleanup, secrets, **more):
        """Its file of users is `users_path`."""
        folder = cls.authority.folder
        path = os.path.join(folder, f"users-{len(os.listdir(folder))}.txt")
        cls.write_users(path, users(secrets))
        keyspread = cls.start(cleanup, {"mode": "scram", "users_file": path}, **more)
        keyspread.users_path = path
        return keyspread

    @staticmethod
    def write_users(path, text):
        harness.write_secret(os.path.dirname(path), os.path.basename(path), text)

    def connect(self, server, tls=False, unix=False):
        """A raw session, to keyspread or PostgreSQL, that has said nothing yet but SSLRequest."""
        path = os.path.join(server.folder, f".s.PGSQL.{server.port}")
        session = wire.Wire(path if unix else ("127.0.0.1", server.port))
        self.addCleanup(session.drop)
        if tls:
            session.send(SSL_REQUEST)
            self.assertEqual(session.socket.recv(1), b"S")
            session.socket = self.authority.trusting().wrap_socket(
                session.socket, server_hostname="127.0.0.1")
        return session

    def refusal(self, session):
        """The last words: SQLSTATE, message and detail. Nobody was let in before."""
        *before, last = session.read_to_end()
        self.assertFalse([message for message in before if wire.is_welcome(message)])
        fields = last.fields()
        return fields["C"], fields["M"], fields.get("D")

    def stored(self):
        """Who wrote what, by number."""
        return self.sql("select userid, who from events order by 1")
