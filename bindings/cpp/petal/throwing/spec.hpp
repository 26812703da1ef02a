// Written by `make layers` from specs.hpp: change that, not this. Part of petal.hpp: what stands there as `try_name()`,
// as `name()`, which throws `petal::error`.

  double get(c_string name) const { return try_get(name).value(); }
  std::uint64_t image_size() const { return try_image_size().value(); }
  double expected_false_positive_rate(std::uint64_t keys) const {
    return try_expected_false_positive_rate(keys).value();
  }
  double expected_omissions(std::uint64_t keys) const { return try_expected_omissions(keys).value(); }
  template <class Key>
  hash64 hash(const Key &key) const {
    return try_hash(key).value();
  }
