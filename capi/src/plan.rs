//! PLANNING
//!
//! Which kind of filter, and how large? `petal_plan_propose()` asks every kind. If the request has a
//! `false_positive_rate`, a proposal describes the filter of this spec: the proposal's `kind`, with `keys` as the
//! `capacity`, and the same rate. For a kind with `PETAL_TAKES_INTEGERS` the spec has the universe as its `bits`, and
//! neither capacity nor rate.

use crate::arguments::Given;
use crate::boundary::{self, boundary};
use crate::kinds::PETAL_NAME_SIZE;
use crate::spec::{petal_kind, petal_setting};
use crate::status::{petal_error, petal_status};
use petal_core::plan::{Goal, Request};
use petal_core::{Capabilities, Result, Setting, Status, plan};
use std::ffi::c_char;

/// What you want: set `keys`, and `false_positive_rate` or `memory`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_plan_request {
    /// sizeof(petal_plan_request), or 0 for its size in the first release.
    pub struct_size: usize,
    /// Distinct keys. For a kind that forgets (`PETAL_CAN_AGE`) they are the last keys that it remembers: its window.
    pub keys: u64,
    /// The greatest false-positive rate, inside (0, 1); 0 if `memory` is set.
    pub false_positive_rate: f64,
    /// The most bytes; 0 if `false_positive_rate` is set.
    pub memory: u64,
    /// What the kind must be able to do: `PETAL_CAN_*`, ORed. `PETAL_MAY_LOSE_KEYS` also admits kinds that lose keys.
    pub capabilities: u64,
    /// 1 if you know all keys before the first lookup, so that kinds which cannot insert are proposed too; otherwise 0.
    pub is_static: u32,
    /// 0.
    pub reserved: u32,
    /// If you know all keys that are asked for, members and others: how many they are, at least `keys`; 0 is unknown.
    /// Kinds with `PETAL_TAKES_INTEGERS` fit only if you give the number: their keys are the integers below it. With
    /// `is_static` the proposal of `exact_set` is one without an error for any of these keys.
    pub universe: u64,
    /// The greatest number of times that one key comes, for kinds that count. If a kind cannot hold that many copies,
    /// its proposal says why. 0 means 1.
    pub times: u64,
    /// If you know keys that are no members but are asked for often: the share, from 0 to 1, of all lookups of absent
    /// keys that asks for them. With `is_static` the rate of `stacked` is then that of all lookups of absent keys.
    pub frequent: f64,
    /// How many such keys there are; 0 means as many as `keys`.
    pub non_members: u64,
}

// SAFETY: numbers, arrays of numbers and nullable pointers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_plan_request {
    const FIRST_SIZE: usize = 80;
}

impl Given for petal_plan_request {
    type Said = Request;

    fn said(given: Option<petal_plan_request>, name: &str) -> Result<Request> {
        let request = given.ok_or_else(|| boundary::null(name))?;
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
        Ok(Request {
            keys: request.keys,
            goal,
            capabilities: Capabilities(request.capabilities),
            is_static: request.is_static == 1,
            universe: request.universe,
            frequent: request.frequent,
            non_members: request.non_members,
            times: request.times,
        })
    }
}

/// The size of a proposal's reason, with its final NUL.
pub const PETAL_REASON_SIZE: usize = 240;

/// The offer of one kind. The size of this struct never changes, because it is an element of arrays: later fields take
/// the place of `reserved`. Only the `struct_size` of an array's first element matters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_plan_proposal {
    /// sizeof(petal_plan_proposal), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The kind.
    pub kind: petal_kind,
    /// `PETAL_OK` if the kind fits. Otherwise the status says why not, and the numbers below are 0.
    pub status: petal_status,
    /// Bits for each key.
    pub bits_per_key: f64,
    /// The size of the image in bytes. For `ribbon` and `golomb` it is the greatest size, because theirs depends on the
    /// hashes of the keys.
    pub bytes: u64,
    /// The exact false-positive rate with all keys inserted. With `PETAL_CAN_GROW` it is the rate that the filter keeps
    /// however many keys come. With `PETAL_CAN_AGE` it is the filter's largest rate, with `keys` keys in the window.
    pub false_positive_rate: f64,
    /// Cache lines that a lookup of a present key touches.
    pub lines_per_lookup: f64,
    /// Bytes that a builder takes besides the filter, without a memory limit and on one thread, for kinds that a
    /// builder makes from all keys: eight for each key, and what the work needs. 0 for kinds that start empty.
    pub build_memory: u64,
    /// The kind's name.
    pub name: [c_char; PETAL_NAME_SIZE],
    /// Why the kind does not fit; empty if it does.
    pub reason: [c_char; PETAL_REASON_SIZE],
    /// The parameter that gives the kind these numbers, for `petal_spec.parameters`. Its id is 0 where all parameters
    /// have their defaults.
    pub setting: petal_setting,
    /// 0.
    pub reserved: [u64; 2],
}

// SAFETY: numbers and arrays of numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_plan_proposal {
    const FIRST_SIZE: usize = 360;
}

const _: () = assert!(petal_core::MESSAGE_LENGTH < PETAL_REASON_SIZE);

/// Proposes kinds. Kinds that fit come first, the smallest at the top; for a request with `memory`, the most accurate.
/// Writes the first `room` proposals into `proposals`, and the number of all proposals into `count`. There is one
/// proposal for each kind of filter, so room for `petal_kind_count()` proposals is enough. A request of 0 keys means 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_plan_propose(
    request: *const petal_plan_request,
    proposals: *mut petal_plan_proposal,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [request, proposals, out count, given request], {
        let planned = plan::plan(&request)?;
        if room > 0 {
            // SAFETY: there is at least one, with its size set.
            unsafe { boundary::check_out(proposals)? };
        }
        for (i, proposal) in planned.iter().take(room).enumerate() {
            let mut row = petal_plan_proposal {
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
                setting: petal_setting::of_core(Setting::default()),
                reserved: [0; 2],
            };
            boundary::copy_text(proposal.name, &mut row.name);
            match &proposal.outcome {
                Ok(fit) => {
                    row.bits_per_key = fit.bits_per_key;
                    row.bytes = fit.bytes;
                    row.false_positive_rate = fit.false_positive_rate;
                    row.lines_per_lookup = fit.lines_per_lookup;
                    row.build_memory = fit.build_memory;
                    row.setting = petal_setting::of_core(fit.setting.unwrap_or_default());
                }
                Err(reason) => {
                    row.status = reason.status() as petal_status;
                    boundary::copy_text(reason.message(), &mut row.reason);
                }
            }
            // SAFETY: there is room for `room` of them, each as long as the first says.
            unsafe {
                let given = (*proposals).struct_size;
                let length = if given == 0 { size_of::<petal_plan_proposal>() } else { given };
                let place = proposals.byte_add(i * length);
                (&raw mut (*place).struct_size).write_unaligned(given);
                boundary::write(place, row);
            }
        }
        count.set(planned.len());
        Ok(())
    })
}
