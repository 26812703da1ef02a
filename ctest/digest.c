/* DIGESTS, held to the payloads that they took. */
#include "check.h"

#include <fcntl.h>

#define PAYLOADS 40
#define LENGTH 3000

static unsigned char payloads[PAYLOADS][LENGTH];

/* Random bytes, the same every time: each from SplitMix64. */
static void fill(unsigned char *bytes, size_t length, uint64_t seed) {
  for (size_t i = 0; i < length; i++) {
    uint64_t x = check_key(seed * 100000 + i);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    bytes[i] = (unsigned char)((x ^ (x >> 31)) >> 56);
  }
}

static petal_digest *make(double cut, double ids, double bytes_per_byte) {
  petal_spec spec = PETAL_SPEC_INIT;
  spec.kind = PETAL_KIND_DIGEST;
  spec.capacity = PAYLOADS * LENGTH;
  CHECK_OK(petal_spec_set(&spec, "cut", cut, NULL));
  CHECK_OK(petal_spec_set(&spec, "payloads", ids, NULL));
  CHECK_OK(petal_spec_set(&spec, "bytes_per_byte", bytes_per_byte, NULL));
  CHECK_OK(petal_spec_set(&spec, "attachment_bytes", 10, NULL));
  petal_digest *digest = NULL;
  petal_error error = PETAL_ERROR_INIT;
  CHECK_STATUS(petal_digest_new(&spec, &digest, &error), PETAL_OK);
  return digest;
}

/* Whether the excerpt is found in a payload at an offset. */
static bool finds(const petal_digest *digest, uint64_t payload, uint64_t at, size_t length) {
  petal_digest_match matches[64];
  petal_digest_find_result result = PETAL_DIGEST_FIND_RESULT_INIT;
  CHECK_OK(petal_digest_find(digest, payloads[payload] + at, length, NULL, matches, 64, &result, NULL));
  CHECK(result.is_complete == 1 && result.rate >= 0 && result.rate < 1 && result.lookups > 0);
  for (size_t i = 0; i < result.match_count; i++) {
    bool is_named = !result.names_payloads || matches[i].payload == payload;
    if (is_named && matches[i].offset <= at && at < matches[i].offset + matches[i].span) return true;
  }
  return false;
}

/* Excerpts are found where they were, and non-members are not; pieces are as whole payloads. */
static void test_find(double cut) {
  petal_digest *whole = make(cut, PAYLOADS, .2), *pieces = make(cut, PAYLOADS, .2);
  for (uint64_t i = 0; i < PAYLOADS; i++) {
    CHECK_OK(petal_digest_add(whole, i, payloads[i], LENGTH, NULL));
    CHECK_OK(petal_digest_begin(pieces, i, NULL));
    CHECK_OK(petal_digest_write(pieces, payloads[i], 1001, NULL));
    CHECK_OK(petal_digest_write(pieces, NULL, 0, NULL));
    CHECK_OK(petal_digest_write(pieces, payloads[i] + 1001, LENGTH - 1001, NULL));
    CHECK_STATUS(petal_digest_begin(pieces, i, NULL), PETAL_ERR_CONTRADICTION);
    CHECK_OK(petal_digest_end(pieces, NULL));
  }
  CHECK_STATUS(petal_digest_end(pieces, NULL), PETAL_ERR_CONTRADICTION);
  uint64_t size = 0;
  CHECK_OK(petal_digest_serialized_size(whole, &size, NULL));
  unsigned char *images[2] = {malloc(size), malloc(size)};
  size_t written = 0;
  CHECK_OK(petal_digest_serialize(whole, images[0], size, &written, NULL));
  CHECK_OK(petal_digest_serialize(pieces, images[1], size, NULL, NULL));
  CHECK(written == size && memcmp(images[0], images[1], size) == 0);
  for (uint64_t i = 0; i < PAYLOADS; i++) CHECK(finds(whole, i, 37 * i, 400));
  unsigned char non_member[400];
  fill(non_member, sizeof non_member, 999);
  petal_digest_find_result result = PETAL_DIGEST_FIND_RESULT_INIT;
  CHECK_OK(petal_digest_find(whole, non_member, sizeof non_member, NULL, NULL, 0, &result, NULL));
  CHECK(result.match_count == 0 && result.is_complete == 1 && result.rate < 1e-6);

  petal_digest *loaded = NULL, *copy = NULL;
  CHECK_OK(petal_digest_load(images[0], size, NULL, &loaded, NULL));
  CHECK_OK(petal_digest_copy(loaded, &copy, NULL));
  CHECK_OK(petal_digest_verify(copy, NULL));
  CHECK(finds(copy, 3, 500, 300));
  petal_digest_free(whole);
  petal_digest_free(pieces);
  petal_digest_free(loaded);
  petal_digest_free(copy);

  /* In place: read, and refused to be changed. */
  petal_digest *read = NULL;
  CHECK_OK(petal_digest_open_in_buffer(images[1], size, NULL, &read, NULL));
  CHECK(finds(read, 5, 1234, 333));
  CHECK_STATUS(petal_digest_add(read, 1, "x", 1, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  petal_digest_free(read);
  free(images[0]);
  free(images[1]);
}

/* Rates fall with the length, and the shortest excerpt of a rate has it. */
static void test_rates(void) {
  petal_digest *digest = make(0, PAYLOADS, .05);
  for (uint64_t i = 0; i < PAYLOADS; i++) CHECK_OK(petal_digest_add(digest, i, payloads[i], LENGTH, NULL));
  CHECK_EQUAL(petal_digest_shortest_excerpt(digest), 63);
  CHECK_EQUAL(petal_digest_shortest_excerpt(NULL), 0);
  double last = 1.1, rate = 0;
  for (uint64_t length = 62; length < 400; length += 64) {
    CHECK_OK(petal_digest_expected_rate(digest, length, &rate, NULL));
    CHECK(rate < last);
    last = rate;
  }
  uint64_t length = 0;
  CHECK_OK(petal_digest_shortest_excerpt_at(digest, 1e-6, &length, NULL));
  CHECK_OK(petal_digest_expected_rate(digest, length, &rate, NULL));
  CHECK(length > 63 && rate <= 1e-6);
  CHECK_STATUS(petal_digest_shortest_excerpt_at(digest, 1, &length, NULL), PETAL_ERR_FALSE_POSITIVE_RATE);
  petal_digest_statistics statistics = PETAL_DIGEST_STATISTICS_INIT;
  CHECK_OK(petal_digest_get_statistics(digest, &statistics, NULL));
  /* 93 blocks of a payload, each with its segment and without; two segments of 2,048 bytes. */
  CHECK_EQUAL(statistics.payloads, PAYLOADS);
  CHECK_EQUAL(statistics.segments, 2 * PAYLOADS);
  CHECK_EQUAL(statistics.longest, LENGTH);
  CHECK_EQUAL(statistics.entries, PAYLOADS * 93 * 2);
  CHECK(statistics.fill > .4 && statistics.fill < .6 && statistics.entry_rate < .1);
  petal_description description = PETAL_DESCRIPTION_INIT;
  CHECK_OK(petal_digest_describe(digest, &description, NULL));
  CHECK_EQUAL(description.kind, PETAL_KIND_DIGEST);
  CHECK_EQUAL(description.insertions, PAYLOADS * LENGTH);
  petal_digest_free(digest);
}

/* What is refused has an error, and searches are bounded. */
static void test_bounds(void) {
  petal_digest *digest = make(0, 2, .5);
  static unsigned char zeros[100000];
  CHECK_OK(petal_digest_add(digest, 11, zeros, sizeof zeros, NULL));
  petal_error error = PETAL_ERROR_INIT;
  petal_digest_find_result result = PETAL_DIGEST_FIND_RESULT_INIT;
  petal_digest_match matches[4];
  CHECK_STATUS(petal_digest_find(digest, zeros, 62, NULL, matches, 4, &result, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_TEXT(error.message, "an excerpt of 62 bytes is shorter than 63");
  CHECK_OK(petal_digest_find(digest, zeros, 1000, NULL, matches, 4, &result, NULL));
  CHECK(result.match_count == 4 && result.is_complete == 0 && matches[3].payload == 11);
  petal_digest_find_options options = PETAL_DIGEST_FIND_OPTIONS_INIT;
  options.max_excerpt = 500;
  options.max_lookups = 100;
  CHECK_STATUS(petal_digest_find(digest, zeros, 501, &options, NULL, 0, &result, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_OK(petal_digest_find(digest, payloads[0], 500, &options, NULL, 0, &result, NULL));
  CHECK(result.is_complete == 0 && result.lookups <= 100);
  CHECK_OK(petal_digest_add(digest, 12, payloads[0], LENGTH, NULL));
  CHECK_STATUS(petal_digest_add(digest, 13, payloads[1], LENGTH, &error), PETAL_ERR_FULL);
  uint64_t id = 0, length = 0;
  CHECK_OK(petal_digest_get_payload_at(digest, 1, &id, &length, NULL));
  CHECK(id == 12 && length == LENGTH);
  CHECK_OK(petal_digest_get_payload_at(digest, 1, NULL, NULL, NULL));
  CHECK_STATUS(petal_digest_get_payload_at(digest, 2, &id, NULL, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_OK(petal_digest_attach(digest, "two\0names", 9, NULL));
  CHECK_STATUS(petal_digest_attach(digest, zeros, 11, &error), PETAL_ERR_TOO_LARGE);
  char names[20] = {0};
  size_t kept = 0;
  CHECK_OK(petal_digest_get_attachment(digest, names, sizeof names, &kept, NULL));
  CHECK(kept == 9 && memcmp(names, "two\0names", 10) == 0);
  CHECK_OK(petal_digest_get_attachment(digest, NULL, 0, &kept, NULL));
  CHECK_OK(petal_digest_clear(digest, NULL));
  CHECK_OK(petal_digest_get_attachment(digest, NULL, 0, &kept, NULL));
  CHECK_EQUAL(kept, 0);
  petal_digest_free(digest);

  /* One byte repeated has no cut by content. */
  petal_digest *content = make(1, 0, .5);
  CHECK_OK(petal_digest_add(content, 1, payloads[0], LENGTH, NULL));
  CHECK_STATUS(petal_digest_find(content, zeros, 1000, NULL, NULL, 0, &result, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_OK(petal_digest_find(content, payloads[0] + 100, 500, NULL, matches, 4, &result, NULL));
  CHECK(result.match_count == 1 && !result.names_payloads && matches[0].payload == 0);
  petal_digest_free(content);

  petal_spec spec = PETAL_SPEC_INIT;
  petal_digest *none = NULL;
  spec.kind = PETAL_KIND_BLOOM;
  CHECK_STATUS(petal_digest_new(&spec, &none, &error), PETAL_ERR_UNSUPPORTED);
  petal_filter *filter = NULL;
  spec.kind = PETAL_KIND_DIGEST;
  CHECK_STATUS(petal_filter_new(&spec, &filter, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(none == NULL && filter == NULL);
}

/* The bytes of an image, as they come. */
typedef struct {
  unsigned char *bytes;
  size_t length;
} taken;

static bool take(void *context, const void *bytes, size_t length) {
  taken *to = context;
  memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
  return true;
}

/* Files: saved, changed in place, read. */
static void test_files(void) {
  char path[] = "/tmp/petal_digest_XXXXXX";
  int descriptor = mkstemp(path);
  CHECK(descriptor >= 0);
  close(descriptor);
  petal_digest *digest = make(0, PAYLOADS, .2), *opened = NULL;
  CHECK_OK(petal_digest_save(digest, path, NULL));
  petal_digest_free(digest);
  petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
  options.mode = PETAL_OPEN_WRITE;
  CHECK_OK(petal_digest_open(path, &options, &opened, NULL));
  CHECK_OK(petal_digest_add(opened, 4, payloads[4], LENGTH, NULL));
  CHECK_OK(petal_digest_sync(opened, NULL));
  CHECK_OK(petal_digest_mark_clean(opened, NULL));
  CHECK_EQUAL(petal_digest_capabilities(opened), PETAL_CAN_INSERT | PETAL_CAN_CLEAR);
  uint64_t size = 0;
  CHECK_OK(petal_digest_serialized_size(opened, &size, NULL));
  taken image = {malloc(size), 0};
  CHECK_OK(petal_digest_serialize_to(opened, take, &image, NULL));
  CHECK_EQUAL(image.length, size);
  free(image.bytes);
  petal_digest_free(opened);
  descriptor = open(path, O_RDONLY);
  CHECK_OK(petal_digest_open_descriptor(check_descriptor(descriptor), 0, NULL, &opened, NULL));
  close(descriptor);
  CHECK(finds(opened, 4, 1500, 200));
  petal_digest_free(opened);
  CHECK_OK(petal_digest_open(path, NULL, &opened, NULL));
  CHECK_OK(petal_digest_verify(opened, NULL));
  CHECK(finds(opened, 4, 1000, 200));
  petal_digest_free(opened);
  remove(path);
}

int main(void) {
  for (uint64_t i = 0; i < PAYLOADS; i++) fill(payloads[i], LENGTH, i);
  test_find(0);
  test_find(1);
  test_rates();
  test_bounds();
  test_files();
  return check_done();
}
