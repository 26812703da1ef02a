/*
 * petal_sketch.h: sketches of sets, which are subtracted and listed. It is experimental: functions may still change.
 * petal.h has the conventions, which hold for sketches too.
 *
 * The memory of a sketch depends on the number of differences that it can list, and not on the number of inserted
 * keys. Two sides each make a sketch of their own set, with equal specs. Subtracting one sketch from the other leaves
 * the keys that only one set has, and the sketch lists them:
 *
 *     petal_spec spec = PETAL_SPEC_INIT;
 *     spec.capacity = 1000;
 *     petal_sketch *ours = NULL, *theirs = NULL;
 *     if (petal_sketch_new(&spec, &ours, NULL) != PETAL_OK) return 1;
 *     if (petal_sketch_new(&spec, &theirs, NULL) != PETAL_OK) return 1;
 *     petal_sketch_insert_u64(ours, 7);
 *     petal_sketch_subtract(ours, theirs, NULL);
 *     petal_sketch_listed listed[1000];
 *     size_t count = 0;
 *     bool is_complete = false;
 *     petal_sketch_list(ours, listed, 1000, &count, &is_complete, NULL);
 *
 * A sketch holds 64-bit numbers. A uint64_t key is its own number, and the sketch lists the key itself. The number of
 * a byte key is its hash (`petal_spec_hash()`), and the sketch lists the hash. Insert a number only once: a sketch
 * cannot tell that it has the number already, and does not list numbers that are there twice. With
 * `petal_sketch_keep_keys()` the handle keeps the numbers too, and takes each only once.
 *
 * A sketch uses these fields of its spec: kind (0 is `PETAL_KIND_IBLT`), capacity, false_positive_rate, hash function,
 * seed, secret and parameters. The capacity is the number of differences. The false_positive_rate is the probability
 * that the sketch cannot list that many; `pinsketch` always can. Instead of both the spec may give bits (192 for a
 * cell of `iblt`, 256 with value_bits = 64; 192 for a symbol of `riblt`; field_bits for a difference of `pinsketch`)
 * and hashes (`iblt`: 3 to 7, the cells of a number).
 */

#ifndef PETAL_SKETCH_H
#define PETAL_SKETCH_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of sketches. */
/** An invertible Bloom lookup table: lists the differences of two sets, in memory for these differences only. */
#define PETAL_KIND_IBLT 256
/** A rateless invertible Bloom lookup table: lists differences of two sets from a first part of its symbols. */
#define PETAL_KIND_RIBLT 257
/** Sums of powers in a finite field, the bytes of minisketch: lists differences in the least memory. */
#define PETAL_KIND_PINSKETCH 258

/** A sketch of any kind. Free it with `petal_sketch_free()`. */
typedef struct petal_sketch petal_sketch;

/** Makes an empty sketch. Two sides have to agree on the spec only. */
petal_status petal_sketch_new(const petal_spec *spec, petal_sketch **sketch, petal_error *error);

/**
 * Frees a sketch. If you changed an image in place, this function brings the image up to date first. Call
 * `petal_sketch_sync()` before if you want to know whether that works. NULL is allowed.
 */
void petal_sketch_free(petal_sketch *sketch);

/** Inserts the hash of a byte key, as a number. Constant time. */
petal_status petal_sketch_insert(petal_sketch *sketch, const void *key, size_t length);

/**
 * Inserts a number. Returns `PETAL_ERR_OUT_OF_RANGE` if the numbers of the kind have fewer than 64 bits, and the
 * number is too large for the kind.
 */
petal_status petal_sketch_insert_u64(petal_sketch *sketch, uint64_t number);

/**
 * Inserts the hash of a key, which is a number like any other. A kind whose numbers have fewer than 64 bits reduces
 * the hash to such a number.
 */
petal_status petal_sketch_insert_hash(petal_sketch *sketch, uint64_t hash);

/**
 * Inserts keys in order. `answers`, nullable, only tells how many keys the sketch took: the first `done`. A sketch
 * refuses every form of answers.
 */
petal_status petal_sketch_insert_batch(petal_sketch *sketch,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);

/** Removes a byte key. If you remove a number that you did not insert, the sketch lists the number with -1. */
petal_status petal_sketch_remove(petal_sketch *sketch, const void *key, size_t length);

/** Removes a number, as `petal_sketch_remove()` does a byte key. */
petal_status petal_sketch_remove_u64(petal_sketch *sketch, uint64_t number);

/** Removes the hash of a key, as `petal_sketch_remove()` does a byte key. */
petal_status petal_sketch_remove_hash(petal_sketch *sketch, uint64_t hash);

/** Removes keys in order, as `petal_sketch_insert_batch()` inserts them. */
petal_status petal_sketch_remove_batch(petal_sketch *sketch,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);

/**
 * Subtracts another sketch: numbers that both have are gone, and the sketch lists numbers that only the other has with
 * -1. Returns `PETAL_ERR_INCOMPATIBLE`, naming the first difference, unless both have the same kind, size, hash
 * function and seed or secret.
 */
petal_status petal_sketch_subtract(petal_sketch *sketch, const petal_sketch *other, petal_error *error);

/**
 * Adds all that another sketch has. If the two sets have nothing in common, the result is the sketch of both. Refuses
 * what `petal_sketch_subtract()` refuses.
 */
petal_status petal_sketch_merge(petal_sketch *sketch, const petal_sketch *other, petal_error *error);

/** A number that a sketch lists. */
typedef struct petal_sketch_listed {
  /** The number: a uint64_t key, or the hash of a byte key. */
  uint64_t number;
  /**
   * 1 for a number that was inserted; -1 for a number that was removed, or that only the subtracted sketch had.
   * A kind whose sketches have no signs lists 1 for every number.
   */
  int64_t sign;
} petal_sketch_listed;

/**
 * Lists the numbers of a sketch: first those with -1, then those with 1, each in ascending order. `count` becomes the
 * number of all listed numbers. The function writes the first `room` of these to `listed`, which may be NULL if `room`
 * is 0. `is_complete` becomes false if there are more differences than the sketch can tell apart: then the list is
 * right, but some numbers are missing. A `pinsketch` lists all numbers or none. Without the secret key of the sketch
 * the function returns `PETAL_ERR_SECRET_MISSING`. A sketch lists at most one number for each of its cells: one for
 * each 192 of the `bits` of `petal_sketch_describe()`, unless the kind's page says otherwise. The size of the sketch
 * also bounds the time of the function, whatever bytes an image holds.
 */
petal_status petal_sketch_list(const petal_sketch *sketch,
                               petal_sketch_listed *listed,
                               size_t room,
                               size_t *count,
                               bool *is_complete,
                               petal_error *error);

/** Forgets all numbers. */
petal_status petal_sketch_clear(petal_sketch *sketch, petal_error *error);

/**
 * Returns what this sketch can do now: `PETAL_CAN_*`, ORed. A sketch that is open for reading can do less than its
 * kind. 0 for NULL.
 */
uint64_t petal_sketch_capabilities(const petal_sketch *sketch);

/**
 * Writes the probability that the sketch cannot list `numbers` numbers. The calculated probability errs on the high
 * side.
 */
petal_status petal_sketch_expected_failure_rate(const petal_sketch *sketch,
                                                uint64_t numbers,
                                                double *rate,
                                                petal_error *error);

/**
 * Writes `PETAL_COMPATIBILITY_ID_SIZE` bytes that are the same for two sketches if one can be subtracted from the
 * other.
 */
petal_status petal_sketch_get_compatibility_id(const petal_sketch *sketch, uint8_t *id, petal_error *error);


/*
 * SKETCHES: IMAGES AND FILES
 *
 * The image of a sketch has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.
 */

/** Opens a file that is an image. `options` is nullable. */
petal_status petal_sketch_open(const char *path,
                               const petal_open_options *options,
                               petal_sketch **sketch,
                               petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
 * is nullable.
 */
petal_status petal_sketch_open_descriptor(intptr_t descriptor,
                                          uint64_t offset,
                                          const petal_open_options *options,
                                          petal_sketch **sketch,
                                          petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
 * handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
 */
petal_status petal_sketch_open_in_buffer(void *buffer,
                                         size_t length,
                                         const petal_open_options *options,
                                         petal_sketch **sketch,
                                         petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
 * ignores the mode in `options`, which is nullable.
 */
petal_status petal_sketch_load(const void *image,
                               size_t length,
                               const petal_open_options *options,
                               petal_sketch **sketch,
                               petal_error *error);

/** Copies a sketch into new memory, wherever the sketch lives. */
petal_status petal_sketch_copy(const petal_sketch *sketch, petal_sketch **copy, petal_error *error);

/** The size of the image in bytes. */
petal_status petal_sketch_serialized_size(const petal_sketch *sketch, uint64_t *size, petal_error *error);

/** Writes the image into a buffer of at least `petal_sketch_serialized_size()` bytes. `written` is nullable. */
petal_status petal_sketch_serialize(const petal_sketch *sketch,
                                    void *buffer,
                                    size_t length,
                                    size_t *written,
                                    petal_error *error);

/**
 * Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
 * `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_sketch_serialize_to(const petal_sketch *sketch,
                                       petal_write_callback write,
                                       void *context,
                                       petal_error *error);

/** Writes the image to a file, atomically, as `petal_filter_save()` does. */
petal_status petal_sketch_save(const petal_sketch *sketch, const char *path, petal_error *error);

/**
 * Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
 * their checksums, or if no sketch can have such a payload.
 */
petal_status petal_sketch_verify(const petal_sketch *sketch, petal_error *error);

/**
 * Describes a sketch by its header, in constant time. `hashes` is the number of cells of a number, `bits` the number
 * of bits of all cells, and `insertions` the number of insertions less that of removals.
 */
petal_status petal_sketch_describe(const petal_sketch *sketch, petal_description *description, petal_error *error);

/** Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. */
petal_status petal_sketch_sync(petal_sketch *sketch, petal_error *error);

/** Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does. */
petal_status petal_sketch_mark_clean(petal_sketch *sketch, petal_error *error);


/*
 * SKETCHES: KEPT KEYS
 *
 * A sketch cannot tell which keys it has. A handle can keep the keys too, in memory. Inserting a key twice is then
 * harmless, and `petal_stream_write()` can make as many coded symbols as are asked for.
 */

/**
 * From now on this handle keeps the set of keys in memory: some 25 to 45 bytes for a number. The sketch has to be
 * empty; otherwise the function returns `PETAL_ERR_CONTRADICTION`. Inserting a key that is there, and removing a key
 * that is not there, then succeed and change nothing.
 *
 * An image has no kept keys, so a sketch that you open or load keeps none. `petal_sketch_copy()` copies them.
 * `petal_sketch_clear()` forgets them, and the handle goes on keeping. After `petal_sketch_merge()`,
 * `petal_sketch_subtract()` and `petal_sketch_import_minisketch()` the sketch is not that of a known set any more, and
 * its handle keeps no keys.
 */
petal_status petal_sketch_keep_keys(petal_sketch *sketch, petal_error *error);

/** Returns whether this handle keeps the keys. False for NULL. */
bool petal_sketch_keeps_keys(const petal_sketch *sketch);

/** Returns how many coded symbols the sketch has. 0 if its kind has none, and for NULL. */
uint64_t petal_sketch_symbol_count(const petal_sketch *sketch);


/*
 * SKETCHES: BYTES OF MINISKETCH
 *
 * A sketch of the kind `pinsketch` has the bytes of the library minisketch. The bytes say neither the bits of an
 * element nor the capacity, so both sides have to know them: `field_bits` and `capacity` of the spec. A sketch of
 * minisketch that takes `length` bytes has the capacity 8 * length / field_bits, rounded down.
 *
 * A sketch of Petal has a checksum of its set too, so that a list of too many differences is not called complete. The
 * bytes of minisketch have none, and neither has a sketch that such bytes went into: a list may then be wrong and
 * called complete. For numbers in a row, such as consecutive ids, that is usual. The page of `pinsketch` says when.
 */

/**
 * Writes the bytes that minisketch serializes for a sketch of the same elements. `written` becomes the number of
 * these bytes. `buffer` may be NULL if `length` is 0: the function then only counts them. Returns
 * `PETAL_ERR_BUFFER_TOO_SMALL` if `length` is another number less than that, and `PETAL_ERR_UNSUPPORTED` for a kind
 * that minisketch does not have.
 */
petal_status petal_sketch_export_minisketch(const petal_sketch *sketch,
                                            void *buffer,
                                            size_t length,
                                            size_t *written,
                                            petal_error *error);

/**
 * Takes the elements of a serialized sketch of minisketch instead of the numbers that are there. The sketch has to
 * have the same capacity and bits of an element as the sketch of minisketch. `insertions` of `petal_sketch_describe()`
 * is 0 afterwards, and the sketch has no checksum. Returns `PETAL_ERR_FOREIGN` if the bytes have another length or a
 * bit set after the last sum, and changes nothing then.
 */
petal_status petal_sketch_import_minisketch(petal_sketch *sketch, const void *bytes, size_t length, petal_error *error);


/*
 * SKETCHES: STREAMS OF CODED SYMBOLS
 *
 * A sketch of the kind `riblt` has the first coded symbols of its set. A stream has as many symbols as the differences
 * need. One side writes the symbols of its set. The other side reads them as they come, subtracts its own, and says
 * when it has found all differences. Neither side has to know the number of differences beforehand.
 *
 * Symbols after those of the sketch are computed from the keys that the handle keeps (`petal_sketch_keep_keys()`), in
 * one pass over the keys whenever the number of symbols doubles.
 *
 * A stream may come from somebody hostile. Reading takes at most some 200 bytes of memory (550 with whole keys of 64
 * bytes) and 128 steps for each symbol, and `petal_stream_set_limit()` bounds the number of symbols. If nobody else
 * knows the key of the hash function (`PETAL_HASH_SIPHASH13`), nobody can make symbols that show false differences.
 * `docs/format.md` has the format.
 */

/**
 * A stream from a sketch and to it. Free it with `petal_stream_free()`. A stream uses its sketch in every call, so the
 * sketch must outlive it, and must not change meanwhile. Once the sketch has changed, writing and reading return
 * `PETAL_ERR_CONTRADICTION`.
 */
typedef struct petal_stream petal_stream;

/**
 * Makes a stream that has written and read nothing. Returns `PETAL_ERR_UNSUPPORTED` if the kind of the sketch has no
 * coded symbols.
 */
petal_status petal_stream_new(const petal_sketch *sketch, petal_stream **stream, petal_error *error);

/** Frees a stream. NULL is allowed. */
void petal_stream_free(petal_stream *stream);

/**
 * Sets the most symbols that the stream reads; 2^20 if you do not set it. That is enough for some 770,000 differences.
 * `petal_stream_read()` returns `PETAL_ERR_TOO_LARGE` for a symbol past the limit.
 */
petal_status petal_stream_set_limit(petal_stream *stream, uint64_t symbols, petal_error *error);

/**
 * Writes the next coded symbols of the sketch: at most `symbols`, and only whole ones that `buffer` has room for.
 * `written` becomes the number of bytes. A header of 16 bytes comes before the first symbol. A symbol takes
 * `key_bytes` (8 for numbers) and 9 to 18 bytes, and most often `key_bytes` and 9 or 10; 98 bytes are enough for a
 * header and a symbol.
 *
 * Returns `PETAL_ERR_BUFFER_TOO_SMALL` if there is no room for one symbol, and `PETAL_ERR_UNSUPPORTED` if the next
 * symbol needs the keys and the sketch does not keep them. The stream then stays as it was.
 */
petal_status petal_stream_write(petal_stream *stream,
                                uint64_t symbols,
                                void *buffer,
                                size_t length,
                                size_t *written,
                                petal_error *error);

/**
 * Reads the next bytes of the other side's stream, however many: the pieces may end anywhere. `is_complete` becomes
 * true if the symbols up to here show all differences. You may go on reading after that.
 *
 * Returns `PETAL_ERR_FOREIGN` or `PETAL_ERR_INCOMPATIBLE`, naming the first difference, if the stream is not for this
 * sketch, `PETAL_ERR_CORRUPT` for symbols that no set has, `PETAL_ERR_TOO_LARGE` past the limit, and
 * `PETAL_ERR_UNSUPPORTED` if the next symbol needs our keys and the sketch does not keep them. After an error the
 * stream reads no more, and keeps what it has found.
 */
petal_status petal_stream_read(petal_stream *stream,
                               const void *bytes,
                               size_t length,
                               bool *is_complete,
                               petal_error *error);

/**
 * Lists the differences that are found so far, as `petal_sketch_list()` does after a subtraction: with 1 those that
 * only the sketch has, with -1 those that only the other side has. `is_complete` becomes true if these are all.
 */
petal_status petal_stream_list(const petal_stream *stream,
                               petal_sketch_listed *listed,
                               size_t room,
                               size_t *count,
                               bool *is_complete,
                               petal_error *error);

/** Lists the differences that are found so far, as `petal_sketch_list_keys()` does after a subtraction. */
petal_status petal_stream_list_keys(const petal_stream *stream,
                                    void *keys,
                                    int64_t *signs,
                                    size_t room,
                                    size_t *count,
                                    bool *is_complete,
                                    petal_error *error);

/** Returns how many symbols were written. 0 for NULL. */
uint64_t petal_stream_symbols_written(const petal_stream *stream);

/** Returns how many symbols were read. 0 for NULL. */
uint64_t petal_stream_symbols_read(const petal_stream *stream);


/*
 * SKETCHES: WHOLE KEYS
 *
 * With the parameter `key_bytes` (8 to 64) a sketch of the kind `riblt` holds whole keys of that many bytes instead of
 * numbers, and lists the keys themselves. It refuses byte keys of another length with `PETAL_ERR_OUT_OF_RANGE`, and
 * hashes with `PETAL_ERR_UNSUPPORTED`. It takes numbers if `key_bytes` is 8. The key of a number is then its eight
 * little-endian bytes.
 */

/** Returns how many bytes a key has, if the sketch holds whole keys. 0 if it holds numbers, and for NULL. */
size_t petal_sketch_key_bytes(const petal_sketch *sketch);

/**
 * Lists the whole keys of a sketch: first those with -1, then those with 1, each in ascending order of their bytes.
 * `count` becomes the number of all listed keys. The function writes the first `room` of these to `keys`, `key_bytes`
 * bytes each, and their signs to `signs`; `keys` and `signs` may be NULL if `room` is 0. In all else this is as
 * `petal_sketch_list()`. A sketch lists at most one key for each of its symbols. Returns `PETAL_ERR_UNSUPPORTED` for a
 * sketch of numbers.
 */
petal_status petal_sketch_list_keys(const petal_sketch *sketch,
                                    void *keys,
                                    int64_t *signs,
                                    size_t room,
                                    size_t *count,
                                    bool *is_complete,
                                    petal_error *error);


/*
 * SKETCHES: SINGLE NUMBERS AND VALUES
 *
 * A sketch of the kind `iblt` can be asked for single numbers, as long as it has few of them: `petal_sketch_get()`.
 * Sketches of other kinds refuse that with `PETAL_ERR_UNSUPPORTED`.
 *
 * With the parameter value_bits = 64 each number of an `iblt` sketch has a 64-bit value. Then the difference of two
 * sketches has the numbers that only one side has, and those whose values differ: the sketch lists such a number
 * twice, with -1 and the value of the subtracted sketch, and with 1 and the value of the other. For the capacity these
 * count twice. Remove a number with the value that you inserted it with. Functions without values work in such a
 * sketch as well: there a number has the value 0.
 */

/** What a sketch says of a number: one of `PETAL_SKETCH_PRESENCE_*`. */
typedef uint32_t petal_sketch_presence;

/** The number is not there. */
#define PETAL_SKETCH_PRESENCE_ABSENT 0
/** The number is there. */
#define PETAL_SKETCH_PRESENCE_PRESENT 1
/** The sketch cannot say: each cell of the number has other numbers too. `petal_sketch_list()` may know. */
#define PETAL_SKETCH_PRESENCE_UNKNOWN 2

/** A number with its value. */
typedef struct petal_sketch_pair {
  /** The number: a uint64_t key, or the hash of a byte key. */
  uint64_t number;
  /** The value; 0 in a sketch without values. */
  uint64_t value;
  /** 1 for a number that was inserted; -1 for a number that was removed, or that only the subtracted sketch had. */
  int64_t sign;
} petal_sketch_pair;

/**
 * Asks a sketch for a byte key: for its hash. `presence` becomes one of `PETAL_SKETCH_PRESENCE_*`. `pair`, nullable,
 * becomes the number with its sign and value, which are 0 unless the number is there. The answer is right if each
 * number was inserted only once.
 *
 * A sketch of n numbers in m cells, with k cells for each number, knows of a number that is there with the probability
 * 1 - (1 - e^(-kn/m))^k, and of a number that is not there more often. With values only one cell of a number can be
 * asked, and this probability is e^(-kn/m). A number with two values is unknown. Constant time.
 */
petal_status petal_sketch_get(const petal_sketch *sketch,
                              const void *key,
                              size_t length,
                              petal_sketch_presence *presence,
                              petal_sketch_pair *pair,
                              petal_error *error);

/** Asks a sketch for a number, as `petal_sketch_get()` does for a byte key. */
petal_status petal_sketch_get_u64(const petal_sketch *sketch,
                                  uint64_t number,
                                  petal_sketch_presence *presence,
                                  petal_sketch_pair *pair,
                                  petal_error *error);

/** Asks a sketch for the hash of a key, as `petal_sketch_get()` does for a byte key. */
petal_status petal_sketch_get_hash(const petal_sketch *sketch,
                                   uint64_t hash,
                                   petal_sketch_presence *presence,
                                   petal_sketch_pair *pair,
                                   petal_error *error);

/** Writes the bits of a value: 64, or 0 if the numbers of the sketch have no values. */
petal_status petal_sketch_value_bits(const petal_sketch *sketch, uint32_t *bits, petal_error *error);

/**
 * Inserts a byte key with its value. Insert a key only once, with one value. Returns `PETAL_ERR_UNSUPPORTED` if the
 * sketch has no values. Constant time.
 */
petal_status petal_sketch_insert_value(petal_sketch *sketch,
                                       const void *key,
                                       size_t length,
                                       uint64_t value,
                                       petal_error *error);

/** Inserts a number with its value, as `petal_sketch_insert_value()` does a byte key. */
petal_status petal_sketch_insert_value_u64(petal_sketch *sketch, uint64_t number, uint64_t value, petal_error *error);

/** Inserts the hash of a key with its value, as `petal_sketch_insert_value()` does a byte key. */
petal_status petal_sketch_insert_value_hash(petal_sketch *sketch, uint64_t hash, uint64_t value, petal_error *error);

/**
 * Inserts keys with their values in order. `values` has one value a key, and may be NULL if there are no keys.
 * `answers`, nullable, only tells how many keys the sketch took: the first `done`. A sketch refuses every form of
 * answers.
 */
petal_status petal_sketch_insert_value_batch(petal_sketch *sketch,
                                             const petal_keys *keys,
                                             const uint64_t *values,
                                             petal_answers *answers,
                                             petal_error *error);

/**
 * Removes a byte key with the value that it was inserted with. If you remove a pair of key and value that you did not
 * insert, the sketch lists the pair with -1.
 */
petal_status petal_sketch_remove_value(petal_sketch *sketch,
                                       const void *key,
                                       size_t length,
                                       uint64_t value,
                                       petal_error *error);

/** Removes a number with its value, as `petal_sketch_remove_value()` does a byte key. */
petal_status petal_sketch_remove_value_u64(petal_sketch *sketch, uint64_t number, uint64_t value, petal_error *error);

/** Removes the hash of a key with its value, as `petal_sketch_remove_value()` does a byte key. */
petal_status petal_sketch_remove_value_hash(petal_sketch *sketch, uint64_t hash, uint64_t value, petal_error *error);

/** Removes keys with their values in order, as `petal_sketch_insert_value_batch()` inserts them. */
petal_status petal_sketch_remove_value_batch(petal_sketch *sketch,
                                             const petal_keys *keys,
                                             const uint64_t *values,
                                             petal_answers *answers,
                                             petal_error *error);

/**
 * Lists the numbers of a sketch with their values, as `petal_sketch_list()` lists them without. The order is by sign,
 * then by number, then by value. `count` becomes the number of all listed pairs. The function writes the first `room`
 * of these to `pairs`, which may be NULL if `room` is 0. A sketch lists at most one pair for each of its cells: one
 * for each 256 of the `bits` of `petal_sketch_describe()`. Returns `PETAL_ERR_UNSUPPORTED` if the sketch has no
 * values.
 */
petal_status petal_sketch_list_values(const petal_sketch *sketch,
                                      petal_sketch_pair *pairs,
                                      size_t room,
                                      size_t *count,
                                      bool *is_complete,
                                      petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_SKETCH_H */
