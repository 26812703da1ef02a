"""The stubs say what is there (mypy's stubtest), and every public name has a docstring."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import petal


def test_stubs_are_what_is_there(tmp_path):
    pytest.importorskip("mypy")
    package = pathlib.Path(petal.__file__).parent
    allowed = tmp_path / "allowed"
    # Named tuples of C have no class body; nobody constructs them.
    records = "Info Statistics Estimate Overlap Parameter Kind Proposal Format Difference".split()
    lines = [rf"petal(\._petal)?\.{record}(\..*)?" for record in records]
    # The functions for SQLite are no module of Python.
    lines.append(r"petal\.petal_sqlite")
    allowed.write_text("\n".join([*lines, r"petal\._petal\._?[A-Za-z]*\.__hash__"]) + "\n")
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "petal", "--allowlist", str(allowed), "--ignore-unused-allowlist"],
        cwd=package.parent, capture_output=True, text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_programs_are_checked(tmp_path):
    pytest.importorskip("mypy")
    package = pathlib.Path(petal.__file__).parent
    (tmp_path / "right.py").write_text(
        "import petal\n"
        "f = petal.Filter(1000, 0.01, kind='bloom', derivation='enhanced_double')\n"
        "x: bool = f.add('a') and b'a' in f\n"
        "f.update(['a', 1, b'b'])\n"
        "g: petal.Filter = f | f\n"
        "with petal.Filter.open('f', 'share') as h:\n"
        "    y: int = h.info.bytes\n"
    )
    (tmp_path / "wrong.py").write_text("import petal\npetal.Filter(1000).add(1.5)\n")

    def check(name):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), name],
                              cwd=tmp_path, capture_output=True, text=True, env={"MYPYPATH": str(package.parent)})

    right, wrong = check("right.py"), check("wrong.py")
    assert right.returncode == 0, right.stdout + right.stderr
    assert "arg-type" in wrong.stdout


def test_everything_has_a_docstring():
    lacking = []
    for name, value in vars(petal).items():
        if name.startswith("_"):
            continue
        assert inspect.isclass(value) or callable(value), name
        if not value.__doc__:
            lacking.append(name)
        if inspect.isclass(value) and value.__module__ == "petal" and not issubclass(value, (Exception, tuple)):
            for member, function in vars(value).items():
                if not member.startswith("_") and not function.__doc__:
                    lacking.append(f"{name}.{member}")
    assert not lacking


def test_the_version_is_the_library_s():
    project = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"
    assert f'version = "{petal.__version__}"' in project.read_text()
