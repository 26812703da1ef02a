/* Forks: what a child does with the handles that it has from its parent. Memory of its own is its own; what both would
 * share it reads and does not change, and when it frees a handle nothing happens to the parent's. */
#include "refused.h"

#include <sys/mman.h>
#include <sys/wait.h>

/* Runs `body` in a child, whose failed checks are this program's. */
#define IN_CHILD(body)                                                             \
  do {                                                                             \
    fflush(NULL);                                                                  \
    pid_t child_ = fork();                                                         \
    if (child_ == 0) {                                                             \
      unsigned long before_ = check_failures;                                      \
      body;                                                                        \
      fflush(NULL);                                                                \
      _exit(check_failures == before_ ? 0 : 1);                                    \
    }                                                                              \
    int status_ = -1;                                                              \
    CHECK(child_ > 0 && waitpid(child_, &status_, 0) == child_);                   \
    check_that(status_ == 0, __FILE__, __LINE__, "the child ended with %d", status_); \
  } while (0)

/* A filter of so many keys, made by hand. */
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

int main(void) {
  builders(0, 1000);
  builders(1 << 20, 1000);
  builders(1 << 20, 300000);
  return check_done();
}
