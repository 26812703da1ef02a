//! As much of SVG as the drawings need.

/// Lines, and most text.
pub const INK: &str = "#333333";
/// Remarks.
pub const GREY: &str = "#777777";
/// The subject of a drawing.
pub const BLUE: &str = "#0072b2";
/// The background of the subject.
pub const LIGHT: &str = "#d6e8f3";
/// A second subject.
pub const ORANGE: &str = "#d55e00";
/// Everything else.
pub const PALE: &str = "#f4f4f4";

/// Where a text has its anchor.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
}

/// A drawing on white, in pixels from its upper left corner.
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Svg {
        Svg { width, height, body: String::new() }
    }

    /// A box. `stroke` may be "none".
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, stroke: &str) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\" fill=\"{fill}\" \
             stroke=\"{stroke}\"/>\n"
        );
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        self.body += &format!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"/>\n",
            from.0, from.1, to.0, to.1
        );
    }

    /// A line through these points.
    pub fn curve(&mut self, points: impl Iterator<Item = (f64, f64)>, colour: &str, width: f64) {
        let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.body += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n",
            points.join(" ")
        );
    }

    /// A line with a point at its end, which goes down or to the right.
    pub fn arrow(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.line(from, to, INK, 1.2);
        let (x, y) = to;
        let (a, b) = if from.0 < x {
            ((x - 7.0, y - 4.0), (x - 7.0, y + 4.0))
        } else {
            ((x - 4.0, y - 7.0), (x + 4.0, y - 7.0))
        };
        self.body += &format!(
            "<polygon points=\"{x:.1},{y:.1} {:.1},{:.1} {:.1},{:.1}\" fill=\"{INK}\"/>\n",
            a.0, a.1, b.0, b.1
        );
    }

    /// A line of text on its baseline.
    pub fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: Anchor, style: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" {style}>{text}</text>\n"
        );
    }

    /// A name in the drawing.
    pub fn title(&mut self, at: (f64, f64), text: &str) {
        self.text(at, 15.0, Anchor::Start, &format!("font-weight=\"bold\" fill=\"{INK}\""), text);
    }

    /// A remark about something, in the size of the text.
    pub fn note(&mut self, at: (f64, f64), text: &str) {
        self.text(at, 13.0, Anchor::Start, &format!("fill=\"{INK}\""), text);
    }

    /// A small remark below or next to something.
    pub fn remark(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        self.text(at, 11.0, anchor, &format!("fill=\"{GREY}\""), text);
    }

    /// The file.
    pub fn finish(self) -> String {
        let Svg { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}
