//! The parts of help and man pages beyond the options: what the subcommands are for, examples, and the exit status.

use std::sync::LazyLock;

/// The end of a subcommand's page.
pub struct Page {
    /// The name of the subcommand, or `petal` for the whole command.
    pub name: &'static str,
    /// The examples: what each one does, and its commands, one a line: a command that a narrow terminal wrapped could
    /// not be copied.
    pub examples: Vec<(&'static str, Vec<&'static str>)>,
    /// What the exit status means; `None` for a command that has subcommands.
    pub status: Option<Status>,
}

/// What the exit status means.
#[derive(Clone, Copy, PartialEq)]
pub struct Status {
    /// When it is 0.
    pub zero: &'static str,
    /// When it is 1, if it ever is.
    pub one: Option<&'static str>,
    /// When it is 2.
    pub two: &'static str,
}

const ERROR: &str = "an error";
const SUCCESS: Status = Status { zero: "success", one: None, two: ERROR };

/// What the subcommands are for: the order of help, man page and docs/command.md.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Choose a kind and a size", &["plan", "kinds"]),
    ("Make a filter and use it", &["build", "check", "insert", "remove", "count", "rejuvenate", "dedup"]),
    ("Look at filters and their files", &["info", "estimate", "hashes", "verify", "mark-clean"]),
    ("Make one filter of others", &["merge", "intersect", "fold", "resize"]),
    ("Send filters in few bytes", &["pack", "unpack", "delta", "patch"]),
    ("Work with other systems' filters", OTHERS),
    ("Find what differs between two sets", &["diff", "sync", "sketch"]),
    ("Use other structures", &["map", "digest", "index"]),
];

const OTHERS: &[&str] =
    if cfg!(feature = "redis") { &["formats", "import", "export", "redis"] } else { &["formats", "import", "export"] };

/// The pages as text. A page begins with `# ` and its name. Then come the meanings of exit statuses that are not those
/// of success and of an error, and the examples: what one does, and its commands, which are indented.
const TEXT: &str = include_str!("manual.txt");

/// All pages.
pub static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let pages = TEXT.trim_start_matches("# ").split("\n# ").map(page_of);
    let mut pages: Vec<Page> =
        pages.filter(|page| cfg!(feature = "redis") || !page.name.starts_with("redis")).collect();
    let names: Vec<&str> = pages.iter().map(|page| page.name).collect();
    let has_subcommands =
        |name: &str| names.iter().any(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    pages
        .iter_mut()
        .filter(|page| page.name == "petal" || has_subcommands(page.name))
        .for_each(|page| page.status = None);
    pages
});

/// The page that a text has.
fn page_of(text: &'static str) -> Page {
    let (name, text) = text.split_once('\n').unwrap_or((text, ""));
    let (mut status, mut examples) = (SUCCESS, Vec::<(&str, Vec<&str>)>::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        match (line.split_at(2), examples.last_mut()) {
            (("0 ", zero), _) => status.zero = zero,
            (("1 ", one), _) => status.one = Some(one),
            (("2 ", two), _) => status.two = two,
            (("  ", _), Some((_, commands))) => commands.push(line.trim_start()),
            _ => examples.push((line.trim_end_matches(':'), Vec::new())),
        }
    }
    Page { name, examples, status: Some(status) }
}

/// The page of a subcommand.
pub fn page(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name == name)
}

/// What the exit status means, in words: each status with its lines.
pub fn statuses(page: &Page) -> Vec<(u8, Vec<String>)> {
    let error = format!("{ERROR}, with a line on standard error");
    if let Some(status) = page.status {
        let two = if status.two == ERROR { &error } else { status.two };
        let all = [(0, Some(status.zero)), (1, status.one), (2, Some(two))];
        return all.into_iter().filter_map(|(number, words)| Some((number, vec![words?.to_owned()]))).collect();
    }
    let is_all = page.name == "petal";
    let own = |name: &'static str| if is_all { Some(name) } else { name.strip_prefix(page.name)?.strip_prefix(' ') };
    let ones = meanings().into_iter().filter_map(|(names, status)| {
        let names: Vec<&str> = names.into_iter().filter_map(own).collect();
        status.one.filter(|_| !names.is_empty()).map(|one| format!("{}: {one}", names.join(", ")))
    });
    let mut errors = vec![error];
    if is_all {
        errors.push(String::from("(without the line if nobody reads the output any more, as after `| head`)"));
    }
    vec![(0, vec![String::from(SUCCESS.zero)]), (1, ones.collect()), (2, errors)]
}

/// The subcommands whose exit status says more than success, those with the same meanings together.
pub fn meanings() -> Vec<(Vec<&'static str>, Status)> {
    let mut all: Vec<(Vec<&str>, Status)> = Vec::new();
    for page in PAGES.iter() {
        let Some(status) = page.status.filter(|status| *status != SUCCESS) else { continue };
        match all.iter_mut().find(|(_, same)| *same == status) {
            Some((names, _)) => names.push(page.name),
            None => all.push((vec![page.name], status)),
        }
    }
    all
}

/// The table of exit statuses in docs/command.md.
pub fn status_table() -> String {
    let row = |names: &str, Status { zero, one, two }: Status| {
        format!("| {names} | {zero} | {} | {two} |\n", one.unwrap_or("")).replace("|  |", "| |")
    };
    let rows = meanings().into_iter().map(|(names, status)| row(&format!("`{}`", names.join("`, `")), status));
    let rows: String = rows.collect();
    format!("| subcommand | 0 | 1 | 2 |\n|---|---|---|---|\n{rows}{}", row("others", SUCCESS))
}

/// The end of a subcommand's long help.
pub fn after_help(name: &str) -> String {
    let Some(page) = page(name) else { return String::new() };
    let examples = page.examples.iter().map(|(what, commands)| {
        let commands: String = commands.iter().map(|command| format!("    $ {command}\n")).collect();
        format!("  {what}:\n{commands}")
    });
    let examples: String = examples.collect();
    let status = statuses(page).into_iter().map(|(number, lines)| format!("  {number}  {}\n", lines.join("\n     ")));
    let status: String = status.collect();
    format!("Examples:\n{examples}\nExit status:\n{}", status.trim_end())
}
