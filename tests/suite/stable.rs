//! Stable filters: rates at the stable point and losses by age agree with the formulas. Equal operations make equal
//! bytes, which are those of cells that are counted down one by one.

use crate::common::{Buffer, empty, hash_of, image, mix};
use petal::kinds::stable::sizing::Cells;
use petal::{Answers, Filter, Image, Keys, Mode, Spec, registry};

/// A spec of an exact shape. The default rate of 1 % sets the number of decrements.
fn spec(cells: u64, cell_bits: u64, hashes: u32, seed: u64) -> Spec {
    let row = registry::find_name("stable").unwrap();
    let mut spec = Spec { kind: Some(row.kind), bits: cells * cell_bits, hashes, seed, ..Spec::default() };
    spec.set(row.parameter("cell_bits").unwrap(), cell_bits as f64).unwrap();
    spec
}

fn insert(filter: &mut Filter, spec: &Spec, keys: std::ops::Range<u64>) {
    let hashes: Vec<u64> = keys.map(|i| hash_of(spec, i)).collect();
    filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
}

fn found(filter: &Filter, spec: &Spec, keys: std::ops::Range<u64>) -> u64 {
    let hashes: Vec<u64> = keys.map(|i| hash_of(spec, i)).collect();
    let mut answers = Answers::default();
    filter.contains_batch(&Keys::Hashes(&hashes), &mut answers).unwrap();
    answers.true_count
}

/// k, the bits of a cell, P, the share of zeros, and the rate.
const POINTS: [(u32, u64, u64, f64, f64); 3] =
    [(3, 1, 11, 0.7857, 0.00984), (3, 2, 36, 0.7865, 0.00973), (4, 2, 30, 0.6870, 0.00960)];

#[test]
fn the_published_points_are_met() {
    const CELLS: u64 = 100_000;
    for (hashes, cell_bits, decrements, zeros, rate) in POINTS {
        let spec = spec(CELLS, cell_bits, hashes, hashes.into());
        let mut filter = Filter::new(&spec).unwrap();
        assert_eq!(filter.base().geometry().words[1], decrements);
        assert!((filter.expected_false_positive_rate(u64::MAX) / rate - 1.0).abs() < 1e-3);
        // The share of zeros reaches the stable point after any large enough number of keys.
        let mut next = 0;
        let (snapshots, fresh) = (20, 50_000);
        let (mut is_zero, mut hits) = (0.0, 0);
        for snapshot in 0..snapshots {
            // After the first keys each cell was decremented several times as often as its maximum.
            let more = if snapshot == 0 { 200_000 } else { 30_000 };
            insert(&mut filter, &spec, next..next + more);
            next += more;
            is_zero += 1.0 - filter.statistics().fill;
            hits += found(&filter, &spec, (1 << 40) + snapshot * fresh..(1 << 40) + (snapshot + 1) * fresh);
        }
        let is_zero = is_zero / snapshots as f64;
        // Between snapshots each cell takes a new random value.
        let sd = (zeros * (1.0 - zeros) / (CELLS * snapshots) as f64).sqrt();
        assert!((is_zero - zeros).abs() < 4.5 * sd + 5e-5, "k = {hashes}: {is_zero} of the cells are 0, not {zeros}");
        let mean = (snapshots * fresh) as f64 * rate;
        // The rate is a power of the share of set cells, so the deviation of that share adds to the deviation of the
        // rate.
        let sd = (mean + (mean * f64::from(hashes).sqrt() * sd / (1.0 - zeros)).powi(2)).sqrt();
        assert!((hits as f64 - mean).abs() < 4.5 * sd, "k = {hashes}: {hits} found, {mean} +- {sd} expected");
    }
}

/// Keys of every age are lost as often as the Markov chain of a cell's value predicts.
#[test]
fn what_is_lost_by_age_is_what_the_chain_says() {
    const KEYS: u64 = 500;
    for (hashes, cell_bits) in [(3, 1), (4, 2), (5, 3), (6, 4)] {
        let cells = 40_000;
        let ages = [0, 50, 500, 1500, 3000, 6000, 12_000];
        let mut lost = [0; 7];
        let mut expected = [0.0; 7];
        for seed in 0..12 {
            let spec = spec(cells, cell_bits, hashes, seed);
            let mut filter = Filter::new(&spec).unwrap();
            let last = 60_000;
            insert(&mut filter, &spec, 0..last);
            for (i, age) in ages.into_iter().enumerate() {
                lost[i] += KEYS - found(&filter, &spec, last - age - KEYS..last - age);
                let rate = |age| filter.expected_false_negative_rate(age);
                expected[i] += (age..age + KEYS).map(rate).sum::<f64>();
            }
        }
        for (i, age) in ages.into_iter().enumerate() {
            let (lost, mean, all) = (lost[i] as f64, expected[i], (12 * KEYS) as f64);
            let sd = (mean * (1.0 - mean / all)).sqrt();
            assert!(
                (lost - mean).abs() < 4.5 * sd + 1e-9,
                "{cell_bits} bits, {age} later: {lost} lost, {mean} +- {sd} expected"
            );
        }
        // Older keys are lost more often, and the last keys are not all lost.
        assert!(expected[6] > expected[1] && lost[0] < 12 * KEYS);
    }
}

/// A filter for a rate keeps the rate. Keys as old as the capacity are lost as seldom as the spec asks.
#[test]
fn capacities_are_ages() {
    let row = registry::find_name("stable").unwrap();
    for (capacity, rate, loss) in [(1000, 0.01, 0.1), (50_000, 0.001, 0.5), (200, 0.05, 0.01)] {
        let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(capacity, rate).unwrap() };
        spec.set(row.parameter("loss").unwrap(), loss).unwrap();
        let filter = Filter::new(&spec).unwrap();
        let lost = filter.expected_false_negative_rate(capacity);
        assert!(lost <= loss && lost > 0.98 * loss, "{lost}");
        assert_eq!(filter.expected_false_negative_rate(0), 0.0);
        let worst = filter.expected_false_positive_rate(u64::MAX);
        assert!(worst <= rate && worst > 0.9 * rate, "{worst}");
    }
}

// ---- A long stream of operations ---------------------------------------------------------------------------------

/// The filter as its description defines it, cell by cell.
struct Model {
    cells: Vec<u8>,
    each: u64,
    hashes: u64,
    greatest: u8,
    decrements: u64,
    seed: u64,
    steps: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

impl Model {
    fn of(filter: &Filter) -> Model {
        let geometry = filter.base().geometry();
        let hashes = u64::from(geometry.hashes);
        let each = geometry.bits / geometry.words[0] / hashes;
        let seed = filter.base().header().identifier;
        let (greatest, decrements) = ((1 << geometry.words[0]) - 1, geometry.words[1]);
        Model { cells: vec![0; (each * hashes) as usize], each, hashes, greatest, decrements, seed, steps: 0 }
    }

    fn places(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (each, hash) = (self.each, mix(hash));
        let factor = |slice| (0..slice).fold(1_u64, |power, _| power.wrapping_mul(GOLDEN));
        (0..self.hashes).map(move |slice| (slice * each + high(hash.wrapping_mul(factor(slice)), each)) as usize)
    }

    fn contains(&self, hash: u64) -> bool {
        self.places(hash).all(|cell| self.cells[cell] > 0)
    }

    fn step(&mut self) {
        self.steps = self.steps.wrapping_add(1);
        let first = high(mix(self.seed.wrapping_add(self.steps.wrapping_mul(GOLDEN))), self.cells.len() as u64);
        for i in 0..self.decrements {
            let cell = ((first + i) % self.cells.len() as u64) as usize;
            self.cells[cell] = self.cells[cell].saturating_sub(1);
        }
    }

    fn insert(&mut self, hash: u64) -> bool {
        let new = !self.contains(hash);
        self.step();
        let places: Vec<usize> = self.places(hash).collect();
        places.into_iter().for_each(|cell| self.cells[cell] = self.greatest);
        new
    }
}

/// Single insertions, batches, operations in place, lookups, steps of time, copies and images always give the cells of
/// the model.
#[test]
fn long_streams_are_those_of_single_cells() {
    for (turn, cell_bits) in (0..).zip([1, 2, 3, 4]) {
        let row = registry::find_name("stable").unwrap();
        let mut spec = Spec { kind: Some(row.kind), seed: 3 + turn, ..Spec::with_capacity(40, 0.05).unwrap() };
        spec.set(row.parameter("cell_bits").unwrap(), f64::from(cell_bits)).unwrap();
        let mut filter = empty(&spec);
        let mut model = Model::of(&filter);
        let mut random = turn;
        let mut next = || {
            random = random.wrapping_add(GOLDEN);
            mix(random)
        };
        let operations = crate::ageing::operations(4);
        let mut done = 0;
        while done < operations {
            let key = |number: u64| hash_of(&spec, number % 300);
            done += 1;
            match next() % 64 {
                0..32 => {
                    let hash = key(next());
                    assert_eq!(filter.insert_hash(hash).unwrap(), model.insert(hash));
                }
                32..36 => {
                    let hashes: Vec<u64> = (0..next() % 100).map(|_| key(next())).collect();
                    let mut new = vec![7; hashes.len()];
                    let mut answers = Answers { bytes: Some(&mut new), ..Answers::default() };
                    filter.insert_batch(&Keys::Hashes(&hashes), Some(&mut answers)).outcome.unwrap();
                    let expected: Vec<u8> = hashes.iter().map(|hash| u8::from(model.insert(*hash))).collect();
                    assert_eq!(new, expected);
                    done += hashes.len() as u64;
                }
                36..56 => {
                    let hash = key(next());
                    assert_eq!(filter.contains_hash(hash), model.contains(hash));
                }
                56..58 => {
                    let steps = [1, 1, 2, 3, 5, 10][next() as usize % 6];
                    filter.advance(steps).unwrap();
                    (0..steps).for_each(|_| model.step());
                }
                58 => filter = filter.copy().unwrap(),
                59 => {
                    let mut buffer = Buffer::of(&image(&filter));
                    let hashes: Vec<u64> = (0..next() % 20).map(|_| key(next())).collect();
                    let steps = next() % 3;
                    buffer.open(Mode::Write, None, |filter| {
                        let filter = filter.unwrap();
                        filter.advance(steps).unwrap();
                        filter.insert_batch(&Keys::Hashes(&hashes), None).outcome.unwrap();
                    });
                    (0..steps).for_each(|_| model.step());
                    for hash in &hashes {
                        model.insert(*hash);
                    }
                    filter = petal::load(&buffer.bytes(), &petal::OpenOptions::default()).unwrap();
                }
                60 if next() % 16 == 0 => {
                    filter.clear().unwrap();
                    model = Model::of(&filter);
                }
                61 if next() % 16 == 0 => {
                    filter.advance(u64::MAX).unwrap();
                    model.cells.fill(0);
                    model.steps = model.steps.wrapping_sub(1);
                }
                _ => {
                    let set = model.cells.iter().filter(|cell| **cell > 0).count() as u64;
                    assert_eq!(filter.statistics().taken, set);
                    assert!((0..300).all(|i| filter.contains_hash(key(i)) == model.contains(key(i))));
                    filter.verify().unwrap();
                }
            }
        }
    }
}

/// An image with a bit set after the last cell is refused. Such bits fill the last group and the last line.
#[test]
fn bits_after_the_last_cell_are_refused() {
    for (cells, cell_bits) in [(300, 1), (320, 2), (333, 3), (384, 2), (999, 1)] {
        let spec = spec(cells, cell_bits, 3, 1);
        let empty = image(&Filter::new(&spec).unwrap());
        let geometry = *Filter::new(&spec).unwrap().base().geometry();
        let (count, header) = (geometry.bits / cell_bits / 3 * 3, 256);
        // The state is the payload's last line.
        for bit in 0..8 * (geometry.payload_bytes - 64) {
            // A group of 64 cells has a word for each bit of a cell.
            let cell = bit / (64 * cell_bits) * 64 + bit % 64;
            let mut forged = empty.clone();
            forged[header + (bit / 8) as usize] ^= 1 << (bit % 8);
            crate::format::seal(&mut forged);
            let loaded = petal::load(&forged, &petal::OpenOptions::default());
            assert_eq!(loaded.is_ok(), cell < count, "bit {bit}, cell {cell} of {count}");
        }
    }
}

/// Many steps in one call do the same as single steps, in cells of every size. After as many steps as leave nothing, no
/// key is there.
#[test]
fn many_steps_are_single_steps() {
    for cell_bits in 1..=4 {
        let mut spec = spec(3000, cell_bits, 3, 9);
        // The spec has as few decrements as possible, so that keys live long.
        spec.capacity = 3000;
        let mut filter = Filter::new(&spec).unwrap();
        insert(&mut filter, &spec, 0..200);
        let mut single = filter.copy().unwrap();
        for steps in [1, 2, 50, 1000] {
            filter.advance(steps).unwrap();
            (0..steps).for_each(|_| assert!(single.advance(1).is_ok()));
            assert!(filter.equals(&single), "{steps} steps of {cell_bits} bits");
        }
    }
}

/// The lifetime is the least number of steps with 64 times as many decrements of each cell as its maximum.
#[test]
fn lifetimes_are_those_of_all_decrements() {
    for (hashes, each, greatest, decrements) in [(3, 1000, 15, 7), (1, 64, 1, 64), (16, 12_345, 3, 10), (2, 7, 7, 1)] {
        let cells = Cells { hashes, each, greatest, decrements };
        let all = u64::from(hashes) * each * u64::from(greatest) * 64;
        let lifetime = cells.lifetime();
        assert!(lifetime * decrements >= all && (lifetime - 1) * decrements < all, "{cells:?}: {lifetime}");
    }
}
