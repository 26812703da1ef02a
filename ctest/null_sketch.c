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
  CHECK_EQUAL(petal_sketch_key_bytes(NULL), 0);
  NONE(petal_sketch_list_keys(NULL, NULL, NULL, 0, &count, &is_complete, NULL));
  NONE(petal_sketch_list_keys(sketch, NULL, NULL, 0, NULL, &is_complete, NULL));
  NONE(petal_sketch_list_keys(sketch, NULL, NULL, 0, &count, NULL, NULL));
  CHECK(!petal_sketch_keeps_keys(NULL));
  CHECK_EQUAL(petal_sketch_symbols(NULL), 0);
  petal_spec whole = {.struct_size = sizeof whole, .kind = PETAL_KIND_RIBLT, .bits = 192 * 8};
  CHECK_OK(petal_spec_set(&whole, "key_bytes", 8, NULL));
  petal_sketch *riblt = NULL;
  petal_stream *stream = NULL, *other = NULL;
  CHECK_OK(petal_sketch_new(&whole, &riblt, NULL));
  CHECK_OK(petal_stream_new(riblt, &stream, NULL));
  int64_t counts[1];
  NONE(petal_sketch_list_keys(riblt, NULL, counts, 1, &count, &is_complete, NULL));
  NONE(petal_sketch_list_keys(riblt, id, NULL, 1, &count, &is_complete, NULL));
  NONE(petal_stream_new(NULL, &other, NULL));
  NONE(petal_stream_new(riblt, NULL, NULL));
  NONE(petal_stream_set_limit(NULL, 1, NULL));
  NONE(petal_stream_write(NULL, 1, id, sizeof id, &count, NULL));
  NONE(petal_stream_write(stream, 1, NULL, 100, &count, NULL));
  NONE(petal_stream_write(stream, 1, id, sizeof id, NULL, NULL));
  NONE(petal_stream_read(NULL, id, sizeof id, &is_complete, NULL));
  NONE(petal_stream_read(stream, NULL, 1, &is_complete, NULL));
  NONE(petal_stream_read(stream, id, sizeof id, NULL, NULL));
  NONE(petal_stream_list(NULL, NULL, 0, &count, &is_complete, NULL));
  NONE(petal_stream_list(stream, NULL, 0, NULL, &is_complete, NULL));
  NONE(petal_stream_list(stream, NULL, 0, &count, NULL, NULL));
  NONE(petal_stream_list_keys(NULL, NULL, NULL, 0, &count, &is_complete, NULL));
  NONE(petal_stream_list_keys(stream, NULL, counts, 1, &count, &is_complete, NULL));
  NONE(petal_stream_list_keys(stream, NULL, NULL, 0, NULL, &is_complete, NULL));
  NONE(petal_stream_list_keys(stream, NULL, NULL, 0, &count, NULL, NULL));
  CHECK_EQUAL(petal_stream_symbols_written(NULL), 0);
  CHECK_EQUAL(petal_stream_symbols_read(NULL), 0);
  petal_stream_free(stream);
  petal_sketch_free(riblt);
  petal_sketch_free(sketch);
  return check_done();
}

