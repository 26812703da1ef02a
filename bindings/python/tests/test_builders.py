"""Builders: kinds that are made of all keys at once, memory limits, threads, progress, keys of several processes."""

import gc
import signal
import weakref

import pytest

import petal


@pytest.mark.parametrize("kind", [kind.name for kind in petal.kinds() if kind.overfill == "is_built" and
                                  kind.handle == "filter" and not kind.is_foreign])
def test_kinds_that_are_built(kind, tmp_path):
    keys = [f"key {i}" for i in range(3000)]
    others = [f"other {i}" for i in range(3000)]
    builders = []
    for _ in range(2):
        builder = petal.Builder(rate=0.001, kind=kind)
        builder.add(keys[0])
        builder.update(keys[1:] + keys[:100])
        if kind == "exact_set":
            builder.exclude(others)
        assert builder.key_count == 3100
        builders.append(builder)
    f = builders[0].finish()
    assert f.kind == kind and all(f.contains(keys)) and builders[0].key_count == 0
    assert sum(f.contains(others)) < (1 if kind == "exact_set" else 30)
    builders[1].save(tmp_path / "f")
    assert petal.Filter.open(tmp_path / "f") == f
    with pytest.raises(petal.UnsupportedError):
        f.add("new")


def test_limits_threads_and_order(tmp_path):
    made = set()
    for options in ({}, {"memory_limit": 2**20, "temporary_directory": tmp_path}, {"threads": 2}):
        builder = petal.Builder(rate=0.01, kind="ribbon", **options)
        builder.update(range(300_000))
        made.add(bytes(builder.finish()))
    builder = petal.Builder(rate=0.01, kind="ribbon")
    builder.update(reversed(range(300_000)))
    made.add(bytes(builder.finish()))
    assert len(made) == 1


def test_keys_of_several_processes():
    parts = [petal.Builder(rate=0.01, kind="fuse") for _ in range(3)]
    for i, part in enumerate(parts):
        part.update(range(i * 1000, (i + 1) * 1000))
    whole = petal.Builder(rate=0.01, kind="fuse")
    for part in parts:
        state = part.to_bytes()
        assert part.key_count == 1000
        whole.merge(state)
    alone = petal.Builder(rate=0.01, kind="fuse")
    alone.update(range(3000))
    assert whole.finish() == alone.finish()
    with pytest.raises(petal.ImageError):
        whole.merge(b"no state")
    with pytest.raises(petal.IncompatibleError):
        petal.Builder(kind="ribbon").merge(state)


def test_progress():
    told = []
    builder = petal.Builder(kind="fuse", progress=lambda done, total: told.append((done, total)))
    builder.update(range(10_000))
    builder.finish()
    assert told[-1][0] == told[-1][1] and told == sorted(told)


def test_progress_that_stops_or_fails_or_uses_the_builder(tmp_path):
    path = tmp_path / "f"

    def failing(done, total):
        raise LookupError("no more")

    def using(done, total):
        builder.add("x")

    def closing(done, total):
        builder.close()

    for progress, error in (
        (lambda done, total: False, petal.CancelledError), (failing, LookupError), (using, petal.BusyError),
        (closing, petal.BusyError), (lambda: None, TypeError),
    ):
        builder = petal.Builder(kind="ribbon", progress=progress)
        builder.update(range(1000))
        for call in (builder.finish, lambda builder=builder: builder.save(path)):
            with pytest.raises(error):
                call()
        assert builder.key_count == 1000 and not path.exists()
    with pytest.raises(TypeError, match="progress"):
        petal.Builder(progress=5)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_signals_while_a_filter_is_made():
    class Stop(Exception):
        pass

    def stop(number, frame):
        raise Stop

    # A function of C runs no code of Python in which the signal could be heard.
    builder = petal.Builder(kind="fuse", progress=max)
    builder.update(memoryview(bytearray(8 * 10)).cast("Q"))
    builder.update(range(2_000_000))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(Stop):
            builder.finish()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert builder.key_count == 2_000_010


def test_a_builder_in_a_cycle_goes():
    class Holder:
        pass

    holder = Holder()
    holder.builder = petal.Builder(kind="fuse", progress=lambda done, total: holder)
    holder.builder.update(range(100))
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_keys_that_are_no_members():
    members, frequent = [f"member {i}" for i in range(2000)], [f"frequent {i}" for i in range(1000)]
    builder = petal.Builder(rate=0.01, kind="stacked", frequent_share=0.9)
    builder.update(members)
    builder.add_frequent(frequent, [1.0 + i % 7 for i in range(1000)])
    f = builder.finish()
    assert all(f.contains(members)) and sum(f.contains(frequent)) < 30
    builder.update(members)
    builder.add_frequent(frequent)
    assert all(builder.finish().contains(members))
    with pytest.raises(petal.ParameterError):
        builder.add_frequent(["a"], [-1.0])
    with pytest.raises(ValueError, match="as many numbers as keys"):
        builder.add_frequent(["a"], [1.0, 2.0])
    with pytest.raises(petal.UnsupportedError):
        petal.Builder(kind="fuse").exclude(["a"])
    both = petal.Builder(kind="exact_set")
    both.update(["a", "b"])
    both.exclude(["b"])
    with pytest.raises(petal.ParameterError) as raised:
        both.finish()
    assert raised.value.status == "contradiction"


def test_an_exact_set_brought_up_to_date():
    def builder(members, others):
        made = petal.Builder(kind="exact_set")
        made.update(members)
        made.exclude(others)
        return made

    old = builder(range(1000), range(1000, 3000)).finish()
    new = builder(range(1, 1001), [0, *range(1001, 3000)])
    new.replace(old)
    updated = new.finish()
    assert updated.contains(range(3000)) == [1 <= i <= 1000 for i in range(3000)]
    with pytest.raises(TypeError):
        new.replace("old")


def test_counts():
    builder = petal.Builder(kind="counting", rate=0.0001)
    builder.add_times(["a", "b"], [3, 1])
    builder.add("b")
    f = builder.finish()
    assert (f.count("a"), f.count("b")) == (3, 2)


def test_closed():
    builder = petal.Builder(kind="fuse")
    with builder:
        builder.add("a")
    for call in (lambda: builder.add("a"), lambda: builder.update([]), builder.finish, builder.to_bytes,
                 lambda: builder.key_count, lambda: builder.save("x"), lambda: builder.merge(b"")):
        with pytest.raises(petal.ClosedError):
            call()
