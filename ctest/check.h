/*
 * A tiny test kit. A program checks with the CHECK macros below, which print file, line and values where something is
 * not as it should be, and ends with `return check_done();`.
 *
 * Include this first. Each program is one file and knows only what the library's headers say.
 */
#ifndef PETAL_CHECK_H
#define PETAL_CHECK_H

/* POSIX and BSD functions besides those of C99. */
#ifndef _GNU_SOURCE
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <petal.h>
#include <petal_aggregate.h>
#include <petal_digest.h>
#include <petal_formats.h>
#include <petal_index.h>
#include <petal_map.h>
#include <petal_more.h>
#include <petal_policy.h>
#include <petal_router.h>
#include <petal_session.h>
#include <petal_wire.h>

#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _WIN32
#include <direct.h>
#include <io.h>
#endif

static unsigned long check_count;
static unsigned long check_failures;

/* Counts a check, and says what was expected if it failed. Only for the main thread. */
static inline bool check_that(bool holds, const char *file, int line, const char *format, ...) {
  check_count++;
  if (holds) return true;
  if (++check_failures <= 20) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
  }
  return false;
}

static inline void check_equal(uint64_t actual, uint64_t expected, const char *text, const char *file, int line) {
  check_that(actual == expected, file, line, "%s is %" PRIu64 " (%#" PRIx64 "), expected %" PRIu64 " (%#" PRIx64 ")",
             text, actual, actual, expected, expected);
}

static inline void check_close(double actual, double expected, double tolerance, const char *text, const char *file,
                               int line) {
  bool close = actual >= expected - tolerance && actual <= expected + tolerance;
  check_that(close, file, line, "%s is %.17g, expected %.17g +- %g", text, actual, expected, tolerance);
}

static inline void check_status(petal_status actual, petal_status expected, const char *text, const char *file,
                                int line) {
  check_that(actual == expected, file, line, "%s\n    gave %d (%s), expected %d (%s)", text, actual,
             petal_status_message(actual), expected, petal_status_message(expected));
}

static inline void check_text(const char *actual, const char *part, const char *file, int line) {
  check_that(strstr(actual, part) != NULL, file, line, "\"%s\" does not have \"%s\" in it", actual, part);
}

/* A condition; two integers; two numbers that differ by no more than a tolerance; a call that returns a status; a text
 * with another one in it. */
#define CHECK(condition) check_that((condition), __FILE__, __LINE__, "not so: %s", #condition)
#define CHECK_EQUAL(actual, expected) \
  check_equal((uint64_t)(actual), (uint64_t)(expected), #actual, __FILE__, __LINE__)
#define CHECK_CLOSE(actual, expected, tolerance) \
  check_close((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
#define CHECK_STATUS(call, expected) check_status((call), (expected), #call, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_STATUS(call, PETAL_OK)
#define CHECK_TEXT(actual, part) check_text((actual), (part), __FILE__, __LINE__)

/* Keys of each form, and answers of which some outputs are wanted, where a call needs them. */
#define BYTE_KEYS(bytes, length, offsets, count) \
  ((petal_keys[]){petal_keys_bytes((bytes), (length), (offsets), (count))})
/* A number as a byte key, for verbs without a form for numbers. */
#define NUMBER(number) (&(uint64_t){number}), sizeof(uint64_t)
#define U64_KEYS(numbers, count) ((petal_keys[]){petal_keys_u64((numbers), (count))})
#define HASH_KEYS(hashes, count) ((petal_keys[]){petal_keys_hashes((hashes), (count))})
#define ANSWERS(...) ((petal_answers){.struct_size = sizeof(petal_answers), __VA_ARGS__})

/* What opens an open file: on Windows a HANDLE, because a number belongs to one C runtime. */
#ifdef _WIN32
static inline intptr_t check_descriptor(int file) { return _get_osfhandle(file); }
#else
static inline intptr_t check_descriptor(int file) { return file; }
#endif

static char check_folder[1024];

#ifdef _WIN32
static inline char *mkdtemp(char *path) { return _mktemp(path) != NULL && _mkdir(path) == 0 ? path : NULL; }
#endif

static inline int check_remove(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
#ifdef _WIN32
  if (type == FTW_DP) return _rmdir(path);
#endif
  return remove(path);
}

static inline void check_clean_up(void) {
  if (check_folder[0] != '\0') nftw(check_folder, check_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of a file in this program's own folder, which is removed in the end. Eight paths live at a time. */
static inline const char *check_path(const char *name) {
  static char paths[8][1400];
  static unsigned next;
  if (check_folder[0] == '\0') {
    const char *temporary = getenv("TMPDIR");
    snprintf(check_folder, sizeof check_folder, "%s/petal-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(check_folder) == NULL) {
      perror(check_folder);
      exit(1);
    }
    atexit(check_clean_up);
  }
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", check_folder, name);
  return path;
}

/* How many entries a folder has, `.` and `..` included. */
static inline unsigned check_files_in(const char *path) {
  unsigned count = 0;
  DIR *folder = opendir(path);
  while (folder != NULL && readdir(folder) != NULL) count++;
  if (folder != NULL) closedir(folder);
  return count;
}

/* Says what could not be tested here and why. */
static inline void check_skip(const char *what, const char *why) { printf("skipped: %s: %s\n", what, why); }

/* A number of repetitions, smaller under tools that slow the program down. */
static inline uint64_t check_scaled(uint64_t number) {
  const char *text = getenv("PETAL_TEST_SCALE");
  unsigned long scale = text != NULL ? strtoul(text, NULL, 10) : 1;
  return scale > 1 ? number / scale + 1 : number;
}

/* The step of a loop over many alike, of which slow tools see a part: a prime, so that all columns of a table come. */
static inline size_t check_step(void) {
  uint64_t share = check_scaled(100);
  return share < 10 ? 11 : share < 100 ? 3 : 1;
}

/* The program's exit status. */
static inline int check_done(void) {
  printf("%lu checks, %lu failed\n", check_count, check_failures);
  return check_failures == 0 ? 0 : 1;
}

/* The whole image of a filter, so that it can be compared with what it is later. */
typedef struct {
  unsigned char *bytes;
  size_t length;
} check_image;

static inline check_image check_take_image(const petal_filter *filter) {
  uint64_t size = 0;
  CHECK_OK(petal_filter_serialized_size(filter, &size, NULL));
  check_image image = {calloc(1, (size_t)size + 1), (size_t)size};
  size_t written = 0;
  CHECK_OK(petal_filter_serialize(filter, image.bytes, image.length, &written, NULL));
  CHECK_EQUAL(written, size);
  return image;
}

static inline bool check_same_image(const petal_filter *filter, check_image image) {
  check_image now = check_take_image(filter);
  bool same = now.length == image.length && memcmp(now.bytes, image.bytes, now.length) == 0;
  free(now.bytes);
  return same;
}

/* The keys offered to a filter, from its description. */
static inline uint64_t check_keys(const petal_filter *filter) {
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  return description.insertions;
}

static inline bool check_same_bits(const petal_filter *a, const petal_filter *b) {
  bool equal = false;
  CHECK_OK(petal_filter_equals(a, b, &equal, NULL));
  return equal;
}

/* Whether a file is an undamaged image with the bits of a filter. */
static inline bool check_file_is(const char *path, const petal_filter *filter) {
  petal_filter *found = NULL;
  CHECK_OK(petal_filter_open(path, NULL, &found, NULL));
  CHECK_OK(petal_filter_verify(found, NULL));
  bool same = check_same_bits(found, filter);
  petal_filter_free(found);
  return same;
}

/* What the library knows of its own kinds of filter that take all keys, one after the other; how many these are when
 * there is no such. (integers.c is for the others.) */
static inline size_t check_next_kind(size_t index, petal_kind_info *info) {
  size_t filters = 0;
  for (size_t k = 0; k < petal_kind_count(); k++) {
    *info = (petal_kind_info){.struct_size = sizeof *info};
    CHECK_OK(petal_kind_get_at(k, info, NULL));
    if (info->handle == PETAL_HANDLE_FILTER && (info->flags & (PETAL_IS_FOREIGN | PETAL_TAKES_INTEGERS)) == 0 &&
        filters++ == index) break;
  }
  return filters;
}

/* How many kinds of filter there are. */
static inline size_t check_kind_count(void) {
  petal_kind_info info;
  return check_next_kind(SIZE_MAX, &info);
}

/* The kind of filter at a place among them, which the tests of all kinds go through. */
static inline petal_kind check_kind(size_t index) {
  petal_kind_info info = {.struct_size = sizeof info};
  CHECK(check_next_kind(index, &info) == index + 1);
  return info.kind;
}

/* What the library knows of a kind, and whether it can do all of this. */
static inline petal_kind_info check_kind_info(petal_kind kind) {
  petal_kind_info info = {.struct_size = sizeof info};
  for (size_t k = 0; k < petal_kind_count(); k++) {
    CHECK_OK(petal_kind_get_at(k, &info, NULL));
    if (info.kind == kind) return info;
  }
  check_that(false, __FILE__, __LINE__, "there is no kind %" PRIu32, kind);
  return info;
}

static inline bool check_can(petal_kind kind, uint64_t capabilities) {
  return (check_kind_info(kind).capabilities & capabilities) == capabilities;
}

/* Whether images of the kind are opened to be written in place. */
static inline bool check_has(petal_kind kind, uint32_t flag) { return (check_kind_info(kind).flags & flag) != 0; }

static inline bool check_is_writable(petal_kind kind) { return !check_has(kind, PETAL_MOVES_ENTRIES); }

/* Whether a key that is offered twice leaves something else than one that is offered once. */
static inline bool check_counts(petal_kind kind) {
  return (check_kind_info(kind).capabilities & (PETAL_CAN_REMOVE | PETAL_CAN_COUNT)) != 0 &&
         !check_can(kind, PETAL_MAY_LOSE_KEYS);
}

/* Whether a key that is offered again may be refused, because each copy takes room. */
static inline bool check_refuses_copies(petal_kind kind) {
  return check_counts(kind) && check_kind_info(kind).overfill == PETAL_OVERFILL_REFUSES;
}

/* The capacity with which a filter certainly takes `keys` keys, some of them more than once. Copies of a key that each
 * take a place have to be near each other, so more room is needed for them. */
static inline uint64_t check_room(petal_kind kind, uint64_t keys) {
  if (check_can(kind, PETAL_MAY_LOSE_KEYS)) return 4 * keys;
  return check_refuses_copies(kind) ? 2 * keys : keys;
}

/* Different numbers for different i, in no order. */
static inline uint64_t check_key(uint64_t i) { return (i + 1) * UINT64_C(0x9e3779b97f4a7c15); }

/* A filter of any kind with these keys: made empty and given them, or through a builder where its kind takes none. */
static inline petal_filter *check_filled_with(const petal_spec *spec, const petal_keys *keys) {
  petal_filter *filter = NULL;
  if (spec->kind == 0 || check_can(spec->kind, PETAL_CAN_INSERT)) {
    CHECK_OK(petal_filter_new(spec, &filter, NULL));
    CHECK_OK(petal_filter_insert_batch(filter, keys, NULL, NULL));
  } else {
    petal_builder *builder = NULL;
    CHECK_OK(petal_builder_new(spec, NULL, &builder, NULL));
    CHECK_OK(petal_builder_add_batch(builder, keys, NULL, NULL));
    CHECK_OK(petal_builder_finish(builder, &filter, NULL));
    petal_builder_free(builder);
  }
  return filter;
}

/* One with check_key(i) for i from `from` on, less than `to`; as hashes if it takes nothing else. */
static inline petal_filter *check_filled(const petal_spec *spec, uint64_t from, uint64_t to) {
  size_t count = (size_t)(to - from);
  uint64_t *numbers = calloc(count + 1, sizeof *numbers);
  for (size_t i = 0; i < count; i++) numbers[i] = check_key(from + i);
  petal_keys keys =
      spec->hash == PETAL_HASH_EXTERNAL ? petal_keys_hashes(numbers, count) : petal_keys_u64(numbers, count);
  petal_filter *filter = check_filled_with(spec, &keys);
  free(numbers);
  return filter;
}

/* Whether the keys check_key(i), for i from `from` on, less than `to`, are all there. Of a kind that may lose keys a
 * few may be gone. */
static inline bool check_holds(const petal_filter *filter, uint64_t from, uint64_t to) {
  uint64_t lost = 0;
  for (uint64_t i = from; i < to; i++) lost += !petal_filter_contains_u64(filter, check_key(i));
  return lost == 0 || ((petal_filter_capabilities(filter) & PETAL_MAY_LOSE_KEYS) && lost <= 1 + (to - from) / 100);
}

#endif
