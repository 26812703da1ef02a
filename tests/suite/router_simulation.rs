//! The simulation of docs/router.md: 1,000 nodes with 10 keys each, keys of 4 bits. The nodes tell each other what they
//! have, and then queries run.
//!
//! The graph: node after node draws 2 other nodes that it has no link to yet, each uniformly, and links to them. So the
//! mean degree is 4 and the least is 2. Only one of many thousands of such graphs is not connected; the simulation then
//! draws another one.
//!
//! The queries: a query for a present key starts at a uniform node, and its key is that of a uniform other node at most
//! `levels` hops away. A query for an absent key starts at a uniform node. A query may make 16 hops.

use crate::common::is_soak;
use crate::router::{Random, network, round, spec};
use petal::router::{Route, Router, Walk};

const NODES: usize = 1000;
const KEYS: usize = 10;
const HOPS: u32 = 16;
const QUERIES: usize = 400;

/// A row of the table: levels, bits, and the reference's values of what [`Outcome`] has, with half of their last digit.
/// The deviations of one graph are those of all 20 graphs.
struct Setting {
    levels: usize,
    bits: u64,
    reference: [f64; 4],
    rounding: [f64; 4],
    deviations: [f64; 4],
}

const SETTINGS: [Setting; 5] = [
    Setting {
        levels: 3,
        bits: 1024,
        reference: [0.965, 1.00, 0.10, 0.36],
        rounding: [0.0005, 0.005, 0.005, 0.005],
        deviations: [0.0064, 0.0015, 0.0138, 0.0018],
    },
    Setting {
        levels: 3,
        bits: 4096,
        reference: [1.000, 1.00, 0.001, 0.11],
        rounding: [0.0005, 0.005, 0.0005, 0.005],
        deviations: [0.0009, 0.0, 0.0019, 0.001],
    },
    Setting {
        levels: 4,
        bits: 1024,
        reference: [0.773, 1.20, 0.81, 0.74],
        rounding: [0.0005, 0.005, 0.005, 0.005],
        deviations: [0.0214, 0.0297, 0.0153, 0.0026],
    },
    Setting {
        levels: 4,
        bits: 4096,
        reference: [0.991, 1.001, 0.055, 0.31],
        rounding: [0.0005, 0.0005, 0.0005, 0.005],
        deviations: [0.0058, 0.0009, 0.0129, 0.0034],
    },
    Setting {
        levels: 4,
        bits: 8192,
        reference: [0.997, 1.00, 0.006, 0.17],
        rounding: [0.0005, 0.005, 0.0005, 0.005],
        deviations: [0.0015, 0.0001, 0.0037, 0.0019],
    },
];

/// A random graph, as the documentation of this file says.
pub fn graph(random: &mut Random) -> Vec<Vec<usize>> {
    loop {
        let mut neighbours = vec![Vec::new(); NODES];
        for node in 0..NODES {
            for _ in 0..2 {
                let other = loop {
                    let other = random.below(NODES);
                    if other != node && !neighbours[node].contains(&other) {
                        break other;
                    }
                };
                neighbours[node].push(other);
                neighbours[other].push(node);
            }
        }
        if distances(&neighbours, 0, NODES).iter().all(Option::is_some) {
            return neighbours;
        }
    }
}

/// How far away each node is, up to a distance.
fn distances(neighbours: &[Vec<usize>], from: usize, most: usize) -> Vec<Option<usize>> {
    let mut distances = vec![None; neighbours.len()];
    distances[from] = Some(0);
    let (mut queue, mut next) = (vec![from], 0);
    while let Some(node) = queue.get(next).copied() {
        next += 1;
        let distance = distances[node].unwrap();
        for other in neighbours[node].iter().filter(|_| distance < most) {
            if distances[*other].is_none() {
                distances[*other] = Some(distance + 1);
                queue.push(*other);
            }
        }
    }
    distances
}

/// What one graph shows: the share of present keys that were found, the mean of their hops over their distance, the
/// share of absent keys that went over an edge, and the mean fill of the last level. Then the first two again for
/// queries that remember where they were.
type Outcome = [f64; 6];

fn simulate(setting: &Setting, random: &mut Random) -> Outcome {
    let neighbours = graph(random);
    let degree = neighbours.iter().map(Vec::len).max().unwrap();
    let settings = [("levels", setting.levels as f64), ("edges", degree as f64), ("counter_bits", 1.0)];
    // The table has fills up to 0.74, and the reference asks every level.
    let spec = spec(&[&settings[..], &[("max_fill", 1.0)]].concat(), setting.bits, 4);
    let mut routers = network(&spec, &neighbours);
    for (node, router) in routers.iter_mut().enumerate() {
        (0..KEYS).for_each(|key| router.insert(u64::to_le_bytes((KEYS * node + key) as u64)).unwrap());
    }
    (0..setting.levels).for_each(|_| _ = round(&mut routers, true));
    let mut outcome = [0.0; 6];
    for _ in 0..QUERIES {
        let from = random.below(NODES);
        let distances = distances(&neighbours, from, setting.levels);
        let near: Vec<usize> = (0..NODES).filter(|node| distances[*node].is_some_and(|far| far > 0)).collect();
        let at = near[random.below(near.len())];
        let key = (KEYS * at + random.below(KEYS)) as u64;
        let distance = distances[at].unwrap() as f64;
        for (place, hops) in [(0, route(&routers, from, at, key)), (4, walk(&routers, from, at, key))] {
            if let Some(hops) = hops {
                outcome[place] += 1.0;
                outcome[place + 1] += f64::from(hops) / distance;
            }
        }
        let absent = random.next() | 1 << 63;
        outcome[2] += f64::from(
            routers[random.below(NODES)].route(u64::to_le_bytes(absent), None, HOPS).unwrap() != Route::FallBack,
        );
    }
    let fills = routers.iter().flat_map(|router| router.edges().map(|edge| edge.fill[setting.levels - 1]));
    let edges: usize = neighbours.iter().map(Vec::len).sum();
    outcome[3] = fills.sum::<f64>() / edges as f64 * QUERIES as f64;
    (outcome[1], outcome[5]) = (outcome[1] / outcome[0] * QUERIES as f64, outcome[5] / outcome[4] * QUERIES as f64);
    outcome.map(|sum| sum / QUERIES as f64)
}

/// The hops of a query that remembers nothing; `None` if it was not found.
fn route(routers: &[Router], from: usize, to: usize, key: u64) -> Option<u32> {
    let (mut at, mut before, mut hops) = (from, None, 0);
    loop {
        match routers[at].route(u64::to_le_bytes(key), before, HOPS - hops).unwrap() {
            Route::Here => return (at == to).then_some(hops),
            Route::Edge { neighbour, .. } => (before, at) = (Some(at as u64), neighbour as usize),
            Route::Back { .. } | Route::FallBack => return None,
        }
        hops += 1;
    }
}

/// The hops of a query that remembers the nodes it visited; `None` if it was not found.
fn walk(routers: &[Router], from: usize, to: usize, key: u64) -> Option<u32> {
    let (mut at, mut walk) = (from, Walk::new(HOPS));
    loop {
        match routers[at].walk(u64::to_le_bytes(key), &mut walk).unwrap() {
            Route::Here if at == to => return Some(HOPS - walk.hops_left),
            Route::Here => {}
            Route::Edge { neighbour, .. } | Route::Back { neighbour } => at = neighbour as usize,
            Route::FallBack => return None,
        }
    }
}

/// The means are those of the reference, within 4.5 of the deviation of one graph, and the rounding of the table.
#[test]
fn queries_are_found_as_in_the_reference() {
    let graphs = if is_soak() { 20 } else { 1 };
    for setting in &SETTINGS {
        let mut random = Random(setting.bits + setting.levels as u64);
        let outcomes: Vec<Outcome> = (0..graphs).map(|_| simulate(setting, &mut random)).collect();
        let mean = |i: usize| outcomes.iter().map(|outcome| outcome[i]).sum::<f64>() / f64::from(graphs);
        let deviation = |i: usize| {
            let squares = outcomes.iter().map(|outcome| (outcome[i] - mean(i)).powi(2)).sum::<f64>();
            (squares / f64::from(graphs - 1)).sqrt()
        };
        let what = format!("{} levels of {} bits", setting.levels, setting.bits);
        println!("{what}: means {:.4?}", [0, 1, 2, 3, 4, 5].map(mean));
        if is_soak() {
            println!("deviations {:.4?}", [0, 1, 2, 3, 4, 5].map(deviation));
        }
        for i in 0..4 {
            let deviation = if is_soak() { deviation(i) } else { setting.deviations[i] };
            let (mean, reference) = (mean(i), setting.reference[i]);
            let most = 4.5 * deviation + setting.rounding[i];
            assert!((mean - reference).abs() <= most, "{what}, column {i}: {mean:.4}, and {reference} +- {most:.4}");
        }
        assert!(mean(4) >= mean(0), "{what}: a query that remembers finds at least as much");
    }
}
