/*
 * embedded.c: petal_sqlite.c compiled into a program (SQLITE_CORE), which registers it for every connection, and tries
 * what a script of SQL cannot:
 *
 *   embedded plain              it is there, blobs at odd places serve, and what is open is kept as it should be
 *   embedded refuse             each allocation of SQLite's, of petal_sqlite.c and of the library is refused once
 *   embedded damage TIMES SEED  blobs that somebody damaged or forged, many with the right checksums
 *
 * Prints a line a check, and at the end "N passed, M failed". It is linked with --wrap, so that it sees the library's
 * allocations, and how often a filter is verified.
 */

#include <petal.h>
#include <petal_map.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sqlite3_petal_init(sqlite3 *db, char **message, const void *api);

static int passed;
static int failed;

static void report(bool holds, const char *name) {
  printf("%s: %s\n", holds ? "ok" : "FAILED", name);
  if (holds) {
    passed++;
  } else {
    failed++;
  }
}

/* --- Allocations that are refused, and calls that are counted ---------------------------------------------------- */

/* How many allocations go on before one is refused; negative: all of them. */
static long before_refusal = -1;
static bool refused;
static long verified;

static bool refuses(void) {
  if (before_refusal < 0) return false;
  if (before_refusal-- > 0) return false;
  refused = true;
  return true;
}

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
int __real_posix_memalign(void **, size_t, size_t);
petal_status __real_petal_builder_finish(petal_builder *, petal_filter **, petal_error *);
petal_status __wrap_petal_builder_finish(petal_builder *, petal_filter **, petal_error *);
petal_status __real_petal_filter_verify(const petal_filter *, petal_error *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
int __wrap_posix_memalign(void **, size_t, size_t);
petal_status __wrap_petal_filter_verify(const petal_filter *, petal_error *);

void *__wrap_malloc(size_t size) { return refuses() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuses() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return refuses() ? NULL : __real_realloc(old, size); }
int __wrap_posix_memalign(void **place, size_t alignment, size_t size) {
  return refuses() ? 12 : __real_posix_memalign(place, alignment, size);
}

petal_status __wrap_petal_filter_verify(const petal_filter *filter, petal_error *error) {
  verified++;
  return __real_petal_filter_verify(filter, error);
}

/* The connection that is interrupted when the next build begins. */
static sqlite3 *interrupted;

petal_status __wrap_petal_builder_finish(petal_builder *builder, petal_filter **filter, petal_error *error) {
  if (interrupted) sqlite3_interrupt(interrupted);
  interrupted = NULL;
  return __real_petal_builder_finish(builder, filter, error);
}

static sqlite3_mem_methods given;

static void *refusing_malloc(int size) { return refuses() ? NULL : given.xMalloc(size); }
static void *refusing_realloc(void *old, int size) { return refuses() ? NULL : given.xRealloc(old, size); }

static bool take_allocations(void) {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &given) != SQLITE_OK) return false;
  sqlite3_mem_methods own = given;
  own.xMalloc = refusing_malloc;
  own.xRealloc = refusing_realloc;
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &own) == SQLITE_OK;
}

/* --- SQL --------------------------------------------------------------------------------------------------------- */

/* What SQLite keeps without any connection, such as the list of what every connection gets. */
static sqlite3_int64 kept;

static sqlite3 *open_or_end(void) {
  sqlite3 *db = NULL;
  if (kept == 0) {
    if (sqlite3_open(":memory:", &db) == SQLITE_OK) sqlite3_close(db);
    kept = sqlite3_memory_used();
  }
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) {
    printf("FAILED: a connection: %s\n0 passed, 1 failed\n", db ? sqlite3_errmsg(db) : "no memory");
    exit(1);
  }
  return db;
}

/* Runs SQL; the integer of the last row goes to `answer`. */
static int run(sqlite3 *db, const char *sql, sqlite3_int64 *answer) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if (code != SQLITE_OK) return code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (answer) *answer = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

static bool is(sqlite3 *db, const char *sql, sqlite3_int64 expected) {
  sqlite3_int64 answer = -1;
  int code = run(db, sql, &answer);
  if (code == SQLITE_OK && answer == expected) return true;
  printf("%s: %s, %lld instead of %lld\n", sql, sqlite3_errmsg(db), (long long)answer, (long long)expected);
  return false;
}

static void must(sqlite3 *db, const char *sql) {
  if (run(db, sql, NULL) == SQLITE_OK) return;
  printf("FAILED: %s: %s\n0 passed, 1 failed\n", sql, sqlite3_errmsg(db));
  exit(1);
}

/* Numbers from 1 to 3000, and filters of the odd ones in each of `f`'s rows. */
static void make_tables(sqlite3 *db) {
  must(db, "CREATE TABLE t(k INTEGER PRIMARY KEY)");
  must(db, "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n");
  must(db, "CREATE TABLE f(name TEXT PRIMARY KEY, f BLOB)");
  must(db, "INSERT INTO f SELECT 'odd', petal_agg(k) FROM t WHERE k % 2 = 1");
  must(db, "INSERT INTO f SELECT 'even', petal_agg(k) FROM t WHERE k % 2 = 0");
  must(db, "INSERT INTO f SELECT 'map', petal_build_map(k, k * 7) FROM t");
}

/* --- Plain ------------------------------------------------------------------------------------------------------- */

/* How often a filter is verified while the statement runs, or -1 if the answer is wrong. */
static long verifications(sqlite3 *db, const char *sql, sqlite3_int64 expected) {
  verified = 0;
  return is(db, sql, expected) ? verified : -1;
}

static bool asks_at_odd_places(sqlite3 *db) {
  sqlite3_stmt *filter = NULL, *asking = NULL;
  sqlite3_prepare_v2(db, "SELECT f FROM f WHERE name = 'odd'", -1, &filter, NULL);
  sqlite3_prepare_v2(db, "SELECT sum(petal_contains(?1, k)), petal_contains(?1, 1) FROM t WHERE k % 2 = 1", -1, &asking,
                     NULL);
  bool holds = sqlite3_step(filter) == SQLITE_ROW;
  int length = holds ? sqlite3_column_bytes(filter, 0) : 0;
  char *memory = malloc((size_t)length + 16);
  for (int place = 0; holds && place < 16; place++) {
    memcpy(memory + place, sqlite3_column_blob(filter, 0), (size_t)length);
    sqlite3_bind_blob(asking, 1, memory + place, length, SQLITE_STATIC);
    verified = 0;
    holds = sqlite3_step(asking) == SQLITE_ROW && sqlite3_column_int(asking, 0) == 1500 && verified <= 2;
    sqlite3_reset(asking);
  }
  free(memory);
  sqlite3_finalize(filter);
  sqlite3_finalize(asking);
  return holds;
}

/*
 * One memory, in which a program puts one filter after the other, with the same header: the answers are those of the
 * one that is there. What is not aligned is asked in a copy. One whose checksum is damaged then is refused.
 */
static bool notices_other_bytes(sqlite3 *db, int place) {
  sqlite3_stmt *filters = NULL, *asking = NULL;
  sqlite3_prepare_v2(db, "SELECT f, name = 'odd' FROM f WHERE name <> 'map'", -1, &filters, NULL);
  sqlite3_prepare_v2(db, "SELECT sum(petal_contains(?1, k)) FROM t WHERE k % 2 = 1", -1, &asking, NULL);
  _Alignas(8) static char aligned[1 << 16];
  char *memory = aligned + place;
  int length = 0;
  bool holds = true;
  for (int turn = 0; turn < 2; turn++) {
    for (int row = 0; holds && sqlite3_step(filters) == SQLITE_ROW; row++) {
      length = sqlite3_column_bytes(filters, 0);
      memcpy(memory, sqlite3_column_blob(filters, 0), (size_t)length);
      sqlite3_bind_blob(asking, 1, memory, length, SQLITE_STATIC);
      sqlite3_step(asking);
      holds = (sqlite3_column_int(asking, 0) == 1500) == (sqlite3_column_int(filters, 1) != 0);
      sqlite3_reset(asking);
    }
    sqlite3_reset(filters);
  }
  memory[length - 1] ^= 1;
  holds = holds && sqlite3_step(asking) == SQLITE_ERROR;
  sqlite3_finalize(filters);
  sqlite3_finalize(asking);
  return holds;
}

static bool keeps_many_constants(sqlite3 *db) {
  sqlite3_stmt *asking = NULL, *filters = NULL;
  sqlite3_prepare_v2(db, "SELECT min(petal_contains(?1,k) + petal_contains(?2,k) + petal_contains(?3,k) + "
                         "petal_contains(?4,k) + petal_contains(?5,k) + petal_contains(?6,k) + petal_contains(?7,k) + "
                         "petal_contains(?8,k)) FROM t WHERE k % 2 = 1", -1, &asking, NULL);
  for (int i = 1; i <= 8; i++) {
    sqlite3_prepare_v2(db, "SELECT petal_agg(k, 2000 + 200 * ?1) FROM t WHERE k % 2 = 1", -1, &filters, NULL);
    sqlite3_bind_int(filters, 1, i);
    sqlite3_step(filters);
    sqlite3_bind_value(asking, i, sqlite3_column_value(filters, 0));
    sqlite3_finalize(filters);
  }
  verified = 0;
  bool holds = sqlite3_step(asking) == SQLITE_ROW && sqlite3_column_int(asking, 0) == 8 && verified == 8;
  sqlite3_finalize(asking);
  return holds;
}

static void plain(void) {
  sqlite3 *db = open_or_end();
  report(is(db, "SELECT count(*) FROM pragma_function_list WHERE name LIKE 'petal%'", 19), "every connection has the functions");
  make_tables(db);
  report(verifications(db, "SELECT sum(petal_contains((SELECT f FROM f WHERE name = 'odd'), k)) FROM t WHERE k % 2 = 1",
                       1500) == 1, "the filter of a scalar subquery is opened once for 1500 rows");
  report(asks_at_odd_places(db), "a blob serves at any address");
  report(notices_other_bytes(db, 0), "another filter in the same memory is another filter");
  report(notices_other_bytes(db, 3), "another filter in the same odd place is another filter");
  report(keeps_many_constants(db), "eight constant filters are opened once each for 1500 rows");
  report(verifications(db, "SELECT sum(petal_contains(f, k)) FROM t JOIN f ON f.name = CASE k % 2 WHEN 1 THEN 'odd' ELSE "
                           "'even' END", 3000) >= 1, "filters that change from row to row");
  report(is(db, "SELECT sum(petal_get((SELECT f FROM f WHERE name = 'map'), k) = k * 7) FROM t", 3000), "a map");
  int limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 5000);
  report(run(db, "SELECT petal_agg(k, 100000) FROM t", NULL) == SQLITE_TOOBIG &&
         run(db, "SELECT petal_agg(k, NULL, 1e-9) FROM t", NULL) == SQLITE_TOOBIG &&
         run(db, "SELECT petal_build_map(k, k) FROM t", NULL) == SQLITE_TOOBIG &&
         is(db, "SELECT length(petal_agg(k, 100)) > 0 FROM t", 1), "a result above the limit of lengths is too big");
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
  if (SQLITE_VERSION_NUMBER < 3041000 || sqlite3_libversion_number() < 3041000) {
    printf("skipped: an interrupt ends a build: SQLite %s does not say that there was one\n", sqlite3_libversion());
  } else {
    interrupted = db;
    report(run(db, "SELECT petal_agg(k, NULL, NULL, 'fuse') FROM t", NULL) == SQLITE_INTERRUPT &&
           strcmp(sqlite3_errmsg(db), "petal_agg: interrupted") == 0, "an interrupt ends a build");
  }
  sqlite3_stmt *left = NULL;
  sqlite3_prepare_v2(db, "SELECT petal_agg(k), petal_build_map(k, 1) FROM t GROUP BY k % 3", -1, &left, NULL);
  report(sqlite3_step(left) == SQLITE_ROW, "a statement that is left in the middle");
  sqlite3_finalize(left);
  report(sqlite3_close(db) == SQLITE_OK, "the connection closes");
  report(sqlite3_memory_used() == kept, "nothing of SQLite's memory is left");
}

/* --- Refused allocations ----------------------------------------------------------------------------------------- */

/* Runs the SQL again and again, each time without one more allocation, until none is missing. */
static void refuse_in(sqlite3 *db, const char *sql, sqlite3_int64 expected) {
  long at = 0;
  bool holds = true;
  do {
    sqlite3_int64 answer = -1;
    refused = false;
    before_refusal = at++;
    int code = run(db, sql, &answer);
    before_refusal = -1;
    /* SQLite does without some memory. */
    holds = code == SQLITE_OK ? answer == expected : refused && code == SQLITE_NOMEM;
    if (!holds) printf("without allocation %ld: %d (%s), %lld\n", at - 1, code, sqlite3_errmsg(db), (long long)answer);
  } while (refused && holds && at < 20000);
  report(holds && at > 1 && is(db, sql, expected), sql);
}

static void refuse_opening(void) {
  long at = 0;
  bool holds = true;
  do {
    sqlite3 *db = NULL;
    refused = false;
    before_refusal = at++;
    int code = sqlite3_open(":memory:", &db);
    before_refusal = -1;
    holds = code == SQLITE_OK || (refused && (code == SQLITE_NOMEM || code == SQLITE_ERROR));
    if (!holds) printf("without allocation %ld: %d\n", at - 1, code);
    holds = sqlite3_close(db) == SQLITE_OK && holds;
  } while (refused && holds && at < 20000);
  report(holds && at > 1, "a connection with the functions");
}

static void refuse(void) {
  refuse_opening();
  sqlite3 *db = open_or_end();
  make_tables(db);
  refuse_in(db, "SELECT length(petal_agg(k)) > 256 FROM t", 1);
  refuse_in(db, "SELECT length(petal_agg('key ' || k, 500, 0.001, 'counting')) > 256 FROM t WHERE k <= 200", 1);
  refuse_in(db, "SELECT length(petal_agg(k, NULL, NULL, 'fuse')) > 256 FROM t", 1);
  refuse_in(db, "SELECT length(petal_agg(k, 10, NULL, 'taffy')) > 256 FROM t", 1);
  refuse_in(db, "SELECT length(petal_build_map('key ' || k, k)) > 256 FROM t WHERE k <= 200", 1);
  refuse_in(db, "SELECT sum(petal_contains((SELECT f FROM f WHERE name = 'odd'), k)) FROM t WHERE k % 2 = 1 AND k < 60",
            30);
  refuse_in(db, "SELECT sum(petal_get((SELECT f FROM f WHERE name = 'map'), k) = k * 7) FROM t WHERE k <= 30", 30);
  refuse_in(db, "SELECT petal_contains(petal_merge(a.f, a.f), 1) FROM f AS a WHERE name = 'odd'", 1);
  refuse_in(db, "SELECT petal_contains(petal_merge_agg(f), 1) FROM (SELECT f FROM f, (SELECT 1 UNION SELECT 2) "
                "WHERE name = 'odd')", 1);
  refuse_in(db, "SELECT json_extract(petal_info(f), '$.insertions') FROM f WHERE name = 'odd'", 1500);
  refuse_in(db, "SELECT petal_estimate(f) > 1000 FROM f WHERE name = 'odd'", 1);
  refuse_in(db, "SELECT json_array_length(petal_plan(1000)) > 3", 1);
  refuse_in(db, "SELECT hex(petal_twos_complement(-1)) = 'FFFFFFFFFFFFFFFF'", 1);
  report(sqlite3_close(db) == SQLITE_OK && sqlite3_memory_used() == kept, "nothing of SQLite's memory is left");
}

/* --- Damaged blobs ----------------------------------------------------------------------------------------------- */

#define HEADER 256
#define REGION 65536
#define MOST_BLOBS 64

typedef struct blob {
  unsigned char *bytes;
  size_t length;
} blob;

static uint64_t state;

/* SplitMix64. */
static uint64_t random_below(uint64_t bound) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % bound;
}

/* XXH3, which is the hash of a spec of zeros. */
static uint64_t checksum(const void *bytes, size_t length) {
  petal_spec spec = PETAL_SPEC_INIT;
  uint64_t hash = 0;
  petal_spec_hash(&spec, bytes, length, &hash, NULL);
  return hash;
}

/* Gives damaged bytes the checksums of an image (docs/format.md), so that readers look at what is behind these. */
static void forge(blob *b) {
  uint64_t payload = 0;
  if (b->length < HEADER + 128) return;
  memcpy(&payload, b->bytes + 136, 8);
  if (payload > REGION || payload + HEADER + 64 != b->length) payload = b->length - HEADER - 64;
  if (payload > REGION) return;
  uint64_t sum = checksum(b->bytes, 208);
  memcpy(b->bytes + 208, &sum, 8);
  unsigned char sealed[40];
  memcpy(sealed, b->bytes + 208, 40);
  memset(sealed + 8, 0, 8);
  sum = checksum(sealed, 40);
  memcpy(b->bytes + 248, &sum, 8);
  unsigned char *table = b->bytes + HEADER + payload;
  sum = checksum(b->bytes + HEADER, payload);
  memcpy(table, sum ? &sum : &(uint64_t){1}, 8);
  unsigned char all[64];
  memcpy(all, b->bytes + 208, 8);
  memcpy(all + 8, table, 56);
  sum = checksum(all, 64);
  memcpy(table + 56, &sum, 8);
}

/* A blob of each kind of filter and of map that has one for 200 numbers. */
static size_t make_blobs(sqlite3 *db, blob *blobs) {
  petal_kind_info kind = PETAL_KIND_INFO_INIT;
  size_t count = 0;
  for (size_t i = 0; petal_kind_get_at(i, &kind, NULL) == PETAL_OK && count < MOST_BLOBS; i++) {
    if (kind.handle > PETAL_HANDLE_MAP) continue;
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(db, kind.handle == PETAL_HANDLE_MAP ? "SELECT petal_build_map(k, k * 7, 0.01, ?1) FROM t WHERE k <= 200"
                           : "SELECT petal_agg(k, NULL, 0.01, ?1) FROM t WHERE k <= 200", -1, &statement, NULL);
    sqlite3_bind_text(statement, 1, kind.name, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW) {
      blob *b = &blobs[count++];
      b->length = (size_t)sqlite3_column_bytes(statement, 0);
      b->bytes = malloc(b->length);
      memcpy(b->bytes, sqlite3_column_blob(statement, 0), b->length);
    }
    sqlite3_finalize(statement);
  }
  return count;
}

/* Values that have broken programs before. */
static const uint64_t sharp[] = {0, 1, 2, 63, 64, 255, 256, UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 63,
                                 UINT64_MAX, UINT64_MAX - 63};

static void mutate(blob *b, const blob *other) {
  uint64_t changes = 1 + random_below(4);
  for (uint64_t i = 0; i < changes; i++) {
    /* Half of the changes are in the header. */
    size_t at = (size_t)random_below(random_below(2) && b->length > HEADER ? HEADER : b->length);
    switch (random_below(6)) {
    case 0:
    case 1:
      b->bytes[at] ^= (unsigned char)(1u << random_below(8));
      break;
    case 2:
      b->bytes[at] = (unsigned char)random_below(256);
      break;
    case 3:
      if (at + 8 <= b->length) memcpy(b->bytes + at / 8 * 8, &sharp[random_below(sizeof sharp / sizeof *sharp)], 8);
      break;
    case 4:
      if (at < other->length) {
        size_t end = b->length < other->length ? b->length : other->length;
        memcpy(b->bytes + at, other->bytes + at, 1 + (size_t)random_below(end - at));
      }
      break;
    default:
      if (i == 0 && random_below(4) == 0) b->length = 1 + (size_t)random_below(b->length);
    }
    if (at >= b->length) break;
  }
  if (random_below(3) != 0) forge(b);
}

static const char *const asking[] = {
  "SELECT petal_contains(?1, k) FROM t WHERE k < 20",
  "SELECT petal_contains(?1, 'key ' || k) FROM t WHERE k < 20",
  "SELECT petal_get(?1, k) FROM t WHERE k < 20",
  "SELECT petal_count(?1, k) FROM t WHERE k < 20",
  "SELECT petal_info(?1)",
  "SELECT petal_estimate(?1)",
  "SELECT petal_merge(?1, ?2)",
  "SELECT petal_merge(?2, ?1)",
  "SELECT petal_merge_agg(v) FROM (SELECT ?1 AS v UNION ALL SELECT ?2)",
};

#define ASKING (sizeof asking / sizeof *asking)

/* Runs a statement over blobs that lie in the program's memory. */
static int step_with(sqlite3_stmt *statement, const blob *first, const blob *second) {
  sqlite3_bind_blob(statement, 1, first->bytes, (int)first->length, SQLITE_STATIC);
  if (sqlite3_bind_parameter_count(statement) > 1) {
    sqlite3_bind_blob(statement, 2, second->bytes, (int)second->length, SQLITE_STATIC);
  }
  int code = sqlite3_step(statement);
  while (code == SQLITE_ROW) code = sqlite3_step(statement);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return code;
}

enum { ANSWERS, ERRORS, OTHERS, OUTCOMES };

static void count_code(int code, unsigned long *outcomes) {
  bool is_error = code == SQLITE_ERROR || code == SQLITE_TOOBIG || code == SQLITE_NOMEM;
  outcomes[code == SQLITE_DONE ? ANSWERS : is_error ? ERRORS : OTHERS]++;
}

static void damage(unsigned long times, uint64_t seed) {
  sqlite3 *db = open_or_end();
  make_tables(db);
  blob blobs[MOST_BLOBS];
  size_t count = make_blobs(db, blobs);
  sqlite3_stmt *statements[ASKING];
  for (size_t i = 0; i < ASKING; i++) sqlite3_prepare_v2(db, asking[i], -1, &statements[i], NULL);
  unsigned long outcomes[OUTCOMES] = {0};
  state = seed;
  for (unsigned long i = 0; i < times; i++) {
    const blob *good = &blobs[random_below(count)];
    /* Memory that ends where the blob does, so that a read behind it is seen by the sanitizer. */
    size_t place = random_below(4) ? 0 : (size_t)random_below(8);
    unsigned char *memory = malloc(good->length + place);
    blob b = {memory + place, good->length};
    memcpy(b.bytes, good->bytes, b.length);
    mutate(&b, &blobs[random_below(count)]);
    sqlite3_stmt *statement = statements[random_below(ASKING)];
    if (random_below(4) == 0) {
      /* The good bytes were asked just before, in the same memory, and header and checksum stay as they are. */
      b.length = good->length;
      memcpy(b.bytes, good->bytes, b.length);
      step_with(statement, &b, good);
      for (int change = 0; change < 4; change++) {
        b.bytes[HEADER + random_below(b.length - HEADER - 8)] = (unsigned char)random_below(256);
      }
      count_code(step_with(statement, &b, good), outcomes);
      free(memory);
      continue;
    }
    unsigned char *exact = malloc(b.length + place);
    memcpy(exact + place, b.bytes, b.length);
    b.bytes = exact + place;
    count_code(step_with(statement, &b, good), outcomes);
    free(exact);
    free(memory);
  }
  printf("%lu damaged blobs of %zu kinds: %lu answers, %lu errors\n", times, count, outcomes[ANSWERS],
         outcomes[ERRORS]);
  report(count >= 20 && outcomes[OTHERS] == 0 && outcomes[ANSWERS] > 0 && outcomes[ERRORS] > 0,
         "damaged blobs give answers or errors");
  /* Those that are whole still serve. */
  report(is(db, "SELECT sum(petal_contains((SELECT f FROM f WHERE name = 'odd'), k)) FROM t WHERE k % 2 = 1", 1500),
         "a good blob serves after all of them");
  for (size_t i = 0; i < ASKING; i++) sqlite3_finalize(statements[i]);
  for (size_t i = 0; i < count; i++) free(blobs[i].bytes);
  report(sqlite3_close(db) == SQLITE_OK && sqlite3_memory_used() == kept, "nothing of SQLite's memory is left");
}

int main(int count, char **arguments) {
  const char *part = count > 1 ? arguments[1] : "plain";
  if (!take_allocations()) return 1;
  sqlite3_auto_extension((void (*)(void))sqlite3_petal_init);
  if (strcmp(part, "refuse") == 0) {
    refuse();
  } else if (strcmp(part, "damage") == 0) {
    damage(count > 2 ? strtoul(arguments[2], NULL, 10) : 1000, count > 3 ? strtoull(arguments[3], NULL, 10) : 1);
  } else {
    plain();
  }
  sqlite3_reset_auto_extension();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
