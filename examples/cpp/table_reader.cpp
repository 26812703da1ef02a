// A log of visits, kept as one table file a day. "On which days did this visitor come, and what did they spend?" would
// read every file; a filter for each file says which need no reading.
//
//     table_reader [FOLDER]        writes day-00.table, day-00.petal and so on into FOLDER (.), then answers queries
#include <petal.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace shop {

struct visitor {
  std::uint32_t country;
  std::uint32_t number;
};

// The key of a visitor, for all filters.
inline std::uint64_t petal_key(const visitor &v) noexcept { return std::uint64_t{v.country} << 32 | v.number; }

struct visit {
  visitor who;
  std::uint64_t cents;
};

}  // namespace shop

namespace {

constexpr std::size_t days = 30, visits_a_day = 20000, queries = 400;

// A table, read only when it must be: the filter is mapped, so opening a day touches one page of it.
class table {
 public:
  static void write(const std::string &name, const std::vector<shop::visit> &visits) {
    std::ofstream out(name + ".table", std::ios::binary);
    out.write(reinterpret_cast<const char *>(visits.data()),
              static_cast<std::streamsize>(visits.size() * sizeof visits[0]));
    if (!out.flush()) throw std::system_error(errno, std::generic_category(), name);
    petal::builder keys(petal::spec().false_positive_rate(0.01));
    for (const auto &visit : visits) keys.add(visit.who);
    keys.save(name + ".petal");
  }

  explicit table(std::string name) : name_(std::move(name)), keys_(petal::filter::open(name_ + ".petal")) {}

  const petal::filter &keys() const noexcept { return keys_; }

  std::vector<shop::visit> read() const {
    std::ifstream in(name_ + ".table", std::ios::binary | std::ios::ate);
    std::vector<shop::visit> visits(static_cast<std::size_t>(in.tellg()) / sizeof(shop::visit));
    in.seekg(0);
    in.read(reinterpret_cast<char *>(visits.data()), static_cast<std::streamsize>(visits.size() * sizeof visits[0]));
    if (!in) throw std::system_error(errno, std::generic_category(), name_);
    return visits;
  }

 private:
  std::string name_;
  petal::filter keys_;
};

struct cost {
  std::size_t files = 0, bytes = 0, useless = 0;
};

// What a visitor spent on all days. All filters have one hash function and seed, so the key is hashed once.
std::uint64_t spent(const std::vector<table> &tables, shop::visitor who, bool ask_filters, cost &cost) {
  std::uint64_t cents = 0;
  const petal::hash64 hash = tables.front().keys().hash(who);
  for (const auto &day : tables) {
    if (ask_filters && !day.keys().contains(hash)) continue;
    bool came = false;
    const auto visits = day.read();
    for (const auto &visit : visits) {
      if (petal_key(visit.who) != petal_key(who)) continue;
      cents += visit.cents;
      came = true;
    }
    cost.files++;
    cost.bytes += visits.size() * sizeof visits[0];
    cost.useless += !came;
  }
  return cents;
}

int run(const std::string &folder) {
  // Visitors come now and then: a few often, most of them rarely.
  std::mt19937_64 random(1);
  std::unordered_map<std::uint64_t, std::uint64_t> truth;
  std::vector<shop::visitor> asked;
  std::vector<table> tables;
  std::uint64_t filter_bytes = 0;
  for (std::size_t day = 0; day < days; day++) {
    std::vector<shop::visit> visits;
    for (std::size_t i = 0; i < visits_a_day; i++) {
      const std::uint64_t rank = random() % 1000, number = random() % (rank < 10 ? 1000 : 2000000);
      const shop::visit visit{{static_cast<std::uint32_t>(rank % 7), static_cast<std::uint32_t>(number)},
                             random() % 5000};
      truth[petal_key(visit.who)] += visit.cents;
      visits.push_back(visit);
      // Half of the queries ask for visitors who came.
      if (asked.size() < queries / 2 && random() % (days * visits_a_day / queries) == 0) asked.push_back(visit.who);
    }
    const std::string name = folder + (day < 10 ? "/day-0" : "/day-") + std::to_string(day);
    table::write(name, visits);
    tables.emplace_back(name);
    filter_bytes += tables.back().keys().serialized_size();
  }
  while (asked.size() < queries) asked.push_back({8, static_cast<std::uint32_t>(random())});

  std::printf("%zu days of %zu visits; filters of %llu bytes in all; %zu visitors asked for\n", days, visits_a_day,
              static_cast<unsigned long long>(filter_bytes), asked.size());
  std::size_t wrong = 0;
  cost without, with;
  for (const auto who : asked) {
    const auto known = truth.find(petal_key(who));
    const std::uint64_t expected = known == truth.end() ? 0 : known->second;
    wrong += spent(tables, who, true, with) != expected;
    // Reading everything always takes the same, so a few queries say enough.
    if (without.files < 10 * days) wrong += spent(tables, who, false, without) != expected;
  }
  const double per_query = 10, all = static_cast<double>(asked.size());
  std::printf("without filters  %6.2f files and %8.0f bytes read a query\n",
              static_cast<double>(without.files) / per_query, static_cast<double>(without.bytes) / per_query);
  std::printf("with filters     %6.2f files and %8.0f bytes read a query\n", static_cast<double>(with.files) / all,
              static_cast<double>(with.bytes) / all);
  const std::size_t skippable = asked.size() * days - (with.files - with.useless);
  std::printf("files read for nothing: %zu of %zu that could be skipped, %.2f %%; wrong answers: %zu\n", with.useless,
              skippable, 100 * static_cast<double>(with.useless) / static_cast<double>(skippable), wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : ".");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "table_reader: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
