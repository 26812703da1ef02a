"""A cluster: a logical filter over many keys, which go with their slots, merge where a client brings them together, and
outlive their primary."""

import zlib

from client import Error
from server import Server, needs, wait_for

SHARDS = 12
ITEMS = 3000
SLOTS = 16384


class Cluster:
    """Primaries that share all slots, and a client that goes where it is sent."""

    def __init__(self, primaries, replicas, *options):
        self.nodes = [self.node(*options) for _ in range(primaries + replicas)]
        first = self.nodes[0]
        # Of two nodes of the same epoch neither can take a slot from the other, and only primaries that hear of each
        # other settle it: a replica could keep the epoch of its primary, and nobody would hear of its takeover.
        for epoch, node in enumerate(self.nodes, 1):
            assert node("CLUSTER", "SET-CONFIG-EPOCH", epoch) == "OK"
        for i, node in enumerate(self.nodes[:primaries]):
            slots = SLOTS * i // primaries, SLOTS * (i + 1) // primaries - 1
            assert node("CLUSTER", "ADDSLOTSRANGE", *slots) == "OK"
        for node in self.nodes[1:]:
            assert first("CLUSTER", "MEET", "127.0.0.1", node.server.port, node.server.bus) == "OK"
        known = b"cluster_known_nodes:%d" % len(self.nodes)
        self.wait_for_all(b"cluster_state:ok", known)
        for primary, node in zip(self.nodes, self.nodes[primaries:]):
            assert node("CLUSTER", "REPLICATE", primary("CLUSTER", "MYID").decode()) == "OK"
            wait_for("a replica", lambda: b"master_link_status:up" in node("INFO", "replication"))

    @staticmethod
    def node(*options):
        options = options or ("--cluster-node-timeout", 60000)
        return Cluster.client_of(Server("--cluster-enabled", "yes", *options, tcp=True, cluster=True))

    @staticmethod
    def client_of(server):
        client = server.client()
        client.server = server
        return client

    def wait_for_all(self, *words):
        for node in self.nodes:
            wait_for("the cluster", lambda: all(word in node("CLUSTER", "INFO") for word in words))

    def wait_for_one_epoch(self):
        """Whoever takes over counts on from the newest epoch that it has heard of, which has to be the newest of all."""
        def epochs():
            return {line for node in self.nodes for line in node("CLUSTER", "INFO").split()
                    if line.startswith(b"cluster_current_epoch:")}

        wait_for("one epoch", lambda: len(epochs()) == 1)

    def __call__(self, *words):
        """Asks whoever has the key."""
        node = self.nodes[0]
        for _ in range(5):
            reply = node(*words)
            if not (isinstance(reply, Error) and reply.startswith("MOVED ")):
                return reply
            port = int(reply.rsplit(":", 1)[1])
            (node,) = [node for node in self.nodes if node.server.port == port]
        raise AssertionError(reply)

    def node_of(self, key):
        return next(node for node in self.nodes if not isinstance(node("TYPE", key), Error))


def shard(item):
    return zlib.crc32(item.encode()) % SHARDS


def check_a_filter_over_a_cluster():
    needs(7, 0)
    cluster = Cluster(3, 1)
    items = [f"item {i}" for i in range(ITEMS)]
    of = [[item for item in items if shard(item) == i] for i in range(SHARDS)]
    keys = [f"seen:{{{i}}}" for i in range(SHARDS)]
    for key, its in zip(keys, of):
        assert cluster("PETAL.RESERVE", key, "blocked", ITEMS, "0.01") == "OK"
        cluster("PETAL.MADD", key, *its)
        cluster("CF.INSERT", f"cf:{key}", "ITEMS", *its)
        cluster("BF.INSERT", f"bf:{key}", "ITEMS", *its)
    assert len({cluster.node_of(key).server.port for key in keys}) == 3, "all of them have some"

    def finds_all():
        for key, its in zip(keys, of):
            for command, name in (("PETAL", key), ("CF", f"cf:{key}"), ("BF", f"bf:{key}")):
                assert cluster(f"{command}.MEXISTS", name, *its) == [1] * len(its), name

    finds_all()
    # Keys of one node are not keys of one slot; a client brings them together, in chunks.
    reply = cluster("PETAL.MERGE", keys[0], keys[1])
    assert reply.startswith("CROSSSLOT"), reply
    for i, key in enumerate(keys):
        iterator = 0
        while True:
            iterator, chunk = cluster("PETAL.EXPORT", key, iterator)
            if not iterator:
                break
            assert cluster("PETAL.IMPORT", f"{{all}}:{i}", iterator, chunk) == "OK"
    assert cluster("PETAL.MERGE", "{all}", *(f"{{all}}:{i}" for i in range(SHARDS))) == "OK"
    assert cluster("PETAL.MEXISTS", "{all}", *items) == [1] * ITEMS
    # A slot moves, while its keys are asked.
    moving = [keys[0], f"cf:{keys[0]}", f"bf:{keys[0]}"]
    source = cluster.node_of(keys[0])
    target = next(node for node in cluster.nodes[:3] if node is not source)
    slot = source("CLUSTER", "KEYSLOT", keys[0])
    ids = {node: node("CLUSTER", "MYID").decode() for node in (source, target)}
    before = [source("DEBUG", "DIGEST-VALUE", key) for key in moving]
    assert target("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source]) == "OK"
    assert source("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target]) == "OK"
    assert source("PETAL.EXISTS", keys[0], of[0][0]) == 1
    reply = source("MIGRATE", "127.0.0.1", target.server.port, "", 0, 60000, "KEYS", *moving)
    assert reply == "OK", reply
    assert source("PETAL.EXISTS", keys[0], of[0][0]).startswith("ASK ")
    for node in cluster.nodes[:3]:
        assert node("CLUSTER", "SETSLOT", slot, "NODE", ids[target]) == "OK"

    # Who the replicas are, and by what name a node calls itself, may differ.
    def primaries(node):
        return sorted((slots[0], slots[1], slots[2][1]) for slots in node("CLUSTER", "SLOTS"))

    # The replica too, or it would take the slot back with all others of its primary.
    wait_for("all know where the slot is", lambda: all(primaries(node) == primaries(target) for node in cluster.nodes))
    assert [target("DEBUG", "DIGEST-VALUE", key) for key in moving] == before
    finds_all()
    # The first primary is gone, and its replica is one.
    primary, replica = cluster.nodes[0], cluster.nodes[3]
    primary("PETAL.RESERVE", "x", "blocked", 10, "0.01")
    wait = primary("WAIT", 1, 60000)
    assert wait == 1, wait
    cluster.wait_for_one_epoch()
    primary.server.kill()
    assert replica("CLUSTER", "FAILOVER", "TAKEOVER") == "OK"
    cluster.nodes = [cluster.nodes[1], cluster.nodes[2], replica]
    wait_for("the new primary", lambda: all(primaries(node) == primaries(replica) for node in cluster.nodes) and
             not any(port == primary.server.port for _, _, port in primaries(replica)))
    cluster.wait_for_all(b"cluster_state:ok")
    finds_all()
    assert cluster("PETAL.ADD", keys[3], "one more") in (0, 1)
