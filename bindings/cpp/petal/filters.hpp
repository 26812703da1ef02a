// Filters of every kind. Part of petal.hpp.
#ifndef PETAL_HPP_FILTERS
#define PETAL_HPP_FILTERS

#include "batches.hpp"
#include "images.hpp"
#include "stored.hpp"

#include <array>
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

/// A filter of any kind. It says whether a key may have been inserted, and never says no to a key that was.
class filter : public detail::image_owner<filter, petal_filter> {
 public:
  /// A filter without a handle, as after a move.
  filter() noexcept = default;
  friend void swap(filter &a, filter &b) noexcept { a.handle_.swap(b.handle_); }

  // Making.

  /// Makes an empty filter in its own memory.
  static result<filter> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_new(&wanted.get(), handle, error);
    });
  }
  /// An empty filter of the default kind, for `capacity` distinct keys at a rate inside (0, 1).
  static result<filter> try_make(std::uint64_t capacity, double false_positive_rate) noexcept {
    filter made = adopt(petal_filter_with_capacity(capacity, false_positive_rate));
    if (made) return made;
    // A spec says why; but there 0 stands for the default.
    if (false_positive_rate == 0) return failure(status::false_positive_rate);
    return try_make(spec().capacity(capacity > 0 ? capacity : 1).false_positive_rate(false_positive_rate));
  }
  /// Makes an empty filter inside your memory: at least `spec::image_size()` bytes, aligned to 8 (64 is faster). The
  /// bytes become a complete image, and must outlive the filter.
  static result<filter> try_make_in_buffer(const spec &wanted, void *buffer, std::size_t length) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_new_in_buffer(&wanted.get(), buffer, length, handle, error);
    });
  }
  using image_owner::try_load;
  /// Copies the image at the start of a contiguous range of bytes, and checks it.
  template <class Range, class = std::enable_if_t<detail::is_range_of<const Range, detail::is_byte>::value>>
  static result<filter> try_load(const Range &image, const open_options &options = {}) noexcept(
      detail::is_nothrow_contiguous<const Range>()) {
    return try_load(std::data(image), std::size(image), options);
  }

  // One key.

  /// Whether a key may have been inserted; false is certain.
  template <class Key>
  bool contains(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept { return detail::contains(get(), one); });
  }
  bool contains(const void *key, std::size_t length) const noexcept {
    return petal_filter_contains(get(), key, length);
  }
  /// Whether a key may be in the filter, or why there is no answer.
  template <class Key>
  result<bool> try_contains(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_filter_contains_batch, detail::contains_checked);
  }
  result<bool> try_contains(const void *key, std::size_t length) const noexcept {
    return try_contains(bytes(key, length));
  }
  /// Inserts a key: true if it certainly was not there, false if it may have been.
  template <class Key>
  result<bool> try_insert(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_filter_insert_batch, detail::insert);
  }
  result<bool> try_insert(const void *key, std::size_t length) noexcept { return try_insert(bytes(key, length)); }
  /// Removes one occurrence of a key: false if it certainly was not there, and then nothing has changed. Remove only
  /// keys that were inserted: removing another key may take what other keys left.
  template <class Key>
  result<bool> try_remove(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_filter_remove_batch, detail::remove);
  }
  result<bool> try_remove(const void *key, std::size_t length) noexcept { return try_remove(bytes(key, length)); }
  /// Restores a stored key's fingerprint to full length, for kinds that `can(PETAL_CAN_REJUVENATE)`. False if the
  /// fingerprint is already full, or if the key certainly is not there. Rejuvenate only keys that are there:
  /// rejuvenating an absent key may lose another key.
  template <class Key>
  result<bool> try_rejuvenate(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_filter_rejuvenate_batch, detail::rejuvenate);
  }
  result<bool> try_rejuvenate(const void *key, std::size_t length) noexcept {
    return try_rejuvenate(bytes(key, length));
  }
  /// Inserts a key `times` times, for kinds that count: true if the key certainly was not there. If there is no room
  /// for all copies, the filter takes none.
  template <class Key>
  result<bool> try_insert_times(const Key &key, std::uint64_t times) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_filter_insert_times_batch, detail::insert_times, times);
  }
  /// Removes a key as often as it is there, but at most `times` times, for kinds that count. Returns the number of
  /// removed copies.
  template <class Key>
  result<std::uint64_t> try_remove_times(const Key &key, std::uint64_t times) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<std::uint64_t>(key, get(), petal_filter_remove_times_batch, detail::remove_times, times);
  }
  /// How often a key was inserted, less how often it was removed; 0 is certain.
  template <class Key>
  result<std::uint64_t> try_count(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<std::uint64_t>(key, get(), petal_filter_count_batch, detail::count_one);
  }
  result<std::uint64_t> try_count(const void *key, std::size_t length) const noexcept {
    return try_count(bytes(key, length));
  }
  /// The hash of a key as this filter makes it, for filters with the same hash function and seed.
  template <class Key>
  result<hash64> try_hash(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return detail::output<hash64>([&](hash64 *hash) noexcept { return detail::hash(get(), one, &hash->value); });
    });
  }
  result<hash64> try_hash(const void *key, std::size_t length) const noexcept { return try_hash(bytes(key, length)); }

  // Many keys: what the comment at the top calls a batch.

  /// Looks keys up and returns how many answers are true. On a failure, too little room included, all answers are true.
  template <class Keys>
  std::uint64_t contains_batch(Keys &&keys, const answers &found = {}) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    auto count = try_contains_batch(keys, found);
    return count ? *count : detail::batch_size(keys);
  }
  /// Looks keys up and returns how many answers are true, or why that failed; then all answers are true.
  template <class Keys>
  result<std::uint64_t> try_contains_batch(Keys &&keys, const answers &found = {}) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    // All answers are true until the lookup is done, so that every failure leaves them true.
    std::size_t size = SIZE_MAX;
    bool is_done = false;
    const detail::at_end settle([&]() noexcept {
      if (!is_done) found.fill(size);
    });
    size = detail::batch_size(keys);
    if (auto fits = found.fit(size); !fits) return fits.error();
    failure error;
    detail::progress came;
    const petal_status code = detail::take(keys, &found, came, [&](const petal_keys *list, petal_answers *to) noexcept {
      return petal_filter_contains_batch(get(), list, to, error.out());
    });
    is_done = code == PETAL_OK;
    return detail::done(came.true_count, code, std::move(error));
  }
  /// Inserts keys in order, without answers, which is faster.
  template <class Keys>
  result<void> try_insert_batch(Keys &&keys) noexcept(detail::is_nothrow_batch<Keys>()) {
    detail::progress came;
    return change(get(), petal_filter_insert_batch, keys, nullptr, came);
  }
  /// Inserts keys in order, says of each whether it certainly was not there before, and returns how many were not.
  /// `done`, nullable, is always written: how many keys, from the first on, are in the filter.
  template <class Keys>
  result<std::uint64_t> try_insert_batch(Keys &&keys, const answers &is_new, std::size_t *done = nullptr)
      noexcept(detail::is_nothrow_batch<Keys>()) {
    return change_and_tell(get(), petal_filter_insert_batch, keys, is_new, done);
  }

  /// Removes one occurrence of each key, in order, and does not say which certainly were not there.
  template <class Keys>
  result<void> try_remove_batch(Keys &&keys) noexcept(detail::is_nothrow_batch<Keys>()) {
    detail::progress came;
    return change(get(), petal_filter_remove_batch, keys, nullptr, came);
  }
  /// Removes one occurrence of each key, in order, says false of each that certainly was not there, and returns of how
  /// many it said true. `done`, nullable, is always written: how many keys were taken, from the first on.
  template <class Keys>
  result<std::uint64_t> try_remove_batch(Keys &&keys, const answers &removed, std::size_t *done = nullptr)
      noexcept(detail::is_nothrow_batch<Keys>()) {
    return change_and_tell(get(), petal_filter_remove_batch, keys, removed, done);
  }
  /// Restores the fingerprints of stored keys to full length, in order, without answers.
  template <class Keys>
  result<void> try_rejuvenate_batch(Keys &&keys) noexcept(detail::is_nothrow_batch<Keys>()) {
    detail::progress came;
    return change(get(), petal_filter_rejuvenate_batch, keys, nullptr, came);
  }
  /// Restores the fingerprints of stored keys to full length, in order, says of each what `try_rejuvenate()` says, and
  /// returns of how many that is true. `done`, nullable, is always written: how many keys were taken, from the first
  /// on.
  template <class Keys>
  result<std::uint64_t> try_rejuvenate_batch(Keys &&keys, const answers &rejuvenated, std::size_t *done = nullptr)
      noexcept(detail::is_nothrow_batch<Keys>()) {
    return change_and_tell(get(), petal_filter_rejuvenate_batch, keys, rejuvenated, done);
  }
  /// Inserts each key as often as its element of `times` says, in order. `is_new`, nullable, has room for all: 1 of a
  /// key that certainly was not there before. `done`, nullable, is always written: how many keys were taken, from the
  /// first on. Returns how many keys were new.
  template <class Keys>
  result<std::size_t> try_insert_times_batch(Keys &&keys, const std::uint64_t *times,
                                             std::uint8_t *is_new = nullptr, std::size_t *done = nullptr)
      noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give_values(get(), petal_filter_insert_times_batch, keys, times, is_new, done);
  }
  /// Removes each key as often as it is there, but no more than its element of `times` says, in order. `removed`,
  /// nullable, has room for all: 0 of a key that certainly was not there. `done`, nullable, is always written: how many
  /// keys were taken, from the first on. Returns how many keys were there.
  template <class Keys>
  result<std::size_t> try_remove_times_batch(Keys &&keys, const std::uint64_t *times,
                                             std::uint8_t *removed = nullptr, std::size_t *done = nullptr)
      noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give_values(get(), petal_filter_remove_times_batch, keys, times, removed, done);
  }
  /// Counts keys into `counts`, which has room for all, and returns how many counts are more than 0. On a failure all
  /// counts are UINT64_MAX.
  template <class Keys>
  result<std::uint64_t> try_count_batch(Keys &&keys, std::uint64_t *counts) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    const std::size_t size = counts != nullptr ? detail::batch_size(keys) : 0;
    bool is_done = false;
    const detail::at_end settle([&]() noexcept {
      for (std::size_t i = 0; !is_done && i < size; i++) counts[i] = UINT64_MAX;
    });
    failure error;
    std::uint64_t there = 0;
    const petal_status code = detail::in_pieces(keys, [&](const petal::keys &list, std::size_t from) noexcept {
      auto to = detail::sized<petal_answers>();
      to.counts = counts != nullptr ? counts + from : nullptr;
      const petal_status of_piece = petal_filter_count_batch(get(), list.get(), &to, error.out());
      there += to.true_count;
      return of_piece;
    });
    is_done = code == PETAL_OK;
    if (!is_done) return error.settle(code);
    return there;
  }

  // From many threads: these insert through a const filter, without locks, while others insert and look up, where
  // `can(PETAL_CAN_INSERT_SHARED)`. They do not count keys; `add_insertions()` adds the count later.

  /// Inserts a key while others insert and look up. If several threads insert the same new key at the same time, at
  /// least one of them gets true.
  template <class Key>
  result<bool> try_insert_shared(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<bool>(key, get(), petal_filter_insert_shared_batch, detail::insert_shared);
  }
  result<bool> try_insert_shared(const void *key, std::size_t length) const noexcept {
    return try_insert_shared(bytes(key, length));
  }
  /// Inserts many keys while others insert and look up, without answers, which is faster. Inserts all keys, or none if
  /// the filter cannot.
  template <class Keys>
  result<void> try_insert_shared_batch(Keys &&keys) const noexcept(detail::is_nothrow_batch<Keys>()) {
    detail::progress came;
    return change<const petal_filter>(get(), petal_filter_insert_shared_batch, keys, nullptr, came);
  }
  /// Inserts many keys while others insert and look up, says of each whether it certainly was not there before, and
  /// returns how many were not: all, or, where the filter cannot do it, none.
  template <class Keys>
  result<std::uint64_t> try_insert_shared_batch(Keys &&keys, const answers &is_new) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    return change_and_tell<const petal_filter>(get(), petal_filter_insert_shared_batch, keys, is_new, nullptr);
  }
  /// Adds to the count of keys that were inserted. Threads may call it while others use the filter.
  result<void> try_add_insertions(std::uint64_t keys) const noexcept {
    return detail::tried(petal_filter_add_insertions, get(), keys);
  }

  // Combining: filters made from one spec.

  /// Becomes a superset of the intersection with another filter.
  result<void> try_intersect(const filter &other) noexcept {
    return detail::tried(petal_filter_intersect, get(), other.get());
  }
  /// Gives the filter room for `capacity` keys, and for the keys that it holds, without its keys, for kinds that
  /// `can(PETAL_CAN_RESIZE)`: see `petal_filter_resize()`.
  result<void> try_resize(std::uint64_t capacity) noexcept {
    return detail::tried(petal_filter_resize, get(), capacity);
  }
  /// Becomes smaller by a factor, without its keys.
  result<void> try_fold(std::uint64_t factor) noexcept {
    return detail::tried(petal_filter_fold, get(), factor);
  }
  /// Moves time on by `steps` steps, for kinds that `can(PETAL_CAN_AGE)`, which forget their oldest keys: see
  /// `petal_filter_advance()`.
  result<void> try_advance(std::uint64_t steps = 1) noexcept {
    return detail::tried(petal_filter_advance, get(), steps);
  }
  /// Moves time on while others insert, for handles that `can(PETAL_CAN_AGE_SHARED)`: see
  /// `petal_filter_advance_shared()`.
  result<void> try_advance_shared(std::uint64_t steps = 1) const noexcept {
    return detail::tried(petal_filter_advance_shared, get(), steps);
  }
  /// Whether both would combine and have the same bits.
  result<bool> try_equals(const filter &other) const noexcept {
    return detail::output(bool{}, petal_filter_equals, get(), other.get());
  }
  /// An identifier that two filters have in common if they combine.
  using id = std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE>;
  result<id> try_compatibility_id() const noexcept {
    return detail::output(id{}, [&](id *out, petal_error *error) noexcept {
      return petal_filter_get_compatibility_id(get(), out->data(), error);
    });
  }

  // Describing and estimating.

  /// How full the filter is. Reads the whole payload.
  result<petal_statistics> try_statistics() const noexcept {
    return asked(detail::sized<petal_statistics>(), petal_filter_get_statistics);
  }
  /// The spec from which an empty filter that combines with this one can be made; without its secret key.
  result<spec> try_compatible_spec() const noexcept {
    auto found = asked(detail::sized<petal_spec>(), petal_filter_get_spec);
    if (!found) return found.error();
    return spec(*found);
  }
  /// The exact false-positive rate to expect with `keys` distinct keys.
  result<double> try_expected_false_positive_rate(std::uint64_t keys) const noexcept {
    return detail::output(double{}, petal_filter_expected_false_positive_rate, get(), keys);
  }
  /// The probability that a key is not found once `age` other keys were inserted after it, of a kind that loses or
  /// forgets keys; 0 for other kinds.
  result<double> try_expected_false_negative_rate(std::uint64_t age) const noexcept {
    return detail::output(double{}, petal_filter_expected_false_negative_rate, get(), age);
  }
  /// The average number of omissions when `keys` distinct keys are inserted, one after the other, into an empty filter
  /// of this geometry. An omission is a new key that the filter takes for a known one, or that it refuses because it is
  /// full.
  result<double> try_expected_omissions(std::uint64_t keys) const noexcept {
    return detail::output(double{}, petal_filter_expected_omissions, get(), keys);
  }
  /// How many distinct keys the filter holds, judged by its bits.
  result<petal_filter_estimate> try_estimate() const noexcept { return asked(petal_filter_estimate{},
                                                                             petal_filter_get_estimate); }
  /// What two filters that combine have in common.
  result<petal_filter_overlap> try_estimate_overlap(const filter &other) const noexcept {
    return detail::output(detail::sized<petal_filter_overlap>(), petal_filter_estimate_overlap, get(), other.get());
  }

  // What is stored of keys, for kinds that `can(PETAL_CAN_ENUMERATE)`.

  /// The number that the filter stores for a hash. A key may be there exactly if the number of its hash is stored.
  result<std::uint64_t> try_stored_hash(hash64 hash) const noexcept {
    return detail::output(std::uint64_t{0}, [&](std::uint64_t *stored, petal_error *error) noexcept {
      return petal_filter_get_stored_hash(get(), hash.value, stored, nullptr, error);
    });
  }
  /// The range: all numbers are below it.
  result<std::uint64_t> try_stored_range() const noexcept {
    return detail::output(std::uint64_t{0}, [&](std::uint64_t *range, petal_error *error) noexcept {
      return petal_filter_get_stored_hash(get(), 0, nullptr, range, error);
    });
  }
  /// Writes the stored numbers that are not less than `from`, in ascending order and each once; how many these are:
  /// fewer than `room` if there are no more. `counts`, nullable, has as much room, for how often each is there: 1 where
  /// the kind does not count.
  result<std::size_t> try_stored_hashes(std::uint64_t from, std::uint64_t *stored, std::size_t room,
                                        std::uint64_t *counts = nullptr) const noexcept {
    return detail::output(std::size_t{0}, petal_filter_get_stored_hashes, get(), from, stored, counts, room);
  }

  // Images and files.

  // Other systems' bytes. docs/formats.md says what each format holds.

  /// Makes a filter in its own memory from all of another system's bytes. `options` have values that the bytes do not
  /// contain.
  static result<filter> try_import_bytes(c_string format, const void *foreign, std::size_t length,
                                         const import_options &options = {}) noexcept {
    return made([&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_import(format.get(), foreign, length, options.get(), handle, error);
    });
  }
  /// Makes a filter in its own memory from a contiguous range of another system's bytes.
  template <class Range, class = std::enable_if_t<detail::is_range_of<const Range, detail::is_byte>::value>>
  static result<filter> try_import_bytes(c_string format, const Range &foreign,
                                         const import_options &options = {}) noexcept(
      detail::is_nothrow_contiguous<const Range>()) {
    return try_import_bytes(format, std::data(foreign), std::size(foreign), options);
  }
  /// How many bytes the filter has in a format. `variant` names one of the format's variants; `nullptr` is the variant
  /// that the filter was imported from, or the first. Returns `status::unsupported`, naming the reason, if the filter
  /// has no form in the format.
  result<std::uint64_t> try_export_size(c_string format, c_string variant = nullptr) const noexcept {
    return detail::output(std::uint64_t{0}, petal_filter_export_size, get(), format.get(), variant.get());
  }
  /// The filter's bytes in a format; `variant` is as in `try_export_size()`.
  result<std::vector<std::byte>> try_export_bytes(c_string format, c_string variant = nullptr) const noexcept {
    const auto size = try_export_size(format, variant);
    if (!size) return size.error();
    std::vector<std::byte> foreign;
    auto had = detail::allocating([&] { foreign.resize(static_cast<std::size_t>(*size)); });
    if (!had) return had.error();
    auto written = try_export_bytes(format, variant, foreign.data(), foreign.size());
    if (!written) return written.error();
    return foreign;
  }
  /// Its bytes in a format, into a buffer; returns how many they are.
  result<std::size_t> try_export_bytes(c_string format, c_string variant, void *buffer,
                                       std::size_t length) const noexcept {
    return detail::output(std::size_t{0}, petal_filter_export, get(), format.get(), variant.get(), buffer, length);
  }
  /// Its bytes in a format, piece by piece and in order, to `write(petal::bytes)`, which returns nothing, or false to
  /// stop. What it throws is dropped and becomes `status::callback`; `export_to()` passes it on.
  template <class Write>
  result<void> try_export_to(c_string format, c_string variant, Write &&write) const noexcept {
    detail::barrier barrier;
    return export_through(format, variant, write, barrier);
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit filter(const spec &wanted) : filter(try_make(wanted).value()) {}
  filter(std::uint64_t capacity, double false_positive_rate)
      : filter(try_make(capacity, false_positive_rate).value()) {}
  using image_owner::load;

  template <class Key>
  bool insert(const Key &key) {
    bool is_new = false;
    const petal_status code =
        detail::with_key(key, [&](auto one) noexcept { return detail::insert(get(), one, &is_new); });
    detail::check_one<Key>(code, get(), petal_filter_insert_batch);
    return is_new;
  }
  bool insert(const void *key, std::size_t length) { return insert(bytes(key, length)); }
  template <class Key>
  bool remove(const Key &key) {
    bool removed = false;
    const petal_status code =
        detail::with_key(key, [&](auto one) noexcept { return detail::remove(get(), one, &removed); });
    detail::check_one<Key>(code, get(), petal_filter_remove_batch);
    return removed;
  }
  bool remove(const void *key, std::size_t length) { return remove(bytes(key, length)); }
  bool rejuvenate(const void *key, std::size_t length) { return rejuvenate(bytes(key, length)); }

  template <class Key>
  bool insert_shared(const Key &key) const {
    bool is_new = false;
    const petal_status code =
        detail::with_key(key, [&](auto one) noexcept { return detail::insert_shared(get(), one, &is_new); });
    detail::check_one<Key>(code, get(), petal_filter_insert_shared_batch);
    return is_new;
  }
  bool insert_shared(const void *key, std::size_t length) const { return insert_shared(bytes(key, length)); }

  /// All stored numbers, in ascending order and each once, for a loop: `for (std::uint64_t number :
  /// filter.stored_hashes())`. The filter has to live as long.
  stored_hash_range stored_hashes() const {
    try_stored_range().value();
    return stored_hash_range(get());
  }

  template <class Write>
  void export_to(c_string format, c_string variant, Write &&write) const {
    detail::barrier barrier;
    const auto written = export_through(format, variant, write, barrier);
    barrier.rethrow();
    written.value();
  }
#include "throwing/filter.hpp"
#endif

 private:

  /// A function of the C API that changes a filter by keys.
  template <class Filter>
  using changes = petal_status (*)(Filter *, const petal_keys *, petal_answers *, petal_error *);

  template <class Filter, class Keys>
  static result<void> change(Filter *it, changes<Filter> call, Keys &&keys, const answers *told,
                             detail::progress &came) noexcept(detail::is_nothrow_batch<Keys>()) {
    if (told != nullptr) {
      if (auto fits = told->fit(detail::batch_size(keys)); !fits) return fits.error();
    }
    failure error;
    const petal_status code = detail::take(keys, told, came, [&](const petal_keys *list, petal_answers *to) noexcept {
      return call(it, list, to, error.out());
    });
    return detail::done(code, std::move(error));
  }

  /// Changes the filter by keys. Returns for how many keys the answer is true. `done`, nullable, is always written.
  template <class Filter, class Keys>
  static result<std::uint64_t> change_and_tell(Filter *it, changes<Filter> call, Keys &&keys, const answers &told,
                                               std::size_t *done) noexcept(detail::is_nothrow_batch<Keys>()) {
    detail::progress came;
    const detail::at_end tell([&]() noexcept {
      if (done != nullptr) *done = came.done;
    });
    const auto changed = change(it, call, keys, &told, came);
    if (!changed) return changed.error();
    return came.true_count;
  }

  template <class Write>
  result<void> export_through(c_string format, c_string variant, Write &write,
      detail::barrier &barrier) const noexcept {
    detail::writer<Write> to{write, barrier};
    return detail::tried(petal_filter_export_to, get(), format.get(), variant.get(), detail::writer<Write>::call, &to);
  }
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_FILTERS
