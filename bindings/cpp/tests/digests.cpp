// Digests, held to the payloads that they took.
#include "common.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace {

std::vector<std::uint8_t> random_bytes(std::size_t length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(length);
  for (auto &byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

petal::bytes part(const std::vector<std::uint8_t> &of, std::size_t at, std::size_t length) {
  return petal::bytes(of.data() + at, length);
}

petal::spec small(double ids) {
  return petal::spec()
      .kind(PETAL_KIND_DIGEST)
      .capacity(10000)
      .set("payloads", ids)
      .set("bytes_per_byte", .3)
      .set("attachment_bytes", 20);
}

TEST(Digests, FindExcerptsWhereTheyWere) {
  petal::digest digest(small(10)), pieces(small(10));
  for (std::uint64_t id = 0; id < 5; id++) {
    const auto payload = random_bytes(2000, id);
    digest.add(id, part(payload, 0, 2000));
    pieces.begin(id);
    pieces.write(part(payload, 0, 777));
    pieces.write(part(payload, 777, 1223));
    pieces.end();
  }
  EXPECT_TRUE(digest.serialize() == pieces.serialize());
  const auto payload = random_bytes(2000, 3);
  const petal::digest_find_result found = digest.find(part(payload, 321, 300));
  ASSERT_EQ(found.matches.size(), 1U);
  EXPECT_EQ(found.matches[0].payload, 3U);
  EXPECT_EQ(found.matches[0].offset, 321U);
  EXPECT_EQ(found.report.is_complete, 1U);
  EXPECT_TRUE(digest.find(part(random_bytes(300, 99), 0, 300)).matches.empty());
  EXPECT_EQ(digest.payload_at(4).second, 2000U);
  EXPECT_EQ(digest.statistics().payloads, 5U);
  const std::uint64_t length = digest.shortest_excerpt_at(1e-9);
  EXPECT_GE(length, digest.shortest_excerpt());
  EXPECT_LE(digest.expected_rate(length), 1e-9);
  EXPECT_EQ(digest.describe().kind, petal_kind{PETAL_KIND_DIGEST});

  const auto image = digest.serialize();
  petal::digest loaded = petal::digest::load(image.data(), image.size());
  loaded.verify();
  EXPECT_EQ(loaded.copy().find(part(payload, 321, 300)).matches.size(), 1U);
  loaded.clear();
  EXPECT_EQ(loaded.statistics().payloads, 0U);
}

TEST(Digests, KeepBytesOfTheCaller) {
  petal::digest digest(small(1));
  const auto names = random_bytes(20, 1);
  digest.attach(part(names, 0, 20));
  EXPECT_TRUE(digest.attachment() == names);
  EXPECT_FALSE(digest.try_attach(part(random_bytes(21, 1), 0, 21)));
}

TEST(Digests, SayWhatIsWrong) {
  petal::digest digest(small(1));
  const auto bytes = random_bytes(200, 1);
  EXPECT_FALSE(digest.try_find(part(bytes, 0, 62)));
  EXPECT_FALSE(digest.try_write(part(bytes, 0, 62)));
  EXPECT_FALSE(digest.try_end());
  EXPECT_TRUE(digest.try_begin(1));
  EXPECT_FALSE(digest.try_add(2, part(bytes, 0, 200)));
  EXPECT_TRUE(digest.try_end());
  EXPECT_FALSE(digest.try_payload_at(1));
  EXPECT_FALSE(digest.try_shortest_excerpt_at(0));
  EXPECT_FALSE(petal::digest::try_make(petal::spec().kind(PETAL_KIND_BLOOM)));
  EXPECT_FALSE(petal::digest().try_statistics());
}

}  // namespace
