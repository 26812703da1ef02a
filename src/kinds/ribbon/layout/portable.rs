//! The inner loops in plain code, which specify the other kernels.

use super::array::{Array, Row};
use super::kernel::{Group, Kernel, SOME};
use super::row::Coefficients;
use super::{query, values};
use crate::batch::ring::GROUP;
use crate::blocks::mixing::{fingerprint, order, scatter};

/// The inner loops of plain code.
pub(super) fn kernel<C: Coefficients>() -> Kernel<C> {
    Kernel { one, some, find_hashes, find_ordered, find_ids }
}

#[inline(always)]
pub(super) fn one<C: Coefficients>(array: &Array, row: &Row<C>, first: u32) -> u64 {
    let end = array.shape().columns().min(first + u64::BITS);
    let columns = (first..end).step_by(8);
    columns.fold(0, |bits, column| bits | query::bits(array.columns(row, column)) << (column - first))
}

pub(super) fn some<C: Coefficients>(array: &Array, asked: &Group<C>, from: usize, first: u32) -> [u64; SOME] {
    core::array::from_fn(|i| one(array, &asked.row(from + i), first))
}

/// Notes what is known of a key: its row and its check.
#[inline(always)]
fn find<C: Coefficients>(array: &Array, (x, z): (u64, u64), found: &mut Group<C>, i: usize) {
    found.set_row(i, &array.find(x, z));
    found.checks[i] = fingerprint(z);
}

pub(super) fn find_hashes<C: Coefficients>(array: &Array, hashes: &[u64; GROUP], found: &mut Group<C>, from: usize) {
    for (i, hash) in hashes.iter().enumerate().skip(from).take(SOME) {
        let x = order(*hash);
        find(array, (x, scatter(x, 0)), found, i);
    }
}

pub(super) fn find_ordered<C: Coefficients>(array: &Array, ordered: &[u64; GROUP], found: &mut Group<C>, from: usize) {
    for (i, x) in ordered.iter().enumerate().skip(from).take(SOME) {
        find(array, (*x, scatter(*x, 0)), found, i);
    }
}

pub(super) fn find_ids<C: Coefficients>(array: &Array, ids: &[u128; GROUP], found: &mut Group<C>, from: usize) {
    for (i, id) in ids.iter().enumerate().skip(from).take(SOME) {
        find(array, ((id >> 64) as u64, values::scatter(*id)), found, i);
    }
}
