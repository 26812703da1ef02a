// Written by `make layers` from sketches.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

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
  template <class Key>
  sketch_answer find(const Key &key) const {
    return try_find(key).value();
  }
  std::uint32_t value_bits() const { return try_value_bits().value(); }
  template <class Key>
  void insert_value(const Key &key, std::uint64_t value) {
    try_insert_value(key, value).value();
  }
  template <class Key>
  void remove_value(const Key &key, std::uint64_t value) {
    try_remove_value(key, value).value();
  }
  template <class Keys>
  void insert_value_batch(Keys &&keys, const std::uint64_t *values, std::size_t *done = nullptr) {
    try_insert_value_batch(keys, values, done).value();
  }
  template <class Keys>
  void remove_value_batch(Keys &&keys, const std::uint64_t *values, std::size_t *done = nullptr) {
    try_remove_value_batch(keys, values, done).value();
  }
  value_listing list_values() const { return try_list_values().value(); }
  void subtract(const sketch &other) { try_subtract(other).value(); }
  listing list() const { return try_list().value(); }
  key_listing list_keys() const { return try_list_keys().value(); }
  void keep_keys() { try_keep_keys().value(); }
  std::vector<std::uint8_t> export_minisketch() const { return try_export_minisketch().value(); }
  void import_minisketch(const void *bytes, std::size_t length) { try_import_minisketch(bytes, length).value(); }
  double expected_failure_rate(std::uint64_t numbers) const { return try_expected_failure_rate(numbers).value(); }
  std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE> compatibility_id() const {
    return try_compatibility_id().value();
  }
