// The header is C++17 by itself, with all warnings, and twice; its functions have C linkage.
#include <petal.h>

#include <petal.h>

#include <cstdint>
#include <cstdio>
#include <memory>

petal_status petal_test_second_file(petal_filter *filter);

struct Free {
  void operator()(petal_filter *filter) const { petal_filter_free(filter); }
};

int main() {
  std::unique_ptr<petal_filter, Free> seen(petal_filter_with_capacity(1000, 0.01));
  bool is_new = false;
  petal_status status = petal_filter_insert(seen.get(), "apple", 5, &is_new);
  bool right = status == PETAL_OK && is_new && petal_filter_contains(seen.get(), "apple", 5) &&
               !petal_filter_contains(seen.get(), "pear", 4) && petal_test_second_file(seen.get()) == PETAL_OK;
  const std::uint64_t numbers[] = {1, 2}, offsets[] = {0, 1, 3};
  const petal_keys forms[] = {petal_keys_u64(numbers, 2), petal_keys_hashes(numbers, 2),
                              petal_keys_bytes("abc", 3, offsets, 2)};
  for (const petal_keys &keys : forms) {
    petal_answers answers = {};
    answers.struct_size = sizeof answers;
    right = right && petal_filter_insert_batch(seen.get(), &keys, &answers, nullptr) == PETAL_OK &&
            answers.true_count == 2 && answers.done == 2;
  }
  // A struct is whole as `{}`, and by its macro.
  petal_error error = {}, sized = PETAL_ERROR_INIT;
  petal_spec spec = PETAL_SPEC_INIT, zero = {};
  spec.capacity = zero.capacity = 10;
  petal_filter *one = nullptr, *other = nullptr;
  right = right && sized.struct_size == sizeof sized && spec.struct_size == sizeof spec &&
          petal_filter_new(&spec, &one, &sized) == PETAL_OK && petal_filter_new(&zero, &other, &error) == PETAL_OK &&
          petal_filter_merge(one, seen.get(), &error) == PETAL_ERR_INCOMPATIBLE && error.message[0] != '\0';
  petal_filter_free(one);
  petal_filter_free(other);
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
