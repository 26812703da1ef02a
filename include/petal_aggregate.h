/*
 * petal_aggregate.h: sum, mean, maximum, minimum and count of values that change, each counted once. It is
 * experimental: functions may still change. petal.h has the conventions, which hold for aggregates too.
 *
 * Participants meet again and again, in any order. Each has an id, a state, and a value that belongs to its state. Of
 * two that meet, one is the disseminator, and tells its state and value. The other is the aggregator, and takes the
 * value once, however often they meet. If the disseminator's state changed, it cites the previous one, and the
 * aggregator replaces the value. Each participant has a `petal_aggregate`, which has the memories of both roles:
 *
 *     petal_spec spec = PETAL_SPEC_INIT;
 *     spec.capacity = 1000;
 *     petal_aggregate *ours = NULL, *theirs = NULL;
 *     if (petal_aggregate_new(&spec, &ours, NULL) != PETAL_OK) return 1;
 *     if (petal_aggregate_new(&spec, &theirs, NULL) != PETAL_OK) return 1;
 *     petal_aggregate_answer answer;
 *     petal_aggregate_add(ours, "sensor 7", 8, 0, 18.5, NULL, 0, &answer, NULL);
 *     petal_aggregate_record_sent(theirs, "we", 2, 0, &answer, NULL);
 *
 *     // Later the sensor is in state 1, and its value is 21. The sensor cites what it told us before.
 *     uint32_t told[16];
 *     petal_aggregate_state_value previous[16];
 *     const double value_of_state[16] = {18.5, 21.0};
 *     size_t count = 0;
 *     petal_aggregate_list_sent(theirs, "we", 2, told, 16, &count, NULL);
 *     for (size_t i = 0; i < count; i++) {
 *       previous[i].state = told[i];
 *       previous[i].value = value_of_state[told[i]];
 *     }
 *     petal_aggregate_add(ours, "sensor 7", 8, 1, 21.0, previous, count, &answer, NULL);
 *     petal_aggregate_record_sent(theirs, "we", 2, 1, &answer, NULL);
 *
 * An aggregate has no network: you carry state, value, cited states and the answer. Only the participants are trusted
 * to say what their values are, so take a channel that authenticates.
 *
 * The memories are counting Bloom filters. At their false-positive rate a new id seems known, and the aggregator
 * refuses the participant, at every meeting again. At the same rate it takes a change for a duplicate. So sum and
 * count are a little too low, and `petal_aggregate_get_expected_errors()` says by how much.
 *
 * An aggregate uses these fields of its spec: capacity, false_positive_rate, hash function, seed, secret and
 * parameters (states, roles). The kind is `PETAL_KIND_AGGREGATE`, or 0 if you set no parameter. The capacity is the
 * number of participants. The false_positive_rate is that of each memory with that many entries. Instead of capacity
 * and false_positive_rate the spec may give bits (of all memories together) and hashes (the counters of an entry).
 */

#ifndef PETAL_AGGREGATE_H
#define PETAL_AGGREGATE_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The only kind of its handle. */
/** Sum, mean, maximum, minimum and count of values that change, each counted once however often it is met. */
#define PETAL_KIND_AGGREGATE 1024

/** The memories of a participant, and what it aggregated. Free it with `petal_aggregate_free()`. */
typedef struct petal_aggregate petal_aggregate;

/** Makes an aggregate that has met nobody. */
petal_status petal_aggregate_new(const petal_spec *spec, petal_aggregate **aggregate, petal_error *error);

/**
 * Frees an aggregate. If you changed an image in place, this function brings the image up to date first. Call
 * `petal_aggregate_sync()` before if you want to know whether that works. NULL is allowed.
 */
void petal_aggregate_free(petal_aggregate *aggregate);

/** Forgets everything: what is aggregated, what was told, and how often each outcome came. */
petal_status petal_aggregate_clear(petal_aggregate *aggregate, petal_error *error);


/*
 * AGGREGATES: MEETINGS
 */

/** A state with the value that belongs to it. */
typedef struct petal_aggregate_state_value {
  /** The state, from 0 to one less than the parameter `states`. */
  uint32_t state;
  /** The value: any finite number. */
  double value;
} petal_aggregate_state_value;

/** What a meeting came to: one of `PETAL_AGGREGATE_OUTCOME_*`. */
typedef uint32_t petal_aggregate_outcome;

/** The id was met for the first time, and its value is aggregated. */
#define PETAL_AGGREGATE_OUTCOME_FIRST 0
/** The value was aggregated already, or seemed so. */
#define PETAL_AGGREGATE_OUTCOME_DUPLICATE 1
/** The value of the previous state is replaced by the new one. */
#define PETAL_AGGREGATE_OUTCOME_CHANGED 2
/**
 * Nothing is changed. Either the id is new and seems known; or the cited previous states are not aggregated; or more
 * than one of them seems to be, so that nobody knows which one to replace.
 */
#define PETAL_AGGREGATE_OUTCOME_REFUSED 3

/** An aggregator's answer, for `petal_aggregate_record_sent()` of the participant that it met. */
typedef struct petal_aggregate_answer {
  /** What the meeting came to: one of `PETAL_AGGREGATE_OUTCOME_*`. */
  petal_aggregate_outcome outcome;
  /** With `PETAL_AGGREGATE_OUTCOME_CHANGED`, the previous state that was replaced; otherwise 0. */
  uint32_t replaced;
} petal_aggregate_answer;

/**
 * Meets the participant with this id, which is in a state with a value. `previous` has the states that the participant
 * may have told this aggregator before, as `petal_aggregate_list_sent()` lists them, each with its value; `previous`
 * may be NULL if `previous_count` is 0. A state that comes twice with one value counts once. Returns
 * `PETAL_ERR_OUT_OF_RANGE` for a state that is not below the parameter `states`, a value that is not finite, and more
 * previous states than `states`. Takes the time of one lookup for each cited state, and of two more.
 */
petal_status petal_aggregate_add(petal_aggregate *aggregate,
                                 const void *id,
                                 size_t length,
                                 uint32_t state,
                                 double value,
                                 const petal_aggregate_state_value *previous,
                                 size_t previous_count,
                                 petal_aggregate_answer *answer,
                                 petal_error *error);

/** Meets the participant whose id has this hash, as `petal_aggregate_add()` does. */
petal_status petal_aggregate_add_hash(petal_aggregate *aggregate,
                                      uint64_t hash,
                                      uint32_t state,
                                      double value,
                                      const petal_aggregate_state_value *previous,
                                      size_t previous_count,
                                      petal_aggregate_answer *answer,
                                      petal_error *error);

/**
 * Forgets the participant with this id, which is aggregated in this state, and takes its value away. `left`, nullable,
 * becomes false, with nothing changed, if the participant is not aggregated in this state.
 */
petal_status petal_aggregate_remove(petal_aggregate *aggregate,
                                    const void *id,
                                    size_t length,
                                    uint32_t state,
                                    double value,
                                    bool *left,
                                    petal_error *error);

/** Forgets the participant whose id has this hash, as `petal_aggregate_remove()` does. */
petal_status petal_aggregate_remove_hash(petal_aggregate *aggregate,
                                         uint64_t hash,
                                         uint32_t state,
                                         double value,
                                         bool *left,
                                         petal_error *error);


/*
 * AGGREGATES: WHAT A DISSEMINATOR TOLD
 */

/**
 * Lists the states that this disseminator told the aggregator with this id, in ascending order: none before their
 * first meeting, then one. At the false-positive rate the list also has states that were never told. Cite all of them:
 * the aggregator finds out which one is aggregated. `count` becomes the number of all states in the list. The function
 * writes the first `room` of these to `states`, which may be NULL if `room` is 0. Looks up all states.
 */
petal_status petal_aggregate_list_sent(const petal_aggregate *aggregate,
                                       const void *id,
                                       size_t length,
                                       uint32_t *states,
                                       size_t room,
                                       size_t *count,
                                       petal_error *error);

/** Lists what this disseminator told the aggregator whose id has this hash, as `petal_aggregate_list_sent()` does. */
petal_status petal_aggregate_list_sent_hash(const petal_aggregate *aggregate,
                                            uint64_t hash,
                                            uint32_t *states,
                                            size_t room,
                                            size_t *count,
                                            petal_error *error);

/**
 * Notes what the aggregator with this id answered when it was told `state`. A first meeting and a change are noted. A
 * duplicate and a refusal change nothing. `answer` is NULL if no answer came: the memory then has this state and the
 * previous one, and the next meeting shows which of them is aggregated. `petal_aggregate_list_sent()` may go on
 * listing the other state. That does no harm, and `petal_aggregate_forget_sent()` ends it.
 */
petal_status petal_aggregate_record_sent(petal_aggregate *aggregate,
                                         const void *id,
                                         size_t length,
                                         uint32_t state,
                                         const petal_aggregate_answer *answer,
                                         petal_error *error);

/** Notes the answer of the aggregator whose id has this hash, as `petal_aggregate_record_sent()` does. */
petal_status petal_aggregate_record_sent_hash(petal_aggregate *aggregate,
                                              uint64_t hash,
                                              uint32_t state,
                                              const petal_aggregate_answer *answer,
                                              petal_error *error);

/**
 * Forgets that the aggregator with this id was told `state`, for an aggregator that left or lost its memories.
 * `forgotten`, nullable, becomes false, with nothing changed, if the aggregator was not told `state`.
 */
petal_status petal_aggregate_forget_sent(petal_aggregate *aggregate,
                                         const void *id,
                                         size_t length,
                                         uint32_t state,
                                         bool *forgotten,
                                         petal_error *error);

/** Forgets what the aggregator whose id has this hash was told, as `petal_aggregate_forget_sent()` does. */
petal_status petal_aggregate_forget_sent_hash(petal_aggregate *aggregate,
                                              uint64_t hash,
                                              uint32_t state,
                                              bool *forgotten,
                                              petal_error *error);


/*
 * AGGREGATES: RESULTS
 */

/**
 * A participant has the maximum. If all who had it changed or left, the maximum is a bound, until a participant comes
 * to it again or above it.
 */
#define PETAL_AGGREGATE_MAXIMUM_IS_EXACT (1ull << 0)
/** A participant has the minimum. */
#define PETAL_AGGREGATE_MINIMUM_IS_EXACT (1ull << 1)

/** What is aggregated now. */
typedef struct petal_aggregate_statistics {
  /** sizeof(petal_aggregate_statistics), or 0 for its size in the first release. */
  size_t struct_size;
  /** How many participants are aggregated. */
  uint64_t count;
  /** The sum of their values, rounded once to the nearest double. Infinite if no double is that great. */
  double sum;
  /** The exact mean of their values, rounded once. NaN if nobody is aggregated. */
  double mean;
  /** The greatest value, or a bound above all of them: see `exact`. NaN if nobody is aggregated. */
  double maximum;
  /** The least value, or a bound below all of them: see `exact`. NaN if nobody is aggregated. */
  double minimum;
  /** Which of `PETAL_AGGREGATE_MAXIMUM_IS_EXACT` and `PETAL_AGGREGATE_MINIMUM_IS_EXACT` hold. */
  uint64_t exact;
  /**
   * An estimate of how many participants have come: those who are aggregated, and those who were refused because
   * they seemed known. The mean times this estimate is the sum without the bias of false positives.
   */
  double participants;
  /** Meetings that aggregated an id for the first time. */
  uint64_t firsts;
  /** Meetings that replaced a state and its value by others. */
  uint64_t changes;
  /** Meetings with a state that was aggregated already, or seemed so. */
  uint64_t duplicates;
  /**
   * Refused meetings that cited no previous state: an id that is new and seems known, or a participant that lost its
   * memory. Such a participant is refused at each meeting, so this number grows with the meetings.
   */
  uint64_t refused_firsts;
  /** Refused meetings that cited previous states. None of these states seemed aggregated, or more than one did. */
  uint64_t refused_changes;
  /** Participants that left. */
  uint64_t departures;
} petal_aggregate_statistics;
/** A `petal_aggregate_statistics` of this header's size, all else 0. */
#define PETAL_AGGREGATE_STATISTICS_INIT PETAL_INIT(petal_aggregate_statistics)

/**
 * What false positives are expected to cost if n participants are met, all of them. `f(n)` is the false-positive rate
 * of a memory of n entries.
 */
typedef struct petal_aggregate_expected_errors {
  /** sizeof(petal_aggregate_expected_errors), or 0 for its size in the first release. */
  size_t struct_size;
  /** The false-positive rate of each memory that has as many entries as there are participants: `f(n)`. */
  double false_positive_rate;
  /**
   * How many of the participants are refused when they come, one after the other, because they seem known:
   * `f(0) + ... + f(n - 1)`. Each is refused again at each further meeting.
   */
  double refused_firsts;
  /**
   * The relative error of sum and count: `-refused_firsts / n`, if values do not depend on ids. The mean has none.
   */
  double bias;
  /**
   * The share of changes of aggregated participants that the aggregator takes for duplicates, once all have changed
   * several times. Of the first changes fewer are missed, from `f(n - refused_firsts)` on. Such a change is taken
   * for a duplicate at each further meeting too, until other changes free the counters.
   */
  double missed_changes;
} petal_aggregate_expected_errors;
/** A `petal_aggregate_expected_errors` of this header's size, all else 0. */
#define PETAL_AGGREGATE_EXPECTED_ERRORS_INIT PETAL_INIT(petal_aggregate_expected_errors)

/** Tells what is aggregated now. */
petal_status petal_aggregate_get_statistics(const petal_aggregate *aggregate,
                                            petal_aggregate_statistics *results,
                                            petal_error *error);

/** Tells what false positives are expected to cost with this many participants. */
petal_status petal_aggregate_get_expected_errors(const petal_aggregate *aggregate,
                                                 uint64_t participants,
                                                 petal_aggregate_expected_errors *expected,
                                                 petal_error *error);

/**
 * Tells how many participants are aggregated with a state. If a state means the same value everywhere, these counts
 * are the exact distribution of values, with maximum, minimum and median.
 */
petal_status petal_aggregate_count_in_state(const petal_aggregate *aggregate,
                                            uint32_t state,
                                            uint64_t *count,
                                            petal_error *error);

/** Returns how many states a participant can have. 0 for NULL. */
uint32_t petal_aggregate_state_count(const petal_aggregate *aggregate);


/*
 * AGGREGATES: IMAGES AND FILES
 *
 * The image of an aggregate has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.
 */

/** Opens a file that is an image. `options` is nullable. */
petal_status petal_aggregate_open(const char *path,
                                  const petal_open_options *options,
                                  petal_aggregate **aggregate,
                                  petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
 * is nullable.
 */
petal_status petal_aggregate_open_descriptor(intptr_t descriptor,
                                             uint64_t offset,
                                             const petal_open_options *options,
                                             petal_aggregate **aggregate,
                                             petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
 * handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
 */
petal_status petal_aggregate_open_in_buffer(void *buffer,
                                            size_t length,
                                            const petal_open_options *options,
                                            petal_aggregate **aggregate,
                                            petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
 * ignores the mode in `options`, which is nullable.
 */
petal_status petal_aggregate_load(const void *image,
                                  size_t length,
                                  const petal_open_options *options,
                                  petal_aggregate **aggregate,
                                  petal_error *error);

/** Copies an aggregate into new memory, wherever the aggregate lives. */
petal_status petal_aggregate_copy(const petal_aggregate *aggregate, petal_aggregate **copy, petal_error *error);

/** The size of the image in bytes. */
petal_status petal_aggregate_serialized_size(const petal_aggregate *aggregate, uint64_t *size, petal_error *error);

/** Writes the image into a buffer of at least `petal_aggregate_serialized_size()` bytes. `written` is nullable. */
petal_status petal_aggregate_serialize(const petal_aggregate *aggregate,
                                       void *buffer,
                                       size_t length,
                                       size_t *written,
                                       petal_error *error);

/**
 * Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
 * `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_aggregate_serialize_to(const petal_aggregate *aggregate,
                                          petal_write_callback write,
                                          void *context,
                                          petal_error *error);

/** Writes the image to a file, atomically, as `petal_filter_save()` does. */
petal_status petal_aggregate_save(const petal_aggregate *aggregate, const char *path, petal_error *error);

/**
 * Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
 * their checksums, or if no aggregate can have such a payload.
 */
petal_status petal_aggregate_verify(const petal_aggregate *aggregate, petal_error *error);

/**
 * Describes an aggregate by its header, in constant time. `hashes` is the number of counters of an entry, `bits` the
 * number of bits of all memories, and `insertions` the number of participants that are aggregated.
 */
petal_status petal_aggregate_describe(const petal_aggregate *aggregate,
                                      petal_description *description,
                                      petal_error *error);

/** Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. */
petal_status petal_aggregate_sync(petal_aggregate *aggregate, petal_error *error);

/** Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does. */
petal_status petal_aggregate_mark_clean(petal_aggregate *aggregate, petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_AGGREGATE_H */
