"""What is there after a restart, a kill, and on a replica."""

import dumps
from server import Server, wait_for


def fill(client, prefix=""):
    """Filters of all sorts, made and changed by every command that can."""
    client("BF.RESERVE", f"{prefix}reserved", "0.01", 10, "EXPANSION", 3)
    for i in range(200):
        client("BF.ADD", f"{prefix}reserved", f"r{i}")
        client("BF.ADD", f"{prefix}added", f"a{i}")
    client("BF.MADD", f"{prefix}madded", *(f"m{i}" for i in range(1000)))
    how = ("CAPACITY", 5, "ERROR", "0.3", "EXPANSION", 4, "NONSCALING")
    client("BF.INSERT", f"{prefix}fixed", *how, "ITEMS", *"abcdefg")
    client("BF.INSERT", f"{prefix}inserted", "CAPACITY", 7, "ERROR", "0.0001", "ITEMS", *range(100))
    client("BF.RESERVE", f"{prefix}empty", "0.3", 12345)
    for iterator, data in dumps.Chain.vector("10-60").chunks():
        client("BF.LOADCHUNK", f"{prefix}loaded", iterator, data)
    client("BF.ADD", f"{prefix}loaded", "one more")
    client("CF.RESERVE", f"{prefix}cuckoo", 16, "BUCKETSIZE", 1, "EXPANSION", 2)
    client("CF.INSERT", f"{prefix}cuckoo", "ITEMS", *range(150))
    for i in range(60):
        client("CF.DEL", f"{prefix}cuckoo", i)
        client("CF.ADD", f"{prefix}cuckoo made", i)
        client("CF.ADDNX", f"{prefix}cuckoo made", i)
    client("CF.INSERTNX", f"{prefix}cuckoo inserted", "CAPACITY", 40, "ITEMS", *range(10), *range(20))
    client("CF.RESERVE", f"{prefix}cuckoo empty", 50, "EXPANSION", 0)
    for iterator, data in dumps.Cuckoo.vector("16-40").chunks():
        client("CF.LOADCHUNK", f"{prefix}cuckoo loaded", iterator, data)
    client("CF.COMPACT", f"{prefix}cuckoo loaded")
    client("MULTI")
    client("BF.ADD", f"{prefix}multi", "x")
    client("BF.MADD", f"{prefix}multi", "x", "y")
    client("EXEC")
    script = "redis.call('BF.ADD', KEYS[1], 'script'); redis.call('BF.ADD', KEYS[1], 'two')"
    client("EVAL", script, 1, f"{prefix}script")
    client("COPY", f"{prefix}reserved", f"{prefix}copied")
    client("BF.ADD", f"{prefix}copied", "only in the copy")


def state(client):
    keys = sorted(client("KEYS", "*"))
    return client("DEBUG", "DIGEST"), {key: dumps.whole(client, key) for key in keys}


def check_copies_are_apart():
    client = Server().client()
    fill(client)
    assert dumps.whole(client, "reserved") != dumps.whole(client, "copied")
    client("DEL", "reserved")
    assert client("BF.EXISTS", "copied", "r0") == 1


def check_restart_from_rdb():
    server = Server("--save", "900", "1")
    fill(server.client())
    before = state(server.client())
    assert len(before[1]) == 15
    server.restart()
    assert state(server.client()) == before


def check_restart_from_aof():
    for preamble in ("no", "yes"):
        server = Server("--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
        client = server.client()
        fill(client)
        before = state(client)
        server.restart()
        assert state(server.client()) == before, "from the commands"
        client = server.client()
        client("BGREWRITEAOF")
        idle = lambda: b"aof_rewrite_in_progress:0" in client("INFO", "persistence")
        wait_for("a rewritten file", idle)
        assert b"aof_last_bgrewrite_status:ok" in client("INFO", "persistence")
        fill(client, "second ")
        before = state(client)
        server.restart()
        assert state(server.client()) == before, "from the rewritten file"


def check_kill_loses_nothing_that_was_synced():
    server = Server("--appendonly", "yes", "--appendfsync", "always")
    client = server.client()
    fill(client)
    before = state(client)
    # More than it can answer before it dies: what was answered has to be there.
    for i in range(20000):
        client.send("BF.ADD", "killed", f"k{i}")
    answered = 0
    while answered < 3000:
        client.read()
        answered += 1
    server.kill()
    server.start()
    client = server.client()
    assert client("BF.MEXISTS", "killed", *(f"k{i}" for i in range(answered))) == [1] * answered
    client("DEL", "killed")
    assert state(client) == before


def check_replicas_have_the_same_bytes():
    primary = Server(tcp=True)
    # What it would make of a BF.ADD that came alone is something else.
    replica = Server(module_options=("ERROR_RATE", "0.2", "INITIAL_SIZE", "7"), tcp=True)
    fill(primary.client(), "before ")
    client = replica.client()
    client("REPLICAOF", "127.0.0.1", primary.port)
    wait_for("a replica", lambda: b"master_link_status:up" in client("INFO", "replication"))
    fill(primary.client(), "after ")
    sender = primary.client()
    sender("SET", "last", "x")
    assert sender("WAIT", 1, 60000) == 1
    sender("DEL", "last")
    wait_for("the last command", lambda: client("EXISTS", "last") == 0)
    assert state(client) == state(sender)
    refused = client("BF.ADD", "after added", "x")
    assert refused.startswith("READONLY"), refused


def check_nothing_is_replicated_that_changes_nothing():
    client = Server("--appendonly", "yes").client()
    client("BF.MADD", "bf", "a", "b")
    lines = lambda: client("INFO", "persistence").split(b"\r\n")
    size = lambda: [line for line in lines() if line.startswith(b"aof_current_size")]
    before = size()
    client("BF.MADD", "bf", "a", "b")
    client("BF.ADD", "bf", "a")
    client("BF.EXISTS", "bf", "c")
    assert size() == before
