/* calls.c: the cost of one key for a C program: a call of the library in each of its forms, the inlined probe,
 * hashing alone, and the reads of random lines that a lookup needs. `make bench-calls` compiles and runs the program.
 *
 * All ways take turns, each with its own keys, half of which are in the filter. The median of the turns counts.
 * Insertions go into a second filter, which becomes a copy of the first before each turn if it is small. Keys of
 * "known" insertions are all in the filter. The ratios matter: of lookups to the inlined probe, and of other calls to
 * the lookup.
 *
 * calls [KEYS...] measures filters of these sizes. */
#include "bench.h"

#include <petal_inline.h>
#include <string.h>
#include <sys/mman.h>

enum { KEYS = 1 << 12, TURNS = 151, KEY_LENGTH = 16 };

typedef struct {
  const petal_filter *filter;
  petal_filter *scratch; /* For insertions. */
  petal_view view;
  const uint64_t *lines; /* The memory of the limit, eight words a line. */
  uint64_t keys[KEYS], hashes[KEYS];
  char strings[KEYS][KEY_LENGTH];
  uint32_t order[KEYS]; /* Lines of the limit. */
} bench;

/* A loop over the keys of a turn, for `i` from 0, that sums the values of `expression`. */
#define WAY(name, expression)                          \
  static uint64_t name(const bench *b) {               \
    const petal_view view = b->view;                   \
    uint64_t sum = 0;                                  \
    (void)view;                                        \
    for (int i = 0; i < KEYS; i++) sum += (expression); \
    return sum;                                        \
  }

/* A loop like WAY for calls that also write whether the key was new, or there. */
#define ANSWERED(name, call)                 \
  static uint64_t name(const bench *b) {     \
    uint64_t sum = 0;                        \
    for (int i = 0; i < KEYS; i++) {         \
      bool answer = false;                   \
      sum += (uint64_t)(call);               \
      sum += answer;                         \
    }                                        \
    return sum;                              \
  }

#define FORMS(KIND, name, function, handle, ...)                                    \
  KIND(name##_hash, function##_hash(b->handle, b->hashes[i] __VA_ARGS__))           \
  KIND(name##_u64, function##_u64(b->handle, b->keys[i] __VA_ARGS__))               \
  KIND(name##_bytes, function(b->handle, b->strings[i], KEY_LENGTH __VA_ARGS__))

#define COMMA_ANSWER , &answer
#define COMMA_NULL , NULL

FORMS(WAY, contains, petal_filter_contains, filter)
FORMS(WAY, insert, petal_filter_insert, scratch, COMMA_NULL)
FORMS(WAY, insert_shared, petal_filter_insert_shared, scratch, COMMA_NULL)
FORMS(ANSWERED, insert_answered, petal_filter_insert, scratch, COMMA_ANSWER)

ANSWERED(checked_hash, petal_filter_contains_checked_hash(b->filter, b->hashes[i], &answer))
ANSWERED(checked_u64, petal_filter_contains_checked_u64(b->filter, b->keys[i], &answer))
ANSWERED(checked_bytes, petal_filter_contains_checked(b->filter, b->strings[i], KEY_LENGTH, &answer))

WAY(inlined_hash, petal_view_contains_hash(&view, b->hashes[i]))
WAY(inlined_u64, petal_view_contains_u64(&view, b->keys[i]))

/* Keeps the compiler from hashing several keys at the same time: a program that looks up single keys has one hash after
 * the other. */
static uint64_t opaque(uint64_t hash) {
#if defined(__GNUC__)
  __asm__ volatile("" : "+r"(hash));
#endif
  return hash;
}

WAY(hashing_u64, opaque(petal_inline_xxh3(view.hash_flip, b->keys[i])))

/* Hashes a string by a call of the library. */
static uint64_t hash_of(const bench *b, int i) {
  uint64_t hash = 0;
  petal_filter_hash(b->filter, b->strings[i], KEY_LENGTH, &hash);
  return hash;
}

WAY(hashing_bytes, hash_of(b, i))

static uint64_t batch(const bench *b) {
  petal_keys keys = petal_keys_u64(b->keys, KEYS);
  petal_answers answers = {.struct_size = sizeof answers};
  petal_filter_contains_batch(b->filter, &keys, &answers, NULL);
  return answers.true_count;
}

/* The limit in the caches: eight reads at a time. */
static uint64_t reading(const bench *b) {
  uint64_t sum[8] = {0};
  for (int i = 0; i < KEYS; i += 8) {
    for (int j = 0; j < 8; j++) sum[j] ^= b->lines[(size_t)b->order[i + j] * 8];
  }
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

/* The limit out of the caches: each line is fetched 96 reads before it is read. */
static uint64_t reading_ahead(const bench *b) {
  uint64_t sum = 0;
  for (int i = 0; i < 96; i++) __builtin_prefetch(&b->lines[(size_t)b->order[i] * 8]);
  for (int i = 0; i < KEYS; i++) {
    if (i + 96 < KEYS) __builtin_prefetch(&b->lines[(size_t)b->order[i + 96] * 8]);
    sum ^= b->lines[(size_t)b->order[i] * 8];
  }
  return sum;
}

/* The keys of a way: half of them known, or all. */
typedef enum { HALF, ALL_KNOWN } keys_of;

typedef struct {
  const char *name;
  uint64_t (*run)(const bench *);
  const char *base; /* The way with which the time is compared. */
  keys_of keys;
} way;

#define IN_THREE_FORMS(words, name, base, keys)                                         \
  {words " by hash", name##_hash, base " by hash", keys},                               \
      {words " by uint64_t", name##_u64, base " by uint64_t", keys},                    \
  {words " of 16 bytes", name##_bytes, base " of 16 bytes", keys}

static const way WAYS[] = {
  {"read limit", reading, NULL, HALF},
  {"read limit, fetched ahead", reading_ahead, NULL, HALF},
  {"XXH3 of a uint64_t", hashing_u64, NULL, HALF},
  {"petal_filter_hash of 16 bytes", hashing_bytes, NULL, HALF},
  {"inlined by hash", inlined_hash, NULL, HALF},
  {"inlined by uint64_t", inlined_u64, NULL, HALF},
  {"contains by hash", contains_hash, "inlined by hash", HALF},
  {"contains by uint64_t", contains_u64, "inlined by uint64_t", HALF},
  {"contains of 16 bytes", contains_bytes, NULL, HALF},
  IN_THREE_FORMS("contains_checked", checked, "contains", HALF),
  IN_THREE_FORMS("insert", insert, "contains", HALF),
  IN_THREE_FORMS("insert, is_new", insert_answered, "contains", HALF),
  IN_THREE_FORMS("insert_shared, known", insert_shared, "contains", ALL_KNOWN),
  IN_THREE_FORMS("insert_shared", insert_shared, "contains", HALF),
  {"batch by uint64_t", batch, NULL, HALF},
};
enum { ALL = sizeof WAYS / sizeof WAYS[0] };

/* Writes the bytes of a string key, which are a number twice. */
static void write_string(char *string, uint64_t key) {
  memcpy(string, &key, 8);
  memcpy(string + 8, &key, 8);
}

/* Fills a filter with n keys. Chunks of numbers and chunks of strings alternate. */
static int fill(bench *b, petal_filter *filter, uint64_t n) {
  static uint64_t offsets[KEYS + 1];
  for (uint64_t done = 0; done < n;) {
    uint64_t count = n - done < KEYS ? n - done : KEYS;
    for (uint64_t i = 0; i < count; i++) {
      b->keys[i] = key_at(done + i);
      write_string(b->strings[i], b->keys[i]);
      offsets[i + 1] = (i + 1) * KEY_LENGTH;
    }
    petal_keys keys = done / KEYS % 2 == 0 ? petal_keys_u64(b->keys, count)
                                           : petal_keys_bytes(b->strings, count * KEY_LENGTH, offsets, count);
    if (petal_filter_insert_batch(filter, &keys, NULL, NULL) != PETAL_OK) return 1;
    done += count;
  }
  return 0;
}

/* The number of a random key in the filter, for `key_at`. The key is there as a number if `chunk` is 0, and as a
 * string if `chunk` is 1. */
static uint64_t known(uint64_t random, uint64_t n, uint64_t chunk) {
  uint64_t chunks = (n + KEYS - 1) / KEYS;
  uint64_t which = random / KEYS % ((chunks + 1 - chunk) / 2) * 2 + chunk;
  uint64_t length = which == chunks - 1 ? n - which * KEYS : KEYS;
  return which * KEYS + random % length;
}

/* Prints the table of one size of filter. */
static int compare(bench *b, petal_kind kind, uint64_t n) {
  petal_error error = {.struct_size = sizeof error};
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .bits = (n * 10 + 511) / 512 * 512, .capacity = n};
  petal_filter *filter = NULL, *scratch = NULL;
  if (petal_filter_new(&spec, &filter, &error) != PETAL_OK || fill(b, filter, n) != 0 ||
      petal_filter_copy(filter, &scratch, &error) != PETAL_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  b->filter = filter;
  b->scratch = scratch;
  b->view = (petal_view){.struct_size = sizeof b->view};
  /* The limit has as much memory as the filter, in huge pages where there are some, but no less than 32 KiB. */
  size_t bytes = spec.bits / 8 < 32768 ? 32768 : (size_t)spec.bits / 8;
  uint64_t *lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (petal_filter_get_view(filter, &b->view, &error) != PETAL_OK || lines == MAP_FAILED) {
    fprintf(stderr, "no view, or no memory\n");
    return 1;
  }
  madvise(lines, bytes, MADV_HUGEPAGE);
  memset(lines, 1, bytes);
  b->lines = lines;

  static double times[ALL][TURNS];
  uint64_t fresh = UINT64_C(1) << 40, sink = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    for (int which = 0; which < ALL; which++) {
      /* Each turn has its own keys. No other turn has brought their lines into the caches. */
      for (int i = 0; i < KEYS; i++) {
        uint64_t random = key_at(++fresh * 3), pick = random >> 1;
        bool is_known = WAYS[which].keys == ALL_KNOWN || (random & 1) == 0;
        b->keys[i] = key_at(is_known ? known(pick, n, 0) : fresh);
        write_string(b->strings[i], is_known ? key_at(known(pick, n, 1)) : b->keys[i]);
        b->order[i] = (uint32_t)((random >> 32) * (bytes / 64) >> 32);
        petal_filter_hash(filter, &b->keys[i], sizeof b->keys[i], &b->hashes[i]);
      }
      /* A large filter becomes a little fuller with each turn, which does not change the times. */
      if (n <= 1000000) {
        petal_filter_clear(scratch, NULL);
        petal_filter_merge(scratch, filter, NULL);
      }
      double start = now();
      sink += WAYS[which].run(b);
      times[which][turn] = (now() - start) / KEYS;
    }
  }
  printf("\n%s, n = %llu, 10 bits/key%s\n", kind == PETAL_KIND_BLOCKED ? "blocked" : "split_block",
         (unsigned long long)n, sink ? "" : ".");
  double medians[ALL];
  for (int which = 0; which < ALL; which++) {
    medians[which] = median(times[which], TURNS);
  }
  for (int which = 0; which < ALL; which++) {
    const char *base = WAYS[which].base;
    printf("  %-36s %7.2f ns", WAYS[which].name, medians[which]);
    for (int other = 0; base != NULL && other < ALL; other++) {
      if (strcmp(WAYS[other].name, base) == 0) printf("  %5.2f times %s", medians[which] / medians[other], base);
    }
    printf("\n");
  }
  munmap(lines, bytes);
  petal_filter_free(filter);
  petal_filter_free(scratch);
  return 0;
}

int main(int count, char **arguments) {
  static bench b;
  static const char *const usual[] = {"10000", "100000000"};
  int sizes = count > 1 ? count - 1 : 2;
  for (int i = 0; i < sizes; i++) {
    uint64_t n = (uint64_t)strtod(count > 1 ? arguments[i + 1] : usual[i], NULL);
    if (n <= KEYS) {
      fprintf(stderr, "more than %d keys\n", KEYS);
      return 2;
    }
    if (compare(&b, PETAL_KIND_BLOCKED, n) || compare(&b, PETAL_KIND_SPLIT_BLOCK, n)) return 1;
  }
  return 0;
}
