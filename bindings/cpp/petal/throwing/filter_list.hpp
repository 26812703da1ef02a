// Written by `make layers` from compact.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  template <class Key>
  std::size_t contain(const Key &key, const answers &found = {}) const {
    return try_contain(key, found).value();
  }
