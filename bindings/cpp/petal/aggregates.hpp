// Aggregates. Part of petal.hpp.
#ifndef PETAL_HPP_AGGREGATES
#define PETAL_HPP_AGGREGATES

#include "images.hpp"
#include "specs.hpp"

#include <petal_aggregate.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

inline constexpr verb<petal_aggregate_add, nullptr, petal_aggregate_add_hash> add_participant;
inline constexpr verb<petal_aggregate_remove, nullptr, petal_aggregate_remove_hash> remove_participant;
inline constexpr verb<petal_aggregate_list_sent, nullptr, petal_aggregate_list_sent_hash> list_sent_states;
inline constexpr verb<petal_aggregate_record_sent, nullptr, petal_aggregate_record_sent_hash> record_sent_state;
inline constexpr verb<petal_aggregate_forget_sent, nullptr, petal_aggregate_forget_sent_hash> forget_sent_state;

}  // namespace detail

/// Sum, mean, maximum, minimum and count of values that change, where each participant counts once, however often the
/// participant is met. Aggregates cannot merge. See petal_aggregate.h.
///
///     const petal::spec spec = petal::spec().kind(PETAL_KIND_AGGREGATE).capacity(1000);
///     petal::aggregate ours(spec), theirs(spec);
///     const petal_aggregate_answer answer = ours.add("sensor 7", {0, 18.5});
///     theirs.record_sent("we", 0, &answer);
///     std::printf("%g\n", ours.statistics().mean);
class aggregate : public detail::image_owner<aggregate, petal_aggregate> {
 public:
  /// Holds nothing, like one that was moved from.
  aggregate() noexcept = default;

  /// Makes an aggregate that has met nobody.
  static result<aggregate> try_make(const spec &wanted) noexcept {
    if (auto fine = wanted.check(); !fine) return fine.error();
    return made([&](petal_aggregate **handle, petal_error *error) noexcept {
      return petal_aggregate_new(&wanted.get(), handle, error);
    });
  }

  /// Meets the participant with this id, which is in the state `now`. `previous` has the `count` states that the
  /// participant may have told this aggregator before, each with its value.
  template <class Key>
  result<petal_aggregate_answer> try_add(const Key &id, petal_aggregate_state_value now,
                                         const petal_aggregate_state_value *previous = nullptr,
                                 std::size_t count = 0) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(id, [&](auto one) noexcept -> result<petal_aggregate_answer> {
      return detail::output(petal_aggregate_answer{}, detail::add_participant, get(), one, now.state, now.value,
                            previous, count);
    });
  }
  /// Forgets the participant with this id, which is aggregated in the state `now`. False, with nothing changed, if the
  /// participant is not aggregated in this state.
  template <class Key>
  result<bool> try_remove(const Key &id, petal_aggregate_state_value now) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(id, [&](auto one) noexcept -> result<bool> {
      return detail::output(false, detail::remove_participant, get(), one, now.state, now.value);
    });
  }
  /// The states that this disseminator told the aggregator with this id: none before their first meeting, then one. At
  /// the false-positive rate the list also has states that were never told. Cite all of them.
  template <class Key>
  result<std::vector<std::uint32_t>> try_list_sent(const Key &id) const noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(id, [&](auto one) noexcept -> result<std::vector<std::uint32_t>> {
      std::vector<std::uint32_t> states;
      std::size_t count = 0;
      const auto list = [&](petal_error *error) noexcept {
        return detail::list_sent_states(get(), one, states.data(), states.size(), &count, error);
      };
      if (auto counted = detail::tried(list); !counted) return counted.error();
      if (count == 0) return states;
      if (auto had = detail::allocating([&] { states.resize(count); }); !had) return had.error();
      if (auto written = detail::tried(list); !written) return written.error();
      return states;
    });
  }
  /// Notes what the aggregator with this id answered when it was told `state`. `answer` is nullptr if no answer came.
  template <class Key>
  result<void> try_record_sent(const Key &id, std::uint32_t state,
                        const petal_aggregate_answer *answer) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(id, [&](auto one) noexcept -> result<void> {
      return detail::tried(detail::record_sent_state, get(), one, state, answer);
    });
  }
  /// Forgets that the aggregator with this id was told `state`. False, with nothing changed, if the aggregator was not
  /// told `state`.
  template <class Key>
  result<bool> try_forget_sent(const Key &id, std::uint32_t state) noexcept(detail::is_nothrow_key<Key>()) {
    return detail::with_key(id, [&](auto one) noexcept -> result<bool> {
      return detail::output(false, detail::forget_sent_state, get(), one, state);
    });
  }
  /// What is aggregated now.
  result<petal_aggregate_statistics> try_statistics() const noexcept {
    const auto ask = [&](petal_aggregate_statistics *results, petal_error *error) noexcept {
      return petal_aggregate_get_statistics(get(), results, error);
    };
    return detail::output(detail::sized<petal_aggregate_statistics>(), ask);
  }
  /// What false positives are expected to cost with this many participants.
  result<petal_aggregate_expected_errors> try_expected_errors(std::uint64_t participants) const noexcept {
    return detail::output(detail::sized<petal_aggregate_expected_errors>(), petal_aggregate_get_expected_errors, get(),
                          participants);
  }
  /// How many participants are aggregated with a state.
  result<std::uint64_t> try_count_in_state(std::uint32_t state) const noexcept {
    return detail::output(std::uint64_t{0}, petal_aggregate_count_in_state, get(), state);
  }
  /// How many states a participant can have.
  std::uint32_t state_count() const noexcept { return petal_aggregate_state_count(get()); }

#if PETAL_HPP_EXCEPTIONS
  // The same operations, which throw `petal::error`.

  explicit aggregate(const spec &wanted) : aggregate(try_make(wanted).value()) {}
#include "throwing/aggregate.hpp"
#endif
};

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_AGGREGATES
