/*
 * petal_session.h: sessions, in which two sides find out what only one of them has. It is experimental: functions may
 * still change. petal.h has the conventions, which hold for sessions too.
 *
 * Two machines have nearly the same keys, each in a sketch. A session tells both machines which keys only one of them
 * has, and the messages are as large as these differences need. A session has no network: you carry its messages.
 *
 * Here both sides are in one program, which carries each message to the other side:
 *
 *     petal_spec spec = PETAL_SPEC_INIT;
 *     spec.kind = PETAL_KIND_RIBLT;
 *     spec.capacity = 100;
 *     petal_sketch *ours = NULL, *theirs = NULL;
 *     if (petal_sketch_new(&spec, &ours, NULL) != PETAL_OK) return 1;
 *     if (petal_sketch_new(&spec, &theirs, NULL) != PETAL_OK) return 1;
 *     petal_sketch_insert_u64(theirs, 7);
 *     petal_session *initiator = NULL, *responder = NULL;
 *     if (petal_session_new(ours, PETAL_SESSION_ROLE_INITIATOR, 0, &initiator, NULL) != PETAL_OK) return 1;
 *     if (petal_session_new(theirs, PETAL_SESSION_ROLE_RESPONDER, 0, &responder, NULL) != PETAL_OK) return 1;
 *     petal_session *from = initiator, *to = responder;
 *     while (petal_session_get_turn(from) == PETAL_SESSION_TURN_SEND) {
 *       const void *message = NULL;
 *       size_t length = 0;
 *       if (petal_session_send(from, &message, &length, NULL) != PETAL_OK) return 1;
 *       if (petal_session_receive(to, message, length, NULL) != PETAL_OK) return 1;
 *       petal_session *sender = from;
 *       from = to, to = sender;
 *     }
 *     petal_sketch_listed listed[100];
 *     size_t count = 0;
 *     if (petal_session_get_differences(initiator, listed, 100, &count, NULL) != PETAL_OK) return 1;
 *
 * The list then has the number 7 with -1. The initiator estimates how much differs, and chooses the way that costs the
 * fewest bytes. Both sketches need the same hash function, and the same seed or secret. A `pinsketch` needs the other
 * side's `field_bits`. Sizes may differ.
 *
 * The sketch is one of `PETAL_KIND_RIBLT`, or one that keeps its keys (`petal_sketch_keep_keys()`). If both sides keep
 * their keys, the session has its own random key, and makes a pass over the keys. Then an attacker cannot choose keys
 * that disturb a session. Otherwise the session uses the coded symbols that the sketches keep, and costs only what
 * differs. Whoever knows the sketches' seed or secret can choose keys that disturb such a session. It may then end in
 * an error, may miss some of these keys, or may even call the sets equal.
 *
 * A session refuses a message that is repeated, out of order or damaged, and does not change then. Whatever a message
 * says, memory and work are bounded: a session has at most 2^18 coded symbols and 512 syndromes. The session takes as
 * much memory as the messages that come, and at most 35 MB more for symbols of numbers. A session does not know who
 * the other side is: take a channel that authenticates it. docs/session.md specifies the messages to the byte.
 */

#ifndef PETAL_SESSION_H
#define PETAL_SESSION_H

#include <petal.h>
#include <petal_sketch.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One side of a session. Free it with `petal_session_free()`. */
typedef struct petal_session petal_session;

/** The part of a side: one of `PETAL_SESSION_ROLE_*`. */
typedef uint32_t petal_session_role;

/** Sends the first message, and chooses the way to the differences. */
#define PETAL_SESSION_ROLE_INITIATOR 0
/** Answers. */
#define PETAL_SESSION_ROLE_RESPONDER 1

/** What a side has to do next: one of `PETAL_SESSION_TURN_*`. */
typedef uint32_t petal_session_turn;

/** `petal_session_send()` has a message. */
#define PETAL_SESSION_TURN_SEND 0
/** `petal_session_receive()` waits for a message. */
#define PETAL_SESSION_TURN_RECEIVE 1
/** The differences are known. */
#define PETAL_SESSION_TURN_DONE 2
/** The session ended without a result. */
#define PETAL_SESSION_TURN_FAILED 3

/** The way to the differences: one of `PETAL_SESSION_METHOD_*`. */
typedef uint32_t petal_session_method;

/** Nothing was chosen yet. */
#define PETAL_SESSION_METHOD_NONE 0
/** The sets were equal. */
#define PETAL_SESSION_METHOD_EQUAL 1
/** Syndromes, as the kind `pinsketch` has them: for few differences, if both sides keep their keys. */
#define PETAL_SESSION_METHOD_PINSKETCH 2
/** Coded symbols, as the kind `riblt` has them. */
#define PETAL_SESSION_METHOD_RIBLT 3
/** A filter of each set, and coded symbols of what passes them: for unlike sets, if both sides keep their keys. */
#define PETAL_SESSION_METHOD_FILTER_AND_RIBLT 4

/**
 * Take the symbols that the sketches keep, also if both sides keep their keys. The session then hashes no keys, unless
 * it needs more symbols than the sketches keep, and has no key of its own. It is enough that one side asks.
 */
#define PETAL_SESSION_KEPT_SYMBOLS (1 << 0)

/** What a session chose, and what it cost. */
typedef struct petal_session_statistics {
  /** sizeof(petal_session_statistics), or 0 for its size in the first release. */
  size_t struct_size;
  /** The way to the differences: one of `PETAL_SESSION_METHOD_*`. */
  petal_session_method method;
  /** 1 if the session used the symbols that the sketches keep, 0 if the session had its own key. */
  uint32_t used_kept_symbols;
  /** The estimated number of differences. Only the initiator estimates; the responder has 0. */
  double estimated_differences;
  /** The standard deviation of the estimate. */
  double estimate_deviation;
  /** How many keys the other side has. */
  uint64_t their_count;
  /** Coded symbols that the initiator sent. */
  uint64_t symbols;
  /** Syndromes that the initiator sent. */
  uint64_t syndromes;
  /** Bytes of both filters. */
  uint64_t filter_bytes;
  /** Messages so far, of both sides. */
  uint64_t messages;
  /** Bytes of the messages that this side sent. */
  uint64_t sent_bytes;
  /** Bytes of the messages that this side received. */
  uint64_t received_bytes;
} petal_session_statistics;
/** A `petal_session_statistics` of this header's size, all else 0. */
#define PETAL_SESSION_STATISTICS_INIT PETAL_INIT(petal_session_statistics)

/**
 * Begins a session over a sketch's set. `flags` is 0 or `PETAL_SESSION_KEPT_SYMBOLS`. The session copies what it
 * needs, so the sketch may change or end meanwhile. Returns `PETAL_ERR_UNSUPPORTED` for a sketch of whole keys, for
 * one that has neither coded symbols nor kept keys, and for kept symbols of a kind that has none. Returns
 * `PETAL_ERR_CONTRADICTION` for a sketch that shows that it is no set, because keys were subtracted or removed that it
 * did not have. A sketch with many keys may not show that, so give a session the sketches of sets only.
 */
petal_status petal_session_new(const petal_sketch *sketch,
                               petal_session_role role,
                               uint32_t flags,
                               petal_session **session,
                               petal_error *error);

/** Frees a session. NULL is allowed. */
void petal_session_free(petal_session *session);

/** Returns what this side has to do next. `PETAL_SESSION_TURN_FAILED` for NULL. */
petal_session_turn petal_session_get_turn(const petal_session *session);

/**
 * Makes the next message for the other side. `message` becomes a pointer to its bytes, which belong to the session and
 * stay until the next call with it. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if it is not this side's turn. If the
 * session failed, one message tells the other side, and then the function returns why the session failed.
 */
petal_status petal_session_send(petal_session *session, const void **message, size_t *length, petal_error *error);

/**
 * Takes the other side's next message as a whole. Bytes that are not the message that is due change nothing:
 * `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED`, `PETAL_ERR_NEWER_VERSION`, `PETAL_ERR_CORRUPT`. If the message is due
 * and cannot be served, the session failed, and `petal_session_send()` has a message that tells the other side:
 * `PETAL_ERR_INCOMPATIBLE` if the sketches are not comparable, `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if more symbols are
 * needed than the sketches keep, and others.
 */
petal_status petal_session_receive(petal_session *session, const void *message, size_t length, petal_error *error);

/**
 * Lists the numbers that one side has alone: first those of the other side with -1, then those of this side with 1,
 * each in ascending order. `count` becomes the number of all. The function writes the first `room` of these to
 * `listed`, which may be NULL if `room` is 0. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` unless the session is done,
 * and why it failed if it did.
 */
petal_status petal_session_get_differences(const petal_session *session,
                                           petal_sketch_listed *listed,
                                           size_t room,
                                           size_t *count,
                                           petal_error *error);

/** Tells what the session chose, and what it cost so far. Constant time. */
petal_status petal_session_get_statistics(const petal_session *session,
                                          petal_session_statistics *report,
                                          petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_SESSION_H */
