// Filter blocks of RocksDB; README.md says how it is called and what it prints. Without sizes `write` writes the
// committed filters. With librocksdb-dev 7.8.3-2 of Debian 12.
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "lines.hpp"
#include "rocksdb_bits.hpp"

using namespace rocksdb;
using Policy = std::shared_ptr<const FilterPolicy>;

// The rate is the one for which Petal makes the same filter, if it does: RocksDB itself takes bits per key.
static bool make(const std::string &folder, const std::string &kind, int keys, double bits_per_key, const char *rate) {
  Policy policy(kind == "ribbon" ? NewRibbonFilterPolicy(bits_per_key, -1) : NewBloomFilterPolicy(bits_per_key));
  BlockBasedTableOptions options;
  options.format_version = kind == "legacy" ? 4 : 5;
  std::unique_ptr<FilterBitsBuilder> builder(policy->GetBuilderWithContext(FilterBuildingContext(options)));
  for (int i = 0; i < keys; i++) builder->AddKey("key-" + std::to_string(i));
  std::unique_ptr<const char[]> buffer;
  std::string bytes = builder->Finish(&buffer).ToString();
  std::unique_ptr<FilterBitsReader> reader(policy->GetFilterBitsReader(bytes));
  int positives = count("absent", 10000, [&](const std::string &key) { return reader->MayMatch(key); });
  char name[100];
  std::snprintf(name, sizeof name, "rocksdb/%s-%g-%d.bin", kind.c_str(), bits_per_key, keys);
  std::printf("rocksdb %s %d %d", name, keys, positives);
  if (rate) std::printf(" %d %s - 0", keys, rate);
  std::puts("");
  return save(folder + "/" + name, bytes);
}

static bool write(const std::string &folder, const Size &size) {
  double bits_per_key = std::round(-10 * std::log(size.rate) / (std::log(2) * std::log(2))) / 10;
  bool good = true;
  // RocksDB writes no filter for no keys.
  for (const char *kind : {"bloom", "legacy", "ribbon"}) {
    good = good && (size.keys == 0 || make(folder, kind, size.keys, bits_per_key, nullptr));
  }
  return good;
}

static bool write_committed(const std::string &folder) {
  const struct { const char *kind; int keys; double bits_per_key; const char *rate; } filters[] = {
      {"bloom", 5000, 10, "0.0096"}, {"bloom", 1000, 2, "0.387"}, {"bloom", 1000, 26, nullptr},
      {"bloom", 300, 60, "1.7e-8"},  {"bloom", 40, 14.5, nullptr}, {"legacy", 1000, 10, nullptr},
      {"legacy", 20, 6, nullptr},    {"ribbon", 1000, 10, nullptr}, {"ribbon", 200, 8, nullptr},
      {"ribbon", 3000, 14, nullptr}};
  bool good = true;
  for (const auto &f : filters) good = good && make(folder, f.kind, f.keys, f.bits_per_key, f.rate);
  return good;
}

int main(int argc, char **argv) {
  if (argc == 3 && std::string(argv[1]) == "write") return write_committed(argv[2]) ? 0 : 1;
  Policy policy(NewBloomFilterPolicy(10));
  return run(argc, argv, "rocksdb", write, [&](const std::string &bytes, const std::string &key) {
    return std::unique_ptr<FilterBitsReader>(policy->GetFilterBitsReader(bytes))->MayMatch(key);
  });
}
