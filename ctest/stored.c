/* FILTERS: WHAT IS STORED OF KEYS, and the filters that BIP 158 has for blocks */
#include "check.h"

/* How often each is there that was listed last. */
static uint64_t counts[3000];

/* All numbers that a filter stores, in pieces of `room`; how many these are. */
static size_t listed(const petal_filter *filter, size_t room, uint64_t *numbers) {
  size_t count = 0, all = 0;
  uint64_t from = 0;
  do {
    CHECK_OK(petal_filter_get_stored_hashes(filter, from, numbers + all, counts + all, room, &count, NULL));
    for (size_t i = 0; i < count; i++) {
      CHECK(numbers[all + i] >= from && (i == 0 || numbers[all + i] > numbers[all + i - 1]));
    }
    all += count;
    if (count > 0) from = numbers[all - 1] + 1;
  } while (count == room);
  return all;
}

static bool is_among(const uint64_t *numbers, size_t count, uint64_t number) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (numbers[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && numbers[low] == number;
}

/* A key is found exactly if its number is listed. */
static void a_kind_that_can(petal_kind kind) {
  static uint64_t numbers[2 * 1000];
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .hash = PETAL_HASH_EXTERNAL,
      .false_positive_rate = 0.01};
  petal_filter *filter = check_filled(&spec, 0, 1000), *empty = check_filled(&spec, 0, 0);
  size_t count = listed(filter, 1000, numbers);
  CHECK(count > 900 && count <= 1000);
  for (size_t room = 1; room <= 64; room *= 4) CHECK_EQUAL(listed(filter, room, numbers), count);
  /* As often as the keys that have this number; their counts are not asked for where nobody counts. */
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++) all += counts[i];
  CHECK_EQUAL(all, check_can(kind, PETAL_CAN_COUNT) ? 1000 : count);
  size_t again = 0;
  CHECK_OK(petal_filter_get_stored_hashes(filter, 0, numbers, NULL, 10, &again, NULL));
  CHECK_EQUAL(again, 10);
  uint64_t number = 0, range = 0;
  for (uint64_t i = 0; i < 20000; i++) {
    uint64_t hash = check_key(i);
    CHECK_OK(petal_filter_get_stored_hash(filter, hash, &number, &range, NULL));
    CHECK(number < range);
    CHECK(is_among(numbers, count, number) == petal_filter_contains_hash(filter, hash));
  }
  CHECK_EQUAL(listed(empty, 10, numbers), 0);
  petal_filter_free(filter);
  petal_filter_free(empty);
}

static void a_kind_that_cannot(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100};
  petal_filter *filter = check_filled(&spec, 0, 100);
  petal_error error = {.struct_size = sizeof error};
  uint64_t number = 7;
  size_t count = 7;
  CHECK_STATUS(petal_filter_get_stored_hashes(filter, 0, &number, NULL, 1, &count, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, check_kind_info(kind).name);
  CHECK_STATUS(petal_filter_get_stored_hash(filter, 1, &number, NULL, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(number == 7 && count == 7);
  petal_filter_free(filter);
}

/* Two sets of one range, which are made in one spec, become one set; and in another spec they do not. */
static void sets(void) {
  static uint64_t together[3000], numbers[3000];
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_GOLOMB, .capacity = 1000,
      .false_positive_rate = 1e-6};
  petal_filter *a = check_filled(&spec, 0, 1000), *b = check_filled(&spec, 500, 1700);
  petal_filter *both = check_filled(&spec, 0, 1700);
  CHECK_OK(petal_filter_merge(a, b, NULL));
  CHECK(check_same_bits(a, both));
  CHECK_EQUAL(listed(a, 3000, numbers), listed(both, 3000, together));
  CHECK_OK(petal_filter_verify(a, NULL));
  spec.capacity = 2000;
  petal_filter *other = check_filled(&spec, 0, 1000);
  CHECK_STATUS(petal_filter_merge(a, other, NULL), PETAL_ERR_INCOMPATIBLE);
  petal_filter_free(a);
  petal_filter_free(b);
  petal_filter_free(both);
  petal_filter_free(other);
}

/* The filter of a block of the test network that BIP 158 publishes: three scripts, one of them in hexadecimal here. */
static void a_block(void) {
  static const unsigned char published[] = {0x03, 0x85, 0xac, 0xb4, 0xf0, 0xfe, 0x88, 0x9e, 0xf0};
  /* The block's hash is 000000006f27ddfe1dd680044a34548f41bed47eba9e6f0b310da21423bc5f33: its end is the key. */
  static const unsigned char key[16] = {0x33, 0x5f, 0xbc, 0x23, 0x14, 0xa2, 0x0d, 0x31,
                                        0x0b, 0x6f, 0x9e, 0xba, 0x7e, 0xd4, 0xbe, 0x41};
  static const unsigned char script[] = {0x00, 0x14, 0x46, 0xc2, 0x9e, 0xab, 0xe8, 0x20, 0x8a, 0x33, 0xaa,
                                         0x10, 0x23, 0xc7, 0x41, 0xfa, 0x79, 0xaa, 0x92, 0xe8, 0x81, 0xff};
  petal_error error = {.struct_size = sizeof error};
  petal_import_options options = {.struct_size = sizeof options};
  memcpy(options.secret, key, sizeof key);
  petal_filter *filter = NULL, *without = NULL;
  CHECK_OK(petal_filter_import("bip158", published, sizeof published, &options, &filter, &error));
  CHECK(petal_filter_contains(filter, script, sizeof script));
  CHECK(!petal_filter_contains(filter, "no script of it", 15));
  /* Whether any of many matches. */
  uint64_t hashes[100];
  for (uint64_t i = 0; i < 100; i++) hashes[i] = check_key(i);
  petal_answers answers = {.struct_size = sizeof answers};
  CHECK_OK(petal_filter_contains_batch(filter, HASH_KEYS(hashes, 100), &answers, NULL));
  CHECK_EQUAL(answers.true_count, 0);
  CHECK_OK(petal_filter_hash(filter, script, sizeof script, &hashes[57]));
  CHECK_OK(petal_filter_contains_batch(filter, HASH_KEYS(hashes, 100), &answers, NULL));
  CHECK_EQUAL(answers.true_count, 1);
  unsigned char bytes[16];
  size_t written = 0;
  CHECK_OK(petal_filter_export(filter, "bip158", NULL, bytes, sizeof bytes, &written, &error));
  CHECK(written == sizeof published && memcmp(bytes, published, sizeof published) == 0);
  /* Without the key it takes hashes. */
  CHECK_OK(petal_filter_import("bip158", published, sizeof published, NULL, &without, &error));
  CHECK(petal_filter_contains_hash(without, hashes[57]) && !petal_filter_contains_hash(without, hashes[56]));
  CHECK_STATUS(petal_filter_insert_hash(without, 1, NULL), PETAL_ERR_UNSUPPORTED);
  petal_filter_free(without);
  petal_filter_free(filter);
  options.bits = 8;
  CHECK_STATUS(petal_filter_import("bip158", published, sizeof published, &options, &filter, &error),
               PETAL_ERR_CONTRADICTION);
  CHECK_STATUS(petal_filter_import("bip158", published, 3, NULL, &filter, &error), PETAL_ERR_CORRUPT);

  /* One that is made here: a builder is given all of its keys. */
  petal_format_info info = {.struct_size = sizeof info};
  CHECK_OK(petal_format_find("bip158", &info, NULL));
  CHECK((info.capabilities & (PETAL_FORMAT_CREATE | PETAL_FORMAT_BUILD)) == PETAL_FORMAT_BUILD);
  petal_spec spec = {.struct_size = sizeof spec};
  petal_builder *builder = NULL;
  CHECK_OK(petal_format_get_spec("bip158", NULL, 1, 0.01, 0, &spec, &error));
  CHECK_STATUS(petal_builder_new(&spec, NULL, &builder, &error), PETAL_ERR_SECRET_MISSING);
  memcpy(spec.secret, key, sizeof key);
  CHECK_STATUS(petal_filter_new(&spec, &filter, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_OK(petal_builder_new(&spec, NULL, &builder, &error));
  CHECK_OK(petal_builder_add(builder, script, sizeof script));
  CHECK_OK(petal_builder_finish(builder, &filter, &error));
  CHECK(petal_filter_contains(filter, script, sizeof script));
  petal_filter_free(filter);
  petal_builder_free(builder);
}

int main(void) {
  size_t able = 0;
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind kind = check_kind(k);
    if (check_can(kind, PETAL_CAN_ENUMERATE)) {
      able++;
      a_kind_that_can(kind);
    } else {
      a_kind_that_cannot(kind);
    }
  }
  CHECK(able > 0);
  sets();
  a_block();
  return check_done();
}
