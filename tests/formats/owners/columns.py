"""Bloom filters out of Parquet and ORC files that pyarrow writes: columns.py FOLDER. See vectors.txt for what it prints.

A filter is cut out of its file by the file's own index; of absent keys nobody there says what is found.
"""
import pathlib
import struct
import sys

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

folder = pathlib.Path(sys.argv[1])


def save(name, data):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def parquet(keys, capacity, rate):
    table = pa.table({"c": [f"key-{i}" for i in range(keys)]})
    path = folder / "column.parquet"
    pq.write_table(table, path, bloom_filter_options={"c": {"ndv": capacity, "fpp": rate}})
    data = path.read_bytes()
    path.unlink()
    # The filter starts like every Thrift header of this kind, and says its own length.
    choices = bytes.fromhex("1c1c00001c1c00001c1c000000")
    at = data.index(choices)
    start = max(i for i in range(at - 6, at) if data[i] == 0x15)
    zigzag = 0
    for i, byte in enumerate(data[start + 1 : at]):
        zigzag |= (byte & 0x7F) << (7 * i)
    save(f"parquet/{keys}.bin", data[start : at + len(choices) + zigzag // 2])
    made = f" {capacity} {rate} - 0" if keys == 1000 else ""
    print(f"parquet parquet/{keys}.bin {keys} -{made}")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def orc_column(keys, rate, values, name, line):
    table = pa.table({"c": values})
    path = folder / "column.orc"
    orc.write_table(
        table, str(path), bloom_filter_columns=[1], bloom_filter_fpp=rate, compression="uncompressed",
        row_index_stride=10000,
    )
    data = path.read_bytes()
    path.unlink()
    # A stream with one row group: a tag, the length, and the message, which starts with its number of hashes.
    for at in range(len(data) - 8):
        if data[at] != 0x0A:
            continue
        length, start = varint(data, at + 1)
        message = data[start : start + length]
        if length > 64 and len(message) == length and message[0] == 0x08 and message[2] == 0x1A:
            size, body = varint(message, 3)
            if size % 8 == 0 and body + size == length:
                save(f"{name}/{keys}.bin", message)
                # The writer sizes a filter for the rows of a group.
                print(f"{name} {name}/{keys}.bin {line} - 10000 {rate} - 0")
                return
    raise SystemExit("no filter found in the ORC file")


parquet(1000, 1000, 0.01)
parquet(17, 17, 0.001)
orc_column(1000, 0.01, [f"key-{i}" for i in range(1000)], "orc_text", "1000")
# Eight letters are a number too.
words = [f"word{i:04}" for i in range(1000)]
save("orc_number/words.keys", "".join(word + "\n" for word in words).encode())
numbers = [struct.unpack("<q", word.encode())[0] for word in words]
orc_column(1000, 0.05, numbers, "orc_number", "orc_number/words.keys")
