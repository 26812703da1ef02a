/*
 * Written by `make layers` from the headers: change those, not this.
 *
 * The functions that take bytes, with pointers to uint8_t instead of void. Memory behind a void pointer may hold Go
 * pointers, so at each call cgo would scan the whole object that a key is part of. It would also refuse a key that lies
 * in a struct next to a pointer.
 */
#ifndef PETAL_GO_BYTES_H
#define PETAL_GO_BYTES_H

static inline petal_status petal_go_filter_insert(petal_filter *filter, const uint8_t *key, size_t length,
		bool *is_new) {
	return petal_filter_insert(filter, key, length, is_new);
}

static inline bool petal_go_filter_contains(const petal_filter *filter, const uint8_t *key, size_t length) {
	return petal_filter_contains(filter, key, length);
}

static inline petal_status petal_go_filter_contains_checked(const petal_filter *filter, const uint8_t *key,
		size_t length, bool *found) {
	return petal_filter_contains_checked(filter, key, length, found);
}

static inline petal_status petal_go_builder_add(petal_builder *builder, const uint8_t *key, size_t length) {
	return petal_builder_add(builder, key, length);
}

static inline petal_status petal_go_filter_remove(petal_filter *filter, const uint8_t *key, size_t length,
		bool *removed) {
	return petal_filter_remove(filter, key, length, removed);
}

static inline petal_status petal_go_filter_count(const petal_filter *filter, const uint8_t *key, size_t length,
		uint64_t *count) {
	return petal_filter_count(filter, key, length, count);
}

static inline petal_status petal_go_filter_new_in_buffer(const petal_spec *spec, uint8_t *buffer, size_t length,
		petal_filter **filter, petal_error *error) {
	return petal_filter_new_in_buffer(spec, buffer, length, filter, error);
}

static inline petal_status petal_go_filter_open_in_buffer(uint8_t *buffer, size_t length,
		const petal_open_options *options, petal_filter **filter, petal_error *error) {
	return petal_filter_open_in_buffer(buffer, length, options, filter, error);
}

static inline petal_status petal_go_filter_load(const uint8_t *image, size_t length, const petal_open_options *options,
		petal_filter **filter, petal_error *error) {
	return petal_filter_load(image, length, options, filter, error);
}

static inline petal_status petal_go_filter_serialize(const petal_filter *filter, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_filter_serialize(filter, buffer, length, written, error);
}

static inline petal_status petal_go_filter_insert_shared(const petal_filter *filter, const uint8_t *key, size_t length,
		bool *is_new) {
	return petal_filter_insert_shared(filter, key, length, is_new);
}

static inline petal_status petal_go_spec_hash(const petal_spec *spec, const uint8_t *key, size_t length, uint64_t *hash,
		petal_error *error) {
	return petal_spec_hash(spec, key, length, hash, error);
}

static inline petal_status petal_go_filter_hash(const petal_filter *filter, const uint8_t *key, size_t length,
		uint64_t *hash) {
	return petal_filter_hash(filter, key, length, hash);
}

static inline petal_status petal_go_aggregate_add(petal_aggregate *aggregate, const uint8_t *id, size_t length,
		uint32_t state, double value, const petal_aggregate_state_value *previous, size_t previous_count,
		petal_aggregate_answer *answer, petal_error *error) {
	return petal_aggregate_add(aggregate, id, length, state, value, previous, previous_count, answer, error);
}

static inline petal_status petal_go_aggregate_remove(petal_aggregate *aggregate, const uint8_t *id, size_t length,
		uint32_t state, double value, bool *left, petal_error *error) {
	return petal_aggregate_remove(aggregate, id, length, state, value, left, error);
}

static inline petal_status petal_go_aggregate_list_sent(const petal_aggregate *aggregate, const uint8_t *id,
		size_t length, uint32_t *states, size_t room, size_t *count, petal_error *error) {
	return petal_aggregate_list_sent(aggregate, id, length, states, room, count, error);
}

static inline petal_status petal_go_aggregate_record_sent(petal_aggregate *aggregate, const uint8_t *id, size_t length,
		uint32_t state, const petal_aggregate_answer *answer, petal_error *error) {
	return petal_aggregate_record_sent(aggregate, id, length, state, answer, error);
}

static inline petal_status petal_go_aggregate_forget_sent(petal_aggregate *aggregate, const uint8_t *id, size_t length,
		uint32_t state, bool *forgotten, petal_error *error) {
	return petal_aggregate_forget_sent(aggregate, id, length, state, forgotten, error);
}

static inline petal_status petal_go_aggregate_open_in_buffer(uint8_t *buffer, size_t length,
		const petal_open_options *options, petal_aggregate **aggregate, petal_error *error) {
	return petal_aggregate_open_in_buffer(buffer, length, options, aggregate, error);
}

static inline petal_status petal_go_aggregate_load(const uint8_t *image, size_t length,
		const petal_open_options *options, petal_aggregate **aggregate, petal_error *error) {
	return petal_aggregate_load(image, length, options, aggregate, error);
}

static inline petal_status petal_go_aggregate_serialize(const petal_aggregate *aggregate, uint8_t *buffer,
		size_t length, size_t *written, petal_error *error) {
	return petal_aggregate_serialize(aggregate, buffer, length, written, error);
}

static inline petal_status petal_go_digest_add(petal_digest *digest, uint64_t payload, const uint8_t *bytes,
		size_t length, petal_error *error) {
	return petal_digest_add(digest, payload, bytes, length, error);
}

static inline petal_status petal_go_digest_write(petal_digest *digest, const uint8_t *bytes, size_t length,
		petal_error *error) {
	return petal_digest_write(digest, bytes, length, error);
}

static inline petal_status petal_go_digest_find(const petal_digest *digest, const uint8_t *excerpt, size_t length,
		const petal_digest_find_options *options, petal_digest_match *matches, size_t room,
		petal_digest_find_result *result, petal_error *error) {
	return petal_digest_find(digest, excerpt, length, options, matches, room, result, error);
}

static inline petal_status petal_go_digest_attach(petal_digest *digest, const uint8_t *bytes, size_t length,
		petal_error *error) {
	return petal_digest_attach(digest, bytes, length, error);
}

static inline petal_status petal_go_digest_get_attachment(const petal_digest *digest, uint8_t *buffer, size_t room,
		size_t *length, petal_error *error) {
	return petal_digest_get_attachment(digest, buffer, room, length, error);
}

static inline petal_status petal_go_digest_open_in_buffer(uint8_t *buffer, size_t length,
		const petal_open_options *options, petal_digest **digest, petal_error *error) {
	return petal_digest_open_in_buffer(buffer, length, options, digest, error);
}

static inline petal_status petal_go_digest_load(const uint8_t *image, size_t length, const petal_open_options *options,
		petal_digest **digest, petal_error *error) {
	return petal_digest_load(image, length, options, digest, error);
}

static inline petal_status petal_go_digest_serialize(const petal_digest *digest, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_digest_serialize(digest, buffer, length, written, error);
}

static inline petal_status petal_go_format_recognise(const uint8_t *bytes, size_t length, petal_format_info *info,
		petal_error *error) {
	return petal_format_recognise(bytes, length, info, error);
}

static inline petal_status petal_go_filter_import(const char *format, const uint8_t *bytes, size_t length,
		const petal_import_options *options, petal_filter **filter, petal_error *error) {
	return petal_filter_import(format, bytes, length, options, filter, error);
}

static inline petal_status petal_go_filter_export(const petal_filter *filter, const char *format, const char *variant,
		uint8_t *buffer, size_t length, size_t *written, petal_error *error) {
	return petal_filter_export(filter, format, variant, buffer, length, written, error);
}

static inline petal_status petal_go_filter_serialize_compact(const petal_filter *filter, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_filter_serialize_compact(filter, buffer, length, written, error);
}

static inline petal_status petal_go_filter_open_compact(const uint8_t *data, size_t length,
		const petal_compact_options *options, petal_filter **filter, petal_error *error) {
	return petal_filter_open_compact(data, length, options, filter, error);
}

static inline petal_status petal_go_filter_load_compact(const uint8_t *data, size_t length,
		const petal_compact_options *options, petal_filter **filter, petal_error *error) {
	return petal_filter_load_compact(data, length, options, filter, error);
}

static inline petal_status petal_go_compact_verify(const uint8_t *data, size_t length, petal_error *error) {
	return petal_compact_verify(data, length, error);
}

static inline bool petal_go_compact_contains_hash(const uint8_t *data, size_t length, uint64_t hash) {
	return petal_compact_contains_hash(data, length, hash);
}

static inline bool petal_go_compact_contains(const uint8_t *data, size_t length, const petal_compact_options *options,
		const uint8_t *key, size_t key_length) {
	return petal_compact_contains(data, length, options, key, key_length);
}

static inline petal_status petal_go_compact_contains_checked_hash(const uint8_t *data, size_t length, uint64_t hash,
		bool *found, petal_error *error) {
	return petal_compact_contains_checked_hash(data, length, hash, found, error);
}

static inline petal_status petal_go_builder_finish_compact(petal_builder *builder, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_builder_finish_compact(builder, buffer, length, written, error);
}

static inline petal_status petal_go_index_add(petal_index *index, uint64_t id, const uint8_t *row, size_t length,
		uint64_t *number, petal_error *error) {
	return petal_index_add(index, id, row, length, number, error);
}

static inline petal_status petal_go_index_copy_row(const petal_index *index, uint64_t row, uint8_t *bytes,
		size_t length, petal_error *error) {
	return petal_index_copy_row(index, row, bytes, length, error);
}

static inline petal_status petal_go_index_attach(petal_index *index, const uint8_t *bytes, size_t length,
		petal_error *error) {
	return petal_index_attach(index, bytes, length, error);
}

static inline petal_status petal_go_index_get_attachment(const petal_index *index, uint8_t *buffer, size_t room,
		size_t *length, petal_error *error) {
	return petal_index_get_attachment(index, buffer, room, length, error);
}

static inline petal_status petal_go_index_builder_add(petal_index_builder *builder, uint64_t id, const uint8_t *row,
		size_t length, petal_error *error) {
	return petal_index_builder_add(builder, id, row, length, error);
}

static inline petal_status petal_go_index_open_in_buffer(uint8_t *buffer, size_t length,
		const petal_open_options *options, petal_index **index, petal_error *error) {
	return petal_index_open_in_buffer(buffer, length, options, index, error);
}

static inline petal_status petal_go_index_load(const uint8_t *image, size_t length, const petal_open_options *options,
		petal_index **index, petal_error *error) {
	return petal_index_load(image, length, options, index, error);
}

static inline petal_status petal_go_index_serialize(const petal_index *index, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_index_serialize(index, buffer, length, written, error);
}

static inline petal_status petal_go_index_find_top(const petal_index *index, const uint8_t *query, size_t length,
		size_t k, const petal_index_search_options *options, petal_index_hit *hits, size_t *hit_count,
		petal_error *error) {
	return petal_index_find_top(index, query, length, k, options, hits, hit_count, error);
}

static inline petal_status petal_go_index_find_similar(const petal_index *index, const uint8_t *query, size_t length,
		double threshold, const petal_index_search_options *options, petal_index_hit *hits, size_t room,
		size_t *hit_count, petal_error *error) {
	return petal_index_find_similar(index, query, length, threshold, options, hits, room, hit_count, error);
}

static inline petal_status petal_go_index_visit_similar(const petal_index *index, const uint8_t *query, size_t length,
		double threshold, const petal_index_search_options *options, petal_index_hit_callback each, void *context,
		uint64_t *hit_count, petal_error *error) {
	return petal_index_visit_similar(index, query, length, threshold, options, each, context, hit_count, error);
}

static inline petal_status petal_go_index_find_top_batch(const petal_index *index, const uint8_t *queries, size_t count,
		size_t k, const petal_index_search_options *options, petal_index_hit *hits, size_t *hit_counts,
		petal_error *error) {
	return petal_index_find_top_batch(index, queries, count, k, options, hits, hit_counts, error);
}

static inline petal_status petal_go_index_find_similar_batch(const petal_index *index, const uint8_t *queries,
		size_t count, double threshold, const petal_index_search_options *options, petal_index_hit *hits, size_t room,
		size_t *hit_counts, petal_error *error) {
	return petal_index_find_similar_batch(index, queries, count, threshold, options, hits, room, hit_counts, error);
}

static inline petal_status petal_go_index_find_containing(const petal_index *index, const uint8_t *query, size_t length,
		const petal_index_search_options *options, uint64_t *ids, size_t room, size_t *hit_count, petal_error *error) {
	return petal_index_find_containing(index, query, length, options, ids, room, hit_count, error);
}

static inline petal_status petal_go_index_visit_containing(const petal_index *index, const uint8_t *query,
		size_t length, const petal_index_search_options *options, petal_index_row_callback each, void *context,
		uint64_t *hit_count, petal_error *error) {
	return petal_index_visit_containing(index, query, length, options, each, context, hit_count, error);
}

static inline petal_status petal_go_index_expected_false_positive_rate(const petal_index *index, const uint8_t *query,
		size_t length, double *rate, petal_error *error) {
	return petal_index_expected_false_positive_rate(index, query, length, rate, error);
}

static inline petal_status petal_go_index_add_feature(const petal_index *index, uint8_t *row, size_t length,
		const uint8_t *feature, size_t feature_length, uint32_t bits, petal_error *error) {
	return petal_index_add_feature(index, row, length, feature, feature_length, bits, error);
}

static inline petal_status petal_go_index_add_feature_hash(const petal_index *index, uint8_t *row, size_t length,
		uint64_t hash, uint32_t bits, petal_error *error) {
	return petal_index_add_feature_hash(index, row, length, hash, bits, error);
}

static inline petal_status petal_go_index_fold_row(const petal_index *index, const uint8_t *row, size_t length,
		petal_index_fold fold, uint64_t width, uint8_t *folded, size_t folded_length, petal_error *error) {
	return petal_index_fold_row(index, row, length, fold, width, folded, folded_length, error);
}

static inline petal_status petal_go_index_estimate_similarity(const petal_index *index, const uint8_t *first,
		const uint8_t *second, size_t length, double *similarity, double *margin, petal_error *error) {
	return petal_index_estimate_similarity(index, first, second, length, similarity, margin, error);
}

static inline petal_status petal_go_map_get(const petal_map *map, const uint8_t *key, size_t length, uint64_t *value,
		bool *found) {
	return petal_map_get(map, key, length, value, found);
}

static inline petal_status petal_go_map_builder_put(petal_map_builder *builder, const uint8_t *key, size_t length,
		uint64_t value) {
	return petal_map_builder_put(builder, key, length, value);
}

static inline petal_status petal_go_map_builder_merge(petal_map_builder *builder, const uint8_t *state, size_t length,
		petal_error *error) {
	return petal_map_builder_merge(builder, state, length, error);
}

static inline petal_status petal_go_map_put(petal_map *map, const uint8_t *key, size_t length, uint64_t value,
		bool *changed) {
	return petal_map_put(map, key, length, value, changed);
}

static inline petal_status petal_go_map_replace(petal_map *map, const uint8_t *key, size_t length, uint64_t value,
		bool *found) {
	return petal_map_replace(map, key, length, value, found);
}

static inline petal_status petal_go_map_open_in_buffer(uint8_t *buffer, size_t length,
		const petal_open_options *options, petal_map **map, petal_error *error) {
	return petal_map_open_in_buffer(buffer, length, options, map, error);
}

static inline petal_status petal_go_map_load(const uint8_t *image, size_t length, const petal_open_options *options,
		petal_map **map, petal_error *error) {
	return petal_map_load(image, length, options, map, error);
}

static inline petal_status petal_go_map_serialize(const petal_map *map, uint8_t *buffer, size_t length, size_t *written,
		petal_error *error) {
	return petal_map_serialize(map, buffer, length, written, error);
}

static inline petal_status petal_go_filter_contains_across(const petal_filter *const *filters, size_t count,
		const uint8_t *key, size_t length, petal_answers *answers, petal_error *error) {
	return petal_filter_contains_across(filters, count, key, length, answers, error);
}

static inline petal_status petal_go_filter_insert_times(petal_filter *filter, const uint8_t *key, size_t length,
		uint64_t times, bool *is_new) {
	return petal_filter_insert_times(filter, key, length, times, is_new);
}

static inline petal_status petal_go_filter_remove_times(petal_filter *filter, const uint8_t *key, size_t length,
		uint64_t times, uint64_t *removed) {
	return petal_filter_remove_times(filter, key, length, times, removed);
}

static inline petal_status petal_go_builder_add_times(petal_builder *builder, const uint8_t *key, size_t length,
		uint64_t times) {
	return petal_builder_add_times(builder, key, length, times);
}

static inline petal_status petal_go_builder_exclude(petal_builder *builder, const uint8_t *key, size_t length) {
	return petal_builder_exclude(builder, key, length);
}

static inline petal_status petal_go_builder_add_frequent(petal_builder *builder, const uint8_t *key, size_t length,
		double weight) {
	return petal_builder_add_frequent(builder, key, length, weight);
}

static inline petal_status petal_go_builder_merge(petal_builder *builder, const uint8_t *state, size_t length,
		petal_error *error) {
	return petal_builder_merge(builder, state, length, error);
}

static inline petal_status petal_go_filter_rejuvenate(petal_filter *filter, const uint8_t *key, size_t length,
		bool *rejuvenated) {
	return petal_filter_rejuvenate(filter, key, length, rejuvenated);
}

static inline petal_status petal_go_router_insert(petal_router *router, const uint8_t *key, size_t length) {
	return petal_router_insert(router, key, length);
}

static inline petal_status petal_go_router_remove(petal_router *router, const uint8_t *key, size_t length) {
	return petal_router_remove(router, key, length);
}

static inline bool petal_go_router_contains(const petal_router *router, const uint8_t *key, size_t length) {
	return petal_router_contains(router, key, length);
}

static inline petal_status petal_go_router_receive(petal_router *router, uint64_t neighbour, const uint8_t *message,
		size_t length, petal_router_received *received, petal_error *error) {
	return petal_router_receive(router, neighbour, message, length, received, error);
}

static inline petal_status petal_go_router_get_route(const petal_router *router, const uint8_t *key, size_t length,
		const uint64_t *from, uint32_t hops_left, petal_router_route *route) {
	return petal_router_get_route(router, key, length, from, hops_left, route);
}

static inline petal_status petal_go_router_walk(const petal_router *router, const uint8_t *key, size_t length,
		petal_router_walk_state *walk, petal_router_route *route) {
	return petal_router_walk(router, key, length, walk, route);
}

static inline petal_status petal_go_router_open_in_buffer(uint8_t *buffer, size_t length,
		const petal_open_options *options, petal_router **router, petal_error *error) {
	return petal_router_open_in_buffer(buffer, length, options, router, error);
}

static inline petal_status petal_go_router_load(const uint8_t *image, size_t length, const petal_open_options *options,
		petal_router **router, petal_error *error) {
	return petal_router_load(image, length, options, router, error);
}

static inline petal_status petal_go_router_serialize(const petal_router *router, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_router_serialize(router, buffer, length, written, error);
}

static inline petal_status petal_go_session_receive(petal_session *session, const uint8_t *message, size_t length,
		petal_error *error) {
	return petal_session_receive(session, message, length, error);
}

static inline petal_status petal_go_sketch_insert(petal_sketch *sketch, const uint8_t *key, size_t length) {
	return petal_sketch_insert(sketch, key, length);
}

static inline petal_status petal_go_sketch_remove(petal_sketch *sketch, const uint8_t *key, size_t length) {
	return petal_sketch_remove(sketch, key, length);
}

static inline petal_status petal_go_sketch_open_in_buffer(uint8_t *buffer, size_t length,
		const petal_open_options *options, petal_sketch **sketch, petal_error *error) {
	return petal_sketch_open_in_buffer(buffer, length, options, sketch, error);
}

static inline petal_status petal_go_sketch_load(const uint8_t *image, size_t length, const petal_open_options *options,
		petal_sketch **sketch, petal_error *error) {
	return petal_sketch_load(image, length, options, sketch, error);
}

static inline petal_status petal_go_sketch_serialize(const petal_sketch *sketch, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_sketch_serialize(sketch, buffer, length, written, error);
}

static inline petal_status petal_go_sketch_export_minisketch(const petal_sketch *sketch, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_sketch_export_minisketch(sketch, buffer, length, written, error);
}

static inline petal_status petal_go_sketch_import_minisketch(petal_sketch *sketch, const uint8_t *bytes, size_t length,
		petal_error *error) {
	return petal_sketch_import_minisketch(sketch, bytes, length, error);
}

static inline petal_status petal_go_stream_write(petal_stream *stream, uint64_t symbols, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_stream_write(stream, symbols, buffer, length, written, error);
}

static inline petal_status petal_go_stream_read(petal_stream *stream, const uint8_t *bytes, size_t length,
		bool *is_complete, petal_error *error) {
	return petal_stream_read(stream, bytes, length, is_complete, error);
}

static inline petal_status petal_go_stream_list_keys(const petal_stream *stream, uint8_t *keys, int64_t *signs,
		size_t room, size_t *count, bool *is_complete, petal_error *error) {
	return petal_stream_list_keys(stream, keys, signs, room, count, is_complete, error);
}

static inline petal_status petal_go_sketch_list_keys(const petal_sketch *sketch, uint8_t *keys, int64_t *signs,
		size_t room, size_t *count, bool *is_complete, petal_error *error) {
	return petal_sketch_list_keys(sketch, keys, signs, room, count, is_complete, error);
}

static inline petal_status petal_go_sketch_get(const petal_sketch *sketch, const uint8_t *key, size_t length,
		petal_sketch_presence *presence, petal_sketch_pair *pair, petal_error *error) {
	return petal_sketch_get(sketch, key, length, presence, pair, error);
}

static inline petal_status petal_go_sketch_insert_value(petal_sketch *sketch, const uint8_t *key, size_t length,
		uint64_t value, petal_error *error) {
	return petal_sketch_insert_value(sketch, key, length, value, error);
}

static inline petal_status petal_go_sketch_remove_value(petal_sketch *sketch, const uint8_t *key, size_t length,
		uint64_t value, petal_error *error) {
	return petal_sketch_remove_value(sketch, key, length, value, error);
}

static inline petal_status petal_go_filter_pack(const petal_filter *filter, uint8_t *buffer, size_t length,
		size_t *written, petal_error *error) {
	return petal_filter_pack(filter, buffer, length, written, error);
}

static inline petal_status petal_go_filter_unpack(const uint8_t *packed, size_t length, uint64_t most_bytes,
		const petal_open_options *options, petal_filter **filter, petal_error *error) {
	return petal_filter_unpack(packed, length, most_bytes, options, filter, error);
}

static inline petal_status petal_go_filter_delta(const petal_filter *older, const petal_filter *newer, uint8_t *buffer,
		size_t length, size_t *written, petal_error *error) {
	return petal_filter_delta(older, newer, buffer, length, written, error);
}

static inline petal_status petal_go_filter_patch(petal_filter *filter, const uint8_t *delta, size_t length,
		uint64_t most_bytes, petal_error *error) {
	return petal_filter_patch(filter, delta, length, most_bytes, error);
}

static inline petal_status petal_go_map_pack(const petal_map *map, uint8_t *buffer, size_t length, size_t *written,
		petal_error *error) {
	return petal_map_pack(map, buffer, length, written, error);
}

static inline petal_status petal_go_map_unpack(const uint8_t *packed, size_t length, uint64_t most_bytes,
		const petal_open_options *options, petal_map **map, petal_error *error) {
	return petal_map_unpack(packed, length, most_bytes, options, map, error);
}

static inline petal_status petal_go_map_delta(const petal_map *older, const petal_map *newer, uint8_t *buffer,
		size_t length, size_t *written, petal_error *error) {
	return petal_map_delta(older, newer, buffer, length, written, error);
}

static inline petal_status petal_go_map_patch(petal_map *map, const uint8_t *delta, size_t length, uint64_t most_bytes,
		petal_error *error) {
	return petal_map_patch(map, delta, length, most_bytes, error);
}

/* The verbs of batches. A name has the type of the verb's handle, or none if that is a filter. */
typedef enum {
	PETAL_GO_CONTAINS,
	PETAL_GO_INSERT,
	PETAL_GO_BUILDER_ADD,
	PETAL_GO_REMOVE,
	PETAL_GO_COUNT,
	PETAL_GO_INSERT_SHARED,
	PETAL_GO_MAP_GET,
	PETAL_GO_MAP_BUILDER_PUT,
	PETAL_GO_MAP_PUT,
	PETAL_GO_MAP_REPLACE,
	PETAL_GO_INSERT_TIMES,
	PETAL_GO_REMOVE_TIMES,
	PETAL_GO_BUILDER_ADD_TIMES,
	PETAL_GO_BUILDER_EXCLUDE,
	PETAL_GO_BUILDER_ADD_FREQUENT,
	PETAL_GO_REJUVENATE,
	PETAL_GO_ROUTER_INSERT,
	PETAL_GO_ROUTER_REMOVE,
	PETAL_GO_SKETCH_INSERT,
	PETAL_GO_SKETCH_REMOVE,
	PETAL_GO_SKETCH_INSERT_VALUE,
	PETAL_GO_SKETCH_REMOVE_VALUE
} petal_go_verb;

/* `given` are the numbers that come with the keys, or the bits of doubles. */
static inline petal_status petal_go_run(petal_go_verb verb, void *handle, const petal_keys *keys,
		const uint64_t *given, petal_answers *answers, petal_error *error) {
	switch (verb) {
	case PETAL_GO_CONTAINS:
		return petal_filter_contains_batch(handle, keys, answers, error);
	case PETAL_GO_INSERT:
		return petal_filter_insert_batch(handle, keys, answers, error);
	case PETAL_GO_BUILDER_ADD:
		return petal_builder_add_batch(handle, keys, answers, error);
	case PETAL_GO_REMOVE:
		return petal_filter_remove_batch(handle, keys, answers, error);
	case PETAL_GO_COUNT:
		return petal_filter_count_batch(handle, keys, answers, error);
	case PETAL_GO_INSERT_SHARED:
		return petal_filter_insert_shared_batch(handle, keys, answers, error);
	case PETAL_GO_MAP_GET:
		return petal_map_get_batch(handle, keys, answers, error);
	case PETAL_GO_MAP_BUILDER_PUT:
		return petal_map_builder_put_batch(handle, keys, given, answers, error);
	case PETAL_GO_MAP_PUT:
		return petal_map_put_batch(handle, keys, given, answers, error);
	case PETAL_GO_MAP_REPLACE:
		return petal_map_replace_batch(handle, keys, given, answers, error);
	case PETAL_GO_INSERT_TIMES:
		return petal_filter_insert_times_batch(handle, keys, given, answers, error);
	case PETAL_GO_REMOVE_TIMES:
		return petal_filter_remove_times_batch(handle, keys, given, answers, error);
	case PETAL_GO_BUILDER_ADD_TIMES:
		return petal_builder_add_times_batch(handle, keys, given, answers, error);
	case PETAL_GO_BUILDER_EXCLUDE:
		return petal_builder_exclude_batch(handle, keys, answers, error);
	case PETAL_GO_BUILDER_ADD_FREQUENT:
		return petal_builder_add_frequent_batch(handle, keys, (const double *)given, answers, error);
	case PETAL_GO_REJUVENATE:
		return petal_filter_rejuvenate_batch(handle, keys, answers, error);
	case PETAL_GO_ROUTER_INSERT:
		return petal_router_insert_batch(handle, keys, answers, error);
	case PETAL_GO_ROUTER_REMOVE:
		return petal_router_remove_batch(handle, keys, answers, error);
	case PETAL_GO_SKETCH_INSERT:
		return petal_sketch_insert_batch(handle, keys, answers, error);
	case PETAL_GO_SKETCH_REMOVE:
		return petal_sketch_remove_batch(handle, keys, answers, error);
	case PETAL_GO_SKETCH_INSERT_VALUE:
		return petal_sketch_insert_value_batch(handle, keys, given, answers, error);
	case PETAL_GO_SKETCH_REMOVE_VALUE:
		return petal_sketch_remove_value_batch(handle, keys, given, answers, error);
	}
	return PETAL_ERR_INTERNAL;
}

#endif
