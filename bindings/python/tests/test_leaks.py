"""Each verb up to 10,000 times, in good and in bad order: memory and references stay what they were."""

import array
import ctypes
import gc
import os
import pickle
import sys
import time

import pytest

import petal

try:
    import numpy as np
    import pyarrow as pa
except ImportError:
    np = pa = None


def refused(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except (petal.Error, TypeError, ValueError, OverflowError, LookupError):
        return
    raise AssertionError("it was not refused")


def failing():
    yield "a"
    raise ValueError


def verbs(tmp_path):
    f, other = petal.Filter(100, kind="counting"), petal.Filter(100, kind="counting")
    blocked = petal.Filter(100)
    closed = petal.Filter(100)
    closed.close()
    path = tmp_path / "f"
    f.save(path)
    image = bytes(f)
    numbers = array.array("Q", range(300))
    yield "make", lambda: petal.Filter(100, 0.01, kind="bloom", seed=5)
    yield "make badly", lambda: refused(petal.Filter, 100, 2.0)
    yield "make with an unknown parameter", lambda: refused(petal.Filter, 100, other=object())
    yield "add", lambda: (f.add("a"), f.add(b"a"), f.add(2**63), f.add(bytearray(b"x")), f.discard("a"))
    yield "in", lambda: ("a" in f, b"a" in f, 2**63 in f, memoryview(b"x") in f)
    yield "keys that are none", lambda: (refused(f.add, 1.5), refused(f.add, -1), refused(f.add, "\ud800"))
    yield "absent keys", lambda: (f.discard("no"), refused(f.remove, "no"))
    yield "count", lambda: f.count("a")
    yield "update", lambda: (f.update(["a", 1, b"b", None], nulls="skip"), f.update(numbers), f.clear())
    yield "update badly", lambda: (refused(f.update, failing()), refused(f.update, ["a", 1.5]), refused(f.update, "a"))
    yield "contains", lambda: (f.contains(["a", 1]), f.contains(numbers), f.contains(iter("ab")))
    yield "many", lambda: (f.add_many(["a"]), f.discard_many(["a"]), f.count_many(["a"]), f.add_times(["a"], [2]))
    yield "many badly", lambda: (refused(f.add_times, ["a"], []), refused(f.add_times, ["a"], ["b"]))
    yield "unsupported", lambda: (refused(blocked.remove, "a"), refused(blocked.count_many, ["a"]))
    yield "closed", lambda: (refused(closed.add, "a"), refused(closed.contains, ["a"]), repr(closed))
    yield "combine", lambda: (f | other, f & other, f.__ior__(other), f == other, f.estimate_overlap(other))
    yield "combine badly", lambda: (refused(f.__ior__, blocked), f == "f", f.__or__(5))
    yield "describe", lambda: (f.info, f.statistics(), f.estimate(), repr(f), f.kind, f.capabilities)
    yield "numbers", lambda: (f.expected_false_positive_rate(5), f.hash("a"), f.hash(5), f.compatibility_id)
    yield "images", lambda: (bytes(f), petal.Filter.from_bytes(image), f.copy(), pickle.loads(pickle.dumps(f)))
    yield "images badly", lambda: (refused(petal.Filter.from_bytes, b"x"), refused(petal.Filter.from_bytes, "x"))
    yield "files", lambda: petal.Filter.open(path).close()
    yield "files badly", lambda: (refused(petal.Filter.open, path / "x"), refused(petal.Filter.open, path, "x"))
    packed = blocked.pack()
    yield "wire", lambda: (petal.Filter.unpack(packed, 10_000).patch(blocked.delta(blocked), 10_000), f.pack())
    yield "wire badly", lambda: (refused(petal.Filter.unpack, b"x", 9), refused(blocked.delta, 5))
    guava = bytes([1, 5, 0, 0, 0, 1]) + bytes(8)
    yield "formats", lambda: (refused(f.export, "guava"), petal.import_filter("guava", guava).export("guava"))
    keys = [f"k{i}" for i in range(50)]

    def build(progress=None):
        builder = petal.Builder(kind="fuse", progress=progress)
        builder.update(keys)
        builder.add("x")
        return builder

    def stop(done, total):
        raise LookupError

    yield "builder", lambda: ("x" in build().finish(), build().to_bytes())
    yield "builder with progress", lambda: build(lambda done, total: None).finish()
    yield "builder that is stopped", lambda: (refused(build(stop).finish), refused(build(lambda d, t: False).finish))
    yield "builder badly", lambda: (refused(petal.Builder, progress=5), refused(build().merge, b"x"))

    def values():
        builder = petal.MapBuilder(value_bits=8)
        builder["a"] = 1
        builder.update({"b": 2})
        builder.update(["c"], [3])
        return builder

    built, sketch = values().finish(), petal.Sketch(10)
    yield "map builder", lambda: values().finish()
    yield "map", lambda: (built["a"], built.get("zz"), built.get_many(["a", 5]), "a" in built, built.info, repr(built))
    yield "map badly", lambda: (refused(built.__setitem__, "a", 5), refused(built.__getitem__, "no"))
    yield "sketch", lambda: (sketch.add(1), (sketch - petal.Sketch(10)).difference(), sketch.clear(), sketch.copy())
    yield "plan", lambda: (petal.plan(100, 0.1), refused(petal.plan, 5, 0.1, memory="x"))
    yield "lists", lambda: (petal.kinds(), petal.formats())
    if pa:
        texts, nulls = pa.array(["a", "b"]), pa.array(["a", None])
        chunks, ids = pa.chunked_array([["a"], ["b"]]), np.arange(300)
        yield "arrow", lambda: (f.contains(texts), f.contains(chunks), f.count_many(texts))
        yield "arrow with nulls", lambda: f.contains(nulls, nulls="skip")
        yield "arrow badly", lambda: (refused(f.contains, nulls), refused(f.contains, pa.array([1.5])))
        yield "numpy", lambda: (f.contains(ids), f.count_many(ids), f.contains(np.array(["a", "b"])))
        yield "numpy badly", lambda: (refused(f.contains, ids.astype(float)), refused(f.contains, -ids))


class Mallinfo2(ctypes.Structure):
    """What glibc says of its heaps."""

    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks used free top"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]


def allocated():
    """Bytes that the C library has given out; where it does not tell, resident bytes, which grow by whole pages."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    ask.restype = Mallinfo2
    told = ask()
    return told.used + told.hblkhd


def held():
    """Blocks of Python's allocator, references where this Python counts them, and bytes of the C library's."""
    gc.collect()
    return sys.getallocatedblocks(), getattr(sys, "gettotalrefcount", lambda: 0)(), allocated()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_nothing_is_left(tmp_path):
    left = {}
    for name, verb in verbs(tmp_path):
        begun = time.perf_counter()
        for _ in range(50):
            verb()
        # Some verbs take a millisecond: they are called less often.
        rounds = max(200, min(2500, int(50 * 0.2 / (time.perf_counter() - begun))))
        grown = []
        # What is left by each call is there in every try, and what Python keeps for later is not.
        for _ in range(4):
            before = held()
            for _ in range(rounds):
                verb()
            grown.append([after - first for after, first in zip(held(), before)])
            if grown[-1][0] < rounds / 4 and grown[-1][1] < rounds / 4 and grown[-1][2] < 16 * rounds:
                break
        else:
            left[name] = grown
    assert not left
