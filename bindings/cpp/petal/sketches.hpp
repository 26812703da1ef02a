// Sketches. Part of petal.hpp: include that.
#ifndef PETAL_HPP_SKETCHES
#define PETAL_HPP_SKETCHES

#include "builders.hpp"

#include <petal_sketch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

inline petal_status insert(petal_sketch *sketch, bytes key) noexcept {
  return petal_sketch_insert(sketch, key.data(), key.size());
}
inline petal_status insert(petal_sketch *sketch, std::uint64_t key) noexcept {
  return petal_sketch_insert_u64(sketch, key);
}
inline petal_status insert(petal_sketch *sketch, hash64 key) noexcept {
  return petal_sketch_insert_hash(sketch, key.value);
}

inline petal_status remove(petal_sketch *sketch, bytes key) noexcept {
  return petal_sketch_remove(sketch, key.data(), key.size());
}
inline petal_status remove(petal_sketch *sketch, std::uint64_t key) noexcept {
  return petal_sketch_remove_u64(sketch, key);
}
inline petal_status remove(petal_sketch *sketch, hash64 key) noexcept {
  return petal_sketch_remove_hash(sketch, key.value);
}

}  // namespace detail

/// What a sketch lists, and whether that is all.
struct listing {
  std::vector<petal_listed> listed;
  /// False where more were different than the sketch can tell apart.
  bool is_complete = false;
};

/// A set of 64-bit numbers in little memory, which is subtracted from another one and lists what only one of them has.
/// See petal_sketch.h.
class sketch {
 public:
  /// Holds nothing, like one that was moved from.
  sketch() noexcept = default;
  /// Takes over a handle of the C API.
  static sketch adopt(petal_sketch *handle) noexcept {
    sketch made;
    made.handle_.reset(handle);
    return made;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  petal_sketch *get() const noexcept { return handle_.get(); }
  /// Gives the handle away.
  petal_sketch *release() noexcept { return handle_.release(); }

  /// Makes an empty sketch: its capacity is the number of differences that it is to list.
  static result<sketch> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_sketch **handle, petal_error *error) noexcept {
      return petal_sketch_new(&wanted.get(), handle, error);
    });
  }
  /// Opens the image that a file is: constant time, mapped, unless the mode says to load it.
  static result<sketch> try_open(c_string path, const open_options &options = {}) noexcept {
    return made([&](petal_sketch **handle, petal_error *error) noexcept {
      return petal_sketch_open(path.get(), options.get(), handle, error);
    });
  }
  /// Opens the image at `offset`, a multiple of 8, of an open file, which may be closed at once.
  static result<sketch> try_open_descriptor(int descriptor, std::uint64_t offset,
                                         const open_options &options = {}) noexcept {
    return made([&](petal_sketch **handle, petal_error *error) noexcept {
      return petal_sketch_open_descriptor(descriptor, offset, options.get(), handle, error);
    });
  }
  /// Opens the image at the start of memory of yours, aligned to 8, which must outlive the sketch unless it is loaded.
  static result<sketch> try_open_in_buffer(void *buffer, std::size_t length,
                                           const open_options &options = {}) noexcept {
    return made([&](petal_sketch **handle, petal_error *error) noexcept {
      return petal_sketch_open_in_buffer(buffer, length, options.get(), handle, error);
    });
  }
  /// Copies an image, of any alignment, into memory of the sketch's own, and checks its checksums.
  static result<sketch> try_load(const void *image, std::size_t length, const open_options &options = {}) noexcept {
    return made([&](petal_sketch **handle, petal_error *error) noexcept {
      return petal_sketch_load(image, length, options.get(), handle, error);
    });
  }
  /// A copy in memory of its own.
  result<sketch> try_copy() const noexcept {
    return made([&](petal_sketch **handle, petal_error *error) noexcept {
      return petal_sketch_copy(get(), handle, error);
    });
  }

  /// Inserts a key. An integer is the number itself; the number of any other key is its hash.
  template <class Key>
  result<void> try_insert(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept -> result<void> {
      const petal_status code = detail::insert(get(), one);
      if (code != PETAL_OK) return detail::why(code, get(), petal_sketch_insert_batch, detail::none_like(one));
      return {};
    });
  }
  /// Removes a key. If you remove a number that you did not insert, the sketch lists the number with -1.
  template <class Key>
  result<void> try_remove(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept -> result<void> {
      const petal_status code = detail::remove(get(), one);
      if (code != PETAL_OK) return detail::why(code, get(), petal_sketch_remove_batch, detail::none_like(one));
      return {};
    });
  }
  /// Inserts many keys, given as to `filter::insert_batch()`. `done`, nullable, is always written: how many, the first
  /// so many, were inserted.
  template <class Keys>
  result<void> try_insert_batch(Keys &&keys, std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return give(petal_sketch_insert_batch, keys, done);
  }
  /// Removes many keys, as `try_insert_batch()` inserts them.
  template <class Keys>
  result<void> try_remove_batch(Keys &&keys, std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return give(petal_sketch_remove_batch, keys, done);
  }
  /// Subtracts another sketch, which was made from the same spec. The sketch then lists numbers that only the other has
  /// with -1.
  result<void> try_subtract(const sketch &other) noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_sketch_subtract(get(), other.get(), error); });
  }
  /// The numbers of the sketch in ascending order: first those with -1, then those with 1.
  result<listing> try_list() const noexcept {
    const auto about = try_describe();
    if (!about) return about.error();
    listing found;
    const auto most = static_cast<std::size_t>(about->bits / 192);
    if (auto had = detail::allocating([&] { found.listed.resize(most); }); !had) return had.error();
    std::size_t count = 0;
    failure error;
    const petal_status code =
        petal_sketch_list(get(), found.listed.data(), most, &count, &found.is_complete, error.out());
    if (code != PETAL_OK) return error.settle(code);
    found.listed.resize(count);
    return found;
  }
  /// The probability that the sketch cannot list so many numbers, erring on the high side.
  result<double> try_expected_failure_rate(std::uint64_t numbers) const noexcept {
    return detail::output(0.0, [&](double *rate, petal_error *error) noexcept {
      return petal_sketch_expected_failure_rate(get(), numbers, rate, error);
    });
  }
  /// An identifier that two sketches have in common if one can be subtracted from the other.
  result<std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE>> try_compatibility_id() const noexcept {
    using id = std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE>;
    return detail::output(id{}, [&](id *out, petal_error *error) noexcept {
      return petal_sketch_compatibility_id(get(), out->data(), error);
    });
  }
  /// Adds all that another sketch has, which was made from the same spec. If the two sets have no common numbers, the
  /// result is the sketch of both.
  result<void> try_merge(const sketch &other) noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_sketch_merge(get(), other.get(), error); });
  }
  /// Forgets all numbers.
  result<void> try_clear() noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_sketch_clear(get(), error); });
  }
  /// Brings an image that was changed in place up to date on its disk. The destructor does this too, but cannot report
  /// a failure.
  result<void> try_sync() noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_sketch_sync(get(), error); });
  }
  /// Declares the bytes as they are now to be right, and makes the sketch clean. Reads the whole payload.
  result<void> try_vouch() noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_sketch_vouch(get(), error); });
  }
  /// What this sketch can do: `PETAL_CAN_*`, ORed. 0 without a handle.
  std::uint64_t capabilities() const noexcept { return petal_sketch_capabilities(get()); }
  /// Whether it can do all of these.
  bool can(std::uint64_t wanted) const noexcept { return (capabilities() & wanted) == wanted; }

  /// What the sketch is: all that its header says. Constant time.
  result<petal_description> try_describe() const noexcept {
    return detail::output(detail::sized<petal_description>(), [&](petal_description *to, petal_error *error) noexcept {
      return petal_sketch_describe(get(), to, error);
    });
  }
  /// The size of the image in bytes.
  result<std::uint64_t> try_serialized_size() const noexcept {
    return detail::output(std::uint64_t{0}, [&](std::uint64_t *size, petal_error *error) noexcept {
      return petal_sketch_serialized_size(get(), size, error);
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
      return petal_sketch_serialize(get(), buffer, length, written, error);
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
    return detail::tried([&](petal_error *error) noexcept { return petal_sketch_save(get(), path.get(), error); });
  }
  /// Reads and checks all bytes as they are now.
  result<void> try_verify() const noexcept {
    return detail::tried([&](petal_error *error) noexcept { return petal_sketch_verify(get(), error); });
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit sketch(const spec &wanted) : sketch(try_make(wanted).value()) {}
  static sketch open(c_string path, const open_options &options = {}) { return try_open(path, options).value(); }
  static sketch open_descriptor(int descriptor, std::uint64_t offset, const open_options &options = {}) {
    return try_open_descriptor(descriptor, offset, options).value();
  }
  static sketch open_in_buffer(void *buffer, std::size_t length, const open_options &options = {}) {
    return try_open_in_buffer(buffer, length, options).value();
  }
  static sketch load(const void *image, std::size_t length, const open_options &options = {}) {
    return try_load(image, length, options).value();
  }
  sketch copy() const { return try_copy().value(); }
  template <class Key>
  void insert(const Key &key) {
    try_insert(key).value();
  }
  template <class Key>
  void remove(const Key &key) {
    try_remove(key).value();
  }
  template <class Keys>
  void insert_batch(Keys &&keys, std::size_t *done = nullptr) {
    try_insert_batch(keys, done).value();
  }
  template <class Keys>
  void remove_batch(Keys &&keys, std::size_t *done = nullptr) {
    try_remove_batch(keys, done).value();
  }
  void subtract(const sketch &other) { try_subtract(other).value(); }
  listing list() const { return try_list().value(); }
  double expected_failure_rate(std::uint64_t numbers) const { return try_expected_failure_rate(numbers).value(); }
  std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE> compatibility_id() const {
    return try_compatibility_id().value();
  }
  void merge(const sketch &other) { try_merge(other).value(); }
  void clear() { try_clear().value(); }
  void sync() { try_sync().value(); }
  void vouch() { try_vouch().value(); }
  petal_description describe() const { return try_describe().value(); }
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
  struct free {
    void operator()(petal_sketch *handle) const noexcept { petal_sketch_free(handle); }
  };

  template <class Keys>
  result<void> give(petal_status (*call)(petal_sketch *, const petal_keys *, petal_answers *, petal_error *),
                    Keys &keys, std::size_t *done) noexcept(detail::is_nothrow_batch<Keys>()) {
    failure error;
    std::size_t all = 0;
    const detail::at_end tell([&]() noexcept {
      if (done != nullptr) *done = all;
    });
    const petal_status code = detail::in_pieces(keys, [&](const petal::keys &list, std::size_t) noexcept {
      auto to = detail::sized<petal_answers>();
      const petal_status of_piece = call(get(), list.get(), &to, error.out());
      all += to.done;
      return of_piece;
    });
    return detail::done(code, std::move(error));
  }

  template <class Make>
  static result<sketch> made(Make &&make) noexcept {
    petal_sketch *handle = nullptr;
    failure error;
    const petal_status code = make(&handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return adopt(handle);
  }

  template <class Write>
  result<void> serialize_through(Write &write, detail::barrier &barrier) const noexcept {
    detail::writer<Write> to{write, barrier};
    return detail::tried([&](petal_error *error) noexcept {
      return petal_sketch_serialize_to(get(), detail::writer<Write>::call, &to, error);
    });
  }

  std::unique_ptr<petal_sketch, free> handle_;
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_SKETCHES
