// Keys of every type in the three forms that the C API takes, and the calls of one key. Part of petal.hpp.
#ifndef PETAL_HPP_KEYS
#define PETAL_HPP_KEYS

#include "errors.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// The 64-bit hash of a key, as `filter::hash()` or `spec::hash()` made it, or yours for `PETAL_HASH_EXTERNAL`.
struct hash64 {
  std::uint64_t value;
  friend bool operator==(hash64 a, hash64 b) noexcept { return a.value == b.value; }
  friend bool operator!=(hash64 a, hash64 b) noexcept { return a.value != b.value; }
};
static_assert(sizeof(hash64) == sizeof(std::uint64_t) && std::is_standard_layout_v<hash64>);

/// Bytes in memory of somebody else.
class bytes {
 public:
  constexpr bytes() noexcept = default;
  bytes(const void *data, std::size_t size) noexcept : data_(static_cast<const std::byte *>(data)), size_(size) {}
  const std::byte *data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  const std::byte *begin() const noexcept { return data_; }
  const std::byte *end() const noexcept { return data_ + size_; }
  /// Whether the pointer is NULL although there should be bytes: no key, which the library refuses.
  bool is_nowhere() const noexcept { return data_ == nullptr && size_ > 0; }
  /// The bytes as characters; nothing is copied.
  std::string_view text() const noexcept { return {reinterpret_cast<const char *>(data_), size_}; }

 private:
  const std::byte *data_ = nullptr;
  std::size_t size_ = 0;
};

/// A name or a path: whatever is, or has as its c_str(), characters that end with a NUL. On Windows a name is UTF-8.
/// There a `std::filesystem::path`, which has wide characters, is turned into UTF-8.
class c_string {
 public:
  c_string(const char *text) noexcept : text_(text) {}
  template <class Text,
            class = std::enable_if_t<std::is_same_v<decltype(std::declval<const Text &>().c_str()), const char *>>>
  c_string(const Text &text) noexcept(noexcept(text.c_str())) : text_(text.c_str()) {}
#ifdef _WIN32
  template <class Path, class = decltype(std::declval<const Path &>().u8string()), class = Path>
  c_string(const Path &path) : text_(nullptr), is_path_(true) {
    for (const auto byte : path.u8string()) path_.push_back(static_cast<char>(byte));
  }
  const char *get() const noexcept { return is_path_ ? path_.c_str() : text_; }
#else
  const char *get() const noexcept { return text_; }
#endif

 private:
  const char *text_;
#ifdef _WIN32
  bool is_path_ = false;
  std::string path_;
#endif
};

namespace detail {

template <class>
inline constexpr bool never = false;

template <class Range>
using element = std::remove_pointer_t<decltype(std::data(std::declval<Range &>()))>;

/// Whether std::data and std::size apply, and `Wanted` is true of the elements' type.
template <class Range, template <class> class Wanted, class = void>
struct is_range_of : std::false_type {};
template <class Range, template <class> class Wanted>
struct is_range_of<Range, Wanted, std::void_t<element<Range>, decltype(std::size(std::declval<Range &>()))>>
    : Wanted<element<Range>> {};

template <class T, class... Others>
using is_one_of = std::disjunction<std::is_same<T, Others>...>;

/// A character of text in bytes. C++20's `char8_t` stands for its byte, as `char` does.
template <class T>
using is_character = is_one_of<std::remove_cv_t<T>, char
#ifdef __cpp_char8_t
                               , char8_t
#endif
                               >;
template <class T>
using is_byte =
    std::disjunction<is_character<T>, is_one_of<std::remove_cv_t<T>, std::byte, unsigned char, signed char>>;
template <class T>
using is_integer = std::conjunction<
    std::is_integral<T>, std::bool_constant<sizeof(T) <= sizeof(std::uint64_t)>,
    std::negation<is_one_of<T, bool, char, wchar_t, char16_t, char32_t
#ifdef __cpp_char8_t
                            , char8_t
#endif
                            >>>;
// 64-bit integers of either sign have the same bytes, and may stand for each other.
template <class T>
using is_u64 = std::conjunction<is_integer<std::remove_cv_t<T>>,
                                is_one_of<std::remove_cv_t<T>, std::uint64_t, std::int64_t>>;
template <class T>
using is_hash = std::is_same<std::remove_cv_t<T>, hash64>;
template <class T>
using is_answer = is_one_of<T, bool, std::uint8_t>;
template <class T>
using is_word = std::conjunction<std::is_unsigned<T>, std::negation<std::is_const<T>>,
                                 std::negation<std::is_same<T, bool>>>;

template <class T, class = void>
struct has_petal_key : std::false_type {};
template <class T>
struct has_petal_key<T, std::void_t<decltype(petal_key(std::declval<const T &>()))>> : std::true_type {};

template <class T, class = void>
struct has_data : std::false_type {};
template <class T>
struct has_data<T, std::void_t<decltype(std::declval<T &>().data())>> : std::true_type {};

/// Whether std::data and std::size of a contiguous range cannot throw.
template <class Range>
constexpr bool is_nothrow_contiguous() noexcept {
  using range = std::remove_reference_t<Range>;
  if constexpr (std::is_array_v<range>) {
    return true;
  } else if constexpr (has_data<range>::value) {
    return noexcept(std::declval<range &>().data()) && noexcept(std::declval<range &>().size());
  } else {
    return noexcept(std::data(std::declval<range &>())) && noexcept(std::size(std::declval<range &>()));
  }
}

template <class Key>
using is_text = std::is_convertible<const Key &, std::string_view>;
/// Characters in an array, such as a literal: up to the first NUL, or all where there is none.
template <class Key>
using is_char_array = std::conjunction<std::is_array<Key>, is_character<std::remove_extent_t<Key>>>;
/// Characters that end with a NUL.
template <class Key>
using is_char_pointer = std::conjunction<std::is_pointer<Key>, is_character<std::remove_pointer_t<Key>>>;

/// Whether naming the key cannot throw: everything but a `petal_key`, and a conversion of a type of yours, that may.
template <class Key>
constexpr bool is_nothrow_key() noexcept {
  if constexpr (has_petal_key<Key>::value) {
    using Result = decltype(petal_key(std::declval<const Key &>()));
    return noexcept(petal_key(std::declval<const Key &>())) &&
           is_nothrow_key<std::remove_cv_t<std::remove_reference_t<Result>>>();
  } else if constexpr (is_one_of<Key, hash64, bytes>::value || is_integer<Key>::value || is_char_array<Key>::value ||
                       is_char_pointer<Key>::value || std::is_null_pointer_v<Key>) {
    return true;
  } else if constexpr (is_text<Key>::value) {
    return noexcept(std::string_view(std::declval<const Key &>()));
  } else if constexpr (is_range_of<const Key, is_byte>::value) {
    return is_nothrow_contiguous<const Key>();
  } else {
    return true;
  }
}

template <class T>
using plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T>
struct form {
  using type = T;
};

template <class Key>
constexpr auto form_of() noexcept {
  if constexpr (has_petal_key<Key>::value) {
    return form_of<plain<decltype(petal_key(std::declval<const Key &>()))>>();
  } else if constexpr (is_one_of<Key, hash64, bytes>::value) {
    return form<Key>{};
  } else if constexpr (is_integer<Key>::value) {
    return form<std::uint64_t>{};
  } else if constexpr (std::is_null_pointer_v<Key>) {
    return form<void>{};
  } else if constexpr (is_text<Key>::value || is_char_pointer<Key>::value || is_range_of<const Key, is_byte>::value) {
    return form<bytes>{};
  } else {
    return form<void>{};
  }
}
/// What a type is as a key: `bytes`, `uint64_t` or `hash64`; or void, if it is none.
template <class Key>
using key_form = typename decltype(form_of<Key>())::type;

/// Whether naming the key and using it cannot throw.
template <class Key, class Use>
constexpr bool is_nothrow_use() noexcept {
  if constexpr (std::is_void_v<key_form<Key>>) {
    return true;
  } else {
    return is_nothrow_key<Key>() && noexcept(std::declval<Use &>()(std::declval<key_form<Key>>()));
  }
}

/// Calls `use` with the key as its `key_form`, which is valid until it returns.
template <class Key, class Use>
decltype(auto) with_key(const Key &key, Use &&use) noexcept(is_nothrow_use<Key, Use>()) {
  if constexpr (has_petal_key<Key>::value) {
    return with_key(petal_key(key), std::forward<Use>(use));
  } else if constexpr (is_one_of<Key, hash64, bytes>::value) {
    return use(key);
  } else if constexpr (is_integer<Key>::value) {
    return use(static_cast<std::uint64_t>(key));
  } else if constexpr (is_char_array<Key>::value) {
    const void *const nul = std::memchr(key, 0, sizeof key);
    const auto *const end = static_cast<const std::remove_extent_t<Key> *>(nul);
    return use(bytes(key, nul == nullptr ? sizeof key : static_cast<std::size_t>(end - key)));
  } else if constexpr (is_char_pointer<Key>::value) {
    // The library refuses a null pointer.
    const void *const first = key;
    return use(first == nullptr ? bytes(nullptr, 1) : bytes(first, std::strlen(static_cast<const char *>(first))));
  } else if constexpr (is_text<Key>::value && !std::is_null_pointer_v<Key>) {
    const std::string_view text = key;
    return use(bytes(text.data(), text.size()));
  } else if constexpr (is_range_of<const Key, is_byte>::value) {
    return use(bytes(std::data(key), std::size(key)));
  } else {
    static_assert(never<Key>, "not a key: give the type a function petal_key(const T &), as petal.hpp explains");
  }
}

/// A verb of the C API for one key, with a function for each form of keys. Where C has none for numbers, `Number` is
/// nullptr, and a number is its eight bytes.
template <auto Bytes, auto Number, auto Hash>
struct verb {
  template <class Handle, class... Rest>
  auto operator()(Handle *handle, bytes key, Rest... rest) const noexcept {
    return Bytes(handle, key.data(), key.size(), rest...);
  }
  template <class Handle, class... Rest>
  auto operator()(Handle *handle, std::uint64_t key, Rest... rest) const noexcept {
    if constexpr (std::is_null_pointer_v<decltype(Number)>) {
      return Bytes(handle, &key, sizeof key, rest...);
    } else {
      return Number(handle, key, rest...);
    }
  }
  template <class Handle, class... Rest>
  auto operator()(Handle *handle, hash64 key, Rest... rest) const noexcept {
    return Hash(handle, key.value, rest...);
  }
};

inline constexpr verb<petal_filter_contains, petal_filter_contains_u64, petal_filter_contains_hash> contains;
inline constexpr verb<petal_filter_contains_checked, petal_filter_contains_checked_u64,
                      petal_filter_contains_checked_hash> contains_checked;
inline constexpr verb<petal_filter_insert, petal_filter_insert_u64, petal_filter_insert_hash> insert;
inline constexpr verb<petal_filter_remove, petal_filter_remove_u64, petal_filter_remove_hash> remove;
inline constexpr verb<petal_filter_rejuvenate, nullptr, petal_filter_rejuvenate_hash> rejuvenate;
inline constexpr verb<petal_filter_insert_times, nullptr, petal_filter_insert_times_hash> insert_times;
inline constexpr verb<petal_filter_remove_times, nullptr, petal_filter_remove_times_hash> remove_times;
inline constexpr verb<petal_filter_count, petal_filter_count_u64, petal_filter_count_hash> count_one;
inline constexpr verb<petal_filter_insert_shared, petal_filter_insert_shared_u64, petal_filter_insert_shared_hash>
    insert_shared;
inline constexpr verb<petal_builder_add, petal_builder_add_u64, petal_builder_add_hash> add;
inline constexpr verb<petal_builder_add_times, nullptr, petal_builder_add_times_hash> add_times;
inline constexpr verb<petal_builder_exclude, nullptr, petal_builder_exclude_hash> exclude;
inline constexpr verb<petal_builder_add_frequent, nullptr, petal_builder_add_frequent_hash> add_frequent;

inline petal_status hash(const petal_filter *filter, bytes key, std::uint64_t *out) noexcept {
  return petal_filter_hash(filter, key.data(), key.size(), out);
}
inline petal_status hash(const petal_filter *filter, std::uint64_t key, std::uint64_t *out) noexcept {
  return petal_filter_hash(filter, &key, sizeof key, out);
}
inline petal_status hash(const petal_spec *spec, bytes key, std::uint64_t *out, petal_error *error) noexcept {
  return petal_spec_hash(spec, key.data(), key.size(), out, error);
}
inline petal_status hash(const petal_spec *spec, std::uint64_t key, std::uint64_t *out, petal_error *error) noexcept {
  return petal_spec_hash(spec, &key, sizeof key, out, error);
}

}  // namespace detail

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_KEYS
