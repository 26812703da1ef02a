// Written by `make layers` from images.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  static Self open(c_string path, const open_options &options = {}) { return try_open(path, options).value(); }
  static Self open_descriptor(std::intptr_t descriptor, std::uint64_t offset, const open_options &options = {}) {
    return try_open_descriptor(descriptor, offset, options).value();
  }
  static Self open_in_buffer(void *buffer, std::size_t length, const open_options &options = {}) {
    return try_open_in_buffer(buffer, length, options).value();
  }
  static Self load(const void *image, std::size_t length, const open_options &options = {}) {
    return try_load(image, length, options).value();
  }
  Self copy() const { return try_copy().value(); }
  void merge(const Self &other) { try_merge(other).value(); }
  void clear() { try_clear().value(); }
  void sync() { try_sync().value(); }
  void mark_clean() { try_mark_clean().value(); }
  void verify() const { try_verify().value(); }
  void save(c_string path) const { try_save(path).value(); }
  petal_description describe() const { return try_describe().value(); }
  std::uint64_t serialized_size() const { return try_serialized_size().value(); }
  std::vector<std::byte> serialize() const { return try_serialize().value(); }
  std::size_t serialize(void *buffer, std::size_t length) const { return try_serialize(buffer, length).value(); }
