/* inlined.c: one key after the other from C. The inlined lookup of each kind that has one is compared with
 * the library's call and a batch. The plain loops are the least that structures of the literature take.
 *
 *   make bench-inlined
 *   target/bench/inlined [KEYS...]    default 1e4 1e6
 *
 * A figure is nanoseconds a key, the median of 11 turns, each over its own keys. The machine should do nothing else
 * meanwhile. */
#include "bench.h"

#include <petal_inline.h>
#include <string.h>

enum { TURNS = 11, KEYS = 1 << 16 };

static uint64_t mixed(uint64_t x) {
  x ^= x >> 33;
  x *= UINT64_C(0xff51afd7ed558ccd);
  x ^= x >> 33;
  x *= UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ x >> 33;
}

static uint64_t high(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 product;
  return (uint64_t)((product)a * b >> 64);
}

typedef struct {
  uint64_t keys[KEYS];
  petal_filter *filter;
  petal_map *map;
  petal_view view;
  /* The memory of the plain loops. */
  unsigned char *cells;
  uint64_t *bits;
  uint64_t starts, length, range;
} bench;

static uint64_t inlined(const bench *b) {
  const petal_view view = b->view;
  uint64_t sum = 0;
  for (int i = 0; i < KEYS; i++) sum += petal_view_contains_u64(&view, b->keys[i]);
  return sum;
}

/* The same loop with the function of the layout, which a program that knows the layout can call. */
#define OF_LAYOUT(name)                                                                                 \
  static uint64_t name(const bench *b) {                                                                \
    const petal_view view = b->view;                                                                    \
    uint64_t sum = 0;                                                                                   \
    for (int i = 0; i < KEYS; i++) {                                                                    \
      sum += petal_view_##name##_contains_hash(&view, petal_view_hash_u64(&view, b->keys[i]));          \
    }                                                                                                   \
    return sum;                                                                                         \
  }

OF_LAYOUT(blocked)
OF_LAYOUT(split_block)
OF_LAYOUT(two_blocks)
OF_LAYOUT(bloom)
OF_LAYOUT(fuse)
OF_LAYOUT(ribbon)
OF_LAYOUT(cuckoo)

static uint64_t called(const bench *b) {
  uint64_t sum = 0;
  for (int i = 0; i < KEYS; i++) sum += petal_filter_contains_u64(b->filter, b->keys[i]);
  return sum;
}

static uint64_t batch(const bench *b) {
  petal_keys keys = petal_keys_u64(b->keys, KEYS);
  petal_answers answers = {.struct_size = sizeof answers};
  petal_filter_contains_batch(b->filter, &keys, &answers, NULL);
  return answers.true_count;
}

/* Values of keys in a map. */
static uint64_t map_inlined(const bench *b) {
  const petal_view view = b->view;
  uint64_t sum = 0, value = 0;
  bool found = false;
  for (int i = 0; i < KEYS; i++) {
    petal_view_get_u64(&view, b->keys[i], &value, &found);
    sum += value;
  }
  return sum;
}

static uint64_t map_called(const bench *b) {
  uint64_t sum = 0, value = 0;
  bool found = false;
  for (int i = 0; i < KEYS; i++) {
    petal_map_get_u64(b->map, b->keys[i], &value, &found);
    sum += value;
  }
  return sum;
}

static uint64_t map_batch(const bench *b) {
  static uint64_t values[KEYS];
  petal_keys keys = petal_keys_u64(b->keys, KEYS);
  petal_answers answers = {.struct_size = sizeof answers, .values = values};
  petal_map_get_batch(b->map, &keys, &answers, NULL);
  return values[0];
}

/* A binary fuse lookup with cells of one byte: a hash, three loads and their exclusive or. The values of cells
 * change no step. */
static uint64_t plain_fuse(const bench *b) {
  const uint64_t starts = b->starts, length = b->length, mask = length - 1;
  const unsigned char *cells = b->cells;
  uint64_t sum = 0;
  for (int i = 0; i < KEYS; i++) {
    uint64_t hash = mixed(b->keys[i] + UINT64_C(0x726b2b9d438b9d4d)), first = high(hash, starts);
    uint64_t second = (first + length) ^ (hash >> 18 & mask), third = (first + 2 * length) ^ (hash & mask);
    sum += (unsigned char)(hash ^ hash >> 32 ^ cells[first] ^ cells[second] ^ cells[third]) == 0;
  }
  return sum;
}

/* The classic filter with seven probes from one hash, read one after the other until a bit is 0. */
static uint64_t plain_classic(const bench *b) {
  uint64_t sum = 0;
  for (int i = 0; i < KEYS; i++) {
    uint64_t hash = mixed(b->keys[i]);
    bool all = true;
    for (int probe = 0; probe < 7 && all; probe++) {
      uint64_t bit = high(hash, b->range);
      all = b->bits[bit >> 6] >> (bit & 63) & 1;
      hash *= UINT64_C(0x9e3779b97f4a7c15);
    }
    sum += all;
  }
  return sum;
}

static void insert_plain(bench *b, uint64_t key) {
  uint64_t hash = mixed(key);
  for (int probe = 0; probe < 7; probe++) {
    uint64_t bit = high(hash, b->range);
    b->bits[bit >> 6] |= UINT64_C(1) << (bit & 63);
    hash *= UINT64_C(0x9e3779b97f4a7c15);
  }
}

/* Chooses the keys of a turn. Of two keys `known` are in the filter. */
static void choose(bench *b, uint64_t n, int known, uint64_t *fresh) {
  for (int i = 0; i < KEYS; i++) {
    uint64_t random = key_at(++*fresh * 3 + (UINT64_C(1) << 50));
    bool is_known = known == 2 || (known == 1 && (random & 1) != 0);
    b->keys[i] = key_at(is_known ? high(random, n) : *fresh);
  }
}

static double median_of(bench *b, uint64_t n, int known, uint64_t (*run)(const bench *)) {
  static uint64_t fresh = UINT64_C(1) << 40;
  static volatile uint64_t sink;
  double times[TURNS];
  for (int turn = 0; turn < TURNS; turn++) {
    choose(b, n, known, &fresh);
    double start = now();
    sink += run(b);
    times[turn] = (now() - start) / KEYS;
  }
  return median(times, TURNS);
}

static void show(const char *name, bench *b, uint64_t n, uint64_t (*run)(const bench *)) {
  printf("  %-31s", name);
  for (int known = 0; known < 3; known++) printf(" %8.2f", median_of(b, n, known, run));
  printf("\n");
}

typedef struct {
  const char *name;
  petal_kind kind;
  uint64_t bits_a_key;    /* 0: `fingerprint_bits` sets the size. */
  double fingerprint_bits;
  double blocks; /* 0: no such parameter. */
  uint64_t (*of_layout)(const bench *);
} row;

static const row ROWS[] = {
    {"blocked", PETAL_KIND_BLOCKED, 10, 0, 1, blocked},
    {"blocked, two blocks", PETAL_KIND_BLOCKED, 10, 0, 2, two_blocks},
    {"split_block", PETAL_KIND_SPLIT_BLOCK, 10, 0, 0, split_block},
    {"bloom", PETAL_KIND_BLOOM, 10, 0, 0, bloom},
    {"fuse, 8 bits", PETAL_KIND_FUSE, 0, 8, 0, fuse},
    {"fuse, 9 bits", PETAL_KIND_FUSE, 0, 9, 0, fuse},
    {"ribbon, 8 bits", PETAL_KIND_RIBBON, 0, 8, 0, ribbon},
    {"cuckoo, 12 bits", PETAL_KIND_CUCKOO, 0, 12, 0, cuckoo},
};

static petal_filter *make(const row *r, uint64_t n) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .kind = r->kind};
  if (r->bits_a_key != 0) {
    spec.bits = (n * r->bits_a_key + 511) / 512 * 512;
    spec.capacity = n;
  } else if (petal_spec_set(&spec, "fingerprint_bits", r->fingerprint_bits, &error) != PETAL_OK) {
    fprintf(stderr, "%s\n", error.message);
  }
  if (r->blocks != 0) petal_spec_set(&spec, "blocks", r->blocks, NULL);
  petal_builder *builder = NULL;
  petal_filter *filter = NULL;
  if (petal_builder_new(&spec, NULL, &builder, &error) == PETAL_OK) {
    for (uint64_t i = 0; i < n; i++) petal_builder_add_u64(builder, key_at(i));
    if (petal_builder_finish(builder, &filter, &error) != PETAL_OK) fprintf(stderr, "%s\n", error.message);
    petal_builder_free(builder);
  }
  return filter;
}

/* A map with values of 8 bits. */
static petal_map *make_map(const char *solver, uint64_t n) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_RETRIEVAL};
  petal_map_builder *builder = NULL;
  petal_map *map = NULL;
  petal_spec_set(&spec, "value_bits", 8, NULL);
  petal_spec_set_choice(&spec, "solver", solver, NULL);
  if (petal_map_builder_new(&spec, NULL, &builder, &error) == PETAL_OK) {
    for (uint64_t i = 0; i < n; i++) petal_map_builder_put_u64(builder, key_at(i), i & 255);
    if (petal_map_builder_finish(builder, &map, &error) != PETAL_OK) fprintf(stderr, "%s\n", error.message);
    petal_map_builder_free(builder);
  }
  return map;
}

static int compare(bench *b, uint64_t n) {
  printf("n = %llu: absent, half, present\n", (unsigned long long)n);
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    char name[64];
    b->filter = make(&ROWS[i], n);
    b->view = (petal_view)PETAL_VIEW_INIT;
    if (b->filter == NULL || petal_filter_get_view(b->filter, &b->view, NULL) != PETAL_OK) return 1;
    snprintf(name, sizeof name, "%s, inlined", ROWS[i].name);
    show(name, b, n, inlined);
    snprintf(name, sizeof name, "%s, by its layout", ROWS[i].name);
    show(name, b, n, ROWS[i].of_layout);
    snprintf(name, sizeof name, "%s, by call", ROWS[i].name);
    show(name, b, n, called);
    snprintf(name, sizeof name, "%s, in a batch", ROWS[i].name);
    show(name, b, n, batch);
    petal_filter_free(b->filter);
  }
  static const char *const solvers[] = {"ribbon", "fuse"};
  for (int i = 0; i < 2; i++) {
    char name[64];
    b->map = make_map(solvers[i], n);
    b->view = (petal_view)PETAL_VIEW_INIT;
    if (b->map == NULL || petal_map_get_view(b->map, &b->view, NULL) != PETAL_OK) return 1;
    snprintf(name, sizeof name, "retrieval, %s, inlined", solvers[i]);
    show(name, b, n, map_inlined);
    snprintf(name, sizeof name, "retrieval, %s, by call", solvers[i]);
    show(name, b, n, map_called);
    snprintf(name, sizeof name, "retrieval, %s, in a batch", solvers[i]);
    show(name, b, n, map_batch);
    petal_map_free(b->map);
  }
  /* The numbers and lengths of segments are those of a filter of the literature. */
  b->length = n < 100000 ? 512 : n < 5000000 ? 8192 : 65536;
  b->starts = n * 9 / 8 / b->length * b->length;
  size_t cells = (size_t)(b->starts + 2 * b->length);
  b->cells = malloc(cells);
  b->range = n * 10;
  b->bits = calloc((size_t)(b->range / 64 + 1), 8);
  if (b->cells == NULL || b->bits == NULL) return 1;
  for (size_t i = 0; i < cells; i++) b->cells[i] = (unsigned char)key_at(i);
  for (uint64_t i = 0; i < n; i++) insert_plain(b, key_at(i));
  show("plain binary fuse, 8 bits", b, n, plain_fuse);
  show("plain classic, 7 probes", b, n, plain_classic);
  free(b->cells);
  free(b->bits);
  return 0;
}

int main(int count, char **arguments) {
  static bench b;
  static const char *const usual[] = {"1e4", "1e6"};
  int sizes = count > 1 ? count - 1 : 2;
  for (int i = 0; i < sizes; i++) {
    uint64_t n = (uint64_t)strtod(count > 1 ? arguments[i + 1] : usual[i], NULL);
    if (n == 0 || compare(&b, n) != 0) {
      fprintf(stderr, "no memory, or no number of keys\n");
      return 2;
    }
  }
  return 0;
}
