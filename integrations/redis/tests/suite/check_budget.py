"""No command holds the server up longer than the budget: very many items are taken in pieces, and large filters are
copied, compacted, cleared and freed outside the server's thread."""

import time

import dumps
import server as servers
from client import Error
from server import Server, wait_for

AT_ONCE = ("BUDGET", "0")
ITEMS = 3000


def blocked(client):
    (line,) = [line for line in client("INFO", "clients").split(b"\r\n") if line.startswith(b"blocked_clients:")]
    return int(line.split(b":")[1])


def many(first=0, count=ITEMS):
    return [f"item {i}" for i in range(first, first + count)]


# Commands of many items, each with what is made before.
MANY = (
    (("BF.RESERVE", "key", "0.01", 100), ("BF.MADD", "key"), ("BF.MEXISTS", "key")),
    ((), ("BF.INSERT", "key", "CAPACITY", 50, "ERROR", "0.001", "ITEMS"), ("BF.MEXISTS", "key")),
    (("BF.RESERVE", "key", "0.01", 1000, "NONSCALING"), ("BF.MADD", "key"), ("BF.MEXISTS", "key")),
    (("CF.RESERVE", "key", 100), ("CF.INSERT", "key", "ITEMS"), ("CF.MEXISTS", "key")),
    ((), ("CF.INSERTNX", "key", "CAPACITY", 500, "ITEMS"), ("CF.MEXISTS", "key")),
    (("CF.RESERVE", "key", 1000, "EXPANSION", 0), ("CF.INSERT", "key", "ITEMS"), ("CF.MEXISTS", "key")),
    (("PETAL.RESERVE", "key", "counting", ITEMS, "0.01"), ("PETAL.MADD", "key"), ("PETAL.MCOUNT", "key")),
    (("PETAL.RESERVE", "key", "cuckoo", 1000, "0.01"), ("PETAL.MADD", "key"), ("PETAL.REMOVE", "key")),
    (("PETAL.RESERVE", "key", "aleph", 100, "0.01"), ("PETAL.MADD", "key"), ("PETAL.REJUVENATE", "key")),
    (("PETAL.RESERVE", "key", "blocked", ITEMS, "0.01"), ("PETAL.MADD", "key"), ("PETAL.MEXISTS", "key")),
)


def check_pieces_reply_and_leave_what_a_command_does():
    """The same replies, and the same bytes on a replica and in the append-only file, as without pieces."""
    whole = Server()
    pieces = Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no", tcp=True, module_options=AT_ONCE)
    replica = Server(tcp=True)
    one, other, third = whole.client(), pieces.client(), replica.client()
    one("CONFIG", "SET", "petal.budget", 60_000)
    third("REPLICAOF", "127.0.0.1", pieces.port)
    wait_for("a replica", lambda: b"master_link_status:up" in third("INFO", "replication"))
    for made, add, ask in MANY:
        for client in (one, other):
            client("DEL", "key")
            made and client(*made)
        for words in ((*add, *many()), (*ask, *many(ITEMS // 2)), (*ask, "item 1")):
            replies = [client(*words) for client in (one, other)]
            if "_" not in words[0] and servers.version() >= (7, 0):
                assert replies[0] == replies[1], (words[:6], replies)
        # A chain's links begin at other items only where one grows in the middle of some that are looked up together.
        if add[0].startswith("PETAL") or "NONSCALING" in made:
            digests = [client("DEBUG", "DIGEST-VALUE", "key") for client in (one, other)]
            assert digests[0] == digests[1], add
        assert other("WAIT", 1, 60000) == 1
        assert third("DEBUG", "DIGEST-VALUE", "key") == other("DEBUG", "DIGEST-VALUE", "key"), add
        other("RENAME", "key", f"{add[0]} {made}")
        one("DEL", "key")
    before = other("DEBUG", "DIGEST")
    pieces.restart()
    assert pieces.client()("DEBUG", "DIGEST") == before


def check_pieces_of_what_is_refused():
    client = Server(module_options=AT_ONCE).client()
    client("SET", "text", "x")
    for words, error in ((("BF.MADD", "text"), "WRONGTYPE"), (("PETAL.MADD", "missing"), "ERR not found"),
                         (("PETAL.MEXISTS", "text"), "WRONGTYPE"), (("PETAL.REMOVE", "missing"), "ERR not found"),
                         (("PETAL.REJUVENATE", "missing"), "ERR not found"),
                         (("BF.INSERT", "missing", "NOCREATE", "ITEMS"), "ERR not found"),
                         (("BF.INSERT", "missing", "ERROR", 2, "ITEMS"), "Bad error rate")):
        reply = client(*words, *many())
        assert isinstance(reply, Error) and reply.startswith(error), (words, reply)
    # Those before one that was not taken are there.
    client("BF.RESERVE", "full", "0.01", 2500, "NONSCALING")
    *taken, refused = client("BF.MADD", "full", *many())
    assert refused == "ERR non scaling filter is full" and taken.count(1) == 2500, (refused, len(taken))
    assert client("BF.MEXISTS", "missing", *many()) == [0] * ITEMS
    client("PETAL.RESERVE", "numbers", "exact_bits", 5000, "0.01")
    *taken, refused = client("PETAL.MADD", "numbers", *range(1000), "x", *range(2000, 4000))
    assert refused.startswith("ERR the item x is not") and len(taken) < 1000
    assert client("PING") == "PONG" and blocked(client) == 0


def check_others_are_answered_between_pieces():
    server = Server(module_options=AT_ONCE)
    client, waiting = server.client(), server.client()
    for make, words, other in ((("BF.RESERVE", "key", "0.01", 1_000_000), ("BF.MADD", "key"), ("BF.CARD", "key")),
                               (("PETAL.RESERVE", "key", "blocked", 1_000_000, "0.01"), ("PETAL.MADD", "key"),
                                ("PETAL.EXISTS", "key", "item 0"))):
        # Until a look falls between two pieces, where some are there and not all: on a machine that does much else it
        # may take some commands.
        for _ in range(20):
            client("DEL", "key")
            client(*make)
            waiting.send(*words, *many(0, 50_000))
            seen = set()
            while not waiting.has_reply():
                seen.add((blocked(client), client(*other)))
            assert waiting.read().count(1) > 49_000
            is_seen = any(count == 1 and found > 0 for count, found in seen)
            if is_seen:
                break
        assert is_seen, seen
        # The key is another one meanwhile: the later items go there, or nowhere.
        waiting.send(*words, *many(0, 50_000))
        wait_for("a piece", lambda: blocked(client) == 1 or waiting.has_reply())
        was_blocked = blocked(client) == 1
        client("DEL", "key")
        reply = waiting.read()
        assert not was_blocked or words[0].startswith("BF") or isinstance(reply[-1], Error), reply
        assert words[0].startswith("BF") or client("EXISTS", "key") == 0


def check_clients_that_go_between_pieces():
    server = Server("--appendonly", "yes", module_options=AT_ONCE)
    client = server.client()
    for _ in range(20):
        client("DEL", "key")
        client("BF.RESERVE", "key", "0.01", 1_000_000)
        going = server.client()
        going.send("BF.MADD", "key", *many(0, 50_000))
        wait_for("a piece", lambda: client("BF.CARD", "key") > 0)
        going.close()
        wait_for("the end", lambda: blocked(client) == 0)
        time.sleep(0.01)
        count = client("BF.CARD", "key")
        if 0 < count < 49_000:
            before = client("DEBUG", "DIGEST")
            server.restart()
            assert server.client()("DEBUG", "DIGEST") == before
            return
    raise AssertionError("the client never went before all was done")


def check_transactions_and_scripts_take_all_at_once():
    client = Server(module_options=AT_ONCE).client()
    client("MULTI")
    client("BF.MADD", "key", *many())
    client("PETAL.RESERVE", "petal", "blocked", ITEMS, "0.01")
    client("PETAL.MADD", "petal", *many())
    added, _, others = client("EXEC")
    assert len(added) == len(others) == ITEMS
    assert client("EVAL", "return redis.call('BF.MEXISTS', 'key', unpack(ARGV))", 1, "key", *many()) == [1] * ITEMS


def check_copies_share_until_one_changes():
    """Also where both are changed at the same time, one goes, or all is done in one piece."""
    for options in ((), AT_ONCE):
        server = Server(module_options=options)
        client = server.client()
        for make, add, ask in (
            (("PETAL.RESERVE", "a", "blocked", 10_000_000, "0.01"), "PETAL.ADD", "PETAL.EXISTS"),
            (("BF.RESERVE", "a", "0.01", 10_000_000), "BF.ADD", "BF.EXISTS"),
            (("CF.RESERVE", "a", 10_000_000), "CF.ADD", "CF.EXISTS"),
            (("BF.RESERVE", "a", "0.01", 10), "BF.ADD", "BF.EXISTS"),
        ):
            client("FLUSHALL")
            wait_for("memory", lambda: used(client) < 5_000_000)
            client(*make)
            client(add, "a", "both")
            alone = used(client)
            assert client("COPY", "a", "b") == 1 and client("COPY", "b", "c") == 1
            usage = client("MEMORY", "USAGE", "a")
            # The key's name, which the server adds, has 16 bytes more at times where its memory is libc's.
            assert abs(client("MEMORY", "USAGE", "c") - usage) < 64
            if usage > 1 << 20:
                assert used(client) - alone < 1 << 20
            writers = [server.client() for _ in "ab"]
            for writer, key in zip(writers, "ab"):
                writer.send(add, key, f"only {key}")
            assert [writer.read() for writer in writers] == [1, 1]
            found = {key: [client(ask, key, item) for item in ("both", "only a", "only b")] for key in "abc"}
            assert found == {"a": [1, 1, 0], "b": [1, 0, 1], "c": [1, 0, 0]}, found
            assert abs(client("MEMORY", "USAGE", "b") - usage) < 200
            if usage > 1 << 20:
                # The allocator has its own sizes.
                taken = used(client) - alone - 2 * usage
                assert -(1 << 20) < taken < (1 << 20) + usage // 2, (used(client), alone, usage)
            # The last that shares a value has it alone.
            client("DEL", "a", "b")
            assert client(add, "c", "more") == 1 and client(ask, "c", "both") == 1
            # In a transaction a separate value is made immediately.
            client("COPY", "c", "d")
            client("MULTI")
            client(add, "d", "in d")
            assert client("EXEC") == [1] and client(ask, "d", "in d") == 1 and client(ask, "c", "in d") == 0


def used(client):
    (line,) = [line for line in client("INFO", "memory").split(b"\r\n") if line.startswith(b"used_memory:")]
    return int(line.split(b":")[1])


def check_tables_are_compacted_beside():
    """The same as in one piece, and the same on a replica."""
    dumped = []
    for options in ((), AT_ONCE):
        primary, replica = Server(tcp=True, module_options=options), Server(tcp=True)
        client, other = primary.client(), replica.client()
        other("REPLICAOF", "127.0.0.1", primary.port)
        wait_for("a replica", lambda: b"master_link_status:up" in other("INFO", "replication"))
        for key in ("compacted", "deleted"):
            client("CF.RESERVE", key, 500)
            for first in range(0, ITEMS, 250):
                client("CF.INSERT", key, "ITEMS", *many(first, 250))
        for i in range(300):
            client("CF.DEL", "compacted", f"item {i}")
        assert client("CF.COMPACT", "compacted") == "OK"
        assert [client("CF.DEL", "deleted", item) for item in many()].count(1) == ITEMS
        assert client("CF.DEL", "deleted", "never") == 0 and client("CF.DEL", "missing", "x") == "Not found"
        assert client("CF.COMPACT", "missing") == "Cuckoo filter was not found"
        assert client("WAIT", 1, 60000) == 1 or not client("SET", "last", 1) or client("WAIT", 1, 60000) == 1
        state = [dumps.whole(client, key) for key in ("compacted", "deleted")]
        assert state == [dumps.whole(other, key) for key in ("compacted", "deleted")]
        dumped.append(state)
    assert dumped[0] == dumped[1]


def check_deleted_filters_go_beside():
    """Memory comes back by and by, however a key goes, and eviction gives back what it says."""
    server = Server("--maxmemory-policy", "volatile-ttl", "--maxmemory-samples", 64)
    client = server.client()
    before = used(client)
    for remove in (("DEL", "key"), ("UNLINK", "key"), ("SET", "key", "x"), ("PEXPIRE", "key", 1), ("FLUSHALL", "SYNC"),
                   ("RENAME", "other", "key")):
        client("SET", "other", "x")
        client("BF.RESERVE", "key", "0.01", 30_000_000)
        assert used(client) > before + 30_000_000
        client(*remove)
        # An expired key goes when it is asked for.
        wait_for(f"memory after {remove}", lambda: client("EXISTS", "key") < 2 and used(client) < before + 2_000_000)
        client("DEL", "key")
    # Every page of it is there, so that giving it back takes a while.
    client("PETAL.RESERVE", "filter", "blocked", 100_000_000, "0.01")
    client("PETAL.MERGE", "evicted", "filter")
    client("EXPIRE", "evicted", 1000)
    for i in range(60):
        client("SET", f"small {i}", "x", "EX", 100_000)
    client("CONFIG", "SET", "maxmemory", used(client) - 1_000_000)
    client("SET", "more", "x")
    # The filter gives back what it has before others go.
    assert client("EXISTS", "evicted") == 0 and client("DBSIZE") > 40, client("DBSIZE")


def check_the_budget_is_configured():
    servers.needs(7, 0)
    server = Server("--petal.budget", "7", module_options=("BUDGET", "9"))
    client = server.client()
    assert client("CONFIG", "GET", "petal.budget") == [b"petal.budget", b"7"]
    assert client("CONFIG", "SET", "petal.budget", 0) == "OK" and client("CONFIG", "GET", "petal.budget")[1] == b"0"
    for wrong in (-1, 60_001, "x"):
        assert isinstance(client("CONFIG", "SET", "petal.budget", wrong), Error)
    # How much is given in one piece follows the budget.
    client("BF.RESERVE", "key", "0.01", 30_000_000)
    sizes = []
    for budget in (0, 2, 5, 60_000):
        client("CONFIG", "SET", "petal.budget", budget)
        sizes.append(len(client("BF.SCANDUMP", "key", 1)[1]))
    assert sizes == [1 << 16, 1_000_000, 2_500_000, 16 << 20], sizes
    assert Server(module_options=("BUDGET", "9")).client()("CONFIG", "GET", "petal.budget")[1] == b"9"


def check_reading_writes_nothing():
    """A fork for persistence shares all memory with the server as long as nobody writes: asking does not."""
    servers.needs(7, 0)
    server = Server("--rdb-key-save-delay", "200000")
    client = server.client()
    items = many(0, 20_000)
    kinds = client("PETAL.KINDS")[::2]
    for kind in kinds:
        if not isinstance(client("PETAL.RESERVE", kind, kind, 2_000_000, "0.01"), Error):
            client("PETAL.MADD", kind, *items)
    client("BF.RESERVE", "bf", "0.01", 5_000_000)
    client("CF.RESERVE", "cf", 5_000_000)
    client("BF.MADD", "bf", *items)
    client("CF.INSERT", "cf", "ITEMS", *items)
    keys = client("KEYS", "*")
    total = sum(client("MEMORY", "USAGE", key) for key in keys)
    # A first time, so that buffers of the server's and the allocator's are there.
    asked = lambda: [client(f"{'PETAL' if key not in (b'bf', b'cf') else key.decode().upper()}.MEXISTS", key, *items)
                     for key in keys]
    asked()
    assert client("BGSAVE").startswith("Background saving started")
    assert b"rdb_bgsave_in_progress:1" in client("INFO", "persistence")
    asked()
    assert b"rdb_bgsave_in_progress:1" in client("INFO", "persistence"), "the fork ended before all was asked"
    written = private(server.process.pid)
    assert written < total / 4 and written < 40 << 20, (written, total)


def private(pid):
    """How many bytes of a process nobody shares, and were written."""
    lines = open(f"/proc/{pid}/smaps_rollup").read().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))


