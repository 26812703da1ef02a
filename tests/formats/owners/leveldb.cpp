// Filters that LevelDB's built-in policy writes: leveldb FOLDER. See vectors.txt for what it prints.
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

int main(int, char **argv) {
  struct { int keys; int bits_per_key; const char *rate; } sizes[] = {
      {1000, 10, "0.01"}, {17, 15, "0.001"}, {1, 10, "0.01"}, {300, 5, "0.1"}};
  std::string folder = argv[1];
  mkdir((folder + "/leveldb").c_str(), 0755);
  for (const auto &size : sizes) {
    const leveldb::FilterPolicy *policy = leveldb::NewBloomFilterPolicy(size.bits_per_key);
    std::vector<std::string> keys;
    for (int i = 0; i < size.keys; i++) keys.push_back("key-" + std::to_string(i));
    std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
    std::string filter;
    policy->CreateFilter(slices.data(), size.keys, &filter);
    int positives = 0;
    for (int i = 0; i < 10000; i++) positives += policy->KeyMayMatch("absent-" + std::to_string(i), filter);
    std::string name = "leveldb/" + std::to_string(size.bits_per_key) + "-" + std::to_string(size.keys) + ".bin";
    std::ofstream(folder + "/" + name, std::ios::binary) << filter;
    std::printf("leveldb %s %d %d %d %s - 0\n", name.c_str(), size.keys, positives, size.keys, size.rate);
    delete policy;
  }
}
