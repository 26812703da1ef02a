/* FILTERS: MANY KEYS: a batch does the same as many single calls. */
#include "check.h"

#define MOST 5000

static const size_t lengths[] = {0, 1, 7, 8, 9, 16, 63, 64, 65, 511, 512, 513, MOST};

enum form { BYTES, BYTES32, NUMBERS, HASHES };

/* MOST keys in each form: strings one after the other with their offsets, numbers, and the hashes of the strings. */
static char text[MOST * 12];
static uint64_t offsets[MOST + 1], numbers[MOST], hashes[MOST];
static int32_t offsets32[MOST + 1];

static void make_keys(void) {
  petal_spec spec = {.struct_size = sizeof spec};
  for (size_t i = 0; i < MOST; i++) {
    /* Each third key comes twice, and one is empty. */
    uint64_t number = i % 3 == 2 ? i - 1 : i;
    int length = number == 100 ? 0 : snprintf(text + offsets[i], 12, "key %" PRIu64, number);
    offsets[i + 1] = offsets[i] + (uint64_t)length;
    offsets32[i + 1] = (int32_t)offsets[i + 1];
    numbers[i] = check_key(number);
    CHECK_OK(petal_spec_hash(&spec, text + offsets[i], (size_t)length, &hashes[i], NULL));
  }
}

static petal_filter *make(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = check_room(kind, MOST),
      .false_positive_rate = 0.05};
  return check_filled(&spec, 0, 0);
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
  if (form == BYTES || form == BYTES32) CHECK_OK(petal_filter_insert(filter, text + offsets[i], length, &is_new));
  return is_new;
}

/* The first `count` keys of a form. */
static petal_keys keys_of(enum form form, size_t count) {
  if (form == NUMBERS) return petal_keys_u64(numbers, count);
  if (form == HASHES) return petal_keys_hashes(hashes, count);
  if (form == BYTES32) return petal_keys_bytes32(text, sizeof text, offsets32, count);
  return petal_keys_bytes(text, sizeof text, offsets, count);
}

/* Answers with a byte after each form of them, which must stay. */
static uint8_t bytes[MOST + 1], bitmap[(MOST + 7) / 8 + 1];

/* All forms are wanted, and their places have other bytes so far. */
static petal_answers spoil(void) {
  memset(bytes, 0xa5, sizeof bytes);
  memset(bitmap, 0xa5, sizeof bitmap);
  return ANSWERS(.bytes = bytes, .bitmap = bitmap, .true_count = 0xa5, .done = 0xa5);
}

/* The forms say the same as `single`, and nothing was written behind them. */
static void check_answers(const petal_answers *answers, const bool *single, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    CHECK_EQUAL(bytes[i], single[i]);
    CHECK_EQUAL(bitmap[i / 8] >> i % 8 & 1, single[i]);
    sum += single[i];
  }
  for (size_t i = count; i < (count + 7) / 8 * 8; i++) CHECK_EQUAL(bitmap[i / 8] >> i % 8 & 1, 0);
  CHECK_EQUAL(answers->true_count, sum);
  CHECK_EQUAL(bytes[count], 0xa5);
  CHECK_EQUAL(bitmap[(count + 7) / 8], 0xa5);
}

static void batches_equal_single_calls(petal_kind kind, enum form form) {
  static bool single[MOST];
  /* How many keys are looked up in a filter of fewer: fewer under slow tools. */
  const size_t asked = 600 + (size_t)check_scaled(MOST - 600);
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    size_t count = lengths[n];
    if (count > asked) continue;
    petal_keys all = keys_of(form, asked), some = keys_of(form, count), few = keys_of(form, count / 2);
    petal_filter *many = make(kind), *one = make(kind);

    for (size_t i = 0; i < count; i++) single[i] = insert(one, form, i);
    petal_answers answers = spoil();
    CHECK_OK(petal_filter_insert_batch(many, &some, &answers, NULL));
    check_answers(&answers, single, count);
    CHECK_EQUAL(answers.done, count);
    CHECK(check_same_bits(many, one));
    CHECK_EQUAL(check_keys(many), count);

    /* No answers wanted, and only the numbers. */
    petal_filter *silent = make(kind);
    CHECK_OK(petal_filter_insert_batch(silent, &some, NULL, NULL));
    CHECK(check_same_bits(silent, one));
    petal_filter_free(silent);
    silent = make(kind);
    petal_answers only_numbers = ANSWERS(.bytes = NULL);
    CHECK_OK(petal_filter_insert_batch(silent, &some, &only_numbers, NULL));
    CHECK(only_numbers.done == count && only_numbers.true_count == answers.true_count);
    CHECK(check_same_bits(silent, one));
    petal_filter_free(silent);

    /* All keys are looked up, of which `count` were inserted. */
    for (size_t i = 0; i < asked; i++) single[i] = contains(one, form, i);
    answers = spoil();
    CHECK_OK(petal_filter_contains_batch(many, &all, &answers, NULL));
    check_answers(&answers, single, asked);
    CHECK_EQUAL(answers.done, asked);
    answers = spoil();
    CHECK_OK(petal_filter_contains_batch(many, &some, &answers, NULL));
    for (size_t i = 0; i < count; i++) CHECK(single[i]);
    check_answers(&answers, single, count);
    CHECK_EQUAL(answers.true_count, count);

    /* Each form alone. */
    spoil();
    petal_answers only_bytes = ANSWERS(.bytes = bytes), only_bitmap = ANSWERS(.bitmap = bitmap);
    CHECK_OK(petal_filter_contains_batch(many, &some, &only_bytes, NULL));
    CHECK_OK(petal_filter_contains_batch(many, &some, &only_bitmap, NULL));
    CHECK_OK(petal_filter_contains_batch(many, &some, &only_numbers, NULL));
    check_answers(&only_bytes, single, count);
    check_answers(&only_bitmap, single, count);
    check_answers(&only_numbers, single, count);

    /* A batch of which only half is there. */
    petal_filter *half = make(kind);
    CHECK_OK(petal_filter_insert_batch(half, &few, NULL, NULL));
    CHECK_EQUAL(check_keys(half), count / 2);
    for (size_t i = 0; i < count; i++) single[i] = contains(half, form, i);
    answers = spoil();
    CHECK_OK(petal_filter_contains_batch(half, &some, &answers, NULL));
    check_answers(&answers, single, count);
    petal_filter_free(half);
    petal_filter_free(many);
    petal_filter_free(one);
  }
}

/* The lookups of a filter that was built from the first half of the keys, and what it says of an insertion. */
static void lookups_equal_single_calls(petal_kind kind, enum form form) {
  static bool single[MOST];
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .false_positive_rate = 0.05};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    petal_keys some = keys_of(form, lengths[n]), few = keys_of(form, lengths[n] / 2);
    petal_filter *half = check_filled_with(&spec, &few);
    for (size_t i = 0; i < lengths[n]; i++) single[i] = contains(half, form, i);
    for (size_t i = 0; i < lengths[n] / 2; i++) CHECK(single[i]);
    petal_answers answers = spoil();
    CHECK_OK(petal_filter_contains_batch(half, &some, &answers, NULL));
    check_answers(&answers, single, lengths[n]);
    CHECK_EQUAL(answers.done, lengths[n]);
    check_image image = check_take_image(half);
    answers = spoil();
    CHECK_STATUS(petal_filter_insert_batch(half, &some, &answers, NULL), PETAL_ERR_UNSUPPORTED);
    CHECK(answers.done == 0 && check_same_image(half, image));
    free(image.bytes);
    petal_filter_free(half);
  }
}

/* Keys and answers that every batch function refuses, each with the number of keys that can be read from it, or -1 if
 * none can. */
static uint64_t wrong_offsets[] = {0, 4, 2, 6}, odd[16];
static int32_t wrong_offsets32[] = {0, 4, 2, 6, -1, 3};
static struct refusal {
  petal_keys keys;
  petal_answers answers;
  petal_status status;
  const char *message;
  long readable;
} refusals[24];
static size_t refusal_count;

static void refuse(petal_keys keys, petal_answers answers, petal_status status, const char *message, long readable) {
  refusals[refusal_count++] = (struct refusal){keys, answers, status, message, readable};
}

static void make_refusals(void) {
  petal_answers all = ANSWERS(.bytes = bytes, .bitmap = bitmap);
  const uint64_t *misaligned = (const uint64_t *)(const void *)((const char *)numbers + 4);
  refuse(petal_keys_bytes(text, 6, wrong_offsets, 3), all, PETAL_ERR_OFFSETS, "offsets[2] = 2", 3);
  refuse(petal_keys_bytes(text, 3, offsets, 9), all, PETAL_ERR_OFFSETS, "offsets[9] = ", 9);
  refuse(petal_keys_bytes(NULL, 3, offsets, 9), all, PETAL_ERR_NULL, "data of keys is NULL", 9);
  refuse(petal_keys_bytes(text, 3, NULL, 9), all, PETAL_ERR_NULL, "offsets of keys is NULL", 9);
  const int32_t *misaligned32 = (const int32_t *)(const void *)((const char *)offsets32 + 2);
  refuse(petal_keys_bytes32(text, 6, wrong_offsets32, 3), all, PETAL_ERR_OFFSETS, "offsets[2] = 2", 3);
  refuse(petal_keys_bytes32(text, 6, wrong_offsets32 + 4, 1), all, PETAL_ERR_OFFSETS, "offsets[0] = -1", 1);
  refuse(petal_keys_bytes32(text, 3, offsets32, 9), all, PETAL_ERR_OFFSETS, "offsets[9] = ", 9);
  refuse(petal_keys_bytes32(NULL, 3, offsets32, 9), all, PETAL_ERR_NULL, "data of keys is NULL", 9);
  refuse(petal_keys_bytes32(text, 3, NULL, 9), all, PETAL_ERR_NULL, "offsets of keys is NULL", 9);
  refuse(petal_keys_bytes32(text, 3, misaligned32, 9), all, PETAL_ERR_MISALIGNED, "not aligned to 4 bytes", 9);
  refuse(petal_keys_u64(NULL, 9), all, PETAL_ERR_NULL, "data of keys is NULL", 9);
  refuse(petal_keys_hashes(NULL, 9), all, PETAL_ERR_NULL, "data of keys is NULL", 9);
  refuse(petal_keys_hashes(misaligned, 9), all, PETAL_ERR_MISALIGNED, "data of keys is not aligned", 9);
  petal_keys keys = petal_keys_u64(numbers, 9);
  keys.form = 6;
  refuse(keys, all, PETAL_ERR_UNKNOWN_VALUE, "form = 6 of keys", 9);
  keys = petal_keys_u64(numbers, 9);
  keys.reserved = 7;
  refuse(keys, all, PETAL_ERR_UNKNOWN_VALUE, "reserved = 7 of keys", 9);
  keys = petal_keys_u64(numbers, 9);
  keys.struct_size--;
  refuse(keys, all, PETAL_ERR_STRUCT_SIZE, "struct_size = 47 of a petal_keys", -1);
  keys = petal_keys_u64(numbers, 9);
  petal_answers answers = all;
  answers.counts = odd;
  refuse(keys, answers, PETAL_ERR_UNSUPPORTED, "counts is wanted", 9);
  answers = all;
  answers.values = odd;
  refuse(keys, answers, PETAL_ERR_UNSUPPORTED, "values is wanted", 9);
  answers.values = (uint64_t *)(void *)((char *)odd + 1);
  refuse(keys, answers, PETAL_ERR_MISALIGNED, "values of answers", 9);
}

/* A lookup that fails says 1 of every key. */
static void check_all_true(const petal_answers *answers, size_t count) {
  static bool yes[MOST];
  for (size_t i = 0; i < count; i++) yes[i] = true;
  check_answers(answers, yes, count);
  CHECK_EQUAL(answers->done, 0);
}

static petal_error error = {.struct_size = sizeof error};

static void failed_lookups_say_true(petal_kind kind) {
  petal_filter *filter = make(kind);
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    for (enum form form = BYTES; form <= HASHES; form++) {
      petal_keys keys = keys_of(form, lengths[n]);
      petal_answers answers = spoil();
      CHECK_STATUS(petal_filter_contains_batch(NULL, &keys, &answers, NULL), PETAL_ERR_NULL);
      check_all_true(&answers, lengths[n]);
    }
  }
  for (size_t i = 0; i < refusal_count; i++) {
    const struct refusal *refusal = &refusals[i];
    spoil();
    petal_answers answers = refusal->answers;
    CHECK_STATUS(petal_filter_contains_batch(filter, &refusal->keys, &answers, &error), refusal->status);
    CHECK_TEXT(error.message, refusal->message);
    if (refusal->readable >= 0) {
      check_all_true(&answers, (size_t)refusal->readable);
    } else {
      CHECK(answers.true_count == UINT64_MAX && answers.done == 0 && bytes[0] == 0xa5 && bitmap[0] == 0xa5);
    }
  }
  /* More keys than can be have no room; answers whose size is wrong are not touched. */
  spoil();
  petal_keys keys = petal_keys_u64(numbers, SIZE_MAX);
  petal_answers answers = ANSWERS(.bytes = NULL);
  CHECK_STATUS(petal_filter_contains_batch(filter, &keys, &answers, NULL), PETAL_ERR_TOO_LARGE);
  CHECK_EQUAL(answers.true_count, SIZE_MAX);
  keys = petal_keys_u64(numbers, 9);
  answers = spoil();
  answers.struct_size--;
  CHECK_STATUS(petal_filter_contains_batch(filter, &keys, &answers, &error), PETAL_ERR_STRUCT_SIZE);
  CHECK_TEXT(error.message, "of a petal_answers");
  CHECK(answers.true_count == 0xa5 && answers.done == 0xa5 && bytes[0] == 0xa5);

  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .hash = PETAL_HASH_EXTERNAL};
  petal_filter *external = check_filled(&spec, 0, 0);
  for (enum form form = BYTES; form <= NUMBERS; form++) {
    keys = keys_of(form, 513);
    answers = spoil();
    CHECK_STATUS(petal_filter_contains_batch(external, &keys, &answers, NULL), PETAL_ERR_EXTERNAL_HASH);
    check_all_true(&answers, 513);
  }
  petal_filter_free(external);
  petal_filter_free(filter);
}

/* An insertion that fails inserts nothing, says so, and writes nothing else. */
static void failed_insertions(petal_kind kind) {
  petal_filter *filter = make(kind);
  petal_keys keys = keys_of(BYTES, 100);
  CHECK_OK(petal_filter_insert_batch(filter, &keys, NULL, NULL));
  check_image image = check_take_image(filter);
  for (size_t i = 0; i < refusal_count; i++) {
    const struct refusal *refusal = &refusals[i];
    for (int shared = 0; shared < 2; shared++) {
      spoil();
      petal_answers answers = refusal->answers;
      answers.true_count = answers.done = 99;
      petal_status status = shared ? petal_filter_insert_shared_batch(filter, &refusal->keys, &answers, &error)
                                   : petal_filter_insert_batch(filter, &refusal->keys, &answers, &error);
      if (shared && !check_can(kind, PETAL_CAN_INSERT_SHARED)) {
        CHECK(status == refusal->status || status == PETAL_ERR_UNSUPPORTED);
      } else {
        CHECK_STATUS(status, refusal->status);
        CHECK_TEXT(error.message, refusal->message);
      }
      CHECK(answers.true_count == 0 && answers.done == 0 && bytes[0] == 0xa5 && bitmap[0] == 0xa5);
    }
  }
  petal_answers answers = spoil();
  keys = keys_of(HASHES, 9);
  CHECK_STATUS(petal_filter_insert_batch(NULL, &keys, &answers, NULL), PETAL_ERR_NULL);
  CHECK(answers.true_count == 0 && answers.done == 0 && bytes[0] == 0xa5);
  answers.done = 99;
  keys = petal_keys_u64(numbers, SIZE_MAX);
  CHECK_STATUS(petal_filter_insert_batch(filter, &keys, &answers, NULL), PETAL_ERR_TOO_LARGE);
  CHECK_EQUAL(answers.done, 0);
  CHECK(check_same_image(filter, image));
  free(image.bytes);
  petal_filter_free(filter);
}

/* Structs as a later version may have them: what it appended is taken if it is 0. */
static void later_structs(petal_kind kind) {
  struct {
    petal_keys now;
    uint64_t later;
  } keys = {petal_keys_u64(numbers, 3), 0};
  uint8_t found[3] = {7, 7, 7};
  struct {
    petal_answers now;
    uint64_t later;
  } answers = {ANSWERS(.bytes = found), 0};
  petal_filter *filter = make(kind);
  keys.now.struct_size = sizeof keys;
  answers.now.struct_size = sizeof answers;
  CHECK_OK(petal_filter_insert_batch(filter, &keys.now, &answers.now, NULL));
  CHECK(answers.now.true_count == found[0] + found[1] + (uint64_t)found[2] && answers.now.done == 3);
  CHECK_OK(petal_filter_contains_batch(filter, &keys.now, &answers.now, NULL));
  CHECK_EQUAL(answers.now.true_count, 3);
  /* What is set but not known is refused, and yet all keys are found. */
  petal_filter_clear(filter, NULL);
  for (int which = 0; which < 2; which++) {
    keys.later = which == 0;
    answers.later = which == 1;
    memset(found, 7, sizeof found);
    CHECK_STATUS(petal_filter_contains_batch(filter, &keys.now, &answers.now, NULL), PETAL_ERR_STRUCT_SIZE);
    CHECK(answers.now.true_count == 3 && found[0] == 1 && found[1] == 1 && found[2] == 1);
  }
  petal_filter_free(filter);
}

int main(void) {
  make_keys();
  make_refusals();
  for (size_t k = 0; k < check_kind_count(); k++) {
    bool inserts = check_can(check_kind(k), PETAL_CAN_INSERT);
    for (enum form form = BYTES; form <= HASHES; form++) {
      (inserts ? batches_equal_single_calls : lookups_equal_single_calls)(check_kind(k), form);
    }
    failed_lookups_say_true(check_kind(k));
    if (!inserts) continue;
    failed_insertions(check_kind(k));
    later_structs(check_kind(k));
  }
  return check_done();
}
