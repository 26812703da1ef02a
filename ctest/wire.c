/* THE WIRE: packed forms and deltas, held to the images. */
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
  size_t size = 0;
  uint64_t image = 0;
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
  petal_filter *from = filter_with(500), *to = filter_with(510), *before = filter_with(500);
  petal_filter *other = petal_filter_with_capacity(20000, 0.01);
  size_t size = 0;
  CHECK_OK(petal_filter_delta_size(from, to, &size, NULL));
  CHECK_OK(petal_filter_delta(from, to, delta.bytes, sizeof delta.bytes, &delta.length, NULL));
  CHECK_EQUAL(delta.length, size);
  CHECK(size < 200);
  CHECK_STATUS(petal_filter_delta(from, to, streamed.bytes, size - 1, NULL, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK_OK(petal_filter_delta_to(from, to, append, &streamed, NULL));
  CHECK(streamed.length == size && memcmp(streamed.bytes, delta.bytes, size) == 0);
  CHECK_STATUS(petal_filter_delta_to(from, to, refuse, NULL, NULL), PETAL_ERR_CALLBACK);
  CHECK_STATUS(petal_filter_delta(from, other, delta.bytes, sizeof delta.bytes, NULL, NULL), PETAL_ERR_INCOMPATIBLE);

  CHECK_STATUS(petal_filter_patch(to, streamed.bytes, size, MOST, NULL), PETAL_ERR_INCOMPATIBLE);
  CHECK_STATUS(petal_filter_patch(from, streamed.bytes, size - 1, MOST, NULL), PETAL_ERR_CORRUPT);
  CHECK_STATUS(petal_filter_patch(from, streamed.bytes, size, 100, NULL), PETAL_ERR_TOO_LARGE);
  CHECK(are_same(from, before));
  CHECK_OK(petal_filter_patch(from, streamed.bytes, size, MOST, NULL));
  CHECK(are_same(from, to));
  /* The handle goes on with its new payload. */
  for (uint64_t i = 0; i < 510; i++) CHECK(petal_filter_contains_u64(from, check_key(i)));
  CHECK_OK(petal_filter_insert_u64(from, check_key(510), NULL));
  CHECK(petal_filter_contains_u64(from, check_key(510)));
  petal_filter_free(from);
  petal_filter_free(to);
  petal_filter_free(before);
  petal_filter_free(other);
}

int main(void) {
  test_packed();
  test_delta();
  return check_done();
}
