/* SPECS */
#include "check.h"

/* All zeros is a whole spec: a million keys at 1 %. */
static void defaults(void) {
  petal_spec zero = {.struct_size = sizeof zero};
  petal_spec full = {.struct_size = sizeof full, .capacity = 1000000, .false_positive_rate = 0.01,
                     .hash = PETAL_HASH_XXH3, .kind = PETAL_KIND_BLOCKED};
  uint64_t zero_size = 0, full_size = 0;
  CHECK_OK(petal_spec_image_size(&zero, &zero_size, NULL));
  CHECK_OK(petal_spec_image_size(&full, &full_size, NULL));
  CHECK_EQUAL(zero_size, full_size);
  petal_filter *a = NULL, *b = NULL;
  CHECK_OK(petal_filter_new(&zero, &a, NULL));
  CHECK_OK(petal_filter_new(&full, &b, NULL));
  CHECK(check_same_bits(a, b));
  petal_filter_free(a);
  petal_filter_free(b);
}

/* What a model checker asks: the estimate of the literature for hash compaction. */
static void omissions(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_HASH_COMPACTION, .bits = 12 * 20000};
  CHECK_OK(petal_spec_set(&spec, "signature_bits", 12, NULL));
  double of_spec = 0, of_filter = 0;
  petal_filter *filter = NULL;
  CHECK_OK(petal_spec_expected_omissions(&spec, 18000, &of_spec, NULL));
  CHECK_CLOSE(of_spec, 6.85, 0.05);
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  CHECK_OK(petal_filter_expected_omissions(filter, 18000, &of_filter, NULL));
  CHECK_CLOSE(of_filter, of_spec, 0);
  petal_filter_free(filter);
}

/* The promise is kept at every size, and an image is not larger than it must be. */
static void rates(void) {
  static const double targets[] = {0.5, 0.1, 0.01, 0.001, 1e-6};
  for (size_t k = 0; k < check_kind_count(); k++) {
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
      for (uint64_t capacity = 1; capacity <= 100000; capacity *= check_step() == 1 ? 10 : 1000) {
        petal_spec spec = {.struct_size = sizeof spec, .kind = check_kind(k), .capacity = capacity,
                           .false_positive_rate = targets[t]};
        double rate = -1, half = -1, none = -1;
        CHECK_OK(petal_spec_expected_false_positive_rate(&spec, capacity, &rate, NULL));
        /* Where fingerprints keep a rate exactly, equal hashes may add a thousandth of it. */
        CHECK(rate > 0 && rate <= targets[t] * 1.001);
        CHECK_OK(petal_spec_expected_false_positive_rate(&spec, capacity / 2, &half, NULL));
        /* Of few keys rates are so low that what is left of sums whose terms cancel shows. */
        CHECK(half >= 0 && half <= rate + 1e-12);
        CHECK_OK(petal_spec_expected_false_positive_rate(&spec, 0, &none, NULL));
        CHECK(none == 0);
        const double at_capacity = rate;
        CHECK_OK(petal_spec_expected_false_positive_rate(&spec, UINT64_MAX, &rate, NULL));
        petal_kind_info info = check_kind_info(spec.kind);
        if (info.overfill == PETAL_OVERFILL_RATE_RISES) CHECK_CLOSE(rate, 1, 1e-9);

        /* How large a filter becomes that is built is known when its keys are. */
        double omissions = -1;
        petal_status omits = petal_spec_expected_omissions(&spec, capacity, &omissions, NULL);
        CHECK_EQUAL(omits, info.overfill == PETAL_OVERFILL_IS_BUILT ? PETAL_ERR_UNSUPPORTED : PETAL_OK);
        if (info.overfill == PETAL_OVERFILL_IS_BUILT) continue;
        CHECK(omissions >= 0 && omissions <= (1.0001 * at_capacity + 1e-12) * (double)capacity);
        uint64_t size = 0;
        petal_filter *filter = NULL;
        petal_description description = {.struct_size = sizeof description};
        CHECK_OK(petal_spec_image_size(&spec, &size, NULL));
        CHECK_OK(petal_filter_new(&spec, &filter, NULL));
        CHECK_OK(petal_filter_describe(filter, &description, NULL));
        CHECK_EQUAL(description.bytes, size);
        CHECK_EQUAL(description.capacity, capacity);
        CHECK_CLOSE(description.false_positive_rate, targets[t], 0);
        petal_filter_free(filter);
      }
    }
  }
}

static void exact_geometry(void) {
  petal_spec spec = {.struct_size = sizeof spec, .bits = 8192, .hashes = 5};
  petal_filter *filter = NULL;
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK_EQUAL(description.bits, 8192);
  CHECK_EQUAL(description.hashes, 5);
  CHECK_EQUAL(description.capacity, 0);
  CHECK_EQUAL(description.bytes, 256 + 8192 / 8 + 64);
  CHECK(description.false_positive_rate == 0);
  petal_filter_free(filter);

  /* With a capacity the best number of hashes is chosen: 10 bits a key want 6 in blocks, and 7 without. */
  petal_spec best = {.struct_size = sizeof best, .bits = 10240, .capacity = 1024};
  CHECK_OK(petal_filter_new(&best, &filter, NULL));
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK_EQUAL(description.hashes, 6);
  petal_filter_free(filter);
  best.kind = PETAL_KIND_BLOOM;
  CHECK_OK(petal_filter_new(&best, &filter, NULL));
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK_EQUAL(description.hashes, 7);
  petal_filter_free(filter);
}

static void parameters(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOM, .capacity = 1000, .seed = 7};
  petal_spec before = spec;
  double value = -1;
  CHECK_OK(petal_spec_get(&spec, "derivation", &value, NULL));
  CHECK(value == 0);
  CHECK_OK(petal_spec_set(&spec, "partitioned", 1, NULL));
  CHECK_OK(petal_spec_set_choice(&spec, "derivation", "enhanced_double", NULL));
  CHECK_OK(petal_spec_get(&spec, "partitioned", &value, NULL));
  CHECK(value == 1);
  CHECK_OK(petal_spec_get(&spec, "derivation", &value, NULL));
  CHECK(value == 4);
  /* Setting again replaces, and digits do for a number. */
  CHECK_OK(petal_spec_set_choice(&spec, "partitioned", "0", NULL));
  CHECK_OK(petal_spec_get(&spec, "partitioned", &value, NULL));
  CHECK(value == 0);

  /* Nothing but the parameters was touched. */
  memcpy(before.parameters, spec.parameters, sizeof spec.parameters);
  CHECK(memcmp(&before, &spec, sizeof spec) == 0);

  /* What was set is what the filter is, and can be read back from it. */
  petal_filter *filter = NULL, *twin = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  petal_spec back = {.struct_size = sizeof back};
  CHECK_OK(petal_filter_get_spec(filter, &back, NULL));
  CHECK_OK(petal_spec_get(&back, "derivation", &value, NULL));
  CHECK(value == 4);
  CHECK_OK(petal_filter_new(&back, &twin, NULL));
  CHECK(check_same_bits(filter, twin));
  petal_filter_free(filter);
  petal_filter_free(twin);
}

/* A refused value leaves the spec as it was. */
static void refusals(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOM, .capacity = 1000}, before = spec;
  double value = 42;
  CHECK_STATUS(petal_spec_set(&spec, "colour", 1, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_spec_set_choice(&spec, "derivation", "guess", NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_spec_set_choice(&spec, "partitioned", "9", NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_spec_get(&spec, "colour", &value, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK(value == 42);
  CHECK(memcmp(&before, &spec, sizeof spec) == 0);

  /* A split block takes no derivation, whenever its kind is set, and a value is checked when the filter is made. */
  petal_filter *filter = NULL;
  CHECK_OK(petal_spec_set(&spec, "derivation", 1, NULL));
  spec.kind = PETAL_KIND_SPLIT_BLOCK;
  CHECK_STATUS(petal_spec_set(&spec, "derivation", 1, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_filter_new(&spec, &filter, NULL), PETAL_ERR_UNKNOWN_VALUE);
  spec.kind = PETAL_KIND_BLOOM;
  CHECK_OK(petal_spec_set(&spec, "derivation", 99, NULL));
  CHECK_STATUS(petal_filter_new(&spec, &filter, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK(filter == NULL);
}

/* "foldable" costs less than 0.8 % and lets the size be halved many times. */
static void foldable(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = check_kind(k), .capacity = 100000};
    uint64_t plain = 0, round = 0;
    if (petal_spec_set(&spec, "foldable", 1, NULL) != PETAL_OK) continue;
    CHECK_OK(petal_spec_set(&spec, "foldable", 0, NULL));
    CHECK_OK(petal_spec_image_size(&spec, &plain, NULL));
    CHECK_OK(petal_spec_set(&spec, "foldable", 1, NULL));
    CHECK_OK(petal_spec_image_size(&spec, &round, NULL));
    CHECK(round >= plain && (double)round < 1.008 * (double)plain + 64);
  }
}

int main(void) {
  defaults();
  rates();
  omissions();
  exact_geometry();
  parameters();
  refusals();
  foldable();
  return check_done();
}
