"""Many keys at once, without any other library: what forms they come in, and what is added if they end badly."""

import array
import itertools

import pytest

import petal

SIZES = [0, 1, 2, 7, 8, 9, 255, 256, 4095, 4096, 4097, 10_000]


def words(count):
    return [f"word {i}" for i in range(count)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", [list, tuple, iter, dict.fromkeys, lambda keys: (key for key in keys)])
def test_iterables(form, size):
    keys = words(size)
    one, many = petal.Filter(20_000), petal.Filter(20_000)
    for key in keys:
        one.add(key)
    assert many.update(form(keys)) is None
    assert many == one and many.info.insertions == size
    asked = [key for pair in zip(keys, (f"other {i}" for i in range(size))) for key in pair]
    assert many.contains(form(asked)) == [key in one for key in asked]


def test_mixed_types_in_one_list():
    keys = ["a", 1, b"c", 2, 3, "d", 4] * 700 + ["e"] * 5000 + [9] * 5000
    f = petal.Filter(20_000)
    assert len(f.add_many(keys)) == len(keys)
    assert f.info.insertions == len(keys)
    assert all(f.contains(keys))
    assert f.contains([1, "1", b"a", 9]) == [True, False, True, True]


def test_add_many_says_what_is_new():
    f = petal.Filter(20_000, 0.000001)
    keys = words(5000)
    assert f.add_many(keys) == [True] * 5000
    assert f.add_many(keys[4000:] + ["new"]) == [False] * 1000 + [True]
    assert f.add_many(["twice", "twice"]) == [True, False]


def test_large_keys():
    f = petal.Filter(100)
    keys = [b"x" * 3_000_000, b"y" * 10, b"x" * 3_000_001, b""]
    f.update(keys)
    assert f.contains(keys + [b"x" * 2_999_999]) == [True] * 4 + [False]


@pytest.mark.parametrize("typecode", "hHiIlLqQ")
def test_arrays_of_python(typecode):
    keys = array.array(typecode, range(10_000))
    f = petal.Filter(10_000, 0.0001)
    f.update(keys)
    assert all(i in f for i in range(10_000))
    assert f.contains(keys) == [True] * 10_000
    assert f.contains(memoryview(keys)[5000::-7]) == [True] * len(range(5000, -1, -7))


def test_negative_numbers():
    f = petal.Filter(100)
    for typecode in "hilq":
        for keys in (array.array(typecode, [1, -2]), [1, -2]):
            with pytest.raises(OverflowError, match="-2"):
                f.update(keys)
        with pytest.raises(OverflowError, match="key 1 = -2"):
            f.contains(memoryview(array.array(typecode, [0, 1, 0, -2]))[1::2])


@pytest.mark.parametrize(
    "keys, kind, what",
    [
        ("apple", TypeError, "one key"),
        (b"apple", TypeError, "one key"),
        (bytearray(b"apple"), TypeError, "one key"),
        (memoryview(b"apple"), TypeError, "format"),
        (array.array("d", [1.0]), TypeError, "format d"),
        (array.array("B", [1]), TypeError, "format B"),
        (memoryview(bytes(16)).cast("B", (4, 4)), ValueError, "2 dimensions"),
        (5, TypeError, "iterable"),
        (None, TypeError, "iterable"),
        ([1.5], TypeError, "float"),
        ([None], TypeError, "NoneType"),
        ([["a"]], TypeError, "list"),
    ],
)
def test_what_is_no_keys(keys, kind, what):
    f = petal.Filter(100)
    for call in (f.update, f.contains, f.add_many):
        with pytest.raises(kind, match=what):
            call(keys)
    assert f.info.insertions == 0


def test_keywords():
    f = petal.Filter(100)
    f.update([None, "a"], nulls="skip")
    assert f.contains(["a", None, "b", None], nulls="skip") == [True, False, False, False]
    with pytest.raises(ValueError, match="nulls"):
        f.update(["a"], nulls="drop")
    with pytest.raises(TypeError):
        f.contains(["a"], shared=True)
    with pytest.raises(TypeError):
        f.update()


def test_nulls_across_chunks():
    f = petal.Filter(100_000, 0.000001)
    keys = [None if i % 3 == 1 else i for i in range(30_000)]
    f.update(keys, nulls="skip")
    assert f.info.insertions == 20_000
    assert f.contains(keys, nulls="skip") == [key is not None for key in keys]
    assert f.add_many([None] * 10_000, nulls="skip") == [False] * 10_000
    assert f.contains([None] * 5000 + ["a"] + [7 * 3], nulls="skip")[-2:] == [False, True]


def test_an_iterable_that_fails_half_way():
    def failing():
        yield from words(5000)
        raise KeyError("enough")

    f = petal.Filter(20_000)
    with pytest.raises(KeyError, match="enough"):
        f.update(failing())
    # Whole chunks of 4096 keys are in.
    assert f.info.insertions == 4096
    with pytest.raises(TypeError):
        f.update(words(5000) + [None])
    assert f.info.insertions == 2 * 4096


def test_an_iterable_that_closes_the_filter():
    f = petal.Filter(20_000)

    def closing():
        yield from words(5000)
        f.close()
        yield from words(5000)

    with pytest.raises(petal.ClosedError):
        f.update(closing())
    with pytest.raises(petal.ClosedError):
        f.contains(iter(["a"]))


def test_an_iterable_that_uses_the_filter():
    f = petal.Filter(20_000)

    def using():
        for i in range(10_000):
            f.add(f"inner {i}")
            yield f"outer {i}"

    f.update(using())
    assert f.info.insertions == 20_000
    assert "inner 9999" in f and "outer 9999" in f
    keys = words(5000)

    def clearing():
        for key in keys:
            keys.clear()
            yield key

    f.update(clearing())


def test_a_key_whose_index_closes_the_filter():
    f = petal.Filter(100)

    class Closing:
        def __index__(self):
            f.close()
            return 1

    with pytest.raises(petal.ClosedError):
        f.add(Closing())
    f = petal.Filter(100)
    with pytest.raises(petal.ClosedError):
        Closing() in f


def test_a_length_that_lies():
    class Lying(list):
        def __len__(self):
            return 10**12

    f = petal.Filter(100)
    assert f.contains(Lying(["a", "b"])) == [False, False]

    class Small(list):
        def __len__(self):
            return 1

    assert f.contains(Small(words(100))) == [False] * 100


def test_an_endless_iterable_ends_by_its_own_error():
    f = petal.Filter(100, kind="hash_compaction")
    with pytest.raises(petal.FullError):
        f.update(itertools.count())


def test_lengths_of_numbers_beside_keys():
    f = petal.Filter(100_000, kind="counting", counter_bits=8)
    keys = [f"k{i}" for i in range(9000)]
    f.add_times(keys, array.array("Q", [i % 5 for i in range(9000)]))
    assert f.count("k4") >= 4 and f.count("k9") >= 4
    for times in ([1], [1] * 9001, [], [1] * 8999):
        with pytest.raises(ValueError, match="as many numbers as keys"):
            f.add_times(keys, times)
    with pytest.raises(TypeError, match="times"):
        f.add_times(["a"], ["b"])
    with pytest.raises(OverflowError, match="times|key"):
        f.add_times(["a"], [-1])
