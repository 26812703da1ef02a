"""Arrow arrays and streams: where their keys lie, slices, nulls, and what answers are."""

import concurrent.futures
import gc

import pytest

import petal

pa = pytest.importorskip("pyarrow")

WORDS = ["apple", "", "schön", "a\0b", "日本", "𝄞 clef", "a text of more than twelve bytes", "x" * 3000]
WORDS += ["e" * 11, "t" * 12, "u" * 13]
TEXT = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


def filled(keys, capacity=10_000):
    f = petal.Filter(capacity, 0.0001)
    for key in keys:
        f.add(key)
    return f


def array(words, kind):
    return pa.array([word.encode() for word in words], pa.binary()).cast(kind)


@pytest.mark.parametrize("kind", TEXT, ids=str)
def test_texts(kind):
    f = filled([])
    f.update(array(WORDS, kind))
    assert f == filled(WORDS)
    answers = f.contains(array(WORDS + ["other"], kind))
    assert isinstance(answers, pa.BooleanArray)
    assert answers.to_pylist() == [True] * len(WORDS) + [False]
    answers.validate(full=True)


@pytest.mark.parametrize("kind", TEXT, ids=str)
@pytest.mark.parametrize("first, count", [(0, 0), (1, 5), (3, 4000), (9, 10_000), (4097, 1)])
def test_slices(kind, first, count):
    words = [f"word {i}" if i % 2 else f"a word of more than twelve bytes {i}" for i in range(20_000)]
    whole = array(words, kind)
    f = filled([], 20_000)
    f.update(whole.slice(first, count))
    assert f == filled(words[first : first + count], 20_000)
    assert f.contains(whole.slice(first, count)).to_pylist() == [True] * count
    assert f.contains(whole.slice(100)).to_pylist() == [word in f for word in words[100:]]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
                                  pa.uint64()], ids=str)
def test_numbers(kind):
    keys = pa.array(list(range(100)), kind)
    f = filled([])
    f.update(keys.slice(10, 50))
    assert f == filled(range(10, 60))
    assert f.contains(keys).to_pylist() == [10 <= i < 60 for i in range(100)]


def test_negative_numbers():
    for kind in (pa.int8(), pa.int32(), pa.int64()):
        with pytest.raises(OverflowError, match="key 2 = -7"):
            filled([]).update(pa.array([0, 1, -7], kind))
    # A null has any number below it.
    keys = pa.array([0, None, 5], pa.int64())
    f = filled([])
    f.update(keys, nulls="skip")
    assert f.info.insertions == 2


@pytest.mark.parametrize("kind", TEXT + [pa.int32(), pa.uint64(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_nulls(kind):
    values = [None if i % 5 == 2 else (i if pa.types.is_integer(kind) else f"word {i % 50}") for i in range(10_000)]
    keys = pa.array(values, kind if not pa.types.is_dictionary(kind) else pa.string())
    if pa.types.is_dictionary(kind):
        keys = keys.dictionary_encode()
    for part in (keys, keys.slice(3), keys.slice(2, 1), keys.slice(13, 7777)):
        expected = [value is not None for value in part.to_pylist()]
        f = filled([], 20_000)
        with pytest.raises(ValueError, match="is a null"):
            f.update(part)
        f = filled([], 20_000)
        f.update(part, nulls="skip")
        assert f.info.insertions == sum(expected)
        assert f.contains(part, nulls="skip").to_pylist() == expected
    # A slice without a null of an array with nulls.
    f.update(keys.slice(3, 4))


def test_no_key_comes_before_a_null_is_refused():
    f = filled([])
    with pytest.raises(ValueError, match="key 5000 is a null"):
        f.update(pa.array(["a"] * 5000 + [None]))
    assert f.info.insertions == 4096


def test_dictionaries():
    words = pa.array(["apple", "pear", "apple", None, "plum"])
    keys = words.dictionary_encode()
    f = filled(["apple"])
    assert f.contains(keys, nulls="skip").to_pylist() == [True, False, True, False, False]
    assert f.contains(keys.slice(1, 2)).to_pylist() == [False, True]
    in_values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["apple", None]))
    assert f.contains(in_values, nulls="skip").to_pylist() == [True, False, True]
    of_a_slice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["apple", "x", "apple"]).slice(1))
    assert f.contains(of_a_slice).to_pylist() == [False, True, False]
    numbers = pa.array([7, 8, 7]).dictionary_encode()
    assert filled([7]).contains(numbers).to_pylist() == [True, False, True]


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.uint64(), pa.int64(), pa.string_view()], ids=str)
def test_dictionaries_whose_values_come_often(kind, nulls):
    number = pa.types.is_integer(kind)
    values = pa.array([i if number else f"value {i}" for i in range(100)], kind)
    places = [None if nulls and i % 7 == 3 else i * 31 % 90 for i in range(5000)]
    keys = pa.DictionaryArray.from_arrays(pa.array(places, pa.int16()), values.slice(5, 90))
    chunks = pa.chunked_array([keys.slice(1, 2000), keys.slice(3, 0), keys.slice(2001, 13), keys.slice(3000)])
    f = petal.Filter(1000, 1e-6, kind="counting")
    f.add_times([(i if number else f"value {i}") for i in range(0, 100, 3)], [1 + i % 3 for i in range(0, 100, 3)])
    for given in (keys, keys.slice(7, 3333), chunks):
        expected = [value is not None and value in f for value in given.to_pylist()]
        if nulls:
            with pytest.raises(ValueError, match="null"):
                f.contains(given)
        answers = f.contains(given, nulls="skip")
        answers.validate(full=True)
        assert answers.to_pylist() == expected
        counts = [0 if value is None else f.count(value) for value in given.to_pylist()]
        assert f.count_many(given, nulls="skip").to_pylist() == counts
        # What changes the filter takes every row.
        g = petal.Filter(1000, 1e-6, kind="counting")
        g.update(given, nulls="skip")
        assert g.info.insertions == sum(value is not None for value in given.to_pylist())


def test_threads_that_ask_with_one_array():
    words = [f"a word of more than twelve bytes {i}" for i in range(50_000)]
    f = filled(words[::2], 50_000)
    expected = [word in f for word in words]
    arrays = [array(words, pa.string_view()), array(words, pa.string()), pa.array(words).dictionary_encode()]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for answers in pool.map(f.contains, arrays * 4):
            assert answers.to_pylist() == expected


def test_fixed_size_binary():
    keys = pa.array([bytes([i]) * 16 for i in range(100)], pa.binary(16))
    f = filled([])
    f.update(keys.slice(1))
    assert f.contains(keys).to_pylist() == [False] + [True] * 99
    assert bytes([5]) * 16 in f
    assert filled([]).contains(pa.array([b"", b""], pa.binary(0))).to_pylist() == [False, False]


def test_an_array_of_nulls():
    f = filled([])
    f.update(pa.nulls(10_000), nulls="skip")
    assert f.contains(pa.nulls(3), nulls="skip").to_pylist() == [False] * 3
    with pytest.raises(ValueError, match="key 0 is a null"):
        f.contains(pa.nulls(3))


def test_chunks_and_streams():
    chunks = pa.chunked_array([["a", "b", "c"], [], ["d"] * 11, ["e"] * 5000, [None]], pa.string())
    f = filled(["b", "d"])
    answers = f.contains(chunks, nulls="skip")
    assert isinstance(answers, pa.BooleanArray)
    assert answers.to_pylist() == [value in ("b", "d") for value in chunks.to_pylist()]
    table = pa.table({"name": ["apple", "b"]})
    assert f.contains(table).to_pylist() == [False, True]
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches() * 3)
    assert f.contains(reader).to_pylist() == [False, True] * 3
    assert f.contains(table.to_batches()[0].slice(1)).to_pylist() == [True]
    rows = pa.StructArray.from_arrays([pa.array(["x", "b", "d"])], ["name"])
    assert f.contains(rows.slice(1)).to_pylist() == [True] * 2
    empty = pa.chunked_array([], pa.string())
    assert f.contains(empty).to_pylist() == []
    f.update(empty)
    with pytest.raises(TypeError, match="2 columns"):
        f.contains(pa.table({"a": ["x"], "b": ["y"]}))


@pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 9, 15, 1), (8, 16, 3), (3, 4096, 5), (1000, 24, 1)])
def test_bits_at_any_place(sizes):
    chunks, start = [], 0
    for size in sizes:
        chunks.append(pa.array(range(start, start + size), pa.uint64()))
        start += size
    f = filled(range(0, start, 3))
    answers = f.contains(pa.chunked_array(chunks))
    answers.validate(full=True)
    assert answers.to_pylist() == [i % 3 == 0 for i in range(start)]


def test_offsets_that_are_wrong():
    np = pytest.importorskip("numpy")
    f = filled(["a"])
    for kind, size in ((pa.string(), "i4"), (pa.large_string(), "i8")):
        # pyarrow looks at the first and the last offset only.
        for offsets in ([0, 5, 3], [0, -4, 3]):
            data = pa.py_buffer(b"abcdef")
            wrong = pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(np.array(offsets, size).tobytes()), data])
            # With a null the keys go another way.
            places = pa.py_buffer(np.array([*offsets, 3], size).tobytes())
            nulls = pa.Array.from_buffers(kind, 3, [pa.py_buffer(b"\3"), places, data])
            for keys in [wrong, wrong.slice(1), nulls] + ([wrong.slice(0, 1)] if offsets[1] < 0 else []):
                with pytest.raises(ValueError, match="offset"):
                    f.contains(keys, nulls="skip")
    for places in ([0, 7], [0] * 5000 + [2], [0] * 10 + [-1]):
        indexes = pa.DictionaryArray.from_arrays(pa.array(places), pa.array(["a", "b"]), safe=False)
        for call in (f.contains, f.update):
            before = f.info.insertions
            with pytest.raises(ValueError, match="outside the dictionary"):
                call(indexes)
            assert f.info.insertions - before in (0, 4096)
    f = filled(["a"])
    assert f.info.insertions == 1


def test_what_is_no_keys():
    f = filled([])
    for keys in (pa.array([1.5]), pa.array([True]), pa.array([["a"]]), pa.array([], pa.date32()),
                 pa.array([], pa.timestamp("s")), pa.array([], pa.decimal128(5))):
        with pytest.raises(TypeError, match="no keys"):
            f.update(keys)


def test_a_stream_that_fails():
    schema = pa.schema([("name", pa.string())])

    def batches():
        yield pa.record_batch([["a"] * 10], schema)
        raise ValueError("the disk is gone")

    f = filled([])
    with pytest.raises(RuntimeError, match="the disk is gone"):
        f.update(pa.RecordBatchReader.from_batches(schema, batches()))
    assert f.info.insertions == 10


def test_a_stream_that_closes_the_filter():
    schema = pa.schema([("name", pa.string())])
    f = filled([])

    def batches():
        yield pa.record_batch([["a"] * 10], schema)
        f.close()
        yield pa.record_batch([["b"] * 10], schema)

    with pytest.raises(petal.ClosedError):
        f.update(pa.RecordBatchReader.from_batches(schema, batches()))


class Given:
    """Capsules of an object, which may be asked for once or in a wrong way."""

    def __init__(self, array=None, stream=None):
        if array is not None:
            self.__arrow_c_array__ = lambda requested_schema=None: array
        if stream is not None:
            self.__arrow_c_stream__ = lambda requested_schema=None: stream


def test_capsules_that_are_wrong():
    f = filled(["a"])
    capsules = pa.array(["a", "b"]).__arrow_c_array__()
    assert f.contains(Given(array=capsules)).to_pylist() == [True, False]
    with pytest.raises(ValueError, match="released"):
        f.contains(Given(array=capsules))
    schema, _ = pa.array(["a"]).__arrow_c_array__()
    for wrong in ((schema, schema), ("a", "b"), (schema,), "ab", 5):
        with pytest.raises((ValueError, TypeError)):
            f.contains(Given(array=wrong))
    stream = pa.chunked_array([["a"]]).__arrow_c_stream__()
    assert f.contains(Given(stream=stream)).to_pylist() == [True]
    with pytest.raises(ValueError, match="released"):
        f.contains(Given(stream=stream))


def test_arrays_of_ours():
    f = filled(["a"])
    capsules = pa.array(["a", "b", "a"]).__arrow_c_array__()
    # With pyarrow there, its arrays are the answers; ours are what it takes.
    answers = f.contains(Given(array=capsules))
    assert isinstance(answers, pa.BooleanArray)
    del f
    gc.collect()
    assert answers.to_pylist() == [True, False, True]
    counts = petal.Filter(100, kind="counting").count_many(pa.array(["a"]))
    assert counts.type == pa.uint64() and counts.to_pylist() == [0]


def test_memory_is_not_copied():
    keys = pa.array(range(3_000_000), pa.uint64())
    f = petal.Filter(3_000_000)
    before = pa.total_allocated_bytes()
    f.update(keys)
    f.contains(keys)
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"name": WORDS, "id": range(len(WORDS))})
    f = filled(["apple", "日本", 3, 5])
    answers = f.contains(frame["name"])
    assert isinstance(answers, pl.Series) and answers.dtype == pl.Boolean
    assert frame.filter(answers)["id"].to_list() == [0, 4]
    assert f.contains(frame["id"]).to_list() == [i in (3, 5) for i in range(len(WORDS))]
    assert f.contains(frame.select("name")).to_list() == [word in ("apple", "日本") for word in WORDS]
    with pytest.raises(TypeError, match="2 columns"):
        f.contains(frame)
    assert f.contains(frame["name"].cast(pl.Categorical)).to_list() == answers.to_list()
    missing = pl.Series(["apple", None, "x"])
    with pytest.raises(ValueError, match="null"):
        f.contains(missing)
    assert f.contains(missing, nulls="skip").to_list() == [True, False, False]
    large = pl.Series([f"word {i}" for i in range(100_000)])
    g = petal.Filter(100_000)
    assert g.add_many(large).sum() > 95_000
    assert g.contains(large).all()
    assert petal.Filter(100, kind="counting").count_many(frame["name"]).dtype == pl.UInt64


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    f = filled(range(5000))
    relation = duckdb.sql("select range::ubigint as id from range(10000)")
    assert sum(f.contains(relation).to_pylist()) >= 5000
