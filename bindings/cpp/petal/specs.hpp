// What filter to make, and how to open one. Part of petal.hpp.
#ifndef PETAL_HPP_SPECS
#define PETAL_HPP_SPECS

#include "keys.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// The secret key of a keyed hash function. Not all zeros.
using secret_key = std::array<std::uint8_t, 16>;

/// What filter to make; see `petal_spec`. Fields that you do not set have their defaults.
///
///     petal::filter f(petal::spec().capacity(5'000'000).false_positive_rate(0.001));
///
/// Setters do not fail. The spec keeps the first error, such as an unknown name, and functions that take the spec fail
/// with that error.
class spec {
 public:
  spec() noexcept : spec_(detail::sized<petal_spec>()) {}
  explicit spec(const petal_spec &from) noexcept : spec_(from) {}

  /// One of `PETAL_KIND_*`.
  spec &kind(petal_kind value) noexcept { spec_.kind = value; return *this; }
  /// A kind by its name, such as "bloom".
  spec &kind(c_string name) noexcept {
    auto info = detail::sized<petal_kind_info>();
    failure error;
    const petal_status code = petal_kind_find(name.get(), &info, error.out());
    return code == PETAL_OK ? kind(info.kind) : keep(code, error);
  }
  /// Distinct keys.
  spec &capacity(std::uint64_t value) noexcept { spec_.capacity = value; return *this; }
  /// Inside (0, 1).
  spec &false_positive_rate(double value) noexcept { spec_.false_positive_rate = value; return *this; }
  /// The exact number of bits, instead of a rate.
  spec &bits(std::uint64_t value) noexcept { spec_.bits = value; return *this; }
  /// The exact number of bits that a key sets.
  spec &hashes(std::uint32_t value) noexcept { spec_.hashes = value; return *this; }
  /// One of `PETAL_HASH_*`.
  spec &hash_function(petal_hash_function value) noexcept { spec_.hash = value; return *this; }
  /// The seed, which is not a secret; your tag for `PETAL_HASH_EXTERNAL`, the bits of a digest for `PETAL_HASH_DIGEST`.
  spec &seed(std::uint64_t value) noexcept { spec_.seed = value; return *this; }
  /// One of `PETAL_KERNEL_*`, for comparisons.
  spec &kernel(petal_kernel value) noexcept { spec_.kernel = value; return *this; }
  /// The secret key of `PETAL_HASH_SIPHASH13`.
  spec &secret(const secret_key &value) noexcept {
    std::memcpy(spec_.secret, value.data(), value.size());
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
  /// The error of the first setter that failed, if any did.
  result<void> check() const noexcept { return problem_.status() == status::ok ? result<void>() : problem_; }
  /// The spec of the C API.
  const petal_spec &get() const noexcept { return spec_; }

  /// The bytes of the image: what `filter::make_in_buffer()` needs.
  result<std::uint64_t> try_image_size() const noexcept {
    return ask<std::uint64_t>([&](std::uint64_t *size, petal_error *error) noexcept {
      return petal_spec_image_size(&spec_, size, error);
    });
  }
  /// The exact false-positive rate with `keys` distinct keys.
  result<double> try_expected_false_positive_rate(std::uint64_t keys) const noexcept {
    return ask<double>([&](double *rate, petal_error *error) noexcept {
      return petal_spec_expected_false_positive_rate(&spec_, keys, rate, error);
    });
  }
  /// The average number of omissions when `keys` distinct keys are inserted, one after the other. An omission is a new
  /// key that the filter takes for a known one, or that it refuses because it is full.
  result<double> try_expected_omissions(std::uint64_t keys) const noexcept {
    return ask<double>([&](double *omissions, petal_error *error) noexcept {
      return petal_spec_expected_omissions(&spec_, keys, omissions, error);
    });
  }
  /// The hash of a key under this spec's hash function, seed and secret.
  template <class Key>
  result<hash64> try_hash(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return ask<hash64>([&](hash64 *hash, petal_error *error) noexcept {
        return detail::hash(&spec_, one, &hash->value, error);
      });
    });
  }

#if PETAL_HPP_EXCEPTIONS
#include "throwing/spec.hpp"
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

/// How to open an image.
enum class open_mode : petal_open_mode {
  /// In place, for reading.
  read = PETAL_OPEN_READ,
  /// In place, for reading and writing, as the only writer.
  write = PETAL_OPEN_WRITE,
  /// Copied into new memory, and checked.
  load = PETAL_OPEN_LOAD,
  /// In place, for reading and for `filter::insert_shared()`, together with all handles that open it with this mode.
  share = PETAL_OPEN_SHARE,
};

/// How to open: a mode, the secret key of a keyed filter, and whether to read ahead. A mode alone is enough.
class open_options {
 public:
  open_options(open_mode mode = open_mode::read) noexcept : options_(detail::sized<petal_open_options>()) {
    options_.mode = static_cast<petal_open_mode>(mode);
  }
  open_options &secret(const secret_key &value) noexcept {
    std::memcpy(options_.secret, value.data(), value.size());
    return *this;
  }
  /// Has the system read a mapped file to its end at opening: a hint; see `petal_open_options`.
  open_options &prefault(bool value = true) noexcept {
    options_.prefault = value ? 1 : 0;
    return *this;
  }
  const petal_open_options *get() const noexcept { return &options_; }

 private:
  petal_open_options options_;
};

/// Values that a format's bytes do not contain; see `petal_import_options`.
class import_options {
 public:
  import_options() noexcept : options_(detail::sized<petal_import_options>()) {}
  /// The number of bits: the modulus that gives places.
  import_options &bits(std::uint64_t value) noexcept { options_.bits = value; return *this; }
  /// Bits that a key sets.
  import_options &hashes(std::uint32_t value) noexcept { options_.hashes = value; return *this; }
  /// The seed of the hash function.
  import_options &seed(std::uint64_t value) noexcept { options_.seed = value; return *this; }
  /// The key of the hash function.
  import_options &secret(const secret_key &value) noexcept {
    std::memcpy(options_.secret, value.data(), value.size());
    return *this;
  }
  /// P of a Golomb-coded set: the bits of a gap's remainder.
  import_options &rice_bits(std::uint32_t value) noexcept { options_.rice_bits = value; return *this; }
  /// M of a Golomb-coded set: how many numbers there are for each key.
  import_options &multiplier(std::uint64_t value) noexcept { options_.multiplier = value; return *this; }
  const petal_import_options *get() const noexcept { return &options_; }

 private:
  petal_import_options options_;
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_SPECS
