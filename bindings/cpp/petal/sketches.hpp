// Sketches. Part of petal.hpp.
#ifndef PETAL_HPP_SKETCHES
#define PETAL_HPP_SKETCHES

#include "builders.hpp"

#include <petal_sketch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

inline constexpr verb<petal_sketch_insert, petal_sketch_insert_u64, petal_sketch_insert_hash> insert_in_sketch;
inline constexpr verb<petal_sketch_remove, petal_sketch_remove_u64, petal_sketch_remove_hash> remove_from_sketch;
inline constexpr verb<petal_sketch_get, petal_sketch_get_u64, petal_sketch_get_hash> get_from_sketch;
inline constexpr verb<petal_sketch_insert_value, petal_sketch_insert_value_u64, petal_sketch_insert_value_hash>
    insert_value_in_sketch;
inline constexpr verb<petal_sketch_remove_value, petal_sketch_remove_value_u64, petal_sketch_remove_value_hash>
    remove_value_from_sketch;

}  // namespace detail

/// What a sketch lists, and whether that is all.
struct listing {
  std::vector<petal_sketch_listed> listed;
  /// False if more numbers differ than the sketch can tell apart.
  bool is_complete = false;
};

/// The whole keys that a sketch lists, and whether that is all.
struct key_listing {
  /// The bytes of the keys, one key after the other.
  std::vector<std::uint8_t> keys;
  /// The sign of each key: 1, or -1.
  std::vector<std::int64_t> signs;
  /// False if more keys differ than the sketch can tell apart.
  bool is_complete = false;
};

/// What a sketch lists of numbers with values, and whether that is all.
struct value_listing {
  std::vector<petal_sketch_pair> listed;
  /// False if more pairs differ than the sketch can tell apart.
  bool is_complete = false;
};

/// What a sketch says of one number.
struct sketch_answer {
  /// One of PETAL_SKETCH_PRESENCE_*.
  petal_sketch_presence presence = PETAL_SKETCH_PRESENCE_UNKNOWN;
  /// The number with its sign and its value, which are 0 unless the number is there.
  petal_sketch_pair pair{};
};

namespace detail {

/// A list of numbers. There are at most `room`, unless the kind has smaller cells.
template <class List>
result<listing> listed(std::size_t room, List list) noexcept {
  listing found;
  for (;;) {
    if (auto had = allocating([&] { found.listed.resize(room); }); !had) return had.error();
    std::size_t count = 0;
    failure error;
    const petal_status code = list(found.listed.data(), room, &count, &found.is_complete, error.out());
    if (code != PETAL_OK) return error.settle(code);
    // A kind with smaller cells may list more numbers.
    const bool fits = count <= room;
    room = count;
    if (!fits) continue;
    found.listed.resize(count);
    return found;
  }
}

/// A list of whole keys, of which there are at most `room`.
template <class List>
result<key_listing> listed_keys(std::size_t key_bytes, std::size_t room, List list) noexcept {
  key_listing found;
  const auto resize = [&] {
    found.keys.resize(room * key_bytes);
    found.signs.resize(room);
  };
  if (auto had = allocating(resize); !had) return had.error();
  std::size_t count = 0;
  failure error;
  const petal_status code =
      list(found.keys.data(), found.signs.data(), room, &count, &found.is_complete, error.out());
  if (code != PETAL_OK) return error.settle(code);
  room = count < room ? count : room;
  resize();
  return found;
}

}  // namespace detail

/// A set of 64-bit numbers in little memory, which is subtracted from another one and lists what only one of them has.
/// See petal_sketch.h.
class sketch : public detail::image_owner<sketch, petal_sketch> {
 public:
  /// Holds nothing, like one that was moved from.
  sketch() noexcept = default;

  /// Makes an empty sketch: its capacity is the number of differences that it is to list.
  static result<sketch> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_sketch **handle, petal_error *error) noexcept {
      return petal_sketch_new(&wanted.get(), handle, error);
    });
  }

  /// Inserts a key. An integer is the number itself; the number of any other key is its hash.
  template <class Key>
  result<void> try_insert(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<void>(key, get(), petal_sketch_insert_batch, detail::insert_in_sketch);
  }
  /// Removes a key. If you remove a number that you did not insert, the sketch lists the number with -1.
  template <class Key>
  result<void> try_remove(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<void>(key, get(), petal_sketch_remove_batch, detail::remove_from_sketch);
  }
  /// Inserts many keys, given as to `filter::insert_batch()`. `done`, nullable, is always written: how many keys were
  /// inserted, from the first on.
  template <class Keys>
  result<void> try_insert_batch(Keys &&keys, std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give(get(), petal_sketch_insert_batch, keys, done);
  }
  /// Removes many keys, as `try_insert_batch()` inserts them.
  template <class Keys>
  result<void> try_remove_batch(Keys &&keys, std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give(get(), petal_sketch_remove_batch, keys, done);
  }
  /// What the sketch says of a key: whether it is there, with its sign and value, or is absent, or that the sketch
  /// cannot say. Kinds but `iblt` refuse this.
  template <class Key>
  result<sketch_answer> try_find(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept -> result<sketch_answer> {
      return detail::output(sketch_answer{}, [&](sketch_answer *to, petal_error *error) noexcept {
        return detail::get_from_sketch(get(), one, &to->presence, &to->pair, error);
      });
    });
  }
  /// Bits of a value: 64, or 0 if the numbers have no values.
  result<std::uint32_t> try_value_bits() const noexcept {
    return detail::output(std::uint32_t{0}, petal_sketch_value_bits, get());
  }
  /// Inserts a key with its value into a sketch with values: its parameter value_bits is 64.
  template <class Key>
  result<void> try_insert_value(const Key &key, std::uint64_t value) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this, value](auto one) noexcept -> result<void> {
      return detail::tried(detail::insert_value_in_sketch, get(), one, value);
    });
  }
  /// Removes a key with the value that it was inserted with.
  template <class Key>
  result<void> try_remove_value(const Key &key, std::uint64_t value) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this, value](auto one) noexcept -> result<void> {
      return detail::tried(detail::remove_value_from_sketch, get(), one, value);
    });
  }
  /// Inserts key i with the value `values[i]`, in order. `done`, nullable, is always written: how many keys were
  /// inserted, from the first on.
  template <class Keys>
  result<void> try_insert_value_batch(Keys &&keys, const std::uint64_t *values,
                                      std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    auto given = detail::give_values(get(), petal_sketch_insert_value_batch, keys, values, nullptr, done);
    if (!given) return given.error();
    return {};
  }
  /// Removes many keys with their values, as `try_insert_value_batch()` inserts them.
  template <class Keys>
  result<void> try_remove_value_batch(Keys &&keys, const std::uint64_t *values,
                                      std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    auto given = detail::give_values(get(), petal_sketch_remove_value_batch, keys, values, nullptr, done);
    if (!given) return given.error();
    return {};
  }
  /// The numbers of the sketch with their values, in ascending order by sign, number and value. A number whose value
  /// differs on both sides is there twice, with both signs.
  result<value_listing> try_list_values() const noexcept {
    const auto about = try_describe();
    if (!about) return about.error();
    value_listing all;
    const auto room = static_cast<std::size_t>(about->bits / 256);
    if (auto had = detail::allocating([&] { all.listed.resize(room); }); !had) return had.error();
    std::size_t count = 0;
    failure error;
    const petal_status code =
        petal_sketch_list_values(get(), all.listed.data(), room, &count, &all.is_complete, error.out());
    if (code != PETAL_OK) return error.settle(code);
    all.listed.resize(count);
    return all;
  }
  /// Subtracts another sketch, which was made from the same spec. The sketch then lists numbers that only the other has
  /// with -1.
  result<void> try_subtract(const sketch &other) noexcept {
    return detail::tried(petal_sketch_subtract, get(), other.get());
  }
  /// The numbers of the sketch in ascending order: first those with -1, then those with 1. A sketch that lacks its
  /// secret key fails with PETAL_ERR_SECRET_MISSING.
  result<listing> try_list() const noexcept {
    const auto about = try_describe();
    if (!about) return about.error();
    return detail::listed(static_cast<std::size_t>(about->bits / 192),
                          [this](petal_sketch_listed *listed, std::size_t room, std::size_t *count, bool *is_complete,
                                 petal_error *error) noexcept {
                            return petal_sketch_list(get(), listed, room, count, is_complete, error);
                          });
  }
  /// The whole keys of a sketch with the parameter key_bytes, in ascending order of their bytes: first those with -1,
  /// then those with 1.
  result<key_listing> try_list_keys() const noexcept {
    return detail::listed_keys(key_bytes(), static_cast<std::size_t>(symbol_count()),
                               [this](void *keys, std::int64_t *signs, std::size_t room, std::size_t *count,
                                      bool *is_complete, petal_error *error) noexcept {
                                 return petal_sketch_list_keys(get(), keys, signs, room, count, is_complete, error);
                               });
  }
  /// How many bytes a key has, if the sketch holds whole keys; 0 if it holds numbers.
  std::size_t key_bytes() const noexcept { return petal_sketch_key_bytes(get()); }
  /// From now on the handle keeps the keys of this empty sketch in memory, and takes each key only once. See
  /// `petal_sketch_keep_keys()`.
  result<void> try_keep_keys() noexcept {
    return detail::tried(petal_sketch_keep_keys, get());
  }
  /// Whether the handle keeps the keys.
  bool keeps_keys() const noexcept { return petal_sketch_keeps_keys(get()); }
  /// How many coded symbols the sketch has; 0 if its kind has none.
  std::uint64_t symbol_count() const noexcept { return petal_sketch_symbol_count(get()); }
  /// The bytes that minisketch serializes for a sketch of the same elements. The sketch is of the kind pinsketch.
  result<std::vector<std::uint8_t>> try_export_minisketch() const noexcept {
    std::size_t size = 0;
    auto run = [&](void *buffer, std::size_t length) noexcept {
      return detail::tried(petal_sketch_export_minisketch, get(), buffer, length, &size);
    };
    if (auto told = run(nullptr, 0); !told) return told.error();
    std::vector<std::uint8_t> bytes;
    if (auto had = detail::allocating([&] { bytes.resize(size); }); !had) return had.error();
    if (auto written = run(bytes.data(), bytes.size()); !written) return written.error();
    return bytes;
  }
  /// Takes the elements of a serialized sketch of minisketch instead of the numbers that are there. Both sketches have
  /// the same capacity and bits of an element.
  result<void> try_import_minisketch(const void *bytes, std::size_t length) noexcept {
    return detail::tried(petal_sketch_import_minisketch, get(), bytes, length);
  }
  /// The probability that the sketch cannot list `numbers` numbers, erring on the high side.
  result<double> try_expected_failure_rate(std::uint64_t numbers) const noexcept {
    return detail::output(0.0, petal_sketch_expected_failure_rate, get(), numbers);
  }
  /// An identifier that two sketches have in common if one can be subtracted from the other.
  result<std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE>> try_compatibility_id() const noexcept {
    using id = std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE>;
    return detail::output(id{}, [&](id *out, petal_error *error) noexcept {
      return petal_sketch_get_compatibility_id(get(), out->data(), error);
    });
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit sketch(const spec &wanted) : sketch(try_make(wanted).value()) {}
#include "throwing/sketch.hpp"
#endif
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_SKETCHES
