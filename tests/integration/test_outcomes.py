"""Whose a tag or an error is, and whether it is true, whatever constraints and triggers do."""
import unittest

import harness
import wire

RAISE = """
    create function raises(v text) returns bool language plpgsql as $$
      begin
        if v ~ '^[0-9A-Z]{5}$' then raise exception 'raised %', v using errcode = v; end if;
        return true;
      end $$"""


class Crowd(harness.StackCase):
    """Clients that write at the same time; commits take a while, so that rows travel together."""

    settings = {"fsync": "on", "synchronous_commit": "on", "commit_delay": 2000,
                "commit_siblings": 0}
    options = {"workers": 1}
    partitioned = False
    clients = 12

    def crowd(self, work, clients=None):
        """Runs work(number, ask), ask(key, value) being one row in this client's protocol."""
        def client(number):
            return work(number, self.asker(self.wire(), extended=number % 2))
        return harness.in_threads(clients or self.clients, client)

    def asker(self, session, extended):
        raise NotImplementedError


class RaisedErrors(Crowd):
    """A row may raise any SQLSTATE; it stays that row's."""

    CHECKED = harness.Table("checked", ["k int not null", "v text check (raises(v))"], ["k"],
                            partitions=1)
    tables = (CHECKED,)
    before_sql = RAISE
    CODES = ("53100", "53300", "57P01", "57P03", "57014", "08006", "08007", "54000", "28000",
             "40001", "55P03", "XX000", "26000", "42703", "42P01")

    def asker(self, session, extended):
        if extended:
            session.ask(wire.parse("s", "insert into checked values ($1, $2)"), wire.sync())
            return lambda k, v: session.ask(wire.bind("", "s", [k, v]), wire.execute(), wire.sync())
        return lambda k, v: session.query(f"insert into checked values ({k}, '{v}')")

    def test_whatever_a_row_raises_is_its_own(self):
        def work(number, ask):
            for insert in range(24):
                code = self.CODES[insert % len(self.CODES)] if number in (0, 1) else "good"
                replies = ask(number * 1000 + insert, code)
                expected = code if code != "good" else None
                self.assertEqual(wire.error_of(replies), expected, replies)
                self.assertEqual(wire.tags_of(replies), [] if expected else ["INSERT 0 1"])
        self.crowd(work)
        self.check_stored(self.CHECKED, count=(self.clients - 2) * 24)


del Crowd

if __name__ == "__main__":
    unittest.main()
