"""Maps: values of keys, beside a dict."""

import pickle

import pytest

import petal


@pytest.fixture
def words():
    return {f"key {i}": i * 7 % 60_000 for i in range(5000)}


@pytest.mark.parametrize("kind", ["bloomier", "retrieval", "mutable_bloomier"])
def test_kinds_that_are_built(kind, words, tmp_path):
    builder = petal.MapBuilder(kind=kind, value_bits=16)
    builder.update(words)
    builder["one more"] = 5
    assert builder.key_count == 5001
    m = builder.finish()
    assert all(m[key] == value for key, value in words.items()) and m["one more"] == 5
    values, found = m.get_many(words)
    assert values == list(words.values()) and all(found)
    m.save(tmp_path / "m")
    with petal.Map.open(tmp_path / "m") as opened:
        assert opened["key 7"] == 49 and opened.kind == kind
    for again in (petal.Map.from_bytes(bytes(m)), pickle.loads(pickle.dumps(m)), m.copy()):
        assert again["key 7"] == 49
    if kind != "retrieval":
        absent = [f"absent {i}" for i in range(1000)]
        assert sum(key in m for key in absent) < 50
        missing = next(key for key in absent if key not in m)
        with pytest.raises(KeyError, match=missing):
            m[missing]
        assert m.get(missing) is None and m.get(missing, -1) == -1 and m.get("key 7", -1) == 49
        assert m.get_many([missing, "key 7"]) == ([0, 49], [False, True])


def test_a_map_that_starts_empty():
    m = petal.Map(1000, 0.001, kind="approximator", lattice="max", value_bits=16)
    m["a"] = 5
    m["a"] = 3
    m[7] = 9
    assert m["a"] == 5 and m[7] == 9 and "b" not in m
    assert m.put_many(["a", "b"], [6, 1]) == [True, True]
    assert m.put_many(["a", "b"], [6, 1]) == [False, False]
    other = petal.Map(1000, 0.001, kind="approximator", lattice="max", value_bits=16)
    other["c"] = 4
    m |= other
    m |= m
    assert m["c"] == 4 and m["a"] == 6
    assert m.statistics().fill > 0
    assert repr(m).startswith("<petal.Map approximator: ")
    with pytest.raises(petal.ParameterError):
        m["a"] = 2**16
    with pytest.raises(OverflowError, match="the value = -1"):
        m["a"] = -1
    m.clear()
    assert "a" not in m
    with pytest.raises(TypeError):
        m |= {}
    with pytest.raises(petal.UnsupportedError):
        petal.Map(1000)


def test_values_that_are_replaced(words):
    builder = petal.MapBuilder(kind="mutable_bloomier", value_bits=16)
    builder.update(words.keys(), words.values())
    m = builder.finish()
    m["key 7"] = 1
    assert m["key 7"] == 1 and m["key 8"] == 56
    assert m.replace_many(["key 8", "key 9"], [3, 4]) == [True, True]
    assert m.get_many(["key 8", "key 9"])[0] == [3, 4]
    missing = next(f"absent {i}" for i in range(100) if f"absent {i}" not in m)
    with pytest.raises(KeyError):
        m[missing] = 1
    with pytest.raises(TypeError, match="forget"):
        del m["key 7"]
    bloomier = petal.MapBuilder()
    bloomier["a"] = 1
    with pytest.raises(petal.UnsupportedError, match="bloomier"):
        bloomier.finish()["a"] = 2


def test_two_values_of_a_key():
    builder = petal.MapBuilder()
    builder["a"] = 1
    builder["a"] = 1
    builder["a"] = 2
    with pytest.raises(petal.ParameterError) as raised:
        builder.finish()
    assert raised.value.status == "contradiction" and builder.key_count == 3
    with pytest.raises(TypeError, match="finish"):
        builder["a"]
    with pytest.raises(TypeError):
        del builder["a"]


def test_lengths_and_types():
    builder = petal.MapBuilder(value_bits=16)
    with pytest.raises(ValueError, match="as many numbers as keys"):
        builder.update(["a", "b"], [1])
    with pytest.raises(TypeError):
        builder.update(["a", "b"])
    with pytest.raises(TypeError, match="values"):
        builder.update(["a"], ["x"])
    with pytest.raises(petal.ParameterError):
        builder["a"] = 2**20
    merged = petal.MapBuilder(value_bits=16)
    builder = petal.MapBuilder(value_bits=16)
    builder.update({"x": 1, 5: 2, b"z": 3})
    merged.merge(builder.to_bytes())
    m = merged.finish()
    assert (m["x"], m[5], m["z"]) == (1, 2, 3)


def test_arrays(words):
    np, pa = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    builder = petal.MapBuilder(value_bits=32)
    builder.update(pa.array(list(words)), np.array(list(words.values()), dtype="i4"))
    builder.update(np.arange(10_000, dtype="u4"), pa.chunked_array([range(3), range(3, 10_000)]))
    m = builder.finish()
    assert m["key 9"] == 63 and m[9999] == 9999
    values, found = m.get_many(np.array([5, 6, 10**9]))
    assert values.dtype == np.uint64 and found.dtype == bool
    assert values[:2].tolist() == [5, 6] and found[:2].all()
    values, found = m.get_many(pa.array(["key 1", None, "key 2"]), nulls="skip")
    assert values.to_pylist() == [7, 0, 14] and found.to_pylist() == [True, False, True]
    values, found = m.get_many(pl.Series(["key 1", "key 2"]))
    assert values.to_list() == [7, 14] and found.to_list() == [True, True]


def test_packed_forms_and_deltas(words):
    def made(more):
        builder = petal.MapBuilder(kind="mutable_bloomier", value_bits=16)
        builder.update(words)
        m = builder.finish()
        m.replace_many(list(more), list(more.values()))
        return m

    older, newer = made({}), made({"key 7": 1})
    theirs = petal.Map.unpack(older.pack(), 2**20)
    assert theirs["key 7"] == 49
    theirs.patch(newer.delta(older), 2**20)
    assert theirs["key 7"] == 1 and theirs["key 8"] == 56
    with pytest.raises(petal.UnsupportedError):
        petal.Filter.unpack(older.pack(), 2**20)
    with pytest.raises(TypeError, match="older"):
        newer.delta(petal.Filter(10))


def test_closed_and_other_images(tmp_path):
    petal.Filter(10).save(tmp_path / "f")
    with pytest.raises(petal.UnsupportedError, match="filter|map"):
        petal.Map.open(tmp_path / "f")
    m = petal.Map(10, kind="approximator")
    m.close()
    for call in (lambda: m["a"], lambda: m.get("a"), lambda: m.get_many(["a"]), lambda: m.__setitem__("a", 1),
                 m.clear, m.statistics, m.copy, lambda: m.info):
        with pytest.raises(petal.ClosedError):
            call()
