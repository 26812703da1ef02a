"""shadowsocks.py FOLDER: an unmodified ss-server of shadowsocks-libev over the libbloom.so.1 in FOLDER.

It serves transfers on the loopback; then what its client sent is sent once more, as somebody who listened would, and
has to be refused: ss-server keeps the salts that it has seen in two libbloom filters. A server that was started anew
does not know them, accepts each stream once, and refuses it from then on: so it is the filter that refuses.

Prints one line a check, and at the end "N passed, M failed".
"""

import hashlib
import http.server
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

TRANSFERS = 40
PATIENCE = 60  # seconds until something that should happen counts as not happening
folder = os.path.realpath(sys.argv[1])
passed = failed = 0


def check(name, holds, why=""):
    global passed, failed
    print(("ok: " if holds else "FAILED: ") + name + ("" if holds or not why else f": {why}"), flush=True)
    passed, failed = passed + bool(holds), failed + (not holds)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(holds):
    """Whether it comes to hold."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def body(path):
    """What the page of a path holds: 1 byte to 300 kB that only this path has."""
    piece = hashlib.sha256(path.encode()).digest()
    return piece * (int(path.rsplit("/", 1)[1]) ** 2 * 6 + 1)


class Page(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        Page.asked.append(self.path)
        self.send_response(200)
        content = body(self.path)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Recorder(threading.Thread):
    """Passes connections on to ss-server and keeps what the client sent."""

    def __init__(self, port, to):
        super().__init__(daemon=True)
        self.to, self.streams = to, []
        self.listener = socket.create_server(("127.0.0.1", port))

    def run(self):
        while True:
            client, _ = self.listener.accept()
            server, stream = socket.create_connection(("127.0.0.1", self.to)), bytearray()
            self.streams.append(stream)
            threading.Thread(target=self.copy, args=(client, server, stream), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, None), daemon=True).start()

    @staticmethod
    def copy(source, target, stream):
        try:
            while data := source.recv(65536):
                if stream is not None:
                    stream += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Server:
    """An ss-server of its own process, over the library under test."""

    def __init__(self, port, log):
        self.log = open(log, "wb")
        self.name = log
        environment = dict(os.environ, LD_LIBRARY_PATH=folder)
        command = ["ss-server", "-s", "127.0.0.1", "-p", str(port), "-k", "petal", "-m", "aes-256-gcm"]
        command += ["-t", "300", "-v"]
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log)
        if not until(lambda: is_open(port)):
            sys.exit("ss-server does not listen:\n" + self.said())

    def said(self):
        return open(self.name, errors="replace").read()

    def libraries(self):
        with open(f"/proc/{self.process.pid}/maps") as maps:
            return {line.split()[-1] for line in maps if "libbloom" in line}

    def refused(self):
        return self.said().count("repeat salt detected")

    def end(self):
        self.process.terminate()
        self.process.wait()


def replay(port, stream):
    """Sends a stream, and keeps the connection open so that the server is not told to stop reading."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(stream)
    return connection


with tempfile.TemporaryDirectory() as work:
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    server_port, recorder_port, local_port = free_port(), free_port(), free_port()
    server = Server(server_port, work + "/server.log")
    recorder = Recorder(recorder_port, server_port)
    recorder.start()
    local = subprocess.Popen(
        ["ss-local", "-s", "127.0.0.1", "-p", str(recorder_port), "-l", str(local_port), "-k", "petal"]
        + ["-m", "aes-256-gcm", "-t", "300"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if not until(lambda: is_open(local_port)):
            sys.exit("ss-local does not listen")
        libraries = server.libraries()
        alone = len(libraries) == 1 and min(libraries).startswith(folder)
        check("ss-server runs over this library alone", alone, libraries)

        def fetch(i):
            url = f"http://127.0.0.1:{pages.server_port}/page/{i}"
            command = ["curl", "-sS", "--max-time", str(PATIENCE), "--socks5-hostname", f"127.0.0.1:{local_port}", url]
            return subprocess.run(command, capture_output=True, env=dict(os.environ, no_proxy=""))

        answers = [fetch(i) for i in range(TRANSFERS)]
        whole = [answer.stdout == body(f"/page/{i}") for i, answer in enumerate(answers)]
        check(f"{TRANSFERS} transfers arrive whole", all(whole), [a.stderr for a in answers if a.stderr][:3])
        check("each was asked for once", Page.asked == [f"/page/{i}" for i in range(TRANSFERS)], Page.asked)
        check("no salt was taken for one that was seen", server.refused() == 0, server.said()[-2000:])

        streams = [bytes(stream) for stream in recorder.streams if stream]
        check("each was recorded", len(streams) == TRANSFERS, len(streams))
        open_connections = [replay(server_port, stream) for stream in streams]
        refused = until(lambda: server.refused() >= TRANSFERS)
        check("all of them are refused when they are sent again", refused, server.said()[-2000:])
        check("a new transfer is served", fetch(TRANSFERS).stdout == body(f"/page/{TRANSFERS}"))
        check("nothing else was asked for meanwhile", len(Page.asked) == TRANSFERS + 1, Page.asked)
        server.end()

        fresh_port = free_port()
        server = Server(fresh_port, work + "/fresh.log")
        open_connections += [replay(fresh_port, stream) for stream in streams]
        served = until(lambda: len(Page.asked) >= 2 * TRANSFERS + 1)
        check("a server that has not seen them serves them", served and server.refused() == 0, server.said()[-2000:])
        open_connections += [replay(fresh_port, stream) for stream in streams]
        check("but once", until(lambda: server.refused() >= TRANSFERS), server.said()[-2000:])
        check("and asks for nothing then", len(Page.asked) == 2 * TRANSFERS + 1, len(Page.asked))
    finally:
        local.terminate()
        local.wait()
        server.end()

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
