/* FILTERS whose keys are integers below a bound: every kind with `PETAL_TAKES_INTEGERS`. */
#include "check.h"

enum { UNIVERSE = 1000 };

static petal_filter *multiples(petal_kind kind, uint64_t of) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .bits = UNIVERSE};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  for (uint64_t key = 0; key < UNIVERSE; key += of) CHECK_OK(petal_filter_insert_u64(filter, key, NULL));
  return filter;
}

static void holds_multiples(const petal_filter *filter, uint64_t of) {
  uint64_t keys[UNIVERSE + 100], counts[UNIVERSE + 100];
  for (uint64_t key = 0; key < UNIVERSE + 100; key++) {
    const bool is_there = key < UNIVERSE && key % of == 0;
    CHECK(petal_filter_contains_u64(filter, key) == is_there);
    /* Its eight little-endian bytes are the same key, and so is its hash. */
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(key >> 8 * i);
    CHECK(petal_filter_contains(filter, bytes, 8) == is_there && petal_filter_contains_hash(filter, key) == is_there);
    keys[key] = key;
  }
  petal_answers answers = ANSWERS(.counts = counts);
  CHECK_OK(petal_filter_count_batch(filter, U64_KEYS(keys, UNIVERSE + 100), &answers, NULL));
  for (uint64_t key = 0; key < UNIVERSE + 100; key++) CHECK_EQUAL(counts[key], key < UNIVERSE && key % of == 0);
  petal_filter_estimate estimate;
  CHECK_OK(petal_filter_get_estimate(filter, &estimate, NULL));
  CHECK(estimate.value == (double)((UNIVERSE - 1) / of + 1) && estimate.low == estimate.value);
  petal_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
  CHECK(statistics.false_positive_rate == 0);
}

static void integers(petal_kind kind) {
  petal_filter *twos = multiples(kind, 2), *threes = multiples(kind, 3);
  holds_multiples(twos, 2);
  holds_multiples(threes, 3);

  /* Past the universe nothing is inserted, and what is no integer is refused. */
  petal_error error = {.struct_size = sizeof error};
  check_image before = check_take_image(twos);
  CHECK_STATUS(petal_filter_insert_u64(twos, UNIVERSE, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_filter_insert_hash(twos, UINT64_MAX, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_filter_insert(twos, "seven", 5, NULL), PETAL_ERR_OUT_OF_RANGE);
  uint64_t past[] = {2, UNIVERSE, 4};
  petal_answers answers = ANSWERS(.bytes = NULL);
  CHECK_STATUS(petal_filter_insert_batch(twos, U64_KEYS(past + 1, 2), &answers, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_TEXT(error.message, "universe");
  CHECK_EQUAL(answers.done, 0);
  CHECK(check_same_image(twos, before));
  free(before.bytes);
  bool answer = false;
  CHECK_STATUS(petal_filter_contains_checked(twos, "seven", 5, &answer), PETAL_ERR_OUT_OF_RANGE);
  CHECK(petal_filter_contains(twos, "seven", 5));

  CHECK_OK(petal_filter_intersect(twos, threes, NULL));
  holds_multiples(twos, 6);
  for (uint64_t key = 0; key < UNIVERSE; key += 3) {
    CHECK_OK(petal_filter_remove_u64(threes, key, &answer));
    CHECK(answer);
  }
  CHECK_OK(petal_filter_merge(threes, twos, NULL));
  holds_multiples(threes, 6);

  /* The compact form needs no hash function. */
  uint64_t size = 0;
  CHECK_OK(petal_filter_compact_size(threes, &size, NULL));
  unsigned char *form = calloc(1, size);
  CHECK_OK(petal_filter_serialize_compact(threes, form, size, &size, NULL));
  for (uint64_t key = 0; key < UNIVERSE + 100; key++) {
    CHECK(petal_compact_contains_hash(form, size, key) == (key < UNIVERSE && key % 6 == 0));
  }
  free(form);
  petal_filter_free(twos);
  petal_filter_free(threes);
}

int main(void) {
  size_t kinds = 0;
  for (size_t i = 0; i < petal_kind_count(); i++) {
    petal_kind_info info = {.struct_size = sizeof info};
    CHECK_OK(petal_kind_get_at(i, &info, NULL));
    if ((info.flags & PETAL_TAKES_INTEGERS) == 0) continue;
    integers(info.kind);
    kinds++;
  }
  CHECK(kinds >= 1);
  return check_done();
}
