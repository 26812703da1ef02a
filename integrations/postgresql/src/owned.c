/* Handles of the library that a memory context frees, also when an error ends the query. */

#include "extension.h"

#include <stdlib.h>

#include <utils/memutils.h>

void owned_close(owned *handles) {
  petal_filter_free(handles->filter);
  petal_map_free(handles->map);
  petal_builder_free(handles->builder);
  petal_map_builder_free(handles->map_builder);
  free(handles->bytes);
  handles->filter = NULL;
  handles->map = NULL;
  handles->builder = NULL;
  handles->map_builder = NULL;
  handles->bytes = NULL;
}

static void close_with_context(void *handles) { owned_close(handles); }

owned *owned_new(MemoryContext context) {
  owned *handles = MemoryContextAllocZero(context, sizeof *handles);
  handles->callback.func = close_with_context;
  handles->callback.arg = handles;
  MemoryContextRegisterResetCallback(context, &handles->callback);
  return handles;
}
