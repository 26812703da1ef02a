// Written by `make layers` from the headers: change those, not this. Part of petal.hpp.
#ifndef PETAL_HPP_CALLS
#define PETAL_HPP_CALLS

#include "errors.hpp"

#include <petal.h>
#include <petal_aggregate.h>
#include <petal_digest.h>
#include <petal_index.h>
#include <petal_map.h>
#include <petal_more.h>
#include <petal_router.h>
#include <petal_sketch.h>
#include <petal_wire.h>

namespace petal {
#if !PETAL_HPP_EXCEPTIONS
inline namespace without_exceptions {
#endif

namespace detail {

/// The functions of the C API for a handle, by the names that handles share.
template <class Handle>
struct calls;

template <>
struct calls<petal_filter> {
  static constexpr auto capabilities = petal_filter_capabilities;
  static constexpr auto clear = petal_filter_clear;
  static constexpr auto copy = petal_filter_copy;
  static constexpr auto delta = petal_filter_delta;
  static constexpr auto delta_size = petal_filter_delta_size;
  static constexpr auto delta_to = petal_filter_delta_to;
  static constexpr auto describe = petal_filter_describe;
  static constexpr auto free = petal_filter_free;
  static constexpr auto load = petal_filter_load;
  static constexpr auto mark_clean = petal_filter_mark_clean;
  static constexpr auto merge = petal_filter_merge;
  static constexpr auto open = petal_filter_open;
  static constexpr auto open_descriptor = petal_filter_open_descriptor;
  static constexpr auto open_in_buffer = petal_filter_open_in_buffer;
  static constexpr auto pack = petal_filter_pack;
  static constexpr auto pack_to = petal_filter_pack_to;
  static constexpr auto packed_size = petal_filter_packed_size;
  static constexpr auto patch = petal_filter_patch;
  static constexpr auto save = petal_filter_save;
  static constexpr auto serialize = petal_filter_serialize;
  static constexpr auto serialize_to = petal_filter_serialize_to;
  static constexpr auto serialized_size = petal_filter_serialized_size;
  static constexpr auto sync = petal_filter_sync;
  static constexpr auto unpack = petal_filter_unpack;
  static constexpr auto verify = petal_filter_verify;
};

template <>
struct calls<petal_builder> {
  static constexpr auto finish = petal_builder_finish;
  static constexpr auto free = petal_builder_free;
  static constexpr auto key_count = petal_builder_key_count;
  static constexpr auto merge = petal_builder_merge;
  static constexpr auto save = petal_builder_save;
  static constexpr auto serialize_to = petal_builder_serialize_to;
};

template <>
struct calls<petal_aggregate> {
  static constexpr auto clear = petal_aggregate_clear;
  static constexpr auto copy = petal_aggregate_copy;
  static constexpr auto describe = petal_aggregate_describe;
  static constexpr auto free = petal_aggregate_free;
  static constexpr auto load = petal_aggregate_load;
  static constexpr auto mark_clean = petal_aggregate_mark_clean;
  static constexpr auto open = petal_aggregate_open;
  static constexpr auto open_descriptor = petal_aggregate_open_descriptor;
  static constexpr auto open_in_buffer = petal_aggregate_open_in_buffer;
  static constexpr auto save = petal_aggregate_save;
  static constexpr auto serialize = petal_aggregate_serialize;
  static constexpr auto serialize_to = petal_aggregate_serialize_to;
  static constexpr auto serialized_size = petal_aggregate_serialized_size;
  static constexpr auto sync = petal_aggregate_sync;
  static constexpr auto verify = petal_aggregate_verify;
};

template <>
struct calls<petal_digest> {
  static constexpr auto capabilities = petal_digest_capabilities;
  static constexpr auto clear = petal_digest_clear;
  static constexpr auto copy = petal_digest_copy;
  static constexpr auto describe = petal_digest_describe;
  static constexpr auto free = petal_digest_free;
  static constexpr auto load = petal_digest_load;
  static constexpr auto mark_clean = petal_digest_mark_clean;
  static constexpr auto open = petal_digest_open;
  static constexpr auto open_descriptor = petal_digest_open_descriptor;
  static constexpr auto open_in_buffer = petal_digest_open_in_buffer;
  static constexpr auto save = petal_digest_save;
  static constexpr auto serialize = petal_digest_serialize;
  static constexpr auto serialize_to = petal_digest_serialize_to;
  static constexpr auto serialized_size = petal_digest_serialized_size;
  static constexpr auto sync = petal_digest_sync;
  static constexpr auto verify = petal_digest_verify;
};

template <>
struct calls<petal_index> {
  static constexpr auto capabilities = petal_index_capabilities;
  static constexpr auto clear = petal_index_clear;
  static constexpr auto copy = petal_index_copy;
  static constexpr auto describe = petal_index_describe;
  static constexpr auto free = petal_index_free;
  static constexpr auto load = petal_index_load;
  static constexpr auto mark_clean = petal_index_mark_clean;
  static constexpr auto merge = petal_index_merge;
  static constexpr auto open = petal_index_open;
  static constexpr auto open_descriptor = petal_index_open_descriptor;
  static constexpr auto open_in_buffer = petal_index_open_in_buffer;
  static constexpr auto save = petal_index_save;
  static constexpr auto serialize = petal_index_serialize;
  static constexpr auto serialize_to = petal_index_serialize_to;
  static constexpr auto serialized_size = petal_index_serialized_size;
  static constexpr auto sync = petal_index_sync;
  static constexpr auto verify = petal_index_verify;
};

template <>
struct calls<petal_map> {
  static constexpr auto capabilities = petal_map_capabilities;
  static constexpr auto clear = petal_map_clear;
  static constexpr auto copy = petal_map_copy;
  static constexpr auto delta = petal_map_delta;
  static constexpr auto delta_size = petal_map_delta_size;
  static constexpr auto delta_to = petal_map_delta_to;
  static constexpr auto describe = petal_map_describe;
  static constexpr auto free = petal_map_free;
  static constexpr auto load = petal_map_load;
  static constexpr auto mark_clean = petal_map_mark_clean;
  static constexpr auto merge = petal_map_merge;
  static constexpr auto open = petal_map_open;
  static constexpr auto open_descriptor = petal_map_open_descriptor;
  static constexpr auto open_in_buffer = petal_map_open_in_buffer;
  static constexpr auto pack = petal_map_pack;
  static constexpr auto pack_to = petal_map_pack_to;
  static constexpr auto packed_size = petal_map_packed_size;
  static constexpr auto patch = petal_map_patch;
  static constexpr auto save = petal_map_save;
  static constexpr auto serialize = petal_map_serialize;
  static constexpr auto serialize_to = petal_map_serialize_to;
  static constexpr auto serialized_size = petal_map_serialized_size;
  static constexpr auto sync = petal_map_sync;
  static constexpr auto unpack = petal_map_unpack;
  static constexpr auto verify = petal_map_verify;
};

template <>
struct calls<petal_map_builder> {
  static constexpr auto finish = petal_map_builder_finish;
  static constexpr auto free = petal_map_builder_free;
  static constexpr auto key_count = petal_map_builder_key_count;
  static constexpr auto merge = petal_map_builder_merge;
  static constexpr auto save = petal_map_builder_save;
  static constexpr auto serialize_to = petal_map_builder_serialize_to;
};

template <>
struct calls<petal_router> {
  static constexpr auto capabilities = petal_router_capabilities;
  static constexpr auto clear = petal_router_clear;
  static constexpr auto copy = petal_router_copy;
  static constexpr auto describe = petal_router_describe;
  static constexpr auto free = petal_router_free;
  static constexpr auto load = petal_router_load;
  static constexpr auto mark_clean = petal_router_mark_clean;
  static constexpr auto open = petal_router_open;
  static constexpr auto open_descriptor = petal_router_open_descriptor;
  static constexpr auto open_in_buffer = petal_router_open_in_buffer;
  static constexpr auto save = petal_router_save;
  static constexpr auto serialize = petal_router_serialize;
  static constexpr auto serialize_to = petal_router_serialize_to;
  static constexpr auto serialized_size = petal_router_serialized_size;
  static constexpr auto sync = petal_router_sync;
  static constexpr auto verify = petal_router_verify;
};

template <>
struct calls<petal_sketch> {
  static constexpr auto capabilities = petal_sketch_capabilities;
  static constexpr auto clear = petal_sketch_clear;
  static constexpr auto copy = petal_sketch_copy;
  static constexpr auto describe = petal_sketch_describe;
  static constexpr auto free = petal_sketch_free;
  static constexpr auto load = petal_sketch_load;
  static constexpr auto mark_clean = petal_sketch_mark_clean;
  static constexpr auto merge = petal_sketch_merge;
  static constexpr auto open = petal_sketch_open;
  static constexpr auto open_descriptor = petal_sketch_open_descriptor;
  static constexpr auto open_in_buffer = petal_sketch_open_in_buffer;
  static constexpr auto save = petal_sketch_save;
  static constexpr auto serialize = petal_sketch_serialize;
  static constexpr auto serialize_to = petal_sketch_serialize_to;
  static constexpr auto serialized_size = petal_sketch_serialized_size;
  static constexpr auto sync = petal_sketch_sync;
  static constexpr auto verify = petal_sketch_verify;
};

}  // namespace detail

#if !PETAL_HPP_EXCEPTIONS
}  // namespace without_exceptions
#endif
}  // namespace petal

#endif  // PETAL_HPP_CALLS
