/*
 * What a parallel worker hands to the process that combines: the arguments of the aggregate, and the image of a filter
 * or the keys of a builder. These bytes never leave the query.
 */

#include "extension.h"

#include <stdlib.h>

#include <utils/memutils.h>

typedef struct prefix {
  wish wanted;
  bool is_builder;
} prefix;

/* Bytes that grow outside of PostgreSQL's memory, because a callback cannot raise its error. */
typedef struct growing {
  owned *handles;
  size_t length, room;
  bool is_too_large;
} growing;

static bool grow(void *context, const void *bytes, size_t length) {
  growing *all = context;
  if (length > MaxAllocSize - VARHDRSZ - sizeof(prefix) - all->length) {
    all->is_too_large = true;
    return false;
  }
  if (all->length + length > all->room) {
    size_t room = Max(2 * all->room, all->length + length);
    char *more = realloc(all->handles->bytes, room);
    if (!more) return false;
    all->handles->bytes = more;
    all->room = room;
  }
  memcpy(all->handles->bytes + all->length, bytes, length);
  all->length += length;
  return true;
}

static petal_status write_handle(owned *handles, growing *all, petal_error *error) {
  if (handles->filter) return petal_filter_serialize_to(handles->filter, grow, all, error);
  if (handles->builder) return petal_builder_serialize_to(handles->builder, grow, all, error);
  return petal_map_builder_serialize_to(handles->map_builder, grow, all, error);
}

bytea *partial_write(owned *handles, const wish *wanted, bool is_builder, const char *function) {
  growing all = {handles, 0, 0, false};
  petal_error error = PETAL_ERROR_INIT;
  petal_status status = write_handle(handles, &all, &error);
  if (all.is_too_large) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("%s: the keys of a parallel worker take more than a gigabyte", function),
                    errhint("Give a capacity, or set max_parallel_workers_per_gather to 0.")));
  }
  if (status == PETAL_ERR_CALLBACK) status = PETAL_ERR_OUT_OF_MEMORY;
  if (status != PETAL_OK) raise_status(function, status, status == PETAL_ERR_OUT_OF_MEMORY ? NULL : &error);
  prefix head;
  memset(&head, 0, sizeof head);
  head.wanted = *wanted;
  head.is_builder = is_builder;
  bytea *bytes = palloc(VARHDRSZ + sizeof head + all.length);
  SET_VARSIZE(bytes, VARHDRSZ + sizeof head + all.length);
  memcpy(VARDATA(bytes), &head, sizeof head);
  if (all.length > 0) memcpy(VARDATA(bytes) + sizeof head, handles->bytes, all.length);
  free(handles->bytes);
  handles->bytes = NULL;
  return bytes;
}

partial *partial_read(bytea *bytes, const char *function) {
  prefix head;
  if (VARSIZE_ANY_EXHDR(bytes) < sizeof head) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("%s: a worker's state is cut off", function)));
  }
  memcpy(&head, VARDATA_ANY(bytes), sizeof head);
  partial *state = palloc0(sizeof *state);
  state->wanted = head.wanted;
  state->is_builder = head.is_builder;
  state->bytes = VARDATA_ANY(bytes) + sizeof head;
  state->length = VARSIZE_ANY_EXHDR(bytes) - sizeof head;
  return state;
}
