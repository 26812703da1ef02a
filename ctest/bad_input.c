/* What bad input gets: its own status, a message that names the parameter, its value and what is allowed, nothing
 * half-written, and no filter changed. In the end every status but the internal one was seen. */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/mount.h>
#endif

static bool seen[1 - PETAL_ERR_CALLBACK];
static petal_error error = {.struct_size = sizeof error};

/* A filter that no refused call may change. */
static petal_filter *guarded;
static check_image guarded_image;

static void guard(petal_filter *filter) {
  free(guarded_image.bytes);
  guarded = filter;
  guarded_image = filter != NULL ? check_take_image(filter) : (check_image){NULL, 0};
}

static void clear_error(void) {
  memset(&error, '#', sizeof error);
  error.struct_size = sizeof error;
}

static void refused(petal_status status, petal_status expected, const char *texts, const char *call, int line) {
  check_status(status, expected, call, __FILE__, line);
  if (status <= 0 && status >= PETAL_ERR_CALLBACK) seen[-status] = true;
  if (guarded != NULL) check_that(check_same_image(guarded, guarded_image), __FILE__, line, "%s changed it", call);
  if (texts == NULL) return;
  check_status(error.status, expected, call, __FILE__, line);
  if (!check_that(memchr(error.message, 0, sizeof error.message) != NULL, __FILE__, line, "no end")) return;
  char parts[256], *rest = parts, *bar;
  snprintf(parts, sizeof parts, "%s", texts);
  do {
    bar = strchr(rest, '|');
    if (bar != NULL) *bar = '\0';
    check_text(error.message, rest, __FILE__, line);
    rest = bar != NULL ? bar + 1 : rest;
  } while (bar != NULL);
}

/* A call that must give this status, and into `error` a message with all of these texts, between bars. */
#define REFUSED(expected, texts, call)                          \
  do {                                                          \
    clear_error();                                              \
    petal_status status_ = (call);                              \
    refused(status_, (expected), (texts), #call, __LINE__);     \
  } while (0)
/* The same for a call that takes no error. */
#define REFUSED_PLAIN(expected, call) refused((call), (expected), NULL, #call, __LINE__)

#define SENTINEL ((petal_filter *)&error)

/* What making a filter from a spec gives; nothing is made. */
static petal_status try_new(petal_spec spec) {
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_new(&spec, &filter, &error);
  if (status == PETAL_OK) petal_filter_free(filter);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  return status;
}

#define SPEC(...) ((petal_spec){.struct_size = sizeof(petal_spec), __VA_ARGS__})

static petal_filter *make(petal_spec spec) {
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  return filter;
}

/* ---- Specs ---- */

static void rates(void) {
  for (size_t k = 0; k < petal_kind_count(); k++) {
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
    CHECK_OK(try_new(SPEC(.kind = kind, .capacity = 100, .false_positive_rate = 0)));
    CHECK_OK(try_new(SPEC(.kind = kind, .capacity = 100, .false_positive_rate = 0.999999999)));
  }
  static const double wrong[] = {0, 1, -1, 2};
  for (size_t i = 0; i < 4; i++) CHECK(petal_filter_with_capacity(10, wrong[i]) == NULL);
  CHECK(petal_filter_with_capacity(10, (double)NAN) == NULL);
  CHECK(petal_filter_with_capacity(10, (double)INFINITY) == NULL);
}

static void sizes(void) {
  const uint64_t much = UINT64_C(1) << 63;
  REFUSED(PETAL_ERR_TOO_LARGE, "capacity = 18446744073709551615", try_new(SPEC(.capacity = UINT64_MAX)));
  REFUSED(PETAL_ERR_TOO_LARGE, "capacity = 18446744073709551615",
          try_new(SPEC(.kind = PETAL_KIND_SPLIT_BLOCK, .capacity = UINT64_MAX)));
  REFUSED(PETAL_ERR_TOO_LARGE, "bits = 9223372036854775808|address space", try_new(SPEC(.bits = much, .hashes = 3)));
  REFUSED(PETAL_ERR_TOO_LARGE, "bits = 18446744073709551615", try_new(SPEC(.bits = UINT64_MAX, .hashes = 3)));
  REFUSED(PETAL_ERR_TOO_LARGE, "bits = 1099511627776|2^32",
          try_new(SPEC(.kind = PETAL_KIND_SPLIT_BLOCK, .bits = UINT64_C(1) << 40)));
  REFUSED(PETAL_ERR_TOO_LARGE, "capacity = 10|2^32",
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
  REFUSED(PETAL_ERR_CONTRADICTION, "key|xxh3", try_new(SPEC(.key = {1})));
  REFUSED(PETAL_ERR_CONTRADICTION, "key|external", try_new(SPEC(.hash = PETAL_HASH_EXTERNAL, .key = {1})));
  REFUSED(PETAL_ERR_CONTRADICTION, "seed = 5|siphash13",
          try_new(SPEC(.hash = PETAL_HASH_SIPHASH13, .key = {1}, .seed = 5)));
  REFUSED(PETAL_ERR_KEY_MISSING, "siphash13|not all zeros", try_new(SPEC(.hash = PETAL_HASH_SIPHASH13)));

  petal_spec spec = SPEC(.bits = 4096, .hashes = 4);
  CHECK_OK(petal_spec_set(&spec, "foldable", 1, NULL));
  REFUSED(PETAL_ERR_CONTRADICTION, "foldable|bits = 4096", try_new(spec));
  petal_spec narrow = SPEC(.bits = 3, .hashes = 4);
  CHECK_OK(petal_spec_set(&narrow, "partitioned", 1, NULL));
  REFUSED(PETAL_ERR_CONTRADICTION, "bits = 3|hashes = 4", try_new(narrow));

  /* A spec that is full of parameters takes no other. */
  petal_spec full = SPEC(.capacity = 10), before;
  for (uint32_t i = 0; i < PETAL_MAX_PARAMETERS; i++) full.parameters[i] = (petal_setting){.id = i + 1};
  before = full;
  REFUSED(PETAL_ERR_CONTRADICTION, "partitioned|8", petal_spec_set(&full, "partitioned", 1, &error));
  CHECK(memcmp(&before, &full, sizeof full) == 0);
}

static void unknown_values(void) {
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "kind = 99|1 to", try_new(SPEC(.kind = 99)));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "hash = 99|1 (xxh3) to 4", try_new(SPEC(.hash = 99)));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "reserved = 7|0", try_new(SPEC(.reserved = 7)));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "reserved = 7|0", try_new(SPEC(.parameters = {{.reserved = 7}})));
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "0x3039", try_new(SPEC(.parameters = {{.id = 12345}})));
  petal_spec spec = SPEC(.capacity = 10), before = spec;
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
  petal_open_options options = {.struct_size = sizeof options, .mode = 3};
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "mode = 3|0, 1 or 2", petal_filter_load("", 0, &options, &filter, &error));
  options = (petal_open_options){.struct_size = sizeof options, .reserved = 9};
  REFUSED(PETAL_ERR_UNKNOWN_VALUE, "reserved = 9", petal_filter_open("/", &options, &filter, &error));
  CHECK(filter == SENTINEL);
}

static void out_of_bounds(void) {
  static const double wrong[] = {2, -1, 0.5, 1e300};
  static const char *texts[] = {"partitioned = 2 |0 to 1", "partitioned = -1 |0 to 1", "partitioned = 0.5 |0 to 1",
                                "partitioned = 1"};
  for (size_t i = 0; i < 4; i++) {
    petal_spec spec = SPEC(.capacity = 10);
    CHECK_OK(petal_spec_set(&spec, "partitioned", wrong[i], NULL));
    REFUSED(PETAL_ERR_OUT_OF_RANGE, texts[i], try_new(spec));
  }
  petal_spec spec = SPEC(.capacity = 10);
  CHECK_OK(petal_spec_set(&spec, "partitioned", (double)NAN, NULL));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "partitioned = NaN |0 to 1", try_new(spec));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "partitioned = 2 |0 to 1", petal_spec_set_choice(&spec, "partitioned", "2", &error));
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "hashes = 65 |64", try_new(SPEC(.bits = 4096, .hashes = 65)));
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
  petal_proposal proposals[2] = {{.kind = 47}};
  size_t count = 4711;
#define PLAN(...) ((petal_plan_request){.struct_size = sizeof(petal_plan_request), .keys = 1000, __VA_ARGS__})
#define PLAN_REFUSED(expected, texts, ...)                                      \
  do {                                                                          \
    petal_plan_request request_ = PLAN(__VA_ARGS__);                            \
    REFUSED(expected, texts, petal_plan(&request_, proposals, 2, &count, &error)); \
  } while (0)
  PLAN_REFUSED(PETAL_ERR_FALSE_POSITIVE_RATE, "false_positive_rate = 0 |(0, 1)", .fixed = 0);
  PLAN_REFUSED(PETAL_ERR_FALSE_POSITIVE_RATE, "false_positive_rate = 1 |(0, 1)", .false_positive_rate = 1);
  PLAN_REFUSED(PETAL_ERR_FALSE_POSITIVE_RATE, "false_positive_rate = NaN |(0, 1)", .false_positive_rate = (double)NAN);
  PLAN_REFUSED(PETAL_ERR_CONTRADICTION, "false_positive_rate = 0.5|memory = 99", .false_positive_rate = 0.5,
               .memory = 99);
  PLAN_REFUSED(PETAL_ERR_UNKNOWN_VALUE, "capabilities = 0x8000000000000000", .memory = 4096,
               .capabilities = UINT64_C(1) << 63);
  PLAN_REFUSED(PETAL_ERR_UNKNOWN_VALUE, "fixed = 2|0 or 1", .memory = 4096, .fixed = 2);
  PLAN_REFUSED(PETAL_ERR_UNKNOWN_VALUE, "reserved = 3", .memory = 4096, .reserved = 3);
  CHECK(proposals[0].kind == 47 && count == 4711);

  /* Too many keys are each kind's own answer. */
  petal_plan_request many = PLAN(.false_positive_rate = 0.01);
  many.keys = UINT64_MAX;
  CHECK_OK(petal_plan(&many, proposals, 2, &count, &error));
  for (size_t i = 0; i < count; i++) {
    CHECK_STATUS(proposals[i].status, PETAL_ERR_TOO_LARGE);
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

static petal_status use_spec_as_output(void *s, petal_error *e) { return petal_filter_spec(guarded, s, e); }
static petal_status use_statistics(void *s, petal_error *e) { return petal_filter_statistics(guarded, s, e); }
static petal_status use_kind_info(void *s, petal_error *e) {
  (void)e;
  petal_status by_name = petal_kind_find("bloom", s);
  CHECK_STATUS(petal_kind_at(0, s), by_name);
  return by_name;
}
static petal_status use_parameter_info(void *s, petal_error *e) {
  (void)e;
  return petal_kind_parameter(PETAL_KIND_BLOOM, 0, s);
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

static petal_status use_comparison(void *s, petal_error *e) { return petal_filter_compare(guarded, guarded, s, e); }

static petal_status use_plan_request(void *s, petal_error *e) {
  petal_proposal proposal;
  size_t count = 0;
  return petal_plan(s, &proposal, 1, &count, e);
}

static const petal_plan_request plan_request = {.keys = 10, .memory = 4096};

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
      {"petal_kind_info", sizeof(petal_kind_info), use_kind_info, false, false, NULL},
      {"petal_parameter_info", sizeof(petal_parameter_info), use_parameter_info, false, false, NULL},
      {"petal_open_options", sizeof(petal_open_options), use_open_options, true, true, NULL},
      {"petal_builder_options", sizeof(petal_builder_options), use_builder_options, true, true, NULL},
      {"petal_comparison", sizeof(petal_comparison), use_comparison, false, true, NULL},
      {"petal_plan_request", sizeof(petal_plan_request), use_plan_request, true, true, &plan_request},
  };
  petal_filter *filter = make(SPEC(.capacity = 10));
  guard(filter);
  for (size_t i = 0; i < sizeof structs / sizeof *structs; i++) {
    const size_t size = structs[i].size;
    const size_t wrong[] = {0, 1, size - 1, SIZE_MAX, SIZE_MAX / 2 + 1};
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
  wrong.struct_size = 0;
  REFUSED_PLAIN(PETAL_ERR_STRUCT_SIZE, petal_filter_merge(filter, filter, &wrong));
  CHECK(none == SENTINEL && wrong.struct_size == 0 && wrong.status == 0 && strcmp(wrong.message, "kept") == 0);

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

/* ---- Keys ---- */

static void keys(void) {
  static const uint64_t backwards[] = {0, 5, 2, 6}, past[] = {0, 2, 7}, numbers[] = {1, 2, 3};
  uint8_t found[8];
  size_t inserted = 99;
  uint64_t hash = 4711;
  for (size_t k = 0; k < petal_kind_count(); k++) {
    petal_filter *filter = make(SPEC(.kind = check_kind(k), .capacity = 100));
    CHECK_OK(petal_filter_insert(filter, "apple", 5, NULL));
    guard(filter);
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 2|offsets[1] = 5",
            petal_filter_contains_batch(filter, "abcdef", 6, backwards, 3, found, NULL, NULL, &error));
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 2|offsets[1] = 5",
            petal_filter_insert_batch(filter, "abcdef", 6, backwards, 3, NULL, NULL, NULL, &inserted, &error));
    CHECK_EQUAL(inserted, 0);
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 7|6 bytes",
            petal_filter_contains_batch(filter, "abcdef", 6, past, 2, found, NULL, NULL, &error));
    inserted = 99;
    REFUSED(PETAL_ERR_OFFSETS, "offsets[2] = 7|6 bytes",
            petal_filter_insert_batch(filter, "abcdef", 6, past, 2, NULL, NULL, NULL, &inserted, &error));
    CHECK_EQUAL(inserted, 0);
    const uint64_t *odd = (const uint64_t *)(const void *)((const char *)numbers + 4);
    REFUSED(PETAL_ERR_MISALIGNED, "keys|8",
            petal_filter_insert_batch_u64(filter, odd, 1, NULL, NULL, NULL, NULL, &error));
    REFUSED(PETAL_ERR_TOO_LARGE, "keys", petal_filter_insert_batch_u64(filter, numbers, SIZE_MAX, NULL, NULL, NULL,
                                                                       NULL, &error));
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
            petal_filter_insert_batch_u64(filter, numbers, 3, NULL, NULL, NULL, NULL, &error));
    guard(NULL);
    petal_filter_free(filter);

    /* A keyed filter without its key, and with another. */
    petal_filter *keyed = make(SPEC(.kind = check_kind(k), .hash = PETAL_HASH_SIPHASH13, .key = {1}));
    check_image image = check_take_image(keyed);
    petal_filter_free(keyed);
    CHECK_OK(petal_filter_load(image.bytes, image.length, NULL, &filter, NULL));
    guard(filter);
    REFUSED_PLAIN(PETAL_ERR_KEY_MISSING, petal_filter_insert(filter, "a", 1, NULL));
    REFUSED_PLAIN(PETAL_ERR_KEY_MISSING, petal_filter_insert_u64(filter, 1, NULL));
    REFUSED_PLAIN(PETAL_ERR_KEY_MISSING, petal_filter_hash_u64(filter, 1, &hash));
    REFUSED(PETAL_ERR_KEY_MISSING, "key",
            petal_filter_insert_batch_u64(filter, numbers, 3, NULL, NULL, NULL, NULL, &error));
    CHECK(petal_filter_contains_u64(filter, 77));
    guard(NULL);
    petal_filter_free(filter);
    filter = SENTINEL;
    petal_open_options wrong_key = {.struct_size = sizeof wrong_key, .key = {2}};
    REFUSED(PETAL_ERR_KEY_MISMATCH, "key|0x", petal_filter_load(image.bytes, image.length, &wrong_key, &filter, &error));
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
  const petal_spec one = SPEC(.bits = 4096, .hashes = 8);
  petal_filter *filter = make(one);
  CHECK_OK(petal_filter_insert(filter, "apple", 5, NULL));
  guard(filter);
  petal_comparison comparison = {.struct_size = sizeof comparison};
  petal_spec partitioned = one, derived = one;
  CHECK_OK(petal_spec_set(&partitioned, "partitioned", 1, NULL));
  CHECK_OK(petal_spec_set(&derived, "derivation", 1, NULL));
  const struct {
    petal_spec spec;
    const char *texts;
  } others[] = {
      {SPEC(.bits = 4096, .kind = PETAL_KIND_SPLIT_BLOCK), "kind: 1 and 2"},
      {SPEC(.bits = 8192, .hashes = 8), "bits: 4096 and 8192"},
      {SPEC(.bits = 4096, .hashes = 7), "hashes: 8 and 7"},
      {SPEC(.bits = 4096, .hashes = 8, .hash = PETAL_HASH_XXH64), "hash: xxh3 and xxh64"},
      {SPEC(.bits = 4096, .hashes = 8, .seed = 171), "seed|0xab"},
      {partitioned, "parameters"},
      {derived, "parameters"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    petal_filter *other = make(others[i].spec);
    CHECK_OK(petal_filter_insert(other, "pear", 4, NULL));
    REFUSED(PETAL_ERR_INCOMPATIBLE, others[i].texts, petal_filter_merge(filter, other, &error));
    REFUSED(PETAL_ERR_INCOMPATIBLE, others[i].texts, petal_filter_intersect(filter, other, &error));
    REFUSED(PETAL_ERR_INCOMPATIBLE, others[i].texts, petal_filter_compare(filter, other, &comparison, &error));
    CHECK(!check_same_bits(filter, other));
    petal_filter_free(other);
  }
  REFUSED(PETAL_ERR_OUT_OF_RANGE, "factor = 7|4096", petal_filter_fold(filter, 7, &error));
  guard(NULL);
  petal_filter_free(filter);
}

/* ---- Images. Offsets of fields as docs/format.md has them. ---- */

enum { VERSION = 8, LAYOUT = 10, KIND = 12, HASH = 16, REQUIRED = 24, OPTIONAL = 32, BITS = 64, CHECKSUM = 208, STATE = 216,
       SEAL = 248, HEADER = 256 };

/* Gives a header the checksums that belong to it. */
static void seal(unsigned char *image) {
  petal_spec spec = SPEC(.hash = PETAL_HASH_XXH3);
  uint64_t hash = 0;
  CHECK_OK(petal_hash(&spec, image, CHECKSUM, &hash, NULL));
  memcpy(image + CHECKSUM, &hash, 8);
  CHECK_OK(petal_hash(&spec, image + CHECKSUM, SEAL - CHECKSUM, &hash, NULL));
  memcpy(image + SEAL, &hash, 8);
}

static petal_status try_load(const void *image, size_t length) {
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_load(image, length, NULL, &filter, &error);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  if (status == PETAL_OK) petal_filter_free(filter);
  return status;
}

static petal_status try_open(void *image, size_t length) {
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_open_buffer(image, length, NULL, &filter, &error);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  if (status == PETAL_OK) petal_filter_free(filter);
  return status;
}

static bool ignore(void *context, const void *bytes, size_t length) {
  (void)context;
  return bytes != NULL && length > 0;
}

/* Does everything with a filter that may be nonsense. Any answer will do, but no bug is found. */
static void use_up(petal_filter *filter) {
  uint64_t numbers[100], count = 0;
  petal_statistics statistics = {.struct_size = sizeof statistics};
  petal_spec spec = {.struct_size = sizeof spec};
  petal_filter *copy = NULL;
  double rate = 0;
  for (uint64_t i = 0; i < 100; i++) numbers[i] = check_key(i);
  (void)petal_filter_contains_u64(filter, 1);
  CHECK(petal_filter_contains_batch_hash(filter, numbers, 100, NULL, NULL, &count, NULL) == PETAL_OK);
  CHECK_OK(petal_filter_statistics(filter, &statistics, NULL));
  CHECK_OK(petal_filter_expected_false_positive_rate(filter, statistics.capacity, &rate));
  CHECK_OK(petal_filter_spec(filter, &spec, NULL));
  CHECK_OK(petal_filter_serialize_to(filter, ignore, NULL, NULL));
  CHECK(petal_filter_verify(filter, NULL) != PETAL_ERR_INTERNAL);
  if (petal_filter_copy(filter, &copy, NULL) != PETAL_OK) return;
  CHECK_OK(petal_filter_merge(copy, filter, NULL));
  CHECK_OK(petal_filter_insert_hash(copy, 1, NULL));
  CHECK(petal_filter_fold(copy, 2, NULL) != PETAL_ERR_INTERNAL);
  CHECK(petal_filter_fold(copy, 3, NULL) != PETAL_ERR_INTERNAL);
  CHECK_OK(petal_filter_clear(copy, NULL));
  petal_filter_free(copy);
}

/* One image in aligned memory of which a test may spoil a copy. */
static uint64_t sound_words[128], spoilt_words[128];
static unsigned char *const sound = (unsigned char *)sound_words, *const spoilt = (unsigned char *)spoilt_words;
static size_t sound_length;

static void make_sound(petal_kind kind) {
  petal_filter *filter = make(SPEC(.kind = kind, .capacity = 50));
  for (uint64_t i = 0; i < 50; i++) CHECK_OK(petal_filter_insert_u64(filter, i, NULL));
  CHECK_OK(petal_filter_serialize(filter, sound, sizeof sound_words, &sound_length, NULL));
  petal_filter_free(filter);
}

static void restore(void) { memcpy(spoilt_words, sound_words, sizeof sound_words); }

static void put(size_t offset, uint64_t value, size_t size) {
  memcpy(spoilt + offset, &value, size);
  seal(spoilt);
}

static void truncated_and_foreign(void) {
  for (size_t length = 0; length < sound_length; length++) {
    /* The rest is not there at all, so that a tool would see a read of it. */
    uint64_t *part = calloc(1, length + 1);
    memcpy(part, sound, length);
    REFUSED(PETAL_ERR_TRUNCATED, length < HEADER ? "256" : "image has", try_load(part, length));
    REFUSED(PETAL_ERR_TRUNCATED, "", try_open(part, length));
    free(part);
  }
  static uint64_t zeros[64], text[64];
  memcpy(text, "This is no image, however long one reads on.", 45);
  REFUSED(PETAL_ERR_FOREIGN, "Petal", try_load(zeros, sizeof zeros));
  REFUSED(PETAL_ERR_FOREIGN, "Petal", try_open(text, sizeof text));
  REFUSED(PETAL_ERR_FOREIGN, "Petal", try_load(text, 1));
}

static void flipped_header_bits(void) {
  for (size_t bit = 0; bit < 8 * HEADER; bit++) {
    restore();
    spoilt[bit / 8] ^= (unsigned char)(1 << bit % 8);
    petal_status status = try_load(spoilt, sound_length);
    CHECK(status == PETAL_ERR_FOREIGN || status == PETAL_ERR_CORRUPT || status == PETAL_ERR_NEWER_VERSION);
    CHECK_STATUS(try_open(spoilt, sound_length), status);
    if (bit >= 8 * LAYOUT) REFUSED(PETAL_ERR_CORRUPT, "", try_load(spoilt, sound_length));
  }
}

/* A spoilt payload is found by loading and by verifying; in place, it opens and does no harm. */
static void flipped_payload_bits(void) {
  for (size_t bit = 8 * HEADER; bit < 8 * sound_length; bit++) {
    restore();
    spoilt[bit / 8] ^= (unsigned char)(1 << bit % 8);
    REFUSED(PETAL_ERR_CORRUPT, "", try_load(spoilt, sound_length));
    petal_filter *filter = NULL;
    CHECK_OK(petal_filter_open_buffer(spoilt, sound_length, NULL, &filter, NULL));
    REFUSED(PETAL_ERR_CORRUPT, "", petal_filter_verify(filter, &error));
    use_up(filter);
    petal_filter_free(filter);
  }
}

static void later_versions(void) {
  restore();
  put(VERSION, 2, 2);
  REFUSED(PETAL_ERR_NEWER_VERSION, "version 2|1", try_load(spoilt, sound_length));
  restore();
  put(LAYOUT, 2, 2);
  REFUSED(PETAL_ERR_NEWER_VERSION, "layout 2", try_load(spoilt, sound_length));
  restore();
  put(KIND, 99, 4);
  REFUSED(PETAL_ERR_NEWER_VERSION, "kind 99", try_open(spoilt, sound_length));
  restore();
  put(HASH, 99, 4);
  REFUSED(PETAL_ERR_NEWER_VERSION, "hash", try_open(spoilt, sound_length));
  for (int bit = 0; bit < 64; bit++) {
    restore();
    put(REQUIRED, UINT64_C(1) << bit, 8);
    REFUSED(PETAL_ERR_NEWER_VERSION, "features 0x", try_load(spoilt, sound_length));
    REFUSED(PETAL_ERR_NEWER_VERSION, "features 0x", try_open(spoilt, sound_length));
    /* An unknown optional feature does not matter. */
    restore();
    put(OPTIONAL, UINT64_C(1) << bit, 8);
    CHECK_OK(try_load(spoilt, sound_length));
  }
}

static uint64_t random_state = 88172645463325252;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* Headers that somebody made on purpose, with the right checksums: words with numbers at the edges, one or more. */
static void hostile_headers(void) {
  static const uint64_t edges[] = {0, 1, 2, 7, 8, 31, 63, 64, 65, 127, 128, 192, 255, 256, 511, 512, 1023, 1024,
                                   UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 62, UINT64_C(1) << 63,
                                   UINT64_MAX, UINT64_MAX - 63, UINT64_MAX - 255, UINT64_C(0x3ff0000000000000),
                                   UINT64_C(0x7ff8000000000000), UINT64_C(0x3fefffffffffffff)};
  const uint64_t count = sizeof edges / sizeof *edges;
  uint64_t opened = 0;
  for (uint64_t round = 0; round < check_scaled(30000); round++) {
    restore();
    for (size_t i = HEADER / 8; i < sizeof spoilt_words / 8 && round % 2 == 0; i++) spoilt_words[i] = next_random();
    for (uint64_t i = round % 3 + 1; i > 0; i--) {
      size_t size = next_random() % 4 == 0 ? 4 : 8;
      size_t offset = (size_t)(KIND + size * (next_random() % ((CHECKSUM - KIND) / size)));
      /* Mostly the geometry, which is the dangerous part. */
      if (next_random() % 2 == 0) offset = BITS + 8 * (size_t)(next_random() % 10), size = 8;
      put(offset, edges[next_random() % count], size);
    }
    petal_filter *filter = NULL;
    petal_status status = petal_filter_open_buffer(spoilt, sizeof spoilt_words, NULL, &filter, NULL);
    CHECK(status != PETAL_ERR_INTERNAL && status != PETAL_ERR_OUT_OF_MEMORY);
    CHECK(try_load(spoilt, sizeof spoilt_words) != PETAL_ERR_INTERNAL);
    if (status != PETAL_OK) continue;
    opened++;
    use_up(filter);
    petal_filter_free(filter);
  }
  CHECK(opened > 0);
}

static void buffers(void) {
  static uint64_t buffer[128];
  unsigned char *bytes = (unsigned char *)buffer;
  petal_spec spec = SPEC(.capacity = 50);
  petal_filter *none = SENTINEL, *filter = make(spec);
  size_t written = 4711;
  memset(buffer, 0x77, sizeof buffer);
  restore();
  guard(filter);
  REFUSED(PETAL_ERR_BUFFER_TOO_SMALL, "100 bytes|320",
          petal_filter_new_in_buffer(&spec, buffer, 100, &none, &error));
  REFUSED(PETAL_ERR_BUFFER_TOO_SMALL, "319 bytes|320", petal_filter_serialize(filter, buffer, 319, &written, &error));
  for (size_t shift = 1; shift < 8; shift++) {
    REFUSED(PETAL_ERR_MISALIGNED, "buffer|8 bytes",
            petal_filter_new_in_buffer(&spec, bytes + shift, 1000, &none, &error));
  }
  for (size_t i = 0; i < sizeof buffer; i++) CHECK_EQUAL(bytes[i], 0x77);
  CHECK_EQUAL(written, 4711);
  for (size_t shift = 1; shift < 8; shift++) {
    memcpy(bytes + shift, sound, sound_length);
    REFUSED(PETAL_ERR_MISALIGNED, "buffer|8 bytes",
            petal_filter_open_buffer(bytes + shift, sound_length, NULL, &none, &error));
    CHECK_OK(try_load(bytes + shift, sound_length));
  }
  REFUSED(PETAL_ERR_TOO_LARGE, "18446744073709551615", petal_filter_load(sound, SIZE_MAX, NULL, &none, &error));
  CHECK(none == SENTINEL);
  guard(NULL);
  petal_filter_free(filter);
}

/* ---- Files ---- */

static unsigned files_in(const char *path) {
  unsigned count = 0;
  DIR *folder = opendir(path);
  while (folder != NULL && readdir(folder) != NULL) count++;
  if (folder != NULL) closedir(folder);
  return count;
}

static petal_status try_file(const char *path, petal_open_mode mode) {
  petal_open_options options = {.struct_size = sizeof options, .mode = mode};
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_open(path, &options, &filter, &error);
  if (status == PETAL_OK) petal_filter_free(filter);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  return status;
}

static bool file_is(const char *path, const petal_filter *filter) {
  petal_filter *found = NULL;
  CHECK_OK(petal_filter_open(path, NULL, &found, NULL));
  bool same = check_same_bits(found, filter);
  petal_filter_free(found);
  return same;
}

static void no_such_file(void) {
  petal_filter *filter = make(SPEC(.capacity = 10)), *none = SENTINEL;
  for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_LOAD; mode++) {
    REFUSED(PETAL_ERR_NOT_FOUND, "nowhere", try_file(check_path("nowhere"), mode));
    CHECK_EQUAL(error.os_error, ENOENT);
  }
  REFUSED(PETAL_ERR_NOT_FOUND, "", try_file("", PETAL_OPEN_READ));
  REFUSED(PETAL_ERR_NOT_FOUND, "none", petal_filter_save(filter, check_path("none/file"), &error));
  CHECK_EQUAL(error.os_error, ENOENT);
  REFUSED(PETAL_ERR_IO, "error 21", try_file(check_path("."), PETAL_OPEN_READ));
  CHECK_EQUAL(error.os_error, EISDIR);
  REFUSED(PETAL_ERR_IO, "-1", petal_filter_open_descriptor(-1, 0, NULL, &none, &error));
  CHECK_EQUAL(error.os_error, EBADF);
  REFUSED(PETAL_ERR_UNSUPPORTED, "/dev/full|regular", petal_filter_save(filter, "/dev/full", &error));
  REFUSED(PETAL_ERR_UNSUPPORTED, "regular", petal_filter_save(filter, check_path("."), &error));
  struct stat status;
  CHECK(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
  CHECK(none == SENTINEL);

  /* However long the path is, the message says what happened. */
  char name[201], long_path[600];
  memset(name, 'n', 200);
  name[200] = '\0';
  snprintf(long_path, sizeof long_path, "%s/%s", check_path(name), name);
  REFUSED(PETAL_ERR_NOT_FOUND, "does not exist", try_file(long_path, PETAL_OPEN_READ));
  REFUSED(PETAL_ERR_NOT_FOUND, "does not exist", petal_filter_save(filter, long_path, &error));
  petal_filter_free(filter);
}

static void spoilt_files(void) {
  const char *path = check_path("spoilt");
  for (size_t length = 0; length <= sound_length + 3; length++) {
    FILE *file = fopen(path, "wb");
    restore();
    CHECK(fwrite(spoilt, 1, length, file) == length && fclose(file) == 0);
    for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_LOAD; mode++) {
      if (length < sound_length) REFUSED(PETAL_ERR_TRUNCATED, "", try_file(path, mode));
      if (length == sound_length) CHECK_OK(try_file(path, mode));
      if (length > sound_length) REFUSED(PETAL_ERR_CORRUPT, "bytes follow", try_file(path, mode));
    }
  }
  /* Whatever follows an image at an offset of a file is none of its business, but offsets are. */
  petal_filter *filter = SENTINEL;
  int file = open(path, O_RDWR);
  for (uint64_t offset = 1; offset < 8; offset++) {
    char text[32];
    snprintf(text, sizeof text, "offset = %d ", (int)offset);
    REFUSED(PETAL_ERR_MISALIGNED, text, petal_filter_open_descriptor(file, offset, NULL, &filter, &error));
  }
  REFUSED(PETAL_ERR_TRUNCATED, "", petal_filter_open_descriptor(file, 1 << 20, NULL, &filter, &error));
  REFUSED(PETAL_ERR_FOREIGN, "", petal_filter_open_descriptor(file, 8, NULL, &filter, &error));
  CHECK(petal_filter_open_descriptor(file, UINT64_MAX - 7, NULL, &filter, &error) != PETAL_OK);
  CHECK(filter == SENTINEL);
  close(file);
}

/* Works without the superuser's rights, if the program has them. */
static void give_up_rights(void) {
  if (geteuid() == 0) CHECK(setegid(65534) == 0 && seteuid(65534) == 0);
}

static void take_rights_back(void) {
  if (getuid() == 0) CHECK(seteuid(0) == 0 && setegid(0) == 0);
}

static void no_access(void) {
  char folder[1400], path[1450];
  snprintf(folder, sizeof folder, "%s", check_path("locked"));
  snprintf(path, sizeof path, "%s/file", folder);
  petal_filter *old = make(SPEC(.capacity = 10)), *new = make(SPEC(.capacity = 10));
  CHECK_OK(petal_filter_insert_u64(old, 1, NULL));
  CHECK(mkdir(folder, 0755) == 0 && chmod(check_path("."), 0755) == 0);
  CHECK_OK(petal_filter_save(old, path, NULL));
  CHECK(chmod(path, 0444) == 0 && chmod(folder, 0555) == 0);
  unsigned files = files_in(folder);
  give_up_rights();
  REFUSED(PETAL_ERR_ACCESS_DENIED, "denies access", petal_filter_save(new, path, &error));
  CHECK_EQUAL(error.os_error, EACCES);
  REFUSED(PETAL_ERR_ACCESS_DENIED, "denies access", try_file(path, PETAL_OPEN_WRITE));
  if (try_file(path, PETAL_OPEN_READ) != PETAL_OK) {
    check_skip("reading in a folder that is read-only", "a folder above the temporary one is closed to others");
  }
  take_rights_back();
  CHECK(file_is(path, old));
  CHECK_EQUAL(files_in(folder), files);
  CHECK(chmod(path, 0000) == 0);
  give_up_rights();
  REFUSED(PETAL_ERR_ACCESS_DENIED, "denies access", try_file(path, PETAL_OPEN_READ));
  take_rights_back();

  /* A folder that may be written but not read is good enough to save to: afterwards the file is there, or there was a
   * failure and it is not. */
  CHECK(remove(path) == 0 && chmod(folder, 0733) == 0);
  give_up_rights();
  petal_status status = petal_filter_save(new, path, &error);
  take_rights_back();
  CHECK((status == PETAL_OK) == (access(path, F_OK) == 0));
  CHECK(chmod(folder, 0700) == 0);
  petal_filter_free(old);
  petal_filter_free(new);
}

/* Saves a filter where there is no room for it: what was there stays, and nothing else is there. */
static void save_without_room(const char *folder, const petal_filter *old, const petal_filter *large) {
  char path[1450];
  snprintf(path, sizeof path, "%s/file", folder);
  CHECK_OK(petal_filter_save(old, path, NULL));
  unsigned files = files_in(folder);
  REFUSED(PETAL_ERR_NO_SPACE, "space", petal_filter_save(large, path, &error));
  CHECK(error.os_error == ENOSPC || error.os_error == EFBIG);
  CHECK(file_is(path, old));
  CHECK_EQUAL(files_in(folder), files);
  CHECK(remove(path) == 0);
}

/* A builder whose file meets its end keeps what it has, says how much that is, and goes on when there is room. */
static void build_without_room(struct rlimit small, struct rlimit usual) {
  enum { KEYS = 200000 };
  static uint64_t numbers[KEYS];
  petal_spec spec = SPEC(.false_positive_rate = 0.1);
  petal_builder_options options = {.struct_size = sizeof options, .memory_limit = 1 << 20,
                                   .temporary_directory = check_path(".")};
  petal_builder *builder = NULL, *reference = NULL;
  petal_filter *filter = NULL, *expected = NULL;
  size_t added = 99;
  uint64_t count = 0;
  for (size_t i = 0; i < KEYS; i++) numbers[i] = check_key(i);
  CHECK_OK(petal_builder_new(&spec, &options, &builder, NULL));
  CHECK_OK(petal_builder_new(&spec, NULL, &reference, NULL));
  setrlimit(RLIMIT_FSIZE, &small);
  REFUSED(PETAL_ERR_NO_SPACE, "temporary file",
          petal_builder_add_batch_u64(builder, numbers, KEYS, &added, &error));
  REFUSED_PLAIN(PETAL_ERR_NO_SPACE, petal_builder_add_u64(builder, 1));
  setrlimit(RLIMIT_FSIZE, &usual);
  CHECK_OK(petal_builder_count(builder, &count));
  CHECK(added > 0 && added < KEYS && count == added);
  CHECK_OK(petal_builder_add_batch_u64(builder, numbers + added, KEYS - added, NULL, NULL));
  CHECK_OK(petal_builder_finish(builder, &filter, NULL));
  CHECK_OK(petal_builder_add_batch_u64(reference, numbers, KEYS, NULL, NULL));
  CHECK_OK(petal_builder_finish(reference, &expected, NULL));
  CHECK(check_same_bits(filter, expected));
  petal_filter_free(filter);
  petal_filter_free(expected);
  petal_builder_free(builder);
  petal_builder_free(reference);
}

static void full_disk(void) {
  petal_filter *old = make(SPEC(.capacity = 10)), *large = make(SPEC(.capacity = 1000000));
  char folder[1400];
  snprintf(folder, sizeof folder, "%s", check_path("full"));
  CHECK(mkdir(folder, 0755) == 0);

  /* A limit on the size of files is like a disk that is full. */
  struct rlimit usual, small;
  CHECK(getrlimit(RLIMIT_FSIZE, &usual) == 0);
  small = (struct rlimit){.rlim_cur = 65536, .rlim_max = usual.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  save_without_room(folder, old, large);
  setrlimit(RLIMIT_FSIZE, &usual);
  build_without_room(small, usual);

#ifdef __linux__
  if (mount("petal", folder, "tmpfs", 0, "size=64k") == 0) {
    save_without_room(folder, old, large);
    CHECK(umount(folder) == 0);
  } else {
    check_skip("a small disk", strerror(errno));
  }
#endif
  petal_filter_free(old);
  petal_filter_free(large);
}

static void onto_the_mapped_file(void) {
  petal_open_options writing = {.struct_size = sizeof writing, .mode = PETAL_OPEN_WRITE};
  const char *path = check_path("mapped"), *soft = check_path("soft"), *hard = check_path("hard");
  petal_filter *filter = make(SPEC(.capacity = 10)), *mapped = NULL;
  CHECK_OK(petal_filter_save(filter, path, NULL));
  CHECK(symlink(path, soft) == 0 && link(path, hard) == 0);
  for (int mode = 0; mode < 2; mode++) {
    CHECK_OK(petal_filter_open(path, mode == 0 ? NULL : &writing, &mapped, NULL));
    guard(mapped);
    REFUSED(PETAL_ERR_MAPPED_PATH, "mapped|sync", petal_filter_save(mapped, path, &error));
    REFUSED(PETAL_ERR_MAPPED_PATH, "soft|sync", petal_filter_save(mapped, soft, &error));
    REFUSED(PETAL_ERR_MAPPED_PATH, "hard|sync", petal_filter_save(mapped, hard, &error));
    CHECK_OK(petal_filter_save(mapped, check_path("elsewhere"), &error));
    guard(NULL);
    petal_filter_free(mapped);
  }
  petal_filter_free(filter);
}

static void second_writer(void) {
  petal_open_options writing = {.struct_size = sizeof writing, .mode = PETAL_OPEN_WRITE};
  const char *path = check_path("written");
  petal_filter *filter = make(SPEC(.capacity = 10)), *writer = NULL, *none = SENTINEL;
  CHECK_OK(petal_filter_save(filter, path, NULL));
  CHECK_OK(petal_filter_open(path, &writing, &writer, NULL));
  guard(writer);
  REFUSED(PETAL_ERR_LOCKED, "offset 0|writing", try_file(path, PETAL_OPEN_WRITE));
  int file = open(path, O_RDWR);
  REFUSED(PETAL_ERR_LOCKED, "offset 0|writing", petal_filter_open_descriptor(file, 0, &writing, &none, &error));
  close(file);
  CHECK(none == SENTINEL);
  CHECK_OK(try_file(path, PETAL_OPEN_READ));
  CHECK_OK(try_file(path, PETAL_OPEN_LOAD));
  /* Closing the others released nothing. */
  REFUSED(PETAL_ERR_LOCKED, "offset 0|writing", try_file(path, PETAL_OPEN_WRITE));
  guard(NULL);
  petal_filter_free(writer);
  CHECK_OK(try_file(path, PETAL_OPEN_WRITE));
  petal_filter_free(filter);
}

/* A process that writes in place is killed: the file opens, has all keys, and says that it is dirty. */
static void killed_writer(petal_kind kind) {
  petal_open_options writing = {.struct_size = sizeof writing, .mode = PETAL_OPEN_WRITE};
  petal_open_options loading = {.struct_size = sizeof loading, .mode = PETAL_OPEN_LOAD};
  const char *path = check_path("dirty");
  petal_filter *filter = make(SPEC(.kind = kind, .capacity = 1000)), *opened = NULL;
  petal_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(petal_filter_save(filter, path, NULL));
  int done[2];
  CHECK(pipe(done) == 0);
  pid_t child = fork();
  if (child == 0) {
    char answer = 'y';
    if (petal_filter_open(path, &writing, &opened, NULL) != PETAL_OK) answer = 'n';
    for (uint64_t i = 0; i < 1000; i++) answer = petal_filter_insert_u64(opened, i, NULL) == PETAL_OK ? answer : 'n';
    if (write(done[1], &answer, 1) == 1) pause();
    _exit(1);
  }
  char answer = 'n';
  CHECK(read(done[0], &answer, 1) == 1 && answer == 'y');
  REFUSED(PETAL_ERR_LOCKED, "writing", try_file(path, PETAL_OPEN_WRITE));
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  close(done[0]);
  close(done[1]);

  for (int mode = 0; mode < 2; mode++) {
    CHECK_OK(petal_filter_open(path, mode == 0 ? NULL : &loading, &opened, NULL));
    CHECK_OK(petal_filter_statistics(opened, &statistics, NULL));
    CHECK(statistics.state & PETAL_STATE_DIRTY);
    for (uint64_t i = 0; i < 1000; i++) CHECK(petal_filter_contains_u64(opened, i));
    if (mode == 0) REFUSED(PETAL_ERR_DIRTY, "checksum", petal_filter_verify(opened, &error));
    petal_filter_free(opened);
  }

  /* The next writer makes it clean again. */
  CHECK_OK(petal_filter_open(path, &writing, &opened, NULL));
  CHECK_OK(petal_filter_insert_u64(opened, 1000, NULL));
  CHECK_OK(petal_filter_sync(opened, NULL));
  CHECK_OK(petal_filter_verify(opened, NULL));
  petal_filter_free(opened);
  CHECK_OK(petal_filter_open(path, NULL, &opened, NULL));
  CHECK_OK(petal_filter_verify(opened, NULL));
  CHECK_OK(petal_filter_statistics(opened, &statistics, NULL));
  CHECK_EQUAL(statistics.state & PETAL_STATE_DIRTY, 0);
  for (uint64_t i = 0; i <= 1000; i++) CHECK(petal_filter_contains_u64(opened, i));
  petal_filter_free(opened);
  petal_filter_free(filter);
}

/* ---- Callbacks and handles for reading ---- */

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
  CHECK_OK(petal_builder_count(builder, &count));
  CHECK(count == 10 && none == SENTINEL);
  petal_builder_free(builder);
}

static void reading_only(petal_kind kind) {
  petal_filter *reader = NULL, *other = make(SPEC(.kind = kind, .capacity = 50));
  make_sound(kind);
  restore();
  CHECK_OK(petal_filter_open_buffer(spoilt, sound_length, NULL, &reader, NULL));
  static const uint64_t numbers[] = {1, 2, 3};
  guard(reader);
  REFUSED(PETAL_ERR_UNSUPPORTED, "reading only",
          petal_filter_insert_batch_u64(reader, numbers, 3, NULL, NULL, NULL, NULL, &error));
  REFUSED(PETAL_ERR_UNSUPPORTED, "reading only", petal_filter_merge(reader, other, &error));
  REFUSED(PETAL_ERR_UNSUPPORTED, "reading only", petal_filter_intersect(reader, other, &error));
  REFUSED(PETAL_ERR_UNSUPPORTED, "clear", petal_filter_clear(reader, &error));
  REFUSED(PETAL_ERR_UNSUPPORTED, "fold", petal_filter_fold(reader, 2, &error));
  REFUSED_PLAIN(PETAL_ERR_UNSUPPORTED, petal_filter_insert(reader, "a", 1, NULL));
  guard(NULL);
  petal_filter_free(reader);
  petal_filter_free(other);
}

int main(void) {
  rates();
  sizes();
  contradictions();
  unknown_values();
  out_of_bounds();
  plans();
  struct_sizes();
  keys();
  unlike_filters();
  for (size_t k = 0; k < petal_kind_count(); k++) {
    make_sound(check_kind(k));
    truncated_and_foreign();
    flipped_header_bits();
    flipped_payload_bits();
    later_versions();
    hostile_headers();
    spoilt_files();
    killed_writer(check_kind(k));
    reading_only(check_kind(k));
  }
  make_sound(PETAL_KIND_BLOOM);
  buffers();
  no_such_file();
  no_access();
  full_disk();
  onto_the_mapped_file();
  second_writer();
  callbacks();
  REFUSED_PLAIN(PETAL_ERR_NULL, petal_filter_clear(NULL, NULL));

  for (petal_status status = PETAL_ERR_NULL; status >= PETAL_ERR_CALLBACK; status--) {
    check_that(seen[-status], __FILE__, __LINE__, "%d (%s) was never seen", status, petal_status_message(status));
  }
  CHECK(!seen[-PETAL_ERR_INTERNAL]);
  return check_done();
}
