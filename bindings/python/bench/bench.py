"""Times Petal beside other filters for Python, and beside its own C library, in one run.

    python bench.py [LIBPETAL.SO]    # with LIBPETAL.SO, batches are also timed as C calls on the same memory

Peers are those of rbloom, fastbloom-rs, pybloom-live and pyprobables that are installed. All have room for 10^6 keys
at a false-positive rate of 1 %, and take turns; a figure is the best of the turns, in nanoseconds a key, with Python's
loop where there is one. Run it alone on a quiet machine.
"""

import ctypes
import gc
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import time

import petal

COUNT = 1_000_000
RATE = 0.01
TURNS = 5


def peers():
    """(name, make, add, contains): how each one's verbs are called."""
    yield "petal", lambda: petal.Filter(COUNT, RATE), "add", None
    yield "petal, split_block", lambda: petal.Filter(COUNT, RATE, kind="split_block"), "add", None
    try:
        import rbloom

        yield "rbloom", lambda: rbloom.Bloom(COUNT, RATE), "add", None
    except ImportError:
        pass
    try:
        import fastbloom_rs

        def fast():
            return fastbloom_rs.BloomFilter(COUNT, RATE)

        yield "fastbloom-rs", fast, {str: "add_str", bytes: "add_bytes", int: "add_int"}, {
            str: "contains_str",
            bytes: "contains_bytes",
            int: "contains_int",
        }
    except ImportError:
        pass
    try:
        import pybloom_live

        yield "pybloom-live", lambda: pybloom_live.BloomFilter(COUNT, RATE), "add", None
    except ImportError:
        pass
    try:
        import probables

        yield "pyprobables", lambda: probables.BloomFilter(est_elements=COUNT, false_positive_rate=RATE), "add", None
    except ImportError:
        pass


def timed(run):
    gc.collect()
    gc.disable()
    try:
        begun = time.perf_counter_ns()
        run()
        return (time.perf_counter_ns() - begun) / COUNT
    finally:
        gc.enable()


def loops():
    keys = {
        "str": ([f"user:{i:012d}" for i in range(COUNT)], [f"none:{i:012d}" for i in range(COUNT)]),
        "bytes": ([b"user:%012d" % i for i in range(COUNT)], [b"none:%012d" % i for i in range(COUNT)]),
        "int": (list(range(COUNT)), list(range(1 << 40, (1 << 40) + COUNT))),
    }
    print(f"{'ns a key, with the loop':28}{'add':>9}{'present':>9}{'absent':>9}{'wrong':>11}")
    for form, (present, absent) in keys.items():
        best, wrong, refused = {}, {}, set()
        for _ in range(TURNS):
            for name, make, add, contains in peers():
                seen = make()
                # These two take so long that a few keys say enough. Their filters then hold few keys too.
                few = COUNT // 20 if name.startswith("py") else COUNT
                kind = type(present[0])
                adding = getattr(seen, add if isinstance(add, str) else add[kind])
                try:
                    figures = [timed(lambda: run_add(adding, present[:few])) * COUNT / few]
                    for asked in (present, absent):
                        if contains:
                            asking = getattr(seen, contains[kind])
                            figures.append(timed(lambda: run_call(asking, asked[:few])) * COUNT / few)
                        else:
                            figures.append(timed(lambda: run_in(seen, asked[:few])) * COUNT / few)
                    if few == COUNT:
                        some = absent[: COUNT // 10]
                        wrong[name] = sum((asking(key) if contains else key in seen) for key in some) / len(some)
                except (TypeError, AttributeError):
                    refused.add(name)
                    continue
                best[name] = [min(pair) for pair in zip(best.get(name, figures), figures)]
        for name, figures in best.items():
            share = f"{wrong[name]:11.2%}" if name in wrong else ""
            print(f"{form + ', ' + name:28}" + "".join(f"{figure:9.1f}" for figure in figures) + share)
        for name in refused:
            print(f"{form + ', ' + name:28}  takes no such keys")


def run_add(add, keys):
    for key in keys:
        add(key)


def run_call(contains, keys):
    for key in keys:
        contains(key)


def run_in(seen, keys):
    for key in keys:
        key in seen  # noqa: B015


class Keys(ctypes.Structure):
    """petal_keys of petal.h."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("form", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("count", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("offsets", ctypes.c_void_p),
    ]


class Answers(ctypes.Structure):
    """petal_answers of petal.h."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("bytes", ctypes.c_void_p),
        ("bitmap", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("true_count", ctypes.c_uint64),
        ("done", ctypes.c_size_t),
    ]


def batches(library):
    try:
        import numpy as np
        import pyarrow as pa
    except ImportError:
        print("batches: NumPy or pyarrow is not installed")
        return
    words = [f"user:{i:012d}" for i in range(COUNT)]
    forms = {
        "list of str": words,
        "pyarrow string": pa.array(words),
        "pyarrow large_string": pa.array(words, pa.large_string()),
        "NumPy u64": np.arange(COUNT, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15),
        "NumPy S17": np.array([word.encode() for word in words]),
    }
    try:
        import polars as pl

        forms["polars String"] = pl.Series(words)
    except ImportError:
        pass
    best = {}
    for _ in range(TURNS):
        for name, keys in forms.items():
            seen = petal.Filter(COUNT, RATE)
            # Whoever comes first would find the keys in memory, and whoever comes second in the cache.
            seen.contains(keys)
            figures = [timed(lambda: seen.update(keys)), timed(lambda: seen.contains(keys))]
            if library and name in ("pyarrow string", "pyarrow large_string", "NumPy u64"):
                figures += of_c(library, seen, keys)
            best[name] = [min(pair) for pair in zip(best.get(name, figures), figures)]
    print(f"\n{'ns a key, in batches':28}{'update':>9}{'contains':>9}{'C insert':>9}{'C lookup':>9}")
    for name, figures in best.items():
        print(f"{name:28}" + "".join(f"{figure:9.1f}" for figure in figures))


def of_c(library, seen, keys):
    """The same two batches as C calls, on a filter of the same parameters and the same memory."""
    import pyarrow as pa

    c = ctypes.CDLL(library)
    given = Keys(struct_size=ctypes.sizeof(Keys), count=len(keys))
    if isinstance(keys, pa.Array):
        _, offsets, data = keys.buffers()
        given.form = 5 if keys.type == pa.string() else 1
        given.data, given.length, given.offsets = data.address, data.size, offsets.address
    else:
        given.form, given.data = 2, keys.ctypes.data
    image = bytes(petal.Filter(COUNT, RATE))
    handle = ctypes.c_void_p()
    assert c.petal_filter_load(image, ctypes.c_size_t(len(image)), None, ctypes.byref(handle), None) == 0
    bitmap = ctypes.create_string_buffer(COUNT // 8 + 1)
    answers = Answers(struct_size=ctypes.sizeof(Answers), bitmap=ctypes.addressof(bitmap))
    done = []
    inserted = timed(lambda: done.append(c.petal_filter_insert_batch(handle, ctypes.byref(given), None, None)))
    found = timed(
        lambda: done.append(c.petal_filter_contains_batch(handle, ctypes.byref(given), ctypes.byref(answers), None))
    )
    assert done == [0, 0] and answers.true_count == COUNT
    c.petal_filter_free(handle)
    return [inserted, found]


def best_of(run, turns=20):
    return min(run() for _ in range(turns))


def importing():
    def seconds(program):
        begun = time.perf_counter_ns()
        subprocess.run([sys.executable, "-c", program], check=True)
        return time.perf_counter_ns() - begun

    took = best_of(lambda: seconds("import petal")) - best_of(lambda: seconds("pass"))
    print(f"\nimport petal: {took / 1e6:.1f} ms")


def opening():
    """A file of 1 GB that is in the system's memory: mapped, mapped and read ahead, and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.petal")
        petal.Filter(0, bits=8 << 30, kind="blocked", hashes=7).save(path)

        def microseconds():
            begun = time.perf_counter_ns()
            petal.Filter.open(path).close()
            return (time.perf_counter_ns() - begun) / 1e3

        print(f"opening a mapped file of {os.path.getsize(path) / 1e9:.2f} GB: {best_of(microseconds):.0f} us\n")
        try:
            import numpy as np
        except ImportError:
            return
        generator = np.random.default_rng(1)
        keys = [generator.integers(0, 1 << 63, COUNT, dtype=np.uint64) for _ in range(3)]
        print(f"{'ns a key, in batches of 10^6':28}{'1st':>9}{'2nd':>9}{'3rd':>9}{'open, ms':>11}")
        ways = {"mapped": ("read", False), "mapped, prefault": ("read", True), "loaded": ("load", False)}
        for name, (mode, prefault) in ways.items():
            best = None
            for _ in range(TURNS):
                begun = time.perf_counter_ns()
                with petal.Filter.open(path, mode, prefault=prefault) as seen:
                    took = (time.perf_counter_ns() - begun) / 1e6
                    figures = [timed(lambda: seen.contains(some)) for some in keys] + [took]
                best = [min(pair) for pair in zip(best or figures, figures)]
            print(f"{name:28}" + "".join(f"{figure:9.1f}" for figure in best[:3]) + f"{best[3]:11.2f}")


def memory():
    """What a batch adds to the process: no copy of the keys."""
    program = """
import resource, pyarrow as pa, petal
keys = pa.array([f"user:{i:012d}" for i in range(5_000_000)])
seen = petal.Filter(5_000_000, 0.01)
seen.update(keys[:100_000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seen.update(keys)
print(f"updating with {keys.nbytes / 1e6:.0f} MB of Arrow strings: "
      f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3:.1f} MB more at the peak")
"""
    subprocess.run([sys.executable, "-c", program], check=False)


def main():
    versions = []
    for name in ("rbloom", "fastbloom-rs", "pybloom-live", "pyprobables"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    print(f"CPython {sys.version.split()[0]}, petal {petal.__version__}, {', '.join(versions)}\n", flush=True)
    loops()
    batches(sys.argv[1] if len(sys.argv) > 1 else None)
    importing()
    opening()
    memory()


if __name__ == "__main__":
    main()
