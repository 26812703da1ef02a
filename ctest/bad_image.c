/* Bad images: cut off, foreign, spoilt bit by bit, from later versions, made to deceive, in unfit buffers, and open for
 * reading only. Nothing crashes, and what can be found is found. */
#include "refused.h"

#include <fcntl.h>

/* Where fields are, from docs/format.md. */
enum { VERSION = 8, LAYOUT = 10, KIND = 12, HASH = 16, REQUIRED = 24, OPTIONAL = 32, BITS = 64, PAYLOAD = 136,
       CHECKSUM = 208, SEAL = 248, HEADER = 256 };

/* What the tests make images in. */
enum { ROOM = 2048 };

/* Gives an image in ROOM bytes the checksums that belong to it: those of the header, and of a payload that fits. */
static void seal(unsigned char *image) {
  petal_spec spec = SPEC(.hash = PETAL_HASH_XXH3);
  uint64_t hash = 0, payload = 0;
  CHECK_OK(petal_spec_hash(&spec, image, CHECKSUM, &hash, NULL));
  memcpy(image + CHECKSUM, &hash, 8);
  CHECK_OK(petal_spec_hash(&spec, image + CHECKSUM, SEAL - CHECKSUM, &hash, NULL));
  memcpy(image + SEAL, &hash, 8);
  memcpy(&payload, image + PAYLOAD, 8);
  if (payload > ROOM - HEADER - 64) return;
  /* One region: its entry, zeros, and the checksum of the table with the header's before it. */
  unsigned char bound[64] = {0}, *table = image + HEADER + payload;
  memcpy(bound, image + CHECKSUM, 8);
  CHECK_OK(petal_spec_hash(&spec, image + HEADER, (size_t)payload, &hash, NULL));
  memcpy(bound + 8, &hash, 8);
  memcpy(table, bound + 8, 56);
  CHECK_OK(petal_spec_hash(&spec, bound, 64, &hash, NULL));
  memcpy(table + 56, &hash, 8);
}

static petal_status try_load(const void *image, size_t length) {
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_load(image, length, NULL, &filter, &error);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  if (status == PETAL_OK) petal_filter_free(filter);
  return status;
}

static petal_status try_open(void *image, size_t length) {
  petal_filter *filter = SENTINEL;
  petal_status status = petal_filter_open_in_buffer(image, length, NULL, &filter, &error);
  CHECK((status == PETAL_OK) == (filter != SENTINEL));
  if (status == PETAL_OK) petal_filter_free(filter);
  return status;
}

static bool ignore(void *context, const void *bytes, size_t length) {
  (void)context;
  return bytes != NULL && length > 0;
}

/* Does everything with a filter that may be nonsense. Any answer will do, but no bug is found. */
static void use_up(petal_filter *filter) {
  uint64_t numbers[100];
  petal_answers answers = ANSWERS(.bytes = NULL);
  petal_description description = {.struct_size = sizeof description};
  petal_spec spec = {.struct_size = sizeof spec};
  petal_filter *copy = NULL;
  double rate = 0;
  for (uint64_t i = 0; i < 100; i++) numbers[i] = check_key(i);
  (void)petal_filter_contains_u64(filter, 1);
  CHECK_OK(petal_filter_contains_batch(filter, HASH_KEYS(numbers, 100), &answers, NULL));
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK_OK(petal_filter_expected_false_positive_rate(filter, description.capacity, &rate, NULL));
  CHECK_OK(petal_filter_get_spec(filter, &spec, NULL));
  /* The payload may not be what its checksums say, and then nothing is made of it. */
  petal_status status = petal_filter_serialize_to(filter, ignore, NULL, NULL);
  CHECK(status == PETAL_OK || status == PETAL_ERR_CORRUPT);
  CHECK(petal_filter_verify(filter, NULL) != PETAL_ERR_INTERNAL);
  if (petal_filter_copy(filter, &copy, NULL) != PETAL_OK) return;
  uint64_t can = petal_filter_capabilities(copy);
  /* The image may say of a filter that grows that it is as large as can be, of one that refuses keys that it is full,
   * and of one that takes no removed keys again that all were removed. */
  bool may_be_full = can & (PETAL_CAN_GROW | PETAL_MAY_LOSE_KEYS)
      || check_kind_info(description.kind).overfill == PETAL_OVERFILL_REFUSES;
  /* Making a new payload of two reads both, and may find that out. */
  status = petal_filter_merge(copy, filter, NULL);
  if (status != PETAL_ERR_CORRUPT && (status != PETAL_ERR_FULL || !may_be_full)) {
    CHECK_STATUS(status, can & PETAL_CAN_MERGE ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
  }
  petal_status inserted = petal_filter_insert_hash(copy, 1, NULL);
  if (inserted != PETAL_ERR_FULL || !may_be_full) {
    CHECK_STATUS(inserted, can & PETAL_CAN_INSERT ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
  }
  CHECK(petal_filter_remove_hash(copy, 1, NULL) != PETAL_ERR_INTERNAL);
  CHECK(petal_filter_fold(copy, 2, NULL) != PETAL_ERR_INTERNAL);
  CHECK(petal_filter_fold(copy, 3, NULL) != PETAL_ERR_INTERNAL);
  CHECK_STATUS(petal_filter_clear(copy, NULL), can & PETAL_CAN_CLEAR ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
  petal_filter_free(copy);
}

/* One image in aligned memory of which a test may spoil a copy. */
static uint64_t sound_words[ROOM / 8], spoilt_words[ROOM / 8];
static unsigned char *const sound = (unsigned char *)sound_words, *const spoilt = (unsigned char *)spoilt_words;
static size_t sound_length;
static petal_kind sound_kind;

static void make_sound(petal_kind kind) {
  sound_kind = kind;
  petal_filter *filter = check_filled(&SPEC(.kind = kind, .capacity = 50), 0, 50);
  CHECK_OK(petal_filter_serialize(filter, sound, sizeof sound_words, &sound_length, NULL));
  petal_filter_free(filter);
}

static void restore(void) { memcpy(spoilt_words, sound_words, sizeof sound_words); }

static void put(size_t offset, uint64_t value, size_t size) {
  memcpy(spoilt + offset, &value, size);
  seal(spoilt);
}

static void truncated_and_foreign(void) {
  for (size_t length = 0; length < sound_length; length += check_step()) {
    /* The rest is not there at all, so that a tool would see a read of it. */
    uint64_t *part = calloc(1, length + 1);
    memcpy(part, sound, length);
    REFUSED(PETAL_ERR_TRUNCATED, length < HEADER ? "256" : "image has", try_load(part, length));
    REFUSED(PETAL_ERR_TRUNCATED, "", try_open(part, length));
    free(part);
  }
  static uint64_t zeros[64], text[64];
  memcpy(text, "This is no image, however long one reads on.", 45);
  REFUSED(PETAL_ERR_FOREIGN, "Petal", try_load(zeros, sizeof zeros));
  REFUSED(PETAL_ERR_FOREIGN, "Petal", try_open(text, sizeof text));
  REFUSED(PETAL_ERR_FOREIGN, "Petal", try_load(text, 1));
}

static void flipped_header_bits(void) {
  for (size_t bit = 0; bit < 8 * HEADER; bit += check_step()) {
    restore();
    spoilt[bit / 8] ^= (unsigned char)(1 << bit % 8);
    petal_status status = try_load(spoilt, sound_length);
    CHECK(status == PETAL_ERR_FOREIGN || status == PETAL_ERR_CORRUPT || status == PETAL_ERR_NEWER_VERSION);
    CHECK_STATUS(try_open(spoilt, sound_length), status);
    if (bit >= 8 * LAYOUT) REFUSED(PETAL_ERR_CORRUPT, "", try_load(spoilt, sound_length));
  }
}

/* A spoilt payload is found by loading and by verifying; in place, it opens and does no harm. */
static void flipped_payload_bits(void) {
  for (size_t bit = 8 * HEADER; bit < 8 * sound_length; bit += check_step()) {
    restore();
    spoilt[bit / 8] ^= (unsigned char)(1 << bit % 8);
    REFUSED(PETAL_ERR_CORRUPT, "", try_load(spoilt, sound_length));
    petal_filter *filter = NULL;
    /* Only a filter whose own state is impossible is refused when it is opened. */
    petal_status status = petal_filter_open_in_buffer(spoilt, sound_length, NULL, &filter, NULL);
    CHECK(status == PETAL_OK || status == PETAL_ERR_CORRUPT);
    if (status != PETAL_OK) continue;
    REFUSED(PETAL_ERR_CORRUPT, "", petal_filter_verify(filter, &error));
    use_up(filter);
    petal_filter_free(filter);
  }
}

static void later_versions(void) {
  restore();
  put(VERSION, 2, 2);
  REFUSED(PETAL_ERR_NEWER_VERSION, "version 2|1", try_load(spoilt, sound_length));
  restore();
  put(LAYOUT, 2, 2);
  REFUSED(PETAL_ERR_NEWER_VERSION, "layout 2", try_load(spoilt, sound_length));
  restore();
  put(KIND, 99, 4);
  REFUSED(PETAL_ERR_NEWER_VERSION, "kind 99", try_open(spoilt, sound_length));
  restore();
  put(HASH, 99, 4);
  REFUSED(PETAL_ERR_NEWER_VERSION, "hash", try_open(spoilt, sound_length));
  for (int bit = 0; bit < 64; bit++) {
    restore();
    put(REQUIRED, UINT64_C(1) << bit, 8);
    REFUSED(PETAL_ERR_NEWER_VERSION, "features 0x", try_load(spoilt, sound_length));
    REFUSED(PETAL_ERR_NEWER_VERSION, "features 0x", try_open(spoilt, sound_length));
    /* An unknown optional feature does not matter. */
    restore();
    put(OPTIONAL, UINT64_C(1) << bit, 8);
    CHECK_OK(try_load(spoilt, sound_length));
  }
}

static uint64_t random_state = 88172645463325252;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* Headers that somebody made on purpose, with the right checksums: words with numbers at the edges, one or more. */
static void hostile_headers(void) {
  static const uint64_t edges[] = {0, 1, 2, 7, 8, 31, 63, 64, 65, 127, 128, 192, 255, 256, 511, 512, 1023, 1024,
                                   UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 62, UINT64_C(1) << 63,
                                   UINT64_MAX, UINT64_MAX - 63, UINT64_MAX - 255, UINT64_C(0x3ff0000000000000),
                                   UINT64_C(0x7ff8000000000000), UINT64_C(0x3fefffffffffffff)};
  const uint64_t count = sizeof edges / sizeof *edges;
  uint64_t opened = 0;
  for (uint64_t round = 0; round < check_scaled(10000); round++) {
    restore();
    for (size_t i = HEADER / 8; i < sizeof spoilt_words / 8 && round % 2 == 0; i++) spoilt_words[i] = next_random();
    for (uint64_t i = round % 3 + 1; i > 0; i--) {
      size_t size = next_random() % 4 == 0 ? 4 : 8;
      size_t offset = (size_t)(KIND + size * (next_random() % ((CHECKSUM - KIND) / size)));
      /* Mostly the geometry, which is the dangerous part. */
      if (next_random() % 2 == 0) offset = BITS + 8 * (size_t)(next_random() % 10), size = 8;
      put(offset, edges[next_random() % count], size);
    }
    petal_filter *filter = NULL;
    petal_status status = petal_filter_open_in_buffer(spoilt, sizeof spoilt_words, NULL, &filter, NULL);
    CHECK(status != PETAL_ERR_INTERNAL && status != PETAL_ERR_OUT_OF_MEMORY);
    CHECK(try_load(spoilt, sizeof spoilt_words) != PETAL_ERR_INTERNAL);
    if (status != PETAL_OK) continue;
    opened++;
    use_up(filter);
    petal_filter_free(filter);
  }
  CHECK(opened > 0);
}

static void buffers(void) {
  static uint64_t buffer[128];
  unsigned char *bytes = (unsigned char *)buffer;
  petal_spec spec = SPEC(.capacity = 50);
  petal_filter *none = SENTINEL, *filter = make(spec);
  size_t written = 4711;
  memset(buffer, 0x77, sizeof buffer);
  restore();
  guard(filter);
  REFUSED(PETAL_ERR_BUFFER_TOO_SMALL, "100 bytes|384",
          petal_filter_new_in_buffer(&spec, buffer, 100, &none, &error));
  REFUSED(PETAL_ERR_BUFFER_TOO_SMALL, "383 bytes|384", petal_filter_serialize(filter, buffer, 383, &written, &error));
  for (size_t shift = 1; shift < 8; shift++) {
    REFUSED(PETAL_ERR_MISALIGNED, "buffer|8 bytes",
            petal_filter_new_in_buffer(&spec, bytes + shift, 1000, &none, &error));
  }
  for (size_t i = 0; i < sizeof buffer; i++) CHECK_EQUAL(bytes[i], 0x77);
  CHECK_EQUAL(written, 4711);
  for (size_t shift = 1; shift < 8; shift++) {
    memcpy(bytes + shift, sound, sound_length);
    REFUSED(PETAL_ERR_MISALIGNED, "buffer|8 bytes",
            petal_filter_open_in_buffer(bytes + shift, sound_length, NULL, &none, &error));
    CHECK_OK(try_load(bytes + shift, sound_length));
  }
  REFUSED(PETAL_ERR_TOO_LARGE, "18446744073709551615", petal_filter_load(sound, SIZE_MAX, NULL, &none, &error));
  CHECK(none == SENTINEL);
  guard(NULL);
  petal_filter_free(filter);
}

static void spoilt_files(void) {
  const char *path = check_path("spoilt");
  for (size_t length = 0; length <= sound_length + 3; length++) {
    /* A new file each time: some file systems write immediately what takes the place of an older file's bytes. */
    (void)remove(path);
    FILE *file = fopen(path, "wb");
    restore();
    CHECK(fwrite(spoilt, 1, length, file) == length && fclose(file) == 0);
    for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_LOAD; mode++) {
      if (length < sound_length) REFUSED(PETAL_ERR_TRUNCATED, "", try_file(path, mode));
      if (length == sound_length) {
        bool opens = mode != PETAL_OPEN_WRITE || check_is_writable(sound_kind);
        CHECK_STATUS(try_file(path, mode), opens ? PETAL_OK : PETAL_ERR_UNSUPPORTED);
      }
      if (length > sound_length) REFUSED(PETAL_ERR_CORRUPT, "bytes follow", try_file(path, mode));
    }
  }
  /* What follows an image in a file does not matter, but offsets do. */
  petal_filter *filter = SENTINEL;
  int number = open(path, O_RDWR);
  intptr_t file = check_descriptor(number);
  for (uint64_t offset = 1; offset < 8; offset++) {
    char text[32];
    snprintf(text, sizeof text, "offset = %d ", (int)offset);
    REFUSED(PETAL_ERR_MISALIGNED, text, petal_filter_open_descriptor(file, offset, NULL, &filter, &error));
  }
  REFUSED(PETAL_ERR_TRUNCATED, "", petal_filter_open_descriptor(file, 1 << 20, NULL, &filter, &error));
  REFUSED(PETAL_ERR_FOREIGN, "", petal_filter_open_descriptor(file, 8, NULL, &filter, &error));
  CHECK(petal_filter_open_descriptor(file, UINT64_MAX - 7, NULL, &filter, &error) != PETAL_OK);
  CHECK(filter == SENTINEL);
  close(number);
}

static void reading_only(petal_kind kind) {
  petal_filter *reader = NULL, *other = make(SPEC(.kind = kind, .capacity = 50));
  make_sound(kind);
  restore();
  CHECK_OK(petal_filter_open_in_buffer(spoilt, sound_length, NULL, &reader, NULL));
  static const uint64_t numbers[] = {1, 2, 3};
  guard(reader);
  /* What the kind never does is refused by its name, and the rest because of how it is open. */
  char never[64];
  snprintf(never, sizeof never, "%s|cannot", check_kind_info(kind).name);
#define READING(capability, texts) (check_can(kind, (capability)) ? (texts) : never)
#define REFUSAL(capability) (check_can(kind, (capability)) ? PETAL_ERR_UNSUPPORTED_BY_HANDLE : PETAL_ERR_UNSUPPORTED)
  REFUSED(REFUSAL(PETAL_CAN_INSERT), READING(PETAL_CAN_INSERT, "open for reading|mode write"),
          petal_filter_insert_batch(reader, U64_KEYS(numbers, 3), NULL, &error));
  REFUSED(REFUSAL(PETAL_CAN_MERGE), READING(PETAL_CAN_MERGE, "open for reading|mode write"),
          petal_filter_merge(reader, other, &error));
  REFUSED(REFUSAL(PETAL_CAN_INTERSECT), READING(PETAL_CAN_INTERSECT, "open for reading|mode write"),
          petal_filter_intersect(reader, other, &error));
  REFUSED(REFUSAL(PETAL_CAN_CLEAR), READING(PETAL_CAN_CLEAR, "open for reading|mode write"),
          petal_filter_clear(reader, &error));
  REFUSED(REFUSAL(PETAL_CAN_REMOVE), READING(PETAL_CAN_REMOVE, "open for reading|mode write"),
          petal_filter_remove_batch(reader, U64_KEYS(numbers, 3), NULL, &error));
  REFUSED(REFUSAL(PETAL_CAN_REJUVENATE), READING(PETAL_CAN_REJUVENATE, "open for reading|mode write"),
          petal_filter_rejuvenate_batch(reader, U64_KEYS(numbers, 3), NULL, &error));
  REFUSED(REFUSAL(PETAL_CAN_FOLD), READING(PETAL_CAN_FOLD, "fold|mode load"), petal_filter_fold(reader, 2, &error));
  REFUSED_PLAIN(REFUSAL(PETAL_CAN_INSERT), petal_filter_insert(reader, "a", 1, NULL));
  guard(NULL);
  petal_filter_free(reader);
  petal_filter_free(other);
}

int main(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    make_sound(check_kind(k));
    truncated_and_foreign();
    flipped_header_bits();
    flipped_payload_bits();
    later_versions();
    hostile_headers();
    spoilt_files();
    reading_only(check_kind(k));
  }
  make_sound(PETAL_KIND_BLOOM);
  buffers();

  static const petal_status provoked[] = {
      PETAL_ERR_TOO_LARGE,
      PETAL_ERR_BUFFER_TOO_SMALL,
      PETAL_ERR_MISALIGNED,
      PETAL_ERR_UNSUPPORTED,
      PETAL_ERR_UNSUPPORTED_BY_HANDLE,
      PETAL_ERR_FOREIGN,
      PETAL_ERR_TRUNCATED,
      PETAL_ERR_CORRUPT,
      PETAL_ERR_NEWER_VERSION,
  };
  return refused_done(provoked, sizeof provoked / sizeof *provoked);
}
