//! The parts of an image, in the order of its bytes.

use super::svg::{Anchor, BLUE, GREY, INK, LIGHT, PALE, Svg};

const LEFT: f64 = 20.0;

/// The parts: name, what it is, width. Widths are not to scale: a payload often has many megabytes.
const PARTS: [(&str, &str, f64); 3] = [
    ("header", "256 bytes", 140.0),
    ("payload", "the bits of the filter, in regions of 64 KiB", 480.0),
    ("table", "a checksum for each region", 200.0),
];

/// Draws the image, with its header enlarged.
pub fn draw() -> String {
    let mut svg = Svg::new(860.0, 262.0);
    let mut x = LEFT;
    for (name, what, width) in PARTS {
        svg.rect((x, 40.0), (width, 60.0), if name == "payload" { PALE } else { LIGHT }, INK);
        let middle = x + width / 2.0;
        svg.text((middle, 64.0), 15.0, Anchor::Middle, &format!("font-weight=\"bold\" fill=\"{INK}\""), name);
        svg.remark((middle, 84.0), Anchor::Middle, what);
        x += width;
    }
    // The edges of regions, and the entries that belong to them.
    let (payload, table) = (LEFT + PARTS[0].2, LEFT + PARTS[0].2 + PARTS[1].2);
    for i in 1..6 {
        let part = f64::from(i) / 6.0;
        svg.line((payload + part * PARTS[1].2, 90.0), (payload + part * PARTS[1].2, 100.0), GREY, 1.0);
        svg.line((table + part * PARTS[2].2, 90.0), (table + part * PARTS[2].2, 100.0), GREY, 1.0);
    }
    for (x, text) in [(LEFT, "byte 0"), (payload, "byte 256")] {
        svg.text((x, 30.0), 12.0, Anchor::Start, &format!("fill=\"{GREY}\""), text);
    }

    svg.line((LEFT, 100.0), (LEFT, 154.0), BLUE, 0.8);
    svg.line((payload, 100.0), (LEFT + 820.0, 154.0), BLUE, 0.8);
    svg.rect((LEFT, 154.0), (560.0, 56.0), LIGHT, INK);
    svg.rect((LEFT + 560.0, 154.0), (260.0, 56.0), "#ffffff", INK);
    svg.note((LEFT + 12.0, 178.0), "what the filter is: magic, versions, kind, hash function, seed,");
    svg.note((LEFT + 12.0, 198.0), "capacity, rate, geometry, and a checksum of all that");
    svg.note((LEFT + 572.0, 178.0), "what changes: clean or unclean, count,");
    svg.note((LEFT + 572.0, 198.0), "who shares it, and a checksum");
    svg.remark((LEFT, 228.0), Anchor::Start, "bytes 0 to 215: never change once the image exists");
    svg.remark((LEFT + 560.0, 228.0), Anchor::Start, "bytes 216 to 255: change with the payload");
    svg.finish()
}
