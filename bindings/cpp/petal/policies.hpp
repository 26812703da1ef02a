// Filter policies of sorted tables. Part of petal.hpp.
#ifndef PETAL_HPP_POLICIES
#define PETAL_HPP_POLICIES

#include "errors.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// A filter policy, for systems that keep a filter of the keys of each data block of a table, as LevelDB does:
///
///     petal::policy policy(PETAL_POLICY_LEVELDB, 10);
///     std::vector<std::string> keys = {"apple", "pear"};
///     std::string filter;
///     policy.append_filter(keys.begin(), keys.end(), filter);
///     if (policy.key_may_match("pear", filter)) std::puts("maybe");
///
/// These are the three functions of a `leveldb::FilterPolicy`; integrations/leveldb/README.md shows one. Any number of
/// threads may use one policy.
class policy {
 public:
  /// A policy without a handle, as after a move: every key matches its filters.
  policy() noexcept = default;

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  void *get() const noexcept { return handle_.get(); }

  /// Makes a policy of a form, one of `PETAL_POLICY_*`, with `bits_per_key` bits for each key.
  static result<policy> try_make(petal_policy_form form, std::uint32_t bits_per_key) noexcept {
    void *handle = nullptr;
    failure error;
    const petal_status code = petal_policy_new(form, bits_per_key, &handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    policy made;
    made.handle_.reset(handle);
    return made;
  }
#if PETAL_HPP_EXCEPTIONS
  policy(petal_policy_form form, std::uint32_t bits_per_key) : policy(try_make(form, bits_per_key).value()) {}
#endif

  /// The name that tables keep with the filters.
  const char *name() const noexcept { return petal_policy_name(get()); }

  /// Appends the filter of the keys from `first` to `last` to a string. The function goes through the keys twice. Keys
  /// have `data()` and `size()`, and their bytes stay until the function returns.
  template <class Iterator>
  void append_filter(Iterator first, Iterator last, std::string &to) const {
    std::vector<const char *> keys;
    std::vector<std::size_t> lengths;
    keys.reserve(static_cast<std::size_t>(std::distance(first, last)));
    lengths.reserve(keys.capacity());
    for (; first != last; ++first) {
      keys.push_back(first->data());
      lengths.push_back(first->size());
    }
    std::size_t length = 0;
    const std::unique_ptr<char, freed> filter(petal_policy_create_filter(get(), keys.data(), lengths.data(),
                                                                         static_cast<int>(keys.size()), &length));
    // There is no filter if there was no memory for two bytes. `to` has room for them, or reports that itself.
    filter ? to.append(filter.get(), length) : to.append("\0\37", 2);
  }

  /// Whether a key may be in a filter. Never false for a key that is.
  bool key_may_match(std::string_view key, std::string_view filter) const noexcept {
    return petal_policy_key_may_match(get(), key.data(), key.size(), filter.data(), filter.size()) != 0;
  }

 private:
  struct freed {
    void operator()(char *memory) const noexcept { std::free(memory); }
    void operator()(void *handle) const noexcept { petal_policy_free(handle); }
  };
  std::unique_ptr<void, freed> handle_;
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif
