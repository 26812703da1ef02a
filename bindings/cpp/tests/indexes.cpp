// Indexes, held to a scan of the same rows.
#include "common.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

constexpr std::size_t kRows = 300;

// Rows of 64 bits, in groups of three that are near each other.
std::uint64_t row(std::uint64_t i) { return (number(i / 3) & number(1000 + i / 3)) ^ (number(2000 + i % 3) & 0x8101); }

petal::bytes bits(const std::uint64_t &word) { return petal::bytes(&word, sizeof word); }

petal::spec small(std::uint64_t capacity) {
  return petal::spec().kind(PETAL_KIND_INDEX).capacity(capacity).set("width", 64).set("attachment_bytes", 20);
}

petal::index filled() {
  petal::index index(small(kRows));
  for (std::uint64_t i = 0; i < kRows; i++) {
    const std::uint64_t word = row(i);
    EXPECT_EQ(index.add(10 * i, bits(word)), i);
  }
  return index;
}

bool take(void *context, std::uint64_t row, std::uint64_t id) noexcept {
  EXPECT_EQ(id, 10 * row);
  static_cast<std::vector<std::uint64_t> *>(context)->push_back(id);
  return true;
}

double tanimoto(std::uint64_t a, std::uint64_t b) {
  const auto ones = [](std::uint64_t x) {
    double sum = 0;
    for (; x != 0; x &= x - 1) sum++;
    return sum;
  };
  return (a | b) == 0 ? 1 : ones(a & b) / ones(a | b);
}

bool count(void *context, const petal_index_hit *) noexcept {
  ++*static_cast<std::uint64_t *>(context);
  return true;
}

TEST(Indexes, FindWhatAScanFinds) {
  const petal::index index = filled();
  std::vector<std::uint64_t> queries;
  for (std::uint64_t q = 0; q < kRows; q += 37) {
    const std::uint64_t query = row(q);
    queries.push_back(query);
    std::size_t expected = 0;
    for (std::uint64_t i = 0; i < kRows; i++) expected += tanimoto(query, row(i)) >= .5;
    const auto hits = index.find_similar(bits(query), .5, petal::index_search_options().threads(2));
    ASSERT_EQ(hits.size(), expected);
    for (const petal_index_hit &hit : hits) EXPECT_EQ(hit.similarity, tanimoto(query, row(hit.id / 10)));
    const auto top = index.find_top(bits(query), 3);
    ASSERT_EQ(top.size(), 3U);
    EXPECT_EQ(top[0].similarity, 1);
    EXPECT_EQ(index.find_top(bits(query), 1000).size(), kRows);
    EXPECT_EQ(index.find_similar(bits(query), 0).size(), kRows);
    std::uint64_t calls = 0;
    EXPECT_EQ(index.visit_similar(bits(query), .5, count, &calls), expected);
    EXPECT_EQ(calls, expected);
  }
  const petal::bytes all(queries.data(), 8 * queries.size());
  const auto best = index.find_top_batch(all, queries.size(), 3);
  const auto near = index.find_similar_batch(all, queries.size(), .5, 5);
  for (std::size_t i = 0; i < queries.size(); i++) {
    EXPECT_EQ(best[i].size(), 3U);
    EXPECT_EQ(best[i][0].row, index.find_top(bits(queries[i]), 1)[0].row);
    EXPECT_EQ(near[i].size(), std::min<std::size_t>(5, index.find_similar(bits(queries[i]), .5).size()));
  }
  EXPECT_FALSE(index.try_find_top_batch(all, queries.size() + 1, 3));
  for (const std::size_t room : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / queries.size() + 1}) {
    const auto refused = index.try_find_similar_batch(all, queries.size(), .5, room);
    EXPECT_EQ(refused.error().status(), petal::status::too_large);
  }
  // Rows that have all bits of a query, in a list and by a callback.
  const std::uint64_t few = queries[0] & (queries[0] - 1);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < kRows; i++) {
    if ((row(i) & few) == few) expected.push_back(10 * i);
  }
  EXPECT_GE(expected.size(), 1U);
  EXPECT_EQ(index.find_containing(bits(few)), expected);
  EXPECT_EQ(index.find_containing(bits(few), petal::index_search_options().threads(2)), expected);
  std::vector<std::uint64_t> taken;
  EXPECT_EQ(index.visit_containing(bits(few), take, &taken), expected.size());
  EXPECT_EQ(taken, expected);
  const auto folded = index.fold_row(bits(few), PETAL_INDEX_FOLD_MODULO, 32);
  for (unsigned i = 0; i < 4; i++) EXPECT_EQ(folded[i], ((few | few >> 32) >> (8 * i) & 0xff));
  EXPECT_EQ(index.try_fold_row(bits(few), PETAL_INDEX_FOLD_ADJACENT, 33).error().status(), petal::status::out_of_range);
  const auto tversky = index.find_top(bits(queries[0]), 1, petal::index_search_options().tversky(1, 0));
  EXPECT_EQ(tversky[0].similarity, 1);
}

TEST(Indexes, ChangeAndAreSaved) {
  petal::index index = filled();
  EXPECT_FALSE(index.try_add(1, bits(7)));
  EXPECT_EQ(index.find_row(50), 5U);
  EXPECT_EQ(index.remove(50), 1U);
  EXPECT_EQ(index.find_row(50), std::nullopt);
  EXPECT_TRUE(index.remove_row(6));
  EXPECT_FALSE(index.row_at(6).has_value());
  EXPECT_EQ(index.row_at(7)->first, 70U);
  EXPECT_EQ(index.copy_row(7).size(), 8U);
  EXPECT_EQ(index.next_row(), kRows);
  EXPECT_EQ(index.row_count(), kRows - 2);
  EXPECT_EQ(index.width(), 64U);
  index.attach(petal::bytes("names", 5));
  EXPECT_EQ(index.attachment().size(), 5U);
  petal::index larger = index.arrange(2 * kRows);
  larger.merge(index);
  EXPECT_EQ(larger.row_count(), 2 * (kRows - 2));
  EXPECT_EQ(index.arrange_both(larger).row_count(), 3 * (kRows - 2));
  const auto image = index.serialize();
  petal::index loaded = petal::index::load(image.data(), image.size());
  loaded.verify();
  EXPECT_EQ(loaded.row_count(), kRows - 2);
  EXPECT_EQ(loaded.describe().kind, petal_kind{PETAL_KIND_INDEX});
  loaded.clear();
  EXPECT_EQ(loaded.next_row(), 0U);
  EXPECT_FALSE(petal::index::try_make(petal::spec().kind(PETAL_KIND_BLOOM)));
  EXPECT_FALSE(petal::index().try_find_top(bits(1), 1));
}

TEST(Indexes, AreBuilt) {
  petal::index_builder builder(small(0));
  for (std::uint64_t i = 0; i < 5000; i++) builder.add(i, bits(i));
  const petal::index index = builder.finish();
  EXPECT_EQ(index.next_row(), 5000U);
  EXPECT_EQ(index.find_top(bits(4097), 1)[0].id, 4097U);
  EXPECT_FALSE(builder.try_add(1, bits(1)));
}

}  // namespace
