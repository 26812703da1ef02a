"""What surrounds the commands, as RedisBloom 8 has it: names, categories, settings, documents."""

import pathlib

import server as servers
from client import Error
from server import Server, needs

SETTINGS = {"bf-error-rate": (0.01, 0.02), "bf-initial-size": (100, 200), "bf-expansion-factor": (2, 3),
            "cf-bucket-size": (2, 3), "cf-initial-size": (1024, 2048), "cf-max-iterations": (20, 30),
            "cf-expansion-factor": (1, 2), "cf-max-expansions": (32, 64)}
WRONG = {"bf-error-rate": (0, 1), "bf-initial-size": (0, 2**30 + 1), "bf-expansion-factor": (-1, 32769),
         "cf-bucket-size": (0, 256), "cf-initial-size": (3, 2**30 + 1), "cf-max-iterations": (0, 65536),
         "cf-expansion-factor": (-1, 32769), "cf-max-expansions": (0, 65537)}


def prefix():
    """What stands before the names of settings: nothing from Redis 8 on, and the module's name in Valkey."""
    needs(7, 0)
    return "" if is_redis_8() else "petal."


def is_redis_8():
    return servers.version() >= (8, 0) and not servers.is_valkey()


def needs_categories():
    """Redis has them for modules from 7.4 on, and Valkey, whose versions begin with 7.2, from 8 on."""
    needs(7, 4)


def state(client):
    """What commands make where they say nothing."""
    client("DEL", "b", "c")
    client("BF.ADD", "b", "x")
    client("CF.ADD", "c", "x")
    return client("BF.DEBUG", "b")[1], client("BF.INFO", "b", "EXPANSION"), client("CF.DEBUG", "c")


CHANGED = (b"bytes:240 bits:1920 hashes:7 hashwidth:64 capacity:200 size:1 ratio:0.01", [3],
           b"bktsize:3 buckets:1024 items:1 deletes:0 filters:1 max_iterations:30 expansion:2")


def check_settings_of_the_configuration():
    before = prefix()
    client = Server().client()
    for name, (usual, other) in SETTINGS.items():
        name = before + name
        assert client("CONFIG", "GET", name) == [name.encode(), str(usual).encode()], name
        for wrong in WRONG[name.removeprefix(before)]:
            refused = client("CONFIG", "SET", name, wrong)
            assert isinstance(refused, Error) and "must be in the range" in refused, (name, wrong, refused)
        assert "Invalid value" in client("CONFIG", "SET", name, "x"), name
        assert client("CONFIG", "SET", name, other) == "OK"
        assert client("CONFIG", "GET", name) == [name.encode(), str(other).encode()], name
    assert state(client) == CHANGED, state(client)
    # A greater rate is this one.
    client("CONFIG", "SET", before + "bf-error-rate", "0.5")
    assert client("CONFIG", "GET", before + "bf-error-rate")[1] == b"0.25"
    client("CONFIG", "SET", before + "bf-expansion-factor", 0)
    assert client("BF.RESERVE", "fixed", "0.01", 10, "EXPANSION", 2) == "Nonscaling filters cannot expand"
    client("BF.ADD", "none", "x")
    assert client("BF.INFO", "none", "EXPANSION") == [None]
    # A bucket and a capacity bound each other.
    assert "must be in the range [6, 1073741824]" in client("CONFIG", "SET", before + "cf-initial-size", 5)
    client("CONFIG", "SET", before + "cf-initial-size", 8)
    assert "must be in the range [1, 4]" in client("CONFIG", "SET", before + "cf-bucket-size", 5)
    assert client("CF.RESERVE", "x", 100, "BUCKETSIZE", 5) == "BUCKETSIZE: value must be in the range [1, 4]"


def check_settings_of_a_file():
    before = prefix()
    lines = [f"{before}{name} {other}" for name, (_, other) in SETTINGS.items()]
    first = Server(module=False)
    file = first.folder / "settings.conf"
    file.write_text("\n".join([*lines, f"loadmodule {servers.MODULE} OWNER redisbloom", "petal.budget 3"]) + "\n")
    client = Server("--include", file, module=False).client()
    assert state(client) == CHANGED and client("CONFIG", "GET", "petal.budget")[1] == b"3"
    # What is not right keeps the server from starting, and says why.
    file.write_text(f"{before}cf-initial-size 1\nloadmodule {servers.MODULE}\n")
    try:
        Server("--include", file, module=False)
    except RuntimeError as why:
        assert "Value for `" in str(why) or "must be in the range" in str(why), why
    else:
        raise AssertionError("the server has started")


def check_settings_as_arguments():
    words = [word for name, (_, other) in SETTINGS.items() for word in (name, other)]
    # In whatever order they come.
    for options in (words, [word for i in range(len(words) - 2, -1, -2) for word in words[i : i + 2]]):
        client = Server(module_options=options).client()
        assert state(client) == CHANGED, state(client)
    client = Server(module_options=("cf-initial-size", 100, "CF-BUCKET-SIZE", 50)).client()
    assert client("CF.ADD", "c", "x") == 1 and client("CF.DEBUG", "c").startswith(b"bktsize:50 buckets:2 ")
    for options in (("cf-initial-size", 100, "cf-bucket-size", 51), ("bf-error-rate", 1), ("bf-error-rate",)):
        server = Server(module=False)
        assert isinstance(server.client()("MODULE", "LOAD", servers.MODULE, *options), Error), options
        assert "petal is not loaded: the argument " in server.log(), server.log()


def check_replicas_have_settings_of_their_own():
    primary = Server(module_options=("cf-max-iterations", 7, "bf-expansion-factor", 4), tcp=True)
    replica = Server("--replicaof", "127.0.0.1", primary.port, tcp=True)
    client, other = primary.client(), replica.client()
    servers.wait_for("the replica", lambda: b"master_link_status:up" in other("INFO", "replication"))
    client("BF.RESERVE", "b", "0.01", 100)
    client("CF.RESERVE", "c", 100)
    client("BF.ADD", "d", "x")
    client("CF.ADD", "e", "x")
    assert client("WAIT", 1, 10_000) == 1
    for key in "bcde":
        mine, its = (one("DEBUG", "DIGEST-VALUE", key) for one in (client, other))
        assert mine == its, key
    assert b"max_iterations:7 " in other("CF.DEBUG", "c") and other("BF.INFO", "b", "EXPANSION") == [4]


def check_categories():
    needs_categories()
    server = Server(module=False)
    file = pathlib.Path(server.folder) / "users.conf"
    file.write_text("user app on >p ~* +@bloom\nuser other on >p ~* +@all -@cuckoo\n")
    client = Server("--include", file).client()
    for name, of in (("bloom", "bf."), ("cuckoo", "cf."), ("petal", "petal.")):
        listed = {name.decode() for name in client("COMMAND", "LIST", "FILTERBY", "MODULE", "petal")}
        members = {name if isinstance(name, str) else name.decode() for name in client("ACL", "CAT", name)}
        assert members == {name for name in listed if name.startswith(of)} != set(), members
    client("AUTH", "app", "p")
    assert client("BF.ADD", "b", "x") == 1 and client("BF.EXISTS", "b", "x") == 1
    refused = client("CF.ADD", "c", "x")
    assert refused.startswith("NOPERM") and "'cf.add'" in refused, refused
    client("AUTH", "other", "p")
    assert client("BF.ADD", "b", "y") == 1 and client("CF.EXISTS", "c", "x").startswith("NOPERM")


def check_effects_of_access_control_lists():
    """What docs/redis.md says of @read and @write, which commands of modules are in from 7.2 on."""
    server = Server()
    client = server.client()
    client("BF.ADD", "b", "x")
    in_categories = servers.version() >= (7, 2)

    def may(rules, *words):
        """Whether a user with these rules may call a command."""
        assert client("ACL", "SETUSER", "somebody", "reset", "on", ">p", *rules) == "OK", rules
        other = server.client()
        assert other("AUTH", "somebody", "p") == "OK"
        reply = other(*words)
        other.close()
        refused = isinstance(reply, Error) and reply.startswith("NOPERM")
        assert refused or not isinstance(reply, Error), reply
        return not refused

    reading, writing = [("BF.EXISTS", "b", "x"), ("CF.MEXISTS", "none", "x"), ("PETAL.KINDS",)], [
        ("BF.ADD", "b", "y"), ("CF.RESERVE", "c", 10), ("PETAL.RESERVE", "p", "bloom", 10, "0.1")]
    for words in reading:
        assert may(("~*", "+@read"), *words) == in_categories, words
        assert may(("~*", "+@all", "-@read"), *words) != in_categories, words
    for words in writing:
        client("DEL", "c", "p")
        assert not may(("~*", "+@read"), *words), words
        assert may(("~*", "+@all", "-@write"), *words) != in_categories, words
        client("DEL", "c", "p")
        assert may(("~*", "+@write"), *words) == in_categories, words
    # Names do everywhere, and from 7.0 on a key that is only to be read.
    for words in reading[:2] + writing:
        client("DEL", "c", "p")
        assert may(("~*", f"+{words[0]}"), *words) and not may(("~*", "+@all", f"-{words[0]}"), *words), words
        if servers.version() >= (7, 0):
            client("DEL", "c", "p")
            assert may(("%R~*", "+@all"), *words) == (words in reading), words


def check_names_are_in_lower_case():
    client = Server().client()
    for words in (("BF.ADD", "b", "x"), ("Cf.Add", "c", "x"), ("PETAL.KINDS",)):
        client(*words)
        (info,) = client("COMMAND", "INFO", words[0])
        name = words[0].lower()
        assert info[0] == name or info[0] == name.encode(), info
        assert f"cmdstat_{name}:".encode() in client("INFO", "commandstats"), name


def check_documents_have_arguments():
    needs(7, 0)
    client = Server().client()
    for name in client("COMMAND", "LIST", "FILTERBY", "MODULE", "petal"):
        (_, fields) = client("COMMAND", "DOCS", name)
        fields = dict(zip(fields[::2], fields[1::2]))
        assert fields[b"since"] == {b"petal.": b"0.1.0"}.get(name[:6], b"2.4.4" if name == b"bf.card" else b"1.0.0")
        arguments = [dict(zip(one[::2], one[1::2])) for one in fields.get(b"arguments", [])]
        # As many as have to be there, and more only where there may be.
        (info,) = client("COMMAND", "INFO", name)
        flags = [set(one.get(b"flags", ())) for one in arguments]
        least = sum(2 if one[b"type"] == b"block" else 1 for one, of in zip(arguments, flags) if "optional" not in of)
        assert 1 + least == abs(info[1]), (name, info[1], arguments)
        assert (info[1] < 0) == any(flags), (name, info[1], arguments)
        assert not arguments or arguments[0][b"type"] == b"key", name
    (_, fields) = client("COMMAND", "DOCS", "bf.insert")
    names = [one[1] for one in fields[-1]]
    assert names == [b"key", b"capacity", b"error", b"expansion", b"nocreate", b"nonscaling", b"items", b"item"], names
    (_, _, *rest, arguments) = fields[-1][1]
    assert rest == [b"type", b"block", b"token", b"CAPACITY", b"flags", ["optional"], b"arguments"], rest
    assert arguments[0][:4] == [b"name", b"capacity", b"type", b"integer"], arguments


def check_the_module_has_the_owners_name():
    """Clients look for a module of this name and version."""
    client = Server(module_options=("NAME", "bf", "BUDGET", 3)).client()
    (module,) = [one for one in client("MODULE", "LIST") if one[1] not in servers.BUILT_IN]
    assert module[:4] == [b"name", b"bf", b"ver", 80_800], module
    assert client("BF.ADD", "b", "x") == 1 and client("PETAL.RESERVE", "p", "bloom", 10, "0.1") == "OK"
    assert servers.version() < (7, 0) or client("CONFIG", "GET", "bf.budget")[1] == b"3"
    for options in (("NAME", "other"), ("NAME",)):
        server = Server(module=False)
        assert isinstance(server.client()("MODULE", "LOAD", servers.MODULE, *options), Error), options
        assert "petal is not loaded: the argument NAME" in server.log(), server.log()
