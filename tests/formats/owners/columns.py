"""Bloom filters of Parquet and ORC files; README.md says how it is called and what it prints.

Files are pyarrow's. A filter is cut out of its file by the file's own index; of absent keys pyarrow says nothing, so
`-` is printed. To read, a filter takes the place of that in a file of pyarrow's with a column of other values, and
duckdb says what the file's filter says of keys. Nobody here reads those of ORC files one key at a time.
"""
import pathlib
import struct
import sys

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

folder = pathlib.Path(sys.argv[2])


def save(name, data):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def parquet_file(path, values, capacity, rate):
    """Writes a file with one column, and says where its filter starts and ends."""
    pq.write_table(pa.table({"c": values}), path, bloom_filter_options={"c": {"ndv": capacity, "fpp": rate}})
    data = path.read_bytes()
    # The filter starts like every Thrift header of this kind, and says its own length.
    choices = bytes.fromhex("1c1c00001c1c00001c1c000000")
    at = data.index(choices)
    start = max(i for i in range(at - 6, at) if data[i] == 0x15)
    zigzag = 0
    for i, byte in enumerate(data[start + 1 : at]):
        zigzag |= (byte & 0x7F) << (7 * i)
    return data, start, at + len(choices) + zigzag // 2


def parquet(keys, capacity, rate):
    path = folder / "column.parquet"
    data, start, end = parquet_file(path, [f"key-{i}" for i in range(keys)], capacity, rate)
    path.unlink()
    save(f"parquet/{keys}.bin", data[start:end])
    # The filter of a column with fewer keys than were announced is folded.
    made = f" {capacity} {rate} - 0" if keys == capacity else ""
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



def write(sizes):
    for size in sizes:
        keys, capacity, rate = size.split(":")
        keys, capacity, rate = int(keys), int(capacity), float(rate)
        if keys == 0:
            continue
        parquet(keys, capacity, rate)
        orc_column(keys, rate, [f"key-{i}" for i in range(keys)], "orc_text", str(keys))
        # Eight letters are a number too.
        words = [f"word{i:04}" for i in range(keys)]
        save(f"orc_number/{keys}.keys", "".join(word + "\n" for word in words).encode())
        numbers = [struct.unpack("<q", word.encode())[0] for word in words]
        orc_column(keys, rate, numbers, "orc_number", f"orc_number/{keys}.keys")


def read():
    import duckdb

    connection = duckdb.connect()
    same = True
    for line in (folder / "vectors.txt").read_text().splitlines():
        format, name, keys, expected, capacity, rate = line.split()[:6]
        if format != "parquet":
            continue
        keys, path = int(keys), folder / "column.parquet"
        data, start, end = parquet_file(path, [f"other-{i}" for i in range(int(capacity))], int(capacity), float(rate))
        filter = (folder / name).read_bytes()
        if len(filter) != end - start:
            raise SystemExit(f"{name} has {len(filter)} bytes, pyarrow's has {end - start}")
        path.write_bytes(data[:start] + filter + data[end:])

        def count(prefix, texts):
            probe = f"SELECT NOT bloom_filter_excludes FROM parquet_bloom_probe('{path}', 'c', $1)"
            return sum(connection.execute(probe, [f"{prefix}-{i}"]).fetchone()[0] for i in range(texts))

        found, positives = count("key", keys), count("absent", 10000)
        is_same = (found, positives) == (keys, int(expected))
        same &= is_same
        print(f"{'same' if is_same else 'OTHER'} {name}: {found} keys, {positives} positives")
        path.unlink()
    sys.exit(0 if same else 1)


if sys.argv[1] == "write":
    write(sys.argv[3:])
else:
    read()
