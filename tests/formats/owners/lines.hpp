// What the programs of LevelDB and RocksDB share: their arguments, and the lines that README.md describes.
#pragma once
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>

struct Size {
  int keys, capacity;
  double rate;
};

template <typename Has>
int count(const std::string &prefix, int keys, const Has &has) {
  int found = 0;
  for (int i = 0; i < keys; i++) found += has(prefix + "-" + std::to_string(i));
  return found;
}

inline bool save(const std::string &path, const std::string &bytes) {
  mkdir(path.substr(0, path.rfind('/')).c_str(), 0755);
  return static_cast<bool>(std::ofstream(path, std::ios::binary) << bytes);
}

inline std::string load(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// has(bytes of a filter, key) is what the owner says.
template <typename Write, typename Has>
int run(int argc, char **argv, const char *format, const Write &write, const Has &has) {
  std::string folder = argv[2];
  if (std::string(argv[1]) == "write") {
    for (int i = 3; i < argc; i++) {
      Size size;
      if (std::sscanf(argv[i], "%d:%d:%lf", &size.keys, &size.capacity, &size.rate) != 3 || !write(folder, size)) {
        std::fprintf(stderr, "%s: nothing could be written\n", argv[i]);
        return 1;
      }
    }
    return 0;
  }
  int failed = 0;
  std::ifstream lines(folder + "/vectors.txt");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string of, name;
    int keys, expected;
    if (!(words >> of >> name >> keys >> expected) || of != format) continue;
    std::string bytes = load(folder + "/" + name);
    int found = count("key", keys, [&](const std::string &key) { return has(bytes, key); });
    int positives = count("absent", 10000, [&](const std::string &key) { return has(bytes, key); });
    bool same = found == keys && positives == expected;
    std::printf("%s %s: %d keys, %d positives\n", same ? "same" : "OTHER", name.c_str(), found, positives);
    failed += !same;
  }
  return failed > 0;
}
