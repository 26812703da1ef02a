"""The module as a guest: memory, flags, categories, and who is there already."""

import server as servers
from client import Error
from server import Server, wait_for

READING = {"BF": {"CARD", "DEBUG", "EXISTS", "INFO", "MEXISTS", "SCANDUMP"},
           "CF": {"COUNT", "DEBUG", "EXISTS", "INFO", "MEXISTS", "SCANDUMP"},
           "PETAL": {"COUNT", "ESTIMATE", "EXISTS", "EXPORT", "INFO", "MAPGET", "MCOUNT", "MEXISTS"}}
ADDING = {"BF": {"ADD", "INSERT", "LOADCHUNK", "MADD", "RESERVE"},
          "CF": {"ADD", "ADDNX", "INSERT", "INSERTNX", "LOADCHUNK", "RESERVE"},
          "PETAL": {"ADD", "IMPORT", "INTERSECT", "MADD", "MAPPUT", "MERGE", "REJUVENATE", "RESERVE"}}
CHANGING = {"BF": set(), "CF": {"DEL", "COMPACT"}, "PETAL": {"ADVANCE", "CLEAR", "MAPREPLACE", "REMOVE"}}


def memory(client):
    lines = client("INFO", "memory").split(b"\r\n")
    return {line.split(b":")[0].decode(): line.split(b":")[1] for line in lines if b":" in line}


def check_memory_is_the_servers():
    client = Server().client()
    client("BF.ADD", "warm", "up")
    before = int(memory(client)["used_memory"])
    client("BF.RESERVE", "large", "0.01", 100_000_000)
    after = int(memory(client)["used_memory"])
    usage = client("MEMORY", "USAGE", "large")
    stated = client("BF.INFO", "large", "SIZE")[0]
    # The allocator has its own sizes, and the client's buffers are the server's memory as well.
    assert usage - 200_000 < after - before < usage * 1.25 + 200_000, (before, after, usage)
    assert stated <= usage < stated + 200, (stated, usage)
    before = int(memory(client)["used_memory"])
    for i in range(3000):
        client("BF.RESERVE", f"many{i}", "0.01", 1 + i)
        client("BF.ADD", f"many{i}", "x")
    difference = int(memory(client)["used_memory"]) - before
    usage = sum(client("MEMORY", "USAGE", f"many{i}") for i in range(3000))
    # The dictionary of keys belongs to no key.
    assert usage < difference < usage * 1.25 + 100 * 3000, (usage, difference)
    client("DEL", *(f"many{i}" for i in range(3000)))
    before = int(memory(client)["used_memory"])
    client("BF.RESERVE", "grows", "0.01", 10)
    sizes = []
    for i in range(0, 3000, 100):
        client("BF.MADD", "grows", *(f"g{j}" for j in range(i, i + 100)))
        sizes.append(client("MEMORY", "USAGE", "grows"))
    links = client("BF.INFO", "grows", "FILTERS")[0]
    stated = client("BF.INFO", "grows", "SIZE")[0]
    assert len(set(sizes)) <= links and sizes == sorted(sizes), sizes
    assert stated < sizes[-1] < stated + 200 + 20 * links, (stated, sizes[-1])
    gone = client("MEMORY", "USAGE", "large")
    client("DEL", "large", "grows")
    wait_for("the memory", lambda: int(memory(client)["used_memory"]) < before - gone + 200_000)


def check_large_filters_are_freed_by_another_thread():
    client = Server().client()
    client("BF.RESERVE", "large", "0.01", 50_000_000)
    client("BF.RESERVE", "small", "0.01", 50)
    client("UNLINK", "large", "small")
    wait_for("the thread", lambda: memory(client)["lazyfree_pending_objects"] == b"0")
    assert memory(client)["lazyfreed_objects"] == b"1", memory(client)


def check_maxmemory_is_respected():
    client = Server("--maxmemory", "100mb").client()
    assert client("BF.RESERVE", "too large", "0.01", 100_000_000) == "ERR Insufficient memory to create filter"
    assert client("BF.RESERVE", "fits", "0.01", 1_000_000) == "OK"
    assert client("BF.RESERVE", "just", "0.01", 75_800_000) == "OK"
    refused = client("BF.ADD", "fits", "x")
    assert isinstance(refused, Error) and refused.startswith("OOM "), refused
    for words in (("BF.MADD", "fits", "x"), ("BF.RESERVE", "x", "0.1", 3), ("BF.INSERT", "x", "ITEMS", "a"),
                  ("BF.LOADCHUNK", "x", 1, "x")):
        assert client(*words).startswith("OOM "), words
    assert client("BF.EXISTS", "fits", "x") == 0
    client("DEL", "just")
    wait_for("memory", lambda: client("BF.ADD", "fits", "x") == 1)


def check_commands_say_what_they_do():
    servers.needs(7, 0)
    client = Server().client()
    for of, name in [(of, name) for sort in (READING, ADDING, CHANGING) for of in sort for name in sorted(sort[of])]:
        (info,) = client("COMMAND", "INFO", f"{of}.{name}")
        flags = set(info[2])
        assert info[3:6] == [1, -1 if name in ("MERGE", "INTERSECT", "ESTIMATE") else 1, 1], info
        assert ("denyoom" in flags) == (name in ADDING[of]), info
        assert ("write" in flags) == (name in ADDING[of] | CHANGING[of]), info
        assert ("readonly" in flags) == (name in READING[of]), info
        keys = client("COMMAND", "GETKEYS", f"{of}.{name}", "key", "x", "y", "z")
        assert keys in ([b"key"], [b"key", b"x", b"y", b"z"]) or isinstance(keys, Error), keys
        (_, documents) = client("COMMAND", "DOCS", f"{of}.{name}")
        assert b"summary" in documents and b"complexity" in documents and b"since" in documents
        # From 7.2 on modules say theirs.
        category = "@write" if name in ADDING[of] | CHANGING[of] - {"COMPACT"} else "@read"
        assert servers.version() < (7, 2) or category in info[6], info
    # All that there are, valkey-bloom's own one, and two that are of no key.
    there = {name.decode().upper() for name in client("COMMAND", "LIST", "FILTERBY", "MODULE", "petal")}
    named = {f"{of}.{name}" for sort in (READING, ADDING, CHANGING) for of in sort for name in sort[of]}
    assert there == named | {"BF.LOAD", "PETAL.KINDS", "PETAL.HELP"}, there ^ named
    assert b"summary" in client("COMMAND", "DOCS", "PETAL.KINDS")[1]
    client("ACL", "SETUSER", "reader", "on", "nopass", "~f:*", "+bf.exists", "+bf.mexists")
    client("BF.ADD", "f:1", "x")
    client("AUTH", "reader", "any")
    assert client("BF.EXISTS", "f:1", "x") == 1
    assert client("BF.ADD", "f:1", "x").startswith("NOPERM")
    assert client("BF.EXISTS", "other", "x").startswith("NOPERM")


def check_memory_is_exact_after_every_verb():
    """What the server has more after each command is what MEMORY USAGE says more, and it goes with the keys."""
    items = [f"item {i}" for i in range(5000)]
    redisblooms = (("BF.RESERVE", "k", "0.01", 100), ("BF.MADD", "k", *items), ("BF.INSERT", "k", "ITEMS", *items),
                   ("COPY", "k", "c"), ("BF.ADD", "c", "more"), ("DEL", "k", "c"),
                   ("CF.RESERVE", "k", 1000), ("CF.INSERT", "k", "ITEMS", *items), ("CF.DEL", "k", "item 1"),
                   *(("CF.DEL", "k", item) for item in items[2:2000]), ("CF.COMPACT", "k"), ("COPY", "k", "c"),
                   ("CF.DEL", "c", "item 4000"), ("DEL", "k", "c"))
    for options in ((), ("BUDGET", "0")):
        # The log of slow commands has parts of their arguments, and a slow machine writes more of them.
        server = Server("--slowlog-log-slower-than", -1, module_options=options)
        client = server.client()
        kinds = client("PETAL.KINDS")[::2]
        walks = [(("PETAL.RESERVE", "k", kind, 20_000, "0.01"), ("PETAL.MADD", "k", *items),
                  ("PETAL.REMOVE", "k", *items[:2000]), ("PETAL.REJUVENATE", "k", *items[2000:]),
                  ("PETAL.ADVANCE", "k"), ("COPY", "k", "c"), ("PETAL.ADD", "c", "x"), ("PETAL.MERGE", "k", "c"),
                  ("PETAL.INTERSECT", "k", "c"), ("PETAL.MERGE", "m", "k"), ("PETAL.CLEAR", "k"),
                  ("PETAL.MADD", "k", *items * 3),
                  ("PETAL.EXPORT", "k", 0), ("DEL", "k"), ("DEL", "c", "m")) for kind in kinds]
        # The first turn makes what stays: the server's times of each command, and buffers of the work outside its
        # thread.
        for turn in range(2):
            for walk in (*walks, redisblooms):
                before = settled(client) if turn else 0
                for words in walk:
                    does(server, *words)
                    if turn:
                        exact(client, before, words)


def does(server, *words):
    """On a separate connection: when it is closed, what the server has for its commands and replies goes at once, and
    not some time later."""
    connection = server.client()
    connection(*words)
    connection.close()


def usage(client):
    """What the server has when nobody else is there any more."""
    wait_for("others", lambda: b"\r\nconnected_clients:1\r\n" in client("INFO", "clients"))
    return int(memory(client)["used_memory"])


def settled(client):
    """What the server has when nothing that was deleted waits to be freed any more: the same in five looks."""
    looks = []

    def same():
        looks.append(usage(client))
        return len(looks) >= 5 and max(looks[-5:]) - min(looks[-5:]) < 1000

    wait_for("memory that stays", same)
    return looks[-1]


def exact(client, before, words):
    stated = {key: client("MEMORY", "USAGE", key) for key in client("KEYS", "*")}
    # A copy that nobody has changed shares what it has.
    sums = sum(stated.values()), sum(stated.values()) - stated.get(b"c", 0)
    # What is freed outside the server's thread goes later; entries of the server's dictionaries belong to no key.
    wait_for((words[:4], sums, usage(client) - before),
             lambda: min(abs(usage(client) - before - each) for each in sums) < 100_000)


def check_it_does_not_load_beside_redisbloom():
    """A server in which a command is called BF.ADD stands for one that has RedisBloom."""
    for renamed in ("BF.ADD", "BF.RESERVE", "CF.ADD"):
        server = Server("--rename-command", "GETDEL", renamed, module=False)
        client = server.client()
        refused = client("MODULE", "LOAD", servers.MODULE)
        assert isinstance(refused, Error), refused
        assert f"there is a command {renamed.lower()} already" in server.log(), server.log()
        assert client("SET", "a", "b") == "OK" and all(one[1] in servers.BUILT_IN for one in client("MODULE", "LIST"))
        assert client("BF.EXISTS", "a", "b").startswith("ERR unknown command")


def check_arguments_of_the_module():
    for options in (("ERROR_RATE", "2"), ("ERROR_RATE",), ("INITIAL_SIZE", "0"), ("WHATEVER", "1"),
                    ("BUDGET", "x"), ("BUDGET", "-1"), ("BUDGET", "60001")):
        server = Server(module=False)
        refused = server.client()("MODULE", "LOAD", servers.MODULE, *options)
        assert isinstance(refused, Error), options
        assert "petal is not loaded: the argument " in server.log(), server.log()


def check_the_installed_configuration():
    (configuration,) = servers.PREFIX.glob("share/**/petal-redis.conf")
    server = Server("--include", configuration, module=False)
    assert server.client()("BF.ADD", "a", "b") == 1
    assert list(servers.PREFIX.glob("share/man/man7/petal-redis.7"))


def check_redis_py():
    try:
        import redis
    except ImportError:
        raise servers.Unavailable("there is no redis-py") from None
    # Modules have the types of RESP3 from Redis 7.0 on.
    for protocol in (2, 3) if servers.version() >= (7, 0) else (2,):
        server = Server()
        bf = redis.Redis(unix_socket_path=str(server.path), protocol=protocol).bf()
        assert bf.create("a", 0.01, 1000)
        assert bf.add("a", "x") == 1 and bf.madd("a", "x", "y") == [0, 1]
        assert bf.insert("b", ["p", "q"], capacity=10, error=0.1) == [1, 1]
        assert bf.exists("a", "x") == 1 and bf.mexists("a", "x", "no") == [1, 0]
        assert bf.card("a") == 2
        info = bf.info("a")
        assert 1000 in (info.values() if isinstance(info, dict) else (info.capacity,)), info
        iterator = 0
        while True:
            iterator, data = bf.scandump("b", iterator)
            if iterator == 0:
                break
            assert bf.loadchunk("c", iterator, data)
        assert bf.mexists("c", "p", "q", "no") == [1, 1, 0]
        cf = redis.Redis(unix_socket_path=str(server.path), protocol=protocol).cf()
        assert cf.create("d", 1000, expansion=1, bucket_size=2, max_iterations=16)
        assert cf.add("d", "x") == 1 and cf.addnx("d", "x") == 0 and cf.insert("d", ["x", "y"]) == [1, 1]
        assert cf.insertnx("e", ["x", "x", "y"], capacity=1000) == [1, 0, 1]
        assert cf.count("d", "x") == 2 and cf.exists("d", "no") == 0 and cf.mexists("d", "x", "no") == [1, 0]
        assert cf.delete("d", "x") == 1 and cf.count("d", "x") == 1
        info = cf.info("d")
        assert 512 in (info.values() if isinstance(info, dict) else (info.bucketNum,)), info
