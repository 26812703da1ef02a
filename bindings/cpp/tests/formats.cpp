// Other systems' bytes.
#include "common.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

// What Guava 33 wrote for the keys key-0 to key-16, sized for 17 at 0.001.
constexpr unsigned char guava[] = {0x01, 0x0a, 0x00, 0x00, 0x00, 0x04, 0x11, 0x8b, 0x20, 0x39, 0x08, 0xca, 0xe1,
                                   0x5d, 0x9c, 0x65, 0xb7, 0xba, 0xf1, 0x10, 0x01, 0xc1, 0xef, 0x60, 0xd3, 0x2b,
                                   0x0c, 0xb7, 0x69, 0xff, 0xe7, 0x44, 0x12, 0xfd, 0x46, 0x41, 0x9b, 0x91};

bool is_guava(const std::vector<std::byte> &bytes) {
  return bytes.size() == sizeof guava && std::memcmp(bytes.data(), guava, sizeof guava) == 0;
}

std::vector<std::string> texts(const std::string &name, int count) {
  std::vector<std::string> made;
  for (int i = 0; i < count; i++) made.push_back(name + "-" + std::to_string(i));
  return made;
}

using formats = folder;

TEST_F(formats, a_filter_of_guava) {
  auto f = petal::filter::import_bytes("guava", guava);
  EXPECT_EQ(f.contains_batch(texts("key", 17)), 17u);
  EXPECT_EQ(f.contains_batch(texts("absent", 10000)), 55u);
  EXPECT_EQ(f.describe().kind, petal_kind{PETAL_KIND_FOREIGN_BLOOM});
  EXPECT_EQ(f.describe().hash, petal_hash_function{PETAL_HASH_FORMAT});
  EXPECT_EQ(f.export_size("guava"), sizeof guava);
  EXPECT_TRUE(is_guava(f.export_bytes("guava")));
  EXPECT_TRUE(is_guava(f.export_bytes(std::string("guava"), "mitz_64")));

  f.save(path("guava.petal"));
  const auto mapped = petal::filter::open(path("guava.petal"));
  EXPECT_TRUE(mapped.contains("key-7") && mapped.equals(f));
  EXPECT_TRUE(is_guava(mapped.export_bytes("guava")));

  // Keys are taken whole, so that a hash is none.
  EXPECT_TRUE(f.insert("one more"));
  EXPECT_FALSE(mapped.contains("one more"));
  f.merge(mapped);
  EXPECT_TRUE(f.contains("one more"));
  EXPECT_EQ(f.try_insert(petal::hash64{1}).status(), petal::status::unsupported);
  EXPECT_TRUE(f.contains(petal::hash64{1}));
  f.insert(number(1));
  EXPECT_TRUE(f.contains(number(1)));
}

TEST(format, a_cuckoo_filter_of_redisbloom) {
  const unsigned char cuckoo[] = {
      0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x02, 0x00, 0x14, 0x00, 0x01, 0x00, 0x00, 0x00, 0xa4, 0x00, 0x0d, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0xda, 0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1b, 0x86, 0x00, 0x00, 0xe7, 0x00, 0x00, 0x00,
      0xf8, 0x00, 0x5a, 0x00, 0x00, 0x00,
  };
  auto f = petal::filter::import_bytes("redisbloom_cuckoo", cuckoo, sizeof cuckoo);
  f.insert("pear");
  f.insert("pear");
  EXPECT_EQ(f.count("pear"), 2u);
  auto again = petal::filter::import_bytes("redisbloom_cuckoo", f.export_bytes("redisbloom_cuckoo"));
  again.remove("pear");
  EXPECT_EQ(again.count("pear"), 1u);
  EXPECT_TRUE(again.contains("key-9"));
}

TEST(format, buffers_and_callbacks) {
  const auto f = petal::filter::import_bytes("guava", guava, sizeof guava);
  std::vector<unsigned char> buffer(sizeof guava);
  EXPECT_EQ(f.export_bytes("guava", nullptr, buffer.data(), buffer.size()), sizeof guava);
  EXPECT_EQ(std::memcmp(buffer.data(), guava, sizeof guava), 0);
  EXPECT_EQ(f.try_export_bytes("guava", nullptr, buffer.data(), 10).status(), petal::status::buffer_too_small);
  EXPECT_THROW(f.export_bytes("guava", nullptr, buffer.data(), 10), petal::error);

  std::ostringstream out;
  f.export_to("guava", nullptr, [&](petal::bytes piece) { out << piece.text(); });
  EXPECT_TRUE(petal::filter::import_bytes("guava", out.str()).equals(f));
  EXPECT_EQ(f.try_export_to("guava", nullptr, [](petal::bytes) { return false; }).status(), petal::status::callback);
  const auto fails = [](petal::bytes) { throw std::domain_error("the tape is full"); };
  EXPECT_THROW(f.export_to("guava", nullptr, fails), std::domain_error);
  EXPECT_EQ(f.try_export_to("guava", nullptr, fails).status(), petal::status::callback);
}

TEST(format, every_one_that_is_made) {
  ASSERT_GT(petal::format_count(), 0u);
  for (std::size_t i = 0; i < petal::format_count(); i++) {
    const auto info = petal::format_at(i);
    EXPECT_STREQ(petal::format_find(info.name).name, info.name);
    std::vector<petal::variant_name> variants(info.variant_count);
    for (std::size_t v = 0; v < variants.size(); v++) variants[v] = petal::format_variant(info.name, v);
    EXPECT_EQ(petal::try_format_variant(info.name, variants.size()).status(), petal::status::out_of_range);
    if (info.capabilities & PETAL_FORMAT_BUILD) continue;
    if (!(info.capabilities & PETAL_FORMAT_CREATE)) {
      EXPECT_EQ(petal::try_format_spec(info.name, 1001, 0.01).status(), petal::status::unsupported);
      continue;
    }
    petal::filter f(petal::format_spec(info.name, 1001, 0.01));
    f.insert_batch(texts("key", 1001));
    EXPECT_EQ(f.contains_batch(texts("key", 1001)), 1001u) << info.name;
    for (const auto &variant : variants) {
      petal::filter of(petal::format_spec(info.name, 1001, 0.01, variant.data()));
      of.insert_batch(texts("key", 1001));
      EXPECT_EQ(of.export_size(info.name, variant.data()), of.export_bytes(info.name, variant.data()).size());
    }
    if (!(info.capabilities & PETAL_FORMAT_WRITE)) continue;
    const auto foreign = f.export_bytes(info.name);
    if (info.capabilities & PETAL_FORMAT_RECOGNISE) {
      const auto found = petal::format_recognise({foreign.data(), foreign.size()});
      EXPECT_STREQ(found.name, info.name);
    }
    auto again = petal::filter::try_import_bytes(info.name, foreign);
    if (again.status() == petal::status::contradiction) {
      const auto shape = f.describe();
      const auto options = petal::import_options().bits(shape.bits).hashes(shape.hashes).seed(shape.seed);
      again = petal::filter::try_import_bytes(info.name, foreign, options);
    }
    ASSERT_TRUE(again) << info.name << ": " << again.error().message();
    EXPECT_EQ(again->contains_batch(texts("key", 1001)), 1001u) << info.name;
    EXPECT_EQ(again->export_bytes(info.name), foreign) << info.name;
  }
}

// The filter of a block that BIP 158 publishes, by its key; and what it stores, as a range.
TEST(format, a_block_of_bip158) {
  constexpr unsigned char published[] = {0x03, 0x85, 0xac, 0xb4, 0xf0, 0xfe, 0x88, 0x9e, 0xf0};
  constexpr unsigned char key[] = {0x33, 0x5f, 0xbc, 0x23, 0x14, 0xa2, 0x0d, 0x31,
                                   0x0b, 0x6f, 0x9e, 0xba, 0x7e, 0xd4, 0xbe, 0x41};
  constexpr unsigned char script[] = {0x00, 0x14, 0x46, 0xc2, 0x9e, 0xab, 0xe8, 0x20, 0x8a, 0x33, 0xaa,
                                      0x10, 0x23, 0xc7, 0x41, 0xfa, 0x79, 0xaa, 0x92, 0xe8, 0x81, 0xff};
  petal::secret_key secret;
  std::memcpy(secret.data(), key, sizeof key);
  const auto f = petal::filter::import_bytes("bip158", published, petal::import_options().secret(secret));
  EXPECT_TRUE(f.contains(petal::bytes(script, sizeof script)) && !f.contains("none of its scripts"));
  EXPECT_EQ(f.export_bytes("bip158").size(), sizeof published);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number : f.stored_hashes()) numbers.push_back(number);
  EXPECT_EQ(numbers.size(), 3u);
  EXPECT_EQ(f.stored_range(), 3u * 784931);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), f.stored_hash(f.hash(petal::bytes(script, sizeof script)))), 1);
  // Three codes of at least 25 bits are longer than these eight bytes.
  const auto other = petal::import_options().rice_bits(24);
  EXPECT_EQ(petal::filter::try_import_bytes("bip158", published, other).status(), petal::status::corrupt);
}

TEST(format, what_is_stored_is_a_range) {
  petal::builder b(petal::spec().kind(PETAL_KIND_GOLOMB).capacity(1000).false_positive_rate(0.001));
  for (int i = 0; i < 1000; i++) b.add("key-" + std::to_string(i));
  const auto f = b.finish();
  ASSERT_TRUE(f.can(PETAL_CAN_ENUMERATE));
  std::vector<std::uint64_t> numbers(f.stored_hashes().begin(), f.stored_hashes().end()), some(2000);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()) && numbers.size() > 990);
  std::vector<std::uint64_t> counts(some.size());
  some.resize(f.stored_hashes(0, some.data(), some.size(), counts.data()));
  EXPECT_EQ(counts[0], f.stored_hashes().begin().count());
  EXPECT_EQ(some, numbers);
  EXPECT_LT(numbers.back(), f.stored_range());
  const petal::filter own(100, 0.01);
  EXPECT_EQ(own.try_stored_range().status(), petal::status::unsupported);
  EXPECT_THROW(own.stored_hashes(), petal::error);
}

TEST(format, refusals) {
  const petal::filter own(100, 0.01);
  EXPECT_TRUE(has(own.try_export_bytes("guava").error().message(), "no form in guava"));
  EXPECT_EQ(own.try_export_size("guava").status(), petal::status::unsupported);
  EXPECT_EQ(petal::filter::try_import_bytes("rose", guava).status(), petal::status::unknown_value);
  EXPECT_EQ(petal::filter::try_import_bytes("guava", guava, 20).status(), petal::status::truncated);
  EXPECT_EQ(petal::filter::try_import_bytes("guava", nullptr, 1).status(), petal::status::null);
  EXPECT_EQ(petal::filter::try_import_bytes("guava", guava, petal::import_options().seed(7)).status(),
            petal::status::contradiction);
  EXPECT_EQ(petal::filter().try_export_bytes("guava").status(), petal::status::null);
  EXPECT_EQ(petal::try_format_at(petal::format_count()).status(), petal::status::out_of_range);
  EXPECT_EQ(petal::try_format_find("rose").status(), petal::status::unknown_value);
  EXPECT_EQ(petal::try_format_recognise({"an apple", 8}).status(), petal::status::foreign);
  EXPECT_EQ(petal::try_format_spec("guava", 100, 0.01, "rose").status(), petal::status::unknown_value);
  EXPECT_THROW(petal::format_spec("guava", 100, 2), petal::error);
  EXPECT_THROW(petal::filter::import_bytes("guava", guava, 5), petal::error);
}

}  // namespace
