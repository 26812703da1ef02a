"""Memory: what filters take compared with RedisBloom's, and what happens to the gaps between them."""

import server as servers
from client import Error
from server import Server, wait_for

# Besides its arrays a value takes BESIDE bytes more than RedisBloom's, with the key's name and what the server has for
# it, and EACH bytes for each link or table.
BESIDE, EACH = 64, 8


def memory(client):
    lines = client("INFO", "memory").split(b"\r\n")
    return {line.split(b":")[0].decode(): line.split(b":")[1] for line in lines if b":" in line}


def check_filters_take_what_redisblooms_take():
    """BF.INFO and CF.INFO report what RedisBloom takes, to the byte."""
    client = Server().client()
    client("BF.ADD", "bf", "x")
    client("CF.ADD", "cf", "x")
    client("CF.RESERVE", "cf grown", 8)
    client("CF.INSERT", "cf grown", "ITEMS", *range(200))
    client("BF.RESERVE", "bf grown", "0.01", 10)
    client("BF.MADD", "bf grown", *range(2000))
    for exponent in range(3, 25, 3):
        client("CF.RESERVE", f"cf {exponent}", 2**exponent)
        client("BF.RESERVE", f"bf {exponent}", "0.01", 2**exponent)
    for key in client("KEYS", "*"):
        info = client(f"{key[:2].decode()}.INFO", key)
        size, tables = info[info.index("Size") + 1], info[info.index("Number of filters") + 1]
        usage = client("MEMORY", "USAGE", key)
        assert size <= usage <= size + BESIDE + EACH * tables, (key, size, usage)


def check_tables_of_a_power_of_two_are_no_more_than_that():
    client = Server().client()
    client("CF.ADD", "warm", "up")
    for exponent in (20, 24):
        before = int(memory(client)["used_memory"])
        client("CF.RESERVE", "cf", 2**exponent)
        taken = int(memory(client)["used_memory"]) - before
        assert 2**exponent <= taken < 2**exponent * 1.01 + 100_000, (exponent, taken)
        client("DEL", "cf")
        wait_for("the memory", lambda: int(memory(client)["used_memory"]) - before < 100_000)


def check_gaps_are_closed():
    """Every other one of many small filters goes: the server moves those that are left closer."""
    client = Server("--hz", 100, "--active-defrag-ignore-bytes", 1, "--active-defrag-threshold-lower", 0,
                    "--active-defrag-cycle-min", 99, "--active-defrag-cycle-max", 99).client()
    if isinstance(client("CONFIG", "SET", "activedefrag", "yes"), Error):
        raise servers.Unavailable("the server does not move memory")
    client("CONFIG", "SET", "activedefrag", "no")
    # Enough keys that the server's own gaps, which stay, are few compared with theirs.
    keys = [f"{of}{i}" for i in range(8_000) for of in ("bf", "cf", "grown")]
    for key in keys:
        if key.startswith("grown"):
            client("BF.RESERVE", key, "0.1", 5)
            client("BF.MADD", key, *range(20))
        else:
            client(f"{key[:2]}.ADD", key, "x")
    # What is copied, and what a thread has looked at, is moved or stays, but is never lost.
    client("COPY", "bf1", "bf1 copied")
    client("COPY", "cf1", "cf1 copied")
    kept = [key for i, key in enumerate(keys) if i // 3 % 2]
    for i, key in enumerate(keys):
        if not i // 3 % 2:
            client("DEL", key)
    asked = kept[:12] + kept[12::4]
    digests = [client("DEBUG", "DIGEST-VALUE", key) for key in asked]
    wait_for("gaps", lambda: float(memory(client)["allocator_frag_ratio"]) > 1.4)
    client("CONFIG", "SET", "activedefrag", "yes")
    wait_for("the gaps to be closed", lambda: float(memory(client)["allocator_frag_ratio"]) < 1.15)
    assert [client("DEBUG", "DIGEST-VALUE", key) for key in asked] == digests
    for key in asked:
        of = "cf" if key.startswith("cf") else "bf"
        item = 7 if key.startswith("grown") else "x"
        assert client(f"{of}.EXISTS", key, item) == 1 and client(f"{of}.ADD", key, "another") == 1, key
    assert client("BF.EXISTS", "bf1 copied", "another") == client("CF.EXISTS", "cf1 copied", "another") == 0
