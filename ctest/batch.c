/* FILTERS: MANY KEYS: a batch is nothing but many single calls. */
#include "check.h"

#define MOST 5000

static const size_t lengths[] = {0, 1, 7, 8, 9, 16, 63, 64, 65, 511, 512, 513, MOST};

enum form { BYTES, NUMBERS, HASHES };

/* MOST keys in each form: strings one after the other with their offsets, numbers, and the hashes of the strings. */
static char text[MOST * 12];
static uint64_t offsets[MOST + 1], numbers[MOST], hashes[MOST];

static void make_keys(void) {
  petal_spec spec = {.struct_size = sizeof spec};
  for (size_t i = 0; i < MOST; i++) {
    /* Each third key comes twice, and one is empty. */
    uint64_t number = i % 3 == 2 ? i - 1 : i;
    int length = number == 100 ? 0 : snprintf(text + offsets[i], 12, "key %" PRIu64, number);
    offsets[i + 1] = offsets[i] + (uint64_t)length;
    numbers[i] = check_key(number);
    CHECK_OK(petal_hash(&spec, text + offsets[i], (size_t)length, &hashes[i], NULL));
  }
}

static petal_filter *make(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = MOST, .false_positive_rate = 0.05};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  return filter;
}

static bool contains(const petal_filter *filter, enum form form, size_t i) {
  if (form == NUMBERS) return petal_filter_contains_u64(filter, numbers[i]);
  if (form == HASHES) return petal_filter_contains_hash(filter, hashes[i]);
  return petal_filter_contains(filter, text + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
}

static bool insert(petal_filter *filter, enum form form, size_t i) {
  bool is_new = false;
  size_t length = (size_t)(offsets[i + 1] - offsets[i]);
  if (form == NUMBERS) CHECK_OK(petal_filter_insert_u64(filter, numbers[i], &is_new));
  if (form == HASHES) CHECK_OK(petal_filter_insert_hash(filter, hashes[i], &is_new));
  if (form == BYTES) CHECK_OK(petal_filter_insert(filter, text + offsets[i], length, &is_new));
  return is_new;
}

static petal_status contains_batch(const petal_filter *filter, enum form form, size_t count, uint8_t *found,
                                   uint8_t *bitmap, uint64_t *found_count) {
  if (form == NUMBERS) return petal_filter_contains_batch_u64(filter, numbers, count, found, bitmap, found_count, NULL);
  if (form == HASHES) return petal_filter_contains_batch_hash(filter, hashes, count, found, bitmap, found_count, NULL);
  return petal_filter_contains_batch(filter, text, sizeof text, offsets, count, found, bitmap, found_count, NULL);
}

static petal_status insert_batch(petal_filter *filter, enum form form, size_t count, uint8_t *is_new, uint8_t *bitmap,
                                 uint64_t *new_count, size_t *inserted) {
  if (form == NUMBERS)
    return petal_filter_insert_batch_u64(filter, numbers, count, is_new, bitmap, new_count, inserted, NULL);
  if (form == HASHES)
    return petal_filter_insert_batch_hash(filter, hashes, count, is_new, bitmap, new_count, inserted, NULL);
  return petal_filter_insert_batch(filter, text, sizeof text, offsets, count, is_new, bitmap, new_count, inserted,
                                   NULL);
}

/* Answers with a byte after each form of them, which must stay. */
static uint8_t bytes[MOST + 1], bitmap[(MOST + 7) / 8 + 1];
static uint64_t total;

static void spoil(void) {
  memset(bytes, 0xa5, sizeof bytes);
  memset(bitmap, 0xa5, sizeof bitmap);
  total = 0xa5;
}

/* The three forms say the same as `single`, and nothing was written behind them. */
static void check_answers(const bool *single, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    CHECK_EQUAL(bytes[i], single[i]);
    CHECK_EQUAL(bitmap[i / 8] >> i % 8 & 1, single[i]);
    sum += single[i];
  }
  for (size_t i = count; i < (count + 7) / 8 * 8; i++) CHECK_EQUAL(bitmap[i / 8] >> i % 8 & 1, 0);
  CHECK_EQUAL(total, sum);
  CHECK_EQUAL(bytes[count], 0xa5);
  CHECK_EQUAL(bitmap[(count + 7) / 8], 0xa5);
}

static void batches_equal_single_calls(petal_kind kind, enum form form) {
  static bool single[MOST];
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    size_t count = lengths[n], inserted = 99;
    petal_filter *many = make(kind), *one = make(kind);

    for (size_t i = 0; i < count; i++) single[i] = insert(one, form, i);
    spoil();
    CHECK_OK(insert_batch(many, form, count, bytes, bitmap, &total, &inserted));
    check_answers(single, count);
    CHECK_EQUAL(inserted, count);
    CHECK(check_same_bits(many, one));
    CHECK_EQUAL(check_keys(many), count);

    /* No answers wanted, and each form alone. */
    petal_filter *silent = make(kind);
    CHECK_OK(insert_batch(silent, form, count, NULL, NULL, NULL, NULL));
    CHECK(check_same_bits(silent, one));
    petal_filter_free(silent);

    /* All keys are looked up, of which `count` were inserted. */
    for (size_t i = 0; i < MOST; i++) single[i] = contains(one, form, i);
    spoil();
    CHECK_OK(contains_batch(many, form, MOST, bytes, bitmap, &total));
    check_answers(single, MOST);
    spoil();
    CHECK_OK(contains_batch(many, form, count, bytes, bitmap, &total));
    for (size_t i = 0; i < count; i++) CHECK(single[i]);
    check_answers(single, count);
    CHECK_EQUAL(total, count);
    spoil();
    CHECK_OK(contains_batch(many, form, count, bytes, NULL, NULL));
    CHECK_OK(contains_batch(many, form, count, NULL, bitmap, NULL));
    CHECK_OK(contains_batch(many, form, count, NULL, NULL, &total));
    check_answers(single, count);

    /* A batch of which only half is there. */
    petal_filter *half = make(kind);
    CHECK_OK(insert_batch(half, form, count / 2, NULL, NULL, NULL, NULL));
    CHECK_EQUAL(check_keys(half), count / 2);
    for (size_t i = 0; i < count; i++) single[i] = contains(half, form, i);
    spoil();
    CHECK_OK(contains_batch(half, form, count, bytes, bitmap, &total));
    check_answers(single, count);
    petal_filter_free(half);
    petal_filter_free(many);
    petal_filter_free(one);
  }
}

/* A lookup that fails says 1 everywhere. */
static void check_all_true(size_t count) {
  static bool yes[MOST];
  for (size_t i = 0; i < count; i++) yes[i] = true;
  check_answers(yes, count);
}

static void failed_lookups_say_true(petal_kind kind) {
  petal_filter *filter = make(kind);
  uint64_t wrong[] = {0, 4, 2, 6};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    size_t count = lengths[n];
    for (enum form form = BYTES; form <= HASHES; form++) {
      spoil();
      CHECK_STATUS(contains_batch(NULL, form, count, bytes, bitmap, &total), PETAL_ERR_NULL);
      check_all_true(count);
    }
  }
  spoil();
  CHECK_STATUS(petal_filter_contains_batch(filter, text, 6, wrong, 3, bytes, bitmap, &total, NULL), PETAL_ERR_OFFSETS);
  check_all_true(3);
  spoil();
  CHECK_STATUS(petal_filter_contains_batch(filter, text, 3, offsets, 9, bytes, bitmap, &total, NULL),
               PETAL_ERR_OFFSETS);
  check_all_true(9);
  spoil();
  CHECK_STATUS(petal_filter_contains_batch_u64(filter, NULL, 9, bytes, bitmap, &total, NULL), PETAL_ERR_NULL);
  check_all_true(9);

  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .hash = PETAL_HASH_EXTERNAL};
  petal_filter *external = NULL;
  CHECK_OK(petal_filter_new(&spec, &external, NULL));
  spoil();
  CHECK_STATUS(contains_batch(external, NUMBERS, 513, bytes, bitmap, &total), PETAL_ERR_EXTERNAL_HASH);
  check_all_true(513);
  spoil();
  CHECK_STATUS(contains_batch(external, BYTES, 513, bytes, bitmap, &total), PETAL_ERR_EXTERNAL_HASH);
  check_all_true(513);
  petal_filter_free(external);
  petal_filter_free(filter);
}

/* An insertion that fails inserts nothing, says so, and writes nothing else. */
static void failed_insertions(petal_kind kind) {
  petal_filter *filter = make(kind);
  CHECK_OK(insert_batch(filter, BYTES, 100, NULL, NULL, NULL, NULL));
  check_image image = check_take_image(filter);
  uint64_t wrong[] = {0, 4, 2, 6};
  size_t inserted = 99;
  spoil();
  CHECK_STATUS(petal_filter_insert_batch(filter, text, 6, wrong, 3, bytes, bitmap, &total, &inserted, NULL),
               PETAL_ERR_OFFSETS);
  CHECK_EQUAL(inserted, 0);
  inserted = 99;
  CHECK_STATUS(petal_filter_insert_batch(filter, text, 3, offsets, 9, bytes, bitmap, &total, &inserted, NULL),
               PETAL_ERR_OFFSETS);
  CHECK_EQUAL(inserted, 0);
  inserted = 99;
  CHECK_STATUS(petal_filter_insert_batch_u64(filter, NULL, 9, bytes, bitmap, &total, &inserted, NULL), PETAL_ERR_NULL);
  CHECK_EQUAL(inserted, 0);
  inserted = 99;
  CHECK_STATUS(petal_filter_insert_batch_hash(NULL, hashes, 9, bytes, bitmap, &total, &inserted, NULL), PETAL_ERR_NULL);
  CHECK_EQUAL(inserted, 0);
  inserted = 99;
  CHECK_STATUS(petal_filter_insert_batch_u64(filter, numbers, SIZE_MAX, NULL, NULL, NULL, &inserted, NULL),
               PETAL_ERR_TOO_LARGE);
  CHECK_EQUAL(inserted, 0);
  CHECK_EQUAL(bytes[0], 0xa5);
  CHECK_EQUAL(bitmap[0], 0xa5);
  CHECK_EQUAL(total, 0xa5);
  CHECK(check_same_image(filter, image));
  free(image.bytes);
  petal_filter_free(filter);
}

int main(void) {
  make_keys();
  for (size_t k = 0; k < petal_kind_count(); k++) {
    for (enum form form = BYTES; form <= HASHES; form++) batches_equal_single_calls(check_kind(k), form);
    failed_lookups_say_true(check_kind(k));
    failed_insertions(check_kind(k));
  }
  return check_done();
}
