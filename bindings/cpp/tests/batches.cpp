// Many keys in one call, the forms of the answers, and the key buffer.
#include "common.hpp"

#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#if __cplusplus >= 202002L
#include <ranges>
#include <span>
#endif

namespace shop {
struct order {
  int id;
};
inline std::uint64_t petal_key(const order &o) noexcept { return static_cast<std::uint64_t>(o.id); }
inline bool operator<(const order &a, const order &b) { return a.id < b.id; }

struct named {
  int id;
};
// A temporary, which may throw.
inline std::string petal_key(const named &n) { return "the name of a thing, number " + std::to_string(n.id); }
}  // namespace shop

namespace {

constexpr std::size_t many = 1000;

petal::filter roomy() { return petal::filter(10 * many, 1e-9); }

TEST(batches, numbers) {
  auto f = roomy();
  const auto keys = numbers(0, many), all = numbers(0, 2 * many);
  std::size_t inserted = 0;
  f.insert_batch(keys, petal::answers(), &inserted);
  EXPECT_EQ(inserted, many);
  EXPECT_EQ(f.describe().insertions, many);

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
  EXPECT_EQ(f.describe().insertions, 0u);
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
  EXPECT_EQ(f.contains_batch(petal::keys::of_hashes(plain)), many);
  EXPECT_EQ(f.contains_batch(plain), 0u);
  EXPECT_EQ(f.contains_batch(petal::keys::of_hashes(plain.data() + 1, 3)), 3u);
  const auto keys = numbers(0, 4);
  EXPECT_EQ(f.contains_batch(petal::keys::of_u64(keys.data() + 1, 3)), 3u);
}

TEST(batches, byte_keys) {
  auto f = roomy();
  std::vector<std::string_view> words = {"apple", "", "a longer word, past every small buffer", "pear"};
  const petal::key_buffer buffer(words);
  ASSERT_EQ(buffer.size(), 4u);
  for (std::size_t i = 0; i < 4; i++) EXPECT_EQ(buffer[i], words[i]);
  EXPECT_EQ(f.insert_batch(buffer, petal::answers()), 4u);
  for (auto word : words) EXPECT_TRUE(f.contains(word));
  EXPECT_FALSE(f.contains("plum"));

  // One buffer serves many filters, and is used again without new memory.
  auto other = roomy();
  other.insert_batch(buffer);
  EXPECT_TRUE(f.equals(other));
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
  EXPECT_EQ(f.contains_batch(petal::keys::of_bytes(column, 13, offsets, 3)), 2u);
  EXPECT_EQ(f.try_contains_batch(petal::keys::of_bytes(column, 12, offsets, 3)).status(), petal::status::offsets);
  EXPECT_EQ(f.contains_batch(petal::keys::of_bytes(column, 12, offsets, 3)), 3u);
  const std::int32_t offsets32[] = {0, 5, 9, 13};
  EXPECT_EQ(f.contains_batch(petal::keys::of_bytes32(column, 13, offsets32, 3)), 2u);
  EXPECT_EQ(f.try_contains_batch(petal::keys::of_bytes32(column, 12, offsets32, 3)).status(), petal::status::offsets);
}

// Looks up, inserts, and builds from a batch what single calls do with its elements.
template <class Keys>
void same_as_single_calls(const Keys &keys, const char *what) {
  SCOPED_TRACE(what);
  auto single = roomy(), batch = roomy(), shared = roomy();
  std::vector<std::uint8_t> fresh;
  std::size_t count = 0, fresh_count = 0;
  for (const auto &key : keys) {
    fresh.push_back(single.insert(key));
    fresh_count += fresh.back();
    count++;
  }
  std::vector<std::uint8_t> is_new(count, 7), bits(count / 8 + 1, 0x5a);
  std::size_t inserted = 99;
  EXPECT_EQ(batch.insert_batch(keys, petal::answers(is_new).and_bitmap(bits), &inserted), fresh_count);
  EXPECT_EQ(inserted, count);
  EXPECT_EQ(is_new, fresh);
  for (std::size_t i = 0; i < count; i++) EXPECT_EQ(bits[i / 8] >> (i % 8) & 1, fresh[i]) << i;
  EXPECT_TRUE(single.equals(batch));
  EXPECT_EQ(shared.insert_shared_batch(keys, is_new), fresh_count);
  EXPECT_EQ(is_new, fresh);
  EXPECT_TRUE(shared.equals(single));
  auto silent = roomy(), silent_shared = roomy();
  silent.insert_batch(keys);
  silent_shared.insert_shared_batch(keys);
  EXPECT_TRUE(silent.equals(single) && silent_shared.equals(single));

  petal::filter half(10 * many, 1e-9);
  std::vector<std::uint8_t> there;
  std::size_t at = 0;
  for (const auto &key : keys) {
    if (at++ % 3 == 0) half.insert(key);
  }
  std::size_t there_count = 0;
  for (const auto &key : keys) {
    there.push_back(half.contains(key));
    there_count += there.back();
  }
  std::vector<std::uint8_t> found(count, 7);
  EXPECT_EQ(half.contains_batch(keys, found), there_count);
  EXPECT_EQ(found, there);
  EXPECT_EQ(half.contains_batch(keys), there_count);
  bits.assign(bits.size(), 0xa5);
  EXPECT_EQ(*half.try_contains_batch(keys, petal::answers::bitmap(bits)), there_count);
  for (std::size_t i = 0; i < count; i++) EXPECT_EQ(bits[i / 8] >> (i % 8) & 1, there[i]) << i;

  petal::builder builder(petal::spec().capacity(10 * many).false_positive_rate(1e-9));
  std::size_t added = 99;
  builder.add_batch(keys, &added);
  EXPECT_EQ(added, count);
  EXPECT_TRUE(builder.finish().equals(single));

  // A filter that cannot hash: nothing is inserted, and every answer is a maybe.
  petal::filter external(petal::spec().capacity(100).hash_function(PETAL_HASH_EXTERNAL));
  if (external.try_insert_batch(keys, {}, &inserted).status() == petal::status::external_hash) {
    EXPECT_EQ(inserted, 0u);
    found.assign(count, 0);
    EXPECT_EQ(external.contains_batch(keys, found), count);
    EXPECT_EQ(found, std::vector<std::uint8_t>(count, 1));
    EXPECT_EQ(external.try_contains_batch(keys).status(), petal::status::external_hash);
  }
}

// A `Container` of `count` keys, some of them twice, which `make` makes from numbers.
template <class Container, class Make>
Container filled(std::size_t count, Make make) {
  Container keys;
  for (std::size_t i = 0; i < count; i++) keys.insert(keys.end(), make(i % 7 == 6 ? i - 3 : i));
  return keys;
}

TEST(batches, every_range_of_keys) {
  const auto to_int = [](std::size_t i) { return static_cast<int>(i) - 400; };
  const auto to_u64 = [](std::size_t i) { return std::uint64_t{i} << 40; };
  const auto to_text = [](std::size_t i) { return std::string(i % 60, 'x') + std::to_string(i); };
  // None, one, and numbers of keys that end before, at and after the end of a piece.
  for (std::size_t count : {0u, 1u, 511u, 512u, 513u, 1500u}) {
    same_as_single_calls(filled<std::vector<int>>(count, to_int), "vector<int>");
    same_as_single_calls(filled<std::deque<std::uint64_t>>(count, to_u64), "deque<uint64_t>");
    same_as_single_calls(filled<std::vector<std::string>>(count, to_text), "vector<string>");
    same_as_single_calls(filled<std::set<std::string, std::less<>>>(count, to_text), "set<string>");
  }
  same_as_single_calls(filled<std::vector<short>>(many, [](std::size_t i) { return static_cast<short>(i); }), "shorts");
  same_as_single_calls(filled<std::vector<unsigned long long>>(many, to_u64), "vector<unsigned long long>");
  same_as_single_calls(filled<std::set<int>>(many, to_int), "set<int>");
  same_as_single_calls(filled<std::unordered_set<int>>(many, to_int), "unordered_set<int>");
  same_as_single_calls(filled<std::list<std::string>>(many, to_text), "list<string>");
  same_as_single_calls(std::forward_list<int>{1, 2, 3}, "forward_list<int>");
  same_as_single_calls(std::initializer_list<const char *>{"to", "be", "or", "not", "to", "be"}, "const char *");
  const auto texts = filled<std::vector<std::string>>(many, to_text);
  same_as_single_calls(std::vector<std::string_view>(texts.begin(), texts.end()), "vector<string_view>");
  same_as_single_calls(petal::key_range(texts.begin() + 3, texts.end() - 3), "key_range");
  same_as_single_calls(std::vector<std::vector<unsigned char>>{{1, 2}, {}, {0}}, "vector<vector<unsigned char>>");
  same_as_single_calls(filled<std::vector<shop::order>>(many, [](std::size_t i) {
    return shop::order{static_cast<int>(i)};
  }), "petal_key");
  same_as_single_calls(filled<std::set<shop::order>>(many, [](std::size_t i) {
    return shop::order{static_cast<int>(i)};
  }), "set of petal_key");
  same_as_single_calls(filled<std::vector<shop::named>>(many, [](std::size_t i) {
    return shop::named{static_cast<int>(i)};
  }), "petal_key to a temporary");
  same_as_single_calls(filled<std::list<petal::hash64>>(many, [](std::size_t i) { return petal::hash64{number(i)}; }),
                       "list<hash64>");
  // Keys as long as a piece, longer, and in its company.
  std::vector<std::string> lengths;
  for (std::size_t length : {3u, 16383u, 16384u, 16385u, 1u, 100000u, 0u, 16000u, 384u, 385u, 9u}) {
    lengths.push_back(std::string(length, 'y'));
  }
  same_as_single_calls(lengths, "long ones");
#if __cplusplus >= 202002L
  const auto view = std::views::iota(0, 2000) | std::views::transform([](int i) { return std::to_string(i / 2); });
  same_as_single_calls(view, "a view");
#endif
}

TEST(batches, integers_are_64_bits_with_their_sign) {
  auto f = roomy();
  f.insert_batch(std::vector<int>{5, -1});
  EXPECT_TRUE(f.contains(std::uint64_t{5}) && f.contains(~std::uint64_t{0}));
  EXPECT_EQ(f.contains_batch(std::vector<std::int64_t>{5, -1}), 2u);
  EXPECT_EQ(f.contains_batch(std::vector<std::uint32_t>{5, ~std::uint32_t{0}}), 1u);
}

TEST(batches, a_users_function_may_throw) {
  petal::filter f;
  static_assert(noexcept(f.contains_batch(std::vector<std::uint64_t>())));
  static_assert(noexcept(f.contains_batch(std::vector<shop::order>())));
  static_assert(!noexcept(f.contains_batch(std::vector<shop::named>())));
}

TEST(batches, none_at_all) {
  auto f = roomy();
  const std::vector<std::uint64_t> none;
  EXPECT_EQ(*f.try_contains_batch(none), 0u);
  EXPECT_EQ(*f.try_contains_batch(std::vector<petal::hash64>()), 0u);
  EXPECT_EQ(*f.try_contains_batch(petal::key_buffer()), 0u);
  f.insert_batch(none);
  f.insert_batch(petal::key_buffer());
  EXPECT_EQ(f.insert_batch(petal::keys(), petal::answers()), 0u);
  EXPECT_EQ(f.describe().insertions, 0u);
}

// Digests are keys of a filter that was made for their length, one by one and many in one call.
TEST(batches, digests) {
  constexpr std::size_t each = 20, count = 300;
  std::vector<std::uint8_t> digests(each * count);
  std::uint32_t state = 1;
  for (auto &byte : digests) byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  const auto spec = petal::spec().kind("bloom").capacity(count).hash_function(PETAL_HASH_DIGEST).seed(8 * each);
  petal::filter single(spec), batch(spec);
  for (std::size_t i = 0; i < count; i++) {
    single.insert(std::string_view(reinterpret_cast<const char *>(digests.data()) + i * each, each));
  }
  const auto keys = petal::keys::of_digests(digests.data(), each, count);
  EXPECT_EQ(keys.size(), count);
  batch.insert_batch(keys);
  EXPECT_TRUE(single.equals(batch));
  EXPECT_EQ(batch.contains_batch(keys), count);
  const auto shorter = petal::keys::of_digests(digests.data(), each - 1, count);
  EXPECT_EQ(batch.try_insert_batch(shorter).status(), petal::status::out_of_range);
  EXPECT_EQ(batch.try_contains_batch(shorter).status(), petal::status::out_of_range);
  petal::filter plain(petal::spec().capacity(count));
  EXPECT_EQ(plain.try_insert_batch(keys).status(), petal::status::contradiction);
  EXPECT_EQ(petal::filter::try_make(petal::spec(spec).seed(100)).status(), petal::status::out_of_range);
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
