#include "petal_leveldb.h"

leveldb_filterpolicy_t *petal_leveldb_filterpolicy(petal_policy_form form, uint32_t bits_per_key, petal_error *error) {
  void *policy;
  if (petal_policy_new(form, bits_per_key, &policy, error) != PETAL_OK) return NULL;
  return leveldb_filterpolicy_create(policy, petal_policy_free, petal_policy_create_filter, petal_policy_key_may_match,
                                     petal_policy_name);
}
