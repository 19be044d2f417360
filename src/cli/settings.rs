//! The settings: keys of the user's configuration file, some of which `--set` also takes.
//!
//! The keys of [`Table`]s are rarely used settings of `scan` and `run`. Their values stay text until
//! the table parses them, so that the file and `--set` accept the same values, and each error names
//! its place. Every other key is the long name of a flag, which the command-line parser checks.

pub(super) mod gate;
pub(super) mod network;
pub(super) mod run;
pub(super) mod scan;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Arg, Command};
use schemars::JsonSchema;
use serde::Serialize;

use super::exit::{Hinted, UsageError};
use crate::quest::file::nearest;

/// A configuration file with every key and what it means, commented out.
pub(super) const EXAMPLE: &str = include_str!("config.toml");

/// The keys, as `flag` or `table.key`, in the order of the example.
pub(super) fn keys() -> impl Iterator<Item = String> {
    let mut table = String::new();
    EXAMPLE.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix('[') {
            table = name.replace(']', ".");
        }
        let (key, _) = line.strip_prefix("# ")?.split_once(" = ")?;
        (!key.contains(' ')).then(|| format!("{table}{key}"))
    })
}

/// The table of a key, which is empty if the key applies to every command, and its name in there.
pub(super) fn parts(key: &str) -> (&str, &str) {
    key.split_once('.').unwrap_or(("", key))
}

/// The command that a key applies to; empty for every command.
pub(super) fn command_of(key: &str) -> &str {
    match parts(key).0 {
        "network" | "gate" => "scan",
        command => command,
    }
}

/// The argument whose default a key sets; none for the key of a [`Table`].
pub(super) fn flag_of<'p>(parser: &'p Command, key: &str) -> Option<&'p Arg> {
    let (table, name) = parts(key);
    let command = match table {
        "" => parser,
        table => parser.find_subcommand(table)?,
    };
    let mut arguments = command.get_arguments();
    arguments.find(|argument| argument.get_long() == Some(name))
}

/// The key of a [`Table`] that has the name of a flag that `command` does not have.
pub(super) fn key_named(name: &str, command: &str) -> Option<String> {
    keys().find(|key| parts(key).1 == name && command_of(key) == command)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    File { path: PathBuf, line: usize },
    CommandLine,
}

/// The values of a key, as text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Setting {
    pub(super) values: Vec<String>,
    #[serde(skip)]
    pub(super) place: Place,
}

impl Setting {
    /// The place of the key, for the start of an error.
    pub(super) fn spot(&self, key: &str) -> String {
        match &self.place {
            Place::File { path, line } => format!("{}:{line}: `{key}`", path.display()),
            Place::CommandLine => format!("--set {key}"),
        }
    }

    pub(super) fn refused(&self, key: &str, why: &str) -> UsageError {
        UsageError(format!("{}: {why}", self.spot(key)))
    }
}

/// The settings of one command: those of the user's file, overridden by `--set`.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings(pub(super) BTreeMap<String, Setting>);

impl Settings {
    /// These settings with those of `--set`; a key without a table is in the command's own table.
    pub(super) fn with(
        mut self,
        set: &[String],
        command: &str,
        parser: &Command,
    ) -> Result<Self, Hinted> {
        let mut given: BTreeMap<String, Setting> = BTreeMap::new();
        for text in set {
            let Some((key, value)) = text.split_once('=') else {
                let message = format!("--set {text}: the value is missing");
                return Err(UsageError(message).hint("write it as --set KEY=VALUE"));
            };
            let whole = if key.contains('.') {
                key.to_owned()
            } else {
                format!("{command}.{key}")
            };
            refuse_other(&whole, command, parser)?;
            let setting = given.entry(whole).or_insert_with(|| Setting {
                values: Vec::new(),
                place: Place::CommandLine,
            });
            setting.values.push(value.to_owned());
        }
        self.0.extend(given);
        Ok(self)
    }

    pub(super) fn table<T: Table>(&self) -> Result<T, UsageError> {
        let mut table = T::default();
        for (key, setting) in &self.0 {
            if parts(key).0 == T::NAME {
                let set = table.set(parts(key).1, Values(&setting.values));
                set.map_err(|why| setting.refused(key, &why))?;
            }
        }
        Ok(table)
    }

    /// Whether `--set` names the key.
    pub(super) fn are_given(&self, key: &str) -> bool {
        let setting = self.0.get(key);
        setting.is_some_and(|setting| setting.place == Place::CommandLine)
    }

    /// The keys that the user's file sets, and its path.
    pub(super) fn of_file(&self) -> Option<(Vec<&str>, &Path)> {
        let of_file = self
            .0
            .iter()
            .filter_map(|(key, setting)| match &setting.place {
                Place::File { path, .. } => Some((key.as_str(), path.as_path())),
                Place::CommandLine => None,
            });
        let (keys, paths): (Vec<_>, Vec<_>) = of_file.unzip();
        Some((keys, *paths.first()?))
    }

    pub(super) fn drop_of_file(&mut self, table: &str) {
        self.0
            .retain(|key, setting| parts(key).0 != table || setting.place == Place::CommandLine);
    }
}

/// The keys that `--set` of a command takes.
pub(super) fn keys_of(command: &str, parser: &Command) -> Vec<String> {
    let own = keys().filter(|key| command_of(key) == command && flag_of(parser, key).is_none());
    own.collect()
}

/// Refuses a key that `--set` of `command` does not take.
fn refuse_other(key: &str, command: &str, parser: &Command) -> Result<(), Hinted> {
    let own = keys_of(command, parser);
    if own.iter().any(|known| known == key) {
        return Ok(());
    }
    if !keys().any(|known| known == key) {
        return Err(unknown_key(&format!("--set {key}"), key, &own));
    }
    let message = format!("--set {key}: `comail {command}` has no such setting");
    Err(UsageError(message).hint(match flag_of(parser, key) {
        Some(_) => format!("use the flag --{}", parts(key).1),
        None => format!("it is a setting of `comail {}`", command_of(key)),
    }))
}

/// The error about a key that is not `known`. The hint names the nearest known key.
pub(super) fn unknown_key(place: &str, key: &str, known: &[String]) -> Hinted {
    let (table, name) = parts(key);
    let near = nearest(name, known.iter().map(|known| parts(known).1));
    let near = known.iter().filter(|known| near == Some(parts(known).1));
    let near = near.max_by_key(|known| parts(known).0 == table);
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| "`comail config --example` lists all keys".to_owned());
    UsageError(format!("{place}: unknown key")).hint(hint)
}

/// The typed settings of one table.
pub(super) trait Table: Default {
    const NAME: &'static str;

    fn set(&mut self, key: &str, values: Values<'_>) -> Result<(), String>;
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a>(pub(super) &'a [String]);

impl Values<'_> {
    /// The only value.
    pub(super) fn one(&self) -> Result<&str, String> {
        match self.0 {
            [one] => Ok(one),
            _ => Err("expected one value".to_owned()),
        }
    }

    /// All values, parsed by `parse`.
    pub(super) fn all_by<T, E: ToString>(
        &self,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Vec<T>, String> {
        self.0.iter().map(|value| said(parse(value))).collect()
    }

    /// The only value, parsed by `parse`.
    pub(super) fn by<T, E: ToString>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, String> {
        said(parse(self.one()?))
    }

    pub(super) fn is_true(&self) -> Result<bool, String> {
        let parsed = self.one()?.parse();
        parsed.map_err(|_| "expected true or false".to_owned())
    }

    pub(super) fn within<T: FromStr + PartialOrd + Copy + std::fmt::Display>(
        &self,
        least: T,
        most: T,
    ) -> Result<T, String> {
        let number = self.one()?.parse().ok();
        let number = number.filter(|number| (&least..=&most).contains(&number));
        number.ok_or_else(|| format!("expected a number from {least} to {most}"))
    }
}

/// The error of a table whose `set` forgot a key of the example.
pub(super) fn no_key<T>(key: &str) -> Result<T, String> {
    Err(format!("there is no setting `{key}`"))
}

fn said<T, E: ToString>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cli::command::parser;
    use crate::quest::email;

    pub(in crate::cli) fn settings(command: &str, set: &[&str]) -> Result<Settings, Hinted> {
        let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
        Settings::default().with(&set, command, &parser(&email::kind()))
    }

    #[test]
    fn scan_and_run_have_few_flags_of_their_own() {
        let parser = parser(&email::kind());
        for (name, most) in [("scan", 16), ("run", 13)] {
            let command = parser.find_subcommand(name).unwrap();
            let flags = command.get_arguments().filter(|it| it.get_long().is_some());
            let flags: Vec<_> = flags.map(Arg::get_id).collect();
            assert!(flags.len() <= most, "{name} has {}: {flags:?}", flags.len());
        }
    }

    #[test]
    fn a_key_without_a_table_is_in_the_commands_own_table() {
        let table = |command, set: &[&str]| settings(command, set).unwrap().0;
        assert!(table("run", &["grace=1s"]).contains_key("run.grace"));
        assert!(table("scan", &["lease=1m"]).contains_key("scan.lease"));
        let level = &table("scan", &["gate.level=a=fail", "gate.level=b=fail"])["gate.level"];
        assert_eq!(level.values, ["a=fail", "b=fail"]);
    }

    #[test]
    fn a_key_that_the_command_does_not_take_is_refused_with_a_hint() {
        for (command, set, hint) in [
            ("scan", "rate=2", "did you mean `network.rate`?"),
            ("scan", "network.rat=2", "did you mean `network.rate`?"),
            ("scan", "run.grace=2s", "it is a setting of `comail run`"),
            ("run", "network.rate=2", "it is a setting of `comail scan`"),
            ("run", "parallel=2", "use the flag --parallel"),
            (
                "scan",
                "session=x",
                "`comail config --example` lists all keys",
            ),
            ("run", "gracee=2s", "did you mean `run.grace`?"),
            ("run", "qqq=2", "`comail config --example` lists all keys"),
            ("run", "grace", "write it as --set KEY=VALUE"),
        ] {
            let refused = settings(command, &[set]).unwrap_err();
            assert_eq!(refused.hint, hint, "{set}");
            assert!(refused.message.starts_with("--set "), "{}", refused.message);
        }
    }

    #[test]
    fn the_command_line_takes_the_place_of_the_file() {
        let place = Place::File {
            path: PathBuf::from("config.toml"),
            line: 7,
        };
        let of_file = |key: &str, value: &str| {
            let values = vec![value.to_owned()];
            let place = place.clone();
            (key.to_owned(), Setting { values, place })
        };
        let file = [of_file("run.grace", "soon"), of_file("run.poll", "1s")];
        let file = Settings(file.into());
        let refused = file.table::<run::RunTable>().unwrap_err().to_string();
        assert!(
            refused.starts_with("config.toml:7: `run.grace`: "),
            "{refused}"
        );
        let set = ["grace=2s".to_owned()];
        let mut both = file.with(&set, "run", &parser(&email::kind())).unwrap();
        let table: run::RunTable = both.table().unwrap();
        let seconds = (table.pace.grace.as_secs(), table.pace.poll.as_secs());
        assert_eq!(seconds, (2, 1));
        assert!(both.are_given("run.grace") && !both.are_given("run.poll"));
        both.drop_of_file("run");
        assert_eq!(both.0.into_keys().collect::<Vec<_>>(), ["run.grace"]);
    }

    #[test]
    fn a_single_value_is_not_a_list() {
        let twice = settings("run", &["grace=1s", "grace=2s"]).unwrap();
        let refused = twice.table::<run::RunTable>().unwrap_err().to_string();
        assert_eq!(refused, "--set run.grace: expected one value");
    }

    #[test]
    fn a_removed_flag_is_found_among_the_keys_of_its_command() {
        let found = |name, command| key_named(name, command);
        assert_eq!(
            found("allow-net", "scan").as_deref(),
            Some("network.allow-net")
        );
        assert_eq!(
            found("max-attempts", "run").as_deref(),
            Some("run.max-attempts")
        );
        assert_eq!(found("allow-net", "run"), None);
    }
}
