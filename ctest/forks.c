/* Forks: what a child does with the handles that it has from its parent. Its memory is its own. It reads what both
 * share and does not change it, and when it frees a handle nothing happens to the parent's. */
#include "refused.h"

#include <petal_inline.h>

#include <sys/mman.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

static pid_t last_child;
static unsigned long failures_before;

static bool is_child(pid_t forked) {
  last_child = forked;
  if (forked == 0) failures_before = check_failures;
  return forked == 0;
}

static void end_child(void) {
  fflush(NULL);
  _exit(check_failures == failures_before ? 0 : 1);
}

static bool child_ended_well(void) {
  int status = -1;
  return last_child > 0 && waitpid(last_child, &status, 0) == last_child && status == 0;
}

/* Runs `body` in a child that `fork_` makes, whose failed checks are this program's. */
#define IN_CHILD_OF(fork_, body)  \
  do {                            \
    fflush(NULL);                 \
    if (is_child(fork_)) {        \
      body;                       \
      end_child();                \
    }                             \
    CHECK(child_ended_well());    \
  } while (0)
#define IN_CHILD(body) IN_CHILD_OF(fork(), body)

/* A filter of the keys from `from` on, less than `to`, made by hand. */
static petal_filter *of_keys(petal_spec spec, uint64_t from, uint64_t to) {
  spec.capacity = to - from;
  petal_filter *filter = make(spec);
  for (uint64_t key = from; key < to; key++) CHECK_OK(petal_filter_insert_u64(filter, key, NULL));
  return filter;
}

static void add(petal_builder *builder, uint64_t from, uint64_t to) {
  bool added = true;
  for (uint64_t key = from; key < to; key++) added &= petal_builder_add_u64(builder, key) == PETAL_OK;
  CHECK(added);
}

/* Finishes a builder, which makes the filter of these keys. */
static void makes(petal_builder *builder, petal_spec spec, uint64_t from, uint64_t to) {
  petal_filter *built = NULL, *expected = of_keys(spec, from, to);
  REFUSED(PETAL_OK, NULL, petal_builder_finish(builder, &built, &error));
  CHECK(built != NULL && check_same_bits(built, expected));
  petal_filter_free(built);
  petal_filter_free(expected);
}

/* Parent and child go on with a builder that has nothing in its file, or something, and neither loses a key. */
static void builders(uint64_t memory_limit, uint64_t before) {
  enum { MORE = 200000 };
  petal_spec spec = SPEC(.false_positive_rate = 0.1);
  petal_builder_options options = {.struct_size = sizeof options, .memory_limit = memory_limit,
                                   .temporary_directory = memory_limit != 0 ? check_path(".") : NULL};
  petal_builder *builder = NULL;
  CHECK_OK(petal_builder_new(&spec, &options, &builder, NULL));
  add(builder, 0, before);
  /* A child that frees it, one that finishes it, one that goes on, and its child in turn. */
  IN_CHILD(petal_builder_free(builder));
  IN_CHILD(makes(builder, spec, 0, before));
  int go_on[2];
  CHECK(pipe(go_on) == 0);
  pid_t child = fork();
  if (child == 0) {
    /* While the parent writes other keys to the same place in its file. */
    unsigned long failures = check_failures;
    char byte;
    add(builder, before, before + MORE);
    close(go_on[1]);
    CHECK(read(go_on[0], &byte, 1) == 0);
    IN_CHILD(add(builder, before + MORE, before + 2 * MORE); makes(builder, spec, 0, before + 2 * MORE));
    makes(builder, spec, 0, before + MORE);
    petal_builder_free(builder);
    _exit(check_failures == failures ? 0 : 1);
  }
  add(builder, 10 * MORE, 11 * MORE);
  close(go_on[0]), close(go_on[1]);
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  add(builder, before, 10 * MORE);
  makes(builder, spec, 0, 11 * MORE);
  petal_builder_free(builder);
}

static petal_filter *opened(const char *path, petal_open_mode mode) {
  petal_open_options options = {.struct_size = sizeof options, .mode = mode};
  petal_filter *filter = NULL;
  REFUSED(PETAL_OK, NULL, petal_filter_open(path, &options, &filter, &error));
  return filter;
}

static bool has(const petal_filter *filter, uint64_t from, uint64_t to) {
  bool all = filter != NULL;
  for (uint64_t key = from; key < to; key++) all &= petal_filter_contains_u64(filter, key);
  return all;
}

static bool is_unclean(const char *path) {
  petal_filter *reader = opened(path, PETAL_OPEN_READ);
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(reader, &description, NULL));
  petal_filter_free(reader);
  return description.state & PETAL_STATE_UNCLEAN;
}

/* A child reads what its parent has open to change it, and refuses all that would change it. */
static void reads_and_refuses(petal_filter *inherited, uint64_t keys) {
  const uint64_t more[] = {1000001, 1000002};
  petal_filter *other = of_keys(SPEC(.kind = PETAL_KIND_BLOOM), 0, 1000), *copy = NULL;
  petal_view view = {.struct_size = sizeof view};
  petal_description description = {.struct_size = sizeof description};
  petal_answers answers = ANSWERS(.done = 99);
  REFUSED_PLAIN(PETAL_ERR_UNSUPPORTED_BY_HANDLE, petal_filter_insert_u64(inherited, 1, NULL));
  REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "another process|fork|open it",
          petal_filter_insert_batch(inherited, U64_KEYS(more, 2), &answers, &error));
  CHECK_EQUAL(answers.done, 0);
  answers.done = 99;
  REFUSED_PLAIN(PETAL_ERR_UNSUPPORTED_BY_HANDLE, petal_filter_insert_shared_u64(inherited, 1, NULL));
  REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "another process",
          petal_filter_insert_shared_batch(inherited, U64_KEYS(more, 2), &answers, &error));
  CHECK_EQUAL(answers.done, 0);
  REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "another process", petal_filter_clear(inherited, &error));
  REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "another process", petal_filter_merge(inherited, other, &error));
  REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "another process", petal_filter_intersect(inherited, other, &error));
  REFUSED_PLAIN(PETAL_ERR_UNSUPPORTED_BY_HANDLE, petal_filter_add_insertions(inherited, 1, NULL));
  REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "another process", petal_filter_sync(inherited, &error));
  REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "another process", petal_filter_mark_clean(inherited, &error));
  bool has_view = petal_filter_get_view(inherited, &view, NULL) == PETAL_OK;
  petal_status refused_view = has_view ? PETAL_ERR_UNSUPPORTED_BY_HANDLE : PETAL_ERR_UNSUPPORTED;
  CHECK(petal_filter_get_writable_view(inherited, &view, &error) == refused_view);

  CHECK(has(inherited, 0, keys));
  CHECK_OK(petal_filter_describe(inherited, &description, NULL));
  CHECK(!(description.capabilities & (PETAL_CAN_INSERT | PETAL_CAN_INSERT_SHARED | PETAL_CAN_CLEAR)));
  /* What it makes of it is its own. */
  CHECK_OK(petal_filter_copy(inherited, &copy, NULL));
  CHECK_OK(petal_filter_insert_u64(copy, 1000001, NULL));
  CHECK(has(copy, 0, keys) && has(copy, 1000001, 1000002));
  CHECK_OK(petal_filter_save(inherited, check_path("saved"), NULL));
  petal_filter *saved = opened(check_path("saved"), PETAL_OPEN_READ);
  CHECK(has(saved, 0, keys));
  petal_filter_free(saved);
  petal_filter_free(copy);
  petal_filter_free(other);
  petal_filter_free(inherited);
}

static petal_status insert(petal_filter *filter, petal_open_mode mode, uint64_t key) {
  return mode == PETAL_OPEN_WRITE ? petal_filter_insert_u64(filter, key, NULL)
                                  : petal_filter_insert_shared_u64(filter, key, NULL);
}

/* Whatever children do with a file that their parent has open to change it, it stays open, locked and unclean until the
 * parent closes it. */
static void files(petal_open_mode mode) {
  const char *path = check_path("file");
  petal_open_mode alone = PETAL_OPEN_WRITE;
  petal_filter *filter = make(SPEC(.kind = PETAL_KIND_BLOOM, .capacity = 1000));
  CHECK_OK(petal_filter_save(filter, path, NULL));
  petal_filter_free(filter);
  filter = opened(path, mode);
  for (uint64_t key = 0; key < 1000; key++) CHECK_OK(insert(filter, mode, key));
  IN_CHILD(petal_filter_free(filter));
  IN_CHILD(reads_and_refuses(filter, 1000));
  IN_CHILD(IN_CHILD(reads_and_refuses(filter, 1000)); petal_filter_free(filter));
#ifdef SYS_fork
  /* A fork of which the C library knows nothing. */
  IN_CHILD_OF((pid_t)syscall(SYS_fork), reads_and_refuses(filter, 1000));
#endif
  CHECK(is_unclean(path));
  REFUSED(PETAL_ERR_LOCKED, "file", try_file(path, alone));
  /* A child that opens the file itself shares it, and closing it there does not matter to the parent. */
  IN_CHILD({
    if (mode == PETAL_OPEN_SHARE) {
      petal_filter *own = opened(path, mode);
      CHECK_OK(insert(own, mode, 2000));
      petal_filter_free(own);
    }
    REFUSED(PETAL_ERR_LOCKED, "file", try_file(path, alone));
    petal_filter_free(filter);
  });
  CHECK(is_unclean(path));
  CHECK_OK(insert(filter, mode, 1001));
  petal_filter_free(filter);
  CHECK(!is_unclean(path));
  filter = opened(path, PETAL_OPEN_READ);
  CHECK_OK(petal_filter_verify(filter, NULL));
  CHECK(has(filter, 0, 1000) && has(filter, 1001, 1002));
  CHECK(mode != PETAL_OPEN_SHARE || has(filter, 2000, 2001));
  IN_CHILD(CHECK(has(filter, 0, 1000)); CHECK_OK(petal_filter_verify(filter, NULL)); petal_filter_free(filter));
  CHECK(has(filter, 0, 1000));
  petal_filter_free(filter);
}

/* The same of a buffer that parent and children share: the child sees what the parent inserts, and its freeing leaves
 * the image as it is. */
static void buffers(petal_open_mode mode) {
  enum { LENGTH = 65536 };
  petal_spec spec = SPEC(.kind = PETAL_KIND_BLOOM, .capacity = 1000);
  void *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new_in_buffer(&spec, memory, LENGTH, &filter, NULL));
  petal_open_options options = {.struct_size = sizeof options, .mode = mode};
  petal_filter_free(filter);
  CHECK_OK(petal_filter_open_in_buffer(memory, LENGTH, &options, &filter, NULL));
  for (uint64_t key = 0; key < 1000; key++) CHECK_OK(insert(filter, mode, key));
  unsigned char before[256];
  memcpy(before, memory, sizeof before);
  IN_CHILD(reads_and_refuses(filter, 1000));
  CHECK(memcmp(before, memory, sizeof before) == 0);
  int go_on[2];
  char byte = 0;
  CHECK(pipe(go_on) == 0);
  pid_t child = fork();
  if (child == 0) {
    bool found = read(go_on[0], &byte, 1) == 1 && has(filter, 0, 2000);
    petal_filter_free(filter);
    _exit(found ? 0 : 1);
  }
  for (uint64_t key = 1000; key < 2000; key++) CHECK_OK(insert(filter, mode, key));
  CHECK(write(go_on[1], &byte, 1) == 1);
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  close(go_on[0]), close(go_on[1]);
  petal_filter_free(filter);
  CHECK(munmap(memory, LENGTH) == 0);
}

static petal_status change(petal_map *map, uint64_t capabilities, uint64_t key) {
  bool told = false;
  return (capabilities & PETAL_CAN_PUT) != 0 ? petal_map_put_u64(map, key, 1000, &told)
                                             : petal_map_replace(map, NUMBER(key), 1000, &told);
}

/* A map of each kind that changes, open to be written: a child's changes are refused, and do nothing to the
 * parent's. */
static void maps(void) {
  enum { KEYS = 1000 };
  const char *path = check_path("map");
  petal_open_options to_write = {.struct_size = sizeof to_write, .mode = PETAL_OPEN_WRITE};
  for (size_t i = 0; i < petal_kind_count(); i++) {
    petal_kind_info kind = {.struct_size = sizeof kind};
    CHECK_OK(petal_kind_get_at(i, &kind, NULL));
    if ((kind.capabilities & (PETAL_CAN_PUT | PETAL_CAN_REPLACE)) == 0) continue;
    petal_spec spec = SPEC(.kind = kind.kind, .capacity = KEYS);
    CHECK_OK(petal_spec_set(&spec, "value_bits", 10, NULL));
    petal_map_builder *builder = NULL;
    petal_map *map = NULL;
    CHECK_OK(petal_map_builder_new(&spec, NULL, &builder, NULL));
    for (uint64_t key = 0; key < KEYS; key++) CHECK_OK(petal_map_builder_put_u64(builder, key, key % 1000));
    CHECK_OK(petal_map_builder_save(builder, path, NULL));
    petal_map_builder_free(builder);
    CHECK_OK(petal_map_open(path, &to_write, &map, NULL));
    CHECK_OK(change(map, kind.capabilities, 1));
    IN_CHILD({
      uint64_t value = 0;
      bool found = false;
      CHECK(change(map, kind.capabilities, 2) == PETAL_ERR_UNSUPPORTED_BY_HANDLE);
      REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "", petal_map_sync(map, &error));
      REFUSED(PETAL_ERR_UNSUPPORTED_BY_HANDLE, "", petal_map_mark_clean(map, &error));
      CHECK_OK(petal_map_get_u64(map, 1, &value, &found));
      CHECK(found && value == 1000);
      petal_map_free(map);
    });
    petal_map *reader = NULL;
    CHECK_OK(petal_map_open(path, NULL, &reader, NULL));
    REFUSED(PETAL_ERR_UNCLEAN, NULL, petal_map_verify(reader, &error));
    CHECK_OK(change(map, kind.capabilities, 3));
    petal_map_free(map);
    CHECK_OK(petal_map_verify(reader, NULL));
    petal_map_free(reader);
  }
}

/* A filter's own memory is a child's own, too. */
static void own_memory(uint64_t capacity) {
  petal_filter *filter = make(SPEC(.capacity = capacity)), *before = NULL;
  CHECK_OK(petal_filter_insert_u64(filter, 1, NULL));
  CHECK_OK(petal_filter_copy(filter, &before, NULL));
  IN_CHILD({
    for (uint64_t key = 2; key < 100; key++) CHECK_OK(petal_filter_insert_u64(filter, key, NULL));
    CHECK_OK(petal_filter_insert_shared_u64(filter, 100, NULL));
    CHECK(has(filter, 1, 101));
    CHECK_OK(petal_filter_sync(filter, NULL));
    petal_filter_free(filter);
  });
  CHECK(check_same_bits(filter, before));
  petal_filter_free(filter);
  petal_filter_free(before);
}

int main(void) {
  files(PETAL_OPEN_WRITE);
  files(PETAL_OPEN_SHARE);
  buffers(PETAL_OPEN_WRITE);
  buffers(PETAL_OPEN_SHARE);
  maps();
  own_memory(1000);
  own_memory(2000000);
  builders(0, 1000);
  builders(1 << 20, 1000);
  builders(1 << 20, 300000);
  return check_done();
}
