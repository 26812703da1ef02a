// Helpers that several tests use.
#ifndef PETAL_TESTS_COMMON_HPP
#define PETAL_TESTS_COMMON_HPP

#include <gtest/gtest.h>
#include <petal.hpp>

#include <cstdlib>
#include <filesystem>

// Different numbers for different i, in no order.
inline std::uint64_t number(std::uint64_t i) { return (i + 1) * UINT64_C(0x9e3779b97f4a7c15); }

inline std::vector<std::uint64_t> numbers(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> made;
  for (std::uint64_t i = begin; i < end; i++) made.push_back(number(i));
  return made;
}

// A folder of its own for each test, gone in the end.
class folder : public testing::Test {
 protected:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "petal-cpp-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~folder() override {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path path(const char *name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// The failure that a call throws; fails where it throws none.
template <class Call>
petal::error thrown(Call &&call) {
  try {
    call();
  } catch (const petal::error &error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return petal::error(petal::failure());
}

inline bool has(const char *text, const char *part) { return std::strstr(text, part) != nullptr; }

#endif
