// Builders, which collect keys first. Part of petal.hpp.
#ifndef PETAL_HPP_BUILDERS
#define PETAL_HPP_BUILDERS

#include "filters.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

template <class Self, class Handle, class Made, auto New>
class maker;

}  // namespace detail

/// How a builder works.
class builder_options {
 public:
  /// The most bytes that collected keys take before they go to a temporary file in this folder. Solving a kind that is
  /// built from all keys exceeds a lower limit: it takes 28 MB for two million keys and 118 MB at most. For maps that
  /// is 45 MB and 202 MB.
  builder_options &memory_limit(std::uint64_t most, std::string temporary_directory) noexcept {
    limit_ = most;
    directory_ = std::move(temporary_directory);
    return *this;
  }
#ifdef _WIN32
  template <class Path, class = decltype(std::declval<const Path &>().u8string())>
  builder_options &memory_limit(std::uint64_t most, const Path &temporary_directory) {
    return memory_limit(most, std::string(c_string(temporary_directory).get()));
  }
#endif
  /// How many threads make the filter or map, the caller's included; 0 and 1 mean the caller's only. The filter or map
  /// is the same.
  builder_options &threads(std::size_t count) noexcept {
    threads_ = count;
    return *this;
  }
  /// Reports the progress of making the filter or map. The builder calls it with the units of work done and the total,
  /// at least once for every 2^21 units; a unit is a key in one phase. The total is the same at all calls. The work
  /// done never falls, and is the total at the last call. Returning false cancels, and the keys stay.
  builder_options &progress(std::function<bool(std::uint64_t done, std::uint64_t total)> report) noexcept {
    report_ = std::move(report);
    return *this;
  }

 private:
  template <class Self, class Handle, class Made, auto New>
  friend class detail::maker;

  // What the library calls back, and where what that throws waits.
  struct run {
    std::function<bool(std::uint64_t, std::uint64_t)> report;
    detail::barrier barrier;
  };

  static bool call(void *context, std::uint64_t done, std::uint64_t total) noexcept {
    auto &to = *static_cast<run *>(context);
    return to.barrier.run([&] { return to.report(done, total); });
  }

  // These options as the C API has them, which refer to these and to `progress`.
  result<void> fill(petal_builder_options &given, std::unique_ptr<run> &progress) noexcept {
    given.memory_limit = limit_;
    given.threads = threads_;
    if (!directory_.empty()) given.temporary_directory = directory_.c_str();
    if (report_) {
      progress.reset(new (std::nothrow) run{std::move(report_), {}});
      if (!progress) return failure(status::out_of_memory);
      given.progress = call;
      given.progress_context = progress.get();
    }
    return {};
  }

  std::uint64_t limit_ = 0;
  std::string directory_;
  std::size_t threads_ = 0;
  std::function<bool(std::uint64_t, std::uint64_t)> report_;
};

namespace detail {

/// The members that builders (`Self`) of filters and of maps (`Made`) share: those of the owner of a handle of the C
/// API, which `New` makes, and those that end in the filter or map.
template <class Self, class Handle, class Made, auto New>
class maker {
  using Calls = calls<Handle>;

 public:
  /// A builder without a handle, as after a move.
  maker() noexcept = default;
  maker(maker &&) noexcept = default;
  maker &operator=(maker &&other) noexcept {
    // The handle goes before what it may call.
    handle_ = std::move(other.handle_);
    progress_ = std::move(other.progress_);
    return *this;
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The handle, for calls of the C API. It stays this object's.
  Handle *get() const noexcept { return handle_.get(); }

  static result<Self> try_make(const spec &wanted = {}, builder_options options = {}) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    auto given = sized<petal_builder_options>();
    Self made;
    if (auto had = options.fill(given, made.progress_); !had) return had.error();
    Handle *handle = nullptr;
    failure error;
    const petal_status code = New(&wanted.get(), &given, &handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    made.handle_.reset(handle);
    return made;
  }

  /// How many keys were added or put, duplicates included, and without excluded ones.
  result<std::uint64_t> try_key_count() const noexcept {
    return output(std::uint64_t{}, Calls::key_count, get());
  }
  /// Gives the keys, and values if there are any, piece by piece, in order, to `write(petal::bytes)`, which returns
  /// nothing, or false to stop. Another builder takes them in with `merge()`. They stay here. An exception of `write`
  /// becomes `status::callback` here, and `serialize_to()` passes the exception on.
  template <class Write>
  result<void> try_serialize_to(Write &&write) noexcept {
    detail::barrier barrier;
    return serialize_through(write, barrier);
  }
  /// Takes in what another builder with the same spec has, as if that had been given to this one.
  result<void> try_merge(const void *state, std::size_t length) noexcept {
    return tried(Calls::merge, get(), state, length);
  }
  template <class Range, class = std::enable_if_t<is_range_of<const Range, is_byte>::value>>
  result<void> try_merge(const Range &state) noexcept(is_nothrow_contiguous<const Range>()) {
    return try_merge(std::data(state), std::size(state));
  }
  /// Makes the filter or map and empties the builder, which may be used again. On a failure the keys stay. What the
  /// progress callback throws is dropped and becomes `status::cancelled`; `finish()` passes it on.
  result<Made> try_finish() noexcept {
    forget();
    decltype(std::declval<Made &>().get()) handle = nullptr;
    failure error;
    const petal_status code = Calls::finish(get(), &handle, error.out());
    if (code != PETAL_OK) return error.settle(code);
    return Made::adopt(handle);
  }
  /// Makes the filter or map straight into a file, which it replaces atomically. Otherwise like `try_finish()`.
  result<void> try_save(c_string path) noexcept {
    forget();
    return tried(Calls::save, get(), path.get());
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  template <class Write>
  void serialize_to(Write &&write) {
    detail::barrier barrier;
    const auto written = serialize_through(write, barrier);
    barrier.rethrow();
    rethrow();
    written.value();
  }
  Made finish() {
    auto made = try_finish();
    rethrow();
    return std::move(made).value();
  }
  void save(c_string path) {
    const auto saved = try_save(path);
    rethrow();
    saved.value();
  }
#include "throwing/maker.hpp"
#endif

 protected:
  // What the last run threw is of no interest to this one.
  void forget() noexcept {
    if (progress_) progress_->barrier.forget();
  }
#if PETAL_HPP_EXCEPTIONS
  void rethrow() {
    if (progress_) progress_->barrier.rethrow();
  }
#endif

 private:
  template <class Write>
  result<void> serialize_through(Write &write, detail::barrier &barrier) noexcept {
    forget();
    writer<Write> to{write, barrier};
    return tried(Calls::serialize_to, get(), writer<Write>::call, &to);
  }
  struct free {
    void operator()(Handle *handle) const noexcept { Calls::free(handle); }
  };

  // In this order: the handle is freed before what it may call.
  std::unique_ptr<builder_options::run> progress_;
  std::unique_ptr<Handle, free> handle_;
};

}  // namespace detail

/// Collects keys, and then makes a filter for exactly the distinct ones.
class builder : public detail::maker<builder, petal_builder, filter, petal_builder_new> {
 public:
  /// A builder without a handle, as after a move.
  builder() noexcept = default;

  /// Adds a key.
  template <class Key>
  result<void> try_add(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<void>(key, get(), petal_builder_add_batch, detail::add);
  }
  result<void> try_add(const void *key, std::size_t length) noexcept { return try_add(bytes(key, length)); }
  /// Adds many keys, given as to `filter::insert_batch()`. `done`, nullable, is always written: how many keys were
  /// added, from the first on.
  template <class Keys>
  result<void> try_add_batch(Keys &&keys,
                             std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give(get(), petal_builder_add_batch, keys, done);
  }
  /// Adds a key that came `times` times, where the kind counts; 0 times add nothing.
  template <class Key>
  result<void> try_add_times(const Key &key, std::uint64_t times) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<void>(key, get(), petal_builder_add_times_batch, detail::add_times, times);
  }
  /// Adds many keys, each as often as its element of `times` says, where the kind counts. `done`, nullable, is always
  /// written: how many keys were added, from the first on.
  template <class Keys>
  result<void> try_add_times_batch(Keys &&keys, const std::uint64_t *times,
                                   std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    const auto added = detail::give_values(get(), petal_builder_add_times_batch, keys, times, nullptr, done);
    if (!added) return added.error();
    return {};
  }
  /// Excludes a key, where the kind takes excluded keys (`exact_set`): the filter does not contain it. A key that is
  /// added too is an error when the filter is made.
  template <class Key>
  result<void> try_exclude(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::for_key<void>(key, get(), petal_builder_exclude_batch, detail::exclude);
  }
  /// Excludes many keys. `done`, nullable, is always written: how many keys were excluded, from the first on.
  template <class Keys>
  result<void> try_exclude_batch(Keys &&keys,
                                 std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    return detail::give(get(), petal_builder_exclude_batch, keys, done);
  }
  /// Makes the builder bring a filter up to date, where the kind can (`exact_set`): the next filter that it makes is
  /// `old`, followed by what changes of its answers. Give it the whole universe. The builder copies `old`.
  result<void> try_update(const filter &old) noexcept {
    return detail::tried(petal_builder_update, get(), old.get());
  }
  /// Gives a frequent non-member with its weight, where the kind takes such (`stacked`): a key that is no member but is
  /// asked for often. A key that is added too is an error when the filter is made.
  template <class Key>
  result<void> try_add_frequent(const Key &key, double weight = 1) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this, weight](auto one) noexcept -> result<void> {
      const petal_status code = detail::add_frequent(get(), one, weight);
      if (code == PETAL_OK) return {};
      if (code == PETAL_ERR_OUT_OF_RANGE) {
        return failure(status::out_of_range, "the weight is not a number from 2^-60 to 2^60");
      }
      return detail::why(code, get(), petal_builder_add_frequent_batch, detail::none_like(one));
    });
  }
  /// Gives many frequent non-members. `weights`, nullable, has one for each; without it each weight is 1. `done`,
  /// nullable, is always written: how many keys were taken, from the first on.
  template <class Keys>
  result<void> try_add_frequent_batch(Keys &&keys, const double *weights = nullptr,
                                  std::size_t *done = nullptr) noexcept(detail::is_nothrow_batch<Keys>()) {
    failure error;
    std::size_t all = 0;
    const detail::at_end tell([&]() noexcept {
      if (done != nullptr) *done = all;
    });
    const petal_status code = detail::in_pieces(keys, [&](const petal::keys &list, std::size_t from) noexcept {
      auto to = detail::sized<petal_answers>();
      const double *own = weights != nullptr ? weights + from : nullptr;
      const petal_status of_piece = petal_builder_add_frequent_batch(get(), list.get(), own, &to, error.out());
      all += to.done;
      return of_piece;
    });
    return detail::done(code, std::move(error));
  }
  /// An upper limit for the bytes of the filter's compact form. If all keys are distinct, the form of a kind that is
  /// built from its keys has about that size.
  result<std::uint64_t> try_compact_size() noexcept {
    return detail::output(std::uint64_t{0}, petal_builder_compact_size, get());
  }
  /// Makes the filter and writes its compact form into a buffer, of any alignment; returns its size. Otherwise like
  /// `try_finish()`.
  result<std::size_t> try_finish_compact(void *buffer, std::size_t length) noexcept {
    return detail::output(std::size_t{0}, petal_builder_finish_compact, get(), buffer, length);
  }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit builder(const spec &wanted, builder_options options = {})
      : builder(try_make(wanted, std::move(options)).value()) {}
  template <class Key>
  void add(const Key &key) {
    const petal_status code = detail::with_key(key, [this](auto one) noexcept { return detail::add(get(), one); });
    detail::check_one<Key>(code, get(), petal_builder_add_batch);
  }
  void add(const void *key, std::size_t length) { add(bytes(key, length)); }
  std::size_t finish_compact(void *buffer, std::size_t length) {
    const auto made = try_finish_compact(buffer, length);
    rethrow();
    return made.value();
  }
#include "throwing/builder.hpp"
#endif
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_BUILDERS
