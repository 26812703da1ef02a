/* FILTER POLICIES OF SORTED TABLES */
#include "check.h"

#include <stdio.h>

enum { KEYS = 200, KEY_SIZE = 24 };

static char texts[KEYS][KEY_SIZE];
static const char *keys[KEYS];
static size_t lengths[KEYS];

static void *make(petal_policy_form form, uint32_t bits_per_key) {
  void *policy = NULL;
  petal_error error = {.struct_size = sizeof error};
  petal_status status = petal_policy_new(form, bits_per_key, &policy, &error);
  check_that(status == PETAL_OK, __FILE__, __LINE__, "making a policy: %s", error.message);
  return policy;
}

/* Keys are found in filters of all sizes, others as often as the bits for each key say. */
static void filters(petal_policy_form form) {
  void *policy = make(form, 10);
  size_t wrong = 0, asked = 0;
  for (int count = 0; count <= KEYS; count += count < 10 ? 1 : 19) {
    size_t length = 0;
    char *filter = petal_policy_create_filter(policy, keys, lengths, count, &length);
    CHECK(filter != NULL && length >= 2);
    for (int i = 0; i < count; i++) CHECK(petal_policy_key_may_match(policy, keys[i], lengths[i], filter, length) == 1);
    for (int i = 0; count >= 10 && i < 3000; i++) {
      char absent[KEY_SIZE];
      int size = snprintf(absent, sizeof absent, "absent %d", i);
      wrong += petal_policy_key_may_match(policy, absent, (size_t)size, filter, length);
      asked++;
    }
    free(filter);
  }
  CHECK(asked > 0 && wrong < asked / 50);
  petal_policy_free(policy);
}

/* What cannot be made is a filter that every key matches. */
static void failures(petal_policy_form form) {
  void *policy = make(form, 10), *other = NULL;
  size_t length = 99;
  petal_error error = {.struct_size = sizeof error};
  CHECK_EQUAL(petal_policy_new(form, 0, &other, &error), PETAL_ERR_OUT_OF_RANGE);
  CHECK_EQUAL(petal_policy_new(form, 10, NULL, &error), PETAL_ERR_NULL);
  CHECK_EQUAL(petal_policy_new(99, 10, &other, NULL), PETAL_ERR_UNKNOWN_VALUE);
  CHECK(other == NULL);

  const char *missing[] = {"apple", NULL};
  const size_t sizes[] = {5, 4}, empty[] = {5, 0};
  for (int i = 0; i < 5; i++) {
    char *filter = i == 0   ? petal_policy_create_filter(NULL, keys, lengths, 3, &length)
                   : i == 1 ? petal_policy_create_filter(policy, NULL, lengths, 3, &length)
                   : i == 2 ? petal_policy_create_filter(policy, keys, NULL, 3, &length)
                   : i == 3 ? petal_policy_create_filter(policy, keys, lengths, -3, &length)
                            : petal_policy_create_filter(policy, missing, sizes, 2, &length);
    CHECK(filter != NULL && length == 2);
    CHECK(petal_policy_key_may_match(policy, "any", 3, filter, length) == 1);
    free(filter);
  }
  CHECK(petal_policy_create_filter(policy, keys, lengths, 3, NULL) == NULL);
  char *filter = petal_policy_create_filter(policy, missing, empty, 2, &length);
  CHECK(length > 2 && petal_policy_key_may_match(policy, NULL, 0, filter, length) == 1);
  free(filter);
  filter = petal_policy_create_filter(policy, NULL, NULL, 0, &length);
  CHECK(filter != NULL && length > 2);
  free(filter);

  CHECK(petal_policy_key_may_match(NULL, "any", 3, "\0\1", 2) == 1);
  CHECK(petal_policy_key_may_match(policy, NULL, 3, "\0\1", 2) == 1);
  CHECK(petal_policy_key_may_match(policy, "any", 3, NULL, 2) == 1);
  CHECK(petal_policy_name(NULL)[0] == '\0' && petal_policy_name(policy)[0] != '\0');
  petal_policy_free(policy);
  petal_policy_free(NULL);
}

int main(void) {
  for (int i = 0; i < KEYS; i++) {
    lengths[i] = (size_t)snprintf(texts[i], KEY_SIZE, "key %d", i * 7919);
    keys[i] = texts[i];
  }
  static const petal_policy_form forms[] = {PETAL_POLICY_LEVELDB, PETAL_POLICY_BLOCKED};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    filters(forms[i]);
    failures(forms[i]);
  }
  return check_done();
}
