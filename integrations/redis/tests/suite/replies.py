"""Replies compared with what they should be, their types on the wire included."""

from client import Error, Simple
from server import version

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


def arity(command):
    # Redis 6.2 says the command as it came, which is in capitals here.
    name = command.lower() if version() >= (7, 0) else command.upper()
    return Error(f"ERR wrong number of arguments for '{name}' command")


def same(actual, expected):
    # A name may be a simple string or not, but a boolean is no number.
    is_same_type = type(actual) is type(expected) or (type(actual) is Simple and type(expected) is str)
    assert actual == expected and is_same_type, f"{actual!r} is not {expected!r}"
    if isinstance(expected, dict):
        assert all(type(actual[name]) is type(value) for name, value in expected.items()), actual
    if isinstance(expected, list):
        for one, other in zip(actual, expected):
            same(one, other)


def table(client, rows):
    for words, expected in rows:
        actual = client(*words.split(" ")) if isinstance(words, str) else client(*words)
        try:
            same(actual, expected)
        except AssertionError as difference:
            raise AssertionError(f"{words}: {difference}") from None
