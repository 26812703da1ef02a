"""What the tests share. Libraries that are not installed are left out: the tests also run with pytest alone."""

import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def pytest_report_header():
    found = []
    for name in ("numpy", "pyarrow", "polars", "pandas", "duckdb", "mypy"):
        try:
            __import__(name)
            found.append(name)
        except ImportError:
            pass
    return "installed: " + (", ".join(found) or "nothing else")


@pytest.fixture
def command():
    """The path of the command `petal`."""
    path = os.environ.get("PETAL_COMMAND") or shutil.which("petal")
    if not path:
        pytest.skip("the command petal is not there: PETAL_COMMAND names it")
    return path
