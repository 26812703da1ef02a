// Filters and maps on the wire: packed forms, and deltas between two states of one filter. Part of petal.hpp.
#ifndef PETAL_HPP_WIRE
#define PETAL_HPP_WIRE

#include "filters.hpp"
#include "maps.hpp"

#include <petal_wire.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

/// The bytes that `write` writes into a buffer whose length `size` says.
template <class Size, class Write>
result<std::vector<std::byte>> written_by(Size &&size, Write &&write) noexcept {
  const auto length = output(std::uint64_t{0}, size);
  if (!length) return length.error();
  std::vector<std::byte> all;
  if (auto had = allocating([&] { all.resize(static_cast<std::size_t>(*length)); }); !had) return had.error();
  const auto done = output(std::size_t{0}, [&](std::size_t *written, petal_error *error) noexcept {
    return write(all.data(), all.size(), written, error);
  });
  if (!done) return done.error();
  all.resize(*done);
  return all;
}

/// The functions of the C API for a filter or map; nothing for other types.
template <class Of>
using if_wired = std::enable_if_t<std::is_same_v<Of, filter> || std::is_same_v<Of, map>,
                                  calls<std::remove_pointer_t<decltype(std::declval<const Of &>().get())>>>;

/// Only for a contiguous range of bytes that can be written to, such as a span.
template <class Range>
using if_room = std::enable_if_t<
    is_range_of<std::remove_reference_t<Range>, is_byte>::value &&
    !std::is_const_v<std::remove_reference_t<decltype(*std::data(std::declval<Range &>()))>>>;

/// Only for a contiguous range of bytes, such as a span, that is not `bytes` itself.
template <class Range>
using if_bytes = std::enable_if_t<is_range_of<const Range, is_byte>::value && !std::is_same_v<Range, bytes>>;

template <class Range>
bytes bytes_of(const Range &range) noexcept(is_nothrow_contiguous<const Range>()) {
  return bytes(std::data(range), std::size(range));
}

template <class Of, class Write, class Calls = if_wired<Of>>
result<void> pack_through(const Of &of, Write &write, barrier &barrier) noexcept {
  writer<Write> to{write, barrier};
  return tried(Calls::pack_to, of.get(), writer<Write>::call, &to);
}

template <class Of, class Write, class Calls = if_wired<Of>>
result<void> delta_through(const Of &older, const Of &newer, Write &write, barrier &barrier) noexcept {
  writer<Write> out{write, barrier};
  return tried(Calls::delta_to, older.get(), newer.get(), writer<Write>::call, &out);
}

template <class Of, class Calls = if_wired<Of>>
result<Of> unpacked(bytes packed, std::uint64_t most_bytes, const open_options &options) noexcept {
  decltype(std::declval<const Of &>().get()) handle = nullptr;
  failure error;
  const petal_status code =
      Calls::unpack(packed.data(), packed.size(), most_bytes, options.get(), &handle, error.out());
  if (code != PETAL_OK) return error.settle(code);
  return Of::adopt(handle);
}

}  // namespace detail

// A delta goes from the older state to the newer one, and all functions take these two in this order.

/// A filter or map in few bytes; see petal_wire.h. Packs twice, for the size and for the bytes, so nobody may insert
/// meanwhile. `try_pack_to()` packs once, also while threads insert.
template <class Of, class Calls = detail::if_wired<Of>>
result<std::vector<std::byte>> try_pack(const Of &of) noexcept {
  return detail::written_by(
      [&](std::uint64_t *size, petal_error *error) noexcept {
        return Calls::packed_size(of.get(), size, error);
      },
      [&](void *buffer, std::size_t length, std::size_t *written, petal_error *error) noexcept {
        return Calls::pack(of.get(), buffer, length, written, error);
      });
}
/// Packs once, into a span or another contiguous range of bytes. Returns how many bytes the form has.
template <class Of, class Room, class Calls = detail::if_wired<Of>, class = detail::if_room<Room>>
result<std::size_t> try_pack_into(const Of &of, Room &&room) noexcept(detail::is_nothrow_contiguous<Room>()) {
  auto *to = std::data(room);
  const std::size_t length = std::size(room);
  return detail::output(std::size_t{0}, Calls::pack, of.get(), to, length);
}
/// Gives a filter or map in few bytes, piece by piece and in order, to `write(petal::bytes)`, which returns nothing, or
/// false to stop. An exception of `write` is dropped and becomes `status::callback`; `pack_to()` passes the exception
/// on.
template <class Of, class Write, class Calls = detail::if_wired<Of>>
result<void> try_pack_to(const Of &of, Write &&write) noexcept {
  detail::barrier barrier;
  return detail::pack_through(of, write, barrier);
}
/// The filter that was packed, in its own memory. `most_bytes` is the most bytes that the image of the filter may have.
inline result<filter> try_unpack(bytes packed, std::uint64_t most_bytes, const open_options &options = {}) noexcept {
  return detail::unpacked<filter>(packed, most_bytes, options);
}
/// The filter that was packed into a span or another contiguous range of bytes.
template <class Range, class = detail::if_bytes<Range>>
result<filter> try_unpack(const Range &packed, std::uint64_t most_bytes, const open_options &options = {}) noexcept(
    detail::is_nothrow_contiguous<const Range>()) {
  return try_unpack(detail::bytes_of(packed), most_bytes, options);
}
/// The map that was packed, as `try_unpack()` gives a filter.
inline result<map> try_unpack_map(bytes packed, std::uint64_t most_bytes, const open_options &options = {}) noexcept {
  return detail::unpacked<map>(packed, most_bytes, options);
}
/// The map that was packed into a span or another contiguous range of bytes.
template <class Range, class = detail::if_bytes<Range>>
result<map> try_unpack_map(const Range &packed, std::uint64_t most_bytes, const open_options &options = {}) noexcept(
    detail::is_nothrow_contiguous<const Range>()) {
  return try_unpack_map(detail::bytes_of(packed), most_bytes, options);
}
/// What changed from `older`, the older state of a filter or map, to `newer`, the newer one.
template <class Of, class Calls = detail::if_wired<Of>>
result<std::vector<std::byte>> try_delta(const Of &older, const Of &newer) noexcept {
  return detail::written_by(
      [&](std::uint64_t *size, petal_error *error) noexcept {
        return Calls::delta_size(older.get(), newer.get(), size, error);
      },
      [&](void *buffer, std::size_t length, std::size_t *written, petal_error *error) noexcept {
        return Calls::delta(older.get(), newer.get(), buffer, length, written, error);
      });
}
/// Writes what changed into a span or another contiguous range of bytes. Returns how many bytes the delta has.
template <class Of, class Room, class Calls = detail::if_wired<Of>, class = detail::if_room<Room>>
result<std::size_t> try_delta_into(const Of &older, const Of &newer, Room &&room) noexcept(
    detail::is_nothrow_contiguous<Room>()) {
  auto *to = std::data(room);
  const std::size_t length = std::size(room);
  return detail::output(std::size_t{0}, Calls::delta, older.get(), newer.get(), to, length);
}
/// Gives what changed, piece by piece and in order, to `write(petal::bytes)`, as `try_pack_to()` does.
template <class Of, class Write, class Calls = detail::if_wired<Of>>
result<void> try_delta_to(const Of &older, const Of &newer, Write &&write) noexcept {
  detail::barrier barrier;
  return detail::delta_through(older, newer, write, barrier);
}
/// Changes `older` from the older state of the delta to the newer one. `most_bytes` is the most bytes that the image of
/// the newer state may have. A failure changes nothing.
template <class Of, class Calls = detail::if_wired<Of>>
result<void> try_patch(Of &older, bytes delta, std::uint64_t most_bytes) noexcept {
  return detail::tried(Calls::patch, older.get(), delta.data(), delta.size(), most_bytes);
}
/// Changes `older` by a delta in a span or another contiguous range of bytes.
template <class Of, class Range, class Calls = detail::if_wired<Of>, class = detail::if_bytes<Range>>
result<void> try_patch(Of &older, const Range &delta, std::uint64_t most_bytes) noexcept(
    detail::is_nothrow_contiguous<const Range>()) {
  return try_patch(older, detail::bytes_of(delta), most_bytes);
}
/// The spec of the filter of the kind `bloom` that has the lowest rate, if its packed form with `keys` keys in it may
/// have `packed_bytes`, and its image `memory` bytes; 0 is no limit.
inline result<spec> try_wire_spec(std::uint64_t keys, std::uint64_t packed_bytes, std::uint64_t memory = 0) noexcept {
  auto made = detail::output(detail::sized<petal_spec>(), [&](petal_spec *out, petal_error *error) noexcept {
    return petal_wire_get_spec(keys, packed_bytes, memory, out, error);
  });
  if (!made) return made.error();
  return spec(*made);
}

#if PETAL_HPP_EXCEPTIONS
// The same operations, which throw `petal::error`.

template <class Of, class Write, class Calls = detail::if_wired<Of>>
void pack_to(const Of &of, Write &&write) {
  detail::barrier barrier;
  const auto written = detail::pack_through(of, write, barrier);
  barrier.rethrow();
  written.value();
}
template <class Of, class Write, class Calls = detail::if_wired<Of>>
void delta_to(const Of &older, const Of &newer, Write &&write) {
  detail::barrier barrier;
  const auto written = detail::delta_through(older, newer, write, barrier);
  barrier.rethrow();
  written.value();
}
#include "throwing/wire.hpp"
#endif

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_WIRE
