/* COMPACT FORMS: of every kind, opened, copied and asked where they lie; made by builders; and damaged. */
#include "check.h"

#define KEYS 200
#define FRESH 1000

static uint64_t keys[KEYS];

typedef struct {
  uint64_t words[4096];
  size_t length;
} form;

static form take(const petal_filter *filter) {
  form made;
  uint64_t size = 0;
  size_t written = 0;
  memset(&made, 0xa5, sizeof made);
  CHECK_OK(petal_filter_compact_size(filter, &size, NULL));
  CHECK(size + 1 < sizeof made.words);
  CHECK_STATUS(petal_filter_serialize_compact(filter, made.words, size - 1, NULL, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK_OK(petal_filter_serialize_compact(filter, made.words, sizeof made.words, &written, NULL));
  CHECK_EQUAL(written, size);
  CHECK_EQUAL(((unsigned char *)made.words)[size], 0xa5);
  CHECK(size % 64 == 8 || size % 64 == 16);
  made.length = size;
  return made;
}

static uint64_t hash_of(const petal_filter *filter, uint64_t key) {
  uint64_t hash = 0;
  CHECK_OK(petal_filter_hash(filter, NUMBER(key), &hash));
  return hash;
}

static void check_kind_of(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = KEYS, .seed = 7};
  petal_compact_options options = {.struct_size = sizeof options, .seed = 7, .verify = 1};
  petal_filter *filter = check_filled_with(&spec, U64_KEYS(keys, KEYS)), *opened = NULL, *loaded = NULL;
  form made = take(filter);
  /* At an odd address a filter is copied. */
  static char odd[sizeof made.words + 1];
  memcpy(odd + 1, made.words, made.length);
  CHECK_OK(petal_filter_open_compact(made.words, made.length, &options, &opened, NULL));
  CHECK_OK(petal_filter_load_compact(odd + 1, made.length, &options, &loaded, NULL));
  CHECK_OK(petal_compact_verify(odd + 1, made.length, NULL));
  for (uint64_t i = 0; i < KEYS + FRESH; i++) {
    uint64_t key = check_key(i), hash = hash_of(filter, key);
    bool expected = petal_filter_contains_u64(filter, key), found = !expected;
    CHECK(expected || i >= KEYS);
    CHECK_EQUAL(petal_filter_contains_u64(opened, key), expected);
    CHECK_EQUAL(petal_filter_contains_u64(loaded, key), expected);
    CHECK_EQUAL(petal_compact_contains_hash(made.words, made.length, hash), expected);
    CHECK_EQUAL(petal_compact_contains(made.words, made.length, &options, &key, sizeof key), expected);
    CHECK_OK(petal_compact_contains_checked_hash(made.words, made.length, hash, &found, NULL));
    CHECK_EQUAL(found, expected);
    /* At any address, or refused: then it may be there. */
    if (petal_compact_contains_checked_hash(odd + 1, made.length, hash, &found, NULL) == PETAL_OK) {
      CHECK_EQUAL(found, expected);
    } else {
      CHECK(petal_compact_contains_hash(odd + 1, made.length, hash));
    }
  }
  CHECK(check_same_bits(filter, opened) && check_same_bits(filter, loaded));
  CHECK_OK(petal_filter_verify(opened, NULL));
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(opened, &description, NULL));
  CHECK_EQUAL(description.insertions, 0);
  CHECK_EQUAL(description.capacity, 0);
  CHECK_EQUAL(description.state & (PETAL_STATE_IN_PLACE | PETAL_STATE_WRITABLE), PETAL_STATE_IN_PLACE);
  CHECK_STATUS(petal_filter_insert_u64(opened, 1, NULL), check_can(description.kind, PETAL_CAN_INSERT)
                                                             ? PETAL_ERR_UNSUPPORTED_BY_HANDLE
                                                             : PETAL_ERR_UNSUPPORTED);
  petal_filter_free(opened);
  petal_filter_free(loaded);

  /* Every byte counts. */
  for (size_t i = 0; i < made.length; i++) {
    form damaged = made;
    ((unsigned char *)damaged.words)[i] ^= 0x10;
    petal_error error = {.struct_size = sizeof error};
    CHECK_STATUS(petal_filter_open_compact(damaged.words, made.length, &options, &opened, &error), PETAL_ERR_CORRUPT);
    CHECK_STATUS(petal_compact_verify(damaged.words, made.length, NULL), PETAL_ERR_CORRUPT);
  }
  petal_filter_free(filter);
}

static void check_lengths(void) {
  form made;
  memset(&made, 0, sizeof made);
  petal_filter *opened = NULL;
  for (size_t length = 0; length < 300; length++) {
    petal_status status = petal_filter_open_compact(made.words, length, NULL, &opened, NULL);
    CHECK(status == PETAL_ERR_TRUNCATED || status == PETAL_ERR_FOREIGN || status == PETAL_ERR_CORRUPT ||
          status == PETAL_ERR_NEWER_VERSION);
    CHECK(petal_compact_contains_hash(made.words, length, 1));
  }
  CHECK_STATUS(petal_filter_open_compact(made.words, SIZE_MAX, NULL, &opened, NULL), PETAL_ERR_TOO_LARGE);
  CHECK(petal_compact_contains_hash(made.words, SIZE_MAX, 1));
  CHECK(petal_compact_contains_hash(NULL, 80, 1));
  CHECK(petal_compact_contains(NULL, 80, NULL, "key", 3));
  CHECK(petal_compact_contains(made.words, 80, NULL, "key", 3));
}

static void check_options(void) {
  petal_spec spec = {.struct_size = sizeof spec, .capacity = KEYS, .hash = PETAL_HASH_SIPHASH13, .secret = {1, 2, 3}};
  petal_filter *filter = check_filled_with(&spec, U64_KEYS(keys, KEYS)), *opened = NULL;
  form made = take(filter);
  petal_compact_options options = {.struct_size = sizeof options, .hash = PETAL_HASH_SIPHASH13};
  CHECK_STATUS(petal_filter_open_compact(made.words, made.length, &options, &opened, NULL), PETAL_ERR_SECRET_MISSING);
  options.seed = 1;
  memcpy(options.secret, spec.secret, sizeof spec.secret);
  CHECK_STATUS(petal_filter_open_compact(made.words, made.length, &options, &opened, NULL), PETAL_ERR_CONTRADICTION);
  options.seed = 0;
  CHECK_OK(petal_filter_open_compact(made.words, made.length, &options, &opened, NULL));
  for (size_t i = 0; i < KEYS; i++) CHECK(petal_filter_contains_u64(opened, keys[i]));
  petal_filter_free(opened);
  options.verify = 2;
  CHECK_STATUS(petal_filter_open_compact(made.words, made.length, &options, &opened, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_filter_open_compact((char *)made.words + 4, made.length, NULL, &opened, NULL), PETAL_ERR_CORRUPT);
  petal_filter_free(filter);
}

/* A builder that is used again and again, as one for the blocks of a table is. */
static void check_builder(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind};
  petal_builder *builder = NULL;
  CHECK_OK(petal_builder_new(&spec, NULL, &builder, NULL));
  for (size_t count = 1; count <= KEYS; count += 33) {
    CHECK_OK(petal_builder_add_batch(builder, U64_KEYS(keys, count), NULL, NULL));
    CHECK_OK(petal_builder_add_batch(builder, U64_KEYS(keys, count / 2), NULL, NULL));
    uint64_t size = 0;
    size_t written = 0;
    CHECK_OK(petal_builder_compact_size(builder, &size, NULL));
    static char buffer[1 << 16];
    CHECK_STATUS(petal_builder_finish_compact(builder, buffer + 1, 16, &written, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
    CHECK_OK(petal_builder_finish_compact(builder, buffer + 1, sizeof buffer - 1, &written, NULL));
    /* What is built from its keys may need a little more than is expected, and so may copies of keys where each can be
     * removed. */
    bool keeps_copies = check_refuses_copies(kind) || check_can(kind, PETAL_CAN_GROW | PETAL_CAN_REMOVE);
    CHECK(written <= size || !check_can(kind, PETAL_CAN_INSERT) || keeps_copies);
    petal_filter *loaded = NULL;
    CHECK_OK(petal_filter_load_compact(buffer + 1, written, NULL, &loaded, NULL));
    size_t lost = 0;
    for (size_t i = 0; i < count; i++) {
      bool found = petal_filter_contains_u64(loaded, keys[i]);
      CHECK_EQUAL(petal_compact_contains(buffer + 1, written, NULL, &keys[i], sizeof keys[i]), found);
      lost += !found;
    }
    CHECK(lost <= (check_can(kind, PETAL_MAY_LOSE_KEYS) ? 1 + count / 50 : 0));
    petal_filter *whole = check_filled_with(&(petal_spec){.struct_size = sizeof spec, .kind = kind, .capacity = count},
                                            U64_KEYS(keys, count));
    if (check_can(kind, PETAL_CAN_MERGE) && !check_counts(kind) && check_has(kind, PETAL_IS_CANONICAL)) {
      CHECK(check_same_bits(loaded, whole));
    }
    petal_filter_free(whole);
    petal_filter_free(loaded);
    uint64_t insertions = 1;
    CHECK_OK(petal_builder_key_count(builder, &insertions, NULL));
    CHECK_EQUAL(insertions, 0);
  }
  petal_builder_free(builder);
}

/* Many forms in one call, with the hashes of many keys that are made once. */
static void check_many(void) {
  static form forms[100];
  const void *data[100];
  size_t lengths[100];
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 20};
  for (size_t i = 0; i < 100; i++) {
    petal_filter *filter = check_filled_with(&spec, U64_KEYS(keys + i, 10));
    forms[i] = take(filter);
    data[i] = forms[i].words;
    lengths[i] = forms[i].length;
    petal_filter_free(filter);
  }
  uint64_t hashes[KEYS];
  CHECK_OK(petal_spec_hash_batch(&spec, U64_KEYS(keys, KEYS), hashes, NULL));
  CHECK_OK(petal_spec_hash_batch(&spec, U64_KEYS(keys, 0), NULL, NULL));
  CHECK_STATUS(petal_spec_hash_batch(&spec, U64_KEYS(keys, 1), NULL, NULL), PETAL_ERR_NULL);
  petal_error error = {.struct_size = sizeof error};
  for (size_t k = 0; k < KEYS; k++) {
    uint64_t hash = 0;
    CHECK_OK(petal_spec_hash(&spec, NUMBER(keys[k]), &hash, NULL));
    CHECK_EQUAL(hashes[k], hash);
    uint8_t bytes[100];
    petal_answers answers = ANSWERS(.bytes = bytes);
    CHECK_OK(petal_compact_contains_across_hash(data, lengths, 100, hash, &answers, &error));
    uint64_t ones = 0;
    for (size_t i = 0; i < 100; i++) {
      CHECK_EQUAL(bytes[i], petal_compact_contains_hash(data[i], lengths[i], hash));
      CHECK(bytes[i] == 1 || k < i || k >= i + 10);
      ones += bytes[i];
    }
    CHECK_EQUAL(answers.true_count, ones);
  }
  uint8_t bytes[100] = {0};
  petal_answers answers = ANSWERS(.bytes = bytes);
  forms[50].words[lengths[50] / 8 - 1] ^= 1;
  CHECK_STATUS(petal_compact_contains_across_hash(data, lengths, 100, 1, &answers, &error), PETAL_ERR_CORRUPT);
  CHECK_TEXT(error.message, "form 50");
  for (size_t i = 0; i < 100; i++) CHECK_EQUAL(bytes[i], 1);
  data[7] = NULL;
  CHECK_STATUS(petal_compact_contains_across_hash(data, lengths, 100, 1, &answers, &error), PETAL_ERR_NULL);
  CHECK_TEXT(error.message, "data[7]");
  CHECK_OK(petal_compact_contains_across_hash(NULL, NULL, 0, 1, &answers, NULL));
}

int main(void) {
  for (uint64_t i = 0; i < KEYS; i++) keys[i] = check_key(i);
  for (size_t k = 0; k < check_kind_count(); k++) {
    check_kind_of(check_kind(k));
    check_builder(check_kind(k));
  }
  check_lengths();
  check_options();
  check_many();
  return check_done();
}
