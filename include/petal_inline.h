/*
 * petal_inline.h: lookups and insertions of single keys that the compiler puts into the program which includes this
 * header. They are for filters whose layout has a name: the kinds `blocked` and `split_block`.
 *
 *     petal_view view = PETAL_VIEW_INIT;
 *     if (petal_filter_view(filter, &view, NULL) != PETAL_OK) return 1;
 *     for (size_t i = 0; i < count; i++) hits += petal_view_contains_u64(&view, keys[i]);
 *
 * These functions do what `petal_filter_contains_u64()` and its like do, to the same bits. If many keys come at once,
 * a batch (`petal_filter_contains_batch()`) is faster still, most of all for filters larger than the cache. A loop
 * that cannot use a batch but knows its keys some rounds before may fetch memory ahead with
 * `petal_view_prefetch_u64()`.
 *
 * If something is wrong, lookups say true of every key: the view is NULL or nobody filled it in, or this header does
 * not know the view's layout. A uint64_t key may also come to a filter whose hash function is not XXH3. Hash such keys
 * with `petal_filter_hash_u64()` or `petal_filter_hash()` and use the functions for hashes, which take the hashes of
 * any filter. Insertions return a status.
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
 * A view says where a filter's payload lies and how the payload is laid out. A view is a plain struct: copy it at will
 * and never free it. A view points into its filter:
 *
 * - Only `petal_filter_fold()` and `petal_filter_free()` of the view's handle end a view.
 * - A lookup in a view is like a call that takes the const handle. Many threads may look up at once, also while others
 *   insert with `petal_filter_insert_shared()`. No thread may look up while a call runs that takes a handle which is
 *   not const.
 * - An insertion into a view is like a call that takes a handle which is not const: nobody else may use the filter
 *   meanwhile. `petal_filter_sync()` ends the permission to insert, wherever the filter lies: take a new writable view
 *   after a sync. Lookups may go on.
 * - Insertions through a view do not count keys. `petal_filter_add_offered()` adds the count later.
 */

#ifndef PETAL_INLINE_H
#define PETAL_INLINE_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The layout of a payload: one of `PETAL_LAYOUT_*`. */
typedef uint32_t petal_layout;

/** Blocks of 256 bits, a bit in each of eight lanes: filters of the kind `PETAL_KIND_SPLIT_BLOCK`. */
#define PETAL_LAYOUT_SPLIT_BLOCK 1
/** Blocks of 512 bits, a bit in each of some of sixteen lanes: filters of the kind `PETAL_KIND_BLOCKED`. */
#define PETAL_LAYOUT_BLOCKED 2

/**
 * A filter's payload and how to find keys in it; `docs/format.md` specifies the layouts. A lookup in a view of all
 * zeros, which nobody filled in, says true of every key.
 */
typedef struct petal_view {
  /** sizeof(petal_view), or 0 for its size in the first release. */
  size_t struct_size;
  /** One of `PETAL_LAYOUT_*`. */
  petal_layout layout;
  /** How many bits a key sets. */
  uint32_t hashes;
  /** The hash function of the keys. The inline functions hash uint64_t keys only if it is `PETAL_HASH_XXH3`. */
  petal_hash_function hash;
  /** How many lane masks `masks` points to. */
  uint32_t mask_count;
  /** The number that XXH3 mixes with uint64_t keys, which comes from the seed; otherwise 0. */
  uint64_t hash_flip;
  /** How many blocks there are, at least 1. */
  uint64_t blocks;
  /** The blocks, one after the other, aligned to 8 bytes. */
  const uint64_t *words;
  /** The start of the blocks for insertions, the same address as `words`. NULL if the view is for lookups only. */
  uint64_t *writable_words;
  /**
   * The lane masks of `PETAL_LAYOUT_BLOCKED`: each key uses the lanes of one mask. Static. NULL for other layouts.
   */
  const uint16_t *masks;
} petal_view;
/** A `petal_view` of this header's size, all else 0. */
#define PETAL_VIEW_INIT PETAL_INIT(petal_view)

/**
 * Fills in a view for lookups, in constant time. Returns `PETAL_ERR_UNSUPPORTED` if the layout of the filter's kind
 * has no name.
 */
petal_status petal_filter_view(const petal_filter *filter, petal_view *view, petal_error *error);

/**
 * Fills in a view for lookups and insertions. The function first marks an image in place dirty, on its disk too.
 * Nobody will say which regions the insertions change. So all regions count as changed, and this call and the next
 * sync read the whole payload. Returns `PETAL_ERR_CORRUPT` if the image does not match its checksums. Returns
 * `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if the handle is open for reading, or for shared insertion.
 */
petal_status petal_filter_view_writable(petal_filter *filter, petal_view *view, petal_error *error);

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

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* The odd multipliers of the Parquet format, one a 32-bit lane of a split block, or one a pair of lanes of a block. */
#define PETAL_INLINE_SALTS \
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31

/* The high half of a product of 64-bit numbers: less than `range`, uniform if `hash` is. */
static inline uint64_t petal_inline_reduce(uint64_t hash, uint64_t range) {
#if defined(__SIZEOF_INT128__) && !defined(PETAL_INLINE_PORTABLE)
  __extension__ typedef unsigned __int128 product;
  return PETAL_INLINE_CAST(uint64_t, PETAL_INLINE_CAST(product, hash) * range >> 64);
#else
  const uint64_t low = 0xffffffffu;
  uint64_t middle = (hash >> 32) * (range & low) + ((hash & low) * (range & low) >> 32);
  uint64_t other = (hash & low) * (range >> 32) + (middle & low);
  return (hash >> 32) * (range >> 32) + (middle >> 32) + (other >> 32);
#endif
}

static inline uint64_t petal_inline_rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* XXH3, 64 bits, of the eight little-endian bytes of `key`. `flip` is 16 bytes of its fixed secret folded into 8, less
 * the seed; 8 is the length of the key. */
static inline uint64_t petal_inline_xxh3(uint64_t flip, uint64_t key) {
  const uint64_t multiplier = UINT64_C(0x9fb21c651e98df25);
  uint64_t x = petal_inline_rotate(key, 32) ^ flip;
  x ^= petal_inline_rotate(x, 49) ^ petal_inline_rotate(x, 24);
  x *= multiplier;
  x ^= (x >> 35) + 8;
  x *= multiplier;
  return x ^ x >> 28;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Other threads may set bits in the words that these functions read. A load reads each aligned 8 bytes at once, and
 * tells the compiler that the bytes may change. It is a relaxed atomic load, or a vector load in assembly, because
 * neither language has atomic loads of vectors. Without extensions it is a volatile load, from which compilers make one
 * instruction if they can. */
static inline uint64_t petal_inline_load(const uint64_t *word) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#else
  return *PETAL_INLINE_CAST(const volatile uint64_t *, word);
#endif
}

/* Readers in other processes see whole words too. */
static inline void petal_inline_store(uint64_t *word, uint64_t value) {
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

static inline __m128i petal_inline_load_quarter(const uint64_t *words) {
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

static inline __m256i petal_inline_load_half(const uint64_t *words) {
  __m256i half;
  __asm__ volatile("vmovdqu %1, %0" : "=x"(half) : "m"(*PETAL_INLINE_POINTER(const petal_inline_half *, words)));
  return half;
}
#elif defined(PETAL_INLINE_NEON)
typedef struct {
  uint64_t words[2];
} petal_inline_quarter;

static inline uint32x4_t petal_inline_load_quarter(const uint64_t *words) {
  uint32x4_t quarter;
  __asm__ volatile("ldr %q0, %1" : "=w"(quarter) : "m"(*PETAL_INLINE_POINTER(const petal_inline_quarter *, words)));
  return quarter;
}

/* Sets bits in two words, and returns those bits that were not set before. */
static inline uint32x4_t petal_inline_set_quarter(uint64_t *words, uint32x4_t bits) {
  uint32x4_t old = petal_inline_load_quarter(words);
  vst1q_u64(words, vreinterpretq_u64_u32(vorrq_u32(old, bits)));
  return vbicq_u32(bits, old);
}
#endif

#ifdef PETAL_INLINE_SSE2
/* 2 to the power of each of four numbers below 32, which come as the exponents of floats without their bias. 2^31 is
 * too large for an integer and becomes the lowest integer, which is the same bit. */
static inline __m128i petal_inline_powers(__m128i exponents) {
  return _mm_cvttps_epi32(_mm_castsi128_ps(_mm_add_epi32(exponents, _mm_set1_epi32(127 << 23))));
}

/* The fields of the exponents in the even lanes, or in the odd ones. */
static inline __m128i petal_inline_even(void) { return _mm_setr_epi32(31 << 23, 0, 31 << 23, 0); }
static inline __m128i petal_inline_odd(void) { return _mm_setr_epi32(0, 31 << 23, 0, 31 << 23); }
#endif

#ifdef PETAL_INLINE_NEON
/* 2 to the power of each of four numbers below 32, or 0 where `ones` is 0 and not 1. */
static inline uint32x4_t petal_inline_shift(uint32x4_t ones, uint32x4_t numbers) {
  return vshlq_u32(ones, vreinterpretq_s32_u32(numbers));
}
#endif

/* Sets bits in `count` words, and returns whether one of the bits was not set before. */
static inline bool petal_inline_set(uint64_t *words, const uint64_t *bits, int count) {
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
static inline size_t petal_inline_split_block_start(const petal_view *view, uint64_t hash) {
  return PETAL_INLINE_CAST(size_t, (hash >> 32) * view->blocks >> 32) * 4;
}

/* The bits of a hash in the lanes: the upper five bits of the 32-bit products of its lower half. */
#if defined(PETAL_INLINE_AVX512) || defined(PETAL_INLINE_AVX2)
static inline __m256i petal_inline_split_block_bits(uint64_t hash) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS};
  __m256i low = _mm256_set1_epi32(PETAL_INLINE_CAST(int32_t, hash & 0xffffffffu));
  __m256i product = _mm256_mullo_epi32(low, _mm256_loadu_si256(PETAL_INLINE_POINTER(const __m256i *, salts)));
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
}
#elif defined(PETAL_INLINE_SSE2)
/* `half` 0 is the lower four lanes, 1 the upper ones. */
static inline __m128i petal_inline_split_block_bits(uint64_t hash, int half) {
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
static inline uint32x4_t petal_inline_split_block_bits(uint64_t hash, int half) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS};
  uint32_t low = PETAL_INLINE_CAST(uint32_t, hash & 0xffffffffu);
  return petal_inline_shift(vdupq_n_u32(1), vshrq_n_u32(vmulq_n_u32(vld1q_u32(salts + 4 * half), low), 27));
}
#else
static inline void petal_inline_split_block_bits(uint64_t hash, uint64_t *bits) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS};
  const uint32_t low = PETAL_INLINE_CAST(uint32_t, hash & 0xffffffffu);
  const uint64_t one = 1;
  for (int i = 0; i < 4; i++) bits[i] = one << (low * salts[2 * i] >> 27) | one << (low * salts[2 * i + 1] >> 27) << 32;
}
#endif

/* Whether a hash may have been inserted. The view is one of PETAL_LAYOUT_SPLIT_BLOCK. */
static inline bool petal_view_split_block_contains_hash(const petal_view *view, uint64_t hash) {
  const uint64_t *block = view->words + petal_inline_split_block_start(view, hash);
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

/* Inserts a hash; true if it certainly was not there. The view is a writable one of PETAL_LAYOUT_SPLIT_BLOCK. */
static inline bool petal_view_split_block_insert_hash(const petal_view *view, uint64_t hash) {
  uint64_t *block = view->writable_words + petal_inline_split_block_start(view, hash);
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

/* ---- The layout blocked: blocks of 512 bits, a bit in each of `hashes` of sixteen 32-bit lanes ------------------- */

/* The first word of the block of a hash. */
static inline size_t petal_inline_blocked_start(const petal_view *view, uint64_t hash) {
  return PETAL_INLINE_CAST(size_t, petal_inline_reduce(hash, view->blocks)) * 8;
}

/* The lanes of a hash, as a mask, which the high bits of the hash's lower half choose. */
static inline uint32_t petal_inline_blocked_lanes(const petal_view *view, uint64_t hash) {
  return view->masks[(hash & 0xffffffffu) * view->mask_count >> 32];
}

/* The bits of a hash in all lanes. The products of the hash's lower half number them: bits 27 to 31 for the even lanes,
 * bits 32 to 36 for the odd ones. In plain code the bits are 0 in lanes that are not among `lanes`. */
#ifdef PETAL_INLINE_AVX512
static inline __m512i petal_inline_blocked_bits(uint64_t hash) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  __m512i all = _mm512_set1_epi64(PETAL_INLINE_CAST(int64_t, hash));
  /* With full masks, because of the forms without one GCC says that they use something uninitialised. */
  __m512i product = _mm512_maskz_mul_epu32(0xff, all, _mm512_loadu_si512(salts));
  __m512i numbers = _mm512_maskz_srlv_epi32(0xffff, product, _mm512_set1_epi64(27));
  /* Rotations count modulo 32. */
  return _mm512_maskz_rolv_epi32(0xffff, _mm512_set1_epi32(1), numbers);
}
#elif defined(PETAL_INLINE_AVX2)
/* `half` 0 is the lower eight lanes, 1 the upper ones. */
static inline __m256i petal_inline_blocked_bits(uint64_t hash, int half) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  __m256i four = _mm256_loadu_si256(PETAL_INLINE_POINTER(const __m256i *, salts + 4 * half));
  __m256i product = _mm256_mul_epu32(_mm256_set1_epi64x(PETAL_INLINE_CAST(int64_t, hash)), four);
  __m256i numbers = _mm256_and_si256(_mm256_srlv_epi32(product, _mm256_set1_epi64x(27)), _mm256_set1_epi32(31));
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), numbers);
}

/* All ones in those of eight lanes that are among `lanes`. */
static inline __m256i petal_inline_blocked_chosen(uint32_t lanes) {
  __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(PETAL_INLINE_CAST(int32_t, lanes)), lane), lane);
}
#elif defined(PETAL_INLINE_SSE2)
/* `quarter` 0 is the lowest four lanes, 3 the highest. */
static inline __m128i petal_inline_blocked_bits(uint64_t hash, int quarter) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  __m128i two = _mm_loadu_si128(PETAL_INLINE_POINTER(const __m128i *, salts + 2 * quarter));
  __m128i product = _mm_mul_epu32(_mm_set1_epi64x(PETAL_INLINE_CAST(int64_t, hash)), two);
  __m128i even = _mm_and_si128(_mm_srli_epi32(product, 4), petal_inline_even());
  return petal_inline_powers(_mm_or_si128(even, _mm_and_si128(_mm_slli_epi32(product, 23), petal_inline_odd())));
}

/* All ones in those of four lanes that are among `lanes`. */
static inline __m128i petal_inline_blocked_chosen(uint32_t lanes) {
  __m128i lane = _mm_setr_epi32(1, 2, 4, 8);
  return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(PETAL_INLINE_CAST(int32_t, lanes)), lane), lane);
}

/* All ones in those of four lanes in which a hash has no bit. */
static inline __m128i petal_inline_blocked_missing(const uint64_t *block, uint64_t hash, int quarter) {
  __m128i words = petal_inline_load_quarter(block + 2 * quarter);
  return _mm_cmpeq_epi32(_mm_and_si128(words, petal_inline_blocked_bits(hash, quarter)), _mm_setzero_si128());
}
#elif defined(PETAL_INLINE_NEON)
/* `quarter` 0 is the lowest four lanes, 3 the highest; 0 in lanes that are not among `lanes`. */
static inline uint32x4_t petal_inline_blocked_bits(uint64_t hash, uint32_t lanes, int quarter) {
  static const uint32_t salts[8] = {PETAL_INLINE_SALTS}, lane[4] = {1, 2, 4, 8};
  static const int32_t shifts[4] = {-27, 0, -27, 0};
  uint32x2_t low = vdup_n_u32(PETAL_INLINE_CAST(uint32_t, hash & 0xffffffffu));
  uint32x4_t product = vreinterpretq_u32_u64(vmull_u32(low, vld1_u32(salts + 2 * quarter)));
  uint32x4_t numbers = vandq_u32(vshlq_u32(product, vld1q_s32(shifts)), vdupq_n_u32(31));
  uint32x4_t chosen = vtstq_u32(vdupq_n_u32(lanes >> 4 * quarter), vld1q_u32(lane));
  return petal_inline_shift(vshrq_n_u32(chosen, 31), numbers);
}
#else
static inline void petal_inline_blocked_bits(uint64_t hash, uint32_t lanes, uint64_t *bits) {
  static const uint64_t salts[8] = {PETAL_INLINE_SALTS};
  for (int i = 0; i < 8; i++) {
    uint64_t product = (hash & 0xffffffffu) * salts[i], even = lanes >> 2 * i & 1, odd = lanes >> (2 * i + 1) & 1;
    bits[i] = even << (product >> 27 & 31) | odd << 32 << (product >> 32 & 31);
  }
}
#endif

/* Whether a hash may have been inserted. The view is one of PETAL_LAYOUT_BLOCKED. */
static inline bool petal_view_blocked_contains_hash(const petal_view *view, uint64_t hash) {
  const uint64_t *block = view->words + petal_inline_blocked_start(view, hash);
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

/* Inserts a hash; true if it certainly was not there. The view is a writable one of PETAL_LAYOUT_BLOCKED. */
static inline bool petal_view_blocked_insert_hash(const petal_view *view, uint64_t hash) {
  uint64_t *block = view->writable_words + petal_inline_blocked_start(view, hash);
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

/* ---- Any layout -------------------------------------------------------------------------------------------------- */

/* The hash of a uint64_t key, for a view whose `hash` is PETAL_HASH_XXH3. */
static inline uint64_t petal_view_hash_u64(const petal_view *view, uint64_t key) {
  return petal_inline_xxh3(view->hash_flip, key);
}

/* Whether a hash may have been inserted; false is certain. Returns true if something is wrong. */
static inline bool petal_view_contains_hash(const petal_view *view, uint64_t hash) {
  if (view == NULL) return true;
  if (PETAL_INLINE_LIKELY(view->layout == PETAL_LAYOUT_BLOCKED)) return petal_view_blocked_contains_hash(view, hash);
  if (view->layout == PETAL_LAYOUT_SPLIT_BLOCK) return petal_view_split_block_contains_hash(view, hash);
  return true;
}

/* Whether a uint64_t key may have been inserted. Returns true if the filter's hash function is not XXH3. */
static inline bool petal_view_contains_u64(const petal_view *view, uint64_t key) {
  if (PETAL_INLINE_LIKELY(view != NULL && view->hash == PETAL_HASH_XXH3)) {
    return petal_view_contains_hash(view, petal_view_hash_u64(view, key));
  }
  return true;
}

/* Fetches the memory of a hash that you will soon look up or insert. In a filter that is larger than the cache, a loop
 * that fetches 16 keys ahead is about twice as fast. */
static inline void petal_view_prefetch_hash(const petal_view *view, uint64_t hash) {
#if defined(__GNUC__) && !defined(PETAL_INLINE_PORTABLE)
  if (view == NULL) return;
  bool blocked = view->layout == PETAL_LAYOUT_BLOCKED;
  if (!blocked && view->layout != PETAL_LAYOUT_SPLIT_BLOCK) return;
  size_t start = blocked ? petal_inline_blocked_start(view, hash) : petal_inline_split_block_start(view, hash);
  __builtin_prefetch(view->words + start);
  /* GCC takes a function that does nothing but prefetch for one that does nothing. */
  __asm__ volatile("" : : "r"(start));
#else
  (void)view;
  (void)hash;
#endif
}

/* Fetches the memory of a uint64_t key that you will soon look up or insert. */
static inline void petal_view_prefetch_u64(const petal_view *view, uint64_t key) {
  if (view != NULL) petal_view_prefetch_hash(view, petal_view_hash_u64(view, key));
}

/* Inserts a hash. `is_new`, nullable, becomes true if the hash certainly was not there. Returns
 * PETAL_ERR_UNSUPPORTED_BY_HANDLE if the view is not from petal_filter_view_writable(), and PETAL_ERR_UNSUPPORTED if
 * this header does not know the view's layout. */
static inline petal_status petal_view_insert_hash(const petal_view *view, uint64_t hash, bool *is_new) {
  bool fresh;
  if (view == NULL) return PETAL_ERR_NULL;
  if (view->writable_words == NULL) return PETAL_ERR_UNSUPPORTED_BY_HANDLE;
  if (PETAL_INLINE_LIKELY(view->layout == PETAL_LAYOUT_BLOCKED)) {
    fresh = petal_view_blocked_insert_hash(view, hash);
  } else if (view->layout == PETAL_LAYOUT_SPLIT_BLOCK) {
    fresh = petal_view_split_block_insert_hash(view, hash);
  } else {
    return PETAL_ERR_UNSUPPORTED;
  }
  if (is_new != NULL) *is_new = fresh;
  return PETAL_OK;
}

/* Inserts a uint64_t key. `is_new`, nullable, becomes true if the key certainly was not there. Returns the errors of
 * petal_view_insert_hash(), and PETAL_ERR_UNSUPPORTED if the filter's hash function is not XXH3. */
static inline petal_status petal_view_insert_u64(const petal_view *view, uint64_t key, bool *is_new) {
  if (view == NULL) return PETAL_ERR_NULL;
  if (view->hash != PETAL_HASH_XXH3) return PETAL_ERR_UNSUPPORTED;
  return petal_view_insert_hash(view, petal_view_hash_u64(view, key), is_new);
}

#undef PETAL_INLINE_SALTS
#undef PETAL_INLINE_CAST
#undef PETAL_INLINE_LIKELY
#undef PETAL_INLINE_POINTER

#endif  /* PETAL_INLINE_H */
