/* SKETCHES, held to sets that are known. */
#include "check.h"

#include <petal_sketch.h>

#define COUNT 20000

static petal_sketch *make(uint64_t capacity) {
  petal_spec spec = {.struct_size = sizeof spec, .capacity = capacity, .false_positive_rate = 1e-6};
  petal_sketch *sketch = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_status status = petal_sketch_new(&spec, &sketch, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "new sketch: %s", error.message);
  return sketch;
}

static size_t list(const petal_sketch *sketch, petal_sketch_listed *listed, size_t room, bool *is_complete) {
  size_t count = 12345;
  CHECK_OK(petal_sketch_list(sketch, listed, room, &count, is_complete, NULL));
  return count;
}

/* What only one of two sets has is listed, with its sign, in ascending order. */
static void differences(void) {
  petal_sketch *ours = make(50), *theirs = make(50);
  static uint64_t numbers[COUNT];
  for (uint64_t i = 0; i < COUNT; i++) numbers[i] = i;
  petal_answers answers = ANSWERS(.done = 99);
  CHECK_OK(petal_sketch_insert_batch(ours, U64_KEYS(numbers, COUNT), &answers, NULL));
  CHECK_EQUAL(answers.done, COUNT);
  CHECK_OK(petal_sketch_insert_batch(theirs, U64_KEYS(numbers + 30, COUNT - 30), NULL, NULL));
  for (uint64_t i = 0; i < 20; i++) CHECK_OK(petal_sketch_insert_u64(theirs, COUNT + i));
  bool is_complete = true;
  petal_sketch_listed listed[64];
  list(ours, listed, 64, &is_complete);
  CHECK(!is_complete);
  CHECK_OK(petal_sketch_subtract(ours, theirs, NULL));
  CHECK_EQUAL(list(ours, NULL, 0, &is_complete), 50);
  CHECK(is_complete);
  CHECK_EQUAL(list(ours, listed, 64, &is_complete), 50);
  for (uint64_t i = 0; i < 20; i++) CHECK(listed[i].number == COUNT + i && listed[i].sign == -1);
  for (uint64_t i = 0; i < 30; i++) CHECK(listed[20 + i].number == i && listed[20 + i].sign == 1);
  /* Only the first are written where there is no room for all. */
  listed[1].number = 77;
  CHECK_EQUAL(list(ours, listed, 1, &is_complete), 50);
  CHECK_EQUAL(listed[1].number, 77);
  /* What is put back is gone. */
  CHECK_OK(petal_sketch_remove_batch(ours, U64_KEYS(numbers, 30), NULL, NULL));
  for (uint64_t i = 0; i < 20; i++) CHECK_OK(petal_sketch_insert_u64(ours, COUNT + i));
  CHECK_EQUAL(list(ours, listed, 64, &is_complete), 0);
  CHECK(is_complete);
  /* A sketch less itself is empty, and with itself has all twice, so that nothing is listed. */
  petal_sketch *copy = NULL;
  CHECK_OK(petal_sketch_copy(theirs, &copy, NULL));
  CHECK_OK(petal_sketch_subtract(copy, copy, NULL));
  CHECK_EQUAL(list(copy, listed, 64, &is_complete), 0);
  CHECK_OK(petal_sketch_insert_u64(copy, 5));
  CHECK_OK(petal_sketch_merge(copy, copy, NULL));
  CHECK_EQUAL(list(copy, listed, 64, &is_complete), 0);
  CHECK(!is_complete);
  CHECK_OK(petal_sketch_clear(copy, NULL));
  CHECK_EQUAL(list(copy, listed, 64, &is_complete), 0);
  CHECK(is_complete);
  petal_sketch_free(copy);
  petal_sketch_free(theirs);
  petal_sketch_free(ours);
}

/* Numbers are listed as they are, and byte keys as their hashes. */
static void forms(void) {
  petal_sketch *sketch = make(20);
  petal_spec spec = {.struct_size = sizeof spec};
  uint64_t apple = 0, pear = 0;
  CHECK_OK(petal_spec_hash(&spec, "apple", 5, &apple, NULL));
  CHECK_OK(petal_spec_hash(&spec, "pear", 4, &pear, NULL));
  CHECK_OK(petal_sketch_insert(sketch, "apple", 5));
  CHECK_OK(petal_sketch_insert_u64(sketch, 7));
  CHECK_OK(petal_sketch_insert_hash(sketch, 8));
  CHECK_OK(petal_sketch_remove(sketch, "pear", 4));
  CHECK_OK(petal_sketch_remove_u64(sketch, 9));
  CHECK_OK(petal_sketch_remove_hash(sketch, 10));
  petal_sketch_listed listed[6];
  bool is_complete = false;
  CHECK_EQUAL(list(sketch, listed, 6, &is_complete), 6);
  CHECK(is_complete);
  CHECK(listed[0].number == 9 && listed[1].number == 10 && listed[2].number == pear && listed[2].sign == -1);
  CHECK(listed[3].number == 7 && listed[4].number == 8 && listed[5].number == apple && listed[5].sign == 1);
  petal_sketch_free(sketch);
}

static petal_sketch_presence presence_of(const petal_sketch *sketch, uint64_t number, petal_sketch_pair *pair) {
  petal_sketch_presence presence = 99;
  CHECK_OK(petal_sketch_get_u64(sketch, number, &presence, pair, NULL));
  return presence;
}

/* A sketch of few numbers knows which they are. */
static void lookups(void) {
  petal_sketch *sketch = make(20);
  petal_spec spec = {.struct_size = sizeof spec};
  uint64_t apple = 0;
  CHECK_OK(petal_spec_hash(&spec, "apple", 5, &apple, NULL));
  CHECK_OK(petal_sketch_insert(sketch, "apple", 5));
  CHECK_OK(petal_sketch_remove_u64(sketch, 7));
  petal_sketch_presence presence = 99;
  petal_sketch_pair pair = {.value = 1};
  CHECK_OK(petal_sketch_get(sketch, "apple", 5, &presence, &pair, NULL));
  CHECK(presence == PETAL_SKETCH_PRESENCE_PRESENT && pair.number == apple && pair.sign == 1 && pair.value == 0);
  CHECK_OK(petal_sketch_get_hash(sketch, apple, &presence, NULL, NULL));
  CHECK(presence == PETAL_SKETCH_PRESENCE_PRESENT);
  CHECK(presence_of(sketch, 7, &pair) == PETAL_SKETCH_PRESENCE_PRESENT && pair.sign == -1);
  CHECK(presence_of(sketch, 8, &pair) == PETAL_SKETCH_PRESENCE_ABSENT && pair.sign == 0 && pair.number == 8);
  for (uint64_t i = 0; i < 1000; i++) CHECK_OK(petal_sketch_insert_u64(sketch, 100 + i));
  CHECK(presence_of(sketch, 7, &pair) == PETAL_SKETCH_PRESENCE_UNKNOWN && pair.sign == 0);
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_sketch_insert_value_u64(sketch, 1, 2, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(strstr(error.message, "value_bits = 64"));
  size_t count = 0;
  bool is_complete = false;
  CHECK_EQUAL(petal_sketch_list_values(sketch, NULL, 0, &count, &is_complete, NULL), PETAL_ERR_UNSUPPORTED);
  petal_sketch_free(sketch);
  petal_spec rateless = {.struct_size = sizeof rateless, .kind = PETAL_KIND_RIBLT, .capacity = 20};
  CHECK_OK(petal_sketch_new(&rateless, &sketch, NULL));
  CHECK_EQUAL(petal_sketch_get_u64(sketch, 1, &presence, NULL, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(strstr(error.message, "riblt cannot get"));
  petal_sketch_free(sketch);
}

/* Numbers have values, and of a number whose value differs both values are listed. */
static void values(void) {
  petal_spec spec = {
      .struct_size = sizeof spec, .kind = PETAL_KIND_IBLT, .capacity = 20, .false_positive_rate = 1e-6};
  CHECK_OK(petal_spec_set(&spec, "value_bits", 64, NULL));
  petal_sketch *ours = NULL, *theirs = NULL;
  CHECK_OK(petal_sketch_new(&spec, &ours, NULL));
  CHECK_OK(petal_sketch_new(&spec, &theirs, NULL));
  uint64_t numbers[500], given[500];
  for (uint64_t i = 0; i < 500; i++) numbers[i] = i, given[i] = 3 * i;
  petal_answers answers = ANSWERS(.done = 99);
  CHECK_OK(petal_sketch_insert_value_batch(ours, U64_KEYS(numbers, 500), given, &answers, NULL));
  CHECK_EQUAL(answers.done, 500);
  given[5] = 1;
  CHECK_OK(petal_sketch_insert_value_batch(theirs, U64_KEYS(numbers, 500), given, NULL, NULL));
  CHECK_OK(petal_sketch_subtract(ours, theirs, NULL));
  CHECK_OK(petal_sketch_insert_value(ours, "apple", 5, 10, NULL));
  CHECK_OK(petal_sketch_insert_value_u64(ours, 1000, 20, NULL));
  CHECK_OK(petal_sketch_insert_value_hash(ours, 1001, 30, NULL));
  petal_sketch_pair pairs[6];
  size_t count = 0;
  bool is_complete = false;
  uint32_t bits = 0;
  CHECK_OK(petal_sketch_value_bits(ours, &bits, NULL));
  CHECK_EQUAL(bits, 64);
  CHECK_OK(petal_sketch_list_values(ours, pairs, 2, &count, &is_complete, NULL));
  CHECK(is_complete && count == 5);
  CHECK(pairs[0].number == 5 && pairs[0].value == 1 && pairs[0].sign == -1);
  CHECK(pairs[1].number == 5 && pairs[1].value == 15 && pairs[1].sign == 1);
  CHECK(presence_of(ours, 1001, pairs) == PETAL_SKETCH_PRESENCE_PRESENT && pairs[0].value == 30);
  CHECK_OK(petal_sketch_remove_value(ours, "apple", 5, 10, NULL));
  CHECK_OK(petal_sketch_remove_value_u64(ours, 1000, 20, NULL));
  CHECK_OK(petal_sketch_remove_value_hash(ours, 1001, 30, NULL));
  CHECK_OK(petal_sketch_remove_value_batch(ours, U64_KEYS(numbers + 5, 1), (uint64_t[]){15}, NULL, NULL));
  CHECK_OK(petal_sketch_insert_value_u64(ours, 5, 1, NULL));
  CHECK_OK(petal_sketch_list_values(ours, NULL, 0, &count, &is_complete, NULL));
  CHECK(is_complete && count == 0);
  petal_sketch_free(theirs);
  petal_sketch_free(ours);
}

static bool append(void *context, const void *bytes, size_t length) {
  unsigned char **end = context;
  memcpy(*end, bytes, length);
  *end += length;
  return true;
}

/* The image comes back, and is changed in place. */
static void images(void) {
  petal_sketch *sketch = make(30), *other = NULL;
  for (uint64_t i = 0; i < 10; i++) CHECK_OK(petal_sketch_insert_u64(sketch, i));
  uint64_t size = 0;
  size_t written = 0;
  CHECK_OK(petal_sketch_serialized_size(sketch, &size, NULL));
  uint64_t *image = calloc(2, size), *streamed = image + size / 8;
  unsigned char *end = (unsigned char *)streamed;
  CHECK_OK(petal_sketch_serialize(sketch, image, size, &written, NULL));
  CHECK_EQUAL(written, size);
  CHECK_OK(petal_sketch_serialize_to(sketch, append, &end, NULL));
  CHECK(memcmp(image, streamed, size) == 0);
  petal_sketch_listed listed[30];
  bool is_complete = false;
  CHECK_OK(petal_sketch_load(image, size, NULL, &other, NULL));
  CHECK_EQUAL(list(other, listed, 30, &is_complete), 10);
  petal_sketch_free(other);
  petal_open_options options = {.struct_size = sizeof options, .mode = PETAL_OPEN_WRITE};
  CHECK_OK(petal_sketch_open_in_buffer(image, size, &options, &other, NULL));
  CHECK_OK(petal_sketch_insert_u64(other, 100));
  CHECK_OK(petal_sketch_sync(other, NULL));
  CHECK_OK(petal_sketch_verify(other, NULL));
  CHECK_EQUAL(list(other, listed, 30, &is_complete), 11);
  CHECK_OK(petal_sketch_mark_clean(other, NULL));
  petal_sketch_free(other);
  const char *path = check_path("sketch.petal");
  CHECK_OK(petal_sketch_save(sketch, path, NULL));
  CHECK_OK(petal_sketch_open(path, NULL, &other, NULL));
  CHECK_EQUAL(list(other, listed, 30, &is_complete), 10);
  CHECK_EQUAL(petal_sketch_insert_u64(other, 1), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  CHECK(!(petal_sketch_capabilities(other) & PETAL_CAN_INSERT));
  CHECK(petal_sketch_capabilities(sketch) & PETAL_CAN_SUBTRACT && petal_sketch_capabilities(other) & PETAL_CAN_LIST);
  petal_sketch_free(other);
  FILE *file = fopen(path, "rb");
  CHECK_OK(petal_sketch_open_descriptor(check_descriptor(fileno(file)), 0, NULL, &other, NULL));
  CHECK_EQUAL(list(other, listed, 30, &is_complete), 10);
  uint8_t id[PETAL_COMPATIBILITY_ID_SIZE], other_id[PETAL_COMPATIBILITY_ID_SIZE];
  CHECK_OK(petal_sketch_get_compatibility_id(sketch, id, NULL));
  CHECK_OK(petal_sketch_get_compatibility_id(other, other_id, NULL));
  CHECK(memcmp(id, other_id, sizeof id) == 0);
  petal_sketch_free(other);
  fclose(file);
  remove(path);
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_sketch_describe(sketch, &description, NULL));
  CHECK(description.kind == PETAL_KIND_IBLT && description.insertions == 10 && description.capacity == 30);
  CHECK(description.hashes >= 3 && description.bits % (192 * description.hashes) == 0);
  double rate = 2;
  CHECK_OK(petal_sketch_expected_failure_rate(sketch, 30, &rate, NULL));
  CHECK(rate > 0 && rate <= 1e-6);
  /* A filter's functions say what it is. */
  petal_filter *filter = NULL;
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_filter_load(streamed, size, NULL, &filter, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(strstr(error.message, "iblt is a kind of sketch"));
  free(image);
  petal_sketch_free(sketch);
}

/* Sketches that differ are not subtracted, and say in what. */
static void refusals(void) {
  petal_sketch *sketch = make(30), *other = make(300);
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_sketch_subtract(sketch, other, &error), PETAL_ERR_INCOMPATIBLE);
  CHECK(strstr(error.message, "differ"));
  CHECK_EQUAL(petal_sketch_merge(sketch, other, NULL), PETAL_ERR_INCOMPATIBLE);
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 10, .hash = PETAL_HASH_EXTERNAL};
  petal_sketch *none = NULL;
  CHECK_EQUAL(petal_sketch_new(&spec, &none, &error), PETAL_ERR_CONTRADICTION);
  CHECK(strstr(error.message, "hash = external") && none == NULL);
  petal_sketch_free(other);
  petal_sketch_free(sketch);
  petal_sketch_free(NULL);
}

/* With kept keys a sketch is that of a set, whatever comes twice. */
static void kept_keys(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_RIBLT, .bits = 192 * 30};
  petal_sketch *sketch = NULL, *copy = NULL;
  CHECK_OK(petal_sketch_new(&spec, &sketch, NULL));
  CHECK_EQUAL(petal_sketch_symbol_count(sketch), 30);
  CHECK(!petal_sketch_keeps_keys(sketch));
  CHECK_OK(petal_sketch_keep_keys(sketch, NULL));
  CHECK(petal_sketch_keeps_keys(sketch));
  for (int i = 0; i < 3; i++) CHECK_OK(petal_sketch_insert_u64(sketch, 5));
  CHECK_OK(petal_sketch_remove_u64(sketch, 6));
  petal_sketch_listed listed[30];
  bool is_complete = false;
  CHECK_EQUAL(list(sketch, listed, 30, &is_complete), 1);
  CHECK(is_complete && listed[0].number == 5 && listed[0].sign == 1);
  CHECK_OK(petal_sketch_copy(sketch, &copy, NULL));
  CHECK(petal_sketch_keeps_keys(copy));
  CHECK_OK(petal_sketch_merge(copy, sketch, NULL));
  CHECK(!petal_sketch_keeps_keys(copy));
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_sketch_keep_keys(copy, &error), PETAL_ERR_CONTRADICTION);
  CHECK(strstr(error.message, "not kept"));
  CHECK_OK(petal_sketch_clear(sketch, NULL));
  CHECK(petal_sketch_keeps_keys(sketch));
  petal_sketch_free(copy);
  petal_sketch_free(sketch);
  sketch = make(30);
  CHECK_EQUAL(petal_sketch_symbol_count(sketch), 0);
  petal_sketch_free(sketch);
}

/* The bytes of minisketch go out and come in: sums of 0x5c6 to 0xdbe over elements of 12 bits, capacity 4. */
static void bytes_of_minisketch(void) {
  static const uint8_t expected[6] = {0xc6, 0xde, 0xb7, 0x07, 0xac, 0x9a};
  static const uint64_t elements[] = {0x5c6, 0xeee, 0xb78, 0xb64, 0xeb2, 0x562, 0xf74, 0xce8, 0xdbe};
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_PINSKETCH, .capacity = 4};
  CHECK_OK(petal_spec_set(&spec, "field_bits", 12, NULL));
  petal_sketch *ours = NULL, *theirs = NULL;
  CHECK_OK(petal_sketch_new(&spec, &ours, NULL));
  CHECK_OK(petal_sketch_new(&spec, &theirs, NULL));
  CHECK_OK(petal_sketch_insert_batch(ours, U64_KEYS(elements, 9), NULL, NULL));
  uint8_t bytes[8] = {[6] = 7};
  size_t size = 0;
  CHECK_OK(petal_sketch_export_minisketch(ours, NULL, 0, &size, NULL));
  CHECK_EQUAL(size, 6);
  size = 0;
  CHECK_STATUS(petal_sketch_export_minisketch(ours, bytes, 5, &size, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK(size == 0 && bytes[0] == 0);
  CHECK_OK(petal_sketch_export_minisketch(ours, bytes, sizeof bytes, &size, NULL));
  CHECK(size == 6 && memcmp(bytes, expected, 6) == 0 && bytes[6] == 7);
  CHECK_STATUS(petal_sketch_import_minisketch(theirs, bytes, 7, NULL), PETAL_ERR_FOREIGN);
  CHECK_OK(petal_sketch_import_minisketch(theirs, expected, 6, NULL));
  for (size_t i = 0; i < 5; i++) CHECK_OK(petal_sketch_remove_u64(theirs, elements[i]));
  petal_sketch_listed listed[4];
  bool is_complete = false;
  CHECK_EQUAL(list(theirs, listed, 4, &is_complete), 4);
  CHECK(is_complete && listed[0].number == 0x562 && listed[3].number == 0xf74 && listed[0].sign == 1);
  /* The sums of the run 64 to 79 are 0. A sketch with a checksum sees that numbers are missing. */
  CHECK_OK(petal_sketch_clear(ours, NULL));
  for (uint64_t number = 64; number < 80; number++) CHECK_OK(petal_sketch_insert_u64(ours, number));
  CHECK(list(ours, listed, 4, &is_complete) == 0 && !is_complete);
  CHECK_OK(petal_sketch_export_minisketch(ours, bytes, sizeof bytes, &size, NULL));
  CHECK_OK(petal_sketch_import_minisketch(theirs, bytes, size, NULL));
  CHECK(list(theirs, listed, 4, &is_complete) == 0 && is_complete);
  CHECK_STATUS(petal_sketch_insert_u64(ours, 0), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_sketch_insert_u64(ours, 4096), PETAL_ERR_OUT_OF_RANGE);
  petal_sketch *other = make(4);
  CHECK_STATUS(petal_sketch_export_minisketch(other, NULL, 0, &size, NULL), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_sketch_import_minisketch(other, expected, 6, NULL), PETAL_ERR_UNSUPPORTED);
  petal_sketch_free(other);
  petal_sketch_free(theirs);
  petal_sketch_free(ours);
}

/* Whole keys are listed as they are. */
static void whole_keys(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_RIBLT, .bits = 256 * 40};
  CHECK_OK(petal_spec_set(&spec, "key_bytes", 16, NULL));
  petal_sketch *ours = NULL, *theirs = NULL;
  CHECK_OK(petal_sketch_new(&spec, &ours, NULL));
  CHECK_OK(petal_sketch_new(&spec, &theirs, NULL));
  CHECK_EQUAL(petal_sketch_key_bytes(ours), 16);
  CHECK_OK(petal_sketch_insert(ours, "sixteen bytes: a", 16));
  CHECK_OK(petal_sketch_insert(theirs, "sixteen bytes: b", 16));
  CHECK_EQUAL(petal_sketch_insert(ours, "short", 5), PETAL_ERR_OUT_OF_RANGE);
  CHECK_EQUAL(petal_sketch_insert_hash(ours, 5), PETAL_ERR_UNSUPPORTED);
  CHECK_OK(petal_sketch_subtract(ours, theirs, NULL));
  char keys[48] = "";
  int64_t signs[3] = {7, 7, 7};
  size_t count = 0;
  bool is_complete = false;
  CHECK_OK(petal_sketch_list_keys(ours, NULL, NULL, 0, &count, &is_complete, NULL));
  CHECK(count == 2 && is_complete);
  CHECK_OK(petal_sketch_list_keys(ours, keys, signs, 1, &count, &is_complete, NULL));
  CHECK(count == 2 && signs[0] == -1 && signs[1] == 7);
  CHECK(strcmp(keys, "sixteen bytes: b") == 0);
  CHECK_OK(petal_sketch_list_keys(ours, keys, signs, 3, &count, &is_complete, NULL));
  CHECK(count == 2 && signs[0] == -1 && signs[1] == 1 && signs[2] == 7);
  CHECK(strcmp(keys, "sixteen bytes: bsixteen bytes: a") == 0);
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_sketch_list(ours, NULL, 0, &count, &is_complete, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(strstr(error.message, "key_bytes = 16"));
  petal_sketch_free(theirs);
  petal_sketch_free(ours);
  ours = make(10);
  CHECK_EQUAL(petal_sketch_key_bytes(ours), 0);
  CHECK_EQUAL(petal_sketch_list_keys(ours, NULL, NULL, 0, &count, &is_complete, NULL), PETAL_ERR_UNSUPPORTED);
  petal_sketch_free(ours);
}

/* The symbols of one set are read against another one, until all differences are known. */
static void streams(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_RIBLT, .bits = 192 * 10};
  petal_sketch *ours = NULL, *theirs = NULL;
  CHECK_OK(petal_sketch_new(&spec, &ours, NULL));
  CHECK_OK(petal_sketch_new(&spec, &theirs, NULL));
  CHECK_OK(petal_sketch_keep_keys(ours, NULL));
  CHECK_OK(petal_sketch_keep_keys(theirs, NULL));
  for (uint64_t i = 0; i < 1000; i++) CHECK_OK(petal_sketch_insert_u64(ours, i));
  for (uint64_t i = 3; i < 1002; i++) CHECK_OK(petal_sketch_insert_u64(theirs, i));
  petal_stream *out = NULL, *into = NULL;
  CHECK_OK(petal_stream_new(theirs, &out, NULL));
  CHECK_OK(petal_stream_new(ours, &into, NULL));
  unsigned char bytes[98];
  size_t length = 0;
  bool is_complete = false;
  CHECK_EQUAL(petal_stream_write(out, 1, bytes, 20, &length, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  while (!is_complete) {
    CHECK_OK(petal_stream_write(out, 1, bytes, sizeof bytes, &length, NULL));
    CHECK_OK(petal_stream_read(into, bytes, length / 2, &is_complete, NULL));
    CHECK_OK(petal_stream_read(into, bytes + length / 2, length - length / 2, &is_complete, NULL));
  }
  CHECK_EQUAL(petal_stream_symbols_read(into), petal_stream_symbols_written(out));
  petal_sketch_listed listed[5];
  size_t count = 0;
  is_complete = false;
  CHECK_OK(petal_stream_list(into, listed, 5, &count, &is_complete, NULL));
  CHECK(count == 5 && is_complete && listed[0].number == 1000 && listed[0].sign == -1 && listed[4].number == 2);
  CHECK_EQUAL(petal_stream_list_keys(into, NULL, NULL, 0, &count, &is_complete, NULL), PETAL_ERR_UNSUPPORTED);
  CHECK_OK(petal_stream_set_limit(into, petal_stream_symbols_read(into), NULL));
  CHECK_OK(petal_stream_write(out, 1, bytes, sizeof bytes, &length, NULL));
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_stream_read(into, bytes, length, &is_complete, &error), PETAL_ERR_TOO_LARGE);
  CHECK(strstr(error.message, "coded symbols"));
  CHECK_OK(petal_sketch_insert_u64(theirs, 2000));
  CHECK_EQUAL(petal_stream_write(out, 1, bytes, sizeof bytes, &length, NULL), PETAL_ERR_CONTRADICTION);
  petal_stream_free(out);
  petal_stream_free(into);
  petal_stream_free(NULL);
  petal_sketch_free(ours);
  petal_sketch_free(theirs);
  ours = make(10);
  CHECK_EQUAL(petal_stream_new(ours, &out, NULL), PETAL_ERR_UNSUPPORTED);
  petal_sketch_free(ours);
}

int main(void) {
  differences();
  whole_keys();
  streams();
  kept_keys();
  forms();
  lookups();
  values();
  images();
  refusals();
  bytes_of_minisketch();
  return check_done();
}
