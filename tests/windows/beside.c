/* Petal's library next to another one made by Rust, which panics and recovers. */
#include <petal.h>
#include <stdio.h>

/* The neighbour's, which no header declares. */
int32_t neighbour_panic_and_recover(void);

int main(void) {
  petal_error error = PETAL_ERROR_INIT;
  petal_filter *filter = NULL;
  petal_spec spec = PETAL_SPEC_INIT;
  spec.capacity = 1000;
  for (int round = 0; round < 2; round++) {
    if (petal_filter_new(&spec, &filter, &error) != PETAL_OK) return 1;
    petal_filter_free(filter);
    if (neighbour_panic_and_recover() != 1) return 1;
  }
  printf("%lu\n", (unsigned long)petal_version_number());
  return 0;
}
