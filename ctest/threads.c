/* Threads: many look up on one const handle while others build and change their own handles. */
#include "check.h"

#include <pthread.h>

enum { LOOKING = 4, WRITING = 2, BUILDING = 1, KEYS = 20000, BATCH = 1000 };

static const petal_filter *shared;
static petal_kind kind;
static uint64_t can;
static bool is_canonical;
static bool refuses_copies;
/* Room for the keys, twice where copies take some. */
static uint64_t capacity;
static uint64_t rounds;

/* What a thread found wrong; the main thread checks that it is nothing. */
struct task {
  unsigned number;
  uint64_t wrong;
};

static void *look(void *argument) {
  struct task *task = argument;
  uint64_t keys[BATCH];
  uint8_t found[BATCH];
  petal_answers answers = ANSWERS(.bytes = found);
  for (uint64_t round = 0; round < rounds; round++) {
    for (uint64_t i = task->number; i < KEYS; i += LOOKING) {
      task->wrong += !petal_filter_contains_u64(shared, check_key(i));
    }
    for (uint64_t start = 0; start < KEYS; start += BATCH) {
      for (size_t i = 0; i < BATCH; i++) keys[i] = check_key(start + i);
      task->wrong += petal_filter_contains_batch(shared, U64_KEYS(keys, BATCH), &answers, NULL) != PETAL_OK;
      task->wrong += BATCH - answers.true_count;
    }
    /* The rest that a const handle offers. */
    petal_description description = {.struct_size = sizeof description};
    petal_filter *copy = NULL;
    bool equal = false;
    task->wrong += petal_filter_describe(shared, &description, NULL) != PETAL_OK || description.insertions != KEYS;
    task->wrong += petal_filter_copy(shared, &copy, NULL) != PETAL_OK;
    task->wrong += petal_filter_equals(shared, copy, &equal, NULL) != PETAL_OK || !equal;
    task->wrong += petal_filter_verify(shared, NULL) != PETAL_OK;
    petal_filter_free(copy);
  }
  return NULL;
}

static void *write_own(void *argument) {
  struct task *task = argument;
  if (!(can & PETAL_CAN_INSERT)) return NULL;
  for (uint64_t round = 0; round < rounds; round++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = capacity};
    petal_filter *own = NULL;
    bool equal = false;
    task->wrong += petal_filter_new(&spec, &own, NULL) != PETAL_OK;
    for (uint64_t i = 0; i < KEYS; i++) task->wrong += petal_filter_insert_u64(own, check_key(i), NULL) != PETAL_OK;
    task->wrong += petal_filter_equals(own, shared, &equal, NULL) != PETAL_OK || (is_canonical && !equal);
    petal_status merges = can & PETAL_CAN_MERGE ? PETAL_OK : PETAL_ERR_UNSUPPORTED;
    petal_status merged = petal_filter_merge(own, shared, NULL);
    /* There may be no room for all keys twice; then nothing has changed. */
    task->wrong += merged != merges && !(merged == PETAL_ERR_FULL && refuses_copies);
    for (uint64_t i = 0; i < KEYS; i++) task->wrong += !petal_filter_contains_u64(own, check_key(i));
    petal_filter_free(own);
  }
  return NULL;
}

static void *build_own(void *argument) {
  struct task *task = argument;
  for (uint64_t round = 0; round < rounds; round++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = capacity > KEYS ? capacity : 0};
    petal_builder *builder = NULL;
    petal_filter *built = NULL;
    bool equal = false;
    task->wrong += petal_builder_new(&spec, NULL, &builder, NULL) != PETAL_OK;
    for (uint64_t i = 0; i < KEYS; i++) task->wrong += petal_builder_add_u64(builder, check_key(i)) != PETAL_OK;
    task->wrong += petal_builder_finish(builder, &built, NULL) != PETAL_OK;
    task->wrong += petal_filter_equals(built, shared, &equal, NULL) != PETAL_OK || (is_canonical && !equal);
    petal_filter_free(built);
    petal_builder_free(builder);
  }
  return NULL;
}

static void together(void) {
  struct task tasks[LOOKING + WRITING + BUILDING];
  pthread_t threads[LOOKING + WRITING + BUILDING];
  for (unsigned i = 0; i < LOOKING + WRITING + BUILDING; i++) {
    void *(*work)(void *) = i < LOOKING ? look : i < LOOKING + WRITING ? write_own : build_own;
    tasks[i] = (struct task){.number = i};
    CHECK(pthread_create(&threads[i], NULL, work, &tasks[i]) == 0);
  }
  for (unsigned i = 0; i < LOOKING + WRITING + BUILDING; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_EQUAL(tasks[i].wrong, 0);
  }
}

int main(void) {
  rounds = check_scaled(20);
  for (size_t k = 0; k < check_kind_count(); k++) {
    kind = check_kind(k);
    refuses_copies = check_refuses_copies(kind);
    /* Where keys may be lost, hardly any are that are younger than an eighth of the capacity. */
    capacity = check_can(kind, PETAL_MAY_LOSE_KEYS) ? 8 * KEYS : check_room(kind, KEYS);
    petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = capacity};
    petal_filter *filter = check_filled(&spec, 0, KEYS);
    can = check_kind_info(kind).capabilities;
    is_canonical = check_has(kind, PETAL_IS_CANONICAL);
    shared = filter;
    together();

    /* The same with a file that is mapped. */
    petal_filter *mapped = NULL;
    CHECK_OK(petal_filter_save(filter, check_path("shared"), NULL));
    CHECK_OK(petal_filter_open(check_path("shared"), NULL, &mapped, NULL));
    shared = mapped;
    together();
    petal_filter_free(mapped);
    petal_filter_free(filter);
  }
  return check_done();
}
