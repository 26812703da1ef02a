/*
 * petal_more.h: rarer functions of filters, for programs that need them. petal.h has the conventions.
 */

#ifndef PETAL_MORE_H
#define PETAL_MORE_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif


/*
 * ONE KEY ASKED OF MANY FILTERS
 *
 * These functions serve a lookup through an LSM tree, or a search over shards. While one filter answers, the processor
 * already fetches the cache lines of the next ones. Out of cache that takes half to three quarters of the time of a
 * call for each filter. For some ten filters that lie in a cache, a call for each filter is faster. Answer i
 * belongs to filter i. The filters may be of different kinds and sizes. If all filters have the same hash function and
 * seed or secret, the call hashes the key once, otherwise once for each filter. On a failure every answer is true.
 */

/**
 * Looks one key up in `count` filters. Returns `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_SECRET_MISSING` if one of the
 * filters cannot hash the key.
 */
petal_status petal_filter_contains_across(const petal_filter *const *filters,
                                          size_t count,
                                          const void *key,
                                          size_t length,
                                          petal_answers *answers,
                                          petal_error *error);

/** Looks the key with this hash up in `count` filters, whatever their own hash functions are. */
petal_status petal_filter_contains_across_hash(const petal_filter *const *filters,
                                               size_t count,
                                               uint64_t hash,
                                               petal_answers *answers,
                                               petal_error *error);


/*
 * FILTERS: KEYS WITH THEIR COUNTS
 *
 * For kinds that count (`PETAL_CAN_COUNT`). One call inserts or removes a key several times, with the effect of that
 * many single calls. Kinds that keep counts as numbers (`quotient`, `spectral`) take the time of one call.
 * `petal_filter_get_stored_hashes()` gives what a filter holds, as numbers with their counts.
 */

/**
 * Inserts a key `times` times. `is_new`, nullable, becomes true if the key certainly was not there before. A count
 * that would pass the greatest count of the kind stops there. Returns `PETAL_ERR_FULL` if there is no room for all
 * copies; the filter has taken none then. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
 */
petal_status petal_filter_insert_times(petal_filter *filter,
                                       const void *key,
                                       size_t length,
                                       uint64_t times,
                                       bool *is_new);

/** Inserts the key with this hash `times` times, as `petal_filter_insert_times()` does a byte key. */
petal_status petal_filter_insert_times_hash(petal_filter *filter, uint64_t hash, uint64_t times, bool *is_new);

/**
 * Inserts each key as often as its element of `times` says, in order. `times` has one element a key, and may be NULL
 * if there are no keys. Each of the `answers`, nullable, says whether the key certainly was not there before. On a
 * failure the filter has taken the first `done` keys.
 */
petal_status petal_filter_insert_times_batch(petal_filter *filter,
                                             const petal_keys *keys,
                                             const uint64_t *times,
                                             petal_answers *answers,
                                             petal_error *error);

/**
 * Removes a key as often as it is there, but no more than `times` times. `removed`, nullable, becomes the number of
 * removed copies: 0 if the key certainly was not there. In `counting`, a count that has reached the greatest one
 * stands for that or more, and stays. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot remove or count.
 */
petal_status petal_filter_remove_times(petal_filter *filter,
                                       const void *key,
                                       size_t length,
                                       uint64_t times,
                                       uint64_t *removed);

/** Removes the key with this hash at most `times` times, as `petal_filter_remove_times()` does a byte key. */
petal_status petal_filter_remove_times_hash(petal_filter *filter, uint64_t hash, uint64_t times, uint64_t *removed);

/**
 * Removes each key as often as it is there, but no more than its element of `times` says, in order. `times` has one
 * element a key, and may be NULL if there are no keys. Each of the `answers`, nullable, is false if the key certainly
 * was not there. On a failure the filter has taken the first `done` keys.
 */
petal_status petal_filter_remove_times_batch(petal_filter *filter,
                                             const petal_keys *keys,
                                             const uint64_t *times,
                                             petal_answers *answers,
                                             petal_error *error);

/**
 * Adds a key that came `times` times; 0 times add nothing. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
 */
petal_status petal_builder_add_times(petal_builder *builder, const void *key, size_t length, uint64_t times);

/** Adds a hash that came `times` times, as `petal_builder_add_times()` does a byte key. */
petal_status petal_builder_add_times_hash(petal_builder *builder, uint64_t hash, uint64_t times);

/**
 * Adds each key as often as its element of `times` says, in order. `times` has one element a key, and may be NULL if
 * there are no keys. `answers`, nullable, only tells how many keys the builder took: the first `done`. A builder
 * refuses every form of answers. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot count.
 */
petal_status petal_builder_add_times_batch(petal_builder *builder,
                                           const petal_keys *keys,
                                           const uint64_t *times,
                                           petal_answers *answers,
                                           petal_error *error);


/*
 * BUILDERS: EXCLUDED KEYS
 *
 * For kinds whose filters make no error for the keys of a known universe, such as `exact_set`. Its members are added
 * to a builder as for every kind, and all other keys of the universe are excluded. The filter contains every member
 * and no excluded key. A key that was added and excluded is found when the filter is made: `petal_builder_finish()`
 * then returns `PETAL_ERR_CONTRADICTION` and says the key's hash.
 */

/** Excludes a key. Returns `PETAL_ERR_UNSUPPORTED` if the kind takes no excluded keys. */
petal_status petal_builder_exclude(petal_builder *builder, const void *key, size_t length);

/** Excludes a hash, as `petal_builder_exclude()` does a byte key. */
petal_status petal_builder_exclude_hash(petal_builder *builder, uint64_t hash);

/**
 * Excludes keys in order. `answers` is nullable: its field `done` tells how many keys were excluded. A builder finds
 * out nothing about a key, so it refuses every output in `answers`. Returns `PETAL_ERR_UNSUPPORTED` if the kind takes
 * no excluded keys.
 */
petal_status petal_builder_exclude_batch(petal_builder *builder,
                                         const petal_keys *keys,
                                         petal_answers *answers,
                                         petal_error *error);

/**
 * Makes the builder bring a filter up to date. The next filter that the builder makes is `old`, followed by what
 * changes of its answers. Give the builder the whole universe of the new filter, members and excluded keys, as for a
 * filter that is made anew. The builder copies `old`, which may be an image in place. The delta of both filters
 * (petal_wire.h) is then as small as the change.
 *
 * Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot do this, and `PETAL_ERR_INCOMPATIBLE` if `old` has another kind,
 * hash function, seed or `partition_prefix_bytes` than the builder's spec says. Finishing returns `PETAL_ERR_FULL` if
 * the older filter was brought up to date 64 times already. Each update adds to the rate for non-members. So if the
 * builder's spec has a `false_positive_rate`, there are fewer updates, or none at low rates: finishing returns
 * `PETAL_ERR_CONTRADICTION` where the rate would be passed.
 */
petal_status petal_builder_update(petal_builder *builder, const petal_filter *old, petal_error *error);


/*
 * BUILDERS: FREQUENT NON_MEMBERS
 *
 * For kinds whose filters give fewer false answers for keys that are known to be asked for often, such as `stacked`.
 * Its members are added to a builder as for every kind. The frequent non-members are keys that are no members. Each
 * has a weight: how often it is asked for compared with the other frequent non-members, as a number of lookups or a
 * share of them. Weights are numbers from 2^-60 to 2^60, and those of a key that is given again add up, to less than
 * 2^64. The parameter `frequent_share` says which share of all lookups of absent keys asks for frequent non-members. A
 * key that is a member too is found when the filter is made: `petal_builder_finish()` then returns
 * `PETAL_ERR_CONTRADICTION` and says the key's hash.
 */

/**
 * Gives a frequent non-member with its weight. Returns `PETAL_ERR_UNSUPPORTED` if the kind takes none, and
 * `PETAL_ERR_OUT_OF_RANGE` for another weight.
 */
petal_status petal_builder_add_frequent(petal_builder *builder, const void *key, size_t length, double weight);

/** Gives the hash of a frequent non-member, as `petal_builder_add_frequent()` does a byte key. */
petal_status petal_builder_add_frequent_hash(petal_builder *builder, uint64_t hash, double weight);

/**
 * Gives frequent non-members in order. `weights` is nullable: then each key has the weight 1. Otherwise it has one
 * element a key. `answers` is nullable: its field `done` tells how many keys were taken. A builder finds out nothing
 * about a key, so it refuses every output in `answers`. Returns the statuses of `petal_builder_add_frequent()`.
 */
petal_status petal_builder_add_frequent_batch(petal_builder *builder,
                                              const petal_keys *keys,
                                              const double *weights,
                                              petal_answers *answers,
                                              petal_error *error);


/*
 * BUILDERS: KEYS FROM SEVERAL PROCESSES
 *
 * Several processes or machines can collect the keys of one filter. Each has a builder, all with the same spec. Those
 * that do not make the filter write their keys as bytes, and the one that makes it takes the bytes in. The filter is
 * the same as from one builder with all keys, byte for byte, in whatever order they come. docs/choosing.md has an
 * example.
 *
 * The bytes have the keys that were added, with their counts, the excluded keys and the frequent non-members; 8 bytes
 * a key, and 12, 16 or 24 where a builder keeps that many. docs/format.md specifies them. Tell the builder that makes
 * the filter what `petal_builder_update()` takes. A file with such bytes may be larger than memory: map it.
 */

/**
 * Gives the builder's keys to `write`, piece by piece and in order. The keys stay in the builder, which sorts them
 * first. The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns
 * false, and `PETAL_ERR_CANCELLED` if the builder's progress callback cancels.
 */
petal_status petal_builder_serialize_to(petal_builder *builder,
                                        petal_write_callback write,
                                        void *context,
                                        petal_error *error);

/**
 * Takes in the keys of another builder, as `petal_builder_serialize_to()` gave them, as if they had been added here.
 * `state` has `length` bytes, at any address. Returns `PETAL_ERR_INCOMPATIBLE` if that builder has another kind, hash
 * function, seed, secret key, size or parameter. Returns `PETAL_ERR_FOREIGN`, `PETAL_ERR_NEWER_VERSION`,
 * `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes that no builder wrote. After a failure the builder has the
 * keys that it had before.
 */
petal_status petal_builder_merge(petal_builder *builder, const void *state, size_t length, petal_error *error);


/*
 * FILTERS: REJUVENATING
 *
 * For kinds with `PETAL_CAN_REJUVENATE`. Such a kind keeps a fingerprint of each key. Each time the filter grows, the
 * stored fingerprints become shorter, and a short one matches more absent keys. If a lookup said "maybe" and the store
 * behind the filter has the key, rejuvenate the key: its fingerprint then has the full length, as after a new
 * insertion. Lookups find this key and all others at every moment, and the number of keys stays.
 *
 * The key must be there, as for a removal: rejuvenating an absent key may lose another one. A call takes as long as a
 * removal and an insertion.
 */

/**
 * Restores a stored key's fingerprint to full length. `rejuvenated`, nullable, becomes false if the fingerprint is
 * already full, or if the key certainly is not there; nothing has changed then. If a key is there several times, the
 * call restores one of its copies. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot rejuvenate. Returns
 * `PETAL_ERR_FULL` if there is no room for the longer fingerprint; the key is there then as it was.
 */
petal_status petal_filter_rejuvenate(petal_filter *filter, const void *key, size_t length, bool *rejuvenated);

/**
 * Restores the fingerprint of the stored key with this hash to full length. `rejuvenated`, nullable, becomes false if
 * the fingerprint is already full, or if the key certainly is not there.
 */
petal_status petal_filter_rejuvenate_hash(petal_filter *filter, uint64_t hash, bool *rejuvenated);

/**
 * Restores the fingerprints of stored keys to full length, in order. Each of the `answers`, nullable, is false if the
 * fingerprint is already full, or if the key certainly is not there. On a failure the filter has taken the first
 * `done` keys.
 */
petal_status petal_filter_rejuvenate_batch(petal_filter *filter,
                                           const petal_keys *keys,
                                           petal_answers *answers,
                                           petal_error *error);


/*
 * FILTERS: WHAT IS STORED OF KEYS
 *
 * Some kinds (`PETAL_CAN_ENUMERATE`) store each key as one number, its hash reduced to the numbers below a range, and
 * nothing else. A program can list these numbers, in ascending order:
 *
 *     uint64_t stored[512], counts[512], from = 0;
 *     size_t count;
 *     do {
 *       if (petal_filter_get_stored_hashes(filter, from, stored, counts, 512, &count, NULL) != PETAL_OK) break;
 *       for (size_t i = 0; i < count; i++) printf("%" PRIu64 " %" PRIu64 "\n", stored[i], counts[i]);
 *       if (count > 0) from = stored[count - 1] + 1;
 *     } while (count == 512);
 *
 * Kinds that count give each number with its count, which is that of all keys with this number.
 *
 * A key may be there exactly if the list has the number of its hash; docs/format.md says how the number comes from the
 * hash. You can compare the numbers of filters that have one range and one hash function.
 */

/**
 * Writes the number that a filter stores for a hash, and the range, which is above all such numbers. `stored` and
 * `range` are nullable. Returns `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_ENUMERATE`.
 */
petal_status petal_filter_get_stored_hash(const petal_filter *filter,
                                          uint64_t hash,
                                          uint64_t *stored,
                                          uint64_t *range,
                                          petal_error *error);

/**
 * Writes the stored numbers from `from` on, in ascending order and each once, into `stored`, which has room for `room`
 * numbers. `count` becomes how many the function wrote: fewer than `room` if there are no more. `counts`, nullable,
 * has as much room and gets the count of each number: 1 if the kind does not count. The time depends on the numbers
 * that the function writes; with `golomb_stream`, on all numbers up to the last one. Returns `PETAL_ERR_UNSUPPORTED`
 * without `PETAL_CAN_ENUMERATE`.
 */
petal_status petal_filter_get_stored_hashes(const petal_filter *filter,
                                            uint64_t from,
                                            uint64_t *stored,
                                            uint64_t *counts,
                                            size_t room,
                                            size_t *count,
                                            petal_error *error);


/*
 * FILTERS: WHAT TO EXPECT
 *
 * These rates and numbers follow from a spec, or from a filter's geometry, whatever the filter holds.
 */

/**
 * The expected number of omissions when `keys` distinct keys are inserted, one after the other, into the filter that a
 * spec describes. An omission is a new key that the filter takes for a known one, or that it refuses because it is
 * full. A model checker that explores only new states omits this many states. The number is the sum of the
 * false-positive rates before each key. Returns `PETAL_ERR_UNSUPPORTED` for a kind that a builder makes from its keys.
 */
petal_status petal_spec_expected_omissions(const petal_spec *spec,
                                           uint64_t keys,
                                           double *omissions,
                                           petal_error *error);

/** The exact false-positive rate of the filter that a spec describes, with `keys` distinct keys in the filter. */
petal_status petal_spec_expected_false_positive_rate(const petal_spec *spec,
                                                     uint64_t keys,
                                                     double *false_positive_rate,
                                                     petal_error *error);

/**
 * The expected number of omissions when `keys` distinct keys are inserted, one after the other, into an empty filter
 * of this geometry: see `petal_spec_expected_omissions()`.
 */
petal_status petal_filter_expected_omissions(const petal_filter *filter,
                                             uint64_t keys,
                                             double *omissions,
                                             petal_error *error);

/**
 * The false-positive rate to expect of this filter with `keys` distinct keys in it. It is exact for most kinds.
 *
 * For a bloom filter with derivation double, enhanced_double or triple the rate is an approximation: within 5 % from
 * ten keys on if the filter was made by rate. With exact bits that have small factors the true rate is higher: by up
 * to a sixth at ten keys (with triple, up to 2.5 times), and by 2 % at a thousand.
 *
 * For some other kinds this rate, and that of the statistics, is an approximation too:
 *
 * - `signatures`: within 0.5 %;
 * - `hash_compaction`: within 1 %, and 5 % where hardly any slot is empty;
 * - `variable_increment`: up to 8 % too high with 2 to 16 keys;
 * - `exact_set` after an update, if the universe has fewer than 36 keys: too high by up to an eighth in the mean over
 *   seeds; in 6,000 trials no filter had more than 1.8 times the stated rate;
 * - `scalable`, and `rotating` with `touch` = 0: the relative error is at most 0.15 times the rate (0.15 % at a rate
 *   of 1 %), because a level does not get the keys that earlier levels seem to have;
 * - `age_partitioned`: the relative error is at most 0.03 times the rate.
 *
 * For a kind that forgets, more keys than the window has do not raise the rate any more.
 */
petal_status petal_filter_expected_false_positive_rate(const petal_filter *filter,
                                                       uint64_t keys,
                                                       double *false_positive_rate,
                                                       petal_error *error);

/**
 * The probability of a false negative: that a lookup does not find a key after `age` other keys came. The key itself
 * did not come again meanwhile. The probability is 0 for kinds that neither lose keys (`PETAL_MAY_LOSE_KEYS`) nor
 * forget them (`PETAL_CAN_AGE`).
 *
 * For a window the probability is 0 up to the window's end, and then the average over all places that the key may have
 * in a step. The probability stays 0 if only `petal_filter_advance()` moves time on.
 *
 * A `rotating` filter with `touch` = 0 may lose keys inside its window too: keys that seemed to be in an older
 * generation go with that one. If `petal_filter_advance()` moves time on, the function takes a step to come after as
 * many keys as the capacity.
 *
 * `removed_set` loses keys when others are removed. For such a filter the probability is the share that it has lost by
 * now, whatever the age. Constant time; for `removed_set` linear in the part that knows of removed keys.
 */
petal_status petal_filter_expected_false_negative_rate(const petal_filter *filter,
                                                       uint64_t age,
                                                       double *false_negative_rate,
                                                       petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_MORE_H */
