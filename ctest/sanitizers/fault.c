// Commits one fault on purpose, so that sanitizers.sh can prove that each tool sees it.
//
//   fault NUMBER
//
// The numbers are those of petal_plant_fault(), which only test builds export; the faults lie in the Rust code. Number
// 0, a panic that is caught, is none: it must pass under every tool. 100 is a signed overflow in this program, because
// UBSan watches C code only.
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

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  which = (uint32_t)strtoul(argv[1], NULL, 10);
  if (which == 100) {
    volatile int number = INT_MAX;
    number = number + 1;
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
