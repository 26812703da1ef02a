//! Sums as bytes: each has as many bits as an element, the lowest first.

/// How many bytes so many sums take.
pub(super) fn bytes(sums: usize, bits: u32) -> usize {
    (sums * bits as usize).div_ceil(8)
}

/// Writes the sums.
pub(super) fn write(sums: &[u64], bits: u32, to: &mut [u8]) {
    let (mut held, mut waiting, mut bytes) = (0u128, 0, to.iter_mut());
    for &sum in sums {
        held |= u128::from(sum) << waiting;
        waiting += bits;
        while waiting >= 8 {
            if let Some(byte) = bytes.next() {
                *byte = held as u8;
            }
            held >>= 8;
            waiting -= 8;
        }
    }
    if let (1.., Some(byte)) = (waiting, bytes.next()) {
        *byte = held as u8;
    }
}

/// Reads the sums.
pub(super) fn read(sums: &mut [u64], bits: u32, from: &[u8]) {
    let (mut held, mut waiting, mut bytes) = (0u128, 0, from.iter());
    for sum in sums {
        while waiting < bits {
            held |= u128::from(*bytes.next().unwrap_or(&0)) << waiting;
            waiting += 8;
        }
        *sum = held as u64 & (u64::MAX >> (64 - bits));
        held >>= bits;
        waiting -= bits;
    }
}
