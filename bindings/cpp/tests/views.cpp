// petal_view.hpp does what petal.hpp does, to the same bits, whatever it is compiled for.
#include "common.hpp"

#include <petal_view.hpp>

#include <stdexcept>
#include <string>

namespace stall {
struct item {
  std::uint64_t id;
};
inline std::uint64_t petal_key(const item &i) noexcept { return i.id; }
struct hashed {
  std::uint64_t id;
};
inline petal::hash64 petal_key(const hashed &h) noexcept { return {number(h.id)}; }
// A temporary, and it may throw.
struct label {
  std::string text;
};
inline std::string petal_key(const label &l) {
  if (l.text.empty()) throw std::length_error("no text");
  return "a prefix that does not fit into the object itself: " + l.text;
}
}  // namespace stall

namespace {

constexpr std::uint64_t keys = 3000;

static_assert(std::is_trivially_copyable_v<petal::view> && std::is_trivially_copyable_v<petal::writable_view>);
static_assert(noexcept(std::declval<petal::view &>().contains(1)) && noexcept(petal::view()));
static_assert(noexcept(std::declval<petal::view &>().contains(stall::item{1})));
static_assert(!noexcept(std::declval<petal::view &>().contains(stall::label{})));
static_assert(!std::is_constructible_v<petal::writable_view, const petal::filter &>);
static_assert(!std::is_constructible_v<petal::view, petal::filter> &&
              !std::is_constructible_v<petal::writable_view, petal::filter>);
#ifdef PETAL_VIEW_EXPECTED
static_assert(std::is_same_v<petal::view, petal::PETAL_VIEW_EXPECTED::view>, "compiled for something else");
#endif

petal::spec spec_of(petal_kind kind) { return petal::spec().kind(kind).capacity(keys).false_positive_rate(0.02); }

class views : public testing::TestWithParam<petal_kind> {};

TEST_P(views, look_up_as_the_filter_does) {
  petal::filter f(spec_of(GetParam()).seed(9));
  for (std::uint64_t i = 0; i < keys; i++) f.insert(number(i));
  f.insert("apple");
  const petal::view v(f);
  ASSERT_TRUE(v);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < 5 * keys; i++) {
    const std::uint64_t key = number(i);
    const petal::hash64 hash = f.hash(key);
    v.prefetch(key);
    v.prefetch(hash);
    v.prefetch(stall::item{key});
    ASSERT_EQ(v.contains(key), f.contains(key)) << i;
    ASSERT_EQ(v.contains(hash), f.contains(hash)) << i;
    ASSERT_EQ(v.contains(stall::item{key}), f.contains(key)) << i;
    found += v.contains(key);
  }
  EXPECT_GE(found, keys);
  EXPECT_LT(found, 2 * keys);
  EXPECT_TRUE(v.contains("apple") && v.contains("apple", 5));
  EXPECT_EQ(v.contains("plum"), f.contains("plum"));
  v.prefetch("plum");
  v.prefetch("plum", 4);
  EXPECT_EQ(v.contains(-1), f.contains(std::uint64_t(-1)));

  // The handle moves, and what it points to stays.
  const petal::filter moved = std::move(f);
  EXPECT_TRUE(v.contains(number(1)));
}

TEST_P(views, insert_as_the_filter_does) {
  petal::filter a(spec_of(GetParam())), b(spec_of(GetParam()));
  petal::writable_view v(a);
  for (std::uint64_t i = 0; i < keys; i++) {
    const std::uint64_t key = number(i / 2);
    bool is_new = false;
    if (i % 3 == 0) {
      is_new = v.insert(key);
    } else if (i % 3 == 1) {
      is_new = v.insert(a.hash(key));
    } else {
      is_new = *v.try_insert(stall::item{key});
    }
    ASSERT_EQ(is_new, b.insert(key)) << i;
  }
  ASSERT_EQ(v.insert("apple"), b.insert("apple"));
  ASSERT_EQ(*v.try_insert("pear", 4), b.insert("pear"));
  ASSERT_EQ(v.insert(stall::hashed{1}), b.insert(stall::hashed{1}));
  EXPECT_TRUE(v.contains("apple") && a.contains("pear") && a.contains(stall::hashed{1}));
  EXPECT_EQ(a.describe().insertions, 0u);
  a.add_insertions(keys + 3);
  EXPECT_EQ(a.serialize(), b.serialize());
}

TEST_P(views, take_bytes_and_types_as_the_filter_does) {
  petal::filter f(spec_of(GetParam()));
  petal::writable_view v(f);
  for (std::uint64_t i = 0; i < keys; i++) {
    const stall::label label{std::to_string(i)};
    const std::vector<std::byte> span(static_cast<std::size_t>(i % 300), std::byte{7});
    if (i % 2 == 0) {
      v.insert(label);
      v.insert(span);
    } else {
      f.insert(label);
    }
    ASSERT_TRUE(f.contains(label) && v.contains(label)) << i;
    ASSERT_EQ(f.contains(span), v.contains(span)) << i;
    const stall::label other{"other " + label.text};
    v.prefetch(other);
    ASSERT_EQ(f.contains(other), v.contains(other)) << i;
  }
  EXPECT_THROW(static_cast<void>(v.contains(stall::label{})), std::length_error);
  EXPECT_THROW(v.insert(stall::label{}), std::length_error);
}

TEST_P(views, take_keys_that_only_the_library_hashes) {
  std::array<std::uint8_t, 16> secret{};
  secret[3] = 7;
  petal::filter f(spec_of(GetParam()).hash_function(PETAL_HASH_SIPHASH13).secret(secret));
  petal::writable_view v(f);
  EXPECT_TRUE(v.insert(1) && v.insert("apple"));
  EXPECT_TRUE(v.contains(1) && v.contains("apple") && f.contains(1) && f.contains("apple"));
  v.prefetch(2);
  EXPECT_FALSE(v.contains(2));

  petal::filter external(spec_of(GetParam()).hash_function(PETAL_HASH_EXTERNAL));
  petal::writable_view hashes(external);
  EXPECT_TRUE(hashes.insert(stall::hashed{1}) && hashes.contains(stall::hashed{1}));
  EXPECT_EQ(hashes.try_insert(1).status(), petal::status::external_hash);
  EXPECT_EQ(hashes.try_insert("apple").status(), petal::status::external_hash);
  hashes.prefetch(2);
  EXPECT_TRUE(hashes.contains(2) && hashes.contains("apple")) << "what cannot be hashed may be there";
}

INSTANTIATE_TEST_SUITE_P(kinds, views, testing::Values(PETAL_KIND_BLOCKED, PETAL_KIND_SPLIT_BLOCK, PETAL_KIND_BLOOM));

TEST(view, of_nothing_says_true) {
  petal::view v;
  EXPECT_FALSE(v);
  EXPECT_TRUE(v.contains(1) && v.contains("apple") && v.contains(petal::hash64{1}));
  v.prefetch(1);
  v.prefetch("apple");
  v.prefetch(petal::hash64{1});
  petal::writable_view w;
  EXPECT_EQ(w.try_insert(petal::hash64{1}).status(), petal::status::unsupported_by_handle);
  EXPECT_EQ(w.try_insert(1).status(), petal::status::null);
  EXPECT_EQ(w.try_insert("apple").status(), petal::status::null);
  EXPECT_EQ(petal::view::try_make(petal::filter()).status(), petal::status::null);
}

TEST(view, is_refused_with_a_reason) {
  petal::filter other(petal::spec().kind(PETAL_KIND_QUOTIENT).capacity(100));
  const petal::error error = thrown([&] { petal::view{other}; });
  EXPECT_EQ(error.status(), petal::status::unsupported);
  EXPECT_TRUE(has(error.what(), "quotient")) << error.what();
  petal::filter read_only(petal::spec().kind(PETAL_KIND_CUCKOO).capacity(100));
  EXPECT_TRUE(petal::view(read_only));
  const petal::error no_insertion = thrown([&] { petal::writable_view{read_only}; });
  EXPECT_EQ(no_insertion.status(), petal::status::unsupported);
  EXPECT_TRUE(has(no_insertion.what(), "lookups only")) << no_insertion.what();

  petal::filter f(spec_of(PETAL_KIND_BLOCKED));
  const std::vector<std::byte> image = f.serialize();
  alignas(64) static unsigned char memory[1 << 16];
  ASSERT_LE(image.size(), sizeof memory);
  std::memcpy(memory, image.data(), image.size());
  auto reader = petal::filter::open_in_buffer(memory, image.size());
  EXPECT_TRUE(petal::view(reader));
  EXPECT_EQ(petal::writable_view::try_make(reader).status(), petal::status::unsupported_by_handle);
}

TEST(view, looks_up_in_kinds_that_it_does_not_change) {
  const petal_kind kinds[] = {PETAL_KIND_FUSE, PETAL_KIND_RIBBON, PETAL_KIND_CUCKOO};
  for (const petal_kind kind : kinds) {
    petal::builder builder(spec_of(kind).seed(5));
    for (std::uint64_t i = 0; i < keys; i++) builder.add(number(i));
    const petal::filter f = builder.finish();
    const petal::view v(f);
    for (std::uint64_t i = 0; i < 5 * keys; i++) {
      const std::uint64_t key = number(i);
      v.prefetch(key);
      ASSERT_EQ(v.contains(key), f.contains(key)) << kind << ", " << i;
      ASSERT_EQ(v.contains(f.hash(key)), f.contains(key)) << kind << ", " << i;
      ASSERT_TRUE(i >= keys || v.contains(key)) << kind << ", " << i;
    }
  }
}

TEST(view, takes_keys_with_bits_in_two_blocks) {
  const petal::spec spec = spec_of(PETAL_KIND_BLOCKED).set("blocks", 2);
  petal::filter a(spec), b(spec);
  petal::writable_view v(a);
  EXPECT_EQ(v.get().layout, static_cast<petal_view_layout>(PETAL_VIEW_LAYOUT_TWO_BLOCKS));
  for (std::uint64_t i = 0; i < keys; i++) ASSERT_EQ(v.insert(number(i)), b.insert(number(i))) << i;
  for (std::uint64_t i = 0; i < 5 * keys; i++) ASSERT_EQ(v.contains(number(i)), b.contains(number(i))) << i;
  a.add_insertions(keys);
  EXPECT_EQ(a.serialize(), b.serialize());
}

TEST(map_view, finds_what_the_map_finds) {
  const char *const solvers[] = {"ribbon", "fuse"};
  for (const char *const solver : solvers) {
    const petal::spec spec = petal::spec().kind(PETAL_KIND_BLOOMIER).set("check_bits", 4).set("solver", solver);
    petal::map_builder builder(spec);
    for (std::uint64_t i = 0; i < keys; i++) builder.put(number(i), i);
    builder.put("apple", 7);
    const petal::map m = builder.finish();
    const petal::map_view v(m);
    ASSERT_TRUE(v);
    for (std::uint64_t i = 0; i < 5 * keys; i++) ASSERT_EQ(v.find(number(i)), m.find(number(i))) << solver << i;
    EXPECT_EQ(v.find("apple"), 7u);
    EXPECT_EQ(v.try_find(petal::hash64{1}).status(), petal::status::unsupported);

    petal::map_builder of_hashes(petal::spec(spec).hash_function(PETAL_HASH_EXTERNAL));
    for (std::uint64_t i = 0; i < keys; i++) of_hashes.put(petal::hash64{number(i)}, i);
    const petal::map hashes = of_hashes.finish();
    const petal::map_view w(hashes);
    for (std::uint64_t i = 0; i < keys; i++) ASSERT_EQ(w.find(petal::hash64{number(i)}), i) << solver << i;
    EXPECT_EQ(w.try_find(1).status(), petal::status::external_hash);
  }
  EXPECT_FALSE(petal::map_view());
  EXPECT_EQ(petal::map_view().try_find(1).status(), petal::status::null);
  const petal::map other(petal::spec().kind(PETAL_KIND_APPROXIMATOR).capacity(10));
  EXPECT_EQ(petal::map_view::try_make(other).status(), petal::status::unsupported);
}

using view_files = folder;

TEST_F(view_files, insert_only_where_the_handle_may_write_alone) {
  const auto path = this->path("seen.petal");
  petal::filter(spec_of(PETAL_KIND_BLOCKED)).save(path);
  for (auto mode : {petal::open_mode::read, petal::open_mode::share}) {
    auto f = petal::filter::open(path, mode);
    EXPECT_TRUE(petal::view(f));
    const petal::error error = thrown([&] { petal::writable_view{f}; });
    EXPECT_EQ(error.status(), petal::status::unsupported_by_handle);
    EXPECT_NE(error.what()[0], '\0');
  }
  {
    auto f = petal::filter::open(path, petal::open_mode::write);
    petal::writable_view before(f);
    EXPECT_TRUE(before.insert(1));
    f.sync();
    EXPECT_TRUE(before.contains(1)) << "lookups go on";
    petal::writable_view after(f);
    EXPECT_TRUE(after.insert(2));
    f.add_insertions(2);
    f.sync();
  }
  const auto f = petal::filter::open(path);
  f.verify();
  EXPECT_TRUE(f.contains(1) && f.contains(2));
}

}  // namespace
