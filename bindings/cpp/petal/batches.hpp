// Keys and answers of batches. Part of petal.hpp.
#ifndef PETAL_HPP_BATCHES
#define PETAL_HPP_BATCHES

#include "keys.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// Many keys that lie in memory as the library takes them, for batches. Refers to that memory, which must outlive it.
class keys {
 public:
  /// No keys.
  keys() noexcept : keys(petal_keys_u64(nullptr, 0)) {}
  /// Byte strings in one piece, such as a column: key i is `data[offsets[i] .. offsets[i + 1]]`, and there are count +
  /// 1 offsets.
  static keys of_bytes(const void *data, std::size_t length, const std::uint64_t *offsets, std::size_t count) noexcept {
    return keys(petal_keys_bytes(data, length, offsets, count));
  }
  /// Byte strings with offsets of 32 bits, such as those of an Arrow array of the type Binary or Utf8.
  static keys of_bytes32(const void *data, std::size_t length, const std::int32_t *offsets,
                         std::size_t count) noexcept {
    return keys(petal_keys_bytes32(data, length, offsets, count));
  }
  /// 64-bit numbers.
  static keys of_u64(const std::uint64_t *data, std::size_t count) noexcept {
    return keys(petal_keys_u64(data, count));
  }
  /// 64-bit hashes, as plain numbers.
  static keys of_hashes(const std::uint64_t *data, std::size_t count) noexcept {
    return keys(petal_keys_hashes(data, count));
  }
  /// The hashes that a contiguous range of 64-bit integers holds, which alone would be keys.
  template <class Range>
  static keys of_hashes(const Range &range) noexcept(detail::is_nothrow_contiguous<const Range>()) {
    static_assert(detail::is_range_of<const Range, detail::is_u64>::value, "not a contiguous range of 64-bit integers");
    return of_hashes(reinterpret_cast<const std::uint64_t *>(std::data(range)), std::size(range));
  }

  /// Digests of `each` bytes, one after the other, for filters with `PETAL_HASH_DIGEST`.
  static keys of_digests(const void *data, std::size_t each, std::size_t count) noexcept {
    return keys(petal_keys_digests(data, each, count));
  }

  std::size_t size() const noexcept { return keys_.count; }
  /// For calls of the C API.
  const petal_keys *get() const noexcept { return &keys_; }

 private:
  explicit keys(const petal_keys &of) noexcept : keys_(of) {}

  petal_keys keys_;
};

/// The keys between two iterators, for batches. The keys must outlive this object.
template <class Iterator, class Sentinel = Iterator>
class key_range {
 public:
  key_range(Iterator first, Sentinel last) : first_(first), last_(last) {}
  Iterator begin() const noexcept(std::is_nothrow_copy_constructible_v<Iterator>) { return first_; }
  Sentinel end() const noexcept(std::is_nothrow_copy_constructible_v<Sentinel>) { return last_; }

 private:
  Iterator first_;
  Sentinel last_;
};

/// Byte keys in one piece of memory, for batches: fill it once and use it with as many filters as you like.
class key_buffer {
 public:
  key_buffer() noexcept = default;
  /// Copies the keys of a range; each is given to `add()`.
  template <class Range, class = std::enable_if_t<!std::is_same_v<std::decay_t<Range>, key_buffer>>>
  explicit key_buffer(Range &&keys) {
    for (auto &&key : keys) add(key);
  }

  /// Copies a key that is bytes. Throws what the standard containers throw, and then has changed nothing. A null
  /// pointer is no key and gives `status::null`. Without exceptions, every call that takes the buffer gives it, until
  /// `clear()`.
  template <class Key>
  void add(const Key &key) {
    const bool is_there = detail::with_key(key, [this](auto one) { return this->append(one); });
#if PETAL_HPP_EXCEPTIONS
    if (!is_there) throw error(failure(status::null));
#else
    is_nowhere_ = is_nowhere_ || !is_there;
#endif
  }
  template <class Key>
  result<void> try_add(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept -> result<void> {
      bool is_there = true;
      auto had = detail::allocating([&] { is_there = this->append(one); });
      if (!is_there) return failure(status::null);
      return had;
    });
  }

  /// Forgets the keys and keeps the memory.
  void clear() noexcept {
    data_.clear();
    offsets_.clear();
    is_nowhere_ = false;
  }
  void reserve(std::size_t keys, std::size_t length) {
    offsets_.reserve(keys + 1);
    data_.reserve(length);
  }
  std::size_t size() const noexcept { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  bool empty() const noexcept { return size() == 0; }
  std::string_view operator[](std::size_t index) const noexcept {
    const auto begin = static_cast<std::size_t>(offsets_[index]), end = static_cast<std::size_t>(offsets_[index + 1]);
    return {data_.data() + begin, end - begin};
  }
  /// The keys, until the buffer changes.
  petal::keys keys() const noexcept {
    static constexpr std::uint64_t zero = 0;
    if (is_nowhere_) return petal::keys::of_bytes(nullptr, 1, nullptr, 1);
    return petal::keys::of_bytes(data_.data(), data_.size(), offsets_.empty() ? &zero : offsets_.data(), size());
  }

 private:
  template <class Key>
  bool append(Key key) {
    static_assert(std::is_same_v<Key, bytes>, "batches of integers and hashes are plain ranges, without a buffer");
    if (key.is_nowhere()) return false;
    if (offsets_.empty()) offsets_.push_back(0);
    // Removes what a failed addition left behind.
    data_.resize(static_cast<std::size_t>(offsets_.back()));
    if (key.size() > 0) data_.append(reinterpret_cast<const char *>(key.data()), key.size());
    offsets_.push_back(data_.size());
    return true;
  }

  std::string data_;
  std::vector<std::uint64_t> offsets_;
  bool is_nowhere_ = false;
};

/// Where the answers of a batch go: one `bool` or `std::uint8_t` a key, or one bit a key, or both, or nowhere.
class answers {
 public:
  /// No answers. Any range, even an empty one, is room for answers.
  answers() noexcept = default;
  /// One byte a key, 0 or 1, into a contiguous range (`std::vector<std::uint8_t>`, `std::array<bool, N>` ...).
  template <class Range, class = std::enable_if_t<
                             detail::is_range_of<std::remove_reference_t<Range>, detail::is_answer>::value>>
  answers(Range &&range) noexcept(detail::is_nothrow_contiguous<Range>())
      : bytes_(somewhere(std::data(range))), byte_room_(std::size(range)) {}
  /// Other types do not compile, and the compiler's message says which types do.
  template <class Other, class = std::enable_if_t<
                             !detail::is_range_of<std::remove_reference_t<Other>, detail::is_answer>::value &&
                             !std::is_same_v<std::decay_t<Other>, answers>>, class = void>
  answers(Other &&) noexcept {
    static_assert(detail::never<Other>, "not a place for answers: give a contiguous range of std::uint8_t or bool that "
                                        "can be written to, such as std::vector<std::uint8_t> (std::vector<bool> has "
                                        "no bytes), or answers::bitmap(words)");
  }

  /// One bit a key into a contiguous range of unsigned integers, from the lowest bit of the first.
  template <class Range>
  static answers bitmap(Range &&range) noexcept(detail::is_nothrow_contiguous<Range>()) {
    static_assert(detail::is_range_of<std::remove_reference_t<Range>, detail::is_word>::value,
                  "not a contiguous range of unsigned integers");
    return answers().and_bitmap(range);
  }
  template <class Range>
  answers &and_bitmap(Range &&range) noexcept(detail::is_nothrow_contiguous<Range>()) {
    bitmap_ = somewhere(std::data(range));
    bit_room_ = std::size(range) * sizeof(*std::data(range));
    return *this;
  }

  /// NULL for no answers of this form.
  std::uint8_t *bytes() const noexcept { return bytes_; }
  std::uint8_t *bits() const noexcept { return bitmap_; }

  /// Whether there is room for `count` answers.
  result<void> fit(std::size_t count) const noexcept {
    const std::size_t bitmap_bytes = count / 8 + (count % 8 != 0);
    if ((bytes_ == nullptr || byte_room_ >= count) && (bitmap_ == nullptr || bit_room_ >= bitmap_bytes)) return {};
    char text[PETAL_ERROR_MESSAGE_SIZE];
    const bool short_of_bytes = bytes_ != nullptr && byte_room_ < count;
    std::snprintf(text, sizeof text, "%zu answers need %zu bytes, and there is room for %zu", count,
                  short_of_bytes ? count : bitmap_bytes, short_of_bytes ? byte_room_ : bit_room_);
    return failure(status::buffer_too_small, text);
  }
  /// Makes the answers of `count` keys true, as many as there is room for.
  void fill(std::size_t count) const noexcept {
    const std::size_t bitmap_bytes = count / 8 + (count % 8 != 0);
    if (bytes_ != nullptr) std::memset(bytes_, 1, count < byte_room_ ? count : byte_room_);
    if (bitmap_ != nullptr) std::memset(bitmap_, 0xff, bitmap_bytes < bit_room_ ? bitmap_bytes : bit_room_);
  }

  /// Where the answers of a piece of a batch go, whose first key is number `from`: those of a bitmap, which may begin
  /// inside a byte, into `room`, one byte each, from which `pack()` takes them.
  answers part(std::size_t from, std::uint8_t *room) const noexcept {
    answers piece;
    if (bytes_ != nullptr) piece.bytes_ = bytes_ + from;
    if (bytes_ == nullptr && bitmap_ != nullptr) piece.bytes_ = room;
    return piece;
  }
  /// Puts the answers of such a piece into the bitmap, if there is one.
  void pack(const answers &piece, std::size_t from, std::size_t count) const noexcept {
    if (bitmap_ == nullptr) return;
    for (std::size_t i = 0; i < count; i++) {
      std::uint8_t &byte = bitmap_[(from + i) / 8];
      const auto bit = static_cast<unsigned>((from + i) % 8);
      byte = static_cast<std::uint8_t>((bit == 0 ? 0u : byte) | (unsigned{piece.bytes_[i]} << bit));
    }
  }

 private:
  /// The start of a range's bytes: some address even for an empty range, which may have none.
  template <class T>
  static std::uint8_t *somewhere(T *data) noexcept {
    static std::uint8_t none = 0;
    return data != nullptr ? reinterpret_cast<std::uint8_t *>(data) : &none;
  }

  std::uint8_t *bytes_ = nullptr;
  std::size_t byte_room_ = 0;
  std::uint8_t *bitmap_ = nullptr;
  std::size_t bit_room_ = 0;
};

namespace detail {

template <class Range, class = void>
struct iterator_of {
  using type = void;
};
/// Views may need to be changed to find where they begin, so a range is taken as it comes.
template <class Range>
struct iterator_of<Range, std::void_t<decltype(*std::begin(std::declval<Range &>())),
                                      decltype(std::end(std::declval<Range &>()))>> {
  using type = decltype(std::begin(std::declval<Range &>()));
};

/// Whether an iterator's range can be gone through twice.
template <class Iterator>
constexpr bool is_forward() noexcept {
#if __cpp_lib_ranges
  return std::forward_iterator<Iterator>;
#else
  return std::is_base_of_v<std::forward_iterator_tag, typename std::iterator_traits<Iterator>::iterator_category>;
#endif
}

/// Whether keys lie as the library takes them.
template <class Keys, class Range = std::remove_reference_t<Keys>>
using is_in_place = std::disjunction<is_one_of<std::remove_cv_t<Range>, petal::keys, key_buffer>,
                                     is_range_of<Range, is_u64>, is_range_of<Range, is_hash>>;

/// Whether this is a batch. If not, the compiler says why.
template <class Keys>
constexpr bool is_batch() noexcept {
  using iterator = typename iterator_of<std::remove_reference_t<Keys>>::type;
  if constexpr (is_in_place<Keys>::value) {
    return true;
  } else if constexpr (std::is_void_v<iterator>) {
    static_assert(never<Keys>, "not a batch: give a range of keys, key_range(first, last), petal::keys or a "
                               "key_buffer");
  } else if constexpr (is_byte<plain<decltype(*std::declval<iterator &>())>>::value) {
    static_assert(never<Keys>, "not a batch but one key: a range of bytes. Give many keys as a range of such keys, as "
                               "std::vector<std::string> is one");
  } else if constexpr (std::is_void_v<key_form<plain<decltype(*std::declval<iterator &>())>>>) {
    static_assert(never<Keys>, "not a batch: the elements of this range are not keys. Give their type a function "
                               "petal_key(const T &), as petal.hpp explains");
  } else if constexpr (!is_forward<iterator>()) {
    static_assert(never<Keys>, "not a batch: this range can be gone through only once, and it takes two passes. Copy "
                               "the keys into a std::vector first");
  } else {
    return true;
  }
}

template <class Range, class = void>
struct has_size : std::false_type {};
template <class Range>
struct has_size<Range, std::void_t<decltype(std::size(std::declval<Range &>()))>> : std::true_type {};

template <class Range, class = void>
struct has_begin : std::false_type {};
template <class Range>
struct has_begin<Range, std::void_t<decltype(std::declval<Range &>().begin())>> : std::true_type {};

/// Whether finding out where a range begins and ends, and how long it is, cannot throw.
template <class Range>
constexpr bool is_nothrow_range() noexcept {
  if constexpr (std::is_array_v<Range>) {
    return true;
  } else if constexpr (has_begin<Range>::value && has_size<Range>::value) {
    return noexcept(std::declval<Range &>().begin()) && noexcept(std::declval<Range &>().end()) &&
           noexcept(std::declval<Range &>().size());
  } else if constexpr (has_begin<Range>::value) {
    return noexcept(std::declval<Range &>().begin()) && noexcept(std::declval<Range &>().end());
  } else {
    return noexcept(std::begin(std::declval<Range &>())) && noexcept(std::end(std::declval<Range &>()));
  }
}

/// Whether going through a batch cannot throw.
template <class Keys>
constexpr bool is_nothrow_batch() noexcept {
  using range = std::remove_reference_t<Keys>;
  if constexpr (is_one_of<std::remove_cv_t<range>, petal::keys, key_buffer>::value) {
    return true;
  } else if constexpr (is_in_place<range>::value) {
    return is_nothrow_contiguous<range>();
  } else if constexpr (std::is_void_v<typename iterator_of<range>::type>) {
    return true;
  } else {
    using iterator = typename iterator_of<range>::type;
    using sentinel = decltype(std::end(std::declval<range &>()));
    return is_nothrow_range<range>() && noexcept(*std::declval<iterator &>()) &&
           noexcept(++std::declval<iterator &>()) &&
           noexcept(std::declval<iterator &>() != std::declval<const sentinel &>()) &&
           is_nothrow_key<plain<decltype(*std::declval<iterator &>())>>();
  }
}

/// Keys that lie as the library takes them.
template <class Keys>
petal::keys in_place(Keys &keys) noexcept(is_nothrow_batch<Keys>()) {
  if constexpr (std::is_same_v<std::remove_cv_t<Keys>, petal::keys>) {
    return keys;
  } else if constexpr (std::is_same_v<std::remove_cv_t<Keys>, key_buffer>) {
    return keys.keys();
  } else if constexpr (is_range_of<Keys, is_u64>::value) {
    return petal::keys::of_u64(reinterpret_cast<const std::uint64_t *>(std::data(keys)), std::size(keys));
  } else {
    // A hash64 is its one member, in the same place.
    return petal::keys::of_hashes(reinterpret_cast<const std::uint64_t *>(std::data(keys)), std::size(keys));
  }
}

/// Runs something where a scope ends, however it ends: a `petal_key` may throw.
template <class Run>
class at_end {
 public:
  explicit at_end(Run run) noexcept : run_(std::move(run)) {}
  at_end(const at_end &) = delete;
  at_end &operator=(const at_end &) = delete;
  ~at_end() { run_(); }

 private:
  Run run_;
};

/// How many keys a batch has.
template <class Keys>
std::size_t batch_size(Keys &&keys) noexcept(is_nothrow_batch<Keys>()) {
  if constexpr (is_in_place<Keys>::value) {
    return in_place(keys).size();
  } else if constexpr (is_batch<Keys>()) {
    if constexpr (has_size<std::remove_reference_t<Keys>>::value) {
      return static_cast<std::size_t>(std::size(keys));
    } else {
      std::size_t count = 0;
      const auto end = std::end(keys);
      for (auto key = std::begin(keys); key != end; ++key) count++;
      return count;
    }
  } else {
    return 0;
  }
}

/// What is copied at a time of keys that do not lie as the library takes them.
constexpr std::size_t piece_keys = 512, piece_bytes = 16384;

/// The pieces of a range of numbers or of hashes.
template <bool Hashes, class Keys, class Use>
petal_status number_pieces(Keys &keys, Use &&use) noexcept(is_nothrow_batch<Keys>()) {
  struct {
    std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
    std::uint64_t operator()(hash64 key) const noexcept { return key.value; }
  } const number{};
  std::uint64_t piece[piece_keys];
  std::size_t taken = 0, from = 0;
  const auto list = [&]() noexcept {
    return Hashes ? petal::keys::of_hashes(piece, taken) : petal::keys::of_u64(piece, taken);
  };
  const auto end = std::end(keys);
  for (auto key = std::begin(keys); key != end; ++key) {
    piece[taken++] = with_key(*key, number);
    if (taken < piece_keys) continue;
    if (const petal_status code = use(list(), from); code != PETAL_OK) return code;
    from += taken;
    taken = 0;
  }
  // The loop makes one call even without keys, so that the library can refuse a wrong filter.
  return taken > 0 || from == 0 ? use(list(), from) : PETAL_OK;
}

/// The pieces of a range of byte keys.
template <class Keys, class Use>
petal_status byte_pieces(Keys &keys, Use &&use) noexcept(is_nothrow_batch<Keys>()) {
  char piece[piece_bytes];
  std::uint64_t offsets[piece_keys + 1];
  offsets[0] = 0;
  std::size_t length = 0, taken = 0, from = 0;
  petal_status code = PETAL_OK;
  const auto flush = [&]() noexcept {
    code = use(petal::keys::of_bytes(piece, length, offsets, taken), from);
    from += taken;
    taken = length = 0;
  };
  const auto take = [&](bytes key) noexcept {
    const bool is_alone = key.size() > piece_bytes || key.is_nowhere();
    if (taken > 0 && (is_alone || key.size() > piece_bytes - length)) flush();
    if (code != PETAL_OK) return;
    if (is_alone) {
      // The key is passed where it lies; the library refuses a null pointer.
      const std::uint64_t ends[] = {0, key.size()};
      code = use(petal::keys::of_bytes(key.data(), key.size(), ends, 1), from);
      from++;
      return;
    }
    if (key.size() > 0) std::memcpy(piece + length, key.data(), key.size());
    length += key.size();
    offsets[++taken] = length;
    if (taken == piece_keys) flush();
  };
  const auto end = std::end(keys);
  for (auto key = std::begin(keys); key != end && code == PETAL_OK; ++key) with_key(*key, take);
  if (code == PETAL_OK && (taken > 0 || from == 0)) flush();
  return code;
}

/// Calls `use(list, from)` with the keys as `petal::keys`: with all of them in one call where they lie so, and
/// otherwise with a piece at a time, whose first key is number `from`, until one call fails.
template <class Keys, class Use>
petal_status in_pieces(Keys &&keys, Use &&use) noexcept(is_nothrow_batch<Keys>()) {
  if constexpr (is_in_place<Keys>::value) {
    return use(in_place(keys), std::size_t{0});
  } else if constexpr (is_batch<Keys>()) {
    using key = key_form<plain<decltype(*std::begin(keys))>>;
    if constexpr (std::is_same_v<key, bytes>) {
      return byte_pieces(keys, use);
    } else {
      return number_pieces<std::is_same_v<key, hash64>>(keys, use);
    }
  } else {
    return PETAL_OK;
  }
}

/// How far a batch came: how many answers are true, and how many keys were taken.
struct progress {
  std::uint64_t true_count = 0;
  std::size_t done = 0;
};

/// Gives a batch to `call(keys, answers)`, a batch function of the C API, in pieces. Answers go where `out` says, or,
/// if that is NULL, are not asked for.
template <class Keys, class Call>
petal_status take(Keys &&keys, const answers *out, progress &came,
                  Call &&call) noexcept(is_nothrow_batch<Keys>()) {
  return in_pieces(keys, [&](const petal::keys &list, std::size_t from) noexcept {
    if (out == nullptr) {
      const petal_status code = call(list.get(), nullptr);
      if (code == PETAL_OK) came.done += list.size();
      return code;
    }
    std::uint8_t room[is_in_place<Keys>::value ? 1 : piece_keys];
    const answers piece = is_in_place<Keys>::value ? *out : out->part(from, room);
    auto to = sized<petal_answers>();
    to.bytes = piece.bytes();
    to.bitmap = piece.bits();
    const petal_status code = call(list.get(), &to);
    if (!is_in_place<Keys>::value && code == PETAL_OK) out->pack(piece, from, list.size());
    came.true_count += to.true_count;
    came.done += to.done;
    return code;
  });
}

/// No keys, of the form that a key has.
inline petal::keys none_like(bytes) noexcept {
  static constexpr std::uint64_t zero = 0;
  return petal::keys::of_bytes(nullptr, 0, &zero, 0);
}
inline petal::keys none_like(std::uint64_t) noexcept { return petal::keys::of_u64(nullptr, 0); }
inline petal::keys none_like(hash64) noexcept { return petal::keys::of_hashes(nullptr, 0); }

/// Why a call for one key failed, which gives only a status: what its batch function says when it is given no keys,
/// which changes nothing. If that works, the kind can do it and the handle cannot.
template <class Handle, class Batch>
failure why(petal_status code, Handle *handle, Batch *batch, const petal::keys &none) noexcept {
  failure error;
  std::uint64_t room = 0;
  auto to = sized<petal_answers>();
  petal_status again = PETAL_OK;
  if constexpr (std::is_invocable_v<Batch *, Handle *, const petal_keys *, petal_answers *, petal_error *>) {
    to.counts = std::is_same_v<Batch, decltype(petal_filter_count_batch)> ? &room : nullptr;
    to.values = std::is_same_v<Batch, decltype(petal_map_get_batch)> ? &room : nullptr;
    again = batch(handle, none.get(), &to, error.out());
  } else if constexpr (std::is_invocable_v<Batch *, Handle *, const petal_keys *, const double *, petal_answers *,
                                           petal_error *>) {
    again = batch(handle, none.get(), nullptr, &to, error.out());
  } else {
    again = batch(handle, none.get(), &room, &to, error.out());
  }
  if (again == code) return error.settle(code);
  if (again == PETAL_OK && code == PETAL_ERR_UNSUPPORTED_BY_HANDLE) {
    return failure(status::unsupported_by_handle,
                   "the image is open for reading or to be shared: to change it, open it for writing (mode write), or "
                   "load a copy (mode load)");
  }
  return failure(static_cast<status>(code));
}

/// Calls a verb for one key, which writes a T, or nothing if T is void. On a failure asks the batch function why.
template <class T, class Key, class Handle, class Batch, class Verb, class... Rest>
result<T> for_key(const Key &key, Handle *handle, Batch *batch, const Verb &verb,
                  Rest... rest) noexcept(is_nothrow_key<Key>()) {
  return with_key(key, [&](auto one) noexcept -> result<T> {
    if constexpr (std::is_void_v<T>) {
      const petal_status code = verb(handle, one, rest...);
      if (code != PETAL_OK) return why(code, handle, batch, none_like(one));
      return {};
    } else {
      T value{};
      const petal_status code = verb(handle, one, rest..., &value);
      if (code != PETAL_OK) return why(code, handle, batch, none_like(one));
      return value;
    }
  });
}

#if PETAL_HPP_EXCEPTIONS
template <class Key, class Handle, class Batch>
void check_one(petal_status code, Handle *handle, Batch *batch) {
  if (code != PETAL_OK) throw error(why(code, handle, batch, none_like(key_form<Key>{})));
}
#endif

/// Gives or takes keys by a C function that has no answers. `done`, nullable, becomes the number of keys, from the
/// first on, that were taken.
template <class Handle, class Keys>
result<void> give(Handle *handle, petal_status (*call)(Handle *, const petal_keys *, petal_answers *, petal_error *),
                  Keys &&keys, std::size_t *done) noexcept(is_nothrow_batch<Keys>()) {
  failure error;
  std::size_t all = 0;
  const at_end tell([&]() noexcept {
    if (done != nullptr) *done = all;
  });
  const petal_status code = in_pieces(keys, [&](const petal::keys &list, std::size_t) noexcept {
    auto to = sized<petal_answers>();
    const petal_status of_piece = call(handle, list.get(), &to, error.out());
    all += to.done;
    return of_piece;
  });
  return detail::done(code, std::move(error));
}

/// Gives keys values, or takes as many of each as its value says, by one of the C functions that do. `answers`,
/// nullable, has room for all of them: 1 for a key for which the function says true, otherwise 0. `done` becomes how
/// many keys were taken, from the first on. Returns for how many keys the function said true.
template <class Handle, class Keys>
result<std::size_t> give_values(Handle *handle,
                                petal_status (*give)(Handle *, const petal_keys *, const std::uint64_t *,
                                    petal_answers *,
                                                     petal_error *),
                                Keys &&keys, const std::uint64_t *values, std::uint8_t *answers,
                                std::size_t *done) noexcept(is_nothrow_batch<Keys>()) {
  failure error;
  std::size_t all = 0, is_true = 0;
  const at_end tell([&]() noexcept {
    if (done != nullptr) *done = all;
  });
  const petal_status code = in_pieces(keys, [&](const petal::keys &list, std::size_t from) noexcept {
    auto to = sized<petal_answers>();
    to.bytes = answers != nullptr ? answers + from : nullptr;
    const std::uint64_t *own = values != nullptr ? values + from : nullptr;
    const petal_status of_piece = give(handle, list.get(), own, &to, error.out());
    all += to.done;
    is_true += static_cast<std::size_t>(to.true_count);
    return of_piece;
  });
  if (code != PETAL_OK) return error.settle(code);
  return is_true;
}

}  // namespace detail

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_BATCHES
