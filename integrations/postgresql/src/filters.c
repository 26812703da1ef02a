/* The functions of filters: petal_contains() and the operator @>, petal_count(), petal_estimate(), petal_merge(). */

#include "extension.h"

PG_FUNCTION_INFO_V1(petal_sql_contains);
PG_FUNCTION_INFO_V1(petal_sql_count);
PG_FUNCTION_INFO_V1(petal_sql_estimate);
PG_FUNCTION_INFO_V1(petal_sql_merge);

/* A call for a single key gives a status without a message. The same question as a batch of one has the message. */
static void raise_single(const char *function, petal_status status, const petal_filter *filter, sql_key key,
                         bool counts) {
  petal_error error = PETAL_ERROR_INIT;
  uint64 offsets[2] = {0, key.length}, count = 0;
  uint8 found = 0;
  petal_answers answers = PETAL_ANSWERS_INIT;
  petal_keys keys = key.is_number ? petal_keys_u64(&key.number, 1)
                                  : petal_keys_bytes(key.bytes, key.length, offsets, 1);
  if (counts) answers.counts = &count;
  answers.bytes = &found;
  if (counts)
    petal_filter_count_batch(filter, &keys, &answers, &error);
  else
    petal_filter_contains_batch(filter, &keys, &answers, &error);
  raise_status(function, status, &error);
}

/* petal_contains(filter, key): whether the key may be in the filter; false is certain. */
Datum petal_sql_contains(PG_FUNCTION_ARGS) {
  opened *place = opened_of(fcinfo);
  Oid type = opened_key_type(place, fcinfo, "petal_contains");
  sql_key key = key_of(PG_GETARG_DATUM(1), type, "petal_contains");
  const petal_filter *filter = opened_filter(place, fcinfo, "petal_contains");
  bool found = true;
  petal_status status = key.is_number ? petal_filter_contains_checked_u64(filter, key.number, &found)
                                      : petal_filter_contains_checked(filter, key.bytes, key.length, &found);
  if (status != PETAL_OK) raise_single("petal_contains", status, filter, key, false);
  PG_RETURN_BOOL(found);
}

/* petal_count(filter, key): how often the key was inserted, for kinds that count. */
Datum petal_sql_count(PG_FUNCTION_ARGS) {
  opened *place = opened_of(fcinfo);
  Oid type = opened_key_type(place, fcinfo, "petal_count");
  sql_key key = key_of(PG_GETARG_DATUM(1), type, "petal_count");
  const petal_filter *filter = opened_filter(place, fcinfo, "petal_count");
  uint64 count = 0;
  petal_status status = key.is_number ? petal_filter_count_u64(filter, key.number, &count)
                                      : petal_filter_count(filter, key.bytes, key.length, &count);
  if (status != PETAL_OK) raise_single("petal_count", status, filter, key, true);
  PG_RETURN_INT64((int64)Min(count, (uint64)PG_INT64_MAX));
}

/* petal_estimate(filter): how many distinct keys the filter holds; NULL if it is too full to tell. */
Datum petal_sql_estimate(PG_FUNCTION_ARGS) {
  const petal_filter *filter = opened_filter(opened_of(fcinfo), fcinfo, "petal_estimate");
  petal_error error = PETAL_ERROR_INIT;
  petal_filter_estimate estimate;
  petal_status status = petal_filter_get_estimate(filter, &estimate, &error);
  if (status != PETAL_OK) raise_status("petal_estimate", status, &error);
  if (estimate.saturated) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(estimate.value);
}

/* petal_merge(filter, filter): the union of both. */
Datum petal_sql_merge(PG_FUNCTION_ARGS) {
  const petal_filter *first = opened_filter(opened_of(fcinfo), fcinfo, "petal_merge");
  petal_value *second = value_of_argument(fcinfo, 1, "petal_merge");
  owned *handles = owned_new(CurrentMemoryContext);
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = petal_filter_copy(first, &handles->filter, &error);
  if (status == PETAL_OK) {
    petal_filter *other = NULL;
    status = petal_filter_load(second->image, VARSIZE(second) - IMAGE_OFFSET, NULL, &other, &error);
    if (status == PETAL_OK) status = petal_filter_merge(handles->filter, other, &error);
    petal_filter_free(other);
  }
  if (status != PETAL_OK) raise_status("petal_merge", status, &error);
  petal_value *value = value_of_filter("petal_merge", handles->filter);
  owned_close(handles);
  PG_RETURN_POINTER(value);
}
