// A store that writes every block once, as archives do. A block is named by its SHA-256, so a block that is there
// already need not be written again. The index of all names is too large for memory and lies on the disk. A new block
// is in no index, and a search for it would find nothing. A filter in memory says so before the disk is read.
//
// The program makes a volume, changes a part of it each day, and stores all of it each night. It prints what was not
// written, and how many searches of the index the filter saved. At the end it restores every night and compares.
//
//     block_store [FOLDER]        writes blocks, index and names.petal into FOLDER (.)
#include <petal.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

// --- The names: SHA-256 (FIPS 180-4); a program that links a library of cryptography takes that one -----------------

using name = std::array<unsigned char, 32>;

constexpr std::array<std::uint32_t, 8> sha_start{
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

constexpr std::array<std::uint32_t, 64> sha_rounds{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::uint32_t turned(std::uint32_t x, int by) { return x >> by | x << (32 - by); }

void add_block(std::array<std::uint32_t, 8> &state, const unsigned char *block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; i++) {
    for (std::size_t j = 0; j < 4; j++) w[i] = w[i] << 8 | block[4 * i + j];
  }
  for (std::size_t i = 16; i < 64; i++) {
    const std::uint32_t a = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
    const std::uint32_t b = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  auto s = state;
  for (std::size_t i = 0; i < 64; i++) {
    const std::uint32_t a = turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25);
    const std::uint32_t b = turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22);
    const std::uint32_t one = s[7] + a + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_rounds[i] + w[i];
    const std::uint32_t two = b + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    std::rotate(s.begin(), s.end() - 1, s.end());
    s[4] += one;
    s[0] = one + two;
  }
  for (std::size_t i = 0; i < 8; i++) state[i] += s[i];
}

name sha256(std::string_view data) {
  std::string padded(data);
  padded += '\x80';
  padded.resize((padded.size() + 8 + 63) / 64 * 64);
  for (std::size_t i = 0; i < 8; i++) padded[padded.size() - 1 - i] = static_cast<char>(data.size() * 8 >> 8 * i);
  auto state = sha_start;
  for (std::size_t i = 0; i < padded.size(); i += 64) {
    std::array<unsigned char, 64> block{};
    std::memcpy(block.data(), padded.data() + i, block.size());
    add_block(state, block.data());
  }
  name result{};
  for (std::size_t i = 0; i < result.size(); i++) {
    result[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)));
  }
  return result;
}

// --- The store ------------------------------------------------------------------------------------------------------

// Where the block with a name lies: a line of the index.
struct place {
  name of;
  std::uint64_t offset, length;
};

class block_store {
 public:
  // Opens the store in a folder, or makes a new one. Nobody knows how many blocks will come, so the filter grows.
  explicit block_store(std::string folder) : folder_(std::move(folder)) {
    const std::string names = folder_ + "/names.petal";
    names_ = std::filesystem::exists(names)
                 ? petal::filter::open(names, petal::open_mode::load)
                 : petal::filter(petal::spec().kind(PETAL_KIND_SCALABLE).capacity(10'000).false_positive_rate(0.01));
    for (const char *file : {"/blocks", "/index"}) std::ofstream(folder_ + file, std::ios::app | std::ios::binary);
    blocks_.open(folder_ + "/blocks", std::ios::in | std::ios::out | std::ios::ate | std::ios::binary);
    blocks_.exceptions(std::ios::badbit | std::ios::failbit);
    end_ = static_cast<std::uint64_t>(blocks_.tellp());
    open_index();
  }

  // Puts a block into the store, unless it is there. Returns its name.
  name put(std::string_view block) {
    const place one{sha256(block), end_, block.size()};
    given++;
    given_bytes += block.size();
    if (find(one.of).second) return one.of;
    names_.insert(key(one.of));
    blocks_.seekp(static_cast<std::streamoff>(end_));
    blocks_.write(block.data(), static_cast<std::streamsize>(block.size()));
    end_ += block.size();
    written++;
    written_bytes += block.size();
    added_.emplace(one.of, one);
    return one.of;
  }

  // The block with a name.
  std::string get(const name &of) {
    const auto [found, is_there] = find(of);
    if (!is_there) throw std::runtime_error("a block is not in the store");
    std::string block(found.length, 0);
    blocks_.seekg(static_cast<std::streamoff>(found.offset));
    blocks_.read(block.data(), static_cast<std::streamsize>(block.size()));
    return block;
  }

  // Merges what was added into the index. The filter is saved before that, so the filter always has all names of the
  // index. After a crash it may have more, which costs a search each.
  void finish() {
    blocks_.flush();
    names_.save(folder_ + "/names.petal");
    std::ofstream merged(folder_ + "/index.new", std::ios::binary | std::ios::trunc);
    merged.exceptions(std::ios::badbit | std::ios::failbit);
    const auto write = [&](const place &one) {
      merged.write(static_cast<const char *>(static_cast<const void *>(&one)), sizeof one);
    };
    auto next = added_.begin();
    for (std::uint64_t i = 0; i < indexed_; i++) {
      const place one = read_index(i);
      for (; next != added_.end() && next->first < one.of; ++next) write(next->second);
      write(one);
    }
    for (; next != added_.end(); ++next) write(next->second);
    merged.close();
    index_.close();
    std::filesystem::rename(folder_ + "/index.new", folder_ + "/index");
    open_index();
    added_.clear();
  }

  std::uint64_t filter_bytes() const { return names_.serialized_size(); }
  std::uint64_t index_bytes() const noexcept { return indexed_ * sizeof(place); }

  std::uint64_t given = 0, given_bytes = 0, written = 0, written_bytes = 0;
  // How often a name was looked for among those on the disk, how often the index was searched, and how often in vain.
  std::uint64_t asked = 0, searches = 0, vain = 0;

 private:
  static petal::bytes key(const name &of) noexcept { return petal::bytes(of.data(), of.size()); }

  void open_index() {
    index_.open(folder_ + "/index", std::ios::binary);
    index_.exceptions(std::ios::badbit | std::ios::failbit);
    indexed_ = std::filesystem::file_size(folder_ + "/index") / sizeof(place);
  }

  place read_index(std::uint64_t i) {
    place one{};
    index_.seekg(static_cast<std::streamoff>(i * sizeof one));
    index_.read(static_cast<char *>(static_cast<void *>(&one)), sizeof one);
    return one;
  }

  std::pair<place, bool> find(const name &of) {
    if (const auto found = added_.find(of); found != added_.end()) return {found->second, true};
    asked++;
    if (!names_.contains(key(of))) return {};
    searches++;
    std::uint64_t low = 0, high = indexed_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const place one = read_index(middle);
      if (one.of == of) return {one, true};
      (of < one.of ? high : low) = of < one.of ? middle : middle + 1;
    }
    vain++;
    return {};
  }

  std::string folder_;
  petal::filter names_;
  std::fstream blocks_;
  std::ifstream index_;
  std::uint64_t end_ = 0, indexed_ = 0;
  // What is not in the index on the disk yet.
  std::map<name, place> added_;
};

// --- Nights ---------------------------------------------------------------------------------------------------------

constexpr std::size_t nights = 8, blocks = 2000, block_bytes = 512;

int run(const std::string &folder) {
  if (sha256("abc")[0] != 0xba || sha256("abc")[31] != 0xad) throw std::logic_error("SHA-256 is wrong");
  for (const char *file : {"/blocks", "/index", "/names.petal"}) std::filesystem::remove(folder + file);
  std::mt19937_64 random(1);
  const auto change = [&](std::string &block) {
    std::generate(block.begin(), block.end(), [&] { return static_cast<char>(random()); });
  };
  std::vector<std::string> volume(blocks, std::string(block_bytes, 0));
  // A tenth of the volume is empty.
  for (std::size_t i = blocks / 10; i < blocks; i++) change(volume[i]);
  std::vector<std::vector<name>> stored;
  std::vector<std::vector<std::string>> truth;
  std::printf("%6s %8s %8s %14s %14s %10s\n", "night", "blocks", "written", "names asked", "searched", "in vain");
  std::uint64_t all_asked = 0, all_searches = 0, given_bytes = 0, written_bytes = 0, filter_bytes = 0, index_bytes = 0;
  for (std::size_t night = 0; night < nights; night++) {
    block_store store(folder);
    stored.emplace_back();
    for (const auto &block : volume) stored.back().push_back(store.put(block));
    truth.push_back(volume);
    store.finish();
    std::printf("%6zu %8zu %8zu %14zu %14zu %10zu\n", night, static_cast<std::size_t>(store.given),
                static_cast<std::size_t>(store.written), static_cast<std::size_t>(store.asked),
                static_cast<std::size_t>(store.searches), static_cast<std::size_t>(store.vain));
    all_asked += store.asked;
    all_searches += store.searches;
    given_bytes += store.given_bytes;
    written_bytes += store.written_bytes;
    filter_bytes = store.filter_bytes();
    index_bytes = store.index_bytes();
    // By day a third of the blocks changes.
    for (std::size_t i = 0; i < blocks / 3; i++) change(volume[random() % blocks]);
  }
  block_store store(folder);
  std::size_t wrong = 0;
  for (std::size_t night = 0; night < nights; night++) {
    for (std::size_t i = 0; i < blocks; i++) wrong += store.get(stored[night][i]) != truth[night][i];
  }
  std::printf("saved: %.1f %% of the bytes were not written, %.1f %% of the searches were not made\n",
              100 - 100 * static_cast<double>(written_bytes) / static_cast<double>(given_bytes),
              100 - 100 * static_cast<double>(all_searches) / static_cast<double>(all_asked));
  std::printf("the filter takes %zu bytes, the index %zu; wrong blocks: %zu\n", static_cast<std::size_t>(filter_bytes),
              static_cast<std::size_t>(index_bytes), wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : ".");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "block_store: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
