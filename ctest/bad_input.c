/* Bad input in the program's own hands: specs, plans, structs, keys, unlike filters, callbacks that say no. */
#include "refused.h"

#include <petal_inline.h>

#include <math.h>

/* ---- Specs ---- */

static void rates(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind kind = check_kind(k);
#define RATE(rate, text)                                                                   \
  REFUSED(PETAL_ERR_FALSE_POSITIVE_RATE, "false_positive_rate = " text " |inside (0, 1)",   \
          try_new(SPEC(.kind = kind, .false_positive_rate = (rate))))
    RATE(1, "1");
    RATE(2.5, "2.5");
    RATE(-0.25, "-0.25");
    RATE((double)NAN, "NaN");
    RATE((double)INFINITY, "inf");
    RATE(-(double)INFINITY, "-inf");
    petal_filter_free(check_filled(&SPEC(.kind = kind, .capacity = 100, .false_positive_rate = 0), 0, 100));
    petal_filter_free(check_filled(&SPEC(.kind = kind, .capacity = 100, .false_positive_rate = 0.999999999), 0, 100));
  }
  static const double wrong[] = {0, 1, -1, 2};
  for (size_t i = 0; i < 4; i++) CHECK(petal_filter_with_capacity(10, wrong[i]) == NULL);
  CHECK(petal_filter_with_capacity(10, (double)NAN) == NULL);
  CHECK(petal_filter_with_capacity(10, (double)INFINITY) == NULL);
}

static void sizes(void) {
  const uint64_t much = UINT64_C(1) << 63;
  REFUSED(PETAL_ERR_TOO_LARGE, "capacity = 18446744073709551615|0.7",
          try_new(SPEC(.capacity = UINT64_MAX, .false_positive_rate = 0.7)));
  REFUSED(PETAL_ERR_TOO_LARGE, "capacity = 1000000000000|2^32",
          try_new(SPEC(.kind = PETAL_KIND_SPLIT_BLOCK, .capacity = UINT64_C(1000000000000))));
  REFUSED(PETAL_ERR_TOO_LARGE, "bits = 9223372036854775808|address space", try_new(SPEC(.bits = much, .hashes = 3)));
  REFUSED(PETAL_ERR_TOO_LARGE, "bits = 18446744073709551615",
      try_new(SPEC(.kind = PETAL_KIND_BLOOM, .bits = UINT64_MAX, .hashes = 3)));
  REFUSED(PETAL_ERR_TOO_LARGE, "bits = 1099511627776|2^32",
          try_new(SPEC(.kind = PETAL_KIND_SPLIT_BLOCK, .bits = UINT64_C(1) << 40)));
  /* Rates that 64-bit hashes cannot have. */
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "false_positive_rate = 0.01 |0.63|18446744073709551615",
          try_new(SPEC(.capacity = UINT64_MAX)));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "false_positive_rate = 1e-300 |5.42|e-19|10 keys",
          try_new(SPEC(.kind = PETAL_KIND_SPLIT_BLOCK, .capacity = 10, .false_positive_rate = 1e-300)));
  uint64_t size = 4711;
  petal_spec large = SPEC(.bits = much, .hashes = 3);
  REFUSED(PETAL_ERR_TOO_LARGE, "bits = 9223372036854775808", petal_spec_image_size(&large, &size, &error));
  CHECK_EQUAL(size, 4711);

  /* A size that the address space could hold, but not with anything else in it. */
  REFUSED(PETAL_ERR_OUT_OF_MEMORY, "562949953421312 bytes", try_new(SPEC(.bits = UINT64_C(1) << 52, .hashes = 3)));
}

static void contradictions(void) {
  REFUSED(PETAL_ERR_CONTRADICTION, "hashes = 3|bits", try_new(SPEC(.hashes = 3)));
  REFUSED(PETAL_ERR_CONTRADICTION, "bits = 512|false_positive_rate = 0.5",
          try_new(SPEC(.bits = 512, .hashes = 3, .false_positive_rate = 0.5)));
  REFUSED(PETAL_ERR_CONTRADICTION, "bits = 512|hashes|capacity", try_new(SPEC(.bits = 512)));
  REFUSED(PETAL_ERR_CONTRADICTION, "key|xxh3", try_new(SPEC(.secret = {1})));
  REFUSED(PETAL_ERR_CONTRADICTION, "key|external", try_new(SPEC(.hash = PETAL_HASH_EXTERNAL, .secret = {1})));
  REFUSED(PETAL_ERR_CONTRADICTION, "seed = 5|siphash13",
          try_new(SPEC(.hash = PETAL_HASH_SIPHASH13, .secret = {1}, .seed = 5)));
  REFUSED(PETAL_ERR_SECRET_MISSING, "siphash13|not all zeros", try_new(SPEC(.hash = PETAL_HASH_SIPHASH13)));

  petal_spec spec = SPEC(.bits = 4096, .hashes = 4);
  CHECK_OK(petal_spec_set(&spec, "foldable", 1, NULL));
  REFUSED(PETAL_ERR_CONTRADICTION, "foldable|bits = 4096", try_new(spec));
  petal_spec narrow = SPEC(.kind = PETAL_KIND_BLOOM, .bits = 3, .hashes = 4);
  CHECK_OK(petal_spec_set(&narrow, "partitioned", 1, NULL));
  REFUSED(PETAL_ERR_CONTRADICTION, "bits = 3|hashes = 4", try_new(narrow));

  /* Set twice in the array, even to the same value; a call that sets it again takes the place of the first. */
  petal_spec twice = SPEC(.kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 4);
  CHECK_OK(petal_spec_set(&twice, "partitioned", 0, NULL));
  CHECK_OK(petal_spec_set(&twice, "partitioned", 1, NULL));
  CHECK_OK(try_new(twice));
  twice.parameters[3] = twice.parameters[0];
  REFUSED(PETAL_ERR_CONTRADICTION, "partitioned|twice|1 and to 1", try_new(twice));
  twice.parameters[3].value = 0;
  REFUSED(PETAL_ERR_CONTRADICTION, "partitioned|twice|1 and to 0", try_new(twice));

  /* A spec that is full of parameters takes no other. */
  petal_spec full = SPEC(.kind = PETAL_KIND_BLOOM, .capacity = 10), before;
  for (uint32_t i = 0; i < PETAL_MAX_PARAMETERS; i++) full.parameters[i] = (petal_setting){.id = i + 1};
  before = full;
  REFUSED(PETAL_ERR_CONTRADICTION, "partitioned|8", petal_spec_set(&full, "partitioned", 1, &error));
  CHECK(memcmp(&before, &full, sizeof full) == 0);
}

static void unknown_values(void) {
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "kind = 99|1 to", try_new(SPEC(.kind = 99)));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "hash = 99|1 (xxh3) to", try_new(SPEC(.hash = 99)));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "kernel = 7|4", try_new(SPEC(.kernel = 7)));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "reserved = 7", try_new(SPEC(.parameters = {{.reserved = 7}})));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "0x3039", try_new(SPEC(.parameters = {{.id = 12345}})));
  petal_spec spec = SPEC(.kind = PETAL_KIND_BLOOM, .capacity = 10), before = spec;
  double value = 4711;
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "colour", petal_spec_set(&spec, "colour", 1, &error));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "colour", petal_spec_set_choice(&spec, "colour", "red", &error));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "colour", petal_spec_get(&spec, "colour", &value, &error));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "UTF-8", petal_spec_set(&spec, "\xff", 1, &error));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "derivation = red|remix|triple",
          petal_spec_set_choice(&spec, "derivation", "red", &error));
  CHECK(memcmp(&before, &spec, sizeof spec) == 0 && value > 4710);
  CHECK_OK(petal_spec_set(&spec, "derivation", 1, NULL));
  spec.kind = PETAL_KIND_SPLIT_BLOCK;
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "split_block|derivation", try_new(spec));

  petal_filter *filter = SENTINEL;
  petal_open_options options = {.struct_size = sizeof options, .mode = 4};
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "mode = 4|from 0 to 3", petal_filter_load("", 0, &options, &filter, &error));
  options = (petal_open_options){.struct_size = sizeof options, .prefault = 9};
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "prefault = 9", petal_filter_open("/", &options, &filter, &error));
  CHECK(filter == SENTINEL);
}

static void out_of_bounds(void) {
  static const double wrong[] = {2, -1, 0.5, 1e300};
  static const char *texts[] = {"partitioned = 2 |0 to 1", "partitioned = -1 |0 to 1", "partitioned = 0.5 |0 to 1",
                                "partitioned = 1"};
  for (size_t i = 0; i < 4; i++) {
    petal_spec spec = SPEC(.kind = PETAL_KIND_BLOOM, .capacity = 10);
    CHECK_OK(petal_spec_set(&spec, "partitioned", wrong[i], NULL));
    REFUSED(PETAL_ERR_OUT_OF_RANGE, texts[i], try_new(spec));
  }
  petal_spec spec = SPEC(.kind = PETAL_KIND_BLOOM, .capacity = 10);
  CHECK_OK(petal_spec_set(&spec, "partitioned", (double)NAN, NULL));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "partitioned = NaN |0 to 1", try_new(spec));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "partitioned = 2 |0 to 1", petal_spec_set_choice(&spec, "partitioned", "2", &error));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "hashes = 65 |64",
      try_new(SPEC(.kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 65)));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "hashes = 7 |8",
          try_new(SPEC(.kind = PETAL_KIND_SPLIT_BLOCK, .bits = 4096, .hashes = 7)));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "bits = 100 |256", try_new(SPEC(.kind = PETAL_KIND_SPLIT_BLOCK, .bits = 100)));

  spec = SPEC(.capacity = 10);
  petal_builder *builder = (petal_builder *)&error;
  petal_builder_options options = {.struct_size = sizeof options, .memory_limit = 1048575, .temporary_directory = "/"};
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "memory_limit = 1048575|1048576",
          petal_builder_new(&spec, &options, &builder, &error));
  options = (petal_builder_options){.struct_size = sizeof options, .memory_limit = 1048576};
  REFUSED(PETAL_ERR_CONTRADICTION, "memory_limit|temporary_directory",
          petal_builder_new(&spec, &options, &builder, &error));
  CHECK(builder == (petal_builder *)&error);
}

static void plans(void) {
  petal_plan_proposal proposals[2] = {{.struct_size = sizeof proposals[0], .kind = 47}};
  size_t count = 4711;
#define PLAN(...) ((petal_plan_request){.struct_size = sizeof(petal_plan_request), .keys = 1000, __VA_ARGS__})
#define PLAN_REFUSED(expected, texts, ...)                                      \
  do {                                                                          \
    petal_plan_request request_ = PLAN(__VA_ARGS__);                            \
    REFUSED(expected, texts, petal_plan_propose(&request_, proposals, 2, &count, &error)); \
  } while (0)
  PLAN_REFUSED(PETAL_ERR_FALSE_POSITIVE_RATE, "false_positive_rate = 0 |(0, 1)", .is_static = 0);
  PLAN_REFUSED(PETAL_ERR_FALSE_POSITIVE_RATE, "false_positive_rate = 1 |(0, 1)", .false_positive_rate = 1);
  PLAN_REFUSED(PETAL_ERR_FALSE_POSITIVE_RATE, "false_positive_rate = NaN |(0, 1)", .false_positive_rate = (double)NAN);
  PLAN_REFUSED(PETAL_ERR_CONTRADICTION, "false_positive_rate = 0.5|memory = 99", .false_positive_rate = 0.5,
               .memory = 99);
  PLAN_REFUSED(PETAL_ERR_UNKNOWN_VALUE, "capabilities = 0x8000000000000000", .memory = 4096,
               .capabilities = UINT64_C(1) << 63);
  PLAN_REFUSED(PETAL_ERR_UNKNOWN_VALUE, "is_static = 2|0 or 1", .memory = 4096, .is_static = 2);
  PLAN_REFUSED(PETAL_ERR_UNKNOWN_VALUE, "reserved = 3", .memory = 4096, .reserved = 3);
  CHECK(proposals[0].kind == 47 && count == 4711);

  /* Each kind answers for itself that 64-bit hashes cannot have a rate. */
  petal_plan_request many = PLAN(.false_positive_rate = 0.01);
  many.keys = UINT64_MAX;
  CHECK_OK(petal_plan_propose(&many, proposals, 2, &count, &error));
  for (size_t i = 0; i < 2; i++) {
    CHECK_STATUS(proposals[i].status, PETAL_ERR_OUT_OF_RANGE);
    CHECK_TEXT(proposals[i].reason, "18446744073709551615");
  }
}

/* ---- Structs ---- */

static petal_status use_spec(void *s, petal_error *e) {
  petal_filter *filter = NULL;
  petal_status status = petal_filter_new(s, &filter, e);
  petal_filter_free(filter);
  return status;
}

static petal_status use_spec_as_output(void *s, petal_error *e) { return petal_filter_get_spec(guarded, s, e); }
static petal_status use_statistics(void *s, petal_error *e) { return petal_filter_get_statistics(guarded, s, e); }
static petal_status use_description(void *s, petal_error *e) { return petal_filter_describe(guarded, s, e); }
static petal_status use_kind_info(void *s, petal_error *e) {
  (void)e;
  petal_status by_name = petal_kind_find("bloom", s, NULL);
  CHECK_STATUS(petal_kind_get_at(0, s, NULL), by_name);
  return by_name;
}
static petal_status use_parameter_info(void *s, petal_error *e) {
  (void)e;
  return petal_kind_get_parameter(PETAL_KIND_BLOOM, 0, s, NULL);
}

static petal_status use_format_info(void *s, petal_error *e) {
  (void)e;
  petal_status by_name = petal_format_find("guava", s, NULL);
  CHECK_STATUS(petal_format_get_at(0, s, NULL), by_name);
  return by_name;
}
static petal_status use_format_spec(void *s, petal_error *e) {
  return petal_format_get_spec("guava", NULL, 10, 0.01, 0, s, e);
}
static petal_status use_import_options(void *s, petal_error *e) {
  static const unsigned char guava[14] = {1, 1, 0, 0, 0, 1};
  petal_filter *filter = NULL;
  petal_status status = petal_filter_import("guava", guava, sizeof guava, s, &filter, e);
  petal_filter_free(filter);
  return status;
}

static petal_status use_open_options(void *s, petal_error *e) {
  petal_filter *filter = NULL;
  petal_status status = petal_filter_load(guarded_image.bytes, guarded_image.length, s, &filter, e);
  petal_filter_free(filter);
  return status;
}

static petal_status use_builder_options(void *s, petal_error *e) {
  petal_spec spec = SPEC(.capacity = 10);
  petal_builder *builder = NULL;
  petal_status status = petal_builder_new(&spec, s, &builder, e);
  petal_builder_free(builder);
  return status;
}

static petal_status use_comparison(void *s, petal_error *e) {
  return petal_filter_estimate_overlap(guarded, guarded, s, e);
}

static petal_status use_proposal(void *s, petal_error *e) {
  petal_plan_request request = PLAN(.memory = 4096);
  size_t count = 0;
  return petal_plan_propose(&request, s, 1, &count, e);
}

static petal_status use_plan_request(void *s, petal_error *e) {
  petal_plan_proposal proposal = {.struct_size = sizeof proposal};
  size_t count = 0;
  return petal_plan_propose(s, &proposal, 1, &count, e);
}

static petal_status use_keys(void *s, petal_error *e) {
  return petal_filter_insert_batch(guarded, s, NULL, e);
}

static petal_status use_answers(void *s, petal_error *e) {
  return petal_filter_contains_batch(guarded, HASH_KEYS(NULL, 0), s, e);
}

static petal_status use_view(void *s, petal_error *e) { return petal_filter_get_view(guarded, s, e); }

static petal_status use_compact_options(void *s, petal_error *e) {
  unsigned char bytes[4096];
  size_t length = 0;
  petal_status status = petal_filter_serialize_compact(guarded, bytes, sizeof bytes, &length, e);
  petal_filter *filter = NULL;
  if (status == PETAL_OK) status = petal_filter_load_compact(bytes, length, s, &filter, e);
  petal_filter_free(filter);
  return status;
}

static petal_status use_report(void *s, petal_error *e) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_RIBLT, .bits = 1920};
  petal_sketch *sketch = NULL;
  petal_session *session = NULL;
  CHECK_OK(petal_sketch_new(&spec, &sketch, NULL));
  CHECK_OK(petal_session_new(sketch, PETAL_SESSION_ROLE_INITIATOR, 0, &session, NULL));
  petal_status status = petal_session_get_statistics(session, s, e);
  petal_session_free(session);
  petal_sketch_free(sketch);
  return status;
}

static petal_status use_aggregate(void *s, petal_error *e, bool is_of_results) {
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 10};
  petal_aggregate *aggregate = NULL;
  CHECK_OK(petal_aggregate_new(&spec, &aggregate, NULL));
  petal_status status =
      is_of_results ? petal_aggregate_get_statistics(aggregate, s, e) : petal_aggregate_get_expected_errors(aggregate,
                                                                                                            10, s, e);
  petal_aggregate_free(aggregate);
  return status;
}

static petal_status use_aggregated(void *s, petal_error *e) { return use_aggregate(s, e, true); }

static petal_status use_aggregate_errors(void *s, petal_error *e) { return use_aggregate(s, e, false); }

static petal_status use_router(void *s, petal_error *e, bool is_edge) {
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 10};
  petal_router *router = NULL;
  CHECK_OK(petal_router_new(&spec, 1, &router, NULL));
  CHECK_OK(petal_router_add_edge(router, 2, 0, 0, NULL));
  petal_status status = is_edge ? petal_router_get_edge(router, 2, s, e) : petal_router_get_statistics(router, s, e);
  petal_router_free(router);
  return status;
}

static petal_status use_edge(void *s, petal_error *e) { return use_router(s, e, true); }

static petal_status use_route_rates(void *s, petal_error *e) { return use_router(s, e, false); }

static petal_digest *new_digest(void) {
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 1000};
  petal_digest *digest = NULL;
  CHECK_OK(petal_digest_new(&spec, &digest, NULL));
  return digest;
}

static petal_status use_search(const petal_digest_find_options *options, petal_digest_find_result *result,
                               petal_error *e) {
  static const char excerpt[100];
  petal_digest *digest = new_digest();
  petal_digest_match match;
  petal_status status = petal_digest_find(digest, excerpt, sizeof excerpt, options, &match, 1, result, e);
  petal_digest_free(digest);
  return status;
}

static petal_status use_find_options(void *s, petal_error *e) {
  petal_digest_find_result result = {.struct_size = sizeof result};
  return use_search(s, &result, e);
}

static petal_status use_digest_result(void *s, petal_error *e) { return use_search(NULL, s, e); }

static petal_status use_digest_statistics(void *s, petal_error *e) {
  petal_digest *digest = new_digest();
  petal_status status = petal_digest_get_statistics(digest, s, e);
  petal_digest_free(digest);
  return status;
}

static petal_status use_search_options(void *s, petal_error *e) {
  static const char row[128];
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 10};
  petal_index *index = NULL;
  petal_index_hit hit;
  size_t found = 0;
  CHECK_OK(petal_index_new(&spec, &index, NULL));
  petal_status status = petal_index_find_top(index, row, sizeof row, 1, s, &hit, &found, e);
  petal_index_free(index);
  return status;
}

static const petal_keys no_keys = {.form = PETAL_KEYS_HASHES};
static const petal_plan_request plan_request = {.keys = 1000, .memory = 4096};

static void struct_sizes(void) {
  static const struct {
    const char *name;
    size_t size;
    petal_status (*use)(void *, petal_error *);
    bool input, has_error;
    const void *content;
  } structs[] = {
      {"petal_spec", sizeof(petal_spec), use_spec, true, true, NULL},
      {"petal_spec", sizeof(petal_spec), use_spec_as_output, false, true, NULL},
      {"petal_statistics", sizeof(petal_statistics), use_statistics, false, true, NULL},
      {"petal_plan_proposal", sizeof(petal_plan_proposal), use_proposal, false, true, NULL},
      {"petal_description", sizeof(petal_description), use_description, false, true, NULL},
      {"petal_kind_info", sizeof(petal_kind_info), use_kind_info, false, false, NULL},
      {"petal_parameter_info", sizeof(petal_parameter_info), use_parameter_info, false, false, NULL},
      {"petal_format_info", sizeof(petal_format_info), use_format_info, false, false, NULL},
      {"petal_spec", sizeof(petal_spec), use_format_spec, false, true, NULL},
      {"petal_import_options", sizeof(petal_import_options), use_import_options, true, true, NULL},
      {"petal_open_options", sizeof(petal_open_options), use_open_options, true, true, NULL},
      {"petal_builder_options", sizeof(petal_builder_options), use_builder_options, true, true, NULL},
      {"petal_filter_overlap", sizeof(petal_filter_overlap), use_comparison, false, true, NULL},
      {"petal_plan_request", sizeof(petal_plan_request), use_plan_request, true, true, &plan_request},
      {"petal_keys", sizeof(petal_keys), use_keys, true, true, &no_keys},
      {"petal_answers", sizeof(petal_answers), use_answers, true, true, NULL},
      {"petal_view", sizeof(petal_view), use_view, false, true, NULL},
      {"petal_compact_options", sizeof(petal_compact_options), use_compact_options, true, true, NULL},
      {"petal_session_statistics", sizeof(petal_session_statistics), use_report, false, true, NULL},
      {"petal_aggregate_statistics", sizeof(petal_aggregate_statistics), use_aggregated, false, true, NULL},
      {"petal_aggregate_expected_errors", sizeof(petal_aggregate_expected_errors), use_aggregate_errors, false, true,
       NULL},
      {"petal_router_edge", sizeof(petal_router_edge), use_edge, false, true, NULL},
      {"petal_router_statistics", sizeof(petal_router_statistics), use_route_rates, false, true, NULL},
      {"petal_digest_find_options", sizeof(petal_digest_find_options), use_find_options, true, true, NULL},
      {"petal_digest_find_result", sizeof(petal_digest_find_result), use_digest_result, false, true, NULL},
      {"petal_digest_statistics", sizeof(petal_digest_statistics), use_digest_statistics, false, true, NULL},
      {"petal_index_search_options", sizeof(petal_index_search_options), use_search_options, true, true, NULL},
  };
  petal_filter *filter = make(SPEC(.capacity = 10));
  guard(filter);
  for (size_t i = 0; i < sizeof structs / sizeof *structs; i++) {
    const size_t size = structs[i].size;
    const size_t wrong[] = {7, 1, size - 1, SIZE_MAX, SIZE_MAX / 2 + 1};
    unsigned char *memory = calloc(1, size + 64), *before = calloc(1, size + 64);
    if (structs[i].content != NULL) memcpy(memory, structs[i].content, size);
    for (size_t w = 0; w < 5; w++) {
      char text[100];
      snprintf(text, sizeof text, "struct_size = %zu|%s|%zu bytes", wrong[w], structs[i].name, size);
      memcpy(memory, &wrong[w], sizeof(size_t));
      memcpy(before, memory, size + 64);
      REFUSED(PETAL_ERR_STRUCT_SIZE, structs[i].has_error ? text : NULL, structs[i].use(memory, &error));
      CHECK(memcmp(memory, before, size + 64) == 0);
    }
    /* 0 stands for the struct of the first release, which this one is: it does the same, and stays 0. */
    memcpy(memory, &size, sizeof size);
    CHECK_OK(structs[i].use(memory, &error));
    memset(before, 0, size + 64);
    if (structs[i].content != NULL) memcpy(before, structs[i].content, size);
    CHECK_OK(structs[i].use(before, &error));
    size_t zero = 1;
    memcpy(&zero, before, sizeof zero);
    CHECK_EQUAL(zero, 0);
    CHECK(memcmp(memory + sizeof size, before + sizeof size, size + 64 - sizeof size) == 0);
    /* From a later version: what this one does not know must be 0, and stays. */
    const size_t larger = size + 64;
    memcpy(memory, &larger, sizeof larger);
    CHECK_OK(structs[i].use(memory, &error));
    CHECK(memcmp(memory, &larger, sizeof larger) == 0);
    for (size_t b = size; b < larger; b++) CHECK_EQUAL(memory[b], 0);
    for (size_t b = size; structs[i].input && b < larger; b++) {
      char text[32];
      snprintf(text, sizeof text, "byte %zu", b);
      memory[b] = 1;
      REFUSED(PETAL_ERR_STRUCT_SIZE, text, structs[i].use(memory, &error));
      memory[b] = 0;
    }
    free(memory);
    free(before);
  }

  /* The error itself: a call with a wrong one does nothing, and does not write into it. */
  petal_error wrong = {.struct_size = sizeof wrong - 1, .message = "kept"};
  petal_filter *none = SENTINEL;
  petal_spec spec = SPEC(.capacity = 10);
  REFUSED_PLAIN(PETAL_ERR_STRUCT_SIZE, petal_filter_new(&spec, &none, &wrong));
  REFUSED_PLAIN(PETAL_ERR_STRUCT_SIZE, petal_filter_clear(filter, &wrong));
  CHECK(none == SENTINEL && wrong.struct_size == sizeof wrong - 1);
  CHECK(wrong.status == 0 && strcmp(wrong.message, "kept") == 0);

  struct {
    petal_error error;
    char later[64];
  } larger = {.error = {.struct_size = sizeof larger}};
  CHECK_STATUS(petal_filter_fold(filter, 1, &larger.error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(larger.error.status, PETAL_ERR_OUT_OF_RANGE);
  CHECK_TEXT(larger.error.message, "factor = 1");
  for (size_t i = 0; i < sizeof larger.later; i++) CHECK_EQUAL(larger.later[i], 0);
  guard(NULL);
  petal_filter_free(filter);
}

/* `= {0}`, and the macros: what is set in such a struct is done, and what is written arrives. */
static void zeros(void) {
  petal_error zero_error = {0}, init_error = PETAL_ERROR_INIT;
  CHECK_EQUAL(init_error.struct_size, sizeof(petal_error));
  petal_spec spec = {0}, other = PETAL_SPEC_INIT;
  CHECK_EQUAL(other.struct_size, sizeof(petal_spec));
  spec.kind = other.kind = PETAL_KIND_BLOOM;
  spec.capacity = other.capacity = 4096;
  spec.secret[15] = 1;
  petal_filter *filter = NULL, *same = NULL;
  CHECK_STATUS(petal_filter_new(&spec, &filter, &zero_error), PETAL_ERR_CONTRADICTION);
  CHECK_EQUAL(zero_error.struct_size, 0);
  CHECK_STATUS(zero_error.status, PETAL_ERR_CONTRADICTION);
  CHECK_TEXT(zero_error.message, "key");
  spec.secret[15] = 0;
  CHECK_OK(petal_spec_set(&spec, "foldable", 1, &zero_error));
  CHECK_OK(petal_spec_set(&other, "foldable", 1, &init_error));
  CHECK(spec.struct_size == 0 && memcmp(spec.parameters, other.parameters, sizeof spec.parameters) == 0);
  CHECK_OK(petal_filter_new(&spec, &filter, &zero_error));
  CHECK_OK(petal_filter_new(&other, &same, &init_error));

  const uint64_t numbers[] = {1, 2, 3};
  uint8_t found[3] = {0};
  petal_keys keys = {0};
  keys.form = PETAL_KEYS_U64;
  keys.count = 3;
  keys.data = numbers;
  petal_answers answers = {0};
  answers.bytes = found;
  CHECK_OK(petal_filter_insert_batch(filter, &keys, NULL, NULL));
  CHECK_OK(petal_filter_insert_batch(same, &keys, &answers, NULL));
  CHECK(answers.true_count == 3 && answers.done == 3 && found[0] == 1 && found[2] == 1);
  uint64_t counts[3] = {0};
  answers.counts = counts;
  CHECK_STATUS(petal_filter_contains_batch(same, &keys, &answers, NULL), PETAL_ERR_UNSUPPORTED);
  bool equal = false;
  CHECK_OK(petal_filter_equals(filter, same, &equal, NULL));
  CHECK(equal);

  petal_description description = {0};
  petal_statistics statistics = {0};
  petal_open_options options = {0};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK(description.kind == PETAL_KIND_BLOOM && description.capacity == 4096 && description.struct_size == 0);
  CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
  CHECK(statistics.fill > 0 && statistics.struct_size == 0);
  options.mode = 4;
  check_image image = check_take_image(filter);
  petal_filter *opened = NULL;
  CHECK_STATUS(petal_filter_load(image.bytes, image.length, &options, &opened, NULL), PETAL_ERR_UNKNOWN_VALUE);
  petal_builder_options building = {0};
  building.memory_limit = 1;
  petal_builder *builder = NULL;
  CHECK_STATUS(petal_builder_new(&spec, &building, &builder, NULL), PETAL_ERR_OUT_OF_RANGE);

  /* The elements of an array are as long as the struct says. */
  petal_plan_request request = {0};
  request.keys = 1000;
  request.memory = 4096;
  petal_plan_proposal proposals[3] = {{0}}, sized[3] = {PETAL_PLAN_PROPOSAL_INIT};
  size_t count = 0;
  CHECK_OK(petal_plan_propose(&request, proposals, 3, &count, NULL));
  CHECK_OK(petal_plan_propose(&request, sized, 3, &count, NULL));
  for (size_t i = 0; i < 3; i++) {
    CHECK(proposals[i].struct_size == 0 && sized[i].struct_size == sizeof *sized);
    CHECK(proposals[i].kind == sized[i].kind && strcmp(proposals[i].name, sized[i].name) == 0 && sized[i].kind != 0);
  }
  free(image.bytes);
  petal_filter_free(filter);
  petal_filter_free(same);
}

/* ---- Keys ---- */

static void keys(void) {
  static const uint64_t backwards[] = {0, 5, 2, 6}, past[] = {0, 2, 7}, numbers[] = {1, 2, 3};
  uint8_t found[8];
  petal_answers answers = ANSWERS(.bytes = found);
  uint64_t hash = 4711;
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_filter *filter = check_filled(&SPEC(.kind = check_kind(k), .capacity = 100), 0, 1);
    guard(filter);
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 2|offsets[1] = 5",
            petal_filter_contains_batch(filter, BYTE_KEYS("abcdef", 6, backwards, 3), &answers, &error));
    if (!check_can(check_kind(k), PETAL_CAN_INSERT)) {
      char refusal[128];
      snprintf(refusal, sizeof refusal, "%s|cannot insert", check_kind_info(check_kind(k)).name);
      REFUSED(PETAL_ERR_UNSUPPORTED, refusal, petal_filter_insert_batch(filter, U64_KEYS(numbers, 3), NULL, &error));
      guard(NULL);
      petal_filter_free(filter);
      continue;
    }
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 2|offsets[1] = 5",
            petal_filter_insert_batch(filter, BYTE_KEYS("abcdef", 6, backwards, 3), NULL, &error));
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 7|6 bytes",
            petal_filter_contains_batch(filter, BYTE_KEYS("abcdef", 6, past, 2), &answers, &error));
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 7|6 bytes",
            petal_filter_insert_batch(filter, BYTE_KEYS("abcdef", 6, past, 2), NULL, &error));
    REFUSED(PETAL_ERR_UNSUPPORTED, "counts is wanted",
            petal_filter_insert_batch(filter, U64_KEYS(numbers, 3), &ANSWERS(.counts = &hash), &error));
    const uint64_t *odd = (const uint64_t *)(const void *)((const char *)numbers + 4);
    REFUSED(PETAL_ERR_MISALIGNED, "keys|8",
            petal_filter_insert_batch(filter, U64_KEYS(odd, 1), NULL, &error));
    REFUSED(PETAL_ERR_TOO_LARGE, "keys", petal_filter_insert_batch(filter, U64_KEYS(numbers, SIZE_MAX), NULL, &error));
    REFUSED_PLAIN(PETAL_ERR_TOO_LARGE, petal_filter_insert(filter, "a", SIZE_MAX, NULL));
    guard(NULL);
    petal_filter_free(filter);

    /* Byte keys and numbers on a filter that takes hashes only. */
    filter = make(SPEC(.kind = check_kind(k), .hash = PETAL_HASH_EXTERNAL));
    CHECK_OK(petal_filter_insert_hash(filter, 1, NULL));
    guard(filter);
    REFUSED_PLAIN(PETAL_ERR_EXTERNAL_HASH, petal_filter_insert(filter, "a", 1, NULL));
    REFUSED_PLAIN(PETAL_ERR_EXTERNAL_HASH, petal_filter_insert_u64(filter, 1, NULL));
    REFUSED_PLAIN(PETAL_ERR_EXTERNAL_HASH, petal_filter_hash(filter, "a", 1, &hash));
    REFUSED(PETAL_ERR_EXTERNAL_HASH, "hashes only",
            petal_filter_insert_batch(filter, U64_KEYS(numbers, 3), NULL, &error));
    guard(NULL);
    petal_filter_free(filter);

    /* A keyed filter without its key, and with another. */
    petal_filter *keyed = make(SPEC(.kind = check_kind(k), .hash = PETAL_HASH_SIPHASH13, .secret = {1}));
    check_image image = check_take_image(keyed);
    petal_filter_free(keyed);
    CHECK_OK(petal_filter_load(image.bytes, image.length, NULL, &filter, NULL));
    guard(filter);
    REFUSED_PLAIN(PETAL_ERR_SECRET_MISSING, petal_filter_insert(filter, "a", 1, NULL));
    REFUSED_PLAIN(PETAL_ERR_SECRET_MISSING, petal_filter_insert_u64(filter, 1, NULL));
    REFUSED_PLAIN(PETAL_ERR_SECRET_MISSING, petal_filter_hash(filter, NUMBER(1), &hash));
    REFUSED(PETAL_ERR_SECRET_MISSING, "key",
            petal_filter_insert_batch(filter, U64_KEYS(numbers, 3), NULL, &error));
    CHECK(petal_filter_contains_u64(filter, 77));
    guard(NULL);
    petal_filter_free(filter);
    filter = SENTINEL;
    petal_open_options wrong_key = {.struct_size = sizeof wrong_key, .secret = {2}};
    REFUSED(PETAL_ERR_SECRET_MISMATCH, "key|0x",
            petal_filter_load(image.bytes, image.length, &wrong_key, &filter, &error));
    free(image.bytes);
    petal_filter *plain = make(SPEC(.kind = check_kind(k), .capacity = 10));
    image = check_take_image(plain);
    REFUSED(PETAL_ERR_CONTRADICTION, "key|xxh3",
            petal_filter_load(image.bytes, image.length, &wrong_key, &filter, &error));
    CHECK(filter == SENTINEL && hash == 4711);
    petal_filter_free(plain);
    free(image.bytes);
  }
}

/* ---- Combining ---- */

static void unlike_filters(void) {
  const petal_spec one = SPEC(.kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8);
  petal_filter *filter = make(one);
  CHECK_OK(petal_filter_insert(filter, "apple", 5, NULL));
  guard(filter);
  petal_filter_overlap comparison = {.struct_size = sizeof comparison};
  petal_spec partitioned = one, derived = one;
  CHECK_OK(petal_spec_set(&partitioned, "partitioned", 1, NULL));
  CHECK_OK(petal_spec_set(&derived, "derivation", 1, NULL));
  const struct {
    petal_spec spec;
    const char *texts;
  } others[] = {
      {SPEC(.bits = 4096, .kind = PETAL_KIND_SPLIT_BLOCK), "kind: bloom and split_block"},
      {SPEC(.kind = PETAL_KIND_BLOOM, .bits = 8192, .hashes = 8), "bits: 4096 and 8192"},
      {SPEC(.kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 7), "hashes: 8 and 7"},
      {SPEC(.kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .hash = PETAL_HASH_XXH64), "hash: xxh3 and xxh64"},
      {SPEC(.kind = PETAL_KIND_BLOOM, .bits = 4096, .hashes = 8, .seed = 171), "seed|0xab"},
      {partitioned, "partitioned: 0 and 1"},
      {derived, "derivation: remix and independent"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    petal_filter *other = make(others[i].spec);
    CHECK_OK(petal_filter_insert(other, "pear", 4, NULL));
    REFUSED(PETAL_ERR_INCOMPATIBLE, others[i].texts, petal_filter_merge(filter, other, &error));
    REFUSED(PETAL_ERR_INCOMPATIBLE, others[i].texts, petal_filter_intersect(filter, other, &error));
    REFUSED(PETAL_ERR_INCOMPATIBLE, others[i].texts, petal_filter_estimate_overlap(filter, other, &comparison, &error));
    CHECK(!check_same_bits(filter, other));
    petal_filter_free(other);
  }
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "factor = 7|4096", petal_filter_fold(filter, 7, &error));
  guard(NULL);
  petal_filter_free(filter);
}

/* ---- Callbacks ---- */

static bool stop(void *context, const void *bytes, size_t length) {
  (void)bytes, (void)length;
  int *calls = context;
  return --*calls > 0;
}

static bool cancel(void *context, uint64_t done, uint64_t total) {
  (void)context, (void)done, (void)total;
  return false;
}

static void callbacks(void) {
  petal_filter *filter = make(SPEC(.capacity = 100000)), *none = SENTINEL;
  guard(filter);
  for (int allowed = 1; allowed <= 2; allowed++) {
    int calls = allowed;
    REFUSED(PETAL_ERR_CALLBACK, "callback", petal_filter_serialize_to(filter, stop, &calls, &error));
    CHECK_EQUAL(calls, 0);
  }
  guard(NULL);
  petal_filter_free(filter);

  petal_spec spec = SPEC(.capacity = 0);
  petal_builder_options options = {.struct_size = sizeof options, .progress = cancel};
  petal_builder *builder = NULL;
  uint64_t count = 0;
  CHECK_OK(petal_builder_new(&spec, &options, &builder, NULL));
  for (uint64_t i = 0; i < 10; i++) CHECK_OK(petal_builder_add_u64(builder, i));
  REFUSED(PETAL_ERR_CANCELLED, "cancel", petal_builder_finish(builder, &none, &error));
  CHECK_OK(petal_builder_key_count(builder, &count, NULL));
  CHECK(count == 10 && none == SENTINEL);
  petal_builder_free(builder);
}

/* A filter that grows refuses, in place, what it has no room for. ctest/growing.c has more. */
static void full(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind_info info = check_kind_info(check_kind(k));
    if (!(info.capabilities & PETAL_CAN_GROW) || (info.flags & PETAL_MOVES_ENTRIES)) continue;
    petal_spec spec = SPEC(.kind = info.kind, .capacity = 100);
    uint64_t size = 0, key = 0;
    CHECK_OK(petal_spec_image_size(&spec, &size, NULL));
    void *buffer = malloc((size_t)size);
    petal_filter *filter = NULL;
    CHECK_OK(petal_filter_new_in_buffer(&spec, buffer, (size_t)size, &filter, NULL));
    while (petal_filter_insert_u64(filter, key, NULL) == PETAL_OK) key++;
    CHECK(key >= 100);
    guard(filter);
    REFUSED(PETAL_ERR_FULL, "full|mode load", petal_filter_insert_batch(filter, U64_KEYS(&key, 1), NULL, &error));
    guard(NULL);
    petal_filter_free(filter);
    free(buffer);
  }
}

int main(void) {
  rates();
  sizes();
  contradictions();
  unknown_values();
  out_of_bounds();
  plans();
  struct_sizes();
  zeros();
  keys();
  unlike_filters();
  callbacks();
  full();
  REFUSED_PLAIN(PETAL_ERR_NULL, petal_filter_clear(NULL, NULL));

  static const petal_status provoked[] = {
      PETAL_ERR_NULL,
      PETAL_ERR_STRUCT_SIZE,
      PETAL_ERR_UNKNOWN_VALUE,
      PETAL_ERR_OUT_OF_RANGE,
      PETAL_ERR_FALSE_POSITIVE_RATE,
      PETAL_ERR_CONTRADICTION,
      PETAL_ERR_TOO_LARGE,
      PETAL_ERR_OUT_OF_MEMORY,
      PETAL_ERR_OFFSETS,
      PETAL_ERR_MISALIGNED,
      PETAL_ERR_INCOMPATIBLE,
      PETAL_ERR_EXTERNAL_HASH,
      PETAL_ERR_SECRET_MISSING,
      PETAL_ERR_SECRET_MISMATCH,
      PETAL_ERR_CANCELLED,
      PETAL_ERR_CALLBACK,
      PETAL_ERR_FULL,
  };
  return refused_done(provoked, sizeof provoked / sizeof *provoked);
}
