"""A system that gives no memory, no room in files or no descriptors: an error each time, and the session goes on."""

import os
import pwd
import shutil
import subprocess

import server

MEGABYTE = 1048576
# Without the server's own rows in memory.
KEYS = "FROM (SELECT generate_series(1::bigint, {}) AS key) keys"
MADE = ["petal_agg(key, NULL, 0.01, 'fuse')", "petal_agg(key)", "petal_agg(key, NULL, 0.001, 'ribbon')",
        "petal_build_map(key, key)", "petal_agg('key ' || key, 1000, 0.01, 'scalable')", "petal_agg(key, 20000000)"]


def limit(session, what, value):
    """Sets what a backend may have, as its own user: root may lack the right to."""
    user = pwd.getpwuid(server.DATA.stat().st_uid)
    words = [] if os.getuid() == user.pw_uid else ["runuser", "-u", user.pw_name, "--"]
    if not shutil.which("prlimit"):
        raise server.NotRun("there is no prlimit")
    done = subprocess.run([*words, "prlimit", f"--pid={session.pid}", f"--{what}={value}:"], capture_output=True)
    if done.returncode:
        raise server.NotRun(f"limits cannot be set: {done.stderr.decode().strip()}")


def size(session):
    """The address space of a backend, in bytes."""
    with open(f"/proc/{session.pid}/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def check_memory_that_is_not_to_be_had(database):
    session = database.session("work_mem=256MB")
    refused = answered = 0
    for made in MADE:
        query = f"SELECT length({made}::bytea) " + KEYS.format(100000)
        wanted = session.ask(query)
        for more in [*range(0, 16), *range(16, 72, 8)]:
            limit(session, "as", size(session) + more * MEGABYTE)
            try:
                assert session.ask(query) == wanted
                answered += 1
            except server.Failed as why:
                assert str(why).startswith("ERROR:  53200: "), why
                refused += 1
            limit(session, "as", "unlimited")
            assert session.ask("SELECT petal_agg(5) @> 5") == "t"
    assert refused > 15 and answered > 15, (refused, answered)


def check_files_that_have_no_room(database):
    session = database.session("work_mem=64kB")
    query = "SELECT length(petal_agg(key, NULL, 0.01, 'fuse')::bytea) " + KEYS.format(500000)
    wanted = session.ask(query)
    for room in (0, 4096, MEGABYTE):
        limit(session, "fsize", room)
        line = session.refusal(query)
        assert line.startswith("ERROR:  58030: petal_agg: ") or line.startswith("ERROR:  53100: petal_agg: "), line
        assert not session.temporary_files() and not server.left_files()
    limit(session, "fsize", "unlimited")
    assert session.ask(query) == wanted


def check_descriptors_that_have_run_out(database):
    """Each builder that spills has a file."""
    session = database.session("work_mem=64kB", "enable_sort=off")
    query = ("SELECT count(filter) FROM (SELECT petal_agg(key, NULL, 0.01, 'fuse') AS filter "
             f"{KEYS.format(2000000)} GROUP BY key % 10) made")
    limit(session, "nofile", 4 + len(os.listdir(f"/proc/{session.pid}/fd")))
    line = session.refusal(query)
    assert line.startswith("ERROR:  58030: petal_agg: ") and "pgsql_tmp" in line, line
    assert not session.temporary_files() and not server.left_files()
    limit(session, "nofile", 1024)
    assert session.ask(query) == "10"
