"""Servers that are killed under load, at moments that a seed draws: what WAIT had confirmed is there afterwards."""

import random
import threading
import time

from client import Error
from server import Server, wait_for

TOGETHER = 100
FILTERS = (("PETAL.RESERVE", "p", "blocked", 2_000_000, "0.001"), ("BF.RESERVE", "b", "0.001", 2_000_000),
           ("CF.RESERVE", "c", 4_000_000))
ADD = (("PETAL.MADD", "p"), ("BF.MADD", "b"), ("CF.INSERTNX", "c", "ITEMS"))
ASK = (("PETAL.MEXISTS", "p"), ("BF.MEXISTS", "b"), ("CF.MEXISTS", "c"))


class Load:
    """A client that adds items, and keeps those that WAIT said a replica has."""

    def __init__(self, primary):
        self.primary, self.confirmed, self.sent, self.ended = primary, [], 0, False
        self.failure = None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.ended:
                try:
                    self.add(self.primary)
                except OSError:
                    # It was killed; another one is primary soon.
                    time.sleep(0.005)
        except BaseException as failure:
            self.failure = failure

    def add(self, primary):
        client = primary.client()
        while not self.ended and primary is self.primary:
            number, self.sent = self.sent, self.sent + 1
            for words in ADD:
                client.send(*words, *items(number))
            replies = [client.read() for _ in ADD]
            if client("WAIT", 1, 1000) == 1 and not any(isinstance(reply, Error) for reply in replies):
                self.confirmed.append(number)

    def end(self):
        self.ended = True
        self.thread.join()
        if self.failure:
            raise self.failure


def items(number):
    return [f"item {i}" for i in range(number * TOGETHER, (number + 1) * TOGETHER)]


def follow(replica, primary):
    assert replica.client()("REPLICAOF", "127.0.0.1", primary.port) == "OK"
    wait_for("a replica", lambda: b"master_link_status:up" in replica.client()("INFO", "replication"))


def find_all(running, numbers):
    client = running.client()
    for number in numbers:
        for words in ASK:
            answers = client(*words, *items(number))
            assert answers == [1] * TOGETHER, (words, number, answers)


def kill_at_random(kills, seed):
    """Kills `kills` servers of a pair, the primary or its replica; returns how many items had been confirmed."""
    draw = random.Random(seed)
    primary, replica = Server(tcp=True), Server(tcp=True)
    client = primary.client()
    for words in FILTERS:
        assert client(*words) == "OK"
    follow(replica, primary)
    load = Load(primary)
    try:
        for _ in range(kills):
            # Some batches at least, and then any moment.
            before = len(load.confirmed)
            wait_for("a load", lambda: load.failure or len(load.confirmed) >= before + 3)
            time.sleep(draw.random() * 0.2)
            if draw.random() < 0.5:
                replica.kill()
                replica.start()
                follow(replica, primary)
            else:
                primary.kill()
                confirmed = list(load.confirmed)
                assert replica.client()("REPLICAOF", "NO", "ONE") == "OK"
                primary, replica = replica, primary
                find_all(primary, confirmed)
                load.primary = primary
                replica.start()
                follow(replica, primary)
    finally:
        load.end()
    assert primary.client()("SET", "last", 1) == "OK"
    for one in (primary, replica):
        wait_for("the last", lambda: one.client()("EXISTS", "last") == 1)
        find_all(one, load.confirmed)
    return len(load.confirmed) * TOGETHER
