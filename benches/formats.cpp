// formats.cpp: what a lookup costs in an imported filter, compared with the original's own code, from C. `make
// bench-formats` compiles and runs it.
//
// Each owner makes a filter with its own code, and Petal imports its bytes. Half of the keys are there; each key is
// asked by the original, by petal_filter_contains() and in batches, which take turns, and of the turns the median
// counts. All give the same answer for every key. Filters of 10^4 keys lie in the caches, and filters of 2 * 10^7 keys
// mostly do not.
//
// formats [KEYS...] measures filters of these sizes.
#include <bloom.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <petal_formats.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../tests/formats/owners/rocksdb_bits.hpp"

namespace {

constexpr int kKeys = 1 << 15, kTurns = 31, kLength = 16;

// A bijection of numbers in which all bits of the result depend on all of the number.
uint64_t mix(uint64_t i) {
  i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
  return i ^ i >> 31;
}

// The i-th of different random keys of 16 bytes.
struct Key {
  char bytes[kLength];
  explicit Key(uint64_t i) {
    const uint64_t words[] = {mix(i), mix(~i)};
    std::memcpy(bytes, words, kLength);
  }
};

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "formats: %s\n", what);
  std::exit(1);
}

template <typename Work>
double seconds(const Work &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + kTurns / 2, times.end());
  return times[kTurns / 2] * 1e9 / kKeys;
}

// has(key) is what the original says of 16 bytes.
template <typename Has>
void compare(const char *name, const char *format, uint64_t count, const void *bytes, size_t length,
             const petal_import_options *options, const Has &has) {
  petal_error error = {};
  error.struct_size = sizeof error;
  petal_filter *filter = nullptr;
  if (petal_filter_import(format, bytes, length, options, &filter, &error) != PETAL_OK) fail(error.message);
  std::vector<char> keys(static_cast<size_t>(kKeys) * kLength);
  std::vector<uint64_t> offsets(kKeys + 1);
  for (size_t i = 0; i <= kKeys; i++) offsets[i] = i * kLength;
  std::vector<double> original, calls, batches;
  for (uint64_t turn = 0; turn < kTurns; turn++) {
    for (uint64_t i = 0; i < kKeys; i++) {
      // Every second key is there, others in each turn.
      uint64_t number = (turn * kKeys + i) * 7919 % count + (i % 2) * (UINT64_C(1) << 40);
      std::copy_n(Key(number).bytes, kLength, &keys[i * kLength]);
    }
    size_t by_original = 0, by_calls = 0;
    petal_answers answers = {};
    answers.struct_size = sizeof answers;
    original.push_back(seconds([&] {
      for (int i = 0; i < kKeys; i++) by_original += has(&keys[static_cast<size_t>(i) * kLength]);
    }));
    calls.push_back(seconds([&] {
      for (int i = 0; i < kKeys; i++) {
        by_calls += petal_filter_contains(filter, &keys[static_cast<size_t>(i) * kLength], kLength);
      }
    }));
    batches.push_back(seconds([&] {
      petal_keys many = petal_keys_bytes(keys.data(), keys.size(), offsets.data(), kKeys);
      petal_filter_contains_batch(filter, &many, &answers, nullptr);
    }));
    if (by_original != by_calls || by_original != answers.true_count) fail("the answers differ");
  }
  double base = median(original), call = median(calls), batch = median(batches);
  std::printf("| %-34s | %9.0e | %8.1f | %8.1f | %8.1f | %6.2f | %6.2f |\n", name, static_cast<double>(count), base,
              call, batch, call / base, batch / base);
  std::fflush(stdout);
  petal_filter_free(filter);
}

void of_leveldb(uint64_t count) {
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  std::vector<Key> keys;
  std::vector<leveldb::Slice> slices;
  for (uint64_t i = 0; i < count; i++) keys.emplace_back(i);
  for (const Key &key : keys) slices.emplace_back(key.bytes, kLength);
  std::string filter;
  policy->CreateFilter(slices.data(), static_cast<int>(count), &filter);
  compare("LevelDB KeyMayMatch", "leveldb", count, filter.data(), filter.size(), nullptr,
          [&](const char *key) { return policy->KeyMayMatch(leveldb::Slice(key, kLength), filter); });
}

void of_libbloom(uint64_t count) {
  struct bloom filter = {};
  if (bloom_init(&filter, static_cast<int>(count), 0.01) != 0) fail("bloom_init");
  for (uint64_t i = 0; i < count; i++) bloom_add(&filter, Key(i).bytes, kLength);
  petal_import_options options = {};
  options.struct_size = sizeof options;
  options.bits = static_cast<uint64_t>(filter.bits);
  options.hashes = static_cast<uint32_t>(filter.hashes);
  compare("libbloom bloom_check", "libbloom_1", count, filter.bf, static_cast<size_t>(filter.bytes), &options,
          [&](const char *key) { return bloom_check(&filter, key, kLength) == 1; });
  bloom_free(&filter);
}

void of_rocksdb(const char *name, const rocksdb::FilterPolicy *made, unsigned version, uint64_t count) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy(made);
  rocksdb::BlockBasedTableOptions options;
  options.format_version = version;
  options.filter_policy = policy;
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
  for (uint64_t i = 0; i < count; i++) builder->AddKey(rocksdb::Slice(Key(i).bytes, kLength));
  std::unique_ptr<const char[]> buffer;
  rocksdb::Slice bytes = builder->Finish(&buffer);
  std::unique_ptr<rocksdb::FilterBitsReader> reader(policy->GetFilterBitsReader(bytes));
  compare(name, "rocksdb", count, bytes.data(), bytes.size(), nullptr,
          [&](const char *key) { return reader->MayMatch(rocksdb::Slice(key, kLength)); });
}

}  // namespace

int main(int argc, char **argv) {
  std::vector<uint64_t> counts;
  for (int i = 1; i < argc; i++) counts.push_back(static_cast<uint64_t>(std::strtod(argv[i], nullptr)));
  if (counts.empty()) counts = {10000, 20000000};
  std::puts("| original, ns a key | keys | original | calls | batches | calls / original | batches / original |");
  std::puts("|---|---|---|---|---|---|---|");
  for (uint64_t count : counts) {
    of_leveldb(count);
    of_libbloom(count);
    of_rocksdb("RocksDB MayMatch, Bloom", rocksdb::NewBloomFilterPolicy(10), 5, count);
    of_rocksdb("RocksDB MayMatch, format 4", rocksdb::NewBloomFilterPolicy(10), 4, count);
    of_rocksdb("RocksDB MayMatch, Ribbon", rocksdb::NewRibbonFilterPolicy(10), 5, count);
  }
}
