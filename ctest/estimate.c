/* FILTERS: ESTIMATING */
#include "check.h"

static petal_filter *make(petal_kind kind, uint64_t from, uint64_t to) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 20000};
  return check_filled(&spec, from, to);
}

/* The truth is within 4.5 standard errors, and the interval lies around the value. */
static void check_estimate(const petal_filter_estimate *estimate, double truth) {
  CHECK(estimate->saturated == 0 && estimate->reserved == 0 && estimate->standard_error >= 0);
  CHECK(estimate->low <= estimate->value && estimate->value <= estimate->high);
  CHECK_CLOSE(estimate->value, truth, 4.5 * estimate->standard_error + 1e-9);
}

static void one_filter(petal_kind kind) {
  static const uint64_t sizes[] = {0, 1, 100, 5000, 20000};
  for (size_t i = 0; i < 5; i++) {
    petal_filter *filter = make(kind, 0, sizes[i]);
    petal_filter_estimate estimate = {.value = -1};
    petal_statistics statistics = {.struct_size = sizeof statistics};
    CHECK_OK(petal_filter_get_estimate(filter, &estimate, NULL));
    check_estimate(&estimate, (double)sizes[i]);
    CHECK(estimate.standard_error < 0.05 * (double)sizes[i] + 1);
    CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
    CHECK_CLOSE(statistics.count_estimate, estimate.value, 1e-6);
    petal_filter_free(filter);
  }

  if (check_kind_info(kind).overfill != PETAL_OVERFILL_RATE_RISES) return;
  petal_spec tiny = {.struct_size = sizeof tiny, .kind = kind, .bits = 512, .capacity = 10};
  petal_filter *full = NULL;
  petal_filter_estimate estimate = {.value = -1};
  CHECK_OK(petal_filter_new(&tiny, &full, NULL));
  for (uint64_t i = 0; i < 10000; i++) CHECK_OK(petal_filter_insert_u64(full, i, NULL));
  CHECK_OK(petal_filter_get_estimate(full, &estimate, NULL));
  CHECK_EQUAL(estimate.saturated, 1);
  petal_filter_free(full);
}

/* 12,000 keys and 10,000, of which 4,000 are the same. */
static void two_filters(petal_kind kind) {
  petal_filter *a = make(kind, 0, 12000), *b = make(kind, 8000, 18000), *empty = make(kind, 0, 0);
  petal_filter_overlap comparison = {.struct_size = sizeof comparison};
  CHECK_OK(petal_filter_estimate_overlap(a, b, &comparison, NULL));
  CHECK_EQUAL(comparison.struct_size, sizeof comparison);
  check_estimate(&comparison.first_count, 12000);
  check_estimate(&comparison.second_count, 10000);
  check_estimate(&comparison.union_count, 18000);
  check_estimate(&comparison.intersection_count, 4000);
  check_estimate(&comparison.jaccard, 4000.0 / 18000);
  check_estimate(&comparison.difference_count, 14000);
  /* The error depends on the number of differences, and not on the size of the sets. */
  CHECK(comparison.difference_count.standard_error < comparison.intersection_count.standard_error);
  CHECK_CLOSE(comparison.intersection_count.value, 4000, 600);

  CHECK_OK(petal_filter_estimate_overlap(a, a, &comparison, NULL));
  check_estimate(&comparison.intersection_count, 12000);
  check_estimate(&comparison.jaccard, 1);
  CHECK(comparison.difference_count.value == 0);
  CHECK_OK(petal_filter_estimate_overlap(a, empty, &comparison, NULL));
  check_estimate(&comparison.union_count, 12000);
  check_estimate(&comparison.intersection_count, 0);

  /* Only what could be merged can be compared. */
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = 20000, .seed = 1};
  petal_filter *seeded = check_filled(&spec, 0, 0);
  petal_filter_overlap before = comparison;
  CHECK_STATUS(petal_filter_estimate_overlap(a, seeded, &comparison, NULL), PETAL_ERR_INCOMPATIBLE);
  CHECK(memcmp(&before, &comparison, sizeof before) == 0);
  petal_filter_free(a);
  petal_filter_free(b);
  petal_filter_free(empty);
  petal_filter_free(seeded);
}

/* A kind that cannot tell says so, and writes nothing. */
static void cannot(petal_kind kind, bool count) {
  petal_filter *filter = make(kind, 0, 100);
  petal_filter_estimate estimate = {.value = -1};
  petal_filter_overlap comparison = {.struct_size = sizeof comparison, .jaccard = {.value = -1}};
  petal_statistics statistics = {.struct_size = sizeof statistics};
  petal_error error = {.struct_size = sizeof error};
  if (count) {
    CHECK_STATUS(petal_filter_get_estimate(filter, &estimate, &error), PETAL_ERR_UNSUPPORTED);
    CHECK_TEXT(error.message, check_kind_info(kind).name);
    CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
    CHECK(statistics.count_estimate < 0);
  }
  CHECK_STATUS(petal_filter_estimate_overlap(filter, filter, &comparison, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, check_kind_info(kind).name);
  CHECK(estimate.value == -1 && comparison.jaccard.value == -1);
  petal_filter_free(filter);
}

int main(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind_info info = check_kind_info(check_kind(k));
    if (info.capabilities & PETAL_CAN_ESTIMATE) {
      one_filter(info.kind);
    } else {
      cannot(info.kind, true);
    }
    const uint64_t compares = PETAL_CAN_ESTIMATE | PETAL_CAN_MERGE;
    if ((info.capabilities & compares) == compares && !(info.capabilities & PETAL_CAN_GROW)) {
      two_filters(info.kind);
    } else if (!(info.capabilities & PETAL_CAN_ESTIMATE) || info.capabilities & PETAL_CAN_GROW) {
      cannot(info.kind, false);
    }
  }
  return check_done();
}
