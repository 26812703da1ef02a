//! PLANNING
//!
//! Which kind of filter, and how large? `petal_plan()` asks every one.

use crate::boundary::{self, boundary};
use crate::kinds::{PETAL_NAME_SIZE, petal_kind};
use crate::status::{petal_error, petal_status};
use petal_core::plan::{Goal, Request};
use petal_core::{Capabilities, Status, plan};
use std::ffi::c_char;

/// What is wanted: set `keys`, and `false_positive_rate` or `memory`. Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_plan_request {
    /// sizeof(petal_plan_request).
    pub struct_size: usize,
    /// Distinct keys; of kinds that forget (`PETAL_CAN_AGE`) the window, of which the last so many are remembered.
    pub keys: u64,
    /// The greatest false-positive rate, inside (0, 1); 0 if `memory` is set.
    pub false_positive_rate: f64,
    /// The most bytes; 0 if `false_positive_rate` is set.
    pub memory: u64,
    /// What the kind must be able to do: `PETAL_CAN_*`, ORed; with `PETAL_MAY_LOSE_KEYS` kinds that lose keys will do.
    pub capabilities: u64,
    /// 1 if all keys are known before the first lookup, so that kinds which cannot insert will do; otherwise 0.
    pub is_static: u32,
    /// 0.
    pub reserved: u32,
    /// Where keys are integers: the bound below which all of them are, at least `keys`. Kinds whose `petal_kind_info` has
    /// `takes_integers` are proposed then. 0 is unknown.
    pub universe: u64,
    /// How often each key comes at most, where it is counted: kinds that count have room for that, or say why not. 0 is
    /// taken for 1.
    pub times: u64,
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_plan_request {
    const FIRST_SIZE: usize = 64;
}

/// The size of a proposal's reason, with its final NUL.
pub const PETAL_REASON_SIZE: usize = 240;

/// What one kind would be. In an array of them only the first needs its `struct_size` set: it says how long each is.
/// Since 0.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_proposal {
    /// sizeof(petal_proposal).
    pub struct_size: usize,
    /// The kind.
    pub kind: petal_kind,
    /// `PETAL_OK` if the kind fits; otherwise why not, and the numbers below are 0.
    pub status: petal_status,
    /// Bits for each key.
    pub bits_per_key: f64,
    /// Bytes of the image.
    pub bytes: u64,
    /// The exact false-positive rate with all keys in it; with `PETAL_CAN_GROW`, the rate that it keeps to however many
    /// keys come; with `PETAL_CAN_AGE`, the largest that it comes to, with `keys` keys in the window.
    pub false_positive_rate: f64,
    /// Cache lines that a lookup of a present key touches.
    pub lines_per_lookup: f64,
    /// Bytes that a builder takes beside the filter, without a memory limit and on one thread, for kinds that are built
    /// from all of their keys: eight for each key, and what the work needs. 0 for kinds that are made empty.
    pub build_memory: u64,
    /// The kind's name.
    pub name: [c_char; PETAL_NAME_SIZE],
    /// Why the kind does not fit; empty if it does.
    pub reason: [c_char; PETAL_REASON_SIZE],
}

// SAFETY: numbers and arrays of numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_proposal {
    const FIRST_SIZE: usize = 328;
}

const _: () = assert!(petal_core::MESSAGE_LENGTH < PETAL_REASON_SIZE);

/// Proposes kinds: those that fit first, the smallest (or, for a memory, the most accurate) at the top. Writes as many
/// as there is `room` for into `proposals`, and into `count` how many there are: one for each kind of filter, so that
/// room for `petal_kind_count()` is enough. No keys are taken for one. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_plan(
    request: *const petal_plan_request,
    proposals: *mut petal_proposal,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [request, proposals, count], {
        // SAFETY: checked not to be NULL; the conventions say the rest.
        let request = unsafe { boundary::read(request)? };
        let refuse = |message| Err(boundary::error(Status::UnknownValue, message));
        let known = Capabilities::ALL.iter().fold(0, |all, (_, one)| all | one.0);
        if request.capabilities & !known != 0 {
            return refuse(format_args!("capabilities = {:#x} are not all known", request.capabilities));
        }
        if request.reserved != 0 || request.is_static > 1 {
            return refuse(format_args!(
                "is_static = {} and reserved = {}: 0 or 1, and 0",
                request.is_static, request.reserved
            ));
        }
        let goal = match (request.false_positive_rate, request.memory) {
            (rate, 0) => Goal::FalsePositiveRate(rate),
            (0.0, bytes) => Goal::Memory(bytes),
            (rate, bytes) => {
                let message = format_args!("false_positive_rate = {rate} and memory = {bytes}: give one of them");
                return Err(boundary::error(Status::Contradiction, message));
            }
        };
        let planned = plan::plan(&Request {
            keys: request.keys,
            goal,
            capabilities: Capabilities(request.capabilities),
            is_static: request.is_static == 1,
            universe: request.universe,
            times: request.times,
        })?;
        if room > 0 {
            // SAFETY: there is at least one, with its size set.
            unsafe { boundary::check_out(proposals)? };
        }
        for (i, proposal) in planned.iter().take(room).enumerate() {
            let mut row = petal_proposal {
                struct_size: 0,
                kind: proposal.kind.0,
                status: 0,
                bits_per_key: 0.0,
                bytes: 0,
                false_positive_rate: 0.0,
                lines_per_lookup: 0.0,
                build_memory: 0,
                name: [0; PETAL_NAME_SIZE],
                reason: [0; PETAL_REASON_SIZE],
            };
            boundary::copy_text(proposal.name, &mut row.name);
            match &proposal.outcome {
                Ok(fit) => {
                    row.bits_per_key = fit.bits_per_key;
                    row.bytes = fit.bytes;
                    row.false_positive_rate = fit.false_positive_rate;
                    row.lines_per_lookup = fit.lines_per_lookup;
                    row.build_memory = fit.build_memory;
                }
                Err(reason) => {
                    row.status = reason.status() as petal_status;
                    boundary::copy_text(reason.message(), &mut row.reason);
                }
            }
            // SAFETY: there is room for `room` of them, each as long as the first says.
            unsafe {
                let length = (*proposals).struct_size;
                let place = proposals.byte_add(i * length);
                (&raw mut (*place).struct_size).write_unaligned(length);
                boundary::write(place, row);
            }
        }
        // SAFETY: checked not to be NULL.
        unsafe { count.write(planned.len()) };
        Ok(())
    })
}
