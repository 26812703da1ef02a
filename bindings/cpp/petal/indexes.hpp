// Indexes: rows of bits that are searched. Part of petal.hpp.
#ifndef PETAL_HPP_INDEXES
#define PETAL_HPP_INDEXES

#include "builders.hpp"

#include <petal_index.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

/// How a search goes: a chain of settings. See `petal_index_search_options`.
class index_search_options {
 public:
  index_search_options() noexcept : options_(detail::sized<petal_index_search_options>()) {}

  /// How similarity is measured: one of `PETAL_INDEX_SIMILARITY_*`.
  index_search_options &similarity(petal_index_similarity measure) noexcept {
    options_.similarity = measure;
    return *this;
  }
  /// Tversky's similarity, with a weight for bits that only the query has, and one for those that only the row has.
  index_search_options &tversky(double alpha, double beta) noexcept {
    options_.similarity = PETAL_INDEX_SIMILARITY_TVERSKY;
    options_.alpha = alpha;
    options_.beta = beta;
    return *this;
  }
  /// How many threads search, the caller's included.
  index_search_options &threads(std::size_t count) noexcept {
    options_.threads = count;
    return *this;
  }
  /// A function that the caller's thread calls with the work that is done and that in all; false cancels.
  index_search_options &progress(petal_progress_callback callback, void *context) noexcept {
    options_.progress = callback;
    options_.progress_context = context;
    return *this;
  }
  const petal_index_search_options &get() const noexcept { return options_; }

 private:
  petal_index_search_options options_;
};

/// Rows of bits with ids, which are searched.
///
///     petal::index index(petal::spec().kind(PETAL_KIND_INDEX).capacity(100).set("width", 64));
///     for (std::uint64_t i = 0; i < 100; i++) index.add(i, petal::bytes(&i, sizeof i));
///     const std::uint64_t query = 7;
///     for (const petal_index_hit &hit : index.find_top(petal::bytes(&query, sizeof query), 3))
///       std::printf("%d: %.2f\n", static_cast<int>(hit.id), hit.similarity);
///
/// See petal_index.h.
class index : public detail::image_owner<index, petal_index> {
 public:
  /// Holds nothing, like one that was moved from.
  index() noexcept = default;

  /// Makes an empty index.
  static result<index> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_index **handle, petal_error *error) noexcept {
      return petal_index_new(&wanted.get(), handle, error);
    });
  }

  /// Adds a row under an id of yours; gives the number of the row.
  result<std::uint64_t> try_add(std::uint64_t id, bytes row) noexcept {
    return detail::output(std::uint64_t{0}, petal_index_add, get(), id, row.data(), row.size());
  }
  /// Removes all rows with an id; gives how many these were.
  result<std::uint64_t> try_remove(std::uint64_t id) noexcept {
    return detail::output(std::uint64_t{0}, petal_index_remove, get(), id);
  }
  /// Removes the row with a number; gives whether it was there.
  result<bool> try_remove_row(std::uint64_t row) noexcept {
    return detail::output(false, petal_index_remove_row, get(), row);
  }
  /// How many rows have numbers, with those that were removed.
  std::uint64_t next_row() const noexcept { return petal_index_next_row(get()); }
  /// How many rows there are, without those that were removed. Reads a bit of each row.
  std::uint64_t row_count() const noexcept { return petal_index_row_count(get()); }
  /// The number of bits of a row.
  std::uint64_t width() const noexcept { return petal_index_width(get()); }
  /// The id of the row with a number, and how many bits the row has set; nothing if the row was removed.
  result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> try_row_at(std::uint64_t row) const noexcept {
    bool is_there = false;
    std::pair<std::uint64_t, std::uint64_t> told;
    auto had = detail::tried(petal_index_get_row_at, get(), row, &is_there, &told.first, &told.second);
    if (!had) return had.error();
    return is_there ? std::optional<std::pair<std::uint64_t, std::uint64_t>>(told) : std::nullopt;
  }
  /// The bits of the row with a number, also of one that was removed.
  result<std::vector<std::uint8_t>> try_copy_row(std::uint64_t row) const noexcept {
    std::vector<std::uint8_t> bits;
    if (auto had = detail::allocating([&] { bits.resize((width() + 7) / 8); }); !had) return had.error();
    auto copied = detail::tried(petal_index_copy_row, get(), row, bits.data(), bits.size());
    if (!copied) return copied.error();
    return bits;
  }
  /// The number of the first row with an id, from the row `from` on; no value if there is none.
  result<std::optional<std::uint64_t>> try_find_row(std::uint64_t id, std::uint64_t from = 0) const noexcept {
    std::uint64_t row = 0;
    bool found = false;
    auto asked = detail::tried(petal_index_find_row, get(), id, from, &row, &found);
    if (!asked) return asked.error();
    return found ? std::optional<std::uint64_t>(row) : std::nullopt;
  }
  /// Appends all rows of another index.
  result<void> try_merge(const index &other) noexcept {
    return detail::tried(petal_index_merge, get(), other.get());
  }
  /// An index, in its own memory and arranged for searches, with room for `capacity` rows; 0 is as many as there are.
  result<index> try_arrange(std::uint64_t capacity = 0) const noexcept {
    return made([&](petal_index **handle, petal_error *error) noexcept {
      return petal_index_arrange(get(), capacity, handle, error);
    });
  }
  /// An arranged index of the rows of two, with room for `capacity` rows; 0 is as many as there are.
  result<index> try_arrange_both(const index &other, std::uint64_t capacity = 0) const noexcept {
    return made([&](petal_index **handle, petal_error *error) noexcept {
      return petal_index_arrange_both(get(), other.get(), capacity, handle, error);
    });
  }

  /// The `k` rows that are most similar to a query.
  result<std::vector<petal_index_hit>> try_find_top(bytes query, std::size_t k,
                                               const index_search_options &options =
                                                   index_search_options()) const noexcept {
    std::vector<petal_index_hit> hits;
    std::size_t found = 0;
    // No more than there are, however many are asked for.
    const std::size_t room = std::min<std::uint64_t>(k, next_row());
    if (auto had = detail::allocating([&] { hits.resize(room); }); !had) return had.error();
    auto searched = detail::tried(petal_index_find_top, get(), query.data(), query.size(), room, &options.get(),
                                  hits.data(), &found);
    if (!searched) return searched.error();
    hits.resize(found);
    return hits;
  }
  /// All rows whose similarity to a query is at least `threshold`, from 0 to 1, the most similar first.
  result<std::vector<petal_index_hit>> try_find_similar(bytes query, double threshold,
                                                    const index_search_options &options =
                                                        index_search_options()) const noexcept {
    std::vector<petal_index_hit> hits;
    std::size_t found = 0;
    // Most answers are short. For a longer one the first search gives the length.
    for (std::size_t room = 256;; room = found) {
      if (auto had = detail::allocating([&] { hits.resize(room); }); !had) return had.error();
      auto searched = detail::tried(petal_index_find_similar, get(), query.data(), query.size(), threshold,
                                    &options.get(), hits.data(), room, &found);
      if (!searched) return searched.error();
      if (found <= room) break;
    }
    hits.resize(found);
    return hits;
  }
  /// Gives the rows that `find_similar()` finds to a callback while the search goes on, in the order of their numbers;
  /// how many these were. See `petal_index_visit_similar()`.
  result<std::uint64_t> try_visit_similar(bytes query, double threshold, petal_index_hit_callback each, void *context,
                                          const index_search_options &options = index_search_options()) const noexcept {
    return detail::output(std::uint64_t{0}, petal_index_visit_similar, get(), query.data(), query.size(), threshold,
                          &options.get(), each, context);
  }
  /// The ids of all rows that have every bit of a query, in the order of their numbers.
  result<std::vector<std::uint64_t>> try_find_containing(
      bytes query, const index_search_options &options = index_search_options()) const noexcept {
    std::vector<std::uint64_t> ids;
    std::size_t found = 0;
    // Most answers are short. For a longer one the first search gives the length.
    for (std::size_t room = 256;; room = found) {
      if (auto had = detail::allocating([&] { ids.resize(room); }); !had) return had.error();
      auto searched = detail::tried(petal_index_find_containing, get(), query.data(), query.size(), &options.get(),
                                    ids.data(), room, &found);
      if (!searched) return searched.error();
      if (found <= room) break;
    }
    ids.resize(found);
    return ids;
  }
  /// Gives the rows that `find_containing()` finds to a callback, in the order of their numbers; how many these were.
  /// See `petal_index_visit_containing()`.
  result<std::uint64_t> try_visit_containing(bytes query, petal_index_row_callback each, void *context,
                                              const index_search_options &options =
                                                  index_search_options()) const noexcept {
    return detail::output(std::uint64_t{0}, petal_index_visit_containing, get(), query.data(), query.size(),
                          &options.get(), each, context);
  }
  /// A row of this index, folded to one of `width` bits, which divide the width of the index.
  result<std::vector<std::uint8_t>> try_fold_row(bytes row, petal_index_fold fold, std::uint64_t width) const noexcept {
    std::vector<std::uint8_t> folded;
    // The library says what is wrong with a greater width.
    const std::size_t length = (std::min(width, this->width()) + 7) / 8;
    if (auto had = detail::allocating([&] { folded.resize(length); }); !had) return had.error();
    auto made = detail::tried(petal_index_fold_row, get(), row.data(), row.size(), fold, width, folded.data(),
                              folded.size());
    if (!made) return made.error();
    return folded;
  }
  /// The share of rows that have every bit of a query by chance. See `petal_index_expected_false_positive_rate()`.
  result<double> try_expected_false_positive_rate(bytes query) const noexcept {
    return detail::output(0.0, petal_index_expected_false_positive_rate, get(), query.data(), query.size());
  }
  /// Sets the bits of a feature in a row: `bits` of them, or with 0 as many as the index's `feature_bits`.
  result<void> try_add_feature(std::vector<std::uint8_t> &row, bytes feature, std::uint32_t bits = 0) const noexcept {
    return detail::tried(petal_index_add_feature, get(), row.data(), row.size(), feature.data(), feature.size(), bits);
  }
  /// Sets the bits of the feature with this hash in a row, as `try_add_feature()` does those of a feature.
  result<void> try_add_feature(std::vector<std::uint8_t> &row, hash64 feature, std::uint32_t bits = 0) const noexcept {
    return detail::tried(petal_index_add_feature_hash, get(), row.data(), row.size(), feature.value, bits);
  }
  /// Tanimoto's coefficient of two sets of features, estimated from their rows, and the estimate's standard error.
  result<std::pair<double, double>> try_estimate_similarity(bytes first, bytes second) const noexcept {
    // The library says what is wrong with a row of another length.
    const std::size_t length = first.size() == second.size() ? first.size() : 0;
    return detail::output(std::pair<double, double>(0, 0),
                          [&](std::pair<double, double> *told, petal_error *error) noexcept {
                            return petal_index_estimate_similarity(get(), first.data(), second.data(), length,
                                                                   &told->first,
                                                         &told->second, error);
                          });
  }
  /// `find_top()` for `count` queries, which follow each other in `queries`.
  result<std::vector<std::vector<petal_index_hit>>> try_find_top_batch(
      bytes queries, std::size_t count, std::size_t k,
      const index_search_options &options = index_search_options()) const noexcept {
    const std::size_t room = std::min<std::uint64_t>(k, next_row());
    return many(queries, count, room,
                [&](petal_index_hit *hits, std::size_t *found, petal_error *error) noexcept {
                  return petal_index_find_top_batch(get(), queries.data(), count, room, &options.get(), hits, found,
                                                    error);
                });
  }
  /// `find_similar()` for `count` queries, which follow each other in `queries`: the `room` most similar rows of each.
  result<std::vector<std::vector<petal_index_hit>>> try_find_similar_batch(
      bytes queries, std::size_t count, double threshold, std::size_t room,
      const index_search_options &options = index_search_options()) const noexcept {
    return many(queries, count, room,
                [&](petal_index_hit *hits, std::size_t *found, petal_error *error) noexcept {
                  return petal_index_find_similar_batch(get(), queries.data(), count, threshold, &options.get(), hits,
                                                        room,
                                                   found, error);
                });
  }

  /// Keeps your bytes in the image, instead of those that were there before.
  result<void> try_attach(bytes data) noexcept {
    return detail::tried(petal_index_attach, get(), data.data(), data.size());
  }
  /// The bytes that `attach()` kept.
  result<std::vector<std::uint8_t>> try_attachment() const noexcept {
    std::vector<std::uint8_t> kept;
    std::size_t length = 0;
    const auto copy = [&](petal_error *error) noexcept {
      return petal_index_get_attachment(get(), kept.data(), kept.size(), &length, error);
    };
    if (auto counted = detail::tried(copy); !counted) return counted.error();
    if (auto had = detail::allocating([&] { kept.resize(length); }); !had) return had.error();
    if (auto written = detail::tried(copy); !written) return written.error();
    return kept;
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit index(const spec &wanted) : index(try_make(wanted).value()) {}
#include "throwing/index.hpp"
#endif

 private:
  template <class Call>
  result<std::vector<std::vector<petal_index_hit>>> many(bytes queries, std::size_t count, std::size_t room,
                                                         Call call) const noexcept {
    // The C function reads the bytes of `count` rows, and cannot know whether there are that many.
    const std::size_t length = (width() + 7) / 8;
    if (length > 0 && (queries.size() % length != 0 || queries.size() / length != count)) {
      return failure(status::out_of_range);
    }
    std::vector<petal_index_hit> hits;
    std::vector<std::size_t> found;
    std::vector<std::vector<petal_index_hit>> answers;
    if (room > 0 && count > (hits.max_size() - 1) / room) return failure(status::too_large);
    auto had = detail::allocating([&] {
      hits.resize(count * room + 1);
      found.resize(count + 1);
      answers.resize(count);
    });
    if (!had) return had.error();
    if (count == 0) return answers;
    auto searched =
        detail::tried(call, hits.data(), found.data());
    if (!searched) return searched.error();
    auto split = detail::allocating([&] {
      for (std::size_t i = 0; i < count; i++) {
        const petal_index_hit *first = hits.data() + i * room;
        answers[i].assign(first, first + std::min(found[i], room));
      }
    });
    if (!split) return split.error();
    return answers;
  }
};

/// Takes any number of rows, and makes an index of them that is arranged for searches.
class index_builder {
 public:
  index_builder() noexcept = default;

  /// Makes a builder. The capacity of the spec may be 0.
  static result<index_builder> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    index_builder builder;
    petal_index_builder *handle = nullptr;
    auto had = detail::tried(
        [&](petal_error *error) noexcept { return petal_index_builder_new(&wanted.get(), &handle, error); });
    if (!had) return had.error();
    builder.builder_.reset(handle);
    return builder;
  }
  /// Adds a row under an id of yours.
  result<void> try_add(std::uint64_t id, bytes row) noexcept {
    return detail::tried(petal_index_builder_add, builder_.get(), id, row.data(), row.size());
  }
  /// Makes the index of all rows. The builder takes no more rows then.
  result<index> try_finish() noexcept {
    petal_index *handle = nullptr;
    auto had = detail::tried(
        [&](petal_error *error) noexcept { return petal_index_builder_finish(builder_.get(), &handle, error); });
    if (!had) return had.error();
    return index::adopt(handle);
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit index_builder(const spec &wanted) : index_builder(try_make(wanted).value()) {}
#include "throwing/index_builder.hpp"
#endif

 private:
  struct release {
    void operator()(petal_index_builder *builder) const noexcept { petal_index_builder_free(builder); }
  };
  std::unique_ptr<petal_index_builder, release> builder_;
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_INDEXES
