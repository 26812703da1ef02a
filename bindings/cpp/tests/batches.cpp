// Many keys at once, the forms of the answers, and the key buffer.
#include "common.hpp"

#include <array>
#include <memory>
#include <string>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace {

constexpr std::size_t many = 1000;

petal::filter roomy() { return petal::filter(10 * many, 1e-9); }

TEST(batches, numbers) {
  auto f = roomy();
  const auto keys = numbers(0, many), all = numbers(0, 2 * many);
  std::size_t inserted = 0;
  f.insert_batch(keys, {}, &inserted);
  EXPECT_EQ(inserted, many);
  EXPECT_EQ(f.describe().count, many);

  std::vector<std::uint8_t> found(2 * many, 7);
  EXPECT_EQ(f.contains_batch(all, found), many);
  for (std::size_t i = 0; i < 2 * many; i++) EXPECT_EQ(found[i], i < many) << i;
  EXPECT_EQ(f.contains_batch(all), many);
  EXPECT_EQ(*f.try_contains_batch(all, found), many);
  for (std::size_t i = 0; i < 2 * many; i++) EXPECT_EQ(f.contains(all[i]), found[i] != 0);

  // Signed numbers, arrays, and spans of them are the same.
  const std::int64_t few[] = {-1, 5};
  f.insert_batch(few);
  EXPECT_TRUE(f.contains(-1));
  EXPECT_EQ(f.contains_batch(std::array<std::int64_t, 2>{5, 6}), 1u);
#if __cplusplus >= 202002L
  EXPECT_EQ(f.contains_batch(std::span(all).subspan(many - 3, 5), std::span(found).first(5)), 3u);
#endif
}

TEST(batches, answers_in_every_form) {
  auto f = roomy();
  f.insert_batch(std::array<std::uint64_t, 3>{0, 3, 9});
  const std::array<std::uint64_t, 10> keys = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::array<bool, 10> bools{};
  EXPECT_EQ(f.contains_batch(keys, bools), 3u);
  EXPECT_EQ(bools, (std::array<bool, 10>{true, false, false, true, false, false, false, false, false, true}));

  std::uint8_t bytes[2] = {0xff, 0xff};
  EXPECT_EQ(f.contains_batch(keys, petal::answers::bitmap(bytes)), 3u);
  EXPECT_EQ(bytes[0], 0x09);
  EXPECT_EQ(bytes[1] & 3, 2);

  std::array<std::uint64_t, 1> word{};
  std::vector<std::uint8_t> both(10);
  EXPECT_EQ(f.contains_batch(keys, petal::answers(both).and_bitmap(word)), 3u);
  EXPECT_EQ(word[0], 0x209u);
  EXPECT_EQ(both[9], 1);

  // Of an insertion they say what is new, the same key twice included.
  const std::array<std::uint64_t, 4> more = {9, 10, 10, 11};
  std::array<bool, 4> is_new{};
  EXPECT_EQ(f.insert_batch(more, is_new), 2u);
  EXPECT_EQ(is_new, (std::array<bool, 4>{false, true, false, true}));
  std::size_t inserted = 0;
  EXPECT_EQ(f.insert_batch(more, {}, &inserted), 0u);
  EXPECT_EQ(inserted, 4u);
}

TEST(batches, too_little_room_for_answers) {
  auto f = roomy();
  const auto keys = numbers(0, 10);
  std::vector<std::uint8_t> few(9, 0);
  auto refused = f.try_contains_batch(keys, few);
  EXPECT_EQ(refused.status(), petal::status::buffer_too_small);
  EXPECT_TRUE(has(refused.error().message(), "10 answers need 10 bytes, and there is room for 9"));
  EXPECT_EQ(few, std::vector<std::uint8_t>(9, 1));

  few.assign(9, 0);
  EXPECT_EQ(f.contains_batch(keys, few), 10u);
  EXPECT_EQ(few, std::vector<std::uint8_t>(9, 1));
  std::array<std::uint8_t, 1> bit{};
  EXPECT_EQ(f.contains_batch(keys, petal::answers::bitmap(bit)), 10u);
  EXPECT_EQ(bit[0], 0xff);

  std::size_t inserted = 99;
  EXPECT_EQ(f.try_insert_batch(keys, few, &inserted).status(), petal::status::buffer_too_small);
  EXPECT_EQ(inserted, 0u);
  EXPECT_EQ(f.describe().count, 0u);
  EXPECT_EQ(thrown([&] { f.insert_batch(keys, few); }).status(), petal::status::buffer_too_small);
}

TEST(batches, hashes) {
  auto f = roomy();
  std::vector<petal::hash64> hashes;
  std::vector<std::uint64_t> plain;
  for (auto key : numbers(0, many)) {
    hashes.push_back(f.hash(key));
    plain.push_back(hashes.back().value);
  }
  f.insert_batch(hashes);
  EXPECT_EQ(f.contains_batch(numbers(0, many)), many);
  EXPECT_EQ(f.contains_batch(petal::as_hashes(plain)), many);
  EXPECT_EQ(f.contains_batch(plain), 0u);
  EXPECT_EQ(f.contains_batch(petal::hash_keys{plain.data() + 1, 3}), 3u);
  const auto keys = numbers(0, 4);
  EXPECT_EQ(f.contains_batch(petal::u64_keys{keys.data() + 1, 3}), 3u);
}

TEST(batches, byte_keys) {
  auto f = roomy();
  std::vector<std::string_view> words = {"apple", "", "a longer word, past every small buffer", "pear"};
  const petal::key_buffer buffer(words);
  ASSERT_EQ(buffer.size(), 4u);
  for (std::size_t i = 0; i < 4; i++) EXPECT_EQ(buffer[i], words[i]);
  EXPECT_EQ(f.insert_batch(buffer), 4u);
  for (auto word : words) EXPECT_TRUE(f.contains(word));
  EXPECT_FALSE(f.contains("plum"));

  // One buffer serves many filters, and is used again without new memory.
  auto other = roomy();
  other.insert_batch(buffer);
  EXPECT_TRUE(f.equal(other));
  petal::key_buffer again;
  EXPECT_TRUE(again.empty());
  again.reserve(2, 100);
  again.add(std::string("apple"));
  again.add(std::array<unsigned char, 4>{'p', 'l', 'u', 'm'});
  EXPECT_TRUE(again.try_add("pear"));
  std::array<bool, 3> found{};
  EXPECT_EQ(f.contains_batch(again, found), 2u);
  EXPECT_EQ(found, (std::array<bool, 3>{true, false, true}));
  again.clear();
  EXPECT_EQ(again.size(), 0u);
  again.add("fig");
  EXPECT_EQ(again[0], "fig");

  // A column that lies elsewhere is not copied.
  const char column[] = "applepearplum";
  const std::uint64_t offsets[] = {0, 5, 9, 13};
  EXPECT_EQ(f.contains_batch(petal::byte_keys{column, 13, offsets, 3}), 2u);
  EXPECT_EQ(f.try_contains_batch(petal::byte_keys{column, 12, offsets, 3}).status(), petal::status::offsets);
  EXPECT_EQ(f.contains_batch(petal::byte_keys{column, 12, offsets, 3}), 3u);
}

TEST(batches, none_at_all) {
  auto f = roomy();
  const std::vector<std::uint64_t> none;
  EXPECT_EQ(*f.try_contains_batch(none), 0u);
  EXPECT_EQ(*f.try_contains_batch(std::vector<petal::hash64>()), 0u);
  EXPECT_EQ(*f.try_contains_batch(petal::key_buffer()), 0u);
  f.insert_batch(none);
  EXPECT_EQ(f.insert_batch(petal::key_buffer()), 0u);
  EXPECT_EQ(f.describe().count, 0u);
}

TEST(batches, refused) {
  petal::filter f(petal::spec().capacity(100).hash_function(PETAL_HASH_EXTERNAL));
  std::array<bool, 2> found{};
  EXPECT_EQ(f.contains_batch(numbers(0, 2), found), 2u);
  EXPECT_EQ(found, (std::array<bool, 2>{true, true}));
  std::size_t inserted = 99;
  EXPECT_EQ(f.try_insert_batch(numbers(0, 2), {}, &inserted).status(), petal::status::external_hash);
  EXPECT_EQ(inserted, 0u);
}

}  // namespace
