/* What C fragments may use without declaring it. They may declare the same names again. */
#include <inttypes.h>
#include <petal.h>
#include <petal_formats.h>
#include <petal_index.h>
#include <petal_inline.h>
#include <petal_map.h>
#include <petal_more.h>
#include <petal_policy.h>
#include <petal_router.h>
#include <petal_aggregate.h>
#include <petal_session.h>
#include <petal_digest.h>
#include <petal_wire.h>
#include <petal_sketch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OUTER */

static int snippet(void) {
  enum { COUNT = 4 };
  petal_filter *filter = petal_filter_with_capacity(1000, 0.01);
  uint64_t numbers[COUNT] = {2, 3, 5, 7}, keys[COUNT] = {2, 3, 5, 7};
  size_t count = COUNT, hits = 0;
  uint8_t found[COUNT];
  petal_error error = {.struct_size = sizeof(petal_error)};
  {
    /* FRAGMENT */
  }
  petal_filter_free(filter);
  return 0;
}

int main(void) { return snippet(); }
