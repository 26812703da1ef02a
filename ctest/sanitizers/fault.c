// Commits one fault on purpose, so that sanitizers.sh can prove that each tool sees it.
//
//   fault NUMBER
//
// The numbers are those of petal_plant_fault(), which only test builds export; the faults lie in the Rust code, and
// number 0, a panic that is caught, is none: it must pass under every tool. Two faults are this program's own: 100 is a
// signed overflow in C, because UBSan watches C code only, and 101 hands the library a misaligned pointer to write to,
// which Rust's own checks stop at.
#include <petal.h>

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int32_t petal_plant_fault(uint32_t which);

static uint32_t which;

static void *commit(void *unused) {
  (void)unused;
  petal_plant_fault(which);
  return NULL;
}

static void overflow(void) {
  volatile int number = INT_MAX;
  number = number + 1;
}

static void misalign(void) {
  petal_filter *filter = petal_filter_with_capacity(100, 0.01);
  uint64_t key = 1, room[2] = {0, 0};
  petal_filter_contains_batch_u64(filter, &key, 1, NULL, NULL, (uint64_t *)(void *)((char *)room + 1), NULL);
  petal_filter_free(filter);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  which = (uint32_t)strtoul(argv[1], NULL, 10);
  if (which == 100) {
    overflow();
  } else if (which == 101) {
    misalign();
  } else if (which == 4) {
    // A race needs two threads. They are started here and not in Rust: see the notes on TSan in sanitizers.sh.
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
      if (pthread_create(&threads[i], NULL, commit, NULL) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  } else {
    commit(NULL);
  }
  puts("the fault went unseen");
  return 0;
}
