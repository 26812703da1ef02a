/*
 * petal_inline.h: lookups and insertions of single keys that the compiler puts into the program which includes this
 * header. They are for filters whose layout has a name: the kinds `blocked`, `split_block`, `bloom` with the default
 * derivation, `fuse`, `ribbon`, and `cuckoo` without semi-sorting. Insertions are for the first three. There are
 * lookups for maps of the kinds `retrieval` and `bloomier` too.
 *
 *     petal_view view = PETAL_VIEW_INIT;
 *     if (petal_filter_get_view(filter, &view, NULL) != PETAL_OK) return 1;
 *     for (size_t i = 0; i < count; i++) hits += petal_view_contains_u64(&view, keys[i]);
 *
 * `petal_map_get_view()` fills in a view of a map, and `petal_view_get_u64()` gives the value of a key.
 *
 * These functions do what `petal_filter_contains_u64()` and its like do, to the same bits. If many keys come together,
 * a batch (`petal_filter_contains_batch()`) is faster still, most of all for filters larger than the cache. A loop
 * that cannot use a batch but knows its keys some rounds before may fetch memory ahead with
 * `petal_view_prefetch_u64()`.
 *
 * If something is wrong, lookups in filters say true of every key: the view is NULL or nobody filled it in, or this
 * header does not know the view's layout. A uint64_t key may also come to a filter whose hash function is not XXH3.
 * Hash such keys with `petal_filter_hash()` and use the functions for hashes, which take
 * the hashes of any filter. Insertions and lookups in maps return a status.
 *
 * The processor for which you compile the including file decides on the code. On x86-64 that is AVX-512 (F, BW, DQ and
 * VL), AVX2, or SSE2, which every such processor has. On aarch64 it is NEON, which every such processor has. Elsewhere
 * it is plain code that is C99 and C++17. All do the same. The library itself always uses the best that the processor
 * has. If you compile a file for much less than that, a call into the library may be as fast.
 *
 * For a fast loop, copy the view into a local variable and pass the address of that copy, so that the compiler sees
 * that nothing changes the view.
 *
 * Define PETAL_INLINE_PORTABLE before you include this header to get the plain code without extensions of any
 * compiler. That code loads with volatile instead of atomic loads. Processors see no difference, but ThreadSanitizer
 * does.
 *
 * In C++ these functions belong to the file that includes them. If an inline function of yours calls them, compile all
 * files that contain your function for the same processor.
 *
 * A view says where the payload of a filter or map lies and how the payload is laid out. A view is a plain struct:
 * copy it at will and never free it. A view points into its filter or map:
 *
 * - Only `petal_filter_fold()` and `petal_filter_free()` of its handle end a view of a filter, and only
 *   `petal_map_free()` a view of a map.
 * - A lookup in a view is like a call that takes the const handle. Many threads may look up at once, also while others
 *   insert with `petal_filter_insert_shared()`. No thread may look up while a call runs that takes a handle which is
 *   not const.
 * - An insertion into a view is like a call that takes a handle which is not const: nobody else may use the filter
 *   meanwhile. `petal_filter_sync()` ends the permission to insert, wherever the filter lies: take a new writable view
 *   after a sync. Lookups may go on.
 * - Insertions through a view do not count keys. `petal_filter_add_insertions()` adds the count later.
 */

#ifndef PETAL_INLINE_H
#define PETAL_INLINE_H

#include <petal.h>
#include <petal_map.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The layout of a payload: one of `PETAL_VIEW_LAYOUT_*`. Each layout says what the `words` of a view are. Words that a
 * layout does not name are 0.
 */
typedef uint32_t petal_view_layout;

/**
 * Blocks of 256 bits, a bit in each of eight lanes: filters of the kind `PETAL_KIND_SPLIT_BLOCK`.
 * words[0] is the number of blocks, at least 1, and words[1] how many bits a key sets, 8.
 */
#define PETAL_VIEW_LAYOUT_SPLIT_BLOCK 1
/**
 * Blocks of 512 bits, a bit in each of some of sixteen lanes: filters of the kind `PETAL_KIND_BLOCKED`. words[0] is
 * the number of blocks, at least 1, and words[1] how many bits a key sets. `table` has the lane masks of keys with
 * that many bits, uint16_t numbers: each key uses the lanes of one mask.
 */
#define PETAL_VIEW_LAYOUT_BLOCKED 2
/**
 * Blocks of 512 bits, two for each key, which have half of the key's bits each: filters of the kind
 * `PETAL_KIND_BLOCKED` with the parameter `blocks` = 2. The two may be the same block.
 * words[0] is the number of blocks, at least 1, and words[1] how many bits a key sets in both, an even number. `table`
 * has the lane masks of keys with half as many bits.
 */
#define PETAL_VIEW_LAYOUT_TWO_BLOCKS 3
/**
 * Bits anywhere: filters of the kind `PETAL_KIND_BLOOM` with the derivation "remix".
 * words[0] is how many bits a probe ranges over. words[1] is how many bits lie between one probe's range and the next
 * one's: 0, or words[0] in a partitioned filter. words[2] is how many bits a key sets, from 1 to 64.
 */
#define PETAL_VIEW_LAYOUT_BLOOM 4
/**
 * Cells, three or four for a key, whose exclusive or is the key's fingerprint: filters of the kind
 * `PETAL_KIND_FUSE`.
 * words[0] is the number of shards, 0 if there are no keys. words[1] is how many bits a cell has, from 2 to 32.
 * words[2] is how many cells a key has, and words[3] how many there are. words[4] is the word of the payload at which
 * the directory begins. If there is one shard, words[5] is how many cells a key may begin in, words[6] the length of a
 * segment, and words[7] the seed in both halves. These three are 0 if there are more shards, or if the entry of the
 * only one is wrong: lookups then read the directory.
 */
#define PETAL_VIEW_LAYOUT_FUSE 5
/**
 * Buckets of fingerprints, two of which a key may be in: filters of the kind `PETAL_KIND_CUCKOO` without
 * semi-sorting.
 * words[0] is the number of buckets, an even number. words[1] is how many slots a bucket has, and words[2] how many
 * bits a fingerprint has. A bucket is one window or more. words[3] is how many slots a window has, which take at most
 * 64 bits. words[4] is a number with the lowest bit of each of these slots. words[5] is 1 if a bucket always lies in
 * the eight bytes from the byte in which it begins, otherwise 0.
 */
#define PETAL_VIEW_LAYOUT_CUCKOO 6
/**
 * Slots, a run of which gives the fingerprint of a key: filters of the kind `PETAL_KIND_RIBBON`.
 * words[0] is the number of shards, 0 if there are no keys. words[1] is how many bits a slot has, from 1 to 32, and
 * words[2] how many coefficients a key has, 64 or 128. words[3] is how many slots of a shard's first layer a key may
 * start in, and words[4] how many bytes the metadata of that layer has. words[5] is the byte at which the slots of the
 * first shard begin. words[6] is how many bytes the payload has without those that fill its last line.
 */
#define PETAL_VIEW_LAYOUT_RIBBON 7
/**
 * Cells, three for a key, whose exclusive or is the key's value, with the key's check bits above the value: maps of
 * the kinds `PETAL_KIND_RETRIEVAL` and `PETAL_KIND_BLOOMIER` that were built with the solver "fuse", if a value and
 * its check bits have at most 64 bits together. The words are those of `PETAL_VIEW_LAYOUT_FUSE`, with two differences.
 * words[1], the bits of a cell, is from 1 to 64. words[2] is how many bits of a cell are for the value; the other bits
 * of a cell are check bits.
 */
#define PETAL_VIEW_LAYOUT_FUSE_VALUES 8
/**
 * Slots, a run of which gives the value of a key, with the key's check bits above the value: maps of the kinds
 * `PETAL_KIND_RETRIEVAL` and `PETAL_KIND_BLOOMIER` that were built with the solver "ribbon", which is the default. The
 * words are those of `PETAL_VIEW_LAYOUT_RIBBON`, with two differences. words[1], the bits of a slot, is from 1 to 96.
 * words[7] is how many bits of a slot are for the value, at most 64; the others are check bits, at most 32.
 */
#define PETAL_VIEW_LAYOUT_RIBBON_VALUES 9

/**
 * The payload of a filter or map, and how to find keys in it; `docs/format.md` specifies the layouts. In a view of all
 * zeros, which nobody filled in, `petal_view_contains_u64()` says true of every key, and `petal_view_get_u64()`
 * returns `PETAL_ERR_UNSUPPORTED`.
 */
typedef struct petal_view {
  /** sizeof(petal_view), or 0 for its size in the first release. */
  size_t struct_size;
  /** One of `PETAL_VIEW_LAYOUT_*`. */
  petal_view_layout layout;
  /** The hash function of the keys. The inline functions hash uint64_t keys only if it is `PETAL_HASH_XXH3`. */
  petal_hash_function hash;
  /** The number that XXH3 mixes with uint64_t keys, which comes from the seed; otherwise 0. */
  uint64_t hash_flip;
  /** All bytes that a lookup may read, aligned to 8 bytes. */
  const uint64_t *payload;
  /** How many bytes these are, a multiple of 8. */
  uint64_t payload_bytes;
  /** The payload for insertions, the same address. NULL if the view is for lookups only. */
  uint64_t *writable_payload;
  /** What the layout says that these are. */
  uint64_t words[8];
  /** A table of the layout's, which lives as long as the program. NULL if the layout has none. */
  const void *table;
  /** How many entries the table has. */
  uint64_t table_count;
} petal_view;
/** A `petal_view` of this header's size, all else 0. */
#define PETAL_VIEW_INIT PETAL_INIT(petal_view)

/**
 * Fills in a view for lookups, in constant time. Returns `PETAL_ERR_UNSUPPORTED` if the layout of the filter's kind
 * has no name.
 */
petal_status petal_filter_get_view(const petal_filter *filter, petal_view *view, petal_error *error);

/**
 * Fills in a view for lookups and insertions. The function first marks an image in place unclean, on its disk too.
 * Nobody will say which regions the insertions change. So all regions count as changed, and this call and the next
 * sync read the whole payload. Returns `PETAL_ERR_UNSUPPORTED` if the layout has no name, or none with insertions.
 * Returns `PETAL_ERR_CORRUPT` if the image does not match its checksums. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if
 * the handle is open for reading, or for shared insertion.
 */
petal_status petal_filter_get_writable_view(petal_filter *filter, petal_view *view, petal_error *error);

/**
 * Fills in a view of a map for lookups (`petal_view_get_u64()`), in constant time. Returns `PETAL_ERR_UNSUPPORTED` if
 * the map's layout has no name.
 */
petal_status petal_map_get_view(const petal_map *map, petal_view *view, petal_error *error);

#ifdef __cplusplus
}
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Petal's filters are little-endian; machines of the other byte order are not supported yet"
#endif

#if defined(PETAL_INLINE_PORTABLE) || !defined(__GNUC__)
/* Plain code. */
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define PETAL_INLINE_NEON 1
#elif !defined(__x86_64__)
/* Plain code. */
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define PETAL_INLINE_AVX512 1
#elif defined(__AVX2__)
#define PETAL_INLINE_AVX2 1
#else
#define PETAL_INLINE_SSE2 1
#endif
#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2) || defined(PETAL_INLINE_SSE2)
#include <immintrin.h>
#elif defined(PETAL_INLINE_NEON)
#include <arm_neon.h>
#endif
/* Microsoft's compiler has no numbers of 128 bits, and a function for the high half of a product. */
#if defined(_MSC_VER) && !defined(__GNUC__) && !defined(__clang__) && !defined(PETAL_INLINE_PORTABLE)
#if defined(_M_X64) || defined(_M_ARM64)
#include <intrin.h>
#define PETAL_INLINE_UMULH 1
#endif
#endif

/* Casts as either language likes them. */
#ifdef __cplusplus
#define PETAL_INLINE_CAST(type, value) static_cast<type>(value)
#define PETAL_INLINE_POINTER(type, value) reinterpret_cast<type>(value)
#else
#define PETAL_INLINE_CAST(type, value) ((type)(value))
#define PETAL_INLINE_POINTER(type, value) ((type)(value))
#endif
/* Tells the compiler that a condition nearly always holds. */
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
#define PETAL_INLINE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define PETAL_INLINE_LIKELY(condition) (condition)
#endif

/* Functions that become a part of their caller, and functions that do not, because few lookups call them. The compiler
 * knows that the second ones change nothing, so a view stays in registers, although they take the view's address. */
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
#define PETAL_INLINE_ALWAYS static inline __attribute__((always_inline))
#define PETAL_INLINE_SELDOM static __attribute__((noinline, unused, pure))
#else
#define PETAL_INLINE_ALWAYS static inline
#define PETAL_INLINE_SELDOM static inline
#endif

/* The same number, of which the compiler knows nothing. Two calls of a PETAL_INLINE_SELDOM function with the same
 * arguments may become one call, although other threads may change the filter between the two. An argument that has
 * gone through this function prevents that. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_once(uint64_t number) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  __asm__ volatile("" : "+r"(number));
#endif
  return number;
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* The odd multipliers of the Parquet format, one a 32-bit lane of a split block, or one a pair of lanes of a block. */
#define PETAL_INLINE_SALTS \
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31

/* The high half of a product of 64-bit numbers: less than `range`, uniform if `hash` is. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_reduce(uint64_t hash, uint64_t range) {
#if defined(__SIZEOF_INT128__) && !defined(PETAL_INLINE_PORTABLE)
  __extension__ typedef unsigned __int128 product;
  return PETAL_INLINE_CAST(uint64_t, PETAL_INLINE_CAST(product, hash) * range >> 64);
#elif defined(PETAL_INLINE_UMULH)
  return __umulh(hash, range);
#else
  const uint64_t low = 0xffffffffu;
  uint64_t middle = (hash >> 32) * (range & low) + ((hash & low) * (range & low) >> 32);
  uint64_t other = (hash & low) * (range >> 32) + (middle & low);
  return (hash >> 32) * (range >> 32) + (middle >> 32) + (other >> 32);
#endif
}

/* 2^64 over the golden ratio, made odd, and the two multipliers of MurmurHash3's finaliser with Stafford's thirteenth
 * set of constants. */
#define PETAL_INLINE_GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define PETAL_INLINE_MIX UINT64_C(0xbf58476d1ce4e5b9)
#define PETAL_INLINE_MIX_SCATTERED UINT64_C(0x94d049bb133111eb)

PETAL_INLINE_ALWAYS uint64_t petal_inline_rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* The first half of MurmurHash3's finaliser. Static kinds spread hashes over their shards by it. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_order(uint64_t hash) {
  uint64_t x = (hash ^ hash >> 30) * PETAL_INLINE_MIX;
  return x ^ x >> 27;
}

/* The second half of the finaliser, under a seed that comes twice; 0 for none. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_scatter(uint64_t x, uint64_t seeds) {
  uint64_t z = (x ^ seeds) * PETAL_INLINE_MIX_SCATTERED;
  return z ^ z >> 31;
}

/* XXH3, 64 bits, of the eight little-endian bytes of `key`. `flip` is 16 bytes of its fixed secret folded into 8, less
 * the seed; 8 is the length of the key. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_xxh3(uint64_t flip, uint64_t key) {
  const uint64_t multiplier = UINT64_C(0x9fb21c651e98df25);
  uint64_t x = petal_inline_rotate(key, 32) ^ flip;
  x ^= petal_inline_rotate(x, 49) ^ petal_inline_rotate(x, 24);
  x *= multiplier;
  x ^= (x >> 35) + 8;
  x *= multiplier;
  return x ^ x >> 28;
}

/* The 128 bits by which maps know a key. */
typedef struct {
  uint64_t low, high;
} petal_inline_identity;

/* XXH3, 128 bits, of the eight little-endian bytes of `key`. `flip` is 16 bytes of XXH3's fixed secret, not those of
 * petal_inline_xxh3(), folded into 8, and the seed; 8 is the length of the key. */
PETAL_INLINE_ALWAYS petal_inline_identity petal_inline_xxh3_128(uint64_t flip, uint64_t key) {
  const uint64_t multiplier = UINT64_C(0x9e3779b185ebca87) + (8 << 2);
  uint64_t low = (key ^ flip) * multiplier, high = petal_inline_reduce(key ^ flip, multiplier) + (low << 1);
  low ^= high >> 3;
  low = (low ^ low >> 35) * UINT64_C(0x9fb21c651e98df25);
  high = (high ^ high >> 37) * UINT64_C(0x165667919e3779f9);
  petal_inline_identity id = {low ^ low >> 28, high ^ high >> 32};
  return id;
}

/* A number of ones, from 0 to 64, from the lowest bit on. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ones(uint64_t count) { return count == 0 ? 0 : UINT64_MAX >> (64 - count); }

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Other threads may set bits in the words that these functions read. A load reads each aligned 8 bytes at once, and
 * tells the compiler that the bytes may change. It is a relaxed atomic load, or a vector load in assembly, because
 * neither language has atomic loads of vectors. Without extensions it is a volatile load, from which compilers make one
 * instruction if they can. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_load(const uint64_t *word) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#else
  return *PETAL_INLINE_CAST(const volatile uint64_t *, word);
#endif
}

#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
/* The eight bytes from `byte` on. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_load_eight(const uint64_t *words, uint64_t byte) {
  typedef uint64_t anywhere __attribute__((aligned(1), may_alias));
  return *PETAL_INLINE_POINTER(const volatile anywhere *, PETAL_INLINE_POINTER(const unsigned char *, words) + byte);
}
#endif

/* At least 57 bits from bit `bit` on. The eight bytes from the one of the first bit on are read, or in plain code the
 * word of the first bit and the word after it. If other processes change these bytes, the bits may be of different
 * times. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_load_bits(const uint64_t *words, uint64_t bit) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  return petal_inline_load_eight(words, bit >> 3) >> (bit & 7);
#else
  const uint64_t *word = words + PETAL_INLINE_CAST(size_t, bit >> 6);
  return petal_inline_load(word) >> (bit & 63) | petal_inline_load(word + 1) << 1 << (63 - (bit & 63));
#endif
}

/* Asks for the line of a word. */
PETAL_INLINE_ALWAYS void petal_inline_fetch(const uint64_t *word) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  __builtin_prefetch(word);
  /* GCC takes a function that does nothing but prefetch for one that does nothing. */
  __asm__ volatile("" : : "r"(word));
#else
  (void)word;
#endif
}

/* Readers in other processes see whole words too. */
PETAL_INLINE_ALWAYS void petal_inline_store(uint64_t *word, uint64_t value) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
#else
  *PETAL_INLINE_CAST(volatile uint64_t *, word) = value;
#endif
}

/* Memory of these sizes, for the operands of the assembly. */
#ifdef PETAL_INLINE_SSE2
typedef struct {
  uint64_t words[2];
} petal_inline_quarter;

PETAL_INLINE_ALWAYS __m128i petal_inline_load_quarter(const uint64_t *words) {
  __m128i quarter;
  __asm__ volatile("movdqu %1, %0" : "=x"(quarter) : "m"(*PETAL_INLINE_POINTER(const petal_inline_quarter *, words)));
  return quarter;
}
#elif defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2)
typedef struct {
  uint64_t words[4];
} petal_inline_half;
typedef struct {
  uint64_t words[8];
} petal_inline_line;

PETAL_INLINE_ALWAYS __m256i petal_inline_load_half(const uint64_t *words) {
  __m256i half;
  __asm__ volatile("vmovdqu %1, %0" : "=x"(half) : "m"(*PETAL_INLINE_POINTER(const petal_inline_half *, words)));
  return half;
}
#elif defined(PETAL_INLINE_NEON)
typedef struct {
  uint64_t words[2];
} petal_inline_quarter;

PETAL_INLINE_ALWAYS uint32x4_t petal_inline_load_quarter(const uint64_t *words) {
  uint32x4_t quarter;
  __asm__ volatile("ldr %q0, %1" : "=w"(quarter) : "m"(*PETAL_INLINE_POINTER(const petal_inline_quarter *, words)));
  return quarter;
}

/* Sets bits in two words, and returns those bits that were not set before. */
PETAL_INLINE_ALWAYS uint32x4_t petal_inline_set_quarter(uint64_t *words, uint32x4_t bits) {
  uint32x4_t old = petal_inline_load_quarter(words);
  vst1q_u64(words, vreinterpretq_u64_u32(vorrq_u32(old, bits)));
  return vbicq_u32(bits, old);
}
#endif

#ifdef PETAL_INLINE_SSE2
/* 2 to the power of each of four numbers below 32, which come as the exponents of floats without their bias. 2^31 is
 * too large for an integer and becomes the lowest integer, which is the same bit. */
PETAL_INLINE_ALWAYS __m128i petal_inline_powers(__m128i exponents) {
  return _mm_cvttps_epi32(_mm_castsi128_ps(_mm_add_epi32(exponents, _mm_set1_epi32(127 << 23))));
}

/* The fields of the exponents in the even lanes, or in the odd ones. */
PETAL_INLINE_ALWAYS __m128i petal_inline_even(void) { return _mm_setr_epi32(31 << 23, 0, 31 << 23, 0); }
PETAL_INLINE_ALWAYS __m128i petal_inline_odd(void) { return _mm_setr_epi32(0, 31 << 23, 0, 31 << 23); }
#endif

#ifdef PETAL_INLINE_NEON
/* 2 to the power of each of four numbers below 32, or 0 where `ones` is 0 and not 1. */
PETAL_INLINE_ALWAYS uint32x4_t petal_inline_shift(uint32x4_t ones, uint32x4_t numbers) {
  return vshlq_u32(ones, vreinterpretq_s32_u32(numbers));
}
#endif

/* Sets bits in `count` words, and returns whether one of the bits was not set before. */
PETAL_INLINE_ALWAYS bool petal_inline_set(uint64_t *words, const uint64_t *bits, int count) {
  uint64_t missing = 0;
  for (int i = 0; i < count; i++) {
    uint64_t word = petal_inline_load(words + i);
    missing |= bits[i] & ~word;
    petal_inline_store(words + i, word | bits[i]);
  }
  return missing != 0;
}

/* ---- The layout split_block: blocks of 256 bits, a bit in each of eight 32-bit lanes ----------------------------- */

/* The first word of the block of a hash, from its upper half. */
PETAL_INLINE_ALWAYS size_t petal_inline_split_block_start(const petal_view *view, uint64_t hash) {
  return PETAL_INLINE_CAST(size_t, (hash >> 32) * view->words[0] >> 32) * 4;
}

/* The bits of a hash in the lanes: the upper five bits of the 32-bit products of its lower half. */
#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2)
PETAL_INLINE_ALWAYS __m256i petal_inline_split_block_bits(uint64_t hash) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS};
  __m256i low = _mm256_set1_epi32(PETAL_INLINE_CAST(int32_t, hash & 0xffffffffu));
  __m256i product = _mm256_mullo_epi32(low, _mm256_loadu_si256(PETAL_INLINE_POINTER(const __m256i *, salts)));
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
}
#elif defined(PETAL_INLINE_SSE2)
/* `half` 0 is the lower four lanes, 1 the upper ones. */
PETAL_INLINE_ALWAYS __m128i petal_inline_split_block_bits(uint64_t hash, int half) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS};
  __m128i four = _mm_loadu_si128(PETAL_INLINE_POINTER(const __m128i *, salts + 4 * half));
  __m128i all = _mm_set1_epi64x(PETAL_INLINE_CAST(int64_t, hash));
  __m128i even = _mm_srli_epi32(_mm_mul_epu32(all, four), 4);
  __m128i odd = _mm_slli_epi64(_mm_mul_epu32(all, _mm_srli_epi64(four, 32)), 28);
  return petal_inline_powers(
      _mm_or_si128(_mm_and_si128(even, petal_inline_even()), _mm_and_si128(odd, petal_inline_odd())));
}
#elif defined(PETAL_INLINE_NEON)
/* `half` 0 is the lower four lanes, 1 the upper ones. */
PETAL_INLINE_ALWAYS uint32x4_t petal_inline_split_block_bits(uint64_t hash, int half) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS};
  uint32_t low = PETAL_INLINE_CAST(uint32_t, hash & 0xffffffffu);
  return petal_inline_shift(vdupq_n_u32(1), vshrq_n_u32(vmulq_n_u32(vld1q_u32(salts + 4 * half), low), 27));
}
#else
PETAL_INLINE_ALWAYS void petal_inline_split_block_bits(uint64_t hash, uint64_t *bits) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS};
  const uint32_t low = PETAL_INLINE_CAST(uint32_t, hash & 0xffffffffu);
  const uint64_t one = 1;
  for (int i = 0; i < 4; i++) bits[i] = one << (low * salts[2 * i] >> 27) | one << (low * salts[2 * i + 1] >> 27) << 32;
}
#endif

/* Whether a hash may have been inserted. For views of PETAL_VIEW_LAYOUT_SPLIT_BLOCK. */
PETAL_INLINE_ALWAYS bool petal_view_split_block_contains_hash(const petal_view *view, uint64_t hash) {
  const uint64_t *block = view->payload + petal_inline_split_block_start(view, hash);
#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2)
  return _mm256_testc_si256(petal_inline_load_half(block), petal_inline_split_block_bits(hash)) != 0;
#elif defined(PETAL_INLINE_SSE2)
  __m128i low = _mm_andnot_si128(petal_inline_load_quarter(block), petal_inline_split_block_bits(hash, 0));
  __m128i high = _mm_andnot_si128(petal_inline_load_quarter(block + 2), petal_inline_split_block_bits(hash, 1));
  __m128i none = _mm_cmpeq_epi32(_mm_or_si128(low, high), _mm_setzero_si128());
  return _mm_movemask_epi8(none) == 0xffff;
#elif defined(PETAL_INLINE_NEON)
  uint32x4_t low = vbicq_u32(petal_inline_split_block_bits(hash, 0), petal_inline_load_quarter(block));
  uint32x4_t high = vbicq_u32(petal_inline_split_block_bits(hash, 1), petal_inline_load_quarter(block + 2));
  return vmaxvq_u32(vorrq_u32(low, high)) == 0;
#else
  uint64_t bits[4], missing = 0;
  petal_inline_split_block_bits(hash, bits);
  for (int i = 0; i < 4; i++) missing |= bits[i] & ~petal_inline_load(block + i);
  return missing == 0;
#endif
}

/* Inserts a hash; true if it certainly was not there. The view is a writable one of PETAL_VIEW_LAYOUT_SPLIT_BLOCK. */
PETAL_INLINE_ALWAYS bool petal_view_split_block_insert_hash(const petal_view *view, uint64_t hash) {
  uint64_t *block = view->writable_payload + petal_inline_split_block_start(view, hash);
#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2)
  __m256i old = petal_inline_load_half(block), bits = petal_inline_split_block_bits(hash);
  _mm256_storeu_si256(PETAL_INLINE_POINTER(__m256i *, block), _mm256_or_si256(old, bits));
  return _mm256_testc_si256(old, bits) == 0;
#elif defined(PETAL_INLINE_SSE2)
  bool fresh = false;
  for (int half = 0; half < 2; half++) {
    __m128i old = petal_inline_load_quarter(block + 2 * half), bits = petal_inline_split_block_bits(hash, half);
    __m128i set = _mm_or_si128(old, bits);
    _mm_storeu_si128(PETAL_INLINE_POINTER(__m128i *, block + 2 * half), set);
    fresh |= _mm_movemask_epi8(_mm_cmpeq_epi32(old, set)) != 0xffff;
  }
  return fresh;
#elif defined(PETAL_INLINE_NEON)
  uint32x4_t low = petal_inline_set_quarter(block, petal_inline_split_block_bits(hash, 0));
  uint32x4_t high = petal_inline_set_quarter(block + 2, petal_inline_split_block_bits(hash, 1));
  return vmaxvq_u32(vorrq_u32(low, high)) != 0;
#else
  uint64_t bits[4];
  petal_inline_split_block_bits(hash, bits);
  return petal_inline_set(block, bits, 4);
#endif
}

/* ---- The layout blocked: blocks of 512 bits, a bit in each of some of sixteen 32-bit lanes ---------------------- */

/* The first word of the block of a hash. */
PETAL_INLINE_ALWAYS size_t petal_inline_blocked_start(const petal_view *view, uint64_t hash) {
  return PETAL_INLINE_CAST(size_t, petal_inline_reduce(hash, view->words[0])) * 8;
}

/* The lanes of a hash, as a mask, which the high bits of the hash's lower half choose. */
PETAL_INLINE_ALWAYS uint32_t petal_inline_blocked_lanes(const petal_view *view, uint64_t hash) {
  const uint16_t *masks = PETAL_INLINE_CAST(const uint16_t *, view->table);
  return masks[(hash & 0xffffffffu) * view->table_count >> 32];
}

/* The bits of a hash in all lanes. The products of the hash's lower half number them: bits 27 to 31 for the even lanes,
 * bits 32 to 36 for the odd ones. In plain code the bits are 0 in lanes that are not among `lanes`. */
#ifdef PETAL_INLINE_AVX512
PETAL_INLINE_ALWAYS __m512i petal_inline_blocked_bits(uint64_t hash) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  __m512i all = _mm512_set1_epi64(PETAL_INLINE_CAST(int64_t, hash));
  /* With full masks: GCC warns that the forms without a mask use something uninitialised. */
  __m512i product = _mm512_maskz_mul_epu32(0xff, all, _mm512_loadu_si512(salts));
  __m512i numbers = _mm512_maskz_srlv_epi32(0xffff, product, _mm512_set1_epi64(27));
  /* Rotations count modulo 32. */
  return _mm512_maskz_rolv_epi32(0xffff, _mm512_set1_epi32(1), numbers);
}
#elif defined(PETAL_INLINE_AVX2)
/* `half` 0 is the lower eight lanes, 1 the upper ones. */
PETAL_INLINE_ALWAYS __m256i petal_inline_blocked_bits(uint64_t hash, int half) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  __m256i four = _mm256_loadu_si256(PETAL_INLINE_POINTER(const __m256i *, salts + 4 * half));
  __m256i product = _mm256_mul_epu32(_mm256_set1_epi64x(PETAL_INLINE_CAST(int64_t, hash)), four);
  __m256i numbers = _mm256_and_si256(_mm256_srlv_epi32(product, _mm256_set1_epi64x(27)), _mm256_set1_epi32(31));
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), numbers);
}

/* All ones in those of eight lanes that are among `lanes`. */
PETAL_INLINE_ALWAYS __m256i petal_inline_blocked_chosen(uint32_t lanes) {
  __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(PETAL_INLINE_CAST(int32_t, lanes)), lane), lane);
}
#elif defined(PETAL_INLINE_SSE2)
/* `quarter` 0 is the lowest four lanes, 3 the highest. */
PETAL_INLINE_ALWAYS __m128i petal_inline_blocked_bits(uint64_t hash, int quarter) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  __m128i two = _mm_loadu_si128(PETAL_INLINE_POINTER(const __m128i *, salts + 2 * quarter));
  __m128i product = _mm_mul_epu32(_mm_set1_epi64x(PETAL_INLINE_CAST(int64_t, hash)), two);
  __m128i even = _mm_and_si128(_mm_srli_epi32(product, 4), petal_inline_even());
  return petal_inline_powers(_mm_or_si128(even, _mm_and_si128(_mm_slli_epi32(product, 23), petal_inline_odd())));
}

/* All ones in those of four lanes that are among `lanes`. */
PETAL_INLINE_ALWAYS __m128i petal_inline_blocked_chosen(uint32_t lanes) {
  __m128i lane = _mm_setr_epi32(1, 2, 4, 8);
  return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(PETAL_INLINE_CAST(int32_t, lanes)), lane), lane);
}

/* All ones in those of four lanes in which a hash has no bit. */
PETAL_INLINE_ALWAYS __m128i petal_inline_blocked_missing(const uint64_t *block, uint64_t hash, int quarter) {
  __m128i words = petal_inline_load_quarter(block + 2 * quarter);
  return _mm_cmpeq_epi32(_mm_and_si128(words, petal_inline_blocked_bits(hash, quarter)), _mm_setzero_si128());
}
#elif defined(PETAL_INLINE_NEON)
/* `quarter` 0 is the lowest four lanes, 3 the highest; 0 in lanes that are not among `lanes`. */
PETAL_INLINE_ALWAYS uint32x4_t petal_inline_blocked_bits(uint64_t hash, uint32_t lanes, int quarter) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS}, lane[4] = {1, 2, 4, 8};
  static const int32_t shifts[4] = {-27, 0, -27, 0};
  uint32x2_t low = vdup_n_u32(PETAL_INLINE_CAST(uint32_t, hash & 0xffffffffu));
  uint32x4_t product = vreinterpretq_u32_u64(vmull_u32(low, vld1_u32(salts + 2 * quarter)));
  uint32x4_t numbers = vandq_u32(vshlq_u32(product, vld1q_s32(shifts)), vdupq_n_u32(31));
  uint32x4_t chosen = vtstq_u32(vdupq_n_u32(lanes >> 4 * quarter), vld1q_u32(lane));
  return petal_inline_shift(vshrq_n_u32(chosen, 31), numbers);
}
#else
PETAL_INLINE_ALWAYS void petal_inline_blocked_bits(uint64_t hash, uint32_t lanes, uint64_t *bits) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  for (int i = 0; i < 8; i++) {
    uint64_t product = (hash & 0xffffffffu) * salts[i], even = lanes >> 2 * i & 1, odd = lanes >> (2 * i + 1) & 1;
    bits[i] = even << (product >> 27 & 31) | odd << 32 << (product >> 32 & 31);
  }
}
#endif

/* Whether a hash may have been inserted. For views of PETAL_VIEW_LAYOUT_BLOCKED. */
PETAL_INLINE_ALWAYS bool petal_view_blocked_contains_hash(const petal_view *view, uint64_t hash) {
  const uint64_t *block = view->payload + petal_inline_blocked_start(view, hash);
  uint32_t lanes = petal_inline_blocked_lanes(view, hash);
#ifdef PETAL_INLINE_AVX512
  __mmask16 missing;
  __asm__ volatile("vptestnmd %2, %1, %0"
                   : "=Yk"(missing)
                   : "v"(petal_inline_blocked_bits(hash)),
                     "m"(*PETAL_INLINE_POINTER(const petal_inline_line *, block)));
  return (lanes & missing) == 0;
#elif defined(PETAL_INLINE_AVX2)
  uint32_t missing = 0;
  for (int half = 0; half < 2; half++) {
    __m256i words = petal_inline_load_half(block + 4 * half), bits = petal_inline_blocked_bits(hash, half);
    __m256i absent = _mm256_cmpeq_epi32(_mm256_and_si256(words, bits), _mm256_setzero_si256());
    missing |= PETAL_INLINE_CAST(uint32_t, _mm256_movemask_ps(_mm256_castsi256_ps(absent))) << 8 * half;
  }
  return (lanes & missing) == 0;
#elif defined(PETAL_INLINE_SSE2)
  /* 32 bits a lane become 16, then 8, then one. */
  __m128i low =
      _mm_packs_epi32(petal_inline_blocked_missing(block, hash, 0), petal_inline_blocked_missing(block, hash, 1));
  __m128i high =
      _mm_packs_epi32(petal_inline_blocked_missing(block, hash, 2), petal_inline_blocked_missing(block, hash, 3));
  uint32_t missing = PETAL_INLINE_CAST(uint32_t, _mm_movemask_epi8(_mm_packs_epi16(low, high)));
  return (lanes & missing) == 0;
#elif defined(PETAL_INLINE_NEON)
  uint32x4_t missing = vdupq_n_u32(0);
  for (int quarter = 0; quarter < 4; quarter++) {
    uint32x4_t words = petal_inline_load_quarter(block + 2 * quarter);
    missing = vorrq_u32(missing, vbicq_u32(petal_inline_blocked_bits(hash, lanes, quarter), words));
  }
  return vmaxvq_u32(missing) == 0;
#else
  uint64_t bits[8], missing = 0;
  petal_inline_blocked_bits(hash, lanes, bits);
  for (int i = 0; i < 8; i++) missing |= bits[i] & ~petal_inline_load(block + i);
  return missing == 0;
#endif
}

/* Inserts a hash; true if it certainly was not there. The view is a writable one of PETAL_VIEW_LAYOUT_BLOCKED. */
PETAL_INLINE_ALWAYS bool petal_view_blocked_insert_hash(const petal_view *view, uint64_t hash) {
  uint64_t *block = view->writable_payload + petal_inline_blocked_start(view, hash);
  uint32_t lanes = petal_inline_blocked_lanes(view, hash);
#ifdef PETAL_INLINE_AVX512
  __m512i old, bits = _mm512_maskz_mov_epi32(PETAL_INLINE_CAST(__mmask16, lanes), petal_inline_blocked_bits(hash));
  __asm__ volatile("vmovdqu64 %1, %0" : "=v"(old) : "m"(*PETAL_INLINE_POINTER(const petal_inline_line *, block)));
  _mm512_storeu_si512(block, _mm512_or_si512(old, bits));
  return (_mm512_testn_epi32_mask(old, bits) & lanes) != 0;
#elif defined(PETAL_INLINE_AVX2)
  bool fresh = false;
  for (int half = 0; half < 2; half++) {
    __m256i old = petal_inline_load_half(block + 4 * half), chosen = petal_inline_blocked_chosen(lanes >> 8 * half);
    __m256i bits = _mm256_and_si256(petal_inline_blocked_bits(hash, half), chosen);
    _mm256_storeu_si256(PETAL_INLINE_POINTER(__m256i *, block + 4 * half), _mm256_or_si256(old, bits));
    fresh |= _mm256_testc_si256(old, bits) == 0;
  }
  return fresh;
#elif defined(PETAL_INLINE_SSE2)
  bool fresh = false;
  for (int quarter = 0; quarter < 4; quarter++) {
    __m128i old = petal_inline_load_quarter(block + 2 * quarter);
    __m128i chosen = petal_inline_blocked_chosen(lanes >> 4 * quarter);
    __m128i set = _mm_or_si128(old, _mm_and_si128(petal_inline_blocked_bits(hash, quarter), chosen));
    _mm_storeu_si128(PETAL_INLINE_POINTER(__m128i *, block + 2 * quarter), set);
    fresh |= _mm_movemask_epi8(_mm_cmpeq_epi32(old, set)) != 0xffff;
  }
  return fresh;
#elif defined(PETAL_INLINE_NEON)
  uint32x4_t fresh = vdupq_n_u32(0);
  for (int quarter = 0; quarter < 4; quarter++) {
    uint32x4_t bits = petal_inline_blocked_bits(hash, lanes, quarter);
    fresh = vorrq_u32(fresh, petal_inline_set_quarter(block + 2 * quarter, bits));
  }
  return vmaxvq_u32(fresh) != 0;
#else
  uint64_t bits[8];
  petal_inline_blocked_bits(hash, lanes, bits);
  return petal_inline_set(block, bits, 8);
#endif
}

/* ---- The layout two_blocks: blocks of 512 bits, two of which have half of a key's bits each ---------------------- */

/* The hash of a key's second block. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_two_blocks_second(uint64_t hash) {
  return petal_inline_scatter(petal_inline_order(hash), 0);
}

/* Whether a hash may have been inserted. For views of PETAL_VIEW_LAYOUT_TWO_BLOCKS. The function reads both blocks in
 * any case. The processor would guess a branch after the first block wrong too often, and out of cache the read of the
 * second line would wait for the branch. */
PETAL_INLINE_ALWAYS bool petal_view_two_blocks_contains_hash(const petal_view *view, uint64_t hash) {
  bool first = petal_view_blocked_contains_hash(view, hash);
  bool second = petal_view_blocked_contains_hash(view, petal_inline_two_blocks_second(hash));
  return first & second;
}

/* Inserts a hash; true if it certainly was not there. The view is a writable one of PETAL_VIEW_LAYOUT_TWO_BLOCKS. */
PETAL_INLINE_ALWAYS bool petal_view_two_blocks_insert_hash(const petal_view *view, uint64_t hash) {
  uint64_t other = petal_inline_two_blocks_second(hash);
  petal_inline_fetch(view->payload + petal_inline_blocked_start(view, other));
  bool first = petal_view_blocked_insert_hash(view, hash), second = petal_view_blocked_insert_hash(view, other);
  return first | second;
}

/* Fetches the lines of both blocks. */
PETAL_INLINE_ALWAYS void petal_view_two_blocks_prefetch_hash(const petal_view *view, uint64_t hash) {
  petal_inline_fetch(view->payload + petal_inline_blocked_start(view, hash));
  petal_inline_fetch(view->payload + petal_inline_blocked_start(view, petal_inline_two_blocks_second(hash)));
}

/* ---- The layout bloom: bits anywhere, one for each multiple of a hash -------------------------------------------- */

/* Where a probe's bit lies: `multiple` is the hash times a power of the multiplier, `slice` where the probe's range
 * begins. It is one of the payload's bits, because the view has as many as its words say. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_bloom_bit(const petal_view *view, uint64_t multiple, uint64_t slice) {
  return slice + petal_inline_reduce(multiple, view->words[0]);
}

/* A bit of the payload, with other bits above it. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_bloom_get(const petal_view *view, uint64_t multiple, uint64_t slice) {
  uint64_t bit = petal_inline_bloom_bit(view, multiple, slice);
  return petal_inline_load(view->payload + PETAL_INLINE_CAST(size_t, bit >> 6)) >> (bit & 63);
}

/* Sets a bit of the payload, and returns what it was, with other bits above it. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_bloom_set(const petal_view *view, uint64_t multiple, uint64_t slice) {
  uint64_t bit = petal_inline_bloom_bit(view, multiple, slice), one = 1;
  uint64_t *word = view->writable_payload + PETAL_INLINE_CAST(size_t, bit >> 6), old = petal_inline_load(word);
  petal_inline_store(word, old | one << (bit & 63));
  return old >> (bit & 63);
}

/* The multiplier's powers. The products of a group of four probes do not wait for each other. */
#define PETAL_INLINE_GOLDEN_2 (PETAL_INLINE_GOLDEN * PETAL_INLINE_GOLDEN)
#define PETAL_INLINE_GOLDEN_3 (PETAL_INLINE_GOLDEN_2 * PETAL_INLINE_GOLDEN)
#define PETAL_INLINE_GOLDEN_4 (PETAL_INLINE_GOLDEN_2 * PETAL_INLINE_GOLDEN_2)

#ifdef PETAL_INLINE_AVX512
/* Where the next eight probes' bits lie, where a probe ranges over fewer than 2^32 bits, and begins at `slices`. */
PETAL_INLINE_ALWAYS __m512i petal_inline_bloom_eight_bits(const petal_view *view, uint64_t hash, __m512i slices) {
  static const uint64_t powers[8] = {1,
                                     PETAL_INLINE_GOLDEN,
                                     PETAL_INLINE_GOLDEN_2,
                                     PETAL_INLINE_GOLDEN_3,
                                     PETAL_INLINE_GOLDEN_4,
                                     PETAL_INLINE_GOLDEN_4 * PETAL_INLINE_GOLDEN,
                                     PETAL_INLINE_GOLDEN_4 * PETAL_INLINE_GOLDEN_2,
                                     PETAL_INLINE_GOLDEN_4 * PETAL_INLINE_GOLDEN_3};
  const __m512i range = _mm512_set1_epi64(PETAL_INLINE_CAST(int64_t, view->words[0]));
  /* With full masks, as for the layout blocked. */
  __m512i multiples = _mm512_set1_epi64(PETAL_INLINE_CAST(int64_t, hash));
  multiples = _mm512_maskz_mullo_epi64(0xff, multiples, _mm512_loadu_si512(powers));
  /* The high half of the product with a number of 32 bits. */
  __m512i low = _mm512_maskz_srli_epi64(0xff, _mm512_maskz_mul_epu32(0xff, multiples, range), 32);
  __m512i high = _mm512_maskz_mul_epu32(0xff, _mm512_maskz_srli_epi64(0xff, multiples, 32), range);
  return _mm512_add_epi64(_mm512_maskz_srli_epi64(0xff, _mm512_add_epi64(low, high), 32), slices);
}

/* Where the first eight probes' ranges begin. */
PETAL_INLINE_ALWAYS __m512i petal_inline_bloom_eight_slices(const petal_view *view) {
  static const uint64_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const __m512i stride = _mm512_set1_epi64(PETAL_INLINE_CAST(int64_t, view->words[1]));
  return _mm512_maskz_mullo_epi64(0xff, stride, _mm512_loadu_si512(numbers));
}

/* The same as petal_view_bloom_contains_hash(), eight probes at once, where a probe ranges over fewer than 2^32 bits.
 * The function reads all of a key's bits, whatever the first ones say. That costs less than a branch which the
 * processor guesses wrong, also out of cache, because the reads do not wait for each other. */
PETAL_INLINE_ALWAYS bool petal_inline_bloom_contains_narrow(const petal_view *view, uint64_t hash) {
  __m512i slices = petal_inline_bloom_eight_slices(view);
  for (uint64_t left = view->words[2];; left -= 8) {
    __m512i bits = petal_inline_bloom_eight_bits(view, hash, slices), words = _mm512_setzero_si512();
    const __mmask8 probes = PETAL_INLINE_CAST(__mmask8, left < 8 ? (1u << left) - 1 : 0xff);
    __mmask8 unread = probes;
    __asm__ volatile("vpgatherqq (%2,%3,8), %0%{%1%}"
                     : "+&v"(words), "+&Yk"(unread)
                     : "r"(view->payload), "v"(_mm512_maskz_srli_epi64(0xff, bits, 6))
                     : "memory");
    /* Rotations count modulo 64. */
    __m512i wanted = _mm512_maskz_rolv_epi64(0xff, _mm512_set1_epi64(1), bits);
    bool are_set = _mm512_mask_testn_epi64_mask(probes, words, wanted) == 0;
    if (left <= 8) return are_set;
    if (!are_set) return false;
    hash *= PETAL_INLINE_GOLDEN_4 * PETAL_INLINE_GOLDEN_4;
    const __m512i stride = _mm512_set1_epi64(PETAL_INLINE_CAST(int64_t, view->words[1]));
    slices = _mm512_add_epi64(slices, _mm512_maskz_slli_epi64(0xff, stride, 3));
  }
}

/* The same as petal_view_bloom_insert_hash(), for at most eight probes, where a probe ranges over fewer than 2^32 bits.
 */
PETAL_INLINE_ALWAYS bool petal_inline_bloom_insert_narrow(const petal_view *view, uint64_t hash) {
  /* In one line: after a store into two lines the reads would wait. */
  union {
    __m512i eight;
    uint64_t each[8];
  } bits;
  uint64_t all = 1, one = 1;
  bits.eight = petal_inline_bloom_eight_bits(view, hash, petal_inline_bloom_eight_slices(view));
  for (uint64_t i = 0; i < view->words[2]; i++) {
    uint64_t bit = bits.each[i], *word = view->writable_payload + PETAL_INLINE_CAST(size_t, bit >> 6);
    uint64_t old = petal_inline_load(word);
    petal_inline_store(word, old | one << (bit & 63));
    all &= old >> (bit & 63);
  }
  return (all & 1) == 0;
}
#endif

/* Whether a hash may have been inserted. For views of PETAL_VIEW_LAYOUT_BLOOM. In a filter at its capacity an absent
 * key fails among the first four bits with a probability of 15/16, so the processor seldom guesses wrong. */
PETAL_INLINE_ALWAYS bool petal_view_bloom_contains_hash(const petal_view *view, uint64_t hash) {
  const uint64_t stride = view->words[1];
  uint64_t left = view->words[2], slice = 0, all = 1;
#ifdef PETAL_INLINE_AVX512
  if (PETAL_INLINE_LIKELY(view->words[0] >> 32 == 0)) return petal_inline_bloom_contains_narrow(view, hash);
#endif
  while (left >= 4) {
    all = petal_inline_bloom_get(view, hash, slice) &
          petal_inline_bloom_get(view, hash * PETAL_INLINE_GOLDEN, slice + stride) &
          petal_inline_bloom_get(view, hash * PETAL_INLINE_GOLDEN_2, slice + 2 * stride) &
          petal_inline_bloom_get(view, hash * PETAL_INLINE_GOLDEN_3, slice + 3 * stride);
    if ((all & 1) == 0) return false;
    hash *= PETAL_INLINE_GOLDEN_4;
    slice += 4 * stride;
    left -= 4;
  }
  if (left >= 1) all &= petal_inline_bloom_get(view, hash, slice);
  if (left >= 2) all &= petal_inline_bloom_get(view, hash * PETAL_INLINE_GOLDEN, slice + stride);
  if (left >= 3) all &= petal_inline_bloom_get(view, hash * PETAL_INLINE_GOLDEN_2, slice + 2 * stride);
  return (all & 1) != 0;
}

/* Inserts a hash; true if it certainly was not there. The view is a writable one of PETAL_VIEW_LAYOUT_BLOOM. */
PETAL_INLINE_ALWAYS bool petal_view_bloom_insert_hash(const petal_view *view, uint64_t hash) {
  const uint64_t stride = view->words[1];
  uint64_t slice = 0, all = 1;
#ifdef PETAL_INLINE_AVX512
  const bool is_narrow = view->words[0] >> 32 == 0 && view->words[2] <= 8;
  if (PETAL_INLINE_LIKELY(is_narrow)) return petal_inline_bloom_insert_narrow(view, hash);
#endif
  for (uint64_t left = view->words[2]; left > 0; left--) {
    all &= petal_inline_bloom_set(view, hash, slice);
    hash *= PETAL_INLINE_GOLDEN;
    slice += stride;
  }
  return (all & 1) == 0;
}

/* Fetches the lines of the first two probes: an absent key seldom needs more. */
PETAL_INLINE_ALWAYS void petal_view_bloom_prefetch_hash(const petal_view *view, uint64_t hash) {
  uint64_t first = petal_inline_bloom_bit(view, hash, 0);
  petal_inline_fetch(view->payload + PETAL_INLINE_CAST(size_t, first >> 6));
  if (view->words[2] > 1) {
    uint64_t second = petal_inline_bloom_bit(view, hash * PETAL_INLINE_GOLDEN, view->words[1]);
    petal_inline_fetch(view->payload + PETAL_INLINE_CAST(size_t, second >> 6));
  }
}

/* ---- The layout fuse: cells whose exclusive or is the fingerprint of a key --------------------------------------- */

/* A shard: where its cells begin, how many cells there are from there on, how many of them a key may begin in, how long
 * a segment is, and the seed, twice. */
typedef struct {
  const uint64_t *words;
  uint64_t cells, starts, length, seeds;
} petal_inline_fuse_shard;

/* The only shard. The library looked at its entry when it made the view: all cells of all keys are there. */
PETAL_INLINE_ALWAYS petal_inline_fuse_shard petal_inline_fuse_only(const petal_view *view) {
  petal_inline_fuse_shard only = {view->payload, view->words[3], view->words[5], view->words[6], view->words[7]};
  return only;
}

/* A shard as the directory has it now. Returns false if the shard does not begin among the payload's cells: what
 * another process wrote into the directory, or forged bytes, may say anything. */
PETAL_INLINE_ALWAYS bool petal_inline_fuse_read(const petal_view *view, uint64_t shard, petal_inline_fuse_shard *read) {
  const uint64_t *entry = view->payload + PETAL_INLINE_CAST(size_t, view->words[4] + 2 * shard);
  uint64_t first = petal_inline_load(entry), second = petal_inline_load(entry + 1), one = 1;
  /* A shard begins at a multiple of 64 cells, which take as many words as a cell has bits. */
  uint64_t group = second >> 6;
  if (group > view->words[3] / 64) return false;
  read->words = view->payload + PETAL_INLINE_CAST(size_t, group * view->words[1]);
  read->cells = view->words[3] - 64 * group;
  read->starts = first & 0xffffffffu;
  read->length = one << (second & 31);
  read->seeds = first >> 32 << 32 | first >> 32;
  return true;
}

/* The cells of a key in its shard, in ascending order, the last one twice if there are three. Each lies in a segment
 * after that of the cell before. `how_far` has 32 bits, so no cell is above 2^34, and nothing overflows. */
typedef struct {
  uint64_t cells[4];
} petal_inline_fuse_cells;

PETAL_INLINE_ALWAYS petal_inline_fuse_cells petal_inline_fuse_find(uint64_t arity, petal_inline_fuse_shard shard,
                                                                   uint64_t how_far, uint64_t z) {
  const uint64_t length = shard.length, mask = length - 1;
  uint64_t cell = how_far * shard.starts >> 32;
  petal_inline_fuse_cells found = {{cell, (cell + length) ^ (z & mask), (cell + 2 * length) ^ (z >> 32 & mask), 0}};
  found.cells[3] = found.cells[2];
  if (arity != 3) {
    found.cells[2] = (cell + 2 * length) ^ (z >> 21 & mask);
    found.cells[3] = (cell + 3 * length) ^ (z >> 42 & mask);
  }
  return found;
}

/* Whether the exclusive or of a key's cells, of which all are there, is the key's fingerprint. After the cells follows
 * the directory, so that the words after those of a cell are there too. */
PETAL_INLINE_ALWAYS bool petal_inline_fuse_is(const petal_view *view, const uint64_t *words,
                                              petal_inline_fuse_cells found, uint64_t z) {
  const uint64_t width = view->words[1], *cells = found.cells;
  uint64_t differing = z * PETAL_INLINE_GOLDEN >> 32;
  differing ^= petal_inline_load_bits(words, cells[0] * width) ^ petal_inline_load_bits(words, cells[1] * width) ^
               petal_inline_load_bits(words, cells[2] * width);
  if (view->words[2] != 3) differing ^= petal_inline_load_bits(words, cells[3] * width);
  return differing << (64 - width) == 0;
}

/* The same for keys with three cells of a byte. Nothing changes the cells of a static filter, so these are plain loads,
 * which can be operands of the exclusive or. */
PETAL_INLINE_ALWAYS bool petal_inline_fuse_is_byte(const uint64_t *words, petal_inline_fuse_cells found, uint64_t z) {
  const unsigned char *bytes = PETAL_INLINE_POINTER(const unsigned char *, words);
  uint64_t differing = z * PETAL_INLINE_GOLDEN >> 32;
  for (int i = 0; i < 3; i++) differing ^= bytes[PETAL_INLINE_CAST(size_t, found.cells[i])];
  return (differing & 255) == 0;
}

/* A lookup by a hash in its order in the only shard. `is_of_bytes` says that keys have three cells of a byte, and is a
 * constant wherever this function is called, so that neither case pays for the other. */
PETAL_INLINE_ALWAYS bool petal_inline_fuse_contains_in_one(const petal_view *view, uint64_t x, bool is_of_bytes) {
  const petal_inline_fuse_shard only = petal_inline_fuse_only(view);
  const uint64_t arity = is_of_bytes ? 3 : view->words[2], z = petal_inline_scatter(x, only.seeds);
  const petal_inline_fuse_cells found = petal_inline_fuse_find(arity, only, x >> 32, z);
  return is_of_bytes ? petal_inline_fuse_is_byte(only.words, found, z)
                     : petal_inline_fuse_is(view, only.words, found, z);
}

/* The same among shards. */
PETAL_INLINE_ALWAYS bool petal_inline_fuse_contains(const petal_view *view, uint64_t x, bool is_of_bytes) {
  const uint64_t shards = view->words[0], arity = is_of_bytes ? 3 : view->words[2];
  petal_inline_fuse_shard shard;
  if (shards == 0) return false;
  if (!petal_inline_fuse_read(view, petal_inline_reduce(x, shards), &shard)) return true;
  const uint64_t z = petal_inline_scatter(x, shard.seeds);
  const petal_inline_fuse_cells found = petal_inline_fuse_find(arity, shard, x * shards >> 32, z);
  if (found.cells[3] >= shard.cells) return true;
  return is_of_bytes ? petal_inline_fuse_is_byte(shard.words, found, z)
                     : petal_inline_fuse_is(view, shard.words, found, z);
}

/* Whether a hash may have been among those that the filter was built of. For views of PETAL_VIEW_LAYOUT_FUSE. */
PETAL_INLINE_ALWAYS bool petal_view_fuse_contains_hash(const petal_view *view, uint64_t hash) {
  const uint64_t x = petal_inline_order(hash);
  const bool is_of_bytes = (view->words[1] == 8) & (view->words[2] == 3), is_one = view->words[6] != 0;
  if (PETAL_INLINE_LIKELY(is_of_bytes & is_one)) return petal_inline_fuse_contains_in_one(view, x, true);
  if (is_of_bytes) return petal_inline_fuse_contains(view, x, true);
  return is_one ? petal_inline_fuse_contains_in_one(view, x, false) : petal_inline_fuse_contains(view, x, false);
}

/* Fetches the lines of the cells. The directory is read, unless there is only one shard. */
PETAL_INLINE_ALWAYS void petal_view_fuse_prefetch_hash(const petal_view *view, uint64_t hash) {
  petal_inline_fuse_shard shard = petal_inline_fuse_only(view);
  uint64_t x = petal_inline_order(hash), how_far = x >> 32;
  if (view->words[0] == 0) return;
  if (shard.length == 0) {
    if (!petal_inline_fuse_read(view, petal_inline_reduce(x, view->words[0]), &shard)) return;
    how_far = x * view->words[0] >> 32;
  }
  uint64_t z = petal_inline_scatter(x, shard.seeds);
  petal_inline_fuse_cells found = petal_inline_fuse_find(view->words[2], shard, how_far, z);
  if (found.cells[3] >= shard.cells) return;
  for (int i = 0; i < 4; i++) {
    petal_inline_fetch(shard.words + PETAL_INLINE_CAST(size_t, found.cells[i] * view->words[1] >> 6));
  }
}

/* ---- The layout cuckoo: buckets of fingerprints, two of which a key may be in ------------------------------------ */

/* The bits of a hash's two buckets, and its fingerprint. */
typedef struct {
  uint64_t first, second, fingerprint;
} petal_inline_cuckoo_places;

PETAL_INLINE_ALWAYS petal_inline_cuckoo_places petal_inline_cuckoo_find(const petal_view *view, uint64_t hash) {
  const uint64_t buckets = view->words[0], width = view->words[2], size = view->words[1] * width;
  /* This is petal_inline_reduce() to 2^width - 1, by shifts. */
  uint64_t product = hash * PETAL_INLINE_GOLDEN;
  uint64_t fingerprint = (product >> (64 - width)) + (product << width >= product);
  uint64_t mixed = petal_inline_scatter(petal_inline_order(fingerprint), 0);
  uint64_t bucket = petal_inline_reduce(hash, buckets), sum = 2 * petal_inline_reduce(mixed, buckets / 2) + 1;
  /* Both buckets are less than their number, whatever the payload says. */
  uint64_t other = sum < bucket ? sum + buckets - bucket : sum - bucket;
  petal_inline_cuckoo_places places = {bucket * size, other * size, fingerprint};
  return places;
}

/* The 64 bits from `bit` on, zeros after the payload. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_cuckoo_window(const petal_view *view, uint64_t bit) {
  const uint64_t *word = view->payload + PETAL_INLINE_CAST(size_t, bit >> 6);
  uint64_t next = (bit >> 6) + 1 < view->payload_bytes / 8 ? petal_inline_load(word + 1) : 0;
  return petal_inline_load(word) >> (bit & 63) | next << 1 << (63 - (bit & 63));
}

/* As petal_view_cuckoo_contains_hash(), some slots of a bucket at a time: for buckets that do not fit into eight
 * bytes. */
PETAL_INLINE_SELDOM bool petal_inline_cuckoo_contains_in_parts(const petal_view *view, uint64_t hash) {
  const uint64_t width = view->words[2], ones = view->words[4], highs = ones << (width - 1), lows = highs - ones;
  const petal_inline_cuckoo_places places = petal_inline_cuckoo_find(view, hash);
  uint64_t pattern = places.fingerprint * ones, missing = highs;
  for (uint64_t slot = 0; slot < view->words[1]; slot += view->words[3]) {
    uint64_t first = petal_inline_cuckoo_window(view, places.first + slot * width) ^ pattern;
    uint64_t second = petal_inline_cuckoo_window(view, places.second + slot * width) ^ pattern;
    /* The highest bit of a slot stays 0 where the slot is the fingerprint. */
    missing &= ((first & lows) + lows) | first;
    missing &= ((second & lows) + lows) | second;
  }
  return missing != highs;
}

/* Whether a hash may have been inserted. For views of PETAL_VIEW_LAYOUT_CUCKOO. Chance decides which bucket has the
 * fingerprint, so both are looked at, without a branch. */
PETAL_INLINE_ALWAYS bool petal_view_cuckoo_contains_hash(const petal_view *view, uint64_t hash) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  /* A bucket fits into eight bytes, if the payload has all of them. */
  const petal_inline_cuckoo_places places = petal_inline_cuckoo_find(view, hash);
  const uint64_t last = places.first > places.second ? places.first : places.second;
  if (PETAL_INLINE_LIKELY(view->words[5] != 0 && (last >> 3) + 8 <= view->payload_bytes)) {
    const uint64_t ones = view->words[4], highs = ones << (view->words[2] - 1);
    uint64_t pattern = places.fingerprint * ones;
    uint64_t first = petal_inline_load_bits(view->payload, places.first) ^ pattern;
    uint64_t second = petal_inline_load_bits(view->payload, places.second) ^ pattern;
    /* The subtraction sets the highest bit of the lowest slot that is 0. Without such a slot it sets no highest bit
     * that was not set before. */
    return ((((first - ones) & ~first) | ((second - ones) & ~second)) & highs) != 0;
  }
#endif
  return petal_inline_cuckoo_contains_in_parts(view, hash);
}

PETAL_INLINE_ALWAYS void petal_view_cuckoo_prefetch_hash(const petal_view *view, uint64_t hash) {
  const petal_inline_cuckoo_places places = petal_inline_cuckoo_find(view, hash);
  petal_inline_fetch(view->payload + PETAL_INLINE_CAST(size_t, places.first >> 6));
  petal_inline_fetch(view->payload + PETAL_INLINE_CAST(size_t, places.second >> 6));
}

/* ---- The layout ribbon: slots, a run of which gives the fingerprint of a key ------------------------------------- */

/* The coefficients of a key, 64 or 128, the byte at which the first group of eight slots with a coefficient begins, and
 * in which of these slots the coefficients start. */
typedef struct {
  uint64_t byte, low, high;
  unsigned shift;
} petal_inline_ribbon_row;

/* A word of the payload, 0 outside of it: what the directory says may be anything. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_word(const petal_view *view, uint64_t word) {
  return PETAL_INLINE_LIKELY(word < view->payload_bytes / 8) ? petal_inline_load(view->payload + word) : 0;
}

/* The eight bytes from `byte` on, zeros outside of the payload. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_eight(const petal_view *view, uint64_t byte) {
  uint64_t word = byte / 8, shift = 8 * (byte % 8), low = petal_inline_ribbon_word(view, word) >> shift;
  return shift == 0 ? low : low | petal_inline_ribbon_word(view, word + 1) << (64 - shift);
}

/* The two bits of metadata of a bucket, in metadata that begins at `byte`. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_threshold(const petal_view *view, uint64_t byte, uint64_t bucket) {
  return petal_inline_ribbon_word(view, byte / 8) >> (8 * (byte % 8) + 2 * (bucket % 4)) & 3;
}

/* The base-2 logarithm of the slots of a bucket. */
PETAL_INLINE_ALWAYS unsigned petal_inline_ribbon_bucket(const petal_view *view) { return view->words[2] == 64 ? 7 : 9; }

/* Which of three classes of its bucket a row that starts there has, counted from the bucket's end. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_class(const petal_view *view, uint64_t start) {
  const bool narrow = view->words[2] == 64;
  uint64_t from_end = ~start & (narrow ? 127u : 511u);
  return PETAL_INLINE_CAST(uint64_t, from_end >= (narrow ? 90u : 379u)) + (from_end >= (narrow ? 111u : 454u));
}

/* The row at a slot of the shard whose slots begin at byte `begin`, with the coefficients that come from `z`. */
PETAL_INLINE_ALWAYS petal_inline_ribbon_row petal_inline_ribbon_row_at(const petal_view *view, uint64_t begin,
                                                                       uint64_t slot, uint64_t z) {
  petal_inline_ribbon_row row;
  row.byte = begin + slot / 8 * view->words[1];
  row.shift = PETAL_INLINE_CAST(unsigned, slot % 8);
  row.low = z | 1;
  row.high = 0;
  if (view->words[2] != 64) {
    uint64_t high = z * UINT64_C(0xd6e8feb86659fd93);
    row.high = high ^ high >> 32;
  }
  return row;
}

/* The hash of a bumped key in a layer after the first. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_bumped(uint64_t x, uint64_t z, uint64_t layer) {
  uint64_t of_x = petal_inline_scatter(petal_inline_order(x + PETAL_INLINE_GOLDEN * layer), 0);
  return petal_inline_scatter(petal_inline_order(z ^ of_x), 0);
}

PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_bumped_scatter(uint64_t hash) {
  uint64_t product = hash * PETAL_INLINE_GOLDEN;
  return product ^ product >> 32;
}

/* A size of a layer: 11 bits, and above them by how many bits these are moved up. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_size(uint64_t code) { return (code & 2047) << (code >> 11); }

/* The row of a key that was bumped from the first layer. */
PETAL_INLINE_SELDOM petal_inline_ribbon_row petal_inline_ribbon_find_bumped(const petal_view *view, uint64_t shard,
                                                                            uint64_t begin, uint64_t x, uint64_t z) {
  const unsigned bucket_bits = petal_inline_ribbon_bucket(view);
  const uint64_t sizes = petal_inline_ribbon_word(view, view->words[0] + shard - 1), width = view->words[2];
  const uint64_t gap = width / 8 * view->words[1];
  bool is_last = shard + 1 == view->words[0];
  uint64_t metadata = is_last ? view->words[6] : petal_inline_ribbon_word(view, shard) - gap;
  uint64_t first = view->words[3], seed = sizes >> 61, base = petal_inline_ribbon_size(sizes >> 45 & 0xffff), hash;
  petal_inline_ribbon_row none = {0, 0, 0, 0};
  for (unsigned layer = 0; layer < 3; layer++) {
    uint64_t starts = petal_inline_ribbon_size(sizes >> 15 * layer & 0x7fff);
    if (starts == 0) break;
    hash = petal_inline_ribbon_bumped(x, z, layer + 1);
    uint64_t start = petal_inline_reduce(hash, starts), bucket = start >> bucket_bits;
    uint64_t threshold = petal_inline_ribbon_threshold(view, metadata - (1 + bucket / 4), bucket);
    if (petal_inline_ribbon_class(view, start) < threshold) {
      return petal_inline_ribbon_row_at(view, begin, first + start, petal_inline_ribbon_bumped_scatter(hash));
    }
    first += starts;
    /* Four buckets have a byte. */
    metadata -= (starts + (UINT64_C(4) << bucket_bits) - 1) >> (bucket_bits + 2);
  }
  if (seed == 7) {
    /* Keys that are found by search, each of which has a slot to itself: x and z of each, in ascending order. */
    uint64_t least = 0, most = base;
    metadata -= 16 * base;
    while (least < most) {
      uint64_t middle = least + (most - least) / 2;
      uint64_t there = petal_inline_ribbon_eight(view, metadata + 16 * middle);
      uint64_t other = petal_inline_ribbon_eight(view, metadata + 16 * middle + 8);
      if (there == x && other == z) return petal_inline_ribbon_row_at(view, begin, first + width + middle, 0);
      if (there < x || (there == x && other < z)) {
        least = middle + 1;
      } else {
        most = middle;
      }
    }
    return none;
  }
  if (base == 0) return none;
  hash = petal_inline_ribbon_bumped(x, z, 4 + seed);
  return petal_inline_ribbon_row_at(view, begin, first + petal_inline_reduce(hash, base),
                                    petal_inline_ribbon_bumped_scatter(hash));
}

/* The row of a key with order x and scattered hash z. The view is one of a ribbon that has shards. */
PETAL_INLINE_ALWAYS petal_inline_ribbon_row petal_inline_ribbon_find(const petal_view *view, uint64_t x, uint64_t z) {
  const uint64_t shards = view->words[0], shard = petal_inline_reduce(x, shards), how_far = x * shards >> 32;
  uint64_t begin = view->words[5];
  if (shards > 1) {
    /* This word is read for the first shard too, because the processor cannot guess whether a shard is the first. */
    uint64_t told = petal_inline_ribbon_word(view, shard == 0 ? 0 : shard - 1);
    begin = shard == 0 ? begin : told;
  }
  uint64_t start = how_far * view->words[3] >> 32, bucket = start >> petal_inline_ribbon_bucket(view);
  uint64_t metadata = (2 * shards - 1) * 8 + shard * view->words[4] + bucket / 4;
  if (PETAL_INLINE_LIKELY(petal_inline_ribbon_class(view, start) <
                          petal_inline_ribbon_threshold(view, metadata, bucket))) {
    return petal_inline_ribbon_row_at(view, begin, start, z);
  }
  return petal_inline_ribbon_find_bumped(view, shard, begin, x, petal_inline_once(z));
}

/* The exclusive or of eight bytes of each of `count` groups, from the group at `byte` on. Only the slots with a
 * coefficient are left in these bytes. Each group has a byte of the coefficients, the lowest first. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_sum(const petal_view *view, bool is_inside, uint64_t byte,
                                               uint64_t coefficients, unsigned count) {
  const uint64_t each = UINT64_C(0x0101010101010101), columns = view->words[1];
  uint64_t sum = 0;
  for (unsigned group = 0; group < count; group++) {
    uint64_t at = byte + group * columns;
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
    uint64_t bits = is_inside ? petal_inline_load_eight(view->payload, at) : petal_inline_ribbon_eight(view, at);
#else
    uint64_t bits = petal_inline_ribbon_eight(view, at);
    (void)is_inside;
#endif
    sum ^= bits & each * (coefficients >> 8 * group & 255);
  }
  return sum;
}

/* The same of all groups of a row, whose first eight bytes are at `byte`. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_sum_all(const petal_view *view, bool is_inside, uint64_t byte,
                                                   const petal_inline_ribbon_row *row) {
  const unsigned shift = row->shift, rest = 63 - shift;
  const uint64_t columns = view->words[1], next = row->high << shift | row->low >> 1 >> rest;
  uint64_t sum = petal_inline_ribbon_sum(view, is_inside, byte, row->low << shift, 8);
  if (view->words[2] == 64) return sum ^ petal_inline_ribbon_sum(view, is_inside, byte + 8 * columns, next, 1);
  sum ^= petal_inline_ribbon_sum(view, is_inside, byte + 8 * columns, next, 8);
  return sum ^ petal_inline_ribbon_sum(view, is_inside, byte + 16 * columns, row->high >> 1 >> rest, 1);
}

#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2)
/* Four groups of eight bytes, with the bits of slots that have a coefficient. The coefficients are those of four bytes
 * of `coefficients`, which `which` copies to all bytes of their groups. */
PETAL_INLINE_ALWAYS __m256i petal_inline_ribbon_four(const unsigned char *groups, uint64_t coefficients,
                                                     __m256i which) {
  __m256i all = _mm256_set1_epi64x(PETAL_INLINE_CAST(int64_t, coefficients));
  __m256i bits = _mm256_loadu_si256(PETAL_INLINE_POINTER(const __m256i *, groups));
  return _mm256_and_si256(bits, _mm256_shuffle_epi8(all, which));
}
#endif

/* The same as petal_inline_ribbon_sum_all(), where the row is inside and there are eight columns. The groups then lie
 * one after the other. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_sum_eight(const petal_view *view, const petal_inline_ribbon_row *row) {
#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2)
  const __m256i lower = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i upper = _mm256_add_epi8(lower, _mm256_set1_epi8(4));
  const unsigned char *groups = PETAL_INLINE_POINTER(const unsigned char *, view->payload) + row->byte;
  const unsigned shift = row->shift, rest = 63 - shift;
  const uint64_t first = row->low << shift, next = row->high << shift | row->low >> 1 >> rest;
  __m256i sums = _mm256_xor_si256(petal_inline_ribbon_four(groups, first, lower),
                                  petal_inline_ribbon_four(groups + 32, first, upper));
  uint64_t last = next;
  groups += 64;
  if (view->words[2] != 64) {
    sums = _mm256_xor_si256(sums, petal_inline_ribbon_four(groups, next, lower));
    sums = _mm256_xor_si256(sums, petal_inline_ribbon_four(groups + 32, next, upper));
    last = row->high >> 1 >> rest;
    groups += 64;
  }
  __m128i two = _mm_xor_si128(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  __m128i one = _mm_xor_si128(two, _mm_unpackhi_epi64(two, two));
  uint64_t tail = petal_inline_load_eight(PETAL_INLINE_POINTER(const uint64_t *, groups), 0);
  return PETAL_INLINE_CAST(uint64_t, _mm_cvtsi128_si64(one)) ^ (tail & UINT64_C(0x0101010101010101) * (last & 255));
#else
  return petal_inline_ribbon_sum_all(view, true, row->byte, row);
#endif
}

/* The same of a row that reaches past the payload. */
PETAL_INLINE_SELDOM uint64_t petal_inline_ribbon_sum_outside(const petal_view *view, uint64_t byte,
                                                             petal_inline_ribbon_row row) {
  return petal_inline_ribbon_sum_all(view, false, byte, &row);
}

/* The parity of each byte, the lowest first. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_parities(uint64_t sum) {
  sum ^= sum >> 4;
  sum ^= sum >> 2;
  sum = (sum ^ sum >> 1) & UINT64_C(0x0101010101010101);
  return sum * UINT64_C(0x0102040810204080) >> 56;
}

/* Whether eight columns of a row, from the one whose first group is at `byte`, are in the payload. */
PETAL_INLINE_ALWAYS bool petal_inline_ribbon_is_inside(const petal_view *view, uint64_t byte) {
  const uint64_t last = byte + view->words[2] / 8 * view->words[1];
  return byte <= last && last < view->payload_bytes - 7;
}

/* What the slots of a row give in eight columns, from `first` on. Bits above the columns mean nothing. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_columns(const petal_view *view, const petal_inline_ribbon_row *row,
                                                         uint64_t first) {
  const uint64_t byte = row->byte + first;
  return petal_inline_ribbon_parities(PETAL_INLINE_LIKELY(petal_inline_ribbon_is_inside(view, byte))
                                          ? petal_inline_ribbon_sum_all(view, true, byte, row)
                                          : petal_inline_ribbon_sum_outside(view, petal_inline_once(byte), *row));
}

/* Whether the columns of a row are the bits of `fingerprint`, with other bits above them. */
PETAL_INLINE_SELDOM bool petal_inline_ribbon_is(const petal_view *view, petal_inline_ribbon_row row,
                                                uint64_t fingerprint) {
  for (uint64_t first = 0; first < view->words[1]; first += 8) {
    fingerprint ^= petal_inline_ribbon_columns(view, &row, first) << first;
  }
  return fingerprint << (64 - view->words[1]) == 0;
}

/* Whether a hash may have been among those that the filter was built of. For views of PETAL_VIEW_LAYOUT_RIBBON. */
PETAL_INLINE_ALWAYS bool petal_view_ribbon_contains_hash(const petal_view *view, uint64_t hash) {
  if (!PETAL_INLINE_LIKELY(view->words[0] != 0)) return false;
  uint64_t x = petal_inline_order(hash), z = petal_inline_scatter(x, 0), fingerprint = z * PETAL_INLINE_GOLDEN >> 32;
  const petal_inline_ribbon_row row = petal_inline_ribbon_find(view, x, z);
  if (PETAL_INLINE_LIKELY(view->words[1] == 8 && petal_inline_ribbon_is_inside(view, row.byte))) {
    uint64_t found = petal_inline_ribbon_parities(petal_inline_ribbon_sum_eight(view, &row));
    return ((fingerprint ^ found) & 255) == 0;
  }
  return petal_inline_ribbon_is(view, row, petal_inline_once(fingerprint));
}

/* Fetches the lines of the slots of a row. */
PETAL_INLINE_ALWAYS void petal_inline_ribbon_fetch(const petal_view *view, petal_inline_ribbon_row row) {
  const uint64_t length = (view->words[2] / 8 + 1) * view->words[1];
  if (row.byte >= view->payload_bytes || view->payload_bytes - row.byte < length) return;
  for (uint64_t byte = 0; byte < length; byte += 64) petal_inline_fetch(view->payload + (row.byte + byte) / 8);
  petal_inline_fetch(view->payload + (row.byte + length - 1) / 8);
}

/* Fetches the lines of a hash's slots. The function reads the metadata to find them. */
PETAL_INLINE_ALWAYS void petal_view_ribbon_prefetch_hash(const petal_view *view, uint64_t hash) {
  if (view->words[0] == 0) return;
  uint64_t x = petal_inline_order(hash);
  petal_inline_ribbon_fetch(view, petal_inline_ribbon_find(view, x, petal_inline_scatter(x, 0)));
}

/* ---- The layouts fuse_values and ribbon_values: cells or slots that give the value of a key ---------------------- */

/* What a lookup in a map says. */
typedef struct {
  uint64_t value;
  bool found;
} petal_inline_answer;

/* What a map without keys says. Without check bits every key has the value 0. */
PETAL_INLINE_ALWAYS petal_inline_answer petal_inline_value_of_none(uint64_t check_bits) {
  petal_inline_answer answer = {0, check_bits == 0};
  return answer;
}

/* What the columns of a key with this scattered hash say. The lowest columns are the value, and the check bits follow.
 * `first` has the lowest 64 columns, and `rest` those above. */
PETAL_INLINE_ALWAYS petal_inline_answer petal_inline_value(uint64_t first, uint64_t rest, uint64_t value_bits,
                                                           uint64_t check_bits, uint64_t z) {
  uint64_t checks = value_bits == 0 ? first : value_bits == 64 ? rest : first >> value_bits | rest << (64 - value_bits);
  petal_inline_answer answer = {0, ((checks ^ z * PETAL_INLINE_GOLDEN >> 32) & petal_inline_ones(check_bits)) == 0};
  if (answer.found) answer.value = first & petal_inline_ones(value_bits);
  return answer;
}

/* What the seed of a shard makes of a key's 128 bits. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_fuse_scatter(petal_inline_identity id, uint64_t seeds) {
  return petal_inline_scatter(petal_inline_order(id.low) ^ petal_inline_scatter(id.high, seeds), seeds);
}

/* The exclusive or of a key's three cells, all of which lie in the payload. Bits above those of a cell mean nothing. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_fuse_values_together(const petal_view *view, const uint64_t *words,
                                                               petal_inline_fuse_cells found, uint64_t above) {
  uint64_t together = 0;
  for (int i = 0; i < 3; i++) together ^= petal_inline_load_bits(words, found.cells[i] * view->words[1] + above);
  return together;
}

/* Where the cells of a key are, and what the shard's seed made of the key. */
typedef struct {
  petal_inline_fuse_shard shard;
  petal_inline_fuse_cells found;
  uint64_t z;
  bool is_inside;
} petal_inline_fuse_place;

/* The place of a key. The map has shards. */
PETAL_INLINE_ALWAYS petal_inline_fuse_place petal_inline_fuse_values_find(const petal_view *view,
                                                                          petal_inline_identity id) {
  petal_inline_fuse_place place = {petal_inline_fuse_only(view), {{0, 0, 0, 0}}, 0, true};
  uint64_t how_far = id.high >> 32;
  if (!PETAL_INLINE_LIKELY(place.shard.length != 0)) {
    how_far = id.high * view->words[0] >> 32;
    place.is_inside = petal_inline_fuse_read(view, petal_inline_reduce(id.high, view->words[0]), &place.shard);
    if (!place.is_inside) return place;
  }
  place.z = petal_inline_fuse_scatter(id, place.shard.seeds);
  place.found = petal_inline_fuse_find(3, place.shard, how_far, place.z);
  place.is_inside = place.found.cells[2] < place.shard.cells;
  return place;
}

/* The value of a key. For views of PETAL_VIEW_LAYOUT_FUSE_VALUES. If cells lie outside of the payload, the key is
 * absent. */
PETAL_INLINE_ALWAYS petal_inline_answer petal_inline_fuse_values_get(const petal_view *view,
                                                                     petal_inline_identity id) {
  const uint64_t value_bits = view->words[2], check_bits = view->words[1] - value_bits;
  petal_inline_answer none = {0, false};
  if (!PETAL_INLINE_LIKELY(view->words[0] != 0)) return petal_inline_value_of_none(check_bits);
  const petal_inline_fuse_place place = petal_inline_fuse_values_find(view, id);
  if (!PETAL_INLINE_LIKELY(place.is_inside)) return none;
  uint64_t together = petal_inline_fuse_values_together(view, place.shard.words, place.found, 0);
  if (view->words[1] > 57) {
    uint64_t upper = petal_inline_fuse_values_together(view, place.shard.words, place.found, 32);
    together = (together & 0xffffffffu) | upper << 32;
  }
  return petal_inline_value(together, 0, value_bits, check_bits, place.z);
}

/* Fetches the lines of a key's cells. The function reads the directory, unless there is only one shard. */
PETAL_INLINE_ALWAYS void petal_inline_fuse_values_prefetch(const petal_view *view, petal_inline_identity id) {
  if (view->words[0] == 0) return;
  const petal_inline_fuse_place place = petal_inline_fuse_values_find(view, id);
  if (!place.is_inside) return;
  for (int i = 0; i < 3; i++) {
    petal_inline_fetch(place.shard.words + PETAL_INLINE_CAST(size_t, place.found.cells[i] * view->words[1] >> 6));
  }
}

/* The hash that the coefficients and check bits of a key come from. */
PETAL_INLINE_ALWAYS uint64_t petal_inline_ribbon_scatter(petal_inline_identity id) {
  uint64_t high = petal_inline_scatter(petal_inline_order(id.high), 0);
  return petal_inline_scatter(petal_inline_order(id.low ^ high), 0);
}

/* The value that the columns of a row give. */
PETAL_INLINE_SELDOM petal_inline_answer petal_inline_ribbon_value(const petal_view *view, petal_inline_ribbon_row row,
                                                                  uint64_t z) {
  const uint64_t columns = view->words[1], value_bits = view->words[7];
  uint64_t first = 0, rest = 0;
  for (uint64_t column = 0; column < columns && column < 64; column += 8) {
    first |= petal_inline_ribbon_columns(view, &row, column) << column;
  }
  for (uint64_t column = 64; column < columns; column += 8) {
    rest |= petal_inline_ribbon_columns(view, &row, column) << (column - 64);
  }
  return petal_inline_value(first, rest, value_bits, columns - value_bits, z);
}

/* The value of a key. For views of PETAL_VIEW_LAYOUT_RIBBON_VALUES. */
PETAL_INLINE_ALWAYS petal_inline_answer petal_inline_ribbon_values_get(const petal_view *view,
                                                                       petal_inline_identity id) {
  const uint64_t columns = view->words[1], value_bits = view->words[7];
  if (!PETAL_INLINE_LIKELY(view->words[0] != 0)) return petal_inline_value_of_none(columns - value_bits);
  const uint64_t z = petal_inline_ribbon_scatter(id);
  const petal_inline_ribbon_row row = petal_inline_ribbon_find(view, id.high, z);
  if (PETAL_INLINE_LIKELY(columns == 8 && petal_inline_ribbon_is_inside(view, row.byte))) {
    uint64_t found = petal_inline_ribbon_parities(petal_inline_ribbon_sum_eight(view, &row));
    return petal_inline_value(found, 0, value_bits, 8 - value_bits, z);
  }
  return petal_inline_ribbon_value(view, row, petal_inline_once(z));
}

/* Fetches the lines of a key's slots. The function reads the metadata to find them. */
PETAL_INLINE_ALWAYS void petal_inline_ribbon_values_prefetch(const petal_view *view, petal_inline_identity id) {
  if (view->words[0] == 0) return;
  petal_inline_ribbon_fetch(view, petal_inline_ribbon_find(view, id.high, petal_inline_ribbon_scatter(id)));
}

/* ---- Any layout -------------------------------------------------------------------------------------------------- */

/* The hash of a uint64_t key, for a view whose `hash` is PETAL_HASH_XXH3. */
PETAL_INLINE_ALWAYS uint64_t petal_view_hash_u64(const petal_view *view, uint64_t key) {
  return petal_inline_xxh3(view->hash_flip, key);
}

/* A lookup in a ribbon, which is too long to become a part of every caller. */
PETAL_INLINE_SELDOM bool petal_inline_ribbon_contains_hash(const petal_view *view, uint64_t hash) {
  return petal_view_ribbon_contains_hash(view, hash);
}

/* Lookups in the layouts that have less use of being inlined than blocks. */
PETAL_INLINE_ALWAYS bool petal_inline_other_contains_hash(const petal_view *view, uint64_t hash) {
  if (view->layout == PETAL_VIEW_LAYOUT_FUSE) return petal_view_fuse_contains_hash(view, hash);
  if (view->layout == PETAL_VIEW_LAYOUT_CUCKOO) return petal_view_cuckoo_contains_hash(view, hash);
  if (view->layout == PETAL_VIEW_LAYOUT_BLOOM) return petal_view_bloom_contains_hash(view, hash);
  if (view->layout == PETAL_VIEW_LAYOUT_TWO_BLOCKS) return petal_view_two_blocks_contains_hash(view, hash);
  if (view->layout != PETAL_VIEW_LAYOUT_RIBBON) return true;
  return petal_inline_ribbon_contains_hash(view, petal_inline_once(hash));
}

/* Whether a hash may have been inserted; false is certain. Returns true if something is wrong. A program that knows the
 * layout, say of a view that it made of its own filter, may call the function of the layout instead. That is as fast,
 * or up to a fifth faster, and leaves less code in the program. */
PETAL_INLINE_ALWAYS bool petal_view_contains_hash(const petal_view *view, uint64_t hash) {
  if (view == NULL) return true;
  if (PETAL_INLINE_LIKELY(view->layout == PETAL_VIEW_LAYOUT_BLOCKED)) return petal_view_blocked_contains_hash(view,
                                                                                                              hash);
  if (PETAL_INLINE_LIKELY(view->layout == PETAL_VIEW_LAYOUT_SPLIT_BLOCK)) {
    return petal_view_split_block_contains_hash(view, hash);
  }
  return petal_inline_other_contains_hash(view, hash);
}

/* Whether a uint64_t key may have been inserted. Returns true if the filter's hash function is not XXH3. */
PETAL_INLINE_ALWAYS bool petal_view_contains_u64(const petal_view *view, uint64_t key) {
  if (view == NULL) return true;
  /* One condition for each layout of blocks, which a compiler can compute before a loop. */
  const bool is_hashed = view->hash == PETAL_HASH_XXH3;
  if (PETAL_INLINE_LIKELY(is_hashed & (view->layout == PETAL_VIEW_LAYOUT_BLOCKED))) {
    return petal_view_blocked_contains_hash(view, petal_view_hash_u64(view, key));
  }
  if (PETAL_INLINE_LIKELY(is_hashed & (view->layout == PETAL_VIEW_LAYOUT_SPLIT_BLOCK))) {
    return petal_view_split_block_contains_hash(view, petal_view_hash_u64(view, key));
  }
  return is_hashed ? petal_inline_other_contains_hash(view, petal_view_hash_u64(view, key)) : true;
}

/* Fetches memory of the layouts that are not blocks. The returned number has no meaning. */
PETAL_INLINE_SELDOM uint64_t petal_inline_other_prefetch_hash(const petal_view *view, uint64_t hash) {
  switch (view->layout) {
    case PETAL_VIEW_LAYOUT_TWO_BLOCKS:
      petal_view_two_blocks_prefetch_hash(view, hash);
      break;
    case PETAL_VIEW_LAYOUT_BLOOM:
      petal_view_bloom_prefetch_hash(view, hash);
      break;
    case PETAL_VIEW_LAYOUT_FUSE:
      petal_view_fuse_prefetch_hash(view, hash);
      break;
    case PETAL_VIEW_LAYOUT_CUCKOO:
      petal_view_cuckoo_prefetch_hash(view, hash);
      break;
    case PETAL_VIEW_LAYOUT_RIBBON:
      petal_view_ribbon_prefetch_hash(view, hash);
      break;
    default:
      break;
  }
  return hash;
}

/* Fetches the memory of a hash that you will soon look up or insert. In a filter that is larger than the cache, a loop
 * that fetches 16 keys ahead is about twice as fast. */
PETAL_INLINE_ALWAYS void petal_view_prefetch_hash(const petal_view *view, uint64_t hash) {
  if (view == NULL) return;
  if (PETAL_INLINE_LIKELY(view->layout == PETAL_VIEW_LAYOUT_BLOCKED)) {
    petal_inline_fetch(view->payload + petal_inline_blocked_start(view, hash));
  } else if (view->layout == PETAL_VIEW_LAYOUT_SPLIT_BLOCK) {
    petal_inline_fetch(view->payload + petal_inline_split_block_start(view, hash));
  } else {
    /* The compiler would leave out a call whose number nobody uses. */
    petal_inline_once(petal_inline_other_prefetch_hash(view, petal_inline_once(hash)));
  }
}

/* Fetches the memory of a uint64_t key that you will soon look up or insert. */
PETAL_INLINE_ALWAYS void petal_view_prefetch_u64(const petal_view *view, uint64_t key) {
  if (view != NULL) petal_view_prefetch_hash(view, petal_view_hash_u64(view, key));
}

/* Inserts a hash. `is_new`, nullable, becomes true if the hash certainly was not there. Returns
 * PETAL_ERR_UNSUPPORTED_BY_HANDLE unless the view is from petal_filter_get_writable_view(), PETAL_ERR_UNSUPPORTED if
 * this header does not know how to insert into the view's layout. */
PETAL_INLINE_ALWAYS petal_status petal_view_insert_hash(const petal_view *view, uint64_t hash, bool *is_new) {
  bool fresh;
  if (view == NULL) return PETAL_ERR_NULL;
  if (view->writable_payload == NULL) return PETAL_ERR_UNSUPPORTED_BY_HANDLE;
  if (PETAL_INLINE_LIKELY(view->layout == PETAL_VIEW_LAYOUT_BLOCKED)) {
    fresh = petal_view_blocked_insert_hash(view, hash);
  } else if (view->layout == PETAL_VIEW_LAYOUT_SPLIT_BLOCK) {
    fresh = petal_view_split_block_insert_hash(view, hash);
  } else if (view->layout == PETAL_VIEW_LAYOUT_TWO_BLOCKS) {
    fresh = petal_view_two_blocks_insert_hash(view, hash);
  } else if (view->layout == PETAL_VIEW_LAYOUT_BLOOM) {
    fresh = petal_view_bloom_insert_hash(view, hash);
  } else {
    return PETAL_ERR_UNSUPPORTED;
  }
  if (is_new != NULL) *is_new = fresh;
  return PETAL_OK;
}

/* Inserts a uint64_t key. `is_new`, nullable, becomes true if the key certainly was not there. Returns the errors of
 * petal_view_insert_hash(), and PETAL_ERR_UNSUPPORTED if the filter's hash function is not XXH3. */
PETAL_INLINE_ALWAYS petal_status petal_view_insert_u64(const petal_view *view, uint64_t key, bool *is_new) {
  if (view == NULL) return PETAL_ERR_NULL;
  if (view->hash != PETAL_HASH_XXH3) return PETAL_ERR_UNSUPPORTED;
  return petal_view_insert_hash(view, petal_view_hash_u64(view, key), is_new);
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

/* The 128 bits of a key for which only a 64-bit hash is known. */
PETAL_INLINE_ALWAYS petal_inline_identity petal_inline_widen(uint64_t hash) {
  petal_inline_identity id = {hash, petal_inline_scatter(petal_inline_order(hash), 0)};
  return id;
}

/* Looks a key up, and tells the caller what the map says. */
PETAL_INLINE_ALWAYS petal_status petal_inline_get(const petal_view *view, petal_inline_identity id, uint64_t *value,
                                                  bool *found) {
  petal_inline_answer answer;
  if (view->layout == PETAL_VIEW_LAYOUT_RIBBON_VALUES) {
    answer = petal_inline_ribbon_values_get(view, id);
  } else if (view->layout == PETAL_VIEW_LAYOUT_FUSE_VALUES) {
    answer = petal_inline_fuse_values_get(view, id);
  } else {
    return PETAL_ERR_UNSUPPORTED;
  }
  if (value != NULL) *value = answer.value;
  *found = answer.found;
  return PETAL_OK;
}

PETAL_INLINE_ALWAYS void petal_inline_get_prefetch(const petal_view *view, petal_inline_identity id) {
  if (view->layout == PETAL_VIEW_LAYOUT_RIBBON_VALUES) petal_inline_ribbon_values_prefetch(view, id);
  if (view->layout == PETAL_VIEW_LAYOUT_FUSE_VALUES) petal_inline_fuse_values_prefetch(view, id);
}

/* Looks a uint64_t key up in a view of a map. `found` becomes true if the key is there. `value`, nullable, becomes the
 * key's value, or 0 if the key is not there. Returns PETAL_ERR_UNSUPPORTED, and changes nothing, if the map's hash
 * function is not XXH3, if this header does not know the view's layout, or if the view is one of a filter. */
PETAL_INLINE_ALWAYS petal_status petal_view_get_u64(const petal_view *view, uint64_t key, uint64_t *value,
                                                    bool *found) {
  if (view == NULL || found == NULL) return PETAL_ERR_NULL;
  if (view->hash != PETAL_HASH_XXH3) return PETAL_ERR_UNSUPPORTED;
  return petal_inline_get(view, petal_inline_xxh3_128(view->hash_flip, key), value, found);
}

/* Looks up the key with this 64-bit hash, which you made, as petal_view_get_u64() does. Only maps whose hash function
 * is PETAL_HASH_EXTERNAL take such hashes; other maps know their keys by 128 bits. Returns PETAL_ERR_UNSUPPORTED, and
 * changes nothing, for other maps, for filters, and if this header does not know the view's layout. */
PETAL_INLINE_ALWAYS petal_status petal_view_get_hash(const petal_view *view, uint64_t hash, uint64_t *value,
                                                     bool *found) {
  if (view == NULL || found == NULL) return PETAL_ERR_NULL;
  if (view->hash != PETAL_HASH_EXTERNAL) return PETAL_ERR_UNSUPPORTED;
  return petal_inline_get(view, petal_inline_widen(hash), value, found);
}

/* Fetches the memory of a key that you will soon look up with petal_view_get_u64(). */
PETAL_INLINE_ALWAYS void petal_view_get_prefetch_u64(const petal_view *view, uint64_t key) {
  if (view != NULL) petal_inline_get_prefetch(view, petal_inline_xxh3_128(view->hash_flip, key));
}

/* Fetches the memory of a hash that you will soon look up with petal_view_get_hash(). */
PETAL_INLINE_ALWAYS void petal_view_get_prefetch_hash(const petal_view *view, uint64_t hash) {
  if (view != NULL) petal_inline_get_prefetch(view, petal_inline_widen(hash));
}

#undef PETAL_INLINE_SALTS
#undef PETAL_INLINE_GOLDEN
#undef PETAL_INLINE_GOLDEN_2
#undef PETAL_INLINE_GOLDEN_3
#undef PETAL_INLINE_GOLDEN_4
#undef PETAL_INLINE_MIX
#undef PETAL_INLINE_MIX_SCATTERED
#undef PETAL_INLINE_ALWAYS
#undef PETAL_INLINE_SELDOM
#undef PETAL_INLINE_CAST
#undef PETAL_INLINE_LIKELY
#undef PETAL_INLINE_POINTER

#endif  /* PETAL_INLINE_H */
