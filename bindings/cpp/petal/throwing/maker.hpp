// Written by `make layers` from builders.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  std::uint64_t key_count() const { return try_key_count().value(); }
  void merge(const void *state, std::size_t length) { try_merge(state, length).value(); }
  template <class Range, class = std::enable_if_t<is_range_of<const Range, is_byte>::value>>
  void merge(const Range &state) {
    try_merge(state).value();
  }
