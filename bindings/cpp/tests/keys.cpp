// One key at a time: what is a key, and which bytes, number or hash it stands for.
#include "common.hpp"

#include <array>
#include <string>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace shop {

struct item {
  std::uint64_t id;
};
std::uint64_t petal_key(const item &i) noexcept { return i.id; }

// A temporary, longer than any small-string buffer.
struct label {
  std::string text;
};
std::string petal_key(const label &l) { return "a prefix that does not fit into the object itself: " + l.text; }

struct hashed {
  std::uint64_t hash;
};
petal::hash64 petal_key(const hashed &h) noexcept { return {h.hash}; }

struct raw {
  unsigned char digest[4];
};
petal::bytes petal_key(const raw &r) noexcept { return {r.digest, sizeof r.digest}; }

// One key type may stand for another.
struct basket {
  item first;
};
const item &petal_key(const basket &b) noexcept { return b.first; }

enum class colour : std::uint8_t { red, green };
std::uint64_t petal_key(colour c) { return static_cast<std::uint64_t>(c); }

// Its own rule comes before its being a string_view.
struct folded : std::string_view {
  explicit folded(std::string_view text) : std::string_view(text) {}
};
std::string petal_key(const folded &text) {
  std::string lower;
  for (char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower;
}

}  // namespace shop

namespace {

// Large enough that no test meets a false positive.
petal::filter roomy() { return petal::filter(1000, 1e-9); }

TEST(keys, text_is_its_characters) {
  auto f = roomy();
  EXPECT_TRUE(f.insert("apple"));
  EXPECT_FALSE(f.insert("apple"));
  for (const auto &key : {std::string("apple")}) EXPECT_TRUE(f.contains(key));
  const char *pointer = "apple";
  const std::string_view view = "apple pie";
  EXPECT_TRUE(f.contains(pointer));
  EXPECT_TRUE(f.contains(view.substr(0, 5)));
  EXPECT_FALSE(f.contains(view));
  EXPECT_TRUE(f.contains("apple", 5));
  EXPECT_TRUE(petal_filter_contains(f.get(), "apple", 5));
  EXPECT_FALSE(f.contains("apple", 6));
}

#ifdef __cpp_char8_t
TEST(keys, char8_t_is_text_too) {
  auto f = roomy();
  const char8_t *const pointer = u8"pointer";
  f.insert(u8"\u00e9t\u00e9");
  f.insert(pointer);
  f.insert(std::u8string(u8"a\0b", 3));
  f.insert(std::u8string_view(u8"view"));
  for (const std::string_view key : {"\xc3\xa9t\xc3\xa9", "pointer", "view"}) EXPECT_TRUE(f.contains(key)) << key;
  EXPECT_TRUE(f.contains(std::string_view("a\0b", 3)));
  EXPECT_FALSE(f.contains(u8"a"));
  const char8_t padded[] = u8"padded\0after";
  f.insert("padded");
  EXPECT_TRUE(f.contains(padded));
  const char8_t *const none = nullptr;
  EXPECT_EQ(f.try_insert(none).error().status(), petal::status::null);
  const std::vector<std::u8string> several = {u8"one", u8"two"};
  f.insert_batch(several);
  EXPECT_TRUE(f.contains("one") && f.contains("two"));
}
#endif

TEST(keys, bytes_are_any_contiguous_range) {
  auto f = roomy();
  const unsigned char array[] = {1, 0, 255};
  EXPECT_TRUE(f.insert(array));
  EXPECT_FALSE(f.insert(std::vector<unsigned char>{1, 0, 255}));
  EXPECT_TRUE(f.contains(std::array<signed char, 3>{1, 0, -1}));
  EXPECT_TRUE(f.contains(std::vector<char>{1, 0, '\xff'}));
  EXPECT_TRUE(f.contains(std::array<std::byte, 3>{std::byte{1}, std::byte{0}, std::byte{255}}));
  EXPECT_TRUE(f.contains(petal::bytes(array, 3)));
  EXPECT_FALSE(f.contains(petal::bytes(array, 2)));
  EXPECT_TRUE(f.contains(std::string_view("\x01\0\xff", 3)));
#if __cplusplus >= 202002L
  EXPECT_TRUE(f.contains(std::as_bytes(std::span(array))));
  EXPECT_TRUE(f.contains(std::span<const unsigned char>(array)));
#endif
}

TEST(keys, the_empty_key_is_a_key) {
  auto f = roomy();
  EXPECT_FALSE(f.contains(""));
  EXPECT_TRUE(f.insert(""));
  EXPECT_TRUE(f.contains(std::string()));
  EXPECT_TRUE(f.contains(std::string_view()));
  EXPECT_TRUE(f.contains(std::vector<std::byte>()));
  EXPECT_TRUE(f.contains(petal::bytes()));
  EXPECT_TRUE(f.contains(nullptr, 0));
}

TEST(keys, integers_are_64_bits_with_their_sign) {
  auto f = roomy();
  EXPECT_TRUE(f.insert(7));
  EXPECT_TRUE(f.contains(std::uint8_t{7}));
  EXPECT_TRUE(f.contains(short{7}));
  EXPECT_TRUE(f.contains(7ull));
  const unsigned char bytes[] = {7, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(f.contains(bytes));
  EXPECT_TRUE(f.insert(-1));
  EXPECT_TRUE(f.contains(std::int64_t{-1}));
  EXPECT_TRUE(f.contains(UINT64_MAX));
  EXPECT_FALSE(f.contains(UINT32_MAX));
}

TEST(keys, hashes_stand_for_their_keys) {
  auto f = roomy();
  const auto of_text = f.hash("apple"), of_number = f.hash(42);
  EXPECT_NE(of_text, of_number);
  EXPECT_EQ(of_text, petal::spec().hash("apple"));
  EXPECT_EQ(of_number, *petal::spec().try_hash(42));
  EXPECT_NE(of_number, petal::spec().seed(1).hash(42));
  EXPECT_TRUE(f.insert(of_text));
  EXPECT_TRUE(f.contains("apple"));
  EXPECT_FALSE(f.contains(42));
  EXPECT_TRUE(f.insert(42));
  EXPECT_TRUE(f.contains(of_number));
  // A number is a key, not a hash.
  EXPECT_FALSE(f.contains(of_number.value));
  EXPECT_EQ(f.hash("apple", 5), of_text);
}

TEST(keys, a_users_type_says_what_it_is) {
  auto f = roomy();
  EXPECT_TRUE(f.insert(shop::item{9}));
  EXPECT_TRUE(f.contains(9));
  EXPECT_TRUE(f.contains(shop::basket{{9}}));
  EXPECT_TRUE(f.insert(shop::label{"pear"}));
  EXPECT_TRUE(f.contains("a prefix that does not fit into the object itself: pear"));
  EXPECT_TRUE(f.insert(shop::hashed{f.hash("plum").value}));
  EXPECT_TRUE(f.contains("plum"));
  EXPECT_TRUE(f.insert(shop::raw{{'f', 'i', 'g', 's'}}));
  EXPECT_TRUE(f.contains("figs"));
  EXPECT_TRUE(f.insert(shop::colour::green));
  EXPECT_TRUE(f.contains(1));
  EXPECT_TRUE(f.insert(shop::folded("KIWI")));
  EXPECT_TRUE(f.contains("kiwi"));
  EXPECT_FALSE(f.contains("KIWI"));
  EXPECT_TRUE(*f.try_contains(shop::folded("KiWi")));
}

TEST(keys, only_a_users_function_can_throw) {
  petal::filter f;
  static_assert(noexcept(f.contains("apple")) && noexcept(f.contains(1)) && noexcept(f.try_insert(std::string())));
  static_assert(noexcept(f.contains(shop::item{9})) && noexcept(f.try_hash(shop::basket{{1}})));
  static_assert(!noexcept(f.contains(shop::label{""})));
  static_assert(noexcept(f.contains_batch(std::vector<std::uint64_t>())));
  static_assert(noexcept(petal::filter::try_open("")) && noexcept(f.try_save("")) && noexcept(f.try_serialize()));
}

TEST(keys, external_hashes_only) {
  petal::filter f(petal::spec().capacity(100).false_positive_rate(1e-9).hash_function(PETAL_HASH_EXTERNAL).seed(5));
  EXPECT_TRUE(f.insert(shop::hashed{number(1)}));
  EXPECT_TRUE(f.contains(petal::hash64{number(1)}));
  EXPECT_FALSE(f.contains(petal::hash64{number(2)}));
  EXPECT_EQ(f.try_insert("apple").status(), petal::status::external_hash);
  EXPECT_THROW(f.insert(1), petal::error);
  // A failure of a lookup is a maybe.
  EXPECT_TRUE(f.contains("apple"));
  EXPECT_EQ(f.try_contains("apple").status(), petal::status::external_hash);
  EXPECT_EQ(f.try_hash(1).status(), petal::status::external_hash);
}

TEST(keys, no_false_negatives_and_the_rate_that_was_asked_for) {
  constexpr std::uint64_t keys = 20000;
  petal::filter f(keys, 0.01);
  for (std::uint64_t i = 0; i < keys; i++) f.insert(number(i));
  std::uint64_t lost = 0, wrong = 0;
  for (std::uint64_t i = 0; i < keys; i++) lost += !f.contains(number(i));
  for (std::uint64_t i = keys; i < 6 * keys; i++) wrong += f.contains(number(i));
  EXPECT_EQ(lost, 0u);
  // 100,000 non-members at 1 %: 1000, with a deviation of 31.5, of which 4.5 are allowed.
  EXPECT_NEAR(static_cast<double>(wrong), 1000, 142);
}

}  // namespace
