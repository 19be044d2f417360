//! Variables that decide what runs: who sets one, or takes it away, is asked about.

use super::command::Judge;
use super::options::{Alike, alone, told, valued};
use super::rules::program;
use super::ruling::Ruled;
use super::shell::Word;
use super::wrapper;

/// Variables that decide what a later command runs.
const STEERING: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "SHELL",
    "HOME",
    "XDG_CONFIG_HOME",
    "APPDATA",
    "CDPATH",
    "GLOBIGNORE",
];

/// The beginnings of more of them.
const STEERING_BEGIN: &[&str] = &["LD_", "DYLD_", "GIT_", "COMAIL_", "BASH_FUNC"];

/// What an option of `env` does with variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    Nothing,
    Clears,
    Unsets,
}

const ENV: &[Alike<Means>] = &[
    alone(Means::Nothing, "0v", "null debug"),
    alone(Means::Clears, "i", "ignore-environment"),
    valued(Means::Unsets, "u", "unset"),
];

fn steers(name: &str) -> bool {
    STEERING.contains(&name) || STEERING_BEGIN.iter().any(|begin| name.starts_with(begin))
}

impl Judge<'_> {
    /// Variables that decide what is run, and are set by words of the form `NAME=value`.
    pub(super) fn variables(&self, words: &[Word]) -> Ruled {
        let mut set = words.iter().filter_map(wrapper::assigned);
        let found = set.find(|name| steers(name));
        found.map_or_else(Ruled::nothing, |name| self.steered_by(name))
    }

    /// Variables that a command sets, or takes away, by their names.
    pub(super) fn names_variables(&self, argv: &[Word]) -> Ruled {
        let Some((first, rest)) = argv.split_first() else {
            return Ruled::nothing();
        };
        let marked = |marks: &[&str]| rest.iter().any(|word| marks.contains(&&*word.text));
        let is_named = match program(&first.text) {
            "env" => return self.cleared(rest),
            "unset" | "read" | "mapfile" | "readarray" | "getopts" | "for" | "select" => true,
            "printf" => rest.first().is_some_and(|word| word.text.starts_with("-v")),
            "export" | "declare" | "typeset" | "local" => marked(&["-n", "-fn", "-nf", "+x"]),
            _ => false,
        };
        let all = rest.iter().flat_map(|word| {
            let joined = word.text.strip_prefix("-v").unwrap_or(&word.text);
            joined.split('=')
        });
        let found = all.filter(|_| is_named).find(|name| steers(name));
        found.map_or_else(Ruled::nothing, |name| self.steered_by(name))
    }

    /// What `env` takes away.
    fn cleared(&self, own: &[Word]) -> Ruled {
        let told = told(ENV, own);
        if told.has(Means::Clears) || told.operands.iter().any(|word| word.is("-")) {
            return self
                .unreadable("all variables are taken away, also those that decide what runs");
        }
        let names = told.options.iter().filter_map(|(_, name)| name.as_ref());
        let found = names
            .map(|name| name.text.as_str())
            .find(|name| steers(name));
        found.map_or_else(Ruled::nothing, |name| self.steered_by(name))
    }

    fn steered_by(&self, name: &str) -> Ruled {
        self.unreadable(&format!("`{name}` is changed, which decides what runs"))
    }
}
