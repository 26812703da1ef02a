// Written by `make layers` from wire.hpp: change that, not this. Part of petal.hpp: what stands there as `try_name()`,
// as `name()`, which throws `petal::error`.

template <class Of, class Calls = detail::if_wired<Of>>
std::vector<std::byte> pack(const Of &of) {
  return try_pack(of).value();
}
template <class Of, class Room, class Calls = detail::if_wired<Of>, class = detail::if_room<Room>>
std::size_t pack_into(const Of &of, Room &&room) {
  return try_pack_into(of, room).value();
}
inline filter unpack(bytes packed, std::uint64_t most_bytes, const open_options &options = {}) {
  return try_unpack(packed, most_bytes, options).value();
}
template <class Range, class = detail::if_bytes<Range>>
filter unpack(const Range &packed, std::uint64_t most_bytes, const open_options &options = {}) {
  return try_unpack(packed, most_bytes, options).value();
}
inline map unpack_map(bytes packed, std::uint64_t most_bytes, const open_options &options = {}) {
  return try_unpack_map(packed, most_bytes, options).value();
}
template <class Range, class = detail::if_bytes<Range>>
map unpack_map(const Range &packed, std::uint64_t most_bytes, const open_options &options = {}) {
  return try_unpack_map(packed, most_bytes, options).value();
}
template <class Of, class Calls = detail::if_wired<Of>>
std::vector<std::byte> delta(const Of &older, const Of &newer) {
  return try_delta(older, newer).value();
}
template <class Of, class Room, class Calls = detail::if_wired<Of>, class = detail::if_room<Room>>
std::size_t delta_into(const Of &older, const Of &newer, Room &&room) {
  return try_delta_into(older, newer, room).value();
}
template <class Of, class Calls = detail::if_wired<Of>>
void patch(Of &older, bytes delta, std::uint64_t most_bytes) {
  try_patch(older, delta, most_bytes).value();
}
template <class Of, class Range, class Calls = detail::if_wired<Of>, class = detail::if_bytes<Range>>
void patch(Of &older, const Range &delta, std::uint64_t most_bytes) {
  try_patch(older, delta, most_bytes).value();
}
inline spec wire_spec(std::uint64_t keys, std::uint64_t packed_bytes, std::uint64_t memory = 0) {
  return try_wire_spec(keys, packed_bytes, memory).value();
}
