"""metrics: what keyspread's admin endpoint says, fetched and taken apart."""
import collections
import http.client
import re

SAMPLE = re.compile(r'^([a-zA-Z_:]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)')

Answer = collections.namedtuple("Answer", "status headers body")


def fetch(keyspread, path, method="GET", body=None):
    connection = http.client.HTTPConnection("127.0.0.1", keyspread.admin_port, timeout=60)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read().decode())
    finally:
        connection.close()


class Scrape:
    """The samples of /metrics; numbers by name and labels, 0 for what is not there."""

    def __init__(self, keyspread):
        self.text = fetch(keyspread, "/metrics").body
        self.samples = collections.Counter()
        for line in self.text.splitlines():
            if line.startswith("#"):
                continue
            match = SAMPLE.match(line)
            assert match, line
            labels = frozenset(LABEL.findall(match[2] or ""))
            assert (match[1], labels) not in self.samples, line
            self.samples[match[1], labels] = float(match[3])

    def get(self, name, **labels):
        """The sum of the samples with (at least) these labels."""
        wanted = set(labels.items())
        return sum(value for (sample, of), value in self.samples.items()
                   if sample == "keyspread_" + name and wanted <= of)

    def by(self, name, label, **labels):
        """The numbers by one label, zeros left out."""
        wanted, found = set(labels.items()), {}
        for (sample, of), value in self.samples.items():
            if sample == "keyspread_" + name and wanted <= of and value:
                found[dict(of)[label]] = found.get(dict(of)[label], 0) + value
        return found

    def since(self, before):
        """The same with what was counted since, for counters."""
        fresh = object.__new__(Scrape)
        fresh.text = self.text
        fresh.samples = self.samples.copy()
        fresh.samples.subtract(before.samples)
        return fresh
