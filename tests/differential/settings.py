"""settings: the steps of a sequence that change what statements mean: settings, names, roles, triggers
and tables themselves. Each kind has a name, so that it can be switched off.
"""
from tables import TWINS

# What is followed, what only changes output, what keyspread does not know.
PLAIN = [("timezone", ["Asia/Tokyo", "Europe/Berlin", "UTC", "America/St_Johns", "+03"]),
         ("datestyle", ["sql, dmy", "iso, ymd", "german", "postgres, mdy", "dmy"]),
         ("intervalstyle", ["iso_8601", "postgres", "sql_standard"]),
         ("bytea_output", ["escape", "hex"]), ("extra_float_digits", ["0", "3", "-5"]),
         ("application_name", ["an app", ""]), ("client_min_messages", ["warning", "notice"]),
         ("standard_conforming_strings", ["off", "on"]), ("statement_timeout", ["1h", "0"]),
         ("lock_timeout", ["1h", "0"]), ("synchronous_commit", ["off", "on"]),
         ("default_transaction_read_only", ["on", "off"]), ("my.own", ["x"]),
         ("default_transaction_isolation", ["serializable", "read committed"]),
         ("session_replication_role", ["replica", "origin"]), ("quote_all_identifiers", ["on"]),
         ("client_encoding", ["UTF8", "latin1", "UNICODE", "SQL_ASCII"]),
         ("backslash_quote", ["off", "on"]), ("array_nulls", ["off"]), ("xmlbinary", ["hex"]),
         ("transform_null_equals", ["on"]), ("row_security", ["off", "on"]),
         ("plpgsql.variable_conflict", ["use_column"]), ("lc_numeric", ["C"])]
OUTPUT = ("bytea_output", "extra_float_digits")  # they show in what errors tell of a key
PATHS = ["public", "other, public", "public, other", '"$user", public', "other", "nowhere",
         '"$user", other', "pg_temp, public", ""]
DDL = ["alter table {t} add column x int default 5", "alter table {t} drop column n",
       "alter table {t} rename column v to w", "alter table {t} alter column n type bigint",
       "alter table {t} alter column n set default 9", "alter table {t} alter column v set not null",
       "alter table {t} drop column v, add column v text", "create index on {t} (n)",
       "alter table {t} drop column n, drop column v, add column n int, add column v text",
       "alter table {t} add constraint positive check (n > 0)", "comment on table {t} is 'x'",
       "alter table public.{t} rename to moved", "alter table public.{t} set schema attic",
       "alter table {t} rename column v to z; alter table {t} rename column n to v;"
       " alter table {t} rename column z to n"]
TRIGGERS = [
    "create trigger noise before insert on {t} for each row execute function note()",
    "create trigger noise after insert or update on {t} for each statement execute function note()",
    "create trigger noise before insert on {t} for each row execute function nothing()",
    "create trigger noise before update on {t} for each row execute function nothing()",
    "create trigger noise before insert on {t} for each row execute function change()",
    "create trigger noise after delete on {t} for each row execute function note()",
    "create constraint trigger noise after insert on {t} deferrable initially deferred"
    " for each row execute function note()",
    "create trigger noise before insert on {t} for each row when (new.k is not null) execute function nothing()"]
RULES = [
    "create rule quiet as on insert to {t} do instead nothing",
    "create rule quiet as on insert to {t} where new.n > 5 do instead nothing",
    "create rule quiet as on insert to {t} do also select 'also'",
    "create rule quiet as on update to {t} do instead nothing"]
POLICIES = [
    "create policy p on {t} using (true) with check (n < 5)",
    "create policy p on {t} for insert with check (v is not null)",
    "create policy p on {t} as restrictive using (n = 1)"]
TEMPORARY = [
    "create temp table {t} (v text, k text)", "create temp table junk (a int)",
    "create temp view {t} as select 1 as k",
    "begin; create temp table {t} (v text) on commit drop; commit",
    "begin; create temp table {t} (v text); rollback", "drop table if exists pg_temp.{t}",
    "create temp table junk as select 1 as a", "select 1 as k into temp {t}",
    "create function pg_temp.f() returns int language sql as 'select 1'; select pg_temp.f()",
    "explain create temp table junk as select 1", "discard temp", "create temp sequence junk"]


class Settings:
    """Mixed into the generator, which brings the dice and say()."""

    def special(self, session):
        makers = {"settings": self._set, "search_path": self._search_path, "role": self._role,
                  "temporary": self._temporary, "functions": self._function, "alter_role": self._alter,
                  "trigger": self._trigger, "rule": self._rule, "policy": self._policy,
                  "ddl": self._ddl, "past": self._past, "discard": self._discard,
                  "sql_prepare": self._sql_prepare, "user_schema": self._user_schema}
        weights = {"settings": 6, "search_path": 2, "functions": 2, "ddl": 1, "past": 0.3}
        names = [name for name in makers if name in self.kinds]
        if not names:
            return self._query(session)
        chosen = self.dice.choices(names, [weights.get(name, 1) for name in names])[0]
        return makers[chosen](session)

    def _fill(self, texts):
        return self.dice.choice(texts).replace("{t}", self.dice.choice(self.tables))

    def _setting(self):
        name, choices = self.dice.choice(PLAIN[:6] * 2 + PLAIN)
        if name == "standard_conforming_strings" and "odd_strings" not in self.kinds:
            choices = ["on"]
        if name in OUTPUT and "output" not in self.kinds:
            name, choices = PLAIN[0]
        if name == "statement_timeout" and "timeouts" not in self.kinds:
            choices = ["0"]
        return name, self.dice.choice(choices)

    def startup_params(self):
        params, dice = {}, self.dice
        while dice.random() < 0.2:
            name, value = self._setting()
            if "." not in name and name != "client_encoding":
                params[name] = value
        if dice.random() < 0.1:
            name, value = self._setting()
            params["options"] = f"-c {name}=" + value.replace(" ", "\\ ")
        if "search_path" in self.kinds and dice.random() < 0.1:
            params["search_path"] = dice.choice(PATHS[:5])
        return params

    def _change(self, name, value, session):
        dice, quoted = self.dice, value.replace("'", "''")
        path = name == "search_path"
        form = dice.randrange(8)
        if form < 4:
            text = f"set {name} = {value if path and value else chr(39) + quoted + chr(39)}"
            text = text.replace("set ", dice.choice(("set ", "set ", "set session ", "SET ")), 1)
        elif form == 4:
            text = f"select set_config('{name}', '{quoted}', {dice.choice(('true', 'false'))})"
        elif form == 5:
            text = dice.choice((f"reset {name}", f"set {name} = default", f"set {name} to default"))
        elif form == 6:
            return self._local(name, quoted, session)
        else:
            text = f"show {name}" if "." not in name else "show timezone"
        if dice.random() < 0.2:
            return self.say(session, [["Parse", "", text, []], ["Bind", "", "", []],
                                      ["Execute", "", 0], ["Sync"]])
        if dice.random() < 0.2:  # with a statement behind it, in the same Query
            return self.say(session, [["Query", [text, *self._several(1)]]])
        return self.statements(session, text)

    def _local(self, name, quoted, session):
        """For a transaction, or a savepoint of it."""
        dice = self.dice
        value = f"'{quoted}'" if name != "search_path" else quoted or "''"
        parts = ["begin"] + ["savepoint s"] * dice.randint(0, 1)
        parts += [f"set {dice.choice(('local ', ''))}{name} = {value}", *self._several(1)]
        parts += ["rollback to s"] * (len(parts) > 3) + self._several(1)
        parts += [dice.choice(("commit", "rollback")), *self._several(1)]
        if dice.random() < 0.4:
            return self.say(session, [["Query", parts]])
        return self.statements(session, *parts)

    def _set(self, session):
        self._change(*self._setting(), session)

    def _search_path(self, session):
        if self.tables[0] not in TWINS and self.dice.random() < 0.5:
            return self._set(session)
        return self._change("search_path", self.dice.choice(PATHS), session)

    def _function(self, session):
        """A setting changed where no text shows it."""
        dice = self.dice
        name, value = self._setting()
        if "search_path" in self.kinds and dice.random() < 0.4:
            name, value = "search_path", dice.choice(PATHS)
        if "role" in self.kinds and dice.random() < 0.2:
            name, value = "role", dice.choice(("@low@", "none"))
        function = dice.choice(("f_set", "f_set", "f_local"))
        self.loud = True
        return self.statements(session, f"select {function}('{name}', '{value}')")

    def _role(self, session):
        return self.statements(session, self.dice.choice((
            "set role @low@", "set role none", "reset role", "set session authorization @low@",
            "reset session authorization", "set local role @low@",
            "begin; set local role @low@; commit")))

    def _temporary(self, session):
        return self.say(session, [["Query", self._fill(TEMPORARY).split("; ")]])

    def _user_schema(self, session):
        """A schema that "$user" means from now on."""
        name = self.dice.choice(self.tables)
        self.statements(session, "create schema if not exists @role@",
                        f"create table @role@.{name} (v text, k text, n int)")
        self.cleanup.append("drop schema if exists @role@ cascade")

    def _alter(self, session):
        """What the next sessions begin with."""
        dice = self.dice
        name, value = self._setting()
        if "search_path" in self.kinds and dice.random() < 0.3:
            name, value = "search_path", "other"
        if name == "client_encoding" or "." in name:
            name, value = "timezone", "Asia/Tokyo"
        what = dice.choice(("role @role@", "database @db@", "role @role@ in database @db@"))
        text = f"alter {what} set {name} = '{value}'"
        if dice.random() < 0.5:
            self.statements(session, text)
        else:
            self.steps.append({"past": text, "wait": False})
        self.cleanup.append(f"alter {what} reset all")
        self._login(len(self.sessions))

    def _trigger(self, session):
        self.statements(session, self._fill(TRIGGERS))
        self._undo("drop trigger if exists noise on public.{t}")

    def _rule(self, session):
        self.statements(session, self._fill(RULES))
        self._undo("drop rule if exists quiet on public.{t}")

    def _undo(self, *texts):
        """What is quicker than new tables."""
        self.cleanup += [text.replace("{t}", table) for table in self.tables for text in texts]

    def _ddl(self, session):
        self.renew = True
        self.statements(session, self._fill(DDL))
        self.cleanup.append("drop table if exists moved, "
                            + ", ".join(f"attic.{name}" for name in self.tables))

    def _policy(self, session):
        self._undo("drop policy if exists p on public.{t}",
                   "alter table if exists public.{t} disable row level security")
        table = self.dice.choice(self.tables)
        text = self.dice.choice(POLICIES).replace("{t}", table)
        self.statements(session, f"alter table {table} enable row level security", text)
        if "role" in self.kinds:
            self.statements(session, "set role @low@")

    def _past(self, session):
        self.renew = True
        texts = DDL[:-3] + TRIGGERS
        table = self.dice.choice(self.tables)
        self.steps.append({"past": self.dice.choice(texts).replace("{t}", f"public.{table}"),
                           "wait": True})

    def _discard(self, session):
        self.prepared.pop(session, None)
        return self.statements(session, self.dice.choice((
            "discard all", "reset all", "deallocate all", "discard plans", "discard sequences")))

    def _sql_prepare(self, session):
        return self.statements(session, self.dice.choice((
            "prepare q as select 1", "execute q", "deallocate q", "deallocate a",
            f"prepare q (text) as {self.sql.insert()}", "declare c cursor with hold for select 1", "fetch c", "close c", "listen l", "unlisten *",
            "select lastval()", "select pg_backend_pid() > 0", "lock table plain",
            "copy plain to '/nowhere/x'", "set constraints all deferred")))
