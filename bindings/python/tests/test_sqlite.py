"""The functions for SQLite that the package has: filters of SQL in Python, and filters of Python in SQL."""

import json
import pathlib
import sqlite3

import pytest

import petal


@pytest.fixture
def db():
    try:
        path = petal.sqlite_extension_path()
    except FileNotFoundError:
        pytest.skip("the package was built without sqlite3ext.h")
    db = sqlite3.connect(":memory:")
    if not hasattr(db, "enable_load_extension"):
        pytest.skip("this Python's sqlite3 loads no extensions")
    db.enable_load_extension(True)
    db.load_extension(path)
    db.execute("CREATE TABLE t(k INTEGER, name TEXT)")
    db.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"word {i}") for i in range(3000)])
    return db


def one(db, sql, *values):
    return db.execute(sql, values).fetchone()[0]


def test_the_path_says_where_to_look(monkeypatch, tmp_path):
    monkeypatch.setattr(petal, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(FileNotFoundError, match="there is no petal_sqlite.so in .*: .* without .* sqlite3ext.h"):
        petal.sqlite_extension_path()
    (tmp_path / "petal_sqlite.so").write_bytes(b"")
    assert petal.sqlite_extension_path() == str(tmp_path.resolve() / "petal_sqlite.so")


def test_versions_agree(db):
    assert one(db, "SELECT petal_version()") == petal.__version__


@pytest.mark.parametrize("kind", ["blocked", "bloom", "fuse", "ribbon", "counting", "quotient", "golomb"])
@pytest.mark.parametrize("column", ["k", "name"])
def test_sql_and_python_make_the_same_bytes(db, kind, column):
    builder = petal.Builder(kind=kind, rate=0.002)
    builder.update(row[0] for row in db.execute(f"SELECT {column} FROM t"))
    made = builder.finish()
    image = one(db, f"SELECT petal_agg({column}, NULL, 0.002, ?) FROM t", kind)
    assert image == bytes(made)
    asked = [f"word {i}" if column == "name" else i for i in range(12000)]
    in_sql = [bool(one(db, "SELECT petal_contains(?, ?)", image, key)) for key in asked]
    assert in_sql == list(made.contains(asked)) == list(petal.Filter.from_bytes(image).contains(asked))


def test_filters_of_python_are_asked_in_sql(db, tmp_path):
    seen = petal.Filter(3000, 0.01)
    seen.update(range(0, 3000, 2))
    seen.add(2**64 - 7)
    found = [row[0] for row in db.execute("SELECT k FROM t WHERE petal_contains(?, k)", (bytes(seen),))]
    assert found == [k for k in range(3000) if k in seen] and len(found) >= 1500
    assert one(db, "SELECT petal_contains(?, petal_twos_complement(-7))", bytes(seen)) == 1
    seen.save(tmp_path / "seen.petal")
    in_file = db.execute("SELECT k FROM t WHERE petal_contains_file(?, k)", (str(tmp_path / "seen.petal"),))
    assert [row[0] for row in in_file] == found


def test_maps_and_descriptions(db):
    image = one(db, "SELECT petal_build_map(name, k) FROM t")
    values = petal.Map.from_bytes(image)
    assert [values[f"word {i}"] for i in range(3000)] == list(range(3000))
    made = petal.Filter.from_bytes(one(db, "SELECT petal_agg(k) FROM t"))
    info = json.loads(one(db, "SELECT petal_info(?)", bytes(made)))
    assert info["false_positive_rate"] == made.info.rate
    for name in ("kind", "hash", "seed", "capacity", "insertions", "bits", "hashes", "bytes", "bits_per_key"):
        assert info[name] == getattr(made.info, name), name


def test_it_lies_in_the_package(db):
    assert pathlib.Path(petal.sqlite_extension_path()).parent == pathlib.Path(petal.__file__).resolve().parent
