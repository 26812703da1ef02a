/* FILTERS: IMAGES AND FILES */
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static petal_spec spec;

/* The status of a change that this handle refuses: the handle may not do what its kind can, or the kind cannot do it
 * anyway. */
static petal_status refusal(uint64_t capability) {
  return check_can(spec.kind, capability) ? PETAL_ERR_UNSUPPORTED_BY_HANDLE : PETAL_ERR_UNSUPPORTED;
}

static petal_filter *make(uint64_t from, uint64_t to) {
  return check_filled(&spec, from, to);
}

static petal_filter *open_file(const char *path, petal_open_mode mode) {
  petal_open_options options = {.struct_size = sizeof options, .mode = mode};
  petal_error error = {.struct_size = sizeof error};
  petal_filter *filter = NULL;
  petal_status status = petal_filter_open(path, &options, &filter, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "opening: %s", error.message);
  return filter;
}

static uint32_t state(const petal_filter *filter) {
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  return description.state;
}

/* Wherever a filter came from, it gives the same answers, describes itself alike and writes the same image. */
static void is_the_same(petal_filter *filter, const petal_filter *original, check_image image) {
  CHECK(check_same_bits(filter, original));
  CHECK(check_same_image(filter, image));
  for (uint64_t i = 0; i < 3000; i++) {
    CHECK(petal_filter_contains_u64(filter, check_key(i)) == petal_filter_contains_u64(original, check_key(i)));
  }
  petal_description a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
  CHECK_OK(petal_filter_describe(filter, &a, NULL));
  CHECK_OK(petal_filter_describe(original, &b, NULL));
  a.state = b.state = 0;
  a.capabilities = b.capabilities = 0;
  CHECK(memcmp(&a, &b, sizeof a) == 0);
  CHECK_OK(petal_filter_verify(filter, NULL));
  petal_filter *copy = NULL;
  CHECK_OK(petal_filter_copy(filter, &copy, NULL));
  CHECK(check_same_image(copy, image));
  petal_filter_free(copy);
  petal_filter_free(filter);
}

static check_image collected;

static bool collect(void *context, const void *bytes, size_t length) {
  CHECK(context == &spec);
  collected.bytes = realloc(collected.bytes, collected.length + length + 1);
  memcpy(collected.bytes + collected.length, bytes, length);
  collected.length += length;
  return true;
}

static void every_way(void) {
  petal_filter *original = make(0, 1500), *filter = NULL;
  check_image image = check_take_image(original);
  petal_open_options load = {.struct_size = sizeof load, .mode = PETAL_OPEN_LOAD};

  /* In a buffer, in place and loaded, with bytes behind it and at an odd address. */
  unsigned char *buffer = calloc(1, image.length + 64);
  memcpy(buffer, image.bytes, image.length);
  CHECK_OK(petal_filter_open_in_buffer(buffer, image.length, NULL, &filter, NULL));
  is_the_same(filter, original, image);
  CHECK_OK(petal_filter_open_in_buffer(buffer, image.length + 64, &load, &filter, NULL));
  is_the_same(filter, original, image);
  memmove(buffer + 3, buffer, image.length);
  CHECK_OK(petal_filter_load(buffer + 3, image.length + 61, NULL, &filter, NULL));
  is_the_same(filter, original, image);
  free(buffer);

  /* Through a callback. */
  CHECK_OK(petal_filter_serialize_to(original, collect, &spec, NULL));
  CHECK(collected.length == image.length && memcmp(collected.bytes, image.bytes, image.length) == 0);
  free(collected.bytes);
  collected = (check_image){NULL, 0};

  /* In a file, in all three modes, and read ahead. */
  const char *path = check_path("filter");
  CHECK_OK(petal_filter_save(original, path, NULL));
  for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_LOAD; mode++) {
    if (mode == PETAL_OPEN_WRITE && !check_is_writable(spec.kind)) continue;
    filter = open_file(path, mode);
    CHECK_EQUAL(!!(state(filter) & PETAL_STATE_IN_PLACE), mode != PETAL_OPEN_LOAD);
    CHECK_EQUAL(!!(state(filter) & PETAL_STATE_WRITABLE), mode != PETAL_OPEN_READ);
    is_the_same(filter, original, image);
    petal_open_options ahead = {.struct_size = sizeof ahead, .mode = mode, .prefault = 1};
    CHECK_OK(petal_filter_open(path, &ahead, &filter, NULL));
    is_the_same(filter, original, image);
  }

  /* Somewhere in a file; the descriptor may be closed right away. */
  static const uint64_t offsets[] = {0, 8, 64, 4096, 4104, 123456};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_LOAD; mode++) {
      if (mode == PETAL_OPEN_WRITE && !check_is_writable(spec.kind)) continue;
      int file = open(check_path("table"), O_RDWR | O_CREAT, 0600);
      CHECK(pwrite(file, image.bytes, image.length, (off_t)offsets[i]) == (ssize_t)image.length);
      CHECK(pwrite(file, "more", 4, (off_t)(offsets[i] + image.length)) == 4);
      petal_open_options options = {.struct_size = sizeof options, .mode = mode};
      CHECK_OK(petal_filter_open_descriptor(file, offsets[i], &options, &filter, NULL));
      close(file);
      is_the_same(filter, original, image);
    }
  }
  free(image.bytes);
  petal_filter_free(original);
}

/* Written in place, synced or freed, opened again. */
static void writing_in_place(void) {
  const char *path = check_path("written");
  petal_filter *owned = make(0, 1000), *mapped = make(0, 0);
  CHECK_OK(petal_filter_save(mapped, path, NULL));
  petal_filter_free(mapped);

  mapped = open_file(path, PETAL_OPEN_WRITE);
  for (uint64_t i = 0; i < 600; i++) CHECK_OK(petal_filter_insert_u64(mapped, check_key(i), NULL));
  /* Another handle sees what was written, and that the writer is not done. */
  petal_filter *reader = open_file(path, PETAL_OPEN_READ);
  CHECK(state(reader) & PETAL_STATE_UNCLEAN);
  CHECK_STATUS(petal_filter_verify(reader, NULL), PETAL_ERR_UNCLEAN);
  for (uint64_t i = 0; i < 600; i++) CHECK(petal_filter_contains_u64(reader, check_key(i)));
  petal_filter_free(reader);

  CHECK_OK(petal_filter_sync(mapped, NULL));
  reader = open_file(path, PETAL_OPEN_READ);
  CHECK_EQUAL(state(reader) & PETAL_STATE_UNCLEAN, 0);
  CHECK_OK(petal_filter_verify(reader, NULL));
  CHECK_EQUAL(check_keys(reader), 600);
  petal_filter_free(reader);

  for (uint64_t i = 600; i < 1000; i++) CHECK_OK(petal_filter_insert_u64(mapped, check_key(i), NULL));
  check_image image = check_take_image(owned);
  CHECK(check_same_image(mapped, image));
  petal_filter_free(mapped);
  is_the_same(open_file(path, PETAL_OPEN_READ), owned, image);
  free(image.bytes);

  /* All other changes that the kind has work there too. */
  petal_filter *more = make(1000, 1500);
  petal_status merges = check_can(spec.kind, PETAL_CAN_MERGE) ? PETAL_OK : PETAL_ERR_UNSUPPORTED;
  petal_status intersects = check_can(spec.kind, PETAL_CAN_INTERSECT) ? PETAL_OK : PETAL_ERR_UNSUPPORTED;
  mapped = open_file(path, PETAL_OPEN_WRITE);
  CHECK_STATUS(petal_filter_merge(mapped, more, NULL), merges);
  CHECK_STATUS(petal_filter_merge(owned, more, NULL), merges);
  CHECK(check_same_bits(mapped, owned));
  CHECK_STATUS(petal_filter_fold(mapped, 2, NULL), refusal(PETAL_CAN_FOLD));
  CHECK_STATUS(petal_filter_intersect(mapped, more, NULL), intersects);
  CHECK_STATUS(petal_filter_intersect(owned, more, NULL), intersects);
  CHECK(check_same_bits(mapped, owned));
  petal_filter_free(mapped);
  mapped = open_file(path, PETAL_OPEN_WRITE);
  CHECK(check_same_bits(mapped, owned));
  CHECK_OK(petal_filter_clear(mapped, NULL));
  CHECK_OK(petal_filter_sync(mapped, NULL));
  CHECK_EQUAL(check_keys(mapped), 0);
  CHECK_OK(petal_filter_sync(mapped, NULL));
  petal_filter_free(mapped);
  petal_filter_free(more);

  /* A filter in its own memory needs no sync, and a sync succeeds. */
  CHECK_OK(petal_filter_sync(owned, NULL));
  CHECK_OK(petal_filter_verify(owned, NULL));
  petal_filter_free(owned);
}

/* A handle for reading refuses every change, and the file stays as it is. */
static void reading_only(void) {
  const char *path = check_path("read");
  petal_filter *original = make(0, 1000), *reader = NULL;
  CHECK_OK(petal_filter_save(original, path, NULL));
  check_image image = check_take_image(original);

  /* The memory is write-protected: a write would end the program. */
  size_t room = (image.length + 65535) / 65536 * 65536;
  unsigned char *locked = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  memcpy(locked, image.bytes, image.length);
  CHECK(mprotect(locked, room, PROT_READ) == 0);

  for (int i = 0; i < 2; i++) {
    if (i == 0) reader = open_file(path, PETAL_OPEN_READ);
    if (i == 1) CHECK_OK(petal_filter_open_in_buffer(locked, image.length, NULL, &reader, NULL));
    bool is_new = true;
    petal_answers answers = ANSWERS(.done = 9);
    static const uint64_t keys[] = {1, 2, 3};
    CHECK_STATUS(petal_filter_insert(reader, "a", 1, &is_new), refusal(PETAL_CAN_INSERT));
    CHECK_STATUS(petal_filter_insert_u64(reader, 1, &is_new), refusal(PETAL_CAN_INSERT));
    CHECK_STATUS(petal_filter_insert_hash(reader, 1, &is_new), refusal(PETAL_CAN_INSERT));
    CHECK_STATUS(petal_filter_insert_batch(reader, U64_KEYS(keys, 3), &answers, NULL), refusal(PETAL_CAN_INSERT));
    CHECK_STATUS(petal_filter_merge(reader, original, NULL), refusal(PETAL_CAN_MERGE));
    CHECK_STATUS(petal_filter_intersect(reader, original, NULL), refusal(PETAL_CAN_INTERSECT));
    CHECK_STATUS(petal_filter_fold(reader, 2, NULL), refusal(PETAL_CAN_FOLD));
    CHECK_STATUS(petal_filter_clear(reader, NULL), refusal(PETAL_CAN_CLEAR));
    CHECK_OK(petal_filter_sync(reader, NULL));
    CHECK(is_new && answers.done == 0);
    is_the_same(reader, original, image);
  }
  munmap(locked, room);
  free(image.bytes);
  petal_filter_free(original);
}

/* Saving puts a new file in the old one's place: whoever has the old one mapped keeps it. */
static void atomic_save(void) {
  const char *path = check_path("saved");
  petal_filter *old = make(0, 1000), *new = make(1000, 2000);
  CHECK_OK(petal_filter_save(old, path, NULL));
  unsigned files = check_files_in(check_path("."));
  CHECK(chmod(path, 0640) == 0);
  petal_filter *mapped = open_file(path, PETAL_OPEN_READ);
  CHECK_OK(petal_filter_save(new, path, NULL));
  CHECK_EQUAL(check_files_in(check_path(".")), files);
  CHECK(check_same_bits(mapped, old));
  petal_filter *fresh = open_file(path, PETAL_OPEN_READ);
  CHECK(check_same_bits(fresh, new));

  /* The permissions are those of the file that was there. */
  struct stat status;
  CHECK(stat(path, &status) == 0 && (status.st_mode & 07777) == 0640);

  /* The path is no longer the file that the old handle maps, but it is the new handle's. */
  CHECK_OK(petal_filter_save(mapped, path, NULL));
  CHECK_OK(petal_filter_save(fresh, path, NULL));
  petal_filter *last = open_file(path, PETAL_OPEN_READ);
  CHECK_STATUS(petal_filter_save(last, path, NULL), PETAL_ERR_MAPPED_PATH);
  CHECK(check_same_bits(last, new));
  petal_filter_free(last);
  petal_filter_free(fresh);
  petal_filter_free(mapped);

  /* A file name may be as long as the system lets it be. */
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  petal_error error = {.struct_size = sizeof error};
  CHECK_OK(petal_filter_save(old, check_path(name), &error));
  remove(check_path(name));

  /* And a path need not have a folder in it. */
  char here[1024];
  CHECK(getcwd(here, sizeof here) != NULL && chdir(check_path(".")) == 0);
  CHECK_OK(petal_filter_save(old, "relative", NULL));
  fresh = open_file("relative", PETAL_OPEN_READ);
  CHECK(check_same_bits(fresh, old));
  petal_filter_free(fresh);
  CHECK(chdir(here) == 0);
  petal_filter_free(old);
  petal_filter_free(new);
}

static bool file_contains(const char *path, const uint8_t *bytes, size_t length) {
  FILE *file = fopen(path, "rb");
  static unsigned char content[1 << 16];
  size_t size = file != NULL ? fread(content, 1, sizeof content, file) : 0;
  if (file != NULL) fclose(file);
  CHECK(size > 256);
  for (size_t i = 0; i + length <= size; i++) {
    if (memcmp(content + i, bytes, length) == 0) return true;
  }
  return false;
}

/* A keyed filter's file does not have the key in it. Without the key all but hashing works. */
static void keyed(void) {
  static const uint8_t key[16] = {0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const char *path = check_path("keyed");
  petal_spec with_key = spec;
  with_key.hash = PETAL_HASH_SIPHASH13;
  memcpy(with_key.secret, key, sizeof key);
  petal_filter *filter = check_filled(&with_key, 0, 1000);
  CHECK_OK(petal_filter_save(filter, path, NULL));
  CHECK(!file_contains(path, key, 8) && !file_contains(path, key + 8, 8));

  for (petal_open_mode mode = PETAL_OPEN_READ; mode <= PETAL_OPEN_LOAD; mode++) {
    if (mode == PETAL_OPEN_WRITE && !check_is_writable(spec.kind)) continue;
    petal_open_options options = {.struct_size = sizeof options, .mode = mode};
    petal_filter *locked = NULL, *open = NULL, *none = NULL;
    bool found = false;
    CHECK_OK(petal_filter_open(path, &options, &locked, NULL));
    CHECK_EQUAL(state(locked) & PETAL_STATE_CAN_HASH, 0);
    CHECK(check_same_bits(locked, filter));
    CHECK(petal_filter_contains(locked, "nobody", 6) && petal_filter_contains_u64(locked, 123456789));
    CHECK_STATUS(petal_filter_contains_checked_u64(locked, 5, &found), PETAL_ERR_SECRET_MISSING);
    CHECK_OK(petal_filter_verify(locked, NULL));
    uint64_t hash = 0;
    CHECK_OK(petal_filter_hash(filter, NUMBER(check_key(5)), &hash));
    CHECK(petal_filter_contains_hash(locked, hash));
    petal_filter *copy = NULL;
    CHECK_OK(petal_filter_copy(filter, &copy, NULL));
    petal_status merges = check_can(spec.kind, PETAL_CAN_MERGE) ? PETAL_OK : PETAL_ERR_UNSUPPORTED;
    CHECK_STATUS(petal_filter_merge(copy, locked, NULL), merges);
    petal_filter_free(copy);
    petal_filter_free(locked);

    memcpy(options.secret, key, sizeof key);
    CHECK_OK(petal_filter_open(path, &options, &open, NULL));
    CHECK(state(open) & PETAL_STATE_CAN_HASH);
    for (uint64_t i = 0; i < 1000; i++) CHECK(petal_filter_contains_u64(open, check_key(i)));
    petal_filter_free(open);

    options.secret[0] = 0;
    CHECK_STATUS(petal_filter_open(path, &options, &none, NULL), PETAL_ERR_SECRET_MISMATCH);
    CHECK(none == NULL);
  }
  petal_filter_free(filter);
}

int main(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    spec = (petal_spec){.struct_size = sizeof spec, .kind = check_kind(k), .capacity = check_room(check_kind(k), 2000)};
    every_way();
    if (check_can(spec.kind, PETAL_CAN_INSERT) && check_is_writable(spec.kind)) writing_in_place();
    reading_only();
    atomic_save();
    keyed();
  }
  return check_done();
}
