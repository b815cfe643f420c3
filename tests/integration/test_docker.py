"""The files of docker/: that they agree with the rest, and that the image builds and runs.

The image is built only where buildah or a Docker is there and has debian:bookworm-slim stored
already, for a test downloads nothing but Debian's packages; else it says why it was skipped, in CI
too. A stand-in for that base is `debootstrap --variant=minbase bookworm DIR`, imported by
`tar -C DIR -c . | docker import - debian:bookworm-slim`.
"""
import contextlib
import glob
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import unittest

import harness

ROOT = os.path.dirname(os.path.dirname(harness.HERE))
DOCKER = os.path.join(ROOT, "docker")
BASE = "debian:bookworm-slim"


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def load_yaml(path):
    try:
        import yaml
    except ImportError:
        harness.missing("python3-yaml")
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def run(*command, **more):
    return subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=harness.PATIENCE, **more)


class Files(unittest.TestCase):
    def files(self, *endings):
        found = [path for path in glob.glob(f"{DOCKER}/**/*", recursive=True)
                 if path.endswith(endings)]
        self.assertTrue(found)
        return found

    def test_yaml_and_json(self):
        for path in self.files(".yml", ".yaml"):
            with self.subTest(path=path):
                self.assertIsInstance(load_yaml(path), dict)
        for path in self.files(".json"):
            with self.subTest(path=path), open(path, encoding="utf-8") as file:
                self.assertIsInstance(json.load(file), dict)

    def services(self):
        return [service for path in self.files("compose.yaml", "compose.ydb.yaml")
                for service in load_yaml(path)["services"].values()]

    def test_ports_are_published_on_loopback_only(self):
        ports = [port for service in self.services() for port in service.get("ports", [])]
        self.assertGreater(len(ports), 3)
        for port in ports:
            self.assertRegex(port, r"^127\.0\.0\.1:\d+:\d+$")

    def test_images_have_a_version(self):
        for service in self.services():
            if "build" not in service:
                self.assertRegex(service["image"], r"^[\w./-]+:v?\d+\.\d+[\w.-]*$")

    def test_what_is_mounted_is_there(self):
        sources = [volume.split(":")[0] for service in self.services()
                   for volume in service.get("volumes", [])]
        sources = [source for source in sources if source.startswith(".")]
        self.assertGreater(len(sources), 5)
        for source in sources:
            self.assertTrue(os.path.exists(os.path.join(DOCKER, source)), source)

    def test_keyspread_takes_its_file(self):
        result = run(harness.program(), "check", f"{DOCKER}/keyspread.yaml")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_table_is_what_ddl_prints(self):
        result = run(harness.program(), "ddl", "--postgres", f"{DOCKER}/keyspread.yaml")
        self.assertEqual(result.stdout, read("docker", "postgres", "events.sql"))


class Packages(unittest.TestCase):
    """The image has the libraries that the build list of scripts/bootstrap has headers of."""

    def test_runtime_packages(self):
        wanted = set()
        listed = re.search(r"^build=\((.*?)\)", read("scripts", "bootstrap"), re.S | re.M)[1]
        for package in re.findall(r"\blib\S+-dev\b", listed):
            if package == "libc6-dev":
                continue
            depends = run("dpkg-query", "-W", "-f=${Depends}", package)
            self.assertEqual(depends.returncode, 0, depends.stdout)
            library = re.findall(r"(\S+) \(= [^)]*\)", depends.stdout)
            self.assertEqual(len(library), 1, f"{package}: {depends.stdout}")
            wanted.add(library[0])
        final = read("docker", "Dockerfile").rsplit("\nFROM ", 1)[1]
        installed = re.search(r"apt-get install [^&]*", final)[0].replace("\\\n", " ").split()
        installed = {word for word in installed[2:] if not word.startswith("-")}
        self.assertEqual(installed - {"ca-certificates"}, wanted)


class Healthcheck(unittest.TestCase):
    def check(self, port):
        return run(f"{DOCKER}/healthcheck", f"127.0.0.1:{port}").returncode

    def answering(self, status):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status if self.path == "/healthz" else 404)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_port

    def test_keyspread_is_healthy(self):
        port = harness.free_port()
        keyspread = harness.Keyspread({"backend": {"dsn": "host=127.0.0.1 port=1"},
                                       "admin": {"listen": f"127.0.0.1:{port}"}})
        self.addCleanup(keyspread.stop)
        self.assertEqual(self.check(port), 0)

    def test_answers(self):
        self.assertEqual(self.check(self.answering(200)), 0)
        self.assertNotEqual(self.check(self.answering(503)), 0)

    def test_nobody_answers(self):
        self.assertNotEqual(self.check(harness.free_port()), 0)


class Buildah:
    def __init__(self):
        self.container = None

    @staticmethod
    def has_base():
        return run("buildah", "inspect", "--type", "image", BASE).returncode == 0

    def build(self, tag):
        self.tag = tag
        return ["buildah", "bud", "--isolation", "chroot", "--network", "host", "--pull-never",
                "--format", "docker", "-f", f"{DOCKER}/Dockerfile", "-t", tag, ROOT]

    def run(self, *command):
        if not self.container:
            self.container = run("buildah", "from", "--pull-never", self.tag).stdout.strip()
        return run("buildah", "run", "--isolation", "chroot", "-v", f"{DOCKER}:/etc/keyspread:ro",
                   self.container, "--", *command)

    def remove(self):
        if self.container:
            run("buildah", "rm", self.container)
        run("buildah", "rmi", self.tag)


class Docker:
    @staticmethod
    def has_base():
        return run("docker", "image", "inspect", BASE).returncode == 0

    def build(self, tag):
        self.tag = tag
        return ["docker", "build", "-f", f"{DOCKER}/Dockerfile", "-t", tag, ROOT]

    def run(self, program, *arguments):
        return run("docker", "run", "--rm", "--network", "none", "--read-only", "--entrypoint",
                   program, "-v", f"{DOCKER}:/etc/keyspread:ro", self.tag, *arguments)

    def remove(self):
        run("docker", "image", "rm", self.tag)


class Image(unittest.TestCase):
    def builder(self):
        """What can build, and has the base; or the reason why nothing can."""
        reasons = []
        for tool, kind in (("buildah", Buildah), ("docker", Docker)):
            if not shutil.which(tool):
                reasons.append(f"there is no {tool}")
            elif not kind.has_base():
                reasons.append(f"{tool} has no {BASE} stored, or does not run here")
            else:
                return kind()
        reason = "the image was NOT built: " + "; ".join(reasons)
        print(reason, file=sys.stderr)
        self.skipTest(reason)

    def test_the_image(self):
        builder = self.builder()
        command = builder.build(f"localhost/keyspread-test:{os.getpid()}")
        with contextlib.ExitStack() as stack:
            stack.callback(builder.remove)
            built = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, timeout=840)
            self.assertEqual(built.returncode, 0, built.stdout[-6000:])
            version = re.search(r"project\(keyspread VERSION (\S+)", read("CMakeLists.txt"))[1]
            self.assertEqual(builder.run("keyspread", "version").stdout, f"keyspread {version}\n")
            checked = builder.run("keyspread", "check", "/etc/keyspread/keyspread.yaml")
            self.assertEqual(checked.returncode, 0, checked.stdout)
            self.assertEqual(builder.run("id", "-u").stdout, "10001\n")
            self.assertNotEqual(builder.run("keyspread-healthcheck").returncode, 0)


if __name__ == "__main__":
    unittest.main()
