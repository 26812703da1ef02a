//! petal_session.h: sessions, in which two sides find out what only one of them has. It is experimental: functions may
//! still change. petal.h has the conventions, which hold for sessions too.
//!
//! Two machines have nearly the same keys, each in a sketch. A session tells both machines which keys only one of them
//! has, and the messages are as large as these differences need. A session has no network: you carry its messages.
//!
//! Here both sides are in one program, which carries each message to the other side:
//!
//!     petal_spec spec = PETAL_SPEC_INIT;
//!     spec.kind = PETAL_KIND_RIBLT;
//!     spec.capacity = 100;
//!     petal_sketch *ours = NULL, *theirs = NULL;
//!     if (petal_sketch_new(&spec, &ours, NULL) != PETAL_OK) return 1;
//!     if (petal_sketch_new(&spec, &theirs, NULL) != PETAL_OK) return 1;
//!     petal_sketch_insert_u64(theirs, 7);
//!     petal_session *initiator = NULL, *responder = NULL;
//!     if (petal_session_new(ours, PETAL_SESSION_ROLE_INITIATOR, 0, &initiator, NULL) != PETAL_OK) return 1;
//!     if (petal_session_new(theirs, PETAL_SESSION_ROLE_RESPONDER, 0, &responder, NULL) != PETAL_OK) return 1;
//!     petal_session *from = initiator, *to = responder;
//!     while (petal_session_get_turn(from) == PETAL_SESSION_TURN_SEND) {
//!       const void *message = NULL;
//!       size_t length = 0;
//!       if (petal_session_send(from, &message, &length, NULL) != PETAL_OK) return 1;
//!       if (petal_session_receive(to, message, length, NULL) != PETAL_OK) return 1;
//!       petal_session *sender = from;
//!       from = to, to = sender;
//!     }
//!     petal_sketch_listed listed[100];
//!     size_t count = 0;
//!     if (petal_session_get_differences(initiator, listed, 100, &count, NULL) != PETAL_OK) return 1;
//!
//! The list then has the number 7 with -1. The initiator estimates how much differs, and chooses the way that costs the
//! fewest bytes. Both sketches need the same hash function, and the same seed or secret. A `pinsketch` needs the other
//! side's `field_bits`. Sizes may differ.
//!
//! The sketch is one of `PETAL_KIND_RIBLT`, or one that keeps its keys (`petal_sketch_keep_keys()`). If both sides keep
//! their keys, the session has its own random key, and makes a pass over the keys. Then an attacker cannot choose keys
//! that disturb a session. Otherwise the session uses the coded symbols that the sketches keep, and costs only what
//! differs. Whoever knows the sketches' seed or secret can choose keys that disturb such a session. It may then end in
//! an error, may miss some of these keys, or may even call the sets equal.
//!
//! A session refuses a message that is repeated, out of order or damaged, and does not change then. Whatever a message
//! says, memory and work are bounded: a session has at most 2^18 coded symbols and 512 syndromes. The session takes as
//! much memory as the messages that come, and at most 35 MB more for symbols of numbers. A session does not know who
//! the other side is: take a channel that authenticates it. docs/session.md specifies the messages to the byte.

use crate::arguments::list;
use crate::boundary::{self, answer, boundary};
use crate::handle::{self, Handle, owner};
use crate::sketch::{petal_sketch, petal_sketch_listed};
use crate::status::{petal_error, petal_status};
use petal_core::Status;
use petal_core::session::{Role, Session, Turn};
use std::ffi::c_void;

/// One side of a session. Free it with `petal_session_free()`.
pub struct petal_session(Handle<Session>);

owner!(imageless petal_session, Session);

/// The part of a side: one of `PETAL_SESSION_ROLE_*`.
pub type petal_session_role = u32;

/// Sends the first message, and chooses the way to the differences.
pub const PETAL_SESSION_ROLE_INITIATOR: petal_session_role = 0;
/// Answers.
pub const PETAL_SESSION_ROLE_RESPONDER: petal_session_role = 1;

/// What a side has to do next: one of `PETAL_SESSION_TURN_*`.
pub type petal_session_turn = u32;

/// `petal_session_send()` has a message.
pub const PETAL_SESSION_TURN_SEND: petal_session_turn = 0;
/// `petal_session_receive()` waits for a message.
pub const PETAL_SESSION_TURN_RECEIVE: petal_session_turn = 1;
/// The differences are known.
pub const PETAL_SESSION_TURN_DONE: petal_session_turn = 2;
/// The session ended without a result.
pub const PETAL_SESSION_TURN_FAILED: petal_session_turn = 3;

/// The way to the differences: one of `PETAL_SESSION_METHOD_*`.
pub type petal_session_method = u32;

/// Nothing was chosen yet.
pub const PETAL_SESSION_METHOD_NONE: petal_session_method = 0;
/// The sets were equal.
pub const PETAL_SESSION_METHOD_EQUAL: petal_session_method = 1;
/// Syndromes, as the kind `pinsketch` has them: for few differences, if both sides keep their keys.
pub const PETAL_SESSION_METHOD_PINSKETCH: petal_session_method = 2;
/// Coded symbols, as the kind `riblt` has them.
pub const PETAL_SESSION_METHOD_RIBLT: petal_session_method = 3;
/// A filter of each set, and coded symbols of what passes them: for unlike sets, if both sides keep their keys.
pub const PETAL_SESSION_METHOD_FILTER_AND_RIBLT: petal_session_method = 4;

/// Take the symbols that the sketches keep, also if both sides keep their keys. The session then hashes no keys, unless
/// it needs more symbols than the sketches keep, and has no key of its own. It is enough that one side asks.
pub const PETAL_SESSION_KEPT_SYMBOLS: u32 = 1 << 0;

/// What a session chose, and what it cost.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_session_statistics {
    /// sizeof(petal_session_statistics), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The way to the differences: one of `PETAL_SESSION_METHOD_*`.
    pub method: petal_session_method,
    /// 1 if the session used the symbols that the sketches keep, 0 if the session had its own key.
    pub used_kept_symbols: u32,
    /// The estimated number of differences. Only the initiator estimates; the responder has 0.
    pub estimated_differences: f64,
    /// The standard deviation of the estimate.
    pub estimate_deviation: f64,
    /// How many keys the other side has.
    pub their_count: u64,
    /// Coded symbols that the initiator sent.
    pub symbols: u64,
    /// Syndromes that the initiator sent.
    pub syndromes: u64,
    /// Bytes of both filters.
    pub filter_bytes: u64,
    /// Messages so far, of both sides.
    pub messages: u64,
    /// Bytes of the messages that this side sent.
    pub sent_bytes: u64,
    /// Bytes of the messages that this side received.
    pub received_bytes: u64,
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_session_statistics {
    const FIRST_SIZE: usize = 88;
}

/// Begins a session over a sketch's set. `flags` is 0 or `PETAL_SESSION_KEPT_SYMBOLS`. The session copies what it
/// needs, so the sketch may change or end meanwhile. Returns `PETAL_ERR_UNSUPPORTED` for a sketch of whole keys, for
/// one that has neither coded symbols nor kept keys, and for kept symbols of a kind that has none. Returns
/// `PETAL_ERR_CONTRADICTION` for a sketch that shows that it is no set, because keys were subtracted or removed that it
/// did not have. A sketch with many keys may not show that, so give a session the sketches of sets only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_session_new(
    sketch: *const petal_sketch,
    role: petal_session_role,
    flags: u32,
    session: *mut *mut petal_session,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read sketch, give session], {
        let role = match role {
            PETAL_SESSION_ROLE_INITIATOR => Role::Initiator,
            PETAL_SESSION_ROLE_RESPONDER => Role::Responder,
            _ => {
                let message = format_args!("role = {role} is none of 0 (initiator) and 1 (responder)");
                return Err(boundary::error(Status::UnknownValue, message));
            }
        };
        if flags & !PETAL_SESSION_KEPT_SYMBOLS != 0 {
            let message = format_args!("flags = {flags:#x}: only 0x1 (kept symbols) is known");
            return Err(boundary::error(Status::UnknownValue, message));
        }
        session.made(|| Session::new(sketch, role, flags & PETAL_SESSION_KEPT_SYMBOLS != 0))
    })
}

/// Frees a session. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_session_free(session: *mut petal_session) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(session) }
}

/// Returns what this side has to do next. `PETAL_SESSION_TURN_FAILED` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_session_get_turn(session: *const petal_session) -> petal_session_turn {
    let turn = answer!(Turn::Failed, [read session], session.turn());
    match turn {
        Turn::Send => PETAL_SESSION_TURN_SEND,
        Turn::Receive => PETAL_SESSION_TURN_RECEIVE,
        Turn::Done => PETAL_SESSION_TURN_DONE,
        Turn::Failed => PETAL_SESSION_TURN_FAILED,
    }
}

/// Makes the next message for the other side. `message` becomes a pointer to its bytes, which belong to the session and
/// stay until the next call with it. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if it is not this side's turn. If the
/// session failed, one message tells the other side, and then the function returns why the session failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_session_send(
    session: *mut petal_session,
    message: *mut *const c_void,
    length: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change session, out message, out length], session.lend(message, length, Session::send))
}

/// Takes the other side's next message as a whole. Bytes that are not the message that is due change nothing:
/// `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED`, `PETAL_ERR_NEWER_VERSION`, `PETAL_ERR_CORRUPT`. If the message is due
/// and cannot be served, the session failed, and `petal_session_send()` has a message that tells the other side:
/// `PETAL_ERR_INCOMPATIBLE` if the sketches are not comparable, `PETAL_ERR_UNSUPPORTED_BY_HANDLE` if more symbols are
/// needed than the sketches keep, and others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_session_receive(
    session: *mut petal_session,
    message: *const c_void,
    length: usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change session, bytes(message, length)], session.by(|session| session.receive(message)))
}

/// Lists the numbers that one side has alone: first those of the other side with -1, then those of this side with 1,
/// each in ascending order. `count` becomes the number of all. The function writes the first `room` of these to
/// `listed`, which may be NULL if `room` is 0. Returns `PETAL_ERR_UNSUPPORTED_BY_HANDLE` unless the session is done,
/// and why it failed if it did.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_session_get_differences(
    session: *const petal_session,
    listed: *mut petal_sketch_listed,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read session, out count, room(listed, room)], {
        list(session.differences()?.iter().map(petal_sketch_listed::from), listed, count);
        Ok(())
    })
}

/// Tells what the session chose, and what it cost so far. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_session_get_statistics(
    session: *const petal_session,
    report: *mut petal_session_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read session, fill report], {
        let told = session.report();
        report.set(petal_session_statistics {
            struct_size: 0,
            method: told.method as petal_session_method,
            used_kept_symbols: u32::from(told.used_kept_symbols),
            estimated_differences: told.estimated_differences,
            estimate_deviation: told.estimate_deviation,
            their_count: told.their_count,
            symbols: told.symbols,
            syndromes: told.syndromes,
            filter_bytes: told.filter_bytes,
            messages: told.messages,
            sent_bytes: told.sent_bytes,
            received_bytes: told.received_bytes,
        });
        Ok(())
    })
}
