"""What takes long: python3 soak.py PREFIX FOLDER --soak [WORD]..., with PETAL_COMMAND. Each part says what it measured,
and fails where that is not as predicted."""

import json
import math
import os
import pathlib
import subprocess
import sys
import threading
import time

import command
import kills
import server
from check_cluster import SLOTS, Cluster
from server import Server, wait_for

# Keys, how many others are asked, and over how many shards; PETAL_KEYS is another number of keys.
KEYS = int(float(os.environ.get("PETAL_KEYS", "1e8")))
ASKED = KEYS // 10
SHARDS = 8
RATE = 0.01
KILLS = 100


def numbers(words, first, last):
    """What the command says of the numbers from one to another as keys, as JSON, and how long it took."""
    begun = time.monotonic()
    with subprocess.Popen(["seq", str(first), str(last)], stdout=subprocess.PIPE) as sequence:
        said = json.loads(command.end(command.start(*words, "--json", stdin=sequence.stdout))[1])
    return said, time.monotonic() - begun


def many_keys(*of):
    """10^8 keys through pipelines into filters of a sort: none is missing, and of others as many are found as the
    formula says of the keys that each shard got."""
    running = Server("--maxmemory", "0")
    at = ("--url", f"unix://{running.path}", "--shards", SHARDS)
    made, building = numbers(("redis", "build", *at, *of, "--fpr", RATE, "--capacity", KEYS, "seen"), 1, KEYS)
    assert made["records"] == KEYS, made
    there, checking = numbers(("redis", "check", *at, "seen"), 1, KEYS)
    assert (there["found"], there["missing"]) == (KEYS, 0), there
    other, _ = numbers(("redis", "check", *at, "seen"), KEYS + 1, KEYS + ASKED)
    client = running.client()
    predicted = sum(prediction(running, of, f"seen:{{{shard}}}") for shard in range(SHARDS)) / SHARDS
    measured, sigma = other["found"] / ASKED, math.sqrt(predicted * (1 - predicted) / ASKED)
    bits = 8 * sum(client("MEMORY", "USAGE", f"seen:{{{shard}}}") for shard in range(SHARDS)) / KEYS
    print(f"{' '.join(of)}: {KEYS:,} keys over {SHARDS} shards, {KEYS / building:,.0f} a second added and "
          f"{KEYS / checking:,.0f} asked, none missing; {bits:.2f} bits a key; rate {measured:.6f}, predicted "
          f"{predicted:.6f} ({(measured - predicted) / sigma:+.1f} sigma)", flush=True)
    assert abs(measured - predicted) < 4.5 * sigma


def part_keys_of_blocked():
    many_keys("--kind", "blocked")


def part_keys_of_bloom():
    many_keys("--kind", "bloom")


def part_keys_of_bf():
    many_keys("--type", "bf")


def prediction(running, of, key):
    """The rate of a shard with the keys that it has. Each asked key may be in any shard: they have equal shares."""
    if of[0] == "--type":
        # A filter that was told its capacity has one link.
        _, link = running.client()("BF.DEBUG", key)
        fields = dict(field.split(":") for field in link.decode().split())
        bits, hashes, new = (int(fields[name]) for name in ("bits", "hashes", "size"))
        # A key that is found already is not counted, and would set no bit: so this computes how many came until this
        # many were new.
        keys, step, counted = 0.0, new / 100_000, 0.0
        while counted < new:
            keys += step
            counted += step * (1 - (1 - math.exp(-hashes * keys / bits)) ** hashes)
        return (1 - math.exp(-hashes * keys / bits)) ** hashes
    file = server.WORK / "image"
    command.does("redis", "export", "--url", f"unix://{running.path}", key, "-o", file)
    return json.loads(command.does("info", "--json", file))["statistics"]["false_positive_rate"]


def part_kills():
    """Primaries and replicas killed at moments that a seed draws."""
    begun = time.monotonic()
    confirmed = kills.kill_at_random(KILLS, 20)
    print(f"{KILLS} servers killed under load in {time.monotonic() - begun:.0f} s: all of {confirmed:,} items that "
          "WAIT had confirmed are found after each", flush=True)


def part_cluster():
    """Three primaries and three replicas: slots that move and a primary that is killed while keys are added."""
    cluster = Cluster(3, 3, "--cluster-node-timeout", 3000)
    shards, count = 24, 4_000_000
    first = cluster.nodes[0]
    at = ("--url", f"127.0.0.1:{first.server.port}", "--shards", shards)
    keys = server.WORK / "keys"
    keys.write_bytes(command.lines(range(count)))
    words = ("redis", "build", *at, "--capacity", count, "seen")
    building = command.start(*words, keys)
    wait_for("shards", lambda: not isinstance(cluster("PETAL.INFO", f"seen:{{{shards - 1}}}"), str))
    moved = 0
    while building.poll() is None:
        moved += move_slot(cluster, f"seen:{{{moved % shards}}}")
    status, _, err = command.end(building)
    assert status == 0 and err == "", err
    assert moved > 0
    assert command.report("redis", "check", *at, "seen", keys)["missing"] == 0
    print(f"{moved} slots moved while {count:,} keys were added: none is missing", flush=True)

    # What WAIT confirms is there once the replica has taken over.
    confirmed, ended = [], threading.Event()

    def load():
        number = 0
        while not ended.is_set():
            try:
                node = seen_anew(cluster).node_of("more")
                while not ended.is_set():
                    some = [f"more {number} {i}" for i in range(100)]
                    number += 1
                    added = node("PETAL.MADD", "more", *some)
                    if isinstance(added, list) and node("WAIT", 1, 500) == 1:
                        confirmed.append(some)
            except (OSError, StopIteration):
                time.sleep(0.05)

    assert cluster("PETAL.RESERVE", "more", "blocked", 5_000_000, "0.001") == "OK"
    loading = threading.Thread(target=load)
    loading.start()
    building = command.start("redis", "build", *at[:1], f"127.0.0.1:{cluster.nodes[1].server.port}", *at[2:],
                             "--capacity", count, "after", keys)
    wait_for("items", lambda: len(confirmed) > 20)
    victim = cluster.node_of("more")
    begun = time.monotonic()
    victim.server.kill()
    status, _, err = command.end(building)
    cluster.nodes = [node for node in cluster.nodes if node is not victim]
    wait_for("the replica", lambda: any(node("TYPE", "more") == "petal-img" for node in cluster.nodes))
    cluster.wait_for_all(b"cluster_state:ok")
    taken = time.monotonic() - begun
    ended.set()
    loading.join()
    for some in confirmed:
        assert cluster("PETAL.MEXISTS", "more", *some) == [1] * len(some)
    print(f"a primary killed: all of {100 * len(confirmed):,} items that WAIT had confirmed are found; its replica "
          f"took over after {taken:.1f} s; the command ended with {status}: {err.strip()}", flush=True)
    at = ("--url", f"127.0.0.1:{cluster.nodes[1].server.port}", "--shards", shards)
    status, _, err = command.run("redis", "build", *at, "--capacity", count, "after", keys)
    assert status == 0, err
    assert command.report("redis", "check", *at, "after", keys)["missing"] == 0
    assert command.report("redis", "check", *at, "seen", keys)["missing"] == 0
    print(f"the same command again: none of {count:,} keys is missing", flush=True)


def seen_anew(cluster):
    """The cluster over separate connections, to those of its nodes that run."""
    anew = Cluster.__new__(Cluster)
    anew.nodes = [Cluster.client_of(node.server) for node in cluster.nodes if node.server.process.poll() is None]
    return anew


def move_slot(cluster, key):
    """Moves the slot of a key to another primary while it is used; 1."""
    primaries = cluster.nodes[:3]
    source = next(node for node in primaries if node("TYPE", key) == "petal-img")
    target = primaries[(primaries.index(source) + 1) % 3]
    slot = source("CLUSTER", "KEYSLOT", key)
    ids = {node: node("CLUSTER", "MYID").decode() for node in (source, target)}
    assert target("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source]) == "OK"
    assert source("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target]) == "OK"
    reply = source("MIGRATE", "127.0.0.1", target.server.port, "", 0, 60000, "KEYS", key)
    assert reply == "OK", reply
    for node in (target, source, *primaries):
        assert node("CLUSTER", "SETSLOT", slot, "NODE", ids[target]) == "OK"
    assert 0 <= slot < SLOTS
    return 1


if __name__ == "__main__":
    server.PREFIX, server.WORK = map(pathlib.Path, sys.argv[1:3])
    (server.MODULE,) = map(str, server.PREFIX.glob("lib*/**/libpetal_redis.so"))
    parts = [part for name, part in list(vars().items()) if name.startswith("part_")]
    wanted = [part for part in parts if not sys.argv[4:] or any(word in part.__name__ for word in sys.argv[4:])]
    try:
        for part in wanted:
            part()
            server.stop_all()
    finally:
        server.stop_all()
    print(f"{len(wanted)} passed, 0 failed")
