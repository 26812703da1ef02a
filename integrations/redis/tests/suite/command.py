"""The command `petal`, on real servers."""

import json
import os
import subprocess

from server import Unavailable


def path():
    """Of the command, which PETAL_COMMAND names."""
    command = os.environ.get("PETAL_COMMAND", "")
    if not command:
        raise Unavailable("PETAL_COMMAND names no command: `make test-redis` sets it")
    return command


def start(*words, stdin=subprocess.PIPE):
    """Starts it, with pipes to it and from it."""
    words = [path(), *map(str, words)]
    return subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process, keys=b""):
    """Gives it the last keys, and returns its status, and what it said."""
    out, err = process.communicate(keys, timeout=600)
    return process.returncode, out.decode(), err.decode()


def run(*words, keys=()):
    """Runs it to its end: its status, and what it said. Keys come through its standard input."""
    return end(start(*words), lines(keys))


def does(*words, keys=()):
    """What it says, where all goes well and nothing else is said."""
    status, out, err = run(*words, keys=keys)
    assert (status, err) == (0, ""), (words, status, out, err)
    return out


def refuses(part, *words, keys=()):
    """It fails with a line that has this in it."""
    status, out, err = run(*words, keys=keys)
    assert status == 2 and err.startswith("petal: ") and err.count("\n") == 1 and part in err, (words, status, out, err)
    return err


def report(*words, keys=()):
    """What it says as JSON, whatever its status."""
    status, out, err = run(*words, "--json", keys=keys)
    assert status in (0, 1) and err == "", (words, status, err)
    return json.loads(out)


def lines(keys):
    return b"".join(b"%s\n" % (key if isinstance(key, bytes) else str(key).encode()) for key in keys)
