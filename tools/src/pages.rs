//! The pages of kinds, `docs/kinds/NAME.md`: one for each kind that one chooses. Their prose is written by hand. Their
//! tables come from the registry and stand between two comments, so that no page can contradict its kind.

use crate::Generated;
use petal::plan::{Fit, Goal, Request, plan};
use petal::{Capabilities, Domain, Handle, Overfill, Parameter, Row, Spec, registry};
use std::fs;
use std::path::Path;

/// The keys and the rates that sizes are given for.
const KEYS: u64 = 1_000_000;
const RATES: [(f64, &str); 4] = [(0.1, "10 %"), (0.01, "1 %"), (0.001, "0.1 %"), (0.0001, "0.01 %")];

/// The kinds that have a page: all that one chooses.
fn rows() -> impl Iterator<Item = &'static Row> {
    registry::all().chain(registry::SKETCHES)
}

/// All pages, with their tables as they should be.
///
/// # Errors
/// A kind without a page; a page without the place of a table.
pub fn files(root: &Path) -> Result<Vec<Generated>, String> {
    rows()
        .map(|row| {
            let path = format!("docs/kinds/{}.md", row.name);
            let mut text = fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
            for (name, table) in [("abilities", abilities(row)), ("sizes", sizes(row)? + "\n" + &parameters(row))] {
                text = replaced(&text, name, &table).ok_or_else(|| format!("{path}: {name} have no place"))?;
            }
            Ok((path, text))
        })
        .collect()
}

/// The text with another table between the comments of its place.
fn replaced(text: &str, name: &str, table: &str) -> Option<String> {
    let start = format!("<!-- {name}: made by `make figures` -->\n");
    let (before, rest) = text.split_once(&start)?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    Some(format!("{before}{start}\n{table}\n<!-- end -->{after}"))
}

/// What the kind can do.
fn abilities(row: &Row) -> String {
    if row.handle() == Handle::Sketch {
        return abilities_of_sketch(row);
    }
    let can = |capability| if row.capabilities.contains(capability) { "yes" } else { "no" };
    let and = |capabilities: &[Capabilities]| capabilities.iter().map(|one| can(*one)).collect::<Vec<_>>().join(", ");
    let made = match (row.is_made_empty(), row.is_map()) {
        (true, _) => "empty; keys come one by one",
        (false, true) => "once, by a map builder, from all keys and values",
        (false, false) => "once, by a builder, from all keys",
    };
    let mut lines = vec![("It is made".to_owned(), made.to_owned())];
    if row.is_map() {
        lines.push(("Put values later; replace values".to_owned(), and(&[Capabilities::PUT, Capabilities::REPLACE])));
    } else {
        lines.push(("Insert from many threads at once".to_owned(), and(&[Capabilities::INSERT_SHARED])));
        lines.push((
            "Remove keys; count how often a key came".to_owned(),
            and(&[Capabilities::REMOVE, Capabilities::COUNT]),
        ));
    }
    lines.push(("Merge; intersect".to_owned(), and(&[Capabilities::MERGE, Capabilities::INTERSECT])));
    lines.push(("Grow; resize; fold".to_owned(), and(&[Capabilities::GROW, Capabilities::RESIZE, Capabilities::FOLD])));
    lines.push((
        "Clear; age; rejuvenate".to_owned(),
        and(&[Capabilities::CLEAR, Capabilities::AGE, Capabilities::REJUVENATE]),
    ));
    lines.push((
        "Estimate the keys; list what is stored".to_owned(),
        and(&[Capabilities::ESTIMATE, Capabilities::ENUMERATE]),
    ));
    let changes = row.capabilities.without(Capabilities::WRITING) != row.capabilities;
    let in_place = match (changes, row.form.moves_entries) {
        (false, _) => "lookups only: it never changes",
        (true, true) => "lookups only: changes need a copy in memory",
        (true, false) if row.capabilities.contains(Capabilities::GROW) => "lookups and changes; no growth",
        (true, false) => "lookups and changes",
    };
    lines.push(("In place, in a buffer or a mapped file".to_owned(), in_place.to_owned()));
    let overfill = match row.overfill {
        Overfill::RateRises => "its rate rises",
        Overfill::Refuses => "it refuses keys",
        Overfill::Grows => "it grows and keeps its rate",
        Overfill::IsBuilt => "it takes no keys after it was built",
        Overfill::Forgets => "it forgets its oldest keys",
    };
    lines.push(("Past its capacity".to_owned(), overfill.to_owned()));
    let canonical = if row.is_canonical { "yes" } else { "no" };
    lines.push(("The same keys in any order make the same bytes".to_owned(), canonical.to_owned()));
    lines.push(("It may lose keys (false negatives)".to_owned(), can(Capabilities::MAY_LOSE_KEYS).to_owned()));
    lines.extend(choices_that_lack(row));
    let lines: String = lines.iter().map(|(what, answer)| format!("| {what} | {answer} |\n")).collect();
    format!("| | `{}` |\n|---|---|\n{lines}", row.name)
}

/// What a kind of sketch can do.
fn abilities_of_sketch(row: &Row) -> String {
    let and = |names: [Capabilities; 3]| {
        names.map(|one| if row.capabilities.contains(one) { "yes" } else { "no" }).join(", ")
    };
    let changes = and([Capabilities::INSERT, Capabilities::REMOVE, Capabilities::CLEAR]);
    let lists = and([Capabilities::SUBTRACT, Capabilities::MERGE, Capabilities::LIST]);
    let canonical = if row.is_canonical { "yes" } else { "no" };
    let past = if row.parameter("field_bits").is_some() { "it lists nothing" } else { "it lists a part" };
    format!(
        "| | `{}` |\n|---|---|\n\
         | It is made | empty; numbers come one by one |\n\
         | Insert; remove; clear | {changes} |\n\
         | Subtract; merge; list what is there | {lists} |\n\
         | In place, in a buffer or a mapped file | lookups and changes |\n\
         | Past its capacity | {past}, and says so |\n\
         | The same numbers in any order make the same bytes | {canonical} |\n",
        row.name
    )
}

/// The choices of parameters with which a filter cannot do what it can by default.
fn choices_that_lack(row: &Row) -> Vec<(String, String)> {
    let mut lacking = Vec::new();
    for parameter in row.parameters {
        for (value, choice) in parameter.choices().iter().enumerate() {
            let mut spec = Spec { kind: Some(row.kind), capacity: KEYS, ..Spec::default() };
            let geometry = spec.set(parameter, value as f64).and_then(|()| row.geometry_of(&spec));
            let lacks = geometry.map_or(Capabilities::NONE, |geometry| (row.varying.lacks)(&geometry));
            let names =
                Capabilities::ALL.iter().filter(|(_, one)| row.capabilities.contains(*one) && lacks.contains(*one));
            let names: Vec<&str> = names.map(|(name, _)| *name).collect();
            if !names.is_empty() {
                lacking
                    .push((format!("With `{}={choice}`", parameter.name), format!("it cannot {}", names.join(", "))));
            }
        }
    }
    lacking
}

/// Sizes at some rates.
fn sizes(row: &Row) -> Result<String, String> {
    if row.handle() == Handle::Sketch {
        return cells(row).map_err(|error| error.to_string());
    }
    if row.hashing.universe.is_some() {
        return universes(row);
    }
    if row.is_map() && of_map(row, 8.0, 0.01).is_err() {
        return widths(row).map_err(|error| error.to_string());
    }
    let when = match row.capabilities {
        all if all.contains(Capabilities::GROW) => "rate before it grows",
        all if all.contains(Capabilities::AGE) => "rate of a full window",
        _ => "rate when full",
    };
    let mut table = format!("| rate | bits/key | {when} | cache lines, present key |\n|---|---|---|---|\n");
    for (rate, name) in RATES {
        let fit = if row.is_map() { of_map(row, 8.0, rate) } else { of_filter(row, Goal::FalsePositiveRate(rate), 0) };
        match fit.map_err(|error| error.to_string())? {
            Some((bits, full, lines)) => {
                let with =
                    if row.is_map() { String::new() } else { setting(row, rate).map_err(|error| error.to_string())? };
                table += &format!("| {name}{with} | {bits:.2} | {} | {lines:.1} |\n", percent(full));
            }
            None => table += &format!("| {name} | not reached | | |\n"),
        }
    }
    let source = match row {
        row if row.is_map() => {
            return Ok(format!("A million keys with values of eight bits, by the exact formula:\n\n{table}"));
        }
        row if row.capabilities.contains(Capabilities::AGE | Capabilities::MAY_LOSE_KEYS) => {
            "petal plan --window 1M --may-lose-keys --fpr RATE"
        }
        row if row.capabilities.contains(Capabilities::AGE) => "petal plan --window 1M --fpr RATE",
        row if row.capabilities.contains(Capabilities::MAY_LOSE_KEYS) => {
            "petal plan --keys 1M --remove --may-lose-keys --fpr RATE"
        }
        row if !row.is_made_empty() => "petal plan --keys 1M --static --fpr RATE",
        _ => "petal plan --keys 1M --fpr RATE",
    };
    Ok(format!("`{source}` prints:\n\n{table}"))
}

/// Bits a key, the rate with all keys, and lines of a lookup; `None` where the kind cannot.
type Size = Option<(f64, f64, f64)>;

fn of_filter(row: &Row, goal: Goal, universe: u64) -> petal::Result<Size> {
    let fit = fit(row, goal, universe)?;
    Ok(fit.map(|fit| (fit.bits_per_key, fit.false_positive_rate, fit.lines_per_lookup)))
}

/// The parameter with which a kind is proposed for a rate, in words; empty where it has its defaults.
fn setting(row: &Row, rate: f64) -> petal::Result<String> {
    let setting = fit(row, Goal::FalsePositiveRate(rate), 0)?.and_then(|fit| fit.setting);
    let name = |id| row.parameters.iter().find(|parameter| parameter.id() == id).map_or("", |parameter| parameter.name);
    Ok(setting.map_or(String::new(), |setting| format!(", `{}={}`", name(setting.id), setting.value)))
}

fn fit(row: &Row, goal: Goal, universe: u64) -> petal::Result<Option<Fit>> {
    let asked = Capabilities::AGE | Capabilities::MAY_LOSE_KEYS;
    let capabilities = Capabilities(row.capabilities.0 & asked.0);
    let is_static = !row.is_made_empty();
    let request =
        Request { keys: KEYS, goal, capabilities, is_static, universe, frequent: 0.0, non_members: 0, times: 0 };
    let proposals = plan(&request)?;
    Ok(proposals.into_iter().find(|proposal| proposal.kind == row.kind).and_then(|found| found.outcome.ok()))
}

fn of_map(row: &Row, value_bits: f64, rate: f64) -> petal::Result<Size> {
    let mut spec = Spec { kind: Some(row.kind), capacity: KEYS, false_positive_rate: rate, ..Spec::default() };
    if let Some(parameter) = row.parameter("value_bits") {
        spec.set(parameter, value_bits)?;
    }
    let geometry = row.geometry_of(&spec)?;
    let full = (row.false_positive_rate)(&geometry, KEYS);
    Ok(Some((geometry.bits as f64 / KEYS as f64, full, (row.lines_per_lookup)(&geometry))))
}

/// The table for a map that gives every key a value, and so has no rate.
fn widths(row: &Row) -> petal::Result<String> {
    let mut table = "| bits of a value | bits/key | cache lines a lookup |\n|---|---|---|\n".to_owned();
    for value_bits in [1.0, 8.0, 16.0, 32.0] {
        let (bits, _, lines) = of_map(row, value_bits, 0.0)?.unwrap_or_default();
        table += &format!("| {value_bits} | {bits:.2} | {lines:.1} |\n");
    }
    Ok(format!("A million keys, by the exact formula:\n\n{table}"))
}

/// The table for a sketch of sums, whose differences take as many bits as an element.
fn sums(row: &Row, bits: &Parameter) -> petal::Result<String> {
    let mut table = "| differences | 64 bits | 48 | 32 | 16 |\n|---|---|---|---|---|\n".to_owned();
    for capacity in [1, 10, 100, 1000, 4096] {
        table += &format!("| {capacity} |");
        for width in [64.0, 48.0, 32.0, 16.0] {
            let mut spec = Spec { kind: Some(row.kind), capacity, ..Spec::default() };
            spec.set(bits, width)?;
            table += &format!(" {} |", row.geometry_of(&spec)?.bits.div_ceil(8));
        }
        table += "\n";
    }
    let (kind, bits) = (row.name, bits.name);
    Ok(format!(
        "`petal sketch build --kind {kind} --capacity DIFFERENCES --set {bits}=BITS` makes sums of this many bytes:\n\n\
         {table}"
    ))
}

/// The table for a sketch, whose size is that of the differences.
fn cells(row: &Row) -> petal::Result<String> {
    if let Some(bits) = row.parameter("field_bits") {
        return sums(row, bits);
    }
    let mut table = "| differences | cells at 10 % | at 1 % | at 0.01 % | cells a difference at 1 % |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    for capacity in [1, 10, 100, 1000, 10_000, 1_000_000] {
        let mut numbers = [0; 3];
        for (cells, rate) in numbers.iter_mut().zip([0.1, 0.01, 0.0001]) {
            let spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(capacity, rate)? };
            *cells = row.geometry_of(&spec)?.bits / 192;
        }
        let [tenth, hundredth, rare] = numbers;
        let each = hundredth as f64 / capacity as f64;
        table += &format!("| {capacity} | {tenth} | {hundredth} | {rare} | {each:.2} |\n");
    }
    let kind = if row.kind == registry::DEFAULT_SKETCH_KIND { String::new() } else { format!("--kind {} ", row.name) };
    Ok(format!(
        "`petal sketch build {kind}--capacity DIFFERENCES --fpr RATE` makes this many cells of 24 bytes:\n\n{table}"
    ))
}

/// The table for a kind whose size is that of its universe.
fn universes(row: &Row) -> Result<String, String> {
    let mut table = "| universe of a million keys | bits/key | cache lines a lookup |\n|---|---|---|\n".to_owned();
    for times in [2, 5, 10, 100] {
        let size = of_filter(row, Goal::FalsePositiveRate(0.01), times * KEYS).map_err(|error| error.to_string())?;
        let (bits, _, lines) = size.ok_or("a universe does not fit")?;
        table += &format!("| {times}M | {bits:.2} | {lines:.1} |\n");
    }
    Ok(format!("`petal plan --keys 1M --universe UNIVERSE --fpr 0.01` prints:\n\n{table}"))
}

/// A rate in per cent, of three digits.
fn percent(rate: f64) -> String {
    let percent = rate * 100.0;
    let digits = (2 - percent.log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{percent:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// The parameters that only this kind takes.
fn parameters(row: &Row) -> String {
    if row.parameters.is_empty() {
        return "The kind has no special parameters.\n".to_owned();
    }
    let line = |parameter: &&Parameter| {
        let Parameter { name, summary, default, domain, .. } = parameter;
        let (default, values) = match domain {
            Domain::Integer(least, greatest) => (default.to_string(), format!("{least} to {greatest}")),
            Domain::Automatic(least, greatest) => (default.to_string(), format!("0, {least} to {greatest}")),
            Domain::Real(least, greatest) => (default.to_string(), format!("{least} to {greatest}, real")),
            Domain::OneOf(numbers) => {
                (default.to_string(), numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
            }
            Domain::Choice(names) => (format!("`{}`", names[*default as usize]), format!("`{}`", names.join("`, `"))),
        };
        format!("| `{name}` | {default} | {values} | {summary} |\n")
    };
    let lines: String = row.parameters.iter().map(line).collect();
    format!("| parameter | default | values | meaning |\n|---|---|---|---|\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headings of each page, in this order.
    const HEADINGS: [&str; 6] =
        ["## When to take it", "## What it can do", "## Size", "## Recipes", "## How it works", "## What surprises"];

    /// What is wrong with a page.
    fn fault(row: &Row, text: &str) -> Option<String> {
        let name = row.name;
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        let picture = format!("](../figures/kinds/{name}.svg)");
        let needs: [(&str, &str); 10] = [
            ("its name as the title", &format!("# `{name}`\n")),
            ("its picture", &picture),
            ("when to take it", "**Take it when**"),
            ("when not to take it", "**Do not take it when**"),
            ("a program in C", "int main(void)"),
            ("commands", "\n```console\n$ "),
            ("the constant of its kind", &format!("PETAL_KIND_{}", name.to_uppercase())),
            ("its section of the format", "](../format.md#kind-"),
            ("the way back", "](../choosing.md"),
            ("its kind in a command", &format!("--kind {name}")),
        ];
        let defaults = [registry::DEFAULT_KIND, registry::DEFAULT_MAP_KIND, registry::DEFAULT_SKETCH_KIND];
        let is_default = defaults.contains(&row.kind);
        let missing = needs.iter().take(if is_default { 9 } else { 10 }).find(|(_, needed)| !text.contains(needed));
        match missing {
            Some((what, needed)) => Some(format!("{name} lacks {what}: {needed:?}")),
            None if headings != HEADINGS => Some(format!("{name}: headings are {headings:?}")),
            None => None,
        }
    }

    #[test]
    fn every_kind_has_a_page_of_one_shape_and_no_other_page_is_there() {
        let root = crate::root();
        let pages = files(&root).unwrap();
        let faults: Vec<String> = rows().zip(&pages).filter_map(|(row, (_, text))| fault(row, text)).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));

        let choosing = fs::read_to_string(root.join("docs/choosing.md")).unwrap();
        let list = fs::read_to_string(root.join("docs/kinds/README.md")).unwrap();
        for (folder, ending) in [("docs/kinds", "md"), ("docs/figures/kinds", "svg")] {
            for entry in fs::read_dir(root.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                // The list of all kinds.
                if name == "README.md" {
                    continue;
                }
                let kind = name.strip_suffix(&format!(".{ending}")).unwrap_or(&name);
                let is_kind = rows().any(|row| row.name == kind);
                assert!(is_kind, "{folder}/{name} is of no kind that one chooses");
                assert!(choosing.contains(&format!("](kinds/{kind}.md)")), "choosing.md has no link to {kind}");
                assert!(list.contains(&format!("]({kind}.md)")), "docs/kinds/README.md has no link to {kind}");
            }
        }
    }

    #[test]
    fn the_table_of_choosing_has_the_sizes_of_the_planner() {
        let text = fs::read_to_string(crate::root().join("docs/choosing.md")).unwrap();
        let mut held = 0;
        for row in registry::FILTERS {
            let link = format!("](kinds/{}.md)", row.name);
            let line = text.lines().find(|line| line.starts_with("| ") && line.contains(&link));
            let cells: Vec<&str> = line.unwrap_or_default().trim_matches('|').split(" | ").map(str::trim).collect();
            let mut words = cells.last().copied().unwrap_or_default().split(' ');
            let (Some(said), Some(unit)) = (words.next(), words.next()) else {
                panic!("choosing.md lacks {}", row.name)
            };
            // A range, or a bit for each integer, is no number.
            if !unit.starts_with("bits") || said.parse::<f64>().is_err() {
                continue;
            }
            let (bits, ..) = of_filter(row, Goal::FalsePositiveRate(0.01), 0).unwrap().unwrap();
            let digits = said.split_once('.').map_or(0, |(_, digits)| digits.len());
            assert_eq!(said, format!("{bits:.digits$}"), "{} of choosing.md", row.name);
            held += 1;
        }
        assert!(held > 18, "{held} rows were held to the planner");
    }
}
