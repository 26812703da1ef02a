/* NULL for each pointer of petal_index.h. */
#include "check.h"

static bool append(void *context, const void *bytes, size_t length) {
  return context && bytes && length;
}

static bool take_row(void *context, uint64_t row, uint64_t id) {
  return context && row <= id;
}

static bool take(void *context, const petal_index_hit *hit) {
  return context && hit;
}

/* Every pointer that has to be there is asked for. */
int main(void) {
  petal_spec spec = PETAL_SPEC_INIT;
  spec.capacity = 1000;
  petal_index *index = NULL, *made = NULL;
  petal_index_builder *builder = NULL, *none = NULL;
  petal_index_hit hit = {0, 0, 0};
  petal_description description = PETAL_DESCRIPTION_INIT;
  uint64_t number = 0;
  size_t count = 0;
  char text[128] = {0};
  CHECK_OK(petal_index_new(&spec, &index, NULL));
  CHECK_OK(petal_index_builder_new(&spec, &builder, NULL));
#define NONE(call) CHECK_STATUS(call, PETAL_ERR_NULL)
  NONE(petal_index_new(NULL, &made, NULL));
  NONE(petal_index_new(&spec, NULL, NULL));
  NONE(petal_index_copy(NULL, &made, NULL));
  NONE(petal_index_copy(index, NULL, NULL));
  NONE(petal_index_add(NULL, 1, text, 128, NULL, NULL));
  NONE(petal_index_add(index, 1, NULL, 128, NULL, NULL));
  NONE(petal_index_remove(NULL, 1, NULL, NULL));
  NONE(petal_index_remove_row(NULL, 1, NULL, NULL));
  CHECK_EQUAL(petal_index_rows(NULL), 0);
  CHECK_EQUAL(petal_index_count(NULL), 0);
  CHECK_EQUAL(petal_index_width(NULL), 0);
  NONE(petal_index_row_at(NULL, 0, NULL, NULL, NULL, NULL));
  NONE(petal_index_copy_row(NULL, 0, text, 128, NULL));
  NONE(petal_index_copy_row(index, 0, NULL, 128, NULL));
  NONE(petal_index_find(NULL, 1, 0, &number, NULL));
  NONE(petal_index_find(index, 1, 0, NULL, NULL));
  NONE(petal_index_merge(NULL, index, NULL));
  NONE(petal_index_merge(index, NULL, NULL));
  NONE(petal_index_arranged(NULL, 0, &made, NULL));
  NONE(petal_index_arranged(index, 0, NULL, NULL));
  NONE(petal_index_merged(NULL, index, 0, &made, NULL));
  NONE(petal_index_merged(index, NULL, 0, &made, NULL));
  NONE(petal_index_merged(index, index, 0, NULL, NULL));
  NONE(petal_index_top(NULL, text, 128, 1, NULL, &hit, &count, NULL));
  NONE(petal_index_top(index, NULL, 128, 1, NULL, &hit, &count, NULL));
  NONE(petal_index_top(index, text, 128, 1, NULL, NULL, &count, NULL));
  NONE(petal_index_top(index, text, 128, 1, NULL, &hit, NULL, NULL));
  NONE(petal_index_at_least(NULL, text, 128, 1, NULL, &hit, 1, &count, NULL));
  NONE(petal_index_at_least(index, NULL, 128, 1, NULL, &hit, 1, &count, NULL));
  NONE(petal_index_at_least(index, text, 128, 1, NULL, NULL, 1, &count, NULL));
  NONE(petal_index_at_least(index, text, 128, 1, NULL, &hit, 1, NULL, NULL));
  NONE(petal_index_each_at_least(NULL, text, 128, 1, NULL, take, text, &number, NULL));
  NONE(petal_index_each_at_least(index, NULL, 128, 1, NULL, take, text, &number, NULL));
  NONE(petal_index_each_at_least(index, text, 128, 1, NULL, NULL, text, &number, NULL));
  NONE(petal_index_top_many(NULL, text, 1, 1, NULL, &hit, &count, NULL));
  NONE(petal_index_top_many(index, NULL, 1, 1, NULL, &hit, &count, NULL));
  NONE(petal_index_top_many(index, text, 1, 1, NULL, NULL, &count, NULL));
  NONE(petal_index_top_many(index, text, 1, 1, NULL, &hit, NULL, NULL));
  NONE(petal_index_at_least_many(NULL, text, 1, 1, NULL, &hit, 1, &count, NULL));
  NONE(petal_index_at_least_many(index, NULL, 1, 1, NULL, &hit, 1, &count, NULL));
  NONE(petal_index_at_least_many(index, text, 1, 1, NULL, NULL, 1, &count, NULL));
  NONE(petal_index_at_least_many(index, text, 1, 1, NULL, &hit, 1, NULL, NULL));
  double rate = 0;
  NONE(petal_index_contains_all(NULL, text, 128, NULL, &number, 1, &count, NULL));
  NONE(petal_index_contains_all(index, NULL, 128, NULL, &number, 1, &count, NULL));
  NONE(petal_index_contains_all(index, text, 128, NULL, NULL, 1, &count, NULL));
  NONE(petal_index_contains_all(index, text, 128, NULL, &number, 1, NULL, NULL));
  NONE(petal_index_each_contains_all(NULL, text, 128, NULL, take_row, text, &number, NULL));
  NONE(petal_index_each_contains_all(index, NULL, 128, NULL, take_row, text, &number, NULL));
  NONE(petal_index_each_contains_all(index, text, 128, NULL, NULL, text, &number, NULL));
  NONE(petal_index_fold_row(NULL, text, 128, PETAL_FOLD_MODULO, 64, text, 8, NULL));
  NONE(petal_index_fold_row(index, NULL, 128, PETAL_FOLD_MODULO, 64, text, 8, NULL));
  NONE(petal_index_fold_row(index, text, 128, PETAL_FOLD_MODULO, 64, NULL, 8, NULL));
  NONE(petal_index_false_positive_rate_of(NULL, text, 128, &rate, NULL));
  NONE(petal_index_false_positive_rate_of(index, NULL, 128, &rate, NULL));
  NONE(petal_index_false_positive_rate_of(index, text, 128, NULL, NULL));
  NONE(petal_index_add_feature(NULL, text, 128, "a", 1, 0, NULL));
  NONE(petal_index_add_feature(index, NULL, 128, "a", 1, 0, NULL));
  NONE(petal_index_add_feature(index, text, 128, NULL, 1, 0, NULL));
  NONE(petal_index_add_feature_hash(NULL, text, 128, 1, 0, NULL));
  NONE(petal_index_add_feature_hash(index, NULL, 128, 1, 0, NULL));
  NONE(petal_index_corrected(NULL, text, text, 128, &rate, NULL, NULL));
  NONE(petal_index_corrected(index, NULL, text, 128, &rate, NULL, NULL));
  NONE(petal_index_corrected(index, text, NULL, 128, &rate, NULL, NULL));
  NONE(petal_index_corrected(index, text, text, 128, NULL, NULL, NULL));
  NONE(petal_index_builder_new(NULL, &none, NULL));
  NONE(petal_index_builder_new(&spec, NULL, NULL));
  NONE(petal_index_builder_add(NULL, 1, text, 128, NULL));
  NONE(petal_index_builder_add(builder, 1, NULL, 128, NULL));
  NONE(petal_index_builder_finish(NULL, &made, NULL));
  NONE(petal_index_builder_finish(builder, NULL, NULL));
  NONE(petal_index_attach(NULL, "a", 1, NULL));
  NONE(petal_index_attach(index, NULL, 1, NULL));
  NONE(petal_index_attachment(NULL, text, 1, &count, NULL));
  NONE(petal_index_attachment(index, NULL, 1, &count, NULL));
  NONE(petal_index_attachment(index, text, 1, NULL, NULL));
  NONE(petal_index_clear(NULL, NULL));
  CHECK_EQUAL(petal_index_capabilities(NULL), 0);
  NONE(petal_index_open(NULL, NULL, &made, NULL));
  NONE(petal_index_open("file", NULL, NULL, NULL));
  NONE(petal_index_open_descriptor(0, 0, NULL, NULL, NULL));
  NONE(petal_index_serialize_to(NULL, append, text, NULL));
  NONE(petal_index_serialize_to(index, NULL, text, NULL));
  NONE(petal_index_open_in_buffer(NULL, 1, NULL, &made, NULL));
  NONE(petal_index_open_in_buffer(text, 1, NULL, NULL, NULL));
  NONE(petal_index_load(NULL, 1, NULL, &made, NULL));
  NONE(petal_index_load(text, 1, NULL, NULL, NULL));
  NONE(petal_index_serialized_size(NULL, &number, NULL));
  NONE(petal_index_serialized_size(index, NULL, NULL));
  NONE(petal_index_serialize(NULL, text, 100, &count, NULL));
  NONE(petal_index_serialize(index, NULL, 100, &count, NULL));
  NONE(petal_index_save(NULL, "file", NULL));
  NONE(petal_index_save(index, NULL, NULL));
  NONE(petal_index_verify(NULL, NULL));
  NONE(petal_index_describe(NULL, &description, NULL));
  NONE(petal_index_describe(index, NULL, NULL));
  NONE(petal_index_sync(NULL, NULL));
  NONE(petal_index_vouch(NULL, NULL));
  CHECK(made == NULL && none == NULL && number == 0 && count == 0);
  petal_index_free(index);
  petal_index_free(NULL);
  petal_index_builder_free(builder);
  petal_index_builder_free(NULL);
  return check_done();
}
