//! The layout of a filter that grows, and how long its fingerprints are.

use crate::error::{Result, error};
use crate::format::Geometry;
use crate::spec::{Number, Size, Spec};

/// How the parts of a payload lie in its words.
pub trait Layout: Copy + Send + Sync + 'static {
    /// The layout that the words of a geometry describe, if there is one.
    fn of_words(words: [u64; 8]) -> Option<Self>;

    /// The geometry of the payload; `None` past the address space.
    fn geometry(&self) -> Option<Geometry>;

    /// The layout that a geometry describes, if the geometry is one of this kind.
    fn of(geometry: &Geometry) -> Option<Self> {
        let layout = Self::of_words(geometry.words)?;
        (layout.geometry()? == *geometry).then_some(layout)
    }

    /// The layout that the filter had before it grew.
    fn first(&self) -> Self;

    /// How often the filter has grown. When two filters are merged, the one that has grown more often takes in the
    /// other.
    fn growths(&self) -> u32;

    /// The false-positive rate with so many distinct keys.
    fn false_positive_rate(&self, keys: u64) -> f64;

    /// How many distinct keys there were, if so many of them were not found when they came.
    fn seen(&self, new: f64) -> f64;
}

/// [`Row::identity`](crate::contract::Row::identity): two filters that began in the same way can be merged, however
/// large they are now.
pub fn identity<L: Layout>(geometry: &Geometry) -> Geometry {
    L::of(geometry).and_then(|layout| layout.first().geometry()).unwrap_or(*geometry)
}

/// [`Row::false_positive_rate`](crate::contract::Row::false_positive_rate)
pub fn false_positive_rate<L: Layout>(geometry: &Geometry, keys: u64) -> f64 {
    L::of(geometry).map_or(1.0, |layout| layout.false_positive_rate(keys))
}

/// The bits of fingerprints for a spec whose `fingerprint_bits` are `asked`, or 0 for no wish, out of `least` to
/// `most`. `fewest` gives the fewest bits that keep a rate, and `geometry` gives a new filter's geometry.
pub fn bits_for(
    spec: &Spec,
    size: Size,
    asked: u32,
    (least, most): (u32, u32),
    fewest: impl Fn(f64) -> Option<u32>,
    geometry: impl Fn(u32) -> Option<Geometry>,
) -> Result<u32> {
    if asked != 0 && asked < least {
        return Err(error!(OutOfRange, "fingerprint_bits = {asked} is not from {least} to {most}"));
    }
    match size {
        Size::Rate { capacity, false_positive_rate } => match fewest(false_positive_rate) {
            // The spec asks for bits and for no rate, so it gets the rate of these bits.
            _ if asked != 0 && spec.false_positive_rate == 0.0 => Ok(asked),
            Some(fewest) if asked == 0 || asked >= fewest => Ok(asked.max(fewest)),
            Some(_) => {
                let rate = Number(false_positive_rate);
                Err(error!(
                    Contradiction,
                    "fingerprint_bits = {asked} are too few for false_positive_rate = {rate} through all doublings"
                ))
            }
            None => {
                let rate = Number(false_positive_rate);
                Err(error!(
                    TooLarge,
                    "false_positive_rate = {rate} for capacity = {capacity} through all doublings needs \
                     fingerprint_bits above {most}, the most"
                ))
            }
        },
        Size::Exact { capacity, bits, .. } => {
            let fits = |width: &u32| geometry(*width).is_some_and(|geometry| geometry.bits <= bits);
            let widths = if asked == 0 { least..=most } else { asked..=asked };
            let fewest = *widths.start();
            match (widths.rev().find(fits), geometry(fewest)) {
                (None, Some(least)) => Err(error!(
                    Contradiction,
                    "bits = {bits} are too few for capacity = {capacity}, which takes {} at least", least.bits
                )),
                // If there is no such filter at all, the kind says why.
                (found, _) => Ok(found.unwrap_or(fewest)),
            }
        }
    }
}
