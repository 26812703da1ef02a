/*
 * The opened value of a function's first argument, kept between rows.
 *
 * A query mostly asks one filter for many keys. The value is recognised without reading it:
 * - a value in a table's TOAST is named by its TOAST pointer, and is fetched once;
 * - another value is the same if it lies at the same address with the same length, header and checksum of its table of
 *   checksums. Even where two values had all that in common, the answer would be right, because the handle reads the
 *   bytes that are at that address now.
 */

#include "extension.h"

#include <access/detoast.h>
#include <utils/memutils.h>

#define HEADER_BYTES 256
#define TAIL_BYTES 8

struct opened {
  owned *handles;
  MemoryContext context;
  Oid key_type;
  /* The TOAST pointer of the value, if `copy` came from one. */
  struct varatt_external toast;
  bool is_toasted;
  /* A copy of the value in `context`, which the handle is over. */
  petal_value *copy;
  /* Otherwise the caller's value, which the handle is over. */
  const char *image;
  size_t length;
  char header[HEADER_BYTES];
  char tail[TAIL_BYTES];
};

opened *opened_of(FunctionCallInfo call) {
  opened *place = call->flinfo->fn_extra;
  if (!place) {
    MemoryContext context = call->flinfo->fn_mcxt;
    place = MemoryContextAllocZero(context, sizeof *place);
    place->context = context;
    place->handles = owned_new(context);
    call->flinfo->fn_extra = place;
  }
  return place;
}

Oid opened_key_type(opened *place, FunctionCallInfo call, const char *function) {
  if (!OidIsValid(place->key_type)) place->key_type = key_type_of(call, 1, function);
  return place->key_type;
}

static void forget(opened *place) {
  owned_close(place->handles);
  if (place->copy) pfree(place->copy);
  place->copy = NULL;
  place->image = NULL;
  place->is_toasted = false;
}

static bool is_same(const opened *place, const char *image, size_t length) {
  return place->image == image && place->length == length && memcmp(place->header, image, HEADER_BYTES) == 0 &&
         memcmp(place->tail, image + length - TAIL_BYTES, TAIL_BYTES) == 0;
}

/* Finds the image of argument 0. True if the handle that is open is over it. */
static bool find_value(opened *place, FunctionCallInfo call, const char *function, char **image, size_t *length) {
  struct varlena *datum = (struct varlena *)DatumGetPointer(call->args[0].value);
  struct varatt_external toast;
  bool is_toasted = VARATT_IS_EXTERNAL_ONDISK(datum);
  if (is_toasted) {
    VARATT_EXTERNAL_GET_POINTER(toast, datum);
    if (place->is_toasted && memcmp(&place->toast, &toast, sizeof toast) == 0) return true;
    forget(place);
  } else if (!VARATT_IS_EXTENDED(datum) && ((uintptr_t)datum & 7) == 0 &&
             VARSIZE(datum) >= IMAGE_OFFSET + LEAST_IMAGE) {
    *image = ((petal_value *)datum)->image;
    *length = VARSIZE(datum) - IMAGE_OFFSET;
    if (is_same(place, *image, *length)) return true;
    forget(place);
    place->image = *image;
    place->length = *length;
    memcpy(place->header, *image, HEADER_BYTES);
    memcpy(place->tail, *image + *length - TAIL_BYTES, TAIL_BYTES);
    return false;
  } else {
    forget(place);
  }
  MemoryContext before = MemoryContextSwitchTo(place->context);
  place->copy = (petal_value *)PG_DETOAST_DATUM_COPY(PointerGetDatum(datum));
  MemoryContextSwitchTo(before);
  check_value(place->copy, function);
  if (is_toasted) {
    place->toast = toast;
    place->is_toasted = true;
  }
  *image = place->copy->image;
  *length = VARSIZE(place->copy) - IMAGE_OFFSET;
  return false;
}

const petal_filter *opened_filter(opened *place, FunctionCallInfo call, const char *function) {
  char *image;
  size_t length;
  if (!find_value(place, call, function, &image, &length)) {
    petal_error error = PETAL_ERROR_INIT;
    petal_status status = petal_filter_open_in_buffer(image, length, NULL, &place->handles->filter, &error);
    if (status != PETAL_OK) {
      forget(place);
      raise_status(function, status, &error);
    }
  }
  return place->handles->filter;
}

const petal_map *opened_map(opened *place, FunctionCallInfo call, const char *function) {
  char *image;
  size_t length;
  if (!find_value(place, call, function, &image, &length)) {
    petal_error error = PETAL_ERROR_INIT;
    petal_status status = petal_map_open_in_buffer(image, length, NULL, &place->handles->map, &error);
    if (status != PETAL_OK) {
      forget(place);
      raise_status(function, status, &error);
    }
  }
  return place->handles->map;
}
