//! Which kind should a filter have, and which size? Every kind is asked, and each either fits or says why it does not.

use crate::contract::{Capabilities, Others, Overfill, Row};
use crate::error::{Error, Result, error};
use crate::handle::filter::Filter;
use crate::order::{sort_by, sort_few_by_key};
use crate::registry::{FILTERS, find};
use crate::spec::{DEFAULT_CAPACITY, DEFAULT_FALSE_POSITIVE_RATE, KindId, Number, Setting, Spec, check_rate};
use core::cmp::Ordering;

/// What the caller wants: keys, and a false-positive rate or a memory.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The number of distinct keys; 0 counts as 1.
    pub keys: u64,
    /// The bound that the filter has to keep.
    pub goal: Goal,
    /// The capabilities that the filter must have. With [`Capabilities::MAY_LOSE_KEYS`] kinds that may lose keys are
    /// proposed too.
    pub capabilities: Capabilities,
    /// Whether all keys are known before the first lookup, so that kinds which cannot insert are proposed too.
    pub is_static: bool,
    /// If all keys that are asked for are known: how many there are in all, members and others, at least `keys`. Then
    /// kinds are proposed that have a bit for each integer below this number. If keys are static, kinds that exclude
    /// the other keys make no error. 0 is unknown.
    pub universe: u64,
    /// The share of all lookups of absent keys, from 0 to 1, that asks for frequent non-members. These are known keys,
    /// as many as `non_members` says. Kinds that take such keys include that share of lookups in their rate.
    pub frequent: f64,
    /// How many frequent non-members there are; 0 means as many as `keys`.
    pub non_members: u64,
    /// How often each key comes at most, if keys are counted. Kinds that count have room for that, or say why not. 0
    /// counts as 1.
    pub times: u64,
}

impl Default for Request {
    /// [`DEFAULT_CAPACITY`] keys at [`DEFAULT_FALSE_POSITIVE_RATE`], which come one by one, and nothing else.
    fn default() -> Request {
        Request {
            keys: DEFAULT_CAPACITY,
            goal: Goal::FalsePositiveRate(DEFAULT_FALSE_POSITIVE_RATE),
            capabilities: Capabilities::NONE,
            is_static: false,
            universe: 0,
            frequent: 0.0,
            non_members: 0,
            times: 0,
        }
    }
}

/// The bound on a rate or on memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// At most this false-positive rate, in as few bytes as the kind can.
    FalsePositiveRate(f64),
    /// At most this many bytes for the image, with as low a rate as the kind can reach.
    Memory(u64),
}

/// What one kind offers.
#[derive(Debug)]
pub struct Proposal {
    /// The kind.
    pub kind: KindId,
    /// The kind's name.
    pub name: &'static str,
    /// What the kind costs and does, or why it does not fit.
    pub outcome: Result<Fit>,
}

/// A kind that fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Bits for each key.
    pub bits_per_key: f64,
    /// Bytes of the image. The size of some kinds depends on the hashes of their keys
    /// ([`Building::most_bytes`](crate::contract::Building::most_bytes)); for these kinds it is the greatest size.
    pub bytes: u64,
    /// The exact false-positive rate with all keys in the filter. A filter that has to grow keeps this rate however
    /// many keys come. A filter that has to age has at most this rate with `keys` keys in the window.
    pub false_positive_rate: f64,
    /// Cache lines that a lookup of a present key touches.
    pub lines_per_lookup: f64,
    /// Bytes that a builder takes besides the filter, without a memory limit and on one thread, for kinds that are
    /// built from all of their keys: eight for each key, and the memory of the work. 0 for kinds that are made empty.
    pub build_memory: u64,
    /// The parameter that gives the kind these numbers, if they are not those of the default parameters.
    pub setting: Option<Setting>,
}

/// How much less memory, as a share, or how much lower a rate, as a factor, pays for the additional lines that the
/// alternative of a kind touches ([`Varying::alternative`](crate::contract::Varying::alternative)).
const LESS_MEMORY: f64 = 0.1;
const LOWER_RATE: f64 = 2.0;

/// One proposal for each kind. The kinds that fit come first: the smallest at the top, or the most accurate if the
/// request gives a memory. Among equal kinds the one that touches fewer lines comes first.
///
/// # Errors
/// [`Status::FalsePositiveRate`](crate::Status::FalsePositiveRate) for a rate outside (0, 1);
/// [`Status::OutOfRange`](crate::Status::OutOfRange) for no memory at all, and for more keys than the universe has.
/// What a single kind cannot do stands in its proposal.
pub fn plan(request: &Request) -> Result<[Proposal; FILTERS_COUNT]> {
    match request.goal {
        Goal::FalsePositiveRate(rate) => check_rate(rate)?,
        Goal::Memory(0) => return Err(error!(OutOfRange, "memory = 0 bytes hold no filter")),
        Goal::Memory(_) => {}
    }
    let Request { keys, universe, .. } = *request;
    if !(0.0..=1.0).contains(&request.frequent) {
        let share = Number(request.frequent);
        return Err(error!(OutOfRange, "frequent = {share} is not a share from 0 to 1"));
    }
    if request.non_members != 0 && request.frequent == 0.0 {
        let non_members = request.non_members;
        return Err(error!(Contradiction, "non-members = {non_members} have no share of lookups: set frequent"));
    }
    if universe != 0 && keys > universe {
        return Err(error!(OutOfRange, "keys = {keys} are more than the universe = {universe} has"));
    }
    let mut proposals: [Proposal; FILTERS_COUNT] = core::array::from_fn(|i| {
        let row = &FILTERS[i];
        Proposal { kind: row.kind, name: row.name, outcome: propose(row, request) }
    });
    let rank = |a: &Proposal, b: &Proposal| match (&a.outcome, &b.outcome) {
        (Ok(a), Ok(b)) => cost(a, request).partial_cmp(&cost(b, request)).unwrap_or(Ordering::Equal),
        (a, b) => b.is_ok().cmp(&a.is_ok()),
    };
    sort_by(&mut proposals, |a, b| rank(a, b).then(a.kind.0.cmp(&b.kind.0)));
    Ok(proposals)
}

/// Refuses kinds whose filters are not changed where their images lie. The kinds that fit stay first, in the same
/// order.
pub fn keep_in_place(proposals: &mut [Proposal]) {
    let is_in_place = |kind| find(kind).is_some_and(Row::is_changed_in_place);
    for Proposal { kind, name, outcome } in &mut *proposals {
        if outcome.is_ok() && !is_in_place(*kind) {
            *outcome = Err(error!(Unsupported, "{name} is not changed in place: it is changed in memory, and saved"));
        }
    }
    sort_few_by_key(proposals, |proposal| proposal.outcome.is_err());
}

/// The greatest size of a small kind divided by the smallest size; and the greatest rate of an accurate kind divided by
/// the least rate.
const SMALL: f64 = 1.25;
const ACCURATE: f64 = 2.0;

/// The place of the kind to take if nothing else is needed. The kinds that fit come first, the best one at the top.
pub fn recommended(proposals: &[Proposal], request: &Request) -> Option<usize> {
    let more = [Capabilities::REMOVE, Capabilities::COUNT, Capabilities::GROW, Capabilities::AGE];
    let is_plain = !request.is_static && more.iter().all(|one| !request.capabilities.contains(*one));
    let will_do = |kind| {
        // If nothing else was asked for, the filter must take more keys than planned without an error.
        let simple = find(kind).is_some_and(|row| {
            row.hashing.universe.is_some()
                || row.overfill == Overfill::RateRises && more.iter().all(|one| !row.capabilities.contains(*one))
        });
        !is_plain || simple
    };
    let fits = || proposals.iter().enumerate().filter_map(|(i, one)| Some((i, one.kind, one.outcome.as_ref().ok()?)));
    let of = |(_, kind, _): &(usize, KindId, &Fit)| will_do(*kind);
    let (best, _, first) = fits().find(of).or_else(|| fits().next())?;
    if request.is_static {
        return Some(best);
    }
    let near = |fit: &Fit| match request.goal {
        Goal::FalsePositiveRate(_) => fit.bytes as f64 <= SMALL * first.bytes as f64,
        Goal::Memory(_) => fit.false_positive_rate <= ACCURATE * first.false_positive_rate,
    };
    let near = fits().filter(of).filter(|(_, _, fit)| near(fit));
    // Fractions of a cache line do not matter. Of equal kinds the first one wins.
    let lines = |fit: &Fit| fit.lines_per_lookup.round();
    let least = near.min_by(|(_, _, a), (_, _, b)| lines(a).total_cmp(&lines(b)));
    Some(least.map_or(best, |(place, _, _)| place))
}

/// How many kinds of filter there are: one proposal each.
pub const FILTERS_COUNT: usize = FILTERS.len();

fn cost(fit: &Fit, request: &Request) -> (f64, f64) {
    let first = match request.goal {
        Goal::FalsePositiveRate(_) => fit.bytes as f64,
        Goal::Memory(_) => fit.false_positive_rate,
    };
    (first, fit.lines_per_lookup)
}

fn propose(row: &Row, request: &Request) -> Result<Fit> {
    let missing = request.capabilities.without(row.capabilities).without(Capabilities::MAY_LOSE_KEYS);
    if row.capabilities.without(request.capabilities).contains(Capabilities::MAY_LOSE_KEYS) {
        return Err(error!(Unsupported, "{} may lose keys", row.name));
    }
    if let Some((name, _)) = Capabilities::ALL.iter().find(|(_, one)| missing.contains(*one)) {
        return Err(error!(Unsupported, "{} cannot {name}", row.name));
    }
    if row.capabilities.contains(Capabilities::AGE) && !request.capabilities.contains(Capabilities::AGE) {
        return Err(error!(Unsupported, "{} forgets its oldest keys, which was not asked for", row.name));
    }
    if !request.is_static && !row.capabilities.contains(Capabilities::INSERT) {
        return Err(error!(Unsupported, "{} needs all keys at once, and cannot insert later", row.name));
    }
    let keys = request.keys.max(1);
    if row.hashing.universe.is_some() {
        return in_universe(row, request, keys);
    }
    if let Some(others) = others(row, request, keys) {
        return knowing(row, request, keys, others);
    }
    let find = |setting| match request.goal {
        Goal::FalsePositiveRate(rate) => fit(row, request, (keys, setting), rate),
        Goal::Memory(bytes) => in_memory(row, keys, bytes, |rate| fit(row, request, (keys, setting), rate)),
    };
    let plain = find(None);
    let Some((parameter, value)) = row.varying.alternative else { return plain };
    match (plain, find(Some(Setting { id: parameter.id(), value }))) {
        (Ok(plain), Ok(other)) if is_worth(&other, &plain, request.goal) => Ok(other),
        (Err(_), Ok(other)) => Ok(other),
        (plain, _) => plain,
    }
}

/// Whether a fit pays for the lines that it touches beyond those of another fit.
fn is_worth(fit: &Fit, plain: &Fit, goal: Goal) -> bool {
    match goal {
        Goal::FalsePositiveRate(_) => (fit.bytes as f64) < (1.0 - LESS_MEMORY) * plain.bytes as f64,
        Goal::Memory(_) => fit.false_positive_rate * LOWER_RATE < plain.false_positive_rate,
    }
}

fn fit(row: &Row, request: &Request, (keys, setting): (u64, Option<Setting>), false_positive_rate: f64) -> Result<Fit> {
    let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(keys, false_positive_rate)? };
    spec.parameters[0] = setting.unwrap_or_default();
    let capacity = match request.times {
        0 | 1 => keys,
        times => places(row, &spec, times)?,
    };
    fit_of(row, request, keys, &Spec { capacity, ..spec })
}

/// The capacity of a filter that holds the spec's number of keys, each `times` times.
fn places(row: &Row, spec: &Spec, times: u64) -> Result<u64> {
    let keys = spec.capacity;
    if !row.capabilities.contains(Capabilities::COUNT) {
        return Ok(keys);
    }
    // The greatest count depends on parameters, so ask a small filter with the same parameters.
    let small = Filter::new(&Spec { capacity: 1, ..*spec })?;
    let greatest = small.kind().as_count().map_or(0, |kind| kind.greatest_count());
    if times > greatest {
        return Err(error!(Unsupported, "{} counts a key up to {greatest} times, and not times = {times}", row.name));
    }
    Ok(keys.saturating_mul(row.places_of(&row.geometry_of(spec)?, times)?))
}

fn fit_of(row: &Row, request: &Request, keys: u64, spec: &Spec) -> Result<Fit> {
    let geometry = row.geometry_of(spec)?;
    let [setting, ..] = spec.parameters;
    let payload_bytes = row.building.most_bytes.map_or(geometry.payload_bytes, |most| most(&geometry, keys));
    Ok(Fit {
        bits_per_key: geometry.bits as f64 / keys as f64,
        bytes: crate::format::image_bytes(payload_bytes).unwrap_or(u64::MAX),
        false_positive_rate: match request.capabilities {
            wanted if wanted.contains(Capabilities::GROW) => spec.false_positive_rate,
            // A filter that forgets has at most this rate, however many keys came before.
            wanted if wanted.contains(Capabilities::AGE) => (row.false_positive_rate)(&geometry, u64::MAX),
            _ => (row.false_positive_rate)(&geometry, keys),
        },
        lines_per_lookup: (row.lines_per_lookup)(&geometry),
        build_memory: match row.is_made_empty() {
            true => 0,
            false => keys.saturating_mul(size_of::<u64>() as u64).saturating_add((row.building.build_memory)(keys)),
        },
        setting: (setting.id != 0).then_some(setting),
    })
}

/// The fit of a kind whose keys are integers, if the request's keys are. Such a kind has only one size.
fn in_universe(row: &Row, request: &Request, keys: u64) -> Result<Fit> {
    if request.universe == 0 {
        return Err(error!(Unsupported, "{} is for keys that are integers below a known bound, a universe", row.name));
    }
    if request.capabilities.contains(Capabilities::COUNT) {
        return Err(error!(Unsupported, "{} tells whether a key is there, and not how often it came", row.name));
    }
    let spec = Spec { kind: Some(row.kind), capacity: keys, bits: request.universe, ..Spec::default() };
    let fit = fit_of(row, request, keys, &spec)?;
    match request.goal {
        Goal::Memory(bytes) if fit.bytes > bytes => {
            let universe = request.universe;
            Err(error!(TooLarge, "{} of universe = {universe} does not fit into memory = {bytes} bytes", row.name))
        }
        _ => Ok(fit),
    }
}

/// How many keys that are not members a kind knows, if it takes such keys and the request has any.
fn others(row: &Row, request: &Request, keys: u64) -> Option<Others> {
    match request {
        Request { universe, .. } if row.others.excludes.is_some() && *universe > 0 => {
            Some(Others { keys: universe - keys.min(*universe), share: 1.0 })
        }
        Request { frequent, non_members, .. } if row.others.takes_frequent && *frequent > 0.0 => {
            Some(Others { keys: if *non_members == 0 { keys } else { *non_members }, share: *frequent })
        }
        _ => None,
    }
}

/// The fit of a kind that knows keys which are not members.
fn knowing(row: &Row, request: &Request, keys: u64, others: Others) -> Result<Fit> {
    let known = row.others.knowing.ok_or(crate::Status::Internal)?;
    let spec = Spec { kind: Some(row.kind), capacity: keys, ..Spec::default() };
    let each = size_of::<u64>() as u64 * if row.others.takes_frequent { 3 } else { 2 };
    let fit = |spec: &Spec| -> Result<Fit> {
        let (geometry, false_positive_rate) = known(spec, row.size_of(spec)?, &others)?;
        let payload_bytes = row.building.most_bytes.map_or(geometry.payload_bytes, |most| most(&geometry, keys));
        let collected = keys.saturating_mul(size_of::<u64>() as u64).saturating_add(others.keys.saturating_mul(each));
        Ok(Fit {
            bits_per_key: geometry.bits as f64 / keys as f64,
            bytes: crate::format::image_bytes(payload_bytes).unwrap_or(u64::MAX),
            false_positive_rate,
            lines_per_lookup: (row.lines_per_lookup)(&geometry),
            build_memory: (row.building.build_memory)(keys).saturating_add(collected),
            setting: None,
        })
    };
    let at = |rate: f64| {
        let mut asked = spec;
        asked.false_positive_rate = rate;
        fit(&asked)
    };
    match request.goal {
        // A kind that makes no error for the known keys keeps every rate, and has only one size.
        Goal::FalsePositiveRate(_) if row.others.excludes.is_some() => fit(&spec),
        Goal::Memory(most) if row.others.excludes.is_some() => match fit(&spec)? {
            fit if fit.bytes <= most => Ok(fit),
            _ => Err(too_small(row, keys, most)),
        },
        Goal::FalsePositiveRate(rate) => at(rate),
        Goal::Memory(most) => in_memory(row, keys, most, at),
    }
}

/// The lowest rate whose filter fits into `bytes`, by bisection over the rate's logarithm: a filter with a lower rate
/// is never smaller.
fn in_memory(row: &Row, keys: u64, bytes: u64, fit: impl Fn(f64) -> Result<Fit>) -> Result<Fit> {
    let fits = |exponent: f64| fit(exponent.exp2()).ok().filter(|fit| fit.bytes <= bytes);
    // The search goes from a rate of nearly one, which takes the smallest filter, down to 2^-64.
    let (mut worse, mut better) = (-1e-9, -64.0);
    let mut best = fits(worse).ok_or_else(|| too_small(row, keys, bytes))?;
    while worse - better > 1e-9 {
        let middle = 0.5 * (worse + better);
        match fits(middle) {
            Some(fit) => (best, worse) = (fit, middle),
            None => better = middle,
        }
    }
    Ok(best)
}

fn too_small(row: &Row, keys: u64, bytes: u64) -> Error {
    error!(TooLarge, "{} does not fit {keys} keys into memory = {bytes} bytes", row.name)
}
