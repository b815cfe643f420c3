"""Casts between PostgreSQL's own types that somebody made: what they make of a key is stored, hashed
and found as PostgreSQL does it."""
import unittest

import direct_case
import harness
import wire
from harness import Table

NUMBER = 5000000000
CASTS = """create function marked(bigint) returns text language sql immutable
    as $$select case when $1 < 4000000000 then int8out($1)::text else '#' || int8out($1)::text end$$;
    create cast (bigint as text) with function marked(bigint) as assignment;
    create cast (varchar as uuid) with inout as implicit"""
UUID = "7d0b7a9c-2f3e-4a86-9d1b-8f1e2a3b4c5d"


class OwnCasts(direct_case.DirectCase):
    tables = (Table("words", ["k text not null", "v text"], ["k"], hash_first=False),
              Table("things", ["k uuid not null", "v text"], ["k"], hash_first=False))
    setup_sql = CASTS

    def test_into_the_key(self):
        for cell in (NUMBER, f"{NUMBER}::bigint", f"{NUMBER}::text", f"'{NUMBER}'", f"'{NUMBER}'::text",
                     f"'{NUMBER}'::bigint::text", "5", "'5'::varchar"):
            self.query(f"insert into words values ({cell}, 'v')", verify=True)

    def test_found_again(self):
        insert = f"insert into words values ('{NUMBER}', 'bare'), ('#{NUMBER}', 'marked')"
        for value in (f"'{NUMBER}'", f"{NUMBER}::text", f"'{NUMBER}'::text", f"'{NUMBER}'::bigint::text"):
            self.both([wire.query(insert), wire.query(f"select v from words where k = {value}"),
                       wire.query(f"delete from words where k in ({value}, 'x')")], ready=3)

    def test_strings_into_the_other_key(self):
        for cell in (f"'{UUID}'", f"'{UUID}'::uuid", f"'{UUID}'::varchar"):
            self.query(f"insert into things values ({cell}, 'v')", verify=True)
        self.both([wire.parse("", "insert into things values ($1, 'v')"), wire.bind("", "", [UUID]),
                   wire.execute(), wire.sync()], verify=True)

    @harness.proxied
    def test_parameters_of_such_a_type_are_refused(self):
        """What a Bind makes of them is not known, and it must not be guessed."""
        for text, oid, value in (("insert into words values ($1, 'v')", 20, str(NUMBER)),
                                 ("insert into things values ($1::uuid, 'v')", 1043, UUID)):
            replies = self.play([wire.parse("", text, [oid]), wire.bind("", "", [value]),
                                 wire.execute(), wire.sync()], 1, *self.route(), {})
            self.assertEqual(wire.error_of(replies), "0A000")


if __name__ == "__main__":
    unittest.main()
