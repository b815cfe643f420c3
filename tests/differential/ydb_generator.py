"""ydb_generator: the sequences of generator.py, as far as YDB's endpoint has what they are about, and the
habits of drivers: parameters and results in binary, pipelines, cursors.

ydb-endpoint.md, 2: no CHECK, no foreign keys, no triggers, rules, policies, functions, schemas or roles;
ALTER TABLE for defaults alone; temporary tables hide no others; COPY is none of its messages (1.3).
"""
import tables
import values
from generator import Generator
from kinds import KINDS
from statements import BAD, SETTING_TEXTS
from tables import TWINS

TABLES = {name: table for name, table in tables.TABLES.items() if name not in ("odd", "late", "seq")}
IMPOSSIBLE = {"functions", "search_path", "user_schema", "temporary", "role", "alter_role", "trigger",
              "rule", "policy", "ddl", "past", "copy"}
# Not compared: YDB tells of no position and no context.
UNTOLD = {"positions", "contexts"}
# Nothing is asked of YDB before a statement is executed: what Parse or Bind refuse direct is met there,
# and what nobody executes is never met.
UNSEEN = {"parse_errors", "wrong_parameters", "bind_only"}
# A login's TimeZone and DateStyle are that of the driver's machine, and are not followed; what cannot be
# kept refuses the login.
AT_LOGIN = (("application_name", ("an app", "")), ("client_min_messages", ("warning", "notice")),
            ("extra_float_digits", ("1", "3")), ("intervalstyle", ("postgres",)),
            ("bytea_output", ("hex",)), ("statement_timeout", ("1h", "0")),
            ("lock_timeout", ("1h", "0")))


# Within an expression it is YDB's, which knows nothing of what a session has set.
TEXTS = ["'an app'" if "application_name" in text else text for text in SETTING_TEXTS]


class YdbGenerator(Generator):
    known, favoured = TABLES, TWINS + ("by_set",)

    def __init__(self, *given):
        super().__init__(*given)
        self.sql.setting_texts = TEXTS

    @staticmethod
    def kinds_made():
        return KINDS - IMPOSSIBLE - UNTOLD - UNSEEN

    def startup_params(self):
        params = {}
        while self.dice.random() < 0.2:
            name, offered = self.dice.choice(AT_LOGIN)
            params[name] = self.dice.choice(offered)
        return params

    def _name(self, known):
        self.named = super()._name(known)
        return self.named

    def _text(self):
        """One with a name is a right one: direct, a wrong one leaves no such name."""
        while True:
            text, oids, slots = super()._text()
            if not self.named or text not in BAD:
                return text, oids, slots

    def _step(self):
        if self.dice.random() < 0.3:
            session = self.dice.choice(self.sessions)
            self._limit(session)
            return self.dice.choice((self._asyncpg, self._pipeline, self._cursor))(session)
        return super()._step()

    def _sql_prepare(self, session):
        """EXECUTE and its like, on what keyspread keeps."""
        dice = self.dice
        if dice.random() < 0.5:
            table = self.sql.table()
            column = next(iter(table.key))
            key = values.plain(table.kind(column), dice.choice(self.sql.numbers))
            return self.statements(
                session, f"prepare q as select {column}, v from {table.name} where {column} = $1",
                f"execute q({key})", dice.choice(("execute q", f"execute q({key})", "deallocate q")),
                dice.choice(("deallocate q", "deallocate all", "discard all")))
        return self.statements(session, dice.choice((
            "prepare q as select 1", "execute q", "deallocate q", "deallocate a", "fetch c", "close c",
            "unlisten *", "select pg_backend_pid() > 0", "set constraints all deferred")))

    def _asked(self):
        """A read or write by parameters: (text, oids, slots)."""
        dice, table = self.dice, self.sql.table()
        column = dice.choice(list(table.key))
        kind, keys = table.kind(column), ", ".join(table.key)
        text, slots = dice.choice((
            (f"select * from {table.name} where {column} = $1 order by {keys}", [kind]),
            (f"select {keys}, n, v from {table.name} where {column} = $1 or n > $2 order by {keys}",
             [kind, "int4"]),
            (f"select {keys} from {table.name} where {column} in ($1, $2) order by {keys}",
             [kind, kind]),
            (f"select v, count(*) from {table.name} where {column} >= $1 group by v order by v",
             [kind]),
            (f"select {keys} from {table.name} order by {keys} limit $1", ["int8"]),
            (f"update {table.name} set v = $2 where {column} = $1", [kind, "text"]),
            (f"update {table.name} set n = n + $2 where {column} = $1", [kind, "int4"]),
            (f"delete from {table.name} where {column} = $1", [kind])))
        oids = [values.OIDS[slot] for slot in slots] if dice.random() < 0.5 else []
        return text, oids, slots

    def _made(self):
        return self._asked() if self.dice.random() < 0.5 else self.sql.prepared(self.dice.random() < 0.7)

    def _given(self, slots, oids, binary):
        """As one driver sends them: all in binary, where it can."""
        given, formats = self.sql.bound(slots, oids)
        if binary and oids:
            for at, (kind, oid) in enumerate(zip(slots, oids)):
                value = values.pool(kind, self.dice.choice(self.sql.numbers))
                made, data = values.binary(kind, value, self.dice)
                if made == oid:
                    given[at], formats[at] = data, 1
        return [None if one is None else {"hex": one.hex()} for one in given], formats

    def _asyncpg(self, session):
        """Parse, Describe, and wait; then Bind and Execute; all results in binary."""
        text, oids, slots = self._made()
        name = f"__asyncpg_{len(self.steps)}__"
        messages = [["Parse", name, text, oids], ["Describe", "S", name], ["Flush"]]
        self.say(session, messages)
        for _ in range(self.dice.choice((1, 1, 3))):
            given, formats = self._given(slots, oids, True)
            self.say(session, [["Bind", "", name, given, formats, [1]], ["Execute", "", 0], ["Sync"]])
        self.say(session, [["Close", "S", name], ["Sync"]])

    def _pipeline(self, session):
        """Several statements, each prepared with a name and used again, and one Sync, as psycopg 3's."""
        messages, binary = [], self.dice.random() < 0.5
        for number in range(self.dice.choice((2, 3, 5))):
            text, oids, slots = self._made()
            name = f"_pg3_{len(self.steps)}_{number}"
            messages.append(["Parse", name, text, oids])
            for _ in range(self.dice.choice((1, 1, 2))):
                given, formats = self._given(slots, oids, binary)
                messages += [["Bind", "", name, given, formats, [int(binary)]],
                             ["Describe", "P", ""], ["Execute", "", 0]]
        self.say(session, messages + [["Sync"]])

    def _cursor(self, session):
        """A server-side cursor, or a portal that is read in parts, in a transaction."""
        dice, table = self.dice, self.sql.table()
        keys = ", ".join(table.key)
        text = f"select {keys}, v from {table.name} order by {keys}, v"
        begin = [] if session in self.open else ["begin"]
        end = [] if session in self.open else [dice.choice(("commit", "rollback"))]
        if dice.random() < 0.5:
            parts = begin + [f"declare c{len(self.steps)} cursor for {text}"]
            for _ in range(dice.randint(1, 4)):
                parts.append(dice.choice(("fetch {}", "fetch 2 from {}", "fetch forward all from {}",
                                          "fetch next from {}", "move 1 in {}", "fetch all in {}"))
                             .format(f"c{len(self.steps)}"))
                if dice.random() < 0.2:
                    parts.append(self.sql.one())
            return self.statements(session, *parts, f"close c{len(self.steps)}", *end)
        messages = [["Query", [one]] for one in begin]
        messages += [["Parse", "", text, []], ["Bind", "part", "", [], [], [dice.choice((0, 1))]],
                     ["Describe", "P", "part"]]
        for _ in range(dice.randint(1, 4)):
            messages.append(["Execute", "part", dice.choice((1, 2, 0))])
            if dice.random() < 0.3:
                messages.append(["Sync"])
        messages += [["Close", "P", "part"], ["Sync"]] + [["Query", [one]] for one in end]
        return self.say(session, messages)
