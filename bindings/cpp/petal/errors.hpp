// Errors: statuses, failures, results, and exceptions if the compiler has them. Part of petal.hpp.
#ifndef PETAL_HPP_ERRORS
#define PETAL_HPP_ERRORS

#include <petal.h>
#include <petal_formats.h>
#include <petal_map.h>
#include <petal_more.h>
#include <petal_policy.h>

#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

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

/// The status of a call: the `PETAL_ERR_*` of petal.h. Converts to `std::error_code`.
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
  unsupported_by_handle = PETAL_ERR_UNSUPPORTED_BY_HANDLE,
  unsupported_by_build = PETAL_ERR_UNSUPPORTED_BY_BUILD,
  incompatible = PETAL_ERR_INCOMPATIBLE,
  external_hash = PETAL_ERR_EXTERNAL_HASH,
  secret_missing = PETAL_ERR_SECRET_MISSING,
  secret_mismatch = PETAL_ERR_SECRET_MISMATCH,
  foreign = PETAL_ERR_FOREIGN,
  truncated = PETAL_ERR_TRUNCATED,
  corrupt = PETAL_ERR_CORRUPT,
  newer_version = PETAL_ERR_NEWER_VERSION,
  unclean = PETAL_ERR_UNCLEAN,
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
      case status::unsupported:
      case status::unsupported_by_handle:
      case status::unsupported_by_build: return std::errc::operation_not_supported;
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

/// A failure: a status, and the library's sentence about it. Owns no memory.
class failure {
 public:
  failure() noexcept { error_.struct_size = sizeof error_; }
  /// A failure with the text of its status.
  explicit failure(petal::status code) noexcept : failure() { settle(static_cast<petal_status>(code)); }
  /// A failure with a text, which is cut at `PETAL_ERROR_MESSAGE_SIZE`.
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
/// The exception of this library. `code()` compares with `petal::status` and, for statuses of the same meaning, with
/// `std::errc`.
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

/// A value, or a failure, like C++23's `std::expected`.
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

  /// The failure; `status::ok` and no text if there is none.
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

/// Calls a C function that takes what is given, writes a T, `value` before, and fills an error.
template <class T, class Call, class... Given>
result<T> output(T value, Call &&call, Given... given) noexcept {
  failure error;
  const petal_status code = call(given..., &value, error.out());
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

/// Catches what a callback throws, which must not pass through the library, and throws it again after the call.
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

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

template <>
struct std::is_error_code_enum<petal::status> : std::true_type {};

#endif  // PETAL_HPP_ERRORS
