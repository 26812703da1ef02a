// Written by `make layers` from digests.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  void add(std::uint64_t payload, bytes data) { try_add(payload, data).value(); }
  void begin(std::uint64_t payload) { try_begin(payload).value(); }
  void write(bytes data) { try_write(data).value(); }
  void end() { try_end().value(); }
  digest_find_result find(bytes excerpt, std::size_t room = 64,
      const petal_digest_find_options *options = nullptr) const {
    return try_find(excerpt, room, options).value();
  }
  std::uint64_t shortest_excerpt_at(double rate) const { return try_shortest_excerpt_at(rate).value(); }
  double expected_rate(std::uint64_t length) const { return try_expected_rate(length).value(); }
  petal_digest_statistics statistics() const { return try_statistics().value(); }
  std::pair<std::uint64_t, std::uint64_t> payload_at(std::uint64_t index) const {
    return try_payload_at(index).value();
  }
  void attach(bytes data) { try_attach(data).value(); }
  std::vector<std::uint8_t> attachment() const { return try_attachment().value(); }
