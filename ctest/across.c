/* ONE KEY ASKED OF MANY FILTERS: the same as that many calls of one filter each. */
#include "check.h"

#define MOST 300
#define KEYS 50

static petal_filter *filters[MOST];
static const petal_filter *asked[MOST];
static uint8_t bytes[MOST + 1], bitmap[(MOST + 7) / 8 + 1];

/* Filter i, of each kind in turn, has the keys from i on. At a rate of .3 a key of `bloom` has two probes. */
static void make(void) {
  for (uint64_t i = 0; i < MOST; i++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = check_kind(i % check_kind_count()), .capacity = KEYS};
    if (i / check_kind_count() % 2 == 1) spec.false_positive_rate = .3;
    uint64_t keys[KEYS];
    for (uint64_t k = 0; k < KEYS; k++) keys[k] = check_key(i + k);
    filters[i] = check_filled_with(&spec, U64_KEYS(keys, KEYS));
    asked[i] = filters[i];
  }
}

static petal_answers spoil(void) {
  memset(bytes, 0xa5, sizeof bytes);
  memset(bitmap, 0xa5, sizeof bitmap);
  return ANSWERS(.bytes = bytes, .bitmap = bitmap, .true_count = 0xa5, .done = 0xa5);
}

static void check_answers(const petal_answers *answers, size_t count, uint64_t key) {
  uint64_t ones = 0;
  for (size_t i = 0; i < count; i++) {
    bool expected = petal_filter_contains_u64(asked[i], key);
    ones += expected;
    CHECK_EQUAL(bytes[i], expected);
    CHECK_EQUAL(bitmap[i / 8] >> (i % 8) & 1, expected);
  }
  CHECK_EQUAL(bytes[count], 0xa5);
  CHECK_EQUAL(bitmap[(count + 7) / 8], 0xa5);
  if (count % 8 != 0) CHECK_EQUAL(bitmap[count / 8] >> (count % 8), 0);
  CHECK_EQUAL(answers->true_count, ones);
  CHECK_EQUAL(answers->done, count);
}

static void check_all_true(const petal_answers *answers, size_t count) {
  for (size_t i = 0; i < count; i++) CHECK_EQUAL(bytes[i], 1);
  CHECK_EQUAL(answers->true_count, count);
  CHECK_EQUAL(answers->done, 0);
}

/* After the first filter has been replaced by one of a megabyte, all others are fetched ahead. */
static void enlarge(void) {
  petal_spec large = {.struct_size = sizeof large, .capacity = 1 << 20};
  petal_filter_free(filters[0]);
  asked[0] = filters[0] = check_filled_with(&large, U64_KEYS(((uint64_t[]){check_key(7)}), 1));
}

static void check_all_counts(void) {
  static const size_t counts[] = {0, 1, 63, 64, 65, 128, MOST};
  petal_spec spec = {.struct_size = sizeof spec};
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    for (uint64_t k = 0; k < 2 * MOST; k += 37) {
      uint64_t key = check_key(k), hash = 0;
      CHECK_OK(petal_spec_hash(&spec, NUMBER(key), &hash, NULL));
      petal_answers answers = spoil();
      CHECK_OK(petal_filter_contains_across(asked, counts[c], NUMBER(key), &answers, NULL));
      check_answers(&answers, counts[c], key);
      answers = spoil();
      CHECK_OK(petal_filter_contains_across(asked, counts[c], &key, sizeof key, &answers, NULL));
      check_answers(&answers, counts[c], key);
      answers = spoil();
      CHECK_OK(petal_filter_contains_across_hash(asked, counts[c], hash, &answers, NULL));
      check_answers(&answers, counts[c], key);
    }
  }
}

int main(void) {
  make();
  check_all_counts();
  enlarge();
  check_all_counts();
  petal_answers none = ANSWERS(.bytes = NULL);
  CHECK_OK(petal_filter_contains_across(NULL, 0, NUMBER(1), &none, NULL));
  CHECK_OK(petal_filter_contains_across(asked, MOST, NUMBER(check_key(7)), &none, NULL));
  CHECK(none.true_count >= 7);

  /* Each filter with its own seed is asked for its own hash. */
  petal_spec seeded = {.struct_size = sizeof seeded, .capacity = KEYS, .seed = 7};
  petal_filter_free(filters[1]);
  asked[1] = filters[1] = check_filled_with(&seeded, U64_KEYS(((uint64_t[]){check_key(1)}), 1));
  petal_answers answers = spoil();
  CHECK_OK(petal_filter_contains_across(asked, MOST, NUMBER(check_key(1)), &answers, NULL));
  check_answers(&answers, MOST, check_key(1));
  CHECK_EQUAL(bytes[1], 1);

  /* On a failure every answer is true. */
  petal_spec external = {.struct_size = sizeof external, .capacity = KEYS, .hash = PETAL_HASH_EXTERNAL};
  petal_filter_free(filters[2]);
  asked[2] = filters[2] = check_filled_with(&external, HASH_KEYS(((uint64_t[]){check_key(1)}), 1));
  petal_error error = {.struct_size = sizeof error};
  answers = spoil();
  CHECK_STATUS(petal_filter_contains_across(asked, MOST, "key", 3, &answers, &error), PETAL_ERR_EXTERNAL_HASH);
  check_all_true(&answers, MOST);
  answers = spoil();
  CHECK_OK(petal_filter_contains_across_hash(asked, MOST, 1, &answers, NULL));
  asked[2] = NULL;
  answers = spoil();
  CHECK_STATUS(petal_filter_contains_across_hash(asked, MOST, 1, &answers, &error), PETAL_ERR_NULL);
  CHECK_TEXT(error.message, "filters[2]");
  check_all_true(&answers, MOST);
  answers = spoil();
  CHECK_STATUS(petal_filter_contains_across(asked, 2, NULL, 1, &answers, &error), PETAL_ERR_NULL);
  check_all_true(&answers, 2);
  answers = spoil();
  uint64_t counts_of[2] = {0, 0};
  answers.counts = counts_of;
  CHECK_STATUS(petal_filter_contains_across_hash(asked, 2, 1, &answers, &error), PETAL_ERR_UNSUPPORTED);
  answers = spoil();
  CHECK_STATUS(petal_filter_contains_across_hash(NULL, 2, 1, &answers, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_contains_across_hash(asked, 2, 1, NULL, &error), PETAL_ERR_NULL);
  for (size_t i = 0; i < MOST; i++) petal_filter_free(filters[i]);
  return check_done();
}
