/* DAMAGED FORMS: packed forms and deltas that were cut at each byte, flipped at each bit, extended, of another version,
 * and changed at random 10^5 times. All are refused, none changes a filter, and none gets more memory than allowed. */
#include "check.h"

#include <stdlib.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

/* The most bytes that an image may have, and the most memory that the program may have beyond what it has. */
enum { MOST = 1 << 16, ROOM = 1 << 14, MEMORY = 64 << 20 };

/* A packed form, or a delta with the states before and after. */
typedef struct {
  unsigned char bytes[ROOM];
  size_t length;
  petal_filter *older, *newer;
  petal_map *map;
} form;

static bool are_same(const petal_filter *filter, const petal_filter *other) {
  static unsigned char one[MOST], two[MOST];
  size_t lengths[2] = {0};
  CHECK_OK(petal_filter_serialize(filter, one, sizeof one, &lengths[0], NULL));
  CHECK_OK(petal_filter_serialize(other, two, sizeof two, &lengths[1], NULL));
  return lengths[0] == lengths[1] && memcmp(one, two, lengths[0]) == 0;
}

/* Opens bytes as the form that they were, from memory of exactly their length, so that tools see what reads past it. */
static petal_status opened(const form *of, const unsigned char *bytes, size_t length) {
  unsigned char *exact = malloc(length ? length : 1);
  CHECK(exact != NULL);
  memcpy(exact, bytes, length);
  petal_status status;
  if (of->older) {
    petal_filter *patched = NULL;
    CHECK_OK(petal_filter_copy(of->older, &patched, NULL));
    status = petal_filter_patch(patched, exact, length, MOST, NULL);
    CHECK(are_same(patched, status == PETAL_OK ? of->newer : of->older));
    petal_filter_free(patched);
  } else if (of->map) {
    petal_map *map = NULL;
    status = petal_map_unpack(exact, length, MOST, NULL, &map, NULL);
    CHECK((map != NULL) == (status == PETAL_OK));
    petal_map_free(map);
  } else {
    petal_filter *filter = NULL;
    status = petal_filter_unpack(exact, length, MOST, NULL, &filter, NULL);
    CHECK((filter != NULL) == (status == PETAL_OK));
    petal_filter_free(filter);
  }
  free(exact);
  return status;
}

static bool is_refusal(petal_status status) {
  switch (status) {
    case PETAL_ERR_FOREIGN:
    case PETAL_ERR_TRUNCATED:
    case PETAL_ERR_CORRUPT:
    case PETAL_ERR_NEWER_VERSION:
    case PETAL_ERR_TOO_LARGE:
    case PETAL_ERR_INCOMPATIBLE:
    case PETAL_ERR_UNSUPPORTED:
    case PETAL_ERR_SECRET_MISSING:
      return true;
    default:
      return false;
  }
}

static void check_refused(const form *of, const unsigned char *bytes, size_t length, const char *what, size_t at) {
  petal_status status = opened(of, bytes, length);
  check_that(is_refusal(status), __FILE__, __LINE__, "%s at %lu: status %d", what, (unsigned long)at, (int)status);
}

/* Every cut, every flipped bit, bytes that follow, and other versions. */
static void systematic(const form *of) {
  unsigned char bytes[ROOM + 8];
  CHECK_OK(opened(of, of->bytes, of->length));
  for (size_t end = 0; end < of->length; end++) check_refused(of, of->bytes, end, "cut", end);
  for (size_t bit = 0; bit < 8 * of->length; bit += check_step()) {
    memcpy(bytes, of->bytes, of->length);
    bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    check_refused(of, bytes, of->length, "flipped", bit);
  }
  for (size_t more = 1; more <= 8; more++) {
    memcpy(bytes, of->bytes, of->length);
    memset(bytes + of->length, more % 2 ? 0 : 0xff, more);
    check_refused(of, bytes, of->length + more, "extended", more);
    /* Before the check. */
    memmove(bytes + of->length - 8 + more, of->bytes + of->length - 8, 8);
    memset(bytes + of->length - 8, more % 2 ? 0 : 0xff, more);
    check_refused(of, bytes, of->length + more, "extended inside", more);
  }
  for (unsigned version = 0; version < 256; version++) {
    if (version == of->bytes[3]) continue;
    memcpy(bytes, of->bytes, of->length);
    bytes[3] = (unsigned char)version;
    CHECK_EQUAL(opened(of, bytes, of->length), version == 0 ? PETAL_ERR_CORRUPT : PETAL_ERR_NEWER_VERSION);
  }
}

static uint64_t drawn;

static uint64_t draw(uint64_t below) { return check_key(++drawn) % below; }

/* One to four changes: of a byte, of a bit, a byte more, a byte less, a piece of another form, a large number. */
static void at_random(const form *forms, size_t count, uint64_t times) {
  for (uint64_t i = 0; i < times; i++) {
    const form *of = &forms[draw(count)], *other = &forms[draw(count)];
    unsigned char bytes[2 * ROOM];
    size_t length = of->length;
    memcpy(bytes, of->bytes, length);
    for (uint64_t changes = 1 + draw(4); changes > 0 && length > 0; changes--) {
      /* Half of the changes are near the start, where the header is. */
      size_t at = (size_t)draw(draw(2) && length > 40 ? 40 : length), rest = length - at;
      switch (draw(6)) {
        case 0:
          bytes[at] = (unsigned char)draw(256);
          break;
        case 1:
          bytes[at] ^= (unsigned char)(1 << draw(8));
          break;
        case 2:
          memmove(bytes + at + 1, bytes + at, rest);
          bytes[at] = (unsigned char)draw(256);
          length++;
          break;
        case 3:
          memmove(bytes + at, bytes + at + 1, rest - 1);
          length--;
          break;
        case 4:
          if (rest > other->length) rest = other->length;
          memcpy(bytes + at, other->bytes, (size_t)draw(rest) + 1);
          break;
        default:
          for (size_t j = 0; j < 9 && j < rest; j++) bytes[at + j] |= 0x80;
      }
    }
    if (length == of->length && memcmp(bytes, of->bytes, length) == 0) continue;
    petal_status status = opened(of, bytes, length);
    /* Two forms with a right check cannot be told apart by the bytes of one of them any more. */
    bool is_other = length == other->length && memcmp(bytes, other->bytes, length) == 0;
    check_that(is_refusal(status) || is_other, __FILE__, __LINE__, "mutation %lu: status %d", (unsigned long)i,
               (int)status);
  }
}

/* Forms whose headers claim payloads of every size. Nothing above the limit is ever asked for: the program could not
 * have so much memory. Tools that keep shadows of memory take no limit. */
static void claims(void) {
#ifndef _WIN32
  struct rlimit before, small;
  bool is_limited = getenv("PETAL_TEST_SANITIZER") == NULL && getrlimit(RLIMIT_AS, &before) == 0;
  if (is_limited) {
    small = before;
    small.rlim_cur = 4096;
    FILE *status = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    is_limited = status && fscanf(status, "%lu", &pages) == 1;
    if (status) fclose(status);
    small.rlim_cur = (rlim_t)pages * 4096 + MEMORY;
    is_limited = is_limited && setrlimit(RLIMIT_AS, &small) == 0;
  }
#endif
  for (unsigned kind = 1; kind < 64; kind++) {
    for (unsigned shift = 11; shift < 58; shift++) {
      /* The fields: kind, one hash, a capacity, and 2^shift units of 64 bytes. */
      unsigned char bytes[64] = {0x89, 'P', 'W', 1, 0x17, (unsigned char)kind, 1, 100};
      size_t length = 8;
      for (uint64_t units = UINT64_C(1) << shift; units != 0; units >>= 7)
        bytes[length++] = (unsigned char)((units & 127) | (units > 127 ? 128 : 0));
      length += 20;
      petal_filter *filter = NULL;
      petal_map *map = NULL;
      petal_status of_filter = petal_filter_unpack(bytes, length, MOST, NULL, &filter, NULL);
      petal_status of_map = petal_map_unpack(bytes, length, MOST, NULL, &map, NULL);
      check_that(is_refusal(of_filter) && is_refusal(of_map), __FILE__, __LINE__, "kind %u, 2^%u: %d and %d", kind,
                 shift, (int)of_filter, (int)of_map);
    }
  }
#ifndef _WIN32
  if (is_limited) CHECK(setrlimit(RLIMIT_AS, &before) == 0);
#endif
}

int main(void) {
  static const petal_kind kinds[] = {PETAL_KIND_BLOOM,    PETAL_KIND_SPLIT_BLOCK, PETAL_KIND_SCALABLE,
                                     PETAL_KIND_CUCKOO,   PETAL_KIND_QUOTIENT,    PETAL_KIND_ROTATING,
                                     PETAL_KIND_STABLE};
  enum { KINDS = sizeof kinds / sizeof *kinds, FORMS = 2 * KINDS + 1 };
  static form forms[FORMS];
  for (size_t i = 0; i < KINDS; i++) {
    petal_spec spec = {.struct_size = sizeof spec, .kind = kinds[i], .capacity = 100, .false_positive_rate = 0.01};
    petal_filter *older = NULL, *newer = NULL;
    CHECK_OK(petal_filter_new(&spec, &older, NULL));
    for (uint64_t key = 0; key < 20; key++) CHECK_OK(petal_filter_insert_u64(older, check_key(key), NULL));
    CHECK_OK(petal_filter_copy(older, &newer, NULL));
    CHECK_OK(petal_filter_insert_u64(newer, check_key(20), NULL));
    form *packed = &forms[2 * i], *delta = &forms[2 * i + 1];
    CHECK_OK(petal_filter_pack(newer, packed->bytes, ROOM, &packed->length, NULL));
    CHECK_OK(petal_filter_delta(older, newer, delta->bytes, ROOM, &delta->length, NULL));
    delta->older = older;
    delta->newer = newer;
  }
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_APPROXIMATOR, .capacity = 100};
  form *of_map = &forms[FORMS - 1];
  CHECK_OK(petal_map_new(&spec, &of_map->map, NULL));
  for (uint64_t key = 0; key < 20; key++) CHECK_OK(petal_map_put_u64(of_map->map, check_key(key), key, NULL));
  CHECK_OK(petal_map_pack(of_map->map, of_map->bytes, ROOM, &of_map->length, NULL));

  for (size_t i = 0; i < FORMS; i++) systematic(&forms[i]);
  /* All of them under the sanitizers too; Valgrind sees a share. */
  uint64_t times = check_scaled(100) < 20 ? check_scaled(100000) : 100000;
  at_random(forms, FORMS, times);
  claims();
  for (size_t i = 0; i < FORMS; i++) {
    petal_filter_free(forms[i].older);
    petal_filter_free(forms[i].newer);
    petal_map_free(forms[i].map);
  }
  return check_done();
}
