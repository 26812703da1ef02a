/*
 * What the Go package calls: the headers, the functions that take bytes, and those that make structs with pointers.
 */
#ifndef PETAL_GO_KEYS_H
#define PETAL_GO_KEYS_H

#if defined __has_include
#if !__has_include(<petal.h>)
#error petal.h was not found. Install the C library: run `make install` in the repository of Petal. \
If it is elsewhere, in the folder P: \
export CGO_CFLAGS=-IP/include CGO_LDFLAGS="-LP/lib -Wl,-rpath,P/lib". \
Or import github.com/petal-filter/petal/bindings/go/view, which needs no C library. More is in docs/go.md.
#define PETAL_GO_MISSING
#endif
#endif

#ifndef PETAL_GO_MISSING
#include <petal.h>
#include <petal_formats.h>
#include <petal_index.h>
#include <petal_map.h>
#include <petal_sketch.h>
#include <petal_more.h>
#include <petal_router.h>
#include <petal_session.h>
#include <petal_aggregate.h>
#include <petal_digest.h>
#include <petal_wire.h>

#if PETAL_VERSION_NUMBER < 100
#error petal.h is older than this Go package: install the C library of the same version
#endif

#include "bytes.h"

typedef struct {
	uint64_t true_count;
	size_t done;
} petal_go_taken;

/* The keys of a batch. `numbers` are the offsets of byte keys, or the keys themselves. */
static inline petal_keys petal_go_keys(petal_keys_form form, const uint8_t *bytes, size_t length,
                                       const void *numbers, size_t count) {
	return form == PETAL_KEYS_BYTES     ? petal_keys_bytes(bytes, length, numbers, count)
	       : form == PETAL_KEYS_BYTES32 ? petal_keys_bytes32(bytes, length, numbers, count)
	       : form == PETAL_KEYS_U64     ? petal_keys_u64(numbers, count)
	       : form == PETAL_KEYS_DIGESTS ? petal_keys_digests(bytes, length, count)
	                                    : petal_keys_hashes(numbers, count);
}

/*
 * A batch. The structs are made here, because they hold pointers, and so cannot lie in Go's memory. Their parts do.
 * `numbers` are the offsets of byte keys, or the keys, of any type. `given` are the values or times of verbs that take
 * such numbers, and `told` is room for the counts or values of verbs that return them. Without `asked` there are no
 * answers.
 */
static inline petal_status petal_go_batch(petal_go_verb verb, void *handle, petal_keys_form form, const uint8_t *bytes,
                                          size_t length, const uint8_t *numbers, size_t count, const uint64_t *given,
                                          uint64_t *told, bool asked, uint8_t *found, petal_go_taken *taken,
                                          petal_error *error) {
	petal_keys keys = petal_go_keys(form, bytes, length, numbers, count);
	petal_answers answers = {.struct_size = sizeof answers, .bytes = found};
	answers.counts = verb == PETAL_GO_COUNT ? told : NULL;
	answers.values = verb == PETAL_GO_MAP_GET ? told : NULL;
	petal_status status = petal_go_run(verb, handle, &keys, given, asked ? &answers : NULL, error);
	taken->true_count = answers.true_count;
	taken->done = asked ? answers.done : status == PETAL_OK ? count : 0;
	return status;
}

static inline petal_status petal_go_router_advertise_some(petal_router *router, uint64_t neighbour, bool changes,
                                                     const void **message, size_t *length, petal_error *error) {
	return changes ? petal_router_advertise_changes(router, neighbour, message, length, error)
	               : petal_router_advertise(router, neighbour, message, length, error);
}

/* Looks one key up in many filters. */
static inline petal_status petal_go_contains_across(petal_filter *const *filters, size_t count, const uint8_t *key,
                                                    size_t length, uint8_t *found, petal_go_taken *taken,
                                                    petal_error *error) {
	petal_answers answers = {.struct_size = sizeof answers, .bytes = found};
	petal_status status =
	    petal_filter_contains_across((const petal_filter *const *)filters, count, key, length, &answers, error);
	taken->true_count = answers.true_count;
	taken->done = answers.done;
	return status;
}

static inline petal_status petal_go_contains_across_hash(petal_filter *const *filters, size_t count, uint64_t hash,
                                                         uint8_t *found, petal_go_taken *taken, petal_error *error) {
	petal_answers answers = {.struct_size = sizeof answers, .bytes = found};
	petal_status status =
	    petal_filter_contains_across_hash((const petal_filter *const *)filters, count, hash, &answers, error);
	taken->true_count = answers.true_count;
	taken->done = answers.done;
	return status;
}

#endif

#endif
