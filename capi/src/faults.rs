//! Faults planted on purpose. The feature `planted-faults` exports [`petal_plant_fault`], with which the tests prove
//! that each tool (ASan, LSan, TSan, Valgrind) really sees the Rust code, and that a panic stops at the boundary.
//! No release has it: the packaging tests look for the symbol and must not find it.

use crate::boundary::{NO_ERROR, boundary};
use std::hint::black_box;
use std::ptr;

/// Commits one fault, by number:
///
/// | `which` | fault | seen by |
/// |---|---|---|
/// | 0 | a panic, which must come back as a status | the caller |
/// | 1 | a read one past the end of a heap block | ASan, Valgrind |
/// | 2 | a read of a freed heap block | ASan, Valgrind |
/// | 3 | a leak | LSan, Valgrind |
/// | 4 | a data race, when two threads call it | TSan |
/// | 5 | a branch on uninitialised heap memory | Valgrind |
///
/// Returns 0 once the fault is done, and the internal error (-1) if it panicked. An unknown number panics too.
#[unsafe(no_mangle)]
pub extern "C" fn petal_plant_fault(which: u32) -> i32 {
    boundary!(NO_ERROR, [], {
        plant(which);
        Ok(())
    })
}

fn plant(which: u32) {
    match which {
        1 => read_past_the_end(),
        2 => read_after_free(),
        3 => leak(),
        4 => race(),
        5 => branch_on_uninitialised(),
        _ => panic!("planted fault {which}"),
    }
}

// Volatile reads through pointers that went through `black_box`: the optimiser can neither see nor delete the fault.

const BLOCK: usize = 16;

#[inline(never)]
fn read_past_the_end() {
    let block = black_box(vec![1u8; BLOCK]);
    let end = black_box(block.as_ptr().wrapping_add(BLOCK));
    // SAFETY: none, this is the planted fault: `end` is one past the block.
    black_box(unsafe { ptr::read_volatile(end) });
}

#[inline(never)]
fn read_after_free() {
    let block = black_box(vec![1u8; BLOCK]);
    let start = black_box(block.as_ptr());
    drop(block);
    // SAFETY: none, this is the planted fault: the block was freed on the line above.
    black_box(unsafe { ptr::read_volatile(start) });
}

// Several blocks, because a leak checker spares a block whose address happens to remain on the stack.
#[inline(never)]
fn leak() {
    for size in 1..=8 {
        black_box(Box::leak(vec![1u8; size * BLOCK].into_boxed_slice()));
    }
}

// The caller's threads race, not threads started here: ThreadSanitizer reports falsely on the uninstrumented standard
// library that would start them, and a false report proves nothing.
#[inline(never)]
fn race() {
    static mut SHARED: u64 = 0;
    let shared = black_box(&raw mut SHARED);
    for _ in 0..1000 {
        // SAFETY: none, this is the planted fault: threads write a plain integer with no order between them.
        unsafe { ptr::write_volatile(shared, ptr::read_volatile(shared) + 1) };
    }
}

#[inline(never)]
fn branch_on_uninitialised() {
    let block = black_box(Vec::<u8>::with_capacity(BLOCK));
    let start = black_box(block.as_ptr());
    // SAFETY: none, this is the planted fault: the block was never written.
    if unsafe { ptr::read_volatile(start) } == 7 {
        taken();
    } else {
        not_taken();
    }
}

// Two functions that are not inlined make the compiler branch; a conditional move would not count as a use.
#[inline(never)]
fn taken() {
    black_box(1);
}

#[inline(never)]
fn not_taken() {
    black_box(2);
}
