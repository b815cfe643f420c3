"""What the operator is given agrees with what keyspread does: docs/operations.md with the events it
logs, the alerts and the dashboard with its metrics, and the unit with systemd."""
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
import wire
from test_docker import ROOT, load_yaml, read, run

ALERTS = os.path.join(ROOT, "docker", "alerts.yml")
DASHBOARD = os.path.join(ROOT, "docker", "grafana", "dashboards", "keyspread.json")
SCRAPED = {"up"}  # Prometheus' own
SCRAPED_LABELS = {"instance", "job", "le"}


def documented():
    """The labels of each metric that docs/metrics.md knows, by every name it is queried by."""
    found = {}
    for line in read("docs", "metrics.md").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 5 or cells[2] not in ("counter", "gauge", "histogram"):
            continue
        name, labels = cells[1].strip("`"), set(re.findall(r"`(\w+)`", cells[3]))
        histogram = ("_bucket", "_sum", "_count") if cells[2] == "histogram" else ("",)
        found.update({name + suffix: labels for suffix in histogram})
    return found


def dashboard_queries():
    with open(DASHBOARD, encoding="utf-8") as file:
        dashboard = json.load(file)
    queries = [target["expr"] for panel in dashboard["panels"]
               for target in panel.get("targets", [])]
    return queries + [one["expr"] for one in dashboard["annotations"]["list"]]


def alerts():
    return [rule for group in load_yaml(ALERTS)["groups"] for rule in group["rules"]]


class Metrics(unittest.TestCase):
    def check_names(self, queries):
        known = documented()
        self.assertGreater(len(known), 30)
        seen = set()
        for query in queries:
            for name, selector in re.findall(r"\b((?:keyspread|process)_\w+|up)\b(\{[^}]*\})?",
                                             query):
                with self.subTest(query=query, metric=name):
                    seen.add(name)
                    self.assertIn(name, known.keys() | SCRAPED)
                    labels = set(re.findall(r"(\w+) ?(?:=~|!~|!=|=)", selector))
                    self.assertLessEqual(labels, known.get(name, set()) | SCRAPED_LABELS)
        return seen

    def test_the_alerts_know_only_what_is_documented(self):
        self.assertGreater(len(self.check_names(rule["expr"] for rule in alerts())), 10)

    def test_the_dashboard_knows_only_what_is_documented(self):
        self.assertGreater(len(self.check_names(dashboard_queries())), 20)

    def test_the_series_of_the_test_are_documented(self):
        text = read("tests", "integration", "alerts.yml")
        self.assertGreater(len(self.check_names(re.findall(r"series: '([^']*)'", text))), 10)

    def test_all_are_in_the_operators_page(self):
        page = read("docs", "operations.md")
        for name in documented():
            name = re.sub(r"_(bucket|sum|count)$", "", name)
            with self.subTest(metric=name):
                self.assertIn(f"`{name}`", page)

    def test_all_alerts_are_in_the_operators_page(self):
        page = set(re.findall(r"^\| `(Keyspread\w+)` \|", read("docs", "operations.md"), re.M))
        self.assertEqual(page, {rule["alert"] for rule in alerts()})


class Promtool(unittest.TestCase):
    def promtool(self, *arguments, folder=ROOT):
        if not shutil.which("promtool"):
            harness.missing("promtool (of prometheus)")
        result = run("promtool", *arguments, cwd=folder)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_configuration(self):
        self.promtool("check", "config", "prometheus.yml", folder=os.path.join(ROOT, "docker"))

    def test_the_alerts(self):
        self.promtool("check", "rules", ALERTS)

    def test_alerts_tell_of_the_ill_and_not_of_the_well(self):
        self.promtool("test", "rules", os.path.join(harness.HERE, "alerts.yml"))

    def test_the_queries_of_the_dashboard(self):
        """As recording rules, which promtool can read."""
        values = {"$__rate_interval": "5m", "$instance": ".*", "$table": ".*"}
        rules = []
        for number, query in enumerate(dashboard_queries()):
            for variable, value in values.items():
                query = query.replace(variable, value)
            rules.append({"record": f"query:{number}", "expr": query})
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
            file.flush()
            self.promtool("check", "rules", file.name)


def sources():
    """The files that log."""
    return [path for room in ("proxy", "ydb") for path in glob.glob(os.path.join(ROOT, room, "**", "*.c"), recursive=True)]


class Log(unittest.TestCase):
    maxDiff = None

    def test_all_events_are_in_the_operators_page(self):
        call = re.compile(r'px_log\(CFG_LOG_(\w+),([^"]*"\w+"(?: : "\w+")?),')
        logged = {}
        for path in sources():
            for level, names in call.findall(read(path)):
                for name in re.findall(r'"(\w+)"', names):
                    logged[name] = level.lower()
        self.assertGreater(len(logged), 20)
        table = {}
        for names, levels in re.findall(r"^\| (`[^|]*) \| ((?:error|warn|info|debug)[\w, ]*) \|",
                                        read("docs", "operations.md"), re.M):
            names, levels = re.findall(r"`(\w+)`", names), levels.split(", ")
            table.update(zip(names, levels * len(names) if len(levels) == 1 else levels))
        self.assertEqual(table, logged)


    def test_formats_are_of_fields_and_of_what_px_log_knows(self):
        for path in sources():
            for call in re.findall(r"\bpx_log\(CFG_LOG_\w+,(.*?)\);", read(path), re.S):
                text = re.sub(r'"\s*"', "", call.replace("PRIu64", '"lu"'))
                form = re.findall(r'"([^"]*=[^"]*)"', text)
                self.assertEqual(len(form), 1, call)
                self.assertRegex(form[0], r"^\w+=[^ ]+( \w+=[^ ]+)*$")
                for letter in re.findall(r"%([^a-z]*[a-z]*?[sdufxpc])", form[0]):
                    self.assertIn(letter, "s u d zu ld lu llu .1f".split(), call)


class LogOfClients(harness.StackCase):
    options = {"log": {"level": "debug"}}

    def test_what_clients_say_stays_within_its_value(self):
        name = 'a\nlevel=error event=ready pid="1" \\\x1b[2J\u202e'
        with self.postgres.admin("postgres") as admin:
            admin.rows("create database \"" + name.replace('"', '""') + '"')
        session = wire.Wire(self.keyspread.address())
        self.addCleanup(session.close)
        session.login(harness.USER, name)
        session.ask(wire.parse("", "insert into events values (1, now(), 'x')"), wire.sync())
        line = self.keyspread.lines.wait_for("event=catalog .*pid=")
        self.assertIn('database="a\\nlevel=error event=ready pid=\\"1\\" '
                      '\\\\\\x1B[2J\\xE2\\x80\\xAE" ', line)
        self.assertEqual(len([line for line in self.keyspread.lines.lines
                              if not line.startswith("time=20")]), 0)


class Unit(unittest.TestCase):
    """The unit as CMake made it, with the program where it was built."""

    def setUp(self):
        if not shutil.which("systemd-analyze"):
            harness.missing("systemd-analyze (of systemd)")
        folder = tempfile.TemporaryDirectory(prefix="keyspread-unit-")
        self.addCleanup(folder.cleanup)
        made = os.path.join(os.path.dirname(harness.program()), "keyspread.service")
        text, count = re.subn(r"=\S+/bin/keyspread ", f"={harness.program()} ", read(made))
        self.assertEqual(count, 2)
        self.path = os.path.join(folder.name, "keyspread.service")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_systemd_understands_it(self):
        result = run("systemd-analyze", "verify", "--man=no", self.path)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_it_may_do_little(self):
        """The exposure that docs/operations.md names, in tenths."""
        page = re.search(r"systemd-analyze security keyspread` rates .* (\d)\.(\d) of 10",
                         read("docs", "operations.md"))
        result = run("systemd-analyze", "security", "--offline=yes", "--no-pager",
                     f"--threshold={page[1]}{page[2]}", self.path)
        self.assertEqual(result.returncode, 0, result.stdout)


class Install(unittest.TestCase):
    """What `cmake --install` puts where; the package for Debian is made of it (tests/package)."""

    def install(self, prefix):
        if not shutil.which("cmake"):
            harness.missing("cmake")
        result = run("cmake", "--install", os.path.dirname(harness.program()), "--prefix", prefix,
                     env={**os.environ, "DESTDIR": self.folder})
        self.assertEqual(result.returncode, 0, result.stdout)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="keyspread-install-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, prefix, configuration):
        self.install(prefix)
        for path in ("bin/keyspread", "lib/sysusers.d/keyspread.conf", "share/man/man1/keyspread.1.gz",
                     "share/man/man5/keyspread.yaml.5.gz", "share/doc/keyspread/examples/keyspread.yaml",
                     "share/doc/keyspread/docs/operations.md"):
            self.assertTrue(os.path.isfile(f"{self.folder}{prefix}/{path}"), path)
        unit = read(f"{self.folder}{prefix}/lib/systemd/system/keyspread.service")
        self.assertIn(f"\nExecStart={prefix}/bin/keyspread run {configuration}\n", unit)
        self.assertIn(f"\nExecReload={prefix}/bin/keyspread check {configuration}\n", unit)
        self.assertEqual(read(self.folder + configuration), read("config", "keyspread.yaml"))

    def test_for_the_machine(self):
        self.check("/usr/local", "/usr/local/etc/keyspread/keyspread.yaml")

    def test_as_a_part_of_the_system(self):
        self.check("/usr", "/etc/keyspread/keyspread.yaml")

    def test_an_edited_configuration_stays(self):
        self.install("/usr")
        with open(self.folder + "/etc/keyspread/keyspread.yaml", "w", encoding="utf-8") as file:
            file.write("mine")
        self.install("/usr")
        self.assertEqual(read(self.folder + "/etc/keyspread/keyspread.yaml"), "mine")


class Manual(unittest.TestCase):
    """The pages that are made of docs/, as troff's text."""

    def text(self, page):
        packed = os.path.join(os.path.dirname(harness.program()), "packaging", page)
        if not os.path.isfile(packed):
            harness.missing("pandoc, when keyspread was built")
        with gzip.open(packed, "rt", encoding="utf-8") as file:
            return file.read().replace("\\-", "-").replace("\\f[B]", "").replace("\\f[R]", "")

    def test_whatis_finds_its_line(self):
        for page in ("keyspread.1", "keyspread.yaml.5"):
            name = page[:-2]
            self.assertRegex(self.text(page + ".gz"), rf"(?m)^\.SH NAME\n\.PP\n{name} - \w")

    def test_all_commands_are_there(self):
        text = self.text("keyspread.1.gz")
        for command in re.findall(r"^keyspread (\w+)", read("docs", "commands.md"), re.M):
            self.assertRegex(text, rf"(?m)^keyspread {command}\b")

    def test_all_keys_are_there(self):
        """Each key of a table is an item of a list; none is left as a table."""
        text = self.text("keyspread.yaml.5.gz")
        self.assertFalse("\n.TS\n" in text)
        keys = re.findall(r"^\| `([\w.]+)` \|", read("docs", "configuration.md"), re.M)
        self.assertGreater(len(keys), 80)
        for key in keys:
            self.assertTrue(f"\n.TP\n{key}\n" in text, key)


if __name__ == "__main__":
    unittest.main()
