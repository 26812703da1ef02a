"""Real servers, each in its own folder."""

import pathlib
import re
import socket
import subprocess
import tempfile
import time

import client

PREFIX = pathlib.Path()
MODULE = ""
WORK = pathlib.Path()

# What is started.
EXECUTABLE = "redis-server"

# Modules that are parts of servers.
BUILT_IN = (b"lua", b"vectorset")

_running = []


def version():
    """Of the server, as it counts them: 7 and 0 of 7.0.15."""
    words = subprocess.run([EXECUTABLE, "--version"], check=True, capture_output=True, text=True).stdout
    return tuple(map(int, re.search(r"v=(\d+)\.(\d+)", words).groups()))


def is_valkey():
    return "valkey" in EXECUTABLE


def needs(*least):
    """Skips a check of what older servers do not have."""
    if version() < least:
        raise Unavailable(f"it is of servers from {'.'.join(map(str, least))} on")


class Unavailable(Exception):
    """What a check needs cannot be had."""


class Server:
    """A server with the module, started again as often as wanted over the same files."""

    def __init__(self, *options, module_options=(), tcp=False, cluster=False, module=True):
        # Short: the path of a socket has 107 bytes at the most.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="s", dir=WORK))
        # The commands of a check are RedisBloom's on all servers, unless the check says otherwise.
        if is_valkey() and "OWNER" not in module_options:
            module_options = (*module_options, "OWNER", "redisbloom")
        self.options, self.module_options, self.module = options, module_options, module
        self.tcp, self.cluster, self.process = tcp, cluster, None
        self.start()

    def start(self):
        self.path = self.folder / "socket"
        for _ in range(5):
            # The port is free now; where another process is faster, another one is taken.
            self.port, self.bus = (free_port() if wanted else 0 for wanted in (self.tcp, self.cluster))
            command = [EXECUTABLE, "--port", self.port, "--unixsocket", self.path, "--dir", self.folder]
            command += ["--bind", "127.0.0.1", "--daemonize", "no"]
            command += [] if "--save" in self.options else ["--save", ""]
            # Before, everybody may.
            if version() >= (7, 0):
                command += ["--enable-debug-command", "yes", "--enable-module-command", "yes"]
            # A replica gets its copy immediately.
            command += ["--repl-diskless-sync-delay", "0"]
            command += ["--cluster-port", self.bus] if self.cluster else []
            command += self.options
            if self.module:
                command += ["--loadmodule", MODULE, *self.module_options]
            with open(self.folder / "log", "ab") as log:
                self.process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)
            _running.append(self)
            if self.is_up():
                return
        raise RuntimeError(self.log())

    def is_up(self):
        for _ in range(3000):
            if self.process.poll() is not None:
                return False
            try:
                reply = self.client()("PING")
                if reply == "PONG":
                    return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def client(self, protocol=2):
        return client.Client(self.path, protocol)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.path.unlink(missing_ok=True)

    def restart(self):
        """Ends the server as its users do, and starts it again."""
        connection = self.client()
        connection.send("SHUTDOWN")
        self.process.wait(60)
        self.path.unlink(missing_ok=True)
        self.start()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop_all():
    while _running:
        _running.pop().kill()


def wait_for(what, condition):
    """Waits until a condition holds; a minute is for machines that do much else."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    raise TimeoutError(what)
