"""Petal: Bloom filters and other approximate-membership structures.

A filter answers "have I seen this key?" without storing the keys. It never says no to a key that was inserted, and says
yes to other keys at a false-positive rate that you choose.

    seen = petal.Filter(1_000_000, 0.01)
    seen.add("apple")
    "apple" in seen  # True: maybe. False would be certain.
"""

from ._petal import *  # noqa: F403
from ._petal import __version__ as __version__
