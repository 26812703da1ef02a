/* batches.c: the cost of a key for a C program that gives keys to the library in batches of 16 to 8192, compared with
 * the limit of memory. `make bench-batches` compiles and runs the program.
 *
 * All ways take turns, each with its own keys, and the median of the turns counts. Half of the keys of a lookup are in
 * the filter. A small size has two filters: lookups ask a full one, and insertions go into another, which is emptied
 * before each turn. A large size has one filter for both. */
#include "bench.h"

#include <petal.h>
#include <string.h>
#include <sys/mman.h>

enum { KEYS = 1 << 13, TURNS = 61 };

static struct {
  petal_filter *full, *filled;
  uint64_t *lines; /* The memory of the limit, eight words a line. */
  uint64_t keys[KEYS];
  uint32_t order[KEYS + 128]; /* Lines of the limit. */
  uint8_t answers[KEYS];
} b;

static uint64_t reading(size_t ahead) {
  uint64_t sum[8] = {0};
  if (ahead == 0) {
    for (size_t i = 0; i < KEYS; i += 8) {
      for (size_t j = 0; j < 8; j++) sum[j] ^= b.lines[(size_t)b.order[i + j] * 8];
    }
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
  }
  for (size_t i = 0; i < ahead; i++) __builtin_prefetch(&b.lines[(size_t)b.order[i] * 8]);
  for (size_t i = 0; i < KEYS; i++) {
    __builtin_prefetch(&b.lines[(size_t)b.order[i + ahead] * 8]);
    sum[0] ^= b.lines[(size_t)b.order[i] * 8];
  }
  return sum[0];
}

static uint64_t writing(size_t ahead) {
  for (size_t i = 0; i < ahead; i++) __builtin_prefetch(&b.lines[(size_t)b.order[i] * 8]);
  for (size_t i = 0; i < KEYS; i++) {
    if (ahead > 0) __builtin_prefetch(&b.lines[(size_t)b.order[i + ahead] * 8]);
    b.lines[(size_t)b.order[i] * 8] |= b.order[i];
  }
  return 0;
}

static uint64_t single_contains(size_t size) {
  (void)size;
  for (size_t i = 0; i < KEYS; i++) b.answers[i] = petal_filter_contains_u64(b.full, b.keys[i]);
  return b.answers[0];
}

static uint64_t contains(size_t size) {
  for (size_t i = 0; i < KEYS; i += size) {
    petal_keys keys = petal_keys_u64(b.keys + i, size);
    petal_answers answers = {.struct_size = sizeof answers, .bytes = b.answers + i};
    petal_filter_contains_batch(b.full, &keys, &answers, NULL);
  }
  return b.answers[0];
}

static uint64_t single_insert(size_t size) {
  (void)size;
  for (size_t i = 0; i < KEYS; i++) petal_filter_insert_u64(b.filled, b.keys[i], NULL);
  return 0;
}

static uint64_t insert(size_t size) {
  for (size_t i = 0; i < KEYS; i += size) {
    petal_keys keys = petal_keys_u64(b.keys + i, size);
    petal_filter_insert_batch(b.filled, &keys, NULL, NULL);
  }
  return 0;
}

static uint64_t insert_and_tell(size_t size) {
  for (size_t i = 0; i < KEYS; i += size) {
    petal_keys keys = petal_keys_u64(b.keys + i, size);
    petal_answers answers = {.struct_size = sizeof answers, .bytes = b.answers + i};
    petal_filter_insert_batch(b.filled, &keys, &answers, NULL);
  }
  return 0;
}

static uint64_t insert_shared(size_t size) {
  for (size_t i = 0; i < KEYS; i += size) {
    petal_keys keys = petal_keys_u64(b.keys + i, size);
    petal_filter_insert_shared_batch(b.filled, &keys, NULL, NULL);
  }
  return 0;
}

/* The ways that are measured. Ways of a limit stand before what is compared with it, and the best of them is the
 * limit. */
static const struct way {
  const char *name;
  uint64_t (*run)(size_t size);
  size_t size; /* Keys of a batch; for a limit, how far ahead lines are fetched. */
  char role;   /* 'r' and 'w': a limit of reads or writes; 'l' and 'i': lookups or insertions. */
} WAYS[] = {
  {"a line read", reading, 0, 'r'},
  {"a line read, fetched 64 ahead", reading, 64, 'r'},
  {"a line read, fetched 96 ahead", reading, 96, 'r'},
  {"a line read, fetched 128 ahead", reading, 128, 'r'},
  {"contains, batches of 8192", contains, 8192, 'l'},
  {"contains, 1024", contains, 1024, 'l'},
  {"contains, 256", contains, 256, 'l'},
  {"contains, 128", contains, 128, 'l'},
  {"contains, 64", contains, 64, 'l'},
  {"contains, 32", contains, 32, 'l'},
  {"contains, 16", contains, 16, 'l'},
  {"contains, one by one", single_contains, 1, 'l'},
  {"a line written", writing, 0, 'w'},
  {"a line written, fetched 64 ahead", writing, 64, 'w'},
  {"a line written, fetched 96 ahead", writing, 96, 'w'},
  {"a line written, fetched 128 ahead", writing, 128, 'w'},
  {"insert, batches of 8192", insert, 8192, 'i'},
  {"insert, 256", insert, 256, 'i'},
  {"insert, 64", insert, 64, 'i'},
  {"insert, 16", insert, 16, 'i'},
  {"insert, one by one", single_insert, 1, 'i'},
  {"insert, 8192, told what was new", insert_and_tell, 8192, 'i'},
  {"insert shared, 8192", insert_shared, 8192, 'i'},
  {"insert shared, 64", insert_shared, 64, 'i'},
  {"insert shared, 16", insert_shared, 16, 'i'},
};
enum { ALL = sizeof WAYS / sizeof WAYS[0] };

static petal_filter *filter_of(const petal_spec *spec, uint64_t n, uint64_t from) {
  petal_error error = {.struct_size = sizeof error};
  petal_filter *filter = NULL;
  if (petal_filter_new(spec, &filter, &error) != PETAL_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  for (uint64_t done = 0; done < n; done += KEYS) {
    for (uint64_t i = 0; i < KEYS; i++) b.keys[i] = key_at(from + done + i);
    petal_keys keys = petal_keys_u64(b.keys, n - done < KEYS ? n - done : KEYS);
    petal_filter_insert_batch(filter, &keys, NULL, NULL);
  }
  return filter;
}

/* Draws keys and lines of the limit for a turn. No other turn has brought their lines into the caches. */
static void draw(const struct way *way, uint64_t n, uint64_t lines) {
  static uint64_t fresh = UINT64_C(1) << 40;
  if (b.filled != b.full) petal_filter_clear(b.filled, NULL);
  for (size_t i = 0; i < KEYS + 128; i++) {
    uint64_t random = key_at(++fresh * 3);
    if (i < KEYS) b.keys[i] = key_at(way->role == 'l' && random & 1 ? random % n : fresh);
    b.order[i] = (uint32_t)((random >> 32) * lines >> 32);
  }
}

/* Prints the table of one size of filter. */
static void compare(petal_kind kind, const char *name, petal_kernel kernel, uint64_t n) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .kernel = kernel};
  spec.bits = (n * 10 + 511) / 512 * 512;
  spec.capacity = n;
  b.full = filter_of(&spec, n, 0);
  b.filled = n > KEYS * 200 ? b.full : filter_of(&spec, n, 0);
  /* The limit has as much memory as the filter, in huge pages where there are some. */
  size_t bytes = spec.bits / 8;
  b.lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (b.lines == MAP_FAILED) exit(1);
  madvise(b.lines, bytes, MADV_HUGEPAGE);
  memset(b.lines, 1, bytes);

  static double times[ALL][TURNS];
  uint64_t sink = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    for (int way = 0; way < ALL; way++) {
      /* Each way runs twice and the second run counts, because wide vectors take some microseconds to wake up. */
      draw(&WAYS[way], n, bytes / 64);
      sink += WAYS[way].run(WAYS[way].size);
      draw(&WAYS[way], n, bytes / 64);
      double start = now();
      sink += WAYS[way].run(WAYS[way].size);
      times[way][turn] = (now() - start) / KEYS;
    }
  }
  printf("\n%s, n = %llu, 10 bits/key%s\n", name, (unsigned long long)n, sink ? "" : ".");
  double limit = 0, large = 0;
  for (int way = 0; way < ALL; way++) {
    double time = median(times[way], TURNS);
    int first = way == 0 || WAYS[way].role != WAYS[way - 1].role;
    if (strchr("rw", WAYS[way].role)) {
      limit = first || time < limit ? time : limit;
      printf("  %-32s %7.2f ns\n", WAYS[way].name, time);
    } else {
      large = first ? time : large;
      printf("  %-32s %7.2f ns %6.2f times the limit %6.2f times large batches\n", WAYS[way].name, time,
             time / limit, time / large);
    }
  }
  munmap(b.lines, bytes);
  if (b.filled != b.full) petal_filter_free(b.filled);
  petal_filter_free(b.full);
}

/* Arguments: the number of a kernel, and a number of keys. Without arguments the best kernel, and three sizes. */
int main(int count, char **arguments) {
  petal_kernel kernel = count > 1 ? (petal_kernel)atoi(arguments[1]) : PETAL_KERNEL_BEST;
  uint64_t only = count > 2 ? (uint64_t)atof(arguments[2]) : 0;
  const uint64_t sizes[] = {10000, 1000000, 100000000};
  for (int i = 0; i < 3; i++) {
    if (only != 0 && only != sizes[i]) continue;
    compare(PETAL_KIND_BLOCKED, "blocked", kernel, sizes[i]);
    compare(PETAL_KIND_SPLIT_BLOCK, "split_block", kernel, sizes[i]);
  }
  return 0;
}
