/* Filters of Petal for LevelDB: policies for leveldb_options_set_filter_policy(), over leveldb/c.h and
 * petal_policy.h. */
#ifndef PETAL_LEVELDB_H
#define PETAL_LEVELDB_H

#include <leveldb/c.h>
#include <petal_policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A filter policy for LevelDB, of one of petal_policy.h's `PETAL_POLICY_*` with `bits_per_key` bits for each key: 10
 * give about one false positive in a hundred. NULL on a failure; `error`, nullable, then says why.
 *
 * Free it with leveldb_filterpolicy_destroy(), after all databases that were opened with it are closed. Any number of
 * databases and threads may use one.
 */
leveldb_filterpolicy_t *petal_leveldb_filterpolicy(petal_policy_form form, uint32_t bits_per_key, petal_error *error);

#ifdef __cplusplus
}
#endif

#endif
