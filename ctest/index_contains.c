/* INDEXES: rows that contain a query, held to a scan, and features. */
#include "check.h"

#define ROWS 300
#define LENGTH 32

static unsigned char rows[ROWS][LENGTH];

static void add(const petal_index *index, unsigned char *row, unsigned number) {
  char feature[20];
  const int length = snprintf(feature, sizeof feature, "feature %u", number);
  CHECK_OK(petal_index_add_feature(index, row, LENGTH, feature, (size_t)length, 0, NULL));
}

static bool has_all(const unsigned char *row, const unsigned char *query) {
  for (unsigned i = 0; i < LENGTH; i++) {
    if (query[i] & ~row[i]) return false;
  }
  return true;
}

static petal_index *make(double store, double nesting) {
  petal_spec spec = PETAL_SPEC_INIT;
  spec.kind = PETAL_KIND_INDEX;
  spec.capacity = ROWS;
  CHECK_OK(petal_spec_set(&spec, "width", 8 * LENGTH, NULL));
  CHECK_OK(petal_spec_set(&spec, "store", store, NULL));
  CHECK_OK(petal_spec_set(&spec, "nesting", nesting, NULL));
  CHECK_OK(petal_spec_set(&spec, "feature_bits", 3, NULL));
  petal_index *index = NULL;
  CHECK_OK(petal_index_new(&spec, &index, NULL));
  return index;
}

struct taken {
  uint64_t ids[ROWS];
  size_t count, most;
};

static bool take(void *context, uint64_t row, uint64_t id) {
  struct taken *taken = context;
  CHECK_EQUAL(id, 7 * row);
  taken->ids[taken->count++] = id;
  return taken->count < taken->most;
}

static bool stop(void *context, uint64_t done, uint64_t total) {
  *(uint64_t *)context = total;
  return done < total;
}

static void test_contains(double store) {
  petal_index *index = make(store, 0);
  memset(rows, 0, sizeof rows);
  for (unsigned i = 0; i < ROWS; i++) {
    for (unsigned j = 0; j < 6; j++) add(index, rows[i], (i * j + i) % 40);
    CHECK_OK(petal_index_add(index, 7 * i, rows[i], LENGTH, NULL, NULL));
  }
  CHECK_OK(petal_index_remove_row(index, 5, NULL, NULL));
  for (unsigned asked = 0; asked < 4; asked++) {
    unsigned char query[LENGTH] = {0};
    for (unsigned j = 0; j < asked; j++) add(index, query, 3 + 2 * j);
    uint64_t ids[ROWS], expected[ROWS];
    size_t found = 0, count = 0;
    petal_index_search_options options = PETAL_INDEX_SEARCH_OPTIONS_INIT;
    options.threads = asked;
    for (unsigned i = 0; i < ROWS; i++) {
      if (i != 5 && has_all(rows[i], query)) expected[count++] = 7 * i;
    }
    CHECK_OK(petal_index_find_containing(index, query, LENGTH, &options, ids, ROWS, &found, NULL));
    CHECK(found == count && memcmp(ids, expected, count * sizeof *ids) == 0);
    /* Without room the number is written all the same, and nothing is written past the room. */
    ids[1] = 1;
    CHECK_OK(petal_index_find_containing(index, query, LENGTH, NULL, NULL, 0, &found, NULL));
    CHECK_EQUAL(found, count);
    CHECK_OK(petal_index_find_containing(index, query, LENGTH, NULL, ids, 1, &found, NULL));
    CHECK(found == count && ids[1] == 1);
    /* A callback gets the same, until it says false. */
    struct taken taken = {{0}, 0, ROWS};
    uint64_t given = 0, total = 0;
    CHECK_OK(petal_index_visit_containing(index, query, LENGTH, &options, take, &taken, &given, NULL));
    CHECK(given == count && taken.count == count && memcmp(taken.ids, expected, count * sizeof *expected) == 0);
    taken.count = 0;
    taken.most = 2;
    CHECK_OK(petal_index_visit_containing(index, query, LENGTH, &options, take, &taken, NULL, NULL));
    CHECK_EQUAL(taken.count, count < 2 ? count : 2);
    options.progress = stop;
    options.progress_context = &total;
    memset(ids, 0xee, sizeof ids);
    found = 4711;
    CHECK_STATUS(petal_index_find_containing(index, query, LENGTH, &options, ids, ROWS, &found, NULL),
                 PETAL_ERR_CANCELLED);
    CHECK(found == 4711 && ids[0] == UINT64_C(0xeeeeeeeeeeeeeeee));
    CHECK_EQUAL(total, ROWS);
    double rate = -1;
    CHECK_OK(petal_index_expected_false_positive_rate(index, query, LENGTH, &rate, NULL));
    CHECK(asked == 0 ? rate == 1 : rate > 0 && rate < .1);
  }
  size_t found = 77;
  CHECK_STATUS(petal_index_find_containing(index, rows[0], LENGTH - 1, NULL, NULL, 0, &found, NULL),
               PETAL_ERR_OUT_OF_RANGE);
  CHECK_EQUAL(found, 77);
  petal_index_free(index);
}

static void test_folds(void) {
  petal_index *index = make(0, 0);
  unsigned char row[LENGTH] = {0}, folded[LENGTH] = {0}, expected[LENGTH / 4] = {0};
  row[0] = 1;
  row[LENGTH - 1] = 0x81;
  CHECK_OK(petal_index_fold_row(index, row, LENGTH, PETAL_INDEX_FOLD_MODULO, 64, folded, 8, NULL));
  expected[0] = 1;
  expected[7] = 0x81;
  CHECK(memcmp(folded, expected, 8) == 0);
  CHECK_OK(petal_index_fold_row(index, row, LENGTH, PETAL_INDEX_FOLD_ADJACENT, 64, folded, 8, NULL));
  expected[7] = 0xc0;
  CHECK(memcmp(folded, expected, 8) == 0);
  CHECK_STATUS(petal_index_fold_row(index, row, LENGTH, PETAL_INDEX_FOLD_MODULO, 65, folded, 9, NULL),
               PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_index_fold_row(index, row, LENGTH, PETAL_INDEX_FOLD_MODULO, 64, folded, 7, NULL),
               PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_index_fold_row(index, row, LENGTH, 2, 64, folded, 8, NULL), PETAL_ERR_UNKNOWN_VALUE);
  petal_index_free(index);
}

static void test_features(void) {
  petal_index *index = make(0, 1);
  unsigned char row[LENGTH] = {0}, same[LENGTH] = {0}, other[LENGTH] = {0};
  size_t found = 0;
  CHECK_STATUS(petal_index_find_containing(index, row, LENGTH, NULL, NULL, 0, &found, NULL), PETAL_ERR_UNSUPPORTED);
  CHECK_OK(petal_index_add_feature_hash(index, row, LENGTH, 1, 64, NULL));
  CHECK_STATUS(petal_index_add_feature_hash(index, row, LENGTH, 1, 65, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_index_add_feature(index, row, LENGTH + 1, "x", 1, 1, NULL), PETAL_ERR_OUT_OF_RANGE);
  memset(row, 0, LENGTH);
  for (unsigned i = 0; i < 20; i++) {
    add(index, row, i);
    add(index, same, i);
    add(index, other, 10 + i);
  }
  double similarity = 0, margin = 0;
  CHECK_OK(petal_index_estimate_similarity(index, row, same, LENGTH, &similarity, NULL, NULL));
  CHECK(similarity == 1);
  CHECK_OK(petal_index_estimate_similarity(index, row, other, LENGTH, &similarity, &margin, NULL));
  CHECK(margin > 0 && margin < .2 && similarity > 1. / 3 - 4.5 * margin && similarity < 1. / 3 + 4.5 * margin);
  memset(row, 0, LENGTH);
  CHECK_STATUS(petal_index_estimate_similarity(index, row, row, LENGTH, &similarity, &margin, NULL),
               PETAL_ERR_OUT_OF_RANGE);
  petal_index_free(index);
}

int main(void) {
  test_contains(0);
  test_contains(1);
  test_contains(2);
  test_folds();
  test_features();
  return check_done();
}
