/* FILTERS: COMBINING */
#include "check.h"

static petal_filter *make(const petal_spec *spec, uint64_t from, uint64_t to) {
  return check_filled(spec, from, to);
}

/* Keys that both have are there twice, where that is counted. */
static void merge(const petal_spec *spec) {
  bool counts = check_counts(spec->kind), is_canonical = check_has(spec->kind, PETAL_IS_CANONICAL);
  uint64_t from = counts ? 600 : 400;
  petal_filter *a = make(spec, 0, 600), *b = make(spec, from, 1000), *both = make(spec, 0, 1000);
  check_image other = check_take_image(b);
  CHECK_OK(petal_filter_merge(a, b, NULL));
  CHECK(check_same_bits(a, both) || !is_canonical);
  for (uint64_t i = 0; i < 1000; i++) CHECK(petal_filter_contains_u64(a, check_key(i)));
  CHECK_EQUAL(check_keys(a), 600 + 1000 - from);
  CHECK(check_same_image(b, other));

  /* Merged with an empty one a filter stays what it is, and merged with itself too unless keys are counted. */
  petal_filter *empty = make(spec, 0, 0);
  check_image before = check_take_image(a);
  CHECK_OK(petal_filter_merge(a, empty, NULL));
  CHECK(check_same_image(a, before));
  free(before.bytes);
  petal_filter *once = NULL;
  CHECK_OK(petal_filter_copy(a, &once, NULL));
  CHECK_OK(petal_filter_merge(a, a, NULL));
  CHECK(check_same_bits(a, once) == !counts);
  petal_filter_free(once);
  free(other.bytes);
  petal_filter_free(a);
  petal_filter_free(b);
  petal_filter_free(both);
  petal_filter_free(empty);
}

static void intersect(const petal_spec *spec) {
  petal_filter *a = make(spec, 0, 600), *b = make(spec, 400, 1000), *copy = NULL;
  CHECK_OK(petal_filter_copy(a, &copy, NULL));
  CHECK_OK(petal_filter_intersect(a, b, NULL));
  CHECK_EQUAL(check_keys(a), 600);
  for (uint64_t i = 400; i < 600; i++) CHECK(petal_filter_contains_u64(a, check_key(i)));
  for (uint64_t i = 0; i < 5000; i++) {
    uint64_t key = check_key(i);
    if (petal_filter_contains_u64(a, key)) {
      CHECK(petal_filter_contains_u64(copy, key) && petal_filter_contains_u64(b, key));
    }
  }
  CHECK_OK(petal_filter_intersect(copy, copy, NULL));
  CHECK_EQUAL(check_keys(copy), 600);
  petal_filter *empty = make(spec, 0, 0), *nothing = make(spec, 0, 0);
  CHECK_OK(petal_filter_intersect(copy, empty, NULL));
  CHECK(check_same_bits(copy, nothing));
  petal_filter_free(a);
  petal_filter_free(b);
  petal_filter_free(copy);
  petal_filter_free(empty);
  petal_filter_free(nothing);
}

static void clear(const petal_spec *spec) {
  petal_filter *a = make(spec, 0, 600), *empty = make(spec, 0, 0);
  CHECK(!check_same_bits(a, empty));
  CHECK_OK(petal_filter_clear(a, NULL));
  CHECK(check_same_bits(a, empty));
  CHECK_EQUAL(check_keys(a), 0);
  petal_filter_free(a);
  petal_filter_free(empty);
}

/* A folded filter is what it would have been if it had been made that small from the beginning. */
static void fold(const petal_spec *large, uint64_t factor) {
  petal_filter *folded = make(large, 0, 300);
  petal_spec small = {.struct_size = sizeof small};
  CHECK_OK(petal_filter_get_spec(folded, &small, NULL));
  small.bits /= factor;
  petal_filter *direct = make(&small, 0, 300);
  CHECK_OK(petal_filter_fold(folded, factor, NULL));
  CHECK(check_same_bits(folded, direct));
  CHECK_EQUAL(check_keys(folded), 300);
  for (uint64_t i = 0; i < 300; i++) CHECK(petal_filter_contains_u64(folded, check_key(i)));

  /* Its spec makes a filter that combines with it, and it can be saved and loaded. */
  petal_spec spec = {.struct_size = sizeof spec};
  petal_filter *twin = NULL, *loaded = NULL;
  CHECK_OK(petal_filter_get_spec(folded, &spec, NULL));
  CHECK_OK(petal_filter_new(&spec, &twin, NULL));
  CHECK_OK(petal_filter_merge(twin, folded, NULL));
  check_image image = check_take_image(folded);
  CHECK_OK(petal_filter_load(image.bytes, image.length, NULL, &loaded, NULL));
  CHECK(check_same_bits(loaded, folded));
  free(image.bytes);
  petal_filter_free(folded);
  petal_filter_free(direct);
  petal_filter_free(twin);
  petal_filter_free(loaded);
}

static void fold_refusals(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .bits = 512 * 15, .capacity = 300};
  petal_filter *filter = make(&spec, 0, 100);
  check_image image = check_take_image(filter);
  static const uint64_t wrong[] = {0, 1, 7, 256 * 15 + 1, UINT64_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_STATUS(petal_filter_fold(filter, wrong[i], NULL), PETAL_ERR_OUT_OF_RANGE);
  }
  CHECK(check_same_image(filter, image));
  CHECK_OK(petal_filter_fold(filter, 5, NULL));
  CHECK_OK(petal_filter_fold(filter, 3, NULL));
  CHECK_STATUS(petal_filter_fold(filter, 7, NULL), PETAL_ERR_OUT_OF_RANGE);
  free(image.bytes);
  petal_filter_free(filter);
}

/* "foldable" makes powers of two do, and the size that was asked for is still promised. */
static void fold_a_foldable(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100000, .false_positive_rate = 0.001};
  CHECK_OK(petal_spec_set(&spec, "foldable", 1, NULL));
  petal_filter *filter = make(&spec, 0, 1000);
  for (int i = 0; i < 4; i++) CHECK_OK(petal_filter_fold(filter, 2, NULL));
  for (uint64_t i = 0; i < 1000; i++) CHECK(petal_filter_contains_u64(filter, check_key(i)));
  petal_filter_free(filter);
}

/* A filter that is resized holds its keys, merges with what it merged with, and becomes what it was again. */
static void resizing(const petal_spec *spec) {
  petal_filter *a = make(spec, 0, 600), *b = make(spec, 400, 1000), *both = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_description before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  check_image image = check_take_image(a);
  CHECK_OK(petal_filter_describe(a, &before, NULL));
  CHECK_OK(petal_filter_resize(a, 3 * before.capacity, &error));
  CHECK_OK(petal_filter_describe(a, &after, NULL));
  CHECK(after.capacity >= 3 * before.capacity && after.bytes > before.bytes);
  for (uint64_t i = 0; i < 600; i++) CHECK(petal_filter_contains_u64(a, check_key(i)));
  CHECK_OK(petal_filter_copy(a, &both, NULL));
  CHECK_OK(petal_filter_merge(both, b, &error));
  for (uint64_t i = 0; i < 1000; i++) CHECK(petal_filter_contains_u64(both, check_key(i)));
  CHECK_OK(petal_filter_verify(both, NULL));
  CHECK_OK(petal_filter_resize(a, before.capacity, &error));
  petal_filter *loaded = NULL;
  CHECK_OK(petal_filter_load(image.bytes, image.length, NULL, &loaded, NULL));
  /* Byte for byte where the order of keys does not matter. */
  CHECK(check_same_bits(a, loaded) || !check_has(spec->kind, PETAL_IS_CANONICAL));
  for (uint64_t i = 0; i < 600; i++) CHECK(petal_filter_contains_u64(a, check_key(i)));
  free(image.bytes);
  image = check_take_image(a);
  CHECK_STATUS(petal_filter_resize(a, UINT64_MAX, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_TEXT(error.message, "capacity");
  CHECK(check_same_image(a, image));
  free(image.bytes);
  petal_filter_free(loaded);
  petal_filter_free(both);
  petal_filter_free(a);
  petal_filter_free(b);
}

/* What a kind cannot do is refused by its name, and changes nothing. */
static void refusals(const petal_spec *spec) {
  petal_filter *a = make(spec, 0, 600), *b = make(spec, 400, 1000);
  check_image image = check_take_image(a);
  petal_error error = {.struct_size = sizeof error};
  const char *name = check_kind_info(spec->kind).name;
#define CANNOT(capability, call)                   \
  if (!check_can(spec->kind, (capability))) {      \
    CHECK_STATUS((call), PETAL_ERR_UNSUPPORTED);   \
    CHECK_TEXT(error.message, name);               \
    CHECK(check_same_image(a, image));             \
  }
  CANNOT(PETAL_CAN_MERGE, petal_filter_merge(a, b, &error))
  CANNOT(PETAL_CAN_INTERSECT, petal_filter_intersect(a, b, &error))
  CANNOT(PETAL_CAN_FOLD, petal_filter_fold(a, 2, &error))
  CANNOT(PETAL_CAN_RESIZE, petal_filter_resize(a, 2000, &error))
  CANNOT(PETAL_CAN_AGE, petal_filter_advance(a, 1, &error))
  CANNOT(PETAL_CAN_CLEAR, petal_filter_clear(a, &error))
  free(image.bytes);
  petal_filter_free(a);
  petal_filter_free(b);
}

/* The id is the same for filters that combine, and only for them. */
static void compatibility(void) {
  petal_spec specs[] = {
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 8192, .hashes = 8},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 7},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .seed = 1},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .hash = PETAL_HASH_XXH64},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .hash = PETAL_HASH_EXTERNAL},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .hash = PETAL_HASH_EXTERNAL,
       .seed = 1},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .hash = PETAL_HASH_SIPHASH13,
       .secret = {1}},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .hash = PETAL_HASH_SIPHASH13,
       .secret = {2}},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8},
      {.struct_size = sizeof *specs, .kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8},
      {.struct_size = sizeof *specs, .bits = 4096, .kind = PETAL_KIND_SPLIT_BLOCK},
  };
  enum { COUNT = sizeof specs / sizeof *specs };
  CHECK_OK(petal_spec_set(&specs[9], "partitioned", 1, NULL));
  CHECK_OK(petal_spec_set(&specs[10], "derivation", 1, NULL));
  petal_filter *filters[COUNT], *twin = NULL;
  uint8_t ids[COUNT][PETAL_COMPATIBILITY_ID_SIZE], id[PETAL_COMPATIBILITY_ID_SIZE];
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_OK(petal_filter_new(&specs[i], &filters[i], NULL));
    CHECK_OK(petal_filter_insert_hash(filters[i], 12345, NULL));
    CHECK_OK(petal_filter_get_compatibility_id(filters[i], ids[i], NULL));
    CHECK_OK(petal_filter_new(&specs[i], &twin, NULL));
    CHECK_OK(petal_filter_get_compatibility_id(twin, id, NULL));
    CHECK(memcmp(id, ids[i], sizeof id) == 0);
    petal_filter_free(twin);
  }
  for (size_t i = 0; i < COUNT; i++) {
    check_image image = check_take_image(filters[i]);
    for (size_t j = 0; j < COUNT; j++) {
      if (i == j) continue;
      CHECK(memcmp(ids[i], ids[j], sizeof ids[i]) != 0);
      CHECK_STATUS(petal_filter_merge(filters[i], filters[j], NULL), PETAL_ERR_INCOMPATIBLE);
      CHECK_STATUS(petal_filter_intersect(filters[i], filters[j], NULL), PETAL_ERR_INCOMPATIBLE);
      CHECK(!check_same_bits(filters[i], filters[j]));
    }
    CHECK(check_same_image(filters[i], image));
    free(image.bytes);
  }
  for (size_t i = 0; i < COUNT; i++) petal_filter_free(filters[i]);
}

int main(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind kind = check_kind(k);
    petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 1000};
    /* Room for what is merged with itself, where it may take some. */
    if (check_refuses_copies(kind)) spec.capacity = 3000;
    if (check_can(kind, PETAL_CAN_MERGE)) merge(&spec);
    if (check_can(kind, PETAL_CAN_INTERSECT)) intersect(&spec);
    if (check_can(kind, PETAL_CAN_CLEAR)) clear(&spec);
    refusals(&spec);
    if (check_can(kind, PETAL_CAN_RESIZE)) resizing(&spec);
    if (!check_can(kind, PETAL_CAN_FOLD)) continue;
    petal_spec exact = {.struct_size = sizeof exact, .kind = kind, .bits = 512 * 120, .capacity = 5000};
    for (uint64_t factor = 2; factor <= 6; factor++) fold(&exact, factor);
    fold(&exact, 120);
    fold_refusals(kind);
    fold_a_foldable(kind);
  }
  for (int derivation = 0; derivation < 6; derivation++) {
    for (int partitioned = 0; partitioned < 2; partitioned++) {
      petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOM, .bits = 4 * 7680, .hashes = 4};
      CHECK_OK(petal_spec_set(&spec, "derivation", derivation, NULL));
      CHECK_OK(petal_spec_set(&spec, "partitioned", partitioned, NULL));
      merge(&spec);
      fold(&spec, 2);
      fold(&spec, 15);
    }
  }
  compatibility();
  return check_done();
}
