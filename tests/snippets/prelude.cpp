// What C++ fragments may use without declaring it. They may declare the same names again.
#include <petal.hpp>
#include <petal_view.hpp>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

/* OUTER */

int main() {
  const std::vector<std::uint64_t> ids = {2, 3, 5, 7};
  std::size_t found = 0;
  {
    /* FRAGMENT */
  }
  return 0;
}
