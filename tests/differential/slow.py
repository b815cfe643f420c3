"""slow: stands between keyspread and PostgreSQL, whose bytes come through in pieces, with pauses: what
stands behind a piece is not there yet when keyspread acts on it."""
import random
import socket
import threading
import time

PIECES = (1, 7, 30, 100, 1000)  # bytes at most
PAUSES = (0, 0, 0.0003, 0.001)  # seconds


class Slow:
    """Listens on `port` and leads to 127.0.0.1:`target`."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for pump in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pump, args=pump, daemon=True).start()

    @staticmethod
    def _pump(source, target, slowly):
        try:
            while data := source.recv(1 << 16):
                _send(target, data) if slowly else target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()


def _send(target, data):
    while data:
        size = random.choice(PIECES) if len(data) < 2000 else len(data)
        target.sendall(data[:size])
        data = data[size:]
        time.sleep(random.choice(PAUSES))
