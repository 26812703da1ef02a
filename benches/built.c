/* built.c: the cost for a C program of the kinds that are built from all of their keys. A build goes from uint64_t keys
 * in memory through a builder to the filter. Lookups are single calls, or one batch. `make bench-built` compiles and
 * runs the program.
 *
 * built KIND [KEYS...] measures filters of this kind, for rates of 2^-8 and 2^-16, with each number of keys. A build is
 * the median of five, and from 5 * 10^7 keys on there is one. A lookup is the median of 61 turns. Each turn has its own
 * keys, half of which are in the filter. */
#include "bench.h"

#include <petal.h>

enum { KEYS = 1 << 13, TURNS = 61, BUILDS = 5 };

static void check(petal_status status, const petal_error *error) {
  if (status == PETAL_OK) return;
  fprintf(stderr, "built: %s\n", error->message);
  exit(1);
}

/* Builds a filter of all keys, which go to the builder in one call. */
static petal_filter *build(petal_kind kind, double rate, const uint64_t *all, uint64_t n) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .false_positive_rate = rate};
  petal_builder *builder = NULL;
  petal_filter *filter = NULL;
  petal_keys keys = petal_keys_u64(all, n);
  check(petal_builder_new(&spec, NULL, &builder, &error), &error);
  check(petal_builder_add_batch(builder, &keys, NULL, &error), &error);
  check(petal_builder_finish(builder, &filter, &error), &error);
  petal_builder_free(builder);
  return filter;
}

static void measure(petal_kind kind, const char *name, uint64_t n) {
  uint64_t *all = malloc(n * sizeof *all);
  if (all == NULL) exit(1);
  for (uint64_t i = 0; i < n; i++) all[i] = key_at(i);
  for (int bits = 8; bits <= 16; bits += 8) {
    double builds[BUILDS], singles[TURNS], batches[TURNS];
    int repetitions = n < 50000000 ? BUILDS : 1;
    petal_filter *filter = NULL;
    for (int i = 0; i < repetitions; i++) {
      petal_filter_free(filter);
      double start = now();
      filter = build(kind, 1.0 / (double)(1 << bits), all, n);
      builds[i] = (now() - start) / (double)n;
    }
    uint64_t fresh = UINT64_C(1) << 40, sink = 0;
    static uint64_t keys[KEYS];
    static uint8_t answers[KEYS];
    for (int turn = 0; turn < 2 * TURNS; turn++) {
      for (size_t i = 0; i < KEYS; i++) {
        uint64_t random = key_at(++fresh * 3);
        keys[i] = key_at(random & 1 ? random % n : fresh);
      }
      double start = now();
      if (turn < TURNS) {
        for (size_t i = 0; i < KEYS; i++) answers[i] = petal_filter_contains_u64(filter, keys[i]);
        singles[turn] = (now() - start) / KEYS;
      } else {
        petal_keys batch = petal_keys_u64(keys, KEYS);
        petal_answers to = {.struct_size = sizeof to, .bytes = answers};
        petal_filter_contains_batch(filter, &batch, &to, NULL);
        batches[turn - TURNS] = (now() - start) / KEYS;
      }
      sink += answers[turn];
    }
    printf("%-10s %11llu %5d %10.1f %8.2f %8.2f%s\n", name, (unsigned long long)n, bits,
           median(builds, (size_t)repetitions), median(singles, TURNS), median(batches, TURNS), sink == 1 ? " " : "");
    fflush(stdout);
    petal_filter_free(filter);
  }
  free(all);
}

int main(int count, char **arguments) {
  static const uint64_t SIZES[] = {10000, 1000000, 10000000, 100000000};
  const char *name = count > 1 ? arguments[1] : "fuse";
  petal_kind_info kind = {.struct_size = sizeof kind};
  if (petal_kind_find(name, &kind, NULL) != PETAL_OK) {
    fprintf(stderr, "built: there is no kind %s\n", name);
    return 1;
  }
  printf("%-10s %11s %5s %10s %8s %8s\n", "kind", "keys", "r", "build, ns", "single", "batch");
  for (int i = 2; i < count; i++) measure(kind.kind, name, strtoull(arguments[i], NULL, 10));
  for (size_t i = 0; count < 3 && i < sizeof SIZES / sizeof *SIZES; i++) measure(kind.kind, name, SIZES[i]);
  return 0;
}
