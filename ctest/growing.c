/* FILTERS THAT GROW: past their capacity with the same rate in their own memory; FULL where an image lies in place. */
#include "check.h"

/* The share of numbers that were never inserted of which a filter says that it has them. */
static double rate(const petal_filter *filter) {
  enum { FRESH = 100000 };
  uint64_t *fresh = malloc(FRESH * sizeof *fresh);
  for (uint64_t i = 0; i < FRESH; i++) fresh[i] = check_key((UINT64_C(1) << 40) + i);
  petal_answers answers = ANSWERS(.bytes = NULL);
  CHECK_OK(petal_filter_contains_batch(filter, U64_KEYS(fresh, FRESH), &answers, NULL));
  free(fresh);
  return (double)answers.true_count / FRESH;
}

static void holds(const petal_filter *filter, uint64_t from, uint64_t to) {
  uint64_t lost = 0;
  for (uint64_t i = from; i < to; i++) lost += !petal_filter_contains_u64(filter, check_key(i));
  CHECK_EQUAL(lost, 0);
}

static void insert(petal_filter *filter, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
}

/* Inserts until the filter is full, and says how many keys it took. */
static uint64_t fill(petal_filter *filter, uint64_t from) {
  for (uint64_t i = from;; i++) {
    bool is_new = true;
    petal_status status = petal_filter_insert_u64(filter, check_key(i), &is_new);
    if (status == PETAL_OK) continue;
    CHECK_STATUS(status, PETAL_ERR_FULL);
    CHECK(!petal_filter_contains_u64(filter, check_key(i)));
    return i;
  }
}

static petal_filter *make(petal_kind kind, uint64_t capacity) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = capacity, .false_positive_rate = 0.01};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  return filter;
}

static void grows_a_thousandfold(petal_kind kind) {
  const char *path = check_path("growing.petal");
  uint64_t many = check_scaled(100000);
  petal_filter *filter = make(kind, 100), *again = NULL;
  petal_description before = {.struct_size = sizeof before}, after = before;
  CHECK_OK(petal_filter_describe(filter, &before, NULL));
  CHECK(before.capabilities & PETAL_CAN_GROW);

  insert(filter, 0, many);
  holds(filter, 0, many);
  /* 4.5 standard deviations of 100,000 lookups at 1 % are 0.14 %. */
  CHECK(rate(filter) < 0.01142);
  petal_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
  CHECK(statistics.false_positive_rate < 0.0101);
  CHECK_OK(petal_filter_describe(filter, &after, NULL));
  CHECK(after.bits > before.bits && after.capacity == 100 && after.false_positive_rate == 0.01);

  /* Saved, loaded, and grown on. */
  CHECK_OK(petal_filter_save(filter, path, NULL));
  petal_open_options load = {.struct_size = sizeof load, .mode = PETAL_OPEN_LOAD};
  CHECK_OK(petal_filter_open(path, &load, &again, NULL));
  CHECK(check_same_bits(filter, again));
  insert(again, many, 3 * many);
  insert(filter, many, 3 * many);
  holds(again, 0, 3 * many);
  CHECK(check_same_bits(filter, again));
  CHECK(rate(again) < 0.01142);
  CHECK_OK(petal_filter_verify(again, NULL));
  petal_filter_free(again);

  CHECK_OK(petal_filter_save(filter, path, NULL));
  petal_filter_free(filter);
  if (!check_is_writable(kind)) return;
  /* A file that is mapped keeps its size: it takes what its last level has room for. */
  petal_open_options write = {.struct_size = sizeof write, .mode = PETAL_OPEN_WRITE};
  CHECK_OK(petal_filter_open(path, &write, &again, NULL));
  CHECK(!(petal_filter_capabilities(again) & PETAL_CAN_GROW));
  uint64_t full = fill(again, 3 * many);
  holds(again, 0, full);
  CHECK_STATUS(petal_filter_insert_u64(again, check_key(full), NULL), PETAL_ERR_FULL);
  petal_filter_free(again);
  CHECK_OK(petal_filter_open(path, &load, &again, NULL));
  holds(again, 0, full);
  CHECK_OK(petal_filter_insert_u64(again, check_key(full), NULL));
  petal_filter_free(again);
}

static void fills_a_buffer(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 1000, .false_positive_rate = 0.01};
  uint64_t size = 0;
  CHECK_OK(petal_spec_image_size(&spec, &size, NULL));
  unsigned char *buffer = malloc((size_t)size);
  petal_filter *filter = NULL, *copy = NULL;
  if (!check_is_writable(kind)) {
    CHECK_STATUS(petal_filter_new_in_buffer(&spec, buffer, (size_t)size, &filter, NULL), PETAL_ERR_UNSUPPORTED);
    free(buffer);
    return;
  }
  CHECK_OK(petal_filter_new_in_buffer(&spec, buffer, (size_t)size, &filter, NULL));
  uint64_t full = fill(filter, 0);
  CHECK(full >= 1000);
  holds(filter, 0, full);

  /* A batch takes the keys before the first that does not fit; keys that are there need no room. */
  uint64_t keys[] = {check_key(0), check_key(1), check_key(full), check_key(2)};
  uint8_t bytes[4] = {7, 7, 7, 7};
  petal_answers answers = ANSWERS(.bytes = bytes);
  CHECK_STATUS(petal_filter_insert_batch(filter, U64_KEYS(keys, 4), &answers, NULL), PETAL_ERR_FULL);
  CHECK(answers.done == 2 && answers.true_count == 0 && bytes[0] == 0 && bytes[1] == 0);
  CHECK_OK(petal_filter_insert_batch(filter, U64_KEYS(keys, 2), &answers, NULL));
  CHECK_EQUAL(answers.done, 2);
  CHECK(!petal_filter_contains_u64(filter, check_key(full)));
  CHECK_EQUAL(check_keys(filter), full + 4);

  /* A copy has its own memory, and grows. */
  CHECK_OK(petal_filter_copy(filter, &copy, NULL));
  CHECK_OK(petal_filter_insert_u64(copy, check_key(full), NULL));
  holds(copy, 0, full + 1);
  petal_filter_free(copy);
  petal_filter_free(filter);
  CHECK_OK(petal_filter_open_in_buffer(buffer, (size_t)size, NULL, &filter, NULL));
  CHECK_OK(petal_filter_verify(filter, NULL));
  holds(filter, 0, full);
  petal_filter_free(filter);
  free(buffer);
}

int main(void) {
  size_t growing = 0;
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind_info info = check_kind_info(check_kind(k));
    if (!(info.capabilities & PETAL_CAN_GROW)) continue;
    growing++;
    grows_a_thousandfold(info.kind);
    fills_a_buffer(info.kind);
  }
  CHECK(growing > 0);
  return check_done();
}
