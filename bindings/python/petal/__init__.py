"""Petal: Bloom filters and other approximate-membership structures.

A filter answers "have I seen this key?" without storing the keys. It never says no to a key that was inserted, and says
yes to other keys at a false-positive rate that you choose.

    seen = petal.Filter(1_000_000, 0.01)
    seen.add("apple")
    "apple" in seen  # True: maybe. False would be certain.
"""

import pathlib as _pathlib

from ._petal import *  # noqa: F403
from ._petal import __version__ as __version__


def sqlite_extension_path() -> str:
    """The path of Petal's functions for SQLite, for sqlite3.Connection.load_extension().

    Raises FileNotFoundError if the package was built without them.
    """
    folder = _pathlib.Path(__file__).resolve().parent
    for suffix in (".so", ".dylib", ".dll"):
        path = folder / f"petal_sqlite{suffix}"
        if path.is_file():
            return str(path)
    raise FileNotFoundError(
        f"there is no petal_sqlite.so in {folder}: the package was built without SQLite's header sqlite3ext.h"
    )
