/*
 * petal_formats.h: other forms of a filter: the bytes of other systems' filters, and compact forms inside another
 * system's file. petal.h has the conventions.
 */

#ifndef PETAL_FORMATS_H
#define PETAL_FORMATS_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of filters that other systems' bytes become. */
/** A classic Bloom filter placed as another system places it, for exchanging its bytes. */
#define PETAL_KIND_FOREIGN_BLOOM 8
/** The Bloom filter of RocksDB's tables, for exchanging its bytes: one cache line a key. */
#define PETAL_KIND_ROCKSDB_BLOOM 9
/** A filter that another system made of all of its keys, for looking keys up. */
#define PETAL_KIND_FOREIGN_STATIC 10
/** A chain of Bloom filters that another system places, for exchanging its bytes: grows with its keys. */
#define PETAL_KIND_FOREIGN_SCALABLE 11
/** RedisBloom's cuckoo filter, for exchanging its bytes: removes keys, and adds tables when it is full. */
#define PETAL_KIND_FOREIGN_CUCKOO 12
/** A Golomb-coded set as BIP 158 writes it: looked up from its beginning, many keys in one pass. */
#define PETAL_KIND_GOLOMB_STREAM 20


/*
 * OTHER SYSTEMS' BYTES
 *
 * These functions read filters that other systems wrote. An imported filter can do all that a filter of its kind can,
 * and goes back to the same bytes:
 *
 *     uint8_t bytes[14] = {1, 5, 0, 0, 0, 1};  // what Guava wrote: an empty filter of one word
 *     petal_filter *filter;
 *     if (petal_filter_import("guava", bytes, sizeof bytes, NULL, &filter, &error) != PETAL_OK) return 1;
 *     petal_filter_insert(filter, "apple", 5, NULL);
 *     if (petal_filter_contains(filter, "key-7", 5)) puts("maybe");
 *     petal_filter_export(filter, "guava", NULL, bytes, sizeof bytes, NULL, &error);
 *     petal_filter_free(filter);
 *
 * docs/formats.md says what each format holds and how its owner makes bytes of a key. Most of these filters take keys
 * whole, because their places come from more of a key than a 64-bit hash. Such filters refuse hashes
 * (`PETAL_ERR_UNSUPPORTED`), and their lookups of hashes say true. You can save an imported filter as an image, which
 * opens mapped like any other.
 */

/** `petal_filter_import()` reads the format. */
#define PETAL_FORMAT_READ (1 << 0)
/** `petal_filter_export()` writes the format. */
#define PETAL_FORMAT_WRITE (1 << 1)
/** `petal_format_get_spec()` sizes empty filters of the format, for `petal_filter_new()`. */
#define PETAL_FORMAT_CREATE (1 << 2)
/** `petal_format_recognise()` tells the format's bytes from others. */
#define PETAL_FORMAT_RECOGNISE (1 << 3)
/** `petal_format_get_spec()` sizes filters of the format, for a builder. */
#define PETAL_FORMAT_BUILD (1 << 4)

/** What the library knows of a format. */
typedef struct petal_format_info {
  /** sizeof(petal_format_info), or 0 for its size in the first release. */
  size_t struct_size;
  /** What the library can do with the format: `PETAL_FORMAT_*`, ORed. */
  uint32_t capabilities;
  /** How many variants of the format its owners write; `petal_format_get_variant()` names each. 0 if there is one. */
  uint32_t variant_count;
  /** The format's name, the same everywhere. */
  char name[PETAL_NAME_SIZE];
  /** Whose format it is and what the format holds, in a sentence. */
  char summary[PETAL_SUMMARY_SIZE];
} petal_format_info;
/** A `petal_format_info` of this header's size, all else 0. */
#define PETAL_FORMAT_INFO_INIT PETAL_INIT(petal_format_info)

/**
 * Values that a format's bytes do not contain. docs/formats.md names the formats that need each field; the other
 * formats refuse that field. NULL stands for all zeros.
 */
typedef struct petal_import_options {
  /** sizeof(petal_import_options), or 0 for its size in the first release. */
  size_t struct_size;
  /** The number of bits: the modulus that gives places. */
  uint64_t bits;
  /** The seed of the hash function. */
  uint64_t seed;
  /** Bits that a key sets. */
  uint32_t hashes;
  /** P of a Golomb-coded set: the bits of a gap's remainder. */
  uint32_t rice_bits;
  /** M of a Golomb-coded set: how many numbers there are for each key. */
  uint64_t multiplier;
  /** The secret key of the hash function; all zeros is none. */
  uint8_t secret[16];
} petal_import_options;
/** A `petal_import_options` of this header's size, all else 0. */
#define PETAL_IMPORT_OPTIONS_INIT PETAL_INIT(petal_import_options)

/** How many formats there are. */
size_t petal_format_count(void);

/** Describes the format at `index`, which is less than `petal_format_count()`. */
petal_status petal_format_get_at(size_t index, petal_format_info *info, petal_error *error);

/** Describes the format with this name: `PETAL_ERR_UNKNOWN_VALUE` if there is none. */
petal_status petal_format_find(const char *name, petal_format_info *info, petal_error *error);

/**
 * Writes the name of a format's variant into `variant`, which has room for `PETAL_NAME_SIZE` bytes. `index` is less
 * than the format's `variant_count`. Variant 0 is the default.
 */
petal_status petal_format_get_variant(const char *format, size_t index, char *variant, petal_error *error);

/**
 * Recognises a format by the first bytes of a filter, and describes the format. Returns `PETAL_ERR_FOREIGN` if the
 * bytes show no format. The function cannot recognise a format without `PETAL_FORMAT_RECOGNISE`.
 */
petal_status petal_format_recognise(const void *bytes, size_t length, petal_format_info *info, petal_error *error);

/**
 * Makes a filter in its own memory from all of another system's bytes. `options` is nullable. Returns
 * `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes that the format cannot have.
 */
petal_status petal_filter_import(const char *format,
                                 const void *bytes,
                                 size_t length,
                                 const petal_import_options *options,
                                 petal_filter **filter,
                                 petal_error *error);

/**
 * Writes how many bytes a filter has in a format. `variant`, nullable, names one of the format's variants. NULL is the
 * variant that the filter was imported from, or the first. Returns `PETAL_ERR_UNSUPPORTED`, naming the reason, if the
 * filter has no form in the format.
 */
petal_status petal_filter_export_size(const petal_filter *filter,
                                      const char *format,
                                      const char *variant,
                                      uint64_t *size,
                                      petal_error *error);

/**
 * Writes a filter in a format into a buffer of at least `petal_filter_export_size()` bytes. `variant` is as in that
 * function; `written` is nullable. Returns `PETAL_ERR_BUFFER_TOO_SMALL`, and writes nothing, if the buffer is too
 * small.
 */
petal_status petal_filter_export(const petal_filter *filter,
                                 const char *format,
                                 const char *variant,
                                 void *buffer,
                                 size_t length,
                                 size_t *written,
                                 petal_error *error);

/**
 * Gives a filter in a format to `write`, piece by piece and in order. `variant` is as in `petal_filter_export_size()`.
 * The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_filter_export_to(const petal_filter *filter,
                                    const char *format,
                                    const char *variant,
                                    petal_write_callback write,
                                    void *context,
                                    petal_error *error);

/**
 * Writes the spec of a format's filter, for `petal_filter_new()` or for a builder. The filter has the size that the
 * format's owner would give it for `capacity` distinct keys at a false-positive rate inside (0, 1). `variant`,
 * nullable, names one of the format's variants. `seed` is the seed of the format's hash function, or 0 if the function
 * has none. The caller sets the secret in the spec, if the format has one. Returns `PETAL_ERR_UNSUPPORTED` for a
 * format that has neither `PETAL_FORMAT_CREATE` nor `PETAL_FORMAT_BUILD`.
 */
petal_status petal_format_get_spec(const char *format,
                                   const char *variant,
                                   uint64_t capacity,
                                   double false_positive_rate,
                                   uint64_t seed,
                                   petal_spec *spec,
                                   petal_error *error);


/*
 * COMPACT FORMS
 *
 * Compact forms are for filters that live inside another system's file: a table's filter block, a page, a value. The
 * compact form of a filter is its payload and a trailer of 8 to 24 bytes; docs/format.md specifies the form.
 *
 * A compact form does not contain the hash function, the seed and the secret key. Give these three as the filter had
 * them when you open the form: the library cannot notice if they differ. A compact form does not contain the count,
 * the capacity and the rate either, which are 0 in a filter that you open from one. The library only reads a compact
 * form; you can change a copy.
 *
 * The trailer has a checksum of 32 bits. 12 of these bits cover the trailer itself. Every function here compares them,
 * and they find one or two flipped bits of the trailer for certain. If the payload has at most 4096 bytes, the other
 * 20 bits cover all bytes. Larger forms have a further checksum of 64 bits for all bytes.
 *
 * `petal_filter_open_compact()` reads such a larger payload only if the options ask for that.
 * `petal_filter_load_compact()`, `petal_compact_verify()`, and all functions that copy, merge or write an opened form,
 * read and compare all of it. No bytes make a function here read past the given length.
 *
 * Most filters have a compact form. A `scalable` filter has none if its tightening is no whole number of thousandths,
 * or after a merge into it. A `fuse` filter of 2^33 keys or more has none. Filters that take keys whole have none, as
 * most imported filters do. Maps and sketches have none.
 */

/** Values that a compact form does not contain. NULL stands for all zeros: XXH3 with seed 0. */
typedef struct petal_compact_options {
  /** sizeof(petal_compact_options), or 0 for its size in the first release. */
  size_t struct_size;
  /** One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`. */
  petal_hash_function hash;
  /**
   * 1 makes opening compare all of the form with its checksum, and with what its kind promises, however large the
   * form is.
   */
  uint32_t verify;
  /** The seed; 0 for `PETAL_HASH_SIPHASH13`. */
  uint64_t seed;
  /** The secret key of `PETAL_HASH_SIPHASH13`; all zeros is none. */
  uint8_t secret[16];
} petal_compact_options;
/** A `petal_compact_options` of this header's size, all else 0. */
#define PETAL_COMPACT_OPTIONS_INIT PETAL_INIT(petal_compact_options)

/** The size in bytes of a filter's compact form. Returns `PETAL_ERR_UNSUPPORTED` if the filter has none. */
petal_status petal_filter_compact_size(const petal_filter *filter, uint64_t *size, petal_error *error);

/**
 * Writes the compact form into a buffer of at least `petal_filter_compact_size()` bytes, of any alignment. Threads and
 * processes may insert meanwhile. The form has every key whose insertion happened before. Returns `PETAL_ERR_UNCLEAN`
 * if the filter is `PETAL_STATE_STAYS_UNCLEAN`, because a compact form has no place for that state. Returns
 * `PETAL_ERR_CORRUPT` if the filter lies in an image that does not match its checksums. `written` is nullable.
 */
petal_status petal_filter_serialize_compact(const petal_filter *filter,
                                            void *buffer,
                                            size_t length,
                                            size_t *written,
                                            petal_error *error);

/**
 * Opens the compact form in the `length` bytes at `data`, in place and for reading. The function copies nothing. It
 * does not read through a form larger than 4096 bytes unless the options ask for that. `data` is a multiple of 8, and
 * its bytes must not change until you free the handle. `options` is nullable. Returns `PETAL_ERR_TRUNCATED` or
 * `PETAL_ERR_FOREIGN` for lengths that no compact form has, `PETAL_ERR_CORRUPT`, or `PETAL_ERR_MISALIGNED`.
 */
petal_status petal_filter_open_compact(const void *data,
                                       size_t length,
                                       const petal_compact_options *options,
                                       petal_filter **filter,
                                       petal_error *error);

/**
 * Copies a filter out of its compact form, of any alignment, into new memory. The function verifies all of the form
 * whatever the options say. `options` is nullable.
 */
petal_status petal_filter_load_compact(const void *data,
                                       size_t length,
                                       const petal_compact_options *options,
                                       petal_filter **filter,
                                       petal_error *error);

/** Compares all of a compact form, of any alignment, with its checksum. */
petal_status petal_compact_verify(const void *data, size_t length, petal_error *error);

/**
 * Looks a hash up in a compact form without a handle. `data` is any address, but a multiple of 8 for the form of a
 * `fuse` filter. The function allocates nothing. Any failure returns true; `petal_compact_contains_checked_hash()`
 * says why. The function does not compare the payload with its checksum: call `petal_compact_verify()` once for that.
 * Hash the key with `petal_spec_hash()`.
 */
bool petal_compact_contains_hash(const void *data, size_t length, uint64_t hash);

/**
 * Looks a key up in a compact form without a handle, as `petal_compact_contains_hash()` does. `options`, which say how
 * to hash the key, may be NULL: that hashes fastest. The function ignores `verify`.
 */
bool petal_compact_contains(const void *data,
                            size_t length,
                            const petal_compact_options *options,
                            const void *key,
                            size_t key_length);

/** Looks a hash up as `petal_compact_contains_hash()` does, and says whether that worked. */
petal_status petal_compact_contains_checked_hash(const void *data,
                                                 size_t length,
                                                 uint64_t hash,
                                                 bool *found,
                                                 petal_error *error);

/**
 * Looks one hash up in `count` compact forms in one call. Form i is the `lengths[i]` bytes from `data[i]`, and has
 * answer i. While one form answers, the processor already fetches the cache lines of the next ones. A damaged form
 * makes the call fail; the message names the form, and every answer is true.
 */
petal_status petal_compact_contains_across_hash(const void *const *data,
                                                const size_t *lengths,
                                                size_t count,
                                                uint64_t hash,
                                                petal_answers *answers,
                                                petal_error *error);

/**
 * Writes an upper limit for the length in bytes of the compact form with the keys added so far. If all keys are
 * distinct, the form of a kind that a builder makes from all keys has about that length. Returns
 * `PETAL_ERR_UNSUPPORTED` if the filter has no compact form.
 */
petal_status petal_builder_compact_size(petal_builder *builder, uint64_t *size, petal_error *error);

/**
 * Makes the filter and writes its compact form into a buffer of `petal_builder_compact_size()` bytes or more, of any
 * alignment. Then empties the builder, which keeps room for its next keys: you may use the builder again. The message
 * of `PETAL_ERR_BUFFER_TOO_SMALL` names the needed length. On a failure the keys stay. `written` is nullable.
 */
petal_status petal_builder_finish_compact(petal_builder *builder,
                                          void *buffer,
                                          size_t length,
                                          size_t *written,
                                          petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_FORMATS_H */
