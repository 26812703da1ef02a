"""The figures of docs/redis.md: python3 bench.py PREFIX FOLDER. On one machine, in one run.

With PETAL_REDISBLOOM, the path of RedisBloom's module, the two modules compared instead, on the first server that
takes it: redis-server, or one of those whose paths PETAL_SERVERS has, a colon between them."""

import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import time

import client as clients
import server
from server import Server

# Keys of a filter that is asked, keys of a command with many, and how often a rate is measured: the best counts.
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


# How often both modules are measured, one after the other: more often where a measurement is shorter. Then, of how many
# different items.
ROUNDS = {1: 7, 64: 21}
DISTINCT = 10**9


def beside(module):
    own = server.MODULE
    for server.EXECUTABLE in [server.EXECUTABLE, *filter(None, os.environ.get("PETAL_SERVERS", "").split(":"))]:
        try:
            of_module(module).kill()
            break
        except RuntimeError:
            continue
    else:
        sys.exit(f"no server takes {module}")
    rounds = ", ".join(f"{rounds} rounds at pipeline {pipeline}" for pipeline, rounds in ROUNDS.items())
    print(f"Server {'.'.join(map(str, server.version()))}: medians of {rounds}: commands a second, and nanoseconds of "
          "the server's processor for each")
    print("| command | pipeline | Petal | RedisBloom | ratio | Petal, ns | RedisBloom, ns | ratio |\n"
          "|---|---|---|---|---|---|---|---|", flush=True)
    for make, *asked in ((("BF.RESERVE", "key", "0.01", COUNT), "BF.ADD", "BF.EXISTS"),
                         (("CF.RESERVE", "key", 2 * COUNT), "CF.ADD", "CF.EXISTS")):
        for pipeline in ROUNDS:
            rates = {}
            for turn in range(ROUNDS[pipeline]):
                # The modules take turns in coming first, so that this is no advantage.
                for path in (own, module) if turn % 2 else (module, own):
                    running = of_module(path)
                    running.client()(*make)
                    for command in asked:
                        rates.setdefault((command, path), []).append(distinct(running, pipeline, command))
                    running.kill()
            for command in asked:
                # A pair is a rate and a time.
                mine, its = ([statistics.median(of) for of in zip(*rates[command, path])] for path in (own, module))
                print(f"| `{command}` | {pipeline} | {mine[0]:,.0f} | {its[0]:,.0f} | {mine[0] / its[0]:.2f} | "
                      f"{mine[1]:,.0f} | {its[1]:,.0f} | {mine[1] / its[1]:.2f} |", flush=True)
    server.MODULE = own


def of_module(path):
    """A server with this module."""
    server.MODULE = path
    return Server()


def distinct(running, pipeline, command):
    """Commands a second, each of its own item but for chance; and the server's nanoseconds for each."""
    words = ["redis-benchmark", "-s", running.path, "-P", pipeline, "-n", COUNT, "-r", DISTINCT, "--csv"]
    words = list(map(str, [*words, command, "key", "__rand_int__"]))
    before = processor_time(running)
    output = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return float(output.splitlines()[-1].split('","')[1]), 1e9 * (processor_time(running) - before) / COUNT


def processor_time(running):
    """Seconds of all processors that a server has used: how busy the machine is hardly matters to them."""
    fields = pathlib.Path(f"/proc/{running.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
        # Reads no key and no item, and replies as many numbers: what no filter can be below.
        many(client, "BF.MEXISTS", "missing", 0, COUNT // 4)
        client("CONFIG", "RESETSTAT")
        many(client, "BF.MEXISTS", "missing", 0, COUNT // 2)
        rows.setdefault("BF.MEXISTS missing", []).append(server_time(client, "BF.MEXISTS"))
        for add, ask, key in (("BF.MADD", "BF.MEXISTS", "bf"), ("PETAL.MADD", "PETAL.MEXISTS", "petal"),
                              ("SADD", "SMISMEMBER", "set")):
            # The memory of an empty filter is given out gradually: pages that are touched first are not what counts.
            for command, first in ((add, 0), (ask, COUNT // 2)):
                many(client, command, key, 10 * COUNT, COUNT // 4)
                client("CONFIG", "RESETSTAT")
                many(client, command, key, first, COUNT // 2)
                rows.setdefault(command, []).append(server_time(client, command))
        running.kill()
    for command, times in rows.items():
        print(f"| `{command}` | " + " | ".join(f"{one:.0f}" for one in times) + " |", flush=True)


def latency():
    print("\n| of a filter of 1 GiB | takes | another client waits at most | longest, as the server measures |")
    print("|---|---|---|---|")
    for part in (of_commands, of_imports, of_many_items):
        running = Server("--maxmemory", "0", "--proto-max-bulk-len", 4 << 30, "--latency-monitor-threshold", 1)
        part(running)
        running.kill()


def ask(path, done, worst):
    """Asks one `GET` after the other, in a separate process, until all is done: how long the longest took."""
    client = clients.Client(path)
    client("GET", "x")
    longest = 0.0
    while not done.is_set():
        start = time.perf_counter()
        client("GET", "x")
        longest = max(longest, time.perf_counter() - start)
    worst.value = longest


def waits(running, what, do):
    """Says how long something takes, and how long a client waits at most that asks meanwhile: the medians of three."""
    fork, times = multiprocessing.get_context("fork"), []
    client = running.client()
    client("LATENCY", "RESET")
    for turn in range(3):
        done, worst = fork.Event(), fork.Value("d")
        asking = fork.Process(target=ask, args=(running.path, done, worst))
        asking.start()
        time.sleep(0.2)
        start = time.perf_counter()
        do(turn)
        taken = time.perf_counter() - start
        # What goes on in the thread of the module holds nobody up either.
        time.sleep(0.3)
        done.set()
        asking.join()
        times.append((worst.value, taken))
    worst, taken = sorted(times)[1]
    # What the server reports from 1 ms on: commands and forks, not pieces that it calls for.
    held = max((latest[3] for latest in client("LATENCY", "LATEST")), default=0)
    print(f"| {what} | {1000 * taken:.1f} ms | {1000 * worst:.1f} ms | {held or '< 1'} ms |", flush=True)


def of_commands(running):
    client = running.client()

    def fresh(key):
        client("UNLINK", key)
        assert client("PETAL.RESERVE", key, "blocked", 750_000_000, "0.01") == "OK"
        # Every page of it.
        assert client("PETAL.MERGE", key, "b") == "OK"

    client("PETAL.RESERVE", "b", "blocked", 750_000_000, "0.01")
    many(client, "PETAL.MADD", "b", 0, 1_000_000)
    # 16 bytes of each page of 4 KiB.
    fresh("a")
    waits(running, "nothing", lambda turn: time.sleep(1))
    for words in (("PETAL.MERGE", "a", "b"), ("PETAL.ESTIMATE", "a"), ("PETAL.CLEAR", "a")):
        waits(running, f"`{words[0]}`", lambda turn: client(*words))
    for words in (("COPY", "b", "c{}"), ("PETAL.ADD", "c{}", "x")):
        waits(running, f"`{words[0]}`" + " after `COPY`" * (words[0] != "COPY"),
              lambda turn: client(*(word.format(turn) for word in words)))
    for words in (("DEL", "c{}"),):
        waits(running, f"`{words[0]}`", lambda turn: client(*(word.format(turn) for word in words)))
    for command in ("PETAL.RESERVE {} blocked 750000000 0.01", "BF.RESERVE {} 0.01 700000000",
                    "CF.RESERVE {} 1000000000"):
        waits(running, f"`{command.split()[0]}`", lambda turn: client(*command.format(command[:2] + str(turn)).split()))
    waits(running, "`UNLINK` of three", lambda turn: client("UNLINK", f"BF{turn}", f"CF{turn}", f"PE{turn}"))

    def save(turn):
        client("BGSAVE")
        while b"rdb_bgsave_in_progress:1" in client("INFO", "persistence"):
            time.sleep(0.01)

    waits(running, "`BGSAVE`", save)


def of_imports(running):
    client = running.client()
    client("PETAL.RESERVE", "a", "blocked", 750_000_000, "0.01")
    client("BF.RESERVE", "bf", "0.01", 700_000_000)
    many(client, "PETAL.MADD", "a", 0, 200_000)

    def move(turn, export, load, key):
        client("DEL", "to")
        iterator = 0
        while True:
            iterator, chunk = client(export, key, iterator)
            if not iterator:
                break
            assert client(load, "to", iterator, chunk) == "OK"

    waits(running, "all chunks by `PETAL.EXPORT` and `PETAL.IMPORT`",
          lambda turn: move(turn, "PETAL.EXPORT", "PETAL.IMPORT", "a"))
    waits(running, "all chunks by `BF.SCANDUMP` and `BF.LOADCHUNK`",
          lambda turn: move(turn, "BF.SCANDUMP", "BF.LOADCHUNK", "bf"))
    client("DEL", "to", "bf")
    dumped = []
    waits(running, "`DUMP`", lambda turn: dumped.append(client("DUMP", "a")))
    waits(running, "`RESTORE`", lambda turn: client("RESTORE", f"r{turn}", 0, dumped[0]))


def of_many_items(running):
    client = running.client()
    client("PETAL.RESERVE", "petal", "blocked", 750_000_000, "0.01")
    client("BF.RESERVE", "bf", "0.01", 700_000_000)
    for command, key in (("BF.MADD", "bf"), ("BF.MEXISTS", "bf"), ("PETAL.MADD", "petal"), ("PETAL.MEXISTS", "petal")):
        waits(running, f"`{command}` of 200,000 items", lambda turn: client(command, key, *range(200_000)))
    waits(running, "`SADD` of 200,000 items", lambda turn: client("SADD", "set", *range(200_000)))


if __name__ == "__main__":
    server.PREFIX, server.WORK = map(pathlib.Path, sys.argv[1:3])
    (server.MODULE,) = map(str, server.PREFIX.glob("lib*/**/libpetal_redis.so"))
    try:
        if os.environ.get("PETAL_REDISBLOOM"):
            beside(os.environ["PETAL_REDISBLOOM"])
            sys.exit()
        for part in (commands, together, latency):
            if not sys.argv[4:] or part.__name__ in sys.argv[4:]:
                part()
    finally:
        server.stop_all()
