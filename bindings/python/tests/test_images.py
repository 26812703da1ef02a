"""Files, bytes and pickles: filters outlive the process, and others open them."""

import copy
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

import petal

SECRET = bytes(range(1, 17))


@pytest.fixture
def saved(tmp_path):
    f = petal.Filter(10_000)
    f.update(f"key {i}" for i in range(5000))
    path = tmp_path / "keys.petal"
    f.save(path)
    return f, path


@pytest.mark.parametrize("form", [pathlib.Path, str, os.fsencode])
def test_paths(saved, form):
    f, path = saved
    with petal.Filter.open(form(path)) as opened:
        assert opened == f and "key 7" in opened
    f.save(form(path))


@pytest.mark.parametrize("mode", ["read", "load", "write", "share"])
@pytest.mark.parametrize("prefault", [False, True])
def test_modes(saved, mode, prefault):
    f, path = saved
    with petal.Filter.open(path, mode, prefault=prefault) as opened:
        assert opened.info.in_place == (mode != "load")
        assert opened.info.insertions == 5000
        if mode == "read":
            with pytest.raises(petal.UnsupportedError, match="open for reading|may not") as raised:
                opened.add("new")
            assert raised.value.status == "unsupported_by_handle"
            with pytest.raises(petal.UnsupportedError):
                opened.update(["new"])
        else:
            assert opened.add("new") is True
            opened.update(["newer"])
            assert "new" in opened and opened.info.insertions == 5002
        if mode == "read":
            opened.verify()
    with petal.Filter.open(path) as again:
        assert again.info.clean
        again.verify()
        assert ("new" in again) == ("newer" in again) == (mode in ("write", "share"))
        assert again.info.insertions == (5002 if mode in ("write", "share") else 5000)


def test_one_writer(saved):
    _, path = saved
    with petal.Filter.open(path, "write"):
        with pytest.raises(petal.FileError) as raised:
            petal.Filter.open(path, "write")
        assert raised.value.status == "locked"


def test_two_processes_share_a_file(saved):
    _, path = saved
    program = (
        "import petal, sys\n"
        "with petal.Filter.open(sys.argv[1], 'share') as f:\n"
        "    f.update(f'{sys.argv[2]} {i}' for i in range(3000))\n"
        "    assert 'key 7' in f\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", program, path, name]) for name in ("a", "b")]
    assert [child.wait() for child in children] == [0, 0]
    with petal.Filter.open(path) as f:
        f.verify()
        assert f.info.insertions == 11_000
        assert all(f.contains([f"{name} {i}" for name in ("a", "b", "key") for i in range(3000)]))


def test_bytes():
    f = petal.Filter(1000)
    f.add("apple")
    image = bytes(f)
    assert image == f.to_bytes() and len(image) == f.info.bytes
    for given in (image, bytearray(image), memoryview(b"x" + image)[1:]):
        assert petal.Filter.from_bytes(given) == f
    with pytest.raises(petal.ImageError) as raised:
        petal.Filter.from_bytes(image[:-1])
    assert raised.value.status == "truncated"
    with pytest.raises(petal.ImageError) as raised:
        petal.Filter.from_bytes(b"\0" * 1000)
    assert raised.value.status == "foreign"
    damaged = bytearray(image)
    damaged[400] ^= 1
    with pytest.raises(petal.ImageError) as raised:
        petal.Filter.from_bytes(damaged)
    assert raised.value.status == "corrupt"
    with pytest.raises(TypeError):
        petal.Filter.from_bytes("text")
    with pytest.raises((TypeError, BufferError)):
        petal.Filter.from_bytes(memoryview(image)[::2])


def test_copies():
    f = petal.Filter(1000)
    f.add("apple")
    for made in (f.copy(), copy.copy(f), copy.deepcopy(f), copy.deepcopy([f])[0]):
        assert made == f
        made.add("pear")
        assert "pear" not in f


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    f = petal.Filter(1000, kind="counting")
    f.update(["apple", 5])
    again = pickle.loads(pickle.dumps(f, protocol))
    assert again == f and again.count("apple") == 1


def test_a_mapped_filter_is_pickled_by_its_image(saved):
    f, path = saved
    with petal.Filter.open(path) as opened:
        assert pickle.loads(pickle.dumps(opened)) == f


def test_keyed_filters(tmp_path):
    f = petal.Filter(1000, secret=SECRET)
    assert f.info.hash == "siphash13"
    f.add("apple")
    with pytest.raises(petal.SecretError, match="pickled"):
        pickle.dumps(f)
    f.save(tmp_path / "keyed")
    assert SECRET not in bytes(f)
    mapped = petal.Filter.open(tmp_path / "keyed", secret=SECRET)
    for opened in (mapped, petal.Filter.from_bytes(bytes(f), secret=SECRET)):
        assert "apple" in opened
    with petal.Filter.open(tmp_path / "keyed") as blind:
        assert not blind.info.can_hash
        # The C library says "maybe" here. An exception says more.
        for call in (lambda: "apple" in blind, lambda: blind.contains(["apple"]), lambda: 5 in blind):
            with pytest.raises(petal.SecretError) as raised:
                call()
            assert raised.value.status == "secret_missing"
    with pytest.raises(petal.SecretError) as raised:
        petal.Filter.open(tmp_path / "keyed", secret=b"another key of16")
    assert raised.value.status == "secret_mismatch"


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        petal.Filter.open(tmp_path / "nothing")
    assert raised.value.errno == 2 and raised.value.filename == tmp_path / "nothing"
    assert isinstance(raised.value, petal.Error) and raised.value.status == "not_found"
    with pytest.raises(OSError):
        petal.Filter(10).save(tmp_path / "no folder" / "file")
    with pytest.raises(ValueError, match="null"):
        petal.Filter.open("a\0b")
    with pytest.raises(ValueError, match="mode"):
        petal.Filter.open(tmp_path, "append")
    with pytest.raises(TypeError):
        petal.Filter.open(5)
    (tmp_path / "text").write_text("no image")
    with pytest.raises(petal.ImageError):
        petal.Filter.open(tmp_path / "text")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_files_that_are_forbidden(saved):
    _, path = saved
    path.chmod(0)
    with pytest.raises(PermissionError):
        petal.Filter.open(path)


def test_saving_over_the_file_that_is_mapped(saved):
    _, path = saved
    with petal.Filter.open(path) as f:
        with pytest.raises(petal.FileError) as raised:
            f.save(path)
        assert raised.value.status == "mapped_path"


def test_closing(saved):
    f, path = saved
    opened = petal.Filter.open(path)
    opened.close()
    opened.close()
    assert repr(opened) == "<petal.Filter, closed>"
    for call in (
        lambda: "a" in opened, lambda: opened.add("a"), lambda: opened.update(["a"]), lambda: opened.contains([]),
        lambda: opened.info, lambda: opened.kind, lambda: opened.save(path), lambda: bytes(opened), opened.copy,
        opened.verify, opened.sync, lambda: opened | f, lambda: f | opened, lambda: f == opened, opened.__enter__,
        lambda: opened.estimate(), lambda: opened.remove("a"), lambda: opened.count("a"), lambda: opened.capabilities,
        lambda: f.estimate_overlap(opened), lambda: opened.hash("a"), lambda: pickle.dumps(opened),
        lambda: opened.export("guava"), lambda: opened.clear(), lambda: opened.fold(2), opened.mark_clean,
    ):
        with pytest.raises(petal.ClosedError, match="closed") as raised:
            call()
        assert raised.value.status == "closed"


def test_sync_and_mark_clean(saved):
    _, path = saved
    with petal.Filter.open(path, "write") as f:
        f.add("new")
        assert not f.info.clean
        f.sync()
        assert f.info.clean
        f.mark_clean()
        f.verify()


def test_a_process_that_ends_without_closing(saved):
    _, path = saved
    program = "import petal, sys\nf = petal.Filter.open(sys.argv[1], 'write')\nf.add('new')\nkeep = [f]\nkeep.append(keep)\n"
    subprocess.run([sys.executable, "-c", program, path], check=True)
    with petal.Filter.open(path) as f:
        assert "new" in f


def test_packed_forms_and_deltas():
    older = petal.Filter(100_000, 0.01)
    older.update(range(1000))
    newer = older.copy()
    newer.update(range(1000, 1100))
    packed = older.pack()
    assert len(packed) < older.info.bytes / 4
    theirs = petal.Filter.unpack(packed, 2**20)
    assert theirs == older and theirs.info.insertions == 1000
    delta = newer.delta(older)
    assert len(delta) < len(packed) / 2
    theirs.patch(delta, 2**20)
    assert theirs == newer
    with pytest.raises(petal.IncompatibleError):
        theirs.patch(delta, 2**20)
    assert newer.delta(newer)
    with pytest.raises(petal.ParameterError) as raised:
        petal.Filter.unpack(packed, 1000)
    assert raised.value.status == "too_large"
    for damaged in (packed[:-1], b"", b"x" + packed[1:]):
        with pytest.raises(petal.ImageError):
            petal.Filter.unpack(damaged, 2**20)
    with pytest.raises(TypeError, match="older"):
        newer.delta(packed)
    older.close()
    for call in (older.pack, lambda: older.delta(newer), lambda: newer.delta(older), lambda: older.patch(delta, 1)):
        with pytest.raises(petal.ClosedError):
            call()


def send(f, queue):
    queue.put(("key 7" in f, f))


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_of_multiprocessing(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    context = multiprocessing.get_context(method)
    f = petal.Filter(1000)
    f.update(f"key {i}" for i in range(100))
    queue = context.Queue()
    child = context.Process(target=send, args=(f, queue))
    child.start()
    found, again = queue.get(timeout=60)
    child.join()
    assert found and again == f
