/* The header is C99 by itself, with all warnings, before any other header, and twice. */
#include <petal.h>

#include <petal.h>

#include <stdio.h>

/* What the library is compared with elsewhere: no padding that differs, no type that is not of a fixed width. */
typedef char status_has_32_bits[sizeof(petal_status) == 4 ? 1 : -1];
typedef char error_has_no_padding[sizeof(petal_error) == sizeof(size_t) + 8 + PETAL_ERROR_MESSAGE_SIZE ? 1 : -1];

/* The example in the header's first comment, and keys that the header itself makes. */
int main(void) {
  petal_filter *seen = petal_filter_with_capacity(1000000, 0.01);
  petal_filter_insert(seen, "apple", 5, NULL);
  bool apple = petal_filter_contains(seen, "apple", 5);
  bool pear = petal_filter_contains(seen, "pear", 4);
  const uint64_t numbers[] = {1, 2};
  petal_keys keys = petal_keys_u64(numbers, 2);
  petal_answers answers = {.struct_size = sizeof answers};
  apple = apple && petal_filter_insert_batch(seen, &keys, &answers, NULL) == PETAL_OK && answers.true_count == 2;
  petal_filter_free(seen);
  puts(apple && !pear ? "apple: maybe, pear: no" : "wrong");
  return apple && !pear ? 0 : 1;
}
