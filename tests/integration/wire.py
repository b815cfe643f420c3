"""wire: PostgreSQL's protocol 3.0 from the client's side, message by message.

Builders return bytes, so that a test can send what no driver would send; Message decodes replies.
"""
import socket
import struct

TIMEOUT = 60.0


def _cstring(text):
    return (text if isinstance(text, bytes) else text.encode()) + b"\0"


def frame(kind, body=b""):
    """A message with its right length."""
    return kind.encode() + struct.pack("!I", len(body) + 4) + body


def startup(user, database, minor=0, **params):
    """`minor`: of protocol 3."""
    body = struct.pack("!I", 3 << 16 | minor)
    for name, value in {"user": user, "database": database, **params}.items():
        body += _cstring(name) + _cstring(str(value))
    return struct.pack("!I", len(body) + 5) + body + b"\0"


def cancel_request(pid, key):
    """`key`: a number, as before protocol 3.2, or its bytes."""
    key = key if isinstance(key, bytes) else struct.pack("!I", key)
    return struct.pack("!III", 12 + len(key), 80877102, pid) + key


def password(text):
    return frame("p", _cstring(text))


def query(sql):
    return frame("Q", _cstring(sql))


def parse(name, sql, oids=()):
    return frame("P", _cstring(name) + _cstring(sql) + struct.pack("!H", len(oids))
                 + b"".join(struct.pack("!I", oid) for oid in oids))


def bind(portal, statement, values=(), formats=(), results=()):
    """Values: None, bytes as they are, or anything else as its text."""
    body = _cstring(portal) + _cstring(statement)
    body += struct.pack("!H", len(formats)) + b"".join(struct.pack("!h", f) for f in formats)
    body += struct.pack("!H", len(values))
    for value in values:
        if value is None:
            body += struct.pack("!i", -1)
        else:
            data = value if isinstance(value, bytes) else str(value).encode()
            body += struct.pack("!i", len(data)) + data
    body += struct.pack("!H", len(results)) + b"".join(struct.pack("!h", f) for f in results)
    return frame("B", body)


def describe(kind, name):
    return frame("D", kind.encode() + _cstring(name))


def close(kind, name):
    return frame("C", kind.encode() + _cstring(name))


def execute(portal="", limit=0):
    return frame("E", _cstring(portal) + struct.pack("!I", limit))


def sync():
    return frame("S")


def flush():
    return frame("H")


def copy_data(data):
    return frame("d", data if isinstance(data, bytes) else data.encode())


def copy_done():
    return frame("c")


def copy_fail(reason):
    return frame("f", _cstring(reason))


def function_call(oid, arguments):
    """Text arguments, text result."""
    body = struct.pack("!IHH", oid, 0, len(arguments))
    for argument in arguments:
        data = str(argument).encode()
        body += struct.pack("!I", len(data)) + data
    return frame("F", body + struct.pack("!H", 0))


def terminate():
    return frame("X")


NAMES = {
    "R": "Authentication", "K": "BackendKeyData", "S": "ParameterStatus", "Z": "ReadyForQuery",
    "C": "CommandComplete", "D": "DataRow", "T": "RowDescription", "t": "ParameterDescription",
    "1": "ParseComplete", "2": "BindComplete", "3": "CloseComplete", "n": "NoData",
    "s": "PortalSuspended", "I": "EmptyQueryResponse", "E": "ErrorResponse", "N": "NoticeResponse",
    "A": "NotificationResponse", "G": "CopyInResponse", "H": "CopyOutResponse", "d": "CopyData",
    "c": "CopyDone", "V": "FunctionCallResponse", "v": "NegotiateProtocolVersion",
}


class Message:
    """One reply: its type letter and its body."""

    def __init__(self, kind, body):
        self.kind = kind
        self.body = body

    @property
    def name(self):
        return NAMES.get(self.kind, f"unknown {self.kind!r}")

    def fields(self):
        """The fields of an error or a notice, by letter."""
        parts = self.body.rstrip(b"\0").split(b"\0")
        return {part[:1].decode(): part[1:].decode(errors="replace") for part in parts if part}

    @property
    def sqlstate(self):
        return self.fields()["C"]

    def row(self):
        """The values of a DataRow as bytes, None for NULL."""
        count, at, values = struct.unpack_from("!H", self.body)[0], 2, []
        for _ in range(count):
            size = struct.unpack_from("!i", self.body, at)[0]
            at += 4
            values.append(None if size < 0 else self.body[at:at + size])
            at += max(size, 0)
        return values

    def columns(self):
        """A RowDescription: (name, table oid, attnum, type oid, size, typmod, format) each."""
        count, at, columns = struct.unpack_from("!H", self.body)[0], 2, []
        for _ in range(count):
            end = self.body.index(b"\0", at)
            columns.append((self.body[at:end].decode(),)
                           + struct.unpack_from("!IhIhih", self.body, end + 1))
            at = end + 19
        return columns

    def tag(self):
        return self.body[:-1].decode()

    def __repr__(self):
        if self.kind in "EN":
            detail = " ".join(f"{k}={v!r}" for k, v in self.fields().items())
        elif self.kind == "T":
            detail = ", ".join(":".join(map(str, column)) for column in self.columns())
        elif self.kind == "D":
            detail = ", ".join(map(repr, self.row()))
        elif self.kind == "t":
            detail = str(struct.unpack(f"!{len(self.body) // 4}I", self.body[2:]))
        else:
            detail = repr(self.body) if self.body else ""
        if len(detail) > 2000:
            detail = f"{detail[:2000]}… ({len(detail)} characters)"
        return f"{self.name} {detail}".rstrip()


class Closed(Exception):
    """The server closed the connection; `messages` came before."""

    def __init__(self, messages=()):
        super().__init__("the server closed the connection")
        self.messages = list(messages)


class Wire:
    """A connection that says exactly what it is told to say."""

    def __init__(self, address, timeout=TIMEOUT):
        """`address`: (host, port) or the path of a Unix socket."""
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
        else:
            self.socket = socket.socket(socket.AF_INET)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        if not isinstance(address, str):
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.pid = self.key = None
        self.parameters = {}

    def login(self, user, database, **params):
        """Startup to the first ReadyForQuery. Raises Closed with the replies if it is refused."""
        self.send(startup(user, database, **params))
        replies = self.read_ready()
        if replies[-1].kind != "Z":
            raise Closed(replies)
        for message in replies:
            if message.kind == "K":
                self.pid, self.key = struct.unpack("!I", message.body[:4])[0], message.body[4:]
                if len(self.key) == 4:
                    self.key = struct.unpack("!I", self.key)[0]
            elif message.kind == "S":
                name, value = message.body.split(b"\0")[:2]
                self.parameters[name.decode()] = value.decode()
        return replies

    def send(self, *messages):
        self.socket.sendall(b"".join(messages))

    def receive(self):
        """Waits for more bytes, whatever they are."""
        data = self.socket.recv(1 << 18)
        if not data:
            raise Closed()
        self.buffer += data

    def _fill(self, size):
        while len(self.buffer) < size:
            self.receive()

    def read(self):
        """The next message."""
        self._fill(5)
        size = struct.unpack_from("!I", self.buffer, 1)[0]
        self._fill(size + 1)
        message = Message(chr(self.buffer[0]), bytes(self.buffer[5:size + 1]))
        del self.buffer[:size + 1]
        return message

    def read_until(self, *kinds):
        """All messages up to the first of one of these types. Raises Closed at the end."""
        messages = []
        while not messages or messages[-1].kind not in kinds:
            try:
                messages.append(self.read())
            except (Closed, ConnectionError):
                raise Closed(messages) from None
        return messages

    def read_ready(self, count=1):
        """All messages up to the count'th ReadyForQuery, or to the end of a dying connection."""
        messages = []
        for _ in range(count):
            try:
                messages += self.read_until("Z")
            except Closed as closed:
                if not closed.messages:
                    raise Closed(messages) from None
                return messages + closed.messages
        return messages

    def read_to_end(self):
        try:
            while True:
                self.read_until("")
        except Closed as closed:
            return closed.messages

    def skim(self):
        """Reads one message of any size without keeping it; returns its type and body length."""
        self._fill(5)
        kind, size = chr(self.buffer[0]), struct.unpack_from("!I", self.buffer, 1)[0]
        left = size + 1
        while left > len(self.buffer):
            left -= len(self.buffer)
            self.buffer.clear()
            self._fill(1)
        del self.buffer[:left]
        return kind, size - 4

    def ask(self, *messages, ready=1):
        self.send(*messages)
        return self.read_ready(ready)

    def query(self, sql):
        """Runs a simple Query; returns the replies, errors included."""
        return self.ask(query(sql))

    def rows(self, sql):
        """The rows of a simple Query as text. Raises on an error."""
        replies = self.query(sql)
        for message in replies:
            if message.kind == "E":
                raise AssertionError(f"{sql}: {message}")
        return [[None if value is None else value.decode() for value in message.row()]
                for message in replies if message.kind == "D"]

    def close(self):
        try:
            self.send(terminate())
        except OSError:
            pass
        self.socket.close()

    def drop(self):
        """Ends the connection without a word."""
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def kinds(messages):
    """The types of a reply as one string: '1', '2', 'D', 'C', 'Z' …, to compare at a glance."""
    return "".join(message.kind for message in messages if message.kind not in "NA")


def error_of(messages):
    """The SQLSTATE of the first error among the replies, None if there is none."""
    return next((message.sqlstate for message in messages if message.kind == "E"), None)


def is_welcome(message):
    """AuthenticationOk."""
    return message.kind == "R" and message.body == bytes(4)


def tags_of(messages):
    return [message.tag() for message in messages if message.kind == "C"]
