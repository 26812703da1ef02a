/* verbs.c: the cost of one key for a C program, for each kind and each verb, by call and in batches, compared with the
 * reads that memory allows. `make bench-verbs` compiles and runs the program.
 *
 * verbs [-i] [-k KIND] [-b SIZE] [KEYS...] measures filters with a rate of 1 % and maps with values of one bit, of
 * these sizes, by default 10^4 and 10^6. Each size has a Markdown table of nanoseconds a key. Batches have 4096 keys,
 * or SIZE. With -i the tables are of batches with each instruction set of this processor.
 *
 * Each filter is filled with KEYS distinct keys. Small filters are filled and asked many times, so that a figure is
 * of about half a million keys at least. Large filters are asked for a sample of their keys. The median of five
 * rounds counts, but an insertion into a filter of more than 10^7 keys is measured once. `read` is a line at a
 * random place of as much memory as the filter has, fetched ahead: a kind that must touch three lines takes three
 * times as long. */
#include "bench.h"

#include <petal.h>
#include <petal_map.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 5, SAMPLE = 1 << 20, MOST_AT_ONCE = 8192, AHEAD = 64 };

static size_t at_once = 4096; /* The keys of a batch. */

static void check(petal_status status, const char *what) {
  if (status == PETAL_OK) return;
  fprintf(stderr, "verbs: %s: %s\n", what, petal_status_message(status));
  exit(1);
}

/* The subject of a measurement: a filter or a map, and the keys for its verbs. */
typedef struct {
  petal_kind_info info;
  petal_spec spec;
  petal_filter *filter;
  petal_map *map;
  uint64_t keys;         /* The number of keys in the filter. */
  const uint64_t *known; /* Keys in the filter, in the order of insertion. */
  const uint64_t *asked; /* A sample of known keys in another order. */
  const uint64_t *other; /* As many absent keys. */
  size_t count;          /* The number of keys in the sample. */
  uint8_t answers[MOST_AT_ONCE];
  uint64_t numbers[MOST_AT_ONCE];
} subject;

static bool can(const subject *s, uint64_t capability) { return (s->info.capabilities & capability) != 0; }

static void release(subject *s) {
  petal_filter_free(s->filter);
  petal_map_free(s->map);
  s->filter = NULL;
  s->map = NULL;
}

/* A verb by call, over some keys. The function sums the results, so that the compiler leaves no call out. */
#define BY_CALL(name, call)                                                  \
  static uint64_t name(subject *s, const uint64_t *keys, size_t count) {     \
    uint64_t sum = 0, number = 0;                                            \
    bool answer = false;                                                     \
    (void)number, (void)answer;                                              \
    for (size_t i = 0; i < count; i++) sum += (uint64_t)(call);              \
    return sum + number + answer;                                            \
  }

/* A verb in batches. */
#define IN_BATCHES(name, call, wanted)                                       \
  static uint64_t name(subject *s, const uint64_t *all, size_t count) {      \
    uint64_t sum = 0;                                                        \
    for (size_t i = 0; i < count; i += at_once) {                            \
      petal_keys keys = petal_keys_u64(all + i, count - i < at_once ? count - i : at_once); \
      petal_answers answers = PETAL_ANSWERS_INIT;                            \
      petal_answers *out = &answers;                                         \
      wanted;                                                                \
      (void)out;                                                             \
      check(call, #name);                                                    \
      sum += answers.true_count;                                             \
    }                                                                        \
    return sum;                                                              \
  }

BY_CALL(insert, petal_filter_insert_u64(s->filter, keys[i], NULL))
BY_CALL(contains, petal_filter_contains_u64(s->filter, keys[i]))
BY_CALL(remove_key, petal_filter_remove_u64(s->filter, keys[i], &answer))
BY_CALL(count_key, petal_filter_count_u64(s->filter, keys[i], &number))
BY_CALL(put, petal_map_put_u64(s->map, keys[i], keys[i] & 1, &answer))
BY_CALL(replace, petal_map_replace(s->map, &keys[i], sizeof keys[i], keys[i] & 1, &answer))
BY_CALL(get, petal_map_get_u64(s->map, keys[i], &number, &answer))
IN_BATCHES(insert_batch, petal_filter_insert_batch(s->filter, &keys, NULL, NULL), )
IN_BATCHES(contains_batch, petal_filter_contains_batch(s->filter, &keys, out, NULL), answers.bytes = s->answers)
IN_BATCHES(remove_batch, petal_filter_remove_batch(s->filter, &keys, NULL, NULL), )
IN_BATCHES(count_batch, petal_filter_count_batch(s->filter, &keys, out, NULL), answers.counts = s->numbers)
IN_BATCHES(put_batch, petal_map_put_batch(s->map, &keys, s->numbers, NULL, NULL), )
IN_BATCHES(replace_batch, petal_map_replace_batch(s->map, &keys, s->numbers, NULL, NULL), )
IN_BATCHES(get_batch, petal_map_get_batch(s->map, &keys, out, NULL), answers.values = s->numbers)

typedef uint64_t (*verb)(subject *, const uint64_t *, size_t);

static volatile uint64_t sink;

static double once(subject *s, verb run, const uint64_t *keys, size_t count) {
  double start = now();
  sink += run(s, keys, count);
  return (now() - start) / (double)count;
}

/* The median time of a verb that changes nothing. */
static double asking(subject *s, verb run, const uint64_t *keys) {
  double times[ROUNDS];
  once(s, run, keys, s->count);
  for (int round = 0; round < ROUNDS; round++) times[round] = once(s, run, keys, s->count);
  return median(times, ROUNDS);
}

/* Makes the filter or map: without keys, or with all keys where its kind is built from them. */
static void make(subject *s) {
  release(s);
  if (s->info.handle == PETAL_HANDLE_FILTER && can(s, PETAL_CAN_INSERT)) {
    check(petal_filter_new(&s->spec, &s->filter, NULL), s->info.name);
  } else if (s->info.handle == PETAL_HANDLE_MAP && can(s, PETAL_CAN_PUT)) {
    check(petal_map_new(&s->spec, &s->map, NULL), s->info.name);
  } else if (s->info.handle == PETAL_HANDLE_FILTER) {
    petal_keys keys = petal_keys_u64(s->known, s->keys);
    petal_builder *builder = NULL;
    check(petal_builder_new(&s->spec, NULL, &builder, NULL), s->info.name);
    check(petal_builder_add_batch(builder, &keys, NULL, NULL), s->info.name);
    check(petal_builder_finish(builder, &s->filter, NULL), s->info.name);
    petal_builder_free(builder);
  } else {
    uint64_t *values = calloc(s->keys, sizeof *values);
    petal_keys keys = petal_keys_u64(s->known, s->keys);
    petal_map_builder *builder = NULL;
    check(values ? PETAL_OK : PETAL_ERR_OUT_OF_MEMORY, "values");
    check(petal_map_builder_new(&s->spec, NULL, &builder, NULL), s->info.name);
    check(petal_map_builder_put_batch(builder, &keys, values, NULL, NULL), s->info.name);
    check(petal_map_builder_finish(builder, &s->map, NULL), s->info.name);
    petal_map_builder_free(builder);
    free(values);
  }
}

/* The median time of a verb that changes the filter, over all keys. The filter is empty first, or `fill` gives it
 * all keys. */
static double changing(subject *s, verb run, verb fill) {
  const uint64_t turns = s->keys < SAMPLE / 2 ? SAMPLE / 2 / s->keys : 1;
  const int rounds = s->keys > 10000000 ? 1 : ROUNDS;
  double times[ROUNDS];
  for (int round = 0; round < rounds; round++) {
    times[round] = 0;
    for (uint64_t turn = 0; turn < turns; turn++) {
      make(s);
      if (fill) fill(s, s->known, s->keys);
      times[round] += once(s, run, s->known, s->keys) / (double)turns;
    }
  }
  return median(times, rounds);
}

/* Building, which stands for insertion in batches in kinds that are built. */
static uint64_t build(subject *s, const uint64_t *keys, size_t count) {
  (void)keys;
  make(s);
  return count;
}

/* The time of a line at a random place in this number of bytes. */
static double reading(uint64_t bytes, const uint64_t *places, size_t count) {
  const size_t lines = bytes / 64 + 1;
  unsigned char *memory = mmap(NULL, lines * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED ? PETAL_OK : PETAL_ERR_OUT_OF_MEMORY, "memory");
  madvise(memory, lines * 64, MADV_HUGEPAGE);
  memset(memory, 1, lines * 64);
#define LINE(i) (((size_t)(((unsigned __int128)places[i] * lines) >> 64)) * 64)
  double times[ROUNDS + 1];
  for (int round = 0; round <= ROUNDS; round++) {
    uint64_t sum = 0;
    double start = now();
    for (size_t i = 0; i + AHEAD < count; i++) {
      __builtin_prefetch(memory + LINE(i + AHEAD));
      sum += memory[LINE(i)];
    }
    times[round] = (now() - start) / (double)(count - AHEAD);
    sink += sum;
  }
  munmap(memory, lines * 64);
  return median(times, ROUNDS + 1);
}

static void cell(double time) {
  if (time < 0) printf(" |");
  else printf(time < 9.95 ? " %.1f |" : " %.0f |", time);
}

static void measure(const petal_kind_info *info, uint64_t keys, const uint64_t *known, const uint64_t *asked,
                    const uint64_t *other, size_t count) {
  static subject s;
  memset(&s, 0, sizeof s);
  s.info = *info;
  s.spec = (petal_spec)PETAL_SPEC_INIT;
  s.spec.kind = info->kind;
  s.spec.capacity = keys;
  s.keys = keys;
  s.known = known, s.asked = asked, s.other = other, s.count = count;
  const bool is_map = info->handle == PETAL_HANDLE_MAP;
  if (is_map) {
    check(petal_spec_set(&s.spec, "value_bits", 1, NULL), "value_bits");
  } else {
    s.spec.false_positive_rate = 0.01;
  }
  const verb adding = is_map ? put : insert, adding_batch = is_map ? put_batch : insert_batch;
  const bool adds = is_map ? can(&s, PETAL_CAN_PUT) : can(&s, PETAL_CAN_INSERT);
  const double by_call = adds ? changing(&s, adding, NULL) : -1;
  const double in_batches = adds ? changing(&s, adding_batch, NULL) : changing(&s, build, NULL);
  const verb fill = adds ? adding_batch : NULL;
  make(&s);
  if (fill) fill(&s, known, keys);
  uint64_t bytes = 0;
  if (is_map) check(petal_map_serialized_size(s.map, &bytes, NULL), "size");
  else check(petal_filter_serialized_size(s.filter, &bytes, NULL), "size");
  printf("| `%s` |", info->name);
  cell(by_call), cell(in_batches);
  cell(asking(&s, is_map ? get : contains, asked)), cell(asking(&s, is_map ? get_batch : contains_batch, asked));
  cell(asking(&s, is_map ? get : contains, other)), cell(asking(&s, is_map ? get_batch : contains_batch, other));
  if (!is_map && can(&s, PETAL_CAN_COUNT)) {
    cell(asking(&s, count_key, asked)), cell(asking(&s, count_batch, asked));
  } else {
    cell(-1), cell(-1);
  }
  const bool replaces = is_map && can(&s, PETAL_CAN_REPLACE);
  if (replaces) {
    cell(asking(&s, replace, asked)), cell(asking(&s, replace_batch, asked));
  } else if (!is_map && can(&s, PETAL_CAN_REMOVE)) {
    cell(changing(&s, remove_key, fill)), cell(changing(&s, remove_batch, fill));
  } else {
    cell(-1), cell(-1);
  }
  release(&s);
  cell(reading(bytes, other, count));
  printf(" %.1f |\n", 8.0 * (double)bytes / (double)keys);
  fflush(stdout);
}

/* Prints the times of batches of one kind with each instruction set, from the best to plain code. The cell of an
 * instruction set that this processor lacks stays empty. */
static void compare(const petal_kind_info *info, uint64_t keys, const uint64_t *known, const uint64_t *asked,
                    const uint64_t *other, size_t count) {
  static subject s;
  static const petal_kernel kernels[] = {PETAL_KERNEL_AVX512, PETAL_KERNEL_AVX2, PETAL_KERNEL_NEON,
                                         PETAL_KERNEL_PORTABLE};
  enum { KERNELS = sizeof kernels / sizeof *kernels };
  memset(&s, 0, sizeof s);
  s.info = *info;
  s.spec = (petal_spec)PETAL_SPEC_INIT;
  s.spec.kind = info->kind;
  s.spec.capacity = keys;
  s.spec.false_positive_rate = 0.01;
  s.keys = keys, s.known = known, s.asked = asked, s.other = other, s.count = count;
  const bool adds = can(&s, PETAL_CAN_INSERT);
  double present[KERNELS], absent[KERNELS], inserted[KERNELS];
  for (int i = 0; i < KERNELS; i++) {
    present[i] = absent[i] = inserted[i] = -1;
    s.spec.kernel = kernels[i];
    petal_spec probe = s.spec;
    petal_filter *small = NULL;
    probe.kind = PETAL_KIND_BLOOM, probe.capacity = 1;
    if (petal_filter_new(&probe, &small, NULL) != PETAL_OK) continue;
    petal_filter_free(small);
    inserted[i] = adds ? changing(&s, insert_batch, NULL) : -1;
    make(&s);
    if (adds) insert_batch(&s, known, keys);
    present[i] = asking(&s, contains_batch, asked), absent[i] = asking(&s, contains_batch, other);
    release(&s);
  }
  printf("| `%s` |", info->name);
  for (int i = 0; i < KERNELS; i++) cell(present[i]);
  for (int i = 0; i < KERNELS; i++) cell(absent[i]);
  for (int i = 0; i < KERNELS; i++) cell(inserted[i]);
  printf("\n");
  fflush(stdout);
}

static void table(uint64_t keys, const char *only, bool by_instructions) {
  const size_t count = keys < SAMPLE ? SAMPLE / keys * keys : SAMPLE;
  uint64_t *known = malloc(keys * sizeof *known);
  uint64_t *asked = malloc(count * sizeof *asked), *other = malloc(count * sizeof *other);
  check(known && asked && other ? PETAL_OK : PETAL_ERR_OUT_OF_MEMORY, "keys");
  for (uint64_t i = 0; i < keys; i++) known[i] = key_at(i);
  for (size_t i = 0; i < count; i++) {
    asked[i] = known[key_at(i + (UINT64_C(1) << 40)) % keys];
    other[i] = key_at(i + (UINT64_C(1) << 41));
  }
  if (by_instructions) {
    printf("\n%.0e keys, ns in batches: AVX-512, AVX2, NEON, plain code\n\n", (double)keys);
    printf("| kind | present | | | | absent | | | | insert | | | |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  } else {
    printf("\n%.0e keys, ns: by call, in batches\n\n", (double)keys);
    printf("| kind | insert, put | build | present | | absent | | count | | remove, replace | | read | bits/key |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  }
  for (size_t i = 0; i < petal_kind_count(); i++) {
    petal_kind_info info = PETAL_KIND_INFO_INIT;
    check(petal_kind_get_at(i, &info, NULL), "kind");
    const bool is_known = info.handle == PETAL_HANDLE_FILTER || info.handle == PETAL_HANDLE_MAP;
    if (!is_known || (info.flags & (PETAL_IS_FOREIGN | PETAL_TAKES_INTEGERS)) != 0) continue;
    if (only && strcmp(only, info.name) != 0) continue;
    if (!by_instructions) measure(&info, keys, known, asked, other, count);
    else if (info.handle == PETAL_HANDLE_FILTER) compare(&info, keys, known, asked, other, count);
  }
  free(known), free(asked), free(other);
}

int main(int argc, char **argv) {
  const char *only = NULL;
  bool by_instructions = false;
  int next = 1;
  for (; next < argc && argv[next][0] == '-'; next++) {
    if (strcmp(argv[next], "-i") == 0) by_instructions = true;
    else if (strcmp(argv[next], "-k") == 0 && next + 1 < argc) only = argv[++next];
    else if (strcmp(argv[next], "-b") == 0 && next + 1 < argc) at_once = (size_t)strtod(argv[++next], NULL);
  }
  check(at_once > 0 && at_once <= MOST_AT_ONCE ? PETAL_OK : PETAL_ERR_OUT_OF_RANGE, "-b");
  if (next == argc) {
    table(10000, only, by_instructions);
    table(1000000, only, by_instructions);
  }
  for (; next < argc; next++) table((uint64_t)strtod(argv[next], NULL), only, by_instructions);
  return 0;
}
