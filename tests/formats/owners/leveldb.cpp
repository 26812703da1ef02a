// Filters of LevelDB's built-in policy; README.md says how it is called and what it prints.
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "lines.hpp"

using Policy = std::unique_ptr<const leveldb::FilterPolicy>;

static bool write(const std::string &folder, const Size &size) {
  int bits_per_key = static_cast<int>(std::ceil(-std::log(size.rate) / (std::log(2) * std::log(2))));
  Policy policy(leveldb::NewBloomFilterPolicy(bits_per_key));
  std::vector<std::string> keys;
  for (int i = 0; i < size.keys; i++) keys.push_back("key-" + std::to_string(i));
  std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  std::string filter;
  policy->CreateFilter(slices.data(), size.keys, &filter);
  int positives = count("absent", 10000, [&](const std::string &key) { return policy->KeyMayMatch(key, filter); });
  std::string name = "leveldb/" + std::to_string(bits_per_key) + "-" + std::to_string(size.keys) + ".bin";
  // The policy sizes a filter for the keys that there are.
  std::printf("leveldb %s %d %d %d %g - 0\n", name.c_str(), size.keys, positives, size.keys, size.rate);
  return save(folder + "/" + name, filter);
}

int main(int argc, char **argv) {
  Policy policy(leveldb::NewBloomFilterPolicy(10));
  return run(argc, argv, "leveldb", write, [&](const std::string &bytes, const std::string &key) {
    return policy->KeyMayMatch(key, bytes);
  });
}
