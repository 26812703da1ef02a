// Packed forms and deltas, held to the images.
#include "common.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

namespace {

constexpr std::uint64_t most = 1 << 20;

// A filter that holds the numbers below `keys`.
petal::filter filter_with(std::uint64_t keys) {
  petal::filter filter(10000, 0.01);
  for (std::uint64_t i = 0; i < keys; i++) filter.insert(i);
  return filter;
}

TEST(Wire, PackedFiltersComeBack) {
  const petal::filter filter = filter_with(500);
  const auto packed = petal::pack(filter);
  EXPECT_LT(packed.size(), filter.serialized_size() / 3);
  std::vector<std::byte> streamed;
  const auto append = [&](petal::bytes piece) {
    const auto *data = static_cast<const std::byte *>(static_cast<const void *>(piece.data()));
    streamed.insert(streamed.end(), data, data + piece.size());
  };
  petal::pack_to(filter, append);
  EXPECT_EQ(streamed, packed);
  EXPECT_EQ(petal::unpack(packed, most).serialize(), filter.serialize());
  EXPECT_EQ(petal::try_unpack(packed, 100).error().code(), petal::status::too_large);
  EXPECT_EQ(petal::try_pack_to(filter, [](petal::bytes) { return false; }).error().code(), petal::status::callback);
}

TEST(Wire, DeltasMakeTheNewerState) {
  petal::filter from = filter_with(500);
  petal::filter to = filter_with(510);
  const auto delta = petal::delta(from, to);
  EXPECT_LT(delta.size(), 200u);
  std::size_t streamed = 0;
  petal::delta_to(from, to, [&](petal::bytes piece) { streamed += piece.size(); });
  EXPECT_EQ(streamed, delta.size());
  EXPECT_EQ(petal::try_patch(to, delta, most).error().code(), petal::status::incompatible);
  petal::patch(from, delta, most);
  EXPECT_EQ(from.serialize(), to.serialize());
  EXPECT_TRUE(from.contains(std::uint64_t{509}));
}

// A caller's room and a caller's bytes, in a span where the library has spans.
TEST(Wire, SpansAreWrittenAndRead) {
  petal::filter older = filter_with(500);
  const petal::filter newer = filter_with(510);
  std::array<unsigned char, 10000> packed{};
  const std::size_t length = petal::pack_into(newer, packed);
  EXPECT_EQ(length, petal::pack(newer).size());
  EXPECT_EQ(petal::unpack(petal::bytes(packed.data(), length), most).serialize(), newer.serialize());
  std::array<char, 3> small{};
  EXPECT_EQ(petal::try_pack_into(newer, small).error().code(), petal::status::buffer_too_small);
  EXPECT_EQ(petal::try_delta_into(older, newer, small).error().code(), petal::status::buffer_too_small);
  std::string text(400, 0);
  text.resize(petal::delta_into(older, newer, text));
  petal::patch(older, text, most);
  EXPECT_EQ(older.serialize(), newer.serialize());
#if __cplusplus >= 202002L && __has_include(<span>)
  std::span<std::byte> room(static_cast<std::byte *>(static_cast<void *>(packed.data())), packed.size());
  const auto form = room.first(petal::pack_into(newer, room));
  EXPECT_EQ(petal::unpack(form, most).serialize(), newer.serialize());
  EXPECT_EQ(petal::unpack(std::span<const std::byte>(form), most).serialize(), newer.serialize());
#endif
}

TEST(Wire, MapsComeBackAndAreChanged) {
  petal::map older(petal::spec().kind(PETAL_KIND_APPROXIMATOR).capacity(1000));
  for (std::uint64_t i = 0; i < 50; i++) older.put(i, i);
  petal::map newer = older.copy();
  newer.put(std::uint64_t{50}, 9);
  const auto packed = petal::pack(newer);
  EXPECT_EQ(petal::unpack_map(packed, most).serialize(), newer.serialize());
  EXPECT_EQ(petal::unpack_map(petal::bytes(packed.data(), packed.size()), most).serialize(), newer.serialize());
  EXPECT_EQ(petal::try_unpack_map(packed, 100).error().code(), petal::status::too_large);
  EXPECT_EQ(petal::try_unpack(packed, most).error().code(), petal::status::unsupported);
  std::size_t streamed = 0;
  petal::pack_to(newer, [&](petal::bytes piece) { streamed += piece.size(); });
  EXPECT_EQ(streamed, packed.size());
  const auto delta = petal::delta(older, newer);
  streamed = 0;
  petal::delta_to(older, newer, [&](petal::bytes piece) { streamed += piece.size(); });
  EXPECT_EQ(streamed, delta.size());
  EXPECT_EQ(petal::try_patch(newer, delta, most).error().code(), petal::status::incompatible);
  petal::patch(older, delta, most);
  EXPECT_EQ(older.serialize(), newer.serialize());
}

TEST(Wire, SparserFiltersHaveLowerRates) {
  const auto sparse = petal::wire_spec(10000, 10000, 20000);
  const petal::spec plain = petal::spec().kind(PETAL_KIND_BLOOM).capacity(10000).bits(80000);
  EXPECT_LT(sparse.expected_false_positive_rate(10000), 0.85 * plain.expected_false_positive_rate(10000));
  petal::filter filter(sparse);
  for (std::uint64_t i = 0; i < 10000; i++) filter.insert(i);
  EXPECT_LE(petal::pack(filter).size(), 10300u);
  EXPECT_LE(filter.serialized_size(), 20000u);
  EXPECT_EQ(petal::try_wire_spec(10000, 10).error().code(), petal::status::too_large);
}

}  // namespace
