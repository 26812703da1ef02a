/* Memory runs out: the i-th allocation fails, for every i until the whole scenario succeeds; and the same with every
 * later one failing too. Each time there is a status, outputs and filters are as they were, and nothing has leaked.
 *
 * The program's malloc and its kin replace the C library's, for the library under test as well. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* ---- The allocator: the C library's, with a count of what lives, and failures on demand. ---- */

/* Volatile, because compilers know that the C library's malloc changes no variable of a program. */
static volatile long live_blocks, live_pages;
/* Allocations from now to the one that fails; 0 is none. */
static volatile long countdown;
static volatile bool then_all_fail, failed;

static bool fails(void) {
  if (countdown == 0) return false;
  if (countdown > 1) {
    countdown--;
    return false;
  }
  if (!then_all_fail) countdown = 0;
  failed = true;
  errno = ENOMEM;
  return true;
}

/* The C library's function of this name. A pointer to a function is copied, since C does not convert it. */
#define NEXT(result, name, ...)                     \
  static result (*next)(__VA_ARGS__);               \
  if (next == NULL) {                               \
    void *symbol = dlsym(RTLD_NEXT, name);          \
    memcpy(&next, &symbol, sizeof next);            \
  }

static void *counted(void *block) {
  if (block != NULL) live_blocks++;
  return block;
}

void *malloc(size_t size) {
  NEXT(void *, "malloc", size_t)
  return fails() ? NULL : counted(next(size));
}

void *calloc(size_t count, size_t size) {
  NEXT(void *, "calloc", size_t, size_t)
  return fails() ? NULL : counted(next(count, size));
}

void *realloc(void *block, size_t size) {
  NEXT(void *, "realloc", void *, size_t)
  if (fails()) return NULL;
  return block == NULL ? counted(next(block, size)) : next(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  NEXT(int, "posix_memalign", void **, size_t, size_t)
  if (fails()) return ENOMEM;
  int result = next(block, alignment, size);
  if (result == 0) live_blocks++;
  return result;
}

void *aligned_alloc(size_t alignment, size_t size) {
  NEXT(void *, "aligned_alloc", size_t, size_t)
  return fails() ? NULL : counted(next(alignment, size));
}

void free(void *block) {
  NEXT(void, "free", void *)
  if (block != NULL) live_blocks--;
  next(block);
}

static long pages(size_t length) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (long)((length + page - 1) / page);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  NEXT(void *, "mmap", void *, size_t, int, int, int, off_t)
  if (fails()) return MAP_FAILED;
  void *base = next(address, length, protection, flags, file, offset);
  if (base != MAP_FAILED) live_pages += pages(length);
  return base;
}

int munmap(void *address, size_t length) {
  NEXT(int, "munmap", void *, size_t)
  live_pages -= pages(length);
  return next(address, length);
}

/* ---- Scenarios. Each makes what it needs, lets the library run out of memory between arm() and disarm(), checks what
 * is left, frees everything and returns the status that it got. ---- */

static long which;

static void arm(void) { countdown = which; }
static void disarm(void) { countdown = 0; }

#define SENTINEL ((petal_filter *)&which)

static petal_spec spec = {.struct_size = sizeof spec, .capacity = 1000};

/* Large enough for memory that comes straight from the operating system, and for huge pages. */
static const uint64_t capacities[] = {1000, 1000000, 5000000};
static size_t size_index;

static petal_filter *make(uint64_t capacity) {
  petal_filter *filter = NULL;
  petal_spec sized = spec;
  sized.capacity = capacity;
  CHECK_OK(petal_filter_new(&sized, &filter, NULL));
  for (uint64_t i = 0; i < 100; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
  return filter;
}

/* After a call that was to make a filter: either it did, and the filter is good, or the output is untouched. */
static petal_status made(petal_status status, petal_filter *filter, bool with_keys) {
  disarm();
  if (status != PETAL_OK) {
    CHECK(filter == SENTINEL);
    return status;
  }
  for (uint64_t i = 0; i < 100 && with_keys; i++) CHECK(petal_filter_contains_u64(filter, check_key(i)));
  CHECK_OK(petal_filter_insert_u64(filter, 1, NULL));
  petal_filter_free(filter);
  return status;
}

static petal_status with_capacity(void) {
  arm();
  petal_filter *filter = petal_filter_with_capacity(capacities[size_index], 0.01);
  disarm();
  petal_filter_free(filter);
  return filter != NULL ? PETAL_OK : PETAL_ERR_OUT_OF_MEMORY;
}

static petal_status new_filter(void) {
  petal_filter *filter = SENTINEL;
  petal_error error = {.struct_size = sizeof error};
  petal_spec sized = spec;
  sized.capacity = capacities[size_index];
  arm();
  petal_status status = petal_filter_new(&sized, &filter, &error);
  disarm();
  CHECK_STATUS(error.status, status);
  if (status != PETAL_OK) CHECK_TEXT(error.message, "could not be had");
  return made(status, filter, false);
}

static petal_status new_in_buffer(void) {
  static uint64_t buffer[1024], before[1024];
  petal_filter *filter = SENTINEL;
  memset(buffer, 0xab, sizeof buffer);
  memcpy(before, buffer, sizeof buffer);
  arm();
  petal_status status = petal_filter_new_in_buffer(&spec, buffer, sizeof buffer, &filter, NULL);
  disarm();
  if (status != PETAL_OK) CHECK(memcmp(buffer, before, sizeof buffer) == 0);
  return made(status, filter, false);
}

static petal_status copy(void) {
  petal_filter *original = make(capacities[size_index]), *filter = SENTINEL;
  arm();
  petal_status status = petal_filter_copy(original, &filter, NULL);
  disarm();
  petal_filter_free(original);
  return made(status, filter, true);
}

/* A change of a filter that fails leaves it as it was. */
static petal_status change(petal_status (*operation)(petal_filter *filter)) {
  petal_spec sized = spec;
  sized.capacity = capacities[size_index];
  petal_filter *filter = NULL;
  CHECK_OK(petal_spec_set(&sized, "foldable", 1, NULL));
  CHECK_OK(petal_filter_new(&sized, &filter, NULL));
  for (uint64_t i = 0; i < 100; i++) CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
  check_image image = check_take_image(filter);
  arm();
  petal_status status = operation(filter);
  disarm();
  if (status != PETAL_OK) CHECK(check_same_image(filter, image));
  for (uint64_t i = 0; i < 100; i++) CHECK(petal_filter_contains_u64(filter, check_key(i)));
  free(image.bytes);
  petal_filter_free(filter);
  return status;
}

static petal_status fold_it(petal_filter *filter) { return petal_filter_fold(filter, 2, NULL); }
static petal_status merge_it(petal_filter *filter) { return petal_filter_merge(filter, filter, NULL); }
static petal_status intersect_it(petal_filter *filter) { return petal_filter_intersect(filter, filter, NULL); }
static petal_status fold(void) { return change(fold_it); }
static petal_status merge_itself(void) { return change(merge_it); }
static petal_status intersect_itself(void) { return change(intersect_it); }

/* Single keys and batches are looked up and inserted. */
static petal_status use(void) {
  static uint64_t keys[2000];
  static uint8_t found[2000];
  petal_filter *filter = make(1000);
  bool is_new = false;
  petal_answers answers = ANSWERS(.bytes = found);
  arm();
  petal_status status = petal_filter_insert(filter, "apple", 5, &is_new);
  if (status == PETAL_OK) status = petal_filter_insert_batch(filter, U64_KEYS(keys, 2000), &answers, NULL);
  if (status == PETAL_OK) status = petal_filter_contains_batch(filter, U64_KEYS(keys, 2000), &answers, NULL);
  bool contains = petal_filter_contains(filter, "apple", 5);
  disarm();
  CHECK(contains);
  petal_filter_free(filter);
  return status;
}

static petal_status open_as(petal_open_mode mode) {
  static const char *path;
  petal_open_options options = {.struct_size = sizeof options, .mode = mode};
  if (path == NULL) {
    path = strdup(check_path("image"));
    petal_filter *filter = make(1000000);
    CHECK_OK(petal_filter_save(filter, path, NULL));
    petal_filter_free(filter);
  }
  petal_filter *filter = SENTINEL;
  arm();
  petal_status status = petal_filter_open(path, &options, &filter, NULL);
  disarm();
  if (status != PETAL_OK || mode != PETAL_OPEN_READ) return made(status, filter, true);
  CHECK(petal_filter_contains_u64(filter, check_key(0)));
  petal_filter_free(filter);
  return status;
}

static petal_status open_mapped(void) { return open_as(PETAL_OPEN_READ); }
static petal_status open_writable(void) { return open_as(PETAL_OPEN_WRITE); }
static petal_status open_loaded(void) { return open_as(PETAL_OPEN_LOAD); }

static petal_status load(void) {
  petal_filter *original = make(capacities[size_index]), *filter = SENTINEL;
  check_image image = check_take_image(original);
  arm();
  petal_status status = petal_filter_load(image.bytes, image.length, NULL, &filter, NULL);
  disarm();
  free(image.bytes);
  petal_filter_free(original);
  return made(status, filter, true);
}

static petal_status save(void) {
  const char *path = check_path("saved");
  petal_filter *old = make(100), *new = make(1000), *found = NULL;
  CHECK_OK(petal_filter_save(old, path, NULL));
  arm();
  petal_status status = petal_filter_save(new, path, NULL);
  disarm();
  CHECK_OK(petal_filter_open(path, NULL, &found, NULL));
  CHECK(check_same_bits(found, status == PETAL_OK ? new : old));
  petal_filter_free(found);
  petal_filter_free(old);
  petal_filter_free(new);
  return status;
}

static petal_status serialize(void) {
  static unsigned char buffer[4096];
  size_t written = 4711;
  petal_filter *filter = make(1000);
  arm();
  petal_status status = petal_filter_serialize(filter, buffer, sizeof buffer, &written, NULL);
  disarm();
  CHECK((written == 4711) == (status != PETAL_OK));
  petal_filter_free(filter);
  return status;
}

/* An index with rows and columns is searched for more bits than a small sort takes. */
static petal_status search_index(void) {
  static unsigned char row[128];
  petal_spec wide = {.struct_size = sizeof wide, .kind = PETAL_KIND_INDEX, .capacity = 40};
  petal_index *index = NULL;
  petal_index_hit hits[3];
  uint64_t ids[3] = {4711, 4711, 4711};
  size_t found = 4711, contained = 4711;
  CHECK_OK(petal_spec_set_choice(&wide, "store", "both", NULL));
  CHECK_OK(petal_index_new(&wide, &index, NULL));
  memset(row, 0x7e, sizeof row);
  for (unsigned i = 0; i < 40; i++) {
    row[i] ^= (unsigned char)(i + 1);
    CHECK_OK(petal_index_add(index, i, row, sizeof row, NULL, NULL));
  }
  memset(row, 0x70, 64);
  arm();
  petal_status top = petal_index_find_top(index, row, sizeof row, 3, NULL, hits, &found, NULL);
  petal_status status = petal_index_find_containing(index, row, sizeof row, NULL, ids, 3, &contained, NULL);
  petal_index *arranged = NULL;
  if (top == PETAL_OK && status == PETAL_OK) status = petal_index_arrange(index, 0, &arranged, NULL);
  disarm();
  CHECK((found == 4711) == (top != PETAL_OK));
  CHECK((contained == 4711) == (ids[0] == 4711));
  CHECK(contained == 4711 || (contained > 3 && ids[0] == 0));
  CHECK_OK(petal_index_verify(index, NULL));
  petal_index_free(arranged);
  petal_index_free(index);
  return top != PETAL_OK ? top : status;
}

/* An index takes all rows of another one, or none. */
static petal_status merge_indexes(void) {
  static const unsigned char row[128] = {3};
  petal_spec sized = {.struct_size = sizeof sized, .kind = PETAL_KIND_INDEX, .capacity = 10};
  petal_index *index = NULL, *other = NULL;
  CHECK_OK(petal_index_new(&sized, &index, NULL));
  CHECK_OK(petal_index_new(&sized, &other, NULL));
  for (unsigned i = 0; i < 5; i++) {
    CHECK_OK(petal_index_add(index, i, row, sizeof row, NULL, NULL));
    CHECK_OK(petal_index_add(other, i, row, sizeof row, NULL, NULL));
  }
  arm();
  petal_status status = petal_index_merge(index, other, NULL);
  disarm();
  CHECK_EQUAL(petal_index_next_row(index), status == PETAL_OK ? 10 : 5);
  petal_index_free(index);
  petal_index_free(other);
  return status;
}

/* Sets of several partitions. */
static petal_status build_partitions(void) {
  petal_spec sets = {.struct_size = sizeof sets, .kind = PETAL_KIND_EXACT_SET};
  CHECK_OK(petal_spec_set(&sets, "partition_prefix_bytes", 1, NULL));
  petal_builder *builder = NULL;
  petal_filter *filter = SENTINEL;
  CHECK_OK(petal_builder_new(&sets, NULL, &builder, NULL));
  for (uint64_t i = 0; i < 900; i++) {
    CHECK_OK((i % 7 < i % 3 ? petal_builder_add : petal_builder_exclude)(builder, NUMBER(i)));
  }
  arm();
  petal_status status = petal_builder_finish(builder, &filter, NULL);
  disarm();
  CHECK((filter == SENTINEL) == (status != PETAL_OK));
  if (status != PETAL_OK) CHECK_OK(petal_builder_finish(builder, &filter, NULL));
  for (uint64_t i = 0; i < 900; i++) CHECK(petal_filter_contains_u64(filter, i) == (i % 7 < i % 3));
  petal_filter_free(filter);
  petal_builder_free(builder);
  return status;
}

static petal_status describe(void) {
  petal_filter *filter = make(1000);
  petal_statistics statistics = {.struct_size = sizeof statistics};
  petal_spec back = {.struct_size = sizeof back};
  arm();
  petal_status status = petal_filter_get_statistics(filter, &statistics, NULL);
  if (status == PETAL_OK) status = petal_filter_get_spec(filter, &back, NULL);
  if (status == PETAL_OK) status = petal_filter_verify(filter, NULL);
  disarm();
  petal_filter_free(filter);
  return status;
}

static petal_status estimate_and_plan(void) {
  petal_filter *filter = make(1000);
  petal_filter_estimate estimate;
  petal_filter_overlap comparison = {.struct_size = sizeof comparison};
  petal_plan_request request = {.struct_size = sizeof request, .keys = 1000, .false_positive_rate = 0.01};
  petal_plan_proposal proposal = {.struct_size = sizeof proposal};
  size_t count = 0;
  arm();
  petal_status status = petal_filter_get_estimate(filter, &estimate, NULL);
  if (status == PETAL_OK) status = petal_filter_estimate_overlap(filter, filter, &comparison, NULL);
  if (status == PETAL_OK) status = petal_plan_propose(&request, &proposal, 1, &count, NULL);
  disarm();
  petal_filter_free(filter);
  return status;
}

static bool go_on(void *context, uint64_t done, uint64_t total) {
  (void)context;
  return done <= total;
}

/* Keys that could not be added are not in the builder, and those before them are. When there is memory again, the
 * builder makes the right filter. */
static petal_status build(uint64_t memory_limit, size_t keys) {
  static uint64_t numbers[150000];
  petal_builder_options options = {.struct_size = sizeof options, .memory_limit = memory_limit, .progress = go_on,
                                   .temporary_directory = memory_limit != 0 ? check_path(".") : NULL};
  petal_builder *builder = (petal_builder *)&options, *reference = NULL;
  petal_filter *filter = SENTINEL, *expected = NULL;
  petal_answers answers = ANSWERS(.done = 0);
  size_t done = 0;
  for (size_t i = 0; i < keys; i++) numbers[i] = check_key(i);
  arm();
  petal_status first = petal_builder_new(&spec, &options, &builder, NULL);
  if (first != PETAL_OK) {
    disarm();
    CHECK(builder == (petal_builder *)&options);
    return first;
  }
  while (done < keys) {
    petal_status status = petal_builder_add_batch(builder, U64_KEYS(numbers + done, keys - done), &answers, NULL);
    done += answers.done;
    if (status == PETAL_OK) continue;
    long rest = countdown;
    disarm();
    uint64_t count = 0;
    CHECK_OK(petal_builder_key_count(builder, &count, NULL));
    CHECK_EQUAL(count, done);
    CHECK_OK(petal_builder_add_u64(builder, numbers[done++]));
    countdown = rest;
    first = first == PETAL_OK ? status : first;
  }
  petal_status status = petal_builder_finish(builder, &filter, NULL);
  disarm();
  if (status != PETAL_OK) {
    CHECK(filter == SENTINEL);
    CHECK_OK(petal_builder_finish(builder, &filter, NULL));
    first = first == PETAL_OK ? status : first;
  }
  CHECK_OK(petal_builder_new(&spec, NULL, &reference, NULL));
  CHECK_OK(petal_builder_add_batch(reference, U64_KEYS(numbers, keys), NULL, NULL));
  CHECK_OK(petal_builder_finish(reference, &expected, NULL));
  CHECK(check_same_bits(filter, expected));
  CHECK_EQUAL(check_keys(filter), keys);
  petal_filter_free(filter);
  petal_filter_free(expected);
  petal_builder_free(builder);
  petal_builder_free(reference);
  return first;
}

static petal_status build_in_memory(void) { return build(0, 5000); }
static petal_status build_with_a_file(void) { return build(1 << 20, 150000); }

/* A builder that cannot save keeps its keys, and the old file stays. */
static petal_status build_into_a_file(void) {
  const char *path = check_path("built");
  petal_filter *old = make(100), *found = NULL;
  petal_builder *builder = NULL;
  uint64_t count = 0;
  CHECK_OK(petal_filter_save(old, path, NULL));
  CHECK_OK(petal_builder_new(&spec, NULL, &builder, NULL));
  for (uint64_t i = 0; i < 1000; i++) CHECK_OK(petal_builder_add_u64(builder, check_key(i)));
  arm();
  petal_status status = petal_builder_save(builder, path, NULL);
  disarm();
  CHECK_OK(petal_builder_key_count(builder, &count, NULL));
  CHECK_EQUAL(count, status == PETAL_OK ? 0 : 1000);
  CHECK_OK(petal_filter_open(path, NULL, &found, NULL));
  CHECK_EQUAL(check_keys(found), status == PETAL_OK ? 1000 : 100);
  petal_filter_free(found);
  petal_filter_free(old);
  petal_builder_free(builder);
  return status;
}

/* An error whose message finds no memory keeps its status and the system's number, and has the status's own text. */
static void errors(void) {
  petal_filter *filter = SENTINEL;
  petal_spec wrong = {.struct_size = sizeof wrong, .capacity = 1, .false_positive_rate = 2};
  uint64_t size = 0;
  for (int memory = 0; memory < 2; memory++) {
    petal_error error = {.struct_size = sizeof error};
    which = memory ? 0 : 1;
    then_all_fail = true;
    arm();
    petal_status status = petal_spec_image_size(&wrong, &size, &error);
    disarm();
    CHECK_STATUS(status, PETAL_ERR_FALSE_POSITIVE_RATE);
    CHECK_STATUS(error.status, status);
    CHECK((strcmp(error.message, petal_status_message(status)) == 0) == !memory);
  }
  int general = 0;
  then_all_fail = failed = false;
  for (which = 1;; which++) {
    petal_error error = {.struct_size = sizeof error};
    arm();
    petal_status status = petal_filter_open(check_path("not there"), NULL, &filter, &error);
    disarm();
    CHECK(status == PETAL_ERR_NOT_FOUND || (failed && status == PETAL_ERR_OUT_OF_MEMORY));
    CHECK_STATUS(error.status, status);
    if (status == PETAL_ERR_NOT_FOUND) {
      CHECK_EQUAL(error.os_error, ENOENT);
      general += strcmp(error.message, petal_status_message(status)) == 0;
    }
    if (!failed) break;
    failed = false;
  }
  CHECK_EQUAL(general, 1);
  CHECK(filter == SENTINEL);
}

/* ---- The runner. ---- */

static int next_descriptor(void) {
  int file = open("/dev/null", O_RDONLY);
  close(file);
  return file;
}

static void run(const char *name, petal_status (*scenario)(void), bool allocates) {
  which = 0;
  CHECK_OK(scenario());
  for (int all = 0; all < 2; all++) {
    then_all_fail = all == 1;
    for (which = 1;; which++) {
      long blocks = live_blocks, mapped = live_pages;
      int descriptor = next_descriptor();
      failed = false;
      petal_status status = scenario();
      disarm();
      if (failed) CHECK(status == PETAL_OK || status == PETAL_ERR_OUT_OF_MEMORY);
      if (!failed) CHECK_STATUS(status, PETAL_OK);
      bool clean = live_blocks == blocks && live_pages == mapped && next_descriptor() == descriptor;
      check_that(clean, __FILE__, __LINE__, "%s, allocation %ld: %ld blocks, %ld pages, %d descriptors leaked", name,
                 which, live_blocks - blocks, live_pages - mapped, next_descriptor() - descriptor);
      if (!failed) break;
    }
    printf("%-18s %2ld allocations, %s\n", name, which - 1, all ? "it and all later ones fail" : "one fails");
    CHECK(!allocates || which > 1);
  }
}

int main(void) {
  long blocks = live_blocks;
  void *block = malloc(1);
  bool counted_it = live_blocks == blocks + 1;
  free(block);
  if (!counted_it) {
    check_skip("running out of memory", "another tool has taken malloc");
    return getenv("PETAL_TEST_SANITIZER") != NULL ? 0 : 77;
  }
  setvbuf(stdout, NULL, _IONBF, 0);
  check_path(".");

  const size_t sizes = (size_t)check_scaled(sizeof capacities / sizeof *capacities);
  for (size_index = 0; size_index < sizes; size_index++) {
    run("with_capacity", with_capacity, true);
    run("new", new_filter, true);
    run("copy", copy, true);
    run("load", load, true);
    run("fold", fold, true);
    run("merge_itself", merge_itself, true);
    run("intersect_itself", intersect_itself, true);
  }
  run("new_in_buffer", new_in_buffer, true);
  run("open", open_mapped, true);
  run("open to write", open_writable, true);
  run("open to load", open_loaded, true);
  run("save", save, true);
  run("build", build_in_memory, true);
  /* Sorting that many keys again and again takes minutes under a tool. */
  if (check_scaled(100) >= 25) run("build with a file", build_with_a_file, true);
  run("build into a file", build_into_a_file, true);
  run("estimate and plan", estimate_and_plan, false);
  run("search an index", search_index, true);
  run("merge indexes", merge_indexes, true);
  run("build partitions", build_partitions, true);
  run("serialize", serialize, false);
  run("describe", describe, false);
  run("use", use, false);
  errors();
  return check_done();
}
