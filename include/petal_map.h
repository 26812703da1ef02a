/*
 * petal_map.h: maps from keys to values. petal.h has the conventions, which hold for maps too.
 *
 * A map keeps values and no keys. A builder makes most kinds once, from all of their keys, and such a map gives the
 * exact value of each key. One kind (`approximator`) starts empty, and gives the value of a key or a bound on it. A
 * map says of other keys that they are absent, except for a share that you choose: those keys get a meaningless value.
 * The kind `retrieval` cannot recognise absent keys, and gives each of them a value.
 */

#ifndef PETAL_MAP_H
#define PETAL_MAP_H

#include <petal.h>
#include <petal_more.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of maps. */
/** A map built once: the exact value of each key, and no value for other keys. */
#define PETAL_KIND_BLOOMIER 7
/** The smallest map, built once: the exact value of each key, and an arbitrary value for other keys. */
#define PETAL_KIND_RETRIEVAL 15
/** A map that starts empty: a key's value or a bound on it, by max, min or union of bits; merges. */
#define PETAL_KIND_APPROXIMATOR 16
/** A map built once, whose values can be replaced in place. */
#define PETAL_KIND_MUTABLE_BLOOMIER 21

/** A map of any kind. Free it with `petal_map_free()`. */
typedef struct petal_map petal_map;

/**
 * Frees a map. If you changed an image in place, this function brings the image up to date first. Call
 * `petal_map_sync()` before if you want to know whether that works. NULL is allowed.
 */
void petal_map_free(petal_map *map);

/**
 * Looks a key up. `found` becomes true if the key is there. `value`, nullable, becomes the key's value, or 0 if the
 * key is not there. In an `approximator` a key counts as absent if its value is the least element of the lattice. This
 * element is 0 for "max" and "union", and the greatest number for "min". Constant time.
 */
petal_status petal_map_get(const petal_map *map, const void *key, size_t length, uint64_t *value, bool *found);

/** Looks a uint64_t key up, as `petal_map_get()` does a byte key. */
petal_status petal_map_get_u64(const petal_map *map, uint64_t key, uint64_t *value, bool *found);

/**
 * Looks up the key with this 64-bit hash, which you made, as `petal_map_get()` does a byte key. Returns
 * `PETAL_ERR_UNSUPPORTED` unless the map's hash function is `PETAL_HASH_EXTERNAL`: other maps know their keys by 128
 * bits.
 */
petal_status petal_map_get_hash(const petal_map *map, uint64_t hash, uint64_t *value, bool *found);

/**
 * Looks keys up. `values` of the answers become the values of the keys, with 0 for a key that is not there. `bytes`
 * and `bitmap` say which keys are there. On a failure every answer is false and every value 0.
 */
petal_status petal_map_get_batch(const petal_map *map,
                                 const petal_keys *keys,
                                 petal_answers *answers,
                                 petal_error *error);

/**
 * Measures a map. `fill` is the share of the cells that keys have taken. `false_positive_rate` is the share of absent
 * keys that get a value. `count_estimate` is the number of distinct keys: exact if a builder made the map, otherwise
 * an estimate from the fill, and NaN if the map is too full to tell.
 */
petal_status petal_map_get_statistics(const petal_map *map, petal_statistics *statistics, petal_error *error);


/*
 * MAPS: BUILDING
 *
 * A map builder collects keys with their values, 24 bytes a key, and then makes the map for exactly the distinct keys
 * that came. For a kind that starts empty, the builder joins the values of a key. A map builder takes the options of a
 * filter builder. It uses these fields of its spec: kind (0 is `PETAL_KIND_BLOOMIER`), false_positive_rate, hash
 * function, seed, secret and parameters.
 */

/** Collects keys with their values. Free it with `petal_map_builder_free()`. */
typedef struct petal_map_builder petal_map_builder;

/** Makes a builder of the map that a spec describes. `options` is nullable. */
petal_status petal_map_builder_new(const petal_spec *spec,
                                   const petal_builder_options *options,
                                   petal_map_builder **builder,
                                   petal_error *error);

/** Frees a map builder. NULL is allowed. */
void petal_map_builder_free(petal_map_builder *builder);

/**
 * Gives a key a value. The same value again changes nothing. Some kinds join different values of a key. For all other
 * kinds, making the map fails if a key has two values. Returns `PETAL_ERR_OUT_OF_RANGE` for a value that the parameter
 * value_bits cannot hold.
 */
petal_status petal_map_builder_put(petal_map_builder *builder, const void *key, size_t length, uint64_t value);

/** Gives a uint64_t key a value, as `petal_map_builder_put()` does a byte key. */
petal_status petal_map_builder_put_u64(petal_map_builder *builder, uint64_t key, uint64_t value);

/**
 * Gives a value to the key with this 64-bit hash, which you made. Two keys with one hash are one key. Returns
 * `PETAL_ERR_UNSUPPORTED` unless the spec has `PETAL_HASH_EXTERNAL`.
 */
petal_status petal_map_builder_put_hash(petal_map_builder *builder, uint64_t hash, uint64_t value);

/**
 * Gives keys their values in order. `values` has one value a key, and may be NULL if there are no keys. `answers`,
 * nullable, only tells how many keys the builder took: the first `done`. A builder refuses every form of answers.
 */
petal_status petal_map_builder_put_batch(petal_map_builder *builder,
                                         const petal_keys *keys,
                                         const uint64_t *values,
                                         petal_answers *answers,
                                         petal_error *error);

/** How many keys were inserted, duplicates included. */
petal_status petal_map_builder_key_count(const petal_map_builder *builder, uint64_t *insertions, petal_error *error);

/**
 * Makes the map and empties the builder. You may then use the builder again, or free it. Returns
 * `PETAL_ERR_CONTRADICTION`, naming the values, if a key has two. On a failure, and when the progress callback cancels
 * (`PETAL_ERR_CANCELLED`), the keys stay in the builder.
 */
petal_status petal_map_builder_finish(petal_map_builder *builder, petal_map **map, petal_error *error);

/**
 * Makes the map straight into a file, which replaces an old file atomically, and empties the builder. On a failure the
 * old file and the keys stay.
 */
petal_status petal_map_builder_save(petal_map_builder *builder, const char *path, petal_error *error);

/**
 * Gives the builder's keys and values to `write`, as `petal_builder_serialize_to()` (petal_more.h) gives keys. Returns
 * `PETAL_ERR_CONTRADICTION` as `petal_map_builder_finish()` does.
 */
petal_status petal_map_builder_serialize_to(petal_map_builder *builder,
                                            petal_write_callback write,
                                            void *context,
                                            petal_error *error);

/**
 * Takes in the keys and values of another builder, as `petal_map_builder_serialize_to()` gave them, and otherwise does
 * what `petal_builder_merge()` (petal_more.h) does.
 */
petal_status petal_map_builder_merge(petal_map_builder *builder, const void *state, size_t length, petal_error *error);


/*
 * MAPS: CHANGING
 *
 * Two kinds of map can change. An `approximator` starts empty, and takes keys with their values at any time. A lookup
 * then gives the joined value of the key, or a value above it in the order of the lattice. A `mutable_bloomier`, which
 * a builder makes, replaces the values of its keys. Other kinds answer `PETAL_ERR_UNSUPPORTED`. A change needs the
 * handle to itself. Readers of the same image in other handles and processes go on meanwhile, without locks, and see
 * either the old value or the new one.
 */

/**
 * Makes an empty map. The spec must name a kind that starts empty: `PETAL_KIND_APPROXIMATOR`. Returns
 * `PETAL_ERR_UNSUPPORTED` for a kind that needs `petal_map_builder_new()`.
 */
petal_status petal_map_new(const petal_spec *spec, petal_map **map, petal_error *error);

/**
 * Gives a key one more value: the map joins all values of the key as its parameter lattice says. `changed`, nullable,
 * becomes true if the call changed the value that a lookup of the key gives. Returns `PETAL_ERR_OUT_OF_RANGE` for a
 * value that the parameter value_bits cannot hold. Returns `PETAL_ERR_FULL`, with nothing changed, if the map has no
 * place for the key. Constant time.
 */
petal_status petal_map_put(petal_map *map, const void *key, size_t length, uint64_t value, bool *changed);

/** Gives a uint64_t key a value, as `petal_map_put()` does a byte key. */
petal_status petal_map_put_u64(petal_map *map, uint64_t key, uint64_t value, bool *changed);

/**
 * Gives a value to the key with this 64-bit hash, which you made, as `petal_map_put()` does to a byte key. Returns
 * `PETAL_ERR_UNSUPPORTED` unless the map's hash function is `PETAL_HASH_EXTERNAL`.
 */
petal_status petal_map_put_hash(petal_map *map, uint64_t hash, uint64_t value, bool *changed);

/**
 * Gives keys values in order, as `petal_map_put()` does. `values` has one value a key, and may be NULL if there are no
 * keys. Each of the `answers`, nullable, is true if the value changed that a lookup of the key gives. On a failure the
 * map has taken the first `done` keys.
 */
petal_status petal_map_put_batch(petal_map *map,
                                 const petal_keys *keys,
                                 const uint64_t *values,
                                 petal_answers *answers,
                                 petal_error *error);

/**
 * Replaces the value of a key that is there. `found`, nullable, becomes false if the key certainly is not there;
 * nothing has changed then. True does not prove that the key is there: with the probability of a false positive the
 * call replaced another key's value. Returns `PETAL_ERR_OUT_OF_RANGE` for a value that has more bits than the map's
 * values. Constant time.
 */
petal_status petal_map_replace(petal_map *map, const void *key, size_t length, uint64_t value, bool *found);

/**
 * Replaces the value of the key with this 64-bit hash, which you made, as `petal_map_replace()` does for a byte key.
 * Returns `PETAL_ERR_UNSUPPORTED` unless the map's hash function is `PETAL_HASH_EXTERNAL`.
 */
petal_status petal_map_replace_hash(petal_map *map, uint64_t hash, uint64_t value, bool *found);

/**
 * Replaces the values of keys that are there, in order, as `petal_map_replace()` does. `values` has one value a key,
 * and may be NULL if there are no keys. Each of the `answers`, nullable, is false if the key certainly is not there,
 * which is no failure. On a failure the map has taken the first `done` keys.
 */
petal_status petal_map_replace_batch(petal_map *map,
                                     const petal_keys *keys,
                                     const uint64_t *values,
                                     petal_answers *answers,
                                     petal_error *error);

/**
 * Puts into `map` all that was put into `other`, for kinds with `PETAL_CAN_MERGE`. Both maps must come from one spec:
 * the message of `PETAL_ERR_INCOMPATIBLE` names the first difference.
 */
petal_status petal_map_merge(petal_map *map, const petal_map *other, petal_error *error);

/** Forgets all keys of a map whose kind starts empty. */
petal_status petal_map_clear(petal_map *map, petal_error *error);

/**
 * Returns what this map can do now: `PETAL_CAN_*`, ORed. A map that is open for reading can do less than its kind. 0
 * for NULL.
 */
uint64_t petal_map_capabilities(const petal_map *map);


/*
 * MAPS: IMAGES AND FILES
 *
 * The image of a map has the same parts as that of a filter. A map opens for reading (`PETAL_OPEN_READ`) or as a copy
 * (`PETAL_OPEN_LOAD`). If its kind can change (MAPS: CHANGING), it also opens for one writer (`PETAL_OPEN_WRITE`). The
 * functions refuse other modes with `PETAL_ERR_UNSUPPORTED`; no map opens with `PETAL_OPEN_SHARE`. The image of a
 * filter does not open as a map, nor the other way round: the message of `PETAL_ERR_UNSUPPORTED` says what the image
 * is.
 */

/** Opens a file that is an image. `options` is nullable. */
petal_status petal_map_open(const char *path, const petal_open_options *options, petal_map **map, petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
 * is nullable.
 */
petal_status petal_map_open_descriptor(intptr_t descriptor,
                                       uint64_t offset,
                                       const petal_open_options *options,
                                       petal_map **map,
                                       petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
 * handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
 */
petal_status petal_map_open_in_buffer(void *buffer,
                                      size_t length,
                                      const petal_open_options *options,
                                      petal_map **map,
                                      petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
 * ignores the mode in `options`, which is nullable.
 */
petal_status petal_map_load(const void *image,
                            size_t length,
                            const petal_open_options *options,
                            petal_map **map,
                            petal_error *error);

/** Copies a map into new memory, wherever the map lives. */
petal_status petal_map_copy(const petal_map *map, petal_map **copy, petal_error *error);

/** The size of the image in bytes. */
petal_status petal_map_serialized_size(const petal_map *map, uint64_t *size, petal_error *error);

/** Writes the image into a buffer of at least `petal_map_serialized_size()` bytes. `written` is nullable. */
petal_status petal_map_serialize(const petal_map *map,
                                 void *buffer,
                                 size_t length,
                                 size_t *written,
                                 petal_error *error);

/**
 * Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
 * `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_map_serialize_to(const petal_map *map,
                                    petal_write_callback write,
                                    void *context,
                                    petal_error *error);

/** Writes the image to a file, atomically, as `petal_filter_save()` does. */
petal_status petal_map_save(const petal_map *map, const char *path, petal_error *error);

/**
 * Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
 * their checksums, or if no map can have such a payload.
 */
petal_status petal_map_verify(const petal_map *map, petal_error *error);

/**
 * Describes a map by its header, in constant time. `hashes` is the number of cells of a key, and `bits` is the number
 * of bits of all cells.
 */
petal_status petal_map_describe(const petal_map *map, petal_description *description, petal_error *error);

/** Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. */
petal_status petal_map_sync(petal_map *map, petal_error *error);

/** Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does. */
petal_status petal_map_mark_clean(petal_map *map, petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_MAP_H */
