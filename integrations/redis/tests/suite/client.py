"""A client that shows replies as they are on the wire: no client library stands between."""

import select
import socket


class Error(str):
    """A reply that is an error."""


class Simple(str):
    """A reply that is a simple string."""


class Client:
    """A connection that speaks RESP2, or RESP3."""

    def __init__(self, path, protocol=2):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")
        if protocol == 3:
            self("HELLO", 3)

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self.socket.sendall(b"".join(parts))

    def __call__(self, *words):
        self.send(*words)
        return self.read()

    def has_reply(self):
        """Whether a reply has begun to come that nobody has read yet."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return Simple(rest.decode())
        if kind == b"-":
            return Error(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        length = int(rest)
        if length < 0:
            return None
        if kind in b"$=":
            data = self.file.read(length + 2)
            return data[:-2]
        if kind in b"*~>":
            return [self.read() for _ in range(length)]
        if kind == b"%":
            return {self.read(): self.read() for _ in range(length)}
        raise ValueError(f"a reply that starts with {line!r}")
