use petal_libbloom::{LN_2, LN_2_SQUARED, MIN_ENTRIES};

/// The size of a filter.
pub struct Size {
    pub bits_per_entry: f64,
    pub bits: u64,
    pub bytes: u64,
    /// libbloom's number of hashes modulo 256, which is where its field ends.
    pub hashes: u8,
}

/// The size for `entries` entries at an error rate, or nothing where libbloom refuses.
pub fn of(entries: u32, error: f64) -> Option<Size> {
    if entries < MIN_ENTRIES as u32 || error <= 0.0 || error >= 1.0 {
        return None;
    }
    let bits_per_entry = -error.ln() / LN_2_SQUARED;
    let bits = bits(entries, bits_per_entry);
    let bytes = bits / 8 + u64::from(!bits.is_multiple_of(8));
    let hashes = (LN_2 * bits_per_entry).ceil() as u32 as u8;
    Some(Size { bits_per_entry, bits, bytes, hashes })
}

/// The product, rounded as libbloom's `long double` is, and then down. An error rate that is not a number comes here
/// too; it gets more bits than there is memory for.
fn bits(entries: u32, bits_per_entry: f64) -> u64 {
    if !bits_per_entry.is_finite() {
        return 1 << 63;
    }
    // bits_per_entry = mantissa / 2^scale, and lies between 2^-53 and 2^11.
    let (representation, mantissa_bits) = (bits_per_entry.to_bits(), f64::MANTISSA_DIGITS - 1);
    let mantissa = representation & ((1 << mantissa_bits) - 1) | 1 << mantissa_bits;
    let scale = (1075_u64).saturating_sub(representation >> mantissa_bits);
    let product = u128::from(entries).wrapping_mul(mantissa.into());
    (round(product).checked_shr(scale as u32).unwrap_or(0)) as u64
}

/// A product in the 64 digits that x86's `long double` has, to the nearest, ties to even. Elsewhere it has 113, which
/// the product does not fill.
fn round(product: u128) -> u128 {
    let excess = (128 - product.leading_zeros()).saturating_sub(64);
    if !cfg!(target_arch = "x86_64") || excess == 0 {
        return product;
    }
    let (kept, unit) = (product >> excess, 1_u128 << excess);
    let (rest, half) = (product & (unit - 1), unit >> 1);
    let up = rest > half || rest == half && kept & 1 == 1;
    (kept + u128::from(up)) << excess
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the product lies so close below a whole number that 64 digits round it up to that: (2^32 - 1) times
    /// 2^11 - 2^-42 misses a whole number by less than 2^-10, and by less than 2^-21 where it is made to.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn products_are_rounded_as_a_long_double_is() {
        assert_eq!(round((1 << 65) - 1), 1 << 65);
        assert_eq!(round((1 << 65) + 1), 1 << 65);
        assert_eq!(round((1 << 65) + 3), (1 << 65) + 4);
        assert_eq!(round((1 << 64) - 1), (1 << 64) - 1);
    }

    #[test]
    fn sizes_are_products_rounded_down() {
        assert_eq!(bits(1000, 9.5), 9500);
        assert_eq!(bits(1001, 0.25), 250);
        assert_eq!(bits(u32::MAX, 1549.0), 1549 * u64::from(u32::MAX));
        assert_eq!(bits(1000, 2.0_f64.powi(-53)), 0);
    }
}
