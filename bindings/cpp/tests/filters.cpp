// Specs, making, moving, combining, describing, estimating.
#include "common.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <type_traits>

namespace {

static_assert(!std::is_copy_constructible_v<petal::filter> && !std::is_copy_assignable_v<petal::filter>);
static_assert(std::is_nothrow_move_constructible_v<petal::filter> && std::is_nothrow_move_assignable_v<petal::filter>);
static_assert(std::is_nothrow_default_constructible_v<petal::filter> && std::is_nothrow_swappable_v<petal::filter>);
static_assert(sizeof(petal::filter) == sizeof(petal_filter *));

TEST(specs, setters_chain_and_read_back) {
  const auto spec = petal::spec()
                        .kind(PETAL_KIND_BLOOM)
                        .capacity(5000)
                        .false_positive_rate(0.001)
                        .hash_function(PETAL_HASH_XXH64)
                        .seed(7)
                        .set("derivation", "enhanced_double");
  EXPECT_TRUE(spec.check());
  EXPECT_EQ(spec.kind(), petal_kind{PETAL_KIND_BLOOM});
  EXPECT_EQ(spec.capacity(), 5000u);
  EXPECT_EQ(spec.false_positive_rate(), 0.001);
  EXPECT_EQ(spec.hash_function(), petal_hash_function{PETAL_HASH_XXH64});
  EXPECT_EQ(spec.seed(), 7u);
  EXPECT_EQ(spec.get("derivation"), petal::spec(spec.get()).get("derivation"));
  EXPECT_NE(spec.get("derivation"), petal::spec().kind(PETAL_KIND_BLOOM).get("derivation"));

  const petal::filter f(spec);
  const auto is = f.describe();
  EXPECT_EQ(is.kind, spec.kind());
  EXPECT_EQ(is.capacity, 5000u);
  EXPECT_EQ(is.seed, 7u);
  EXPECT_EQ(is.bytes, spec.image_size());
  EXPECT_LE(spec.expected_false_positive_rate(5000), 0.001);
  EXPECT_EQ(f.expected_false_positive_rate(5000), spec.expected_false_positive_rate(5000));
  EXPECT_EQ(f.expected_omissions(5000), spec.expected_omissions(5000));
  EXPECT_LT(f.expected_omissions(5000), 5000 * f.expected_false_positive_rate(5000));

  EXPECT_EQ(petal::spec().kernel(PETAL_KERNEL_PORTABLE).kernel(), petal_kernel{PETAL_KERNEL_PORTABLE});
  const auto exact = petal::spec().kind(PETAL_KIND_BLOOM).bits(4096).hashes(3);
  EXPECT_EQ(exact.bits(), 4096u);
  EXPECT_EQ(exact.hashes(), 3u);
  EXPECT_EQ(petal::filter(exact).describe().hashes, 3u);
}

TEST(specs, kinds_by_name) {
  for (std::size_t i = 0; i < petal::kind_count(); i++) {
    const auto info = petal::kind_at(i);
    EXPECT_EQ(petal::spec().kind(info.name).kind(), info.kind);
    EXPECT_EQ(petal::spec().kind(std::string(info.name)).kind(), info.kind);
  }
}

TEST(specs, the_first_mistake_is_kept) {
  const auto spec = petal::spec().capacity(10).set("no_such_parameter", 1).kind("no_such_kind").capacity(20);
  EXPECT_EQ(spec.capacity(), 20u);
  EXPECT_EQ(spec.check().status(), petal::status::unknown_value);
  EXPECT_TRUE(has(spec.check().error().message(), "no_such_parameter"));
  EXPECT_EQ(petal::filter::try_make(spec).status(), petal::status::unknown_value);
  EXPECT_EQ(petal::builder::try_make(spec).status(), petal::status::unknown_value);
  EXPECT_EQ(spec.try_image_size().status(), petal::status::unknown_value);
  EXPECT_TRUE(has(thrown([&] { petal::filter f(spec); }).what(), "no_such_parameter"));

  const auto kind = petal::spec().kind("no_such_kind").kind(PETAL_KIND_BLOOM);
  EXPECT_TRUE(has(thrown([&] { petal::filter f(kind); }).what(), "no_such_kind"));
  EXPECT_EQ(petal::spec().set("derivation", "no_such_choice").check().status(), petal::status::unknown_value);
  EXPECT_EQ(petal::spec().try_get("no_such_parameter").status(), petal::status::unknown_value);
}

TEST(making, capacity_and_rate) {
  EXPECT_EQ(petal::filter(1000, 0.01).describe().capacity, 1000u);
  EXPECT_TRUE(petal::filter(0, 0.01).insert("apple"));
  EXPECT_EQ(petal::filter::try_make(1000, 0).status(), petal::status::false_positive_rate);
  EXPECT_EQ(petal::filter::try_make(1000, 1).status(), petal::status::false_positive_rate);
  EXPECT_TRUE(has(thrown([] { petal::filter f(1000, 2); }).what(), "2"));
  EXPECT_THROW(petal::filter(UINT64_MAX, 0.001), petal::error);
}

TEST(moving, the_filter_goes_along) {
  petal::filter a(100, 0.01);
  a.insert("apple");
  petal_filter *const handle = a.get();
  petal::filter b = std::move(a);
  EXPECT_EQ(b.get(), handle);
  EXPECT_TRUE(b);
  EXPECT_TRUE(b.contains("apple"));
  a = std::move(b);
  EXPECT_EQ(a.get(), handle);
  // What was there before is freed: the leak checker watches.
  petal::filter c(100, 0.01);
  c = std::move(a);
  EXPECT_EQ(c.get(), handle);
  auto &same = c;
  c = std::move(same);
  EXPECT_TRUE(c.contains("apple"));

  petal::filter d;
  swap(c, d);
  EXPECT_FALSE(c);
  EXPECT_EQ(d.get(), handle);
  std::vector<petal::filter> grown;
  for (int i = 0; i < 20; i++) grown.push_back(petal::filter(10, 0.01));
  for (auto &f : grown) EXPECT_TRUE(f.insert(1));

  petal::filter adopted = petal::filter::adopt(d.release());
  EXPECT_FALSE(d);
  EXPECT_TRUE(adopted.contains("apple"));
}

TEST(moving, nothing_is_held_by_one_moved_from) {
  petal::filter held(100, 0.01), f = std::move(held);
  for (petal::filter *empty : {&held}) {
    EXPECT_FALSE(*empty);
    EXPECT_EQ(empty->get(), nullptr);
    EXPECT_TRUE(empty->contains("apple"));
    EXPECT_TRUE(empty->contains(1));
    std::array<bool, 2> found{};
    EXPECT_EQ(empty->contains_batch(std::array<std::uint64_t, 2>{1, 2}, found), 2u);
    EXPECT_TRUE(found[0] && found[1]);
    EXPECT_EQ(empty->try_contains(1).status(), petal::status::null);
    EXPECT_EQ(empty->try_insert(1).status(), petal::status::null);
    EXPECT_EQ(empty->try_insert_batch(numbers(0, 2)).status(), petal::status::null);
    EXPECT_EQ(empty->try_merge(f).status(), petal::status::null);
    EXPECT_EQ(f.try_merge(*empty).status(), petal::status::null);
    EXPECT_EQ(empty->try_copy().status(), petal::status::null);
    EXPECT_EQ(empty->try_describe().status(), petal::status::null);
    EXPECT_EQ(empty->try_statistics().status(), petal::status::null);
    EXPECT_EQ(empty->try_estimate().status(), petal::status::null);
    EXPECT_EQ(empty->try_compatible_spec().status(), petal::status::null);
    EXPECT_EQ(empty->try_compatibility_id().status(), petal::status::null);
    EXPECT_EQ(empty->try_hash(1).status(), petal::status::null);
    EXPECT_EQ(empty->try_serialize().status(), petal::status::null);
    EXPECT_EQ(empty->try_serialize_to([](petal::bytes) {}).status(), petal::status::null);
    EXPECT_EQ(empty->try_save("nowhere").status(), petal::status::null);
    EXPECT_EQ(empty->try_sync().status(), petal::status::null);
    EXPECT_EQ(empty->try_verify().status(), petal::status::null);
    EXPECT_EQ(empty->try_clear().status(), petal::status::null);
    EXPECT_EQ(empty->capabilities(), 0u);
    EXPECT_EQ(thrown([&] { empty->insert(1); }).status(), petal::status::null);
  }
  held = petal::filter(10, 0.01);
  EXPECT_TRUE(held.insert(1));
}

TEST(sharing, threads_insert_through_a_const_filter) {
  constexpr std::uint64_t threads = 4, each = 5000;
  petal::filter shared(threads * each, 0.001), alone(threads * each, 0.001);
  ASSERT_TRUE(shared.can(PETAL_CAN_INSERT_SHARED));
  const petal::filter &f = shared;
  std::vector<std::thread> running;
  std::atomic<std::uint64_t> lost{0};
  for (std::uint64_t t = 0; t < threads; t++) {
    running.emplace_back([&, t] {
      for (std::uint64_t i = t * each; i < (t + 1) * each - 100; i++) {
        f.insert_shared(number(i));
        lost += !f.contains(number(i));
      }
      f.insert_shared_batch(numbers((t + 1) * each - 100, (t + 1) * each));
    });
  }
  for (auto &thread : running) thread.join();
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(f.describe().insertions, 0u);
  shared.add_insertions(threads * each);
  EXPECT_EQ(f.describe().insertions, threads * each);
  alone.insert_batch(numbers(0, threads * each));
  EXPECT_TRUE(f.equals(alone));

  EXPECT_TRUE(petal::filter(10, 1e-9).insert_shared("apple"));
  const petal::filter window(petal::spec().kind(PETAL_KIND_ROTATING).capacity(10));
  ASSERT_TRUE(window.can(PETAL_CAN_AGE_SHARED));
  EXPECT_TRUE(window.insert_shared("apple"));
  window.advance_shared(3);
  EXPECT_TRUE(window.contains("apple"));
  EXPECT_TRUE(window.try_advance_shared());
  EXPECT_FALSE(window.contains("apple"));
  EXPECT_TRUE(*petal::filter(10, 1e-9).try_insert_shared("apple", 5));
  std::array<bool, 2> is_new{};
  EXPECT_EQ(petal::filter(10, 1e-9).insert_shared_batch(std::array<std::uint64_t, 2>{3, 3}, is_new), 1u);
  EXPECT_TRUE(is_new[0] && !is_new[1]);
  EXPECT_EQ(petal::filter().try_insert_shared(1).status(), petal::status::null);
  EXPECT_EQ(petal::filter().try_insert_shared_batch(numbers(0, 1)).status(), petal::status::null);
  EXPECT_EQ(petal::filter().try_add_insertions(1).status(), petal::status::null);
}

TEST(combining, union_intersection_fold_clear) {
  const auto spec = petal::spec().capacity(4000).false_positive_rate(1e-6).set("foldable", 1);
  petal::filter a(spec), b(spec), whole(spec);
  a.insert_batch(numbers(0, 1000));
  b.insert_batch(numbers(500, 1500));
  whole.insert_batch(numbers(0, 1500));
  EXPECT_EQ(a.compatibility_id(), b.compatibility_id());
  EXPECT_FALSE(a.equals(b));

  const auto overlap = a.estimate_overlap(b);
  EXPECT_GE(overlap.intersection_count.high, 500);
  EXPECT_LE(overlap.intersection_count.low, 500);

  auto both = a.copy();
  both.merge(b);
  EXPECT_TRUE(both.equals(whole));
  EXPECT_EQ(both.describe().insertions, 2000u);
  const auto estimate = both.estimate();
  EXPECT_NEAR(estimate.value, 1500, 4.5 * estimate.standard_error + 1);

  auto common = a.copy();
  common.intersect(b);
  EXPECT_EQ(common.contains_batch(numbers(500, 1000)), 500u);
  EXPECT_LT(common.contains_batch(numbers(0, 500)), 5u);

  const auto before = both.describe().bits;
  both.fold(2);
  EXPECT_EQ(both.describe().bits * 2, before);
  EXPECT_EQ(both.contains_batch(numbers(0, 1500)), 1500u);
  both.clear();
  EXPECT_EQ(both.describe().insertions, 0u);
  EXPECT_FALSE(both.contains(number(3)));

  // The copy is its own.
  EXPECT_EQ(a.describe().insertions, 1000u);

  const petal::filter other(petal::spec().capacity(77));
  EXPECT_EQ(a.try_merge(other).status(), petal::status::incompatible);
  EXPECT_THROW(a.intersect(other), petal::error);
  EXPECT_FALSE(a.equals(other));
  EXPECT_EQ(a.try_estimate_overlap(other).status(), petal::status::incompatible);
  EXPECT_EQ(a.try_fold(0).status(), petal::status::out_of_range);
}

TEST(rejuvenating, keys_are_found_by_fewer_others) {
  petal::filter f(petal::spec().kind(PETAL_KIND_ALEPH).capacity(100));
  ASSERT_TRUE(f.can(PETAL_CAN_REJUVENATE));
  const auto keys = numbers(0, 50000);
  f.insert("apple");
  f.insert("pear");
  f.insert_batch(keys);
  EXPECT_TRUE(f.rejuvenate("apple"));
  EXPECT_FALSE(f.rejuvenate("apple", 5));
  EXPECT_TRUE(f.try_rejuvenate("pear", 4).value());
  EXPECT_FALSE(f.try_rejuvenate("pear").value());
  EXPECT_TRUE(f.rejuvenate(keys[0]));
  EXPECT_FALSE(f.rejuvenate(f.hash(keys[0])));

  const double before = f.statistics().false_positive_rate;
  petal::filter copy = f.copy();
  std::vector<std::uint8_t> rejuvenated(keys.size());
  std::size_t done = 0;
  const auto all = f.rejuvenate_batch(keys, rejuvenated, &done);
  EXPECT_GT(all, keys.size() / 4);
  EXPECT_EQ(done, keys.size());
  EXPECT_EQ(rejuvenated[0], 0);
  EXPECT_EQ(all, static_cast<std::uint64_t>(std::count(rejuvenated.begin(), rejuvenated.end(), 1)));
  copy.rejuvenate_batch(keys);
  EXPECT_TRUE(copy.equals(f));
  EXPECT_LT(f.statistics().false_positive_rate, 0.9 * before);
  EXPECT_EQ(f.contains_batch(keys), keys.size());
  EXPECT_EQ(f.describe().insertions, keys.size() + 2);
  EXPECT_TRUE(f.remove("apple") && f.contains("pear"));

  petal::filter other(petal::spec().capacity(100));
  EXPECT_EQ(other.try_rejuvenate("apple").status(), petal::status::unsupported);
  EXPECT_EQ(other.try_rejuvenate_batch(keys).status(), petal::status::unsupported);
  EXPECT_EQ(other.try_rejuvenate_batch(keys, rejuvenated, &done).status(), petal::status::unsupported);
  EXPECT_EQ(done, 0u);
  EXPECT_THROW(other.rejuvenate("apple"), petal::error);
}

TEST(removing, counts_go_up_and_down) {
  petal::filter f(petal::spec().kind(PETAL_KIND_COUNTING).capacity(1000));
  EXPECT_TRUE(f.can(PETAL_CAN_REMOVE | PETAL_CAN_COUNT));
  f.insert("apple");
  f.insert("apple");
  EXPECT_EQ(f.count("apple"), 2u);
  EXPECT_EQ(f.try_count("apple", 5).value(), 2u);
  EXPECT_TRUE(f.remove("apple"));
  EXPECT_TRUE(f.try_remove("apple", 5).value());
  EXPECT_FALSE(f.remove("apple"));
  EXPECT_EQ(f.describe().insertions, 0u);

  const auto keys = numbers(0, 500);
  f.insert_batch(keys);
  std::vector<std::uint64_t> counts(keys.size(), 7);
  EXPECT_EQ(f.count_batch(keys, counts.data()), keys.size());
  for (const auto count : counts) EXPECT_GE(count, 1u);
  std::vector<std::uint8_t> removed(keys.size());
  EXPECT_EQ(f.remove_batch(keys, removed), keys.size());
  EXPECT_EQ(f.count_batch(keys, counts.data()), 0u);
  EXPECT_EQ(f.statistics().fill, 0);
  f.remove_batch(keys);
  EXPECT_EQ(f.statistics().saturated, 0u);
  for (int i = 0; i < 20; i++) f.insert(std::uint64_t{1});
  EXPECT_EQ(f.count(std::uint64_t{1}), 15u);
  EXPECT_GT(f.statistics().saturated, 0u);

  petal::builder builder(petal::spec().kind(PETAL_KIND_COUNTING));
  builder.add_times("apple", 3);
  EXPECT_TRUE(builder.try_add_times(std::uint64_t{7}, 2));
  std::size_t done = 0;
  const std::vector<std::uint64_t> twice(keys.size(), 2);
  builder.add_times_batch(keys, twice.data(), &done);
  EXPECT_TRUE(builder.try_add_times_batch(keys, twice.data()));
  EXPECT_EQ(done, keys.size());
  EXPECT_EQ(builder.key_count(), 5 + 4 * keys.size());
  EXPECT_GE(builder.finish().count("apple"), 3u);
  EXPECT_EQ(petal::builder(petal::spec()).try_add_times("apple", 2).status(), petal::status::unsupported);

  petal::builder exact(petal::spec().kind(PETAL_KIND_EXACT_SET));
  exact.add_batch(keys);
  exact.exclude("excluded");
  EXPECT_TRUE(exact.try_exclude(std::uint64_t{7}));
  EXPECT_TRUE(exact.try_exclude(petal::hash64{8}));
  exact.exclude_batch(twice, &done);
  EXPECT_EQ(done, twice.size());
  EXPECT_TRUE(exact.try_exclude_batch(twice, &done));
  EXPECT_EQ(exact.key_count(), keys.size());
  const auto set = exact.finish();
  EXPECT_EQ(set.contains_batch(keys), keys.size());
  EXPECT_FALSE(set.contains("excluded") || set.contains(std::uint64_t{7}) || set.contains(petal::hash64{8}));
  exact.update(set);
  exact.add("pear");
  exact.exclude_batch(keys);
  const auto newer = exact.finish();
  EXPECT_TRUE(newer.contains("pear"));
  EXPECT_EQ(newer.contains_batch(keys), 0u);
  EXPECT_EQ(exact.try_update(petal::filter(1000, 0.01)).status(), petal::status::incompatible);
  exact.add("apple");
  exact.exclude("apple");
  EXPECT_EQ(exact.try_finish().status(), petal::status::contradiction);
  EXPECT_EQ(petal::builder(petal::spec()).try_exclude("apple").status(), petal::status::unsupported);

  petal::builder stacked(petal::spec().kind(PETAL_KIND_STACKED).false_positive_rate(0.01));
  const double weights[] = {5, 0.25};
  stacked.add_batch(keys);
  stacked.add_frequent("non_member", 3);
  EXPECT_TRUE(stacked.try_add_frequent(std::uint64_t{7}));
  EXPECT_TRUE(stacked.try_add_frequent(petal::hash64{8}, 0.5));
  stacked.add_frequent_batch(std::vector<std::uint64_t>{100, 101}, weights, &done);
  EXPECT_EQ(done, 2U);
  stacked.add_frequent_batch(std::vector<std::uint64_t>{102});
  EXPECT_EQ(stacked.try_add_frequent("non_member", -1).status(), petal::status::out_of_range);
  const double wrong[] = {1, 0};
  EXPECT_EQ(stacked.try_add_frequent_batch(std::vector<std::uint64_t>{100, 101}, wrong, &done).status(),
            petal::status::out_of_range);
  EXPECT_EQ(done, 1U);
  EXPECT_EQ(stacked.key_count(), keys.size());
  EXPECT_EQ(stacked.finish().contains_batch(keys), keys.size());
  EXPECT_EQ(petal::builder(petal::spec()).try_add_frequent("apple").status(), petal::status::unsupported);

  petal::filter other(1000, 0.01);
  EXPECT_EQ(other.try_remove("apple").status(), petal::status::unsupported);
  EXPECT_EQ(other.try_count("apple").status(), petal::status::unsupported);
  EXPECT_EQ(other.try_count_batch(keys, counts.data()).status(), petal::status::unsupported);
  EXPECT_EQ(counts[499], UINT64_MAX);
}

TEST(removing, keys_come_with_their_counts) {
  petal::filter f(petal::spec().kind(PETAL_KIND_QUOTIENT).capacity(3000));
  EXPECT_TRUE(f.insert_times("apple", 100000));
  EXPECT_FALSE(f.try_insert_times("apple", 2).value());
  EXPECT_EQ(f.count("apple"), 100002u);
  EXPECT_EQ(f.stored_hashes().begin().count(), 100002u);
  EXPECT_EQ(f.try_remove_times("apple", 3).value(), 3u);
  EXPECT_EQ(f.remove_times("apple", UINT64_MAX), 99999u);
  const auto keys = numbers(0, 500);
  std::vector<std::uint64_t> times(keys.size()), counts(keys.size());
  for (std::size_t i = 0; i < times.size(); i++) times[i] = 1 + i % 4;
  std::size_t done = 0;
  EXPECT_LE(f.insert_times_batch(keys, times.data(), nullptr, &done), keys.size());
  EXPECT_EQ(done, keys.size());
  f.count_batch(keys, counts.data());
  for (std::size_t i = 0; i < times.size(); i++) EXPECT_GE(counts[i], times[i]);
  ASSERT_TRUE(f.can(PETAL_CAN_RESIZE));
  f.resize(20000);
  EXPECT_GE(f.describe().capacity, 20000u);
  EXPECT_EQ(f.try_resize(UINT64_MAX).status(), petal::status::out_of_range);
  std::vector<std::uint8_t> removed(keys.size());
  EXPECT_EQ(f.remove_times_batch(keys, times.data(), removed.data()), keys.size());
  EXPECT_EQ(f.statistics().fill, 0);
  EXPECT_EQ(f.try_remove_times_batch(keys, times.data()).value(), 0u);
  EXPECT_EQ(f.try_insert_times_batch(keys, times.data()).value() > 490, true);
  petal::filter other(1000, 0.01);
  EXPECT_EQ(other.try_insert_times("apple", 2).status(), petal::status::unsupported);
  EXPECT_EQ(other.try_remove_times("apple", 2).status(), petal::status::unsupported);
}

TEST(describing, what_it_is_and_how_full) {
  petal::filter f(petal::spec().kind(PETAL_KIND_BLOOM).capacity(1000).seed(3));
  EXPECT_EQ(f.statistics().fill, 0);
  f.insert_batch(numbers(0, 1000));
  const auto full = f.statistics();
  EXPECT_NEAR(full.fill, 0.5, 0.05);
  EXPECT_NEAR(full.false_positive_rate, 0.01, 0.003);
  EXPECT_EQ(f.describe().state, static_cast<std::uint32_t>(PETAL_STATE_WRITABLE | PETAL_STATE_CAN_HASH));
  EXPECT_TRUE(f.can(PETAL_CAN_INSERT | PETAL_CAN_MERGE));
  EXPECT_FALSE(f.can(PETAL_CAN_INSERT | PETAL_CAN_REMOVE));

  petal::filter like(f.compatible_spec());
  EXPECT_EQ(like.compatibility_id(), f.compatibility_id());
  like.merge(f);
  EXPECT_TRUE(like.equals(f));
}

TEST(describing, keyed) {
  petal::secret_key key{};
  key[0] = 1;
  const auto spec = petal::spec().capacity(100).hash_function(PETAL_HASH_SIPHASH13).secret(key);
  petal::filter f(spec);
  f.insert("apple");
  const auto image = f.serialize();
  const auto without = petal::filter::load(image);
  EXPECT_TRUE(without.contains("pear"));
  EXPECT_EQ(without.try_contains("pear").status(), petal::status::secret_missing);
  const auto with = petal::filter::load(image, petal::open_options().secret(key));
  EXPECT_TRUE(with.contains("apple"));
  EXPECT_FALSE(with.contains("pear"));
  key[0] = 2;
  EXPECT_EQ(petal::filter::try_load(image, petal::open_options().secret(key)).status(), petal::status::secret_mismatch);
}

}  // namespace

TEST(ageing, oldest_keys_are_forgotten) {
  petal::filter f(petal::spec().kind(PETAL_KIND_ROTATING).capacity(1000).set("clock", 1));
  ASSERT_TRUE(f.can(PETAL_CAN_AGE));
  f.insert("apple");
  f.advance(3);
  EXPECT_TRUE(f.contains("apple"));
  f.insert("pear");
  f.advance();
  EXPECT_FALSE(f.contains("apple"));
  EXPECT_TRUE(f.contains("pear"));
  EXPECT_TRUE(f.try_advance(UINT64_MAX));
  EXPECT_EQ(f.statistics().fill, 0);
  petal::filter other(1000, 0.01);
  EXPECT_EQ(other.try_advance().status(), petal::status::unsupported);
}
