"""The server that run.sh has started, its databases, and sessions of psql."""

import os
import pathlib
import re
import subprocess
import time
import uuid

HOME = pathlib.Path(os.environ["PETAL_HOME"])
PREFIX = pathlib.Path(os.environ["PETAL_PREFIX"])
# The folder of the sources, and the folder of the extension's files in the copied server.
EXTENSION = pathlib.Path(os.environ["PETAL_EXTENSION"])
SHARED = pathlib.Path(os.environ["PETAL_SHARED"]) / "extension"
PROGRAMS = pathlib.Path(os.environ["PETAL_PROGRAMS"])
DATA = HOME / "data"
LOG = HOME / "socket" / "log"
# What the server may read, and write.
FILES = HOME / "files"
IS_SOAK = False


class NotRun(Exception):
    """What a check needs is not here."""


class Failed(Exception):
    """The server, or psql, gave an error."""


class Session:
    """A session of psql that goes on: one backend. Rows are lists of texts."""

    def __init__(self, database, *settings):
        environment = {**os.environ, "PGDATABASE": database, "PGOPTIONS": " ".join(f"-c {each}" for each in settings)}
        words = [PROGRAMS / "psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=0", "-v", "VERBOSITY=verbose"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=environment, text=True)
        self.pid = int(self.ask("SELECT pg_backend_pid()"))

    def send(self, query):
        """Begins a query. `answer` waits for its end."""
        self.process.stdin.write(f"{query};\n\\echo =ended=\n")
        self.process.stdin.flush()

    def lines(self):
        """What comes until the query ends, line by line."""
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line == "=ended=":
                return
            yield line
        raise Failed("psql has ended")

    def answer(self):
        rows = []
        errors = []
        for line in self.lines():
            if errors or re.match(r"(ERROR|FATAL|PANIC): ", line):
                errors.append(line)
            elif not line.startswith(("NOTICE: ", "LOCATION: ", "WARNING: ")):
                rows.append(line.split("\t"))
        if errors:
            raise Failed("\n".join(errors))
        return rows

    def rows(self, query):
        self.send(query)
        return self.answer()

    def ask(self, query):
        """The one value that a query gives, or None if it gives no row."""
        rows = self.rows(query)
        return rows[-1][-1] if rows else None

    def refusal(self, query):
        """The first line of the error that a query has."""
        try:
            rows = self.rows(query)
        except Failed as why:
            return str(why).splitlines()[0]
        raise AssertionError(f"{query} gave {rows} and no error")

    def memory(self):
        """The resident memory of the backend now, in bytes, and at most so far."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return [int(re.search(rf"{name}:\s*(\d+) kB", status)[1]) * 1024 for name in ("VmRSS", "VmHWM")]

    def processor_time(self):
        """The seconds of a processor that the backend has had."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def temporary_files(self):
        """The files below pgsql_tmp that the backend has open."""
        found = []
        for link in pathlib.Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                target = os.readlink(link)
            except OSError:
                continue
            if "pgsql_tmp" in target:
                found.append(target)
        return found

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Database:
    """A database with the extension in it, dropped at the end of a `with`."""

    def __init__(self, options="", has_petal=True):
        self.name = f"petal_{uuid.uuid4().hex[:8]}"
        self.sessions = []
        run(f"CREATE DATABASE {self.name} {options}")
        if has_petal:
            run("CREATE EXTENSION petal", self.name)

    def session(self, *settings):
        session = Session(self.name, *settings)
        self.sessions.append(session)
        return session

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for session in self.sessions:
            session.close()
        run(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")


def run(query, database="postgres", user="postgres"):
    """Runs a query in a session of its own, and gives back what psql printed."""
    words = [PROGRAMS / "psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", database, "-U", user, "-f", "-"]
    done = subprocess.run(words, input=query, capture_output=True, text=True)
    if done.returncode:
        raise Failed(done.stderr.strip())
    return done.stdout.strip()


def call(*words, **options):
    """Runs a program, and gives back what it printed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, **options)
    if done.returncode:
        raise Failed(f"{words[0]}: {done.stdout[-2000:]!r} {done.stderr[-2000:]!r}")
    return done.stdout


def wait_until(happens, what):
    """Waits for something that comes soon, and gives up after minutes."""
    for _ in range(2400):
        if happens():
            return
        time.sleep(0.05)
    raise AssertionError(f"after two minutes: {what}")


def has_started():
    try:
        run("SELECT 1")
    except Failed:
        return False
    return True


def left_files():
    """What lies in the folder of temporary files."""
    folder = DATA / "base" / "pgsql_tmp"
    return sorted(folder.iterdir()) if folder.exists() else []


def crashes():
    return LOG.read_text(errors="replace").count("was terminated by signal")


crashes_seen = crashes()


def still_runs():
    """Fails if a backend has crashed since the last check."""
    global crashes_seen
    before, crashes_seen = crashes_seen, crashes()
    if crashes_seen > before:
        wait_until(has_started, "the server is still down")
        text = LOG.read_text(errors="replace").splitlines()
        lines = [line for line in text if "was terminated by signal" in line or "Failed process" in line]
        raise AssertionError("a backend crashed: " + " ".join(lines[-2:])[:1000])


def expect_crash():
    """The check has killed a backend itself."""
    global crashes_seen
    crashes_seen = crashes()
