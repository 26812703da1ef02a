// Filter policies, held to the C functions.
#include "common.hpp"

#include <string>
#include <utility>
#include <vector>

namespace {

TEST(Policies, FiltersAreThoseOfTheCFunctions) {
  const petal::policy policy(PETAL_POLICY_LEVELDB, 10);
  EXPECT_STREQ(policy.name(), "leveldb.BuiltinBloomFilter2");
  const std::vector<std::string> keys = {"apple", "pear", "", std::string("\0\xff", 2)};
  std::string appended = "before";
  policy.append_filter(keys.begin(), keys.end(), appended);
  EXPECT_EQ(appended.substr(0, 6), "before");
  const std::string filter = appended.substr(6);

  std::vector<const char *> pointers;
  std::vector<std::size_t> lengths;
  for (const auto &key : keys) {
    pointers.push_back(key.data());
    lengths.push_back(key.size());
    EXPECT_TRUE(policy.key_may_match(key, filter));
  }
  std::size_t length = 0;
  char *bytes = petal_policy_create_filter(policy.get(), pointers.data(), lengths.data(), 4, &length);
  EXPECT_EQ(std::string(bytes, length), filter);
  std::free(bytes);
  int matches = 0;
  for (int i = 0; i < 1000; i++) matches += policy.key_may_match("absent " + std::to_string(i), filter);
  EXPECT_LT(matches, 100);
}

TEST(Policies, OneThatHoldsNothingLosesNoKey) {
  petal::policy policy(PETAL_POLICY_LEVELDB, 10);
  const petal::policy moved = std::move(policy);
  EXPECT_TRUE(moved && !policy);  // NOLINT: what was moved from holds none
  std::string filter;
  const std::vector<std::string> keys = {"apple"};
  policy.append_filter(keys.begin(), keys.end(), filter);
  EXPECT_FALSE(filter.empty());
  EXPECT_TRUE(policy.key_may_match("apple", filter) && moved.key_may_match("apple", filter));
}

TEST(Policies, FailuresAreValues) {
  EXPECT_EQ(petal::policy::try_make(PETAL_POLICY_LEVELDB, 0).status(), petal::status::out_of_range);
  EXPECT_EQ(petal::policy::try_make(99, 10).status(), petal::status::unknown_value);
  EXPECT_THROW(petal::policy(99, 10), petal::error);
}

}  // namespace
