/*
 * Petal's inlined probes in C++17: petal_inline.h with the keys and errors of petal.hpp.
 *
 *     petal::filter seen(1'000'000, 0.01);
 *     const petal::view view(seen);
 *     for (std::uint64_t id : ids) found += view.contains(id);
 *
 * A view is for filters whose layout has a name, those of the kinds blocked, split_block, bloom, fuse, ribbon and
 * cuckoo. Insertions are for the first three. `petal::map_view` looks values up in maps of the kinds retrieval and
 * bloomier. A view takes the keys that its filter or map takes, a type's `petal_key` included. Code that is compiled
 * into the program looks hashes up and inserts them, and integers too if the filter's hash function is XXH3. Other keys
 * are looked up by a call, as in the filter, or hashed by a call and then inserted. A view that is a local variable is
 * the fastest in a loop.
 *
 * Lifetime. A view is a value; copy it at will. It points into its filter and owns nothing. Only the filter's `fold()`
 * and the end of the filter's handle end a view; moving the filter does not.
 *
 * Threads. A lookup is like a const member of the filter: many threads may look up at once, also while others insert
 * with `insert_shared()`, but not while a member runs that is not const. An insertion is like a member that is not
 * const: nobody else may use the filter meanwhile. `filter::sync()` ends the permission to insert, wherever the filter
 * lies: take a new `writable_view` after it. Lookups go on.
 *
 * A view does not count inserted keys. `filter::add_insertions()` adds them to the count later.
 *
 * Instructions. The processor for which you compile a file decides which instructions it uses. So the types of this
 * header differ between files that you compile for different processors, and cannot pass from one to the other. This
 * header is apart from petal.hpp so that only files which want that have it, and the compiler's header of vector
 * instructions.
 */
#ifndef PETAL_VIEW_HPP
#define PETAL_VIEW_HPP

#include <petal.hpp>

// petal.hpp says what is wrong below C++17.
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) >= 201703L
#include <petal_inline.h>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif
#if defined(PETAL_INLINE_AVX512)
inline namespace for_avx512 {
#elif defined(PETAL_INLINE_AVX2)
inline namespace for_avx2 {
#elif defined(PETAL_INLINE_SSE2)
inline namespace for_sse2 {
#elif defined(PETAL_INLINE_NEON)
inline namespace for_neon {
#else
inline namespace for_any {
#endif

/// Lookups in a filter, compiled into the program.
class view {
 public:
  /// An empty view, which says true of every key.
  view() noexcept { view_.struct_size = sizeof view_; }
  /// A view of a filter. `status::unsupported` if its kind has no layout with a name. Constant time.
  static result<view> try_make(const filter &of) noexcept {
    view made;
    failure error;
    made.filter_ = of.get();
    const petal_status code = petal_filter_get_view(of.get(), &made.view_, error.out());
    return detail::done(made, code, std::move(error));
  }
#if PETAL_HPP_EXCEPTIONS
  /// A view as `try_make()` makes one. Throws `petal::error`.
  explicit view(const filter &of) : view(try_make(of).value()) {}
  explicit view(const filter &&) = delete;
#endif

  /// Whether this is a view of a filter.
  explicit operator bool() const noexcept { return view_.layout != 0; }
  /// The struct of the C API, for its functions.
  const petal_view &get() const noexcept { return view_; }

  /// Whether a key may have been inserted; false is certain.
  template <class Key>
  bool contains(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept { return this->contains_one(one); });
  }
  bool contains(const void *key, std::size_t length) const noexcept { return contains_one(bytes(key, length)); }

  /// Fetches the cache line of a key that you will look up or insert soon, for example 16 keys later. If the library
  /// must hash the key, hash it once with `filter::hash()`, for this call and for the lookup.
  template <class Key>
  void prefetch(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    detail::with_key(key, [this](auto one) noexcept { this->prefetch_one(one); });
  }
  void prefetch(const void *key, std::size_t length) const noexcept { prefetch_one(bytes(key, length)); }

 protected:
  bool hashes_inline() const noexcept { return view_.hash == PETAL_HASH_XXH3; }

  petal_view view_{};
  const petal_filter *filter_ = nullptr;

 private:
  bool contains_one(hash64 key) const noexcept { return petal_view_contains_hash(&view_, key.value); }
  bool contains_one(std::uint64_t key) const noexcept {
    return hashes_inline() ? petal_view_contains_u64(&view_, key) : petal_filter_contains_u64(filter_, key);
  }
  bool contains_one(bytes key) const noexcept { return petal_filter_contains(filter_, key.data(), key.size()); }

  void prefetch_one(hash64 key) const noexcept { petal_view_prefetch_hash(&view_, key.value); }
  void prefetch_one(std::uint64_t key) const noexcept {
    if (hashes_inline()) {
      petal_view_prefetch_u64(&view_, key);
    } else {
      prefetch_hashed(key);
    }
  }
  void prefetch_one(bytes key) const noexcept { prefetch_hashed(key); }

  /// For what the library has to hash. What cannot be hashed lies nowhere.
  template <class Key>
  void prefetch_hashed(Key key) const noexcept {
    std::uint64_t hash = 0;
    if (detail::hash(filter_, key, &hash) == PETAL_OK) petal_view_prefetch_hash(&view_, hash);
  }
};

/// Lookups in a filter and insertions into it, compiled into the program.
class writable_view : public view {
 public:
  /// An empty view, which refuses insertions.
  writable_view() noexcept = default;
  /// A view of a filter. An image in place is marked unclean first, on its disk too. `status::unsupported` also if
  /// views of the kind are for lookups only; `status::unsupported_by_handle` if the filter is open for reading, or for
  /// shared insertion.
  static result<writable_view> try_make(filter &of) noexcept {
    writable_view made;
    failure error;
    made.filter_ = of.get();
    const petal_status code = petal_filter_get_writable_view(of.get(), &made.view_, error.out());
    return detail::done(made, code, std::move(error));
  }

  /// Inserts a key: true if it certainly was not there, false if it may have been.
  template <class Key>
  result<bool> try_insert(const Key &key) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept {
      return detail::output<bool>([&](bool *is_new) noexcept { return this->insert_one(one, is_new); });
    });
  }
  result<bool> try_insert(const void *key, std::size_t length) noexcept { return try_insert(bytes(key, length)); }

#if PETAL_HPP_EXCEPTIONS
  // The same calls, which throw `petal::error`.

  explicit writable_view(filter &of) : writable_view(try_make(of).value()) {}

  template <class Key>
  bool insert(const Key &key) {
    bool is_new = false;
    detail::check(detail::with_key(key, [&](auto one) noexcept { return this->insert_one(one, &is_new); }));
    return is_new;
  }
  bool insert(const void *key, std::size_t length) { return insert(bytes(key, length)); }
#endif

 private:
  petal_status insert_one(hash64 key, bool *is_new) noexcept {
    return petal_view_insert_hash(&view_, key.value, is_new);
  }
  petal_status insert_one(std::uint64_t key, bool *is_new) noexcept {
    return hashes_inline() ? petal_view_insert_u64(&view_, key, is_new) : insert_hashed(key, is_new);
  }
  petal_status insert_one(bytes key, bool *is_new) noexcept { return insert_hashed(key, is_new); }

  /// Inserts what the library has to hash.
  template <class Key>
  petal_status insert_hashed(Key key, bool *is_new) noexcept {
    std::uint64_t hash = 0;
    const petal_status code = detail::hash(filter_, key, &hash);
    return code == PETAL_OK ? petal_view_insert_hash(&view_, hash, is_new) : code;
  }
};

/// Lookups in a map, compiled into the program. A view of a map is a value that points into its map, and ends with the
/// end of the map's handle.
class map_view {
 public:
  /// An empty view, which refuses lookups.
  map_view() noexcept { view_.struct_size = sizeof view_; }
  /// A view of a map. `status::unsupported` if the map's layout has no name. Constant time.
  static result<map_view> try_make(const map &of) noexcept {
    map_view made;
    failure error;
    made.map_ = of.get();
    const petal_status code = petal_map_get_view(of.get(), &made.view_, error.out());
    return detail::done(made, code, std::move(error));
  }
#if PETAL_HPP_EXCEPTIONS
  /// A view as `try_make()` makes one. Throws `petal::error`.
  explicit map_view(const map &of) : map_view(try_make(of).value()) {}
  explicit map_view(const map &&) = delete;
#endif

  /// Whether this is a view of a map.
  explicit operator bool() const noexcept { return view_.layout != 0; }
  /// The struct of the C API, for its functions.
  const petal_view &get() const noexcept { return view_; }

  /// The value of a key, as `map::find()` gives it. A call looks up keys that are not hashed inline.
  template <class Key>
  result<std::optional<std::uint64_t>> try_find(const Key &key) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(key, [this](auto one) noexcept -> result<std::optional<std::uint64_t>> {
      std::uint64_t value = 0;
      bool found = false;
      const petal_status code = this->find_one(one, &value, &found);
      if (code != PETAL_OK) return detail::why(code, map_, petal_map_get_batch, detail::none_like(one));
      return found ? std::optional<std::uint64_t>(value) : std::nullopt;
    });
  }
#if PETAL_HPP_EXCEPTIONS
  template <class Key>
  std::optional<std::uint64_t> find(const Key &key) const {
    return try_find(key).value();
  }
#endif

 private:
  petal_status find_one(hash64 key, std::uint64_t *value, bool *found) const noexcept {
    if (view_.hash == PETAL_HASH_EXTERNAL) return petal_view_get_hash(&view_, key.value, value, found);
    return detail::get(map_, key, value, found);
  }
  petal_status find_one(std::uint64_t key, std::uint64_t *value, bool *found) const noexcept {
    if (view_.hash == PETAL_HASH_XXH3) return petal_view_get_u64(&view_, key, value, found);
    return detail::get(map_, key, value, found);
  }
  petal_status find_one(bytes key, std::uint64_t *value, bool *found) const noexcept {
    return detail::get(map_, key, value, found);
  }

  petal_view view_{};
  const petal_map *map_ = nullptr;
};

}  // namespace for_...
#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // C++17
#endif  // PETAL_VIEW_HPP
