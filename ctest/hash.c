/* HASHING ONCE FOR MANY FILTERS */
#include "check.h"

static uint64_t hash_of(const petal_spec *spec, const void *key, size_t length) {
  uint64_t hash = 0;
  CHECK_OK(petal_hash(spec, key, length, &hash, NULL));
  return hash;
}

/* The published values for the empty string, and SipHash-1-3's under the key 00 01 .. 0f. */
static void published_values(void) {
  petal_spec xxh3 = {.struct_size = sizeof xxh3}, xxh64 = {.struct_size = sizeof xxh64, .hash = PETAL_HASH_XXH64};
  petal_spec sip = {.struct_size = sizeof sip, .hash = PETAL_HASH_SIPHASH13};
  for (uint8_t i = 0; i < 16; i++) sip.key[i] = i;
  CHECK_EQUAL(hash_of(&xxh3, NULL, 0), UINT64_C(0x2d06800538d394c2));
  CHECK_EQUAL(hash_of(&xxh64, NULL, 0), UINT64_C(0xef46db3751d8e999));
  CHECK_EQUAL(hash_of(&sip, NULL, 0), UINT64_C(0xabac0158050fc4dc));
}

/* Seeds and keys matter, the rest of the spec does not. */
static void what_matters(void) {
  petal_spec a = {.struct_size = sizeof a};
  petal_spec b = {.struct_size = sizeof b, .kind = PETAL_KIND_SPLIT_BLOCK, .capacity = 5, .false_positive_rate = 0.3};
  petal_spec seeded = {.struct_size = sizeof seeded, .seed = 1};
  petal_spec sip = {.struct_size = sizeof sip, .hash = PETAL_HASH_SIPHASH13, .key = {1}}, other = sip;
  other.key[15] = 1;
  CHECK_EQUAL(hash_of(&a, "apple", 5), hash_of(&b, "apple", 5));
  CHECK(hash_of(&a, "apple", 5) != hash_of(&seeded, "apple", 5));
  CHECK(hash_of(&sip, "apple", 5) != hash_of(&other, "apple", 5));
  CHECK(hash_of(&a, "apple", 5) != hash_of(&a, "apple", 4));
}

/* One hash serves every filter that shares hash function and seed. */
static void once_for_many(void) {
  petal_filter *filters[4];
  petal_spec spec = {.struct_size = sizeof spec, .seed = 42};
  for (size_t i = 0; i < 4; i++) {
    spec.kind = i < 2 ? PETAL_KIND_BLOOM : PETAL_KIND_SPLIT_BLOCK;
    spec.capacity = 1000 << i;
    CHECK_OK(petal_filter_new(&spec, &filters[i], NULL));
    CHECK_OK(petal_filter_insert(filters[i], "apple", 5, NULL));
    CHECK_OK(petal_filter_insert_u64(filters[i], 7, NULL));
  }
  static const unsigned char seven[8] = {7};
  uint64_t number = 0, apple = hash_of(&spec, "apple", 5), pear = hash_of(&spec, "pear", 4);
  CHECK_OK(petal_hash_u64(&spec, 7, &number, NULL));
  CHECK_EQUAL(number, hash_of(&spec, seven, 8));
  for (size_t i = 0; i < 4; i++) {
    uint64_t hash = 0;
    CHECK(petal_filter_contains_hash(filters[i], apple) && petal_filter_contains_hash(filters[i], number));
    CHECK(!petal_filter_contains_hash(filters[i], pear));
    CHECK_OK(petal_filter_hash(filters[i], "apple", 5, &hash));
    CHECK_EQUAL(hash, apple);
    CHECK_OK(petal_filter_hash_u64(filters[i], 7, &hash));
    CHECK_EQUAL(hash, number);
    petal_filter_free(filters[i]);
  }
}

static void refusals(void) {
  petal_spec external = {.struct_size = sizeof external, .hash = PETAL_HASH_EXTERNAL};
  petal_spec keyless = {.struct_size = sizeof keyless, .hash = PETAL_HASH_SIPHASH13};
  petal_spec unknown = {.struct_size = sizeof unknown, .hash = 77};
  uint64_t hash = 99;
  CHECK_STATUS(petal_hash(&external, "a", 1, &hash, NULL), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_hash_u64(&external, 1, &hash, NULL), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_hash(&keyless, "a", 1, &hash, NULL), PETAL_ERR_KEY_MISSING);
  CHECK_STATUS(petal_hash_u64(&unknown, 1, &hash, NULL), PETAL_ERR_UNKNOWN_VALUE);
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&external, &filter, NULL));
  CHECK_STATUS(petal_filter_hash(filter, "a", 1, &hash), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_filter_hash_u64(filter, 1, &hash), PETAL_ERR_EXTERNAL_HASH);
  CHECK_EQUAL(hash, 99);
  petal_filter_free(filter);
}

int main(void) {
  published_values();
  what_matters();
  once_for_many();
  refusals();
  return check_done();
}
