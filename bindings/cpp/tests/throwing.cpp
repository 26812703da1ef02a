// What throws while a call goes on: a petal_key, a conversion, a range of somebody else's. And what is no key.
#include "common.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#if __cplusplus >= 202002L
#include <ranges>
#endif

namespace shop {

// Key number `last` cannot be named.
constexpr int last = 700;
struct fragile {
  int id;
};
inline std::uint64_t petal_key(const fragile &f) {
  if (f.id == last) throw std::runtime_error("no key");
  return static_cast<std::uint64_t>(f.id);
}

// The same, as bytes.
struct fragile_name {
  int id;
};
inline std::string petal_key(const fragile_name &f) {
  if (f.id == last) throw std::runtime_error("no key");
  return "key " + std::to_string(f.id);
}

}  // namespace shop

namespace {

// A piece is 512 keys: the first is in the filter where the key that throws comes.
constexpr std::size_t many = 1000, taken = 512;

template <class T>
std::vector<T> goods() {
  std::vector<T> made;
  for (int i = 0; i < static_cast<int>(many); i++) made.push_back({i});
  return made;
}

petal::spec counting() { return petal::spec().kind("counting").capacity(4000).false_positive_rate(0.01); }

// Each batch call that reports how far it came, with keys one of which throws.
template <class T>
void tells_how_far() {
  const auto keys = goods<T>();
  const std::vector<std::uint64_t> ones(many, 1);
  std::vector<std::uint8_t> bytes(many);
  std::size_t done = 99;
  const auto tells = [&](const char *what, auto call) {
    done = 99;
    EXPECT_THROW(call(), std::runtime_error) << what;
    EXPECT_EQ(done, taken) << what;
  };
  petal::filter f(counting());
  tells("insert", [&] { (void)f.try_insert_batch(keys, bytes, &done); });
  EXPECT_EQ(f.describe().insertions, taken);
  tells("insert, throwing", [&] { (void)f.insert_batch(keys, petal::answers(), &done); });
  tells("insert times", [&] { (void)f.try_insert_times_batch(keys, ones.data(), bytes.data(), &done); });
  tells("remove times", [&] { (void)f.try_remove_times_batch(keys, ones.data(), bytes.data(), &done); });
  tells("remove", [&] { (void)f.try_remove_batch(keys, bytes, &done); });

  petal::filter ages(petal::spec().kind("rotating").capacity(4000));
  if (ages.can(PETAL_CAN_REJUVENATE)) {
    tells("rejuvenate", [&] { (void)ages.try_rejuvenate_batch(keys, bytes, &done); });
  }

  petal::builder b{counting()};
  tells("add", [&] { (void)b.try_add_batch(keys, &done); });
  tells("add times", [&] { (void)b.try_add_times_batch(keys, ones.data(), &done); });
  EXPECT_EQ(b.key_count(), 2 * taken);

  petal::map_builder of_map{petal::spec()};
  tells("put into a builder", [&] { (void)of_map.try_put_batch(keys, ones.data(), &done); });
  petal::map m(petal::spec().kind("approximator").capacity(4000));
  tells("put", [&] { (void)m.try_put_batch(keys, ones.data(), bytes.data(), &done); });
  petal::map_builder of_mutable{petal::spec().kind("mutable_bloomier")};
  of_mutable.put_batch(numbers(0, 10), ones.data());
  auto changing = of_mutable.finish();
  tells("replace", [&] { (void)changing.try_replace_batch(keys, ones.data(), bytes.data(), &done); });
}

TEST(throwing, batches_tell_how_far_they_came) {
  tells_how_far<shop::fragile>();
  tells_how_far<shop::fragile_name>();
}

// Lookups that end with an exception say true of all keys, counts the greatest number, and maps nothing.
template <class T>
void lookups_say_true() {
  const auto keys = goods<T>();
  petal::filter f(counting());
  std::vector<std::uint8_t> found(many, 0), bits(many / 8, 0);
  const auto all = [](const auto &of, std::uint64_t value) {
    return std::all_of(of.begin(), of.end(), [&](auto one) { return one == value; });
  };
  EXPECT_THROW((void)f.try_contains_batch(keys, petal::answers(found).and_bitmap(bits)), std::runtime_error);
  EXPECT_TRUE(all(found, 1) && all(bits, 0xff));
  found.assign(many, 0);
  EXPECT_THROW(f.contains_batch(keys, found), std::runtime_error);
  EXPECT_TRUE(all(found, 1));

  std::vector<std::uint64_t> counts(many, 7);
  EXPECT_THROW((void)f.try_count_batch(keys, counts.data()), std::runtime_error);
  EXPECT_TRUE(all(counts, UINT64_MAX));

  petal::map_builder b{petal::spec()};
  b.put_batch(numbers(0, 10), counts.data());
  auto m = b.finish();
  found.assign(many, 7);
  EXPECT_THROW((void)m.try_find_batch(keys, counts.data(), found.data()), std::runtime_error);
  EXPECT_TRUE(all(counts, 0) && all(found, 0));

  petal::filter_list list;
  for (int i = 0; i < 3; i++) list.add(f);
  std::array<bool, 3> may{};
  EXPECT_THROW((void)list.try_contain(T{shop::last}, may), std::runtime_error);
  EXPECT_TRUE(may[0] && may[1] && may[2]);
}

TEST(throwing, lookups_say_true) {
  lookups_say_true<shop::fragile>();
  lookups_say_true<shop::fragile_name>();
}

// Conversions that throw go through to the caller: no function that calls them says that it throws nothing.
struct bad_text {
  operator std::string_view() const { throw std::runtime_error("no text"); }
};
struct bad_range {
  const unsigned char *data() const { throw std::runtime_error("no data"); }
  std::size_t size() const { return 8; }
};
struct bad_numbers {
  const std::uint64_t *data() const { throw std::runtime_error("no data"); }
  std::size_t size() const { return 8; }
};
struct bad_room {
  std::uint8_t *data() { throw std::runtime_error("no data"); }
  std::size_t size() const { return 8; }
};
struct bad_begin {
  const int *begin() const { throw std::runtime_error("no begin"); }
  const int *end() const { return nullptr; }
};
struct bad_step {
  struct iterator {
    using iterator_category = std::forward_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int *;
    using reference = int;
    int at = 0;
    int operator*() const noexcept { return at; }
    iterator &operator++() noexcept {
      at++;
      return *this;
    }
    iterator operator++(int) noexcept { return {at++}; }
    bool operator==(const iterator &other) const {
      if (at == 3) throw std::runtime_error("no step");
      return at == other.at;
    }
    bool operator!=(const iterator &other) const { return !(*this == other); }
  };
  iterator begin() const noexcept { return {}; }
  iterator end() const noexcept { return {10}; }
};
struct bad_path {
  const char *c_str() const { throw std::runtime_error("no path"); }
};

TEST(throwing, conversions_that_throw_end_no_program) {
  petal::filter f(1000, 0.01);
  petal::builder b{petal::spec()};
  petal::key_buffer buffer;
  EXPECT_THROW(f.contains(bad_text()), std::runtime_error);
  EXPECT_THROW((void)f.try_contains(bad_text()), std::runtime_error);
  EXPECT_THROW((void)f.try_insert(bad_text()), std::runtime_error);
  EXPECT_THROW((void)b.try_add(bad_text()), std::runtime_error);
  EXPECT_THROW((void)buffer.try_add(bad_text()), std::runtime_error);
  EXPECT_THROW(f.contains(bad_range()), std::runtime_error);
  EXPECT_THROW((void)f.try_hash(bad_range()), std::runtime_error);
  EXPECT_THROW((void)f.try_contains_batch(std::array<bad_text, 1>()), std::runtime_error);
  EXPECT_THROW((void)f.try_contains_batch(bad_numbers()), std::runtime_error);
  EXPECT_THROW((void)f.try_insert_batch(bad_numbers()), std::runtime_error);
  EXPECT_THROW((void)b.try_add_batch(bad_numbers()), std::runtime_error);
  EXPECT_THROW(petal::keys::of_hashes(bad_numbers()), std::runtime_error);
  EXPECT_THROW((void)f.try_contains_batch(bad_begin()), std::runtime_error);
  EXPECT_THROW((void)f.try_contains_batch(bad_step()), std::runtime_error);
  EXPECT_THROW((void)f.try_contains_batch(numbers(0, 8), bad_room()), std::runtime_error);
  EXPECT_THROW((void)petal::filter::try_load(bad_range()), std::runtime_error);
  EXPECT_THROW((void)petal::filter::try_import_bytes("guava", bad_range()), std::runtime_error);
  EXPECT_THROW((void)petal::filter::try_open(bad_path()), std::runtime_error);

  // What cannot throw says so.
  const std::vector<std::string> words;
  const std::vector<std::uint64_t> many_numbers;
  const char *text = "text";
  static_assert(noexcept(f.contains("text")) && noexcept(f.contains(text)) && noexcept(f.contains(std::string())) &&
                noexcept(f.contains(std::string_view())) && noexcept(f.contains(std::vector<std::byte>())) &&
                noexcept(f.try_contains_batch(words)) && noexcept(f.try_contains_batch(many_numbers)) &&
                noexcept(petal::answers(std::declval<std::vector<std::uint8_t> &>())) &&
                noexcept(petal::filter::try_load(std::vector<std::byte>()))
                    && noexcept(petal::filter::try_open("text")));
}

// A range, even an empty one with or without memory, is room for answers; none are wanted where none is given.
TEST(answers, an_empty_range_is_room_for_none) {
  petal::filter f(1000, 0.01);
  const auto keys = numbers(0, 10);
  std::vector<std::uint8_t> without, with;
  with.reserve(100);
  std::array<bool, 0> none{};
  std::vector<std::uint64_t> words;
  petal::filter_list list;
  list.add(f);
  for (const auto &room : {petal::answers(without), petal::answers(with), petal::answers(none),
                           petal::answers::bitmap(words), petal::answers::bitmap(with)}) {
    EXPECT_EQ(f.try_contains_batch(keys, room).status(), petal::status::buffer_too_small);
    EXPECT_EQ(f.contains_batch(keys, room), 10u);
    EXPECT_EQ(f.try_insert_batch(keys, room).status(), petal::status::buffer_too_small);
    EXPECT_EQ(list.try_contain(5, room).status(), petal::status::buffer_too_small);
    EXPECT_EQ(*f.try_contains_batch(std::vector<std::uint64_t>(), room), 0u);
  }
  EXPECT_EQ(f.describe().insertions, 0u);
  EXPECT_EQ(*f.try_insert_batch(keys, petal::answers()), 10u);
  EXPECT_EQ(*f.try_contains_batch(keys, {}), 10u);
}

// An array of characters ends with its first NUL, or, if it has none, where it ends itself.
TEST(keys, arrays_without_a_nul_end) {
  petal::filter f(1000, 1e-9);
  struct {
    char text[8];
    char after[8];
  } row = {{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, "behind"};
  f.insert(row.text);
  EXPECT_TRUE(f.contains(std::string("abcdefgh")));
  EXPECT_FALSE(f.contains(std::string("abcdefghbehind")));
  f.insert(row.after);
  EXPECT_TRUE(f.contains("behind") && f.contains(std::string("behind")));
  const char table[2][4] = {{'o', 'n', 'e', '.'}, "two"};
  f.insert_batch(table);
  EXPECT_TRUE(f.contains(std::string("one.")) && f.contains("two"));
  petal::key_buffer buffer(table);
  EXPECT_EQ(buffer[0], "one.");
  EXPECT_EQ(buffer[1], "two");
}

// A null pointer is no key: lookups say true, and what takes it fails, alone and in the midst of others.
TEST(keys, a_null_pointer_is_no_key) {
  petal::filter f(1000, 1e-9);
  const char *none = nullptr;
  EXPECT_TRUE(f.contains(none));
  EXPECT_EQ(f.try_contains(none).status(), petal::status::null);
  EXPECT_EQ(f.try_insert(none).status(), petal::status::null);
  EXPECT_EQ(f.try_hash(none).status(), petal::status::null);
  petal::builder b{petal::spec()};
  EXPECT_EQ(b.try_add(none).status(), petal::status::null);
  petal::key_buffer buffer;
  buffer.add("apple");
  EXPECT_EQ(buffer.try_add(none).status(), petal::status::null);
  EXPECT_EQ(thrown([&] { buffer.add(none); }).status(), petal::status::null);
  EXPECT_EQ(buffer.size(), 1u);
  const std::vector<const char *> words = {"apple", "pear", none, "plum"};
  std::vector<std::uint8_t> found(4, 0);
  std::size_t done = 99;
  EXPECT_EQ(f.try_insert_batch(words, found, &done).status(), petal::status::null);
  EXPECT_EQ(done, 2u);
  EXPECT_TRUE(f.contains("apple") && f.contains("pear") && !f.contains("plum"));
  found.assign(4, 0);
  EXPECT_EQ(f.try_contains_batch(words, found).status(), petal::status::null);
  EXPECT_EQ(found, std::vector<std::uint8_t>(4, 1));
}

#if __cplusplus >= 202002L
// Views that find out where they begin when they are asked, and so are changed by it.
TEST(batches, views_that_begin_late) {
  petal::filter f(1000, 1e-9);
  const auto is_even = [](int i) { return i % 2 == 0; };
  f.insert_batch(std::views::iota(0, 100) | std::views::filter(is_even));
  auto view = std::views::iota(0, 100) | std::views::filter(is_even);
  std::vector<std::uint8_t> found(50);
  EXPECT_EQ(f.contains_batch(view, found), 50u);
  EXPECT_EQ(f.contains_batch(std::views::iota(0, 100)), 50u);
  petal::builder b{petal::spec()};
  std::size_t done = 0;
  b.add_batch(view, &done);
  EXPECT_EQ(done, 50u);
  const std::vector<std::uint64_t> values(50, 3);
  petal::map_builder of_map{petal::spec()};
  of_map.put_batch(view, values.data());
  std::vector<std::uint64_t> got(50);
  EXPECT_EQ(of_map.finish().find_batch(view, got.data()), 50u);
  EXPECT_EQ(got, values);
  const auto name = [](int i) { return "key " + std::to_string(i); };
  auto names = view | std::views::transform(name);
  f.insert_batch(names);
  EXPECT_TRUE(f.contains("key 4") && !f.contains("key 5"));
  EXPECT_EQ(petal::key_buffer(names).size(), 50u);
}
#endif

}  // namespace
