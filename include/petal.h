/*
 * Petal: Bloom filters and other approximate-membership structures.
 *
 * A filter answers "have I seen this key?" without storing the keys. It never says no to a key that was inserted. It
 * says yes to other keys at a false-positive rate that you choose.
 *
 *     petal_filter *seen = petal_filter_with_capacity(1000000, 0.01);
 *     if (!seen) return 1;
 *     petal_filter_insert(seen, "apple", 5, NULL);
 *     if (petal_filter_contains(seen, "apple", 5)) puts("maybe");
 *     petal_filter_free(seen);
 *
 * The first program needs only `petal_filter_with_capacity()`, `petal_filter_insert()`, `petal_filter_contains()`,
 * `petal_filter_save()`, `petal_filter_open()` and `petal_filter_free()`. The sections go from simple to advanced:
 * statuses, filters of the default kind, keys by the batch, specs and kinds, builders; then what only some kinds can;
 * then images, files, threads and processes.
 *
 * Each of the other headers includes this one and has one subject:
 *
 * - petal_more.h: one key asked of many filters, keys with their counts, rejuvenating, what is stored of keys, rates
 *   to expect;
 * - petal_map.h: maps from keys to values;
 * - petal_sketch.h: sketches of sets, which you can subtract and list;
 * - petal_session.h: sessions, in which two sides find out what only one of them has;
 * - petal_router.h: routers, which find keys in a network;
 * - petal_aggregate.h: sum, mean, maximum and minimum of values that change, each counted once;
 * - petal_digest.h: digests of payloads, which say in which payload an excerpt was, and where;
 * - petal_index.h: indexes, which find rows of bits that are similar to a query;
 * - petal_wire.h: filters and maps on the wire, packed, and what changed between two states of one;
 * - petal_formats.h: other systems' filters, and compact forms inside another system's file;
 * - petal_policy.h: filter policies of sorted tables, as LevelDB has them;
 * - petal_inline.h: lookups and insertions that the compiler puts into your program.
 *
 * CONVENTIONS, which hold for every function. docs/abi.md has the reasons, and what to know of forks, mapped files,
 * limits on files and Windows.
 *
 * Names are `petal_<noun>_<verb>`. The handle comes first, outputs come last.
 *
 * Status. A function that can fail returns a `petal_status`: `PETAL_OK` (0) or a negative number, which
 * `petal_status_message()` explains. The last parameter is a `petal_error *`, which may be NULL. A failure fills the
 * error in, with a message that names the parameter, the value and what is allowed; a success does not touch it.
 * Functions that take one key have no such parameter where time counts.
 *
 * A function returns `PETAL_ERR_UNSUPPORTED` if the kind or the format cannot do what you ask. It returns
 * `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if another handle could: one that you open in another mode, or a copy.
 *
 * Lookups. `petal_filter_contains*` return a bool, and ANY failure returns true: a NULL handle or key, or a keyed
 * filter that you opened without its secret key. So a failed call never says that a key is absent.
 * `petal_filter_contains_checked*` return a status and write the answer.
 *
 * A failed call changes no filter, leaves no half-written file, and writes no outputs. There are two exceptions: the
 * answers of a batch lookup (after a failure all 1, or all 0 for a map) and the numbers in a `petal_answers` (always
 * written). Output pointers that may be NULL are marked "nullable". Every other pointer is required, and NULL gives
 * `PETAL_ERR_NULL`.
 *
 * Keys are bytes (pointer and length; NULL with length 0 is the empty key), a uint64_t, or a 64-bit hash. In filters
 * and maps a uint64_t is its 8 little-endian bytes, and `contains(key) == contains_hash(hash(key))` with
 * `petal_filter_hash()` or `petal_spec_hash()`. petal_sketch.h says what numbers and hashes are in sketches. Filters
 * whose hash function is `PETAL_HASH_EXTERNAL` take hashes only.
 *
 * Structs. The default of every field is 0, so `petal_spec spec = {0};` is right. A struct that may grow starts with
 * `struct_size`, in which 0 stands for the struct of the first release. To use later fields, begin with its macro:
 * `petal_spec spec = PETAL_SPEC_INIT;`. The library accepts a struct from a later version if all fields that this
 * version does not know are 0.
 *
 * Ownership. You own the handle that a function writes through a `**` parameter. Free it with the function that the
 * comment of its type names; free functions accept NULL. Returned strings are static. Buffers, specs, options and keys
 * are used during the call only, unless the comment says more.
 *
 * Threads. Functions that take a const handle may run in many threads at once on one handle. All other functions need
 * the handle to themselves. Two handles share nothing. A callback must not use the handle of the call that runs it,
 * and must return: no C++ exception, longjmp or pthread_cancel may pass through a call.
 */

#ifndef PETAL_H
#define PETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The version of this header; `petal_version_number()` tells the library's. */
#define PETAL_VERSION_MAJOR 0
#define PETAL_VERSION_MINOR 1
#define PETAL_VERSION_PATCH 0
#define PETAL_VERSION_NUMBER 100
#define PETAL_VERSION_STRING "0.1.0"

/* What `PETAL_SPEC_INIT` and its like are made of. */
#ifdef __cplusplus
#define PETAL_INIT(type) ([] { type it_{}; it_.struct_size = sizeof(type); return it_; }())
#else
#define PETAL_INIT(type) {.struct_size = sizeof(type)}
#endif

#ifdef __cplusplus
extern "C" {
#endif


/*
 * STATUS AND ERRORS
 */

/**
 * The result of a call: `PETAL_OK` or one of `PETAL_ERR_*`, which are negative. Later versions add numbers and never
 * reuse one.
 */
typedef int32_t petal_status;

/** The call worked. */
#define PETAL_OK 0
/**
 * The library caught one of its own bugs before it could do harm. If the call was changing a handle, you can only free
 * that handle.
 */
#define PETAL_ERR_INTERNAL (-1)
/** A required pointer is NULL. */
#define PETAL_ERR_NULL (-2)
/**
 * This version does not understand the `struct_size` of a struct: set it, or the whole struct to 0. If the struct is
 * the `petal_error` itself, there is no message.
 */
#define PETAL_ERR_STRUCT_SIZE (-3)
/** This version does not know a kind, hash function, parameter, choice or flag. */
#define PETAL_ERR_UNKNOWN_VALUE (-4)
/** A value is outside its bounds. */
#define PETAL_ERR_OUT_OF_RANGE (-5)
/** A false-positive rate is not inside (0, 1). */
#define PETAL_ERR_FALSE_POSITIVE_RATE (-6)
/** Two or more parameters contradict each other. */
#define PETAL_ERR_CONTRADICTION (-7)
/** The kind, or the address space, cannot hold that many bits. */
#define PETAL_ERR_TOO_LARGE (-8)
/** There is not enough memory. */
#define PETAL_ERR_OUT_OF_MEMORY (-9)
/** The offsets of keys decrease, or pass the end of the key buffer. */
#define PETAL_ERR_OFFSETS (-10)
/** The caller's buffer is too small. */
#define PETAL_ERR_BUFFER_TOO_SMALL (-11)
/** The caller's buffer, or the offset of an image in a file, is not a multiple of 8 bytes. */
#define PETAL_ERR_MISALIGNED (-12)
/** The kind, or the format, cannot do that through any handle. */
#define PETAL_ERR_UNSUPPORTED (-13)
/** The two filters differ in kind, layout, geometry, hash function, seed or secret. */
#define PETAL_ERR_INCOMPATIBLE (-14)
/** The filter takes hashes only. */
#define PETAL_ERR_EXTERNAL_HASH (-15)
/** The filter is keyed, and the caller did not give its secret key. */
#define PETAL_ERR_SECRET_MISSING (-16)
/** The given secret key is not the one with which the filter was made. */
#define PETAL_ERR_SECRET_MISMATCH (-17)
/** The bytes are not a Petal image. */
#define PETAL_ERR_FOREIGN (-18)
/** The image ends before it is complete. */
#define PETAL_ERR_TRUNCATED (-19)
/** The image contradicts itself or its checksum. */
#define PETAL_ERR_CORRUPT (-20)
/** A later version wrote the image, which needs something that this version does not have. */
#define PETAL_ERR_NEWER_VERSION (-21)
/** nobody marked the payload clean: the image is open for writing, or was when its process ended. */
#define PETAL_ERR_UNCLEAN (-22)
/** The operating system reported an error; `os_error` says which. */
#define PETAL_ERR_IO (-23)
/** The file does not exist. */
#define PETAL_ERR_NOT_FOUND (-24)
/** The operating system denies access. */
#define PETAL_ERR_ACCESS_DENIED (-25)
/** The disk, or the user's share of it, is full. */
#define PETAL_ERR_NO_SPACE (-26)
/** Another handle has the image open for writing. */
#define PETAL_ERR_LOCKED (-27)
/** The path names the file that the filter itself maps. */
#define PETAL_ERR_MAPPED_PATH (-28)
/** A cancel callback asked to stop. */
#define PETAL_ERR_CANCELLED (-29)
/** The caller's write callback reported a failure. */
#define PETAL_ERR_CALLBACK (-30)
/**
 * There is no room for another key; in `removed_set`, none for another removed key. Nothing is lost: lookups find
 * every inserted key.
 */
#define PETAL_ERR_FULL (-31)
/** The kind can do that, but this handle may not: its image is open for reading, shared, or in place. */
#define PETAL_ERR_UNSUPPORTED_BY_HANDLE (-32)
/**
 * This build of the library leaves out the kind, the handle, the format or the kernel; the message names the option.
 */
#define PETAL_ERR_UNSUPPORTED_BY_BUILD (-33)

/** A sentence, without a full stop, that explains a status. Static, never NULL. */
const char *petal_status_message(petal_status status);

/** The longest message of a `petal_error`, with its final NUL. */
#define PETAL_ERROR_MESSAGE_SIZE 240

/**
 * An error: its status and a message. You own the struct; set it to `= {0}` before the first use. A call with a
 * struct that was never set does nothing: it returns `PETAL_ERR_STRUCT_SIZE`, and writes no message.
 */
typedef struct petal_error {
  /** sizeof(petal_error), or 0 for its size in the first release. */
  size_t struct_size;
  /** The status that the function also returned. */
  petal_status status;
  /** The operating system's error number (errno, on Windows that of GetLastError), or 0. */
  int32_t os_error;
  /** A sentence that names the parameter, its value and what is allowed. Ends with a NUL. */
  char message[PETAL_ERROR_MESSAGE_SIZE];
} petal_error;
/** A `petal_error` of this header's size, all else 0. */
#define PETAL_ERROR_INIT PETAL_INIT(petal_error)


/*
 * FILTERS: MAKING AND FREEING
 */

/** A filter of any kind. Free it with `petal_filter_free()`. */
typedef struct petal_filter petal_filter;

/**
 * Makes an empty filter of the default kind for `capacity` distinct keys at a false-positive rate inside (0, 1). A
 * capacity of 0 gets the size of 1. Returns NULL on failure; `petal_filter_new()` also says why.
 */
petal_filter *petal_filter_with_capacity(uint64_t capacity, double false_positive_rate);

/** Copies a filter, wherever it lives, into new memory. */
petal_status petal_filter_copy(const petal_filter *filter, petal_filter **copy, petal_error *error);

/**
 * Frees a filter. If you changed an image in place, this function brings the image up to date first. Call
 * `petal_filter_sync()` before if you want to know whether that works. NULL is allowed.
 */
void petal_filter_free(petal_filter *filter);


/*
 * FILTERS: ONE KEY
 *
 * A lookup takes constant time on average, however large the filter is. There are two exceptions: chains of Bloom
 * filters (`scalable`, `foreign_scalable`) look at each level, and `golomb_stream` reads its list from the beginning.
 * Any failure of `petal_filter_contains*` returns true.
 */

/** Inserts a key. `is_new`, nullable, becomes true if the key certainly was not there, false if it may have been. */
petal_status petal_filter_insert(petal_filter *filter, const void *key, size_t length, bool *is_new);

/** Inserts a uint64_t key. `is_new`, nullable, becomes true if the key certainly was not there. */
petal_status petal_filter_insert_u64(petal_filter *filter, uint64_t key, bool *is_new);

/** Inserts the key with this hash. `is_new`, nullable, becomes true if the key certainly was not there. */
petal_status petal_filter_insert_hash(petal_filter *filter, uint64_t hash, bool *is_new);

/** Whether a key may have been inserted; false is certain. */
bool petal_filter_contains(const petal_filter *filter, const void *key, size_t length);

/** Whether a uint64_t key may have been inserted; false is certain. */
bool petal_filter_contains_u64(const petal_filter *filter, uint64_t key);

/** Whether the key with this hash may have been inserted; false is certain. */
bool petal_filter_contains_hash(const petal_filter *filter, uint64_t hash);

/** Looks a key up and says whether that worked. */
petal_status petal_filter_contains_checked(const petal_filter *filter, const void *key, size_t length, bool *found);

/** Looks a uint64_t key up and says whether that worked. */
petal_status petal_filter_contains_checked_u64(const petal_filter *filter, uint64_t key, bool *found);

/** Looks the key with this hash up and says whether that worked. */
petal_status petal_filter_contains_checked_hash(const petal_filter *filter, uint64_t hash, bool *found);


/*
 * FILTERS: SAVING AND OPENING
 *
 * A filter's image is the same in memory and in a file; docs/format.md specifies the image. The library maps a file,
 * which takes constant time. Processes that open the same file share its memory. Saving replaces a file atomically: a
 * process that has the old file open keeps the old one. The section IMAGES, below, has the rest: buffers, descriptors,
 * and files that you change in place.
 */

/** How to open an image: one of `PETAL_OPEN_*`. */
typedef uint32_t petal_open_mode;

/** In place, for reading, in constant time. Opening does not check the payload; `petal_filter_verify()` does. */
#define PETAL_OPEN_READ 0
/** In place, for reading and writing, as the only writer. */
#define PETAL_OPEN_WRITE 1
/** A copy in its own memory. Opening compares the checksums; an unclean image has none, and its copy is unclean. */
#define PETAL_OPEN_LOAD 2
/**
 * In place, for reading and for `petal_filter_insert_shared()`, together with any number of handles, threads and
 * processes that open the image with this mode. With `PETAL_CAN_AGE_SHARED` also for `petal_filter_advance_shared()`.
 *
 * While handles share a file, the file is unclean. The last handle to close the file makes it clean if the file was
 * clean when the first one opened it and none of the sharing processes died. Nobody knows that earlier: a copy or a
 * saved file made before is as clean as the image was. Opening reads the table of checksums. Opening waits while the
 * last handle makes the file clean, for as long as that takes.
 *
 * A buffer has no locks, so nobody knows which handle is the last. The buffer stays unclean until nobody shares it any
 * more and a handle that is opened for writing calls `petal_filter_mark_clean()`.
 */
#define PETAL_OPEN_SHARE 3

/** How to open. NULL stands for all zeros. */
typedef struct petal_open_options {
  /** sizeof(petal_open_options), or 0 for its size in the first release. */
  size_t struct_size;
  /** One of `PETAL_OPEN_*`. */
  petal_open_mode mode;
  /**
   * 1 has the system read a mapped file to its end at opening, so that the first lookups do not wait for the disk;
   * 0 does not. Opening then takes as long as reading the file. This is a hint: a system that cannot do it, or has
   * no memory to spare, opens the file all the same. `PETAL_OPEN_LOAD` reads the whole file in any case, and a
   * buffer has no file.
   */
  uint32_t prefault;
  /**
   * The secret key of a keyed filter; all zeros is none. Without the secret key the filter cannot hash byte and
   * uint64_t keys, but all else works.
   */
  uint8_t secret[16];
} petal_open_options;
/** A `petal_open_options` of this header's size, all else 0. */
#define PETAL_OPEN_OPTIONS_INIT PETAL_INIT(petal_open_options)

/** Opens a file that is an image. `options` is nullable. */
petal_status petal_filter_open(const char *path,
                               const petal_open_options *options,
                               petal_filter **filter,
                               petal_error *error);

/**
 * Writes the image to a file, atomically: the path names the old bytes or the new ones at every moment. The function
 * writes an unnamed file in the same folder, brings it onto the disk, and then puts it in place. The new file has the
 * owner, the group and the permissions of the old one, as far as the system lets the caller give them. If the new file
 * cannot have the old group, its group gets no more rights than everybody has. The function replaces a symbolic link
 * and does not follow it.
 *
 * A failure leaves the old file there. One failure comes later: the new file is in place, but the system cannot make
 * the new name last. Returns `PETAL_ERR_MAPPED_PATH` if the filter lies in that very file.
 *
 * The new file is called `.petal-NUMBER.tmp` for a moment if it replaces another, or if the file system has no files
 * without names. If the process dies in that moment, the next save in that folder removes the new file.
 */
petal_status petal_filter_save(const petal_filter *filter, const char *path, petal_error *error);


/*
 * KEYS AND ANSWERS
 *
 * A batch costs less per key than single calls. Every function of many keys takes the keys as a `petal_keys`, in one
 * of five forms, and writes the answers into a `petal_answers`:
 *
 *     petal_keys keys = petal_keys_u64(numbers, count);
 *     petal_answers answers = {.bytes = found};
 *     petal_filter_contains_batch(filter, &keys, &answers, NULL);
 *
 * Byte keys come as one buffer with count + 1 offsets: key i is the bytes from `offsets[i]` to `offsets[i + 1]`.
 * Offsets must not decrease and must end inside the buffer. A function checks all offsets before it uses the first
 * key. Offsets of 32 bits with a sign, as those of Arrow's Binary and Utf8 arrays, serve as they are; they must not be
 * negative.
 *
 * Digests of a cryptographic hash come one after the other. Only filters with `PETAL_HASH_DIGEST` take them.
 *
 * Set the outputs that you want. A function refuses an output that it cannot give with `PETAL_ERR_UNSUPPORTED`. Every
 * function writes `true_count` and `done`. A lookup needs answers. An insertion needs none: with NULL it finds out
 * nothing about the keys, which is faster.
 */

/** A form of keys: one of `PETAL_KEYS_*`. */
typedef uint32_t petal_keys_form;

/** Byte strings, in one buffer with offsets. */
#define PETAL_KEYS_BYTES 1
/** uint64_t keys. */
#define PETAL_KEYS_U64 2
/** The hashes of keys. */
#define PETAL_KEYS_HASHES 3
/** Digests of one length, for filters with `PETAL_HASH_DIGEST`. */
#define PETAL_KEYS_DIGESTS 4
/** Byte strings, in one buffer with offsets of 32 bits. */
#define PETAL_KEYS_BYTES32 5

/**
 * Many keys in your memory. `petal_keys_bytes()`, `petal_keys_bytes32()`, `petal_keys_u64()`, `petal_keys_hashes()`
 * and `petal_keys_digests()` make one.
 */
typedef struct petal_keys {
  /** sizeof(petal_keys), or 0 for its size in the first release. */
  size_t struct_size;
  /** One of `PETAL_KEYS_*`. */
  petal_keys_form form;
  /** 0. */
  uint32_t reserved;
  /** How many keys there are. */
  size_t count;
  /** The bytes of all keys, or the numbers, the hashes or the digests. Nullable if there are none. */
  const void *data;
  /** For byte keys, how many bytes `data` has; for digests, how many bytes each has; otherwise 0. */
  size_t length;
  /**
   * For byte keys, count + 1 offsets into `data`, nullable if there are no keys: uint64_t, or int32_t for
   * `PETAL_KEYS_BYTES32`. Otherwise NULL.
   */
  const void *offsets;
} petal_keys;
/** A `petal_keys` of this header's size, all else 0. */
#define PETAL_KEYS_INIT PETAL_INIT(petal_keys)

/** Where the answers of a batch go. Set the outputs that you want, and the rest to 0. */
typedef struct petal_answers {
  /** sizeof(petal_answers), or 0 for its size in the first release. */
  size_t struct_size;
  /** Nullable: a byte a key, 0 or 1. */
  uint8_t *bytes;
  /**
   * Nullable: a bit a key. Bit i is bit i % 8 of byte i / 8; there are (count + 7) / 8 bytes, and bits after the
   * last key become 0.
   */
  uint8_t *bitmap;
  /** Nullable: how often each key was inserted. Must be NULL for functions that do not count. */
  uint64_t *counts;
  /** Nullable: the value of each key. Must be NULL for functions of filters. */
  uint64_t *values;
  /** The function writes here how many of the answers are true. */
  uint64_t true_count;
  /**
   * The function writes here how many keys, from the first on, it took before an error; all of them if there was
   * none. After a failed insertion or removal only these keys have answers.
   */
  size_t done;
} petal_answers;
/** A `petal_answers` of this header's size, all else 0. */
#define PETAL_ANSWERS_INIT PETAL_INIT(petal_answers)

/**
 * Makes `count` byte keys. Key i is the bytes from `offsets[i]` to `offsets[i + 1]` of `bytes`, which has `length`
 * bytes. There are `count` + 1 offsets.
 */
static inline petal_keys petal_keys_bytes(const void *bytes, size_t length, const uint64_t *offsets, size_t count) {
  petal_keys keys;
  keys.struct_size = sizeof keys;
  keys.form = PETAL_KEYS_BYTES;
  keys.reserved = 0;
  keys.count = count;
  keys.data = bytes;
  keys.length = length;
  keys.offsets = offsets;
  return keys;
}

/**
 * Makes `count` byte keys with offsets of 32 bits, such as the values of an Arrow array of the type Binary or Utf8.
 * Otherwise as `petal_keys_bytes()`.
 */
static inline petal_keys petal_keys_bytes32(const void *bytes, size_t length, const int32_t *offsets, size_t count) {
  petal_keys keys = petal_keys_bytes(bytes, length, 0, count);
  keys.form = PETAL_KEYS_BYTES32;
  keys.offsets = offsets;
  return keys;
}

/** `count` uint64_t keys. */
static inline petal_keys petal_keys_u64(const uint64_t *numbers, size_t count) {
  petal_keys keys;
  keys.struct_size = sizeof keys;
  keys.form = PETAL_KEYS_U64;
  keys.reserved = 0;
  keys.count = count;
  keys.data = numbers;
  keys.length = 0;
  keys.offsets = 0;
  return keys;
}

/** The keys with these `count` hashes, made by `petal_spec_hash()`, `petal_filter_hash()` or yourself. */
static inline petal_keys petal_keys_hashes(const uint64_t *hashes, size_t count) {
  petal_keys keys = petal_keys_u64(hashes, count);
  keys.form = PETAL_KEYS_HASHES;
  return keys;
}

/**
 * `count` digests of `each` bytes, one after the other, such as 32 bytes of SHA-256: for filters with
 * `PETAL_HASH_DIGEST`.
 */
static inline petal_keys petal_keys_digests(const void *digests, size_t each, size_t count) {
  petal_keys keys = petal_keys_bytes(digests, each, 0, count);
  keys.form = PETAL_KEYS_DIGESTS;
  return keys;
}


/*
 * FILTERS: MANY KEYS
 *
 * Each verb has one function for batches, which takes the keys and answers of the section before.
 */

/**
 * Looks keys up: each answer says whether the key may be in the filter. On a failure every answer is true. If the
 * function cannot read `keys`, and so does not know how many keys there are, `true_count` is UINT64_MAX.
 */
petal_status petal_filter_contains_batch(const petal_filter *filter,
                                         const petal_keys *keys,
                                         petal_answers *answers,
                                         petal_error *error);

/**
 * Inserts keys in order. Each of the `answers`, nullable, says whether the key certainly was not there before. On a
 * failure the first `done` keys are in the filter.
 */
petal_status petal_filter_insert_batch(petal_filter *filter,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);


/*
 * SPECS
 *
 * A `petal_spec` says what filter to make. All zeros is a whole spec: the default kind, for a million keys, at a
 * false-positive rate of 1 %.
 *
 *     petal_spec spec = PETAL_SPEC_INIT;
 *     spec.capacity = 5000000;
 *     spec.false_positive_rate = 0.001;
 *     petal_filter *filter;
 *     petal_status status = petal_filter_new(&spec, &filter, NULL);
 */

/**
 * A kind: one of `PETAL_KIND_*`. 0 is the default kind. These are the kinds of filters; those of maps, sketches and
 * other handles are in the headers of these, and those of other systems' filters in petal_formats.h.
 */
typedef uint32_t petal_kind;

/* Keys come one by one, and their number is known. */
/** The blocked Bloom filter: one cache line a key, nearly as accurate as the classic one. */
#define PETAL_KIND_BLOCKED 3
/** The classic Bloom filter: any size, the lowest false-positive rate of the insertable bit arrays. */
#define PETAL_KIND_BLOOM 1
/** The split-block Bloom filter of Apache Parquet: one memory access a key, blocks of 256 bits. */
#define PETAL_KIND_SPLIT_BLOCK 2

/* The number of keys is not known: the filter grows. */
/** The scalable Bloom filter: grows with its keys and keeps its false-positive rate. */
#define PETAL_KIND_SCALABLE 6
/** A taffy filter: grows with its keys, keeps its false-positive rate, and looks at two lines at any size. */
#define PETAL_KIND_TAFFY 30
/** An Aleph filter: grows with its keys, keeps its false-positive rate, and removes keys. */
#define PETAL_KIND_ALEPH 31

/* Keys leave, or how often they came matters. */
/** A cuckoo filter: removes keys, and counts a few copies of each; refuses keys when it is full. */
#define PETAL_KIND_CUCKOO 22
/** The counting quotient filter: removes and counts keys (copies take room), merges, lists and resizes. */
#define PETAL_KIND_QUOTIENT 23
/** A vector quotient filter: removes keys, and takes them as fast when it is nearly full as when it is empty. */
#define PETAL_KIND_VECTOR_QUOTIENT 24
/** The counting Bloom filter: removes keys and counts them; a counter wherever bloom or blocked has a bit. */
#define PETAL_KIND_COUNTING 5
/** The d-left counting filter: removes and counts keys, in place too, lists them and is resized. */
#define PETAL_KIND_D_LEFT 26
/** The spectral Bloom filter: wide counters that tell how often keys came, kept by one of three methods. */
#define PETAL_KIND_SPECTRAL 25
/** The counting Bloom filter with variable increments: removes keys in less memory than counting. */
#define PETAL_KIND_VARIABLE_INCREMENT 27
/** The layered Bloom filter: counts keys to the number of its layers, each smaller than the one before. */
#define PETAL_KIND_LAYERED 28
/** A Bloom filter with a second one for removed keys: each is removed once, and some others may be lost. */
#define PETAL_KIND_REMOVED_SET 29

/* Only the last keys matter. */
/** A window of the last keys, or of time: generations of bit arrays, the oldest dropped as a whole. */
#define PETAL_KIND_ROTATING 34
/** A window of the last keys, or of time, in slices of bits by age: finer and smaller than rotating. */
#define PETAL_KIND_AGE_PARTITIONED 32
/** Cells that count down: old keys fade, the rate stays for ever, and recent keys may be lost as well. */
#define PETAL_KIND_STABLE 33

/* All keys are known when it is built. */
/** The binary fuse filter: built once from all keys, 1.13 bits a key for each halving of the rate. */
#define PETAL_KIND_FUSE 4
/** The bumped ribbon filter: built once from all keys, 1.003 bits a key for each halving of the rate. */
#define PETAL_KIND_RIBBON 13
/** A Golomb-coded set: built once from all keys, 1.5 to 2.1 bits a key over the bound, merged and listed. */
#define PETAL_KIND_GOLOMB 14
/** Two levels, built once from members and excluded keys: no error for any of them, near the fewest bits. */
#define PETAL_KIND_EXACT_SET 35
/** Levels, built once from members and frequent non-members: few false answers for non-members that are known. */
#define PETAL_KIND_STACKED 36
/** A static table of cuckoo signatures: built once from all keys, two cache lines a lookup. */
#define PETAL_KIND_SIGNATURES 18

/* Keys of a special sort. */
/** A hash table of signatures: says what is new, and refuses keys when it is full; for model checkers. */
#define PETAL_KIND_HASH_COMPACTION 17
/** A bit for each integer below a bound: no false positives; for keys that are dense integers. */
#define PETAL_KIND_EXACT_BITS 19

/** A hash function: one of `PETAL_HASH_*`. */
typedef uint32_t petal_hash_function;

/** XXH3, 64 bits, seeded: the default. Not for keys that somebody hostile chooses. */
#define PETAL_HASH_XXH3 1
/** XXH64, seeded: what Parquet's filters use, with seed 0. */
#define PETAL_HASH_XXH64 2
/** SipHash-1-3 under a secret 128-bit key: for keys that somebody hostile may choose. */
#define PETAL_HASH_SIPHASH13 3
/** Your program hashes: the filter takes 64-bit hashes only. These hashes must be uniform in all bits. */
#define PETAL_HASH_EXTERNAL 4
/**
 * The hash function of another system's format, over whole keys. Only filters from `petal_filter_import()` and from
 * specs of `petal_format_get_spec()` have it.
 */
#define PETAL_HASH_FORMAT 5
/** XXPH3, the preview of XXH3 that RocksDB's filters use: no seed, and not for maps. */
#define PETAL_HASH_XXPH3 6
/**
 * No hash function: keys are integers below the filter's `bits`, as a `uint64_t` or as its eight little-endian bytes.
 * Kinds with `PETAL_TAKES_INTEGERS` have this one and no other, and no other kind has it.
 */
#define PETAL_HASH_IDENTITY 7
/** SipHash-2-4 under a secret of 128 bits, which BIP 158 makes public: not for maps. */
#define PETAL_HASH_SIPHASH24 8
/**
 * Your program hashes with MD5, SHA or BLAKE3, and keys are the digests. `seed` is the number of bits of a digest: a
 * multiple of 8 from 128 to 512. Fields of the digest are the bits that the key sets. Only for the kind bloom.
 */
#define PETAL_HASH_DIGEST 9

/** An instruction set for which the library has inner loops. All inner loops do the same to the same bytes. */
typedef uint32_t petal_kernel;

/** The best that the processor has. The library chooses once, when it makes the first filter. */
#define PETAL_KERNEL_BEST 0
/** Plain code, on every processor. */
#define PETAL_KERNEL_PORTABLE 1
/** AVX2 on x86-64. */
#define PETAL_KERNEL_AVX2 2
/** AVX-512 (F, BW, DQ, VL) on x86-64. */
#define PETAL_KERNEL_AVX512 3
/** NEON on aarch64. */
#define PETAL_KERNEL_NEON 4

/** The number of settings in a spec: no kind takes more. */
#define PETAL_MAX_PARAMETERS 8

/**
 * A parameter that only some kinds take, and its value; `petal_spec_set()` fills in both. Other structs contain this
 * one, so it has no `struct_size` and never changes.
 */
typedef struct petal_setting {
  /** The parameter's id; 0 is an unused place. */
  uint32_t id;
  /** 0. */
  uint32_t reserved;
  /** The value, at most 2^53 if it is an integer. */
  double value;
} petal_setting;

/** Describes the filter to make. A capacity and a false-positive rate, or exact bits and hashes, give its size. */
typedef struct petal_spec {
  /** sizeof(petal_spec), or 0 for its size in the first release. */
  size_t struct_size;
  /** One of `PETAL_KIND_*`; 0 is the default kind. */
  petal_kind kind;
  /** One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`. */
  petal_hash_function hash;
  /**
   * The number of distinct keys that the filter has room for; 0 means a million, or unknown if `bits` is set. In
   * `quotient`, `cuckoo`, `vector_quotient` and `d_left` a key that comes again takes more room, so that a filter
   * may be full before that number: their parameter `times` says how often each key may come, and the capacity
   * grows by the room that this takes. At most one filter in a hundred still refuses a copy. A builder without a
   * capacity makes room for what came.
   */
  uint64_t capacity;
  /**
   * The greatest false-positive rate at capacity, inside (0, 1) and not below capacity / 2^64; 0 means 0.01 unless
   * `bits` is set. Equal 64-bit hashes add capacity / 2^64 to the rate of any filter. Sizes count this only where it
   * is above a ten-thousandth of the rate.
   */
  double false_positive_rate;
  /** The number of bits, instead of a rate. It is exact or a limit: see `bits_unit` of `petal_kind_info`. */
  uint64_t bits;
  /** The exact number of bits that a key sets, with `bits`; 0 is the best for `bits` and `capacity`. */
  uint32_t hashes;
  /** One of `PETAL_KERNEL_*`, for comparisons; 0 is the best that the processor has. */
  petal_kernel kernel;
  /**
   * The seed of `PETAL_HASH_XXH3` and `PETAL_HASH_XXH64`. For `PETAL_HASH_EXTERNAL` it is your tag, which keeps
   * filters over different hashes from being merged. For `PETAL_HASH_DIGEST` it is the number of bits of a digest. A
   * seed is not a secret.
   */
  uint64_t seed;
  /**
   * The secret key of `PETAL_HASH_SIPHASH13` or `PETAL_HASH_SIPHASH24`, not all zeros. The library never stores the
   * secret in a file.
   */
  uint8_t secret[16];
  /** The parameters that only this kind takes. */
  petal_setting parameters[PETAL_MAX_PARAMETERS];
} petal_spec;
/** A `petal_spec` of this header's size, all else 0. */
#define PETAL_SPEC_INIT PETAL_INIT(petal_spec)

/**
 * Sets a parameter of the spec's kind, by name; set the kind first. Making the filter checks the value. Returns
 * `PETAL_ERR_UNKNOWN_VALUE` if the kind has no such parameter.
 */
petal_status petal_spec_set(petal_spec *spec, const char *name, double value, petal_error *error);

/**
 * Sets a parameter of the spec's kind to one of its named choices, such as "derivation" of `PETAL_KIND_BLOOM` to
 * "enhanced_double"; set the kind first. For a parameter that takes a number, `choice` is its digits.
 */
petal_status petal_spec_set_choice(petal_spec *spec, const char *name, const char *choice, petal_error *error);

/** Reads a parameter of a spec: the value that was set, or the default. */
petal_status petal_spec_get(const petal_spec *spec, const char *name, double *value, petal_error *error);

/**
 * Writes the size in bytes of the image, header and payload, of the filter that a spec describes.
 * `petal_filter_new_in_buffer()` needs that many bytes.
 */
petal_status petal_spec_image_size(const petal_spec *spec, uint64_t *size, petal_error *error);


/*
 * FILTERS FROM SPECS
 */

/** Makes an empty filter in its own memory. */
petal_status petal_filter_new(const petal_spec *spec, petal_filter **filter, petal_error *error);


/*
 * KINDS
 *
 * This section lists the kinds of filter, of map and of sketch, what each kind can do, and the parameters of each
 * kind. It is for programs that offer a choice. A program that knows what it wants puts a `PETAL_KIND_*` into its spec
 * and needs none of this.
 */

/** Inserts keys one by one. */
#define PETAL_CAN_INSERT (1ull << 0)
/** Forgets all keys at once. */
#define PETAL_CAN_CLEAR (1ull << 1)
/** Becomes the union with another filter. */
#define PETAL_CAN_MERGE (1ull << 2)
/** Becomes a superset of the intersection with another filter. */
#define PETAL_CAN_INTERSECT (1ull << 3)
/** Becomes smaller by a whole factor, without its keys. */
#define PETAL_CAN_FOLD (1ull << 4)
/** Estimates how many distinct keys the filter holds. */
#define PETAL_CAN_ESTIMATE (1ull << 5)
/** Removes keys one by one. */
#define PETAL_CAN_REMOVE (1ull << 6)
/** Counts how often a key was inserted. */
#define PETAL_CAN_COUNT (1ull << 7)
/** Grows past its capacity and keeps its false-positive rate. */
#define PETAL_CAN_GROW (1ull << 8)
/** Lets many threads insert keys at once, without locks: `petal_filter_insert_shared()`. */
#define PETAL_CAN_INSERT_SHARED (1ull << 9)
/** A map that starts empty (`petal_map_new()`) and takes keys with their values at any time: `petal_map_put()`. */
#define PETAL_CAN_PUT (1ull << 10)
/** A map that can replace the values of its keys: `petal_map_replace()`. */
#define PETAL_CAN_REPLACE (1ull << 11)
/** Lists what the filter stores of its keys: `petal_filter_get_stored_hashes()`. */
#define PETAL_CAN_ENUMERATE (1ull << 12)
/** Takes another size without its keys: `petal_filter_resize()`. */
#define PETAL_CAN_RESIZE (1ull << 13)
/**
 * Forgets its oldest keys, and `petal_filter_advance()` moves its time on. `petal_plan_propose()` proposes such a kind
 * only if the request asks for this capability.
 */
#define PETAL_CAN_AGE (1ull << 14)
/**
 * This flag is a warning and not an ability: a lookup may say of an inserted key that the key is absent.
 * `petal_plan_propose()` proposes such a kind only if the request has this flag. A parameter may give the flag to a
 * filter whose kind does not have it (`rotating` with `touch` = 0).
 */
#define PETAL_MAY_LOSE_KEYS (1ull << 15)
/** Restores a stored key's fingerprint to full length: `petal_filter_rejuvenate()`. */
#define PETAL_CAN_REJUVENATE (1ull << 16)
/** Forgets its oldest keys, and `petal_filter_advance_shared()` moves its time on while others insert. */
#define PETAL_CAN_AGE_SHARED (1ull << 17)
/** Subtracts another sketch: `petal_sketch_subtract()`. */
#define PETAL_CAN_SUBTRACT (1ull << 18)
/** Lists the sketch's numbers, if these are few: `petal_sketch_list()`. */
#define PETAL_CAN_LIST (1ull << 19)

/** The size of a name, with its final NUL. */
#define PETAL_NAME_SIZE 32
/** The size of a summary, with its final NUL. */
#define PETAL_SUMMARY_SIZE 160

/** What a filter does with more keys than its capacity: one of `PETAL_OVERFILL_*`. */
typedef uint32_t petal_overfill;

/** The filter's false-positive rate rises, in the end to 1. */
#define PETAL_OVERFILL_RATE_RISES 1
/**
 * The filter refuses keys: `PETAL_ERR_FULL`. From its capacity on, `hash_compaction` refuses every key that it does
 * not find, and keeps its rate. If `cuckoo` gets as many distinct keys as its capacity, it refuses one of them with a
 * probability below 10^-8. With buckets of two slots the probability is below 10^-6.
 */
#define PETAL_OVERFILL_REFUSES 2
/**
 * The filter grows and keeps its rate. It refuses keys (`PETAL_ERR_FULL`) if its image is in place and full. It also
 * refuses keys if its rate is so low that another level is not worth the memory: at 1e-12, for example, past some
 * hundred thousand keys. `taffy` refuses keys after its last doubling.
 */
#define PETAL_OVERFILL_GROWS 3
/** The filter takes no keys. A builder makes it from all of its keys, and `petal_filter_new()` refuses the kind. */
#define PETAL_OVERFILL_IS_BUILT 4
/** The filter keeps its rate and forgets the oldest keys: its capacity is the window that it remembers. */
#define PETAL_OVERFILL_FORGETS 5

/** The C type that holds a filter, map or sketch of a kind: one of `PETAL_HANDLE_*`. */
typedef uint32_t petal_handle_type;

/** A `petal_filter`: `petal_filter_new()`, `petal_builder_new()`. Its kinds have numbers below 256. */
#define PETAL_HANDLE_FILTER 0
/**
 * A `petal_map`: `petal_map_builder_new()`, or `petal_map_new()` with `PETAL_CAN_PUT`. Its kinds have numbers below
 * 256.
 */
#define PETAL_HANDLE_MAP 1
/** A `petal_sketch`: `petal_sketch_new()`. Its kinds have numbers from 256 to 511. */
#define PETAL_HANDLE_SKETCH 2
/**
 * A `petal_router`, in petal_router.h. Its handle has no other kind, and `petal_kind_get_at()` does not list the kind.
 */
#define PETAL_HANDLE_ROUTER 3
/** A `petal_aggregate`, in petal_aggregate.h, the only kind of its handle as well. */
#define PETAL_HANDLE_AGGREGATE 4
/** A `petal_digest`, in petal_digest.h, the only kind of its handle as well. */
#define PETAL_HANDLE_DIGEST 5
/** A `petal_index`, in petal_index.h, the only kind of its handle as well. */
#define PETAL_HANDLE_INDEX 6

/**
 * The payload depends on the set of keys (and, if the kind counts, on the number of each), and not on their order.
 */
#define PETAL_IS_CANONICAL (1 << 0)
/** The default kind of its handle: a spec whose kind is 0 means this one. */
#define PETAL_IS_DEFAULT (1 << 1)
/**
 * The bits of its filters are another system's. Such filters come from `petal_filter_import()` and
 * `petal_format_get_spec()`. Nobody chooses such a kind for its own sake: `petal_plan_propose()` does not propose it.
 */
#define PETAL_IS_FOREIGN (1 << 2)
/**
 * The kind's keys are the integers below a filter's `bits`, and the filter does not hash them. The filter refuses
 * other keys (`PETAL_ERR_OUT_OF_RANGE`).
 */
#define PETAL_TAKES_INTEGERS (1 << 3)
/**
 * A change moves entries of other keys, and a reader would miss those keys meanwhile. So such filters do not open for
 * writing (`PETAL_ERR_UNSUPPORTED`). Load a copy, change the copy and save it.
 */
#define PETAL_MOVES_ENTRIES (1 << 4)

/** What the library knows of a kind. */
typedef struct petal_kind_info {
  /** sizeof(petal_kind_info), or 0 for its size in the first release. */
  size_t struct_size;
  /** The kind. */
  petal_kind kind;
  /** How many parameters only this kind takes. */
  uint32_t parameter_count;
  /**
   * What a filter of this kind with the default parameters can do in its own memory: `PETAL_CAN_*`, ORed. A filter
   * with other parameters may lack some of that: `petal_filter_capabilities()` says what a filter can do.
   */
  uint64_t capabilities;
  /**
   * The unit of a spec's `bits`. The `bits` of a spec are the exact size, a multiple of this unit. If the unit is 0,
   * the `bits` are an upper limit, and the spec needs a capacity too.
   */
  uint64_t bits_unit;
  /** What a filter does with more keys than its capacity. */
  petal_overfill overfill;
  /** The C type that holds it: one of `PETAL_HANDLE_*`. */
  petal_handle_type handle;
  /** `PETAL_IS_*`, `PETAL_TAKES_INTEGERS` and `PETAL_MOVES_ENTRIES`, ORed. */
  uint32_t flags;
  /**
   * How many copies of one key a filter with the kind's default parameters holds at most, if every copy takes a
   * place. The filter refuses one copy more (`PETAL_ERR_FULL`). 0 if copies take no places.
   */
  uint32_t most_copies;
  /** The kind's name, the same everywhere. */
  char name[PETAL_NAME_SIZE];
  /** A sentence that says what the kind is. */
  char summary[PETAL_SUMMARY_SIZE];
} petal_kind_info;
/** A `petal_kind_info` of this header's size, all else 0. */
#define PETAL_KIND_INFO_INIT PETAL_INIT(petal_kind_info)

/** What the library knows of a parameter. */
typedef struct petal_parameter_info {
  /** sizeof(petal_parameter_info), or 0 for its size in the first release. */
  size_t struct_size;
  /** The number by which specs refer to it. */
  uint32_t id;
  /** How many named choices there are, numbered from 0; 0 if the parameter takes a number. */
  uint32_t choice_count;
  /** The least value. */
  double minimum;
  /** The greatest value. */
  double maximum;
  /** The value of a parameter that nobody set. */
  double default_value;
  /** The parameter's name, the same everywhere. */
  char name[PETAL_NAME_SIZE];
  /** A sentence that says what the parameter does. */
  char summary[PETAL_SUMMARY_SIZE];
} petal_parameter_info;
/** A `petal_parameter_info` of this header's size, all else 0. */
#define PETAL_PARAMETER_INFO_INIT PETAL_INIT(petal_parameter_info)

/** How many kinds this build has: of filters, maps, other systems' filters and sketches. */
size_t petal_kind_count(void);

/**
 * Describes the kind at `index`, which is less than `petal_kind_count()`. The kinds of all handles come in one list:
 * `handle` and `PETAL_IS_FOREIGN` tell them apart. A later version may list kinds of a handle that this header does
 * not name: take the kinds whose `handle` you know, and skip all others.
 */
petal_status petal_kind_get_at(size_t index, petal_kind_info *info, petal_error *error);

/**
 * Describes the kind with this name: `PETAL_ERR_UNKNOWN_VALUE` if there is none,
 * `PETAL_ERR_UNSUPPORTED_BY_BUILD` if this build leaves it out.
 */
petal_status petal_kind_find(const char *name, petal_kind_info *info, petal_error *error);

/** Describes the parameter at `index` of a kind, less than its `parameter_count`. Kind 0 is the default kind. */
petal_status petal_kind_get_parameter(petal_kind kind, size_t index, petal_parameter_info *info, petal_error *error);

/**
 * Writes the name of a choice of the parameter at `index` of a kind into `name`, which has room for `PETAL_NAME_SIZE`
 * bytes. `choice` is less than the parameter's `choice_count`. Kind 0 is the default kind.
 */
petal_status petal_kind_get_choice(petal_kind kind, size_t index, size_t choice, char *name, petal_error *error);


/*
 * PLANNING
 *
 * Which kind of filter, and how large? `petal_plan_propose()` asks every kind. If the request has a
 * `false_positive_rate`, a proposal describes the filter of this spec: the proposal's `kind`, with `keys` as the
 * `capacity`, and the same rate. For a kind with `PETAL_TAKES_INTEGERS` the spec has the universe as its `bits`, and
 * neither capacity nor rate.
 */

/** What you want: set `keys`, and `false_positive_rate` or `memory`. */
typedef struct petal_plan_request {
  /** sizeof(petal_plan_request), or 0 for its size in the first release. */
  size_t struct_size;
  /**
   * Distinct keys. For a kind that forgets (`PETAL_CAN_AGE`) they are the last keys that it remembers: its window.
   */
  uint64_t keys;
  /** The greatest false-positive rate, inside (0, 1); 0 if `memory` is set. */
  double false_positive_rate;
  /** The most bytes; 0 if `false_positive_rate` is set. */
  uint64_t memory;
  /**
   * What the kind must be able to do: `PETAL_CAN_*`, ORed. `PETAL_MAY_LOSE_KEYS` also admits kinds that lose keys.
   */
  uint64_t capabilities;
  /**
   * 1 if you know all keys before the first lookup, so that kinds which cannot insert are proposed too; otherwise 0.
   */
  uint32_t is_static;
  /** 0. */
  uint32_t reserved;
  /**
   * If you know all keys that are asked for, members and others: how many they are, at least `keys`; 0 is unknown.
   * Kinds with `PETAL_TAKES_INTEGERS` fit only if you give the number: their keys are the integers below it. With
   * `is_static` the proposal of `exact_set` is one without an error for any of these keys.
   */
  uint64_t universe;
  /**
   * The greatest number of times that one key comes, for kinds that count. If a kind cannot hold that many copies,
   * its proposal says why. 0 means 1.
   */
  uint64_t times;
  /**
   * If you know keys that are no members but are asked for often: the share, from 0 to 1, of all lookups of absent
   * keys that asks for them. With `is_static` the rate of `stacked` is then that of all lookups of absent keys.
   */
  double frequent;
  /** How many such keys there are; 0 means as many as `keys`. */
  uint64_t non_members;
} petal_plan_request;
/** A `petal_plan_request` of this header's size, all else 0. */
#define PETAL_PLAN_REQUEST_INIT PETAL_INIT(petal_plan_request)

/** The size of a proposal's reason, with its final NUL. */
#define PETAL_REASON_SIZE 240

/**
 * The offer of one kind. The size of this struct never changes, because it is an element of arrays: later fields take
 * the place of `reserved`. Only the `struct_size` of an array's first element matters.
 */
typedef struct petal_plan_proposal {
  /** sizeof(petal_plan_proposal), or 0 for its size in the first release. */
  size_t struct_size;
  /** The kind. */
  petal_kind kind;
  /** `PETAL_OK` if the kind fits. Otherwise the status says why not, and the numbers below are 0. */
  petal_status status;
  /** Bits for each key. */
  double bits_per_key;
  /**
   * The size of the image in bytes. For `ribbon` and `golomb` it is the greatest size, because theirs depends on the
   * hashes of the keys.
   */
  uint64_t bytes;
  /**
   * The exact false-positive rate with all keys inserted. With `PETAL_CAN_GROW` it is the rate that the filter keeps
   * however many keys come. With `PETAL_CAN_AGE` it is the filter's largest rate, with `keys` keys in the window.
   */
  double false_positive_rate;
  /** Cache lines that a lookup of a present key touches. */
  double lines_per_lookup;
  /**
   * Bytes that a builder takes besides the filter, without a memory limit and on one thread, for kinds that a
   * builder makes from all keys: eight for each key, and what the work needs. 0 for kinds that start empty.
   */
  uint64_t build_memory;
  /** The kind's name. */
  char name[PETAL_NAME_SIZE];
  /** Why the kind does not fit; empty if it does. */
  char reason[PETAL_REASON_SIZE];
  /**
   * The parameter that gives the kind these numbers, for `petal_spec.parameters`. Its id is 0 where all parameters
   * have their defaults.
   */
  petal_setting setting;
  /** 0. */
  uint64_t reserved[2];
} petal_plan_proposal;
/** A `petal_plan_proposal` of this header's size, all else 0. */
#define PETAL_PLAN_PROPOSAL_INIT PETAL_INIT(petal_plan_proposal)

/**
 * Proposes kinds. Kinds that fit come first, the smallest at the top; for a request with `memory`, the most accurate.
 * Writes the first `room` proposals into `proposals`, and the number of all proposals into `count`. There is one
 * proposal for each kind of filter, so room for `petal_kind_count()` proposals is enough. A request of 0 keys means 1.
 */
petal_status petal_plan_propose(const petal_plan_request *request,
                                petal_plan_proposal *proposals,
                                size_t room,
                                size_t *count,
                                petal_error *error);


/*
 * FILTERS: DESCRIBING
 */

/**
 * nobody marked the payload clean as it is now, or not yet. Somebody is changing the image, or the image was open for
 * writing when its process ended, or the filter comes from such an image. The count may lag.
 */
#define PETAL_STATE_UNCLEAN (1 << 0)
/** The image lies in a caller's buffer or a mapped file. */
#define PETAL_STATE_IN_PLACE (1 << 1)
/** This handle may change the filter. */
#define PETAL_STATE_WRITABLE (1 << 2)
/** The filter can hash keys: it takes keys, and has its secret key if it needs one. */
#define PETAL_STATE_CAN_HASH (1 << 3)
/**
 * The filter is unclean, and `petal_filter_sync()` and `petal_filter_free()` of this handle will not make it clean.
 * Either the image was unclean when the handle opened it, or the handle merged something unclean into the filter.
 * `petal_filter_mark_clean()` makes the filter clean.
 */
#define PETAL_STATE_STAYS_UNCLEAN (1 << 4)

/** What a filter is: all that its header says. */
typedef struct petal_description {
  /** sizeof(petal_description), or 0 for its size in the first release. */
  size_t struct_size;
  /** The kind. */
  petal_kind kind;
  /** The hash function. */
  petal_hash_function hash;
  /**
   * The seed; the identifier of the secret key of a keyed filter; the tag of external hashes; the bits of a digest.
   */
  uint64_t seed;
  /** The version of the header's format. */
  uint32_t format_version;
  /** The version of the kind's layout. */
  uint32_t layout_version;
  /** What this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert. */
  uint64_t capabilities;
  /** `PETAL_STATE_*`, ORed. */
  uint32_t state;
  /** How many bits or cells a key takes; 0 for kinds without such a number. */
  uint32_t hashes;
  /** How many distinct keys the filter has room for; 0 is unknown. */
  uint64_t capacity;
  /** Keys inserted so far, duplicates included, less removed keys. */
  uint64_t insertions;
  /** How many bits the filter spreads its keys over. */
  uint64_t bits;
  /** Bytes of the whole image: header, payload and table of checksums. */
  uint64_t bytes;
  /** `bits` for each key of the capacity; 0 if the capacity is unknown. */
  double bits_per_key;
  /**
   * The false-positive rate expected at capacity: the rate promised when the filter was made, or after folding the
   * rate of the smaller geometry. 0 if the spec asked for exact bits.
   */
  double false_positive_rate;
  /** The inner loops that the filter uses: one of `PETAL_KERNEL_*`, never `PETAL_KERNEL_BEST`. */
  petal_kernel kernel;
  /** 0. */
  uint32_t reserved;
} petal_description;
/** A `petal_description` of this header's size, all else 0. */
#define PETAL_DESCRIPTION_INIT PETAL_INIT(petal_description)

/** How full a filter is: what its payload tells. */
typedef struct petal_statistics {
  /** sizeof(petal_statistics), or 0 for its size in the first release. */
  size_t struct_size;
  /** The share of the bits, or of other places, that keys have taken. */
  double fill;
  /**
   * The false-positive rate now, from the payload as it is: exact, if every hash is as likely as any other.
   *
   * For a bloom filter with derivation double, enhanced_double or triple the rate is exact up to some thousand bits
   * (with triple, some hundred): there the function tries every hash, in milliseconds. Above that size the rate
   * comes from the fill and the estimated number of keys. It is within 5 % for a filter that was made by rate, and
   * within 10 % for other numbers of bits. With triple and exact bits it may be too low by half if bits / hashes is
   * below some hundreds.
   *
   * For `hash_compaction` the rate is exact for tables of a few hundred slots. Above that it is the mean over all
   * tables with as many taken slots, from which a table is within 5 %.
   *
   * For `rotating` the rate is exact for generations of up to 8 MiB: of less with more than four generations, down
   * to 8 KiB. Above that the first bytes of each generation say how many keys the generations have in common.
   *
   * For `scalable` the function takes the levels to be independent of each other. Levels that are often wrong keep
   * keys from the levels that follow. The rate is then too low by a few percent: by 4 % at a rate of 0.5.
   */
  double false_positive_rate;
  /** The lowest rate that 64-bit hashes allow with this many keys, however many bits there are. */
  double false_positive_rate_floor;
  /**
   * Distinct keys, estimated from the fill; negative if the filter is too full to tell, or if its kind cannot
   * estimate. `petal_filter_get_estimate()` also gives the error.
   */
  double count_estimate;
  /**
   * How many counters have reached their greatest value, where they stay: the true count is that or more. 0 for
   * kinds without counters.
   */
  uint64_t saturated;
} petal_statistics;
/** A `petal_statistics` of this header's size, all else 0. */
#define PETAL_STATISTICS_INIT PETAL_INIT(petal_statistics)

/** Describes a filter, in constant time: the function reads no payload. */
petal_status petal_filter_describe(const petal_filter *filter, petal_description *description, petal_error *error);

/** Measures how full a filter is. Reads the whole payload. */
petal_status petal_filter_get_statistics(const petal_filter *filter, petal_statistics *statistics, petal_error *error);

/**
 * Writes the spec of an empty filter that is compatible with this one: its kind, exact bits and hashes, hash function,
 * seed and parameters. The spec does not contain the secret key of a keyed filter. A filter from a compact form has
 * lost its capacity. If the capacity gives such a filter its size or its window, the spec makes a filter of another
 * size.
 */
petal_status petal_filter_get_spec(const petal_filter *filter, petal_spec *spec, petal_error *error);

/** Returns what this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert. 0 for NULL. */
uint64_t petal_filter_capabilities(const petal_filter *filter);


/*
 * BUILDERS
 *
 * A builder collects keys and then makes a filter for exactly the distinct keys that came. Kinds with
 * `PETAL_OVERFILL_IS_BUILT`, such as `fuse`, need a builder, and all other kinds of filter can have one. A builder
 * keeps 8 bytes a key, and 16 for kinds that remove or count keys. It does not keep the order of the keys. So a filter
 * that remembers the last keys gets arbitrary keys if more came than its capacity.
 */

/** Collects keys. Free it with `petal_builder_free()`. */
typedef struct petal_builder petal_builder;

/**
 * Reports the progress of a build. `petal_builder_finish()`, `petal_builder_save()` and the like call it with the work
 * done and the total work. A unit of work is a key in one phase: sorting, merging what went to a file, making the
 * filter. `total` is the same number at all calls for one filter. `done` never falls, may be the same at several
 * calls, and is `total` at the last one. A call comes at least once for every 2^21 keys of work.
 *
 * Return false to cancel, at any call: then the builder makes nothing, leaves no file and keeps its keys. A callback
 * must not unwind (throw) through the library.
 */
typedef bool (*petal_progress_callback)(void *context, uint64_t done, uint64_t total);

/** How a builder works. NULL stands for all zeros. */
typedef struct petal_builder_options {
  /** sizeof(petal_builder_options), or 0 for its size in the first release. */
  size_t struct_size;
  /**
   * The most memory in bytes for keys and for sorting them; keys that find no room go to a temporary file. 0 is no
   * limit; a limit is at least 1048576. The limit does not include the finished filter and the stacks of threads.
   *
   * Kinds that a builder makes from all keys are solved shard by shard, whatever the limit, so that the limit does
   * not change their bytes. Solving takes some 22 bytes for each key of the largest shard (38 bytes for a map) and 5
   * MB. A shard has half of all keys, but at least 2^20 or all, and at most 5 * 2^20. That makes 28 MB (45 MB for a
   * map) for two million keys, and never more than 118 MB (202 MB). A lower limit holds until solving begins, and
   * solving then exceeds it by as much.
   */
  uint64_t memory_limit;
  /**
   * The folder of the temporary file. The file has no name and goes with the builder. It takes 8 bytes for each key,
   * and 16 while the builder makes the filter; twice that for kinds that remove or count keys. The builder copies
   * this string. Nullable without a limit. If you give a folder, it must exist and take files.
   */
  const char *temporary_directory;
  /** Nullable. The thread that finishes or saves calls it, at any time until you free the builder. */
  petal_progress_callback progress;
  /** The builder passes this pointer to `progress`. What the pointer points to must live as long as the builder. */
  void *progress_context;
  /**
   * How many threads make the filter, the caller's included; 0 and 1 mean the caller's only. Other threads run only
   * while the builder makes the filter. The filter is the same.
   */
  size_t threads;
} petal_builder_options;
/** A `petal_builder_options` of this header's size, all else 0. */
#define PETAL_BUILDER_OPTIONS_INIT PETAL_INIT(petal_builder_options)

/**
 * Makes a builder of the filter that a spec describes. If the spec has neither capacity nor bits, the capacity becomes
 * the number of distinct keys that come. `options` is nullable.
 */
petal_status petal_builder_new(const petal_spec *spec,
                               const petal_builder_options *options,
                               petal_builder **builder,
                               petal_error *error);

/** Frees a builder. NULL is allowed. */
void petal_builder_free(petal_builder *builder);

/** Adds a key. */
petal_status petal_builder_add(petal_builder *builder, const void *key, size_t length);

/** Adds a uint64_t key. */
petal_status petal_builder_add_u64(petal_builder *builder, uint64_t key);

/** Adds a hash. */
petal_status petal_builder_add_hash(petal_builder *builder, uint64_t hash);

/**
 * Adds keys in order. `answers` is nullable: its field `done` tells how many keys were added. A builder finds out
 * nothing about a key, so it refuses every output in `answers`.
 */
petal_status petal_builder_add_batch(petal_builder *builder,
                                     const petal_keys *keys,
                                     petal_answers *answers,
                                     petal_error *error);

/** How many keys were added, duplicates included, and without excluded ones. */
petal_status petal_builder_key_count(const petal_builder *builder, uint64_t *insertions, petal_error *error);

/**
 * Makes the filter and empties the builder. You may then use the builder again, or free it. On a failure, and when the
 * progress callback cancels (`PETAL_ERR_CANCELLED`), the keys stay in the builder.
 */
petal_status petal_builder_finish(petal_builder *builder, petal_filter **filter, petal_error *error);

/**
 * Makes the filter straight into a file, which replaces an old file atomically, and empties the builder. So you can
 * make a filter anew from its source, in the right size, while others read the old file. A process that has the old
 * file open keeps it. On a failure the old file and the keys stay.
 */
petal_status petal_builder_save(petal_builder *builder, const char *path, petal_error *error);


/*
 * FILTERS: REMOVING AND COUNTING
 *
 * For kinds with `PETAL_CAN_REMOVE` and `PETAL_CAN_COUNT`. A filter whose parameters are not the default ones may be
 * able to do less than its kind: `petal_filter_capabilities()`.
 *
 * A removal takes back one insertion. If the key certainly is not there, nothing changes, and `removed` becomes false.
 * Remove only keys that you inserted, and only as often. The filter says "maybe" of some other keys, at its
 * false-positive rate. Removing such a key takes what other keys left, and may lose some of those.
 *
 * A count is too high only where other keys share all places of the key, at most with the probability of a false
 * positive. A count is too low only after somebody removed a key that was not there. Many kinds count to a greatest
 * number only, and a count that has reached that number stays there. `saturated` of `petal_statistics` says how many
 * counts have.
 *
 * docs/kinds has a page for each kind. The page says how far the kind counts, and what a wrong removal can lose.
 */

/**
 * Removes one occurrence of a key. `removed`, nullable, becomes false if the key certainly was not there; nothing has
 * changed then. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot remove.
 */
petal_status petal_filter_remove(petal_filter *filter, const void *key, size_t length, bool *removed);

/**
 * Removes one occurrence of a uint64_t key. `removed`, nullable, becomes false if the key certainly was not there.
 */
petal_status petal_filter_remove_u64(petal_filter *filter, uint64_t key, bool *removed);

/**
 * Removes one occurrence of the key with this hash. `removed`, nullable, becomes false if the key certainly was not
 * there.
 */
petal_status petal_filter_remove_hash(petal_filter *filter, uint64_t hash, bool *removed);

/**
 * Removes one occurrence of each key, in order. Each of the `answers`, nullable, is false if the key certainly was not
 * there. On a failure the filter has taken the first `done` keys.
 */
petal_status petal_filter_remove_batch(petal_filter *filter,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);

/**
 * Counts how often a key was inserted, less how often it was removed; 0 is certain. Returns `PETAL_ERR_UNSUPPORTED` if
 * the kind cannot count.
 */
petal_status petal_filter_count(const petal_filter *filter, const void *key, size_t length, uint64_t *count);

/** Counts how often a uint64_t key was inserted, less how often it was removed; 0 is certain. */
petal_status petal_filter_count_u64(const petal_filter *filter, uint64_t key, uint64_t *count);

/** Counts how often the key with this hash was inserted, less how often it was removed; 0 is certain. */
petal_status petal_filter_count_hash(const petal_filter *filter, uint64_t hash, uint64_t *count);

/**
 * Counts keys, into `counts` of the answers. The other answers say whether a count is more than 0. On a failure every
 * answer is true and every count UINT64_MAX. If the function cannot read `keys`, and so does not know how many keys
 * there are, `true_count` is UINT64_MAX.
 */
petal_status petal_filter_count_batch(const petal_filter *filter,
                                      const petal_keys *keys,
                                      petal_answers *answers,
                                      petal_error *error);


/*
 * FILTERS: COMBINING
 *
 * Filters combine if they are alike in kind, layout, geometry, hash function and seed or secret: make them from one
 * spec. Functions refuse other filters with `PETAL_ERR_INCOMPATIBLE`, and the message names the first difference.
 */

/**
 * Makes `filter` the union of both: the union finds every key that either filter found. Counts add up. If the kind is
 * canonical (`PETAL_IS_CANONICAL`), the union has the same bits as a filter into which all keys of both were inserted.
 * If the kind grows, the union may have twice the rate that each filter keeps. If `other` is
 * `PETAL_STATE_STAYS_UNCLEAN`, `filter` becomes stays_unclean too.
 *
 * Returns `PETAL_ERR_FULL` if there is no room for both, and `PETAL_ERR_CORRUPT` if either filter lies in an image
 * that does not match its checksums. `filter` has not changed then.
 */
petal_status petal_filter_merge(petal_filter *filter, const petal_filter *other, petal_error *error);

/**
 * Makes `filter` hold every key that both hold. The false-positive rate of the result is no higher than that of either
 * filter, but higher than that of a filter made from the common keys alone. The count becomes the smaller of both. An
 * stays_unclean or damaged `other` has the same effect as in `petal_filter_merge()`.
 */
petal_status petal_filter_intersect(petal_filter *filter, const petal_filter *other, petal_error *error);

/**
 * Makes the filter smaller by `factor`, at least 2, without its keys. The result has the same bits as a filter that
 * was this small from the beginning. The factor must divide the number of units (bits, bits of a slice, or blocks). A
 * filter with the parameter "foldable" allows many powers of two. The capacity stays, and the rate expected at the
 * capacity becomes that of the smaller geometry. Only for filters in their own memory.
 */
petal_status petal_filter_fold(petal_filter *filter, uint64_t factor, petal_error *error);

/**
 * Gives the filter another size, without its keys: room for `capacity` keys, and for the keys that the filter holds.
 * The function doubles or halves the number of slots as often as that takes. Each step moves one bit between the
 * slots' numbers and their fingerprints. The capacity becomes the number of keys that the new size has room for.
 *
 * The rate with the present keys stays, and the filter still combines with the same filters. Each doubling doubles the
 * rate at the new capacity, and each halving halves that rate.
 *
 * Returns `PETAL_ERR_OUT_OF_RANGE` if there is no such size, and `PETAL_ERR_FULL` if the new size has no room for the
 * present keys. Nothing has changed then. Returns `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_RESIZE`. Only for filters
 * in their own memory. Linear in the filter.
 */
petal_status petal_filter_resize(petal_filter *filter, uint64_t capacity, petal_error *error);

/**
 * Moves time on by `steps` steps, for a kind that forgets its oldest keys: each step forgets the keys that are oldest
 * then. Each kind has its own steps, and its own least number of steps for which it finds a key. In `rotating` a step
 * is a generation. The parameter "generations" is their number, and the filter finds a key for one step less than
 * that. So for a window of time T, call this function with one step whenever T / (generations - 1) has passed.
 *
 * Once the steps have forgotten all keys, further steps do nothing more; 0 steps do nothing. The count of insertions
 * stays. If the window is one of keys (the parameter "clock"), the filter moves on by itself, and you may move it on
 * besides. While others insert, use `petal_filter_advance_shared()`.
 *
 * Returns `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_AGE`. In an image in place the function changes only the parts
 * that hold forgotten keys, and readers of the image go on meanwhile. Returns `PETAL_ERR_CORRUPT` if those parts do
 * not match their checksums. A failure changes nothing. Linear in the forgotten parts.
 */
petal_status petal_filter_advance(petal_filter *filter, uint64_t steps, petal_error *error);

/** Forgets all keys. */
petal_status petal_filter_clear(petal_filter *filter, petal_error *error);

/** Says whether both filters would combine and have the same bits. */
petal_status petal_filter_equals(const petal_filter *filter,
                                 const petal_filter *other,
                                 bool *equal,
                                 petal_error *error);

/** The size of a compatibility id. */
#define PETAL_COMPATIBILITY_ID_SIZE 16

/** Writes `PETAL_COMPATIBILITY_ID_SIZE` bytes that are the same for two filters if they can combine. */
petal_status petal_filter_get_compatibility_id(const petal_filter *filter, uint8_t *id, petal_error *error);


/*
 * FILTERS: ESTIMATING
 *
 * These functions estimate from the bits how many distinct keys filters hold, alone and in common. They read all bits.
 */

/** An estimate with its uncertainty. Other structs contain this one, so it has no `struct_size` and never changes. */
typedef struct petal_filter_estimate {
  /** The estimate as the formula gives it: the estimate of an intersection may be negative. 0 if saturated. */
  double value;
  /** The standard error, or a bound on it if the estimate comes from several others. */
  double standard_error;
  /** The lower end of the 95 % interval. */
  double low;
  /** The upper end of the 95 % interval. */
  double high;
  /** 1 if a filter is too full to tell, and the numbers above mean nothing; otherwise 0. */
  uint32_t saturated;
  /** 0. */
  uint32_t reserved;
} petal_filter_estimate;

/** What two filters have in common. */
typedef struct petal_filter_overlap {
  /** sizeof(petal_filter_overlap), or 0 for its size in the first release. */
  size_t struct_size;
  /** Distinct keys of the first. */
  petal_filter_estimate first_count;
  /** Distinct keys of the second. */
  petal_filter_estimate second_count;
  /** Distinct keys of both together. */
  petal_filter_estimate union_count;
  /**
   * Keys in common. The error does not depend on their number, so nobody can tell few common keys of large sets from
   * none.
   */
  petal_filter_estimate intersection_count;
  /** Keys in common as a share of all: the Jaccard index. */
  petal_filter_estimate jaccard;
  /**
   * Keys that only one of the two has. The error grows with the number of such keys, and not with the size of the
   * sets.
   */
  petal_filter_estimate difference_count;
} petal_filter_overlap;
/** A `petal_filter_overlap` of this header's size, all else 0. */
#define PETAL_FILTER_OVERLAP_INIT PETAL_INIT(petal_filter_overlap)

/** Estimates how many distinct keys a filter holds. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot estimate. */
petal_status petal_filter_get_estimate(const petal_filter *filter, petal_filter_estimate *estimate, petal_error *error);

/**
 * Compares two filters that could be merged: how many keys each holds, how many both hold together, how many are in
 * both, and how many in one only. Reads both payloads. Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot estimate, or
 * if filters of the kind grow: filters of different sizes cannot be compared. Returns `PETAL_ERR_INCOMPATIBLE`, naming
 * the first difference, if the filters could not be merged.
 */
petal_status petal_filter_estimate_overlap(const petal_filter *filter,
                                           const petal_filter *other,
                                           petal_filter_overlap *comparison,
                                           petal_error *error);


/*
 * FILTERS: IMAGES
 *
 * An image is a header of 256 bytes, the payload and a table of checksums.
 *
 * An image is *clean* if somebody marked exactly these bytes clean and the bytes match their checksums. Otherwise
 * nobody marked the image clean, and it is *unclean*. A handle that changes an image in place marks the image unclean
 * on its disk before the first change. If the image was clean before, `petal_filter_sync()` or `petal_filter_free()`
 * makes it clean again.
 *
 * If the process dies between, the image still opens. Lookups still find every key whose insertion had returned,
 * unless the machine itself went down. The same holds for what other calls changed, and for all handles but sketches:
 * what a sketch lists then cannot be relied on. The change under way may be made in part, and that of an aggregate is
 * undone. Do not repeat a removal that was under way: it could take from other keys. The image stays unclean, and so
 * does every copy of it, until somebody calls `petal_filter_mark_clean()`.
 *
 * The costs. The payload has regions of 64 KiB with a checksum each. Before a handle changes a region for the first
 * time since opening or syncing, the handle reads the region and compares the checksum. The handle does not change a
 * region that does not match (`PETAL_ERR_CORRUPT`), so that damage never gets a new checksum. Sync and free read the
 * changed regions, and the table, which has a word for each region. Clearing, merging, intersecting and a writable
 * view change all regions.
 */

/**
 * Makes an empty filter inside `buffer`, which has at least `petal_spec_image_size()` bytes and is aligned to 8 (64 is
 * faster). The buffer becomes a complete image. If the buffer is shared memory, other processes may open the image.
 * The buffer must outlive the handle. `petal_filter_sync()` and `petal_filter_free()` bring the image's count and
 * checksum up to date.
 */
petal_status petal_filter_new_in_buffer(const petal_spec *spec,
                                        void *buffer,
                                        size_t length,
                                        petal_filter **filter,
                                        petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file; other things may follow the image. On Windows
 * `descriptor` is the file's HANDLE: a number of a C runtime means nothing in another runtime. The descriptor stays
 * yours, and you may close it right away. If the mode allows changes, the library opens the file anew, through /proc
 * on Linux, because locks belong to an open file. Where the library cannot open the file anew, handles from one
 * descriptor and its copies do not keep each other out. `options` is nullable.
 */
petal_status petal_filter_open_descriptor(intptr_t descriptor,
                                          uint64_t offset,
                                          const petal_open_options *options,
                                          petal_filter **filter,
                                          petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. If the image opens in place, the buffer must outlive the
 * handle. With `PETAL_OPEN_READ` the library never writes to the buffer. While a handle has the buffer open for
 * writing, no other handle of this process may use it. Processes that share the buffer may read it through their own
 * handles. `options` is nullable.
 */
petal_status petal_filter_open_in_buffer(void *buffer,
                                         size_t length,
                                         const petal_open_options *options,
                                         petal_filter **filter,
                                         petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into new memory and compares the checksums. The function
 * ignores the mode in `options`, which is nullable.
 */
petal_status petal_filter_load(const void *image,
                               size_t length,
                               const petal_open_options *options,
                               petal_filter **filter,
                               petal_error *error);

/** The size of the image in bytes. */
petal_status petal_filter_serialized_size(const petal_filter *filter, uint64_t *size, petal_error *error);

/**
 * Writes the image into a buffer of at least `petal_filter_serialized_size()` bytes. Threads and processes may insert
 * meanwhile. The written image has every key whose insertion happened before, and its checksums match the written
 * bytes. The image is unclean if the filter is `PETAL_STATE_STAYS_UNCLEAN`. A handle marks its own changes clean, and
 * handles that share an image do so for each other.
 *
 * Returns `PETAL_ERR_CORRUPT` if the filter lies in an image that does not match its checksums. Returns
 * `PETAL_ERR_UNCLEAN` if the filter was opened for reading and another process begins to change it meanwhile.
 * `written` is nullable.
 */
petal_status petal_filter_serialize(const petal_filter *filter,
                                    void *buffer,
                                    size_t length,
                                    size_t *written,
                                    petal_error *error);

/**
 * Takes the next `length` bytes of an image. Return false to stop. The callback must not unwind (throw) through the
 * library.
 */
typedef bool (*petal_write_callback)(void *context, const void *bytes, size_t length);

/**
 * Gives the image to `write`, piece by piece and in order, and otherwise does what `petal_filter_serialize()` does.
 * Threads and processes may insert meanwhile. The function passes `context`, which may be NULL, to `write`.
 *
 * Returns `PETAL_ERR_CALLBACK` if `write` returns false. Returns `PETAL_ERR_CORRUPT` if the filter lies in an image
 * that does not match its checksums. Returns `PETAL_ERR_UNCLEAN` if the filter was opened for reading and another
 * process begins to change it meanwhile.
 */
petal_status petal_filter_serialize_to(const petal_filter *filter,
                                       petal_write_callback write,
                                       void *context,
                                       petal_error *error);

/**
 * Brings an image that was changed in place up to date on its disk. The image becomes clean if it was clean when the
 * handle opened it and nobody merged anything unclean into it. Otherwise, and while handles share the image, its bytes
 * are on the disk but it stays unclean: see `petal_filter_mark_clean()`. After a failure the image stays unclean, and
 * another call tries again. The cost depends on what was changed, see above. Filters in their own memory need no sync.
 */
petal_status petal_filter_sync(petal_filter *filter, petal_error *error);

/**
 * Declares that the bytes are right as they are now. The filter becomes clean, and an image in place gets new
 * checksums, on its disk too. Call this function if you know that all keys are there, because you inserted them again,
 * or if you can do without some. Reads the whole payload. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if the image is
 * open for reading or shared. Returns `PETAL_ERR_CORRUPT` if no filter of this kind can have such a payload.
 */
petal_status petal_filter_mark_clean(petal_filter *filter, petal_error *error);

/**
 * Reads and checks all bytes as they are now, whatever this handle or another one did since opening. Returns
 * `PETAL_ERR_CORRUPT`, naming the bytes, if a region does not match its checksum. Returns `PETAL_ERR_UNCLEAN` if all
 * regions match, but nobody marked the payload clean, or not yet: somebody is changing it, or was when the process
 * ended. A filter in its own memory has no checksums: there the function checks whether the kind can have such a
 * payload, and whether the filter is unclean.
 */
petal_status petal_filter_verify(const petal_filter *filter, petal_error *error);


/*
 * FILTERS: INSERTING FROM MANY THREADS
 *
 * These functions insert through a const handle, without locks, while other threads insert and look up through the
 * same handle, and other processes through theirs (`PETAL_OPEN_SHARE`). `PETAL_CAN_INSERT_SHARED` says whether a
 * handle can.
 *
 * A lookup finds every key whose insertion happened before the lookup. If several threads insert the same new key at
 * the same time, at least one of them learns that the key was new; more than one may. These functions do not count
 * keys, because all threads would wait for a counter that they share. `petal_filter_add_insertions()` adds the count
 * later, and `petal_filter_get_estimate()` needs none. All other functions that take a handle which is not const still
 * need the handle to themselves.
 *
 * A kind that forgets its oldest keys, such as `rotating`, keeps its window meanwhile. Once an insertion has returned,
 * lookups find the key while as many further keys, or steps, come as the window has, whoever inserts them and
 * wherever. An insertion that finds the newest generation full drops the oldest one. Nobody waits for that. So the
 * newest generation also takes the keys that come meanwhile, and these raise the rate. `petal_filter_advance_shared()`
 * moves time on.
 *
 * If a process dies in the middle of a step in a file, the next process completes the step. A buffer has no locks. If
 * a process dies in the middle of a step there, insertions and lookups go on, but nobody makes a step until a handle
 * opens the buffer for writing and inserts or moves time on.
 */

/**
 * Inserts a key while others insert and look up. `is_new`, nullable, becomes true if the key certainly was not there.
 */
petal_status petal_filter_insert_shared(const petal_filter *filter, const void *key, size_t length, bool *is_new);

/**
 * Inserts a uint64_t key while others insert and look up. `is_new`, nullable, becomes true if the key certainly was
 * not there.
 */
petal_status petal_filter_insert_shared_u64(const petal_filter *filter, uint64_t key, bool *is_new);

/**
 * Inserts the key with this hash while others insert and look up. `is_new`, nullable, becomes true if the key
 * certainly was not there.
 */
petal_status petal_filter_insert_shared_hash(const petal_filter *filter, uint64_t hash, bool *is_new);

/**
 * Inserts keys in order while others insert and look up. Each of the `answers`, nullable, says whether the key
 * certainly was not there before. After a failure no key is in the filter, with one exception. `PETAL_ERR_CORRUPT`
 * says that a key met a part of the image that does not match its checksum: the first `done` keys are in then.
 */
petal_status petal_filter_insert_shared_batch(const petal_filter *filter,
                                              const petal_keys *keys,
                                              petal_answers *answers,
                                              petal_error *error);

/**
 * Moves time on by `steps` steps as `petal_filter_advance()` does, while others insert and look up. The handle needs
 * `PETAL_CAN_AGE_SHARED`. Calls for one filter wait for each other, in one process and in several; no insertion waits.
 *
 * Returns `PETAL_ERR_UNSUPPORTED` if the kind cannot, and `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if the handle may not.
 * Returns `PETAL_ERR_CORRUPT` if the part to forget does not match its checksums; nothing has changed then. In a
 * buffer, returns `PETAL_ERR_LOCKED` if somebody else is making a step; this call may have made some of its steps
 * then.
 */
petal_status petal_filter_advance_shared(const petal_filter *filter, uint64_t steps, petal_error *error);

/**
 * Adds to the count of insertions, for keys that came through functions which do not count. Threads may call this
 * function while others use the filter. A thread that inserts many keys should first add up its own, because all
 * threads wait for a counter that they share. An image in place has the sum after the handle is synced or freed. Each
 * handle that shares the image adds its own part. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if the image is open for
 * reading.
 */
petal_status petal_filter_add_insertions(const petal_filter *filter, uint64_t keys, petal_error *error);


/*
 * HASHING ONCE FOR MANY FILTERS
 *
 * A filter hashes keys itself. If you look one key up in many filters that share a hash function and seed, hash the
 * key once and use the `_hash` functions.
 */

/** The hash of a key under a spec's hash function, seed and secret; the rest of the spec does not matter. */
petal_status petal_spec_hash(const petal_spec *spec,
                             const void *key,
                             size_t length,
                             uint64_t *hash,
                             petal_error *error);

/**
 * Writes the `keys->count` hashes of many keys under a spec's hash function, seed and secret. Give the hashes as
 * `PETAL_KEYS_HASHES` to many filters, or compact forms, that hash alike.
 */
petal_status petal_spec_hash_batch(const petal_spec *spec,
                                   const petal_keys *keys,
                                   uint64_t *hashes,
                                   petal_error *error);

/**
 * The hash of a key as a filter makes it. Returns `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_SECRET_MISSING` if the
 * filter cannot hash keys.
 */
petal_status petal_filter_hash(const petal_filter *filter, const void *key, size_t length, uint64_t *hash);


/*
 * VERSION
 *
 * The macros `PETAL_VERSION_*` tell the header's version, and these functions tell the library's.
 */

/** The library's version as major * 10000 + minor * 100 + patch, like `PETAL_VERSION_NUMBER`. */
uint32_t petal_version_number(void);

/** The library's version as text, like `PETAL_VERSION_STRING`. Static. */
const char *petal_version_string(void);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_H */
