// Compact forms, and one key asked of many filters.
#include "common.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t many = 100;

// Bytes at a multiple of 8.
struct aligned {
  explicit aligned(const std::vector<std::byte> &bytes) : words((bytes.size() + 7) / 8), length(bytes.size()) {
    std::memcpy(words.data(), bytes.data(), length);
  }
  petal::compact_view view() const { return {words.data(), length}; }

  std::vector<std::uint64_t> words;
  std::size_t length;
};

TEST(compact, forms) {
  petal::filter f(petal::spec().capacity(many).seed(7));
  for (std::uint64_t key : numbers(0, many)) f.insert(key);
  const aligned form(petal::serialize_compact(f));
  EXPECT_EQ(form.length, petal::compact_size(f));
  const auto options = petal::compact_options().seed(7).verify();
  const auto opened = form.view().open(options), loaded = form.view().load(options);
  form.view().verify();
  for (std::uint64_t key : numbers(0, 10 * many)) {
    EXPECT_EQ(opened.contains(key), f.contains(key));
    EXPECT_EQ(loaded.contains(key), f.contains(key));
    EXPECT_EQ(form.view().contains(f.hash(key)), f.contains(key));
    EXPECT_EQ(form.view().try_contains(f.hash(key)).value(), f.contains(key));
  }
  EXPECT_TRUE(opened.equals(f));

  aligned damaged = form;
  damaged.words[0] ^= 1;
  EXPECT_EQ(damaged.view().try_verify().error().status(), petal::status::corrupt);
  EXPECT_EQ(damaged.view().try_open().error().status(), petal::status::corrupt);
  damaged.words.back() ^= 1;
  EXPECT_EQ(damaged.view().try_contains(petal::hash64{1}).error().status(), petal::status::corrupt);
  EXPECT_TRUE(damaged.view().contains(petal::hash64{1}));
}

TEST(compact, builders) {
  petal::builder b{petal::spec()};
  for (int round = 0; round < 3; round++) {
    const auto keys = numbers(0, many);
    b.add_batch(keys);
    std::vector<std::byte> room(b.compact_size());
    EXPECT_EQ(b.try_finish_compact(room.data(), 8).error().status(), petal::status::buffer_too_small);
    room.resize(b.finish_compact(room.data(), room.size()));
    const auto loaded = petal::compact_view(room.data(), room.size()).load();
    for (std::uint64_t key : keys) EXPECT_TRUE(loaded.contains(key));
    EXPECT_EQ(b.key_count(), 0u);
  }
}

TEST(compact, many_at_once) {
  std::vector<petal::filter> filters;
  std::vector<aligned> forms;
  petal::filter_list list;
  petal::compact_list compact;
  for (std::uint64_t i = 0; i < many; i++) {
    filters.emplace_back(petal::spec().capacity(many));
    filters.back().insert(i);
    forms.emplace_back(petal::serialize_compact(filters.back()));
  }
  for (const auto &one : filters) list.add(one);
  for (const auto &one : forms) compact.add(one.view());
  for (std::uint64_t key = 0; key < many; key++) {
    std::vector<std::uint8_t> found(many, 7), of_hash(many, 7), of_forms(many, 7);
    const std::size_t count = list.contain(key, found);
    EXPECT_EQ(list.contain(filters[0].hash(key), of_hash), count);
    EXPECT_EQ(compact.contain(filters[0].hash(key), of_forms), count);
    EXPECT_EQ(found, of_hash);
    EXPECT_EQ(found, of_forms);
    for (std::size_t i = 0; i < many; i++) EXPECT_EQ(found[i] != 0, filters[i].contains(key));
    EXPECT_EQ(found[key], 1);
  }
  EXPECT_EQ(list.contain("a string"), list.try_contain("a string").value());
  std::vector<std::uint8_t> small(many - 1);
  EXPECT_EQ(list.try_contain(1, small).error().status(), petal::status::buffer_too_small);
  EXPECT_EQ(small, std::vector<std::uint8_t>(many - 1, 1));

  const auto keys = numbers(0, many);
  std::vector<std::uint64_t> hashes(many);
  petal::hash_batch(petal::spec(), petal::keys::of_u64(keys.data(), keys.size()), hashes.data());
  for (std::size_t i = 0; i < many; i++) EXPECT_EQ(hashes[i], filters[0].hash(keys[i]).value);
}

}  // namespace
