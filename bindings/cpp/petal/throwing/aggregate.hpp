// Written by `make layers` from aggregates.hpp: change that, not this. Part of petal.hpp: what stands there as
// `try_name()`, as `name()`, which throws `petal::error`.

  template <class Key>
  petal_aggregate_answer add(const Key &id, petal_aggregate_state_value now,
      const petal_aggregate_state_value *previous = nullptr, std::size_t count = 0) {
    return try_add(id, now, previous, count).value();
  }
  template <class Key>
  bool remove(const Key &id, petal_aggregate_state_value now) {
    return try_remove(id, now).value();
  }
  template <class Key>
  std::vector<std::uint32_t> list_sent(const Key &id) const {
    return try_list_sent(id).value();
  }
  template <class Key>
  void record_sent(const Key &id, std::uint32_t state, const petal_aggregate_answer *answer) {
    try_record_sent(id, state, answer).value();
  }
  template <class Key>
  bool forget_sent(const Key &id, std::uint32_t state) {
    return try_forget_sent(id, state).value();
  }
  petal_aggregate_statistics statistics() const { return try_statistics().value(); }
  petal_aggregate_expected_errors expected_errors(std::uint64_t participants) const {
    return try_expected_errors(participants).value();
  }
  std::uint64_t count_in_state(std::uint32_t state) const { return try_count_in_state(state).value(); }
