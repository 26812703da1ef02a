//! Layers that are Bloom filters of geometrically fewer words: layer j has a `shrink`-th of the words of the one
//! before, rounded up, because a `shrink`-th of its keys come once more.

use crate::sizing::search;

/// The words of a layer if the first one has `first` words.
pub fn words_of(first: u64, layer: u32, shrink: u64) -> u64 {
    first.div_ceil(shrink.max(1).saturating_pow(layer))
}

/// The words of all layers if the first one has `first` words.
pub fn words(first: u64, layers: u32, shrink: u64) -> u64 {
    (0..layers).fold(0_u64, |sum, layer| sum.saturating_add(words_of(first, layer, shrink)))
}

/// The words of the first layer if the layers take as many as possible of `all` words; 0 if these are too few for a
/// word each.
pub fn first_words(all: u64, layers: u32, shrink: u64) -> u64 {
    if all < u64::from(layers) {
        return 0;
    }
    // If the first layer takes one word more than there are, the layers together take too many.
    let too_many = search::least(all / 2, all.saturating_add(1), |first| words(first, layers, shrink) > all);
    too_many.map_or(all, |first| first - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_layer_is_as_large_as_it_can_be() {
        for shrink in [1, 2, 4] {
            for layers in [1, 2, 8, 32] {
                for all in (0..300).chain([1000, 1 << 40, (1 << 57) - 1]) {
                    let first = first_words(all, layers, shrink);
                    assert!(words(first, layers, shrink) <= all && words(first + 1, layers, shrink) > all);
                    assert_eq!(first == 0, all < u64::from(layers), "{all} words, {layers} layers");
                }
                for first in 1..200 {
                    assert_eq!(first_words(words(first, layers, shrink), layers, shrink), first);
                }
            }
        }
    }
}
