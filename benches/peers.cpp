// peers.cpp: the filters of C++ libraries, as a shared library that `make bench` measures together with Petal's own in
// one run.
//
// It is compiled against what is installed, or what PEERS_INCLUDE says: `make bench`. Keys are 64-bit numbers, given in
// arrays, and each loop over them is compiled with the filter's own code, for this processor. A library whose headers
// are missing is left out by name.
//
// - Boost.Bloom: fast_multiblock64 one key after the other, and fast_multiblock32 also in its bulk calls, with the
//   number of bits a key for which it says the lowest false-positive rate.
// - RocksDB: the filter that its Bloom policy makes, FastLocalBloom. It is built from all keys together and only looked
//   up then, so that it has no insertions.
#if __has_include(<boost/bloom/filter.hpp>)
#include <boost/bloom/fast_multiblock32.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#include <boost/version.hpp>
#define HAS_BOOST 1
#else
#pragma message("boost/bloom/filter.hpp is missing: without Boost.Bloom")
#endif
#if __has_include(<rocksdb/filter_policy.h>)
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#define HAS_ROCKSDB 1
#else
#pragma message("rocksdb/filter_policy.h is missing: without RocksDB")
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#ifdef HAS_ROCKSDB
#include "../tests/formats/owners/rocksdb_bits.hpp"
#endif

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

#ifdef HAS_BOOST
// Keys have K words of WORD bits.
template <size_t K, typename Subfilter, size_t WORD, bool BULK>
class Boost final : public Filter {
  using filter = boost::bloom::filter<uint64_t, 1, Subfilter>;
  filter filter_;

 public:
  static double rate(uint64_t keys, uint64_t bits) { return filter::fpr_for(keys, bits); }
  static Filter *make(uint64_t, uint64_t bits) { return new Boost(bits); }
  explicit Boost(uint64_t bits) : filter_(static_cast<size_t>(bits)) {}

  uint64_t bits() override { return filter_.capacity(); }
  const void *address() override { return filter_.array().data(); }
  // The words begin at any one of them, except that those of half a line or less lie in one line.
  double lines() override { return WORD * K <= 256 ? 1.0 : 1.0 + (K - 1) * WORD / 512.0; }
  void insert(const uint64_t *keys, size_t count) override {
    if (BULK) return filter_.insert(keys, keys + count);
    for (size_t i = 0; i < count; i++) filter_.insert(keys[i]);
  }
  uint64_t contains(const uint64_t *keys, size_t count, uint8_t *answers) override {
    uint64_t found = 0;
    if (BULK) {
      filter_.may_contain(keys, keys + count, [&](const uint64_t &, bool is) { found += *answers++ = is; });
    } else {
      for (size_t i = 0; i < count; i++) found += answers[i] = filter_.may_contain(keys[i]);
    }
    return found;
  }
};
template <size_t K, bool BULK>
using Boost32 = Boost<K, boost::bloom::fast_multiblock32<K>, 32, BULK>;
template <size_t K>
using Boost64 = Boost<K, boost::bloom::fast_multiblock64<K>, 64, false>;

struct Choice {
  double (*rate)(uint64_t keys, uint64_t bits);
  Filter *(*make)(uint64_t keys, uint64_t bits);
};

// The filter with the lowest rate.
template <typename... Filters>
Filter *make_best(uint64_t keys, uint64_t bits) {
  const Choice choices[] = {{Filters::rate, Filters::make}...};
  const Choice *best = choices;
  for (const Choice &choice : choices) {
    if (choice.rate(keys, bits) < best->rate(keys, bits)) best = &choice;
  }
  return best->make(keys, bits);
}

template <bool BULK>
Filter *make_boost32(uint64_t keys, uint64_t bits) {
  return make_best<Boost32<4, BULK>, Boost32<5, BULK>, Boost32<6, BULK>, Boost32<7, BULK>, Boost32<8, BULK>>(keys,
                                                                                                            bits);
}

Filter *make_boost64(uint64_t keys, uint64_t bits) {
  return make_best<Boost64<4>, Boost64<5>, Boost64<6>, Boost64<7>, Boost64<8>, Boost64<9>, Boost64<10>, Boost64<11>,
                   Boost64<12>, Boost64<13>, Boost64<14>>(keys, bits);
}
#endif

#ifdef HAS_ROCKSDB
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
#endif

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

// As the libraries say them themselves.
#ifdef HAS_BOOST
const std::string boost_name = "Boost.Bloom " + std::to_string(BOOST_VERSION / 100000) + "." +
                               std::to_string(BOOST_VERSION / 100 % 1000) + " fast_multiblock";
const std::string boost32_name = boost_name + "32", boost32_bulk_name = boost_name + "32, bulk";
const std::string boost64_name = boost_name + "64";
#endif
#ifdef HAS_ROCKSDB
const std::string rocksdb_name =
    "RocksDB " + std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + " FastLocalBloom";
#endif

}  // namespace

const peer petal_bench_peers[] = {
#ifdef HAS_BOOST
    peer_of<make_boost32<false>>(boost32_name.c_str(), true),
    peer_of<make_boost32<true>>(boost32_bulk_name.c_str(), true),
    peer_of<make_boost64>(boost64_name.c_str(), true),
#endif
#ifdef HAS_ROCKSDB
    peer_of<make_rocksdb>(rocksdb_name.c_str(), false),
#endif
};
const size_t petal_bench_peer_count = sizeof petal_bench_peers / sizeof *petal_bench_peers;
