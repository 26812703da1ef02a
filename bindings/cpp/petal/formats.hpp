// Which formats of other systems there are. Part of petal.hpp. Filters are read and written in them by
// `filter::import_bytes()` and `filter::export_bytes()`.
#ifndef PETAL_HPP_FORMATS
#define PETAL_HPP_FORMATS

#include "specs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// The name of a format's variant, with its final NUL.
using variant_name = std::array<char, PETAL_NAME_SIZE>;

/// How many formats of other systems there are.
inline std::size_t format_count() noexcept { return petal_format_count(); }
/// Describes the format at an index less than `format_count()`.
inline result<petal_format_info> try_format_at(std::size_t index) noexcept {
  return detail::output(detail::sized<petal_format_info>(), petal_format_get_at, index);
}
/// Describes the format of a name.
inline result<petal_format_info> try_format_find(c_string name) noexcept {
  return detail::output(detail::sized<petal_format_info>(), petal_format_find, name.get());
}
/// The name of a format's variant, by an index less than its `variant_count`.
inline result<variant_name> try_format_variant(c_string format, std::size_t index) noexcept {
  return detail::output(variant_name{}, [&](variant_name *name, petal_error *error) noexcept {
    return petal_format_get_variant(format.get(), index, name->data(), error);
  });
}
/// Recognises a format by the first bytes of a filter, and describes it; `status::foreign` if the bytes show no format.
inline result<petal_format_info> try_format_recognise(bytes foreign) noexcept {
  return detail::output(detail::sized<petal_format_info>(), petal_format_recognise, foreign.data(), foreign.size());
}
/// The spec of a format's filter, in the size that the format's owner would give it for `capacity` distinct keys at a
/// rate inside (0, 1). `variant` names one of the format's variants; `nullptr` is the first. `seed` is the seed of the
/// format's hash function, if it has one.
inline result<spec> try_format_spec(c_string format, std::uint64_t capacity, double false_positive_rate,
                                    c_string variant = nullptr, std::uint64_t seed = 0) noexcept {
  auto made = detail::output(detail::sized<petal_spec>(), [&](petal_spec *out, petal_error *error) noexcept {
    return petal_format_get_spec(format.get(), variant.get(), capacity, false_positive_rate, seed, out, error);
  });
  if (!made) return made.error();
  return spec(*made);
}

#if PETAL_HPP_EXCEPTIONS
#include "throwing/formats.hpp"
#endif

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_FORMATS
