"""Arrays of NumPy, and pandas over it."""

import pytest

import petal

np = pytest.importorskip("numpy")


def filled(keys):
    f = petal.Filter(max(len(keys), 1000), 0.0001)
    for key in keys:
        f.add(key)
    return f


@pytest.mark.parametrize("dtype", ["u2", "i2", "u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("size", [0, 1, 4095, 4097, 10_000])
def test_numbers(dtype, size):
    keys = np.arange(size, dtype=dtype)
    f = petal.Filter(20_000, 0.0001)
    f.update(keys)
    same = petal.Filter(20_000, 0.0001)
    same.update(int(key) for key in keys)
    assert f == same
    asked = np.arange(2 * size, dtype=dtype)
    answers = f.contains(asked)
    assert isinstance(answers, np.ndarray) and answers.dtype == bool and answers.flags.writeable
    assert answers.tolist() == [int(k) in f for k in asked]


def test_pieces_of_large_arrays():
    keys = np.arange(2**21 + 5, dtype="u8")
    f = petal.Filter(len(keys))
    new = f.add_many(keys)
    assert len(new) == len(keys) and f.contains(keys).all()
    assert f.contains(np.arange(2**40, 2**40 + 100_000, dtype="u8")).mean() < 0.02


def test_strides_and_places():
    base = np.arange(100_000, dtype="u8")
    f = filled([])
    f.update(base[::3])
    assert f.info.insertions == len(base[::3])
    assert f.contains(base[::-1])[::-1][::3].all()
    table = np.arange(30_000, dtype="i8").reshape(10_000, 3)
    assert f.contains(table[:, 0]).tolist() == [int(k) in f for k in table[:, 0]]
    with pytest.raises(ValueError, match="2 dimensions"):
        f.contains(table)
    with pytest.raises(ValueError, match="0 dimensions"):
        f.contains(np.array(5, dtype="u8"))
    # Eight bytes from a record of nine are at no address for numbers.
    packed = np.zeros(1000, dtype=[("tag", "u1"), ("key", "u8")])
    packed["key"] = base[:1000]
    assert f.contains(packed["key"]).tolist() == f.contains(base[:1000]).tolist()
    misaligned = np.frombuffer(b"x" + base[:1000].tobytes(), dtype="u1")[1:].view("u8")
    assert f.contains(misaligned).tolist() == f.contains(base[:1000]).tolist()


def test_read_only_arrays():
    keys = np.arange(10, dtype="u8")
    keys.flags.writeable = False
    f = filled([])
    f.update(keys)
    assert f.contains(keys).all()


def test_other_byte_order_and_types():
    f = filled([])
    for keys in (np.arange(5, dtype=">u8"), np.arange(5, dtype=">i4"), np.ones(5), np.ones(5, "f4"), np.ones(5, bool),
                 np.ones(5, "c16"), np.ones(5, "u1"), np.zeros(5, [("a", "u8"), ("b", "u8")])):
        with pytest.raises(TypeError):
            f.update(keys)
        with pytest.raises(TypeError):
            f.contains(keys)
    with pytest.raises(TypeError, match="a key is"):
        f.update(np.zeros(5, "M8[s]"))
    assert f.info.insertions == 0


def test_bytes_and_texts():
    words = ["apple", "", "schön", "a\0b", "日本", "𝄞 clef", "x" * 300]
    f = filled(words)
    assert f.contains(np.array(words)).all()
    assert f.contains(np.array(words, dtype="U400")).all()
    encoded = [word.encode() for word in words]
    assert f.contains(np.array(encoded)).all()
    assert f.contains(np.array(words, dtype=object)).all()
    assert f.contains(np.array([word + "!" for word in words])).sum() == 0
    g = filled([])
    g.update(np.array(words))
    assert g.contains(words) == [True] * 7
    if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
        assert list(f.contains(np.array(words, dtype=np.dtypes.StringDType()))) == [True] * 7


def test_bytes_of_one_length():
    digests = np.frombuffer(bytes(range(256)) * 2, dtype="V16")
    f = filled([])
    f.update(digests)
    assert bytes(range(16)) in f and f.contains(digests).all()
    # What ends with zeros is padded in S, and whole in V.
    padded = np.array([b"ab"], dtype="S5")
    g = filled([])
    g.update(padded)
    assert b"ab" in g and b"ab\0\0\0" not in g
    whole = np.array([b"ab\0\0\0"], dtype="V5")
    g.update(whole)
    assert b"ab\0\0\0" in g


def test_a_text_that_utf8_does_not_have():
    with pytest.raises(ValueError, match="key 1 .* 55296"):
        filled([]).update(np.array(["a", "\ud800"]))


def test_scalars():
    f = filled([])
    f.add(np.uint64(5))
    f.add(np.int8(6))
    f.add(np.str_("apple"))
    f.add(np.bytes_(b"pear"))
    assert 5 in f and 6 in f and "apple" in f and "pear" in f
    for key in (np.float64(5), np.array([5.0]), np.datetime64("2020-01-01")):
        with pytest.raises(TypeError):
            f.add(key)
    with pytest.raises(OverflowError):
        f.add(np.int64(-5))


def test_counts():
    f = petal.Filter(1000, 0.0001, kind="counting")
    keys = np.array([1, 2, 2, 3, 3, 3], dtype="u4")
    f.update(keys)
    counts = f.count_many(np.arange(5, dtype="u4"))
    assert counts.dtype == np.uint64 and counts.tolist() == [0, 1, 2, 3, 0]
    assert f.remove_times(np.array([3], "u8"), np.array([2], "i8")).tolist() == [True]
    assert f.count(3) == 1


def test_the_array_is_released():
    keys = bytearray(np.arange(10, dtype="u8").tobytes())
    f = filled([])
    f.update(np.frombuffer(keys, dtype="u8"))
    with pytest.raises(OverflowError):
        f.update(memoryview(bytearray(b"\xff" * 16)).cast("q"))
    keys.extend(b"a resize that a held buffer forbids")


def test_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"name": ["apple", "pear", "plum"], "id": [1, 2, 3]}, index=[7, 8, 9])
    f = filled(["apple", "plum", 2])
    mask = f.contains(frame["name"])
    assert isinstance(mask, np.ndarray) and mask.dtype == bool
    assert frame[mask]["id"].tolist() == [1, 3]
    assert f.contains(frame["id"]).tolist() == [False, True, False]
    assert f.contains(frame[["name"]]).tolist() == [True, False, True]
    with pytest.raises(TypeError, match="2 columns"):
        f.contains(frame)
    assert f.contains(frame["name"].astype("category")).tolist() == [True, False, True]
    assert f.contains(frame["name"].astype(object)).tolist() == [True, False, True]
    missing = pd.Series(["apple", None, "pear"])
    with pytest.raises((ValueError, TypeError)):
        f.contains(missing)
    assert f.contains(missing, nulls="skip").tolist() == [True, False, False]
    of_objects = pd.Series(["apple", None, float("nan"), pd.NA, "plum"], dtype=object)
    assert f.contains(of_objects, nulls="skip").tolist() == [True, False, False, False, True]
    with pytest.raises((TypeError, ValueError)):
        f.contains(pd.Series(["apple", float("nan")], dtype=object))
    assert f.contains(["apple", None, float("nan"), pd.NA], nulls="skip") == [True, False, False, False]
    with pytest.raises(TypeError, match="float"):
        f.contains(["apple", float("nan")])
    with pytest.raises(TypeError, match="float"):
        f.contains(["apple", 1.0], nulls="skip")
    assert f.contains(pd.Series([2, None, 3], dtype="Int64"), nulls="skip").tolist() == [True, False, False]
    assert f.contains(frame.reset_index(drop=True)[["name"]]).tolist() == [True, False, True]
    assert f.contains(pd.Index(["apple", "x"])).tolist() == [True, False]
    assert f.contains(pd.Series([1, 2], dtype="Int64")).tolist() == [False, True]
