// Written by `make layers` from builders.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  template <class Keys>
  void add_batch(Keys &&keys, std::size_t *done = nullptr) {
    try_add_batch(keys, done).value();
  }
  template <class Key>
  void add_times(const Key &key, std::uint64_t times) {
    try_add_times(key, times).value();
  }
  template <class Keys>
  void add_times_batch(Keys &&keys, const std::uint64_t *times, std::size_t *done = nullptr) {
    try_add_times_batch(keys, times, done).value();
  }
  template <class Key>
  void exclude(const Key &key) {
    try_exclude(key).value();
  }
  template <class Keys>
  void exclude_batch(Keys &&keys, std::size_t *done = nullptr) {
    try_exclude_batch(keys, done).value();
  }
  void update(const filter &old) { try_update(old).value(); }
  template <class Key>
  void add_frequent(const Key &key, double weight = 1) {
    try_add_frequent(key, weight).value();
  }
  template <class Keys>
  void add_frequent_batch(Keys &&keys, const double *weights = nullptr, std::size_t *done = nullptr) {
    try_add_frequent_batch(keys, weights, done).value();
  }
  std::uint64_t compact_size() { return try_compact_size().value(); }
