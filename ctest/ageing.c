/* FILTERS THAT FORGET: the window is always found, what is older is not, and time is moved on. */
#include "check.h"

enum { WINDOW = 3000 };

static uint64_t missing(const petal_filter *filter, uint64_t from, uint64_t to) {
  uint64_t lost = 0;
  for (uint64_t i = from; i < to; i++) lost += !petal_filter_contains_u64(filter, check_key(i));
  return lost;
}

static void insert(petal_filter *filter, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
}

static petal_spec window(petal_kind kind, double clock) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = WINDOW, .false_positive_rate = 0.01};
  CHECK_OK(petal_spec_set(&spec, "clock", clock, NULL));
  return spec;
}

/* The last keys are found, however many came before; the first ones are not. The rate holds. */
static void last_keys(petal_kind kind) {
  petal_spec spec = window(kind, 0);
  petal_filter *filter = NULL, *loaded = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  for (uint64_t i = 0; i < 10 * WINDOW; i += 500) {
    insert(filter, i, i + 500);
    CHECK_EQUAL(missing(filter, i + 500 < WINDOW ? 0 : i + 500 - WINDOW, i + 500), 0);
  }
  CHECK(missing(filter, 0, WINDOW) > WINDOW * 95 / 100);
  petal_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
  CHECK(statistics.false_positive_rate > 0.003 && statistics.false_positive_rate < 0.011);

  /* The same operations make the same bytes, in a copy of the image too. */
  check_image image = check_take_image(filter);
  CHECK_OK(petal_filter_load(image.bytes, image.length, NULL, &loaded, NULL));
  insert(filter, 1 << 20, (1 << 20) + 2000);
  insert(loaded, 1 << 20, (1 << 20) + 2000);
  CHECK(check_same_bits(filter, loaded));
  petal_filter_free(loaded);

  /* And in the image itself. */
  petal_open_options write = {.struct_size = sizeof write, .mode = PETAL_OPEN_WRITE};
  petal_filter *writing = NULL;
  CHECK_OK(petal_filter_open_in_buffer(image.bytes, image.length, &write, &writing, NULL));
  insert(writing, 1 << 20, (1 << 20) + 2000);
  CHECK(check_same_bits(filter, writing));
  petal_error error = {.struct_size = sizeof error};
  CHECK_OK(petal_filter_advance(writing, 1, &error));
  CHECK_OK(petal_filter_advance(filter, 1, &error));
  CHECK(check_same_bits(filter, writing));
  petal_filter_free(writing);
  CHECK_OK(petal_filter_open_in_buffer(image.bytes, image.length, NULL, &writing, NULL));
  CHECK_OK(petal_filter_verify(writing, NULL));
  CHECK_STATUS(petal_filter_advance(writing, 1, &error), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  petal_filter_free(writing);
  free(image.bytes);

  CHECK_OK(petal_filter_advance(filter, UINT64_MAX, &error));
  CHECK_OK(petal_filter_get_statistics(filter, &statistics, NULL));
  CHECK(statistics.fill == 0);
  petal_filter_free(filter);
}

/* A window of time holds what came in it, even more than it was made for, until time has moved on far enough, through
 * a handle that one thread has or many. */
static void last_steps(petal_kind kind, bool is_shared) {
  petal_spec spec = window(kind, 1);
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  insert(filter, 0, 2 * WINDOW);
  uint64_t steps = 0;
  while (missing(filter, 0, 2 * WINDOW) == 0 && steps < 1000) {
    CHECK_OK(is_shared ? petal_filter_advance_shared(filter, 1, NULL) : petal_filter_advance(filter, 1, NULL));
    steps++;
  }
  CHECK(steps > 1 && steps < 1000);
  CHECK_EQUAL(missing(filter, 0, 2 * WINDOW), 2 * WINDOW);
  petal_filter_free(filter);
}

/* What may lose keys says how many, by their age, and loses no more. */
static void lossy(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = WINDOW, .false_positive_rate = 0.01};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  insert(filter, 0, 8 * WINDOW);
  double newest = 1, rate = 0;
  CHECK_OK(petal_filter_expected_false_negative_rate(filter, 0, &newest, NULL));
  CHECK_OK(petal_filter_expected_false_negative_rate(filter, WINDOW, &rate, NULL));
  CHECK(newest == 0 && rate > 0.005 && rate < 0.02);
  /* A hundred keys around that age, within 4.5 standard deviations. */
  uint64_t lost = missing(filter, 7 * WINDOW - 50, 7 * WINDOW + 50);
  CHECK_CLOSE((double)lost, 100 * rate, 4.5);
  /* Time that is moved on forgets as insertions do, and in the end all. */
  CHECK_OK(petal_filter_advance(filter, WINDOW, NULL));
  CHECK(missing(filter, 7 * WINDOW, 8 * WINDOW) > 0);
  CHECK_OK(petal_filter_advance(filter, UINT64_MAX, NULL));
  CHECK_EQUAL(missing(filter, 0, 8 * WINDOW), 8 * WINDOW);
  petal_filter_free(filter);
}

int main(void) {
  size_t ageing = 0;
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind_info info = check_kind_info(check_kind(k));
    CHECK((info.overfill == PETAL_OVERFILL_FORGETS) == !!(info.capabilities & PETAL_CAN_AGE));
    if (!(info.capabilities & PETAL_CAN_AGE)) continue;
    ageing++;
    if (info.capabilities & PETAL_MAY_LOSE_KEYS) {
      lossy(info.kind);
      continue;
    }
    last_keys(info.kind);
    last_steps(info.kind, false);
    if (info.capabilities & PETAL_CAN_AGE_SHARED) last_steps(info.kind, true);
  }
  CHECK(ageing > 0);
  return check_done();
}
