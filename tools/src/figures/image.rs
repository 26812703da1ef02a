//! The parts of an image, in the order of its bytes.

use super::svg::{Anchor, BLUE, GREY, INK, LIGHT, PALE, Svg};

const LEFT: f64 = 20.0;

/// Draws the image, and its header enlarged.
pub fn draw() -> String {
    let mut svg = Svg::new(860.0, 300.0);
    // Widths are not to scale: a header is 256 bytes, a payload often many megabytes.
    let parts = [("header", "256 bytes", 160.0, LIGHT), ("payload", "the bits of the filter", 660.0, PALE)];
    let mut x = LEFT;
    for (name, what, width, fill) in parts {
        svg.rect((x, 40.0), (width, 56.0), fill, INK);
        let middle = x + width / 2.0;
        svg.text((middle, 64.0), 15.0, Anchor::Middle, &format!("font-weight=\"bold\" fill=\"{INK}\""), name);
        svg.remark((middle, 84.0), Anchor::Middle, what);
        x += width;
    }
    svg.text((LEFT, 30.0), 12.0, Anchor::Start, &format!("fill=\"{GREY}\""), "byte 0");
    svg.text((LEFT + 165.0, 30.0), 12.0, Anchor::Start, &format!("fill=\"{GREY}\""), "byte 256");

    svg.line((LEFT, 96.0), (LEFT, 150.0), BLUE, 0.8);
    svg.line((LEFT + 160.0, 96.0), (LEFT + 820.0, 150.0), BLUE, 0.8);
    svg.rect((LEFT, 150.0), (560.0, 56.0), LIGHT, INK);
    svg.rect((LEFT + 560.0, 150.0), (260.0, 56.0), "#ffffff", INK);
    svg.note((LEFT + 12.0, 174.0), "what the filter is: magic, versions, kind, hash function, seed,");
    svg.note((LEFT + 12.0, 194.0), "capacity, rate, geometry, and a checksum of all that");
    svg.note((LEFT + 572.0, 174.0), "what changes: clean or dirty,");
    svg.note((LEFT + 572.0, 194.0), "count, checksum of the payload");
    svg.remark((LEFT, 222.0), Anchor::Start, "bytes 0 to 215: never change once the image exists");
    svg.remark((LEFT + 560.0, 222.0), Anchor::Start, "bytes 216 to 255: written with the payload");
    svg.note(
        (LEFT, 258.0),
        "The same bytes serve in memory, in a buffer of the caller's and in a file, and are used where they lie.",
    );
    svg.finish()
}
