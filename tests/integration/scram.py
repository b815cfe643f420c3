"""scram: the client's side of SCRAM-SHA-256(-PLUS), each part open to be done wrong."""
import base64
import functools
import hashlib
import hmac
import os
import struct

import wire


@functools.lru_cache(maxsize=64)
def salted(password, salt, iterations):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)


def mac(key, text):
    return hmac.new(key, text.encode() if isinstance(text, str) else text, "sha256").digest()


def b64(data):
    return base64.b64encode(data).decode()


def mechanisms(message):
    """What AuthenticationSASL offers."""
    return [name.decode() for name in message.body[4:].split(b"\0") if name]


def parts(message):
    """The attributes of a challenge, by letter."""
    return dict(part.split("=", 1) for part in message.body[4:].decode().split(","))


class Exchange:
    """One login, message by message: first() and final() are sent by the caller."""

    def __init__(self, password, header="n,,", mechanism="SCRAM-SHA-256", binding=b""):
        self.password = password
        self.header = header
        self.mechanism = mechanism
        self.binding = binding
        self.bare = f"n=,r={b64(os.urandom(18))}"

    def first(self):
        text = (self.header + self.bare).encode()
        return wire.frame("p", self.mechanism.encode() + b"\0" + struct.pack("!i", len(text)) + text)

    def final(self, challenge):
        """Answers AuthenticationSASLContinue."""
        given = parts(challenge)
        bound = b64(self.header.encode() + self.binding)
        without_proof = f"c={bound},r={given['r']}"
        signed = ",".join([self.bare, challenge.body[4:].decode(), without_proof])
        key = mac(salted(self.password, base64.b64decode(given["s"]), int(given["i"])), "Client Key")
        signature = mac(hashlib.sha256(key).digest(), signed)
        proof = bytes(a ^ b for a, b in zip(key, signature))
        return wire.frame("p", f"{without_proof},p={b64(proof)}".encode())


def login(session, user, database, password, exchange=None, **params):
    """Startup to the first ReadyForQuery. Raises wire.Closed with the replies if it is refused."""
    session.send(wire.startup(user, database, **params))
    offer = session.read_until("R", "E")[-1]
    if offer.kind == "E":
        raise wire.Closed([offer])
    exchange = exchange or Exchange(password)
    session.send(exchange.first())
    challenge = session.read_until("R", "E")[-1]
    if challenge.kind == "E":
        raise wire.Closed([challenge])
    session.send(exchange.final(challenge))
    replies = session.read_ready()
    if replies[-1].kind != "Z":
        raise wire.Closed(replies)
    return replies
