"""RedisBloom's bytes, put together without the module: chunks, and what DUMP gives."""

import pathlib
import struct

FORMATS = pathlib.Path(__file__).parents[4] / "tests" / "formats" / "redisbloom"

# What RedisBloom's own code wrote: file, how it was reserved, and how many of key-0, key-1 ... were added.
VECTORS = [
    ("100-10", ("0.01", 100), 10),
    ("10-40", ("0.01", 10), 40),
    ("10-60", ("0.1", 10, "EXPANSION", 4), 60),
    ("100-100", ("0.001", 100, "NONSCALING"), 100),
    ("1000-1", ("0.01", 1000), 1),
]


def vector(name):
    return (FORMATS / f"{name}.bin").read_bytes()


class Chain:
    """What chunks, one after the other, say."""

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
        """What BF.SCANDUMP gives: iterators with their bytes, each link in one."""
        yield 1, self.header
        end = 1
        for link in self.links:
            end += link["bytes"]
            yield end, link["array"]

    def dump(self, rdb_version):
        """What DUMP gives where strings are not compressed."""
        body = b"\x07\x81" + bytes.fromhex("3016e5a289bef804")
        for number in (self.keys, len(self.links), self.options, self.growth):
            body += unsigned(number)
        for link in self.links:
            body += unsigned(link["entries"]) + real(link["error"]) + unsigned(link["hashes"]) + real(link["bpe"])
            body += unsigned(link["bits"]) + unsigned(link["n2"])
            body += b"\x05" + length(len(link["array"])) + link["array"] + unsigned(link["size"])
        return sealed(body + b"\x00" + rdb_version)


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


def scan(client, key):
    """All chunks of a key."""
    chunks, iterator = [], 0
    while True:
        iterator, data = client("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            assert data == b"", data
            return chunks
        chunks.append((iterator, data))


def whole(client, key):
    """All bytes of a key."""
    return b"".join(data for _, data in scan(client, key))
