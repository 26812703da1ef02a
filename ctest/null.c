/* NULL in every place of every function. Required pointers give PETAL_ERR_NULL, nothing is written and no filter
 * changes; nullable ones are allowed; lookups say true. */
#include "check.h"

#include <petal_inline.h>

static petal_filter *filter, *other;
static petal_builder *builder;
static petal_spec spec = {.struct_size = sizeof spec, .capacity = 100};
static petal_error error = {.struct_size = sizeof error};

/* Outputs, with values that nothing else has. */
static petal_filter *out;
static petal_builder *out_builder;
static uint64_t out_u64;
static double out_double;
static bool out_bool;
static size_t out_size;
static uint8_t out_bytes[16], out_bitmap[16];
static petal_answers answers = {.struct_size = sizeof answers, .bytes = out_bytes, .bitmap = out_bitmap};

static void spoil(void) {
  out = (petal_filter *)&out;
  out_builder = (petal_builder *)&out_builder;
  out_u64 = 4711;
  out_double = 47.11;
  out_bool = false;
  out_size = 4711;
  answers.true_count = answers.done = 4711;
  memset(out_bytes, 0x5a, sizeof out_bytes);
  memset(out_bitmap, 0x5a, sizeof out_bitmap);
}

static bool untouched(void) {
  bool same = out == (petal_filter *)&out && out_builder == (petal_builder *)&out_builder && out_u64 == 4711 &&
              out_double > 47.1 && out_double < 47.2 && !out_bool && out_size == 4711 &&
              answers.true_count == 4711 && answers.done == 4711;
  for (size_t i = 0; i < sizeof out_bytes; i++) same = same && out_bytes[i] == 0x5a && out_bitmap[i] == 0x5a;
  return same;
}

/* A call with NULL in a required place; one with NULL in a nullable place. */
#define REQUIRED(call)                 \
  do {                                 \
    spoil();                           \
    CHECK_STATUS(call, PETAL_ERR_NULL); \
    CHECK(untouched());                \
  } while (0)
#define NULLABLE(call) CHECK_OK(call)

/* The same with an error that must name the parameter. */
#define REQUIRED_NAMED(name, call)                                  \
  do {                                                              \
    memset(error.message, '#', sizeof error.message);               \
    error.status = PETAL_OK;                                        \
    REQUIRED(call);                                                 \
    CHECK_STATUS(error.status, PETAL_ERR_NULL);                     \
    CHECK_TEXT(error.message, name " is NULL");                     \
  } while (0)

static void kinds_and_specs(void) {
  petal_kind_info info = {.struct_size = sizeof info};
  REQUIRED(petal_kind_at(0, NULL, NULL));
  REQUIRED(petal_kind_find(NULL, &info, NULL));
  REQUIRED(petal_kind_find("bloom", NULL, NULL));
  REQUIRED(petal_kind_parameter(PETAL_KIND_BLOOM, 0, NULL, NULL));
  REQUIRED(petal_kind_choice(PETAL_KIND_BLOOM, 1, 0, NULL, NULL));
  CHECK(info.name[0] == '\0');

  petal_spec before = spec;
  REQUIRED_NAMED("spec", petal_spec_set(NULL, "partitioned", 1, &error));
  REQUIRED_NAMED("name", petal_spec_set(&spec, NULL, 1, &error));
  REQUIRED_NAMED("spec", petal_spec_set_choice(NULL, "partitioned", "1", &error));
  REQUIRED_NAMED("name", petal_spec_set_choice(&spec, NULL, "1", &error));
  REQUIRED_NAMED("choice", petal_spec_set_choice(&spec, "partitioned", NULL, &error));
  CHECK(memcmp(&before, &spec, sizeof spec) == 0);
  REQUIRED_NAMED("spec", petal_spec_get(NULL, "partitioned", &out_double, &error));
  REQUIRED_NAMED("name", petal_spec_get(&spec, NULL, &out_double, &error));
  REQUIRED_NAMED("value", petal_spec_get(&spec, "partitioned", NULL, &error));
  REQUIRED_NAMED("spec", petal_spec_image_size(NULL, &out_u64, &error));
  REQUIRED_NAMED("size", petal_spec_image_size(&spec, NULL, &error));
  REQUIRED_NAMED("spec", petal_spec_expected_false_positive_rate(NULL, 1, &out_double, &error));
  REQUIRED_NAMED("false_positive_rate", petal_spec_expected_false_positive_rate(&spec, 1, NULL, &error));
  REQUIRED_NAMED("spec", petal_spec_expected_omissions(NULL, 1, &out_double, &error));
  REQUIRED_NAMED("omissions", petal_spec_expected_omissions(&spec, 1, NULL, &error));

  petal_spec copy = spec;
  copy.kind = PETAL_KIND_BLOOM;
  NULLABLE(petal_spec_set(&copy, "partitioned", 1, NULL));
  NULLABLE(petal_spec_set_choice(&copy, "partitioned", "1", NULL));
  NULLABLE(petal_spec_get(&copy, "partitioned", &out_double, NULL));
  NULLABLE(petal_spec_image_size(&spec, &out_u64, NULL));
  NULLABLE(petal_spec_expected_false_positive_rate(&spec, 1, &out_double, NULL));
  NULLABLE(petal_spec_expected_omissions(&spec, 1, &out_double, NULL));
  /* A failure whose error nobody wants is still a failure. */
  REQUIRED(petal_spec_set(NULL, "partitioned", 1, NULL));
}

static void making(void) {
  static uint64_t buffer[256], before[256];
  REQUIRED_NAMED("spec", petal_filter_new(NULL, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_new(&spec, NULL, &error));
  REQUIRED_NAMED("spec", petal_filter_new_in_buffer(NULL, buffer, sizeof buffer, &out, &error));
  REQUIRED_NAMED("buffer", petal_filter_new_in_buffer(&spec, NULL, sizeof buffer, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_new_in_buffer(&spec, buffer, sizeof buffer, NULL, &error));
  CHECK(memcmp(buffer, before, sizeof buffer) == 0);
  REQUIRED_NAMED("filter", petal_filter_copy(NULL, &out, &error));
  REQUIRED_NAMED("copy", petal_filter_copy(filter, NULL, &error));
  petal_filter_free(NULL);

  NULLABLE(petal_filter_new(&spec, &out, NULL));
  petal_filter_free(out);
  NULLABLE(petal_filter_new_in_buffer(&spec, buffer, sizeof buffer, &out, NULL));
  petal_filter_free(out);
  NULLABLE(petal_filter_copy(filter, &out, NULL));
  petal_filter_free(out);
}

static void one_key(void) {
  REQUIRED(petal_filter_insert(NULL, "a", 1, &out_bool));
  REQUIRED(petal_filter_insert(filter, NULL, 1, &out_bool));
  REQUIRED(petal_filter_insert_u64(NULL, 1, &out_bool));
  REQUIRED(petal_filter_insert_hash(NULL, 1, &out_bool));
  CHECK(petal_filter_contains(NULL, "a", 1));
  CHECK(petal_filter_contains(NULL, NULL, 0));
  CHECK(petal_filter_contains(filter, NULL, 1));
  CHECK(petal_filter_contains_u64(NULL, 1));
  CHECK(petal_filter_contains_hash(NULL, 1));
  REQUIRED(petal_filter_contains_checked(NULL, "a", 1, &out_bool));
  REQUIRED(petal_filter_contains_checked(filter, NULL, 1, &out_bool));
  REQUIRED(petal_filter_contains_checked(filter, "a", 1, NULL));
  REQUIRED(petal_filter_contains_checked_u64(NULL, 1, &out_bool));
  REQUIRED(petal_filter_contains_checked_u64(filter, 1, NULL));
  REQUIRED(petal_filter_contains_checked_hash(NULL, 1, &out_bool));
  REQUIRED(petal_filter_contains_checked_hash(filter, 1, NULL));

  NULLABLE(petal_filter_insert(other, "a", 1, NULL));
  NULLABLE(petal_filter_insert(other, NULL, 0, NULL));
  NULLABLE(petal_filter_insert_u64(other, 1, NULL));
  NULLABLE(petal_filter_insert_hash(other, 1, NULL));
}

static void removing_and_counting(void) {
  petal_spec counting = {.struct_size = sizeof counting, .kind = PETAL_KIND_COUNTING, .capacity = 10};
  petal_filter *counters = NULL;
  CHECK_OK(petal_filter_new(&counting, &counters, NULL));
  REQUIRED(petal_filter_remove(NULL, "a", 1, &out_bool));
  REQUIRED(petal_filter_remove(counters, NULL, 1, &out_bool));
  REQUIRED(petal_filter_remove_u64(NULL, 1, &out_bool));
  REQUIRED(petal_filter_remove_hash(NULL, 1, &out_bool));
  NULLABLE(petal_filter_remove(counters, "a", 1, NULL));
  NULLABLE(petal_filter_remove_u64(counters, 1, NULL));
  NULLABLE(petal_filter_remove_hash(counters, 1, NULL));
  petal_spec growing = {.struct_size = sizeof growing, .kind = PETAL_KIND_ALEPH, .capacity = 10};
  petal_filter *growers = NULL;
  CHECK_OK(petal_filter_new(&growing, &growers, NULL));
  REQUIRED(petal_filter_rejuvenate(NULL, "a", 1, &out_bool));
  REQUIRED(petal_filter_rejuvenate(growers, NULL, 1, &out_bool));
  REQUIRED(petal_filter_rejuvenate_u64(NULL, 1, &out_bool));
  REQUIRED(petal_filter_rejuvenate_hash(NULL, 1, &out_bool));
  NULLABLE(petal_filter_rejuvenate(growers, "a", 1, NULL));
  NULLABLE(petal_filter_rejuvenate(growers, NULL, 0, NULL));
  NULLABLE(petal_filter_rejuvenate_u64(growers, 1, NULL));
  NULLABLE(petal_filter_rejuvenate_hash(growers, 1, NULL));
  const uint64_t young[] = {1, 2, 3};
  petal_keys youths = petal_keys_u64(young, 3);
  CHECK_STATUS(petal_filter_rejuvenate_batch(NULL, &youths, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_rejuvenate_batch(growers, NULL, NULL, &error), PETAL_ERR_NULL);
  NULLABLE(petal_filter_rejuvenate_batch(growers, &youths, NULL, &error));
  NULLABLE(petal_filter_rejuvenate_batch(growers, &youths, NULL, NULL));
  petal_filter_free(growers);
  REQUIRED(petal_filter_insert_times(NULL, "a", 1, 2, &out_bool));
  REQUIRED(petal_filter_insert_times(counters, NULL, 1, 2, &out_bool));
  REQUIRED(petal_filter_insert_times_u64(NULL, 1, 2, &out_bool));
  REQUIRED(petal_filter_insert_times_hash(NULL, 1, 2, &out_bool));
  NULLABLE(petal_filter_insert_times(counters, "a", 1, 2, NULL));
  NULLABLE(petal_filter_insert_times_u64(counters, 1, 2, NULL));
  NULLABLE(petal_filter_insert_times_hash(counters, 1, 2, NULL));
  REQUIRED(petal_filter_remove_times(NULL, "a", 1, 2, &out_u64));
  REQUIRED(petal_filter_remove_times(counters, NULL, 1, 2, &out_u64));
  REQUIRED(petal_filter_remove_times_u64(NULL, 1, 2, &out_u64));
  REQUIRED(petal_filter_remove_times_hash(NULL, 1, 2, &out_u64));
  NULLABLE(petal_filter_remove_times(counters, "a", 1, 2, NULL));
  NULLABLE(petal_filter_remove_times_u64(counters, 1, 2, NULL));
  NULLABLE(petal_filter_remove_times_hash(counters, 1, 2, NULL));
  REQUIRED(petal_filter_count(NULL, "a", 1, &out_u64));
  REQUIRED(petal_filter_count(counters, NULL, 1, &out_u64));
  REQUIRED(petal_filter_count(counters, "a", 1, NULL));
  REQUIRED(petal_filter_count_u64(NULL, 1, &out_u64));
  REQUIRED(petal_filter_count_u64(counters, 1, NULL));
  REQUIRED(petal_filter_count_hash(NULL, 1, &out_u64));
  REQUIRED(petal_filter_count_hash(counters, 1, NULL));
  const uint64_t k[] = {1, 2, 3};
  petal_keys numbers = petal_keys_u64(k, 3);
  CHECK_STATUS(petal_filter_remove_batch(NULL, &numbers, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_remove_batch(counters, NULL, NULL, &error), PETAL_ERR_NULL);
  NULLABLE(petal_filter_remove_batch(counters, &numbers, NULL, &error));
  const uint64_t twice[] = {2, 2, 2};
  CHECK_STATUS(petal_filter_insert_times_batch(NULL, &numbers, twice, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_insert_times_batch(counters, NULL, twice, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_insert_times_batch(counters, &numbers, NULL, NULL, &error), PETAL_ERR_NULL);
  NULLABLE(petal_filter_insert_times_batch(counters, &numbers, twice, NULL, &error));
  CHECK_STATUS(petal_filter_remove_times_batch(NULL, &numbers, twice, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_remove_times_batch(counters, NULL, twice, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_remove_times_batch(counters, &numbers, NULL, NULL, &error), PETAL_ERR_NULL);
  NULLABLE(petal_filter_remove_times_batch(counters, &numbers, twice, NULL, &error));
  CHECK_STATUS(petal_filter_count_batch(NULL, &numbers, &answers, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_count_batch(counters, NULL, &answers, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_count_batch(counters, &numbers, NULL, &error), PETAL_ERR_NULL);
  petal_filter_free(counters);
}

/* A failed lookup of `count` keys said 1 everywhere, and a failed insertion said that none is in. */
static void all_true(size_t count) {
  for (size_t i = 0; i < count; i++) CHECK(out_bytes[i] == 1 && (out_bitmap[i / 8] >> i % 8 & 1) == 1);
  CHECK(answers.true_count == count && answers.done == 0);
}

#define LOOKUP(name, call)                \
  do {                                    \
    spoil();                              \
    CHECK_STATUS(call, PETAL_ERR_NULL);   \
    CHECK_TEXT(error.message, name " is NULL"); \
    all_true(3);                          \
  } while (0)
#define INSERTION(name, call)             \
  do {                                    \
    spoil();                              \
    CHECK_STATUS(call, PETAL_ERR_NULL);   \
    CHECK_TEXT(error.message, name " is NULL"); \
    CHECK(answers.done == 0 && answers.true_count == 0); \
    answers.done = 4711;                  \
    answers.true_count = 4711;            \
    CHECK(untouched());                   \
  } while (0)

static void many_keys(void) {
  static const uint64_t offsets[] = {0, 1, 2, 3}, k[] = {1, 2, 3};
  REQUIRED(petal_builder_exclude(NULL, "a", 1));
  REQUIRED(petal_builder_exclude(builder, NULL, 1));
  REQUIRED(petal_builder_exclude_u64(NULL, 1));
  REQUIRED(petal_builder_exclude_hash(NULL, 1));
  REQUIRED(petal_builder_update(NULL, filter, &error));
  REQUIRED(petal_builder_update(builder, NULL, &error));
  CHECK_STATUS(petal_builder_exclude_batch(NULL, U64_KEYS(k, 3), NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_builder_exclude_batch(builder, NULL, NULL, &error), PETAL_ERR_NULL);
  REQUIRED(petal_builder_frequent(NULL, "a", 1, 1));
  REQUIRED(petal_builder_frequent(builder, NULL, 1, 1));
  REQUIRED(petal_builder_frequent_u64(NULL, 1, 1));
  REQUIRED(petal_builder_frequent_hash(NULL, 1, 1));
  CHECK_STATUS(petal_builder_frequent_batch(NULL, U64_KEYS(k, 3), NULL, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_builder_frequent_batch(builder, NULL, NULL, NULL, &error), PETAL_ERR_NULL);
  REQUIRED(petal_builder_merge(NULL, k, 8, &error));
  REQUIRED_NAMED("state", petal_builder_merge(builder, NULL, 8, &error));
  petal_keys bytes = petal_keys_bytes("abc", 3, offsets, 3), numbers = petal_keys_u64(k, 3);
  LOOKUP("filter", petal_filter_contains_batch(NULL, &bytes, &answers, &error));
  LOOKUP("data of keys", petal_filter_contains_batch(filter, BYTE_KEYS(NULL, 3, offsets, 3), &answers, &error));
  LOOKUP("offsets of keys", petal_filter_contains_batch(filter, BYTE_KEYS("abc", 3, NULL, 3), &answers, &error));
  LOOKUP("data of keys", petal_filter_contains_batch(filter, U64_KEYS(NULL, 3), &answers, &error));
  LOOKUP("data of keys", petal_filter_contains_batch(filter, HASH_KEYS(NULL, 3), &answers, &error));
  INSERTION("filter", petal_filter_insert_batch(NULL, &bytes, &answers, &error));
  INSERTION("keys", petal_filter_insert_batch(filter, NULL, &answers, &error));
  INSERTION("data of keys", petal_filter_insert_batch(filter, BYTE_KEYS(NULL, 3, offsets, 3), &answers, &error));
  INSERTION("offsets of keys", petal_filter_insert_batch(filter, BYTE_KEYS("abc", 3, NULL, 3), &answers, &error));
  INSERTION("data of keys", petal_filter_insert_batch(filter, HASH_KEYS(NULL, 3), &answers, &error));
  INSERTION("filter", petal_filter_insert_shared_batch(NULL, &numbers, &answers, &error));
  INSERTION("keys", petal_filter_insert_shared_batch(filter, NULL, &answers, &error));
  INSERTION("data of keys", petal_filter_insert_shared_batch(filter, U64_KEYS(NULL, 3), &answers, &error));
  REQUIRED(petal_filter_insert_shared(NULL, "abc", 3, &out_bool));
  REQUIRED(petal_filter_insert_shared(filter, NULL, 3, &out_bool));
  REQUIRED(petal_filter_insert_shared_u64(NULL, 1, &out_bool));
  REQUIRED(petal_filter_insert_shared_hash(NULL, 1, &out_bool));
  REQUIRED(petal_filter_add_offered(NULL, 1, NULL));

  /* A lookup of keys that nobody gave, one whose answer nobody wants, and failures with nowhere to write to. */
  spoil();
  CHECK_STATUS(petal_filter_contains_batch(filter, NULL, &answers, &error), PETAL_ERR_NULL);
  CHECK_TEXT(error.message, "keys is NULL");
  CHECK(answers.true_count == UINT64_MAX && answers.done == 0);
  CHECK_STATUS(petal_filter_contains_batch(filter, &numbers, NULL, &error), PETAL_ERR_NULL);
  CHECK_TEXT(error.message, "answers is NULL");
  CHECK_STATUS(petal_filter_contains_batch(NULL, NULL, NULL, NULL), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_insert_batch(NULL, NULL, NULL, NULL), PETAL_ERR_NULL);
  CHECK_STATUS(petal_filter_insert_shared_batch(NULL, NULL, NULL, NULL), PETAL_ERR_NULL);

  NULLABLE(petal_filter_contains_batch(filter, &bytes, &answers, NULL));
  NULLABLE(petal_filter_insert_batch(other, &bytes, NULL, NULL));
  NULLABLE(petal_filter_insert_batch(other, &numbers, NULL, NULL));
  NULLABLE(petal_filter_insert_shared_batch(other, &bytes, NULL, NULL));
  NULLABLE(petal_filter_insert_shared_batch(other, U64_KEYS(NULL, 0), NULL, NULL));
  NULLABLE(petal_filter_insert_shared(other, NULL, 0, NULL));
  /* Three empty keys in a buffer that is none; no keys at all. */
  static const uint64_t zeros[4];
  petal_answers numbers_only = ANSWERS(.bytes = NULL);
  NULLABLE(petal_filter_insert_batch(other, BYTE_KEYS(NULL, 0, zeros, 3), &numbers_only, NULL));
  CHECK_EQUAL(numbers_only.done, 3);
  NULLABLE(petal_filter_insert_batch(other, U64_KEYS(NULL, 0), &numbers_only, NULL));
  CHECK_EQUAL(numbers_only.done, 0);
  NULLABLE(petal_filter_contains_batch(other, BYTE_KEYS(NULL, 0, NULL, 0), &numbers_only, NULL));
  CHECK_EQUAL(numbers_only.true_count, 0);
}

static void combining_and_describing(void) {
  petal_statistics statistics = {.struct_size = sizeof statistics, .fill = 2};
  petal_description description = {.struct_size = sizeof description};
  petal_spec copy = {.struct_size = sizeof copy};
  petal_view view = {.struct_size = sizeof view};
  REQUIRED_NAMED("filter", petal_filter_merge(NULL, other, &error));
  REQUIRED_NAMED("other", petal_filter_merge(filter, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_intersect(NULL, other, &error));
  REQUIRED_NAMED("other", petal_filter_intersect(filter, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_fold(NULL, 2, &error));
  REQUIRED_NAMED("filter", petal_filter_resize(NULL, 2, &error));
  REQUIRED_NAMED("filter", petal_filter_advance(NULL, 2, &error));
  REQUIRED_NAMED("filter", petal_filter_advance_shared(NULL, 2, &error));
  uint64_t stored = 0;
  size_t stored_count = 7;
  REQUIRED_NAMED("filter", petal_filter_stored_hash(NULL, 1, &stored, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_stored_hashes(NULL, 0, &stored, NULL, 1, &stored_count, &error));
  REQUIRED_NAMED("count", petal_filter_stored_hashes(filter, 0, &stored, NULL, 1, NULL, &error));
  CHECK(stored_count == 7);
  REQUIRED_NAMED("filter", petal_filter_clear(NULL, &error));
  REQUIRED(petal_filter_equal(NULL, other, &out_bool, NULL));
  REQUIRED(petal_filter_equal(filter, NULL, &out_bool, NULL));
  REQUIRED(petal_filter_equal(filter, other, NULL, NULL));
  REQUIRED(petal_filter_compatibility_id(NULL, out_bytes, NULL));
  REQUIRED(petal_filter_compatibility_id(filter, NULL, NULL));
  REQUIRED_NAMED("filter", petal_filter_statistics(NULL, &statistics, &error));
  REQUIRED_NAMED("statistics", petal_filter_statistics(filter, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_view(NULL, &view, &error));
  REQUIRED_NAMED("view", petal_filter_view(filter, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_view_writable(NULL, &view, &error));
  REQUIRED_NAMED("view", petal_filter_view_writable(filter, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_describe(NULL, &description, &error));
  REQUIRED_NAMED("description", petal_filter_describe(filter, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_spec(NULL, &copy, &error));
  REQUIRED_NAMED("spec", petal_filter_spec(filter, NULL, &error));
  CHECK(statistics.fill == 2 && description.bits == 0 && copy.bits == 0);
  CHECK_EQUAL(petal_filter_capabilities(NULL), 0);
  REQUIRED(petal_filter_expected_false_positive_rate(NULL, 1, &out_double, NULL));
  REQUIRED(petal_filter_expected_false_positive_rate(filter, 1, NULL, NULL));
  REQUIRED(petal_filter_expected_false_negative_rate(NULL, 1, &out_double, NULL));
  REQUIRED(petal_filter_expected_false_negative_rate(filter, 1, NULL, NULL));
  REQUIRED(petal_filter_expected_omissions(NULL, 1, &out_double, NULL));
  REQUIRED(petal_filter_expected_omissions(filter, 1, NULL, NULL));

  NULLABLE(petal_filter_merge(other, filter, NULL));
  NULLABLE(petal_filter_intersect(other, filter, NULL));
  NULLABLE(petal_filter_clear(other, NULL));
  NULLABLE(petal_filter_statistics(filter, &statistics, NULL));
  NULLABLE(petal_filter_describe(filter, &description, NULL));
  NULLABLE(petal_filter_view(filter, &view, NULL));
  NULLABLE(petal_filter_view_writable(filter, &view, NULL));
  NULLABLE(petal_filter_spec(filter, &copy, NULL));
  CHECK_STATUS(petal_filter_fold(other, 1, NULL), PETAL_ERR_OUT_OF_RANGE);
}

static void estimating_and_planning(void) {
  petal_estimate estimate = {.value = 47};
  petal_overlap comparison = {.struct_size = sizeof comparison};
  petal_plan_request request = {.struct_size = sizeof request, .keys = 10, .false_positive_rate = 0.1};
  petal_proposal proposal = {.struct_size = sizeof proposal, .kind = 47};
  REQUIRED_NAMED("filter", petal_filter_estimate(NULL, &estimate, &error));
  REQUIRED_NAMED("estimate", petal_filter_estimate(filter, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_estimate_overlap(NULL, other, &comparison, &error));
  REQUIRED_NAMED("other", petal_filter_estimate_overlap(filter, NULL, &comparison, &error));
  REQUIRED_NAMED("comparison", petal_filter_estimate_overlap(filter, other, NULL, &error));
  REQUIRED_NAMED("request", petal_plan(NULL, &proposal, 1, &out_size, &error));
  REQUIRED_NAMED("proposals", petal_plan(&request, NULL, 1, &out_size, &error));
  REQUIRED_NAMED("count", petal_plan(&request, &proposal, 1, NULL, &error));
  CHECK(estimate.value > 46 && proposal.kind == 47 && comparison.first_count.high == 0);
  NULLABLE(petal_filter_estimate(filter, &estimate, NULL));
  NULLABLE(petal_filter_estimate_overlap(filter, other, &comparison, NULL));
  NULLABLE(petal_plan(&request, &proposal, 1, &out_size, NULL));
}

static void policies(void) {
  static const char *const keys[] = {"apple"};
  static const size_t lengths[] = {5};
  void *policy = NULL;
  REQUIRED_NAMED("policy", petal_policy_new(PETAL_POLICY_LEVELDB, 10, NULL, &error));
  NULLABLE(petal_policy_new(PETAL_POLICY_LEVELDB, 10, &policy, NULL));
  /* What has no status gives a filter that every key matches, and says that a key does. */
  for (int i = 0; i < 3; i++) {
    char *made = petal_policy_create_filter(i == 0 ? NULL : policy, i == 1 ? NULL : keys, i == 2 ? NULL : lengths, 1,
                                            &out_size);
    CHECK(made != NULL && out_size == 2 && petal_policy_key_may_match(policy, "any", 3, made, out_size) == 1);
    free(made);
  }
  CHECK(petal_policy_create_filter(policy, keys, lengths, 1, NULL) == NULL);
  CHECK(petal_policy_key_may_match(NULL, "any", 3, "\0\1", 2) == 1);
  CHECK(petal_policy_key_may_match(policy, NULL, 3, "\0\1", 2) == 1);
  CHECK(petal_policy_key_may_match(policy, "any", 3, NULL, 2) == 1);
  CHECK(petal_policy_name(NULL)[0] == '\0');
  petal_policy_free(NULL);
  petal_policy_free(policy);
}

static bool take(void *context, const void *bytes, size_t length) {
  return context == NULL && bytes != NULL && length > 0;
}

static void images(void) {
  static uint64_t buffer[256];
  petal_open_options options = {.struct_size = sizeof options};
  size_t length = 0;
  const char *path = check_path("filter");
  REQUIRED(petal_filter_serialized_size(NULL, &out_u64, NULL));
  REQUIRED(petal_filter_serialized_size(filter, NULL, NULL));
  REQUIRED_NAMED("filter", petal_filter_serialize(NULL, buffer, sizeof buffer, &out_size, &error));
  REQUIRED_NAMED("buffer", petal_filter_serialize(filter, NULL, sizeof buffer, &out_size, &error));
  CHECK_EQUAL(buffer[0], 0);
  NULLABLE(petal_filter_serialize(filter, buffer, sizeof buffer, NULL, NULL));
  NULLABLE(petal_filter_serialize(filter, buffer, sizeof buffer, &length, NULL));

  REQUIRED_NAMED("filter", petal_filter_serialize_to(NULL, take, NULL, &error));
  REQUIRED_NAMED("write", petal_filter_serialize_to(filter, NULL, NULL, &error));
  NULLABLE(petal_filter_serialize_to(filter, take, NULL, NULL));
  REQUIRED_NAMED("builder", petal_builder_serialize_to(NULL, take, NULL, &error));
  REQUIRED_NAMED("write", petal_builder_serialize_to(builder, NULL, NULL, &error));
  NULLABLE(petal_builder_serialize_to(builder, take, NULL, NULL));
  REQUIRED_NAMED("filter", petal_filter_save(NULL, path, &error));
  REQUIRED_NAMED("path", petal_filter_save(filter, NULL, &error));
  CHECK(access(path, F_OK) != 0);
  NULLABLE(petal_filter_save(filter, path, NULL));

  REQUIRED_NAMED("path", petal_filter_open(NULL, &options, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_open(path, &options, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_open_descriptor(0, 0, &options, NULL, &error));
  REQUIRED_NAMED("buffer", petal_filter_open_in_buffer(NULL, length, &options, &out, &error));
  REQUIRED_NAMED("buffer", petal_filter_open_in_buffer(NULL, 0, &options, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_open_in_buffer(buffer, length, &options, NULL, &error));
  REQUIRED_NAMED("image", petal_filter_load(NULL, length, &options, &out, &error));
  REQUIRED_NAMED("image", petal_filter_load(NULL, 0, &options, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_load(buffer, length, &options, NULL, &error));
  FILE *file = fopen(path, "rb");
  NULLABLE(petal_filter_open(path, NULL, &out, NULL));
  petal_filter_free(out);
  NULLABLE(petal_filter_open_descriptor(check_descriptor(fileno(file)), 0, NULL, &out, NULL));
  petal_filter_free(out);
  NULLABLE(petal_filter_open_in_buffer(buffer, length, NULL, &out, NULL));
  petal_filter_free(out);
  NULLABLE(petal_filter_load(buffer, length, NULL, &out, NULL));
  petal_filter_free(out);
  fclose(file);

  REQUIRED_NAMED("filter", petal_filter_sync(NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_vouch(NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_verify(NULL, &error));
  NULLABLE(petal_filter_sync(filter, NULL));
  NULLABLE(petal_filter_vouch(filter, NULL));
  NULLABLE(petal_filter_verify(filter, NULL));
}

static void hashing(void) {
  REQUIRED_NAMED("spec", petal_hash(NULL, "a", 1, &out_u64, &error));
  REQUIRED_NAMED("key", petal_hash(&spec, NULL, 1, &out_u64, &error));
  REQUIRED_NAMED("hash", petal_hash(&spec, "a", 1, NULL, &error));
  REQUIRED_NAMED("spec", petal_hash_u64(NULL, 1, &out_u64, &error));
  REQUIRED_NAMED("hash", petal_hash_u64(&spec, 1, NULL, &error));
  REQUIRED(petal_filter_hash(NULL, "a", 1, &out_u64));
  REQUIRED(petal_filter_hash(filter, NULL, 1, &out_u64));
  REQUIRED(petal_filter_hash(filter, "a", 1, NULL));
  REQUIRED(petal_filter_hash_u64(NULL, 1, &out_u64));
  REQUIRED(petal_filter_hash_u64(filter, 1, NULL));
  NULLABLE(petal_hash(&spec, NULL, 0, &out_u64, NULL));
  NULLABLE(petal_hash_u64(&spec, 1, &out_u64, NULL));
  NULLABLE(petal_filter_hash(filter, NULL, 0, &out_u64));
}

/* A failed question to `count` filters said true everywhere. */
#define ASKED(name, call)                       \
  do {                                          \
    spoil();                                    \
    CHECK_STATUS(call, PETAL_ERR_NULL);         \
    CHECK_TEXT(error.message, name " is NULL"); \
    CHECK(out_bytes[0] == 1 && (out_bitmap[0] & 1) == 1 && answers.true_count == 1 && answers.done == 0); \
  } while (0)

static void many_filters(void) {
  const petal_filter *one[] = {filter};
  answers.bytes = out_bytes, answers.bitmap = out_bitmap;
  ASKED("filters", petal_filter_contains_across(NULL, 1, "a", 1, &answers, &error));
  ASKED("key", petal_filter_contains_across(one, 1, NULL, 1, &answers, &error));
  ASKED("filters", petal_filter_contains_across_u64(NULL, 1, 1, &answers, &error));
  ASKED("filters", petal_filter_contains_across_hash(NULL, 1, 1, &answers, &error));
  REQUIRED_NAMED("answers", petal_filter_contains_across(one, 1, "a", 1, NULL, &error));
  REQUIRED_NAMED("answers", petal_filter_contains_across_u64(one, 1, 1, NULL, &error));
  REQUIRED_NAMED("answers", petal_filter_contains_across_hash(one, 1, 1, NULL, &error));
  NULLABLE(petal_filter_contains_across(one, 1, NULL, 0, &answers, NULL));
  NULLABLE(petal_filter_contains_across_u64(NULL, 0, 1, &answers, NULL));
  NULLABLE(petal_filter_contains_across_hash(one, 1, 1, &answers, NULL));
}

static void compact_forms(void) {
  static uint64_t form[256];
  static petal_compact_options options = {.struct_size = sizeof options};
  petal_spec little = {.struct_size = sizeof little, .capacity = 10};
  petal_builder *maker = NULL;
  petal_filter *opened = NULL;
  size_t size = 0;
  uint64_t hash = 0;
  const uint64_t key = 1;
  CHECK_OK(petal_builder_new(&little, NULL, &maker, NULL));
  CHECK_OK(petal_builder_add_u64(maker, key));
  REQUIRED_NAMED("builder", petal_builder_compact_size(NULL, &out_size, &error));
  REQUIRED_NAMED("size", petal_builder_compact_size(maker, NULL, &error));
  REQUIRED_NAMED("builder", petal_builder_finish_compact(NULL, form, sizeof form, &out_size, &error));
  REQUIRED_NAMED("buffer", petal_builder_finish_compact(maker, NULL, sizeof form, &out_size, &error));
  NULLABLE(petal_builder_compact_size(maker, &size, NULL));
  NULLABLE(petal_builder_finish_compact(maker, form, sizeof form, NULL, NULL));
  petal_builder_free(maker);

  petal_filter *small = check_filled(&little, 0, 1);
  REQUIRED_NAMED("filter", petal_filter_compact_size(NULL, &out_size, &error));
  REQUIRED_NAMED("size", petal_filter_compact_size(small, NULL, &error));
  REQUIRED_NAMED("filter", petal_filter_serialize_compact(NULL, form, sizeof form, &out_size, &error));
  REQUIRED_NAMED("buffer", petal_filter_serialize_compact(small, NULL, sizeof form, &out_size, &error));
  NULLABLE(petal_filter_serialize_compact(small, form, sizeof form, NULL, NULL));
  NULLABLE(petal_filter_compact_size(small, &size, NULL));
  petal_filter_free(small);
  REQUIRED_NAMED("data", petal_filter_open_compact(NULL, size, &options, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_open_compact(form, size, &options, NULL, &error));
  REQUIRED_NAMED("data", petal_filter_load_compact(NULL, size, &options, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_load_compact(form, size, &options, NULL, &error));
  REQUIRED_NAMED("data", petal_compact_check(NULL, size, &error));
  REQUIRED_NAMED("data", petal_compact_contains_checked_hash(NULL, size, 1, &out_bool, &error));
  REQUIRED_NAMED("found", petal_compact_contains_checked_hash(form, size, 1, NULL, &error));
  CHECK(petal_compact_contains_hash(NULL, size, 1));
  CHECK(petal_compact_contains(NULL, size, NULL, "a", 1) && petal_compact_contains(form, size, NULL, NULL, 1));
  NULLABLE(petal_filter_open_compact(form, size, NULL, &opened, NULL));
  petal_filter_free(opened);
  NULLABLE(petal_filter_load_compact(form, size, NULL, &opened, NULL));
  petal_filter_free(opened);
  NULLABLE(petal_compact_check(form, size, NULL));

  const void *forms[] = {form}, *none[] = {NULL};
  ASKED("data", petal_compact_contains_across_hash(NULL, &size, 1, 1, &answers, &error));
  ASKED("lengths", petal_compact_contains_across_hash(forms, NULL, 1, 1, &answers, &error));
  CHECK(petal_compact_contains_across_hash(none, &size, 1, 1, &answers, &error) != PETAL_OK && answers.true_count == 1);
  REQUIRED_NAMED("answers", petal_compact_contains_across_hash(forms, &size, 1, 1, NULL, &error));
  NULLABLE(petal_compact_contains_across_hash(forms, &size, 1, 1, &answers, NULL));

  REQUIRED_NAMED("spec", petal_hash_batch(NULL, U64_KEYS(&key, 1), &out_u64, &error));
  REQUIRED_NAMED("keys", petal_hash_batch(&little, NULL, &out_u64, &error));
  REQUIRED_NAMED("hashes", petal_hash_batch(&little, U64_KEYS(&key, 1), NULL, &error));
  NULLABLE(petal_hash_batch(&little, U64_KEYS(&key, 1), &hash, NULL));
  answers.bytes = answers.bitmap = NULL;
}

static bool drop(void *context, const void *bytes, size_t length) {
  (void)context, (void)bytes, (void)length;
  return true;
}

static void formats(void) {
  petal_format_info info = {.struct_size = sizeof info};
  petal_spec made = {.struct_size = sizeof made};
  char name[PETAL_NAME_SIZE] = "", buffer[64];
  /* An empty one of a single word. */
  const unsigned char guava[14] = {1, 1, 0, 0, 0, 1};
  petal_filter *imported = NULL;
  CHECK(petal_format_count() > 0);
  REQUIRED(petal_format_at(0, NULL, NULL));
  REQUIRED(petal_format_find(NULL, &info, NULL));
  REQUIRED(petal_format_find("guava", NULL, NULL));
  REQUIRED(petal_format_variant(NULL, 0, name, NULL));
  REQUIRED(petal_format_variant("guava", 0, NULL, NULL));
  REQUIRED(petal_format_recognise(guava, sizeof guava, NULL, NULL));
  REQUIRED(petal_format_recognise(NULL, 1, &info, NULL));
  CHECK(info.name[0] == '\0' && name[0] == '\0');
  REQUIRED_NAMED("format", petal_format_spec(NULL, NULL, 1, 0.01, 0, &made, &error));
  REQUIRED_NAMED("spec", petal_format_spec("guava", NULL, 1, 0.01, 0, NULL, &error));
  NULLABLE(petal_format_spec("guava", NULL, 1, 0.01, 0, &made, NULL));
  REQUIRED_NAMED("format", petal_filter_import(NULL, guava, sizeof guava, NULL, &out, &error));
  REQUIRED_NAMED("bytes", petal_filter_import("guava", NULL, 1, NULL, &out, &error));
  REQUIRED_NAMED("filter", petal_filter_import("guava", guava, sizeof guava, NULL, NULL, &error));
  NULLABLE(petal_filter_import("guava", guava, sizeof guava, NULL, &imported, NULL));
  REQUIRED_NAMED("filter", petal_filter_export_size(NULL, "guava", NULL, &out_u64, &error));
  REQUIRED_NAMED("format", petal_filter_export_size(imported, NULL, NULL, &out_u64, &error));
  REQUIRED_NAMED("size", petal_filter_export_size(imported, "guava", NULL, NULL, &error));
  NULLABLE(petal_filter_export_size(imported, "guava", NULL, &out_u64, NULL));
  REQUIRED_NAMED("filter", petal_filter_export(NULL, "guava", NULL, buffer, sizeof buffer, &out_size, &error));
  REQUIRED_NAMED("format", petal_filter_export(imported, NULL, NULL, buffer, sizeof buffer, &out_size, &error));
  REQUIRED_NAMED("buffer", petal_filter_export(imported, "guava", NULL, NULL, sizeof buffer, &out_size, &error));
  NULLABLE(petal_filter_export(imported, "guava", NULL, buffer, sizeof buffer, NULL, NULL));
  REQUIRED_NAMED("filter", petal_filter_export_to(NULL, "guava", NULL, drop, NULL, &error));
  REQUIRED_NAMED("format", petal_filter_export_to(imported, NULL, NULL, drop, NULL, &error));
  REQUIRED_NAMED("write", petal_filter_export_to(imported, "guava", NULL, NULL, NULL, &error));
  NULLABLE(petal_filter_export_to(imported, "guava", NULL, drop, NULL, NULL));
  petal_filter_free(imported);
}

static void builders(void) {
  static const uint64_t offsets[] = {0, 1, 2, 3}, k[] = {1, 2, 3};
  petal_builder_options options = {.struct_size = sizeof options};
  uint64_t count = 99;
  REQUIRED_NAMED("spec", petal_builder_new(NULL, &options, &out_builder, &error));
  REQUIRED_NAMED("builder", petal_builder_new(&spec, &options, NULL, &error));
  REQUIRED(petal_builder_add(NULL, "a", 1));
  REQUIRED(petal_builder_add(builder, NULL, 1));
  REQUIRED(petal_builder_add_u64(NULL, 1));
  REQUIRED(petal_builder_add_hash(NULL, 1));
  REQUIRED(petal_builder_add_times(NULL, "a", 1, 1));
  REQUIRED(petal_builder_add_times(builder, NULL, 1, 1));
  REQUIRED(petal_builder_add_times_u64(NULL, 1, 1));
  REQUIRED(petal_builder_add_times_hash(NULL, 1, 1));
  petal_keys bytes = petal_keys_bytes("abc", 3, offsets, 3), numbers = petal_keys_u64(k, 3);
  answers.bytes = answers.bitmap = NULL;
  INSERTION("builder", petal_builder_add_batch(NULL, &bytes, &answers, &error));
  INSERTION("keys", petal_builder_add_batch(builder, NULL, &answers, &error));
  const uint64_t often[3] = {2, 2, 2};
  CHECK_STATUS(petal_builder_add_times_batch(NULL, U64_KEYS(often, 3), often, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_builder_add_times_batch(builder, NULL, often, NULL, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_builder_add_times_batch(builder, U64_KEYS(often, 3), NULL, NULL, &error), PETAL_ERR_NULL);
  INSERTION("data of keys", petal_builder_add_batch(builder, BYTE_KEYS(NULL, 3, offsets, 3), &answers, &error));
  INSERTION("data of keys", petal_builder_add_batch(builder, U64_KEYS(NULL, 3), &answers, &error));
  REQUIRED(petal_builder_offered(NULL, &out_u64, NULL));
  REQUIRED(petal_builder_offered(builder, NULL, NULL));
  REQUIRED_NAMED("builder", petal_builder_finish(NULL, &out, &error));
  REQUIRED_NAMED("filter", petal_builder_finish(builder, NULL, &error));
  REQUIRED_NAMED("builder", petal_builder_save(NULL, check_path("built"), &error));
  REQUIRED_NAMED("path", petal_builder_save(builder, NULL, &error));
  CHECK(access(check_path("built"), F_OK) != 0);
  petal_builder_free(NULL);
  CHECK_OK(petal_builder_offered(builder, &count, NULL));
  CHECK_EQUAL(count, 0);

  NULLABLE(petal_builder_add(builder, NULL, 0));
  NULLABLE(petal_builder_add_batch(builder, &bytes, NULL, NULL));
  NULLABLE(petal_builder_add_batch(builder, &numbers, NULL, NULL));
  petal_keys hashes = petal_keys_hashes(k, 3), none = petal_keys_hashes(NULL, 0);
  NULLABLE(petal_builder_add_batch(builder, &hashes, NULL, NULL));
  NULLABLE(petal_builder_add_batch(builder, &none, NULL, NULL));
  petal_keys digests = petal_keys_digests(NULL, 16, 0);
  CHECK(petal_builder_add_batch(builder, &digests, NULL, NULL) != PETAL_OK);
  /* A limit without a folder contradicts itself; a progress function and its context are nullable. */
  options.memory_limit = 1 << 20;
  CHECK_STATUS(petal_builder_new(&spec, &options, &out_builder, NULL), PETAL_ERR_CONTRADICTION);
  NULLABLE(petal_builder_finish(builder, &out, NULL));
  CHECK_EQUAL(check_keys(out), 10);
  petal_filter_free(out);
  NULLABLE(petal_builder_save(builder, check_path("built"), NULL));
}

static void maps(void) {
  static const uint64_t k[] = {1, 2, 3};
  static uint64_t buffer[256], got[3];
  petal_map_builder *maker = NULL, *no_maker = NULL;
  petal_map *map = NULL, *no_map = NULL;
  petal_open_options options = {.struct_size = sizeof options};
  petal_description description = {.struct_size = sizeof description};
  petal_statistics statistics = {.struct_size = sizeof statistics};
  petal_keys numbers = petal_keys_u64(k, 3), none = petal_keys_u64(NULL, 0);
  const char *path = check_path("map");
  size_t length = 0;
  REQUIRED_NAMED("spec", petal_map_builder_new(NULL, NULL, &no_maker, &error));
  REQUIRED_NAMED("builder", petal_map_builder_new(&spec, NULL, NULL, &error));
  NULLABLE(petal_map_builder_new(&spec, NULL, &maker, NULL));
  REQUIRED(petal_map_builder_put(NULL, "a", 1, 1));
  REQUIRED(petal_map_builder_put(maker, NULL, 1, 1));
  REQUIRED(petal_map_builder_put_u64(NULL, 1, 1));
  REQUIRED(petal_map_builder_put_hash(NULL, 1, 1));
  INSERTION("builder", petal_map_builder_put_batch(NULL, &numbers, k, &answers, &error));
  INSERTION("keys", petal_map_builder_put_batch(maker, NULL, k, &answers, &error));
  INSERTION("values", petal_map_builder_put_batch(maker, &numbers, NULL, &answers, &error));
  REQUIRED(petal_map_builder_offered(NULL, &out_u64, NULL));
  REQUIRED(petal_map_builder_offered(maker, NULL, NULL));
  REQUIRED_NAMED("builder", petal_map_builder_finish(NULL, &no_map, &error));
  REQUIRED_NAMED("map", petal_map_builder_finish(maker, NULL, &error));
  REQUIRED_NAMED("builder", petal_map_builder_save(NULL, path, &error));
  REQUIRED_NAMED("path", petal_map_builder_save(maker, NULL, &error));
  REQUIRED_NAMED("builder", petal_map_builder_serialize_to(NULL, take, NULL, &error));
  REQUIRED_NAMED("write", petal_map_builder_serialize_to(maker, NULL, NULL, &error));
  REQUIRED_NAMED("builder", petal_map_builder_merge(NULL, k, 8, &error));
  REQUIRED_NAMED("state", petal_map_builder_merge(maker, NULL, 8, &error));
  NULLABLE(petal_map_builder_put(maker, NULL, 0, 1));
  NULLABLE(petal_map_builder_put_batch(maker, &none, NULL, NULL, NULL));
  NULLABLE(petal_map_builder_put_batch(maker, &numbers, k, NULL, NULL));
  NULLABLE(petal_map_builder_finish(maker, &map, NULL));
  NULLABLE(petal_map_builder_save(maker, path, NULL));
  petal_map_builder_free(maker);
  petal_map_builder_free(NULL);

  REQUIRED(petal_map_get(NULL, "a", 1, &out_u64, &out_bool));
  REQUIRED(petal_map_get(map, NULL, 1, &out_u64, &out_bool));
  REQUIRED(petal_map_get(map, "a", 1, &out_u64, NULL));
  REQUIRED(petal_map_get_u64(NULL, 1, &out_u64, &out_bool));
  REQUIRED(petal_map_get_u64(map, 1, &out_u64, NULL));
  REQUIRED(petal_map_get_hash(NULL, 1, &out_u64, &out_bool));
  REQUIRED(petal_map_get_hash(map, 1, &out_u64, NULL));
  NULLABLE(petal_map_get(map, NULL, 0, NULL, &out_bool));
  petal_answers found = {.struct_size = sizeof found, .values = got};
  CHECK_STATUS(petal_map_get_batch(NULL, &numbers, &found, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_map_get_batch(map, NULL, &found, &error), PETAL_ERR_NULL);
  CHECK_STATUS(petal_map_get_batch(map, &numbers, NULL, &error), PETAL_ERR_NULL);
  NULLABLE(petal_map_get_batch(map, &numbers, &found, NULL));
  CHECK(got[2] == 3);

  REQUIRED(petal_map_serialized_size(NULL, &out_u64, NULL));
  REQUIRED(petal_map_serialized_size(map, NULL, NULL));
  REQUIRED_NAMED("map", petal_map_serialize(NULL, buffer, sizeof buffer, &out_size, &error));
  REQUIRED_NAMED("buffer", petal_map_serialize(map, NULL, sizeof buffer, &out_size, &error));
  NULLABLE(petal_map_serialize(map, buffer, sizeof buffer, &length, NULL));
  REQUIRED_NAMED("map", petal_map_serialize_to(NULL, take, NULL, &error));
  REQUIRED_NAMED("write", petal_map_serialize_to(map, NULL, NULL, &error));
  NULLABLE(petal_map_serialize_to(map, take, NULL, NULL));
  REQUIRED_NAMED("map", petal_map_save(NULL, path, &error));
  REQUIRED_NAMED("path", petal_map_save(map, NULL, &error));
  REQUIRED_NAMED("path", petal_map_open(NULL, &options, &no_map, &error));
  REQUIRED_NAMED("map", petal_map_open(path, &options, NULL, &error));
  REQUIRED_NAMED("map", petal_map_open_descriptor(0, 0, &options, NULL, &error));
  REQUIRED_NAMED("buffer", petal_map_open_in_buffer(NULL, length, &options, &no_map, &error));
  REQUIRED_NAMED("map", petal_map_open_in_buffer(buffer, length, &options, NULL, &error));
  REQUIRED_NAMED("image", petal_map_load(NULL, length, &options, &no_map, &error));
  REQUIRED_NAMED("map", petal_map_load(buffer, length, &options, NULL, &error));
  REQUIRED_NAMED("map", petal_map_copy(NULL, &no_map, &error));
  REQUIRED_NAMED("copy", petal_map_copy(map, NULL, &error));
  petal_view view = PETAL_VIEW_INIT;
  REQUIRED_NAMED("map", petal_map_view(NULL, &view, &error));
  REQUIRED_NAMED("view", petal_map_view(map, NULL, &error));
  NULLABLE(petal_map_view(map, &view, NULL));
  REQUIRED_NAMED("map", petal_map_verify(NULL, &error));
  REQUIRED_NAMED("map", petal_map_describe(NULL, &description, &error));
  REQUIRED_NAMED("description", petal_map_describe(map, NULL, &error));
  REQUIRED_NAMED("map", petal_map_statistics(NULL, &statistics, &error));
  REQUIRED_NAMED("statistics", petal_map_statistics(map, NULL, &error));
  REQUIRED_NAMED("spec", petal_map_new(NULL, &no_map, &error));
  REQUIRED_NAMED("map", petal_map_new(&spec, NULL, &error));
  CHECK(no_map == NULL && no_maker == NULL);
  petal_map_free(map);
  petal_map_free(NULL);

  petal_spec made_empty = {.struct_size = sizeof made_empty, .kind = PETAL_KIND_APPROXIMATOR, .capacity = 10};
  NULLABLE(petal_map_new(&made_empty, &map, NULL));
  REQUIRED(petal_map_put(NULL, "a", 1, 1, &out_bool));
  REQUIRED(petal_map_put(map, NULL, 1, 1, &out_bool));
  REQUIRED(petal_map_put_u64(NULL, 1, 1, &out_bool));
  REQUIRED(petal_map_put_hash(NULL, 1, 1, &out_bool));
  NULLABLE(petal_map_put(map, NULL, 0, 1, NULL));
  NULLABLE(petal_map_put_u64(map, 1, 1, NULL));
  REQUIRED(petal_map_replace(NULL, "a", 1, 1, &out_bool));
  REQUIRED(petal_map_replace_u64(NULL, 1, 1, &out_bool));
  REQUIRED(petal_map_replace_hash(NULL, 1, 1, &out_bool));
  INSERTION("map", petal_map_put_batch(NULL, &numbers, k, &answers, &error));
  INSERTION("keys", petal_map_put_batch(map, NULL, k, &answers, &error));
  INSERTION("values", petal_map_put_batch(map, &numbers, NULL, &answers, &error));
  NULLABLE(petal_map_put_batch(map, &none, NULL, NULL, NULL));
  NULLABLE(petal_map_put_batch(map, &numbers, k, NULL, NULL));
  INSERTION("map", petal_map_replace_batch(NULL, &numbers, k, &answers, &error));
  INSERTION("keys", petal_map_replace_batch(map, NULL, k, &answers, &error));
  INSERTION("values", petal_map_replace_batch(map, &numbers, NULL, &answers, &error));
  REQUIRED_NAMED("map", petal_map_merge(NULL, map, &error));
  REQUIRED_NAMED("other", petal_map_merge(map, NULL, &error));
  NULLABLE(petal_map_merge(map, map, NULL));
  REQUIRED_NAMED("map", petal_map_clear(NULL, &error));
  NULLABLE(petal_map_clear(map, NULL));
  REQUIRED_NAMED("map", petal_map_sync(NULL, &error));
  NULLABLE(petal_map_sync(map, NULL));
  REQUIRED_NAMED("map", petal_map_vouch(NULL, &error));
  NULLABLE(petal_map_vouch(map, NULL));
  CHECK(petal_map_capabilities(NULL) == 0);
  petal_map_free(map);
}

int main(void) {
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  CHECK_OK(petal_filter_new(&spec, &other, NULL));
  CHECK_OK(petal_builder_new(&spec, NULL, &builder, NULL));
  CHECK_OK(petal_filter_insert(filter, "apple", 5, NULL));
  check_image image = check_take_image(filter);
  kinds_and_specs();
  making();
  one_key();
  removing_and_counting();
  many_keys();
  combining_and_describing();
  estimating_and_planning();
  policies();
  images();
  hashing();
  builders();
  many_filters();
  compact_forms();
  formats();
  maps();
  CHECK(check_same_image(filter, image));
  CHECK_EQUAL(check_keys(filter), 1);
  free(image.bytes);
  petal_filter_free(filter);
  petal_filter_free(other);
  petal_builder_free(builder);
  return check_done();
}
