/* petal_inline.h on every kind of filter that has views: lookups and insertions do what the library does, and no lookup
 * reads outside the payload, whatever the payload says. Compiled as inline.c is. */
#include "forge.h"

/* What a filter is made from. */
typedef struct {
  petal_kind kind;
  uint64_t keys;
  double rate; /* Above 1 it is the exact number of bits. */
  uint64_t seed;
  const char *parameter; /* NULL for none. */
  double value;
  const char *second; /* As well. */
  double second_value;
} recipe;

static petal_filter *made(const recipe *r) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = r->kind, .seed = r->seed};
  petal_error error = {.struct_size = sizeof error};
  petal_builder *builder = NULL;
  petal_filter *filter = NULL;
  if (r->rate > 1) {
    spec.bits = (uint64_t)r->rate;
  } else {
    spec.false_positive_rate = r->rate;
  }
  if (r->parameter != NULL) CHECK_OK(petal_spec_set(&spec, r->parameter, r->value, NULL));
  if (r->second != NULL) CHECK_OK(petal_spec_set(&spec, r->second, r->second_value, NULL));
  CHECK_OK(petal_builder_new(&spec, NULL, &builder, NULL));
  for (uint64_t i = 0; i < r->keys; i++) CHECK_OK(petal_builder_add_u64(builder, check_key(i)));
  petal_status status = petal_builder_finish(builder, &filter, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "finish: %s", error.message);
  petal_builder_free(builder);
  return filter;
}

/* Whether a view says of as many keys and hashes what the filter says. */
static void agrees(const petal_filter *filter, uint64_t keys, uint64_t asked) {
  petal_view view = PETAL_VIEW_INIT;
  CHECK_OK(petal_filter_get_view(filter, &view, NULL));
  uint64_t wrong = 0, lost = 0;
  for (uint64_t i = 0; i < asked; i++) {
    petal_view_prefetch_u64(&view, check_key(i + 16));
    bool found = petal_view_contains_u64(&view, check_key(i));
    wrong += found != petal_filter_contains_u64(filter, check_key(i));
    lost += i < keys && !found;
    petal_view_prefetch_hash(&view, hash_at(i + 16));
    wrong += petal_view_contains_hash(&view, hash_at(i)) != petal_filter_contains_hash(filter, hash_at(i));
  }
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(lost, 0);
}

static const recipe RECIPES[] = {
    {PETAL_KIND_SPLIT_BLOCK, 1000, .01, 0, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOCKED, 1000, .01, 1, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOCKED, 1000, .001, 2, "blocks", 2, NULL, 0},
    {PETAL_KIND_BLOOM, 0, .01, 0, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1, .01, 1, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, .3, 2, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, .2, 3, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, .1, 4, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, .05, 5, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, .02, 6, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 100000, .01, 7, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, 1e-6, 8, NULL, 0, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, .02, 7, "partitioned", 1, NULL, 0},
    {PETAL_KIND_BLOOM, 0, .01, 9, "partitioned", 1, NULL, 0},
    {PETAL_KIND_BLOOM, 1000, .1, 10, "partitioned", 1, NULL, 0},
    {PETAL_KIND_BLOOM, 100000, .01, 11, "partitioned", 1, NULL, 0},
    {PETAL_KIND_FUSE, 0, .01, 0, NULL, 0, NULL, 0},
    {PETAL_KIND_FUSE, 0, .01, 0, "arity", 4, NULL, 0},
    {PETAL_KIND_FUSE, 1, .01, 1, NULL, 0, NULL, 0},
    {PETAL_KIND_FUSE, 2, .01, 1, "arity", 4, NULL, 0},
    {PETAL_KIND_FUSE, 1000, .25, 2, NULL, 0, NULL, 0},
    {PETAL_KIND_FUSE, 1000, .01, UINT64_MAX, NULL, 0, NULL, 0},
    {PETAL_KIND_FUSE, 1000, 0, 3, "fingerprint_bits", 8, NULL, 0},
    {PETAL_KIND_FUSE, 1000, 0, 4, "fingerprint_bits", 8, "arity", 4},
    {PETAL_KIND_FUSE, 30000, 0, 5, "fingerprint_bits", 9, NULL, 0},
    {PETAL_KIND_FUSE, 30000, 0, 6, "fingerprint_bits", 13, "arity", 4},
    {PETAL_KIND_FUSE, 30000, 0, 7, "fingerprint_bits", 16, NULL, 0},
    {PETAL_KIND_FUSE, 1000, 0, 8, "fingerprint_bits", 31, NULL, 0},
    {PETAL_KIND_FUSE, 1000, 0, 9, "fingerprint_bits", 32, NULL, 0},
    {PETAL_KIND_RIBBON, 0, .01, 0, NULL, 0, NULL, 0},
    {PETAL_KIND_RIBBON, 1, .01, 1, NULL, 0, NULL, 0},
    {PETAL_KIND_RIBBON, 2, .5, 1, NULL, 0, NULL, 0},
    {PETAL_KIND_RIBBON, 50, .01, 2, NULL, 0, NULL, 0},
    {PETAL_KIND_RIBBON, 1000, 0, 2, "fingerprint_bits", 1, "ribbon_width", 64},
    {PETAL_KIND_RIBBON, 1000, 0, 3, "fingerprint_bits", 7, "ribbon_width", 128},
    {PETAL_KIND_RIBBON, 30000, 0, 4, "fingerprint_bits", 8, "ribbon_width", 64},
    {PETAL_KIND_RIBBON, 30000, 0, 5, "fingerprint_bits", 8, "ribbon_width", 128},
    {PETAL_KIND_RIBBON, 1000, 0, 6, "fingerprint_bits", 13, NULL, 0},
    {PETAL_KIND_RIBBON, 1000, 0, 7, "fingerprint_bits", 32, "ribbon_width", 64},
    {PETAL_KIND_RIBBON, 600000, 0, UINT64_MAX, "fingerprint_bits", 9, NULL, 0},
    {PETAL_KIND_CUCKOO, 0, .01, 0, NULL, 0, NULL, 0},
    {PETAL_KIND_CUCKOO, 1, .01, 1, NULL, 0, NULL, 0},
    {PETAL_KIND_CUCKOO, 50, 1536, 1, "fingerprint_bits", 12, NULL, 0}, /* The last bucket ends with the payload. */
    {PETAL_KIND_CUCKOO, 1000, .1, 2, NULL, 0, NULL, 0},
    {PETAL_KIND_CUCKOO, 30000, .001, 3, NULL, 0, NULL, 0},
    {PETAL_KIND_CUCKOO, 1000, 0, 4, "fingerprint_bits", 12, "bucket_slots", 2},
    {PETAL_KIND_CUCKOO, 1000, 0, 5, "fingerprint_bits", 13, "bucket_slots", 4},
    {PETAL_KIND_CUCKOO, 1000, 0, 6, "fingerprint_bits", 15, "bucket_slots", 4},
    {PETAL_KIND_CUCKOO, 1000, 0, 7, "fingerprint_bits", 16, "bucket_slots", 4},
    {PETAL_KIND_CUCKOO, 1000, 0, 8, "fingerprint_bits", 17, "bucket_slots", 4},
    {PETAL_KIND_CUCKOO, 1000, .2, 9, "fingerprint_bits", 7, "bucket_slots", 8},
    {PETAL_KIND_CUCKOO, 1000, 0, 10, "fingerprint_bits", 11, "bucket_slots", 8},
    {PETAL_KIND_CUCKOO, 1000, 0, 11, "fingerprint_bits", 32, "bucket_slots", 8},
};
enum { RECIPES_COUNT = sizeof RECIPES / sizeof RECIPES[0] };

/* Whether views of a kind are for insertions too. */
static bool is_insertable(petal_kind kind) {
  return kind == PETAL_KIND_SPLIT_BLOCK || kind == PETAL_KIND_BLOCKED || kind == PETAL_KIND_BLOOM;
}

static void lookups_agree(void) {
  for (size_t i = 0; i < RECIPES_COUNT; i++) {
    petal_filter *filter = made(&RECIPES[i]);
    agrees(filter, RECIPES[i].keys, check_scaled(RECIPES[i].keys * 2 + 2000));
    petal_filter_free(filter);
  }
  /* Enough keys for several shards. */
  const recipe large = {PETAL_KIND_FUSE, check_scaled(2500000), 0, 3, "fingerprint_bits", 8, NULL, 0};
  petal_filter *filter = made(&large);
  agrees(filter, large.keys, large.keys + large.keys / 4);
  petal_filter_free(filter);
}

/* Hashes that were made so that a ribbon puts them into layers after its first, or lists them: all of them in one
 * place, and ordinary ones besides. */
static void crowds_agree(void) {
  static const uint64_t crowds[] = {20, 300, 3000};
  for (size_t i = 0; i < 2 * sizeof crowds / sizeof crowds[0]; i++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = i % 2 == 0 ? PETAL_KIND_RIBBON : PETAL_KIND_FUSE};
    spec.hash = PETAL_HASH_EXTERNAL;
    petal_builder *builder = NULL;
    petal_filter *filter = NULL;
    CHECK_OK(petal_builder_new(&spec, NULL, &builder, NULL));
    for (uint64_t k = 0; k < crowds[i / 2]; k++) CHECK_OK(petal_builder_add_hash(builder, unordered(k)));
    for (uint64_t k = 0; k < 1000; k++) CHECK_OK(petal_builder_add_hash(builder, hash_at(k)));
    CHECK_OK(petal_builder_finish(builder, &filter, NULL));
    petal_builder_free(builder);
    petal_view view = PETAL_VIEW_INIT;
    CHECK_OK(petal_filter_get_view(filter, &view, NULL));
    uint64_t wrong = 0, lost = 0;
    for (uint64_t k = 0; k < 5000; k++) {
      bool found = petal_view_contains_hash(&view, unordered(k));
      wrong += found != petal_filter_contains_hash(filter, unordered(k));
      wrong += petal_view_contains_hash(&view, hash_at(k)) != petal_filter_contains_hash(filter, hash_at(k));
      lost += k < crowds[i / 2] && !found;
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(lost, 0);
    petal_filter_free(filter);
  }
}

/* Insertions in a view leave what the library's leave, and say the same. */
static void insertions_agree(void) {
  for (size_t i = 0; i < RECIPES_COUNT; i++) {
    if (!is_insertable(RECIPES[i].kind)) continue;
    petal_filter *inlined = made(&RECIPES[i]), *called = NULL;
    CHECK_OK(petal_filter_copy(inlined, &called, NULL));
    petal_view view = PETAL_VIEW_INIT;
    CHECK_OK(petal_filter_get_writable_view(inlined, &view, NULL));
    uint64_t wrong = 0;
    for (uint64_t k = 0; k < 1000; k++) {
      bool is_new = false, expected = true;
      CHECK_OK(petal_view_insert_hash(&view, hash_at(k), &is_new));
      CHECK_OK(petal_filter_insert_hash(called, hash_at(k), &expected));
      wrong += is_new != expected || !petal_view_contains_hash(&view, hash_at(k));
    }
    CHECK_EQUAL(wrong, 0);
    CHECK(check_same_bits(inlined, called));
    petal_filter_free(called);
    petal_filter_free(inlined);
  }
}

/* Kinds that are not changed through views, and filters whose layout has no name. */
static void refusals_are_told(void) {
  static const recipe others[] = {
      {PETAL_KIND_BLOOM, 10, .01, 0, "derivation", 1, NULL, 0},
      {PETAL_KIND_CUCKOO, 10, .01, 0, "semi_sort", 1, NULL, 0},
  };
  petal_error error = {.struct_size = sizeof error};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    petal_filter *filter = made(&others[i]);
    petal_view view = PETAL_VIEW_INIT;
    CHECK_STATUS(petal_filter_get_view(filter, &view, &error), PETAL_ERR_UNSUPPORTED);
    CHECK(view.layout == 0 && petal_view_contains_u64(&view, 1));
    petal_filter_free(filter);
  }
  for (size_t i = 0; i < RECIPES_COUNT; i++) {
    if (is_insertable(RECIPES[i].kind)) continue;
    petal_filter *filter = made(&RECIPES[i]);
    petal_view view = PETAL_VIEW_INIT;
    CHECK_STATUS(petal_filter_get_writable_view(filter, &view, &error), PETAL_ERR_UNSUPPORTED);
    CHECK_TEXT(error.message, "lookups only");
    CHECK_OK(petal_filter_get_view(filter, &view, NULL));
    CHECK_STATUS(petal_view_insert_u64(&view, 1, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
    view.writable_payload = (uint64_t *)(uintptr_t)view.payload;
    CHECK_STATUS(petal_view_insert_u64(&view, 1, NULL), PETAL_ERR_UNSUPPORTED);
    petal_filter_free(filter);
  }
}

/* ---- Forged payloads --------------------------------------------------------------------------------------------- */

/* Looks many hashes up, and fetches them; a read outside of the payload ends the program. */
static uint64_t ask(const petal_view *view, uint64_t from, uint64_t count) {
  uint64_t yes = 0;
  for (uint64_t i = from; i < from + count; i++) {
    petal_view_prefetch_hash(view, hash_at(i));
    yes += petal_view_contains_hash(view, hash_at(i));
  }
  return yes;
}

static void stays_inside(const recipe *r, uint64_t rounds) {
  petal_filter *filter = made(r);
  petal_view view = PETAL_VIEW_INIT;
  CHECK_OK(petal_filter_get_view(filter, &view, NULL));
  ask_forged(&view, ask, rounds, check_scaled(200000), check_scaled(100000));
  petal_filter_free(filter);
}

/* A view of a forged image: what the library takes for a payload, a view takes. */
static void forged_images_are_asked(const recipe *r) {
  petal_filter *filter = made(r), *opened = NULL;
  petal_view view = PETAL_VIEW_INIT;
  CHECK_OK(petal_filter_get_view(filter, &view, NULL));
  check_image image = check_take_image(filter);
  const size_t payload = (size_t)view.payload_bytes;
  uint64_t views = 0;
  unsigned char *memory = malloc(image.length + 64);
  CHECK(memory != NULL);
  unsigned char *bytes = memory + (64 - (uintptr_t)memory % 64) % 64;
  for (uint64_t round = 0; round < 200; round++) {
    memcpy(bytes, image.bytes, image.length);
    for (uint64_t i = 0; i < 3; i++) {
      uint64_t word = forged(round * 3 + i), at = check_key(round * 5 + i) % (payload / 8);
      memcpy(bytes + 256 + at * 8, &word, 8);
    }
    if (petal_filter_open_in_buffer(bytes, image.length, NULL, &opened, NULL) != PETAL_OK) continue;
    petal_view seen = PETAL_VIEW_INIT;
    if (petal_filter_get_view(opened, &seen, NULL) == PETAL_OK) {
      views++;
      fenced f = fence(&seen, true);
      seen.payload = f.payload;
      ask(&seen, round * 100, 100);
      unfence(f);
    }
    petal_filter_free(opened);
  }
  CHECK(views > 0);
  free(memory);
  free(image.bytes);
  petal_filter_free(filter);
}

static void nothing_outside_is_read(void) {
  for (size_t i = 0; i < RECIPES_COUNT; i++) {
    stays_inside(&RECIPES[i], check_scaled(2000));
    if (RECIPES[i].keys <= 1000) forged_images_are_asked(&RECIPES[i]);
  }
  const recipe large = {PETAL_KIND_FUSE, check_scaled(2500000), 0, 3, "fingerprint_bits", 8, NULL, 0};
  stays_inside(&large, check_scaled(20000));
}

int main(void) {
#if defined(PETAL_INLINE_AVX512)
  bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(PETAL_INLINE_AVX2)
  bool runs = __builtin_cpu_supports("avx2");
#else
  bool runs = true;
#endif
  if (!runs) {
    check_skip("petal_inline.h", "this processor does not have what it was compiled for");
    return 77;
  }
  lookups_agree();
  crowds_agree();
  insertions_agree();
  refusals_are_told();
  nothing_outside_is_read();
  return check_done();
}
