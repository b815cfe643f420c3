"""Errors come in PostgreSQL's order and words: of a statement whose table has gone or become another, of what
is wrong with a Bind, of what the lexer refuses."""
import unittest

import wire
from direct_case import DirectCase
from harness import Table

GROUP = [wire.bind("", "", ["x"]), wire.execute(), wire.sync()]


class Order(DirectCase):
    tables = (Table("items", ["k int not null", "v text"], ["k"], hash_first=False),)
    setup_sql = "create schema other"

    def test_a_wrong_parameter_where_names_are_searched_elsewhere(self):
        """The table is looked at again, and its statement described once."""
        for path in ("other", "other, public"):
            with self.subTest(path=path):
                self.both([wire.parse("", "insert into public.items (k) values ($1)"), *GROUP],
                          search_path=path)


if __name__ == "__main__":
    unittest.main()
