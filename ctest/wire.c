/* THE WIRE: packed forms and deltas of filters and maps, held to the images. */
#include "check.h"

enum { MOST = 1 << 20 };

/* A filter with check_key(i) for i below `keys`. */
static petal_filter *filter_with(uint64_t keys) {
  petal_filter *filter = petal_filter_with_capacity(10000, 0.01);
  for (uint64_t i = 0; i < keys; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
  return filter;
}

typedef struct {
  unsigned char bytes[MOST];
  size_t length;
} bytes;


static bool are_same(const petal_filter *filter, const petal_filter *other) {
  static bytes one, two;
  CHECK_OK(petal_filter_serialize(filter, one.bytes, sizeof one.bytes, &one.length, NULL));
  CHECK_OK(petal_filter_serialize(other, two.bytes, sizeof two.bytes, &two.length, NULL));
  return one.length == two.length && memcmp(one.bytes, two.bytes, one.length) == 0;
}

static bool append(void *context, const void *piece, size_t length) {
  bytes *all = context;
  if (all->length + length > sizeof all->bytes) return false;
  memcpy(all->bytes + all->length, piece, length);
  all->length += length;
  return true;
}

static bool refuse(void *context, const void *piece, size_t length) {
  (void)context, (void)piece, (void)length;
  return false;
}

static void test_packed(void) {
  static bytes packed, streamed;
  petal_filter *filter = filter_with(500), *back = NULL;
  uint64_t size = 0, image = 0;
  CHECK_OK(petal_filter_serialized_size(filter, &image, NULL));
  CHECK_OK(petal_filter_packed_size(filter, &size, NULL));
  CHECK_OK(petal_filter_pack(filter, packed.bytes, sizeof packed.bytes, &packed.length, NULL));
  CHECK_EQUAL(packed.length, size);
  CHECK(size < image / 3);
  CHECK_OK(petal_filter_pack(filter, packed.bytes, size, NULL, NULL));
  CHECK_STATUS(petal_filter_pack(filter, streamed.bytes, size - 1, NULL, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK_OK(petal_filter_pack_to(filter, append, &streamed, NULL));
  CHECK(streamed.length == size && memcmp(streamed.bytes, packed.bytes, size) == 0);
  CHECK_STATUS(petal_filter_pack_to(filter, refuse, NULL, NULL), PETAL_ERR_CALLBACK);

  CHECK_OK(petal_filter_unpack(packed.bytes, size, image, NULL, &back, NULL));
  CHECK(are_same(filter, back));
  petal_filter_free(back);
  back = NULL;
  CHECK_STATUS(petal_filter_unpack(packed.bytes, size, image - 1, NULL, &back, NULL), PETAL_ERR_TOO_LARGE);
  CHECK_STATUS(petal_filter_unpack(packed.bytes, size - 1, image, NULL, &back, NULL), PETAL_ERR_CORRUPT);
  CHECK_STATUS(petal_filter_unpack(packed.bytes, 3, image, NULL, &back, NULL), PETAL_ERR_TRUNCATED);
  CHECK_STATUS(petal_filter_unpack("x", 1, image, NULL, &back, NULL), PETAL_ERR_FOREIGN);
  packed.bytes[size / 2] ^= 1;
  CHECK_STATUS(petal_filter_unpack(packed.bytes, size, image, NULL, &back, NULL), PETAL_ERR_CORRUPT);
  CHECK(back == NULL);
  petal_filter_free(filter);
}

static void test_delta(void) {
  static bytes delta, streamed;
  petal_filter *older = filter_with(500), *newer = filter_with(510), *before = filter_with(500);
  petal_filter *other = petal_filter_with_capacity(20000, 0.01);
  uint64_t size = 0;
  CHECK_OK(petal_filter_delta_size(older, newer, &size, NULL));
  CHECK_OK(petal_filter_delta(older, newer, delta.bytes, sizeof delta.bytes, &delta.length, NULL));
  CHECK_EQUAL(delta.length, size);
  CHECK(size < 200);
  CHECK_STATUS(petal_filter_delta(older, newer, streamed.bytes, size - 1, NULL, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK_OK(petal_filter_delta_to(older, newer, append, &streamed, NULL));
  CHECK(streamed.length == size && memcmp(streamed.bytes, delta.bytes, size) == 0);
  CHECK_STATUS(petal_filter_delta_to(older, newer, refuse, NULL, NULL), PETAL_ERR_CALLBACK);
  CHECK_STATUS(petal_filter_delta(older, other, delta.bytes, sizeof delta.bytes, NULL, NULL), PETAL_ERR_INCOMPATIBLE);

  CHECK_STATUS(petal_filter_patch(newer, streamed.bytes, size, MOST, NULL), PETAL_ERR_INCOMPATIBLE);
  CHECK_STATUS(petal_filter_patch(older, streamed.bytes, size - 1, MOST, NULL), PETAL_ERR_CORRUPT);
  CHECK_STATUS(petal_filter_patch(older, streamed.bytes, size, 100, NULL), PETAL_ERR_TOO_LARGE);
  CHECK(are_same(older, before));
  CHECK_OK(petal_filter_patch(older, streamed.bytes, size, MOST, NULL));
  CHECK(are_same(older, newer));
  /* The handle goes on with its new payload. */
  for (uint64_t i = 0; i < 510; i++) CHECK(petal_filter_contains_u64(older, check_key(i)));
  CHECK_OK(petal_filter_insert_u64(older, check_key(510), NULL));
  CHECK(petal_filter_contains_u64(older, check_key(510)));
  petal_filter_free(older);
  petal_filter_free(newer);
  petal_filter_free(before);
  petal_filter_free(other);
}

static bool are_same_maps(const petal_map *map, const petal_map *other) {
  static bytes one, two;
  CHECK_OK(petal_map_serialize(map, one.bytes, sizeof one.bytes, &one.length, NULL));
  CHECK_OK(petal_map_serialize(other, two.bytes, sizeof two.bytes, &two.length, NULL));
  return one.length == two.length && memcmp(one.bytes, two.bytes, one.length) == 0;
}

static void test_maps(void) {
  static bytes packed, streamed, delta;
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_APPROXIMATOR, .capacity = 1000};
  petal_map *older = NULL, *newer = NULL, *back = NULL;
  petal_filter *filter = NULL;
  uint64_t size = 0, image = 0;
  CHECK_OK(petal_map_new(&spec, &older, NULL));
  for (uint64_t i = 0; i < 50; i++) CHECK_OK(petal_map_put_u64(older, check_key(i), i, NULL));
  CHECK_OK(petal_map_copy(older, &newer, NULL));
  CHECK_OK(petal_map_put_u64(newer, check_key(50), 9, NULL));
  CHECK_OK(petal_map_serialized_size(newer, &image, NULL));

  CHECK_OK(petal_map_packed_size(newer, &size, NULL));
  CHECK_OK(petal_map_pack(newer, packed.bytes, sizeof packed.bytes, &packed.length, NULL));
  CHECK(packed.length == size && size < image / 2);
  CHECK_STATUS(petal_map_pack(newer, streamed.bytes, size - 1, NULL, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK_OK(petal_map_pack_to(newer, append, &streamed, NULL));
  CHECK(streamed.length == size && memcmp(streamed.bytes, packed.bytes, size) == 0);
  CHECK_STATUS(petal_map_pack_to(newer, refuse, NULL, NULL), PETAL_ERR_CALLBACK);
  CHECK_OK(petal_map_unpack(packed.bytes, size, image, NULL, &back, NULL));
  CHECK(are_same_maps(newer, back));
  petal_map_free(back);
  back = NULL;
  CHECK_STATUS(petal_map_unpack(packed.bytes, size, image - 1, NULL, &back, NULL), PETAL_ERR_TOO_LARGE);
  CHECK_STATUS(petal_map_unpack(packed.bytes, size - 1, image, NULL, &back, NULL), PETAL_ERR_CORRUPT);
  CHECK_STATUS(petal_filter_unpack(packed.bytes, size, image, NULL, &filter, NULL), PETAL_ERR_UNSUPPORTED);
  CHECK(back == NULL && filter == NULL);

  CHECK_OK(petal_map_delta_size(older, newer, &size, NULL));
  CHECK_OK(petal_map_delta(older, newer, delta.bytes, sizeof delta.bytes, &delta.length, NULL));
  CHECK(delta.length == size && size < 200);
  streamed.length = 0;
  CHECK_OK(petal_map_delta_to(older, newer, append, &streamed, NULL));
  CHECK(streamed.length == size && memcmp(streamed.bytes, delta.bytes, size) == 0);
  CHECK_STATUS(petal_map_delta_to(older, newer, refuse, NULL, NULL), PETAL_ERR_CALLBACK);
  CHECK_STATUS(petal_map_patch(newer, delta.bytes, size, MOST, NULL), PETAL_ERR_INCOMPATIBLE);
  CHECK_STATUS(petal_map_patch(older, delta.bytes, size, 100, NULL), PETAL_ERR_TOO_LARGE);
  CHECK_OK(petal_map_patch(older, delta.bytes, size, MOST, NULL));
  CHECK(are_same_maps(older, newer));
  petal_map_free(older);
  petal_map_free(newer);
}

/* For the same bytes on the wire a larger filter with fewer hashes has fewer false answers. */
static void test_sparse(void) {
  petal_spec spec = {.struct_size = sizeof spec};
  petal_spec dense = {.struct_size = sizeof dense, .kind = PETAL_KIND_BLOOM, .capacity = 10000, .bits = 80000};
  petal_filter *filter = NULL;
  double rate = 0, dense_rate = 0;
  uint64_t size = 0, image = 0;
  CHECK_OK(petal_wire_get_spec(10000, 10000, 20000, &spec, NULL));
  CHECK(spec.kind == PETAL_KIND_BLOOM && spec.capacity == 10000 && spec.bits > 80000 && spec.hashes < 5);
  CHECK_OK(petal_spec_expected_false_positive_rate(&spec, 10000, &rate, NULL));
  CHECK_OK(petal_spec_expected_false_positive_rate(&dense, 10000, &dense_rate, NULL));
  CHECK(rate < 0.85 * dense_rate);
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  for (uint64_t i = 0; i < 10000; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
  CHECK_OK(petal_filter_packed_size(filter, &size, NULL));
  CHECK_OK(petal_filter_serialized_size(filter, &image, NULL));
  CHECK(size <= 10300 && image <= 20000);
  petal_filter_free(filter);
  /* More memory, fewer false answers. */
  CHECK_OK(petal_wire_get_spec(10000, 10000, 0, &spec, NULL));
  CHECK_EQUAL(spec.hashes, 1);
  CHECK_STATUS(petal_wire_get_spec(10000, 10, 0, &spec, NULL), PETAL_ERR_TOO_LARGE);
}

int main(void) {
  test_packed();
  test_delta();
  test_maps();
  test_sparse();
  return check_done();
}
