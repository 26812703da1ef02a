// Compact forms of filters, and one key asked of many filters. Part of petal.hpp.
#ifndef PETAL_HPP_COMPACT
#define PETAL_HPP_COMPACT

#include "filters.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// What a compact form does not say of its filter, and whether all of it is checked when it is opened.
class compact_options {
 public:
  compact_options() noexcept : options_(detail::sized<petal_compact_options>()) {}
  /// One of `PETAL_HASH_*`.
  compact_options &hash_function(petal_hash_function value) noexcept { options_.hash = value; return *this; }
  compact_options &seed(std::uint64_t value) noexcept { options_.seed = value; return *this; }
  /// The secret key of `PETAL_HASH_SIPHASH13`.
  compact_options &secret(const secret_key &value) noexcept {
    std::memcpy(options_.secret, value.data(), value.size());
    return *this;
  }
  /// Compares all of a form with its checksum, however large it is.
  compact_options &verify(bool value = true) noexcept { options_.verify = value ? 1 : 0; return *this; }
  /// For calls of the C API.
  const petal_compact_options *get() const noexcept { return &options_; }

 private:
  petal_compact_options options_;
};

/// The compact form of a filter, where it lies: a payload and a trailer of 8 to 24 bytes. Refers to your memory, at any
/// address, which must outlive it and what is opened from it.
class compact_view {
 public:
  compact_view() noexcept = default;
  compact_view(const void *data, std::size_t length) noexcept : data_(data), length_(length) {}

  const void *data() const noexcept { return data_; }
  std::size_t size() const noexcept { return length_; }

  /// Whether the key with this hash may be in the filter, without a handle; true if the form is damaged.
  bool contains(hash64 hash) const noexcept { return petal_compact_contains_hash(data_, length_, hash.value); }
  /// Whether a key that is bytes may be in the filter, without a handle; true if the form is damaged.
  bool contains(bytes key, const compact_options &options = {}) const noexcept {
    return petal_compact_contains(data_, length_, options.get(), key.data(), key.size());
  }
  /// Whether the key with this hash may be in the filter, or why there is no answer.
  result<bool> try_contains(hash64 hash) const noexcept {
    return detail::output(false, petal_compact_contains_checked_hash, data_, length_, hash.value);
  }
  /// Compares all of the form with its checksum.
  result<void> try_verify() const noexcept {
    return detail::tried(petal_compact_verify, data_, length_);
  }
  /// Opens the form where it lies, at a multiple of 8, for reading.
  result<filter> try_open(const compact_options &options = {}) const noexcept {
    return made([&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_open_compact(data_, length_, options.get(), handle, error);
    });
  }
  /// Copies the filter into new memory, and verifies all of it.
  result<filter> try_load(const compact_options &options = {}) const noexcept {
    return made([&](petal_filter **handle, petal_error *error) noexcept {
      return petal_filter_load_compact(data_, length_, options.get(), handle, error);
    });
  }

#if PETAL_HPP_EXCEPTIONS
#include "throwing/compact_view.hpp"
#endif

 private:
  template <class Call>
  static result<filter> made(Call &&call) noexcept {
    petal_filter *handle = nullptr;
    failure error;
    const petal_status code = call(&handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return filter::adopt(handle);
  }

  const void *data_ = nullptr;
  std::size_t length_ = 0;
};

/// The bytes of a filter's compact form.
inline result<std::uint64_t> try_compact_size(const filter &of) noexcept {
  return detail::output(std::uint64_t{0}, petal_filter_compact_size, of.get());
}
/// A filter's compact form into a buffer of any alignment; returns its size.
inline result<std::size_t> try_serialize_compact(const filter &from, void *buffer, std::size_t length) noexcept {
  return detail::output(std::size_t{0}, petal_filter_serialize_compact, from.get(), buffer, length);
}
/// A filter's compact form.
inline result<std::vector<std::byte>> try_serialize_compact(const filter &from) noexcept {
  const auto size = try_compact_size(from);
  if (!size) return size.error();
  std::vector<std::byte> form;
  if (auto had = detail::allocating([&] { form.resize(static_cast<std::size_t>(*size)); }); !had) return had.error();
  if (auto written = try_serialize_compact(from, form.data(), form.size()); !written) return written.error();
  return form;
}

/// Many filters or compact forms for the lookup of one key: while one answers, the cache lines of the next ones are
/// being fetched. Refers to the filters, which must outlive it, or be moved no more.
class filter_list {
 public:
  filter_list() noexcept = default;
  /// Adds a filter. Throws what `std::vector` throws.
  void add(const filter &one) { filters_.push_back(one.get()); }
  void clear() noexcept { filters_.clear(); }
  std::size_t size() const noexcept { return filters_.size(); }

  /// Looks a key up in all filters: answer i belongs to filter i. Returns how many filters may have the key; on a
  /// failure every answer is true. `found` has room for all.
  template <class Key>
  result<std::size_t> try_contain(const Key &key,
                                  const answers &found = {}) const noexcept(detail::is_nothrow_key<Key>()) {
    if (auto fits = found.fit(size()); !fits) {
      found.fill(size());
      return fits.error();
    }
    auto to = detail::sized<petal_answers>();
    to.bytes = found.bytes();
    to.bitmap = found.bits();
    failure error;
    bool is_done = false;
    const detail::at_end settle([&]() noexcept {
      if (!is_done) found.fill(size());
    });
    const petal_status code =
        detail::with_key(key, [&](auto one) noexcept { return ask(one, &to, error.out()); });
    is_done = code == PETAL_OK;
    if (!is_done) return error.settle(code);
    return static_cast<std::size_t>(to.true_count);
  }

#if PETAL_HPP_EXCEPTIONS
#include "throwing/filter_list.hpp"
#endif

 private:
  petal_status ask(bytes key, petal_answers *to, petal_error *error) const noexcept {
    return petal_filter_contains_across(filters_.data(), filters_.size(), key.data(), key.size(), to, error);
  }
  petal_status ask(std::uint64_t key, petal_answers *to, petal_error *error) const noexcept {
    return petal_filter_contains_across(filters_.data(), filters_.size(), &key, sizeof key, to, error);
  }
  petal_status ask(hash64 key, petal_answers *to, petal_error *error) const noexcept {
    return petal_filter_contains_across_hash(filters_.data(), filters_.size(), key.value, to, error);
  }

  std::vector<const petal_filter *> filters_;
};

/// Many compact forms, for the lookup of one hash. Refers to their bytes, which must outlive this object.
class compact_list {
 public:
  compact_list() noexcept = default;
  /// Adds a form. Throws what `std::vector` throws.
  void add(const compact_view &one) {
    data_.push_back(one.data());
    lengths_.resize(data_.size(), one.size());
  }
  void clear() noexcept {
    data_.clear();
    lengths_.clear();
  }
  std::size_t size() const noexcept { return data_.size(); }

  /// Looks the key with this hash up in all forms, as `filter_list` does.
  result<std::size_t> try_contain(hash64 hash, const answers &found = {}) const noexcept {
    if (auto fits = found.fit(size()); !fits) {
      found.fill(size());
      return fits.error();
    }
    auto to = detail::sized<petal_answers>();
    to.bytes = found.bytes();
    to.bitmap = found.bits();
    failure error;
    const petal_status code =
        petal_compact_contains_across_hash(data_.data(), lengths_.data(), size(), hash.value, &to, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return static_cast<std::size_t>(to.true_count);
  }

#if PETAL_HPP_EXCEPTIONS
#include "throwing/compact_list.hpp"
#endif

 private:
  std::vector<const void *> data_;
  std::vector<std::size_t> lengths_;
};

/// The hashes of many keys under a spec's hash function, seed and secret: for filters, and compact forms, that hash
/// alike.
inline result<void> try_hash_batch(const spec &how, const keys &of, std::uint64_t *hashes) noexcept {
  return detail::tried(petal_spec_hash_batch, &how.get(), of.get(), hashes);
}

#if PETAL_HPP_EXCEPTIONS
#include "throwing/compact.hpp"
#endif

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_COMPACT
