"""PETAL.*: every kind by its name. What a kind can is asked of the server; no list of kinds is here."""

import pathlib
import random
import tarfile

import dumps
import server as servers
from client import Error, Simple
from server import Server, needs, wait_for


def golden_images():
    """The golden images of filters and maps by their names."""
    images = {}
    for archive in sorted((pathlib.Path(__file__).parents[4] / "tests" / "golden").rglob("*.tar")):
        # The module has filters and maps.
        if archive.parent.name in ("sketches", "own"):
            continue
        with tarfile.open(archive) as files:
            images |= {file.name: files.extractfile(file).read() for file in files if file.name.endswith(".petal")}
    return images


GOLDEN = golden_images()
LARGE = max(GOLDEN.values(), key=len)
ITEMS = 1500
ALL_IN_A_THREAD = ("BUDGET", "0")


def kinds(client):
    """Every kind with what PETAL.KINDS says of it."""
    return {name: pairs(about) for name, about in pairs(client("PETAL.KINDS")).items()}


def pairs(reply):
    """A map, as RESP2 has it."""
    return dict(zip(reply[::2], reply[1::2], strict=True))


def reserve(client, key, kind, about):
    """Makes a filter or map of the kind; what it replies. Where keys are numbers the capacity is their bound."""
    capacity = 100_000 if about["keys"] == "numbers" else 4 * ITEMS
    return client("PETAL.RESERVE", key, kind, capacity, "0.01")


def item(about, number):
    return number if about["keys"] == "numbers" else f"item {number}"


def digest(client, key):
    return client("DEBUG", "DIGEST-VALUE", key)[0]


def export(client, key):
    image, iterator = b"", 0
    while True:
        iterator, chunk = client("PETAL.EXPORT", key, iterator)
        if iterator == 0:
            return image
        image += chunk
        assert iterator == 1 + len(image)


def load(client, key, image, size=1 << 20):
    reply = None
    for start in range(0, len(image), size):
        reply = client("PETAL.IMPORT", key, 1 + min(len(image), start + size), image[start : start + size])
        if isinstance(reply, Error):
            break
    return reply


def each_filter(client):
    """Every kind of filter that is made empty, with a filter that holds even items."""
    for kind, about in kinds(client).items():
        reply = reserve(client, kind, kind, about)
        if about["made"] != "empty":
            assert isinstance(reply, Error) and kind in reply, reply
            continue
        assert reply == "OK", (kind, reply)
        if "insert" in about["can"]:
            even = [item(about, 2 * i) for i in range(ITEMS)]
            new = client("PETAL.MADD", kind, *even[1:])
            assert len(new) == ITEMS - 1 and new.count(1) > 0.9 * ITEMS, (kind, new)
            assert client("PETAL.ADD", kind, even[0]) in (0, 1)
            yield kind, about, even


def refuses(reply):
    return isinstance(reply, Error) and reply.startswith("ERR ") and len(reply) > 20


def check_every_kind_of_filter():
    every_kind(Server().client())


def check_every_kind_with_all_long_commands_in_a_thread():
    every_kind(Server(module_options=ALL_IN_A_THREAD).client())


def every_kind(client):
    for kind, about, even in each_filter(client):
        can = about["can"]
        odd = [item(about, 2 * i + 1) for i in range(ITEMS)]
        found = client("PETAL.MEXISTS", kind, *even)
        assert found.count(0) <= (ITEMS // 10 if "may_lose_keys" in can or "age" in can else 0), kind
        wrong = client("PETAL.MEXISTS", kind, *odd)
        assert wrong.count(1) < 0.05 * ITEMS, (kind, wrong.count(1))
        assert client("PETAL.EXISTS", kind, even[-1]) == found[-1]
        info = pairs(client("PETAL.INFO", kind))
        assert info["kind"] == kind and set(info["can"]) <= set(can), info
        assert info["bytes"] == len(export(client, kind))
        usage = client("MEMORY", "USAGE", kind)
        # Some kinds have tables besides what they store.
        assert info["bytes"] * 0.9 < usage < info["bytes"] * 1.5 + 50_000, (kind, info["bytes"], usage)

        if "count" in can:
            counts = client("PETAL.MCOUNT", kind, *even)
            assert all(count >= 1 for count in counts) or "may_lose_keys" in can, kind
            assert client("PETAL.COUNT", kind, even[3]) == counts[3]
        else:
            assert refuses(client("PETAL.COUNT", kind, even[0])), kind
        if "estimate" in can:
            value, low, high = map(float, client("PETAL.ESTIMATE", kind))
            assert low <= value <= high and 0.8 * ITEMS < value < 1.2 * ITEMS, (kind, value)
        else:
            assert refuses(client("PETAL.ESTIMATE", kind)), kind
        client("COPY", kind, "other")
        before = digest(client, kind)
        assert digest(client, "other") == before
        for command, capability in (("MERGE", "merge"), ("INTERSECT", "intersect")):
            reply = client(f"PETAL.{command}", "result", kind, "other")
            assert (reply == "OK") == (capability in can), (kind, command, reply)
            if reply == "OK":
                assert client("PETAL.MEXISTS", "result", *even) == [1] * ITEMS, (kind, command)
                client("DEL", "result")
            else:
                assert refuses(reply) and client("EXISTS", "result") == 0
        reply = client("PETAL.ADVANCE", "other")
        assert reply == "OK" if "age" in can else refuses(reply), (kind, reply)
        unchanged = digest(client, "other")
        reply = client("PETAL.REJUVENATE", "other", *even)
        if "rejuvenate" in can:
            # None is older than another one as long as the filter has not grown.
            assert isinstance(reply, int) and client("PETAL.REJUVENATE", "other", *even) == 0, (kind, reply)
            assert client("PETAL.MEXISTS", "other", *even) == [1] * ITEMS, kind
        else:
            assert refuses(reply) and digest(client, "other") == unchanged, (kind, reply)
        reply = client("PETAL.REMOVE", "other", *even[:100])
        if "remove" in can:
            assert reply == 100 or ("may_lose_keys" in can or "age" in can), (kind, reply)
            left = client("PETAL.MEXISTS", "other", *even[100:])
            assert left == [1] * len(left) or "may_lose_keys" in can or "age" in can, kind
        else:
            assert refuses(reply), (kind, reply)
        reply = client("PETAL.CLEAR", "other")
        if "clear" in can:
            assert reply == "OK" and client("PETAL.MEXISTS", "other", *even) == [0] * ITEMS, kind
        else:
            assert refuses(reply), (kind, reply)
        assert digest(client, kind) == before, kind
        assert refuses(client("PETAL.MAPGET", kind, "x"))
        client("DEL", "other")


def check_images_of_every_kind_come_in_and_go_out():
    client = Server(module_options=ALL_IN_A_THREAD).client()
    kept = set()
    for name, image in GOLDEN.items():
        for size in (len(image), 1000):
            client("DEL", "image")
            assert load(client, "image", image, size) == "OK", name
            assert export(client, "image") == image, name
        info = pairs(client("PETAL.INFO", "image"))
        kept.add(info["kind"])
        # Some have a secret key, or take hashes only: an error, and nothing else.
        for command in ("EXISTS", "COUNT", "MAPGET", "ADD", "REJUVENATE", "REMOVE"):
            client(f"PETAL.{command}", "image", "x")
        dump = client("DUMP", "image")
        assert client("RESTORE", "image", 0, dump, "REPLACE") == "OK"
        assert client("DUMP", "image") == dump
    assert kept >= set(kinds(client)), set(kinds(client)) - kept


def check_exact_sets_make_no_error():
    """Images of a known universe, also in partitions by the items' prefixes and brought up to date."""
    client = Server(module_options=ALL_IN_A_THREAD).client()
    for name, image in GOLDEN.items():
        if not name.startswith("exact_set-partition"):
            continue
        assert load(client, "image", image, 1000) == "OK", name
        items = [f"key {i}" for i in range(1000)]
        assert client("PETAL.MEXISTS", "image", *items) == [int(i < 100) for i in range(1000)], name
        assert client("PETAL.EXISTS", "image", "key 99") == 1 and client("PETAL.EXISTS", "image", "other 99") == 0, name
        client("DEL", "image")


def check_rejuvenated_items_are_new():
    """Those of a filter that has grown; the file that it is kept in and a replica have the same."""
    primary = Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no", tcp=True)
    replica = Server(tcp=True)
    client, other = primary.client(), replica.client()
    other("REPLICAOF", "127.0.0.1", primary.port)
    wait_for("a replica", lambda: b"master_link_status:up" in other("INFO", "replication"))
    able = [kind for kind, about in kinds(client).items() if "rejuvenate" in about["can"]]
    assert able
    for kind in able:
        assert client("PETAL.RESERVE", kind, kind, 100, "0.01") == "OK"
        client("PETAL.MADD", kind, *range(20_000))
        before = digest(client, kind)
        changed = client("PETAL.REJUVENATE", kind, *range(5000))
        assert 1000 < changed <= 5000 and digest(client, kind) != before, (kind, changed)
        # Those that are new already, and one that is not there, change nothing.
        before = digest(client, kind)
        assert client("PETAL.REJUVENATE", kind, *range(5000)) == 0 and digest(client, kind) == before, kind
        assert client("PETAL.MEXISTS", kind, *range(20_000)) == [1] * 20_000, kind
        assert "wrong number" in client("PETAL.REJUVENATE", kind)
    client("SET", "last", 1)
    assert client("WAIT", 1, 60000) == 1
    before = {kind: digest(client, kind) for kind in able}
    assert {kind: digest(other, kind) for kind in able} == before
    primary.restart()
    client = primary.client()
    assert {kind: digest(client, kind) for kind in able} == before


def check_estimates_are_counts_and_shares():
    """No estimate of filters without a common item, or with nothing at all, is below 0 or a share above 1."""
    client = Server().client()
    below = 0
    for seed in range(30):
        for name, count in (("one", 900 + 7 * seed), ("other", 500)):
            client("DEL", name)
            client("PETAL.RESERVE", name, "bloom", 1000, "0.3", "SEED", seed)
            client("PETAL.MADD", name, *(f"{name} {i}" for i in range(count)))
        compared = pairs(client("PETAL.ESTIMATE", "one", "other"))
        for what, estimate in compared.items():
            value, low, high = map(float, estimate)
            assert 0 <= low <= value <= high, (seed, what, estimate)
            assert not any(str(end).startswith("-") for end in estimate), (seed, what, estimate)
            assert what != "jaccard" or high <= 1, (seed, estimate)
        below += float(compared["intersection"][0]) == 0
    # By chance the formula is below 0 for about half of them.
    assert 5 <= below <= 25, below
    same = pairs(client("PETAL.ESTIMATE", "one", "one"))
    assert [float(end) <= 1 for end in same["jaccard"]] == [True] * 3 and float(same["differences"][1]) == 0, same
    client("PETAL.RESERVE", "empty", "bloom", 1000, "0.3", "SEED", 29)
    for name in ("one", "empty"):
        for value, low, high in pairs(client("PETAL.ESTIMATE", "empty", name)).values():
            assert 0 <= float(low) <= float(value) <= float(high), name
    assert [float(end) for end in client("PETAL.ESTIMATE", "empty")] == [0, 0, 0]


def check_secret_keys():
    """Filters that hash with a key which nobody who adds items knows: they are the same wherever they are kept."""
    primary = Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no", tcp=True, module_options=ALL_IN_A_THREAD)
    replica = Server(tcp=True)
    client, other = primary.client(), replica.client()
    other("REPLICAOF", "127.0.0.1", primary.port)
    wait_for("a replica", lambda: b"master_link_status:up" in other("INFO", "replication"))
    given = "000102030405060708090a0b0c0d0e0f"
    items = [f"item {i}" for i in range(1000)]
    for key, word in (("given", given), ("new", "NEW"), ("newer", "new")):
        assert client("PETAL.RESERVE", key, "blocked", 5000, "0.01", "SECRET", word) == "OK"
        client("PETAL.MADD", key, *items)
        assert pairs(client("PETAL.INFO", key))["hash"] == "siphash13"
    assert len({digest(client, key) for key in ("given", "new", "newer")}) == 3
    # The keys differ, so these do not combine.
    assert "differ" in client("PETAL.MERGE", "new", "newer")
    dump, image = client("DUMP", "new"), export(client, "given")
    assert client("RESTORE", "dumped", 0, dump) == "OK" and client("COPY", "new", "copied") == 1
    assert client("PETAL.MERGE", "dumped", "new") == "OK"
    # An image has no key: with the key, which comes with the last chunk, the filter can be asked; without it, it is
    # only stored.
    assert load(client, "stored", image) == "OK" and isinstance(client("PETAL.EXISTS", "stored", "x"), Error)
    half = len(image) // 2
    assert client("PETAL.IMPORT", "asked", 1 + half, image[:half]) == "OK"
    for wrong in (given[:-1], given[:-1] + "g", "NEW", given[:-1] + "0"):
        refused = client("PETAL.IMPORT", "asked", 1 + len(image), image[half:], "SECRET", wrong)
        assert isinstance(refused, Error), wrong
    assert client("PETAL.IMPORT", "asked", 1 + len(image), image[half:], "SECRET", given.upper()) == "OK"
    assert "32 hex" in client("PETAL.RESERVE", "x", "blocked", 5000, "0.01", "SECRET", "5")
    assert "32 hex" in client("PETAL.RESERVE", "x", "blocked", 5000, "0.01", "SECRET")
    keys = ("given", "new", "newer", "dumped", "copied", "asked")
    client("SET", "last", 1)
    assert client("WAIT", 1, 60000) == 1
    before = client("DEBUG", "DIGEST")
    assert other("DEBUG", "DIGEST") == before
    for rewrites in (False, True):
        if rewrites:
            client("BGREWRITEAOF")
            wait_for("a file", lambda: b"aof_rewrite_in_progress:0" in client("INFO", "persistence"))
        primary.restart()
        client = primary.client()
        assert client("DEBUG", "DIGEST") == before
        for at in (client, other):
            assert all(at("PETAL.MEXISTS", key, *items) == [1] * len(items) for key in keys)


def check_secret_keys_are_not_in_logs():
    """SLOWLOG and MONITOR show a command without its secret key, also of one that is refused or runs in a thread."""
    needs(7, 0)
    given = "000102030405060708090a0b0c0d0e0f"
    for options in ((), ALL_IN_A_THREAD):
        server = Server("--slowlog-log-slower-than", 0, tcp=True, module_options=options)
        replica = Server("--slowlog-log-slower-than", 0, "--replicaof", "127.0.0.1", server.port, tcp=True)
        client, other, monitor = server.client(), replica.client(), server.client()
        wait_for("a replica", lambda: b"master_link_status:up" in other("INFO", "replication"))
        assert monitor("MONITOR") == "OK"
        reserve = ("PETAL.RESERVE", "SECRET", "blocked", 5000, "0.01")
        assert client(*reserve, "secret", given, "SEED", 0, "SECRET", given.upper()) == "OK"
        assert client("PETAL.RESERVE", "new", "blocked", 5000, "0.01", "SECRET", "NEW") == "OK"
        assert isinstance(client("PETAL.RESERVE", "x", "blocked", 5000, "2", "SECRET", given), Error)
        assert isinstance(client("PETAL.RESERVE", "x", "blocked", 5000, "0.01", "SECRET", given[1:]), Error)
        client("PETAL.MADD", "SECRET", "apple")
        image = export(client, "SECRET")
        assert client("PETAL.IMPORT", "imported", 1 + len(image), image, "SECRET", given) == "OK"
        assert client("PETAL.MEXISTS", "imported", "apple", "pear") == [1, 0]
        assert client("WAIT", 1, 60000) == 1 and other("PETAL.EXISTS", "imported", "apple") == 1
        client("SET", "last", 1)
        seen = []
        while not seen or b"last" not in seen[-1]:
            seen.append(bytes(str(monitor.read()), "latin-1"))
        of = {at: client_of("SLOWLOG", "GET", 128) for at, client_of in (("primary", client), ("replica", other))}
        for at, entries in of.items():
            commands = [entry[3] for entry in entries]
            assert sum(b"(redacted)" in command for command in commands) >= 3, (at, commands)
            words = [word.lower() for command in commands for word in command]
            assert not any(given[1:].encode() in word for word in words), (at, commands)
        assert any(b"NEW" in entry[3] for entry in of["primary"])
        assert not any(given[1:].encode() in line.lower() for line in seen), seen


def check_putting_to_maps():
    client = Server().client()
    maps = [kind for kind, about in kinds(client).items() if about["made"] == "empty" and "put" in about["can"]]
    assert maps
    for kind in maps:
        assert client("PETAL.RESERVE", kind, kind, 1000, "0.001", "SET", "value_bits", 16) == "OK"
        assert client("PETAL.MAPPUT", kind, "ann", 7, "bob", 2, "ann", 5) == [1, 1, 0]
        assert client("PETAL.MAPGET", kind, "ann", "bob") == [7, 2]
        assert client("PETAL.MAPPUT", kind, "ann", 9) == [1] and client("PETAL.MAPGET", kind, "ann") == [9]
        before = digest(client, kind)
        for words, part in (((kind, "ann", 65536), "value = 65536 has more bits"), ((kind, "ann"), "wrong number"),
                            ((kind, "ann", -1), "value of an item"), ((kind, "ann", 1, "bob"), "wrong number"),
                            (("missing", "ann", 1), "not found")):
            reply = client("PETAL.MAPPUT", *words)
            assert isinstance(reply, Error) and part in reply, (words, reply)
        assert digest(client, kind) == before
        # What was taken before one that was not is there.
        *taken, refused = client("PETAL.MAPPUT", kind, "cat", 3, "dan", 70000, "eve", 1)
        assert taken == [1] and "70000" in refused and client("PETAL.MAPGET", kind, "cat", "dan", "eve")[0] == 3
    client("PETAL.RESERVE", "filter", "blocked", 1000, "0.01")
    assert "not a map" in client("PETAL.MAPPUT", "filter", "ann", 1)
    replaced = 0
    for name, image in GOLDEN.items():
        client("DEL", "map")
        load(client, "map", image)
        if "replace" in pairs(client("PETAL.INFO", "map"))["can"]:
            # The golden map's keys have other names: what may be there is replaced, and what is not stays away.
            values = client("PETAL.MAPGET", "map", *range(2000))
            answers = client("PETAL.MAPREPLACE", "map", *(word for i in range(2000) for word in (i, 1)))
            if isinstance(answers, Error):
                continue
            assert [answer == 1 for answer in answers] == [value is not None for value in values], name
            values = client("PETAL.MAPGET", "map", *range(2000))
            assert all(value in (None, 1) for value in values)
            replaced += 1
    assert replaced


def check_refusals():
    client = Server().client()
    client("SET", "text", "x")
    client("BF.ADD", "bf", "x")
    client("CF.ADD", "cf", "x")
    client("PETAL.RESERVE", "b", "blocked", 1000, "0.01")
    for words, part in (
        ("PETAL.RESERVE x blocked 1000", "wrong number of arguments"),
        ("PETAL.RESERVE x unheard 1000 0.01", "kind = unheard is not a kind"),
        ("PETAL.RESERVE x blocked 0 0.01", "capacity is not"),
        ("PETAL.RESERVE x blocked many 0.01", "capacity is not"),
        ("PETAL.RESERVE x blocked 1000 2", "false_positive_rate = 2 is not inside (0, 1)"),
        ("PETAL.RESERVE x blocked 1000 x", "the rate is not a number"),
        ("PETAL.RESERVE x blocked 1000 0.01 SET counter_bits 4", "blocked takes no parameter counter_bits"),
        ("PETAL.RESERVE x counting 1000 0.01 SET counter_bits 99", "counter_bits = 99 is not"),
        ("PETAL.RESERVE x counting 1000 0.01 SET counter_bits", "counter_bits"),
        ("PETAL.RESERVE x counting 1000 0.01 WITH luck", "the option WITH is not one of SET, SEED and SECRET"),
        ("PETAL.RESERVE x blocked 1000 0.01 SEED -1", "the seed is not"),
        ("PETAL.RESERVE x fuse 1000 0.01", "PETAL.IMPORT key iterator chunk"),
        ("PETAL.RESERVE x blocked 9000000000000000 0.01", ""),
        ("PETAL.RESERVE b blocked 1000 0.01", "item exists"),
        ("PETAL.RESERVE text blocked 1000 0.01", "WRONGTYPE"),
        ("PETAL.ADD text x", "WRONGTYPE"),
        ("PETAL.ADD bf x", "WRONGTYPE the key holds a filter of BF.*"),
        ("PETAL.EXISTS bf x", "WRONGTYPE the key holds a filter of BF.*"),
        ("PETAL.MERGE b bf", "BF.SCANDUMP"),
        ("PETAL.MERGE bf b", "BF.SCANDUMP"),
        ("PETAL.EXPORT bf 0", "BF.SCANDUMP"),
        ("PETAL.ESTIMATE cf", "CF.SCANDUMP"),
        ("PETAL.MEXISTS cf x", "WRONGTYPE the key holds a filter of CF.*"),
        ("BF.ADD b x", "WRONGTYPE"),
        ("PETAL.ADD missing x", "not found: PETAL.RESERVE makes"),
        ("PETAL.EXISTS missing x", "not found"),
        ("PETAL.MERGE b missing", "not found"),
        ("PETAL.EXPORT missing 0", "not found"),
        ("PETAL.EXPORT b x", "the iterator is not"),
        ("PETAL.IMPORT b 2 x", "item exists"),
        ("PETAL.IMPORT x 3 x", "not found"),
        ("PETAL.IMPORT x 1 x", "not the next one"),
        ("PETAL.ADVANCE b -1", "the steps are not"),
    ):
        reply = client(*words.split(" "))
        assert isinstance(reply, Error) and part in reply, (words, reply)
    assert client("EXISTS", "x") == 0
    image = LARGE
    assert client("PETAL.IMPORT", "part", 1 + 1000, image[:1000]) == "OK"
    assert "are missing" in client("PETAL.ADD", "part", "x")
    assert "starts at byte 5" in client("PETAL.IMPORT", "part", 1 + 6, b"x")
    client("PETAL.RESERVE", "c", "blocked", 5000, "0.01")
    reply = client("PETAL.MERGE", "b", "c")
    assert isinstance(reply, Error) and "differ" in reply, reply


def check_what_is_kept():
    for options in (("--save", "900", "1"), ("--appendonly", "yes", "--aof-use-rdb-preamble", "no")):
        server = Server(*options, module_options=ALL_IN_A_THREAD)
        client = server.client()
        for _ in each_filter(client):
            pass
        client("PETAL.IMPORT", "part", 1 + 1000, LARGE[:1000])
        before = {key: digest(client, key) for key in client("KEYS", "*")}
        for rewrites in (False, True):
            if rewrites and "--appendonly" in options:
                client("BGREWRITEAOF")
                wait_for("a file", lambda: b"aof_rewrite_in_progress:0" in client("INFO", "persistence"))
            server.restart()
            client = server.client()
            assert {key: digest(client, key) for key in client("KEYS", "*")} == before, options


def check_replicas_have_the_same_bytes():
    primary, replica = Server(tcp=True, module_options=ALL_IN_A_THREAD), Server(tcp=True)
    client, other = primary.client(), replica.client()
    other("REPLICAOF", "127.0.0.1", primary.port)
    wait_for("a replica", lambda: b"master_link_status:up" in other("INFO", "replication"))
    for kind, about, even in each_filter(client):
        client("PETAL.REMOVE", kind, *even[:50])
        client("PETAL.REJUVENATE", kind, *even[50:100])
        client("PETAL.ADVANCE", kind, 1)
        client("PETAL.MERGE", f"merged {kind}", kind)
        # More than it is for: it grows, or refuses some.
        client("PETAL.MADD", kind, *(item(about, 10_000 + i) for i in range(5 * ITEMS)))
        # Some that grow have shortened what they know of these.
        client("PETAL.REJUVENATE", kind, *even[100:200])
    client("SET", "last", 1)
    assert client("WAIT", 1, 60000) == 1
    keys = sorted(client("KEYS", "*"))
    assert keys == sorted(other("KEYS", "*"))
    for key in keys:
        if key != b"last":
            assert digest(client, key) == digest(other, key), key


def check_damaged_images():
    client = Server("--rdbcompression", "no", "--maxmemory", "1gb").client()
    generator = random.Random(17)
    taken = 0
    client("BF.ADD", "bf", "x")
    version = client("DUMP", "bf")[-10:-8]
    for round_ in range(1500):
        image = bytearray(generator.choice(list(GOLDEN.values())))
        for _ in range(generator.choice((1, 1, 2, 4))):
            at = generator.randrange(generator.choice((300, len(image))))
            image[at] = generator.choice((0, 1, 0x7F, 0xFF, generator.randrange(256)))
        client("DEL", "damaged")
        if round_ % 2:
            load(client, "damaged", bytes(image), len(image))
        else:
            body = b"\x07\x81" + MODULE + dumps.unsigned(1) + dumps.unsigned(len(image))
            body += dumps.string(bytes(image)) + b"\x00" + version
            reply = client("RESTORE", "damaged", 0, dumps.sealed(body))
            taken += not isinstance(reply, Error)
        for command in ("EXISTS", "ADD", "COUNT", "REJUVENATE", "REMOVE", "ESTIMATE", "INFO", "MAPGET"):
            client(f"PETAL.{command}", "damaged", *(("x",) if command not in ("ESTIMATE", "INFO") else ()))
        client("MEMORY", "USAGE", "damaged")
        client("DUMP", "damaged")
    assert client("PING") == Simple("PONG")
    assert taken > 0


MODULE = dumps.module("petal-img", 1)


def check_help():
    client = Server().client()
    lines = client("PETAL.HELP")
    names = [line.split(" ")[0] for line in lines[::2]]
    if servers.version() >= (7, 0):
        listed = client("COMMAND", "LIST", "FILTERBY", "MODULE", "petal")
        assert set(names) == {name.decode().upper() for name in listed if name.startswith(b"petal.")}, names
    assert "PETAL.MAPPUT key (item value)..." in lines and "PETAL.ADVANCE key [steps]" in lines, lines
    assert all(line.startswith("    ") and line.endswith(".") for line in lines[1::2]), lines
