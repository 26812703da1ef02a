// Written by `make layers` from filters.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  static filter make_in_buffer(const spec &wanted, void *buffer, std::size_t length) {
    return try_make_in_buffer(wanted, buffer, length).value();
  }
  template <class Range, class = std::enable_if_t<detail::is_range_of<const Range, detail::is_byte>::value>>
  static filter load(const Range &image, const open_options &options = {}) {
    return try_load(image, options).value();
  }
  template <class Key>
  bool rejuvenate(const Key &key) {
    return try_rejuvenate(key).value();
  }
  template <class Key>
  bool insert_times(const Key &key, std::uint64_t times) {
    return try_insert_times(key, times).value();
  }
  template <class Key>
  std::uint64_t remove_times(const Key &key, std::uint64_t times) {
    return try_remove_times(key, times).value();
  }
  template <class Key>
  std::uint64_t count(const Key &key) const {
    return try_count(key).value();
  }
  std::uint64_t count(const void *key, std::size_t length) const { return try_count(key, length).value(); }
  template <class Key>
  hash64 hash(const Key &key) const {
    return try_hash(key).value();
  }
  hash64 hash(const void *key, std::size_t length) const { return try_hash(key, length).value(); }
  template <class Keys>
  void insert_batch(Keys &&keys) {
    try_insert_batch(keys).value();
  }
  template <class Keys>
  std::uint64_t insert_batch(Keys &&keys, const answers &is_new, std::size_t *done = nullptr) {
    return try_insert_batch(keys, is_new, done).value();
  }
  template <class Keys>
  void remove_batch(Keys &&keys) {
    try_remove_batch(keys).value();
  }
  template <class Keys>
  std::uint64_t remove_batch(Keys &&keys, const answers &removed, std::size_t *done = nullptr) {
    return try_remove_batch(keys, removed, done).value();
  }
  template <class Keys>
  void rejuvenate_batch(Keys &&keys) {
    try_rejuvenate_batch(keys).value();
  }
  template <class Keys>
  std::uint64_t rejuvenate_batch(Keys &&keys, const answers &rejuvenated, std::size_t *done = nullptr) {
    return try_rejuvenate_batch(keys, rejuvenated, done).value();
  }
  template <class Keys>
  std::size_t insert_times_batch(Keys &&keys, const std::uint64_t *times, std::uint8_t *is_new = nullptr,
      std::size_t *done = nullptr) {
    return try_insert_times_batch(keys, times, is_new, done).value();
  }
  template <class Keys>
  std::size_t remove_times_batch(Keys &&keys, const std::uint64_t *times, std::uint8_t *removed = nullptr,
      std::size_t *done = nullptr) {
    return try_remove_times_batch(keys, times, removed, done).value();
  }
  template <class Keys>
  std::uint64_t count_batch(Keys &&keys, std::uint64_t *counts) const {
    return try_count_batch(keys, counts).value();
  }
  template <class Keys>
  void insert_shared_batch(Keys &&keys) const {
    try_insert_shared_batch(keys).value();
  }
  template <class Keys>
  std::uint64_t insert_shared_batch(Keys &&keys, const answers &is_new) const {
    return try_insert_shared_batch(keys, is_new).value();
  }
  void add_insertions(std::uint64_t keys) const { try_add_insertions(keys).value(); }
  void intersect(const filter &other) { try_intersect(other).value(); }
  void resize(std::uint64_t capacity) { try_resize(capacity).value(); }
  void fold(std::uint64_t factor) { try_fold(factor).value(); }
  void advance(std::uint64_t steps = 1) { try_advance(steps).value(); }
  void advance_shared(std::uint64_t steps = 1) const { try_advance_shared(steps).value(); }
  bool equals(const filter &other) const { return try_equals(other).value(); }
  id compatibility_id() const { return try_compatibility_id().value(); }
  petal_statistics statistics() const { return try_statistics().value(); }
  spec compatible_spec() const { return try_compatible_spec().value(); }
  double expected_false_positive_rate(std::uint64_t keys) const {
    return try_expected_false_positive_rate(keys).value();
  }
  double expected_false_negative_rate(std::uint64_t age) const { return try_expected_false_negative_rate(age).value(); }
  double expected_omissions(std::uint64_t keys) const { return try_expected_omissions(keys).value(); }
  petal_filter_estimate estimate() const { return try_estimate().value(); }
  petal_filter_overlap estimate_overlap(const filter &other) const { return try_estimate_overlap(other).value(); }
  std::uint64_t stored_hash(hash64 hash) const { return try_stored_hash(hash).value(); }
  std::uint64_t stored_range() const { return try_stored_range().value(); }
  std::size_t stored_hashes(std::uint64_t from, std::uint64_t *stored, std::size_t room,
      std::uint64_t *counts = nullptr) const {
    return try_stored_hashes(from, stored, room, counts).value();
  }
  static filter import_bytes(c_string format, const void *foreign, std::size_t length,
      const import_options &options = {}) {
    return try_import_bytes(format, foreign, length, options).value();
  }
  template <class Range, class = std::enable_if_t<detail::is_range_of<const Range, detail::is_byte>::value>>
  static filter import_bytes(c_string format, const Range &foreign, const import_options &options = {}) {
    return try_import_bytes(format, foreign, options).value();
  }
  std::uint64_t export_size(c_string format, c_string variant = nullptr) const {
    return try_export_size(format, variant).value();
  }
  std::vector<std::byte> export_bytes(c_string format, c_string variant = nullptr) const {
    return try_export_bytes(format, variant).value();
  }
  std::size_t export_bytes(c_string format, c_string variant, void *buffer, std::size_t length) const {
    return try_export_bytes(format, variant, buffer, length).value();
  }
