// Builders, kinds and plans.
#include "common.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>

// In without.cpp.
bool built_without_exceptions();

namespace {

static_assert(!std::is_copy_constructible_v<petal::builder> && !std::is_copy_assignable_v<petal::builder>);
static_assert(std::is_nothrow_move_constructible_v<petal::builder> &&
              std::is_nothrow_move_assignable_v<petal::builder>);

const petal::spec accurate = petal::spec().false_positive_rate(1e-9);

using builders = folder;

TEST(building, every_form_of_key) {
  petal::builder b(accurate);
  b.add("apple");
  b.add("pear", 4);
  b.add(7);
  b.add(accurate.hash("plum"));
  b.add_batch(numbers(0, 100));
  b.add_batch(petal::key_buffer(std::vector<std::string>{"fig", "kiwi"}));
  std::size_t added = 0;
  b.add_batch(std::vector<petal::hash64>{accurate.hash(8), accurate.hash(7)}, &added);
  EXPECT_EQ(added, 2u);
  EXPECT_EQ(b.key_count(), 108u);

  const auto f = b.finish();
  for (auto key : {"apple", "pear", "plum", "fig", "kiwi"}) EXPECT_TRUE(f.contains(key)) << key;
  EXPECT_TRUE(f.contains(7) && f.contains(8));
  EXPECT_EQ(f.contains_batch(numbers(0, 100)), 100u);
  EXPECT_FALSE(f.contains("melon"));
  // Sized for the distinct keys: 7 came twice.
  EXPECT_EQ(f.describe().capacity, 107u);

  // Empty again, and of use.
  EXPECT_EQ(b.key_count(), 0u);
  b.add("melon");
  EXPECT_TRUE(b.finish().contains("melon"));
}

TEST(building, keys_of_several) {
  petal::builder one(accurate), here(accurate), there(accurate);
  one.add_batch(numbers(0, 100));
  here.add_batch(numbers(0, 40));
  there.add_batch(numbers(40, 100));
  std::string state;
  const auto take = [&](petal::bytes piece) {
    state.append(reinterpret_cast<const char *>(piece.data()), piece.size());
  };
  there.serialize_to(take);
  EXPECT_EQ(here.try_merge(state.substr(1)).status(), petal::status::foreign);
  EXPECT_THROW(here.merge(state.data(), state.size() - 1), petal::error);
  here.merge(state);
  EXPECT_EQ(here.key_count(), 100u);
  EXPECT_TRUE(here.finish().equals(one.finish()));
  EXPECT_EQ(there.try_serialize_to([](petal::bytes) { return false; }).status(), petal::status::callback);
  EXPECT_THROW(there.serialize_to([](petal::bytes) { throw std::runtime_error("full"); }), std::runtime_error);

  petal::map_builder first(accurate), second(accurate);
  first.put(1, 10);
  second.put(2, 20);
  state.clear();
  second.serialize_to(take);
  EXPECT_FALSE(first.try_merge(state.substr(0, 50)));
  first.merge(state);
  const auto values = first.finish();
  EXPECT_EQ(values.find(1), 10u);
  EXPECT_EQ(values.find(2), 20u);
}

TEST(building, moves) {
  petal::builder a(accurate);
  a.add("apple");
  petal::builder b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_TRUE(b);
  EXPECT_EQ(a.try_add("pear").status(), petal::status::null);
  EXPECT_EQ(a.try_key_count().status(), petal::status::null);
  EXPECT_EQ(a.try_finish().status(), petal::status::null);
  EXPECT_EQ(a.try_save("nowhere").status(), petal::status::null);
  EXPECT_THROW(a.add(1), petal::error);
  petal::builder c(accurate);
  c.add(1);
  c = std::move(b);
  auto &same = c;
  c = std::move(same);
  EXPECT_EQ(c.key_count(), 1u);
  EXPECT_TRUE(c.finish().contains("apple"));
}

TEST(building, progress_cancels_and_throws) {
  auto stop = std::make_shared<bool>(true);
  std::uint64_t total = 0;
  // What the callback holds lives as long as the builder, wherever that moves.
  petal::builder first(accurate, petal::builder_options().progress([&total, stop](std::uint64_t, std::uint64_t all) {
    total = all;
    return !*stop;
  }));
  petal::builder b = std::move(first);
  EXPECT_EQ(stop.use_count(), 2);
  b.add_batch(numbers(0, 1000));
  EXPECT_EQ(b.try_finish().status(), petal::status::cancelled);
  EXPECT_EQ(thrown([&] { b.finish(); }).code(), std::errc::operation_canceled);
  EXPECT_GE(total, 1000u);
  EXPECT_EQ(b.key_count(), 1000u);
  *stop = false;
  EXPECT_EQ(b.finish().contains_batch(numbers(0, 1000)), 1000u);
  b = petal::builder();
  EXPECT_EQ(stop.use_count(), 1);

  bool fails = true;
  petal::builder throwing(accurate, petal::builder_options().progress([&](std::uint64_t, std::uint64_t) -> bool {
    if (fails) throw std::domain_error("enough");
    return true;
  }));
  throwing.add(1);
  EXPECT_THROW(throwing.finish(), std::domain_error);
  EXPECT_THROW(throwing.save("nowhere"), std::domain_error);
  EXPECT_EQ(throwing.try_finish().status(), petal::status::cancelled);
  fails = false;
  // What was dropped before does not come back.
  EXPECT_TRUE(throwing.finish().contains(1));
}

TEST(building, beside_code_without_exceptions) { EXPECT_TRUE(built_without_exceptions()); }

TEST_F(builders, into_a_file_with_a_limit) {
  std::filesystem::create_directory(path("temporary"));
  petal::builder b(accurate, petal::builder_options().memory_limit(1 << 20, path("temporary")));
  b.add_batch(numbers(0, 300000));
  b.save(path("made.petal"));
  const auto f = petal::filter::open(path("made.petal"));
  EXPECT_EQ(f.contains_batch(numbers(0, 300000)), 300000u);
  EXPECT_EQ(b.key_count(), 0u);

  EXPECT_EQ(petal::builder::try_make(accurate, petal::builder_options().memory_limit(1, path("temporary"))).status(),
            petal::status::out_of_range);
  b.add(1);
  EXPECT_EQ(b.try_save(path("no/such/folder")).status(), petal::status::not_found);
  EXPECT_EQ(b.key_count(), 1u);
}

TEST(kinds, described) {
  ASSERT_GT(petal::kind_count(), 0u);
  std::size_t sketches = 0;
  for (std::size_t i = 0; i < petal::kind_count(); i++) {
    const auto info = petal::kind_at(i);
    EXPECT_EQ(petal::kind_find(info.name).kind, info.kind);
    // Filters of these come from other systems' bytes.
    if ((info.flags & PETAL_IS_FOREIGN)) continue;
    EXPECT_EQ(info.handle == PETAL_HANDLE_SKETCH, info.kind >= 256);
    if (info.handle == PETAL_HANDLE_SKETCH) {
      sketches++;
      EXPECT_EQ(petal::sketch(petal::spec().kind(info.kind).capacity(100)).capabilities(), info.capabilities);
      EXPECT_EQ(petal::filter::try_make(petal::spec().kind(info.kind).capacity(100)).status(),
                petal::status::unsupported);
      continue;
    }
    // A filter that takes keys is made empty; of the others there are only builders.
    const bool inserts = (info.capabilities & PETAL_CAN_INSERT) != 0;
    const bool puts = (info.capabilities & PETAL_CAN_PUT) != 0;
    EXPECT_EQ(inserts || puts, info.overfill != PETAL_OVERFILL_IS_BUILT);
    const auto wanted = petal::spec().kind(info.kind).capacity(100);
    EXPECT_EQ(petal::filter::try_make(wanted).status(), inserts ? petal::status::ok : petal::status::unsupported);
    if (info.handle == PETAL_HANDLE_MAP) {
      petal::map_builder b(wanted);
      b.put(std::uint64_t{7}, 5);
      EXPECT_EQ(b.finish().find(std::uint64_t{7}), std::optional<std::uint64_t>(5));
    } else {
      petal::builder b(wanted, petal::builder_options().threads(2));
      // Some are integers below a bound.
      std::vector<std::uint64_t> keys = numbers(0, 100);
      if ((info.flags & PETAL_TAKES_INTEGERS)) std::iota(keys.begin(), keys.end(), 0u);
      b.add_batch(keys);
      EXPECT_EQ(b.finish().contains_batch(keys), 100u);
    }
    for (std::size_t p = 0; p < info.parameter_count; p++) {
      const auto parameter = petal::kind_parameter(info.kind, p);
      EXPECT_LE(parameter.minimum, parameter.maximum);
      EXPECT_EQ(petal::spec().kind(info.kind).get(parameter.name), parameter.default_value);
      for (std::size_t choice = 0; choice < parameter.choice_count; choice++) {
        const auto name = petal::kind_choice(info.kind, p, choice);
        EXPECT_EQ(petal::spec().kind(info.kind).set(parameter.name, name.data()).get(parameter.name),
            static_cast<double>(choice));
      }
    }
    EXPECT_EQ(petal::try_kind_parameter(info.kind, info.parameter_count).status(), petal::status::out_of_range);
  }
  EXPECT_GE(sketches, 1u);
  EXPECT_EQ(petal::try_kind_find("no_such_kind").status(), petal::status::unknown_value);
  EXPECT_EQ(petal::try_kind_at(petal::kind_count()).status(), petal::status::out_of_range);
  EXPECT_THROW(petal::kind_choice(0, SIZE_MAX, 0), petal::error);
}

TEST(plans, every_kind_is_asked) {
  const auto proposals = petal::plan(petal::plan_request().keys(1000000).false_positive_rate(0.01));
  // Nobody proposes a map, or what is there for another system's bytes.
  std::size_t filters = 0;
  for (std::size_t i = 0; i < petal::kind_count(); i++) {
    const auto info = petal::kind_at(i);
    filters += info.handle != PETAL_HANDLE_FILTER || (info.flags & PETAL_IS_FOREIGN) ? 0 : 1;
  }
  ASSERT_EQ(proposals.size(), filters);
  EXPECT_EQ(proposals[0].status, PETAL_OK);
  EXPECT_LE(proposals[0].false_positive_rate, 0.01);
  EXPECT_EQ(petal::kind_find(proposals[0].name).kind, proposals[0].kind);
  const petal::filter f(petal::spec().kind(proposals[0].kind).capacity(1000000).false_positive_rate(0.01));
  EXPECT_EQ(f.describe().bytes, proposals[0].bytes);

  const auto small = petal::plan(petal::plan_request().keys(1000).memory(2000).capabilities(PETAL_CAN_INSERT));
  EXPECT_LE(small[0].bytes, 2000u);
  EXPECT_EQ(petal::try_plan(petal::plan_request().keys(1)).error().status(),
            thrown([] { petal::plan(petal::plan_request().keys(1)); }).status());
}

TEST(versions, header_and_library) {
  EXPECT_EQ(petal::version_number(), static_cast<std::uint32_t>(PETAL_VERSION_NUMBER));
  EXPECT_EQ(petal::version(), PETAL_VERSION_STRING);
}

}  // namespace
