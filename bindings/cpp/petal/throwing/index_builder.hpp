// Written by `make layers` from indexes.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  void add(std::uint64_t id, bytes row) { try_add(id, row).value(); }
  index finish() { return try_finish().value(); }
