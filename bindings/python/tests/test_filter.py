"""One filter: keys one by one, what it says of itself, and what two filters do together."""

import pytest

import petal


def test_first_program():
    seen = petal.Filter(1_000_000, 0.01)
    assert seen.add("apple") is True
    assert seen.add("apple") is False
    assert "apple" in seen
    assert "pear" not in seen


def test_no_false_negatives_and_the_rate():
    seen = petal.Filter(20_000, 0.01)
    for i in range(20_000):
        seen.add(f"key {i}")
    assert all(f"key {i}" in seen for i in range(20_000))
    false = sum(f"other {i}" in seen for i in range(100_000))
    # 0.01 at capacity; 4.5 sigma of 100,000 draws are 142.
    assert 600 < false < 1142


def test_keys_of_each_type_are_their_bytes():
    seen = petal.Filter(100)
    seen.add("schön")
    assert "schön".encode() in seen
    assert bytearray("schön".encode()) in seen
    assert memoryview("schön".encode()) in seen
    seen.add(258)
    assert b"\x02\x01\0\0\0\0\0\0" in seen
    assert "258" not in seen
    seen.add(True)
    assert 1 in seen
    seen.add(b"")
    assert "" in seen
    seen.add(2**64 - 1)
    assert b"\xff" * 8 in seen
    seen.add(b"a\0b")
    assert "a\0b" in seen


def test_subclasses_are_keys():
    class Text(str):
        pass

    class Index:
        def __index__(self):
            return 7

    seen = petal.Filter(100)
    seen.add(Text("apple"))
    seen.add(Index())
    assert "apple" in seen
    assert 7 in seen


@pytest.mark.parametrize("key", [1.5, None, ("a",), object(), [1], {}, memoryview(b"abcdefgh").cast("d")])
def test_other_types_are_no_keys(key):
    seen = petal.Filter(100)
    for call in (seen.add, seen.__contains__):
        with pytest.raises(TypeError, match="a key is bytes, str or int"):
            call(key)
    assert seen.info.insertions == 0


@pytest.mark.parametrize("key", [-1, 2**64, -(2**63), 10**30])
def test_numbers_that_are_no_u64(key):
    seen = petal.Filter(100)
    for call in (seen.add, seen.__contains__):
        with pytest.raises(OverflowError, match=str(key)):
            call(key)


def test_text_that_utf8_does_not_have():
    seen = petal.Filter(100)
    with pytest.raises(UnicodeEncodeError):
        seen.add("\ud800")
    with pytest.raises(UnicodeEncodeError):
        seen.update(["a", "\udfff"])


def test_bytes_that_are_not_contiguous():
    seen = petal.Filter(100)
    with pytest.raises(ValueError, match="contiguous"):
        seen.add(memoryview(b"abcdef")[::2])
    seen.add(memoryview(b"abcdef")[1:3])
    assert b"bc" in seen


def test_spec_fields():
    f = petal.Filter(kind="bloom", bits=4096, hashes=3, seed=9, hash="xxh64", kernel="portable")
    assert (f.info.bits, f.info.hashes, f.info.seed, f.info.hash) == (4096, 3, 9, "xxh64")
    assert petal.Filter(capacity=10, rate=0.5) == petal.Filter(10, 0.5)
    g = petal.Filter(1000, 0.01, kind="rotating", generations=4)
    assert g.kind == "rotating"
    assert petal.Filter(1000, 0.01, kind="bloom", derivation="enhanced_double").kind == "bloom"
    assert petal.Filter().info.capacity == 1_000_000


@pytest.mark.parametrize(
    "kwargs, kind, what",
    [
        ({"rate": 2.0}, petal.ParameterError, "false_positive_rate = 2 is not inside"),
        ({"kind": "nope"}, petal.ParameterError, "nope"),
        ({"kind": 3}, TypeError, "name of a kind"),
        ({"generatons": 3}, petal.ParameterError, "generatons"),
        ({"generatons": None}, petal.ParameterError, "generatons"),
        ({"kind": "rotating", "generations": None}, TypeError, "generations"),
        ({"kind": "rotating", "generations": 10**6}, petal.ParameterError, "generations"),
        ({"hash": "md5"}, ValueError, "md5"),
        ({"secret": b"short"}, ValueError, "16"),
        ({"capacity": -1}, OverflowError, "capacity"),
        ({"capacity": 2.5}, TypeError, "float"),
        ({"capacity": 2**63}, petal.ParameterError, "rate|capacity|bits|large"),
        ({"kind": "fuse"}, petal.UnsupportedError, "builder"),
        ({"kind": "bloomier"}, petal.Error, "map"),
    ],
)
def test_specs_that_are_refused(kwargs, kind, what):
    with pytest.raises(kind, match=what):
        petal.Filter(**kwargs)


def test_places_of_arguments():
    with pytest.raises(TypeError, match="twice"):
        petal.Filter(10, capacity=10)
    with pytest.raises(TypeError, match="keywords"):
        petal.Filter(10, 0.1, "bloom")


def test_remove_and_count():
    f = petal.Filter(100, 0.001, kind="counting")
    f.update(["a", "a", "b"])
    assert (f.count("a"), f.count("b"), f.count("c")) == (2, 1, 0)
    assert f.count_many(["a", "c", "b"]) == [2, 0, 1]
    f.remove("a")
    assert f.discard("a") is True
    assert f.discard("a") is False
    with pytest.raises(KeyError, match="'a'"):
        f.remove("a")
    assert f.discard_many(["b", "b"]) == [True, False]
    assert f.add_times(["x", "y"], [3, 5]) == [True, True]
    assert f.count_many(["x", "y"]) == [3, 5]
    assert f.remove_times(["x", "z"], [2, 1]) == [True, False]
    assert f.count("x") == 1


def test_verbs_that_a_kind_lacks():
    f = petal.Filter(100)
    for call in (lambda: f.remove("a"), lambda: f.discard_many([]), lambda: f.count("a"), lambda: f.count_many(["a"])):
        with pytest.raises(petal.UnsupportedError, match="blocked") as raised:
            call()
        assert raised.value.status == "unsupported"
    with pytest.raises(petal.UnsupportedError):
        f.resize(1000)
    with pytest.raises(petal.UnsupportedError):
        f.advance(1)
    assert "remove" not in f.capabilities
    assert "insert" in f.capabilities


def test_two_filters():
    a, b = petal.Filter(1000), petal.Filter(1000)
    a.update(["x", "both"])
    b.update(["y", "both"])
    either, common = a | b, a & b
    assert all(key in either for key in ("x", "y", "both"))
    assert "both" in common and "x" not in common and "y" not in common
    assert a != b and a == a.copy() and a.copy() is not a
    before = a
    a |= b
    assert a is before and a == either
    a &= b
    assert a == b
    overlap = either.estimate_overlap(common)
    assert overlap.first.value == pytest.approx(3, abs=0.1)
    assert overlap.intersection.value == pytest.approx(1, abs=0.1)


def test_a_filter_and_itself():
    f = petal.Filter(1000)
    f.update(["x", "y"])
    g = f.copy()
    f |= f
    assert "x" in f and f.info.insertions == 4
    f &= f
    assert f == g
    assert (f | f) == g and f == f
    assert f.estimate_overlap(f).jaccard.value == pytest.approx(1)


def test_filters_that_do_not_combine():
    f = petal.Filter(1000)
    with pytest.raises(petal.IncompatibleError, match="seed"):
        f | petal.Filter(1000, seed=1)
    with pytest.raises(TypeError):
        f | {"a"}
    with pytest.raises(TypeError):
        f &= None
    with pytest.raises(TypeError):
        f < f.copy()
    assert f != "f"
    with pytest.raises(TypeError, match="Filter"):
        f.estimate_overlap("f")
    with pytest.raises(TypeError, match="unhashable"):
        hash(f)


def test_what_it_says_of_itself():
    f = petal.Filter(1000, 0.01, kind="bloom")
    f.update(range(500))
    assert repr(f) == "<petal.Filter bloom: 500 of 1000 keys (50.0 %), rate 0.01, 1536 bytes>"
    assert f.kind == "bloom"
    info = f.info
    assert (info.capacity, info.rate, info.insertions, info.can_hash, info.in_place) == (1000, 0.01, 500, True, False)
    assert f.estimate().value == pytest.approx(500, rel=0.05)
    assert f.estimate().low < 500 < f.estimate().high
    statistics = f.statistics()
    assert 0.2 < statistics.fill < 0.4
    assert statistics.rate < 0.01
    assert f.expected_false_positive_rate(1000) == pytest.approx(0.01, rel=0.01)
    assert f.expected_false_negative_rate(1000) == 0
    assert f.expected_omissions(1000) > 0
    assert len(f.compatibility_id) == 16
    assert f.compatibility_id == petal.Filter(1000, 0.01, kind="bloom").compatibility_id
    f.clear()
    assert f.info.insertions == 0 and 1 not in f


def test_fold_resize_advance():
    f = petal.Filter(1000, 0.01, kind="bloom", foldable=1)
    f.update(range(100))
    bits = f.info.bits
    f.fold(2)
    assert f.info.bits == bits // 2 and all(i in f for i in range(100))
    with pytest.raises(petal.Error):
        f.fold(0)
    g = petal.Filter(1000, 0.01, kind="quotient")
    g.update(range(100))
    g.resize(10_000)
    assert g.info.capacity >= 10_000 and all(i in g for i in range(100))
    w = petal.Filter(100, 0.01, kind="rotating", generations=3)
    w.add("old")
    w.advance(3)
    assert "old" not in w


def test_hashes():
    f = petal.Filter(1000)
    f.update([f.hash("apple"), f.hash(5)], hashed=True)
    assert "apple" in f and 5 in f
    assert f.contains([f.hash("apple"), 1], hashed=True) == [True, False]
    with pytest.raises(TypeError, match="hashes"):
        f.update(["apple"], hashed=True)
    g = petal.Filter(1000, hash="external")
    with pytest.raises(petal.UnsupportedError) as raised:
        g.add("apple")
    assert raised.value.status == "external_hash"
    with pytest.raises(petal.UnsupportedError):
        "apple" in g
    g.update([7], hashed=True)
    assert g.contains([7, 8], hashed=True) == [True, False]


def test_a_filter_that_is_full():
    f = petal.Filter(100, 0.01, kind="hash_compaction")
    with pytest.raises(petal.FullError):
        f.update(range(100_000))
    for _ in range(2):
        with pytest.raises(petal.FullError):
            for i in range(100_000, 100_100):
                f.add(i)


def test_plan_kinds_formats():
    proposals = petal.plan(10**6, 0.01)
    fits = [p for p in proposals if p.fits]
    assert len(proposals) > len(fits) > 3
    assert [p.bytes for p in fits] == sorted(p.bytes for p in fits)
    assert all(p.reason for p in proposals if not p.fits)
    by_kind = {p.kind: p for p in fits}
    assert petal.Filter(10**6, 0.01, kind="blocked").info.bytes == by_kind["blocked"].bytes
    removing = [p for p in petal.plan(1000, 0.01, capabilities=["remove", "count"]) if p.fits]
    named = {k.name: k for k in petal.kinds()}
    assert removing and all({"remove", "count"} <= named[p.kind].capabilities for p in removing)
    assert petal.plan(10**6, memory=10**6)[0].rate > 0
    assert any(p.kind == "ribbon" and p.fits for p in petal.plan(1000, 0.01, is_static=True))
    with pytest.raises(petal.Error):
        petal.plan(1000)
    with pytest.raises(ValueError, match="fly"):
        petal.plan(1000, 0.01, capabilities=["fly"])
    for kind in petal.kinds():
        assert kind.handle in ("filter", "map", "sketch") and kind.summary
        for parameter in kind.parameters:
            assert parameter.minimum <= parameter.default <= parameter.maximum
    assert {f.name for f in petal.formats()} >= {"guava", "parquet"}


def test_other_systems_bytes():
    empty = bytes([1, 5, 0, 0, 0, 1]) + bytes(8)
    f = petal.import_filter("guava", empty)
    f.add("apple")
    assert "apple" in f
    written = f.export("guava")
    assert len(written) == len(empty) and written != empty
    assert "apple" in petal.import_filter("guava", written)
    assert petal.recognise(b"no filter at all") is None
    with pytest.raises(petal.ImageError):
        petal.import_filter("guava", b"\1\5")
    with pytest.raises(petal.ParameterError):
        petal.import_filter("nope", b"")
    with pytest.raises(petal.UnsupportedError):
        petal.Filter(10).export("guava")
    g = petal.format_filter("guava", 1000, 0.01)
    g.update(range(10))
    assert petal.import_filter("guava", g.export("guava")) == g


def test_types_are_final():
    with pytest.raises(TypeError):
        type("Mine", (petal.Filter,), {})
    with pytest.raises(TypeError):
        petal.Array()


def test_exceptions_are_those_of_python_too():
    assert issubclass(petal.ParameterError, (petal.Error, ValueError))
    for one, other in [
        (petal.FileMissingError, FileNotFoundError),
        (petal.FileDeniedError, PermissionError),
        (petal.FileError, OSError),
        (petal.OutOfMemoryError, MemoryError),
        (petal.ClosedError, ValueError),
        (petal.BusyError, RuntimeError),
    ]:
        assert issubclass(one, petal.Error) and issubclass(one, other)


def test_memory_that_is_not_there():
    with pytest.raises(MemoryError):
        petal.Filter(kind="blocked", bits=2**47, hashes=4)
