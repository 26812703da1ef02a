/*
 * petal_policy.h: filter policies of sorted tables. petal.h has the conventions.
 *
 * LevelDB keeps a filter of the keys of every data block of a table. These functions make such filters and look keys
 * up in them:
 *
 *     void *policy;
 *     if (petal_policy_new(PETAL_POLICY_LEVELDB, 10, &policy, &error)) return 1;
 *     const char *keys[] = {"apple", "pear"};
 *     size_t lengths[] = {5, 4}, length;
 *     char *filter = petal_policy_create_filter(policy, keys, lengths, 2, &length);
 *     bool found = petal_policy_key_may_match(policy, "pear", 4, filter, length);
 *     free(filter);
 *     petal_policy_free(policy);
 *
 * The functions have the signatures of `leveldb/c.h`. So a program can hand them to `leveldb_filterpolicy_create()` as
 * they are: policy, `petal_policy_free`, `petal_policy_create_filter`, `petal_policy_key_may_match`,
 * `petal_policy_name`. The library `libpetal_leveldb` (`integrations/leveldb`) does that in one call. Any number of
 * threads may use one policy.
 */

#ifndef PETAL_POLICY_H
#define PETAL_POLICY_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The form of a policy's filters: one of `PETAL_POLICY_*`. */
typedef uint32_t petal_policy_form;

/**
 * LevelDB's own filters, "leveldb.BuiltinBloomFilter2", bit for bit. Databases keep the filters that they have, and
 * LevelDB's own policy reads the filters of this one.
 */
#define PETAL_POLICY_LEVELDB 1
/**
 * Filters of the kind `blocked` in its compact form, "petal.BlockedBloomFilter", which are faster to make and to look
 * up. These filters are whole cache lines of 512 bits. So the small filters of data blocks have more bits and match
 * fewer absent keys. docs/format.md specifies the bytes.
 */
#define PETAL_POLICY_BLOCKED 2

/**
 * Makes a policy of `form` whose filters have `bits_per_key` bits for each key; 10 give about one false positive in a
 * hundred. Free the policy with `petal_policy_free()`, or give it to `leveldb_filterpolicy_create()`, which frees the
 * policy in the end.
 */
petal_status petal_policy_new(petal_policy_form form, uint32_t bits_per_key, void **policy, petal_error *error);

/** Frees a policy; NULL is allowed. */
void petal_policy_free(void *policy);

/**
 * The name that tables keep with the filters of a policy; LevelDB ignores filters with another name. The string is
 * static. Returns an empty string for NULL.
 */
const char *petal_policy_name(void *policy);

/**
 * Makes the filter of `count` keys. Key i is the `lengths[i]` bytes at `keys[i]`; a key may come more than once.
 * Returns the filter's bytes and writes their number to `filter_length`. Free the bytes with `free()`.
 *
 * On a failure, for want of memory or because a pointer is NULL, the function returns a filter of two bytes that every
 * key matches, so that no key is lost. It returns NULL, with a length of 0, if there is no memory for two bytes, or if
 * `filter_length` is NULL: a table must not keep that as a filter, because LevelDB finds no key in one of 0 bytes.
 */
char *petal_policy_create_filter(void *policy,
                                 const char *const *keys,
                                 const size_t *lengths,
                                 int count,
                                 size_t *filter_length);

/**
 * Returns 1 if the key may be among the filter's keys, and 0 if the key certainly is not. Returns 1 for bytes that are
 * no filter of the policy, and if a pointer is NULL. A `PETAL_POLICY_LEVELDB` filter of 0 or 1 bytes has no keys, as
 * in LevelDB: 0.
 */
uint8_t petal_policy_key_may_match(void *policy,
                                   const char *key,
                                   size_t length,
                                   const char *filter,
                                   size_t filter_length);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_POLICY_H */
