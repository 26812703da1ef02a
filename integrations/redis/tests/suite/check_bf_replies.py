"""What BF.* reply, compared with RedisBloom's documents and tests."""

from client import Error, Simple
from replies import WRONG_TYPE, arity, same, table
from server import Server, needs

FULL = "ERR non scaling filter is full"


def check_making_and_adding():
    client = Server().client()
    table(client, [
        ("BF.RESERVE a 0.05 1000", Simple("OK")),
        ("BF.MADD a foo bar baz", [1, 1, 1]),
        ("BF.EXISTS a foo", 1),
        ("BF.EXISTS a absent", 0),
        ("BF.ADD new foo", 1),
        ("BF.ADD new foo", 0),
        ("BF.MADD new foo bar", [0, 1]),
        ("BF.MEXISTS new foo bar absent", [1, 1, 0]),
        ("BF.EXISTS missing foo", 0),
        ("BF.MEXISTS missing foo bar baz", [0, 0, 0]),
        ("BF.CARD missing", 0),
        ("BF.CARD new", 2),
        ("BF.INSERT ins ERROR 0.001 CAPACITY 50000 EXPANSION 2 ITEMS foo", [1]),
        ("BF.DEBUG ins", [b"size:1",
                          b"bytes:98880 bits:791040 hashes:11 hashwidth:64 capacity:50000 size:1 ratio:0.0005"]),
        ("BF.INSERT ins ERROR 0.1 ITEMS foo bar baz", [0, 1, 1]),
        ("BF.INSERT missing NOCREATE ITEMS foo", Error("ERR not found")),
        ("BF.INSERT two capacity 7 items ITEMS items", [1, 1]),
        ("TYPE a", Simple("MBbloom--")),
    ])


def check_information():
    server = Server()
    client = server.client()
    table(client, [
        ("BF.RESERVE bf 0.001 100", Simple("OK")),
        ("BF.INFO bf", ["Capacity", 100, "Size", 296, "Number of filters", 1, "Number of items inserted", 0,
                        "Expansion rate", 2]),
        ("BF.INFO bf capacity", [100]),
        ("BF.INFO bf SIZE", [296]),
        ("BF.INFO bf filters", [1]),
        ("BF.INFO bf items", [0]),
        ("BF.INFO bf expansion", [2]),
        ("BF.INFO bf capacity size", arity("bf.info")),
        ("BF.INFO bf wrong", Error("Invalid information value")),
        ("BF.INFO missing", Error("ERR not found")),
        ("BF.DEBUG missing", Error("ERR not found")),
        ("BF.RESERVE large 0.000001 300000000", Simple("OK")),
        ("BF.INFO large size", [1132420232]),
        ("BF.INSERT ns CAPACITY 3 NONSCALING ITEMS a b c", [1, 1, 1]),
        ("BF.INFO ns", ["Capacity", 3, "Size", 104, "Number of filters", 1, "Number of items inserted", 3,
                        "Expansion rate", None]),
    ])
    for i in range(4000):
        client("BF.ADD", "grown", i) if i else client("BF.RESERVE", "grown", "0.001", "100")
    lines = client("BF.DEBUG", "grown")
    assert lines[1] == b"bytes:200 bits:1600 hashes:11 hashwidth:64 capacity:100 size:100 ratio:0.0005", lines
    assert lines[5].startswith(b"bytes:4320 bits:34560 hashes:15 hashwidth:64 capacity:1600 size:1600"), lines
    assert lines[6].endswith(b" ratio:1.5625e-05"), lines


def check_chains_grow_as_documented():
    client = Server().client()
    for key, expansion, links in (("exp1", 1, 23), ("exp2", 2, 5), ("exp4", 4, 4)):
        client("BF.RESERVE", key, "0.01", 4, "EXPANSION", expansion)
        for i in range(100):
            client("BF.ADD", key, i)
        same(client("BF.MEXISTS", key, *range(100)), [1] * 100)
        same(client("BF.INFO", key)[5], links)


def check_full_filters():
    client = Server().client()
    table(client, [
        ("BF.RESERVE bf 0.01 3 NONSCALING", Simple("OK")),
        ("BF.MADD bf a b c", [1, 1, 1]),
        ("BF.ADD bf d", Error(FULL)),
        ("BF.ADD bf a", 0),
        ("BF.MADD bf a d b", [0, Error(FULL)]),
        ("BF.INSERT bf ITEMS a b c d d", [0, 0, 0, Error(FULL)]),
        ("BF.CARD bf", 3),
        ("BF.RESERVE both 0.01 2 NONSCALING EXPANSION 0", Simple("OK")),
        ("BF.RESERVE first 0.01 2 EXPANSION 3 EXPANSION", Simple("OK")),
        ("BF.INFO first expansion", [3]),
        # A greater rate is this one.
        ("BF.RESERVE often 0.9 100 NONSCALING", Simple("OK")),
        ("BF.DEBUG often", [b"size:0", b"bytes:40 bits:320 hashes:3 hashwidth:64 capacity:100 size:0 ratio:0.25"]),
        ("BF.RESERVE zero 0.01 2 EXPANSION 0", Simple("OK")),
        ("BF.MADD zero a b c", [1, 1, Error(FULL)]),
        ("BF.INFO zero expansion", [None]),
    ])


def check_a_link_that_cannot_be_had():
    client = Server("--maxmemory", "50mb").client()
    # The link that follows would take more than there may be, whatever expansion makes of it.
    client("BF.RESERVE", "bf", "0.01", 30_000, "EXPANSION", 32768)
    for start in range(0, 30_000, 1000):
        client("BF.MADD", "bf", *range(start, start + 1000))
    i = next(i for i in range(30_000, 60_000) if isinstance(client("BF.ADD", "bf", i), Error))
    problem = Error("ERR problem inserting into filter")
    # Those that are there already are found.
    table(client, [(("BF.ADD", "bf", i), problem), (("BF.MADD", "bf", 1, i, 2, i), [0, problem, 0, problem]),
                   (("BF.INSERT", "bf", "ITEMS", i, 3), [problem, 0])])


def check_refusals():
    client = Server().client()
    client("SET", "text", "bar")
    client("BF.RESERVE", "bf", "0.01", "100")
    rate = "ERR error rate must be in the range (0.000000, 1.000000)"
    capacity = "ERR capacity must be in the range [1, 1073741824]"
    rows = [
        ("BF.RESERVE x", arity("bf.reserve")),
        ("BF.RESERVE x 0.001", arity("bf.reserve")),
        ("BF.RESERVE x 0.001 blah", Error("ERR bad capacity")),
        ("BF.RESERVE x 0.001 0", Error(capacity)),
        ("BF.RESERVE x 0.001 -5", Error(capacity)),
        ("BF.RESERVE x blah 1000", Error("ERR bad error rate")),
        ("BF.RESERVE x nan 1000", Error("ERR bad error rate")),
        ("BF.RESERVE x 0 100", Error(rate)),
        ("BF.RESERVE x 1 100", Error(rate)),
        ("BF.RESERVE x 7.7 100", Error(rate)),
        ("BF.RESERVE x 0.01 4 EXPANSION", Error("ERR no expansion")),
        ("BF.RESERVE x 0.01 4 EXPANSION str", Error("ERR bad expansion")),
        ("BF.RESERVE x 0.01 4 EXPANSION -1", Error("ERR expansion must be in the range [0, 32768]")),
        ("BF.RESERVE x 0.01 4 EXPANSION 32769", Error("ERR expansion must be in the range [0, 32768]")),
        ("BF.RESERVE x 0.01 4 NONSCALING EXPANSION 2", Error("Nonscaling filters cannot expand")),
        ("BF.RESERVE bf 0.01 4", Error("ERR item exists")),
        ("BF.RESERVE text 0.01 4", Error(WRONG_TYPE)),
        ("BF.RESERVE x 0.01 18446744073709551616", Error("ERR bad capacity")),
        ("BF.RESERVE x 0.01 1073741825", Error(capacity)),
        ("BF.RESERVE x 0.01 9223372036854775807", Error(capacity)),
        ("BF.RESERVE x 1e-300 1073741824", Error("ERR Insufficient memory to create filter")),
        ("BF.RESERVE x 0.01 4 EXPANSION 2 NONSCALING 1", arity("bf.reserve")),
        ("BF.RESERVE x 0.01 4 EXPANSION -1 EXPANSION", Error("ERR expansion must be in the range [0, 32768]")),
        ("BF.ADD text a", Error(WRONG_TYPE)),
        ("BF.MADD text a", Error(WRONG_TYPE)),
        ("BF.CARD text", Error(WRONG_TYPE)),
        ("BF.INFO text", Error(WRONG_TYPE)),
        ("BF.SCANDUMP text 0", Error(WRONG_TYPE)),
        ("BF.LOADCHUNK text 1 x", Error(WRONG_TYPE)),
        ("BF.EXISTS text a", 0),
        ("BF.MEXISTS text a b", [0, 0]),
        ("BF.INSERT x DONTEXIST ITEMS a", Error("Unknown argument received")),
        ("BF.INSERT x CAPACITY 0.3 ITEMS a", Error("Bad capacity")),
        ("BF.INSERT x CAPACITY", arity("bf.insert")),
        ("BF.INSERT x NOCREATE CAPACITY", arity("bf.insert")),
        ("BF.INSERT x NOCREATE ERROR", arity("bf.insert")),
        ("BF.INSERT x NOCREATE EXPANSION", arity("bf.insert")),
        ("BF.INSERT x CAPACITY 1073741825 ITEMS a", Error("Bad capacity")),
        ("BF.INSERT x ERROR big ITEMS a", Error("Bad error rate")),
        ("BF.INSERT x EXPANSION big ITEMS a", Error("Bad expansion")),
        ("BF.INSERT x NOCREATE ITEMS", arity("bf.insert")),
        ("BF.INSERT x NOCREATE NOCREATE", arity("bf.insert")),
        ("BF.SCANDUMP bf", arity("bf.scandump")),
        ("BF.SCANDUMP bf str", Error("Second argument must be numeric")),
        ("BF.SCANDUMP missing 0", Error("ERR not found")),
        ("BF.SCANDUMP bf -1", [0, b""]),
        ("BF.SCANDUMP bf 146", [0, b""]),
        ("BF.LOADCHUNK bf str data", Error("ERR Second argument must be numeric")),
        ("BF.LOADCHUNK missing 2 data", Error("ERR not found")),
        ("BF.LOADCHUNK missing 1 data", Error("ERR received bad data")),
        ("BF.LOADCHUNK bf 1 data", Error("ERR received bad data")),
        ("BF.LOADCHUNK bf -9223372036854775808 1", Error("ERR received bad data")),
        ("BF.LOADCHUNK bf 922337203685477588 1", Error("ERR invalid offset - no link found")),
        ("BF.LOADCHUNK bf 147 abcd", Error("ERR invalid chunk - Too big for current filter")),
    ]
    for command in ("ADD", "MADD", "EXISTS", "MEXISTS"):
        rows += [(f"BF.{command}", arity(f"bf.{command}")), (f"BF.{command} bf", arity(f"bf.{command}"))]
    rows += [("BF.EXISTS bf 1 2", arity("bf.exists")), ("BF.ADD bf 1 2", arity("bf.add"))]
    before = client("DEBUG", "DIGEST")
    table(client, rows)
    assert client("DEBUG", "DIGEST") == before and client("EXISTS", "x") == 0


def check_replies_of_resp3():
    needs(7, 0)
    client = Server().client(3)
    table(client, [
        ("BF.ADD bf item", True),
        ("BF.ADD bf item", False),
        ("BF.CARD bf", 1),
        ("BF.EXISTS bf item", True),
        ("BF.INFO bf", {"Capacity": 100, "Size": 240, "Number of filters": 1, "Number of items inserted": 1,
                        "Expansion rate": 2}),
        ("BF.INFO bf items", {"Number of items inserted": 1}),
        ("BF.INSERT bf ITEMS item2 item3 item2", [True, True, False]),
        ("BF.MADD bf item4 item5 item2", [True, True, False]),
        ("BF.MEXISTS bf item4 item5 item6", [True, True, False]),
        ("BF.RESERVE ns 0.01 1 NONSCALING", Simple("OK")),
        ("BF.INFO ns expansion", {"Expansion rate": None}),
        ("BF.MADD ns a b", [True, Error(FULL)]),
    ])


def check_many_items_are_as_one_by_one():
    """MADD looks at many items together; one at a time is what it has to be the same as."""
    client = Server().client()
    items = [f"item-{i * i % 1511}" for i in range(3000)]
    for key, options in (("a", ("0.01", 50)), ("b", ("0.001", 5000)), ("c", ("0.2", 700, "NONSCALING"))):
        client("BF.RESERVE", key + "1", *options)
        client("BF.RESERVE", key + "2", *options)
        ones = [client("BF.ADD", key + "1", item) for item in items]
        many = []
        for start in range(0, len(items), 700):
            part = client("BF.MADD", key + "2", *items[start : start + 700])
            # What follows a full filter's refusal was not tried.
            done = len(part) - isinstance(part[-1], Error)
            part = part[:done] + [client("BF.ADD", key + "2", item) for item in items[start + done : start + 700]]
            many += part
        same(many, ones)
        assert client("BF.SCANDUMP", key + "1", 0) == client("BF.SCANDUMP", key + "2", 0)
        assert client("DEBUG", "DIGEST-VALUE", key + "1") == client("DEBUG", "DIGEST-VALUE", key + "2")
        one_by_one = [client("BF.EXISTS", key + "1", item) for item in items]
        same(client("BF.MEXISTS", key + "1", *items), one_by_one)


def check_defaults_of_the_module():
    client = Server(module_options=("ERROR_RATE", "0.001", "INITIAL_SIZE", "1000")).client()
    client("BF.ADD", "a", "b")
    client("BF.RESERVE", "c", "0.001", "1000")
    assert client("BF.INFO", "a")[:4] == client("BF.INFO", "c")[:4]
