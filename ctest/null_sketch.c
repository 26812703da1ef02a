/* NULL for each pointer of petal_sketch.h. */
#include "check.h"

#include <petal_sketch.h>

static bool append(void *context, const void *bytes, size_t length) {
  return context && bytes && length;
}

/* Every pointer that has to be there is asked for. */
int main(void) {
  petal_sketch *sketch = NULL, *made = NULL;
  uint64_t number = 0;
  size_t count = 0;
  bool is_complete = false;
  double rate = 0;
  uint8_t id[PETAL_COMPATIBILITY_ID_SIZE];
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 3};
  CHECK_OK(petal_sketch_new(&spec, &sketch, NULL));
  petal_description description = {.struct_size = sizeof description};
#define NONE(call) CHECK_EQUAL(call, PETAL_ERR_NULL)
  NONE(petal_sketch_new(NULL, &made, NULL));
  NONE(petal_sketch_new(&spec, NULL, NULL));
  NONE(petal_sketch_copy(NULL, &made, NULL));
  NONE(petal_sketch_copy(sketch, NULL, NULL));
  NONE(petal_sketch_insert(NULL, "a", 1));
  NONE(petal_sketch_insert(sketch, NULL, 1));
  NONE(petal_sketch_insert_u64(NULL, 1));
  NONE(petal_sketch_insert_hash(NULL, 1));
  NONE(petal_sketch_insert_batch(NULL, U64_KEYS(&number, 1), NULL, NULL));
  NONE(petal_sketch_insert_batch(sketch, NULL, NULL, NULL));
  NONE(petal_sketch_remove(NULL, "a", 1));
  NONE(petal_sketch_remove(sketch, NULL, 1));
  NONE(petal_sketch_remove_u64(NULL, 1));
  NONE(petal_sketch_remove_hash(NULL, 1));
  NONE(petal_sketch_remove_batch(NULL, U64_KEYS(&number, 1), NULL, NULL));
  NONE(petal_sketch_remove_batch(sketch, NULL, NULL, NULL));
  NONE(petal_sketch_subtract(NULL, sketch, NULL));
  NONE(petal_sketch_subtract(sketch, NULL, NULL));
  NONE(petal_sketch_merge(NULL, sketch, NULL));
  NONE(petal_sketch_merge(sketch, NULL, NULL));
  NONE(petal_sketch_list(NULL, NULL, 0, &count, &is_complete, NULL));
  NONE(petal_sketch_list(sketch, NULL, 1, &count, &is_complete, NULL));
  NONE(petal_sketch_list(sketch, NULL, 0, NULL, &is_complete, NULL));
  NONE(petal_sketch_list(sketch, NULL, 0, &count, NULL, NULL));
  petal_presence presence = 0;
  uint32_t bits = 0;
  NONE(petal_sketch_get(NULL, "a", 1, &presence, NULL, NULL));
  NONE(petal_sketch_get(sketch, NULL, 1, &presence, NULL, NULL));
  NONE(petal_sketch_get(sketch, "a", 1, NULL, NULL, NULL));
  NONE(petal_sketch_get_u64(NULL, 1, &presence, NULL, NULL));
  NONE(petal_sketch_get_u64(sketch, 1, NULL, NULL, NULL));
  NONE(petal_sketch_get_hash(NULL, 1, &presence, NULL, NULL));
  NONE(petal_sketch_get_hash(sketch, 1, NULL, NULL, NULL));
  NONE(petal_sketch_value_bits(NULL, &bits, NULL));
  NONE(petal_sketch_value_bits(sketch, NULL, NULL));
  NONE(petal_sketch_insert_value(NULL, "a", 1, 1, NULL));
  NONE(petal_sketch_insert_value(sketch, NULL, 1, 1, NULL));
  NONE(petal_sketch_insert_value_u64(NULL, 1, 1, NULL));
  NONE(petal_sketch_insert_value_hash(NULL, 1, 1, NULL));
  NONE(petal_sketch_insert_value_batch(NULL, U64_KEYS(&number, 1), &number, NULL, NULL));
  NONE(petal_sketch_insert_value_batch(sketch, NULL, &number, NULL, NULL));
  NONE(petal_sketch_insert_value_batch(sketch, U64_KEYS(&number, 1), NULL, NULL, NULL));
  NONE(petal_sketch_remove_value(NULL, "a", 1, 1, NULL));
  NONE(petal_sketch_remove_value(sketch, NULL, 1, 1, NULL));
  NONE(petal_sketch_remove_value_u64(NULL, 1, 1, NULL));
  NONE(petal_sketch_remove_value_hash(NULL, 1, 1, NULL));
  NONE(petal_sketch_remove_value_batch(NULL, U64_KEYS(&number, 1), &number, NULL, NULL));
  NONE(petal_sketch_remove_value_batch(sketch, NULL, &number, NULL, NULL));
  NONE(petal_sketch_remove_value_batch(sketch, U64_KEYS(&number, 1), NULL, NULL, NULL));
  NONE(petal_sketch_list_values(NULL, NULL, 0, &count, &is_complete, NULL));
  NONE(petal_sketch_list_values(sketch, NULL, 1, &count, &is_complete, NULL));
  NONE(petal_sketch_list_values(sketch, NULL, 0, NULL, &is_complete, NULL));
  NONE(petal_sketch_list_values(sketch, NULL, 0, &count, NULL, NULL));
  NONE(petal_sketch_export_minisketch(NULL, NULL, 0, &count, NULL));
  NONE(petal_sketch_export_minisketch(sketch, NULL, 1, &count, NULL));
  NONE(petal_sketch_export_minisketch(sketch, NULL, 0, NULL, NULL));
  NONE(petal_sketch_import_minisketch(NULL, "x", 1, NULL));
  NONE(petal_sketch_import_minisketch(sketch, NULL, 1, NULL));
  NONE(petal_sketch_clear(NULL, NULL));
  CHECK_EQUAL(petal_sketch_capabilities(NULL), 0);
  NONE(petal_sketch_expected_failure_rate(NULL, 1, &rate, NULL));
  NONE(petal_sketch_expected_failure_rate(sketch, 1, NULL, NULL));
  NONE(petal_sketch_open(NULL, NULL, &made, NULL));
  NONE(petal_sketch_open("x", NULL, NULL, NULL));
  NONE(petal_sketch_open_descriptor(0, 0, NULL, NULL, NULL));
  NONE(petal_sketch_open_in_buffer(NULL, 8, NULL, &made, NULL));
  NONE(petal_sketch_open_in_buffer(&number, 8, NULL, NULL, NULL));
  NONE(petal_sketch_load(NULL, 8, NULL, &made, NULL));
  NONE(petal_sketch_load(&number, 8, NULL, NULL, NULL));
  NONE(petal_sketch_serialized_size(NULL, &number, NULL));
  NONE(petal_sketch_serialized_size(sketch, NULL, NULL));
  NONE(petal_sketch_serialize(NULL, &number, 8, NULL, NULL));
  NONE(petal_sketch_serialize(sketch, NULL, 8, NULL, NULL));
  NONE(petal_sketch_serialize_to(NULL, append, NULL, NULL));
  NONE(petal_sketch_serialize_to(sketch, NULL, NULL, NULL));
  NONE(petal_sketch_save(NULL, "x", NULL));
  NONE(petal_sketch_save(sketch, NULL, NULL));
  NONE(petal_sketch_sync(NULL, NULL));
  NONE(petal_sketch_vouch(NULL, NULL));
  NONE(petal_sketch_verify(NULL, NULL));
  NONE(petal_sketch_describe(NULL, &description, NULL));
  NONE(petal_sketch_describe(sketch, NULL, NULL));
  NONE(petal_sketch_compatibility_id(NULL, id, NULL));
  NONE(petal_sketch_compatibility_id(sketch, NULL, NULL));
  NONE(petal_sketch_keep_keys(NULL, NULL));
  CHECK(!petal_sketch_keeps_keys(NULL));
  CHECK_EQUAL(petal_sketch_symbols(NULL), 0);
  petal_sketch_free(sketch);
  return check_done();
}

