// Written by `make layers` from indexes.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  std::uint64_t add(std::uint64_t id, bytes row) { return try_add(id, row).value(); }
  std::uint64_t remove(std::uint64_t id) { return try_remove(id).value(); }
  bool remove_row(std::uint64_t row) { return try_remove_row(row).value(); }
  std::optional<std::pair<std::uint64_t, std::uint64_t>> row_at(std::uint64_t row) const {
    return try_row_at(row).value();
  }
  std::vector<std::uint8_t> copy_row(std::uint64_t row) const { return try_copy_row(row).value(); }
  std::optional<std::uint64_t> find_row(std::uint64_t id, std::uint64_t from = 0) const {
    return try_find_row(id, from).value();
  }
  void merge(const index &other) { try_merge(other).value(); }
  index arrange(std::uint64_t capacity = 0) const { return try_arrange(capacity).value(); }
  index arrange_both(const index &other, std::uint64_t capacity = 0) const {
    return try_arrange_both(other, capacity).value();
  }
  std::vector<petal_index_hit> find_top(bytes query, std::size_t k,
      const index_search_options &options = index_search_options()) const {
    return try_find_top(query, k, options).value();
  }
  std::vector<petal_index_hit> find_similar(bytes query, double threshold,
      const index_search_options &options = index_search_options()) const {
    return try_find_similar(query, threshold, options).value();
  }
  std::uint64_t visit_similar(bytes query, double threshold, petal_index_hit_callback each, void *context,
      const index_search_options &options = index_search_options()) const {
    return try_visit_similar(query, threshold, each, context, options).value();
  }
  std::vector<std::uint64_t> find_containing(bytes query,
      const index_search_options &options = index_search_options()) const {
    return try_find_containing(query, options).value();
  }
  std::uint64_t visit_containing(bytes query, petal_index_row_callback each, void *context,
      const index_search_options &options = index_search_options()) const {
    return try_visit_containing(query, each, context, options).value();
  }
  std::vector<std::uint8_t> fold_row(bytes row, petal_index_fold fold, std::uint64_t width) const {
    return try_fold_row(row, fold, width).value();
  }
  double expected_false_positive_rate(bytes query) const { return try_expected_false_positive_rate(query).value(); }
  void add_feature(std::vector<std::uint8_t> &row, bytes feature, std::uint32_t bits = 0) const {
    try_add_feature(row, feature, bits).value();
  }
  void add_feature(std::vector<std::uint8_t> &row, hash64 feature, std::uint32_t bits = 0) const {
    try_add_feature(row, feature, bits).value();
  }
  std::pair<double, double> estimate_similarity(bytes first, bytes second) const {
    return try_estimate_similarity(first, second).value();
  }
  std::vector<std::vector<petal_index_hit>> find_top_batch(bytes queries, std::size_t count, std::size_t k,
      const index_search_options &options = index_search_options()) const {
    return try_find_top_batch(queries, count, k, options).value();
  }
  std::vector<std::vector<petal_index_hit>> find_similar_batch(bytes queries, std::size_t count, double threshold,
      std::size_t room, const index_search_options &options = index_search_options()) const {
    return try_find_similar_batch(queries, count, threshold, room, options).value();
  }
  void attach(bytes data) { try_attach(data).value(); }
  std::vector<std::uint8_t> attachment() const { return try_attachment().value(); }
