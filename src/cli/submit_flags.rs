//! The flags of `submit` that a quest kind names: its unit, and its fields.

use std::borrow::Cow;

use clap::{Arg, ArgMatches};
use unicode_width::UnicodeWidthStr as _;

use super::submit::{ANSWER, QUEST};
use crate::base::text::Escaped;
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
    let required = || kind.fields.iter().filter(|field| field.required);
    let flags = required().map(|field| {
        shown(field, |value| {
            // What no shell can be given is no example.
            let quoted = shlex::try_quote(value).map_or_else(|_| "…".into(), Cow::into_owned);
            format!("--{}={quoted}", field.name)
        })
    });
    let last = required().count().saturating_sub(1);
    let members = required().enumerate().map(|(at, field)| {
        let member = shown(field, |value| {
            let value = serde_json::Value::from(value);
            format!("\"{}\":{value}", field.name)
        });
        let begin = if at == 0 { "{" } else { "" };
        format!("{begin}{member}{}", if at == last { "}" } else { "," })
    });
    let submit = filled("comail submit --id 17", flags, " \\");
    let object = filled("", members, "");
    let unit = &kind.unit;
    format!(
        "Examples:\n{submit}\n  comail submit --{unit} KEY --in answer.json\n  comail submit --key KEY \
         --none \"looked for it everywhere, and it is not there\"\n\nWhere answer.json holds:\n\
         {object}"
    )
}

/// How the example of a field is shown, or what stands for it where that has no room.
fn shown(field: &Field, form: impl Fn(&str) -> String) -> String {
    // A line break would end the line.
    let example = form(&Escaped(&example(field)).to_string());
    if example.width() <= WIDEST_WORD {
        example
    } else {
        form(&field.shape.placeholder())
    }
}

/// The example of a field, or what stands for one.
fn example(field: &Field) -> String {
    if field.has_example() {
        field.example.to_string()
    } else {
        field.shape.placeholder().into_owned()
    }
}

/// The widest line that help shows as it stands on a usual terminal.
const WIDEST: usize = 79;

/// How far examples stand from the left.
const INDENT: &str = "  ";

/// The widest word that has room on a line of its own.
const WIDEST_WORD: usize = WIDEST - 8;

/// These words, broken over as many lines as they take, of which each but the last ends with
/// `goes_on`: what is pasted runs whole.
fn filled(first: &str, words: impl Iterator<Item = String>, goes_on: &str) -> String {
    let mut lines = vec![format!("{INDENT}{first}")];
    for word in words {
        match lines.last_mut() {
            Some(line) if line.trim().is_empty() => line.push_str(&word),
            Some(line) if line.width() + 1 + word.width() + goes_on.len() <= WIDEST => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(format!("{INDENT}{INDENT}{word}")),
        }
    }
    lines.join(&format!("{goes_on}\n"))
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
    let optional = if field.required { "" } else { " (optional)" };
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
