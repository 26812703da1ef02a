"""Bytes from anywhere are an error or a filter, and never the end of the server."""

import random

import dumps
from client import Error
from server import Server


def use(client, key):
    """Everything that looks at a filter or changes one."""
    for words in (("BF.EXISTS", key, "x"), ("BF.MEXISTS", key, *range(20)), ("BF.INFO", key), ("BF.DEBUG", key),
                  ("BF.CARD", key), ("BF.ADD", key, "y"), ("BF.MADD", key, *range(20)), ("MEMORY", "USAGE", key),
                  ("DEBUG", "DIGEST-VALUE", key), ("BF.SCANDUMP", key, 0), ("BF.SCANDUMP", key, 1), ("DUMP", key)):
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
    taken = 0
    version = None
    for round_ in range(4000):
        name, _, _ = generator.choice(dumps.VECTORS[:4])
        if version is None:
            client("BF.ADD", "bf", "x")
            version = client("DUMP", "bf")[-10:-8]
        body = dumps.Chain(dumps.vector(name)).dump(version)[:-10]
        # Most of a filter is its array, any bytes of which are one: most damage is to what is before.
        head = generator.choice((60, 60, 120, len(body)))
        data = dumps.sealed(body[:10] + damaged(generator, body[10:head]) + body[head:] + version)
        reply = client("RESTORE", "fuzzed", 0, data, "REPLACE")
        if not isinstance(reply, Error):
            taken += 1
            use(client, "fuzzed")
    assert taken > 100, taken
    client("FLUSHALL")


def check_damaged_chunks():
    client = Server("--maxmemory", "1gb").client()
    generator = random.Random(16)
    taken = 0
    for _ in range(4000):
        name, _, _ = generator.choice(dumps.VECTORS[:4])
        chain = dumps.Chain(dumps.vector(name))
        client("DEL", "fuzzed")
        header = damaged(generator, chain.header) if generator.randrange(4) else chain.header
        reply = client("BF.LOADCHUNK", "fuzzed", 1, header)
        if isinstance(reply, Error):
            continue
        taken += 1
        for _ in range(4):
            iterator = generator.choice((generator.randrange(600), generator.randrange(1 << 63), -5))
            client("BF.LOADCHUNK", "fuzzed", iterator, generator.randbytes(generator.randrange(200)))
        use(client, "fuzzed")
    assert taken > 500, taken


def check_headers_that_lie():
    client = Server().client()
    chain = dumps.Chain(dumps.vector("10-40"))
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
    assert client("BF.LOADCHUNK", "lying", 1, bytes(header)) == "ERR Insufficient memory to create filter"
    assert client("KEYS", "*") == []
