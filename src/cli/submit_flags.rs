//! The flags of `submit` that a quest kind names: its unit, and its fields.

use std::borrow::Cow;
use std::fmt::Write as _;

use clap::{Arg, ArgMatches};

use super::escape::Plain;
use super::submit::{ANSWER, QUEST};
use crate::quest::{Field, Fields, QuestKind};

/// The flag of the unit, by the name that the parser knows it by: none that a field can have.
pub(super) const UNIT: &str = "unit:";

/// Adds the flags that the quest kind names.
pub(super) fn with_fields(command: clap::Command, kind: &QuestKind) -> clap::Command {
    let unit = Arg::new(UNIT)
        .long(kind.unit.to_string())
        .value_name("KEY")
        .help(format!("The {} by its name in the list", kind.unit))
        .help_heading(QUEST)
        .display_order(0)
        .allow_hyphen_values(true)
        .conflicts_with("key");
    let fields = kind.fields.iter().map(|field| {
        Arg::new(known_as(field.name.as_str()))
            .long(field.name.to_string())
            .value_name(field.shape.placeholder().into_owned())
            .help(help(field))
            .help_heading(ANSWER)
            .display_order(1)
            .allow_hyphen_values(true)
            .conflicts_with_all(["none", "input"])
    });
    let usage = command.arg(unit).after_long_help(examples(kind));
    fields.fold(usage, clap::Command::arg)
}

/// Examples in the words of the quest kind.
fn examples(kind: &QuestKind) -> String {
    let mut answer = String::from("comail submit --id 17");
    for field in kind.fields.iter().filter(|field| field.required) {
        let value = if field.has_example() {
            field.example.to_string()
        } else {
            field.shape.placeholder().into_owned()
        };
        // A line break would end the line, and what no shell can be given is no example.
        let value = Plain(&value).to_string();
        let quoted = shlex::try_quote(&value).map_or_else(|_| "…".into(), Cow::into_owned);
        let _ = write!(answer, " --{}={quoted}", field.name);
    }
    let unit = &kind.unit;
    format!(
        "Examples:\n  {answer}\n  comail submit --{unit} KEY --in answer.json\n  \
         comail submit --key KEY --none \"looked for it everywhere, and it is not there\""
    )
}

/// What the parser knows a field's flag by: one of its own may have the field's name.
fn known_as(field: &str) -> String {
    format!("field:{field}")
}

/// What `--help` says of a field.
fn help(field: &Field) -> String {
    let help = match &*field.help {
        "" => &format!("The {}", field.name),
        help => help,
    };
    let optional = if field.required {
        ""
    } else {
        " (may be left out)"
    };
    let example = if field.has_example() {
        format!(", such as {}", field.example)
    } else {
        String::new()
    };
    format!("{help}{optional}{example}")
}

/// The flags that the quest kind named, as they were given.
pub(super) struct Flags<'a> {
    pub(super) kind: &'a QuestKind,
    pub(super) matches: Option<&'a ArgMatches>,
}

impl Flags<'_> {
    /// The key, where the unit's flag names one.
    pub(super) fn key(&self) -> Option<String> {
        self.text(UNIT)
    }

    /// The fields that were given.
    pub(super) fn fields(&self) -> Fields {
        let names = self.kind.fields.iter().map(|field| field.name.clone());
        names
            .filter_map(|name| Some((name.clone(), self.text(&known_as(name.as_str()))?)))
            .collect()
    }

    fn text(&self, known_as: &str) -> Option<String> {
        // A session that is not the one which the flags were made for has other fields.
        let text = self.matches?.try_get_one::<String>(known_as);
        text.ok().flatten().cloned()
    }
}
