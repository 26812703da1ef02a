// Helpers that several tests use.
#ifndef PETAL_TESTS_COMMON_HPP
#define PETAL_TESTS_COMMON_HPP

#include <gtest/gtest.h>
#include <petal.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef near
#else
#include <fcntl.h>
#include <unistd.h>
#endif

// Different numbers for different i, in no order.
inline std::uint64_t number(std::uint64_t i) { return (i + 1) * UINT64_C(0x9e3779b97f4a7c15); }

inline std::vector<std::uint64_t> numbers(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> made;
  for (std::uint64_t i = begin; i < end; i++) made.push_back(number(i));
  return made;
}

// A separate folder for each test, gone in the end.
class folder : public testing::Test {
 protected:
  folder() {
    std::random_device random;
    do path_ = std::filesystem::temp_directory_path() / ("petal-cpp-" + std::to_string(random()));
    while (!std::filesystem::create_directory(path_));
  }
  ~folder() override {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path path(const char *name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// An open file as open_descriptor takes it: a descriptor, or a HANDLE.
class open_file {
 public:
#ifdef _WIN32
  explicit open_file(const std::filesystem::path &path)
      : number_(reinterpret_cast<std::intptr_t>(
            CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, 0, nullptr))) {}
  ~open_file() { CloseHandle(reinterpret_cast<HANDLE>(number_)); }
#else
  explicit open_file(const std::filesystem::path &path) : number_(::open(path.c_str(), O_RDONLY)) {}
  ~open_file() { ::close(static_cast<int>(number_)); }
#endif
  open_file(const open_file &) = delete;
  open_file &operator=(const open_file &) = delete;
  std::intptr_t number() const { return number_; }

 private:
  std::intptr_t number_;
};

// The system's error numbers for a file that is not there, and for what is no open file.
#ifdef _WIN32
inline constexpr int not_there = ERROR_FILE_NOT_FOUND, not_open = ERROR_INVALID_HANDLE;
#else
inline constexpr int not_there = ENOENT, not_open = EBADF;
#endif

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
