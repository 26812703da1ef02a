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
    petal_map_free(Pointer;) -> () = ();
    petal_map_get(Pointer, Pointer, usize, Pointer, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_get_u64(Pointer, u64, Pointer, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_get_hash(Pointer, u64, Pointer, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_get_batch(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_get_statistics(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_builder_new(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_builder_free(Pointer;) -> () = ();
    petal_map_builder_put(Pointer, Pointer, usize, u64;) -> petal_status = LEFT_OUT;
    petal_map_builder_put_u64(Pointer, u64, u64;) -> petal_status = LEFT_OUT;
    petal_map_builder_put_hash(Pointer, u64, u64;) -> petal_status = LEFT_OUT;
    petal_map_builder_put_batch(Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_builder_key_count(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_builder_finish(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_builder_save(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_builder_serialize_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_builder_merge(Pointer, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_map_new(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_put(Pointer, Pointer, usize, u64, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_put_u64(Pointer, u64, u64, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_put_hash(Pointer, u64, u64, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_put_batch(Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_replace(Pointer, Pointer, usize, u64, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_replace_u64(Pointer, u64, u64, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_replace_hash(Pointer, u64, u64, Pointer;) -> petal_status = LEFT_OUT;
    petal_map_replace_batch(Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_merge(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_clear(Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_capabilities(Pointer;) -> u64 = 0;
    petal_map_open(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_open_descriptor(isize, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_open_in_buffer(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_load(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_copy(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_serialized_size(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_serialize(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_serialize_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_save(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_verify(Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_describe(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_sync(Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_mark_clean(Pointer; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "map"))]
left_out! { "bloomier, retrieval, approximator or mutable_bloomier":
    petal_map_packed_size(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_pack(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_pack_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_unpack(Pointer, usize, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_delta_size(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_delta(Pointer, Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_delta_to(Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_map_patch(Pointer, Pointer, usize, u64; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "map"))]
left_out! { "bloomier, retrieval, approximator or mutable_bloomier":
    petal_map_get_view(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "sketch"))]
left_out! { "iblt, riblt or pinsketch":
    petal_sketch_new(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_free(Pointer;) -> () = ();
    petal_sketch_insert(Pointer, Pointer, usize;) -> petal_status = LEFT_OUT;
    petal_sketch_insert_u64(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_insert_hash(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_insert_batch(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove(Pointer, Pointer, usize;) -> petal_status = LEFT_OUT;
    petal_sketch_remove_u64(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_remove_hash(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_sketch_remove_batch(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_subtract(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_merge(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_list(Pointer, Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_clear(Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_capabilities(Pointer;) -> u64 = 0;
    petal_sketch_expected_failure_rate(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_get_compatibility_id(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_open(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_open_descriptor(isize, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_open_in_buffer(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_load(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_copy(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_serialized_size(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_serialize(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_serialize_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_save(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_verify(Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_describe(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_sync(Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_mark_clean(Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_keep_keys(Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_keeps_keys(Pointer;) -> bool = false;
    petal_sketch_symbol_count(Pointer;) -> u64 = 0;
    petal_sketch_export_minisketch(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_import_minisketch(Pointer, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_sketch_key_bytes(Pointer;) -> usize = 0;
    petal_sketch_list_keys(Pointer, Pointer, Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_get(Pointer, Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_get_u64(Pointer, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_get_hash(Pointer, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_value_bits(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value(Pointer, Pointer, usize, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value_u64(Pointer, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value_hash(Pointer, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_insert_value_batch(Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value(Pointer, Pointer, usize, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value_u64(Pointer, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value_hash(Pointer, u64, u64; error) -> petal_status = LEFT_OUT;
    petal_sketch_remove_value_batch(Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_sketch_list_values(Pointer, Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "riblt"))]
left_out! { "riblt":
    petal_stream_new(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_stream_free(Pointer;) -> () = ();
    petal_stream_set_limit(Pointer, u64; error) -> petal_status = LEFT_OUT;
    petal_stream_write(Pointer, u64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_stream_read(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_stream_list(Pointer, Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_stream_list_keys(Pointer, Pointer, Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_stream_symbols_written(Pointer;) -> u64 = 0;
    petal_stream_symbols_read(Pointer;) -> u64 = 0;
}

#[cfg(not(feature = "session"))]
left_out! { "session":
    petal_session_new(Pointer, u32, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_session_free(Pointer;) -> () = ();
    petal_session_get_turn(Pointer;) -> u32 = 3;
    petal_session_send(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_session_receive(Pointer, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_session_get_differences(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_session_get_statistics(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "router"))]
left_out! { "router":
    petal_router_new(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_free(Pointer;) -> () = ();
    petal_router_get_node(Pointer;) -> u64 = 0;
    petal_router_set_node(Pointer, u64; error) -> petal_status = LEFT_OUT;
    petal_router_insert(Pointer, Pointer, usize;) -> petal_status = LEFT_OUT;
    petal_router_insert_u64(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_router_insert_hash(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_router_insert_batch(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_remove(Pointer, Pointer, usize;) -> petal_status = LEFT_OUT;
    petal_router_remove_u64(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_router_remove_hash(Pointer, u64;) -> petal_status = LEFT_OUT;
    petal_router_remove_batch(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_contains(Pointer, Pointer, usize;) -> bool = true;
    petal_router_contains_u64(Pointer, u64;) -> bool = true;
    petal_router_contains_hash(Pointer, u64;) -> bool = true;
    petal_router_clear(Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_capabilities(Pointer;) -> u64 = 0;
    petal_router_add_edge(Pointer, u64, u64, f64; error) -> petal_status = LEFT_OUT;
    petal_router_remove_edge(Pointer, u64; error) -> petal_status = LEFT_OUT;
    petal_router_set_edge_weight(Pointer, u64, f64; error) -> petal_status = LEFT_OUT;
    petal_router_set_level_weights(Pointer, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_router_get_neighbours(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_get_edge(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_advertise(Pointer, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_advertise_changes(Pointer, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_receive(Pointer, u64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_get_route(Pointer, Pointer, usize, Pointer, u32, Pointer;) -> petal_status = LEFT_OUT;
    petal_router_get_route_u64(Pointer, u64, Pointer, u32, Pointer;) -> petal_status = LEFT_OUT;
    petal_router_get_route_hash(Pointer, u64, Pointer, u32, Pointer;) -> petal_status = LEFT_OUT;
    petal_router_walk(Pointer, Pointer, usize, Pointer, Pointer;) -> petal_status = LEFT_OUT;
    petal_router_walk_u64(Pointer, u64, Pointer, Pointer;) -> petal_status = LEFT_OUT;
    petal_router_walk_hash(Pointer, u64, Pointer, Pointer;) -> petal_status = LEFT_OUT;
    petal_router_get_statistics(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_open(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_open_descriptor(isize, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_open_in_buffer(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_load(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_copy(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_serialized_size(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_serialize(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_serialize_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_save(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_verify(Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_describe(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_sync(Pointer; error) -> petal_status = LEFT_OUT;
    petal_router_mark_clean(Pointer; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "aggregate"))]
left_out! { "aggregate":
    petal_aggregate_new(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_free(Pointer;) -> () = ();
    petal_aggregate_clear(Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_add(Pointer, Pointer, usize, u32, f64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_add_u64(Pointer, u64, u32, f64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_add_hash(Pointer, u64, u32, f64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_remove(Pointer, Pointer, usize, u32, f64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_remove_u64(Pointer, u64, u32, f64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_remove_hash(Pointer, u64, u32, f64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_list_sent(Pointer, Pointer, usize, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_list_sent_u64(Pointer, u64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_list_sent_hash(Pointer, u64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_record_sent(Pointer, Pointer, usize, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_record_sent_u64(Pointer, u64, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_record_sent_hash(Pointer, u64, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_forget_sent(Pointer, Pointer, usize, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_forget_sent_u64(Pointer, u64, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_forget_sent_hash(Pointer, u64, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_get_statistics(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_get_expected_errors(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_count_in_state(Pointer, u32, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_state_count(Pointer;) -> u32 = 0;
    petal_aggregate_open(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_open_descriptor(isize, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_open_in_buffer(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_load(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_copy(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_serialized_size(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_serialize(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_serialize_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_save(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_verify(Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_describe(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_sync(Pointer; error) -> petal_status = LEFT_OUT;
    petal_aggregate_mark_clean(Pointer; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "digest"))]
left_out! { "digest":
    petal_digest_new(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_free(Pointer;) -> () = ();
    petal_digest_add(Pointer, u64, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_digest_begin(Pointer, u64; error) -> petal_status = LEFT_OUT;
    petal_digest_write(Pointer, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_digest_end(Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_find(Pointer, Pointer, usize, Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_shortest_excerpt(Pointer;) -> u64 = 0;
    petal_digest_shortest_excerpt_at(Pointer, f64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_expected_rate(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_get_statistics(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_get_payload_at(Pointer, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_attach(Pointer, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_digest_get_attachment(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_clear(Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_capabilities(Pointer;) -> u64 = 0;
    petal_digest_open(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_open_descriptor(isize, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_open_in_buffer(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_load(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_copy(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_serialized_size(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_serialize(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_serialize_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_save(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_verify(Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_describe(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_sync(Pointer; error) -> petal_status = LEFT_OUT;
    petal_digest_mark_clean(Pointer; error) -> petal_status = LEFT_OUT;
}

#[cfg(not(feature = "index"))]
left_out! { "index":
    petal_index_new(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_free(Pointer;) -> () = ();
    petal_index_add(Pointer, u64, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_remove(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_remove_row(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_next_row(Pointer;) -> u64 = 0;
    petal_index_row_count(Pointer;) -> u64 = 0;
    petal_index_width(Pointer;) -> u64 = 0;
    petal_index_get_row_at(Pointer, u64, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_copy_row(Pointer, u64, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_index_find_row(Pointer, u64, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_merge(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_arrange(Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_arrange_both(Pointer, Pointer, u64, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_attach(Pointer, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_index_get_attachment(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_clear(Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_capabilities(Pointer;) -> u64 = 0;
    petal_index_builder_new(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_builder_free(Pointer;) -> () = ();
    petal_index_builder_add(Pointer, u64, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_index_builder_finish(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_open(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_open_descriptor(isize, u64, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_open_in_buffer(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_load(Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_copy(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_serialized_size(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_serialize(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_serialize_to(Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_save(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_verify(Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_describe(Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_sync(Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_mark_clean(Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_find_top(Pointer, Pointer, usize, usize, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_find_similar(Pointer, Pointer, usize, f64, Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_visit_similar(Pointer, Pointer, usize, f64, Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_find_top_batch(Pointer, Pointer, usize, usize, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_find_similar_batch(Pointer, Pointer, usize, f64, Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_find_containing(Pointer, Pointer, usize, Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_visit_containing(Pointer, Pointer, usize, Pointer, Pointer, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_expected_false_positive_rate(Pointer, Pointer, usize, Pointer; error) -> petal_status = LEFT_OUT;
    petal_index_add_feature(Pointer, Pointer, usize, Pointer, usize, u32; error) -> petal_status = LEFT_OUT;
    petal_index_add_feature_hash(Pointer, Pointer, usize, u64, u32; error) -> petal_status = LEFT_OUT;
    petal_index_fold_row(Pointer, Pointer, usize, u32, u64, Pointer, usize; error) -> petal_status = LEFT_OUT;
    petal_index_estimate_similarity(Pointer, Pointer, Pointer, usize, Pointer, Pointer; error) -> petal_status = LEFT_OUT;
}
