//! Where one key's bits lie in a filter of each kind. The bits are those of real filters of one key.

use super::svg::{Anchor, BLUE, GREY, INK, LIGHT, ORANGE, PALE, Svg};
use petal::{Image, Spec, registry};
use std::sync::atomic::Ordering;

/// Cache lines in each filter, and bits in a line.
const LINES: u64 = 12;
const LINE: u64 = 512;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 20.0;
const STRIP: f64 = WIDTH - 2.0 * LEFT;

/// How wide a bit is in the strip of the whole filter.
const BIT: f64 = STRIP / (LINES * LINE) as f64;

/// Draws all three, one below the other.
///
/// # Errors
/// What the library says of the filters.
pub fn draw() -> petal::Result<String> {
    let mut svg = Svg::new(WIDTH, 502.0);
    svg.note(
        (LEFT, 26.0),
        "One key in a filter of twelve cache lines of 64 bytes. Each mark is a bit that the key sets; lines that are \
         read are blue.",
    );

    let bits = bits_of_a_key("bloom", 7)?;
    svg.title((LEFT, 64.0), "bloom");
    svg.note((LEFT + 100.0, 64.0), "k bits, anywhere (here k = 7): up to k lines are read");
    filter(&mut svg, 76.0, LINE, &bits);

    let bits = bits_of_a_key("blocked", 7)?;
    svg.title((LEFT, 156.0), "blocked");
    svg.note(
        (LEFT + 100.0, 156.0),
        "one block of 512 bits, which is one line; in it k of sixteen lanes get one bit each",
    );
    let block = filter(&mut svg, 168.0, LINE, &bits);
    zoom(&mut svg, 168.0, LINE, block, 16, &bits);

    let bits = bits_of_a_key("split_block", 8)?;
    svg.title((LEFT, 336.0), "split_block");
    svg.note(
        (LEFT + 100.0, 336.0),
        "one block of 256 bits, which is half a line; in it each of eight lanes gets one bit",
    );
    let block = filter(&mut svg, 348.0, LINE / 2, &bits);
    zoom(&mut svg, 348.0, LINE / 2, block, 8, &bits);
    Ok(svg.finish())
}

/// The bits that one key sets in a filter of a kind, `hashes` of them.
fn bits_of_a_key(name: &str, hashes: u32) -> petal::Result<Vec<u64>> {
    let row = registry::find_name(name).expect("the kinds that are drawn exist");
    let mut filter = petal::Filter::new(&Spec { kind: Some(row.kind), bits: LINES * LINE, hashes, ..Spec::default() })?;
    filter.insert(b"petal")?;
    let words = filter.base().words().shared();
    let set = |bit: &u64| words[(bit / 64) as usize].load(Ordering::Relaxed) >> (bit % 64) & 1 == 1;
    Ok((0..LINES * LINE).filter(set).collect())
}

/// Draws the whole filter in lines, divided into blocks of `block` bits; lines with a bit of the key are coloured.
/// Returns the block that the first bit is in.
fn filter(svg: &mut Svg, y: f64, block: u64, bits: &[u64]) -> u64 {
    for i in 0..LINES {
        let fill = if bits.iter().any(|bit| bit / LINE == i) { LIGHT } else { PALE };
        svg.rect((LEFT + (i * LINE) as f64 * BIT, y), (LINE as f64 * BIT, 30.0), fill, INK);
    }
    for i in (0..LINES * LINE / block).filter(|i| !(i * block).is_multiple_of(LINE)) {
        let x = LEFT + (i * block) as f64 * BIT;
        svg.line((x, y), (x, y + 30.0), GREY, 0.8);
    }
    for bit in bits {
        let x = LEFT + *bit as f64 * BIT;
        svg.line((x, y + 3.0), (x, y + 27.0), ORANGE, 1.5);
    }
    bits[0] / block
}

/// One block of the filter at `y`, enlarged below it and divided into lanes of 32 bits.
fn zoom(svg: &mut Svg, y: f64, block: u64, chosen: u64, lanes: u64, bits: &[u64]) {
    let (top, width) = (y + 72.0, STRIP / lanes as f64);
    let start = LEFT + (chosen * block) as f64 * BIT;
    svg.line((start, y + 30.0), (LEFT, top), BLUE, 0.8);
    svg.line((start + block as f64 * BIT, y + 30.0), (LEFT + STRIP, top), BLUE, 0.8);
    for lane in 0..lanes {
        let from = chosen * block + lane * 32;
        let here: Vec<u64> = bits.iter().copied().filter(|bit| (from..from + 32).contains(bit)).collect();
        let x = LEFT + lane as f64 * width;
        svg.rect((x, top), (width, 34.0), if here.is_empty() { PALE } else { LIGHT }, INK);
        for bit in &here {
            let mark = x + ((bit - from) as f64 + 0.5) * width / 32.0;
            svg.line((mark, top + 4.0), (mark, top + 30.0), ORANGE, 2.0);
            svg.remark((x + width / 2.0, top + 48.0), Anchor::Middle, &format!("bit {}", bit - from));
        }
    }
}
