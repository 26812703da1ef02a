// Every operation in its noexcept form: compiled with -fno-exceptions and -fno-rtti, and by every compiler there is.
#include <petal.hpp>
#include <petal_view.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace shop {
struct item {
  std::uint64_t id;
};
inline std::uint64_t petal_key(const item &i) noexcept { return i.id; }
}  // namespace shop

namespace {

int failures = 0;

void check(bool holds, const char *what, int line) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, what);
  failures++;
}
#define CHECK(...) check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __LINE__)

void one_and_many_keys() {
  auto made = petal::filter::try_make(petal::spec().capacity(1000).false_positive_rate(1e-6));
  CHECK(made);
  petal::filter f = *std::move(made);
  CHECK(*f.try_insert("apple") && *f.try_insert(1) && *f.try_insert(shop::item{2}) && *f.try_insert("pear", 4));
  CHECK(f.contains("apple") && f.contains(2) && *f.try_contains(std::string("pear")));
  CHECK(!f.contains("plum") && !f.contains("plum", 4) && !*f.try_contains("plum", 4));
  CHECK(*f.try_hash("apple") == *petal::spec().try_hash("apple"));

  const std::vector<std::uint64_t> keys = {1, 2, 3};
  std::array<bool, 3> found{};
  CHECK(f.contains_batch(keys, found) == 2 && found[0] && found[1] && !found[2]);
  CHECK(f.try_insert_batch(keys) && *f.try_insert_batch(keys, found) == 0 && *f.try_contains_batch(keys) == 3);
  CHECK(*f.try_insert_shared(7) && f.try_insert_shared_batch(keys) && f.try_add_insertions(4) && f.contains(7));
  petal::key_buffer words;
  CHECK(words.try_add("apple") && words.try_add("plum"));
  CHECK(f.contains_batch(words) == 1);
  CHECK(f.contains_batch(std::vector<petal::hash64>{*f.try_hash(3)}) == 1);
}

void views() {
  petal::filter f = *petal::filter::try_make(1000, 1e-6);
  petal::writable_view w = *petal::writable_view::try_make(f);
  CHECK(*w.try_insert(1) && *w.try_insert("apple") && *w.try_insert(shop::item{2}) && *w.try_insert("pear", 4));
  const petal::view v = *petal::view::try_make(f);
  CHECK(v && v.contains(1) && v.contains(2) && v.contains("apple") && v.contains("pear", 4) && !v.contains(3));
  v.prefetch(1);
  v.prefetch(shop::item{2});
  CHECK(!petal::view() && petal::view().contains(3));
  CHECK(petal::view::try_make(petal::filter()).status() == petal::status::null);
}

void filters() {
  const auto spec = petal::spec().kind("bloom").capacity(1000).set("foldable", 1);
  CHECK(spec.check() && *spec.try_get("foldable") == 1 && *spec.try_image_size() > 1000);
  CHECK(*spec.try_expected_false_positive_rate(1000) <= 0.01);
  CHECK(*spec.try_expected_omissions(1000) <= 10);
  auto a = petal::filter::try_make(spec), b = petal::filter::try_make(spec);
  CHECK(a && b && *a->try_insert(1) && *b->try_insert(2));
  CHECK(!*a->try_equals(*b) && a->try_merge(*b) && a->contains(2) && a->try_intersect(*b) && a->contains(2));
  CHECK(a->try_estimate() && a->try_estimate_overlap(*b) && a->try_statistics() && a->try_describe()->insertions == 1);
  CHECK(*a->try_compatibility_id() == *b->try_compatibility_id() && a->can(PETAL_CAN_FOLD));
  CHECK(*a->try_expected_false_positive_rate(1) < 0.01);
  CHECK(*a->try_expected_omissions(1) == 0);
  auto c = a->try_copy(), d = petal::filter::try_make(*a->try_compatible_spec());
  CHECK(c && c->try_fold(2) && c->try_clear() && d && !d->contains(2));

  auto image = a->try_serialize();
  CHECK(image && image->size() == *a->try_serialized_size() && a->try_serialize(image->data(), image->size()));
  std::string pieces;
  CHECK(a->try_serialize_to([&](petal::bytes piece) { pieces += piece.text(); }));
  CHECK(petal::filter::try_load(*image)->contains(2) && petal::filter::try_load(pieces)->contains(2));
  CHECK(petal::filter::try_open_in_buffer(image->data(), image->size())->contains(2));
  CHECK(petal::filter::try_make_in_buffer(*a->try_compatible_spec(), image->data(), image->size())->try_sync());
  CHECK(petal::filter::try_open_descriptor(-1, 0).status() == petal::status::io);

  std::string file = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp";
  file += "/petal-no-exceptions-" + std::to_string(reinterpret_cast<std::uintptr_t>(&file)) + ".petal";
  CHECK(a->try_save(file) && petal::filter::try_open(file)->try_verify());
  CHECK(petal::filter::try_open(file, petal::open_mode::load)->contains(2));

  auto builder = petal::builder::try_make(petal::spec(), petal::builder_options().progress(
      [](std::uint64_t, std::uint64_t) { return true; }));
  CHECK(builder && builder->try_add("apple") && builder->try_add_batch(std::vector<std::uint64_t>{1, 2}));
  CHECK(*builder->try_key_count() == 3 && builder->try_finish()->contains("apple"));
  CHECK(builder->try_add(5) && builder->try_save(file) && petal::filter::try_open(file)->contains(5));
  std::remove(file.c_str());
}

void failing() {
  const auto refused = petal::filter::try_make(petal::spec().false_positive_rate(2));
  CHECK(!refused && refused.status() == petal::status::false_positive_rate);
  CHECK(refused.error().message()[0] != '\0' && refused.error().code().message()[0] != '\0');
  const auto missing = petal::filter::try_open("no/such/file");
  CHECK(missing.error().code() == std::errc::no_such_file_or_directory && missing.error().os_error() != 0);
  petal::filter none;
  CHECK(none.contains(1) && none.try_insert(1).status() == petal::status::null);
  const auto plans = petal::try_plan(petal::plan_request().keys(1000).false_positive_rate(0.01));
  CHECK(plans && plans->size() <= petal::kind_count());
  const auto made = petal::try_format_spec("guava", 100, 0.01);
  const auto exported = made ? petal::filter::try_make(*made)->try_export_bytes("guava") : made.error();
  CHECK(exported && petal::filter::try_import_bytes("guava", *exported) && petal::try_format_at(0));
  CHECK(petal::try_kind_at(0) && petal::try_kind_find("bloom") && petal::try_kind_parameter(0, 0));
}

}  // namespace

void sessions() {
  petal::sketch sketch = *petal::sketch::try_make(petal::spec().kind(PETAL_KIND_RIBLT).bits(192 * 20));
  petal::session ours = *petal::session::try_make(sketch, petal::session_role::initiator);
  CHECK(sketch.try_insert(5));
  petal::session theirs = *petal::session::try_make(sketch, petal::session_role::responder);
  while (ours.turn() != petal::session_turn::done) {
    const bool is_our_turn = ours.turn() == petal::session_turn::send;
    CHECK((is_our_turn ? theirs : ours).try_receive(*(is_our_turn ? ours : theirs).try_send()));
  }
  const auto listed = *ours.try_differences();
  CHECK(listed.size() == 1 && listed[0].number == 5 && listed[0].sign == -1);
  CHECK(ours.try_statistics()->their_count == 1 && !ours.try_send() && !petal::session().try_statistics());
}

void routers() {
  const petal::spec spec = petal::spec().kind(PETAL_KIND_ROUTER).bits(1024).hashes(4);
  petal::router here = *petal::router::try_make(spec, 1), there = *petal::router::try_make(spec, 2);
  CHECK(here.try_add_edge(2) && there.try_add_edge(1) && there.try_insert("song") && !here.contains("song"));
  const auto received = here.try_receive(2, *there.try_advertise(1));
  CHECK(received && *received == petal::router_received::changed && there.try_advertise_changes(1)->size() == 0);
  petal_router_walk_state walk{};
  walk.hops_left = 1;
  CHECK(here.try_route("song", nullptr, 1)->neighbour == 2 && here.try_walk("song", walk)->level == 1);
  const double weights[3] = {1, 2, 3};
  CHECK(here.try_set_level_weights(weights, 3) && here.try_set_edge_weight(2, 1) && here.try_edge(2)->weight == 1);
  CHECK(here.try_neighbours()->size() == 1 && here.try_statistics()->levels == 3 && !here.try_set_node(3));
  CHECK(here.try_remove_edge(2) && there.try_remove("song") && !there.contains("song"));
}

int main() {
  one_and_many_keys();
  views();
  filters();
  sessions();
  routers();
  failing();
  std::printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
