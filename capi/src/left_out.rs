// Written by `make layers` from the headers and tools/layers/left_out.rs.txt: change those, not this.

// The functions of handles that this build leaves out. They stay in the ABI and refuse; those that return no status
// answer as they do for NULL, and free functions do nothing.

#![allow(dead_code, unused_imports, unused_macros, reason = "a build may leave nothing out")]

use crate::boundary::{NO_ERROR, run};
use crate::status::{PETAL_ERR_UNSUPPORTED_BY_BUILD as LEFT_OUT, petal_error, petal_status};
use petal_core::{Error, Status};
use std::ffi::c_void;

/// Nothing reads the arguments, so one type stands for any pointer.
type Any = *const c_void;

/// Writes to `error` that a function is not there, and which features bring it.
#[cold]
fn refuse(function: &str, features: &str, error: *mut petal_error) {
    run(error, || {
        let how = format_args!("{function}() is not in this build: add {features} to PETAL_KINDS or cargo's features");
        Err(Error::new(Status::UnsupportedByBuild, how))
    });
}

/// Functions by the features that bring them: the types of their arguments, after a semicolon the error if there is
/// one, and what they return.
macro_rules! left_out {
    ($features:literal: $($name:ident($($argument:ty),*; $($error:ident)?) -> $answer:ty = $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($(_: $argument,)* $($error: *mut petal_error)?) -> $answer {
            refuse(stringify!($name), $features, left_out!(@ $($error)?));
            $value
        }
    )*};
    (@) => {
        NO_ERROR
    };
    (@ $error:ident) => {
        $error
    };
}

#[cfg(not(feature = "map"))]
left_out! { "bloomier, retrieval, approximator or mutable_bloomier":
    petal_map_free(Any;) -> () = ();
    petal_map_get(Any, Any, usize, Any, Any;) -> petal_status = LEFT_OUT;
    petal_map_get_u64(Any, u64, Any, Any;) -> petal_status = LEFT_OUT;
    petal_map_get_hash(Any, u64, Any, Any;) -> petal_status = LEFT_OUT;
    petal_map_get_batch(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_get_statistics(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_builder_new(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_builder_free(Any;) -> () = ();
    petal_map_builder_put(Any, Any, usize, u64;) -> petal_status = LEFT_OUT;
    petal_map_builder_put_u64(Any, u64, u64;) -> petal_status = LEFT_OUT;
    petal_map_builder_put_hash(Any, u64, u64;) -> petal_status = LEFT_OUT;
    petal_map_builder_put_batch(Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_builder_key_count(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_builder_finish(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_builder_save(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_builder_serialize_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_builder_merge(Any, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_map_new(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_put(Any, Any, usize, u64, Any;) -> petal_status = LEFT_OUT;
    petal_map_put_u64(Any, u64, u64, Any;) -> petal_status = LEFT_OUT;
    petal_map_put_hash(Any, u64, u64, Any;) -> petal_status = LEFT_OUT;
    petal_map_put_batch(Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_replace(Any, Any, usize, u64, Any;) -> petal_status = LEFT_OUT;
    petal_map_replace_hash(Any, u64, u64, Any;) -> petal_status = LEFT_OUT;
    petal_map_replace_batch(Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_merge(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_clear(Any; error) -> petal_status = LEFT_OUT;
    petal_map_capabilities(Any;) -> u64 = 0;
    petal_map_open(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_open_descriptor(isize, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_open_in_buffer(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_load(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_copy(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_serialized_size(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_serialize(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_map_serialize_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_save(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_verify(Any; error) -> petal_status = LEFT_OUT;
    petal_map_describe(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_sync(Any; error) -> petal_status = LEFT_OUT;
    petal_map_mark_clean(Any; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "map"))]
left_out! { "bloomier, retrieval, approximator or mutable_bloomier":
    petal_map_packed_size(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_pack(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_map_pack_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_unpack(Any, usize, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_delta_size(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_delta(Any, Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_map_delta_to(Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_map_patch(Any, Any, usize, u64; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "map"))]
left_out! { "bloomier, retrieval, approximator or mutable_bloomier":
    petal_map_get_view(Any, Any; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "sketch"))]
left_out! { "iblt, riblt or pinsketch":
    petal_sketch_new(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_free(Any;) -> () = ();
    petal_sketch_insert(Any, Any, usize;) -> petal_status = LEFT_OUT;
    petal_sketch_insert_u64(Any, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_insert_hash(Any, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_insert_batch(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove(Any, Any, usize;) -> petal_status = LEFT_OUT;
    petal_sketch_remove_u64(Any, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_remove_hash(Any, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_remove_batch(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_subtract(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_merge(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_list(Any, Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_clear(Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_capabilities(Any;) -> u64 = 0;
    petal_sketch_expected_failure_rate(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_get_compatibility_id(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_open(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_open_descriptor(isize, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_open_in_buffer(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_load(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_copy(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_serialized_size(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_serialize(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_serialize_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_save(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_verify(Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_describe(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_sync(Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_mark_clean(Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_keep_keys(Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_keeps_keys(Any;) -> bool = false;
    petal_sketch_symbol_count(Any;) -> u64 = 0;
    petal_sketch_export_minisketch(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_import_minisketch(Any, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_sketch_key_bytes(Any;) -> usize = 0;
    petal_sketch_list_keys(Any, Any, Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_get(Any, Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_get_u64(Any, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_get_hash(Any, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_value_bits(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value(Any, Any, usize, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value_u64(Any, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value_hash(Any, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value_batch(Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value(Any, Any, usize, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value_u64(Any, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value_hash(Any, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value_batch(Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_sketch_list_values(Any, Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "riblt"))]
left_out! { "riblt":
    petal_stream_new(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_stream_free(Any;) -> () = ();
    petal_stream_set_limit(Any, u64; error) -> petal_status = LEFT_OUT;
    petal_stream_write(Any, u64, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_stream_read(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_stream_list(Any, Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_stream_list_keys(Any, Any, Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_stream_symbols_written(Any;) -> u64 = 0;
    petal_stream_symbols_read(Any;) -> u64 = 0;
}

#[cfg(not(feature = "session"))]
left_out! { "session":
    petal_session_new(Any, u32, u32, Any; error) -> petal_status = LEFT_OUT;
    petal_session_free(Any;) -> () = ();
    petal_session_get_turn(Any;) -> u32 = 3;
    petal_session_send(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_session_receive(Any, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_session_get_differences(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_session_get_statistics(Any, Any; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "router"))]
left_out! { "router":
    petal_router_new(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_router_free(Any;) -> () = ();
    petal_router_get_node(Any;) -> u64 = 0;
    petal_router_set_node(Any, u64; error) -> petal_status = LEFT_OUT;
    petal_router_insert(Any, Any, usize;) -> petal_status = LEFT_OUT;
    petal_router_insert_hash(Any, u64;) -> petal_status = LEFT_OUT;
    petal_router_insert_batch(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_remove(Any, Any, usize;) -> petal_status = LEFT_OUT;
    petal_router_remove_hash(Any, u64;) -> petal_status = LEFT_OUT;
    petal_router_remove_batch(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_contains(Any, Any, usize;) -> bool = true;
    petal_router_contains_hash(Any, u64;) -> bool = true;
    petal_router_clear(Any; error) -> petal_status = LEFT_OUT;
    petal_router_capabilities(Any;) -> u64 = 0;
    petal_router_add_edge(Any, u64, u64, f64; error) -> petal_status = LEFT_OUT;
    petal_router_remove_edge(Any, u64; error) -> petal_status = LEFT_OUT;
    petal_router_set_edge_weight(Any, u64, f64; error) -> petal_status = LEFT_OUT;
    petal_router_set_level_weights(Any, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_router_get_neighbours(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_router_get_edge(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_router_advertise(Any, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_advertise_changes(Any, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_receive(Any, u64, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_router_get_route(Any, Any, usize, Any, u32, Any;) -> petal_status = LEFT_OUT;
    petal_router_get_route_hash(Any, u64, Any, u32, Any;) -> petal_status = LEFT_OUT;
    petal_router_walk(Any, Any, usize, Any, Any;) -> petal_status = LEFT_OUT;
    petal_router_walk_hash(Any, u64, Any, Any;) -> petal_status = LEFT_OUT;
    petal_router_get_statistics(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_open(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_open_descriptor(isize, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_open_in_buffer(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_load(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_copy(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_serialized_size(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_serialize(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_router_serialize_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_save(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_verify(Any; error) -> petal_status = LEFT_OUT;
    petal_router_describe(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_router_sync(Any; error) -> petal_status = LEFT_OUT;
    petal_router_mark_clean(Any; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "aggregate"))]
left_out! { "aggregate":
    petal_aggregate_new(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_free(Any;) -> () = ();
    petal_aggregate_clear(Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_add(Any, Any, usize, u32, f64, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_add_hash(Any, u64, u32, f64, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_remove(Any, Any, usize, u32, f64, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_remove_hash(Any, u64, u32, f64, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_list_sent(Any, Any, usize, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_list_sent_hash(Any, u64, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_record_sent(Any, Any, usize, u32, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_record_sent_hash(Any, u64, u32, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_forget_sent(Any, Any, usize, u32, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_forget_sent_hash(Any, u64, u32, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_get_statistics(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_get_expected_errors(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_count_in_state(Any, u32, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_state_count(Any;) -> u32 = 0;
    petal_aggregate_open(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_open_descriptor(isize, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_open_in_buffer(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_load(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_copy(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_serialized_size(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_serialize(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_serialize_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_save(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_verify(Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_describe(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_sync(Any; error) -> petal_status = LEFT_OUT;
    petal_aggregate_mark_clean(Any; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "digest"))]
left_out! { "digest":
    petal_digest_new(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_free(Any;) -> () = ();
    petal_digest_add(Any, u64, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_digest_begin(Any, u64; error) -> petal_status = LEFT_OUT;
    petal_digest_write(Any, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_digest_end(Any; error) -> petal_status = LEFT_OUT;
    petal_digest_find(Any, Any, usize, Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_shortest_excerpt(Any;) -> u64 = 0;
    petal_digest_shortest_excerpt_at(Any, f64, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_expected_rate(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_get_statistics(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_get_payload_at(Any, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_attach(Any, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_digest_get_attachment(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_clear(Any; error) -> petal_status = LEFT_OUT;
    petal_digest_capabilities(Any;) -> u64 = 0;
    petal_digest_open(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_open_descriptor(isize, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_open_in_buffer(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_load(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_copy(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_serialized_size(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_serialize(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_serialize_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_save(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_verify(Any; error) -> petal_status = LEFT_OUT;
    petal_digest_describe(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_digest_sync(Any; error) -> petal_status = LEFT_OUT;
    petal_digest_mark_clean(Any; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "index"))]
left_out! { "index":
    petal_index_new(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_free(Any;) -> () = ();
    petal_index_add(Any, u64, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_index_remove(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_index_remove_row(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_index_next_row(Any;) -> u64 = 0;
    petal_index_row_count(Any;) -> u64 = 0;
    petal_index_width(Any;) -> u64 = 0;
    petal_index_get_row_at(Any, u64, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_copy_row(Any, u64, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_index_find_row(Any, u64, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_merge(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_arrange(Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_index_arrange_both(Any, Any, u64, Any; error) -> petal_status = LEFT_OUT;
    petal_index_attach(Any, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_index_get_attachment(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_index_clear(Any; error) -> petal_status = LEFT_OUT;
    petal_index_capabilities(Any;) -> u64 = 0;
    petal_index_builder_new(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_builder_free(Any;) -> () = ();
    petal_index_builder_add(Any, u64, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_index_builder_finish(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_open(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_open_descriptor(isize, u64, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_open_in_buffer(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_load(Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_copy(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_serialized_size(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_serialize(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_index_serialize_to(Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_save(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_verify(Any; error) -> petal_status = LEFT_OUT;
    petal_index_describe(Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_sync(Any; error) -> petal_status = LEFT_OUT;
    petal_index_mark_clean(Any; error) -> petal_status = LEFT_OUT;
    petal_index_find_top(Any, Any, usize, usize, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_find_similar(Any, Any, usize, f64, Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_index_visit_similar(Any, Any, usize, f64, Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_find_top_batch(Any, Any, usize, usize, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_find_similar_batch(Any, Any, usize, f64, Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_index_find_containing(Any, Any, usize, Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_index_visit_containing(Any, Any, usize, Any, Any, Any, Any; error) -> petal_status = LEFT_OUT;
    petal_index_expected_false_positive_rate(Any, Any, usize, Any; error) -> petal_status = LEFT_OUT;
    petal_index_add_feature(Any, Any, usize, Any, usize, u32; error) -> petal_status = LEFT_OUT;
    petal_index_add_feature_hash(Any, Any, usize, u64, u32; error) -> petal_status = LEFT_OUT;
    petal_index_fold_row(Any, Any, usize, u32, u64, Any, usize; error) -> petal_status = LEFT_OUT;
    petal_index_estimate_similarity(Any, Any, Any, usize, Any, Any; error) -> petal_status = LEFT_OUT;
}
