/*
 * Petal: Bloom filters and other approximate-membership structures.
 *
 * A filter answers "have I seen this key?" without storing the keys. It never says no to a key
 * that was inserted; of other keys it says yes at a false-positive rate that you choose.
 *
 *     petal_filter *seen = petal_filter_with_capacity(1000000, 0.01);
 *     if (!seen) return 1;
 *     petal_filter_insert(seen, "apple", 5, NULL);
 *     if (petal_filter_contains(seen, "apple", 5)) puts("maybe");
 *     petal_filter_free(seen);
 *
 * The first program needs only `petal_filter_with_capacity()`, `petal_filter_insert()`,
 * `petal_filter_contains()`, `petal_filter_save()`, `petal_filter_open()` and `petal_filter_free()`.
 * The sections go from simple to advanced: statuses, filters of the default kind, then KINDS,
 * SPECS and what else there is to choose. An item names the version that it came with; one that
 * does not came with 0.1.
 *
 * CONVENTIONS, which hold for every function:
 *
 * Names are `petal_<noun>_<verb>`. The handle comes first, outputs come last.
 *
 * Status. A function that can fail returns a `petal_status`: `PETAL_OK` (0) or a negative number;
 * `petal_status_message()` explains it. Where the last parameter is a `petal_error *` it may be
 * NULL; otherwise a failure fills it with a message that names the parameter, its value and what
 * is allowed. A success leaves it alone.
 *
 * Lookups. `petal_filter_contains*` return a bool, and ANY failure returns true: a NULL handle or
 * key, a keyed filter opened without its key. So a failed call never says that a
 * key is absent. `petal_filter_contains_checked*` return a status and write the answer.
 *
 * Outputs are written only on success, except for the answers of a batch lookup (all 1 on failure) and
 * the numbers in a `petal_answers` (always written). Output pointers that may be NULL are marked
 * "nullable"; every other pointer is required and NULL gives `PETAL_ERR_NULL`.
 *
 * A failed call changes no filter and leaves no half-written file.
 *
 * Keys are bytes (pointer and length; NULL with length 0 is the empty key), a uint64_t (the same as
 * its 8 little-endian bytes), or a 64-bit hash made with `petal_hash()` or `petal_filter_hash()`:
 * `contains(key) == contains_hash(hash(key))`. Filters whose hash function is
 * `PETAL_HASH_EXTERNAL` take hashes only.
 *
 * Structs start with `struct_size`: set it to sizeof the struct, and all else you do not use to 0,
 * which is the default of every field. Later versions append fields; a struct from a later version
 * is accepted if what this version does not know is 0.
 *
 * Ownership. What a function writes through a `**` parameter is yours, to be freed by the function
 * named in its type's comment; free functions accept NULL. Strings that are returned are static.
 * Buffers, specs, options and keys are used during the call only, unless the comment says more.
 *
 * Threads. Functions that take a const handle may run in many threads at once on one handle; the
 * others need it to themselves. Nothing of one handle is shared with another.
 *
 * Forks. A child has copies of its parent's handles. A filter in memory of its own and a builder are
 * the child's to use. An image that the parent has open to change it the child only reads: what would
 * change it is `PETAL_ERR_UNSUPPORTED`, and freeing the handle frees memory and nothing else, so that
 * the parent's lock and the image stay as they are. To change it too, the child opens it itself.
 *
 * Callbacks must not use the handle of the call that calls them, and nothing may leave a call but by its
 * return: no C++ exception or longjmp through it, no pthread_cancel inside it.
 *
 * The library never aborts, exits or prints and reads no environment. It starts no threads, but for a
 * builder whose options ask for them, while it makes its filter. A bug that is caught becomes
 * `PETAL_ERR_INTERNAL`; a handle that was being changed then refuses all further use (lookups say
 * true) and is only to be freed.
 *
 * Mapped files: if another process truncates a file that is mapped, touching the lost part raises
 * SIGBUS, which no library can prevent; so does a hole in the file where the disk is full, on file
 * systems that cannot reserve room when the file is opened to be changed. Open with
 * `PETAL_OPEN_LOAD` where that may happen.
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

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus


/*
 * STATUS AND ERRORS
 */

/**
 * What a call came to: `PETAL_OK` or one of `PETAL_ERR_*`, which are negative, never reused and only appended to.
 * Since 0.1.
 */
typedef int32_t petal_status;

/** It worked. */
#define PETAL_OK 0
/** A bug in Petal was caught before it could do harm. A handle that was being changed is of no more use. */
#define PETAL_ERR_INTERNAL (-1)
/** A required pointer is NULL. */
#define PETAL_ERR_NULL (-2)
/** The `struct_size` of a struct is not one that this version understands. */
#define PETAL_ERR_STRUCT_SIZE (-3)
/** A kind, hash function, parameter, choice or flag that this version does not know. */
#define PETAL_ERR_UNKNOWN_VALUE (-4)
/** A value outside its bounds. */
#define PETAL_ERR_OUT_OF_RANGE (-5)
/** A false-positive rate that is not inside (0, 1). */
#define PETAL_ERR_FALSE_POSITIVE_RATE (-6)
/** Parameters that cannot hold together. */
#define PETAL_ERR_CONTRADICTION (-7)
/** More bits than the kind, or the address space, can hold. */
#define PETAL_ERR_TOO_LARGE (-8)
/** Memory could not be had. */
#define PETAL_ERR_OUT_OF_MEMORY (-9)
/** Key offsets that decrease, or pass the end of the key buffer. */
#define PETAL_ERR_OFFSETS (-10)
/** The caller's buffer is too small. */
#define PETAL_ERR_BUFFER_TOO_SMALL (-11)
/** The caller's buffer, or the offset of an image in a file, is not a multiple of 8 bytes. */
#define PETAL_ERR_MISALIGNED (-12)
/** This kind, or this handle, cannot do that. */
#define PETAL_ERR_UNSUPPORTED (-13)
/** The two filters differ in kind, layout, geometry, hash function, seed or key. */
#define PETAL_ERR_INCOMPATIBLE (-14)
/** The filter takes hashes only. */
#define PETAL_ERR_EXTERNAL_HASH (-15)
/** The filter is keyed and its secret key was not given. */
#define PETAL_ERR_KEY_MISSING (-16)
/** The secret key given is not the one that the filter was made with. */
#define PETAL_ERR_KEY_MISMATCH (-17)
/** The bytes are not a Petal image. */
#define PETAL_ERR_FOREIGN (-18)
/** The image ends before it is complete. */
#define PETAL_ERR_TRUNCATED (-19)
/** The image contradicts itself or its checksum. */
#define PETAL_ERR_CORRUPT (-20)
/** The image was written by a later version and needs something that this one does not have. */
#define PETAL_ERR_NEWER_VERSION (-21)
/** Nobody vouches for the payload: the image is open for writing, or was when its process ended. */
#define PETAL_ERR_DIRTY (-22)
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
/** The path is that of the file which the filter itself maps. */
#define PETAL_ERR_MAPPED_PATH (-28)
/** A cancel callback asked to stop. */
#define PETAL_ERR_CANCELLED (-29)
/** The caller's write callback reported a failure. */
#define PETAL_ERR_CALLBACK (-30)
/**
 * There is no room for another key, or of `removed_set` for one that was removed. Nothing is lost: what was inserted
 * is found.
 */
#define PETAL_ERR_FULL (-31)

/** A sentence, without a full stop, that explains a status. Static, never NULL. Since 0.1. */
const char *petal_status_message(petal_status status);

/** The longest message of a `petal_error`, with its final NUL. */
#define PETAL_ERROR_MESSAGE_SIZE 240

/** Says what went wrong. It is yours; set `struct_size` before the first use. Since 0.1. */
typedef struct petal_error {
  /** sizeof(petal_error). */
  size_t struct_size;
  /** The status that the function also returned. */
  petal_status status;
  /** The operating system's error number (errno), or 0. */
  int32_t os_error;
  /** A sentence that names the parameter, its value and what is allowed. Ends with a NUL. */
  char message[PETAL_ERROR_MESSAGE_SIZE];
} petal_error;


/*
 * FILTERS: MAKING AND FREEING
 */

/** A filter of any kind. Free it with `petal_filter_free()`. Since 0.1. */
typedef struct petal_filter petal_filter;

/**
 * Makes an empty filter of the default kind for `capacity` distinct keys at a false-positive rate inside (0, 1); 0
 * keys are sized like 1. NULL on failure: `petal_filter_new()` says why. Since 0.1.
 */
petal_filter *petal_filter_with_capacity(uint64_t capacity, double false_positive_rate);

/** Copies a filter, wherever it lives, into memory of its own. Since 0.1. */
petal_status petal_filter_copy(const petal_filter *filter, petal_filter **copy, petal_error *error);

/**
 * Frees a filter. An image that was written in place is brought up to date first; call `petal_filter_sync()` before if
 * you want to know whether that works. NULL is allowed. Since 0.1.
 */
void petal_filter_free(petal_filter *filter);


/*
 * FILTERS: ONE KEY
 *
 * A lookup looks at no more than `hashes` places, however large the filter is. Any failure of
 * `petal_filter_contains*` returns true.
 */

/**
 * Inserts a key. `is_new`, nullable, becomes true if the key certainly was not there, false if it may have been.
 * Since 0.1.
 */
petal_status petal_filter_insert(petal_filter *filter, const void *key, size_t length, bool *is_new);

/** Inserts a uint64_t key. `is_new`, nullable, becomes true if the key certainly was not there. Since 0.1. */
petal_status petal_filter_insert_u64(petal_filter *filter, uint64_t key, bool *is_new);

/** Inserts the key with this hash. `is_new`, nullable, becomes true if the key certainly was not there. Since 0.1. */
petal_status petal_filter_insert_hash(petal_filter *filter, uint64_t hash, bool *is_new);

/** Whether a key may have been inserted; false is certain. Since 0.1. */
bool petal_filter_contains(const petal_filter *filter, const void *key, size_t length);

/** Whether a uint64_t key may have been inserted; false is certain. Since 0.1. */
bool petal_filter_contains_u64(const petal_filter *filter, uint64_t key);

/** Whether the key with this hash may have been inserted; false is certain. Since 0.1. */
bool petal_filter_contains_hash(const petal_filter *filter, uint64_t hash);

/** Looks a key up and says whether that worked. Since 0.1. */
petal_status petal_filter_contains_checked(const petal_filter *filter, const void *key, size_t length, bool *found);

/** Looks a uint64_t key up and says whether that worked. Since 0.1. */
petal_status petal_filter_contains_checked_u64(const petal_filter *filter, uint64_t key, bool *found);

/** Looks the key with this hash up and says whether that worked. Since 0.1. */
petal_status petal_filter_contains_checked_hash(const petal_filter *filter, uint64_t hash, bool *found);


/*
 * FILTERS: IMAGES AND FILES
 *
 * A filter's image, a header of 256 bytes, the payload and a table of checksums, is the same in
 * memory and in a file; docs/format.md specifies it. Files open in constant time, mapped. Saving
 * replaces the file atomically: processes that have the old one mapped keep it.
 *
 * An image is *clean* if somebody vouched for exactly these bytes and they match their checksums.
 * Otherwise it is *dirty*: nobody does. One that is changed in place is marked dirty on its disk
 * before the first change. If it was clean before, `petal_filter_sync()` or `petal_filter_free()`
 * makes it clean again. If the process dies between, it still opens, every key whose insertion had
 * returned is still found unless the machine itself went down, and it stays dirty, whatever is
 * done with it and copied from it, until somebody calls `petal_filter_vouch()`.
 *
 * What it costs. The payload has regions of 64 KiB with a checksum each. Before a handle changes a
 * region for the first time since it was opened or synced, it reads the region and compares it;
 * one that does not match is not changed (`PETAL_ERR_CORRUPT`), so that damage never gets a new
 * checksum. Sync and free read the regions that were changed, and the table, a word for each
 * region. Clearing, merging, intersecting and a writable view change all regions.
 */

/** How an image is opened: one of `PETAL_OPEN_*`. Since 0.1. */
typedef uint32_t petal_open_mode;

/** In place, for reading: constant time. The payload is not checked; `petal_filter_verify()` does that. */
#define PETAL_OPEN_READ 0
/** In place, for reading and writing, as the only writer. */
#define PETAL_OPEN_WRITE 1
/** Copied into memory of its own, and its checksums checked; a dirty image has none, and its copy is dirty. */
#define PETAL_OPEN_LOAD 2
/**
 * In place, for reading and for `petal_filter_insert_shared()`, together with any number of handles, threads and
 * processes that open it with this mode. The image is dirty meanwhile. The last one to close a file makes it clean, if
 * it was clean when the first one opened it and none of them died, which is not known earlier: what they copy or save
 * before is as clean as the image was. Opening reads the table of checksums, and waits while the last one makes the
 * file clean, for as long as that takes. A buffer has no locks, so nobody knows who is the last: it stays dirty until
 * a handle that is opened for writing, when nobody shares it any more, calls `petal_filter_vouch()`.
 */
#define PETAL_OPEN_SHARE 3

/** How to open. NULL stands for all zeros. Since 0.1. */
typedef struct petal_open_options {
  /** sizeof(petal_open_options). */
  size_t struct_size;
  /** One of `PETAL_OPEN_*`. */
  petal_open_mode mode;
  /** 0. */
  uint32_t reserved;
  /**
   * The secret key of a keyed filter; all zeros is none. Without it byte and uint64_t keys cannot be hashed, but
   * all else works.
   */
  uint8_t key[16];
} petal_open_options;

/** Opens the image that a file is. `options` is nullable. Since 0.1. */
petal_status petal_filter_open(const char *path,
                               const petal_open_options *options,
                               petal_filter **filter,
                               petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file; other things may follow it. The descriptor stays
 * yours and may be closed at once. To be changed the file is opened anew, through /proc on Linux, because locks belong
 * to an open file; where that is not possible, handles from one descriptor and its copies do not keep each other out.
 * `options` is nullable. Since 0.1.
 */
petal_status petal_filter_open_descriptor(int32_t descriptor,
                                          uint64_t offset,
                                          const petal_open_options *options,
                                          petal_filter **filter,
                                          petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. In place the buffer must outlive the handle, and with
 * `PETAL_OPEN_READ` it is never written. A buffer that is open for writing is used by no other handle of this process;
 * processes that share it may read it through handles of their own. `options` is nullable. Since 0.1.
 */
petal_status petal_filter_open_buffer(void *buffer,
                                      size_t length,
                                      const petal_open_options *options,
                                      petal_filter **filter,
                                      petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into memory of its own and checks its checksums. The
 * mode in `options`, nullable, does not matter. Since 0.1.
 */
petal_status petal_filter_load(const void *image,
                               size_t length,
                               const petal_open_options *options,
                               petal_filter **filter,
                               petal_error *error);

/** The size of the image in bytes. Since 0.1. */
petal_status petal_filter_serialized_size(const petal_filter *filter, uint64_t *size);

/**
 * Writes the image into a buffer of at least `petal_filter_serialized_size()` bytes, also while threads and processes
 * insert: keys whose insertion happened before are in it, and its checksums are those of the bytes written. It is
 * dirty if the filter is `PETAL_STATE_UNVOUCHED`: a handle vouches for what it changed itself, and those who share an
 * image for each other. `PETAL_ERR_CORRUPT` if the filter lies in an image that does not match its checksums;
 * `PETAL_ERR_DIRTY` if it was opened for reading and another process begins to change it meanwhile. `written` is
 * nullable. Since 0.1.
 */
petal_status petal_filter_serialize(const petal_filter *filter,
                                    void *buffer,
                                    size_t length,
                                    size_t *written,
                                    petal_error *error);

/**
 * Takes the next `length` bytes of an image; false stops. It must not unwind (throw) through the library. Since 0.1.
 */
typedef bool (*petal_write_callback)(void *context, const void *bytes, size_t length);

/**
 * Gives the image to `write`, piece by piece and in order, also while threads and processes insert: keys whose
 * insertion happened before are in it, and its checksums are those of the bytes given. It is dirty if the filter is
 * `PETAL_STATE_UNVOUCHED`, as with `petal_filter_serialize()`.
 * `PETAL_ERR_CALLBACK` if `write` returns false; `PETAL_ERR_CORRUPT` if the filter lies in an image that does not
 * match its checksums; `PETAL_ERR_DIRTY` if it was opened for reading and another process begins to change it
 * meanwhile.
 * `context` is passed on and may be NULL. Since 0.1.
 */
petal_status petal_filter_serialize_to(const petal_filter *filter,
                                       petal_write_callback write,
                                       void *context,
                                       petal_error *error);

/**
 * Writes the image to a file: to one without a name in the same folder, onto the disk, then in its place, so that the
 * path names the old bytes or the new ones at every moment. The new file has the owner, the group and the permissions
 * of what was there, as far as the system lets the caller give them; a group that cannot be kept gets no more than
 * everybody has. A symbolic link is replaced and not followed. A failure leaves what was there, unless it is that of
 * making the new name last, after the new file is in place. `PETAL_ERR_MAPPED_PATH` if the filter lies in that very
 * file.
 *
 * Where a file is replaced, and on file systems that have no files without names, the new one is called
 * `.petal-NUMBER.tmp` for a moment; if the process is killed just then, the next save in that folder removes it.
 * Since 0.1.
 */
petal_status petal_filter_save(const petal_filter *filter, const char *path, petal_error *error);

/**
 * Brings an image that was changed in place up to date on its disk. It becomes clean if it was clean when it was
 * opened and nothing dirty was merged into it. Otherwise, and while it is shared, it is on the disk and stays dirty:
 * see
 * `petal_filter_vouch()`. On a failure it stays dirty, and another call tries again. Costs what was changed, see
 * above. Filters in memory of their own need no sync. Since 0.1.
 */
petal_status petal_filter_sync(petal_filter *filter, petal_error *error);

/**
 * Declares the bytes as they are now to be right: the filter becomes clean, and an image in place gets new checksums,
 * on its disk too. For whoever knows that all keys are there, because they were inserted again, or can do without
 * some. Reads the whole payload. `PETAL_ERR_UNSUPPORTED` if an image is open for reading or to be shared;
 * `PETAL_ERR_CORRUPT` if no filter of this kind can have such a payload. Since 0.1.
 */
petal_status petal_filter_vouch(petal_filter *filter, petal_error *error);

/**
 * Checks the bytes that are there now, by reading them, whatever this handle or another one did since it was opened.
 * `PETAL_ERR_CORRUPT`, naming the bytes, if a region does not match its checksum; `PETAL_ERR_DIRTY` if none differs,
 * but nobody vouches for the payload, or not yet: it is being changed, or was when its process ended. Memory of a
 * filter's own has no checksums: there it is whether the kind can have such a payload, and whether it is dirty. Since
 * 0.1.
 */
petal_status petal_filter_verify(const petal_filter *filter, petal_error *error);


/*
 * KEYS AND ANSWERS
 *
 * A batch costs less per key than single calls. Every function that takes many keys takes them as
 * a `petal_keys`, in one of three forms, and answers into a `petal_answers`:
 *
 *     petal_keys keys = petal_keys_u64(numbers, count);
 *     petal_answers answers = {.struct_size = sizeof answers, .bytes = found};
 *     petal_filter_contains_batch(filter, &keys, &answers, NULL);
 *
 * Byte keys come as one buffer with count + 1 offsets: key i is the bytes from `offsets[i]` to
 * `offsets[i + 1]`. Offsets do not decrease and end inside the buffer; all are checked before the
 * first key is used.
 *
 * Set the outputs that you want; what a function cannot give is refused with
 * `PETAL_ERR_UNSUPPORTED`. `true_count` and `done` are always written. A lookup needs answers. An
 * insertion needs none: with NULL nothing is found out about the keys, which is faster.
 */

/** A form of keys: one of `PETAL_KEYS_*`. Since 0.1. */
typedef uint32_t petal_keys_form;

/** Byte strings, in one buffer with offsets. */
#define PETAL_KEYS_BYTES 1
/** uint64_t keys. */
#define PETAL_KEYS_U64 2
/** The hashes of keys. */
#define PETAL_KEYS_HASHES 3

/**
 * Many keys. Made by `petal_keys_bytes()`, `petal_keys_u64()` or `petal_keys_hashes()`. Refers to your memory.
 * Since 0.1.
 */
typedef struct petal_keys {
  /** sizeof(petal_keys). */
  size_t struct_size;
  /** One of `PETAL_KEYS_*`. */
  petal_keys_form form;
  /** 0. */
  uint32_t reserved;
  /** How many keys there are. */
  size_t count;
  /** The bytes of all keys, or the numbers, or the hashes. Nullable if there are none. */
  const void *data;
  /** Of byte keys: how many bytes `data` has. Otherwise 0. */
  size_t length;
  /** Of byte keys: count + 1 offsets into `data`; nullable if there are no keys. Otherwise NULL. */
  const uint64_t *offsets;
} petal_keys;

/** Where the answers of a batch go. Set `struct_size` and the outputs that you want, and the rest to 0. Since 0.1. */
typedef struct petal_answers {
  /** sizeof(petal_answers). */
  size_t struct_size;
  /** Nullable: a byte a key, 0 or 1. */
  uint8_t *bytes;
  /**
   * Nullable: a bit a key. Bit i is bit i % 8 of byte i / 8; there are (count + 7) / 8 bytes, and bits after the
   * last key become 0.
   */
  uint8_t *bitmap;
  /** Nullable: how often each key was inserted. NULL for functions that do not count. */
  uint64_t *counts;
  /** Nullable: the value of each key. NULL for functions of filters. */
  uint64_t *values;
  /** Written: how many of the answers are true. */
  uint64_t true_count;
  /**
   * Written: how many keys, the first so many, were taken before an error; all of them if there was none. Of an
   * insertion or removal only these have answers.
   */
  size_t done;
} petal_answers;

/**
 * Byte keys: key i is the bytes of `bytes`, of which there are `length`, from `offsets[i]` to `offsets[i + 1]`; there
 * are
 * `count` + 1 offsets. Since 0.1.
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

/** `count` uint64_t keys. Since 0.1. */
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

/** The keys with these `count` hashes, made by `petal_hash()`, `petal_filter_hash()` or yourself. Since 0.1. */
static inline petal_keys petal_keys_hashes(const uint64_t *hashes, size_t count) {
  petal_keys keys = petal_keys_u64(hashes, count);
  keys.form = PETAL_KEYS_HASHES;
  return keys;
}


/*
 * FILTERS: MANY KEYS
 *
 * One function a verb, over keys and answers of the section before.
 */

/**
 * Looks keys up: each answer says whether the key may be in the filter. On a failure every answer is true; if `keys`
 * cannot be read, so that nobody knows how many there are, `true_count` is UINT64_MAX. Since 0.1.
 */
petal_status petal_filter_contains_batch(const petal_filter *filter,
                                         const petal_keys *keys,
                                         petal_answers *answers,
                                         petal_error *error);

/**
 * Inserts keys in order. `answers`, nullable: each says whether the key certainly was not there before. On a failure
 * the first `done` keys are in the filter. Since 0.1.
 */
petal_status petal_filter_insert_batch(petal_filter *filter,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);


/*
 * ONE KEY ASKED OF MANY FILTERS
 *
 * For a lookup through an LSM tree, a search over shards. While one filter answers, the lines of
 * those that come are on their way: the call takes about as long as reading a line of each. Answer i
 * is that of filter i; filters may be of different kinds and sizes. The key is hashed once if all
 * have the same hash function and seed or key, and otherwise once for each. On a failure every answer
 * is true.
 */

/**
 * Asks `count` filters for one key. `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_KEY_MISSING` if one of them cannot hash
 * it. Since 0.1.
 */
petal_status petal_filters_contain(const petal_filter *const *filters,
                                   size_t count,
                                   const void *key,
                                   size_t length,
                                   petal_answers *answers,
                                   petal_error *error);

/**
 * Asks `count` filters for one uint64_t key. `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_KEY_MISSING` if one of them
 * cannot hash it. Since 0.1.
 */
petal_status petal_filters_contain_u64(const petal_filter *const *filters,
                                       size_t count,
                                       uint64_t key,
                                       petal_answers *answers,
                                       petal_error *error);

/** Asks `count` filters for the key with this hash, whatever their own hash functions are. Since 0.1. */
petal_status petal_filters_contain_hash(const petal_filter *const *filters,
                                        size_t count,
                                        uint64_t hash,
                                        petal_answers *answers,
                                        petal_error *error);


/*
 * FILTERS: REMOVING AND COUNTING
 *
 * For kinds that can: `PETAL_CAN_REMOVE`, `PETAL_CAN_COUNT` and `PETAL_CAN_REJUVENATE`.
 *
 * A removal takes back one insertion. If the key certainly is not there nothing changes, and `removed` becomes false.
 * Remove only what was inserted, and as often: of another key the filter may say "maybe", at its false-positive rate,
 * and then the removal takes what other keys left. A filter of the kind `counting` so loses at most as many other keys
 * as a key has places (`hashes`), and a count becomes too low by 1 at most. A filter of the kind `cuckoo` takes the
 * fingerprint of another key, and so loses one other key at most.
 *
 * A filter of the kind `quotient` holds the multiset of its fingerprints exactly: such a removal takes one from the
 * key with the same fingerprint, and from no other.
 *
 * What kinds can do, filters of them with other parameters than the default ones may not:
 * `petal_filter_capabilities()`.
 *
 * A count is never too low otherwise, and is too high only where all places of the key are shared, at most with the
 * probability of a false positive. `counting` counts to 2^counter_bits - 1, by default 15, which stands for as many or
 * more: what was inserted so often stays for ever, whatever is removed. `saturated` of `petal_statistics` says how
 * many counters stand there. `cuckoo` counts the copies that it holds, at most twice the slots of a bucket: one more
 * is not inserted (`PETAL_ERR_FULL`), though there be room for other keys. So its counts are never cut off; a count is
 * too high where another key has the same fingerprint and buckets.
 *
 * `spectral` counts to 2^counter_bits - 1, by default 65,535, as `counting` does, and a removal does the same there.
 * With the method `minimal_increase` its counts are upper bounds too, and removals are refused
 * (`PETAL_ERR_UNSUPPORTED`); with `recurring_minimum` they are estimates, which may be too low, and a key is removed
 * so many times at once as its count says at most. Whether a key is there is said as rightly as by the others.
 *
 * `variable_increment` removes and does not count. Such a removal of a key that is not there, and of which it says
 * "maybe", may lose every key that shares a cell with it.
 *
 * `removed_set` remembers what was removed in a filter of its own. A key is removed once, with all of its copies, and
 * not inserted again (`PETAL_ERR_FULL`); others may be lost (`PETAL_MAY_LOSE_KEYS`), as rarely as `removals` says. A
 * removal of a key that is not there loses no more of them than any other.
 *
 * `layered` counts to the number of its layers, by default 8, and removes nothing. Its counts are upper bounds.
 *
 * `quotient` counts without an end: a count that 64 bits do not hold is refused (`PETAL_ERR_FULL`), and a count is
 * that of all keys with one fingerprint.
 *
 * `aleph` keeps fewer bits of a key's fingerprint with each growth after the key came, so that more absent keys are
 * taken for it. Where a lookup said "maybe" and the store behind the filter has the key, rejuvenate it: it gets as many
 * bits as a key that is inserted now. The key is found at every moment, as all others are, and how many keys there are
 * does not change. As with a removal, the key must be there: rejuvenating one that is not may take the bits of another
 * key, which is lost then. It takes as long as a removal and an insertion.
 */

/**
 * Removes one occurrence of a key. `removed`, nullable, becomes false if the key certainly was not there: then nothing
 * has changed. `PETAL_ERR_UNSUPPORTED` if the kind cannot. Since 0.1.
 */
petal_status petal_filter_remove(petal_filter *filter, const void *key, size_t length, bool *removed);

/**
 * Removes one occurrence of a uint64_t key. `removed`, nullable, becomes false if the key certainly was not there.
 * Since 0.1.
 */
petal_status petal_filter_remove_u64(petal_filter *filter, uint64_t key, bool *removed);

/**
 * Removes one occurrence of the key with this hash. `removed`, nullable, becomes false if the key certainly was not
 * there. Since 0.1.
 */
petal_status petal_filter_remove_hash(petal_filter *filter, uint64_t hash, bool *removed);

/**
 * Removes one occurrence of each key, in order. `answers`, nullable: each is false if the key certainly was not there.
 * On a failure the first `done` keys were taken. Since 0.1.
 */
petal_status petal_filter_remove_batch(petal_filter *filter,
                                       const petal_keys *keys,
                                       petal_answers *answers,
                                       petal_error *error);

/**
 * Gives a key that is there what an insertion would give it now. `rejuvenated`, nullable, becomes false if that is as
 * much already, or if the key certainly is not there: then nothing has changed. Of a key that is there several times
 * one is given it. `PETAL_ERR_UNSUPPORTED` if the kind cannot; `PETAL_ERR_FULL` if there is no room for it: the key is
 * there then as it was. Since 0.1.
 */
petal_status petal_filter_rejuvenate(petal_filter *filter, const void *key, size_t length, bool *rejuvenated);

/**
 * Gives a uint64_t key that is there what an insertion would give it now. `rejuvenated`, nullable, becomes false if
 * that is as much already, or if the key certainly is not there. Since 0.1.
 */
petal_status petal_filter_rejuvenate_u64(petal_filter *filter, uint64_t key, bool *rejuvenated);

/**
 * Gives the key with this hash, which is there, what an insertion would give it now. `rejuvenated`, nullable, becomes
 * false if that is as much already, or if the key certainly is not there. Since 0.1.
 */
petal_status petal_filter_rejuvenate_hash(petal_filter *filter, uint64_t hash, bool *rejuvenated);

/**
 * Gives each key, all of which are there, what an insertion would give it now, in order. `answers`, nullable: each is
 * false if that is as much already, or if the key certainly is not there. On a failure the first `done` keys were
 * taken. Since 0.1.
 */
petal_status petal_filter_rejuvenate_batch(petal_filter *filter,
                                           const petal_keys *keys,
                                           petal_answers *answers,
                                           petal_error *error);

/**
 * Counts how often a key was inserted, less how often it was removed; 0 is certain. `PETAL_ERR_UNSUPPORTED` if the
 * kind cannot. Since 0.1.
 */
petal_status petal_filter_count(const petal_filter *filter, const void *key, size_t length, uint64_t *count);

/** Counts how often a uint64_t key was inserted, less how often it was removed; 0 is certain. Since 0.1. */
petal_status petal_filter_count_u64(const petal_filter *filter, uint64_t key, uint64_t *count);

/** Counts how often the key with this hash was inserted, less how often it was removed; 0 is certain. Since 0.1. */
petal_status petal_filter_count_hash(const petal_filter *filter, uint64_t hash, uint64_t *count);

/**
 * Counts keys, into `counts` of the answers, which otherwise say whether a count is more than 0. On a failure every
 * answer is true and every count UINT64_MAX; if `keys` cannot be read, so that nobody knows how many there are,
 * `true_count` is UINT64_MAX. Since 0.1.
 */
petal_status petal_filter_count_batch(const petal_filter *filter,
                                      const petal_keys *keys,
                                      petal_answers *answers,
                                      petal_error *error);


/*
 * FILTERS: KEYS WITH THEIR COUNTS
 *
 * For kinds that count (`PETAL_CAN_COUNT`): a key is inserted or removed as often at once as is said, as if by so many
 * single calls, in the time of one where counts are numbers (`quotient`, `spectral`). What a filter holds comes back
 * as numbers with their counts: `petal_filter_stored_hashes()`.
 */

/**
 * Inserts a key `times` times. `is_new`, nullable, becomes true if it certainly was not there before. What is more
 * than the greatest count of the kind leaves it there. `PETAL_ERR_FULL` if there is no room for all: then none was
 * inserted. `PETAL_ERR_UNSUPPORTED` if the kind cannot count. Since 0.1.
 */
petal_status petal_filter_insert_times(petal_filter *filter,
                                       const void *key,
                                       size_t length,
                                       uint64_t times,
                                       bool *is_new);

/** Inserts a uint64_t key `times` times, as `petal_filter_insert_times()` does a byte key. Since 0.1. */
petal_status petal_filter_insert_times_u64(petal_filter *filter, uint64_t key, uint64_t times, bool *is_new);

/** Inserts the key with this hash `times` times, as `petal_filter_insert_times()` does a byte key. Since 0.1. */
petal_status petal_filter_insert_times_hash(petal_filter *filter, uint64_t hash, uint64_t times, bool *is_new);

/**
 * Inserts each key as often as its element of `times` says, in order; `times` has as many as there are keys, and may
 * be NULL if there are none. `answers`, nullable: each says whether the key certainly was not there before. On a
 * failure the first `done` keys were taken. Since 0.1.
 */
petal_status petal_filter_insert_times_batch(petal_filter *filter,
                                             const petal_keys *keys,
                                             const uint64_t *times,
                                             petal_answers *answers,
                                             petal_error *error);

/**
 * Removes a key as often as it is there, but no more than `times` times. `removed`, nullable, becomes how often that
 * was: 0 if the key certainly was not there. Where a count stands at the greatest one of `counting`, which is that or
 * more, it stays. `PETAL_ERR_UNSUPPORTED` if the kind cannot remove or count. Since 0.1.
 */
petal_status petal_filter_remove_times(petal_filter *filter,
                                       const void *key,
                                       size_t length,
                                       uint64_t times,
                                       uint64_t *removed);

/** Removes a uint64_t key at most `times` times, as `petal_filter_remove_times()` does a byte key. Since 0.1. */
petal_status petal_filter_remove_times_u64(petal_filter *filter, uint64_t key, uint64_t times, uint64_t *removed);

/**
 * Removes the key with this hash at most `times` times, as `petal_filter_remove_times()` does a byte key. Since 0.1.
 */
petal_status petal_filter_remove_times_hash(petal_filter *filter, uint64_t hash, uint64_t times, uint64_t *removed);

/**
 * Removes each key as often as it is there, but no more than its element of `times` says, in order; `times` has as
 * many as there are keys, and may be NULL if there are none. `answers`, nullable: each is false if the key certainly
 * was not there. On a failure the first `done` keys were taken. Since 0.1.
 */
petal_status petal_filter_remove_times_batch(petal_filter *filter,
                                             const petal_keys *keys,
                                             const uint64_t *times,
                                             petal_answers *answers,
                                             petal_error *error);


/*
 * FILTERS: INSERTING FROM MANY THREADS
 *
 * These functions insert through a const handle, without locks, while other threads insert and look up through the
 * same handle, and other processes through theirs (`PETAL_OPEN_SHARE`). `PETAL_CAN_INSERT_SHARED` says whether a
 * handle can.
 *
 * What holds: a key whose insertion happened before a lookup is found by it. Of threads that insert the same new key
 * at the same time at least one is told that it was new; more than one may be. Keys are not counted, because a counter
 * that all threads share would be what they wait for: `petal_filter_add_offered()` makes up for it, and
 * `petal_filter_estimate()` does without. All other functions that take a handle which is not const still need it
 * alone.
 */

/**
 * Inserts a key while others insert and look up. `is_new`, nullable: whether it certainly was not there. Since 0.1.
 */
petal_status petal_filter_insert_shared(const petal_filter *filter, const void *key, size_t length, bool *is_new);

/**
 * Inserts a uint64_t key while others insert and look up. `is_new`, nullable: whether it certainly was not there.
 * Since 0.1.
 */
petal_status petal_filter_insert_shared_u64(const petal_filter *filter, uint64_t key, bool *is_new);

/**
 * Inserts the key with this hash while others insert and look up. `is_new`, nullable: whether it certainly was not
 * there. Since 0.1.
 */
petal_status petal_filter_insert_shared_hash(const petal_filter *filter, uint64_t hash, bool *is_new);

/**
 * Inserts keys in order while others insert and look up. `answers`, nullable: each says whether the key certainly was
 * not there before. On a failure no key is in, except after `PETAL_ERR_CORRUPT`, when a key met a part of the image
 * that does not match its checksum: then the first `done` keys are. Since 0.1.
 */
petal_status petal_filter_insert_shared_batch(const petal_filter *filter,
                                              const petal_keys *keys,
                                              petal_answers *answers,
                                              petal_error *error);

/**
 * Adds to the count of keys that were offered, for keys that were inserted by functions which do not count. Threads
 * may call it while others use the filter; a thread that inserts many keys adds up its own first, because a counter
 * that all threads share is what they wait for. An image in place has the sum once the handle is synced or freed; of
 * those who share it each adds its own. `PETAL_ERR_UNSUPPORTED` if it is open for reading. Since 0.1.
 */
petal_status petal_filter_add_offered(const petal_filter *filter, uint64_t keys);


/*
 * FILTERS: COMBINING
 *
 * Filters combine if they are alike in kind, layout, geometry, hash function and seed or key: make
 * them from one spec. Otherwise `PETAL_ERR_INCOMPATIBLE`, with the first difference in the message.
 */

/**
 * Makes `filter` the union of both: it says true of every key of which either did. A kind that is canonical
 * (`is_canonical` of `petal_kind_info`) has the same bits then as if the keys of both had been inserted into it; a
 * union of kinds that grow may come to twice the rate that each keeps to. Counts add up. If `other` is `PETAL_STATE_UNVOUCHED` `filter` becomes so.
 * `PETAL_ERR_FULL` where there is no room for both; `PETAL_ERR_CORRUPT` if either lies in an image that does not match
 * its checksums. `filter` is then as it was. Since 0.1.
 */
petal_status petal_filter_merge(petal_filter *filter,
                                const petal_filter *other,
                                petal_error *error);

/**
 * Makes `filter` hold every key that both hold. It says true of other keys at a rate no higher than either did, but
 * higher than a filter made from the common keys alone. Its count becomes the smaller of both. Dirt and damage are as
 * in `petal_filter_merge()`. Since 0.1.
 */
petal_status petal_filter_intersect(petal_filter *filter, const petal_filter *other, petal_error *error);

/**
 * Makes the filter smaller by `factor`, at least 2, without its keys: the same bits as if it had been made so small at
 * once. The factor must divide the number of units (bits, bits of a slice, or blocks); the parameter "foldable" makes
 * many powers of two do. The capacity stays, and the rate expected at it becomes that of the smaller geometry. Only
 * for filters in memory of their own. Since 0.1.
 */
petal_status petal_filter_fold(petal_filter *filter, uint64_t factor, petal_error *error);

/**
 * Gives the filter room for `capacity` keys, and for those that it holds, without its keys: twice or half as many slots
 * as often as that takes, while a bit moves between their numbers and what they hold. The capacity becomes what then has
 * room. The rate with the keys that it holds stays, and it still combines with what it combined with; at its new
 * capacity the rate is twice or half what it was. `PETAL_ERR_OUT_OF_RANGE` if there is no such size, `PETAL_ERR_FULL` if
 * it would not hold what is there: nothing has changed then. `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_RESIZE`. Only
 * for filters in memory of their own. Linear in the filter. Since 0.1.
 */
petal_status petal_filter_resize(petal_filter *filter,
                                 uint64_t capacity,
                                 petal_error *error);

/**
 * Moves time on by `steps` steps, of a kind that forgets its oldest keys: each step forgets those that are oldest then.
 * What a step is, and how many of them a key is found for at least, is for each kind to say: of `rotating` a generation,
 * of which it has the parameter "generations", and a key is found for one step less. So a window of time T moves on by
 * one step whenever T / (generations - 1) has passed. More steps than a key is there for do no more than those; 0 do
 * nothing. The count of keys offered stays. A filter whose window is one of keys (the parameter "clock") moves on by
 * itself, and may be moved on besides.
 *
 * `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_AGE`. An image in place is changed only where keys are forgotten, and
 * those who read it go on meanwhile; `PETAL_ERR_CORRUPT` if it does not match its checksums there. After a failure the
 * filter is as it was. Linear in what is forgotten. Since 0.1.
 */
petal_status petal_filter_advance(petal_filter *filter,
                                  uint64_t steps,
                                  petal_error *error);

/** Forgets all keys. Since 0.1. */
petal_status petal_filter_clear(petal_filter *filter, petal_error *error);

/** Whether both filters would combine and have the same bits. Since 0.1. */
petal_status petal_filter_equal(const petal_filter *filter, const petal_filter *other, bool *equal);

/** The size of a compatibility id. */
#define PETAL_COMPATIBILITY_ID_SIZE 16

/** What two filters must have in common to combine, as `PETAL_COMPATIBILITY_ID_SIZE` bytes. Since 0.1. */
petal_status petal_filter_compatibility_id(const petal_filter *filter, uint8_t *id);


/*
 * FILTERS: ESTIMATING
 *
 * How many distinct keys filters hold, alone and in common, judged by their bits. Reads all of them.
 */

/**
 * An estimate with its uncertainty. An element of other structs, so without `struct_size`: it never changes. Since
 * 0.1.
 */
typedef struct petal_estimate {
  /** The estimate as it comes out: that of an intersection may be negative. 0 if saturated. */
  double value;
  /** Its standard error; where several estimates enter, a bound on it. */
  double standard_error;
  /** The lower end of the 95 % interval. */
  double low;
  /** The upper end of the 95 % interval. */
  double high;
  /** 1 if a filter is too full to tell, and the numbers above mean nothing; otherwise 0. */
  uint32_t saturated;
  /** 0. */
  uint32_t reserved;
} petal_estimate;

/** What two filters have in common. Since 0.1. */
typedef struct petal_overlap {
  /** sizeof(petal_overlap). */
  size_t struct_size;
  /** Distinct keys of the first. */
  petal_estimate first_count;
  /** Distinct keys of the second. */
  petal_estimate second_count;
  /** Distinct keys of both together. */
  petal_estimate union_count;
  /**
   * Keys in common. Its error does not depend on its size: few common keys of large sets cannot be told from none.
   */
  petal_estimate intersection_count;
  /** Keys in common as a share of all: the Jaccard index. */
  petal_estimate jaccard;
} petal_overlap;

/** How many distinct keys a filter holds. `PETAL_ERR_UNSUPPORTED` if its kind cannot tell. Since 0.1. */
petal_status petal_filter_estimate(const petal_filter *filter, petal_estimate *estimate, petal_error *error);

/**
 * Compares two filters that could be merged: how many keys each holds, both together, and how many both have. Reads both
 * payloads. `PETAL_ERR_UNSUPPORTED` of kinds that cannot tell, and of those that grow, of which two sizes have nothing
 * in common; `PETAL_ERR_INCOMPATIBLE`, naming the first difference, of two that could not be merged. Since 0.1.
 */
petal_status petal_filter_estimate_overlap(const petal_filter *filter,
                                           const petal_filter *other,
                                           petal_overlap *comparison,
                                           petal_error *error);


/*
 * FILTERS: WHAT IS STORED OF KEYS
 *
 * Some kinds (`PETAL_CAN_ENUMERATE`) store each key as one number, its hash reduced to the numbers
 * below a range, and nothing else. These numbers can be listed, in ascending order:
 *
 *     uint64_t stored[512], counts[512], from = 0;
 *     size_t count;
 *     do {
 *       if (petal_filter_stored_hashes(filter, from, stored, counts, 512, &count, NULL) != PETAL_OK) break;
 *       for (size_t i = 0; i < count; i++) printf("%" PRIu64 " %" PRIu64 "\n", stored[i], counts[i]);
 *       if (count > 0) from = stored[count - 1] + 1;
 *     } while (count == 512);
 *
 * Kinds that count say how often each is there, which is how often all keys with this number are.
 *
 * A key may be there exactly if the number of its hash is among them; docs/format.md says how the number
 * comes from the hash. Numbers of filters with one range and one hash function can be compared.
 */

/**
 * The number that a filter stores a hash as, and the range that all such numbers are below; both nullable.
 * `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_ENUMERATE`. Since 0.1.
 */
petal_status petal_filter_stored_hash(const petal_filter *filter,
                                      uint64_t hash,
                                      uint64_t *stored,
                                      uint64_t *range,
                                      petal_error *error);

/**
 * Writes the numbers that a filter stores and that are not less than `from`, in ascending order and each once, into
 * `stored`, which has room for `room` of them, and how many these are into `count`: fewer than `room` if there are no
 * more. `counts`, nullable, gets how often each is there, and has as much room: 1 where the kind does not count. The
 * time is that of the numbers that are written; with `golomb_stream` that of all up to the last of them.
 * `PETAL_ERR_UNSUPPORTED` without `PETAL_CAN_ENUMERATE`. Since 0.1.
 */
petal_status petal_filter_stored_hashes(const petal_filter *filter,
                                        uint64_t from,
                                        uint64_t *stored,
                                        uint64_t *counts,
                                        size_t room,
                                        size_t *count,
                                        petal_error *error);


/*
 * KINDS
 *
 * What kinds of filter and of map there are, what each can do, and the parameters that only it
 * takes: for programs that offer a choice. A program that knows what it wants puts a `PETAL_KIND_*` into its
 * spec and needs none of this.
 */

/** A kind of filter or of map: one of `PETAL_KIND_*`. 0 is the default kind. Since 0.1. */
typedef uint32_t petal_kind;

/** The classic Bloom filter: any size, the lowest false-positive rate of the insertable bit arrays. */
#define PETAL_KIND_BLOOM 1
/** The split-block Bloom filter of Apache Parquet: one memory access a key, blocks of 256 bits. */
#define PETAL_KIND_SPLIT_BLOCK 2
/** The blocked Bloom filter: one cache line a key, nearly as accurate as the classic one. */
#define PETAL_KIND_BLOCKED 3
/** The binary fuse filter: built once from all keys, 1.13 bits a key for each halving of the rate. */
#define PETAL_KIND_FUSE 4
/** The counting Bloom filter: removes keys and counts them; a counter wherever bloom or blocked has a bit. */
#define PETAL_KIND_COUNTING 5
/** The scalable Bloom filter: grows with its keys and keeps its false-positive rate. */
#define PETAL_KIND_SCALABLE 6
/** The bumped ribbon filter: built once from all keys, 1.003 bits a key for each halving of the rate. */
#define PETAL_KIND_RIBBON 13
/** A Golomb-coded set: built once from all keys, 1.5 to 2.1 bits a key over the bound, merged and listed. */
#define PETAL_KIND_GOLOMB 14
/** A hash table of signatures: says what is new, and refuses keys when it is full; for model checkers. */
#define PETAL_KIND_HASH_COMPACTION 17
/** A static table of cuckoo signatures: built once from all keys, two cache lines a lookup. */
#define PETAL_KIND_SIGNATURES 18
/** A bit for each integer below a bound: no false positives; for keys that are dense integers. */
#define PETAL_KIND_EXACT_BITS 19
/** A cuckoo filter: removes keys, and counts a few copies of each; refuses keys when it is full. */
#define PETAL_KIND_CUCKOO 22
/** The counting quotient filter: removes and counts keys without limit, merges, lists and resizes. */
#define PETAL_KIND_QUOTIENT 23
/** A vector quotient filter: removes keys, and takes them as fast when it is nearly full as when it is empty. */
#define PETAL_KIND_VECTOR_QUOTIENT 24
/** The spectral Bloom filter: wide counters that tell how often keys came, kept by one of three methods. */
#define PETAL_KIND_SPECTRAL 25
/** The d-left counting filter: removes and counts keys, in place too, lists them and is resized. */
#define PETAL_KIND_D_LEFT 26
/** The counting Bloom filter with variable increments: removes keys in less memory than counting. */
#define PETAL_KIND_VARIABLE_INCREMENT 27
/** The layered Bloom filter: counts keys to the number of its layers, each smaller than the one before. */
#define PETAL_KIND_LAYERED 28
/** A Bloom filter with a second one for removed keys: each is removed once, and some others may be lost. */
#define PETAL_KIND_REMOVED_SET 29
/** A taffy filter: grows with its keys, keeps its false-positive rate, and looks at two lines at any size. */
#define PETAL_KIND_TAFFY 30
/** An Aleph filter: grows with its keys, keeps its false-positive rate, and removes keys. */
#define PETAL_KIND_ALEPH 31
/** A window of the last keys, or of time, in slices of bits by age: finer and smaller than rotating. */
#define PETAL_KIND_AGE_PARTITIONED 32
/** Cells that count down: old keys fade, the rate stays for ever, and recent keys may be lost as well. */
#define PETAL_KIND_STABLE 33
/** A window of the last keys, or of time: generations of bit arrays, the oldest dropped as a whole. */
#define PETAL_KIND_ROTATING 34
/** A map built once: the exact value of each key, and of other keys that they are not there. */
#define PETAL_KIND_BLOOMIER 7
/** A map built once, the smallest: the exact value of each key, and an arbitrary one of every other key. */
#define PETAL_KIND_RETRIEVAL 15
/** A map made empty: at least the value of each key, in the order of max, min, or union of bits; merges. */
#define PETAL_KIND_APPROXIMATOR 16
/** A map built once, in which values of keys that are there can be replaced in place. */
#define PETAL_KIND_MUTABLE_BLOOMIER 21
/** A classic Bloom filter placed as another system places it, for exchanging its bytes. */
#define PETAL_KIND_FOREIGN_BLOOM 8
/** The Bloom filter of RocksDB's tables, for exchanging its bytes: one cache line a key. */
#define PETAL_KIND_ROCKSDB_BLOOM 9
/** A filter that another system made of all of its keys, for looking keys up. */
#define PETAL_KIND_FOREIGN_STATIC 10
/** Bloom filters chained and placed as another system does it, for exchanging its bytes: grows with its keys. */
#define PETAL_KIND_FOREIGN_SCALABLE 11
/** RedisBloom's cuckoo filter, for looking keys up and giving its bytes back. */
#define PETAL_KIND_FOREIGN_CUCKOO 12
/** A Golomb-coded set as BIP 158 writes it: looked up from its beginning, many keys in one pass. */
#define PETAL_KIND_GOLOMB_STREAM 20

/** Keys can be inserted one by one. */
#define PETAL_CAN_INSERT (1ull << 0)
/** All keys can be forgotten at once. */
#define PETAL_CAN_CLEAR (1ull << 1)
/** Becomes the union with another filter. */
#define PETAL_CAN_MERGE (1ull << 2)
/** Becomes a superset of the intersection with another filter. */
#define PETAL_CAN_INTERSECT (1ull << 3)
/** Can be made smaller by a whole factor. */
#define PETAL_CAN_FOLD (1ull << 4)
/** Estimates how many distinct keys it holds. */
#define PETAL_CAN_ESTIMATE (1ull << 5)
/** Keys can be removed one by one. */
#define PETAL_CAN_REMOVE (1ull << 6)
/** Counts how often a key was inserted. */
#define PETAL_CAN_COUNT (1ull << 7)
/** Grows past its capacity and keeps its false-positive rate. */
#define PETAL_CAN_GROW (1ull << 8)
/** Keys can be inserted by many threads at once, without locks: `petal_filter_insert_shared()`. */
#define PETAL_CAN_INSERT_SHARED (1ull << 9)
/** Keys of a map can be given values at any time: `petal_map_put()`. Such a map is made empty: `petal_map_new()`. */
#define PETAL_CAN_PUT (1ull << 10)
/** The values of keys that are in a map can be replaced: `petal_map_replace()`. */
#define PETAL_CAN_REPLACE (1ull << 11)
/** Lists what it stores of its keys: `petal_filter_stored_hashes()`. */
#define PETAL_CAN_ENUMERATE (1ull << 12)
/** Can be given another size without its keys: `petal_filter_resize()`. */
#define PETAL_CAN_RESIZE (1ull << 13)
/**
 * Forgets its oldest keys, and its time can be moved on: `petal_filter_advance()`. `petal_plan()` proposes such kinds to
 * those only who ask for them.
 */
#define PETAL_CAN_AGE (1ull << 14)
/**
 * No ability, but a warning: lookups may say of keys that are there that they are not. `petal_plan()` proposes such
 * kinds to those only who ask for it.
 */
#define PETAL_MAY_LOSE_KEYS (1ull << 15)
/**
 * What it knows of keys that are there can be made as much as what it knows of new ones: `petal_filter_rejuvenate()`.
 */
#define PETAL_CAN_REJUVENATE (1ull << 16)

/** The size of a name, with its final NUL. */
#define PETAL_NAME_SIZE 32
/** The size of a summary, with its final NUL. */
#define PETAL_SUMMARY_SIZE 160

/** What becomes of a filter that is given more keys than its capacity: one of `PETAL_OVERFILL_*`. Since 0.1. */
typedef uint32_t petal_overfill;

/** Its false-positive rate rises, in the end to 1. */
#define PETAL_OVERFILL_RATE_RISES 1
/** It refuses keys: `PETAL_ERR_FULL`. */
#define PETAL_OVERFILL_REFUSES 2
/**
 * It grows and keeps its rate. It refuses keys (`PETAL_ERR_FULL`) where its image is in place and full, and where its
 * rate is so low that another level is not worth its memory: at 1e-12, say, past some hundred thousand keys. `taffy`
 * refuses them after its doublings.
 */
#define PETAL_OVERFILL_GROWS 3
/** It takes no keys: a builder makes it from all of them, and `petal_filter_new()` refuses its kind. */
#define PETAL_OVERFILL_IS_BUILT 4
/** It keeps its rate and forgets the oldest keys: its capacity is the window that it remembers. */
#define PETAL_OVERFILL_FORGETS 5

/** What the library knows of a kind. Since 0.1. */
typedef struct petal_kind_info {
  /** sizeof(petal_kind_info). */
  size_t struct_size;
  /** The kind. */
  petal_kind kind;
  /** How many parameters only this kind takes. */
  uint32_t parameter_count;
  /**
   * What a filter of this kind with the default parameters can do in memory of its own: `PETAL_CAN_*`, ORed. With
   * others it may lack some of that, and `petal_filter_capabilities()` says what it can do.
   */
  uint64_t capabilities;
  /**
   * The `bits` of a spec are the exact size, a multiple of this. 0: they are the most that the filter may have, and
   * a capacity has to be given too.
   */
  uint64_t bits_unit;
  /** What becomes of a filter that is given more keys than its capacity. */
  petal_overfill overfill;
  /**
   * 1 if a payload depends only on which keys there are, and how often where they are counted; 0 if also on their
   * order.
   */
  uint32_t is_canonical;
  /**
   * 0 if it is of filters: `petal_filter_new()`, `petal_builder_new()`; 1 of maps: `petal_map_builder_new()`,
   * and where they can put `petal_map_new()`.
   */
  uint32_t is_map;
  /** 1 if a spec whose kind is 0 means this one, among those of filters or those of maps; 0 if not. */
  uint32_t is_default;
  /**
   * 1 if it is of filters whose bits are another system's. They come from `petal_filter_import()` and
   * `petal_format_spec()`, and nobody chooses the kind for its own sake: `petal_plan()` does not propose it.
   */
  uint32_t is_foreign;
  /**
   * 1 if its keys are the integers below the filter's bits, and are not hashed; others are refused
   * (`PETAL_ERR_OUT_OF_RANGE`). 0 if it takes all keys.
   */
  uint32_t takes_integers;
  /**
   * 1 if a change moves what other keys left. Such filters are not opened for writing (`PETAL_ERR_UNSUPPORTED`): a
   * reader would miss keys meanwhile. Load a copy, change and save that. 0 if they are written in place.
   */
  uint32_t moves_entries;
  /**
   * How many copies of one key a filter with the kind's default parameters holds at most, if every copy takes a
   * place: one more is refused (`PETAL_ERR_FULL`). 0 if copies take no places.
   */
  uint32_t most_copies;
  /** Its name, the same everywhere. */
  char name[PETAL_NAME_SIZE];
  /** What it is, in a sentence. */
  char summary[PETAL_SUMMARY_SIZE];
} petal_kind_info;

/** What the library knows of a parameter. Since 0.1. */
typedef struct petal_parameter_info {
  /** sizeof(petal_parameter_info). */
  size_t struct_size;
  /** The number by which specs refer to it. */
  uint32_t id;
  /** How many named choices there are, numbered from 0; 0 where it takes a number. */
  uint32_t choice_count;
  /** The least value. */
  double minimum;
  /** The greatest value. */
  double maximum;
  /** The value that it has when it is not set. */
  double default_value;
  /** Its name, the same everywhere. */
  char name[PETAL_NAME_SIZE];
  /** What it does, in a sentence. */
  char summary[PETAL_SUMMARY_SIZE];
} petal_parameter_info;

/** How many kinds there are, of filters, of maps, and of other systems' filters. Since 0.1. */
size_t petal_kind_count(void);

/**
 * Describes the kind at `index`, which is less than `petal_kind_count()`. Filters, maps and other systems'
 * filters come in one list: `is_map` and `is_foreign` tell them apart. Since 0.1.
 */
petal_status petal_kind_at(size_t index, petal_kind_info *info);

/** Describes the kind with this name: `PETAL_ERR_UNKNOWN_VALUE` if there is none. Since 0.1. */
petal_status petal_kind_find(const char *name, petal_kind_info *info);

/**
 * Describes the parameter at `index` of a kind, less than its `parameter_count`. Kind 0 is the default kind. Since
 * 0.1.
 */
petal_status petal_kind_parameter(petal_kind kind, size_t index, petal_parameter_info *info);

/**
 * Writes the name of choice `choice`, less than its `choice_count`, of the parameter at `index` of a kind into `name`,
 * which has room for `PETAL_NAME_SIZE` bytes. Kind 0 is the default kind. Since 0.1.
 */
petal_status petal_kind_choice(petal_kind kind, size_t index, size_t choice, char *name);


/*
 * SPECS
 *
 * A `petal_spec` says what filter to make. All zeros but `struct_size` is a whole spec: the
 * default kind, for a million keys, at a false-positive rate of 1 %.
 *
 *     petal_spec spec = {.struct_size = sizeof(petal_spec)};
 *     spec.capacity = 5000000;
 *     spec.false_positive_rate = 0.001;
 *     petal_filter *filter;
 *     petal_status status = petal_filter_new(&spec, &filter, NULL);
 */

/** A hash function: one of `PETAL_HASH_*`. Since 0.1. */
typedef uint32_t petal_hash_function;

/** XXH3, 64 bits, seeded: the default. Not for keys that somebody hostile chooses. */
#define PETAL_HASH_XXH3 1
/** XXH64, seeded: what Parquet's filters use, with seed 0. */
#define PETAL_HASH_XXH64 2
/** SipHash-1-3 under a secret 128-bit key: for keys that somebody hostile may choose. */
#define PETAL_HASH_SIPHASH13 3
/** You hash: the filter takes 64-bit hashes only. They must be uniform in all bits. */
#define PETAL_HASH_EXTERNAL 4
/**
 * That of another system's format, over whole keys: only filters that `petal_filter_import()` or `petal_format_spec()`
 * give have it.
 */
#define PETAL_HASH_FORMAT 5
/** XXPH3, the preview of XXH3 that RocksDB's filters use: no seed, and not for maps. */
#define PETAL_HASH_XXPH3 6
/**
 * None: keys are integers below the filter's `bits`, `uint64_t` or their eight little-endian bytes. Only kinds whose
 * `petal_kind_info` has `takes_integers` have it, and these have no other.
 */
#define PETAL_HASH_IDENTITY 7
/** SipHash-2-4 under a key of 128 bits, which BIP 158 makes public: not for maps. */
#define PETAL_HASH_SIPHASH24 8

/** An instruction set that the inner loops are written for. All of them do the same to the same bytes. Since 0.1. */
typedef uint32_t petal_kernel;

/** The best that the processor has; chosen once, when the first filter is made. */
#define PETAL_KERNEL_BEST 0
/** Plain code, on every processor. */
#define PETAL_KERNEL_PORTABLE 1
/** AVX2 on x86-64. */
#define PETAL_KERNEL_AVX2 2
/** AVX-512 (F, BW, DQ, VL) on x86-64. */
#define PETAL_KERNEL_AVX512 3
/** NEON on aarch64. */
#define PETAL_KERNEL_NEON 4

/** How many parameters that only some kinds take a spec holds. */
#define PETAL_MAX_PARAMETERS 8

/** A parameter that only some kinds take, and its value; `petal_spec_set()` fills it in. Since 0.1. */
typedef struct petal_setting {
  /** The parameter's id; 0 is an unused place. */
  uint32_t id;
  /** 0. */
  uint32_t reserved;
  /** The value. */
  double value;
} petal_setting;

/**
 * What filter to make. A capacity and a false-positive rate, or exact bits and hashes, say how large it is.
 * Since 0.1.
 */
typedef struct petal_spec {
  /** sizeof(petal_spec). */
  size_t struct_size;
  /** One of `PETAL_KIND_*`; 0 is the default kind. */
  petal_kind kind;
  /** One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`. */
  petal_hash_function hash;
  /** How many distinct keys it is sized for; 0 is a million, or unknown where `bits` is set. */
  uint64_t capacity;
  /**
   * The greatest false-positive rate at capacity, inside (0, 1) and not below capacity / 2^64; 0 is 0.01 unless
   * `bits` is set.
   */
  double false_positive_rate;
  /** The exact number of bits instead of a rate. */
  uint64_t bits;
  /** The exact number of bits that a key sets, with `bits`; 0 is the best for `bits` and `capacity`. */
  uint32_t hashes;
  /** One of `PETAL_KERNEL_*`, to compare them; 0 is the best that the processor has. */
  petal_kernel kernel;
  /**
   * The seed of `PETAL_HASH_XXH3` and `PETAL_HASH_XXH64`; your tag for `PETAL_HASH_EXTERNAL`, so that
   * filters over different hashes are not merged. A seed is not a secret.
   */
  uint64_t seed;
  /**
   * The secret key of `PETAL_HASH_SIPHASH13` or `PETAL_HASH_SIPHASH24`, not all zeros. It is never stored in a file.
   */
  uint8_t key[16];
  /** What only this kind takes. */
  petal_setting parameters[PETAL_MAX_PARAMETERS];
} petal_spec;

/**
 * Sets a parameter that the spec's kind takes, by name; set the kind first. The value is checked when the filter is
 * made. `PETAL_ERR_UNKNOWN_VALUE` if the kind does not know the name. Since 0.1.
 */
petal_status petal_spec_set(petal_spec *spec, const char *name, double value, petal_error *error);

/**
 * Sets a parameter of the spec's kind to one of its named choices, such as "derivation" of `PETAL_KIND_BLOOM` to
 * "enhanced_double"; set the kind first. A parameter that takes a number is given its digits. Since 0.1.
 */
petal_status petal_spec_set_choice(petal_spec *spec, const char *name, const char *choice, petal_error *error);

/** Reads a parameter of a spec back: as set, or its default. Since 0.1. */
petal_status petal_spec_get(const petal_spec *spec, const char *name, double *value, petal_error *error);

/**
 * The size in bytes of the image, header and payload, of the filter that a spec describes: what
 * `petal_filter_new_in_buffer()` needs. Since 0.1.
 */
petal_status petal_spec_image_size(const petal_spec *spec, uint64_t *size, petal_error *error);

/**
 * How many of `keys` distinct keys the filter that a spec describes takes for known on average, when they are inserted
 * one after the other, or refuses where it is full: new keys of which an insertion says that they were not new. A model
 * checker that explores only what is new omits so many states. The sum of the false-positive rates before each key.
 * `PETAL_ERR_UNSUPPORTED` for a kind that is built from its keys. Since 0.1.
 */
petal_status petal_spec_expected_omissions(const petal_spec *spec,
                                           uint64_t keys,
                                           double *omissions,
                                           petal_error *error);

/**
 * The exact false-positive rate of the filter that a spec describes once `keys` distinct keys are in it. Since 0.1.
 */
petal_status petal_spec_expected_false_positive_rate(const petal_spec *spec,
                                                     uint64_t keys,
                                                     double *false_positive_rate,
                                                     petal_error *error);


/*
 * FILTERS FROM SPECS
 */

/** Makes an empty filter in memory of its own. Since 0.1. */
petal_status petal_filter_new(const petal_spec *spec, petal_filter **filter, petal_error *error);

/**
 * Makes an empty filter inside `buffer`, of at least `petal_spec_image_size()` bytes and aligned to 8 (64 is faster):
 * the buffer becomes a complete image, which other processes may open if it is shared memory. It must outlive the
 * handle. The image's count and checksum are brought up to date by `petal_filter_sync()` and `petal_filter_free()`.
 * Since 0.1.
 */
petal_status petal_filter_new_in_buffer(const petal_spec *spec,
                                        void *buffer,
                                        size_t length,
                                        petal_filter **filter,
                                        petal_error *error);


/*
 * BUILDERS
 *
 * A builder collects keys and then makes a filter sized for exactly the distinct keys that came.
 * It keeps 8 bytes a key, and 16 for kinds that remove or count keys.
 */

/** Collects keys. Free it with `petal_builder_free()`. Since 0.1. */
typedef struct petal_builder petal_builder;

/**
 * Called by `petal_builder_finish()`, `petal_builder_save()` and the like, with the work done and the work in all. A
 * unit of work is a key in one phase: sorting, merging what went to a file, making the filter. The work in all is the
 * same number at all calls for one filter. The work done never falls, may be the same at several calls, and comes to
 * the work in all at the last one. Called at least once for every 2^21 keys that are worked on. False cancels, at any
 * call: nothing is made, no file is left, and the builder keeps its keys. It must not unwind (throw) through the
 * library. Since 0.1.
 */
typedef bool (*petal_progress_callback)(void *context, uint64_t done, uint64_t total);

/** How a builder works. NULL stands for all zeros. Since 0.1. */
typedef struct petal_builder_options {
  /** sizeof(petal_builder_options). */
  size_t struct_size;
  /**
   * The most memory in bytes that keys take, and sorting them; what there is no room for goes to a temporary file. 0
   * is no limit, otherwise at least 1048576. The finished filter and the stacks of threads are not counted. Kinds
   * that are built from all of their keys are solved shard by shard, whatever the limit, so that it does not change
   * their bytes: that takes some 22 bytes for each key of the largest shard, 38 of a map, and 5 MB. A shard has half
   * of all keys, but 2^20 or all at least and 5 * 2^20 at most, so these are 28 MB and 45 MB of two million keys, and
   * 118 MB and 202 MB at most. A lower limit holds until then, and is exceeded by as much.
   */
  uint64_t memory_limit;
  /**
   * The folder of that file, which has no name and goes with the builder. It has 8 bytes for each key, and 16 while
   * the filter is made; twice that for kinds that remove or count keys. Copied. Nullable without a limit; if it is
   * given it must be there and take files.
   */
  const char *temporary_directory;
  /** Nullable. Called in the thread that finishes or saves, until the builder is freed. */
  petal_progress_callback progress;
  /** Passed to `progress`; what it points to must live as long as the builder. */
  void *progress_context;
  /**
   * How many threads make the filter, the caller's included; 0 and 1 are none but the caller's. Others run only
   * while the filter is made. The filter is the same.
   */
  size_t threads;
} petal_builder_options;

/**
 * Makes a builder of the filter that a spec describes. A spec with neither capacity nor bits gets the capacity of the
 * distinct keys that come. `options` is nullable. Since 0.1.
 */
petal_status petal_builder_new(const petal_spec *spec,
                               const petal_builder_options *options,
                               petal_builder **builder,
                               petal_error *error);

/** Frees a builder. NULL is allowed. Since 0.1. */
void petal_builder_free(petal_builder *builder);

/** Adds a key. Since 0.1. */
petal_status petal_builder_add(petal_builder *builder, const void *key, size_t length);

/** Adds a uint64_t key. Since 0.1. */
petal_status petal_builder_add_u64(petal_builder *builder, uint64_t key);

/** Adds a hash. Since 0.1. */
petal_status petal_builder_add_hash(petal_builder *builder, uint64_t hash);

/**
 * Adds keys in order. `answers`, nullable, only says how many were added, the first `done`: a builder finds nothing
 * out about a key, so a form of answers is refused. Since 0.1.
 */
petal_status petal_builder_add_batch(petal_builder *builder,
                                     const petal_keys *keys,
                                     petal_answers *answers,
                                     petal_error *error);

/**
 * Adds a key that came `times` times; 0 times add nothing. `PETAL_ERR_UNSUPPORTED` if the kind cannot count. Since
 * 0.1.
 */
petal_status petal_builder_add_times(petal_builder *builder, const void *key, size_t length, uint64_t times);

/** Adds a uint64_t key that came `times` times, as `petal_builder_add_times()` does a byte key. Since 0.1. */
petal_status petal_builder_add_times_u64(petal_builder *builder, uint64_t key, uint64_t times);

/** Adds a hash that came `times` times, as `petal_builder_add_times()` does a byte key. Since 0.1. */
petal_status petal_builder_add_times_hash(petal_builder *builder, uint64_t hash, uint64_t times);

/**
 * Adds each key as often as its element of `times` says, in order; `times` has as many as there are keys, and may be
 * NULL if there are none. `answers`, nullable, only says how many keys were added, the first `done`: a form of answers
 * is refused. `PETAL_ERR_UNSUPPORTED` if the kind cannot count. Since 0.1.
 */
petal_status petal_builder_add_times_batch(petal_builder *builder,
                                           const petal_keys *keys,
                                           const uint64_t *times,
                                           petal_answers *answers,
                                           petal_error *error);

/** How many keys were added, duplicates included. Since 0.1. */
petal_status petal_builder_offered(const petal_builder *builder, uint64_t *offered);

/**
 * Makes the filter and empties the builder, which may be used again or freed. On a failure, and when the progress
 * callback cancels (`PETAL_ERR_CANCELLED`), the keys stay. Since 0.1.
 */
petal_status petal_builder_finish(petal_builder *builder, petal_filter **filter, petal_error *error);

/**
 * Makes the filter straight into a file, which replaces the one that is there atomically: the way to make a filter
 * anew from its source, in the right size, while others read the old file, which they keep as long as they have it
 * open. Empties the builder. On a failure the old file and the keys stay. Since 0.1.
 */
petal_status petal_builder_save(petal_builder *builder, const char *path, petal_error *error);

/**
 * How long the compact form of the filter is at most, in bytes, with the keys that were added, if all of them are
 * distinct; of a kind that is built from its keys about how long. `PETAL_ERR_UNSUPPORTED` if it has none. Since 0.1.
 */
petal_status petal_builder_compact_size(petal_builder *builder, size_t *size, petal_error *error);

/**
 * Makes the filter and writes its compact form into a buffer, of any alignment and `petal_builder_compact_size()` bytes
 * or more. Empties the builder, which can be used again and keeps room for its next keys. `PETAL_ERR_BUFFER_TOO_SMALL`
 * names the length that is needed; on a failure the keys stay. `written` is nullable. Since 0.1.
 */
petal_status petal_builder_finish_compact(petal_builder *builder,
                                          void *buffer,
                                          size_t length,
                                          size_t *written,
                                          petal_error *error);


/*
 * FILTERS: DESCRIBING
 */

/**
 * Nobody vouches for the payload as it is now, or not yet: the image is being changed, or was when its process ended,
 * or the filter comes from such a one. The count may lag.
 */
#define PETAL_STATE_DIRTY (1 << 0)
/** The image lies in a caller's buffer or a mapped file. */
#define PETAL_STATE_IN_PLACE (1 << 1)
/** The filter can be changed. */
#define PETAL_STATE_WRITABLE (1 << 2)
/** Keys can be hashed: the filter takes them, and has its secret key if it needs one. */
#define PETAL_STATE_CAN_HASH (1 << 3)
/**
 * It is dirty, and this handle will not make it clean by `petal_filter_sync()` or `petal_filter_free()`: the image was
 * dirty when it was opened, or something dirty was merged into the filter. `petal_filter_vouch()` does.
 */
#define PETAL_STATE_UNVOUCHED (1 << 4)

/** What a filter is: all that its header says. Since 0.1. */
typedef struct petal_description {
  /** sizeof(petal_description). */
  size_t struct_size;
  /** The kind. */
  petal_kind kind;
  /** The hash function. */
  petal_hash_function hash;
  /** The seed; the identifier of the secret key of a keyed filter; the tag of external hashes. */
  uint64_t seed;
  /** The version of the header's format. */
  uint32_t format_version;
  /** The version of the kind's layout. */
  uint32_t layout_version;
  /** What this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert. */
  uint64_t capabilities;
  /** `PETAL_STATE_*`, ORed. */
  uint32_t state;
  /** Places that a key takes, and that a lookup looks at. */
  uint32_t hashes;
  /** Distinct keys that it was sized for; 0 is unknown. */
  uint64_t capacity;
  /** Keys offered so far, duplicates included, less those that were removed. */
  uint64_t offered;
  /** Bits that keys are spread over. */
  uint64_t bits;
  /** Bytes of the whole image: header, payload and table of checksums. */
  uint64_t bytes;
  /** `bits` for each key of the capacity; 0 where that is unknown. */
  double bits_per_key;
  /**
   * The false-positive rate expected at capacity: what was promised when the filter was made, or what the geometry
   * gives since it was folded. 0 where exact bits were asked for.
   */
  double false_positive_rate;
  /** The inner loops in use: one of `PETAL_KERNEL_*`, never `PETAL_KERNEL_BEST`. */
  petal_kernel kernel;
  /** 0. */
  uint32_t reserved;
} petal_description;

/** How full a filter is: what its payload tells. Since 0.1. */
typedef struct petal_statistics {
  /** sizeof(petal_statistics). */
  size_t struct_size;
  /** The share of the bits, or of other places, that are taken. */
  double fill;
  /**
   * The false-positive rate now, from the payload as it is: exact, over hashes that are all as likely. Of a bloom
   * filter with derivation double, enhanced_double or triple it is exact up to some thousand bits (some hundred
   * with triple), where every hash is tried, in milliseconds. Above it comes from the fill and the estimated number
   * of keys, and is within 5 % for a filter that was made by rate, and within 10 % for other numbers of bits;
   * for triple by exact bits, it may be too low by half where bits / hashes is below some hundreds. The levels of
   * `scalable` are taken to be independent of each other: where they are often wrong, and so keep keys from those that
   * follow, it is too low by a few percent, 4 % at a rate of 0.5.
   */
  double false_positive_rate;
  /** The rate below which 64-bit hashes cannot get with so many keys, however many bits there are. */
  double false_positive_rate_floor;
  /**
   * Distinct keys, estimated from the fill; negative if the filter is too full to tell, or its kind cannot.
   * `petal_filter_estimate()` also gives the error.
   */
  double count_estimate;
  /**
   * Counters that have reached their greatest value, and stay there: what they count is that often or more. 0 for
   * kinds without counters.
   */
  uint64_t saturated;
} petal_statistics;

/** Describes a filter. Constant time: reads no payload. Since 0.1. */
petal_status petal_filter_describe(const petal_filter *filter, petal_description *description, petal_error *error);

/** Measures how full a filter is. Reads the whole payload. Since 0.1. */
petal_status petal_filter_statistics(const petal_filter *filter, petal_statistics *statistics, petal_error *error);

/**
 * The spec from which an empty filter compatible with this one can be made: its kind, exact bits and hashes, hash
 * function, seed and parameters. The secret key of a keyed filter is not in it. A filter that comes from a compact form
 * knows no capacity any more: of a kind that is sized by it, or remembers a window, the spec makes one of another size.
 * Since 0.1.
 */
petal_status petal_filter_spec(const petal_filter *filter, petal_spec *spec, petal_error *error);

/** What this handle can do: `PETAL_CAN_*`, ORed. A file opened for reading cannot insert. 0 for NULL. Since 0.1. */
uint64_t petal_filter_capabilities(const petal_filter *filter);

/**
 * How many of `keys` distinct keys an empty filter of this geometry takes for known on average, when they are inserted
 * one after the other, or refuses where it is full: new keys of which an insertion says that they were not new. A model
 * checker that explores only what is new omits so many states. The sum of the false-positive rates before each key.
 * `PETAL_ERR_UNSUPPORTED` for a kind that is built from its keys. Since 0.1.
 */
petal_status petal_filter_expected_omissions(const petal_filter *filter, uint64_t keys, double *omissions);

/**
 * The exact false-positive rate to expect of this filter with `keys` distinct keys in it. Of a bloom filter with
 * derivation double, enhanced_double or triple it is within 5 % from ten keys on if the filter was made by rate; with
 * exact bits that have small factors the rate is higher by up to a sixth at ten keys, of triple up to 2.5 times, and
 * by 2 % at a thousand. Since 0.1.
 */
petal_status petal_filter_expected_false_positive_rate(const petal_filter *filter,
                                                       uint64_t keys,
                                                       double *false_positive_rate);

/**
 * The probability that a key is not found once `age` other keys were inserted after it: a false negative. 0 of kinds that
 * neither lose keys (`PETAL_MAY_LOSE_KEYS`) nor forget them (`PETAL_CAN_AGE`). Of a window it is 0 up to its end, and then
 * the average over all places that the key may have in a step; it stays 0 where only `petal_filter_advance()` moves time
 * on. The key itself did not come again meanwhile. Constant time. Since 0.1.
 */
petal_status petal_filter_expected_false_negative_rate(const petal_filter *filter,
                                                       uint64_t age,
                                                       double *false_negative_rate);


/*
 * COMPACT FORMS
 *
 * For filters that live inside another system's file: a table's filter block, a page, a value. The
 * compact form of a filter is its payload and a trailer of 8 or 16 bytes; docs/format.md specifies
 * it. Hash function, seed and secret key are not in it: whoever opens it has to give those that
 * the filter was made with, and nothing tells if they are others. Neither are count, capacity and
 * rate, which are 0 of a filter that is opened from one. It is only read; a copy can be changed.
 *
 * The trailer has a checksum of 32 bits. 12 of them are the trailer's own and are looked at by every
 * function here; they find one or two flipped bits of it for certain. The other 20 are of all bytes:
 * `petal_filter_open_compact()` looks at them if the payload has at most 4096 bytes or the options
 * ask for it, `petal_filter_load_compact()` and `petal_compact_check()` always. No bytes make a function
 * here read past the length that it was given.
 *
 * Every kind of filter has a compact form, but for a `scalable` filter whose tightening is no whole
 * number of thousandths or that others were merged into, and a `fuse` filter of 2^33 keys or more.
 * Maps have none.
 */

/** What a compact form does not say. NULL stands for all zeros: XXH3 with seed 0. Since 0.1. */
typedef struct petal_compact_options {
  /** sizeof(petal_compact_options). */
  size_t struct_size;
  /** One of `PETAL_HASH_*`; 0 is `PETAL_HASH_XXH3`. */
  petal_hash_function hash;
  /**
   * 1 compares all of a form that is opened with its checksum, and with what its kind promises, however large it is.
   */
  uint32_t verify;
  /** The seed; 0 for `PETAL_HASH_SIPHASH13`. */
  uint64_t seed;
  /** The secret key of `PETAL_HASH_SIPHASH13`; all zeros is none. */
  uint8_t key[16];
} petal_compact_options;

/** The size in bytes of a filter's compact form. `PETAL_ERR_UNSUPPORTED` if it has none. Since 0.1. */
petal_status petal_filter_compact_size(const petal_filter *filter, size_t *size, petal_error *error);

/**
 * Writes the compact form into a buffer, of any alignment, of at least `petal_filter_compact_size()` bytes, also while
 * threads and processes insert: keys whose insertion happened before are in it. `PETAL_ERR_DIRTY` if the filter is
 * `PETAL_STATE_UNVOUCHED`, which the form could not say; `PETAL_ERR_CORRUPT` if it lies in an image that does not match
 * its checksums. `written` is nullable. Since 0.1.
 */
petal_status petal_filter_serialize_compact(const petal_filter *filter,
                                            void *buffer,
                                            size_t length,
                                            size_t *written,
                                            petal_error *error);

/**
 * Opens the compact form that `length` bytes from `data` are, in place and for reading: nothing is copied, and what is
 * larger than 4096 bytes is not read through unless the options ask for it. `data` is a multiple of 8; its bytes stay
 * as they are until the handle is freed. `options` is nullable. `PETAL_ERR_TRUNCATED` and `PETAL_ERR_FOREIGN` for
 * lengths that no compact form has; `PETAL_ERR_CORRUPT`; `PETAL_ERR_MISALIGNED`. Since 0.1.
 */
petal_status petal_filter_open_compact(const void *data,
                                       size_t length,
                                       const petal_compact_options *options,
                                       petal_filter **filter,
                                       petal_error *error);

/**
 * Copies a filter out of its compact form, of any alignment, into memory of its own, and verifies all of it whatever
 * the options say. `options` is nullable. Since 0.1.
 */
petal_status petal_filter_load_compact(const void *data,
                                       size_t length,
                                       const petal_compact_options *options,
                                       petal_filter **filter,
                                       petal_error *error);

/** Compares all of a compact form, of any alignment, with its checksum. Since 0.1. */
petal_status petal_compact_check(const void *data, size_t length, petal_error *error);

/**
 * Looks a hash up in a compact form without a handle: `data` is at any address, and nothing is allocated. Any failure
 * returns true; `petal_compact_contains_checked_hash()` says why. The payload is not compared with its checksum:
 * `petal_compact_check()` does that, once. A `fuse` filter's form has to be at a multiple of 8. Hash the key with
 * `petal_hash()`. Since 0.1.
 */
bool petal_compact_contains_hash(const void *data, size_t length, uint64_t hash);

/**
 * Looks a key up in a compact form without a handle, as `petal_compact_contains_hash()` does; the options say how the
 * key is hashed, and whether all of the form is checked does not matter. NULL hashes fastest. Since 0.1.
 */
bool petal_compact_contains(const void *data,
                            size_t length,
                            const petal_compact_options *options,
                            const void *key,
                            size_t key_length);

/** Looks a hash up as `petal_compact_contains_hash()` does, and says whether that worked. Since 0.1. */
petal_status petal_compact_contains_checked_hash(const void *data,
                                                 size_t length,
                                                 uint64_t hash,
                                                 bool *found,
                                                 petal_error *error);

/**
 * Looks one hash up in `count` compact forms in one call: form i is the `lengths[i]` bytes from `data[i]`, and has
 * answer i. The lines of those that come are fetched while one answers. A form that is damaged makes the call fail,
 * naming it, and then every answer is true. Since 0.1.
 */
petal_status petal_compacts_contain_hash(const void *const *data,
                                         const size_t *lengths,
                                         size_t count,
                                         uint64_t hash,
                                         petal_answers *answers,
                                         petal_error *error);


/*
 * MAPS
 *
 * A map keeps values and no keys. Most kinds are built once, from all of their keys, and give the
 * exact value of each; one is made empty, and gives the value of a key or more. Of other keys a
 * map says that they are not there: of all but a share that you choose, which are given a value
 * that means nothing. The kind `retrieval` has nothing to tell them by, and gives every key one.
 */

/** A map of any kind. Free it with `petal_map_free()`. Since 0.1. */
typedef struct petal_map petal_map;

/**
 * Frees a map. An image that was written in place is brought up to date first; call `petal_map_sync()` before if you
 * want to know whether that works. NULL is allowed. Since 0.1.
 */
void petal_map_free(petal_map *map);

/**
 * Looks a key up: `found` becomes whether it is there, and `value`, nullable, its value, or 0 if it is not. In an
 * approximator a key is not there if it reads the least element of the lattice, which of "min" is the greatest number.
 * Constant time. Since 0.1.
 */
petal_status petal_map_get(const petal_map *map, const void *key, size_t length, uint64_t *value, bool *found);

/** Looks a uint64_t key up, as `petal_map_get()` does a byte key. Since 0.1. */
petal_status petal_map_get_u64(const petal_map *map, uint64_t key, uint64_t *value, bool *found);

/**
 * Looks up a key that is known by a 64-bit hash from elsewhere, as `petal_map_get()` does a byte key.
 * `PETAL_ERR_UNSUPPORTED` unless the map was made with `PETAL_HASH_EXTERNAL`: others know their keys by 128 bits.
 * Since 0.1.
 */
petal_status petal_map_get_hash(const petal_map *map, uint64_t hash, uint64_t *value, bool *found);

/**
 * Looks keys up: `values` of the answers become those of the keys, 0 of a key that is not there, and `bytes` and
 * `bitmap` say which are. On a failure every answer is false and every value 0. Since 0.1.
 */
petal_status petal_map_get_batch(const petal_map *map,
                                 const petal_keys *keys,
                                 petal_answers *answers,
                                 petal_error *error);


/*
 * MAPS: BUILDING
 *
 * A map builder collects keys with their values, 24 bytes a key, and then makes the map, sized for exactly the
 * distinct keys that came. Of a kind that is made empty it joins the values of a key. It takes the options of a
 * builder of filters, and of its spec kind (0 is `PETAL_KIND_BLOOMIER`), false_positive_rate, hash function, seed,
 * key, parameters.
 */

/** Collects keys with their values. Free it with `petal_map_builder_free()`. Since 0.1. */
typedef struct petal_map_builder petal_map_builder;

/** Makes a builder of the map that a spec describes. `options` is nullable. Since 0.1. */
petal_status petal_map_builder_new(const petal_spec *spec,
                                   const petal_builder_options *options,
                                   petal_map_builder **builder,
                                   petal_error *error);

/** Frees a map builder. NULL is allowed. Since 0.1. */
void petal_map_builder_free(petal_map_builder *builder);

/**
 * Gives a key a value. To give it the same value again changes nothing; two different values of a key are found when
 * the map is made, unless its kind is one that joins them. `PETAL_ERR_OUT_OF_RANGE` for a value that the parameter
 * value_bits cannot hold. Since 0.1.
 */
petal_status petal_map_builder_put(petal_map_builder *builder, const void *key, size_t length, uint64_t value);

/** Gives a uint64_t key a value, as `petal_map_builder_put()` does a byte key. Since 0.1. */
petal_status petal_map_builder_put_u64(petal_map_builder *builder, uint64_t key, uint64_t value);

/**
 * Gives a key that is known by a 64-bit hash from elsewhere a value. Two keys with one hash are one key.
 * `PETAL_ERR_UNSUPPORTED` unless the spec has `PETAL_HASH_EXTERNAL`. Since 0.1.
 */
petal_status petal_map_builder_put_hash(petal_map_builder *builder, uint64_t hash, uint64_t value);

/**
 * Gives keys their values in order; `values` has as many as there are keys, and may be NULL if there are none.
 * `answers`, nullable, only says how many were put, the first `done`; a form of answers is refused. Since 0.1.
 */
petal_status petal_map_builder_put_batch(petal_map_builder *builder,
                                         const petal_keys *keys,
                                         const uint64_t *values,
                                         petal_answers *answers,
                                         petal_error *error);

/** How many keys were offered, duplicates included. Since 0.1. */
petal_status petal_map_builder_offered(const petal_map_builder *builder, uint64_t *offered);

/**
 * Makes the map and empties the builder, which may be used again or freed. `PETAL_ERR_CONTRADICTION` if a key was
 * given two values, naming them. On a failure, and when the progress callback cancels (`PETAL_ERR_CANCELLED`), the
 * keys stay. Since 0.1.
 */
petal_status petal_map_builder_finish(petal_map_builder *builder, petal_map **map, petal_error *error);

/**
 * Makes the map straight into a file, which replaces the one that is there atomically, and empties the builder. On a
 * failure the old file and the keys stay. Since 0.1.
 */
petal_status petal_map_builder_save(petal_map_builder *builder, const char *path, petal_error *error);


/*
 * MAPS: CHANGING
 *
 * Two kinds of map change after they were made. An `approximator` is made empty, and takes keys
 * with their values at any time: what it reads of a key is what the key was given, or above that.
 * In a `mutable_bloomier`, which is built, the values of its keys can be replaced. Others answer
 * `PETAL_ERR_UNSUPPORTED`. Changes need the map to themselves; readers of the same image in other
 * handles and processes go on meanwhile, without locks, and see a value as it was or as it is.
 */

/**
 * Makes an empty map, of a kind that is made empty: `PETAL_KIND_APPROXIMATOR`, which the spec has to name.
 * `PETAL_ERR_UNSUPPORTED` for a kind that is built by `petal_map_builder_new()`. Since 0.1.
 */
petal_status petal_map_new(const petal_spec *spec, petal_map **map, petal_error *error);

/**
 * Gives a key a value, beside those that it was given before: the map joins them as its parameter lattice says.
 * `changed`, nullable, becomes whether less was read of the key before. `PETAL_ERR_OUT_OF_RANGE` for a value that the
 * parameter value_bits cannot hold. Constant time. Since 0.1.
 */
petal_status petal_map_put(petal_map *map, const void *key, size_t length, uint64_t value, bool *changed);

/** Gives a uint64_t key a value, as `petal_map_put()` does a byte key. Since 0.1. */
petal_status petal_map_put_u64(petal_map *map, uint64_t key, uint64_t value, bool *changed);

/**
 * Gives a key that is known by a 64-bit hash from elsewhere a value, as `petal_map_put()` does a byte key.
 * `PETAL_ERR_UNSUPPORTED` unless the map was made with `PETAL_HASH_EXTERNAL`. Since 0.1.
 */
petal_status petal_map_put_hash(petal_map *map, uint64_t hash, uint64_t value, bool *changed);

/**
 * Gives keys values in order, as `petal_map_put()` does one; `values` has as many as there are keys, and may be NULL if
 * there are none. `answers`, nullable: each is true if less was read of the key before. On a failure the first `done`
 * keys were taken. Since 0.1.
 */
petal_status petal_map_put_batch(petal_map *map,
                                 const petal_keys *keys,
                                 const uint64_t *values,
                                 petal_answers *answers,
                                 petal_error *error);

/**
 * Gives a key that is there another value in place of its own. `found`, nullable, becomes false if the key certainly
 * is not there: then nothing has changed. True does not prove that it is: with the probability of a false positive
 * another key's value was replaced. `PETAL_ERR_OUT_OF_RANGE` for a value that has more bits than the map's values.
 * Constant time. Since 0.1.
 */
petal_status petal_map_replace(petal_map *map, const void *key, size_t length, uint64_t value, bool *found);

/** Gives a uint64_t key that is there another value, as `petal_map_replace()` does a byte key. Since 0.1. */
petal_status petal_map_replace_u64(petal_map *map, uint64_t key, uint64_t value, bool *found);

/**
 * Gives a key that is there, and known by a 64-bit hash from elsewhere, another value, as `petal_map_replace()` does a
 * byte key. `PETAL_ERR_UNSUPPORTED` unless the map was made with `PETAL_HASH_EXTERNAL`. Since 0.1.
 */
petal_status petal_map_replace_hash(petal_map *map, uint64_t hash, uint64_t value, bool *found);

/**
 * Gives keys that are there other values in order, as `petal_map_replace()` does one; `values` has as many as there are
 * keys, and may be NULL if there are none. `answers`, nullable: each is false if the key certainly is not there, which
 * is no failure. On a failure the first `done` keys were taken. Since 0.1.
 */
petal_status petal_map_replace_batch(petal_map *map,
                                     const petal_keys *keys,
                                     const uint64_t *values,
                                     petal_answers *answers,
                                     petal_error *error);

/**
 * Makes `map` what it would be if it had also been given all that `other` was, for kinds that can
 * (`PETAL_CAN_MERGE`). Both have to be made from one spec: `PETAL_ERR_INCOMPATIBLE` names the first difference.
 * Since 0.1.
 */
petal_status petal_map_merge(petal_map *map, const petal_map *other, petal_error *error);

/** Forgets all keys of a map that is made empty. Since 0.1. */
petal_status petal_map_clear(petal_map *map, petal_error *error);

/** Brings an image that was changed in place up to date on its disk, as `petal_filter_sync()` does. Since 0.1. */
petal_status petal_map_sync(petal_map *map, petal_error *error);

/** Declares the bytes as they are now to be right, as `petal_filter_vouch()` does. Since 0.1. */
petal_status petal_map_vouch(petal_map *map, petal_error *error);

/**
 * What this map can do now: `PETAL_CAN_*`, ORed. An image that is open for reading can do less than its kind. 0 for
 * NULL. Since 0.1.
 */
uint64_t petal_map_capabilities(const petal_map *map);


/*
 * MAPS: IMAGES AND FILES
 *
 * The image of a map is made as that of a filter. It opens for reading (`PETAL_OPEN_READ`) or as a
 * copy (`PETAL_OPEN_LOAD`), and where its kind can change (MAPS: CHANGING) for one writer
 * (`PETAL_OPEN_WRITE`). Otherwise that is `PETAL_ERR_UNSUPPORTED`, and so is to share a map
 * (`PETAL_OPEN_SHARE`), and to open the image of a filter as a map, or the other way round, with a
 * message that says what it is.
 */

/** Opens the image that a file is. `options` is nullable. Since 0.1. */
petal_status petal_map_open(const char *path, const petal_open_options *options, petal_map **map, petal_error *error);

/**
 * Opens the image at `offset`, a multiple of 8, of an open file, as `petal_filter_open_descriptor()` does. `options`
 * is nullable. Since 0.1.
 */
petal_status petal_map_open_descriptor(int32_t descriptor,
                                       uint64_t offset,
                                       const petal_open_options *options,
                                       petal_map **map,
                                       petal_error *error);

/**
 * Opens the image at the start of a buffer, aligned to 8. In place the buffer must outlive the handle, and is written
 * only if it is opened for that. `options` is nullable. Since 0.1.
 */
petal_status petal_map_open_buffer(void *buffer,
                                   size_t length,
                                   const petal_open_options *options,
                                   petal_map **map,
                                   petal_error *error);

/**
 * Copies the image at the start of `image`, of any alignment, into memory of its own and checks its checksums. The
 * mode in `options`, nullable, does not matter. Since 0.1.
 */
petal_status petal_map_load(const void *image,
                            size_t length,
                            const petal_open_options *options,
                            petal_map **map,
                            petal_error *error);

/** Copies a map, wherever it lives, into memory of its own. Since 0.1. */
petal_status petal_map_copy(const petal_map *map, petal_map **copy, petal_error *error);

/** The size of the image in bytes. Since 0.1. */
petal_status petal_map_serialized_size(const petal_map *map, uint64_t *size);

/**
 * Writes the image into a buffer of at least `petal_map_serialized_size()` bytes. `written` is nullable. Since 0.1.
 */
petal_status petal_map_serialize(const petal_map *map,
                                 void *buffer,
                                 size_t length,
                                 size_t *written,
                                 petal_error *error);

/**
 * Gives the image to `write`, piece by piece and in order. `PETAL_ERR_CALLBACK` if `write` returns false. `context` is
 * passed on and may be NULL. Since 0.1.
 */
petal_status petal_map_serialize_to(const petal_map *map,
                                    petal_write_callback write,
                                    void *context,
                                    petal_error *error);

/** Writes the image to a file, atomically, as `petal_filter_save()` does. Since 0.1. */
petal_status petal_map_save(const petal_map *map, const char *path, petal_error *error);

/**
 * Checks the bytes that are there now, by reading them: `PETAL_ERR_CORRUPT`, naming them, if they do not match their
 * checksums, or the kind cannot have such a payload. Since 0.1.
 */
petal_status petal_map_verify(const petal_map *map, petal_error *error);

/**
 * Describes a map: `hashes` are the cells of a key, `bits` those of all cells. Constant time: reads no payload.
 * Since 0.1.
 */
petal_status petal_map_describe(const petal_map *map, petal_description *description, petal_error *error);

/**
 * Measures a map: `fill` is the share of the cells that keys have taken, `false_positive_rate` the share of absent
 * keys that are given a value, `count_estimate` the distinct keys: exactly if it was built, otherwise judging by the
 * fill, and NaN if it is too full to tell. Since 0.1.
 */
petal_status petal_map_statistics(const petal_map *map, petal_statistics *statistics, petal_error *error);


/*
 * OTHER SYSTEMS' BYTES
 *
 * Filters that other systems wrote, as filters with all that one can do, and back as the same bytes:
 *
 *     uint8_t bytes[14] = {1, 5, 0, 0, 0, 1};  // what Guava wrote: an empty filter of one word
 *     petal_filter *filter;
 *     if (petal_filter_import("guava", bytes, sizeof bytes, NULL, &filter, &error) != PETAL_OK) return 1;
 *     petal_filter_insert(filter, "apple", 5, NULL);
 *     if (petal_filter_contains(filter, "key-7", 5)) puts("maybe");
 *     petal_filter_export(filter, "guava", NULL, bytes, sizeof bytes, NULL, &error);
 *     petal_filter_free(filter);
 *
 * docs/formats.md says of each format what it holds and how its owner makes bytes of a key. Most of
 * these filters take keys whole, because their places come from more of a key than a 64-bit hash: the
 * functions of hashes are refused for them (`PETAL_ERR_UNSUPPORTED`), and lookups of hashes say true.
 * Save one as an image, and it opens mapped like any other.
 */

/** `petal_filter_import()` reads it. */
#define PETAL_FORMAT_READ (1 << 0)
/** `petal_filter_export()` writes it. */
#define PETAL_FORMAT_WRITE (1 << 1)
/** `petal_format_spec()` sizes empty filters of it, for `petal_filter_new()`. */
#define PETAL_FORMAT_CREATE (1 << 2)
/** `petal_format_recognise()` tells its bytes from others. */
#define PETAL_FORMAT_RECOGNISE (1 << 3)
/** `petal_format_spec()` sizes filters of it, for a builder. */
#define PETAL_FORMAT_BUILD (1 << 4)

/** What the library knows of a format. Since 0.1. */
typedef struct petal_format_info {
  /** sizeof(petal_format_info). */
  size_t struct_size;
  /** What can be done with it: `PETAL_FORMAT_*`, ORed. */
  uint32_t capabilities;
  /** In how many ways its owners write it, named by `petal_format_variant()`; 0 if there is one. */
  uint32_t variant_count;
  /** Its name, the same everywhere. */
  char name[PETAL_NAME_SIZE];
  /** Whose it is and what it holds, in a sentence. */
  char summary[PETAL_SUMMARY_SIZE];
} petal_format_info;

/**
 * What a format's bytes do not say themselves; docs/formats.md names the formats that need it, and the others refuse
 * it. NULL stands for all zeros. Since 0.1.
 */
typedef struct petal_import_options {
  /** sizeof(petal_import_options). */
  size_t struct_size;
  /** The number of bits that places are taken modulo. */
  uint64_t bits;
  /** The seed of the hash function. */
  uint64_t seed;
  /** Bits that a key sets. */
  uint32_t hashes;
  /** P of a Golomb-coded set: the bits of a gap's remainder. */
  uint32_t rice_bits;
  /** M of a Golomb-coded set: how many numbers there are for each key. */
  uint64_t multiplier;
  /** The key of the hash function; all zeros is none. */
  uint8_t key[16];
} petal_import_options;

/** How many formats there are. Since 0.1. */
size_t petal_format_count(void);

/** Describes the format at `index`, which is less than `petal_format_count()`. Since 0.1. */
petal_status petal_format_at(size_t index, petal_format_info *info);

/** Describes the format with this name: `PETAL_ERR_UNKNOWN_VALUE` if there is none. Since 0.1. */
petal_status petal_format_find(const char *name, petal_format_info *info);

/**
 * Writes the name of a format's variant, less than its `variant_count`, into `variant`, which has room for
 * `PETAL_NAME_SIZE` bytes. Variant 0 is what a filter is made as if none is named. Since 0.1.
 */
petal_status petal_format_variant(const char *format, size_t index, char *variant);

/**
 * Describes the format that bytes start like: `PETAL_ERR_FOREIGN` if they tell of none. Bytes of a format without
 * `PETAL_FORMAT_RECOGNISE` tell nothing. Since 0.1.
 */
petal_status petal_format_recognise(const void *bytes, size_t length, petal_format_info *info);

/**
 * Makes a filter of its own out of another system's bytes, all of them. `options` is nullable. `PETAL_ERR_FOREIGN`,
 * `PETAL_ERR_TRUNCATED` and `PETAL_ERR_CORRUPT` for bytes that the format cannot have. Since 0.1.
 */
petal_status petal_filter_import(const char *format,
                                 const void *bytes,
                                 size_t length,
                                 const petal_import_options *options,
                                 petal_filter **filter,
                                 petal_error *error);

/**
 * How many bytes a filter has in a format. `variant`, nullable, is one of the format's; NULL is the one that the filter
 * was imported in, or the first. `PETAL_ERR_UNSUPPORTED` if the filter has no form in the format, naming what stands in
 * the way. Since 0.1.
 */
petal_status petal_filter_export_size(const petal_filter *filter,
                                      const char *format,
                                      const char *variant,
                                      uint64_t *size,
                                      petal_error *error);

/**
 * Writes a filter in a format into a buffer of at least `petal_filter_export_size()` bytes. `variant` is as there,
 * `written` is nullable. `PETAL_ERR_BUFFER_TOO_SMALL` writes nothing. Since 0.1.
 */
petal_status petal_filter_export(const petal_filter *filter,
                                 const char *format,
                                 const char *variant,
                                 void *buffer,
                                 size_t length,
                                 size_t *written,
                                 petal_error *error);

/**
 * Gives a filter in a format to `write`, piece by piece and in order. `variant` is as in `petal_filter_export_size()`;
 * `context` is passed on and may be NULL. `PETAL_ERR_CALLBACK` if `write` returns false. Since 0.1.
 */
petal_status petal_filter_export_to(const petal_filter *filter,
                                    const char *format,
                                    const char *variant,
                                    petal_write_callback write,
                                    void *context,
                                    petal_error *error);

/**
 * Writes the spec of an empty filter of a format, or of one for a builder, of the size that its owner would give it
 * for `capacity` distinct keys at a false-positive rate inside (0, 1). `variant` is nullable: one of the format's.
 * `seed` is that of its hash function, where it has one, otherwise 0. A key is for the caller to set.
 * `PETAL_ERR_UNSUPPORTED` for a format without `PETAL_FORMAT_CREATE` and `PETAL_FORMAT_BUILD`.
 * Since 0.1.
 */
petal_status petal_format_spec(const char *format,
                               const char *variant,
                               uint64_t capacity,
                               double false_positive_rate,
                               uint64_t seed,
                               petal_spec *spec,
                               petal_error *error);


/*
 * PLANNING
 *
 * Which kind of filter, and how large? `petal_plan()` asks every one.
 */

/** What is wanted: set `keys`, and `false_positive_rate` or `memory`. Since 0.1. */
typedef struct petal_plan_request {
  /** sizeof(petal_plan_request). */
  size_t struct_size;
  /** Distinct keys; of kinds that forget (`PETAL_CAN_AGE`) the window, of which the last so many are remembered. */
  uint64_t keys;
  /** The greatest false-positive rate, inside (0, 1); 0 if `memory` is set. */
  double false_positive_rate;
  /** The most bytes; 0 if `false_positive_rate` is set. */
  uint64_t memory;
  /**
   * What the kind must be able to do: `PETAL_CAN_*`, ORed; with `PETAL_MAY_LOSE_KEYS` kinds that lose keys will do.
   */
  uint64_t capabilities;
  /** 1 if all keys are known before the first lookup, so that kinds which cannot insert will do; otherwise 0. */
  uint32_t is_static;
  /** 0. */
  uint32_t reserved;
  /**
   * Where keys are integers: the bound below which all of them are, at least `keys`. Kinds whose `petal_kind_info` has
   * `takes_integers` are proposed then. 0 is unknown.
   */
  uint64_t universe;
  /**
   * How often each key comes at most, where it is counted: kinds that count have room for that, or say why not. 0 is
   * taken for 1.
   */
  uint64_t times;
} petal_plan_request;

/** The size of a proposal's reason, with its final NUL. */
#define PETAL_REASON_SIZE 240

/**
 * What one kind would be. In an array of them only the first needs its `struct_size` set: it says how long each is.
 * Since 0.1.
 */
typedef struct petal_proposal {
  /** sizeof(petal_proposal). */
  size_t struct_size;
  /** The kind. */
  petal_kind kind;
  /** `PETAL_OK` if the kind fits; otherwise why not, and the numbers below are 0. */
  petal_status status;
  /** Bits for each key. */
  double bits_per_key;
  /** Bytes of the image. */
  uint64_t bytes;
  /**
   * The exact false-positive rate with all keys in it; with `PETAL_CAN_GROW`, the rate that it keeps to however many
   * keys come; with `PETAL_CAN_AGE`, the largest that it comes to, with `keys` keys in the window.
   */
  double false_positive_rate;
  /** Cache lines that a lookup of a present key touches. */
  double lines_per_lookup;
  /**
   * Bytes that a builder takes beside the filter, without a memory limit and on one thread, for kinds that are built
   * from all of their keys: eight for each key, and what the work needs. 0 for kinds that are made empty.
   */
  uint64_t build_memory;
  /** The kind's name. */
  char name[PETAL_NAME_SIZE];
  /** Why the kind does not fit; empty if it does. */
  char reason[PETAL_REASON_SIZE];
} petal_proposal;

/**
 * Proposes kinds: those that fit first, the smallest (or, for a memory, the most accurate) at the top. Writes as many
 * as there is `room` for into `proposals`, and into `count` how many there are: one for each kind of filter, so that
 * room for `petal_kind_count()` is enough. No keys are taken for one. Since 0.1.
 */
petal_status petal_plan(const petal_plan_request *request,
                        petal_proposal *proposals,
                        size_t room,
                        size_t *count,
                        petal_error *error);


/*
 * FILTER POLICIES OF SORTED TABLES
 *
 * LevelDB keeps a filter beside the keys of every data block of a table. These functions make such
 * filters and ask them:
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
 * They have the signatures of `leveldb/c.h`, so a program hands them to `leveldb_filterpolicy_create()` as
 * they are: policy, `petal_policy_free`, `petal_policy_create_filter`, `petal_policy_key_may_match`,
 * `petal_policy_name`. The library `libpetal_leveldb` (`integrations/leveldb`) does that in one call. Any
 * number of threads may use one policy.
 */

/** How the bytes of a policy's filters are made of keys: one of `PETAL_POLICY_*`. Since 0.1. */
typedef uint32_t petal_policy_form;

/**
 * LevelDB's own filters, "leveldb.BuiltinBloomFilter2", bit for bit: databases keep the filters that they have, and
 * LevelDB's own policy reads those that are made here.
 */
#define PETAL_POLICY_LEVELDB 1
/**
 * Those of the kind `blocked` in its compact form, "petal.BlockedBloomFilter": faster to make and to ask, and in whole
 * cache lines of 512 bits, so that the small filters of data blocks have more bits and match fewer keys that are not
 * there. docs/format.md has its bytes.
 */
#define PETAL_POLICY_BLOCKED 2

/**
 * Makes a policy of `form` whose filters have `bits_per_key` bits for each key; 10 give about one false positive in a
 * hundred. Give it to `leveldb_filterpolicy_create()`, which frees it in the end, or free it with
 * `petal_policy_free()`. Since 0.1.
 */
petal_status petal_policy_new(petal_policy_form form, uint32_t bits_per_key, void **policy, petal_error *error);

/** Frees a policy; NULL is allowed. Since 0.1. */
void petal_policy_free(void *policy);

/**
 * The name that tables keep beside the filters of a policy, static: filters of another name are not looked at. Empty
 * for NULL. Since 0.1.
 */
const char *petal_policy_name(void *policy);

/**
 * Makes the filter of `count` keys, key i being the `lengths[i]` bytes at `keys[i]`; a key may come more than once.
 * Returns its bytes, to be freed with `free()`, and writes their number to `filter_length`.
 *
 * Where that fails, for want of memory or because a pointer is NULL, it is a filter of two bytes that every key
 * matches, so that no key is lost. NULL, with a length of 0, if there are not even two bytes, or nowhere to write the
 * length. Since 0.1.
 */
char *petal_policy_create_filter(void *policy,
                                 const char *const *keys,
                                 const size_t *lengths,
                                 int count,
                                 size_t *filter_length);

/**
 * 1 if the key may be among those that the filter was made of, 0 if it is not; 1 for bytes that are no filter of the
 * policy, and where a pointer is NULL. Since 0.1.
 */
uint8_t petal_policy_key_may_match(void *policy,
                                   const char *key,
                                   size_t length,
                                   const char *filter,
                                   size_t filter_length);


/*
 * HASHING ONCE FOR MANY FILTERS
 *
 * A filter hashes keys itself. Hash once and use the `_hash` functions where one key is looked up
 * in many filters that share a hash function and seed.
 */

/** The hash of a key under a spec's hash function, seed and key; the rest of the spec does not matter. Since 0.1. */
petal_status petal_hash(const petal_spec *spec, const void *key, size_t length, uint64_t *hash, petal_error *error);

/** The hash of a uint64_t key under a spec's hash function, seed and key. Since 0.1. */
petal_status petal_hash_u64(const petal_spec *spec, uint64_t key, uint64_t *hash, petal_error *error);

/**
 * The hashes of many keys under a spec's hash function, seed and key, as `keys->count` numbers: to be given as
 * `PETAL_KEYS_HASHES` to many filters, or compact forms, that hash alike. Since 0.1.
 */
petal_status petal_hash_batch(const petal_spec *spec, const petal_keys *keys, uint64_t *hashes, petal_error *error);

/**
 * The hash of a key as a filter makes it. `PETAL_ERR_EXTERNAL_HASH` or `PETAL_ERR_KEY_MISSING` where it cannot.
 * Since 0.1.
 */
petal_status petal_filter_hash(const petal_filter *filter, const void *key, size_t length, uint64_t *hash);

/** The hash of a uint64_t key as a filter makes it. Since 0.1. */
petal_status petal_filter_hash_u64(const petal_filter *filter, uint64_t key, uint64_t *hash);


/*
 * FILTERS: VIEWS
 *
 * For programs that look single keys up so often that the call itself counts: `petal_inline.h`, installed beside
 * this header, has lookups and insertions that are compiled into the program. They work on a view, which says where a
 * filter's payload lies and how it is laid out.
 *
 * A view is a plain struct, to be copied at will and never freed. It points into its filter:
 *
 * - It ends with `petal_filter_fold()` and `petal_filter_free()` of the handle that gave it, and with nothing else.
 * - A lookup in it is like a call that takes the const handle: many threads may do it at once, also while others
 *   insert with `petal_filter_insert_shared()`, but not while a call runs that takes a handle which is not const.
 * - An insertion into it is like a call that takes a handle which is not const: the filter is alone meanwhile.
 *   `petal_filter_sync()` ends the permission to insert, wherever the filter lies: take a new writable view after it.
 *   Lookups go on.
 * - Keys that are inserted through it are not counted. `petal_filter_add_offered()` makes up for it.
 */

/** How a payload is laid out: one of `PETAL_LAYOUT_*`. Since 0.1. */
typedef uint32_t petal_layout;

/** Blocks of 256 bits, a bit in each of eight lanes: filters of the kind `PETAL_KIND_SPLIT_BLOCK`. */
#define PETAL_LAYOUT_SPLIT_BLOCK 1
/** Blocks of 512 bits, a bit in each of some of sixteen lanes: filters of the kind `PETAL_KIND_BLOCKED`. */
#define PETAL_LAYOUT_BLOCKED 2

/**
 * A filter's payload and how keys are found in it; `docs/format.md` specifies the layouts. Set `struct_size`, and the
 * rest to 0: a view that was never filled in says true of every key. Since 0.1.
 */
typedef struct petal_view {
  /** sizeof(petal_view). */
  size_t struct_size;
  /** One of `PETAL_LAYOUT_*`. */
  petal_layout layout;
  /** The bits that a key sets. */
  uint32_t hashes;
  /** The hash function of the keys: uint64_t keys can be hashed inline where it is `PETAL_HASH_XXH3`. */
  petal_hash_function hash;
  /** How many `masks` there are. */
  uint32_t mask_count;
  /** What XXH3 mixes uint64_t keys with, made from the seed; otherwise 0. */
  uint64_t hash_flip;
  /** How many blocks there are, at least 1. */
  uint64_t blocks;
  /** The blocks, one after the other, aligned to 8 bytes. */
  const uint64_t *words;
  /** The address in `words`, for writing, where keys may be inserted; otherwise NULL. */
  uint64_t *writable_words;
  /** The sets of lanes of which a key has one, for `PETAL_LAYOUT_BLOCKED`; otherwise NULL. Static. */
  const uint16_t *masks;
} petal_view;

/**
 * Fills in a view for lookups. Constant time. `PETAL_ERR_UNSUPPORTED` if the filter's kind has no layout with a name.
 * Since 0.1.
 */
petal_status petal_filter_view(const petal_filter *filter, petal_view *view, petal_error *error);

/**
 * Fills in a view for lookups and insertions. An image in place is marked dirty first, on its disk too. Because nobody
 * will say which of its regions change, all of them count as changed: this call and the next sync read the whole
 * payload. `PETAL_ERR_CORRUPT` if the image does not match its checksums; `PETAL_ERR_UNSUPPORTED` also if the handle
 * is open for reading, or for shared insertion. Since 0.1.
 */
petal_status petal_filter_view_writable(petal_filter *filter, petal_view *view, petal_error *error);


/*
 * VERSION
 *
 * The macros `PETAL_VERSION_*` are the header's version, these functions the library's.
 */

/** The library's version as major * 10000 + minor * 100 + patch, like `PETAL_VERSION_NUMBER`. Since 0.1. */
uint32_t petal_version_number(void);

/** The library's version as text, like `PETAL_VERSION_STRING`. Static. Since 0.1. */
const char *petal_version_string(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PETAL_H */
