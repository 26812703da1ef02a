/* NULL for each pointer of petal_digest.h. */
#include "check.h"

static bool append(void *context, const void *bytes, size_t length) {
  return context && bytes && length;
}

/* Every pointer that has to be there is asked for. */
int main(void) {
  petal_spec spec = PETAL_SPEC_INIT;
  spec.capacity = 1000;
  petal_digest *digest = NULL, *made = NULL;
  petal_digest_found found = PETAL_DIGEST_FOUND_INIT;
  petal_digest_match match = {0, 0, 0};
  petal_digest_statistics statistics = PETAL_DIGEST_STATISTICS_INIT;
  petal_description description = PETAL_DESCRIPTION_INIT;
  uint64_t number = 0;
  size_t count = 0;
  double rate = 0;
  char text[100] = {0};
  CHECK_OK(petal_digest_new(&spec, &digest, NULL));
#define NONE(call) CHECK_STATUS(call, PETAL_ERR_NULL)
  NONE(petal_digest_new(NULL, &made, NULL));
  NONE(petal_digest_new(&spec, NULL, NULL));
  NONE(petal_digest_copy(NULL, &made, NULL));
  NONE(petal_digest_copy(digest, NULL, NULL));
  NONE(petal_digest_add(NULL, 1, "a", 1, NULL));
  NONE(petal_digest_add(digest, 1, NULL, 1, NULL));
  NONE(petal_digest_begin(NULL, 1, NULL));
  NONE(petal_digest_write(NULL, "a", 1, NULL));
  NONE(petal_digest_write(digest, NULL, 1, NULL));
  NONE(petal_digest_end(NULL, NULL));
  NONE(petal_digest_find(NULL, text, 100, NULL, &match, 1, &found, NULL));
  NONE(petal_digest_find(digest, NULL, 100, NULL, &match, 1, &found, NULL));
  NONE(petal_digest_find(digest, text, 100, NULL, NULL, 1, &found, NULL));
  NONE(petal_digest_find(digest, text, 100, NULL, &match, 1, NULL, NULL));
  CHECK_EQUAL(petal_digest_shortest_excerpt(NULL), 0);
  NONE(petal_digest_shortest_excerpt_at(NULL, .1, &number, NULL));
  NONE(petal_digest_shortest_excerpt_at(digest, .1, NULL, NULL));
  NONE(petal_digest_expected_rate(NULL, 100, &rate, NULL));
  NONE(petal_digest_expected_rate(digest, 100, NULL, NULL));
  NONE(petal_digest_measure(NULL, &statistics, NULL));
  NONE(petal_digest_measure(digest, NULL, NULL));
  NONE(petal_digest_payload_at(NULL, 0, &number, &number, NULL));
  NONE(petal_digest_attach(NULL, "a", 1, NULL));
  NONE(petal_digest_attach(digest, NULL, 1, NULL));
  NONE(petal_digest_attachment(NULL, text, 1, &count, NULL));
  NONE(petal_digest_attachment(digest, NULL, 1, &count, NULL));
  NONE(petal_digest_attachment(digest, text, 1, NULL, NULL));
  NONE(petal_digest_clear(NULL, NULL));
  NONE(petal_digest_open(NULL, NULL, &made, NULL));
  NONE(petal_digest_open("file", NULL, NULL, NULL));
  NONE(petal_digest_open_descriptor(0, 0, NULL, NULL, NULL));
  NONE(petal_digest_serialize_to(NULL, append, text, NULL));
  NONE(petal_digest_serialize_to(digest, NULL, text, NULL));
  CHECK_EQUAL(petal_digest_capabilities(NULL), 0);
  NONE(petal_digest_open_in_buffer(NULL, 1, NULL, &made, NULL));
  NONE(petal_digest_open_in_buffer(text, 1, NULL, NULL, NULL));
  NONE(petal_digest_load(NULL, 1, NULL, &made, NULL));
  NONE(petal_digest_load(text, 1, NULL, NULL, NULL));
  NONE(petal_digest_serialized_size(NULL, &number, NULL));
  NONE(petal_digest_serialized_size(digest, NULL, NULL));
  NONE(petal_digest_serialize(NULL, text, 100, &count, NULL));
  NONE(petal_digest_serialize(digest, NULL, 100, &count, NULL));
  NONE(petal_digest_save(NULL, "file", NULL));
  NONE(petal_digest_save(digest, NULL, NULL));
  NONE(petal_digest_verify(NULL, NULL));
  NONE(petal_digest_describe(NULL, &description, NULL));
  NONE(petal_digest_describe(digest, NULL, NULL));
  NONE(petal_digest_sync(NULL, NULL));
  NONE(petal_digest_vouch(NULL, NULL));
  CHECK(made == NULL && found.matches == 0 && number == 0 && count == 0 && rate == 0);
  petal_digest_free(digest);
  petal_digest_free(NULL);
  return check_done();
}
