"""Threads that use one filter at once, and forks in the middle of that."""

import os
import subprocess
import sys
import threading
import time

import pytest

import petal


def run(*functions):
    """Runs functions in threads, all at once, and raises what one of them raised."""
    failed = []
    start = threading.Barrier(len(functions))

    def guarded(function):
        try:
            start.wait()
            function()
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_insertions_of_many_threads_take_turns():
    f = petal.Filter(400_000, 0.001)

    def insert(name):
        keys = [f"{name} {i}" for i in range(20_000)]
        f.update(keys[:15_000])
        for key in keys[15_000:]:
            f.add(key)
            assert key in f

    run(*[lambda name=name: insert(name) for name in "abcd"])
    assert f.info.insertions == 80_000
    assert all(f.contains([f"{name} {i}" for name in "abcd" for i in range(20_000)]))


def test_shared_insertions():
    f = petal.Filter(400_000, 0.001)

    def insert(name):
        for _ in range(3):
            f.update((f"{name} {i}" for i in range(20_000)), shared=True)
        assert all(f.contains([f"{name} {i}" for i in range(20_000)]))

    run(*[lambda name=name: insert(name) for name in "abcd"])
    assert f.info.insertions == 240_000
    assert f.estimate().value == pytest.approx(80_000, rel=0.02)
    g = petal.Filter(100, kind="cuckoo")
    with pytest.raises(petal.UnsupportedError):
        g.update(["a"], shared=True)


def test_readers_while_one_changes():
    f = petal.Filter(2_000_000, 0.001, kind="counting")
    f.update(["there"] * 3)
    numbers = memoryview(bytearray(8 * 300_000)).cast("Q")
    done = threading.Event()

    def change():
        for _ in range(5):
            f.update(numbers)
            f.discard_many(numbers)
        done.set()

    def read():
        while not done.is_set():
            assert "there" in f
            assert f.count("there") == 3
            assert f.contains(["there"]) == [True]
            f.info, f.estimate, repr(f)

    run(change, read, read)


def test_closing_while_others_work():
    for _ in range(20):
        f = petal.Filter(100_000)
        numbers = memoryview(bytearray(8 * 100_000)).cast("Q")

        def work():
            try:
                for _ in range(50):
                    f.update(numbers)
                    f.contains(numbers)
            except petal.ClosedError:
                pass

        run(work, work, lambda: (time.sleep(0.002), f.close()), f.close)
        with pytest.raises(petal.ClosedError):
            f.add("a")


def test_two_filters_that_merge_each_other():
    a, b = petal.Filter(300_000), petal.Filter(300_000)

    def merge(one, other):
        nonlocal a, b
        for _ in range(100):
            one.__ior__(other)
            assert (one == other) in (True, False)
            one.estimate_overlap(other)

    run(lambda: merge(a, b), lambda: merge(b, a), lambda: merge(a, a))


def test_iterables_that_block_hold_nobody_up():
    f = petal.Filter(1000)
    go_on, waiting = threading.Event(), threading.Event()

    def slow():
        yield "first"
        waiting.set()
        assert go_on.wait(60)
        yield "second"

    thread = threading.Thread(target=f.update, args=(slow(),))
    thread.start()
    assert waiting.wait(60)
    f.add("meanwhile")
    assert "meanwhile" in f
    go_on.set()
    thread.join()
    assert f.contains(["first", "second"]) == [True, True]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forks_while_threads_use_a_filter():
    program = """
import os, petal, sys, threading
reads = sys.argv[1] == "reads"
f = petal.Filter(3_000_000)
f.update(["there"])
numbers = memoryview(bytearray(8 * 2_000_000)).cast("Q")
threading.Thread(target=lambda: [f.contains(numbers) if reads else f.update(numbers) for _ in range(60)]).start()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        try:
            assert "there" in f
            if reads:
                f.update(["more"])
            code = 0
        except petal.BusyError as error:
            # A child that was forked while a change was under way cannot use the filter, and is told so.
            code = 0 if "forked" in str(error) and not reads else 1
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            code = 1
        os._exit(code)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 20
"""
    for what in ("reads", "changes"):
        subprocess.run([sys.executable, "-W", "ignore", "-c", program, what], check=True, timeout=120)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_has_a_copy_and_only_reads_files(tmp_path):
    path = tmp_path / "f"
    petal.Filter(1000).save(path)
    with petal.Filter.open(path, "write") as mapped:
        own = petal.Filter(1000)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                own.add("in the child")
                assert "x" not in mapped
                try:
                    mapped.add("in the child")
                except petal.UnsupportedError:
                    code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert "in the child" not in own and "in the child" not in mapped
        mapped.add("in the parent")
    assert "in the parent" in petal.Filter.open(path)


def test_signals_are_heard_between_pieces():
    program = """
import itertools, os, petal, signal, threading
# What runs in the background was started with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
f = petal.Filter(1000)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    f.update(itertools.repeat("a"))
except KeyboardInterrupt:
    assert "a" in f
    f.add("usable")
    print("interrupted")
"""
    result = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    assert result.stdout == "interrupted\n"
