"""middleman: stands between keyspread and PostgreSQL and breaks the connection at a chosen point.

It follows both streams message by message, so that "before the batch is sent" and "between its
CommandComplete and its ReadyForQuery" are places, not moments.
"""
import collections
import socket
import struct
import threading

import wire

BEFORE = "before"              # the statement was never sent
AFTER = "after"                # it was sent, nothing of its answer came
BEFORE_READY = "before-ready"  # CommandComplete came, ReadyForQuery did not
AFTER_READY = "after-ready"    # the whole answer came
POINTS = (BEFORE, AFTER, BEFORE_READY, AFTER_READY)

SSL_REQUEST, GSS_REQUEST, CANCEL = 80877103, 80877104, 80877102


class Middleman:
    """Listens on `port` and leads to 127.0.0.1:`target`."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.trap = None
        self.gap = None
        self.refusing = False
        self.silent = False      # who comes hears nothing
        self.unheard = []
        self.together = None
        self.connections = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, point, matches, action, skip=0):
        """At `point` of the statement number `skip` + 1 whose text matches (a function of bytes),
        calls `action(connection)` once and then cuts that connection. Returns an Event."""
        trap = {"point": point, "matches": matches, "action": action, "skip": skip,
                "fired": threading.Event()}
        with self.lock:
            self.trap = trap
        return trap["fired"]

    def open_gap(self, kind, left, then=None):
        """In the next message of this type to the client, `left` bytes before its end: cuts the
        connection, or waits for the event `then` and goes on. Returns an Event: it is there."""
        there = threading.Event()
        with self.lock:
            self.gap = (kind, left, then, there)
        return there

    def take_gap(self, kind):
        with self.lock:
            gap = self.gap
            if not gap or gap[0] != kind:
                return None
            self.gap = None
            return gap

    def take(self):
        """The trap, if it is this statement's turn; no other statement meets it any more."""
        with self.lock:
            trap = self.trap
            if trap and trap["skip"]:
                trap["skip"] -= 1
                return None
            self.trap = None
            return trap

    def refuse_together(self, count):
        """The next so many logins refuse each other, as where each is counted with the others."""
        self.together = [threading.Barrier(count), count]

    def take_together(self):
        with self.lock:
            together = self.together
            if together:
                together[1] -= 1
                self.together = together if together[1] else None
            return together and together[0]

    def cut_all(self):
        for connection in list(self.connections):
            connection.cut()

    def close(self):
        self.listener.close()
        self.cut_all()
        for client in self.unheard:
            client.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.refusing:
                client.close()
                continue
            if self.silent:
                self.unheard.append(client)
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.add(Connection(self, client, server))


class Connection:
    def __init__(self, owner, client, server):
        self.owner, self.client, self.server = owner, client, server
        self.pid = None
        self.mute = False
        self.named = {}          # prepared statements: whether their text matches
        self.group = None        # the trap that the open Sync group has met
        self.awaited = collections.deque()  # a trap or None for each ReadyForQuery that is owed
        for work in (self._from_client, self._from_server):
            threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def cut(self):
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _run(self, work):
        try:
            work()
        except (OSError, wire.Closed):
            pass
        self.cut()
        self.owner.connections.discard(self)

    def _fire(self, trap):
        self.mute = True
        trap["action"](self)
        trap["fired"].set()
        self.cut()
        raise wire.Closed()

    @staticmethod
    def _exactly(stream, size):
        parts = []
        while size:
            data = stream.recv(min(size, 1 << 18))
            if not data:
                raise wire.Closed()
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    def _message(self, stream):
        head = self._exactly(stream, 5)
        return chr(head[0]), head + self._exactly(stream, struct.unpack("!I", head[1:])[0] - 4)

    def _startup(self):
        while True:
            head = self._exactly(self.client, 8)
            size, code = struct.unpack("!II", head)
            if code in (SSL_REQUEST, GSS_REQUEST):
                self.client.sendall(b"N")
                continue
            rest = self._exactly(self.client, size - 8)
            together = code != CANCEL and self.owner.take_together()
            if together:
                self._refuse(together)
            self.server.sendall(head + rest)
            if code != CANCEL:
                return

    def _refuse(self, together):
        together.wait(60)
        fields = (b"SFATAL", b"VFATAL", b"C53300", b"Mtoo many", b"Fmiscinit.c", b"L1",
                  b"RInitializeSessionUserId")
        self.client.sendall(wire.frame("E", b"\0".join(fields) + b"\0\0"))
        raise wire.Closed()

    def _from_client(self):
        self.awaited.append(None)  # before the server can answer
        self._startup()
        while True:
            kind, data = self._message(self.client)
            trap = self._meet(kind, data)
            if trap and trap["point"] == BEFORE:
                self._fire(trap)
            if kind in "QSF":
                trap, self.group = trap or self.group, None
                if trap and trap["point"] == AFTER:
                    self.mute = True
                    self.server.sendall(data)
                    self._fire(trap)
                self.awaited.append(trap)
            elif trap:
                self.group = trap
            self.server.sendall(data)

    def _meet(self, kind, data):
        """The trap that this message springs, if any."""
        trap = self.owner.trap
        if kind == "P" and trap:
            name, text = data[5:].split(b"\0")[:2]
            self.named[name] = trap["matches"](text)
        matches = (kind == "Q" and trap and trap["matches"](data)
                   or kind == "B" and trap and self.named.get(data[5:].split(b"\0")[1]))
        if not matches or self.group:
            return None
        return self.owner.take()

    def _relay(self, kind, data):
        gap = self.owner.take_gap(kind)
        if not gap:
            self.client.sendall(data)
            return
        _, left, then, there = gap
        self.client.sendall(data[:len(data) - left])
        there.set()
        if not then:
            self.cut()
            raise wire.Closed()
        then.wait()
        self.client.sendall(data[len(data) - left:])

    def _from_server(self):
        while True:
            kind, data = self._message(self.server)
            if self.mute:
                continue
            if kind == "K":
                self.pid = struct.unpack_from("!I", data, 5)[0]
            self._relay(kind, data)
            trap = self.awaited[0] if self.awaited else None
            if kind == "Z" and self.awaited:
                self.awaited.popleft()
            if trap and (kind, trap["point"]) in (("C", BEFORE_READY), ("Z", AFTER_READY)):
                self._fire(trap)
