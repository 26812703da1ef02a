/* What C fragments may use without declaring it. They may declare the same names again. */
#include <inttypes.h>
#include <petal.h>
#include <petal_inline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OUTER */

static int snippet(void) {
  enum { COUNT = 4 };
  petal_filter *filter = petal_filter_with_capacity(1000, 0.01);
  uint64_t keys[COUNT] = {2, 3, 5, 7};
  uint64_t array[COUNT] = {2, 3, 5, 7};
  uint8_t found_bytes[COUNT];
  size_t count = COUNT, n = COUNT, found = 0;
  petal_error error = {.struct_size = sizeof(petal_error)};
  {
    /* FRAGMENT */
  }
  petal_filter_free(filter);
  return 0;
}

int main(void) { return snippet(); }
