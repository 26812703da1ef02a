package petal

/*
#include <stdint.h>
#include "keys.h"

extern _Bool petalGoWrite(uintptr_t context, void *bytes, size_t length);

static bool petal_go_builder_gives(void *context, const void *bytes, size_t length) {
	return petalGoWrite((uintptr_t)context, (void *)bytes, length);
}

static petal_status petal_go_builder_serialize_to(petal_builder *builder, uintptr_t context, petal_error *error) {
	return petal_builder_serialize_to(builder, petal_go_builder_gives, (void *)context, error);
}

static petal_status petal_go_map_builder_serialize_to(petal_map_builder *builder, uintptr_t context,
                                                      petal_error *error) {
	return petal_map_builder_serialize_to(builder, petal_go_builder_gives, (void *)context, error);
}
*/
import "C"

import "io"

// WriteTo writes the builder's keys, piece by piece: those that were added, with their counts, the excluded keys and
// the frequent non-members. Another builder with the same spec takes them in with [Builder.Merge], so several processes
// collect the keys of one filter and one of them makes it. The keys stay in this builder. The writer must not end its
// goroutine ([runtime.Goexit]).
func (b *Builder) WriteTo(w io.Writer) (int64, error) {
	return streamed("petal.Builder.WriteTo", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_builder_serialize_to(b.toChange(), context, failure)
		b.rethrow()
	})
}

// WriteTo writes the builder's keys and values, as [Builder.WriteTo] writes keys.
func (b *MapBuilder) WriteTo(w io.Writer) (int64, error) {
	return streamed("petal.MapBuilder.WriteTo", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_map_builder_serialize_to(b.toChange(), context, failure)
		b.rethrow()
	})
}
