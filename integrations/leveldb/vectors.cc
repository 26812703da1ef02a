// Prints vectors.txt: what LevelDB's own policy makes of some keys. Debian 12, libleveldb-dev 1.23-4:
//
//     c++ -std=c++17 vectors.cc -lleveldb -o vectors && ./vectors >vectors.txt
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

int main() {
  std::puts("# leveldb::NewBloomFilterPolicy(bits per key)->CreateFilter(keys), made by vectors.cc. A line has the bits");
  std::puts("# per key, the number of keys, the filter. Key i has i mod 13 bytes, of which byte j is 31 i + 97 j mod 256.");
  for (int bits_per_key : {1, 2, 5, 10, 16, 43, 44, 1000}) {
    std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
    for (int count : {0, 1, 2, 7, 17, 40}) {
      if (bits_per_key * count > 2000) continue;
      std::vector<std::string> keys;
      for (int i = 0; i < count; i++) {
        std::string key;
        for (int j = 0; j < i % 13; j++) key += static_cast<char>(31 * i + 97 * j);
        keys.push_back(key);
      }
      const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
      std::string filter;
      policy->CreateFilter(slices.data(), count, &filter);
      std::printf("%d %d ", bits_per_key, count);
      for (unsigned char byte : filter) std::printf("%02x", byte);
      std::puts("");
    }
  }
}
