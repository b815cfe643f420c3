"""copies: COPY whose data and end are sent before the server has said that it wants them."""

FROM = ("copy copied from stdin",) * 4 + (
    "copy copied (b, a) from stdin", "COPY public.copied FROM STDIN", "copy nowhere from stdin",
    "copy copied from stdin with (format csv)", "copy {t} from stdin")
TO = ("copy plain to stdout", "copy (select 1, 'x') to stdout", "copy nowhere to stdout",
      "copy (select count(*), max(n) from {t}) to stdout")
DATA = ("1\tx\n", "2\ty\n", "1\tx\n2\ty\n", "3\t\\N\n", "9\tchecked\n", "x\ty\n", "4\n", "5,z\n", "\\.\n")


class Copies:
    """Mixed into the generator."""

    def copy(self, session):
        """Its table is made anew by nobody, so it is emptied."""
        self.cleanup.append("delete from copied")
        return self.dice.choice((self._copied_by_query, self._copied_in_group))(session)

    def _data(self):
        dice = self.dice
        data = [["CopyData", dice.choice(DATA[:4] if dice.random() < 0.7 else DATA)]
                for _ in range(dice.randrange(4))]
        return data + [["CopyDone"] if dice.random() < 0.8 else ["CopyFail", "no more"]]

    def _copy(self):
        """(a text, what is sent behind it)."""
        if self.dice.random() < 0.2:
            return self._fill(TO), []
        return self._fill(FROM), self._data()

    def _copied_by_query(self, session):
        """Among other statements of its text, and with others behind it."""
        dice = self.dice
        text, data = self._copy()
        parts = self._several(dice.choice((0, 0, 1))) + [text] + self._several(dice.choice((0, 0, 1)))
        messages = [["Query", parts], *data]
        for _ in range(dice.randrange(3)):
            self._entries(session, messages)
        if messages[-1][0] != "Query":
            messages.append(["Sync"])
        self.say(session, messages)
        self.note_begin(session, messages)

    def _copied_in_group(self, session):
        """Before, between or behind other executions, with one Sync for all."""
        dice, messages = self.dice, []
        for _ in range(dice.choice((0, 0, 1))):
            self._entries(session, messages)
        self.prepared.setdefault(session, {}).pop("", None)
        text, data = self._copy()
        messages += [["Parse", "", text, []], ["Bind", "", "", [], [], []], ["Execute", "", 0]]
        messages += [["Flush"]] * dice.choice((0, 0, 1)) + data
        for _ in range(dice.choice((0, 1, 1, 2))):
            self._entries(session, messages)
        self.say(session, messages + [["Sync"]])
        self.note_begin(session, messages)
