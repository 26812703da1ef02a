/*
 * petal_wire.h: filters and maps on the wire, in few bytes. It is experimental: functions may still change. petal.h
 * has the conventions.
 *
 * The packed form of a filter has everything that its image has, in few bytes. The payload is arithmetic-coded, and
 * takes at most 1 % and 32 bytes more than the entropy of its fill. So a bit array of which few bits are set becomes
 * small. A filter at its capacity has about half of its bits set, and does not become smaller. With more bits and
 * fewer hashes a filter has the same rate, fewer bits set, and a smaller packed form: `petal_wire_get_spec()`. Every
 * kind of filter and map can be packed.
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
#include <petal_more.h>
#include <petal_map.h>

#ifdef __cplusplus
extern "C" {
#endif


/*
 * FILTERS
 *
 * The packed forms of filters, and what changed between two states of one.
 */

/**
 * Writes the length in bytes of a filter's packed form. The function packs the filter for that, so it takes as long as
 * `petal_filter_pack()`.
 */
petal_status petal_filter_packed_size(const petal_filter *filter, uint64_t *size, petal_error *error);

/**
 * Writes a filter's packed form into a buffer. If nobody inserts meanwhile, `petal_filter_packed_size()` says how many
 * bytes the form has. Threads may insert meanwhile: the form has every key whose insertion happened before, and may be
 * larger. Take `petal_filter_pack_to()` then. Returns `PETAL_ERR_BUFFER_TOO_SMALL` for a buffer that is too small,
 * `PETAL_ERR_UNCLEAN` if nobody marked the filter clean, and `PETAL_ERR_CORRUPT` if the filter lies in an image that
 * does not match its checksums. On a failure the buffer may have been written to. `written` is nullable.
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
 * Makes a filter from its packed form, in its own memory. `most_bytes` is the most bytes that the filter's image may
 * have: a form that claims more gives `PETAL_ERR_TOO_LARGE` before memory is asked for. The function ignores the mode
 * in `options`, which is nullable. Returns `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes
 * that are no packed form, and `PETAL_ERR_UNSUPPORTED` for that of a map.
 */
petal_status petal_filter_unpack(const void *packed,
                                 size_t length,
                                 uint64_t most_bytes,
                                 const petal_open_options *options,
                                 petal_filter **filter,
                                 petal_error *error);

/**
 * Writes the length in bytes of the delta from `older` to `newer`. The function makes the delta for that, so it takes
 * as long as `petal_filter_delta()`.
 */
petal_status petal_filter_delta_size(const petal_filter *older,
                                     const petal_filter *newer,
                                     uint64_t *size,
                                     petal_error *error);

/**
 * Writes into a buffer what changed from `older`, the older state of a filter, to `newer`, the newer one. A filter
 * that grows may have grown. Returns `PETAL_ERR_INCOMPATIBLE` if the filters differ in kind, layout, geometry, hash
 * function, seed or secret. Otherwise returns what `petal_filter_pack()` does. `written` is nullable.
 */
petal_status petal_filter_delta(const petal_filter *older,
                                const petal_filter *newer,
                                void *buffer,
                                size_t length,
                                size_t *written,
                                petal_error *error);

/**
 * Gives a delta to `write`, piece by piece and in order, and otherwise does what `petal_filter_delta()` does. The
 * function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_filter_delta_to(const petal_filter *older,
                                   const petal_filter *newer,
                                   petal_write_callback write,
                                   void *context,
                                   petal_error *error);

/**
 * Changes the filter from the older state of a delta to the newer one. Returns `PETAL_ERR_INCOMPATIBLE` if the filter
 * is not in the older state. `most_bytes` is the most bytes that the image of the newer state may have. The filter
 * must be in its own memory. A failure changes nothing. The function needs memory for both states meanwhile.
 */
petal_status petal_filter_patch(petal_filter *filter,
                                const void *delta,
                                size_t length,
                                uint64_t most_bytes,
                                petal_error *error);


/*
 * MAPS
 *
 * Maps take packed forms and deltas as filters do.
 */

/**
 * Writes the length in bytes of a map's packed form. The function packs the map for that, so it takes as long as
 * `petal_map_pack()`.
 */
petal_status petal_map_packed_size(const petal_map *map, uint64_t *size, petal_error *error);

/**
 * Writes a map's packed form into a buffer. Returns `PETAL_ERR_BUFFER_TOO_SMALL` for a buffer that is too small,
 * `PETAL_ERR_UNCLEAN` if nobody marked the map clean, and `PETAL_ERR_CORRUPT` if the map lies in an image that does
 * not match its checksums. On a failure the buffer may have been written to. `written` is nullable.
 */
petal_status petal_map_pack(const petal_map *map, void *buffer, size_t length, size_t *written, petal_error *error);

/**
 * Gives a map's packed form to `write`, piece by piece and in order, and otherwise does what `petal_map_pack()` does.
 * The function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_map_pack_to(const petal_map *map, petal_write_callback write, void *context, petal_error *error);

/**
 * Makes a map from its packed form, in its own memory. `most_bytes` is the most bytes that the map's image may have: a
 * form that claims more gives `PETAL_ERR_TOO_LARGE` before memory is asked for. The function ignores the mode in
 * `options`, which is nullable. Returns `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_CORRUPT` for bytes
 * that are no packed form, and `PETAL_ERR_UNSUPPORTED` for that of a filter.
 */
petal_status petal_map_unpack(const void *packed,
                              size_t length,
                              uint64_t most_bytes,
                              const petal_open_options *options,
                              petal_map **map,
                              petal_error *error);

/**
 * Writes the length in bytes of the delta from `older` to `newer`. The function makes the delta for that, so it takes
 * as long as `petal_map_delta()`.
 */
petal_status petal_map_delta_size(const petal_map *older, const petal_map *newer, uint64_t *size, petal_error *error);

/**
 * Writes into a buffer what changed from `older`, the older state of a map, to `newer`, the newer one. Returns
 * `PETAL_ERR_INCOMPATIBLE` if the maps differ in kind, layout, geometry, hash function, seed or secret. Otherwise
 * returns what `petal_map_pack()` does. `written` is nullable.
 */
petal_status petal_map_delta(const petal_map *older,
                             const petal_map *newer,
                             void *buffer,
                             size_t length,
                             size_t *written,
                             petal_error *error);

/**
 * Gives a delta to `write`, piece by piece and in order, and otherwise does what `petal_map_delta()` does. The
 * function passes `context`, which may be NULL, to `write`. Returns `PETAL_ERR_CALLBACK` if `write` returns false.
 */
petal_status petal_map_delta_to(const petal_map *older,
                                const petal_map *newer,
                                petal_write_callback write,
                                void *context,
                                petal_error *error);

/**
 * Changes the map from the older state of a delta to the newer one. Returns `PETAL_ERR_INCOMPATIBLE` if the map is not
 * in the older state. `most_bytes` is the most bytes that the image of the newer state may have. The map must be in
 * its own memory. A failure changes nothing. The function needs memory for both states meanwhile.
 */
petal_status petal_map_patch(petal_map *map, const void *delta, size_t length, uint64_t most_bytes, petal_error *error);


/*
 * LARGER, SPARSER FILTERS
 *
 * A filter that is sent has fewer false answers for the same bytes if it has more bits and fewer hashes. The price is
 * memory at both ends. docs/choosing.md has a table.
 */

/**
 * Writes the spec of the filter of the kind `bloom` that has the lowest false-positive rate, for `petal_filter_new()`.
 * With `keys` distinct keys in it the filter's packed form has at most `packed_bytes`, if its fill is the expected
 * one. The filter's image has at most `memory` bytes; 0 is no limit. `petal_spec_expected_false_positive_rate()` tells
 * the rate. Returns `PETAL_ERR_TOO_LARGE` if no filter is so small.
 */
petal_status petal_wire_get_spec(uint64_t keys,
                                 uint64_t packed_bytes,
                                 uint64_t memory,
                                 petal_spec *spec,
                                 petal_error *error);

#ifdef __cplusplus
}
#endif

#endif  /* PETAL_WIRE_H */
