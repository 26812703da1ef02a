/* OTHER SYSTEMS' BYTES */
#include "check.h"

/* What Guava 33 wrote for the keys key-0 to key-16, sized for 17 at 0.001. */
static const unsigned char guava[] = {0x01, 0x0a, 0x00, 0x00, 0x00, 0x04, 0x11, 0x8b, 0x20, 0x39, 0x08, 0xca, 0xe1,
                                      0x5d, 0x9c, 0x65, 0xb7, 0xba, 0xf1, 0x10, 0x01, 0xc1, 0xef, 0x60, 0xd3, 0x2b,
                                      0x0c, 0xb7, 0x69, 0xff, 0xe7, 0x44, 0x12, 0xfd, 0x46, 0x41, 0x9b, 0x91};

/* What CF.SCANDUMP of RedisBloom gave for the keys key-0 to key-9, after CF.RESERVE for 64. */
static const unsigned char cuckoo[] = {
    0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x02, 0x00, 0x14, 0x00, 0x01, 0x00, 0x00, 0x00, 0xa4, 0x00, 0x0d, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0xda, 0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1b, 0x86, 0x00, 0x00, 0xe7, 0x00, 0x00, 0x00,
    0xf8, 0x00, 0x5a, 0x00, 0x00, 0x00,
};

static petal_error error = {.struct_size = sizeof error};

static petal_format_info format_at(size_t index) {
  petal_format_info info = {.struct_size = sizeof info};
  CHECK_OK(petal_format_get_at(index, &info, NULL));
  return info;
}

static petal_filter *import(const char *format, const void *bytes, size_t length) {
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_import(format, bytes, length, NULL, &filter, &error));
  return filter;
}

/* The bytes of a filter in a format, all in one piece. */
static check_image export(const petal_filter *filter, const char *format, const char *variant) {
  uint64_t size = 0;
  CHECK_OK(petal_filter_export_size(filter, format, variant, &size, &error));
  check_image bytes = {malloc((size_t)size + 1), (size_t)size};
  bytes.bytes[size] = 0x5a;
  size_t written = 0;
  CHECK_OK(petal_filter_export(filter, format, variant, bytes.bytes, bytes.length, &written, &error));
  CHECK_EQUAL(written, size);
  CHECK_EQUAL(bytes.bytes[size], 0x5a);
  return bytes;
}

static bool same(check_image image, const void *bytes, size_t length) {
  return image.length == length && memcmp(image.bytes, bytes, length) == 0;
}

static void formats_describe_themselves(void) {
  size_t count = petal_format_count();
  CHECK(count >= 1);
  for (size_t i = 0; i < count; i++) {
    petal_format_info info = format_at(i), found = {.struct_size = sizeof found};
    CHECK_EQUAL(info.struct_size, sizeof info);
    CHECK(info.name[0] != '\0' && memchr(info.name, 0, sizeof info.name) != NULL);
    CHECK(info.summary[0] != '\0' && memchr(info.summary, 0, sizeof info.summary) != NULL);
    CHECK(info.capabilities & PETAL_FORMAT_READ);
    CHECK(info.variant_count != 1);
    CHECK_OK(petal_format_find(info.name, &found, NULL));
    CHECK(memcmp(&info, &found, sizeof info) == 0);
    char variant[PETAL_NAME_SIZE] = "kept";
    CHECK_STATUS(petal_format_get_variant(info.name, info.variant_count, variant, NULL), PETAL_ERR_OUT_OF_RANGE);
    CHECK_STATUS(petal_format_get_variant(info.name, SIZE_MAX, variant, NULL), PETAL_ERR_OUT_OF_RANGE);
    CHECK(strcmp(variant, "kept") == 0);
    for (uint32_t v = 0; v < info.variant_count; v++) {
      CHECK_OK(petal_format_get_variant(info.name, v, variant, NULL));
      CHECK(variant[0] != '\0' && memchr(variant, 0, sizeof variant) != NULL);
    }
    printf("%-16s %s\n", info.name, info.summary);
  }
  petal_format_info info = {.struct_size = sizeof info}, before = info;
  CHECK_STATUS(petal_format_get_at(count, &info, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_format_get_at(SIZE_MAX, &info, NULL), PETAL_ERR_OUT_OF_RANGE);
  CHECK_STATUS(petal_format_find("rose", &info, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_format_find("", &info, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_format_find("\xff", &info, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_STATUS(petal_format_recognise("an apple", 8, &info, NULL), PETAL_ERR_FOREIGN);
  CHECK_STATUS(petal_format_recognise(NULL, 0, &info, NULL), PETAL_ERR_FOREIGN);
  CHECK(memcmp(&before, &info, sizeof info) == 0);
  char variant[PETAL_NAME_SIZE] = "kept";
  CHECK_STATUS(petal_format_get_variant("rose", 0, variant, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK(strcmp(variant, "kept") == 0);
}

/* The filter that another library wrote: what it has is found, changed, given back, saved and mapped. */
static void a_filter_of_guava(void) {
  petal_filter *filter = import("guava", guava, sizeof guava);
  char key[32];
  for (int i = 0; i < 17; i++) {
    CHECK(petal_filter_contains(filter, key, (size_t)snprintf(key, sizeof key, "key-%d", i)));
  }
  unsigned found = 0;
  for (int i = 0; i < 10000; i++) {
    found += petal_filter_contains(filter, key, (size_t)snprintf(key, sizeof key, "absent-%d", i));
  }
  /* Guava itself says of this many that they may be there. */
  CHECK_EQUAL(found, 55);
  check_image bytes = export(filter, "guava", NULL);
  CHECK(same(bytes, guava, sizeof guava));
  free(bytes.bytes);

  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK(description.kind == PETAL_KIND_FOREIGN_BLOOM && description.hash == PETAL_HASH_FORMAT);
  CHECK(description.bits == 256 && description.hashes == 10);
  petal_kind_info kind = {.struct_size = sizeof kind};
  CHECK_OK(petal_kind_find("foreign_bloom", &kind, NULL));
  CHECK(kind.kind == description.kind && (kind.flags & PETAL_IS_FOREIGN) != 0);

  /* By an image, which is mapped and has the same bytes; and one that is changed where it lies. */
  const char *path = check_path("guava.petal");
  petal_filter *mapped = NULL;
  petal_open_options write = {.struct_size = sizeof write, .mode = PETAL_OPEN_WRITE};
  CHECK_OK(petal_filter_save(filter, path, NULL));
  CHECK_OK(petal_filter_open(path, NULL, &mapped, NULL));
  CHECK(petal_filter_contains(mapped, "key-7", 5) && check_same_bits(filter, mapped));
  bytes = export(mapped, "guava", "mitz_64");
  CHECK(same(bytes, guava, sizeof guava));
  free(bytes.bytes);
  petal_filter_free(mapped);
  bool is_new = false;
  CHECK_OK(petal_filter_open(path, &write, &mapped, NULL));
  CHECK_OK(petal_filter_insert(mapped, "one more", 8, &is_new));
  CHECK(is_new && petal_filter_contains(mapped, "one more", 8) && !check_same_bits(filter, mapped));
  petal_filter_free(mapped);
  CHECK_OK(petal_filter_open(path, NULL, &mapped, NULL));
  CHECK(petal_filter_contains(mapped, "one more", 8));
  CHECK_OK(petal_filter_merge(filter, mapped, NULL));
  CHECK(check_same_bits(filter, mapped));
  petal_filter_free(mapped);
  petal_filter_free(filter);
}

/* A cuckoo filter of RedisBloom, changed as CF.ADD and CF.DEL change it. */
static void a_cuckoo_filter_of_redisbloom(void) {
  petal_filter *filter = import("redisbloom_cuckoo", cuckoo, sizeof cuckoo);
  check_image bytes = export(filter, "redisbloom_cuckoo", NULL);
  CHECK(same(bytes, cuckoo, sizeof cuckoo));
  free(bytes.bytes);
  uint64_t count = 0;
  CHECK_OK(petal_filter_count(filter, "pear", 4, &count));
  CHECK_EQUAL(count, 0);
  for (uint64_t i = 1; i <= 3; i++) {
    CHECK_OK(petal_filter_insert(filter, "pear", 4, NULL));
    CHECK_OK(petal_filter_count(filter, "pear", 4, &count));
    CHECK_EQUAL(count, i);
  }
  bytes = export(filter, "redisbloom_cuckoo", NULL);
  petal_filter *again = import("redisbloom_cuckoo", bytes.bytes, bytes.length);
  free(bytes.bytes);
  for (int i = 3; i > 0; i--) {
    CHECK_OK(petal_filter_remove(again, "pear", 4, NULL));
  }
  CHECK(!petal_filter_contains(again, "pear", 4) && petal_filter_contains(filter, "pear", 4));
  char key[32];
  for (int i = 0; i < 10; i++) {
    CHECK(petal_filter_contains(again, key, (size_t)snprintf(key, sizeof key, "key-%d", i)));
  }
  petal_filter_free(again);
  petal_filter_free(filter);
}

/* Key i of a test: as a text, and as the number that it is in eight bytes. */
static size_t text(char *key, uint64_t i) { return (size_t)snprintf(key, 32, "key-%" PRIu64, i); }

/* Whole keys, by single calls and in a batch; what is a hash is refused and changes nothing. */
static void keys_are_taken_whole(petal_filter *filter) {
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  uint64_t number = check_key(1), hash = 0;
  bool found = false;
  CHECK_OK(petal_filter_insert_u64(filter, number, NULL));
  CHECK(petal_filter_contains_u64(filter, number));
  CHECK_OK(petal_filter_contains_checked_u64(filter, number, &found));
  CHECK(found);
  unsigned char little[8];
  for (int i = 0; i < 8; i++) little[i] = (unsigned char)(number >> 8 * i);
  CHECK(petal_filter_contains(filter, little, 8));
  if (description.hash != PETAL_HASH_FORMAT) return;

  check_image before = check_take_image(filter);
  found = false;
  CHECK_STATUS(petal_filter_insert_hash(filter, 1, &found), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_insert_batch(filter, HASH_KEYS(&number, 1), NULL, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "no hashes");
  CHECK_STATUS(petal_filter_insert_shared(filter, "a", 1, &found), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_hash(filter, "a", 1, &hash), PETAL_ERR_UNSUPPORTED);
  CHECK(!found && hash == 0 && check_same_image(filter, before));
  CHECK(petal_filter_contains_hash(filter, 1));
  uint8_t answers[3] = {0, 0, 0};
  const uint64_t hashes[3] = {1, 2, 3};
  petal_answers to = {.struct_size = sizeof to, .bytes = answers};
  CHECK_STATUS(petal_filter_contains_batch(filter, HASH_KEYS(hashes, 3), &to, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(answers[0] && answers[1] && answers[2]);
  free(before.bytes);
}

/* Inserts texts with these numbers, or looks them up; in batches of a length that divides nothing. */
static void batches(petal_filter *filter, uint64_t from, uint64_t to, bool insert, petal_answers *answers) {
  static char bytes[32 * 2000];
  static uint64_t offsets[2001];
  size_t count = 0;
  for (uint64_t i = from; i < to; i++, count++) offsets[count + 1] = offsets[count] + text(bytes + offsets[count], i);
  petal_keys keys = petal_keys_bytes(bytes, offsets[count], offsets, count);
  if (insert) {
    CHECK_OK(petal_filter_insert_batch(filter, &keys, answers, &error));
  } else {
    CHECK_OK(petal_filter_contains_batch(filter, &keys, answers, &error));
  }
}

typedef struct {
  check_image image;
  size_t pieces;
} sink;

static bool take(void *context, const void *bytes, size_t length) {
  sink *to = context;
  to->image.bytes = realloc(to->image.bytes, to->image.length + length + 1);
  memcpy(to->image.bytes + to->image.length, bytes, length);
  to->image.length += length;
  to->pieces++;
  return true;
}

static bool stop(void *context, const void *bytes, size_t length) {
  (void)bytes, (void)length;
  return --*(int *)context > 0;
}

/* The filter that bytes of a format hold; with options where the bytes alone do not say enough. */
static petal_filter *import_any(const char *format, check_image bytes, const petal_filter *like) {
  petal_filter *filter = NULL;
  petal_status status = petal_filter_import(format, bytes.bytes, bytes.length, NULL, &filter, &error);
  if (status != PETAL_ERR_CONTRADICTION) {
    CHECK_OK(status);
    petal_import_options options = {.struct_size = sizeof options, .bits = 64};
    petal_filter *none = NULL;
    CHECK_STATUS(petal_filter_import(format, bytes.bytes, bytes.length, &options, &none, &error),
                 PETAL_ERR_CONTRADICTION);
    CHECK_TEXT(error.message, "bits");
    CHECK(none == NULL);
    return filter;
  }
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(like, &description, NULL));
  petal_import_options options = {.struct_size = sizeof options, .bits = description.bits,
                                  .hashes = description.hashes, .seed = description.seed};
  CHECK_OK(petal_filter_import(format, bytes.bytes, bytes.length, &options, &filter, &error));
  return filter;
}

/* A filter of a format and a variant: made, filled, written, read. */
static void made_and_written(petal_format_info info, const char *variant) {
  petal_spec spec = {.struct_size = sizeof spec};
  CHECK_OK(petal_format_get_spec(info.name, variant, 1100, 0.01, 0, &spec, &error));
  CHECK(spec.struct_size == sizeof spec);
  petal_filter *filter = NULL, *batched = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, &error));
  CHECK_OK(petal_filter_new(&spec, &batched, &error));
  char key[32];
  static uint8_t is_new[1001];
  petal_answers answers = {.struct_size = sizeof answers, .bytes = is_new};
  for (uint64_t i = 0; i < 1001; i++) CHECK_OK(petal_filter_insert(filter, key, text(key, i), NULL));
  batches(batched, 0, 500, true, NULL);
  batches(batched, 500, 1001, true, &answers);
  CHECK(answers.done == 501 && answers.true_count > 400);
  CHECK(check_same_bits(filter, batched));
  batches(batched, 0, 1001, false, &answers);
  CHECK(answers.true_count == 1001);
  batches(batched, 10000, 11001, false, &answers);
  uint64_t singly = 0;
  for (uint64_t i = 10000; i < 11001; i++) singly += petal_filter_contains(batched, key, text(key, i));
  CHECK(answers.true_count == singly && singly < 60);
  petal_filter_free(batched);
  keys_are_taken_whole(filter);

  if (info.capabilities & PETAL_FORMAT_WRITE) {
    check_image bytes = export(filter, info.name, variant);
    sink all = {{NULL, 0}, 0};
    CHECK_OK(petal_filter_export_to(filter, info.name, variant, take, &all, &error));
    CHECK(same(bytes, all.image.bytes, all.image.length));
    int calls = (int)all.pieces;
    CHECK_STATUS(petal_filter_export_to(filter, info.name, variant, stop, &calls, &error), PETAL_ERR_CALLBACK);
    CHECK_EQUAL(calls, 0);
    memset(all.image.bytes, 0x5a, all.image.length);
    size_t written = 4711;
    CHECK_STATUS(petal_filter_export(filter, info.name, variant, all.image.bytes, bytes.length - 1, &written, &error),
                 PETAL_ERR_BUFFER_TOO_SMALL);
    CHECK_TEXT(error.message, "the filter needs");
    CHECK(written == 4711 && all.image.bytes[0] == 0x5a && all.image.bytes[bytes.length - 1] == 0x5a);
    free(all.image.bytes);

    petal_filter *again = import_any(info.name, bytes, filter);
    batches(again, 0, 1001, false, &answers);
    CHECK(answers.true_count == 1001);
    check_image second = export(again, info.name, NULL);
    CHECK(same(second, bytes.bytes, bytes.length));
    free(second.bytes);
    petal_format_info recognised = {.struct_size = sizeof recognised};
    petal_status status = petal_format_recognise(bytes.bytes, bytes.length, &recognised, NULL);
    if (info.capabilities & PETAL_FORMAT_RECOGNISE) {
      CHECK_OK(status);
      CHECK(strcmp(recognised.name, info.name) == 0);
    }
    /* Bytes that end early are not read as if they were all, and no bytes make no filter. */
    petal_filter *none = NULL;
    status = petal_filter_import(info.name, NULL, 0, NULL, &none, &error);
    CHECK(status != PETAL_OK && none == NULL);
    petal_filter_free(again);
    free(bytes.bytes);
  }
  petal_filter_free(filter);
}

static void formats_make_and_write(void) {
  for (size_t i = 0; i < petal_format_count(); i++) {
    petal_format_info info = format_at(i);
    petal_spec spec = {.struct_size = sizeof spec}, before = spec;
    if (info.capabilities & PETAL_FORMAT_BUILD) continue;
    if (!(info.capabilities & PETAL_FORMAT_CREATE)) {
      CHECK_STATUS(petal_format_get_spec(info.name, NULL, 1001, 0.01, 0, &spec, &error), PETAL_ERR_UNSUPPORTED);
      continue;
    }
    made_and_written(info, NULL);
    for (uint32_t v = 0; v < info.variant_count; v++) {
      char variant[PETAL_NAME_SIZE];
      CHECK_OK(petal_format_get_variant(info.name, v, variant, NULL));
      made_and_written(info, variant);
    }
    CHECK_STATUS(petal_format_get_spec(info.name, "rose", 1001, 0.01, 0, &spec, &error), PETAL_ERR_UNKNOWN_VALUE);
    CHECK_TEXT(error.message, "rose");
    CHECK_STATUS(petal_format_get_spec(info.name, NULL, 1001, 1.5, 0, &spec, &error), PETAL_ERR_FALSE_POSITIVE_RATE);
    CHECK(memcmp(&spec, &before, sizeof spec) == 0);
  }
  petal_spec spec = {.struct_size = sizeof spec}, before = spec;
  CHECK_STATUS(petal_format_get_spec("rose", NULL, 1, 0.01, 0, &spec, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK(memcmp(&spec, &before, sizeof spec) == 0);
}

/* What is impossible is refused with the reason, and makes and writes nothing. */
static void refusals(void) {
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 100};
  petal_filter *own = check_filled(&spec, 0, 10), *none = NULL;
  petal_filter *filter = import("guava", guava, sizeof guava);
  uint64_t size = 4711;
  size_t written = 4711;
  unsigned char buffer[64] = {0x5a};
  CHECK_STATUS(petal_filter_export_size(own, "guava", NULL, &size, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "blocked has no form in guava");
  CHECK_STATUS(petal_filter_export(own, "guava", NULL, buffer, sizeof buffer, &written, &error),
               PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_export_size(filter, "guava", "mitz_32", &size, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "guava_64");
  CHECK_STATUS(petal_filter_export_size(filter, "guava", "rose", &size, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_TEXT(error.message, "mitz_64");
  CHECK_STATUS(petal_filter_export_size(filter, "rose", NULL, &size, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_TEXT(error.message, "guava");
  CHECK_STATUS(petal_filter_export(filter, "rose", NULL, buffer, sizeof buffer, &written, &error),
               PETAL_ERR_UNKNOWN_VALUE);
  CHECK(size == 4711 && written == 4711 && buffer[0] == 0x5a);

  for (size_t length = 0; length < sizeof guava; length++) {
    CHECK_STATUS(petal_filter_import("guava", guava, length, NULL, &none, &error), PETAL_ERR_TRUNCATED);
  }
  unsigned char longer[sizeof guava + 1] = {0}, bytes[sizeof guava];
  memcpy(longer, guava, sizeof guava);
  CHECK_STATUS(petal_filter_import("guava", longer, sizeof longer, NULL, &none, &error), PETAL_ERR_CORRUPT);
  memcpy(bytes, guava, sizeof guava);
  bytes[0] = 7;
  CHECK_STATUS(petal_filter_import("guava", bytes, sizeof bytes, NULL, &none, &error), PETAL_ERR_FOREIGN);
  bytes[0] = 1, bytes[1] = 0;
  CHECK_STATUS(petal_filter_import("guava", bytes, sizeof bytes, NULL, &none, &error), PETAL_ERR_CORRUPT);
  /* A forged count takes no memory. */
  bytes[1] = 10, bytes[2] = 0x7f;
  CHECK_STATUS(petal_filter_import("guava", bytes, sizeof bytes, NULL, &none, &error), PETAL_ERR_TRUNCATED);
  CHECK_STATUS(petal_filter_import("rose", guava, sizeof guava, NULL, &none, &error), PETAL_ERR_UNKNOWN_VALUE);
  petal_import_options options = {.struct_size = sizeof options, .seed = 7};
  CHECK_STATUS(petal_filter_import("guava", guava, sizeof guava, &options, &none, &error), PETAL_ERR_CONTRADICTION);
  CHECK_TEXT(error.message, "seed");
  options.seed = 0, options.rice_bits = 1;
  CHECK_STATUS(petal_filter_import("guava", guava, sizeof guava, &options, &none, &error), PETAL_ERR_CONTRADICTION);
  CHECK_TEXT(error.message, "rice_bits");
  CHECK(none == NULL);

  petal_builder *builder = NULL;
  CHECK_OK(petal_filter_get_spec(filter, &spec, NULL));
  CHECK_STATUS(petal_builder_new(&spec, NULL, &builder, &error), PETAL_ERR_UNSUPPORTED);
  CHECK(builder == NULL);
  petal_filter_free(filter);
  petal_filter_free(own);
}

int main(void) {
  formats_describe_themselves();
  a_filter_of_guava();
  a_cuckoo_filter_of_redisbloom();
  formats_make_and_write();
  refusals();
  return check_done();
}
