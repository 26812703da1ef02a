"""Sketches: what only one of two sets has."""

import pickle

import pytest

import petal


@pytest.mark.parametrize("kind", ["iblt", "riblt", "pinsketch"])
def test_differences(kind, tmp_path):
    ours, theirs = petal.Sketch(50, kind=kind), petal.Sketch(50, kind=kind)
    ours.update(range(1, 2000))
    theirs.update(range(6, 2003))
    difference = (ours - theirs).difference()
    assert difference.complete
    numbers = [1, 2, 3, 4, 5], [2000, 2001, 2002]
    if kind == "pinsketch":
        # It has no signs.
        assert difference.added == sorted(numbers[0] + numbers[1]) and difference.removed == []
    else:
        assert (difference.added, difference.removed) == numbers
    assert ours.info.insertions == 1999
    theirs.save(tmp_path / "theirs")
    with petal.Sketch.open(tmp_path / "theirs") as opened:
        ours -= opened
    assert ours.difference() == difference
    assert petal.Sketch.from_bytes(bytes(ours)).difference() == difference
    assert pickle.loads(pickle.dumps(ours)).difference() == difference


def test_texts_are_listed_as_hashes():
    ours, theirs = petal.Sketch(10), petal.Sketch(10)
    ours.update(["apple", "pear"])
    theirs.add("pear")
    assert (ours - theirs).difference().added == [petal.Filter(1).hash("apple")]


def test_too_many_differences():
    sketch = petal.Sketch(10)
    sketch.update(range(10_000))
    assert not sketch.difference().complete
    assert sketch.expected_failure_rate(10_000) == pytest.approx(1)
    assert sketch.expected_failure_rate(1) < 0.1


def test_changes():
    sketch = petal.Sketch(10)
    sketch.add(5)
    sketch.remove(5)
    sketch.remove_many([7])
    assert sketch.difference() == ([], [7], True)
    sketch |= petal.Sketch(10)
    assert (sketch | sketch.copy()).difference() != ([], [7], True)
    sketch -= sketch
    assert sketch.difference() == ([], [], True)
    sketch.add(1)
    sketch.clear()
    sketch.keep_keys()
    sketch.update([1, 1, 2])
    assert sketch.difference().added == [1, 2]
    assert repr(sketch) == f"<petal.Sketch iblt: for 10 differences, 2 keys, {sketch.info.bytes} bytes>"
    with pytest.raises(petal.IncompatibleError):
        sketch - petal.Sketch(20)
    with pytest.raises(TypeError):
        sketch - {1}
    sketch.close()
    for call in (lambda: sketch.add(1), sketch.difference, sketch.clear, lambda: sketch - sketch):
        with pytest.raises(petal.ClosedError):
            call()
