//! The kind `layered`, the layered Bloom filter: how often a key came is how many layers have it.
//!
//! Zhiwang, Jungang and Jian, "A multi-layer Bloom filter for duplicated URL detection", 2010. An insertion puts a key
//! into the first layer that does not have it; where all have it nothing changes. So a key that came c times is in the
//! first c layers, and its count is the number of layers, from the first on, that have it, before one that does not.
//! Counts are never too low, up to the number of layers. The count of a key that is there c times is too high by one or
//! more with the probability of a false positive of layer c + 1. It is too high by two or more with that probability
//! times the one of layer c + 2. Each layer has its own hashes: otherwise a key that seems to be in one would seem to
//! be in all.
//!
//! A layer is a classic Bloom filter. Each has a `shrink`-th of the bits of the one before, which is right where a
//! `shrink`-th of a layer's keys come once more. Nothing can be removed, because keys share bits.
//!
//! Header: word 0 is the number of layers, word 1 how many times smaller each is than the one before.

pub mod sizing;

use crate::batch::ring::{self, Batch, Taken};
use crate::bits::{self, GOLDEN, mix};
use crate::blocks::{BitLayout, Measure};
use crate::contract::{
    self, Base, Capabilities, Cardinality, Count, InBytes, Insert, Kind, Overlap, Payload, Row, Sizes, Structure,
    facets, insert_of_words, over_base,
};
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::bits_for;
use crate::kinds::bloom::layout::{Bloom, MAX_HASHES};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::{try_box, try_vec};
use core::ops::Range;
use core::sync::atomic::AtomicU64;
use sizing as layers_sizing;

/// How many layers there are.
pub const LAYERS: Parameter = Parameter {
    name: "layers",
    summary: "the number of layers, which is the greatest count of a key",
    default: 8.0,
    domain: Domain::OneOf(&[2, 4, 8]),
    word: Some(0),
};

/// How much smaller a layer is than the one before.
pub const SHRINK: Parameter = Parameter {
    name: "shrink",
    summary: "how many times smaller each layer is than the one before, if one key in that many comes again",
    default: 2.0,
    domain: Domain::OneOf(&[1, 2, 4]),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::LAYERED,
    name: "layered",
    summary: "the layered Bloom filter: counts keys to the number of its layers, each smaller than the one before",
    capabilities: Capabilities::INSERT.with(Capabilities::CLEAR).with(Capabilities::ESTIMATE).with(Capabilities::COUNT),
    parameters: &[&LAYERS, &SHRINK],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(UNIT),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| {
        layer_of(geometry, 0).map_or(1.0, |layer| layer.layout.false_positive_rate(keys))
    },
    // A key goes one layer deeper if a key that came before hides it.
    is_canonical: false,
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        // Eight layers, each half of the one before, need no word.
        for (word, parameter, bits) in [(0, LAYERS, 4), (1, SHRINK, 3)] {
            let mut value = geometry.words[word] ^ parameter.default as u64;
            packing.field(&mut value, bits);
            geometry.words[word] = value ^ parameter.default as u64;
        }
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            Some(layer_of(&trailer.geometry(ROW.compact)?, 0)?.layout.contains_in(bytes, hash))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(layer) = trailer.geometry(ROW.compact).and_then(|geometry| layer_of(&geometry, 0)) {
                layer.layout.fetch(hash, &mut |word| bytes.fetch(word));
            }
        },
    }),
    ..Row::BASE
};

/// Layers are whole words.
const UNIT: u64 = 64;

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let words = [spec.parameter(&LAYERS)?, spec.parameter(&SHRINK)?, 0, 0, 0, 0, 0, 0];
    let [layers, shrink, ..] = words;
    let all = |bits: u64| layers_sizing::words(bits.div_ceil(UNIT), layers as u32, shrink).checked_mul(UNIT);
    let first = |bits| UNIT * layers_sizing::first_words(bits / UNIT, layers as u32, shrink);
    let (bits, hashes) = bits_for(size, MAX_HASHES, layers * UNIT, all, first)?;
    Geometry::of_bits(bits, hashes, words)
}

/// A layer, and its words among those of the payload.
struct Layer {
    layout: Bloom,
    words: Range<usize>,
}

/// The layer with a number, if a geometry of this kind has it.
fn layer_of(geometry: &Geometry, number: u32) -> Option<Layer> {
    let [layers, shrink, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
    let (Domain::OneOf(counts), Domain::OneOf(shrinks)) = (LAYERS.domain, SHRINK.domain) else { return None };
    let is_possible = counts.contains(&layers) && shrinks.contains(&shrink) && geometry.is_of_bits();
    if !is_possible || !geometry.bits.is_multiple_of(UNIT) || u64::from(number) >= layers {
        return None;
    }
    let first = layers_sizing::first_words(geometry.bits / UNIT, layers as u32, shrink);
    let start = layers_sizing::words(first, number, shrink);
    let words = layers_sizing::words_of(first, number, shrink);
    let of_layer = Geometry { bits: words * UNIT, words: [0; 8], ..*geometry };
    Some(Layer { layout: Bloom::of_geometry(&of_layer)?, words: start as usize..(start + words) as usize })
}

/// The hash by which a layer knows a key.
#[inline]
fn hash_in(layer: usize, hash: u64) -> u64 {
    if layer == 0 { hash } else { mix(hash.wrapping_add(GOLDEN.wrapping_mul(layer as u64))) }
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let count = base.geometry().words[0].min(8) as usize;
    let mut layers = try_vec(count)?;
    for number in 0..count {
        match layer_of(base.geometry(), number as u32) {
            Some(layer) => layers.push(layer),
            None => return Err(base.foreign_geometry()),
        }
    }
    if layers.is_empty() {
        return Err(base.foreign_geometry());
    }
    Ok(try_box(Layered { base, layers })?)
}

/// A filter of layers, two at least.
struct Layered {
    base: Base,
    layers: Vec<Layer>,
}

impl Layered {
    /// The words of a layer.
    #[inline]
    fn words(&self, layer: &Layer) -> &[AtomicU64] {
        &self.base.words().shared()[layer.words.clone()]
    }

    /// Inserts a hash where [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<bool> {
        let words = self.base.writable_at_once()?;
        // The first layer in which a bit of the key is not set is the first that does not have it.
        let mut layers = self.layers.iter().enumerate();
        let new = layers.position(|(i, layer)| layer.layout.insert(&mut words[layer.words.clone()], hash_in(i, hash)));
        self.base.add_count(1);
        Some(new == Some(0))
    }
}

impl Payload for Layered {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.layers.iter().map(|layer| layer.words.end).max().unwrap_or(0) as u64 * UNIT)
    }
}

impl Kind for Layered {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.layers[0].layout.contains(self.words(&self.layers[0]), hash)
    }

    fn fetch(&self, hash: u64) {
        self.layers[0].layout.fetch(hash, &mut |word| ring::fetch_word(self.words(&self.layers[0]), word));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.layers[0].layout.contains_many(self.words(&self.layers[0]), batch);
    }

    /// Places are those of all layers, and the rate is that of the first. The saturated keys are those of the last
    /// layer, as many as it is estimated to have.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let mut measure = Measure { taken: 0, fill: 0.0, saturated: 0, false_positive_rate: 0.0 };
        let mut words = 0;
        for (i, layer) in self.layers.iter().enumerate() {
            let of_layer = layer.layout.measure(self.words(layer), progress);
            if i == 0 {
                measure.false_positive_rate = of_layer.false_positive_rate;
            }
            measure.taken += of_layer.taken;
            words += layer.words.len() as u64;
            measure.saturated = layer.layout.keys_of(of_layer.taken).unwrap_or(u64::MAX as f64).round() as u64;
        }
        measure.fill = measure.taken as f64 / (words * UNIT) as f64;
        measure
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        for (i, layer) in self.layers.iter().enumerate() {
            layer.layout.visit_words(hash_in(i, hash), &mut |word| {
                found = self.base.unmarked(layer.words.start + word);
                found.is_none()
            });
            if found.is_some() {
                break;
            }
        }
        found
    }

    facets!(Insert, Count, Cardinality, Overlap);
}

impl Insert for Layered {
    insert_of_words!();

    /// Fetches the lines of the first layer ahead: most keys are new there.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        let ahead = contract::ahead(self);
        let fetch = |filter: &Layered, hash| filter.layers[0].layout.fetch_all(filter.words(&filter.layers[0]), hash);
        ring::trying(self, ahead, batch, fetch, |filter, hash| filter.insert_one(hash))
    }
}

impl Count for Layered {
    fn greatest_count(&self) -> u64 {
        self.layers.len() as u64
    }

    fn count_one(&self, hash: u64) -> u64 {
        let has = |(i, layer): &(usize, &Layer)| layer.layout.contains(self.words(layer), hash_in(*i, hash));
        self.layers.iter().enumerate().take_while(has).count() as u64
    }

    /// Fetches the lines of the first layer ahead, and for a key that it seems to have, those of the second.
    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        let [first, second] = [0, 1].map(|i| (&self.layers[i].layout, self.words(&self.layers[i])));
        let fetch = |hash| first.0.fetch_first(first.1, hash);
        let fetch_rest = |hash| {
            if first.0.fetch_rest(first.1, hash) {
                second.0.fetch_first(second.1, hash_in(1, hash));
            }
        };
        let stages = first.0.stages(first.1.len());
        let has = |hash, i: usize, layer: &Layer| layer.layout.contains_fetched(self.words(layer), hash_in(i, hash));
        let count = |hash| match stages.far {
            0 => self.count_one(hash),
            _ => self.layers.iter().enumerate().take_while(|(i, layer)| has(hash, *i, layer)).count() as u64,
        };
        ring::counting(stages, hashes, counts, fetch, fetch_rest, count);
    }
}

impl Cardinality for Layered {
    fn of_payload(&self) -> Option<f64> {
        let Layer { layout, words } = &self.layers[0];
        layout.keys_of(bits::count_ones(&self.base.words().shared()[words.clone()]))
    }

    /// The places of all layers together do not say how many keys there are.
    fn of_taken(&self, _taken: u64) -> Option<f64> {
        self.of_payload()
    }

    fn standard_error(&self, keys: f64) -> f64 {
        self.layers[0].layout.standard_error(keys)
    }
}

impl Overlap for Layered {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let Layer { layout, words } = &self.layers[0];
        let [a, b] = [&self.base, other.base()].map(|base| &base.words().shared()[words.clone()]);
        layout.keys_of(bits::count_ones_of_union(a, b))
    }
}
