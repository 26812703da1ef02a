/* petal_inline.h does what the library does, to the same bits. Compiled several times: for AVX-512, AVX2, what every
 * processor has, and without extensions. */
#include "check.h"

#include <petal_inline.h>
#include <petal_inline.h>
#include <pthread.h>

enum { KEYS = 4000 };

/* A filter of `blocks` blocks, in `shares` of which a key has bits. */
static petal_filter *make_in(petal_kind kind, uint32_t shares, uint64_t blocks, uint32_t hashes,
                             petal_hash_function hash, uint64_t seed) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .hash = hash, .hashes = hashes};
  if (shares != 1) CHECK_OK(petal_spec_set(&spec, "blocks", shares, NULL));
  if (hash == PETAL_HASH_SIPHASH13) {
    spec.secret[0] = 1;
  } else {
    spec.seed = seed;
  }
  spec.bits = blocks * (kind == PETAL_KIND_BLOCKED ? 512 : 256);
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  return filter;
}

static petal_filter *make(petal_kind kind, uint64_t blocks, uint32_t hashes, petal_hash_function hash, uint64_t seed) {
  return make_in(kind, 1, blocks, hashes, hash, seed);
}

static petal_view view_of(const petal_filter *filter) {
  petal_view view = {.struct_size = sizeof view};
  CHECK_OK(petal_filter_get_view(filter, &view, NULL));
  return view;
}

static petal_view writable_view_of(petal_filter *filter) {
  petal_view view = {.struct_size = sizeof view};
  CHECK_OK(petal_filter_get_writable_view(filter, &view, NULL));
  return view;
}

/* Hashes with rare patterns, and ordinary ones. */
static uint64_t hash_at(uint64_t i) {
  static const uint64_t rare[] = {0, UINT64_MAX, 1, UINT64_C(1) << 63, 0xffffffff, UINT64_C(0xffffffff) << 32};
  const uint64_t count = sizeof rare / sizeof rare[0];
  return i < count ? rare[i] : i < count + 64 ? UINT64_C(1) << (i - count) : check_key(check_key(i) >> 7);
}

/* The same keys go into one filter by calls and into another inline; then both look up the same others. */
static void agrees(petal_kind kind, uint32_t shares, uint64_t blocks, uint32_t hashes, uint64_t seed) {
  petal_filter *called = make_in(kind, shares, blocks, hashes, PETAL_HASH_XXH3, seed);
  petal_filter *inlined = make_in(kind, shares, blocks, hashes, PETAL_HASH_XXH3, seed);
  petal_view view = writable_view_of(inlined), reader = view_of(inlined);
  CHECK(view.writable_payload == view.payload && reader.writable_payload == NULL && reader.payload == view.payload);
  CHECK(reader.words[0] == blocks && reader.words[1] == (kind == PETAL_KIND_BLOCKED ? hashes : 8));
  CHECK_EQUAL(reader.payload_bytes, blocks * (kind == PETAL_KIND_BLOCKED ? 64 : 32));
  CHECK((reader.table != NULL) == (kind == PETAL_KIND_BLOCKED) && (reader.table_count > 0) == (reader.table != NULL));
  CHECK(view.struct_size == sizeof view);
  const petal_view_layout blocked = shares == 2 ? PETAL_VIEW_LAYOUT_TWO_BLOCKS : PETAL_VIEW_LAYOUT_BLOCKED;
  CHECK_EQUAL(view.layout, kind == PETAL_KIND_BLOCKED ? blocked : PETAL_VIEW_LAYOUT_SPLIT_BLOCK);

  /* About half full in the end, so that lookups say both; small filters get full. */
  uint64_t keys = check_scaled(KEYS), count = blocks * 20 < keys ? blocks * 20 : keys, wrong = 0, yes = 0;
  for (uint64_t i = 0; i < count; i++) {
    bool expected = false, is_new = !expected;
    uint64_t key = check_key(i), hash = 0;
    CHECK_OK(petal_filter_hash(called, NUMBER(key), &hash));
    wrong += petal_view_hash_u64(&view, key) != hash;
    CHECK_OK(petal_filter_insert_u64(called, key, &expected));
    CHECK_OK(petal_view_insert_u64(&view, key, &is_new));
    wrong += is_new != expected || !petal_filter_contains_u64(inlined, key) || !petal_view_contains_u64(&reader, key);
    CHECK_OK(petal_filter_insert_hash(called, hash_at(i), &expected));
    CHECK_OK(petal_view_insert_hash(&view, hash_at(i), &is_new));
    wrong += is_new != expected || !petal_filter_contains_hash(inlined, hash_at(i));
  }
  CHECK_EQUAL(wrong, 0);
  CHECK(check_same_bits(called, inlined));
  for (uint64_t i = 0; i < 2 * keys; i++) {
    bool found = petal_filter_contains_hash(called, hash_at(i));
    petal_view_prefetch_hash(&reader, hash_at(i + 16));
    petal_view_prefetch_u64(&reader, check_key(i + 16));
    wrong += petal_view_contains_hash(&reader, hash_at(i)) != found;
    wrong += petal_view_contains_u64(&reader, check_key(i)) != petal_filter_contains_u64(called, check_key(i));
    yes += found;
  }
  CHECK_EQUAL(wrong, 0);
  CHECK(yes >= count && (count < 1000 || yes < 2 * keys));

  /* What was inserted inline is not counted until somebody says so; then the images are the same. */
  CHECK_EQUAL(check_keys(inlined), 0);
  CHECK_OK(petal_filter_add_insertions(inlined, 2 * count, NULL));
  check_image image = check_take_image(called);
  CHECK(check_same_image(inlined, image));
  free(image.bytes);
  petal_filter_free(called);
  petal_filter_free(inlined);
}

static void lookups_and_insertions_agree(void) {
  static const uint64_t sizes[] = {1, 2, 3, 64, 997}, seeds[] = {0, 1, UINT64_C(0x0123456789abcdef), UINT64_MAX};
  for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
    for (size_t seed = 0; seed < sizeof seeds / sizeof seeds[0]; seed++) {
      agrees(PETAL_KIND_SPLIT_BLOCK, 1, sizes[size], 8, seeds[seed]);
      for (uint32_t hashes = seed == 0 ? 1 : 6; hashes <= (seed == 0 ? 16 : 7); hashes++) {
        agrees(PETAL_KIND_BLOCKED, 1, sizes[size], hashes, seeds[seed]);
      }
      for (uint32_t hashes = seed == 0 ? 2 : 12; hashes <= (seed == 0 ? 32 : 14); hashes += 2) {
        agrees(PETAL_KIND_BLOCKED, 2, sizes[size], hashes, seeds[seed]);
      }
    }
  }
}

/* A block past the first 2^32 is found by the high half of a product, whose parts are checked here. */
static void products_have_all_carries(void) {
  static const uint64_t values[] = {0, 1, 0xffffffff, UINT64_C(1) << 32, UINT64_C(0xffffffff) << 32, UINT64_MAX,
                                    UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543211)};
  static const uint64_t high[8][8] = {
      {0, 0, 0, 0, 0, 0, 0, 0},
      {0, 0, 0, 0, 0, 0, 0, 0},
      {0, 0, 0, 0, 0xfffffffe, 0xfffffffe, 0x12345678, 0xfedcba97},
      {0, 0, 0, 1, 0xffffffff, 0xffffffff, 0x12345678, 0xfedcba98},
      {0, 0, 0xfffffffe, 0xffffffff, UINT64_C(0xfffffffe00000001), UINT64_C(0xfffffffeffffffff),
       UINT64_C(0x1234567888888877), UINT64_C(0xfedcba9777777778)},
      {0, 0, 0xfffffffe, 0xffffffff, UINT64_C(0xfffffffeffffffff), UINT64_C(0xfffffffffffffffe),
       UINT64_C(0x123456789abcdeef), UINT64_C(0xfedcba9876543210)},
      {0, 0, 0x12345678, 0x12345678, UINT64_C(0x1234567888888877), UINT64_C(0x123456789abcdeef),
       UINT64_C(0x014b66dc33f6acdc), UINT64_C(0x121fa00ad77d7422)},
      {0, 0, 0xfedcba97, 0xfedcba98, UINT64_C(0xfedcba9777777778), UINT64_C(0xfedcba9876543210),
       UINT64_C(0x121fa00ad77d7422), UINT64_C(0xfdbac097c8dc5ace)}};
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) CHECK_EQUAL(petal_inline_reduce(values[i], values[j]), high[i][j]);
  }
}

static void images_are_marked(void) {
  const char *path = check_path("inline.petal");
  petal_filter *filter = make(PETAL_KIND_BLOCKED, 100, 6, PETAL_HASH_XXH3, 3);
  CHECK_OK(petal_filter_save(filter, path, NULL));
  petal_filter_free(filter);

  /* For reading, and for sharing: a view for lookups only. */
  petal_open_options options = {.struct_size = sizeof options};
  petal_view view = {.struct_size = sizeof view};
  const petal_open_mode modes[] = {PETAL_OPEN_READ, PETAL_OPEN_SHARE};
  for (int i = 0; i < 2; i++) {
    options.mode = modes[i];
    CHECK_OK(petal_filter_open(path, &options, &filter, NULL));
    CHECK_STATUS(petal_filter_get_writable_view(filter, &view, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
    CHECK(view.layout == 0 && view.payload == NULL);
    petal_view reader = view_of(filter);
    CHECK_STATUS(petal_view_insert_u64(&reader, 1, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
    CHECK(!petal_view_contains_u64(&reader, 1));
    if (modes[i] == PETAL_OPEN_SHARE) {
      CHECK_OK(petal_filter_insert_shared_u64(filter, 2, NULL));
      CHECK(petal_view_contains_u64(&reader, 2));
    }
    petal_filter_free(filter);
  }

  /* For writing: the file is unclean as soon as there is a view, and clean after freeing, with a checksum that fits. */
  petal_filter *other = NULL;
  options.mode = PETAL_OPEN_WRITE;
  CHECK_OK(petal_filter_open(path, &options, &filter, NULL));
  view_of(filter);
  CHECK_OK(petal_filter_open(path, NULL, &other, NULL));
  CHECK_OK(petal_filter_verify(other, NULL));
  petal_filter_free(other);
  petal_view writer = writable_view_of(filter);
  CHECK_OK(petal_filter_open(path, NULL, &other, NULL));
  CHECK_STATUS(petal_filter_verify(other, NULL), PETAL_ERR_UNCLEAN);
  petal_filter_free(other);
  CHECK_OK(petal_view_insert_u64(&writer, 1, NULL));
  CHECK_OK(petal_filter_sync(filter, NULL));
  CHECK(petal_view_contains_u64(&writer, 1));
  writer = writable_view_of(filter);
  CHECK_OK(petal_view_insert_u64(&writer, 4, NULL));
  petal_filter_free(filter);
  CHECK_OK(petal_filter_open(path, NULL, &filter, NULL));
  CHECK_OK(petal_filter_verify(filter, NULL));
  CHECK(petal_filter_contains_u64(filter, 1) && petal_filter_contains_u64(filter, 2));
  CHECK(petal_filter_contains_u64(filter, 4));
  petal_filter_free(filter);
}

static void refusals_say_true(void) {
  /* Other hash functions: hashes only. */
  const petal_hash_function functions[] = {PETAL_HASH_XXH64, PETAL_HASH_SIPHASH13, PETAL_HASH_EXTERNAL};
  for (int i = 0; i < 3; i++) {
    petal_filter *filter = make(PETAL_KIND_BLOCKED, 50, 5, functions[i], 7);
    petal_view view = writable_view_of(filter);
    bool is_new = false;
    CHECK(view.hash == functions[i] && view.hash_flip == 0);
    CHECK(petal_view_contains_u64(&view, 1));
    CHECK_STATUS(petal_view_insert_u64(&view, 1, &is_new), PETAL_ERR_UNSUPPORTED);
    CHECK(!is_new && !petal_view_contains_hash(&view, 77));
    CHECK_OK(petal_view_insert_hash(&view, 77, &is_new));
    CHECK(is_new && petal_filter_contains_hash(filter, 77));
    petal_filter_free(filter);
  }

  /* Kinds without a named layout; a struct that is none; a view that was never filled in, or of a later version. */
  petal_error error = {.struct_size = sizeof error};
  petal_view view = {.struct_size = sizeof view};
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_QUOTIENT};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  CHECK_STATUS(petal_filter_get_view(filter, &view, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(error.status, PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "layout");
  CHECK_STATUS(petal_filter_get_writable_view(filter, &view, &error), PETAL_ERR_UNSUPPORTED);
  view.struct_size = 8;
  CHECK_STATUS(petal_filter_get_view(filter, &view, NULL), PETAL_ERR_STRUCT_SIZE);
  CHECK_STATUS(petal_filter_get_writable_view(filter, &view, NULL), PETAL_ERR_STRUCT_SIZE);
  CHECK(petal_view_contains_u64(&view, 1) && petal_view_contains_hash(&view, 1));
  CHECK(petal_view_contains_u64(NULL, 1) && petal_view_contains_hash(NULL, 1));
  CHECK_STATUS(petal_view_insert_hash(&view, 1, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  petal_view_prefetch_hash(&view, 1);
  petal_view_prefetch_u64(NULL, 1);
  CHECK_STATUS(petal_view_insert_hash(NULL, 1, NULL), PETAL_ERR_NULL);
  CHECK_STATUS(petal_view_insert_u64(NULL, 1, NULL), PETAL_ERR_NULL);
  petal_filter_free(filter);
  filter = make(PETAL_KIND_SPLIT_BLOCK, 10, 8, PETAL_HASH_XXH3, 0);
  view = writable_view_of(filter);
  view.layout = 4711;
  CHECK(petal_view_contains_u64(&view, 1) && petal_view_contains_hash(&view, 1));
  CHECK_STATUS(petal_view_insert_u64(&view, 1, NULL), PETAL_ERR_UNSUPPORTED);
  petal_filter_free(filter);
}

/* Another thread inserts while this one looks up in a view. */
static void *insert_all(void *argument) {
  uint64_t keys = check_scaled(10 * KEYS), wrong = 0;
  for (uint64_t i = 0; i < keys; i++) wrong += petal_filter_insert_shared_u64(argument, check_key(i), NULL) != PETAL_OK;
  return wrong == 0 ? NULL : argument;
}

static void lookups_race_with_shared_insertion(petal_kind kind, uint32_t shares) {
  uint64_t keys = check_scaled(10 * KEYS), lost = 0;
  petal_filter *filter = make_in(kind, shares, 1000, kind == PETAL_KIND_BLOCKED ? 6 : 8, PETAL_HASH_XXH3, 0);
  const petal_view view = view_of(filter);
  pthread_t thread;
  void *result = NULL;
  CHECK(pthread_create(&thread, NULL, insert_all, filter) == 0);
  /* What was there once stays. */
  for (uint64_t i = 0; i < keys; i++) {
    if (petal_view_contains_u64(&view, check_key(i))) lost += !petal_view_contains_u64(&view, check_key(i));
  }
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(result == NULL);
  for (uint64_t i = 0; i < keys; i++) lost += !petal_view_contains_u64(&view, check_key(i));
  CHECK_EQUAL(lost, 0);
  petal_filter_free(filter);
}

int main(void) {
#if defined(PETAL_INLINE_AVX512)
  const char *code = "AVX-512";
  bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(PETAL_INLINE_AVX2)
  const char *code = "AVX2";
  bool runs = __builtin_cpu_supports("avx2");
#elif defined(PETAL_INLINE_SSE2)
  const char *code = "SSE2";
  bool runs = true;
#elif defined(PETAL_INLINE_NEON)
  const char *code = "NEON";
  bool runs = true;
#else
  const char *code = "plain";
  bool runs = true;
#endif
  printf("%s code\n", code);
  if (!runs) {
    check_skip("petal_inline.h", "this processor does not have what it was compiled for");
    return 77;
  }
#ifdef PETAL_INLINE_EXPECTED
  CHECK(strcmp(code, PETAL_INLINE_EXPECTED) == 0);
#endif
  products_have_all_carries();
  lookups_and_insertions_agree();
  images_are_marked();
  refusals_say_true();
  lookups_race_with_shared_insertion(PETAL_KIND_BLOCKED, 1);
  lookups_race_with_shared_insertion(PETAL_KIND_BLOCKED, 2);
  lookups_race_with_shared_insertion(PETAL_KIND_SPLIT_BLOCK, 1);
  return check_done();
}
