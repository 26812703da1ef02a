"""Keys of valkey-bloom's type: its bytes, its replies and errors, its settings, and replicas on both sides."""

import struct

import dumps
import server as servers
from client import Error, Simple
from dumps import Object
from replies import WRONG_TYPE, arity, same, table
from server import Server, needs

OWN = ("OWNER", "valkey-bloom")
FULL = "ERR non scaling filter is full"


def words(name, count):
    return [f"{name}-{i}" for i in range(count)]


def digest(client, key):
    (found,) = client("DEBUG", "DIGEST-VALUE", key)
    return found


def restored(client):
    """All vectors, each under its name."""
    client("BF.ADD", "any", "x")
    version = client("DUMP", "any")[-10:-8]
    client("DEL", "any")
    for name, *_ in Object.VECTORS:
        assert client("RESTORE", name, 0, Object.vector(name).dump(version)) == Simple("OK"), name
    return version


def check_bytes_are_those_of_valkey_bloom():
    client = Server("--rdbcompression", "no").client()
    version = restored(client)
    for name, _, count, found, of in Object.VECTORS:
        vector = Object.vector(name)
        # DUMP's bytes before the version of the server's format.
        assert (dumps.FORMATS / "valkey_chain" / f"{name}.dump").read_bytes() == vector.body() + b"\x00", name
        assert client("BF.LOAD", "loaded", vector.data) == Simple("OK")
        assert client("TYPE", name) == "bloomfltr"
        for key in (name, "loaded"):
            assert digest(client, key) == of, (name, key)
            assert client("DUMP", key) == vector.dump(version), (name, key)
            assert count == 0 or client("BF.MEXISTS", key, *words("key", count)) == [1] * count
            assert client("BF.MEXISTS", key, *words("absent", 10_000)).count(1) == found, name
            assert [client("BF.EXISTS", key, word) for word in words("absent", 300)] == client(
                "BF.MEXISTS", key, *words("absent", 300))
            assert client("BF.CARD", key) == sum(taken for _, taken, _ in vector.filters)
        assert client("BF.SCANDUMP", name, 0) == [len(vector.data) + 1, vector.data]
        assert client("BF.SCANDUMP", name, 51) == [len(vector.data) + 1, vector.data[50:]]
        client("DEL", "loaded")


def check_commands_make_what_valkey_bloom_makes():
    """With the seed of the vector, the same commands make the same bytes, one item at a time or all in one command."""
    client = Server(module_options=OWN).client()
    for name, how, count, _, of in Object.VECTORS:
        vector, keys = Object.vector(name), words("key", count)
        for way in ("one", "many"):
            client("DEL", "made")
            made = ["BF.INSERT", "made", "SEED", vector.seed]
            if how and how[0] == "BF.INSERT":
                made += how[1:]
            elif how:
                made += ["ERROR", how[1], "CAPACITY", how[2], *how[3:]]
            assert client(*made) == [], name
            if way == "many" and keys:
                client("BF.MADD", "made", *keys)
            else:
                for key in keys:
                    client("BF.ADD", "made", key)
            assert digest(client, "made") == of, (name, way)


def check_files_keep_both_types():
    for options in (("--save", "900", "1"), ("--appendonly", "yes", "--aof-use-rdb-preamble", "no"),
                    ("--appendonly", "yes", "--aof-use-rdb-preamble", "yes")):
        running = Server(*options)
        client = running.client()
        restored(client)
        client("BF.MADD", "redisbloom", *words("key", 500))
        client("BF.MADD", "usual", *words("more", 500))
        client("COPY", "usual", "copied")
        client("BF.ADD", "copied", "only here")
        names = ["redisbloom", "copied", *(name for name, *_ in Object.VECTORS)]
        before = [digest(client, name) for name in names]
        if "--appendonly" in options:
            client("BGREWRITEAOF")
            servers.wait_for("the rewrite", lambda: b"aof_rewrite_in_progress:0" in client("INFO", "persistence"))
        client("BF.ADD", "fixed", "after the rewrite")
        before[names.index("fixed")] = digest(client, "fixed")
        running.restart()
        client = running.client()
        assert [digest(client, name) for name in names] == before, options
        assert client("TYPE", "redisbloom") == "MBbloom--" and client("TYPE", "copied") == "bloomfltr"
        assert client("BF.EXISTS", "usual", "only here") == 0


def check_replies():
    client = Server(module_options=OWN).client()
    client("SET", "str", "x")
    client("BF.LOADCHUNK", "theirs", 1, dumps.Chain.vector("100-10").header)
    info = ["Capacity", 100, "Size", 384, "Number of filters", 1, "Number of items inserted", 1, "Error rate", b"0.01",
            "Expansion rate", 2, "Tightening ratio", b"0.5", "Max scaled capacity", 26214300]
    rows = [
        ("BF.ADD bf item", 1),
        ("BF.ADD bf item", 0),
        ("BF.CARD bf", 1),
        ("BF.CARD none", 0),
        ("BF.EXISTS bf item", 1),
        ("BF.EXISTS none item", 0),
        ("BF.MEXISTS bf item other", [1, 0]),
        ("BF.INFO bf", info),
        ("BF.INFO bf capacity", 100),
        ("BF.INFO bf SIZE", 384),
        ("BF.INFO bf Filters", 1),
        ("BF.INFO bf ITEMS", 1),
        ("BF.INFO bf ERROR", b"0.01"),
        ("BF.INFO bf EXPANSION", 2),
        ("BF.INFO bf TIGHTENING", b"0.5"),
        ("BF.INFO bf MAXSCALEDCAPACITY", 26214300),
        ("BF.INFO bf other", Error("ERR invalid information value")),
        ("BF.INFO none", Error("ERR not found")),
        ("BF.INFO bf SIZE more", arity("bf.info")),
        ("BF.RESERVE fixed 0.001 2 NONSCALING", Simple("OK")),
        ("BF.RESERVE fixed 0.001 2", Error("ERR item exists")),
        ("BF.INFO fixed EXPANSION", None),
        ("BF.INFO fixed TIGHTENING", Error("ERR invalid information value")),
        ("BF.INFO fixed MAXSCALEDCAPACITY", Error("ERR invalid information value")),
        ("BF.MADD fixed a b a c d", [1, 1, 0, Error(FULL)]),
        ("BF.ADD fixed c", Error(FULL)),
        ("BF.INSERT fixed ITEMS a c", [0, Error(FULL)]),
        ("BF.INSERT fixed", []),
        ("BF.INSERT new CAPACITY 3 ERROR 0.5 EXPANSION 7", []),
        ("BF.INFO new EXPANSION", 7),
        ("BF.INSERT none NOCREATE ITEMS a", Error("ERR not found")),
        ("BF.INSERT scaled VALIDATESCALETO 26214301 ITEMS a",
         Error("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")),
        ("BF.INSERT scaled EXPANSION 1 VALIDATESCALETO 200000 ITEMS a",
         Error("ERR provided VALIDATESCALETO causes false positive to degrade to 0")),
        ("BF.INSERT scaled NONSCALING VALIDATESCALETO 200 ITEMS a",
         Error("ERR cannot use NONSCALING and VALIDATESCALETO options together")),
        ("BF.INSERT scaled VALIDATESCALETO 26214300 ITEMS a", [1]),
        ("BF.LOAD bf x", Error("BUSYKEY Target key name already exists.")),
        ("BF.LOAD x x", Error("ERR bloom object decoding failed. Unsupported version")),
        (["BF.LOAD", "x", b"\x01x"], Error("ERR bloom object decoding failed")),
        (["BF.LOAD", "x", b""], Error("ERR bloom object decoding failed")),
        # RedisBloom's keys answer as RedisBloom does.
        ("BF.INFO theirs EXPANSION", [2]),
        ("BF.ADD theirs more", 1),
        ("BF.SCANDUMP bf x", Error("Second argument must be numeric")),
        ("BF.SCANDUMP bf -1", [0, b""]),
        ("BF.SCANDUMP bf 220", [0, b""]),
        ("BF.DEBUG bf", Error(WRONG_TYPE)),
    ]
    for of in ("RESERVE {} 0.01 10", "ADD {} x", "MADD {} x", "EXISTS {} x", "MEXISTS {} x", "CARD {}", "INFO {}",
               "INSERT {} ITEMS x", "LOAD {} x"):
        rows.append((f"BF.{of.format('str')}", Error(WRONG_TYPE)))
    bad_rates = [("0", "ERR (0 < error rate range < 1)"), ("1", "ERR (0 < error rate range < 1)"),
                 ("nan", "ERR (0 < error rate range < 1)"), ("x", "ERR bad error rate")]
    bad_capacities = [("0", "ERR (capacity should be larger than 0)"), ("-1", "ERR bad capacity"),
                      ("9223372036854775808", "ERR bad capacity"), ("x", "ERR bad capacity"),
                      ("9223372036854775807", "ERR operation exceeds bloom object memory limit")]
    for word, why in bad_rates:
        rows += [(f"BF.RESERVE x {word} 10", Error(why)), (f"BF.INSERT x ERROR {word} ITEMS a", Error(why))]
        tightening = why.replace("error rate", "tightening ratio")
        rows.append((f"BF.INSERT x TIGHTENING {word} ITEMS a", Error(tightening)))
    for word, why in bad_capacities:
        rows += [(f"BF.RESERVE x 0.01 {word}", Error(why)), (f"BF.INSERT x CAPACITY {word} ITEMS a", Error(why))]
    for word in ("0", "-1", "4294967296", "x"):
        rows += [(f"BF.RESERVE x 0.01 10 EXPANSION {word}", Error("ERR bad expansion")),
                 (f"BF.INSERT x EXPANSION {word} ITEMS a", Error("ERR bad expansion"))]
    rows += [
        ("BF.INSERT x SEED short ITEMS a", Error("ERR invalid seed")),
        ("BF.INSERT x OTHER ITEMS a", Error("ERR unknown argument received")),
        ("BF.INSERT x ITEMS", arity("bf.insert")),
        ("BF.INSERT x CAPACITY", arity("bf.insert")),
        ("BF.RESERVE x 0.01 10 OTHER", Error("ERROR")),
        ("BF.RESERVE x 0.01 10 NONSCALING EXPANSION", Error("ERROR")),
        ("BF.RESERVE x 0.01 10 EXPANSION 2 NONSCALING", arity("bf.reserve")),
        ("BF.RESERVE x 0.01", arity("bf.reserve")),
        ("BF.ADD x", arity("bf.add")),
        ("BF.LOAD x", arity("bf.load")),
    ]
    table(client, rows)
    assert client("EXISTS", "x", "none") == 0
    if servers.version() >= (7, 0):
        # valkey-bloom has no types of RESP3 but the double.
        table(Server(module_options=OWN).client(3), [
            ("BF.ADD bf item", 1), ("BF.EXISTS bf item", 1), ("BF.MADD bf item b", [0, 1]),
            ("BF.INFO bf ERROR", 0.01), ("BF.INFO bf ITEMS", 2), ("BF.MEXISTS bf c", [0])])


def check_objects_answer_as_valkey_bloom_does_whoever_owns_the_commands():
    client = Server().client()
    client("BF.LOAD", "bf", Object.vector("full").data)
    table(client, [
        ("BF.ADD bf more", Error(FULL)),
        ("BF.INFO bf ERROR", b"0.001"),
        ("BF.EXISTS bf key-0", 1),
        ("BF.RESERVE bf 0.01 10", Error("ERR item exists")),
        ("BF.RESERVE new 0.01 10", Simple("OK")),
        ("BF.INSERT new SEED x ITEMS a", Error("Unknown argument received")),
        # Words that only valkey-bloom has make its type: its primaries send them.
        (["BF.INSERT", "seeded", "SEED", b"s" * 32, "ITEMS", "a"], [1]),
        ("TYPE seeded", Simple("bloomfltr")),
        ("PETAL.EXISTS seeded a", Error("WRONGTYPE the key holds a filter of BF.*, whose commands are those: BF.ADD, "
                                        "BF.EXISTS, BF.INFO, BF.SCANDUMP and others")),
        ("CF.EXISTS seeded a", 0),
        ("TYPE new", Simple("MBbloom--")),
    ])


def check_growth_is_bound():
    client = Server(module_options=(*OWN, "bloom-memory-usage-limit", 1000)).client()
    table(client, [
        ("BF.RESERVE large 0.01 1000", Error("ERR operation exceeds bloom object memory limit")),
        ("BF.INFO none", Error("ERR not found")),
        ("BF.RESERVE bf 0.01 100", Simple("OK")),
        ("BF.INFO bf MAXSCALEDCAPACITY", 300),
    ])
    replies = client("BF.MADD", "bf", *words("key", 1000))
    assert replies[-1] == "ERR operation exceeds bloom object memory limit" and len(replies) < 400, replies
    assert client("BF.CARD", "bf") == 300 and client("BF.ADD", "bf", "x") == replies[-1]
    # What is larger already is loaded by files and replicas alone.
    vector = Object.vector("grown")
    assert client("BF.LOAD", "loaded", vector.data) == "ERR operation exceeds bloom object memory limit"
    client("BF.INSERT", "ends", "CAPACITY", 1, "ERROR", "1e-300", "EXPANSION", 1, "TIGHTENING", "1e-9")
    assert client("BF.MADD", "ends", "a", "b") == [1, Error("ERR false positive degrades to 0 on scale out")]


def check_replicas():
    """What a primary sends makes the same values, whoever owns the commands of the replica."""
    primary = Server(module_options=OWN, tcp=True)
    replicas = [Server("--replicaof", "127.0.0.1", primary.port, tcp=True, module_options=("OWNER", owner))
                for owner in ("redisbloom", "valkey-bloom")]
    client, others = primary.client(), [replica.client() for replica in replicas]
    for other in others:
        servers.wait_for("the replica", lambda: b"master_link_status:up" in other("INFO", "replication"))
    client("BF.RESERVE", "reserved", "0.02", 10, "EXPANSION", 3)
    client("BF.RESERVE", "fixed", "0.02", 500, "NONSCALING")
    client("BF.ADD", "added", "x")
    client("BF.MADD", "many", *words("key", 3000))
    client("BF.INSERT", "inserted", "ERROR", "0.3", "TIGHTENING", "0.7", "ITEMS", *words("key", 400))
    client("BF.LOAD", "loaded", Object.vector("grown").data)
    for key in ("reserved", "added", "inserted", "loaded"):
        client("BF.MADD", key, *words("more", 400))
    client("CONFIG", "SET", "petal.bloom-use-random-seed", "no")
    client("BF.ADD", "unseeded", "x")
    assert client("WAIT", 2, 10_000) == 2
    for key in ("reserved", "fixed", "added", "many", "inserted", "loaded", "unseeded"):
        for other in others:
            assert digest(other, key) == digest(client, key) != "0" * 40, key
            assert other("BF.INFO", key) == client("BF.INFO", key), key


def check_settings():
    needs(7, 0)
    before = "" if servers.version() >= (8, 0) and not servers.is_valkey() else "petal."
    client = Server(module_options=OWN).client()
    for name, usual, other, wrong in (
        ("bloom-capacity", 100, 7, 0), ("bloom-expansion", 2, 0, 2**32), ("bloom-memory-usage-limit", 2**27, 2**40, -1),
        ("bloom-fp-rate", "0.01", "0.25", 1), ("bloom-tightening-ratio", "0.5", "0.75", 0),
        ("bloom-use-random-seed", "yes", "no", "x"), ("bloom-defrag-enabled", "yes", "no", 2)):
        name = before + name
        assert client("CONFIG", "GET", name) == [name.encode(), str(usual).encode()], name
        assert isinstance(client("CONFIG", "SET", name, wrong), Error), name
        assert client("CONFIG", "SET", name, other) == "OK"
        assert client("CONFIG", "GET", name) == [name.encode(), str(other).encode()], name
    client("BF.ADD", "a", "x")
    client("BF.ADD", "b", "x")
    assert digest(client, "a") == digest(client, "b")
    same(client("BF.INFO", "a"), ["Capacity", 7, "Size", 267, "Number of filters", 1, "Number of items inserted", 1,
                                  "Error rate", b"0.25", "Expansion rate", None])
    client("CONFIG", "SET", before + "bloom-use-random-seed", "yes")
    client("BF.ADD", "c", "x")
    assert digest(client, "a") != digest(client, "c")
    client = Server(module_options=(*OWN, "bloom-capacity", 7, "bloom-use-random-seed", "no")).client()
    client("BF.ADD", "a", "x")
    assert client("BF.INFO", "a", "CAPACITY") == 7


def info(client, name):
    lines = client("INFO", name).decode().split("\r\n")
    return {line.partition(":")[0].removeprefix(name + "_bloom_"): int(line.partition(":")[2])
            for line in lines if ":" in line}


def check_report():
    client = Server(module_options=(*OWN, "NAME", "bf")).client()
    empty = {"total_memory_bytes": 0, "num_objects": 0, "num_filters_across_objects": 0, "num_items_across_objects": 0,
             "capacity_across_objects": 0, "defrag_hits": 0, "defrag_misses": 0}
    assert info(client, "bf") == empty, info(client, "bf")
    restored(client)
    client("BF.MADD", "usual", *words("more", 200))
    names = [name for name, *_ in Object.VECTORS]
    expected = {**empty, "num_objects": len(names)}
    for field, of in (("total_memory_bytes", "SIZE"), ("num_filters_across_objects", "FILTERS"),
                      ("num_items_across_objects", "ITEMS"), ("capacity_across_objects", "CAPACITY")):
        expected[field] = sum(client("BF.INFO", name, of) for name in names)
    assert info(client, "bf") == expected, (info(client, "bf"), expected)
    client("FLUSHALL", "SYNC")
    servers.wait_for("the memory", lambda: info(client, "bf") == empty)


def check_memory_is_moved():
    client = Server("--hz", 100, "--active-defrag-ignore-bytes", 1, "--active-defrag-threshold-lower", 0,
                    "--active-defrag-cycle-min", 99, "--active-defrag-cycle-max", 99, module_options=OWN).client()
    if isinstance(client("CONFIG", "SET", "activedefrag", "yes"), Error):
        raise servers.Unavailable("the server does not move memory")
    client("CONFIG", "SET", "activedefrag", "no")
    keys = [f"key-{i}" for i in range(2000)]
    for key in keys:
        client("BF.INSERT", key, "CAPACITY", 60, "EXPANSION", 1, "ITEMS", *range(150))
    digests = [digest(client, key) for key in keys[1::2]]
    for key in keys[::2]:
        client("DEL", key)
    before = info(client, "petal")["defrag_hits"]
    client("CONFIG", "SET", "activedefrag", "yes")
    servers.wait_for("blocks to move", lambda: info(client, "petal")["defrag_hits"] > before + 500)
    client("CONFIG", "SET", "activedefrag", "no")
    assert [digest(client, key) for key in keys[1::2]] == digests
    assert client("BF.MEXISTS", keys[1], *range(150)) == [1] * 150 and client("BF.ADD", keys[1], "another") == 1


def check_the_owner_is_the_servers():
    running = Server(module=False)
    client = running.client()
    assert client("MODULE", "LOAD", servers.MODULE, "NAME", "bf") == Simple("OK")
    client("BF.ADD", "b", "x")
    assert client("TYPE", "b") == ("bloomfltr" if servers.is_valkey() else "MBbloom--")
    (module,) = [one for one in client("MODULE", "LIST") if one[1] not in servers.BUILT_IN]
    assert module[3] == (10_001 if servers.is_valkey() else 80_800), module
    if servers.is_valkey():
        (command,) = client("COMMAND", "INFO", "bf.insert")
        assert command[1] == -2 and {"write", "denyoom", "fast"} <= set(command[2]), command
        assert {"@fast", "@write", "@bloom"} <= set(command[6]), command
    for options in (("OWNER", "other"), ("OWNER",)):
        refused = Server(module=False)
        assert isinstance(refused.client()("MODULE", "LOAD", servers.MODULE, *options), Error), options
        assert "petal is not loaded: the argument OWNER" in refused.log(), refused.log()


def check_events():
    running = Server("--notify-keyspace-events", "KEA", module_options=OWN)
    listener, client = running.client(), running.client()
    listener("PSUBSCRIBE", "__keyevent@0__:bloom.*")
    client("BF.ADD", "key", "x")
    client("BF.ADD", "key", "x")
    client("BF.ADD", "key", "y")
    client("BF.RESERVE", "other", "0.1", 10)
    events = [(message[2].decode().partition(":")[2], message[3]) for message in (listener.read() for _ in range(4))]
    assert events == [("bloom.add", b"key"), ("bloom.reserve", b"key"), ("bloom.add", b"key"),
                      ("bloom.reserve", b"other")], events


def check_objects_that_lie():
    client = Server().client()
    data = Object.vector("grown").data
    length = len(Object.vector("grown").filters[0][0])
    lies = [(0, b"\2"), (5, bytes(8)), (5, struct.pack("<d", 1)), (13, struct.pack("<d", float("nan"))),
            (21, b"\2"), (22, bytes(8)), (22, b"\xff" * 8), (22, b"\7"), (30, bytes(8)), (30, b"\xff" * 8),
            (38, b"\0"), (39, bytes(8)), (39, b"\xff" * 8), (47, bytes(4)), (47, b"\xff" * 4), (51, b"x"),
            (38 + length, b"\xff" * 8), (46 + length, bytes(8)), (46 + length, b"\xff" * 8)]
    for at, value in lies:
        lying = bytearray(data)
        lying[at : at + len(value)] = value
        reply = client("BF.LOAD", "lying", bytes(lying))
        assert isinstance(reply, Error) and "decoding failed" in reply, (at, value, reply)
    for size in range(len(data)):
        assert isinstance(client("BF.LOAD", "short", data[:size]), Error), size
    assert isinstance(client("BF.LOAD", "long", data + b"x"), Error) and client("KEYS", "*") == []
