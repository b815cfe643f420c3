"""The examples of the pages for users (docs/guarantees.md and the pages after it) do what stands beside them.

Each page's blocks of SQL are run through keyspread, one statement after the other, with the configuration that
docs/guarantees.md and docs/schema.md show. A comment after a statement says what comes: `-- ERROR 23505: text`,
`-- DETAIL: text`, `-- HINT: text`, a tag (`-- INSERT 0 1`), or, after two blanks, the columns and rows as psql prints them. Where
nothing is said of a statement, it succeeds.
"""
import os
import re
import unittest

import yaml

import harness
import wire

DOCS = os.path.join(os.path.dirname(os.path.dirname(harness.HERE)), "docs")
TAG = re.compile(r"(?:INSERT|UPDATE|DELETE|MERGE|SELECT) [\d ]*\d")


def blocks(page, kind):
    """The blocks of code of one kind in a page."""
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        return re.findall(rf"^```{kind}\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)


def statements(block):
    """Each statement of a block of SQL with the comments after it."""
    sql, found = "", []
    for line in block.splitlines():
        code, dashes, comment = re.match(r"(.*?)\s*(?:(--)(.*))?$", line).groups()
        sql += code + "\n" if code else ""
        if dashes and not sql.strip():
            found[-1][1].append(comment)
        elif code.endswith(";"):
            found.append((sql.strip(), [comment] if dashes else []))
            sql = ""
    if sql:
        raise AssertionError(f"no semicolon ends {sql!r}")
    return found


def cells(line):
    return [cell.strip() for cell in line.split("|")]


def tables():
    """What the pages configure."""
    found = []
    for page in ("guarantees.md", "schema.md"):
        for block in blocks(page, "yaml"):
            shown = yaml.safe_load(block)
            found += shown["tables"] if isinstance(shown, dict) else shown
    return found


@harness.proxied
class Guides(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.postgres = harness.Postgres()
        cls.addClassCleanup(cls.postgres.remove)
        config = {**harness.backend_config(cls.postgres, ()), "tables": tables()}
        cls.keyspread = harness.Keyspread(config)
        cls.addClassCleanup(cls.keyspread.stop)

    def session(self, database):
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.close)
        session.login(harness.USER, database)
        return session

    def check(self, sql, comments, replies):
        """Whether the replies to a statement are what its comments say."""
        errors = [message.fields() for message in replies if message.kind == "E"]
        said = [comment.strip() for comment in comments]
        error = next((re.match(r"ERROR (\w{5}): (.*)", text) for text in said if text.startswith("ERROR")), None)
        if error:
            self.assertTrue(errors, f"{sql}: no error")
            self.assertEqual((errors[0]["C"], errors[0]["M"]), error.groups(), sql)
        else:
            self.assertEqual(errors, [], sql)
        for text in said:
            if text.startswith(("DETAIL: ", "HINT: ")):
                field, _, expected = text.partition(": ")
                self.assertEqual(errors[0].get(field[0]), expected, sql)
            tag = TAG.match(text)
            if tag:
                self.assertEqual(wire.tags_of(replies), [tag.group()], sql)
        self.check_rows(sql, [cells(text) for text in comments if text.startswith("  ")], replies)

    def check_rows(self, sql, shown, replies):
        """Whether the columns and rows are those that are shown; a line `…` stands for any rows."""
        columns = [[column[0] for column in message.columns()] for message in replies if message.kind == "T"]
        rows = [["" if value is None else value.decode().strip() for value in message.row()]
                for message in replies if message.kind == "D"]
        if len(shown) > 1 and re.fullmatch(r"[-+]+", shown[1][0]):
            self.assertEqual([shown[0]], columns, sql)
            shown = shown[2:]
        if ["…"] in shown:
            for line in shown:
                self.assertTrue(line == ["…"] or line in rows, f"{sql}: {line} is not in {rows}")
        elif shown:
            self.assertEqual(rows, shown, sql)

    def run_page(self, page):
        database = page.partition(".")[0]
        self.postgres.create_database(database)
        session = self.session(database)
        if page != "guarantees.md":
            session.rows("".join(blocks("guarantees.md", "sql")[:1]))
        count = 0
        for block in blocks(page, "sql"):
            for sql, comments in statements(block):
                made = re.match(r"create table (\w+)", sql)
                if made:
                    session.rows(f"drop table if exists {made.group(1)} cascade")
                self.check(sql, comments, session.query(sql))
                count += 1
        self.assertGreater(count, 0, f"{page} has no examples")

    def test_guarantees(self):
        self.run_page("guarantees.md")

    def test_limits(self):
        self.run_page("limits.md")

    def test_keys(self):
        self.run_page("keys.md")

    def test_reads(self):
        self.run_page("reads.md")

    def test_schema(self):
        self.run_page("schema.md")


if __name__ == "__main__":
    unittest.main()
