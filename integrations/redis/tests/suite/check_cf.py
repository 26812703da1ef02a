"""What CF.* reply and do, compared with RedisBloom's documents and tests, and a model of its tables."""

import random
import struct

import dumps
from client import Error, Simple
from replies import WRONG_TYPE, arity, same, table
from server import Server, needs

MASK = (1 << 64) - 1


def check_making_and_adding():
    client = Server().client()
    table(client, [
        ("CF.RESERVE cf 1000", Simple("OK")),
        ("CF.EXISTS cf k1", 0),
        ("CF.ADD cf k1", 1),
        ("CF.ADD cf k1", 1),
        ("CF.EXISTS cf k1", 1),
        ("CF.COUNT cf k1", 2),
        ("CF.DEL cf k1", 1),
        ("CF.COUNT cf k1", 1),
        ("CF.DEL cf k1", 1),
        ("CF.COUNT cf k1", 0),
        ("CF.DEL cf k1", 0),
        ("CF.ADDNX nx k1", 1),
        ("CF.ADDNX nx k1", 0),
        ("CF.COUNT nx k1", 1),
        ("CF.ADD nx k1", 1),
        ("CF.COUNT nx k1", 2),
        ("CF.INSERT f2 ITEMS foo", [1]),
        ("CF.INSERTNX f2 items foo", [0]),
        ("CF.INSERT f3 CAPACITY 10000 ITEMS foo", [1]),
        ("CF.DEBUG f3", b"bktsize:2 buckets:8192 items:1 deletes:0 filters:1 max_iterations:20 expansion:1"),
        ("CF.INSERTNX f3 ITEMS foo bar baz", [0, 1, 1]),
        ("CF.MEXISTS f3 foo bar baz no", [1, 1, 1, 0]),
        ("CF.INSERT f4 NOCREATE ITEMS foo", Error("ERR not found")),
        ("CF.INSERT f4 items ITEMS", [1]),
        ("CF.INSERT f4 nocreate items foo", [1]),
        ("CF.EXISTS missing foo", 0),
        ("CF.MEXISTS missing foo bar", [0, 0]),
        ("CF.COUNT missing foo", 0),
        ("CF.RESERVE a 10 MAXITERATIONS 10", Simple("OK")),
        ("CF.DEBUG a", b"bktsize:2 buckets:8 items:0 deletes:0 filters:1 max_iterations:10 expansion:1"),
        ("CF.RESERVE e 64 EXPANSION 5 BUCKETSIZE 3", Simple("OK")),
        ("CF.DEBUG e", b"bktsize:3 buckets:32 items:0 deletes:0 filters:1 max_iterations:20 expansion:8"),
        ("CF.ADD deleted Redis", 1),
        ("CF.DEL deleted Redis", 1),
        ("CF.DEBUG deleted", b"bktsize:2 buckets:512 items:0 deletes:1 filters:1 max_iterations:20 expansion:1"),
        ("TYPE a", Simple("MBbloomCF")),
    ])


def check_information():
    client = Server().client()
    table(client, [
        ("CF.RESERVE a 1000", Simple("OK")),
        ("CF.INFO a", ["Size", 1080, "Number of buckets", 512, "Number of filters", 1, "Number of items inserted", 0,
                       "Number of items deleted", 0, "Bucket size", 2, "Expansion rate", 1, "Max iterations", 20]),
    ])


def check_filters_grow_as_documented():
    client = Server().client()
    for of, tables in (("64 BUCKETSIZE 1", 18), ("64 BUCKETSIZE 2", 17), ("64 EXPANSION 2", 5),
                       ("256 BUCKETSIZE 4 MAXITERATIONS 500", 4), ("64 EXPANSION 4 MAXITERATIONS 500", 3)):
        client("DEL", "cf")
        client("CF.RESERVE", "cf", *of.split())
        for i in range(1000):
            assert client("CF.ADD", "cf", i) == 1
        same(client("CF.MEXISTS", "cf", *range(1000)), [1] * 1000)
        line = client("CF.DEBUG", "cf")
        assert f"items:1000 deletes:0 filters:{tables} ".encode() in line, (of, line)


def check_full_filters():
    client = Server().client()
    table(client, [
        ("CF.RESERVE a 4 EXPANSION 0", Simple("OK")),
        ("CF.INSERT a ITEMS 1 2 3 4", [1, 1, 1, 1]),
        ("CF.INSERT a ITEMS 5 6", [-1, -1]),
        ("CF.INSERTNX a ITEMS 1 9", [0, -1]),
        ("CF.ADD a 5", Error("Filter is full")),
        ("CF.ADDNX a 1", 0),
        ("CF.MEXISTS a 1 2 3 4", [1, 1, 1, 1]),
        ("CF.DEBUG a", b"bktsize:2 buckets:2 items:4 deletes:0 filters:1 max_iterations:20 expansion:0"),
    ])
    # From 32 tables on, or as many as the module's arguments say, nothing is added.
    for options, most in (((), 32), (("CF_MAX_EXPANSIONS", 5), 5)):
        client = Server(module_options=options).client()
        client("CF.RESERVE", "cf", 4)
        replies = [client("CF.ADD", "cf", i) for i in range(200)]
        first = replies.index(Error("Maximum expansions reached"))
        assert replies[:first] == [1] * first and first > 2.5 * most and len(set(replies[first:])) == 1, replies
        assert f" filters:{most} ".encode() in client("CF.DEBUG", "cf")


def check_refusals():
    client = Server().client()
    client("SET", "text", "bar")
    client("CF.ADD", "cf", "x")
    out_of_range = Error("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")
    not_inserted = Error("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")
    rows = [
        ("CF.RESERVE x", arity("cf.reserve")),
        ("CF.RESERVE x 10 EXPANSION", arity("cf.reserve")),
        ("CF.RESERVE x str", Error("Bad capacity")),
        ("CF.RESERVE x 1", out_of_range),
        ("CF.RESERVE x -10", out_of_range),
        ("CF.RESERVE x 10 BUCKETSIZE 6", out_of_range),
        ("CF.RESERVE x 9223372036854775807", out_of_range),
        ("CF.RESERVE x 1073741825", out_of_range),
        ("CF.INSERT x CAPACITY 1073741825 ITEMS k", not_inserted),
        ("CF.RESERVE cf 1000", Error("ERR item exists")),
        ("CF.RESERVE text 1000", Error(WRONG_TYPE)),
        ("CF.INSERT x CAPACITY -1 ITEMS k", not_inserted),
        ("CF.INSERT x CAPACITY 3 ITEMS k", not_inserted),
        ("CF.INSERT x CAPACITY", arity("cf.insert")),
        ("CF.INSERT x NOCREATE CAPACITY", arity("cf.insert")),
        ("CF.INSERT x NOCREATE CAPACITY str", Error("Bad capacity")),
        ("CF.INSERT x NOCREATE DONTEXIST", Error("Unknown argument received")),
        ("CF.INSERT x NOCREATE ITEMS", arity("cf.insert")),
        ("CF.INSERTNX x element", arity("cf.insertnx")),
        ("CF.ADD text k", Error(WRONG_TYPE)),
        ("CF.INSERT text ITEMS k", Error(WRONG_TYPE)),
        ("CF.INFO text", Error(WRONG_TYPE)),
        ("CF.DEBUG text", Error(WRONG_TYPE)),
        ("CF.SCANDUMP text 0", Error(WRONG_TYPE)),
        ("CF.LOADCHUNK text 1 x", Error(WRONG_TYPE)),
        ("CF.EXISTS text k", 0),
        ("CF.MEXISTS text k l", [0, 0]),
        ("CF.COUNT text k", 0),
        ("CF.DEL text k", Error("Not found")),
        ("CF.DEL missing k", Error("Not found")),
        ("CF.COMPACT missing", Error("Cuckoo filter was not found")),
        ("CF.COMPACT cf b", arity("cf.compact")),
        ("CF.INFO missing", Error("ERR not found")),
        ("CF.DEBUG missing", Error("ERR not found")),
        ("CF.SCANDUMP missing 0", Error("ERR not found")),
        ("CF.SCANDUMP cf", arity("cf.scandump")),
        ("CF.SCANDUMP cf str", Error("Invalid position")),
        ("CF.SCANDUMP cf -1", Error("Invalid position")),
        ("CF.SCANDUMP cf 1025", [0, None]),
        ("CF.LOADCHUNK cf str data", Error("Invalid position")),
        ("CF.LOADCHUNK cf 0 data", Error("Invalid position")),
        ("CF.LOADCHUNK cf 1 data", Error("ERR item exists")),
        ("CF.LOADCHUNK cf -9223372036854775808 1", Error("Invalid position")),
        ("CF.LOADCHUNK cf 922337203685477588 1", Error("Couldn't load chunk!")),
        ("CF.LOADCHUNK cf 4 abcd", Error("Couldn't load chunk!")),
        (("CF.LOADCHUNK", "cf", 4, ""), Error("Couldn't load chunk!")),
        ("CF.LOADCHUNK cf 1026 ab", Error("Couldn't load chunk!")),
        ("CF.LOADCHUNK missing 2 a", Error("ERR not found")),
        ("CF.LOADCHUNK missing 1 a", Error("Invalid header")),
    ]
    for name, least, most in (("MAXITERATIONS", 1, 65535), ("BUCKETSIZE", 1, 255), ("EXPANSION", 0, 32768)):
        wrong = Error(f"{name}: value must be in the range [{least}, {most}]")
        rows += [(f"CF.RESERVE x 1000 {name} {value}", wrong) for value in (least - 1, most + 1)]
        rows += [(f"CF.RESERVE x 1000 {name} str", Error(f"Couldn't parse {name}"))]
    for command in ("ADD", "ADDNX", "EXISTS", "MEXISTS", "COUNT", "DEL", "LOADCHUNK", "INSERT", "INSERTNX"):
        rows += [(f"CF.{command}", arity(f"cf.{command}")), (f"CF.{command} cf", arity(f"cf.{command}"))]
    for words in ("CF.ADD cf 1 2", "CF.EXISTS cf 1 2", "CF.INFO"):
        rows += [(words, arity(words.split()[0]))]
    before = client("DEBUG", "DIGEST")
    table(client, rows)
    assert client("DEBUG", "DIGEST") == before and client("EXISTS", "x") == 0


def check_replies_of_resp3():
    needs(7, 0)
    client = Server().client(3)
    table(client, [
        ("CF.RESERVE a 9 EXPANSION 0", Simple("OK")),
        ("CF.ADD a 3", True),
        ("CF.ADDNX a 4", True),
        ("CF.ADDNX a 4", False),
        ("CF.INSERT a ITEMS 4 5", [True, True]),
        ("CF.INSERTNX a ITEMS 4 6", [0, 1]),
        ("CF.DEL a 3", True),
        ("CF.DEL a 3", False),
        ("CF.EXISTS a 3", False),
        ("CF.EXISTS a 4", True),
        ("CF.MEXISTS a 4 3", [True, False]),
        ("CF.COUNT a 4", 2),
        ("CF.INFO a", {"Size": 64, "Number of buckets": 4, "Number of filters": 1, "Number of items inserted": 4,
                       "Number of items deleted": 1, "Bucket size": 2, "Expansion rate": 0, "Max iterations": 20}),
        ("CF.RESERVE e 4", Simple("OK")),
        ("CF.SCANDUMP e 0", [0, None]),
        ("CF.RESERVE f 4 EXPANSION 0", Simple("OK")),
        ("CF.INSERT f ITEMS 1 2 3 4 5", [True, True, True, True, False]),
    ])


class Model:
    """Tables as formats.md and RedisBloom's behaviour say them, with lists of buckets instead of arrays."""

    def __init__(self, buckets, slots, kicks, expansion):
        self.tables, self.slots, self.kicks, self.expansion = [self.table(buckets, slots)], slots, kicks, expansion
        self.keys = self.deleted = 0

    @staticmethod
    def table(buckets, slots):
        return [[0] * slots for _ in range(buckets)]

    def places(self, key):
        value = murmur(key.encode())
        return value % 255 + 1, value

    def homes(self, table, fingerprint, value):
        for place in (value, value ^ fingerprint * 0x5BD1E995):
            yield table[place % len(table)]

    def put(self, table, fingerprint, value):
        for bucket in self.homes(table, fingerprint, value):
            if 0 in bucket:
                bucket[bucket.index(0)] = fingerprint
                return True
        return False

    def add(self, key):
        fingerprint, value = self.places(key)
        self.keys += 1
        if any(self.put(table, fingerprint, value) for table in reversed(self.tables)):
            return
        newest = self.tables[-1]
        before = [list(bucket) for bucket in newest]
        at, carried = value % len(newest), fingerprint
        for kick in range(self.kicks):
            newest[at][kick % self.slots], carried = carried, newest[at][kick % self.slots]
            at = (at ^ carried * 0x5BD1E995) % len(newest)
            if 0 in newest[at]:
                newest[at][newest[at].index(0)] = carried
                return
        self.tables[-1] = before
        self.tables.append(self.table(len(newest) * self.expansion, self.slots))
        self.put(self.tables[-1], fingerprint, value)

    def delete(self, key):
        fingerprint, value = self.places(key)
        for table in reversed(self.tables):
            for bucket in self.homes(table, fingerprint, value):
                if fingerprint in bucket:
                    bucket[bucket.index(fingerprint)] = 0
                    self.keys -= 1
                    self.deleted += 1
                    if len(self.tables) > 1 and 10 * self.deleted > self.keys:
                        self.compact(False)
                    return 1
        return 0

    def compact(self, every):
        for number in range(len(self.tables) - 1, 0, -1):
            table = self.tables[number]
            for at, bucket in enumerate(table):
                for slot, fingerprint in enumerate(bucket):
                    if fingerprint and any(self.put(older, fingerprint, at) for older in self.tables[:number]):
                        bucket[slot] = 0
            if any(map(any, table)):
                if not every:
                    break
            elif number == len(self.tables) - 1:
                self.tables.pop()
        self.deleted = 0

    def whole(self):
        words = struct.pack("<QQQQ", self.keys, len(self.tables[0]), self.deleted, len(self.tables))
        return words + struct.pack("<HHH", self.slots, self.kicks, self.expansion) + b"".join(
            bytes(bucket) for table in self.tables for bucket in table)


def murmur(key):
    """MurmurHash64A with the seed 0."""
    m, r = 0xC6A4A7935BD1E995, 47
    value = len(key) * m & MASK
    whole = len(key) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", key[:whole]):
        word = word * m & MASK
        value = (value ^ (word ^ word >> r) * m & MASK) * m & MASK
    if len(key) > whole:
        value = (value ^ int.from_bytes(key[whole:], "little")) * m & MASK
    value = (value ^ value >> r) * m & MASK
    return value ^ value >> r


def check_deleting_and_compacting_are_redisblooms():
    client = Server().client()
    generator = random.Random(18)
    shrunk = 0
    for buckets, slots, kicks, expansion in ((8, 2, 20, 1), (16, 1, 5, 2), (8, 4, 50, 2), (4, 3, 1, 4), (32, 2, 7, 1)):
        client("DEL", "cf")
        client("CF.RESERVE", "cf", buckets * slots, "BUCKETSIZE", slots, "MAXITERATIONS", kicks, "EXPANSION", expansion)
        model, held = Model(buckets, slots, kicks, expansion), []
        for step in range(1050):
            # It grows and shrinks by turns.
            if held and generator.random() < (0.2, 0.8)[step // 150 % 2]:
                key = held.pop(generator.randrange(len(held)))
                before = len(model.tables)
                assert client("CF.DEL", "cf", key) == model.delete(key) == 1
                shrunk += len(model.tables) < before
            elif len(model.tables) < 31:
                key = f"{generator.randrange(400)}" * generator.randrange(1, 5)
                assert client("CF.ADD", "cf", key) == 1
                model.add(key)
                held.append(key)
            if step % 400 == 399:
                assert client("CF.COMPACT", "cf") == "OK"
                model.compact(True)
            if step % 10 == 0 and model.keys:
                assert dumps.whole(client, "cf") == model.whole(), (buckets, slots, step)
        assert held and client("CF.MEXISTS", "cf", *held) == [1] * len(held)
    assert shrunk > 10, shrunk
