// Aggregates, held to values that are known.
#include "common.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace {

petal::spec spec_of(double rate = 1e-9) {
  return petal::spec().kind(PETAL_KIND_AGGREGATE).capacity(100).false_positive_rate(rate).set("states", 4);
}

TEST(Aggregates, TakeEachValueOnceAndReplaceIt) {
  petal::aggregate ours(spec_of()), theirs(spec_of());
  EXPECT_EQ(ours.state_count(), 4u);
  const petal_aggregate_state_value cold{0, 18.5}, warm{1, 21.0};
  petal_aggregate_answer answer = ours.add("sensor 7", cold);
  EXPECT_EQ(answer.outcome, static_cast<petal_aggregate_outcome>(PETAL_AGGREGATE_OUTCOME_FIRST));
  theirs.record_sent("we", 0, &answer);
  EXPECT_EQ(ours.add("sensor 7", cold).outcome,
            static_cast<petal_aggregate_outcome>(PETAL_AGGREGATE_OUTCOME_DUPLICATE));
  EXPECT_EQ(theirs.list_sent("we"), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(theirs.list_sent("others").empty());
  answer = ours.add("sensor 7", warm, &cold, 1);
  EXPECT_EQ(answer.outcome, static_cast<petal_aggregate_outcome>(PETAL_AGGREGATE_OUTCOME_CHANGED));
  EXPECT_EQ(answer.replaced, 0u);
  theirs.record_sent("we", 1, &answer);
  EXPECT_EQ(theirs.list_sent("we"), std::vector<std::uint32_t>{1});
  EXPECT_EQ(ours.add("sensor 7", cold).outcome, static_cast<petal_aggregate_outcome>(PETAL_AGGREGATE_OUTCOME_REFUSED));
  ours.add(std::uint64_t{8}, {2, 1.0});
  ours.add(petal::hash64{9}, {2, 3.0});
  EXPECT_EQ(ours.count_in_state(2), 2u);
  const petal_aggregate_statistics results = ours.statistics();
  EXPECT_EQ(results.count, 3u);
  EXPECT_EQ(results.sum, 25.0);
  EXPECT_EQ(results.maximum, 21.0);
  EXPECT_EQ(results.minimum, 1.0);
  EXPECT_EQ(results.exact, static_cast<std::uint64_t>(PETAL_AGGREGATE_MAXIMUM_IS_EXACT |
                                                      PETAL_AGGREGATE_MINIMUM_IS_EXACT));
  EXPECT_EQ(results.refused_firsts, 1u);
  EXPECT_TRUE(ours.remove(petal::hash64{9}, {2, 3.0}));
  EXPECT_FALSE(ours.remove(petal::hash64{9}, {2, 3.0}));
  theirs.record_sent("we", 3, nullptr);
  EXPECT_EQ(theirs.list_sent("we"), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_TRUE(theirs.forget_sent("we", 3));
  EXPECT_FALSE(theirs.forget_sent("we", 3));
}

TEST(Aggregates, TellWhatFalsePositivesCost) {
  petal::aggregate ours(spec_of(0.05));
  const petal_aggregate_expected_errors errors = ours.expected_errors(100);
  EXPECT_LE(errors.false_positive_rate, 0.05);
  EXPECT_GT(errors.refused_firsts, 0.5);
  EXPECT_LT(errors.bias, 0.0);
}

TEST(Aggregates, AreImages) {
  petal::aggregate ours(spec_of());
  for (std::uint64_t id = 0; id < 50; id++) ours.add(id, {0, static_cast<double>(id)});
  const auto image = ours.serialize();
  petal::aggregate loaded = petal::aggregate::load(image.data(), image.size());
  loaded.verify();
  EXPECT_EQ(loaded.statistics().sum, 1225.0);
  EXPECT_EQ(loaded.copy().statistics().count, 50u);
  loaded.clear();
  EXPECT_EQ(loaded.statistics().count, 0u);
  EXPECT_FALSE(petal::aggregate::try_load(image.data(), 100));
}

TEST(Aggregates, RefuseWhatIsNoStateAndNoNumber) {
  petal::aggregate ours(spec_of());
  const auto refused = ours.try_add("x", {4, 1.0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), petal::status::out_of_range);
  EXPECT_NE(std::string(refused.error().message()).find("state = 4"), std::string::npos);
  EXPECT_THROW(ours.record_sent("x", 4, nullptr), petal::error);
  EXPECT_FALSE(petal::aggregate::try_make(petal::spec().kind(PETAL_KIND_BLOOM)));
  petal::aggregate nothing;
  EXPECT_FALSE(nothing.try_statistics());
  EXPECT_EQ(nothing.state_count(), 0u);
}

}  // namespace
