/* FILTERS: MAKING AND FREEING */
#include "check.h"

static void with_capacity(void) {
  static const double wrong[] = {0, 1, -0.5, 1.5};
  for (size_t i = 0; i < 4; i++) CHECK(petal_filter_with_capacity(100, wrong[i]) == NULL);
  CHECK(petal_filter_with_capacity(UINT64_MAX, 1e-9) == NULL);

  /* Zero keys are sized like one, and an empty filter is a filter. */
  petal_filter *none = petal_filter_with_capacity(0, 0.01), *one = petal_filter_with_capacity(1, 0.01);
  CHECK(none != NULL && one != NULL);
  CHECK(check_same_bits(none, one));
  CHECK(!petal_filter_contains(none, "apple", 5));
  CHECK_OK(petal_filter_insert(none, "apple", 5, NULL));
  CHECK(petal_filter_contains(none, "apple", 5));
  petal_filter_free(none);
  petal_filter_free(one);
}

static void in_buffer(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 1000};
  petal_filter *owned = NULL, *placed = NULL, *opened = NULL, *untouched = NULL;
  CHECK_OK(petal_filter_new(&spec, &owned, NULL));
  uint64_t size = 0;
  CHECK_OK(petal_spec_image_size(&spec, &size, NULL));

  /* The image is exactly as large as was said: what lies behind it stays. */
  size_t room = (size_t)size + 16;
  unsigned char *buffer = malloc(room), *before = malloc(room);
  memset(buffer, 0xee, room);
  memcpy(before, buffer, room);
  CHECK_STATUS(petal_filter_new_in_buffer(&spec, buffer, (size_t)size - 1, &untouched, NULL),
               PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK_STATUS(petal_filter_new_in_buffer(&spec, buffer + 4, (size_t)size + 8, &untouched, NULL),
               PETAL_ERR_MISALIGNED);
  CHECK(memcmp(buffer, before, room) == 0 && untouched == NULL);
  if (!check_is_writable(kind)) {
    /* What moves entries is not written where it lies. */
    CHECK_STATUS(petal_filter_new_in_buffer(&spec, buffer, room, &placed, NULL), PETAL_ERR_UNSUPPORTED);
    CHECK(memcmp(buffer, before, room) == 0 && placed == NULL);
    free(buffer);
    free(before);
    petal_filter_free(owned);
    return;
  }
  CHECK_OK(petal_filter_new_in_buffer(&spec, buffer, room, &placed, NULL));
  CHECK(check_same_bits(owned, placed));
  for (size_t i = (size_t)size; i < room; i++) CHECK_EQUAL(buffer[i], 0xee);

  for (uint64_t i = 0; i < 500; i++) {
    CHECK_OK(petal_filter_insert_u64(owned, i, NULL));
    CHECK_OK(petal_filter_insert_u64(placed, i, NULL));
  }
  CHECK(check_same_bits(owned, placed));

  /* Once it is brought up to date, the buffer is the filter's image. */
  CHECK_OK(petal_filter_sync(placed, NULL));
  check_image image = check_take_image(owned);
  CHECK(memcmp(buffer, image.bytes, image.length) == 0);
  CHECK_OK(petal_filter_open_in_buffer(buffer, room, NULL, &opened, NULL));
  CHECK(check_same_bits(owned, opened));
  petal_filter_free(opened);
  free(image.bytes);

  /* Freeing brings it up to date too. */
  CHECK_OK(petal_filter_insert_u64(owned, 500, NULL));
  CHECK_OK(petal_filter_insert_u64(placed, 500, NULL));
  petal_filter_free(placed);
  image = check_take_image(owned);
  CHECK(memcmp(buffer, image.bytes, image.length) == 0);
  free(image.bytes);
  free(buffer);
  free(before);
  petal_filter_free(owned);
}

/* A kind that takes no keys cannot be made empty: a builder makes it. */
static void only_built(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 1000};
  petal_error error = {.struct_size = sizeof error};
  petal_filter *none = NULL;
  uint64_t buffer[64] = {0}, size = 4711;
  CHECK_STATUS(petal_filter_new(&spec, &none, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "builder");
  CHECK_STATUS(petal_filter_new_in_buffer(&spec, buffer, sizeof buffer, &none, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "builder");
  CHECK_STATUS(petal_spec_image_size(&spec, &size, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(none == NULL && buffer[0] == 0 && size == 4711);
}

static void copies(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 1000};
  petal_filter *original = check_filled(&spec, 0, 300), *copy = NULL;
  CHECK_OK(petal_filter_copy(original, &copy, NULL));
  CHECK(check_same_bits(original, copy));
  CHECK_EQUAL(check_keys(copy), 300);

  /* They are two filters from now on. */
  check_image image = check_take_image(original);
  uint64_t keys = check_can(kind, PETAL_CAN_INSERT) ? 600 : 300;
  for (uint64_t i = 300; i < keys; i++) CHECK_OK(petal_filter_insert_u64(copy, check_key(i), NULL));
  CHECK(check_same_image(original, image));
  CHECK(check_same_bits(original, copy) == (keys == 300));
  petal_filter_free(original);
  CHECK(check_holds(copy, 0, keys));
  free(image.bytes);
  petal_filter_free(copy);
}

/* 2^26 bits lie on huge pages, and every size between works the same; 4096 are enough for every kind. */
static void sizes(petal_kind kind) {
  for (uint64_t bits = 4096; bits <= UINT64_C(1) << 26; bits *= 4) {
    /* Kinds whose sizes follow from their keys may have powers of two only. */
    uint64_t capacity = bits / (check_kind_info(kind).bits_unit > 0 ? 10 : 80);
    petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .bits = bits, .capacity = capacity};
    petal_filter *filter = NULL;
    CHECK_OK(petal_filter_new(&spec, &filter, NULL));
    for (uint64_t i = 0; i < 20; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
    for (uint64_t i = 0; i < 20; i++) CHECK(petal_filter_contains_u64(filter, check_key(i)));
    petal_filter_free(filter);
  }
}

int main(void) {
  with_capacity();
  for (size_t k = 0; k < check_kind_count(); k++) {
    copies(check_kind(k));
    if (check_can(check_kind(k), PETAL_CAN_INSERT)) {
      in_buffer(check_kind(k));
      sizes(check_kind(k));
    } else {
      only_built(check_kind(k));
    }
  }
  petal_filter_free(NULL);
  return check_done();
}
