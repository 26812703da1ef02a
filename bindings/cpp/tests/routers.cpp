// Routers: what a small network finds, and messages that are refused.
#include "common.hpp"

#include <string>
#include <utility>
#include <vector>

namespace {

petal::spec levels(double count) {
  return petal::spec().kind(PETAL_KIND_ROUTER).bits(1024).hashes(4).set("levels", count);
}

void join(petal::router &a, petal::router &b) {
  a.add_edge(b.node(), 7);
  b.add_edge(a.node(), 7, 0.5);
}

petal::router_received carry(petal::router &from, petal::router &to) {
  return to.receive(from.node(), from.advertise_changes(to.node()));
}

TEST(Routers, RouteQueries) {
  petal::router first(levels(3), 1), second(levels(3), 2), third(levels(3), 3);
  join(first, second);
  join(second, third);
  third.insert("song");
  third.insert(5);
  third.insert_batch(std::vector<std::uint64_t>{6, 7});
  EXPECT_EQ(carry(third, second), petal::router_received::changed);
  EXPECT_EQ(carry(second, first), petal::router_received::changed);
  const petal_router_route route = first.route("song", nullptr, 9);
  EXPECT_EQ(route.kind, PETAL_ROUTER_ROUTE_EDGE);
  EXPECT_EQ(route.neighbour, 2u);
  EXPECT_EQ(route.level, 2u);
  const std::uint64_t from = 3;
  EXPECT_EQ(second.route(5, &from, 9).kind, PETAL_ROUTER_ROUTE_FALL_BACK);
  EXPECT_EQ(second.route(petal::hash64{1}, nullptr, 9).kind, PETAL_ROUTER_ROUTE_FALL_BACK);
  petal_router_walk_state walk{};
  walk.hops_left = 5;
  EXPECT_EQ(first.walk(6, walk).neighbour, 2u);
  EXPECT_EQ(second.walk(6, walk).neighbour, 3u);
  EXPECT_EQ(third.walk(6, walk).kind, PETAL_ROUTER_ROUTE_HERE);
  EXPECT_EQ(third.walk(6, walk).kind, PETAL_ROUTER_ROUTE_BACK);
  EXPECT_EQ(walk.hops_left, 2u);
  walk.visited = 65;
  EXPECT_EQ(third.try_walk(6, walk).error().status(), petal::status::out_of_range);
  third.remove("song");
  third.remove_batch(std::vector<std::uint64_t>{6});
  EXPECT_FALSE(third.contains("song") || third.contains(6));
  EXPECT_TRUE(third.contains(7));
  third.clear();
  EXPECT_FALSE(third.contains(7));
}

TEST(Routers, RefuseForeignMessages) {
  petal::router first(levels(3), 1), second(levels(3), 2), other(levels(4), 1);
  join(first, second);
  other.add_edge(2, 7);
  first.insert(1);
  const petal::bytes sent = first.advertise(2);
  const std::string message(reinterpret_cast<const char *>(sent.data()), sent.size());
  const petal::bytes again(message.data(), message.size());
  EXPECT_EQ(second.receive(1, again), petal::router_received::changed);
  EXPECT_EQ(second.try_receive(1, again).error().status(), petal::status::corrupt);
  EXPECT_EQ(second.try_receive(1, other.advertise(2)).error().status(), petal::status::incompatible);
  EXPECT_EQ(second.receive(1, first.advertise(2)), petal::router_received::unchanged);
  EXPECT_EQ(first.advertise_changes(2).size(), 0u);
  first.insert(2);
  EXPECT_GT(first.advertise_changes(2).size(), 0u);
  first.insert(3);
  EXPECT_EQ(carry(first, second), petal::router_received::needs_all);
  EXPECT_FALSE(second.try_receive(9, again));
}

TEST(Routers, HaveEdgesAndRates) {
  petal::router router(levels(2), 1);
  router.set_node(4);
  router.add_edge(2, 3, 0.25);
  router.add_edge(9);
  router.set_edge_weight(9, 1.5);
  const double weights[2] = {1, 0.5};
  router.set_level_weights(weights, 2);
  EXPECT_EQ(router.neighbours(), (std::vector<std::uint64_t>{2, 9}));
  EXPECT_EQ(router.edge(2).link, 3u);
  EXPECT_EQ(router.edge(9).weight, 1.5);
  EXPECT_FALSE(router.try_edge(5));
  EXPECT_EQ(router.try_set_node(1).error().status(), petal::status::contradiction);
  router.remove_edge(9);
  EXPECT_FALSE(router.try_remove_edge(9));
  EXPECT_EQ(router.statistics().levels, 2u);
  EXPECT_EQ(router.statistics().is_overfull, 0u);
  const auto image = router.serialize();
  const petal::router loaded = petal::router::load(image.data(), image.size());
  EXPECT_EQ(loaded.node(), 4u);
  EXPECT_EQ(loaded.neighbours().size(), 1u);
  loaded.verify();
  EXPECT_FALSE(petal::router::try_make(levels(9), 1));
  EXPECT_FALSE(petal::router().try_statistics());
}

}  // namespace
