/* SESSIONS, held to sets that are known. */
#include "check.h"

/* Two sets are numbers in order: each side has those of its own, and both have those between. */
typedef struct {
  uint64_t own, common, other;
} sets;

typedef struct {
  petal_session *initiator, *responder;
} pair;

/* A sketch with check_key(i) for i from `from` on, less than `to`. */
static petal_sketch *sketch_of(petal_kind kind, uint64_t symbols, bool keeps, uint64_t from, uint64_t to) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind};
  if (kind == PETAL_KIND_RIBLT) spec.bits = 192 * symbols;
  if (kind != PETAL_KIND_RIBLT) spec.capacity = symbols;
  petal_sketch *sketch = NULL;
  CHECK_OK(petal_sketch_new(&spec, &sketch, NULL));
  if (keeps) CHECK_OK(petal_sketch_keep_keys(sketch, NULL));
  uint64_t *numbers = calloc(to - from + 1, sizeof *numbers);
  for (uint64_t i = from; i < to; i++) numbers[i - from] = check_key(i);
  CHECK_OK(petal_sketch_insert_batch(sketch, U64_KEYS(numbers, to - from), NULL, NULL));
  free(numbers);
  return sketch;
}

/* A session over a sketch, which ends right away: the session does not need it any more. */
static petal_session *session_of(petal_sketch *sketch, petal_session_role role, uint32_t flags) {
  petal_session *session = NULL;
  CHECK_OK(petal_session_new(sketch, role, flags, &session, NULL));
  petal_sketch_free(sketch);
  return session;
}

/* Both sides over sketches of riblt with `symbols` symbols. */
static pair pair_of(sets of, uint64_t symbols, bool keeps, uint32_t flags) {
  petal_sketch *ours = sketch_of(PETAL_KIND_RIBLT, symbols, keeps, 0, of.own + of.common);
  petal_sketch *theirs =
      sketch_of(PETAL_KIND_RIBLT, symbols, keeps, of.own, of.own + of.common + of.other);
  return (pair){session_of(ours, PETAL_SESSION_ROLE_INITIATOR, flags),
                session_of(theirs, PETAL_SESSION_ROLE_RESPONDER, flags)};
}

static void free_both(pair both) {
  petal_session_free(both.initiator);
  petal_session_free(both.responder);
}

/* Carries one message, and returns what the receiver says of it. */
static petal_status carry(petal_session *from, petal_session *to) {
  const void *message = NULL;
  size_t length = 0;
  CHECK_OK(petal_session_send(from, &message, &length, NULL));
  return petal_session_receive(to, message, length, NULL);
}

/* Carries messages until nobody has one, or one is refused. */
static petal_status carry_all(pair both) {
  petal_status status = PETAL_OK;
  while (status == PETAL_OK) {
    if (petal_session_get_turn(both.initiator) == PETAL_SESSION_TURN_SEND) {
      status = carry(both.initiator, both.responder);
    } else if (petal_session_get_turn(both.responder) == PETAL_SESSION_TURN_SEND) {
      status = carry(both.responder, both.initiator);
    } else {
      return PETAL_OK;
    }
  }
  return status;
}

static petal_session_statistics report_of(const petal_session *session) {
  petal_session_statistics report = PETAL_SESSION_STATISTICS_INIT;
  CHECK_OK(petal_session_get_statistics(session, &report, NULL));
  return report;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Whether these are check_key(i) for i from `from` on, in ascending order, each with this sign. */
static bool are_keys(const petal_sketch_listed *listed, uint64_t from, uint64_t number, int64_t sign) {
  uint64_t *expected = calloc(number + 1, sizeof *expected), right = 0;
  for (uint64_t i = 0; i < number; i++) expected[i] = check_key(from + i);
  qsort(expected, number, sizeof *expected, ascending);
  while (right < number && listed[right].number == expected[right] && listed[right].sign == sign) right++;
  free(expected);
  return right == number;
}

/* Whether a side lists what the other has alone, and then what it has alone. */
static void check_differences(const petal_session *session, uint64_t theirs, uint64_t their_count, uint64_t ours,
                              uint64_t our_count) {
  size_t count = 12345;
  CHECK_EQUAL(petal_session_get_turn(session), PETAL_SESSION_TURN_DONE);
  CHECK_OK(petal_session_get_differences(session, NULL, 0, &count, NULL));
  CHECK_EQUAL(count, their_count + our_count);
  petal_sketch_listed *listed = calloc(count + 1, sizeof *listed);
  CHECK_OK(petal_session_get_differences(session, listed, count + 1, &count, NULL));
  CHECK(count == their_count + our_count && are_keys(listed, theirs, their_count, -1) &&
        are_keys(listed + their_count, ours, our_count, 1));
  CHECK(listed[count].number == 0 && listed[count].sign == 0);
  free(listed);
}

/* Both sides end with what only one of them has. Returns the initiator's report. */
static petal_session_statistics check_session(pair both, sets of) {
  CHECK_OK(carry_all(both));
  check_differences(both.initiator, of.own + of.common, of.other, 0, of.own);
  check_differences(both.responder, 0, of.own, of.own + of.common, of.other);
  petal_session_statistics ours = report_of(both.initiator), theirs = report_of(both.responder);
  CHECK_EQUAL(ours.method, theirs.method);
  CHECK_EQUAL(ours.used_kept_symbols, theirs.used_kept_symbols);
  CHECK_EQUAL(ours.their_count, of.common + of.other);
  CHECK_EQUAL(theirs.their_count, of.common + of.own);
  CHECK(ours.sent_bytes == theirs.received_bytes && ours.received_bytes == theirs.sent_bytes);
  CHECK(ours.messages == theirs.messages && ours.symbols == theirs.symbols && ours.syndromes == theirs.syndromes &&
        ours.filter_bytes == theirs.filter_bytes);
  CHECK(theirs.estimated_differences <= 0);
  free_both(both);
  return ours;
}

/* The estimate lies within 6 of its deviations, or of an eighth where that is more. */
static void check_estimate(petal_session_statistics report, sets of) {
  double deviation = report.estimate_deviation, eighth = (double)(of.own + of.other) / 8;
  CHECK_CLOSE(report.estimated_differences, (double)(of.own + of.other), 6 * (deviation > eighth ? deviation : eighth));
}

/* Each way is taken where it is the cheapest, and finds the same. */
static void methods(void) {
  const sets equal = {0, 20000, 0}, few = {40, 20000, 30}, more = {500, 40000, 500}, unlike = {2000, 1000, 2000};
  petal_session_statistics report = check_session(pair_of(equal, 300, true, 0), equal);
  CHECK(report.method == PETAL_SESSION_METHOD_EQUAL && report.symbols == 0 &&
        report.sent_bytes + report.received_bytes < 500);

  /* A session's key is random, and so is its estimate: now and then a session takes another way than the cheapest. */
  int tried = 0;
  do {
    report = check_session(pair_of(few, 300, true, 0), few);
  } while (report.method != PETAL_SESSION_METHOD_PINSKETCH && ++tried < 3);
  CHECK(report.method == PETAL_SESSION_METHOD_PINSKETCH && !report.used_kept_symbols && report.symbols == 0);
  CHECK(report.syndromes >= 70);
  check_estimate(report, few);

  report = check_session(pair_of(more, 300, true, 0), more);
  CHECK(report.method == PETAL_SESSION_METHOD_RIBLT && !report.used_kept_symbols && report.syndromes == 0);
  CHECK(report.symbols > 1000 && report.sent_bytes < 80000);
  check_estimate(report, more);

  report = check_session(pair_of(unlike, 300, true, 0), unlike);
  CHECK(report.method == PETAL_SESSION_METHOD_FILTER_AND_RIBLT && report.filter_bytes > 1000);
  CHECK(report.sent_bytes + report.received_bytes < 30 * 4000);

  /* The symbols that sketches keep serve if a side asks for that, and if a side does not keep its keys. */
  report = check_session(pair_of(few, 300, true, PETAL_SESSION_KEPT_SYMBOLS), few);
  CHECK(report.method == PETAL_SESSION_METHOD_RIBLT && report.used_kept_symbols == 1 && report.symbols >= 70);
  report = check_session(pair_of(few, 300, false, 0), few);
  CHECK(report.method == PETAL_SESSION_METHOD_RIBLT && report.used_kept_symbols == 1);
  check_estimate(report, few);
  pair mixed = {session_of(sketch_of(PETAL_KIND_RIBLT, 300, true, 0, 20040), PETAL_SESSION_ROLE_INITIATOR, 0),
                session_of(sketch_of(PETAL_KIND_RIBLT, 400, true, 40, 20070), PETAL_SESSION_ROLE_RESPONDER,
                           PETAL_SESSION_KEPT_SYMBOLS)};
  CHECK_EQUAL(check_session(mixed, few).used_kept_symbols, 1);
}

/* Any sketch that keeps its keys serves, and the sides need not have the same kind and size. */
static void kinds(void) {
  const sets few = {4, 1000, 3};
  pair both = {session_of(sketch_of(PETAL_KIND_IBLT, 5, true, 0, 1004), PETAL_SESSION_ROLE_INITIATOR, 0),
               session_of(sketch_of(PETAL_KIND_RIBLT, 7, true, 4, 1007), PETAL_SESSION_ROLE_RESPONDER, 0)};
  CHECK_EQUAL(check_session(both, few).method, PETAL_SESSION_METHOD_PINSKETCH);

  petal_session *none = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_sketch *bare = sketch_of(PETAL_KIND_IBLT, 5, false, 0, 3), *kept = sketch_of(PETAL_KIND_IBLT, 5, true, 0, 3);
  CHECK_STATUS(petal_session_new(bare, PETAL_SESSION_ROLE_INITIATOR, 0, &none, &error), PETAL_ERR_UNSUPPORTED);
  CHECK_TEXT(error.message, "iblt keeps no coded symbols");
  CHECK_STATUS(petal_session_new(kept, PETAL_SESSION_ROLE_RESPONDER, PETAL_SESSION_KEPT_SYMBOLS, &none, &error),
               PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_session_new(kept, 2, 0, &none, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_TEXT(error.message, "role = 2");
  CHECK_STATUS(petal_session_new(kept, PETAL_SESSION_ROLE_RESPONDER, 6, &none, &error), PETAL_ERR_UNKNOWN_VALUE);
  CHECK_TEXT(error.message, "flags = 0x6");
  CHECK(none == NULL);
  petal_sketch_free(bare);
  petal_sketch_free(kept);
}

/* Calls that are not due are refused, and change nothing. */
static void turns(void) {
  const sets few = {3, 500, 2};
  pair both = pair_of(few, 50, true, 0);
  const void *message = NULL;
  size_t length = 0, count = 4711;
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_session_get_turn(both.initiator), PETAL_SESSION_TURN_SEND);
  CHECK_EQUAL(petal_session_get_turn(both.responder), PETAL_SESSION_TURN_RECEIVE);
  CHECK_EQUAL(report_of(both.initiator).method, PETAL_SESSION_METHOD_NONE);
  CHECK_STATUS(petal_session_send(both.responder, &message, &length, &error), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  CHECK_TEXT(error.message, "not this side's turn to send");
  CHECK_STATUS(petal_session_receive(both.initiator, "x", 1, &error), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  CHECK_TEXT(error.message, "not this side's turn to receive");
  CHECK_STATUS(petal_session_get_differences(both.responder, NULL, 0, &count, &error), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  CHECK_TEXT(error.message, "not done yet");
  CHECK(message == NULL && length == 0 && count == 4711);
  check_session(both, few);
}

/* Whether a side refuses these bytes with a status, and is as it was. */
static void check_refused(petal_session *session, const unsigned char *message, size_t length, petal_status status) {
  petal_session_statistics before = report_of(session);
  CHECK_STATUS(petal_session_receive(session, message, length, NULL), status);
  petal_session_statistics after = report_of(session);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
  CHECK_EQUAL(petal_session_get_turn(session), PETAL_SESSION_TURN_RECEIVE);
}

/* Messages that were damaged, cut, extended, repeated or mixed up are refused, and the right ones still serve. */
static void wrong_messages(uint32_t flags) {
  const sets few = {30, 2000, 40};
  pair both = pair_of(few, 300, true, flags), non_members = pair_of(few, 300, true, flags);
  unsigned char *before = NULL;
  size_t before_length = 0;
  petal_session *from = both.initiator, *to = both.responder;
  petal_session *non_member_from = non_members.initiator, *non_member_to = non_members.responder;
  while (petal_session_get_turn(from) == PETAL_SESSION_TURN_SEND) {
    const void *sent = NULL, *strange = NULL;
    size_t length = 0, strange_length = 0;
    CHECK_OK(petal_session_send(from, &sent, &length, NULL));
    unsigned char *message = calloc(1, length + 1);
    memcpy(message, sent, length);
    for (size_t cut = 0; cut < length; cut += 1 + length / 40) {
      check_refused(to, message, cut, cut < 16 ? PETAL_ERR_TRUNCATED : PETAL_ERR_CORRUPT);
      message[cut] ^= 0x10;
      check_refused(to, message, length,
                    cut < 4 ? PETAL_ERR_FOREIGN : cut == 4 ? PETAL_ERR_NEWER_VERSION : PETAL_ERR_CORRUPT);
      message[cut] ^= 0x10;
    }
    check_refused(to, message, length + 1, PETAL_ERR_CORRUPT);
    message[0] = 'p';
    check_refused(to, message, length, PETAL_ERR_FOREIGN);
    message[0] = 'P';
    message[4] = 2;
    check_refused(to, message, length, PETAL_ERR_NEWER_VERSION);
    message[4] = 1;
    if (before != NULL) check_refused(to, before, before_length, PETAL_ERR_CORRUPT);
    /* From the second message on, that of another session does not belong here. */
    if (petal_session_get_turn(non_member_from) == PETAL_SESSION_TURN_SEND) {
      CHECK_OK(petal_session_send(non_member_from, &strange, &strange_length, NULL));
      if (before != NULL) check_refused(to, strange, strange_length, PETAL_ERR_CORRUPT);
      CHECK_OK(petal_session_receive(non_member_to, strange, strange_length, NULL));
    }
    CHECK_OK(petal_session_receive(to, message, length, NULL));
    free(before);
    before = message, before_length = length;
    petal_session *turned = from;
    from = to, to = turned;
    turned = non_member_from, non_member_from = non_member_to, non_member_to = turned;
  }
  free(before);
  free_both(non_members);
  check_session(both, few);
}

/* A side that cannot go on tells the other side, and both say why. */
static void check_failure(pair both, petal_status status) {
  CHECK_STATUS(carry_all(both), status);
  bool is_initiators = petal_session_get_turn(both.initiator) == PETAL_SESSION_TURN_SEND;
  petal_session *failed = is_initiators ? both.initiator : both.responder;
  petal_session *told = is_initiators ? both.responder : both.initiator;
  size_t length = 0, count = 4711;
  const void *message = NULL;
  CHECK_EQUAL(petal_session_get_turn(failed), PETAL_SESSION_TURN_SEND);
  CHECK_STATUS(petal_session_get_differences(failed, NULL, 0, &count, NULL), status);
  CHECK_STATUS(petal_session_receive(failed, "x", 1, NULL), status);
  CHECK_STATUS(carry(failed, told), status);
  petal_session *sides[] = {failed, told};
  petal_error error = {.struct_size = sizeof error};
  for (int side = 0; side < 2; side++) {
    CHECK_EQUAL(petal_session_get_turn(sides[side]), PETAL_SESSION_TURN_FAILED);
    CHECK_STATUS(petal_session_send(sides[side], &message, &length, NULL), status);
    CHECK_STATUS(petal_session_receive(sides[side], "x", 1, NULL), status);
    CHECK_STATUS(petal_session_get_differences(sides[side], NULL, 0, &count, &error), status);
  }
  CHECK_TEXT(error.message, "the other side gave up");
  CHECK(message == NULL && length == 0 && count == 4711);
  free_both(both);
}

static void failures(void) {
  check_failure(pair_of((sets){500, 1000, 500}, 300, false, 0), PETAL_ERR_UNSUPPORTED_BY_HANDLE);
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_RIBLT, .bits = 1920, .seed = 7};
  petal_sketch *seeded = NULL;
  CHECK_OK(petal_sketch_new(&spec, &seeded, NULL));
  pair both = {session_of(sketch_of(PETAL_KIND_RIBLT, 10, true, 0, 5), PETAL_SESSION_ROLE_INITIATOR, 0),
               session_of(seeded, PETAL_SESSION_ROLE_RESPONDER, 0)};
  check_failure(both, PETAL_ERR_INCOMPATIBLE);
}

/* Only the first differences are written where there is no room for all. */
static void room(void) {
  pair both = pair_of((sets){3, 100, 2}, 50, true, 0);
  CHECK_OK(carry_all(both));
  petal_sketch_listed listed[5] = {{0}};
  size_t count = 0;
  CHECK_OK(petal_session_get_differences(both.initiator, listed, 3, &count, NULL));
  CHECK(count == 5 && are_keys(listed, 103, 2, -1) && listed[2].sign == 1 && listed[3].sign == 0);
  free_both(both);
}

int main(void) {
  methods();
  kinds();
  turns();
  wrong_messages(0);
  wrong_messages(PETAL_SESSION_KEPT_SYMBOLS);
  failures();
  room();
  petal_session_free(NULL);
  return check_done();
}
