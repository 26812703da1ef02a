"""`petal redis`: what the command fills others ask, and the other way round; images go out, into files, and in."""

import json
import os
import pathlib
import subprocess
import tempfile
import zlib

import command
import server
from check_cluster import Cluster
from check_petal import export, pairs
from client import Error
from server import Server, needs

ITEMS = 20_000
SHARDS = 7


def items(first, end):
    return [f"item {i}" for i in range(first, end)]


def shard(item):
    return zlib.crc32(item.encode()) % SHARDS


def key(number):
    return f"seen:{{{number}}}"


def finds(ask, name, some):
    """How many of these any client finds that keeps to the recipe."""
    of = [[item for item in some if shard(item) == number] for number in range(SHARDS)]
    return sum(sum(ask(name, key(number), *its)) for number, its in enumerate(of) if its)


def folder():
    return pathlib.Path(tempfile.mkdtemp(prefix="f", dir=server.WORK))


def check_keys_are_where_everybody_looks_for_them():
    running = Server()
    at = ("--url", f"unix://{running.path}", "--shards", SHARDS)
    client = running.client()
    for of, add, ask in (("petal", "PETAL.MADD", "PETAL.MEXISTS"), ("bf", "BF.MADD", "BF.MEXISTS"),
                         ("cf", "CF.INSERT", "CF.MEXISTS")):
        built, later, absent = items(0, ITEMS), items(ITEMS, 2 * ITEMS), items(2 * ITEMS, 3 * ITEMS)
        what = ("--type", of, "--capacity", 2 * ITEMS)
        made = command.report("redis", "build", *at, *what, "seen", keys=built)
        assert made["made"] == SHARDS and made["records"] == ITEMS and made["new"] > 0.95 * ITEMS, made
        assert finds(client, ask, built) == ITEMS, of
        # They are spread, and of those that were not added few are found.
        assert finds(client, ask, absent) < 0.05 * ITEMS
        assert all(client(ask, key(number), *built).count(1) < ITEMS / 4 for number in range(SHARDS))
        for number in range(SHARDS):
            its = [item for item in later if shard(item) == number]
            client(add, key(number), *(("ITEMS", *its) if of == "cf" else its))
        assert command.does("redis", "check", *at, "seen", keys=built + later) == \
            f"{2 * ITEMS} found, 0 certainly not there\n"
        found = command.report("redis", "check", *at, "seen", keys=absent)
        assert found["found"] == finds(client, ask, absent) and found["missing"] == ITEMS - found["found"], found
        # What is there is not made again.
        again = command.report("redis", "build", *at, "seen", keys=built)
        assert again["made"] == 0 and again["new"] == (ITEMS if of == "cf" else 0), again
        client("FLUSHALL")


def check_keys_are_bytes_and_fields():
    running = Server()
    at = ("--url", f"unix://{running.path}")
    client = running.client()
    odd = [b"", b"\r", b"a\r", b"\xff\xfe", b"tab\tted", b"$5", b"x" * 100_000]
    command.does("redis", "build", *at, "--capacity", 100, "--fpr", "1e-6", "odd", keys=odd)
    assert client("PETAL.MEXISTS", "odd", *odd) == [1] * len(odd)
    command.does("redis", "build", *at, "--capacity", 100, "--fpr", "1e-6", "-0", "--field", 2, "--delimiter", ":",
                 "fields", keys=[b"1:one:x\0002:two:y\n\0003:three\0004:"])
    assert client("PETAL.MEXISTS", "fields", "one", "two", "three", "\n", "x", "1:one:x") == [1, 1, 1, 1, 0, 0]
    # Numbers are what kinds take whose keys are numbers.
    command.does("redis", "build", *at, "--shards", 3, "--kind", "exact_bits", "--capacity", 1000, "digits",
                 keys=range(0, 1000, 2))
    found = command.report("redis", "check", *at, "--shards", 3, "digits", keys=range(1000))
    assert (found["found"], found["missing"]) == (500, 500), found
    command.refuses("digits:{", "redis", "build", *at, "--shards", 3, "digits", keys=["x"])
    # Counted first, from a file; and every option is the server's.
    file = folder() / "keys"
    file.write_bytes(command.lines(items(0, 1000)))
    command.does("redis", "build", *at, "--kind", "counting", "--set", "counter_bits=8", "--seed", 7, "counted", file)
    info = pairs(client("PETAL.INFO", "counted"))
    assert info["kind"] == "counting" and info["capacity"] == 1000 and info["insertions"] == 1000, info
    assert pairs(info["parameters"])["counter_bits"] == "8", info
    secret = folder() / "secret"
    secret.write_text("000102030405060708090a0b0c0d0e0f\n")
    command.does("redis", "build", *at, "--secret-file", secret, "keyed", file)
    assert pairs(client("PETAL.INFO", "keyed"))["hash"] == "siphash13"
    assert command.report("redis", "check", *at, "keyed", file)["missing"] == 0


def check_a_cluster_is_filled_and_asked():
    needs(7, 0)
    cluster = Cluster(3, 0)
    first = cluster.nodes[0]
    at = ("--url", f"127.0.0.1:{first.server.port}", "--shards", SHARDS)
    keys = items(0, ITEMS)
    assert command.report("redis", "build", *at, "--capacity", ITEMS, "seen", keys=keys)["made"] == SHARDS
    assert len({cluster.node_of(key(number)).server.port for number in range(SHARDS)}) == 3
    assert finds(cluster, "PETAL.MEXISTS", keys) == ITEMS
    # A slot is on its way: the node that has it still knows that its key has gone already.
    source = cluster.node_of(key(0))
    target = next(node for node in cluster.nodes if node is not source)
    slot = source("CLUSTER", "KEYSLOT", key(0))
    ids = {node: node("CLUSTER", "MYID").decode() for node in (source, target)}
    assert target("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source]) == "OK"
    assert source("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target]) == "OK"
    assert source("MIGRATE", "127.0.0.1", target.server.port, key(0), 0, 60000) == "OK"
    assert isinstance(source("PETAL.INFO", key(0)), Error)
    assert command.report("redis", "check", *at, "seen", keys=keys)["missing"] == 0
    assert command.report("redis", "build", *at, "seen", keys=keys)["new"] == 0
    for node in cluster.nodes:
        assert node("CLUSTER", "SETSLOT", slot, "NODE", ids[target]) == "OK"
    assert command.report("redis", "check", *at, "seen", keys=keys)["missing"] == 0
    # Out of the cluster, and in under another name.
    files = folder()
    command.does("redis", "export", *at, "seen", "-o", files / "{}.petal")
    command.does("redis", "import", *at, "copy", files / "{}.petal")
    assert command.report("redis", "check", *at, "copy", keys=keys)["missing"] == 0
    for node in cluster.nodes:
        assert not [name for name in node("KEYS", "*") if b"importing" in name]


def check_images_go_to_files_and_back():
    one, other = Server(), Server()
    at, there = (("--url", f"unix://{running.path}") for running in (one, other))
    keys, files = items(0, ITEMS), folder()
    words = files / "words"
    words.write_bytes(command.lines(keys))
    command.does("redis", "build", *at, "--shards", 3, "--mergeable", "--fpr", "0.001", "seen", words)
    command.does("redis", "export", *at, "--shards", 3, "seen", "-o", files / "seen.{}.petal")
    found = 0
    for number in range(3):
        file = files / f"seen.{number}.petal"
        assert file.read_bytes() == export(one.client(), f"seen:{{{number}}}")
        assert json.loads(command.does("info", "--json", file))["capacity"] == ITEMS
        command.does("verify", "-q", file)
        found += int(command.run("check", "-c", file, words)[1])
    assert ITEMS <= found < 1.01 * ITEMS
    # All shards are the filter that is built in one piece.
    command.does("redis", "merge", *at, "--shards", 3, "seen", "-o", files / "merged.petal")
    command.does("build", "--capacity", ITEMS, "--fpr", "0.001", words, "-o", files / "built.petal")
    payload = [json.loads(command.does("info", "--json", files / name))["statistics"]["fill"]
               for name in ("merged.petal", "built.petal")]
    assert payload[0] == payload[1]
    assert command.run("check", "-v", files / "merged.petal", words)[:2] == (1, "")
    more = items(ITEMS, ITEMS + 10)
    command.does("build", "--capacity", ITEMS, "--fpr", "0.001", "-o", files / "more.petal", keys=more)
    command.does("redis", "merge", *at, "--shards", 3, "seen", files / "more.petal", "-o", files / "all.petal")
    assert command.run("check", "-c", files / "all.petal", keys=keys + more)[1] == f"{ITEMS + 10}\n"
    # Into another server, and once more only where that is said.
    command.does("redis", "import", *there, "--shards", 3, "seen", files / "seen.{}.petal")
    assert command.report("redis", "check", *there, "--shards", 3, "seen", words)["missing"] == 0
    for number in range(3):
        image = (files / f"seen.{number}.petal").read_bytes()
        assert export(other.client(), f"seen:{{{number}}}") == image
    command.refuses("--replace", "redis", "import", *there, "--shards", 3, "seen", files / "seen.{}.petal")
    command.does("redis", "import", *there, "--shards", 3, "--replace", "seen", files / "seen.{}.petal")
    # A kind that is built from all of its keys, and a map; large enough for many chunks.
    many = files / "many"
    many.write_bytes(command.lines(range(3_000_000)))
    command.does("build", "--kind", "fuse", many, "-o", files / "fuse.petal")
    assert (files / "fuse.petal").stat().st_size > 2 << 20
    command.does("redis", "import", *there, "fuse", files / "fuse.petal")
    assert command.report("redis", "check", *there, "fuse", many)["missing"] == 0
    command.does("redis", "export", *there, "fuse", "-o", files / "back.petal")
    assert (files / "back.petal").read_bytes() == (files / "fuse.petal").read_bytes()
    command.does("map", "build", "-o", files / "map.petal", keys=["ann\t3", "bob\t5"])
    command.does("redis", "import", *there, "map", files / "map.petal")
    assert other.client()("PETAL.MAPGET", "map", "ann", "bob") == [3, 5]
    assert not [name for name in other.client()("KEYS", "*") if b"importing" in name]
    damaged = bytearray((files / "fuse.petal").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (files / "damaged.petal").write_bytes(damaged)
    command.refuses("checksum", "redis", "import", *there, "damaged", files / "damaged.petal")
    assert other.client()("EXISTS", "damaged") == 0
    assert not [name for name in other.client()("KEYS", "*") if b"importing" in name]


def check_what_is_wrong_is_told():
    running, plain = Server(), Server(module=False)
    at = ("--url", f"unix://{running.path}")
    client = running.client()
    command.does("redis", "build", *at, "--shards", 4, "--capacity", 100, "seen", keys=items(0, 100))
    command.refuses("--shards 3: the set has more", "redis", "check", *at, "--shards", 3, "seen", keys=["x"])
    command.refuses("seen:{4}: is not there: the set has 4 of 5 shards", "redis", "check", *at, "--shards", 5, "seen",
                    keys=["x"])
    command.refuses("seen: is not there", "redis", "check", *at, "seen", keys=["x"])
    client("DEL", "seen:{2}")
    for words in (("check",), ("merge", "-o", "/dev/null"), ("export", "-o", folder() / "{}")):
        command.refuses("seen:{2}: is not there: the set has 3 of 4", "redis", *words, *at, "--shards", 4, "seen")
    client("SET", "text", "x")
    command.refuses("text: is a string", "redis", "build", *at, "--capacity", 5, "text", keys=["x"])
    command.refuses("of the kind blocked, and not bloom", "redis", "build", *at, "--shards", 4, "--capacity", 5,
                    "--kind", "bloom", "seen", keys=["x"])
    client("BF.RESERVE", "small", "0.01", 10, "NONSCALING")
    command.refuses("non scaling filter is full (after 10", "redis", "build", *at, "small", keys=items(0, 500))
    command.refuses("not loaded Petal's module", "redis", "check", "--url", f"unix://{plain.path}", "x", keys=["x"])
    command.refuses("not loaded Petal's module", "redis", "build", "--url", f"unix://{plain.path}", "--capacity", 5,
                    "x", keys=["x"])
    client("CF.RESERVE", "empty", 100)
    command.refuses("empty: holds nothing", "redis", "export", *at, "empty", "-o", "/dev/null")
    # Shards that have room for their share only do not make one filter.
    command.does("redis", "build", *at, "--shards", 9, "--capacity", 10_000, "full", keys=items(0, 10_000))
    error = command.refuses("--mergeable", "redis", "merge", *at, "--shards", 9, "full", "-o", folder() / "merged")
    assert "the false-positive rate is now" in error, error
    client("ACL", "SETUSER", "somebody", "on", ">their word", "~*", "+@all")
    at_somebodys = f"unix://{running.path}?user=somebody&pass="
    assert command.report("redis", "check", "--url", f"{at_somebodys}their%20word", "small", keys=[])["records"] == 0
    command.refuses("user name", "redis", "check", "--url", f"{at_somebodys}guess", "small")
    client("CONFIG", "SET", "requirepass", "secret word")
    error = command.refuses("password", "redis", "check", "--url", f"unix://{running.path}?pass=guess", "seen")
    assert "guess" not in error, error
    assert command.report("redis", "check", "--url", f"unix://{running.path}?pass=secret%20word", "small",
                          keys=[])["records"] == 0


def check_filters_of_owners_commands_go_to_files():
    for owner, sorts in (("redisbloom", ("bf", "cf")), ("valkey-bloom", ("bf",))):
        go_to_files(Server(module_options=("OWNER", owner)), sorts)


def go_to_files(running, sorts):
    files = folder()
    client, at = running.client(), ("--url", f"unix://{running.path}")
    for of in sorts:
        keys = items(0, ITEMS)
        command.does("redis", "build", *at, "--type", of, "--shards", 3, "--capacity", ITEMS, of, keys=keys)
        command.does("redis", "export", *at, "--shards", 3, of, "-o", files / f"{of}.{{}}.petal")
        found = 0
        for number in range(3):
            file = files / f"{of}.{number}.petal"
            command.does("verify", "-q", file)
            found += int(command.run("check", "-c", file, keys=keys)[1])
        assert ITEMS <= found < 1.3 * ITEMS, (of, found)
        # As keys they are of PETAL.*, and answer the same.
        command.does("redis", "import", *at, "--shards", 3, f"{of} again", files / f"{of}.{{}}.petal")
        assert command.report("redis", "check", *at, "--shards", 3, f"{of} again", keys=keys)["missing"] == 0
        assert client("TYPE", f"{of} again:{{0}}") == "petal-img"


def check_servers_that_speak_tls():
    plain = Server(module=False)
    keys, certificate = (plain.folder / name for name in ("key.pem", "certificate.pem"))
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
               "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:false",
               "-keyout", keys, "-out", certificate]
    made = subprocess.run(request, capture_output=True, check=False)
    if made.returncode:
        raise server.Unavailable("openssl makes no certificate")
    port = server.free_port()
    try:
        running = Server("--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", keys,
                         "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no")
    except RuntimeError:
        raise server.Unavailable("the server does not speak TLS") from None
    running.client()("ACL", "SETUSER", "somebody", "on", ">word", "~*", "+@all")
    at = ("--url", f"rediss://somebody:word@localhost:{port}")
    # Who is not known is not trusted.
    command.refuses("certificate", "redis", "check", *at, "seen", keys=["x"])
    os.environ["SSL_CERT_FILE"] = str(certificate)
    try:
        command.does("redis", "build", *at, "--shards", 3, "--capacity", 1000, "seen", keys=items(0, 1000))
        assert command.report("redis", "check", *at, "--shards", 3, "seen", keys=items(0, 1000))["missing"] == 0
    finally:
        del os.environ["SSL_CERT_FILE"]


def check_a_server_that_goes_is_told_and_the_rest_follows():
    keys = items(0, 200_000)
    for kind, hint in (("blocked", "the same command again adds the others"),
                       ("counting", "the same command again adds these keys twice: delete the set first")):
        running = Server("--appendonly", "yes", "--appendfsync", "always")
        words = ("redis", "build", "--url", f"unix://{running.path}", "--shards", 3, "--capacity", len(keys),
                 "--kind", kind, "seen")
        building = command.start(*words)
        building.stdin.write(command.lines(keys[:150_000]))
        building.stdin.flush()
        client = running.client()
        server.wait_for("the last shard", lambda: client("EXISTS", "seen:{2}") == 1)

        def insertions():
            return sum(pairs(client("PETAL.INFO", key(number)))["insertions"] for number in range(3))

        # More than three connections have on their way at a time, so that the command has read some answers.
        server.wait_for("answers", lambda: insertions() > 3 * 16_000)
        running.kill()
        status, _, err = command.end(building, command.lines(keys[150_000:]))
        assert status == 2 and err.startswith("petal: ") and f"keys were added; {hint})" in err, err
        answered = int(err.split("(after ")[1].split()[0])
        running.start()
        client = running.client()
        there = insertions()
        # What was answered is there, and what was on its way may be.
        assert 0 < answered <= there <= len(keys), (answered, there)
        if kind == "blocked":
            command.does(*words, keys=keys)
            assert command.report("redis", "check", *words[2:6], "seen", keys=keys)["missing"] == 0
        running.kill()
    command.refuses("nobody listens there", *words, keys=keys)
    # A shard that goes while keys are on their way is not made anew by those that follow.
    for of, ask in (("petal", "PETAL.EXISTS"), ("bf", "BF.EXISTS"), ("cf", "CF.EXISTS")):
        running = Server()
        client = running.client()
        building = command.start("redis", "build", "--url", f"unix://{running.path}", "--capacity", len(keys),
                                 "--type", of, "gone")
        building.stdin.write(command.lines(keys[:20_000]))
        building.stdin.flush()
        server.wait_for("some are there", lambda: client(ask, "gone", "item 0") == 1)
        client("DEL", "gone")
        status, _, err = command.end(building, command.lines(keys[20_000:]))
        assert status == 2 and "gone: " in err and "keys were added; " in err, err
        assert client("EXISTS", "gone") == 0
