//! The options that stand before a program's own subcommand.

use super::rules::program;
use super::shell::Word;

/// The options behind which a program's own subcommand stands, and that take a value.
const VALUED: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--config-env",
            "--attr-source",
            "--super-prefix",
        ],
    ),
    ("comail", &["--session", "--color"]),
    ("cargo", &["-C", "-Z", "--config", "--color"]),
    ("npm", &["--prefix", "-C", "--loglevel"]),
];

/// The options behind which a program's own subcommand stands, and that take no word with them.
const ALONE: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "-p",
            "-P",
            "-v",
            "-h",
            "--paginate",
            "--no-pager",
            "--bare",
            "--no-replace-objects",
            "--no-lazy-fetch",
            "--no-optional-locks",
            "--no-advice",
            "--literal-pathspecs",
            "--glob-pathspecs",
            "--noglob-pathspecs",
            "--icase-pathspecs",
            "--version",
            "--help",
            "--exec-path",
            "--html-path",
            "--man-path",
            "--info-path",
        ],
    ),
    (
        "comail",
        &["--json", "-v", "-vv", "-q", "--help", "--version"],
    ),
    (
        "cargo",
        &[
            "-q",
            "--quiet",
            "-v",
            "-vv",
            "--verbose",
            "--frozen",
            "--locked",
            "--offline",
            "--list",
            "-V",
            "--version",
            "-h",
            "--help",
        ],
    ),
    (
        "npm",
        &["-g", "--global", "-s", "--silent", "--version", "-v"],
    ),
];

/// How many words an option may take up, itself among them; none where it is no option.
pub(super) fn behind(name: &str, word: &Word) -> &'static [usize] {
    let text = word.text.as_str();
    if !text.starts_with(['-', '+']) {
        &[]
    } else if listed(VALUED, name).contains(&text) {
        &[2]
    } else if text.contains('=') || text.starts_with('+') || listed(ALONE, name).contains(&text) {
        &[1]
    } else {
        &[1, 2]
    }
}

fn listed(table: &[(&str, &'static [&'static str])], name: &str) -> &'static [&'static str] {
    let found = table.iter().find(|(program, _)| *program == name);
    found.map_or(&[], |(_, options)| options)
}

/// Whether each option before the subcommand is known.
pub(super) fn is_told(argv: &[Word]) -> bool {
    let name = argv.first().map_or("", |word| program(&word.text));
    let mut place = 1;
    while let Some(word) = argv.get(place) {
        // A letter may have its value with it.
        let is_joined = word.text.starts_with("-c") || word.text.starts_with("-C");
        match behind(name, word) {
            [] => return true,
            [by] => place += by,
            _ if is_joined => place += 1,
            _ => return false,
        }
    }
    true
}

/// The words without the options that stand before the first operand.
pub(super) fn without_options(argv: &[Word]) -> Vec<Word> {
    let Some((first, rest)) = argv.split_first() else {
        return Vec::new();
    };
    let name = program(&first.text);
    let valued = listed(VALUED, name);
    let mut rest = rest.iter();
    let mut kept = vec![first.clone()];
    while let Some(word) = rest.next() {
        if !word.text.starts_with(['-', '+']) {
            kept.push(word.clone());
            break;
        }
        if valued.contains(&word.text.as_str()) {
            rest.next();
        }
    }
    kept.extend(rest.cloned());
    kept
}
