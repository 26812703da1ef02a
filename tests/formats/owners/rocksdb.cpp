// Writes a filter block of RocksDB and prints its line for vectors.txt, with how many of `absent-0` to `absent-9999`
// RocksDB says true of. With librocksdb-dev 7.8.3-2 of Debian 12:
//
//     g++ rocksdb.cpp -lrocksdb -o rocksdb && ./rocksdb FILE (bloom|legacy|ribbon) KEYS BITS_PER_KEY
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

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
  const std::string kind = argv[2];
  const int count = std::atoi(argv[3]);
  const double bits = std::atof(argv[4]);
  const rocksdb::FilterPolicy *policy =
      kind == "ribbon" ? rocksdb::NewRibbonFilterPolicy(bits, -1) : rocksdb::NewBloomFilterPolicy(bits);
  rocksdb::BlockBasedTableOptions options;
  options.format_version = kind == "legacy" ? 4 : 5;
  rocksdb::FilterBuildingContext context(options);
  rocksdb::FilterBitsBuilder *builder = policy->GetBuilderWithContext(context);
  for (int i = 0; i < count; i++) builder->AddKey("key-" + std::to_string(i));
  std::unique_ptr<const char[]> buffer;
  const rocksdb::Slice filter = builder->Finish(&buffer);
  std::FILE *file = std::fopen(argv[1], "wb");
  if (!file || std::fwrite(filter.data(), 1, filter.size(), file) != filter.size() || std::fclose(file)) return 1;
  rocksdb::FilterBitsReader *reader = policy->GetFilterBitsReader(filter);
  int positives = 0;
  for (int i = 0; i < 10000; i++) positives += reader->MayMatch("absent-" + std::to_string(i));
  std::printf("rocksdb %s %d %d\n", argv[1], count, positives);
}
