// A join with the filters pushed down to the scan. "What did customers of one region spend on products of one brand?"
// joins a large table of sales with the few customers and the few products that qualify. Each side of the join first
// makes a filter of its keys; the scan of the sales asks one after the other, a batch of rows at a time, and only rows
// that pass both go on to the exact hash tables.
//
//     join_pushdown
#include <petal.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace {

constexpr std::size_t sales = 2'000'000, customers = 1'000'000, products = 50'000, batch = 1024;

// A table by columns, as engines have it: numbers in one array, texts in one piece with offsets.
struct sales_table {
  std::vector<std::uint64_t> customer;
  std::string product;
  std::vector<std::uint64_t> product_offsets{0};
  std::vector<std::uint32_t> cents;

  std::string_view product_of(std::size_t row) const {
    const auto begin = product_offsets[row], end = product_offsets[row + 1];
    return std::string_view(product).substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
};

struct figures {
  std::uint64_t cents = 0, rows = 0, probed = 0;
  double seconds = 0;
};

std::string product_name(std::uint64_t number) { return "product/" + std::to_string(number * 7919 % 1000003); }

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Scan>
figures timed(Scan &&scan) {
  figures found;
  const double start = now();
  scan(found);
  found.seconds = now() - start;
  return found;
}

void print(const char *name, const figures &found) {
  std::printf("%-16s %8llu rows to the hash tables, %6llu joined, %5.1f ns a row\n", name,
              static_cast<unsigned long long>(found.probed), static_cast<unsigned long long>(found.rows),
              1e9 * found.seconds / static_cast<double>(sales));
}

int run() {
  std::mt19937_64 random(1);
  sales_table table;
  for (std::size_t row = 0; row < sales; row++) {
    table.customer.push_back(random() % customers);
    table.product += product_name(random() % products);
    table.product_offsets.push_back(table.product.size());
    table.cents.push_back(static_cast<std::uint32_t>(random() % 10000));
  }

  // What the other sides' own conditions leave: a tenth of the customers, a fiftieth of the products.
  std::unordered_set<std::uint64_t> region;
  std::unordered_set<std::string> brand;
  for (std::uint64_t i = 0; i < customers; i += 10) region.insert(i);
  for (std::uint64_t i = 0; i < products; i += 50) brand.insert(product_name(i));

  const auto join = [&](std::size_t row, figures &found) {
    found.probed++;
    if (region.count(table.customer[row]) == 0) return;
    if (brand.count(std::string(table.product_of(row))) == 0) return;
    found.cents += table.cents[row];
    found.rows++;
  };

  const auto plain = timed([&](figures &found) {
    for (std::size_t row = 0; row < sales; row++) join(row, found);
  });

  const double start = now();
  const auto spec = petal::spec().false_positive_rate(0.01);
  petal::builder customer_keys(spec), product_keys(spec);
  for (const auto key : region) customer_keys.add(key);
  for (const auto &key : brand) product_keys.add(key);
  const petal::filter by_customer = customer_keys.finish(), by_product = product_keys.finish();
  const double building = now() - start;

  const auto pushed = timed([&](figures &found) {
    std::vector<std::size_t> rows;
    petal::key_buffer names;
    std::array<std::uint8_t, batch> passes{};
    for (std::size_t begin = 0; begin < sales; begin += batch) {
      // The column of numbers is used where it lies.
      const auto numbers = petal::keys::of_u64(table.customer.data() + begin, std::min(batch, sales - begin));
      if (by_customer.contains_batch(numbers, passes) == 0) continue;
      // The texts of the rows that are left are gathered, into the same memory each time.
      rows.clear();
      names.clear();
      for (std::size_t i = 0; i < numbers.size(); i++) {
        if (passes[i] == 0) continue;
        rows.push_back(begin + i);
        names.add(table.product_of(begin + i));
      }
      if (by_product.contains_batch(names, passes) == 0) continue;
      for (std::size_t i = 0; i < rows.size(); i++) {
        if (passes[i] != 0) join(rows[i], found);
      }
    }
  });

  std::printf("%zu sales; %zu customers and %zu products qualify; filters of %llu and %llu bytes, made in %.1f ms\n",
              sales, region.size(), brand.size(), static_cast<unsigned long long>(by_customer.serialized_size()),
              static_cast<unsigned long long>(by_product.serialized_size()), 1e3 * building);
  print("hash tables only", plain);
  print("filters first", pushed);
  const bool same = plain.cents == pushed.cents && plain.rows == pushed.rows;
  std::printf("%.2f %% of the rows reached the hash tables; the sums are %s\n",
              100 * static_cast<double>(pushed.probed) / static_cast<double>(sales), same ? "the same" : "different");
  return same && pushed.probed < plain.probed / 10 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "join_pushdown: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
