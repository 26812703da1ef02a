//! `docs/format.md` as a program: the content of images, computed from the sentences of the document without the
//! library's code. Each layout has one row in [`LAYOUTS`].

use crate::common::mix;
use xxhash_rust::xxh3::xxh3_64;

/// A layout of a payload, and its rule.
struct Layout {
    kind: u32,
    version: u8,
    rule: Rule,
}

/// The rule of a layout about keys with given hashes.
enum Rule {
    /// The bits that a key sets, by their places in the payload. All other bits are 0.
    Bits(fn(&Header, u64) -> Vec<u64>),
    /// Whether a lookup in this payload says true. The number is the false-positive rate as a multiple of 2^-r.
    Lookup(fn(&Header, &[u8], u64) -> bool, f64),
    /// The payload of a filter into which all keys were inserted, in the order of their hashes.
    Payload(fn(&Header, &[u64]) -> Vec<u8>),
}

const LAYOUTS: &[Layout] = &[
    Layout { kind: 1, version: 1, rule: Rule::Bits(bloom) },
    Layout { kind: 2, version: 1, rule: Rule::Bits(split_block) },
    Layout { kind: 3, version: 1, rule: Rule::Bits(blocked) },
    Layout { kind: 4, version: 1, rule: Rule::Lookup(fuse, 1.0) },
    Layout { kind: 5, version: 1, rule: Rule::Payload(counting) },
    Layout { kind: 6, version: 1, rule: Rule::Payload(scalable) },
    Layout { kind: 13, version: 1, rule: Rule::Lookup(ribbon, 1.0) },
    Layout { kind: 14, version: 1, rule: Rule::Payload(golomb) },
    Layout { kind: 17, version: 1, rule: Rule::Payload(hash_compaction) },
    Layout { kind: 18, version: 1, rule: Rule::Lookup(signatures, 8.0) },
    Layout { kind: 19, version: 1, rule: Rule::Bits(|_, key| vec![key]) },
    Layout { kind: 22, version: 1, rule: Rule::Payload(cuckoo) },
    Layout { kind: 23, version: 1, rule: Rule::Payload(quotient) },
    Layout { kind: 24, version: 1, rule: Rule::Payload(vector_quotient) },
    Layout { kind: 25, version: 1, rule: Rule::Payload(spectral) },
    Layout { kind: 26, version: 1, rule: Rule::Payload(d_left) },
    Layout { kind: 27, version: 1, rule: Rule::Payload(variable_increment) },
    Layout { kind: 28, version: 1, rule: Rule::Payload(layered) },
    Layout { kind: 29, version: 1, rule: Rule::Payload(removed_set) },
    Layout { kind: 32, version: 1, rule: Rule::Payload(age_partitioned) },
    Layout { kind: 33, version: 1, rule: Rule::Payload(stable) },
    Layout { kind: 34, version: 1, rule: Rule::Payload(rotating) },
    Layout { kind: 30, version: 1, rule: Rule::Lookup(taffy, 16.0) },
    Layout { kind: 31, version: 1, rule: Rule::Lookup(aleph, 1.0) },
    Layout { kind: 35, version: 1, rule: Rule::Lookup(exact_set, 1.0) },
    Layout { kind: 36, version: 1, rule: Rule::Lookup(stacked, 1.0) },
];

/// Asserts that an image follows its layout for the keys with these hashes.
#[track_caller]
pub fn check(name: &str, image: &[u8], hashes: &[u64]) {
    let header = Header(image);
    let of_image = |layout: &&Layout| (layout.kind, layout.version) == (header.kind(), image[10]);
    let layout = LAYOUTS.iter().find(of_image).unwrap_or_else(|| panic!("{name}: LAYOUTS has no row for it"));
    match layout.rule {
        Rule::Payload(payload) => {
            let mut ascending = hashes.to_vec();
            ascending.sort_unstable();
            let payload = payload(&header, &ascending);
            assert!(image[256..256 + payload.len()] == payload, "{name} has other bytes than docs/format.md says");
        }
        Rule::Bits(bits) => {
            let mut payload = vec![0_u8; header.payload_bytes()];
            for position in hashes.iter().flat_map(|hash| bits(&header, *hash)) {
                payload[position as usize / 8] |= 1 << (position % 8);
            }
            assert!(image[256..256 + payload.len()] == payload, "{name} has other bits than docs/format.md says");
        }
        Rule::Lookup(contains, times) => {
            let payload = &image[256..256 + header.payload_bytes()];
            let found = |hash| contains(&header, payload, hash);
            assert!(hashes.iter().all(|hash| found(*hash)), "{name} does not hold a key, as docs/format.md says");
            // Lookups find absent keys at no more than twice the expected rate.
            let others = (0..10_000).filter(|i| found(mix(u64::MAX - i))).count() as f64;
            let expected = 10_000.0 * times * (-(header.word(0) as f64)).exp2();
            assert!(others <= 2.0 * expected + 5.0, "{name} holds {others} other keys");
        }
    }
}

/// The header at the start of an image.
struct Header<'a>(&'a [u8]);

impl Header<'_> {
    fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.0[offset..offset + 4].try_into().unwrap())
    }

    fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.0[offset..offset + 8].try_into().unwrap())
    }

    fn kind(&self) -> u32 {
        self.u32(12)
    }

    fn hashes(&self) -> u64 {
        self.u32(20).into()
    }

    fn bits(&self) -> u64 {
        self.u64(64)
    }

    /// One of the eight words whose meaning the kind defines.
    fn word(&self, i: usize) -> u64 {
        self.u64(72 + 8 * i)
    }

    fn payload_bytes(&self) -> usize {
        self.u64(136) as usize
    }
}

/// The number in `width` bits of some bytes, from bit `bit` on.
fn number(bytes: &[u8], bit: usize, width: usize) -> u64 {
    (0..width).map(|i| u64::from(bytes[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i).sum()
}

fn fuse(header: &Header, payload: &[u8], hash: u64) -> bool {
    let (r, shards) = (header.word(0) as usize, header.word(1));
    let arity = header.hashes();
    assert_eq!(header.word(3), arity);
    let x = hash ^ hash >> 30;
    let x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = x ^ x >> 27;
    let product = u128::from(x) * u128::from(shards);
    let (shard, place) = ((product >> 64) as usize, (product >> 32) as u64 % (1 << 32));
    let entry = (header.bits() as usize).next_multiple_of(64) + 128 * shard;
    let starts = number(payload, entry, 32);
    let seed = number(payload, entry + 32, 32);
    let length = 1 << number(payload, entry + 64, 6);
    let first = 64 * number(payload, entry + 70, 58);
    let z = (x ^ (seed * (1 << 32) + seed)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let z = z ^ z >> 31;
    let p = place * starts / (1 << 32);
    let choices = if arity == 3 { vec![z, z >> 32] } else { vec![z, z >> 21, z >> 42] };
    let further = (1..).zip(choices).map(|(i, choice)| (p + i * length) ^ (choice % length));
    let cells = std::iter::once(p).chain(further);
    let together = cells.fold(0, |sum, cell| sum ^ number(payload, (first + cell) as usize * r, r));
    together == (z.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % (1 << r)
}

fn ribbon(header: &Header, payload: &[u8], hash: u64) -> bool {
    let [r, w, n] = [0, 1, 2].map(|i| header.word(i));
    if n == 0 {
        return false;
    }
    let x = hash ^ hash >> 30;
    let x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = x ^ x >> 27;
    let z = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    let z = z ^ z >> 31;
    let columns = ribbon_columns(payload, header.bits(), [r, w, n], x, z);
    columns == u128::from((z.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % (1 << r))
}

fn exact_set(header: &Header, payload: &[u8], hash: u64) -> bool {
    let [b, side] = [0, 1].map(|i| header.word(i));
    let [stored, passed, universe, first_bits] = [0, 1, 2, 3].map(|i| number(payload, 64 * i, 64));
    assert!(stored <= universe && passed <= universe && (1..=2).contains(&side));
    let order = |hash: u64| {
        let x = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ x >> 27
    };
    let x = if order(hash) % 2 == 0 { order(hash) } else { order(hash ^ 1 << 27) };
    let z = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    let z = z ^ z >> 31;
    let f = z.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let width = |columns: u64| if columns <= 4 { 128 } else { 64 };
    let words = first_bits.div_ceil(64);
    let (first, second) = payload[64..].split_at(8 * words as usize);
    let passes = stored > 0
        && (b == 1
            || ribbon_columns(first, first_bits, [b - 1, width(b - 1), stored], x, z)
                == u128::from(f % (1 << (b - 1))));
    let is_stored = passes
        && ribbon_columns(second, header.bits() - 512 - 64 * words, [1, 128, passed], x, z)
            == u128::from(f >> (b - 1) & 1);
    is_stored != (side == 2)
}

/// Whether an exact set of several parts contains a key. `hash_of` is its hash function.
pub fn exact_parts(image: &[u8], key: &[u8], hash_of: impl Fn(&[u8]) -> u64) -> bool {
    let header = Header(image);
    let payload = &image[256..256 + header.payload_bytes()];
    let word = |i: usize| number(payload, 64 * i, 64);
    let hash = hash_of(key);
    let set = |start: usize, form: u64, bits: u64| {
        let mut alone = image[..256].to_vec();
        for (offset, value) in [(64, bits), (72, form % 256), (80, form / 256)] {
            alone[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        }
        exact_set(&Header(&alone), &payload[8 * start..][..64 * bits.div_ceil(512) as usize], hash)
    };
    let base_bits = if header.word(4) == 0 { header.bits() } else { header.word(5) };
    let mut contained = match header.word(2) as usize {
        0 => set(0, header.word(0) + 256 * header.word(1), base_bits),
        prefix => {
            let [listed, sets, rest] = [0, 1, 2].map(|i| word(i) as usize);
            let directory = 8 + (2 * sets).next_multiple_of(8);
            let prefix = hash_of(&key[..prefix.min(key.len())]) / 128;
            let of_prefix = (directory..directory + listed).map(word).find(|word| word / 128 == prefix);
            match of_prefix.map_or(rest, |word| word as usize % 128) {
                0 => false,
                1 => true,
                class => {
                    let row = |i: usize| [word(8 + 2 * i), word(9 + 2 * i)];
                    let first = directory + listed.next_multiple_of(8);
                    let before: u64 = (0..class - 2).map(|i| row(i)[1].div_ceil(512) * 8).sum();
                    let [form, bits] = row(class - 2);
                    set(first + before as usize, form, bits)
                }
            }
        }
    };
    let mut bits = base_bits;
    for _ in 0..header.word(4) {
        let line = bits.div_ceil(512) as usize * 8;
        contained ^= set(line + 8, word(line), word(line + 1));
        bits = 64 * (line as u64 + 8) + word(line + 1);
    }
    assert_eq!(bits, header.bits());
    contained
}

fn stacked(header: &Header, payload: &[u8], hash: u64) -> bool {
    let x = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = x ^ x >> 27;
    let (mut begin, mut found) = (128, false);
    for i in 1..=7 {
        let r = if i == 1 { header.word(0) } else { header.word(1) >> (6 * (i - 2)) & 0x3f };
        let [n, f] = [2 * i, 2 * i + 1].map(|word| number(payload, 64 * word, 64));
        if r == 0 {
            break;
        }
        let z = match i {
            1 => x.wrapping_mul(0x94d0_49bb_1331_11eb),
            _ => mix(x.wrapping_add((i as u64 - 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
        };
        let z = if i == 1 { z ^ z >> 31 } else { z };
        let v = z.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let w = if r <= 4 { 128 } else { 64 };
        let level = &payload[begin..begin + 8 * f.div_ceil(64) as usize];
        let passes = n > 0 && ribbon_columns(level, f, [r, w, n], x, z) == u128::from(v % (1 << r));
        found = passes == (i % 2 == 1);
        if !passes {
            break;
        }
        begin += 8 * f.div_ceil(64) as usize;
    }
    found
}

/// The answer that docs/format.md gives for a hash in an image of the kind stacked.
pub fn is_stacked(image: &[u8], hash: u64) -> bool {
    let header = Header(image);
    stacked(&header, &image[256..256 + header.payload_bytes()], hash)
}

/// The columns of a key in a ribbon of n keys, as one number. The key has x, z and w coefficients, and slots have r
/// columns.
fn ribbon_columns(payload: &[u8], bits: u64, [r, w, n]: [u64; 3], x: u64, z: u64) -> u128 {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (b, o, second, third) = if w == 64 { (7, 4, 90, 111) } else { (9, 5, 379, 454) };
    let shards = n.div_ceil(1 << 18);
    let m = n.div_ceil(shards);
    let first_starts = m - (m >> o);
    let metadata_bytes = |starts: u64| starts.div_ceil(1 << b).div_ceil(4);
    let word = |i: u64| number(payload, 64 * i as usize, 64);
    let product = u128::from(x) * u128::from(shards);
    let (shard, place) = ((product >> 64) as u64, (product >> 32) as u64 % (1 << 32));
    let begin_of = |shard: u64| match shard {
        0 => 8 * (2 * shards - 1) + shards * metadata_bytes(first_starts),
        _ => word(shard - 1),
    };
    let begin = begin_of(shard);
    let end = if shard + 1 == shards { bits / 8 } else { begin_of(shard + 1) - r * w / 8 };
    let sizes = word(shards - 1 + shard);
    let size = |at: u32, bits: u32| {
        let code = sizes >> at & ((1 << bits) - 1);
        (code % 2048) << (code >> 11)
    };
    let (layers, base, k) = ([size(0, 15), size(15, 15), size(30, 15)], size(45, 16), sizes >> 61);
    let wide = |z: u64| {
        let u = z.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let high = if w == 64 { 0 } else { u ^ u >> 32 };
        u128::from(high) << 64 | u128::from(z | 1)
    };
    let is_kept = |start: u64, byte: u64| {
        let (q, from_end) = (start >> b, (1 << b) - 1 - start % (1 << b));
        let class = u64::from(from_end >= second) + u64::from(from_end >= third);
        class < number(payload, (8 * byte + 2 * (q % 4)) as usize, 2)
    };
    let later = |i: u64| {
        let y = mix(z ^ mix(x.wrapping_add(i.wrapping_mul(G))));
        let v = y.wrapping_mul(G);
        (y, wide(v ^ v >> 32))
    };
    let place_of_key = || {
        let start = (place * first_starts) >> 32;
        if is_kept(start, 8 * (2 * shards - 1) + shard * metadata_bytes(first_starts) + (start >> b) / 4) {
            return (start, wide(z));
        }
        let (mut slots, mut e) = (first_starts, end);
        for (i, starts) in (1..).zip(layers).take_while(|(_, starts)| *starts > 0) {
            let (y, coefficients) = later(i);
            let start = high(y, starts);
            if is_kept(start, e - 1 - (start >> b) / 4) {
                return (slots + start, coefficients);
            }
            (slots, e) = (slots + starts, e - metadata_bytes(starts));
        }
        if k < 7 {
            let (y, coefficients) = later(4 + k);
            return (slots + high(y, base), if base > 0 { coefficients } else { 0 });
        }
        let pair = |i: u64| [0, 8].map(|at| number(payload, 8 * (e - 16 * (base - i) + at) as usize, 64));
        (0..base).find(|i| pair(*i) == [x, z]).map_or((0, 0), |i| (slots + w + i, 1))
    };
    let (slot, coefficients) = place_of_key();
    let bit = |slot: u64, column: u64| {
        let byte = payload.get((begin + slot / 8 * r + column) as usize).copied().unwrap_or(0);
        u64::from(byte >> (slot % 8) & 1)
    };
    let value =
        |column: u64| (0..w).filter(|j| coefficients >> j & 1 == 1).fold(0, |sum, j| sum ^ bit(slot + j, column));
    (0..r).map(|column| u128::from(value(column)) << column).sum()
}

/// The value that a map's image gives the key with these 128 bits.
pub fn value(image: &[u8], id: u128) -> Option<u64> {
    let header = Header(&image[..256]);
    let payload = &image[256..256 + header.payload_bytes()];
    if header.kind() == 16 {
        return approximator(&header, payload, id);
    }
    assert!([7, 15, 21].contains(&header.kind()));
    let [v, c, shards, cells, keys, solver] = [0, 1, 2, 3, 4, 5].map(|i| header.word(i));
    if keys == 0 {
        return (c == 0).then_some(0);
    }
    if solver == 1 {
        assert_eq!((header.hashes(), shards, cells), (0, 0, 0));
        let (x, z) = ((id >> 64) as u64, mix(id as u64 ^ mix((id >> 64) as u64)));
        let columns = ribbon_columns(payload, header.bits(), [(v + c).max(1), 64, keys], x, z);
        let check = u128::from(z.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % (1 << c);
        return (columns >> v == check).then_some((columns % (1 << v)) as u64);
    }
    assert_eq!(header.hashes(), 3);
    // The width of a number in the first array, and whether checks have their own array.
    let is_mutable = header.kind() == 21;
    let (width, is_apart) = match is_mutable {
        true => (c + 2, false),
        false if v + c > 64 => (v, true),
        false => (v + c, false),
    };
    let directory = (width * cells).next_multiple_of(64);
    let end = (directory + 128 * shards).next_multiple_of(512) as usize;
    let (low, x) = (id as u64, (id >> 64) as u64);
    let product = u128::from(x) * u128::from(shards);
    let (shard, place) = ((product >> 64) as usize, (product >> 32) as u64 % (1 << 32));
    let entry = directory as usize + 128 * shard;
    let (starts, seed) = (number(payload, entry, 32), number(payload, entry + 32, 32));
    let (length, first) = (1 << number(payload, entry + 64, 6), 64 * number(payload, entry + 70, 58));
    let scatter = |x: u64| {
        let z = (x ^ (seed * (1 << 32) + seed)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    let ordered = (low ^ low >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = scatter(ordered ^ ordered >> 27 ^ scatter(x));
    let p = place * starts / (1 << 32);
    let places = [p, (p + length) ^ (z % length), (p + 2 * length) ^ ((z >> 32) % length)];
    let cell = |from: usize, width: u64| {
        places
            .iter()
            .fold(0, |sum, cell| sum ^ number(payload, from + ((first + cell) * width) as usize, width as usize))
    };
    let both = cell(0, width);
    if is_mutable {
        let own = (both ^ z.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % (1 << width);
        return (own < 3).then(|| in_word(&payload[end / 8..], v, first + places[own as usize]));
    }
    let value = if v == 64 { both } else { both % (1 << v) };
    let check = if is_apart { cell(end, c) } else { both.checked_shr(v as u32).unwrap_or(0) };
    (check == (z.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % (1 << c)).then_some(value)
}

/// The number of index `index` among numbers of `width` bits, none of which lies in two words.
fn in_word(payload: &[u8], width: u64, index: u64) -> u64 {
    let each = 64 / width;
    number(payload, (64 * (index / each) + width * (index % each)) as usize, width as usize)
}

fn approximator(header: &Header, payload: &[u8], id: u128) -> Option<u64> {
    let (v, lattice) = (header.word(0), header.word(1));
    let cells = header.bits() / 64 * (64 / v);
    let hash = mix((id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (id >> 64) as u64);
    let mut factor = 1_u64;
    let mut met = u64::MAX;
    for _ in 0..header.hashes() {
        let cell = in_word(payload, v, high(hash.wrapping_mul(factor), cells));
        met = if lattice == 2 { met & cell } else { met.min(cell) };
        factor = factor.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    let greatest = u64::MAX >> (64 - v);
    (met != 0).then_some(if lattice == 1 { greatest - met } else { met })
}

/// The high half of a product.
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn bloom(header: &Header, hash: u64) -> Vec<u64> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (hashes, bits) = (header.hashes(), header.bits());
    let [partitioned, derivation, width] = [0, 1, 2].map(|i| header.word(i));
    let range = if partitioned == 1 { bits / hashes } else { bits };
    let w = |j: u64| if j == 0 { hash } else { mix(hash.wrapping_add(j.wrapping_mul(G))) };
    let wide = u128::from;
    let [a, b, c] = [w(0), w(1), w(2)].map(|word| wide(word % range));
    let q = |i: u64| match derivation {
        0 => high((0..i).fold(hash, |hash, _| hash.wrapping_mul(G)), range),
        1 => high(w(i + 1), range),
        2 => {
            // The slices of a word, taken from its text of binary digits.
            let slices = |word: u64| {
                let digits = format!("{word:064b}").into_bytes();
                let whole = digits.chunks_exact(width as usize);
                let value = |slice| u64::from_str_radix(std::str::from_utf8(slice).unwrap(), 2).unwrap();
                whole.map(value).collect::<Vec<u64>>()
            };
            let slice = (1..).flat_map(|j| slices(w(j))).nth(i as usize).unwrap();
            ((wide(slice) * wide(range)) >> width) as u64
        }
        3 => ((a + wide(i) * b) % wide(range)) as u64,
        4 => ((a + wide(i) * b + wide(i * i * i - i) / 6) % wide(range)) as u64,
        5 => ((a + wide(i) * b + wide(i) * wide(i).saturating_sub(1) / 2 * c) % wide(range)) as u64,
        _ => panic!("derivation {derivation} is not specified"),
    };
    (0..hashes).map(|i| if partitioned == 1 { i * range } else { 0 } + q(i)).collect()
}

const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

fn split_block(header: &Header, hash: u64) -> Vec<u64> {
    let blocks = header.bits() / 256;
    let block = ((hash >> 32) * blocks) >> 32;
    let bit = |lane: u64| u64::from((hash as u32).wrapping_mul(SALTS[lane as usize]) >> 27);
    (0..8).map(|lane| 256 * block + 32 * lane + bit(lane)).collect()
}

fn blocked(header: &Header, hash: u64) -> Vec<u64> {
    let hashes = header.hashes();
    match header.word(0) {
        0 => in_one_block(header, hash, hashes),
        2 => [hash, mix(hash)].into_iter().flat_map(|hash| in_one_block(header, hash, hashes / 2)).collect(),
        other => panic!("keys with {other} blocks"),
    }
}

/// The bits of a key in one block, for this number of lanes.
fn in_one_block(header: &Header, hash: u64, hashes: u64) -> Vec<u64> {
    let block = high(hash, header.bits() / 512);
    let (more, fewer) = (hashes.div_ceil(2), hashes / 2);
    let masks: Vec<u64> = (0..1_u64 << 16)
        .filter(|mask| {
            let halves = ((mask & 0xff).count_ones().into(), (mask >> 8).count_ones().into());
            halves == (more, fewer) || halves == (fewer, more)
        })
        .collect();
    let mask = masks[(((hash & 0xffff_ffff) * masks.len() as u64) >> 32) as usize];
    let place = |lane: u64| {
        let product = (hash & 0xffff_ffff) * u64::from(SALTS[lane as usize / 2]);
        512 * block + 32 * lane + (product >> [27, 32][lane as usize % 2]) % 32
    };
    (0..16).filter(|lane| mask >> lane & 1 == 1).map(place).collect()
}

fn counting(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut payload = vec![0; header.payload_bytes()];
    let (width, is_blocked) = (header.word(0), header.word(1) == 1);
    // Blocked counters are the counters that hold the bits of a filter of kind 3.
    let mut blocks = header.0[..256].to_vec();
    blocks[64..72].copy_from_slice(&(header.bits() / 512 * 512).to_le_bytes());
    let bit = |payload: &[u8], i: u64| u64::from(payload[i as usize / 8] >> (i % 8) & 1);
    for hash in hashes {
        let counter = |i: u64| high((0..i).fold(*hash, |hash, _| hash.wrapping_mul(G)), header.bits() / width);
        let mut counters: Vec<u64> = match is_blocked {
            true => in_one_block(&Header(&blocks), *hash, header.hashes()).iter().map(|bit| bit / width).collect(),
            false => (0..header.hashes()).map(counter).collect(),
        };
        // A counter that a key meets twice counts once.
        counters.sort_unstable();
        counters.dedup();
        for counter in counters {
            let places = width * counter..width * (counter + 1);
            let value: u64 = places.clone().map(|i| bit(&payload, i) << (i - places.start)).sum();
            let more = (value + 1).min((1 << width) - 1);
            for i in places.clone() {
                let byte = &mut payload[i as usize / 8];
                *byte = *byte & !(1 << (i % 8)) | ((more >> (i - places.start) & 1) as u8) << (i % 8);
            }
        }
    }
    payload
}

/// One array of wide counters, or two.
fn spectral(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (width, method, words) = (header.word(0), header.word(1), header.bits() / 64);
    let first_words = if method == 2 { words - words / 3 } else { words };
    let counters = |words: u64, hash: u64| -> Vec<usize> {
        let place = |i: u64| high((0..i).fold(hash, |hash, _| hash.wrapping_mul(G)), 64 * words / width) as usize;
        let mut places: Vec<usize> = (0..header.hashes()).map(place).collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    let mut first = vec![0_u64; (64 * first_words / width) as usize];
    let mut second = vec![0_u64; (64 * (words - first_words) / width) as usize];
    for hash in hashes {
        let places = counters(first_words, *hash);
        let least = places.iter().map(|place| first[*place]).min().unwrap();
        for place in &places {
            if method != 1 || first[*place] == least {
                first[*place] += 1;
            }
        }
        if method == 2 {
            let least = places.iter().map(|place| first[*place]).min().unwrap();
            let is_single = places.iter().filter(|place| first[**place] == least).count() == 1;
            let places = counters(words - first_words, mix(*hash));
            let is_there = places.iter().all(|place| second[*place] > 0);
            let more = if is_there { 1 } else { u64::from(is_single) * least };
            places.iter().for_each(|place| second[*place] += more);
        }
    }
    let mut payload = vec![0_u8; header.payload_bytes()];
    let bytes = width as usize / 8;
    for (place, counter) in payload.chunks_mut(bytes).zip(first.iter().chain(&second)) {
        place.copy_from_slice(&counter.to_le_bytes()[..bytes]);
    }
    payload
}

/// Cells that keys add increments to.
fn variable_increment(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (sequence, l) = (header.word(0), header.word(1));
    let increments: Vec<u64> = match sequence {
        0 => (l..2 * l).collect(),
        1 => vec![1, 2, 4, 8, 13, 21, 31, 45],
        _ => vec![1, 2, 5, 14, 33, 72, 125, 219],
    };
    let largest = increments[l as usize - 1];
    let width = 5 + u64::from(if sequence == 0 { l.ilog2() } else { ((sequence + 1) * largest).ilog2() });
    let mut cells = vec![(0_u64, 0_u64); (header.bits() / width) as usize];
    for hash in hashes {
        let mut before = Vec::new();
        for i in 0..header.hashes() {
            let cell = high((0..i).fold(*hash, |hash, _| hash.wrapping_mul(G)), cells.len() as u64) as usize;
            if before.contains(&cell) {
                continue;
            }
            before.push(cell);
            let (bits, in_word) = (u64::from(l.ilog2()), u64::from(64 / l.ilog2()));
            let word = mix(hash.wrapping_add((i / in_word + 1).wrapping_mul(G)));
            let (keys, sum) = &mut cells[cell];
            *keys += 1;
            *sum += increments[(word >> (i % in_word * bits) & (l - 1)) as usize];
        }
    }
    let mut payload = vec![0_u8; header.payload_bytes()];
    for (cell, (keys, sum)) in cells.into_iter().enumerate() {
        let value = match sequence {
            0 => sum.min((1 << width) - 1),
            _ if keys >= 15 => (1 << width) - 1,
            _ => keys + 16 * (sum % (1 << (width - 4))),
        };
        for i in 0..width as usize {
            let place = cell * width as usize + i;
            payload[place / 8] |= ((value >> i & 1) as u8) << (place % 8);
        }
    }
    payload
}

/// Layers of bits: each key goes into the first layer that does not have the key.
fn layered(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (layers, s, words) = (header.word(0), header.word(1), header.bits() / 64);
    let words_of = |first: u64, j: u64| first.div_ceil((0..j).fold(1, |power: u64, _| power.saturating_mul(s)));
    let first = (1..=words).rev().find(|first| (0..layers).map(|j| words_of(*first, j)).sum::<u64>() <= words).unwrap();
    let mut payload = vec![0_u8; header.payload_bytes()];
    for hash in hashes {
        let mut start = 0;
        for j in 0..layers {
            let hash = if j == 0 { *hash } else { mix(hash.wrapping_add(j.wrapping_mul(G))) };
            let bits = 64 * words_of(first, j);
            let place = |i: u64| start + high((0..i).fold(hash, |hash, _| hash.wrapping_mul(G)), bits);
            let mut is_new = false;
            for place in (0..header.hashes()).map(place) {
                let (byte, bit) = (&mut payload[place as usize / 8], 1 << (place % 8));
                is_new |= *byte & bit == 0;
                *byte |= bit;
            }
            if is_new {
                break;
            }
            start += bits;
        }
    }
    payload
}

/// The filter of the inserted keys; no key was removed.
fn removed_set(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let bits = 64 * (100 * (header.bits() / 64) / (100 + header.word(0)));
    let mut payload = vec![0_u8; header.payload_bytes()];
    for hash in hashes {
        for i in 0..header.hashes() {
            let place = high((0..i).fold(*hash, |hash, _| hash.wrapping_mul(G)), bits);
            payload[place as usize / 8] |= 1 << (place % 8);
        }
    }
    payload
}

/// A chain of levels. The first level has room for all keys here, and the bytes of later levels are zero.
fn scalable(header: &Header, hashes: &[u64]) -> Vec<u8> {
    let kind = [bloom, split_block, blocked][header.word(0) as usize];
    let [growth, levels, capacity, step] = [2, 3, 4, 5].map(|i| header.word(i));
    assert!(hashes.len() as u64 <= capacity);
    let first_bits = header.bits() / (0..levels).map(|i| growth.pow(i as u32)).sum::<u64>();
    assert!(
        step == if header.word(0) == 1 { 0 } else { (-64.0 * f64::from_bits(header.word(1)).log2()).round() as u64 }
    );
    // The first level is a payload of its kind with as many hashes and with its own number of bits. All words of its
    // geometry are 0.
    let mut level = header.0[..256].to_vec();
    level[64..72].copy_from_slice(&first_bits.to_le_bytes());
    level[72..136].fill(0);
    let mut payload = vec![0_u8; header.payload_bytes()];
    let mut taken = 0_u64;
    for hash in hashes {
        let mut is_new = false;
        for position in kind(&Header(&level), mix(*hash)) {
            let (byte, bit) = (&mut payload[position as usize / 8], 1 << (position % 8));
            is_new |= *byte & bit == 0;
            *byte |= bit;
        }
        taken += u64::from(is_new);
    }
    // The last line is the state: the number of keys in the level in use, and the number of that level, which is 0.
    let state = payload.len() - 64;
    payload[state..state + 8].copy_from_slice(&taken.to_le_bytes());
    payload
}

/// Slices in a ring, the oldest of which becomes the youngest.
fn age_partitioned(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let [l, clock, keys] = [0, 1, 2].map(|i| header.word(i));
    let (k, count) = (header.hashes(), header.hashes() + l);
    let bits = header.bits() / count;
    let mut payload = vec![0_u8; header.payload_bytes()];
    let (mut steps, mut taken) = (0, 0);
    for hash in hashes {
        let places = |steps: u64| -> Vec<u64> {
            let slices = (0..k).map(|age| (count + age - steps) % count);
            let factor = |slice: u64| (0..slice).fold(1_u64, |power, _| power.wrapping_mul(G));
            slices.map(|slice| slice * bits + high(mix(*hash).wrapping_mul(factor(slice)), bits)).collect()
        };
        let is_set = |payload: &[u8], bit: u64| payload[bit as usize / 8] >> (bit % 8) & 1 == 1;
        if places(steps).iter().all(|bit| is_set(&payload, *bit)) {
            continue;
        }
        if clock == 0 && taken >= keys {
            (steps, taken) = ((steps + 1) % count, 0);
            let youngest = (count - steps) % count;
            (youngest * bits..(youngest + 1) * bits).for_each(|bit| payload[bit as usize / 8] &= !(1 << (bit % 8)));
        }
        let places = places(steps);
        taken += u64::from(!places.iter().all(|bit| is_set(&payload, *bit)));
        places.iter().for_each(|bit| payload[*bit as usize / 8] |= 1 << (bit % 8));
    }
    let state = payload.len() - 64;
    payload[state..state + 8].copy_from_slice(&u64::to_le_bytes(steps));
    payload[state + 8..state + 16].copy_from_slice(&u64::to_le_bytes(taken));
    payload
}

/// Cells that count down, in planes.
fn stable(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let [width, decrements] = [0, 1].map(|i| header.word(i));
    let (k, seed) = (header.hashes(), header.u64(40));
    let each = header.bits() / width / k;
    let count = k * each;
    let mut cells = vec![0_u64; count as usize];
    for (step, hash) in (1_u64..).zip(hashes) {
        let first = high(mix(seed.wrapping_add(step.wrapping_mul(G))), count);
        for cell in (0..decrements).map(|i| ((first + i) % count) as usize) {
            cells[cell] = cells[cell].saturating_sub(1);
        }
        let mut factor = 1_u64;
        for slice in 0..k {
            cells[(slice * each + high(mix(*hash).wrapping_mul(factor), each)) as usize] = (1 << width) - 1;
            factor = factor.wrapping_mul(G);
        }
    }
    let mut payload = vec![0_u8; header.payload_bytes()];
    for (i, value) in cells.into_iter().enumerate() {
        for plane in (0..width as usize).filter(|plane| value >> plane & 1 == 1) {
            payload[8 * (i / 64 * width as usize + plane) + i % 64 / 8] |= 1 << (i % 8);
        }
    }
    let state = payload.len() - 64;
    payload[state..state + 8].copy_from_slice(&(hashes.len() as u64).to_le_bytes());
    payload
}

/// Generations of bit arrays, the oldest dropped as a whole.
fn rotating(header: &Header, hashes: &[u64]) -> Vec<u8> {
    let kind = [bloom, split_block, blocked][header.word(0) as usize];
    let [generations, touch, clock, keys] = [1, 2, 3, 4].map(|i| header.word(i));
    let mut one = header.0[..256].to_vec();
    let bytes = header.bits() / generations / 512 * 64;
    one[64..72].copy_from_slice(&(8 * bytes).to_le_bytes());
    one[72..136].fill(0);
    let mut arrays = vec![vec![0_u8; bytes as usize]; generations as usize];
    let (mut newest, mut taken) = (0, 0);
    for hash in hashes {
        let bits = kind(&Header(&one), mix(*hash));
        let has = |array: &Vec<u8>| bits.iter().all(|bit| array[*bit as usize / 8] >> (bit % 8) & 1 == 1);
        if has(&arrays[newest]) || (touch == 0 && arrays.iter().any(has)) {
            continue;
        }
        if clock == 0 && taken >= keys {
            (newest, taken) = ((newest + 1) % arrays.len(), 0);
            arrays[newest].fill(0);
        }
        bits.iter().for_each(|bit| arrays[newest][*bit as usize / 8] |= 1 << (bit % 8));
        taken += 1;
    }
    let mut payload = arrays.concat();
    payload.resize(header.payload_bytes(), 0);
    let state = payload.len() - 64;
    payload[state..state + 8].copy_from_slice(&(newest as u64).to_le_bytes());
    payload[state + 8..state + 16].copy_from_slice(&taken.to_le_bytes());
    payload
}

/// An open-addressed table of signatures.
fn hash_compaction(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (width, slots) = (header.word(0), header.word(1));
    let mut table = vec![0_u64; slots as usize];
    for hash in hashes {
        let part = |i: u64| mix(hash.wrapping_add(i.wrapping_mul(G)));
        let (start, step) = (high(part(0), slots), 1 + high(part(1), slots - 1));
        let signature = 1 + high(part(2), (1 << width) - 1);
        for i in 0..slots {
            let slot = ((u128::from(start) + u128::from(i) * u128::from(step)) % u128::from(slots)) as usize;
            if table[slot] == 0 || table[slot] == signature {
                table[slot] = signature;
                break;
            }
        }
    }
    let mut payload = vec![0_u8; header.payload_bytes()];
    let bits = table.iter().flat_map(|signature| (0..width).map(move |i| signature >> i & 1 == 1));
    for (i, bit) in bits.enumerate() {
        payload[i / 8] |= u8::from(bit) << (i % 8);
    }
    payload
}

/// A static table of cuckoo signatures.
fn signatures(header: &Header, payload: &[u8], hash: u64) -> bool {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (r, shards) = (header.word(0) as usize, header.word(2));
    let (d, b) = [(2, 4), (2, 3), (2, 2), (2, 1), (3, 1), (4, 1)][header.word(1) as usize];
    let directory = |shard: u64| number(payload, 64 * shard as usize, 64);
    let x = mix(hash);
    let shard = high(x, shards);
    let (seed, first) = (directory(shard) % (1 << 16), directory(shard) >> 16);
    let all = header.bits() / (b * r as u64);
    let length = if shard + 1 < shards { directory(shard + 1) >> 16 } else { all } - first;
    let part = |i: u64| mix(x.wrapping_add((8 * seed + i + 1).wrapping_mul(G)));
    let signature = 1 + high(part(7), (1 << r) - 1);
    let slot = |slot: u64| number(payload, 64 * shards as usize + slot as usize * r, r);
    (0..d).any(|i| (0..b).any(|j| slot(b * (first + high(part(i), length)) + j) == signature))
}

/// A table of fingerprints, as lists of entries.
fn cuckoo(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let [f, b, is_sorted] = [0, 1, 2].map(|i| header.word(i));
    let size = if is_sorted == 1 { 4 * f - 4 } else { b * f };
    let m = header.bits() / size / 2 * 2;
    let mut buckets = vec![vec![0_u64; b as usize]; m as usize];
    let other = |p: u64, bucket: u64| (2 * high(mix(p), m / 2) + 1 + m - bucket) % m;
    let replace = |bucket: &mut Vec<u64>, old: u64, new: u64| {
        let slot = bucket.iter().position(|entry| *entry == old).unwrap();
        bucket[slot] = new;
        if is_sorted == 1 {
            bucket.sort_unstable();
        }
    };
    let empty = |bucket: &[u64]| bucket.iter().filter(|entry| **entry == 0).count();
    for hash in hashes {
        let p = 1 + high(hash.wrapping_mul(G), (1 << f) - 1);
        let first = high(*hash, m);
        let second = other(p, first);
        let [room, more] = [first, second].map(|bucket| empty(&buckets[bucket as usize]));
        if room + more > 0 {
            let bucket = if room >= more { first } else { second };
            replace(&mut buckets[bucket as usize], 0, p);
            continue;
        }
        // Each item of the queue has a bucket, the entry that leads to it, and the item before it.
        let mut queue = vec![(first, p, None), (second, p, None)];
        let mut at = 0;
        while empty(&buckets[queue[at].0 as usize]) == 0 {
            if queue.len() as u64 <= 2048 - b {
                let (bucket, ..) = queue[at];
                let next = buckets[bucket as usize].iter().map(|entry| (other(*entry, bucket), *entry, Some(at)));
                queue.extend(next.collect::<Vec<_>>());
            }
            at += 1;
        }
        let mut way = Some(at);
        while let Some(at) = way {
            let (bucket, entry, before) = queue[at];
            replace(&mut buckets[bucket as usize], 0, entry);
            if let Some(before) = before {
                replace(&mut buckets[queue[before].0 as usize], entry, 0);
            }
            way = before;
        }
    }
    let mut bits = Vec::new();
    for bucket in &buckets {
        if is_sorted == 1 {
            let choose = |n: u64, k: u64| (0..k).fold(1, |product, i| product * (n - i) / (i + 1));
            let code: u64 = (0..4)
                .map(|i| {
                    if bucket[i] >> (f - 4) == 0 { 0 } else { choose((bucket[i] >> (f - 4)) + i as u64, i as u64 + 1) }
                })
                .sum();
            bits.extend(bits_of(code, 12));
        }
        let width = if is_sorted == 1 { f - 4 } else { f } as u32;
        bits.extend(bucket.iter().flat_map(|entry| bits_of(*entry, width)));
    }
    let mut payload = vec![0_u8; header.payload_bytes()];
    bits.iter().enumerate().for_each(|(i, bit)| payload[i / 8] |= u8::from(*bit) << (i % 8));
    payload
}

/// Blocks of buckets of tags, as lists of lists.
fn vector_quotient(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let t = header.word(0);
    let (b, s, d) = if t == 8 { (80, 48, 128) } else { (36, 28, 64) };
    let m = header.bits() / 1024 * 2;
    let mut blocks = vec![vec![Vec::<u64>::new(); b as usize]; m as usize];
    let other = |f: u64, block: u64| (2 * high(mix(f), m / 2) + 1 + m - block) % m;
    let taken = |block: &[Vec<u64>]| block.iter().map(Vec::len).sum::<usize>();
    for hash in hashes {
        let f = high(*hash, b << t);
        let first = high(hash.wrapping_mul(G), m);
        let pair = [first, other(f, first)].map(|block| block as usize);
        let [one, two] = pair.map(|block| taken(&blocks[block]));
        let mut into = if one <= two { pair[0] } else { pair[1] };
        if one.min(two) == s {
            // The first entry of both blocks that can move does move.
            let entries = pair.iter().flat_map(|block| {
                let buckets = blocks[*block].iter().enumerate();
                buckets.flat_map(move |(bucket, tags)| tags.iter().map(move |tag| (*block, bucket, *tag)))
            });
            let target = |(block, bucket, tag): (usize, usize, u64)| {
                let to = other((bucket as u64) << t | tag, block as u64) as usize;
                (taken(&blocks[to]) < s).then_some((block, bucket, tag, to))
            };
            let (from, bucket, tag, to) = entries.filter_map(target).next().unwrap();
            blocks[to][bucket].push(tag);
            let at = blocks[from][bucket].iter().position(|one| *one == tag).unwrap();
            blocks[from][bucket].remove(at);
            into = from;
        }
        blocks[into][(f >> t) as usize].push(f % (1 << t));
    }
    let mut payload = vec![0_u8; header.payload_bytes()];
    for (block, bytes) in blocks.iter().zip(payload.chunks_mut(64)) {
        let mut bits = Vec::new();
        for tags in block {
            bits.extend(tags.iter().map(|_| true));
            bits.push(false);
        }
        bits.resize(d, false);
        bits.extend(block.iter().flatten().flat_map(|tag| bits_of(*tag, t as u32)));
        bits.iter().enumerate().for_each(|(i, bit)| bytes[i / 8] |= u8::from(*bit) << (i % 8));
    }
    payload
}

/// Four subtables of buckets of eight cells, as lists of remainders with counters.
fn d_left(header: &Header, hashes: &[u64]) -> Vec<u8> {
    const G: u64 = 0x9e37_79b9_7f4a_7c15;
    let (r, b) = (header.word(0), header.word(1));
    assert_eq!(header.bits(), 32 * b * (r + 2));
    let mut buckets = vec![[(0, 0); 8]; 4 * b as usize];
    for hash in hashes {
        let f = high(hash.wrapping_mul(G), b << r);
        let (q, x) = (f >> r, f % (1 << r));
        let u = mix(x + 1);
        let shift = |i: u64| if i == 0 { 0 } else { (((u >> (21 * (i - 1))) & 0x1f_ffff) * b.min(4096)) >> 21 };
        let all = [0, 1, 2, 3].map(|i| ((q + shift(i)) % b * 4 + i) as usize);
        let known = |cell: &(u64, u64)| cell.0 == x && (1..3).contains(&cell.1);
        if let Some((bucket, cell)) =
            all.iter().find_map(|bucket| Some((*bucket, buckets[*bucket].iter().position(known)?)))
        {
            buckets[bucket][cell].1 += 1;
            continue;
        }
        let load = |bucket: &usize| buckets[*bucket].iter().filter(|cell| cell.1 > 0).count();
        let bucket = *all.iter().min_by_key(|bucket| load(bucket)).unwrap();
        let free = buckets[bucket].iter().position(|cell| cell.1 == 0).unwrap();
        buckets[bucket][free] = (x, 1);
    }
    let mut bits = Vec::new();
    for bucket in buckets {
        bits.extend(bucket.iter().flat_map(|cell| bits_of(cell.1, 2)));
        bits.extend(bucket.iter().flat_map(|cell| bits_of(cell.0, r as u32)));
    }
    let mut payload = vec![0_u8; header.payload_bytes()];
    bits.iter().enumerate().for_each(|(i, bit)| payload[i / 8] |= u8::from(*bit) << (i % 8));
    payload
}

/// Runs of codes, as lists of numbers that are then put into slots.
fn quotient(header: &Header, hashes: &[u64]) -> Vec<u8> {
    let (r, slots) = (header.word(0) as u32, header.word(1));
    // The codes of each quotient. Equal fingerprints follow each other.
    let fingerprints: Vec<u64> = hashes.iter().map(|hash| high(*hash, slots << r)).collect();
    let mut runs: Vec<(u64, Vec<u64>)> = Vec::new();
    let groups: Vec<&[u64]> = fingerprints.chunk_by(|a, b| a == b).collect();
    for group in &groups {
        let (quotient, x, count) = (group[0] >> r, group[0] % (1 << r), group.len() as u64);
        // The digits of a number, the most significant first.
        let digits = |mut number: u64, base: u64| {
            let mut digits = Vec::new();
            while number > 0 || digits.is_empty() {
                digits.insert(0, number % base);
                number /= base;
            }
            digits
        };
        let code = match (count, x) {
            (1 | 2, _) | (3, 0) => vec![x; count as usize],
            (3, _) => vec![x, 0, x],
            (_, 0) => {
                let digits = digits(count - 4, (1 << r) - 1).into_iter().map(|digit| digit + 1).collect();
                [vec![0], digits, vec![0, 0]].concat()
            }
            _ => {
                let not_x = |digit: u64| if digit + 1 < x { digit + 1 } else { digit + 2 };
                let digits: Vec<u64> = digits(count - 3, (1 << r) - 2).into_iter().map(not_x).collect();
                let zero = if digits[0] > x { vec![0] } else { vec![] };
                [vec![x], zero, digits, vec![x]].concat()
            }
        };
        match runs.last_mut().filter(|(last, _)| *last == quotient) {
            Some((_, run)) => run.extend(code),
            None => runs.push((quotient, code)),
        }
    }
    // The starts of the runs if the last runs take the slots before `first`.
    let placed = |first: u64| {
        let mut next = first;
        let mut places = Vec::new();
        for (quotient, run) in &runs {
            let start = next.max(*quotient);
            next = start + run.len() as u64;
            places.push(start);
        }
        (places, next.saturating_sub(slots))
    };
    let (_, first) = placed(0);
    let (places, _) = placed(first);
    let mut payload = vec![0_u8; header.payload_bytes()];
    let mut set = |bit: u64| payload[bit as usize / 8] |= 1 << (bit % 8);
    let block = |slot: u64| slot % slots / 64 * (144 + 64 * u64::from(r));
    let mut taken = 0;
    for ((quotient, run), start) in runs.iter().zip(&places) {
        set(block(*quotient) + 16 + quotient % 64);
        for (slot, number) in (*start..).zip(run) {
            let bit = block(slot) + 144 + slot % 64 * u64::from(r);
            bits_of(*number, r).iter().zip(bit..).filter(|(is_set, _)| **is_set).for_each(|(_, bit)| set(bit));
            taken += 1;
        }
        let end = start + run.len() as u64 - 1;
        set(block(end) + 80 + end % 64);
    }
    for start in (0..slots).step_by(64) {
        let before = runs.iter().zip(&places).filter(|((quotient, _), _)| *quotient < start);
        let after = before.map(|((_, run), place)| place + run.len() as u64).max().unwrap_or(0).max(first);
        let offset = after.saturating_sub(start).min(65_535);
        bits_of(offset, 16).iter().zip(block(start)..).filter(|(is_set, _)| **is_set).for_each(|(_, bit)| set(bit));
    }
    let state = payload.len() - 64;
    payload[state..state + 8].copy_from_slice(&u64::to_le_bytes(taken));
    payload[state + 8..state + 16].copy_from_slice(&(groups.len() as u64).to_le_bytes());
    payload
}

/// The lowest `width` bits of a number, the lowest first.
fn bits_of(number: u64, width: u32) -> Vec<bool> {
    (0..width).map(|i| number >> i & 1 == 1).collect()
}

/// The number of bits that a number needs.
fn width_of(number: i64) -> u32 {
    (0..64).find(|width| number >> width == 0).unwrap()
}

/// Head, index and codes, as lists of bits that are put together.
fn golomb(header: &Header, hashes: &[u64]) -> Vec<u8> {
    let range = header.word(0);
    let mut numbers: Vec<u64> = hashes.iter().map(|hash| high(mix(*hash), range)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut payload = vec![0_u8; header.payload_bytes()];
    let d = numbers.len() as u64;
    if d == 0 {
        return payload;
    }
    let (mut p, mut q) = (0_u32, d as f64 / range as f64);
    while p < 56 && q < 0.381_966_011_250_105_1 {
        q *= 2.0 - q;
        p += 1;
    }
    let width = 1_u64 << (p + 5);
    let buckets = range.div_ceil(width);
    // The slope of the line from which the starts of groups are stored as differences.
    let y = 1.0 - q;
    let quotients = 32.min(range.div_ceil(1 << p));
    let (mut power, mut sum) = (1.0, 0.0);
    for i in 1..quotients {
        power *= y;
        sum += power * (1.0 - i as f64 / quotients as f64);
    }
    let slope = (((f64::from(p) + 1.0 + sum) * d as f64 / buckets as f64) * 8.0 * 65536.0) as u64;
    let line = |group: u64| (group * slope / 65536) as i64;
    // The codes of each bucket.
    let codes: Vec<Vec<bool>> = (0..buckets)
        .map(|bucket| {
            let mut next = bucket * width;
            let (mut unary, mut remainders) = (Vec::new(), Vec::new());
            for number in numbers.iter().filter(|number| **number / width == bucket) {
                let gap = number - next;
                next = number + 1;
                unary.extend((0..gap >> p).map(|_| false).chain([true]));
                remainders.push(bits_of(gap, p));
            }
            unary.into_iter().chain(remainders.into_iter().rev().flatten()).collect()
        })
        .collect();
    let starts: Vec<i64> = codes
        .chunks(8)
        .scan(0, |at, group| {
            let start = *at;
            *at += group.iter().map(|codes| codes.len() as i64).sum::<i64>();
            Some(start)
        })
        .collect();
    let total = codes.iter().map(|codes| codes.len() as i64).sum::<i64>();
    let over: Vec<i64> =
        starts.iter().chain([&total]).enumerate().map(|(group, start)| start - line(group as u64)).collect();
    let lengths: Vec<i64> = codes.iter().map(|codes| codes.len() as i64).collect();
    let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
    let (least_over, most_over) = (over.iter().min().unwrap(), over.iter().max().unwrap());
    let (length_width, start_width) = (width_of(most - least), width_of(most_over - least_over));
    let mut bits = Vec::new();
    let widths = u64::from(p) + (u64::from(length_width) << 8) + (u64::from(start_width) << 16);
    for word in [d, total as u64, widths, *least as u64, slope, *least_over as u64, 0, 0] {
        bits.extend(bits_of(word, 64));
    }
    for (group, lengths) in lengths.chunks(8).enumerate() {
        bits.extend(bits_of((over[group] - least_over) as u64, start_width));
        for bucket in 0..7 {
            let more = lengths.get(bucket).map_or(0, |length| length - least);
            bits.extend(bits_of(more as u64, length_width));
        }
    }
    bits.extend(bits_of((over.last().unwrap() - least_over) as u64, start_width));
    bits.extend(codes.into_iter().flatten());
    assert_eq!((bits.len() as u64, payload.len()), (header.bits(), (bits.len() + 64).div_ceil(512) * 64));
    bits.iter().enumerate().for_each(|(i, bit)| payload[i / 8] |= u8::from(*bit) << (i % 8));
    payload
}

/// The table of a payload's checksums, for an image with this header.
pub fn table(header: &[u8], payload: &[u8]) -> Vec<u8> {
    let entry = |region: &[u8]| if xxh3_64(region) == 0 { 1 } else { xxh3_64(region) };
    let mut table: Vec<u8> = payload.chunks(REGION).flat_map(|region| entry(region).to_le_bytes()).collect();
    table.resize((table.len() + 8).next_multiple_of(64) - 8, 0);
    let checksum = xxh3_64(&[&header[208..216], &table].concat());
    table.extend(checksum.to_le_bytes());
    table
}

/// The bytes of a region.
pub const REGION: usize = 65536;

/// The lookup of one hash in an Aleph filter.
fn aleph(header: &Header, payload: &[u8], hash: u64) -> bool {
    let [r, x, k, t, d, is_dividing, regime, _] = std::array::from_fn(|i| header.word(i));
    let w = |i: u64| (2.0 * (i as f64 + 1.0).log2()).ceil() as u64;
    let bits_of = |i: u64| match regime {
        0 => r,
        1 => r + w(i),
        _ if i < x => r + w(x - i).min(x - i),
        _ => r + w(i - x),
    };
    let growths = d + t - k;
    let slots = 1_u64 << t;
    let bytes = |f: u64| (slots / 64 * (18 + 8 * (f + 1))).next_multiple_of(64) + 64;
    let size = if is_dividing == 1 {
        bytes(bits_of(growths)).max(bytes(bits_of(growths + 1)))
    } else {
        bytes(bits_of(growths))
    };
    let hash = mix(hash);
    let (slot, mut rest) = (hash % slots, hash >> t);
    let (mut segment, mut f) = (rest % (1 << d), bits_of(growths));
    rest >>= d;
    if payload[((segment + 1) * size) as usize - 48] == 1 {
        f = bits_of(growths + 1);
        segment += (rest & 1) << d;
        rest >>= 1;
    }
    let segment = &payload[(segment * size) as usize..];
    let bit = |position: u64, first: u64| {
        let bit = (position % slots) / 64 * (18 + 8 * (f + 1)) * 8 + first + position % slots % 64;
        segment[bit as usize / 8] >> (bit % 8) & 1 == 1
    };
    let number = |position: u64| {
        let first = (position % slots) / 64 * (18 + 8 * (f + 1)) * 8 + 144 + position % 64 * (f + 1);
        (0..=f).fold(0, |number, i| number | u64::from(segment[(first + i) as usize / 8] >> ((first + i) % 8) & 1) << i)
    };
    // The runs, one after the other. Runs of the last quotients may reach into the first slots.
    let mut next = u64::from(u16::from_le_bytes([segment[0], segment[1]]));
    for quotient in (0..slots).filter(|quotient| bit(*quotient, 16)) {
        let start = next.max(quotient);
        let end = (start..).find(|position| bit(*position, 80)).unwrap();
        next = end + 1;
        if quotient != slot {
            continue;
        }
        let run: Vec<u64> = (start..=end).map(number).collect();
        let mut at = 0;
        while let Some(number) = run.get(at).copied() {
            let ones = (0..=f).rev().take_while(|bit| number >> bit & 1 == 1).count() as u64;
            if ones <= f && (number ^ rest) % (1 << (f - ones)) == 0 {
                return true;
            }
            let later = &run[at + 1..];
            at += match later.first() {
                Some(second) if *second == number => 2,
                // The number is a counter, which ends with the same number.
                Some(second) if *second < number => 2 + later.iter().position(|later| *later == number).unwrap(),
                Some(_) if number == 0 => later.windows(2).position(|two| two == [0, 0]).map_or(1, |zeros| zeros + 3),
                _ => 1,
            };
        }
    }
    false
}

/// The lookup of one hash in a taffy filter.
fn taffy(header: &Header, payload: &[u8], hash: u64) -> bool {
    let [r, _, _, t, d, is_dividing] = [0, 1, 2, 3, 4, 5].map(|i| header.word(i));
    let f = r.saturating_sub(8).clamp(6, 8);
    let word = |at: u64| u64::from_le_bytes(payload[8 * at as usize..][..8].try_into().unwrap());
    let size = (1 + ((8 * (r + 1)) << t).div_ceil(64)).next_multiple_of(8);
    assert_eq!(header.word(6), u64::from(d > 0 || is_dividing == 1));
    let (modulus, half) = (1_u64 << (t + f), (t + f).div_ceil(2));
    let q0 = mix(hash) % modulus;
    let rest = mix(hash) / modulus;
    let mut segment = rest % (1 << d);
    let mut tail = rest >> d;
    if is_dividing == 1 && word(segment * size) >> 63 == 1 {
        segment += (tail & 1) << d;
        tail >>= 1;
    }
    let x = q0.wrapping_mul(0x9e6c_63d0_876a_68e5) % modulus;
    let y = x ^ (x >> half);
    let z = y.wrapping_mul(0xd1b5_4a32_d192_ed03) % modulus;
    let q1 = z ^ (z >> half);
    [(q0 % (1 << t), q0 >> t), ((1 << t) + q1 % (1 << t), q1 >> t)].into_iter().any(|(bucket, fingerprint)| {
        (4 * bucket..4 * bucket + 4).any(|slot| {
            let first = (segment * size + 1) * 64 + slot * (r + 1);
            let bits: Vec<u64> = (first..first + r + 1).map(|bit| word(bit / 64) >> (bit % 64) & 1).collect();
            let Some(last) = bits.iter().rposition(|bit| *bit == 1) else { return false };
            let is_of = |number: u64, bits: &[u64]| bits.iter().enumerate().all(|(i, bit)| number >> i & 1 == *bit);
            is_of(fingerprint, &bits[..f as usize]) && is_of(tail, &bits[f as usize..last])
        })
    })
}
