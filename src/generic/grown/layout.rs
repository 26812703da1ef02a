//! The layout of a filter that grows, and the length of its fingerprints.

use crate::format::Geometry;

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

    /// The false-positive rate with `keys` distinct keys.
    fn false_positive_rate(&self, keys: u64) -> f64;

    /// How many distinct keys there were, if `new` of them were not found when they came.
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
