/*
 * petal_wire.h: filters on the wire: packed forms, and deltas between two states of one filter. It is experimental:
 * functions may still change. petal.h has the conventions.
 *
 * The packed form of a filter has everything that its image has, in few bytes. The payload is arithmetic-coded, and
 * takes at most 1 % and some 30 bytes more than the entropy of its fill. So a bit array of which few bits are set
 * becomes small. A filter at its capacity has about half of its bits set, and does not become smaller. With more bits
 * and fewer hashes a filter has the same rate, fewer bits set, and a smaller packed form. Every kind of filter can be
 * packed.
 *
 * A delta is what changed from an older state of a filter to a newer one, and takes as many bytes as the changed bits
 * need. The receiver's filter must be in the older state to the byte, its count included.
 *
 *     petal_filter *theirs = petal_filter_with_capacity(1000, 0.01), *ours = petal_filter_with_capacity(1000, 0.01);
 *     if (!theirs || !ours) return 1;
 *     petal_filter_insert_u64(ours, 7, NULL);
 *     char delta[200];
 *     size_t length = 0;
 *     if (petal_filter_delta(theirs, ours, delta, sizeof delta, &length, NULL) != PETAL_OK) return 1;
 *     if (petal_filter_patch(theirs, delta, length, 1 << 20, NULL) != PETAL_OK) return 1;
 *
 * Both forms have a checksum of 64 bits. Bytes that were cut or damaged are refused, and change no filter. The
 * checksum has no secret, and does not say who made the bytes: take a channel that authenticates the sender. A form
 * may claim a large filter in few bytes, so you say how many bytes an image may have. docs/format.md specifies both
 * forms to the byte.
 */

#ifndef PETAL_WIRE_H
#define PETAL_WIRE_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes the length in bytes of a filter's packed form. The function packs the filter for that, so it takes as long as
 * `petal_filter_pack()`.
 */
petal_status petal_filter_packed_size(const petal_filter *filter, size_t *size, petal_error *error);

/**
 * Writes a filter's packed form into a buffer. If nobody inserts meanwhile, `petal_filter_packed_size()` says how many
 * bytes the form has. Threads may insert meanwhile: the form has every key whose insertion happened before, and may be
 * larger. Take `petal_filter_pack_to()` then. Returns `PETAL_ERR_BUFFER_TOO_SMALL` for a buffer that is too small,
 * `PETAL_ERR_DIRTY` if the filter is `PETAL_STATE_UNVOUCHED`, and `PETAL_ERR_CORRUPT` if the filter lies in an image
 * that does not match its checksums. On a failure the buffer may have been written to. `written` is nullable.
 */
petal_status petal_filter_pack(const petal_filter *filter,
                               void *buffer,
                               size_t length,
                               size_t *written,
                               petal_error *error);

/**
 * Gives a filter's packed form to `write`, piece by piece and in order, and otherwise does what `petal_filter_pack()`
 * does. The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns
 * false.
 */
petal_status petal_filter_pack_to(const petal_filter *filter,
                                  petal_write_callback write,
                                  void *context,
                                  petal_error *error);

/**
 * Makes a filter from its packed form, in memory of its own. `most_bytes` is the most bytes that the filter's image
 * may have: a form that claims more gives `PETAL_ERR_TOO_LARGE` before memory is asked for. The function ignores the
 * mode in `options`, which is nullable. Returns `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for
 * bytes that are no packed form.
 */
petal_status petal_filter_unpack(const void *packed,
                                 size_t length,
                                 uint64_t most_bytes,
                                 const petal_open_options *options,
                                 petal_filter **filter,
                                 petal_error *error);

/**
 * Writes the length in bytes of the delta from `from` to `to`. The function makes the delta for that, so it takes as
 * long as `petal_filter_delta()`.
 */
petal_status petal_filter_delta_size(const petal_filter *from,
                                     const petal_filter *to,
                                     size_t *size,
                                     petal_error *error);

/**
 * Writes into a buffer what changed from `from`, the older state of a filter, to `to`, the newer one. A filter that
 * grows may have grown. Returns `PETAL_ERR_INCOMPATIBLE` if the filters differ in kind, layout, geometry, hash
 * function, seed or key. Otherwise returns what `petal_filter_pack()` does. `written` is nullable.
 */
petal_status petal_filter_delta(const petal_filter *from,
                                const petal_filter *to,
                                void *buffer,
                                size_t length,
                                size_t *written,
                                petal_error *error);

/**
 * Gives a delta to `write`, piece by piece and in order, and otherwise does what `petal_filter_delta()` does. The
 * function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_filter_delta_to(const petal_filter *from,
                                   const petal_filter *to,
                                   petal_write_callback write,
                                   void *context,
                                   petal_error *error);

/**
 * Changes the filter from the older state of a delta to the newer one. Returns `PETAL_ERR_INCOMPATIBLE` if the filter
 * is not in the older state. `most_bytes` is the most bytes that the image of the newer state may have. The filter
 * must be in memory of its own. A failure changes nothing. The function needs memory for both states meanwhile.
 */
petal_status petal_filter_patch(petal_filter *filter,
                                const void *delta,
                                size_t length,
                                uint64_t most_bytes,
                                petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_WIRE_H */
