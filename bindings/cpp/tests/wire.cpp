// Packed forms and deltas, held to the images.
#include "common.hpp"

#include <utility>
#include <vector>

namespace {

constexpr std::uint64_t most = 1 << 20;

// A filter that holds the numbers below `keys`.
petal::filter filter_with(std::uint64_t keys) {
  petal::filter filter(10000, 0.01);
  for (std::uint64_t i = 0; i < keys; i++) filter.insert(i);
  return filter;
}

petal::bytes all_of(const std::vector<std::byte> &bytes) { return petal::bytes(bytes.data(), bytes.size()); }

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
  EXPECT_EQ(petal::unpack(all_of(packed), most).serialize(), filter.serialize());
  EXPECT_EQ(petal::try_unpack(all_of(packed), 100).error().code(), petal::status::too_large);
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
  EXPECT_EQ(petal::try_patch(to, all_of(delta), most).error().code(), petal::status::incompatible);
  petal::patch(from, all_of(delta), most);
  EXPECT_EQ(from.serialize(), to.serialize());
  EXPECT_TRUE(from.contains(std::uint64_t{509}));
}

}  // namespace
