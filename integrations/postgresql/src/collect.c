/*
 * petal_agg(): a filter of the keys of a group.
 *
 * With a capacity and a kind that starts empty and merges, keys go into the filter itself, numbers by the batch.
 * Otherwise a builder keeps 8 or 16 bytes a key until the last one, and then makes a filter for exactly these.
 */

#include "extension.h"

#include <miscadmin.h>

#define FUNCTION "petal_agg"
/* As many as keep the state of a group within 2048 bytes: PostgreSQL hands out powers of two. */
#define BATCH 240

/* Where the arguments of the transition function are, after the state and the key. */
#define CAPACITY (PG_NARGS() > 2 ? 2 : -1)
#define RATE (PG_NARGS() > 3 ? 3 : -1)
#define KIND (PG_NARGS() > 4 ? 4 : -1)

typedef struct collected {
  owned *handles;
  wish wanted;
  Oid key_type;
  /* Numbers, or hashes of bytes, that the filter or builder does not have yet. All keys of a group have one type. */
  bool are_hashes;
  size_t count;
  uint64 numbers[BATCH];
} collected;

StaticAssertDecl(sizeof(collected) <= 2048, "the state of a group takes twice as much memory");

PG_FUNCTION_INFO_V1(petal_sql_agg_transition);
PG_FUNCTION_INFO_V1(petal_sql_agg_final);
PG_FUNCTION_INFO_V1(petal_sql_agg_combine);
PG_FUNCTION_INFO_V1(petal_sql_agg_serialize);
PG_FUNCTION_INFO_V1(petal_sql_agg_deserialize);

static bool is_filled_directly(const wish *wanted, const petal_spec *spec) {
  const uint64 needed = PETAL_CAN_INSERT | PETAL_CAN_MERGE;
  if (!wanted->has_capacity || wanted->capacity == 0) return false;
  if (!wanted->has_kind) return true;
  petal_kind_info info = PETAL_KIND_INFO_INIT;
  return petal_kind_find(wanted->kind, &info, NULL) == PETAL_OK && (info.capabilities & needed) == needed;
}

static collected *collected_new(MemoryContext context, const wish *wanted) {
  petal_spec spec = wish_spec(wanted, PETAL_HANDLE_FILTER, FUNCTION);
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  collected *state = MemoryContextAllocZero(context, sizeof *state);
  state->handles = owned_new(context);
  state->wanted = *wanted;
  if (is_filled_directly(wanted, &spec)) {
    uint64 size = 0;
    status = petal_spec_image_size(&spec, &size, &error);
    if (status == PETAL_OK) {
      check_image_size(FUNCTION, size);
      status = petal_filter_new(&spec, &state->handles->filter, &error);
    }
  } else {
    petal_builder_options options = builder_options();
    status = petal_builder_new(&spec, &options, &state->handles->builder, &error);
  }
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  return state;
}

static void add_batch(collected *state, const petal_keys *keys) {
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = state->handles->filter
                          ? petal_filter_insert_batch(state->handles->filter, keys, NULL, &error)
                          : petal_builder_add_batch(state->handles->builder, keys, NULL, &error);
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
}

static void add_numbers(collected *state) {
  petal_keys keys = state->are_hashes ? petal_keys_hashes(state->numbers, state->count)
                                      : petal_keys_u64(state->numbers, state->count);
  state->count = 0;
  if (keys.count > 0) add_batch(state, &keys);
}

static void add_number(collected *state, uint64 number) {
  state->numbers[state->count++] = number;
  if (state->count == BATCH) add_numbers(state);
}

/* A batch of hashes fetches the next keys' cache lines from a filter in advance. A builder only notes them. */
static void add_bytes(collected *state, const char *bytes, size_t length) {
  uint64_t hash;
  if (state->handles->filter && petal_filter_hash(state->handles->filter, bytes, length, &hash) == PETAL_OK) {
    state->are_hashes = true;
    add_number(state, hash);
    return;
  }
  petal_status status = state->handles->filter
                          ? petal_filter_insert(state->handles->filter, bytes, length, NULL)
                          : petal_builder_add(state->handles->builder, bytes, length);
  if (status == PETAL_OK) return;
  /* The key was not taken. As a batch of one it is refused with a message. */
  uint64 offsets[2] = {0, length};
  petal_keys keys = petal_keys_bytes(bytes, length, offsets, 1);
  add_batch(state, &keys);
}

/* State, key and the arguments; a NULL key changes nothing. */
Datum petal_sql_agg_transition(PG_FUNCTION_ARGS) {
  MemoryContext context = aggregate_context(fcinfo, FUNCTION);
  collected *state = PG_ARGISNULL(0) ? NULL : (collected *)PG_GETARG_POINTER(0);
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  if (!state) {
    wish wanted = wish_of(fcinfo, FUNCTION, CAPACITY, RATE, KIND);
    Oid type = key_type_of(fcinfo, 1, FUNCTION);
    state = collected_new(context, &wanted);
    state->key_type = type;
  } else {
    if (PG_NARGS() > 2) wish_check(&state->wanted, fcinfo, FUNCTION, CAPACITY, RATE, KIND);
    /* A state that came from workers has not seen a key here. */
    if (!OidIsValid(state->key_type)) state->key_type = key_type_of(fcinfo, 1, FUNCTION);
  }
  sql_key key = key_of(PG_GETARG_DATUM(1), state->key_type, FUNCTION);
  if (key.is_number) {
    add_number(state, key.number);
  } else {
    add_bytes(state, key.bytes, key.length);
  }
  PG_RETURN_POINTER(state);
}

/* Ends at a cancelled query. The keys stay in the builder, so that the work begins again if the query goes on. */
static void finish_builder(collected *state) {
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  do {
    status = petal_builder_finish(state->handles->builder, &state->handles->filter, &error);
    CHECK_FOR_INTERRUPTS();
  } while (status == PETAL_ERR_CANCELLED);
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  petal_builder_free(state->handles->builder);
  state->handles->builder = NULL;
}

/* The filter stays, because a hash table of groups that is read again asks for each result again. */
Datum petal_sql_agg_final(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  collected *state = (collected *)PG_GETARG_POINTER(0);
  add_numbers(state);
  if (state->handles->builder) finish_builder(state);
  PG_RETURN_POINTER(value_of_filter(FUNCTION, state->handles->filter));
}

Datum petal_sql_agg_serialize(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  collected *state = (collected *)PG_GETARG_POINTER(0);
  add_numbers(state);
  PG_RETURN_BYTEA_P(partial_write(state->handles, &state->wanted, state->handles->builder != NULL, FUNCTION));
}

Datum petal_sql_agg_deserialize(PG_FUNCTION_ARGS) {
  (void)aggregate_context(fcinfo, FUNCTION);
  PG_RETURN_POINTER(partial_read(PG_GETARG_BYTEA_PP(0), FUNCTION));
}

/* The state of the leader, and what a worker handed over. */
Datum petal_sql_agg_combine(PG_FUNCTION_ARGS) {
  MemoryContext context = aggregate_context(fcinfo, FUNCTION);
  collected *state = PG_ARGISNULL(0) ? NULL : (collected *)PG_GETARG_POINTER(0);
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  partial *other = (partial *)PG_GETARG_POINTER(1);
  if (state)
    wish_check_partial(&state->wanted, &other->wanted, FUNCTION);
  else
    state = collected_new(context, &other->wanted);
  add_numbers(state);
  petal_error error = PETAL_ERROR_INIT;
  petal_status status;
  if (other->is_builder) {
    status = petal_builder_merge(state->handles->builder, other->bytes, other->length, &error);
  } else {
    petal_filter *filter = NULL;
    status = petal_filter_load(other->bytes, other->length, NULL, &filter, &error);
    if (status == PETAL_OK) status = petal_filter_merge(state->handles->filter, filter, &error);
    petal_filter_free(filter);
  }
  if (status != PETAL_OK) raise_status(FUNCTION, status, &error);
  PG_RETURN_POINTER(state);
}
