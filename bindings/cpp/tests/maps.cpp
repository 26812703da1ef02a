// Maps and their builders, held to a std::map.
#include "common.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::map<std::string, std::uint64_t> words() {
  std::map<std::string, std::uint64_t> exact;
  for (std::uint64_t i = 0; i < 3000; i++) exact["word " + std::to_string(i)] = i * i;
  return exact;
}

void check(const petal::map &map, const std::map<std::string, std::uint64_t> &exact) {
  std::vector<std::string> keys;
  for (const auto &entry : exact) {
    EXPECT_EQ(map.find(entry.first), std::optional<std::uint64_t>(entry.second));
    keys.push_back(entry.first);
  }
  std::vector<std::uint64_t> values(keys.size());
  std::vector<std::uint8_t> found(keys.size());
  EXPECT_EQ(map.find_batch(keys, values.data(), found.data()), keys.size());
  for (std::size_t i = 0; i < keys.size(); i++) EXPECT_TRUE(values[i] == exact.at(keys[i]) && found[i] == 1);
  map.verify();
}

}  // namespace

TEST(Maps, HoldExactValues) {
  const auto exact = words();
  petal::map_builder builder(petal::spec().false_positive_rate(0.001));
  for (const auto &entry : exact) builder.put(entry.first, entry.second);
  EXPECT_EQ(builder.key_count(), exact.size());
  const petal::map map = builder.finish();
  check(map, exact);
  std::size_t absent = 0;
  for (int i = 0; i < 10000; i++) absent += map.find("other " + std::to_string(i)).has_value() ? 1 : 0;
  EXPECT_LT(absent, 40u);
  EXPECT_EQ(map.describe().kind, PETAL_KIND_BLOOMIER);
  EXPECT_EQ(map.statistics().count_estimate, 3000.0);
  check(map.copy(), exact);
}

TEST(Maps, AreMadeEmptyAndMerged) {
  const auto exact = words();
  const auto spec = petal::spec().kind(PETAL_KIND_APPROXIMATOR).capacity(3000).set("lattice", "min");
  petal::map first(spec), second(spec);
  EXPECT_TRUE(first.can(PETAL_CAN_PUT | PETAL_CAN_MERGE | PETAL_CAN_CLEAR) && !first.can(PETAL_CAN_REPLACE));
  std::vector<std::string> keys;
  std::vector<std::uint64_t> values;
  std::size_t changes = 0;
  for (const auto &entry : exact) {
    changes += first.put(entry.first, entry.second + 7);
    keys.push_back(entry.first), values.push_back(entry.second);
  }
  std::vector<std::uint8_t> changed(keys.size());
  std::size_t done = 0;
  // A key whose cells others have all lowered as far already changes nothing: 1 in 100 of the last ones.
  EXPECT_GT(changes, keys.size() * 99 / 100);
  EXPECT_GT(second.put_batch(keys, values.data(), changed.data(), &done), keys.size() * 99 / 100);
  EXPECT_EQ(done, keys.size());
  first.merge(second);
  for (const auto &entry : exact) EXPECT_LE(first.find(entry.first).value(), entry.second);
  EXPECT_FALSE(first.put(keys[0], values[0]));
  EXPECT_EQ(first.try_replace(keys[0], 1).error().code(), petal::status::unsupported);
  first.sync();
  first.mark_clean();
  first.clear();
  EXPECT_EQ(first.find(keys[0]), std::nullopt);
  EXPECT_THROW(petal::map(petal::spec().kind(PETAL_KIND_BLOOMIER)), petal::error);
}

TEST(Maps, ReplaceValues) {
  auto exact = words();
  const auto spec = petal::spec().kind(PETAL_KIND_MUTABLE_BLOOMIER).set("value_bits", 32).false_positive_rate(1e-6);
  petal::map_builder builder(spec);
  for (const auto &entry : exact) builder.put(entry.first, entry.second);
  petal::map map = builder.finish();
  EXPECT_TRUE(map.can(PETAL_CAN_REPLACE));
  std::vector<std::string> keys;
  std::vector<std::uint64_t> values;
  for (auto &entry : exact) {
    entry.second ^= 12345;
    keys.push_back(entry.first), values.push_back(entry.second);
  }
  EXPECT_TRUE(map.replace(keys[0], values[0]));
  EXPECT_FALSE(map.replace("another key", 1));
  std::vector<std::uint8_t> found(keys.size());
  EXPECT_EQ(map.replace_batch(keys, values.data(), found.data()), keys.size());
  check(map, exact);
  EXPECT_EQ(map.try_replace(keys[0], std::uint64_t{1} << 32).error().code(), petal::status::out_of_range);
}

TEST(Maps, AreImages) {
  const auto exact = words();
  auto built = petal::map_builder::try_make();
  ASSERT_TRUE(built);
  std::vector<std::string> keys;
  std::vector<std::uint64_t> values;
  for (const auto &entry : exact) keys.push_back(entry.first), values.push_back(entry.second);
  std::size_t done = 0;
  ASSERT_TRUE(built->try_put_batch(keys, values.data(), &done));
  EXPECT_EQ(done, exact.size());
  const std::string path = ::testing::TempDir() + "petal_map_" + std::to_string(std::random_device()());
  const petal::map map = built->finish();
  map.save(path);
  check(petal::map::open(path), exact);
  auto image = map.serialize();
  EXPECT_EQ(image.size(), map.serialized_size());
  check(petal::map::load(image.data(), image.size()), exact);
  check(petal::map::open_in_buffer(image.data(), image.size()), exact);
  check(petal::map::open_descriptor(open_file(path).number(), 0), exact);
  std::vector<std::byte> streamed;
  map.serialize_to([&](petal::bytes piece) { streamed.insert(streamed.end(), piece.begin(), piece.end()); });
  EXPECT_EQ(streamed, image);
  EXPECT_THROW(map.serialize_to([](petal::bytes) { throw std::runtime_error("full"); }), std::runtime_error);
  built->put_batch(keys, values.data());
  built->save(path);
  check(petal::map::open(path), exact);
  const auto refused = petal::filter::try_open(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), petal::status::unsupported);
  std::filesystem::remove(path);
}

TEST(Maps, RefuseTwoValuesAndCancel) {
  petal::map_builder builder(petal::spec{});
  builder.put(1, 2);
  builder.put(1, 3);
  EXPECT_EQ(builder.try_finish().error().code(), petal::status::contradiction);
  EXPECT_THROW(builder.finish(), petal::error);
  petal::map_builder thrower(petal::spec{}, petal::builder_options().progress([](std::uint64_t, std::uint64_t) -> bool {
    throw std::runtime_error("enough");
  }));
  for (int i = 0; i < 10000; i++) thrower.put(i, 1);
  EXPECT_EQ(thrower.try_finish().error().code(), petal::status::cancelled);
  EXPECT_THROW(thrower.finish(), std::runtime_error);
  EXPECT_FALSE(petal::map().try_find(1));
}
