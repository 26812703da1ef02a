// The classes with which RocksDB 7 makes and asks a filter block. Its headers name them, but have hidden their members
// since 7.0, so they are declared here again, as librocksdb 7.8 has them in its tables of virtual functions.
#pragma once
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <memory>
#include <vector>

namespace rocksdb {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}
  virtual void AddKey(const Slice &key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]> *buffer) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}
  virtual bool MayMatch(const Slice &key) = 0;
  virtual void MayMatch(int count, Slice **keys, bool *may_match) = 0;
};

}  // namespace rocksdb
