//! Routers: what they know compared with exact sets, what hostile messages and images do, and walks that end.

use crate::common::{Buffer, golden, image as bytes, mix};
use crate::format::seal;
use petal::router::{MAX_WALK, Received, Route, Router, Walk};
use petal::{HashFunction, Image, Keys, Mode, OpenOptions, Spec, Status, load_as, row_of};
use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The bytes of a message before its levels.
const HEAD: usize = 88;

pub fn spec(settings: &[(&str, f64)], bits: u64, hashes: u32) -> Spec {
    let kind = petal::registry::find_name("router").unwrap().kind;
    let mut spec = Spec { kind: Some(kind), bits, hashes, ..Spec::default() };
    let row = row_of(&spec).unwrap();
    for (name, value) in settings {
        spec.set(row.parameter(name).unwrap(), *value).unwrap();
    }
    spec
}

/// Numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 += 1;
        mix(self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn below(&mut self, range: usize) -> usize {
        (self.next() % range as u64) as usize
    }
}

/// Routers that are joined by links, and know nothing of each other yet.
pub fn network(spec: &Spec, neighbours: &[Vec<usize>]) -> Vec<Router> {
    let routers = neighbours.iter().enumerate().map(|(node, neighbours)| {
        let mut router = Router::new(spec, node as u64).unwrap();
        neighbours.iter().for_each(|other| router.add_edge(*other as u64, link(node, *other), 0.0).unwrap());
        router
    });
    routers.collect()
}

/// The number that both ends give to their link.
fn link(a: usize, b: usize) -> u64 {
    mix((a.min(b) * 1_000_000 + a.max(b)) as u64)
}

/// Carries a message from each router to each neighbour; returns how many bytes these were in all.
pub fn round(routers: &mut [Router], changes: bool) -> usize {
    let mut messages = Vec::new();
    for router in routers.iter_mut() {
        let from = router.node();
        let neighbours: Vec<u64> = router.edges().map(|edge| edge.neighbour).collect();
        for to in neighbours {
            let message = if changes { router.advertise_changes(to) } else { router.advertise(to) };
            messages.push((from, to, message.unwrap().to_vec()));
        }
    }
    messages.retain(|(_, _, message)| !message.is_empty());
    for (from, to, message) in &messages {
        let received = routers[*to as usize].receive(*from, message).unwrap();
        assert_ne!(received, Received::NeedsAll);
    }
    messages.iter().map(|(_, _, message)| message.len()).sum()
}

/// Two nodes with a link, of which the first has a key.
fn pair(spec: &Spec) -> [Router; 2] {
    let mut routers = network(spec, &[vec![1], vec![0]]);
    routers[0].insert(u64::to_le_bytes(7)).unwrap();
    let second = routers.pop().unwrap();
    [routers.pop().unwrap(), second]
}

fn seal_message(message: &mut Vec<u8>) {
    let length = message.len() - 8;
    let identifier = u64::from_le_bytes(message[24..32].try_into().unwrap());
    let checksum = xxh3_64_with_seed(&message[..length], identifier);
    message.truncate(length);
    message.extend(checksum.to_le_bytes());
}

/// Queries follow a path of nodes to the key, over the edge with the least level.
#[test]
fn queries_follow_a_path() {
    let spec = spec(&[("levels", 3.0), ("edges", 2.0)], 1024, 4);
    let mut routers = network(&spec, &[vec![1], vec![0, 2], vec![1, 3], vec![2, 4], vec![3]]);
    routers[3].insert(b"song").unwrap();
    (0..3).for_each(|_| _ = round(&mut routers, false));
    let route = |node: usize, from| routers[node].route(b"song", from, 10).unwrap();
    assert_eq!(route(0, None), Route::Edge { neighbour: 1, level: 3 });
    assert_eq!(route(1, Some(0)), Route::Edge { neighbour: 2, level: 2 });
    assert_eq!(route(2, Some(1)), Route::Edge { neighbour: 3, level: 1 });
    assert_eq!(route(3, Some(2)), Route::Here);
    assert_eq!(route(4, None), Route::Edge { neighbour: 3, level: 1 });
    assert_eq!(route(4, Some(3)), Route::FallBack, "a query does not go back");
    assert_eq!(routers[0].route(b"song", None, 0).unwrap(), Route::FallBack, "no hops are left");
    assert_eq!(routers[3].route(b"song", None, 0).unwrap(), Route::Here, "a key that is here needs no hop");
    assert_eq!(routers[0].route(b"another", None, 10).unwrap(), Route::FallBack);
}

/// The keys of the nodes that are `level` hops away over the edge to `over`, on ways that never turn straight back.
fn exact(neighbours: &[Vec<usize>], keys: &[BTreeSet<u64>], from: usize, over: usize, level: usize) -> BTreeSet<u64> {
    if level == 1 {
        return keys[over].clone();
    }
    let further = neighbours[over].iter().filter(|next| **next != from);
    further.flat_map(|next| exact(neighbours, keys, over, *next, level - 1)).collect()
}

/// A random graph: a cycle, so that all nodes are connected, and as many other links.
fn small_graph(nodes: usize, random: &mut Random) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); nodes];
    for i in 0..2 * nodes {
        let (a, b) = if i < nodes { (i, (i + 1) % nodes) } else { (random.below(nodes), random.below(nodes)) };
        if a != b && !neighbours[a].contains(&b) && neighbours[a].len() < 15 && neighbours[b].len() < 15 {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
    }
    neighbours
}

/// The level that a router names for a key over an edge is that of the exact sets: with filters so sparse that none of
/// these keys is mistaken for another one, at any number of levels, and after keys and edges came and went.
#[test]
fn levels_are_those_of_exact_sets() {
    let mut random = Random(29 << 32);
    for (levels, counter_bits) in [(1, 4), (2, 8), (3, 1), (4, 4), (8, 4)] {
        let settings = [("levels", levels as f64), ("counter_bits", f64::from(counter_bits)), ("max_fill", 1.0)];
        let spec = spec(&settings, 1 << 14, 8);
        let mut neighbours = small_graph(12, &mut random);
        let mut routers = network(&spec, &neighbours);
        let mut keys = vec![BTreeSet::new(); 12];
        for step in 0..4 {
            for _ in 0..10 {
                let (node, key) = (random.below(12), random.next() % 40);
                if keys[node].insert(key) {
                    routers[node].insert(u64::to_le_bytes(key)).unwrap();
                }
            }
            let node = random.below(12);
            match keys[node].pop_first() {
                Some(key) if counter_bits > 1 => assert!(routers[node].remove(u64::to_le_bytes(key)).unwrap()),
                Some(_) => {
                    routers[node].clear().unwrap();
                    keys[node].iter().for_each(|key| routers[node].insert(u64::to_le_bytes(*key)).unwrap());
                }
                None => {}
            }
            // A link that closes a circle goes away.
            let (a, b) = (random.below(12), step);
            if let Some(place) = neighbours[a].iter().position(|other| *other == b)
                && neighbours[a].len() > 2
                && neighbours[b].len() > 2
            {
                neighbours[a].remove(place);
                neighbours[b].retain(|other| *other != a);
                routers[a].remove_edge(b as u64).unwrap();
                routers[b].remove_edge(a as u64).unwrap();
            }
            (0..levels).for_each(|_| _ = round(&mut routers, step > 0));
            assert_eq!(round(&mut routers, true), 0, "nothing changes any more");
            for (node, router) in routers.iter().enumerate() {
                let sets: Vec<Vec<BTreeSet<u64>>> = (0..12)
                    .map(|over| match neighbours[node].contains(&over) {
                        true => (1..=levels).map(|level| exact(&neighbours, &keys, node, over, level)).collect(),
                        false => Vec::new(),
                    })
                    .collect();
                for key in 0..50 {
                    let level_over =
                        |over: usize| sets[over].iter().position(|set| set.contains(&key)).map(|place| place + 1);
                    let expected = neighbours[node].iter().filter_map(|over| level_over(*over)).min();
                    match router.route(u64::to_le_bytes(key), None, 1).unwrap() {
                        Route::Here => assert!(keys[node].contains(&key)),
                        Route::Edge { neighbour, level } => {
                            assert_eq!(Some(level as usize), expected);
                            assert_eq!(level_over(neighbour as usize), expected);
                        }
                        route => assert_eq!((route, expected), (Route::FallBack, None)),
                    }
                    assert_eq!(router.contains(u64::to_le_bytes(key)).unwrap(), keys[node].contains(&key));
                }
                // The levels have the bits of these keys and no others, so none came back over its own edge.
                for over in &neighbours[node] {
                    let edge = router.edge(*over as u64).unwrap();
                    for (level, set) in sets[*over].iter().enumerate() {
                        let mut alone = Router::new(&spec, 0).unwrap();
                        set.iter().for_each(|key| alone.insert(u64::to_le_bytes(*key)).unwrap());
                        assert_eq!(edge.fill[level], alone.statistics().own_fill, "level {} of {over}", level + 1);
                    }
                }
                router.verify().unwrap();
            }
        }
    }
}

/// A key whose bits two nodes have together is a false positive, at which a query ends and does not loop.
#[test]
fn false_positives_of_unions_end() {
    let spec = spec(&[("levels", 4.0), ("edges", 4.0), ("max_fill", 1.0)], 64, 2);
    // A circle of four nodes hangs on a first one.
    let neighbours = [vec![1], vec![0, 2, 4], vec![1, 3], vec![2, 4], vec![3, 1]];
    let mut tried = 0;
    for seed in 0..40 {
        let mut routers = network(&spec, &neighbours);
        for (node, key) in [(2, 1000), (2, 1100), (3, 1200), (4, 1300), (4, 1400)] {
            routers[node].insert(u64::to_le_bytes(key + seed)).unwrap();
        }
        (0..4).for_each(|_| _ = round(&mut routers, false));
        for key in 0..100 {
            if routers.iter().any(|router| router.contains(u64::to_le_bytes(key)).unwrap()) {
                continue;
            }
            let (mut at, mut walk, mut hops) = (0, Walk::new(40), 0);
            loop {
                match routers[at].walk(u64::to_le_bytes(key), &mut walk).unwrap() {
                    Route::Edge { neighbour, .. } | Route::Back { neighbour } => at = neighbour as usize,
                    Route::Here => panic!("no node has the key"),
                    Route::FallBack => break,
                }
                hops += 1;
            }
            // Each of five nodes is entered once and left once.
            assert!(hops <= 8, "{hops} hops");
            assert_eq!(walk.hops_left, 40 - hops);
            tried += u32::from(hops > 0);
        }
    }
    assert!(tried > 20, "{tried} false positives");
}

/// A query goes back from a false positive and finds the key, and goes on where a node does not have it after all.
#[test]
fn walks_go_back() {
    let spec = spec(&[("levels", 2.0), ("edges", 4.0)], 4096, 4);
    // Node 0 has two neighbours. Over 1 the key seems to be there, and it is at 4, over 2.
    let mut routers = network(&spec, &[vec![1, 2], vec![0, 3], vec![0, 4], vec![1], vec![2]]);
    routers[3].insert(u64::to_le_bytes(5)).unwrap();
    routers[4].insert(u64::to_le_bytes(5)).unwrap();
    routers[0].set_edge_weight(1, 1.0).unwrap();
    (0..2).for_each(|_| _ = round(&mut routers, false));
    assert!(routers[3].remove(u64::to_le_bytes(5)).unwrap());
    let mut walk = Walk::new(6);
    let mut walk_at = |node: usize| routers[node].walk(u64::to_le_bytes(5), &mut walk).unwrap();
    assert_eq!(walk_at(0), Route::Edge { neighbour: 1, level: 2 }, "the weight of the edge decides");
    assert_eq!(walk_at(1), Route::Edge { neighbour: 3, level: 1 });
    assert_eq!(walk_at(3), Route::Back { neighbour: 1 });
    assert_eq!(walk_at(1), Route::Back { neighbour: 0 });
    assert_eq!(walk_at(0), Route::Edge { neighbour: 2, level: 2 });
    assert_eq!(walk_at(2), Route::Edge { neighbour: 4, level: 1 });
    assert_eq!(walk_at(4), Route::Here);
    assert_eq!(walk_at(4), Route::FallBack, "no hops are left, and the node said that it does not have the key");
    assert_eq!((walk.hops_left, walk.visited), (0, 5));
}

/// A walk's depth is how many nodes are on the way back, even where the query goes to a node that it had left.
#[test]
fn walks_know_how_far_they_came() {
    let routers = network(&spec(&[], 1024, 4), &[vec![1, 2], vec![0], vec![0]]);
    let mut walk = Walk::new(9);
    (walk.visited, walk.depth) = (3, 3);
    (walk.nodes[1], walk.nodes[2], walk.way[1], walk.way[2]) = (1, 2, 1, 2);
    assert_eq!(routers[2].walk(u64::to_le_bytes(5), &mut walk).unwrap(), Route::Back { neighbour: 1 });
    assert_eq!((walk.visited, walk.depth, walk.hops_left), (3, 2, 8));
    // The way is now 0 and 1. The query goes to 2 after all, and back.
    assert_eq!(routers[2].walk(u64::to_le_bytes(5), &mut walk).unwrap(), Route::Back { neighbour: 1 });
    assert_eq!((walk.visited, walk.depth, walk.way[2], walk.hops_left), (3, 2, 2, 7));
}

/// Impossible walks are refused and stay as they are; every other one answers.
#[test]
fn forged_walks_are_refused() {
    let spec = spec(&[("levels", 2.0), ("edges", 4.0)], 64, 2);
    let mut routers = network(&spec, &[vec![1, 2], vec![0, 2], vec![0, 1]]);
    routers[1].insert(u64::to_le_bytes(5)).unwrap();
    (0..2).for_each(|_| _ = round(&mut routers, false));
    let refused = |change: &dyn Fn(&mut Walk)| {
        let mut walk = Walk::new(3);
        change(&mut walk);
        let before = walk;
        let error = routers[0].walk(u64::to_le_bytes(5), &mut walk).unwrap_err();
        assert_eq!((error.status(), walk), (Status::OutOfRange, before));
    };
    refused(&|walk| walk.visited = MAX_WALK as u32 + 1);
    refused(&|walk| walk.depth = 1);
    refused(&|walk| walk.reserved = 1);
    refused(&|walk| (walk.visited, walk.depth, walk.way[0]) = (1, 1, 1));
    refused(&|walk| (walk.visited, walk.depth, walk.nodes[0]) = (2, 2, 1));
    let mut full = Walk::new(3);
    (full.visited, full.nodes) = (MAX_WALK as u32, core::array::from_fn(|i| 100 + i as u64));
    assert_eq!(routers[0].walk(u64::to_le_bytes(5), &mut full).unwrap(), Route::FallBack);
    let mut random = Random(5);
    for _ in 0..10_000 {
        let mut walk = Walk::new(random.below(4) as u32);
        walk.visited = random.below(MAX_WALK + 3) as u32;
        walk.depth = random.below(walk.visited as usize + 2) as u32;
        walk.nodes = core::array::from_fn(|_| random.next() % 5);
        walk.way = core::array::from_fn(|_| (random.next() % 66) as u8);
        let _ = routers[random.below(3)].walk(u64::to_le_bytes(5), &mut walk);
    }
}

/// Among edges with the same least level the weights decide: those of all levels that have the key, then those of
/// edges.
#[test]
fn weights_break_ties() {
    let spec = spec(&[("levels", 3.0), ("edges", 4.0)], 4096, 4);
    // Node 0 hears of the key at level 2 over both neighbours, and over 2 at level 3 too.
    let mut routers = network(&spec, &[vec![1, 2], vec![0, 3], vec![0, 4], vec![1], vec![2, 5], vec![4]]);
    for node in [3, 4, 5] {
        routers[node].insert(u64::to_le_bytes(9)).unwrap();
    }
    (0..3).for_each(|_| _ = round(&mut routers, false));
    let over = |router: &Router| match router.route(u64::to_le_bytes(9), None, 9).unwrap() {
        Route::Edge { neighbour, level: 2 } => neighbour,
        route => panic!("{route:?}"),
    };
    let router = &mut routers[0];
    for (weight, expected) in [(1.0, 1), (-1.0, 2)] {
        router.set_edge_weight(1, weight).unwrap();
        assert_eq!(over(router), expected);
    }
    router.set_edge_weight(1, 1.0).unwrap();
    router.set_level_weights(&[0.0, 0.5, 0.25]).unwrap();
    assert_eq!(over(router), 2, "two levels have the key");
    router.set_level_weights(&[0.0, 0.5, -0.25]).unwrap();
    assert_eq!(over(router), 1);
    for weights in [&[1.0, 2.0][..], &[1.0, 2.0, f64::NAN], &[0.0; 4]] {
        assert_eq!(router.set_level_weights(weights).unwrap_err().status(), Status::OutOfRange);
    }
    assert_eq!(router.set_edge_weight(1, f64::INFINITY).unwrap_err().status(), Status::OutOfRange);
    assert_eq!(router.set_edge_weight(7, 0.0).unwrap_err().status(), Status::OutOfRange);
    // Without weights, keys are spread over both edges.
    router.set_level_weights(&[0.0; 3]).unwrap();
    router.set_edge_weight(1, 0.0).unwrap();
    let mut many = network(&spec, &[vec![1, 2], vec![0], vec![0]]);
    (0..40).for_each(|key| (1..3).for_each(|node| many[node].insert(u64::to_le_bytes(key)).unwrap()));
    round(&mut many, false);
    let firsts = (0..40).filter(|key| {
        many[0].route(u64::to_le_bytes(*key), None, 1).unwrap() == Route::Edge { neighbour: 1, level: 1 }
    });
    assert!((6..=34).contains(&firsts.count()), "4.5 of the deviation from 20");
    // The last tie goes to the greatest hash of the key's hash and the neighbour, so every layer goes the same way.
    for key in 0..40 {
        let hash = many[0].base().hasher().hash_u64(key).unwrap();
        let neighbour = (1..3).max_by_key(|neighbour| mix(hash ^ mix(*neighbour))).unwrap();
        assert_eq!(many[0].route_hash(hash, None, 1), Route::Edge { neighbour, level: 1 });
    }
}

/// A neighbour that lost a message asks for all levels; a message of changes is smaller than one of all levels, and
/// both have the same effect.
#[test]
fn changes_build_on_what_came_before() {
    let spec = spec(&[("levels", 3.0)], 8192, 4);
    let [mut a, mut b] = pair(&spec);
    (0..200).for_each(|key| a.insert(u64::to_le_bytes(1000 + key)).unwrap());
    let all = a.advertise_changes(1).unwrap().to_vec();
    assert_eq!(b.receive(0, &all).unwrap(), Received::Changed, "the first message has all levels");
    assert!(a.advertise_changes(1).unwrap().is_empty(), "nothing changed");
    a.insert(u64::to_le_bytes(8)).unwrap();
    let change = a.advertise_changes(1).unwrap().to_vec();
    assert!(change.len() < all.len() / 3, "{} bytes of {}", change.len(), all.len());
    a.insert(u64::to_le_bytes(9)).unwrap();
    let lost = a.advertise_changes(1).unwrap().to_vec();
    assert_eq!(b.receive(0, &lost).unwrap(), Received::NeedsAll);
    assert_eq!(b.route(u64::to_le_bytes(9), None, 1).unwrap(), Route::FallBack, "nothing changed");
    assert_eq!(
        b.receive(0, &change).unwrap(),
        Received::Changed,
        "messages may only come late if none was taken since"
    );
    assert_eq!(b.receive(0, &lost).unwrap(), Received::Changed);
    assert_eq!(b.route(u64::to_le_bytes(9), None, 1).unwrap(), Route::Edge { neighbour: 0, level: 1 });
    assert!(a.remove(u64::to_le_bytes(9)).unwrap() && a.remove(u64::to_le_bytes(8)).unwrap());
    let back = a.advertise_changes(1).unwrap().to_vec();
    assert_eq!(b.receive(0, &back).unwrap(), Received::Changed);
    let same = a.advertise(1).unwrap().to_vec();
    assert_eq!(b.receive(0, &same).unwrap(), Received::Unchanged, "changes and all levels agree");
    assert_eq!((a.edge(1).unwrap().sent, b.edge(0).unwrap().received), (5, 5));
    b.verify().unwrap();
}

/// A message of another network, edge or link, or one that came before, is refused and changes nothing.
#[test]
fn foreign_and_repeated_messages_are_refused() {
    let settings = [("levels", 3.0)];
    let [mut a, mut b] = pair(&spec(&settings, 1024, 4));
    let first = a.advertise(1).unwrap().to_vec();
    b.receive(0, &first).unwrap();
    a.insert(u64::to_le_bytes(8)).unwrap();
    let second = a.advertise_changes(1).unwrap().to_vec();
    b.receive(0, &second).unwrap();
    let own = b.advertise(0).unwrap().to_vec();
    let before = bytes(&b);
    let mut refused = |message: &[u8], status: Status, words: &str| {
        let error = b.receive(0, message).unwrap_err();
        assert!(error.status() == status && error.message().contains(words), "{error}");
        assert_eq!(bytes(&b), before);
    };
    refused(&first, Status::Corrupt, "message 1 of the edge came again");
    refused(&second, Status::Corrupt, "message 2 of the edge came again");
    refused(&own, Status::Incompatible, "from node 1 to node 0");
    for (other, words) in [
        (spec(&[("levels", 4.0)], 1024, 4), "levels: 4 and 3"),
        (spec(&settings, 2048, 4), "bits: 2048 and 1024"),
        (spec(&settings, 1024, 5), "hashes: 5 and 4"),
        (Spec { seed: 1, ..spec(&settings, 1024, 4) }, "seed or secret: 0x1 and 0x0"),
        (Spec { hash: HashFunction::Xxh64, ..spec(&settings, 1024, 4) }, "hash: xxh64 and xxh3"),
    ] {
        refused(pair(&other)[0].advertise(1).unwrap(), Status::Incompatible, words);
    }
    let mut non_member = Router::new(&spec(&settings, 1024, 4), 5).unwrap();
    non_member.add_edge(1, link(0, 1), 0.0).unwrap();
    refused(non_member.advertise(1).unwrap(), Status::Incompatible, "from node 5 to node 1");
    let mut earlier = Router::new(&spec(&settings, 1024, 4), 0).unwrap();
    earlier.add_edge(1, 1, 0.0).unwrap();
    refused(earlier.advertise(1).unwrap(), Status::Incompatible, "of link 1");
    refused(b"PETAL", Status::Foreign, "PRTR");
    refused(b"", Status::Truncated, "at least 96 bytes");
    assert_eq!(b.receive(9, &first).unwrap_err().status(), Status::OutOfRange, "there is no such edge");
}

/// Forged changes are refused or harmless: with another base the router asks for all levels, and it refuses other
/// levels than the head says.
#[test]
fn forged_changes_are_refused() {
    let [mut a, mut b] = pair(&spec(&[("levels", 3.0)], 1024, 4));
    let first = a.advertise(1).unwrap().to_vec();
    b.receive(0, &first).unwrap();
    a.insert(u64::to_le_bytes(8)).unwrap();
    let change = a.advertise_changes(1).unwrap().to_vec();
    let before = bytes(&b);
    for (at, value, expected) in [
        (64, 0, Err(Status::Corrupt)),
        (64, 2, Err(Status::Corrupt)),
        (64, u64::MAX, Err(Status::Corrupt)),
        (56, 0, Err(Status::Corrupt)),
        (72, 0, Ok(Received::NeedsAll)),
        (72, 1, Ok(Received::NeedsAll)),
        (80, 1, Err(Status::Corrupt)),
    ] {
        let mut forged = change.clone();
        forged[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        seal_message(&mut forged);
        assert_eq!(b.receive(0, &forged).map_err(|error| error.status()), expected, "{value} at {at}");
        assert_eq!(bytes(&b), before);
    }
    a.insert(u64::to_le_bytes(9)).unwrap();
    let whole = a.advertise(1).unwrap().to_vec();
    for at in [64, 72] {
        let mut forged = whole.clone();
        forged[at] = 1;
        seal_message(&mut forged);
        assert_eq!(b.receive(0, &forged).unwrap_err().status(), Status::Corrupt, "all levels build on nothing");
        assert_eq!(bytes(&b), before);
    }
    let mut forged = change.clone();
    forged[7] = 1;
    seal_message(&mut forged);
    assert_eq!(b.receive(0, &forged).unwrap_err().status(), Status::Corrupt);
    assert_eq!(bytes(&b), before);
    assert_eq!(b.receive(0, &change).unwrap(), Received::Changed);
}

/// Every message that is cut, extended or has a byte changed is refused, with and without a right checksum, and the
/// router stays as it was or holds what its own check accepts.
#[test]
fn damaged_messages_are_refused() {
    let [mut a, mut b] = pair(&spec(&[("levels", 3.0), ("edges", 2.0)], 1024, 4));
    (0..60).for_each(|key| a.insert(u64::to_le_bytes(key)).unwrap());
    let first = a.advertise(1).unwrap().to_vec();
    b.receive(0, &first).unwrap();
    a.insert(u64::to_le_bytes(1000)).unwrap();
    let whole = a.advertise(1).unwrap().to_vec();
    a.insert(u64::to_le_bytes(1001)).unwrap();
    let [mut other, mut late] = pair(&spec(&[("levels", 3.0), ("edges", 2.0)], 1024, 4));
    (0..60).for_each(|key| other.insert(u64::to_le_bytes(key)).unwrap());
    late.receive(0, other.advertise(1).unwrap()).unwrap();
    other.insert(u64::to_le_bytes(1000)).unwrap();
    let change = other.advertise_changes(1).unwrap().to_vec();
    let before = bytes(&b);
    for message in [&whole, &change] {
        for length in 0..message.len() {
            let status = b.receive(0, &message[..length]).unwrap_err().status();
            assert!([Status::Truncated, Status::Corrupt].contains(&status), "{length} bytes: {status:?}");
            let mut sealed = message[..length].to_vec();
            if length >= HEAD + 8 {
                seal_message(&mut sealed);
                assert!(b.receive(0, &sealed).is_err());
            }
        }
        let mut extended = message.clone();
        extended.extend([0; 9]);
        assert_eq!(b.receive(0, &extended).unwrap_err().status(), Status::Corrupt);
        seal_message(&mut extended);
        assert_eq!(b.receive(0, &extended).unwrap_err().status(), Status::Corrupt);
        for at in 0..message.len() {
            for bit in 0..8 {
                let mut flipped = message.clone();
                flipped[at] ^= 1 << bit;
                assert!(b.receive(0, &flipped).is_err(), "bit {bit} of byte {at}");
            }
        }
    }
    assert_eq!(bytes(&b), before);
    // The checksums of these are right, so that the levels themselves are read.
    let mut random = Random(77);
    let mut taken = 0;
    for i in 0..10_000 {
        let mut message = if i % 2 == 0 { whole.clone() } else { change.clone() };
        for _ in 0..1 + random.below(3) {
            let at = random.below(message.len() - 8);
            message[at] = random.next() as u8;
        }
        if random.below(4) == 0 {
            message.truncate(HEAD + 8 + random.below(message.len() - HEAD - 7));
        }
        seal_message(&mut message);
        if let Ok(Received::Changed | Received::Unchanged) = b.receive(0, &message) {
            taken += 1;
            b.verify().unwrap();
            b = load_as(&before, &OpenOptions::default()).unwrap();
        }
    }
    // The levels are still right only if nothing but the number in the head was changed.
    assert!(taken < 500, "{taken} forged messages were taken");
    assert_eq!(bytes(&b), before);
}

/// A level that says yes to everything is neither asked nor passed on, but the levels next to it are.
#[test]
fn full_levels_are_ignored() {
    let spec = spec(&[("levels", 3.0), ("edges", 3.0)], 1024, 2);
    let neighbours = [vec![1], vec![0, 2], vec![1, 3], vec![2]];
    let mut routers = network(&spec, &neighbours);
    routers[1].insert(u64::to_le_bytes(5)).unwrap();
    (0..5000).for_each(|key| routers[0].insert(u64::to_le_bytes(1_000_000 + key)).unwrap());
    (0..3).for_each(|_| _ = round(&mut routers, false));
    let edge = routers[1].edge(0).unwrap();
    assert!(edge.fill[0] > 0.99 && edge.ignored == 1 && edge.levels == 3, "{edge:?}");
    assert_eq!(routers[1].route(u64::to_le_bytes(1_000_000), None, 9).unwrap(), Route::FallBack);
    assert_eq!(routers[2].route(u64::to_le_bytes(5), None, 9).unwrap(), Route::Edge { neighbour: 1, level: 1 });
    assert_eq!(routers[3].route(u64::to_le_bytes(5), None, 9).unwrap(), Route::Edge { neighbour: 2, level: 2 });
    assert_eq!(routers[3].edge(2).unwrap().fill[2], 0.0, "the full level was not passed on");
    let rates = routers[1].statistics();
    assert!(rates.ignored == 1 && rates.false_route_rate < 0.01 && !rates.is_overfull, "{rates:?}");
    assert!(rates.level[0].greatest_fill > 0.99 && rates.level[0].mean_fill < 0.6);
    let further = routers[2].edge(1).unwrap();
    assert!(further.ignored == 0 && further.fill[1] == 0.0, "{further:?}");
    (0..5000).for_each(|key| routers[3].insert(u64::to_le_bytes(2_000_000 + key)).unwrap());
    (0..2).for_each(|_| _ = round(&mut routers, false));
    assert_eq!([routers[2].edge(3).unwrap().ignored, routers[1].edge(2).unwrap().ignored], [1, 0]);
    routers[0].clear().unwrap();
    routers[3].clear().unwrap();
    (0..3).for_each(|_| _ = round(&mut routers, true));
    assert_eq!(routers[1].edge(0).unwrap().ignored, 0, "and the level is asked again when it is no longer full");
}

/// Adds keys, each of which sets one bit, to a router until `ones` bits are set.
fn fill_with_ones(router: &mut Router, ones: u64) {
    let bits = router.base().geometry().bits as f64;
    let mut keys = 0..;
    while router.statistics().own_fill < ones as f64 / bits {
        router.insert(u64::to_le_bytes(keys.next().unwrap())).unwrap();
    }
    assert_eq!(router.statistics().own_fill, ones as f64 / bits);
}

/// A level is ignored, and a router overfull, above the bounds and not at them. An edge over which no message came does
/// not count, and the rates of levels are those of their fills.
#[test]
fn bounds_of_fills_are_kept() {
    let spec = spec(&[("levels", 2.0), ("edges", 3.0), ("max_fill", 0.5)], 640, 1);
    let mut routers = network(&spec, &[vec![1, 2], vec![0, 3], vec![0], vec![1]]);
    fill_with_ones(&mut routers[1], 320);
    fill_with_ones(&mut routers[3], 192);
    let all = routers[3].advertise(1).unwrap().to_vec();
    routers[1].receive(3, &all).unwrap();
    let tell = |routers: &mut [Router]| {
        let all = routers[1].advertise(0).unwrap().to_vec();
        routers[0].receive(1, &all).unwrap();
        (routers[0].statistics(), routers[0].edge(1).unwrap())
    };
    let (rates, edge) = tell(&mut routers);
    assert_eq!((rates.ignored, edge.ignored, rates.is_overfull), (0, 0, false));
    assert_eq!([edge.fill[0], edge.fill[1]], [0.5, 0.3]);
    for (level, fill) in [0.5, 0.3].into_iter().enumerate() {
        let level = &rates.level[level];
        assert_eq!([level.mean_fill, level.greatest_fill], [fill; 2], "edge 2 said nothing");
        assert!((level.false_route_rate - fill).abs() < 1e-15);
    }
    assert!((rates.false_route_rate - (1.0 - 0.5 * 0.7)).abs() < 1e-15);
    fill_with_ones(&mut routers[3], 193);
    let all = routers[3].advertise(1).unwrap().to_vec();
    routers[1].receive(3, &all).unwrap();
    fill_with_ones(&mut routers[1], 321);
    let (rates, edge) = tell(&mut routers);
    assert_eq!((rates.ignored, edge.ignored, rates.is_overfull), (1, 1, true));
    fill_with_ones(&mut routers[3], 321);
    let all = routers[3].advertise(1).unwrap().to_vec();
    routers[1].receive(3, &all).unwrap();
    assert_eq!(routers[1].edge(3).unwrap().ignored, 1);
}

/// The bit of an ignored level is that of its number.
#[test]
fn ignored_levels_are_bits() {
    let own = bytes(&golden_router());
    for (level, bit) in [(0, 1), (1, 2), (2, 4)] {
        let mut forged = own.clone();
        // The first slot's head begins after 16 words of head and 16 of cells, and counts set bits from its word 8 on.
        let at = 256 + 8 * (32 + 8 + level);
        forged[at..at + 8].copy_from_slice(&u64::to_le_bytes(256));
        let ((), _) = in_place(&forged, Mode::Read, |router| {
            assert_eq!(router.unwrap().edges().next().unwrap().ignored, bit);
        });
    }
}

/// The plan has as many hashes as leave the last level at a fill of 0.3, the rate of its keys, and the lines of a
/// query, which asks the node itself and all levels of all edges.
#[test]
fn plans_are_those_of_the_last_level() {
    let settings = [("levels", 3.0), ("fan_out", 2.0), ("edges", 4.0)];
    for (bits, hashes, suit) in [(8192, 0, 14), (8192, 3, 3), (1024, 0, 1)] {
        let spec = Spec { capacity: 50, ..spec(&settings, bits, hashes) };
        let router = Router::new(&spec, 0).unwrap();
        let (geometry, row) = (router.base().geometry(), router.base().row());
        assert_eq!((geometry.bits, geometry.hashes), (bits, suit));
        let fill = 1.0 - (1.0 - 1.0 / bits as f64).powf(f64::from(suit) * 200.0);
        let rate = petal::expected_false_positive_rate(&spec, 50).unwrap();
        assert!((rate / fill.powi(suit as i32) - 1.0).abs() < 1e-9, "{rate}");
        let lines = (f64::from(suit) * 13.0).min((geometry.payload_bytes / 64) as f64);
        assert_eq!((row.lines_per_lookup)(geometry), lines);
    }
}

/// Sizes keep to the rate and the fill that were asked for, and the expected numbers are those that networks show.
#[test]
fn rates_are_what_is_expected() {
    let settings = [("levels", 3.0), ("fan_out", 2.0), ("edges", 4.0)];
    let spec = Spec { capacity: 50, false_positive_rate: 0.02, ..spec(&settings, 0, 0) };
    // A tree in which every node has three neighbours: one hop further away are twice as many nodes.
    let mut neighbours = vec![Vec::new(); 22];
    let mut next = 1;
    for node in 0..10 {
        while neighbours[node].len() < 3 {
            neighbours[node].push(next);
            neighbours[next].push(node);
            next += 1;
        }
    }
    let mut routers = network(&spec, &neighbours);
    for (node, router) in routers.iter_mut().enumerate() {
        (0..50).for_each(|key| router.insert(u64::to_le_bytes((node * 50 + key) as u64)).unwrap());
    }
    (0..3).for_each(|_| _ = round(&mut routers, false));
    let rates = routers[0].statistics();
    assert_eq!(rates.levels, 3);
    for (i, level) in rates.level[..3].iter().enumerate() {
        assert_eq!(level.expected_keys, 50.0 * f64::from(1 << i));
        // The fill of k n independent positions has a deviation below that of as many independent bits.
        let bits = routers[0].base().geometry().bits as f64;
        let deviation = (level.expected_fill / bits).sqrt();
        assert!((level.mean_fill - level.expected_fill).abs() < 4.5 * deviation, "level {i}: {level:?}");
    }
    assert!(rates.level[2].expected_rate <= 0.02 && rates.level[2].expected_fill <= 0.3, "{rates:?}");
    let asked = 100_000;
    let routed = (0..asked)
        .filter(|key| routers[0].route(u64::to_le_bytes(1_000_000 + key), None, 1).unwrap() != Route::FallBack);
    let (found, expected) = (routed.count() as f64, asked as f64 * rates.false_route_rate);
    // A router that has the key itself says so, at the rate of its own filter.
    let own = asked as f64 * rates.own_fill.powi(routers[0].base().geometry().hashes as i32);
    assert!((found - expected - own).abs() < 4.5 * expected.sqrt() + own, "{found} and {expected}");
    assert!(!rates.is_overfull);
    let refused = Spec { capacity: 1 << 50, ..self::spec(&[("fan_out", 1e6)], 0, 0) };
    assert_eq!(Router::new(&refused, 0).unwrap_err().status(), Status::TooLarge);
}

/// Counters count up to their greatest value and stay there; keys that were inserted are never lost.
#[test]
fn counters_stay_at_their_greatest_value() {
    for (counter_bits, most) in [(4.0, 15), (8.0, 255)] {
        let mut router = Router::new(&spec(&[("counter_bits", counter_bits)], 4096, 4), 0).unwrap();
        (0..most - 1).for_each(|_| router.insert(u64::to_le_bytes(3)).unwrap());
        (0..most - 1).for_each(|_| assert!(router.remove(u64::to_le_bytes(3)).unwrap()));
        assert!(!router.contains(u64::to_le_bytes(3)).unwrap() && !router.remove(u64::to_le_bytes(3)).unwrap());
        assert_eq!(router.insertions(), 0);
        (0..most + 5).for_each(|_| router.insert(u64::to_le_bytes(3)).unwrap());
        (0..most + 5).for_each(|_| assert!(router.remove(u64::to_le_bytes(3)).unwrap()));
        assert!(router.contains(u64::to_le_bytes(3)).unwrap());
    }
    let mut plain = Router::new(&spec(&[("counter_bits", 1.0)], 4096, 4), 0).unwrap();
    plain.insert(b"a").unwrap();
    assert_eq!(plain.remove(b"a").unwrap_err().status(), Status::Unsupported);
    assert!(plain.contains(b"a").unwrap() && !plain.contains(b"b").unwrap());
    let keys: Vec<u64> = (0..1000).collect();
    let mut router = Router::new(&spec(&[], 1 << 16, 4), 0).unwrap();
    assert_eq!(router.insert_batch(&Keys::U64(&keys)).keys, 1000);
    assert!(keys.iter().all(|key| router.contains(u64::to_le_bytes(*key)).unwrap()) && router.insertions() == 1000);
    assert_eq!(router.remove_batch(&Keys::U64(&keys)).keys, 1000);
    assert!(!keys.iter().any(|key| router.contains(u64::to_le_bytes(*key)).unwrap()) && router.insertions() == 0);
}

/// Edges are refused that would be there twice, lead to the node itself, or are one too many.
#[test]
fn edges_come_and_go() {
    let mut router = Router::new(&spec(&[("edges", 2.0)], 64, 2), 3).unwrap();
    assert_eq!(router.add_edge(3, 0, 0.0).unwrap_err().status(), Status::Contradiction);
    assert_eq!(router.add_edge(1, 0, f64::NAN).unwrap_err().status(), Status::OutOfRange);
    router.add_edge(1, 0, 0.0).unwrap();
    assert_eq!(router.add_edge(1, 9, 0.0).unwrap_err().status(), Status::Contradiction);
    router.add_edge(0, 0, 0.0).unwrap();
    let full = router.add_edge(2, 0, 0.0).unwrap_err();
    assert!(full.status() == Status::Full && full.message().contains("edges = 2"), "{full}");
    assert_eq!(router.set_node(4).unwrap_err().status(), Status::Contradiction);
    router.remove_edge(1).unwrap();
    assert_eq!(router.remove_edge(1).unwrap_err().status(), Status::OutOfRange);
    router.add_edge(2, 0, 0.0).unwrap();
    assert_eq!(router.edges().map(|edge| edge.neighbour).collect::<BTreeSet<_>>(), [0, 2].into());
    assert_eq!(router.edge_count(), 2);
    router.remove_edge(0).unwrap();
    router.remove_edge(2).unwrap();
    router.set_node(4).unwrap();
    assert_eq!(router.node(), 4);
}

/// A router in the middle of a network: what the golden image has.
fn golden_router() -> Router {
    let spec = spec(&[("levels", 3.0), ("edges", 3.0)], 256, 3);
    let mut routers = network(&spec, &[vec![1], vec![0, 2], vec![1]]);
    for (node, router) in routers.iter_mut().enumerate() {
        (0..5).for_each(|key| router.insert(u64::to_le_bytes((10 * node + key) as u64)).unwrap());
    }
    (0..3).for_each(|_| _ = round(&mut routers, true));
    routers[1].set_level_weights(&[1.0, 0.5, 0.25]).unwrap();
    routers[1].set_edge_weight(2, -2.5).unwrap();
    routers.swap_remove(1)
}

/// The image of a router, and its messages, are as they were.
#[test]
fn golden_image_is_what_is_written() {
    let mut router = golden_router();
    let row = router.base().row();
    golden::check(row, "router.petal", &bytes(&router));
    let all = router.advertise(0).unwrap().to_vec();
    golden::check(row, "all.message", &all);
    router.insert(u64::to_le_bytes(99)).unwrap();
    golden::check(row, "changes.message", router.advertise_changes(0).unwrap());
    let opened: Router = load_as(&golden::files(row)["router.petal"], &OpenOptions::default()).unwrap();
    opened.verify().unwrap();
    assert_eq!(opened.route(u64::to_le_bytes(21), None, 1).unwrap(), Route::Edge { neighbour: 2, level: 1 });
    assert_eq!(opened.edge(2).unwrap().weight, -2.5);
}

/// The result of `with` for an image that is opened in place in a mode, and the image after that.
fn in_place<T>(bytes: &[u8], mode: Mode, with: impl FnOnce(petal::Result<&mut Router>) -> T) -> (T, Vec<u8>) {
    let mut buffer = Buffer::of(bytes);
    (buffer.open_as(mode, None, with), buffer.bytes())
}

/// A router works in an image in place, open for reading and for writing, as in its own memory.
#[test]
fn images_are_used_in_place() {
    let image = bytes(&golden_router());
    let ((), same) = in_place(&image, Mode::Read, |router| {
        let router = router.unwrap();
        assert_eq!(router.route(u64::to_le_bytes(21), None, 1).unwrap(), Route::Edge { neighbour: 2, level: 1 });
        let refusals = [
            router.insert(u64::to_le_bytes(1)).unwrap_err(),
            router.remove(u64::to_le_bytes(1)).unwrap_err(),
            router.clear().unwrap_err(),
            router.add_edge(9, 0, 0.0).unwrap_err(),
            router.remove_edge(0).unwrap_err(),
            router.set_edge_weight(0, 1.0).unwrap_err(),
            router.set_level_weights(&[0.0; 3]).unwrap_err(),
            router.set_node(1).unwrap_err(),
            router.advertise(0).map(drop).unwrap_err(),
            router.receive(0, b"PRTR").unwrap_err(),
        ];
        assert!(refusals.iter().all(|refusal| refusal.status() == Status::UnsupportedByHandle));
    });
    assert!(same == image);
    let change = |router: &mut Router| {
        router.insert(u64::to_le_bytes(12345)).unwrap();
        let message = router.advertise_changes(0).unwrap().to_vec();
        router.remove_edge(2).unwrap();
        router.add_edge(5, 6, 7.0).unwrap();
        message
    };
    let (message, after) = in_place(&image, Mode::Write, |router| {
        let router = router.unwrap();
        let message = change(router);
        router.sync().unwrap();
        message
    });
    let mut own = load_as(&image, &OpenOptions::default()).unwrap();
    assert_eq!(change(&mut own), message);
    assert!(after == bytes(&own));
}

/// What a forged image has in the levels of a free slot does not come to a new edge.
#[test]
fn a_free_slot_that_is_not_empty_is_emptied() {
    let spec = spec(&[("levels", 3.0), ("edges", 3.0)], 256, 3);
    let mut forged = bytes(&network(&spec, &[vec![1], vec![0]])[0]);
    // The second slot's levels: 16 words of head, 4 times 4 of cells, a slot of 16 and 6 times 4 words, a head of 16.
    let levels = 256 + 8 * (16 + 16 + 40 + 16);
    forged[levels..levels + 8 * 24].fill(255);
    seal(&mut forged);
    let ((), after) = in_place(&forged, Mode::Write, |router| {
        let router = router.unwrap();
        router.add_edge(7, 1, 0.0).unwrap();
        router.sync().unwrap();
    });
    let router: Router = load_as(&after, &OpenOptions::default()).unwrap();
    router.verify().unwrap();
    assert_eq!(router.edges().count(), 2);
}

/// Every word of state is held to its bounds when an image is opened, and a verification finds every other change.
#[test]
fn forged_images_are_refused() {
    let image = bytes(&golden_router());
    let payload = |at: usize| 256 + 8 * at;
    let forge = |changes: &[(usize, u64)]| {
        let mut forged = image.clone();
        for (word, value) in changes {
            forged[payload(*word)..payload(*word) + 8].copy_from_slice(&value.to_le_bytes());
        }
        forged
    };
    // 16 words of head, 4 times 4 of cells, and slots of 16 and 6 times 4 words.
    let slot = |slot: usize| 16 + 16 + slot * (16 + 24);
    let nan = f64::NAN.to_bits();
    for (what, changes) in [
        ("a weight of a level that is no number", vec![(1, nan)]),
        ("a weight of a level that is not there", vec![(5, 1.0_f64.to_bits())]),
        ("a reserved word of the head", vec![(9, 1)]),
        ("a slot that is neither used nor free", vec![(slot(0), 2)]),
        ("a head without an edge", vec![(slot(0), 0)]),
        ("a weight that is no number", vec![(slot(1) + 3, nan)]),
        ("more bits than there are", vec![(slot(0) + 8, 257)]),
        ("bits of a level that is not there", vec![(slot(0) + 11, 1)]),
        ("the node itself", vec![(slot(0) + 1, 1)]),
        ("a neighbour twice", vec![(slot(0) + 1, 2)]),
        ("a free slot with a word", vec![(slot(2) + 2, 1)]),
    ] {
        let forged = forge(&changes);
        let (status, _) = in_place(&forged, Mode::Read, |router| router.err().map(|error| error.status()));
        assert_eq!(status, Some(Status::Corrupt), "{what}");
    }
    for (what, changes) in [
        ("a level that came in", vec![(slot(0) + 16, 1)]),
        ("a level that went out", vec![(slot(0) + 16 + 12, 1)]),
        ("a checksum of what came in", vec![(slot(0) + 7, 1)]),
        ("a checksum of what went out", vec![(slot(0) + 5, 1)]),
        ("no message", vec![(slot(0) + 6, 0)]),
        ("fewer bits than are set", vec![(slot(0) + 8, 1)]),
        ("a free slot with a level", vec![(slot(2) + 16, 1)]),
    ] {
        let mut forged = forge(&changes);
        crate::format::seal(&mut forged);
        let error = load_as::<Router>(&forged, &OpenOptions::default()).unwrap_err();
        assert_eq!(error.status(), Status::Corrupt, "{what}: {error}");
        assert!(!error.message().contains("checksum of bytes"), "{what}: {error}");
    }
}

/// Levels before the first message, and the words after the last slot, are empty; a level may be full.
#[test]
fn nothing_is_where_nothing_was_told() {
    let mut router = Router::new(&spec(&[("levels", 1.0), ("edges", 1.0)], 64, 4), 0).unwrap();
    router.add_edge(1, 0, 0.0).unwrap();
    let image = bytes(&router);
    // 16 words of head, 4 of cells, a slot of 16 and 2, and 2 that fill the last line.
    assert_eq!(router.base().geometry().payload_bytes, 8 * 40);
    let word = |at: usize| 256 + 8 * at;
    for (at, ones) in [(36, 1), (37, 0), (38, 0), (39, 0)] {
        let mut forged = image.clone();
        forged[word(at)] = 1;
        forged[word(20 + 8)] = ones;
        seal(&mut forged);
        let error = load_as::<Router>(&forged, &OpenOptions::default()).unwrap_err();
        assert_eq!(error.status(), Status::Corrupt, "word {at}: {error}");
    }
    let mut other = Router::new(&spec(&[("levels", 1.0), ("edges", 1.0)], 64, 4), 1).unwrap();
    other.add_edge(0, 0, 0.0).unwrap();
    (0..500).for_each(|key| other.insert(u64::to_le_bytes(key)).unwrap());
    router.receive(1, other.advertise(0).unwrap()).unwrap();
    let full: Router = load_as(&bytes(&router), &OpenOptions::default()).unwrap();
    assert_eq!(full.edge(1).unwrap().fill[0], 1.0);
}

/// A key may count twice in one counter. Forged bytes may have 1 there, and a removal then takes nothing from others.
#[test]
fn removals_take_nothing_from_other_counters() {
    let cells = 256 + 8 * 16..256 + 8 * 20;
    let mut tried = 0;
    for key in 0..200 {
        let mut router = Router::new(&spec(&[("edges", 1.0)], 64, 4), 0).unwrap();
        router.insert_hash(mix(key)).unwrap();
        let mut image = bytes(&router);
        let Some(at) = cells.clone().find(|at| image[*at] & 0x0f == 2) else { continue };
        image[at] -= 1;
        seal(&mut image);
        let mut router: Router = load_as(&image, &OpenOptions::default()).unwrap();
        assert!(router.remove_hash(mix(key)).unwrap());
        assert!(bytes(&router)[cells.clone()].iter().all(|byte| *byte == 0), "{key}");
        tried += 1;
    }
    assert!(tried > 5, "{tried}");
}

/// No router has levels without bits.
#[test]
fn levels_without_bits_are_refused() {
    let image = bytes(&Router::new(&spec(&[("levels", 2.0), ("edges", 3.0)], 64, 4), 5).unwrap());
    let mut forged = [&image[..256 + 128], &[0; 3 * 128][..], &[0; 64][..]].concat();
    forged[64..72].fill(0);
    forged[136..144].copy_from_slice(&u64::to_le_bytes(4 * 128));
    seal(&mut forged);
    let error = load_as::<Router>(&forged, &OpenOptions::default()).unwrap_err();
    assert_eq!(error.status(), Status::Corrupt, "{error}");
}

/// Images of random bytes answer, or are refused.
#[test]
fn random_images_answer_or_are_refused() {
    let image = bytes(&golden_router());
    let mut random = Random(4242);
    for _ in 0..10_000 {
        let mut forged = image.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(forged.len());
            forged[at] = random.next() as u8;
        }
        if random.below(8) == 0 {
            forged.truncate(random.below(forged.len()));
        }
        if forged.len() > 1000 && random.below(4) > 0 {
            crate::format::seal(&mut forged);
        }
        if let Ok(mut router) = load_as::<Router>(&forged, &OpenOptions::default()) {
            use_all(&mut router);
        }
        in_place(&forged, Mode::Read, |router| _ = router.map(use_all));
    }
}

fn use_all(router: &mut Router) {
    let _ = (router.verify(), router.statistics(), router.route(u64::to_le_bytes(21), None, 3));
    let _ = router.walk(u64::to_le_bytes(21), &mut Walk::new(3));
    let neighbours: Vec<u64> = router.edges().map(|edge| edge.neighbour).collect();
    for neighbour in neighbours {
        let _ = (router.advertise(neighbour).map(drop), router.advertise_changes(neighbour).map(drop));
    }
    let _ = (
        router.insert(u64::to_le_bytes(3)),
        router.remove(u64::to_le_bytes(3)),
        router.remove(u64::to_le_bytes(21)),
        router.clear(),
    );
}

/// The sizes of messages: near levels are sparse, and are sent in few bytes.
#[test]
fn sparse_levels_are_short() {
    let spec = Spec { capacity: 100, ..spec(&[("levels", 4.0)], 0, 0) };
    let [mut a, _] = pair(&spec);
    let bits = a.base().geometry().bits as usize;
    (0..100).for_each(|key| a.insert(u64::to_le_bytes(key)).unwrap());
    let length = a.advertise(1).unwrap().len();
    // 27 times as many keys are at the last level; the first needs some 6 bits for each bit that is set.
    let set = 101 * a.base().geometry().hashes as usize;
    assert!(length < HEAD + 8 + 12 + set * 8 / 8, "{length} bytes of {} for all bits", 4 * bits / 8);
}
