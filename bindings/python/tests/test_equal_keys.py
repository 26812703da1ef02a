"""What is the same key as what: the table of docs/python.md, held against the command `petal`, which reads a saved file."""

import subprocess

import pytest

import petal

# What Python inserts, and the bytes of the key, which the command reads as a line.
ROWS = [
    ("apple", b"apple"),
    ("schön", b"sch\xc3\xb6n"),
    ("𝄞", b"\xf0\x9d\x84\x9e"),
    (b"apple", b"apple"),
    (bytearray(b"pear"), b"pear"),
    (memoryview(b"plum"), b"plum"),
    (b"\xff\x00\x01", b"\xff\x00\x01"),
    ("5", b"5"),
    (5, b"\5\0\0\0\0\0\0\0"),
    (2**64 - 1, b"\xff" * 8),
    (True, b"\1\0\0\0\0\0\0\0"),
]


def ask(command, path, line):
    result = subprocess.run([command, "check", str(path)], input=line + b"\n", capture_output=True)
    assert result.returncode in (0, 1), result.stderr
    return result.returncode == 0


@pytest.mark.parametrize("key, line", ROWS, ids=repr)
@pytest.mark.parametrize("many", [False, True])
def test_the_command_agrees(command, tmp_path, key, line, many):
    path = tmp_path / "f.petal"
    f = petal.Filter(1000, 1e-9)
    f.update([key]) if many else f.add(key)
    f.save(path)
    assert ask(command, path, line)
    assert not ask(command, path, line + b"!")
    assert not ask(command, path, line[:-1])


def arrays():
    """Arrays, each with the bytes of its first key."""
    try:
        import numpy as np

        for dtype in ("u2", "i2", "u4", "i4", "u8", "i8"):
            yield f"numpy {dtype}", np.array([258], dtype), b"\2\1\0\0\0\0\0\0"
        yield "numpy U", np.array(["schön"], "U9"), b"sch\xc3\xb6n"
        yield "numpy S", np.array([b"ab"], "S4"), b"ab"
        yield "numpy V", np.array([b"ab\0\0"], "V4"), b"ab\0\0"
        yield "numpy object", np.array(["schön"], object), b"sch\xc3\xb6n"
        import pandas as pd

        yield "pandas text", pd.Series(["schön"]), b"sch\xc3\xb6n"
        yield "pandas int", pd.Series([258]), b"\2\1\0\0\0\0\0\0"
        import pyarrow as pa

        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
            yield f"arrow {kind}", pa.array(["schön"], kind), b"sch\xc3\xb6n"
        for kind in (pa.binary(), pa.large_binary(), pa.binary(2)):
            yield f"arrow {kind}", pa.array([b"a\0"], kind), b"a\0"
        for kind in (pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.uint64()):
            yield f"arrow {kind}", pa.array([113], kind), b"\x71\0\0\0\0\0\0\0"
        import polars as pl

        yield "polars text", pl.Series(["schön"]), b"sch\xc3\xb6n"
        yield "polars int", pl.Series([258]), b"\2\1\0\0\0\0\0\0"
    except ImportError:
        return


@pytest.mark.parametrize("name, keys, line", [pytest.param(*row, id=row[0]) for row in arrays()])
def test_the_command_agrees_on_arrays(command, tmp_path, name, keys, line):
    path = tmp_path / "f.petal"
    f = petal.Filter(1000, 1e-9)
    f.update(keys)
    f.save(path)
    assert line in f
    assert ask(command, path, line)
    assert not ask(command, path, line + b"!")


def test_a_filter_of_the_command(command, tmp_path):
    path = tmp_path / "built.petal"
    words = [f"word {i}" for i in range(1000)]
    subprocess.run([command, "build", "--kind", "fuse", "--fpr", "0.001", "-o", path], input="\n".join(words).encode(),
                   check=True, capture_output=True)
    with petal.Filter.open(path) as f:
        assert f.kind == "fuse" and all(f.contains(words))
        assert sum(f.contains([f"other {i}" for i in range(10_000)])) < 30
