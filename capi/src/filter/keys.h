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
