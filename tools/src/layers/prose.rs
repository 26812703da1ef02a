//! Comments of a template, wrapped after the words of a handle stand in them.

/// The text with its comments wrapped at `width` columns. Lines that follow each other with the same marker are one
/// paragraph; an empty comment line ends it, and lines that are indented after the marker stay as they are.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((marker, first)) = comment(line) else {
            out += line;
            out.push('\n');
            continue;
        };
        let mut words: Vec<&str> = first.split_whitespace().collect();
        while let Some((_, more)) = lines.peek().and_then(|next| comment(next)).filter(|(next, _)| *next == marker) {
            words.extend(more.split_whitespace());
            lines.next();
        }
        // The width of a tab is that of four columns.
        let indent = marker.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum::<usize>();
        let mut column = 0;
        for word in words {
            if column > 0 && column + 1 + word.len() > width {
                out.push('\n');
                column = 0;
            }
            if column == 0 {
                out += marker;
                column = indent;
            }
            out.push(' ');
            out += word;
            column += 1 + word.len();
        }
        out.push('\n');
    }
    out
}

/// The indentation with the marker of a comment that is prose, and what follows it.
fn comment(line: &str) -> Option<(&str, &str)> {
    let start = line.len() - line.trim_start().len();
    let slashes = line[start..].bytes().take_while(|byte| *byte == b'/').count();
    let end = start + slashes + usize::from(line[start + slashes..].starts_with('!'));
    let (marker, text) = line.split_at(end);
    let is_prose = slashes >= 2 && text.starts_with(' ') && !text.starts_with("  ");
    is_prose.then_some((marker, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_code_is_not() {
        let text =
            "//! one two\n//! three\n//!\n//!     code stays as it is\nlet x = 1; // a\n    // four five\n    // six\n";
        let expected =
            "//! one two\n//! three\n//!\n//!     code stays as it is\nlet x = 1; // a\n    // four\n    // five six\n";
        assert_eq!(wrapped(text, 15), expected);
        assert_eq!(wrapped("// a b\n// c\n", 120), "// a b c\n");
    }
}
