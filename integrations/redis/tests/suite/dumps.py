"""RedisBloom's bytes, put together without the module: chunks, and what DUMP gives."""

import pathlib
import struct

FORMATS = pathlib.Path(__file__).parents[4] / "tests" / "formats"

def chunks(header, arrays):
    """What SCANDUMP gives: iterators with their bytes, each array in one."""
    yield 1, header
    end = 1
    for array in arrays:
        end += len(array)
        yield end, array


class Kept:
    """What RedisBloom's own code wrote, and what is the same in its filters of both sorts."""

    @classmethod
    def vector(cls, name):
        return cls((FORMATS / cls.FOLDER / f"{name}.bin").read_bytes())

    def dump(self, rdb_version):
        """What DUMP gives where strings are not compressed."""
        return sealed(self.body() + b"\x00" + rdb_version)


class Cuckoo(Kept):
    """What chunks of a cuckoo filter, one after the other, say."""

    COMMANDS, FOLDER = "CF", "redisbloom_cuckoo"
    # File, how it was reserved, and how many of key-0, key-1 ... were added.
    VECTORS = [
        ("64-10", (64,), 10),
        ("16-40", (16,), 40),
        ("32-100", (32, "BUCKETSIZE", 4, "EXPANSION", 2), 100),
        ("16-300", (16, "BUCKETSIZE", 3, "MAXITERATIONS", 7, "EXPANSION", 1), 300),
    ]

    def __init__(self, data):
        self.header, at = data[:38], 38
        self.keys, buckets, self.deleted, count, *small = struct.unpack("<QQQQHHH", self.header)
        self.slots, self.kicks, self.expansion = small
        self.buckets = [buckets * self.expansion**i for i in range(count)]
        self.arrays = []
        for buckets in self.buckets:
            self.arrays.append(data[at : at + buckets * self.slots])
            at += buckets * self.slots
        assert at == len(data)

    def chunks(self):
        return chunks(self.header, self.arrays)

    def body(self):
        body = b"\x07\x81" + module("MBbloomCF", 4)
        for number in (len(self.arrays), self.buckets[0], self.keys, self.deleted):
            body += unsigned(number)
        for number in (self.slots, self.kicks, self.expansion):
            body += unsigned(number)
        for buckets, array in zip(self.buckets, self.arrays):
            body += unsigned(buckets) + string(array)
        return body


class Chain(Kept):
    """What chunks of a chain of Bloom filters, one after the other, say."""

    COMMANDS, FOLDER = "BF", "redisbloom"
    VECTORS = [
        ("100-10", ("0.01", 100), 10),
        ("10-40", ("0.01", 10), 40),
        ("10-60", ("0.1", 10, "EXPANSION", 4), 60),
        ("100-100", ("0.001", 100, "NONSCALING"), 100),
        ("1000-1", ("0.01", 1000), 1),
        ("hashes-256", ("1e-77", 5, "NONSCALING"), 5),
        ("hashes-1074", ("1e-323", 5, "NONSCALING"), 5),
        ("links-258", ("0.01", 4, "EXPANSION", 1), 1195),
    ]

    def __init__(self, data):
        self.keys, count, self.options, self.growth = struct.unpack_from("<QIII", data)
        names = ("bytes", "bits", "size", "error", "bpe", "hashes", "entries", "n2")
        lines = (struct.unpack_from("<QQQddIQB", data, 20 + 53 * i) for i in range(count))
        self.links = [dict(zip(names, line)) for line in lines]
        at = 20 + 53 * count
        self.header = data[:at]
        for link in self.links:
            link["array"] = data[at : at + link["bytes"]]
            at += link["bytes"]
        assert at == len(data)

    def chunks(self):
        return chunks(self.header, [link["array"] for link in self.links])

    def body(self):
        body = b"\x07\x81" + module("MBbloom--", 4)
        for number in (self.keys, len(self.links), self.options, self.growth):
            body += unsigned(number)
        for link in self.links:
            body += unsigned(link["entries"]) + real(link["error"]) + unsigned(link["hashes"]) + real(link["bpe"])
            body += unsigned(link["bits"]) + unsigned(link["n2"])
            body += string(link["array"]) + unsigned(link["size"])
        return body


class Object(Kept):
    """What BF.LOAD takes, valkey-bloom's bytes, says."""

    COMMANDS, FOLDER = "BF", "valkey_chain"
    # File, how it was made (None by BF.MADD alone), how many of key-0, key-1 ... were added, how many of absent-0 to
    # absent-9999 are found, and what DEBUG DIGEST-VALUE said.
    VECTORS = [
        ("usual", None, 50, 1, "a67c540f8fb61365754579bae1bc829c300760d1"),
        ("grown", ("BF.RESERVE", "0.01", 10, "EXPANSION", 1), 60, 324, "5403d3b2890503109c6cc89861849a5340344eee"),
        ("wide", ("BF.RESERVE", "0.1", 5, "EXPANSION", 4), 100, 2449, "2c0dcb5928c9c6d281a1c481ec35e9ffdfec59b8"),
        ("full", ("BF.RESERVE", "0.001", 20, "NONSCALING"), 20, 32, "a7287b1490e1371f6df3d3d219d21462d001fe30"),
        ("seeded", ("BF.INSERT", "CAPACITY", 7, "ERROR", "0.05", "TIGHTENING", "0.3", "SEED",
                    "abcdefghijklmnopqrstuvwxyz012345"), 40, 393, "2112e7fe8805b702f67917583afff0e182bf7bcf"),
        ("fixed", ("BF.RESERVE", "0.02", 100), 30, 1, "c1906fe0ef3f7290c2ef9b9b04dc7b67c8da7cf0"),
        ("empty", ("BF.RESERVE", "0.01", 16), 0, 0, "4b589d225f35b554c81697546ec2f5c5a9db67af"),
        ("narrow", ("BF.RESERVE", "1e-100", 1), 1, 3, "2ac95f9185d4764c71a902cebe0a7096fb92b09c"),
    ]

    def __init__(self, data):
        self.data = data
        version, self.expansion, self.rate, self.tightening, self.random, count = struct.unpack_from("<BIdd?Q", data)
        assert version == 1
        at, self.filters = 30, []
        for _ in range(count):
            (size,) = struct.unpack_from("<Q", data, at)
            blob = data[at + 8 : at + 8 + size]
            self.filters.append((blob, *struct.unpack_from("<QQ", data, at + 8 + size)))
            at += 8 + size + 16
        assert at == len(data)

    @property
    def seed(self):
        return self.filters[0][0][13:45]

    def body(self):
        body = b"\x07\x81" + module("bloomfltr", 1)
        body += unsigned(len(self.filters)) + unsigned(self.expansion)
        body += real(self.rate) + real(self.tightening) + unsigned(self.random)
        for blob, _, capacity in self.filters:
            body += string(blob) + unsigned(capacity)
        return body + unsigned(self.filters[-1][1])


SORTS = (Chain, Cuckoo)


def length(number):
    if number < 1 << 6:
        return bytes([number])
    if number < 1 << 14:
        return struct.pack(">H", number | 0x4000)
    if number < 1 << 32:
        return b"\x80" + struct.pack(">I", number)
    return b"\x81" + struct.pack(">Q", number)


def unsigned(number):
    return b"\x02" + length(number)


def string(data):
    return b"\x05" + length(len(data)) + data


def module(name, version):
    """The number that files know a type by: nine letters of six bits and a version."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for letter in name:
        number = number << 6 | letters.index(letter)
    return struct.pack(">Q", number << 10 | version)


def real(number):
    return b"\x04" + struct.pack("<d", number)


def _table():
    # CRC-64/REDIS: the polynomial of Jones, reflected.
    polynomial = int(f"{0xAD93D23594C935A9:064b}"[::-1], 2)
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (polynomial if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def sealed(data):
    """Bytes with the checksum that RESTORE asks for."""
    crc = 0
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return data + struct.pack("<Q", crc)


def scan(client, key, commands="BF"):
    """All chunks of a key."""
    found, iterator = [], 0
    while True:
        iterator, data = client(f"{commands}.SCANDUMP", key, iterator)
        if iterator == 0:
            assert not data, data
            return found
        found.append((iterator, data))


def whole(client, key):
    """All bytes of a key."""
    commands = "CF" if client("TYPE", key) == "MBbloomCF" else "BF"
    return b"".join(data for _, data in scan(client, key, commands))
