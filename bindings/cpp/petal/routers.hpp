// Routers. Part of petal.hpp.
#ifndef PETAL_HPP_ROUTERS
#define PETAL_HPP_ROUTERS

#include "builders.hpp"

#include <petal_router.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

inline constexpr verb<petal_router_insert, nullptr, petal_router_insert_hash> insert_in_router;
inline constexpr verb<petal_router_remove, nullptr, petal_router_remove_hash> remove_from_router;
inline constexpr verb<petal_router_contains, nullptr, petal_router_contains_hash> router_contains;
inline constexpr verb<petal_router_get_route, nullptr, petal_router_get_route_hash> route_by_router;
inline constexpr verb<petal_router_walk, nullptr, petal_router_walk_hash> walk_by_router;

}  // namespace detail

/// What became of a message that a router took.
enum class router_received : petal_router_received {
  /// The levels of the edge changed: other neighbours may have to hear of it.
  changed = PETAL_ROUTER_RECEIVED_CHANGED,
  /// The levels of the edge are what they were.
  unchanged = PETAL_ROUTER_RECEIVED_UNCHANGED,
  /// The message tells what changed since a message that did not come. The edge is as it was: ask the neighbour for
  /// `router::advertise()`.
  needs_all = PETAL_ROUTER_RECEIVED_NEEDS_ALL,
};

/// The router of one node, which finds keys in a network by attenuated Bloom filters. You carry the messages. Here both
/// nodes are in one program:
///
///     const petal::spec spec = petal::spec().capacity(10);
///     petal::router here(spec, 1), there(spec, 2);
///     here.add_edge(2);
///     there.add_edge(1);
///     there.insert("song");
///     here.receive(2, there.advertise(1));
///     const petal_router_route route = here.route("song", nullptr, 16);
///     std::printf("neighbour %d\n", static_cast<int>(route.neighbour));
///
/// See petal_router.h.
class router : public detail::image_owner<router, petal_router> {
 public:
  /// Holds nothing, like one that was moved from.
  router() noexcept = default;

  /// Makes an empty router of the node with this number, which tells the nodes of a network apart.
  static result<router> try_make(const spec &wanted, std::uint64_t node) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_router **handle, petal_error *error) noexcept {
      return petal_router_new(&wanted.get(), node, handle, error);
    });
  }

  /// The number of the node.
  std::uint64_t node() const noexcept { return petal_router_get_node(get()); }
  /// Gives the node another number, if it has no edges.
  result<void> try_set_node(std::uint64_t node) noexcept {
    return detail::tried(petal_router_set_node, get(), node);
  }
  /// Inserts a key, which this node has from now on.
  template <class Key>
  result<void> try_insert(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<void>(key, get(), petal_router_insert_batch, detail::insert_in_router);
  }
  /// Removes a key that was inserted before. A key that the node certainly did not have changes nothing.
  template <class Key>
  result<void> try_remove(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<void>(key, get(), petal_router_remove_batch, detail::remove_from_router);
  }
  /// Inserts many keys, given as to `filter::insert_batch()`. `done`, nullable, is always written: how many keys were
  /// inserted, from the first on.
  template <class Keys>
  result<void> try_insert_batch(Keys &&keys, std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give(get(), petal_router_insert_batch, keys, done);
  }
  /// Removes many keys, as `try_insert_batch()` inserts them.
  template <class Keys>
  result<void> try_remove_batch(Keys &&keys, std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give(get(), petal_router_remove_batch, keys, done);
  }
  /// Whether this node itself may have a key. Any failure returns true.
  template <class Key>
  bool contains(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept { return detail::router_contains(get(), one); });
  }

  /// Adds an edge to a neighbour. `link` is a number that both ends give to this connection. Of two edges that are
  /// otherwise equal, a query takes the one with the greater weight.
  result<void> try_add_edge(std::uint64_t neighbour, std::uint64_t link = 0, double weight = 0) noexcept {
    return detail::tried(petal_router_add_edge, get(), neighbour, link, weight);
  }
  /// Removes an edge, and what came in over it.
  result<void> try_remove_edge(std::uint64_t neighbour) noexcept {
    return detail::tried(petal_router_remove_edge, get(), neighbour);
  }
  /// Sets the weight of an edge.
  result<void> try_set_edge_weight(std::uint64_t neighbour, double weight) noexcept {
    return detail::tried(petal_router_set_edge_weight, get(), neighbour, weight);
  }
  /// Sets the weight of each level, the first level first. See `petal_router_set_level_weights()`.
  result<void> try_set_level_weights(const double *weights, std::size_t count) noexcept {
    return detail::tried(petal_router_set_level_weights, get(), weights, count);
  }
  /// The numbers of all neighbours.
  result<std::vector<std::uint64_t>> try_neighbours() const noexcept {
    std::vector<std::uint64_t> all;
    std::size_t count = 0;
    const auto list = [&](petal_error *error) noexcept {
      return petal_router_get_neighbours(get(), all.data(), all.size(), &count, error);
    };
    if (auto counted = detail::tried(list); !counted) return counted.error();
    if (auto had = detail::allocating([&] { all.resize(count); }); !had) return had.error();
    if (auto written = detail::tried(list); !written) return written.error();
    return all;
  }
  /// The edge to a neighbour.
  result<petal_router_edge> try_edge(std::uint64_t neighbour) const noexcept {
    return detail::output(detail::sized<petal_router_edge>(), petal_router_get_edge, get(), neighbour);
  }
  /// A message with all levels for a neighbour. The bytes belong to the router, and stay until the router makes another
  /// message or ends.
  result<bytes> try_advertise(std::uint64_t neighbour) noexcept { return send(petal_router_advertise, neighbour); }
  /// A message with what changed since the last message to a neighbour; empty if nothing changed.
  result<bytes> try_advertise_changes(std::uint64_t neighbour) noexcept {
    return send(petal_router_advertise_changes, neighbour);
  }
  /// Takes a message that came from a neighbour. A message that is refused changes nothing.
  result<router_received> try_receive(std::uint64_t neighbour, bytes message) noexcept {
    petal_router_received outcome = PETAL_ROUTER_RECEIVED_CHANGED;
    failure error;
    const petal_status code =
        petal_router_receive(get(), neighbour, message.data(), message.size(), &outcome, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return static_cast<router_received>(outcome);
  }
  /// Where a query for a key goes. `from`, nullable, points to the number of the neighbour from which the query came.
  /// You count the hops: pass one less at each node.
  template <class Key>
  result<petal_router_route> try_route(const Key &key, const std::uint64_t *from,
                                std::uint32_t hops_left) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [&](auto one) noexcept -> result<petal_router_route> {
      petal_router_route to{};
      const petal_status code = detail::route_by_router(get(), one, from, hops_left, &to);
      if (code != PETAL_OK) return failure(static_cast<status>(code), petal_status_message(code));
      return to;
    });
  }
  /// Where a query for a key goes that remembers the nodes it visited. Call this at each node where the query is, and
  /// send `memory` with the query. A query begins with `petal_router_walk_state{}` and its hops_left.
  template <class Key>
  result<petal_router_route> try_walk(const Key &key,
                                      petal_router_walk_state &memory) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [&](auto one) noexcept -> result<petal_router_route> {
      petal_router_route to{};
      const petal_status code = detail::walk_by_router(get(), one, &memory, &to);
      if (code != PETAL_OK) return failure(static_cast<status>(code), petal_status_message(code));
      return to;
    });
  }
  /// How often the router misleads queries.
  result<petal_router_statistics> try_statistics() const noexcept {
    const auto ask = [&](petal_router_statistics *statistics, petal_error *error) noexcept {
      return petal_router_get_statistics(get(), statistics, error);
    };
    return detail::output(detail::sized<petal_router_statistics>(), ask);
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  router(const spec &wanted, std::uint64_t node) : router(try_make(wanted, node).value()) {}
#include "throwing/router.hpp"
#endif

 private:
  result<bytes> send(petal_status (*call)(petal_router *, std::uint64_t, const void **, std::size_t *, petal_error *),
                     std::uint64_t neighbour) noexcept {
    const void *message = nullptr;
    std::size_t length = 0;
    failure error;
    const petal_status code = call(get(), neighbour, &message, &length, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return bytes(message, length);
  }
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_ROUTERS
