// Digests of payloads. Part of petal.hpp.
#ifndef PETAL_HPP_DIGESTS
#define PETAL_HPP_DIGESTS

#include "builders.hpp"

#include <petal_digest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// The places where an excerpt was found, and the report of the search.
struct digest_find_result {
  std::vector<petal_digest_match> matches;
  petal_digest_find_result report{};
};

/// What is left of payloads that went by: enough to say in which of them an excerpt was, and where.
///
///     petal::digest digest(petal::spec().capacity(100000));
///     const std::vector<unsigned char> payload(1500, 'x');
///     digest.add(7, {payload.data(), payload.size()});
///     const petal::digest_find_result found = digest.find({payload.data(), 300});
///     for (const petal_digest_match &one : found.matches) std::printf("%d\n", static_cast<int>(one.offset));
///
/// See petal_digest.h.
class digest : public detail::image_owner<digest, petal_digest> {
 public:
  /// Holds nothing, like one that was moved from.
  digest() noexcept = default;

  /// Makes an empty digest.
  static result<digest> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_digest **handle, petal_error *error) noexcept {
      return petal_digest_new(&wanted.get(), handle, error);
    });
  }

  /// Takes a payload under an id of yours.
  result<void> try_add(std::uint64_t payload, bytes data) noexcept {
    return detail::tried(petal_digest_add, get(), payload, data.data(), data.size());
  }
  /// Begins a payload that comes in pieces.
  result<void> try_begin(std::uint64_t payload) noexcept {
    return detail::tried(petal_digest_begin, get(), payload);
  }
  /// Takes the next bytes of the open payload.
  result<void> try_write(bytes data) noexcept {
    return detail::tried(petal_digest_write, get(), data.data(), data.size());
  }
  /// Ends the open payload.
  result<void> try_end() noexcept {
    return detail::tried(petal_digest_end, get());
  }

  /// Looks for an excerpt, and gives at most `room` places.
  result<digest_find_result> try_find(bytes excerpt, std::size_t room = 64,
                                 const petal_digest_find_options *options = nullptr) const noexcept {
    digest_find_result found;
    if (auto had = detail::allocating([&] { found.matches.resize(room); }); !had) return had.error();
    found.report = detail::sized<petal_digest_find_result>();
    auto searched = detail::tried(petal_digest_find, get(), excerpt.data(), excerpt.size(), options,
                                  found.matches.data(), room, &found.report);
    if (!searched) return searched.error();
    found.matches.resize(found.report.match_count);
    return found;
  }
  /// The length in bytes of the shortest excerpt that `find()` takes.
  std::uint64_t shortest_excerpt() const noexcept { return petal_digest_shortest_excerpt(get()); }
  /// The length in bytes of the shortest excerpt that is found with at most this probability although no payload has
  /// it; 0 if no excerpt up to 2^20 bytes is long enough.
  result<std::uint64_t> try_shortest_excerpt_at(double rate) const noexcept {
    return detail::output(std::uint64_t{0}, petal_digest_shortest_excerpt_at, get(), rate);
  }
  /// The probability that a random excerpt of `length` bytes, which did not go by, is found.
  result<double> try_expected_rate(std::uint64_t length) const noexcept {
    return detail::output(0.0, petal_digest_expected_rate, get(), length);
  }
  /// The counters of the digest.
  result<petal_digest_statistics> try_statistics() const noexcept {
    return detail::output(detail::sized<petal_digest_statistics>(), petal_digest_get_statistics, get());
  }
  /// The id and the length of the payload that came as number `index`, from 0 on.
  result<std::pair<std::uint64_t, std::uint64_t>> try_payload_at(std::uint64_t index) const noexcept {
    using output = std::pair<std::uint64_t, std::uint64_t>;
    return detail::output(output(), [&](output *told, petal_error *error) noexcept {
      return petal_digest_get_payload_at(get(), index, &told->first, &told->second, error);
    });
  }
  /// Keeps your bytes in the image, instead of those that were there before.
  result<void> try_attach(bytes data) noexcept {
    return detail::tried(petal_digest_attach, get(), data.data(), data.size());
  }
  /// The bytes that `attach()` kept.
  result<std::vector<std::uint8_t>> try_attachment() const noexcept {
    std::vector<std::uint8_t> kept;
    std::size_t length = 0;
    const auto copy = [&](petal_error *error) noexcept {
      return petal_digest_get_attachment(get(), kept.data(), kept.size(), &length, error);
    };
    if (auto counted = detail::tried(copy); !counted) return counted.error();
    if (auto had = detail::allocating([&] { kept.resize(length); }); !had) return had.error();
    if (auto written = detail::tried(copy); !written) return written.error();
    return kept;
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit digest(const spec &wanted) : digest(try_make(wanted).value()) {}
#include "throwing/digest.hpp"
#endif
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_DIGESTS
