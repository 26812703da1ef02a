/* petal_merge_agg(): the union of the filters of a group. */

#include "extension.h"

#define FUNCTION "petal_merge_agg"

PG_FUNCTION_INFO_V1(petal_sql_merge_transition);
PG_FUNCTION_INFO_V1(petal_sql_merge_final);
PG_FUNCTION_INFO_V1(petal_sql_merge_combine);
PG_FUNCTION_INFO_V1(petal_sql_merge_serialize);
PG_FUNCTION_INFO_V1(petal_sql_merge_deserialize);

/* Makes the first filter the state, and merges the others into it. */
static owned *merged(MemoryContext context, owned *state, const char *image, size_t length) {
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  if (!state) {
    state = owned_new(context);
    status = petal_filter_load(image, length, NULL, &state->filter, &error);
  } else {
    petal_filter *other = NULL;
    status = petal_filter_load(image, length, NULL, &other, &error);
    if (status == PETAL_OK) status = petal_filter_merge(state->filter, other, &error);
    petal_filter_free(other);
  }
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  return state;
}

Datum petal_sql_merge_transition(PG_FUNCTION_ARGS) {
  MemoryContext context = aggregate_context(fcinfo, FUNCTION);
  owned *state = PG_ARGISNULL(0) ? NULL : (owned *)PG_GETARG_POINTER(0);
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  petal_value *value = value_of_argument(fcinfo, 1, FUNCTION);
  PG_RETURN_POINTER(merged(context, state, value->image, VARSIZE(value) - IMAGE_OFFSET));
}

Datum petal_sql_merge_final(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  owned *state = (owned *)PG_GETARG_POINTER(0);
  PG_RETURN_POINTER(value_of_filter(FUNCTION, state->filter));
}

Datum petal_sql_merge_serialize(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  owned *state = (owned *)PG_GETARG_POINTER(0);
  wish nothing;
  memset(&nothing, 0, sizeof nothing);
  PG_RETURN_BYTEA_P(partial_write(state, &nothing, false, FUNCTION));
}

Datum petal_sql_merge_deserialize(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  PG_RETURN_POINTER(partial_read(PG_GETARG_BYTEA_PP(0), FUNCTION));
}

Datum petal_sql_merge_combine(PG_FUNCTION_ARGS) {
  MemoryContext context = aggregate_context(fcinfo, FUNCTION);
  owned *state = PG_ARGISNULL(0) ? NULL : (owned *)PG_GETARG_POINTER(0);
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  partial *other = (partial *)PG_GETARG_POINTER(1);
  PG_RETURN_POINTER(merged(context, state, other->bytes, other->length));
}
