/*
 * petal_digest.h: digests of payloads, which say in which payload an excerpt was, and where. It is experimental:
 * functions may still change. petal.h has the conventions, which hold for digests too.
 *
 * A payload is a run of bytes, such as a packet or a file. A digest keeps some hundredths of the bytes of the payloads
 * that go by. Later the digest says of an excerpt whether the excerpt went by, in which payload, and at which offset:
 *
 *     petal_spec spec = PETAL_SPEC_INIT;
 *     spec.capacity = 100000;
 *     petal_digest *digest = NULL;
 *     if (petal_digest_new(&spec, &digest, NULL) != PETAL_OK) return 1;
 *     unsigned char packet[1500];
 *     for (int i = 0; i < 1500; i++) packet[i] = (unsigned char)(i * i >> 3);
 *     petal_digest_add(digest, 7, packet, sizeof packet, NULL);
 *     petal_digest_match matches[10];
 *     petal_digest_find_result result = PETAL_DIGEST_FIND_RESULT_INIT;
 *     if (petal_digest_find(digest, packet + 333, 300, NULL, matches, 10, &result, NULL) != PETAL_OK) return 1;
 *     if (result.match_count > 0 && matches[0].payload == 7) printf("at %d\n", (int)matches[0].offset);
 *
 * A digest uses these fields of its spec: capacity (the bytes of data), false_positive_rate (that of one entry) or
 * bits and hashes, hash function, seed, secret and parameters. The kind is `PETAL_KIND_DIGEST`, or 0 if you set no
 * parameter. Without a rate and bits, the parameter `bytes_per_byte` says how many bytes of memory each byte of data
 * gets: .05 unless you set it. `block_bytes` is the length of a block, and `cut` says whether blocks are fixed (0) or
 * cut by content (1). `levels` is how many levels of groups there are, and `segment_blocks` the length of a segment in
 * blocks. `payloads` is how many ids the digest keeps, and `attachment_bytes` how many bytes of your own.
 * docs/digest.md explains these parameters.
 *
 * Every excerpt that went by is found if it has a block. With fixed blocks it has one from
 * `petal_digest_shortest_excerpt()` bytes on. Other excerpts are found with the probability
 * `petal_digest_expected_rate()`, which falls fast with the length of the excerpt. Digests without ids (`payloads` =
 * 0) are smaller, and say only that the excerpt went by. With a single level they also find most excerpts that were
 * put together from blocks of several payloads. docs/digest.md has figures.
 */

#ifndef PETAL_DIGEST_H
#define PETAL_DIGEST_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The only kind of its handle. */
/** Which blocks of bytes payloads had, and where: finds the payload and the offset of an excerpt. */
#define PETAL_KIND_DIGEST 1280

/** A digest. Free it with `petal_digest_free()`. */
typedef struct petal_digest petal_digest;

/** Makes an empty digest. */
petal_status petal_digest_new(const petal_spec *spec, petal_digest **digest, petal_error *error);

/**
 * Frees a digest. If you changed an image in place, this function brings the image up to date first. Call
 * `petal_digest_sync()` before if you want to know whether that works. NULL is allowed.
 */
void petal_digest_free(petal_digest *digest);

/**
 * Takes a payload under an id of yours. Returns `PETAL_ERR_FULL` if the digest has as many ids as it keeps, and
 * `PETAL_ERR_CONTRADICTION` while a payload is open. Bytes after the last whole block are in no block; with blocks
 * that are cut by content this also holds for the bytes before the first cut. Linear in the payload.
 */
petal_status petal_digest_add(petal_digest *digest,
                              uint64_t payload,
                              const void *bytes,
                              size_t length,
                              petal_error *error);

/**
 * Begins a payload that `petal_digest_write()` writes in pieces, and `petal_digest_end()` ends. Returns what
 * `petal_digest_add()` returns. If you free the digest before the end, its image has the payload as far as you wrote
 * it.
 */
petal_status petal_digest_begin(petal_digest *digest, uint64_t payload, petal_error *error);

/**
 * Takes the next bytes of the open payload. Pieces of any lengths make the same digest. Returns
 * `PETAL_ERR_CONTRADICTION` if no payload is open.
 */
petal_status petal_digest_write(petal_digest *digest, const void *bytes, size_t length, petal_error *error);

/** Ends the open payload. Returns `PETAL_ERR_CONTRADICTION` if no payload is open. */
petal_status petal_digest_end(petal_digest *digest, petal_error *error);

/** The bounds of a search. 0 is the default of each. */
typedef struct petal_digest_find_options {
  /** sizeof(petal_digest_find_options), or 0 for its size in the first release. */
  size_t struct_size;
  /** The most bytes that an excerpt may have; 0 is 2^20. */
  uint64_t max_excerpt;
  /** The most entries of the filter that are looked up; 0 is 2^28, which takes some seconds. */
  uint64_t max_lookups;
} petal_digest_find_options;
/** A `petal_digest_find_options` of this header's size, all else 0. */
#define PETAL_DIGEST_FIND_OPTIONS_INIT PETAL_INIT(petal_digest_find_options)

/** A place where an excerpt was found. */
typedef struct petal_digest_match {
  /** The id of the payload; 0 if the digest keeps no ids. */
  uint64_t payload;
  /**
   * The least offset at which the excerpt may lie in the payload. Without ids this is the offset in a segment of the
   * payload, or 0 if blocks are cut by content.
   */
  uint64_t offset;
  /** From how many offsets on, beginning with `offset`, the excerpt may lie: 1 with fixed blocks. */
  uint64_t span;
} petal_digest_match;

/** What a search found. */
typedef struct petal_digest_find_result {
  /** sizeof(petal_digest_find_result), or 0 for its size in the first release. */
  size_t struct_size;
  /** How many matches there are; no more than there was room for. */
  size_t match_count;
  /**
   * 1 if the search came to its end, and 0 if it stopped at one of the bounds or had no more room for matches. If
   * this is 0, there may be more matches.
   */
  uint32_t is_complete;
  /** 1 if matches name payloads, because the digest keeps their ids; 0 if it keeps none. */
  uint32_t names_payloads;
  /** The probability that a random excerpt of as many blocks, which no payload has, is found. */
  double rate;
  /**
   * How many wrong segments of payloads are named on average besides the right one, if a payload has the excerpt. 0
   * without ids.
   */
  double wrong_segments;
  /** How many entries of the filter were looked up. */
  uint64_t lookups;
} petal_digest_find_result;
/** A `petal_digest_find_result` of this header's size, all else 0. */
#define PETAL_DIGEST_FIND_RESULT_INIT PETAL_INIT(petal_digest_find_result)

/**
 * Looks for an excerpt, and writes the first `room` places where the excerpt was found to `matches`, which may be NULL
 * if `room` is 0. `options` is nullable. Returns `PETAL_ERR_OUT_OF_RANGE` for an excerpt that is shorter than
 * `petal_digest_shortest_excerpt()`, longer than `max_excerpt`, or without a block. If blocks are cut by content, one
 * byte repeated has no block. Time is bounded by `max_lookups`.
 */
petal_status petal_digest_find(const petal_digest *digest,
                               const void *excerpt,
                               size_t length,
                               const petal_digest_find_options *options,
                               petal_digest_match *matches,
                               size_t room,
                               petal_digest_find_result *result,
                               petal_error *error);

/**
 * Returns the length in bytes of the shortest excerpt that `petal_digest_find()` takes; 0 for NULL. With blocks that
 * are cut by content an excerpt of that length has a block in the best case, and one of twice the length nearly
 * always.
 */
uint64_t petal_digest_shortest_excerpt(const petal_digest *digest);

/**
 * Writes the length in bytes of the shortest excerpt that is found with at most the probability `rate` although no
 * payload has it; 0 if no excerpt up to 2^20 bytes is long enough.
 */
petal_status petal_digest_shortest_excerpt_at(const petal_digest *digest,
                                              double rate,
                                              uint64_t *length,
                                              petal_error *error);

/**
 * Writes the probability that a random excerpt of `length` bytes, which did not go by, is found. With fixed blocks the
 * probability is exact for the bits that are set now; with blocks that are cut by content it is an approximation.
 */
petal_status petal_digest_expected_rate(const petal_digest *digest, uint64_t length, double *rate, petal_error *error);

/** The counters of a digest. */
typedef struct petal_digest_statistics {
  /** sizeof(petal_digest_statistics), or 0 for its size in the first release. */
  size_t struct_size;
  /** How many payloads the digest has ids of; 0 if it keeps none. */
  uint64_t payloads;
  /** How many segments these payloads have. */
  uint64_t segments;
  /** The bytes of the longest payload. */
  uint64_t longest;
  /** How many entries were inserted into the filter. */
  uint64_t entries;
  /** The share of the filter's bits that are set. */
  double fill;
  /** The probability that the filter seems to have an entry that nobody inserted. */
  double entry_rate;
} petal_digest_statistics;
/** A `petal_digest_statistics` of this header's size, all else 0. */
#define PETAL_DIGEST_STATISTICS_INIT PETAL_INIT(petal_digest_statistics)

/** Tells the counters of a digest. Constant time. */
petal_status petal_digest_get_statistics(const petal_digest *digest,
                                         petal_digest_statistics *statistics,
                                         petal_error *error);

/**
 * Writes the id and the length in bytes of the payload that came as number `index`, from 0 on. `payload` and `length`
 * are nullable.
 */
petal_status petal_digest_get_payload_at(const petal_digest *digest,
                                         uint64_t index,
                                         uint64_t *payload,
                                         uint64_t *length,
                                         petal_error *error);

/**
 * Keeps your own bytes in the image, instead of those that were there before. Returns `PETAL_ERR_TOO_LARGE` if they
 * are more than the parameter `attachment_bytes` has room for.
 */
petal_status petal_digest_attach(petal_digest *digest, const void *bytes, size_t length, petal_error *error);

/**
 * Copies the bytes that `petal_digest_attach()` kept, up to `room` of them. `length` becomes the number of all of
 * them. `buffer` may be NULL if `room` is 0.
 */
petal_status petal_digest_get_attachment(const petal_digest *digest,
                                         void *buffer,
                                         size_t room,
                                         size_t *length,
                                         petal_error *error);

/** Forgets all payloads and the attachment. An open payload ends. */
petal_status petal_digest_clear(petal_digest *digest, petal_error *error);

/**
 * Returns what this digest can do now: `PETAL_CAN_*`, ORed. A digest that is open for reading can do less than its
 * kind. 0 for NULL.
 */
uint64_t petal_digest_capabilities(const petal_digest *digest);


/*
 * DIGESTS: IMAGES AND FILES
 *
 * The image of a digest has the same parts as that of a filter. It opens in each mode but `PETAL_OPEN_SHARE`.
 */

/** Opens a file that is an image. `options` is nullable. */
petal_status petal_digest_open(const char *path,
                               const petal_open_options *options,
                               petal_digest **digest,
                               petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
 * is nullable.
 */
petal_status petal_digest_open_descriptor(intptr_t descriptor,
                                          uint64_t offset,
                                          const petal_open_options *options,
                                          petal_digest **digest,
                                          petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
 * handle. The library writes to the buffer only with `PETAL_OPEN_WRITE`. `options` is nullable.
 */
petal_status petal_digest_open_in_buffer(void *buffer,
                                         size_t length,
                                         const petal_open_options *options,
                                         petal_digest **digest,
                                         petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
 * ignores the mode in `options`, which is nullable.
 */
petal_status petal_digest_load(const void *image,
                               size_t length,
                               const petal_open_options *options,
                               petal_digest **digest,
                               petal_error *error);

/** Copies a digest into new memory, wherever the digest lives. The copy has no open payload. */
petal_status petal_digest_copy(const petal_digest *digest, petal_digest **copy, petal_error *error);

/** The size of the image in bytes. */
petal_status petal_digest_serialized_size(const petal_digest *digest, uint64_t *size, petal_error *error);

/** Writes the image into a buffer of at least `petal_digest_serialized_size()` bytes. `written` is nullable. */
petal_status petal_digest_serialize(const petal_digest *digest,
                                    void *buffer,
                                    size_t length,
                                    size_t *written,
                                    petal_error *error);

/**
 * Gives the image to `write`, piece by piece and in order, and passes `context`, which may be NULL, to it. Returns
 * `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_digest_serialize_to(const petal_digest *digest,
                                       petal_write_callback write,
                                       void *context,
                                       petal_error *error);

/** Writes the image to a file, atomically, as `petal_filter_save()` does. */
petal_status petal_digest_save(const petal_digest *digest, const char *path, petal_error *error);

/**
 * Reads and checks all bytes as they are now. Returns `PETAL_ERR_CORRUPT`, naming the bytes, if they do not match
 * their checksums, or if no digest can have such a payload.
 */
petal_status petal_digest_verify(const petal_digest *digest, petal_error *error);

/**
 * Describes a digest by its header, in constant time. `hashes` is the number of bits of an entry, `bits` the number of
 * bits of the filter, and `insertions` and `capacity` count bytes of data.
 */
petal_status petal_digest_describe(const petal_digest *digest, petal_description *description, petal_error *error);

/** Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. */
petal_status petal_digest_sync(petal_digest *digest, petal_error *error);

/** Declares that the bytes are right as they are now, as `petal_filter_mark_clean()` does. */
petal_status petal_digest_mark_clean(petal_digest *digest, petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_DIGEST_H */
