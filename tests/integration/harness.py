"""harness: a throwaway PostgreSQL, a keyspread before it, and the tables that the tests write.

Environment: KEYSPREAD is the program under test (ctest sets it); with KEYSPREAD_DIRECT=1 the tests
talk to PostgreSQL itself through tables without a hash, to prove the tests rather than the program;
with CI=true a missing tool is a failure, else its test says that it was skipped; with KEYSPREAD_LONG=1
those that write by chance write more.
"""
import collections
import contextlib
import ctypes
import datetime
import decimal
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import uuid
import zlib

import wire

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(os.path.dirname(HERE), "vectors")
DIRECT = os.environ.get("KEYSPREAD_DIRECT") == "1"
CI = os.environ.get("CI") == "true"
LONG = os.environ.get("KEYSPREAD_LONG") == "1"
USER = "app"
MANY_ROWS = 1000  # which leave a table that is worth new files
PATIENCE = 60.0  # how long anything may take before it counts as hung


def missing(what):
    """A tool is not there: a failure in CI, a skip that says so elsewhere."""
    if CI:
        raise AssertionError(f"{what} is missing, and in CI every tool must be there")
    raise unittest.SkipTest(f"{what} is not installed here")


def proxied(test):
    """Marks what says nothing when it runs against PostgreSQL directly."""
    return unittest.skipIf(DIRECT, "only with keyspread in between")(test)


def program():
    path = os.environ.get("KEYSPREAD")
    if not path or not os.access(path, os.X_OK):
        raise AssertionError("KEYSPREAD must name the keyspread program")
    return os.path.abspath(path)  # It is run in folders of its own.


def instrumented():
    """Whether the program was built with a sanitizer (memory bounds mean nothing then)."""
    with open(program(), "rb") as file:
        data = file.read()
    return b"__asan_init" in data or b"__tsan_init" in data


def free_ports(count):
    """So many, each another."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def free_port():
    return free_ports(1)[0]


def eventually(what, condition, patience=PATIENCE):
    """Waits for a state that nothing announces. The polling is never the synchronisation itself."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"in {patience:.0f} s this did not happen: {what}")
        time.sleep(0.01)


def write_secret(folder, name, text):
    """A file that its owner alone may read; returns its path."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8",
              opener=lambda where, flags: os.open(where, flags, 0o600)) as file:
        file.write(text)
    return path


def with_us(*options):
    """The beginning of a command that ends when this process does, however that is."""
    if not shutil.which("setpriv"):
        missing("setpriv (of util-linux)")
    return ["setpriv", "--pdeathsig=TERM", *options, "--"]


class Lines:
    """The lines of a child's stderr, collected by a thread; others wait for one they know."""

    def __init__(self, stream):
        self.lines = []
        self.ended = False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self._collect, args=(stream,), daemon=True)
        self.thread.start()

    def _collect(self, stream):
        for line in stream:
            with self.changed:
                self.lines.append(line.decode(errors="replace").rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait_for(self, pattern, since=0, patience=PATIENCE):
        """The first line from number `since` on that matches; None if the stream ended."""
        expression = re.compile(pattern)
        deadline = time.monotonic() + patience
        with self.changed:
            while True:
                for line in self.lines[since:]:
                    if expression.search(line):
                        return line
                since = max(since, len(self.lines))
                if self.ended:
                    return None
                if not self.changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"no line like {pattern!r} in {patience:.0f} s:\n"
                                         + "\n".join(self.lines[-30:]))

    def text(self):
        with self.changed:
            return "\n".join(self.lines)


def copy_folder(folder, copy):
    """With owners and permissions; what was left of a copy that did not end goes."""
    shutil.rmtree(copy, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", folder, copy], check=True)


def standby_of(primary):
    """A hot standby of it, as it is now: a copy of its folder taken while it runs. To be removed."""
    standby = Postgres.__new__(Postgres)
    standby.__dict__.update(primary.__dict__, process=None, port=None)
    standby.folder = tempfile.mkdtemp(prefix="keyspread-pg-")
    standby.data = os.path.join(standby.folder, "data")
    standby.log_path = os.path.join(standby.folder, "log")
    if os.geteuid() == 0:
        shutil.chown(standby.folder, "postgres")
    subprocess.run(primary.as_user + [f"{primary.bin}/pg_basebackup", "-h", "127.0.0.1", "-R", "-U", "postgres", "-c", "fast",
                                      "-p", str(primary.port), "-D", standby.data], check=True, cwd=standby.folder)
    standby.start()
    return standby


Statement = collections.namedtuple("Statement", "pid kind text parameters")


class Postgres:
    """A PostgreSQL of its own: a temporary folder, a free port, every statement in its log."""

    def __init__(self, version=None, **settings):
        """`version`: a major one that npm has brought; None: the distribution's."""
        self.folder = tempfile.mkdtemp(prefix="keyspread-pg-")
        self.data = os.path.join(self.folder, "data")
        self.log_path = os.path.join(self.folder, "log")
        self.settings = settings
        self.process = None
        self.port = None
        self.bin = self._npm_folder(version) if version else self._bin_folder()
        self.as_user = with_us()
        if os.geteuid() == 0:
            self.as_user = with_us("--reuid=postgres", "--regid=postgres", "--init-groups")
            shutil.chown(self.folder, "postgres")
        self._make_data()
        self.start()

    def _make_data(self):
        """initdb runs once; its folder stays beside the program under test, for all servers to copy."""
        initdb = [f"{self.bin}/initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8",
                  "--locale=C.UTF-8", "--no-sync"]
        place = os.path.dirname(os.path.abspath(os.environ.get("KEYSPREAD", self.log_path)))
        server = subprocess.run([initdb[0], "--version"], check=True, capture_output=True).stdout
        template = os.path.join(place, f"initdb-{zlib.crc32(b' '.join([server, *map(str.encode, initdb[1:])])):08x}")
        with open(f"{template}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(template):
                self._run(initdb + ["-D", self.data])
                self._run([f"{self.bin}/postgres", "--single", "-D", self.data, "-F", "postgres"],
                          input=f"create role {USER} superuser login".encode())
                copy_folder(self.data, f"{template}.new")
                os.rename(f"{template}.new", template)
                return
        copy_folder(template, self.data)

    def _run(self, command, **more):
        subprocess.run(self.as_user + command, check=True, stdout=subprocess.DEVNULL,
                       cwd=self.folder, **more)

    def _npm_folder(self, version):
        """The programs of this version, in a place that PostgreSQL's user may read."""
        package = os.path.join(HERE, "node", "node_modules", f"postgresql-{version}", "native")
        if not os.path.isdir(package):
            missing(f"PostgreSQL {version} of npm")
        copy = os.path.join(self.folder, "server")
        shutil.copytree(package, copy, symlinks=True)
        return os.path.join(copy, "bin")

    @staticmethod
    def _bin_folder():
        folders = glob.glob("/usr/lib/postgresql/*/bin")
        if folders:
            return max(folders, key=lambda path: int(path.split("/")[-2]))
        config = shutil.which("pg_config")
        if not config:
            missing("PostgreSQL's server")
        return subprocess.run([config, "--bindir"], check=True, capture_output=True,
                              text=True).stdout.strip()

    def start(self, wait=True):
        """Starts on the same port as before, if there was one."""
        for _ in range(5):
            self.port = self.port or free_port()
            settings = {
                "listen_addresses": "127.0.0.1", "port": self.port,
                "unix_socket_directories": self.folder, "fsync": "off", "max_connections": 200,
                "synchronous_commit": "off", "log_statement": "all",
                "log_line_prefix": "<%p %d> ", "logging_collector": "off",
                "log_min_messages": "warning", "log_checkpoints": "off",
                "lc_messages": "C", "timezone": "UTC", "shared_buffers": "32MB",
                "autovacuum": "off", "jit": "off", **self.settings}
            with open(self.log_path, "ab") as log:
                self.process = subprocess.Popen(
                    self.as_user + [f"{self.bin}/postgres", "-D", self.data]
                    + [f"-c{name}={value}" for name, value in settings.items() if value is not None],
                    stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
            if not wait or self._wait():
                return
            self.port = None
        raise AssertionError("PostgreSQL does not start:\n" + self.log()[-3000:])

    def _wait(self):
        def answers():
            if self.process.poll() is not None:
                return "ended"
            try:
                self.admin("postgres").close()
                return "ready"
            except (OSError, wire.Closed):
                return None
        return eventually("PostgreSQL answers", answers) == "ready"

    def wait(self):
        """Until it answers (again)."""
        assert self._wait(), self.log()[-3000:]

    def stop(self, how=signal.SIGINT):
        """SIGINT ends all sessions at once and checkpoints; SIGQUIT leaves a crash to recover."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)

    def remove(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def admin(self, database, **params):
        """A raw session past keyspread."""
        session = wire.Wire(("127.0.0.1", self.port))
        try:
            session.login("postgres", database, **params)
        except (OSError, wire.Closed):
            session.drop()
            raise
        return session

    def create_database(self, name, template="template1"):
        with self.admin("postgres") as admin:
            admin.rows(f'create database "{name}" template "{template}"')

    def log(self, since=0):
        with open(self.log_path, "rb") as file:
            file.seek(since)
            return file.read().decode(errors="replace")

    def mark(self):
        """A place in the log, for statements()."""
        return os.path.getsize(self.log_path)

    def statements(self, since, database, containing=""):
        """What this database was told since the mark, a Statement each."""
        found, entry = [], re.compile(
            r"^<(\d+) (\S+)> (LOG|DETAIL):  (?:(statement|execute [^:]*|parameters): ?)?")
        for line in self.log(since).split("\n"):
            match = entry.match(line)
            if line.startswith("\t") and found and found[-1] is not None:
                key = "parameters" if found[-1].parameters else "text"
                found[-1] = found[-1]._replace(
                    **{key: getattr(found[-1], key) + "\n" + line[1:]})
            elif not match or match[2] != database or not match[4]:
                found.append(None)
            elif match[4] == "parameters" and found and found[-1]:
                found[-1] = found[-1]._replace(parameters=line[match.end():])
            else:
                found.append(Statement(int(match[1]), match[4].split()[0], line[match.end():], ""))
        return [one for one in found if one and containing.lower() in one.text.lower()]


class Keyspread:
    """The program under test. Give it a configuration; it is ready when the constructor returns."""

    def __init__(self, config, environment=None, within=(), unix=False):
        """`within`: a command that runs the program, such as prlimit with its options. `unix`: it
        listens on the Unix socket `path`, too."""
        command = with_us() + [*within, program()]
        self.folder = tempfile.mkdtemp(prefix="keyspread-")
        self.config_path = os.path.join(self.folder, "keyspread.yaml")
        self.environment = {**os.environ, **(environment or {})}
        self.gone = False
        for attempt in range(5):
            self.port, self.admin_port = free_ports(2)
            self.path = os.path.join(self.folder, f".s.PGSQL.{self.port}")
            self.config = {"listen": [f"127.0.0.1:{self.port}"] + unix * [self.path], **config}
            if "admin" in config:
                self.config["admin"] = {"listen": f"127.0.0.1:{self.admin_port}",
                                        **config["admin"]}
            self.write_config(self.config)
            self.process = subprocess.Popen(command + ["run", self.config_path],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE, cwd=self.folder,
                                            env=self.environment)
            self.lines = Lines(self.process.stderr)
            if self.lines.wait_for(r"\bevent=ready\b"):
                return
            self.process.wait(PATIENCE)
            if "in use" not in self.lines.text() or attempt == 4:
                text = self.lines.text()
                shutil.rmtree(self.folder, ignore_errors=True)
                raise AssertionError(
                    f"keyspread did not start (exit {self.process.returncode}):\n{text}")

    def write_config(self, config):
        """JSON is YAML too."""
        with open(self.config_path, "w", encoding="utf-8") as file:
            json.dump(config, file, indent=2)

    def address(self):
        return ("127.0.0.1", self.port)

    def reload(self, config=None):
        """SIGHUP, after a new configuration was written if there is one; the line that answers."""
        seen = len(self.lines.lines)
        if config:
            self.write_config(config)
        self.process.send_signal(signal.SIGHUP)
        return self.lines.wait_for(r"event=reload(ed|_failed)", since=seen)

    def check_alive(self):
        """A death is the failure of the test that sees it first; the next one starts another."""
        if self.process.poll() is not None and not self.gone:
            self.kill()
            raise AssertionError(f"keyspread died ({self.process.returncode}):\n"
                                 + self.lines.text()[-6000:])

    def memory_peak(self):
        """The most memory it ever held, in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) * 1024

    def kill(self):
        """kill -9; stop() has nothing to say then."""
        self.gone = True
        self.process.kill()
        self.process.wait(PATIENCE)
        self.lines.thread.join(PATIENCE)
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def finish(self):
        """Waits for the end after a SIGTERM, which must be a clean one."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("keyspread did not end after SIGTERM:\n"
                                 + self.lines.text()[-3000:]) from None
        self.gone = True
        self.lines.thread.join(PATIENCE)
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        text = self.lines.text()
        if code != 0 or "Sanitizer" in text or "runtime error" in text:
            raise AssertionError(f"keyspread ended with {code}:\n{text[-6000:]}")

    def stop(self):
        """SIGTERM; the end must be clean: exit 0, nothing from a sanitizer."""
        if self.gone:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.finish()


# Where the hash stands in the keys of tables that do not say it, and how many hash buckets they have: ctest runs some
# tests with both orders, and with buckets.
KEY_ORDER = os.environ.get("KEYSPREAD_TEST_KEY_ORDER", "hash_last")
HASH_BUCKETS = int(os.environ.get("KEYSPREAD_TEST_HASH_BUCKETS", "0"))


class Table:
    """A table as the application knows it, and as it is stored behind keyspread."""

    def __init__(self, name, columns, key, **options):
        """`columns`: declarations. Options: those of the configuration file, and `hash_first`
        (where the hash column stands among the columns; in the key: `key_order`) and `constraints`
        (more of the table's body)."""
        self.name = name
        self.columns = columns
        self.key = key
        self.hash_first = options.pop("hash_first", True)
        self.constraints = options.pop("constraints", [])
        self.partitions = options.pop("partitions", 16)
        if KEY_ORDER != "hash_last":
            options.setdefault("key_order", KEY_ORDER)
        if HASH_BUCKETS and "hash_type" not in options:
            options.setdefault("hash_buckets", HASH_BUCKETS)
        self.options = options
        self.buckets = options.get("hash_buckets", 0)
        self.hash_key = options.get("hash_key", key[:1])
        self.hash_column = options.get("hash_column", f"{self.hash_key[0]}_hash")

    def config(self):
        return {"name": self.name, "primary_key": self.key, "hash_function": "xxh3",
                "partitions": {"uniform": self.partitions}, **self.options}

    def ddl(self, hashed=True, partitioned=True):
        """`partitioned`: by range of the hash column, at the bounds of `uniform`."""
        columns, key = list(self.columns), list(self.key)
        if hashed:
            columns.insert(0 if self.hash_first else len(columns),
                           f"{self.hash_column} {'smallint' if self.buckets else 'bigint'} not null")
            first = self.options.get("key_order") == "hash_first"
            key.insert(0 if first else len(key), self.hash_column)
        body = ", ".join(columns + [f"primary key ({', '.join(key)})"] + self.constraints)
        if not hashed or not partitioned:
            return f"create table {self.name} ({body});"
        text = f"create table {self.name} ({body}) partition by range ({self.hash_column});"
        if self.buckets:
            bounds = [-(-number * self.buckets // self.partitions) for number in range(self.partitions)]
        else:
            bounds = [(number * 2**64 // self.partitions) - 2**63 for number in range(self.partitions)]
        bounds = ["minvalue"] + bounds[1:] + ["maxvalue"]
        for number in range(self.partitions):
            text += (f"create table {self.name}_p{number} partition of {self.name} for values "
                     f"from ({bounds[number]}) to ({bounds[number + 1]});")
        return text

    def stored_hash(self, *values):
        """What the hash column of a row with this hash_key holds."""
        hashed = xxh3_unsigned(*values)
        return hashed % self.buckets if self.buckets else hashed - 2**64 if hashed >= 2**63 else hashed

    def partition_of(self, hashed):
        if self.buckets:
            return hashed * self.partitions // self.buckets
        return ((hashed + 2**63) * self.partitions) >> 64


EVENTS = Table("events", ["userid bigint not null", "ts timestamptz not null", "event text"],
               ["userid", "ts"], hash_column="userhash")


def backend_config(postgres, tables=(EVENTS,), port=None, **more):
    """A configuration that leads to this PostgreSQL; `more` replaces whole sections but `backend`,
    whose entries it adds."""
    backend = {"dsn": f"host=127.0.0.1 port={port or postgres.port} sslmode=disable",
               "dialect": "postgres", **more.pop("backend", {})}
    return {"auth": {"mode": "trust"}, "backend": backend, "workers": 2,
            "tables": [table.config() for table in tables], **more}


def create_tables(postgres, database, tables, hashed=None, partitioned=True, before=""):
    postgres.create_database(database)
    with postgres.admin(database) as admin:
        if before:
            admin.rows(before)
        for table in tables:
            admin.rows(table.ddl(not DIRECT if hashed is None else hashed, partitioned))


class StackCase(unittest.TestCase):
    """A PostgreSQL and a keyspread for a whole class of tests, an emptied database for each."""

    tables = (EVENTS,)
    database = "app"
    settings = {}
    version = None  # of the server: see Postgres
    options = {}
    partitioned = True
    before_sql = ""  # what the tables need
    setup_sql = ""   # what needs the tables

    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres(cls.version, **cls.settings)
        cls.addClassCleanup(cls.postgres.remove)
        create_tables(cls.postgres, cls.database, cls.tables, partitioned=cls.partitioned,
                      before=cls.before_sql)
        if cls.setup_sql:
            with cls.postgres.admin(cls.database) as admin:
                admin.rows(cls.setup_sql)
        cls.keyspread = None
        if not DIRECT:
            cls.start_keyspread()

    @classmethod
    def start_keyspread(cls):
        cls.keyspread = Keyspread(backend_config(cls.postgres, cls.tables, **cls.options))
        cls.addClassCleanup(cls.keyspread.stop)

    def setUp(self):
        if self.keyspread and self.keyspread.gone:
            self.start_keyspread()
        with self.postgres.admin(self.database) as admin:
            empty(admin, [table.name for table in self.tables], restart=True)

    def tearDown(self):
        if self.keyspread:
            self.keyspread.check_alive()

    @classmethod
    def port(cls):
        return cls.keyspread.port if cls.keyspread else cls.postgres.port

    @classmethod
    def dsn(cls):
        """For libpq's clients."""
        return (f"host=127.0.0.1 port={cls.port()} user={USER} dbname={cls.database}"
                " sslmode=disable")

    def wire(self, user=USER, **params):
        """A raw session; closed when the test ends."""
        session = wire.Wire(("127.0.0.1", self.port()))
        self.addCleanup(session.close)
        session.login(user, self.database, **params)
        return session

    def stored(self, table=EVENTS, columns="*", order=None):
        """What the table holds, seen past keyspread."""
        with self.postgres.admin(self.database) as admin:
            return admin.rows(f"select {columns} from {table.name} order by "
                              f"{order or ', '.join(table.key)}")

    def check_stored(self, table=EVENTS, count=None):
        """Every row has the right hash and lies in the right partition; returns their number."""
        with contextlib.closing(connect_admin(self.postgres, self.database)) as connection:
            return verify_hashes(self, connection, table, count)


def empty(admin, names, restart=False):
    """Deletes all rows of these tables; `restart`: the numbers of their columns begin anew. TRUNCATE would make new files
    for each partition and each index, which takes ten times as long where rows are few."""
    deletions = "".join(f"delete from {name};" for name in names)
    replies = admin.query(f"set local session_replication_role = replica; {deletions}")
    tags = wire.tags_of(replies)
    if wire.error_of(replies) or any(int(tag.split()[1]) > MANY_ROWS for tag in tags[1:]):
        admin.rows(f"truncate {', '.join(names)}")
    if restart:
        regclasses = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
        admin.rows("select setval(seqrelid, seqstart, false) from pg_depend join pg_sequence on seqrelid = objid where"
                   " classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass and deptype in ('a', 'i')"
                   f" and refobjid = any(array[{regclasses}]::regclass[])")


def connect_admin(postgres, database):
    """psycopg2 past keyspread."""
    try:
        import psycopg2
        import psycopg2.extras
    except ImportError:
        missing("psycopg2")
    psycopg2.extras.register_uuid()
    return psycopg2.connect(host="127.0.0.1", port=postgres.port, user="postgres", dbname=database)


def verify_hashes(test, connection, table, count=None):
    """Compares every stored hash with libxxhash's of the stored key."""
    if DIRECT:
        columns, names = "0", "''"
    else:
        columns, names = table.hash_column, "tableoid::regclass::text"
    with connection.cursor() as cursor:
        cursor.execute(f"select {columns}, {names}, {', '.join(table.hash_key)} from {table.name}")
        rows = cursor.fetchall()
    for stored, relation, *key in rows:
        if DIRECT:
            continue
        expected = table.stored_hash(*key)
        test.assertEqual(stored, expected, f"the hash of {key} in {table.name}")
        if relation.startswith(f"{table.name}_p"):
            test.assertEqual(relation, f"{table.name}_p{table.partition_of(expected)}")
    if count is not None:
        test.assertEqual(len(rows), count, f"rows in {table.name}")
    return len(rows)


def _xxhash():
    for name in ("libxxhash.so.0", "libxxhash.so"):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            library.XXH3_64bits.restype = ctypes.c_uint64
            library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
            return library
    return missing("libxxhash")


def canonical(value):
    """A stored value as the bytes that feed the hash."""
    if value is None:
        return b""
    if isinstance(value, bool):
        return b"\1" if value else b"\0"
    if isinstance(value, int):
        return struct.pack("<q", value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, memoryview)):
        return bytes(value)
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, float):
        return struct.pack("<d", value + 0.0)
    if isinstance(value, decimal.Decimal):
        text = format(value, "f")
        return (text.rstrip("0").rstrip(".") if "." in text else text).encode()
    if isinstance(value, datetime.datetime):
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        if value.tzinfo is None:
            epoch = epoch.replace(tzinfo=None)
        return struct.pack("<q", (value - epoch) // datetime.timedelta(microseconds=1))
    if isinstance(value, datetime.date):
        return struct.pack("<i", (value - datetime.date(1970, 1, 1)).days)
    raise AssertionError(f"no canonical form for {type(value)}")


def stored_of(hashed):
    """What a hash column holds of the hash that this SQL gives."""
    return f"mod(mod({hashed} + {2**64}, {2**64}), {HASH_BUCKETS})" if HASH_BUCKETS else hashed


def xxh3(data):
    return _xxhash().XXH3_64bits(data, len(data))


def xxh3_unsigned(*values):
    """The hash of a key."""
    return xxh3(b"".join(canonical(value) for value in values))


def xxh3_signed(*values):
    """The hash of a key as an int8 column holds it; or its bucket, where the tables of a test have buckets."""
    unsigned = xxh3_unsigned(*values)
    if HASH_BUCKETS:
        return unsigned % HASH_BUCKETS
    return unsigned - 2**64 if unsigned >= 2**63 else unsigned


def in_threads(count, work):
    """Runs work(0 … count-1) at once; returns the results, raises the first failure."""
    results, failures = [None] * count, []

    def run(number):
        try:
            results[number] = work(number)
        except BaseException as failure:  # reported by the caller's thread
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE * 3)
        if thread.is_alive():
            raise AssertionError("a client hangs")
    if failures:
        raise failures[0]
    return results
