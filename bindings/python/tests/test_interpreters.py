"""Sub-interpreters, each with classes of its own, and pickles of other versions of Python."""

import subprocess
import sys

import pytest

PROGRAM = '''
import sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

import petal

f = petal.Filter(1000)
WORK = """
import petal
f = petal.Filter(100_000)
f.update(range(20_000))
assert all(f.contains(range(20_000)))
try:
    petal.Filter(10, 2.0)
except petal.ParameterError:
    pass
kept = [f, petal.Builder(kind="fuse", progress=print)]
"""


def run():
    interpreter = interpreters.create()
    try:
        if hasattr(interpreters, "exec"):
            failed = interpreters.exec(interpreter, WORK)
            assert failed is None, failed
        else:
            interpreters.run_string(interpreter, WORK)
    finally:
        interpreters.destroy(interpreter)


for _ in range(3):
    run()
# Only interpreters with a GIL of their own run at the same time.
if sys.version_info >= (3, 12):
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
f.add("a")
assert "a" in f
print("well")
'''


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="CPython's interpreters")
def test_interpreters():
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
    assert (result.stdout, result.returncode) == ("well\n", 0), result.stderr


def test_a_pickle_that_an_earlier_python_wrote():
    import base64
    import pickle

    import petal

    # pickle.dumps(f, 2) of CPython 3.11, for a filter of 512 bits with the keys "apple" and 5.
    written = (
        "gAJjX19idWlsdGluX18KZ2V0YXR0cgpxAGNwZXRhbApGaWx0ZXIKcQFYCgAAAGZyb21fYnl0ZXNxAoZxA1JxBGNfY29kZWNzCmVu"
        "Y29kZQpxBViQAQAAwolQRVRBTA0KAQABAAMAAAABAAAABgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABA"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADDm8Kx"
        "Z8KNQx0Yw7QAAAAAAAAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAbDnsOHNsKvOjQ8AAAAAAAAEAAAAAAAAAAAAAAIAAECQAAA"
        "ABAAAAAAAAAAABAAAAIAAMKAAAAAAAAAAAAAAABCAAAAAAAAAAQAAADCssK+TyfCowxeHgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEd6dA7DscKew7DDl3EGWAYAAABsYXRpbjFxB4ZxCFJxCYVxClJxCy4="
    )
    f = pickle.loads(base64.b64decode(written))
    assert f.info.bits == 512 and "apple" in f and 5 in f and "pear" not in f
