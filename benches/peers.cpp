// peers.cpp: the filters of C++ libraries, as a shared library that `make bench` measures together with Petal's own in
// one run.
//
// It is compiled against what is installed, or what PEERS_INCLUDE says: `make bench-peers`. Keys are 64-bit numbers,
// given in arrays, and each loop over them is compiled with the filter's own code, for this processor.
//
// - Boost.Bloom: fast_multiblock64, with the number of bits a key for which it says the lowest false-positive rate.
// - RocksDB: the filter that its Bloom policy makes, FastLocalBloom. It is built from all keys together and only looked
//   up then, so that it has no insertions.
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#include <boost/version.hpp>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "../tests/formats/owners/rocksdb_bits.hpp"

namespace {

class Filter {
 public:
  virtual ~Filter() {}
  virtual uint64_t bits() = 0;
  virtual const void *address() = 0;
  virtual double lines() = 0;
  virtual void insert(const uint64_t *keys, size_t count) = 0;
  virtual uint64_t contains(const uint64_t *keys, size_t count, uint8_t *answers) = 0;
};

template <size_t K>
class Boost final : public Filter {
  using filter = boost::bloom::filter<uint64_t, 1, boost::bloom::fast_multiblock64<K>>;
  filter filter_;

 public:
  static double rate(uint64_t keys, uint64_t bits) { return filter::fpr_for(keys, bits); }
  static Filter *make(uint64_t, uint64_t bits) { return new Boost(bits); }
  explicit Boost(uint64_t bits) : filter_(static_cast<size_t>(bits)) {}

  uint64_t bits() override { return filter_.capacity(); }
  const void *address() override { return filter_.array().data(); }
  // K words of 64 bits that begin at any one of them.
  double lines() override { return 1.0 + (K - 1) / 8.0; }
  void insert(const uint64_t *keys, size_t count) override {
    for (size_t i = 0; i < count; i++) filter_.insert(keys[i]);
  }
  uint64_t contains(const uint64_t *keys, size_t count, uint8_t *answers) override {
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) found += answers[i] = filter_.may_contain(keys[i]);
    return found;
  }
};

struct Choice {
  double (*rate)(uint64_t keys, uint64_t bits);
  Filter *(*make)(uint64_t keys, uint64_t bits);
};

template <size_t... K>
Filter *make_boost(uint64_t keys, uint64_t bits) {
  const Choice choices[] = {{Boost<K>::rate, Boost<K>::make}...};
  const Choice *best = choices;
  for (const Choice &choice : choices) {
    if (choice.rate(keys, bits) < best->rate(keys, bits)) best = &choice;
  }
  return best->make(keys, bits);
}

class RocksDb final : public Filter {
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
  std::unique_ptr<const char[]> buffer_;
  rocksdb::Slice block_;
  uint64_t bits_;

  static rocksdb::Slice slice(const uint64_t &key) {
    return rocksdb::Slice(reinterpret_cast<const char *>(&key), sizeof key);
  }

  void finish() {
    if (reader_) return;
    block_ = builder_->Finish(&buffer_);
    reader_.reset(policy_->GetFilterBitsReader(block_));
  }

 public:
  RocksDb(uint64_t keys, uint64_t bits)
      : policy_(rocksdb::NewBloomFilterPolicy(static_cast<double>(bits) / static_cast<double>(keys))), bits_(bits) {
    rocksdb::BlockBasedTableOptions options;
    options.format_version = 5;
    builder_.reset(policy_->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
  }

  // Five bytes follow the blocks.
  uint64_t bits() override { return reader_ ? 8 * (block_.size() - 5) : bits_; }
  const void *address() override { return buffer_.get(); }
  double lines() override { return 1.0; }
  void insert(const uint64_t *keys, size_t count) override {
    for (size_t i = 0; i < count; i++) builder_->AddKey(slice(keys[i]));
  }
  uint64_t contains(const uint64_t *keys, size_t count, uint8_t *answers) override {
    finish();
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) found += answers[i] = reader_->MayMatch(slice(keys[i]));
    return found;
  }
};

Filter *make_rocksdb(uint64_t keys, uint64_t bits) { return new RocksDb(keys, bits); }

}  // namespace

extern "C" {

// A library's filter. All functions but `make` take what that returned; `make` returns NULL where it cannot.
struct peer {
  const char *name;
  bool has_insertions;
  void *(*make)(uint64_t keys, uint64_t bits);
  void (*free)(void *filter);
  uint64_t (*bits)(void *filter);
  const void *(*address)(void *filter);
  double (*lines)(void *filter);
  void (*insert)(void *filter, const uint64_t *keys, size_t count);
  uint64_t (*contains)(void *filter, const uint64_t *keys, size_t count, uint8_t *answers);
};

extern const peer petal_bench_peers[];
extern const size_t petal_bench_peer_count;
}

namespace {

template <Filter *(*Make)(uint64_t, uint64_t)>
void *make(uint64_t keys, uint64_t bits) {
  try {
    return Make(keys, bits);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

Filter *of(void *filter) { return static_cast<Filter *>(filter); }

template <Filter *(*Make)(uint64_t, uint64_t)>
peer peer_of(const char *name, bool has_insertions) {
  return {name,
          has_insertions,
          make<Make>,
          [](void *filter) { delete of(filter); },
          [](void *filter) { return of(filter)->bits(); },
          [](void *filter) { return of(filter)->address(); },
          [](void *filter) { return of(filter)->lines(); },
          [](void *filter, const uint64_t *keys, size_t count) { of(filter)->insert(keys, count); },
          [](void *filter, const uint64_t *keys, size_t count, uint8_t *answers) {
            return of(filter)->contains(keys, count, answers);
          }};
}

// As the library says it itself.
const std::string boost_name = "Boost.Bloom " + std::to_string(BOOST_VERSION / 100000) + "." +
                               std::to_string(BOOST_VERSION / 100 % 1000) + " fast_multiblock64";
const std::string rocksdb_name =
    "RocksDB " + std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + " FastLocalBloom";

}  // namespace

const peer petal_bench_peers[] = {
    peer_of<make_boost<4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14>>(boost_name.c_str(), true),
    peer_of<make_rocksdb>(rocksdb_name.c_str(), false),
};
const size_t petal_bench_peer_count = sizeof petal_bench_peers / sizeof *petal_bench_peers;
