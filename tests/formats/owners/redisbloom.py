"""RedisBloom's filters, by its module, whose path REDISBLOOM has, on the redis-server that is here; README.md says how
it is called and what it prints. `write FOLDER committed` writes those of the committed filters that are newer.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.append(str(root / "integrations/redis/tests/suite"))

from client import Client, Error  # noqa: E402

module = os.environ["REDISBLOOM"]
folder = pathlib.Path(sys.argv[2])
FORMATS = {"redisbloom": "BF", "redisbloom_cuckoo": "CF"}


def run(client, *words):
    reply = client(*words)
    if isinstance(reply, Error) or isinstance(reply, list) and any(isinstance(one, Error) for one in reply):
        raise ValueError(f"{words[:3]}: {reply}")
    return reply


def dump(client, family, key):
    """The chunks of a filter, one after the other."""
    chunks, at = [], 0
    while True:
        at, chunk = run(client, f"{family}.SCANDUMP", key, at)
        if at == 0:
            return b"".join(chunks)
        chunks.append(chunk)


def restore(client, family, key, data):
    """Gives a filter to the server in the pieces that it takes: the header, and the array of each link or table."""
    if family == "BF":
        (links,) = struct.unpack_from("<I", data, 8)
        lines = [20 + 53 * i for i in range(links)]
        head, sizes = 20 + 53 * links, [struct.unpack_from("<Q", data, line)[0] for line in lines]
    else:
        _, buckets, _, tables, slots, _, expansion = struct.unpack_from("<QQQQHHH", data)
        head, sizes = 38, [buckets * slots * expansion**i for i in range(tables)]
    run(client, f"{family}.LOADCHUNK", key, 1, data[:head])
    at = 1
    for size in sizes:
        piece = data[head + at - 1 : head + at - 1 + size]
        at += size
        run(client, f"{family}.LOADCHUNK", key, at, piece)


def positives(client, family, key, prefix, count):
    found = [run(client, f"{family}.EXISTS", key, f"{prefix}-{i}") for i in range(count)]
    return sum(found)


def save(client, family, name, keys, made=()):
    """Writes the filter at the key `filter`, and says what a line of vectors.txt says."""
    file = f"redisbloom{'_cuckoo' if family == 'CF' else ''}/{name}.bin"
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(dump(client, family, "filter"))
    print(file.split("/")[0], file, keys, positives(client, family, "filter", "absent", 10_000), *made)


def filled(client, family, keys, *reserve):
    run(client, "FLUSHALL")
    run(client, f"{family}.RESERVE", "filter", *reserve)
    for i in range(keys):
        run(client, f"{family}.ADD", "filter", f"key-{i}")


def write(client, sizes):
    for size in sizes:
        keys, capacity, rate = size.split(":")
        for variant, words in (("scaling", []), ("nonscaling", ["NONSCALING"])):
            if variant == "scaling" or int(keys) <= int(capacity):
                filled(client, "BF", int(keys), rate, capacity, *words)
                save(client, "BF", f"{variant}-{keys}", keys, (capacity, rate, variant, 0))
        # RedisBloom gives no chunks of a cuckoo filter without keys.
        if int(keys) > 0:
            filled(client, "CF", int(keys), capacity)
            save(client, "CF", keys, keys)


def write_committed(client):
    """Links with more hash functions than a byte counts: one more in each link, and a rate that needs them."""
    filled(client, "BF", 0, "0.01", 4, "EXPANSION", 1)
    keys = 0
    while run(client, "BF.INFO", "filter", "FILTERS") != [258]:
        run(client, "BF.ADD", "filter", f"key-{keys}")
        keys += 1
    save(client, "BF", "links-258", keys)
    for hashes, rate in ((255, "2e-77"), (256, "1e-77"), (257, "5e-78"), (1074, "1e-323")):
        filled(client, "BF", 5, rate, 5, "NONSCALING")
        save(client, "BF", f"hashes-{hashes}", 5, (5, rate, "nonscaling", 0))
    # Few slots and few kicks: tables are added, and deletions compact them.
    filled(client, "CF", 300, 16, "BUCKETSIZE", 3, "MAXITERATIONS", 7, "EXPANSION", 1)
    save(client, "CF", "16-300", 300)
    for i in range(100, 300):
        run(client, "CF.DEL", "filter", f"key-{i}")
    save(client, "CF", "16-300-deleted", 100)


def read(client):
    ok = True
    for line in (folder / "vectors.txt").read_text().splitlines():
        words = line.split()
        if not words or words[0] not in FORMATS:
            continue
        family, keys = FORMATS[words[0]], int(words[2])
        run(client, "FLUSHALL")
        data = (folder / words[1]).read_bytes()
        restore(client, family, "filter", data)
        here, absent = (positives(client, family, "filter", *asked) for asked in (("key", keys), ("absent", 10_000)))
        same = here == keys and words[3] in ("-", str(absent)) and dump(client, family, "filter") == data
        ok &= same
        print("same" if same else "DIFFERENT", words[1], here, absent)
    return ok


with tempfile.TemporaryDirectory() as work:
    path = pathlib.Path(work) / "socket"
    command = ["redis-server", "--port", "0", "--unixsocket", path, "--dir", work, "--save", ""]
    server = subprocess.Popen([*command, "--loadmodule", module], stdout=subprocess.DEVNULL)
    try:
        while not path.exists() and server.poll() is None:
            time.sleep(0.01)
        client = Client(path)
        if sys.argv[1] == "read":
            sys.exit(not read(client))
        write_committed(client) if sys.argv[3:] == ["committed"] else write(client, sys.argv[3:])
    finally:
        server.terminate()
        server.wait()
