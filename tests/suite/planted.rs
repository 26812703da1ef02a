//! `make planted` can still plant every fault of `tests/planted/faults.txt`: the text of each is in its file exactly
//! once, also after the faults before it in the list were planted there.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

#[test]
fn every_fault_can_be_planted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let faults = fs::read_to_string(root.join("tests/planted/faults.txt")).unwrap();
    let mut files: HashMap<&str, String> = HashMap::new();
    let mut planted = 0;
    for paragraph in faults.split("\n\n").map(|paragraph| paragraph.trim_matches('\n')) {
        if paragraph.is_empty() || paragraph.starts_with('#') {
            continue;
        }
        let lines: Vec<&str> = paragraph.splitn(4, '\n').collect();
        let &[name, path, text, fault] = &lines[..] else { panic!("a fault has four lines: {paragraph}") };
        let file = files.entry(path).or_insert_with(|| fs::read_to_string(root.join(path)).unwrap_or_default());
        assert_eq!(file.matches(text).count(), 1, "`{name}`: how often {path} has `{text}`");
        *file = file.replace(text, &format!("(if planted() {{ {fault} }} else {{ {text} }})"));
        planted += 1;
    }
    assert!(planted > 70, "{planted}");
}
