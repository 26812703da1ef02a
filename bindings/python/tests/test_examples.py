"""The programs in examples/ do what they say, on little data."""

import contextlib
import hashlib
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def run(name, *arguments):
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_deduplicating_a_folder_of_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    source, first, second = tmp_path / "source", tmp_path / "first", tmp_path / "second"
    source.mkdir()
    values = [f"text {i * i % 7001}" for i in range(12_000)]
    values[100] = values[5000] = None
    for part in range(3):
        rows = slice(part * 4000, part * 4000 + 4000)
        table = pa.table({"text": values[rows], "row": list(range(12_000))[rows]})
        pq.write_table(table, source / f"part-{part}.parquet")

    seen_file = tmp_path / "seen.petal"
    said = run("deduplicate_parquet.py", source, "text", first, "--filter", seen_file, "--batch", 1000)
    known, expected = set(), []
    for row, value in enumerate(values):
        if value is None or value not in known:
            expected.append(row)
        known.add(value)
    assert pq.read_table(first)["row"].to_pylist() == expected
    assert said.startswith(f"{len(expected)} of 12000 rows are new")

    # What came before stays known; only rows without a value are kept again.
    run("deduplicate_parquet.py", source, "text", second, "--filter", seen_file)
    assert pq.read_table(second)["row"].to_pylist() == [100, 5000]


def test_rows_by_a_mapped_file(tmp_path):
    pl = pytest.importorskip("polars")
    import petal

    seen = petal.Filter(1000, 1e-6)
    seen.update(["apple", "pear"])
    seen.save(tmp_path / "seen.petal")
    rows = pl.DataFrame({"fruit": ["plum", "pear", "apple", "fig"], "count": [1, 2, 3, 4]})
    rows.write_parquet(tmp_path / "rows.parquet")
    said = run("rows_by_file.py", tmp_path / "seen.petal", tmp_path / "rows.parquet", "fruit")
    assert said == "fruit,count\npear,2\napple,3\n"


def test_breached_passwords(tmp_path):
    hashes = [hashlib.sha1(f"password {i}".encode()).hexdigest().upper() for i in range(1000)]
    (tmp_path / "hashes.txt").write_text("".join(f"{sha1}:{i}\n" for i, sha1 in enumerate(hashes)))
    said = run("breached_passwords.py", "build", tmp_path / "hashes.txt", tmp_path / "breached.petal")
    assert said.startswith("1000 passwords in ")
    command = [sys.executable, EXAMPLES / "breached_passwords.py", "serve", tmp_path / "breached.petal", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, contextlib.ExitStack() as ending:
        ending.callback(server.kill)
        address = server.stdout.readline().strip()

        def ask(path):
            with urllib.request.urlopen(address + path, timeout=10) as answer:
                return answer.read()

        assert [ask(sha1) for sha1 in hashes[:50]] == [b"true\n"] * 50
        assert ask(hashes[0].lower()) == b"true\n"
        others = [hashlib.sha1(f"other {i}".encode()).hexdigest() for i in range(50)]
        assert [ask(sha1) for sha1 in others] == [b"false\n"] * 50
        for path in ("", "apple", hashes[0] + "0"):
            with pytest.raises(urllib.error.HTTPError):
                ask(path)


def test_revoked_certificates(tmp_path):
    certificates = [f"{hashlib.sha256(bytes([i % 7])).hexdigest()}:{i * i:08x}" for i in range(20_000)]
    revoked = {certificate for i, certificate in enumerate(certificates) if i % 50 == 0}
    (tmp_path / "revoked.txt").write_text("".join(f"{one}\n" for one in certificates if one in revoked))
    (tmp_path / "valid.txt").write_text("".join(f"{one}\n" for one in certificates if one not in revoked))
    file = tmp_path / "revocations.petal"
    said = run("revoked_certificates.py", "build", tmp_path / "revoked.txt", tmp_path / "valid.txt", file)
    assert said.startswith("400 revoked certificates in ")
    asked = certificates[:1500]
    said = run("revoked_certificates.py", "check", file, *asked)
    assert said.splitlines() == [f"{one} {'revoked' if one in revoked else 'valid'}" for one in asked]
