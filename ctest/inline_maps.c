/* petal_inline.h on maps: lookups give what the library gives, and no lookup reads outside the payload, whatever the
 * payload says. Compiled as inline.c is. */
#include "forge.h"

/* What a map is made from. */
typedef struct {
  petal_kind kind;
  const char *solver;
  uint64_t keys;
  double value_bits; /* The number of bits of the greatest value. */
  double check_bits; /* 0 for a kind that has none. */
  petal_hash_function hash;
  uint64_t seed;
} recipe;

static uint64_t value_at(const recipe *r, uint64_t i) {
  return r->value_bits == 0 ? 0 : check_key(i * 13 + 7) >> (64 - (unsigned)r->value_bits);
}

static petal_map *made(const recipe *r) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = r->kind, .seed = r->seed, .hash = r->hash};
  petal_error error = {.struct_size = sizeof error};
  petal_map_builder *builder = NULL;
  petal_map *map = NULL;
  CHECK_OK(petal_spec_set_choice(&spec, "solver", r->solver, NULL));
  if (r->value_bits != 0) CHECK_OK(petal_spec_set(&spec, "value_bits", r->value_bits, NULL));
  if (r->check_bits != 0) CHECK_OK(petal_spec_set(&spec, "check_bits", r->check_bits, NULL));
  CHECK_OK(petal_map_builder_new(&spec, NULL, &builder, NULL));
  for (uint64_t i = 0; i < r->keys; i++) {
    if (r->hash == PETAL_HASH_EXTERNAL) {
      CHECK_OK(petal_map_builder_put_hash(builder, hash_at(i), value_at(r, i)));
    } else {
      CHECK_OK(petal_map_builder_put_u64(builder, check_key(i), value_at(r, i)));
    }
  }
  petal_status status = petal_map_builder_finish(builder, &map, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "finish: %s", error.message);
  petal_map_builder_free(builder);
  return map;
}

static const recipe RECIPES[] = {
    {PETAL_KIND_RETRIEVAL, "ribbon", 0, 8, 0, PETAL_HASH_XXH3, 0},
    {PETAL_KIND_RETRIEVAL, "ribbon", 1, 1, 0, PETAL_HASH_XXH3, UINT64_MAX},
    {PETAL_KIND_RETRIEVAL, "ribbon", 1000, 0, 0, PETAL_HASH_XXH3, 1},
    {PETAL_KIND_RETRIEVAL, "ribbon", 30000, 13, 0, PETAL_HASH_XXH3, 2},
    {PETAL_KIND_RETRIEVAL, "ribbon", 1000, 64, 0, PETAL_HASH_XXH3, 3},
    {PETAL_KIND_RETRIEVAL, "ribbon", 1000, 20, 0, PETAL_HASH_EXTERNAL, 0},
    {PETAL_KIND_RETRIEVAL, "ribbon", 600000, 9, 0, PETAL_HASH_XXH3, 4},
    {PETAL_KIND_RETRIEVAL, "fuse", 0, 8, 0, PETAL_HASH_XXH3, 0},
    {PETAL_KIND_RETRIEVAL, "fuse", 1, 1, 0, PETAL_HASH_XXH3, 5},
    {PETAL_KIND_RETRIEVAL, "fuse", 30000, 13, 0, PETAL_HASH_XXH3, 6},
    {PETAL_KIND_RETRIEVAL, "fuse", 1000, 57, 0, PETAL_HASH_XXH3, 7},
    {PETAL_KIND_RETRIEVAL, "fuse", 1000, 61, 0, PETAL_HASH_XXH3, 8},
    {PETAL_KIND_RETRIEVAL, "fuse", 1000, 64, 0, PETAL_HASH_XXH3, 9},
    {PETAL_KIND_RETRIEVAL, "fuse", 1000, 20, 0, PETAL_HASH_EXTERNAL, 0},
    {PETAL_KIND_BLOOMIER, "ribbon", 0, 8, 8, PETAL_HASH_XXH3, 0},
    {PETAL_KIND_BLOOMIER, "ribbon", 30000, 8, 4, PETAL_HASH_XXH3, 10},
    {PETAL_KIND_BLOOMIER, "ribbon", 1000, 0, 1, PETAL_HASH_XXH3, 11},
    {PETAL_KIND_BLOOMIER, "ribbon", 1000, 60, 7, PETAL_HASH_XXH3, 12},
    {PETAL_KIND_BLOOMIER, "ribbon", 1000, 64, 32, PETAL_HASH_XXH3, 13},
    {PETAL_KIND_BLOOMIER, "ribbon", 1000, 20, 3, PETAL_HASH_EXTERNAL, 0},
    {PETAL_KIND_BLOOMIER, "fuse", 0, 8, 8, PETAL_HASH_XXH3, 0},
    {PETAL_KIND_BLOOMIER, "fuse", 30000, 8, 4, PETAL_HASH_XXH3, 14},
    {PETAL_KIND_BLOOMIER, "fuse", 1000, 0, 1, PETAL_HASH_XXH3, 15},
    {PETAL_KIND_BLOOMIER, "fuse", 1000, 32, 32, PETAL_HASH_XXH3, 16},
    {PETAL_KIND_BLOOMIER, "fuse", 1000, 20, 3, PETAL_HASH_EXTERNAL, 0},
};
enum { RECIPES_COUNT = sizeof RECIPES / sizeof RECIPES[0] };

/* Whether a lookup in a view gives the same as a lookup in the map. */
static bool same(const petal_map *map, const petal_view *view, petal_hash_function hash, uint64_t i) {
  uint64_t value = 1, expected = 2;
  bool found = false, is_expected = !found;
  if (hash == PETAL_HASH_EXTERNAL) {
    petal_view_get_prefetch_hash(view, hash_at(i));
    CHECK_OK(petal_view_get_hash(view, hash_at(i), &value, &found));
    CHECK_OK(petal_map_get_hash(map, hash_at(i), &expected, &is_expected));
  } else {
    petal_view_get_prefetch_u64(view, check_key(i));
    CHECK_OK(petal_view_get_u64(view, check_key(i), &value, &found));
    CHECK_OK(petal_map_get_u64(map, check_key(i), &expected, &is_expected));
  }
  return found == is_expected && value == expected;
}

static void lookups_agree(const recipe *r) {
  petal_map *map = made(r);
  petal_view view = PETAL_VIEW_INIT;
  CHECK_OK(petal_map_get_view(map, &view, NULL));
  CHECK(view.writable_payload == NULL && view.hash == r->hash);
  uint64_t wrong = 0, lost = 0, asked = r->keys + check_scaled(r->keys + 2000);
  for (uint64_t i = 0; i < asked; i++) wrong += !same(map, &view, r->hash, i);
  for (uint64_t i = 0; i < r->keys && r->hash != PETAL_HASH_EXTERNAL; i++) {
    uint64_t value = 0;
    bool found = false;
    CHECK_OK(petal_view_get_u64(&view, check_key(i), &value, &found));
    lost += !found || value != value_at(r, i);
  }
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(lost, 0);
  petal_map_free(map);
}

/* Views and maps agree for hashes that a ribbon cannot keep in its first layer: later layers or the list have them. */
static void crowds_agree(void) {
  for (int fuse = 0; fuse < 2; fuse++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOMIER, .hash = PETAL_HASH_EXTERNAL};
    petal_map_builder *builder = NULL;
    petal_map *map = NULL;
    CHECK_OK(petal_spec_set_choice(&spec, "solver", fuse ? "fuse" : "ribbon", NULL));
    CHECK_OK(petal_map_builder_new(&spec, NULL, &builder, NULL));
    for (uint64_t i = 0; i < 1000; i++) {
      /* The high half of a map's 128 bits goes through both halves of the mixing. */
      uint64_t z = i ^ i >> 31 ^ i >> 62;
      CHECK_OK(petal_map_builder_put_hash(builder, unordered(z * UINT64_C(0x319642b2d24d8ec3)), i));
      CHECK_OK(petal_map_builder_put_hash(builder, hash_at(i), i));
    }
    CHECK_OK(petal_map_builder_finish(builder, &map, NULL));
    petal_map_builder_free(builder);
    petal_view view = PETAL_VIEW_INIT;
    CHECK_OK(petal_map_get_view(map, &view, NULL));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < 2000; i++) {
      uint64_t hash = unordered((i ^ i >> 31 ^ i >> 62) * UINT64_C(0x319642b2d24d8ec3)), value = 0, expected = 1;
      bool found = false, is_expected = true;
      CHECK_OK(petal_view_get_hash(&view, hash, &value, &found));
      CHECK_OK(petal_map_get_hash(map, hash, &expected, &is_expected));
      wrong += found != is_expected || value != expected || (i < 1000 && !found);
    }
    CHECK_EQUAL(wrong, 0);
    petal_map_free(map);
  }
}

static void refusals_are_told(void) {
  const recipe plain = {PETAL_KIND_RETRIEVAL, "ribbon", 10, 8, 0, PETAL_HASH_XXH3, 0};
  const recipe external = {PETAL_KIND_RETRIEVAL, "fuse", 10, 8, 0, PETAL_HASH_EXTERNAL, 0};
  const recipe other = {PETAL_KIND_RETRIEVAL, "fuse", 10, 8, 0, PETAL_HASH_XXH64, 0};
  const recipe apart = {PETAL_KIND_BLOOMIER, "fuse", 10, 60, 8, PETAL_HASH_XXH3, 0};
  petal_error error = {.struct_size = sizeof error};
  petal_view view = PETAL_VIEW_INIT;
  uint64_t value = 77;
  bool found = true;
  petal_map *map = made(&apart);
  CHECK_STATUS(petal_map_get_view(map, &view, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "layout");
  CHECK(view.layout == 0);
  CHECK_STATUS(petal_view_get_u64(&view, 1, &value, &found), PETAL_ERR_UNSUPPORTED);
  petal_map_free(map);

  map = made(&plain);
  view.struct_size = 8;
  CHECK_STATUS(petal_map_get_view(map, &view, NULL), PETAL_ERR_STRUCT_SIZE);
  view.struct_size = sizeof view;
  CHECK_OK(petal_map_get_view(map, &view, NULL));
  CHECK_STATUS(petal_view_get_hash(&view, 1, &value, &found), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_view_get_u64(NULL, 1, &value, &found), PETAL_ERR_NULL);
  CHECK_STATUS(petal_view_get_u64(&view, 1, &value, NULL), PETAL_ERR_NULL);
  CHECK_STATUS(petal_view_get_hash(NULL, 1, &value, &found), PETAL_ERR_NULL);
  CHECK(found && value == 77);
  CHECK_OK(petal_view_get_u64(&view, check_key(0), NULL, &found));
  /* The functions of filters do not know the layout. */
  CHECK(petal_view_contains_u64(&view, 1) && petal_view_contains_hash(&view, 1));
  petal_view_prefetch_u64(&view, 1);
  petal_view_get_prefetch_u64(NULL, 1);
  petal_view_get_prefetch_hash(NULL, 1);
  petal_map_free(map);

  const recipe *others[] = {&external, &other};
  for (int i = 0; i < 2; i++) {
    map = made(others[i]);
    CHECK_OK(petal_map_get_view(map, &view, NULL));
    CHECK_STATUS(petal_view_get_u64(&view, 1, &value, &found), PETAL_ERR_UNSUPPORTED);
    petal_map_free(map);
  }

  /* A kind of map without such a layout, and a view of a filter. */
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_APPROXIMATOR, .capacity = 10};
  CHECK_OK(petal_map_new(&spec, &map, NULL));
  CHECK_STATUS(petal_map_get_view(map, &view, NULL), PETAL_ERR_UNSUPPORTED);
  petal_map_free(map);
  petal_filter *filter = NULL;
  spec.kind = PETAL_KIND_BLOCKED;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  CHECK_OK(petal_filter_get_view(filter, &view, NULL));
  CHECK_STATUS(petal_view_get_u64(&view, 1, &value, &found), PETAL_ERR_UNSUPPORTED);
  petal_filter_free(filter);
}

/* Looks many keys up, and fetches them; a read outside of the payload ends the program. */
static uint64_t ask(const petal_view *view, uint64_t from, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = from; i < from + count; i++) {
    uint64_t value = 0;
    bool found = false;
    if (view->hash == PETAL_HASH_EXTERNAL) {
      petal_view_get_prefetch_hash(view, hash_at(i));
      CHECK_OK(petal_view_get_hash(view, hash_at(i), &value, &found));
    } else {
      petal_view_get_prefetch_u64(view, hash_at(i));
      CHECK_OK(petal_view_get_u64(view, hash_at(i), &value, &found));
    }
    sum += value + found;
  }
  return sum;
}

static void stays_inside(const recipe *r) {
  petal_map *map = made(r);
  petal_view view = PETAL_VIEW_INIT;
  CHECK_OK(petal_map_get_view(map, &view, NULL));
  ask_forged(&view, ask, check_scaled(500), check_scaled(50000), check_scaled(20000));
  petal_map_free(map);
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
  for (size_t i = 0; i < RECIPES_COUNT; i++) lookups_agree(&RECIPES[i]);
  crowds_agree();
  refusals_are_told();
  for (size_t i = 0; i < RECIPES_COUNT; i++) stays_inside(&RECIPES[i]);
  /* This many keys make several shards. */
  const recipe large = {PETAL_KIND_RETRIEVAL, "fuse", check_scaled(2500000), 10, 0, PETAL_HASH_XXH3, 17};
  lookups_agree(&large);
  stays_inside(&large);
  return check_done();
}
