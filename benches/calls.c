/* calls.c: what a lookup of one key costs a C program, by a call of the library and by the inlined probe, beside
 * hashing alone and the reads of random lines that a lookup cannot do without. `make bench-calls` compiles and runs it.
 *
 * All are measured in turns, with random keys half of which are in the filter. Of the turns the median counts. */
#define _GNU_SOURCE
#include <petal_inline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { KEYS = 1 << 14, TURNS = 101 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The i-th of different random keys. */
static uint64_t key_at(uint64_t i) {
  i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
  return i ^ i >> 31;
}

typedef struct {
  const petal_filter *filter;
  petal_view view;
  const uint64_t *lines; /* The memory of the limit, eight words a line. */
  uint64_t keys[KEYS], hashes[KEYS];
  uint32_t order[KEYS]; /* Lines of the limit. */
} bench;

static uint64_t call_u64(const bench *b) {
  uint64_t found = 0;
  for (int i = 0; i < KEYS; i++) found += petal_filter_contains_u64(b->filter, b->keys[i]);
  return found;
}

static uint64_t call_hash(const bench *b) {
  uint64_t found = 0;
  for (int i = 0; i < KEYS; i++) found += petal_filter_contains_hash(b->filter, b->hashes[i]);
  return found;
}

static uint64_t inlined_u64(const bench *b) {
  const petal_view view = b->view;
  uint64_t found = 0;
  for (int i = 0; i < KEYS; i++) found += petal_view_contains_u64(&view, b->keys[i]);
  return found;
}

static uint64_t inlined_hash(const bench *b) {
  const petal_view view = b->view;
  uint64_t found = 0;
  for (int i = 0; i < KEYS; i++) found += petal_view_contains_hash(&view, b->hashes[i]);
  return found;
}

/* One hash after the other, as a program that looks single keys up computes them. */
static uint64_t hashing(const bench *b) {
  uint64_t sum = 0;
  for (int i = 0; i < KEYS; i++) {
    uint64_t hash = petal_inline_xxh3(b->view.hash_flip, b->keys[i]);
#if defined(__GNUC__)
    __asm__ volatile("" : "+r"(hash));
#endif
    sum += hash;
  }
  return sum;
}

static uint64_t batch(const bench *b) {
  uint64_t found = 0;
  petal_filter_contains_batch_u64(b->filter, b->keys, KEYS, NULL, NULL, &found, NULL);
  return found;
}

/* The limit: eight reads at once. */
static uint64_t reading(const bench *b) {
  uint64_t sum[8] = {0};
  for (int i = 0; i < KEYS; i += 8) {
    for (int j = 0; j < 8; j++) sum[j] ^= b->lines[(size_t)b->order[i + j] * 8];
  }
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

/* The limit out of cache: a line is fetched for each that is read, 96 reads before. */
static uint64_t reading_ahead(const bench *b) {
  uint64_t sum = 0;
  for (int i = 0; i < 96; i++) __builtin_prefetch(&b->lines[(size_t)b->order[i] * 8]);
  for (int i = 0; i < KEYS; i++) {
    if (i + 96 < KEYS) __builtin_prefetch(&b->lines[(size_t)b->order[i + 96] * 8]);
    sum ^= b->lines[(size_t)b->order[i] * 8];
  }
  return sum;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static const struct {
  const char *name;
  uint64_t (*run)(const bench *);
} WAYS[] = {
  {"read limit", reading},          {"read limit, fetched ahead", reading_ahead}, {"XXH3, key by key", hashing},
  {"call, uint64_t", call_u64},     {"call, hash", call_hash},                    {"inlined, uint64_t", inlined_u64},
  {"inlined, hash", inlined_hash},  {"batch, uint64_t", batch},
};
enum { ALL = sizeof WAYS / sizeof WAYS[0] };

/* A table of one size of filter. */
static int compare(bench *b, petal_kind kind, uint64_t n) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .bits = (n * 10 + 511) / 512 * 512, .capacity = n};
  petal_filter *filter = NULL;
  if (petal_filter_new(&spec, &filter, &error) != PETAL_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (uint64_t done = 0; done < n;) {
    uint64_t count = n - done < KEYS ? n - done : KEYS;
    for (uint64_t i = 0; i < count; i++) b->keys[i] = key_at(done + i);
    petal_filter_insert_batch_u64(filter, b->keys, count, NULL, NULL, NULL, NULL, NULL);
    done += count;
  }
  b->filter = filter;
  b->view = (petal_view){.struct_size = sizeof b->view};
  /* The limit has as much memory as the filter, in huge pages where there are some, but no less than 32 KiB. */
  size_t bytes = spec.bits / 8 < 32768 ? 32768 : (size_t)spec.bits / 8;
  uint64_t *lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (petal_filter_view(filter, &b->view, &error) != PETAL_OK || lines == MAP_FAILED) {
    fprintf(stderr, "no view, or no memory\n");
    return 1;
  }
  madvise(lines, bytes, MADV_HUGEPAGE);
  memset(lines, 1, bytes);
  b->lines = lines;

  static double times[ALL][TURNS];
  uint64_t fresh = UINT64_C(1) << 40, sink = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    for (int way = 0; way < ALL; way++) {
      /* Keys of its own for each, whose lines no other has brought into the caches. */
      for (int i = 0; i < KEYS; i++) {
        uint64_t random = key_at(++fresh * 3);
        b->keys[i] = key_at(random & 1 ? fresh : random % n);
        b->order[i] = (uint32_t)((random >> 32) * (bytes / 64) >> 32);
        petal_filter_hash_u64(filter, b->keys[i], &b->hashes[i]);
      }
      double start = now();
      sink += WAYS[way].run(b);
      times[way][turn] = (now() - start) / KEYS;
    }
  }
  printf("\n%s, n = %llu, 10 bits/key%s\n", kind == PETAL_KIND_BLOCKED ? "blocked" : "split_block",
         (unsigned long long)n, sink ? "" : ".");
  for (int way = 0; way < ALL; way++) qsort(times[way], TURNS, sizeof times[way][0], ascending);
  double limit = times[0][TURNS / 2] < times[1][TURNS / 2] ? times[0][TURNS / 2] : times[1][TURNS / 2];
  for (int way = 0; way < ALL; way++) {
    printf("  %-26s %7.2f ns %7.1f times the limit\n", WAYS[way].name, times[way][TURNS / 2],
           times[way][TURNS / 2] / limit);
  }
  munmap(lines, bytes);
  petal_filter_free(filter);
  return 0;
}

int main(void) {
  static bench b;
  const uint64_t sizes[] = {10000, 1000000, 100000000};
  for (int i = 0; i < 3; i++) {
    if (compare(&b, PETAL_KIND_BLOCKED, sizes[i]) || compare(&b, PETAL_KIND_SPLIT_BLOCK, sizes[i])) return 1;
  }
  return 0;
}
