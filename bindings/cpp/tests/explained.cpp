// Every kind says in a sentence what its filters and maps cannot do, also in calls for one key: that the kind cannot,
// or that this handle was opened for reading.
#include "common.hpp"

#include <string>

namespace {

// For every kind that is the library's own: what its filters say to each call for one key.
TEST(explained, what_a_kind_or_a_handle_cannot_do) {
  std::size_t told = 0;
  const auto look = [&](const std::string &who, const char *wanted, const char *other, const auto &outcome) {
    const auto status = outcome.status();
    if (status != petal::status::unsupported && status != petal::status::unsupported_by_handle) return;
    told++;
    const auto failure = outcome.error();
    EXPECT_STRNE(failure.message(), petal_status_message(static_cast<petal_status>(status))) << who;
    EXPECT_TRUE(has(failure.message(), wanted) || has(failure.message(), other)) << who << ": " << failure.message();
  };
  for (const char *kind : {"bloom", "blocked", "fuse", "ribbon", "counting", "cuckoo", "quotient", "vector_quotient",
                           "d_left", "golomb", "hash_compaction", "signatures", "stable", "rotating", "scalable"}) {
    auto wanted = petal::spec().kind(kind).capacity(100);
    petal::builder b(wanted);
    look(kind, kind, kind, b.try_add_times(5, 2));
    auto f = b.finish();
    const std::string who = kind;
    const auto all = [&](petal::filter &of, const char *other) {
      look(who + " insert", kind, other, of.try_insert(5));
      look(who + " insert text", kind, other, of.try_insert("text"));
      look(who + " insert hash", kind, other, of.try_insert(petal::hash64{7}));
      look(who + " remove", kind, other, of.try_remove(5));
      look(who + " rejuvenate", kind, other, of.try_rejuvenate(5));
      look(who + " insert times", kind, other, of.try_insert_times("text", 2));
      look(who + " remove times", kind, other, of.try_remove_times("text", 2));
      look(who + " count", kind, other, of.try_count(5));
      look(who + " insert shared", kind, other, of.try_insert_shared(5));
      look(who + " add offered", kind, other, of.try_add_insertions(5));
    };
    all(f, kind);
    auto image = f.serialize();
    auto mapped = petal::filter::open_in_buffer(image.data(), image.size());
    all(mapped, "read");
    try {
      mapped.insert(5);
      ADD_FAILURE() << kind << " was changed";
    } catch (const petal::error &error) {
      EXPECT_TRUE(has(error.what(), "read") || has(error.what(), kind)) << error.what();
    }
  }
  petal::map_builder of_map{petal::spec()};
  auto m = of_map.finish();
  look("map", "bloomier", "map", m.try_put(5, 6));
  look("map", "bloomier", "map", m.try_replace(5, 6));
  look("map", "bloomier", "map", m.try_find(petal::hash64{5}));
  EXPECT_GT(told, 150u);
}

}  // namespace
