/* Lock-free insertion: threads of one process through one handle, and processes through a file that they all map. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

enum { THREADS = 4, KEYS = 40000, BATCH = 500 };

static const petal_filter *shared;
static uint64_t keys_per_thread;

struct task {
  uint64_t number;
  uint64_t wrong;
};

/* Every thread inserts its own keys and those of its neighbour, so that each key is inserted twice, often at the same
 * time. */
static void *insert_and_look(void *argument) {
  struct task *task = argument;
  for (uint64_t part = 0; part < 2; part++) {
    uint64_t first = (task->number + part) % THREADS * keys_per_thread;
    for (uint64_t i = 0; i < keys_per_thread; i += 2) {
      task->wrong += petal_filter_insert_shared_u64(shared, check_key(first + i), NULL) != PETAL_OK;
      task->wrong += !petal_filter_contains_u64(shared, check_key(first + i));
    }
    for (uint64_t i = 1; i < keys_per_thread; i += 2 * BATCH) {
      uint64_t keys[BATCH];
      size_t count = 0;
      while (count < BATCH && i + 2 * count < keys_per_thread) {
        keys[count] = check_key(first + i + 2 * count);
        count++;
      }
      petal_answers answers = ANSWERS(.bytes = NULL);
      task->wrong += petal_filter_insert_shared_batch(shared, U64_KEYS(keys, count), NULL, NULL) != PETAL_OK;
      task->wrong += petal_filter_contains_batch(shared, U64_KEYS(keys, count), &answers, NULL) != PETAL_OK;
      task->wrong += answers.true_count != count;
    }
  }
  return NULL;
}

static void run_threads(const petal_filter *filter) {
  pthread_t threads[THREADS];
  struct task tasks[THREADS];
  shared = filter;
  for (unsigned i = 0; i < THREADS; i++) {
    tasks[i] = (struct task){.number = i};
    CHECK(pthread_create(&threads[i], NULL, insert_and_look, &tasks[i]) == 0);
  }
  for (unsigned i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(tasks[i].wrong == 0);
  }
}

/* Each key comes twice, and how much later is for the threads to decide: what forgets keeps all of that in its
 * window. */
static uint64_t capacity_of(petal_kind kind) {
  return check_kind_info(kind).capabilities & PETAL_CAN_AGE ? 4 * KEYS : KEYS;
}

static petal_filter *filled(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = capacity_of(kind)};
  petal_filter *filter = NULL;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  for (uint64_t i = 0; i < THREADS * keys_per_thread; i++) {
    CHECK_OK(petal_filter_insert_u64(filter, check_key(i), NULL));
  }
  return filter;
}

/* In filters that forget the bits depend on the order of keys, which threads decide anew each time. */
static bool is_equal(const petal_filter *filter, const petal_filter *expected) {
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(expected, &description, NULL));
  bool equal = false;
  CHECK_OK(petal_filter_equals(filter, expected, &equal, NULL));
  if (!(description.capabilities & PETAL_CAN_AGE)) return equal;
  uint64_t missing = 0;
  for (uint64_t i = 0; i < THREADS * keys_per_thread; i++) missing += !petal_filter_contains_u64(filter, check_key(i));
  return missing == 0;
}

static void threads_share_a_handle(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = capacity_of(kind)};
  petal_filter *filter = NULL, *expected = filled(kind);
  bool new = false;
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  run_threads(filter);
  CHECK(is_equal(filter, expected));

  /* Shared insertion counts nothing; the caller may. */
  petal_description description = {.struct_size = sizeof description};
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK(description.insertions == 0 && (description.capabilities & PETAL_CAN_INSERT_SHARED));
  CHECK_OK(petal_filter_add_insertions(filter, THREADS * keys_per_thread, NULL));
  CHECK_OK(petal_filter_describe(filter, &description, NULL));
  CHECK(description.insertions == THREADS * keys_per_thread);

  /* Three ways to name a key. */
  CHECK_OK(petal_filter_insert_shared(filter, "apple", 5, &new));
  CHECK(petal_filter_contains(filter, "apple", 5));
  CHECK_OK(petal_filter_insert_shared_hash(filter, 42, NULL));
  CHECK(petal_filter_contains_hash(filter, 42));
  const uint64_t offsets[] = {0, 5, 5, 9}, hashes[] = {1, 2};
  uint8_t is_new[3], bitmap[1];
  petal_answers answers = ANSWERS(.bytes = is_new, .bitmap = bitmap);
  CHECK_OK(petal_filter_insert_shared_batch(filter, BYTE_KEYS("applepear", 9, offsets, 3), &answers, NULL));
  CHECK(is_new[0] == 0 && bitmap[0] == (is_new[1] << 1 | is_new[2] << 2));
  CHECK(answers.done == 3 && answers.true_count == (uint64_t)is_new[1] + is_new[2]);
  CHECK(petal_filter_contains(filter, "pear", 4) && petal_filter_contains(filter, NULL, 0));
  CHECK_OK(petal_filter_insert_shared_batch(filter, HASH_KEYS(hashes, 2), NULL, NULL));
  CHECK(petal_filter_contains_hash(filter, 1) && petal_filter_contains_hash(filter, 2));
  petal_filter_free(filter);
  petal_filter_free(expected);
}

static void processes_share_a_file(petal_kind kind) {
  const char *path = check_path("shared.petal");
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = capacity_of(kind)};
  petal_open_options share = {.struct_size = sizeof share, .mode = PETAL_OPEN_SHARE};
  petal_filter *filter = NULL, *expected = filled(kind);
  CHECK_OK(petal_filter_new(&spec, &filter, NULL));
  CHECK_OK(petal_filter_save(filter, path, NULL));
  petal_filter_free(filter);

  pid_t children[THREADS];
  for (uint64_t i = 0; i < THREADS; i++) {
    children[i] = fork();
    CHECK(children[i] >= 0);
    if (children[i] == 0) {
      petal_filter *own = NULL;
      struct task task = {.number = i};
      if (petal_filter_open(path, &share, &own, NULL) != PETAL_OK) _exit(2);
      shared = own;
      insert_and_look(&task);
      petal_filter_free(own);
      _exit(task.wrong == 0 ? 0 : 1);
    }
  }
  for (unsigned i = 0; i < THREADS; i++) {
    int status = -1;
    CHECK(waitpid(children[i], &status, 0) == children[i]);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  /* The last to close it left it clean. */
  CHECK_OK(petal_filter_open(path, NULL, &filter, NULL));
  CHECK_OK(petal_filter_verify(filter, NULL));
  CHECK(is_equal(filter, expected));
  CHECK_STATUS(petal_filter_insert_shared_u64(filter, 1, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  petal_filter_free(filter);

  /* One that shares keeps a single writer out, and the other way round. */
  petal_open_options write = {.struct_size = sizeof write, .mode = PETAL_OPEN_WRITE};
  petal_filter *other = NULL;
  CHECK_OK(petal_filter_open(path, &share, &filter, NULL));
  CHECK_STATUS(petal_filter_open(path, &write, &other, NULL), PETAL_ERR_LOCKED);
  CHECK_OK(petal_filter_open(path, &share, &other, NULL));
  CHECK_STATUS(petal_filter_insert_u64(other, 1, NULL), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  CHECK_OK(petal_filter_insert_shared_u64(other, 1, NULL));
  CHECK(petal_filter_contains_u64(filter, 1));
  petal_filter_free(other);
  petal_filter_free(filter);
  CHECK_OK(petal_filter_open(path, &write, &filter, NULL));
  CHECK_STATUS(petal_filter_open(path, &share, &other, NULL), PETAL_ERR_LOCKED);
  petal_filter_free(filter);
  petal_filter_free(expected);
  CHECK(unlink(path) == 0);
}

int main(void) {
  keys_per_thread = check_scaled(KEYS / THREADS);
  for (size_t i = 0; i < check_kind_count(); i++) {
    petal_kind_info info = check_kind_info(check_kind(i));
    if (!(info.capabilities & PETAL_CAN_INSERT_SHARED)) continue;
    threads_share_a_handle(info.kind);
    processes_share_a_file(info.kind);
  }
  return check_done();
}
