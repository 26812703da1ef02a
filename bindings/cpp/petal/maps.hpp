// Maps and their builders. Part of petal.hpp: include that.
#ifndef PETAL_HPP_MAPS
#define PETAL_HPP_MAPS

#include "builders.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

inline petal_status get(const petal_map *map, bytes key, std::uint64_t *value, bool *found) noexcept {
  return petal_map_get(map, key.data(), key.size(), value, found);
}
inline petal_status get(const petal_map *map, std::uint64_t key, std::uint64_t *value, bool *found) noexcept {
  return petal_map_get_u64(map, key, value, found);
}
inline petal_status get(const petal_map *map, hash64 key, std::uint64_t *value, bool *found) noexcept {
  return petal_map_get_hash(map, key.value, value, found);
}

inline petal_status put(petal_map *map, bytes key, std::uint64_t value, bool *changed) noexcept {
  return petal_map_put(map, key.data(), key.size(), value, changed);
}
inline petal_status put(petal_map *map, std::uint64_t key, std::uint64_t value, bool *changed) noexcept {
  return petal_map_put_u64(map, key, value, changed);
}
inline petal_status put(petal_map *map, hash64 key, std::uint64_t value, bool *changed) noexcept {
  return petal_map_put_hash(map, key.value, value, changed);
}

inline petal_status replace(petal_map *map, bytes key, std::uint64_t value, bool *found) noexcept {
  return petal_map_replace(map, key.data(), key.size(), value, found);
}
inline petal_status replace(petal_map *map, std::uint64_t key, std::uint64_t value, bool *found) noexcept {
  return petal_map_replace_u64(map, key, value, found);
}
inline petal_status replace(petal_map *map, hash64 key, std::uint64_t value, bool *found) noexcept {
  return petal_map_replace_hash(map, key.value, value, found);
}

inline petal_status put(petal_map_builder *builder, bytes key, std::uint64_t value) noexcept {
  return petal_map_builder_put(builder, key.data(), key.size(), value);
}
inline petal_status put(petal_map_builder *builder, std::uint64_t key, std::uint64_t value) noexcept {
  return petal_map_builder_put_u64(builder, key, value);
}
inline petal_status put(petal_map_builder *builder, hash64 key, std::uint64_t value) noexcept {
  return petal_map_builder_put_hash(builder, key.value, value);
}

}  // namespace detail

/// A map of any kind. It gives the value of each of its keys, or a bound on it if the kind is `approximator`. It says
/// that other keys are absent, except for a share of them.
class map {
 public:
  /// Holds nothing, like one that was moved from.
  map() noexcept = default;
  /// Takes over a handle of the C API.
  static map adopt(petal_map *handle) noexcept {
    map made;
    made.handle_.reset(handle);
    return made;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  petal_map *get() const noexcept { return handle_.get(); }
  /// Gives the handle away.
  petal_map *release() noexcept { return handle_.release(); }

  /// Makes an empty map. The spec must name a kind that starts empty.
  static result<map> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_map **handle, petal_error *error) noexcept {
      return petal_map_new(&wanted.get(), handle, error);
    });
  }
  /// Opens a file that is an image, mapped and in constant time, unless the mode says to load it.
  static result<map> try_open(c_string path, const open_options &options = {}) noexcept {
    return made([&](petal_map **handle, petal_error *error) noexcept {
      return petal_map_open(path.get(), options.get(), handle, error);
    });
  }
  /// Opens the image at `offset`, a multiple of 8, of an open file, which may be closed at once.
  static result<map> try_open_descriptor(int descriptor, std::uint64_t offset,
                                         const open_options &options = {}) noexcept {
    return made([&](petal_map **handle, petal_error *error) noexcept {
      return petal_map_open_descriptor(descriptor, offset, options.get(), handle, error);
    });
  }
  /// Opens the image at the start of memory of yours, aligned to 8, which must outlive the map unless it is loaded.
  static result<map> try_open_in_buffer(void *buffer, std::size_t length, const open_options &options = {}) noexcept {
    return made([&](petal_map **handle, petal_error *error) noexcept {
      return petal_map_open_in_buffer(buffer, length, options.get(), handle, error);
    });
  }
  /// Copies an image, of any alignment, into memory of the map's own, and checks its checksums.
  static result<map> try_load(const void *image, std::size_t length, const open_options &options = {}) noexcept {
    return made([&](petal_map **handle, petal_error *error) noexcept {
      return petal_map_load(image, length, options.get(), handle, error);
    });
  }
  /// A copy in memory of its own.
  result<map> try_copy() const noexcept {
    return made([&](petal_map **handle, petal_error *error) noexcept { return petal_map_copy(get(), handle, error); });
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

  /// Gives a key one more value; the map joins all values of the key. Returns whether the map read less for the key
  /// before. Needs the map to itself.
  template <class Key>
  result<bool> try_put(const Key &key, std::uint64_t value) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this, value](auto one) noexcept {
      return detail::for_one<bool>(get(), petal_map_put_batch, one, [&](bool *changed) noexcept {
        return detail::put(get(), one, value, changed);
      });
    });
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
    return detail::with_key(key, [this, value](auto one) noexcept {
      return detail::for_one<bool>(get(), petal_map_replace_batch, one, [&](bool *found) noexcept {
        return detail::replace(get(), one, value, found);
      });
    });
  }
  /// Replaces the value of key i by `values[i]`, in order. `found`, nullable, has room for all: 0 for a key that
  /// certainly is not there, otherwise 1. `done`, nullable, is always written: how many keys, from the first on, were
  /// taken. Returns how many keys are there. Needs the map to itself.
  template <class Keys>
  result<std::size_t> try_replace_batch(Keys &&keys, const std::uint64_t *values, std::uint8_t *found = nullptr,
                                        std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give_values(get(), petal_map_replace_batch, keys, values, found, done);
  }
  /// Puts into this map all that was put into another map, which was made from the same spec.
  result<void> try_merge(const map &other) noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_map_merge(get(), other.get(), error); });
  }
  /// Forgets all keys.
  result<void> try_clear() noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_map_clear(get(), error); });
  }
  /// Brings an image that was changed in place up to date on its disk. The destructor does this too, but cannot report
  /// a failure.
  result<void> try_sync() noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_map_sync(get(), error); });
  }
  /// Declares the bytes as they are now to be right, and makes the map clean. Reads the whole payload.
  result<void> try_vouch() noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_map_vouch(get(), error); });
  }
  /// What this map can do: `PETAL_CAN_*`, ORed. 0 without a handle.
  std::uint64_t capabilities() const noexcept { return petal_map_capabilities(get()); }
  /// Whether this map can do all of these: `PETAL_CAN_*`, ORed.
  bool can(std::uint64_t wanted) const noexcept { return (capabilities() & wanted) == wanted; }

  /// What the map is: all that its header says. Constant time.
  result<petal_description> try_describe() const noexcept {
    return detail::output(detail::sized<petal_description>(), [&](petal_description *to, petal_error *error) noexcept {
      return petal_map_describe(get(), to, error);
    });
  }
  /// How many distinct keys there are, and which share of absent keys gets a value.
  result<petal_statistics> try_statistics() const noexcept {
    return detail::output(detail::sized<petal_statistics>(), [&](petal_statistics *to, petal_error *error) noexcept {
      return petal_map_statistics(get(), to, error);
    });
  }
  /// The size of the image in bytes.
  result<std::uint64_t> try_serialized_size() const noexcept {
    return detail::output(std::uint64_t{}, [&](std::uint64_t *size, petal_error *error) noexcept {
      return petal_map_serialized_size(get(), size, error);
    });
  }
  /// The image.
  result<std::vector<std::byte>> try_serialize() const noexcept {
    const auto size = try_serialized_size();
    if (!size) return size.error();
    std::vector<std::byte> image;
    if (auto had = detail::allocating([&] { image.resize(static_cast<std::size_t>(*size)); }); !had) return had.error();
    if (auto written = try_serialize(image.data(), image.size()); !written) return written.error();
    return image;
  }
  /// The image into a buffer; returns its size.
  result<std::size_t> try_serialize(void *buffer, std::size_t length) const noexcept {
    return detail::output(std::size_t{0}, [&](std::size_t *written, petal_error *error) noexcept {
      return petal_map_serialize(get(), buffer, length, written, error);
    });
  }
  /// The image, piece by piece and in order, to `write(petal::bytes)`, which returns nothing, or false to stop. What it
  /// throws is dropped and becomes `status::callback`; `serialize_to()` passes it on.
  template <class Write>
  result<void> try_serialize_to(Write &&write) const noexcept {
    detail::barrier barrier;
    return serialize_through(write, barrier);
  }
  /// Writes the image to a file, which it replaces atomically.
  result<void> try_save(c_string path) const noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_map_save(get(), path.get(), error); });
  }
  /// Reads and checks all bytes as they are now.
  result<void> try_verify() const noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_map_verify(get(), error); });
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit map(const spec &wanted) : map(try_make(wanted).value()) {}
  static map open(c_string path, const open_options &options = {}) { return try_open(path, options).value(); }
  static map open_descriptor(int descriptor, std::uint64_t offset, const open_options &options = {}) {
    return try_open_descriptor(descriptor, offset, options).value();
  }
  static map open_in_buffer(void *buffer, std::size_t length, const open_options &options = {}) {
    return try_open_in_buffer(buffer, length, options).value();
  }
  static map load(const void *image, std::size_t length, const open_options &options = {}) {
    return try_load(image, length, options).value();
  }
  map copy() const { return try_copy().value(); }
  template <class Key>
  std::optional<std::uint64_t> find(const Key &key) const {
    return try_find(key).value();
  }
  template <class Keys>
  std::size_t find_batch(Keys &&keys, std::uint64_t *values, std::uint8_t *found = nullptr) const {
    return try_find_batch(keys, values, found).value();
  }
  template <class Key>
  bool put(const Key &key, std::uint64_t value) {
    return try_put(key, value).value();
  }
  template <class Keys>
  std::size_t put_batch(Keys &&keys, const std::uint64_t *values, std::uint8_t *changed = nullptr,
                        std::size_t *done = nullptr) {
    return try_put_batch(keys, values, changed, done).value();
  }
  template <class Key>
  bool replace(const Key &key, std::uint64_t value) {
    return try_replace(key, value).value();
  }
  template <class Keys>
  std::size_t replace_batch(Keys &&keys, const std::uint64_t *values, std::uint8_t *found = nullptr,
                            std::size_t *done = nullptr) {
    return try_replace_batch(keys, values, found, done).value();
  }
  void merge(const map &other) { try_merge(other).value(); }
  void clear() { try_clear().value(); }
  void sync() { try_sync().value(); }
  void vouch() { try_vouch().value(); }
  petal_description describe() const { return try_describe().value(); }
  petal_statistics statistics() const { return try_statistics().value(); }
  std::uint64_t serialized_size() const { return try_serialized_size().value(); }
  std::vector<std::byte> serialize() const { return try_serialize().value(); }
  std::size_t serialize(void *buffer, std::size_t length) const { return try_serialize(buffer, length).value(); }
  template <class Write>
  void serialize_to(Write &&write) const {
    detail::barrier barrier;
    const auto written = serialize_through(write, barrier);
    barrier.rethrow();
    written.value();
  }
  void save(c_string path) const { try_save(path).value(); }
  void verify() const { try_verify().value(); }
#endif

 private:
  friend class map_builder;
  struct free {
    void operator()(petal_map *handle) const noexcept { petal_map_free(handle); }
  };

  template <class Make>
  static result<map> made(Make &&make) noexcept {
    petal_map *handle = nullptr;
    failure error;
    const petal_status code = make(&handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return adopt(handle);
  }

  template <class Write>
  result<void> serialize_through(Write &write, detail::barrier &barrier) const noexcept {
    detail::writer<Write> to{write, barrier};
    return detail::tried([&](petal_error *error) noexcept {
      return petal_map_serialize_to(get(), detail::writer<Write>::call, &to, error);
    });
  }

  std::unique_ptr<petal_map, free> handle_;
};

/// Collects keys with their values, and then makes the map.
class map_builder {
 public:
  /// Holds nothing, like one that was moved from.
  map_builder() noexcept = default;
  map_builder(map_builder &&) noexcept = default;
  map_builder &operator=(map_builder &&other) noexcept {
    // The handle goes before what it may call.
    handle_ = std::move(other.handle_);
    progress_ = std::move(other.progress_);
    return *this;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  petal_map_builder *get() const noexcept { return handle_.get(); }

  static result<map_builder> try_make(const spec &wanted = {}, builder_options options = {}) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    map_builder made;
    auto given = detail::sized<petal_builder_options>();
    if (auto had = options.fill(given, made.progress_); !had) return had.error();
    petal_map_builder *handle = nullptr;
    failure error;
    const petal_status code = petal_map_builder_new(&wanted.get(), &given, &handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    made.handle_.reset(handle);
    return made;
  }

  /// Gives a key a value. If a key has two different values, making the map fails, unless the kind joins values.
  template <class Key>
  result<void> try_put(const Key &key, std::uint64_t value) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this, value](auto one) noexcept {
      return detail::done(detail::put(get(), one, value));
    });
  }
  /// Gives many keys, given as to `filter::insert_batch()`, the values in the same places of `values`. `done`,
  /// nullable, is always written: how many, the first so many, were put.
  template <class Keys>
  result<void> try_put_batch(Keys &&keys, const std::uint64_t *values,
                             std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    const auto put = detail::give_values(get(), petal_map_builder_put_batch, keys, values, nullptr, done);
    if (!put) return put.error();
    return {};
  }
  /// How many keys were put, duplicates included.
  result<std::uint64_t> try_offered() const noexcept {
    return detail::output(std::uint64_t{}, [&](std::uint64_t *count, petal_error *error) noexcept {
      return petal_map_builder_offered(get(), count, error);
    });
  }
  /// Makes the map and empties the builder, which may be used again. On a failure the keys stay. What the progress
  /// callback throws is dropped and becomes `status::cancelled`; `finish()` passes it on.
  result<map> try_finish() noexcept {
    if (progress_) progress_->barrier.forget();
    return map::made([&](petal_map **handle, petal_error *error) noexcept {
      return petal_map_builder_finish(get(), handle, error);
    });
  }
  /// Makes the map straight into a file, which it replaces atomically. Otherwise like `try_finish()`.
  result<void> try_save(c_string path) noexcept {
    if (progress_) progress_->barrier.forget();
    return detail::tried([&](petal_error *error) noexcept {
      return petal_map_builder_save(get(), path.get(), error);
    });
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit map_builder(const spec &wanted, builder_options options = {})
      : map_builder(try_make(wanted, std::move(options)).value()) {}
  template <class Key>
  void put(const Key &key, std::uint64_t value) {
    try_put(key, value).value();
  }
  template <class Keys>
  void put_batch(Keys &&keys, const std::uint64_t *values, std::size_t *done = nullptr) {
    try_put_batch(keys, values, done).value();
  }
  std::uint64_t offered() const { return try_offered().value(); }
  map finish() {
    auto made = try_finish();
    if (progress_) progress_->barrier.rethrow();
    return std::move(made).value();
  }
  void save(c_string path) {
    const auto saved = try_save(path);
    if (progress_) progress_->barrier.rethrow();
    saved.value();
  }
#endif

 private:
  struct free {
    void operator()(petal_map_builder *handle) const noexcept { petal_map_builder_free(handle); }
  };

  // In this order: the handle is freed before what it may call.
  std::unique_ptr<builder_options::run> progress_;
  std::unique_ptr<petal_map_builder, free> handle_;
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_MAPS
