// Written by `make layers` from routers.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  void set_node(std::uint64_t node) { try_set_node(node).value(); }
  template <class Key>
  void insert(const Key &key) {
    try_insert(key).value();
  }
  template <class Key>
  void remove(const Key &key) {
    try_remove(key).value();
  }
  template <class Keys>
  void insert_batch(Keys &&keys, std::size_t *done = nullptr) {
    try_insert_batch(keys, done).value();
  }
  template <class Keys>
  void remove_batch(Keys &&keys, std::size_t *done = nullptr) {
    try_remove_batch(keys, done).value();
  }
  void add_edge(std::uint64_t neighbour, std::uint64_t link = 0, double weight = 0) {
    try_add_edge(neighbour, link, weight).value();
  }
  void remove_edge(std::uint64_t neighbour) { try_remove_edge(neighbour).value(); }
  void set_edge_weight(std::uint64_t neighbour, double weight) { try_set_edge_weight(neighbour, weight).value(); }
  void set_level_weights(const double *weights, std::size_t count) { try_set_level_weights(weights, count).value(); }
  std::vector<std::uint64_t> neighbours() const { return try_neighbours().value(); }
  petal_router_edge edge(std::uint64_t neighbour) const { return try_edge(neighbour).value(); }
  bytes advertise(std::uint64_t neighbour) { return try_advertise(neighbour).value(); }
  bytes advertise_changes(std::uint64_t neighbour) { return try_advertise_changes(neighbour).value(); }
  router_received receive(std::uint64_t neighbour, bytes message) { return try_receive(neighbour, message).value(); }
  template <class Key>
  petal_router_route route(const Key &key, const std::uint64_t *from, std::uint32_t hops_left) const {
    return try_route(key, from, hops_left).value();
  }
  template <class Key>
  petal_router_route walk(const Key &key, petal_router_walk_state &memory) const {
    return try_walk(key, memory).value();
  }
  petal_router_statistics statistics() const { return try_statistics().value(); }
