// Filter blocks that RocksDB's built-in policies write: rocksdb FOLDER. See vectors.txt for what it prints. With
// librocksdb-dev 7.8.3-2 of Debian 12: g++ rocksdb.cpp -lrocksdb -o rocksdb
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <sys/stat.h>

namespace rocksdb {
// Since RocksDB 7.0 these are no part of its headers; the shared library has them.
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder();
  virtual void AddKey(const Slice &key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]> *buffer) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]> *buffer, Status *status) = 0;
};
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader();
  virtual bool MayMatch(const Slice &key) = 0;
  virtual void MayMatch(int count, Slice **keys, bool *may_match) = 0;
};
}  // namespace rocksdb

int main(int, char **argv) {
  // The last is the rate for which Petal makes the same filter, where it does.
  const struct { const char *policy; int keys; double bits_per_key; const char *rate; } sizes[] = {
      {"bloom", 5000, 10, "0.0096"}, {"bloom", 1000, 2, "0.387"}, {"bloom", 1000, 26, nullptr},
      {"bloom", 300, 60, "1.7e-8"},  {"bloom", 40, 14.5, nullptr}, {"legacy", 1000, 10, nullptr},
      {"legacy", 20, 6, nullptr},    {"ribbon", 1000, 10, nullptr}, {"ribbon", 200, 8, nullptr},
      {"ribbon", 3000, 14, nullptr}};
  const std::string folder = argv[1];
  mkdir((folder + "/rocksdb").c_str(), 0755);
  for (const auto &size : sizes) {
    const std::string kind = size.policy;
    const rocksdb::FilterPolicy *policy = kind == "ribbon" ? rocksdb::NewRibbonFilterPolicy(size.bits_per_key, -1)
                                                           : rocksdb::NewBloomFilterPolicy(size.bits_per_key);
    rocksdb::BlockBasedTableOptions options;
    options.format_version = kind == "legacy" ? 4 : 5;
    rocksdb::FilterBitsBuilder *builder = policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(options));
    for (int i = 0; i < size.keys; i++) builder->AddKey("key-" + std::to_string(i));
    std::unique_ptr<const char[]> buffer;
    const rocksdb::Slice filter = builder->Finish(&buffer);
    rocksdb::FilterBitsReader *reader = policy->GetFilterBitsReader(filter);
    int positives = 0;
    for (int i = 0; i < 10000; i++) positives += reader->MayMatch("absent-" + std::to_string(i));
    char name[80];
    std::snprintf(name, sizeof name, "rocksdb/%s-%g-%d.bin", size.policy, size.bits_per_key, size.keys);
    std::ofstream(folder + "/" + name, std::ios::binary).write(filter.data(), filter.size());
    std::printf("rocksdb %s %d %d", name, size.keys, positives);
    if (size.rate) std::printf(" %d %s - 0", size.keys, size.rate);
    std::printf("\n");
  }
}
