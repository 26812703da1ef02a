// Written by `make layers` from compact.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  void verify() const { try_verify().value(); }
  filter open(const compact_options &options = {}) const { return try_open(options).value(); }
  filter load(const compact_options &options = {}) const { return try_load(options).value(); }
