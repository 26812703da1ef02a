/* NULL for each pointer of petal_wire.h. */
#include "check.h"

static bool take(void *context, const void *piece, size_t length) {
  (void)context, (void)piece, (void)length;
  return true;
}

/* Every pointer that has to be there is asked for. */
int main(void) {
  petal_filter *filter = petal_filter_with_capacity(10, 0.01), *made = NULL;
  char buffer[1000];
  size_t count = 0;
#define NONE(call) CHECK_STATUS(call, PETAL_ERR_NULL)
  NONE(petal_filter_packed_size(NULL, &count, NULL));
  NONE(petal_filter_packed_size(filter, NULL, NULL));
  NONE(petal_filter_pack(NULL, buffer, sizeof buffer, &count, NULL));
  NONE(petal_filter_pack(filter, NULL, 0, &count, NULL));
  NONE(petal_filter_pack_to(NULL, take, NULL, NULL));
  NONE(petal_filter_pack_to(filter, NULL, NULL, NULL));
  NONE(petal_filter_unpack(NULL, 0, 1000, NULL, &made, NULL));
  NONE(petal_filter_unpack(buffer, 0, 1000, NULL, NULL, NULL));
  NONE(petal_filter_delta_size(NULL, filter, &count, NULL));
  NONE(petal_filter_delta_size(filter, NULL, &count, NULL));
  NONE(petal_filter_delta_size(filter, filter, NULL, NULL));
  NONE(petal_filter_delta(NULL, filter, buffer, sizeof buffer, &count, NULL));
  NONE(petal_filter_delta(filter, NULL, buffer, sizeof buffer, &count, NULL));
  NONE(petal_filter_delta(filter, filter, NULL, 0, &count, NULL));
  NONE(petal_filter_delta_to(NULL, filter, take, NULL, NULL));
  NONE(petal_filter_delta_to(filter, NULL, take, NULL, NULL));
  NONE(petal_filter_delta_to(filter, filter, NULL, NULL, NULL));
  NONE(petal_filter_patch(NULL, buffer, 0, 1000, NULL));
  NONE(petal_filter_patch(filter, NULL, 0, 1000, NULL));
  CHECK(made == NULL && count == 0);
  CHECK_OK(petal_filter_pack(filter, buffer, sizeof buffer, NULL, NULL));
  petal_filter_free(filter);
  return check_done();
}
