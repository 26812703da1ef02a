/* Hostile payloads for the tests of inlined lookups. The payloads lie between pages that nobody may read, have forged
 * words, and change during lookups. */
#ifndef PETAL_FORGE_H
#define PETAL_FORGE_H

#include "check.h"

#include <petal_inline.h>
#include <pthread.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
/* A word of 16-bit compilers. */
#undef near
#else
#include <sys/mman.h>
#endif

/* Hashes with rare patterns, and ordinary ones. */
static inline uint64_t hash_at(uint64_t i) {
  return i == 0 ? 0 : i == 1 ? UINT64_MAX : i < 66 ? UINT64_C(1) << (i - 2) : check_key(check_key(i) >> 7);
}

/* A hash whose order, the first half of the mixing, is a small number. */
static inline uint64_t unordered(uint64_t x) {
  x ^= x >> 27 ^ x >> 54;
  x *= UINT64_C(0x96de1b173f119089);
  return x ^ x >> 30 ^ x >> 60;
}

/* A payload between two pages that nobody may read: at the end of its pages, or at their beginning. */
typedef struct {
  unsigned char *pages;
  size_t length;
  uint64_t *payload;
} fenced;

static inline fenced fence(const petal_view *view, bool at_end) {
#ifdef _WIN32
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  size_t page = system.dwPageSize, bytes = (size_t)view->payload_bytes;
#else
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)view->payload_bytes;
#endif
  fenced f = {NULL, (bytes + page - 1) / page * page + 2 * page, NULL};
#ifdef _WIN32
  f.pages = VirtualAlloc(NULL, f.length, MEM_RESERVE, PAGE_NOACCESS);
  CHECK(f.pages != NULL);
  CHECK(VirtualAlloc(f.pages + page, f.length - 2 * page, MEM_COMMIT, PAGE_READWRITE) != NULL);
#else
  void *pages = mmap(NULL, f.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  f.pages = pages;
  CHECK(mprotect(f.pages + page, f.length - 2 * page, PROT_READ | PROT_WRITE) == 0);
#endif
  unsigned char *first = at_end ? f.pages + f.length - page - bytes : f.pages + page;
  memcpy(first, view->payload, bytes);
  f.payload = (uint64_t *)(void *)first;
  return f;
}

static inline void unfence(fenced f) {
#ifdef _WIN32
  VirtualFree(f.pages, 0, MEM_RELEASE);
#else
  munmap(f.pages, f.length);
#endif
}

/* Words that a directory does not expect, and ordinary ones. */
static inline uint64_t forged(uint64_t i) {
  uint64_t random = check_key(i * 7 + 5), shift = check_key(i * 11 + 1) % 64;
  switch (random % 5) {
    case 0:
      return UINT64_MAX >> shift;
    case 1:
      return UINT64_MAX << shift;
    case 2:
      return UINT64_C(1) << shift;
    case 3:
      return check_key(random) >> shift;
    default:
      return check_key(random);
  }
}

/* ThreadSanitizer is right about the races of static kinds: only a process that breaks the rules writes there. */
#if defined(__SANITIZE_THREAD__)
#define NO_RACES
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NO_RACES
#endif
#endif

#ifndef NO_RACES
/* Writes forged words over a payload or a part of it, while lookups go on. Most writes go to the last words, because a
 * directory lies there. */
typedef struct {
  uint64_t *payload;
  uint64_t words, rounds;
} writer;

static inline void *write_all(void *argument) {
  const writer *w = argument;
  for (uint64_t i = 0; i < w->rounds; i++) {
    uint64_t random = check_key(i), near = w->words < 8 ? w->words : 8;
    uint64_t word = i % 2 == 0 ? random % w->words : w->words - 1 - random % near;
    petal_inline_store(w->payload + word, forged(i));
  }
  return NULL;
}
#endif

/* Asks a view whose payload lies between such pages, and is forged. `ask` looks up `count` hashes and fetches them; a
 * read outside of the payload ends the program. `asked` lookups go on while `written` words are written. */
static inline void ask_forged(const petal_view *view,
                              uint64_t (*ask)(const petal_view *, uint64_t from, uint64_t count), uint64_t rounds,
                              uint64_t written, uint64_t asked) {
  for (int at_end = 0; at_end < 2; at_end++) {
    fenced f = fence(view, at_end != 0);
    petal_view seen = *view;
    seen.payload = f.payload;
    CHECK_EQUAL(ask(&seen, 0, 2000), ask(view, 0, 2000));
    /* As another process leaves it, which changes the payload after the view was made. */
    const uint64_t words = view->payload_bytes / 8;
    for (uint64_t round = 0; round < rounds; round++) {
      for (uint64_t i = 0; i < 4; i++) {
        uint64_t random = check_key(round * 4 + i);
        f.payload[words - 1 - random % (words < 16 ? words : 16)] = forged(round * 4 + i);
      }
      ask(&seen, round * 50, 50);
    }
    /* As it lies there when the view is made: forged words from beginning to end. */
    for (uint64_t i = 0; i < words; i++) f.payload[i] = forged(i);
    ask(&seen, 0, 2000);
#ifndef NO_RACES
    /* While it changes. */
    const writer w = {f.payload, words, written};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_all, (void *)(uintptr_t)&w) == 0);
    ask(&seen, 0, asked);
    CHECK(pthread_join(thread, NULL) == 0);
#else
    (void)written, (void)asked;
#endif
    unfence(f);
  }
}

#endif
