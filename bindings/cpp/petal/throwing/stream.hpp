// Written by `make layers` from streams.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  void set_limit(std::uint64_t symbols) { try_set_limit(symbols).value(); }
  std::size_t write(std::uint64_t symbols, void *buffer, std::size_t length) {
    return try_write(symbols, buffer, length).value();
  }
  bool read(const void *bytes, std::size_t length) { return try_read(bytes, length).value(); }
  listing list() const { return try_list().value(); }
  key_listing list_keys() const { return try_list_keys().value(); }
