/* INDEXES, held to a scan of the same rows. */
#include "check.h"

#include <fcntl.h>

#define ROWS 600
#define WORDS 4
#define LENGTH (8 * WORDS)

static uint64_t rows[ROWS][WORDS];

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* Groups of six rows that are near each other. */
static void fill(void) {
  for (uint64_t i = 0; i < ROWS; i++) {
    for (uint64_t w = 0; w < WORDS; w++) {
      rows[i][w] = mixed(1000 * (i / 6) + 2 * w) & mixed(1000 * (i / 6) + 2 * w + 1);
      if (i % 6 > 0) rows[i][w] ^= mixed(i * WORDS + w) & mixed(77777 + i * WORDS + w) & mixed(99999 + i);
    }
  }
}

static unsigned ones(const uint64_t *a, const uint64_t *b) {
  unsigned sum = 0;
  for (unsigned bit = 0; bit < 64 * WORDS; bit++) sum += (a[bit / 64] & b[bit / 64]) >> (bit % 64) & 1;
  return sum;
}

static double tanimoto(const uint64_t *a, const uint64_t *b) {
  const unsigned common = ones(a, b), either = ones(a, a) + ones(b, b) - common;
  return either == 0 ? 1 : (double)common / either;
}

static petal_spec spec_of(uint64_t capacity, double store) {
  petal_spec spec = PETAL_SPEC_INIT;
  spec.kind = PETAL_KIND_INDEX;
  spec.capacity = capacity;
  CHECK_OK(petal_spec_set(&spec, "width", 64 * WORDS, NULL));
  CHECK_OK(petal_spec_set(&spec, "store", store, NULL));
  CHECK_OK(petal_spec_set(&spec, "attachment_bytes", 10, NULL));
  return spec;
}

static petal_index *make(uint64_t capacity) {
  petal_spec spec = spec_of(capacity, 2);
  petal_index *index = NULL;
  CHECK_OK(petal_index_new(&spec, &index, NULL));
  for (uint64_t i = 0; i < capacity; i++) {
    uint64_t number = 0;
    CHECK_OK(petal_index_add(index, 10 * i, rows[i], LENGTH, &number, NULL));
    CHECK_EQUAL(number, i);
  }
  return index;
}

static bool count_hits(void *context, const petal_index_hit *hit) {
  uint64_t *seen = context;
  seen[0]++;
  seen[1] = hit->row;
  return seen[0] < seen[2];
}

static bool count_calls(void *context, uint64_t done, uint64_t total) {
  uint64_t *calls = context;
  calls[0]++;
  CHECK(done <= total);
  return calls[0] < calls[1];
}

/*
 * The answers are those of a scan, in all forms, with any threads. Tools see one thread: they know pthreads. They do
 * not know how Rust's library starts threads, and that it keeps a handle of the main thread.
 */
static void test_search(const petal_index *index) {
  const uint32_t most = check_scaled(100) == 100 ? 3 : 0;
  for (uint64_t q = 0; q < ROWS; q += 50) {
    size_t expected = 0;
    for (uint64_t i = 0; i < ROWS; i++) expected += tanimoto(rows[q], rows[i]) >= .4;
    petal_index_search_options options = PETAL_INDEX_SEARCH_OPTIONS_INIT;
    for (options.threads = 0; options.threads <= most; options.threads += 3) {
      petal_index_hit hits[ROWS], best[6];
      size_t found = 0, few = 0;
      CHECK_OK(petal_index_find_similar(index, rows[q], LENGTH, .4, &options, hits, ROWS, &found, NULL));
      CHECK_EQUAL(found, expected);
      for (size_t i = 0; i < found; i++) {
        CHECK(hits[i].similarity == tanimoto(rows[q], rows[hits[i].id / 10]));
        CHECK(i == 0 || hits[i - 1].similarity > hits[i].similarity ||
              (hits[i - 1].similarity == hits[i].similarity && hits[i - 1].id < hits[i].id));
      }
      CHECK_OK(petal_index_find_similar(index, rows[q], LENGTH, .4, &options, NULL, 0, &few, NULL));
      CHECK_EQUAL(few, expected);
      CHECK_OK(petal_index_find_top(index, rows[q], LENGTH, 6, &options, best, &few, NULL));
      CHECK(few == 6 && best[0].id == 10 * q && best[0].similarity == 1);
      for (size_t i = 0; i < 6 && i < found; i++) CHECK(best[i].row == hits[i].row);
      uint64_t seen[3] = {0, 0, UINT64_MAX}, given = 0;
      CHECK_OK(
          petal_index_visit_similar(index, rows[q], LENGTH, .4, &options, count_hits, seen, &given, NULL));
      CHECK(seen[0] == expected && given == expected);
      seen[0] = 0, seen[2] = 2;
      CHECK_OK(petal_index_visit_similar(index, rows[q], LENGTH, 0, &options, count_hits, seen, &given, NULL));
      CHECK(seen[0] == 2 && given == 2);
    }
  }
  petal_index_hit hits[20];
  size_t found[5];
  CHECK_OK(petal_index_find_top_batch(index, rows, 5, 4, NULL, hits, found, NULL));
  for (size_t i = 0; i < 5; i++) CHECK(found[i] == 4 && hits[4 * i].id == 10 * i);
  CHECK_OK(petal_index_find_similar_batch(index, rows, 5, 1, NULL, hits, 1, found, NULL));
  for (size_t i = 0; i < 5; i++) CHECK(found[i] == 1 && hits[i].id == 10 * i);
  /* Room for more hits than an array has: 2^63 bytes, and products that overflow to few bytes or to none. */
  const size_t rooms[] = {SIZE_MAX, SIZE_MAX / 5, SIZE_MAX / 5 / sizeof *hits + 1, SIZE_MAX / 4 / sizeof *hits,
                          (size_t)1 << (8 * sizeof(size_t) - 3)};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    petal_error error = PETAL_ERROR_INIT;
    found[0] = 77;
    CHECK_STATUS(petal_index_find_top_batch(index, rows, 5, rooms[i], NULL, hits, found, &error), PETAL_ERR_TOO_LARGE);
    CHECK(strstr(error.message, "count = 5 times k = ") != NULL);
    CHECK_STATUS(petal_index_find_similar_batch(index, rows, 5, 1, NULL, hits, rooms[i], found, &error),
                 PETAL_ERR_TOO_LARGE);
    CHECK(strstr(error.message, "count = 5 times room = ") != NULL && found[0] == 77);
  }
}

static void test_options(const petal_index *index) {
  const uint64_t query[WORDS] = {255}, empty[WORDS] = {0};
  petal_index_hit hit;
  size_t found = 0;
  for (uint32_t similarity = 0; similarity < 5; similarity++) {
    petal_index_search_options options = PETAL_INDEX_SEARCH_OPTIONS_INIT;
    options.similarity = similarity;
    options.alpha = options.beta = .5;
    CHECK_OK(petal_index_find_top(index, query, LENGTH, 1, &options, &hit, &found, NULL));
    const double a = 8, b = ones(rows[hit.id / 10], rows[hit.id / 10]), c = ones(query, rows[hit.id / 10]);
    const double expected[] = {c / (a + b - c), 2 * c / (a + b), c / (.5 * (a - c) + .5 * (b - c) + c), 0,
                               (256 - (a + b - 2 * c)) / 256};
    CHECK(similarity == PETAL_INDEX_SIMILARITY_COSINE || hit.similarity == expected[similarity]);
    CHECK_OK(petal_index_find_top(index, empty, LENGTH, 1, &options, &hit, &found, NULL));
    CHECK(found == 1 && (similarity == PETAL_INDEX_SIMILARITY_HAMMING) == (hit.similarity > 0));
  }
  petal_error error = PETAL_ERROR_INIT;
  petal_index_search_options options = {.similarity = 5};
  CHECK_STATUS(petal_index_find_top(index, query, LENGTH, 1, &options, &hit, &found, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_TEXT(error.message, "similarity = 5");
  options = (petal_index_search_options){.reserved = 1};
  CHECK_STATUS(petal_index_find_top(index, query, LENGTH, 1, &options, &hit, &found, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_TEXT(error.message, "reserved = 1");
  options = (petal_index_search_options){.similarity = PETAL_INDEX_SIMILARITY_TVERSKY, .alpha = -1};
  CHECK_STATUS(petal_index_find_top(index, query, LENGTH, 1, &options, &hit, &found, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_index_find_top(index, query, LENGTH - 1, 1, NULL, &hit, &found, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_index_find_similar(index, query, LENGTH, 1.5, NULL, &hit, 1, &found, &error),
               PETAL_ERR_OUT_OF_RANGE);
  uint64_t calls[2] = {0, UINT64_MAX};
  options = (petal_index_search_options){.progress = count_calls, .progress_context = calls};
  CHECK_OK(petal_index_find_top(index, query, LENGTH, 1, &options, &hit, &found, &error));
  CHECK(calls[0] > 0);
  calls[0] = 0, calls[1] = 1;
  CHECK_STATUS(petal_index_find_top(index, query, LENGTH, 1, &options, &hit, &found, &error), PETAL_ERR_CANCELLED);
}

/* Rows come, go, are merged, and are arranged anew. */
static void test_rows(void) {
  petal_index *index = make(100), *other = make(7), *arranged = NULL, *merged = NULL, *copy = NULL;
  uint64_t number = 0, count = 0, row[WORDS];
  bool flag = false;
  CHECK_STATUS(petal_index_add(index, 1, rows[0], LENGTH, NULL, NULL), PETAL_ERR_FULL);
  CHECK_OK(petal_index_attach(index, "names", 5, NULL));
  CHECK_OK(petal_index_find_row(index, 50, 0, &number, &flag, NULL));
  CHECK(flag);
  CHECK_EQUAL(number, 5);
  CHECK_OK(petal_index_remove(index, 50, &number, NULL));
  CHECK_EQUAL(number, 1);
  CHECK_OK(petal_index_find_row(index, 50, 0, NULL, &flag, NULL));
  CHECK(!flag);
  CHECK_OK(petal_index_remove_row(index, 6, &flag, NULL));
  CHECK(flag && petal_index_next_row(index) == 100 && petal_index_row_count(index) == 98 &&
        petal_index_width(index) == 256);
  CHECK_OK(petal_index_get_row_at(index, 6, &flag, &number, &count, NULL));
  CHECK(!flag);
  CHECK_OK(petal_index_get_row_at(index, 8, &flag, &number, &count, NULL));
  CHECK(flag && number == 80 && count == ones(rows[8], rows[8]));
  CHECK_STATUS(petal_index_get_row_at(index, 100, &flag, NULL, NULL, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_OK(petal_index_copy_row(index, 8, row, LENGTH, NULL));
  CHECK(memcmp(row, rows[8], LENGTH) == 0);
  CHECK_STATUS(petal_index_merge(index, other, NULL), PETAL_ERR_FULL);
  CHECK_STATUS(petal_index_merge(index, index, NULL), PETAL_ERR_CONTRADICTION);
  CHECK_OK(petal_index_arrange_both(index, other, 0, &merged, NULL));
  CHECK(petal_index_next_row(merged) == 105 && petal_index_row_count(merged) == 105);
  CHECK_OK(petal_index_arrange(index, 120, &arranged, NULL));
  CHECK_OK(petal_index_merge(arranged, other, NULL));
  CHECK_EQUAL(petal_index_row_count(arranged), 105);
  CHECK_OK(petal_index_copy(arranged, &copy, NULL));
  char text[10];
  size_t length = 0;
  CHECK_OK(petal_index_get_attachment(copy, text, sizeof text, &length, NULL));
  CHECK(length == 5 && memcmp(text, "names", 5) == 0);
  CHECK(petal_index_capabilities(copy) & PETAL_CAN_INSERT);
  CHECK_OK(petal_index_clear(copy, NULL));
  CHECK_EQUAL(petal_index_next_row(copy), 0);
  petal_index_free(index);
  petal_index_free(other);
  petal_index_free(arranged);
  petal_index_free(merged);
  petal_index_free(copy);
}

static bool append(void *context, const void *bytes, size_t length) {
  unsigned char **end = context;
  memcpy(*end, bytes, length);
  *end += length;
  return true;
}

static void test_images(const petal_index *index) {
  uint64_t size = 0;
  size_t written = 0;
  CHECK_OK(petal_index_serialized_size(index, &size, NULL));
  unsigned char *image = malloc(size), *again = malloc(size), *end = again;
  CHECK_OK(petal_index_serialize(index, image, size, &written, NULL));
  CHECK_OK(petal_index_serialize_to(index, append, &end, NULL));
  CHECK(written == size && end == again + size && memcmp(image, again, size) == 0);
  petal_index *opened = NULL;
  CHECK_OK(petal_index_load(image, size, NULL, &opened, NULL));
  CHECK_OK(petal_index_verify(opened, NULL));
  test_search(opened);
  petal_index_free(opened);
  CHECK_OK(petal_index_open_in_buffer(image, size, NULL, &opened, NULL));
  CHECK_STATUS(petal_index_clear(opened, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  petal_index_free(opened);
  const char *path = check_path("index.petal");
  CHECK_OK(petal_index_save(index, path, NULL));
  petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
  options.mode = PETAL_OPEN_WRITE;
  CHECK_OK(petal_index_open(path, &options, &opened, NULL));
  CHECK_OK(petal_index_remove(opened, 10, NULL, NULL));
  CHECK_OK(petal_index_sync(opened, NULL));
  CHECK_OK(petal_index_mark_clean(opened, NULL));
  petal_index_free(opened);
  int file = open(path, O_RDONLY);
  CHECK_OK(petal_index_open_descriptor(check_descriptor(file), 0, NULL, &opened, NULL));
  petal_description description = PETAL_DESCRIPTION_INIT;
  CHECK_OK(petal_index_describe(opened, &description, NULL));
  CHECK(description.kind == PETAL_KIND_INDEX && description.capacity == ROWS && description.insertions == ROWS - 1);
  CHECK_OK(petal_index_verify(opened, NULL));
  petal_index_free(opened);
  close(file);
  remove(path);
  free(image);
  free(again);
}

int main(void) {
  fill();
  petal_index *index = make(ROWS);
  test_search(index);
  test_options(index);
  test_images(index);
  petal_index_free(index);
  petal_spec spec = spec_of(0, 0);
  petal_index_builder *builder = NULL;
  CHECK_OK(petal_index_builder_new(&spec, &builder, NULL));
  for (uint64_t i = 0; i < ROWS; i++) CHECK_OK(petal_index_builder_add(builder, 10 * i, rows[i], LENGTH, NULL));
  CHECK_OK(petal_index_builder_finish(builder, &index, NULL));
  CHECK_STATUS(petal_index_builder_add(builder, 1, rows[0], LENGTH, NULL), PETAL_ERR_CONTRADICTION);
  petal_index_builder_free(builder);
  test_search(index);
  petal_index_free(index);
  test_rows();
  return check_done();
}
