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

/* A join may ask several filters by turns for each row, so that many values stay open, */
#define SLOTS 4
/* but only one if their copies have more bytes than this together. */
#define MOST_COPIED (64u << 20)

typedef struct slot {
  owned *handles;
  /* The TOAST pointer of the value, if `copy` came from one. */
  struct varatt_external toast;
  bool is_toasted;
  /* A copy of the value, which the handle is over. */
  petal_value *copy;
  /* Otherwise the caller's value, which the handle is over. */
  const char *image;
  size_t length;
  char header[HEADER_BYTES];
  char tail[TAIL_BYTES];
} slot;

struct opened {
  MemoryContext context;
  Oid key_type;
  slot slots[SLOTS];
  /* The slot that was asked last, and the one that the next value takes. */
  int last, next;
};

opened *opened_of(FunctionCallInfo call) {
  opened *place = call->flinfo->fn_extra;
  if (!place) {
    MemoryContext context = call->flinfo->fn_mcxt;
    place = MemoryContextAllocZero(context, sizeof *place);
    place->context = context;
    call->flinfo->fn_extra = place;
  }
  return place;
}

Oid opened_key_type(opened *place, FunctionCallInfo call, const char *function) {
  if (!OidIsValid(place->key_type)) place->key_type = key_type_of(call, 1, function);
  return place->key_type;
}

static void forget(slot *slot) {
  if (slot->handles) owned_close(slot->handles);
  if (slot->copy) pfree(slot->copy);
  slot->copy = NULL;
  slot->image = NULL;
  slot->is_toasted = false;
}

static bool is_at(const slot *slot, const char *image, size_t length) {
  return slot->image == image && slot->length == length && memcmp(slot->header, image, HEADER_BYTES) == 0 &&
         memcmp(slot->tail, image + length - TAIL_BYTES, TAIL_BYTES) == 0;
}

static bool is_from(const slot *slot, const struct varatt_external *toast) {
  return slot->is_toasted && memcmp(&slot->toast, toast, sizeof *toast) == 0;
}

/* The slot that was asked last comes first. */
static slot *nth_slot(opened *place, int n) { return &place->slots[(place->last + n) % SLOTS]; }

/* An empty slot, and room for a copy of so many bytes. */
static slot *empty_slot(opened *place, size_t length) {
  size_t copied = length;
  for (int i = 0; i < SLOTS; i++)
    if (place->slots[i].copy) copied += VARSIZE(place->slots[i].copy);
  for (int i = 0; i < SLOTS && copied > MOST_COPIED; i++) forget(&place->slots[i]);
  slot *slot = &place->slots[place->next];
  place->last = place->next;
  place->next = (place->next + 1) % SLOTS;
  forget(slot);
  if (!slot->handles) slot->handles = owned_new(place->context);
  return slot;
}

/* The slot of a value that is copied: from a table's TOAST, or because it cannot be opened where it lies. */
static slot *copied_slot(opened *place, struct varlena *datum, const char *function, bool *is_open) {
  struct varatt_external toast;
  bool is_toasted = VARATT_IS_EXTERNAL_ONDISK(datum);
  if (is_toasted) {
    VARATT_EXTERNAL_GET_POINTER(toast, datum);
    for (int i = 0; i < SLOTS; i++) {
      slot *slot = nth_slot(place, i);
      if (!is_from(slot, &toast)) continue;
      place->last = (int)(slot - place->slots);
      *is_open = true;
      return slot;
    }
  }
  slot *slot = empty_slot(place, toast_raw_datum_size(PointerGetDatum(datum)));
  MemoryContext before = MemoryContextSwitchTo(place->context);
  slot->copy = (petal_value *)PG_DETOAST_DATUM_COPY(PointerGetDatum(datum));
  MemoryContextSwitchTo(before);
  check_value(slot->copy, function);
  if (is_toasted) {
    slot->toast = toast;
    slot->is_toasted = true;
  }
  *is_open = false;
  return slot;
}

/* The slot of a value that lies aligned in memory, and is long enough for an image. */
static slot *slot_in_place(opened *place, const char *image, size_t length, bool *is_open) {
  for (int i = 0; i < SLOTS; i++) {
    slot *slot = nth_slot(place, i);
    if (!is_at(slot, image, length)) continue;
    place->last = (int)(slot - place->slots);
    *is_open = true;
    return slot;
  }
  slot *slot = empty_slot(place, 0);
  slot->image = image;
  slot->length = length;
  memcpy(slot->header, image, HEADER_BYTES);
  memcpy(slot->tail, image + length - TAIL_BYTES, TAIL_BYTES);
  *is_open = false;
  return slot;
}

/* The slot of argument 0, where its image is, and whether the slot's handle is open over it. */
static slot *find_slot(opened *place, FunctionCallInfo call, const char *function, char **image, size_t *length,
                       bool *is_open) {
  struct varlena *datum = (struct varlena *)DatumGetPointer(call->args[0].value);
  if (!VARATT_IS_EXTENDED(datum) && ((uintptr_t)datum & 7) == 0 && VARSIZE(datum) >= IMAGE_OFFSET + LEAST_IMAGE) {
    *image = ((petal_value *)datum)->image;
    *length = VARSIZE(datum) - IMAGE_OFFSET;
    return slot_in_place(place, *image, *length, is_open);
  }
  slot *slot = copied_slot(place, datum, function, is_open);
  *image = slot->copy->image;
  *length = VARSIZE(slot->copy) - IMAGE_OFFSET;
  return slot;
}

/* Nothing is open in a slot whose opening failed. */
static void check_opened(slot *slot, const char *function, petal_status status, const petal_error *error) {
  if (status == PETAL_OK) return;
  forget(slot);
  raise_status(function, status, error);
}

const petal_filter *opened_filter(opened *place, FunctionCallInfo call, const char *function) {
  char *image;
  size_t length;
  bool is_open;
  slot *slot = find_slot(place, call, function, &image, &length, &is_open);
  if (!is_open) {
    petal_error error = PETAL_ERROR_INIT;
    check_opened(slot, function, petal_filter_open_in_buffer(image, length, NULL, &slot->handles->filter, &error),
                 &error);
  }
  return slot->handles->filter;
}

const petal_map *opened_map(opened *place, FunctionCallInfo call, const char *function) {
  char *image;
  size_t length;
  bool is_open;
  slot *slot = find_slot(place, call, function, &image, &length, &is_open);
  if (!is_open) {
    petal_error error = PETAL_ERROR_INIT;
    check_opened(slot, function, petal_map_open_in_buffer(image, length, NULL, &slot->handles->map, &error), &error);
  }
  return slot->handles->map;
}
