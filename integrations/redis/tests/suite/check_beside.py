"""Long commands do not hold the server up: while their clients wait others are answered, and what all of them say and
leave is as if commands had come one after the other."""

from client import Error
from server import Server, wait_for

# 16 MiB. A command that takes it so often takes some tenths of a second.
LARGE = ("blocked", 11_000_000, "0.01")
OFTEN = 60

# Does what is asked if, at that moment, a client waits.
IF_ONE_WAITS = """
if string.find(redis.call('INFO', 'clients'), 'blocked_clients:0', 1, true) then return {0} end
return {1, redis.call(unpack(ARGV))}
"""


class Waiting:
    """A command that is sent, and whose reply nobody has read yet."""

    def __init__(self, server, *words):
        self.server, self.client = server, server.client()
        self.client.send(*words)

    def reply(self):
        return self.client.read()


def make(client):
    """Two large filters, `to` and `from`."""
    client("FLUSHALL")
    for key in ("to", "from"):
        assert client("PETAL.RESERVE", key, *LARGE) == "OK"
        client("PETAL.MADD", key, *(f"{key}{i}" for i in range(1000)))


MERGE = ("PETAL.MERGE", "to", *["from"] * OFTEN)


def meanwhile(server, long, words):
    """Runs other words at a moment at which a long command's client waits, over filters that are made anew until that
    is met: the replies to both."""
    client = server.client()
    for _ in range(100):
        make(client)
        waiting = Waiting(server, *long)
        for _ in range(50):
            met, *replies = client("EVAL", IF_ONE_WAITS, 1, "to", *words)
            if met:
                return waiting.reply(), replies[0]
        waiting.reply()
    raise AssertionError(f"no client was seen to wait for {long[0]}")


def has_all(client, key, *names):
    return all(client("PETAL.MEXISTS", key, *(f"{name}{i}" for i in range(1000))) == [1] * 1000 for name in names)


def check_others_are_answered():
    server = Server()
    client = server.client()
    make(client)
    size = client("PETAL.EXPORT", "to", 0)
    image, iterator = b"", 0
    while True:
        iterator, chunk = client("PETAL.EXPORT", "to", iterator)
        if not iterator:
            break
        image, last = image + chunk, chunk
    start = len(image) - len(last)
    for long in (MERGE, ("PETAL.INTERSECT", "to", *["from"] * OFTEN), ("PETAL.CLEAR", "to"), ("PETAL.ESTIMATE", "to"),
                 ("PETAL.ESTIMATE", "to", "from"), ("PETAL.EXPORT", "to", 1 + start),
                 ("PETAL.IMPORT", "new", 1 + len(image), image)):
        reply, other = meanwhile(server, long, ("PETAL.EXISTS", "to", "to1"))
        assert not isinstance(reply, Error) and other == 1, (long[0], reply, other)
    assert client("DEBUG", "DIGEST-VALUE", "new") == client("DEBUG", "DIGEST-VALUE", "to") and size[0]


def check_writers_of_the_same_keys_wait():
    server = Server()
    client = server.client()
    for _ in range(100):
        make(client)
        waiting = Waiting(server, *MERGE)
        while not (count := blocked(client)) and not answered(waiting):
            pass
        writers = [Waiting(server, "PETAL.ADD", key, f"late {key}") for key in ("to", "from")]
        both = False
        while not answered(waiting) and not both:
            both = blocked(client) == 3
        replies = [one.reply() for one in (waiting, *writers)]
        assert replies == ["OK", 1, 1], replies
        assert has_all(client, "to", "to", "from") and client("PETAL.EXISTS", "to", "late to") == 1
        assert client("PETAL.EXISTS", "from", "late from") == 1
        if count and both:
            # The later of the two was not merged.
            assert client("PETAL.EXISTS", "to", "late from") == 0
            return
    raise AssertionError("the three clients were never seen to wait at once")


def blocked(client):
    (line,) = [line for line in client("INFO", "clients").split(b"\r\n") if line.startswith(b"blocked_clients:")]
    return int(line.split(b":")[1])


def answered(waiting):
    """Whether the server has answered: then it does not call the client blocked any more, nor busy."""
    return waiting.client.has_reply()


def check_scripts_wait_in_their_place():
    server = Server()
    client = server.client()
    merged, added = meanwhile(server, MERGE, ("PETAL.ADD", "to", "from a script"))
    assert (merged, added) == ("OK", 1)
    assert client("PETAL.EXISTS", "to", "from a script") == 1 and has_all(client, "to", "to", "from")
    make(client)
    client("MULTI")
    client(*MERGE)
    assert client("EXEC") == ["OK"] and has_all(client, "to", "to", "from")


def check_keys_that_are_gone_or_others():
    server = Server("--appendonly", "yes")
    client = server.client()
    merged, _ = meanwhile(server, MERGE, ("DEL", "to"))
    assert merged == "OK" and has_all(client, "to", "from") and not has_all(client, "to", "to")
    merged, _ = meanwhile(server, MERGE, ("RENAME", "to", "other"))
    assert merged == "OK" and has_all(client, "other", "to") and not has_all(client, "other", "from")
    assert has_all(client, "to", "from") and not has_all(client, "to", "to")
    merged, _ = meanwhile(server, MERGE, ("DEL", "from"))
    assert merged.startswith("ERR not found") and not has_all(client, "to", "from"), merged
    merged, _ = meanwhile(server, MERGE, ("SET", "to", "text"))
    assert merged.startswith("WRONGTYPE"), merged
    merged, _ = meanwhile(server, MERGE, ("FLUSHALL",))
    assert merged.startswith("ERR not found") and client("KEYS", "*") == []
    cleared, _ = meanwhile(server, ("PETAL.CLEAR", "to"), ("DEL", "to"))
    assert cleared.startswith("ERR not found"), cleared
    estimate, _ = meanwhile(server, ("PETAL.ESTIMATE", "to"), ("DEL", "to"))
    assert 900 < float(estimate[0]) < 1100, estimate
    before = client("DEBUG", "DIGEST")
    server.restart()
    assert server.client()("DEBUG", "DIGEST") == before


def check_clients_that_go():
    server = Server()
    client = server.client()
    for _ in range(100):
        make(client)
        before = client("DEBUG", "DIGEST")
        waiting = Waiting(server, *MERGE)
        writer = Waiting(server, "PETAL.ADD", "to", "late")
        while not blocked(client) and not answered(waiting):
            pass
        was_first = not answered(waiting)
        waiting.client.close()
        assert writer.reply() == 1
        wait_for("the end of the work", lambda: blocked(client) == 0)
        if was_first and not has_all(client, "to", "from"):
            assert client("PETAL.EXISTS", "to", "late") == 1 and client("DEBUG", "DIGEST") != before
            return
    raise AssertionError("the client never went before its merge was done")
