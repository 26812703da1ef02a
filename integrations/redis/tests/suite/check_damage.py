"""Bytes from anywhere are an error or a filter, and never the end of the server."""

import random

import dumps
from client import Error
from server import Server


def use(client, key):
    """Everything that looks at a filter or changes one."""
    of = "CF" if client("TYPE", key) == "MBbloomCF" else "BF"
    for words in (("EXISTS", key, "x"), ("MEXISTS", key, *range(20)), ("INFO", key), ("DEBUG", key), ("ADD", key, "y"),
                  ("INSERT", key, "ITEMS", *range(60)), ("SCANDUMP", key, 0), ("SCANDUMP", key, 1)):
        client(f"{of}.{words[0]}", *words[1:])
    for words in (("BF.CARD", key), ("CF.COUNT", key, "x"), ("CF.DEL", key, "y"), ("CF.COMPACT", key),
                  ("CF.DEL", key, 1), ("MEMORY", "USAGE", key), ("DEBUG", "DIGEST-VALUE", key), ("DUMP", key)):
        client(*words)


def damaged(generator, data):
    data = bytearray(data)
    for _ in range(generator.choice((1, 1, 1, 2, 4))):
        what = generator.randrange(5)
        at = generator.randrange(len(data))
        if what == 0:
            data[at] ^= 1 << generator.randrange(8)
        elif what == 1:
            data[at] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif what == 2:
            size = generator.choice((4, 8))
            data[at : at + size] = generator.choice((bytes(size), b"\xff" * size, generator.randbytes(size)))
        elif what == 3:
            del data[at : at + generator.randrange(1, 9)]
        else:
            data[at:at] = generator.randbytes(generator.randrange(1, 9))
        if not data:
            return b"\x00"
    return bytes(data)


def check_damaged_dumps():
    server = Server("--rdbcompression", "no", "--maxmemory", "1gb")
    client = server.client()
    generator = random.Random(15)
    client("BF.ADD", "bf", "x")
    version = client("DUMP", "bf")[-10:-8]
    taken = {sort: 0 for sort in (*dumps.SORTS, dumps.Object)}
    for _ in range(4000):
        sort = generator.choice((dumps.Chain, dumps.Chain, dumps.Cuckoo, dumps.Object))
        name, *_ = generator.choice(sort.VECTORS[:4])
        body = sort.vector(name).body() + b"\x00"
        # Most of a filter is its array, any bytes of which are one: most damage is to what is before.
        head = generator.choice((60, 60, 120, len(body)))
        data = dumps.sealed(body[:10] + damaged(generator, body[10:head]) + body[head:] + version)
        reply = client("RESTORE", "fuzzed", 0, data, "REPLACE")
        if not isinstance(reply, Error):
            taken[sort] += 1
            use(client, "fuzzed")
    assert min(taken.values()) > 50, taken


def check_damaged_chunks():
    client = Server("--maxmemory", "1gb").client()
    generator = random.Random(16)
    taken = {sort: 0 for sort in dumps.SORTS}
    for _ in range(4000):
        sort = generator.choice((dumps.Chain, dumps.Chain, dumps.Cuckoo))
        of = sort.COMMANDS
        name, _, _ = generator.choice(sort.VECTORS[:4])
        filter_ = sort.vector(name)
        client("DEL", "fuzzed")
        header = damaged(generator, filter_.header) if generator.randrange(4) else filter_.header
        reply = client(f"{of}.LOADCHUNK", "fuzzed", 1, header)
        if isinstance(reply, Error):
            continue
        taken[sort] += 1
        for _ in range(4):
            iterator = generator.choice((generator.randrange(600), generator.randrange(1 << 63), -5))
            client(f"{of}.LOADCHUNK", "fuzzed", iterator, generator.randbytes(generator.randrange(200)))
        use(client, "fuzzed")
    assert min(taken.values()) > 250, taken


def check_damaged_objects():
    """Of valkey-bloom, which come in one command."""
    client = Server("--maxmemory", "1gb").client()
    generator = random.Random(17)
    taken = 0
    for _ in range(4000):
        data = dumps.Object.vector(generator.choice(dumps.Object.VECTORS)[0]).data
        # Any bytes are an array: most damage is to what is before.
        head = generator.choice((40, 80, len(data)))
        client("DEL", "fuzzed")
        if not isinstance(client("BF.LOAD", "fuzzed", damaged(generator, data[:head]) + data[head:]), Error):
            taken += 1
            use(client, "fuzzed")
    assert taken > 250, taken


def check_headers_that_lie():
    client = Server().client()
    chain = dumps.Chain.vector("10-40")
    for at, value in ((0, b"\xff" * 8), (8, b"\xff" * 4), (12, b"\xff" * 4), (20, bytes(8)), (28, b"\xff" * 8),
                      (44, bytes(8)), (52, b"\xff" * 8), (60, b"\xff" * 4), (64, bytes(8)), (72, b"\x40")):
        header = bytearray(chain.header)
        header[at : at + len(value)] = value
        reply = client("BF.LOADCHUNK", "lying", 1, bytes(header))
        assert reply == "ERR received bad data", (at, reply)
    for size in range(len(chain.header)):
        assert client("BF.LOADCHUNK", "short", 1, chain.header[:size]) == "ERR received bad data"
    # As many bytes as no machine has, in a header that is sound.
    header = bytearray(chain.header[:20 + 53])
    header[8] = 1
    header[:8] = header[36:44] = bytes(8)
    header[20:28], header[28:36] = (1 << 50).to_bytes(8, "little"), (1 << 53).to_bytes(8, "little")
    assert client("BF.LOADCHUNK", "lying", 1, bytes(header)) == "ERR received bad data"
    # Links that say together more keys than there are numbers.
    client("BF.RESERVE", "grown", "0.01", 5)
    client("BF.MADD", "grown", *range(50))
    header = bytearray(client("BF.SCANDUMP", "grown", 0)[1])
    client("DEL", "grown")
    header[0:8] = header[36:44] = b"\xff" * 8
    assert client("BF.LOADCHUNK", "lying", 1, bytes(header)) == "ERR received bad data"
    assert client("KEYS", "*") == []


def check_headers_of_cuckoo_filters_that_lie():
    client = Server().client()
    header = dumps.Cuckoo.vector("32-100").header
    assert client("CF.LOADCHUNK", "sound", 1, header) == "OK"
    for at, value in ((0, b"\xff" * 8), (8, bytes(8)), (8, b"\3"), (8, b"\xff" * 8), (14, b"\1"), (24, bytes(8)),
                      (24, b"\xff" * 8), (24, b"\0\0\1"), (24, b"\60"), (32, b"\0\0"), (32, b"\0\1"),
                      (36, b"\0\0"), (36, b"\3\0")):
        lying = bytearray(header)
        lying[at : at + len(value)] = value
        reply = client("CF.LOADCHUNK", "lying", 1, bytes(lying))
        assert reply == "Couldn't create filter!", (at, value, reply)
    for size in range(len(header)):
        assert client("CF.LOADCHUNK", "short", 1, header[:size]) == "Invalid header"
    assert client("KEYS", "*") == [b"sound"]
