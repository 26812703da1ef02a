/* FILTERS: ONE KEY */
#include "check.h"

static const uint8_t secret[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static petal_filter *make(petal_kind kind, petal_hash_function hash) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .hash = hash, .capacity = 2000};
  if (hash == PETAL_HASH_SIPHASH13) memcpy(spec.secret, secret, sizeof secret);
  return check_filled(&spec, 0, 0);
}

/* The three ways to ask, and the three to ask with a status, agree; so do bytes, number and hash. */
static bool contains(const petal_filter *filter, uint64_t key) {
  unsigned char bytes[8];
  for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(key >> 8 * i);
  uint64_t hash = 0, hash_u64 = 1;
  CHECK_OK(petal_filter_hash(filter, bytes, 8, &hash));
  CHECK_OK(petal_filter_hash(filter, NUMBER(key), &hash_u64));
  CHECK_EQUAL(hash, hash_u64);

  bool answer = petal_filter_contains_u64(filter, key);
  bool a = !answer, b = !answer, c = !answer;
  CHECK(petal_filter_contains(filter, bytes, 8) == answer);
  CHECK(petal_filter_contains_hash(filter, hash) == answer);
  CHECK_OK(petal_filter_contains_checked(filter, bytes, 8, &a));
  CHECK_OK(petal_filter_contains_checked_u64(filter, key, &b));
  CHECK_OK(petal_filter_contains_checked_hash(filter, hash, &c));
  CHECK(a == answer && b == answer && c == answer);
  return answer;
}

/* How many keys a filter gets: 1500, and fewer under slow tools. */
static uint64_t key_count(void) { return 90 + check_scaled(1410); }

/* Whether twice as many other keys may have this many false positives at the promised 1 %: at most 4.5 standard
   deviations above the mean. */
static bool is_few_of_others(unsigned false_positives) {
  double mean = 0.02 * (double)key_count(), above = (double)false_positives - mean;
  return above <= 0 || above * above <= 4.5 * 4.5 * mean;
}

/* A third of the keys goes in as bytes, a third as numbers, a third as hashes: all are found, and it is one filter. */
static void key_forms_agree(petal_kind kind, petal_hash_function hash) {
  const uint64_t keys = key_count();
  petal_filter *mixed = make(kind, hash), *plain = make(kind, hash);
  for (uint64_t i = 0; i < keys; i++) {
    uint64_t key = check_key(i), hashed = 0;
    unsigned char bytes[8];
    for (unsigned b = 0; b < 8; b++) bytes[b] = (unsigned char)(key >> 8 * b);
    CHECK_OK(petal_filter_hash(mixed, NUMBER(key), &hashed));
    if (i % 3 == 0) CHECK_OK(petal_filter_insert(mixed, bytes, 8, NULL));
    if (i % 3 == 1) CHECK_OK(petal_filter_insert_u64(mixed, key, NULL));
    if (i % 3 == 2) CHECK_OK(petal_filter_insert_hash(mixed, hashed, NULL));
    CHECK_OK(petal_filter_insert_u64(plain, key, NULL));
  }
  CHECK(check_same_bits(mixed, plain));
  unsigned false_positives = 0;
  for (uint64_t i = 0; i < keys; i++) (void)contains(mixed, check_key(i));
  CHECK(check_holds(mixed, 0, keys));
  for (uint64_t i = keys; i < 3 * keys; i++) false_positives += contains(mixed, check_key(i));
  CHECK(is_few_of_others(false_positives));
  petal_filter_free(mixed);
  petal_filter_free(plain);
}

/* The same of what a builder makes. */
static void key_forms_agree_when_built(petal_kind kind) {
  const uint64_t keys = key_count();
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind, .capacity = keys};
  petal_filter *plain = check_filled(&spec, 0, keys), *mixed = NULL;
  petal_builder *builder = NULL;
  CHECK_OK(petal_builder_new(&spec, NULL, &builder, NULL));
  for (uint64_t i = 0; i < keys; i++) {
    uint64_t key = check_key(i), hashed = 0;
    unsigned char bytes[8];
    for (unsigned b = 0; b < 8; b++) bytes[b] = (unsigned char)(key >> 8 * b);
    CHECK_OK(petal_spec_hash(&spec, NUMBER(key), &hashed, NULL));
    if (i % 3 == 0) CHECK_OK(petal_builder_add(builder, bytes, 8));
    if (i % 3 == 1) CHECK_OK(petal_builder_add_u64(builder, key));
    if (i % 3 == 2) CHECK_OK(petal_builder_add_hash(builder, hashed));
  }
  CHECK_OK(petal_builder_finish(builder, &mixed, NULL));
  if (check_has(kind, PETAL_IS_CANONICAL)) CHECK(check_same_bits(mixed, plain));
  unsigned false_positives = 0;
  for (uint64_t i = 0; i < keys; i++) (void)contains(mixed, check_key(i));
  CHECK(check_holds(mixed, 0, keys));
  for (uint64_t i = keys; i < 3 * keys; i++) false_positives += contains(mixed, check_key(i));
  CHECK(is_few_of_others(false_positives));
  petal_builder_free(builder);
  petal_filter_free(mixed);
  petal_filter_free(plain);
}

/* A kind that takes no keys says so of each form, and stays as it is. */
static void insertions_are_refused(petal_kind kind) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = kind};
  petal_filter *filter = check_filled(&spec, 0, 100);
  check_image image = check_take_image(filter);
  bool is_new = true;
  CHECK_STATUS(petal_filter_insert(filter, "a", 1, &is_new), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_insert_u64(filter, 1, &is_new), PETAL_ERR_UNSUPPORTED);
  CHECK_STATUS(petal_filter_insert_hash(filter, 1, &is_new), PETAL_ERR_UNSUPPORTED);
  CHECK(is_new && check_same_image(filter, image));
  free(image.bytes);
  petal_filter_free(filter);
}

/* "New" is certain: the key was not found before. Otherwise it was. */
static void new_means_not_there(petal_kind kind) {
  petal_filter *filter = make(kind, PETAL_HASH_XXH3);
  unsigned new_keys = 0, refused = 0;
  const petal_overfill overfill = check_kind_info(kind).overfill;
  const bool forgets = overfill == PETAL_OVERFILL_FORGETS, refuses_copies = check_refuses_copies(kind);
  for (uint64_t i = 0; i < 4000; i++) {
    uint64_t key = check_key(i % 3000);
    bool before = petal_filter_contains_u64(filter, key), is_new = before;
    petal_status status = petal_filter_insert_u64(filter, key, &is_new);
    /* More keys than its capacity: a table may refuse those that are new, or take places. */
    bool may_refuse = !before || refuses_copies;
    if (status == PETAL_ERR_FULL && may_refuse && overfill == PETAL_OVERFILL_REFUSES) {
      refused++;
      continue;
    }
    CHECK_OK(status);
    CHECK(is_new == !before);
    new_keys += is_new;
    if (i >= 3000) CHECK(!is_new || forgets);
  }
  /* In a table that is full every key seems to be there. */
  CHECK((new_keys > 2800 || refused != 0) && (new_keys <= 3000 || forgets));
  CHECK_EQUAL(check_keys(filter), 4000 - refused);
  petal_filter_free(filter);
}

/* Keys of every length, the empty one included, which NULL also names. */
static void lengths(petal_kind kind) {
  petal_filter *filter = make(kind, PETAL_HASH_XXH3);
  unsigned char key[1000];
  for (size_t i = 0; i < sizeof key; i++) key[i] = (unsigned char)(i * 7);
  for (size_t length = 0; length <= sizeof key; length++) {
    CHECK_OK(petal_filter_insert(filter, key, length, NULL));
    CHECK(petal_filter_contains(filter, key, length));
  }
  CHECK(petal_filter_contains(filter, NULL, 0));
  petal_filter_free(filter);

  filter = make(kind, PETAL_HASH_XXH3);
  bool is_new = false;
  CHECK(!petal_filter_contains(filter, "", 0));
  CHECK_OK(petal_filter_insert(filter, NULL, 0, &is_new));
  CHECK(is_new && petal_filter_contains(filter, "", 0));
  petal_filter_free(filter);
}

/* Every derivation and layout of the classic filter finds what was inserted. */
static void bloom_layouts(void) {
  for (int derivation = 0; derivation < 6; derivation++) {
    for (int partitioned = 0; partitioned < 2; partitioned++) {
      petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_BLOOM, .capacity = 2000};
      CHECK_OK(petal_spec_set(&spec, "derivation", derivation, NULL));
      CHECK_OK(petal_spec_set(&spec, "partitioned", partitioned, NULL));
      petal_filter *filter = NULL;
      CHECK_OK(petal_filter_new(&spec, &filter, NULL));
      unsigned false_positives = 0;
      for (uint64_t i = 0; i < 2000; i++) CHECK_OK(petal_filter_insert_u64(filter, i, NULL));
      for (uint64_t i = 0; i < 2000; i++) CHECK(petal_filter_contains_u64(filter, i));
      for (uint64_t i = 2000; i < 12000; i++) false_positives += petal_filter_contains_u64(filter, i);
      /* 100 + 4.5 standard deviations, and a little for the historic derivations. */
      CHECK(false_positives < 160);
      petal_filter_free(filter);
    }
  }
}

/* Any failure of a lookup says true, and the checked form says why. */
static void failures_say_true(petal_kind kind) {
  petal_filter *external = make(kind, PETAL_HASH_EXTERNAL);
  bool found = false, is_new = false;
  CHECK(petal_filter_contains(NULL, "a", 1) && petal_filter_contains_u64(NULL, 1));
  CHECK(petal_filter_contains_hash(NULL, 1) && petal_filter_contains(external, "a", 1));
  CHECK(petal_filter_contains_u64(external, 1) && !petal_filter_contains_hash(external, 1));
  CHECK_STATUS(petal_filter_contains_checked(external, "a", 1, &found), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_filter_contains_checked_u64(external, 1, &found), PETAL_ERR_EXTERNAL_HASH);
  CHECK_OK(petal_filter_contains_checked_hash(external, 1, &found));
  CHECK_STATUS(petal_filter_insert(external, "a", 1, &is_new), PETAL_ERR_EXTERNAL_HASH);
  CHECK_STATUS(petal_filter_insert_u64(external, 1, &is_new), PETAL_ERR_EXTERNAL_HASH);
  CHECK(!found && !is_new && check_keys(external) == 0);
  CHECK_OK(petal_filter_insert_hash(external, 1, &is_new));
  CHECK(is_new && petal_filter_contains_hash(external, 1));
  petal_filter_free(external);

  petal_filter *filter = make(kind, PETAL_HASH_XXH3);
  CHECK(petal_filter_contains(filter, NULL, 1));
  CHECK(petal_filter_contains(filter, "a", SIZE_MAX));
  CHECK_STATUS(petal_filter_contains_checked(filter, "a", SIZE_MAX, &found), PETAL_ERR_TOO_LARGE);
  CHECK_STATUS(petal_filter_insert(filter, "a", SIZE_MAX, &is_new), PETAL_ERR_TOO_LARGE);
  CHECK_EQUAL(check_keys(filter), 0);
  petal_filter_free(filter);
}

int main(void) {
  for (size_t k = 0; k < check_kind_count(); k++) {
    petal_kind kind = check_kind(k);
    key_forms_agree_when_built(kind);
    if (!check_can(kind, PETAL_CAN_INSERT)) {
      insertions_are_refused(kind);
      continue;
    }
    key_forms_agree(kind, PETAL_HASH_XXH3);
    key_forms_agree(kind, PETAL_HASH_XXH64);
    key_forms_agree(kind, PETAL_HASH_SIPHASH13);
    new_means_not_there(kind);
    lengths(kind);
    failures_say_true(kind);
  }
  bloom_layouts();
  return check_done();
}
