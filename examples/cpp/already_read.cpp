// "Already read": a site proposes articles to its readers, and none twice to one reader. A reader's history grows for
// years, and there are many readers, so each has a filter of the kind "scalable" instead of a list. A row of a database
// has the filter in its packed form, which has no more bytes than its information. A reader never gets an article
// twice. A filter withholds a few articles that the reader does not know: one in a hundred at most, and nobody misses
// one of a long list.
//
// The program has readers of whom a few read much, for many days. It compares every answer with exact lists, and prints
// what the filters save.
//
//     already_read [FOLDER]        FOLDER is not used
#include <petal.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

// The articles that a reader has read.
class history {
 public:
  // A new history. Nobody knows how many articles will come, so the filter grows.
  history() : read_(petal::spec().kind(PETAL_KIND_SCALABLE).capacity(100).false_positive_rate(0.01)) {}

  // The history in a row of the database. No row has more than `most_bytes`, whatever its bytes say.
  explicit history(const std::vector<std::byte> &row) : read_(petal::unpack(row, most_bytes)) {}

  // The row for the database.
  std::vector<std::byte> row() const { return petal::pack(read_); }

  // Takes those of the proposed articles that the reader has not read, up to `most`. They then count as read.
  std::vector<std::uint64_t> choose(const std::vector<std::uint64_t> &proposed, std::size_t most) {
    std::vector<std::uint64_t> chosen;
    for (const std::uint64_t article : proposed) {
      if (chosen.size() == most) break;
      if (read_.insert(article)) chosen.push_back(article);
    }
    return chosen;
  }

 private:
  static constexpr std::uint64_t most_bytes = 16 << 20;

  petal::filter read_;
};

constexpr std::size_t readers = 200, days = 30, articles_a_day = 400;

int run() {
  std::mt19937_64 random(1);
  // The database: a row for each reader.
  std::unordered_map<std::size_t, std::vector<std::byte>> rows;
  std::vector<std::unordered_set<std::uint64_t>> exact(readers);
  std::size_t shown = 0, again = 0, withheld = 0;
  for (std::size_t day = 0; day < days; day++) {
    for (std::size_t reader = 0; reader < readers; reader++) {
      // New articles first, then those of the day before; some come twice.
      std::vector<std::uint64_t> proposed;
      for (std::size_t i = 0; i < 2 * articles_a_day; i++) {
        const std::size_t ago = std::min(day + 1, std::size_t{2}) * (random() % articles_a_day);
        proposed.push_back((day + 1) * articles_a_day - ago);
      }
      const auto row = rows.find(reader);
      history of = row == rows.end() ? history() : history(row->second);
      const auto chosen = of.choose(proposed, reader % 10 == 0 ? 100 : 10);
      rows[reader] = of.row();

      for (const std::uint64_t article : chosen) again += !exact[reader].insert(article).second;
      shown += chosen.size();
      // What came before the last one that was chosen, and is not known, was withheld.
      for (const std::uint64_t article : proposed) {
        if (!chosen.empty() && article == chosen.back()) break;
        if (exact[reader].insert(article).second) withheld++;
      }
    }
  }
  std::size_t packed = 0, ids = 0;
  for (const auto &row : rows) packed += row.second.size();
  for (const auto &articles : exact) ids += 8 * articles.size();
  std::printf("%zu readers read %zu articles in %zu days\n", readers, shown, days);
  std::printf("the histories take %zu bytes, lists of 8 bytes for each article %zu: saved %.1f %%\n", packed, ids,
              100 - 100 * static_cast<double>(packed) / static_cast<double>(ids));
  std::printf("%zu articles were shown again, %zu were withheld unread\n", again, withheld);
  return again == 0 && withheld * 50 <= shown ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "already_read: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
