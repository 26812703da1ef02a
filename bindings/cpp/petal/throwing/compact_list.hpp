// Written by `make layers` from compact.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  std::size_t contain(hash64 hash, const answers &found = {}) const { return try_contain(hash, found).value(); }
