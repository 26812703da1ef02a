// One file without exceptions in a program that otherwise has them.
#include <petal.hpp>

#include <vector>

bool built_without_exceptions();

bool built_without_exceptions() {
  static_assert(!PETAL_HPP_EXCEPTIONS);
  int calls = 0;
  auto builder = petal::builder::try_make(petal::spec(), petal::builder_options().progress(
      [&](std::uint64_t, std::uint64_t) { return ++calls > 0; }));
  if (!builder || !builder->try_add_batch(std::vector<std::uint64_t>{1, 2, 3})) return false;
  const auto made = builder->try_finish();
  return made && made->contains(3) && calls > 0;
}
