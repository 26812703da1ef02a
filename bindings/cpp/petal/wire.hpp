// Filters on the wire: packed forms, and deltas between two states of one filter. Part of petal.hpp: include that.
#ifndef PETAL_HPP_WIRE
#define PETAL_HPP_WIRE

#include "filters.hpp"

#include <petal_wire.h>

#include <cstddef>
#include <cstdint>
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
  const auto length = output(std::size_t{0}, size);
  if (!length) return length.error();
  std::vector<std::byte> all;
  if (auto had = allocating([&] { all.resize(*length); }); !had) return had.error();
  const auto done = output(std::size_t{0}, [&](std::size_t *written, petal_error *error) noexcept {
    return write(all.data(), all.size(), written, error);
  });
  if (!done) return done.error();
  all.resize(*done);
  return all;
}

template <class Write>
result<void> pack_through(const filter &of, Write &write, barrier &barrier) noexcept {
  writer<Write> to{write, barrier};
  return tried([&](petal_error *error) noexcept {
    return petal_filter_pack_to(of.get(), writer<Write>::call, &to, error);
  });
}

template <class Write>
result<void> delta_through(const filter &from, const filter &to, Write &write, barrier &barrier) noexcept {
  writer<Write> out{write, barrier};
  return tried([&](petal_error *error) noexcept {
    return petal_filter_delta_to(from.get(), to.get(), writer<Write>::call, &out, error);
  });
}

}  // namespace detail

/// A filter in few bytes; see petal_wire.h. Packs twice, for the size and for the bytes, so nobody may insert
/// meanwhile. `try_pack_to()` packs once, also while threads insert.
inline result<std::vector<std::byte>> try_pack(const filter &of) noexcept {
  return detail::written_by(
      [&](std::size_t *size, petal_error *error) noexcept { return petal_filter_packed_size(of.get(), size, error); },
      [&](void *buffer, std::size_t length, std::size_t *written, petal_error *error) noexcept {
        return petal_filter_pack(of.get(), buffer, length, written, error);
      });
}
/// Gives a filter in few bytes, piece by piece and in order, to `write(petal::bytes)`, which returns nothing, or false
/// to stop. An exception of `write` is dropped and becomes `status::callback`; `pack_to()` passes the exception on.
template <class Write>
result<void> try_pack_to(const filter &of, Write &&write) noexcept {
  detail::barrier barrier;
  return detail::pack_through(of, write, barrier);
}
/// The filter that was packed, in memory of its own. `most_bytes` is the most bytes that the image of the filter may
/// have.
inline result<filter> try_unpack(bytes packed, std::uint64_t most_bytes, const open_options &options = {}) noexcept {
  petal_filter *handle = nullptr;
  failure error;
  const petal_status code =
      petal_filter_unpack(packed.data(), packed.size(), most_bytes, options.get(), &handle, error.out());
  if (code != PETAL_OK) return error.settle(code);
  return filter::adopt(handle);
}
/// What changed from `from`, the older state of a filter, to `to`, the newer one.
inline result<std::vector<std::byte>> try_delta(const filter &from, const filter &to) noexcept {
  return detail::written_by(
      [&](std::size_t *size, petal_error *error) noexcept {
        return petal_filter_delta_size(from.get(), to.get(), size, error);
      },
      [&](void *buffer, std::size_t length, std::size_t *written, petal_error *error) noexcept {
        return petal_filter_delta(from.get(), to.get(), buffer, length, written, error);
      });
}
/// Gives what changed, piece by piece and in order, to `write(petal::bytes)`, as `try_pack_to()` does.
template <class Write>
result<void> try_delta_to(const filter &from, const filter &to, Write &&write) noexcept {
  detail::barrier barrier;
  return detail::delta_through(from, to, write, barrier);
}
/// Changes `old` from the older state of the delta to the newer one. `most_bytes` is the most bytes that the image of
/// the newer state may have. A failure changes nothing.
inline result<void> try_patch(filter &old, bytes delta, std::uint64_t most_bytes) noexcept {
  return detail::tried([&](petal_error *error) noexcept {
    return petal_filter_patch(old.get(), delta.data(), delta.size(), most_bytes, error);
  });
}

#if PETAL_HPP_EXCEPTIONS
// The same operations, which throw `petal::error`.

inline std::vector<std::byte> pack(const filter &of) { return try_pack(of).value(); }
template <class Write>
void pack_to(const filter &of, Write &&write) {
  detail::barrier barrier;
  const auto written = detail::pack_through(of, write, barrier);
  barrier.rethrow();
  written.value();
}
inline filter unpack(bytes packed, std::uint64_t most_bytes, const open_options &options = {}) {
  return try_unpack(packed, most_bytes, options).value();
}
inline std::vector<std::byte> delta(const filter &from, const filter &to) { return try_delta(from, to).value(); }
template <class Write>
void delta_to(const filter &from, const filter &to, Write &&write) {
  detail::barrier barrier;
  const auto written = detail::delta_through(from, to, write, barrier);
  barrier.rethrow();
  written.value();
}
inline void patch(filter &old, bytes delta, std::uint64_t most_bytes) { try_patch(old, delta, most_bytes).value(); }
#endif

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_WIRE
