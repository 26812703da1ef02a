"""The figures of docs/redis.md: python3 bench.py PREFIX FOLDER. On one machine, in one run."""

import pathlib
import subprocess
import sys
import threading
import time

import server
from server import Server

# Keys in what is asked, keys in a command of many, and how often a rate is measured: the best counts.
COUNT = 1_000_000
MANY = 1000
TIMES = 3


def throughput(running, *words):
    """Commands a second over 10 connections, 32 commands in the pipeline of each."""
    command = ["redis-benchmark", "-s", running.path, "-c", 10, "-P", 32, "-n", COUNT, "-r", COUNT, "--csv", *words]
    command = list(map(str, command))
    runs = (subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(TIMES))
    return max(float(output.splitlines()[-1].split('","')[1]) for output in runs)


def server_time(client, command):
    """Nanoseconds of the server for a key, of commands of many since its counters were set to 0."""
    for line in client("INFO", "commandstats").split(b"\r\n"):
        name, _, fields = line.partition(b":")
        if name.decode().lower() == f"cmdstat_{command}".lower():
            fields = dict(field.split(b"=") for field in fields.split(b","))
            return 1000 * int(fields[b"usec"]) / (MANY * int(fields[b"calls"]))
    raise LookupError(command)


def many(client, command, key, first, count):
    for start in range(first, first + count, MANY):
        client.send(command, key, *range(start, start + MANY))
    for _ in range(0, count, MANY):
        client.read()


def commands():
    print("| command | commands a second | bytes a key |\n|---|---|---|")
    for make, add, ask in (
        ((), ("SET", "key:__rand_int__", "x"), ("GET", "key:__rand_int__")),
        ((), ("SADD", "set", "__rand_int__"), ("SISMEMBER", "set", "__rand_int__")),
        (("BF.RESERVE", "bf", "0.01", COUNT), ("BF.ADD", "bf", "__rand_int__"), ("BF.EXISTS", "bf", "__rand_int__")),
        (("CF.RESERVE", "cf", 2 * COUNT), ("CF.ADDNX", "cf", "__rand_int__"), ("CF.EXISTS", "cf", "__rand_int__")),
        (("PETAL.RESERVE", "petal", "blocked", COUNT, "0.01"), ("PETAL.ADD", "petal", "__rand_int__"),
         ("PETAL.EXISTS", "petal", "__rand_int__")),
    ):
        running = Server()
        client = running.client()
        before = used(client)
        if make:
            client(*make)
        rates = [throughput(running, *words) for words in (add, ask)]
        # Filters are made for COUNT keys; of the others as many are there as were drawn.
        keys = COUNT if make else client("SCARD", "set") or client("DBSIZE")
        for words, rate in zip((add, ask), rates):
            memory = (used(client) - before) / keys
            print(f"| `{' '.join(words)}` | {rate:,.0f} | {memory:.1f} |", flush=True)
        running.kill()


def used(client):
    (line,) = [line for line in client("INFO", "memory").split(b"\r\n") if line.startswith(b"used_memory:")]
    return int(line.split(b":")[1])


def together():
    print("\n| command of 1,000 keys | ns a key, of the server | the same, of 10^8 keys' filter |\n|---|---|---|")
    rows = {}
    for capacity in (COUNT, 100 * COUNT):
        running = Server()
        client = running.client()
        client("BF.RESERVE", "bf", "0.01", capacity, "NONSCALING")
        client("PETAL.RESERVE", "petal", "blocked", capacity, "0.01")
        for add, ask, key in (("BF.MADD", "BF.MEXISTS", "bf"), ("PETAL.MADD", "PETAL.MEXISTS", "petal"),
                              ("SADD", "SMISMEMBER", "set")):
            # The memory of an empty filter is given out by and by: pages that are touched first are not what counts.
            for command, first in ((add, 0), (ask, COUNT // 2)):
                many(client, command, key, 10 * COUNT, COUNT // 4)
                client("CONFIG", "RESETSTAT")
                many(client, command, key, first, COUNT // 2)
                rows.setdefault(command, []).append(server_time(client, command))
        running.kill()
    for command, times in rows.items():
        print(f"| `{command}` | " + " | ".join(f"{one:.0f}" for one in times) + " |", flush=True)


def latency():
    print("\n| of a filter of 1 GiB | takes | another client waits at most |\n|---|---|---|")
    running = Server("--maxmemory", "0")
    client, other = running.client(), running.client()
    for key in ("a", "b"):
        client("PETAL.RESERVE", key, "blocked", 750_000_000, "0.01")
        many(client, "PETAL.MADD", key, 0, 100_000)
    for words in (("PING",), ("PETAL.MERGE", "a", "b"), ("PETAL.ESTIMATE", "a"), ("PETAL.CLEAR", "a"), ("UNLINK", "a"),
                  ("BGSAVE",), ("COPY", "b", "c")):
        worst, done = 0.0, threading.Event()

        def ask():
            nonlocal worst
            while not done.is_set():
                start = time.perf_counter()
                other("GET", "x")
                worst = max(worst, time.perf_counter() - start)

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.1)
        start = time.perf_counter()
        client(*words)
        while words == ("BGSAVE",) and b"rdb_bgsave_in_progress:1" in client("INFO", "persistence"):
            time.sleep(0.01)
        taken = time.perf_counter() - start
        done.set()
        asking.join()
        print(f"| `{' '.join(words)}` | {1000 * taken:.1f} ms | {1000 * worst:.1f} ms |", flush=True)


if __name__ == "__main__":
    server.PREFIX, server.WORK = map(pathlib.Path, sys.argv[1:3])
    (server.MODULE,) = map(str, server.PREFIX.glob("lib*/**/libpetal_redis.so"))
    try:
        for part in (commands, together, latency):
            if not sys.argv[4:] or part.__name__ in sys.argv[4:]:
                part()
    finally:
        server.stop_all()
