// Written by `make layers` from maps.hpp: change that, not this. Part of petal.hpp: what stands there as `try_name()`,
// as `name()`, which throws `petal::error`.

  template <class Key>
  void put(const Key &key, std::uint64_t value) {
    try_put(key, value).value();
  }
  template <class Keys>
  void put_batch(Keys &&keys, const std::uint64_t *values, std::size_t *done = nullptr) {
    try_put_batch(keys, values, done).value();
  }
