// Written by `make layers` from compact.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

inline std::uint64_t compact_size(const filter &of) { return try_compact_size(of).value(); }
inline std::size_t serialize_compact(const filter &from, void *buffer, std::size_t length) {
  return try_serialize_compact(from, buffer, length).value();
}
inline std::vector<std::byte> serialize_compact(const filter &from) { return try_serialize_compact(from).value(); }
inline void hash_batch(const spec &how, const keys &of, std::uint64_t *hashes) {
  try_hash_batch(how, of, hashes).value();
}
