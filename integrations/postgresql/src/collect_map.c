/* petal_build_map(): a map of the keys of a group to their values. */

#include "extension.h"

#include <miscadmin.h>

#define FUNCTION "petal_build_map"

/* Where the arguments of the transition function are, after the state, the key and the value. */
#define RATE (PG_NARGS() > 3 ? 3 : -1)
#define KIND (PG_NARGS() > 4 ? 4 : -1)

typedef struct collected_map {
  owned *handles;
  wish wanted;
  Oid key_type;
} collected_map;

PG_FUNCTION_INFO_V1(petal_sql_map_transition);
PG_FUNCTION_INFO_V1(petal_sql_map_final);
PG_FUNCTION_INFO_V1(petal_sql_map_combine);
PG_FUNCTION_INFO_V1(petal_sql_map_serialize);
PG_FUNCTION_INFO_V1(petal_sql_map_deserialize);

static collected_map *collected_new(MemoryContext context, const wish *wanted) {
  petal_spec spec = wish_spec(wanted, PETAL_HANDLE_MAP, FUNCTION);
  petal_builder_options options = builder_options();
  petal_error error = PETAL_ERROR_INIT;
  collected_map *state = MemoryContextAllocZero(context, sizeof *state);
  state->handles = owned_new(context);
  state->wanted = *wanted;
  petal_status status = petal_map_builder_new(&spec, &options, &state->handles->map_builder, &error);
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  return state;
}

/* A key without a value would be no key of a map, so such a row is skipped too. */
Datum petal_sql_map_transition(PG_FUNCTION_ARGS) {
  MemoryContext context = aggregate_context(fcinfo, FUNCTION);
  collected_map *state = PG_ARGISNULL(0) ? NULL : (collected_map *)PG_GETARG_POINTER(0);
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  int64 value = PG_GETARG_INT64(2);
  if (value < 0) {
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("%s: value is " INT64_FORMAT ", and must be 0 or more", FUNCTION, value)));
  }
  if (!state) {
    wish wanted = wish_of(fcinfo, FUNCTION, -1, RATE, KIND);
    Oid type = key_type_of(fcinfo, 1, FUNCTION);
    state = collected_new(context, &wanted);
    state->key_type = type;
  } else if (PG_NARGS() > 3) {
    wish_check(&state->wanted, fcinfo, FUNCTION, -1, RATE, KIND);
  }
  sql_key key = key_of(PG_GETARG_DATUM(1), state->key_type, FUNCTION);
  uint64 number = (uint64)value, offsets[2] = {0, key.length};
  petal_map_builder *builder = state->handles->map_builder;
  petal_status status = key.is_number ? petal_map_builder_put_u64(builder, key.number, number)
                                      : petal_map_builder_put(builder, key.bytes, key.length, number);
  if (status != PETAL_OK) {
    /* The key was not taken. As a batch of one it is refused with a message. */
    petal_error error = PETAL_ERROR_INIT;
    petal_keys keys = key.is_number ? petal_keys_u64(&key.number, 1)
                                    : petal_keys_bytes(key.bytes, key.length, offsets, 1);
    status = petal_map_builder_put_batch(builder, &keys, &number, NULL, &error);
    if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  }
  PG_RETURN_POINTER(state);
}

/* Ends at a cancelled query. The keys stay in the builder, so that the work begins again if the query goes on. */
static void finish_builder(collected_map *state) {
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  do {
    status = petal_map_builder_finish(state->handles->map_builder, &state->handles->map, &error);
    CHECK_FOR_INTERRUPTS();
  } while (status == PETAL_ERR_CANCELLED);
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  petal_map_builder_free(state->handles->map_builder);
  state->handles->map_builder = NULL;
}

/* The map stays, because a hash table of groups that is read again asks for each result again. */
Datum petal_sql_map_final(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  collected_map *state = (collected_map *)PG_GETARG_POINTER(0);
  if (state->handles->map_builder) finish_builder(state);
  PG_RETURN_POINTER(value_of_map(FUNCTION, state->handles->map));
}

Datum petal_sql_map_serialize(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  collected_map *state = (collected_map *)PG_GETARG_POINTER(0);
  PG_RETURN_BYTEA_P(partial_write(state->handles, &state->wanted, true, FUNCTION));
}

Datum petal_sql_map_deserialize(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  PG_RETURN_POINTER(partial_read(PG_GETARG_BYTEA_PP(0), FUNCTION));
}

Datum petal_sql_map_combine(PG_FUNCTION_ARGS) {
  MemoryContext context = aggregate_context(fcinfo, FUNCTION);
  collected_map *state = PG_ARGISNULL(0) ? NULL : (collected_map *)PG_GETARG_POINTER(0);
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  partial *other = (partial *)PG_GETARG_POINTER(1);
  if (state)
    wish_check_partial(&state->wanted, &other->wanted, FUNCTION);
  else
    state = collected_new(context, &other->wanted);
  petal_error error = PETAL_ERROR_INIT;
  petal_status status =
    petal_map_builder_merge(state->handles->map_builder, other->bytes, other->length, &error);
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  PG_RETURN_POINTER(state);
}
