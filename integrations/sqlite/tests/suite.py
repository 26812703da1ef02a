"""suite.py EXTENSION LIBRARIES WORK: the functions of petal_sqlite.so in Python's sqlite3, beside the command `petal`
(PETAL_COMMAND) and the C library in the folder LIBRARIES, over the same bytes. Prints a line a check."""

import ctypes
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import threading
import traceback

EXTENSION, LIBRARIES, WORK = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
COMMAND = os.environ["PETAL_COMMAND"]
# Kinds that a builder makes from text keys, those that are static and those that are not.
KINDS = ("blocked bloom split_block scalable taffy aleph cuckoo quotient vector_quotient counting d_left spectral "
         "variable_increment layered removed_set fuse ribbon golomb signatures").split()
MAPS = "bloomier retrieval approximator mutable_bloomier".split()
N = 2000


def connect(path=":memory:"):
    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    return db


def with_keys():
    db = connect()
    db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, name TEXT)")
    db.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"key {i}") for i in range(1, N + 1)])
    return db


def one(db, sql, *values):
    return db.execute(sql, values).fetchone()[0]


def error(db, sql, *values):
    try:
        row = db.execute(sql, values).fetchone()
    except sqlite3.Error as failure:
        return str(failure)
    return f"no error, but {row}"


def petal(*arguments, lines=None):
    text = None if lines is None else "".join(f"{line}\n" for line in lines)
    return subprocess.run([COMMAND, *arguments], input=text, capture_output=True, text=True).stdout


class C:
    """The C library, with what is asked here."""

    def __init__(self):
        found = [path for path in LIBRARIES.glob("libpetal.*") if path.suffix in (".so", ".dylib")]
        self.library = ctypes.CDLL(str(found[0]))
        self.library.petal_filter_contains_u64.restype = ctypes.c_bool
        self.library.petal_filter_contains_u64.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        self.library.petal_filter_contains.restype = ctypes.c_bool
        self.library.petal_filter_contains.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.library.petal_filter_with_capacity.restype = ctypes.c_void_p
        self.library.petal_filter_with_capacity.argtypes = [ctypes.c_uint64, ctypes.c_double]
        self.library.petal_filter_insert_u64.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
        self.library.petal_filter_save.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.library.petal_filter_free.argtypes = [ctypes.c_void_p]

    def open(self, path):
        handle = ctypes.c_void_p()
        status = self.library.petal_filter_open(str(path).encode(), None, ctypes.byref(handle), None)
        assert status == 0, status
        return handle


# --- SQL beside the command and C ------------------------------------------------------------------------------------


def check_filters_are_those_of_the_command():
    """Byte for byte, for each kind."""
    db = with_keys()
    names = [f"key {i}" for i in range(1, N + 1)]
    for kind in KINDS:
        path = WORK / "of_command.petal"
        petal("build", "--kind", kind, "--fpr", "0.003", "-o", str(path), lines=names)
        sql = one(db, "SELECT petal_agg(name, ?, 0.003, ?) FROM t", None, kind)
        if kind in ("scalable", "taffy", "aleph", "cuckoo", "vector_quotient"):
            # The command inserts keys as they come, and a builder in the order of hashes.
            assert len(sql) > 256, kind
        else:
            assert sql == path.read_bytes(), kind


def check_the_command_asks_what_sql_built():
    db = with_keys()
    asked = [f"key {i}" for i in range(1, 4 * N)]
    for kind in KINDS:
        path = WORK / "of_sql.petal"
        path.write_bytes(one(db, "SELECT petal_agg(name, NULL, 0.05, ?) FROM t", kind))
        assert petal("verify", str(path)) is not None
        said = petal("check", str(path), lines=asked).splitlines()
        found = [key for key in asked if one(db, "SELECT petal_contains(?, ?)", path.read_bytes(), key)]
        assert said == found and len(found) >= N, kind
        assert set(found) >= set(f"key {i}" for i in range(1, N + 1)), kind


def check_sql_asks_what_the_command_built():
    db = with_keys()
    asked = [f"key {i}" for i in range(1, 4 * N)]
    path = WORK / "of_command.petal"
    for kind in KINDS:
        petal("build", "--kind", kind, "--fpr", "0.05", "-o", str(path), lines=asked[:N])
        said = petal("check", str(path), lines=asked).splitlines()
        sql = db.execute("WITH f(f) AS MATERIALIZED (SELECT ?) SELECT value FROM json_each(?) WHERE "
                         "petal_contains((SELECT f FROM f), value)", (path.read_bytes(), json.dumps(asked)))
        assert said == [row[0] for row in sql], kind
        in_file = db.execute("SELECT value FROM json_each(?) WHERE petal_contains_file(?, value)",
                             (json.dumps(asked), str(path)))
        assert said == [row[0] for row in in_file], kind


def check_counts_are_those_of_the_command():
    db = with_keys()
    path = WORK / "counts.petal"
    path.write_bytes(one(db, "SELECT petal_agg(name, 4000, 0.001, 'counting') FROM (SELECT name FROM t UNION ALL "
                             "SELECT name FROM t WHERE k % 2 = 0)"))
    said = petal("count", str(path), lines=["key 1", "key 2", "nothing"]).split("\n")
    assert said[:3] == ["1\tkey 1", "2\tkey 2", "0\tnothing"], said
    counts = [one(db, "SELECT petal_count(?, ?)", path.read_bytes(), key) for key in ("key 1", "key 2", "nothing")]
    assert counts == [1, 2, 0]


def check_maps_are_those_of_the_command():
    db = with_keys()
    path = WORK / "map.petal"
    asked = [f"key {i}" for i in range(1, N + 200)]
    for kind in MAPS:
        petal("map", "build", "--kind", kind, "-o", str(path), lines=[f"key {i}\t{i * 3}" for i in range(1, N + 1)])
        sql = one(db, "SELECT petal_build_map(name, k * 3, NULL, ?) FROM t", kind)
        assert sql == path.read_bytes(), kind
        said = [line.split("\t") for line in petal("map", "get", str(path), lines=asked).splitlines()]
        values = {key: one(db, "SELECT petal_get(?, ?)", sql, key) for key in asked}
        assert {key: int(value) for key, value in said} == {k: v for k, v in values.items() if v is not None}, kind
        # An approximator gives the value or one above it.
        assert all(values[f"key {i}"] >= i * 3 for i in range(1, N + 1)), kind
        assert kind == "approximator" or all(values[f"key {i}"] == i * 3 for i in range(1, N + 1)), kind


def check_integers_are_those_of_c():
    db, c = with_keys(), C()
    path = WORK / "integers.petal"
    path.write_bytes(one(db, "SELECT petal_agg(k, 3000, 0.02) FROM t"))
    handle = c.open(path)
    asked = [*range(4 * N), 2**63 - 1]
    in_c = [c.library.petal_filter_contains_u64(handle, k) for k in asked]
    assert in_c == [bool(one(db, "SELECT petal_contains(?, ?)", path.read_bytes(), k)) for k in asked]
    assert all(in_c[1 : N + 1]) and not all(in_c)
    c.library.petal_filter_free(handle)
    own = ctypes.c_void_p(c.library.petal_filter_with_capacity(3000, 0.02))
    for k in range(1, N + 1):
        c.library.petal_filter_insert_u64(own, k, None)
    c.library.petal_filter_insert_u64(own, 2**64 - 5, None)
    c.library.petal_filter_save(own, str(path).encode(), None)
    c.library.petal_filter_free(own)
    of_c = path.read_bytes()
    assert of_c == one(db, "SELECT petal_agg(k, 3000, 0.02) FROM (SELECT k FROM t UNION ALL SELECT petal_twos_complement(-5))")
    assert one(db, "SELECT petal_contains(?, petal_twos_complement(-5))", of_c) == 1
    assert one(db, "SELECT petal_contains(?, x'0100000000000000')", of_c) == 1
    assert one(db, "SELECT hex(petal_twos_complement(?))", -2) == "FEFFFFFFFFFFFFFF"


def check_filters_and_maps_are_those_of_the_python_package():
    try:
        import petal as package
    except ImportError:
        return "make test-python has not built it for this Python"
    db = with_keys()
    for kind in ("blocked", "bloom", "fuse", "ribbon", "counting"):
        builder = package.Builder(kind=kind, rate=0.002)
        builder.update(range(1, N + 1))
        of_python = builder.finish()
        image = one(db, "SELECT petal_agg(k, NULL, 0.002, ?) FROM t", kind)
        assert image == bytes(of_python), kind
        in_sql = [bool(one(db, "SELECT petal_contains(?, ?)", bytes(of_python), k)) for k in range(4 * N)]
        assert in_sql == list(package.Filter.from_bytes(image).contains(range(4 * N))), kind
    values = package.Map.from_bytes(one(db, "SELECT petal_build_map(name, k) FROM t"))
    assert [values[f"key {i}"] for i in range(1, N + 1)] == list(range(1, N + 1))


def check_filters_are_those_of_go():
    here = pathlib.Path(__file__).resolve().parent
    module = here.parents[2] / "bindings" / "go"
    if not shutil.which("go") or subprocess.run(["go", "mod", "download"], cwd=module, capture_output=True).returncode:
        return "there is no Go, or no network for the packages that it takes"
    program = WORK / "ask"
    subprocess.run(["go", "build", "-o", program, here / "ask.go"], cwd=module, check=True,
                   env={**os.environ, "CGO_ENABLED": "0"})
    db = with_keys()
    asked = [f"key {i}" for i in range(1, 4 * N)]
    image, made = WORK / "for_go.petal", WORK / "of_go.petal"
    for kind in ("blocked", "bloom", "split_block", "fuse", "ribbon", "counting"):
        image.write_bytes(one(db, "SELECT petal_agg(name, NULL, 0.05, ?) FROM t", kind))
        said = subprocess.run([program, image, made], input="\n".join(asked), stdout=subprocess.PIPE, text=True)
        found = [key for key in asked if one(db, "SELECT petal_contains(?, ?)", image.read_bytes(), key)]
        assert said.returncode == 0 and said.stdout.splitlines() == found, kind
    assert made.read_bytes() == one(db, "SELECT petal_agg(k, 3000, 0.02) FROM t")


def close(one, other):
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return one == other


def check_info_is_that_of_the_command():
    db = with_keys()
    path = WORK / "info.petal"
    for kind in KINDS + MAPS:
        if kind in MAPS:
            image = one(db, "SELECT petal_build_map(name, k, NULL, ?) FROM t", kind)
        else:
            capacity = 100 if kind in ("scalable", "taffy", "aleph") else None
            image = one(db, "SELECT petal_agg(name, ?, 0.004, ?) FROM t", capacity, kind)
        path.write_bytes(image)
        said = json.loads(petal("info", "--json", str(path)))
        sql = json.loads(one(db, "SELECT petal_info(?)", image))
        assert sql.pop("type") == ("map" if kind in MAPS else "filter")
        statistics = sql.pop("statistics")
        # Names, their order and their values.
        assert [name for name in said if name in sql] == list(sql), kind
        assert all(close(said[name], sql[name]) for name in sql), (kind, said, sql)
        assert all(close(said["statistics"][name], statistics[name]) for name in statistics), (kind, said, statistics)


def check_plans_are_those_of_the_command():
    db = connect()
    for keys, rate in ((1000, 0.01), (5_000_000, 0.0001)):
        said = json.loads(petal("plan", "--keys", str(keys), "--fpr", str(rate), "--static", "--json"))["proposals"]
        sql = json.loads(one(db, "SELECT petal_plan(?, ?)", keys, rate))
        fits = [proposal for proposal in said if "bytes" in proposal]
        assert [proposal["kind"] for proposal in fits] == [proposal["kind"] for proposal in sql]
        for command, own in zip(fits, sql):
            assert all(close(command[name], own[name]) for name in own if name != "is_built"), (command, own)
        assert [p["is_built"] for p in sql if p["kind"] in ("fuse", "blocked")].count(True) == 1
    assert one(db, "SELECT petal_plan(1000)") == one(db, "SELECT petal_plan(1000, 0.01)")


# --- Keys and arguments ----------------------------------------------------------------------------------------------


def check_null_is_skipped_or_given_back():
    db = with_keys()
    filter = one(db, "SELECT petal_agg(k) FROM t")
    for sql in ("petal_contains(NULL, 1)", "petal_contains(?1, NULL)", "petal_count(NULL, 1)", "petal_estimate(NULL)",
                "petal_merge(NULL, ?1)", "petal_merge(?1, NULL)", "petal_get(NULL, 1)", "petal_info(NULL)",
                "petal_plan(NULL)", "petal_twos_complement(NULL)", "petal_contains_file(NULL, 1)",
                "petal_contains_file('/nowhere', NULL)"):
        assert one(db, f"SELECT {sql} FROM (SELECT ?1)", filter) is None, sql
    for sql in ("petal_agg(NULL)", "petal_agg(NULL, 10, 0.1, 'bloom')", "petal_merge_agg(NULL)",
                "petal_build_map(NULL, 1)", "petal_build_map(1, NULL)"):
        assert one(db, f"SELECT {sql} FROM t") is None, sql
        assert one(db, f"SELECT {sql} FROM t WHERE k < 0") is None, sql
    some = one(db, "SELECT petal_agg(CASE WHEN k % 2 THEN k END) FROM t")
    assert some == one(db, "SELECT petal_agg(k) FROM t WHERE k % 2")
    assert one(db, "SELECT petal_merge_agg(CASE WHEN k % 2 THEN ? END) FROM t", filter) is not None
    assert one(db, "SELECT petal_agg(k, NULL, NULL, NULL) FROM t") == filter == one(db, "SELECT petal_agg(k, 0) FROM t")


def check_messages():
    db = with_keys()
    db.execute("CREATE TABLE f(f)")
    db.execute("INSERT INTO f SELECT petal_agg(k) FROM t")
    db.execute("CREATE TABLE m(f)")
    db.execute("INSERT INTO m SELECT petal_build_map(k, k) FROM t")
    for sql, message in [
        ("petal_contains(f, 1.5) FROM f", "petal_contains: key is a real number (1.5), which is written in several ways: cast "
                                          "it to INTEGER or TEXT"),
        ("petal_contains(f, -1) FROM f", "petal_contains: key is -1, and must be 0 or more: petal_twos_complement() makes a key "
                                         "of a negative number"),
        ("petal_contains('x', 1)", "petal_contains: filter is text, and must be a blob that is an image of Petal's"),
        ("petal_contains(1, 1)", "petal_contains: filter is an integer, and must be a blob that is an image of Petal's"),
        ("petal_contains(x'00', 1)", "petal_contains: the bytes do not start like a Petal image"),
        ("petal_contains(x'', 1)", "petal_contains: 0 bytes are less than the header of 256"),
        ("petal_contains(CAST(f || x'00' AS BLOB), 1) FROM f", "petal_contains: "),
        ("petal_contains(f, 1) FROM m", "petal_contains: bloomier is a kind of map, not of filter: make it or open it as a map"),
        ("petal_get(f, 1) FROM f", "petal_get: blocked is a kind of filter, not of map"),
        ("petal_count(f, 1) FROM f", "petal_count: filters of the kind blocked cannot count"),
        ("petal_estimate(petal_agg(k, NULL, 0.01, 'fuse')) FROM t", "petal_estimate: filters of the kind fuse cannot "
                                                                    "estimate"),
        ("petal_agg(k, -1) FROM t", "petal_agg: capacity is -1, and must be 0 or more"),
        ("petal_agg(k, 1.5) FROM t", "petal_agg: capacity is 1.5, and must be a whole number, 0 or more"),
        ("petal_agg(k, 'many') FROM t", "petal_agg: capacity is text, and must be a whole number, 0 or more"),
        ("petal_agg(k, k) FROM t", "petal_agg: capacity was 1 and is 2, and must be the same in all rows of a group"),
        ("petal_agg(k, 9, 0.5 / k) FROM t", "petal_agg: false_positive_rate was 0.5 and is 0.25, and must be the same in all "
                                            "rows of a group"),
        ("petal_agg(k, 9, 0.5, CASE k WHEN 1 THEN 'bloom' END) FROM t", "petal_agg: kind was 'bloom' and is NULL, and "
                                                                        "must be the same in all rows of a group"),
        ("petal_agg(k, 9, 0) FROM t", "petal_agg: false_positive_rate is 0.0, and must be inside (0, 1)"),
        ("petal_agg(k, 9, 1) FROM t", "petal_agg: false_positive_rate is 1.0, and must be inside (0, 1)"),
        ("petal_agg(k, 9, 'x') FROM t", "petal_agg: false_positive_rate is text, and must be a number inside (0, 1)"),
        ("petal_agg(k, 9, 0.1, 'blo') FROM t", 'petal_agg: kind = "blo" is not known'),
        ("petal_agg(k, 9, 0.1, '') FROM t", "petal_agg: kind is '', and must be the name of a kind"),
        ("petal_agg(k, 9, 0.1, 7) FROM t", "petal_agg: kind is an integer, and must be the name of a kind"),
        ("petal_agg(k, 9, 0.1, 'bloomier') FROM t", "petal_agg: kind is 'bloomier', which is a kind of map, and must be a "
                                                    "kind of filter"),
        ("petal_agg(k, 9, 0.1, 'hash_compaction') FROM t", "petal_agg: the hash_compaction filter"),
        ("petal_agg(k * 1.5) FROM t", "petal_agg: key is a real number (1.5)"),
        ("petal_merge(f, x'01') FROM f", "petal_merge: the bytes do not start like a Petal image"),
        ("petal_merge(f, 7) FROM f", "petal_merge: other is an integer"),
        ("petal_merge_agg(x) FROM (SELECT petal_agg(k, 1000 * k) AS x FROM t WHERE k < 3 GROUP BY k)",
         "petal_merge_agg: the filters differ in bits"),
        ("petal_build_map(k, -k) FROM t", "petal_build_map: value is -1, and must be 0 or more"),
        ("petal_build_map(k, name) FROM t", "petal_build_map: value is text, and must be an integer, 0 or more"),
        ("petal_build_map(k % 2, k) FROM t", "petal_build_map: one key was given two values"),
        ("petal_build_map(k, k, 0.1, 'bloom') FROM t", "petal_build_map: kind is 'bloom', which is a kind of filter, and must "
                                                       "be a kind of map"),
        ("petal_twos_complement('1')", "petal_twos_complement: the number is text, and must be an integer"),
        ("petal_plan(-1)", "petal_plan: keys is -1, and must be 0 or more"),
        ("petal_plan(10, 2)", "petal_plan: false_positive_rate is 2.0, and must be inside (0, 1)"),
        ("petal_contains_file('/nowhere/x', 1)", "petal_contains_file: /nowhere/x: the file does not exist"),
        ("petal_contains_file('/', 1)", "petal_contains_file: /: "),
        ("petal_contains_file('', 1)", "petal_contains_file: path is empty"),
        ("petal_contains_file(5, 1)", "petal_contains_file: path is an integer, and must be text"),
        ("petal_agg(k) OVER () FROM t", "petal_agg() may not be used as a window function"),
        ("petal_agg()", "wrong number of arguments to function petal_agg()"),
        ("petal_contains(1)", "wrong number of arguments to function petal_contains()"),
    ]:
        said = error(db, f"SELECT {sql}")
        assert said.startswith(message), (sql, said)
    assert error(db, "SELECT petal_contains_file(?, 1)", "a\0b") == "petal_contains_file: path has a NUL in it"
    assert error(db, "SELECT petal_agg(k, 9, 0.1, ?) FROM t", "bloom\0").startswith("petal_agg: kind is 'bloom', and")
    # After all of them the connection does what it should.
    assert one(db, "SELECT count(*) FROM t WHERE petal_contains((SELECT f FROM f), k)") == N


def check_secret_keys():
    db = connect()
    (WORK / "secret").write_text("00112233445566778899aabbccddeeff")
    path = WORK / "keyed.petal"
    petal("build", "--secret-file", str(WORK / "secret"), "-o", str(path), lines=["a", "b"])
    assert path.read_bytes()
    for sql in ("petal_contains", "petal_count"):
        said = error(db, f"SELECT {sql}(?, 'a')", path.read_bytes())
        assert "secret key, and SQL has no way to give it" in said or "cannot count" in said, said
    assert error(db, "SELECT petal_contains_file(?, 'a')", str(path)).endswith("SQL has no way to give it")
    assert one(db, "SELECT json_extract(petal_info(?), '$.hash')", path.read_bytes()) == "siphash13"


def check_text_is_utf8_whatever_the_database_is():
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        db = connect()
        db.execute(f"PRAGMA encoding = '{encoding}'")
        db.execute("CREATE TABLE t(name TEXT)")
        names = ["", "a", "\u00e4\u4f60\U0001f338", "a\0b", "a\0c"]
        db.executemany("INSERT INTO t VALUES (?)", [(name,) for name in names])
        filter = one(db, "SELECT petal_agg(name, 100, 1e-6) FROM t")
        assert all(one(db, "SELECT petal_contains(?, ?)", filter, name) for name in names), encoding
        assert all(one(db, "SELECT petal_contains(?, ?)", filter, name.encode()) for name in names), encoding
        assert not one(db, "SELECT petal_contains(?, ?)", filter, "a\0d"), encoding
        assert one(db, "SELECT min(petal_contains(?, name)) FROM t", filter) == 1, encoding
        assert one(db, "SELECT petal_contains(?, zeroblob(0))", filter) == 1


def check_aggregates():
    db = with_keys()
    groups = db.execute("SELECT k % 3, petal_agg(k) FROM t GROUP BY k % 3").fetchall()
    for remainder, filter in groups:
        assert filter == one(db, "SELECT petal_agg(k) FROM t WHERE k % 3 = ?", remainder)
        assert filter == one(db, "SELECT petal_agg(k) FILTER (WHERE k % 3 = ?) FROM t", remainder)
    filter = one(db, "SELECT petal_agg(k) FROM t")
    assert filter == one(db, "SELECT petal_agg(DISTINCT k) FROM (SELECT k FROM t UNION ALL SELECT k FROM t)")
    # A builder takes keys in any order, and counts the distinct ones.
    assert filter == one(db, "SELECT petal_agg(k) FROM (SELECT k FROM t ORDER BY k DESC)")
    mixed = one(db, "SELECT petal_agg(x) FROM (SELECT k AS x FROM t UNION ALL SELECT name FROM t)")
    assert one(db, "SELECT sum(petal_contains(?1, k) + petal_contains(?1, name)) FROM t", mixed) == 2 * N
    thirds = [row[0] for row in db.execute("SELECT petal_agg(k, 2000, 0.01) FROM t GROUP BY k % 3")]
    whole = one(db, "SELECT petal_agg(k, 2000, 0.01) FROM t")
    db.execute("CREATE TABLE f(f)")
    db.executemany("INSERT INTO f VALUES (?)", [(third,) for third in thirds])
    assert one(db, "SELECT petal_merge_agg(f) FROM f") == whole
    assert one(db, "SELECT petal_merge(petal_merge(?, ?), ?)", *thirds) == whole
    assert abs(one(db, "SELECT petal_estimate(?)", whole) - N) < 200
    full = one(db, "SELECT petal_agg(k, 1, 0.5, 'bloom') FROM t")
    assert one(db, "SELECT petal_estimate(?)", full) is None


def check_values_above_those_of_sql():
    db = connect()
    path = WORK / "large.petal"
    petal("map", "build", "-o", str(path), lines=[f"a\t{2**63}", f"b\t{2**63 - 1}"])
    said = error(db, "SELECT petal_get(?, 'a')", path.read_bytes())
    assert said == "petal_get: the value is 9223372036854775808, and an integer of SQL is at most 9223372036854775807"
    assert one(db, "SELECT petal_get(?, 'b')", path.read_bytes()) == 2**63 - 1


# --- What is kept ----------------------------------------------------------------------------------------------------


def check_filters_that_change():
    db = with_keys()
    db.execute("CREATE TABLE f(n INTEGER PRIMARY KEY, f)")
    # Fifty filters of one size, each of one key that no other one has.
    for n in range(50):
        db.execute("INSERT INTO f SELECT ?1, petal_agg(?1 * 1000 + 7, 100, 1e-9)", (n,))
    wrong = one(db, "SELECT count(*) FROM f AS a, f AS b WHERE petal_contains(a.f, b.n * 1000 + 7) <> (a.n = b.n)")
    assert wrong == 0
    wrong = one(db, "SELECT count(*) FROM f AS b WHERE NOT petal_contains((SELECT f FROM f WHERE n = b.n), b.n * 1000 + 7)")
    assert wrong == 0
    for n in range(50):
        db.execute("UPDATE f SET f = (SELECT petal_agg(?1, 100, 1e-9)) WHERE n = 0", (n,))
        assert [one(db, "SELECT petal_contains((SELECT f FROM f WHERE n = 0), ?)", k) for k in (n, n + 1)] == [1, 0]


def check_damage_is_found():
    db = with_keys()
    for size in (100, 200_000):
        good = one(db, "SELECT petal_agg(k, ?) FROM t", size)
        for place in (len(good) - 1, 300, len(good) // 2):
            bad = bytearray(good)
            bad[place] ^= 1
            assert error(db, "SELECT petal_contains(?, 1)", bytes(bad)).startswith("petal_contains: "), place
        assert one(db, "SELECT petal_contains(?, 1)", good) == 1
    unclean = bytearray(good)
    unclean[216:224] = b"DIRTY\0\0\0"
    assert error(db, "SELECT petal_contains(?, 1)", bytes(unclean)).startswith("petal_contains: ")
    assert error(db, "SELECT petal_contains(?, 1)", good + b"x" * 8) == (
        f"petal_contains: filter is a blob of {len(good) + 8} bytes, and the image in it has {len(good)}")


def check_files_that_are_replaced():
    db = with_keys()
    path = WORK / "replaced.petal"
    one_of = {n: one(db, "SELECT petal_agg(?, 100, 1e-9)", n) for n in range(3)}
    for turn in range(6):
        other = WORK / "new.petal"
        other.write_bytes(one_of[turn % 3])
        other.rename(path)
        found = [one(db, "SELECT petal_contains_file(?, ?)", str(path), n) for n in range(3)]
        assert found == [n == turn % 3 for n in range(3)], turn
    # While a statement runs.
    rows = db.execute("SELECT petal_contains_file(?, k % 3) FROM t", (str(path),))
    before = [rows.fetchone()[0] for _ in range(3)]
    other.write_bytes(one_of[0])
    other.rename(path)
    assert before == [0, 1, 0] and rows.fetchmany(3) == [(0,), (0,), (1,)]
    path.unlink()
    assert "does not exist" in error(db, "SELECT petal_contains_file(?, 1)", str(path))
    paths = [WORK / f"many{n}.petal" for n in range(9)]
    for n, one_path in enumerate(paths):
        one_path.write_bytes(one_of[n % 3])
    for n, one_path in enumerate(paths * 2):
        assert one(db, "SELECT petal_contains_file(?, ?)", str(one_path), n % 9 % 3) == 1
    mapped = pathlib.Path("/proc/self/maps")
    if mapped.exists():
        rows.close()
        db.close()
        assert str(WORK) not in "".join(line for line in mapped.read_text().splitlines() if line.endswith("petal"))


# --- What SQLite is told ---------------------------------------------------------------------------------------------


def check_flags():
    db = with_keys()
    flags = {name: flags for name, flags in db.execute("SELECT name, flags FROM pragma_function_list WHERE name LIKE 'petal%'")}
    deterministic, direct, innocuous = 0x800, 0x80000, 0x200000
    for name, is_set in flags.items():
        varies = name in ("petal_version", "petal_plan", "petal_contains_file")
        assert bool(is_set & deterministic) != varies, name
        assert bool(is_set & direct) == (name == "petal_contains_file"), name
        assert bool(is_set & innocuous) == (name != "petal_contains_file"), name
    db.execute("CREATE TABLE f(f)")
    db.execute("INSERT INTO f SELECT petal_agg(k) FROM t")
    literal = one(db, "SELECT hex(f) FROM f")
    db.execute(f"CREATE INDEX i ON t(petal_contains(x'{literal}', k))")
    assert "non-deterministic" in error(db, "CREATE INDEX j ON t(petal_version())")
    db.execute("CREATE VIEW v AS SELECT petal_contains_file('/nowhere', 1)")
    assert "unsafe use of petal_contains_file()" in error(db, "SELECT * FROM v")
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("CREATE VIEW w AS SELECT count(*) AS n FROM t WHERE petal_contains((SELECT f FROM f), k)")
    assert one(db, "SELECT n FROM w") == N


def check_json_nests():
    db = with_keys()
    filter = one(db, "SELECT petal_agg(k) FROM t")
    assert one(db, "SELECT json_type(json_object('x', petal_info(?)), '$.x')", filter) == "object"
    assert one(db, "SELECT json_type(json_array(petal_plan(10)), '$[0][0]')") == "object"
    assert one(db, "SELECT petal_info(?) ->> '$.kind'", filter) == "blocked"


def check_limit_of_lengths():
    db = with_keys()
    if not hasattr(db, "setlimit"):
        return "this Python sets no limits"
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)
    assert "too big" in error(db, "SELECT petal_agg(k, 10000000000000) FROM t")
    assert "too big" in error(db, "SELECT petal_agg(k, NULL, 1e-9) FROM t")
    assert one(db, "SELECT length(petal_agg(k, 2000)) FROM t") < 10_000


def check_threads():
    db = with_keys()
    path = WORK / "threads.db"
    db.execute("CREATE TABLE f(f)")
    db.execute("INSERT INTO f SELECT petal_agg(k) FROM t")
    db.commit()
    db.execute("VACUUM INTO ?", (str(path),))
    answers = []

    def ask():
        own = connect(str(path))
        for _ in range(5):
            answers.append(one(own, "SELECT count(*) FROM t WHERE petal_contains((SELECT f FROM f), k)"))
            answers.append(one(own, "SELECT length(petal_agg(k)) > 256 FROM t") * N)
        own.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [N] * 40


def check_loading_again():
    db = connect()
    for _ in range(3):
        db.load_extension(EXTENSION)
        db.load_extension(EXTENSION, entrypoint="sqlite3_petalsqlite_init") if sys.version_info >= (3, 12) else None
        assert one(db, "SELECT petal_contains(petal_agg(1), 1)") == 1
    for _ in range(20):
        other = connect()
        assert one(other, "SELECT petal_version()").count(".") == 2
        other.close()


def main():
    passed = failed = 0
    for name, function in list(globals().items()):
        if not name.startswith("check_"):
            continue
        name = name[6:].replace("_", " ")
        try:
            left_out = function()
        except Exception:
            failed += 1
            print(f"FAILED: {name}")
            traceback.print_exc(file=sys.stdout)
        else:
            passed += not left_out
            print(f"skipped: {name}: {left_out}" if left_out else f"ok: {name}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
