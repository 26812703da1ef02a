/* A program that knows only the header, as a Windows program: it saves under a name of UTF-8, shares the file with
 * itself, opens a HANDLE, and replaces a file. With arguments the program does one of these, the first three until
 * somebody kills it:
 *   hold PATH          holds an image open for writing
 *   write PATH COUNT   inserts keys from COUNT on, and says after each flush how many keys there are
 *   save PATH COUNT    saves filters of ever more keys
 *   share PATH COUNT   inserts 1000 keys from COUNT on while others do
 *   full PATH COUNT    finds no room for a filter
 * `check PATH COUNT` checks that an image has the keys below COUNT, and says whether it is unclean; `once PATH COUNT`
 * saves one filter. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <petal.h>
#include <petal_inline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, error.message); \
      return 1;                                                                \
    }                                                                          \
  } while (0)

static petal_open_options with(petal_open_mode mode) {
  petal_open_options options = {.struct_size = sizeof options, .mode = mode};
  return options;
}

static int hold(const char *path) {
  petal_error error = {.struct_size = sizeof error};
  petal_open_options options = with(PETAL_OPEN_WRITE);
  petal_filter *filter = NULL;
  CHECK(petal_filter_open(path, &options, &filter, &error) == PETAL_OK);
  CHECK(petal_filter_insert_u64(filter, 1000, NULL) == PETAL_OK);
  puts("held");
  fflush(stdout);
  Sleep(60000);
  return 1;
}

static int write_until_killed(const char *path, uint64_t key) {
  petal_error error = {.struct_size = sizeof error};
  petal_open_options options = with(PETAL_OPEN_WRITE);
  petal_filter *filter = NULL;
  CHECK(petal_filter_open(path, &options, &filter, &error) == PETAL_OK);
  for (;;) {
    for (int i = 0; i < 64; i++) CHECK(petal_filter_insert_u64(filter, key++, &(bool){false}) == PETAL_OK);
    CHECK(petal_filter_sync(filter, &error) == PETAL_OK);
    printf("%llu\n", (unsigned long long)key);
    fflush(stdout);
  }
}

static int save_until_killed(const char *path, uint64_t keys, int times) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 100000, .false_positive_rate = 0.01};
  petal_filter *filter = NULL;
  CHECK(petal_filter_new(&spec, &filter, &error) == PETAL_OK);
  for (uint64_t key = 0; key < keys; key++) CHECK(petal_filter_insert_u64(filter, key, NULL) == PETAL_OK);
  for (int i = 0; i != times; i++) {
    CHECK(petal_filter_save(filter, path, &error) == PETAL_OK);
    printf("%llu\n", (unsigned long long)keys);
    fflush(stdout);
    CHECK(petal_filter_insert_u64(filter, keys++, NULL) == PETAL_OK);
  }
  petal_filter_free(filter);
  return 0;
}

static int share_with_others(const char *path, uint64_t key) {
  petal_error error = {.struct_size = sizeof error};
  petal_open_options options = with(PETAL_OPEN_SHARE);
  petal_filter *filter = NULL;
  CHECK(petal_filter_open(path, &options, &filter, &error) == PETAL_OK);
  for (int i = 0; i < 1000; i++) {
    CHECK(petal_filter_insert_shared_u64(filter, key++, NULL) == PETAL_OK);
    if (i % 100 == 0) Sleep(20);
  }
  petal_filter_free(filter);
  return 0;
}

static int find_no_room(const char *path) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 1000000, .false_positive_rate = 0.01};
  petal_filter *filter = NULL;
  CHECK(petal_filter_new(&spec, &filter, &error) == PETAL_OK);
  CHECK(petal_filter_save(filter, path, &error) == PETAL_ERR_NO_SPACE);
  petal_filter_free(filter);
  return 0;
}

static int check(const char *path, uint64_t keys) {
  petal_error error = {.struct_size = sizeof error};
  petal_filter *filter = NULL;
  CHECK(petal_filter_open(path, NULL, &filter, &error) == PETAL_OK);
  petal_description description = {.struct_size = sizeof description};
  CHECK(petal_filter_describe(filter, &description, &error) == PETAL_OK);
  for (uint64_t key = 0; key < keys; key++) CHECK(petal_filter_contains_u64(filter, key));
  bool is_unclean = (description.state & (PETAL_STATE_UNCLEAN | PETAL_STATE_STAYS_UNCLEAN)) != 0;
  /* A clean image is one whose checksums hold. */
  CHECK(petal_filter_verify(filter, &error) == PETAL_OK || is_unclean);
  puts(is_unclean ? "unclean" : "clean");
  petal_filter_free(filter);
  return 0;
}

int main(int count, char **arguments) {
  if (count == 3 && strcmp(arguments[1], "hold") == 0) return hold(arguments[2]);
  if (count == 4) {
    uint64_t keys = strtoull(arguments[3], NULL, 10);
    if (strcmp(arguments[1], "write") == 0) return write_until_killed(arguments[2], keys);
    if (strcmp(arguments[1], "save") == 0) return save_until_killed(arguments[2], keys, -1);
    if (strcmp(arguments[1], "once") == 0) return save_until_killed(arguments[2], keys, 1);
    if (strcmp(arguments[1], "share") == 0) return share_with_others(arguments[2], keys);
    if (strcmp(arguments[1], "full") == 0) return find_no_room(arguments[2]);
    return check(arguments[2], keys);
  }
  petal_error error = {.struct_size = sizeof error};
  const char *path = "s\xc3\xa9t.petal";
  petal_spec spec = {.struct_size = sizeof spec, .capacity = 100000, .false_positive_rate = 0.01};
  petal_filter *filter = NULL, *first = NULL, *second = NULL;
  CHECK(petal_filter_new(&spec, &filter, &error) == PETAL_OK);
  for (uint64_t key = 0; key < 1000; key++) CHECK(petal_filter_insert_u64(filter, key, NULL) == PETAL_OK);
  CHECK(petal_filter_save(filter, path, &error) == PETAL_OK);
  CHECK(petal_filter_save(filter, path, &error) == PETAL_OK);
  CHECK(GetFileAttributesW(L"s\u00e9t.petal") != INVALID_FILE_ATTRIBUTES);
  CHECK(petal_filter_save(filter, "\xff.petal", &error) == PETAL_ERR_OUT_OF_RANGE);
  CHECK(petal_filter_open("none.petal", NULL, &first, &error) == PETAL_ERR_NOT_FOUND);
  CHECK(error.os_error == ERROR_FILE_NOT_FOUND);

  /* One writer keeps others out, and readers read. */
  petal_open_options write = with(PETAL_OPEN_WRITE), share = with(PETAL_OPEN_SHARE), load = with(PETAL_OPEN_LOAD);
  CHECK(petal_filter_open(path, &write, &first, &error) == PETAL_OK);
  CHECK(petal_filter_open(path, &write, &second, &error) == PETAL_ERR_LOCKED);
  CHECK(petal_filter_open(path, &load, &second, &error) == PETAL_OK);
  petal_filter_free(second);
  petal_filter_free(first);

  /* Sharers, by a name and by a HANDLE, which may be closed at once. */
  CHECK(petal_filter_open(path, &share, &first, &error) == PETAL_OK);
  HANDLE file = CreateFileW(L"s\u00e9t.petal", GENERIC_READ | GENERIC_WRITE, 7, NULL, OPEN_EXISTING, 0, NULL);
  CHECK(file != INVALID_HANDLE_VALUE);
  CHECK(petal_filter_open_descriptor((intptr_t)file, 0, &share, &second, &error) == PETAL_OK);
  CloseHandle(file);
  CHECK(petal_filter_open_descriptor(-1, 0, &share, &filter, &error) < 0);
  file = CreateFileW(L"s\u00e9t.petal", GENERIC_READ, 7, NULL, OPEN_EXISTING, 0, NULL);
  petal_filter *refused = NULL;
  CHECK(petal_filter_open_descriptor((intptr_t)file, 0, &share, &refused, &error) == PETAL_ERR_ACCESS_DENIED);
  CloseHandle(file);
  CHECK(petal_filter_insert_shared_u64(first, 5000, NULL) == PETAL_OK);
  CHECK(petal_filter_contains_u64(second, 5000));
  petal_filter_free(first);
  CHECK(petal_filter_insert_shared_u64(second, 5001, NULL) == PETAL_OK);
  petal_filter_free(second);
  CHECK(petal_filter_open(path, NULL, &first, &error) == PETAL_OK);
  CHECK(petal_filter_verify(first, &error) == PETAL_OK);
  petal_view view = {.struct_size = sizeof view};
  CHECK(petal_filter_get_view(first, &view, &error) == PETAL_OK);
  CHECK(petal_view_contains_u64(&view, 5001) && petal_filter_contains_u64(first, 5000));

  /* A file that is replaced while it is mapped: the mapping keeps its keys. If the system refuses, the file stays. */
  petal_filter *other = NULL;
  CHECK(petal_filter_new(&spec, &other, &error) == PETAL_OK);
  for (uint64_t key = 10000; key < 11000; key++) CHECK(petal_filter_insert_u64(other, key, NULL) == PETAL_OK);
  petal_status replaced = petal_filter_save(other, path, &error);
  CHECK(replaced == PETAL_OK || replaced == PETAL_ERR_ACCESS_DENIED);
  CHECK(petal_filter_verify(first, &error) == PETAL_OK && petal_filter_contains_u64(first, 5001));
  CHECK(petal_filter_open(path, NULL, &second, &error) == PETAL_OK);
  CHECK(petal_filter_verify(second, &error) == PETAL_OK);
  CHECK(petal_filter_contains_u64(second, replaced == PETAL_OK ? 10999 : 5001));
  printf("a mapped file %s\n", replaced == PETAL_OK ? "was replaced" : "stayed");
  petal_filter_free(second);
  petal_filter_free(first);
  CHECK(petal_filter_save(filter, path, &error) == PETAL_OK);
  petal_filter_free(other);
  petal_filter_free(filter);
  puts("passed");
  return 0;
}
