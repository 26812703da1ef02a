// Sketches, held to sets that are known.
#include "common.hpp"

#include <string>
#include <vector>

namespace {

petal::spec small() { return petal::spec().capacity(40).false_positive_rate(1e-6); }

TEST(Sketches, ListWhatOnlyOneHas) {
  petal::sketch ours(small()), theirs(small());
  std::vector<std::uint64_t> numbers(5000);
  for (std::size_t i = 0; i < numbers.size(); i++) numbers[i] = i;
  std::size_t done = 0;
  ours.insert_batch(numbers, &done);
  EXPECT_EQ(done, numbers.size());
  theirs.insert_batch(std::vector<std::uint64_t>(numbers.begin() + 15, numbers.end()));
  for (std::uint64_t i = 0; i < 5; i++) theirs.insert(10000 + i);
  EXPECT_FALSE(ours.list().is_complete);
  ours.subtract(theirs);
  const petal::listing found = ours.list();
  ASSERT_TRUE(found.is_complete);
  ASSERT_EQ(found.listed.size(), 20u);
  for (std::uint64_t i = 0; i < 5; i++) {
    EXPECT_EQ(found.listed[i].number, 10000 + i);
    EXPECT_EQ(found.listed[i].sign, -1);
  }
  for (std::uint64_t i = 0; i < 15; i++) EXPECT_EQ(found.listed[5 + i].number, i);
  ours.remove_batch(std::vector<std::uint64_t>(numbers.begin(), numbers.begin() + 15));
  EXPECT_EQ(ours.list().listed.size(), 5u);
  ours.clear();
  EXPECT_TRUE(ours.list().listed.empty());
}

TEST(Sketches, TakeKeysInEveryForm) {
  petal::sketch sketch(small());
  sketch.insert(std::string("apple"));
  sketch.insert(7);
  sketch.insert(petal::hash64{8});
  sketch.remove(9);
  sketch.remove("pear");
  sketch.remove(petal::hash64{10});
  const auto listed = sketch.list().listed;
  ASSERT_EQ(listed.size(), 6u);
  EXPECT_EQ(listed[0].number, 9u);
  EXPECT_EQ(listed[5].number, petal::spec().hash("apple").value);
}

TEST(Sketches, FindSingleNumbers) {
  petal::sketch sketch(small());
  sketch.insert("apple");
  sketch.remove(7);
  EXPECT_EQ(sketch.value_bits(), 0u);
  const petal::sketch_answer apple = sketch.find(std::string("apple"));
  EXPECT_EQ(apple.presence, PETAL_SKETCH_PRESENCE_PRESENT);
  EXPECT_EQ(apple.pair.number, petal::spec().hash("apple").value);
  EXPECT_EQ(apple.pair.sign, 1);
  EXPECT_EQ(sketch.find(petal::hash64{7}).pair.sign, -1);
  EXPECT_EQ(sketch.find(8).presence, PETAL_SKETCH_PRESENCE_ABSENT);
  for (std::uint64_t i = 0; i < 5000; i++) sketch.insert(100 + i);
  EXPECT_EQ(sketch.find(7).presence, PETAL_SKETCH_PRESENCE_UNKNOWN);
  const auto refused = sketch.try_insert_value(1, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), petal::status::unsupported);
  EXPECT_FALSE(sketch.try_list_values());
  const petal::sketch other(small().kind("riblt"));
  EXPECT_EQ(other.try_find(1).error().status(), petal::status::unsupported);
}

TEST(Sketches, HaveValues) {
  const petal::spec spec = small().kind("iblt").set("value_bits", 64);
  petal::sketch ours(spec), theirs(spec);
  std::vector<std::uint64_t> numbers(1000), values(1000);
  for (std::size_t i = 0; i < numbers.size(); i++) numbers[i] = i, values[i] = 2 * i;
  std::size_t done = 0;
  ours.insert_value_batch(numbers, values.data(), &done);
  EXPECT_EQ(done, numbers.size());
  values[3] = 77;
  theirs.insert_value_batch(numbers, values.data());
  theirs.insert_value("pear", 5);
  ours.subtract(theirs);
  const petal::value_listing found = ours.list_values();
  ASSERT_TRUE(found.is_complete);
  ASSERT_EQ(found.listed.size(), 3u);
  EXPECT_EQ(found.listed[0].number, 3u);
  EXPECT_EQ(found.listed[0].value, 77u);
  EXPECT_EQ(found.listed[0].sign, -1);
  EXPECT_EQ(found.listed[1].value, 5u);
  EXPECT_EQ(found.listed[2].number, 3u);
  EXPECT_EQ(found.listed[2].value, 6u);
  EXPECT_EQ(found.listed[2].sign, 1);
  EXPECT_EQ(ours.value_bits(), 64u);
  EXPECT_EQ(ours.find("pear").pair.value, 5u);
  theirs.remove_value("pear", 5);
  theirs.remove_value_batch(numbers, values.data());
  EXPECT_TRUE(theirs.list_values().listed.empty());
}

TEST(Sketches, AreImages) {
  petal::sketch sketch(small());
  sketch.insert(1);
  const auto image = sketch.serialize();
  EXPECT_EQ(image.size(), sketch.serialized_size());
  petal::sketch loaded = petal::sketch::load(image.data(), image.size());
  EXPECT_EQ(loaded.list().listed.size(), 1u);
  EXPECT_EQ(loaded.compatibility_id(), sketch.compatibility_id());
  EXPECT_TRUE(loaded.can(PETAL_CAN_SUBTRACT | PETAL_CAN_LIST));
  EXPECT_EQ(loaded.describe().kind, static_cast<petal_kind>(PETAL_KIND_IBLT));
  EXPECT_LE(loaded.expected_failure_rate(40), 1e-6);
  loaded.save("sketch_cpp.petal");
  petal::sketch opened = petal::sketch::open("sketch_cpp.petal");
  opened.verify();
  EXPECT_EQ(opened.copy().list().listed.size(), 1u);
  EXPECT_FALSE(opened.try_insert(2));
  std::remove("sketch_cpp.petal");
  petal::sketch other(petal::spec().capacity(41));
  const auto refused = sketch.try_subtract(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), petal::status::incompatible);
}

TEST(Sketches, KeepKeys) {
  petal::sketch sketch(petal::spec().kind(PETAL_KIND_RIBLT).bits(192 * 30));
  EXPECT_FALSE(sketch.keeps_keys());
  EXPECT_EQ(sketch.symbol_count(), 30u);
  sketch.keep_keys();
  EXPECT_TRUE(sketch.keeps_keys());
  for (int i = 0; i < 3; i++) sketch.insert(5);
  sketch.remove(6);
  ASSERT_EQ(sketch.list().listed.size(), 1u);
  EXPECT_TRUE(sketch.copy().keeps_keys());
  petal::sketch other(small());
  other.insert(1);
  const auto refused = other.try_keep_keys();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), petal::status::contradiction);
  EXPECT_EQ(other.symbol_count(), 0u);
}

TEST(Sketches, HaveTheBytesOfMinisketch) {
  const petal::spec spec = petal::spec().kind("pinsketch").capacity(4).set("field_bits", 12);
  const std::vector<std::uint64_t> elements = {0x5c6, 0xeee, 0xb78, 0xb64, 0xeb2, 0x562, 0xf74, 0xce8, 0xdbe};
  const std::vector<std::uint8_t> expected = {0xc6, 0xde, 0xb7, 0x07, 0xac, 0x9a};
  petal::sketch ours(spec), theirs(spec);
  ours.insert_batch(elements);
  EXPECT_EQ(ours.export_minisketch(), expected);
  theirs.import_minisketch(expected.data(), expected.size());
  ours.insert(77);
  ours.subtract(theirs);
  const petal::listing found = ours.list();
  EXPECT_TRUE(found.is_complete);
  ASSERT_EQ(found.listed.size(), 1u);
  EXPECT_EQ(found.listed[0].number, 77u);
  // The run 64 to 79 leaves nothing in the sums, which the checksum shows.
  petal::sketch run(spec);
  for (std::uint64_t number = 64; number < 80; ++number) run.insert(number);
  EXPECT_FALSE(run.list().is_complete);
  const auto refused = theirs.try_import_minisketch(expected.data(), 5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), petal::status::foreign);
  EXPECT_EQ(petal::sketch(small()).try_export_minisketch().error().status(), petal::status::unsupported);
}

TEST(Sketches, HoldWholeKeys) {
  petal::spec wanted = petal::spec().kind(PETAL_KIND_RIBLT).bits(256 * 40);
  wanted.set("key_bytes", 16);
  petal::sketch ours(wanted), theirs(wanted);
  ours.insert(std::string("sixteen bytes: a"));
  theirs.insert(std::string("sixteen bytes: b"));
  EXPECT_EQ(ours.key_bytes(), 16u);
  EXPECT_FALSE(ours.try_insert(std::string("short")));
  ours.subtract(theirs);
  const petal::key_listing found = ours.list_keys();
  ASSERT_TRUE(found.is_complete);
  EXPECT_EQ(std::string(found.keys.begin(), found.keys.end()), "sixteen bytes: bsixteen bytes: a");
  EXPECT_EQ(found.signs, (std::vector<std::int64_t>{-1, 1}));
  EXPECT_FALSE(ours.try_list());
}

TEST(Streams, FindDifferences) {
  const auto set = [](std::uint64_t from, std::uint64_t to) {
    petal::sketch sketch(petal::spec().kind(PETAL_KIND_RIBLT).bits(192 * 10));
    sketch.keep_keys();
    for (std::uint64_t i = from; i < to; i++) sketch.insert(i);
    return sketch;
  };
  const petal::sketch ours = set(0, 1000), theirs = set(3, 1002);
  petal::stream out(theirs), into(ours);
  bool is_complete = false;
  while (!is_complete) {
    std::uint8_t bytes[98];
    const std::size_t length = out.write(1, bytes, sizeof bytes);
    is_complete = into.read(bytes, length / 2);
    is_complete = into.read(bytes + length / 2, length - length / 2);
  }
  EXPECT_EQ(into.symbols_read(), out.symbols_written());
  const petal::listing found = into.list();
  ASSERT_TRUE(found.is_complete);
  ASSERT_EQ(found.listed.size(), 5u);
  EXPECT_EQ(found.listed[0].number, 1000u);
  EXPECT_EQ(found.listed[4].sign, 1);
  EXPECT_FALSE(into.try_list_keys());
  into.set_limit(into.symbols_read());
  std::uint8_t bytes[98];
  const auto refused = into.try_read(bytes, out.write(1, bytes, sizeof bytes));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), petal::status::too_large);
  const auto none = petal::stream::try_make(petal::sketch(small()));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status(), petal::status::unsupported);
}

TEST(Streams, HaveWholeKeys) {
  petal::spec wanted = petal::spec().kind(PETAL_KIND_RIBLT).bits(256 * 40);
  wanted.set("key_bytes", 10);
  petal::sketch ours(wanted), theirs(wanted);
  theirs.insert(std::string("ten bytes."));
  petal::stream out(theirs), into(ours);
  std::vector<std::uint8_t> bytes(500);
  bytes.resize(out.write(8, bytes.data(), bytes.size()));
  EXPECT_TRUE(into.read(bytes.data(), bytes.size()));
  const petal::key_listing found = into.list_keys();
  EXPECT_EQ(std::string(found.keys.begin(), found.keys.end()), "ten bytes.");
  EXPECT_EQ(found.signs, std::vector<std::int64_t>{-1});
}

}  // namespace
