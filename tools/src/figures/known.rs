//! What an exact answer for every key of a known universe takes, by the share of members, compared with filters that
//! know their members only.

use super::svg::{Anchor, BLUE, GREY, INK, ORANGE, Svg};
use petal::kinds::exact_set::sizing;
use petal::plan::{Goal, Request, plan};
use petal::{Capabilities, Spec, registry};

/// The keys of the universe.
const UNIVERSE: u64 = 10_000_000;

/// How many powers of ten the share of members goes down from 1.
const DECADES: f64 = 5.0;

/// Points of a curve for each power of ten.
const STEPS: u32 = 40;

/// The most bits of a member that are drawn.
const BITS: f64 = 30.0;

/// The area of the curves.
const LEFT: f64 = 64.0;
const TOP: f64 = 60.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;

/// Draws it.
///
/// # Errors
/// What the library says of the filters.
pub fn draw() -> petal::Result<String> {
    let mut svg = Svg::new(940.0, 400.0);
    svg.note((20.0, 26.0), "Bits for each member, with no error expected for any key of a universe of ten million.");
    let at = |share: f64, bits: f64| {
        (LEFT + WIDTH * (1.0 + share.log10() / DECADES), TOP + HEIGHT * (1.0 - bits.clamp(0.0, BITS) / BITS))
    };
    let least = 10_f64.powf(-DECADES);
    for bits in [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0] {
        svg.line(at(least, bits), at(1.0, bits), GREY, 0.5);
        let (x, y) = at(least, bits);
        svg.remark((x - 24.0, y + 4.0), Anchor::Start, &format!("{bits}"));
    }
    for (share, name) in [
        (1e-5, "0.001 %"),
        (1e-4, "0.01 %"),
        (1e-3, "0.1 %"),
        (0.01, "1 %"),
        (0.1, "10 %"),
        (0.5, "50 %"),
        (1.0, "100 %"),
    ] {
        let (x, y) = at(share, 0.0);
        svg.line((x, y), (x, y + 5.0), INK, 1.0);
        svg.remark((x, y + 20.0), Anchor::Middle, name);
    }
    svg.remark((LEFT + WIDTH / 2.0, TOP + HEIGHT + 44.0), Anchor::Middle, "the share of members in the universe");
    let members = |i: u32| (UNIVERSE as f64 * 10_f64.powf(-DECADES * f64::from(i) / steps())).round() as u64;
    let mut row = 0.0;
    let mut named = |svg: &mut Svg, colour: &str, width: f64, name: &str, remark: &str| {
        let (x, y) = (LEFT + WIDTH + 24.0, TOP + 20.0 + 44.0 * row);
        svg.line((x, y - 4.0), (x + 24.0, y - 4.0), colour, width);
        svg.note((x + 32.0, y), name);
        svg.remark((x + 32.0, y + 16.0), Anchor::Start, remark);
        row += 1.0;
    };
    for (name, colour, width, remark) in [
        ("fuse", ORANGE, 1.0, "knows its members only"),
        ("ribbon", ORANGE, 2.5, "knows its members only"),
        ("exact_set", BLUE, 2.5, "knows the whole universe"),
    ] {
        if registry::find_name(name).is_none() {
            continue;
        }
        let points: petal::Result<Vec<_>> =
            (0..=steps() as u32).map(members).map(|members| Ok((members, bits_of(name, members)?))).collect();
        let points = points?;
        let share = |members: u64| members as f64 / UNIVERSE as f64;
        svg.curve(points.iter().map(|(members, bits)| at(share(*members), *bits)), colour, width);
        named(&mut svg, colour, width, name, remark);
    }
    let entropy = |members: u64| sizing::entropy(members, UNIVERSE) / members as f64;
    let points = (0..=steps() as u32).map(members);
    svg.curve(points.map(|members| at(members as f64 / UNIVERSE as f64, entropy(members))), GREY, 1.5);
    named(&mut svg, GREY, 1.5, "entropy", "no exact answer has less");
    Ok(svg.finish())
}

/// The number of points of a curve, less one.
fn steps() -> f64 {
    DECADES * f64::from(STEPS)
}

/// The bits of a member in a filter of a kind that makes less than one error in the universe, on average.
fn bits_of(name: &str, members: u64) -> petal::Result<f64> {
    if name != "exact_set" {
        let others = (UNIVERSE - members).max(1) as f64;
        // A rate of 1 in 2 is the greatest of such a filter.
        let spec = Spec { kind: registry::find_name(name).map(|row| row.kind), ..Spec::default() };
        let spec = Spec { capacity: members, false_positive_rate: (1.0 / others).min(0.5), ..spec };
        return Ok(petal::geometry(&spec)?.bits as f64 / members as f64);
    }
    let request = Request {
        keys: members,
        goal: Goal::FalsePositiveRate(0.01),
        capabilities: Capabilities::NONE,
        is_static: true,
        universe: UNIVERSE,
        frequent: 0.0,
        non_members: 0,
        times: 0,
    };
    let proposal = plan(&request)?.into_iter().find(|proposal| proposal.name == name);
    proposal.ok_or(petal::Status::Internal)?.outcome.map(|fit| fit.bits_per_key)
}
