"""slow.py PORT TARGET_PORT: a relay to 127.0.0.1:TARGET_PORT for one connection: 50 ms each way, 1 Mbit/s."""

import socket
import sys
import threading
import time

DELAY = 0.05
BYTES_PER_SECOND = 125_000


def carry(source, target):
    while piece := source.recv(1500):
        time.sleep(len(piece) / BYTES_PER_SECOND)
        arrival = time.monotonic() + DELAY
        under_way.setdefault(target, []).append((arrival, piece))
        ready.release()
    under_way.setdefault(target, []).append((time.monotonic() + DELAY, b""))
    ready.release()


def deliver():
    open_ends = 2
    while open_ends:
        ready.acquire()
        target = min((end for end in under_way if under_way[end]), key=lambda end: under_way[end][0][0])
        arrival, piece = under_way[target].pop(0)
        time.sleep(max(0, arrival - time.monotonic()))
        if piece:
            target.sendall(piece)
        else:
            target.shutdown(socket.SHUT_WR)
            open_ends -= 1


under_way = {}
ready = threading.Semaphore(0)
with socket.create_server(("", int(sys.argv[1]))) as server:
    near, _ = server.accept()
far = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
for ends in (near, far), (far, near):
    threading.Thread(target=carry, args=ends, daemon=True).start()
deliver()
