/*
 * Petal in C++17: Bloom filters and other approximate-membership structures.
 *
 *     petal::filter seen(1'000'000, 0.01);
 *     seen.insert("apple");
 *     if (seen.contains("apple")) std::puts("maybe");
 *     seen.save("seen.petal");
 *
 * A thin layer over petal.h, which is the manual: what it says of kinds, parameters, files and threads holds here. This
 * header adds lifetime, errors and idiom. petal_view.hpp, beside it, has lookups that are compiled into the program.
 *
 * Lifetime. `petal::filter` and `petal::builder` own a handle and can be moved, not copied (`filter::copy()` says what
 * it does). One that was moved from, or default-constructed, holds none: it converts to false, lookups say true, and
 * all else fails with `status::null`. Assign to it, or let it go.
 *
 * Errors. `name()` throws `petal::error` where making, changing or I/O fails; `try_name()` is the same operation,
 * `noexcept`, and returns a `petal::result`. Lookups never throw: as in C, a failure of any kind answers true, and
 * `try_contains()` says what it was. With -fno-exceptions, only the `noexcept` forms exist; -fno-rtti is fine.
 * Where an operation returns a standard container, running out of memory is `status::out_of_memory`; without exceptions
 * it ends the program, as it does for the container itself.
 *
 * Keys. `contains(key)`, `insert(key)` and `add(key)` take
 *   - what converts to `std::string_view`: its characters, without the NUL after them;
 *   - a contiguous range of bytes (`std::span<const std::byte>`, `std::vector<unsigned char>`, an array ...), or a
 *     pointer and a size: these bytes;
 *   - an integer of up to 64 bits: extended to 64, signed ones by their sign. So `5`, `short{5}` and `5ull` are one
 *     key, and -1 is the key 2^64 - 1 whatever its type; but `std::uint32_t(-1)` is the key 2^32 - 1;
 *   - a `petal::hash64`: a hash that was computed before;
 *   - any type for which a function `petal_key(const T &)`, found in the type's own namespace, returns one of these:
 *
 *         namespace shop {
 *         struct item { std::uint64_t id; std::string name; };
 *         inline std::uint64_t petal_key(const item &i) noexcept { return i.id; }
 *         }
 *
 *     What it returns may be a temporary. Where it returns a `petal::hash64`, the hash is yours; the filter's spec then
 *     says `hash_function(PETAL_HASH_EXTERNAL)`. If it can throw, so can the functions that call it.
 *
 * Batches. `contains_batch(keys)`, `insert_batch(keys)` and `add_batch(keys)` take any range of keys, of all the types
 * above, that can be gone through twice: `std::vector<int>`, `std::set<std::string>`, a C++20 view ...; and
 * `key_range(first, last)`. What lies in memory as the library takes it is used where it lies: contiguous
 * `std::uint64_t`, `std::int64_t` or `hash64`, `as_hashes(range)`, a `key_buffer`, `u64_keys`, `hash_keys` and
 * `byte_keys`. Other keys are copied, up to 512 keys and 16 KiB at a time, onto the stack; one that is longer is not
 * copied. Where the same strings go into many calls, copy them once into a `key_buffer`.
 *
 * Threads. `const` members may run in many threads at once on one object; the others need it to themselves.
 */
#ifndef PETAL_HPP
#define PETAL_HPP

// Microsoft's compiler says which standard it follows in a macro of its own.
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "petal.hpp needs C++17 or newer: compile with -std=c++17, or link the CMake target petal::cpp, which asks for it"
#else

#include <petal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define PETAL_HPP_EXCEPTIONS 1
#else
#define PETAL_HPP_EXCEPTIONS 0
#endif

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
// Files with and without exceptions may meet in one program; the linker must not take one's code for the other's.
inline namespace without_exceptions {
#endif

// --- Errors ----------------------------------------------------------------------------------------------------------

/// What a call came to: the `PETAL_ERR_*` of petal.h. Converts to `std::error_code`.
enum class status : petal_status {
  ok = PETAL_OK,
  internal = PETAL_ERR_INTERNAL,
  null = PETAL_ERR_NULL,
  struct_size = PETAL_ERR_STRUCT_SIZE,
  unknown_value = PETAL_ERR_UNKNOWN_VALUE,
  out_of_range = PETAL_ERR_OUT_OF_RANGE,
  false_positive_rate = PETAL_ERR_FALSE_POSITIVE_RATE,
  contradiction = PETAL_ERR_CONTRADICTION,
  too_large = PETAL_ERR_TOO_LARGE,
  out_of_memory = PETAL_ERR_OUT_OF_MEMORY,
  offsets = PETAL_ERR_OFFSETS,
  buffer_too_small = PETAL_ERR_BUFFER_TOO_SMALL,
  misaligned = PETAL_ERR_MISALIGNED,
  unsupported = PETAL_ERR_UNSUPPORTED,
  incompatible = PETAL_ERR_INCOMPATIBLE,
  external_hash = PETAL_ERR_EXTERNAL_HASH,
  key_missing = PETAL_ERR_KEY_MISSING,
  key_mismatch = PETAL_ERR_KEY_MISMATCH,
  foreign = PETAL_ERR_FOREIGN,
  truncated = PETAL_ERR_TRUNCATED,
  corrupt = PETAL_ERR_CORRUPT,
  newer_version = PETAL_ERR_NEWER_VERSION,
  dirty = PETAL_ERR_DIRTY,
  io = PETAL_ERR_IO,
  not_found = PETAL_ERR_NOT_FOUND,
  access_denied = PETAL_ERR_ACCESS_DENIED,
  no_space = PETAL_ERR_NO_SPACE,
  locked = PETAL_ERR_LOCKED,
  mapped_path = PETAL_ERR_MAPPED_PATH,
  cancelled = PETAL_ERR_CANCELLED,
  callback = PETAL_ERR_CALLBACK,
  full = PETAL_ERR_FULL,
};

namespace detail {

class error_category final : public std::error_category {
 public:
  const char *name() const noexcept override { return "petal"; }
  std::string message(int code) const override { return petal_status_message(code); }

  // What has the same meaning for every library, so that `code == std::errc::no_such_file_or_directory` works.
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<status>(code)) {
      case status::null:
      case status::struct_size:
      case status::unknown_value:
      case status::out_of_range:
      case status::false_positive_rate:
      case status::contradiction:
      case status::offsets:
      case status::misaligned: return std::errc::invalid_argument;
      case status::out_of_memory: return std::errc::not_enough_memory;
      case status::buffer_too_small: return std::errc::no_buffer_space;
      case status::unsupported: return std::errc::operation_not_supported;
      case status::io: return std::errc::io_error;
      case status::not_found: return std::errc::no_such_file_or_directory;
      case status::access_denied: return std::errc::permission_denied;
      case status::no_space: return std::errc::no_space_on_device;
      case status::locked: return std::errc::device_or_resource_busy;
      case status::cancelled: return std::errc::operation_canceled;
      default: return {code, *this};
    }
  }
};

}  // namespace detail

/// The category of Petal's error codes.
inline const std::error_category &category() noexcept {
  static const detail::error_category only;
  return only;
}

/// How `petal::status` becomes a `std::error_code`.
inline std::error_code make_error_code(status code) noexcept { return {static_cast<int>(code), category()}; }

/// What went wrong: a status, and the library's sentence about it. Holds no memory of its own.
class failure {
 public:
  failure() noexcept { error_.struct_size = sizeof error_; }
  /// A failure with the text of its status.
  explicit failure(petal::status code) noexcept : failure() { settle(static_cast<petal_status>(code)); }
  /// A failure with a text, of which what is longer than `PETAL_ERROR_MESSAGE_SIZE` is cut off.
  failure(petal::status code, const char *text) noexcept : failure() {
    error_.status = static_cast<petal_status>(code);
    std::snprintf(error_.message, sizeof error_.message, "%s", text);
  }

  petal::status status() const noexcept { return static_cast<petal::status>(error_.status); }
  std::error_code code() const noexcept { return make_error_code(status()); }
  /// errno, or 0.
  int os_error() const noexcept { return error_.os_error; }
  /// Names the parameter, its value and what is allowed. Lives as long as this.
  const char *message() const noexcept { return error_.message; }

  /// For calls of the C API: give it `out()`, then settle for the status that came.
  petal_error *out() noexcept { return &error_; }
  failure &settle(petal_status code) noexcept {
    if (error_.status != code || error_.message[0] == '\0') {
      error_.status = code;
      std::snprintf(error_.message, sizeof error_.message, "%s", petal_status_message(code));
    }
    return *this;
  }

 private:
  petal_error error_{};
};

#if PETAL_HPP_EXCEPTIONS
/// What is thrown. `code()` compares with `petal::status` and, where they mean the same, with `std::errc`.
class error : public std::system_error {
 public:
  explicit error(const failure &what) : std::system_error(what.code()), failure_(what) {}

  /// The library's message.
  const char *what() const noexcept override { return failure_.message(); }
  petal::status status() const noexcept { return failure_.status(); }
  /// errno, or 0.
  int os_error() const noexcept { return failure_.os_error(); }

 private:
  failure failure_;
};
#endif

/// A value, or the failure that came instead. Like C++23's `std::expected`.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) noexcept : state_(std::in_place_index<0>, std::move(value)) {}
  result(const failure &error) noexcept : state_(std::in_place_index<1>, error) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value, which must be there.
  T &operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T &operator*() const & noexcept { return *std::get_if<0>(&state_); }
  T &&operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T *operator->() noexcept { return std::get_if<0>(&state_); }
  const T *operator->() const noexcept { return std::get_if<0>(&state_); }
  /// The value, or another one.
  T value_or(T other) && noexcept { return has_value() ? std::move(**this) : std::move(other); }
  T value_or(T other) const & noexcept { return has_value() ? **this : std::move(other); }

  /// What went wrong; `status::ok` and no text if nothing did.
  failure error() const noexcept { return has_value() ? failure() : *std::get_if<1>(&state_); }
  petal::status status() const noexcept { return has_value() ? petal::status::ok : std::get_if<1>(&state_)->status(); }

#if PETAL_HPP_EXCEPTIONS
  /// The value; throws the failure as a `petal::error`.
  T value() && {
    check();
    return std::move(**this);
  }
  const T &value() const & {
    check();
    return **this;
  }
#endif

 private:
#if PETAL_HPP_EXCEPTIONS
  void check() const {
    if (!has_value()) throw petal::error(*std::get_if<1>(&state_));
  }
#endif

  std::variant<T, failure> state_;
};

/// Success, or a failure.
template <>
class [[nodiscard]] result<void> {
 public:
  result() noexcept = default;
  result(const failure &error) noexcept : state_(std::in_place_index<1>, error) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  failure error() const noexcept { return has_value() ? failure() : *std::get_if<1>(&state_); }
  petal::status status() const noexcept { return has_value() ? petal::status::ok : std::get_if<1>(&state_)->status(); }

#if PETAL_HPP_EXCEPTIONS
  void value() const {
    if (!has_value()) throw petal::error(*std::get_if<1>(&state_));
  }
#endif

 private:
  std::variant<std::monostate, failure> state_;
};

namespace detail {

/// A struct of the C API: all zeros but its size.
template <class T>
T sized() noexcept {
  T value{};
  value.struct_size = sizeof value;
  return value;
}

inline result<void> done(petal_status code, failure &&error = failure()) noexcept {
  if (code != PETAL_OK) return error.settle(code);
  return {};
}

/// `done(value, code, error)`: the value that a call with an output wrote.
template <class T>
result<T> done(T &value, petal_status code, failure &&error) noexcept {
  if (code != PETAL_OK) return error.settle(code);
  return std::move(value);
}

/// Calls a C function that writes a T and takes no error.
template <class T, class Call>
result<T> output(Call &&call) noexcept {
  T value{};
  const petal_status code = call(&value);
  if (code != PETAL_OK) return failure(static_cast<status>(code));
  return value;
}

/// Calls a C function that writes a T, `value` before, and fills an error.
template <class T, class Call>
result<T> output(T value, Call &&call) noexcept {
  failure error;
  const petal_status code = call(&value, error.out());
  return done(value, code, std::move(error));
}

/// Runs what allocates in standard containers.
template <class Run>
result<void> allocating(Run &&run) noexcept {
#if PETAL_HPP_EXCEPTIONS
  try {
    run();
  } catch (const std::exception &) {
    return failure(status::out_of_memory);
  }
#else
  run();
#endif
  return {};
}

/// Keeps what a callback throws away from the library, through which it must not pass, and throws it behind it.
class barrier {
 public:
  template <class Run>
  bool run(Run &&run) noexcept {
#if PETAL_HPP_EXCEPTIONS
    try {
      return run();
    } catch (...) {
      thrown_ = std::current_exception();
      return false;
    }
#else
    return run();
#endif
  }

#if PETAL_HPP_EXCEPTIONS
  void forget() noexcept { thrown_ = nullptr; }
  void rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  std::exception_ptr thrown_;
#else
  void forget() noexcept {}
#endif
};

#if PETAL_HPP_EXCEPTIONS
inline void check(petal_status code) {
  if (code != PETAL_OK) throw error(failure(static_cast<status>(code)));
}
#endif

}  // namespace detail

// --- Keys ------------------------------------------------------------------------------------------------------------

/// The 64-bit hash of a key, as `filter::hash()` or `spec::hash()` made it, or yours for `PETAL_HASH_EXTERNAL`.
struct hash64 {
  std::uint64_t value;
  friend bool operator==(hash64 a, hash64 b) noexcept { return a.value == b.value; }
  friend bool operator!=(hash64 a, hash64 b) noexcept { return a.value != b.value; }
};
static_assert(sizeof(hash64) == sizeof(std::uint64_t) && std::is_standard_layout_v<hash64>);

/// Bytes that lie elsewhere.
class bytes {
 public:
  constexpr bytes() noexcept = default;
  bytes(const void *data, std::size_t size) noexcept : data_(static_cast<const std::byte *>(data)), size_(size) {}
  const std::byte *data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  const std::byte *begin() const noexcept { return data_; }
  const std::byte *end() const noexcept { return data_ + size_; }
  /// The bytes as characters; nothing is copied.
  std::string_view text() const noexcept { return {reinterpret_cast<const char *>(data_), size_}; }

 private:
  const std::byte *data_ = nullptr;
  std::size_t size_ = 0;
};

/// A name or a path: whatever is, or has as its c_str(), characters that end with a NUL.
class c_string {
 public:
  c_string(const char *text) noexcept : text_(text) {}
  template <class Text,
            class = std::enable_if_t<std::is_same_v<decltype(std::declval<const Text &>().c_str()), const char *>>>
  c_string(const Text &text) noexcept : text_(text.c_str()) {}
  const char *get() const noexcept { return text_; }

 private:
  const char *text_;
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

template <class T>
using is_byte = is_one_of<std::remove_cv_t<T>, std::byte, unsigned char, signed char, char>;
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

/// Whether naming the key cannot throw: everything but a `petal_key` that may.
template <class Key>
constexpr bool is_nothrow_key() noexcept {
  if constexpr (has_petal_key<Key>::value) {
    using Result = decltype(petal_key(std::declval<const Key &>()));
    return noexcept(petal_key(std::declval<const Key &>())) &&
           is_nothrow_key<std::remove_cv_t<std::remove_reference_t<Result>>>();
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
  } else if constexpr (std::is_convertible_v<const Key &, std::string_view> || is_range_of<const Key, is_byte>::value) {
    return form<bytes>{};
  } else {
    return form<void>{};
  }
}
/// What a type is as a key: `bytes`, `uint64_t` or `hash64`; or void, if it is none.
template <class Key>
using key_form = typename decltype(form_of<Key>())::type;

/// Calls `use` with the key as its `key_form`, which is valid until it returns.
template <class Key, class Use>
decltype(auto) with_key(const Key &key, Use &&use) noexcept(is_nothrow_key<Key>()) {
  if constexpr (has_petal_key<Key>::value) {
    return with_key(petal_key(key), std::forward<Use>(use));
  } else if constexpr (is_one_of<Key, hash64, bytes>::value) {
    return use(key);
  } else if constexpr (is_integer<Key>::value) {
    return use(static_cast<std::uint64_t>(key));
  } else if constexpr (std::is_convertible_v<const Key &, std::string_view>) {
    const std::string_view text = key;
    return use(bytes(text.data(), text.size()));
  } else if constexpr (is_range_of<const Key, is_byte>::value) {
    return use(bytes(std::data(key), std::size(key)));
  } else {
    static_assert(never<Key>, "not a key: give the type a function petal_key(const T &), as petal.hpp explains");
  }
}

inline bool contains(const petal_filter *filter, bytes key) noexcept {
  return petal_filter_contains(filter, key.data(), key.size());
}
inline bool contains(const petal_filter *filter, std::uint64_t key) noexcept {
  return petal_filter_contains_u64(filter, key);
}
inline bool contains(const petal_filter *filter, hash64 key) noexcept {
  return petal_filter_contains_hash(filter, key.value);
}

inline petal_status contains_checked(const petal_filter *filter, bytes key, bool *found) noexcept {
  return petal_filter_contains_checked(filter, key.data(), key.size(), found);
}
inline petal_status contains_checked(const petal_filter *filter, std::uint64_t key, bool *found) noexcept {
  return petal_filter_contains_checked_u64(filter, key, found);
}
inline petal_status contains_checked(const petal_filter *filter, hash64 key, bool *found) noexcept {
  return petal_filter_contains_checked_hash(filter, key.value, found);
}

inline petal_status insert(petal_filter *filter, bytes key, bool *is_new) noexcept {
  return petal_filter_insert(filter, key.data(), key.size(), is_new);
}
inline petal_status insert(petal_filter *filter, std::uint64_t key, bool *is_new) noexcept {
  return petal_filter_insert_u64(filter, key, is_new);
}
inline petal_status insert(petal_filter *filter, hash64 key, bool *is_new) noexcept {
  return petal_filter_insert_hash(filter, key.value, is_new);
}

inline petal_status insert_shared(const petal_filter *filter, bytes key, bool *is_new) noexcept {
  return petal_filter_insert_shared(filter, key.data(), key.size(), is_new);
}
inline petal_status insert_shared(const petal_filter *filter, std::uint64_t key, bool *is_new) noexcept {
  return petal_filter_insert_shared_u64(filter, key, is_new);
}
inline petal_status insert_shared(const petal_filter *filter, hash64 key, bool *is_new) noexcept {
  return petal_filter_insert_shared_hash(filter, key.value, is_new);
}

inline petal_status add(petal_builder *builder, bytes key) noexcept {
  return petal_builder_add(builder, key.data(), key.size());
}
inline petal_status add(petal_builder *builder, std::uint64_t key) noexcept {
  return petal_builder_add_u64(builder, key);
}
inline petal_status add(petal_builder *builder, hash64 key) noexcept {
  return petal_builder_add_hash(builder, key.value);
}

inline petal_status hash(const petal_filter *filter, bytes key, std::uint64_t *out) noexcept {
  return petal_filter_hash(filter, key.data(), key.size(), out);
}
inline petal_status hash(const petal_filter *filter, std::uint64_t key, std::uint64_t *out) noexcept {
  return petal_filter_hash_u64(filter, key, out);
}
inline petal_status hash(const petal_spec *spec, bytes key, std::uint64_t *out, petal_error *error) noexcept {
  return petal_hash(spec, key.data(), key.size(), out, error);
}
inline petal_status hash(const petal_spec *spec, std::uint64_t key, std::uint64_t *out, petal_error *error) noexcept {
  return petal_hash_u64(spec, key, out, error);
}

}  // namespace detail

// --- Many keys -------------------------------------------------------------------------------------------------------

/// Byte keys that lie in one piece elsewhere, such as a column: key i is `data[offsets[i] .. offsets[i + 1]]`.
struct byte_keys {
  const void *data;
  std::size_t length;
  /// count + 1 of them.
  const std::uint64_t *offsets;
  std::size_t count;
};

/// 64-bit keys that lie elsewhere.
struct u64_keys {
  const std::uint64_t *data;
  std::size_t count;
};

/// 64-bit hashes that lie elsewhere as plain numbers.
struct hash_keys {
  const std::uint64_t *data;
  std::size_t count;
};

/// Says that a contiguous range of 64-bit integers holds hashes, not keys.
template <class Range>
hash_keys as_hashes(const Range &range) noexcept {
  static_assert(detail::is_range_of<const Range, detail::is_u64>::value, "not a contiguous range of 64-bit integers");
  return {reinterpret_cast<const std::uint64_t *>(std::data(range)), std::size(range)};
}

/// The keys between two iterators, for batches. They must outlive it.
template <class Iterator, class Sentinel = Iterator>
class key_range {
 public:
  key_range(Iterator first, Sentinel last) : first_(first), last_(last) {}
  Iterator begin() const { return first_; }
  Sentinel end() const { return last_; }

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
  explicit key_buffer(const Range &keys) {
    for (const auto &key : keys) add(key);
  }

  /// Copies a key that is bytes. Throws what the standard containers throw, and then has changed nothing.
  template <class Key>
  void add(const Key &key) {
    detail::with_key(key, [this](auto one) { this->append(one); });
  }
  template <class Key>
  result<void> try_add(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept { return detail::allocating([&] { this->append(one); }); });
  }

  /// Forgets the keys and keeps the memory.
  void clear() noexcept {
    data_.clear();
    offsets_.clear();
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
  byte_keys keys() const noexcept {
    static constexpr std::uint64_t zero = 0;
    return {data_.data(), data_.size(), offsets_.empty() ? &zero : offsets_.data(), size()};
  }

 private:
  template <class Key>
  void append(Key key) {
    static_assert(std::is_same_v<Key, bytes>, "batches of integers and hashes are plain ranges, without a buffer");
    if (offsets_.empty()) offsets_.push_back(0);
    // What an addition that failed half-way left behind goes first.
    data_.resize(static_cast<std::size_t>(offsets_.back()));
    if (key.size() > 0) data_.append(reinterpret_cast<const char *>(key.data()), key.size());
    offsets_.push_back(data_.size());
  }

  std::string data_;
  std::vector<std::uint64_t> offsets_;
};

/// Where the answers of a batch go: one `bool` or `std::uint8_t` a key, or one bit a key, or both, or nowhere.
class answers {
 public:
  answers() noexcept = default;
  /// One byte a key, 0 or 1, into a contiguous range (`std::vector<std::uint8_t>`, `std::array<bool, N>` ...).
  template <class Range, class = std::enable_if_t<
                             detail::is_range_of<std::remove_reference_t<Range>, detail::is_answer>::value>>
  answers(Range &&range) noexcept
      : bytes_(reinterpret_cast<std::uint8_t *>(std::data(range))), byte_room_(std::size(range)) {}
  /// All else does not compile, and the compiler says what does.
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
  static answers bitmap(Range &&range) noexcept {
    static_assert(detail::is_range_of<std::remove_reference_t<Range>, detail::is_word>::value,
                  "not a contiguous range of unsigned integers");
    return answers().and_bitmap(range);
  }
  template <class Range>
  answers &and_bitmap(Range &&range) noexcept {
    bitmap_ = reinterpret_cast<std::uint8_t *>(std::data(range));
    bit_room_ = std::size(range) * sizeof(*std::data(range));
    return *this;
  }

  /// NULL where no such answers are wanted.
  std::uint8_t *bytes() const noexcept { return bytes_; }
  std::uint8_t *bits() const noexcept { return bitmap_; }

  /// Whether there is room for so many answers.
  result<void> fit(std::size_t count) const noexcept {
    const std::size_t bitmap_bytes = count / 8 + (count % 8 != 0);
    if ((bytes_ == nullptr || byte_room_ >= count) && (bitmap_ == nullptr || bit_room_ >= bitmap_bytes)) return {};
    char text[PETAL_ERROR_MESSAGE_SIZE];
    const bool short_of_bytes = bytes_ != nullptr && byte_room_ < count;
    std::snprintf(text, sizeof text, "%zu answers need %zu bytes, and there is room for %zu", count,
                  short_of_bytes ? count : bitmap_bytes, short_of_bytes ? byte_room_ : bit_room_);
    return failure(status::buffer_too_small, text);
  }
  /// The answers of so many keys, as far as there is room, become true.
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
template <class Range>
struct iterator_of<Range, std::void_t<decltype(*std::begin(std::declval<const Range &>())),
                                      decltype(std::end(std::declval<const Range &>()))>> {
  using type = decltype(std::begin(std::declval<const Range &>()));
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
template <class Keys>
using is_in_place = std::disjunction<is_one_of<Keys, byte_keys, u64_keys, hash_keys, key_buffer>,
                                     is_range_of<const Keys, is_u64>, is_range_of<const Keys, is_hash>>;

/// Keys that lie as the library takes them, as `byte_keys`, `u64_keys` or `hash_keys`.
template <class Keys>
auto in_place(const Keys &keys) noexcept {
  if constexpr (is_one_of<Keys, byte_keys, u64_keys, hash_keys>::value) {
    return keys;
  } else if constexpr (std::is_same_v<Keys, key_buffer>) {
    return keys.keys();
  } else if constexpr (is_range_of<const Keys, is_u64>::value) {
    return u64_keys{reinterpret_cast<const std::uint64_t *>(std::data(keys)), std::size(keys)};
  } else {
    // A hash64 is its one member, in the same place.
    return hash_keys{reinterpret_cast<const std::uint64_t *>(std::data(keys)), std::size(keys)};
  }
}

/// Whether this is a batch. If not, the compiler says why.
template <class Keys>
constexpr bool is_batch() noexcept {
  using iterator = typename iterator_of<Keys>::type;
  if constexpr (is_in_place<Keys>::value) {
    return true;
  } else if constexpr (std::is_void_v<iterator>) {
    static_assert(never<Keys>, "not a batch: give a range of keys, key_range(first, last), u64_keys, hash_keys, "
                               "byte_keys or a key_buffer");
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

/// Whether going through a batch cannot throw.
template <class Keys>
constexpr bool is_nothrow_batch() noexcept {
  if constexpr (is_in_place<Keys>::value || std::is_void_v<typename iterator_of<Keys>::type>) {
    return true;
  } else {
    using iterator = typename iterator_of<Keys>::type;
    return noexcept(*std::declval<iterator &>()) && noexcept(++std::declval<iterator &>()) &&
           is_nothrow_key<plain<decltype(*std::declval<iterator &>())>>();
  }
}

template <class Range, class = void>
struct has_size : std::false_type {};
template <class Range>
struct has_size<Range, std::void_t<decltype(std::size(std::declval<const Range &>()))>> : std::true_type {};

/// How many keys a batch has.
template <class Keys>
std::size_t batch_size(const Keys &keys) noexcept(is_nothrow_batch<Keys>()) {
  if constexpr (is_in_place<Keys>::value) {
    return in_place(keys).count;
  } else if constexpr (is_batch<Keys>()) {
    if constexpr (has_size<Keys>::value) {
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

/// The pieces of a range of numbers or of hashes, which `List` says.
template <class List, class Keys, class Use>
petal_status number_pieces(const Keys &keys, Use &&use) noexcept(is_nothrow_batch<Keys>()) {
  struct {
    std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
    std::uint64_t operator()(hash64 key) const noexcept { return key.value; }
  } const number{};
  std::uint64_t piece[piece_keys];
  std::size_t taken = 0, from = 0;
  const auto end = std::end(keys);
  for (auto key = std::begin(keys); key != end; ++key) {
    piece[taken++] = with_key(*key, number);
    if (taken < piece_keys) continue;
    if (const petal_status code = use(List{piece, taken}, from); code != PETAL_OK) return code;
    from += taken;
    taken = 0;
  }
  // Once even without keys: the library says what is wrong with the filter.
  return taken > 0 || from == 0 ? use(List{piece, taken}, from) : PETAL_OK;
}

/// The pieces of a range of byte keys.
template <class Keys, class Use>
petal_status byte_pieces(const Keys &keys, Use &&use) noexcept(is_nothrow_batch<Keys>()) {
  char piece[piece_bytes];
  std::uint64_t offsets[piece_keys + 1];
  offsets[0] = 0;
  std::size_t length = 0, taken = 0, from = 0;
  petal_status code = PETAL_OK;
  const auto flush = [&]() noexcept {
    code = use(byte_keys{piece, length, offsets, taken}, from);
    from += taken;
    taken = length = 0;
  };
  const auto take = [&](bytes key) noexcept {
    if (taken > 0 && key.size() > piece_bytes - length) flush();
    if (code != PETAL_OK) return;
    if (key.size() > piece_bytes) {
      // Alone, where it lies.
      const std::uint64_t ends[] = {0, key.size()};
      code = use(byte_keys{key.data(), key.size(), ends, 1}, from);
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

/// Calls `use(list, from)` with the keys as `byte_keys`, `u64_keys` or `hash_keys`: all at once where they lie so, and
/// otherwise a piece at a time, whose first key is number `from`, until one fails.
template <class Keys, class Use>
petal_status in_pieces(const Keys &keys, Use &&use) noexcept(is_nothrow_batch<Keys>()) {
  if constexpr (is_in_place<Keys>::value) {
    return use(in_place(keys), std::size_t{0});
  } else if constexpr (is_batch<Keys>()) {
    using key = key_form<plain<decltype(*std::begin(keys))>>;
    if constexpr (std::is_same_v<key, bytes>) {
      return byte_pieces(keys, use);
    } else {
      return number_pieces<std::conditional_t<std::is_same_v<key, hash64>, hash_keys, u64_keys>>(keys, use);
    }
  } else {
    return PETAL_OK;
  }
}

/// `in_pieces()` with answers: `use(list, out, count)`. Adds the counts up.
template <class Keys, class Use>
petal_status ask_in_pieces(const Keys &keys, const answers &out, std::uint64_t *count,
                           Use &&use) noexcept(is_nothrow_batch<Keys>()) {
  return in_pieces(keys, [&](auto list, std::size_t from) noexcept {
    if constexpr (is_in_place<Keys>::value) {
      return use(list, out, count);
    } else {
      std::uint8_t room[piece_keys];
      const answers piece = out.part(from, room);
      std::uint64_t some = 0;
      const petal_status code = use(list, piece, &some);
      if (code == PETAL_OK) out.pack(piece, from, list.count);
      *count += some;
      return code;
    }
  });
}

inline petal_keys as_c(byte_keys keys) noexcept {
  return petal_keys_bytes(keys.data, keys.length, keys.offsets, keys.count);
}
inline petal_keys as_c(u64_keys keys) noexcept { return petal_keys_u64(keys.data, keys.count); }
inline petal_keys as_c(hash_keys keys) noexcept { return petal_keys_hashes(keys.data, keys.count); }

/// Calls a batch function of the C API with keys and answers, and says how many answers are true.
template <class Keys, class Call>
petal_status ask(Keys keys, const answers &out, std::uint64_t *count, Call &&call) noexcept {
  const petal_keys all = as_c(keys);
  petal_answers to{};
  to.struct_size = sizeof to;
  to.bytes = out.bytes();
  to.bitmap = out.bits();
  const petal_status code = call(&all, &to);
  *count = to.true_count;
  return code;
}

template <class Keys>
petal_status contains(const petal_filter *filter, Keys keys, const answers &out, std::uint64_t *count,
                      petal_error *error) noexcept {
  return ask(keys, out, count, [&](const petal_keys *all, petal_answers *to) noexcept {
    return petal_filter_contains_batch(filter, all, to, error);
  });
}

template <class Keys>
petal_status insert(petal_filter *filter, Keys keys, const answers &out, std::uint64_t *count, std::size_t *inserted,
                    petal_error *error) noexcept {
  return ask(keys, out, count, [&](const petal_keys *all, petal_answers *to) noexcept {
    const petal_status code = petal_filter_insert_batch(filter, all, to, error);
    if (inserted != nullptr) *inserted = to->done;
    return code;
  });
}

template <class Keys>
petal_status insert_shared(const petal_filter *filter, Keys keys, const answers &out, std::uint64_t *count,
                           petal_error *error) noexcept {
  return ask(keys, out, count, [&](const petal_keys *all, petal_answers *to) noexcept {
    return petal_filter_insert_shared_batch(filter, all, to, error);
  });
}

template <class Keys>
petal_status add(petal_builder *builder, Keys keys, std::size_t *added, petal_error *error) noexcept {
  std::uint64_t none = 0;
  return ask(keys, {}, &none, [&](const petal_keys *all, petal_answers *to) noexcept {
    const petal_status code = petal_builder_add_batch(builder, all, to, error);
    *added = to->done;
    return code;
  });
}

}  // namespace detail

// --- Specs -----------------------------------------------------------------------------------------------------------

/// The secret key of a keyed hash function. Not all zeros.
using secret_key = std::array<std::uint8_t, 16>;

/// What filter to make; see `petal_spec`. What is not set has its default.
///
///     petal::filter f(petal::spec().capacity(5'000'000).false_positive_rate(0.001));
///
/// Setters do not fail: the first one that cannot be followed, such as an unknown name, is kept, and whatever takes the
/// spec fails with it.
class spec {
 public:
  spec() noexcept : spec_(detail::sized<petal_spec>()) {}
  explicit spec(const petal_spec &from) noexcept : spec_(from) {}

  /// One of `PETAL_KIND_*`.
  spec &kind(petal_kind value) noexcept { spec_.kind = value; return *this; }
  /// A kind by its name, such as "bloom".
  spec &kind(c_string name) noexcept {
    auto info = detail::sized<petal_kind_info>();
    const petal_status code = petal_kind_find(name.get(), &info);
    if (code == PETAL_OK) return kind(info.kind);
    char text[PETAL_ERROR_MESSAGE_SIZE];
    std::snprintf(text, sizeof text, "there is no kind of the name %.64s", name.get() ? name.get() : "NULL");
    return keep(code, failure(static_cast<status>(code), text));
  }
  /// Distinct keys.
  spec &capacity(std::uint64_t value) noexcept { spec_.capacity = value; return *this; }
  /// Inside (0, 1).
  spec &false_positive_rate(double value) noexcept { spec_.false_positive_rate = value; return *this; }
  /// The exact number of bits instead of a rate.
  spec &bits(std::uint64_t value) noexcept { spec_.bits = value; return *this; }
  /// The exact number of bits that a key sets.
  spec &hashes(std::uint32_t value) noexcept { spec_.hashes = value; return *this; }
  /// One of `PETAL_HASH_*`.
  spec &hash_function(petal_hash_function value) noexcept { spec_.hash = value; return *this; }
  /// The seed, which is not a secret, or your tag for `PETAL_HASH_EXTERNAL`.
  spec &seed(std::uint64_t value) noexcept { spec_.seed = value; return *this; }
  /// One of `PETAL_KERNEL_*`, to compare them.
  spec &kernel(petal_kernel value) noexcept { spec_.kernel = value; return *this; }
  /// The secret key of `PETAL_HASH_SIPHASH13`.
  spec &key(const secret_key &value) noexcept {
    std::memcpy(spec_.key, value.data(), value.size());
    return *this;
  }
  /// A parameter that only some kinds take.
  spec &set(c_string name, double value) noexcept {
    failure error;
    const petal_status code = petal_spec_set(&spec_, name.get(), value, error.out());
    return keep(code, error);
  }
  /// Sets a parameter that is a choice by the name of the choice, as `petal_spec_set_choice` does.
  spec &set(c_string name, c_string choice) noexcept {
    failure error;
    const petal_status code = petal_spec_set_choice(&spec_, name.get(), choice.get(), error.out());
    return keep(code, error);
  }

  petal_kind kind() const noexcept { return spec_.kind; }
  std::uint64_t capacity() const noexcept { return spec_.capacity; }
  double false_positive_rate() const noexcept { return spec_.false_positive_rate; }
  std::uint64_t bits() const noexcept { return spec_.bits; }
  std::uint32_t hashes() const noexcept { return spec_.hashes; }
  petal_hash_function hash_function() const noexcept { return spec_.hash; }
  std::uint64_t seed() const noexcept { return spec_.seed; }
  petal_kernel kernel() const noexcept { return spec_.kernel; }
  /// A parameter that only some kinds take, as set or its default.
  result<double> try_get(c_string name) const noexcept {
    return ask<double>([&](double *value, petal_error *error) noexcept {
      return petal_spec_get(&spec_, name.get(), value, error);
    });
  }
  /// The setter that could not be followed, if there was one.
  result<void> check() const noexcept { return problem_.status() == status::ok ? result<void>() : problem_; }
  /// The spec of the C API.
  const petal_spec &get() const noexcept { return spec_; }

  /// The bytes of the image: what `filter::create_in()` needs.
  result<std::uint64_t> try_image_size() const noexcept {
    return ask<std::uint64_t>([&](std::uint64_t *size, petal_error *error) noexcept {
      return petal_spec_image_size(&spec_, size, error);
    });
  }
  /// The exact false-positive rate with so many distinct keys.
  result<double> try_expected_false_positive_rate(std::uint64_t keys) const noexcept {
    return ask<double>([&](double *rate, petal_error *error) noexcept {
      return petal_spec_expected_false_positive_rate(&spec_, keys, rate, error);
    });
  }
  /// The hash of a key under this spec's hash function, seed and key.
  template <class Key>
  result<hash64> try_hash(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return ask<hash64>([&](hash64 *hash, petal_error *error) noexcept {
        return detail::hash(&spec_, one, &hash->value, error);
      });
    });
  }

#if PETAL_HPP_EXCEPTIONS
  double get(c_string name) const { return try_get(name).value(); }
  std::uint64_t image_size() const { return try_image_size().value(); }
  double expected_false_positive_rate(std::uint64_t keys) const {
    return try_expected_false_positive_rate(keys).value();
  }
  template <class Key>
  hash64 hash(const Key &key) const {
    return try_hash(key).value();
  }
#endif

 private:
  spec &keep(petal_status code, failure error) noexcept {
    if (code != PETAL_OK && problem_.status() == status::ok) problem_ = error.settle(code);
    return *this;
  }

  template <class T, class Call>
  result<T> ask(Call &&call) const noexcept {
    if (problem_.status() != status::ok) return problem_;
    return detail::output<T>(T{}, call);
  }

  petal_spec spec_;
  failure problem_;
};

/// How an image is opened.
enum class open_mode : petal_open_mode {
  /// In place, for reading.
  read = PETAL_OPEN_READ,
  /// In place, for reading and writing, as the only writer.
  write = PETAL_OPEN_WRITE,
  /// Copied into memory of its own, and checked.
  load = PETAL_OPEN_LOAD,
  /// In place, for reading and for `filter::insert_shared()`, together with all who open it with this mode.
  share = PETAL_OPEN_SHARE,
};

/// How to open: a mode, and the secret key of a keyed filter. A mode alone will do.
class open_options {
 public:
  open_options(open_mode mode = open_mode::read) noexcept : options_(detail::sized<petal_open_options>()) {
    options_.mode = static_cast<petal_open_mode>(mode);
  }
  open_options &key(const secret_key &value) noexcept {
    std::memcpy(options_.key, value.data(), value.size());
    return *this;
  }
  const petal_open_options *get() const noexcept { return &options_; }

 private:
  petal_open_options options_;
};

// --- Filters ---------------------------------------------------------------------------------------------------------

/// A filter of any kind: whether a key may have been inserted. Never says no to one that was.
class filter {
 public:
  /// Holds nothing, like one that was moved from.
  filter() noexcept = default;
  /// Takes over a handle of the C API.
  static filter adopt(petal_filter *handle) noexcept {
    filter made;
    made.handle_.reset(handle);
    return made;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  petal_filter *get() const noexcept { return handle_.get(); }
  /// Gives the handle away.
  petal_filter *release() noexcept { return handle_.release(); }
  friend void swap(filter &a, filter &b) noexcept { a.handle_.swap(b.handle_); }

  // Making.

  /// Makes an empty filter in memory of its own.
  static result<filter> try_make(const spec &wanted) noexcept {
    return made(wanted.check(), [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_new(&wanted.get(), handle, error);
    });
  }
  /// The default kind, for so many distinct keys at a rate inside (0, 1).
  static result<filter> try_make(std::uint64_t capacity, double false_positive_rate) noexcept {
    filter made = adopt(petal_filter_with_capacity(capacity, false_positive_rate));
    if (made) return made;
    // A spec says why; but there 0 stands for the default.
    if (false_positive_rate == 0) return failure(status::false_positive_rate);
    return try_make(spec().capacity(capacity > 0 ? capacity : 1).false_positive_rate(false_positive_rate));
  }
  /// Makes an empty filter inside memory of yours: at least `spec::image_size()` bytes, aligned to 8 (64 is faster).
  /// They become a complete image, and must outlive the filter.
  static result<filter> try_create_in(const spec &wanted, void *buffer, std::size_t length) noexcept {
    return made(wanted.check(), [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_new_in_buffer(&wanted.get(), buffer, length, handle, error);
    });
  }
  /// Opens the image that a file is: constant time, mapped, unless the mode says to load it.
  static result<filter> try_open(c_string path, const open_options &options = {}) noexcept {
    return made({}, [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_open(path.get(), options.get(), handle, error);
    });
  }
  /// Opens the image at `offset`, a multiple of 8, of an open file, which may be closed at once.
  static result<filter> try_open_descriptor(int descriptor, std::uint64_t offset,
                                            const open_options &options = {}) noexcept {
    return made({}, [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_open_descriptor(descriptor, offset, options.get(), handle, error);
    });
  }
  /// Opens the image at the start of memory of yours, aligned to 8, which must outlive the filter unless it is loaded.
  static result<filter> try_open_buffer(void *buffer, std::size_t length, const open_options &options = {}) noexcept {
    return made({}, [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_open_buffer(buffer, length, options.get(), handle, error);
    });
  }
  /// Copies the image at the start of some bytes, of any alignment, and checks it.
  static result<filter> try_load(const void *image, std::size_t length, const open_options &options = {}) noexcept {
    return made({}, [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_load(image, length, options.get(), handle, error);
    });
  }
  /// Copies the image at the start of a contiguous range of bytes, and checks it.
  template <class Range, class = std::enable_if_t<detail::is_range_of<const Range, detail::is_byte>::value>>
  static result<filter> try_load(const Range &image, const open_options &options = {}) noexcept {
    return try_load(std::data(image), std::size(image), options);
  }
  /// Copies the filter, wherever it lives, into memory of its own.
  result<filter> try_copy() const noexcept {
    return made({}, [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_copy(get(), handle, error);
    });
  }

  // One key. A lookup looks at a few places, however large the filter is.

  /// Whether a key may have been inserted; false is certain.
  template <class Key>
  bool contains(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept { return detail::contains(get(), one); });
  }
  bool contains(const void *key, std::size_t length) const noexcept {
    return petal_filter_contains(get(), key, length);
  }
  /// Whether a key may be in the filter, or why that cannot be told.
  template <class Key>
  result<bool> try_contains(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return detail::output<bool>([&](bool *found) noexcept { return detail::contains_checked(get(), one, found); });
    });
  }
  result<bool> try_contains(const void *key, std::size_t length) const noexcept {
    return try_contains(bytes(key, length));
  }
  /// Inserts a key: true if it certainly was not there, false if it may have been.
  template <class Key>
  result<bool> try_insert(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return detail::output<bool>([&](bool *is_new) noexcept { return detail::insert(get(), one, is_new); });
    });
  }
  result<bool> try_insert(const void *key, std::size_t length) noexcept { return try_insert(bytes(key, length)); }
  /// The hash of a key as this filter makes it, for filters with the same hash function and seed.
  template <class Key>
  result<hash64> try_hash(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return detail::output<hash64>([&](hash64 *hash) noexcept { return detail::hash(get(), one, &hash->value); });
    });
  }
  result<hash64> try_hash(const void *key, std::size_t length) const noexcept { return try_hash(bytes(key, length)); }

  // Many keys: what the comment at the top calls a batch.

  /// Looks keys up and returns how many answers are true. On a failure, too little room included, all are.
  template <class Keys>
  std::uint64_t contains_batch(const Keys &keys, const answers &found = {}) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    std::uint64_t count = 0;
    const std::size_t size = detail::batch_size(keys);
    const bool answered = found.fit(size) && look_up(keys, found, &count, nullptr) == PETAL_OK;
    if (!answered) found.fill(size);
    return answered ? count : size;
  }
  /// Looks keys up and returns how many answers are true, or why that failed; then all answers are true.
  template <class Keys>
  result<std::uint64_t> try_contains_batch(const Keys &keys, const answers &found = {}) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    const std::size_t size = detail::batch_size(keys);
    if (auto fits = found.fit(size); !fits) {
      found.fill(size);
      return fits.error();
    }
    std::uint64_t count = 0;
    failure error;
    const petal_status code = look_up(keys, found, &count, error.out());
    if (code != PETAL_OK) found.fill(size);
    return detail::done(count, code, std::move(error));
  }
  /// Inserts keys in order, says of each whether it certainly was not there before, and returns how many were not.
  /// `inserted`, nullable, is always written: how many keys, the first so many, are in the filter.
  template <class Keys>
  result<std::uint64_t> try_insert_batch(const Keys &keys, const answers &is_new = {},
                                         std::size_t *inserted = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    std::size_t unasked = 0;
    std::size_t &all = inserted != nullptr ? *inserted : unasked;
    all = 0;
    if (auto fits = is_new.fit(detail::batch_size(keys)); !fits) return fits.error();
    failure error;
    std::uint64_t count = 0;
    const petal_status code = detail::ask_in_pieces(
        keys, is_new, &count, [&](auto list, const answers &out, std::uint64_t *some) noexcept {
          std::size_t here = 0;
          const petal_status of_piece = detail::insert(get(), list, out, some, &here, error.out());
          all += here;
          return of_piece;
        });
    return detail::done(count, code, std::move(error));
  }

  // From many threads: these insert through a const filter, without locks, while others insert and look up, where
  // `can(PETAL_CAN_INSERT_SHARED)`. Keys are not counted; `add_count()` makes up for it afterwards.

  /// Inserts a key while others insert and look up. Of several that insert the same new key at once, at least one gets
  /// true.
  template <class Key>
  result<bool> try_insert_shared(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return detail::output<bool>([&](bool *is_new) noexcept { return detail::insert_shared(get(), one, is_new); });
    });
  }
  result<bool> try_insert_shared(const void *key, std::size_t length) const noexcept {
    return try_insert_shared(bytes(key, length));
  }
  /// Inserts many keys while others insert and look up: all, or, where the filter cannot do it, none. Returns how many
  /// were new.
  template <class Keys>
  result<std::uint64_t> try_insert_shared_batch(const Keys &keys, const answers &is_new = {}) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    if (auto fits = is_new.fit(detail::batch_size(keys)); !fits) return fits.error();
    failure error;
    std::uint64_t count = 0;
    const petal_status code = detail::ask_in_pieces(
        keys, is_new, &count, [&](auto list, const answers &out, std::uint64_t *some) noexcept {
          return detail::insert_shared(get(), list, out, some, error.out());
        });
    return detail::done(count, code, std::move(error));
  }
  /// Adds to the count of keys that were offered. Threads may call it while others use the filter.
  result<void> try_add_count(std::uint64_t keys) const noexcept {
    return detail::done(petal_filter_add_count(get(), keys));
  }

  // Combining: filters made from one spec.

  /// Becomes the union with another filter.
  result<void> try_merge(const filter &other) noexcept {
    return done([&](petal_error *error) noexcept { return petal_filter_merge(get(), other.get(), error); });
  }
  /// Becomes a superset of the intersection with another filter.
  result<void> try_intersect(const filter &other) noexcept {
    return done([&](petal_error *error) noexcept { return petal_filter_intersect(get(), other.get(), error); });
  }
  /// Becomes smaller by a factor, without its keys.
  result<void> try_fold(std::uint64_t factor) noexcept {
    return done([&](petal_error *error) noexcept { return petal_filter_fold(get(), factor, error); });
  }
  /// Forgets all keys.
  result<void> try_clear() noexcept {
    return done([&](petal_error *error) noexcept { return petal_filter_clear(get(), error); });
  }
  /// Whether both would combine and have the same bits.
  result<bool> try_equal(const filter &other) const noexcept {
    return detail::output<bool>([&](bool *equal) noexcept { return petal_filter_equal(get(), other.get(), equal); });
  }
  /// What two filters must have in common to combine.
  using id = std::array<std::uint8_t, PETAL_COMPATIBILITY_ID_SIZE>;
  result<id> try_compatibility_id() const noexcept {
    return detail::output<id>([&](id *out) noexcept { return petal_filter_compatibility_id(get(), out->data()); });
  }

  // Describing and estimating.

  /// What the filter is: all that its header says. Constant time.
  result<petal_description> try_describe() const noexcept {
    return asked(detail::sized<petal_description>(), petal_filter_describe);
  }
  /// How full it is. Reads the whole payload.
  result<petal_statistics> try_statistics() const noexcept {
    return asked(detail::sized<petal_statistics>(), petal_filter_statistics);
  }
  /// The spec from which an empty filter that combines with this one can be made; without its secret key.
  result<spec> try_compatible_spec() const noexcept {
    auto found = asked(detail::sized<petal_spec>(), petal_filter_spec);
    if (!found) return found.error();
    return spec(*found);
  }
  /// What this filter can do: `PETAL_CAN_*`, ORed. 0 where there is none.
  std::uint64_t capabilities() const noexcept { return petal_filter_capabilities(get()); }
  /// Whether it can do all of these.
  bool can(std::uint64_t wanted) const noexcept { return (capabilities() & wanted) == wanted; }
  /// The exact false-positive rate to expect with so many distinct keys.
  result<double> try_expected_false_positive_rate(std::uint64_t keys) const noexcept {
    return detail::output<double>([&](double *rate) noexcept {
      return petal_filter_expected_false_positive_rate(get(), keys, rate);
    });
  }
  /// How many distinct keys it holds, judged by its bits.
  result<petal_estimate> try_estimate() const noexcept { return asked(petal_estimate{}, petal_filter_estimate); }
  /// What two filters that combine have in common.
  result<petal_overlap> try_estimate_overlap(const filter &other) const noexcept {
    return detail::output(detail::sized<petal_overlap>(), [&](petal_overlap *found, petal_error *error) noexcept {
      return petal_filter_estimate_overlap(get(), other.get(), found, error);
    });
  }

  // Images and files.

  /// The size of the image in bytes.
  result<std::uint64_t> try_serialized_size() const noexcept {
    return detail::output<std::uint64_t>([&](std::uint64_t *size) noexcept {
      return petal_filter_serialized_size(get(), size);
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
      return petal_filter_serialize(get(), buffer, length, written, error);
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
    return done([&](petal_error *error) noexcept { return petal_filter_save(get(), path.get(), error); });
  }
  /// Brings an image that was changed in place up to date on its disk. It becomes clean if it was clean when it was
  /// opened. The destructor does this too, but says nothing.
  result<void> try_sync() noexcept {
    return done([&](petal_error *error) noexcept { return petal_filter_sync(get(), error); });
  }
  /// Declares the bytes as they are now to be right, and makes the filter clean. Reads the whole payload.
  result<void> try_vouch() noexcept {
    return done([&](petal_error *error) noexcept { return petal_filter_vouch(get(), error); });
  }
  /// Checks the bytes that are there now, by reading them.
  result<void> try_verify() const noexcept {
    return done([&](petal_error *error) noexcept { return petal_filter_verify(get(), error); });
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit filter(const spec &wanted) : filter(try_make(wanted).value()) {}
  filter(std::uint64_t capacity, double false_positive_rate)
      : filter(try_make(capacity, false_positive_rate).value()) {}
  static filter create_in(const spec &wanted, void *buffer, std::size_t length) {
    return try_create_in(wanted, buffer, length).value();
  }
  static filter open(c_string path, const open_options &options = {}) { return try_open(path, options).value(); }
  static filter open_descriptor(int descriptor, std::uint64_t offset, const open_options &options = {}) {
    return try_open_descriptor(descriptor, offset, options).value();
  }
  static filter open_buffer(void *buffer, std::size_t length, const open_options &options = {}) {
    return try_open_buffer(buffer, length, options).value();
  }
  static filter load(const void *image, std::size_t length, const open_options &options = {}) {
    return try_load(image, length, options).value();
  }
  template <class Range, class = std::enable_if_t<detail::is_range_of<const Range, detail::is_byte>::value>>
  static filter load(const Range &image, const open_options &options = {}) {
    return try_load(image, options).value();
  }
  filter copy() const { return try_copy().value(); }

  template <class Key>
  bool insert(const Key &key) {
    bool is_new = false;
    detail::check(detail::with_key(key, [&](auto one) noexcept { return detail::insert(get(), one, &is_new); }));
    return is_new;
  }
  bool insert(const void *key, std::size_t length) { return insert(bytes(key, length)); }
  template <class Key>
  hash64 hash(const Key &key) const {
    return try_hash(key).value();
  }
  hash64 hash(const void *key, std::size_t length) const { return try_hash(key, length).value(); }

  template <class Keys>
  std::uint64_t insert_batch(const Keys &keys, const answers &is_new = {}, std::size_t *inserted = nullptr) {
    return try_insert_batch(keys, is_new, inserted).value();
  }

  template <class Key>
  bool insert_shared(const Key &key) const {
    bool is_new = false;
    detail::check(detail::with_key(key, [&](auto one) noexcept { return detail::insert_shared(get(), one, &is_new); }));
    return is_new;
  }
  bool insert_shared(const void *key, std::size_t length) const { return insert_shared(bytes(key, length)); }
  template <class Keys>
  std::uint64_t insert_shared_batch(const Keys &keys, const answers &is_new = {}) const {
    return try_insert_shared_batch(keys, is_new).value();
  }
  void add_count(std::uint64_t keys) const { try_add_count(keys).value(); }

  void merge(const filter &other) { try_merge(other).value(); }
  void intersect(const filter &other) { try_intersect(other).value(); }
  void fold(std::uint64_t factor) { try_fold(factor).value(); }
  void clear() { try_clear().value(); }
  bool equal(const filter &other) const { return try_equal(other).value(); }
  id compatibility_id() const { return try_compatibility_id().value(); }

  petal_description describe() const { return try_describe().value(); }
  petal_statistics statistics() const { return try_statistics().value(); }
  spec compatible_spec() const { return try_compatible_spec().value(); }
  double expected_false_positive_rate(std::uint64_t keys) const {
    return try_expected_false_positive_rate(keys).value();
  }
  petal_estimate estimate() const { return try_estimate().value(); }
  petal_overlap estimate_overlap(const filter &other) const { return try_estimate_overlap(other).value(); }

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
  void sync() { try_sync().value(); }
  void vouch() { try_vouch().value(); }
  void verify() const { try_verify().value(); }
#endif

 private:
  friend class builder;

  struct free {
    void operator()(petal_filter *handle) const noexcept { petal_filter_free(handle); }
  };

  template <class Call>
  static result<filter> made(const result<void> &before, Call &&call) noexcept {
    if (!before) return before.error();
    petal_filter *handle = nullptr;
    failure error;
    const petal_status code = call(&handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return adopt(handle);
  }

  template <class Call>
  static result<void> done(Call &&call) noexcept {
    failure error;
    const petal_status code = call(error.out());
    return detail::done(code, std::move(error));
  }

  template <class T>
  result<T> asked(T value, petal_status (*call)(const petal_filter *, T *, petal_error *)) const noexcept {
    return detail::output(value, [&](T *out, petal_error *error) noexcept { return call(get(), out, error); });
  }

  template <class Keys>
  petal_status look_up(const Keys &keys, const answers &found, std::uint64_t *count, petal_error *error) const
      noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::ask_in_pieces(keys, found, count, [&](auto list, const answers &out, std::uint64_t *some) noexcept {
      return detail::contains(get(), list, out, some, error);
    });
  }

  template <class Write>
  result<void> serialize_through(Write &write, detail::barrier &barrier) const noexcept {
    struct context {
      Write &write;
      detail::barrier &barrier;
    } both{write, barrier};
    const auto call = [](void *to, const void *data, std::size_t length) noexcept -> bool {
      auto &with = *static_cast<context *>(to);
      return with.barrier.run([&]() -> bool {
        if constexpr (std::is_void_v<decltype(with.write(bytes(data, length)))>) {
          with.write(bytes(data, length));
          return true;
        } else {
          return with.write(bytes(data, length));
        }
      });
    };
    return done([&](petal_error *error) noexcept { return petal_filter_serialize_to(get(), call, &both, error); });
  }

  std::unique_ptr<petal_filter, free> handle_;
};

// --- Builders --------------------------------------------------------------------------------------------------------

/// How a builder works.
class builder_options {
 public:
  /// The most bytes that collected keys take before they go to a temporary file in this folder.
  builder_options &memory_limit(std::uint64_t most, std::string temporary_directory) noexcept {
    limit_ = most;
    directory_ = std::move(temporary_directory);
    return *this;
  }
  /// Called now and then while the filter is made, with the keys done and the keys in all; false cancels.
  builder_options &progress(std::function<bool(std::uint64_t done, std::uint64_t total)> report) noexcept {
    report_ = std::move(report);
    return *this;
  }

 private:
  friend class builder;
  std::uint64_t limit_ = 0;
  std::string directory_;
  std::function<bool(std::uint64_t, std::uint64_t)> report_;
};

/// Collects keys, and then makes a filter sized for exactly the distinct ones.
class builder {
 public:
  /// Holds nothing, like one that was moved from.
  builder() noexcept = default;
  builder(builder &&) noexcept = default;
  builder &operator=(builder &&other) noexcept {
    // The handle goes before what it may call.
    handle_ = std::move(other.handle_);
    progress_ = std::move(other.progress_);
    return *this;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  petal_builder *get() const noexcept { return handle_.get(); }

  static result<builder> try_make(const spec &wanted, builder_options options = {}) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    auto given = detail::sized<petal_builder_options>();
    given.memory_limit = options.limit_;
    if (!options.directory_.empty()) given.temporary_directory = options.directory_.c_str();
    builder made;
    if (options.report_) {
      made.progress_.reset(new (std::nothrow) progress{std::move(options.report_), {}});
      if (!made.progress_) return failure(status::out_of_memory);
      given.progress = report;
      given.progress_context = made.progress_.get();
    }
    petal_builder *handle = nullptr;
    failure error;
    const petal_status code = petal_builder_new(&wanted.get(), &given, &handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    made.handle_.reset(handle);
    return made;
  }

  /// Adds a key.
  template <class Key>
  result<void> try_add(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept { return detail::done(detail::add(get(), one)); });
  }
  result<void> try_add(const void *key, std::size_t length) noexcept { return try_add(bytes(key, length)); }
  /// Adds many keys, given as to `filter::insert_batch()`. `added`, nullable, is always written: how many, the first so
  /// many, were added.
  template <class Keys>
  result<void> try_add_batch(const Keys &keys,
                             std::size_t *added = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    std::size_t unasked = 0;
    std::size_t &all = added != nullptr ? *added : unasked;
    all = 0;
    failure error;
    const petal_status code = detail::in_pieces(keys, [&](auto list, std::size_t) noexcept {
      std::size_t here = 0;
      const petal_status of_piece = detail::add(get(), list, &here, error.out());
      all += here;
      return of_piece;
    });
    return detail::done(code, std::move(error));
  }
  /// How many keys were added, duplicates included.
  result<std::uint64_t> try_count() const noexcept {
    return detail::output<std::uint64_t>([&](std::uint64_t *count) noexcept {
      return petal_builder_count(get(), count);
    });
  }
  /// Makes the filter and empties the builder, which may be used again. On a failure the keys stay. What the progress
  /// callback throws is dropped and becomes `status::cancelled`; `finish()` passes it on.
  result<filter> try_finish() noexcept { return finish_through(); }
  /// Makes the filter straight into a file, which it replaces atomically. Otherwise like `try_finish()`.
  result<void> try_save(c_string path) noexcept { return save_through(path); }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit builder(const spec &wanted, builder_options options = {})
      : builder(try_make(wanted, std::move(options)).value()) {}
  template <class Key>
  void add(const Key &key) {
    detail::check(detail::with_key(key, [this](auto one) noexcept { return detail::add(get(), one); }));
  }
  void add(const void *key, std::size_t length) { add(bytes(key, length)); }
  template <class Keys>
  void add_batch(const Keys &keys, std::size_t *added = nullptr) {
    try_add_batch(keys, added).value();
  }
  std::uint64_t count() const { return try_count().value(); }
  filter finish() {
    auto made = finish_through();
    if (progress_) progress_->barrier.rethrow();
    return std::move(made).value();
  }
  void save(c_string path) {
    const auto saved = save_through(path);
    if (progress_) progress_->barrier.rethrow();
    saved.value();
  }
#endif

 private:
  struct free {
    void operator()(petal_builder *handle) const noexcept { petal_builder_free(handle); }
  };
  struct progress {
    std::function<bool(std::uint64_t, std::uint64_t)> report;
    detail::barrier barrier;
  };

  static bool report(void *context, std::uint64_t done, std::uint64_t total) noexcept {
    auto &to = *static_cast<progress *>(context);
    return to.barrier.run([&] { return to.report(done, total); });
  }
  // What the last run threw is of no interest to this one.
  void forget() noexcept {
    if (progress_) progress_->barrier.forget();
  }
  result<filter> finish_through() noexcept {
    forget();
    return filter::made({}, [&](petal_filter **handle, petal_error *error) noexcept {
      return petal_builder_finish(get(), handle, error);
    });
  }
  result<void> save_through(c_string path) noexcept {
    forget();
    return filter::done([&](petal_error *error) noexcept { return petal_builder_save(get(), path.get(), error); });
  }

  // In this order: the handle is freed before what it may call.
  std::unique_ptr<progress> progress_;
  std::unique_ptr<petal_builder, free> handle_;
};

// --- Kinds and planning ----------------------------------------------------------------------------------------------

/// How many kinds there are.
inline std::size_t kind_count() noexcept { return petal_kind_count(); }
/// Describes the kind at an index less than `kind_count()`.
inline result<petal_kind_info> try_kind_at(std::size_t index) noexcept {
  auto info = detail::sized<petal_kind_info>();
  const petal_status code = petal_kind_at(index, &info);
  return detail::done(info, code, failure());
}
/// Describes the kind of a name.
inline result<petal_kind_info> try_kind_find(c_string name) noexcept {
  auto info = detail::sized<petal_kind_info>();
  const petal_status code = petal_kind_find(name.get(), &info);
  return detail::done(info, code, failure());
}
/// Describes a parameter of a kind, by an index less than its `parameter_count`.
inline result<petal_parameter_info> try_kind_parameter(petal_kind kind, std::size_t index) noexcept {
  auto info = detail::sized<petal_parameter_info>();
  const petal_status code = petal_kind_parameter(kind, index, &info);
  return detail::done(info, code, failure());
}
/// The name of a choice of the parameter at an index of a kind, with its final NUL.
using choice_name = std::array<char, PETAL_NAME_SIZE>;
inline result<choice_name> try_kind_choice(petal_kind kind, std::size_t parameter, std::size_t choice) noexcept {
  return detail::output<choice_name>([&](choice_name *name) noexcept {
    return petal_kind_choice(kind, parameter, choice, name->data());
  });
}

/// What is wanted of a kind: keys, and a rate or a memory; see `petal_plan_request`.
class plan_request {
 public:
  plan_request() noexcept : request_(detail::sized<petal_plan_request>()) {}
  /// Distinct keys.
  plan_request &keys(std::uint64_t value) noexcept { request_.keys = value; return *this; }
  /// The greatest false-positive rate.
  plan_request &false_positive_rate(double value) noexcept { request_.false_positive_rate = value; return *this; }
  /// The most bytes.
  plan_request &memory(std::uint64_t value) noexcept { request_.memory = value; return *this; }
  /// What the kind must be able to do: `PETAL_CAN_*`, ORed.
  plan_request &capabilities(std::uint64_t value) noexcept { request_.capabilities = value; return *this; }
  /// Whether all keys are known before the first lookup.
  plan_request &is_static(bool value = true) noexcept { request_.is_static = value ? 1u : 0u; return *this; }
  const petal_plan_request *get() const noexcept { return &request_; }

 private:
  petal_plan_request request_;
};

/// Proposes kinds, the best first; those that do not fit come last and say why.
inline result<std::vector<petal_proposal>> try_plan(const plan_request &request) noexcept {
  std::vector<petal_proposal> proposals;
  auto had = detail::allocating([&] { proposals.resize(petal_kind_count(), detail::sized<petal_proposal>()); });
  if (!had) return had.error();
  std::size_t count = 0;
  failure error;
  const petal_status code = petal_plan(request.get(), proposals.data(), proposals.size(), &count, error.out());
  return detail::done(proposals, code, std::move(error));
}

#if PETAL_HPP_EXCEPTIONS
inline petal_kind_info kind_at(std::size_t index) { return try_kind_at(index).value(); }
inline petal_kind_info kind_find(c_string name) { return try_kind_find(name).value(); }
inline petal_parameter_info kind_parameter(petal_kind kind, std::size_t index) {
  return try_kind_parameter(kind, index).value();
}
inline choice_name kind_choice(petal_kind kind, std::size_t parameter, std::size_t choice) {
  return try_kind_choice(kind, parameter, choice).value();
}
inline std::vector<petal_proposal> plan(const plan_request &request) { return try_plan(request).value(); }
#endif

/// The library's version, such as "0.1.0", and as a number like `PETAL_VERSION_NUMBER`.
inline std::string_view version() noexcept { return petal_version_string(); }
inline std::uint32_t version_number() noexcept { return petal_version_number(); }

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

template <>
struct std::is_error_code_enum<petal::status> : std::true_type {};

#endif  // C++17
#endif  // PETAL_HPP
