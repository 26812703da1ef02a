// Written by `make layers` from maps.hpp: change that, not this. Part of petal.hpp: what stands there as `try_name()`,
// as `name()`, which throws `petal::error`.

  template <class Key>
  std::optional<std::uint64_t> find(const Key &key) const {
    return try_find(key).value();
  }
  template <class Keys>
  std::size_t find_batch(Keys &&keys, std::uint64_t *values, std::uint8_t *found = nullptr) const {
    return try_find_batch(keys, values, found).value();
  }
  template <class Key>
  bool put(const Key &key, std::uint64_t value) {
    return try_put(key, value).value();
  }
  template <class Keys>
  std::size_t put_batch(Keys &&keys, const std::uint64_t *values, std::uint8_t *changed = nullptr,
      std::size_t *done = nullptr) {
    return try_put_batch(keys, values, changed, done).value();
  }
  template <class Key>
  bool replace(const Key &key, std::uint64_t value) {
    return try_replace(key, value).value();
  }
  template <class Keys>
  std::size_t replace_batch(Keys &&keys, const std::uint64_t *values, std::uint8_t *found = nullptr,
      std::size_t *done = nullptr) {
    return try_replace_batch(keys, values, found, done).value();
  }
  petal_statistics statistics() const { return try_statistics().value(); }
