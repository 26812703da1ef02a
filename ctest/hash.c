/* HASHING ONCE FOR MANY FILTERS */
#include "check.h"

static uint64_t hash_of(const petal_spec *spec, const void *key, size_t length) {
  uint64_t hash = 0;
  CHECK_OK(petal_spec_hash(spec, key, length, &hash, NULL));
  return hash;
}

/* The published values for the empty string, and SipHash-1-3's under the key 00 01 .. 0f. */
static void published_values(void) {
  petal_spec xxh3 = {.struct_size = sizeof xxh3}, xxh64 = {.struct_size = sizeof xxh64, .hash = PETAL_HASH_XXH64};
  petal_spec sip = {.struct_size = sizeof sip, .hash = PETAL_HASH_SIPHASH13};
  for (uint8_t i = 0; i < 16; i++) sip.secret[i] = i;
  CHECK_EQUAL(hash_of(&xxh3, NULL, 0), UINT64_C(0x2d06800538d394c2));
  CHECK_EQUAL(hash_of(&xxh64, NULL, 0), UINT64_C(0xef46db3751d8e999));
  CHECK_EQUAL(hash_of(&sip, NULL, 0), UINT64_C(0xabac0158050fc4dc));
}

/* Seeds and keys matter, the rest of the spec does not. */
static void what_matters(void) {
  petal_spec a = {.struct_size = sizeof a};
  petal_spec b = {.struct_size = sizeof b, .kind = PETAL_KIND_SPLIT_BLOCK, .capacity = 5, .false_positive_rate = 0.3};
  petal_spec seeded = {.struct_size = sizeof seeded, .seed = 1};
  petal_spec sip = {.struct_size = sizeof sip, .hash = PETAL_HASH_SIPHASH13, .secret = {1}}, other = sip;
  other.secret[15] = 1;
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
  CHECK_OK(petal_spec_hash(&spec, NUMBER(7), &number, NULL));
  CHECK_EQUAL(number, hash_of(&spec, seven, 8));
  for (size_t i = 0; i < 4; i++) {
    uint64_t hash = 0;
    CHECK(petal_filter_contains_hash(filters[i], apple) && petal_filter_contains_hash(filters[i], number));
    CHECK(!petal_filter_contains_hash(filters[i], pear));
    CHECK_OK(petal_filter_hash(filters[i], "apple", 5, &hash));
    CHECK_EQUAL(hash, apple);
    CHECK_OK(petal_filter_hash(filters[i], NUMBER(7), &hash));
    CHECK_EQUAL(hash, number);
    petal_filter_free(filters[i]);
  }
}

static void refusals(void) {
  petal_spec external = {.struct_size = sizeof external, .hash = PETAL_HASH_EXTERNAL};
  petal_spec keyless = {.struct_size = sizeof keyless, .hash = PETAL_HASH_SIPHASH13};
  petal_spec unknown = {.struct_size = sizeof unknown, .hash = 77};
  uint64_t hash = 99;
  CHECK_STATUS(petal_spec_hash(&external, "a", 1, &hash, NULL), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_spec_hash(&external, NUMBER(1), &hash, NULL), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_spec_hash(&keyless, "a", 1, &hash, NULL), PETAL_ERR_SECRET_MISSING);
  CHECK_STATUS(petal_spec_hash(&unknown, NUMBER(1), &hash, NULL), PETAL_ERR_UNKNOWN_VALUE);
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&external, &filter, NULL));
  CHECK_STATUS(petal_filter_hash(filter, "a", 1, &hash), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_filter_hash(filter, NUMBER(1), &hash), PETAL_ERR_EXTERNAL_HASH);
  CHECK_EQUAL(hash, 99);
  petal_filter_free(filter);
}

/* Numbers that are as good as bits of a digest. */
static uint64_t scattered(uint64_t x) {
  x = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 30) * UINT64_C(0x94d049bb133111eb);
  x = (x ^ x >> 27) * UINT64_C(0xbf58476d1ce4e5b9);
  return x ^ x >> 31;
}

/* Digests of 32 bytes: fields of them are the bits of a key, whatever form the keys have. */
static void digests(void) {
  enum { COUNT = 200, EACH = 32 };
  static unsigned char all[COUNT * EACH], others[COUNT * EACH];
  uint64_t offsets[COUNT + 1];
  for (size_t i = 0; i < COUNT; i++) {
    offsets[i] = i * EACH;
    for (size_t j = 0; j < EACH / 8; j++) {
      uint64_t word = scattered(100 * i + j), other = scattered(100 * (i + COUNT) + j);
      memcpy(all + i * EACH + 8 * j, &word, 8);
      memcpy(others + i * EACH + 8 * j, &other, 8);
    }
  }
  offsets[COUNT] = sizeof all;
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOM, .capacity = COUNT};
  spec.hash = PETAL_HASH_DIGEST;
  spec.seed = 8 * EACH;
  petal_filter *single = NULL, *batch = NULL, *strings = NULL;
  CHECK_OK(petal_filter_new(&spec, &single, NULL));
  CHECK_OK(petal_filter_new(&spec, &batch, NULL));
  CHECK_OK(petal_filter_new(&spec, &strings, NULL));
  for (size_t i = 0; i < COUNT; i++) CHECK_OK(petal_filter_insert(single, all + i * EACH, EACH, NULL));
  petal_keys keys = petal_keys_digests(all, EACH, COUNT), bytes = petal_keys_bytes(all, sizeof all, offsets, COUNT);
  CHECK_OK(petal_filter_insert_batch(batch, &keys, NULL, NULL));
  CHECK_OK(petal_filter_insert_batch(strings, &bytes, NULL, NULL));
  bool equal = false;
  CHECK_OK(petal_filter_equals(single, batch, &equal, NULL));
  CHECK(equal);
  CHECK_OK(petal_filter_equals(single, strings, &equal, NULL));
  CHECK(equal);
  uint8_t found[COUNT];
  petal_answers answers = {.struct_size = sizeof answers, .bytes = found};
  CHECK_OK(petal_filter_contains_batch(batch, &keys, &answers, NULL));
  CHECK_EQUAL(answers.true_count, COUNT);
  petal_keys absent = petal_keys_digests(others, EACH, COUNT);
  CHECK_OK(petal_filter_contains_batch(batch, &absent, &answers, NULL));
  CHECK(answers.true_count < 20);
  for (size_t i = 0; i < COUNT; i++) CHECK(petal_filter_contains(single, others + i * EACH, EACH) == (found[i] == 1));

  petal_description about = {.struct_size = sizeof about};
  CHECK_OK(petal_filter_describe(single, &about, NULL));
  CHECK(about.hash == PETAL_HASH_DIGEST && about.seed == 8 * EACH && (about.state & PETAL_STATE_CAN_HASH));
  CHECK(!(about.capabilities & PETAL_CAN_INSERT_SHARED));

  /* Other lengths, other forms, other filters and lengths that no digest has. */
  petal_error error = {.struct_size = sizeof error};
  CHECK_STATUS(petal_filter_insert(single, all, EACH - 1, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK(petal_filter_contains(single, all, EACH - 1));
  keys = petal_keys_digests(all, EACH / 2, COUNT);
  CHECK_STATUS(petal_filter_insert_batch(single, &keys, NULL, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK(strstr(error.message, "16 bytes") != NULL && strstr(error.message, "256 bits") != NULL);
  CHECK_STATUS(petal_filter_contains_batch(single, &keys, &answers, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_EQUAL(answers.true_count, COUNT);
  keys = petal_keys_digests(all, 0, COUNT);
  CHECK_STATUS(petal_filter_insert_batch(single, &keys, NULL, NULL), PETAL_ERR_OUT_OF_RANGE);
  keys = petal_keys_digests(all, SIZE_MAX, COUNT);
  CHECK_STATUS(petal_filter_insert_batch(single, &keys, NULL, NULL), PETAL_ERR_TOO_LARGE);
  keys = petal_keys_digests(NULL, EACH, 0);
  CHECK_OK(petal_filter_insert_batch(single, &keys, NULL, NULL));
  keys = petal_keys_hashes(offsets, COUNT);
  CHECK_STATUS(petal_filter_insert_batch(single, &keys, NULL, NULL), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_insert_u64(single, 7, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_OK(petal_filter_equals(single, batch, &equal, NULL));
  CHECK(equal);
  petal_filter *plain = NULL;
  petal_spec other = {.struct_size = sizeof other, .kind = PETAL_KIND_BLOOM, .capacity = COUNT};
  CHECK_OK(petal_filter_new(&other, &plain, NULL));
  keys = petal_keys_digests(all, EACH, COUNT);
  CHECK_STATUS(petal_filter_insert_batch(plain, &keys, NULL, &error), PETAL_ERR_CONTRADICTION);
  CHECK(strstr(error.message, "xxh3") != NULL);
  petal_filter *none = NULL;
  const uint64_t lengths[] = {0, 64, 120, 129, 520, UINT64_MAX};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    spec.seed = lengths[i];
    CHECK_STATUS(petal_filter_new(&spec, &none, NULL), PETAL_ERR_OUT_OF_RANGE);
  }
  spec.seed = 128;
  spec.capacity = 1000000;
  spec.false_positive_rate = 1e-6;
  CHECK_STATUS(petal_filter_new(&spec, &none, &error), PETAL_ERR_CONTRADICTION);
  CHECK(strstr(error.message, "too few bits") != NULL);
  spec.kind = PETAL_KIND_BLOCKED;
  CHECK_STATUS(petal_filter_new(&spec, &none, NULL), PETAL_ERR_CONTRADICTION);
  CHECK(none == NULL);
  uint64_t hash = 99;
  CHECK_STATUS(petal_filter_hash(single, all, EACH, &hash), PETAL_ERR_UNSUPPORTED);
  petal_filter_free(single);
  petal_filter_free(batch);
  petal_filter_free(strings);
  petal_filter_free(plain);
}

int main(void) {
  published_values();
  what_matters();
  once_for_many();
  refusals();
  digests();
  return check_done();
}
