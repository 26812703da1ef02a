/*
 * petal_router.h: routers, which find keys in a network by attenuated Bloom filters. It is experimental: functions may
 * still change. petal.h has the conventions, which hold for routers too.
 *
 * Each node of a network has a router with the node's own keys and an edge for each neighbour. Neighbours exchange
 * messages, after which a router knows over which neighbour, and how many hops away, a key may be:
 *
 *     petal_spec spec = PETAL_SPEC_INIT;
 *     spec.capacity = 10;
 *     petal_router *here = NULL, *there = NULL;
 *     if (petal_router_new(&spec, 1, &here, NULL) != PETAL_OK) return 1;
 *     if (petal_router_new(&spec, 2, &there, NULL) != PETAL_OK) return 1;
 *     petal_router_add_edge(here, 2, 0, 0, NULL);
 *     petal_router_add_edge(there, 1, 0, 0, NULL);
 *     petal_router_insert(there, "song", 4);
 *     const void *message = NULL;
 *     size_t length = 0;
 *     petal_router_advertise(there, 1, &message, &length, NULL);
 *     petal_router_receive(here, 2, message, length, NULL, NULL);
 *     petal_router_route route = {0};
 *     petal_router_get_route(here, "song", 4, NULL, 16, &route);
 *
 * The route is then `PETAL_ROUTER_ROUTE_EDGE` to neighbour 2 at level 1. A router has no network: you carry its
 * messages and your queries. After a change, advertise to all neighbours. A neighbour whose `petal_router_receive()`
 * gives `PETAL_ROUTER_RECEIVED_CHANGED` advertises to its own neighbours, and so on, up to as many hops as there are
 * levels.
 *
 * A router uses these fields of its spec: capacity (keys of one node), false_positive_rate (that of the last level of
 * one edge), hash function, seed, secret and parameters. Instead of capacity and rate the spec may give bits, a
 * multiple of 64 (the bits of a level), and hashes. The parameters are levels, edges, fan_out, counter_bits and
 * max_fill; docs/router.md explains them. All routers of a network need the same levels, bits, hashes, hash function
 * and seed or secret. Keep the fill of the last level below 0.3: `petal_router_get_statistics()` reports it.
 *
 * Whatever a message says, memory and work are bounded by the size of one edge's levels. A message that is damaged,
 * repeated, or from another network, edge or link is refused and changes nothing. A level that is fuller than max_fill
 * is ignored, so a neighbour whose filter says yes to everything attracts no queries. A router does not know who sent
 * a message: take a channel that authenticates the neighbour. docs/router.md specifies the messages to the byte.
 */

#ifndef PETAL_ROUTER_H
#define PETAL_ROUTER_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The only kind of its handle. */
/** Attenuated Bloom filters: over which neighbour, and how many hops away, a key can be found. */
#define PETAL_KIND_ROUTER 768

/** The router of one node. Free it with `petal_router_free()`. */
typedef struct petal_router petal_router;

/**
 * Makes an empty router of the node with this number, which tells the nodes of a network apart. The kind of the spec
 * is `PETAL_KIND_ROUTER`, or 0 if you set no parameter.
 */
petal_status petal_router_new(const petal_spec *spec, uint64_t node, petal_router **router, petal_error *error);

/**
 * Frees a router. If you changed an image in place, this function brings the image up to date first. Call
 * `petal_router_sync()` before if you want to know whether that works. NULL is allowed.
 */
void petal_router_free(petal_router *router);

/** Returns the number of the node; 0 for NULL. */
uint64_t petal_router_get_node(const petal_router *router);

/** Gives the node another number. Returns `PETAL_ERR_CONTRADICTION` if the router has edges. */
petal_status petal_router_set_node(petal_router *router, uint64_t node, petal_error *error);

/**
 * Inserts a key, which this node has from now on. A counter stays at its greatest value, 15 with counter_bits = 4.
 * Constant time.
 */
petal_status petal_router_insert(petal_router *router, const void *key, size_t length);

/** Inserts the hash of a key, as `petal_router_insert()` does. */
petal_status petal_router_insert_hash(petal_router *router, uint64_t hash);

/**
 * Inserts keys in order. `answers`, nullable, only tells how many keys the router took: the first `done`. A router
 * refuses every form of answers.
 */
petal_status petal_router_insert_batch(petal_router *router,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);

/**
 * Removes a key that was inserted before. A key that the node certainly did not have changes nothing. Do not remove a
 * key that was never inserted: if the node's filter takes it for present, other keys may be lost. Returns
 * `PETAL_ERR_UNSUPPORTED` with counter_bits = 1: clear the router, and insert the keys that are left. Constant time.
 */
petal_status petal_router_remove(petal_router *router, const void *key, size_t length);

/** Removes the hash of a key, as `petal_router_remove()` does. */
petal_status petal_router_remove_hash(petal_router *router, uint64_t hash);

/** Removes keys in order, as `petal_router_insert_batch()` inserts them. */
petal_status petal_router_remove_batch(petal_router *router,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);

/** Returns whether this node itself may have a key. Any failure returns true. Constant time. */
bool petal_router_contains(const petal_router *router, const void *key, size_t length);

/** Returns whether this node itself may have the key with this hash, as `petal_router_contains()` does. */
bool petal_router_contains_hash(const petal_router *router, uint64_t hash);

/** Forgets the node's own keys. Edges, and what came in over them, stay. */
petal_status petal_router_clear(petal_router *router, petal_error *error);

/** Returns what this router can do now: `PETAL_CAN_*`, ORed. 0 for NULL. */
uint64_t petal_router_capabilities(const petal_router *router);


/*
 * ROUTERS: EDGES AND MESSAGES
 *
 * An edge leads to a neighbour, which has its own number. Both ends add the edge, and give it the same link number,
 * such as a random one that they agree on when they connect. A message of another link is refused, so nobody can
 * replay messages of an earlier connection.
 */

/** An edge to a neighbour. */
typedef struct petal_router_edge {
  /** sizeof(petal_router_edge), or 0 for its size in the first release. */
  size_t struct_size;
  /** The number of the neighbour's node. */
  uint64_t neighbour;
  /** The number of the link. */
  uint64_t link;
  /** Of two edges that are otherwise equal, a query takes the one with the greater weight. */
  double weight;
  /** The number of the last message to the neighbour; 0 if there was none. */
  uint64_t sent;
  /** The number of the last message from the neighbour; 0 if there was none. */
  uint64_t received;
  /** How many levels there are. */
  uint32_t levels;
  /** Which levels are fuller than max_fill, and so neither asked nor passed on: bit 0 is the first level. */
  uint32_t ignored;
  /** The share of set bits of each level that came from the neighbour. */
  double fill[8];
} petal_router_edge;
/** A `petal_router_edge` of this header's size, all else 0. */
#define PETAL_ROUTER_EDGE_INIT PETAL_INIT(petal_router_edge)

/** What became of a message that was taken: one of `PETAL_ROUTER_RECEIVED_*`. */
typedef uint32_t petal_router_received;

/** The levels of the edge changed: other neighbours may have to hear of it. */
#define PETAL_ROUTER_RECEIVED_CHANGED 0
/** The levels of the edge are what they were. */
#define PETAL_ROUTER_RECEIVED_UNCHANGED 1
/**
 * The message tells what changed since a message that did not come. The edge is as it was: ask the neighbour for
 * `petal_router_advertise()`.
 */
#define PETAL_ROUTER_RECEIVED_NEEDS_ALL 2

/**
 * Adds an edge to a neighbour. `link` is a number that both ends give to this connection. Of two edges that are
 * otherwise equal, a query takes the one with the greater weight. Returns `PETAL_ERR_CONTRADICTION` for an edge that
 * is there and for one to the node itself, and `PETAL_ERR_FULL` if there are as many edges as the parameter edges
 * allows.
 */
petal_status petal_router_add_edge(petal_router *router,
                                   uint64_t neighbour,
                                   uint64_t link,
                                   double weight,
                                   petal_error *error);

/**
 * Removes an edge, and what came in over it. Returns `PETAL_ERR_OUT_OF_RANGE` for an edge that is not there, as do the
 * other functions that take a neighbour.
 */
petal_status petal_router_remove_edge(petal_router *router, uint64_t neighbour, petal_error *error);

/** Sets the weight of an edge, a finite number. */
petal_status petal_router_set_edge_weight(petal_router *router, uint64_t neighbour, double weight, petal_error *error);

/**
 * Sets the weight of each level, the first level first; `count` is the number of levels. All weights are 0 before.
 * Among edges that have a key at the same least level, a query takes the one with the greatest sum of the weights of
 * all levels that have the key.
 */
petal_status petal_router_set_level_weights(petal_router *router,
                                            const double *weights,
                                            size_t count,
                                            petal_error *error);

/**
 * Lists the numbers of all neighbours. `count` becomes the number of all edges. The function writes the first `room`
 * of the numbers to `neighbours`, which may be NULL if `room` is 0.
 */
petal_status petal_router_get_neighbours(const petal_router *router,
                                         uint64_t *neighbours,
                                         size_t room,
                                         size_t *count,
                                         petal_error *error);

/** Describes the edge to a neighbour. */
petal_status petal_router_get_edge(const petal_router *router,
                                   uint64_t neighbour,
                                   petal_router_edge *edge,
                                   petal_error *error);

/**
 * Makes a message with all levels for a neighbour: the keys of this node, and what came in over all other edges, one
 * level deeper. `message` becomes a pointer to its bytes, which belong to the router and stay until the router makes
 * another message or ends. Linear in the size of all levels of all edges.
 */
petal_status petal_router_advertise(petal_router *router,
                                    uint64_t neighbour,
                                    const void **message,
                                    size_t *length,
                                    petal_error *error);

/**
 * Makes a message with what changed since the last message to a neighbour, as `petal_router_advertise()` does.
 * `length` becomes 0 if nothing changed, and there is nothing to send. The first message has all levels.
 */
petal_status petal_router_advertise_changes(petal_router *router,
                                            uint64_t neighbour,
                                            const void **message,
                                            size_t *length,
                                            petal_error *error);

/**
 * Takes a message that came from a neighbour. `received`, nullable, becomes one of `PETAL_ROUTER_RECEIVED_*`. The
 * function checks the message as a whole before anything changes. Returns `PETAL_ERR_INCOMPATIBLE`, naming the first
 * difference, for a message of a router with other levels, bits, hashes, hash function, seed or secret, and for a
 * message of another edge or link. Returns `PETAL_ERR_CORRUPT` for a message that is damaged, repeated or late, and
 * `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_NEWER_VERSION` for bytes that are no message of this
 * version.
 */
petal_status petal_router_receive(petal_router *router,
                                  uint64_t neighbour,
                                  const void *message,
                                  size_t length,
                                  petal_router_received *received,
                                  petal_error *error);


/*
 * ROUTERS: QUERIES
 *
 * `petal_router_get_route()` remembers nothing: a false positive can send a query round in a circle until its hops are
 * used up. `petal_router_walk()` has a petal_router_walk_state that travels with the query: the query goes on only to
 * nodes that it did not visit, and goes back where it finds no way on.
 */

/** Where a query goes: one of `PETAL_ROUTER_ROUTE_*`. */
typedef uint32_t petal_router_route_kind;

/** This node itself may have the key. */
#define PETAL_ROUTER_ROUTE_HERE 0
/** Over the edge to a neighbour. */
#define PETAL_ROUTER_ROUTE_EDGE 1
/** Back to the neighbour from which the walk came. */
#define PETAL_ROUTER_ROUTE_BACK 2
/** The query has to use another way to find the key, such as a distributed hash table. */
#define PETAL_ROUTER_ROUTE_FALL_BACK 3

/** Where a query goes. */
typedef struct petal_router_route {
  /** One of `PETAL_ROUTER_ROUTE_*`. */
  petal_router_route_kind kind;
  /** The least level that has the key, for `PETAL_ROUTER_ROUTE_EDGE`: 1 is the neighbour itself. Otherwise 0. */
  uint32_t level;
  /** The neighbour, for `PETAL_ROUTER_ROUTE_EDGE` and `PETAL_ROUTER_ROUTE_BACK`. Otherwise 0. */
  uint64_t neighbour;
} petal_router_route;

/**
 * The memory of one query on its way. It has no padding, and its bytes may be sent as they are. A query begins with
 * all fields 0 but `hops_left`.
 */
typedef struct petal_router_walk_state {
  /** How many hops the query may still make. */
  uint32_t hops_left;
  /** How many nodes the query has visited, at most 64. */
  uint32_t visited;
  /** How many nodes are on the way back to where the query began. */
  uint32_t depth;
  /** 0. */
  uint32_t reserved;
  /** The nodes that were visited, in order. */
  uint64_t nodes[64];
  /** The way back: places in `nodes`, the last being the node where the query is. */
  uint8_t way[64];
} petal_router_walk_state;

/**
 * Tells where a query for a key goes. `from` points to the number of the neighbour from which the query came, and is
 * NULL where the query begins: a query never goes back over that edge. The route is `PETAL_ROUTER_ROUTE_HERE` if this
 * node itself may have the key, and `PETAL_ROUTER_ROUTE_FALL_BACK` if `hops_left` is 0 or no edge has the key.
 * Otherwise the route is the edge with the least level that has the key. Ties are broken by the weights of levels,
 * then by the weights of edges, then by a hash of the key and the neighbour. You count the hops: pass one less at each
 * node. Linear in edges times levels.
 */
petal_status petal_router_get_route(const petal_router *router,
                                    const void *key,
                                    size_t length,
                                    const uint64_t *from,
                                    uint32_t hops_left,
                                    petal_router_route *route);

/** Tells where a query for the key with this hash goes, as `petal_router_get_route()` does. */
petal_status petal_router_get_route_hash(const petal_router *router,
                                         uint64_t hash,
                                         const uint64_t *from,
                                         uint32_t hops_left,
                                         petal_router_route *route);

/**
 * Tells where a query for a key goes that remembers the nodes it visited. Call this at each node where the query is,
 * and send `walk` with the query. The query goes on only to nodes that it did not visit, and goes back the way it came
 * where a node has no edge that is left to try (`PETAL_ROUTER_ROUTE_BACK`). So the query never goes round in a circle,
 * and finds its way out of false positives. A hop in either direction takes 1 from the walk's hops that are left. The
 * route is `PETAL_ROUTER_ROUTE_FALL_BACK` if no hops are left, no node on the way has an edge to try, or 64 nodes were
 * visited. If it is `PETAL_ROUTER_ROUTE_HERE` and the node does not have the key after all, call the function again:
 * the query then goes on. Returns `PETAL_ERR_OUT_OF_RANGE` for a walk that cannot be. Linear in edges times levels.
 */
petal_status petal_router_walk(const petal_router *router,
                               const void *key,
                               size_t length,
                               petal_router_walk_state *walk,
                               petal_router_route *route);

/** Tells where a query for the key with this hash goes, as `petal_router_walk()` does. */
petal_status petal_router_walk_hash(const petal_router *router,
                                    uint64_t hash,
                                    petal_router_walk_state *walk,
                                    petal_router_route *route);


/*
 * ROUTERS: RATES
 */

/** The rates of one level. The first level has the neighbours themselves. */
typedef struct petal_router_level_statistics {
  /**
   * The expected number of keys at this level of one edge, by the capacity and fan_out of the spec; 0 without a
   * capacity.
   */
  double expected_keys;
  /** The share of bits that this many keys set. */
  double expected_fill;
  /** The probability that this level of one edge, with this many keys, seems to have an absent key. */
  double expected_rate;
  /** The mean share of set bits over the edges that had a message; 0 if none had one. */
  double mean_fill;
  /** The greatest share of set bits over these edges. */
  double greatest_fill;
  /** The probability that some edge seems to have an absent key at this level. */
  double false_route_rate;
} petal_router_level_statistics;

/** How often a router misleads queries. */
typedef struct petal_router_statistics {
  /** sizeof(petal_router_statistics), or 0 for its size in the first release. */
  size_t struct_size;
  /** How many levels there are. */
  uint32_t levels;
  /** 1 if the fill of the last level is above 0.3 over some edge: make the levels larger, or fewer. Otherwise 0. */
  uint32_t is_overfull;
  /** How many levels of edges are fuller than max_fill, and so ignored. */
  uint64_t ignored;
  /** The share of bits that the node's own keys set. */
  double own_fill;
  /** The probability that a query for a key that no node has goes over some edge. */
  double false_route_rate;
  /** The rates of each level; 0 for those that the router does not have. */
  petal_router_level_statistics level[8];
} petal_router_statistics;
/** A `petal_router_statistics` of this header's size, all else 0. */
#define PETAL_ROUTER_STATISTICS_INIT PETAL_INIT(petal_router_statistics)

/**
 * Tells how often a router misleads queries, as expected and as it is now. Reads the counters of the node's own keys,
 * and some words of each edge.
 */
petal_status petal_router_get_statistics(const petal_router *router,
                                         petal_router_statistics *rates,
                                         petal_error *error);


/*
 * ROUTERS: IMAGES AND FILES
 *
 * The image of a router has the same parts as that of a filter: its keys, its edges, and what came in and went out
 * over them. It opens in each mode but `PETAL_OPEN_SHARE`.
 */

/** Opens a file that is an image. `options` is nullable. */
petal_status petal_router_open(const char *path,
                               const petal_open_options *options,
                               petal_router **router,
                               petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
 * is nullable.
 */
petal_status petal_router_open_descriptor(intptr_t descriptor,
                                          uint64_t offset,
                                          const petal_open_options *options,
                                          petal_router **router,
                                          petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
 * handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
 */
petal_status petal_router_open_in_buffer(void *buffer,
                                         size_t length,
                                         const petal_open_options *options,
                                         petal_router **router,
                                         petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
 * ignores the mode in `options`, which is nullable.
 */
petal_status petal_router_load(const void *image,
                               size_t length,
                               const petal_open_options *options,
                               petal_router **router,
                               petal_error *error);

/** Copies a router into new memory, wherever the router lives. */
petal_status petal_router_copy(const petal_router *router, petal_router **copy, petal_error *error);

/** The size of the image in bytes. */
petal_status petal_router_serialized_size(const petal_router *router, uint64_t *size, petal_error *error);

/** Writes the image into a buffer of at least `petal_router_serialized_size()` bytes. `written` is nullable. */
petal_status petal_router_serialize(const petal_router *router,
                                    void *buffer,
                                    size_t length,
                                    size_t *written,
                                    petal_error *error);

/**
 * Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
 * `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_router_serialize_to(const petal_router *router,
                                       petal_write_callback write,
                                       void *context,
                                       petal_error *error);

/** Writes the image to a file, atomically, as `petal_filter_save()` does. */
petal_status petal_router_save(const petal_router *router, const char *path, petal_error *error);

/**
 * Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
 * their checksums, or if no router can have such a payload.
 */
petal_status petal_router_verify(const petal_router *router, petal_error *error);

/**
 * Describes a router by its header, in constant time. `hashes` is the number of bits that a key sets, `bits` the
 * number of bits of a level, and `insertions` the number of insertions less that of removals.
 */
petal_status petal_router_describe(const petal_router *router, petal_description *description, petal_error *error);

/** Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. */
petal_status petal_router_sync(petal_router *router, petal_error *error);

/** Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does. */
petal_status petal_router_mark_clean(petal_router *router, petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_ROUTER_H */
