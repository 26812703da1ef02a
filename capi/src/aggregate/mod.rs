//! petal_aggregate.h: sum, mean, maximum, minimum and count of values that change, each counted once. It is
//! experimental: functions may still change. petal.h has the conventions, which hold for aggregates too.
//!
//! Participants meet again and again, in any order. Each has an id, a state, and a value that belongs to its state. Of
//! two that meet, one is the disseminator, and tells its state and value. The other is the aggregator, and takes the
//! value once, however often they meet. If the disseminator's state changed, it cites the previous one, and the
//! aggregator replaces the value. Each participant has a `petal_aggregate`, which has the memories of both roles:
//!
//!     petal_spec spec = PETAL_SPEC_INIT;
//!     spec.capacity = 1000;
//!     petal_aggregate *ours = NULL, *theirs = NULL;
//!     if (petal_aggregate_new(&spec, &ours, NULL) != PETAL_OK) return 1;
//!     if (petal_aggregate_new(&spec, &theirs, NULL) != PETAL_OK) return 1;
//!     petal_aggregate_answer answer;
//!     petal_aggregate_add(ours, "sensor 7", 8, 0, 18.5, NULL, 0, &answer, NULL);
//!     petal_aggregate_record_sent(theirs, "we", 2, 0, &answer, NULL);
//!
//!     // Later the sensor is in state 1, and its value is 21. The sensor cites what it told us before.
//!     uint32_t told[16];
//!     petal_aggregate_state_value previous[16];
//!     const double value_of_state[16] = {18.5, 21.0};
//!     size_t count = 0;
//!     petal_aggregate_list_sent(theirs, "we", 2, told, 16, &count, NULL);
//!     for (size_t i = 0; i < count; i++) {
//!       previous[i].state = told[i];
//!       previous[i].value = value_of_state[told[i]];
//!     }
//!     petal_aggregate_add(ours, "sensor 7", 8, 1, 21.0, previous, count, &answer, NULL);
//!     petal_aggregate_record_sent(theirs, "we", 2, 1, &answer, NULL);
//!
//! An aggregate has no network: you carry state, value, cited states and the answer. Only the participants are trusted
//! to say what their values are, so take a channel that authenticates.
//!
//! The memories are counting Bloom filters. At their false-positive rate a new id seems known, and the aggregator
//! refuses the participant, at every meeting again. At the same rate it takes a change for a duplicate. So sum and
//! count are a little too low, and `petal_aggregate_get_expected_errors()` says by how much.
//!
//! An aggregate uses these fields of its spec: capacity, false_positive_rate, hash function, seed, secret and
//! parameters (states, roles). The kind is `PETAL_KIND_AGGREGATE`, or 0 if you set no parameter. The capacity is the
//! number of participants. The false_positive_rate is that of each memory with that many entries. Instead of capacity
//! and false_positive_rate the spec may give bits (of all memories together) and hashes (the counters of an entry).

use crate::boundary::boundary;
use crate::handle::{self, Handle, owner};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::aggregate::ROW;
use petal_core::{Aggregate, Spec};

pub mod meeting;
pub mod disseminating;
pub mod results;
pub mod image;

/// The memories of a participant, and what it aggregated. Free it with `petal_aggregate_free()`.
pub struct petal_aggregate(Handle<Aggregate>);

owner!(petal_aggregate, Aggregate);

/// Makes an aggregate that has met nobody.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_new(
    spec: *const petal_spec,
    aggregate: *mut *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give aggregate, given spec], {
        let kind = Some(spec.kind.unwrap_or(ROW.kind));
        let spec = Spec { kind, ..spec };
        aggregate.made(|| petal_core::create_as(&spec))
    })
}

/// Frees an aggregate. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_aggregate_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_free(aggregate: *mut petal_aggregate) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(aggregate) }
}

/// Forgets everything: what is aggregated, what was told, and how often each outcome came.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_aggregate_clear(
    aggregate: *mut petal_aggregate,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change aggregate], aggregate.by(|aggregate| aggregate.clear()))
}
