//! Segments of a filter that grows: how large they are, how many there are, and which of them were divided in two.
//!
//! At first there is one segment, or as many of the greatest size as the filter takes. A segment below that size
//! becomes twice as large. 2^d segments of the greatest size become 2^(d+1), one by one. The d bits of a hash after
//! those of a place are the number of its segment, or d + 1 bits where that segment was divided: the second part is 2^d
//! segments further on.
//!
//! Words 2 to 5 of the header say the base-2 logarithm of the places of all segments at first, that of the places of
//! one segment now, d, and whether segments are being divided.

use crate::error::Result;
use crate::storage::try_vec;

/// The lowest `bits` bits, all set.
#[inline]
pub fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// A number of a header, if it lies between the least and the most.
pub fn within(number: u64, (least, most): (u32, u32)) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| (least..=most).contains(number))
}

/// How large segments are, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The base-2 logarithm of the number of places of all segments at first.
    pub first: u32,
    /// The base-2 logarithm of the number of places of a segment.
    pub size: u32,
    /// The base-2 logarithm of the number of segments that are not divided yet, or will not be.
    pub depth: u32,
    /// Whether there is room for twice as many, because some were divided.
    pub is_dividing: bool,
}

impl Extent {
    /// The segments of a filter that has not grown, of at most `2^most` places each.
    pub fn new(first: u32, most: u32) -> Extent {
        let size = first.min(most);
        Extent { first, size, depth: first - size, is_dividing: false }
    }

    /// What the words of a header say, if they can, where `first` lies in `firsts` and segments have at most `2^most`
    /// places.
    pub fn of_words(
        [_, _, first, size, depth, is_dividing, ..]: [u64; 8],
        firsts: (u32, u32),
        most: u32,
    ) -> Option<Extent> {
        let new = Extent::new(within(first, firsts)?, most);
        let extent = Extent {
            size: within(size, (new.size, most))?,
            depth: within(depth, (new.depth, 63))?,
            is_dividing: within(is_dividing, (0, 1))? == 1,
            ..new
        };
        // Segments are divided once they cannot become larger.
        (extent.is_one() || extent.size == most).then_some(extent)
    }

    /// The words of a header from the second on.
    pub fn words(&self) -> [u64; 4] {
        [self.first.into(), self.size.into(), self.depth.into(), self.is_dividing.into()]
    }

    /// Whether there is room for one segment only.
    pub fn is_one(&self) -> bool {
        self.depth == 0 && !self.is_dividing
    }

    /// How often segments have doubled in size or in number. A doubling that is not complete does not count.
    pub fn growths(&self) -> u32 {
        self.depth + self.size - self.first
    }

    /// As [`Extent::growths`], but a doubling that has begun counts too.
    pub fn begun(&self) -> u32 {
        self.growths() + u32::from(self.is_dividing)
    }

    /// How many segments there is room for; `None` past 64 bits.
    pub fn segments(&self) -> Option<u64> {
        1_u64.checked_shl(self.depth + u32::from(self.is_dividing))
    }

    /// The extent after all segments were divided.
    pub fn divided(&self) -> Extent {
        Extent { depth: self.depth + 1, is_dividing: false, ..*self }
    }
}

/// Where a hash belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The number of the hash's segment.
    pub segment: usize,
    /// How many bits of the hash give the segment's number.
    pub bits: u32,
}

/// Which segments were divided.
#[derive(Clone, Debug)]
pub struct Division {
    /// How large the segments are, and how many.
    pub extent: Extent,
    /// A bit for each segment from before the division: whether it was divided. Empty while none is being divided.
    marks: Vec<u64>,
    /// How many segments were divided.
    count: usize,
}

impl Division {
    /// The segments, where `is_divided` says which of them were divided.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn of(extent: &Extent, is_divided: impl Fn(usize) -> bool) -> Result<Division> {
        let Extent { depth, is_dividing, .. } = *extent;
        let size = if is_dividing { (1_usize << depth).div_ceil(64) } else { 0 };
        let mut marks = try_vec(size)?;
        marks.resize(size, 0);
        let mut division = Division { extent: *extent, marks, count: 0 };
        if is_dividing {
            (0..1 << depth).filter(|segment| is_divided(*segment)).for_each(|segment| division.mark(segment));
        }
        Ok(division)
    }

    /// The segments, where none was divided.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn none(extent: &Extent) -> Result<Division> {
        Division::of(extent, |_| false)
    }

    /// Notes that a segment was divided.
    pub fn mark(&mut self, segment: usize) {
        self.marks[segment / 64] |= 1 << (segment % 64);
        self.count += 1;
    }

    /// A bit for each segment from before the division: whether it was divided. Empty while none is being divided.
    #[inline(always)]
    pub fn marks(&self) -> &[u64] {
        &self.marks
    }

    /// Whether a segment was divided.
    #[inline]
    pub fn is_divided(&self, segment: usize) -> bool {
        self.marks.get(segment / 64).is_some_and(|marks| marks >> (segment % 64) & 1 == 1)
    }

    /// Whether any segment was divided.
    pub fn is_begun(&self) -> bool {
        self.count > 0
    }

    /// Whether all segments were divided.
    pub fn is_complete(&self) -> bool {
        self.count == 1 << self.extent.depth
    }

    /// Where a hash belongs, given its bits after those of a place.
    #[inline(always)]
    pub fn address(&self, rest: u64) -> Address {
        let depth = self.extent.depth;
        let segment = (rest & ones(depth)) as usize;
        // Which segments are divided is a matter of chance, so this adds instead of branching.
        let bits = depth + u32::from(self.is_divided(segment));
        Address { segment: (rest & ones(bits)) as usize, bits }
    }

    /// How many segments there is room for.
    pub fn segments(&self) -> usize {
        1 << (self.extent.depth + u32::from(self.extent.is_dividing))
    }

    /// Where a segment is that keys are in, and how many bits of a hash say which one it is; `None` if it is room for
    /// the second part of a segment that is not divided yet.
    pub fn address_of(&self, segment: usize) -> Option<Address> {
        let is_divided = self.is_divided(self.first_part(segment));
        let bits = self.extent.depth + u32::from(is_divided);
        (segment < 1 << self.extent.depth || is_divided).then_some(Address { segment, bits })
    }

    /// The segment that a segment is a part of, or would be.
    pub fn first_part(&self, segment: usize) -> usize {
        segment % (1 << self.extent.depth)
    }

    /// All segments that keys are in.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        (0..self.segments()).filter_map(|segment| self.address_of(segment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A header may only have the places that growing makes: the places of all segments double with each growth.
    #[test]
    fn headers_say_what_growing_makes() {
        const MOST: u32 = 3;
        let read = |[first, size, depth, is_dividing]: [u64; 4]| {
            Extent::of_words([9, 9, first, size, depth, is_dividing, 9, 9], (1, 5), MOST)
        };
        let mut made = HashSet::new();
        for first in 1..=5 {
            let mut extent = Extent::new(first, MOST);
            for growths in 0..20 {
                let dividing = Extent { is_dividing: true, ..extent };
                for now in [extent, dividing].into_iter().take(if extent.size < MOST { 1 } else { 2 }) {
                    assert_eq!((now.growths(), now.begun()), (growths, growths + u32::from(now.is_dividing)));
                    assert_eq!(now.segments(), Some(1 << (first + now.begun() - now.size)));
                    assert_eq!((read(now.words()), now.is_one()), (Some(now), now.segments() == Some(1)));
                    made.insert(now.words());
                }
                extent =
                    if extent.size < MOST { Extent { size: extent.size + 1, ..extent } } else { dividing.divided() };
            }
        }
        for i in 0..8 * 8 * 8 * 3 {
            let words = [i % 8, i / 8 % 8, i / 64 % 8, i / 512];
            assert_eq!(read(words).is_some(), made.contains(&words), "{words:?}");
        }
        let deepest = [0, 1].map(|is_dividing| read([1, 3, 63, is_dividing]).unwrap().segments());
        assert_eq!((deepest, read([1, 3, 64, 0])), ([Some(1 << 63), None], None));
    }

    /// The last bits of a hash give its segment, with one bit more if that segment was divided.
    #[test]
    fn hashes_belong_where_their_last_bits_say() {
        assert_eq!([0, 1, 63, 64, 65].map(ones), [0, 1, u64::MAX / 2, u64::MAX, u64::MAX]);
        for depth in 0..=7 {
            let extent = Extent { first: 3, size: 3, depth, is_dividing: true };
            let (count, whole) = (1_usize << depth, Extent { is_dividing: false, ..extent });
            let none = Division::none(&whole).unwrap();
            assert_eq!((none.segments(), none.marks().len(), none.is_begun()), (count, 0, false));
            let all: Vec<_> = (0..count).map(|segment| Address { segment, bits: depth }).collect();
            assert_eq!(none.addresses().collect::<Vec<_>>(), all);
            let mut marked = Division::none(&extent).unwrap();
            // 37 is odd, so each segment has its turn.
            for turn in 0..=count {
                let is_divided = |segment: usize| segment * 37 % count < turn;
                let division = Division::of(&extent, is_divided).unwrap();
                assert_eq!(division.marks(), marked.marks());
                assert_eq!((division.segments(), division.marks().len()), (2 * count, count.div_ceil(64)));
                assert_eq!((division.is_begun(), division.is_complete()), (turn > 0, turn == count));
                assert_eq!((marked.is_begun(), marked.is_complete()), (turn > 0, turn == count));
                let mut addresses = vec![];
                for rest in 0..2 * count {
                    let first = rest % count;
                    let divided = is_divided(first);
                    let bits = depth + u32::from(divided);
                    let address = Address { segment: rest % (1 << bits), bits };
                    assert_eq!(division.address(rest as u64 | 5 << 60), address);
                    assert_eq!((division.is_divided(first), division.first_part(rest)), (divided, first));
                    addresses.extend((address.segment == rest).then_some(address));
                }
                assert_eq!(division.addresses().collect::<Vec<_>>(), addresses);
                (0..count).filter(|segment| segment * 37 % count == turn).for_each(|segment| marked.mark(segment));
            }
        }
    }
}
