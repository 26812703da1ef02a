//! Records in shards: 64 bits of a record, which never decrease from one record to the next, say which shard it is in.

use super::records::Records;
use crate::error::Result;

/// Which of `shards` shards x is in, and in the low 32 bits how far into the shard.
#[inline(always)]
pub fn place(x: u64, shards: u64) -> (u64, u64) {
    // Two shifts of the halves: one shift over both is slow on some processors.
    let product = u128::from(x) * u128::from(shards);
    ((product >> 64) as u64, product as u64 >> 32)
}

/// Gives `take` the records of a pass in pieces, each with the number of its shard. No piece lies in two shards.
///
/// # Errors
/// The errors of `take`, which end the pass, and the errors of the records.
pub fn for_each_part<R>(
    records: &dyn Records<R>,
    order: impl Fn(&R) -> u64,
    shards: u64,
    take: &mut dyn FnMut(usize, &[R]) -> Result<()>,
) -> Result<()> {
    let shard = |record: &R| place(order(record), shards).0;
    records.for_each(&mut |mut piece| {
        while let (Some(first), Some(last)) = (piece.first(), piece.last()) {
            let first = shard(first);
            let end = if shard(last) == first { piece.len() } else { piece.partition_point(|r| shard(r) <= first) };
            let (part, rest) = piece.split_at(end);
            take(first as usize, part)?;
            piece = rest;
        }
        Ok(())
    })
}
