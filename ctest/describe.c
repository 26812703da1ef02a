/* FILTERS: DESCRIBING */
#include "check.h"

static petal_description describe(const petal_filter *filter) {
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK_EQUAL(description.struct_size, sizeof description);
  return description;
}

static petal_statistics measure(const petal_filter *filter) {
  petal_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
  CHECK_EQUAL(statistics.struct_size, sizeof statistics);
  return statistics;
}

static void empty_and_full(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 10000, .false_positive_rate = 0.01,
                     .seed = 5};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  petal_description d = describe(filter);
  petal_statistics s = measure(filter);
  CHECK_EQUAL(d.kind, kind);
  CHECK_EQUAL(d.hash, PETAL_HASH_XXH3);
  CHECK_EQUAL(d.seed, 5);
  CHECK_EQUAL(d.format_version, 1);
  CHECK_EQUAL(d.layout_version, 1);
  CHECK_EQUAL(d.capabilities, petal_filter_capabilities(filter));
  CHECK_EQUAL(d.state, PETAL_STATE_WRITABLE | PETAL_STATE_CAN_HASH);
  CHECK_EQUAL(d.capacity, 10000);
  CHECK_EQUAL(d.insertions, 0);
  CHECK_CLOSE(s.count_estimate, check_can(kind, PETAL_CAN_ESTIMATE) ? 0 : -1, 0);
  CHECK_CLOSE(s.fill, 0, 0);
  CHECK_CLOSE(s.false_positive_rate, 0, 0);
  CHECK_CLOSE(s.false_positive_rate_floor, 0, 0);
  CHECK_CLOSE(d.false_positive_rate, 0.01, 0);
  CHECK_CLOSE(d.bits_per_key, (double)d.bits / 10000, 1e-9);
  uint64_t size = 0;
  CHECK_OK(petal_filter_serialized_size(filter, &size, NULL));
  CHECK_EQUAL(d.bytes, size);
  CHECK(d.bits / 8 + 256 <= d.bytes && d.bytes < d.bits / 8 + 256 + 64 + 64 + 8 + 64);

  /* The filter is full. It has every key twice, unless there is no room, the first ones would be forgotten, or a copy
   * takes as much as a key, which has to be removed as often. The offered keys are counted, and the distinct ones
   * estimated. */
  const bool ages = check_can(kind, PETAL_CAN_AGE), grows = check_can(kind, PETAL_CAN_GROW);
  const bool keeps_copies = check_can(kind, PETAL_CAN_REMOVE) && !check_can(kind, PETAL_CAN_COUNT);
  const uint64_t insertions = check_refuses_copies(kind) || ages || keeps_copies ? 10000 : 20000;
  for (uint64_t i = 0; i < insertions; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i % 10000), NULL));
  d = describe(filter);
  s = measure(filter);
  double expected = -1;
  CHECK_OK(petal_filter_expected_false_positive_rate(filter, 10000, &expected, NULL));
  CHECK_EQUAL(d.insertions, insertions);
  if (check_can(kind, PETAL_CAN_ESTIMATE)) CHECK_CLOSE(s.count_estimate, 10000, 300);
  CHECK(s.fill > 0.1 && s.fill < 1);
  /* What forgets or grows comes to its rate later than to its capacity. */
  CHECK(expected > (ages || grows ? 0.0001 : 0.001) && expected <= 0.01);
  /* The rate from the bits as they are is near the expected one: several standard deviations of the fill. */
  CHECK_CLOSE(s.false_positive_rate, expected, 0.15 * expected);
  CHECK(s.false_positive_rate_floor > 0 && s.false_positive_rate_floor < 1e-14);

  /* And it is what is measured: 4.5 standard deviations of 100,000 lookups. */
  unsigned found = 0;
  for (uint64_t i = 0; i < 100000; i++) found += petal_filter_contains_u64(filter, check_key(50000 + i));
  CHECK_CLOSE(found / 1e5, s.false_positive_rate, 4.5 * 0.000315);
  petal_filter_free(filter);
}

/* A filter that was built says of its keys how many were offered and how many are different. */
static void built(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .false_positive_rate = 0.01, .seed = 5};
  petal_filter *filter = check_filled(&spec, 0, 10000);
  petal_description d = describe(filter);
  petal_statistics s = measure(filter);
  uint64_t size = 0;
  CHECK_OK(petal_filter_serialized_size(filter, &size, NULL));
  CHECK(d.kind == kind && d.hash == PETAL_HASH_XXH3 && d.seed == 5 && d.bytes == size);
  CHECK(d.insertions == 10000 && d.capacity == 10000);
  CHECK_CLOSE(d.bits_per_key, (double)d.bits / 10000, 1e-9);
  /* How many different numbers the keys leave in a Golomb-coded set is a matter of chance. */
  CHECK(s.false_positive_rate > 0 && s.false_positive_rate <= 0.0101 && s.fill > 0 && s.fill <= 1);
  unsigned found = 0;
  for (uint64_t i = 0; i < 100000; i++) found += petal_filter_contains_u64(filter, check_key(50000 + i));
  CHECK_CLOSE(found / 1e5, s.false_positive_rate, 4.5 * 0.000315);
  petal_filter_free(filter);
}

/* So small and so full that no estimate is possible: every lookup says true, and the statistics say so. */
static void overfull(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .bits = 512, .capacity = 10};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  for (uint64_t i = 0; i < 10000; i++) CHECK_OK(petal_filter_insert_u64(filter, i, NULL));
  petal_statistics s = measure(filter);
  CHECK(s.count_estimate < 0);
  /* But for what removed keys would take. */
  CHECK_CLOSE(s.fill, 1, check_can(kind, PETAL_MAY_LOSE_KEYS) ? 0.125 : 0);
  CHECK_CLOSE(s.false_positive_rate, 1, 0);
  CHECK(petal_filter_contains_u64(filter, 123456789));
  petal_filter_free(filter);
}

/* What a filter is can be read back and made again. */
static void spec_round_trip(void) {
  static const petal_hash_function functions[] = {PETAL_HASH_XXH3, PETAL_HASH_XXH64, PETAL_HASH_EXTERNAL};
  for (size_t k = 0; k < check_kind_count(); k++) {
    if (!check_can(check_kind(k), PETAL_CAN_INSERT)) continue;
    for (size_t h = 0; h < 3; h++) {
      petal_spec spec = {.struct_size = sizeof spec, .kind = check_kind(k), .hash = functions[h], .capacity = 777,
                         .false_positive_rate = 0.02, .seed = 99};
      petal_filter *filter = NULL, *twin = NULL;
      CHECK_OK(petal_filter_new(&spec, &filter, NULL));
      petal_spec back = {.struct_size = sizeof back};
      CHECK_OK(petal_filter_get_spec(filter, &back, NULL));
      CHECK_EQUAL(back.struct_size, sizeof back);
      CHECK_EQUAL(back.kind, spec.kind);
      CHECK_EQUAL(back.hash, spec.hash);
      CHECK_EQUAL(back.seed, 99);
      CHECK_EQUAL(back.capacity, 777);
      CHECK_EQUAL(back.bits, check_kind_info(spec.kind).bits_unit > 0 ? describe(filter).bits : 0);
      CHECK_EQUAL(back.hashes, describe(filter).hashes);
      CHECK_OK(petal_filter_new(&back, &twin, NULL));
      CHECK(check_same_bits(filter, twin));
      petal_filter_free(filter);
      petal_filter_free(twin);
    }
  }

  /* Of a keyed filter all but the key can be read. */
  petal_spec keyed = {.struct_size = sizeof keyed, .hash = PETAL_HASH_SIPHASH13, .secret = {1, 2, 3}};
  petal_spec back = {.struct_size = sizeof back};
  static const uint8_t none[16];
  petal_filter *filter = NULL, *twin = NULL;
  CHECK_OK(petal_filter_new(&keyed, &filter, NULL));
  CHECK_OK(petal_filter_get_spec(filter, &back, NULL));
  CHECK(memcmp(back.secret, none, sizeof none) == 0);
  CHECK_STATUS(petal_filter_new(&back, &twin, NULL), PETAL_ERR_SECRET_MISSING);
  memcpy(back.secret, keyed.secret, sizeof keyed.secret);
  CHECK_OK(petal_filter_new(&back, &twin, NULL));
  CHECK(check_same_bits(filter, twin));
  petal_description d = describe(filter);
  uint64_t as_number = 0;
  memcpy(&as_number, keyed.secret, sizeof as_number);
  CHECK(d.seed != 0 && d.seed != as_number);
  petal_filter_free(filter);
  petal_filter_free(twin);
}

/* Capabilities and states follow the handle. */
static void handles(petal_kind kind) {
  const uint64_t shared = PETAL_CAN_INSERT_SHARED | PETAL_CAN_AGE_SHARED;
  const uint64_t changes = PETAL_CAN_INSERT | PETAL_CAN_CLEAR | PETAL_CAN_MERGE | PETAL_CAN_INTERSECT | PETAL_CAN_FOLD |
                           PETAL_CAN_REMOVE | PETAL_CAN_GROW | PETAL_CAN_RESIZE | PETAL_CAN_AGE | PETAL_CAN_REJUVENATE;
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 100, .hash = PETAL_HASH_EXTERNAL};
  petal_filter *filter = check_filled(&spec, 0, 10), *reading = NULL, *writing = NULL;
  CHECK_EQUAL(describe(filter).state, PETAL_STATE_WRITABLE);
  uint64_t all = petal_filter_capabilities(filter);

  check_image image = check_take_image(filter);
  petal_open_options write = {.struct_size = sizeof write, .mode = PETAL_OPEN_WRITE};
  CHECK_OK(petal_filter_open_in_buffer(image.bytes, image.length, NULL, &reading, NULL));
  CHECK_EQUAL(petal_filter_capabilities(reading), all & ~changes & ~shared);
  CHECK_EQUAL(describe(reading).capabilities, all & ~changes & ~shared);
  CHECK_EQUAL(describe(reading).state, PETAL_STATE_IN_PLACE);
  petal_filter_free(reading);
  petal_status status = petal_filter_open_in_buffer(image.bytes, image.length, &write, &writing, NULL);
  CHECK_STATUS(status, check_is_writable(kind) ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
  if (status == PETAL_OK) {
    CHECK_EQUAL(petal_filter_capabilities(writing),
        all & ~(uint64_t)(PETAL_CAN_FOLD | PETAL_CAN_GROW | PETAL_CAN_RESIZE) & ~shared);
    CHECK_EQUAL(describe(writing).state, PETAL_STATE_IN_PLACE | PETAL_STATE_WRITABLE);
  }
  petal_filter_free(writing);
  free(image.bytes);
  petal_filter_free(filter);
  CHECK_EQUAL(petal_filter_capabilities(NULL), 0);
}

int main(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind_info info = check_kind_info(check_kind(k));
    if (info.capabilities & PETAL_CAN_INSERT) empty_and_full(info.kind);
    if (info.overfill == PETAL_OVERFILL_RATE_RISES) overfull(info.kind);
    if (info.overfill == PETAL_OVERFILL_IS_BUILT) built(info.kind);
    handles(check_kind(k));
  }
  spec_round_trip();
  return check_done();
}
