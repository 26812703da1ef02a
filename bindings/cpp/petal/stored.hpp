// The stored numbers of a filter, as a range. Part of petal.hpp.
#ifndef PETAL_HPP_STORED
#define PETAL_HPP_STORED

#include <petal_more.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace petal {

/// The numbers that a filter stores, in ascending order and each once: see `filter::stored_hashes()`. Reads them piece
/// by piece. The filter must outlive the range, and must not change meanwhile.
class stored_hash_range {
 public:
  /// Goes through the numbers once.
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::uint64_t *;
    using reference = const std::uint64_t &;

    iterator() noexcept = default;
    explicit iterator(const petal_filter *filter) noexcept : filter_(filter) { read(0); }

    reference operator*() const noexcept { return piece_[at_]; }
    pointer operator->() const noexcept { return &piece_[at_]; }
    /// The count of the number: 1 if the kind does not count.
    std::uint64_t count() const noexcept { return counts_[at_]; }
    iterator &operator++() noexcept {
      if (++at_ == count_) {
        if (count_ == piece_.size()) {
          read(piece_[at_ - 1] + 1);
        } else {
          filter_ = nullptr;
        }
      }
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator before = *this;
      ++*this;
      return before;
    }
    /// Whether both are at the end, or at one number of one filter.
    friend bool operator==(const iterator &a, const iterator &b) noexcept {
      return a.filter_ == b.filter_ && (a.filter_ == nullptr || *a == *b);
    }
    friend bool operator!=(const iterator &a, const iterator &b) noexcept { return !(a == b); }

   private:
    void read(std::uint64_t from) noexcept {
      at_ = 0;
      if (petal_filter_get_stored_hashes(filter_, from, piece_.data(), counts_.data(), piece_.size(), &count_,
                                         nullptr) !=
              PETAL_OK ||
          count_ == 0) {
        filter_ = nullptr;
      }
    }

    const petal_filter *filter_ = nullptr;
    std::array<std::uint64_t, 64> piece_{}, counts_{};
    std::size_t at_ = 0;
    std::size_t count_ = 0;
  };

  explicit stored_hash_range(const petal_filter *filter) noexcept : filter_(filter) {}
  iterator begin() const noexcept { return iterator(filter_); }
  iterator end() const noexcept { return iterator(); }

 private:
  const petal_filter *filter_;
};

}  // namespace petal

#endif  // PETAL_HPP_STORED
