/* NULL for each pointer of petal_wire.h. */
#include "check.h"

static bool take(void *context, const void *piece, size_t length) {
  (void)context, (void)piece, (void)length;
  return true;
}

/* Every pointer that has to be there is asked for. */
int main(void) {
  petal_filter *filter = petal_filter_with_capacity(10, 0.01), *made = NULL;
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_APPROXIMATOR, .capacity = 10};
  petal_map *map = NULL, *made_map = NULL;
  char buffer[1000];
  size_t count = 0;
  CHECK_OK(petal_map_new(&spec, &map, NULL));
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
  NONE(petal_map_packed_size(NULL, &count, NULL));
  NONE(petal_map_packed_size(map, NULL, NULL));
  NONE(petal_map_pack(NULL, buffer, sizeof buffer, &count, NULL));
  NONE(petal_map_pack(map, NULL, 0, &count, NULL));
  NONE(petal_map_pack_to(NULL, take, NULL, NULL));
  NONE(petal_map_pack_to(map, NULL, NULL, NULL));
  NONE(petal_map_unpack(NULL, 0, 1000, NULL, &made_map, NULL));
  NONE(petal_map_unpack(buffer, 0, 1000, NULL, NULL, NULL));
  NONE(petal_map_delta_size(NULL, map, &count, NULL));
  NONE(petal_map_delta_size(map, NULL, &count, NULL));
  NONE(petal_map_delta_size(map, map, NULL, NULL));
  NONE(petal_map_delta(NULL, map, buffer, sizeof buffer, &count, NULL));
  NONE(petal_map_delta(map, NULL, buffer, sizeof buffer, &count, NULL));
  NONE(petal_map_delta(map, map, NULL, 0, &count, NULL));
  NONE(petal_map_delta_to(NULL, map, take, NULL, NULL));
  NONE(petal_map_delta_to(map, NULL, take, NULL, NULL));
  NONE(petal_map_delta_to(map, map, NULL, NULL, NULL));
  NONE(petal_map_patch(NULL, buffer, 0, 1000, NULL));
  NONE(petal_map_patch(map, NULL, 0, 1000, NULL));
  NONE(petal_wire_spec(10, 1000, 0, NULL, NULL));
  CHECK(made == NULL && made_map == NULL && count == 0);
  CHECK_OK(petal_filter_pack(filter, buffer, sizeof buffer, NULL, NULL));
  petal_filter_free(filter);
  petal_map_free(map);
  return check_done();
}
