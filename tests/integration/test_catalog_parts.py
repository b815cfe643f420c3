"""The same as in test_catalog_hidden, of a partitioned table, and of one whose hash column is not the last."""
import unittest

import test_catalog_hidden as hidden
import wire
from catalog_queries import DROPPED


class PartitionsHidden(hidden.CatalogHidden):
    setup_sql = hidden.SETUP
    partitioned = True
    differs = ("only (ev)", r"\d+", r"\dt+ ev", r"\di+", r"\dti+", "information_schema.check_constraints")


class ColumnAdded(hidden.CatalogHidden):
    """It stands behind the hash column: for who asks for dropped columns that is one, as there is direct."""
    setup_sql = hidden.SETUP + hidden.UNIQUE + """do $$ begin if (select relnatts from pg_class where relname = 'ev') = 4 then
        alter table ev add gone bigint not null; alter table ev drop gone; end if; end $$;
        alter table ev add more int default 7;"""
    # What is asked by the number of the hash column: direct, that is one of a dropped column.
    differs = ("pg_describe_object(1259, 'ev'::regclass, 5)", "pg_identify_object(1259, 'ev'::regclass, 5)", "generate_series(0, 7) n")

    def asked(self, texts):
        return [text for text in super().asked(texts) if "pg_attribute" not in text or "attisdropped" in text]

    def test_dropped(self):
        for text in DROPPED:
            with self.subTest(text=text):
                self.both(wire.query(text))

    def test_numbers(self):
        """Who does not ask for dropped columns sees none."""
        numbers = "select attnum, attname from pg_attribute where attrelid = 'ev'::regclass and attnum > 0"
        with self.log_in(*self.route()) as session:
            self.assertEqual([number for number, name in session.rows(numbers + " order by 1") if "dropped" not in name],
                             ["1", "2", "3", "4", "6"])

    test_tools = test_prepared = test_quoted_names = test_only = test_tables_that_show_it = test_a_table_made_again = None  # the same as above


if __name__ == "__main__":
    unittest.main()
