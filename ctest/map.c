/* MAPS, held to arrays of keys and values. */
#include "check.h"

#define COUNT 20000
static uint64_t keys[COUNT], values[COUNT];
static char text[COUNT * 8];
static uint64_t offsets[COUNT + 1];

static petal_map_builder *make(const petal_spec *spec, const petal_builder_options *options) {
  petal_map_builder *builder = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_status status = petal_map_builder_new(spec, options, &builder, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "new map builder: %s", error.message);
  return builder;
}

static petal_map *finish(petal_map_builder *builder) {
  petal_map *map = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_status status = petal_map_builder_finish(builder, &map, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "finish: %s", error.message);
  petal_map_builder_free(builder);
  return map;
}

static void check_same(const petal_map *map, petal_keys *given, size_t count) {
  static uint64_t got[COUNT];
  static uint8_t found[COUNT];
  memset(got, 0x5a, sizeof got);
  petal_answers answers = ANSWERS(.values = got, .bytes = found);
  CHECK_OK(petal_map_get_batch(map, given, &answers, NULL));
  CHECK(answers.true_count == count && answers.done == count);
  CHECK(memcmp(got, values, count * sizeof *got) == 0);
  for (size_t i = 0; i < count; i++) CHECK(found[i] == 1);
  CHECK_OK(petal_map_verify(map, NULL));
}

static petal_map *of_numbers(size_t count, double rate) {
  petal_spec spec = {.struct_size = sizeof spec, .false_positive_rate = rate};
  petal_map_builder *builder = make(&spec, NULL);
  petal_answers answers = ANSWERS(.done = 99);
  CHECK_OK(petal_map_builder_put_batch(builder, U64_KEYS(keys, count), values, &answers, NULL));
  CHECK_EQUAL(answers.done, count);
  uint64_t insertions = 0;
  CHECK_OK(petal_map_builder_key_count(builder, &insertions, NULL));
  CHECK_EQUAL(insertions, count);
  return finish(builder);
}

/* Present keys have their values, in all forms; of absent ones few have any. */
static void laws(void) {
  static const size_t counts[] = {0, 1, 2, 63, 64, 65, 1000, COUNT};
  for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
    petal_map *map = of_numbers(counts[n], 1.0 / 256);
    check_same(map, U64_KEYS(keys, counts[n]), counts[n]);
    uint64_t value = 1, absent = 0;
    bool found = false;
    for (size_t i = 0; i < counts[n]; i++) {
      CHECK_OK(petal_map_get_u64(map, keys[i], &value, &found));
      CHECK(found && value == values[i]);
      CHECK_OK(petal_map_get(map, &keys[i], 8, NULL, &found));
      CHECK(found);
    }
    for (uint64_t i = 0; i < 10000; i++) {
      CHECK_OK(petal_map_get_u64(map, check_key(COUNT + i), &value, &found));
      CHECK(found || value == 0);
      absent += found;
    }
    /* Binomial of 10000 at 1/256: 39 with a deviation of 6.2. */
    CHECK(counts[n] == 0 ? absent == 0 : absent > 10 && absent < 68);
    petal_description description = {.struct_size = sizeof description};
    petal_statistics statistics = {.struct_size = sizeof statistics};
    CHECK_OK(petal_map_describe(map, &description, NULL));
    CHECK_OK(petal_map_get_statistics(map, &statistics, NULL));
    CHECK(description.kind == PETAL_KIND_BLOOMIER && description.insertions == counts[n]);
    CHECK_CLOSE(statistics.false_positive_rate, counts[n] == 0 ? 0 : 1.0 / 256, 0);
    CHECK_EQUAL((uint64_t)statistics.count_estimate, counts[n]);
    petal_map_free(map);
  }

  petal_spec spec = {.struct_size = sizeof spec};
  petal_map_builder *builder = make(&spec, NULL);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_OK(petal_map_builder_put(builder, text + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), values[i]));
  }
  petal_map *map = finish(builder);
  check_same(map, BYTE_KEYS(text, sizeof text, offsets, COUNT), COUNT);
  petal_map_free(map);

  spec.hash = PETAL_HASH_EXTERNAL;
  builder = make(&spec, NULL);
  for (size_t i = 0; i < COUNT; i++) CHECK_OK(petal_map_builder_put_hash(builder, keys[i], values[i]));
  map = finish(builder);
  check_same(map, HASH_KEYS(keys, COUNT), COUNT);
  bool found = false;
  uint64_t value = 0;
  CHECK_OK(petal_map_get_hash(map, keys[7], &value, &found));
  CHECK(found && value == values[7]);
  CHECK_STATUS(petal_map_get(map, "a", 1, &value, &found), PETAL_ERR_EXTERNAL_HASH);
  petal_map_free(map);
}

static bool write_to(void *context, const void *bytes, size_t length) {
  return fwrite(bytes, 1, length, context) == length;
}

/* Every way out of a map and into one. */
static void images(void) {
  const char *path = check_path("map"), *streamed = check_path("streamed");
  petal_map *map = of_numbers(COUNT, 0), *other = NULL;
  uint64_t size = 0;
  size_t written = 0;
  CHECK_OK(petal_map_serialized_size(map, &size, NULL));
  uint64_t *image = calloc(1, (size_t)size);
  CHECK_STATUS(petal_map_serialize(map, image, (size_t)size - 1, &written, NULL), PETAL_ERR_BUFFER_TOO_SMALL);
  CHECK_OK(petal_map_serialize(map, image, (size_t)size, &written, NULL));
  CHECK_EQUAL(written, size);
  CHECK_OK(petal_map_save(map, path, NULL));
  FILE *file = fopen(streamed, "wb");
  CHECK_OK(petal_map_serialize_to(map, write_to, file, NULL));
  fclose(file);
  CHECK_OK(petal_map_copy(map, &other, NULL));
  petal_map_free(map);
  check_same(other, U64_KEYS(keys, COUNT), COUNT);
  petal_map_free(other);

  static const petal_open_mode modes[] = {PETAL_OPEN_READ, PETAL_OPEN_LOAD};
  for (size_t m = 0; m < 2; m++) {
    petal_open_options options = {.struct_size = sizeof options, .mode = modes[m]};
    CHECK_OK(petal_map_open(path, &options, &map, NULL));
    check_same(map, U64_KEYS(keys, COUNT), COUNT);
    petal_map_free(map);
    CHECK_OK(petal_map_open_in_buffer(image, (size_t)size, &options, &map, NULL));
    check_same(map, U64_KEYS(keys, COUNT), COUNT);
    petal_map_free(map);
    file = fopen(streamed, "rb");
    CHECK_OK(petal_map_open_descriptor(check_descriptor(fileno(file)), 0, &options, &map, NULL));
    fclose(file);
    check_same(map, U64_KEYS(keys, COUNT), COUNT);
    petal_map_free(map);
  }
  /* Nothing changes a map, so it is not opened for that. */
  static const petal_open_mode changing[] = {PETAL_OPEN_WRITE, PETAL_OPEN_SHARE};
  static const char *const reasons[] = {"never changes", "no shared insertion"};
  for (size_t m = 0; m < 2; m++) {
    petal_open_options options = {.struct_size = sizeof options, .mode = changing[m]};
    petal_error error = {.struct_size = sizeof error};
    CHECK_STATUS(petal_map_open(path, &options, &map, &error), PETAL_ERR_UNSUPPORTED);
    CHECK_TEXT(error.message, reasons[m]);
    CHECK_STATUS(petal_map_open_in_buffer(image, (size_t)size, &options, &map, NULL), PETAL_ERR_UNSUPPORTED);
  }
  CHECK_OK(petal_map_load(image, (size_t)size, NULL, &map, NULL));
  check_same(map, U64_KEYS(keys, COUNT), COUNT);
  petal_map_free(map);

  /* Straight into a file: the same bytes. */
  petal_spec spec = {.struct_size = sizeof spec};
  petal_map_builder *builder = make(&spec, NULL);
  for (size_t i = COUNT; i-- > 0;) CHECK_OK(petal_map_builder_put_u64(builder, keys[i], values[i]));
  CHECK_OK(petal_map_builder_save(builder, streamed, NULL));
  petal_map_builder_free(builder);
  file = fopen(streamed, "rb");
  unsigned char *bytes = calloc(1, (size_t)size + 1);
  CHECK_EQUAL(fread(bytes, 1, (size_t)size + 1, file), size);
  CHECK(memcmp(bytes, image, (size_t)size) == 0);
  fclose(file);

  /* What is damaged, or forged, is refused or harmless. */
  bytes[5000] ^= 1;
  CHECK_STATUS(petal_map_load(bytes, (size_t)size, NULL, &map, NULL), PETAL_ERR_CORRUPT);
  memcpy(bytes, image, (size_t)size);
  for (size_t i = 64; i < 144; i += 8) {
    bytes[i] ^= 3;
    CHECK_STATUS(petal_map_load(bytes, (size_t)size, NULL, &map, NULL), PETAL_ERR_CORRUPT);
    bytes[i] ^= 3;
  }
  free(bytes);
  free(image);
}

/* The image of a filter is not opened as a map, nor a map's as a filter: the message says what to do. */
static void wrong_handles(void) {
  petal_error error = {.struct_size = sizeof error};
  petal_filter *filter = petal_filter_with_capacity(100, 0.01);
  petal_map *map = of_numbers(100, 0);
  CHECK_OK(petal_filter_save(filter, check_path("filter"), NULL));
  CHECK_OK(petal_map_save(map, check_path("map"), NULL));
  petal_filter_free(filter);
  petal_map_free(map);
  CHECK_STATUS(petal_map_open(check_path("filter"), NULL, &map, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "open it as a filter");
  CHECK_STATUS(petal_filter_open(check_path("map"), NULL, &filter, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "open it as a map");
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOMIER};
  CHECK_STATUS(petal_filter_new(&spec, &filter, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "map builder");
  spec.kind = PETAL_KIND_BLOOM;
  petal_map_builder *builder = NULL;
  CHECK_STATUS(petal_map_builder_new(&spec, NULL, &builder, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "not a map");
}

static void refusals(void) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOMIER};
  CHECK_OK(petal_spec_set(&spec, "value_bits", 3, NULL));
  petal_map_builder *builder = make(&spec, NULL);
  petal_map *map = NULL;
  CHECK_STATUS(petal_map_builder_put_u64(builder, 1, 8), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_map_builder_put_hash(builder, 1, 1), PETAL_ERR_UNSUPPORTED);
  static const uint64_t three[] = {1, 2, 3}, too_great[] = {7, 9, 7};
  petal_answers answers = ANSWERS(.done = 99);
  CHECK_STATUS(petal_map_builder_put_batch(builder, U64_KEYS(three, 3), too_great, &answers, &error),
               PETAL_ERR_OUT_OF_RANGE);
  CHECK_TEXT(error.message, "value = 9");
  CHECK_EQUAL(answers.done, 1);
  uint8_t bytes[3] = {7, 7, 7};
  answers.bytes = bytes;
  CHECK_STATUS(petal_map_builder_put_batch(builder, U64_KEYS(three, 3), three, &answers, NULL), PETAL_ERR_UNSUPPORTED);
  CHECK_OK(petal_map_builder_put_u64(builder, 1, 6));
  CHECK_STATUS(petal_map_builder_finish(builder, &map, &error), PETAL_ERR_CONTRADICTION);
  CHECK_TEXT(error.message, "two values, 6 and 7");
  petal_map_builder_free(builder);

  map = of_numbers(100, 0);
  uint64_t value[3] = {7, 7, 7};
  answers = ANSWERS(.bytes = bytes, .values = value);
  CHECK_STATUS(petal_map_get_batch(map, HASH_KEYS(three, 3), &answers, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(bytes[0] == 0 && bytes[2] == 0 && value[0] == 0 && value[2] == 0 && answers.true_count == 0);
  answers.counts = value;
  CHECK_STATUS(petal_map_get_batch(map, U64_KEYS(three, 3), &answers, &error), PETAL_ERR_UNSUPPORTED);
  petal_map_free(map);
  petal_filter *filter = petal_filter_with_capacity(10, 0.1);
  answers = ANSWERS(.values = value);
  CHECK_STATUS(petal_filter_contains_batch(filter, U64_KEYS(three, 3), &answers, &error), PETAL_ERR_UNSUPPORTED);
  petal_filter_free(filter);
}

/* A map that is made empty: what it reads is the value or above it; merged it was given what both were. */
static void approximator(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_APPROXIMATOR, .capacity = COUNT};
  CHECK_OK(petal_spec_set_choice(&spec, "lattice", "max", NULL));
  petal_map *map = NULL, *other = NULL;
  petal_error error = {.struct_size = sizeof error};
  CHECK_OK(petal_map_new(&spec, &map, &error));
  CHECK_OK(petal_map_new(&spec, &other, NULL));
  CHECK(petal_map_capabilities(map) == (PETAL_CAN_PUT | PETAL_CAN_MERGE | PETAL_CAN_CLEAR));
  bool changed = false, found = false;
  uint64_t value = 0;
  for (size_t i = 0; i < COUNT; i++) CHECK_OK(petal_map_put_u64(i % 2 ? map : other, keys[i], values[i], &changed));
  CHECK_OK(petal_map_put(map, "a", 1, 5, NULL));
  CHECK_OK(petal_map_put(map, "a", 1, UINT64_MAX, &changed));
  CHECK(changed);
  CHECK_OK(petal_map_put(map, "a", 1, 4, &changed));
  CHECK(!changed);
  CHECK_STATUS(petal_map_put_hash(map, 1, 1, NULL), PETAL_ERR_UNSUPPORTED);
  CHECK_OK(petal_map_merge(map, other, &error));
  CHECK_OK(petal_map_merge(map, map, &error));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_OK(petal_map_get_u64(map, keys[i], &value, &found));
    CHECK(value >= values[i] && found == (value > 0));
  }
  uint8_t bytes[COUNT];
  petal_answers answers = ANSWERS(.bytes = bytes);
  CHECK_OK(petal_map_put_batch(other, U64_KEYS(keys, COUNT), values, &answers, &error));
  CHECK(answers.done == COUNT && answers.true_count <= COUNT / 2);
  CHECK_STATUS(petal_map_replace(map, NUMBER(1), 1, NULL), PETAL_ERR_UNSUPPORTED);
  petal_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(petal_map_get_statistics(map, &statistics, NULL));
  CHECK(statistics.count_estimate > 0.9 * COUNT && statistics.count_estimate < 1.1 * COUNT);
  CHECK_OK(petal_map_sync(map, NULL));
  CHECK_OK(petal_map_mark_clean(map, NULL));
  CHECK_OK(petal_map_clear(map, NULL));
  CHECK_OK(petal_map_get(map, "a", 1, &value, &found));
  CHECK(!found && value == 0);
  petal_map_free(map);
  petal_map_free(other);
  spec.kind = PETAL_KIND_BLOOMIER;
  spec.parameters[0].id = 0;
  map = NULL;
  CHECK_STATUS(petal_map_new(&spec, &map, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "map builder");
}

/* Values are replaced in a file, which another handle has open. */
static void replaced(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_MUTABLE_BLOOMIER, .false_positive_rate = 1e-6};
  CHECK_OK(petal_spec_set(&spec, "value_bits", 64, NULL));
  petal_map_builder *builder = make(&spec, NULL);
  CHECK_OK(petal_map_builder_put_batch(builder, U64_KEYS(keys, COUNT), values, NULL, NULL));
  const char *path = check_path("mutable");
  CHECK_OK(petal_map_builder_save(builder, path, NULL));
  petal_map_builder_free(builder);
  petal_map *map = NULL, *reader = NULL;
  petal_open_options options = {.struct_size = sizeof options, .mode = PETAL_OPEN_WRITE};
  CHECK_OK(petal_map_open(path, &options, &map, NULL));
  CHECK_OK(petal_map_open(path, NULL, &reader, NULL));
  CHECK(petal_map_capabilities(map) == PETAL_CAN_REPLACE && petal_map_capabilities(reader) == 0);
  bool found = false;
  uint64_t value = 0;
  CHECK_OK(petal_map_replace(map, NUMBER(keys[3]), 77, &found));
  CHECK(found);
  CHECK_OK(petal_map_get_u64(reader, keys[3], &value, &found));
  CHECK(found && value == 77);
  CHECK_OK(petal_map_replace(map, &keys[4], 8, 78, NULL));
  CHECK_OK(petal_map_replace(map, "absent", 6, 1, &found));
  CHECK(!found);
  CHECK_STATUS(petal_map_replace_hash(map, 1, 1, &found), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_map_replace(reader, NUMBER(keys[3]), 1, &found), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  CHECK_STATUS(petal_map_put_u64(map, keys[3], 1, &found), PETAL_ERR_UNSUPPORTED);
  CHECK_OK(petal_map_get_u64(reader, keys[4], &value, &found));
  CHECK(value == 78);
  uint8_t bytes[COUNT];
  petal_answers answers = ANSWERS(.bytes = bytes);
  CHECK_OK(petal_map_replace_batch(map, U64_KEYS(keys, COUNT), offsets, &answers, NULL));
  CHECK(answers.true_count == COUNT);
  petal_map_free(map);
  CHECK_OK(petal_map_verify(reader, NULL));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_OK(petal_map_get_u64(reader, keys[i], &value, &found));
    CHECK(found && value == offsets[i]);
  }
  petal_map_free(reader);
}

static check_image collected;

static bool collect(void *context, const void *bytes, size_t length) {
  if (context != &collected) return false;
  collected.bytes = realloc(collected.bytes, collected.length + length + 1);
  memcpy(collected.bytes + collected.length, bytes, length);
  collected.length += length;
  return true;
}

/* Two builders with shares of the keys make what one makes. */
static void shares(void) {
  const size_t half = COUNT / 2;
  petal_spec spec = {.struct_size = sizeof spec};
  petal_map_builder *here = make(&spec, NULL), *there = make(&spec, NULL);
  CHECK_OK(petal_map_builder_put_batch(here, U64_KEYS(keys, half), values, NULL, NULL));
  CHECK_OK(petal_map_builder_put_batch(there, U64_KEYS(keys + half, COUNT - half), values + half, NULL, NULL));
  CHECK_STATUS(petal_map_builder_serialize_to(there, collect, NULL, NULL), PETAL_ERR_CALLBACK);
  CHECK_OK(petal_map_builder_serialize_to(there, collect, &collected, NULL));
  CHECK_STATUS(petal_map_builder_merge(here, collected.bytes, collected.length - 1, NULL), PETAL_ERR_TRUNCATED);
  CHECK_OK(petal_map_builder_merge(here, collected.bytes, collected.length, NULL));
  petal_map *map = finish(here);
  check_same(map, U64_KEYS(keys, COUNT), COUNT);
  petal_map_free(map);
  petal_map_builder_free(there);
  free(collected.bytes);
}

int main(void) {
  for (size_t i = 0; i < COUNT; i++) {
    keys[i] = check_key(i);
    values[i] = check_key(i) >> 40;
    offsets[i + 1] = offsets[i] + (uint64_t)snprintf(text + offsets[i], 8, "%zu", i);
  }
  laws();
  images();
  wrong_handles();
  refusals();
  approximator();
  replaced();
  shares();
  return check_done();
}
