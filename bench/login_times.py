#!/usr/bin/python3
"""Whether the time of a refusal tells a wrong password from an unknown user.

    bench/login_times.py PORT USER PASSWORD DATABASE [ROUNDS]

Logs in by SCRAM-SHA-256 in turns, with the right password, a wrong one, and as nobody that exists;
prints the median and the quartiles of both server's steps: the startup packet to the challenge, and
the proof to the first byte of the answer.
"""
import os
import random
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/integration"))

import scram
import wire


def attempt(port, database, user, password):
    """The microseconds that both steps take."""
    session = wire.Wire(("127.0.0.1", port))
    try:
        exchange = scram.Exchange(password)
        session.send(wire.startup(user, database))
        session.read()
        begin = time.perf_counter_ns()
        session.send(exchange.first())
        challenge = session.read()
        first = time.perf_counter_ns()
        final = exchange.final(challenge)
        sent = time.perf_counter_ns()
        session.send(final)
        session.read()
        end = time.perf_counter_ns()
    finally:
        session.drop()
    return (first - begin) / 1000, (end - sent) / 1000


def main():
    port, user, password = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    database, rounds = sys.argv[4], int(sys.argv[5]) if len(sys.argv) > 5 else 2000
    who = {"right password": (user, password), "wrong password": (user, password + "x"),
           "unknown user": (user + "x", password)}
    for kind in who.values():
        attempt(port, database, *kind)  # the client's own key derivation, once
    times = {name: [] for name in who}
    order = list(who)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(attempt(port, database, *who[name]))
    print(f"µs, {rounds} rounds       challenge: 25 %   median     75 %    answer: 25 %   median     75 %")
    for name, values in times.items():
        quartiles = [statistics.quantiles(step) for step in zip(*values)]
        print(f"{name:25}" + "".join(f"{q[0]:10.1f}{q[1]:9.1f}{q[2]:9.1f}      " for q in quartiles))


if __name__ == "__main__":
    main()
