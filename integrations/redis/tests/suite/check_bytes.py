"""BF.* and CF.* keep RedisBloom's bytes: chunks, DUMP, and both ways."""

import dumps
from client import Simple
from server import Server


def check_chunks_are_those_of_redisbloom():
    client = Server().client()
    for sort in dumps.SORTS:
        of = sort.COMMANDS
        for name, reserve, count in sort.VECTORS:
            expected = list(sort.vector(name).chunks())
            keys = [f"key-{i}" for i in range(count)]
            for way in ("one", "many"):
                client("DEL", "filter")
                assert client(f"{of}.RESERVE", "filter", *reserve) == "OK"
                if way == "one":
                    for key in keys:
                        client(f"{of}.ADD", "filter", key)
                else:
                    client(f"{of}.INSERT", "filter", "ITEMS", *keys)
                assert dumps.scan(client, "filter", of) == expected, (of, name, way)
            # And back, in these chunks and in smaller ones.
            for size in (1 << 20, 7):
                client("DEL", "copy")
                header, *arrays = expected
                assert client(f"{of}.LOADCHUNK", "copy", *header) == "OK"
                for end, data in arrays:
                    for start in range(0, len(data), size):
                        piece = data[start : start + size]
                        at = end - len(data) + start + len(piece)
                        assert client(f"{of}.LOADCHUNK", "copy", at, piece) == "OK"
                assert dumps.scan(client, "copy", of) == expected
                assert client(f"{of}.MEXISTS", "copy", *keys) == [1] * count
                assert client("DEBUG", "DIGEST-VALUE", "copy") == client("DEBUG", "DIGEST-VALUE", "filter")


def check_dumps_are_those_of_redisbloom():
    client = Server("--rdbcompression", "no").client()
    for sort in dumps.SORTS:
        of = sort.COMMANDS
        for name, _, count in sort.VECTORS:
            filter_ = sort.vector(name)
            for iterator, data in filter_.chunks():
                client(f"{of}.LOADCHUNK", name, iterator, data)
            dump = client("DUMP", name)
            expected = filter_.dump(dump[-10:-8])
            assert dump == expected, (of, name, dump, expected)
            assert client("RESTORE", "restored", 0, expected, "REPLACE") == Simple("OK")
            assert dumps.scan(client, "restored", of) == list(filter_.chunks())
            client("CONFIG", "SET", "rdbcompression", "yes")
            assert client("RESTORE", "restored", 0, client("DUMP", name), "REPLACE") == Simple("OK")
            client("CONFIG", "SET", "rdbcompression", "no")
            assert dumps.scan(client, "restored", of) == list(filter_.chunks())
            assert client(f"{of}.MEXISTS", "restored", *(f"key-{i}" for i in range(count))) == [1] * count


def check_old_filters_go_on():
    """Filters of 32-bit hashes, and of places modulo a power of two, which RedisBloom itself makes no more."""
    client = Server().client()
    for options, n2 in ((1, 0), (0, 10)):
        chain = dumps.Chain.vector("100-10")
        link = chain.links[0]
        header = bytearray(chain.header)
        header[12] = options
        header[-1] = n2
        header[:8] = header[36:44] = bytes(8)
        assert client("BF.LOADCHUNK", f"old{n2}", 1, bytes(header)) == "OK"
        # More than a link takes, and fewer where no link of its sort follows.
        keys = [f"old-{i}" for i in range(90 if n2 else 300)]
        answers = client("BF.MADD", f"old{n2}", *keys)
        assert answers.count(1) > 0.95 * len(keys), answers
        assert client("BF.MEXISTS", f"old{n2}", *keys) == [1] * len(keys)
        assert dumps.whole(client, f"old{n2}")[12] == options and link["n2"] == 0
        absent = client("BF.MEXISTS", f"old{n2}", *(f"absent-{i}" for i in range(2000)))
        # Of a filter for a rate of 0.01.
        assert absent.count(1) < 60, absent.count(1)


def check_large_filters_come_in_chunks():
    """Of as many bytes as the budget has time for, and of RedisBloom's 16 MiB at the most."""
    for budget, most in ((2, 1_000_000), (60_000, 16 << 20)):
        in_chunks(Server(module_options=("BUDGET", budget)).client(), most)


def in_chunks(client, most):
    for of, how in (("BF", ("0.01", 30_000_000)), ("CF", (40_000_000,))):
        client("FLUSHALL")
        client(f"{of}.RESERVE", "large", *how)
        client(f"{of}.INSERT", "large", "ITEMS", *range(5000))
        chunks = dumps.scan(client, "large", of)
        sizes = [len(data) for _, data in chunks[1:]]
        assert len(sizes) > 2 and set(sizes[:-1]) == {most}, sizes
        for iterator, data in chunks:
            assert client(f"{of}.LOADCHUNK", "copy", iterator, data) == "OK"
        assert client("DEBUG", "DIGEST-VALUE", "copy") == client("DEBUG", "DIGEST-VALUE", "large")
