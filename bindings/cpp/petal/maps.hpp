// Maps and their builders. Part of petal.hpp.
#ifndef PETAL_HPP_MAPS
#define PETAL_HPP_MAPS

#include "builders.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

inline constexpr verb<petal_map_get, petal_map_get_u64, petal_map_get_hash> get;
inline constexpr verb<petal_map_put, petal_map_put_u64, petal_map_put_hash> put;
inline constexpr verb<petal_map_replace, nullptr, petal_map_replace_hash> replace;
inline constexpr verb<petal_map_builder_put, petal_map_builder_put_u64, petal_map_builder_put_hash> put_in_builder;

}  // namespace detail

/// A map of any kind. It gives the value of each of its keys, or a bound on it if the kind is `approximator`. It says
/// that other keys are absent, except for a share of them.
class map : public detail::image_owner<map, petal_map> {
 public:
  /// Holds nothing, like one that was moved from.
  map() noexcept = default;

  /// Makes an empty map. The spec must name a kind that starts empty.
  static result<map> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_map **handle, petal_error *error) noexcept {
      return petal_map_new(&wanted.get(), handle, error);
    });
  }

  /// The value of a key; no value if the key is absent.
  template <class Key>
  result<std::optional<std::uint64_t>> try_find(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept -> result<std::optional<std::uint64_t>> {
      std::uint64_t value = 0;
      bool found = false;
      const petal_status code = detail::get(get(), one, &value, &found);
      if (code != PETAL_OK) return detail::why(code, get(), petal_map_get_batch, detail::none_like(one));
      return found ? std::optional<std::uint64_t>(value) : std::nullopt;
    });
  }
  /// The values of many keys, given as to `filter::contains_batch()`, into `values`, which has room for all; 0 for an
  /// absent key. `found`, nullable, has room for all too: 1 for a key that is there, otherwise 0. Returns how many keys
  /// are there. On a failure all answers and values are 0.
  template <class Keys>
  result<std::size_t> try_find_batch(Keys &&keys, std::uint64_t *values, std::uint8_t *found = nullptr) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    const std::size_t size = detail::batch_size(keys);
    bool is_done = false;
    const detail::at_end settle([&]() noexcept {
      for (std::size_t i = 0; !is_done && i < size; i++) {
        if (values != nullptr) values[i] = 0;
        if (found != nullptr) found[i] = 0;
      }
    });
    failure error;
    std::size_t count = 0;
    const petal_status code = detail::in_pieces(keys, [&](const petal::keys &list, std::size_t from) noexcept {
      auto to = detail::sized<petal_answers>();
      to.values = values != nullptr ? values + from : nullptr;
      to.bytes = found != nullptr ? found + from : nullptr;
      const petal_status of_piece = petal_map_get_batch(get(), list.get(), &to, error.out());
      count += static_cast<std::size_t>(to.true_count);
      return of_piece;
    });
    is_done = code == PETAL_OK;
    if (!is_done) return error.settle(code);
    return count;
  }

  /// Gives a key one more value; the map joins all values of the key. Returns whether that changed the value that a
  /// lookup of the key gives. Needs the map to itself.
  template <class Key>
  result<bool> try_put(const Key &key, std::uint64_t value) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_map_put_batch, detail::put, value);
  }
  /// Gives key i the value `values[i]`, in order. `changed`, nullable, has room for all: 1 for a key whose value
  /// changed, otherwise 0. `done`, nullable, is always written: how many keys, from the first on, were put. Returns how
  /// many values changed. Needs the map to itself.
  template <class Keys>
  result<std::size_t> try_put_batch(Keys &&keys, const std::uint64_t *values, std::uint8_t *changed = nullptr,
                                    std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give_values(get(), petal_map_put_batch, keys, values, changed, done);
  }
  /// Replaces the value of a key that is there: false if the key certainly is not there; nothing has changed then.
  /// Needs the map to itself.
  template <class Key>
  result<bool> try_replace(const Key &key, std::uint64_t value) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_map_replace_batch, detail::replace, value);
  }
  /// Replaces the value of key i by `values[i]`, in order. `found`, nullable, has room for all: 0 for a key that
  /// certainly is not there, otherwise 1. `done`, nullable, is always written: how many keys, from the first on, were
  /// taken. Returns how many keys are there. Needs the map to itself.
  template <class Keys>
  result<std::size_t> try_replace_batch(Keys &&keys, const std::uint64_t *values, std::uint8_t *found = nullptr,
                                        std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give_values(get(), petal_map_replace_batch, keys, values, found, done);
  }

  /// How many distinct keys there are, and which share of absent keys gets a value.
  result<petal_statistics> try_statistics() const noexcept {
    return detail::output(detail::sized<petal_statistics>(), petal_map_get_statistics, get());
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit map(const spec &wanted) : map(try_make(wanted).value()) {}
#include "throwing/map.hpp"
#endif
};

/// Collects keys with their values, and then makes the map.
class map_builder : public detail::maker<map_builder, petal_map_builder, map, petal_map_builder_new> {
 public:
  /// Holds nothing, like one that was moved from.
  map_builder() noexcept = default;

  /// Gives a key a value. If a key has two different values, making the map fails, unless the kind joins values.
  template <class Key>
  result<void> try_put(const Key &key, std::uint64_t value) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this, value](auto one) noexcept {
      return detail::done(detail::put_in_builder(get(), one, value));
    });
  }
  /// Gives many keys, given as to `filter::insert_batch()`, the values in the same places of `values`. `done`,
  /// nullable, is always written: how many keys were put, from the first on.
  template <class Keys>
  result<void> try_put_batch(Keys &&keys, const std::uint64_t *values,
                             std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    const auto put = detail::give_values(get(), petal_map_builder_put_batch, keys, values, nullptr, done);
    if (!put) return put.error();
    return {};
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit map_builder(const spec &wanted, builder_options options = {})
      : map_builder(try_make(wanted, std::move(options)).value()) {}
#include "throwing/map_builder.hpp"
#endif
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_MAPS
